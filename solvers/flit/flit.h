/* flit.h - the flit-level kernel: one run, and a curve of runs.
 *
 * Two engines answer with one model of the router (input-buffered, virtual channels, credits): the event
 * engine moves whole packets (virtual cut-through, exact to the flit where a link sends a packet without
 * interleaving), the cycle engine moves flits (wormhole, interleaving). Source: Dally & Towles, Principles
 * and Practices of Interconnection Networks (2004), chapters 16 to 19 and 23; the Blue Gene/L arbitration:
 * Adiga et al., IBM J. Res. Dev. 49(2/3), 2005. */
#pragma once

#include "core/core.h"
#include "core/ranks.h"
#include "models/models.h"

enum fc_flit_engine { FC_ENGINE_AUTO, FC_ENGINE_EVENT, FC_ENGINE_CYCLE };
extern const char *const fc_flit_engine_names[]; /* NULL-terminated */

/* What is run. fc_flit_defaults() sets every field; fc_flit_run checks them and names the field that is
 * wrong. */
struct fc_flit_settings {
    int engine;                         /* enum fc_flit_engine */
    double load_flits_per_cycle;        /* offered, mean over all nodes; open-loop demands only; 0: none */
    double high_priority_share;         /* open loop: of the load, packets of high priority, on the channels that
                                    router.high_priority gives them; 0: none, else below 1 */
    const struct fc_demand *background; /* open loop: traffic of others beside the demand's, counted apart: a task
                                           a node, its bytes are relative rates; borrowed. NULL: none */
    double background_flits_per_cycle;  /* offered by it, mean over all nodes; its packets have packet_flits_max */
    uint32_t packet_flits_min,
        packet_flits_max;                   /* lengths drawn uniformly from min..max; 0: the machine's largest packet */
    uint64_t warmup_cycles, measure_cycles; /* open loop; 0: chosen from load and network, see run.c */
    double precision; /* open loop: the measurement ends when the 95 % half widths of mean latency and accepted load
                             are this share of them (run_precision.c); a saturation is found to half of it, of itself
                             (curve.c); 0: by its length, see run_phases.c */
    uint64_t most_packets; /* with a precision: in the measurement, of a saturation in its long runs; 0: chosen */
    bool lengthen;         /* more than most_packets where fewer a node cannot tell whether a pair is too much */
    bool only_accepted;    /* with a precision: of the accepted load alone, whether all sources get what they offer */
    uint64_t most_cycles;  /* the run ends here whatever happens; 0: chosen */
    double most_moves;     /* the run is given up when its moves (fc_flit_moves) are more; 0: no limit */
    uint64_t interval_cycles; /* > 0: record throughput, channel use and unblocking in intervals of that length */
    uint64_t deadlock_cycles; /* no movement for so long with flits in flight is a deadlock; 0: chosen */
    double source_gap_cycles; /* closed loop: least time between two packets of a node (software cost a
                                 packet) */
    bool in_order;            /* closed loop: destinations in the demand's order; false: random order for each node */
    bool allow_deadlock;      /* run a routing that has no deadlock certificate */
    bool backlog;             /* open loop: every source always has a packet waiting: saturation throughput */
    bool bubble_as_published; /* packets on the bubble count by true length: deadlocks with several lengths */
    double stable_load;       /* saturation, with a precision: what a run before saw stable; 0: none */
    double unstable_load;     /* the least that one saw unstable: it is looked for between the two; 0: none */
    double latency_limit_cycles; /* saturation: a load counts as stable while its mean latency stays below; 0:
                                    by run_phases.c */
    const char *vc_rule;         /* NULL: the machine's */
    int threads; /* parts of the network that are simulated at a time, by as many threads where there are as many
                    processors (fc_threads); no result depends on it */
    const struct fc_ranks
        *ranks; /* processes that share the network, each with `threads` parts of it: all call with the
                                     same arguments and get the same result; event engine only. Borrowed; NULL: this
                                     one alone */
    uint64_t seed;
    struct fc_progress *progress; /* NULL: silent */
};
void fc_flit_defaults(struct fc_flit_settings *settings);
/* Injection FIFOs of data of each of a node's links into the network: router.injection_fifos, or the virtual channels that the
 * machine's rule gives a link; 0: neither is known. Costs what the rule takes to count its channels. Limit: of a mesh under a
 * rule of rings twice as many as the kernel has. */
