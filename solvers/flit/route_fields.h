/* route_fields.h - dimension-order routing as plain bit fields, for loops that cannot afford a call a hop
 * (cycle_fast*.c). The same routes and channels as route_torus.c, from which it is filled. */
#pragma once

#include "solvers/flit/prepared.h"

/* Route word: a field for each dimension with hops left, the first in the low bits, and one for the node.
 * Field, low bits first: output of the router (2 d + direction; 2 n_dims + place of the node at its router),
 * a bit for the channels of the far side of the dateline, hops left behind the next one. */
struct fc_route_fields {
    int n_dims;
    uint32_t per_router, n_outs;      /* n_outs: outputs a router, its ejection links too */
    uint8_t out_bits, hop_bits, bits; /* of a field: output, hops; of the whole word */
    uint8_t at[FC_MAX_DIMS];          /* places of the dimensions in: */
    uint32_t mask[FC_MAX_DIMS];       /* as many ones as a dimension's index has bits */
    uint64_t *from, *to;              /* [n_routers] whose sum, with those of the ties, are indices into: */
    uint64_t ties[1 << FC_MAX_DIMS];
    uint64_t *start[FC_MAX_DIMS]; /* [tie, edges, k + difference] the field, its length << 32, hops << 48 */
    uint8_t vcs[2 * 64];          /* [far side << out_bits | output] virtual channels */
};
/* Fills all but the tables; false when the network is not a torus or mesh in dimension order with single
 * cables, without bubble, at most 64 outputs a router, whose route word has at most 48 bits. */
bool fc_route_torus_fields(const struct fc_flit_net *flit, struct fc_route_fields *fields);
/* All. */
enum fc_code fc_route_torus_start_tables(const struct fc_flit_net *flit, struct fc_route_fields *fields,
                                         struct fc_arena *arena, struct fc_status *st);

/* The link of a router's output, FC_NONE at the edge of a mesh; whether that of port 2 d + direction crosses
 * the dateline of d. */
uint32_t fc_route_torus_link(const struct fc_flit_net *flit, uint32_t router, uint32_t out);
bool fc_route_torus_wraps(const struct fc_flit_net *flit, uint32_t router, uint32_t port);

/* A packet's first route word, its hops and bits. n_dims: f->n_dims. */
static inline uint64_t fc_route_fields_start(const struct fc_route_fields *f, const uint32_t n_dims, uint32_t src,
                                             uint32_t dst, uint32_t ties, uint32_t *hops, uint32_t *bits)
{
    uint32_t place = 0;
    if (__builtin_expect(f->per_router > 1, 0)) {
        place = dst % f->per_router;
        src /= f->per_router;
        dst /= f->per_router;
    }
    uint64_t index = f->from[src] + f->to[dst] + f->ties[ties & ((1u << n_dims) - 1)], route = 0, at = 0;
    for (uint32_t d = 0; d < n_dims; d++) {
        uint64_t field = f->start[d][index >> f->at[d] & f->mask[d]];
        route |= (uint64_t)(uint32_t)field << (at & 63);
        at += field >> 32;
    }
    *hops = (uint32_t)(at >> 16);
    *bits = (uint32_t)(at & 63) + f->out_bits + 1;
    return route | (uint64_t)(2 * n_dims + place) << (at & 63);
}
