/* hop_search.h - private to mapping/: annealing of hop time on a table of distances (hop_search.c). */
#pragma once

#include "mapping/search.h"

/* distance[i * n + j]: what a byte costs from allowed node i to j, seconds of link time summed over its
 * route, or hops of a shortest path where following every route would cost more than `most_work` link
 * updates. */
struct fc_distance_table {
    uint32_t n;
    float *distance; /* [n][n]; NULL: too many nodes, or too costly */
    uint64_t work;   /* what the table cost, link updates */
};
enum { FC_MOST_TABLE_NODES = 4096 };
enum fc_code fc_distances_all(const struct fc_sites *sites, uint64_t most_work, struct fc_arena *arena,
                              struct fc_distance_table *table, struct fc_status *st);

/* Sum over edges of bytes * distance with unit u in slot[u]. */
double fc_hop_cost(const struct fc_unit_graph *graph, const struct fc_distance_table *table, const uint32_t *slot,
                   uint32_t slots_per_node);
/* Anneals slot[n] (n_slots = table->n * slots_per_node) and leaves the cheapest placement met, from `heat`
 * times the mean cost a unit down to a hundredth of it. kind[n_slots] (may be NULL): only slots of one kind
 * change contents. stop (may be NULL): not 0 ends it. */
enum fc_code fc_hop_anneal(const struct fc_unit_graph *graph, const struct fc_distance_table *table,
                           uint32_t slots_per_node, const uint32_t *kind, double heat, uint64_t work,
                           const volatile int *stop, uint64_t seed, uint64_t stream, uint32_t *slot,
                           struct fc_status *st);
