/* run_precision.c - a run that ends when its means are known as precisely as was asked, instead of by its length.
 *
 * Z: zero-load time (run_phases.c). All checkpoints are at ticks that follow from Z, the load and counts alone: same settings and
 * seed, same result, for any number of threads.
 *
 * 1. Warm-up: as set; else a pilot from cycle 0 of T = 3000 packets, at least 4 Z and at most 20 Z, doubled up to 2^8 T or a quarter
 *    of the greatest length, until MSER-5 (run_means.c) cuts the latencies by birth in its first half and nearly all have
 *    arrived. The window begins Z later; nothing of the pilot is measured.
 * 2. Measurement: 32 batches, at first 4 Z and 3000 x (1 % / precision)^2 packets in all, then 8 more at a time; 64 are joined
 *    to 32. At each checkpoint, shortly before the window's end, the batches that have arrived are looked at:
 *    - latency rising (as in run_phases.c): what was measured becomes warm-up, a window of twice the length begins;
 *    - half widths of mean latency, by 16 batches or more, and of accepted load both at most 0.9 of what was asked, and the load
 *      accepted what is offered, to the precision, at two checkpoints running: the end.
 *    Greatest length: until 0.8 of --max-cycles, else 2 million packets or 20 million flits in the window (or most_packets), but 20 Z at
 *    least. Then the run says that the precision was not reached, and its half widths; where it accepts less than is offered, by
 *    more than the precision, or the latency rises, it is unstable.
 *    Of the accepted load alone (`only_accepted`): the end is where the latency is known not to grow, by FLAT over the window at
 *    most (twice its standard error included), instead of its half width, and no source falls behind. One pair of many that is overloaded
 *    takes nearly nothing of what is accepted, and its packets that have not come show in no latency, but its source falls behind by what it
 *    offers too much: the packet that waits longest at its source does so for more than BEHIND of the time until now (or the precision) and
 *    BEHIND_ZERO_LOADS Z; unless what is in the system has grown, since half of the time, by no more than the precision, and the packets
 *    there are no more than in the longest of N like queues by chance, ln N + 4 times their mean (queues have exponential tails).
 *    Where nodes send to few others (at most 8 in the mean, no dense part), of all runs: buffers that hold many packets hide such a pair
 *    for long, but its packets arrive ever later, by what it offers too much. t: what the 1 - 1 / (4 nodes) quantile of the latencies
 *    is above Z. A run does not end before its greatest length while t is more than BEHIND of the time until now. Where it still is then,
 *    more than LATE_PACKETS times as long as the slowest link has a packet (queues of fewer are there by chance), and has grown by more
 *    than BEHIND / 4 of the time since half of the window, it is unstable. Queues of such length that fill and then last look so at first: before
 *    that is said each source has offered 1 / BEHIND^2 packets, by which what it offers is known to BEHIND. On networks of thousands of nodes this
 *    lengthens the run, as do packets that take longer than half of the window. Where a limit is set to packets or cycles nothing is lengthened,
 *    and growth is not asked for.
 *    A permutation on a dragonfly of 160 nodes under UGAL with packets of 67 flits: 0.54 to 0.56 without, 0.495 with it; runs of 4 million cycles
 *    last at 0.48, not at 0.50. Perlmutter whole, 0.509 where it was said at the greatest length of 300 000 packets, 0.644 with such runs; those of 1.2 million
 *    cycles last at 0.58.
 *    At the greatest length two things tell queues that still fill from overload: no load is called unstable, but by the growth below, before each
 *    source has offered A_SOURCE / precision packets; nor for an accepted load or a latency where what is in the system has grown, since half of
 *    the time, by no more than the precision or the standard deviation of the births, or by less than SLOWS times what it grew by in the quarter
 *    before (overload grows twice as much, a queue that is offered just what it serves sqrt(2) times).
 *    Percent of the ideal, without the second and with it, and what long runs accept: uniform traffic, five seeds, bgl-64 93.4 to 95.2, 95.0 to 95.4,
 *    95.3; bgl-8x8x1 91.2 to 96.5, 95.3 to 96.6, 96.6; bgl-512 94.2 (one seed), 97.0 to 97.5, 98.7. 512 nodes, packets of 128 flits, traffic that the
 *    network takes all of: 66 without either, 82 to 89 with the first (six seeds), 85 to 94 with both.
 * 3. Drain: as in run_phases.c.
 *
 * Overload, at every checkpoint from 16 Z on: the packets in the system (births expected - delivered) grow in proportion to time,
 * where a stable network slows down. g: their growth since half of the time by births expected since then, at least 0.85 of
 * that of the quarter before, and either g > 1/4, or growth beyond 8 standard deviations of the births and more than rate x 4 Z in
 * the system. Then accepted load is measured until it is as precise as asked, in a window of half as long again, or one of
 * twice to 16 times the length after it; and the run is unstable. A search for the saturation, which only wants to know where to go on,
 * has one window, which becomes four times as long at most.
 *
 * Means and half widths: run_means.c. The half width of accepted load is that of flits delivered in batches of time, by 8
 * to 15 of them. */
