/* cycle_fast_run.h - the cycle engine's tick for simple routers, several times as fast as cycle_step.c and
 * equal to it.
 *
 * Simple (fc_cycle_is_simple): a torus or mesh routed in dimension order; every link moves a flit a tick, one
 * transfer an input port at a time, virtual channels allocated with the switch, round robin. Then a flit
 * carries its route, and a tick is
 *
 *   credits that come back; flits that nodes send, one by one; flits that arrive and allocation, 64 routers
 * at once (cycle_fast_allocate.h); the flits that were granted an output move, one by one.
 *
 * The work by the flit has no branch that depends on traffic but the ends of its loops. Model, timing and
 * tie-breaks are those of cycle_step.c; tests hold the two against each other. */
#pragma once

#include "solvers/flit/cycle_fast_allocate.h"

#include <string.h>

#define LOW(word) ((uint32_t)__builtin_ctzll(word))
#define INLINE FC_INLINE
/* Checked: one copy for all kinds and sizes. Six of them took four times as long to compile as all their tests. */
#ifndef __SANITIZE_ADDRESS__
#define RUN INLINE
#elif defined FC_FAST_TARGET
#define RUN FC_FAST_TARGET __attribute__((noinline)) static
#else
#define RUN static __attribute__((noinline))
#endif
typedef struct fc_cycle engine;
typedef struct fc_cycle_block block;

/* What the loops read, by value: nothing that they write can be taken for it. */
struct view {
    struct fc_fast_rows rows;
    uint8_t *chunks, *returned;
    const uint8_t *next_vc;
    uint64_t *slots;
    uint8_t *arriving;
    const struct fc_route_fields *route;
    struct fc_cycle_packet *packet;
    uint32_t *packet_src, *injected;
    uint32_t first_chunk, n_chunks, n_dims;
    uint32_t n_ports, n_outs, n_network_outs, n_senders, per_router;
    uint32_t place_bits, vc_bits, slot_bits; /* slot_bits: of the channels of a chunk */
    uint32_t ring_mask, ring_bits, returned_mask, tick_bits, arriving_mask, arriving_bits;
    size_t places;                                   /* bytes of a row of ports or senders */
    uint64_t route_mask, hops_mask, hop, head, tail; /* of a flit */
    uint32_t out_mask, code_mask, field_bits, id_shift, last_bits;
    uint8_t vcs[128];
    uint8_t packet_flits, buffer_flits, all, injection_vcs;
    uint32_t delivery_delay;
    uint64_t measure_from, measured; /* window: first tick, length */
};
struct sums {                          /* of a window */
    uint32_t flits, packets, measured; /* that enter the network; of the packets, those that are measured */
    uint32_t moved, ejected, moves;    /* moves: flits that moved so far */
};

INLINE uint8_t next_vc(const struct view *w, size_t last, size_t mask)
{
    return w->next_vc[last << FC_FAST_VCS | mask];
}
INLINE uint8_t *chunk_at(const struct view *w, uint32_t c)
{
    return w->chunks + (size_t)c * w->rows.size;
}
INLINE uint64_t *slots_at(const struct view *w, uint32_t c)
{
    return w->slots + ((size_t)c << (w->slot_bits + w->ring_bits));
}

/* All ones if the condition is true, without a branch. */
INLINE uint64_t mask_if(bool condition)
{
    return -(uint64_t)condition;
}
/* A flit into the slot of its next channel, while its owner may be reading there what it does not use. */
INLINE void put(const struct view *w, size_t slot, uint64_t flit)
{
    __atomic_store_n(&w->slots[slot], flit, __ATOMIC_RELAXED);
}
INLINE uint64_t flit_at(const uint64_t *slot)
{
    return __atomic_load_n(slot, __ATOMIC_RELAXED);
}
/* Tells the next router of an arrival. */
INLINE void announce(const struct view *w, size_t at, uint8_t code, uint64_t flit, const enum fc_fast_kind kind)
{
    uint8_t *row = w->arriving + (at & w->arriving_mask), out = (uint8_t)(flit & w->out_mask);
    if (kind != FC_FAST_SINGLE && !(flit & w->head)) out = FC_FAST_BODY;
    row[0] = code;
    row[w->places] = out;
    row[2 * w->places] = w->vcs[flit & w->code_mask];
}

