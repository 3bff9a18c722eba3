/* place_best.c - the best layout for one objective by what suits the size: all layouts, or local search with
 * branch and bound, and the town bound for hops. Work is counted in steps, so that answers repeat; a step of
 * the tree is some 64 additions, taken as 20 ns. */
#include "mapping/place/place_best.h"

#include <math.h>
#include <string.h>

#define STEPS_A_SECOND 5e7
#define FEW_LAYOUTS 6e6 /* classes of them: a second */

static enum fc_code by_all(const struct fc_place_model *m, const struct fc_layout_rules *rules, int objective,
                           int threads, struct fc_place_best *best, struct fc_status *st)
{
    struct fc_place_all_settings settings = {.symmetry = true, .threads = threads};
    struct fc_place_all all;
    if (fc_place_all(m, rules, &settings, &all, st)) return st->code;
    best->layout = all.best[objective].layout;
    best->figures = all.best[objective].figures;
    best->value = best->bound = fc_layout_value(&best->figures, objective);
    best->proven = true;
    best->by = "all layouts";
    best->steps = all.evaluated;
    fc_place_all_free(&all);
    return FC_OK;
}

enum fc_code fc_place_best_find(const struct fc_place_model *m, const struct fc_layout_rules *rules, int objective,
                                double time_s, int threads, struct fc_place_best *best, struct fc_status *st)
{
    memset(best, 0, sizeof *best);
    double classes = fc_place_count(m, rules) / (1 << m->chip.n_axes) / (1 << m->chip.n_dims);
    if (classes < FEW_LAYOUTS) return by_all(m, rules, objective, threads, best, st);
    int starts = (int)fmin(1000, fmax(10, 4000.0 * time_s / m->n_mesh / m->n));
    if (fc_place_local(m, rules, objective, starts, 1, best, st)) return st->code;
    if (objective == FC_PLACE_HOPS) {
        best->bound = (double)fc_town_bound(m) / m->turn_pairs;
        best->by = "town bound";
        best->proven = best->bound >= best->value * (1 - 1e-12);
        best->gap_percent = 100 * (best->value / best->bound - 1);
        if (best->proven) return FC_OK;
    }
    return fc_place_branch(m, rules, objective, (uint64_t)fmin(1e18, fmax(0, time_s * STEPS_A_SECOND)), best, st);
}
