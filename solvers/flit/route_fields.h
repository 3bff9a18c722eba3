/* route_fields.h - dimension-order routing as plain bit fields, for loops that cannot afford a call a hop
 * (cycle_fast.c). The same routes and channels as route_torus.c, from which it is filled. */
#ifndef FC_FLIT_ROUTE_FIELDS_H
#define FC_FLIT_ROUTE_FIELDS_H

#include "solvers/flit/kernel.h"

/* A hop by port 2 d + direction of a router; port 2 n_dims: the first of its ejection links. */
struct fc_route_port {
    uint32_t wraps;        /* bit of the route word that it sets: the dateline of d is behind */
    uint32_t link;
};
/* What to do at a head whose lowest bit of hops left is that of the index; at `end`: it has arrived. */
struct fc_route_step {
    uint32_t unit;         /* a hop */
    uint8_t minus, crossed; /* places of the dimension's bits in the route word */
    uint8_t port, is_hop;  /* 2 d; 1 (arrived: 0) */
    uint8_t vcs[2];        /* [side of the dateline] */
    uint8_t padding[6];
};
/* Route word, low bits first: hops left in each dimension, a bit a dimension for the - direction, a bit a dimension for
 * the far side of the dateline. */
struct fc_route_fields {
    uint32_t hops;         /* mask of all hops left */
    uint32_t end;          /* the bit above them */
    struct fc_route_step step[32]; /* by bit of the route word */
    uint32_t field[FC_MAX_DIMS];
    uint8_t shift[FC_MAX_DIMS], minus, crossed;
    int n_dims;
    uint32_t per_router, width; /* width: outputs, the ejection links as one */
    uint8_t long_minus, long_crossed;  /* places in the route word of route_torus.c */
    struct fc_route_port *port;        /* [n_routers][stride], by fc_route_torus_ports */
};
/* Fills all but `port`; false when the network is not a torus or mesh in dimension order with single cables, without
 * bubble, whose route word of 31 bits fits. */
bool fc_route_torus_fields(const struct fc_flit_net *flit, struct fc_route_fields *fields);
enum fc_code fc_route_torus_ports(const struct fc_flit_net *flit, uint32_t stride,
                                  struct fc_route_fields *fields, struct fc_arena *arena, struct fc_status *st);

/* The route word of these fields from that of route_torus.c. */
static inline uint32_t fc_route_fields_start(const struct fc_route_fields *f, uint64_t route)
{
    uint32_t dims = (1u << f->n_dims) - 1;
    return ((uint32_t)route & f->hops) | ((uint32_t)(route >> f->long_minus) & dims) << f->minus |
           ((uint32_t)(route >> f->long_crossed) & dims) << f->crossed;
}
static inline uint32_t fc_route_fields_hops(const struct fc_route_fields *f, uint32_t route)
{
    uint32_t sum = 0;
    for (int d = 0; d < f->n_dims; d++) sum += (route & f->field[d]) >> f->shift[d];
    return sum;
}

#endif
