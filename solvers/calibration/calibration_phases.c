/* calibration_phases.c - closed runs of a calibration: bulk phases in the kernel beside the contention model.
 *
 * Networks: those of the design (calibration_design.c), the machine itself and relatives of it of up to
 * MOST_NODES that are too large for open-loop runs but not for a phase. Patterns: all-to-all, those of the
 * design but uniform, neighbor, two random permutations, and the machine's own two-dimensional stencil over
 * all cores. Sizes: 1, 10, 1/n and 100 packets to each destination (1/n: 16 bytes, where packets have several
 * flits). What a case takes, packets x hops, is known beforehand, so what is run depends on neither clock nor
 * threads. Order: cheap cases, then the others; in each size by size, from the smallest network up; what the
 * rest of the budget does not allow is left out. So a small budget spans patterns, sizes and networks, a
 * large one adds all-to-all on large networks. Runs that are not complete at their time limit are left out.
 */
#include "solvers/calibration/calibration_phases.h"
#include "solvers/flit/run.h"
#include "solvers/load_internal.h"

#include <string.h>

#define CHEAP (1 / 32.0) /* of the budget */
#define SHORT_BYTES 16.0
/* Under UGAL a flow is on a quarter of all links, and to know a pattern's loads takes 0.4 us
 * a flow and link, measured on 512 and 3456 nodes. Patterns that take more than MOST_LOOKS of the budget, or with those before them more
 * than ALL_LOOKS, are left out. */
#define LOOK_S (4e-7 / 4)
/* On adaptive tori the split over paths takes up to 0.75 s, by flows. */
#define SPLIT_S 3e-4
#define MOST_SPLIT_S 0.75
/* fc_bulk_fluid of a run, at most 0.5 s: 2560 messages of random lengths on 512 nodes take 0.2 s, a stencil of 49 000, which end all at
 * few times, 0.7. */
#define FLUID_S 3.5e-8         /* a pair of messages */
#define REGULAR_FLUID_S 1.4e-5 /* a message of a stencil */
#define MOST_FLUID_S 0.5
#define MOST_LOOKS (1 / 16.0)
#define ALL_LOOKS (1 / 2.0)
enum {
    MOST_PATTERNS = 16,
    MOST_NETWORKS = FC_CALIBRATION_MOST_NETWORKS,
    MOST_RELATIVES = 8,
    MOST_NODES = 4096,
    SIZES = 4,
    LEAST_CASES = 4
};
enum { TEXT = 128 };
static const double sizes[SIZES] = {1, 10, 0, 100}; /* packets; 0: a short message */

/* A pattern on a network, of all sizes: its loads are those of one packet to each destination times the size.
 */
struct family {
    const struct fc_network *net;
    double mixing;    /* limit for fluids */
    char pattern[96]; /* without bytes */
    struct fc_arena arena;
    struct fc_placement placement; /* tasks in order, as many on each node */
    struct fc_load load;           /* of one packet */
    bool alike;                    /* all messages are as long: loads of other sizes are those times the size */
    double split;                  /* fc_bulk_split */
    double packets, hops;          /* of one packet to each destination: between nodes; mean hops */
    bool events;                   /* the event engine counts packets over links, the cycle engine flits */
    double flits;                  /* of a packet */
    double slower;                 /* how much longer a move takes than the event engine's */
    double looks;                  /* what knowing its loads takes, as moves */
    double fluid;                  /* and what fc_bulk_fluid of a run takes */
};
struct run {
    const struct family *of;
    double bytes;       /* of a message */
    char pattern[TEXT]; /* as the user types it */
    double flits;       /* of a packet */
    struct fc_bulk_case out;
    double hops_run;
    bool ran;
};

static double payload_bytes(const struct fc_machine *m)
{
    return m->packet.max_bytes > 0 ? m->packet.max_bytes - m->packet.header_bytes : m->router.flit_bytes;
}

