/* collective_deposit.h - private to the broadcasts along lines and planes of a torus (collective_line.c,
 * collective_plane.c): which nodes, how fast, how long on the way. */
#pragma once

#include "models/family_torus.h"
#include "solvers/collective/collective_parts.h"

struct fc_deposit {
    const struct fc_hardware_call *call;
    const struct fc_torus_shape *shape;
    int n_dims, dim[FC_MAX_DIMS]; /* in which the members' nodes differ, ascending */
    uint32_t root;                /* router */
    double rate;                  /* wire bytes/s that the members' links along those dimensions leave, the least */
    double ends_s;                /* a node's link in and out: heads */
};
/* The members fill a box of `n_dims` whole rings. FC_INPUT: the machine does not deposit, or they do not:
 * says why. `what`: the algorithm, for messages. */
enum fc_code fc_deposit_find(const struct fc_hardware_call *call, int n_dims, const char *what,
                             struct fc_deposit *deposit, struct fc_status *st);
/* Head delay of one hop along a dimension. */
double fc_deposit_hop_s(const struct fc_deposit *deposit, int dim);
/* Hops from the root's coordinate to the router's when one goes in the direction. */
static inline uint32_t fc_deposit_hops(const struct fc_deposit *d, uint32_t router, int dim, int direction)
{
    uint32_t k = d->shape->k[dim], from = fc_torus_coordinate(d->shape, d->root, dim),
             to = fc_torus_coordinate(d->shape, router, dim);
    return direction == FC_PLUS ? (to + k - from) % k : (from + k - to) % k;
}
/* When a member has all `n` colours, the c-th there at colour_s[c]: it takes them one by one, o_r each, as
 * they come. */
double fc_deposit_receive_s(const struct fc_software *software, double bytes, const double *colour_s, int n);
