/* event_inbox.c - what another block sent to a block of the packet-event engine, taken in at the start of a window. Channels are
 * told apart, and what concerns one of them comes from one block in order, so that the order of blocks does not matter. */
#include "solvers/flit/event.h"
#include "solvers/flit/event_node.h"
#include "solvers/flit/event_tokens.h"
#include "solvers/flit/event_torus.h"
#include "solvers/flit/event_transfer.h"

void fc_event_read_outbox(struct fc_event_block *block, const struct fc_event_arrival *arrival, uint32_t n_arrivals,
                          const struct fc_event_return *back, uint32_t n_back)
{
    bool torus = block->engine->is_adaptive_torus;
    for (uint32_t i = 0; i < n_arrivals; i++) {
        uint32_t p = fc_event_new_packet(block);
        if (p == 0) return;
        block->packet[p] = arrival[i].packet;
        if (torus)
            fc_event_torus_append(block, arrival[i].channel, p);
        else
            fc_event_append(block, arrival[i].channel, p);
    }
    for (uint32_t i = 0; i < n_back; i++)
        if (torus)
            fc_event_torus_return(block, back[i].link, back[i].vc, &back[i].ramp);
        else
            fc_event_take_return(block, back[i].link, back[i].vc, &back[i].ramp);
}
