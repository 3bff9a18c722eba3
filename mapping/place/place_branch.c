/* place_branch.c - the least turn hops or weighted hops, proven, by branch and bound; or the best bound so
 * far. (The greatest load: place_cuts.c.)
 *
 * Interfaces are placed one after the other, dimensions with most injection and ejection first. With P placed
 * and Q to come, turn hops and weighted hops are quadratic (a_i(u) alone, w_ij d(u, v) in pairs), and no
 * completion is below
 *
 *   cost(P) + sum_{j in Q} min_v [a_j(v) + sum_{i in P} w_ij d(u_i, v)] + S(Q),
 *
 * S(Q) the least that pairs within Q cost in any layout: by the same search from the last interfaces up
 * ("Russian doll"; Verfaillie, Lemaitre & Schiex, AAAI 1996), where that takes too long by S(Q less its
 * first) and the shortest distances that a mesh has from a node; for turn hops by the least town.
 *
 * First pairs of nodes that are mirrors of each other count once. They are searched in the order of their
 * bounds; when steps run out the bound of the first one left holds for all. */
#include "mapping/place/place_best.h"
#include "mapping/place/place_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct root {
    uint32_t u, v;
    int64_t bound;
};
struct branch {
    const struct fc_place_model *m;
    const struct fc_layout_rules *rules;
    int objective, n;
    double scale;
    bool swap[FC_MAX_DIMS], loose; /* loose: a part of the interfaces; pins and taken nodes are not looked at */
    int order[FC_LAYOUT_MOST];     /* interfaces as they are placed */
    int64_t w[FC_LAYOUT_MOST][FC_LAYOUT_MOST]; /* by place in the order */
    int64_t *a;                                /* [n][n_mesh] */
    int64_t suffix[FC_LAYOUT_MOST + 1];        /* S of those from place d on */
    /* by depth: */
    int64_t cost[FC_LAYOUT_MOST + 1];
    int64_t *c; /* [n + 1][n][n_mesh] */
    uint32_t node[FC_LAYOUT_MOST], line[256];
    uint64_t steps, most_steps;
    int64_t best; /* value to be beaten */
    bool improved;
    uint32_t best_node[FC_LAYOUT_MOST];
};

static int64_t *costs(const struct branch *b, int depth, int place)
{
    return b->c + ((size_t)depth * (size_t)b->n + (size_t)place) * b->m->n_mesh;
}

static bool may_take(const struct branch *b, int from, int d, uint32_t u)
{
    const struct fc_layout_rules *r = b->rules;
    int i = b->order[d];
    if (!b->loose && ((r->taken && r->taken[u]) || (r->pinned[i] != FC_NONE && r->pinned[i] != u))) return false;
    if (d > from && i / 2 == b->order[d - 1] / 2 && b->swap[i / 2] && u < b->node[d - 1]) return false;
    for (int e = from; e < d; e++) {
        if (b->node[e] == u) return false;
        if (r->lines && (b->line[u] == b->line[b->node[e]]) != (i / 2 == b->order[e] / 2)) return false;
    }
    return true;
}

/* ---- sums ---- */

/* Sets c of depth + 1 and returns what no completion is below; place d stands on u. */
static int64_t set_sums(struct branch *b, int from, int d, uint32_t u)
{
    const struct fc_place_model *m = b->m;
    const uint8_t *distance = m->distance + (size_t)u * m->n_mesh;
    b->cost[d + 1] = b->cost[d] + costs(b, d, d)[u];
    int64_t bound = b->cost[d + 1] + b->suffix[d + 1];
    for (int e = d + 1; e < b->n; e++) {
        const int64_t *before = costs(b, d, e);
        int64_t *after = costs(b, d + 1, e), w = b->w[d][e], least = INT64_MAX;
        for (uint32_t v = 0; v < m->n_mesh; v++) after[v] = before[v] + w * distance[v];
        for (uint32_t v = 0; v < m->n_mesh; v++) {
            if (after[v] >= least) continue;
            bool free_node = v != u;
            for (int x = from; x < d; x++) free_node = free_node && b->node[x] != v;
            if (free_node) least = after[v];
        }
        bound += least;
    }
    return bound;
}

static int64_t set_down(struct branch *b, int from, int d, uint32_t u)
{
    b->node[d] = u;
    b->steps += 1 + (uint32_t)(b->n - d) * b->m->n_mesh / 32;
    return set_sums(b, from, d, u);
}

/* ---- the tree ---- */

static void keep(struct branch *b, int64_t value)
{
    b->best = value;
    b->improved = true;
    memcpy(b->best_node, b->node, sizeof b->node);
}

