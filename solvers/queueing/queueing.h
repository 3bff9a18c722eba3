/* queueing.h - latency and saturation of open-loop traffic in microseconds of computing: queues at the inputs
 * of routers, heads that contend for outputs, channels that fill up (queueing.c has the equations). */
#pragma once

#include "solvers/queueing/turns.h"

/* What the equations leave open about a kind of router; all have a value from theory (fc_queueing_defaults)
 * and one from calibration. */
enum fc_queueing_parameter {
    FC_Q_CONTENTION,   /* alpha: factor of a head's wait for its output */
    FC_Q_INPUT_QUEUE,  /* beta: factor of the wait behind others in a virtual channel */
    FC_Q_BACKPRESSURE, /* gamma: factor of the wait for room in the next channel */
    FC_Q_PORT,         /* epsilon: share of a head's wait in which its input port is lost for other channels */
    FC_Q_CHOICE,       /* delta: how much of what a choice of m outputs can save is saved, in the exponent */
    FC_Q_GAP,          /* chi: time lost between two packets of a busy link, as a share of a packet's time */
    FC_Q_PARAMETERS
};
extern const char *const fc_queueing_parameter_names[]; /* NULL-terminated */
struct fc_queueing_parameters {
    double value[FC_Q_PARAMETERS];
};
/* Theory: M/D/1 contention, first come first served; no gap, port and choice as measured nowhere. The second: of those turns'
 * routers, where theory also has the port (turns->one_bid). */
void fc_queueing_defaults(struct fc_queueing_parameters *parameters);
void fc_queueing_theory(const struct fc_turns *turns, struct fc_queueing_parameters *parameters);

struct fc_queueing_answer {
    bool stable; /* a steady state exists; else all that follows but load is NaN */
    double load_flits_per_cycle;
    double latency_mean_cycles; /* source queue included */
    double network_cycles;      /* from the first flit on the injection link */
    double source_cycles;       /* in the source queue */
    double latency_sd_cycles;   /* standard deviation: of zero-load latency over pairs and of waiting */
    double latency_p95_cycles, latency_p99_cycles; /* estimate: shifted gamma distribution with these moments */
    double contention_cycles, queue_cycles, backpressure_cycles; /* parts of the waiting in the network, a packet */
    double kept_off_cycles;      /* by which the mean may be off for queues that last under UGAL (turns_kept.c) */
    double greatest_utilization; /* of a virtual channel queue, a port or a link: 1 is saturation */
    int iterations;
};
struct fc_queueing; /* turns, and the arrays of the fixed point */
/* Prepares the model from turns, which must outlive it. The caller closes. FC_NO: out of memory. */
enum fc_code fc_queueing_open(const struct fc_turns *turns, struct fc_queueing **queueing, struct fc_status *st);
void fc_queueing_close(struct fc_queueing *queueing);
/* Solves at one load. An unstable load is an answer (stable false). FC_NO: the iteration does not converge.
 * FC_INPUT: load not positive. O(choices x iterations). */
enum fc_code fc_queueing_solve(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                               double load_flits_per_cycle, struct fc_queueing_answer *answer, struct fc_status *st);
/* The greatest load with a steady state, to 0.01 % of the load that fills the busiest link. Some eight
 * solves. */
enum fc_code fc_queueing_saturation(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                                    double *load_flits_per_cycle, struct fc_status *st);
/* For fits: the load at which the steady state ends, between loads seen stable and unstable that are at most
 * `accuracy` of the load that fills the busiest link apart, from a guess (0: none). Smooth in the parameters
 * where the utilisation is. */
enum fc_code fc_queueing_saturation_near(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                                         double guess, double accuracy, double *load_flits_per_cycle,
                                         struct fc_status *st);
/* For fits: waits exact to `accuracy` (else 1e-7) of the greatest; `warm`: a solve at a higher load with the
 * same parameters goes on from the solution before, so that answers depend on what was asked before, within
 * `accuracy`. */
void fc_queueing_tune(struct fc_queueing *queueing, double accuracy, bool warm);
/* Those it was opened with. */
const struct fc_turns *fc_queueing_turns(const struct fc_queueing *queueing);
/* Mean waiting at each link of the turns, cycles a packet (contention, queue and backpressure before it),
 * after a solve: [turns->n_links]. */
const double *fc_queueing_link_wait(const struct fc_queueing *queueing);

/* At the load solved last, for single packets (queueing_pair.h): the mean latency of all (NaN: no stable solve); mean
 * wait of a head that came by channel `in` (FC_NONE: at its source) and goes on by channel next[i] of n with
 * share[i]; mean wait of a packet behind others in a channel, or at a source for its injection link. */
double fc_queueing_solved_cycles(const struct fc_queueing *queueing);
double fc_queueing_head_wait(const struct fc_queueing *queueing, uint32_t in, uint32_t n, const uint32_t *next,
                             const double *share);
double fc_queueing_channel_wait(const struct fc_queueing *queueing, uint32_t channel);
/* Quantile p <= 0.99 of least + a gamma variable, with this mean and standard deviation in all. */
double fc_queueing_quantile(double p, double least, double mean, double sd);
