/* calibration_design.c - which networks, patterns and packet lengths are run for a calibration.
 *
 * Networks: the machine itself where a case of it takes at most a tenth of the budget, and up to four
 * relatives of other shapes (models/machine_smaller.c) for which the same holds; if there is none, those of
 * which one case takes a third of the budget, the smallest relatives first. Patterns: uniform; one or two that load few
 * links most; an exchange between neighbours. Packets: the machine's longest, 1 flit (at least the machine's shortest),
 * and 8 flits where the longest has 1 or more than 64. A case is run with windows that choose their own length where
 * that takes at most LONG_SHARE of the budget; else with short ones, of which it takes LEAN_SHARE, at least
 * LEAST_PACKETS and LEAST_CYCLES (down to SHORT_CYCLES where that is more than LONG_SHARE), and all of these grow alike,
 * to MOST_LONGER times, while the budget has room. Work is counted in moves over links, those of nodes included, and
 * made seconds by what each engine was measured to do on one core. Order: uniform traffic on the smallest network in
 * all packets, then on the machine's own network in the longest, which is asked for most; on the FIRST_NETWORKS
 * smallest networks uniform, then the other patterns, in the longest packets, so that every kind is there at several
 * sizes; then, in the longest packets, the other patterns and traffic that people name on the machine's own network (on
 * the smallest where the own is not run); then the other packets; then all this but the named on the larger networks.
 * Cases of the own network in its longest packets are `wanted` (calibration_runs.c). Where a case takes up to a third
 * of the budget: uniform on the smallest with the longest packet, then the cheapest cases. */
#include "solvers/calibration/calibration_internal.h"
#include "solvers/flit/cycle_strip.h"
#include "solvers/flit/run.h"

#include <string.h>

enum { MOST_NETWORKS = 5, MOST_PATTERNS = 4, MOST_RELATIVES = 16, MOST_NODES = 8192 };
enum { MOST_LENGTHS = 3, FIRST_NETWORKS = 3, MOST_NAMED = 8 };
/* Of a case, measured on Blue Gene/L and PERCS: zero-load times that all its runs take together, and packets
 * that they take at least. */
#define CYCLES_OF_A_CASE 4000.0
#define PACKETS_OF_A_CASE 4e6
#define LEAST_PACKETS 2500.0
#define LEAST_CYCLES 30.0
#define SHORT_CYCLES 10.0 /* the kernel's own first window: where that is much work, and under UGAL */
#define MOST_OF_BUDGET (1 / 10.0)
#define DEAR_SHARE (1 / 3.0) /* where there is no network of MOST_OF_BUDGET */
#define LONG_SHARE 0.05
#define LEAN_SHARE 0.02
/* Short windows that a case takes, those of the search for saturation and warm-ups included. */
#define LEAN_WINDOWS 26.0
#define MOST_LONGER 8.0
/* Moves a second of one core over links of all kinds, those of nodes included, measured (docs/notes/calibration.md). */
#define EVENT_MOVES_PER_S 3.5e6 /* packets, where few are under way and a head has one link to go to */
#define CACHED_PACKETS 2e4      /* so many under way halve it */
#define FAST_MOVES_PER_S 3e7    /* flits of the cycle engine's short way, cycle_fast.h */
#define SMALL_MOVES_PER_S 1.4e7 /* and of worms through small routers, cycle_strip.h */
/* Work for the turns of a case, hops followed: under UGAL, whose detours are followed at many loads and only of cases that are run,
 * in proportion to the budget up to TURNS_BUDGET_S, and counted, at what one core was measured to do. Others cost too little to
 * count. */
#define TURNS_BUDGET_S 120.0
#define MOST_TURNS_HOPS 2e6
#define TURNS_HOPS_PER_S 2.5e6

/* ---- patterns ---- */

struct patterns {
    int n;
    char text[MOST_PATTERNS][96];
};

