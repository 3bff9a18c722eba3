/* routing_two_level.c - direct, indirect and UGAL routing on two-level networks (Bhatele et al., SC'11 section 4.2).
 *
 * Direct: src -(LL/LR)- host(s,t) -D- host(t,s) -(LL/LR)- dst, parallel D cables shared evenly. Indirect: traffic between
 * supernodes goes through a supernode chosen uniformly among the others (expectation over the choice); within a
 * supernode, and with only two supernodes, it is direct. UGAL: a mixture of the two whose weight the solver finds; as a
 * fixed split it is half and half. Indirect loads need only each node's bytes to each supernode: O(entries + nodes * S).
 * Under UGAL with router.ugal.via: router they cross, in the supernode between, to one of its routers, each as likely.
 * With d_link free the local hops beside D links are not counted (Table 1 of the paper). */
#include "models/family_two_level.h"
#include "models/routings/block_pairs.h"

#include <string.h>

static const char *const two_level[] = {"two-level", NULL};

static inline void local_walk(const struct fc_network *net, uint32_t base, uint32_t a, uint32_t b, double share,
                              struct fc_walk *walk)
{
    uint32_t links[4];
    double weights[4];
    int n = fc_two_level_local_route(net, base, a, b, links, weights);
    for (int i = 0; i < n; i++) fc_walk_add(walk, links[i], share * weights[i]);
}
static inline void local_load(const struct fc_network *net, uint32_t base, uint32_t a, uint32_t b, double bytes,
                              double *load)
{
    uint32_t links[4];
    double weights[4];
    int n = fc_two_level_local_route(net, base, a, b, links, weights);
    for (int i = 0; i < n; i++) load[links[i]] += bytes * weights[i];
}

/* ---- walks ---- */

static void direct_routers(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t m = shape->members, s = src / m, t = dst / m;
    bool count_local = shape->d_link != FC_D_FREE;
    if (s == t) {
        local_walk(net, s * m, src % m, dst % m, share, walk);
        return;
    }
    for (uint32_t c = 0; c < shape->pair_links; c++) {
        struct fc_two_level_crossing x = fc_two_level_cross(net, s, t, c);
        double part = share / shape->pair_links;
        if (count_local) local_walk(net, s * m, src % m, x.from, part, walk);
        fc_walk_add(walk, x.link, part);
        if (count_local) local_walk(net, t * m, x.to, dst % m, part, walk);
    }
}

static void direct_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    uint32_t per_router = fc_two_level(net)->nodes_per_router;
    fc_walk_add(walk, fc_two_level_injection(net, src), share);
    direct_routers(net, src / per_router, dst / per_router, share, walk);
    fc_walk_add(walk, fc_two_level_ejection(net, dst), share);
}

static uint32_t direct_capacity(const struct fc_network *net)
{
    return 2 + 9 * fc_two_level(net)->pair_links;
}

/* Through supernode i: both D links, and the local way between their hosts there, or by `router` through any of it. */
static void via_walk(const struct fc_network *net, uint32_t src, uint32_t dst, uint32_t i, double share, bool router,
                     struct fc_walk *walk)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t m = shape->members, s = src / m, t = dst / m, cables = shape->pair_links;
    bool count_local = shape->d_link != FC_D_FREE;
    for (uint32_t c = 0; c < cables; c++) {
        struct fc_two_level_crossing x = fc_two_level_cross(net, s, i, c);
        if (count_local) local_walk(net, s * m, src % m, x.from, share / cables, walk);
        fc_walk_add(walk, x.link, share / cables);
        for (uint32_t e = 0; count_local && !router && e < cables; e++)
            local_walk(net, i * m, x.to, fc_two_level_cross(net, i, t, e).from, share / cables / cables, walk);
        for (uint32_t b = 0; count_local && router && b < m; b++)
            local_walk(net, i * m, x.to, b, share / cables / m, walk);
    }
    for (uint32_t c = 0; c < cables; c++) {
        struct fc_two_level_crossing x = fc_two_level_cross(net, i, t, c);
        for (uint32_t b = 0; count_local && router && b < m; b++)
            local_walk(net, i * m, b, x.from, share / cables / m, walk);
        fc_walk_add(walk, x.link, share / cables);
        if (count_local) local_walk(net, t * m, x.to, dst % m, share / cables, walk);
    }
}

