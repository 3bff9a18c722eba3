/* link_map.c - the layout of a network in panels, one rule a family.
 *
 * Torus and mesh: a panel a direction, a tile a slice (all dimensions but the first two), x along the
 * columns, parallel cables side by side. Fat-tree: a panel a level and direction, a tile the switches below
 * one set of parents: children in rows, parents in columns. Mesh-in-torus: torus links as a torus of chips;
 * mesh links a tile a chip. Two-level: D links from supernode (row) to supernode (column); LL a tile a
 * drawer, LR a tile a supernode, from row to column. Graphs: a router a row, its links in their order; links
 * from nodes one after the other. Injection and ejection stand as their nodes do. Limits: dimensions past the
 * second are tiles in one row, whatever they are. */
#include "models/link_map.h"
#include "models/family_fat_tree.h"
#include "models/family_tmesh.h"
#include "models/family_torus.h"
#include "models/family_two_level.h"

#include <string.h>

enum { MOST_PANELS = 2 * (FC_MAX_DIMS + FC_MAX_CLASSES + 4), GRAPH_SIDE = 64 };

_Static_assert((int)FC_PICTURE_CLASSES >= (int)FC_MAX_CLASSES, "classes of a picture");

struct builder {
    const struct fc_network *net;
    struct fc_picture *map;
    struct fc_status *st;
};

/* Cells of a new panel, all empty; NULL: no memory. */
static struct fc_panel *make(struct builder *b, struct fc_panel *p, int link_class, uint32_t n_tiles,
                             uint32_t rows, uint32_t columns)
{
    p->link_class = link_class;
    p->n_tiles = n_tiles;
    p->rows = rows;
    p->columns = columns;
    p->cell = fc_alloc(&b->map->arena, fc_panel_cells(p), sizeof *p->cell, b->st);
    if (!p->cell) return NULL;
    memset(p->cell, 0xff, fc_panel_cells(p) * sizeof *p->cell);
    return p;
}

static struct fc_panel *add(struct builder *b, int link_class, uint32_t n_tiles, uint32_t rows,
                            uint32_t columns)
{
    return make(b, &b->map->panels[b->map->n_panels++], link_class, n_tiles, rows, columns);
}

static void title(struct fc_panel *p, const char *text, const char *tile, const char *row, const char *column)
{
    snprintf(p->title, sizeof p->title, "%s", text);
    snprintf(p->tile, sizeof p->tile, "%s", p->n_tiles > 1 ? tile : "");
    snprintf(p->row, sizeof p->row, "%s", p->rows > 1 ? row : "");
    snprintf(p->column, sizeof p->column, "%s", p->columns > 1 ? column : "");
}

static uint32_t *at(const struct fc_panel *p, uint32_t tile, uint32_t row, uint32_t column)
{
    return &p->cell[((size_t)tile * p->rows + row) * p->columns + column];
}