#include "solvers/flit/run.h"

#include <math.h>

enum { GROWS_BY = 8, MOST_PILOT_DOUBLINGS = 8, LEAST_BATCHES = 16, ACCEPTED_BATCHES = 8, MOST_CHECKPOINTS = 256 };
#define FIRST_PACKETS 3000.0
#define MOST_PACKETS 2e6
#define LEAST_ZERO_LOADS 4.0
#define PILOT_ZERO_LOADS 20.0
#define STOPS_AT 0.9
#define FLAT 0.4
#define BEHIND 0.03
#define BEHIND_ZERO_LOADS 8
#define LATE_PACKETS 60
#define A_SOURCE 0.6
#define SLOWS 1.25
#define OVERLOAD_WINDOWS 16
#define OVERLOAD_PROBED 4

/* Packets in the system at the checkpoints, and how late those of a window are that began at tick `from`. */
struct course {
    uint64_t tick[MOST_CHECKPOINTS], from[MOST_CHECKPOINTS];
    double packets[MOST_CHECKPOINTS], late[MOST_CHECKPOINTS];
    int n;
};

static double packets_per_tick(const struct fc_flit_control *c)
{
    return c->traffic->offered * c->flit->n_nodes / c->traffic->mean_flits / c->flit->ticks_per_cycle;
}

static uint64_t round_up(uint64_t x, uint64_t unit)
{
    return (x + unit - 1) / unit * unit;
}

/* At least so many zero-load times, in batches of whole ticks. */
static uint64_t window_ticks(const struct fc_flit_control *c, double ticks, double zero_loads)
{
    return round_up((uint64_t)fmax(ceil(ticks), zero_loads * (double)c->zero_load), FC_FLIT_BATCHES);
}

static double most_window_ticks(const struct fc_flit_control *c)
{
    double packets = MOST_PACKETS * fmin(1, 10 / c->traffic->mean_flits);
    uint64_t from = c->counts->measure_from;
    if (c->settings->most_cycles)
        return 0.8 * (double)c->most - (from < c->most ? (double)from : 0); /* the rest: drain */
    if (c->settings->most_packets) packets = (double)c->settings->most_packets;
    return fmax(packets / packets_per_tick(c), 20 * (double)c->zero_load);
}

/* ---- the window ------------------------------------------------------------------------------------------ */

static void open_window(struct fc_flit_control *c, uint64_t length)
{
    fc_flit_start_window(c, length);
    c->n_passed = 0;
}

/* On to tick `until`, at most the window's end; notes what has passed at the end of every batch. */
static enum fc_code run_batches(struct fc_flit_control *c, uint64_t until, struct fc_status *st)
{
    const struct fc_flit_counts *w = c->counts;
    uint64_t length = (w->measure_to - w->measure_from) / w->batches;
    while (!c->stopped && c->state.now < until) {
        uint64_t end = w->measure_from + length * (c->n_passed + 1);
        if (fc_flit_run_until(c, end < until ? end : until, 0.3, 0.9, "measurement", st)) return st->code;
        if (c->stopped || c->state.now < end) continue;
        uint64_t flits = 0;
        for (int t = 0; t < c->n_counts; t++)
            flits += c->counts[t].window_flits_delivered - c->counts[t].window_background_flits;
        c->passed[c->n_passed++] = flits;
    }
    return FC_OK;
}

