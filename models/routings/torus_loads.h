/* torus_loads.h - structural loads of rank-one traffic on tori and meshes under one dimension order. */
#pragma once

#include "models/family_torus.h"

/* Adds to load[n_links] the traffic a[s]*b[d] between ROUTERS s and d (arrays [n_routers]; s == d crosses nothing),
 * dimensions crossed in order[n_dims]. Torus links only. O(n_routers * sum of k). */
enum fc_code fc_torus_rank_one(const struct fc_network *net, const int *order, const double *a, const double *b,
                               double *load, struct fc_status *st);
/* Adds injection and ejection loads of node traffic a[s]*b[d], s != d (arrays [n_nodes]), and sums the nodes' values by
 * router into router_a, router_b [n_routers]. */
void fc_torus_terminal_loads(const struct fc_network *net, const double *a, const double *b, double *load,
                             double *router_a, double *router_b);
/* The c-th dimension order: all permutations for up to 3 dimensions, else the rotations of x y z ... and of its reverse. */
uint32_t fc_torus_n_orders(const struct fc_torus_shape *shape);
void fc_torus_order(const struct fc_torus_shape *shape, uint32_t c, int *order);

static inline uint32_t fc_torus_ejection(const struct fc_network *net, uint32_t node)
{
    uint32_t per_router = fc_torus(net)->nodes_per_router, router = node / per_router;
    return net->first_link[router + 1] - per_router + node % per_router;
}
static inline uint32_t fc_torus_injection(const struct fc_network *net, uint32_t node)
{
    return net->first_link[net->n_routers + node];
}
