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

/* reach[h]: most of the allowed nodes within h hops of one of them; where all look alike, most nodes within h hops of
 * any. scratch [4 * n_vertices]. Returns how many h there are. */
static uint32_t most_within(const struct fc_sites *sites, bool alike, uint32_t *reach, uint32_t *scratch)
{
    const struct fc_network *net = sites->net;
    uint32_t n_from = alike ? 1 : sites->n_nodes, n = alike ? net->n_nodes : sites->n_nodes;
    uint32_t *distance = scratch, *queue = distance + net->n_vertices, *within = queue + net->n_vertices, end = 0;
    uint8_t *seen = (uint8_t *)(within + net->n_vertices); /* [n_routers] */
    memset(seen, 0, net->n_routers);
    for (uint32_t i = 0; i < n_from; i++) {
        uint32_t router = only_router(net, sites->node[i]), farthest = 0;
        if (router != FC_NONE && seen[router]) continue;
        if (router != FC_NONE) seen[router] = 1;
        fc_distances(net, fc_node_vertex(net, sites->node[i]), distance, queue);
        memset(within, 0, net->n_vertices * sizeof *within);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t d = distance[fc_node_vertex(net, alike ? k : sites->node[k])];
            if (d == FC_NONE) continue;
            within[d]++;
            farthest = d > farthest ? d : farthest;
        }
        for (uint32_t h = 0, sum = 0; h < (end > farthest + 1 ? end : farthest + 1); h++) {
            sum += within[h];
            if (h >= end) reach[h] = end > 0 ? reach[end - 1] : 0;
            if (sum > reach[h]) reach[h] = sum;
        }
        if (farthest + 1 > end) end = farthest + 1;
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
        uint32_t end = most_within(sites, alike, reach, work);
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
