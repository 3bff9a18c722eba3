/* curve.c - ideal throughput and saturation throughput of open-loop traffic.
 *
 * Ideal throughput (Dally & Towles 2004, section 3.3.1): the busiest channel is busy all the time. With
 * gamma_c bytes on link c where the nodes send T bytes in all, offered load L (flits a node and cycle, mean
 * over N nodes) puts L N gamma_c / T flits a cycle on c, which takes at most f / (f t + trailer) of packets
 * of f flits; the least of these loads over the links is the ideal. What nodes send to themselves loads only
 * their injection and ejection links. Where the routing chooses, the split of the traffic is not given: then
 * some link is busy for at least z seconds for T bytes under every split over the paths that the routing may
 * take (z: what the flow program proves, solvers/bound, or where that is too large the cuts), and L is at most
 * T / (N z) times the most flits a cycle that any class moves for its bandwidth. No split, so no router, carries
 * more.
 *
 * Saturation: the greatest load at which a run (run.c) is stable, by bisection between 0 and the ideal to 0.5
 * % of the ideal, all runs with the same seed, hence with the same random numbers; it starts from what the
 * network accepts of the greatest load. The answer is the greatest load seen stable: at most 0.5 % of the
 * ideal below the least seen unstable. With a latency limit a load counts as stable when the packets of its
 * window have arrived with a mean latency within the limit. In a window of fixed length that lets slow
 * overload pass: it is what simulators with a latency threshold report (BookSim: 1000 cycles in a window from
 * 12000 to 24000), up to a tenth above the load that the network can carry. Loads of up to 1.05 of the ideal are
 * tried, and an overload of some percent may grow too slowly for a window to show: without a latency limit what is
 * found above the ideal is the ideal. Where routers choose among all shortest links by their room, but loads are those of an even split,
 * the ideal is no limit (a slow cable beside fast ones): loads are tried up to what nodes can inject, and what is stable
 * above 1.05 of the ideal is the answer.
 *
 * With a precision, bracketing with short runs first: these look only whether what is offered is accepted to SHORT_WIDTH and
 * the latency does not grow, and bracket the saturation to that; long runs go on from the middle of it to half of the
 * precision, of the saturation (under UGAL that is a third of the ideal). Long runs keep between loads that were run before
 * (stable_load, unstable_load), so that the answer does not contradict them. A long run measures at most `most_packets`, else
 * LONG_ZERO_LOADS zero-load times, within LEAST_FLITS and MOST_FLITS (MOST_PACKETS where one of few pairs must be seen to fall
 * behind and a packet costs the same however long it is), and longer before it calls a load unstable where that is few packets a
 * source (run_precision.c): a queue's own noise then moves the answer by 1 to 2 % from seed to seed (docs/performance.md).
 * Limit: up to 15 % too low where nodes are many, packets very long and sources wait
 * for links of their own. */
#include "solvers/bound/bound.h"
#include "solvers/flit/run.h"

#include <math.h>

#define TOLERANCE 0.005
#define ABOVE_IDEAL 1.05
#define MOST_ABOVE 64.0 /* of the ideal: greatest load that is tried where it is no limit */
#define SHORT_WIDTH 0.04
#define LONG_ZERO_LOADS 1200
#define LEAST_FLITS 1.2e6
#define MOST_FLITS 3e6
#define MOST_PACKETS 4e5
enum { MOST_RUNS = 24, SHORTER = 8 };

/* Bytes that nodes send to themselves: self[n_nodes], and the sum of everything. */
static enum fc_code own_bytes(const struct fc_flit_net *flit, const struct fc_demand *demand, double *self, double *sum,
                              struct fc_status *st)
{
    double *weight = self; /* first the totals, for their sum and the checks */
    if (fc_flit_weights(flit, demand, weight, st)) return st->code;
    *sum = 0;
    for (uint32_t s = 0; s < flit->n_nodes; s++) *sum += weight[s];
    for (uint32_t s = 0; s < flit->n_nodes; s++) {
        self[s] = 0;
        for (int p = 0; p < demand->n_dense; p++) self[s] += demand->dense[p].a[s] * demand->dense[p].b[s];
    }
    for (size_t i = 0; i < demand->n_entries; i++)
        if (demand->src[i] == demand->dst[i]) self[demand->src[i]] += demand->bytes[i];
    return FC_OK;
}

