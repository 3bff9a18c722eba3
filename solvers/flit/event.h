/* event.h - the state of the packet-event engine (event.c, event_wheel.c, event_router.c, event_node.c...).
 *
 * One thread owns a block: consecutive routers, the nodes on them, a time wheel, packets, and what it tells
 * the other blocks. Every field has one owner, so that no two threads write the same bytes within a window:
 * of a channel (the buffer at a link's target) the target's block owns the queue, the source's block the
 * tokens. Two ways through it: any network (event_router.c, event_transfer.c, event_wait.c), and adaptive
 * tori (event_torus*.c). */
#ifndef FC_EVENT_H
#define FC_EVENT_H

#include "solvers/flit/event_wheel.h"
#include "solvers/flit/kernel.h"
#include "solvers/flit/route_adaptive.h"

#define FC_EVENT_NEVER UINT64_MAX

/* A packet, one cache line. */
struct fc_event_packet {
    uint64_t route, born, entered; /* entered: start on the injection link */
    uint64_t ready;                /* tick from which it may start on its next link */
    uint64_t tail; /* a link that takes p ticks for it may not start before tail - p: it would run dry */
    uint32_t dst, random, src;
    uint32_t next; /* behind it in the channel; free list */
    uint16_t flits, hops;
    uint16_t held;    /* tokens it took of the channel it sits in */
    uint8_t in_class; /* class of the link it came by */
    bool background;
};

/* Tokens that come back one by one, `step` ticks apart, the last of `flits` at `last`, together with `extra`
 * more. */
struct fc_event_ramp {
    uint64_t last;
    uint32_t step; /* >= 1 */
    uint16_t flits, extra;
};
struct fc_event_more { /* a ramp behind the first of its channel */
    struct fc_event_ramp ramp;
    uint32_t next; /* circular: the last one's next is the first */
};

/* The queue of a channel, half a cache line. `when` is the tick of the head's event (flag DUE), or, with the
 * queue empty, the end of the transfer of the packet that left last. */
struct fc_event_channel {
    uint64_t when;
    uint32_t head, tail;
    uint32_t router; /* the link's target vertex */
    uint32_t link;
    uint16_t bit;             /* place among the channels into the router: port * n_vcs + vc */
    uint16_t queued;          /* flits, those on the wire too; of use where the buffer is below 2^16 */
    uint32_t flags : 8;       /* FC_EVENT_DUE ... */
    uint32_t tail_ready : 24; /* low bits of the tick at which the last packet will have arrived */
};
_Static_assert(sizeof(struct fc_event_channel) == 32 && sizeof(struct fc_event_packet) == 64, "cache lines");
/* Flags: event in the calendar; head registered on something; on everything that it may ask for. */
enum { FC_EVENT_DUE = 1, FC_EVENT_WAITS = 2, FC_EVENT_ALL = 4 };

/* A link, seen from its source, half a cache line. Heads that wait for it are in sets, one a slot: see
 * fc_event_group. */
struct fc_event_link {
    uint64_t busy_until;
    uint64_t wake;   /* tick of the one valid wake-up in the calendar; FC_EVENT_NEVER */
    uint64_t wanted; /* slots that are not empty; injection links: whether the node waits for tokens */
    uint32_t source; /* vertex */
    uint16_t turn;   /* round robin */
    uint8_t link_class;
    uint8_t kind : 2, port : 6; /* port: on an adaptive torus between routers, 2d + direction */
};
enum { FC_EVENT_INJECTION, FC_EVENT_BETWEEN, FC_EVENT_EJECTION };
/* What the heads of a slot would take: any of `vcs` that has room for k + 1 packets. The first slots are for
 * the groups that a block has met first; slot FC_EVENT_GROUPS + 2 vc + k is for a single channel. */
struct fc_event_group {
    uint16_t vcs; /* 0: not in use yet */
    uint8_t k;
};
#define FC_EVENT_GROUPS 7

