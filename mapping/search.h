/* search.h - private to mapping/: moving units (tasks, or whole node contents) between slots with the loads of all
 * links kept up to date (search.c). */
#ifndef FC_SEARCH_H
#define FC_SEARCH_H

#include "mapping/map_build.h"

/* Who exchanges bytes with whom: the neighbours of unit u are other[first[u] .. first[u+1]), each once, ascending. */
struct fc_unit_graph {
    uint32_t n;       /* units */
    uint64_t *first;  /* [n + 1] */
    uint32_t *other;  /* [first[n]] */
    double *out, *in; /* [first[n]] bytes from u to other, and back */
};
/* The graph of the demand's sparse entries between tasks of different units (unit[n_tasks] < n_units). O(entries). */
enum fc_code fc_unit_graph_build(const struct fc_demand *demand, const uint32_t *unit, uint32_t n_units,
                                 struct fc_arena *arena, struct fc_unit_graph *graph, struct fc_status *st);

/* What a search starts from and what bounds it. */
struct fc_search_settings {
    double start_temperature, end_temperature; /* in relative change of the p-norm, lowered geometrically */
    int doublings;                             /* the norm's p = 2^doublings: 3 is 8 */
    double hop_weight;                         /* weight of ln(hop time) beside ln(p-norm) */
    uint64_t work;                             /* link updates allowed */
    uint64_t seed, stream;
};

struct fc_search {
    struct fc_arena arena;
    const struct fc_network *net;
    const struct fc_unit_graph *graph;
    uint32_t n_slots, slots_per_node;
    const uint32_t *node;  /* [n_slots / slots_per_node] allowed nodes */
    uint32_t *place;       /* [n_nodes of the machine] index in node, FC_NONE where not allowed */
    uint32_t *slot;        /* [graph->n] slot of each unit */
    uint32_t *unit;        /* [n_slots] unit in each slot, FC_NONE where free */
    uint32_t *unit_node;   /* [graph->n] node of each unit */
    double *load;          /* [n_links] bytes */
    double *inverse;       /* [n_links] seconds a byte over the start's longest link time; 0: never binds */
    int doublings;         /* p = 2^doublings */
    double power_sum;      /* sum over links of (load * inverse)^p */
    double hop_sum;        /* sum over links of load * inverse */
    struct fc_walk walk;
    uint64_t work;         /* link updates so far */
    /* The links that the last trial touched, with their loads before it. */
    uint32_t *touched, n_touched, *stamp, now;
    double *before;        /* [n_links], valid where touched */
    /* Units whose traffic crosses the hottest links. */
    uint32_t *hot, n_hot;
    bool *is_hot;          /* [n_links] */
};

/* Places unit u on slot[u] and sums the loads. */
enum fc_code fc_search_start(const struct fc_network *net, const struct fc_unit_graph *graph, const uint32_t *node,
                             uint32_t n_nodes, uint32_t slots_per_node, const uint32_t *slot, struct fc_search *search,
                             struct fc_status *st);
/* Anneals until the work is spent; the search holds the best placement found (by p-norm) at the end. */
void fc_search_run(struct fc_search *search, const struct fc_search_settings *settings, struct fc_progress *progress,
                   double progress_from, double progress_to);
/* Longest link time of the present placement, seconds. */
double fc_search_time_s(const struct fc_search *search);
void fc_search_free(struct fc_search *search);

#endif
