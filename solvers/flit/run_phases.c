/* run_phases.c - the phases of a run: warm-up, measurement, drain, and when to stop.
 *
 * Z is the zero-load time: (hops to the node farthest from node 0, and 2) x (router + longest wire + flit), plus
 * the longest packet. The engine is called in chunks of max(256 cycles, Z/2); a drain ends with a whole chunk.
 *
 * Open loop (Dally & Towles 2004, section 23.3; Law & Kelton, section 9.5.3):
 * 1. Warm-up: as set; else max(1000 cycles, 10 Z), and twice as long, at most 4 times, while the packets in flight
 *    rise: mean of the last quarter above 1.05 of that of the quarter before. The window begins Z later.
 * 2. Measurement: packets born in a window. As set; else first max(1000 cycles, 20 Z, 20000 packets), at most 10^8
 *    node-cycles. Shortly before its end the batches of births that have all but arrived are looked at:
 *    - rising: what was measured becomes warm-up, and a window of twice the length begins Z later;
 *    - else half width above 1 % of the mean: the window becomes twice as long, what was measured stays in it;
 *    together at most 5 times, and not beyond 2 10^6 packets or 4 10^8 node-cycles.
 *    Rising: fewer than half of the batches have arrived, or their latency grows by more than 10 % over the window
 *    with t > 4 (straight line through 8 groups). Strongly: fewer than half, or more than 50 % with t > 8; strongly
 *    in two windows running is unstable.
 * 3. Drain: sources go on until every packet born in the window has arrived; for as long as the run took until then,
 *    or 50 Z if that is more. Unstable when they have not arrived by then, or when their latency grows by more
 *    than 20 % over the window with t > 4.5.
 * Backlog: warm-up as above; then max(5000 cycles, 20 Z + 64 packet times), or as set; no drain.
 * Closed loop: everything is measured, until the last packet has arrived.
 * Deadlock: no flit has moved for 20 x (longest packet + router + wire + credit) + 1000 cycles, or as set, with
 * flits in flight. A circle of blocked packets beside traffic that goes on shows as packets that do not arrive.
 *
 * Checked in every run: injected + copied = delivered + in flight, in packets and flits, after every chunk; a
 * closed run delivers the packets that the demand has, each to all its targets. Decisions use counts only: same
 * settings and seed, same result, and over ranks, which all control the run side by side with the counts of all of
 * them, the same decisions. */
#include "solvers/flit/run.h"

#include <math.h>
#include <string.h>

enum { MOST_DOUBLINGS = 5, MOST_WARMUP_DOUBLINGS = 4, SAMPLES = 64 };
#define LEAST_CYCLES 1000.0
#define FIRST_PACKETS 2e4
#define MOST_PACKETS 2e6
#define FIRST_NODE_CYCLES 1e8
#define MOST_NODE_CYCLES 4e8
#define TARGET 0.01

/* ---- the engine in chunks -------------------------------------------------------------------------------- */

/* Interval arrays that reach beyond `tick`: engines count deliveries somewhat ahead of their time. */
static enum fc_code cover_intervals(struct fc_flit_control *c, uint64_t tick, struct fc_status *st)
{
    uint64_t length = c->counts->interval_ticks, need = length ? tick / length + 2 : 0;
    if (need <= c->counts->n_intervals) return FC_OK;
    if (need > UINT32_MAX / 2) return fc_refuse(st, FC_NO, "%llu intervals are too many", (unsigned long long)need);
    for (int t = 0; t < c->threads; t++) {
        struct fc_flit_counts *own = &c->counts[t], old = *own;
        own->n_intervals = (uint32_t)need * 2;
        if (fc_flit_counts_make(own, &c->arena, st)) return st->code;
        if (old.n_intervals == 0) continue;
        memcpy(own->interval_flits, old.interval_flits, old.n_intervals * sizeof *old.interval_flits);
        memcpy(own->interval_vc_flits, old.interval_vc_flits, old.n_intervals * sizeof *old.interval_vc_flits);
        memcpy(own->interval_returns, old.interval_returns, old.n_intervals * sizeof *old.interval_returns);
        memcpy(own->interval_unblocked, old.interval_unblocked, old.n_intervals * sizeof *old.interval_unblocked);
    }
    return FC_OK;
}

