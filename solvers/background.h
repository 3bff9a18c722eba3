/* background.h - traffic of other jobs beside the one that is predicted: who sends how much to whom, and what
 * that leaves of the links. background.c says how the network models share links with it. */
#pragma once

#include "solvers/nic/nic.h"
#include "solvers/solvers.h"

struct fc_background {
    struct fc_arena arena;
    struct fc_demand demand;      /* `bytes` are payload bytes/s from node to node, a task a node; open loop */
    double *link_bytes_per_s;     /* [n_links] wire bytes/s on each link, headers and trailers in */
    double offered_bytes_per_s;   /* payload between different nodes, all nodes together */
    double max_utilization;       /* of the link that it keeps busiest; 0 where no link is finite */
    uint32_t busiest, n_senders;  /* busiest: FC_NONE: none; nodes that send */
    double packet_bytes;          /* payload of one of its packets */
    bool fills;                   /* every source always has a packet waiting; what that leaves: */
    struct fc_nic_background nic; /* where `interfaces`: of machines with nic: and router.multicast: tree */
    bool interfaces;
};

/* How much of a pattern there is. */
enum fc_background_load {
    FC_BACKGROUND_FLITS,   /* flits a node and cycle, mean over the nodes that take part, as `flit --load` */
    FC_BACKGROUND_SHARE,   /* the busiest link is busy for this share of the time */
    FC_BACKGROUND_PAYLOAD, /* payload bytes/s a node, mean over the nodes that take part */
    FC_BACKGROUND_FULL     /* every source always has a packet waiting: what the flit-level kernel lets through */
};

/* The pattern (fc_demand_from_pattern) among nodes[n_nodes] (NULL: all): pairs of which both ends are listed,
 * in the pattern's own proportions. FC_INPUT: a pattern of cores or tasks, nobody left who sends, a load that
 * keeps a link busy all the time, FULL of listed nodes. FULL costs a run of the kernel (0.4 s of CPU time on
 * 64 nodes). */
enum fc_code fc_background_of_pattern(const struct fc_network *net, const char *pattern, const uint32_t *nodes,
                                      size_t n_nodes, enum fc_background_load kind, double load, uint64_t seed,
                                      struct fc_background *background, struct fc_status *st);
/* Bytes of the demand's pairs times per_s, task t on node[t]. FC_INPUT: more than a link carries (names it).
 */
enum fc_code fc_background_of_demand(const struct fc_network *net, const struct fc_demand *demand, const uint32_t *node,
                                     double per_s, uint64_t seed, struct fc_background *background,
                                     struct fc_status *st);
/* Adds the rates of `more`, of the same network, to those of *background. FC_INPUT: one of them is FULL, more than a link
 * carries (names it), or too many dense parts. After a failure *background is freed. */
enum fc_code fc_background_add(const struct fc_network *net, const struct fc_background *more, uint64_t seed,
                               struct fc_background *background, struct fc_status *st);
/* Its packets as open-loop traffic of the flit-level kernel: flits a node and cycle, mean over all nodes
 * (struct fc_flit_settings: background, background_flits_per_cycle). */
enum fc_code fc_background_flits(const struct fc_network *net, const struct fc_background *background,
                                 double *flits_per_cycle, struct fc_status *st);
void fc_background_free(struct fc_background *background);

/* ---- as packets (background_births.c): each node a Poisson process, destinations drawn by the rates ---- */

struct fc_births;
/* Births from tick 0 on of ticks of tick_s. The background must outlive it. */
enum fc_code fc_births_open(const struct fc_background *background, uint32_t n_nodes, double tick_s, uint64_t seed,
                            struct fc_births **births, struct fc_status *st);
/* The tick of the next birth; UINT64_MAX: nobody sends. */
uint64_t fc_births_next_tick(const struct fc_births *births);
/* Takes it. */
void fc_births_take(struct fc_births *births, uint32_t *src, uint32_t *dst);
void fc_births_close(struct fc_births *births);