/* The node's links of one direction share what it sends to itself. */
static void add_own(const struct fc_flit_net *flit, const double *self, double *bytes)
{
    const struct fc_network *net = flit->net;
    for (uint32_t s = 0; s < flit->n_nodes; s++) {
        uint32_t v = fc_node_vertex(net, s), out = net->first_link[v + 1] - net->first_link[v];
        uint32_t in = flit->in_first[v + 1] - flit->in_first[v];
        for (uint32_t i = 0; i < out; i++) bytes[net->first_link[v] + i] += self[s] / out;
        for (uint32_t i = 0; i < in; i++) bytes[flit->in_link[flit->in_first[v] + i]] += self[s] / in;
    }
}

/* Flits a cycle that a link of the class takes; INFINITY: any number. */
static double class_flits(const struct fc_flit_net *flit, int c, double flits)
{
    double ticks = flits * flit->flit_ticks[c] + flit->trailer_ticks[c];
    return ticks > 0 ? flits / ticks * flit->ticks_per_cycle : (double)INFINITY;
}

/* What some link must carry for proven_s (z), in flits of the link that has most for its bandwidth: T / N times this is a load
 * that no split exceeds. */
static double best_split(const struct fc_flit_net *flit, double flits, double proven_s)
{
    double most = 0;
    for (uint32_t l = 0; l < flit->n_links; l++) {
        double each = class_flits(flit, flit->net->link_class[l], flits), b = fc_link_bandwidth(flit->net, l);
        if (isfinite(each) && isfinite(b)) most = fmax(most, each / b);
    }
    return proven_s > 0 && most > 0 ? most / proven_s : (double)INFINITY;
}

static enum fc_code ideal(const struct fc_flit_net *flit, const struct fc_demand *demand,
                          const struct fc_flit_settings *settings, double *load_flits_per_cycle, struct fc_status *st)
{
    uint32_t least, most;
    double sum = 0;
    struct fc_load load;
    struct fc_flow_settings flow = fc_flow_cheap(flit->net);
    struct fc_load_settings how = {
        .split = FC_SPLIT_SOLVER, .flow = &flow, .threads = settings->threads, .seed = settings->seed};
    struct fc_arena arena = {0};
    if (!demand->open_loop)
        return fc_refuse(st, FC_INPUT, "finite messages have no offered load: only open-loop traffic has a throughput");
    if (fc_flit_lengths(flit, settings, &least, &most, st)) return st->code;
    double *self = fc_alloc(&arena, flit->n_nodes, sizeof *self, st);
    uint32_t *node = self ? fc_alloc(&arena, flit->n_nodes, sizeof *node, st) : NULL;
    enum fc_code code = node ? own_bytes(flit, demand, self, &sum, st) : st->code;
    for (uint32_t s = 0; !code && s < flit->n_nodes; s++) node[s] = s;
    struct fc_placement placement = {.n_tasks = flit->n_nodes, .node = node};
    if (!code) code = fc_load_solve(flit->net, demand, &placement, &how, &load, st);
    if (!code) {
        double flits = ((double)least + most) / 2;
        bool any = !isnan(load.cut_bound_s); /* split */
        double best = any ? best_split(flit, flits, load.cut_bound_s) : (double)INFINITY;
        add_own(flit, self, load.bytes);
        for (uint32_t l = 0; l < flit->n_links; l++) {
            bool fixed = !any || fc_is_node(flit->net, flit->net->link_source[l]) ||
                         fc_is_node(flit->net, flit->net->link_target[l]);
            if (load.bytes[l] > 0 && fixed)
                best = fmin(best, class_flits(flit, flit->net->link_class[l], flits) / load.bytes[l]);
        }
        fc_load_free(&load);
        best *= sum / flit->n_nodes;
        *load_flits_per_cycle = best;
        if (!isfinite(best))
            code = fc_refuse(st, FC_INPUT, "'%s' crosses no link of finite bandwidth: its throughput has no bound",
                             demand->name ? demand->name : "the demand");
    }
    fc_arena_free(&arena);
    return code;
}

