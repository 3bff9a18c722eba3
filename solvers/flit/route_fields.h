/* route_fields.h - the way of a packet as plain bit fields, for loops that cannot afford a call a hop (cycle_fast*.c):
 * dimension-order routing, with the routes and channels of route_torus.c, from which it is filled; and all routings whose way is
 * known at the source (route_ways.c). */
#pragma once

#include "solvers/flit/route_ops.h"

/* Route word: a field for each dimension with hops left, the first in the low bits, and one for the node.
 * Field, low bits first: output of the router (2 d + direction; 2 n_dims + place of the node at its router),
 * a bit for the channels of the far side of the dateline, hops left behind the next one.
 * Ways: a field for each link, the one to the node last. Field: output of the router (its links in order), class of channels. */
struct fc_route_fields {
    int n_dims;                                  /* 0: ways */
    uint32_t per_router, n_outs;                 /* most nodes a router; outputs a router, its ejection links too */
    uint8_t out_bits, code_bits, hop_bits, bits; /* of a field: output, far side or class, hops; of the whole word */
    uint8_t at[FC_MAX_DIMS];                     /* places of the dimensions in: */
    uint32_t mask[FC_MAX_DIMS];                  /* as many ones as a dimension's index has bits */
    uint64_t *from, *to;                         /* [n_routers] whose sum, with those of the ties, are indices into: */
    uint64_t ties[1 << FC_MAX_DIMS];
    uint64_t *start[FC_MAX_DIMS]; /* [tie, edges, k + difference] the field, its length << 32, hops << 48 */
    uint8_t vcs[2 * 64];          /* [far side or class << out_bits | output] virtual channels */
    uint8_t class_of[256];        /* ways: [virtual channels] */
    bool looked_up;               /* no way: every router asks choices() */
};
/* Fills all but the tables; false when the network is not a torus or mesh in dimension order with single
 * cables, without bubble, at most 64 outputs a router, whose route word has at most 48 bits. */
bool fc_route_torus_fields(const struct fc_flit_net *flit, struct fc_route_fields *fields);
/* All. */
enum fc_code fc_route_torus_start_tables(const struct fc_flit_net *flit, struct fc_route_fields *fields,
                                         struct fc_arena *arena, struct fc_status *st);

/* The same for routings whose ways are known at the source, with all it needs; false where they are not, where nodes have
 * several links or do not follow their routers in order, or where a way has more than 48 bits. */
bool fc_route_ways_fields(const struct fc_flit_net *flit, struct fc_route_fields *fields);
/* Outputs and nodes of routers where every router looks up what a head may do; false where nodes are as above, where there are
 * more than 8 channels, or where a head asks for more than a channel with a credit. */
bool fc_route_looked_up_fields(const struct fc_flit_net *flit, struct fc_route_fields *fields);
/* Walks the way of a head from its source's router: a routing's way() by its own choices(), inlined. */
static inline __attribute__((always_inline)) uint64_t
fc_route_walk(const struct fc_flit_net *flit, const struct fc_route_fields *fields, uint32_t src,
              struct fc_flit_head head, uint32_t *hops, uint32_t *bits,
              int (*choices)(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                             const struct fc_flit_head *head, struct fc_flit_choice *out))
{
    const struct fc_network *net = flit->net;
    const uint32_t field_bits = fields->out_bits + (uint32_t)fields->code_bits;
    uint32_t router = net->link_target[net->first_link[net->n_routers + src]], at = 0, n = 0;
    uint64_t way = 0;
    for (;; n++) {
        struct fc_flit_choice choice;
        choices(flit, router, FC_NONE, 0, &head, &choice);
        uint64_t out = choice.link - net->first_link[router];
        way |= (out | (uint64_t)fields->class_of[choice.vcs] << fields->out_bits) << at;
        at += field_bits;
        router = net->link_target[choice.link];
        if (router >= net->n_routers) break;
        head.route = choice.route;
    }
    *hops = n;
    *bits = at;
    return way;
}

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
