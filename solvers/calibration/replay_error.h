/* replay_error.h - how far replays of traces are off: the same jobs replayed over a network model and through
 * the kernel, measured by calibrations (calibration_replays.c), and what that says of a replay
 * (replay_error.c). */
#pragma once

#include "solvers/solvers.h"

/* The network models that are compared with the kernel. */
enum { FC_MEASURED_CONTENTION, FC_MEASURED_QUEUEING, FC_MEASURED };

/* Where a replay lies among those that were run. */
enum { FC_REPLAY_FEATURES = 5 };
struct fc_replay_point {
    double share;   /* of the time: links and latency in the critical path, or the busiest link; 0 to 1 */
    double waiting; /* of the time, what messages take longer than alone: 0 to 1 */
    double packets; /* of a message between nodes, mean bytes over a packet's payload; at least 1 */
    double hops;    /* router-to-router links, mean over bytes */
    /* Of the time, transit in the critical path times the part of a link that messages between other nodes have (fc_arrival): 0
     * to 1; NaN: not known. */
    double interference;
};

/* A job that was replayed both ways, by the models with the mixing limit that the jobs of other networks give. */
struct fc_replay_case {
    const char *network, *job, *mapping; /* shape; "allreduce:bytes=64"; "order" or "random" */
    uint64_t nodes;
    double kernel_s; /* its time through the kernel */
    struct fc_replay_point at[FC_MEASURED];
    double ratio[FC_MEASURED]; /* kernel's time over the model's; NaN: the model could not */
};
struct fc_replays;
/* Jobs replayed on another machine of the family, and how unlike it is (family.h). */
struct fc_replays_relative {
    const struct fc_replays *replays;
    double distance;
    double weight; /* of each case; those of one kind of router count like one machine */
};
struct fc_replays {
    uint32_t n_cases; /* 0: nothing was run */
    struct fc_replay_case *cases;
    double hops_run; /* flit-hops by estimate */
    /* What links lose to flows that mix, at the most (transit_fair_mix.c): the part of their bandwidth that is left, and
     * its 95 % interval; 1: they lose nothing. 0 is taken as 1. */
    double mixing, mixing_low, mixing_high;
    double covered_percent[FC_MEASURED]; /* of the cases, each network (or with one network each case) left out */
    double unknown[FC_MEASURED];         /* errors on a network that was not run are so many times as large; NaN: one
                                          * network was run, which says nothing of others */
    uint32_t n_relatives;                /* above 0: no case of its own, or few; the relatives' count as well */
    const struct fc_replays_relative *relatives;
};

/* The point of a finished replay; `local` nothing between nodes: packets 1, hops 0. */
void fc_replay_locate(const struct fc_network *net, const struct fc_replay *replay, struct fc_replay_point *point);

struct fc_replay_answer {
    double error_percent; /* of the job's time; NaN: nothing measured */
    bool extrapolated;    /* outside of what was run: the error is wider */
    char why[160];        /* the reason for that, or for a NaN, in words; "" */
};
/* The error at a point under one of the models measured. `without`: a network whose own cases do not count, or NULL;
 * FC_NONE or the one own case that does not. O(cases log cases), at most FC_MOST_REPLAYS of each machine. */
enum { FC_MOST_REPLAYS = 128 };
/* A machine's own jobs, if so few, do not speak alone. */
enum { FC_ENOUGH_REPLAYS = 40 };
void fc_replay_error(const struct fc_replays *replays, int model, const struct fc_replay_point *point,
                     const char *without, uint32_t without_case, struct fc_replay_answer *answer);
/* Sets covered_percent and unknown. */
void fc_replays_cover(struct fc_replays *replays);
/* error_percent, extrapolated and why of a replay's prediction: by the calibration's replays (NULL: no
 * calibration). Only for contention and queueing without other traffic (`beside`: another job in the same replay);
 * ideal and flit keep their reason. */
void fc_replay_state_error(const struct fc_network *net, const struct fc_replays *replays,
                           const struct fc_replay_settings *settings, bool beside, struct fc_replay *replay);
