/* routing_torus.c - dimension-order, minimal adaptive and Valiant routing on tori and meshes.
 *
 * Dimension order crosses x, then y, ...; at a tie of an even ring both ways get half. Adaptive: walk() splits uniformly
 * over all minimal paths: from a point with r_i hops left in dimension i the share of dimension i is r_i / sum r (the
 * number of minimal paths is multinomial, so this Markov rule gives every one the same weight). As components for the
 * solver's split adaptive offers the dimension orders. Valiant (1982): dimension order to a router chosen uniformly,
 * then on; its loads need only the traffic's row and column sums. */
#include "models/routings/torus_loads.h"

#include <string.h>

static const char *const both[] = {"torus", "mesh", NULL};

struct step {
    uint32_t v, c; /* router and its coordinate in the dimension walked */
};

/* Walks `hops` hops of dimension dim from *at; adds each link with `share`. */
static void walk_straight(const struct fc_network *net, int dim, int direction, uint32_t hops, double share,
                          struct step at, struct fc_walk *walk)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t k = s->k[dim], stride = s->stride[dim], parallel = s->parallel[dim];
    for (uint32_t h = 0; h < hops; h++) {
        uint32_t port = fc_torus_port(net, at.v, dim, direction);
        for (uint32_t p = 0; p < parallel; p++) fc_walk_add(walk, port + p, share / parallel);
        if (direction == FC_PLUS) {
            bool wraps = at.c + 1 == k;
            at.v = wraps ? at.v - at.c * stride : at.v + stride;
            at.c = wraps ? 0 : at.c + 1;
        } else {
            bool wraps = at.c == 0;
            at.v = wraps ? at.v + (k - 1) * stride : at.v - stride;
            at.c = wraps ? k - 1 : at.c - 1;
        }
    }
}

/* Torus links from router v to router d, dimensions in that order (NULL: x, y, z...). */
static void walk_routers(const struct fc_network *net, const int *order, uint32_t v, uint32_t d, double share,
                         struct fc_walk *walk)
{
    const struct fc_torus_shape *s = fc_torus(net);
    for (int i = 0; i < s->n_dims; i++) {
        int dim = order ? order[i] : i;
        uint32_t from = fc_torus_coordinate(s, v, dim), to = fc_torus_coordinate(s, d, dim);
        if (from == to) continue;
        struct fc_torus_offset o = fc_torus_offset(s, dim, from, to);
        struct step at = {v, from};
        if (o.plus_share > 0) walk_straight(net, dim, FC_PLUS, o.plus, share * o.plus_share, at, walk);
        if (o.plus_share < 1) walk_straight(net, dim, FC_MINUS, o.minus, share * (1 - o.plus_share), at, walk);
        v = v + to * s->stride[dim] - from * s->stride[dim];
    }
}

static void dimension_order_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share,
                                 struct fc_walk *walk)
{
    uint32_t per_router = fc_torus(net)->nodes_per_router;
    fc_walk_add(walk, fc_torus_injection(net, src), share);
    walk_routers(net, NULL, src / per_router, dst / per_router, share, walk);
    fc_walk_add(walk, fc_torus_ejection(net, dst), share);
}

/* Hops of the longest minimal route times cables, both ways of a tie counted. */
static uint32_t path_capacity(const struct fc_network *net)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t n = 2;
    for (int d = 0; d < s->n_dims; d++) n += (s->ring[d] ? s->k[d] + 1 : s->k[d]) * s->parallel[d];
    return n;
}

/* ---- adaptive: every minimal path ---- */

/* A box of minimal paths: per dimension the hops and the direction. */
struct box {
    uint32_t hops[FC_MAX_DIMS];
    int direction[FC_MAX_DIMS];
};

static uint64_t box_points(const struct fc_torus_shape *s)
{
    uint64_t n = 1;
    for (int d = 0; d < s->n_dims; d++) n *= (s->ring[d] ? s->k[d] / 2 : s->k[d] - 1) + 1ull;
    return n;
}