static void any_indirect_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, bool router,
                              struct fc_walk *walk)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t per_router = shape->nodes_per_router, S = shape->n_supernodes;
    uint32_t from = src / per_router, to = dst / per_router, s = from / shape->members, t = to / shape->members;
    fc_walk_add(walk, fc_two_level_injection(net, src), share);
    if (s == t || S < 3)
        direct_routers(net, from, to, share, walk);
    else
        for (uint32_t i = 0; i < S; i++)
            if (i != s && i != t) via_walk(net, from, to, i, share / (S - 2), router, walk);
    fc_walk_add(walk, fc_two_level_ejection(net, dst), share);
}

static void indirect_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    any_indirect_walk(net, src, dst, share, false, walk);
}

static uint32_t indirect_capacity(const struct fc_network *net)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint64_t c = shape->pair_links, between = fc_two_level_via_router(net) ? 8ull * shape->members : 4 * c;
    uint64_t n = 2 + (uint64_t)shape->n_supernodes * (10 * c + between * c) + 9 * c;
    return n < FC_NONE ? (uint32_t)n : FC_NONE;
}

static void ugal_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    direct_walk(net, src, dst, share / 2, walk);
    any_indirect_walk(net, src, dst, share / 2, fc_two_level_via_router(net), walk);
}
static uint32_t ugal_capacity(const struct fc_network *net)
{
    return direct_capacity(net) + indirect_capacity(net);
}

/* ---- direct loads ---- */

static enum fc_code direct_sparse(const struct fc_network *net, const uint32_t *src, const uint32_t *dst,
                                  const double *bytes, size_t n, double *load, struct fc_status *st)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t m = shape->members, per_router = shape->nodes_per_router, cables = shape->pair_links;
    bool count_local = shape->d_link != FC_D_FREE;
    (void)st;
    for (size_t e = 0; e < n; e++) {
        uint32_t from = src[e] / per_router, to = dst[e] / per_router, s = from / m, t = to / m;
        double b = bytes[e];
        load[fc_two_level_injection(net, src[e])] += b;
        load[fc_two_level_ejection(net, dst[e])] += b;
        if (s == t) {
            local_load(net, s * m, from % m, to % m, b, load);
            continue;
        }
        for (uint32_t c = 0; c < cables; c++) {
            struct fc_two_level_crossing x = fc_two_level_cross(net, s, t, c);
            load[x.link] += b / cables;
            if (!count_local) continue;
            local_load(net, s * m, from % m, x.from, b / cables, load);
            local_load(net, t * m, x.to, to % m, b / cables, load);
        }
    }
    return FC_OK;
}

/* Sums of node values by router and by supernode. */
struct sums {
    struct fc_arena arena;
    double *router_a, *router_b, *sn_a, *sn_b;
    double a, b;
};
static enum fc_code sum_up(const struct fc_network *net, const double *a, const double *b, struct sums *s,
                           struct fc_status *st)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    memset(s, 0, sizeof *s);
    s->router_a = fc_alloc(&s->arena, shape->n_routers, sizeof *s->router_a, st);
    s->router_b = fc_alloc(&s->arena, shape->n_routers, sizeof *s->router_b, st);
    s->sn_a = fc_alloc(&s->arena, shape->n_supernodes, sizeof *s->sn_a, st);
    s->sn_b = fc_alloc(&s->arena, shape->n_supernodes, sizeof *s->sn_b, st);
    if (!s->router_a || !s->router_b || !s->sn_a || !s->sn_b) {
        fc_arena_free(&s->arena);
        return st->code;
    }
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        uint32_t r = n / shape->nodes_per_router;
        s->router_a[r] += a[n];
        s->router_b[r] += b[n];
        s->sn_a[r / shape->members] += a[n];
        s->sn_b[r / shape->members] += b[n];
        s->a += a[n];
        s->b += b[n];
    }
    return FC_OK;
}

