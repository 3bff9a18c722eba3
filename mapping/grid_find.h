/* grid_find.h - private to mapping/: the task grid that a job has without saying so (grid_find.c). */
#pragma once

#include "mapping/search.h"

/* A grid in which all pairs that exchange bytes are neighbours, or those around it in sides that are rings; or in which
 * the pairs that exchange most are that, and the others diagonals: at most one step apart in each dimension. */
struct fc_found_grid {
    int n; /* dimensions, 0: the job has no such grid */
    long long side[FC_MAX_DIMS];
    uint32_t *rank; /* [tasks] number of each task in the grid, the last dimension fastest */
};
/* O(tasks x neighbours^2). A job that is no grid is no failure. */
enum fc_code fc_grid_find(const struct fc_unit_graph *tasks, struct fc_arena *arena, struct fc_found_grid *grid,
                          struct fc_status *st);
/* The demand's messages with its tasks numbered along the grid; `name` and the rest are those of the demand.
 * Lives in the arena; not to be freed by itself. O(entries). */
enum fc_code fc_grid_demand(const struct fc_demand *demand, const struct fc_found_grid *grid, struct fc_arena *arena,
                            struct fc_demand *numbered, struct fc_status *st);
