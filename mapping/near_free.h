/* near_free.h - private to mapping/: cores still free, and the nearest of them (near_free.c). */
#pragma once

#include "mapping/map_build.h"

/* All arrays in the arena given. */
struct fc_near_free {
    const struct fc_network *net;
    const struct fc_slots *slots;
    uint32_t *place;      /* [n_nodes of the machine] index among the allowed nodes, or FC_NONE */
    uint32_t *taken;      /* [slots->n_nodes] cores taken; fc_near_free_take counts */
    uint32_t *next;       /* [slots->n_nodes + 1] a place at or behind this one with a free core, if any: a shortcut */
    uint32_t *queue;      /* [n_vertices] */
    uint32_t *stamp, now; /* [n_vertices] == now: seen by this search */
};
enum fc_code fc_near_free_start(struct fc_near_free *near, const struct fc_network *net, const struct fc_slots *slots,
                                struct fc_arena *arena, struct fc_status *st);
/* Puts the task on the next free core of the place, which must have one. */
void fc_near_free_take(struct fc_near_free *near, uint32_t place, uint32_t task, struct fc_mapping *mapping);
/* The first places with a free core that a breadth-first search from the node meets, at most `most`; it ends
 * behind most_seen links. Returns how many. */
int fc_near_free_find(struct fc_near_free *near, uint32_t node, uint32_t most_seen, uint32_t *place, int most);
/* The first place at or behind i with a free core, around the end; FC_NONE: none. Near O(1). */
uint32_t fc_near_free_next(struct fc_near_free *near, uint32_t i);