/* ---- injection ---- */

/* Takes a record for the node's front packet, which leaves its queue now; the packet's flit, its first. */
INLINE uint64_t start_packet(const struct view *w, struct sums *sums, uint32_t n, const struct fc_flit_source *source,
                             uint64_t t, uint32_t id, const enum fc_fast_kind kind)
{
    uint32_t hops, bits;
    uint64_t route = fc_route_fields_start(w->route, w->n_dims, n, source->dst, source->random, &hops, &bits);
    fc_cycle_packet_starts(&w->packet[id], source, t, hops);
    w->packet_src[id] = n;
    sums->packets++;
    sums->measured += source->born - w->measure_from < w->measured;
    w->injected[n] += t - w->measure_from < w->measured;
    if (kind == FC_FAST_SINGLE) return route | (uint64_t)id << bits;
    return route | w->head | (uint64_t)id << w->id_shift;
}
/* Channels of the injection link that a new packet may take. */
INLINE uint32_t injectable(const struct view *w, const uint8_t *chunk, uint32_t s, uint32_t lane, uint32_t flits,
                           const enum fc_fast_kind kind, const uint32_t vc_bits)
{
    uint32_t able = chunk[w->rows.able + s * 64 + lane] & w->injection_vcs;
    if (kind == FC_FAST_CUT_THROUGH)
        for (uint32_t rest = able; rest; rest &= rest - 1)
            if (chunk[w->rows.credits + ((s << vc_bits | LOW(rest)) << 6) + lane] < flits) able &= ~(1u << LOW(rest));
    return able;
}
/* One flit of the node, if it can go. */
INLINE void send(block *b, const struct view *w, struct sums *sums, uint32_t place, uint64_t t, uint64_t now,
                 const enum fc_fast_kind kind, const uint32_t vc_bits)
{
    uint32_t n = b->node[place], router = place, s = w->n_outs;
    struct fc_cycle_node *node = &b->engine->node[n];
    if (__builtin_expect(w->per_router > 1, 0)) {
        router = place / w->per_router;
        s += place % w->per_router;
    }
    if (node->source.born > t) return;
    uint8_t *chunk = chunk_at(w, w->first_chunk + router / 64);
    uint32_t lane = router % 64, vc = node->vc, id = node->packet;
    uint64_t flit;
    if (kind == FC_FAST_SINGLE || !node->left) {
        uint32_t may = injectable(w, chunk, s, lane, node->source.flits, kind, vc_bits);
        if (__builtin_expect(!may, 0)) return;
        if ((id = fc_cycle_record(b)) == FC_NONE) return;
        node->last_vc = (uint8_t)(vc = next_vc(w, node->last_vc, may));
        flit = start_packet(w, sums, n, &node->source, t, id, kind);
        if (kind != FC_FAST_SINGLE) {
            node->left = (uint16_t)node->source.flits;
            node->packet = id;
            node->vc = (uint8_t)vc;
        }
    } else if (!(chunk[w->rows.able + s * 64 + lane] >> vc & 1))
        return;
    else
        flit = (uint64_t)id << w->id_shift;
    ((uint32_t *)(chunk + w->rows.sent))[s * 64 + lane]++;
    sums->flits++;
    if (kind == FC_FAST_SINGLE || --node->left == 0) {
        if (kind != FC_FAST_SINGLE) {
            flit |= w->tail;
            ((uint32_t *)(chunk + w->rows.packets_sent))[s * 64 + lane]++;
        }
        fc_cycle_next_packet(b, b->engine->traffic, place, n, &node->source, t, now);
    }
    size_t c = ((s << vc_bits | vc) << 6) + lane;
    uint8_t *credits = chunk + w->rows.credits + c, *tail = chunk + w->rows.tail + c;
    bool first = *credits == w->buffer_flits;
    size_t slot = ((uint32_t *)(chunk + w->rows.slot))[s * 64 + lane] + vc * 64, free = *tail & ~mask_if(first);
    --*credits;
    *tail = (uint8_t)((free + 1) & w->ring_mask);
    put(w, slot + (free << w->slot_bits), flit);
    announce(w, (t << w->arriving_bits) + ((uint32_t *)(chunk + w->rows.arrives))[s * 64 + lane],
             (uint8_t)((vc + 1) | (first ? FC_FAST_FIRST : 0)), flit, kind);
}

