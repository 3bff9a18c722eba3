/* cdg_graph_detour.c - channel dependencies of detours on a graph (Valiant, UGAL): shortest paths from all nodes to every stop,
 * and from every stop to all destinations.
 *
 * Both ways are swept place by place as in cdg_graph.c. The links that lead into a stop as the last of a first way, and those
 * of nodes, may wait for the first of every second way from there. Packets that go directly are on the second way from their
 * node on. With L hops to the farthest stop, rule hops: a head with h hops left holds channel L - h - 1 and asks for L - h on
 * the first way; 2 L - h - 1 and 2 L - h on the second, where it begins L - 1, or a node's link. O((stops + groups) x links +
 * L x sum of degree^2 / 64). Limit: that nodes on one router send directly is left out of count where the second way begins, so on
 * small networks there are a few dependencies more than packets have. */
#include "models/deadlock/cdg_graph.h"

#include <string.h>

struct detours {
    struct fc_gather g;
    uint8_t *last;     /* [n_links] the last of a first way, or a node's */
    bool *is_stop;     /* [n_routers] */
    uint64_t **first;  /* [L + 1] by hops left: pairs of first ways, */
    uint64_t **turn;   /* where the second begins, */
    uint64_t **second; /* of second ways; one matrix for all without rule hops */
};

static enum fc_code start(struct detours *d, const struct fc_network *net, bool by_hops, struct fc_arena *arena,
                          struct fc_status *st)
{
    if (fc_gather_start(&d->g, net, arena, st)) return st->code;
    uint32_t levels = d->g.tables->farthest + 1;
    uint64_t **all[] = {NULL, NULL, NULL};
    d->g.longest = d->g.tables->farthest;
    d->last = fc_alloc(arena, net->n_links, sizeof *d->last, st);
    d->is_stop = fc_alloc(arena, net->n_routers, sizeof *d->is_stop, st);
    for (int i = 0; i < 3; i++) {
        all[i] = fc_alloc(arena, levels, sizeof *all[i], st);
        for (uint32_t h = 0; !st->code && h < levels; h++)
            all[i][h] = by_hops ? fc_alloc(arena, d->g.first_row[net->n_routers], sizeof **all[i], st) : d->g.bits;
    }
    d->first = all[0];
    d->turn = all[1];
    d->second = all[2];
    return st->code;
}

static void first_ways(struct detours *d)
{
    struct fc_gather *g = &d->g;
    const struct fc_network *net = g->net;
    const struct fc_graph_tables *t = g->tables;
    g->level = d->first;
    for (uint32_t s = 0; s < t->n_stops; s++) {
        uint32_t v = t->stop[s];
        d->is_stop[v] = true;
        if (t->n_groups > 1) fc_gather_sweep(g, t->stop_hops + (size_t)s * net->n_routers, FC_NONE);
        for (uint32_t j = g->first_in[v]; t->n_groups > 1 && j < g->first_in[v + 1]; j++)
            d->last[g->in[j]] |= g->used[g->in[j]];
    }
    for (uint32_t l = net->first_link[net->n_routers]; l < net->n_links; l++) d->last[l] = 1;
}

/* Router v, h hops from the group: what links in that are marked wait for. */
static bool add_rows(const struct fc_gather *g, const uint8_t *marked, uint64_t *bits, uint32_t v)
{
    uint64_t n = fc_gather_words(g->net, v), *row = bits + g->first_row[v], any = 0;
    for (uint32_t j = g->first_in[v]; j < g->first_in[v + 1]; j++, row += n) {
        uint64_t here = marked[g->in[j]];
        for (uint64_t w = 0; w < n; w++) row[w] |= g->mask[w] & (0 - here);
        any |= here;
    }
    return any;
}

static void second_ways(struct detours *d, uint32_t group)
{
    struct fc_gather *g = &d->g;
    const struct fc_network *net = g->net;
    const uint16_t *hops = g->tables->hops + (size_t)group * net->n_routers;
    uint32_t n = fc_graph_by_falling_hops(hops, net->n_routers, g->count, g->order);
    memset(g->used, 0, net->n_links);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = g->order[i], first = net->first_link[v], h = hops[v] < g->longest ? hops[v] : g->longest;
        fc_gather_next_hops(g, v, group, hops);
        bool reached = add_rows(g, g->used, d->second[h], v);
        if (d->is_stop[v]) reached |= add_rows(g, d->last, d->turn[h], v);
        for (uint32_t l = first; reached && l < net->first_link[v + 1]; l++)
            g->used[l] = g->mask[(l - first) / 64] >> (l - first) % 64 & 1;
    }
}

static void write(struct detours *d, bool by_hops, struct fc_cdg *cdg)
{
    struct fc_gather *g = &d->g;
    uint32_t longest = g->longest;
    for (uint32_t h = 0; by_hops && h <= longest; h++) {
        uint32_t out = h ? 2 * longest - h : 0; /* to a node: its only channel */
        g->bits = d->first[h];
        if (h) fc_gather_arcs(g, h < longest ? longest - h - 1 : 0, longest - h, true, cdg);
        g->bits = d->turn[h];
        fc_gather_arcs(g, longest - 1, out, true, cdg);
        g->bits = d->second[h];
        fc_gather_arcs(g, 2 * longest - h - 1, out, true, cdg);
    }
    if (!by_hops) fc_gather_arcs(g, 0, 0, true, cdg);
}

enum fc_code fc_graph_detour_dependencies(const struct fc_network *net, bool by_hops, struct fc_cdg *cdg,
                                          struct fc_status *st)
{
    if (cdg->pass == FC_CDG_HUBS) return FC_OK;
    if (!cdg->kept) {
        struct detours *d = fc_alloc(&cdg->arena, 1, sizeof *d, st);
        if (!d || start(d, net, by_hops, &cdg->arena, st)) return st->code;
        first_ways(d);
        for (uint32_t group = 0; group < d->g.tables->n_groups; group++) second_ways(d, group);
        cdg->kept = d;
    }
    write(cdg->kept, by_hops, cdg);
    return FC_OK;
}
