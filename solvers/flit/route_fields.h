/* route_fields.h - dimension-order routing as plain bit fields, for loops that cannot afford a call a hop
 * (cycle_fast.c). The same routes and channels as route_torus.c, from which it is filled. */
#ifndef FC_FLIT_ROUTE_FIELDS_H
#define FC_FLIT_ROUTE_FIELDS_H

#include "solvers/flit/kernel.h"

/* A hop by port 2 d + direction of a router; port 2 n_dims: the first of its ejection links. */
struct fc_route_port {
    uint32_t wraps; /* bit of the route word that it sets: the dateline of d is behind */
    uint32_t link;
};
/* What to do at a head whose lowest bit of hops left is that of the index; at `end`: it has arrived. */
struct fc_route_step {
    uint32_t unit;          /* a hop */
    uint8_t minus, crossed; /* places of the dimension's bits in the route word */
    uint8_t port, is_hop;   /* 2 d; 1 (arrived: 0) */
    uint8_t vcs[2];         /* [side of the dateline] */
    uint8_t padding[6];
};
/* Route word, low bits first: hops left in each dimension, a bit a dimension for the - direction, a bit a
 * dimension for the far side of the dateline. */
struct fc_route_fields {
    uint32_t hops;                 /* mask of all hops left */
    uint32_t end;                  /* the bit above them */
    struct fc_route_step step[32]; /* by bit of the route word */
    uint8_t minus, crossed;
    int n_dims;
    uint32_t per_router, width; /* width: outputs, the ejection links as one */
    uint64_t *place; /* [n_routers] coordinates side by side, each in a field for numbers below 2k */
    uint64_t sizes;  /* the sizes k likewise */
    uint8_t at[FC_MAX_DIMS], bits[FC_MAX_DIMS]; /* of the fields */
    uint64_t
        *start[FC_MAX_DIMS];    /* [tie << bits | k + difference] hops << 32 | route word of the dimension */
    struct fc_route_port *port; /* [n_routers][stride], place and start too by fc_route_torus_ports */
};
/* Fills all but the tables; false when the network is not a torus or mesh in dimension order with single
 * cables, without bubble, whose route word of 31 bits fits. */
bool fc_route_torus_fields(const struct fc_flit_net *flit, struct fc_route_fields *fields);
enum fc_code fc_route_torus_ports(const struct fc_flit_net *flit, uint32_t stride,
                                  struct fc_route_fields *fields, struct fc_arena *arena,
                                  struct fc_status *st);

/* A packet's first route word and, from bit 32, its hops. */
static inline uint64_t fc_route_fields_start(const struct fc_route_fields *f, uint32_t src, uint32_t dst,
                                             uint32_t ties)
{
    if (__builtin_expect(f->per_router > 1, 0)) {
        src /= f->per_router;
        dst /= f->per_router;
    }
    uint64_t differences = f->place[dst] + f->sizes - f->place[src], route = 0;
    for (int d = 0; d < f->n_dims; d++) {
        uint32_t bits = f->bits[d], x = (uint32_t)(differences >> f->at[d]) & ((1u << bits) - 1);
        route += f->start[d][(ties >> d & 1) << bits | x];
    }
    return route;
}

#endif
