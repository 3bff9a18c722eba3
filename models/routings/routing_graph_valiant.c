/* routing_graph_valiant.c - graphs: Valiant's detours through a router drawn at random, and UGAL, which mixes them with
 * shortest paths by load.
 *
 * valiant: a message goes by shortest paths (routing_shortest.c) to a stop, one of the R routers that nodes hang on, each with
 * the same chance, its own and the destination's among them, and from there by shortest paths to its destination; nodes on the
 * same router (routers) go directly. Valiant, SIAM J. Computing 11(2), 1982; on graphs of low diameter: Besta & Hoefler, SC'14,
 * section IV. So of dense traffic a(s) b(d)
 *     to each stop     a(s) sum_{d not beside s} b(d) / R  from each s
 *     from each stop   b(d) sum_{s not beside d} a(s) / R  to each d,
 * a sweep a stop and a group of destinations: O((stops + groups) (nodes + links)).
 * A message's walk is that to all stops and that from them: each is kept with the walk for all messages of its node (of all nodes
 * of its router where they have no other), up to MOST_KEPT links. So a pair costs O(its links); the first of a node O(stops x links).
 * ugal: component 0 shortest paths, 1 detours; the solver finds the share (Singh 2005). */
#include "models/routings/graph_sweep.h"

#include <stdlib.h>
#include <string.h>

static const struct fc_graph_tables *tables(const struct fc_network *net)
{
    return net->extra;
}
static const uint16_t *hops_to_stop(const struct fc_network *net, uint32_t stop)
{
    return tables(net)->stop_hops + (size_t)stop * net->n_routers;
}
static const uint16_t *hops_to_group(const struct fc_network *net, uint32_t group)
{
    return tables(net)->hops + (size_t)group * net->n_routers;
}

/* ---- one message ---- */

/* Behind the walk lie sums by link, and by router what arrived and a queue. */
static uint32_t walk_capacity(const struct fc_network *net)
{
    uint64_t routers = net->n_routers, n = 3ull * net->n_links + routers;
    return n < FC_NONE ? (uint32_t)n : FC_NONE;
}

/* Adds the shortest paths from node src to the stop to sum[n_links]; arrived[n_routers] is zero before and after. False: there
 * is no path. */
static bool add_way(const struct fc_network *net, uint32_t src, uint32_t stop, double bytes, double *sum,
                    double *arrived, uint32_t *queue)
{
    const uint16_t *hops = hops_to_stop(net, stop);
    uint32_t v = fc_node_vertex(net, src), tail = 0;
    uint16_t nearest;
    uint32_t rails = fc_graph_count_rails(net, src, hops, &nearest);
    if (nearest == FC_FAR) return false;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
        uint32_t to = net->link_target[l];
        if (hops[to] != nearest) continue;
        sum[l] += bytes / rails;
        if (arrived[to] == 0) queue[tail++] = to;
        arrived[to] += bytes / rails;
    }
    for (uint32_t head = 0; head < tail; head++) {
        v = queue[head];
        double each = hops[v] ? arrived[v] / fc_graph_count_next_hops(net, v, hops) : 0;
        arrived[v] = 0;
        for (uint32_t l = net->first_link[v]; each > 0 && l < net->first_link[v + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (fc_is_node(net, to)) break;
            if (hops[to] + 1 != hops[v]) continue;
            sum[l] += each;
            if (arrived[to] == 0) queue[tail++] = to;
            arrived[to] += each;
        }
    }
    return true;
}

/* The first way: to all stops, links in the order of the hops from the source. */
static bool walk_out(const struct fc_network *net, uint32_t src, double share, double *arrived, uint32_t *queue,
                     struct fc_walk *walk)
{
    const struct fc_graph_tables *t = net->extra;
    const uint16_t *from = hops_to_group(net, t->group[src]);
    double *sum = walk->weight + (walk->capacity - net->n_links);
    uint32_t v = fc_node_vertex(net, src), inner = net->first_link[net->n_routers], left = 0;
    memset(sum, 0, net->n_links * sizeof *sum);
    for (uint32_t s = 0; s < t->n_stops; s++)
        if (!add_way(net, src, s, share / t->n_stops, sum, arrived, queue)) return false;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (sum[l] > 0) fc_walk_add(walk, l, sum[l]);
    for (uint32_t l = 0; l < inner; l++) left += sum[l] > 0;
    for (uint16_t level = 0; left > 0; level++)
        for (uint32_t l = 0; l < inner; l++) {
            if (from[net->link_source[l]] != level || !(sum[l] > 0)) continue;
            fc_walk_add(walk, l, sum[l]);
            left--;
        }
    return true;
}

