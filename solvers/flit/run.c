/* run.c - one run of the flit-level kernel: prepares the network and the sources, picks the engine, makes the
 * counts, and fills the result. The phases of a run and the rules by which they end are in run_phases.c.
 *
 * AUTO takes the engine that is exact for the machine; where both are, the cycle engine for packets of few flits, whose
 * every flit costs it something, and the event engine for others, whose every packet does. When nothing is in
 * flight any more the engine runs on for the longest way of a credit; then all must be back, or the run is a
 * fault. */
#include "solvers/flit/route.h"
#include "solvers/flit/run.h"

#include <math.h>
#include <string.h>

const char *const fc_flit_engine_names[] = {"auto", "event", "cycle", NULL};

void fc_flit_defaults(struct fc_flit_settings *settings)
{
    *settings = (struct fc_flit_settings){.engine = FC_ENGINE_AUTO, .threads = 1, .seed = 1};
}

void fc_flit_free(struct fc_flit_result *result)
{
    fc_arena_free(&result->arena);
    memset(result, 0, sizeof *result);
}

/* ---- lengths --------------------------------------------------------------------------------------------- */

/* Ticks that bound what a packet needs in an empty network: the unit of warm-up and window. */
static enum fc_code zero_load(const struct fc_flit_net *flit, uint64_t *ticks, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    struct fc_arena arena = {0};
    uint32_t *distance = fc_alloc(&arena, net->n_vertices, sizeof *distance, st);
    uint32_t *queue = distance ? fc_alloc(&arena, net->n_vertices, sizeof *queue, st) : NULL;
    if (queue) {
        uint64_t hops = 0, flit_ticks, packet_ticks, wire_ticks;
        fc_distances(net, fc_node_vertex(net, 0), distance, queue);
        for (uint32_t v = net->n_routers; v < net->n_vertices; v++)
            if (distance[v] != FC_NONE && distance[v] > hops) hops = distance[v];
        fc_flit_slowest_ticks(flit, &flit_ticks, &packet_ticks, &wire_ticks);
        *ticks = (hops + 2) * (flit->router_ticks + wire_ticks + flit_ticks) + packet_ticks;
        if (flit->reception_flits) *ticks += fc_flit_reception_ticks(flit, flit->packet_flits_max);
        if (*ticks == 0) *ticks = 1;
    }
    fc_arena_free(&arena);
    return queue ? FC_OK : st->code;
}

enum fc_code fc_flit_zero_load_cycles(const struct fc_network *net, const struct fc_flit_settings *settings,
                                      double *cycles, struct fc_status *st)
{
    struct fc_flit_net flit;
    uint64_t ticks;
    if (fc_flit_prepare(net, settings, &flit, st)) return st->code;
    if (!zero_load(&flit, &ticks, st)) *cycles = fc_flit_to_cycles(&flit, ticks);
    fc_flit_unprepare(&flit);
    return st->code;
}

/* ---- a run ----------------------------------------------------------------------------------------------- */

/* Lets the last credits travel, then all must be back. */
static enum fc_code check_credits(struct fc_flit_control *c, struct fc_status *st)
{
    uint64_t flit_ticks, packet_ticks, wire_ticks;
    fc_flit_slowest_ticks(c->flit, &flit_ticks, &packet_ticks, &wire_ticks);
    uint64_t end = c->state.now + packet_ticks + wire_ticks + c->flit->credit_ticks + c->flit->router_ticks + 1;
    if (c->ops->advance(c->engine, end, &c->state, st)) return st->code;
    c->result->credits_full = c->ops->credits_full(c->engine);
    return c->result->credits_full
               ? FC_OK
               : fc_refuse(st, FC_FAULT, "the %s engine has lost credits: nothing is in flight and not all are back",
                           c->ops->name);
}