/* Bytes of a message of `packets` as in `sizes`. */
static double message_bytes(const struct family *f, double packets)
{
    double payload = payload_bytes(f->net->machine);
    return packets > 0 ? packets * payload : fmin(SHORT_BYTES, payload);
}

static void name_pattern(const struct family *f, double bytes, char *out, size_t size)
{
    snprintf(out, size, "%s%cbytes=%.17g", f->pattern, strchr(f->pattern, ':') ? ',' : ':', bytes);
}

/* ---- design ---- */

/* `slower`: by the event engine, for the links that heads look at. */
static enum fc_code find_engine(struct family *f, double slower, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_flit_net flit;
    fc_flit_defaults(&settings);
    if (fc_flit_prepare(f->net, &settings, &flit, st)) return st->code;
    f->events = fc_flit_by_events(&flit, &settings);
    f->flits = flit.packet_flits_max;
    f->slower = f->events ? slower : FC_CALIBRATION_PHASES_MOVES_PER_S / FC_CALIBRATION_CYCLE_MOVES_PER_S;
    if (fc_compares_ways(f->net->machine))
        f->slower = 1 + (double)f->net->n_links * flit.n_network_vcs / FC_CALIBRATION_CACHED_CHANNELS;
    fc_flit_unprepare(&flit);
    return FC_OK;
}

static enum fc_code place(struct family *f, uint32_t n_tasks, struct fc_status *st)
{
    uint32_t n_nodes = f->net->n_nodes, *node = fc_alloc(&f->arena, n_tasks, sizeof *node, st);
    if (!node) return st->code;
    if (n_tasks % n_nodes) return fc_refuse(st, FC_INPUT, "%s: %u tasks, %u nodes", f->pattern, n_tasks, n_nodes);
    for (uint32_t t = 0; t < n_tasks; t++) node[t] = t / (n_tasks / n_nodes);
    f->placement = (struct fc_placement){n_tasks, node};
    return FC_OK;
}

/* Sets looks; FC_INPUT: over `most`. */
static enum fc_code may_look(struct family *f, const struct fc_demand *demand, double most, struct fc_status *st)
{
    double flows = demand->n_dense ? 0 : (double)demand->n_entries;
    if (fc_compares_ways(f->net->machine))
        f->looks = LOOK_S * flows * f->net->n_links * FC_CALIBRATION_UGAL_MOVES_PER_S;
    else if (fc_adaptive_torus_takes(f->net))
        f->looks = fmin(MOST_SPLIT_S, SPLIT_S * flows) * FC_CALIBRATION_PHASES_MOVES_PER_S;
    double fluid_s = demand->n_grid ? REGULAR_FLUID_S * flows : FLUID_S * flows * flows;
    f->fluid = fmin(MOST_FLUID_S, fluid_s) * FC_CALIBRATION_PHASES_MOVES_PER_S;
    if (f->looks <= most) return FC_OK;
    return fc_refuse(st, FC_INPUT, "%s: its loads take longer than the budget allows", f->pattern);
}

static enum fc_code load_family(struct family *f, double most, uint64_t seed, struct fc_status *st)
{
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    struct fc_load_settings how = {.threads = 1, .seed = seed};
    char text[TEXT];
    name_pattern(f, message_bytes(f, 1), text, sizeof text);
    if (fc_demand_from_pattern(f->net, text, seed, &demand, st)) return st->code;
    f->alike = demand.n_dense || fc_all_equal(demand.bytes, (uint32_t)demand.n_entries);
    if (may_look(f, &demand, most, st)) return st->code;
    if (!place(f, demand.n_tasks, st) && !fc_load_solve(f->net, &demand, &f->placement, &how, &f->load, st))
        fc_bulk_split(f->net, &demand, &f->placement, &f->load, &f->split, st);
    return st->code;
}

static void close_family(struct family *f)
{
    fc_load_free(&f->load);
    fc_arena_free(&f->arena);
}

