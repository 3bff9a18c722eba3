/* transit_flit.c - small cases through the flit-level kernel: a message becomes packets in the queue of its
 * node, in one run of the cycle engine that goes on from message to message.
 *
 * A message that leaves at d joins the queue at the first tick that is not before d; it has arrived when the
 * last of its packets is whole at the receiver. The kernel is advanced by as many ticks as a flit needs on
 * the fastest link (one tick with finite reception queues): what is granted later arrives after that, so no
 * arrival is passed by, and a message sent at the time of an arrival is at most one such step late. While
 * nothing is under way the clock jumps. alone_s is that of transit_routes.c, a formula and not a run, or the
 * arrival itself where that is earlier (adaptive packets have more than 8 paths).
 *
 * A background (background.h) is sent too: WARM_UP settling times of it before the first message, then packet
 * by packet while messages are under way. While none is the clock jumps and the network stands still, which
 * changes nothing in distribution, since births are a Poisson process and what they meet is stationary.
 *
 * Limits: networks of at most MOST_LINKS links; the messages of one node take turns, a packet each, with those
 * of the background from their birth on (source_outside.c); bytes of links are not told. Costs what the kernel costs, tick by tick while anything is under way: on bgl-64 0.4 s of CPU a
 * millisecond of time. */
#include "solvers/background.h"
#include "solvers/flit/run.h"
#include "solvers/transit/transit_internal.h"

#include <stdlib.h>

enum { MOST_LINKS = 20000, WARM_UP = 200 };
#define START (UINT64_C(1) << 40) /* names of messages, which are births, stay below the clock */

struct flying {
    uint64_t id, packets; /* still to arrive; 0: has arrived */
    uint64_t tick;        /* of the latest that has */
    double alone_s;       /* NaN: of the background */
};
struct kernel {
    struct fc_flit_net flit;
    struct fc_flit_traffic *traffic;
    struct fc_flit_counts *counts;
    struct fc_flit_log log;
    uint64_t *link_flits, *link_packets;
    uint32_t *injected;
    void *engine;
    struct fc_flit_state state;
    double tick_s, base_s; /* tick base is base_s */
    uint64_t base, now, step, settle, still;
    uint64_t idle_from;    /* the tick from which nothing was under way; UINT64_MAX: something is */
    struct flying *flying; /* [n_flying] messages number first .. */
    uint64_t first_flying;
    size_t n_flying, n_done, flying_capacity;
    struct fc_births *births; /* of the background; NULL: none */
    uint64_t births_from;     /* tick 0 of births */
    uint64_t n_born, n_died;  /* packets of it so far */
    size_t n_own;             /* messages under way that are not its */
    bool prepared;
};

static enum fc_code warm_up(struct fc_transit *t);

static enum fc_code start_engine(struct fc_transit *t)
{
    struct kernel *k = t->own;
    memset(k->counts, 0, sizeof *k->counts); /* an empty window: every packet is logged */
    k->counts->log = &k->log;
    if (fc_flit_cycle_engine.open(&k->flit, k->traffic, 1, t->settings.seed, k->counts, k->link_flits, k->link_packets,
                                  k->injected, &k->engine, t->st))
        return t->st->code;
    fc_flit_cycle_engine.start_at(k->engine, START);
    k->base = k->now = START;
    k->idle_from = START - k->settle;
    k->state = (struct fc_flit_state){.now = START};
    return k->births ? warm_up(t) : FC_OK;
}

static enum fc_code open_births(struct fc_transit *t)
{
    struct kernel *k = t->own;
    const struct fc_background *b = t->settings.background;
    if (!b && !t->settings.background_bytes_per_s) return FC_OK;
    if (!b)
        return fc_refuse(t->st, FC_INPUT,
                         "network flit sends a background as packets, and knows only how busy links are (expected "
                         "who sends to whom, or network contention)");
    if (b->fills)
        return fc_refuse(t->st, FC_INPUT,
                         "network flit sends a background at its rate: one whose sources always have a packet "
                         "waiting has none (expected a load, or network contention)");
    return fc_births_open(b, t->net->n_nodes, k->tick_s, t->settings.seed, &k->births, t->st);
}

