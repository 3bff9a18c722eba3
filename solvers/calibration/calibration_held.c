/* calibration_held.c - a calibration from its cases: the fit, the correction, and errors on what both have
 * not seen.
 *
 * Every network in turn is left out, the parameters are fitted to the others (from the full fit's), the
 * correction is made of the others, and both together are compared with the kernel on the network left out;
 * where only one network was run, every case in turn. Then every kind of pattern is left out on all networks:
 * what a traffic is worth that no case is like. Errors are of the answer at the kernel's load, in percent,
 * exp(|log ratio|) - 1. What an answer states follows from those of the networks (calibration_error.c). Cases
 * whose model takes too long to be fitted to are held out of every fit, but not of the correction. */
#include "solvers/calibration/calibration_correction.h"
#include "core/values.h"
#include "solvers/calibration/calibration_fit.h"

#include <stdlib.h>
#include <string.h>

/* Choices of a model in the fit: 1500 are a millisecond a solve. Where fewer than LEAST_FITTED cases are so small, the
 * LEAST_FITTED smallest are fitted to. */
enum { MOST_CHOICES = 1500, LEAST_FITTED = 8 };
/* Of a fit: how often all cases are compared, loads solved for each, seconds a choice of a solve. */
enum { EVALUATIONS = 100, SOLVES = 20 };
#define CHOICE_S 7e-7

static double percent(double log_ratio)
{
    return 100 * expm1(fabs(log_ratio));
}

struct held {
    struct fc_fit *fit;
    struct fc_calibration *c;
    struct fc_queueing_parameters full;
    bool *fitted;                                    /* [n_jobs] in the full fit */
    int *group;                                      /* [n_jobs] what is left out together */
    double (*log_ratio)[FC_CALIBRATION_MOST_POINTS]; /* [n_jobs] answer over kernel, left out */
    double *log_saturation;                          /* [n_jobs] */
    double *sorted;                                  /* [n_jobs] scratch */
    const struct fc_calibration_case **cases;        /* [n_jobs] those of a correction */
};

/* ---- answers ---- */

/* The model's ratios of every case for these parameters. */
static enum fc_code find_ratios(struct held *h, const struct fc_queueing_parameters *p, struct fc_status *st)
{
    struct fc_fit *f = h->fit;
#pragma omp parallel for num_threads(fc_threads(f->threads)) schedule(dynamic, 1)
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        struct fc_status why = {0};
        if (fc_calibration_ratios(f->jobs[j], p, &why))
#pragma omp critical
            if (!st->code) *st = why;
    }
    return st->code;
}

/* ---- leaving out ---- */

/* Sets group[n_jobs] by network, or where there is one by case, or by kind of pattern; their number. */
static int make_groups(struct held *h, bool by_kind)
{
    const struct fc_fit *f = h->fit;
    int n = 0;
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        h->group[j] = -1;
        for (uint32_t i = 0; i < j && h->group[j] < 0; i++) {
            const struct fc_calibration_case *a = f->jobs[i]->out, *b = f->jobs[j]->out;
            if (!strcmp(by_kind ? a->kind : a->network, by_kind ? b->kind : b->network)) h->group[j] = h->group[i];
        }
        if (h->group[j] < 0) h->group[j] = n++;
    }
    if (by_kind) return n;
    h->c->left_out = n > 1 ? FC_LEFT_OUT_NETWORK : FC_LEFT_OUT_CASE;
    if (n > 1) return n;
    for (uint32_t j = 0; j < f->n_jobs; j++) h->group[j] = (int)j;
    return (int)f->n_jobs;
}

