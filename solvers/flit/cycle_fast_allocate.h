/* cycle_fast_allocate.h - credits and switch allocation of 64 routers at a time (cycle_fast.c).
 *
 * The rules of cycle_allocate.c: each input port puts forward one channel, each output takes one port; bodies
 * before heads, then round robin. Every comparison is made for all 64 routers of a chunk at once, a byte a
 * router, in vectors of FC_LANE_BYTES. No branch depends on traffic.
 */
#pragma once

#include "solvers/flit/cycle_fast.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FC_INLINE static inline __attribute__((always_inline))
/* Known when the loops are compiled: packets of one flit; of several, in wormhole; or in cut-through. */
enum fc_fast_kind { FC_FAST_SINGLE, FC_FAST_WORMS, FC_FAST_CUT_THROUGH };

typedef uint8_t fc_lanes __attribute__((vector_size(FC_LANE_BYTES), aligned(FC_LANE_BYTES), may_alias));
typedef int8_t fc_signed_lanes __attribute__((vector_size(FC_LANE_BYTES), aligned(FC_LANE_BYTES), may_alias));
#define FC_LANES_AT(row, i) (*(fc_lanes *)((row) + (i)))
#define FC_NO_KEY 127
/* Loops over the few ports and channels; in unoptimized copies the compiler would say that it does not. */
#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define FC_UNROLLED _Pragma("GCC unroll 8")
#else
#define FC_UNROLLED
#endif

struct fc_fast_grants {                                 /* of a chunk at a tick; rows of 64 */
    uint64_t outs[FC_FAST_PORTS];                       /* lanes whose output has a winner */
    _Alignas(64) uint8_t fit[FC_FAST_PORTS * 64];       /* outputs: mask of channels that a head may take */
    _Alignas(64) uint8_t vc[FC_FAST_PORTS * 64];        /* ports: the channel put forward */
    _Alignas(64) uint8_t name[FC_FAST_PORTS * 64];      /* ports: its row */
    _Alignas(64) uint8_t bid[FC_FAST_PORTS * 64];       /* ports: the output it asks for; 0xff: none */
    _Alignas(64) uint8_t may[FC_FAST_PORTS * 64];       /* ports: mask of channels there that will do */
    _Alignas(64) uint8_t head[FC_FAST_PORTS * 64];      /* ports: 0xff where it is a head's */
    _Alignas(64) uint8_t won[FC_FAST_PORTS * 64];       /* ports: 0xff where it has won */
    _Alignas(64) uint8_t row[FC_FAST_PORTS * 64];       /* outputs: the channel row that won */
    _Alignas(64) uint8_t out_vc[FC_FAST_PORTS * 64];    /* outputs: its channel there, as a mask */
    _Alignas(64) uint8_t index[FC_FAST_PORTS * 64];     /* outputs: that channel's number */
    _Alignas(64) uint8_t place[FC_FAST_PORTS * 64];     /* outputs: and the place behind its last flit */
    _Alignas(64) uint8_t code[FC_FAST_PORTS * 64];      /* outputs: what the next router is told */
    _Alignas(64) uint8_t front[FC_FAST_PORTS * 8 * 64]; /* channels: place of the front before this tick */
};

/* Bit i: byte i of the row of 64 is not 0. */
FC_INLINE uint64_t fc_fast_lanes_set(const uint8_t *row)
{
    uint64_t mask = 0;
#ifdef __SSE2__
    for (int i = 0; i < 64; i += 16) {
        __m128i zero = _mm_cmpeq_epi8(_mm_load_si128((const __m128i *)(row + i)), _mm_setzero_si128());
        mask |= (uint64_t)(uint16_t)~_mm_movemask_epi8(zero) << i;
    }
#else
    for (int i = 0; i < 64; i++) mask |= (uint64_t)(row[i] != 0) << i;
#endif
    return mask;
}