static enum fc_code check_conservation(const struct fc_flit_control *c, struct fc_status *st)
{
    uint64_t in = 0, out = 0, flits_in = 0, flits_out = 0, started = 0, arrived = 0, copied = 0;
    for (int t = 0; t < c->n_counts; t++) {
        const struct fc_flit_counts *n = &c->counts[t];
        in += n->packets_injected + n->packets_copied, out += n->packets_delivered;
        flits_in += n->flits_injected + n->flits_copied, flits_out += n->flits_delivered;
        copied += n->packets_copied;
        started += n->measured_started, arrived += n->measured_delivered;
    }
    if (in != out + c->state.packets_in_flight || flits_in != flits_out + c->state.flits_in_flight || arrived > started)
        return fc_refuse(
            st, FC_FAULT,
            "the %s engine does not conserve packets at tick %llu: injected %llu (%llu flits; %llu packets "
            "are copies), delivered %llu (%llu), in flight %llu (%llu); measured started %llu, arrived %llu",
            c->ops->name, (unsigned long long)c->state.now, (unsigned long long)in, (unsigned long long)flits_in,
            (unsigned long long)copied, (unsigned long long)out, (unsigned long long)flits_out,
            (unsigned long long)c->state.packets_in_flight, (unsigned long long)c->state.flits_in_flight,
            (unsigned long long)started, (unsigned long long)arrived);
    return FC_OK;
}

static enum fc_code find_deadlock(struct fc_flit_control *c, struct fc_status *st)
{
    const struct fc_flit_state *s = &c->state;
    if (s->flits_in_flight == 0 || s->now <= s->last_move || s->now - s->last_move <= c->still) return FC_OK;
    struct fc_flit_blocked *blocked;
    uint32_t n, *wanted;
    c->stopped = c->result->deadlock = true;
    if (c->ops->blocked(c->engine, &c->arena, &blocked, &n, &wanted, st)) return st->code;
    return fc_flit_deadlock_text(c->flit, blocked, n, wanted, &c->result->arena, &c->result->deadlock_text, st);
}

uint64_t fc_flit_delivered_packets(const struct fc_flit_control *c)
{
    uint64_t n = 0;
    for (int t = 0; t < c->n_counts; t++) n += c->counts[t].packets_delivered;
    return n;
}

static double moves(const struct fc_flit_control *c)
{
    double sum = 0;
    for (int t = 0; t < c->n_counts; t++)
        sum += (double)(c->counts[t].flits_injected + c->counts[t].flits_delivered + c->counts[t].flit_hops);
    return sum;
}

/* One chunk, at most up to `until`. */
static enum fc_code step(struct fc_flit_control *c, uint64_t until, struct fc_status *st)
{
    uint64_t to = c->state.now + c->chunk;
    if (to > until) to = until;
    if (to > c->most) to = c->most;
    cover_intervals(c, to + 2 * c->zero_load, st);
    if (fc_ranks_agree(c->flit->ranks, st) || c->ops->advance(c->engine, to, &c->state, st)) return st->code;
    fc_flit_share(c, false);
    if (check_conservation(c, st) || find_deadlock(c, st)) return st->code;
    if (c->state.exhausted || c->state.now >= c->most) c->stopped = true;
    if (!c->stopped && c->settings->most_moves > 0 && moves(c) > c->settings->most_moves)
        c->stopped = c->result->cut = true;
    return FC_OK;
}

static void show(const struct fc_flit_control *c, double done, const char *what)
{
    fc_progress_show(c->settings->progress, done, what);
}

