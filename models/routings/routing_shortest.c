/* routing_shortest.c - graphs: traffic splits equally over all shortest next hops at every router (ECMP).
 *
 * For destination d let h(v) be the hops from router v to the nearest router of d. Traffic at v with h(v) > 0
 * goes in equal parts over all links v -> v' with h(v') = h(v) - 1 (parallel cables are links of their own);
 * at h(v) = 0 in equal parts over the cables to d; a node with several rails uses those whose router is
 * nearest, in equal parts. So
 *
 *   flow(v) = injected(v) + sum_{v'} flow(v') [number of links v' -> v] / [number of next-hop links of v'],
 *
 * computed in the order of falling h: O(routers + links) a destination, and once for all nodes that hang on
 * the same router. The distances come with the network (family_graph.c). Equal-cost multi-path: RFC 2992; the
 * splitting of flow over the shortest-path graph: Fortz & Thorup, INFOCOM 2000. Limits: bandwidths do not
 * steer the split, as in InfiniBand's and ECMP's tables: a slow cable gets its full part. */
#include "models/routings/graph_sweep.h"

static const uint16_t *hops_to(const struct fc_network *net, uint32_t group)
{
    return ((const struct fc_graph_tables *)net->extra)->hops + (size_t)group * net->n_routers;
}

uint32_t fc_graph_count_rails(const struct fc_network *net, uint32_t node, const uint16_t *hops, uint16_t *nearest)
{
    uint32_t v = fc_node_vertex(net, node), n = 0;
    *nearest = FC_FAR;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
        uint16_t h = hops[net->link_target[l]];
        if (h < *nearest) *nearest = h, n = 0;
        n += h == *nearest;
    }
    return n;
}

uint32_t fc_graph_count_next_hops(const struct fc_network *net, uint32_t v, const uint16_t *hops)
{
    uint32_t n = 0;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1] && !fc_is_node(net, net->link_target[l]); l++)
        n += hops[net->link_target[l]] + 1 == hops[v];
    return n;
}

/* ---- one route ---- */

static uint32_t walk_capacity(const struct fc_network *net)
{
    return ((const struct fc_graph_tables *)net->extra)->walk_capacity;
}

/* Appends the links by which `weight` leaves router v towards node dst. */
static void leave(const struct fc_network *net, uint32_t v, uint32_t dst, const uint16_t *hops, double weight,
                  struct fc_walk *walk)
{
    const struct fc_graph_tables *t = net->extra;
    if (hops[v] > 0) {
        double each = weight / fc_graph_count_next_hops(net, v, hops);
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1] && !fc_is_node(net, net->link_target[l]); l++)
            if (hops[net->link_target[l]] + 1 == hops[v]) fc_walk_add(walk, l, each);
        return;
    }
    uint32_t node = fc_node_vertex(net, dst), cables = 0;
    for (uint32_t l = net->first_link[node]; l < net->first_link[node + 1]; l++) cables += net->link_target[l] == v;
    for (uint32_t l = net->first_link[node]; l < net->first_link[node + 1]; l++)
        if (net->link_target[l] == v) fc_walk_add(walk, t->reverse[l], weight / cables);
}

/* Level by level of falling hops. What arrives at each router is summed in the last n_routers weights of the
 * walk, which walk_capacity reserves; NaN there marks a router already left. Appends nothing when there is no
 * path. */
static void walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    const struct fc_graph_tables *t = net->extra;
    const uint16_t *hops = hops_to(net, t->group[dst]);
    double *arrived = walk->weight + (walk->capacity - net->n_routers);
    uint16_t nearest;
    uint32_t rails = fc_graph_count_rails(net, src, hops, &nearest), v = fc_node_vertex(net, src), first = walk->n;
    if (nearest == FC_FAR) return;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (hops[net->link_target[l]] == nearest) fc_walk_add(walk, l, share / rails);
    for (int level = nearest; level >= 0; level--) {
        uint32_t last = walk->n;
        for (uint32_t i = first; i < last; i++) arrived[net->link_target[walk->link[i]]] = 0;
        for (uint32_t i = first; i < last; i++) arrived[net->link_target[walk->link[i]]] += walk->weight[i];
        for (uint32_t i = first; i < last; i++) {
            double *here = &arrived[net->link_target[walk->link[i]]];
            if (isnan(*here)) continue;
            leave(net, net->link_target[walk->link[i]], dst, hops, *here, walk);
            *here = (double)NAN;
        }
        first = last;
    }
}

/* ---- all traffic to a group of nodes at once ---- */