/* Credits that come back at this tick, and the masks that follow from all: channels with credits (row able)
 * and, in cut-through, with room for a packet (row roomy). `returned`: rows of the chunk's sender channels.
 */
FC_INLINE void fc_fast_credits(uint8_t *chunk, const struct fc_fast_rows *rows, uint8_t *returned, uint32_t n_senders,
                               uint8_t packet_flits, const enum fc_fast_kind kind, const uint32_t vc_bits)
{
    for (uint32_t s = 0; s < n_senders; s++)
        for (uint32_t i = 0; i < 64; i += sizeof(fc_lanes)) {
            fc_lanes able = {0}, roomy = {0};
            FC_UNROLLED
            for (uint32_t v = 0; v < 1u << vc_bits; v++) {
                uint32_t c = ((s << vc_bits | v) << 6) + i;
                fc_lanes credits = FC_LANES_AT(chunk + rows->credits, c) + FC_LANES_AT(returned, c);
                FC_LANES_AT(chunk + rows->credits, c) = credits;
                FC_LANES_AT(returned, c) = (fc_lanes){0};
                able |= (fc_lanes)(credits != 0) & (uint8_t)(1u << v);
                if (kind == FC_FAST_CUT_THROUGH) roomy |= (fc_lanes)(credits >= packet_flits) & (uint8_t)(1u << v);
            }
            FC_LANES_AT(chunk + rows->able, s * 64 + i) = able;
            if (kind == FC_FAST_CUT_THROUGH) FC_LANES_AT(chunk + rows->roomy, s * 64 + i) = roomy;
        }
}

/* Flits that arrive at this tick. `arriving`: rows of the chunk's ports, see struct fc_fast. */
FC_INLINE void fc_fast_arrivals(uint8_t *chunk, const struct fc_fast_rows *rows, uint8_t *arriving, uint32_t n_ports,
                                const enum fc_fast_kind kind, const uint32_t place_bits, const uint32_t vc_bits)
{
    const size_t places = (size_t)64 << place_bits;
    for (uint32_t at = 0; at < n_ports * 64; at += sizeof(fc_lanes)) {
        fc_lanes code = FC_LANES_AT(arriving, at), out = FC_LANES_AT(arriving, places + at);
        fc_lanes want = FC_LANES_AT(arriving, 2 * places + at);
        fc_lanes first = (fc_lanes)((code & FC_FAST_FIRST) != 0);
        FC_LANES_AT(arriving, at) = (fc_lanes){0};
        code &= FC_FAST_FIRST - 1;
        FC_UNROLLED
        for (uint32_t v = 0; v < 1u << vc_bits; v++) {
            uint32_t c = ((at / 64 << vc_bits | v) << 6) + at % 64;
            fc_lanes comes = (fc_lanes)(code == (uint8_t)(v + 1)), count = FC_LANES_AT(chunk + rows->count, c);
            fc_lanes front = comes & (fc_lanes)(count == 0);
            if (kind != FC_FAST_SINGLE) front &= (fc_lanes)(out != FC_FAST_BODY);
            fc_lanes *its_out = &FC_LANES_AT(chunk + rows->out, c), *its_want = &FC_LANES_AT(chunk + rows->want, c);
            FC_LANES_AT(chunk + rows->count, c) = count - comes;
            FC_LANES_AT(chunk + rows->head, c) &= ~(comes & first);
            *its_out = (out & front) | (*its_out & ~front);
            *its_want = (want & front) | (*its_want & ~front);
        }
    }
}

/* What heads may take of each output. In cut-through a packet on its way is not interrupted. */
FC_INLINE void fc_fast_fit(const uint8_t *chunk, const struct fc_fast_rows *rows, uint32_t n_outs, uint8_t all,
                           const enum fc_fast_kind kind, struct fc_fast_grants *g)
{
    for (uint32_t at = 0; at < n_outs * 64; at += sizeof(fc_lanes)) {
        fc_lanes able = FC_LANES_AT(chunk + rows->able, at);
        if (kind != FC_FAST_SINGLE) {
            fc_lanes free = FC_LANES_AT(chunk + rows->free, at);
            if (kind == FC_FAST_WORMS)
                able &= free;
            else
                able = FC_LANES_AT(chunk + rows->roomy, at) & (fc_lanes)(free == all);
        }
        FC_LANES_AT(g->fit, at) = able;
    }
}

