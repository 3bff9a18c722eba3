/* cdg_graph.c - channel dependencies of all shortest paths on any graph, destination by destination.
 *
 * Towards a destination group packets fall from hop distance h to h - 1. Sweeping the routers by falling h tells which
 * links they use; at each router every used link in may wait for every next hop out. The pairs are gathered over all
 * destinations in one bit matrix a router (links in x links out). O(groups * links + sum of degree^2 / 64). */
#include "models/cdg.h"
#include "models/family_graph.h"

#include <string.h>

struct gather {
    const struct fc_network *net;
    const struct fc_graph_tables *tables;
    uint32_t *first_in, *in;   /* [n_routers + 1], [links into routers] */
    uint64_t *first_row;       /* [n_routers + 1] words before the router's matrix */
    uint64_t *bits;            /* row a link in, column a link out */
    uint32_t *order, *count;   /* routers by falling hops; [n_routers + 1] scratch */
    uint8_t *used;             /* [n_links] used towards the destination at hand */
    uint64_t *mask;            /* row of the next hops */
};

static uint64_t words(const struct fc_network *net, uint32_t v)
{
    return (net->first_link[v + 1] - net->first_link[v] + 63) / 64;
}

static enum fc_code start(struct gather *g, const struct fc_network *net, struct fc_arena *scratch, struct fc_status *st)
{
    uint32_t n = net->n_routers;
    uint64_t widest = 1;
    g->net = net;
    g->tables = net->extra;
    g->first_in = fc_alloc(scratch, (size_t)n + 2, sizeof *g->first_in, st);
    g->in = fc_alloc(scratch, net->n_links, sizeof *g->in, st);
    g->first_row = fc_alloc(scratch, (size_t)n + 1, sizeof *g->first_row, st);
    g->order = fc_alloc(scratch, n, sizeof *g->order, st);
    g->count = fc_alloc(scratch, (size_t)n + 2, sizeof *g->count, st);
    g->used = fc_alloc(scratch, net->n_links, sizeof *g->used, st);
    if (st->code) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++)
        if (!fc_is_node(net, net->link_target[l])) g->first_in[net->link_target[l] + 2]++;
    for (uint32_t v = 0; v < n; v++) g->first_in[v + 2] += g->first_in[v + 1];
    for (uint32_t l = 0; l < net->n_links; l++)
        if (!fc_is_node(net, net->link_target[l])) g->in[g->first_in[net->link_target[l] + 1]++] = l;
    for (uint32_t v = 0; v < n; v++) {
        g->first_row[v + 1] = g->first_row[v] + words(net, v) * (g->first_in[v + 1] - g->first_in[v]);
        if (words(net, v) > widest) widest = words(net, v);
    }
    g->bits = fc_alloc(scratch, g->first_row[n], sizeof *g->bits, st);
    g->mask = fc_alloc(scratch, widest, sizeof *g->mask, st);
    return st->code;
}

/* Routers by falling hops (counting sort); returns how many have a path. */
static uint32_t sort_routers(struct gather *g, const uint16_t *hops)
{
    uint32_t n = g->net->n_routers, at = 0;
    memset(g->count, 0, ((size_t)n + 2) * sizeof *g->count);
    for (uint32_t v = 0; v < n; v++)
        if (hops[v] != FC_FAR) g->count[hops[v]]++;
    for (uint32_t h = n + 1; h-- > 0;) {
        uint32_t here = g->count[h];
        g->count[h] = at;
        at += here;
    }
    for (uint32_t v = 0; v < n; v++)
        if (hops[v] != FC_FAR) g->order[g->count[hops[v]]++] = v;
    return at;
}

/* Marks the injection links that packets for the group leave their nodes by: to the nearest routers. */
static void mark_sources(struct gather *g, uint32_t group, const uint16_t *hops)
{
    const struct fc_network *net = g->net;
    const struct fc_graph_tables *t = g->tables;
    bool alone = t->first_member[group + 1] - t->first_member[group] == 1;
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        uint32_t v = fc_node_vertex(net, node);
        uint16_t nearest = FC_FAR;
        if (alone && t->group[node] == group) continue;
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
            if (hops[net->link_target[l]] < nearest) nearest = hops[net->link_target[l]];
        for (uint32_t l = net->first_link[v]; nearest != FC_FAR && l < net->first_link[v + 1]; l++)
            g->used[l] = hops[net->link_target[l]] == nearest;
    }
}

/* Links by which packets for the group leave router v; whether there are any. */
static void next_hops(struct gather *g, uint32_t v, uint32_t group, const uint16_t *hops)
{
    const struct fc_network *net = g->net;
    uint32_t first = net->first_link[v];
    memset(g->mask, 0, words(net, v) * sizeof *g->mask);
    for (uint32_t l = first; l < net->first_link[v + 1]; l++) {
        uint32_t to = net->link_target[l];
        bool out = fc_is_node(net, to) ? hops[v] == 0 && g->tables->group[to - net->n_routers] == group
                                       : hops[v] > 0 && hops[to] + 1 == hops[v];
        if (out) g->mask[(l - first) / 64] |= 1ull << (l - first) % 64;
    }
}

static void gather_group(struct gather *g, uint32_t group)
{
    const struct fc_network *net = g->net;
    const uint16_t *hops = g->tables->hops + (size_t)group * net->n_routers;
    uint32_t n = sort_routers(g, hops);
    memset(g->used, 0, net->n_links);
    mark_sources(g, group, hops);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = g->order[i], first = net->first_link[v];
        bool reached = false;
        next_hops(g, v, group, hops);
        for (uint32_t j = g->first_in[v]; j < g->first_in[v + 1]; j++) {
            if (!g->used[g->in[j]]) continue;
            uint64_t *row = g->bits + g->first_row[v] + (j - g->first_in[v]) * words(net, v);
            for (uint64_t w = 0; w < words(net, v); w++) row[w] |= g->mask[w];
            reached = true;
        }
        for (uint32_t l = first; reached && l < net->first_link[v + 1]; l++)
            g->used[l] = g->mask[(l - first) / 64] >> (l - first) % 64 & 1;
    }
}

enum fc_code fc_graph_dependencies(const struct fc_network *net, struct fc_cdg *cdg, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct gather g;
    if (strcmp(net->machine->routing->name, "shortest")) return fc_vc_unknown_routing(net, "shortest", st);
    if (cdg->pass == FC_CDG_HUBS) return FC_OK;
    if (!start(&g, net, &scratch, st)) {
        for (uint32_t group = 0; group < g.tables->n_groups; group++) gather_group(&g, group);
        for (uint32_t v = 0; v < net->n_routers; v++)
            for (uint32_t j = g.first_in[v]; j < g.first_in[v + 1]; j++) {
                const uint64_t *row = g.bits + g.first_row[v] + (j - g.first_in[v]) * words(net, v);
                uint32_t in = g.in[j], first = net->first_link[v];
                for (uint32_t l = first; l < net->first_link[v + 1]; l++)
                    if (row[(l - first) / 64] >> (l - first) % 64 & 1 && net->link_target[l] != net->link_source[in])
                        fc_cdg_add(cdg, fc_cdg_channel(cdg, in, 0), fc_cdg_channel(cdg, l, 0));
            }
    }
    fc_arena_free(&scratch);
    return st->code;
}
