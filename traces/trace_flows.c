/* trace_flows.c - messages added up by pair of ranks, and what an event of a trace sends.
 *
 * Two stable counting sorts, by destination and then by source, bring the flows of a pair together in the
 * order added. */
#include "traces/flows.h"

#include <stdlib.h>
#include <string.h>

static enum fc_code resize(struct fc_flows *flows, size_t capacity, struct fc_status *st)
{
    struct fc_flow *flow = realloc(flows->flow, capacity * sizeof *flow);
    if (flow) flows->flow = flow;
    struct fc_flow *other = flow ? realloc(flows->other, capacity * sizeof *other) : NULL;
    if (!other) return fc_out_of_memory(st, "the bytes between %zu pairs of ranks", capacity);
    flows->other = other;
    flows->capacity = capacity;
    return FC_OK;
}

enum fc_code fc_flows_start(struct fc_flows *flows, uint32_t n_ranks, struct fc_status *st)
{
    *flows = (struct fc_flows){.n_ranks = n_ranks};
    flows->first = malloc(((size_t)n_ranks + 1) * sizeof *flows->first);
    if (!flows->first) return fc_out_of_memory(st, "the bytes of %u ranks", n_ranks);
    if (resize(flows, 4 * (size_t)n_ranks + 1024, st)) fc_flows_free(flows);
    return st->code;
}

void fc_flows_free(struct fc_flows *flows)
{
    free(flows->flow);
    free(flows->other);
    free(flows->first);
    *flows = (struct fc_flows){0};
}

/* One pass by source or destination. */
static void sort_by(const struct fc_flow *from, struct fc_flow *to, size_t n, bool by_dst, uint64_t *first,
                    uint32_t n_ranks)
{
    memset(first, 0, ((size_t)n_ranks + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++) first[(by_dst ? from[i].dst : from[i].src) + 1]++;
    for (uint32_t r = 0; r < n_ranks; r++) first[r + 1] += first[r];
    for (size_t i = 0; i < n; i++) to[first[by_dst ? from[i].dst : from[i].src]++] = from[i];
}

void fc_flows_merge(struct fc_flows *flows)
{
    struct fc_flow *flow = flows->flow;
    size_t kept = 0;
    sort_by(flow, flows->other, flows->n, true, flows->first, flows->n_ranks);
    sort_by(flows->other, flow, flows->n, false, flows->first, flows->n_ranks);
    for (size_t i = 0; i < flows->n; i++) {
        if (kept && flow[kept - 1].src == flow[i].src && flow[kept - 1].dst == flow[i].dst) {
            flow[kept - 1].bytes += flow[i].bytes;
            flow[kept - 1].messages += flow[i].messages;
        } else {
            flow[kept++] = flow[i];
        }
    }
    flows->n = kept;
}

/* Merging frees at least half of the room, or the room doubles: O(1) passes an added flow. */
enum fc_code fc_flows_grow(struct fc_flows *flows, struct fc_status *st)
{
    fc_flows_merge(flows);
    return flows->n > flows->capacity / 2 ? resize(flows, 2 * flows->capacity, st) : FC_OK;
}

enum fc_code fc_flows_add_event(struct fc_flows *flows, uint32_t rank, const struct fc_event *e, struct fc_status *st)
{
    struct fc_flow out = {rank, (uint32_t)e->peer, (double)e->bytes, 1}, back = {out.dst, rank, out.bytes, 1};
    if (e->op == FC_OP_SEND || e->op == FC_OP_ISEND || (e->op == FC_OP_RMA && e->mode == 0))
        return fc_flows_add(flows, out, st);
    if (e->op != FC_OP_RMA) return FC_OK;
    if (fc_flows_add(flows, back, st)) return st->code;
    return e->mode == 1 ? FC_OK : fc_flows_add(flows, out, st);
}

enum fc_code fc_flows_demand(struct fc_flows *flows, const char *name, struct fc_demand *demand, struct fc_status *st)
{
    fc_flows_merge(flows);
    size_t n = flows->n;
    *demand = (struct fc_demand){.n_tasks = flows->n_ranks};
    demand->name = fc_copy_text(&demand->arena, name, st);
    demand->src = fc_alloc(&demand->arena, n, sizeof *demand->src, st);
    demand->dst = fc_alloc(&demand->arena, n, sizeof *demand->dst, st);
    demand->bytes = fc_alloc(&demand->arena, n, sizeof *demand->bytes, st);
    demand->messages = fc_alloc(&demand->arena, n, sizeof *demand->messages, st);
    if (!demand->name || !demand->src || !demand->dst || !demand->bytes || !demand->messages) {
        fc_demand_free(demand);
        return st->code;
    }
    demand->n_entries = n;
    for (size_t i = 0; i < n; i++) {
        demand->src[i] = flows->flow[i].src;
        demand->dst[i] = flows->flow[i].dst;
        demand->bytes[i] = flows->flow[i].bytes;
        demand->messages[i] = flows->flow[i].messages;
    }
    return FC_OK;
}
