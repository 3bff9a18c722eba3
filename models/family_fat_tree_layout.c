/* family_fat_tree_layout.c - fat-trees in pictures: a panel a level and direction, a tile the switches below one set of
 * parents: children in rows, parents in columns. The links of nodes are the lowest level. */
#include "models/family_fat_tree.h"
#include "models/link_map_build.h"

static void fat_tree_level(struct fc_layout_builder *b, int l, bool up)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(b->net);
    uint32_t below = s->subtree_switches[l], m = s->m[l + 1], cables = s->p[l + 1], sets = s->n_subtrees[l + 1];
    struct fc_panel *p = fc_layout_add(b, l, s->planes * sets, m * below, s->w[l + 1] * cables);
    char text[48], tile[40];
    if (!p) return;
    p->at_glance = true;
    snprintf(text, sizeof text, "%s %s", b->net->machine->classes[l].name, up ? "up" : "down");
    snprintf(tile, sizeof tile, s->planes > 1 ? "plane, subtree of level %d" : "subtree of level %d", l + 1);
    fc_layout_title(p, text, tile, l == 0 ? "node" : "switch", cables > 1 ? "parent, cable" : "parent");
    for (uint32_t t = 0; t < p->n_tiles; t++)
        for (uint32_t r = 0; r < p->rows; r++)
            for (uint32_t c = 0; c < p->columns; c++) {
                uint32_t plane = t / sets, x = t % sets * m + r / below, y = r % below, u = c / cables;
                *fc_layout_at(p, t, r, c) = up ? fc_fat_tree_up(b->net, l, plane, x, y, u, c % cables)
                                               : fc_fat_tree_down(b->net, l, plane, x, y + below * u, c % cables);
            }
}

static void links(struct fc_layout_builder *b)
{
    for (int l = fc_fat_tree(b->net)->h - 1; l >= 0 && !b->st->code; l--) {
        fat_tree_level(b, l, true);
        if (!b->st->code) fat_tree_level(b, l, false);
    }
}

static void nodes(struct fc_layout_builder *b)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(b->net);
    struct fc_glance *glance = &b->map->glance;
    *glance = (struct fc_glance){.kind = FC_GLANCE_TREE, .n_levels = s->h, .planes = s->planes};
    for (int l = 1; l <= s->h; l++)
        glance->children[l] = s->m[l], glance->parents[l] = s->w[l], glance->links[l] = s->p[l];
    uint32_t rows = s->h > 1 ? s->m[2] : 1;
    struct fc_panel *p = fc_layout_nodes(b, s->n_nodes / (rows * s->m[1]), rows, s->m[1]);
    if (!p) return;
    fc_layout_title(p, "nodes", "subtree of level 2", "leaf switch", "node");
    for (uint32_t n = 0; n < s->n_nodes; n++) p->cell[n] = n;
}

const struct fc_layout fc_fat_tree_layout = {.links = links, .nodes = nodes, .own_node_links = true};
