/* bulk_open.c - the Gaussian process over closed runs (kriging.c), of what their log ratio has beyond a trend:
 *
 *     log fluid                            T_fluid / reference, where the cases have one (bulk_fluid.c); else 0
 *     log anisotropy x (t0 + t1 / hops)    of all-to-all alone (bulk.c), no further than the anisotropy that was run
 *
 * and beyond the mean of all cases. */
#include "solvers/calibration/bulk.h"

#include <string.h>

double fc_bulk_trend(const struct fc_bulk *bulk, const double x[FC_KRIGING_FEATURES])
{
    double most = 0;
    if (bulk->trend[0] == 0 && bulk->trend[1] == 0) return x[5];
    for (uint32_t i = 0; i < bulk->n_cases; i++) most = fmax(most, log(bulk->cases[i].at.anisotropy));
    return fmin(x[2], most + FC_BULK_MARGIN) * (bulk->trend[0] + bulk->trend[1] * x[1]);
}

enum fc_code fc_bulk_open(const struct fc_bulk *bulk, struct fc_kriging **kriging, double *mean, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_kriging_point *points = fc_alloc(&arena, bulk->n_cases, sizeof *points, st);
    *kriging = NULL;
    *mean = 0;
    for (uint32_t i = 0; points && i < bulk->n_cases; i++) {
        fc_bulk_features(&bulk->cases[i].at, points[i].x);
        points[i].value = log(bulk->cases[i].ratio) - fc_bulk_trend(bulk, points[i].x);
        *mean += points[i].value / bulk->n_cases;
    }
    for (uint32_t i = 0; points && i < bulk->n_cases; i++) {
        const struct fc_bulk_case *c = &bulk->cases[i];
        uint32_t group = 0;
        while (strcmp(bulk->cases[group].network, c->network)) group++;
        points[i].kind = c->kind;
        points[i].value -= *mean;
        points[i].group = group;
    }
    if (points && bulk->shape.noise > 0)
        fc_kriging_make(points, bulk->n_cases, &bulk->shape, kriging, st);
    else if (points)
        fc_kriging_fit(points, bulk->n_cases, kriging, st);
    return st->code;
}