/* The second: from all stops, by falling hops. */
static void walk_in(const struct fc_network *net, uint32_t dst, double share, double *arrived, uint32_t *queue,
                    struct fc_walk *walk)
{
    const struct fc_graph_tables *t = net->extra;
    const uint16_t *hops = hops_to_group(net, t->group[dst]);
    uint32_t node = fc_node_vertex(net, dst), left = 0;
    uint16_t level = 0;
    for (uint32_t s = 0; s < t->n_stops; s++) {
        uint32_t v = t->stop[s];
        arrived[v] = share / t->n_stops;
        if (hops[v] > level) level = hops[v];
    }
    for (uint32_t v = 0; v < net->n_routers; v++)
        if (hops[v] != FC_FAR && hops[v] <= level) queue[left++] = v;
    for (; level > 0; level--)
        for (uint32_t i = 0; i < left; i++) {
            uint32_t v = queue[i];
            if (hops[v] != level || arrived[v] == 0) continue;
            double each = arrived[v] / fc_graph_count_next_hops(net, v, hops);
            arrived[v] = 0;
            for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
                uint32_t to = net->link_target[l];
                if (fc_is_node(net, to)) break;
                if (hops[to] + 1 != hops[v]) continue;
                fc_walk_add(walk, l, each);
                arrived[to] += each;
            }
        }
    for (uint32_t l = net->first_link[node]; l < net->first_link[node + 1]; l++) {
        uint32_t cables = 0, v = net->link_target[l];
        for (uint32_t k = net->first_link[node]; k < net->first_link[node + 1]; k++) cables += net->link_target[k] == v;
        fc_walk_add(walk, t->reverse[l], arrived[v] / cables);
    }
    for (uint32_t s = 0; s < t->n_stops; s++) arrived[t->stop[s]] = 0;
}

/* ---- ways that were walked before ---- */

enum { MOST_KEPT = 1 << 22 }; /* links */
struct half {
    uint32_t n; /* 0: not walked yet */
    uint32_t *link;
    double *weight;
};
struct kept {
    const struct fc_network *net;
    size_t n_links;
    struct half *half[2]; /* [n_nodes] out of a node, into it */
};

static void forget(void *what)
{
    struct kept *k = what;
    for (int in = 0; in < 2; in++) {
        for (uint32_t n = 0; k->half[in] && n < k->net->n_nodes; n++) {
            free(k->half[in][n].link);
            free(k->half[in][n].weight);
        }
        free(k->half[in]);
    }
    free(k);
}

/* NULL: out of memory, so nothing is kept. */
static struct kept *kept_of(const struct fc_network *net, struct fc_walk *walk)
{
    struct kept *k = walk->kept;
    if (k && k->net == net) return k;
    if (k) forget(k);
    walk->kept = k = calloc(1, sizeof *k);
    walk->forget = forget;
    if (!k) return NULL;
    k->net = net;
    for (int in = 0; in < 2; in++)
        if (!(k->half[in] = calloc(net->n_nodes, sizeof *k->half[in]))) {
            forget(k);
            return walk->kept = NULL;
        }
    return k;
}

/* Where the ways of the node are kept: with those of the first of its group, which differ in their own links alone (`shared`), if
 * its links lead to one router. */
static uint32_t place_of(const struct fc_network *net, uint32_t node, bool *shared)
{
    const struct fc_graph_tables *t = net->extra;
    uint32_t v = fc_node_vertex(net, node), first = net->first_link[v];
    *shared = false;
    for (uint32_t l = first; l < net->first_link[v + 1]; l++)
        if (net->link_target[l] != net->link_target[first]) return node;
    *shared = true;
    return t->member[t->first_member[t->group[node]]];
}

/* Keeps what the walk has from `from` on. */
static void keep(struct kept *k, int in, uint32_t node, const struct fc_walk *walk, uint32_t from)
{
    bool shared;
    struct half *h = &k->half[in][place_of(k->net, node, &shared)];
    uint32_t n = walk->n - from;
    if (n == 0 || n > MOST_KEPT - k->n_links) return;
    h->link = malloc(n * sizeof *h->link);
    h->weight = malloc(n * sizeof *h->weight);
    if (!h->link || !h->weight) {
        free(h->link);
        free(h->weight);
        *h = (struct half){0};
        return;
    }
    memcpy(h->link, walk->link + from, n * sizeof *h->link);
    memcpy(h->weight, walk->weight + from, n * sizeof *h->weight);
    h->n = n;
    k->n_links += n;
}