enum fc_code fc_flit_ideal_throughput(const struct fc_network *net, const struct fc_demand *demand,
                                      const struct fc_flit_settings *settings, double *load_flits_per_cycle,
                                      struct fc_status *st)
{
    struct fc_flit_net flit;
    *load_flits_per_cycle = NAN;
    if (fc_flit_prepare(net, settings, &flit, st)) return st->code;
    enum fc_code code = ideal(&flit, demand, settings, load_flits_per_cycle, st);
    fc_flit_unprepare(&flit);
    return code;
}

/* The greatest load that no sender's injection links forbid. */
static enum fc_code injection_bound(const struct fc_network *net, const struct fc_demand *demand,
                                    const struct fc_flit_settings *settings, double *bound, struct fc_status *st)
{
    struct fc_flit_net flit;
    struct fc_arena arena = {0};
    uint32_t least, most;
    if (fc_flit_prepare(net, settings, &flit, st)) return st->code;
    double *weight = fc_alloc(&arena, flit.n_nodes, sizeof *weight, st), sum = 0;
    if (weight && !fc_flit_weights(&flit, demand, weight, st) && !fc_flit_lengths(&flit, settings, &least, &most, st)) {
        *bound = INFINITY;
        for (uint32_t s = 0; s < flit.n_nodes; s++) sum += weight[s];
        for (uint32_t s = 0; s < flit.n_nodes; s++)
            if (weight[s] > 0)
                *bound = fmin(*bound, fc_flit_injection_capacity(&flit, s, ((double)least + most) / 2) * sum /
                                          flit.n_nodes / weight[s]);
    }
    fc_arena_free(&arena);
    fc_flit_unprepare(&flit);
    return st->code;
}

static enum fc_code probe(const struct fc_network *net, const struct fc_demand *demand,
                          const struct fc_flit_settings *settings, double load, bool *stable, double *accepted,
                          struct fc_flit_cost *cost, struct fc_status *st)
{
    struct fc_flit_settings one = *settings;
    struct fc_flit_result result;
    one.load_flits_per_cycle = load;
    if (settings->most_moves > 0) one.most_moves = fmax(1, settings->most_moves - cost->moves);
    if (fc_flit_run(net, demand, NULL, &one, &result, st)) return st->code;
    *stable = result.stable;
    if (settings->latency_limit_cycles > 0)
        *stable = result.complete && result.latency_mean_cycles <= settings->latency_limit_cycles;
    *accepted = result.accepted_flits_per_node_cycle;
    cost->flit_hops += (double)result.flit_hops;
    cost->moves += fc_flit_moves(&result);
    cost->cut = result.cut;
    if (result.deadlock) fc_refuse(st, FC_NO, "deadlock at load %.6g: %s", load, result.deadlock_text);
    fc_flit_free(&result);
    return st->code;
}

enum fc_code fc_flit_saturation(const struct fc_network *net, const struct fc_demand *demand,
                                const struct fc_flit_settings *settings, double *load_flits_per_cycle,
                                struct fc_status *st)
{
    struct fc_flit_cost cost = {0};
    return fc_flit_saturation_counted(net, demand, settings, load_flits_per_cycle, &cost, st);
}

/* How long runs with a precision go on: LONG_ZERO_LOADS of the network at the load, within what is worth its time. */
static enum fc_code probe_packets(const struct fc_network *net, const struct fc_demand *demand,
                                  const struct fc_flit_settings *settings, double load, uint64_t *packets,
                                  struct fc_status *st)
{
    struct fc_flit_net flit;
    double cycles;
    uint32_t least, most;
    if (fc_flit_zero_load_cycles(net, settings, &cycles, st) || fc_flit_prepare(net, settings, &flit, st))
        return st->code;
    if (!fc_flit_lengths(&flit, settings, &least, &most, st)) {
        double flits = ((double)least + most) / 2, wanted = LONG_ZERO_LOADS * cycles * load * net->n_nodes / flits;
        bool cheap = fc_flit_has_few_pairs(demand, net->n_nodes) && fc_flit_by_events(&flit, settings);
        double cap = cheap ? MOST_PACKETS : fmin(MOST_FLITS / flits, MOST_PACKETS);
        *packets = (uint64_t)fmin(fmax(wanted, LEAST_FLITS / flits), cap);
    }
    fc_flit_unprepare(&flit);
    return st->code;
}

/* What a search goes on with. */
struct search {
    const struct fc_network *net;
    const struct fc_demand *demand;
    const struct fc_flit_settings *settings;
    struct fc_progress *progress;
    double top; /* loads are at most */
    struct fc_flit_cost *cost;
};

