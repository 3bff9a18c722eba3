/* trace_demand.c - point-to-point bytes of a trace as a demand between its ranks.
 *
 * Sends count at the sender; one-sided calls count with the data they move: a put towards its target, a get
 * from it, an update (fetch and op) both ways. Entries are unique, sorted by source then destination; calls
 * without a byte count as messages. Collectives are not in it: their volume depends on the algorithm
 * (solvers/). */
#include "traces/trace_format.h"

#include <stdlib.h>

struct flow {
    uint32_t src, dst;
    double bytes, messages;
};

/* Flows of one event, 0 to 2 of them. */
static int flows_of(uint32_t rank, const struct fc_event *e, struct flow flow[2])
{
    struct flow out = {rank, (uint32_t)e->peer, (double)e->bytes, 1}, back = {out.dst, rank, out.bytes, 1};
    if (e->op == FC_OP_SEND || e->op == FC_OP_ISEND || (e->op == FC_OP_RMA && e->mode == 0)) {
        flow[0] = out;
        return 1;
    }
    if (e->op != FC_OP_RMA) return 0;
    flow[0] = back;
    flow[1] = out;
    return e->mode == 1 ? 1 : 2;
}

/* All flows into `flow` (NULL: only counted), source-major except what one-sided reads add. */
static size_t collect(const struct fc_trace *trace, struct flow *flow)
{
    size_t n = 0;
    for (uint32_t r = 0; r < trace->n_ranks; r++)
        for (uint64_t i = trace->first_event[r]; i < trace->first_event[r + 1]; i++) {
            struct flow of_event[2];
            int count = flows_of(r, &trace->events[i], of_event);
            for (int k = 0; k < count; k++, n++)
                if (flow) flow[n] = of_event[k];
        }
    return n;
}

/* One pass of a stable counting sort by source or destination: O(flows + ranks). */
static void sort_by(const struct flow *from, struct flow *to, size_t n, bool by_dst, uint64_t *first,
                    uint32_t n_ranks)
{
    for (uint32_t r = 0; r <= n_ranks; r++) first[r] = 0;
    for (size_t i = 0; i < n; i++) first[(by_dst ? from[i].dst : from[i].src) + 1]++;
    for (uint32_t r = 0; r < n_ranks; r++) first[r + 1] += first[r];
    for (size_t i = 0; i < n; i++) to[first[by_dst ? from[i].dst : from[i].src]++] = from[i];
}

static size_t merge(struct flow *flow, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept && flow[kept - 1].src == flow[i].src && flow[kept - 1].dst == flow[i].dst) {
            flow[kept - 1].bytes += flow[i].bytes;
            flow[kept - 1].messages += flow[i].messages;
        } else {
            flow[kept++] = flow[i];
        }
    }
    return kept;
}

static enum fc_code fill(const struct flow *flow, size_t n, struct fc_demand *demand, struct fc_status *st)
{
    demand->src = fc_alloc(&demand->arena, n, sizeof *demand->src, st);
    demand->dst = fc_alloc(&demand->arena, n, sizeof *demand->dst, st);
    demand->bytes = fc_alloc(&demand->arena, n, sizeof *demand->bytes, st);
    demand->messages = fc_alloc(&demand->arena, n, sizeof *demand->messages, st);
    if (!demand->src || !demand->dst || !demand->bytes || !demand->messages) return FC_NO;
    demand->n_entries = n;
    for (size_t i = 0; i < n; i++) {
        demand->src[i] = flow[i].src;
        demand->dst[i] = flow[i].dst;
        demand->bytes[i] = flow[i].bytes;
        demand->messages[i] = flow[i].messages;
    }
    return FC_OK;
}

enum fc_code fc_demand_from_trace(const struct fc_trace *trace, struct fc_demand *demand,
                                  struct fc_status *st)
{
    struct fc_arena scratch = {0};
    *demand = (struct fc_demand){.n_tasks = trace->n_ranks};
    size_t n = collect(trace, NULL);
    struct flow *flow = fc_alloc(&scratch, n, sizeof *flow, st);
    struct flow *other = fc_alloc(&scratch, n, sizeof *flow, st);
    uint64_t *first = fc_alloc(&scratch, (size_t)trace->n_ranks + 1, sizeof *first, st);
    enum fc_code code = flow && other && first ? FC_OK : FC_NO;
    if (!code) {
        collect(trace, flow);
        sort_by(flow, other, n, true, first, trace->n_ranks);
        sort_by(other, flow, n, false, first, trace->n_ranks);
        n = merge(flow, n);
        demand->name =
            fc_copy_text(&demand->arena, trace->program && *trace->program ? trace->program : "trace", st);
        code = demand->name ? fill(flow, n, demand, st) : FC_NO;
    }
    fc_arena_free(&scratch);
    if (code) fc_arena_free(&demand->arena);
    return code;
}