/* ---- the switch ---- */

/* The flit behind a hop. Behind the last in a dimension its field goes, with the bit for the far side. */
INLINE uint64_t hop(const struct view *w, uint64_t flit, uint8_t wraps, const enum fc_fast_kind kind)
{
    uint64_t last = mask_if((flit & w->hops_mask) == 0);
    flit = (flit | wraps) - (w->hop & ~last);
    if (kind == FC_FAST_SINGLE) return flit >> (w->field_bits & last);
    return (flit & ~w->route_mask) | (flit & w->route_mask) >> (w->field_bits & last);
}
/* The front flit of the winner of output o in the lane leaves by it. */
INLINE uint64_t move(const struct view *w, uint8_t *chunk, uint64_t *slots, const struct fc_fast_grants *g, size_t o,
                     size_t lane, uint64_t t_row, uint64_t t_arriving, const bool ejects, const enum fc_fast_kind kind,
                     const uint32_t vc_bits)
{
    const struct fc_fast_rows *rows = &w->rows;
    size_t at = o * 64 + lane, row = g->row[at], c = row * 64 + lane;
    uint64_t flit = flit_at(slots + ((size_t)g->front[c] << w->slot_bits) + c);
    uint64_t behind = flit_at(slots + ((size_t)chunk[rows->head + c] << w->slot_bits) + c);
    if (kind == FC_FAST_SINGLE) {
        chunk[rows->out + c] = (uint8_t)(behind & w->out_mask);
        chunk[rows->want + c] = w->vcs[behind & w->code_mask];
    } else {
        bool tail = flit & w->tail;
        uint8_t vc = g->out_vc[at];
        chunk[rows->out + c] = (uint8_t)(tail ? behind & w->out_mask : o);
        chunk[rows->want + c] = tail ? w->vcs[behind & w->code_mask] : vc;
        chunk[rows->held + c] = (uint8_t)(tail - 1);
        chunk[rows->free + at] = (uint8_t)((chunk[rows->free + at] & ~vc) | (vc & mask_if(tail)));
        ((uint32_t *)(chunk + rows->packets_sent))[at] += tail;
    }
    ((uint32_t *)(chunk + rows->sent))[at]++;
    size_t back = t_row + ((const uint32_t *)(chunk + rows->upstream))[c];
    w->returned[back & w->returned_mask] = 1;
    if (ejects) return flit;
    uint64_t next = hop(w, flit, chunk[rows->wraps + at], kind);
    size_t slot = ((const uint32_t *)(chunk + rows->slot))[at] + ((size_t)g->place[at] << w->slot_bits);
    if (vc_bits) slot += (size_t)g->index[at] * 64;
    put(w, slot, next);
    announce(w, t_arriving + ((const uint32_t *)(chunk + rows->arrives))[at], g->code[at], next, kind);
    return flit;
}
INLINE void deliver(block *b, const struct view *w, uint64_t flit, uint64_t t, const enum fc_fast_kind kind)
{
    if (kind == FC_FAST_SINGLE || flit & w->tail)
        fc_cycle_end_packet(b, (uint32_t)(flit >> (kind == FC_FAST_SINGLE ? w->last_bits : w->id_shift)),
                            t + w->delivery_delay);
}
INLINE void switches(block *b, const struct view *w, struct sums *sums, uint32_t c, uint64_t t,
                     struct fc_fast_grants *g, const enum fc_fast_kind kind, const uint32_t place_bits,
                     const uint32_t vc_bits)
{
    uint8_t *chunk = chunk_at(w, c);
    uint64_t *slots = slots_at(w, c);
    uint64_t t_row = t << w->tick_bits, t_arriving = t << w->arriving_bits;
    fc_fast_fit(chunk, &w->rows, w->n_outs, w->all, kind, g);
    fc_fast_ports(chunk, &w->rows, w->n_ports, w->n_outs, kind, vc_bits, g);
    fc_fast_outs(chunk, &w->rows, w->n_ports, w->n_outs, w->n_network_outs, kind, place_bits, vc_bits, w->buffer_flits,
                 (uint8_t)w->ring_mask, g);
    fc_fast_leave(chunk, &w->rows, w->n_ports, (uint8_t)w->ring_mask, vc_bits, g);
    for (size_t o = 0; o < w->n_network_outs; o++) {
        sums->moved += (uint32_t)__builtin_popcountll(g->outs[o]);
        for (uint64_t rest = g->outs[o]; rest; rest &= rest - 1)
            move(w, chunk, slots, g, o, LOW(rest), t_row, t_arriving, false, kind, vc_bits);
    }
    for (size_t o = w->n_network_outs; o < w->n_outs; o++) {
        sums->ejected += (uint32_t)__builtin_popcountll(g->outs[o]);
        for (uint64_t rest = g->outs[o]; rest; rest &= rest - 1)
            deliver(b, w, move(w, chunk, slots, g, o, LOW(rest), t_row, t_arriving, true, kind, vc_bits), t, kind);
    }
}

