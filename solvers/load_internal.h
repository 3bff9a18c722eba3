/* load_internal.h - the parts of the channel load solver. */
#pragma once

#include "solvers/solvers.h"

/* Demand on nodes: entries between different nodes, and dense parts. Arrays owned by the arena. */
struct fc_node_demand {
    size_t n;
    uint32_t *src, *dst; /* [n] nodes */
    double *bytes;       /* [n] */
    int n_dense;
    double *a[4], *b[4]; /* [n_nodes] */
};

/* adaptive_split.c: minimal adaptive routing on tori; entries added to load[n_links]. share: above 0 to 1, of the full
 * work of finding it. */
enum fc_code fc_adaptive_torus_split(const struct fc_network *net, const struct fc_node_demand *demand, uint64_t seed,
                                     double share, double *load, struct fc_status *st);
/* load_mixture.c: weights w[n] >= 0, sum 1, that minimise max over links of (base + sum w_c load_c) / bandwidth, where
 * load_c = loads + c * n_links. base may be NULL. O(rounds * n * n_links), an LP of n columns by GLPK. */
enum fc_code fc_mixture_weights(const struct fc_network *net, const double *base, const double *loads, uint32_t n,
                                double *weights, struct fc_status *st);
/* cut_bound.c: a lower bound of max over links of load / bandwidth, seconds for payload bytes, that holds for every
 * routing (cuts of the family's partitions) and, on tori, for every minimal routing (dimension averages), with
 * fc_forced_bound in it. */
enum fc_code fc_cut_bound(const struct fc_network *net, const struct fc_node_demand *demand,
                          const double *background_bytes_per_s, double *bound_s, struct fc_status *st);
/* forced_bound.c: a lower bound of the same, seconds, from traffic to which minimal routing leaves no choice (tori, meshes,
 * graphs); 0 for other routings. O(sum of lines^2) or O(destinations x links). */
enum fc_code fc_forced_bound(const struct fc_network *net, const struct fc_node_demand *demand,
                             const double *background_bytes_per_s, double *bound_s, struct fc_status *st);

/* Bandwidth of a link left by the background, bytes/s. */
static inline double fc_free_bandwidth(const struct fc_network *net, const double *background, uint32_t link)
{
    double b = fc_link_bandwidth(net, link);
    return background ? b - background[link] : b;
}
