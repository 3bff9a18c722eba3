/* search.h - private to mapping/: moving units (tasks, or whole node contents) between slots with the loads
 * of all links kept up to date (unit_graph.c, search.c). */
#ifndef FC_SEARCH_H
#define FC_SEARCH_H

#include "mapping/map_build.h"

/* Who exchanges bytes with whom: the neighbours of unit u are other[first[u] .. first[u+1]), each once,
 * ascending. */
struct fc_unit_graph {
    uint32_t n;       /* units */
    uint64_t *first;  /* [n + 1] */
    uint32_t *other;  /* [first[n]] */
    double *out, *in; /* [first[n]] bytes from u to other, and back */
};
/* The graph of the demand's sparse entries between tasks of different units (unit[n_tasks] < n_units).
 * O(entries). */
enum fc_code fc_unit_graph_build(const struct fc_demand *demand, const uint32_t *unit, uint32_t n_units,
                                 struct fc_arena *arena, struct fc_unit_graph *graph, struct fc_status *st);

/* The places that units may take: slot i is on node[i / slots_per_node]; traffic follows `routing`. */
struct fc_sites {
    const struct fc_network *net;
    const struct fc_routing_ops *routing;
    const uint32_t *node; /* [n_nodes] allowed nodes */
    uint32_t n_nodes, slots_per_node;
};

struct fc_search_settings {
    double start_temperature,
        end_temperature;   /* in relative change of the objective, lowered geometrically */
    int doublings;         /* the norm's p = 2^doublings */
    double hop_weight;     /* weight of ln(hop time) beside ln(p-norm) */
    uint64_t work;         /* link updates allowed */
    double enough_s;       /* a longest link time of this or less ends the search */
    uint64_t seed, stream; /* streams `stream` and `stream` + 1 are used */
};

struct fc_search {
    struct fc_arena arena;
    const struct fc_sites *sites;
    const struct fc_unit_graph *graph;
    uint32_t n_slots;
    uint32_t *place;     /* [n_nodes of the machine] index among the allowed nodes, or FC_NONE */
    uint32_t *slot;      /* [graph->n] slot of each unit */
    uint32_t *unit;      /* [n_slots] unit in each slot, FC_NONE where free */
    uint32_t *unit_node; /* [graph->n] node of each unit */
    double *load;        /* [n_links] bytes */
    double *inverse;     /* [n_links] seconds a byte, over scale_s; 0: never binds */
    double scale_s;      /* longest link time when the sums were last made afresh */
    double power_sum;    /* sum over links of (load * inverse)^p */
    double hop_sum;      /* sum over links of load * inverse */
    double fresh_sum;    /* power_sum when it was last made afresh: it has lost what is far below that */
    int doublings;       /* p = 2^doublings */
    struct fc_walk walk;
    uint64_t work; /* link updates so far */
    /* The links that the last trial touched, with their loads before it. */
    uint32_t *touched, n_touched; /* [n_links] */
    uint32_t *stamp, now;         /* [n_links] == now: touched */
    double *before;               /* [n_links], valid where touched */
    /* Units whose traffic crosses the hottest links. */
    uint32_t *hot, n_hot; /* [graph->n] */
    bool *is_hot;         /* [n_links] */
    uint32_t *best;       /* [graph->n] slots of the best placement met */
    double best_norm;
};

/* Places unit u on slot[u] and sums the loads. On failure nothing is left to free. */
enum fc_code fc_search_start(const struct fc_sites *sites, const struct fc_unit_graph *graph,
                             const uint32_t *slot, struct fc_search *search, struct fc_status *st);
/* Anneals until the work is spent; leaves the placement of the least p-norm met. */
void fc_search_run(struct fc_search *search, const struct fc_search_settings *settings);
/* Longest link time of the present placement, and all link times summed, seconds. */
double fc_search_time_s(const struct fc_search *search);
double fc_search_hop_s(const struct fc_search *search);
/* ln of the p-norm of all link times, p as of the last run. */
double fc_search_norm(const struct fc_search *search);
void fc_search_free(struct fc_search *search);

#endif
