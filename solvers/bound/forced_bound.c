/* forced_bound.c - a lower bound of max over links of load / bandwidth from traffic that no minimal routing
 * can move.
 *
 * However adaptive routing splits, bytes that are certain to be at router v, and have no minimal way on but
 * by the cables to one neighbour u, cross those cables: T >= sum of such bytes / bandwidth of the cables from
 * v to u. Tori and meshes: the pairs whose routers differ in one coordinate and are not half way round its
 * ring; along a line every link on their way (difference arrays: O(k^2) a line for dense parts). Graphs: for
 * every destination in the order of falling hops, certain(v) = bytes that start at v + sum of certain(r) over
 * routers r whose only way on is v: O(links) a destination. Exact sums over all pairs; never above the flow
 * LP, whose every feasible flow carries these bytes there. Limit: bytes that have a choice count for nothing,
 * also where their ways meet again. */
#include "models/family_graph.h"
#include "models/family_torus.h"
#include "solvers/load_internal.h"

#include <math.h>
#include <string.h>

struct forced {
    const struct fc_network *net;
    const struct fc_node_demand *demand;
    double *bytes; /* [n_links] at the first cable between two routers */
};

/* ---- tori and meshes ---- */

/* One flow along dimension d from router v; tells of no tie. */
static void add_line(struct forced *f, uint32_t v, int d, struct fc_torus_offset o, double bytes)
{
    const struct fc_torus_shape *s = fc_torus(f->net);
    int direction = o.plus_share > 0 ? FC_PLUS : FC_MINUS;
    uint32_t hops = o.plus_share > 0 ? o.plus : o.minus, k = s->k[d], c = fc_torus_coordinate(s, v, d);
    uint32_t base = v - c * s->stride[d];
    for (uint32_t h = 0; h < hops; h++) {
        f->bytes[fc_torus_port(f->net, base + c * s->stride[d], d, direction)] += bytes;
        c = direction == FC_PLUS ? (c + 1 == k ? 0 : c + 1) : (c == 0 ? k - 1 : c - 1);
    }
}

static void torus_entries(struct forced *f)
{
    const struct fc_torus_shape *s = fc_torus(f->net);
    const struct fc_node_demand *demand = f->demand;
    for (size_t e = 0; e < demand->n; e++) {
        uint32_t a = demand->src[e] / s->nodes_per_router, b = demand->dst[e] / s->nodes_per_router;
        int differ = 0, dim = 0;
        for (int d = 0; d < s->n_dims; d++)
            if (fc_torus_coordinate(s, a, d) != fc_torus_coordinate(s, b, d)) differ++, dim = d;
        if (differ != 1) continue;
        struct fc_torus_offset o =
            fc_torus_offset(s, dim, fc_torus_coordinate(s, a, dim), fc_torus_coordinate(s, b, dim));
        if (o.plus_share != 0.5) add_line(f, a, dim, o, demand->bytes[e]);
    }
}

/* All pairs of one line: a, b [k] of the routers on it; up, down [k + 1] scratch: changes of what the links +
 * and - of each router carry. */
static void dense_line(struct forced *f, uint32_t base, int d, const double *a, const double *b, double *up,
                       double *down)
{
    const struct fc_torus_shape *s = fc_torus(f->net);
    uint32_t k = s->k[d];
    memset(up, 0, (k + 1) * sizeof *up);
    memset(down, 0, (k + 1) * sizeof *down);
    for (uint32_t x = 0; x < k; x++)
        for (uint32_t y = 0; y < k; y++) {
            struct fc_torus_offset o = fc_torus_offset(s, d, x, y);
            double bytes = a[x] * b[y];
            if (x == y || o.plus_share == 0.5 || bytes == 0) continue;
            double *change = o.plus_share > 0 ? up : down;
            uint32_t hops = o.plus_share > 0 ? o.plus : o.minus,
                     first = o.plus_share > 0 ? x : (x + 1 + k - hops) % k;
            uint32_t end = first + hops;
            change[first] += bytes;
            change[end < k ? end : k] -= bytes;
            if (end > k) change[0] += bytes, change[end - k] -= bytes;
        }
    double plus = 0, minus = 0;
    for (uint32_t c = 0; c < k; c++) {
        uint32_t v = base + c * s->stride[d];
        plus += up[c];
        minus += down[c];
        if (plus > 0) f->bytes[fc_torus_port(f->net, v, d, FC_PLUS)] += plus;
        if (minus > 0) f->bytes[fc_torus_port(f->net, v, d, FC_MINUS)] += minus;
    }
}