static enum fc_code open_kernel(struct fc_transit *t)
{
    const struct fc_network *net = t->net;
    struct fc_flit_settings settings;
    char why[256] = "";
    struct kernel *k = t->own = fc_alloc(&t->arena, 1, sizeof *k, t->st);
    if (!k) return t->st->code;
    if (net->n_links > MOST_LINKS)
        return fc_refuse(t->st, FC_NO,
                         "network flit: the machine has %u links, the kernel follows flits on at most %d (expected "
                         "network contention or queueing)",
                         net->n_links, MOST_LINKS);
    fc_flit_defaults(&settings);
    settings.seed = t->settings.seed;
    if (fc_flit_prepare(net, &settings, &k->flit, t->st)) return t->st->code;
    k->prepared = true;
    if (!fc_flit_cycle_engine.takes(&k->flit, why, sizeof why))
        return fc_refuse(t->st, FC_INPUT, "network flit: engine cycle is not exact for this machine: %s", why);
    if (fc_flit_outside_make(&k->flit, t->settings.seed, &k->traffic, t->st) ||
        !(k->counts = fc_alloc(&t->arena, 1, sizeof *k->counts, t->st)) ||
        !(k->link_flits = fc_alloc(&t->arena, net->n_links, sizeof *k->link_flits, t->st)) ||
        !(k->link_packets = fc_alloc(&t->arena, net->n_links, sizeof *k->link_packets, t->st)) ||
        !(k->injected = fc_alloc(&t->arena, net->n_nodes, sizeof *k->injected, t->st)))
        return t->st->code;
    uint64_t flit_ticks, packet_ticks, wire_ticks;
    fc_flit_slowest_ticks(&k->flit, &flit_ticks, &packet_ticks, &wire_ticks);
    k->settle = packet_ticks + wire_ticks + k->flit.credit_ticks + k->flit.router_ticks + 1;
    k->still = 20 * k->settle + fc_flit_cycles_to_ticks(&k->flit, 1000);
    k->tick_s = k->flit.cycle_s / k->flit.ticks_per_cycle;
    k->step = flit_ticks;
    for (int c = 0; c < net->machine->n_classes; c++)
        if (k->flit.flit_ticks[c] < k->step) k->step = k->flit.flit_ticks[c];
    if (k->step == 0 || k->flit.reception_flits) k->step = 1;
    k->log.capacity = (size_t)net->n_links * (k->step + 1); /* a link brings at most a packet a tick */
    k->log.packet = fc_alloc(&t->arena, k->log.capacity, sizeof *k->log.packet, t->st);
    return !k->log.packet || open_births(t) ? t->st->code : start_engine(t);
}

static void close_kernel(struct fc_transit *t)
{
    struct kernel *k = t->own;
    if (!k) return;
    if (k->engine) fc_flit_cycle_engine.close(k->engine);
    fc_flit_outside_free(k->traffic);
    fc_births_close(k->births);
    if (k->prepared) fc_flit_unprepare(&k->flit);
    free(k->flying);
}

/* ---- time ---- */

static double time_of(const struct kernel *k, uint64_t tick)
{
    return k->base_s + (double)(tick - k->base) * k->tick_s;
}
/* The first tick that is not before the time; a little earlier where rounding may be all that is between. */
static uint64_t tick_of(const struct kernel *k, double time_s)
{
    double ticks = ceil((time_s - k->base_s) / k->tick_s - 1e-4);
    return ticks <= 0 ? k->base : ticks >= 0x1p62 ? UINT64_MAX / 2 : k->base + (uint64_t)ticks;
}

/* ---- messages into the kernel, packets out ---- */

/* Room for one more under way: the first that have arrived make place where they are half of all. */
static bool reserve_flying(struct fc_transit *t)
{
    struct kernel *k = t->own;
    size_t gone = 0;
    if (k->n_done == k->n_flying) k->first_flying += k->n_flying, k->n_flying = k->n_done = 0;
    if (k->n_flying == k->flying_capacity)
        while (gone < k->n_flying && k->flying[gone].packets == 0) gone++;
    if (gone > k->n_flying / 2) {
        memmove(k->flying, k->flying + gone, (k->n_flying - gone) * sizeof *k->flying);
        k->first_flying += gone;
        k->n_flying -= gone;
        k->n_done -= gone;
    }
    return fc_transit_reserve((void **)&k->flying, &k->flying_capacity, k->n_flying + 1, sizeof *k->flying, t->st);
}