/* Each port: its channels whose front flit may go; of these bodies, then the output next in the round robin,
 * then the channel. */
FC_INLINE void fc_fast_ports(const uint8_t *chunk, const struct fc_fast_rows *rows, uint32_t n_ports, uint32_t n_outs,
                             const enum fc_fast_kind kind, const uint32_t vc_bits, struct fc_fast_grants *g)
{
    for (uint32_t at = 0; at < n_ports * 64; at += sizeof(fc_lanes)) {
        uint32_t p = at / 64, i = at % 64;
        fc_lanes last_out = FC_LANES_AT(chunk + rows->last_out, at) + 1;
        fc_lanes last_vc = FC_LANES_AT(chunk + rows->last_vc, at) + 1;
        fc_lanes best_vc = {0}, best_out = {0}, best_may = {0};
        fc_signed_lanes best = (fc_signed_lanes){0} + FC_NO_KEY, best_rank = {0};
        FC_UNROLLED
        for (uint32_t v = 0; v < 1u << vc_bits; v++) {
            uint32_t c = ((p << vc_bits | v) << 6) + i;
            fc_lanes out = FC_LANES_AT(chunk + rows->out, c), held = {0}, may = {0};
            if (kind != FC_FAST_SINGLE) held = FC_LANES_AT(chunk + rows->held, c);
            FC_UNROLLED
            for (uint32_t o = 0; o < n_outs; o++) {
                fc_lanes fit = FC_LANES_AT(g->fit, o * 64 + i);
                if (kind != FC_FAST_SINGLE) fit = (fit & ~held) | (FC_LANES_AT(chunk + rows->able, o * 64 + i) & held);
                may |= (fc_lanes)(out == (uint8_t)o) & fit;
            }
            may &= FC_LANES_AT(chunk + rows->want, c);
            fc_lanes no = (fc_lanes)(may == 0) | (fc_lanes)(FC_LANES_AT(chunk + rows->count, c) == 0);
            fc_lanes key = (out - last_out) & 31;
            if (kind != FC_FAST_SINGLE) key |= ~held & 32;
            fc_signed_lanes mine = (fc_signed_lanes)(key | (no & FC_NO_KEY));
            fc_signed_lanes rank = (fc_signed_lanes)(((uint8_t)v - last_vc) & 7);
            fc_lanes wins = (fc_lanes)(mine < best);
            if (v) wins |= (fc_lanes)(mine == best) & (fc_lanes)(rank < best_rank);
            best = (fc_signed_lanes)(((fc_lanes)mine & wins) | ((fc_lanes)best & ~wins));
            best_out = (out & wins) | (best_out & ~wins);
            best_may = (may & wins) | (best_may & ~wins);
            best_rank = (fc_signed_lanes)(((fc_lanes)rank & wins) | ((fc_lanes)best_rank & ~wins));
            best_vc = ((uint8_t)v & wins) | (best_vc & ~wins);
        }
        FC_LANES_AT(g->vc, at) = best_vc;
        FC_LANES_AT(g->name, at) = best_vc | (uint8_t)(p << vc_bits);
        FC_LANES_AT(g->bid, at) = best_out | (fc_lanes)(best == FC_NO_KEY);
        FC_LANES_AT(g->may, at) = best_may;
        if (kind != FC_FAST_SINGLE) FC_LANES_AT(g->head, at) = (fc_lanes)(best >= 32);
    }
}

/* Of the bits asked for, `one`: the next in a round robin whose bits above the last winner are `above`; which
 * moves on where there is one. */
