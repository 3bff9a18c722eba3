/* kriging.c - a Gaussian process over kinds of traffic and features (Rasmussen & Williams, Gaussian Processes
 * for Machine Learning, 2006).
 *
 * With R the covariance of the n points over the variance s^2 and k that of a new point with them,
 *     value = k' R^-1 y,    variance = s^2 (1 + groups + noise - k' R^-1 k)                    (2.25, 2.26)
 *     M(r) = (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)                                (Matern 5/2, 4.17)
 * Points B left out are predicted by the others as (5.12 for one point; the same by blocks)
 *     y_B - e_B,  e_B = ((R^-1)_BB)^-1 (R^-1 y)_B,  covariance s^2 ((R^-1)_BB)^-1.
 * The shape is the one with the least of
 *     sum over left-out points of log(s^2 v_i),   s^2 = mean of e_i^2 / v_i  (its best value in closed form),
 * which is the log predictive probability (5.10): groups are left out, and kinds, and both sums are added.
 * It is searched coordinate by coordinate on a grid, from a middle one; a step must gain LEAST_GAIN, so that
 * what the points do not tell stays in the middle. Lengths count in half ranges of the feature, at least
 * LEAST_RANGE. Limits: no trend; one noise for all points; n^3. */
#include "solvers/calibration/kriging.h"
#include "solvers/gsl_errors.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <string.h>

#define LEAST_RANGE 0.2
#define LEAST_GAIN 0.5 /* of the log probability */
#define LEAST_VARIANCE 1e-12
enum { MOST_ROUNDS = 4 };

static const double lengths[] = {0.5, 1, 2, 4, 8}, kinds[] = {0, 0.25, 0.5, 0.75, 0.95},
                    groups[] = {0, 0.03, 0.1, 0.3, 1}, noises[] = {0.003, 0.01, 0.03, 0.1, 0.3, 1};
enum { MIDDLE_LENGTH = 2, MIDDLE_KINDS = 1, MIDDLE_GROUPS = 1, MIDDLE_NOISE = 2 };

struct fc_kriging {
    struct fc_arena arena;
    uint32_t n;
    struct fc_kriging_point *points; /* [n] */
    struct fc_kriging_shape shape;
    gsl_matrix *inverse; /* [n][n] R^-1 */
    gsl_vector *weights; /* [n] R^-1 y */
};

/* ---- covariance ---- */

static bool same_group(const struct fc_kriging_point *a, const struct fc_kriging_point *b)
{
    return a->group == b->group && a->group != FC_KRIGING_NO_GROUP;
}

/* Of two measurements, over the variance. */
static double covariance(const struct fc_kriging_shape *s, const struct fc_kriging_point *a,
                         const struct fc_kriging_point *b)
{
    double square = 0;
    for (int i = 0; i < FC_KRIGING_FEATURES; i++) {
        double d = (a->x[i] - b->x[i]) / s->length[i];
        square += d * d;
    }
    double r = sqrt(5 * square), alike = (1 + r + r * r / 3) * exp(-r);
    return (strcmp(a->kind, b->kind) ? s->kinds : 1) * alike + (same_group(a, b) ? s->groups : 0);
}

static double own_variance(const struct fc_kriging_shape *s)
{
    return 1 + s->groups + s->noise;
}

/* inverse and weights for the shape; false: R is not positive definite in doubles. */
static bool invert(struct fc_kriging *k)
{
    for (uint32_t i = 0; i < k->n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double r = i == j ? own_variance(&k->shape) : covariance(&k->shape, &k->points[i], &k->points[j]);
            gsl_matrix_set(k->inverse, i, j, r);
            gsl_matrix_set(k->inverse, j, i, r);
        }
    if (gsl_linalg_cholesky_decomp1(k->inverse) || gsl_linalg_cholesky_invert(k->inverse)) return false;
    for (uint32_t i = 0; i < k->n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < k->n; j++) sum += gsl_matrix_get(k->inverse, i, j) * k->points[j].value;
        gsl_vector_set(k->weights, i, sum);
    }
    return true;
}

