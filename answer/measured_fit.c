/* measured_fit.c - the end points of a machine from measured collectives.
 *
 * Minimises the sum over the rows chosen of w_i r_i^2, r_i = ln(predicted_i / measured_i), over the end points' values v_j.
 * Each is kept in its range by
 *
 *     v_j = least_j (most_j / least_j)^s(x_j),  s(x) = 1 / (1 + exp(-x)),
 *
 * and x is free. A walk by coordinates comes first, on Huber's loss of 0.1, which kinks do not stop (where another message
 * becomes the last one); then trust-region Levenberg-Marquardt (GSL multifit_nlinear) with differences of DIFFERENCE.
 * Weights are Huber's (Robust Statistics, 1981; GSL's manual, robust linear
 * regression), w = min(1, 1.345 sigma / |r|) with sigma = 1.4826 median |r|, renewed ROUNDS times, so that rows whose
 * algorithm is not what its name says do not pull. Intervals of 95 %: x_j +- 1.96 sqrt(C_jj), C = sigma^2 (J' W J)^-1. Rows of
 * one algorithm are not independent, so they are somewhat narrow. A value that no row feels (all |J_ij| < BLIND) stays.
 * Sizes at which something else begins (inline, eager, cache) are tried one by one, powers of two, when the rest is fitted, and
 * the rest then fitted again; one is taken where the loss falls to ENOUGH or less. The search begins at the machine file's
 * values, and at typical ones where it has none (node.exchange_bandwidth and software.own_per_byte are not fitted then): a minimum near them, not always the least of all. */
#include "answer/measured.h"
#include "core/values.h"
#include "solvers/gsl_errors.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERENCE 0.05
#define FIRST_STEP 0.4
#define LAST_STEP 0.03
#define BLIND 1e-3
#define HUBER 1.345
#define LEAST_SIGMA 0.02
#define ENOUGH 0.97 /* another size must lessen the loss to this part */
enum { ROUNDS = 2, MOST_STEPS = 5, MOST_TURNS = 4, LEAST_ROWS_A_VALUE = 2 };

struct fit {
    struct fc_measured *table;
    int threads;
    struct fc_progress *progress;
    struct fc_status *st;
    struct fc_arena arena;
    struct fc_end_values start;
    int point[FC_END_POINTS]; /* [n] those that are fitted */
    size_t n, n_rows;
    uint32_t *row;      /* [n_rows] the rows chosen */
    double *r, *sorted; /* [n_rows] */
    int done;           /* turns */
};

/* ---- which rows ---- */

static int by_size(const void *a, const void *b)
{
    const struct fc_measured_row *x = *(const struct fc_measured_row *const *)a,
                                 *y = *(const struct fc_measured_row *const *)b;
    int order = x->job < y->job ? -1 : x->job > y->job;
    if (!order) order = x->op < y->op ? -1 : x->op > y->op;
    if (!order) order = strcmp(x->algorithm, y->algorithm);
    if (!order) order = x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
    return order ? order : x->line < y->line ? -1 : 1;
}

uint32_t fc_measured_choose(struct fc_measured *t)
{
    struct fc_status st = {0};
    uint32_t n = 0, k = 0, number = 0, kind = 0;
    struct fc_measured_row **order = fc_alloc(&t->arena, t->n_rows, sizeof *order, &st);
    if (!order) return 0;
    for (uint32_t i = 0; i < t->n_rows; i++) {
        struct fc_measured_row *row = &t->rows[i];
        if (row->told) {
            row->fitted = row->fitted && !row->left_out;
            k += row->fitted;
            continue;
        }
        row->fitted = false;
        if (!row->left_out && t->jobs[row->job].n_ranks <= FC_MEASURED_FIT_RANKS) order[n++] = row;
    }
    qsort(order, n, sizeof(struct fc_measured_row *), by_size);
    for (uint32_t i = 0; i < n; i++) {
        bool new_kind = i == 0 || order[i]->job != order[i - 1]->job || order[i]->op != order[i - 1]->op ||
                        strcmp(order[i]->algorithm, order[i - 1]->algorithm);
        if (new_kind) /* so that every size is fitted to, of some algorithm */
            number = ++kind % 2;
        else
            number += order[i]->bytes > order[i - 1]->bytes;
        order[i]->fitted = number % 2 == 0;
        k += order[i]->fitted;
    }
    return k;
}

