/* bipartition.h - private to mapping/: a graph cut in two (bipartition.c), and by that a job mapped (bisection.c). */
#ifndef FC_BIPARTITION_H
#define FC_BIPARTITION_H

#include "mapping/hop_search.h"

/* An undirected weighted graph; every edge stands at both ends. */
struct fc_cut_graph {
    uint32_t n;
    uint32_t *size;    /* [n] tasks in the vertex */
    double *pull;      /* [n] cost of side 1 minus cost of side 0 for the vertex, from what lies outside the graph */
    uint64_t *first;   /* [n + 1] */
    uint32_t *other;   /* [first[n]] */
    double *weight;    /* [first[n]] cost of the edge when cut */
};
/* Cuts so that side 0 gets exactly `target` of the tasks (sizes are 1 at the finest level): side[n]. Scratch of the pool is
 * released before returning. FC_NO when the pool does not suffice. */
struct fc_pool {
    char *data;
    size_t size, used;
};
bool fc_bipartition(const struct fc_cut_graph *graph, uint64_t target, struct fc_pool *pool, uint64_t seed,
                    uint64_t stream, uint8_t *side, uint64_t *work);

/* Maps by dual recursive bisection: slot[graph->n]. Needs a distance table. */
enum fc_code fc_bisection_map(const struct fc_network *net, const struct fc_unit_graph *graph,
                              const struct fc_distance_table *table, const uint32_t *node, uint32_t slots_per_node,
                              uint64_t seed, uint64_t stream, uint32_t *slot, uint64_t *work, struct fc_status *st);

#endif
