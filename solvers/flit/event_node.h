/* event_node.h - nodes of the packet-event engine: packets that start and that arrive (event_node.c). */
#pragma once

#include "solvers/flit/event.h"

/* Sends what the node can send at this tick. */
void fc_event_inject(struct fc_event_block *block, uint32_t node);
/* A packet will have arrived whole at `tick`. No other event depends on that, so it needs none: it is counted now if
 * this call of advance reaches that far, else kept as a landing. Frees it. */
void fc_event_deliver(struct fc_event_block *block, uint32_t packet, uint64_t tick);
/* Counts the landings that the new `until` reaches. */
void fc_event_land(struct fc_event_block *block);
/* A packet off the free list; 0 when out of memory. */
uint32_t fc_event_new_packet(struct fc_event_block *block);