static enum fc_code start(struct fc_flit_control *c, struct fc_status *st)
{
    const struct fc_flit_net *flit = c->flit;
    const struct fc_flit_settings *set = c->settings;
    if (zero_load(flit, &c->zero_load, st)) return st->code;
    uint64_t flit_ticks, packet_ticks, wire_ticks;
    fc_flit_slowest_ticks(flit, &flit_ticks, &packet_ticks, &wire_ticks);
    c->chunk = fc_flit_cycles_to_ticks(flit, 256);
    if (c->chunk < c->zero_load / 2) c->chunk = c->zero_load / 2;
    c->most = set->most_cycles ? fc_flit_cycles_to_ticks(flit, (double)set->most_cycles) : UINT64_MAX / 4;
    c->still = set->deadlock_cycles ? fc_flit_cycles_to_ticks(flit, (double)set->deadlock_cycles)
                                    : 20 * (packet_ticks + flit->router_ticks + wire_ticks + flit->credit_ticks) +
                                          fc_flit_cycles_to_ticks(flit, 1000);
    c->threads = set->threads;
    c->n_counts = c->threads + (flit->ranks != NULL);
    c->counts = fc_alloc(&c->arena, (size_t)c->n_counts, sizeof *c->counts, st);
    c->total = c->counts ? fc_alloc(&c->arena, 1, sizeof *c->total, st) : NULL;
    c->link_flits = c->total ? fc_alloc(&c->arena, flit->n_links, sizeof *c->link_flits, st) : NULL;
    c->link_packets = c->link_flits ? fc_alloc(&c->arena, flit->n_links, sizeof *c->link_packets, st) : NULL;
    c->injected = c->link_packets ? fc_alloc(&c->arena, flit->n_nodes, sizeof *c->injected, st) : NULL;
    c->flits_before = c->injected ? fc_alloc(&c->arena, flit->n_links, sizeof *c->flits_before, st) : NULL;
    c->packets_before = c->flits_before ? fc_alloc(&c->arena, flit->n_links, sizeof *c->packets_before, st) : NULL;
    c->injected_before = c->packets_before ? fc_alloc(&c->arena, flit->n_nodes, sizeof *c->injected_before, st) : NULL;
    if (!c->injected_before) return st->code;
    for (int t = 0; t < c->n_counts; t++) {
        c->counts[t].interval_ticks =
            set->interval_cycles ? fc_flit_cycles_to_ticks(flit, (double)set->interval_cycles) : 0;
        if (fc_flit_counts_make(&c->counts[t], &c->arena, st)) return st->code;
    }
    if (!c->traffic->open_loop)
        fc_flit_set_window(c, 0, UINT64_MAX);
    else
        fc_flit_set_window(c, UINT64_MAX / 2, UINT64_MAX / 2 + FC_FLIT_BATCHES);
    return c->ops->open(flit, c->traffic, c->threads, set->seed, c->counts, c->link_flits, c->link_packets, c->injected,
                        &c->engine, st);
}

static enum fc_code finish(struct fc_flit_control *c, struct fc_status *st)
{
    struct fc_flit_result *r = c->result;
    c->total->n_intervals = c->counts->n_intervals;
    fc_flit_counts_make(c->total, &c->arena, st);
    if (fc_ranks_agree(c->flit->ranks, st)) return st->code;
    fc_flit_add_up(c);
    for (uint32_t l = 0; l < c->flit->n_links; l++) {
        c->link_flits[l] -= c->flits_before[l];
        c->link_packets[l] -= c->packets_before[l];
    }
    for (uint32_t n = 0; n < c->flit->n_nodes; n++) c->injected[n] -= c->injected_before[n];
    fc_flit_share_arrays(c);
    const struct fc_flit_counts *total = c->total;
    uint64_t end = c->traffic->open_loop || !r->complete ? c->state.now : total->last_delivery;
    uint64_t from = total->measure_from, to = total->measure_to < end ? total->measure_to : end;
    struct fc_flit_measured measured = {total, c->link_flits, c->link_packets, c->injected, to > from ? to - from : 0,
                                        end};
    r->cycles = (uint64_t)ceil(fc_flit_to_cycles(c->flit, end) - 1e-9);
    r->warmup_cycles = fc_flit_to_cycles(c->flit, from < end ? from : end);
    r->packets_in_flight = c->state.packets_in_flight;
    r->flits_in_flight = c->state.flits_in_flight;
    if (fc_flit_fill_result(c->flit, c->traffic, &measured, r, st)) return st->code;
    if (c->settings->precision > 0) fc_flit_fill_precision(c);
    return FC_OK;
}