/* "z", "z, a, b": the dimensions from the third on. */
static void slice_name(int n_dims, char *out, size_t size)
{
    size_t n = 0;
    *out = 0;
    for (int d = 2; d < n_dims && n < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%c", d > 2 ? ", " : "", fc_torus_letter(d));
}

/* ---- torus and mesh ---- */

static void torus_links(struct builder *b)
{
    const struct fc_torus_shape *s = fc_torus(b->net);
    char slice[40], text[48], column[40];
    slice_name(s->n_dims, slice, sizeof slice);
    uint32_t rows = s->n_dims > 1 ? s->k[1] : 1, plane = s->k[0] * rows;
    for (int d = 0; d < s->n_dims; d++)
        for (int direction = 0; direction < 2 && s->k[d] > 1; direction++) {
            struct fc_panel *p =
                add(b, s->dim_class[d], s->n_routers / plane, rows, s->k[0] * s->parallel[d]);
            if (!p) return;
            p->at_glance = true;
            snprintf(text, sizeof text, "%c%c links", fc_torus_letter(d), direction == FC_PLUS ? '+' : '-');
            snprintf(column, sizeof column, s->parallel[d] > 1 ? "x, cable" : "x");
            title(p, text, slice, "y", column);
            for (uint32_t v = 0; v < s->n_routers; v++) {
                uint32_t port = fc_torus_port(b->net, v, d, direction);
                for (uint32_t c = 0; port != FC_NONE && c < s->parallel[d]; c++)
                    *at(p, v / plane, v / s->k[0] % rows, v % s->k[0] * s->parallel[d] + c) = port + c;
            }
        }
}

static void torus_nodes(struct builder *b)
{
    const struct fc_torus_shape *s = fc_torus(b->net);
    b->map->glance = (struct fc_glance){.kind = FC_GLANCE_SQUARES, .square = "router", .columns = s->k[0]};
    char slice[40];
    slice_name(s->n_dims, slice, sizeof slice);
    uint32_t rows = s->n_dims > 1 ? s->k[1] : 1, columns = s->k[0] * s->nodes_per_router;
    struct fc_panel *p = make(b, &b->map->nodes, -1, b->net->n_nodes / (rows * columns), rows, columns);
    if (!p) return;
    title(p, "nodes", slice, "y", s->nodes_per_router > 1 ? "x, node of the router" : "x");
    for (uint32_t n = 0; n < b->net->n_nodes; n++) p->cell[n] = n;
}

/* ---- fat-trees ---- */

static void fat_tree_level(struct builder *b, int l, bool up)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(b->net);
    uint32_t below = s->subtree_switches[l], m = s->m[l + 1], cables = s->p[l + 1],
             sets = s->n_subtrees[l + 1];
    struct fc_panel *p = add(b, l, s->planes * sets, m * below, s->w[l + 1] * cables);
    char text[48], tile[40];
    if (!p) return;
    p->at_glance = true;
    snprintf(text, sizeof text, "%s %s", b->net->machine->classes[l].name, up ? "up" : "down");
    snprintf(tile, sizeof tile, s->planes > 1 ? "plane, subtree of level %d" : "subtree of level %d", l + 1);
    title(p, text, tile, l == 0 ? "node" : "switch", cables > 1 ? "parent, cable" : "parent");
    for (uint32_t t = 0; t < p->n_tiles; t++)
        for (uint32_t r = 0; r < p->rows; r++)
            for (uint32_t c = 0; c < p->columns; c++) {
                uint32_t plane = t / sets, x = t % sets * m + r / below, y = r % below, u = c / cables;
                *at(p, t, r, c) = up ? fc_fat_tree_up(b->net, l, plane, x, y, u, c % cables)
                                     : fc_fat_tree_down(b->net, l, plane, x, y + below * u, c % cables);
            }
}

static void fat_tree_links(struct builder *b)
{
    for (int l = fc_fat_tree(b->net)->h - 1; l >= 0 && !b->st->code; l--) {
        fat_tree_level(b, l, true);
        if (!b->st->code) fat_tree_level(b, l, false);
    }
}

static void fat_tree_nodes(struct builder *b)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(b->net);
    struct fc_glance *glance = &b->map->glance;
    *glance = (struct fc_glance){.kind = FC_GLANCE_TREE, .n_levels = s->h, .planes = s->planes};
    for (int l = 1; l <= s->h; l++)
        glance->children[l] = s->m[l], glance->parents[l] = s->w[l], glance->links[l] = s->p[l];
    uint32_t rows = s->h > 1 ? s->m[2] : 1;
    struct fc_panel *p = make(b, &b->map->nodes, -1, s->n_nodes / (rows * s->m[1]), rows, s->m[1]);
    if (!p) return;
    title(p, "nodes", "subtree of level 2", "leaf switch", "node");
    for (uint32_t n = 0; n < s->n_nodes; n++) p->cell[n] = n;
}

/* ---- mesh-in-torus ---- */

