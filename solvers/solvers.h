/* solvers.h - HOW it is answered: loads on links, bounds, contention, job time. */
#pragma once

#include "core/core.h"
#include "models/models.h"
#include "traces/traces.h"

/* Where tasks sit: task t on core core[t]; core = node * cores_per_node + slot. A plain array is the mapping; NULL
 * means the default (task t on core t). */
struct fc_placement {
    uint32_t n_tasks;
    const uint32_t *node; /* [n_tasks] node of each task */
};

/* ---- channel load (load.c): gamma_c = sum over pairs of bytes * share of the route that uses c ------------------------ */

struct fc_load {
    struct fc_arena arena;
    double *bytes;              /* [n_links] payload bytes on each link */
    double wire_factor;         /* wire bytes / payload bytes of this demand (packet headers), mean over its bytes */
    double least_wire_factor;   /* of any of its messages: for bounds */
    double hop_bytes;           /* sum over router-to-router links of bytes: payload bytes x hops */
    double local_bytes;         /* bytes between tasks of one node: never on a link */
    double network_bytes;       /* bytes between different nodes */
    double cut_bound_s;         /* adaptive routing: proven lower bound of the payload time of any split; else NaN */
    const char *method;         /* "structural", "path walk", "adaptive split" */
    const char *bound_by;       /* what proves the bound: "routing" (the loads are fixed), "cuts", "linear program" */
    struct fc_flow_bound *flow; /* bound/bound.h: what the settings asked for; NULL: not asked, or too large */
};
enum fc_split { FC_SPLIT_SOLVER, FC_SPLIT_UNIFORM };
struct fc_bulk; /* bulk.h */
struct fc_flow_bound;
struct fc_flow_settings; /* bound/bound.h */
struct fc_load_settings {
    enum fc_split split; /* adaptive routing: the split the solver finds, or uniform over minimal paths */
    double split_share;  /* adaptive tori: so much of the full work goes into finding the split; 0: all of it */
    bool path_walk;      /* force the general path walk (the oracle) */
    int threads;         /* most threads allowed; loads are solved in one so far */
    uint64_t seed;
    const double *background_bytes_per_s; /* [n_links] or NULL: bandwidth already taken by others */
    const struct fc_flow_settings *flow;  /* also the flow program's bound, in cut_bound_s where it holds for the
                                          * routing and is better; NULL: no */
    const struct fc_bulk *bulk; /* phases only: calibrated by kernel runs (calibration.h); NULL: the bound itself */
};
/* Loads of `demand` placed by `placement` under the machine's routing. */
enum fc_code fc_load_solve(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, const struct fc_load_settings *settings,
                           struct fc_load *load, struct fc_status *st);
void fc_load_free(struct fc_load *load);
/* Whether the split of sparse traffic is found as minimal adaptive routing of a torus or mesh finds it
 * (adaptive_split.c), not as a mixture of the routing's components. */
bool fc_adaptive_torus_takes(const struct fc_network *net);

/* A class's loads, and the hottest link: greatest bytes / bandwidth. */
struct fc_load_class {
    uint64_t count, used;
    double min_bytes, mean_bytes, max_bytes; /* min and mean over used links; payload bytes */
};
struct fc_load_summary {
    struct fc_load_class classes[FC_MAX_CLASSES];
    uint32_t hottest;  /* link; FC_NONE when no link is used */
    double max_link_s; /* max over links of wire bytes / bandwidth, for the loads as they are */
    double bound_s;    /* proven lower bound: the same with the least wire factor where the routing fixes the loads;
                         * for adaptive routing, whose loads are one split of many, the best cut */
};
void fc_load_summarise(const struct fc_network *net, const struct fc_load *load,
                       const struct fc_load_settings *settings, struct fc_load_summary *summary);
/* The k hottest links by time, most first; k at most 64. Returns how many. */
int fc_load_hottest(const struct fc_network *net, const struct fc_load *load, int k, uint32_t *links);

/* ---- a bulk-synchronous phase (contention.c) --------------------------------------------------------------------------- */

/* What an error is the deviation from. */
enum fc_error_against {
    FC_AGAINST_NOTHING, /* the error is unknown */
    FC_AGAINST_KERNEL,  /* runs of the flit-level kernel for this kind of router: its calibration */
    FC_AGAINST_FAMILY,  /* the same of other machines of its family: family.h */
    FC_AGAINST_MEASURED /* runs on the machine itself */
};
/* "kernel", "family", "measured"; NULL: nothing. */
const char *fc_error_against_name(enum fc_error_against against);
/* For people, behind an error: "against the kernel"; "": nothing. */
const char *fc_error_against_words(enum fc_error_against against);
#define FC_MOST_ERROR_PERCENT 100.0 /* above, an error says nothing: it is unknown, "over 100 %" */