enum fc_code fc_flit_run_until(struct fc_flit_control *c, uint64_t until, double done_from, double done_to,
                               const char *what, struct fc_status *st)
{
    uint64_t start = c->state.now;
    while (!c->stopped && c->state.now < until) {
        c->phase = what;
        if (step(c, until, st)) return st->code;
        double part = (double)(c->state.now - start) / (double)(until - start);
        show(c, done_from + (done_to - done_from) * part, what);
    }
    return FC_OK;
}

void fc_flit_add_up(struct fc_flit_control *c)
{
    struct fc_flit_counts arrays = *c->total;
    fc_flit_share(c, true);
    *c->total = (struct fc_flit_counts){.measure_from = c->counts->measure_from,
                                        .measure_to = c->counts->measure_to,
                                        .batches = c->counts->batches,
                                        .interval_ticks = c->counts->interval_ticks,
                                        .n_intervals = arrays.n_intervals,
                                        .interval_flits = arrays.interval_flits,
                                        .interval_vc_flits = arrays.interval_vc_flits,
                                        .interval_returns = arrays.interval_returns,
                                        .interval_unblocked = arrays.interval_unblocked};
    for (int t = 0; t < c->n_counts; t++) fc_flit_counts_add(c->total, &c->counts[t]);
}

/* Written only where they differ: of arrays whose other parts belong to other ranks no memory is used for these. */
void fc_flit_set_window(struct fc_flit_control *c, uint64_t from, uint64_t to)
{
    for (int t = 0; t < c->n_counts; t++) fc_flit_restart_window(&c->counts[t], from, to);
    for (uint32_t l = 0; l < c->flit->n_links; l++) {
        if (c->flits_before[l] != c->link_flits[l]) c->flits_before[l] = c->link_flits[l];
        if (c->packets_before[l] != c->link_packets[l]) c->packets_before[l] = c->link_packets[l];
    }
    for (uint32_t n = 0; n < c->flit->n_nodes; n++)
        if (c->injected_before[n] != c->injected[n]) c->injected_before[n] = c->injected[n];
}

/* ---- open loop ------------------------------------------------------------------------------------------- */

/* Runs to `until`; whether the packets in flight still rose over its second half. */
static enum fc_code warm(struct fc_flit_control *c, uint64_t until, bool *rising, struct fc_status *st)
{
    uint64_t start = c->state.now, unit = (until - start) / SAMPLES + 1;
    double third = 0, fourth = 0;
    for (int i = 1; i <= SAMPLES && !c->stopped; i++) {
        uint64_t end = start + unit * (uint64_t)i < until ? start + unit * (uint64_t)i : until;
        if (fc_flit_run_until(c, end, 0, 0.3, "warm-up", st)) return st->code;
        double here = (double)c->state.packets_in_flight;
        if (i > SAMPLES / 4 * 3)
            fourth += here;
        else if (i > SAMPLES / 2)
            third += here;
    }
    *rising = fourth > 1.05 * third;
    return FC_OK;
}

static uint64_t round_up(uint64_t x, uint64_t unit)
{
    return (x + unit - 1) / unit * unit;
}

static uint64_t first_window(const struct fc_flit_control *c)
{
    double unit = fc_flit_to_cycles(c->flit, c->zero_load), cycles = fmax(LEAST_CYCLES, 20 * unit);
    if (c->traffic->backlog) {
        uint64_t flit_ticks, packet_ticks, wire_ticks;
        fc_flit_slowest_ticks(c->flit, &flit_ticks, &packet_ticks, &wire_ticks);
        cycles = fmax(5 * LEAST_CYCLES, 20 * unit + 64 * fc_flit_to_cycles(c->flit, packet_ticks));
    } else {
        double rate = c->traffic->offered * c->flit->n_nodes / c->traffic->mean_flits;
        cycles = fmax(cycles, fmin(FIRST_PACKETS / rate, FIRST_NODE_CYCLES / c->flit->n_nodes));
    }
    return round_up(fc_flit_cycles_to_ticks(c->flit, cycles), FC_FLIT_BATCHES);
}