struct allowed {
    double budget; /* moves */
    double slower; /* of find_engine */
    uint64_t seed;
    double mixing;
};

/* What the next pattern's loads may take. */
static double most_looks(const struct family *families, int n, double budget)
{
    double left = ALL_LOOKS * budget;
    for (int i = 0; i < n; i++) left -= families[i].looks;
    return fmin(MOST_LOOKS * budget, left);
}

/* Adds the pattern where the network has it, it sends anything over a link, and its loads are in the budget. */
static enum fc_code add_family(const struct fc_network *net, const char *pattern, const struct allowed *allowed,
                               struct family *families, int *n, struct fc_status *st)
{
    struct family *f = &families[*n];
    struct fc_status why = {0};
    for (int i = 0; i < *n; i++)
        if (families[i].net == net && !strcmp(families[i].pattern, pattern)) return FC_OK;
    *f = (struct family){.net = net, .mixing = allowed->mixing};
    snprintf(f->pattern, sizeof f->pattern, "%s", pattern);
    if (find_engine(f, allowed->slower, st)) return st->code;
    if (load_family(f, most_looks(families, *n, allowed->budget), allowed->seed, &why)) {
        if (why.code != FC_INPUT) *st = why; /* FC_INPUT: not defined for this shape, or too much */
        close_family(f);
        return st->code;
    }
    f->packets = f->load.network_bytes / payload_bytes(net->machine);
    f->hops = f->load.network_bytes > 0 ? fmax(1, f->load.hop_bytes / f->load.network_bytes) : 0;
    if (f->packets > 0)
        (*n)++;
    else
        close_family(f);
    return FC_OK;
}

static enum fc_code add_families(const struct fc_network *net, const struct allowed *allowed, struct family *families,
                                 int *n, struct fc_status *st)
{
    static const char *const own[] = {"neighbor",
                                      "permutation:seed=1",
                                      "permutation:seed=2",
                                      "stencil2d",
                                      "random:seed=1",
                                      "random:partners=3,share=0.125,sigma=0,seed=2",
                                      "random:partners=12,sigma=0.5,seed=3"};
    if (add_family(net, "alltoall", allowed, families, n, st)) return st->code;
    struct fc_calibration_patterns patterns;
    fc_calibration_patterns(net, &patterns);
    for (int i = 0; i < patterns.n; i++)
        if (add_family(net, patterns.text[i], allowed, families, n, st)) return st->code;
    for (size_t i = 0; i < FC_COUNT(own); i++)
        if (add_family(net, own[i], allowed, families, n, st)) return st->code;
    return FC_OK;
}

/* Flits of a packet of `packets` packets a message, as in `sizes`. */
static double flits_of(const struct family *f, double packets)
{
    const struct fc_machine *m = f->net->machine;
    return packets > 0 ? f->flits : fmin(f->flits, ceil((SHORT_BYTES + m->packet.header_bytes) / m->router.flit_bytes));
}

/* What a run takes, by its engine, as moves of the event engine; loads that are not those of another size are known anew. */
static double estimate(const struct family *f, double packets)
{
    double moves = f->packets * fmax(packets, 1) * (f->hops + 2) * (f->events ? 1 : flits_of(f, packets));
    return moves * f->slower + (f->alike ? 0 : f->looks) + f->fluid;
}

/* The short message needs packets of which it is a small part. */
static bool has_size(const struct family *f, double packets)
{
    const struct fc_machine *m = f->net->machine;
    return packets > 0 || (m->packet.max_bytes > 0 && payload_bytes(m) > 2 * SHORT_BYTES);
}

