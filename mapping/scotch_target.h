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
};
/* Whole tori and meshes of up to 5 dimensions: Scotch's own; whole fat trees and two-level networks: trees
 * with a leaf a node or router; all others: a decomposition of the network's graph with the allowed nodes as
 * targets. Free it in any case. FC_FAULT: Scotch fails. */
enum fc_code fc_scotch_target_make(struct fc_scotch_target *target, const struct fc_network *net,
                                   const struct fc_slots *slots, SCOTCH_Context *context, struct fc_arena *arena,
                                   struct fc_status *st);
void fc_scotch_target_free(struct fc_scotch_target *target);