/* ---- ticks ---- */

INLINE struct view view_of(const block *b, const uint32_t ports, const uint32_t place_bits, const uint32_t vc_bits)
{
    const engine *e = b->engine;
    const struct fc_fast *f = e->fast;
    const struct fc_route_fields *r = &f->route;
    int injection = fc_injection_class(e->flit->net->machine);
    uint32_t out_bits = ports ? 3 : r->out_bits;
    struct view w = {
        .rows = fc_fast_rows(place_bits, vc_bits),
        .chunks = f->chunk,
        .returned = f->returned,
        .next_vc = f->next_vc,
        .slots = f->slot,
        .route = r,
        .n_dims = ports ? (ports - 1) / 2 : (uint32_t)r->n_dims,
        .packet = e->packet,
        .packet_src = e->packet_src,
        .injected = e->injected,
        .arriving = f->arriving,
        .places = (size_t)64 << place_bits,
        .arriving_mask = f->arriving_mask,
        .arriving_bits = f->arriving_bits,
        .buffer_flits = (uint8_t)e->flit->buffer_flits,
        .first_chunk = f->lane[b->first_router] / 64,
        .n_chunks = (b->last_router - b->first_router + 63) / 64,
        .n_ports = ports ? ports : f->n_ports,
        .n_outs = ports ? ports : f->n_outs,
        .n_network_outs = ports ? ports - 1 : f->n_network_outs,
        .n_senders = ports ? ports + 1 : f->n_senders,
        .per_router = ports ? 1 : r->per_router,
        .place_bits = place_bits,
        .vc_bits = vc_bits,
        .slot_bits = 6 + place_bits + vc_bits,
        .ring_mask = (1u << f->ring_bits) - 1,
        .ring_bits = f->ring_bits,
        .returned_mask = f->returned_mask,
        .tick_bits = f->tick_bits,
        .route_mask = (1ull << r->bits) - 1,
        .hops_mask = ((1ull << r->hop_bits) - 1) << (out_bits + 1),
        .hop = 1ull << (out_bits + 1),
        .head = 1ull << r->bits,
        .tail = 2ull << r->bits,
        .out_mask = (1u << out_bits) - 1,
        .code_mask = (2u << out_bits) - 1,
        .field_bits = out_bits + 1u + r->hop_bits,
        .id_shift = r->bits + 2u,
        .last_bits = out_bits + 1,
        .packet_flits = (uint8_t)e->flit->packet_flits_max,
        .all = (uint8_t)((1u << e->flit->n_vcs) - 1),
        .injection_vcs = (uint8_t)e->flit->injection_vcs,
        .delivery_delay = e->delay_delivery[injection][injection],
        .measure_from = b->counts->measure_from,
        .measured = b->counts->measure_to - b->counts->measure_from,
    };
    memcpy(w.vcs, r->vcs, sizeof w.vcs);
    return w;
}
/* One tick of a chunk. `now`: the last tick of the window. */
INLINE void tick(block *b, const struct view *w, struct sums *sums, uint32_t c, uint64_t t, uint64_t now,
                 struct fc_fast_grants *g, const enum fc_fast_kind kind, const uint32_t place_bits,
                 const uint32_t vc_bits)
{
    uint32_t place = (c - w->first_chunk) * w->per_router, ejected = sums->ejected;
    uint8_t *returned = w->returned + ((t << w->tick_bits) & w->returned_mask) + c * (w->places << vc_bits);
    uint8_t *arriving = w->arriving + ((t << w->arriving_bits) & w->arriving_mask) + (size_t)c * 4 * w->places;
    fc_fast_credits(chunk_at(w, c), &w->rows, returned, w->n_senders, w->packet_flits, kind, vc_bits);
    for (uint32_t i = place; i < place + w->per_router && i < (b->n_nodes + 63) / 64; i++)
        for (uint64_t rest = b->sending[i]; rest; rest &= rest - 1)
            send(b, w, sums, 64 * i + LOW(rest), t, now, kind, vc_bits);
    fc_fast_arrivals(chunk_at(w, c), &w->rows, arriving, w->n_ports, kind, place_bits, vc_bits);
    switches(b, w, sums, c, t, g, kind, place_bits, vc_bits);
    fc_flit_count_flits(b->counts, t + w->delivery_delay, sums->ejected - ejected);
    uint32_t moves = sums->flits + sums->moved + sums->ejected;
    if (moves != sums->moves && t > b->last_move) b->last_move = t;
    sums->moves = moves;
}
/* Ticks that a chunk is simulated for before the next one is, while its state is in the cache: at most the window of
 * cycle.c, and up to where somebody watches. */