/* The tokens of a channel, kept at the link's source, half a cache line. Ramps follow each other in time
 * without overlap: a channel sends one packet after the other. `count` may be negative while a ramp that was
 * spent on is in progress. */
struct fc_event_tokens {
    struct fc_event_ramp ramp; /* flits 0 and last 0: none */
    int32_t count;
    uint32_t more;     /* last of the further ramps; 0: none */
    uint32_t last;     /* low half of the tick at which the ramp before ended */
    uint32_t per_step; /* FC_EVENT_STEPS / step, rounded down */
};
#define FC_EVENT_STEPS (UINT64_C(1) << 31)
/* A link and then its channels' tokens: what a head looks at lies together. */
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

/* What one block tells another within a window. */
struct fc_event_arrival {
    struct fc_event_packet packet;
    uint32_t channel;
};
struct fc_event_return {
    struct fc_event_ramp ramp;
    uint32_t link, vc;
};
struct fc_event_mail {
    struct fc_event_arrival *arrival;
    struct fc_event_return *back;
    uint32_t n_arrivals, arrival_capacity, n_back, back_capacity;
};

/* A router with events at the present tick. */
struct fc_event_dirty {
    uint32_t router, n, word;
    uint32_t more; /* notes with the other events; 0: none */
};
struct fc_event_note {
    uint32_t word, next;
};
/* A head that takes part in the arbitration of a router. */
struct fc_event_bid {
    uint32_t channel;
    uint32_t first_choice, n_choices;
    int32_t choice; /* picked; -1: none available */
    uint32_t link;  /* picked and not decided yet; FC_NONE */
    uint16_t bit;
    uint8_t vc;
    bool out; /* has moved, or waits */
};

struct fc_event;
struct fc_event_block {
    struct fc_event *engine;
    struct fc_flit_counts *counts;
    int index, parity;                  /* parity: of the mail it writes */
    uint32_t first_router, last_router; /* routers first .. last-1 */
    struct fc_event_group group[FC_EVENT_GROUPS];
    uint64_t well_within; /* a packet that starts less than so long after measure_from is all measured */
    struct fc_event_wheel wheel;
    struct fc_event_packet *packet; /* [packet_capacity], 0 unused */
    uint32_t n_packets, packet_capacity, free_packet;
    struct fc_event_more *more; /* [more_capacity], 0 unused */
    uint32_t n_more, more_capacity, free_more;
    struct fc_event_dirty *dirty; /* [routers of the block] */
    uint32_t n_dirty;
    struct fc_event_note *note;
    uint32_t n_notes, note_capacity;
    struct fc_event_bid *bid;      /* [most channels into a router] */
    struct fc_flit_choice *choice; /* [FC_EVENT_BATCH + most channels into a router + 1][FC_FLIT_MOST_CHOICES] */
    uint32_t n_bids, n_choices;
    uint64_t *mask;   /* [5][words] scratch */
    uint16_t *bid_at; /* [64 * words] bid of a channel's bit */
    uint32_t *woken;  /* [most links out of a router] scratch */
    uint32_t *words;  /* [n_words] events of a tick */
    struct fc_event_at {
        uint32_t word, vertex;
    } * head, *other; /* [n_words] the same: heads, links and nodes */
    uint32_t n_words;
    uint64_t until; /* end of the present call of advance */
    struct fc_event_landing {
        uint64_t tick, born, entered;
        uint16_t hops, flits;
        bool background;
    } * landing; /* [landing_capacity] packets that arrive at or after `until` */
    uint32_t n_landings, landing_capacity;
    uint64_t packets_in, packets_out, flits_in, flits_out, live_sources;
    struct fc_event_report {
        uint64_t packets_in, packets_out, live_sources;
        bool out_of_memory;
    } report[2];
    uint64_t last_move, last_delivery;
    bool out_of_memory;
    char padding[64];
};