struct fc_prediction {
    double time_s, computation_s;
    double communication_s; /* messages: overheads of their ends, and time that they are under way; phases: all but
                             * computation */
    double
        waiting_s;  /* jobs: of the mean rank, doing nothing because others compute longer; NaN: not told apart, part of
                       * communication_s. The three sum up to time_s */
    double bound_s; /* proven lower bound of time_s on this machine, routing and mapping */
    double network_s;       /* phases: of the messages on the network alone, without software; else NaN */
    double anywhere_s;      /* the part of that bound that holds wherever tasks are placed: computation, software */
    double percent_of_peak; /* 100 * bound / time */
    double error_percent;   /* measured error of the model; NaN: unknown */
    enum fc_error_against error_against; /* what it was measured against; NOTHING where it is unknown */
    bool extrapolated;                   /* outside of what was measured: the error is doubled */
    char why[160];                       /* the reason for that, or for a NaN; "" */
    uint32_t bottleneck;                 /* link, or FC_NONE when software or latency binds */
    double bottleneck_bytes;
    const char *binds; /* "link", "software", "latency", "computation" */
    double local_bytes, network_bytes;
};
/* States the error, of what it was measured against; above FC_MOST_ERROR_PERCENT it is unknown, `why` says so before what it
 * said. Not for a NaN: why is kept. (prediction_error.c) */
void fc_prediction_error(struct fc_prediction *prediction, double error_percent, enum fc_error_against against);
/* T = computation + max(network, messages * o) + fill: a bulk-synchronous phase, see contention.c. FC_INPUT for
 * open-loop traffic, FC_NO when a link that is needed has no bandwidth left. Milliseconds with settings->bulk. */
enum fc_code fc_predict_phase(const struct fc_network *net, const struct fc_demand *demand,
                              const struct fc_placement *placement, const struct fc_load *load,
                              const struct fc_load_settings *settings, struct fc_prediction *prediction,
                              struct fc_status *st);

/* ---- a job from its trace (replay.c, collective.c) ----------------------------------------------------------------------- */

enum fc_network_model { FC_NET_IDEAL, FC_NET_CONTENTION, FC_NET_QUEUEING, FC_NET_FLIT };
extern const char *const fc_network_model_names[];
struct fc_background;
struct fc_timeline;
struct fc_calibration;       /* calibration.h */
struct fc_adjoint;           /* adjoint/adjoint.h */
struct fc_collective_choice; /* collective.h: which algorithm each collective takes */
struct fc_replay_settings {
    enum fc_network_model network;
    struct fc_software software; /* of the machine, or overridden by --loggops */
    bool loggops;                /* true: latency and per-byte time below replace the topology (ideal network only) */
    double loggops_latency_s, loggops_per_byte_s; /* L and G */
    const double *background_bytes_per_s;
    const struct fc_background *background; /* background.h: what the above is of; NULL: not told (flit refuses) */
    const struct fc_collective_choice *collectives; /* NULL: MPICH's rules */
    const struct fc_calibration *calibration; /* contention: what mixing costs, NULL: nothing; queueing: instead of the
                                              * machine's, NULL: that */
    const double *rank_scale; /* [n_ranks] each rank's computation is multiplied by this too; NULL: all by 1 */
    bool time_only;           /* no bound is asked for: bound_s and percent_of_peak NaN */
    struct fc_progress *progress;
    struct fc_timeline *timeline; /* timeline.h: filled with what ranks do when, the caller's; NULL: not asked for */
    struct fc_adjoint
        *adjoint; /* adjoint.h: the tape of its derivatives, the caller's; NULL: not asked for. On networks
                                   * ideal and contention only */
};
struct fc_replay {
    struct fc_arena arena;
    struct fc_prediction prediction;
    double *rank_finish_s, *rank_compute_s; /* [n_ranks] */
    double
        *rank_waiting_s; /* [n_ranks] doing nothing because others compute longer, up to rank_finish_s; NULL: not known
                                  * (graphs with several processors a rank) */
    double *rank_path_compute_s;        /* [n_ranks] computation on the path of events that led to rank_finish_s */
    double *link_bytes;                 /* [n_links] payload bytes of the whole job, collectives included */
    double *link_busy_s;                /* [n_links] time the link carries this job */
    double p2p_wait_s, collective_s;    /* mean a rank: blocked in point-to-point, in collectives */
    uint64_t n_messages;                /* network and local messages, collectives expanded */
    double link_wait_s;                 /* total time messages waited for links held by others */
    double alone_s;                     /* end of the same job when no message meets another; ideal: its time */
    double path_link_s, path_latency_s; /* of the critical path: serialisation and waiting for links, and latency */
    double path_interference_s;    /* of its transit, what messages meet of those between other nodes (fc_arrival) */
    uint64_t n_network_messages;   /* those between nodes; graphs and programs alike */
    uint64_t n_events;             /* of the trace, replayed */
    uint64_t n_unmatched_sends;    /* messages that nobody received, and */
    uint64_t n_unmatched_receives; /* receives that got nothing and that nobody waits for (a trace may be a window) */
    uint64_t
        n_uneven_calls; /* collective calls whose members recorded different bytes where the operation moves the same
                              * for each: those of the first to come count */
};
struct fc_trace_source;
/* Replays the trace on the network; see replay.c for the model and its limits. Reads the source once; memory bounded by
 * what is open at once (messages, requests, calls in progress, communicators), of a graph O(graph). FC_INPUT for a trace
 * whose ranks wait for ever (names the ranks and lines, or calls), and for members of a communicator that do not call the
 * same collective. O(events + messages x hops). */
