/* bluegene.h - the setups of Adiga et al., Blue Gene/L torus interconnection network, IBM J. Res. Dev.
 * 49(2/3), 2005, as runs of the kernel: the shipped bgl-512 with settings, patterns,
 * throughput over time, a scripted deadlock. Private to the room and its tests. */
#pragma once

#include "reproduce/figure.h"
#include "solvers/flit/flit.h"

#define FC_BGL_PAPER "Adiga et al., IBM J. Res. Dev. 49(2/3), 2005"
/* Bytes of a full packet's flits, and the time it keeps a link for: 256 + 4 trailer + 8 token + 2 gap. */
#define FC_BGL_PACKET 256.0
#define FC_BGL_PACKET_TIME 270.0
#define FC_BGL_CHUNK 32.0
#define FC_BGL_INTERVAL 10000 /* cycles: "as measured over 10K-cycle intervals" */

/* Injection FIFOs, as settings of the machine. Every figure but the broadcasts has the first: "the
 * injection FIFOs were of infinite size and packets were placed in these FIFOs as early as possible". 64 KiB
 * are 256 packets in each of the six; deeper ones: docs/notes/bluegene.md. */
#define FC_BGL_ENDLESS "; router.injection_fifos=6; router.injection=random; router.injection_buffer=64 KiB"
#define FC_BGL_DIRECTION "; router.injection_fifos=6; router.injection=direction"

/* A point that the kernel's runs predict. */
static inline struct fc_point_of fc_bgl_of(struct fc_reproduction *r, const char *unit)
{
    return fc_of(r, FC_POINT_FLIT, FC_POINT_PREDICTED, unit);
}

/* ---- runs ---- */

/* A pattern, run open or closed as it is; bound_s may be NULL for open loop. */
enum fc_code fc_bgl_run(const struct fc_bench *b, const char *pattern, const struct fc_flit_settings *settings,
                        struct fc_flit_result *r, double *bound_s, struct fc_status *st);
/* A run on bgl-512 with these edits, which the caller ends with fc_bgl_done. */
struct fc_bgl {
    struct fc_bench bench;
    struct fc_flit_result r;
    double bound_s;
};
enum fc_code fc_bgl_start(struct fc_bgl *run, const char *edits, const char *pattern,
                          const struct fc_flit_settings *settings, struct fc_status *st);
void fc_bgl_done(struct fc_bgl *run);
/* Settings of the kernel with the seed and progress of `how`. */
struct fc_flit_settings fc_bgl_settings(const struct fc_reproducing *how);
/* Percent of the links' bound that messages of the pattern reach; NaN after a failure. */
double fc_bgl_peak_of(const struct fc_reproducing *how, const char *edits, const char *pattern, double gap_cycles,
                      struct fc_status *st);

/* ---- what is read off a run ---- */

double fc_bgl_percent_of_peak(const struct fc_flit_result *r, double bound_s);
/* Busy share, percent, of the links from outside a box of `side` routers a dimension at the origin into it.
 */
double fc_bgl_links_into_region(const struct fc_bench *b, const struct fc_flit_result *r, uint32_t side);
/* Delivered bytes a node and cycle of interval i, the unit of the paper's throughput plots; mean over [from,
 * to). */
double fc_bgl_throughput(const struct fc_flit_result *r, uint32_t i);
double fc_bgl_mean_throughput(const struct fc_flit_result *r, uint32_t from, uint32_t to);
/* Busy share of the links between routers within intervals [from, to), percent, for full packets. */
double fc_bgl_busy(const struct fc_flit_result *r, uint32_t from, uint32_t to);
/* Offered load at which all six links are busy for this share: 8 flits of 270 byte times over 6 hops, 6
 * links. */
double fc_bgl_load(double busy);

/* The course of a throughput: rise, decline, plateau, waves. */
struct fc_bgl_shape {
    double start, peak, plateau; /* plateau: last third */
    double decline_cycles;       /* when it is half way from peak to plateau */
    double fall;                 /* greatest fall from a maximum behind the first trough, relative */
    double trough, rise, second; /* first minimum behind the peak; greatest value behind; least behind that */
};
struct fc_bgl_shape fc_bgl_shape_of(const struct fc_flit_result *r);
/* Its series in a plot over thousands of cycles. */
void fc_bgl_plot_over_time(struct fc_reproduction *f, int style, const char *label, const struct fc_flit_result *r);

/* 25 % of the packets to an eighth of the machine, sources always backlogged, `intervals` of 10,000 cycles;
 * link use is that of the last third. Quick runs have 12x12x12 instead of 16x16x16, region and all. */
enum fc_code fc_bgl_hot_region(struct fc_bgl *run, const struct fc_reproducing *how, const char *edits,
                               uint32_t intervals, struct fc_status *st);
uint32_t fc_bgl_hot_side(const struct fc_reproducing *how);
extern const char fc_bgl_quick_hot[]; /* the note of such a quick run */

/* ---- the deadlock of the bubble as first published ----
 *
 * A ring of ten routers, two full packets a buffer. A router of 600 cycles makes the script readable: heads
 * sit in the pipeline between two steps of 588 cycles (the gap between a node's packets). Every second buffer
 * ends with packets of 1, 1 and 8 flits, those between with one of 8; then the first 1 moves on:
 *
 *   even nodes  S (8 flits, 4 hops) at 0, Q (1 flit, 3 hops) at 2
 *   odd nodes   P (1 flit, 3 hops) at 1, R (8 flits, 2 hops) at 3; steps between: a flit the other way round
 *
 *   1  P enters the empty buffer behind S just before S is ready; S follows it
 *   2  Q enters the buffer that S left, P and S follow: 1 + 1 + 8
 *   3  R enters the buffer that P and S left: 8
 *   4  Q moves on into R's buffer: now every buffer holds 9 of 16 flits, its head wants to go on, and a full
 *      packet fits nowhere, though each entry had found room for two. */
#define FC_BGL_RING 10
#define FC_BGL_RING_GAP 588
extern const char fc_bgl_ring_edits[];
enum fc_code fc_bgl_ring_run(const struct fc_bench *b, bool as_published, int engine, uint64_t seed,
                             struct fc_flit_result *r, struct fc_status *st);