FC_INLINE void fc_fast_next(const fc_lanes *asks, fc_lanes *above, fc_lanes *one)
{
    fc_lanes behind = *asks & *above;
    behind |= *asks & (fc_lanes)(behind == 0);
    *one = behind & -behind;
    *above = (*above & (fc_lanes)(*one == 0)) | ~(*one | (*one - 1));
}
/* Each output: of the ports that ask for it bodies, then the next in the round robin; its channel, the next
 * in another. Up to 8 places: ports are bits and the round robin is a mask; else numbers. */
FC_INLINE void fc_fast_outs(uint8_t *chunk, const struct fc_fast_rows *rows, uint32_t n_ports, uint32_t n_outs,
                            uint32_t n_network_outs, const enum fc_fast_kind kind, const uint32_t place_bits,
                            const uint32_t vc_bits, uint8_t buffer_flits, uint8_t ring_mask, struct fc_fast_grants *g)
{
    _Alignas(64) uint8_t any[64];
    fc_lanes winners[64 / sizeof(fc_lanes)] = {{0}};
    if (place_bits > 3)
        for (uint32_t i = 0; i < n_ports * 64; i += sizeof(fc_lanes)) FC_LANES_AT(g->won, i) = (fc_lanes){0};
    for (uint32_t at = 0; at < n_outs * 64; at += sizeof(fc_lanes)) {
        uint32_t o = at / 64, i = at % 64;
        fc_lanes winner = {0}, row = {0}, may = {0}, head = {0}, last = FC_LANES_AT(chunk + rows->last_port, at);
        if (place_bits <= 3) {
            fc_lanes asks = {0}, bodies = {0};
            FC_UNROLLED
            for (uint32_t p = 0; p < n_ports; p++) {
                fc_lanes mine = (fc_lanes)(FC_LANES_AT(g->bid, p * 64 + i) == (uint8_t)o) & (uint8_t)(1u << p);
                asks |= mine;
                if (kind != FC_FAST_SINGLE) bodies |= mine & ~FC_LANES_AT(g->head, p * 64 + i);
            }
            if (kind != FC_FAST_SINGLE) asks = bodies | (asks & (fc_lanes)(bodies == 0));
            fc_fast_next(&asks, &last, &winner);
            FC_LANES_AT(any, i) = winner;
            winners[i / sizeof(fc_lanes)] |= winner;
        } else {
            fc_signed_lanes best = (fc_signed_lanes){0} + FC_NO_KEY;
            for (uint32_t p = 0; p < n_ports; p++) {
                fc_lanes key = ((uint8_t)p - last - 1) & 31;
                if (kind != FC_FAST_SINGLE) key |= FC_LANES_AT(g->head, p * 64 + i) & 32;
                key |= (fc_lanes)(FC_LANES_AT(g->bid, p * 64 + i) != (uint8_t)o) & FC_NO_KEY;
                fc_lanes wins = (fc_lanes)((fc_signed_lanes)key < best);
                best = (fc_signed_lanes)((key & wins) | ((fc_lanes)best & ~wins));
            }
            fc_lanes none = (fc_lanes)(best == FC_NO_KEY);
            winner = (((fc_lanes)best + last + 1) & 31) | none;
            last = (winner & ~none) | (last & none);
            FC_LANES_AT(any, i) = ~none;
        }
        FC_LANES_AT(chunk + rows->last_port, at) = last;
        FC_UNROLLED
        for (uint32_t p = 0; p < n_ports; p++) {
            uint8_t name = (uint8_t)(place_bits <= 3 ? 1u << p : p);
            fc_lanes is = (fc_lanes)(winner == name);
            row |= is & FC_LANES_AT(g->name, p * 64 + i);
            if (kind != FC_FAST_SINGLE || vc_bits) may |= is & FC_LANES_AT(g->may, p * 64 + i);
            if (kind != FC_FAST_SINGLE) head |= is & FC_LANES_AT(g->head, p * 64 + i);
            if (place_bits > 3) FC_LANES_AT(g->won, p * 64 + i) |= is;
        }
        FC_LANES_AT(g->row, at) = row;
        if (kind != FC_FAST_SINGLE || vc_bits) {
            fc_lanes old = FC_LANES_AT(chunk + rows->sent_vc, at), above = old;
            fc_fast_next(&may, &above, &may);
            if (kind != FC_FAST_SINGLE) above = (above & head) | (old & ~head);
            FC_LANES_AT(chunk + rows->sent_vc, at) = above;
        } else
            may = (fc_lanes)(FC_LANES_AT(any, i) != 0) & 1;
        if (kind != FC_FAST_SINGLE) FC_LANES_AT(g->out_vc, at) = may;
        if (o < n_network_outs) {
            fc_lanes index = {0}, place = {0}, code = {0};
            FC_UNROLLED
            for (uint32_t v = 0; v < 1u << vc_bits; v++) {
                uint32_t c = ((o << vc_bits | v) << 6) + i;
                fc_lanes sends = (fc_lanes)(may == (uint8_t)(1u << v));
                fc_lanes credits = FC_LANES_AT(chunk + rows->credits, c);
                fc_lanes first = sends & (fc_lanes)(credits == buffer_flits);
                fc_lanes tail = FC_LANES_AT(chunk + rows->tail, c) & ~first;
                FC_LANES_AT(chunk + rows->credits, c) = credits + sends;
                FC_LANES_AT(chunk + rows->tail, c) = (tail - sends) & ring_mask;
                place |= tail & sends;
                index |= (uint8_t)v & sends;
                code |= ((uint8_t)(v + 1) & sends) | (first & FC_FAST_FIRST);
            }
            FC_LANES_AT(g->index, at) = index;
            FC_LANES_AT(g->place, at) = place;
            FC_LANES_AT(g->code, at) = code;
        }
        if (i + sizeof(fc_lanes) == 64) g->outs[o] = fc_fast_lanes_set(any);
    }
    if (place_bits <= 3) /* each port asks for one output: it has won one or none */
        for (uint32_t at = 0; at < n_ports * 64; at += sizeof(fc_lanes)) {
            uint8_t name = (uint8_t)(1u << at / 64);
            FC_LANES_AT(g->won, at) = (fc_lanes)((winners[at % 64 / sizeof(fc_lanes)] & name) == name);
        }
}