static enum fc_code whole_run(struct fc_flit_control *c, struct fc_status *st)
{
    struct fc_flit_result *r = c->result;
    start(c, st);
    if (fc_ranks_agree(c->flit->ranks, st)) return st->code;
    enum fc_code code = !c->traffic->open_loop       ? fc_flit_run_closed(c, st)
                        : c->settings->precision > 0 ? fc_flit_run_precise(c, st)
                                                     : fc_flit_run_open(c, st);
    if (code) return code;
    if (r->deadlock) {
        fc_flit_call_unstable(c, "deadlock");
    } else if (r->cut) {
        fc_flit_call_unstable(c, "given up: more moves than were allowed");
    } else if (c->stopped && !r->complete) {
        char text[128];
        snprintf(text, sizeof text, "the run reached its limit of %.0f cycles in the %s",
                 fc_flit_to_cycles(c->flit, c->state.now), c->phase);
        const char *copy = fc_copy_text(&r->arena, text, st);
        if (!copy) return st->code;
        fc_flit_call_unstable(c, copy);
    }
    finish(c, st);
    if (fc_ranks_agree(c->flit->ranks, st)) return st->code;
    if (c->state.exhausted && c->state.packets_in_flight == 0) return check_credits(c, st);
    return FC_OK;
}

enum fc_code fc_flit_run_engine(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic,
                                const struct fc_flit_engine_ops *ops, const struct fc_flit_settings *settings,
                                struct fc_flit_result *result, struct fc_status *st)
{
    double start_s = fc_cpu_s();
    memset(result, 0, sizeof *result);
    *result = (struct fc_flit_result){.engine = ops->name,
                                      .vc_rule = "",
                                      .open_loop = traffic->open_loop,
                                      .stable = true,
                                      .unstable_because = "",
                                      .deadlock_text = "",
                                      .precision = settings->precision,
                                      .accepted_half_width_flits = NAN,
                                      .multicast = ""};
    struct fc_flit_control c = {
        .flit = flit, .traffic = traffic, .ops = ops, .settings = settings, .result = result, .phase = ""};
    enum fc_code code = whole_run(&c, st);
    if (c.engine) ops->close(c.engine);
    fc_arena_free(&c.arena);
    if (!code) fc_flit_share_costs(&c, fc_cpu_s() - start_s);
    return code;
}

static enum fc_code check_settings(const struct fc_flit_settings *set, const struct fc_demand *demand,
                                   struct fc_status *st)
{
    if (set->engine < FC_ENGINE_AUTO || set->engine > FC_ENGINE_CYCLE)
        return fc_refuse(st, FC_INPUT, "engine %d: expected auto, event or cycle", set->engine);
    if (set->threads < 1 || set->threads > 4096)
        return fc_refuse(st, FC_INPUT, "threads %d: expected 1 to 4096", set->threads);
    if (!demand->open_loop && (set->warmup_cycles || set->measure_cycles))
        return fc_refuse(st, FC_INPUT,
                         "finite messages are measured from the first to the last: no warm-up, no window");
    if (!demand->open_loop && set->background)
        return fc_refuse(st, FC_INPUT,
                         "a background beside finite messages is not run here (expected open-loop traffic, or "
                         "`predict --network flit`)");
    if (demand->open_loop && (set->in_order || set->source_gap_cycles != 0))
        return fc_refuse(st, FC_INPUT,
                         "order of messages and source gap are for finite messages, not for open-loop traffic");
    if (!(set->precision >= 0 && set->precision < 1))
        return fc_refuse(st, FC_INPUT, "precision %g: expected a share above 0 and below 1, 0: none", set->precision);
    if (set->precision > 0 && (!demand->open_loop || set->measure_cycles || set->backlog))
        return fc_refuse(
            st, FC_INPUT,
            "a precision is for the mean latency of open-loop traffic at a load, in a measurement of no given "
            "length");
    if (set->most_cycles && set->warmup_cycles >= set->most_cycles)
        return fc_refuse(st, FC_INPUT, "a warm-up of %llu cycles leaves nothing to measure of at most %llu cycles",
                         (unsigned long long)set->warmup_cycles, (unsigned long long)set->most_cycles);
    return FC_OK;
}

