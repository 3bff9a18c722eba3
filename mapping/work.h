/* work.h - private to mapping/, cli's map and the bound beside an answer: what the parts of a run cost, before they are run.
 *
 * The unit is a link update of the search; FC_WORK_PER_S of them take a second of a quiet core or less. Prices are
 * upper estimates from the sizes of the job and the machine, measured on the shipped machines (work.c): no clock is
 * read, so what a budget pays for is the same on every machine and with any number of threads. */
#pragma once

#include "mapping/mapping.h"

#define FC_WORK_PER_S 6e7

/* A budget in seconds as work; what is above a million seconds is that. */
uint64_t fc_work_of_s(double time_s);
/* Making the mapping of a strategy by name, "scotch:1" too; those that search, and files: 0. */
uint64_t fc_strategy_work(const struct fc_map_problem *problem, const char *name);
/* fc_mapping_bound; the part of it that looks for the grid of a job that does not say its own, 0: it does not look. */
uint64_t fc_grid_find_work(const struct fc_map_problem *problem);
uint64_t fc_bound_work(const struct fc_map_problem *problem);
/* fc_load_solve of one mapping, bounds of adaptive routings included, whatever the mapping. */
uint64_t fc_load_work(const struct fc_map_problem *problem);
