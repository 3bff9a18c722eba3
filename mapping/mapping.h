/* mapping.h - task mappings: strategies, one a file; a mapping is an array of cores. */
#pragma once

#include "solvers/solvers.h"

/* What a strategy proves of its mapping. */
struct fc_map_proof {
    const char *objective; /* "time" (longest link time, least wire bytes a payload byte) or "hop-bytes"; NULL: none */
    double value, bound;   /* of the mapping; no mapping is under it: seconds, or bytes times links */
    bool proven;           /* the mapping is the best one */
    bool even_splits;      /* adaptive routing: the time is that of even minimal splits, and bounds no other */
};
/* Task t runs on core core[t] of the allowed nodes; node[t] = core[t] / cores_per_node. Owned by the arena. */
struct fc_mapping {
    struct fc_arena arena;
    uint32_t n_tasks;
    uint32_t *core, *node; /* [n_tasks] */
    const char *strategy;
    struct fc_map_proof proof;
    bool stopped; /* problem.stop ended the search; what it has depends on when */
    /* Strategy optimize: the budget ended before a search could begin: the best of the starts that it paid for; and
     * what was done, in link updates (work.h). */
    bool unsearched;
    uint64_t work;
};
struct fc_map_bound;
struct fc_map_made;
struct fc_map_problem {
    const struct fc_network *net;
    const struct fc_demand *demand;
    const uint32_t *nodes; /* nodes that may be used, in order; NULL: all */
    size_t n_nodes;
    const double *background_bytes_per_s; /* [n_links] taken by other jobs; NULL: nothing */
    bool any_nodes; /* nodes may hold different numbers of tasks: asked by those that look at each node's cores */
    bool spread;    /* one task a node (patterns over nodes) instead of filling nodes */
    uint64_t seed;
    const char *argument; /* what follows the strategy's name and a colon, or NULL; set by fc_mapping_make */
    /* Budget in CPU seconds' worth of steps (counted, not timed, so results repeat) of all that a search does: starts,
     * tables, the bound and one evaluation of the answer by fc_load_solve included, whoever does these two. With
     * starts_free it is that of the moves alone, and every start is tried; so it is with time_s 0, for which only the
     * cheap starts are. */
    double time_s;
    bool starts_free;
    double split_share;               /* of fc_load_settings, with which mappings are measured */
    const struct fc_map_bound *bound; /* of this problem, when it is known; NULL: found where it is needed */
    const struct fc_map_made *made;   /* [n_made] mappings of this problem that exist already; NULL: none */
    size_t n_made;
    int threads;
    struct fc_progress *progress;
    /* Not 0, set from a signal handler or another thread: the search `optimize` ends and gives the best it
     * has met. NULL: it always spends its budget. */
    const volatile int *stop;
};
/* The mapping of a strategy, by name, and what fc_load_solve says of it. */
struct fc_map_made {
    const char *strategy;
    const struct fc_mapping *mapping;
    double time_s, hop_bytes;
};
struct fc_strategy_ops {
    const char *name, *help, *source;
    const char *argument; /* what must follow the name and a colon, for people; NULL: nothing need */
    const char *option;   /* what may follow it; NULL: nothing else may */
    enum fc_code (*map)(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st);
    bool blind; /* looks at the number of tasks, not at the traffic */
    /* What it costs beyond a few steps a task, link updates (work.h); NULL: nothing. */
    double (*work)(const struct fc_map_problem *problem);
    bool searches; /* for as long as the problem's time_s allows */
};
extern const struct fc_strategy_ops *const fc_strategies[]; /* NULL-terminated */
enum { FC_EXACT_MOST = 16 };                                /* tasks, and nodes, of the strategy `exact` */
/* A time that no mapping of the problem's tasks onto its nodes can be under, and the argument that gives it. */
struct fc_map_bound {
    double time_s;        /* NaN: none above 0 is known */
    double payload_s;     /* the same of the payload bytes alone; 0: none is known */
    char binds[64];       /* "grid surface, supernodes", "heaviest task, nodes", "all mappings"...; "" with NaN */
    double between_nodes; /* payload bytes between nodes that no mapping is under */
    bool has_mapping;     /* the search of all mappings has found one: task t on allowed node place[t] */
    uint32_t place[FC_EXACT_MOST];
};
/* mapping_bound.c. FC_INPUT: more tasks than cores. O(entries log entries + levels * links + the grid's table); jobs of at
 * most 16 tasks and nodes under a routing of fixed splits up to a tenth of a second more. */
enum fc_code fc_mapping_bound(const struct fc_map_problem *problem, struct fc_map_bound *bound, struct fc_status *st);
/* By strategy name (some with an argument: "shapes:8x4/16x16", "bnm:node=4x4"), launcher file "FORMAT:FILE" (launcher.h)
 * or mapping file (one core number a line in task order, '#' comments). FC_INPUT when more tasks than cores, a core is
 * used twice or out of range. */
enum fc_code fc_mapping_make(const struct fc_map_problem *problem, const char *name_or_file, struct fc_mapping *mapping,
                             struct fc_status *st);
enum fc_code fc_mapping_write(const struct fc_mapping *mapping, const char *path, struct fc_status *st);
void fc_mapping_free(struct fc_mapping *mapping);
