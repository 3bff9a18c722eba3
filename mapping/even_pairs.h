/* even_pairs.h - private to mapping/: a task grid cut for groups of which every two exchange about as much
 * (grid_shifts.c, even_pairs.c). */
#pragma once

#include "mapping/search.h"

/* A torus of tasks, and what neighbours on it exchange: the mean of both ways, 0 beyond the open ends. */
struct fc_task_torus {
    int n; /* dimensions of more than one task */
    uint32_t side[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    uint32_t n_tasks;
    double weight[FC_MAX_DIMS]; /* bytes, the mean over all tasks */
};
/* Of a grid's sides, slowest first; tasks are numbered along it, or number[t] tells their numbers. False: the sides do
 * not hold the tasks, or no neighbours exchange anything. O(tasks x neighbours). */
bool fc_task_torus(const long long *side, int n, const struct fc_unit_graph *tasks, const uint32_t *number,
                   struct fc_task_torus *torus);

/* A group of `n` shifts of the torus: sums of shifts are shifts of it. */
struct fc_grid_shifts {
    uint32_t n, *shift; /* [n] numbers of the tasks that task 0 is shifted to; shift[0] = 0 */
    double short_ones;  /* how many are short, and how much so */
};
enum { FC_MOST_SHIFTS = 1024, FC_MOST_SHIFT_GROUPS = 256 };
/* Up to FC_MOST_SHIFT_GROUPS groups of n shifts with the fewest short ones, best first, of many drawn at random. Returns
 * how many in *found, 0 where the torus has none. O(n x draws). */
enum fc_code fc_grid_shifts_find(const struct fc_task_torus *torus, uint32_t n, uint64_t seed, uint64_t stream,
                                 struct fc_arena *arena, struct fc_grid_shifts *list, int *found, struct fc_status *st);
uint32_t fc_torus_add(const struct fc_task_torus *torus, uint32_t a, uint32_t b);

enum { FC_EVEN_PAIRS_STREAMS = 4 };
struct fc_even_pairs_settings {
    uint64_t work; /* link updates allowed */
    double worth;  /* bytes: of a greatest load that is not below it the search ends early; 0: any is worth it */
    const volatile int *stop;
    uint64_t seed, stream; /* FC_EVEN_PAIRS_STREAMS of them from `stream` on are used */
    int threads;
};
/* What one group of shifts, or the best of several, makes of the torus. */
struct fc_even_pairs {
    uint32_t *group, *cell; /* [tasks of the torus] n groups of tasks; which of its group's tasks, 0 .. tasks / n - 1 */
    double most, sum;       /* bytes that one group sends another, at most; sends all others */
    uint64_t work;          /* done; 0: nothing was, as the torus has no such groups or the work is too little */
};
/* Cuts the torus into n equal groups. The same for any number of threads; *pairs lies in `arena`. Refuses only for want of memory. Cost: at most
 * settings->work, and 8 bytes a task in every thread. */
enum fc_code fc_even_pairs_cut(const struct fc_task_torus *torus, uint32_t n,
                               const struct fc_even_pairs_settings *settings, struct fc_arena *arena,
                               struct fc_even_pairs *pairs, struct fc_status *st);