static void lengthen(struct fc_flit_control *c)
{
    uint64_t length = (c->counts->measure_to - c->counts->measure_from) / c->counts->batches;
    bool full = c->counts->batches + GROWS_BY > FC_FLIT_MOST_BATCHES;
    for (int t = 0; t < c->n_counts; t++) {
        struct fc_flit_counts *w = &c->counts[t];
        if (full) {
            fc_flit_join_batches(w);
            w->batches /= 2;
        }
        w->batches += GROWS_BY;
        w->measure_to += (full ? 2 : 1) * GROWS_BY * length;
    }
    if (!full) return;
    c->n_passed /= 2;
    for (uint32_t i = 0; i < c->n_passed; i++) c->passed[i] = c->passed[2 * i + 1];
}

/* Of the first n batches of c->total. */
static struct fc_flit_mean latency_mean(const struct fc_flit_control *c, int n)
{
    const struct fc_flit_counts *t = c->total;
    double ticks[FC_FLIT_MOST_BATCHES], packets[FC_FLIT_MOST_BATCHES];
    for (int i = 0; i < n; i++) {
        ticks[i] = (double)t->batch_ticks[i];
        packets[i] = (double)t->batch_packets[i];
    }
    double expected = packets_per_tick(c) * (double)(t->measure_to - t->measure_from) / t->batches;
    return fc_flit_controlled_mean(&(struct fc_flit_series){ticks, packets, packets, n, expected}, LEAST_BATCHES);
}

/* Flits a batch, in a stable network as if births were as expected. */
static struct fc_flit_mean accepted_mean(const struct fc_flit_control *c, int n)
{
    const struct fc_flit_counts *t = c->total;
    double flits[FC_FLIT_MOST_BATCHES], packets[FC_FLIT_MOST_BATCHES], one[FC_FLIT_MOST_BATCHES];
    if (n > (int)c->n_passed) n = (int)c->n_passed;
    for (int i = 0; i < n; i++) {
        flits[i] = (double)(c->passed[i] - (i ? c->passed[i - 1] : 0));
        one[i] = 1;
        packets[i] = c->result->stable ? (double)t->batch_packets[i] : 1; /* overload: not all arrive */
    }
    double expected = packets_per_tick(c) * (double)(t->measure_to - t->measure_from) / t->batches;
    if (!c->result->stable) expected = 1;
    return fc_flit_controlled_mean(&(struct fc_flit_series){flits, one, packets, n, expected}, ACCEPTED_BATCHES);
}

static bool reaches(const struct fc_flit_mean *m, double precision)
{
    return m->half_width <= precision * m->mean; /* false for NaN */
}

/* ---- overload -------------------------------------------------------------------------------------------- */

/* The packets of others, too. */
static double all_packets_per_tick(const struct fc_flit_control *c)
{
    const struct fc_flit_traffic *others = c->traffic->background;
    double rate = packets_per_tick(c);
    if (others) rate += others->offered * c->flit->n_nodes / others->mean_flits / c->flit->ticks_per_cycle;
    return rate;
}

/* Packets in the system now, those in source queues as expected. */
static void note(struct course *course, const struct fc_flit_control *c)
{
    double rate = all_packets_per_tick(c);
    if (course->n == MOST_CHECKPOINTS) course->n--; /* then the last is the latest */
    course->tick[course->n] = c->state.now;
    course->from[course->n] = 0;
    course->packets[course->n++] = rate * (double)c->state.now - (double)fc_flit_delivered_packets(c);
}

static double packets_at(const struct course *course, double tick)
{
    int i = 0;
    while (i < course->n - 1 && (double)course->tick[i] < tick) i++;
    double from = i ? (double)course->tick[i - 1] : 0, before = i ? course->packets[i - 1] : 0;
    return before + (course->packets[i] - before) * (tick - from) / ((double)course->tick[i] - from);
}

static bool overloaded(const struct fc_flit_control *c, const struct course *course)
{
    double now = (double)c->state.now, births = packets_per_tick(c) * now / 2, zero_load = (double)c->zero_load;
    if (now < 16 * zero_load) return false;
    double held = packets_at(course, now), half = packets_at(course, now / 2), quarter = packets_at(course, now / 4);
    double growth = held - half, rate = growth / births, before = (half - quarter) / (births / 2);
    if (before <= 0 || rate < 0.85 * before) return false;
    return rate > 0.25 || (growth > 8 * sqrt(births) && held > packets_per_tick(c) * 4 * zero_load);
}

