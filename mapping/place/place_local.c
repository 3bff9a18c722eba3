/* place_local.c - a good layout by local search: from random layouts, the best of all small changes until
 * none is better.
 *
 * Changes: an interface to a free node; two interfaces exchanged; with lines, a dimension's pair to any two
 * nodes of any line that is free or its own. Ties are broken by weighted hops, and those of the greatest load
 * by the sum of all loads to the fourth, so that the search does not stand still on a plateau. */
#include "mapping/place/place_best.h"

#include <math.h>
#include <string.h>

enum { MOST_NODES = 256, MOST_LINKS = MOST_NODES * 2 * FC_CHIP_AXES };

struct local {
    const struct fc_place_model *m;
    const struct fc_layout_rules *rules;
    int objective;
    uint64_t steps;
    struct fc_bridge_layout at, best;
    double value, tie, best_value, best_tie; /* of at; of the best neighbour so far */
};

static void evaluate(struct local *s, const struct fc_bridge_layout *layout, double *value, double *tie)
{
    double load[MOST_LINKS], sum = 0;
    struct fc_layout_figures f;
    s->steps++;
    fc_layout_cost(s->m, layout, load, &f);
    *value = fc_layout_value(&f, s->objective);
    for (uint32_t l = 0; l < s->m->n_links; l++) sum += load[l] * load[l] * load[l] * load[l];
    *tie = s->objective == FC_PLACE_WEIGHTED ? f.greatest_load : s->objective == FC_PLACE_LOAD ? sum : f.weighted_hops;
}

static bool better(double value, double tie, double than, double than_tie)
{
    double slack = 1e-9 * fabs(than);
    return value < than - slack || (value <= than + slack && tie < than_tie * (1 - 1e-9));
}

static void offer(struct local *s, const struct fc_bridge_layout *layout)
{
    double value, tie;
    if (!fc_layout_allowed(s->m, s->rules, layout)) return;
    evaluate(s, layout, &value, &tie);
    if (!better(value, tie, s->best_value, s->best_tie)) return;
    s->best = *layout;
    s->best_value = value;
    s->best_tie = tie;
}

static void neighbours(struct local *s)
{
    const struct fc_place_model *m = s->m;
    for (int i = 0; i < m->n; i++) {
        struct fc_bridge_layout next = s->at;
        for (uint32_t u = 0; u < m->n_mesh; u++) {
            next.node[i] = u;
            offer(s, &next);
        }
        for (int j = 0; j < i; j++) {
            next = s->at;
            next.node[i] = s->at.node[j];
            next.node[j] = s->at.node[i];
            offer(s, &next);
        }
    }
    for (int d = 0; s->rules->lines && d < m->chip.n_dims; d++) {
        struct fc_bridge_layout next = s->at;
        for (uint32_t u = 0; u < m->n_mesh; u++)
            for (uint32_t v = 0; v < m->n_mesh; v++) {
                next.node[2 * d] = u;
                next.node[2 * d + 1] = v;
                if (fc_layout_line(m, u) == fc_layout_line(m, v)) offer(s, &next);
            }
        for (int e = 0; e < d; e++) { /* two dimensions exchange their lines */
            next = s->at;
            for (int w = 0; w < 2; w++) {
                next.node[2 * d + w] = s->at.node[2 * e + w];
                next.node[2 * e + w] = s->at.node[2 * d + w];
            }
            offer(s, &next);
        }
    }
}

/* Fills interfaces from number i on by nodes in random order; false: no way from here. `tries` bounds the
 * search. */
static bool fill(struct local *s, int i, const uint32_t *order, int *tries)
{
    const struct fc_place_model *m = s->m;
    const struct fc_layout_rules *r = s->rules;
    if (i == m->n) return true;
    for (uint32_t x = 0; x<m->n_mesh && * tries> 0; x++) {
        uint32_t u = order[(x + 7 * (uint32_t)i) % m->n_mesh];
        bool may = !(r->taken && r->taken[u]) && (r->pinned[i] == FC_NONE || r->pinned[i] == u);
        for (int j = 0; j < m->n && may; j++) {
            uint32_t other = j < i ? s->at.node[j] : r->pinned[j];
            if (j == i || other == FC_NONE) continue;
            may = other != u && (!r->lines || (fc_layout_line(m, u) == fc_layout_line(m, other)) == (i / 2 == j / 2));
        }
        if (!may) continue;
        s->at.node[i] = u;
        --*tries;
        if (fill(s, i + 1, order, tries)) return true;
    }
    return false;
}

static void climb(struct local *s)
{
    evaluate(s, &s->at, &s->value, &s->tie);
    for (;;) {
        s->best_value = s->value;
        s->best_tie = s->tie;
        neighbours(s);
        if (!better(s->best_value, s->best_tie, s->value, s->tie)) return;
        s->at = s->best;
        s->value = s->best_value;
        s->tie = s->best_tie;
    }
}

enum fc_code fc_place_local(const struct fc_place_model *m, const struct fc_layout_rules *rules, int objective,
                            int starts, uint64_t seed, struct fc_place_best *best, struct fc_status *st)
{
    struct local s = {.m = m, .rules = rules, .objective = objective};
    double value = INFINITY, tie = INFINITY;
    uint32_t order[MOST_NODES];
    memset(best, 0, sizeof *best);
    if (fc_layout_rules_check(m, rules, st)) return st->code;
    for (int start = 0; start < starts; start++) {
        int tries = 100000;
        fc_random_permutation(seed, (uint64_t)start, order, m->n_mesh);
        if (!fill(&s, 0, order, &tries)) continue;
        climb(&s);
        if (!better(s.value, s.tie, value, tie)) continue;
        value = s.value;
        tie = s.tie;
        best->layout = s.at;
    }
    if (isinf(value)) return fc_refuse(st, FC_NO, "no layout was found to start from");
    fc_layout_figure(m, &best->layout, NULL, &best->figures);
    best->value = fc_layout_value(&best->figures, objective);
    best->gap_percent = NAN;
    best->steps = s.steps;
    best->by = "local search";
    return FC_OK;
}
