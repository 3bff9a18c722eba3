/* bulk.h - bulk phases: the kernel's time over the contention model's, measured on closed runs
 * (calibration_phases.c) and predicted for other networks, patterns and sizes (bulk.c). */
#pragma once

#include "solvers/calibration/kriging.h"
#include "solvers/solvers.h"

/* What a phase takes by the contention model (contention.c), before the routers' losses. */
struct fc_phase_parts {
    double links_s;      /* of the busiest link */
    double cpu_s;        /* of the busiest task */
    double fill_s;       /* head latency of the longest route; network only */
    double ends_s;       /* a send and a receive; 0 when there is no message */
    uint32_t bottleneck; /* link, or FC_NONE */
    double bottleneck_bytes;
};
/* FC_INPUT for open-loop traffic, FC_NO when a link that is needed has no bandwidth left. */
enum fc_code fc_phase_parts(const struct fc_network *net, const struct fc_demand *demand,
                            const struct fc_placement *placement, const struct fc_load *load,
                            const struct fc_load_settings *settings, struct fc_phase_parts *parts,
                            struct fc_status *st);

/* Where a phase lies among those that were run. */
struct fc_bulk_point {
    double packets;       /* from a task to another, mean */
    double hops;          /* router-to-router links, mean over bytes */
    double anisotropy;    /* greatest over mean time of the router-to-router links that are used */
    double split;         /* adaptive: busiest link of the even split over that of the solver's; else 1 */
    double latency_share; /* fill_s over reference_s */
    double spread;        /* 1 - 1 / destinations of a sending node (W^2 / sum w^2 of their bytes), mean over bytes */
    double fluid;         /* seconds of fc_bulk_fluid over reference_s; 0: not known */
    double reference_s;   /* links_s in whole flits + fill_s: what ratios are of */
};
#define FC_BULK_MARGIN 0.1     /* of features, beyond the cases */
enum { FC_BULK_FEATURES = 7 }; /* all but the reference */

/* A closed run of the kernel. */
struct fc_bulk_case {
    const char *network, *pattern; /* as in struct fc_calibration_case */
    const char *kind;              /* fc_bulk_kind */
    uint64_t nodes;
    struct fc_bulk_point at;
    double ratio; /* kernel's time over reference_s */
    /* Errors of the ratio predicted without this network, and without this kind of pattern, by the process that it is in. */
    double left_network_percent, left_kind_percent;
    double network_score, kind_score; /* the same in standard deviations of the process */
};
struct fc_bulk;
/* Closed runs of another machine of the family, and how unlike it is (family.h). */
struct fc_bulk_relative {
    const struct fc_bulk *bulk;
    double distance;
    double weight; /* all sum to 1 */
};
struct fc_bulk {
    uint32_t n_cases; /* 0: nothing was run */
    struct fc_bulk_case *cases;
    struct fc_kriging_shape shape; /* of the process of cases whose fluid is known, or of all where these are too few */
    struct fc_kriging_shape plain; /* of that of all cases, by which phases are answered whose fluid is not known */
    double mixing;                 /* limit that fluids were found with (struct fc_replays) */
    double trend[2];      /* of log ratio: log anisotropy x (trend[0] + trend[1] / hops); of one kind alone, else 0 */
    double hops_run;      /* as in struct fc_calibration */
    uint32_t n_relatives; /* above 0: no case of its own, what relatives say counts */
    const struct fc_bulk_relative *relatives;
    bool before_changes; /* the relative is the machine itself before keys were changed: all that it says counts */
};

/* The pattern's name where it is one that calibrations run ("stencil" for all of them) and every node has as
 * many tasks, in order; "alltoall" by what is sent; of all else FC_BULK_PERMUTATION where each node sends to one and receives from
 * one at most, FC_BULK_GRAPH where not. */
#define FC_BULK_GRAPH "graph"
#define FC_BULK_PERMUTATION "permutation"
#define FC_BULK_ALL_TO_ALL "alltoall"
const char *fc_bulk_kind(const struct fc_network *net, const struct fc_demand *demand,
                         const struct fc_placement *placement, const struct fc_load *load);
/* The busiest link's time by the even split over that of `load`; 1 but for adaptive routings and sparse
 * demands, for which this costs a load solution; 1 also where that would take seconds (entries times routers above
 * 2.5e8: networks larger than those that calibrations run). */
enum fc_code fc_bulk_split(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, const struct fc_load *load, double *gain,
                           struct fc_status *st);
/* The phase as one round of messages that share links fairly (bulk_fluid.c). */
struct fc_bulk_fluid {
    double seconds;      /* until the last message is there; 0: not looked at */
    double interference; /* b of bulk_fluid.c, 0 to 1 */
};
/* `mixing`: limit of struct fc_replays, 0 or 1: none. `background` as in struct fc_load_settings, or NULL. At most some 0.5 s, and 0.6 us for
 * each link of the network (Fugaku: a second). FC_NO: out of memory. */
enum fc_code fc_bulk_fluid(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, const double *background, double mixing,
                           struct fc_bulk_fluid *fluid, struct fc_status *st);
