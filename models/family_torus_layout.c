/* family_torus_layout.c - tori and meshes in pictures: a panel a direction, a tile a slice (all dimensions but the
 * first two), x along the columns, parallel cables side by side. Limit: dimensions past the second are tiles in
 * one row, whatever they are. */
#include "models/family_torus.h"
#include "models/link_map_build.h"

void fc_torus_slice_name(int n_dims, char *out, size_t size)
{
    size_t n = 0;
    *out = 0;
    for (int d = 2; d < n_dims && n < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%c", d > 2 ? ", " : "", fc_torus_letter(d));
}

static void links(struct fc_layout_builder *b)
{
    const struct fc_torus_shape *s = fc_torus(b->net);
    char slice[40], text[48], column[40];
    fc_torus_slice_name(s->n_dims, slice, sizeof slice);
    uint32_t rows = s->n_dims > 1 ? s->k[1] : 1, plane = s->k[0] * rows;
    for (int d = 0; d < s->n_dims; d++)
        for (int direction = 0; direction < 2 && s->k[d] > 1; direction++) {
            struct fc_panel *p =
                fc_layout_add(b, s->dim_class[d], s->n_routers / plane, rows, s->k[0] * s->parallel[d]);
            if (!p) return;
            p->at_glance = true;
            snprintf(text, sizeof text, "%c%c links", fc_torus_letter(d), direction == FC_PLUS ? '+' : '-');
            snprintf(column, sizeof column, s->parallel[d] > 1 ? "x, cable" : "x");
            fc_layout_title(p, text, slice, "y", column);
            for (uint32_t v = 0; v < s->n_routers; v++) {
                uint32_t port = fc_torus_port(b->net, v, d, direction);
                for (uint32_t c = 0; port != FC_NONE && c < s->parallel[d]; c++)
                    *fc_layout_at(p, v / plane, v / s->k[0] % rows, v % s->k[0] * s->parallel[d] + c) = port + c;
            }
        }
}

static void nodes(struct fc_layout_builder *b)
{
    const struct fc_torus_shape *s = fc_torus(b->net);
    b->map->glance = (struct fc_glance){.kind = FC_GLANCE_SQUARES, .square = "router", .columns = s->k[0]};
    char slice[40];
    fc_torus_slice_name(s->n_dims, slice, sizeof slice);
    uint32_t rows = s->n_dims > 1 ? s->k[1] : 1, columns = s->k[0] * s->nodes_per_router;
    struct fc_panel *p = fc_layout_nodes(b, b->net->n_nodes / (rows * columns), rows, columns);
    if (!p) return;
    fc_layout_title(p, "nodes", slice, "y", s->nodes_per_router > 1 ? "x, node of the router" : "x");
    for (uint32_t n = 0; n < b->net->n_nodes; n++) p->cell[n] = n;
}

const struct fc_layout fc_torus_layout = {.links = links, .nodes = nodes};
