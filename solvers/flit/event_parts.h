/* event_parts.h - what the state of the packet-event engine consists of: packets, channels, links, tokens. */
#pragma once

#include "solvers/flit/traffic.h"

#define FC_EVENT_NEVER UINT64_MAX

/* A packet, one cache line. */
struct fc_event_packet {
    uint64_t route, born, entered; /* entered: tick of its start on the injection link */
    uint64_t ready;                /* tick from which it may start on its next link: its head is through the router */
    uint64_t tail; /* tick at which it can be through its next link at the earliest, however fast that is */
    uint32_t dst, random, src;
    uint32_t next; /* the packet behind it in the channel, or in the free list */
    uint16_t flits, hops;
    uint16_t held;    /* tokens (flits of buffer) that it took of the channel it sits in */
    uint8_t in_class; /* class of the link it came by */
    bool background;
};

/* Credits on their way back, a token a flit of buffer: `flits` of them, `step` ticks apart, the last one at tick `last`,
 * where `extra` more come at once. */
struct fc_event_ramp {
    uint64_t last;
    uint32_t step; /* >= 1 */
    uint16_t flits, extra;
};
struct fc_event_more { /* a ramp that follows the first one of its channel */
    struct fc_event_ramp ramp;
    uint32_t next; /* circular: the last one's next is the first */
};

/* The queue of a channel (the buffer at the link's target), half a cache line. `when` is the tick of the head's event
 * (flag DUE); with the queue empty it is the end of the transfer of the packet that left last. */
struct fc_event_channel {
    uint64_t when;
    uint32_t head, tail;
    uint32_t router; /* the link's target vertex */
    uint32_t link;
    uint16_t bit;             /* in masks of the channels into the router: port * n_vcs + vc */
    uint16_t queued;          /* flits, those on the wire too; valid where the buffer is below 2^16 */
    uint32_t flags : 8;       /* FC_EVENT_DUE ... */
    uint32_t tail_ready : 24; /* low bits of the tick at which the last packet will have arrived */
};
_Static_assert(sizeof(struct fc_event_channel) == 32 && sizeof(struct fc_event_packet) == 64, "cache lines");
/* Flags: the head has an event in the calendar; it waits for some of its choices; for all of them. */
enum { FC_EVENT_DUE = 1, FC_EVENT_WAITS = 2, FC_EVENT_ALL = 4 };

/* A link, seen from its source, half a cache line. Heads that wait for it are in sets, one a request group. */
struct fc_event_link {
    uint64_t busy_until;
    uint64_t wake;   /* tick of its one valid wake-up in the calendar; FC_EVENT_NEVER: none */
    uint64_t wanted; /* bit g: request group g is not empty; injection links: whether the node waits for tokens */
    uint32_t source; /* vertex */
    uint16_t turn;   /* round-robin pointer */
    uint8_t link_class;
    uint8_t kind : 2, port : 6; /* port: on an adaptive torus between routers, 2d + direction */
};
enum { FC_EVENT_INJECTION, FC_EVENT_BETWEEN, FC_EVENT_EJECTION };
/* A request group: heads that ask a link for the same, any of the channels `vcs` with room for k + 1 packets. A link
 * has these groups, each a set of heads (fc_event_waiting) and a bit of `wanted`:
 *
 *     0 ... FC_EVENT_GROUPS - 1        the (vcs, k) that the block has met first, in that order
 *     FC_EVENT_GROUPS + 2 vc + k       the single channel vc, with room for k + 1 packets
 *
 * A head whose (vcs, k) is not among the first joins the group of each of its channels. */
struct fc_event_request_group {
    uint16_t vcs; /* mask; 0: not in use yet */
    uint8_t k;
};
#define FC_EVENT_GROUPS 7

/* The tokens (credits) of a channel, kept at the link's source, half a cache line. Ramps follow each other in time
 * without overlap, because a channel sends one packet after the other. Tokens of a ramp in progress may be spent
 * already: `count` is negative then. */
struct fc_event_tokens {
    struct fc_event_ramp ramp; /* in progress; flits 0 and last 0: none */
    int32_t count;
    uint32_t more;     /* last of the ramps that follow; 0: none */
    uint32_t last;     /* low half of the tick at which the ramp before ended */
    uint32_t per_step; /* FC_EVENT_STEPS / step, rounded down */
};
#define FC_EVENT_STEPS (UINT64_C(1) << 31)
/* An element of the array of links: a link, then the tokens of its channels, so that what a head looks at lies together. */
union fc_event_lane {
    struct fc_event_link link;
    struct fc_event_tokens tokens;
};
_Static_assert(sizeof(union fc_event_lane) == 32, "half a cache line");
struct fc_event_times { /* of a link class */
    uint32_t flit, trailer, latency;
    uint32_t ready; /* latency and router */
    uint32_t token; /* latency and credit handling */
};

struct fc_event_node {
    struct fc_flit_source source;
    uint64_t when;         /* tick of its one valid event; FC_EVENT_NEVER */
    uint32_t vertex, link; /* link: its first */
};
