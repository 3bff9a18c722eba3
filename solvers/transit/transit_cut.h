/* transit_cut.h - how fast a message can be whatever paths its packets take (transit_cut.c). */
#pragma once

#include "models/models.h"

struct fc_cuts {
    uint32_t *depth;     /* [n_vertices] hops from the source of the walk at hand, FC_NONE: not on it */
    bool *seen;          /* [n_links] */
    double *bytes_per_s; /* [capacity] of the links that many hops from it */
    size_t capacity;
};
enum fc_code fc_cuts_open(struct fc_cuts *cuts, const struct fc_network *net, struct fc_status *st);
void fc_cuts_close(struct fc_cuts *cuts);
/* The least, over all distances from src, of what all links of the walk at that distance carry together, bytes/s. INFINITY: its paths to a
 * vertex differ in length, or no link is finite; NaN with the status filled: out of memory. O(walk). */
double fc_cut_of_walk(struct fc_cuts *cuts, const struct fc_network *net, uint32_t src, const struct fc_walk *walk,
                      struct fc_status *st);