static void add_pattern(const struct fc_network *net, const char *text, struct patterns *p)
{
    struct fc_demand demand;
    struct fc_status why = {0};
    if (p->n == MOST_PATTERNS) return;
    if (fc_demand_from_pattern(net, text, 1, &demand, &why)) return; /* not defined for this shape */
    fc_demand_free(&demand);
    snprintf(p->text[p->n++], sizeof p->text[0], "%s", text);
}

/* A stencil over sides of the nodes, fastest first, without those of 1; `neighbor` where they are not 2 to 4.
 */
static void add_stencil(const struct fc_network *net, const long long *side, int n, struct patterns *p)
{
    char text[96], grid[64] = "";
    int dims = 0;
    for (int d = 0; d < n; d++) {
        size_t used = strlen(grid);
        if (side[d] <= 1) continue;
        snprintf(grid + used, sizeof grid - used, "%s%lld", dims++ ? "x" : "", side[d]);
    }
    snprintf(text, sizeof text, "stencil%dd:grid=%s", dims, grid);
    add_pattern(net, dims >= 2 && dims <= 4 ? text : "neighbor", p);
}

static void add_neighbours(const struct fc_network *net, struct patterns *p)
{
    const struct fc_machine *m = net->machine;
    long long side[FC_MAX_LIST + 1] = {m->nodes_per_router};
    struct fc_grid grid;
    struct fc_tree tree;
    int n = 1;
    if (fc_grid(net, &grid)) {
        side[0] = grid.nodes;
        for (int d = 0; d < grid.n_dims; d++) side[n++] = grid.k[d];
    } else if (m->family->tree && m->family->tree(m, &tree)) {
        side[0] = tree.leaf_nodes;
        for (int l = tree.n - 1; l >= 0; l--) side[n++] = tree.level[l].parts;
    }
    add_stencil(net, side, n, p);
}

static void add_adversarial(const struct fc_network *net, struct patterns *p)
{
    const char *const *hard = net->machine->family->hard_patterns;
    for (; hard && *hard; hard++) add_pattern(net, *hard, p);
    if (p->n == 1) add_pattern(net, "complement", p);
}

void fc_calibration_patterns(const struct fc_network *net, struct fc_calibration_patterns *out)
{
    struct patterns p = {0};
    add_pattern(net, "uniform", &p);
    add_adversarial(net, &p);
    add_neighbours(net, &p);
    out->n = 0;
    for (int i = 1; i < p.n; i++) snprintf(out->text[out->n++], sizeof out->text[0], "%s", p.text[i]);
}

const char *fc_calibration_stencil(const struct fc_calibration_patterns *patterns)
{
    static const char name[] = "stencil";
    const char *last = patterns->n > 0 ? patterns->text[patterns->n - 1] : ""; /* add_neighbours */
    return strncmp(last, name, strlen(name)) ? NULL : last;
}

/* ---- networks ---- */

/* Whether the network is there already, or not to be run. */
static bool known_shape(const struct fc_calibration_design *d, const char *without, const struct fc_machine *machine)
{
    char shape[512], other[512];
    fc_machine_shape(machine, shape, sizeof shape);
    if (without && !strcmp(shape, without)) return true;
    for (int i = 0; i < d->n_networks; i++)
        if (!strcmp(shape, fc_machine_shape(&d->machines[i], other, sizeof other))) return true;
    return false;
}

/* Packets a cycle of all nodes where the points are. */
static double packet_rate(const struct fc_calibration_job *job)
{
    const struct fc_turns *t = &job->turns;
    return 0.7 / t->max_service_rate * job->net->n_nodes / t->flits_mean;
}

/* What one packet costs, seconds: into the network, through it and out. */
static double packet_s(const struct fc_calibration_job *job)
{
    return (job->turns.hops_mean + 2) * (job->events ? 1 : job->turns.flits_mean) / job->moves_per_s;
}

/* Windows that choose their length if the budget has room for them, else short ones; the estimate of either.
 */
