/* collective_tree.c - trees of any shape, in which a member serves all its children in one round; vectors
 * may go down in m equal segments, one behind the other.
 *
 * A member at depth d sends segment j to its children, in order, while it receives segment j + 1. Shapes:
 *     flat      the root and all others ("linear")
 *     chains    the root and f chains of neighbours
 *     k-ary     complete by level; child i of v on level l is v + k^l (i + 1), as Open MPI numbers it
 *     k-nomial  digits of v base k: the parent is v without its lowest digit that is not 0; farthest first
 *     doubling  the parent is v without its highest bit; nearest first: as many have it after each round again
 *     in-order  a subtree of n members in a row has its last one as root; the n / 2 first are the right child's subtree,
 *               the others but the root the left child's: every sum is of neighbours in order. The root is the last member,
 *               v counts from it downwards; the result then goes to the call's root, one message more
 * Up in segments (reduce): as down, a member adds segment j + 1 of its children while it sends segment j.
 * Sources: Pjesivac-Grbovic et al., "Performance analysis of MPI collective operations", Cluster Computing
 * 10(2), 2007 (segmented trees, LogGP); Open MPI coll/base; the barrier of branching factor 4 is the
 * software barrier of QsNET (Petrini et al., IEEE Micro 22(1), 2002).
 *
 * Times. Down: the i-th child of v has a segment i s + H after v had it; a member with c children takes
 * cycle(v) = (c - 1) s + o + r for each further segment (root: c s; leaf: q), so, over paths to leaves,
 *     down = max over paths of (sum of (i s + H) + (m - 1) max of cycle).    chain: (n - 1) H for m = 1
 * Up: children that are complete at u_i arrive at u_i + o + L; in order of arrival, i = 0 .. c - 1,
 *     up(v) = max over i of (u_i + o + L + (c - 1 - i) q) + r,  0 for leaves.
 * The barrier goes up and down with empty messages: T = up + down. In order: up + H, where the root is not the last
 * member. No closed form of reductions in segments. */
#include "core/values.h"
#include "solvers/collective/collective_parts.h"

#include <stdlib.h>

enum { SEGMENT = 32768 }; /* bytes, at most */

enum shape { FLAT, CHAINS, K_ARY, K_NOMIAL, DOUBLING, IN_ORDER };
struct tree {
    enum shape shape;
    uint32_t k, n;
};

/* Chains: the first (n - 1) mod f of them are one longer. */
static uint32_t chains_child(const struct tree *t, uint32_t v, uint32_t i)
{
    uint32_t f = t->k < t->n - 1 ? t->k : t->n - 1, length = (t->n - 1) / f, longer = (t->n - 1) % f;
    uint32_t border = longer * (length + 1);
    if (v == 0 && i >= f) return FC_NONE;
    if (v == 0) return i < longer ? 1 + i * (length + 1) : 1 + border + (i - longer) * length;
    bool last = v - 1 < border ? (v - 1) % (length + 1) == length : (v - 1 - border) % length == length - 1;
    return i > 0 || last ? FC_NONE : v + 1;
}

static uint32_t k_ary_child(const struct tree *t, uint32_t v, uint32_t i)
{
    uint64_t size = 1, end = 1; /* members of v's level; first of the next */
    while (v >= end) end += size *= t->k;
    uint64_t child = v + size * ((uint64_t)i + 1);
    return i < t->k && child < t->n ? (uint32_t)child : FC_NONE;
}

static uint32_t k_nomial_child(const struct tree *t, uint32_t v, uint32_t i)
{
    uint64_t mask = 1;
    while (mask < t->n && v % (mask * t->k) == 0) mask *= t->k;
    for (mask /= t->k; mask > 0; mask /= t->k)
        for (uint32_t digit = 1; digit < t->k && v + mask * digit < t->n; digit++)
            if (i-- == 0) return (uint32_t)(v + mask * digit);
    return FC_NONE;
}

/* Subtrees are members v .. v + n - 1; the left child is v + 1. */
static uint32_t in_order_child(const struct tree *t, uint32_t v, uint32_t i)
{
    uint32_t at = 0, n = t->n, left;
    while (left = n > 2 ? n - n / 2 - 1 : n - 1, at != v) {
        bool right = v > at + left;
        at += right ? left + 1 : 1;
        n = right ? n - left - 1 : left;
    }
    if (i == 0) return n > 1 ? v + 1 : FC_NONE;
    return i == 1 && left + 1 < n ? v + left + 1 : FC_NONE;
}

/* The i-th child of v, FC_NONE: it has no more. A child's number is above its parent's. */
static uint32_t child_of(const struct tree *t, uint32_t v, uint32_t i)
{
    switch (t->shape) {
    case FLAT: return v == 0 && i + 1 < t->n ? i + 1 : FC_NONE;
    case CHAINS: return chains_child(t, v, i);
    case K_ARY: return k_ary_child(t, v, i);
    case DOUBLING: {
        uint64_t child = v + (UINT64_C(1) << (v ? 32 - __builtin_clz(v) : 0) << i);
        return child < t->n ? (uint32_t)child : FC_NONE;
    }
    case IN_ORDER: return in_order_child(t, v, i);
    default: return k_nomial_child(t, v, i);
    }
}

