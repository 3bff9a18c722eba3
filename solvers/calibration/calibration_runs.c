/* calibration_runs.c - the kernel runs of a calibration: the saturation of every case and points below it.
 *
 * Cases are run in waves of WAVE, one case a thread; a wave holds the next cases that the rest of the budget allows,
 * those of more than CHEAP_SHARE of it (WANTED_SHARE on the machine's own network, in its longest packets) after all
 * others. The first case is run alone: what it takes corrects the estimates of the others. Saturation:
 * fc_flit_saturation with windows of fixed length, max(COARSE_PACKETS, COARSE_CYCLES zero-load times), which is cheap
 * but lets overload pass for as long as it fills buffers, or calls a load unstable by bad luck; from there, to WIDTH of
 * itself, with runs of chosen length as `curve` makes them. Cases that have room for short windows only: by
 * fc_flit_saturation with the precision LEAN_PRECISION and runs of at most LEAN_RUN of these windows. With windows of fixed
 * length that search was off by 3.4 % of the ideal in the mean square and by 17 at worst (a window's luck), by 2.8 and 12 so
 * (docs/notes/calibration.md).
 *
 * The points: with runs of chosen length, also one at 0.95 of saturation, so that answers at 0.9 of it lie between
 * anchors even where the saturation is off by its tolerance. Of short windows: a point ends when it is known to LEAN_POINT,
 * or has measured as many packets as its window holds, more where waits are long.
 *
 * The budget is counted in moves (fc_flit_moves), made seconds by nominal rates, and what a case will take is estimated by the
 * design times what cases so far took of their estimates, so that what is run does not depend on clock or
 * threads. No case may take more than MOST_OVER times that (the first, by which nothing is known yet: or FIRST_SHARE of
 * the budget), nor more than its part of what is left of the budget: then its search or its points end, and it is
 * dropped where its saturation or two of its points are missing (`cut`). */
#include "solvers/calibration/calibration_internal.h"

#include <string.h>

enum { WAVE = 4 };
#define COARSE_PACKETS 4e4
#define COARSE_CYCLES 50.0
#define WIDTH 0.01
#define MOST_OVER 3.0
#define FIRST_SHARE 0.5
#define CHEAP_SHARE 0.08
#define WANTED_SHARE 0.25
#define LEAN_PRECISION 0.02
#define LEAN_RUN 4 /* windows */
#define LEAN_POINT 0.02
static const double shares[] = {0.3, 0.5, 0.65, 0.8, 0.9, 0.95};
enum { LEAN_SHARES = 5 }; /* of these, in short windows */
static const uint64_t windows[LEAN_SHARES] = {1, 1, 1, 2, 4}, hurried_windows[LEAN_SHARES] = {1, 1, 1, 1, 2};

/* Adds what was run to what the case took. */
static void count(struct fc_calibration_job *job, double flit_hops, double moves)
{
    double unit = job->events ? job->turns.flits_mean : 1;
    job->hops_run += flit_hops / unit;
    job->spent_s += moves / unit / job->moves_per_s;
}

/* How many moves the case may still make, at least 1: 0 would be no limit. */
static double most_moves(const struct fc_calibration_job *job)
{
    double unit = job->events ? job->turns.flits_mean : 1;
    return fmax(1, (job->most_s - job->spent_s) * job->moves_per_s * unit);
}

static double packets_a_cycle(const struct fc_calibration_job *job, double load)
{
    return load * (double)job->out->nodes / job->turns.flits_mean;
}

/* For a run that ends when it is as precise as that, or has measured so many packets. */
static void run_lean(struct fc_flit_settings *settings, double precision, double packets)
{
    settings->precision = precision;
    settings->most_packets = (uint64_t)ceil(packets);
}

/* The points; ends where a run is unstable (the bisection takes the edge from one run). */
static enum fc_code run_points(struct fc_calibration_job *job, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_calibration_case *k = job->out;
    k->points = fc_alloc(arena, FC_COUNT(shares), sizeof *k->points, st);
    k->escape_percent = NAN;
    for (size_t i = 0; k->points && i < (job->window_cycles ? LEAN_SHARES : FC_COUNT(shares)); i++) {
        struct fc_flit_result r;
        struct fc_flit_settings settings = job->settings;
        settings.load_flits_per_cycle = shares[i] * k->saturation;
        settings.most_moves = most_moves(job);
        if (job->window_cycles) {
            double cycles = (double)job->window_cycles * (double)(job->hurried ? hurried_windows : windows)[i];
            run_lean(&settings, LEAN_POINT, cycles * packets_a_cycle(job, settings.load_flits_per_cycle));
        }
        if (fc_flit_run(job->net, &job->demand, NULL, &settings, &r, st)) return st->code;
        count(job, (double)r.flit_hops, fc_flit_moves(&r));
        job->cut = r.cut;
        bool good = r.stable && r.complete;
        if (good) {
            k->points[k->n_points++] =
                (struct fc_calibration_point){shares[i], r.latency_mean_cycles, r.latency_half_width_cycles, NAN};
            k->escape_percent = 100 * r.escape_share;
        }
        fc_flit_free(&r);
        if (!good) break;
    }
    return st->code;
}