enum fc_code fc_sweep_start(struct fc_graph_sweep *w, const struct fc_network *net, struct fc_arena *scratch,
                            struct fc_status *st)
{
    w->net = net;
    w->flow = fc_alloc(scratch, net->n_routers, sizeof *w->flow, st);
    w->order = fc_alloc(scratch, net->n_routers, sizeof *w->order, st);
    w->first = fc_alloc(scratch, (size_t)net->n_routers + 1, sizeof *w->first, st);
    return w->flow && w->order && w->first ? FC_OK : st->code;
}

void fc_sweep_order(struct fc_graph_sweep *w, const uint16_t *hops)
{
    w->n_order = fc_graph_by_falling_hops(hops, w->net->n_routers, w->first, w->order);
}

void fc_sweep_flow(struct fc_graph_sweep *w, const uint16_t *hops, double scale, double *load)
{
    const struct fc_network *net = w->net;
    for (uint32_t i = 0; i < w->n_order && hops[w->order[i]] > 0; i++) {
        uint32_t v = w->order[i];
        if (w->flow[v] == 0) continue;
        double each = w->flow[v] / fc_graph_count_next_hops(net, v, hops);
        w->flow[v] = 0;
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (fc_is_node(net, to)) break;
            if (hops[to] + 1 != hops[v]) continue;
            w->flow[to] += each;
            load[l] += scale * each;
        }
    }
}

bool fc_sweep_inject(struct fc_graph_sweep *w, uint32_t src, const uint16_t *hops, double bytes, double scale,
                     double *load)
{
    const struct fc_network *net = w->net;
    uint16_t nearest;
    uint32_t rails = fc_graph_count_rails(net, src, hops, &nearest), v = fc_node_vertex(net, src);
    if (nearest == FC_FAR) return false;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
        if (hops[net->link_target[l]] != nearest) continue;
        load[l] += scale * bytes / rails;
        w->flow[net->link_target[l]] += bytes / rails;
    }
    return true;
}

enum fc_code fc_graph_no_path(const struct fc_network *net, uint32_t src, uint32_t dst, struct fc_status *st)
{
    char from[300], to[300];
    return fc_fail(st, FC_NO, (struct fc_place){fc_graph(net)->path, 0},
                   "there is no path from %s to %s (expected traffic within connected parts of the network)",
                   fc_vertex_name(net, fc_node_vertex(net, src), from, sizeof from),
                   fc_vertex_name(net, fc_node_vertex(net, dst), to, sizeof to));
}

void fc_sweep_eject(const struct fc_graph_sweep *w, uint32_t dst, double scale, double *load)
{
    const struct fc_network *net = w->net;
    const struct fc_graph_tables *t = net->extra;
    uint32_t begin = net->first_link[fc_node_vertex(net, dst)], end = net->first_link[fc_node_vertex(net, dst) + 1];
    for (uint32_t l = begin; l < end; l++) {
        uint32_t cables = 0;
        for (uint32_t k = begin; k < end; k++) cables += net->link_target[k] == net->link_target[l];
        load[t->reverse[l]] += scale * w->flow[net->link_target[l]] / cables;
    }
}

void fc_sweep_clear(struct fc_graph_sweep *w, uint32_t member)
{
    const struct fc_network *net = w->net;
    uint32_t v = fc_node_vertex(net, member);
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) w->flow[net->link_target[l]] = 0;
}

static bool on_one_router(const struct fc_network *net, uint32_t node)
{
    uint32_t v = fc_node_vertex(net, node), begin = net->first_link[v];
    for (uint32_t l = begin; l < net->first_link[v + 1]; l++)
        if (net->link_target[l] != net->link_target[begin]) return false;
    return true;
}

/* Entries by destination group, then destination: first[position of the node in t->member] .. */
static enum fc_code sort_entries(const struct fc_network *net, const uint32_t *dst, size_t n, struct fc_arena *scratch,
                                 uint64_t **first, uint64_t **entry, struct fc_status *st)
{
    const struct fc_graph_tables *t = net->extra;
    uint32_t *position = fc_alloc(scratch, net->n_nodes, sizeof *position, st);
    *first = fc_alloc(scratch, (size_t)net->n_nodes + 2, sizeof **first, st);
    *entry = fc_alloc(scratch, n, sizeof **entry, st);
    if (!position || !*first || !*entry) return st->code;
    for (uint32_t i = 0; i < net->n_nodes; i++) position[t->member[i]] = i;
    for (size_t i = 0; i < n; i++) (*first)[position[dst[i]] + 2]++;
    for (uint32_t i = 2; i < net->n_nodes + 2; i++) (*first)[i] += (*first)[i - 1];
    for (size_t i = 0; i < n; i++) (*entry)[(*first)[position[dst[i]] + 1]++] = i;
    return FC_OK;
}

