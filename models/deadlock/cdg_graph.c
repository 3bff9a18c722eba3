/* cdg_graph.c - channel dependencies of all shortest paths on any graph, destination by destination.
 *
 * Towards a destination group packets fall from hop distance h to h - 1. Sweeping the routers by falling h
 * tells which links they use; at each router every used link in may wait for every next hop out. The pairs
 * are gathered over all destinations in one bit matrix a router (links in x links out). O(groups * links +
 * sum of degree^2 / 64).
 *
 * Layers (Domke, Hoefler & Nagel, IPDPS 2011, by whole destinations instead of single paths): the routes
 * to one destination never close a cycle, so every destination group goes to the first layer whose graph
 * stays acyclic with it, and each layer has a virtual channel of its own. O(groups * layers * (links +
 * dependencies)).
 *
 * Hops (Gunther, IEEE Trans. Communications 29(4), 1981): a channel a hop, counted so that the last one of every route is
 * that of the longest; pairs are gathered by the hops that are left. */
#include "models/deadlock/cdg_graph.h"

#include <string.h>

enum fc_code fc_gather_start(struct fc_gather *g, const struct fc_network *net, struct fc_arena *scratch,
                             struct fc_status *st)
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
    g->place = fc_alloc(scratch, net->n_links, sizeof *g->place, st);
    if (st->code) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++)
        if (!fc_is_node(net, net->link_target[l])) g->first_in[net->link_target[l] + 2]++;
    for (uint32_t v = 0; v < n; v++) g->first_in[v + 2] += g->first_in[v + 1];
    for (uint32_t l = 0; l < net->n_links; l++)
        if (!fc_is_node(net, net->link_target[l])) g->in[g->first_in[net->link_target[l] + 1]++] = l;
    for (uint32_t j = 0; j < g->first_in[n]; j++) g->place[g->in[j]] = j;
    for (uint32_t v = 0; v < n; v++) {
        g->first_row[v + 1] = g->first_row[v] + fc_gather_words(net, v) * (g->first_in[v + 1] - g->first_in[v]);
        if (fc_gather_words(net, v) > widest) widest = fc_gather_words(net, v);
    }
    g->bits = fc_alloc(scratch, g->first_row[n], sizeof *g->bits, st);
    g->mask = fc_alloc(scratch, widest, sizeof *g->mask, st);
    return st->code;
}

/* What the j-th of the links into routers, one into v, may wait for. */
static uint64_t *row_of(const struct fc_gather *g, uint32_t v, uint32_t j)
{
    return g->bits + g->first_row[v] + (j - g->first_in[v]) * fc_gather_words(g->net, v);
}

/* Marks the injection links that packets leave their nodes by: to the nearest routers. */
static void mark_sources(struct fc_gather *g, const uint16_t *hops)
{
    const struct fc_network *net = g->net;
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        uint32_t v = fc_node_vertex(net, node);
        uint16_t nearest = FC_FAR;
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
            if (hops[net->link_target[l]] < nearest) nearest = hops[net->link_target[l]];
        for (uint32_t l = net->first_link[v]; nearest != FC_FAR && l < net->first_link[v + 1]; l++)
            g->used[l] = hops[net->link_target[l]] == nearest;
    }
}

/* Without branches on what is nearer, which is hard to foretell. */
void fc_gather_next_hops(struct fc_gather *g, uint32_t v, uint32_t group, const uint16_t *hops)
{
    const struct fc_network *net = g->net;
    uint32_t first = net->first_link[v], last = net->first_link[v + 1], l = first;
    memset(g->mask, 0, fc_gather_words(net, v) * sizeof *g->mask);
    for (; hops[v] > 0 && l < last && !fc_is_node(net, net->link_target[l]); l++)
        g->mask[(l - first) / 64] |= (uint64_t)(hops[net->link_target[l]] + 1 == hops[v]) << (l - first) % 64;
    for (; hops[v] == 0 && l < last; l++) {
        uint32_t to = net->link_target[l];
        uint64_t out = fc_is_node(net, to) && g->tables->group[to - net->n_routers] == group;
        g->mask[(l - first) / 64] |= out << (l - first) % 64;
    }
}

/* The same for a router of at most 64 links out, with its rows; whether any packet for the group comes by. */
static bool gather_narrow(struct fc_gather *g, uint32_t v, uint32_t group, const uint16_t *hops, uint64_t *mask)
{
    const struct fc_network *net = g->net;
    uint32_t first = net->first_link[v], last = net->first_link[v + 1];
    uint64_t *row = g->bits + g->first_row[v], reached = 0, next = 0;
    if (hops[v] > 0)
        for (uint32_t l = first; l < last && !fc_is_node(net, net->link_target[l]); l++)
            next |= (uint64_t)(hops[net->link_target[l]] + 1 == hops[v]) << (l - first);
    else
        fc_gather_next_hops(g, v, group, hops), next = *g->mask;
    for (uint32_t j = g->first_in[v]; j < g->first_in[v + 1]; j++) {
        uint64_t used = g->used[g->in[j]];
        *row++ |= next & (0 - used);
        reached |= used;
    }
    *mask = next;
    return reached;
}

