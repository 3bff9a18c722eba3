/* sensitivity.h - what a predicted time depends on (sensitivity.c). */
#pragma once

#include "models/machine.h"
#include "models/network.h"
#include "solvers/adjoint/adjoint.h"

/* What is multiplied by what, for one more prediction of the same job in the same place. 1: as it is. */
struct fc_scales {
    double send, recv, gap, per_byte, eager; /* software.send, ... */
    double latency;                          /* of every router and every wire; with --loggops L */
    double compute;                          /* computation of every rank */
    double imbalance; /* every rank's computation c > 0 becomes mean + imbalance (c - mean), at least 0 */
    double bandwidth[FC_MAX_CLASSES]; /* of the links of each class; with --loggops [0] is that of G */
    uint32_t link;                    /* FC_NONE: none; the bandwidth of this one is multiplied by */
    double link_bandwidth;
    double gap_more_s; /* added to the gap, which may be 0 */
    bool ideal;        /* the network is ideal; traces only */
};
extern const struct fc_scales fc_scales_of_1;

/* A parameter of a prediction. NaN where there is no such figure. Percents are of the time as predicted. */
struct fc_sensitivity_row {
    const char *parameter; /* send, recv, latency, gap, per_byte, eager, link:CLASS, link:NAME, compute, imbalance */
    const char *unit;      /* of value: "s", "B/s", "B", "s/B", "1" */
    double value;
    double derivative;         /* seconds per unit; NaN: unknown, or there is none */
    const char *derivative_by; /* "path", "kept", "difference" (sensitivity.c); NULL: no derivative */
    double if_doubled_percent, if_halved_percent;
    /* By how many percent of itself the value may get worse (bandwidths fall, everything else grow) until the time has
     * risen by 1, 5, 10 %. NaN: it never does (FC_SENSITIVITY_MOST times were tried), or not looked for. */
    double tolerance_percent[3];
};
enum { FC_SENSITIVITY_MOST = 128 };
extern const double fc_sensitivity_rises[3]; /* 1, 5, 10 */
struct fc_sensitivity {
    struct fc_sensitivity_row *rows; /* [n] */
    size_t n;
    double time_s;     /* as predicted */
    double balanced_s; /* every rank that computes does so as long as the mean; NaN: no trace */
    double ideal_s;    /* messages do not meet; NaN: no trace */
    uint64_t n_times;  /* predictions that it took, without the one that the path is of */
    bool by_path;      /* the path's derivatives are of use as they are */
    bool cut;          /* the work allowed was not enough for everything */
};

/* What is asked of whoever predicts. */
struct fc_sensitivity_job {
    const struct fc_network *net;                 /* NULL: none (loggops) */
    const struct fc_machine *machine;             /* its software and links are the values of the rows */
    const struct fc_software *software;           /* that is predicted with */
    double loggops_latency_s, loggops_per_byte_s; /* without a network */
    const double *busy_s; /* [n_links] of the prediction: which links have rows of their own; NULL: none */
    const double *bytes;  /* [n_links] payload on them; classes that carry nothing have no row; NULL: all have */
    double time_s;        /* as predicted */
    double compute_s;     /* in a row: the value of `compute`; NaN: the scale of a trace */
    bool of_trace;
    const struct fc_gradient *path; /* [FC_GRADIENTS] of the replay; NULL: it has none */
    const double *rank_compute_s;   /* [n_ranks] with a path */
    uint32_t n_ranks;
    uint64_t most_times; /* predictions that may be made; UINT64_MAX: tolerances are looked for up to some_times */
    uint64_t some_times;
    enum fc_code (*time_under)(void *context, const struct fc_scales *scales, double *time_s, struct fc_status *st);
    void *context;
};
/* The links that are busy longest, of equals the first; returns how many. */
enum { FC_SENSITIVITY_LINKS = 5 };
int fc_sensitivity_links(const struct fc_network *net, const double *busy_s, uint32_t link[FC_SENSITIVITY_LINKS]);
/* Texts and rows in the arena. Costs up to 8 predictions to check the path, 64 where T jumps with any small change, 2 a
 * parameter, 2 more where the path has no derivative of it, and some 8 for each one's tolerances. */
enum fc_code fc_sensitivity_find(const struct fc_sensitivity_job *job, struct fc_arena *arena,
                                 struct fc_sensitivity *found, struct fc_status *st);
