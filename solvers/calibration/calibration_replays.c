/* calibration_replays.c - jobs of a calibration: the same small jobs (calibration_jobs.c) replayed over the
 * network models and through the kernel (network flit).
 *
 * Networks: the machine and its relatives of up to MOST_NODES nodes. Every job is replayed on an ideal
 * network first, which takes milliseconds and tells what the kernel will have to do: flits over links, and
 * ticks while messages may be under way, each one unit of work; the other models are taken to cost MESSAGE
 * units a message. Order: job by job, each on all networks from the smallest up; what the rest of the budget
 * does not allow is left out. So what is run depends on neither clock nor threads, and a small budget spans
 * networks and kinds of jobs.
 *
 * Contention is then replayed with one mixing limit after the other, as far as a fit needs, and the limit fitted
 * (calibration_mixing.c); in the end both models, with the limit that the other networks give. A job that deadlocks in the kernel or that a network model refuses is left out
 * (of that model). */
#include "solvers/calibration/calibration_replays.h"
#include "solvers/calibration/calibration_jobs.h"
#include "solvers/calibration/calibration_mixing.h"
#include "solvers/flit/run.h"

#include <string.h>

enum { MOST_NODES = 256, LEAST_CASES = 10 };
#define MOST_OF_BUDGET 0.1 /* one job */
#define MESSAGE 100.0
#define DETOURS 4e6 /* of the queueing network under UGAL */

struct run {
    const struct fc_network *net;
    struct fc_small_job job;
    double tick_s, flits_per_byte; /* of the kernel's packets, by payload */
    double work;
    double time_s[FC_MIXING_LIMITS]; /* by contention with each */
    double limit;                    /* of mixing, by the jobs of other networks */
    struct fc_replay_case out;
    bool exists, chosen, ran;
};

/* The calibration with a mixing limit. */
static struct fc_calibration limited(const struct fc_calibration *calibration, double limit)
{
    struct fc_calibration c = *calibration;
    c.replays = (struct fc_replays){.mixing = limit};
    return c;
}

/* calibration: see fc_replay_settings. */
static enum fc_code replay(const struct run *r, const struct fc_trace *trace, const struct fc_placement *placement,
                           const struct fc_calibration *calibration, enum fc_network_model network,
                           struct fc_replay *out, struct fc_status *st)
{
    struct fc_replay_settings how = {
        .network = network, .software = r->net->machine->software, .calibration = calibration, .time_only = true};
    return fc_replay_run(r->net, trace, placement, &how, out, st);
}

/* The kernel's flit-hops, ticks that are not computation, and what the other models cost. */
static double work_of(const struct run *r, const struct fc_replay *replay)
{
    double bytes = 0;
    for (uint32_t l = 0; l < r->net->n_links; l++) bytes += replay->link_bytes[l];
    double least = replay->n_network_messages > 0 ? bytes / fmax(1, replay->prediction.network_bytes) : 0;
    return bytes * r->flits_per_byte + least * (double)replay->n_network_messages +
           MESSAGE * (double)replay->n_network_messages +
           fmax(0, replay->prediction.time_s - replay->prediction.computation_s) / r->tick_s;
}

/* NaN where the model cannot. */
static void run_model(struct run *r, const struct fc_trace *trace, const struct fc_placement *placement,
                      const struct fc_calibration *calibration, int model)
{
    static const enum fc_network_model network[FC_MEASURED] = {FC_NET_CONTENTION, FC_NET_QUEUEING};
    FC_SCOPED(fc_replay_free) struct fc_replay replayed = {0};
    struct fc_status why = {0};
    r->out.ratio[model] = NAN;
    struct fc_calibration own = limited(calibration, r->limit);
    bool theory = model == FC_MEASURED_QUEUEING && !calibration->n_cases; /* its parameters */
    if (replay(r, trace, placement, theory ? NULL : &own, network[model], &replayed, &why)) return;
    fc_replay_locate(r->net, &replayed, &r->out.at[model]);
    if (model != FC_MEASURED_CONTENTION) r->out.at[model].interference = NAN; /* not seen there (replay_error.c) */
    if (replayed.prediction.time_s > 0) r->out.ratio[model] = r->out.kernel_s / replayed.prediction.time_s;
}

static void estimate(struct run *r, uint64_t seed, struct fc_status *st)
{
    FC_SCOPED(fc_trace_free) struct fc_trace trace = {0};
    struct fc_placement placement;
    FC_SCOPED(fc_replay_free) struct fc_replay replayed = {0};
    struct fc_status why = {0};
    if (fc_small_job_make(r->net, &r->job, seed, &trace, &placement, &why)) {
        if (why.code != FC_INPUT) *st = why; /* FC_INPUT: not defined for this shape */
        return;
    }
    if (!replay(r, &trace, &placement, NULL, FC_NET_IDEAL, &replayed, st)) {
        r->exists = replayed.n_network_messages > 0;
        r->work = work_of(r, &replayed);
    }
}

