/* replay_period.c - an iterative program's time from some of its periods.
 *
 * A replay is a max-plus recursion over its events (replay_ranks.c). With the same computation in every
 * period it becomes periodic after a transient (Baccelli, Cohen, Olsder & Quadrat, Synchronization and
 * Linearity, 1992, chapter 3): every further period adds the same to the clock of each rank, and what
 * comes behind takes as long. So with T(m) the time of the trace with m of its n periods
 *
 *     T(n) = T(2m) + (n - 2m) (T(2m) - T(m)) / m,
 *
 * exactly once both are behind the transient, and likewise bytes, waits, busy times of links. Computation
 * that varies makes the increments vary about their mean; the periods are therefore taken evenly over the
 * trace, and the time is corrected by the mean rank's computation of all periods, which is known, less the
 * same extrapolation of that of the periods replayed. m doubles from 4 until T(n) moves by less than SETTLED,
 * and until it would not grow if there were no computation around the periods: a rank that is busy there can
 * hide how long the few periods replayed take.
 * Limits: SETTLED is no bound of the error (`predict --period check` measures it); sharing of links
 * (contention) makes no max-plus recursion, but settles as a rule too; the bound is extrapolated like the
 * time, so no longer proven. */
#include "solvers/replay/replay_period.h"
#include "solvers/replay/replay_job.h"

#include <inttypes.h>
#include <math.h>

enum { FIRST = 4, MOST_PERIODS = 256, MOST_CALLS = 1 << 21 };
static const double SETTLED = 0.005;

/* The trace with m periods, replayed. */
struct part {
    uint64_t m;
    struct fc_trace trace;
    struct fc_period period;
    struct fc_replay replay;
};
struct extrapolation {
    const struct fc_network *net;
    const struct fc_placement *placement;
    const struct fc_replay_settings *settings;
    const struct fc_period *period; /* of the whole trace */
    struct part most;               /* as many periods as may be needed, not replayed */
    struct part half, full;         /* m and 2m */
    struct fc_status *st;
};

static void free_part(struct part *p)
{
    fc_replay_free(&p->replay);
    fc_trace_free(&p->trace);
    fc_period_free(&p->period);
    *p = (struct part){0};
}

static enum fc_code replay_part(const struct extrapolation *x, uint64_t m, struct part *p, struct fc_status *st)
{
    struct fc_trace_source source;
    *p = (struct part){.m = m};
    if (fc_source_memory(&x->most.trace, &source, st)) return st->code;
    if (!fc_trace_shorten(&source, &x->most.period, m, UINT64_MAX, &p->trace, &p->period, st))
        fc_replay_run(x->net, &p->trace, x->placement, x->settings, &p->replay, st);
    fc_source_close(&source);
    return st->code;
}

/* ---- to all periods ---- */

/* half + (full - half) (n - m) / m: what the line through both is at n. */
static double line(const struct extrapolation *x, double half, double full)
{
    double steps = (double)(x->period->repeats - x->full.m) / (double)x->half.m;
    return full + steps * (full - half);
}
static uint64_t line_count(const struct extrapolation *x, uint64_t half, uint64_t full)
{
    double value = line(x, (double)half, (double)full);
    return value > 0 ? (uint64_t)floor(value + 0.5) : 0;
}

/* A rank's computation by its node and its scale, as it is replayed. */
static double compute_s(const struct extrapolation *x, const struct fc_period *p, uint32_t rank)
{
    uint32_t node = 0;
    if (x->placement)
        node = x->placement->node[rank];
    else if (!x->settings->loggops)
        node = (uint32_t)(rank / (uint64_t)x->net->machine->cores_per_node);
    return fc_compute_scale_on(x->settings, x->net, rank, node) * p->rank[rank].compute_s;
}

static double mean_compute_s(const struct extrapolation *x, const struct fc_period *p)
{
    double sum = 0;
    for (uint32_t r = 0; r < p->n_ranks; r++) sum += compute_s(x, p, r);
    return sum / p->n_ranks;
}

/* T(n) by the two parts, corrected by the computation. */
static double whole_time_s(const struct extrapolation *x)
{
    double replayed_s = line(x, mean_compute_s(x, &x->half.period), mean_compute_s(x, &x->full.period));
    double time_s = line(x, x->half.replay.prediction.time_s, x->full.replay.prediction.time_s);
    return fmax(time_s + mean_compute_s(x, x->period) - replayed_s, 0);
}