/* ---- values and residuals ---- */

static double value_at(int point, double x)
{
    const struct fc_end_point_range *range = &fc_end_points[point];
    return range->least * pow(range->most / range->least, 1 / (1 + exp(-x)));
}
static double place_of(int point, double value)
{
    const struct fc_end_point_range *range = &fc_end_points[point];
    double share = log(value / range->least) / log(range->most / range->least);
    share = fmin(0.98, fmax(0.02, share));
    return log(share / (1 - share));
}

static struct fc_end_values values_at(const struct fit *f, const gsl_vector *x)
{
    struct fc_end_values v = f->start;
    for (size_t j = 0; j < f->n; j++) v.value[f->point[j]] = value_at(f->point[j], gsl_vector_get(x, j));
    return v;
}

static int residuals(const gsl_vector *x, void *context, gsl_vector *out)
{
    struct fit *f = context;
    struct fc_end_values v = values_at(f, x);
    if (f->st->code || fc_measured_predict(f->table, &v, true, f->threads, f->st)) return GSL_EFAILED;
    for (size_t i = 0; i < f->n_rows; i++) {
        const struct fc_measured_row *row = &f->table->rows[f->row[i]];
        f->r[i] = isnan(row->predicted_s) ? 0 : log(row->predicted_s / row->measured_s);
        if (out) gsl_vector_set(out, i, f->r[i]);
    }
    return GSL_SUCCESS;
}

static double median_residual(struct fit *f)
{
    for (size_t i = 0; i < f->n_rows; i++) f->sorted[i] = fabs(f->r[i]);
    qsort(f->sorted, f->n_rows, sizeof *f->sorted, fc_by_real);
    return f->sorted[f->n_rows / 2];
}
static double sigma_of(struct fit *f)
{
    return fmax(LEAST_SIGMA, 1.4826 * median_residual(f));
}
/* Huber's loss with k = 0.1 of a logarithm: what the walk lessens, and what compares two ends. */
static double loss(struct fit *f)
{
    double sum = 0;
    for (size_t i = 0; i < f->n_rows; i++) {
        double r = fabs(f->r[i]), k = 0.1;
        sum += r <= k ? r * r : 2 * k * r - k * k;
    }
    return sum;
}

/* ---- the search ---- */

/* From x to a better x, and what the rows say of it: covariance [n][n]. */
static enum fc_code descend(struct fit *f, gsl_vector *x, gsl_matrix *covariance)
{
    gsl_multifit_nlinear_fdf fdf = {.f = residuals, .n = f->n_rows, .p = f->n, .params = f};
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    how.h_df = DIFFERENCE;
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, f->n_rows, f->n);
    gsl_vector *weights = gsl_vector_alloc(f->n_rows);
    if (!w || !weights) fc_out_of_memory(f->st, "a fit of %zu rows", f->n_rows);
    residuals(x, f, NULL);
    for (int round = 0; round < ROUNDS && !f->st->code; round++) {
        double sigma = sigma_of(f);
        for (size_t i = 0; i < f->n_rows; i++)
            gsl_vector_set(weights, i, fmin(1, HUBER * sigma / fmax(1e-12, fabs(f->r[i]))));
        int info, status = gsl_multifit_nlinear_winit(x, weights, &fdf, w);
        for (int step = 0; !status && step < MOST_STEPS; step++) {
            status = gsl_multifit_nlinear_iterate(w);
            if (!status && gsl_multifit_nlinear_test(1e-3, 1e-6, 1e-6, &info, w) == GSL_SUCCESS) break;
        }
        gsl_vector_memcpy(x, gsl_multifit_nlinear_position(w));
        residuals(x, f, NULL);
        if (!f->st->code && !gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 1e-10, covariance))
            gsl_matrix_scale(covariance, sigma * sigma);
    }
    if (w) gsl_multifit_nlinear_free(w);
    gsl_vector_free(weights);
    return f->st->code;
}