/* All runs that the budget allows, in order; families ascend by nodes. */
static uint32_t choose(const struct family *families, int n_families, double budget, struct run *runs)
{
    double planned = 0;
    uint32_t n = 0;
    for (int i = 0; i < n_families; i++) planned += families[i].looks;
    for (int costly = 0; costly < 2; costly++)
        for (int s = 0; s < SIZES; s++)
            for (int i = 0; i < n_families && n < FC_KRIGING_MOST_POINTS; i++) {
                const struct family *f = &families[i];
                double cost = estimate(f, sizes[s]);
                if (!has_size(f, sizes[s]) || (cost > CHEAP * budget) != costly || planned + cost > budget) continue;
                planned += cost;
                runs[n] = (struct run){.of = f, .bytes = message_bytes(f, sizes[s]), .flits = flits_of(f, sizes[s])};
                name_pattern(f, runs[n].bytes, runs[n].pattern, sizeof runs[n].pattern);
                n++;
            }
    return n;
}

/* ---- runs ---- */

/* The family's loads for messages of this size, where all are as long. */
static enum fc_code scale_load(const struct run *r, struct fc_arena *arena, struct fc_load *load, struct fc_status *st)
{
    const struct family *f = r->of;
    double factor = r->bytes / message_bytes(f, 1);
    *load = (struct fc_load){.hop_bytes = f->load.hop_bytes * factor,
                             .local_bytes = f->load.local_bytes * factor,
                             .network_bytes = f->load.network_bytes * factor,
                             .cut_bound_s = NAN,
                             .method = f->load.method};
    load->wire_factor = load->least_wire_factor = fc_wire_bytes(f->net->machine, r->bytes) / r->bytes;
    load->bytes = fc_alloc(arena, f->net->n_links, sizeof *load->bytes, st);
    for (uint32_t l = 0; load->bytes && l < f->net->n_links; l++) load->bytes[l] = f->load.bytes[l] * factor;
    return st->code;
}

/* What is known of the run's loads without the kernel. */
struct known {
    struct fc_load load;
    double split;
};

static enum fc_code know(const struct run *r, const struct fc_demand *demand, uint64_t seed, struct known *k,
                         struct fc_status *st)
{
    const struct family *f = r->of;
    struct fc_load_settings how = {.threads = 1, .seed = seed};
    if (f->alike) {
        k->split = f->split;
        return scale_load(r, &k->load.arena, &k->load, st);
    }
    if (fc_load_solve(f->net, demand, &f->placement, &how, &k->load, st)) return st->code;
    return fc_bulk_split(f->net, demand, &f->placement, &k->load, &k->split, st);
}

static enum fc_code locate(const struct family *f, const struct fc_demand *demand, const struct fc_load *load,
                           double split, struct fc_bulk_point *at, struct fc_status *st)
{
    struct fc_phase_parts parts;
    struct fc_bulk_fluid fluid;
    if (fc_phase_parts(f->net, demand, &f->placement, load, NULL, &parts, st) ||
        fc_bulk_fluid(f->net, demand, &f->placement, NULL, f->mixing, &fluid, st))
        return st->code;
    return fc_bulk_locate(f->net, demand, &f->placement, load, &parts, split, fluid.seconds, at, st);
}

static enum fc_code run_phase(struct run *r, const struct fc_demand *demand, const struct known *k, uint64_t seed,
                              struct fc_status *st)
{
    struct fc_flit_settings settings;
    FC_SCOPED(fc_flit_free) struct fc_flit_result result = {0};
    const struct family *f = r->of;
    fc_flit_defaults(&settings);
    settings.seed = seed;
    settings.threads = 1;
    if (locate(f, demand, &k->load, k->split, &r->out.at, st) ||
        fc_flit_run(f->net, demand, f->placement.node, &settings, &result, st))
        return st->code;
    r->out.kind = fc_bulk_kind(f->net, demand, &f->placement, &k->load);
    r->out.nodes = f->net->n_nodes;
    r->out.ratio = (double)result.cycles * result.cycle_s / r->out.at.reference_s;
    r->hops_run = (double)result.flit_hops / (strcmp(result.engine, "event") ? 1 : r->flits);
    r->ran = result.complete && r->out.at.reference_s > 0;
    if (result.deadlock) fc_refuse(st, FC_NO, "%s: deadlock: %s", r->pattern, result.deadlock_text);
    return st->code;
}