static uint32_t adaptive_capacity(const struct fc_network *net)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint64_t ways = 1, cables = 0, points = box_points(s);
    for (int d = 0; d < s->n_dims; d++) {
        ways *= s->ring[d] && s->k[d] % 2 == 0 ? 2 : 1;
        cables += s->parallel[d];
    }
    uint64_t n = 2 + ways * points * cables + points; /* the last `points` weights are scratch of walk_box */
    return n < FC_NONE ? (uint32_t)n : FC_NONE;
}

/* Every minimal path of the box from router v, each with the same weight. The probability of each point of the box is
 * kept in the walk's last weights, which its capacity leaves free. Points are visited in lexicographic order, in which
 * a point comes after those that feed it. */
static void walk_box(const struct fc_network *net, uint32_t v, const struct box *box, double share,
                     struct fc_walk *walk)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t points = 1, size[FC_MAX_DIMS], at[FC_MAX_DIMS] = {0}, router_of[FC_MAX_DIMS], total = 0;
    for (int d = 0; d < s->n_dims; d++) {
        size[d] = points;
        points *= box->hops[d] + 1;
        total += box->hops[d];
        router_of[d] = fc_torus_coordinate(s, v, d);
    }
    double *chance = walk->weight + walk->capacity - points;
    memset(chance, 0, points * sizeof *chance);
    chance[0] = share;
    for (uint32_t i = 0; i + 1 < points; i++) {
        uint32_t router = 0, left = 0;
        for (int d = 0; d < s->n_dims; d++) {
            uint32_t k = s->k[d];
            at[d] = i / size[d] % (box->hops[d] + 1);
            uint32_t c = box->direction[d] == FC_PLUS ? (router_of[d] + at[d]) % k : (router_of[d] + k - at[d]) % k;
            router += c * s->stride[d];
            left += box->hops[d] - at[d];
        }
        for (int d = 0; d < s->n_dims; d++) {
            uint32_t rest = box->hops[d] - at[d];
            if (rest == 0) continue;
            double part = chance[i] * rest / left;
            chance[i + size[d]] += part;
            uint32_t port = fc_torus_port(net, router, d, box->direction[d]);
            for (uint32_t p = 0; p < s->parallel[d]; p++) fc_walk_add(walk, port + p, part / s->parallel[d]);
        }
    }
}

static void adaptive_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t v = src / s->nodes_per_router, d = dst / s->nodes_per_router;
    struct fc_torus_offset o[FC_MAX_DIMS];
    uint32_t ties = 0, tied[FC_MAX_DIMS];
    for (int i = 0; i < s->n_dims; i++) {
        o[i] = fc_torus_offset(s, i, fc_torus_coordinate(s, v, i), fc_torus_coordinate(s, d, i));
        if (o[i].plus_share == 0.5) tied[ties++] = (uint32_t)i;
    }
    fc_walk_add(walk, fc_torus_injection(net, src), share);
    for (uint32_t way = 0; way < 1u << ties; way++) { /* every combination of directions at the ties */
        struct box box;
        for (int i = 0; i < s->n_dims; i++) {
            box.direction[i] = o[i].plus_share > 0 ? FC_PLUS : FC_MINUS;
            box.hops[i] = o[i].plus_share > 0 ? o[i].plus : o[i].minus;
        }
        for (uint32_t t = 0; t < ties; t++) box.direction[tied[t]] = way >> t & 1 ? FC_MINUS : FC_PLUS;
        walk_box(net, v, &box, share / (1u << ties), walk);
    }
    fc_walk_add(walk, fc_torus_ejection(net, dst), share);
}

/* Every combination of directions at the ties of even rings. */
static uint32_t source_sets(const struct fc_network *net, uint32_t src, uint32_t dst)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t v = src / s->nodes_per_router, d = dst / s->nodes_per_router, sets = 1;
    for (int i = 0; i < s->n_dims; i++)
        if (fc_torus_offset(s, i, fc_torus_coordinate(s, v, i), fc_torus_coordinate(s, d, i)).plus_share == 0.5)
            sets *= 2;
    return sets;
}

/* ---- walks that are translated ---- */

