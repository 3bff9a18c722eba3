/* job_demand.c - all bytes of a recorded job as one demand: point-to-point messages, and collective calls
 * as the messages of their algorithms (collective.c). Entries are unique, sorted by source then
 * destination.
 *
 * Calls that are alike on one communicator are expanded once and counted. O(messages of distinct calls +
 * ranks). */
#include "solvers/job_calls.h"

#include <string.h>

struct flow {
    uint32_t src, dst;
    double bytes, messages;
};

struct counter {
    uint64_t *count; /* [n_schedules] calls of the communicator at hand */
    uint32_t *used;  /* schedules with a count, in order of first use */
};

/* Flows of the calls of one communicator, calls[first .. end); flow NULL: only how many. */
static size_t add_comm(const struct fc_trace *trace, const struct fc_job_calls *calls, uint32_t first,
                       uint32_t end, struct counter *c, struct flow *flow)
{
    const uint32_t *member = trace->comm_member + trace->comm_first[calls->calls[first].comm];
    uint32_t n_used = 0;
    size_t n = 0;
    for (uint32_t i = first; i < end; i++)
        if (c->count[calls->calls[i].schedule]++ == 0) c->used[n_used++] = calls->calls[i].schedule;
    for (uint32_t u = 0; u < n_used; u++) {
        const struct fc_call_schedule *s = &calls->schedules[c->used[u]];
        double times = (double)c->count[c->used[u]];
        c->count[c->used[u]] = 0;
        for (uint64_t i = 0; flow && i < s->n_messages; i++)
            flow[n + i] = (struct flow){member[s->messages[i].from], member[s->messages[i].to],
                                        times * s->messages[i].bytes, times};
        n += s->n_messages;
    }
    return n;
}

static size_t add_calls(const struct fc_trace *trace, const struct fc_job_calls *calls, struct counter *c,
                        struct flow *flow)
{
    size_t n = 0;
    for (uint32_t first = 0, end; first < calls->n_calls; first = end) {
        for (end = first; end < calls->n_calls && calls->calls[end].comm == calls->calls[first].comm;) end++;
        n += add_comm(trace, calls, first, end, c, flow ? flow + n : NULL);
    }
    return n;
}

/* Stable counting sort by source or destination. */
static void sort_by(const struct flow *from, struct flow *to, size_t n, bool by_dst, uint64_t *first,
                    uint32_t n_ranks)
{
    memset(first, 0, ((size_t)n_ranks + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++) first[(by_dst ? from[i].dst : from[i].src) + 1]++;
    for (uint32_t r = 0; r < n_ranks; r++) first[r + 1] += first[r];
    for (size_t i = 0; i < n; i++) to[first[by_dst ? from[i].dst : from[i].src]++] = from[i];
}

static enum fc_code fill(struct fc_demand *demand, const struct flow *flow, size_t n, struct fc_status *st)
{
    demand->src = fc_alloc(&demand->arena, n, sizeof *demand->src, st);
    demand->dst = fc_alloc(&demand->arena, n, sizeof *demand->dst, st);
    demand->bytes = fc_alloc(&demand->arena, n, sizeof *demand->bytes, st);
    demand->messages = fc_alloc(&demand->arena, n, sizeof *demand->messages, st);
    if (st->code) return st->code;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool same = kept && demand->src[kept - 1] == flow[i].src && demand->dst[kept - 1] == flow[i].dst;
        if (!same) {
            demand->src[kept] = flow[i].src;
            demand->dst[kept++] = flow[i].dst;
        }
        demand->bytes[kept - 1] += flow[i].bytes;
        demand->messages[kept - 1] += flow[i].messages;
    }
    demand->n_entries = kept;
    return FC_OK;
}

static enum fc_code merge(const struct fc_trace *trace, const struct fc_job_calls *calls,
                          const struct fc_demand *point_to_point, struct fc_arena *scratch,
                          struct fc_demand *demand, struct fc_status *st)
{
    struct counter c = {fc_alloc(scratch, calls->n_schedules, sizeof *c.count, st),
                        fc_alloc(scratch, calls->n_schedules, sizeof *c.used, st)};
    if (!c.count || !c.used) return st->code;
    size_t n_sent = point_to_point->n_entries, n = n_sent + add_calls(trace, calls, &c, NULL);
    struct flow *flow = fc_alloc(scratch, n, sizeof *flow, st),
                *other = fc_alloc(scratch, n, sizeof *other, st);
    uint64_t *first = fc_alloc(scratch, (size_t)trace->n_ranks + 1, sizeof *first, st);
    if (!flow || !other || !first) return st->code;
    for (size_t i = 0; i < n_sent; i++)
        flow[i] = (struct flow){point_to_point->src[i], point_to_point->dst[i], point_to_point->bytes[i],
                                point_to_point->messages[i]};
    add_calls(trace, calls, &c, flow + n_sent);
    sort_by(flow, other, n, true, first, trace->n_ranks);
    sort_by(other, flow, n, false, first, trace->n_ranks);
    *demand = (struct fc_demand){.n_tasks = trace->n_ranks};
    demand->name = fc_copy_text(&demand->arena, point_to_point->name, st);
    return demand->name ? fill(demand, flow, n, st) : st->code;
}

enum fc_code fc_demand_of_job(const struct fc_trace *trace, struct fc_demand *demand, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct fc_demand point_to_point = {0};
    struct fc_job_calls calls = {0};
    *demand = (struct fc_demand){0};
    uint64_t *part = fc_alloc(&scratch, trace->first_event[trace->n_ranks], sizeof *part, st);
    enum fc_code code = part ? fc_job_calls_find(trace, part, &calls, st) : st->code;
    if (!code) code = fc_demand_from_trace(trace, &point_to_point, st);
    if (!code) code = merge(trace, &calls, &point_to_point, &scratch, demand, st);
    fc_demand_free(&point_to_point);
    fc_job_calls_free(&calls);
    fc_arena_free(&scratch);
    if (code) fc_demand_free(demand);
    return code;
}