/* What the window says shortly before its end. */
struct verdict {
    bool rising, strongly, precise;
};

int fc_flit_arrived_batches(struct fc_flit_control *c)
{
    fc_flit_add_up(c);
    const struct fc_flit_counts *t = c->total;
    int arrived = 0, n = (int)t->batches;
    double expected = c->traffic->offered * c->flit->n_nodes / c->traffic->mean_flits / c->flit->ticks_per_cycle *
                      (double)(t->measure_to - t->measure_from) / n;
    double least = 0.95 * expected - 4 * sqrt(expected);
    while (arrived < n && (double)t->batch_packets[arrived] >= least) arrived++;
    return least > 0 ? arrived : n - 1; /* too few packets to see any missing */
}

static struct verdict judge(struct fc_flit_control *c)
{
    int arrived = fc_flit_arrived_batches(c);
    const struct fc_flit_counts *t = c->total;
    if (arrived < FC_FLIT_BATCHES / 2) return (struct verdict){.rising = true, .strongly = true};
    struct fc_flit_trend trend = fc_flit_latency_trend(t, arrived);
    struct fc_flit_mean mean = fc_flit_batch_mean(t, arrived);
    return (struct verdict){.rising = trend.growth > 0.1 && trend.t > 4,
                            .strongly = trend.growth > 0.5 && trend.t > 8,
                            .precise = mean.half_width <= TARGET * mean.mean};
}

static bool may_double(const struct fc_flit_control *c, uint64_t length)
{
    double node_cycles = 2 * fc_flit_to_cycles(c->flit, length) * c->flit->n_nodes;
    double packets = node_cycles * c->traffic->offered / c->traffic->mean_flits;
    return packets <= MOST_PACKETS && node_cycles <= MOST_NODE_CYCLES;
}

void fc_flit_call_unstable(struct fc_flit_control *c, const char *because)
{
    c->result->stable = false;
    if (!c->result->unstable_because[0]) c->result->unstable_because = because;
}

/* Z later: flits of packets that links are busy with now would not be counted. */
void fc_flit_start_window(struct fc_flit_control *c, uint64_t length)
{
    uint64_t from = c->state.now + c->zero_load;
    fc_flit_set_window(c, from, from + length);
}

/* Lengthens the window until it is precise, not longer to be lengthened, or shows an unstable network. */
static enum fc_code measure(struct fc_flit_control *c, struct fc_status *st)
{
    bool before = false; /* rising strongly in the window before */
    for (int doublings = 0; !c->stopped; doublings++) {
        uint64_t from = c->counts->measure_from, to = c->counts->measure_to, length = to - from;
        uint64_t margin = length / FC_FLIT_BATCHES > c->zero_load ? length / FC_FLIT_BATCHES : c->zero_load;
        if (fc_flit_run_until(c, to - margin, 0.3, 0.8, "measurement", st)) return st->code;
        if (c->stopped) break;
        struct verdict v = judge(c);
        bool last = doublings == MOST_DOUBLINGS || !may_double(c, length);
        if (v.strongly && before) {
            fc_flit_call_unstable(c, "the latency grows without end");
            break;
        }
        if (last || (!v.rising && v.precise)) break;
        before = v.strongly;
        if (v.rising)
            fc_flit_start_window(c, 2 * length);
        else
            for (int t = 0; t < c->n_counts; t++) fc_flit_double_window(&c->counts[t]);
    }
    return fc_flit_run_until(c, c->counts->measure_to, 0.8, 0.9, "measurement", st);
}

static bool all_arrived(const struct fc_flit_control *c)
{
    uint64_t started = 0, arrived = 0;
    for (int t = 0; t < c->n_counts; t++) {
        started += c->counts[t].measured_started;
        arrived += c->counts[t].measured_delivered;
    }
    return c->state.now >= c->counts->measure_to && c->state.sources_waiting == 0 && started == arrived;
}