int fc_flit_fifos(const struct fc_network *net);

#define FC_FLIT_MOST_VCS 16
struct fc_flit_class {                        /* of one link class, over the measurement (closed loop: the whole run) */
    uint64_t links;                           /* in the network */
    double mean_utilization, max_utilization; /* share of time that the link sends flits or trailers */
    uint32_t busiest;                         /* link, or FC_NONE */
};
struct fc_flit_interval {                             /* [start, start + interval) */
    double flits_per_node_cycle;                      /* delivered */
    double vc_flits_per_link_cycle[FC_FLIT_MOST_VCS]; /* over router-to-router links */
    double unblocking_probability; /* share of credit returns that let at least one blocked packet move; NaN:
                                      none */
};
struct fc_flit_part {                     /* packets counted apart, born in the measurement; NaN: none arrived */
    double share;                         /* of all flits offered; 0: there is no such part */
    double accepted_flits_per_node_cycle; /* background only, else NaN */
    uint64_t packets;
    double latency_mean_cycles, latency_p50_cycles, latency_p95_cycles, latency_p99_cycles, latency_max_cycles;
    double network_latency_mean_cycles;
    double others_latency_mean_cycles; /* of all other packets */
};
struct fc_flit_result {
    struct fc_arena arena;
    const char *engine, *vc_rule;
    double cycle_s; /* length of a cycle */
    bool open_loop, stable, deadlock,
        complete;                 /* complete: every measured packet (closed loop: every packet) arrived */
    const char *unstable_because; /* "" when stable */
    bool cut;                     /* by most_moves: whether it is stable is not known */
    const char *deadlock_text;    /* the cycle of channels and packets, or "" */
    /* Of the demand: the background is not in loads, latencies, hops and fairness, but in all counts below. */
    double offered_flits_per_node_cycle, accepted_flits_per_node_cycle; /* NaN offered for closed loop */
    /* Packets born in the measurement (closed loop: all). NaN: none arrived. */
    double latency_mean_cycles, latency_half_width_cycles; /* source queue included; 95 % by batch means */
    /* With settings->precision, else 0, NaN and false: means are those at the load asked for, not at what the window happened
     * to offer, and reached says whether both half widths are as asked. */
    double precision, accepted_half_width_flits;
    bool precision_reached;
    double latency_p50_cycles, latency_p95_cycles, latency_p99_cycles, latency_max_cycles;
    double network_latency_mean_cycles; /* from the first flit on the injection link */
    struct fc_flit_part high_priority, background;
    double hops_mean; /* router-to-router links */
    uint64_t measured_packets;
    uint64_t cycles; /* length of the whole run */
    double warmup_cycles, measure_cycles;
    uint64_t packets_injected, packets_delivered,
        packets_in_flight; /* whole run; injected = delivered + in flight, but for copies */
    uint64_t flits_injected, flits_delivered, flits_in_flight;
    const char *multicast;                 /* what copies packets: "deposit", "tree"; "": nothing */
    uint64_t packets_copied, flits_copied; /* by routers; then injected + copied = delivered + in flight */
    uint64_t flit_hops;                    /* flits over router-to-router links, whole run */
    double escape_share; /* of the flit hops, those on escape channels beside adaptive ones; else NaN */
    bool credits_full;   /* drained, and every credit is back: checked when nothing is in flight */
    int n_classes;
    struct fc_flit_class classes[FC_MAX_CLASSES];
    int n_vcs;
    double vc_occupancy_flits[FC_FLIT_MOST_VCS]; /* mean flits in a virtual channel buffer of a
                                                    router-to-router link */
    double fairness_min,
        fairness_max;     /* packets injected by a node in the measurement over the mean of sending nodes */
    double fairness_jain; /* Jain's index */
    uint32_t n_intervals;
    struct fc_flit_interval *intervals; /* [n_intervals] */
    double *link_utilization;           /* [n_links] */
    double cpu_s;                       /* of all ranks */
    struct fc_flit_exchanged {
        int ranks;                        /* 1: the others are 0 */
        uint64_t windows;                 /* times that ranks exchanged messages */
        uint64_t messages, message_bytes; /* of all ranks */
        int most_neighbours;              /* that a rank sent to at a time */
    } exchanged;
};
/* Runs the demand on the network: open loop when demand->open_loop (its bytes are relative rates; the load of
 * a node is load x its share, mean over nodes = load), else closed: its messages are cut into packets and
 * sent as fast as they go. Tasks must be nodes for open loop; closed demands are placed by node[task] (NULL:
 * task t on node t / cores). FC_INPUT names the setting or the key of the machine file that is wrong; an
 * unstable or deadlocked run is an answer. Same settings and seed, same result for any number of threads. The
 * caller frees. */