static void tmesh_links(struct builder *b)
{
    static const char *const sides[] = {"mesh east", "mesh west", "mesh south", "mesh north"};
    const struct fc_tmesh_shape *s = fc_tmesh(b->net);
    const struct fc_tmesh_tables *tables = fc_tmesh_tables(b->net);
    char slice[40], text[48];
    slice_name(s->n_dims, slice, sizeof slice);
    uint32_t rows = s->n_dims > 1 ? s->k[1] : 1, plane = s->k[0] * rows;
    for (int d = 0; d < s->n_dims; d++)
        for (int direction = 0; direction < 2 && s->k[d] > 1; direction++) {
            struct fc_panel *p = add(b, 0, s->n_chips / plane, rows, s->k[0]);
            if (!p) return;
            p->at_glance = true;
            snprintf(text, sizeof text, "%c%c links", fc_torus_letter(d),
                     direction == FC_TMESH_PLUS ? '+' : '-');
            title(p, text, slice, "y", "x");
            for (uint32_t c = 0; c < s->n_chips; c++)
                p->cell[c] = c * s->chip_links + tables->torus_port[d][direction];
        }
    for (int side = 0; side < FC_MESH_PORTS; side++) {
        struct fc_panel *p = add(b, 1, s->n_chips, s->rows, s->columns);
        if (!p) return;
        title(p, sides[side], "chip", "row", "column");
        for (uint32_t c = 0; c < s->n_chips; c++)
            for (uint32_t m = 0; m < s->n_mesh; m++)
                if (tables->mesh_port[m][side] != FC_NONE)
                    p->cell[(size_t)c * s->n_mesh + m] = c * s->chip_links + tables->mesh_port[m][side];
    }
}

static void tmesh_nodes(struct builder *b)
{
    const struct fc_tmesh_shape *s = fc_tmesh(b->net);
    b->map->glance = (struct fc_glance){.kind = FC_GLANCE_SQUARES, .square = "chip", .columns = s->k[0]};
    struct fc_panel *p = make(b, &b->map->nodes, -1, s->n_chips, s->rows, s->columns);
    if (!p) return;
    title(p, "nodes", "chip", "row", "column");
    for (uint32_t n = 0; n < b->net->n_nodes; n++)
        p->cell[(size_t)(n / s->n_computing) * s->n_mesh +
                fc_tmesh_tables(b->net)->computing[n % s->n_computing]] = n;
}

/* ---- two-level ---- */

static void d_links(struct builder *b)
{
    const struct fc_two_level_shape *s = fc_two_level(b->net);
    uint32_t n = s->n_supernodes;
    struct fc_panel *p = add(b, s->d_class, 1, n, n * s->pair_links);
    if (!p) return;
    p->at_glance = true;
    title(p, "D links", "", "from supernode", s->pair_links > 1 ? "to supernode, cable" : "to supernode");
    for (size_t i = 0; i < fc_panel_cells(p); i++)
        p->cell[i] = ((const struct fc_two_level_tables *)b->net->extra)->d_link[i];
}

static void local_links(struct builder *b, bool in_drawer)
{
    const struct fc_two_level_shape *s = fc_two_level(b->net);
    uint32_t side = in_drawer ? s->n_positions : s->members;
    struct fc_panel *p = add(b, in_drawer ? s->ll_class : s->lr_class, s->n_routers / side, side, side);
    if (!p) return;
    title(p, in_drawer ? "LL links" : "LR links", in_drawer && s->n_drawers > 1 ? "drawer" : "supernode",
          "from router", "to router");
    for (uint32_t tile = 0; tile < p->n_tiles; tile++)
        for (uint32_t i = 0; i < side; i++)
            for (uint32_t j = 0; j < side; j++) {
                uint32_t first = tile * side % s->members, from = first + i, to = first + j;
                bool one_drawer = from / s->n_positions == to / s->n_positions;
                if (i == j || one_drawer != in_drawer) continue;
                *at(p, tile, i, j) =
                    fc_two_level_local_link(b->net, tile * side / s->members * s->members, from, to);
            }
}

