/* trace_summary.c - totals of a trace, for people.
 *
 * Bytes are counted where they are sent (so a message counts once), collective bytes as each rank recorded
 * them. */
#include "tests/trace_oracles.h"
#include "traces/flows.h"

#include <string.h>

/* Distinct destinations of one rank's sends. Needs no memory of its own: 2^16 ranks at a time in a bit field.
 */
static uint64_t count_peers(const struct fc_trace *trace, uint32_t rank)
{
    enum { WINDOW = 1 << 16 };
    uint64_t count = 0;
    for (uint64_t low = 0; low < trace->n_ranks; low += WINDOW) {
        uint64_t seen[WINDOW / 64] = {0};
        for (uint64_t i = trace->first_event[rank]; i < trace->first_event[rank + 1]; i++) {
            const struct fc_event *e = &trace->events[i];
            if ((e->op != FC_OP_SEND && e->op != FC_OP_ISEND) || (uint64_t)e->peer - low >= WINDOW) continue;
            uint64_t bit = (uint64_t)e->peer - low, *word = &seen[bit / 64], mask = UINT64_C(1) << bit % 64;
            count += !(*word & mask);
            *word |= mask;
        }
    }
    return count;
}

void fc_trace_summarise(const struct fc_trace *trace, struct fc_trace_summary *summary)
{
    double first_s = INFINITY, last_s = 0, n_ranks = trace->n_ranks;
    *summary = (struct fc_trace_summary){.n_events = trace->first_event[trace->n_ranks]};
    for (uint64_t i = 0; i < summary->n_events; i++) {
        const struct fc_event *e = &trace->events[i];
        summary->op_count[e->op]++;
        summary->op_bytes[e->op] += (double)e->bytes;
        summary->n_polls += e->polls;
        summary->compute_s += e->compute_s / n_ranks;
        summary->mpi_s += (e->leave_s - e->enter_s) / n_ranks;
        first_s = fmin(first_s, e->enter_s);
        last_s = fmax(last_s, e->leave_s);
    }
    summary->span_s = fmax(0, last_s - first_s);
    summary->n_messages = summary->op_count[FC_OP_SEND] + summary->op_count[FC_OP_ISEND];
    summary->p2p_bytes = summary->op_bytes[FC_OP_SEND] + summary->op_bytes[FC_OP_ISEND];
    for (int op = FC_OP_BARRIER; op < FC_OP_COMM; op++) {
        summary->n_collectives += summary->op_count[op];
        summary->collective_bytes += summary->op_bytes[op];
    }
    for (uint32_t r = 0; r < trace->n_ranks; r++) summary->n_pairs += count_peers(trace, r);
}

enum fc_code fc_demand_from_trace(const struct fc_trace *trace, struct fc_demand *demand, struct fc_status *st)
{
    struct fc_flows flows;
    *demand = (struct fc_demand){0};
    enum fc_code code = fc_flows_start(&flows, trace->n_ranks, st);
    if (!code) code = fc_flows_add_events(&flows, trace, st);
    if (!code) code = fc_flows_demand(&flows, fc_trace_title(trace), demand, st);
    fc_flows_free(&flows);
    return code;
}