static enum fc_code put(struct fc_transit *t, uint32_t src, uint32_t dst, double bytes, struct flying flying)
{
    struct kernel *k = t->own;
    if (!reserve_flying(t)) return t->st->code;
    flying.packets = fc_flit_outside_put(k->traffic, src, dst, bytes, k->first_flying + k->n_flying);
    if (!flying.packets) return fc_out_of_memory(t->st, "messages under way");
    k->flying[k->n_flying++] = flying;
    k->idle_from = UINT64_MAX;
    fc_flit_cycle_engine.wake(k->engine, src);
    return FC_OK;
}

static enum fc_code begin(struct fc_transit *t, const struct fc_transit_message *m)
{
    struct kernel *k = t->own;
    uint32_t w = fc_transit_ways_find(&t->ways, m->src, m->dst, m->bytes, m->turn);
    if (w == FC_NONE) return t->st->code;
    const struct fc_transit_way *way = &t->ways.way[w];
    double alone_s = m->time_s + fc_transit_head_s(&t->ways, way, m->wire_bytes) + m->wire_bytes * way->s_per_byte;
    k->n_own++;
    return put(t, m->src, m->dst, m->bytes, (struct flying){.id = m->id, .alone_s = alone_s});
}

/* Tick of the background's next birth. */
static uint64_t next_birth(const struct kernel *k)
{
    uint64_t tick = k->births ? fc_births_next_tick(k->births) : UINT64_MAX;
    return tick == UINT64_MAX ? tick : k->births_from + tick;
}

static enum fc_code give_birth(struct fc_transit *t)
{
    struct kernel *k = t->own;
    while (next_birth(k) <= k->now) {
        uint32_t src, dst;
        fc_births_take(k->births, &src, &dst);
        k->n_born++;
        if (put(t, src, dst, t->settings.background->packet_bytes, (struct flying){.alone_s = NAN})) break;
    }
    return t->st->code;
}

static enum fc_code begin_due(struct fc_transit *t)
{
    struct kernel *k = t->own;
    while (t->starts.order.n && tick_of(k, fc_transit_first_start_s(t)) <= k->now) {
        struct fc_transit_message message = fc_transit_pop_start(t);
        if (begin(t, &message)) return t->st->code;
    }
    return FC_OK;
}

static enum fc_code read_log(struct fc_transit *t)
{
    struct kernel *k = t->own;
    if (k->log.full) return fc_refuse(t->st, FC_FAULT, "network flit: more packets than links can bring");
    for (size_t i = 0; i < k->log.n; i++) {
        const struct fc_flit_logged *p = &k->log.packet[i];
        struct flying *f = &k->flying[p->born - k->first_flying];
        if (p->tick < k->now)
            return fc_refuse(t->st, FC_FAULT, "network flit: a packet of tick %llu was seen at tick %llu",
                             (unsigned long long)p->tick, (unsigned long long)k->now);
        if (p->tick > f->tick) f->tick = p->tick;
        if (--f->packets > 0) continue;
        double arrived_s = time_of(k, f->tick);
        k->n_done++;
        if (isnan(f->alone_s)) {
            k->n_died++;
            continue;
        }
        k->n_own--;
        if (fc_transit_arrive(t, f->id, arrived_s, fmin(f->alone_s, arrived_s))) return t->st->code;
    }
    k->log.n = 0;
    return FC_OK;
}