static void gather_group(struct fc_gather *g, uint32_t group)
{
    fc_gather_sweep(g, g->tables->hops + (size_t)group * g->net->n_routers, group);
}

void fc_gather_sweep(struct fc_gather *g, const uint16_t *hops, uint32_t group)
{
    const struct fc_network *net = g->net;
    uint32_t n = fc_graph_by_falling_hops(hops, g->net->n_routers, g->count, g->order);
    memset(g->used, 0, net->n_links);
    mark_sources(g, hops);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = g->order[i], first = net->first_link[v];
        uint64_t n_words = fc_gather_words(net, v), reached = 0;
        if (g->level) g->bits = g->level[hops[v] < g->longest ? hops[v] : g->longest];
        uint64_t *row = g->bits + g->first_row[v];
        if (n_words == 1) {
            if (gather_narrow(g, v, group, hops, &reached))
                for (uint32_t l = first; l < net->first_link[v + 1]; l++) g->used[l] = reached >> (l - first) & 1;
            continue;
        }
        fc_gather_next_hops(g, v, group, hops);
        for (uint32_t j = g->first_in[v]; j < g->first_in[v + 1]; j++, row += n_words) {
            uint64_t used = g->used[g->in[j]];
            for (uint64_t w = 0; w < n_words; w++) row[w] |= g->mask[w] & (0 - used);
            reached |= used;
        }
        for (uint32_t l = first; reached && l < net->first_link[v + 1]; l++)
            g->used[l] = g->mask[(l - first) / 64] >> (l - first) % 64 & 1;
    }
}

/* Goes through the links that the j-th link in, one into v, may wait for. */
struct scan {
    const uint64_t *row;
    uint64_t n, word, left;
    uint32_t first;
};
static struct scan scan_row(const struct fc_gather *g, uint32_t v, uint32_t j)
{
    struct scan s = {row_of(g, v, j), fc_gather_words(g->net, v), 0, 0, g->net->first_link[v]};
    if (s.n) s.left = s.row[0];
    return s;
}
/* The next link, FC_NONE after the last. */
static inline uint32_t next_link(struct scan *s)
{
    while (s->left == 0) {
        if (++s->word >= s->n) return FC_NONE;
        s->left = s->row[s->word];
    }
    uint32_t link = s->first + (uint32_t)(64 * s->word) + (uint32_t)__builtin_ctzll(s->left);
    s->left &= s->left - 1;
    return link;
}

/* Whether the gathered dependencies close no cycle (Kahn 1962). waits [n_links], queue [n_links] are
 * scratch. */
static bool acyclic(const struct fc_gather *g, uint32_t *waits, uint32_t *queue)
{
    const struct fc_network *net = g->net;
    uint32_t n_in = g->first_in[net->n_routers], head = 0, tail = 0, out;
    memset(waits, 0, net->n_links * sizeof *waits);
    for (uint32_t j = 0; j < n_in; j++) {
        struct scan scan = scan_row(g, net->link_target[g->in[j]], j);
        while ((out = next_link(&scan)) != FC_NONE) waits[out]++;
    }
    for (uint32_t j = 0; j < n_in; j++)
        if (waits[g->in[j]] == 0) queue[tail++] = j;
    while (head < tail) {
        uint32_t j = queue[head++];
        struct scan scan = scan_row(g, net->link_target[g->in[j]], j);
        while ((out = next_link(&scan)) != FC_NONE)
            if (--waits[out] == 0 && !fc_is_node(net, net->link_target[out])) queue[tail++] = g->place[out];
    }
    return tail == n_in;
}

/* The group's layer: the first in whose graph it closes no cycle. before [words]: scratch for what was
 * there. */
static uint32_t find_layer(struct fc_gather *g, uint32_t group, uint64_t **layer, uint32_t n_layers, uint64_t *before,
                           uint32_t *scratch)
{
    uint64_t size = g->first_row[g->net->n_routers] * sizeof *before;
    for (uint32_t i = 0; i < n_layers; i++) {
        g->bits = layer[i];
        memcpy(before, g->bits, size);
        gather_group(g, group);
        if (acyclic(g, scratch, scratch + g->net->n_links)) return i;
        memcpy(g->bits, before, size);
    }
    return n_layers;
}

enum fc_code fc_graph_layers(const struct fc_network *net, uint32_t *layer, uint32_t *n_layers, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_gather g = {0};
    uint64_t *matrix[FC_MOST_LAYERS + 1], *before = NULL;
    uint32_t *work = fc_alloc(&scratch, 2 * (size_t)net->n_links, sizeof *work, st);
    *n_layers = 0;
    if (work && !fc_gather_start(&g, net, &scratch, st))
        before = fc_alloc(&scratch, g.first_row[net->n_routers], sizeof *before, st);
    for (uint32_t group = 0; before && group < g.tables->n_groups; group++) {
        layer[group] = find_layer(&g, group, matrix, *n_layers, before, work);
        if (layer[group] < *n_layers) continue;
        if (*n_layers == FC_MOST_LAYERS) {
            fc_refuse(st, FC_NO,
                      "layers: the shortest paths need more than %d virtual channels (InfiniBand's data lanes) "
                      "to be free of deadlock",
                      FC_MOST_LAYERS);
            break;
        }
        g.bits = matrix[*n_layers] = fc_alloc(&scratch, g.first_row[net->n_routers], sizeof *g.bits, st);
        if (!g.bits) break;
        gather_group(&g, group);
        ++*n_layers;
    }
    return st->code;
}

