/* flows.h - bytes between ranks while they are added up: the way from messages to a demand (trace_flows.c).
 */
#pragma once

#include "traces/traces.h"

struct fc_flow {
    uint32_t src, dst;
    double bytes, messages;
};

/* Flows in the order added. When there is no room, those of one pair become one; only then does the room
 * grow, so memory is O(pairs + ranks) whatever the number of messages. The bytes of a pair are always summed
 * in the order added: the same messages give the same double. */
struct fc_flows {
    struct fc_flow *flow, *other; /* [capacity] */
    uint64_t *first;              /* [n_ranks + 1] scratch */
    size_t n, capacity;
    uint32_t n_ranks;
};
/* FC_NO: out of memory; then there is nothing to free. */
enum fc_code fc_flows_start(struct fc_flows *flows, uint32_t n_ranks, struct fc_status *st);
void fc_flows_free(struct fc_flows *flows);

/* Makes room for one more. */
enum fc_code fc_flows_grow(struct fc_flows *flows, struct fc_status *st);
static inline enum fc_code fc_flows_add(struct fc_flows *flows, struct fc_flow flow, struct fc_status *st)
{
    if (flows->n == flows->capacity && fc_flows_grow(flows, st)) return st->code;
    flows->flow[flows->n++] = flow;
    return FC_OK;
}
/* What an event sends by itself, collectives apart: a send towards its peer; a put the same, a get from it,
 * an update both ways. A call without a byte counts as a message. */
enum fc_code fc_flows_add_event(struct fc_flows *flows, uint32_t rank, const struct fc_event *event,
                                struct fc_status *st);
/* The same of all events of the trace, rank by rank (trace_demand.c). */
enum fc_code fc_flows_add_events(struct fc_flows *flows, const struct fc_trace *trace, struct fc_status *st);

/* Sorts by source then destination; flows of one pair become one. O(n + ranks). */
void fc_flows_merge(struct fc_flows *flows);
/* Merges, and copies the flows into a demand of this name. */
enum fc_code fc_flows_demand(struct fc_flows *flows, const char *name, struct fc_demand *demand, struct fc_status *st);
/* What a demand of this trace is called: the command line, or "trace". */
const char *fc_trace_title(const struct fc_trace *trace);