static void choose_windows(struct fc_calibration_job *job, double budget_s)
{
    double latency = 2 * job->turns.zero_load_cycles, rate = packet_rate(job);
    job->estimate_s = fmax(PACKETS_OF_A_CASE, CYCLES_OF_A_CASE * latency * rate) * packet_s(job);
    if (job->estimate_s <= LONG_SHARE * budget_s) return;
    double packets = fmax(LEAST_PACKETS, LEAN_SHARE * budget_s / LEAN_WINDOWS / packet_s(job));
    double cycle_s =
        LEAN_WINDOWS * latency * rate * packet_s(job); /* a case, for a cycle of its windows at zero load */
    double least = fmin(LEAST_CYCLES, fmax(SHORT_CYCLES, LONG_SHARE * budget_s / cycle_s));
    bool compares = fc_compares_ways(job->net->machine);
    if (compares) least = SHORT_CYCLES;
    job->hurried = compares || (least < LEAST_CYCLES && packets / rate < least * latency);
    job->window_cycles = (uint64_t)ceil(fmax(packets / rate, least * latency));
    job->estimate_s = LEAN_WINDOWS * (double)job->window_cycles * rate * packet_s(job);
}

/* Of at most FC_STRIP input channels: they lie in strips. As many links come in as go out, those of nodes included. */
static bool has_small_routers(const struct fc_network *net, const struct fc_flit_net *flit)
{
    uint32_t places = 1; /* of a port: a power of two */
    while (places < (uint32_t)flit->n_vcs) places *= 2;
    for (uint32_t r = 0; r < flit->n_routers; r++)
        if ((net->first_link[r + 1] - net->first_link[r]) * places > FC_STRIP) return false;
    return true;
}

/* Which engine runs the network, and how fast. */
static enum fc_code find_engine(struct fc_calibration_job *job, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_flit_net flit;
    struct fc_route_fields fields;
    fc_flit_defaults(&settings);
    settings.packet_flits_min = settings.packet_flits_max = job->settings.packet_flits_max;
    if (fc_flit_prepare(job->net, &settings, &flit, st)) return st->code;
    bool fast = !flit.plain && !flit.vc_stage && flit.most_paths == 1 && flit.arbitration == FC_ROUND_ROBIN &&
                fc_route_torus_fields(&flit, &fields);
    bool small = !flit.plain && !flit.cut_through && flit.most_paths == 1 && has_small_routers(job->net, &flit);
    job->events = fc_flit_by_events(&flit, &settings);
    double channels = (double)job->net->n_links * flit.n_network_vcs;
    job->moves_per_s = fc_compares_ways(job->net->machine)
                           ? FC_CALIBRATION_UGAL_MOVES_PER_S / (1 + channels / FC_CALIBRATION_CACHED_CHANNELS)
                       : job->events ? EVENT_MOVES_PER_S
                       : fast        ? FAST_MOVES_PER_S
                       : small       ? SMALL_MOVES_PER_S
                                     : FC_CALIBRATION_CYCLE_MOVES_PER_S;
    fc_flit_unprepare(&flit);
    return FC_OK;
}

/* The event engine is slower where heads have many links to look at, and where many packets are under way. */
static void slow_down(struct fc_calibration_job *job)
{
    const struct fc_turns *t = &job->turns;
    double outputs = 0, heads = 0, under_way = packet_rate(job) * t->zero_load_cycles;
    if (!job->events || fc_compares_ways(job->net->machine)) return;
    for (uint32_t s = 0; s < t->n_states; s++) {
        outputs += t->state_rate[s] * t->state_outputs[s];
        heads += t->state_rate[s];
    }
    job->more_links = heads > 0 ? fmax(0, outputs / heads - 1) : 0;
    job->moves_per_s /= (1 + job->more_links / FC_CALIBRATION_LINKS_LOOKED_AT) * (1 + under_way / CACHED_PACKETS);
}