static void run_one(struct run *r, uint64_t seed, struct fc_status *st)
{
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    struct known known = {0};
    if (fc_demand_from_pattern(r->of->net, r->pattern, seed, &demand, st)) return;
    if (!know(r, &demand, seed, &known, st)) run_phase(r, &demand, &known, seed, st);
    fc_load_free(&known.load);
}

static enum fc_code run_all(struct run *runs, uint32_t n, const struct fc_calibration_settings *settings,
                            struct fc_status *st)
{
    enum { WAVE = 16 };
    for (uint32_t first = 0; first < n; first += WAVE) {
        struct fc_status status[WAVE] = {{0}};
        uint32_t end = first + WAVE < n ? first + WAVE : n;
        fc_progress_show(settings->progress, (double)first / n, "phases");
#pragma omp parallel for num_threads(fc_threads(settings->threads)) schedule(dynamic, 1)
        for (uint32_t i = first; i < end; i++) run_one(&runs[i], settings->seed, &status[i - first]);
        for (uint32_t i = first; i < end; i++)
            if (status[i - first].code) {
                *st = status[i - first];
                return st->code;
            }
    }
    return FC_OK;
}

/* ---- what is kept ---- */

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
    if (!st->code && bulk->n_cases >= LEAST_CASES) return fc_bulk_fit(bulk, st);
    bulk->n_cases = 0;
    return st->code;
}

/* ---- networks ---- */

static void add_network(struct fc_calibration_networks *w, const struct fc_network *net)
{
    int at = w->n++;
    for (; at > 0 && w->net[at - 1]->n_nodes > net->n_nodes; at--) w->net[at] = w->net[at - 1];
    w->net[at] = net;
}

/* Whether the network is there already, or not to be run. */
static bool is_known(const struct fc_calibration_networks *w, const struct fc_machine *machine)
{
    char shape[512], other[512];
    fc_machine_shape(machine, shape, sizeof shape);
    if (w->without && !strcmp(shape, w->without)) return true;
    for (int i = 0; i < w->n; i++)
        if (!strcmp(shape, fc_machine_shape(w->net[i]->machine, other, sizeof other))) return true;
    return false;
}

/* Takes the machine over; one that cannot be built, or is too large, is no loss. */
static enum fc_code try_network(struct fc_calibration_networks *w, struct fc_machine *machine, bool borrowed,
                                struct fc_status *st)
{
    struct fc_status why = {0};
    struct fc_network *net = &w->own[w->n_owned];
    bool known = w->n == MOST_NETWORKS || is_known(w, machine);
    w->machine[w->n_owned] = *machine;
    if (!known && !fc_network_build(&w->machine[w->n_owned], net, &why)) {
        if (net->n_nodes > 1 && net->n_nodes <= MOST_NODES) {
            w->borrowed[w->n_owned++] = borrowed;
            add_network(w, net);
            return FC_OK;
        }
        fc_network_free(net);
    }
    if (!borrowed) fc_machine_free(&w->machine[w->n_owned]);
    if (why.code == FC_FAULT) *st = why;
    return st->code;
}

enum fc_code fc_calibration_networks_open(const struct fc_machine *machine, const struct fc_calibration_design *d,
                                          struct fc_calibration_networks *w, struct fc_status *st)
{
    struct fc_machine own = *machine;
    w->machine = fc_alloc(&w->arena, MOST_NETWORKS, sizeof *w->machine, st);
    w->own = fc_alloc(&w->arena, MOST_NETWORKS, sizeof *w->own, st);
    if (!w->machine || !w->own) return st->code;
    for (int i = 0; i < d->n_networks && w->n < MOST_NETWORKS; i++) add_network(w, &d->networks[i]);
    if (try_network(w, &own, true, st)) return st->code;
    for (int i = 0; i < MOST_RELATIVES; i++) {
        struct fc_machine relative;
        bool exists;
        if (fc_machine_smaller(machine, i, &relative, &exists, st)) return st->code;
        if (!exists) break;
        if (try_network(w, &relative, false, st)) return st->code;
    }
    return FC_OK;
}

