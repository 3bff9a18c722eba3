/* place_search_lanes.h - all layouts of a task, depth first, loads of all links in flat vectors of LANE.
 * Included by place_search16.c and place_search32.c with LANE and TASK defined.
 *
 * Invariants at depth d (interfaces 0 .. d-1 are placed): load[d] holds what they put on every link;
 * last[d][v] what the last interface would add from node v because of itself and of them. So a layout costs
 * two vector additions and a maximum. Sums wrap around in LANE and are right in the end, where they fit. */
#include "mapping/place/place_search.h"

#include <string.h>

struct walk {
    const struct fc_place_search *s;
    struct fc_place_seen *seen;
    uint64_t times;
    uint32_t second; /* node of interface 1 */
    uint32_t node[FC_LAYOUT_MOST];
    LANE *load; /* [n][lanes] */
    LANE *last; /* [n][n_mesh][lanes] */
    int32_t turns[FC_LAYOUT_MOST];
    int64_t weighted[FC_LAYOUT_MOST];
    int32_t *last_turns;    /* [n][n_mesh] */
    int64_t *last_weighted; /* [n][n_mesh] */
};

static const LANE *pair_of(const struct fc_place_search *s, int i, int j, uint32_t u, uint32_t v)
{
    return (const LANE *)s->pair + ((fc_place_pair(s, i, j) * s->m->n_mesh + u) * s->m->n_mesh + v) * s->lanes;
}

static void add(LANE *restrict to, const LANE *restrict a, const LANE *restrict b, uint32_t lanes)
{
    for (uint32_t l = 0; l < lanes; l++) to[l] = (LANE)(a[l] + b[l]);
}

static bool may_take(const struct walk *w, int d, uint32_t u)
{
    const struct fc_place_search *s = w->s;
    const struct fc_layout_rules *r = s->rules;
    if ((r->taken && r->taken[u]) || (r->pinned[d] != FC_NONE && r->pinned[d] != u)) return false;
    if (d % 2 && s->swap[d / 2] && u < w->node[d - 1]) return false;
    for (int i = 0; i < d; i++) {
        if (w->node[i] == u) return false;
        if (r->lines && (s->line[u] == s->line[w->node[i]]) != (i / 2 == d / 2)) return false;
    }
    return true;
}

/* Greatest of a + b + c. Lanes are a multiple of 16. */
static inline LANE greatest(const LANE *restrict a, const LANE *restrict b, const LANE *restrict c, uint32_t lanes)
{
    LANE most[16], result;
    for (int i = 0; i < 16; i++) most[i] = (LANE)(a[i] + b[i] + c[i]);
    for (uint32_t l = 16; l < lanes; l += 16)
        for (int i = 0; i < 16; i++) {
            LANE sum = (LANE)(a[l + (uint32_t)i] + b[l + (uint32_t)i] + c[l + (uint32_t)i]);
            most[i] = sum > most[i] ? sum : most[i];
        }
    for (int half = 8; half; half /= 2)
        for (int i = 0; i < half; i++) most[i] = most[i] > most[i + half] ? most[i] : most[i + half];
    result = most[0];
    return result;
}

/* Interface n - 1 goes to every node that it may; all others are placed, number n - 2 on u. */
static void finish(struct walk *w, uint32_t u)
{
    const struct fc_place_search *s = w->s;
    const struct fc_place_model *m = s->m;
    int d = m->n - 2, weight = m->turn_weight[d][d + 1];
    const LANE *load = w->load + (size_t)(d + 1) * s->lanes, *last = w->last + (size_t)d * m->n_mesh * s->lanes;
    const LANE *pair = pair_of(s, d, d + 1, u, 0);
    for (uint32_t v = 0; v < m->n_mesh; v++) {
        if ((m->n == 2 && v != w->second) || !may_take(w, d + 1, v)) continue;
        int hops = m->distance[u * m->n_mesh + v];
        size_t at = (size_t)d * m->n_mesh + v;
        struct fc_place_key key = {
            .turns = w->turns[d + 1] + w->last_turns[at] + weight * hops,
            .weighted = w->weighted[d + 1] + w->last_weighted[at] + s->pair_hops[d][d + 1] * hops,
            .load = greatest(load, last + (size_t)v * s->lanes, pair + (size_t)v * s->lanes, s->lanes)};
        w->node[d + 1] = v;
        fc_place_see(w->seen, m->n, &key, w->node, w->times);
    }
}

