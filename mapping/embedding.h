/* embedding.h - private to mapping/: task grids that fit a torus or mesh exactly (embedding.c). */
#pragma once

#include "mapping/map_build.h"

/* Puts each dimension of the task grid along a torus dimension that it is a multiple of, or inside the
 * router; neighbours in the grid are then neighbours in the torus. core slots: slot[n_tasks] as in fc_slots.
 * False when the machine is no whole torus or mesh or no such choice exists. */
bool fc_embed_grid(const struct fc_map_problem *problem, const struct fc_slots *slots, uint32_t *slot);
