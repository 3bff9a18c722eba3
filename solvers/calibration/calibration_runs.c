/* calibration_runs.c - the kernel runs of a calibration: the saturation of every case and points below it.
 *
 * Cases are run in waves of WAVE, one case a thread; a wave holds the next cases that the rest of the budget
 * allows. The first case is run alone: what it takes corrects the estimates of the others. Saturation: fc_flit_saturation with windows of fixed length, max(COARSE_PACKETS, COARSE_CYCLES
 * zero-load times), which is cheap but lets overload pass for as long as it fills buffers, or calls a load
 * unstable by bad luck; from there, to WIDTH of the ideal, with runs of chosen length as `curve` makes
 * them. Cases with windows of fixed length keep the first; under UGAL, where packets cost most and the ideal is far above what
 * is accepted, a run in overload warms up and drains no longer than MOST_BESIDE, not seven times that.
 *
 * The points: with windows that choose their length, also one at 0.95 of saturation, so that answers at 0.9
 * of it lie between anchors even where the saturation is off by its tolerance; windows of fixed length are
 * longer where waits are long.
 *
 * The budget is counted in hops, made seconds by nominal rates, and what a case will take is estimated by the
 * design times what cases so far took of their estimates, so that what is run does not depend on clock or
 * threads. */
#include "solvers/calibration/calibration_internal.h"

#include <string.h>

enum { WAVE = 4 };
#define COARSE_PACKETS 4e4
#define COARSE_CYCLES 50.0
#define WIDTH 0.01
#define MOST_BESIDE 30.0 /* of a run of the search under UGAL, twice the zero-load time, beside its window */
static const double shares[] = {0.3, 0.5, 0.65, 0.8, 0.9, 0.95};
enum { LEAN_SHARES = 5 }; /* of these, with windows of fixed length */
static const uint64_t windows[LEAN_SHARES] = {1, 1, 1, 2, 4};

/* The points; ends where a run is unstable (the bisection takes the edge from one run). */
static enum fc_code run_points(struct fc_calibration_job *job, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_calibration_case *k = job->out;
    k->points = fc_alloc(arena, FC_COUNT(shares), sizeof *k->points, st);
    k->escape_percent = NAN;
    uint64_t fixed = job->settings.measure_cycles;
    for (size_t i = 0; k->points && i < (fixed ? LEAN_SHARES : FC_COUNT(shares)); i++) {
        struct fc_flit_result r;
        job->settings.measure_cycles = fixed ? fixed * windows[i] : 0;
        job->settings.load_flits_per_cycle = shares[i] * k->saturation;
        if (fc_flit_run(job->net, &job->demand, NULL, &job->settings, &r, st)) return st->code;
        job->hops_run += (double)r.flit_hops / (job->events ? job->turns.flits_mean : 1);
        bool good = r.stable && r.complete;
        if (good) {
            k->points[k->n_points++] =
                (struct fc_calibration_point){shares[i], r.latency_mean_cycles, r.latency_half_width_cycles, NAN};
            k->escape_percent = 100 * r.escape_share;
        }
        fc_flit_free(&r);
        if (!good) break;
    }
    job->settings.measure_cycles = fixed;
    return st->code;
}

/* A run of chosen length at the load. */
static enum fc_code try_load(struct fc_calibration_job *job, double load, bool *stable, double *accepted,
                             double *flit_hops, struct fc_status *st)
{
    FC_SCOPED(fc_flit_free) struct fc_flit_result r = {0};
    job->settings.load_flits_per_cycle = load;
    if (fc_flit_run(job->net, &job->demand, NULL, &job->settings, &r, st)) return st->code;
    *stable = r.stable;
    *accepted = r.accepted_flits_per_node_cycle;
    *flit_hops += (double)r.flit_hops;
    if (r.deadlock) fc_refuse(st, FC_NO, "deadlock at load %.6g: %s", load, r.deadlock_text);
    return st->code;
}

/* From the coarse saturation, to `width`: up in steps that double while runs are stable (near a collapse one
 * short window is luck), or down, first to what overload got accepted, then in steps that double; then by
 * halves. */