static uint32_t segments(double bytes)
{
    double m = ceil(bytes / SEGMENT);
    return m < 1 ? 1 : m > 1e6 ? 1000000 : (uint32_t)m;
}

/* ---- messages ---- */

/* Edges by the depth of the child: edge[first[d] .. first[d + 1]), a parent's in the order of its children.
 */
struct edges {
    uint32_t depth; /* of the tree */
    uint32_t *first;
    struct {
        uint32_t parent, child;
    } * edge;
};

static bool list_edges(const struct tree *t, struct edges *e)
{
    uint32_t n = t->n, *depth = calloc(n, sizeof *depth);
    *e = (struct edges){0, calloc((size_t)n + 2, sizeof *e->first), calloc(n, sizeof *e->edge)};
    bool there = depth && e->first && e->edge;
    for (uint32_t v = 0; there && v < n; v++)
        for (uint32_t i = 0, c; (c = child_of(t, v, i)) != FC_NONE; i++) {
            depth[c] = depth[v] + 1;
            e->first[depth[c] + 1]++;
            e->depth = depth[c] > e->depth ? depth[c] : e->depth;
        }
    for (uint32_t d = 1; there && d <= n; d++) e->first[d + 1] += e->first[d];
    for (uint32_t v = 0; there && v < n; v++)
        for (uint32_t i = 0, c; (c = child_of(t, v, i)) != FC_NONE; i++) {
            uint32_t at = e->first[depth[c]]++;
            e->edge[at].parent = v;
            e->edge[at].child = c;
        }
    for (uint32_t d = n; there && d > 0; d--) e->first[d] = e->first[d - 1];
    free(depth);
    return there;
}

static void free_edges(struct edges *e)
{
    free(e->first);
    free(e->edge);
}

static uint32_t member_at(const struct fc_schedule *s, const struct tree *t, uint32_t v)
{
    return t->shape == IN_ORDER ? s->n - 1 - v : fc_schedule_member(s, v);
}

static void level(struct fc_schedule *s, const struct tree *t, const struct edges *e, uint32_t depth, bool down,
                  double bytes)
{
    for (uint32_t i = e->first[depth]; i < e->first[depth + 1]; i++) {
        uint32_t parent = member_at(s, t, e->edge[i].parent), child = member_at(s, t, e->edge[i].child);
        fc_schedule_add(s, down ? parent : child, down ? child : parent, bytes);
    }
}

static void build(struct fc_schedule *s, struct tree t, bool up, bool down, uint32_t m)
{
    struct edges e;
    t.n = s->n;
    if (!list_edges(&t, &e)) {
        s->full = true;
    } else {
        /* segment r - (depth - d) at depth d */
        for (uint32_t r = 0; up && r < e.depth + m - 1; r++, s->round++)
            for (uint32_t d = r < e.depth ? e.depth - r : 1; d <= e.depth && r + d < e.depth + m; d++)
                level(s, &t, &e, d, false, s->bytes / m);
        /* segment r + 1 - d at depth d */
        for (uint32_t r = 0; down && r < e.depth + m - 1; r++, s->round++)
            for (uint32_t d = r + 1 < m ? 1 : r + 2 - m; d <= e.depth && d <= r + 1; d++)
                level(s, &t, &e, d, true, s->bytes / m);
    }
    free_edges(&e);
}

/* ---- times ---- */

static double down_s(const struct fc_loggp *p, struct tree t, uint32_t n, uint32_t m, double bytes)
{
    double s = fc_loggp_send_gap_s(p, bytes), hop = fc_loggp_hop_s(p, bytes), time = 0;
    double *at = calloc(n, sizeof *at), *cycle = calloc(n, sizeof *cycle); /* of the path to v */
    t.n = n;
    for (uint32_t v = 0; at && cycle && v < n; v++) {
        uint32_t c = 0;
        while (child_of(&t, v, c) != FC_NONE) c++;
        double own = v == 0 ? c * s
                     : c    ? (c - 1) * s + p->send_s + fc_loggp_recv_s(p, bytes)
                            : fc_loggp_recv_gap_s(p, bytes);
        cycle[v] = fmax(cycle[v], own);
        for (uint32_t i = 0; i < c; i++) {
            uint32_t child = child_of(&t, v, i);
            at[child] = at[v] + i * s + hop;
            cycle[child] = cycle[v];
        }
        time = fmax(time, at[v] + (m - 1) * cycle[v]);
    }
    if (!at || !cycle) time = NAN;
    free(at);
    free(cycle);
    return time;
}

