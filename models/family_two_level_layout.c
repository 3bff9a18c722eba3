/* family_two_level_layout.c - two-level networks in pictures: D links from supernode (row) to supernode (column); LL a
 * tile a drawer, LR a tile a supernode, from row to column. */
#include "models/family_two_level.h"
#include "models/link_map_build.h"

static void d_links(struct fc_layout_builder *b)
{
    const struct fc_two_level_shape *s = fc_two_level(b->net);
    uint32_t n = s->n_supernodes;
    struct fc_panel *p = fc_layout_add(b, s->d_class, 1, n, n * s->pair_links);
    if (!p) return;
    p->at_glance = true;
    fc_layout_title(p, "D links", "", "from supernode", s->pair_links > 1 ? "to supernode, cable" : "to supernode");
    for (size_t i = 0; i < fc_panel_cells(p); i++)
        p->cell[i] = ((const struct fc_two_level_tables *)b->net->extra)->crossing[i].link;
}

static void local_links(struct fc_layout_builder *b, bool in_drawer)
{
    const struct fc_two_level_shape *s = fc_two_level(b->net);
    uint32_t side = in_drawer ? s->n_positions : s->members;
    struct fc_panel *p = fc_layout_add(b, in_drawer ? s->ll_class : s->lr_class, s->n_routers / side, side, side);
    if (!p) return;
    fc_layout_title(p, in_drawer ? "LL links" : "LR links", in_drawer && s->n_drawers > 1 ? "drawer" : "supernode",
                    "from router", "to router");
    for (uint32_t tile = 0; tile < p->n_tiles; tile++)
        for (uint32_t i = 0; i < side; i++)
            for (uint32_t j = 0; j < side; j++) {
                uint32_t first = tile * side % s->members, from = first + i, to = first + j;
                bool one_drawer = from / s->n_positions == to / s->n_positions;
                if (i == j || one_drawer != in_drawer) continue;
                *fc_layout_at(p, tile, i, j) =
                    fc_two_level_local_link(b->net, tile * side / s->members * s->members, from, to);
            }
}

static void links(struct fc_layout_builder *b)
{
    const struct fc_two_level_shape *s = fc_two_level(b->net);
    if (s->n_supernodes > 1) d_links(b);
    if (s->n_drawers > 1 && !b->st->code) local_links(b, false);
    if (s->n_positions > 1 && !b->st->code) local_links(b, true);
}

static void nodes(struct fc_layout_builder *b)
{
    const struct fc_two_level_shape *s = fc_two_level(b->net);
    if (s->n_supernodes > 2)
        b->map->glance = (struct fc_glance){
            .kind = FC_GLANCE_RING, .n_spots = s->n_supernodes, .cables = s->pair_links, .per_spot = s->members};
    bool one = s->n_drawers == 1;
    uint32_t rows = one ? s->n_positions : s->n_drawers, columns = s->nodes_per_router * (one ? 1 : s->n_positions);
    struct fc_panel *p = fc_layout_nodes(b, s->n_supernodes, rows, columns);
    if (!p) return;
    fc_layout_title(p, "nodes", "supernode", one ? "router" : "drawer", one ? "node" : "router of the drawer");
    for (uint32_t n = 0; n < b->net->n_nodes; n++) p->cell[n] = n;
}

const struct fc_layout fc_two_level_layout = {.links = links, .nodes = nodes, .capitals = true};
