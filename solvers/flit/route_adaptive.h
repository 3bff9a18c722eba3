/* route_adaptive.h - minimal adaptive routing on tori and meshes with single cables, for loops that cannot
 * afford a call and a list of choices a hop (event_torus.c). The same routes and channels as route_torus.c,
 * from which it is filled. */
#pragma once

#include "solvers/flit/route.h"

/* Row of a router: its first ejection link, bit 2d + direction where that port crosses a dateline, the link
 * of each port 2d + direction. */
enum { FC_ROUTE_EJECTION, FC_ROUTE_WRAPS, FC_ROUTE_PORTS };
/* The route word is that of route_torus.c: hops left in each dimension, and in the named bits the rest. */
struct fc_route_adaptive {
    const uint32_t *row;            /* [n_routers][width] */
    uint64_t hops;                  /* mask of all hops left */
    uint64_t field[FC_MAX_DIMS];    /* of those of a dimension */
    uint64_t step[2 * FC_MAX_DIMS]; /* a hop by that port, added to a word whose last port is 0 */
    uint64_t no_port;               /* mask of the last port */
    uint32_t width, per_router;
    int n_dims;
    uint8_t minus, crossed, last; /* places: first bit of the - directions, the far sides, the last port */
    bool plus_first, bubble;
    uint8_t full_size;
    uint8_t dim_at[64]; /* dimension of a bit of the hops left */
    bool ring[FC_MAX_DIMS];
    uint16_t free_vcs; /* adaptive channels: the n_free behind those of the escape */
    uint32_t n_free;
    uint16_t vcs[2][FC_MAX_DIMS]; /* [side of the dateline][dimension] of the escape; 0: there is none */
    /* If flit->own_fifos: injection channels of each port; or, if n_fifos is not 0, those to draw from. */
    uint16_t fifos[2 * FC_MAX_DIMS], fifo[FC_FLIT_MOST_VCS];
    uint32_t n_fifos;
    /* By fc_route_torus_adaptive_starts: */
    const uint64_t *place;   /* [n_routers] coordinates side by side */
    uint8_t at[FC_MAX_DIMS]; /* where each lies, and its mask */
    uint32_t coordinate[FC_MAX_DIMS], k[FC_MAX_DIMS];
    uint64_t *start[FC_MAX_DIMS]; /* [tie * 2k + k + difference of coordinates] the dimension's part of a route */
};
/* False when the network's routing is another, or its rows have parallel cables. */
bool fc_route_torus_adaptive_fields(const struct fc_flit_net *flit, struct fc_route_adaptive *fields);

enum fc_code fc_route_torus_adaptive_starts(const struct fc_flit_net *flit, struct fc_route_adaptive *fields,
                                            struct fc_arena *arena, struct fc_status *st);

/* A packet's first route; `ties` has a bit a dimension. */
static inline uint64_t fc_route_adaptive_start(const struct fc_route_adaptive *f, uint32_t src, uint32_t dst,
                                               uint32_t ties)
{
    if (__builtin_expect(f->per_router > 1, 0)) {
        src /= f->per_router;
        dst /= f->per_router;
    }
    uint64_t from = f->place[src], to = f->place[dst], route = f->no_port;
    for (int d = 0; d < f->n_dims; d++) {
        uint32_t k = f->k[d], x = k + ((uint32_t)(to >> f->at[d]) & f->coordinate[d]) -
                                  ((uint32_t)(from >> f->at[d]) & f->coordinate[d]);
        route |= f->start[d][(2 * k & -(ties >> d & 1)) + x];
    }
    return route;
}

/* Injection channels of a packet, if flit->own_fifos; 0: any, it has no hops to go. */
static inline uint32_t fc_route_adaptive_fifos(const struct fc_route_adaptive *f, uint32_t random, uint64_t route)
{
    uint32_t fifos = 0;
    if (f->n_fifos) return f->fifo[fc_route_drawn(random, f->n_fifos)];
    for (uint32_t d = 0; d < (uint32_t)f->n_dims; d++)
        fifos |= f->fifos[2 * d + (uint32_t)(route >> (f->minus + d) & 1)] & -(uint32_t)((route & f->field[d]) != 0);
    return fifos;
}

/* The route behind a hop by port 2d + direction. */
static inline uint64_t fc_route_adaptive_after(const struct fc_route_adaptive *f, uint32_t wraps, uint64_t route,
                                               uint32_t port)
{
    return ((route & ~f->no_port) + f->step[port]) | (uint64_t)(wraps >> port & 1) << (f->crossed + port / 2);
}
/* The port of the escape: of the first dimension with hops left, or of the first that moves +. */
static inline uint32_t fc_route_adaptive_escape(const struct fc_route_adaptive *f, uint64_t route)
{
    uint32_t first = f->dim_at[__builtin_ctzll(route)];
    for (uint32_t d = first; f->plus_first && d < (uint32_t)f->n_dims; d++)
        if ((route & f->field[d]) && !(route >> (f->minus + d) & 1)) return 2 * d;
    return 2 * first + (uint32_t)(route >> (f->minus + first) & 1);
}
/* The escape by that port for a head that came by channel in_vc. */
static inline struct fc_flit_choice fc_route_adaptive_escape_choice(const struct fc_route_adaptive *f,
                                                                    const uint32_t *row, uint64_t route, uint32_t port,
                                                                    uint32_t in_vc)
{
    uint64_t after = fc_route_adaptive_after(f, row[FC_ROUTE_WRAPS], route, port);
    uint16_t vcs = f->vcs[after >> (f->crossed + port / 2) & 1][port / 2];
    bool within = (uint32_t)(route >> f->last) == port;
    within = within & (vcs >> in_vc & 1);
    return (struct fc_flit_choice){.route = after,
                                   .link = row[FC_ROUTE_PORTS + port],
                                   .vcs = vcs,
                                   .escape = 1,
                                   .room_packets = (uint8_t)(f->bubble * (1 + (!within & f->ring[port / 2]))),
                                   .full_size = f->full_size};
}
