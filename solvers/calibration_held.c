/* calibration_held.c - a calibration from its cases: the fit, and errors on what the fit has not seen.
 *
 * Every network in turn is left out, the parameters are fitted to the others (from the full fit's), and the
 * model is compared with the kernel on the network left out; where only one network was run, every case in
 * turn. Errors are of the model at the kernel's load, in percent, exp(|log ratio|) - 1. Cases whose model
 * takes too long to be fitted to are held out of every fit, and compared with the full one. */
#include "solvers/calibration_fit.h"

#include <math.h>
#include <string.h>

enum { MOST_CHOICES = 12000 }; /* of a model in the fit: a few milliseconds a solve */

static double percent(double log_ratio)
{
    return 100 * expm1(fabs(log_ratio));
}

/* Errors of one case by the parameters; log ratios by point stay in `log_ratio`. */
static enum fc_code judge(struct fc_calibration_job *job, const struct fc_queueing_parameters *p,
                          double *log_ratio, struct fc_status *st)
{
    struct fc_calibration_case *k = job->out;
    double log_saturation, sum = 0, most = 0;
    int n = 0;
    if (fc_calibration_compare(job, p, log_ratio, &log_saturation, st)) return st->code;
    for (int i = 0; i < k->n_points; i++) {
        if (k->points[i].load_share > FC_CALIBRATION_JUDGE_TO) continue;
        sum += percent(log_ratio[i]);
        most = fmax(most, percent(log_ratio[i]));
        n++;
    }
    k->mean_error_percent = n ? sum / n : (double)NAN;
    k->greatest_error_percent = n ? most : (double)NAN;
    k->saturation_error_percent = percent(log_saturation);
    return FC_OK;
}

/* ---- leaving out ---- */

struct held {
    struct fc_fit *fit;
    struct fc_calibration *c;
    struct fc_queueing_parameters full;
    bool *fitted; /* [n_jobs] in the full fit */
    int *group;   /* [n_jobs] what is left out together */
    int n_groups;
    double (*log_ratio)[FC_CALIBRATION_MOST_POINTS]; /* [n_jobs] left-out */
};

static void make_groups(struct held *h)
{
    const struct fc_fit *f = h->fit;
    int networks = 0;
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        h->group[j] = -1;
        for (uint32_t i = 0; i < j && h->group[j] < 0; i++)
            if (!strcmp(f->jobs[i]->out->network, f->jobs[j]->out->network)) h->group[j] = h->group[i];
        if (h->group[j] < 0) h->group[j] = networks++;
    }
    h->n_groups = networks;
    h->c->left_out = networks > 1 ? FC_LEFT_OUT_NETWORK : FC_LEFT_OUT_CASE;
    if (networks > 1) return;
    for (uint32_t j = 0; j < f->n_jobs; j++) h->group[j] = (int)j;
    h->n_groups = (int)f->n_jobs;
}

static enum fc_code leave_out(struct held *h, int group, struct fc_status *st)
{
    struct fc_fit *f = h->fit;
    struct fc_queueing_parameters p = h->full;
    bool some = false, less = false;
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        f->use[j] = h->fitted[j] && h->group[j] != group;
        some = some || f->use[j];
        less = less || (h->fitted[j] && h->group[j] == group);
    }
    if (some && less) fc_fit_again(f, &p);
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        struct fc_calibration_case *k = f->jobs[j]->out;
        if (h->group[j] != group) continue;
        if (judge(f->jobs[j], &p, h->log_ratio[j], st)) return st->code;
        if (some) continue;
        k->mean_error_percent = k->greatest_error_percent = k->saturation_error_percent = NAN;
    }
    return FC_OK;
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
        h->c->error_at[k] = x >= share[i] ? error[i]
                                          : error[i - 1] + (error[i] - error[i - 1]) * (x - share[i - 1]) /
                                                               (share[i] - share[i - 1]);
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

static enum fc_code full_fit(struct held *h, struct fc_progress *progress, struct fc_status *st)
{
    struct fc_fit *f = h->fit;
    struct fc_calibration *c = h->c;
    double half[FC_Q_PARAMETERS] = {0};
    uint32_t rows = 0;
    for (uint32_t j = 0; j < f->n_jobs; j++) {
        f->use[j] = h->fitted[j] = f->jobs[j]->turns.n_choices <= MOST_CHOICES;
        f->jobs[j]->out->fitted = h->fitted[j];
        if (f->use[j]) rows += (uint32_t)(f->first_row[j + 1] - f->first_row[j]);
    }
    if (rows == 0)
        return fc_refuse(st, FC_NO,
                         "every case run is too large to be fitted to (models of more than %d choices)",
                         MOST_CHOICES);
    fc_progress_show(progress, 0, "fit");
    fc_fit_start(f, &h->full);
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

static enum fc_code measure(struct held *h, struct fc_progress *progress, struct fc_status *st)
{
    struct fc_fit *f = h->fit;
    struct fc_arena *scratch = &f->arena;
    h->fitted = fc_alloc(scratch, f->n_jobs, sizeof *h->fitted, st);
    h->group = h->fitted ? fc_alloc(scratch, f->n_jobs, sizeof *h->group, st) : NULL;
    h->log_ratio = h->group ? fc_alloc(scratch, f->n_jobs, sizeof *h->log_ratio, st) : NULL;
    if (!h->log_ratio || full_fit(h, progress, st)) return st->code;
    make_groups(h);
    for (int g = 0; g < h->n_groups; g++) {
        fc_progress_show(progress, (g + 1.0) / (h->n_groups + 1), "left out");
        if (leave_out(h, g, st)) return st->code;
    }
    return FC_OK;
}

enum fc_code fc_calibration_fit(struct fc_calibration_job *const *jobs, uint32_t n_jobs, int threads,
                                struct fc_progress *progress, struct fc_calibration *calibration,
                                struct fc_status *st)
{
    struct fc_fit fit;
    struct held h = {.fit = &fit, .c = calibration};
    calibration->n_cases = n_jobs;
    calibration->cases = fc_alloc(&calibration->arena, n_jobs, sizeof *calibration->cases, st);
    if (!calibration->cases) return st->code;
    if (!fc_fit_open(&fit, jobs, n_jobs, threads, st) && !measure(&h, progress, st)) {
        for (uint32_t j = 0; j < n_jobs; j++) calibration->cases[j] = *jobs[j]->out;
        make_hull(calibration);
        summarise(&h);
    }
    fc_fit_close(&fit);
    return st->code;
}
