/* calibration_fit.c - the parameters of the queueing model from kernel points, with intervals.
 *
 * Least squares of logarithms. Residuals of a case with kernel latencies T_i at loads L_i <= 0.86 s*, s* the
 * kernel's saturation, and the model's latencies T(L) and saturation s: log(T(L_i) / T_i) for L_i <= 0.98 s,
 *     log(T(0.98 s) / T_i) + 2 log(L_i / (0.98 s))      above: keeps a gradient where the model has no steady
 * state (where errors are judged: in place of 0.98 s the greatest 0.98^n s, n < 16, that has one), 3 log(s / s*). Minimised
 * over the logarithms of the free parameters by trust-region Levenberg-Marquardt (GSL multifit_nlinear) with a Jacobian of differences of DIFFERENCE, wide enough for
 * the kinks at the model's saturation, and then by a coordinate pattern search (factors exp(+-d)), which
 * kinks do not stop, until steps of LAST_STEP do not help. When parameters are fitted without some cases, one
 * Gauss-Newton step from the full fit by its Jacobian, halved until it helps. Intervals: log p +- t_{0.975, n
 * - m} sqrt(s^2 (J^T J)^-1), s^2 = sum of squares / (n - m). Residuals of one case are not independent, so
 * the intervals are somewhat narrow. Identifiability: a parameter whose interval is wider than a factor 4
 * either way stands at its default and the fit is repeated, the widest first; one that runs to an end of its
 * range stands there. */
#include "solvers/calibration/calibration_fit.h"
#include "solvers/gsl_errors.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <string.h>

#define FIRST_STEP 0.3
#define LAST_STEP 0.05
#define DIFFERENCE 0.05
#define MOST_STEP 0.7 /* of a logarithm when cases are left out */
#define WIDEST_FACTOR 4.0
#define EDGE 0.98
#define SOLVE_ACCURACY 1e-5
#define SATURATION_ACCURACY 1e-3
enum { MOST_ROUNDS = 16, MOST_LM_STEPS = 12, MOST_HALVINGS = 3, MOST_BELOW = 16 };

static const struct range {
    double low, high;
    double start;    /* where the search begins when the default is an end */
    double when_low; /* stands for a parameter at the low end of its range */
} ranges[FC_Q_PARAMETERS] = {
    [FC_Q_CONTENTION] = {0.3, 3, 1, 0.3}, [FC_Q_INPUT_QUEUE] = {0.03, 10, 1, 0}, [FC_Q_BACKPRESSURE] = {0.03, 60, 1, 0},
    [FC_Q_PORT] = {0.01, 3, 0.3, 0},      [FC_Q_CHOICE] = {0.05, 5, 1, 0},       [FC_Q_GAP] = {3e-4, 0.3, 0.01, 0},
};

/* ---- residuals ---- */

static int rows_of(const struct fc_calibration_case *k)
{
    int n = 1;
    for (int i = 0; i < k->n_points; i++) n += k->points[i].load_share <= FC_CALIBRATION_FIT_TO;
    return n;
}

/* The model's saturation by these parameters: job->saturation. */
static enum fc_code find_saturation(struct fc_calibration_job *job, const struct fc_queueing_parameters *p,
                                    struct fc_status *st)
{
    return fc_queueing_saturation_near(job->queueing, p, job->saturation, SATURATION_ACCURACY, &job->saturation, st);
}

/* Mean latency of the model at a share of its saturation. or_below: at the next lower *share that has a steady state, as that may
 * end with a jump, short of a saturation that is known to SATURATION_ACCURACY. */
static enum fc_code latency_at(struct fc_calibration_job *job, const struct fc_queueing_parameters *p, bool or_below,
                               double *share, double *latency, struct fc_status *st)
{
    double asked = *share;
    for (int tries = 0; tries == 0 || (or_below && tries < MOST_BELOW); tries++, *share *= EDGE) {
        struct fc_status none = {0};
        struct fc_queueing_answer a;
        enum fc_code code = fc_queueing_solve(job->queueing, p, *share * job->saturation, &a, &none);
        *latency = a.latency_mean_cycles;
        if (!code && a.stable) return FC_OK;
        if (code && (code != FC_NO || !or_below)) {
            *st = none;
            return code;
        }
    }
    return fc_refuse(st, FC_NO, "%s, %s: no steady state at %g of the model's saturation", job->out->network,
                     job->out->pattern, asked);
}