static enum fc_code leave_out(struct held *h, int group, struct fc_status *st)
{
    struct fc_fit *f = h->fit;
    struct fc_queueing_parameters p = h->full;
    struct fc_correction correction = {0};
    bool some = false, less = false;
    uint32_t n = 0;
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        f->use[j] = h->fitted[j] && h->group[j] != group;
        some = some || f->use[j];
        less = less || (h->fitted[j] && h->group[j] == group);
        if (h->group[j] != group) h->cases[n++] = f->jobs[j]->out;
    }
    if (some && less) fc_fit_again(f, &p);
    if (find_ratios(h, &p, st) || fc_correction_fit(h->cases, n, &correction, st)) goto done;
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        struct fc_corrected corrected;
        if (h->group[j] != group) continue;
        fc_correction_at(&correction, f->jobs[j]->out, &corrected);
        if (fc_calibration_compare(f->jobs[j], &p, &corrected, h->log_ratio[j], &h->log_saturation[j], st)) goto done;
        if (some) continue;
        h->log_saturation[j] = NAN;
        for (int i = 0; i < FC_CALIBRATION_MOST_POINTS; i++) h->log_ratio[j][i] = NAN;
    }
done:
    fc_correction_close(&correction);
    return st->code;
}

static enum fc_code leave_out_all(struct held *h, bool by_kind, struct fc_progress *progress, struct fc_status *st)
{
    int n = make_groups(h, by_kind);
    for (int g = 0; g < n; g++) {
        fc_progress_show(progress, (g + 1.0) / (n + 1), by_kind ? "left out: patterns" : "left out: networks");
        if (leave_out(h, g, st)) return st->code;
    }
    return FC_OK;
}

/* ---- errors ---- */

/* Errors of the cases, from what was left out. */
static void set_errors(struct held *h)
{
    for (uint32_t j = 0; j < h->fit->n_jobs; j++) {
        struct fc_calibration_case *k = h->fit->jobs[j]->out;
        double sum = 0, most = 0;
        int n = 0;
        for (int i = 0; i < k->n_points; i++) {
            if (k->points[i].load_share > FC_CALIBRATION_JUDGE_TO) continue;
            double error = percent(h->log_ratio[j][i]);
            sum += error;
            most = fmax(most, error);
            n++;
        }
        k->mean_error_percent = n ? sum / n : (double)NAN;
        k->greatest_error_percent = n && !isnan(sum) ? most : (double)NAN;
        k->saturation_error_percent = percent(h->log_saturation[j]);
    }
}

/* Means over the cases when a kind of pattern is left out. */
static void set_kind_errors(struct held *h)
{
    double latency = 0, saturation = 0, n = 0;
    for (uint32_t j = 0; j < h->fit->n_jobs; j++) {
        const struct fc_calibration_case *k = h->fit->jobs[j]->out;
        double sum = 0, points = 0;
        for (int i = 0; i < k->n_points; i++)
            if (k->points[i].load_share <= FC_CALIBRATION_JUDGE_TO) sum += percent(h->log_ratio[j][i]), points++;
        latency += sum / points;
        saturation += percent(h->log_saturation[j]);
        n++;
    }
    h->c->kind_mean_percent = latency / n;
    h->c->kind_saturation_mean_percent = saturation / n;
}

/* Mean error by load share: by the points that were run at each, linear between them and to 0 at no load. */
static void by_share(const struct held *h)
{
    double share[FC_CALIBRATION_MOST_POINTS + 1] = {0}, error[FC_CALIBRATION_MOST_POINTS + 1] = {0};
    int n = 1;
    for (double last = 0; n <= FC_CALIBRATION_MOST_POINTS;) {
        double next = INFINITY, sum = 0, count = 0;
        for (int pass = 0; pass < 2; pass++)
            for (uint32_t j = 0; j < h->fit->n_jobs; j++)
                for (int i = 0; i < h->fit->jobs[j]->out->n_points; i++) {
                    double at = h->fit->jobs[j]->out->points[i].load_share;
                    if (pass == 0 && at > last) next = fmin(next, at);
                    if (pass == 1 && at == next) sum += percent(h->log_ratio[j][i]), count++;
                }
        if (!isfinite(next)) break;
        share[n] = last = next;
        error[n++] = sum / count;
    }
    for (int k = 0; k < (int)FC_COUNT(h->c->error_at); k++) {
        double x = k / 10.0;
        int i = 1;
        while (i + 1 < n && share[i] < x) i++;
        h->c->error_at[k] =
            x >= share[i] ? error[i]
                          : error[i - 1] + (error[i] - error[i - 1]) * (x - share[i - 1]) / (share[i] - share[i - 1]);
    }
}

