/* bipartition.h - private to mapping/: a graph cut in two (bipartition.c), and by that a job mapped
 * (bisection.c). */
#pragma once

#include "mapping/hop_search.h"

/* An undirected weighted graph; every edge stands at both ends. */
struct fc_cut_graph {
    uint32_t n;
    uint32_t *size;  /* [n] tasks in the vertex */
    double *pull;    /* [n] cost of side 1 minus cost of side 0 for the vertex, from what lies outside the graph */
    uint64_t *first; /* [n + 1] */
    uint32_t *other; /* [first[n]] */
    double *weight;  /* [first[n]] cost of the edge when cut */
};
/* Memory that is taken and given back like a stack. */
struct fc_pool {
    char *data;
    size_t size, used;
};
/* Cuts so that side 0 gets exactly `target` of the tasks, where all sizes are 1: side[n]. Takes
 * FC_CUT_STREAMS streams from `stream` on. False when the pool does not suffice; what was taken of it is
 * given back. */
enum { FC_CUT_STREAMS = 1024 };
bool fc_bipartition(const struct fc_cut_graph *graph, uint64_t target, struct fc_pool *pool, uint64_t seed,
                    uint64_t stream, uint8_t *side, uint64_t *work);

/* Maps by dual recursive bisection (bisection.c): slot[graph->n]. Needs a distance table. Adds to *work what
 * it cost, in link updates. Uses many streams from `stream` on: calls should differ by 2^32. */
enum fc_code fc_bisection_map(const struct fc_sites *sites, const struct fc_unit_graph *graph,
                              const struct fc_distance_table *table, uint64_t seed, uint64_t stream, uint32_t *slot,
                              uint64_t *work, struct fc_status *st);