struct fc_event {
    struct fc_arena arena;
    const struct fc_flit_net *flit;
    const struct fc_flit_traffic *traffic;
    uint64_t seed, now;
    int n_blocks;
    uint64_t window;                /* ticks between two meetings of the blocks */
    uint32_t n_vcs;                 /* that a link may have; those between routers use the first n_network_vcs */
    uint32_t n_network_vcs, stride; /* stride: lanes of a link */
    uint32_t first_tokens;          /* lane of the tokens of channel 0 */
    int words;                      /* 64-bit words of a mask of the channels into a router */
    uint32_t full;                  /* flits of a full-size packet */
    uint32_t n_slots;               /* of a link: FC_EVENT_GROUPS + 2 n_network_vcs */
    uint32_t paths;                 /* transfers to routers that an input port has paths for, the most of any */
    uint32_t first_unlimited;       /* links from here on have a path for every channel */
    bool few_paths, longest_queue;
    bool elects_of_word; /* at random or the longest queue, of masks of one word */
    bool is_large;       /* the state does not fit a core's cache */
    bool short_times;    /* packets arrive within 2^23 ticks, and buffers hold less than 2^16 flits */
    uint32_t in_network_share, longest_queue_share; /* of decisions, in 2^-24 */
    bool is_adaptive_torus;
    struct fc_route_adaptive adaptive; /* its routing */
    struct fc_event_times injection, hop, ejection;
    uint32_t hop_class, hop_per_step, eject_per_step;
    bool in_turn, direct; /* round robin; no link is so fast that a token could be back at once */
    bool is_usual;        /* of the shape of FC_EVENT_USUAL */
    uint32_t router_ticks;
    uint32_t escape_vc[2], escape_need[2]; /* by kind: tokens that it takes (bubble: to go on, to enter) */
    uint8_t *range;  /* [buffer_flits + 1] of so many flits: the quarter of the buffer that they reach into */
    uint32_t *score; /* [buffer_flits + 1] what an output with so many tokens is worth to a head */
    uint64_t *worth; /* [buffer_flits + 1] from bit 32: score + 1 where a full-size packet has room, else 0 */
    struct fc_event_channel *channel;    /* [n_links * n_network_vcs + n_more] see fc_event_channel_at */
    struct fc_event_tokens *more_tokens; /* [n_more] of the further channels of injection links */
    uint32_t *more_at;                   /* [n_links] first of them */
    union fc_event_lane *lane;           /* [n_links * stride] */
    struct fc_event_node *node;          /* [n_nodes] */
    struct fc_event_times times[FC_MAX_CLASSES];
    uint64_t *waiting;       /* [n_links][n_slots][words] */
    uint64_t *sent;          /* [n_links] flits << 32 | packets in the measurement, not reported yet */
    uint64_t *port_busy;     /* [n_routers][port_stride] adaptive tori: busy_until of the link of each port */
    uint64_t *escape_wanted; /* [n_routers][port_stride][2] there `wanted` of a link is the set of all heads that
                           wait for it; those that would take an escape are here too, by kind of need */
    uint32_t port_stride;
    uint64_t *path_end;      /* [n_links][paths] end of the transfer that holds it, NEVER: none; if few_paths */
    uint64_t *eject_end;     /* [n_links] end of the port's transfer to a node */
    uint64_t *injected_mask; /* [n_routers][words] channels of injection links */
    uint32_t *head_first;    /* [n_routers + 1] */
    uint32_t *head_channel;  /* [head_first[n_routers]] channel of each bit of the router's masks */
    uint16_t *bit_port;      /* [64 * words] */
    uint8_t *bit_vc;         /* [64 * words] */
    uint64_t *stamp;         /* [n_routers + n_nodes] 2 last tick with events, + 1: with several */
    uint32_t *dirty_at;      /* [n_routers] place in the block's list, if that place names the router */
    uint8_t *port_turn;      /* [n_links] round robin among the channels of a port */
    uint16_t *vertex_block;  /* [n_routers + n_nodes] */
    uint64_t *link_flits, *link_packets;
    uint32_t *injected;
    struct fc_event_block *block; /* [n_blocks] */
    struct fc_event_mail *mail;   /* [2][n_blocks from][n_blocks to] */
    int parity;                   /* of the mail being written */
    struct fc_team *team;         /* its threads meet at the end of a window */
};

