/* forced_graph.c - traffic of graphs to which shortest paths leave no choice: for every destination in the order
 * of falling hops, certain(v) = bytes that start at v + sum of certain(r) over routers r whose only way on is v:
 * O(links) a destination. */
#include "models/family_graph.h"
#include "solvers/bound/forced.h"

#include <string.h>

struct group_sweep {
    double *certain;               /* [n_routers] */
    uint32_t *order, *count;       /* [n_routers], [n_routers + 1]: routers by falling hops */
    uint32_t *first_entry, *entry; /* [n_groups + 1], [n] */
};

/* Bytes that start at a node: at the router that all its nearest links lead to. */
static void start_at(const struct fc_forced *f, struct group_sweep *g, const uint16_t *hops, uint32_t node,
                     double bytes)
{
    const struct fc_network *net = f->net;
    uint32_t v = fc_node_vertex(net, node), router = FC_NONE;
    uint16_t nearest = FC_FAR;
    bool one = true;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
        uint32_t to = net->link_target[l];
        if (hops[to] < nearest)
            nearest = hops[to], router = to, one = true;
        else if (hops[to] == nearest && to != router)
            one = false;
    }
    if (one && router != FC_NONE) g->certain[router] += bytes;
}

/* All that is certain goes on where there is one neighbour only. */
static void sweep_certain(struct fc_forced *f, struct group_sweep *g, const uint16_t *hops)
{
    const struct fc_network *net = f->net;
    uint32_t n = fc_graph_by_falling_hops(hops, net->n_routers, g->count, g->order);
    for (uint32_t i = 0; i < n && hops[g->order[i]] > 0; i++) {
        uint32_t v = g->order[i], cable = FC_NONE;
        double bytes = g->certain[v];
        bool one = true;
        for (uint32_t l = net->first_link[v]; one && bytes > 0 && l < net->first_link[v + 1]; l++) {
            if (fc_is_node(net, net->link_target[l]) || hops[net->link_target[l]] + 1 != hops[v]) continue;
            if (cable == FC_NONE) cable = l;
            one = net->link_target[l] == net->link_target[cable];
        }
        if (!one || cable == FC_NONE) continue;
        f->bytes[cable] += bytes;
        g->certain[net->link_target[cable]] += bytes;
    }
    memset(g->certain, 0, net->n_routers * sizeof *g->certain);
}

static void graph_group(struct fc_forced *f, struct group_sweep *g, uint32_t group)
{
    const struct fc_graph_tables *t = f->net->extra;
    const struct fc_node_demand *demand = f->demand;
    const uint16_t *hops = t->hops + (size_t)group * f->net->n_routers;
    bool any = g->first_entry[group + 1] > g->first_entry[group];
    for (uint32_t i = g->first_entry[group]; i < g->first_entry[group + 1]; i++)
        start_at(f, g, hops, demand->src[g->entry[i]], demand->bytes[g->entry[i]]);
    for (int part = 0; part < demand->n_dense; part++) {
        double b = 0;
        for (uint32_t m = t->first_member[group]; m < t->first_member[group + 1]; m++)
            b += demand->b[part][t->member[m]];
        for (uint32_t s = 0; b > 0 && s < f->net->n_nodes; s++)
            if (demand->a[part][s] > 0) start_at(f, g, hops, s, demand->a[part][s] * b);
        any = any || b > 0;
    }
    if (any) sweep_certain(f, g, hops);
}

enum fc_code fc_forced_graph(struct fc_forced *f, struct fc_arena *scratch, struct fc_status *st)
{
    if (!fc_graph(f->net) || f->demand->n >= FC_NONE) return FC_OK;
    const struct fc_graph_tables *t = f->net->extra;
    const struct fc_node_demand *demand = f->demand;
    uint32_t n = f->net->n_routers;
    struct group_sweep g = {.certain = fc_alloc(scratch, n, sizeof *g.certain, st),
                            .order = fc_alloc(scratch, n, sizeof *g.order, st),
                            .count = fc_alloc(scratch, n + 1ull, sizeof *g.count, st),
                            .first_entry = fc_alloc(scratch, t->n_groups + 2ull, sizeof *g.first_entry, st),
                            .entry = fc_alloc(scratch, demand->n + 1, sizeof *g.entry, st)};
    if (st->code) return st->code;
    for (size_t e = 0; e < demand->n; e++) g.first_entry[t->group[demand->dst[e]] + 2]++;
    for (uint32_t i = 0; i < t->n_groups; i++) g.first_entry[i + 2] += g.first_entry[i + 1];
    for (size_t e = 0; e < demand->n; e++) g.entry[g.first_entry[t->group[demand->dst[e]] + 1]++] = (uint32_t)e;
    for (uint32_t i = 0; i < t->n_groups; i++) graph_group(f, &g, i);
    return FC_OK;
}
