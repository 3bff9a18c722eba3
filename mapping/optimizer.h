/* optimizer.h - private to mapping/: what the parts of the strategy `optimize` share (strategy_optimize.c,
 * optimizer_starts.c, optimizer_search.c). */
#pragma once

#include "mapping/bipartition.h"
#include "mapping/grid_find.h"
#include "mapping/work.h"

/* Starts, and how many of them are left to what is not a strategy: searches, twins of starts. */
enum { FC_MOST_STARTS = 48, FC_SPARE_STARTS = 14 };

/* A placement that a search starts from. The search goes on from the one of least norm, which says more of
 * what can still be reached; the answer is the one of least time. */
struct fc_start {
    const char *name;
    uint32_t *slot;                       /* [n_tasks] of least norm */
    double norm;                          /* ln of the p-norm of its link times */
    uint32_t *best;                       /* [n_tasks] of least time */
    double time_s, hop_s;                 /* its longest link time, and all link times summed */
    bool scattered;                       /* node contents have no structure worth keeping */
    bool by_node, chosen;                 /* searched with whole node contents first; in this round */
    const struct fc_search_settings *how; /* in this round */
    uint64_t sum_work;                    /* link updates to sum the loads */
    uint64_t work;                        /* link updates of its searches so far */
    const struct fc_map_made *made;       /* the solver's figures of it as it started; NULL: not known */
    struct fc_status status;
};

struct fc_optimizer {
    const struct fc_map_problem *problem;
    const struct fc_slots *slots;
    struct fc_arena *arena;
    struct fc_sites sites;
    struct fc_routes routes; /* of the sites */
    struct fc_unit_graph tasks;
    struct fc_found_grid grid; /* of a job that does not say its grid; n 0: none */
    struct fc_demand numbered; /* the job numbered along it */
    bool time_only;            /* hops break ties only: strategy optimize:time */
    struct fc_distance_table table;
    uint32_t *place; /* [n_nodes of the machine] index among the allowed nodes */
    struct fc_start start[FC_MOST_STARTS];
    int n_starts, threads;
    /* Link updates. With `counted` the budget is what is left after all that was done and promised, else that of the
     * searches, and what comes before them costs nothing. */
    uint64_t budget, spent;
    bool counted;
    uint64_t whole;                 /* the searches' budget */
    int percent_done;               /* of the searches' budget: rounds that are over */
    uint64_t evaluation, measuring; /* one fc_load_solve; summing the loads of a start, at most */
    uint64_t stream;                /* next free stream of random numbers */
    bool has_bound;                 /* its price is paid, or it was there */
    struct fc_map_bound bound;      /* of every mapping */
    double bound_s;                 /* no mapping has a shorter longest link time, of payload bytes */
    uint64_t sum_work;              /* what it costs to sum the loads of a placement, link updates */
};

/* Adds the placements that cost little to make; start[0] is rank order. Those that do not apply are left out, and those
 * that half of the budget does not pay for, the cheap ones first. */
enum fc_code fc_optimizer_starts(struct fc_optimizer *o, struct fc_status *st);
/* Forgets the tasks one a node again where these do not meet the bound: searches from other starts go further. */
void fc_optimizer_drop_singles(struct fc_optimizer *o);
/* Adds those that are searched for: by bisection and, for small jobs, by annealing. About a third of the
 * budget. */
enum fc_code fc_optimizer_costly_starts(struct fc_optimizer *o, struct fc_status *st);

/* Adds the job's grid cut evenly for all pairs of groups, where the network has such (optimizer_pairs.c). */
enum fc_code fc_optimizer_pairs(struct fc_optimizer *o, struct fc_status *st);

/* Takes work off the budget. */
static inline void fc_optimizer_spend(struct fc_optimizer *o, uint64_t work)
{
    o->spent += work;
    if (o->counted) o->budget -= work < o->budget ? work : o->budget;
}

/* What was promised and not done. */
static inline void fc_optimizer_refund(struct fc_optimizer *o, uint64_t work)
{
    o->spent -= work;
    if (o->counted) o->budget += work;
}

/* Adds an empty start, its arrays allocated; NULL when memory runs out. */
struct fc_start *fc_optimizer_add(struct fc_optimizer *o, const char *name, struct fc_status *st);

/* optimizer_search.c: measures the starts from `first` on; searches from all of them with the budget; the
 * best so far. */
enum fc_code fc_optimizer_measure(struct fc_optimizer *o, int first, struct fc_status *st);
enum fc_code fc_optimizer_search(struct fc_optimizer *o, struct fc_status *st);
/* Whether the budget pays for a search at all. */
bool fc_optimizer_can_search(const struct fc_optimizer *o);
struct fc_start *fc_optimizer_best(struct fc_optimizer *o);
/* Whether the search was asked to end: what it has is good as it is. */
static inline bool fc_optimizer_stopped(const struct fc_optimizer *o)
{
    return o->problem->stop && *o->problem->stop;
}
/* A longest link time that rounding alone may keep above the bound. */
static inline double fc_optimizer_enough(const struct fc_optimizer *o)
{
    return o->bound_s * (1 + 1e-12);
}
