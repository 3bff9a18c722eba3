/* calibration_phases.c - closed runs of a calibration: bulk phases in the kernel beside the contention model.
 *
 * Networks: those of the design (calibration_design.c). Patterns: all-to-all, those of the design but uniform,
 * neighbor, two random permutations, and the machine's own two-dimensional stencil over all cores. Sizes: 1, 10, 1/n
 * and 100 packets to each destination (1/n: 16 bytes, where packets have several flits). A case is run where it
 * takes at most MOST_OF_BUDGET of the budget and all before it have left as much; what it takes, packets x hops,
 * is known beforehand, so what is run depends on neither clock nor threads. Order: size by size, in each from
 * the smallest network up, so that a small budget spans patterns and networks first. Runs that are not complete at
 * their time limit are left out. */
#include "solvers/calibration_phases.h"
#include "solvers/flit/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OF_BUDGET 0.25
#define SHORT_BYTES 16.0
enum { MOST_PATTERNS = 12, MOST_NETWORKS = 8, SIZES = 4, LEAST_CASES = 4, TEXT = 128 };
static const double sizes[SIZES] = {1, 10, 0, 100}; /* packets; 0: a short message */

/* A pattern on a network, of all sizes. */
struct family {
    const struct fc_network *net;
    char pattern[96]; /* without bytes */
    double packets, hops; /* of one packet to each destination: between nodes; mean hops */
    bool events;      /* the event engine counts packets over links, the cycle engine flits */
    double flits;     /* of a packet */
};
struct run {
    const struct family *of;
    char pattern[TEXT]; /* as the user types it */
    double flits;       /* of a packet */
    struct fc_bulk_case out;
    double hops_run;
    bool ran;
};

/* ---- one phase: demand, placement, load, reference ---- */

struct phase {
    struct fc_demand demand;
    struct fc_placement placement;
    struct fc_load load;
    struct fc_phase_parts parts;
    struct fc_arena arena;
};

static void close_phase(struct phase *p)
{
    fc_load_free(&p->load);
    fc_demand_free(&p->demand);
    fc_arena_free(&p->arena);
}

/* Tasks in order, as many on each node. */
static enum fc_code place(struct phase *p, const struct fc_network *net, struct fc_status *st)
{
    uint32_t n = p->demand.n_tasks, *node = fc_alloc(&p->arena, n, sizeof *node, st);
    if (!node) return st->code;
    if (n % net->n_nodes)
        return fc_refuse(st, FC_INPUT, "%s: %u tasks on %u nodes", p->demand.name, n, net->n_nodes);
    for (uint32_t t = 0; t < n; t++) node[t] = t / (n / net->n_nodes);
    p->placement = (struct fc_placement){n, node};
    return FC_OK;
}

static enum fc_code open_phase(struct phase *p, const struct fc_network *net, const char *pattern, uint64_t seed,
                               struct fc_status *st)
{
    struct fc_load_settings how = {.threads = 1, .seed = seed};
    memset(p, 0, sizeof *p);
    if (fc_demand_from_pattern(net, pattern, seed, &p->demand, st)) return st->code;
    if (place(p, net, st) || fc_load_solve(net, &p->demand, &p->placement, &how, &p->load, st) ||
        fc_phase_parts(net, &p->demand, &p->placement, &p->load, &how, &p->parts, st))
        close_phase(p);
    return st->code;
}

static double payload_bytes(const struct fc_machine *m)
{
    return m->packet.max_bytes > 0 ? m->packet.max_bytes - m->packet.header_bytes : m->router.flit_bytes;
}

static void name_pattern(const struct family *f, double packets, char *out, size_t size)
{
    double payload = payload_bytes(f->net->machine);
    snprintf(out, size, "%s%cbytes=%.17g", f->pattern, strchr(f->pattern, ':') ? ',' : ':',
             packets > 0 ? packets * payload : fmin(SHORT_BYTES, payload));
}

/* ---- design ---- */

static bool uses_events(const struct fc_network *net, double *flits, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_flit_net flit;
    char why[256];
    fc_flit_defaults(&settings);
    if (fc_flit_prepare(net, &settings, &flit, st)) return false;
    bool events = fc_flit_event_engine.takes(&flit, why, sizeof why);
    *flits = flit.packet_flits_max;
    fc_flit_unprepare(&flit);
    return events;
}