bool fc_flit_by_events(const struct fc_flit_net *flit, const struct fc_flit_settings *settings)
{
    char why[256];
    uint32_t most = flit->packet_flits_max, least = settings->packet_flits_min ? settings->packet_flits_min : most;
    if (settings->engine == FC_ENGINE_CYCLE || !fc_flit_event_engine.takes(flit, why, sizeof why)) return false;
    if (settings->engine == FC_ENGINE_EVENT || !fc_flit_cycle_engine.takes(flit, why, sizeof why)) return true;
    return (least + most) / 2.0 > fc_cycle_quick_flits(flit);
}
static enum fc_code choose_engine(const struct fc_flit_net *flit, const struct fc_flit_settings *settings,
                                  const struct fc_flit_engine_ops **ops, struct fc_status *st)
{
    int engine = settings->engine;
    char event_why[256] = "", cycle_why[256] = "";
    bool event = fc_flit_event_engine.takes(flit, event_why, sizeof event_why);
    bool cycle = fc_flit_cycle_engine.takes(flit, cycle_why, sizeof cycle_why);
    if (engine == FC_ENGINE_EVENT && !event)
        return fc_refuse(st, FC_INPUT, "engine event is not exact for this machine: %s", event_why);
    if (engine == FC_ENGINE_CYCLE && !cycle)
        return fc_refuse(st, FC_INPUT, "engine cycle is not exact for this machine: %s", cycle_why);
    if (!event && !cycle)
        return fc_refuse(st, FC_INPUT, "no engine is exact for this machine: event: %s; cycle: %s", event_why,
                         cycle_why);
    *ops = fc_flit_by_events(flit, settings) ? &fc_flit_event_engine : &fc_flit_cycle_engine;
    if (flit->ranks && *ops == &fc_flit_cycle_engine && event)
        return fc_refuse(st, FC_INPUT,
                         "the cycle engine runs in one process, not over %d ranks (expected --engine event, or a start "
                         "without mpirun; their answers differ, see docs/flit.md)",
                         flit->ranks->size);
    if (flit->ranks && *ops == &fc_flit_cycle_engine)
        return fc_refuse(
            st, FC_INPUT,
            "the cycle engine runs in one process, not over %d ranks, and the event engine is not exact for "
            "this machine: %s (expected a start without mpirun)",
            flit->ranks->size, event_why);
    return FC_OK;
}

/* Copies know neither reception queues nor the bypass. */
static enum fc_code refuse_mixture(const struct fc_flit_net *flit, struct fc_status *st)
{
    if (flit->multicast && flit->reception_flits)
        return fc_route_refuse(flit, st,
                               "node.reception: packets that routers copy are taken in at once (expected no "
                               "reception, or router.multicast: none)");
    if (flit->multicast && flit->bypass)
        return fc_route_refuse(flit, st,
                               "router.bypass: packets that routers copy take no bypass (expected no "
                               "bypass, or router.multicast: none)");
    return FC_OK;
}

enum fc_code fc_flit_run(const struct fc_network *net, const struct fc_demand *demand, const uint32_t *node,
                         const struct fc_flit_settings *settings, struct fc_flit_result *result, struct fc_status *st)
{
    memset(result, 0, sizeof *result);
    struct fc_flit_net flit;
    struct fc_flit_traffic *traffic = NULL;
    const struct fc_flit_engine_ops *ops = NULL;
    if (fc_check_input_queues(net->machine, "the flit-level kernel's routers queue", st)) return st->code;
    if (check_settings(settings, demand, st) || fc_flit_prepare(net, settings, &flit, st)) return st->code;
    fc_flit_multicast_use(&flit, demand);
    enum fc_code code = refuse_mixture(&flit, st);
    if (!code) code = choose_engine(&flit, settings, &ops, st);
    if (!code) code = fc_flit_traffic_make(&flit, demand, node, settings, &traffic, st);
    if (flit.ranks) code = fc_flit_ranks_alike(&flit, demand, node, settings, st);
    if (!code) code = fc_flit_run_engine(&flit, traffic, ops, settings, result, st);
    if (code) fc_flit_free(result);
    fc_flit_traffic_free(traffic);
    fc_flit_unprepare(&flit);
    return code;
}