static void terminal_loads(const struct fc_network *net, const double *a, const double *b, const struct sums *s,
                           double *load)
{
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        load[fc_two_level_injection(net, n)] += a[n] * (s->b - b[n]);
        load[fc_two_level_ejection(net, n)] += b[n] * (s->a - a[n]);
    }
}

static void intra_supernode_loads(const struct fc_network *net, const struct sums *s, double *load)
{
    uint32_t m = fc_two_level(net)->members;
    for (uint32_t r = 0; r < net->n_routers; r++)
        for (uint32_t to = 0; to < m; to++) {
            double bytes = s->router_a[r] * s->router_b[r - r % m + to];
            if (to != r % m && bytes != 0) local_load(net, r - r % m, r % m, to, bytes, load);
        }
}

/* Each router of s sends out[r - s*m] bytes over the cables to supernode t, each of t receives in[]: local legs and D. */
static void spread_crossing(const struct fc_network *net, uint32_t s, uint32_t t, const double *out, double out_scale,
                            const double *in, double in_scale, double bytes, double *load)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t m = shape->members, cables = shape->pair_links;
    for (uint32_t c = 0; c < cables; c++) {
        struct fc_two_level_crossing x = fc_two_level_cross(net, s, t, c);
        load[x.link] += bytes / cables;
        if (shape->d_link == FC_D_FREE) continue;
        for (uint32_t r = 0; out && r < m; r++)
            if (r != x.from && out[r] != 0) local_load(net, s * m, r, x.from, out[r] * out_scale / cables, load);
        for (uint32_t r = 0; in && r < m; r++)
            if (r != x.to && in[r] != 0) local_load(net, t * m, x.to, r, in[r] * in_scale / cables, load);
    }
}

static enum fc_code direct_rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                                    struct fc_status *st)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t m = shape->members, S = shape->n_supernodes;
    struct sums s;
    if (sum_up(net, a, b, &s, st)) return st->code;
    terminal_loads(net, a, b, &s, load);
    intra_supernode_loads(net, &s, load);
    for (uint32_t i = 0; i < S; i++)
        for (uint32_t j = 0; j < S; j++)
            if (i != j)
                spread_crossing(net, i, j, s.router_a + i * m, s.sn_b[j], s.router_b + j * m, s.sn_a[i],
                                s.sn_a[i] * s.sn_b[j], load);
    fc_arena_free(&s.arena);
    return FC_OK;
}

/* ---- indirect loads ---- */

/* At the intermediate supernode i traffic from s to t crosses from the host of (i,s) to the host of (i,t). */
static void transit_loads(const struct fc_network *net, uint32_t s, uint32_t i, uint32_t t, double bytes, double *load)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t m = shape->members, cables = shape->pair_links;
    for (uint32_t c = 0; c < cables; c++)
        for (uint32_t e = 0; e < cables; e++)
            local_load(net, i * m, fc_two_level_cross(net, s, i, c).to, fc_two_level_cross(net, i, t, e).from,
                       bytes / cables / cables, load);
}

/* The same where it crosses to any router of supernode i, each as likely: arrive[] and leave[] are the bytes that come to and
 * go from its members by D links. */
