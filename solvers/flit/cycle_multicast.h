/* cycle_multicast.h - packets that routers of the cycle engine copy (cycle_multicast.c). Present only in runs
 * with flit->multicast. */
#pragma once

#include "solvers/flit/cycle.h"
#include "solvers/flit/multicast.h"

struct fc_cycle_branch { /* one way out of the packet at a channel's front */
    uint64_t route;
    uint32_t link, packet; /* packet: the record that travels there */
    uint16_t vcs;          /* of the link that it may have; 0: to a node, holds none */
    uint8_t vc, room;      /* once it is allocated; room as in fc_cycle_channel */
};
struct fc_cycle_fork {  /* of each channel */
    uint64_t sent;      /* branches that have sent the front flit */
    uint64_t allocated; /* tick at which the last branch was */
    uint8_t n, n_held;  /* branches, 0: the packet goes on as a whole; the first n_held are allocated */
    uint16_t flits;     /* of the packet: its record may be gone before the last copy */
    bool onward;        /* the last is one of the routing's choices */
    bool rooted;        /* it has the root, or needs none here */
};
struct fc_cycle_reply { /* acknowledgements on their way back, as a sender or a root sees them */
    uint32_t left;      /* targets that the packet has not reached */
    uint64_t at;        /* tick by which those of all others are there */
};
struct fc_cycle_marks { /* of a block: outputs and input ports taken for one tick */
    uint32_t *link, *port, n_links, n_ports;
};
struct fc_cycle_multicast {
    const struct fc_flit_multicast_ops *ops;
    const struct fc_flit_group *group_of; /* by tag */
    uint32_t most;                        /* branches of a fork */
    struct fc_cycle_fork *fork;           /* [n_channels] */
    struct fc_cycle_branch *branch;       /* [n_channels][most] */
    uint32_t *group;                      /* [n_packets] tag */
    uint32_t *turn;                       /* [n_routers] input port that is asked first */
    /* With acknowledgements, else NULL: */
    struct fc_cycle_reply *root;   /* [n_routers] */
    struct fc_cycle_reply *sender; /* [n_nodes][window] of the latest packets */
    uint32_t window, *started;     /* started: [n_nodes] packets */
    uint8_t *place;                /* [n_packets] in the sender's window */
    struct fc_cycle_marks *marks;  /* [n_blocks] */
};

enum fc_code fc_cycle_multicast_open(struct fc_cycle *engine, struct fc_status *st);
/* A new front flit of a channel: true when it is of a packet that is copied here, which the rest of the
 * router then leaves alone. */
bool fc_cycle_fork_front(struct fc_cycle *engine, struct fc_cycle_block *block, struct fc_cycle_channel *c,
                         struct fc_cycle_port *port, int vc);
/* Before and after the switch allocation of a router: copies what it can; gives back what was taken for the
 * tick. */
void fc_cycle_forks_move(struct fc_cycle *engine, struct fc_cycle_block *block, uint32_t r, uint64_t t,
                         uint32_t interval);
void fc_cycle_forks_end(struct fc_cycle *engine, struct fc_cycle_block *block);
/* Whether the node may start its next packet; the packet that it starts. */
bool fc_cycle_may_start(const struct fc_cycle *engine, uint32_t node, uint64_t t);
/* First route word of the messages with that tag. */
uint64_t fc_cycle_multicast_route(const struct fc_cycle *engine, uint32_t tag);
void fc_cycle_multicast_start(struct fc_cycle *engine, uint32_t node, uint32_t packet, uint32_t tag);
/* Channels that the fork waits for, as in struct fc_flit_blocked; 0: it is none. */
uint32_t fc_cycle_fork_wanted(const struct fc_cycle *engine, size_t channel, uint32_t *out);
