/* job_demand.c - all bytes of a recorded job as one demand: point-to-point messages, and collective calls
 * as the messages of their algorithms (collective.c). Entries are unique, sorted by source then
 * destination.
 *
 * Calls that are alike on one communicator are expanded once and counted. O(messages of distinct calls +
 * ranks). */
#include "solvers/replay/job_calls.h"
#include "traces/flows.h"

struct counter {
    uint64_t *count; /* [n_schedules] calls of the communicator at hand */
    uint32_t *used;  /* schedules with a count, in order of first use */
};

/* The messages of the calls of one communicator, calls[first .. end). */
static enum fc_code add_comm(const struct fc_trace *trace, const struct fc_job_calls *calls, uint32_t first,
                             uint32_t end, struct counter *c, struct fc_flows *flows, struct fc_status *st)
{
    const uint32_t *member = trace->comm_member + trace->comm_first[calls->calls[first].comm];
    uint32_t n_used = 0;
    for (uint32_t i = first; i < end; i++)
        if (c->count[calls->calls[i].schedule]++ == 0) c->used[n_used++] = calls->calls[i].schedule;
    for (uint32_t u = 0; u < n_used; u++) {
        const struct fc_call_schedule *s = &calls->schedules[c->used[u]];
        double times = (double)c->count[c->used[u]];
        c->count[c->used[u]] = 0;
        for (uint64_t i = 0; i < s->n_messages; i++) {
            const struct fc_message *m = &s->messages[i];
            if (fc_flows_add(flows, (struct fc_flow){member[m->from], member[m->to], times * m->bytes, times}, st))
                return st->code;
        }
    }
    return FC_OK;
}

static enum fc_code add_calls(const struct fc_trace *trace, const struct fc_job_calls *calls, struct fc_arena *scratch,
                              struct fc_flows *flows, struct fc_status *st)
{
    struct counter c = {fc_alloc(scratch, calls->n_schedules, sizeof *c.count, st),
                        fc_alloc(scratch, calls->n_schedules, sizeof *c.used, st)};
    if (!c.count || !c.used) return st->code;
    for (uint32_t first = 0, end; first < calls->n_calls; first = end) {
        for (end = first; end < calls->n_calls && calls->calls[end].comm == calls->calls[first].comm;) end++;
        if (add_comm(trace, calls, first, end, &c, flows, st)) return st->code;
    }
    return FC_OK;
}

enum fc_code fc_demand_of_job(const struct fc_trace *trace, struct fc_demand *demand, struct fc_status *st)
{
    return fc_demand_of_job_by(trace, NULL, demand, st);
}

enum fc_code fc_demand_of_job_by(const struct fc_trace *trace, const struct fc_collective_choice *collectives,
                                 struct fc_demand *demand, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct fc_flows flows = {0};
    struct fc_job_calls calls = {0};
    *demand = (struct fc_demand){0};
    uint64_t *part = fc_alloc(&scratch, trace->first_event[trace->n_ranks], sizeof *part, st);
    enum fc_code code = part ? fc_job_calls_find(trace, collectives, part, &calls, st) : st->code;
    if (!code) code = fc_flows_start(&flows, trace->n_ranks, st);
    if (!code) code = fc_flows_add_events(&flows, trace, st);
    if (!code) code = add_calls(trace, &calls, &scratch, &flows, st);
    if (!code) code = fc_flows_demand(&flows, fc_trace_title(trace), demand, st);
    fc_flows_free(&flows);
    fc_job_calls_free(&calls);
    fc_arena_free(&scratch);
    return code;
}
