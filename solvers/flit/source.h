/* source.h - private to the sources (source.c: open loop; source_closed.c, source_lists.c: messages), run
 * control (run*.c) and their tests. */
#pragma once

#include "solvers/flit/multicast.h"
#include "solvers/flit/prepared.h"
#include "solvers/flit/traffic.h"

#define FC_FLIT_PARTS 4 /* dense parts of a demand */

/* One column of Walker's alias table: the column's own number while the fraction is below keep / 2^32, else
 * `alias`. */
struct fc_flit_alias {
    uint32_t alias, keep;
};

/* Open loop. Node s draws component c (dense part c, or the sparse row after the dense parts) with
 * probability proportional to the component's bytes, then the destination within it. */
struct fc_flit_open {
    double *gap_scale;               /* [n_nodes] 1 / log(1 - p); NaN: the node never sends */
    double ticks_per_step;           /* Bernoulli trials are a step apart: a cycle, or a whole fraction of it */
    uint64_t whole_ticks;            /* the same where it is a whole number; else 0 */
    uint16_t *quick_gap;             /* [FC_FLIT_QUICK_GAPS] by the upper bits of the draw, gap + 1 where they decide it
                            * for a node with quick_scale and trials a whole number of ticks apart; else 0 */
    double quick_scale;              /* gap_scale of the first node that sends */
    uint64_t *key;                   /* [n_nodes] of the node's random draws */
    uint32_t flits_min, flits_range; /* lengths min .. min + range - 1 */
    double load;                     /* flits/node/cycle, mean over all nodes */
    int n_parts;                     /* dense parts */
    struct fc_flit_alias *column[FC_FLIT_PARTS]; /* [n_nodes], NULL: all destinations alike */
    uint64_t *row_first;                         /* [n_nodes + 1], NULL: no sparse entries */
    const uint32_t *row_dst;                     /* [n_entries] */
    struct fc_flit_alias *row;                   /* [n_entries] positions relative to the row's start */
    double *component;                           /* [n_nodes][n_parts + 1] cumulative shares, last 1 */
    uint8_t *only;                               /* [n_nodes] the component when there is but one, else MANY */
    uint64_t *background_below; /* [n_nodes] draws up to this one make the packet one of the background; NULL: none */
};
#define FC_FLIT_MANY 255
#define FC_FLIT_QUICK_GAPS 1024

/* Closed loop: the flows of a node are its sparse entries (all its tasks), then for each task and dense part
 * the targets of the part. Flows to tasks of the same node stay out. See source_closed.c for the order. */
struct fc_flit_closed {
    bool in_order;                   /* or outside */
    struct fc_flit_outside *outside; /* messages given from outside instead (source_outside.c); NULL: the demand's */
    double gap_ticks, payload_bytes, header_bytes, flit_bytes;
    uint32_t flits_least, flits_most;
    const struct fc_demand *demand;
    uint32_t *node;       /* [n_tasks] */
    uint64_t *task_first; /* [n_nodes + 1] tasks of each node, ascending: */
    uint32_t *task;       /* [n_tasks] */
    uint64_t *flow_first; /* [n_nodes + 1] sparse flows of each node: */
    uint32_t *flow;       /* [n_flows] entry of the demand; random order: most packets first */
    int n_parts;
    uint32_t part_first[FC_FLIT_PARTS + 1]; /* where the targets of each part start */
    uint32_t *target;        /* [part_first[n_parts]] tasks d with b[d] > 0; random order: greatest b first */
    uint32_t *most, *least;  /* [n_tasks][n_parts] packets of the task to the part's first and last target by b */
    uint64_t packets, flits; /* of the whole demand */
    uint64_t deliveries;     /* packets that arrive: each of a multicast at all its targets */
    const struct fc_flit_group *group; /* [multicasts.n_entries] with flit->multicast, else NULL */
};

/* Whether nodes send to few others, at most 8 in the mean: one overloaded pair then shows in nothing that is a mean over all
 * packets. */
static inline bool fc_flit_has_few_pairs(const struct fc_demand *demand, uint32_t n_nodes)
{
    return demand->n_dense == 0 && demand->n_entries <= 8 * (size_t)n_nodes;
}

