/* transit_cut.h - how fast a message can be whatever paths its packets take (transit_cut.c). */
#pragma once

#include "models/models.h"

struct fc_cuts {
    uint32_t *depth;     /* [n_vertices] hops from the source of the walk at hand, FC_NONE: not on it */
    bool *seen;          /* [n_links] */
    double *bytes_per_s; /* [capacity] of the links that many hops from it */
    size_t capacity;
};
/* FC_NO: out of memory; closed also then. O(vertices + links). */
enum fc_code fc_cuts_open(struct fc_cuts *cuts, const struct fc_network *net, struct fc_status *st);
void fc_cuts_close(struct fc_cuts *cuts);
/* The least, over all distances from src, of what all links of the walk at that distance carry together, bytes/s. INFINITY: its paths to a
 * vertex differ in length, or no link is finite; NaN with the status filled: out of memory. O(walk). */
double fc_cut_of_walk(struct fc_cuts *cuts, const struct fc_network *net, uint32_t src, const struct fc_walk *walk,
                      struct fc_status *st);
/* Whether a long message is not bound to the paths drawn for it: under a minimal adaptive routing. */
static inline bool fc_goes_round(const struct fc_network *net)
{
    return net->machine->routing->adaptive && !net->machine->routing->detours;
}
/* The walk's links behind the routers of src, each once, the first `most` of them: how many. O(walk x (src's links + most)). */
uint32_t fc_out_of_walk(const struct fc_network *net, uint32_t src, const struct fc_walk *walk, uint32_t most,
                        uint32_t *link);