/* Adds the pattern where the network has it and it sends anything over a link. */
static enum fc_code add_family(const struct fc_network *net, const char *pattern, uint64_t seed,
                               struct family *families, int *n, struct fc_status *st)
{
    struct family *f = &families[*n];
    struct fc_status why = {0};
    struct phase p;
    char text[TEXT];
    for (int i = 0; i < *n; i++)
        if (families[i].net == net && !strcmp(families[i].pattern, pattern)) return FC_OK;
    *f = (struct family){.net = net};
    f->events = uses_events(net, &f->flits, st);
    if (st->code) return st->code;
    snprintf(f->pattern, sizeof f->pattern, "%s", pattern);
    name_pattern(f, 1, text, sizeof text);
    if (open_phase(&p, net, text, seed, &why)) {
        if (why.code != FC_INPUT) *st = why; /* FC_INPUT: not defined for this shape */
        return st->code;
    }
    f->packets = p.load.network_bytes / payload_bytes(net->machine);
    f->hops = p.load.network_bytes > 0 ? fmax(1, p.load.hop_bytes / p.load.network_bytes) : 0;
    if (f->packets > 0) (*n)++;
    close_phase(&p);
    return FC_OK;
}

static enum fc_code add_families(const struct fc_calibration_design *d, const struct fc_network *net, uint64_t seed,
                                 struct family *families, int *n, struct fc_status *st)
{
    static const char *const own[] = {"neighbor", "permutation:seed=1", "permutation:seed=2", "stencil2d"};
    if (add_family(net, "alltoall", seed, families, n, st)) return st->code;
    for (uint32_t j = 0; j < d->n_jobs; j++) {
        const struct fc_calibration_job *job = &d->jobs[j];
        if (job->net == net && strcmp(job->out->pattern, "uniform") &&
            add_family(net, job->out->pattern, seed, families, n, st))
            return st->code;
    }
    for (size_t i = 0; i < FC_COUNT(own); i++)
        if (add_family(net, own[i], seed, families, n, st)) return st->code;
    return FC_OK;
}

/* Flits of a packet of `packets` packets a message, as in `sizes`. */
static double flits_of(const struct family *f, double packets)
{
    const struct fc_machine *m = f->net->machine;
    return packets > 0 ? f->flits
                       : fmin(f->flits, ceil((SHORT_BYTES + m->packet.header_bytes) / m->router.flit_bytes));
}

/* Hops that a run takes, by the engine that takes it. */
static double estimate(const struct family *f, double packets)
{
    return f->packets * fmax(packets, 1) * f->hops * (f->events ? 1 : flits_of(f, packets));
}

/* All runs that the budget allows, in order; families ascend by nodes. */
static uint32_t choose(const struct family *families, int n_families, double budget, struct run *runs)
{
    double planned = 0;
    uint32_t n = 0;
    for (int s = 0; s < SIZES; s++)
        for (int i = 0; i < n_families; i++) {
            const struct family *f = &families[i];
            const struct fc_machine *m = f->net->machine;
            double cost = estimate(f, sizes[s]);
            bool is_short = sizes[s] == 0;
            if (is_short && !(m->packet.max_bytes > 0 && payload_bytes(m) > 2 * SHORT_BYTES)) continue;
            if (cost > MOST_OF_BUDGET * budget || planned + cost > budget || n == FC_KRIGING_MOST_POINTS) continue;
            planned += cost;
            runs[n] = (struct run){.of = f, .flits = flits_of(f, sizes[s])};
            name_pattern(f, sizes[s], runs[n].pattern, sizeof runs[n].pattern);
            n++;
        }
    return n;
}

/* ---- runs ---- */

static enum fc_code run_phase(struct run *r, const struct phase *p, uint64_t seed, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_flit_result result;
    const struct fc_network *net = r->of->net;
    fc_flit_defaults(&settings);
    settings.seed = seed;
    settings.threads = 1;
    if (fc_bulk_locate(net, &p->demand, &p->placement, &p->load, &p->parts, &r->out.at, st) ||
        fc_flit_run(net, &p->demand, p->placement.node, &settings, &result, st))
        return st->code;
    r->out.kind = fc_bulk_kind(net, &p->demand, &p->placement, &p->load);
    r->out.nodes = net->n_nodes;
    r->out.ratio = (double)result.cycles * result.cycle_s / r->out.at.reference_s;
    r->hops_run = (double)result.flit_hops / (strcmp(result.engine, "event") ? 1 : r->flits);
    r->ran = result.complete && r->out.at.reference_s > 0;
    if (result.deadlock) fc_refuse(st, FC_NO, "%s: deadlock: %s", r->pattern, result.deadlock_text);
    fc_flit_free(&result);
    return st->code;
}