/* Adds the half that is kept for the node; false: none is. Own links stand first on the way out, last on the way in. */
static bool add_kept(const struct kept *k, int in, uint32_t node, struct fc_walk *walk)
{
    const struct fc_network *net = k->net;
    const struct fc_graph_tables *t = net->extra;
    bool shared;
    uint32_t v = fc_node_vertex(net, node), first = net->first_link[v];
    const struct half *h = &k->half[in][place_of(net, node, &shared)];
    if (h->n == 0) return false;
    uint32_t own = net->first_link[v + 1] - first, at = in ? h->n - own : 0, i = 0;
    memcpy(walk->link + walk->n, h->link, h->n * sizeof *h->link);
    memcpy(walk->weight + walk->n, h->weight, h->n * sizeof *h->weight);
    for (; shared && i < own; i++) walk->link[walk->n + at + i] = in ? t->reverse[first + i] : first + i;
    walk->n += h->n;
    return true;
}

static void walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    const struct fc_graph_tables *t = net->extra;
    uint32_t behind = walk->capacity - net->n_links - net->n_routers, *queue = walk->link + behind;
    double *arrived = walk->weight + behind;
    if (t->group[src] == t->group[dst]) {
        fc_routing_shortest.walk(net, src, dst, share, walk);
        return;
    }
    memset(arrived, 0, net->n_routers * sizeof *arrived);
    struct kept *k = share == 1 ? kept_of(net, walk) : NULL;
    uint32_t from = walk->n;
    if (!k || !add_kept(k, 0, src, walk)) {
        if (!walk_out(net, src, share, arrived, queue, walk)) return;
        if (k) keep(k, 0, src, walk, from);
    }
    from = walk->n;
    if (k && add_kept(k, 1, dst, walk)) return;
    walk_in(net, dst, share, arrived, queue, walk);
    if (k) keep(k, 1, dst, walk, from);
}

/* ---- all messages ---- */

/* out[s]: bytes of node s to others than those beside it, in[d]: bytes to node d from such. */
static enum fc_code both_ways(const struct fc_network *net, const double *out, const double *in,
                              struct fc_arena *scratch, double *load, struct fc_status *st)
{
    const struct fc_graph_tables *t = net->extra;
    struct fc_graph_sweep w;
    if (fc_sweep_start(&w, net, scratch, st)) return st->code;
    for (uint32_t s = 0; s < t->n_stops; s++) {
        const uint16_t *hops = hops_to_stop(net, s);
        fc_sweep_order(&w, hops);
        for (uint32_t n = 0; n < net->n_nodes; n++)
            if (out[n] > 0 && !fc_sweep_inject(&w, n, hops, out[n] / t->n_stops, 1, load)) {
                uint32_t router = t->stop[s], l = net->first_link[router];
                while (!fc_is_node(net, net->link_target[l])) l++;
                return fc_graph_no_path(net, n, net->link_target[l] - net->n_routers, st);
            }
        fc_sweep_flow(&w, hops, 1, load);
        w.flow[t->stop[s]] = 0;
    }
    for (uint32_t group = 0; group < t->n_groups; group++) {
        const uint16_t *hops = hops_to_group(net, group);
        uint32_t begin = t->first_member[group], end = t->first_member[group + 1];
        double sum = 0;
        for (uint32_t i = begin; i < end; i++) sum += in[t->member[i]];
        if (sum == 0) continue;
        fc_sweep_order(&w, hops);
        for (uint32_t s = 0; s < t->n_stops; s++) w.flow[t->stop[s]] = 1.0 / t->n_stops;
        fc_sweep_flow(&w, hops, sum, load);
        for (uint32_t i = begin; i < end; i++) fc_sweep_eject(&w, t->member[i], in[t->member[i]], load);
        fc_sweep_clear(&w, t->member[begin]);
    }
    return FC_OK;
}