static void two_level_links(struct builder *b)
{
    const struct fc_two_level_shape *s = fc_two_level(b->net);
    if (s->n_supernodes > 1) d_links(b);
    if (s->n_drawers > 1 && !b->st->code) local_links(b, false);
    if (s->n_positions > 1 && !b->st->code) local_links(b, true);
}

static void two_level_nodes(struct builder *b)
{
    const struct fc_two_level_shape *s = fc_two_level(b->net);
    if (s->n_supernodes > 2)
        b->map->glance = (struct fc_glance){
            .kind = FC_GLANCE_RING, .n_spots = s->n_supernodes, .cables = s->pair_links, .per_spot = s->members};
    bool one = s->n_drawers == 1;
    uint32_t rows = one ? s->n_positions : s->n_drawers,
             columns = s->nodes_per_router * (one ? 1 : s->n_positions);
    struct fc_panel *p = make(b, &b->map->nodes, -1, s->n_supernodes, rows, columns);
    if (!p) return;
    title(p, "nodes", "supernode", one ? "router" : "drawer", one ? "node" : "router of the drawer");
    for (uint32_t n = 0; n < b->net->n_nodes; n++) p->cell[n] = n;
}

/* ---- graphs ---- */

/* Links of class c that leave routers: a row a router, of at most GRAPH_SIDE links, then the next row. */
static void graph_routers(struct builder *b, int c)
{
    const struct fc_network *net = b->net;
    uint32_t most = 0, n_rows = 0, row = 0;
    char text[48];
    for (int pass = 0; pass < 3; pass++) {
        struct fc_panel *p = pass == 2 ? &b->map->panels[b->map->n_panels - 1] : NULL;
        for (uint32_t v = 0; v < net->n_routers; v++) {
            uint32_t n = 0;
            for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
                if (net->link_class[l] != c) continue;
                if (p) p->cell[(size_t)(row + n / p->columns) * p->columns + n % p->columns] = l;
                n++;
            }
            if (pass == 0)
                most = n > most ? n : most;
            else if (n && pass == 1)
                n_rows += (n + most - 1) / most;
            else if (n)
                row += (n + most - 1) / most;
        }
        if (most == 0) return;
        if (most > GRAPH_SIDE) most = GRAPH_SIDE;
        if (pass != 1) continue;
        uint32_t side = n_rows < GRAPH_SIDE ? n_rows : GRAPH_SIDE;
        if (!(p = add(b, c, (n_rows + side - 1) / side, side, most))) return;
        snprintf(text, sizeof text, "%s from routers", net->machine->classes[c].name);
        title(p, text, "group of routers in order", "router", "its links");
    }
}

/* Links of class c that leave nodes, one after the other in rows of 32. */
static void graph_from_nodes(struct builder *b, int c)
{
    const struct fc_network *net = b->net;
    struct fc_panel *p = NULL;
    uint32_t first = net->first_link[net->n_routers], n = 0;
    char text[48];
    for (int pass = 0; pass < 2; pass++) {
        uint32_t i = 0;
        for (uint32_t l = first; l < net->n_links; l++)
            if (net->link_class[l] == c) {
                if (p) p->cell[i] = l;
                i++;
            }
        n = i;
        if (n == 0 || pass == 1) return;
        if (!(p = add(b, c, 1, (n + 31) / 32, n < 32 ? n : 32))) return;
        snprintf(text, sizeof text, "%s from nodes", net->machine->classes[c].name);
        title(p, text, "", "row of 32", "link of a node");
    }
}

static void graph_links(struct builder *b)
{
    for (int c = 0; c < b->net->machine->n_classes && !b->st->code; c++) {
        graph_routers(b, c);
        if (!b->st->code) graph_from_nodes(b, c);
    }
}