static void summarise(struct held *h)
{
    struct fc_calibration *c = h->c;
    double mean = 0, most = 0, saturation = 0, most_saturation = 0, largest = 0, n_largest = 0, n = 0;
    uint64_t nodes = 0;
    for (uint32_t i = 0; i < c->n_cases; i++) nodes = c->cases[i].nodes > nodes ? c->cases[i].nodes : nodes;
    for (uint32_t i = 0; i < c->n_cases; i++) {
        const struct fc_calibration_case *k = &c->cases[i];
        mean += k->mean_error_percent;
        saturation += k->saturation_error_percent;
        most = fmax(most, k->greatest_error_percent);
        most_saturation = fmax(most_saturation, k->saturation_error_percent);
        if (k->nodes == nodes) largest += k->mean_error_percent, n_largest++;
        n++;
    }
    c->left_out_mean_percent = mean / n;
    c->left_out_greatest_percent = isnan(mean) ? (double)NAN : most;
    c->saturation_mean_percent = saturation / n;
    c->saturation_greatest_percent = isnan(saturation) ? (double)NAN : most_saturation;
    c->largest_left_out_percent = c->left_out == FC_LEFT_OUT_NETWORK ? largest / n_largest : (double)NAN;
    if (!isnan(mean))
        by_share(h);
    else
        for (size_t i = 0; i < FC_COUNT(c->error_at); i++) c->error_at[i] = NAN;
}

/* ---- hull ---- */

static void widen(double *range, double low, double high, bool first)
{
    range[0] = first ? low : fmin(range[0], low);
    range[1] = first ? high : fmax(range[1], high);
}

static void make_hull(struct fc_calibration *c)
{
    for (uint32_t i = 0; i < c->n_cases; i++) {
        const struct fc_calibration_case *k = &c->cases[i];
        widen(c->hops, k->hops, k->hops, i == 0);
        widen(c->anisotropy, k->anisotropy, k->anisotropy, i == 0);
        widen(c->flits, (k->flits_min + k->flits_max) / 2, (k->flits_min + k->flits_max) / 2, i == 0);
        widen(c->buffer_packets, k->buffer_packets, k->buffer_packets, i == 0);
    }
    /* The largest networks in mean hops, uniform traffic of which is the first case of each. */
    double first = 0, second = 0;
    for (uint32_t i = 0; i < c->n_cases; i++)
        if (!strcmp(c->cases[i].pattern, "uniform")) first = fmax(first, c->cases[i].hops);
    for (uint32_t i = 0; i < c->n_cases; i++)
        if (!strcmp(c->cases[i].pattern, "uniform") && c->cases[i].hops < 0.999 * first)
            second = fmax(second, c->cases[i].hops);
    c->hops_step = second > 0 ? first / second : 1;
}

/* ---- the whole ---- */

static double most_choices(struct held *h)
{
    const struct fc_fit *f = h->fit;
    uint32_t n = f->n_jobs < LEAST_FITTED ? f->n_jobs : LEAST_FITTED;
    for (uint32_t j = 0; j < f->n_jobs; j++) h->sorted[j] = (double)f->jobs[j]->turns.n_choices;
    qsort(h->sorted, f->n_jobs, sizeof *h->sorted, fc_by_real);
    return fmax(MOST_CHOICES, h->sorted[n - 1]);
}

/* What a fit takes; where the turns depend on the load (UGAL), each is solved on two of the rungs. */
static double fit_s(const struct fc_fit *f)
{
    double choices = 0;
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        const struct fc_turns *t = &f->jobs[j]->turns;
        if (f->use[j] && t->n_rungs == 0) choices += t->n_choices;
        for (uint32_t i = 0; f->use[j] && i < t->n_rungs; i++) choices += 2.0 * t->rung[i].n_choices / t->n_rungs;
    }
    return EVALUATIONS * SOLVES * choices * CHOICE_S;
}