static void extend_ranks(const struct extrapolation *x, double correction_s, struct fc_replay *out)
{
    const struct fc_replay *half = &x->half.replay, *full = &x->full.replay;
    for (uint32_t r = 0; r < x->period->n_ranks; r++) {
        out->rank_finish_s[r] = line(x, half->rank_finish_s[r], full->rank_finish_s[r]) + correction_s;
        out->rank_path_compute_s[r] = line(x, half->rank_path_compute_s[r], full->rank_path_compute_s[r]);
        if (out->rank_waiting_s)
            out->rank_waiting_s[r] = fmax(0, line(x, half->rank_waiting_s[r], full->rank_waiting_s[r]));
        out->rank_compute_s[r] = compute_s(x, x->period, r);
    }
}

static void extend_links(const struct extrapolation *x, struct fc_replay *out)
{
    const struct fc_replay *half = &x->half.replay, *full = &x->full.replay;
    uint32_t n = x->settings->loggops ? 0 : x->net->n_links;
    double most_s = 0;
    out->prediction.bottleneck = FC_NONE;
    for (uint32_t l = 0; l < n; l++) {
        out->link_bytes[l] = line(x, half->link_bytes[l], full->link_bytes[l]);
        out->link_busy_s[l] = line(x, half->link_busy_s[l], full->link_busy_s[l]);
        if (out->link_busy_s[l] <= most_s * (1 + 1e-9)) continue; /* equal but for rounding: the first */
        most_s = out->link_busy_s[l];
        out->prediction.bottleneck = l;
    }
    out->prediction.bottleneck_bytes =
        out->prediction.bottleneck == FC_NONE ? 0 : out->link_bytes[out->prediction.bottleneck];
}

/* The longer part's replay becomes that of the whole trace. */
static void extend(struct extrapolation *x, struct fc_replay *out)
{
    const struct fc_replay *half = &x->half.replay, *full = &x->full.replay;
    const struct fc_prediction *a = &half->prediction, *b = &full->prediction;
    double time_s = whole_time_s(x);
    *out = *full;
    struct fc_prediction *p = &out->prediction;
    p->time_s = time_s;
    extend_ranks(x, time_s - line(x, a->time_s, b->time_s), out);
    extend_links(x, out);
    p->computation_s = mean_compute_s(x, x->period);
    fc_replay_split(out, x->period->n_ranks);
    bool bound_is_time = b->bound_s == b->time_s && a->bound_s == a->time_s;
    p->bound_s = bound_is_time ? time_s : fmin(line(x, a->bound_s, b->bound_s), time_s);
    p->percent_of_peak = time_s > 0 ? 100 * p->bound_s / time_s : 100;
    p->local_bytes = line(x, a->local_bytes, b->local_bytes);
    p->network_bytes = line(x, a->network_bytes, b->network_bytes);
    out->p2p_wait_s = line(x, half->p2p_wait_s, full->p2p_wait_s);
    out->collective_s = line(x, half->collective_s, full->collective_s);
    out->link_wait_s = line(x, half->link_wait_s, full->link_wait_s);
    out->alone_s = fmin(line(x, half->alone_s, full->alone_s), time_s);
    out->path_link_s = fmax(0, line(x, half->path_link_s, full->path_link_s));
    out->path_latency_s = fmax(0, line(x, half->path_latency_s, full->path_latency_s));
    out->path_interference_s = fmax(0, line(x, half->path_interference_s, full->path_interference_s));
    out->n_messages = line_count(x, half->n_messages, full->n_messages);
    out->n_network_messages = line_count(x, half->n_network_messages, full->n_network_messages);
    out->n_events = line_count(x, half->n_events, full->n_events);
    out->n_unmatched_sends = line_count(x, half->n_unmatched_sends, full->n_unmatched_sends);
    out->n_unmatched_receives = line_count(x, half->n_unmatched_receives, full->n_unmatched_receives);
    out->n_uneven_calls = line_count(x, half->n_uneven_calls, full->n_uneven_calls);
    x->full.replay = (struct fc_replay){0}; /* its arrays are the answer's now */
}

/* ---- does the rest hide the periods? ---- */

/* No computation outside of the periods. */
static void silence(struct part *p)
{
    for (uint32_t r = 0; r < p->trace.n_ranks; r++) {
        const struct fc_period_rank *rank = &p->period.rank[r];
        struct fc_event *e = p->trace.events + p->trace.first_event[r];
        uint64_t n = p->trace.first_event[r + 1] - p->trace.first_event[r];
        uint64_t end = rank->start + p->period.repeats * rank->length;
        for (uint64_t i = 0; rank->length && i < n; i++)
            if (i < rank->start || i >= end) e[i].compute_s = 0;
    }
}

/* A rank that is busy before (or after) its periods for longer than the few replayed last lets them cost
 * nothing, though all of them would not fit in: then they take longer when it is idle there. Both parts are
 * replayed so. */
