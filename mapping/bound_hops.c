/* bound_hops.c - all hops over all links.
 *
 * However the routes run, a byte from node x to node y crosses at least dist(x, y) links between routers,
 * so T * (sum of their bandwidths) >= sum of loads >= sum over messages of bytes * dist. With R_h the most
 * allowed nodes within h hops of one of them, at most R_h nodes are that near, so at most R_h * (tasks a
 * node) - 1 partners, and
 *     sum of bytes * dist = sum over h >= 0 of bytes that go further than h
 *                        >= sum over h >= 0, tasks t of beyond(t, R_h * (tasks a node) - 1)
 * (bound_partners.c): the i-th heaviest partner is at the i-th nearest place at best. Limits: 0 where a
 * link never binds; distances from one node only on networks that look alike from everywhere (tori), and none where
 * searches from all would cost more than most_work link visits. */
#include "mapping/bound.h"

#include <math.h>
#include <string.h>

static const double most_work = 1e8;

/* The router on which the node hangs alone, or FC_NONE. */
static uint32_t only_router(const struct fc_network *net, uint32_t node)
{
    uint32_t v = fc_node_vertex(net, node), first = net->first_link[v];
    return net->first_link[v + 1] == first + 1 ? net->link_target[first] : FC_NONE;
}

/* Breadth first from up to 64 nodes at once, as fc_distances counts hops: bit i of a word is the i-th of them (Then et al.,
 * "The more the merrier: efficient multi-source graph traversal", VLDB 2014). */
enum { AT_ONCE = 64 };
struct spread {
    const struct fc_network *net;
    uint32_t *counted;           /* [n_vertices] how many of the nodes that count it is */
    uint64_t *met, *here, *next; /* [n_vertices], [n_routers] twice: who was there, who comes on */
    uint32_t *list, *next_list;  /* [n_routers] routers where here, next is not 0 */
    uint32_t n_list, n_next;
    uint32_t sum[AT_ONCE], n; /* nodes that each of n has met */
};

static enum fc_code make_spread(const struct fc_network *net, struct fc_arena *arena, struct spread *s,
                                struct fc_status *st)
{
    *s = (struct spread){.net = net};
    s->counted = fc_alloc(arena, net->n_vertices, sizeof *s->counted, st);
    s->met = fc_alloc(arena, net->n_vertices, sizeof *s->met, st);
    s->here = fc_alloc(arena, net->n_routers, sizeof *s->here, st);
    s->next = fc_alloc(arena, net->n_routers, sizeof *s->next, st);
    s->list = fc_alloc(arena, net->n_routers, sizeof *s->list, st);
    s->next_list = fc_alloc(arena, net->n_routers, sizeof *s->next_list, st);
    return st->code;
}

static void bring(struct spread *s, uint32_t router, uint64_t who)
{
    if (!s->next[router]) s->next_list[s->n_next++] = router;
    s->next[router] |= who;
}

/* Those who come to a router for the first time and are still asked for go on from it. */
static void settle(struct spread *s, uint64_t asked)
{
    s->n_list = 0;
    for (uint32_t i = 0; i < s->n_next; i++) {
        uint32_t v = s->next_list[i];
        uint64_t who = s->next[v] & ~s->met[v] & asked;
        s->next[v] = 0;
        s->met[v] |= who;
        if (!who) continue;
        s->here[v] = who;
        s->list[s->n_list++] = v;
    }
    s->n_next = 0;
}

/* One hop: nodes at the routers are met, and routers behind them. */
static void hop_on(struct spread *s)
{
    const struct fc_network *net = s->net;
    for (uint32_t i = 0; i < s->n_list; i++) {
        uint32_t v = s->list[i];
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
            uint32_t to = net->link_target[l];
            uint64_t who = s->here[v] & ~s->met[to];
            if (!fc_is_node(net, to)) {
                if (who) bring(s, to, who);
                continue;
            }
            s->met[to] |= who;
            for (; who && s->counted[to]; who &= who - 1) s->sum[__builtin_ctzll(who)] += s->counted[to];
        }
    }
}

/* The searches from n nodes: most[h], the most that one of them has met within h hops, until all have met `enough` or all that
 * they can; returns how many h, the last of which adds some. */