enum fc_code fc_calibration_compare(struct fc_calibration_job *job, const struct fc_queueing_parameters *p,
                                    const struct fc_corrected *corrected, double *log_ratio, double *log_saturation,
                                    struct fc_status *st)
{
    const struct fc_calibration_case *k = job->out;
    double latency = NAN, at = NAN, solved = NAN;
    if (find_saturation(job, p, st)) return st->code;
    *log_saturation = log(job->saturation / k->saturation) - (corrected ? corrected->saturation : 0);
    for (int i = 0; i < k->n_points; i++) {
        double x = k->points[i].load_share * exp(-*log_saturation), share = fmin(x, EDGE);
        if (share != at) {
            at = solved = share;
            if (latency_at(job, p, corrected != NULL, &solved, &latency, st)) return st->code;
        }
        log_ratio[i] = log(latency / k->points[i].latency_cycles) + 2 * log(x / solved);
        if (corrected) log_ratio[i] -= fc_corrected_latency(corrected, solved);
    }
    return FC_OK;
}

enum fc_code fc_calibration_ratios(struct fc_calibration_job *job, const struct fc_queueing_parameters *p,
                                   struct fc_status *st)
{
    struct fc_calibration_case *k = job->out;
    if (find_saturation(job, p, st)) return st->code;
    k->saturation_ratio = job->saturation / k->saturation;
    for (int i = 0; i < k->n_points; i++) {
        double latency = NAN, asked = k->points[i].load_share, solved = asked;
        if (latency_at(job, p, true, &solved, &latency, st)) return st->code;
        k->points[i].model_ratio = latency / k->points[i].latency_cycles * pow(asked / solved, 2);
    }
    return FC_OK;
}

/* All rows of the fit for these parameters; the sum of squares. Where the model has no answer the sum is
 * infinite. */
static double residuals(struct fc_fit *f, const struct fc_queueing_parameters *p, double *r)
{
    bool bad = false;
    f->n_evaluations++;
#pragma omp parallel for num_threads(fc_threads(f->threads)) schedule(dynamic, 1) reduction(|| : bad)
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        struct fc_calibration_job *job = f->jobs[j];
        double log_ratio[FC_CALIBRATION_MOST_POINTS], log_saturation = NAN;
        struct fc_status why = {0};
        double *row = r + f->first_row[j];
        if (!f->use[j]) continue;
        if (fc_calibration_compare(job, p, NULL, log_ratio, &log_saturation, &why)) {
            bad = true;
            continue;
        }
        int n = 0;
        for (int i = 0; i < job->out->n_points; i++)
            if (job->out->points[i].load_share <= FC_CALIBRATION_FIT_TO) row[n++] = log_ratio[i];
        row[n] = 3 * log_saturation;
    }
    double sum = 0;
    for (uint32_t j = 0; j < f->n_jobs; j++)
        for (int i = f->first_row[j]; f->use[j] && i < f->first_row[j + 1]; i++) sum += r[i] * r[i];
    return bad || !isfinite(sum) ? INFINITY : sum;
}

/* ---- pattern search ---- */

static double clamp(int parameter, double value)
{
    return fmin(fmax(value, ranges[parameter].low), ranges[parameter].high);
}

static void search(struct fc_fit *f, double step, struct fc_queueing_parameters *p)
{
    double best = residuals(f, p, f->r);
    int direction[FC_Q_PARAMETERS] = {0};
    for (int round = 0; round < MOST_ROUNDS && step >= LAST_STEP; round++) {
        bool better = false;
        for (int i = 0; i < f->n_free; i++) {
            int k = f->free[i], first = direction[i] ? direction[i] : 1;
            for (int side = 0; side < 2; side++) {
                struct fc_queueing_parameters tried = *p;
                int sign = side ? -first : first;
                tried.value[k] = clamp(k, p->value[k] * exp(sign * step));
                if (tried.value[k] == p->value[k]) continue;
                double sum = residuals(f, &tried, f->trial);
                if (!(sum < best * (1 - 1e-6))) continue;
                best = sum;
                *p = tried;
                direction[i] = sign;
                better = true;
                break;
            }
        }
        if (!better) step /= 2;
    }
}

/* ---- trust region, Jacobian and intervals ---- */

struct lm {
    struct fc_fit *f;
    struct fc_queueing_parameters base;
};

