/* calibration_internal.h - private to calibration*.c and calibrated.c, and their tests. */
#pragma once

#include "solvers/calibration/calibration.h"

/* UGAL: every packet compares the queues of two ways, so that a core moves fewer packets a second over links of all kinds; and
 * where a network's channels do not fit the core's caches fewer still: 1.1 million / (1 + channels / 60,000)
 * (docs/notes/calibration.md). */
#define FC_CALIBRATION_UGAL_MOVES_PER_S 1.1e6
#define FC_CALIBRATION_CACHED_CHANNELS 6e4
static inline bool fc_compares_ways(const struct fc_machine *machine)
{
    return machine->routing->adaptive && machine->routing->detours;
}
/* The cycle engine: flits a second over links of all kinds. The event engine: half as fast where a head has so many links more than
 * one to go to, and looks at all. */
#define FC_CALIBRATION_CYCLE_MOVES_PER_S 7e6
#define FC_CALIBRATION_LINKS_LOOKED_AT 10.0
/* Where points are run, shares of saturation, and which of them the fit and the mean errors see. */
#define FC_CALIBRATION_FIT_TO 0.86
#define FC_CALIBRATION_JUDGE_TO 0.805

/* Greatest over mean utilisation of the router-to-router links that carry anything. */
double fc_turns_anisotropy(const struct fc_turns *turns);
/* calibration_correction.c. The pattern without what is size or number, in the arena; NULL: out of memory. */
const char *fc_calibration_pattern_kind(const char *pattern, struct fc_arena *arena, struct fc_status *st);
/* What else tells how far the model may be off: value[FC_CALIBRATION_FEATURES], above 0. */
enum fc_code fc_calibration_features(const struct fc_turns *turns, double *value, struct fc_status *st);

/* One case on its way: what is known of it, and its model. */
struct fc_calibration_job {
    const struct fc_network *net;
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_calibration_case *out; /* in the calibration */
    bool events;                     /* run by the event engine, which moves packets; else flits */
    bool wanted;                     /* the machine's own network and longest packets: may take more of the budget */
    bool hurried;                    /* windows that are as short as they may be, or packets compare ways */
    uint64_t window_cycles;          /* short windows; 0: runs choose their length */
    double moves_per_s;              /* of one core, nominal: packets or flits over links, those of nodes included */
    double more_links; /* of the event engine, known without UGAL: that a head has beside one, in the mean */
    double estimate_s; /* what running it takes, by the design */
    double most_s;     /* what it may take */
    double spent_s;    /* what it took, by its moves */
    double hops_run;   /* packet-hops or flit-hops between routers */
    double turns_hops; /* work for its turns */
    struct fc_turns turns;
    struct fc_queueing *queueing;
    double saturation; /* of the model, last found: the next search begins there; 0: none */
    bool ran;          /* else dropped: the kernel found no saturation */
    bool cut;          /* for want of budget: without its saturation, or with fewer points */
};
/* The networks and the cases, in the order in which they are to be run. */
struct fc_calibration_design {
    struct fc_arena arena;
    int n_networks;
    struct fc_machine *machines; /* [n_networks], the machine itself as a borrowed copy first if it is run */
    struct fc_network *networks; /* [n_networks] ascending number of nodes */
    bool *owned;                 /* [n_networks] the machine is to be freed */
    uint32_t n_jobs;
    struct fc_calibration_job *jobs;
};
/* calibration_design.c. The cases that the budget, seconds of one core, may reach; out in `arena`. `without`:
 * a network that is not to be run, NULL: none. */
enum fc_code fc_calibration_design_make(const struct fc_machine *machine, double budget_s, const char *without,
                                        uint64_t seed, struct fc_arena *arena, struct fc_calibration_design *design,
                                        struct fc_status *st);
/* The turns of a case that is to be run, with the detours of UGAL, which the design leaves out. */
enum fc_code fc_calibration_follow(struct fc_calibration_job *job, struct fc_status *st);
void fc_calibration_design_free(struct fc_calibration_design *design);
/* One case of the network's longest packets, that need not be of the design; out in `arena`. FC_INPUT: not a pattern of rates. */
enum fc_code fc_calibration_job_make(const struct fc_network *net, const char *pattern, uint64_t seed, double budget_s,
                                     struct fc_arena *arena, struct fc_calibration_job *job, struct fc_status *st);
void fc_calibration_job_free(struct fc_calibration_job *job);
/* What the design runs on a network beside uniform traffic. */
struct fc_calibration_patterns {
    int n;
    char text[4][96];
};
void fc_calibration_patterns(const struct fc_network *net, struct fc_calibration_patterns *patterns);
/* The stencil among them, in *patterns; NULL: none. */
const char *fc_calibration_stencil(const struct fc_calibration_patterns *patterns);
/* calibration_runs.c. Runs jobs in their order while the budget lasts; sets ran, points, saturation,
 * hops_run. */
enum fc_code fc_calibration_run(struct fc_calibration_design *design, double budget_s,
                                const struct fc_calibration_settings *settings, struct fc_arena *arena,
                                struct fc_status *st);
/* calibration_held.c. Fits the parameters to the jobs that ran, and measures what is left out;
 * calibration->cases are their `out`, in their order, but for the errors. Where the fit would take more than most_s,
 * parameters keep their values from theory. */
enum fc_code fc_calibration_fit(struct fc_calibration_job *const *jobs, uint32_t n_jobs, double most_s, int threads,
                                struct fc_progress *progress, struct fc_calibration *calibration, struct fc_status *st);