/* ---- event_report.c ------------------------------------------------------------ */

/* As in fc_flit_engine_ops. */
enum fc_code fc_event_blocked(void *engine, struct fc_arena *arena, struct fc_flit_blocked **blocked, uint32_t *n,
                              uint32_t **wanted, struct fc_status *st);
bool fc_event_credits_full(const void *engine);

/* ---- event_run.c ------------------------------------------------------------ */

/* As fc_flit_engine_ops.advance. */
enum fc_code fc_event_advance(void *engine, uint64_t until, struct fc_flit_state *state, struct fc_status *st);

/* ---- event_wait.c ------------------------------------------------------------ */

/* The tick at which there are `need` tokens, as far as is known; 0: now. */
uint64_t fc_event_token_tick(const struct fc_event_block *block, const struct fc_event_tokens *tokens, uint32_t need);
/* Adds the ramp that ended to the count, and goes on with the next. */
void fc_event_next_ramp(struct fc_event_block *block, struct fc_event_tokens *tokens);
/* Puts a ramp behind the one in progress. */
void fc_event_add_behind(struct fc_event_block *block, struct fc_event_tokens *tokens,
                         const struct fc_event_ramp *ramp);
/* Wakes those who wait for tokens of the channel, of which some are on their way. */
void fc_event_wake_for_tokens(struct fc_event_block *block, uint32_t link, uint32_t vc,
                              const struct fc_event_ramp *ramp);
/* Wakes the link when one of its waiters may next be served. Those that could be served now wait for a path:
 * they have an event of their own. */
void fc_event_rearm(struct fc_event_block *block, uint32_t link);
/* The head of channel c, for which none of the choices is available, waits for them; or does no more. */
void fc_event_wait(struct fc_event_block *block, uint32_t c, const struct fc_flit_choice *choice, int n);
void fc_event_stop_waiting(struct fc_event_block *block, uint32_t bit, const struct fc_flit_choice *choice, int n);
/* Heads that wait for the link and that it could take now; whether there are any. */
bool fc_event_eligible(struct fc_event_block *block, uint32_t link, uint64_t *mask);

/* ---- event_transfer.c ------------------------------------------------------------ */

/* A packet is on its way to a channel whose link ends in this block. */
void fc_event_append(struct fc_event_block *block, uint32_t channel, uint32_t packet);
/* A packet starts on an injection link. */
void fc_event_depart(struct fc_event_block *block, uint32_t link, uint32_t vc, uint32_t packet);
/* The head of channel c takes a choice. */
void fc_event_send(struct fc_event_block *block, uint32_t c, const struct fc_flit_choice *choice, uint32_t vc,
                   bool waited);

/* The same to another block: the packet's copy, and tokens. */
void fc_event_post_arrival(struct fc_event_block *block, int to, uint32_t channel, uint32_t packet);
void fc_event_post_return(struct fc_event_block *block, int to, uint32_t link, uint32_t vc,
                          const struct fc_event_ramp *ramp);

/* ---- event_count.c ------------------------------------------------------------ */

/* A packet that starts on the link now, near a border of the measurement. */
void fc_event_count_edge(struct fc_event_block *block, uint32_t link, uint32_t flits, uint32_t flit_ticks);
void fc_event_count_occupancy_at_edge(struct fc_event_block *block, uint64_t arrived, uint32_t vc, uint64_t n,
                                      int64_t slower);
/* By intervals: flits on their way to a channel between routers; a return; whether it is this tick's token
 * that lets a head that waited move. */
void fc_event_count_intervals(struct fc_event_block *block, uint32_t flits, uint32_t flit_ticks, int vc);
void fc_event_count_return(struct fc_event_block *block, uint64_t tick);
void fc_event_count_unblocked(struct fc_event_block *block, struct fc_event_tokens *tokens);