/* How what is in the system has grown since half of the time. */
struct growth {
    bool none;   /* within the precision, of the births */
    bool chance; /* or what births vary by */
    bool slows;  /* more slowly than in the quarter before */
};
static struct growth grown(const struct fc_flit_control *c, const struct course *course)
{
    double now = (double)c->state.now, births = packets_per_tick(c) * now / 2, least = c->settings->precision * births;
    double half = packets_at(course, now / 2), since = packets_at(course, now) - half;
    return (struct growth){.none = since < least,
                           .chance = since < fmax(least, sqrt(births)),
                           .slows = since < SLOWS * (half - packets_at(course, now / 4))};
}

/* Measures what is accepted. A window that is not precise was the rest of the warm-up, but in a search, which only goes on with it. */
static enum fc_code overload(struct fc_flit_control *c, struct fc_status *st)
{
    uint64_t length = window_ticks(c, (double)c->state.now / 2, LEAST_ZERO_LOADS);
    bool again = !c->settings->only_accepted;
    uint64_t most = length * (again ? OVERLOAD_WINDOWS : OVERLOAD_PROBED);
    fc_flit_call_unstable(c, "packets in the network grow in proportion to time");
    open_window(c, length);
    for (;; again = false) {
        uint64_t to = c->counts->measure_to;
        if (run_batches(c, to - c->zero_load, st)) return st->code;
        fc_flit_add_up(c);
        struct fc_flit_mean accepted = accepted_mean(c, (int)c->n_passed);
        if (c->stopped || reaches(&accepted, c->settings->precision) || to > c->counts->measure_from + most) break;
        if (again)
            open_window(c, 2 * length);
        else
            lengthen(c);
    }
    return run_batches(c, c->counts->measure_to, st);
}

/* ---- measurement ----------------------------------------------------------------------------------------- */

/* What the latest packets say of a pair among few: that it is in time, late, but by chance or a queue that no longer grows, or ever later. */
enum lateness { IN_TIME, LATE, EVER_LATER };

/* What the batches that have arrived say. */
struct verdict {
    bool rising, precise, short_of; /* short_of: accepts less than is offered, by more than the precision */
    bool behind;                    /* a source; of the accepted load alone */
    bool outlasted;                 /* packets take longer than half of the window */
    enum lateness lateness;
};

/* Whether a source falls behind what it offers: further than the longest of as many like queues by chance, or while what is in the
 * system grows. */
static bool behind(const struct fc_flit_control *c, const struct course *course)
{
    double share = fmax(BEHIND, c->settings->precision), now = (double)c->state.now,
           wait = (double)c->state.longest_wait;
    double rate = packets_per_tick(c), nodes = c->flit->n_nodes, zero_load = (double)c->zero_load;
    double moving = all_packets_per_tick(c) * zero_load; /* the others queue as well, which is not told apart */
    double queued = fmax(0, course->packets[course->n - 1] - moving) / nodes; /* packets of a source, mean */
    if (wait <= share * now || wait <= BEHIND_ZERO_LOADS * zero_load) return false;
    return wait * rate / nodes > (4 + log(nodes)) * queued || !grown(c, course).none;
}

/* How much longer than Z the latest packets take, where one of few pairs may be late; else 0. */
static double late_ticks(const struct fc_flit_control *c)
{
    if (!c->traffic->few_pairs) return 0;
    return fc_flit_percentile(c->total, 1 - 1 / (4.0 * c->flit->n_nodes)) - (double)c->zero_load;
}

/* By how much a tick the latest packets of the window have become later since half of its length; infinite where no checkpoint was
 * that early. */
static double late_rate(const struct course *course)
{
    int now = course->n - 1, i = now - 1;
    uint64_t from = course->from[now], half = from + (course->tick[now] - from) / 2;
    while (i >= 0 && course->from[i] == from && course->tick[i] > half) i--;
    if (i < 0 || course->from[i] != from) return INFINITY;
    return (course->late[now] - course->late[i]) / (double)(course->tick[now] - course->tick[i]);
}

static double slowest_packet_ticks(const struct fc_flit_control *c)
{
    uint64_t flit_ticks, packet_ticks, wire_ticks;
    fc_flit_slowest_ticks(c->flit, &flit_ticks, &packet_ticks, &wire_ticks);
    return (double)packet_ticks;
}