/* The values that some row feels. */
static enum fc_code choose_points(struct fit *f)
{
    double *at_start = fc_alloc(&f->arena, f->n_rows, sizeof *at_start, f->st);
    const struct fc_end_values kept = f->start;
    int point[FC_END_POINTS];
    size_t n = 0;
    f->n = 0; /* all values as they are in f->start */
    if (!at_start || residuals(NULL, f, NULL)) return f->st->code;
    memcpy(at_start, f->r, f->n_rows * sizeof *at_start);
    for (int p = 0; p < FC_END_SIZES; p++) {
        double most = 0;
        if (p == FC_END_EAGER_START && f->start.value[FC_END_INLINE] == 0) continue; /* not to be told from o */
        f->start.value[p] *= 0.9;
        if (residuals(NULL, f, NULL)) return f->st->code;
        f->start = kept;
        for (size_t i = 0; i < f->n_rows; i++) most = fmax(most, fabs(f->r[i] - at_start[i]));
        if (most > BLIND) point[n++] = p;
    }
    memcpy(f->point, point, sizeof point);
    f->n = n;
    return FC_OK;
}

/* ---- sizes at which something else begins ---- */

/* Takes `size` of point p, with another point's value beside it, where that lessens the loss. */
static enum fc_code try_size(struct fit *f, int p, double size, int beside, double value, double *least)
{
    const struct fc_end_values kept = f->start;
    f->start.value[p] = size;
    if (beside >= 0) f->start.value[beside] = value;
    f->n = 0;
    if (residuals(NULL, f, NULL)) return f->st->code;
    if (loss(f) < *least * ENOUGH)
        *least = loss(f);
    else
        f->start = kept;
    return FC_OK;
}

/* With everything else as it is: where eager ends, up to where messages go with their request, what the cache holds. */
static enum fc_code choose_sizes(struct fit *f)
{
    static const double starts[] = {1e-7, 3e-7, 1e-6}, times[] = {1.5, 2.5, 4};
    const struct fc_end_values at = f->start;
    f->n = 0;
    if (residuals(NULL, f, NULL)) return f->st->code;
    double least = loss(f);
    for (double size = fc_end_points[FC_END_EAGER].least; size <= fc_end_points[FC_END_EAGER].most; size *= 2)
        if (try_size(f, FC_END_EAGER, size, -1, 0, &least)) return f->st->code;
    for (double size = 64; size <= fc_end_points[FC_END_INLINE].most; size *= 2)
        for (size_t i = 0; i < FC_COUNT(starts); i++)
            if (try_size(f, FC_END_INLINE, size, FC_END_EAGER_START, starts[i], &least)) return f->st->code;
    for (double size = fc_end_points[FC_END_CACHE].least; size <= 256 << 20; size *= 2)
        for (size_t i = 0; i < FC_COUNT(times); i++)
            if (try_size(f, FC_END_CACHE, size, FC_END_REDUCE_MEMORY, times[i] * at.value[FC_END_REDUCE], &least))
                return f->st->code;
    return FC_OK;
}

/* ---- the fit ---- */

/* By coordinates: factors exp(+-step), halved until LAST_STEP does not help. Kinks do not stop it. */
static enum fc_code walk(struct fit *f)
{
    if (choose_points(f)) return f->st->code;
    size_t n = f->n;
    f->n = 0;
    if (residuals(NULL, f, NULL)) return f->st->code;
    double least = loss(f);
    for (double step = FIRST_STEP; step >= LAST_STEP; step /= 2)
        for (int turn = 0; turn < MOST_TURNS; turn++) {
            double before = least;
            for (size_t j = 0; j < n; j++) {
                const struct fc_end_point_range *range = &fc_end_points[f->point[j]];
                double *value = &f->start.value[f->point[j]], kept = *value;
                for (int way = 1; way >= -1; way -= 2) {
                    *value = fmin(range->most, fmax(range->least, kept * exp(way * step)));
                    if (residuals(NULL, f, NULL)) return f->st->code;
                    double now = loss(f);
                    if (now < least) {
                        least = now;
                        break;
                    }
                    *value = kept;
                }
            }
            if (f->progress) fc_progress_show(f->progress, fmin(0.99, ++f->done / 25.0), "fitting end points");
            if (least > before * 0.999) break;
        }
    f->n = n;
    return FC_OK;
}