static enum fc_code sparse(const struct fc_network *net, const uint32_t *src, const uint32_t *dst, const double *bytes,
                           size_t n, double *load, struct fc_status *st)
{
    const struct fc_graph_tables *t = net->extra;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_graph_sweep w;
    uint64_t *first, *entry;
    if (fc_sweep_start(&w, net, &scratch, st) || sort_entries(net, dst, n, &scratch, &first, &entry, st))
        return st->code;
    for (uint32_t group = 0; group < t->n_groups; group++) {
        uint32_t begin = t->first_member[group], end = t->first_member[group + 1];
        if (first[begin] == first[end]) continue;
        const uint16_t *hops = hops_to(net, group);
        bool one_router = on_one_router(net, t->member[begin]);
        fc_sweep_order(&w, hops);
        for (uint32_t i = begin; i < end; i++) {
            uint32_t to = t->member[i];
            double sum = 0;
            for (uint64_t k = first[i]; k < first[i + 1]; k++) {
                if (bytes[entry[k]] == 0) continue;
                sum += bytes[entry[k]];
                if (!fc_sweep_inject(&w, src[entry[k]], hops, bytes[entry[k]], 1, load)) {
                    fc_graph_no_path(net, src[entry[k]], to, st);
                    return st->code;
                }
            }
            if (one_router) { /* one sweep for all of the group: only the last link differs */
                uint32_t v = fc_node_vertex(net, to), cables = net->first_link[v + 1] - net->first_link[v];
                for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
                    load[t->reverse[l]] += sum / cables;
                if (i + 1 < end) continue;
                fc_sweep_flow(&w, hops, 1, load);
            } else {
                fc_sweep_flow(&w, hops, 1, load);
                fc_sweep_eject(&w, to, 1, load);
            }
            fc_sweep_clear(&w, to);
        }
    }
    return st->code;
}

/* ---- rank-one traffic ---- */

void fc_graph_within_group(const struct fc_network *net, uint32_t group, const double *a, const double *b,
                           double *others_a, double *others_b, double *load)
{
    const struct fc_graph_tables *t = net->extra;
    uint32_t begin = t->first_member[group], n = t->first_member[group + 1] - begin;
    double before_a = 0, before_b = 0, after_a = 0, after_b = 0; /* sums of others without cancellation */
    for (uint32_t i = 0; i < n; i++) {
        others_a[i] = before_a, others_b[i] = before_b;
        before_a += a[t->member[begin + i]], before_b += b[t->member[begin + i]];
    }
    for (uint32_t i = n; i-- > 0;) {
        uint32_t node = t->member[begin + i], v = fc_node_vertex(net, node);
        uint32_t cables = net->first_link[v + 1] - net->first_link[v];
        double out = a[node] * (others_b[i] + after_b), in = b[node] * (others_a[i] + after_a);
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
            load[l] += out / cables;
            load[t->reverse[l]] += in / cables;
        }
        after_a += a[node], after_b += b[node];
    }
}

static enum fc_code rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                             struct fc_status *st)
{
    const struct fc_graph_tables *t = net->extra;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_graph_sweep w;
    double *others_a = fc_alloc(&scratch, net->n_nodes, sizeof *others_a, st);
    double *others_b = fc_alloc(&scratch, net->n_nodes, sizeof *others_b, st);
    if (!others_a || !others_b || fc_sweep_start(&w, net, &scratch, st)) return st->code;
    for (uint32_t group = 0; group < t->n_groups; group++) {
        uint32_t begin = t->first_member[group], end = t->first_member[group + 1];
        const uint16_t *hops = hops_to(net, group);
        double sum_b = 0;
        fc_graph_within_group(net, group, a, b, others_a, others_b, load);
        for (uint32_t i = begin; i < end; i++) sum_b += b[t->member[i]];
        if (sum_b == 0) continue;
        fc_sweep_order(&w, hops);
        for (uint32_t s = 0; s < net->n_nodes; s++) {
            if (t->group[s] == group || a[s] == 0) continue;
            if (!fc_sweep_inject(&w, s, hops, a[s], sum_b, load)) {
                while (b[t->member[begin]] == 0) begin++;
                fc_graph_no_path(net, s, t->member[begin], st);
                return st->code;
            }
        }
        fc_sweep_flow(&w, hops, sum_b, load);
        for (uint32_t i = begin; i < end; i++) fc_sweep_eject(&w, t->member[i], b[t->member[i]], load);
        fc_sweep_clear(&w, t->member[begin]);
    }
    return st->code;
}

static const char *const families[] = {"graph", NULL};

const struct fc_routing_ops fc_routing_shortest = {
    .name = "shortest",
    .help = "equal split over all shortest next hops (ECMP)",
    .source = "Fortz & Thorup, INFOCOM 2000; RFC 2992",
    .families = families,
    .minimal = true,
    .by_router = true,
    .walk_capacity = walk_capacity,
    .walk = walk,
    .rank_one = rank_one,
    .sparse = sparse,
};