static enum fc_code sparse(const struct fc_network *net, const uint32_t *src, const uint32_t *dst, const double *bytes,
                           size_t n, double *load, struct fc_status *st)
{
    const struct fc_graph_tables *t = net->extra;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *out = fc_alloc(&scratch, net->n_nodes, sizeof *out, st);
    double *in = fc_alloc(&scratch, net->n_nodes, sizeof *in, st);
    double *beside = fc_alloc(&scratch, n ? n : 1, sizeof *beside, st); /* bytes of entries within a group */
    if (out && in && beside) {
        bool any = false;
        for (size_t e = 0; e < n; e++) {
            bool near = t->group[src[e]] == t->group[dst[e]];
            beside[e] = near ? bytes[e] : 0;
            any = any || near;
            out[src[e]] += near ? 0 : bytes[e];
            in[dst[e]] += near ? 0 : bytes[e];
        }
        if (!any || !fc_routing_shortest.sparse(net, src, dst, beside, n, load, st))
            both_ways(net, out, in, &scratch, load, st);
    }
    return st->code;
}

/* others[group] = sum of the value over the nodes of all other groups, by sums of positive terms only. */
static enum fc_code sum_of_others(const struct fc_network *net, const double *value, struct fc_arena *scratch,
                                  double **others, struct fc_status *st)
{
    const struct fc_graph_tables *t = net->extra;
    double *own = fc_alloc(scratch, t->n_groups, sizeof *own, st), before = 0, behind = 0;
    *others = fc_alloc(scratch, t->n_groups, sizeof **others, st);
    if (st->code) return st->code;
    for (uint32_t n = 0; n < net->n_nodes; n++) own[t->group[n]] += value[n];
    for (uint32_t g = 0; g < t->n_groups; g++) {
        (*others)[g] = before;
        before += own[g];
    }
    for (uint32_t g = t->n_groups; g-- > 0;) {
        (*others)[g] += behind;
        behind += own[g];
    }
    return FC_OK;
}

static enum fc_code rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                             struct fc_status *st)
{
    const struct fc_graph_tables *t = net->extra;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *others_a, *others_b;
    double *out = fc_alloc(&scratch, net->n_nodes, sizeof *out, st);
    double *in = fc_alloc(&scratch, net->n_nodes, sizeof *in, st);
    if (out && in && !sum_of_others(net, a, &scratch, &others_a, st) &&
        !sum_of_others(net, b, &scratch, &others_b, st)) {
        for (uint32_t g = 0; g < t->n_groups; g++) fc_graph_within_group(net, g, a, b, out, in, load);
        for (uint32_t n = 0; n < net->n_nodes; n++) {
            out[n] = a[n] * others_b[t->group[n]];
            in[n] = b[n] * others_a[t->group[n]];
        }
        both_ways(net, out, in, &scratch, load, st);
    }
    return st->code;
}

/* ---- UGAL ---- */

static uint32_t components(const struct fc_network *net)
{
    (void)net;
    return 2;
}
static enum fc_code ugal_rank_one(const struct fc_network *net, uint32_t c, const double *a, const double *b,
                                  double *load, struct fc_status *st)
{
    return (c ? rank_one : fc_routing_shortest.rank_one)(net, a, b, load, st);
}
static enum fc_code ugal_sparse(const struct fc_network *net, uint32_t c, const uint32_t *src, const uint32_t *dst,
                                const double *bytes, size_t n, double *load, struct fc_status *st)
{
    return (c ? sparse : fc_routing_shortest.sparse)(net, src, dst, bytes, n, load, st);
}
static uint32_t shortest_capacity(const struct fc_network *net)
{
    return tables(net)->walk_capacity;
}
static void shortest_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *out)
{
    fc_routing_shortest.walk(net, src, dst, share, out);
}

static const char *const families[] = {"graph", NULL};
const struct fc_routing_ops fc_routing_graph_valiant = {
    .name = "valiant",
    .help = "by shortest paths to a random router that has nodes, and on to the destination",
    .source = "Valiant 1982; Besta & Hoefler, SC'14",
    .families = families,
    .detours = true,
    .phases = 2,
    .by_router = true,
    .walk_capacity = walk_capacity,
    .walk = walk,
    .rank_one = rank_one,
    .sparse = sparse,
};
const struct fc_routing_ops fc_routing_graph_ugal = {
    .name = "ugal",
    .help = "shortest paths and Valiant's detours mixed by load; the solver finds the share",
    .source = "Singh 2005; Besta & Hoefler, SC'14",
    .families = families,
    .adaptive = true,
    .detours = true,
    .by_router = true,
    .walk_capacity = shortest_capacity,
    .walk = shortest_walk,
    .n_components = components,
    .component_rank_one = ugal_rank_one,
    .component_sparse = ugal_sparse,
};