static void from_logs(const struct lm *m, const gsl_vector *x, struct fc_queueing_parameters *p)
{
    *p = m->base;
    for (int i = 0; i < m->f->n_free; i++)
        p->value[m->f->free[i]] = clamp(m->f->free[i], exp(gsl_vector_get(x, (size_t)i)));
}

/* The rows of the jobs in use, one after the other. */
static void pack(const struct fc_fit *f, const double *r, gsl_vector *out)
{
    size_t n = 0;
    for (uint32_t j = 0; j < f->n_jobs; j++)
        for (int i = f->first_row[j]; f->use[j] && i < f->first_row[j + 1]; i++) gsl_vector_set(out, n++, r[i]);
}

static int lm_residuals(const gsl_vector *x, void *data, gsl_vector *r)
{
    struct lm *m = data;
    struct fc_queueing_parameters p;
    from_logs(m, x, &p);
    if (!isfinite(residuals(m->f, &p, m->f->trial))) return GSL_EDOM;
    pack(m->f, m->f->trial, r);
    return GSL_SUCCESS;
}

/* Column i: (r(x + h e_i) - r(x)) / h. */
static int lm_jacobian(const gsl_vector *x, void *data, gsl_matrix *jacobian)
{
    struct lm *m = data;
    gsl_vector *moved = gsl_vector_alloc(x->size), *here = gsl_vector_alloc(jacobian->size1),
               *there = gsl_vector_alloc(jacobian->size1);
    int status = moved && here && there ? lm_residuals(x, m, here) : GSL_ENOMEM;
    for (size_t i = 0; !status && i < x->size; i++) {
        gsl_vector_memcpy(moved, x);
        /* Back where forward leaves the range. */
        double at = gsl_vector_get(x, i),
               h = at + DIFFERENCE < log(ranges[m->f->free[i]].high) ? DIFFERENCE : -DIFFERENCE;
        gsl_vector_set(moved, i, at + h);
        status = lm_residuals(moved, m, there);
        if (status) break;
        gsl_vector_sub(there, here);
        gsl_vector_scale(there, 1 / h);
        gsl_matrix_set_col(jacobian, i, there);
    }
    gsl_vector_free(moved);
    gsl_vector_free(here);
    gsl_vector_free(there);
    return status;
}

static size_t used_rows(const struct fc_fit *f)
{
    size_t n = 0;
    for (uint32_t j = 0; j < f->n_jobs; j++) n += f->use[j] ? (size_t)(f->first_row[j + 1] - f->first_row[j]) : 0;
    return n;
}

/* Some steps of Levenberg-Marquardt from *p, taken when better. */
static enum fc_code polish(struct fc_fit *f, struct fc_queueing_parameters *p, struct fc_status *st)
{
    struct lm m = {f, *p};
    size_t n = used_rows(f), k = (size_t)f->n_free;
    if (k == 0 || n <= k) return FC_OK;
    fc_gsl_errors();
    gsl_multifit_nlinear_fdf fdf = {.f = lm_residuals, .df = lm_jacobian, .n = n, .p = k, .params = &m};
    gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings, n, k);
    gsl_vector *x = gsl_vector_alloc(k);
    if (w && x) {
        double before = residuals(f, p, f->r);
        for (size_t i = 0; i < k; i++) gsl_vector_set(x, i, log(p->value[f->free[i]]));
        int status = gsl_multifit_nlinear_init(x, &fdf, w);
        for (int i = 0; !status && i < MOST_LM_STEPS; i++) {
            status = gsl_multifit_nlinear_iterate(w);
            int info;
            if (!status && gsl_multifit_nlinear_test(1e-3, 1e-5, 1e-6, &info, w) == GSL_SUCCESS) break;
        }
        struct fc_queueing_parameters better;
        from_logs(&m, w->x, &better);
        if (residuals(f, &better, f->r) < before) *p = better;
    } else {
        fc_out_of_memory(st, "the fit");
    }
    if (w) gsl_multifit_nlinear_free(w);
    gsl_vector_free(x);
    return st->code;
}

