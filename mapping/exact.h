/* exact.h - private to mapping/: small mapping problems decided exactly, tasks on nodes (strategy_exact.c). */
#pragma once

#include "mapping/search.h"

/* Tasks 0 .. n_tasks-1 go on places 0 .. n_nodes-1, at most capacity[i] on place i. */
struct fc_exact_job {
    uint32_t n_tasks, n_nodes, n_links; /* links that a route between the places may cross and that may bind */
    uint32_t capacity[FC_EXACT_MOST];
    double bytes[FC_EXACT_MOST][FC_EXACT_MOST]; /* from task to task */
    /* Link times are of payload bytes times the mean wire bytes a payload byte of the messages between nodes, as those of
     * fc_load_summarise: which messages these are differs between mappings where tasks share nodes. */
    double wire[FC_EXACT_MOST][FC_EXACT_MOST];    /* wire bytes from task to task */
    bool even_wire;                               /* the mean is the same for every mapping */
    double most_wire;                             /* no mapping has a greater mean */
    uint32_t n_pairs;                             /* of tasks with bytes: pair[i] = from * n_tasks + to, */
    uint16_t pair[FC_EXACT_MOST * FC_EXACT_MOST]; /* least wire bytes a byte first */
    double hops[FC_EXACT_MOST][FC_EXACT_MOST];    /* from place to place: links between routers */
    uint64_t *first;                              /* [n_nodes * n_nodes + 1] the links of a route from i to j are */
    uint32_t *link;                               /* link[first[i * n_nodes + j] ..) */
    double *share_s;                              /* seconds that a byte takes of it */
    uint64_t descent_work; /* link updates after which no further descent begins; 0: all are made */
    /* What looks the same: mappings that differ by these moves alone are alike in time and hops. */
    uint32_t orbit[FC_EXACT_MOST];                /* an automorphism moves the place to place orbit[i] <= i */
    bool node_twin[FC_EXACT_MOST][FC_EXACT_MOST]; /* exchanging the two places is one */
    bool task_twin[FC_EXACT_MOST][FC_EXACT_MOST]; /* exchanging the two tasks changes no messages */
};
struct fc_exact_answer {
    uint32_t node[FC_EXACT_MOST]; /* [n_tasks] places */
    double value, bound;          /* of this mapping; no mapping is under it: seconds, or bytes times hops */
    bool proven;                  /* this mapping is the best, to 1e-9 of its value */
};

/* Routes, distances and symmetries of the demand's tasks on the sites, capacity = sites->slots_per_node, in
 * the arena. At most FC_EXACT_MOST of each. FC_NO: no route between two nodes. */
enum fc_code fc_exact_job_start(const struct fc_sites *sites, const struct fc_demand *demand, struct fc_arena *arena,
                                struct fc_exact_job *job, struct fc_status *st);
/* Finds job->orbit and the twins. O(n_nodes^2 * n_links^2) at most. */
enum fc_code fc_exact_symmetry(struct fc_exact_job *job, struct fc_status *st);

/* Task t on place i has been searched, places[u] being the places still open to tasks that are not on any node[u] yet
 * (FC_NONE) and `depth` the number of those that are. The same holds for t's twins, and for every place that an
 * automorphism makes of i and that leaves the present partial mapping as it is: a twin place when both are empty
 * (used[]), all of i's orbit when nothing is placed. Strikes them out; false when a task has no place left. */
bool fc_exact_strike(const struct fc_exact_job *job, const uint32_t *node, const uint32_t *used, uint32_t depth,
                     uint32_t t, uint32_t i, uint32_t *places);

/* Wire bytes a payload byte between nodes, the mean; with tasks that are not placed (FC_NONE) the least it can become. */
double fc_exact_wire(const struct fc_exact_job *job, const uint32_t *node);
/* Longest link time of a mapping, seconds; load[n_links] is what its payload leaves there. */
double fc_exact_time_s(const struct fc_exact_job *job, const uint32_t *node, double *load);
double fc_exact_hop_bytes(const struct fc_exact_job *job, const uint32_t *node);
/* The best of several descents from random mappings by moves and exchanges: of longest link times (load_s
 * [n_links] is scratch), or of hop-bytes (NULL). Sets answer->node and value. */
void fc_exact_descend(const struct fc_exact_job *job, uint64_t seed, double *load_s, struct fc_exact_answer *answer);

/* The least longest link time, or the least hop-bytes, or what `budget` link updates' worth of work proves of
 * it. least_s: what no mapping is under, as known before. */
enum fc_code fc_exact_load(const struct fc_exact_job *job, double least_s, uint64_t budget, uint64_t seed,
                           struct fc_exact_answer *answer, struct fc_status *st);
enum fc_code fc_exact_hops(const struct fc_exact_job *job, uint64_t budget, uint64_t seed,
                           struct fc_exact_answer *answer, struct fc_status *st);
/* Its second half: improves on answer (node, value, bound set) and on what is proven by GLPK. */
enum fc_code fc_exact_hop_program(const struct fc_exact_job *job, uint64_t budget, struct fc_exact_answer *answer,
                                  struct fc_status *st);

/* Least hop-bytes that task t on place i sends to the tasks that are not placed: its heaviest partners on the nearest
 * free slots. */
double fc_exact_least_sent(const struct fc_exact_job *job, uint32_t t, uint32_t i, const uint32_t *node,
                           const uint32_t *used);
/* Looks for a mapping under answer->value - step and takes it over; true when all were searched within the budget. */
bool fc_exact_hop_search(const struct fc_exact_job *job, double step, uint64_t budget, struct fc_exact_answer *answer);