struct fc_flit_traffic {
    struct fc_arena arena;
    bool open_loop, backlog, few_pairs;
    uint32_t n_nodes;
    uint64_t key;                       /* of all draws: from the seed, apart from the engines' draws */
    double mean_flits;                  /* of a packet */
    double offered;                     /* open loop: flits/node/cycle of this traffic and the one of high priority */
    double high_share;                  /* of it that is of high priority */
    struct fc_flit_traffic *high;       /* the packets of high priority; NULL: none */
    struct fc_flit_traffic *background; /* destinations and lengths of packets of the background; NULL: none */
    struct fc_flit_open open;
    struct fc_flit_closed closed;
    struct fc_demand multicasts; /* with flit->multicast: the demand's, as entries; arrays in this arena */
};
/* Makes closed.group and multicasts; closed loop only (multicast.c). */
enum fc_code fc_flit_groups_make(const struct fc_flit_net *flit, const struct fc_demand *demand, const uint32_t *node,
                                 struct fc_flit_traffic *traffic, struct fc_status *st);

/* One stream of packets of a closed loop, from a node to a task: full messages, then perhaps a shorter one.
 */
struct fc_flit_flow {
    uint32_t dst_node, tag;
    uint64_t packets;
    double full_bytes, rest_bytes; /* of a full message, of the one behind them (dense parts) */
    uint64_t full, per_full;       /* full messages, packets each */
};
/* The flow of a demand's entry; of `bytes` of a dense part, in messages of message_bytes; of one pair of a
 * part. */
struct fc_flit_flow fc_flit_entry_flow(const struct fc_flit_closed *closed, uint32_t entry);
struct fc_flit_flow fc_flit_bytes_flow(const struct fc_flit_closed *closed, double bytes, double message_bytes);
struct fc_flit_flow fc_flit_dense_flow(const struct fc_flit_closed *closed, uint32_t task, int part, uint32_t target);
/* Flits of the k-th packet of a flow; of all of them. */
uint32_t fc_flit_packet_flits(const struct fc_flit_closed *closed, const struct fc_flit_flow *flow, uint64_t k);
uint64_t fc_flit_flow_flits(const struct fc_flit_closed *closed, const struct fc_flit_flow *flow);
/* Flits of a packet with that payload. */
uint32_t fc_flit_flits_of(const struct fc_flit_closed *closed, double payload);

/* How messages are cut into packets: payload, header, flits (source_lists.c). FC_FAULT: prepared otherwise. */
enum fc_code fc_flit_closed_shape(const struct fc_flit_net *flit, struct fc_flit_closed *closed, struct fc_status *st);

/* ---- messages given from outside while the engine rests (source_outside.c) ---- */

/* Sources without packets; freed by fc_flit_outside_free. Only for engines with `wake`, in one thread. */
enum fc_code fc_flit_outside_make(const struct fc_flit_net *flit, uint64_t seed, struct fc_flit_traffic **traffic,
                                  struct fc_status *st);
void fc_flit_outside_free(struct fc_flit_traffic *traffic);
/* Queues a message behind the node's others: its packets are born at tick `born`, which must not be after the tick
 * that the engine has reached and may serve as its name in the log. Returns its packets; 0: out of memory. */
uint64_t fc_flit_outside_put(struct fc_flit_traffic *traffic, uint32_t node, uint32_t dst, double bytes, uint64_t born);
void fc_flit_outside_seek(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source);

enum fc_code fc_flit_closed_make(const struct fc_flit_net *flit, const struct fc_demand *demand, const uint32_t *node,
                                 const struct fc_flit_settings *settings, struct fc_flit_traffic *traffic,
                                 struct fc_status *st);
void fc_flit_closed_first(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source);
void fc_flit_closed_next(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source);

/* Whether the node ever sends into the network. */
bool fc_flit_sends(const struct fc_flit_traffic *traffic, uint32_t node);
/* Flits in a cycle that the node's injection links take at most, for packets of `flits` flits; INFINITY: no
 * limit. */
double fc_flit_injection_capacity(const struct fc_flit_net *flit, uint32_t node, double flits);
/* Total bytes that each node offers in an open-loop demand, what it sends to itself included:
 * weight[n_nodes]. */
enum fc_code fc_flit_weights(const struct fc_flit_net *flit, const struct fc_demand *demand, double *weight,
                             struct fc_status *st);
/* Packet lengths of the settings, the machine's largest packet where none is given; FC_INPUT when impossible.
 */
enum fc_code fc_flit_lengths(const struct fc_flit_net *flit, const struct fc_flit_settings *settings, uint32_t *least,
                             uint32_t *most, struct fc_status *st);
/* Walker's alias table of weight[n] (Vose's construction) into out[n]; scratch[n]. The sum must be positive.
 */
void fc_flit_alias_make(const double *weight, uint32_t n, struct fc_flit_alias *out, uint32_t *scratch, double *scaled);

/* Position `at` of a fixed random order of 0 .. n-1 chosen by `key`: a permutation that is nowhere stored. */
uint32_t fc_flit_shuffled(uint64_t key, uint32_t n, uint32_t at);
