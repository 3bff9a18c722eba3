/* floor_plan.h - racks, where they stand, and what stands in which (floor_plan.c). */
#pragma once

#include "models/models.h"

/* Makes the plan of the network by its machine's `cost:` (rack_nodes, rack_switches, rack_width, rack_depth); without
 * rack_nodes the plan has no racks. The plan's list belongs to the arena. Deterministic. O(links) and a mapping by Scotch.
 * FC_INPUT: a router has more nodes than a rack holds. FC_NO: out of memory. */
enum fc_code fc_floor_plan_make(const struct fc_network *net, struct fc_arena *arena, struct fc_floor_plan *plan,
                                struct fc_status *st);