/* Where all dimensions are rings every router has the same ports in the same order. */
static uint32_t n_displacements(const struct fc_network *net)
{
    const struct fc_torus_shape *s = fc_torus(net);
    for (int d = 0; d < s->n_dims; d++)
        if (!s->ring[d] && s->k[d] > 1) return 0;
    return net->n_nodes;
}

/* The node that lies to router 0 as dst to the router of src. */
static uint32_t displacement(const struct fc_network *net, uint32_t src, uint32_t dst)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t v = src / s->nodes_per_router, d = dst / s->nodes_per_router, router = 0;
    for (int i = 0; i < s->n_dims; i++) {
        uint32_t from = v % s->k[i], to = d % s->k[i];
        router += (to >= from ? to - from : to + s->k[i] - from) * s->stride[i];
        v /= s->k[i];
        d /= s->k[i];
    }
    return router * s->nodes_per_router + dst % s->nodes_per_router;
}

/* ---- structural loads ---- */

/* Node traffic a*b: terminals, and the torus under `order` scaled by `share`. */
static enum fc_code order_rank_one(const struct fc_network *net, const int *order, const double *a, const double *b,
                                   double *load, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *ra = fc_alloc(&scratch, net->n_routers, sizeof *ra, st);
    double *rb = fc_alloc(&scratch, net->n_routers, sizeof *rb, st);
    if (ra && rb) {
        fc_torus_terminal_loads(net, a, b, load, ra, rb);
        fc_torus_rank_one(net, order, ra, rb, load, st);
    }
    return st->code;
}

static enum fc_code dimension_order_rank_one(const struct fc_network *net, const double *a, const double *b,
                                             double *load, struct fc_status *st)
{
    int order[FC_MAX_DIMS];
    for (int i = 0; i < FC_MAX_DIMS; i++) order[i] = i;
    return order_rank_one(net, order, a, b, load, st);
}

static uint32_t n_components(const struct fc_network *net)
{
    return fc_torus_n_orders(fc_torus(net));
}

static enum fc_code component_rank_one(const struct fc_network *net, uint32_t c, const double *a, const double *b,
                                       double *load, struct fc_status *st)
{
    int order[FC_MAX_DIMS];
    fc_torus_order(fc_torus(net), c, order);
    return order_rank_one(net, order, a, b, load, st);
}

static enum fc_code component_sparse(const struct fc_network *net, uint32_t c, const uint32_t *src, const uint32_t *dst,
                                     const double *bytes, size_t n, double *load, struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(net);
    int order[FC_MAX_DIMS];
    FC_SCOPED(fc_walk_free) struct fc_walk walk = {0};
    fc_torus_order(s, c, order);
    if (fc_walk_start(&walk, path_capacity(net), st)) return st->code;
    for (size_t i = 0; i < n; i++) {
        walk.n = 0;
        walk_routers(net, order, src[i] / s->nodes_per_router, dst[i] / s->nodes_per_router, bytes[i], &walk);
        for (uint32_t j = 0; j < walk.n; j++) load[walk.link[j]] += walk.weight[j];
        load[fc_torus_injection(net, src[i])] += bytes[i];
        load[fc_torus_ejection(net, dst[i])] += bytes[i];
    }
    return FC_OK;
}

/* ---- Valiant ---- */

/* Both phases from the traffic's sums by router: out (sources), in (destinations), each phase uniform over routers. */
static enum fc_code valiant_phases(const struct fc_network *net, const double *out, const double *in, double *load,
                                   struct fc_status *st)
{
    int order[FC_MAX_DIMS];
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *even = fc_alloc(&scratch, net->n_routers, sizeof *even, st);
    for (int i = 0; i < FC_MAX_DIMS; i++) order[i] = i;
    if (even) {
        for (uint32_t v = 0; v < net->n_routers; v++) even[v] = 1.0 / net->n_routers;
        if (!fc_torus_rank_one(net, order, out, even, load, st)) fc_torus_rank_one(net, order, even, in, load, st);
    }
    return st->code;
}

