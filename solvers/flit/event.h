/* event.h - the state of the packet-event engine (event.c, event_wheel.c, event_router.c, event_node.c...).
 *
 * One thread owns a block: consecutive routers, the nodes on them, a time wheel, packets, and its outboxes of
 * messages to the other blocks. Every field has one owner, so that no two threads write the same bytes within a window:
 * of a channel (the buffer at a link's target) the target's block owns the queue, the source's block the
 * tokens. Over ranks (event_ranks.c) each has some of the blocks; arrays go by numbers of the whole network all the same, but
 * memory is used only for what belongs to a rank's own blocks: pages that nothing is written to take none. Two ways through it: any network (event_router.c, event_transfer.c, event_wait.c), and adaptive
 * tori (event_torus*.c). */
#pragma once

#include "solvers/flit/engine.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/route_adaptive.h"

struct fc_event_engine {
    struct fc_arena arena;
    const struct fc_flit_net *flit;
    const struct fc_flit_traffic *traffic;
    uint64_t seed, now;
    int n_blocks;                 /* of all ranks */
    int first_block, n_here;      /* those of this process: first_block ... first_block + n_here - 1 */
    const struct fc_ranks *ranks; /* NULL: all blocks are here */
    struct fc_event_peers *peers; /* with ranks: those that this one shares links with */
    bool over;                    /* with ranks: everywhere no packet is in flight and none is to come */
    uint64_t
        window; /* ticks between two exchanges of messages among the blocks: the least time in which one matters to another */
    uint32_t n_vcs;                 /* that a link may have; those between routers use the first n_network_vcs */
    uint32_t n_network_vcs, stride; /* stride: lanes of a link */
    uint32_t first_tokens;          /* lane of the tokens of channel 0 */
    int words;                      /* 64-bit words of a mask of the channels into a router */
    uint32_t full;                  /* flits of a full-size packet */
    uint32_t n_groups;              /* request groups of a link: FC_EVENT_GROUPS + 2 n_network_vcs */
    uint32_t paths;                 /* simultaneous transfers to routers out of an input port, the most of any port */
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
    struct fc_event_channel *channel; /* [n_links * n_network_vcs + n_more] see fc_event_channel_at */
    struct fc_event_arrived { /* of a channel's packets those known to be there, so that a look counts each once */
        uint32_t last, flits; /* the last of them, 0: none; their flits */
    } * arrived;              /* [as channel] where UGAL counts what waits in the router; else NULL */
    uint32_t *asked; /* [as head_channel] the link that the channel's head asks for, FC_NONE: empty; as `arrived` */
    struct fc_event_tokens *more_tokens; /* [n_more] of the further channels of injection links */
    uint32_t *more_at;                   /* [n_links] first of them */
    union fc_event_lane *lane;           /* [n_links * stride] */
    struct fc_event_node *node;          /* [n_nodes] */
    struct fc_event_times times[FC_MAX_CLASSES];
    uint64_t *waiting;       /* [n_links][n_groups][words] heads of each request group */
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
    struct fc_event_block *block;   /* [n_blocks] */
    struct fc_event_outbox *outbox; /* [2][n_here from][n_blocks to] */
    int parity;                     /* of the outboxes being written */
    struct fc_team *team;           /* its threads meet at the end of a window */
};

/* ---- event_run.c, event_report.c: as in fc_flit_engine_ops ---- */

enum fc_code fc_event_advance(void *engine, uint64_t until, struct fc_flit_state *state, struct fc_status *st);
enum fc_code fc_event_blocked(void *engine, struct fc_arena *arena, struct fc_flit_blocked **blocked, uint32_t *n,
                              uint32_t **wanted, struct fc_status *st);
bool fc_event_credits_full(const void *engine);

/* ---- event_ranks.c ---- */

/* Finds the ranks that this one shares links with. */
enum fc_code fc_event_peers_make(struct fc_event_engine *e, struct fc_status *st);
void fc_event_peers_free(struct fc_event_engine *e);
/* The end of a window, one thread: the outboxes of that parity for blocks of other ranks go to these, theirs come. */
void fc_event_exchange(struct fc_event_engine *e, int parity);
/* Takes in what other ranks sent to the block in the last exchange; once. */
void fc_event_read_ranks(struct fc_event_block *block);
/* What the blocks here add up to becomes what all blocks do. */
struct fc_event_totals {
    uint64_t packets, flits, live_sources, sources_waiting, out_of_memory; /* sums; packets and flits in flight */
    uint64_t last_move, last_delivery, longest_wait;                       /* greatest */
};
void fc_event_share(const struct fc_event_engine *e, struct fc_event_totals *totals);
/* What was exchanged so far, into the state. */
void fc_event_tell_exchanged(const struct fc_event_engine *e, struct fc_flit_state *state);
/* The lists of blocked heads of all ranks, in order of channels, on all of them. */
enum fc_code fc_event_gather_blocked(const struct fc_event_engine *e, struct fc_arena *arena,
                                     struct fc_flit_blocked **blocked, uint32_t *n, uint32_t **wanted,
                                     uint32_t n_wanted, struct fc_status *st);
