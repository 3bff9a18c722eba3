/* route_walked.c - a routing that the kernel has none of its own for, where its walk is one path: packets go along
 * it.
 *
 * The next link depends on where the packet is and where it goes, so it is looked up in a table that the walks
 * between all nodes fill: 2 bytes a node and place. Every virtual channel may be taken. Limits: walks of weight 1
 * that meet stay together; at most MOST_ENTRIES entries. */
#include "solvers/flit/route.h"

enum { MOST_ENTRIES = 1 << 26, NO_LINK = UINT16_MAX };

struct walked_routes {
    uint16_t *next; /* [n_nodes][n_vertices] number of the link among those of its source */
    uint16_t vcs, all;
};

static uint64_t start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                      const struct fc_flit_view *view)
{
    (void)flit, (void)src, (void)dst, (void)random, (void)view;
    return 0;
}

static int choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                   const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct walked_routes *t = flit->route_tables;
    const struct fc_network *net = flit->net;
    (void)in_link, (void)in_vc;
    uint32_t link = net->first_link[router] + t->next[(size_t)head->dst * net->n_vertices + router];
    uint16_t vcs = router >= flit->n_routers                 ? flit->injection_vcs
                   : fc_is_node(net, net->link_target[link]) ? t->all
                                                             : t->vcs;
    out[0] = (struct fc_flit_choice){.route = head->route, .link = link, .vcs = vcs};
    return 1;
}

/* The walk's links into the row of its destination; false: they are no path, or part from another one's. */
static bool enter(const struct fc_network *net, const struct fc_walk *walk, uint16_t *row)
{
    for (uint32_t i = 0; i < walk->n; i++) {
        uint32_t from = net->link_source[walk->link[i]], number = walk->link[i] - net->first_link[from];
        bool joined = i == 0 || net->link_target[walk->link[i - 1]] == from;
        if (walk->weight[i] != 1 || !joined || number >= NO_LINK) return false;
        if (row[from] != NO_LINK && row[from] != number) return false;
        row[from] = (uint16_t)number;
    }
    return true;
}

/* Traffic of a node to itself (uniform) has no walk: it turns round at the node's first router. */
static void enter_own(const struct fc_network *net, uint32_t node, uint16_t *row)
{
    uint32_t v = fc_node_vertex(net, node);
    if (row[v] != NO_LINK) return;
    uint32_t router = net->link_target[net->first_link[v]];
    row[v] = 0;
    if (row[router] == NO_LINK) row[router] = (uint16_t)(fc_find_link(net, router, v) - net->first_link[router]);
}

static enum fc_code fill(struct fc_flit_net *flit, struct walked_routes *t, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    const struct fc_routing_ops *routing = net->machine->routing;
    struct fc_walk walk;
    bool path = true;
    if (fc_walk_start(&walk, routing->walk_capacity(net), st)) return st->code;
    for (size_t i = 0; i < (size_t)net->n_nodes * net->n_vertices; i++) t->next[i] = NO_LINK;
    for (uint32_t d = 0; path && d < net->n_nodes; d++) {
        uint16_t *row = t->next + (size_t)d * net->n_vertices;
        for (uint32_t s = 0; path && s < net->n_nodes; s++) {
            if (s == d) continue;
            walk.n = 0;
            routing->walk(net, s, d, 1, &walk);
            path = enter(net, &walk, row);
        }
        enter_own(net, d, row);
    }
    fc_walk_free(&walk);
    if (path) return FC_OK;
    return fc_route_refuse(flit, st,
                           "the flit-level kernel has no %s routing of %s networks, and its walks are no single "
                           "paths that it could follow",
                           routing->name, net->machine->family->name);
}

static enum fc_code prepare(struct fc_flit_net *flit, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    int rep;
    if ((double)net->n_nodes * net->n_vertices > MOST_ENTRIES || net->machine->routing->walk_capacity(net) == FC_NONE)
        return fc_refuse(st, FC_INPUT,
                         "the flit-level kernel has no %s routing of %s networks, and a table of all walks "
                         "between %u nodes is too large",
                         net->machine->routing->name, net->machine->family->name, net->n_nodes);
    struct walked_routes *t = fc_alloc(&flit->arena, 1, sizeof *t, st);
    if (!t || fc_route_data_channels(flit, 1, &rep, st)) return st->code;
    t->next = fc_alloc(&flit->arena, (size_t)net->n_nodes * net->n_vertices, sizeof *t->next, st);
    if (!t->next || fill(flit, t, st)) return st->code;
    t->vcs = fc_flit_vc_mask(0, rep);
    t->all = fc_route_all(flit);
    flit->route_tables = t;
    return FC_OK;
}

/* The random word decides nothing. */
static bool words(const struct fc_flit_net *flit, struct fc_flit_words *out)
{
    (void)flit, (void)out;
    return true;
}
static uint32_t strata(const struct fc_flit_net *flit, int *tie_bits)
{
    (void)flit;
    *tie_bits = 0;
    return 1;
}

/* Not in the list: it is for what no routing there serves. */
const struct fc_flit_route_ops fc_route_walked = {
    .name = "walked",
    .prepare = prepare,
    .start = start,
    .choices = choices,
    .words = words,
    .strata = strata,
};