static void crossing_loads(const struct fc_network *net, uint32_t i, const double *arrive, const double *leave,
                           double *load)
{
    uint32_t m = fc_two_level(net)->members;
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t b = 0; b < m; b++)
            if (a != b) local_load(net, i * m, a, b, (arrive[a] + leave[b]) / m, load);
}
static void through_any_router(const struct fc_network *net, const double *pair, const double *sn_sent,
                               const double *sn_got, double share, double *arrive, double *leave, double *load)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t m = shape->members, S = shape->n_supernodes, cables = shape->pair_links;
    for (uint32_t i = 0; i < S; i++) {
        memset(arrive, 0, m * sizeof *arrive);
        memset(leave, 0, m * sizeof *leave);
        for (uint32_t s = 0; s < S; s++)
            for (uint32_t c = 0; s != i && c < cables; c++) {
                double in = (sn_sent[s] - pair[(size_t)s * S + i]) * share / cables;
                double out = (sn_got[s] - pair[(size_t)i * S + s]) * share / cables;
                arrive[fc_two_level_cross(net, s, i, c).to] += in;
                leave[fc_two_level_cross(net, i, s, c).from] += out;
            }
        crossing_loads(net, i, arrive, leave, load);
    }
}

static enum fc_code indirect_loads(const struct fc_network *net, const struct fc_block_pairs *g, bool router,
                                   double *load, struct fc_status *st)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t m = shape->members, S = shape->n_supernodes;
    double share = 1.0 / (S - 2);
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *leg = fc_alloc(&scratch, m, sizeof *leg, st),
           *sent = fc_alloc(&scratch, shape->n_routers, sizeof *sent, st);
    double *got = fc_alloc(&scratch, shape->n_routers, sizeof *got, st),
           *leave = fc_alloc(&scratch, m, sizeof *leave, st);
    double *sn_sent = fc_alloc(&scratch, S, sizeof *sn_sent, st), *sn_got = fc_alloc(&scratch, S, sizeof *sn_got, st);
    if (st->code) return st->code;
    for (uint32_t r = 0; r < shape->n_routers; r++)
        for (uint32_t t = 0; t < S; t++) sent[r] += g->out[(size_t)r * S + t], got[r] += g->in[(size_t)r * S + t];
    for (uint32_t s = 0; s < S; s++)
        for (uint32_t t = 0; t < S; t++)
            sn_sent[s] += g->pair[(size_t)s * S + t], sn_got[t] += g->pair[(size_t)s * S + t];
    for (uint32_t s = 0; s < S; s++)
        for (uint32_t i = 0; i < S; i++) {
            if (i == s) continue;
            for (uint32_t r = 0; r < m; r++) /* first leg: everything of r but what is for i itself */
                leg[r] = sent[s * m + r] - g->out[(size_t)(s * m + r) * S + i];
            spread_crossing(net, s, i, leg, share, NULL, 0, (sn_sent[s] - g->pair[(size_t)s * S + i]) * share, load);
            for (uint32_t r = 0; r < m; r++) /* last leg: i -> s, everything to r but what came from i itself */
                leg[r] = got[s * m + r] - g->in[(size_t)(s * m + r) * S + i];
            spread_crossing(net, i, s, NULL, 0, leg, share, (sn_got[s] - g->pair[(size_t)i * S + s]) * share, load);
            for (uint32_t t = 0; shape->d_link != FC_D_FREE && !router && t < S;
                 t++) { /* transit at t of traffic s -> i */
                double bytes = g->pair[(size_t)s * S + i] * share;
                if (bytes != 0 && t != s && t != i) transit_loads(net, s, t, i, bytes, load);
            }
        }
    if (router && shape->d_link != FC_D_FREE)
        through_any_router(net, g->pair, sn_sent, sn_got, share, leg, leave, load);
    return FC_OK;
}

static enum fc_code indirect_sparse(const struct fc_network *net, const uint32_t *src, const uint32_t *dst,
                                    const double *bytes, size_t n, double *load, struct fc_status *st)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t m = shape->members, S = shape->n_supernodes, per_router = shape->nodes_per_router;
    if (S < 3) return direct_sparse(net, src, dst, bytes, n, load, st);
    FC_SCOPED(fc_block_pairs_free) struct fc_block_pairs g = {0};
    if (fc_block_pairs_start(&g, shape->n_routers, S, st)) return st->code;
    for (size_t e = 0; e < n; e++) {
        uint32_t from = src[e] / per_router, to = dst[e] / per_router, s = from / m, t = to / m;
        load[fc_two_level_injection(net, src[e])] += bytes[e];
        load[fc_two_level_ejection(net, dst[e])] += bytes[e];
        if (s == t) {
            local_load(net, s * m, from % m, to % m, bytes[e], load);
            continue;
        }
        g.out[(size_t)from * S + t] += bytes[e];
        g.in[(size_t)to * S + s] += bytes[e];
        g.pair[(size_t)s * S + t] += bytes[e];
    }
    return indirect_loads(net, &g, fc_two_level_via_router(net), load, st);
}