static enum fc_code valiant_rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                                     struct fc_status *st)
{
    uint32_t per_router = fc_torus(net)->nodes_per_router;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *out = fc_alloc(&scratch, net->n_routers, sizeof *out, st);
    double *in = fc_alloc(&scratch, net->n_routers, sizeof *in, st);
    if (out && in) {
        fc_torus_terminal_loads(net, a, b, load, out, in);
        double sum_a = 0, sum_b = 0;
        for (uint32_t n = 0; n < net->n_nodes; n++) sum_a += a[n], sum_b += b[n];
        memset(out, 0, net->n_routers * sizeof *out);
        memset(in, 0, net->n_routers * sizeof *in);
        for (uint32_t n = 0; n < net->n_nodes; n++) { /* without a node's traffic to itself */
            out[n / per_router] += a[n] * (sum_b - b[n]);
            in[n / per_router] += b[n] * (sum_a - a[n]);
        }
        valiant_phases(net, out, in, load, st);
    }
    return st->code;
}

static enum fc_code valiant_sparse(const struct fc_network *net, const uint32_t *src, const uint32_t *dst,
                                   const double *bytes, size_t n, double *load, struct fc_status *st)
{
    uint32_t per_router = fc_torus(net)->nodes_per_router;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *out = fc_alloc(&scratch, net->n_routers, sizeof *out, st);
    double *in = fc_alloc(&scratch, net->n_routers, sizeof *in, st);
    if (out && in) {
        for (size_t i = 0; i < n; i++) {
            out[src[i] / per_router] += bytes[i];
            in[dst[i] / per_router] += bytes[i];
            load[fc_torus_injection(net, src[i])] += bytes[i];
            load[fc_torus_ejection(net, dst[i])] += bytes[i];
        }
        valiant_phases(net, out, in, load, st);
    }
    return st->code;
}

static void valiant_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    uint32_t per_router = fc_torus(net)->nodes_per_router;
    double each = share / net->n_routers;
    fc_walk_add(walk, fc_torus_injection(net, src), share);
    for (uint32_t via = 0; via < net->n_routers; via++) {
        walk_routers(net, NULL, src / per_router, via, each, walk);
        walk_routers(net, NULL, via, dst / per_router, each, walk);
    }
    fc_walk_add(walk, fc_torus_ejection(net, dst), share);
}

static uint32_t valiant_capacity(const struct fc_network *net)
{
    uint64_t n = 2 + 2ull * net->n_routers * path_capacity(net);
    return n < FC_NONE ? (uint32_t)n : FC_NONE;
}

const struct fc_routing_ops fc_routing_dimension_order = {
    .name = "dimension-order",
    .help = "x, then y, then z; one path, ties of even rings shared by both ways",
    .source = "Dally & Seitz 1987; Dally & Towles 2004 ch. 8",
    .families = both,
    .ordered = &fc_routing_dimension_order,
    .by_router = true,
    .walk_capacity = path_capacity,
    .walk = dimension_order_walk,
    .rank_one = dimension_order_rank_one,
};
const struct fc_routing_ops fc_routing_adaptive = {
    .name = "adaptive",
    .help = "any minimal path; the solver finds the split",
    .source = "Duato 1993; Adiga et al. 2005",
    .families = both,
    .adaptive = true,
    .minimal = true,
    .source_sets = source_sets,
    .ordered = &fc_routing_dimension_order,
    .by_router = true,
    .walk_capacity = adaptive_capacity,
    .walk = adaptive_walk,
    .n_displacements = n_displacements,
    .displacement = displacement,
    .n_components = n_components,
    .component_rank_one = component_rank_one,
    .component_sparse = component_sparse,
};
const struct fc_routing_ops fc_routing_valiant = {
    .name = "valiant",
    .help = "dimension order to a random router, then on to the destination",
    .source = "Valiant 1982; Dally & Towles 2004 sec. 9.1",
    .families = both,
    .detours = true,
    .phases = 2,
    .ordered = &fc_routing_dimension_order,
    .by_router = true,
    .walk_capacity = valiant_capacity,
    .walk = valiant_walk,
    .rank_one = valiant_rank_one,
    .sparse = valiant_sparse,
};
