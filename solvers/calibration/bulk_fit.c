/* bulk_fit.c - the shapes of the two processes over closed runs (bulk.c), and what each of them errs by where its network, or its
 * kind, is left out. */
#include "solvers/calibration/bulk.h"

#include <string.h>

enum { LEAST_CASES = 4 }; /* of a process */

/* The shape, where it has none, and the scores. */
static enum fc_code fit(struct fc_bulk *view, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_kriging *kriging = NULL;
    double mean, *value = fc_alloc(arena, view->n_cases, sizeof *value, st),
                 *deviation = fc_alloc(arena, view->n_cases, sizeof *deviation, st);
    if (value && deviation && !fc_bulk_open(view, &kriging, &mean, st)) {
        view->shape = *fc_kriging_shape_of(kriging);
        for (int what = FC_KRIGING_GROUP; what <= FC_KRIGING_KIND && !st->code; what++) {
            if (fc_kriging_leave_out(kriging, (enum fc_kriging_left_out)what, value, deviation, st)) break;
            for (uint32_t i = 0; i < view->n_cases; i++) {
                struct fc_bulk_case *c = &view->cases[i];
                double fluid = c->at.fluid > 0 ? log(c->at.fluid) : 0;
                double error = fluid + mean + value[i] - log(c->ratio), percent = 100 * fabs(expm1(error));
                double score = fabs(error) / deviation[i];
                if (what == FC_KRIGING_GROUP)
                    c->left_network_percent = percent, c->network_score = score;
                else
                    c->left_kind_percent = percent, c->kind_score = score;
            }
        }
    }
    fc_kriging_close(kriging);
    return st->code;
}

/* Whether it is of the process about fluids. */
static bool is_fluid(const struct fc_bulk_case *c)
{
    return c->at.fluid > 0 && strcmp(c->kind, FC_BULK_ALL_TO_ALL);
}

/* Copies of the cases, without scores made anew. */
static enum fc_code select_cases(const struct fc_bulk *bulk, bool fluid, struct fc_arena *arena, struct fc_bulk *view,
                                 struct fc_status *st)
{
    *view = (struct fc_bulk){.cases = fc_alloc(arena, bulk->n_cases + 1ull, sizeof *view->cases, st)};
    view->shape = fluid ? bulk->shape : bulk->plain;
    for (uint32_t i = 0; view->cases && i < bulk->n_cases; i++) {
        if (fluid && !is_fluid(&bulk->cases[i])) continue;
        struct fc_bulk_case *c = &view->cases[view->n_cases++];
        *c = bulk->cases[i];
        if (!fluid) c->at.fluid = 0;
    }
    if (fluid && view->n_cases < LEAST_CASES) view->n_cases = 0;
    return st->code;
}

enum fc_code fc_bulk_view(const struct fc_bulk *bulk, bool fluid, struct fc_arena *arena, struct fc_bulk *view,
                          struct fc_status *st)
{
    if (select_cases(bulk, fluid, arena, view, st) || fluid) return st->code;
    return fit(view, arena, st);
}

/* The scores of the view's cases for those of the same place in `bulk`. */
static void take_scores(const struct fc_bulk *view, bool fluid, struct fc_bulk *bulk)
{
    for (uint32_t i = 0, k = 0; i < bulk->n_cases && k < view->n_cases; i++) {
        struct fc_bulk_case *c = &bulk->cases[i];
        struct fc_bulk_point at = c->at;
        if (fluid && !is_fluid(c)) continue;
        *c = view->cases[k++];
        c->at = at;
    }
}

enum fc_code fc_bulk_fit(struct fc_bulk *bulk, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_bulk view;
    memset(&bulk->shape, 0, sizeof bulk->shape);
    memset(&bulk->plain, 0, sizeof bulk->plain);
    if (select_cases(bulk, false, &arena, &view, st) || fit(&view, &arena, st)) return st->code;
    bulk->plain = view.shape;
    take_scores(&view, false, bulk);
    if (select_cases(bulk, true, &arena, &view, st)) return st->code;
    if (view.n_cases == 0) {
        bulk->shape = bulk->plain;
        return FC_OK;
    }
    if (fit(&view, &arena, st)) return st->code;
    bulk->shape = view.shape;
    take_scores(&view, true, bulk);
    return FC_OK;
}

double fc_bulk_error_percent(const struct fc_bulk *bulk, bool with_kinds)
{
    double squares = 0;
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        const struct fc_bulk_case *c = &bulk->cases[i];
        double error = with_kinds ? fmax(c->left_network_percent, c->left_kind_percent) : c->left_network_percent;
        squares += error * error / bulk->n_cases;
    }
    return bulk->n_cases ? sqrt(squares) : (double)NAN;
}
