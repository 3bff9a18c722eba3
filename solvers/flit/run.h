/* run.h - private to run control (run.c, run_statistics.c, curve.c) and its tests: one run with a given
 * engine. */
#pragma once

#include "solvers/flit/counts.h"
#include "solvers/flit/engine.h"
#include "solvers/flit/prepared.h"
#include "solvers/flit/source.h"

/* fc_flit_run on what is prepared already, with this engine. `result` is overwritten; freed by the caller
 * also when the run fails. */
enum fc_code fc_flit_run_engine(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic,
                                const struct fc_flit_engine_ops *ops, const struct fc_flit_settings *settings,
                                struct fc_flit_result *result, struct fc_status *st);

/* ---- phases (run_phases.c) ------------------------------------------------------------------------------- */

struct fc_flit_control {
    const struct fc_flit_net *flit;
    const struct fc_flit_traffic *traffic;
    const struct fc_flit_engine_ops *ops;
    const struct fc_flit_settings *settings;
    struct fc_flit_result *result;
    struct fc_arena arena;
    void *engine;
    int threads, n_counts;
    struct fc_flit_counts *counts; /* [n_counts] of the threads; over ranks behind them what all others have counted */
    struct fc_flit_counts *total;
    uint64_t *link_flits, *link_packets;     /* [n_links] */
    uint32_t *injected;                      /* [n_nodes] */
    uint64_t *flits_before, *packets_before; /* the three when the window was opened: engines only ever add */
    uint32_t *injected_before;
    struct fc_flit_state state;
    uint64_t zero_load, chunk, most, still; /* ticks; still: no movement for longer is a deadlock */
    bool stopped;                           /* deadlock or `most`: nothing more is run */
    bool fills; /* queues that still fill account for a latency that grows (run_precision.c) */
    const char *phase;
    uint64_t
        passed[FC_FLIT_MOST_BATCHES]; /* with a precision: flits delivered since the window's start until the end of
                                              each of its first n_passed batches, none of a background */
    uint32_t n_passed;
};
/* Open loop: warm-up, measurement, drain. Closed loop: everything. The engine is open; windows are set in
 * here. */
enum fc_code fc_flit_run_open(struct fc_flit_control *control, struct fc_status *st);
enum fc_code fc_flit_run_closed(struct fc_flit_control *control, struct fc_status *st);
/* The same as run_open with settings->precision (run_precision.c); and what it knows of its means, into a result that
 * is filled otherwise. */
enum fc_code fc_flit_run_precise(struct fc_flit_control *control, struct fc_status *st);
void fc_flit_fill_precision(struct fc_flit_control *control);

/* Runs to tick `until`, progress from one share to the other; `what` is the phase. */
enum fc_code fc_flit_run_until(struct fc_flit_control *control, uint64_t until, double done_from, double done_to,
                               const char *what, struct fc_status *st);
/* Opens a window of `length` ticks that begins one zero-load time later. */
void fc_flit_start_window(struct fc_flit_control *control, uint64_t length);
/* Sums the counts up; the first batches of which hardly a packet is missing. */
int fc_flit_arrived_batches(struct fc_flit_control *control);
/* Sources go on until the packets of the window have arrived, or it is clear that they do not. */
enum fc_code fc_flit_drain(struct fc_flit_control *control, struct fc_status *st);
uint64_t fc_flit_delivered_packets(const struct fc_flit_control *control);
/* Empties the measurement; packets born in [from, to) ticks, which lie ahead, are measured from now on. */
void fc_flit_set_window(struct fc_flit_control *control, uint64_t from, uint64_t to);
/* The sum over all threads and ranks into total; interval counts, of this rank, only into arrays that it has. */
void fc_flit_add_up(struct fc_flit_control *control);
/* The first reason stays. */
void fc_flit_call_unstable(struct fc_flit_control *control, const char *because);
uint64_t fc_flit_cycles_to_ticks(const struct fc_flit_net *flit, double cycles); /* rounded up, at least 1 */
double fc_flit_to_cycles(const struct fc_flit_net *flit, uint64_t ticks);
/* The greatest of any link class: a flit, a longest packet, a wire. */
void fc_flit_slowest_ticks(const struct fc_flit_net *flit, uint64_t *flit_ticks, uint64_t *packet_ticks,
                           uint64_t *wire_ticks);