/* ---- event_elect.c ------------------------------------------------------------ */

/* One of the heads of the mask (not empty; overwritten): phases 2 and 3 in one where they ask for the same
 * output. */
uint32_t fc_event_elect(struct fc_event_block *block, uint32_t router, uint64_t *mask, uint32_t turn, uint64_t random);
#define FC_EVENT_SALT_PICK 0x9e3779b97f4a7c15u
#define FC_EVENT_SALT_ELECT 0xd1342543de82ef95u
static inline uint64_t fc_event_spread(uint64_t x)
{
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

/* ---- event_torus*.c: see event_torus.h too ------------------------------------------------------------ */

/* As fc_event_append, fc_event_inject and fc_event_take_return. */
void fc_event_torus_append(struct fc_event_block *block, uint32_t channel, uint32_t packet);
void fc_event_torus_inject(struct fc_event_block *block, uint32_t node);
void fc_event_torus_return(struct fc_event_block *block, uint32_t link, uint32_t vc, const struct fc_event_ramp *ramp);
/* Moves the head of channel c, alone at its router, or lets it wait. */
void fc_event_torus_alone(struct fc_event_block *block, uint32_t c);
/* Deals with those of a tick's n events, block->words, that are alone at their vertices; returns how many are
 * left at the front. */
uint32_t fc_event_torus_direct(struct fc_event_block *block, uint32_t n);
/* Several heads and links have events at the router. */
void fc_event_torus_contend(struct fc_event_block *block, const struct fc_event_dirty *dirty);
/* The link got free, or tokens behind it, and nothing else happened at the router: one of those that wait for
 * it moves. Masks of one word only. */
void fc_event_torus_serve(struct fc_event_block *block, uint32_t router, uint32_t link);
/* Calls what it will look at into the cache. */
void fc_event_torus_prefetch(const struct fc_event_block *block, const struct fc_event_channel *channel);

/* ---- event_router.c ------------------------------------------------------------ */

/* Decides what moves at n <= FC_EVENT_BATCH routers at this tick. */
#define FC_EVENT_BATCH 8
void fc_event_arbitrate(struct fc_event_block *block, const struct fc_event_dirty *dirty, uint32_t n);

/* Half a cache line or whole ones. */
static inline uint32_t fc_event_port_stride(uint32_t n_dims)
{
    return n_dims <= 2 ? 4 : n_dims <= 4 ? 8 : 16;
}

/* ---- what all of them need ------------------------------------------------------------ */

static inline struct fc_event_link *fc_event_link(const struct fc_event *e, uint32_t l)
{
    return &e->lane[(size_t)l * e->stride].link;
}
static inline struct fc_event_tokens *fc_event_tokens_of(const struct fc_event *e, uint32_t l, uint32_t vc)
{
    if (vc >= e->n_network_vcs) return &e->more_tokens[e->more_at[l] + vc - e->n_network_vcs];
    return &e->lane[(size_t)l * e->stride + e->first_tokens + vc].tokens;
}
/* Channels of a link. */
static inline uint32_t fc_event_vcs_of(const struct fc_event *e, uint32_t l)
{
    return fc_is_node(e->flit->net, e->flit->net->link_source[l]) ? e->n_vcs : e->n_network_vcs;
}
/* Place of a channel: injection links may have more of them than others, kept behind. */
static inline uint32_t fc_event_channel_at(const struct fc_event *e, uint32_t l, uint32_t vc)
{
    uint32_t n = e->n_network_vcs;
    return vc < n ? l * n + vc : e->flit->n_links * n + e->more_at[l] + vc - n;
}
static inline uint32_t fc_event_ticks(const struct fc_event *e, uint32_t link_class, uint32_t flits)
{
    return flits * e->times[link_class].flit + e->times[link_class].trailer;
}

static inline uint32_t fc_event_per_step(const struct fc_event *e, uint32_t step)
{
    return step == e->hop.flit ? e->hop_per_step : (uint32_t)(FC_EVENT_STEPS / step);
}

/* Tokens there are at `now`. Changes nothing: what came back is added up when the next return comes. */
int32_t fc_event_count_many(const struct fc_event_block *block, const struct fc_event_tokens *t, uint64_t now);
static inline int32_t fc_event_count(const struct fc_event_block *block, const struct fc_event_tokens *t, uint64_t now)
{
    if (t->more) return fc_event_count_many(block, t, now);
    uint64_t span = (uint64_t)t->ramp.flits * t->ramp.step, ahead = t->ramp.last - now;
    uint64_t left = ahead & ~(uint64_t)((int64_t)ahead >> 63); /* branches would be random ones */
    int32_t missing = (int32_t)(t->ramp.extra & -(uint32_t)(left != 0));
    left = left > span ? span : left;
    missing += (int32_t)(((uint32_t)left + t->ramp.step - 1) / t->ramp.step);
    return t->count + t->ramp.flits + t->ramp.extra - missing;
}

/* Tokens on their way to a channel whose link starts in this block. */
static inline void fc_event_take_return(struct fc_event_block *block, uint32_t l, uint32_t vc,
                                        const struct fc_event_ramp *ramp)
{
    struct fc_event_tokens *t = fc_event_tokens_of(block->engine, l, vc);
    while (t->ramp.flits && block->wheel.now >= t->ramp.last) fc_event_next_ramp(block, t);
    if (t->ramp.flits)
        fc_event_add_behind(block, t, ramp);
    else
        t->ramp = *ramp;
    if (fc_event_link(block->engine, l)->wanted) fc_event_wake_for_tokens(block, l, vc, ramp);
}

/* The head of channel c is looked at again at `tick`. */
static inline void fc_event_head_due(struct fc_event_block *block, uint32_t c, uint64_t tick)
{
    struct fc_event_channel *channel = &block->engine->channel[c];
    if ((channel->flags & FC_EVENT_DUE) && channel->when <= tick) return;
    channel->flags |= FC_EVENT_DUE;
    channel->when = tick;
    fc_event_push(&block->wheel, tick, FC_EVENT_CHANNEL, c);
}

static inline void fc_event_wake_at(struct fc_event_block *block, uint32_t l, struct fc_event_link *link, uint64_t tick)
{
    if (tick >= link->wake) return;
    link->wake = tick;
    fc_event_push(&block->wheel, tick, FC_EVENT_LINK, l);
}

/* The slots for heads that would take any of `vcs`: one, or one for each channel when the block's groups are
 * others. */
static inline uint64_t fc_event_slots(struct fc_event_block *block, uint32_t vcs, uint32_t k)
{
    for (uint32_t i = 0; i < FC_EVENT_GROUPS; i++) {
        struct fc_event_group *g = &block->group[i];
        if (g->vcs == vcs && g->k == k) return 1ull << i;
        if (g->vcs) continue;
        *g = (struct fc_event_group){(uint16_t)vcs, (uint8_t)k};
        return 1ull << i;
    }
    uint64_t slots = 0;
    for (; vcs; vcs &= vcs - 1) slots |= 1ull << (FC_EVENT_GROUPS + 2 * (uint32_t)__builtin_ctz(vcs) + k);
    return slots;
}

/* Heads in the slot of a link. */
static inline uint64_t *fc_event_waiting(const struct fc_event *e, uint32_t l, uint32_t slot)
{
    return &e->waiting[((size_t)l * e->n_slots + slot) * (size_t)e->words];
}

/* Whether the head's input port has a path free to links of that kind; if not, `until` is when it will. A
 * path is held while a packet crosses. Links to nodes have a path of their own in every port. */
static inline bool fc_event_path_free(const struct fc_event *e, uint32_t in_link, int kind, uint64_t now,
                                      uint64_t *until)
{
    *until = e->eject_end[in_link];
    if (kind == FC_EVENT_EJECTION) return *until <= now;
    if (!e->few_paths || in_link >= e->first_unlimited) return true;
    const uint64_t *end = &e->path_end[(size_t)in_link * e->paths];
    if (e->paths == 2) {
        *until = end[1] < end[0] ? end[1] : end[0];
        return *until <= now;
    }
    *until = FC_EVENT_NEVER;
    for (uint32_t i = 0; i < e->paths; i++) {
        if (end[i] <= now) return true;
        if (end[i] < *until) *until = end[i];
    }
    return false;
}

static inline void fc_event_take_path(struct fc_event *e, uint32_t in_link, int kind, uint64_t now, uint64_t end)
{
    if (kind == FC_EVENT_EJECTION) {
        e->eject_end[in_link] = end;
        return;
    }
    if (!e->few_paths || in_link >= e->first_unlimited) return;
    uint64_t *path = &e->path_end[(size_t)in_link * e->paths];
    if (e->paths == 2) {
        path[path[1] < path[0]] = end;
        return;
    }
    while (*path > now) path++;
    *path = end;
}

/* n flits that were in a buffer leave it, one in out_ticks. */
static inline void fc_event_count_occupancy(struct fc_event_block *block, const struct fc_event_packet *packet,
                                            uint32_t vc, uint64_t n, uint32_t out_ticks)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now, arrived = packet->ready - block->engine->router_ticks;
    int64_t slower = (int64_t)out_ticks - (int64_t)block->engine->times[packet->in_class].flit;
    if (arrived < counts->measure_from || now >= counts->measure_to || slower)
        fc_event_count_occupancy_at_edge(block, arrived, vc, n, slower);
    else
        counts->occupancy_flit_ticks[vc] += (now - arrived) * n;
}