void fc_kriging_at(const struct fc_kriging *k, const struct fc_kriging_point *point, double *value,
                   double *standard_deviation)
{
    double with[FC_KRIGING_MOST_POINTS], explained = 0;
    *value = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        with[i] = covariance(&k->shape, point, &k->points[i]);
        *value += with[i] * gsl_vector_get(k->weights, i);
    }
    for (uint32_t i = 0; i < k->n; i++)
        for (uint32_t j = 0; j < k->n; j++) explained += with[i] * gsl_matrix_get(k->inverse, i, j) * with[j];
    *standard_deviation = sqrt(k->shape.variance * fmax(own_variance(&k->shape) - explained, 0));
}

/* ---- leaving out ---- */

/* Whether point j goes when i goes. */
static bool goes_with(const struct fc_kriging *k, enum fc_kriging_left_out what, bool one_group, uint32_t i, uint32_t j)
{
    const struct fc_kriging_point *a = &k->points[i], *b = &k->points[j];
    if (i == j || what == FC_KRIGING_POINT) return i == j;
    return what == FC_KRIGING_KIND ? !strcmp(a->kind, b->kind) : !one_group && same_group(a, b);
}

static bool has_one_group(const struct fc_kriging *k)
{
    for (uint32_t i = 1; i < k->n; i++)
        if (!same_group(&k->points[0], &k->points[i])) return false;
    return true;
}

/* error[n] = e_i, variance[n] = v_i over s^2. block[n], done[n]: scratch. */
static bool leave_out(const struct fc_kriging *k, enum fc_kriging_left_out what, double *error, double *variance,
                      uint32_t *block, bool *done)
{
    bool one_group = has_one_group(k);
    memset(done, 0, k->n * sizeof *done);
    for (uint32_t first = 0; first < k->n; first++) {
        uint32_t n = 0;
        if (done[first]) continue;
        for (uint32_t j = first; j < k->n; j++)
            if (goes_with(k, what, one_group, first, j)) block[n++] = j, done[j] = true;
        gsl_matrix *part = gsl_matrix_alloc(n, n);
        bool good = part != NULL;
        for (uint32_t i = 0; good && i < n; i++)
            for (uint32_t j = 0; j < n; j++) gsl_matrix_set(part, i, j, gsl_matrix_get(k->inverse, block[i], block[j]));
        good = good && !gsl_linalg_cholesky_decomp1(part) && !gsl_linalg_cholesky_invert(part);
        for (uint32_t i = 0; good && i < n; i++) {
            double e = 0;
            for (uint32_t j = 0; j < n; j++) e += gsl_matrix_get(part, i, j) * gsl_vector_get(k->weights, block[j]);
            error[block[i]] = e;
            variance[block[i]] = gsl_matrix_get(part, i, i);
        }
        gsl_matrix_free(part);
        if (!good) return false;
    }
    return true;
}

double fc_kriging_residual(const struct fc_kriging *k, uint32_t at, uint32_t without)
{
    double weight = gsl_vector_get(k->weights, at);
    if (without != FC_NONE)
        weight -= gsl_matrix_get(k->inverse, at, without) / gsl_matrix_get(k->inverse, without, without) *
                  gsl_vector_get(k->weights, without);
    return k->shape.noise * weight;
}

struct scratch {
    double *error, *variance; /* [n] */
    uint32_t *block;          /* [n] */
    bool *done;               /* [n] */
};

static bool make_scratch(struct fc_arena *arena, uint32_t n, struct scratch *s, struct fc_status *st)
{
    s->error = fc_alloc(arena, n, sizeof *s->error, st);
    s->variance = s->error ? fc_alloc(arena, n, sizeof *s->variance, st) : NULL;
    s->block = s->variance ? fc_alloc(arena, n, sizeof *s->block, st) : NULL;
    s->done = s->block ? fc_alloc(arena, n, sizeof *s->done, st) : NULL;
    return s->done != NULL;
}

