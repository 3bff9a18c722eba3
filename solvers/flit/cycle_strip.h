/* cycle_strip.h - routers whose input channels are a strip of at most 32 bytes: their state (cycle_strip*.c).
 *
 * The general path (cycle_bits.c) for routers that are small and plain: wormhole, a flit a tick on every link, one transfer an
 * input port at a time, at most 32 input channels and 16 links out and in from nodes. Ways are known at the source
 * (route_fields.h), or routers look up what a head may do (cycle_strip_choose.c). What allocation compares is one vector a
 * router, a byte a channel; all else is done in long lists of channels, whose loops have hardly a branch that depends on
 * traffic. */
#pragma once

#include "solvers/flit/cycle.h"
#include "solvers/flit/route_fields.h"

enum { FC_STRIP = 32, FC_STRIP_SENDERS = 16, FC_STRIP_VCS = 8 };

/* Channel g: router * 32 + (input port << vc_bits) + vc. What of it is no vector: */
struct fc_strip_channel {
    uint16_t count; /* flits */
    uint16_t left;  /* worms: flits of the front's packet that have not left; 0: the next flit is a head */
    uint8_t head;   /* place of the front in its ring; worms: of the packet behind it */
    uint8_t has;    /* held: the channel behind the output that the packet has, as a mask */
    uint8_t asks;   /* mask of channels that the head at the front will take; worms: 0 once the head has left */
    uint8_t won;    /* virtual-channel stage: output << 3 | channel won last; 0xff: none */
};
/* Packets of several flits, of which only the heads lie in slots: */
struct fc_strip_worm {
    uint64_t front; /* head of the packet at the front */
    uint64_t route; /* looked up: what it takes on if it wins */
    uint16_t outs;  /* it chooses among these outputs; 0: it has no choice */
    bool listed;    /* among those that choose (waits) */
};
/* Sender q: router * 16 + output, or behind the outputs the link of one of its nodes. */
struct fc_strip_sender {      /* a cache line */
    _Alignas(64) uint32_t to; /* first channel behind the link; FC_NONE: a node */
    uint32_t queue;    /* of arrivals there (write[] of struct fc_cycle_block); FC_NONE: they are there at once */
    uint8_t wraps;     /* 1 << out_bits where the next link that way crosses the dateline */
    uint8_t above;     /* round robin over channels: mask of those above the last winner */
    uint8_t port_turn; /* round robin over ports: whose turn it is */
    uint8_t credits[FC_STRIP_VCS]; /* of 256: with 256 of them 0, and able */
    uint8_t tail[FC_STRIP_VCS];    /* place behind the last flit in the ring that it sends to */
    uint32_t sent, packets_sent;   /* since the last flush */
};
struct fc_strip_back { /* where the credits of an input port go */
    uint32_t sender, queue;
};
/* Flits lie in their slots from the grant on, as on the fast path (cycle_fast.h, which has how a flit looks); arrivals and credits
 * go by the queues of cycle_queues.c. Items: channel; sender << 3 | channel there. */
struct fc_strips {
    struct fc_route_fields route;
    uint64_t *slot;                   /* [channels][2^ring_bits] */
    uint8_t *out;                     /* [channels] output that the front's packet leaves by */
    uint8_t *want;                    /* [channels] mask of the channels there; 0: no flit, or none that may go on */
    uint8_t *turn, *rank;             /* [channels] round robins of its port: output whose turn it is; its own place */
    uint8_t *held;                    /* [channels] 0xff: the packet has its channel behind the output */
    uint8_t *busy;                    /* [n_routers, after each block 32 more] may have something to move */
    uint8_t *able, *free;             /* [senders] masks of channels with credits, of those that no packet holds */
    struct fc_strip_channel *channel; /* [channels] */
    struct fc_strip_worm *worm;       /* [channels]; NULL: packets of one flit */
    struct fc_strip_sender *sender;   /* [senders] */
    struct fc_strip_back *back;       /* [channels] by router * 32 + input port */
    uint16_t *ejects;                 /* [routers] outputs that lead to nodes */
    uint16_t *bid;           /* [senders << vc_bits] virtual-channel stage: least bid; all ones between two ticks */
    uint8_t *vc_turn, *lost; /* [the same] the input channel whose turn it is; what the bidder had won before */
    uint32_t *node_sender;   /* [n_nodes] */
    uint64_t *wake;          /* [n_nodes, by four] tick at which the node may send again */
    uint32_t *waits;         /* [n_list] heads, n_waits of each block: without a channel (a stage), or that choose */
    uint32_t *list; /* [4][n_list] for use within a tick. n_list: a block's channels and 64 more, block by block */
    uint32_t ring_bits, vc_bits, n_outs, n_channels, n_list;
    bool single, plain;                          /* packets of one flit; sources that are plain (source_draw.h) */
    bool turns;                                  /* outputs take ports by round robin and nothing else */
    uint8_t rank_of[FC_STRIP_VCS][FC_STRIP_VCS]; /* [winner][channel] place in the round robin */
};

bool fc_cycle_has_strips(const struct fc_cycle *engine);
enum fc_code fc_cycle_strips_open(struct fc_cycle *engine, struct fc_status *st);
/* fc_cycle_block_run for them. */
void fc_cycle_strips_run(struct fc_cycle_block *block, uint64_t from, uint64_t to);
/* Copies for reports: all state, what the block's links sent; flits in a channel; credits of a sender's
 * channel; what UGAL sees of a link. */
void fc_cycle_strips_sync(struct fc_cycle *engine);
void fc_cycle_strips_sync_sent(struct fc_cycle_block *block);
uint32_t fc_cycle_strips_count(const struct fc_cycle *engine, const struct fc_cycle_port *port, int vc);
uint32_t fc_cycle_strips_credits(const struct fc_cycle *engine, uint32_t q, uint32_t vc);
uint32_t fc_cycle_strips_queued(const struct fc_cycle *engine, uint32_t link);
uint32_t fc_cycle_strips_waiting(const struct fc_cycle *engine, uint32_t link);
/* Where routers look up what a head may do (cycle_strip_choose.c): the head at the front of channel g is new, true: it is to be listed;
 * all of the list that choose do so at tick t, how many are left; how a packet of node n begins. Several ports of router r ask for
 * one output, which takes the first by the machine's order: what is left of `won`. */
bool fc_cycle_strips_look_up(struct fc_cycle *engine, uint32_t g, uint32_t packet);
uint32_t fc_cycle_strips_choose(struct fc_cycle *engine, uint32_t *list, uint32_t n, uint8_t *busy, uint64_t t);
void fc_cycle_strips_starts(struct fc_cycle *engine, uint32_t packet, uint32_t n, const struct fc_flit_source *source);
uint32_t fc_cycle_strips_contend(const struct fc_cycle *engine, uint32_t r, uint32_t won, uint64_t t);
