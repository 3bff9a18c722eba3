/* bulk_near.c - phases whose pattern was run on the very network, in other lengths.
 *
 * What the process (bulk.c) misses of that pattern there, r_j = log ratio_j - process_j, is added to its answer, weighted by nearness in
 * length and latency (Shepard) and fading over LIKE_LENGTH, so that what was run comes out again:
 *
 *     sum_j v_j r_j / (sum_j v_j + 1 / LIKE_LENGTH),   1 / v_j = |packets^-1/2 - ..._j| + |latency share - ..._j|
 *
 * The error: each case with such neighbours is left out alone, its answer found in the same way from all others (kriging.c, in
 * closed form), and its score, by how many of the process's standard deviations it was off, is one of those that cover nine of ten
 * (bulk_error.c). With whole networks left out, errors would be those of another network. Limits: the mean of all
 * cases stays as it is; lengths beyond those that were run are as uncertain as the longest. */
#include "solvers/calibration/bulk.h"

#include <string.h>

#define LIKE_LENGTH 0.25 /* of packets^-1/2 */
#define SAME 0.03        /* features of one pattern on one network */
enum { LEAST_SCORES = 10 };

/* `network`: number of the first case of its network. */
static bool is_like(const struct fc_bulk *bulk, uint32_t i, uint32_t network, const char *kind, const double *x)
{
    const struct fc_bulk_case *c = &bulk->cases[i];
    double there[FC_KRIGING_FEATURES];
    if (strcmp(c->network, bulk->cases[network].network) || strcmp(c->kind, kind)) return false;
    fc_bulk_features(&c->at, there);
    for (int f = 1; f < 4; f++)
        if (!(fabs(there[f] - x[f]) < SAME)) return false;
    return true;
}

/* `without`: a case that is not there, or FC_NONE. */
static bool missed(const struct fc_bulk *bulk, const struct fc_kriging *kriging, const struct fc_kriging_point *at,
                   uint32_t without, double *value)
{
    double sum = 0, weights = 0, there[FC_KRIGING_FEATURES];
    for (uint32_t i = 0; i < bulk->n_cases && at->group != FC_KRIGING_NO_GROUP; i++) {
        if (i == without || !is_like(bulk, i, at->group, at->kind, at->x)) continue;
        fc_bulk_features(&bulk->cases[i].at, there);
        double weight = 1 / (1e-6 + fabs(there[0] - at->x[0]) + fabs(there[4] - at->x[4]));
        sum += weight * fc_kriging_residual(kriging, i, without);
        weights += weight;
    }
    *value = sum / (weights + 1 / LIKE_LENGTH);
    return weights > 0;
}

bool fc_bulk_missed(const struct fc_bulk *bulk, const struct fc_kriging *kriging, const struct fc_kriging_point *at,
                    double *value)
{
    return missed(bulk, kriging, at, FC_NONE, value);
}

enum fc_code fc_bulk_covers_near(const struct fc_bulk *bulk, const struct fc_kriging *kriging, const char *kind,
                                 double *covers, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    double *error = fc_alloc(&arena, bulk->n_cases, sizeof *error, st),
           *deviation = fc_alloc(&arena, bulk->n_cases, sizeof *deviation, st);
    uint32_t n = 0;
    *covers = NAN;
    if (!error || !deviation || fc_kriging_errors(kriging, FC_KRIGING_POINT, error, deviation, st)) return st->code;
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        struct fc_kriging_point at = {.kind = bulk->cases[i].kind};
        double known;
        while (strcmp(bulk->cases[at.group].network, bulk->cases[i].network)) at.group++;
        fc_bulk_features(&bulk->cases[i].at, at.x);
        bool near = missed(bulk, kriging, &at, i, &known);
        error[i] = near ? fabs(error[i] - known) / deviation[i] : (double)NAN;
        n += near;
    }
    if (n >= LEAST_SCORES) *covers = fc_bulk_covers_scores(bulk, error, kind);
    return FC_OK;
}