static enum fc_code full_fit(struct held *h, double most_s, struct fc_progress *progress, struct fc_status *st)
{
    struct fc_fit *f = h->fit;
    struct fc_calibration *c = h->c;
    double half[FC_Q_PARAMETERS] = {0};
    double most = most_choices(h);
    uint32_t rows = 0;
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        f->use[j] = h->fitted[j] = (double)f->jobs[j]->turns.n_choices <= most;
        f->jobs[j]->out->fitted = h->fitted[j];
        if (f->use[j]) rows += (uint32_t)(f->first_row[j + 1] - f->first_row[j]);
    }
    if (rows == 0) return fc_refuse(st, FC_NO, "no case that was run has a point to fit to");
    fc_progress_show(progress, 0, "fit");
    fc_fit_start(f, &h->full);
    if (fit_s(f) > most_s) fc_fit_by_theory(f, &h->full);
    if (fc_fit_all(f, &h->full, half, st)) return st->code;
    c->parameters = c->low = c->high = h->full;
    for (int i = 0; i < f->n_free; i++) {
        int k = f->free[i];
        c->free_parameter[k] = true;
        c->low.value[k] = h->full.value[k] * exp(-half[i]);
        c->high.value[k] = h->full.value[k] * exp(half[i]);
    }
    c->residual_percent = 100 * expm1(sqrt(fc_fit_residuals(f, &h->full) / rows));
    return FC_OK;
}

static enum fc_code make_scratch(struct held *h, struct fc_status *st)
{
    struct fc_fit *f = h->fit;
    struct fc_arena *scratch = &f->arena;
    h->fitted = fc_alloc(scratch, f->n_jobs, sizeof *h->fitted, st);
    h->group = fc_alloc(scratch, f->n_jobs, sizeof *h->group, st);
    h->sorted = fc_alloc(scratch, f->n_jobs, sizeof *h->sorted, st);
    h->log_ratio = fc_alloc(scratch, f->n_jobs, sizeof *h->log_ratio, st);
    h->log_saturation = fc_alloc(scratch, f->n_jobs, sizeof *h->log_saturation, st);
    h->cases = fc_alloc(scratch, f->n_jobs, sizeof *h->cases, st);
    return st->code;
}

/* The correction that answers carry: of all cases, by the full fit. */
static enum fc_code full_correction(struct held *h, struct fc_status *st)
{
    struct fc_fit *f = h->fit;
    struct fc_calibration *c = h->c;
    struct fc_correction correction = {0};
    for (uint32_t j = 0; j < f->n_jobs; j++) h->cases[j] = f->jobs[j]->out;
    if (!find_ratios(h, &h->full, st) && !fc_correction_fit(h->cases, f->n_jobs, &correction, st))
        for (int i = 0; i < correction.n; i++)
            c->corrections[c->n_corrections++] =
                (struct fc_calibration_correction){correction.share[i], *fc_kriging_shape_of(correction.kriging[i])};
    fc_correction_close(&correction);
    return st->code;
}

static enum fc_code measure(struct held *h, double most_s, struct fc_progress *progress, struct fc_status *st)
{
    if (make_scratch(h, st) || full_fit(h, most_s, progress, st) || full_correction(h, st)) return st->code;
    if (leave_out_all(h, true, progress, st)) return st->code;
    set_kind_errors(h);
    if (leave_out_all(h, false, progress, st)) return st->code;
    set_errors(h);
    return find_ratios(h, &h->full, st);
}

enum fc_code fc_calibration_fit(struct fc_calibration_job *const *jobs, uint32_t n_jobs, double most_s, int threads,
                                struct fc_progress *progress, struct fc_calibration *calibration, struct fc_status *st)
{
    struct fc_fit fit;
    struct held h = {.fit = &fit, .c = calibration};
    calibration->n_cases = n_jobs;
    calibration->cases = fc_alloc(&calibration->arena, n_jobs, sizeof *calibration->cases, st);
    if (!calibration->cases) return st->code;
    if (!fc_fit_open(&fit, jobs, n_jobs, threads, st) && !measure(&h, most_s, progress, st)) {
        for (uint32_t j = 0; j < n_jobs; j++) calibration->cases[j] = *jobs[j]->out;
        make_hull(calibration);
        summarise(&h);
    }
    fc_fit_close(&fit);
    return st->code;
}
