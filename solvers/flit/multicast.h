/* multicast.h - packets that routers copy (multicast.c, multicast_*.c). */
#pragma once

#include "solvers/flit/route_ops.h"

/* A message to several nodes; all its packets go the same way. */
struct fc_flit_group {
    uint32_t src, n_targets; /* nodes */
    uint32_t first, last;    /* targets, nodes: tree: all from first to last; deposit: ends of the line */
    uint8_t dim, direction;  /* deposit */
    uint8_t top;             /* tree: level of its root */
    uint32_t root;           /* tree: router where packets turn down, one at a time; else FC_NONE */
    uint64_t route;          /* first route word */
    uint64_t ack_ticks;      /* tree: from a packet whole at a target to the acknowledgement at the sender, */
    uint64_t root_ticks;     /* and behind the root */
};
struct fc_flit_multicast_ops {
    const char *name;  /* as in router.multicast */
    bool acknowledged; /* senders and roots wait until every target has acknowledged */
    uint32_t (*most_copies)(const struct fc_network *net); /* out of one router */
    /* Fills the group but for what needs ticks; target[n_targets] are the nodes of its tasks and may be
     * reordered. FC_INPUT: they are not a set that one packet reaches. */
    enum fc_code (*group)(const struct fc_network *net, const struct fc_multicast *multicast, uint32_t src,
                          uint32_t *target, struct fc_flit_group *group, struct fc_status *st);
    /* The rest. FC_INPUT: routing or rule of the machine cannot carry it. */
    enum fc_code (*route)(const struct fc_flit_net *flit, struct fc_flit_group *group, struct fc_status *st);
    /* The copies that a packet of the group with that route word leaves at `router`, links ascending: choices
     * that are final, without escapes; those to nodes hold no virtual channel (vcs 0). *onward: besides, the
     * packet goes on by one of the routing's choices(). Pure. */
    int (*branches)(const struct fc_flit_net *flit, const struct fc_flit_group *group, uint32_t router, uint64_t route,
                    struct fc_flit_choice *out, bool *onward);
    /* Adds `bytes` to load[n_links] of every link that the group's packets cross. */
    void (*loads)(const struct fc_network *net, const struct fc_flit_group *group, double bytes, double *load);
};
extern const struct fc_flit_multicast_ops fc_multicast_deposit, fc_multicast_tree;
/* Sets flit->multicast when the demand has messages that this machine's routers copy. */
void fc_flit_multicast_use(struct fc_flit_net *flit, const struct fc_demand *demand);