/* ---- ranks (run_ranks.c): with one process they do nothing ------------------------------------------------ */

/* Refuses ranks that were not asked the same, and tells each other of failures until here. */
enum fc_code fc_flit_ranks_alike(const struct fc_flit_net *flit, const struct fc_demand *demand, const uint32_t *node,
                                 const struct fc_flit_settings *settings, struct fc_status *st);
/* Brings the counts of the others up to date: all of them, or only what every step looks at. */
void fc_flit_share(struct fc_flit_control *control, bool all);
/* At the end: link_flits, link_packets, injected, and the intervals of total become those of all ranks. */
void fc_flit_share_arrays(struct fc_flit_control *control);
/* What ranks exchanged and computed, into the result. */
void fc_flit_share_costs(struct fc_flit_control *control, double cpu_s);

/* ---- statistics of counts (run_statistics.c) ------------------------------------------------------------- */

/* Batch means: ratio estimator over the first `n` batches; pairs of batches are joined while one is empty or
 * neighbours correlate. NaN half width: fewer than two batches, or none arrived. Ticks. */
struct fc_flit_mean {
    double mean, half_width;
    int batches; /* after joining */
};
struct fc_flit_mean fc_flit_batch_mean(const struct fc_flit_counts *counts, int n);
/* Straight line through the means of 8 groups of the first n batches (n >= 8): growth over the whole window
 * relative to the mean, its standard error, and its t value (6 degrees of freedom). */
struct fc_flit_trend {
    double growth, error, t;
};
struct fc_flit_trend fc_flit_latency_trend(const struct fc_flit_counts *counts, int n);
/* Least and greatest latency + 1 of a bucket, ticks. */
void fc_flit_bucket_range(uint32_t bucket, uint64_t *low, uint64_t *end);
/* The latency that a share `p` of the measured packets does not exceed, linear within a bucket; NaN: none.
 * Ticks. */
double fc_flit_percentile(const struct fc_flit_counts *counts, double p);
/* Joins batches in pairs; the window stays, the caller says how many batches it has now. */
void fc_flit_join_batches(struct fc_flit_counts *counts);
/* Doubles the window: batches are joined in pairs. The window must be a multiple of its batches in ticks. */
void fc_flit_double_window(struct fc_flit_counts *counts);
/* Forgets what was measured; the window becomes [from, to). */
void fc_flit_restart_window(struct fc_flit_counts *counts, uint64_t from, uint64_t to);

/* ---- precision (run_means.c) ----------------------------------------------------------------------------- */

/* MSER-5: how many of the n group means, in order of time, are to be cut; 0 for fewer than 2. */
int fc_flit_mser5_cut(const double *mean, int n);
/* Batches in order of time, at most FC_FLIT_MOST_BATCHES: the mean asked for is sum / weight; births correct it. */
struct fc_flit_series {
    const double *sum, *weight, *births; /* [n] */
    int n;
    double expected_births; /* of a batch */
};
/* The mean that the expected births would give, by at most 2 * most - 1 and at least 8 joined batches (fewer where there are
 * fewer). NaN half width: fewer than 4 batches. */
struct fc_flit_mean fc_flit_controlled_mean(const struct fc_flit_series *series, int most);

/* What a run has counted, for the result. */
struct fc_flit_measured {
    const struct fc_flit_counts *total;
    const uint64_t *link_flits, *link_packets; /* [n_links] */
    const uint32_t *injected;                  /* [n_nodes] */
    uint64_t window_ticks, run_ticks;
};
/* Fills everything of the result that follows from the counts. */
enum fc_code fc_flit_fill_result(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic,
                                 const struct fc_flit_measured *measured, struct fc_flit_result *result,
                                 struct fc_status *st);