/* Interface d stands on w->node[d]: what follows from it at depth d + 1. */
static void set_down(struct walk *w, int d)
{
    const struct fc_place_search *s = w->s;
    const struct fc_place_model *m = s->m;
    uint32_t u = w->node[d];
    int end = m->n - 1;
    LANE *load = w->load + (size_t)(d + 1) * s->lanes;
    add(load, load - s->lanes, (const LANE *)s->unary + ((size_t)d * m->n_mesh + u) * s->lanes, s->lanes);
    w->turns[d + 1] = w->turns[d];
    w->weighted[d + 1] = w->weighted[d] + s->unary_hops[(size_t)d * m->n_mesh + u];
    for (int i = 0; i < d; i++) {
        int hops = m->distance[w->node[i] * m->n_mesh + u];
        const LANE *pair = pair_of(s, i, d, w->node[i], u);
        for (uint32_t l = 0; l < s->lanes; l++) load[l] = (LANE)(load[l] + pair[l]);
        w->turns[d + 1] += m->turn_weight[i][d] * hops;
        w->weighted[d + 1] += s->pair_hops[i][d] * hops;
    }
    if (d + 1 == end) return;
    LANE *last = w->last + (size_t)d * m->n_mesh * s->lanes;
    for (uint32_t v = 0; v < m->n_mesh; v++) {
        size_t at = (size_t)d * m->n_mesh + v, to = at + m->n_mesh;
        int hops = m->distance[u * m->n_mesh + v];
        add(last + (m->n_mesh + (size_t)v) * s->lanes, last + (size_t)v * s->lanes, pair_of(s, d, end, u, v), s->lanes);
        w->last_turns[to] = w->last_turns[at] + m->turn_weight[d][end] * hops;
        w->last_weighted[to] = w->last_weighted[at] + s->pair_hops[d][end] * hops;
    }
}

static void descend(struct walk *w, int d)
{
    const struct fc_place_model *m = w->s->m;
    for (uint32_t u = 0; u < m->n_mesh; u++) {
        if (d < 2 && u != w->node[d]) continue; /* the task says where the first two are */
        if (!may_take(w, d, u)) continue;
        w->node[d] = u;
        set_down(w, d);
        if (d == m->n - 2)
            finish(w, u);
        else
            descend(w, d + 1);
        if (d < 2) return;
    }
}

enum fc_code TASK(const struct fc_place_search *s, const struct fc_place_task *task, struct fc_place_seen *seen,
                  struct fc_status *st)
{
    const struct fc_place_model *m = s->m;
    struct fc_arena arena = {0};
    size_t n = (size_t)m->n, nodes = m->n_mesh;
    struct walk w = {
        .s = s, .seen = seen, .times = task->times, .second = task->first[1], .node = {task->first[0], task->first[1]}};
    w.load = fc_alloc(&arena, n * s->lanes, sizeof *w.load, st);
    w.last = fc_alloc(&arena, n * nodes * s->lanes, sizeof *w.last, st);
    w.last_turns = fc_alloc(&arena, n * nodes, sizeof *w.last_turns, st);
    w.last_weighted = fc_alloc(&arena, n * nodes, sizeof *w.last_weighted, st);
    if (!st->code) {
        memcpy(w.load, s->base, s->lanes * sizeof *w.load);
        memcpy(w.last, (const LANE *)s->unary + (n - 1) * nodes * s->lanes, nodes * s->lanes * sizeof *w.last);
        memcpy(w.last_weighted, s->unary_hops + (n - 1) * nodes, nodes * sizeof *w.last_weighted);
        descend(&w, 0);
        if (seen->full) fc_out_of_memory(st, "the front of layouts");
    }
    fc_arena_free(&arena);
    return st->code;
}
