/* counts.h - what the engines count: integers only, so that adding those of all threads in any order gives the same
 * (counts.c). */
#pragma once

#include "solvers/flit/flit.h"

/* Packets that arrived, for whoever sent them (source_outside.c), who keeps room for all of an advance. No call in it:
 * that would cost the loops that it is inlined into their registers. */
struct fc_flit_log {
    struct fc_flit_logged {
        uint64_t born, tick;
    } * packet;
    size_t n, capacity;
    bool full; /* some are lost */
};
static inline void fc_flit_log_arrival(struct fc_flit_log *log, uint64_t born, uint64_t tick)
{
    if (log->n == log->capacity)
        log->full = true;
    else
        log->packet[log->n++] = (struct fc_flit_logged){born, tick};
}

#define FC_FLIT_BATCHES 32      /* of a window */
#define FC_FLIT_MOST_BATCHES 64 /* of one that grows by and by */
#define FC_FLIT_BUCKETS 1536    /* log-linear: 32 a power of two, see fc_flit_bucket */
struct fc_flit_counts {
    /* Set by run.c and never changed by an engine. Between two calls of advance run.c may move a window that
     * lies ahead or is open to later ticks, clear what was measured, and replace the interval arrays by
     * longer ones: */
    uint64_t measure_from, measure_to; /* ticks: packets born in [from, to) are measured */
    uint32_t batches;                  /* that the window is divided into, at most FC_FLIT_MOST_BATCHES */
    uint64_t interval_ticks;           /* 0: no intervals */
    uint32_t n_intervals;
    struct fc_flit_log *log; /* gets the packets that are not born in the measurement; NULL: forgotten */
    /* Packets born in the measurement: */
    uint64_t measured_started; /* that left their source queue; neither these nor those below are of the background */
    uint64_t measured_delivered, latency_ticks, network_ticks, hops, latency_max_ticks;
    uint64_t batch_packets[FC_FLIT_MOST_BATCHES], batch_ticks[FC_FLIT_MOST_BATCHES]; /* by time of birth */
    uint64_t histogram[FC_FLIT_BUCKETS];
    struct fc_flit_apart_counts { /* those of high priority among them; or those of the background, not among them */
        uint64_t delivered, latency_ticks, network_ticks, latency_max_ticks;
        uint64_t histogram[FC_FLIT_BUCKETS];
    } apart;
    /* Whole run: */
    uint64_t packets_injected, packets_delivered, flits_injected, flits_delivered, flit_hops, escape_flit_hops;
    uint64_t packets_copied, flits_copied; /* by routers: injected + copied = delivered + in flight */
    uint64_t last_delivery;                /* tick of the latest delivery of a packet: greatest of all threads */
    /* Within [measure_from, measure_to): */
    uint64_t window_flits_delivered, window_background_flits; /* the latter of packets that arrived whole */
    uint64_t occupancy_flit_ticks[FC_FLIT_MOST_VCS];          /* sum over router-to-router channels of flits x ticks */
    /* Intervals, [n_intervals]: */
    uint64_t *interval_flits;                        /* delivered */
    uint64_t (*interval_vc_flits)[FC_FLIT_MOST_VCS]; /* sent on router-to-router links */
    uint64_t *interval_returns, *interval_unblocked; /* credit returns, those that let a blocked packet move */
};
/* Bucket of a latency: exact below 64 ticks, then 32 buckets a power of two (3 % wide). */
static inline uint32_t fc_flit_bucket(uint64_t ticks)
{
    if (ticks < 64) return (uint32_t)ticks;
    int top = 63 - __builtin_clzll(ticks);
    uint32_t b = (uint32_t)((top - 5) * 32 + (int)(ticks >> (top - 5)));
    return b < FC_FLIT_BUCKETS ? b : FC_FLIT_BUCKETS - 1;
}
/* A packet of `flits` arrived whole at its node at tick `now`. Inlined into the engines. */
static inline void fc_flit_count_delivery(struct fc_flit_counts *counts, uint64_t born, uint64_t entered, uint64_t now,
                                          uint32_t hops)
{
    counts->packets_delivered++;
    if (now > counts->last_delivery) counts->last_delivery = now;
    if (born < counts->measure_from || born >= counts->measure_to) {
        if (counts->log) fc_flit_log_arrival(counts->log, born, now);
        return;
    }
    uint64_t latency = now - born;
    counts->measured_delivered++;
    counts->latency_ticks += latency;
    counts->network_ticks += now - entered;
    counts->hops += hops;
    if (latency > counts->latency_max_ticks) counts->latency_max_ticks = latency;
    uint64_t batch = (born - counts->measure_from) * counts->batches / (counts->measure_to - counts->measure_from);
    counts->batch_packets[batch]++;
    counts->batch_ticks[batch] += latency;
    counts->histogram[fc_flit_bucket(latency)]++;
}
/* Beside fc_flit_count_delivery, for a packet of high priority. */
static inline void fc_flit_count_apart(struct fc_flit_counts *counts, uint64_t born, uint64_t entered, uint64_t now)
{
    struct fc_flit_apart_counts *apart = &counts->apart;
    if (born < counts->measure_from || born >= counts->measure_to) return;
    apart->delivered++;
    apart->latency_ticks += now - born;
    apart->network_ticks += now - entered;
    if (now - born > apart->latency_max_ticks) apart->latency_max_ticks = now - born;
    apart->histogram[fc_flit_bucket(now - born)]++;
}
/* Instead of fc_flit_count_delivery, for a packet of the background of `flits`. */
static inline void fc_flit_count_background(struct fc_flit_counts *counts, uint64_t born, uint64_t entered,
                                            uint64_t now, uint32_t flits)
{
    counts->packets_delivered++;
    if (now > counts->last_delivery) counts->last_delivery = now;
    if (now >= counts->measure_from && now < counts->measure_to) counts->window_background_flits += flits;
    fc_flit_count_apart(counts, born, entered, now);
}
/* `flits` flits arrived at a node at tick `now`. */
static inline void fc_flit_count_flits(struct fc_flit_counts *counts, uint64_t now, uint32_t flits)
{
    counts->flits_delivered += flits;
    if (now >= counts->measure_from && now < counts->measure_to) counts->window_flits_delivered += flits;
    if (counts->interval_ticks && now / counts->interval_ticks < counts->n_intervals)
        counts->interval_flits[now / counts->interval_ticks] += flits;
}
enum fc_code fc_flit_counts_make(struct fc_flit_counts *counts, struct fc_arena *arena, struct fc_status *st);
/* Adds `from` to `to` (same windows). */
void fc_flit_counts_add(struct fc_flit_counts *to, const struct fc_flit_counts *from);
