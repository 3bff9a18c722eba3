/* event_count.h - what the packet-event engine counts near borders of the measurement and of intervals (event_count.c). */
#pragma once

#include "solvers/flit/event.h"

/* A packet that starts on the link now, near a border of the measurement. */
void fc_event_count_edge(struct fc_event_block *block, uint32_t link, uint32_t flits, uint32_t flit_ticks);
void fc_event_count_occupancy_at_edge(struct fc_event_block *block, uint64_t arrived, uint32_t vc, uint64_t n,
                                      int64_t slower);
/* By intervals: flits on their way to a channel between routers; a return; whether it is this tick's token
 * that lets a head that waited move. */
void fc_event_count_intervals(struct fc_event_block *block, uint32_t flits, uint32_t flit_ticks, int vc);
void fc_event_count_return(struct fc_event_block *block, uint64_t tick);
void fc_event_count_unblocked(struct fc_event_block *block, struct fc_event_tokens *tokens);

/* n flits that were in a buffer leave it, one in out_ticks. */
static inline void fc_event_count_occupancy(struct fc_event_block *block, const struct fc_event_packet *packet,
                                            uint32_t vc, uint64_t n, uint32_t out_ticks)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now, arrived = packet->ready - block->engine->router_ticks;
    int64_t slower = (int64_t)out_ticks - (int64_t)block->engine->times[packet->in_class].flit;
    if (arrived < counts->measure_from || now >= counts->measure_to || slower)
        fc_event_count_occupancy_at_edge(block, arrived, vc, n, slower);
    else
        counts->occupancy_flit_ticks[vc] += (now - arrived) * n;
}
