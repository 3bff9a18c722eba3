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

/* Breadth first from one node, as fc_distances counts hops, as far as anyone asks. */
struct spread {
    const struct fc_network *net;
    uint32_t *counted; /* [n_vertices] how many of the nodes that count it is */
    uint8_t *met;      /* [n_vertices] 0 between searches */
    uint32_t *list;    /* [n_vertices] routers in the order they are met, from the end those nodes that were */
};

/* Counts the nodes on a router's links that were not met before. */
static uint32_t meet_nodes(const struct spread *s, uint32_t v, uint32_t *n_met)
{
    uint32_t sum = 0;
    for (uint32_t l = s->net->first_link[v]; l < s->net->first_link[v + 1]; l++) {
        uint32_t to = s->net->link_target[l];
        if (!fc_is_node(s->net, to) || s->met[to]) continue;
        s->met[to] = 1;
        s->list[s->net->n_vertices - ++*n_met] = to;
        sum += s->counted[to];
    }
    return sum;
}
static void meet_routers(const struct spread *s, uint32_t v, uint32_t *tail)
{
    for (uint32_t l = s->net->first_link[v]; l < s->net->first_link[v + 1]; l++) {
        uint32_t to = s->net->link_target[l];
        if (fc_is_node(s->net, to) || s->met[to]) continue;
        s->met[to] = 1;
        s->list[(*tail)++] = to;
    }
}

/* within[h]: nodes within h hops of `from`, until they are `enough` or all that can be reached; returns how many h, the last
 * of which adds some. */
static uint32_t spread_from(const struct spread *s, uint32_t from, uint32_t enough, uint32_t *within)
{
    uint32_t tail = 0, begin = 0, n_met = 1, sum = s->counted[from], h = 0, own = 1;
    s->met[from] = 1;
    s->list[s->net->n_vertices - 1] = from;
    meet_routers(s, from, &tail);
    do {
        uint32_t end = tail;
        for (uint32_t i = begin; i < end; i++) sum += meet_nodes(s, s->list[i], &n_met);
        within[h++] = sum;
        if (h > 1 && sum > within[h - 2]) own = h;
        if (sum >= enough) break;
        for (uint32_t i = begin; i < end; i++) meet_routers(s, s->list[i], &tail);
        begin = end;
    } while (begin < tail);
    for (uint32_t i = 0; i < tail; i++) s->met[s->list[i]] = 0;
    for (uint32_t i = 1; i <= n_met; i++) s->met[s->list[s->net->n_vertices - i]] = 0;
    return own;
}

/* reach[h]: most of the allowed nodes within h hops of one of them; where all look alike, most nodes within h hops of
 * any; up to where they are `enough`. scratch [4 * n_vertices], all 0. Returns how many h there are. */
static uint32_t most_within(const struct fc_sites *sites, bool alike, uint32_t enough, uint32_t *reach,
                            uint32_t *scratch)
{
    const struct fc_network *net = sites->net;
    uint32_t n_from = alike ? 1 : sites->n_nodes, n = alike ? net->n_nodes : sites->n_nodes, end = 0;
    uint32_t *within = scratch + 2 * (size_t)net->n_vertices;
    uint8_t *bytes = (uint8_t *)(within + net->n_vertices), *seen = bytes + net->n_vertices; /* of routers */
    struct spread s = {net, scratch, bytes, scratch + net->n_vertices};
    for (uint32_t k = 0; k < n; k++) s.counted[fc_node_vertex(net, alike ? k : sites->node[k])]++;
    for (uint32_t i = 0; i < n_from; i++) {
        uint32_t router = only_router(net, sites->node[i]);
        if (router != FC_NONE && seen[router]) continue;
        if (router != FC_NONE) seen[router] = 1;
        uint32_t own = spread_from(&s, fc_node_vertex(net, sites->node[i]), enough, within);
        uint32_t all = own > end ? own : end;
        for (uint32_t h = 0; h < all; h++) {
            uint32_t sum = within[h < own ? h : own - 1];
            if (h >= end) reach[h] = end > 0 ? reach[end - 1] : 0;
            if (sum > reach[h]) reach[h] = sum;
        }
        end = all;
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
    uint32_t *reach = fc_alloc(&scratch, net->n_vertices + 1ull, sizeof *reach, st);
    uint32_t *work = reach ? fc_alloc(&scratch, 4ull * net->n_vertices, sizeof *work, st) : NULL;
    if (work) {
        uint64_t tasks = partners->n / sites->slots_per_node + 1; /* as many nodes hold all partners */
        uint32_t enough = tasks < FC_NONE ? (uint32_t)tasks : FC_NONE, end;
        end = most_within(sites, alike, enough, reach, work);
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