/* The last steps and the intervals, from where the walk ended. */
static enum fc_code finish(struct fit *f, struct fc_measured_fit *fit)
{
    if (choose_points(f)) return f->st->code;
    if (f->n == 0 || f->n_rows < LEAST_ROWS_A_VALUE * f->n)
        return fc_refuse(
            f->st, FC_NO,
            "%s: %zu rows are too few to fit %zu end points to (expected %zu or more, of jobs of at most %d ranks)",
            f->table->file, f->n_rows, f->n, LEAST_ROWS_A_VALUE * (f->n ? f->n : 1), FC_MEASURED_FIT_RANKS);
    gsl_vector *x = gsl_vector_alloc(f->n);
    gsl_matrix *covariance = gsl_matrix_calloc(f->n, f->n);
    if (!x || !covariance) fc_out_of_memory(f->st, "a fit of %zu values", f->n);
    for (size_t j = 0; x && j < f->n; j++) gsl_vector_set(x, j, place_of(f->point[j], f->start.value[f->point[j]]));
    fit->values = f->start;
    if (!f->st->code && !residuals(x, f, NULL)) {
        double least = loss(f);
        fit->residual = median_residual(f);
        if (!descend(f, x, covariance) && loss(f) < least) {
            fit->values = values_at(f, x);
            fit->residual = median_residual(f);
        }
    }
    for (int p = 0; p < FC_END_POINTS; p++) fit->fitted[p] = false, fit->low.value[p] = fit->high.value[p] = NAN;
    for (size_t j = 0; j < f->n && !f->st->code; j++) {
        int p = f->point[j];
        double half = 1.96 * sqrt(fmax(0, gsl_matrix_get(covariance, j, j))), at = place_of(p, fit->values.value[p]);
        fit->fitted[p] = true;
        fit->low.value[p] = value_at(p, at - half);
        fit->high.value[p] = value_at(p, at + half);
    }
    gsl_vector_free(x);
    gsl_matrix_free(covariance);
    return f->st->code;
}

/* Where the search begins: at the file's values, and typical ones where it has none. */
static struct fc_end_values start_of(const struct fc_machine *m, const struct fc_end_values *before)
{
    struct fc_end_values v = *before;
    double injection = m->classes[m->n_classes - 1].bandwidth_bytes_per_s;
    for (int p = 0; p < FC_END_SIZES; p++) {
        bool waits = p == FC_END_EAGER_START || p == FC_END_REDUCE_MEMORY; /* for a size (choose_sizes) */
        if (p == FC_END_EXCHANGE || p == FC_END_OWN) continue;
        if (waits || (v.value[p] != 0 && !isinf(v.value[p]))) continue;
        v.value[p] = p == FC_END_PORT && isfinite(injection) ? injection : fc_end_points[p].typical;
    }
    return v;
}

enum fc_code fc_measured_fit(struct fc_measured *t, int threads, struct fc_progress *progress,
                             struct fc_measured_fit *fit, struct fc_status *st)
{
    struct fit f = {.table = t, .threads = threads, .progress = progress, .st = st};
    const struct fc_machine *machine = NULL;
    memset(fit, 0, sizeof *fit);
    fc_gsl_errors();
    f.row = fc_alloc(&f.arena, t->n_rows, sizeof *f.row, st);
    f.r = fc_alloc(&f.arena, t->n_rows, sizeof *f.r, st);
    f.sorted = fc_alloc(&f.arena, t->n_rows, sizeof *f.sorted, st);
    for (uint32_t i = 0; i < t->n_rows && !st->code; i++)
        if (t->rows[i].fitted) f.row[f.n_rows++] = i;
    for (uint32_t j = 0; j < t->n_jobs && !machine; j++)
        if (t->jobs[j].open) machine = &t->jobs[j].session.machine;
    if (!st->code && (!machine || f.n_rows == 0))
        fc_refuse(
            st, FC_NO,
            "%s: no row can be fitted to (expected jobs of at most %d ranks that fit the machine, two sizes or more of an "
            "algorithm)",
            t->file, FC_MEASURED_FIT_RANKS);
    if (!st->code) {
        fit->n_fitted = (uint32_t)f.n_rows;
        fit->before = fc_end_values_of(machine);
        f.start = start_of(machine, &fit->before);
        if (!walk(&f) && !choose_sizes(&f) && !walk(&f)) finish(&f, fit);
        for (int p = 0; p < FC_END_POINTS && !st->code; p++)
            if (!fit->fitted[p] && p < FC_END_SIZES) fit->values.value[p] = fit->before.value[p];
    }
    for (uint32_t j = 0; j < t->n_jobs && !st->code; j++)
        if (t->jobs[j].open) fc_end_values_set(&fit->values, &t->jobs[j].session.machine);
    fc_arena_free(&f.arena);
    return st->code;
}
