/* scotch_target.h - private to mapping/: the network as Scotch's target architecture (scotch_target.c). */
#pragma once

#include "mapping/map_build.h"

#include <stdio.h>
#include <scotch/scotch.h>

/* What Scotch distributes tasks over: part p is places first_place[p] .. first_place[p + 1] - 1 of the
 * allowed nodes. */
struct fc_scotch_target {
    SCOTCH_Arch *arch;
    bool has_arch;
    SCOTCH_Graph *graph; /* of the network; only where the architecture was made from it */
    bool has_graph;
    uint32_t n_parts, *first_place; /* [n_parts + 1] */
    /* A large torus: Scotch's parts are boxes of factor[d] routers a side, each router one of n_parts. */
    bool in_boxes;
    struct fc_grid grid;
    uint32_t factor[FC_MAX_DIMS];
};
/* Whole tori and meshes of up to 5 dimensions: Scotch's own; whole fat trees and two-level networks: trees
 * with a leaf a node or router; all others: a decomposition of the network's graph with the allowed nodes as
 * targets. Free it in any case. FC_FAULT: Scotch fails. */
enum fc_code fc_scotch_target_make(struct fc_scotch_target *target, const struct fc_network *net,
                                   const struct fc_slots *slots, SCOTCH_Context *context, struct fc_arena *arena,
                                   struct fc_status *st);
void fc_scotch_target_free(struct fc_scotch_target *target);
/* Maps the graph's vertices onto the architecture's parts, equal to about a hundredth: part[vertices]. The strategy is Scotch's own
 * default, built here because Scotch goes on without one where it finds no memory for it. FC_NO: out of memory. */
enum fc_code fc_scotch_map(SCOTCH_Context *context, SCOTCH_Graph *graph, SCOTCH_Arch *arch, SCOTCH_Num *part,
                           struct fc_status *st);

/* Who exchanges what: task t with other[e], e in first[t] .. first[t + 1]. */
struct fc_scotch_graph {
    uint32_t n;
    const SCOTCH_Num *first, *other, *weight;
};
/* scotch_boxes.c: whether the grid has too many routers for Scotch, and how many of them a box has in each dimension, 1 or 2,
 * factor[n_dims]; part[n] of boxes becomes part[n] of routers. O(edges x dimensions^2). */
bool fc_scotch_boxes_choose(const struct fc_grid *grid, uint32_t *factor);
enum fc_code fc_scotch_boxes_spread(const struct fc_scotch_graph *graph, const struct fc_grid *grid,
                                    const uint32_t *factor, SCOTCH_Num *part, struct fc_status *st);