/* The job's time through the kernel (limit 0), or by contention with the limit; NaN: not possible. */
static double time_of(const struct run *r, const struct fc_trace *trace, const struct fc_placement *placement,
                      const struct fc_calibration *calibration, double limit, struct fc_status *st)
{
    struct fc_calibration own = limited(calibration, limit);
    FC_SCOPED(fc_replay_free) struct fc_replay replayed = {0};
    struct fc_status why = {0};
    if (replay(r, trace, placement, &own, limit > 0 ? FC_NET_CONTENTION : FC_NET_FLIT, &replayed, &why)) {
        if (why.code == FC_FAULT) *st = why;
        return NAN;
    }
    double time_s = replayed.prediction.time_s;
    return time_s;
}

/* ---- all runs ---- */

/* What is done with every job, in this order. */
enum stage { ESTIMATE, KERNEL, LIMIT, MODELS };
struct campaign {
    struct run *runs;
    uint32_t n;
    const struct fc_calibration *calibration;
    const struct fc_calibration_settings *settings;
    enum stage stage;
    int step;     /* of limits */
    int n_models; /* FC_MEASURED, or contention alone */
};

static void run_one(const struct campaign *c, struct run *r, struct fc_status *st)
{
    FC_SCOPED(fc_trace_free) struct fc_trace trace = {0};
    struct fc_placement placement;
    const struct fc_calibration *calibration = c->calibration;
    if (c->stage > KERNEL && !r->ran) return;
    if (fc_small_job_make(r->net, &r->job, c->settings->seed, &trace, &placement, st)) return;
    for (int m = 0; c->stage == KERNEL && m < FC_MEASURED; m++) r->out.ratio[m] = NAN;
    if (c->stage == KERNEL) r->out.kernel_s = time_of(r, &trace, &placement, calibration, 0, st);
    if (c->stage == KERNEL) r->time_s[0] = time_of(r, &trace, &placement, calibration, 1, st);
    if (c->stage == KERNEL) r->ran = r->out.kernel_s > 0 && r->time_s[0] > 0;
    if (c->stage == LIMIT)
        r->time_s[c->step] = time_of(r, &trace, &placement, calibration, fc_mixing_limit(c->step), st);
    for (int m = 0; c->stage == MODELS && m < c->n_models; m++) run_model(r, &trace, &placement, calibration, m);
}

static enum fc_code in_parallel(struct campaign *c, enum stage stage, struct fc_status *st)
{
    static const char *const names[] = {"jobs", "replays", "limits", "models"};
    c->stage = stage;
    enum { WAVE = 16 };
    for (uint32_t first = 0; first < c->n; first += WAVE) {
        struct fc_status status[WAVE] = {{0}};
        uint32_t end = first + WAVE < c->n ? first + WAVE : c->n;
        fc_progress_show(c->settings->progress, (double)first / c->n, names[stage]);
#pragma omp parallel for num_threads(fc_threads(c->settings->threads)) schedule(dynamic, 1)
        for (uint32_t i = first; i < end; i++) {
            struct run *r = &c->runs[i];
            if (stage == ESTIMATE)
                estimate(r, c->settings->seed, &status[i - first]);
            else if (r->chosen)
                run_one(c, r, &status[i - first]);
        }
        for (uint32_t i = first; i < end; i++)
            if (status[i - first].code) {
                *st = status[i - first];
                return st->code;
            }
    }
    return FC_OK;
}

static enum fc_code shape_run(struct run *r, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_flit_net flit;
    const struct fc_machine *m = r->net->machine;
    fc_flit_defaults(&settings);
    if (fc_flit_prepare(r->net, &settings, &flit, st)) return st->code;
    double payload = m->packet.max_bytes > 0 ? m->packet.max_bytes - m->packet.header_bytes : m->router.flit_bytes;
    r->tick_s = flit.cycle_s / flit.ticks_per_cycle;
    r->flits_per_byte = flit.packet_flits_max / payload;
    fc_flit_unprepare(&flit);
    return FC_OK;
}

static enum fc_code list_runs(const struct fc_calibration_networks *networks, struct fc_arena *arena,
                              struct campaign *c, struct fc_status *st)
{
    struct fc_small_job jobs[FC_CALIBRATION_MOST_NETWORKS][FC_MOST_SMALL_JOBS];
    struct run shape[FC_CALIBRATION_MOST_NETWORKS] = {{0}};
    int n[FC_CALIBRATION_MOST_NETWORKS] = {0}, n_networks = 0;
    for (int w = 0; w < networks->n && networks->net[w]->n_nodes <= MOST_NODES; w++, n_networks++) {
        shape[w].net = networks->net[w];
        if (shape_run(&shape[w], st)) return st->code;
        n[w] = fc_small_jobs(networks->net[w], jobs[w]);
    }
    c->runs = fc_alloc(arena, FC_CALIBRATION_MOST_NETWORKS * FC_MOST_SMALL_JOBS, sizeof *c->runs, st);
    for (int j = 0; c->runs && j < FC_MOST_SMALL_JOBS; j++)
        for (int w = 0; w < n_networks; w++)
            if (j < n[w]) {
                c->runs[c->n] = shape[w];
                c->runs[c->n++].job = jobs[w][j];
            }
    return st->code;
}