enum fc_code fc_kriging_errors(const struct fc_kriging *k, enum fc_kriging_left_out what, double *error,
                               double *standard_deviation, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct scratch s;
    fc_gsl_errors();
    if (make_scratch(&arena, k->n, &s, st) && !leave_out(k, what, s.error, s.variance, s.block, s.done))
        fc_refuse(st, FC_NO, "points cannot be left out of the correction: its covariance is singular");
    for (uint32_t i = 0; !st->code && i < k->n; i++) {
        error[i] = s.error[i];
        standard_deviation[i] = sqrt(k->shape.variance * s.variance[i]);
    }
    return st->code;
}

enum fc_code fc_kriging_leave_out(const struct fc_kriging *k, enum fc_kriging_left_out what, double *value,
                                  double *standard_deviation, struct fc_status *st)
{
    fc_kriging_errors(k, what, value, standard_deviation, st);
    for (uint32_t i = 0; !st->code && i < k->n; i++) value[i] = k->points[i].value - value[i];
    return st->code;
}

/* ---- the shape ---- */

/* -2 log probability of what is left out, up to a constant, and the variance that makes it least; INFINITY:
 * no such shape. */
static double cost(struct fc_kriging *k, const struct scratch *s)
{
    double squares = 0, logs = 0, n = 2.0 * k->n;
    if (!invert(k)) return INFINITY;
    for (int what = FC_KRIGING_GROUP; what <= FC_KRIGING_KIND; what++) {
        if (!leave_out(k, (enum fc_kriging_left_out)what, s->error, s->variance, s->block, s->done)) return INFINITY;
        for (uint32_t i = 0; i < k->n; i++) {
            squares += s->error[i] * s->error[i] / s->variance[i];
            logs += log(s->variance[i]);
        }
    }
    k->shape.variance = fmax(squares / n, LEAST_VARIANCE);
    return logs + n * log(k->shape.variance);
}

/* One number of the shape on its grid. */
struct axis {
    double *value, unit;
    const double *grid;
    int n, at;
};

static int make_axes(struct fc_kriging *k, struct axis *axes)
{
    int n = 0;
    for (int f = 0; f < FC_KRIGING_FEATURES; f++) {
        double least = INFINITY, most = -INFINITY;
        for (uint32_t i = 0; i < k->n; i++) {
            least = fmin(least, k->points[i].x[f]);
            most = fmax(most, k->points[i].x[f]);
        }
        double unit = fmax(most - least, LEAST_RANGE) / 2;
        k->shape.length[f] = unit * lengths[MIDDLE_LENGTH];
        /* A feature that is the same everywhere has nothing to tell its length. */
        if (most > least)
            axes[n++] = (struct axis){&k->shape.length[f], unit, lengths, FC_COUNT(lengths), MIDDLE_LENGTH};
    }
    axes[n++] = (struct axis){&k->shape.kinds, 1, kinds, FC_COUNT(kinds), MIDDLE_KINDS};
    axes[n++] = (struct axis){&k->shape.groups, 1, groups, FC_COUNT(groups), MIDDLE_GROUPS};
    axes[n++] = (struct axis){&k->shape.noise, 1, noises, FC_COUNT(noises), MIDDLE_NOISE};
    for (int i = 0; i < n; i++) *axes[i].value = axes[i].unit * axes[i].grid[axes[i].at];
    return n;
}

static void search(struct fc_kriging *k, const struct scratch *s)
{
    struct axis axes[FC_KRIGING_FEATURES + 3];
    int n = make_axes(k, axes);
    double best = cost(k, s);
    bool better = true;
    for (int round = 0; better && round < MOST_ROUNDS; round++) {
        better = false;
        for (int i = 0; i < n; i++) {
            struct axis *a = &axes[i];
            for (int sign = -1; sign <= 1; sign += 2)
                for (int at = a->at + sign; at >= 0 && at < a->n; at = a->at + sign) {
                    *a->value = a->unit * a->grid[at];
                    double tried = cost(k, s);
                    if (!(tried < best - 2 * LEAST_GAIN)) break;
                    best = tried;
                    a->at = at;
                    better = true;
                }
            *a->value = a->unit * a->grid[a->at];
        }
    }
    cost(k, s); /* the variance of what was chosen */
}