/* Places from..d-1 stand; tries all of place d. False: out of steps. */
static bool descend(struct branch *b, int from, int d)
{
    const struct fc_place_model *m = b->m;
    const int64_t *c = costs(b, d, d);
    for (uint32_t u = 0; u < m->n_mesh; u++) {
        if (b->cost[d] + c[u] + b->suffix[d] >= b->best) continue;
        if (!may_take(b, from, d, u)) continue;
        if (b->steps >= b->most_steps) return false;
        int64_t bound = set_down(b, from, d, u);
        if (bound >= b->best) continue;
        if (d + 1 == b->n)
            keep(b, bound);
        else if (!descend(b, from, d + 1))
            return false;
    }
    return true;
}

/* ---- S(Q) ---- */

/* The k-th shortest distance, from 1, that an endless mesh of these axes has from a node. */
static int shortest(int axes, int k)
{
    for (int distance = 1, seen = 0;; distance++) {
        int sphere = axes == 1 ? 2 : axes == 2 ? 4 * distance : axes == 3 ? 4 * distance * distance + 2 : 1000000;
        seen += sphere;
        if (k <= seen) return distance;
    }
}

static int descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* What place d costs with all after it, at least. */
static int64_t star(const struct branch *b, int d)
{
    const struct fc_chip *chip = &b->m->chip;
    int64_t w[FC_LAYOUT_MOST], sum = 0;
    int n = 0, diameter = 0;
    for (int a = 0; a < chip->n_axes; a++) diameter += (int)chip->side[a] - 1;
    for (int e = d + 1; e < b->n; e++) w[n++] = b->w[d][e];
    qsort(w, (size_t)n, sizeof *w, descending);
    for (int k = 0; k < n; k++) sum += w[k] * (w[k] > 0 ? shortest(chip->n_axes, k + 1) : diameter);
    return sum;
}

static int64_t inner_cost(const struct branch *b, const uint32_t *node, int from)
{
    int64_t sum = 0;
    for (int d = from; d < b->n; d++)
        for (int e = d + 1; e < b->n; e++) sum += b->w[d][e] * b->m->distance[node[d] * b->m->n_mesh + node[e]];
    return sum;
}

/* S of all suffixes, from short to long; `known`: nodes of a layout by place. */
static void make_suffixes(struct branch *b, const uint32_t *known, uint64_t steps_each)
{
    const struct fc_place_model *m = b->m;
    b->suffix[b->n] = b->suffix[b->n - 1] = 0;
    for (int d = b->n - 2; d >= 0; d--) {
        b->suffix[d] = b->suffix[d + 1] + star(b, d);
        if (b->objective == FC_PLACE_HOPS && m->chip.n_axes < 3) {
            int town =
                fc_town_least(m->chip.n_axes == 1 ? 1 : m->chip.side[0], m->chip.side[m->chip.n_axes - 1], b->n - d);
            if (town + (b->n - d) / 2 > b->suffix[d]) b->suffix[d] = town + (b->n - d) / 2;
        }
        if (d == 0 || b->suffix[d] >= inner_cost(b, known, d)) continue;
        b->loose = true;
        b->best = inner_cost(b, known, d);
        b->cost[d] = 0;
        b->steps = 0;
        b->most_steps = steps_each;
        for (int e = d; e < b->n; e++) memset(costs(b, d, e), 0, m->n_mesh * sizeof *b->c);
        if (descend(b, d, d) && b->best > b->suffix[d]) b->suffix[d] = b->best;
        b->loose = false;
    }
    b->improved = false;
}

/* ---- setting up ---- */

static void choose_order(struct branch *b)
{
    const struct fc_place_model *m = b->m;
    int n = 0;
    bool used[FC_MAX_DIMS] = {false};
    while (n < b->n) {
        int next = -1;
        double most = -1;
        for (int d = 0; d < m->chip.n_dims; d++) {
            double weight = m->inject[2 * d] + m->eject[2 * d];
            if (!used[d] && weight > most) most = weight, next = d;
        }
        used[next] = true;
        b->order[n++] = 2 * next;
        b->order[n++] = 2 * next + 1;
    }
}

static void make_sums(struct branch *b)
{
    const struct fc_place_model *m = b->m;
    bool hops = b->objective == FC_PLACE_HOPS;
    for (int d = 0; d < b->n; d++) {
        int i = b->order[d];
        for (int e = 0; e < b->n; e++) {
            int j = b->order[e];
            b->w[d][e] = hops ? m->turn_weight[i][j] : llround((m->flow[i][j] + m->flow[j][i]) * b->scale);
        }
        for (uint32_t u = 0; u < m->n_mesh && !hops; u++)
            b->a[(size_t)d * m->n_mesh + u] = llround(m->unary_hops[(size_t)i * m->n_mesh + u] * b->scale);
    }
}