/* Half widths of the 95 % intervals of the logarithms; INFINITY where the data says nothing. */
static enum fc_code intervals(struct fc_fit *f, const struct fc_queueing_parameters *p, double *half,
                              struct fc_status *st)
{
    struct lm m = {f, *p};
    size_t n = used_rows(f), k = (size_t)f->n_free;
    for (size_t i = 0; i < k; i++) half[i] = INFINITY;
    if (k == 0 || n <= k) return FC_OK;
    double sum = residuals(f, p, f->r), dof = (double)(n - k);
    gsl_matrix *jacobian = gsl_matrix_alloc(n, k), *covariance = gsl_matrix_alloc(k, k);
    gsl_vector *x = gsl_vector_alloc(k);
    if (!jacobian || !covariance || !x) {
        fc_out_of_memory(st, "the fit");
    } else {
        for (size_t i = 0; i < k; i++) gsl_vector_set(x, i, log(p->value[f->free[i]]));
        int status = lm_jacobian(x, &m, jacobian);
        for (size_t i = 0; !status && i < n * k; i++) f->jacobian[i] = gsl_matrix_get(jacobian, i / k, i % k);
        if (!status && !gsl_multifit_nlinear_covar(jacobian, 1e-8, covariance))
            for (size_t i = 0; i < k; i++) {
                double variance = gsl_matrix_get(covariance, i, i); /* 0: a column that depends on the others */
                if (variance > 0) half[i] = gsl_cdf_tdist_Pinv(0.975, dof) * sqrt(variance * sum / dof);
            }
    }
    gsl_matrix_free(jacobian);
    gsl_matrix_free(covariance);
    gsl_vector_free(x);
    return st->code;
}

/* ---- which parameters are free ---- */

/* What the model of some case looks at: port with several virtual channels, choice where a head may choose.
 */
static bool matters(const struct fc_fit *f, int parameter)
{
    bool choice = false, port = false;
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        const struct fc_turns *t = &f->jobs[j]->turns;
        if (!f->use[j]) continue;
        port = port || t->n_vcs > 1;
        for (uint32_t s = 0; s < t->n_states && !choice; s++)
            choice = t->state_in[s] != FC_NONE && t->first_choice[s + 1] - t->first_choice[s] > 1;
    }
    return parameter == FC_Q_PORT ? port : parameter == FC_Q_CHOICE ? choice : true;
}

static void drop(struct fc_fit *f, int which)
{
    memmove(f->free + which, f->free + which + 1, (size_t)(f->n_free - which - 1) * sizeof *f->free);
    f->n_free--;
}

/* What parameters are that were not fitted, and whether the fit begins there: of routers with a stage for virtual channels; the
 * others' calibrations were made from FC_Q_PORT as measured nowhere. */
static bool theory(const struct fc_fit *f, struct fc_queueing_parameters *p)
{
    bool stage = f->n_jobs > 0 && f->jobs[0]->turns.stage > 0;
    if (stage)
        fc_queueing_theory(&f->jobs[0]->turns, p);
    else
        fc_queueing_defaults(p);
    return stage;
}

/* The free parameter that is to stand still, and its value; false: all stay free. */
static bool fix_one(struct fc_fit *f, const double *half, struct fc_queueing_parameters *p)
{
    struct fc_queueing_parameters defaults;
    int worst = -1;
    theory(f, &defaults);
    for (int i = 0; i < f->n_free; i++) {
        const struct range *range = &ranges[f->free[i]];
        double value = p->value[f->free[i]];
        if (value > range->low * 1.001 && value < range->high * 0.999) continue;
        p->value[f->free[i]] = value < range->high * 0.999 ? range->when_low : range->high;
        drop(f, i);
        return true;
    }
    for (int i = 0; i < f->n_free; i++)
        if (half[i] > log(WIDEST_FACTOR) && (worst < 0 || half[i] > half[worst])) worst = i;
    if (worst < 0) return false;
    p->value[f->free[worst]] = defaults.value[f->free[worst]];
    drop(f, worst);
    return true;
}

void fc_fit_start(struct fc_fit *f, struct fc_queueing_parameters *p)
{
    bool all = theory(f, p);
    f->n_free = 0;
    for (int i = 0; i < FC_Q_PARAMETERS; i++) {
        if (!matters(f, i)) continue;
        f->free[f->n_free++] = i;
        if (!all || !(p->value[i] > ranges[i].low)) p->value[i] = ranges[i].start;
    }
}

void fc_fit_by_theory(struct fc_fit *f, struct fc_queueing_parameters *p)
{
    theory(f, p);
    f->n_free = 0;
}

