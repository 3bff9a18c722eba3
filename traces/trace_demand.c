/* trace_demand.c - point-to-point bytes of a trace as a demand between its ranks.
 *
 * Sends count at the sender; one-sided calls count with the data they move (trace_flows.c). Collectives are
 * not in it: their volume depends on the algorithm (solvers/). */
#include "traces/flows.h"

const char *fc_trace_title(const struct fc_trace *trace)
{
    return trace->program && *trace->program ? trace->program : "trace";
}

enum fc_code fc_flows_add_events(struct fc_flows *flows, const struct fc_trace *trace, struct fc_status *st)
{
    for (uint32_t r = 0; r < trace->n_ranks; r++)
        for (uint64_t i = trace->first_event[r]; i < trace->first_event[r + 1]; i++)
            if (fc_flows_add_event(flows, r, &trace->events[i], st)) return st->code;
    return FC_OK;
}