static enum fc_code make_job(const struct fc_network *net, const char *pattern, uint32_t flits, uint64_t seed,
                             double budget_s, struct fc_calibration_job *job, struct fc_status *st)
{
    memset(job, 0, sizeof *job);
    job->net = net;
    fc_flit_defaults(&job->settings);
    job->settings.packet_flits_min = job->settings.packet_flits_max = flits;
    job->settings.seed = seed;
    job->settings.threads = 1;
    if (find_engine(job, st) || fc_demand_from_pattern(net, pattern, seed, &job->demand, st)) return st->code;
    job->demand.open_loop = true;
    double share = fc_compares_ways(net->machine) ? fmin(1, budget_s / TURNS_BUDGET_S) : 1;
    job->turns_hops = MOST_TURNS_HOPS * share;
    if (fc_turns_make_empty(net, &job->demand, &job->settings, (uint64_t)job->turns_hops, &job->turns, st)) {
        fc_demand_free(&job->demand);
        return st->code;
    }
    slow_down(job);
    choose_windows(job, budget_s);
    return FC_OK;
}

void fc_calibration_job_free(struct fc_calibration_job *job)
{
    fc_queueing_close(job->queueing);
    fc_turns_free(&job->turns);
    fc_demand_free(&job->demand);
}

/* The longest packet, the shortest, and one between; the number of them. */
static int lengths(const struct fc_network *net, uint32_t *flits, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_flit_net flit;
    fc_flit_defaults(&settings);
    if (fc_flit_prepare(net, &settings, &flit, st)) return 0;
    const struct fc_machine *m = net->machine;
    uint32_t longest = flit.packet_flits_max;
    uint32_t least = (uint32_t)fmin(longest, fmax(1, ceil(m->packet.min_bytes / m->router.flit_bytes)));
    int n = 0;
    flits[n++] = longest;
    if (least < longest) flits[n++] = least;
    if (longest == 1 || (longest > 64 && least < 8)) flits[n++] = 8;
    fc_flit_unprepare(&flit);
    return n;
}

/* Keeps the network when a uniform case of it is cheap enough. The machine goes over to the design. */
static enum fc_code try_network(struct fc_machine *machine, bool owned, double budget_s, double share, uint64_t seed,
                                struct fc_calibration_design *d, struct fc_status *st)
{
    int n = d->n_networks;
    uint32_t flits[MOST_LENGTHS];
    struct fc_calibration_job job;
    bool fits = false;
    d->machines[n] = *machine;
    d->owned[n] = owned;
    struct fc_network *net = &d->networks[n];
    memset(net, 0, sizeof *net);
    struct fc_status why = {0};
    if (!fc_network_build(&d->machines[n], net, &why) && net->n_nodes > 1 && net->n_nodes <= MOST_NODES &&
        lengths(net, flits, &why) > 0 && !make_job(net, "uniform", flits[0], seed, budget_s, &job, &why)) {
        fits = job.estimate_s <= share * budget_s;
        fc_calibration_job_free(&job);
    }
    if (fits) {
        d->n_networks++;
        return FC_OK;
    }
    fc_network_free(net);
    if (owned) fc_machine_free(&d->machines[n]);
    /* A relative that the kernel refuses is no loss; the machine itself must be one that it runs. */
    if (why.code && (why.code == FC_FAULT || !owned)) *st = why;
    return st->code;
}

/* The machine's relatives from number `first` on. */
static enum fc_code add_relatives(const struct fc_machine *machine, int first, double budget_s, double share,
                                  const char *without, uint64_t seed, struct fc_calibration_design *d,
                                  struct fc_status *st)
{
    for (int i = first; i < MOST_RELATIVES && d->n_networks < MOST_NETWORKS; i++) {
        struct fc_machine relative;
        bool exists;
        if (fc_machine_smaller(machine, i, &relative, &exists, st)) return st->code;
        if (!exists) break;
        if (known_shape(d, without, &relative))
            fc_machine_free(&relative);
        else if (try_network(&relative, true, budget_s, share, seed, d, st))
            return st->code;
    }
    return FC_OK;
}

