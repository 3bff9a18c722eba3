/* cycle.h - the state of the cycle engine (cycle.c, cycle_step.c): every flit of every channel, tick by tick.
 */
#pragma once

#include "solvers/flit/counts.h"
#include "solvers/flit/engine.h"
#include "solvers/flit/prepared.h"
#include "solvers/flit/route_ops.h"
#include "solvers/flit/traffic.h"

static inline uint32_t fc_most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}
/* The least power of two that is not below n. */
static inline uint64_t fc_ceil_power_of_two(uint64_t n)
{
    uint64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

/* A flit: index of its packet, and whether it is the packet's first or last. */
#define FC_FLIT_HEAD 0x80000000u
#define FC_FLIT_TAIL 0x40000000u
#define FC_FLIT_FULL 0x20000000u /* tail: the packet was accounted as full size in the channel it sits in */
#define FC_FLIT_HOP 0x10000000u  /* it came from another router, as far as cycle_bits.c has moved it */
#define FC_FLIT_PACKET 0x0fffffffu
#define FC_NO_VC 0xff

struct fc_cycle_packet { /* half a cache line */
    struct fc_flit_head head;
    uint64_t born;
    uint32_t waited; /* ticks in the source queue */
    uint16_t flits, hops;
};
/* The record of a source's front packet, which leaves its queue at tick t; not random and route of its head. */
static inline void fc_cycle_packet_starts(struct fc_cycle_packet *packet, const struct fc_flit_source *source,
                                          uint64_t t, uint32_t hops)
{
    packet->head.dst = source->dst;
    packet->born = source->born;
    packet->waited = (uint32_t)(t - source->born);
    packet->flits = (uint16_t)source->flits;
    packet->hops = (uint16_t)hops;
}
/* One virtual channel of an input port. Flits behind the front lie in the ring. A channel that is not empty
 * is in exactly one of its port's masks. */
struct fc_cycle_channel {
    uint32_t front;       /* flit */
    uint32_t out;         /* link its packet leaves by; FC_NONE: adaptive, chosen at each attempt */
    uint16_t vcs;         /* virtual channels of it that the head may take */
    uint8_t out_vc;       /* the one it has; FC_NO_VC: none yet */
    uint8_t room_packets; /* of the choice, bit 7: accounted as full size */
    uint16_t count;       /* flits, the front included */
    uint16_t ring_head;
};
/* An input port: the receiver of a link into a router. Ports of a router are consecutive. */
struct fc_cycle_port {
    uint32_t router, link;               /* link into it */
    uint16_t ready;                      /* channels that may bid for the switch */
    uint16_t heads;                      /* channels whose head waits for a virtual channel (vc_stage) */
    uint16_t ready_asleep, heads_asleep; /* the same, waiting to be woken */
    uint16_t forks;                      /* channels whose packet is copied here (cycle_multicast.c) */
    uint16_t last_out;                   /* round robin over the router's outputs: last winner */
    uint16_t source_block;               /* block of the link's source */
    uint8_t last_vc, number;             /* round robin over channels; place among the router's ports */
    uint8_t busy;                        /* transfers in progress (links slower than a flit a tick) */
    uint8_t link_class;
    uint8_t paths; /* most transfers in progress */
};
/* An output: a link, with what its sender knows of the channels behind it. One cache line. */
struct fc_cycle_out {
    uint16_t credits[FC_FLIT_MOST_VCS];
    uint16_t free, credited;    /* channels that no packet holds, that have credits */
    uint8_t last_port, last_vc; /* round robins over input ports and over channels: last winners */
    uint8_t link_class;
    uint8_t busy : 1;        /* sending (links slower than a flit a tick) */
    uint8_t router_link : 1; /* between routers */
    uint8_t endless : 1;     /* to a node that takes in everything at once */
    uint8_t dozes : 1;       /* cycle_bits.c: some channel sleeps */
    uint32_t target;         /* first channel of the input port behind it; FC_NONE: ejection */
    uint16_t target_block;
    uint16_t holder; /* cycle_bits.c: input channel of the router that took the link last, port << vc_shift | vc */
    uint64_t asleep; /* input ports (of the first 64) that wait for something of this link */
    uint64_t sent;   /* since the last flush: flits in the low half, packets in the high half */
};
_Static_assert(sizeof(struct fc_cycle_out) == 64, "an output is one cache line");
/* Events that are due a fixed number of ticks after they were made: those of tick t stand together in the
 * ring, from start[t mod n_slots] on. Items: arrival flit << 32 | channel, credit number << 32 | link <<
 * vc_shift | vc, end of a transfer port << 32 | link. */
struct fc_cycle_queue {
    uint64_t *item;            /* [size] */
    uint32_t *count;           /* [n_slots] */
    uint64_t *start;           /* [n_slots] */
    uint64_t at, size, most;   /* next place; most items a tick */
    uint32_t slot_mask, delay; /* delay 0: not read */
};
#define FC_CYCLE_QUEUES (FC_MAX_CLASSES * (FC_MAX_CLASSES + 6))
enum { FC_QUEUE_ARRIVAL, FC_QUEUE_CREDIT, FC_QUEUE_FREE };

struct fc_cycle_node { /* a node that sends: the packet in progress and the source behind it */
    struct fc_flit_source source;
    uint32_t packet, link;
    uint16_t left; /* flits of the packet still to send; 0: none in progress */
    uint8_t vc, last_vc;
    uint64_t link_free; /* tick */
};

/* A proposal at an output (or output channel) while a router is arbitrated. */
struct fc_cycle_bid {
    uint64_t key;   /* least wins; UINT64_MAX: nobody yet */
    uint64_t route; /* of the choice, for heads */
    uint32_t channel, out;
    uint16_t vcs; /* of the output that the head may have; 0: the packet has its channel */
    uint8_t room_packets;
    bool fresh; /* bypass: the flit is a head that arrived at this tick in an empty channel */
};
/* A link's transmitter, where routers can be bypassed (cycle_bypass.h). */
struct fc_cycle_line {
    uint64_t free;     /* tick from which no flit granted so far is on the link */
    uint64_t asked_at; /* latest tick at which anyone asked for the link, and how many did then */
    uint32_t asked;
};
/* What lies in the reception queues of an ejection link (cycle_reception.c): a list of whole packets in the
 * order in which the node takes them. */
struct fc_cycle_intake {
    uint64_t busy_until;  /* tick: the node has taken the last of them */
    uint32_t first, last; /* packets; FC_NONE: none */
};
struct fc_cycle_taken { /* of a packet in a reception queue */
    uint64_t at;        /* tick: the node has taken it whole */
    uint32_t next;      /* packet */
    uint8_t vc;
};

struct fc_cycle_block { /* routers first .. last-1 with their nodes, one thread */
    struct fc_cycle *engine;
    struct fc_flit_counts *counts;
    uint32_t first_router, last_router;
    uint64_t *active;             /* bitmap of its routers with work */
    uint32_t *node;               /* [n_nodes] its nodes */
    uint32_t n_nodes, n_done;     /* nodes that have no packet to come */
    uint64_t *sending;            /* bitmap over node[] */
    uint64_t *under_way;          /* with rails: bitmap over node[] of those with a packet on its way; else NULL */
    uint32_t *wheel, *wheel_next; /* births: [wheel size] first node (place in node[]), next of each */
    struct fc_cycle_queue *queue; /* [n_blocks to][n_queues] written by this block */
    uint64_t **write;             /* [n_blocks to][n_queues] next place of this tick's items */
    uint32_t *free_packet;        /* stack */
    uint32_t n_free;
    struct fc_cycle_bid *bid; /* [most outputs * n_vcs] */
    uint64_t *bids;           /* [the same] of cycle_bits.c, between two routers all ones */
    uint32_t *bidder;         /* [the same] */
    uint32_t *touched;        /* [the same, and one] */
    uint64_t *vc_grant;       /* [most input channels] channels to make ready after the switch */
    uint64_t last_move;
    uint64_t hops;                       /* fast path: flit hops of this window */
    uint64_t occupied[FC_FLIT_MOST_VCS]; /* cycle_bits.c: flits that lie behind links from other routers */
    uint32_t n_waits;                    /* strips (cycle_strip.h) */
    uint64_t packets_in, packets_out, flits_in, flits_out;
    uint32_t *intake_wheel; /* [wheel size] first link whose node has taken a packet at that tick */
    uint64_t n_received;    /* whole packets in reception queues */
    uint64_t *high_sending; /* high priority: as sending, wheel and wheel_next */
    uint32_t *high_wheel, *high_next;
    bool out_of_packets;
};

struct fc_cycle {
    struct fc_arena arena;
    const struct fc_flit_net *flit;
    const struct fc_flit_traffic *traffic;
    uint64_t draws[4]; /* keys of random decisions */
    uint64_t now, last_move;
    int n_blocks, n_queues;
    uint32_t window; /* ticks between two meetings of the blocks */
    int vc_shift;    /* channel = port << vc_shift | vc, and link << vc_shift | vc */
    uint32_t ring_mask, ring_shift;
    uint32_t *first_port; /* [n_routers + 1] */
    uint32_t port_words;  /* words of 64 ports a router */
    struct fc_cycle_port *port;
    struct fc_cycle_channel *channel;
    struct fc_fast *fast;       /* NULL: the general path */
    struct fc_strips *strips;   /* small plain routers of the general path (cycle_strip.h); NULL: they are not */
    struct fc_cycle_bits *bits; /* general path: routers as words of bits (cycle_bits.c); NULL: as lists */
    struct fc_cycle_multicast *multicast; /* NULL: no packet is copied (cycle_multicast.h) */
    struct fc_cycle_out *out;             /* [n_links] */
    uint64_t *active_ports;               /* [n_routers][port_words] */
    uint64_t *asleep;                     /* [n_links][port_words - 1] beyond the first 64 */
    uint32_t *ring;                       /* [n_channels][ring size] flits behind the front */
    uint32_t *vc_last;                    /* [n_channels] vc_stage: last virtual channel won, link << 4 | vc */
    uint16_t *vc_rr;                /* [n_links << vc_shift] vc_stage: round robin over the router's input channels */
    struct fc_cycle_packet *packet; /* [n_packets] */
    uint32_t *packet_src;           /* [n_packets] node, for reports */
    bool *background;               /* [n_packets] of the background; NULL: there is none */
    uint32_t n_packets, fresh_packets; /* capacity; first never used */
    struct fc_cycle_node *node;        /* [n_nodes] */
    struct fc_cycle_node *rail;        /* [injection links] where nodes have several: packets in progress; else NULL */
    uint32_t first_rail;               /* first injection link */
    uint16_t *router_block;            /* [n_routers] */
    uint32_t delay_arrival[FC_MAX_CLASSES];                  /* between routers: grant to use in the next */
    uint32_t delay_injection[FC_MAX_CLASSES];                /* send of a node to use in the router */
    uint32_t delay_delivery[FC_MAX_CLASSES][FC_MAX_CLASSES]; /* grant to whole flit at the node, [class in][out] */
    uint32_t trailer[FC_MAX_CLASSES][FC_MAX_CLASSES];        /* that much later for the packet, with its trailer */
    bool slow[FC_MAX_CLASSES];                               /* a flit or trailer keeps the link longer than a tick */
    uint16_t queue_arrival[FC_MAX_CLASSES], queue_injection[FC_MAX_CLASSES];
    uint16_t queue_free[FC_MAX_CLASSES], queue_free_tail[FC_MAX_CLASSES];
    uint16_t queue_credit[FC_MAX_CLASSES][FC_MAX_CLASSES];                /* [class in][class out] */
    uint32_t queue_delay[FC_CYCLE_QUEUES], queue_period[FC_CYCLE_QUEUES]; /* ticks; least between two of one link */
    uint8_t queue_kind[FC_CYCLE_QUEUES];
    bool queue_inside[FC_CYCLE_QUEUES]; /* from a block to itself only, so that the delay may be below the window */
    struct fc_cycle_line *line;         /* [n_links]; NULL: no bypass */
    uint16_t *fresh, *passing;          /* [n_ports] channels whose head has just arrived; whose packet bypasses */
    uint32_t gain;                      /* ticks that a bypass saves */
    uint16_t queue_bypass[FC_MAX_CLASSES];
    struct fc_cycle_intake *intake; /* [n_links]; NULL: nodes take in everything at once */
    struct fc_cycle_taken *taken;   /* [n_packets] */
    uint32_t *intake_next;          /* [n_links] next on the wheel */
    uint16_t queue_taken[FC_MAX_CLASSES];
    struct fc_cycle_node *high; /* [n_nodes] packets of high priority; link_free is that of node[]; NULL: none */
    const struct fc_flit_traffic *high_traffic;
    uint32_t wheel_mask;
    uint64_t *link_flits, *link_packets;
    uint32_t *injected;
    struct fc_flit_counts *counts;
    struct fc_cycle_block *block; /* [n_blocks] */
    struct fc_team *team;         /* its threads meet at the end of a window */
};

/* Whether delays and sizes suit the engine (fc_flit_engine_ops); delays, windows and queue kinds; a block's
 * queue k for `links` links; 0: nothing ever comes by it, and it is not read (cycle_queues.c). */
bool fc_cycle_takes(const struct fc_flit_net *flit, char *why, size_t size);
void fc_cycle_set_delays(struct fc_cycle *engine);
enum fc_code fc_cycle_open_queue(struct fc_cycle *engine, struct fc_cycle_queue *queue, int k, uint64_t links,
                                 struct fc_status *st);
/* Finite reception queues (cycle_reception.c): memory; a packet is whole in the queue vc of an ejection link
 * at tick `arrived`; packets that nodes have taken at tick t. */
enum fc_code fc_cycle_open_intake(struct fc_cycle *engine, struct fc_status *st);
void fc_cycle_intake(struct fc_cycle_block *block, uint32_t link, uint32_t vc, uint32_t packet, uint64_t arrived,
                     uint64_t t);
void fc_cycle_take(struct fc_cycle_block *block, uint64_t t);
/* Packets of high priority (cycle_priority.c): memory and first births; births and flits of all nodes at tick
 * t. */
enum fc_code fc_cycle_open_high(struct fc_cycle_block *block, struct fc_status *st);
void fc_cycle_send_high(struct fc_cycle_block *block, uint64_t t);
/* Memory for the bypass (cycle_queues.c). */
enum fc_code fc_cycle_open_bypass(struct fc_cycle *engine, struct fc_status *st);
/* See struct fc_flit_engine_ops (cycle_report.c). */
enum fc_code fc_cycle_blocked(void *engine, struct fc_arena *arena, struct fc_flit_blocked **blocked, uint32_t *n,
                              uint32_t **wanted, struct fc_status *st);
bool fc_cycle_credits_full(const void *engine);
/* What UGAL sees at a source (cycle_inject.c). */
struct fc_flit_view fc_cycle_view(const struct fc_cycle *engine);
/* Simulates ticks [from, to) of one block; to - from is at most the window. */
void fc_cycle_block_run(struct fc_cycle_block *block, uint64_t from, uint64_t to);
/* One bit a virtual channel (cycle_bits.c): whether the engine is so plain; memory; events of a kind; routers at tick t. */
bool fc_cycle_has_bits(const struct fc_cycle *engine);
enum fc_code fc_cycle_bits_open(struct fc_cycle *engine, struct fc_status *st);
void fc_cycle_bits_events(struct fc_cycle *engine, struct fc_cycle_block *block, int kind, const uint64_t *item,
                          const uint64_t *stop);
void fc_cycle_bits_routers(struct fc_cycle *engine, struct fc_cycle_block *block, uint64_t t);
/* Samples buffer occupancy; starts and ends the window of the link counts. Called at each tick. */
void fc_cycle_watch(struct fc_cycle_block *block, uint64_t t);
/* Adds what the block's links sent since the last call to link_flits and link_packets (keep), or forgets it.
 */
void fc_cycle_flush_links(struct fc_cycle_block *block, bool keep);
/* Injection links of nodes that have several (cycle_rails.c), and a block's part of them. */
enum fc_code fc_cycle_open_rails(struct fc_cycle *engine, struct fc_status *st);
enum fc_code fc_cycle_open_rails_block(struct fc_cycle_block *block, struct fc_status *st);
/* Puts the node's front packet on the wheel at its birth, or among the sending nodes. `place`: in
 * block->node. */
static inline void fc_cycle_await_birth(struct fc_cycle_block *b, uint32_t place, uint64_t born, uint64_t now)
{
    uint32_t mask = b->engine->wheel_mask;
    if (__builtin_expect(born == UINT64_MAX, 0)) return;
    if (born <= now) {
        b->sending[place / 64] |= 1ull << place % 64;
        return;
    }
    /* Births beyond the wheel wait at its far end and are put in again there. */
    uint32_t slot = (uint32_t)(born - now > mask ? now + mask : born) & mask;
    b->wheel_next[place] = b->wheel[slot];
    b->wheel[slot] = place;
}
/* Births of tick t; those up to tick `now` are put among the sending nodes. */
static inline void fc_cycle_births(struct fc_cycle_block *b, uint64_t t, uint64_t now)
{
    uint32_t *slot = &b->wheel[t & b->engine->wheel_mask], place = *slot;
    const struct fc_cycle_node *node = b->engine->node;
    *slot = FC_NONE;
    while (place != FC_NONE) {
        uint32_t next = b->wheel_next[place];
        fc_cycle_await_birth(b, place, node[b->node[place]].source.born, now);
        place = next;
    }
}
/* The node's packet has left at tick t: the next of its source. `now` as above. */
static inline void fc_cycle_next_packet(struct fc_cycle_block *b, const struct fc_flit_traffic *traffic, uint32_t place,
                                        uint32_t n, struct fc_flit_source *source, uint64_t t, uint64_t now)
{
    fc_flit_next(traffic, n, source);
    uint64_t born = source->born;
    if (born <= t) return;
    b->n_done += born == UINT64_MAX;
    b->sending[place / 64] &= ~(1ull << place % 64);
    fc_cycle_await_birth(b, place, born, now);
}
/* Tick t begins, the first of a window: where the block writes to its queues from now on. */
static inline void fc_cycle_queues_start(struct fc_cycle_block *b, uint64_t t)
{
    for (uint32_t k = 0; k < (uint32_t)(b->engine->n_blocks * b->engine->n_queues); k++) {
        struct fc_cycle_queue *q = &b->queue[k];
        if (q->at + q->most > q->size) q->at = 0;
        q->start[t & q->slot_mask] = q->at;
        b->write[k] = q->item + q->at;
    }
}
/* Tick t ends, the next begins. */
static inline void fc_cycle_queues_turn(struct fc_cycle_block *b, uint64_t t)
{
    const uint32_t n = (uint32_t)(b->engine->n_blocks * b->engine->n_queues);
    struct fc_cycle_queue *q = b->queue;
    uint64_t **write = b->write;
    for (uint32_t k = 0; k < n; k++, q++) {
        uint64_t at = (uint64_t)(write[k] - q->item);
        q->count[t & q->slot_mask] = (uint32_t)(at - q->at);
        if (at + q->most > q->size) {
            at = 0;
            write[k] = q->item;
        }
        q->start[(t + 1) & q->slot_mask] = q->at = at;
    }
}
/* A record for a packet. FC_NONE: none left. */
static inline uint32_t fc_cycle_record(struct fc_cycle_block *b)
{
    if (b->n_free) return b->free_packet[--b->n_free];
    uint32_t id = __atomic_fetch_add(&b->engine->fresh_packets, 1, __ATOMIC_RELAXED);
    if (id < b->engine->n_packets) return id;
    b->out_of_packets = true;
    return FC_NONE;
}
/* To be called before fc_cycle_end_packet for a packet that came by channel vc: counts it where it is of high
 * priority. */
static inline void fc_cycle_end_high(struct fc_cycle_block *b, uint32_t id, uint32_t vc, uint64_t arrived)
{
    const struct fc_cycle_packet *packet = &b->engine->packet[id];
    if (b->engine->flit->high_vcs >> vc & 1)
        fc_flit_count_apart(b->counts, packet->born, packet->born + packet->waited, arrived);
}
/* The packet is whole at its node at tick `arrived`. */
static inline void fc_cycle_end_packet(struct fc_cycle_block *b, uint32_t id, uint64_t arrived)
{
    const struct fc_cycle_packet *packet = &b->engine->packet[id];
    uint64_t entered = packet->born + packet->waited;
    if (__builtin_expect(b->engine->background && b->engine->background[id], 0))
        fc_flit_count_background(b->counts, packet->born, entered, arrived, packet->flits);
    else
        fc_flit_count_delivery(b->counts, packet->born, entered, arrived, packet->hops);
    b->packets_out++;
    b->free_packet[b->n_free++] = id;
}
