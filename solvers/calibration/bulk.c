/* bulk.c - how much longer than the contention model says a bulk phase takes in the kernel.
 *
 *     ratio = T_kernel / (T_links + T_fill)      (contention.c; T_links in whole flits, no software)
 *
 * Where the phase's time as a fluid is known (bulk_fluid.c), log (T_kernel / T_fluid), less the mean of all such cases, is a Gaussian process
 * (kriging.c) over the kind of pattern and seven features (bulk_point.c). Where it is not, log ratio is one of all cases, over the other
 * features. The error is what covers nine of ten cases left out (bulk_error.c) times the
 * process's standard deviation. A permutation of a name that was not run is taken for a random one; any other kind that was not
 * run is of none. What was run itself comes out as it was measured, and a pattern that was run on the very network has an error of its
 * own (bulk_near.c). Outside the hull of the kind's cases the error is OUTSIDE as wide.
 *
 * All-to-all, where LEAST_ALONE cases on LEAST_NETWORKS networks were run, has a process of its own cases alone about the trend
 *
 *     log anisotropy x (t0 + t1 / hops)
 *
 * because packets of the longest dimension hold up the others the more, the longer it is (Adiga et al. 2005; Kumar et al.,
 * ICPP 2008), which no sparse pattern shows; its errors are those of trend and process with each network left out. Limits:
 * what no case has, the process cannot know: several phases at once, software that delays some messages, background. */
#include "solvers/calibration/bulk.h"
#include "solvers/calibration/family_distance.h"

#include <string.h>

#define LEAST_ERROR_PERCENT 1.0 /* seeds alone move a run by that much */
#define OUTSIDE 1.2             /* an error outside of what was run, over that inside */
#define RIDGE 1e-3
/* Of what relatives err by; and of log ratio by distance, for another machine and for the same with other keys. */
#define RELATIVES 0.5
#define SLOPE 0.05
#define CHANGED_SLOPE 0.1
enum { LEAST_ALONE = 9, LEAST_NETWORKS = 4, TERMS = 4 }; /* TERMS: of the fit of a trend */

/* ---- what was run ---- */

/* kind "": any. */
static bool is_of(const struct fc_bulk_case *c, const char *kind)
{
    return !*kind || !strcmp(c->kind, kind);
}

/* The greatest hops of the cases times the last step in size, which leaving the largest network out has
 * tested. */
static double most_hops(const struct fc_bulk *bulk, const char *kind)
{
    double most = 0, next = 0;
    for (uint32_t i = 0; i < bulk->n_cases; i++)
        if (is_of(&bulk->cases[i], kind)) most = fmax(most, bulk->cases[i].at.hops);
    for (uint32_t i = 0; i < bulk->n_cases; i++)
        if (is_of(&bulk->cases[i], kind) && bulk->cases[i].at.hops < most * 0.99)
            next = fmax(next, bulk->cases[i].at.hops);
    return next >= 1 ? most * most / next : most;
}

/* Of the cases of the kind. */
static void check_hull(const struct fc_bulk *bulk, const char *kind, const struct fc_bulk_point *point,
                       struct fc_bulk_answer *answer)
{
    static const char *const names[FC_BULK_FEATURES] = {"packets a message",        "mean hops",
                                                        "anisotropy of link loads", "gain of the split",
                                                        "share of latency",         "time of fair shares over links",
                                                        "spread of destinations"};
    double x[FC_KRIGING_FEATURES], low[FC_BULK_FEATURES], high[FC_BULK_FEATURES];
    for (int f = 0; f < FC_BULK_FEATURES; f++) low[f] = INFINITY, high[f] = -INFINITY;
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        if (!is_of(&bulk->cases[i], kind)) continue;
        fc_bulk_features(&bulk->cases[i].at, x);
        for (int f = 0; f < FC_BULK_FEATURES; f++) low[f] = fmin(low[f], x[f]), high[f] = fmax(high[f], x[f]);
    }
    fc_bulk_features(point, x);
    low[1] = fmin(low[1], 1 / most_hops(bulk, kind));
    const double value[FC_BULK_FEATURES] = {point->packets,       point->hops,  point->anisotropy, point->split,
                                            point->latency_share, point->fluid, point->spread};
    for (int f = 0; f < FC_BULK_FEATURES && !answer->extrapolated; f++) {
        double margin = f == 1 ? FC_BULK_MARGIN * low[1] : FC_BULK_MARGIN;
        if (x[f] >= low[f] - margin && x[f] <= high[f] + margin) continue;
        answer->extrapolated = true;
        snprintf(answer->why, sizeof answer->why, "%s %.4g: no such phase was run", names[f], value[f]);
    }
}

static uint32_t group_of(const struct fc_bulk *bulk, const struct fc_network *net)
{
    char shape[512];
    fc_machine_shape(net->machine, shape, sizeof shape);
    for (uint32_t i = 0; i < bulk->n_cases; i++)
        if (!strcmp(bulk->cases[i].network, shape)) return i;
    return FC_KRIGING_NO_GROUP;
}

/* ---- all-to-all ---- */