static enum fc_code set_up(struct branch *b, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_place_model *m = b->m;
    size_t n = (size_t)b->n, nodes = m->n_mesh;
    double total = m->base_hops;
    for (int i = 0; i < m->n; i++) total += m->n_mesh * (m->inject[i] + m->eject[i]) + m->torus_load;
    b->scale = m->scale > 0 && total * m->scale < 0x1p30 ? m->scale : 0x1p29 / total;
    b->a = fc_alloc(arena, n * nodes, sizeof *b->a, st);
    b->c = fc_alloc(arena, (n + 1) * n * nodes, sizeof *b->c, st);
    if (st->code) return st->code;
    for (uint32_t u = 0; u < m->n_mesh; u++) b->line[u] = fc_layout_line(m, u);
    choose_order(b);
    fc_place_symmetry(m, b->rules, b->swap);
    make_sums(b);
    return FC_OK;
}

/* ---- the whole search ---- */

static int by_bound(const void *x, const void *y)
{
    const struct root *a = x, *b = y;
    if (a->bound != b->bound) return a->bound < b->bound ? -1 : 1;
    return a->u != b->u ? (a->u < b->u ? -1 : 1) : (a->v > b->v) - (a->v < b->v);
}

static int64_t whole_value(const struct branch *b, const uint32_t *node)
{
    int64_t value = inner_cost(b, node, 0);
    for (int d = 0; d < b->n; d++) value += b->a[(size_t)d * b->m->n_mesh + node[d]];
    return value;
}

static uint32_t make_roots(struct branch *b, struct root *roots)
{
    const struct fc_place_model *m = b->m;
    uint32_t n = 0;
    bool swap[FC_MAX_DIMS], symmetry = fc_place_symmetry(m, b->rules, swap);
    for (uint32_t u = 0; u < m->n_mesh; u++)
        for (uint32_t v = 0; v < m->n_mesh; v++) {
            if (u == v || !fc_place_class(&m->chip, u, v, swap[b->order[0] / 2], symmetry)) continue;
            if (!may_take(b, 0, 0, u)) continue;
            set_down(b, 0, 0, u);
            if (!may_take(b, 0, 1, v)) continue;
            roots[n++] = (struct root){u, v, set_down(b, 0, 1, v)};
        }
    qsort(roots, n, sizeof *roots, by_bound);
    return n;
}

/* From all first pairs; returns what nothing is below. */
static int64_t search(struct branch *b, struct root *roots)
{
    uint32_t n = make_roots(b, roots);
    for (uint32_t r = 0; r < n; r++) {
        if (roots[r].bound >= b->best) break;
        set_down(b, 0, 0, roots[r].u);
        set_down(b, 0, 1, roots[r].v);
        if (b->n == 2)
            keep(b, roots[r].bound);
        else if (!descend(b, 0, 2))
            return roots[r].bound < b->best ? roots[r].bound : b->best;
    }
    return b->best;
}

static void answer(const struct branch *b, int64_t bound, struct fc_place_best *best)
{
    const struct fc_place_model *m = b->m;
    for (int d = 0; d < b->n && b->improved; d++) best->layout.node[b->order[d]] = b->best_node[d];
    fc_layout_figure(m, &best->layout, NULL, &best->figures);
    best->value = fc_layout_value(&best->figures, b->objective);
    double unit = b->objective == FC_PLACE_HOPS ? 1.0 / m->turn_pairs : 1 / b->scale;
    double value =
        b->objective == FC_PLACE_WEIGHTED ? ((double)bound * unit + m->base_hops) / m->n_cores : (double)bound * unit;
    best->proven = bound >= b->best;
    if (best->proven || value > best->value) value = best->value;
    if (value > best->bound) {
        best->bound = value;
        best->by = "branch and bound";
    }
    best->gap_percent = best->bound > 0 ? 100 * (best->value / best->bound - 1) : (double)NAN;
    best->proven = best->proven || best->bound >= best->value;
    best->steps = b->steps;
}

enum fc_code fc_place_branch(const struct fc_place_model *m, const struct fc_layout_rules *rules, int objective,
                             uint64_t most_steps, struct fc_place_best *best, struct fc_status *st)
{
    if (objective == FC_PLACE_LOAD) return fc_place_cuts(m, rules, most_steps, best, st);
    struct branch b = {.m = m, .rules = rules, .objective = objective, .n = m->n};
    struct fc_arena arena = {0};
    uint32_t known[FC_LAYOUT_MOST];
    struct root *roots = fc_alloc(&arena, (size_t)m->n_mesh * m->n_mesh, sizeof *roots, st);
    if (roots && !set_up(&b, &arena, st)) {
        for (int d = 0; d < b.n; d++) known[d] = best->layout.node[b.order[d]];
        uint64_t spent = most_steps / 40;
        make_suffixes(&b, known, spent);
        memcpy(b.c, b.a, (size_t)b.n * m->n_mesh * sizeof *b.a);
        b.best = whole_value(&b, known);
        b.steps = 0;
        b.most_steps = most_steps;
        answer(&b, search(&b, roots), best);
    }
    fc_arena_free(&arena);
    return st->code;
}