enum fc_code fc_fit_all(struct fc_fit *f, struct fc_queueing_parameters *p, double *half, struct fc_status *st)
{
    double step = FIRST_STEP;
    memcpy(f->fitted, f->use, f->n_jobs * sizeof *f->fitted);
    fc_gsl_errors();
    for (;;) {
        if (polish(f, p, st)) break;
        search(f, step, p);
        if (intervals(f, p, half, st) || !fix_one(f, half, p)) break;
        step = 2 * LAST_STEP;
    }
    if (!st->code && !isfinite(residuals(f, p, f->r)))
        fc_refuse(st, FC_NO, "the fit has no solution: the queueing model does not converge for the runs made");
    return st->code;
}

/* The Gauss-Newton step of the jobs in use, by the Jacobian of the full fit at p: step[n_free]. */
static bool newton(const struct fc_fit *f, const double *r, double *step)
{
    size_t k = (size_t)f->n_free, row = 0;
    gsl_matrix *a = gsl_matrix_calloc(k, k);
    gsl_vector *b = gsl_vector_calloc(k);
    bool good = a && b;
    for (uint32_t j = 0; good && j < f->n_jobs; j++) {
        for (int i = f->first_row[j]; f->fitted[j] && i < f->first_row[j + 1]; i++, row++)
            for (size_t u = 0; f->use[j] && u < k; u++) {
                const double *d = &f->jacobian[row * k];
                *gsl_vector_ptr(b, u) -= d[u] * r[i];
                for (size_t v = 0; v < k; v++) *gsl_matrix_ptr(a, u, v) += d[u] * d[v];
            }
    }
    for (size_t u = 0; good && u < k; u++) *gsl_matrix_ptr(a, u, u) *= 1 + 1e-6;
    good = good && !gsl_linalg_cholesky_decomp1(a) && !gsl_linalg_cholesky_svx(a, b);
    for (size_t u = 0; good && u < k; u++) step[u] = fmin(fmax(gsl_vector_get(b, u), -MOST_STEP), MOST_STEP);
    gsl_matrix_free(a);
    gsl_vector_free(b);
    return good;
}

void fc_fit_again(struct fc_fit *f, struct fc_queueing_parameters *p)
{
    double step[FC_Q_PARAMETERS], before = residuals(f, p, f->r);
    fc_gsl_errors();
    bool good = f->n_free > 0 && newton(f, f->r, step);
    for (int half = 0; good && half < MOST_HALVINGS; half++) {
        struct fc_queueing_parameters tried = *p;
        for (int i = 0; i < f->n_free; i++)
            tried.value[f->free[i]] = clamp(f->free[i], p->value[f->free[i]] * exp(ldexp(step[i], -half)));
        if (residuals(f, &tried, f->trial) >= before) continue;
        *p = tried;
        break;
    }
}

double fc_fit_residuals(struct fc_fit *f, const struct fc_queueing_parameters *p)
{
    return residuals(f, p, f->r);
}

enum fc_code fc_fit_open(struct fc_fit *f, struct fc_calibration_job *const *jobs, uint32_t n_jobs, int threads,
                         struct fc_status *st)
{
    memset(f, 0, sizeof *f);
    f->jobs = jobs;
    f->n_jobs = n_jobs;
    f->threads = threads;
    f->use = fc_alloc(&f->arena, n_jobs, sizeof *f->use, st);
    f->first_row = f->use ? fc_alloc(&f->arena, n_jobs + 1ull, sizeof *f->first_row, st) : NULL;
    if (!f->first_row) return st->code;
    for (uint32_t j = 0; j < n_jobs; j++) f->first_row[j + 1] = f->first_row[j] + rows_of(jobs[j]->out);
    size_t n = (size_t)f->first_row[n_jobs];
    f->r = fc_alloc(&f->arena, n, sizeof *f->r, st);
    f->trial = f->r ? fc_alloc(&f->arena, n, sizeof *f->trial, st) : NULL;
    f->jacobian = f->trial ? fc_alloc(&f->arena, n * FC_Q_PARAMETERS, sizeof *f->jacobian, st) : NULL;
    f->fitted = f->jacobian ? fc_alloc(&f->arena, n_jobs, sizeof *f->fitted, st) : NULL;
    for (uint32_t j = 0; f->fitted && j < n_jobs; j++) {
        if (!jobs[j]->queueing && fc_queueing_open(&jobs[j]->turns, &jobs[j]->queueing, st)) return st->code;
        fc_queueing_tune(jobs[j]->queueing, SOLVE_ACCURACY, true);
    }
    return st->code;
}

void fc_fit_close(struct fc_fit *f)
{
    fc_arena_free(&f->arena);
}