/* Ports that won: their round robins move on, and the flit leaves its channel. */
FC_INLINE void fc_fast_leave(uint8_t *chunk, const struct fc_fast_rows *rows, uint32_t n_ports, uint8_t ring_mask,
                             const uint32_t vc_bits, struct fc_fast_grants *g)
{
    for (uint32_t at = 0; at < n_ports * 64; at += sizeof(fc_lanes)) {
        fc_lanes won = FC_LANES_AT(g->won, at), vc = FC_LANES_AT(g->vc, at);
        fc_lanes *last_out = &FC_LANES_AT(chunk + rows->last_out, at);
        fc_lanes *last_vc = &FC_LANES_AT(chunk + rows->last_vc, at);
        *last_out = (FC_LANES_AT(g->bid, at) & won) | (*last_out & ~won);
        if (vc_bits) *last_vc = (vc & won) | (*last_vc & ~won);
        FC_UNROLLED
        for (uint32_t v = 0; v < 1u << vc_bits; v++) {
            uint32_t c = ((at / 64 << vc_bits | v) << 6) + at % 64;
            fc_lanes leaves = won & (fc_lanes)(vc == (uint8_t)v);
            fc_lanes count = FC_LANES_AT(chunk + rows->count, c) + leaves;
            fc_lanes front = FC_LANES_AT(chunk + rows->head, c);
            FC_LANES_AT(chunk + rows->count, c) = count;
            FC_LANES_AT(g->front, c) = front;
            FC_LANES_AT(chunk + rows->head, c) = (front - leaves) & ring_mask;
        }
    }
}