/* A run of chosen length at the load. */
static enum fc_code try_load(struct fc_calibration_job *job, double load, bool *stable, double *accepted,
                             struct fc_status *st)
{
    FC_SCOPED(fc_flit_free) struct fc_flit_result r = {0};
    job->settings.load_flits_per_cycle = load;
    job->settings.most_moves = most_moves(job);
    if (fc_flit_run(job->net, &job->demand, NULL, &job->settings, &r, st)) return st->code;
    *stable = r.stable;
    *accepted = r.accepted_flits_per_node_cycle;
    count(job, (double)r.flit_hops, fc_flit_moves(&r));
    job->cut = r.cut;
    if (r.deadlock) fc_refuse(st, FC_NO, "deadlock at load %.6g: %s", load, r.deadlock_text);
    return st->code;
}

/* From the coarse saturation, to `width`: up in steps that double while runs are stable (near a collapse one
 * short window is luck), or down, first to what overload got accepted, then in steps that double; then by
 * halves. */
static enum fc_code refine(struct fc_calibration_job *job, double coarse, double width, struct fc_status *st)
{
    double low = 0, high = INFINITY, next = coarse, step = width, most = fmax(coarse, job->out->ideal);
    while (next > width / 2 && high - low > width * (1 + 1e-9)) {
        bool stable = false, first = low == 0 && isinf(high);
        double accepted = 0;
        if (try_load(job, next, &stable, &accepted, st) || job->cut) return st->code;
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

/* job->out->saturation; NaN when no load is stable, and where the search was cut. */
static enum fc_code find_saturation(struct fc_calibration_job *job, struct fc_status *st)
{
    struct fc_calibration_case *k = job->out;
    struct fc_flit_settings coarse = job->settings;
    double packets = packets_a_cycle(job, 0.7 * k->ideal), load;
    if (!job->window_cycles)
        coarse.measure_cycles =
            (uint64_t)ceil(fmax(COARSE_PACKETS / packets, COARSE_CYCLES * 2 * job->turns.zero_load_cycles));
    else
        run_lean(&coarse, LEAN_PRECISION, LEAN_RUN * packets * (double)job->window_cycles);
    struct fc_status none = {0};
    struct fc_flit_cost cost = {0};
    coarse.most_moves = most_moves(job);
    k->saturation = NAN;
    enum fc_code code = fc_flit_saturation_counted(job->net, &job->demand, &coarse, &load, &cost, &none);
    count(job, cost.flit_hops, cost.moves);
    job->cut = cost.cut;
    if (!code && cost.cut) return FC_OK;
    if (!code && job->window_cycles) k->saturation = load;
    if (!code) return job->window_cycles ? FC_OK : refine(job, load, WIDTH * fmin(load, k->ideal), st);
    if (none.code != FC_NO || strncmp(none.message, "no load", 7)) *st = none;
    return st->code;
}

static enum fc_code run_job(struct fc_calibration_job *job, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_calibration_case *k = job->out;
    if (fc_calibration_follow(job, st) ||
        fc_flit_ideal_throughput(job->net, &job->demand, &job->settings, &k->ideal, st) || find_saturation(job, st) ||
        isnan(k->saturation))
        return st->code;
    if (run_points(job, arena, st)) return st->code;
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

/* What is left to do, and what was done. */
struct progress {
    double budget_s, spent, estimated;
    uint32_t next;
    bool dear; /* cases of more than CHEAP_SHARE have their turn */
};

static double ratio_of(const struct progress *p)
{
    return p->estimated > 0 ? p->spent / p->estimated : 1;
}

/* The next cases that the rest of the budget allows, and how much each may take; their number. */
static int next_wave(struct fc_calibration_design *d, struct progress *p, struct fc_calibration_job **wave)
{
    double planned = 0;
    int n = 0, most = p->estimated > 0 ? WAVE : 1;
    for (; p->next < d->n_jobs && n < most; p->next++) {
        struct fc_calibration_job *job = &d->jobs[p->next];
        double more = ratio_of(p) * job->estimate_s;
        bool dear = p->next > 0 && more > (job->wanted ? WANTED_SHARE : CHEAP_SHARE) * p->budget_s;
        if (job->most_s > 0 || (dear && !p->dear) || p->spent + planned + more > p->budget_s) continue;
        planned += more;
        job->most_s = more;
        wave[n++] = job;
    }
    double room = planned > 0 ? fmin(MOST_OVER, (p->budget_s - p->spent) / planned) : 1;
    for (int i = 0; i < n; i++) wave[i]->most_s *= room;
    if (p->estimated == 0 && n > 0) wave[0]->most_s = fmax(wave[0]->most_s, FIRST_SHARE * p->budget_s);
    return n;
}

enum fc_code fc_calibration_run(struct fc_calibration_design *d, double budget_s,
                                const struct fc_calibration_settings *settings, struct fc_arena *arena,
                                struct fc_status *st)
{
    struct progress p = {.budget_s = budget_s};
    for (int pass = 0; pass < 2; pass++)
        for (p.next = 0, p.dear = pass > 0; p.next < d->n_jobs;) {
            struct fc_calibration_job *wave[WAVE];
            int n = next_wave(d, &p, wave);
            fc_progress_show(settings->progress, fmin(1, p.spent / budget_s), "kernel runs");
            if (n > 0 && run_wave(wave, n, settings->threads, arena, st)) return st->code;
            for (int i = 0; i < n; i++) {
                p.spent += wave[i]->spent_s;
                p.estimated += wave[i]->estimate_s;
            }
        }
    return FC_OK;
}