static enum fc_code indirect_rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                                      struct fc_status *st)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    uint32_t m = shape->members, S = shape->n_supernodes;
    if (S < 3) return direct_rank_one(net, a, b, load, st);
    FC_SCOPED(fc_block_pairs_free) struct fc_block_pairs g = {0};
    struct sums s;
    if (fc_block_pairs_start(&g, shape->n_routers, S, st)) return st->code;
    if (!sum_up(net, a, b, &s, st)) {
        terminal_loads(net, a, b, &s, load);
        intra_supernode_loads(net, &s, load);
        for (uint32_t r = 0; r < shape->n_routers; r++)
            for (uint32_t t = 0; t < S; t++)
                if (t != r / m) {
                    g.out[(size_t)r * S + t] = s.router_a[r] * s.sn_b[t];
                    g.in[(size_t)r * S + t] = s.router_b[r] * s.sn_a[t];
                    g.pair[(size_t)(r / m) * S + t] = s.sn_a[r / m] * s.sn_b[t];
                }
        indirect_loads(net, &g, fc_two_level_via_router(net), load, st);
        fc_arena_free(&s.arena);
    }
    return st->code;
}

/* ---- UGAL: component 0 direct, 1 indirect ---- */

static uint32_t two_components(const struct fc_network *net)
{
    return fc_two_level(net)->n_supernodes < 3 ? 1 : 2;
}

static enum fc_code ugal_rank_one(const struct fc_network *net, uint32_t c, const double *a, const double *b,
                                  double *load, struct fc_status *st)
{
    return c == 0 ? direct_rank_one(net, a, b, load, st) : indirect_rank_one(net, a, b, load, st);
}
static enum fc_code ugal_sparse(const struct fc_network *net, uint32_t c, const uint32_t *src, const uint32_t *dst,
                                const double *bytes, size_t n, double *load, struct fc_status *st)
{
    return (c == 0 ? direct_sparse : indirect_sparse)(net, src, dst, bytes, n, load, st);
}

const struct fc_routing_ops fc_routing_direct = {
    .name = "direct",
    .help = "LL/LR - D - LL/LR, at most one D link",
    .source = "Bhatele et al. SC'11 sec. 4.2; Kim et al. ISCA 2008 (minimal)",
    .families = two_level,
    .by_router = true,
    .walk_capacity = direct_capacity,
    .walk = direct_walk,
    .rank_one = direct_rank_one,
    .sparse = direct_sparse,
};
const struct fc_routing_ops fc_routing_indirect = {
    .name = "indirect",
    .help = "through a random other supernode, two D links",
    .source = "Bhatele et al. SC'11 sec. 4.2; Valiant 1982",
    .families = two_level,
    .detours = true,
    .block_crossings = 2,
    .by_router = true,
    .walk_capacity = indirect_capacity,
    .walk = indirect_walk,
    .rank_one = indirect_rank_one,
    .sparse = indirect_sparse,
};
const struct fc_routing_ops fc_routing_ugal = {
    .name = "ugal",
    .help = "direct and indirect mixed by load; the solver finds the share",
    .source = "Singh 2005; Kim et al. ISCA 2008",
    .families = two_level,
    .adaptive = true,
    .detours = true,
    .by_router = true,
    .walk_capacity = ugal_capacity,
    .walk = ugal_walk,
    .n_components = two_components,
    .component_rank_one = ugal_rank_one,
    .component_sparse = ugal_sparse,
};