static void run_one(struct run *r, uint64_t seed, struct fc_status *st)
{
    struct phase p;
    if (open_phase(&p, r->of->net, r->pattern, seed, st)) return;
    run_phase(r, &p, seed, st);
    close_phase(&p);
}

static enum fc_code run_all(struct run *runs, uint32_t n, const struct fc_calibration_settings *settings,
                            struct fc_status *st)
{
    enum { WAVE = 16 };
    for (uint32_t first = 0; first < n; first += WAVE) {
        struct fc_status status[WAVE] = {{0}};
        uint32_t end = first + WAVE < n ? first + WAVE : n;
        fc_progress_show(settings->progress, (double)first / n, "phases");
#pragma omp parallel for num_threads(settings->threads) schedule(dynamic, 1)
        for (uint32_t i = first; i < end; i++) run_one(&runs[i], settings->seed, &status[i - first]);
        for (uint32_t i = first; i < end; i++)
            if (status[i - first].code) {
                *st = status[i - first];
                return st->code;
            }
    }
    return FC_OK;
}

/* ---- the process and its errors ---- */

static enum fc_code fit(struct fc_bulk *bulk, struct fc_status *st)
{
    struct fc_arena arena = {0};
    struct fc_kriging *kriging = NULL;
    double mean, *value = fc_alloc(&arena, bulk->n_cases, sizeof *value, st),
                 *deviation = fc_alloc(&arena, bulk->n_cases, sizeof *deviation, st);
    if (value && deviation && !fc_bulk_open(bulk, &kriging, &mean, st)) {
        bulk->shape = *fc_kriging_shape_of(kriging);
        for (int what = FC_KRIGING_GROUP; what <= FC_KRIGING_KIND && !st->code; what++) {
            if (fc_kriging_leave_out(kriging, (enum fc_kriging_left_out)what, value, deviation, st)) break;
            for (uint32_t i = 0; i < bulk->n_cases; i++) {
                struct fc_bulk_case *c = &bulk->cases[i];
                double error = 100 * fabs(expm1(mean + value[i] - log(c->ratio)));
                *(what == FC_KRIGING_GROUP ? &c->left_network_percent : &c->left_kind_percent) = error;
            }
        }
    }
    fc_kriging_close(kriging);
    fc_arena_free(&arena);
    return st->code;
}

static enum fc_code keep(const struct run *runs, uint32_t n, struct fc_arena *arena, struct fc_bulk *bulk,
                         struct fc_status *st)
{
    char shape[512];
    bulk->cases = fc_alloc(arena, n, sizeof *bulk->cases, st);
    for (uint32_t i = 0; bulk->cases && i < n; i++) {
        bulk->hops_run += runs[i].hops_run;
        if (!runs[i].ran) continue;
        struct fc_bulk_case *c = &bulk->cases[bulk->n_cases++];
        *c = runs[i].out;
        c->network = fc_copy_text(arena, fc_machine_shape(runs[i].of->net->machine, shape, sizeof shape), st);
        c->pattern = fc_copy_text(arena, runs[i].pattern, st);
    }
    if (!st->code && bulk->n_cases >= LEAST_CASES) return fit(bulk, st);
    bulk->n_cases = 0;
    return st->code;
}

enum fc_code fc_calibration_phases_run(const struct fc_calibration_design *d, double budget_hops,
                                       const struct fc_calibration_settings *settings, struct fc_arena *arena,
                                       struct fc_bulk *bulk, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    int order[MOST_NETWORKS], n_families = 0, n_networks = d->n_networks < MOST_NETWORKS ? d->n_networks : MOST_NETWORKS;
    *bulk = (struct fc_bulk){0};
    struct family *families = fc_alloc(&scratch, MOST_NETWORKS * MOST_PATTERNS, sizeof *families, st);
    struct run *runs = fc_alloc(&scratch, FC_KRIGING_MOST_POINTS, sizeof *runs, st);
    for (int i = 0; i < n_networks; i++) { /* by nodes; equal ones as they are found */
        int at = i;
        for (; at > 0 && d->networks[order[at - 1]].n_nodes > d->networks[i].n_nodes; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; families && runs && i < n_networks && !st->code; i++)
        add_families(d, &d->networks[order[i]], settings->seed, families, &n_families, st);
    if (!st->code) {
        uint32_t n = choose(families, n_families, budget_hops, runs);
        if (!run_all(runs, n, settings, st)) keep(runs, n, arena, bulk, st);
    }
    fc_arena_free(&scratch);
    return st->code;
}
