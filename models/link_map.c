/* link_map.c - the layout of a network in panels, by the rule of its family (family_*_layout.c).
 *
 * Without a rule a router is a row, its links in their order; links from nodes stand one after the other, nodes in rows
 * of NODES_A_ROW. Injection and ejection stand as their nodes do. */
#include "models/link_map_build.h"

#include <string.h>

_Static_assert((int)FC_PICTURE_CLASSES >= (int)FC_MAX_CLASSES, "classes of a picture");

enum { MOST_PANELS = 2 * (FC_MAX_DIMS + FC_MAX_CLASSES + 4), SIDE = 64, NODES_A_ROW = 32 };

/* Cells of a new panel, all empty; NULL: no memory. */
static struct fc_panel *make(struct fc_layout_builder *b, struct fc_panel *p, int link_class, uint32_t n_tiles,
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

struct fc_panel *fc_layout_add(struct fc_layout_builder *b, int link_class, uint32_t n_tiles, uint32_t rows,
                               uint32_t columns)
{
    return make(b, &b->map->panels[b->map->n_panels++], link_class, n_tiles, rows, columns);
}

struct fc_panel *fc_layout_nodes(struct fc_layout_builder *b, uint32_t n_tiles, uint32_t rows, uint32_t columns)
{
    return make(b, &b->map->nodes, -1, n_tiles, rows, columns);
}

void fc_layout_title(struct fc_panel *p, const char *text, const char *tile, const char *row, const char *column)
{
    snprintf(p->title, sizeof p->title, "%s", text);
    snprintf(p->tile, sizeof p->tile, "%s", p->n_tiles > 1 ? tile : "");
    snprintf(p->row, sizeof p->row, "%s", p->rows > 1 ? row : "");
    snprintf(p->column, sizeof p->column, "%s", p->columns > 1 ? column : "");
}

/* ---- without a rule ---- */

/* Links of class c that leave routers: a row a router, of at most SIDE links, then the next row. */
static void links_of_routers(struct fc_layout_builder *b, int c)
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
        if (most > SIDE) most = SIDE;
        if (pass != 1) continue;
        uint32_t side = n_rows < SIDE ? n_rows : SIDE; /* halved while a panel is less wide than high */
        while (side > SIDE / 8 && (n_rows + side - 1) / side * (most + 1) < side) side /= 2;
        if (!(p = fc_layout_add(b, c, (n_rows + side - 1) / side, side, most))) return;
        snprintf(text, sizeof text, "%s from routers", net->machine->classes[c].name);
        fc_layout_title(p, text, "group of routers in order", "router", "its links");
    }
}

/* Links of class c that leave nodes, one after the other in rows. */
static void links_of_nodes(struct fc_layout_builder *b, int c)
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
        uint32_t columns = n < NODES_A_ROW ? n : NODES_A_ROW;
        if (!(p = fc_layout_add(b, c, 1, (n + columns - 1) / columns, columns))) return;
        snprintf(text, sizeof text, "%s from nodes", net->machine->classes[c].name);
        fc_layout_title(p, text, "", "row of 32", "link of a node");
    }
}

static void plain_links(struct fc_layout_builder *b)
{
    for (int c = 0; c < b->net->machine->n_classes && !b->st->code; c++) {
        links_of_routers(b, c);
        if (!b->st->code) links_of_nodes(b, c);
    }
}

static void plain_nodes(struct fc_layout_builder *b)
{
    uint32_t columns = b->net->n_nodes < NODES_A_ROW ? b->net->n_nodes : NODES_A_ROW;
    struct fc_panel *p = fc_layout_nodes(b, 1, (b->net->n_nodes + columns - 1) / columns, columns);
    if (!p) return;
    fc_layout_title(p, "nodes", "", "row of 32", "node");
    for (uint32_t n = 0; n < b->net->n_nodes; n++) p->cell[n] = n;
}

static const struct fc_layout plain = {.links = plain_links, .nodes = plain_nodes, .own_node_links = true};

/* ---- all families ---- */

/* Links between nodes and routers, where the nodes stand: one each way. */
static void node_links(struct fc_layout_builder *b, bool in)
{
    const struct fc_network *net = b->net;
    const struct fc_panel *nodes = &b->map->nodes;
    struct fc_panel *p =
        fc_layout_add(b, fc_injection_class(net->machine), nodes->n_tiles, nodes->rows, nodes->columns);
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

static void class_titles(const struct fc_network *net, bool capitals, struct fc_picture *map)
{
    map->n_classes = net->machine->n_classes;
    map->node_class = fc_injection_class(net->machine);
    for (int c = 0; c < net->machine->n_classes; c++) {
        map->class_name[c] = net->machine->classes[c].name;
        snprintf(map->class_title[c], sizeof map->class_title[c], "%s", net->machine->classes[c].name);
        for (char *at = map->class_title[c]; capitals && c < fc_injection_class(net->machine) && *at; at++)
            if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
    }
}

static char *link_name(const void *network, uint32_t link, char *out, size_t size)
{
    return fc_link_name(network, link, out, size);
}

enum fc_code fc_link_map_build(const struct fc_network *net, struct fc_picture *map, struct fc_status *st)
{
    const struct fc_layout *layout = net->machine->family->layout ? net->machine->family->layout : &plain;
    *map = (struct fc_picture){0};
    struct fc_layout_builder b = {net, map, st};
    map->panels = fc_alloc(&map->arena, MOST_PANELS, sizeof *map->panels, st);
    if (!map->panels) return st->code;
    map->machine = net->machine->name;
    map->n_links = net->n_links;
    map->n_nodes = net->n_nodes;
    map->link_class = net->link_class;
    map->network = net;
    map->link_name = link_name;
    class_titles(net, layout->capitals, map);
    layout->nodes(&b);
    if (!st->code) layout->links(&b);
    if (!st->code && !layout->own_node_links) {
        node_links(&b, true);
        if (!st->code) node_links(&b, false);
    }
    return st->code;
}

FC_FREES(fc_link_map_free, fc_picture)