/* event_inbox.c: what one block sent to this one. */
void fc_event_read_outbox(struct fc_event_block *block, const struct fc_event_arrival *arrival, uint32_t n_arrivals,
                          const struct fc_event_return *back, uint32_t n_back);

/* Whether the vertex belongs to a block of this process. */
static inline bool fc_event_here(const struct fc_event_engine *e, uint32_t vertex)
{
    return (uint32_t)e->vertex_block[vertex] - (uint32_t)e->first_block < (uint32_t)e->n_here;
}

/* ---- places in the arrays ---- */

/* What block `from`, one of this process, has for another. */
static inline struct fc_event_outbox *fc_event_outbox_at(const struct fc_event_engine *e, int parity, int from, int to)
{
    size_t row = (size_t)parity * (size_t)e->n_here + (size_t)(from - e->first_block);
    return &e->outbox[row * (size_t)e->n_blocks + (size_t)to];
}
static inline struct fc_event_link *fc_event_link(const struct fc_event_engine *e, uint32_t l)
{
    return &e->lane[(size_t)l * e->stride].link;
}
static inline struct fc_event_tokens *fc_event_tokens_of(const struct fc_event_engine *e, uint32_t l, uint32_t vc)
{
    if (vc >= e->n_network_vcs) return &e->more_tokens[e->more_at[l] + vc - e->n_network_vcs];
    return &e->lane[(size_t)l * e->stride + e->first_tokens + vc].tokens;
}
/* Channels of a link. */
static inline uint32_t fc_event_vcs_of(const struct fc_event_engine *e, uint32_t l)
{
    return fc_is_node(e->flit->net, e->flit->net->link_source[l]) ? e->n_vcs : e->n_network_vcs;
}
/* Place of a channel: injection links may have more of them than others, kept behind. */
static inline uint32_t fc_event_channel_at(const struct fc_event_engine *e, uint32_t l, uint32_t vc)
{
    uint32_t n = e->n_network_vcs;
    return vc < n ? l * n + vc : e->flit->n_links * n + e->more_at[l] + vc - n;
}
static inline uint32_t fc_event_ticks(const struct fc_event_engine *e, uint32_t link_class, uint32_t flits)
{
    return flits * e->times[link_class].flit + e->times[link_class].trailer;
}

/* The tick from which a packet whose head is through the router may start on the link: a flit that came by a slower one has
 * to be there whole. Towards a node the packet starts so late that it comes in one piece, no later for that. */
static inline uint64_t fc_event_may_start(const struct fc_event_engine *e, const struct fc_event_packet *packet,
                                          const struct fc_event_link *link)
{
    if (link->kind == FC_EVENT_EJECTION) {
        uint32_t ticks = fc_event_ticks(e, link->link_class, packet->flits);
        return packet->tail > ticks ? packet->tail - ticks : 0;
    }
    uint32_t came = e->times[packet->in_class].flit, goes = e->times[link->link_class].flit;
    return packet->ready + (came > goes ? came - goes : 0);
}

static inline uint32_t fc_event_per_step(const struct fc_event_engine *e, uint32_t step)
{
    return step == e->hop.flit ? e->hop_per_step : (uint32_t)(FC_EVENT_STEPS / step);
}

/* ---- masks of the channels into a router: mostly one word, so no calls for them ---- */

static inline void fc_event_clear(const struct fc_event_engine *e, uint64_t *mask)
{
    mask[0] = 0;
    for (int w = 1; w < e->words; w++) mask[w] = 0;
}
static inline void fc_event_copy(const struct fc_event_engine *e, uint64_t *to, const uint64_t *from)
{
    to[0] = from[0];
    for (int w = 1; w < e->words; w++) to[w] = from[w];
}

static inline bool fc_event_any(const struct fc_event_engine *e, const uint64_t *mask)
{
    uint64_t any = mask[0];
    for (int w = 1; w < e->words; w++) any |= mask[w];
    return any;
}
