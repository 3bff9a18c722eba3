/* transit_shapes.h - paths between nodes that lie to each other alike, kept once (transit_shapes.c). */
#pragma once

#include "models/models.h"

enum { FC_SHAPE_GUIDES = 64, FC_SHAPE_OUT = 32 };
/* All paths of a displacement, laid end to end by weight. */
struct fc_way_shape {
    uint32_t n, n_hops;              /* paths; links of each, all alike */
    double cut_bytes_per_s;          /* of all pairs that lie so (fc_cut_of_walk) */
    uint32_t n_out;                  /* links behind the source's router that paths take, at most FC_SHAPE_OUT, */
    uint8_t out[FC_SHAPE_OUT][2];    /* by the ports of the first and the second link of such a path */
    double *seen;                    /* [n] of the weight up to and with this path, of 1 */
    double *head_s;                  /* [n] head delays */
    uint8_t *port;                   /* [n][n_hops] of each link among those of its source vertex */
    uint32_t guide[FC_SHAPE_GUIDES]; /* the point k of FC_SHAPE_GUIDES lies on this path or a later one */
};
struct fc_way_shapes {
    uint32_t n_displacements;    /* 0: the network looks different from each router, or nothing is kept */
    struct fc_way_shape **shape; /* [n_displacements] NULL: none yet */
    uint8_t *asked;              /* [n_displacements] how often, up to 2 */
    size_t bytes;                /* of all shapes */
};
enum fc_code fc_way_shapes_open(struct fc_way_shapes *shapes, const struct fc_network *net, struct fc_status *st);
void fc_way_shapes_close(struct fc_way_shapes *shapes);
/* A shape of n paths, n_hops links each, to be filled; NULL: no room, which is no error. */
struct fc_way_shape *fc_way_shape_new(struct fc_way_shapes *shapes, uint32_t displacement, uint32_t n, uint32_t n_hops);
/* After seen[] is known. */
void fc_way_shape_guide(struct fc_way_shape *shape);
/* The path on which the point x8 / 8 lies, 0 <= x8 <= 8; the last one takes what rounding left. */
static inline uint32_t fc_way_shape_at(const struct fc_way_shape *shape, double x8)
{
    uint32_t k = (uint32_t)(x8 * (FC_SHAPE_GUIDES / 8));
    uint32_t i = shape->guide[k < FC_SHAPE_GUIDES ? k : FC_SHAPE_GUIDES - 1];
    while (i + 1 < shape->n && !(x8 < shape->seen[i] * 8)) i++;
    return i;
}