/* Under UGAL the queueing network follows the detours of each job's network anew: left out where that is not in the budget. */
static void choose(struct campaign *c, double budget)
{
    uint32_t n = 0;
    double planned = 0;
    for (uint32_t i = 0; i < c->n && n < FC_MOST_REPLAYS; i++) {
        struct run *r = &c->runs[i];
        if (!r->exists || r->work > MOST_OF_BUDGET * budget || planned + r->work > budget) continue;
        planned += r->work;
        r->chosen = true;
        n++;
    }
    bool detours = c->n > 0 && fc_compares_ways(c->runs[0].net->machine);
    c->n_models = detours && n * DETOURS > budget ? FC_MEASURED_CONTENTION + 1 : FC_MEASURED;
}

/* The limit of mixing into *replays, and each job's by the others. */
static enum fc_code fit_limit(struct campaign *c, struct fc_arena *arena, struct fc_replays *replays,
                              struct fc_status *st)
{
    char shape[512];
    uint32_t n = 0;
    int n_steps = 1;
    struct fc_mixing_case *cases = fc_alloc(arena, c->n + 1, sizeof *cases, st);
    for (uint32_t i = 0; cases && i < c->n; i++)
        if (c->runs[i].ran)
            cases[n++] = (struct fc_mixing_case){
                .network = fc_copy_text(arena, fc_machine_shape(c->runs[i].net->machine, shape, sizeof shape), st),
                .kernel_s = c->runs[i].out.kernel_s};
    if (st->code) return st->code;
    do {
        c->step = n_steps;
        if (in_parallel(c, LIMIT, st)) return st->code;
        n_steps++;
        for (uint32_t i = 0, k = 0; i < c->n; i++)
            if (c->runs[i].ran) memcpy(cases[k++].time_s, c->runs[i].time_s, sizeof cases->time_s);
    } while (!fc_mixing_enough(cases, n, n_steps));
    fc_mixing_fit(cases, n, n_steps, replays);
    for (uint32_t i = 0, k = 0; i < c->n; i++)
        if (c->runs[i].ran) c->runs[i].limit = cases[k++].left_out;
    return FC_OK;
}

static enum fc_code keep(const struct campaign *c, struct fc_arena *arena, struct fc_replays *replays,
                         struct fc_status *st)
{
    char shape[512];
    replays->cases = fc_alloc(arena, FC_MOST_REPLAYS, sizeof *replays->cases, st);
    for (uint32_t i = 0; replays->cases && i < c->n; i++) {
        const struct run *r = &c->runs[i];
        if (!r->chosen) continue;
        replays->hops_run += r->work;
        if (!(r->out.ratio[FC_MEASURED_CONTENTION] > 0)) continue;
        struct fc_replay_case *k = &replays->cases[replays->n_cases++];
        *k = r->out;
        k->network = fc_copy_text(arena, fc_machine_shape(r->net->machine, shape, sizeof shape), st);
        k->job = fc_copy_text(arena, r->job.name, st);
        k->mapping = r->job.random ? "random" : "order";
        k->nodes = r->net->n_nodes;
    }
    if (replays->n_cases < LEAST_CASES) replays->n_cases = 0;
    fc_replays_cover(replays);
    return st->code;
}

enum fc_code fc_calibration_replays_run(const struct fc_machine *machine, double budget,
                                        const struct fc_calibration_settings *settings,
                                        struct fc_calibration *calibration, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    const struct fc_calibration_design none = {.n_networks = 0};
    struct fc_calibration_networks networks = {.without = settings->without};
    struct campaign c = {.calibration = calibration, .settings = settings};
    struct fc_replays replays = {.mixing = 1, .mixing_low = 1, .mixing_high = 1};
    if (!fc_calibration_networks_open(machine, &none, &networks, st) && !list_runs(&networks, &scratch, &c, st) &&
        !in_parallel(&c, ESTIMATE, st)) {
        choose(&c, budget);
        if (!in_parallel(&c, KERNEL, st) && !fit_limit(&c, &scratch, &replays, st) && !in_parallel(&c, MODELS, st))
            keep(&c, &calibration->arena, &replays, st);
    }
    calibration->replays = replays;
    fc_calibration_networks_close(&networks);
    return st->code;
}