static enum fc_code torus_dense(struct forced *f, struct fc_arena *scratch, struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(f->net);
    uint32_t most = 1;
    for (int d = 0; d < s->n_dims; d++) most = s->k[d] > most ? s->k[d] : most;
    double *line = fc_alloc(scratch, 4 * (most + 1ull), sizeof *line, st);
    if (!line) return st->code;
    double *a = line, *b = a + most + 1, *up = b + most + 1, *down = up + most + 1;
    for (int part = 0; part < f->demand->n_dense; part++)
        for (int d = 0; d < s->n_dims; d++)
            for (uint32_t v = 0; s->k[d] > 1 && v < s->n_routers; v++) {
                double sum_a = 0, sum_b = 0;
                if (fc_torus_coordinate(s, v, d)) continue;
                for (uint32_t c = 0; c < s->k[d]; c++) {
                    uint32_t first = (v + c * s->stride[d]) * s->nodes_per_router;
                    a[c] = b[c] = 0;
                    for (uint32_t i = 0; i < s->nodes_per_router; i++) {
                        a[c] += f->demand->a[part][first + i];
                        b[c] += f->demand->b[part][first + i];
                    }
                    sum_a += a[c];
                    sum_b += b[c];
                }
                if (sum_a > 0 && sum_b > 0) dense_line(f, v, d, a, b, up, down);
            }
    return FC_OK;
}

/* ---- graphs ---- */

struct group_sweep {
    double *certain;               /* [n_routers] */
    uint32_t *order, *count;       /* [n_routers], [n_routers + 1]: routers by falling hops */
    uint32_t *first_entry, *entry; /* [n_groups + 1], [n] */
};

/* Bytes that start at a node: at the router that all its nearest links lead to. */
static void start_at(const struct forced *f, struct group_sweep *g, const uint16_t *hops, uint32_t node,
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
static void sweep_certain(struct forced *f, struct group_sweep *g, const uint16_t *hops)
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

static void graph_group(struct forced *f, struct group_sweep *g, uint32_t group)
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

static enum fc_code graph_forced(struct forced *f, struct fc_arena *scratch, struct fc_status *st)
{
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
    for (size_t e = 0; e < demand->n; e++)
        g.entry[g.first_entry[t->group[demand->dst[e]] + 1]++] = (uint32_t)e;
    for (uint32_t i = 0; i < t->n_groups; i++) graph_group(f, &g, i);
    return FC_OK;
}

/* ---- the bound ---- */

static double greatest(const struct forced *f, const double *background)
{
    const struct fc_network *net = f->net;
    double most = 0;
    for (uint32_t l = 0; l < net->first_link[net->n_routers]; l++) {
        if (!(f->bytes[l] > 0)) continue;
        uint32_t v = net->link_source[l];
        double rate = 0;
        for (uint32_t c = net->first_link[v]; c < net->first_link[v + 1]; c++)
            if (net->link_target[c] == net->link_target[l]) rate += fc_free_bandwidth(net, background, c);
        if (rate > 0 && isfinite(rate)) most = fmax(most, f->bytes[l] / rate);
    }
    return most;
}

enum fc_code fc_forced_bound(const struct fc_network *net, const struct fc_node_demand *demand,
                             const double *background_bytes_per_s, double *bound_s, struct fc_status *st)
{
    bool minimal = net->machine->routing->minimal, torus = minimal && fc_torus(net);
    bool graph = minimal && fc_graph(net) && demand->n < FC_NONE;
    struct fc_arena scratch = {0};
    struct forced f = {.net = net, .demand = demand};
    *bound_s = 0;
    if (!torus && !graph) return FC_OK;
    f.bytes = fc_alloc(&scratch, net->n_links, sizeof *f.bytes, st);
    if (f.bytes && torus) {
        torus_entries(&f);
        torus_dense(&f, &scratch, st);
    }
    if (f.bytes && graph) graph_forced(&f, &scratch, st);
    if (!st->code) *bound_s = greatest(&f, background_bytes_per_s);
    fc_arena_free(&scratch);
    return st->code;
}