/* Beyond the greatest length, until each source has offered enough to know. */
static bool may_lengthen(const struct fc_flit_control *c)
{
    return !c->settings->most_cycles && (c->settings->lengthen || !c->settings->most_packets);
}

static enum lateness lateness(const struct fc_flit_control *c, const struct course *course)
{
    double late = course->late[course->n - 1];
    if (late <= BEHIND * (double)c->state.now) return IN_TIME;
    if (late <= LATE_PACKETS * slowest_packet_ticks(c)) return LATE;
    return may_lengthen(c) && late_rate(course) <= BEHIND / 4 ? LATE : EVER_LATER; /* a short run's rate is chance */
}

static struct verdict judge(struct fc_flit_control *c, struct course *course)
{
    int arrived = fc_flit_arrived_batches(c);
    const struct fc_flit_counts *t = c->total;
    bool source_behind = c->settings->only_accepted && behind(c, course);
    course->late[course->n - 1] = late_ticks(c);
    course->from[course->n - 1] = t->measure_from;
    enum lateness late = lateness(c, course);
    if (arrived < (int)t->batches / 2)
        return (struct verdict){.rising = true, .short_of = true, .behind = source_behind, .outlasted = true};
    double target = STOPS_AT * c->settings->precision;
    double offered =
        packets_per_tick(c) * c->traffic->mean_flits * (double)(t->measure_to - t->measure_from) / t->batches;
    struct fc_flit_trend trend = fc_flit_latency_trend(t, arrived);
    struct fc_flit_mean latency = latency_mean(c, arrived), accepted = accepted_mean(c, arrived);
    bool known = c->settings->only_accepted ? trend.growth + 2 * trend.error <= FLAT && !source_behind
                                            : latency.batches >= LEAST_BATCHES && reaches(&latency, target);
    struct verdict v = {.behind = source_behind,
                        .lateness = late,
                        .rising = trend.growth > 0.1 && trend.t > 4,
                        .short_of = accepted.mean < (1 - c->settings->precision) * offered};
    v.precise = known && late == IN_TIME && !v.rising && !v.short_of && reaches(&accepted, target);
    return v;
}

/* Too short a window to call the load unstable for what the verdict says: queues at the sources that are still filling look so. */
static bool too_short(const struct fc_flit_control *c, const struct verdict *v, double ticks)
{
    double most = 0.8 * (double)c->most, packets = packets_per_tick(c) * ticks / c->flit->n_nodes;
    if (!c->settings->only_accepted || !(v->short_of || v->rising || v->behind)) return false;
    if (c->settings->most_cycles && (double)c->counts->measure_from + 2 * ticks > most) return false;
    return packets < A_SOURCE / c->settings->precision;
}

static enum fc_code measure(struct fc_flit_control *c, struct course *course, struct fc_status *st)
{
    double most = most_window_ticks(c);
    double known_ticks = c->flit->n_nodes / packets_per_tick(c) / (BEHIND * BEHIND); /* 1 / BEHIND^2 packets a node */
    bool before = c->settings->only_accepted; /* precise at the checkpoint before */
    while (!c->stopped) {
        uint64_t to = c->counts->measure_to, length = to - c->counts->measure_from, batch = length / c->counts->batches;
        if (run_batches(c, to - (batch > c->zero_load ? batch : c->zero_load), st)) return st->code;
        if (c->stopped) break;
        note(course, c);
        if (overloaded(c, course)) return overload(c, st);
        struct verdict v = judge(c, course);
        if (v.precise && before) break;
        before = v.precise || c->settings->only_accepted;
        bool end = (double)length * (v.rising ? 2 : 1.25) > most;
        bool may_last = v.lateness == EVER_LATER || v.outlasted;
        if (end && may_lengthen(c) && may_last && (double)length < known_ticks) {
            most = fmin(2 * most, 1.25 * known_ticks);
            end = false;
        }
        if (end && !too_short(c, &v, (double)length)) {
            struct growth growth = grown(c, course);
            c->fills = c->settings->only_accepted && (growth.chance || growth.slows);
            if (v.lateness == EVER_LATER) fc_flit_call_unstable(c, "packets of some nodes arrive ever later");
            if (v.short_of && !c->fills) fc_flit_call_unstable(c, "it accepts less than is offered");
            if (c->settings->only_accepted) {
                if (v.rising && !c->fills) fc_flit_call_unstable(c, "the latency grows without end");
                if (v.behind) fc_flit_call_unstable(c, "a source falls behind");
            }
            break;
        }
        if (v.rising)
            open_window(c, 2 * window_ticks(c, (double)length, 0));
        else
            lengthen(c);
    }
    return run_batches(c, c->counts->measure_to, st);
}

