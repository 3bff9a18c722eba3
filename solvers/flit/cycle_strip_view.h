/* cycle_strip_view.h - what the loops of cycle_strip.c read and count. */
#pragma once

#include "solvers/flit/cycle_strip.h"

#include <string.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define LOW(word) ((uint32_t)__builtin_ctzll(word))
typedef struct fc_cycle engine;
typedef struct fc_cycle_block block;

struct how { /* known when the loops are compiled */
    bool single, stage;
    uint32_t vc_bits;
};
/* What the loops read, by value: nothing that they write can be taken for it. */
struct view {
    uint64_t *slot, *wake;
    uint8_t *out, *want, *turn, *rank, *held, *able, *free, *busy;
    struct fc_strip_channel *channel;
    struct fc_strip_worm *worm;
    struct fc_strip_sender *sender;
    const struct fc_strip_back *back;
    uint16_t *bid;
    const uint16_t *ejects;
    uint8_t *vc_turn, *lost;
    uint32_t *waits, *asks, *list, *moves, *ejected;
    uint64_t **write;
    const uint32_t *node_sender;
    const struct fc_route_fields *route;
    const struct fc_flit_net *flit;
    const struct fc_flit_traffic *traffic;
    struct fc_cycle_node *node;
    struct fc_cycle_packet *packet;
    uint32_t *packet_src, *injected;
    struct fc_flit_view sees;
    uint64_t route_mask, hops_mask, hop; /* of a flit */
    uint64_t measure_from, measured;     /* window: first tick, length */
    uint32_t ring_bits, ring_mask, n_dims, first_router, n_routers, first_node, n_nodes;
    uint32_t out_mask, code_mask, field_bits, id_shift, last_bits;
    uint32_t injection_vcs, delivery_delay;
    uint32_t escape_vcs; /* mask of those whose flits are counted apart */
    bool plain, many_outs, looked_up, turns;
    uint64_t rank_of[FC_STRIP_VCS];
    uint8_t vcs[128];
};
struct sums { /* of a call */
    uint64_t last_move;
    uint32_t flits, packets, measured;           /* that enter the network; of the packets, those that are measured */
    uint32_t moved, ejected, escaped;            /* flits */
    uint32_t n_waits, n_asks, n_moves, n_ejects; /* in the lists of the tick */
};

INLINE void put(uint64_t *at, uint64_t flit)
{
    __atomic_store_n(at, flit, __ATOMIC_RELAXED);
}
INLINE uint64_t get(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}
INLINE void push(const struct view *w, uint32_t queue, uint64_t item)
{
    *w->write[queue]++ = item;
}
INLINE uint32_t sender_of(const struct view *w, uint32_t g)
{
    return g / FC_STRIP * FC_STRIP_SENDERS + w->out[g];
}
INLINE void is_busy(const struct view *w, uint32_t g)
{
    w->busy[g / FC_STRIP] = 1;
}

TARGET static struct view view_of(const block *b)
{
    const engine *e = b->engine;
    const struct fc_strips *x = e->strips;
    const struct fc_route_fields *r = &x->route;
    const struct fc_network *net = e->flit->net;
    int node_class = net->link_class[net->first_link[net->n_routers]];
    uint32_t field = r->out_bits + (uint32_t)r->code_bits,
             first = b->first_router * FC_STRIP + 64 * (uint32_t)(b - e->block);
    size_t list = x->n_list;
    struct view w = {
        .slot = x->slot,
        .wake = x->wake,
        .busy = x->busy + 32 * (size_t)(b - e->block),
        .out = x->out,
        .want = x->want,
        .turn = x->turn,
        .rank = x->rank,
        .held = x->held,
        .able = x->able,
        .free = x->free,
        .channel = x->channel,
        .worm = x->worm,
        .sender = x->sender,
        .back = x->back,
        .bid = x->bid,
        .vc_turn = x->vc_turn,
        .lost = x->lost,
        .many_outs = x->n_outs > 8,
        .ejects = x->ejects,
        .waits = x->waits + first,
        .asks = x->list + first,
        .list = x->list + 3 * list + first,
        .moves = x->list + list + first,
        .ejected = x->list + 2 * list + first,
        .write = b->write,
        .node_sender = x->node_sender,
        .route = r,
        .flit = e->flit,
        .traffic = e->traffic,
        .node = e->node,
        .packet = e->packet,
        .packet_src = e->packet_src,
        .injected = e->injected,
        .sees = fc_cycle_view(e),
        .route_mask = (1ull << r->bits) - 1,
        .hops_mask = ((1ull << r->hop_bits) - 1) << field,
        .hop = 1ull << field,
        .measure_from = b->counts->measure_from,
        .measured = b->counts->measure_to - b->counts->measure_from,
        .ring_bits = x->ring_bits,
        .ring_mask = (1u << x->ring_bits) - 1,
        .n_dims = (uint32_t)r->n_dims,
        .first_router = b->first_router,
        .n_routers = b->last_router - b->first_router,
        .first_node = b->n_nodes ? b->node[0] : 0,
        .n_nodes = b->n_nodes,
        .out_mask = (1u << r->out_bits) - 1,
        .code_mask = (1u << field) - 1,
        .field_bits = field + r->hop_bits,
        .id_shift = r->bits,
        .last_bits = field,
        .injection_vcs = e->flit->injection_vcs,
        .delivery_delay = e->delay_delivery[node_class][node_class],
        .escape_vcs = e->flit->adaptive ? (1u << e->flit->n_escape_vcs) - 1 : 0,
        .plain = x->plain,
        .looked_up = r->looked_up,
        .turns = x->turns,
    };
    memcpy(w.vcs, r->vcs, sizeof w.vcs);
    memcpy(w.rank_of, x->rank_of, sizeof w.rank_of);
    return w;
}