static double up_s(const struct fc_loggp *p, struct tree t, uint32_t n, double bytes)
{
    double q = fc_loggp_recv_gap_s(p, bytes), time = NAN;
    double *done = calloc(n, sizeof *done), *arrive = calloc(n, sizeof *arrive);
    t.n = n;
    for (uint32_t v = n; done && arrive && v-- > 0;) {
        uint32_t c = 0;
        for (uint32_t child; (child = child_of(&t, v, c)) != FC_NONE; c++)
            arrive[c] = done[child] + p->send_s + p->latency_s;
        qsort(arrive, c, sizeof *arrive, fc_by_real);
        for (uint32_t i = 0; i < c; i++)
            done[v] = fmax(done[v], arrive[i] + (c - 1 - i) * q + fc_loggp_recv_s(p, bytes));
        time = done[v];
    }
    free(done);
    free(arrive);
    return time;
}

/* ---- the algorithms ---- */

#define BCAST(name, m, ...)                                                                                            \
    void fc_build_##name(struct fc_schedule *s)                                                                        \
    {                                                                                                                  \
        build(s, (struct tree){__VA_ARGS__, 0}, false, true, m ? segments(s->bytes) : 1);                              \
    }                                                                                                                  \
    double fc_time_##name(const struct fc_loggp *p, uint32_t n, double bytes)                                          \
    {                                                                                                                  \
        uint32_t parts = m ? segments(bytes) : 1;                                                                      \
        return down_s(p, (struct tree){__VA_ARGS__, 0}, n, parts, bytes / parts);                                      \
    }
BCAST(bcast_linear, false, FLAT, 1)
BCAST(bcast_chain, false, CHAINS, 1)
BCAST(bcast_pipeline, true, CHAINS, 1)
BCAST(bcast_chains3, false, CHAINS, 3)
BCAST(bcast_chains4, false, CHAINS, 4)
BCAST(bcast_doubling, false, DOUBLING, 2)
BCAST(bcast_binary, false, K_ARY, 2)
BCAST(bcast_binary_segments, true, K_ARY, 2)
BCAST(bcast_knomial, false, K_NOMIAL, 4)
BCAST(bcast_binomial_segments, true, K_NOMIAL, 2)

#define REDUCE(name, ...)                                                                                              \
    void fc_build_##name(struct fc_schedule *s)                                                                        \
    {                                                                                                                  \
        build(s, (struct tree){__VA_ARGS__, 0}, true, false, 1);                                                       \
    }                                                                                                                  \
    double fc_time_##name(const struct fc_loggp *p, uint32_t n, double bytes)                                          \
    {                                                                                                                  \
        return up_s(p, (struct tree){__VA_ARGS__, 0}, n, bytes);                                                       \
    }
REDUCE(reduce_linear, FLAT, 1)
REDUCE(reduce_chain, CHAINS, 1)
REDUCE(reduce_chains, CHAINS, 2)
REDUCE(reduce_chains3, CHAINS, 3)
REDUCE(reduce_chains4, CHAINS, 4)
REDUCE(reduce_binary, K_ARY, 2)

FC_BUILD(reduce_pipeline, build(s, (struct tree){CHAINS, 1, 0}, true, false, segments(s->bytes)))
FC_BUILD(reduce_binary_segments, build(s, (struct tree){K_ARY, 2, 0}, true, false, segments(s->bytes)))
FC_BUILD(reduce_binomial_segments, build(s, (struct tree){K_NOMIAL, 2, 0}, true, false, segments(s->bytes)))

void fc_build_reduce_in_order(struct fc_schedule *s)
{
    build(s, (struct tree){IN_ORDER, 2, 0}, true, false, 1);
    s->work = FC_WORK_NONE;
    if (s->root != s->n - 1) fc_schedule_add(s, s->n - 1, s->root, s->bytes);
    s->round++;
}
FC_TIME(reduce_in_order, up_s(p, (struct tree){IN_ORDER, 2, 0}, n, bytes) + fc_loggp_hop_s(p, bytes))

#define BARRIER(name, ...)                                                                                             \
    void fc_build_##name(struct fc_schedule *s)                                                                        \
    {                                                                                                                  \
        s->bytes = 0;                                                                                                  \
        build(s, (struct tree){__VA_ARGS__, 0}, true, true, 1);                                                        \
    }                                                                                                                  \
    double fc_time_##name(const struct fc_loggp *p, uint32_t n, double bytes)                                          \
    {                                                                                                                  \
        (void)bytes;                                                                                                   \
        return up_s(p, (struct tree){__VA_ARGS__, 0}, n, 0) + down_s(p, (struct tree){__VA_ARGS__, 0}, n, 1, 0);       \
    }
BARRIER(barrier_linear, FLAT, 1)
BARRIER(barrier_binomial, K_NOMIAL, 2)
BARRIER(barrier_quaternary, K_ARY, 4)