static bool hides(struct extrapolation *x, struct fc_status *why)
{
    struct part *part[2] = {&x->half, &x->full};
    double time_s[2] = {0};
    struct fc_replay_settings settings = *x->settings;
    settings.timeline = NULL; /* that of the periods stays */
    for (int i = 0; i < 2; i++) {
        struct fc_replay replay;
        silence(part[i]);
        if (fc_replay_run(x->net, &part[i]->trace, x->placement, &settings, &replay, why)) return false;
        time_s[i] = replay.prediction.time_s;
        fc_replay_free(&replay);
    }
    double whole_s = line(x, x->half.replay.prediction.time_s, x->full.replay.prediction.time_s);
    double more_s = line(x, time_s[0], time_s[1]) - time_s[1] - whole_s + x->full.replay.prediction.time_s;
    return more_s > SETTLED * whole_s;
}

/* ---- how many periods ---- */

/* The greatest power of two of periods that may be needed and fits; 0 with the reason. */
static uint64_t choose_most(const struct fc_period *p, struct fc_period_use *use)
{
    uint64_t most = FIRST;
    if (!p->repeats) {
        snprintf(use->why, sizeof use->why, "no period: %s", p->why);
        return 0;
    }
    if (p->repeats < FC_LEAST_USED) {
        snprintf(use->why, sizeof use->why, "the period repeats %" PRIu64 " times (expected at least %d)", p->repeats,
                 FC_LEAST_USED);
        return 0;
    }
    while (4 * most <= p->repeats && most < MOST_PERIODS && fc_period_calls(p, 2 * most) <= MOST_CALLS) most *= 2;
    if (most >= 4 * FIRST) return most;
    snprintf(use->why, sizeof use->why,
             "too long: %d periods and what is outside of them have %" PRIu64 " calls (at most %d)", 4 * FIRST,
             fc_period_calls(p, 4 * FIRST), MOST_CALLS);
    return 0;
}

/* A trace that does not replay when shortened may do so in full: that will tell. */
static enum fc_code not_used(struct extrapolation *x, const struct fc_status *why, struct fc_period_use *use)
{
    if (why->code != FC_INPUT) return fc_refuse(x->st, why->code, "%s", why->message);
    snprintf(use->why, sizeof use->why, "shortened it does not replay: %.250s", why->message);
    return FC_OK;
}

static enum fc_code settle(struct extrapolation *x, uint64_t most, struct fc_replay *replay, struct fc_period_use *use)
{
    struct fc_status why = {0};
    double before_s = NAN;
    bool hidden = false;
    if (replay_part(x, FIRST, &x->full, &why)) return not_used(x, &why, use);
    for (uint64_t m = 2 * FIRST; m <= most; m *= 2) {
        free_part(&x->half);
        x->half = x->full;
        if (replay_part(x, m, &x->full, &why)) return not_used(x, &why, use);
        double time_s = whole_time_s(x), change = time_s > 0 ? fabs(time_s - before_s) / time_s : 0;
        before_s = time_s;
        use->change_percent = 100 * change;
        hidden = false;
        if (!(change < SETTLED)) continue; /* not the first time: NaN */
        hidden = hides(x, &why);
        if (why.code) return not_used(x, &why, use);
        if (hidden) continue;
        extend(x, replay);
        use->replayed = m;
        return FC_OK;
    }
    if (hidden)
        snprintf(use->why, sizeof use->why,
                 "what comes before or behind the periods takes so long that %" PRIu64
                 " of them do not show how long they take",
                 most);
    if (hidden) return FC_OK;
    snprintf(use->why, sizeof use->why,
             "the time a period takes has not settled within %" PRIu64 " periods (moves by %.2g %%)", most,
             use->change_percent);
    return FC_OK;
}

enum fc_code fc_replay_periods(const struct fc_network *net, struct fc_trace_source *source,
                               const struct fc_period *period, const struct fc_placement *placement,
                               const struct fc_replay_settings *settings, struct fc_replay *replay,
                               struct fc_period_use *use, struct fc_status *st)
{
    struct extrapolation x = {.net = net, .placement = placement, .settings = settings, .period = period, .st = st};
    *replay = (struct fc_replay){0};
    *use = (struct fc_period_use){.repeats = period->repeats, .change_percent = NAN};
    uint64_t most = choose_most(period, use);
    if (!most) return FC_OK;
    if (!fc_trace_shorten(source, period, most, MOST_CALLS, &x.most.trace, &x.most.period, st))
        settle(&x, most, replay, use);
    free_part(&x.half);
    free_part(&x.full);
    free_part(&x.most);
    return st->code;
}
