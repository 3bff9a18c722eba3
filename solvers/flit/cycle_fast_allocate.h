/* cycle_fast_allocate.h - credits and switch allocation of 64 routers at a time (cycle_fast.c).
 *
 * The rules of cycle_allocate.c: each input port puts forward one channel, each output takes one port; bodies
 * before heads, then round robin. Every comparison is made for all 64 routers of a chunk at once, a byte a
 * router, in vectors of 32 that the compiler splits or joins for the processor. No branch depends on traffic. */
#ifndef FC_CYCLE_FAST_ALLOCATE_H
#define FC_CYCLE_FAST_ALLOCATE_H

#include "solvers/flit/cycle_fast.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FC_INLINE static inline __attribute__((always_inline))
/* Known when the loops are compiled: packets of one flit; of several, in wormhole; or in cut-through. */
enum fc_fast_kind { FC_FAST_SINGLE, FC_FAST_WORMS, FC_FAST_CUT_THROUGH };

typedef uint8_t fc_lanes __attribute__((vector_size(32), aligned(32), may_alias));
typedef int8_t fc_signed_lanes __attribute__((vector_size(32), aligned(32), may_alias));
#define FC_LANES_AT(row, i) (*(fc_lanes *)((row) + (i)))
#define FC_NO_KEY 127