/* trend[] by least squares of log ratio over 1, packets^-1/2, log anisotropy and that over hops; RIDGE keeps small what the
 * cases do not tell. */
static void fit_trend(struct fc_bulk *bulk)
{
    double a[TERMS][TERMS + 1] = {{0}}, x[FC_KRIGING_FEATURES];
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        fc_bulk_features(&bulk->cases[i].at, x);
        const double term[TERMS + 1] = {1, x[0], x[2], x[2] * x[1], log(bulk->cases[i].ratio)};
        for (int r = 0; r < TERMS; r++)
            for (int c = 0; c <= TERMS; c++) a[r][c] += term[r] * term[c];
    }
    for (int r = 0; r < TERMS; r++) a[r][r] += RIDGE;
    for (int r = 0; r < TERMS; r++) /* positive definite: no pivots needed */
        for (int k = 0; k < TERMS; k++) {
            double factor = a[k][r] / a[r][r];
            for (int c = r; c <= TERMS && k != r; c++) a[k][c] -= factor * a[r][c];
        }
    bulk->trend[0] = a[2][TERMS] / a[2][2];
    bulk->trend[1] = a[3][TERMS] / a[3][3];
}

/* Error of each case with its network left out, of trend and process; the shape stays. */
static enum fc_code leave_networks_out(struct fc_bulk *bulk, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_bulk others = {.shape = bulk->shape};
    others.cases = fc_alloc(arena, bulk->n_cases + 1, sizeof *others.cases, st);
    for (uint32_t i = 0; others.cases && i < bulk->n_cases && !st->code; i++) {
        struct fc_bulk_case *c = &bulk->cases[i];
        struct fc_kriging *kriging;
        double mean, value, deviation;
        struct fc_kriging_point at = {.kind = c->kind, .group = FC_KRIGING_NO_GROUP};
        others.n_cases = 0;
        for (uint32_t k = 0; k < bulk->n_cases; k++)
            if (strcmp(bulk->cases[k].network, c->network)) others.cases[others.n_cases++] = bulk->cases[k];
        fit_trend(&others);
        if (fc_bulk_open(&others, &kriging, &mean, st)) break;
        fc_bulk_features(&c->at, at.x);
        fc_kriging_at(kriging, &at, &value, &deviation);
        fc_kriging_close(kriging);
        double error = fc_bulk_trend(&others, at.x) + mean + value - log(c->ratio);
        c->network_score = fabs(error) / deviation;
        c->left_network_percent = 100 * fabs(expm1(error));
    }
    return st->code;
}

/* The cases of one kind alone, with a trend and a process of their own. False: too few. */
static bool alone(const struct fc_bulk *bulk, const char *kind, struct fc_arena *arena, struct fc_bulk *own,
                  struct fc_status *st)
{
    struct fc_kriging *kriging;
    double mean;
    int networks = 0;
    *own = (struct fc_bulk){.cases = fc_alloc(arena, bulk->n_cases + 1, sizeof *own->cases, st)};
    for (uint32_t i = 0; own->cases && i < bulk->n_cases; i++) {
        bool seen = false;
        if (strcmp(bulk->cases[i].kind, kind)) continue;
        for (uint32_t k = 0; k < own->n_cases; k++) seen |= !strcmp(own->cases[k].network, bulk->cases[i].network);
        networks += !seen;
        own->cases[own->n_cases] = bulk->cases[i];
        own->cases[own->n_cases++].at.fluid = 0;
    }
    if (st->code || own->n_cases < LEAST_ALONE || networks < LEAST_NETWORKS) return false;
    fit_trend(own);
    if (fc_bulk_open(own, &kriging, &mean, st)) return false;
    own->shape = *fc_kriging_shape_of(kriging);
    fc_kriging_close(kriging);
    return !leave_networks_out(own, arena, st);
}

static bool was_run(const struct fc_bulk *bulk, const char *kind)
{
    for (uint32_t i = 0; i < bulk->n_cases; i++)
        if (!strcmp(bulk->cases[i].kind, kind)) return true;
    return false;
}

/* The kind that the process answers for: itself, for another permutation a random one, "" of none that was run. */
static const char *kind_run(const struct fc_bulk *bulk, const char *kind)
{
    static const char *const others[] = {FC_BULK_ALL_TO_ALL, "stencil", FC_BULK_GRAPH};
    bool sends_to_one = true;
    for (size_t i = 0; i < FC_COUNT(others); i++) sends_to_one = sends_to_one && strcmp(kind, others[i]);
    if (was_run(bulk, kind)) return kind;
    return sends_to_one && was_run(bulk, FC_BULK_PERMUTATION) ? FC_BULK_PERMUTATION : "";
}