static void graph_nodes(struct builder *b)
{
    uint32_t columns = b->net->n_nodes < 32 ? b->net->n_nodes : 32;
    struct fc_panel *p = make(b, &b->map->nodes, -1, 1, (b->net->n_nodes + columns - 1) / columns, columns);
    if (!p) return;
    title(p, "nodes", "", "row of 32", "node");
    for (uint32_t n = 0; n < b->net->n_nodes; n++) p->cell[n] = n;
}

/* ---- all families ---- */

static const struct {
    const char *family;
    void (*links)(struct builder *b), (*nodes)(struct builder *b);
    bool own_node_links; /* the links of nodes are of the family's own classes */
} layouts[] = {
    {"torus", torus_links, torus_nodes, false},
    {"mesh", torus_links, torus_nodes, false},
    {"fat-tree", fat_tree_links, fat_tree_nodes, true},
    {"tmesh", tmesh_links, tmesh_nodes, false},
    {"two-level", two_level_links, two_level_nodes, false},
    {"graph", graph_links, graph_nodes, true},
};

/* Links between nodes and routers, where the nodes stand: one each way. */
static void node_links(struct builder *b, bool in)
{
    const struct fc_network *net = b->net;
    const struct fc_panel *nodes = &b->map->nodes;
    struct fc_panel *p =
        add(b, fc_injection_class(net->machine), nodes->n_tiles, nodes->rows, nodes->columns);
    if (!p) return;
    uint32_t *cell = p->cell;
    *p = *nodes;
    p->cell = cell;
    p->link_class = fc_injection_class(net->machine);
    snprintf(p->title, sizeof p->title, in ? "node to network" : "network to node");
    for (size_t i = 0; i < fc_panel_cells(p); i++) {
        if (nodes->cell[i] == FC_NONE) continue;
        uint32_t vertex = fc_node_vertex(net, nodes->cell[i]), link = net->first_link[vertex];
        p->cell[i] = in ? link : fc_find_link(net, net->link_target[link], vertex);
    }
}

static void class_titles(const struct fc_network *net, struct fc_picture *map)
{
    bool upper = !strcmp(net->machine->family->name, "two-level");
    map->n_classes = net->machine->n_classes;
    map->node_class = fc_injection_class(net->machine);
    for (int c = 0; c < net->machine->n_classes; c++) {
        map->class_name[c] = net->machine->classes[c].name;
        snprintf(map->class_title[c], sizeof map->class_title[c], "%s", net->machine->classes[c].name);
        for (char *at_char = map->class_title[c]; upper && c < fc_injection_class(net->machine) && *at_char;
             at_char++)
            if (*at_char >= 'a' && *at_char <= 'z') *at_char = (char)(*at_char - 'a' + 'A');
    }
}

static char *link_name(const void *network, uint32_t link, char *out, size_t size)
{
    return fc_link_name(network, link, out, size);
}

enum fc_code fc_link_map_build(const struct fc_network *net, struct fc_picture *map, struct fc_status *st)
{
    size_t i = 0;
    *map = (struct fc_picture){0};
    struct builder b = {net, map, st};
    while (i < FC_COUNT(layouts) && strcmp(layouts[i].family, net->machine->family->name)) i++;
    if (i == FC_COUNT(layouts))
        return fc_refuse(st, FC_FAULT, "family %s has no layout for pictures", net->machine->family->name);
    map->panels = fc_alloc(&map->arena, MOST_PANELS, sizeof *map->panels, st);
    if (!map->panels) return st->code;
    map->machine = net->machine->name;
    map->n_links = net->n_links;
    map->n_nodes = net->n_nodes;
    map->link_class = net->link_class;
    map->network = net;
    map->link_name = link_name;
    class_titles(net, map);
    layouts[i].nodes(&b);
    if (!st->code) layouts[i].links(&b);
    if (!st->code && !layouts[i].own_node_links) {
        node_links(&b, true);
        if (!st->code) node_links(&b, false);
    }
    return st->code;
}

void fc_link_map_free(struct fc_picture *map)
{
    fc_arena_free(&map->arena);
    *map = (struct fc_picture){0};
}