static uint32_t spread_from(struct spread *s, const uint32_t *node, uint32_t n, uint32_t enough, uint32_t *most)
{
    const struct fc_network *net = s->net;
    uint64_t asked = n < AT_ONCE ? (1ull << n) - 1 : ~0ull;
    uint32_t h = 0, end = 1;
    memset(s->met, 0, net->n_vertices * sizeof *s->met);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = fc_node_vertex(net, node[i]);
        s->met[v] |= 1ull << i;
        s->sum[i] = s->counted[v];
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) bring(s, net->link_target[l], 1ull << i);
    }
    do {
        uint64_t before = 0, after = 0;
        settle(s, asked);
        for (uint32_t i = 0; i < n; i++) before += s->sum[i];
        hop_on(s);
        most[h++] = 0;
        for (uint32_t i = 0; i < n; i++) {
            after += s->sum[i];
            if (s->sum[i] > most[h - 1]) most[h - 1] = s->sum[i];
            if (s->sum[i] >= enough) asked &= ~(1ull << i);
        }
        if (after > before) end = h;
    } while (asked && s->n_next);
    for (uint32_t i = 0; i < s->n_next; i++) s->next[s->next_list[i]] = 0;
    s->n_next = 0;
    return end;
}

/* reach[h]: most of the allowed nodes within h hops of one of them; where all look alike, most nodes within h hops of
 * any; up to where they are `enough`. most: scratch, as long. Returns how many h there are. */
static uint32_t most_within(struct spread *s, const struct fc_sites *sites, bool alike, uint32_t enough,
                            uint32_t *reach, uint32_t *most, uint8_t *seen)
{
    const struct fc_network *net = sites->net;
    uint32_t n_from = alike ? 1 : sites->n_nodes, n = alike ? net->n_nodes : sites->n_nodes, end = 0;
    uint32_t from[AT_ONCE], n_at_once = 0;
    for (uint32_t k = 0; k < n; k++) s->counted[fc_node_vertex(net, alike ? k : sites->node[k])]++;
    for (uint32_t i = 0; i < n_from; i++) {
        uint32_t router = only_router(net, sites->node[i]);
        if (router == FC_NONE || !seen[router]) from[n_at_once++] = sites->node[i];
        if (router != FC_NONE) seen[router] = 1;
        if (n_at_once == 0 || (n_at_once < AT_ONCE && i + 1 < n_from)) continue;
        uint32_t own = spread_from(s, from, n_at_once, enough, most), all = own > end ? own : end;
        for (uint32_t h = 0; h < all; h++) {
            uint32_t sum = most[h < own ? h : own - 1];
            if (h >= end) reach[h] = end > 0 ? reach[end - 1] : 0;
            if (sum > reach[h]) reach[h] = sum;
        }
        end = all;
        n_at_once = 0;
    }
    return end;
}

/* Bandwidth of all links between routers, less the background's. */
static double all_links(const struct fc_sites *sites)
{
    const struct fc_network *net = sites->net;
    double sum = 0;
    for (uint32_t l = 0; l < net->first_link[net->n_routers]; l++)
        if (!fc_is_node(net, net->link_target[l])) sum += fc_site_bandwidth(sites, l);
    return sum;
}

enum fc_code fc_hop_bound(const struct fc_sites *sites, const struct fc_partners *partners, double *bound_s,
                          struct fc_status *st)
{
    const struct fc_network *net = sites->net;
    struct fc_arena scratch = {0};
    const struct fc_family_ops *family = net->machine->family;
    bool alike = family->looks_alike && family->looks_alike(net);
    double rate = all_links(sites), hop_bytes = 0, heaviest, searches = alike ? 1 : sites->n_nodes;
    *bound_s = 0;
    if (!(rate > 0) || !isfinite(rate) || searches * net->n_links > most_work) return FC_OK;
    struct spread spread;
    uint32_t *reach = fc_alloc(&scratch, net->n_vertices + 1ull, sizeof *reach, st);
    uint32_t *most = fc_alloc(&scratch, net->n_vertices + 1ull, sizeof *most, st);
    uint8_t *seen = fc_alloc(&scratch, net->n_routers, sizeof *seen, st);
    if (reach && most && seen && !make_spread(net, &scratch, &spread, st)) {
        uint64_t tasks = partners->n / sites->slots_per_node + 1; /* as many nodes hold all partners */
        uint32_t enough = tasks < FC_NONE ? (uint32_t)tasks : FC_NONE;
        uint32_t end = most_within(&spread, sites, alike, enough, reach, most, seen);
        for (uint32_t h = 0; h < end; h++) {
            uint64_t places = (uint64_t)reach[h] * sites->slots_per_node;
            if (places >= partners->n) break;
            hop_bytes += fc_partners_beyond(partners, places - 1, false, &heaviest);
        }
        *bound_s = hop_bytes / rate;
    }
    fc_arena_free(&scratch);
    return st->code;
}