/* net NULL: a network that was not run. */
static enum fc_code process_ratio(const struct fc_bulk *bulk, const struct fc_network *net, const char *kind,
                                  const struct fc_bulk_point *point, struct fc_bulk_answer *answer,
                                  struct fc_status *st)
{
    struct fc_kriging *kriging;
    double mean, value, deviation;
    *answer = (struct fc_bulk_answer){.ratio = 1, .error_percent = NAN};
    if (fc_bulk_open(bulk, &kriging, &mean, st)) return st->code;
    struct fc_kriging_point at = {.kind = kind_run(bulk, kind),
                                  .group = net ? group_of(bulk, net) : FC_KRIGING_NO_GROUP};
    fc_bulk_features(point, at.x);
    fc_kriging_at(kriging, &at, &value, &deviation);
    double known, covers = fc_bulk_covers(bulk, at.kind), near = NAN;
    if (fc_bulk_missed(bulk, kriging, &at, &known)) fc_bulk_covers_near(bulk, kriging, at.kind, &near, st);
    fc_kriging_close(kriging);
    if (st->code) return st->code;
    answer->ratio = exp(fc_bulk_trend(bulk, at.x) + mean + value + known);
    if (strcmp(at.kind, kind)) covers = fmax(covers, fc_bulk_covers(bulk, ""));
    if (near < covers) covers = near;
    check_hull(bulk, at.kind, point, answer);
    if (answer->extrapolated) covers *= OUTSIDE;
    answer->error_percent = fmax(LEAST_ERROR_PERCENT, 100 * expm1(covers * deviation));
    return FC_OK;
}

/* All-to-all by its own process where there are enough cases: what it loses to unequal dimensions no other kind shows. Else by the process
 * about fluids where the phase's is known, or by the plain one. */
static enum fc_code ratio_of(const struct fc_bulk *bulk, const struct fc_network *net, const char *kind,
                             const struct fc_bulk_point *point, struct fc_bulk_answer *answer, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_bulk own;
    struct fc_bulk_point at = *point;
    *answer = (struct fc_bulk_answer){.ratio = 1, .error_percent = NAN};
    bool all_to_all = !strcmp(kind, FC_BULK_ALL_TO_ALL);
    bool found = all_to_all ? alone(bulk, kind, &arena, &own, st)
                            : at.fluid > 0 && !fc_bulk_view(bulk, true, &arena, &own, st) && own.n_cases > 0;
    if (all_to_all || !found) at.fluid = 0;
    if (!st->code && !found) fc_bulk_view(bulk, false, &arena, &own, st);
    return st->code ? st->code : process_ratio(&own, net, kind, &at, answer, st);
}

/* ---- relatives ---- */

bool fc_bulk_tells(const struct fc_bulk *bulk)
{
    return bulk && (bulk->n_cases > 0 || bulk->n_relatives > 0);
}

/* Mean of the relatives' log ratios (over the fluid, where that is known), less of it the farther the nearest is. The error: the root of the
 * weighted squares of what each errs by, of which RELATIVES counts, of how they differ, and of what distance adds. All-to-all, which
 * relatives know by processes without fluids, takes at least the machine's own fluid. */
static enum fc_code family_ratio(const struct fc_bulk *bulk, const struct fc_network *net, const char *kind,
                                 const struct fc_bulk_point *point, struct fc_bulk_answer *answer, struct fc_status *st)
{
    double mean = 0, second = 0, own = 0, least = INFINITY, fluid = 0;
    bool all_to_all = !strcmp(kind, FC_BULK_ALL_TO_ALL);
    if (point->fluid > 0 && !all_to_all) fluid = log(point->fluid);
    for (uint32_t i = 0; i < bulk->n_relatives; i++) {
        const struct fc_bulk_relative *r = &bulk->relatives[i];
        struct fc_bulk_answer one;
        if (ratio_of(r->bulk, r->distance > 0 && !bulk->before_changes ? NULL : net, kind, point, &one, st))
            return st->code;
        double log_ratio = log(one.ratio) - fluid, error = log1p(one.error_percent / 100);
        if (one.extrapolated && r->distance > 0 && !bulk->before_changes)
            error /= OUTSIDE; /* what is far is wider by distance */
        mean += r->weight * log_ratio;
        second += r->weight * log_ratio * log_ratio;
        own += r->weight * error * error;
        if (r->distance < least) {
            least = r->distance;
            answer->extrapolated = one.extrapolated;
            memcpy(answer->why, one.why, sizeof one.why);
        }
    }
    bool changed = bulk->before_changes;
    double differ = fmax(0, second - mean * mean), far = (changed ? CHANGED_SLOPE : SLOPE) * least;
    answer->ratio = exp(fluid + mean * (changed ? 1 : fc_family_fade(least, FC_FADE_PHASES)));
    if (all_to_all && !changed) answer->ratio = fmax(answer->ratio, point->fluid);
    answer->error_percent = 100 * expm1(sqrt((changed ? 1 : RELATIVES) * own + differ + far * far));
    return FC_OK;
}

enum fc_code fc_bulk_ratio(const struct fc_bulk *bulk, const struct fc_network *net, const char *kind,
                           const struct fc_bulk_point *point, struct fc_bulk_answer *answer, struct fc_status *st)
{
    *answer = (struct fc_bulk_answer){.ratio = 1, .error_percent = NAN};
    return bulk->n_relatives ? family_ratio(bulk, net, kind, point, answer, st)
                             : ratio_of(bulk, net, kind, point, answer, st);
}