void fc_calibration_networks_close(struct fc_calibration_networks *w)
{
    for (int i = 0; i < w->n_owned; i++) {
        fc_network_free(&w->own[i]);
        if (!w->borrowed[i]) fc_machine_free(&w->machine[i]);
    }
    fc_arena_free(&w->arena);
}

enum fc_code fc_calibration_phases_run(const struct fc_machine *machine, const struct fc_calibration_design *d,
                                       double budget_moves, const struct fc_calibration_settings *settings,
                                       double mixing, struct fc_arena *arena, struct fc_bulk *bulk,
                                       struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_calibration_networks networks = {.without = settings->without};
    double more = d->n_jobs ? d->jobs[0].more_links : 0;
    struct allowed allowed = {budget_moves, 1 + more / FC_CALIBRATION_LINKS_LOOKED_AT, settings->seed, mixing};
    int n_families = 0;
    *bulk = (struct fc_bulk){.mixing = mixing};
    struct family *families = fc_alloc(&scratch, MOST_NETWORKS * MOST_PATTERNS, sizeof *families, st);
    struct run *runs = fc_alloc(&scratch, FC_KRIGING_MOST_POINTS, sizeof *runs, st);
    if (families && runs) fc_calibration_networks_open(machine, d, &networks, st);
    for (int i = 0; i < networks.n && !st->code; i++)
        add_families(networks.net[i], &allowed, families, &n_families, st);
    if (!st->code) {
        uint32_t n = choose(families, n_families, budget_moves, runs);
        if (!run_all(runs, n, settings, st)) keep(runs, n, arena, bulk, st);
    }
    for (int i = 0; i < n_families; i++) close_family(&families[i]);
    fc_calibration_networks_close(&networks);
    return st->code;
}

/* ---- one more ---- */

static enum fc_code run_alone(const struct fc_network *net, uint64_t seed, struct family *f, struct run *r,
                              struct fc_status *st)
{
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    if (fc_demand_from_pattern(net, r->pattern, seed, &demand, st)) return st->code;
    if (demand.open_loop) return fc_refuse(st, FC_INPUT, "%s: rates, not messages", r->pattern);
    if (find_engine(f, 1, st) || place(f, demand.n_tasks, st)) return st->code;
    r->flits = f->flits;
    run_one(r, seed, st);
    if (!st->code && !(r->out.at.reference_s > 0))
        fc_refuse(st, FC_INPUT, "%s: nothing crosses the network", r->pattern);
    if (!st->code && !r->ran) fc_refuse(st, FC_NO, "%s: the phase is not over in time", r->pattern);
    return st->code;
}