static enum fc_code run_to(struct fc_transit *t, uint64_t tick)
{
    struct kernel *k = t->own;
    while (k->now < tick) { /* an engine that runs dry stops early, and goes on when called again */
        if (give_birth(t)) return t->st->code;
        uint64_t to = k->now + k->step < tick ? k->now + k->step : tick;
        do {
            if (fc_flit_cycle_engine.advance(k->engine, to, &k->state, t->st)) return t->st->code;
        } while (!k->state.exhausted && k->state.now < to);
        if (k->state.exhausted && fc_flit_cycle_engine.advance(k->engine, to, &k->state, t->st)) return t->st->code;
        k->now = to;
        if (k->log.n) {
            if (read_log(t)) return t->st->code;
            if (t->arrivals.n > 0 || !k->births) break;
        }
    }
    if (!k->state.exhausted && k->state.flits_in_flight > 0 && k->now > k->state.last_move + k->still)
        return fc_refuse(t->st, FC_NO, "network flit: no flit has moved for %.0f cycles: a deadlock",
                         fc_flit_to_cycles(&k->flit, k->still));
    if (k->state.exhausted && k->idle_from == UINT64_MAX) k->idle_from = k->now;
    return FC_OK;
}

/* The background alone, until the network is as full as it stays: FC_NO where it only gets fuller. */
static enum fc_code warm_up(struct fc_transit *t)
{
    struct kernel *k = t->own;
    k->births_from = START;
    k->n_born = k->n_died = 0;
    uint64_t middle = START + WARM_UP / 2 * k->settle, end = START + WARM_UP * k->settle;
    while (k->now < middle)
        if (run_to(t, middle)) return t->st->code;
    uint64_t born = k->n_born, died = k->n_died;
    while (k->now < end)
        if (run_to(t, end)) return t->st->code;
    born = k->n_born - born;
    died = k->n_died - died;
    if ((double)born > (double)died + 0.03 * (double)born + 4 * sqrt((double)born) + 16)
        return fc_refuse(t->st, FC_NO,
                         "network flit: the background alone is more than the network carries: of %llu packets %llu "
                         "arrive (expected a lower load)",
                         (unsigned long long)born, (unsigned long long)died);
    k->base = k->now;
    return FC_OK;
}

/* With a background: the network moves while messages are under way, and stands still while none is. */
static enum fc_code advance_beside(struct fc_transit *t, double until_s)
{
    struct kernel *k = t->own;
    for (;;) {
        if (begin_due(t)) return t->st->code;
        double start_s = fc_transit_first_start_s(t), arrival_s = fc_transit_events_first(&t->arrivals);
        double now_s = time_of(k, k->now), end_s = fmin(until_s, arrival_s);
        if (now_s >= end_s || (k->n_own == 0 && (isinf(start_s) || start_s > end_s))) return FC_OK;
        if (k->n_own == 0) {
            k->base_s = start_s;
            k->base = k->now;
            continue;
        }
        uint64_t to = tick_of(k, fmin(fmin(until_s, start_s), fmin(arrival_s, now_s + 1)));
        if (run_to(t, to > k->now ? to : k->now + 1)) return t->st->code;
    }
}

static enum fc_code advance(struct fc_transit *t, double until_s)
{
    struct kernel *k = t->own;
    if (k->births) return advance_beside(t, until_s);
    for (;;) {
        if (begin_due(t)) return t->st->code;
        double start_s = fc_transit_first_start_s(t), arrival_s = fc_transit_events_first(&t->arrivals);
        double now_s = time_of(k, k->now), target_s = fmin(until_s, fmin(start_s, arrival_s));
        bool idle = k->idle_from != UINT64_MAX;
        if (now_s >= fmin(until_s, arrival_s) || (idle && (isinf(start_s) || start_s > fmin(until_s, arrival_s))))
            return FC_OK;
        if (idle && k->now >= k->idle_from + k->settle) { /* nothing moves: the next message is now */
            k->base_s = start_s;
            k->base = k->now;
        } else {
            uint64_t to = tick_of(k, fmin(target_s, now_s + 1));
            if (idle && to > k->idle_from + k->settle) to = k->idle_from + k->settle;
            if (run_to(t, to > k->now ? to : k->now + 1)) return t->st->code;
        }
    }
}

const struct fc_transit_ops fc_transit_flit = {.name = "flit",
                                               .no_links = true,
                                               .open = open_kernel,
                                               .send = fc_transit_hold,
                                               .advance = advance,
                                               .close = close_kernel};