static enum fc_code refine(struct fc_calibration_job *job, double coarse, double width, double *flit_hops,
                           struct fc_status *st)
{
    double low = 0, high = INFINITY, next = coarse, step = width, most = fmax(coarse, job->out->ideal);
    while (next > width / 2 && high - low > width * (1 + 1e-9)) {
        bool stable = false, first = low == 0 && isinf(high);
        double accepted = 0;
        if (try_load(job, next, &stable, &accepted, flit_hops, st)) return st->code;
        *(stable ? &low : &high) = next;
        if (stable && next >= most) break;
        if (low > 0 && isfinite(high))
            next = (low + high) / 2;
        else if (first && !stable && accepted < high - width)
            next = accepted;
        else
            next = low > 0 ? fmin(low + step, most) : high - step, step *= 2;
    }
    job->out->saturation = low > 0 ? low : (double)NAN;
    return FC_OK;
}

/* job->out->saturation; NaN when no load is stable. */
static enum fc_code find_saturation(struct fc_calibration_job *job, double *flit_hops, struct fc_status *st)
{
    struct fc_calibration_case *k = job->out;
    struct fc_flit_settings coarse = job->settings;
    double packets_a_cycle = 0.7 * k->ideal * (double)k->nodes / job->turns.flits_mean, load;
    if (!coarse.measure_cycles)
        coarse.measure_cycles =
            (uint64_t)ceil(fmax(COARSE_PACKETS / packets_a_cycle, COARSE_CYCLES * 2 * job->turns.zero_load_cycles));
    else if (fc_compares_ways(job->net->machine))
        coarse.most_cycles = coarse.measure_cycles + (uint64_t)ceil(MOST_BESIDE * 2 * job->turns.zero_load_cycles);
    struct fc_status none = {0};
    k->saturation = NAN;
    if (!fc_flit_saturation_counted(job->net, &job->demand, &coarse, &load, flit_hops, &none)) {
        k->saturation = load;
        return job->settings.measure_cycles ? FC_OK : refine(job, load, WIDTH * k->ideal, flit_hops, st);
    }
    if (none.code != FC_NO || strncmp(none.message, "no load", 7)) *st = none;
    return st->code;
}

static enum fc_code run_job(struct fc_calibration_job *job, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_calibration_case *k = job->out;
    double flit_hops = 0;
    if (fc_calibration_follow(job, st) ||
        fc_flit_ideal_throughput(job->net, &job->demand, &job->settings, &k->ideal, st) ||
        find_saturation(job, &flit_hops, st) || isnan(k->saturation))
        return st->code;
    if (run_points(job, arena, st)) return st->code;
    job->hops_run += flit_hops / (job->events ? job->turns.flits_mean : 1);
    job->ran = k->n_points >= 2;
    return FC_OK;
}

/* Runs the jobs of a wave; the arena of each is its own, and handed over in order. */
static enum fc_code run_wave(struct fc_calibration_job *const *wave, int n, int threads, struct fc_arena *arena,
                             struct fc_status *st)
{
    struct fc_status status[WAVE] = {{0}};
    struct fc_arena own[WAVE] = {{0}};
#pragma omp parallel for num_threads(fc_threads(threads)) schedule(dynamic, 1)
    for (int i = 0; i < n; i++) run_job(wave[i], &own[i], &status[i]);
    for (int i = 0; i < n; i++) {
        if (status[i].code && !st->code) *st = status[i];
        struct fc_calibration_point *points =
            st->code ? NULL : fc_alloc(arena, (size_t)wave[i]->out->n_points, sizeof *points, st);
        if (points && wave[i]->out->n_points > 0)
            memcpy(points, wave[i]->out->points, (size_t)wave[i]->out->n_points * sizeof *points);
        wave[i]->out->points = points;
        fc_arena_free(&own[i]);
    }
    return st->code;
}

enum fc_code fc_calibration_run(struct fc_calibration_design *d, double budget_s,
                                const struct fc_calibration_settings *settings, struct fc_arena *arena,
                                struct fc_status *st)
{
    double spent = 0, estimated = 0;
    for (uint32_t next = 0; next < d->n_jobs;) {
        struct fc_calibration_job *wave[WAVE];
        double ratio = estimated > 0 ? spent / estimated : 1, planned = 0;
        int n = 0;
        for (; next < d->n_jobs && n < (estimated > 0 ? WAVE : 1); next++) {
            double more = ratio * d->jobs[next].estimate_s;
            if (spent + planned + more > budget_s) continue;
            planned += more;
            wave[n++] = &d->jobs[next];
        }
        fc_progress_show(settings->progress, fmin(1, spent / budget_s), "kernel runs");
        if (n > 0 && run_wave(wave, n, settings->threads, arena, st)) return st->code;
        for (int i = 0; i < n; i++) {
            spent += wave[i]->hops_run / wave[i]->hops_per_s;
            estimated += wave[i]->estimate_s;
        }
    }
    return FC_OK;
}
