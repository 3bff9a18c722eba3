/* family_graph_layout.c - graphs in pictures, by class: links between routers, from routers to nodes, from nodes. A row is a router
 * and has its name. Between few routers the columns are routers, too: a matrix from row to column, parallel cables side by side.
 * Between many a row has its router's links, by the router they lead to. Nodes stand beside the router they hang on; one
 * that hangs on several stands at each, by its link there. */
#include "models/family_graph.h"
#include "models/link_map_build.h"
#include "models/network.h"

#include <stdio.h>

enum { MATRIX = 40, MOST_COLUMNS = 128, SIDE = 64 };

/* What stands in the rows of a panel. */
enum part { BETWEEN, TO_NODES, FROM_NODES };

static bool is_of(const struct fc_network *net, uint32_t link, int c, enum part part)
{
    return net->link_class[link] == c && fc_is_node(net, net->link_target[link]) == (part != BETWEEN);
}

/* Links of the router, of the class and part; most parallel ones. */
static uint32_t count(const struct fc_network *net, uint32_t router, int c, enum part part, uint32_t *parallel)
{
    uint32_t n = 0;
    for (uint32_t l = net->first_link[router]; l < net->first_link[router + 1]; l++) {
        uint32_t same = 0;
        if (!is_of(net, l, c, part)) continue;
        n++;
        for (uint32_t k = net->first_link[router]; k <= l; k++)
            same += is_of(net, k, c, part) && net->link_target[k] == net->link_target[l];
        if (same > *parallel) *parallel = same;
    }
    return n;
}

static void name_rows(struct fc_layout_builder *b, struct fc_panel *p, const uint32_t *router, uint32_t n,
                      uint32_t rows_each)
{
    const struct fc_graph_shape *s = b->net->machine->shape;
    p->row_name = fc_alloc(&b->map->arena, (size_t)p->n_tiles * p->rows, sizeof *p->row_name, b->st);
    for (uint32_t i = 0; p->row_name && i < n; i++)
        if ((uint64_t)i * rows_each < (uint64_t)p->n_tiles * p->rows)
            p->row_name[i * rows_each] = s->router_name[router[i]];
}

/* What stands for a router's link: of FROM_NODES its other direction. */
static uint32_t cell_of(const struct fc_network *net, uint32_t link, enum part part)
{
    return part == FROM_NODES ? ((const struct fc_graph_tables *)net->extra)->reverse[link] : link;
}

static void matrix(struct fc_layout_builder *b, int c, const uint32_t *router, uint32_t n, uint32_t parallel)
{
    const struct fc_network *net = b->net;
    char text[48];
    struct fc_panel *p = fc_layout_add(b, c, 1, n, n * parallel);
    if (!p) return;
    snprintf(text, sizeof text, "%.30s between routers", net->machine->classes[c].name);
    fc_layout_title(p, text, "", "from", parallel > 1 ? "to, cable" : "to");
    name_rows(b, p, router, n, 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t l = net->first_link[router[i]]; l < net->first_link[router[i] + 1]; l++) {
            uint32_t at = 0, cable = 0;
            if (!is_of(net, l, c, BETWEEN)) continue;
            while (router[at] != net->link_target[l]) at++;
            while (*fc_layout_at(p, 0, i, at * parallel + cable) != FC_NONE) cable++;
            *fc_layout_at(p, 0, i, at * parallel + cable) = l;
        }
}

static void list(struct fc_layout_builder *b, int c, enum part part, const uint32_t *router, uint32_t n, uint32_t most)
{
    static const char *const what[] = {"between routers", "to nodes", "from nodes"};
    static const char *const column[] = {"link", "node", "node"};
    const struct fc_network *net = b->net;
    char text[48], block[32];
    uint32_t columns = most < SIDE ? most : SIDE, each = (most + columns - 1) / columns;
    uint64_t rows = (uint64_t)n * each;
    uint32_t side = rows < SIDE ? (uint32_t)rows : SIDE / each > 0 ? SIDE / each * each : each;
    while (side >= 16 * each && (rows + side - 1) / side * (columns + 1) < side)
        side = side / each / 2 * each; /* wider, less high */
    struct fc_panel *p = fc_layout_add(b, c, (uint32_t)((rows + side - 1) / side), side, columns);
    if (!p) return;
    snprintf(text, sizeof text, "%.20s %s", net->machine->classes[c].name, what[part]);
    snprintf(block, sizeof block, "block of %u", side / each);
    fc_layout_title(p, text, block, "", column[part]);
    name_rows(b, p, router, n, each);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        for (uint32_t l = net->first_link[router[i]]; l < net->first_link[router[i] + 1]; l++)
            if (is_of(net, l, c, part)) {
                size_t row = (size_t)i * each + k / columns;
                p->cell[row * columns + k % columns] = cell_of(net, l, part);
                k++;
            }
    }
}

static void links(struct fc_layout_builder *b)
{
    const struct fc_network *net = b->net;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t *router = fc_alloc(&scratch, net->n_routers, sizeof *router, b->st);
    for (int part = BETWEEN; router && part <= FROM_NODES; part++)
        for (int c = 0; c < net->machine->n_classes && !b->st->code; c++) {
            uint32_t n = 0, most = 0, parallel = 0;
            for (uint32_t v = 0; v < net->n_routers; v++) {
                uint32_t own = count(net, v, c, (enum part)part, &parallel);
                if (own) router[n++] = v;
                if (own > most) most = own;
            }
            if (n == 0) continue;
            if (part == BETWEEN && n <= MATRIX && n * parallel <= MOST_COLUMNS)
                matrix(b, c, router, n, parallel);
            else
                list(b, c, (enum part)part, router, n, most);
        }
}

static void nodes(struct fc_layout_builder *b)
{
    enum { A_ROW = 32 };
    uint32_t columns = b->net->n_nodes < A_ROW ? b->net->n_nodes : A_ROW;
    struct fc_panel *p = fc_layout_nodes(b, 1, (b->net->n_nodes + columns - 1) / columns, columns);
    if (!p) return;
    fc_layout_title(p, "nodes", "", "row of 32", "node");
    for (uint32_t n = 0; n < b->net->n_nodes; n++) p->cell[n] = n;
}

const struct fc_layout fc_graph_layout = {.links = links, .nodes = nodes, .own_node_links = true};