enum fc_code fc_flit_drain(struct fc_flit_control *c, struct fc_status *st)
{
    uint64_t start = c->state.now, limit = start + (start > 50 * c->zero_load ? start : 50 * c->zero_load);
    while (!c->stopped && !all_arrived(c) && c->state.now < limit) {
        c->phase = "drain";
        if (step(c, limit, st)) return st->code;
        show(c, 0.9 + 0.1 * (double)(c->state.now - start) / (double)(limit - start), "drain");
    }
    c->result->complete = all_arrived(c);
    if (!c->result->complete && !c->stopped) fc_flit_call_unstable(c, "packets of the measurement do not arrive");
    fc_flit_add_up(c);
    struct fc_flit_trend trend = fc_flit_latency_trend(c->total, (int)c->total->batches);
    if (c->result->complete && !c->fills && trend.growth > 0.2 && trend.t > 4.5)
        fc_flit_call_unstable(c, "the latency grows over the whole measurement");
    return FC_OK;
}

/* Runs through the warm-up and opens the window. */
static enum fc_code warm_up(struct fc_flit_control *c, struct fc_status *st)
{
    const struct fc_flit_settings *set = c->settings;
    uint64_t length =
        set->measure_cycles ? fc_flit_cycles_to_ticks(c->flit, (double)set->measure_cycles) : first_window(c);
    if (set->warmup_cycles) {
        uint64_t from = fc_flit_cycles_to_ticks(c->flit, (double)set->warmup_cycles);
        fc_flit_set_window(c, from, from + length);
        return fc_flit_run_until(c, from, 0, 0.3, "warm-up", st);
    }
    double cycles = fmax(LEAST_CYCLES, 10 * fc_flit_to_cycles(c->flit, c->zero_load));
    uint64_t until = fc_flit_cycles_to_ticks(c->flit, cycles);
    bool rising = true;
    fc_flit_set_window(c, UINT64_MAX / 2, UINT64_MAX / 2 + FC_FLIT_BATCHES);
    for (int i = 0; rising && i <= MOST_WARMUP_DOUBLINGS && !c->stopped; i++, until *= 2)
        if (warm(c, until, &rising, st)) return st->code;
    fc_flit_start_window(c, length);
    return FC_OK;
}

enum fc_code fc_flit_run_open(struct fc_flit_control *c, struct fc_status *st)
{
    bool backlog = c->traffic->backlog;
    if (warm_up(c, st)) return st->code;
    enum fc_code code = c->settings->measure_cycles || backlog
                            ? fc_flit_run_until(c, c->counts->measure_to, 0.3, 0.9, "measurement", st)
                            : measure(c, st);
    if (code) return code;
    c->result->complete = backlog && !c->stopped;
    if (!backlog && c->result->stable && !c->stopped) return fc_flit_drain(c, st);
    return FC_OK;
}

/* ---- closed loop ----------------------------------------------------------------------------------------- */

enum fc_code fc_flit_run_closed(struct fc_flit_control *c, struct fc_status *st)
{
    uint64_t packets = c->traffic->closed.deliveries;
    c->phase = "messages";
    fc_flit_set_window(c, 0, UINT64_MAX);
    while (!c->stopped) {
        if (step(c, UINT64_MAX, st)) return st->code;
        show(c, (double)fc_flit_delivered_packets(c) / (double)packets, "messages");
    }
    c->result->complete = c->state.exhausted;
    if (c->state.exhausted && fc_flit_delivered_packets(c) != packets)
        return fc_refuse(st, FC_FAULT, "the %s engine ended after %llu of %llu packets", c->ops->name,
                         (unsigned long long)fc_flit_delivered_packets(c), (unsigned long long)packets);
    return FC_OK;
}
