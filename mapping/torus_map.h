/* torus_map.h - private to mapping/: what strategies for tori and meshes share (torus_map.c). */
#pragma once

#include "mapping/map_build.h"
#include "models/family_torus.h"

/* The shape when the problem may use every node of a torus or mesh, in their order: slot i is then slot i %
 * room of router i / room, room = nodes_per_router * slots->per_node. Else NULL, FC_INPUT naming the
 * strategy. O(nodes). */
const struct fc_torus_shape *fc_map_whole_torus(const struct fc_map_problem *problem, const struct fc_slots *slots,
                                                const char *name, struct fc_status *st);
/* Hops between coordinates a and b of dimension d. */
static inline uint32_t fc_map_hops(const struct fc_torus_shape *s, int d, uint32_t a, uint32_t b)
{
    uint32_t apart = a > b ? a - b : b - a;
    return s->ring[d] && s->k[d] - apart < apart ? s->k[d] - apart : apart;
}
/* How many of n candidates fc_map_link_time can be asked for in about a second: at least 2. */
int fc_map_worth_trying(const struct fc_demand *demand, int n);
/* Longest link time of the mapping, seconds, and (may be NULL) its hop-bytes; adaptive routing split
 * uniformly. */
enum fc_code fc_map_link_time(const struct fc_map_problem *problem, const struct fc_mapping *mapping, double *time_s,
                              double *hop_bytes, struct fc_status *st);