struct fc_fast_grants { /* of a chunk at a tick; rows of 64 */
    uint64_t outs[FC_FAST_PORTS];                  /* lanes whose output has a winner */
    _Alignas(64) uint8_t fit[FC_FAST_PORTS * 64];  /* outputs: mask of channels that a head may take */
    _Alignas(64) uint8_t vc[FC_FAST_PORTS * 64];   /* ports: the channel put forward */
    _Alignas(64) uint8_t bid[FC_FAST_PORTS * 64];  /* ports: the output it asks for; 0xff: none */
    _Alignas(64) uint8_t head[FC_FAST_PORTS * 64]; /* ports: 0xff where it is a head's */
    _Alignas(64) uint8_t port[FC_FAST_PORTS * 64]; /* outputs: up to 8 ports: mask of those to choose from by
                                                      round robin; else the winner */
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
 * and, in cut-through, with room for a packet (row roomy). `returned`: rows of the chunk's senders. */
FC_INLINE void fc_fast_credits(uint8_t *chunk, const struct fc_fast_rows *rows, uint8_t *returned,
                               uint32_t n_senders, uint8_t packet_flits, const enum fc_fast_kind kind,
                               const uint32_t vc_bits)
{
    for (uint32_t s = 0; s < n_senders; s++)
        for (uint32_t i = 0; i < 64; i += sizeof(fc_lanes)) {
            fc_lanes back = FC_LANES_AT(returned, s * 64 + i), able = {0}, roomy = {0};
            for (uint32_t v = 0; v < 1u << vc_bits; v++) {
                uint8_t *row = chunk + rows->credits + ((s << vc_bits | v) << 6);
                uint8_t bit = (uint8_t)(1u << v);
                fc_lanes credits = FC_LANES_AT(row, i);
                credits -= (fc_lanes)((back & bit) == bit);
                FC_LANES_AT(row, i) = credits;
                able |= (fc_lanes)(credits != 0) & bit;
                if (kind == FC_FAST_CUT_THROUGH) roomy |= (fc_lanes)(credits >= packet_flits) & bit;
            }
            FC_LANES_AT(chunk + rows->able, s * 64 + i) = able;
            if (kind == FC_FAST_CUT_THROUGH) FC_LANES_AT(chunk + rows->roomy, s * 64 + i) = roomy;
            FC_LANES_AT(returned, s * 64 + i) = (fc_lanes){0};
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
FC_INLINE void fc_fast_ports(const uint8_t *chunk, const struct fc_fast_rows *rows, uint32_t n_ports,
                             uint32_t n_outs, const enum fc_fast_kind kind, const uint32_t vc_bits,
                             struct fc_fast_grants *g)
{
    for (uint32_t p = 0; p < n_ports; p++)
        for (uint32_t i = 0; i < 64; i += sizeof(fc_lanes)) {
            uint32_t at = p * 64 + i;
            fc_lanes last_out = FC_LANES_AT(chunk + rows->last_out, at) + 1;
            fc_lanes last_vc = FC_LANES_AT(chunk + rows->last_vc, at) + 1;
            fc_lanes best_vc = {0}, best_out = {0};
            fc_signed_lanes best = (fc_signed_lanes){0} + FC_NO_KEY, best_rank = {0};
            for (uint32_t v = 0; v < 1u << vc_bits; v++) {
                uint32_t c = ((p << vc_bits | v) << 6) + i;
                fc_lanes out = FC_LANES_AT(chunk + rows->out, c), want = FC_LANES_AT(chunk + rows->want, c);
                fc_lanes held = {0}, may = {0};
                if (kind == FC_FAST_SINGLE)
                    for (uint32_t o = 0; o < n_outs; o++)
                        may |= (fc_lanes)(out == (uint8_t)o) & FC_LANES_AT(g->fit, o * 64 + i);
                else {
                    held = FC_LANES_AT(chunk + rows->held, c);
                    for (uint32_t o = 0; o < n_outs; o++) {
                        fc_lanes able = FC_LANES_AT(chunk + rows->able, o * 64 + i) & held;
                        fc_lanes fit = FC_LANES_AT(g->fit, o * 64 + i) & ~held;
                        may |= (fc_lanes)(out == (uint8_t)o) & (able | fit);
                    }
                }
                fc_lanes no = (fc_lanes)((may & want) == 0) | (fc_lanes)(FC_LANES_AT(chunk + rows->count, c) == 0);
                fc_lanes key = (out - last_out) & 31;
                if (kind != FC_FAST_SINGLE) key |= ~held & 32;
                fc_signed_lanes rank = (fc_signed_lanes)(((uint8_t)v - last_vc) & 7);
                fc_signed_lanes mine = (fc_signed_lanes)(key | (no & FC_NO_KEY));
                fc_lanes wins = (fc_lanes)(mine < best);
                if (v) wins |= (fc_lanes)(mine == best) & (fc_lanes)(rank < best_rank);
                best = (fc_signed_lanes)(((fc_lanes)mine & wins) | ((fc_lanes)best & ~wins));
                best_out = (out & wins) | (best_out & ~wins);
                if (vc_bits) {
                    best_rank = (fc_signed_lanes)(((fc_lanes)rank & wins) | ((fc_lanes)best_rank & ~wins));
                    best_vc = ((uint8_t)v & wins) | (best_vc & ~wins);
                }
            }
            FC_LANES_AT(g->vc, at) = best_vc;
            FC_LANES_AT(g->bid, at) = best_out | (fc_lanes)(best == FC_NO_KEY);
            if (kind != FC_FAST_SINGLE) FC_LANES_AT(g->head, at) = (fc_lanes)(best >= 32);
        }
}

/* Each output: of the ports that ask for it, bodies, then the next in the round robin. With up to 8 places
 * the round robin is left to a table. */
FC_INLINE void fc_fast_outs(const uint8_t *chunk, const struct fc_fast_rows *rows, uint32_t n_ports,
                            uint32_t n_outs, const enum fc_fast_kind kind, const uint32_t place_bits,
                            struct fc_fast_grants *g)
{
    for (uint32_t o = 0; o < n_outs; o++) {
        _Alignas(64) uint8_t any[64];
        for (uint32_t i = 0; i < 64; i += sizeof(fc_lanes))
            if (place_bits <= 3) {
                fc_lanes heads = {0}, bodies = {0};
                for (uint32_t p = 0; p < n_ports; p++) {
                    fc_lanes asks = (fc_lanes)(FC_LANES_AT(g->bid, p * 64 + i) == (uint8_t)o) & (uint8_t)(1u << p);
                    heads |= asks;
                    if (kind != FC_FAST_SINGLE) bodies |= asks & ~FC_LANES_AT(g->head, p * 64 + i);
                }
                if (kind != FC_FAST_SINGLE) heads = bodies | (heads & (fc_lanes)(bodies == 0));
                FC_LANES_AT(any, i) = FC_LANES_AT(g->port, o * 64 + i) = heads;
            } else {
                fc_lanes last = FC_LANES_AT(chunk + rows->last_port, o * 64 + i) + 1;
                fc_signed_lanes best = (fc_signed_lanes){0} + FC_NO_KEY;
                for (uint32_t p = 0; p < n_ports; p++) {
                    fc_lanes key = ((uint8_t)p - last) & 31;
                    if (kind != FC_FAST_SINGLE) key |= FC_LANES_AT(g->head, p * 64 + i) & 32;
                    key |= (fc_lanes)(FC_LANES_AT(g->bid, p * 64 + i) != (uint8_t)o) & FC_NO_KEY;
                    fc_lanes wins = (fc_lanes)((fc_signed_lanes)key < best);
                    best = (fc_signed_lanes)((key & wins) | ((fc_lanes)best & ~wins));
                }
                FC_LANES_AT(g->port, o * 64 + i) = ((fc_lanes)best + last) & 31;
                FC_LANES_AT(any, i) = (fc_lanes)(best != FC_NO_KEY);
            }
        g->outs[o] = fc_fast_lanes_set(any);
    }
}

#endif