/* ---- open and close ---- */

static enum fc_code check(const struct fc_kriging_point *points, uint32_t n, struct fc_status *st)
{
    if (n == 0 || n > FC_KRIGING_MOST_POINTS)
        return fc_refuse(st, FC_INPUT, "a correction from %u points (expected 1 to %d)", n, FC_KRIGING_MOST_POINTS);
    for (uint32_t i = 0; i < n; i++) {
        bool good = isfinite(points[i].value);
        for (int f = 0; f < FC_KRIGING_FEATURES; f++) good = good && isfinite(points[i].x[f]);
        if (!good)
            return fc_refuse(st, FC_INPUT, "point %u of a correction (%s) is not a finite number", i, points[i].kind);
    }
    return FC_OK;
}

static enum fc_code check_shape(const struct fc_kriging_shape *s, struct fc_status *st)
{
    bool good = s->kinds >= 0 && s->kinds <= 1 && s->groups >= 0 && s->noise > 0 && s->variance >= 0;
    for (int f = 0; f < FC_KRIGING_FEATURES; f++) good = good && s->length[f] > 0;
    if (good && isfinite(s->groups + s->noise + s->variance)) return FC_OK;
    return fc_refuse(st, FC_INPUT,
                     "the shape of a correction is out of range: kinds %g (0 to 1), groups %g (at least 0), noise "
                     "%g (above 0), variance %g (at least 0), lengths above 0",
                     s->kinds, s->groups, s->noise, s->variance);
}

static enum fc_code open(const struct fc_kriging_point *points, uint32_t n, const struct fc_kriging_shape *shape,
                         struct fc_kriging *k, struct fc_status *st)
{
    struct scratch s;
    fc_gsl_errors();
    k->n = n;
    k->points = fc_alloc(&k->arena, n, sizeof *k->points, st);
    if (!k->points || !make_scratch(&k->arena, n, &s, st)) return st->code;
    memcpy(k->points, points, n * sizeof *points);
    k->inverse = gsl_matrix_alloc(n, n);
    k->weights = gsl_vector_alloc(n);
    if (!k->inverse || !k->weights) return fc_out_of_memory(st, "a correction");
    if (shape)
        k->shape = *shape;
    else
        search(k, &s);
    if (!invert(k)) return fc_refuse(st, FC_NO, "the covariance of a correction is singular");
    return FC_OK;
}

static enum fc_code make(const struct fc_kriging_point *points, uint32_t n, const struct fc_kriging_shape *shape,
                         struct fc_kriging **kriging, struct fc_status *st)
{
    struct fc_arena arena = {0};
    *kriging = NULL;
    if (check(points, n, st) || (shape && check_shape(shape, st))) return st->code;
    struct fc_kriging *k = fc_alloc(&arena, 1, sizeof *k, st);
    if (!k) return st->code;
    k->arena = arena;
    fc_gsl_errors();
    if (open(points, n, shape, k, st))
        fc_kriging_close(k);
    else
        *kriging = k;
    return st->code;
}

enum fc_code fc_kriging_fit(const struct fc_kriging_point *points, uint32_t n, struct fc_kriging **kriging,
                            struct fc_status *st)
{
    return make(points, n, NULL, kriging, st);
}

enum fc_code fc_kriging_make(const struct fc_kriging_point *points, uint32_t n, const struct fc_kriging_shape *shape,
                             struct fc_kriging **kriging, struct fc_status *st)
{
    return make(points, n, shape, kriging, st);
}

const struct fc_kriging_shape *fc_kriging_shape_of(const struct fc_kriging *k)
{
    return &k->shape;
}

void fc_kriging_close(struct fc_kriging *k)
{
    if (!k) return;
    struct fc_arena arena = k->arena; /* holds the struct too */
    gsl_matrix_free(k->inverse);
    gsl_vector_free(k->weights);
    fc_arena_free(&arena);
}