enum fc_code fc_calibration_phase_add(const struct fc_network *net, const char *pattern, uint64_t seed,
                                      struct fc_arena *arena, struct fc_bulk *bulk, const struct fc_bulk_case **added,
                                      struct fc_status *st)
{
    char shape[512];
    struct family f = {.net = net, .mixing = bulk->mixing};
    struct run r = {.of = &f};
    if (strlen(pattern) >= sizeof r.pattern) return fc_refuse(st, FC_INPUT, "%s: too long a pattern", pattern);
    snprintf(f.pattern, sizeof f.pattern, "%.*s", (int)sizeof f.pattern - 1, pattern); /* for words */
    snprintf(r.pattern, sizeof r.pattern, "%s", pattern);
    run_alone(net, seed, &f, &r, st);
    close_family(&f);
    if (st->code) return st->code;
    fc_machine_shape(net->machine, shape, sizeof shape);
    uint32_t at = 0;
    while (at < bulk->n_cases && (strcmp(bulk->cases[at].pattern, pattern) || strcmp(bulk->cases[at].network, shape)))
        at++;
    if (at == FC_KRIGING_MOST_POINTS) return fc_refuse(st, FC_NO, "%s: there are %u phases already", pattern, at);
    struct fc_bulk_case *cases = fc_alloc(arena, bulk->n_cases + 1ull, sizeof *cases, st);
    if (!cases) return st->code;
    if (bulk->n_cases > 0) memcpy(cases, bulk->cases, bulk->n_cases * sizeof *cases);
    cases[at] = r.out;
    cases[at].network = fc_copy_text(arena, shape, st);
    cases[at].pattern = fc_copy_text(arena, pattern, st);
    bulk->cases = cases;
    bulk->n_cases += at == bulk->n_cases;
    bulk->hops_run += r.hops_run;
    if (added) *added = &cases[at];
    return st->code;
}

/* ---- fluids again ---- */

static void renew_case(const struct fc_network *net, uint64_t seed, double mixing, struct fc_bulk_case *c,
                       struct fc_status *st)
{
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    struct family f = {.net = net, .mixing = mixing};
    struct fc_load_settings how = {.threads = 1, .seed = seed};
    snprintf(f.pattern, sizeof f.pattern, "%.*s", (int)sizeof f.pattern - 1, c->pattern);
    if (!fc_demand_from_pattern(net, c->pattern, seed, &demand, st) && !place(&f, demand.n_tasks, st) &&
        !fc_load_solve(net, &demand, &f.placement, &how, &f.load, st)) {
        struct fc_bulk_point at;
        if (!locate(&f, &demand, &f.load, c->at.split, &at, st)) c->at.fluid = at.fluid;
    }
    close_family(&f);
}

/* Of all cases of the network. */
static enum fc_code renew_cases(const struct fc_network *net, uint64_t seed, int threads, double mixing,
                                struct fc_bulk *bulk, struct fc_status *st)
{
    char shape[512];
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_status *status = fc_alloc(&arena, bulk->n_cases + 1ull, sizeof *status, st);
    if (!status) return st->code;
    fc_machine_shape(net->machine, shape, sizeof shape);
#pragma omp parallel for num_threads(fc_threads(threads)) schedule(dynamic, 1)
    for (uint32_t i = 0; i < bulk->n_cases; i++)
        if (!strcmp(bulk->cases[i].network, shape)) renew_case(net, seed, mixing, &bulk->cases[i], &status[i]);
    for (uint32_t i = 0; i < bulk->n_cases; i++)
        if (status[i].code) {
            *st = status[i];
            return st->code;
        }
    return FC_OK;
}

enum fc_code fc_calibration_phases_renew(const struct fc_machine *machine, uint64_t seed, int threads, double mixing,
                                         struct fc_bulk *bulk, struct fc_status *st)
{
    bulk->mixing = mixing;
    for (uint32_t i = 0; i < bulk->n_cases; i++) bulk->cases[i].at.fluid = 0;
    for (int i = -1; !st->code; i++) {
        struct fc_machine smaller;
        FC_SCOPED(fc_network_free) struct fc_network net = {0};
        struct fc_status why = {0};
        bool exists = true;
        if (i >= 0 && (fc_machine_smaller(machine, i, &smaller, &exists, st) || !exists)) break;
        if (!fc_network_build(i < 0 ? machine : &smaller, &net, &why))
            renew_cases(&net, seed, threads, mixing, bulk, st);
        else if (why.code == FC_FAULT)
            *st = why;
        if (i >= 0) fc_machine_free(&smaller);
    }
    if (st->code || bulk->n_cases == 0) return st->code;
    return fc_bulk_fit(bulk, st);
}