/* ---- warm-up --------------------------------------------------------------------------------------------- */

static bool settled(struct fc_flit_control *c)
{
    double mean[FC_FLIT_MOST_BATCHES];
    int n = fc_flit_arrived_batches(c), all = (int)c->total->batches;
    for (int i = 0; i < n; i++) {
        if (c->total->batch_packets[i] == 0) return i > all / 2; /* so few that no trend can show */
        mean[i] = (double)c->total->batch_ticks[i] / (double)c->total->batch_packets[i];
    }
    return 4 * n >= 3 * all - 4 && 2 * fc_flit_mser5_cut(mean, n) <= n;
}

static enum fc_code warm_up(struct fc_flit_control *c, struct course *course, struct fc_status *st)
{
    double few = FIRST_PACKETS / packets_per_tick(c), first = few * pow(0.01 / c->settings->precision, 2);
    uint64_t length = window_ticks(c, fmin(first, most_window_ticks(c)), LEAST_ZERO_LOADS);
    if (c->settings->warmup_cycles) {
        uint64_t from = fc_flit_cycles_to_ticks(c->flit, (double)c->settings->warmup_cycles);
        fc_flit_set_window(c, from, from + length);
        return fc_flit_run_until(c, from, 0, 0.3, "warm-up", st);
    }
    uint64_t pilot = window_ticks(c, fmin(few, PILOT_ZERO_LOADS * (double)c->zero_load), LEAST_ZERO_LOADS);
    fc_flit_set_window(c, 0, pilot);
    for (int i = 0;; i++, pilot *= 2) {
        for (int part = i ? 3 : 1; part <= 4; part++) { /* in quarters */
            if (fc_flit_run_until(c, pilot / 4 * (uint64_t)part, 0, 0.3, "warm-up", st)) return st->code;
            note(course, c);
        }
        if (c->stopped) return FC_OK;
        if (overloaded(c, course)) return overload(c, st);
        if (settled(c) || i == MOST_PILOT_DOUBLINGS || (double)pilot > most_window_ticks(c) / 4) break;
        for (int t = 0; t < c->n_counts; t++) fc_flit_double_window(&c->counts[t]);
    }
    open_window(c, length);
    return FC_OK;
}

enum fc_code fc_flit_run_precise(struct fc_flit_control *c, struct fc_status *st)
{
    struct course course = {.n = 0};
    if (warm_up(c, &course, st) || !c->result->stable) return st->code;
    if (measure(c, &course, st)) return st->code;
    return c->result->stable && !c->stopped ? fc_flit_drain(c, st) : FC_OK;
}

void fc_flit_fill_precision(struct fc_flit_control *c)
{
    struct fc_flit_result *r = c->result;
    if (c->stopped || c->n_passed < c->total->batches) return;
    double cycles = 1 / c->flit->ticks_per_cycle, raw = r->latency_mean_cycles;
    double batch_cycles = r->measure_cycles / c->total->batches;
    struct fc_flit_mean accepted = accepted_mean(c, (int)c->total->batches);
    r->accepted_flits_per_node_cycle = accepted.mean / c->flit->n_nodes / batch_cycles;
    r->accepted_half_width_flits = accepted.half_width / c->flit->n_nodes / batch_cycles;
    r->precision_reached = reaches(&accepted, r->precision);
    if (!r->stable) return;
    struct fc_flit_mean latency = latency_mean(c, (int)c->total->batches);
    r->latency_mean_cycles = latency.mean * cycles;
    r->latency_half_width_cycles = latency.half_width * cycles;
    r->network_latency_mean_cycles *= r->latency_mean_cycles / raw; /* at the load asked for, too */
    r->precision_reached = r->precision_reached && latency.batches >= LEAST_BATCHES && reaches(&latency, r->precision);
}