/* Hop distances from a node's nearest router, over all pairs. */
uint32_t fc_graph_longest(const struct fc_network *net)
{
    const struct fc_graph_tables *t = net->extra;
    uint32_t longest = 1;
    for (uint32_t group = 0; group < t->n_groups; group++) {
        const uint16_t *hops = t->hops + (size_t)group * net->n_routers;
        for (uint32_t v = net->n_routers; v < net->n_vertices; v++) {
            uint16_t nearest = FC_FAR;
            for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
                if (hops[net->link_target[l]] < nearest) nearest = hops[net->link_target[l]];
            if (nearest != FC_FAR && nearest > longest) longest = nearest;
        }
    }
    return longest;
}

void fc_gather_arcs(const struct fc_gather *g, uint32_t in_vc, uint32_t out_vc, bool node_first, struct fc_cdg *cdg)
{
    const struct fc_network *net = g->net;
    uint32_t out;
    for (uint32_t v = 0; v < net->n_routers; v++)
        for (uint32_t j = g->first_in[v]; j < g->first_in[v + 1]; j++) {
            struct scan scan = scan_row(g, v, j);
            uint32_t in = g->in[j], from = node_first && fc_is_node(net, net->link_source[in]) ? 0 : in_vc;
            while ((out = next_link(&scan)) != FC_NONE)
                if (net->link_target[out] != net->link_source[in] || /* not back to the node it came from */
                    !fc_is_node(net, net->link_target[out]))
                    fc_cdg_add(cdg, fc_cdg_channel(cdg, in, from), fc_cdg_channel(cdg, out, out_vc));
        }
}

/* What the counting pass gathers for the filling one. */
struct gathered {
    struct fc_gather g;
    uint32_t n;
    uint64_t **bits; /* [n] a layer, or hops left from 0 to the longest */
};

static enum fc_code gather_all(const struct fc_network *net, enum fc_graph_scheme scheme, struct fc_cdg *cdg,
                               struct fc_status *st)
{
    struct gathered *all = fc_alloc(&cdg->arena, 1, sizeof *all, st);
    if (!all || fc_gather_start(&all->g, net, &cdg->arena, st)) return st->code;
    struct fc_gather *g = &all->g;
    uint32_t *layer = fc_alloc(&cdg->arena, g->tables->n_groups, sizeof *layer, st);
    all->n = 1;
    if (!layer || (scheme == FC_GRAPH_LAYERS && fc_graph_layers(net, layer, &all->n, st))) return st->code;
    if (scheme == FC_GRAPH_HOPS) g->longest = fc_graph_longest(net), all->n = g->longest + 1;
    if (all->n > (uint32_t)cdg->n_vcs + (scheme == FC_GRAPH_HOPS))
        return fc_refuse(st, FC_FAULT, "the layers of the shortest paths changed");
    all->bits = fc_alloc(&cdg->arena, all->n, sizeof *all->bits, st);
    for (uint32_t i = 0; !st->code && i < all->n; i++)
        all->bits[i] = i ? fc_alloc(&cdg->arena, g->first_row[net->n_routers], sizeof **all->bits, st) : g->bits;
    if (scheme == FC_GRAPH_HOPS) g->level = all->bits;
    for (uint32_t group = 0; !st->code && group < g->tables->n_groups; group++) {
        g->bits = all->bits[layer[group]];
        gather_group(g, group);
    }
    cdg->kept = all;
    return st->code;
}

enum fc_code fc_graph_shortest_dependencies(const struct fc_network *net, enum fc_graph_scheme scheme,
                                            struct fc_cdg *cdg, struct fc_status *st)
{
    bool by_hops = scheme == FC_GRAPH_HOPS;
    if (cdg->pass == FC_CDG_HUBS) return FC_OK;
    if (!cdg->kept && gather_all(net, scheme, cdg, st)) return st->code;
    struct gathered *all = cdg->kept;
    for (uint32_t i = 0; i < all->n; i++) {
        uint32_t longest = all->g.longest;
        all->g.bits = all->bits[i];
        /* A head with i hops left came over channel longest - i - 1 and asks for longest - i; to a node for 0. */
        if (by_hops)
            fc_gather_arcs(&all->g, i < longest ? longest - i - 1 : 0, i ? longest - i : 0, true, cdg);
        else
            fc_gather_arcs(&all->g, i, i, false, cdg);
    }
    return FC_OK;
}