INLINE uint64_t stretch(const block *b, uint64_t t, uint64_t to)
{
    const struct fc_flit_counts *counts = b->counts;
    uint64_t end = counts->log ? t + 1 : t + b->engine->window; /* a log is in the order of time */
    if (end > to) end = to;
    if (end > (t | 63) + 1) end = (t | 63) + 1;
    if (counts->measure_from > t && counts->measure_from < end) end = counts->measure_from;
    if (counts->measure_to > t && counts->measure_to < end) end = counts->measure_to;
    return end;
}
RUN void run(block *b, uint64_t from, uint64_t to, const enum fc_fast_kind kind, const uint32_t ports,
             const uint32_t place_bits, const uint32_t vc_bits)
{
    const struct view w = view_of(b, ports, place_bits, vc_bits);
    struct fc_fast_grants grants;
    for (uint64_t start = from, end; start < to; start = end) {
        struct sums sums = {0};
        end = stretch(b, start, to);
        fc_cycle_watch(b, start);
        for (uint64_t t = start; t < end; t++) fc_cycle_births(b, t, end - 1);
        for (uint32_t c = w.first_chunk; c < w.first_chunk + w.n_chunks; c++)
            for (uint64_t t = start; t < end; t++)
                tick(b, &w, &sums, c, t, end - 1, &grants, kind, place_bits, vc_bits);
        b->flits_in += sums.flits;
        b->packets_in += sums.packets;
        b->counts->measured_started += sums.measured;
        b->hops += sums.moved;
        b->flits_out += sums.ejected;
    }
}
/* `ports`: of every router, and its outputs, with a node each; 0: any. */
INLINE void run_kind(block *b, uint64_t from, uint64_t to, const uint32_t ports, const uint32_t place_bits,
                     const uint32_t vc_bits)
{
    const struct fc_flit_net *flit = b->engine->flit;
    if (flit->packet_flits_max == 1)
        run(b, from, to, FC_FAST_SINGLE, ports, place_bits, vc_bits);
    else if (flit->cut_through)
        run(b, from, to, FC_FAST_CUT_THROUGH, ports, place_bits, vc_bits);
    else
        run(b, from, to, FC_FAST_WORMS, ports, place_bits, vc_bits);
}
