/* bulk_fit.c - the shape of the process over closed runs (bulk.c), and what each of them errs by where its network, or its kind,
 * is left out. */
#include "solvers/calibration/bulk.h"

enum fc_code fc_bulk_fit(struct fc_bulk *bulk, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_kriging *kriging = NULL;
    double mean, *value = fc_alloc(&arena, bulk->n_cases, sizeof *value, st),
                 *deviation = fc_alloc(&arena, bulk->n_cases, sizeof *deviation, st);
    if (value && deviation && !fc_bulk_open(bulk, &kriging, &mean, st)) {
        bulk->shape = *fc_kriging_shape_of(kriging);
        for (int what = FC_KRIGING_GROUP; what <= FC_KRIGING_KIND && !st->code; what++) {
            if (fc_kriging_leave_out(kriging, (enum fc_kriging_left_out)what, value, deviation, st)) break;
            for (uint32_t i = 0; i < bulk->n_cases; i++) {
                struct fc_bulk_case *c = &bulk->cases[i];
                double error = FC_BULK_ROUNDS * log(c->at.rounds) + mean + value[i] - log(c->ratio),
                       percent = 100 * fabs(expm1(error));
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