enum fc_code fc_replay_source(const struct fc_network *net, struct fc_trace_source *source,
                              const struct fc_placement *placement, const struct fc_replay_settings *settings,
                              struct fc_replay *replay, struct fc_status *st);
/* The same of a trace in memory. */
enum fc_code fc_replay_run(const struct fc_network *net, const struct fc_trace *trace,
                           const struct fc_placement *placement, const struct fc_replay_settings *settings,
                           struct fc_replay *replay, struct fc_status *st);
void fc_replay_free(struct fc_replay *replay);
/* Splits what time_s has beyond computation_s into communication_s and waiting_s, by the ranks' finish and waiting. */
void fc_replay_split(struct fc_replay *replay, uint32_t n_ranks);

/* The messages of one collective call under its algorithm: rounds of (from, to, bytes), members numbered within the
 * communicator. See collective.c for the algorithm of each operation and its source. */
enum fc_message_work {
    FC_WORK_NONE,
    FC_WORK_REDUCES,           /* what comes is added to what is there */
    FC_WORK_REDUCES_IN_MEMORY, /* the same of a vector that no cache holds (fc_work_of_vector) */
    FC_WORK_PACKS,             /* blocks were copied together before, and are copied apart after */
    FC_WORK_PICKS              /* the same of blocks that lie apart, one by one */
};
struct fc_message {
    uint32_t from, to;
    double bytes;
    uint32_t round;
    enum fc_message_work work; /* of the receiver */
};
/* Point-to-point and collective bytes of a trace as one demand (collectives expanded). */
enum fc_code fc_demand_of_job(const struct fc_trace *trace, struct fc_demand *demand, struct fc_status *st);
/* The same with collectives as chosen (NULL: MPICH's rules, as above). */
enum fc_code fc_demand_of_job_by(const struct fc_trace *trace, const struct fc_collective_choice *collectives,
                                 struct fc_demand *demand, struct fc_status *st);
/* The same of a trace that streams by once (job_demand_source.c); the source stands at its beginning. Bytes are those of
 * the trace in memory but for the order in which fractions are summed. Memory O(pairs + calls open at once). */
enum fc_code fc_demand_of_source(struct fc_trace_source *source, const struct fc_collective_choice *collectives,
                                 struct fc_demand *demand, struct fc_status *st);

/* ---- phases of a job (job_phases.c): what struct fc_phase_cut cuts, with collectives expanded ---------------------------- */

/* The same of phases `first` to `last` (from 0) only: messages that are sent in them. FC_INPUT names the phases there are;
 * also what fc_phases_next refuses. Reads the trace up to `last`: O(events + messages). */
enum fc_code fc_demand_of_phases_by(const struct fc_trace *trace, const struct fc_collective_choice *collectives,
                                    uint64_t first, uint64_t last, struct fc_demand *demand, struct fc_status *st);

struct fc_job_phase {
    uint64_t hash;          /* of the ending operation and of every entry of the demand */
    uint64_t kind;          /* phases of one kind are equal: the same end, the same demand; kinds count from 0 */
    int ending;             /* enum fc_op of the operation that ends it; -1: the trace ends */
    uint64_t n_pairs;       /* ordered pairs of distinct ranks that exchange messages */
    double messages, bytes; /* between distinct ranks */
    double max_rank_bytes;  /* the most that a rank sends, or receives */
};
/* Phases first, first + step, ... (`times` of them) are of one kind. Rows that repeat together share step and times. */
struct fc_phase_row {
    uint64_t first, step, times;
};
struct fc_job_phases {
    struct fc_arena arena;
    uint64_t n_phases, n_kinds, n_rows;
    struct fc_job_phase *phase; /* [n_phases] */
    struct fc_phase_row *row;   /* [n_rows] every phase is in one row */
};
enum fc_code fc_job_phases_find_by(const struct fc_trace *trace, const struct fc_collective_choice *collectives,
                                   struct fc_job_phases *phases, struct fc_status *st);
void fc_job_phases_free(struct fc_job_phases *phases);
