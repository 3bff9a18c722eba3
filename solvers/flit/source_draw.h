/* source_draw.h - the draws of an open-loop source (source.c), and its next packet without a call where it is plain: packets of
 * one length, no background, no backlog, one destination as likely as another. */
#pragma once

#include "solvers/flit/source.h"

enum { FC_DRAW_GAP, FC_DRAW_DST, FC_DRAW_MORE, FC_DRAWS };
/* Draws with the same upper bits, as far as the quick gaps look at them. */
#define FC_QUICK_DRAWS (UINT64_MAX / FC_FLIT_QUICK_GAPS + 1)

static inline uint64_t fc_flit_draw(const struct fc_flit_traffic *t, uint32_t node, uint64_t number, int which)
{
    return fc_random_quick(t->open.key[node], number * FC_DRAWS + (uint64_t)which);
}
/* Gap and destination use up some 30 of the 128 bits drawn; what is left makes this one independent of them. The finaliser of
 * splitmix64 (Steele, Lea, Flood 2014). */
static inline uint32_t fc_flit_third_draw(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ (b << 32 | b >> 32);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)((x ^ x >> 31) >> 32);
}
static inline bool fc_flit_is_plain(const struct fc_flit_traffic *t)
{
    const struct fc_flit_open *o = &t->open;
    if (!t->open_loop || t->backlog || t->background || o->flits_range > 1 || o->n_parts < 1 || o->column[0])
        return false;
    for (uint32_t n = 0; n < t->n_nodes; n++)
        if (o->only[n] != 0 || o->gap_scale[n] != o->quick_scale) return false;
    return true;
}
/* fc_flit_next for traffic that fc_flit_is_plain. */
static inline void fc_flit_next_plain(const struct fc_flit_traffic *t, uint32_t node, struct fc_flit_source *source)
{
    uint64_t number = source->number + 1, a = fc_flit_draw(t, node, number, FC_DRAW_GAP);
    uint64_t b = fc_flit_draw(t, node, number, FC_DRAW_DST), quick = t->open.quick_gap[a / FC_QUICK_DRAWS];
    if (__builtin_expect(!quick || source->cursor >= UINT64_C(1) << 40, 0)) {
        fc_flit_next(t, node, source);
        return;
    }
    source->number = number;
    source->dst = (uint32_t)((unsigned __int128)b * t->n_nodes >> 64);
    source->random = fc_flit_third_draw(a, b);
    source->born = (source->cursor + quick - 1) * t->open.whole_ticks;
    source->cursor += quick;
}