/* From `next` outwards in steps that double, then by halves, until the greatest load seen stable and the least seen unstable
 * are `width` apart. Where `next` is overload and nothing was stable yet, the search goes on from what it got accepted, or a
 * step down, if that is further. */
static enum fc_code search(const struct search *s, double next, double step, double width, double *low, double *high,
                           struct fc_status *st)
{
    *low = s->settings->stable_load;
    *high = s->settings->unstable_load > 0 ? s->settings->unstable_load : s->top + width; /* itself never tried */
    for (int run = 0; run < MOST_RUNS; run++) {
        if (*high - *low <= width * (1 + 1e-9)) break;
        bool stable = false;
        double accepted = NAN;
        if (probe(s->net, s->demand, s->settings, next, &stable, &accepted, s->cost, st) || s->cost->cut)
            return st->code;
        *(stable ? low : high) = next;
        fc_progress_show(s->progress, 1 - log2((*high - *low) / width) / log2(1 + s->top / width), "saturation");
        double middle = (*low + *high) / 2;
        next = fmin(s->top, stable ? fmin(middle, *low + step) : fmax(middle, *high - step));
        bool first = run == 0 || (s->settings->precision > 0 && *low == s->settings->stable_load);
        if (first && !stable && accepted > *low + width && accepted < *high - width)
            next = fmin(accepted, fmax(*high - step, *low + width));
        if (next != accepted) step *= 2;
    }
    return FC_OK;
}

/* Long runs keep between what was seen before. */
static void between(const struct fc_flit_settings *seen, struct fc_flit_settings *set, double width, double *start)
{
    set->stable_load = seen->stable_load;
    set->unstable_load = seen->unstable_load;
    *start = fmax(*start, set->stable_load + width);
    if (set->unstable_load > 0)
        *start = fmin(*start, fmax(set->unstable_load - width, (set->stable_load + set->unstable_load) / 2));
}

enum fc_code fc_flit_saturation_counted(const struct fc_network *net, const struct fc_demand *demand,
                                        const struct fc_flit_settings *settings, double *load_flits_per_cycle,
                                        struct fc_flit_cost *cost, struct fc_status *st)
{
    double most, bound = INFINITY, low = 0, high = 0;
    struct fc_flit_settings set = *settings;
    *load_flits_per_cycle = NAN;
    cost->cut = false;
    set.backlog = false;
    set.interval_cycles = 0;
    set.progress = NULL;
    if (fc_flit_ideal_throughput(net, demand, &set, &most, st) || injection_bound(net, demand, &set, &bound, st))
        return st->code;
    const struct fc_routing_ops *routing = net->machine->routing;
    bool even = routing->minimal && !routing->adaptive;
    double start = fmin(bound, most * ABOVE_IDEAL), width = TOLERANCE * most;
    struct search how = {net, demand, &set, settings->progress, even ? fmin(bound, MOST_ABOVE * most) : start, cost};
    set.stable_load = set.unstable_load = 0;
    if (set.precision > 0) {
        uint64_t packets = set.most_packets;
        if (!packets && probe_packets(net, demand, &set, most, &packets, st)) return st->code;
        width = set.precision / 2 * most;
        set.only_accepted = true;
        set.precision = SHORT_WIDTH;
        set.most_packets = (packets + SHORTER - 1) / SHORTER;
        if (search(&how, start, SHORT_WIDTH * most, SHORT_WIDTH * most, &low, &high, st) || cost->cut) return st->code;
        set.precision = settings->precision / 2;
        set.most_packets = packets;
        set.lengthen = settings->most_packets == 0;
        start = fmin((low + high) / 2, how.top);
        width = settings->precision / 2 * fmin(most, high);
        if (!(settings->latency_limit_cycles > 0)) between(settings, &set, width, &start);
    }
    if (search(&how, start, set.precision > 0 ? 2 * width : 4 * width, width, &low, &high, st) || cost->cut)
        return st->code;
    bool above = set.latency_limit_cycles > 0 || (even && low > ABOVE_IDEAL * most);
    *load_flits_per_cycle = above ? low : fmin(low, most);
    if (low == 0) return fc_refuse(st, FC_NO, "no load was stable, not even %.6g flits a node and cycle", high);
    return FC_OK;
}