static enum fc_code add_networks(const struct fc_machine *machine, double budget_s, double share, const char *without,
                                 uint64_t seed, struct fc_calibration_design *d, struct fc_status *st)
{
    struct fc_machine own = *machine;
    if (!known_shape(d, without, machine) && try_network(&own, false, budget_s, share, seed, d, st)) return st->code;
    return add_relatives(machine, 0, budget_s, share, without, seed, d, st);
}

/* Numbers of the networks, smallest first; equal ones in the order in which they were found. */
static void by_size(const struct fc_calibration_design *d, int *order)
{
    for (int i = 0; i < d->n_networks; i++) {
        int at = i;
        for (; at > 0 && d->networks[order[at - 1]].n_nodes > d->networks[i].n_nodes; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

/* ---- the cases ---- */

enum part { LONGEST, OTHERS, ALL }; /* of a network's packet lengths */

static enum fc_code add_jobs(const struct fc_network *net, const char *pattern, enum part part, uint64_t seed,
                             double budget_s, struct fc_calibration_design *d, struct fc_status *st)
{
    uint32_t flits[MOST_LENGTHS];
    int n = lengths(net, flits, st);
    if (st->code) return st->code;
    for (int i = part == OTHERS; i < (part == LONGEST ? 1 : n); i++) {
        struct fc_calibration_job *job = &d->jobs[d->n_jobs];
        struct fc_status why = {0};
        if (make_job(net, pattern, flits[i], seed, budget_s, job, &why)) {
            if (why.code != FC_INPUT) *st = why; /* FC_INPUT: a pattern of which no packet enters this network */
            if (st->code) return st->code;
            continue;
        }
        job->wanted = i == 0 && !d->owned[net - d->networks];
        if (!(job->turns.hops_mean > 0))
            fc_calibration_job_free(job);
        else
            d->n_jobs++;
    }
    return FC_OK;
}

/* Where the case lies, by its turns. */
static enum fc_code locate(const struct fc_calibration_job *job, struct fc_status *st)
{
    struct fc_calibration_case *k = job->out;
    k->hops = job->turns.hops_mean;
    k->anisotropy = fc_turns_anisotropy(&job->turns);
    k->buffer_packets = job->turns.buffer_packets;
    return fc_calibration_features(&job->turns, k->features, st);
}

static enum fc_code describe(struct fc_calibration_job *job, const char *pattern, struct fc_arena *arena,
                             struct fc_status *st)
{
    char shape[512];
    struct fc_calibration_case *k = fc_alloc(arena, 1, sizeof *k, st);
    job->out = k;
    if (!k) return st->code;
    k->network = fc_copy_text(arena, fc_machine_shape(job->net->machine, shape, sizeof shape), st);
    k->pattern = fc_copy_text(arena, pattern, st);
    k->kind = fc_calibration_pattern_kind(pattern, arena, st);
    k->nodes = job->net->n_nodes;
    k->flits_min = job->settings.packet_flits_min;
    k->flits_max = job->settings.packet_flits_max;
    k->fitted = true;
    return st->code ? st->code : locate(job, st);
}

/* Short windows become so many times as long, up to MOST_LONGER; none becomes shorter. */
static void lengthen(struct fc_calibration_job *job, double times)
{
    double longer = fmin(times, MOST_LONGER);
    if (!job->window_cycles || !(longer > 1)) return;
    job->window_cycles = (uint64_t)((double)job->window_cycles * longer);
    job->estimate_s *= longer;
}

enum fc_code fc_calibration_job_make(const struct fc_network *net, const char *pattern, uint64_t seed, double budget_s,
                                     struct fc_arena *arena, struct fc_calibration_job *job, struct fc_status *st)
{
    uint32_t flits[MOST_LENGTHS];
    memset(job, 0, sizeof *job);
    lengths(net, flits, st);
    if (st->code || make_job(net, pattern, flits[0], seed, budget_s / LONG_SHARE, job, st)) return st->code;
    if (job->window_cycles) choose_windows(job, budget_s); /* long ones would take more than all of it */
    lengthen(job, 0.5 * budget_s / job->estimate_s);
    return describe(job, pattern, arena, st);
}

enum fc_code fc_calibration_follow(struct fc_calibration_job *job, struct fc_status *st)
{
    if (!fc_compares_ways(job->net->machine)) return FC_OK;
    fc_turns_free(&job->turns);
    job->spent_s += job->turns_hops / TURNS_HOPS_PER_S;
    if (fc_turns_make(job->net, &job->demand, &job->settings, (uint64_t)job->turns_hops, &job->turns, st))
        return st->code;
    return locate(job, st);
}

/* A pattern of a network; one that the network does not have, as a bit-reverse of 27 nodes, is left out. */
static enum fc_code add_described(const struct fc_network *net, const char *pattern, enum part part, double budget_s,
                                  uint64_t seed, struct fc_arena *arena, struct fc_calibration_design *d,
                                  struct fc_status *st)
{
    uint32_t first = d->n_jobs;
    if (add_jobs(net, pattern, part, seed, budget_s, d, st)) return st->code;
    for (uint32_t k = first; k < d->n_jobs; k++)
        if (describe(&d->jobs[k], pattern, arena, st)) return st->code;
    return FC_OK;
}

static bool has_job(const struct fc_calibration_design *d, const char *pattern, const struct fc_network *net)
{
    for (uint32_t i = 0; i < d->n_jobs; i++)
        if (d->jobs[i].net == net && !strcmp(d->jobs[i].out->pattern, pattern)) return true;
    return false;
}

/* The uniform pattern of a network, or the others. */
static enum fc_code add_patterns(const struct fc_network *net, bool uniform, enum part part, double budget_s,
                                 uint64_t seed, struct fc_arena *arena, struct fc_calibration_design *d,
                                 struct fc_status *st)
{
    struct patterns p = {0};
    add_pattern(net, "uniform", &p);
    if (!uniform) {
        add_adversarial(net, &p);
        add_neighbours(net, &p);
    }
    for (int j = uniform ? 0 : 1; j < p.n; j++) {
        bool there = has_job(d, p.text[j], net);
        if (there && part == LONGEST) continue;
        if (add_described(net, p.text[j], there ? OTHERS : part, budget_s, seed, arena, d, st)) return st->code;
    }
    return FC_OK;
}

/* Traffic that people name, in the longest packets. */
static enum fc_code add_named(const struct fc_network *net, double budget_s, uint64_t seed, struct fc_arena *arena,
                              struct fc_calibration_design *d, struct fc_status *st)
{
    static const char *const named[MOST_NAMED] = {"permutation:seed=1", "hotregion", "complement",
                                                  "bit-reverse",        "neighbor",  "permutation:seed=2",
                                                  "transpose",          "tornado"};
    for (int i = 0; i < MOST_NAMED; i++)
        if (!has_job(d, named[i], net) && add_described(net, named[i], LONGEST, budget_s, seed, arena, d, st))
            return st->code;
    return FC_OK;
}

/* Where a case may take much of the budget: after that of the machine's own packets the cheapest first, so that one does not shut
 * out the others. */
static void cheapest_first(struct fc_calibration_design *d)
{
    for (uint32_t i = 2; i < d->n_jobs; i++) {
        struct fc_calibration_job job = d->jobs[i];
        uint32_t at = i;
        for (; at > 1 && d->jobs[at - 1].estimate_s > job.estimate_s; at--) d->jobs[at] = d->jobs[at - 1];
        d->jobs[at] = job;
    }
}

/* Short windows grow alike to what the budget has left. */
static void use_budget(struct fc_calibration_design *d, double budget_s)
{
    double lean = 0, chosen = 0;
    for (uint32_t i = 0; i < d->n_jobs; i++) *(d->jobs[i].window_cycles ? &lean : &chosen) += d->jobs[i].estimate_s;
    for (uint32_t i = 0; i < d->n_jobs; i++) lengthen(&d->jobs[i], (budget_s - chosen) / lean);
}

/* FIRST_NETWORKS from order[first] on: uniform traffic, then the others, in the longest packets, then both in the others. Uniform
 * traffic on the smallest in all at once, so that all lengths are there, and behind it on the machine's own network. */
static enum fc_code add_some_networks(const int *order, int first, double budget_s, uint64_t seed,
                                      struct fc_arena *arena, struct fc_calibration_design *d, struct fc_status *st)
{
    int end = first + FIRST_NETWORKS < d->n_networks ? first + FIRST_NETWORKS : d->n_networks, own = order[0];
    for (int i = 0; i < d->n_networks; i++) own = d->owned[i] ? own : i;
    for (int longest = 1; longest >= 0; longest--) {
        for (int uniform = 1; uniform >= 0; uniform--)
            for (int k = first; k < end; k++) {
                bool at_once = k == 0 && uniform;
                if (at_once && !longest) continue;
                enum part part = at_once ? ALL : longest ? LONGEST : OTHERS;
                if (add_patterns(&d->networks[order[k]], uniform, part, budget_s, seed, arena, d, st)) return st->code;
                if (at_once && add_patterns(&d->networks[own], true, LONGEST, budget_s, seed, arena, d, st))
                    return st->code;
            }
        if (first > 0 || !longest) continue;
        if (add_patterns(&d->networks[own], false, LONGEST, budget_s, seed, arena, d, st)) return st->code;
        if (add_named(&d->networks[own], budget_s, seed, arena, d, st)) return st->code;
    }
    return FC_OK;
}

enum fc_code fc_calibration_design_make(const struct fc_machine *machine, double budget_s, const char *without,
                                        uint64_t seed, struct fc_arena *arena, struct fc_calibration_design *d,
                                        struct fc_status *st)
{
    int order[MOST_NETWORKS];
    memset(d, 0, sizeof *d);
    d->machines = fc_alloc(&d->arena, MOST_NETWORKS, sizeof *d->machines, st);
    d->networks = d->machines ? fc_alloc(&d->arena, MOST_NETWORKS, sizeof *d->networks, st) : NULL;
    d->owned = d->networks ? fc_alloc(&d->arena, MOST_NETWORKS, sizeof *d->owned, st) : NULL;
    d->jobs = d->owned
                  ? fc_alloc(&d->arena, MOST_NETWORKS * MOST_PATTERNS * MOST_LENGTHS + MOST_NAMED, sizeof *d->jobs, st)
                  : NULL;
    if (!d->jobs || add_networks(machine, budget_s, MOST_OF_BUDGET, without, seed, d, st)) return st->code;
    bool dear = d->n_networks == 0;
    if (dear && (add_relatives(machine, FC_SMALLEST_RELATIVE, budget_s, DEAR_SHARE, without, seed, d, st) ||
                 add_networks(machine, budget_s, DEAR_SHARE, without, seed, d, st)))
        return st->code;
    if (d->n_networks == 0 && add_networks(machine, budget_s, 1, without, seed, d, st)) return st->code;
    if (d->n_networks == 0)
        return fc_refuse(st, FC_NO, "a budget of %.3g s allows no kernel run of %s or a smaller relative", budget_s,
                         machine->name);
    by_size(d, order);
    for (int i = 0; i < d->n_networks; i += FIRST_NETWORKS)
        if (add_some_networks(order, i, budget_s, seed, arena, d, st)) return st->code;
    if (dear) cheapest_first(d);
    use_budget(d, budget_s);
    return FC_OK;
}

void fc_calibration_design_free(struct fc_calibration_design *d)
{
    for (uint32_t i = 0; i < d->n_jobs; i++) fc_calibration_job_free(&d->jobs[i]);
    for (int i = 0; i < d->n_networks; i++) {
        fc_network_free(&d->networks[i]);
        if (d->owned[i]) fc_machine_free(&d->machines[i]);
    }
    fc_arena_free(&d->arena);
    memset(d, 0, sizeof *d);
}