/* The least that nodes take to get their messages through their FIFOs (bulk_fifos.c); 0 where these hold nobody up, of dense parts, routes with
 * detours, and where it would take seconds. FC_NO: out of memory. */
enum fc_code fc_bulk_fifos(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, double *seconds, struct fc_status *st);
/* The point of a phase; `split` of fc_bulk_split, `fluid_s` seconds of fc_bulk_fluid. FC_NO: out of memory. */
enum fc_code fc_bulk_locate(const struct fc_network *net, const struct fc_demand *demand,
                            const struct fc_placement *placement, const struct fc_load *load,
                            const struct fc_phase_parts *parts, double split, double fluid_s,
                            struct fc_bulk_point *point, struct fc_status *st);
/* Features of the process. */
void fc_bulk_features(const struct fc_bulk_point *point, double x[FC_KRIGING_FEATURES]);
/* Of log ratio, at features x (bulk_open.c). O(n_cases). */
double fc_bulk_trend(const struct fc_bulk *bulk, const double x[FC_KRIGING_FEATURES]);
/* The process of all cases for their shape; *mean: of log ratio, which values are less. The caller closes. */
enum fc_code fc_bulk_open(const struct fc_bulk *bulk, struct fc_kriging **kriging, double *mean, struct fc_status *st);

/* The cases that one process is about, in the arena: those whose fluid is known (`fluid`), with their scores, or all of them as if none
 * were, with scores made anew by the shape. n_cases 0: too few. FC_NO: out of memory. */
enum fc_code fc_bulk_view(const struct fc_bulk *bulk, bool fluid, struct fc_arena *arena, struct fc_bulk *view,
                          struct fc_status *st);
/* Finds the shapes of both processes, and each case's errors and scores (bulk_fit.c). */
enum fc_code fc_bulk_fit(struct fc_bulk *bulk, struct fc_status *st);
/* How many standard deviations of the process cover nine of ten answers of a kind (bulk_error.c) ("": of one that was not run). NaN: no case. */
double fc_bulk_covers(const struct fc_bulk *bulk, const char *kind);
/* The same of score[n_cases] (NaN: none), for a kind. */
double fc_bulk_covers_scores(const struct fc_bulk *bulk, const double *score, const char *kind);
/* Of a pattern that was run on the network of `at` (bulk_near.c): false where it was not, and *value 0; *value: what the process that
 * fc_bulk_open made of these cases misses of it there. */
bool fc_bulk_missed(const struct fc_bulk *bulk, const struct fc_kriging *kriging, const struct fc_kriging_point *at,
                    double *value);
/* How many of its standard deviations cover nine of ten such answers; NaN: known of too few. O(n_cases^2). FC_NO: out of memory. */
enum fc_code fc_bulk_covers_near(const struct fc_bulk *bulk, const struct fc_kriging *kriging, const char *kind,
                                 double *covers, struct fc_status *st);
/* Root mean square of all cases' errors with each network left out, or (kinds) of the worse of that and with
 * each kind left out; NaN without cases. */
double fc_bulk_error_percent(const struct fc_bulk *bulk, bool kinds);

struct fc_bulk_answer {
    double ratio;         /* kernel's time over reference_s */
    double error_percent; /* of the time on the network */
    bool extrapolated;    /* outside of what was run: the error is doubled */
    char why[160];        /* the reason for that, in words; "" */
};
/* Whether it can say anything: cases, or relatives that have some. bulk may be NULL. */
bool fc_bulk_tells(const struct fc_bulk *bulk);
/* The ratio at a point. `kind` "": any pattern. Of relatives: their weighted mean, with an error that grows with their
 * distance. Cost: inversion of an n_cases x n_cases matrix for each. */
enum fc_code fc_bulk_ratio(const struct fc_bulk *bulk, const struct fc_network *net, const char *kind,
                           const struct fc_bulk_point *point, struct fc_bulk_answer *answer, struct fc_status *st);

/* The answer for a phase of no named kind (FC_BULK_GRAPH) where end points bind (bulk_ends.c): less of the ratio and of its error.
 * `background` as in struct fc_load_settings, or NULL. O(links). FC_NO: out of memory. */
enum fc_code fc_bulk_ends(const struct fc_network *net, const struct fc_load *load, const double *background,
                          const struct fc_phase_parts *parts, const struct fc_bulk_point *point,
                          struct fc_bulk_answer *answer, struct fc_status *st);
/* The answer for a phase whose messages hardly meet (bulk_apart.c): less of the ratio and of its error, and of what is `extrapolated`.
 * `unmixed`: its fluid without a limit of mixing, NULL: to be found.
 * At most 0.1 s, and 0.6 us for each link of the network (Fugaku: a second). FC_NO: out of memory. */
enum fc_code fc_bulk_apart(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, const struct fc_phase_parts *parts,
                           const struct fc_bulk_point *point, const struct fc_bulk_fluid *unmixed,
                           struct fc_bulk_answer *answer, struct fc_status *st);