/* Masks are mostly one word: no calls for them. */
static inline void fc_event_clear(const struct fc_event *e, uint64_t *mask)
{
    mask[0] = 0;
    for (int w = 1; w < e->words; w++) mask[w] = 0;
}
static inline void fc_event_copy(const struct fc_event *e, uint64_t *to, const uint64_t *from)
{
    to[0] = from[0];
    for (int w = 1; w < e->words; w++) to[w] = from[w];
}

static inline bool fc_event_any(const struct fc_event *e, const uint64_t *mask)
{
    uint64_t any = mask[0];
    for (int w = 1; w < e->words; w++) any |= mask[w];
    return any;
}

/* ---- event_node.c ------------------------------------------------------------ */

/* Sends what the node can send at this tick. */
void fc_event_inject(struct fc_event_block *block, uint32_t node);
/* A packet will have arrived whole at `tick`. Nothing depends on that, so it is counted at once when the call
 * of advance reaches that far, and needs no event. Frees it. */
void fc_event_deliver(struct fc_event_block *block, uint32_t packet, uint64_t tick);
/* Counts those that the new `until` reaches. */
void fc_event_land(struct fc_event_block *block);
/* A packet off the free list; 0 when out of memory. */
uint32_t fc_event_new_packet(struct fc_event_block *block);

static inline struct fc_event_mail *fc_event_mail_to(struct fc_event_block *block, int to)
{
    struct fc_event *e = block->engine;
    return &e->mail[((size_t)block->parity * (size_t)e->n_blocks + (size_t)block->index) * (size_t)e->n_blocks +
                    (size_t)to];
}

/* Random bits for (seed, router, tick, salt): a pure function, so that threads do not matter. The finaliser
 * of splitmix64 (Steele, Lea & Flood, OOPSLA 2014) of a linear combination. */
static inline uint64_t fc_event_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
static inline uint64_t fc_event_random(const struct fc_event_block *block, uint32_t router, uint32_t salt)
{
    uint64_t place = (uint64_t)router << 32 | salt;
    return fc_event_mix(block->engine->seed + place * 0xda942042e4dd58b5u + block->wheel.now * 0x9e3779b97f4a7c15u);
}

#endif
