/* network_cut.h - bounds of a network's bisection where there is no closed form (network_cut.c). */
#pragma once

#include "models/models.h"

/* Links of one direction, and their bandwidth, across the least cut between two halves of the nodes (their numbers differ by one
 * at most; routers stand where they like). */
struct fc_bisection {
    double lower_links, lower_bytes_per_s; /* no such cut has less */
    double upper_links, upper_bytes_per_s; /* that of a cut that was found */
};
/* By the second eigenvalue of the Laplacian, and by Scotch's partitions. Bandwidths that are no limit count as the greatest that
 * is. The same on every machine. O(eigenvalue iterations x links + partitions). FC_NO: out of memory. */
enum fc_code fc_bisection_bounds(const struct fc_network *net, struct fc_bisection *bounds, struct fc_status *st);
/* The second smallest eigenvalue of L x = mu M x, L the Laplacian of the symmetric graph of n vertices with `weight` of the arcs
 * first[v] .. first[v + 1] - 1 to other[], M the diagonal of mass >= 0; 0 where the vertices with mass are not all joined. Below
 * the true one by its error (network_cut_spectrum.c). */
enum fc_code fc_second_eigenvalue(uint32_t n, const uint32_t *first, const uint32_t *other, const double *weight,
                                  const double *mass, double *mu, struct fc_status *st);