enum fc_code fc_flit_run(const struct fc_network *net, const struct fc_demand *demand, const uint32_t *node,
                         const struct fc_flit_settings *settings, struct fc_flit_result *result, struct fc_status *st);
void fc_flit_free(struct fc_flit_result *result);
/* What a run costs: flits over links of all kinds, those of nodes included, counted where they enter and leave the network. */
static inline double fc_flit_moves(const struct fc_flit_result *r)
{
    return (double)r->flits_injected + (double)r->flits_delivered + (double)r->flit_hops;
}
/* Whether a run of the demand on this machine sends packets that routers copy (router.multicast). */
bool fc_flit_copies(const struct fc_network *net, const struct fc_demand *demand);
/* What the links alone would need for the demand's multicasts, seconds: every link of a message's line or
 * tree carries its wire bytes once. For demands with fc_flit_copies; tasks placed as in fc_flit_run.
 * FC_INPUT: a target set that the routers cannot reach with one packet. */
enum fc_code fc_flit_multicast_bound(const struct fc_network *net, const struct fc_demand *demand, const uint32_t *node,
                                     double *bound_s, struct fc_status *st);

/* Saturation throughput: the offered load at which latency leaves the ground, by bisection between runs; see
 * curve.c. */
enum fc_code fc_flit_saturation(const struct fc_network *net, const struct fc_demand *demand,
                                const struct fc_flit_settings *settings, double *load_flits_per_cycle,
                                struct fc_status *st);
/* The same; adds what its runs cost to *cost. settings->most_moves is of all runs together: FC_OK with cost->cut and NaN where they
 * would be more. */
struct fc_flit_cost {
    double flit_hops; /* flits over router-to-router links */
    double moves;     /* fc_flit_moves */
    bool cut;
};
enum fc_code fc_flit_saturation_counted(const struct fc_network *net, const struct fc_demand *demand,
                                        const struct fc_flit_settings *settings, double *load_flits_per_cycle,
                                        struct fc_flit_cost *cost, struct fc_status *st);
/* Zero-load time across the network, cycles: what the lengths of runs go by (Z of docs/flit.md). */
enum fc_code fc_flit_zero_load_cycles(const struct fc_network *net, const struct fc_flit_settings *settings,
                                      double *cycles, struct fc_status *st);
/* Ideal throughput: the offered load, flits a node and cycle, at which the busiest link is busy all the time
 * under the machine's routing, for packets of the settings; where the routing chooses, a load that no split of the
 * traffic over its paths exceeds (proven by a linear program, or by cuts where that is too large; curve.c).
 * What `--load 80%` is of. */
enum fc_code fc_flit_ideal_throughput(const struct fc_network *net, const struct fc_demand *demand,
                                      const struct fc_flit_settings *settings, double *load_flits_per_cycle,
                                      struct fc_status *st);
