/* place_passed.c - behind whom packets wait on a chip: bridges that they pass on their mesh channel and do not leave by.
 *
 * Under six-vc a packet keeps the mesh channel of the dimension that it leaves its chip by, or of the last dimension where it
 * stays (docs/deadlock.md). Where its route crosses the node of a bridge of that dimension, it queues with the packets for
 * that bridge, which stand still while the torus link is busy (head-of-line blocking; Karol, Hluchyj & Morgan 1987). Passed
 * bridges, a packet's mean of uniform traffic:
 *
 *     sum over flows of rate x bridges of the flow's dimension strictly within its route, its own exit left out
 *
 * Against the kernel's most accepted on the paper's chip: rank correlation in docs/place.md. Limits: the position, not the
 * load, of what is waited for; under other rules of channels packets wait behind others too.
 *
 * The front: no allowed layout has less weighted hops and passes fewer bridges. All layouts are looked at, one of each
 * class of mirrors, some 2 us each. */
#include "core/array.h"
#include "mapping/place/place_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes a and b within the route from u to v. */
static int within(const struct fc_place_model *m, uint32_t u, uint32_t v, uint32_t a, uint32_t b)
{
    const uint32_t *first = &m->first_hop[u * m->n_mesh + v];
    int n = 0;
    for (uint32_t h = first[0]; h + 1 < first[1]; h++) {
        uint32_t node = m->link_target[m->route[h]];
        n += (node == a) + (node == b);
    }
    return n;
}

static double layout_passed(const struct fc_place_model *m, const struct fc_bridge_layout *layout)
{
    const uint32_t *u = layout->node;
    double sum = 0;
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < m->n; j++)
            if (m->rate[i][j] > 0) sum += m->rate[i][j] * within(m, u[i], u[j], u[j ^ 1], FC_NONE);
    for (uint32_t core = 0; core < m->n_mesh; core++) {
        bool bridge = false;
        for (int i = 0; i < m->n; i++) bridge = bridge || u[i] == core;
        for (int i = 0; i < m->n && (!bridge || m->chip.bridges_compute); i++)
            sum += m->inject[i] * within(m, core, u[i], u[i ^ 1], FC_NONE) +
                   m->eject[i] * within(m, u[i], core, u[m->n - 2], u[m->n - 1]);
    }
    return sum / m->n_cores;
}

bool fc_layout_alike(const struct fc_layout_figures *a, const struct fc_layout_figures *b)
{
    return fabs(a->weighted_hops - b->weighted_hops) < 1e-9 && fabs(a->greatest_load - b->greatest_load) < 1e-9 &&
           fabs(a->turn_hops - b->turn_hops) < 1e-9 && fabs(a->fairness - b->fairness) < 1e-9 &&
           fabs(a->passed - b->passed) < 1e-9;
}

static double weighted_hops(const struct fc_place_model *m, const uint32_t *u)
{
    double sum = m->base_hops;
    for (int i = 0; i < m->n; i++) {
        sum += m->unary_hops[(size_t)i * m->n_mesh + u[i]];
        for (int j = 0; j < m->n; j++)
            if (j != i) sum += m->flow[i][j] * m->distance[u[i] * m->n_mesh + u[j]];
    }
    return sum / m->n_cores;
}

struct walk {
    const struct fc_place_model *m;
    const struct fc_layout_rules *rules;
    bool swap[FC_MAX_DIMS];
    struct fc_bridge_layout layout;
    bool symmetry, used[FC_CHIP_MOST_NODES];
    struct fc_layout_point *front; /* ascending weighted hops, descending passed */
    uint32_t n, capacity;
    struct fc_status *st;
};

/* Of layouts with the same two figures the first stays. */
static void see(struct walk *w)
{
    struct fc_layout_point p = {.layout = w->layout, .layouts = 1};
    uint32_t at = 0, beaten = 0;
    if (!fc_layout_allowed(w->m, w->rules, &w->layout)) return;
    p.figures.passed = layout_passed(w->m, &w->layout);
    double hops = weighted_hops(w->m, w->layout.node);
    while (at < w->n && w->front[at].figures.weighted_hops < hops - 1e-9) at++;
    if (at && w->front[at - 1].figures.passed <= p.figures.passed + 1e-9) return;
    if (at < w->n && w->front[at].figures.weighted_hops <= hops + 1e-9 &&
        w->front[at].figures.passed <= p.figures.passed + 1e-9)
        return;
    while (at + beaten < w->n && w->front[at + beaten].figures.passed >= p.figures.passed - 1e-9) beaten++;
    if (!FC_GROW(w->front, w->capacity, w->n - beaten + 1)) {
        fc_out_of_memory(w->st, "the front of layouts");
        return;
    }
    memmove(&w->front[at + 1], &w->front[at + beaten], (w->n - at - beaten) * sizeof *w->front);
    w->n += 1 - beaten;
    p.figures.weighted_hops = hops;
    w->front[at] = p;
}

static void place_next(struct walk *w, int i)
{
    const struct fc_place_model *m = w->m;
    uint32_t *u = w->layout.node;
    if (i == m->n) {
        see(w);
        return;
    }
    for (uint32_t v = i % 2 && w->swap[i / 2] ? u[i - 1] : 0; v < m->n_mesh && !w->st->code; v++) {
        if (w->used[v]) continue;
        u[i] = v;
        if (i == 1 && !fc_place_class(&m->chip, u[0], v, w->swap[0], w->symmetry)) continue;
        w->used[v] = true;
        place_next(w, i + 1);
        w->used[v] = false;
    }
}

enum fc_code fc_place_passed_front(const struct fc_place_model *m, const struct fc_layout_rules *rules,
                                   struct fc_arena *arena, struct fc_layout_point **front, uint32_t *n,
                                   struct fc_status *st)
{
    struct walk w = {.m = m, .rules = rules, .st = st};
    *n = 0;
    if (fc_layout_rules_check(m, rules, st)) return st->code;
    w.symmetry = fc_place_symmetry(m, rules, w.swap);
    place_next(&w, 0);
    *front = st->code ? NULL : fc_alloc(arena, w.n, sizeof **front, st);
    for (uint32_t f = 0; *front && f < w.n; f++) {
        (*front)[f] = w.front[f];
        fc_layout_figure(m, &w.front[f].layout, NULL, &(*front)[f].figures);
    }
    if (*front) *n = w.n;
    free(w.front);
    return st->code;
}

void fc_layout_figure(const struct fc_place_model *m, const struct fc_bridge_layout *layout, double *load,
                      struct fc_layout_figures *f)
{
    fc_layout_cost(m, layout, load, f);
    f->passed = layout_passed(m, layout);
}
