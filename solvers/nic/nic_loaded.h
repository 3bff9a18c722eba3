/* nic_loaded.h - waits of barriers and broadcasts beside saturating traffic (nic_loaded.c). Fat-trees. */
#pragma once

#include "models/family_fat_tree.h"
#include "solvers/nic/nic.h"
#include "solvers/nic/nic_spread.h"

struct fc_nic_load {
    const struct fc_machine *machine;
    const struct fc_fat_tree_shape *shape;
    const struct fc_nic_background *background; /* NULL: none, and no waits */
    double step_s;
    struct fc_arena *arena;
    struct fc_status *st;
};
/* A packet from one node to one other, `level` levels up and down. */
enum fc_code fc_nic_wait_way(const struct fc_nic_load *load, int level, struct fc_spread *wait);
/* A packet from a node up to a switch of level `top` and down to nodes first .. first + n_nodes - 1. */
enum fc_code fc_nic_wait_copies(const struct fc_nic_load *load, int top, uint32_t first, uint32_t n_nodes,
                                struct fc_spread *wait);
/* A transfer in its node until its first turn among those of the background. */
enum fc_code fc_nic_wait_source(const struct fc_nic_load *load, struct fc_spread *wait);
/* `ready` signals up a tree of that arity and depth: the last one at the root. */
enum fc_code fc_nic_wait_tree(const struct fc_nic_load *load, int depth, int arity, struct fc_spread *wait);
/* Time of a turn of one background transfer. */
double fc_nic_turn_s(const struct fc_nic_load *load);
