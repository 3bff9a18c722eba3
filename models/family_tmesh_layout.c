/* family_tmesh_layout.c - tori of mesh chips in pictures: torus links as a torus of chips, mesh links a tile a chip. */
#include "models/family_tmesh.h"
#include "models/family_torus.h"
#include "models/link_map_build.h"

static void links(struct fc_layout_builder *b)
{
    static const char *const sides[] = {"mesh east", "mesh west", "mesh south", "mesh north"};
    const struct fc_tmesh_shape *s = fc_tmesh(b->net);
    const struct fc_tmesh_tables *tables = fc_tmesh_tables(b->net);
    char slice[40], text[48];
    fc_torus_slice_name(s->n_dims, slice, sizeof slice);
    uint32_t rows = s->n_dims > 1 ? s->k[1] : 1, plane = s->k[0] * rows;
    for (int d = 0; d < s->n_dims; d++)
        for (int direction = 0; direction < 2 && s->k[d] > 1; direction++) {
            struct fc_panel *p = fc_layout_add(b, 0, s->n_chips / plane, rows, s->k[0]);
            if (!p) return;
            p->at_glance = true;
            snprintf(text, sizeof text, "%c%c links", fc_torus_letter(d), direction == FC_TMESH_PLUS ? '+' : '-');
            fc_layout_title(p, text, slice, "y", "x");
            for (uint32_t c = 0; c < s->n_chips; c++) p->cell[c] = c * s->chip_links + tables->torus_port[d][direction];
        }
    for (int side = 0; side < FC_MESH_PORTS; side++) {
        struct fc_panel *p = fc_layout_add(b, 1, s->n_chips, s->rows, s->columns);
        if (!p) return;
        fc_layout_title(p, sides[side], "chip", "row", "column");
        for (uint32_t c = 0; c < s->n_chips; c++)
            for (uint32_t m = 0; m < s->n_mesh; m++)
                if (tables->mesh_port[m][side] != FC_NONE)
                    p->cell[(size_t)c * s->n_mesh + m] = c * s->chip_links + tables->mesh_port[m][side];
    }
}

static void nodes(struct fc_layout_builder *b)
{
    const struct fc_tmesh_shape *s = fc_tmesh(b->net);
    b->map->glance = (struct fc_glance){.kind = FC_GLANCE_SQUARES, .square = "chip", .columns = s->k[0]};
    struct fc_panel *p = fc_layout_nodes(b, s->n_chips, s->rows, s->columns);
    if (!p) return;
    fc_layout_title(p, "nodes", "chip", "row", "column");
    for (uint32_t n = 0; n < b->net->n_nodes; n++)
        p->cell[(size_t)(n / s->n_computing) * s->n_mesh + fc_tmesh_tables(b->net)->computing[n % s->n_computing]] = n;
}

const struct fc_layout fc_tmesh_layout = {.links = links, .nodes = nodes};
