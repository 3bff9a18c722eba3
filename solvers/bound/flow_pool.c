/* flow_pool.c - the flows of which the solvers mix an answer. */
#include "solvers/bound/flow.h"

#include <stdlib.h>
#include <string.h>

static bool grow(void *array, size_t count, size_t size)
{
    void **at = array, *more = realloc(*at, count * size);
    if (more) *at = more;
    return more != NULL;
}

enum fc_code fc_flow_pool_add(struct fc_flow_pool *p, uint32_t commodity, double weight, uint32_t n,
                              const uint32_t *arc, const double *bytes, struct fc_status *st)
{
    if (p->n_columns == p->capacity) {
        uint32_t capacity = p->capacity ? 2 * p->capacity : 1024;
        if (!grow(&p->column, capacity, sizeof *p->column))
            return fc_out_of_memory(st, "%u columns of the flow program", capacity);
        p->capacity = capacity;
    }
    if (p->used + n > p->room) {
        uint64_t room = 2 * p->room + n;
        if (!grow(&p->arc, room, sizeof *p->arc) || !grow(&p->bytes, room, sizeof *p->bytes))
            return fc_out_of_memory(st, "%u columns of the flow program", p->n_columns);
        p->room = room;
    }
    p->column[p->n_columns++] = (struct fc_flow_column){commodity, n, p->used, weight};
    memcpy(p->arc + p->used, arc, n * sizeof *arc);
    memcpy(p->bytes + p->used, bytes, n * sizeof *bytes);
    p->used += n;
    return FC_OK;
}

void fc_flow_pool_compact(struct fc_flow_pool *p)
{
    uint32_t kept = 0;
    p->used = 0;
    for (uint32_t j = 0; j < p->n_columns; j++) {
        struct fc_flow_column k = p->column[j];
        if (k.n == 0 || k.weight == 0) continue;
        memmove(p->arc + p->used, p->arc + k.first, k.n * sizeof *p->arc);
        memmove(p->bytes + p->used, p->bytes + k.first, k.n * sizeof *p->bytes);
        k.first = p->used;
        p->used += k.n;
        p->column[kept++] = k;
    }
    p->n_columns = kept;
}

void fc_flow_pool_free(struct fc_flow_pool *p)
{
    free(p->column);
    free(p->arc);
    free(p->bytes);
    memset(p, 0, sizeof *p);
}

uint32_t fc_flow_mean(struct fc_flow_state *state, uint32_t n, const uint32_t *columns)
{
    const struct fc_flow_pool *p = &state->pool;
    double total = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) total += p->column[columns[i]].weight;
    for (uint32_t i = 0; i < n; i++) {
        const struct fc_flow_column *k = &p->column[columns[i]];
        for (uint64_t j = k->first; k->weight > 0 && j < k->first + k->n; j++) {
            if (state->sum[p->arc[j]] == 0) state->tree_arc[count++] = p->arc[j];
            state->sum[p->arc[j]] += k->weight / total * p->bytes[j];
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        state->tree_bytes[i] = state->sum[state->tree_arc[i]];
        state->sum[state->tree_arc[i]] = 0;
    }
    return count;
}

double fc_flow_loads(struct fc_flow_state *state)
{
    const struct fc_bound_flow *flow = state->flow;
    const struct fc_flow_pool *p = &state->pool;
    double most = 0;
    memset(state->load, 0, flow->n_rows * sizeof *state->load);
    for (uint32_t j = 0; j < p->n_columns; j++) {
        const struct fc_flow_column *k = &p->column[j];
        for (uint64_t i = k->first; k->weight > 0 && i < k->first + k->n; i++)
            if (flow->row[p->arc[i]] < FC_FLOW_DEAD) state->load[flow->row[p->arc[i]]] += k->weight * p->bytes[i];
    }
    for (uint32_t r = 0; r < flow->n_rows; r++) most = fmax(most, state->load[r] / flow->capacity[r]);
    state->upper_s = fmin(state->upper_s, most);
    return most;
}
