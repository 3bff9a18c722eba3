/* flow_paths.c - shortest paths to a destination under prices of links, and what they prove.
 *
 * Weak duality: for any prices y >= 0 with sum_l y_l b_l = 1 and any flow of all traffic,
 *
 *   max_l load_l / b_l >= sum_l y_l b_l (load_l / b_l) = sum_l y_l load_l >= sum_{s,t} D(s,t) dist_y(s,t),
 *
 * so the right-hand side bounds every routing over the paths allowed (Shahrokhi & Matula, J. ACM 37, 1990; Dally &
 * Towles, ch. 3). Minimal paths: one pass over the commodity's arcs, nearest to the target first. All paths: Dijkstra
 * with a binary heap, until all sources are reached. */
#include "solvers/bound/flow.h"

#include <string.h>

enum fc_code fc_flow_search_start(const struct fc_bound_flow *flow, struct fc_arena *arena, struct fc_flow_search *s,
                                  struct fc_status *st)
{
    uint32_t n = flow->n_vertices;
    memset(s, 0, sizeof *s);
    s->distance = fc_alloc(arena, n, sizeof *s->distance, st);
    s->amount = fc_alloc(arena, n, sizeof *s->amount, st);
    s->next = fc_alloc(arena, n, sizeof *s->next, st);
    s->order = fc_alloc(arena, n, sizeof *s->order, st);
    s->heap = fc_alloc(arena, n, sizeof *s->heap, st);
    s->place = fc_alloc(arena, n, sizeof *s->place, st);
    return st->code;
}

static void over_minimal(const struct fc_bound_flow *flow, uint32_t c, const double *length, struct fc_flow_search *s)
{
    const uint32_t *arc = fc_flow_arcs(flow, c);
    uint64_t n = flow->first_variable[c + 1] - flow->first_variable[c];
    uint32_t last = flow->target[c];
    s->n_order = 0;
    s->distance[last] = 0;
    for (uint64_t i = flow->first_source[c]; i < flow->first_source[c + 1]; i++)
        s->distance[flow->source[i]] = INFINITY;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t a = arc[i], v = flow->from[a];
        double d = s->distance[flow->to[a]] + length[a];
        if (v != last) {
            s->order[s->n_order++] = last = v;
            s->distance[v] = INFINITY;
        }
        if (d < s->distance[v]) s->distance[v] = d, s->next[v] = a;
    }
    s->steps += (double)n;
}

/* ---- Dijkstra: heap[1 .. n] of vertices by distance, place[v] its position + 1, 0: never met ---- */

static void sift_up(struct fc_flow_search *s, uint32_t at)
{
    uint32_t v = s->heap[at];
    for (; at > 0 && s->distance[s->heap[(at - 1) / 2]] > s->distance[v]; at = (at - 1) / 2) {
        s->heap[at] = s->heap[(at - 1) / 2];
        s->place[s->heap[at]] = at + 1;
    }
    s->heap[at] = v;
    s->place[v] = at + 1;
}

static uint32_t take_nearest(struct fc_flow_search *s, uint32_t *n)
{
    uint32_t nearest = s->heap[0], v = s->heap[--*n], at = 0;
    for (uint32_t child; (child = 2 * at + 1) < *n; at = child) {
        if (child + 1 < *n && s->distance[s->heap[child + 1]] < s->distance[s->heap[child]]) child++;
        if (s->distance[s->heap[child]] >= s->distance[v]) break;
        s->heap[at] = s->heap[child];
        s->place[s->heap[at]] = at + 1;
    }
    s->heap[at] = v;
    s->place[v] = at + 1;
    return nearest;
}

static void over_all(const struct fc_bound_flow *flow, uint32_t c, const double *length, struct fc_flow_search *s)
{
    uint32_t t = flow->target[c], n = 0;
    uint64_t missing = flow->first_source[c + 1] - flow->first_source[c];
    for (uint32_t v = 0; v < flow->n_vertices; v++) s->distance[v] = INFINITY;
    for (uint64_t i = flow->first_source[c]; i < flow->first_source[c + 1]; i++) s->amount[flow->source[i]] = 1;
    s->n_order = 0;
    s->distance[t] = 0;
    s->heap[n++] = t;
    while (n > 0 && missing > 0) {
        uint32_t v = take_nearest(s, &n);
        if (v != t) s->order[s->n_order++] = v;
        missing -= s->amount[v] != 0;
        if (v >= flow->net->n_routers && v != t) continue;
        for (uint32_t i = flow->first_in[v]; i < flow->first_in[v + 1]; i++) {
            uint32_t a = flow->in[i], u = flow->from[a];
            double d = s->distance[v] + length[a];
            if (!(d < s->distance[u])) continue;
            if (isinf(s->distance[u])) s->heap[n] = u, s->place[u] = ++n;
            s->distance[u] = d;
            s->next[u] = a;
            sift_up(s, s->place[u] - 1);
        }
        s->steps += 4 * (flow->first_in[v + 1] - flow->first_in[v]) + 8;
    }
    for (uint64_t i = flow->first_source[c]; i < flow->first_source[c + 1]; i++) s->amount[flow->source[i]] = 0;
}

double fc_flow_price(const struct fc_bound_flow *flow, uint32_t c, const double *length, struct fc_flow_search *s)
{
    double sum = 0;
    (flow->paths == FC_FLOW_ALL ? over_all : over_minimal)(flow, c, length, s);
    for (uint64_t i = flow->first_source[c]; i < flow->first_source[c + 1]; i++)
        sum += flow->bytes[i] * s->distance[flow->source[i]];
    return sum;
}

uint32_t fc_flow_tree(const struct fc_bound_flow *flow, uint32_t c, struct fc_flow_search *s, uint32_t *arc,
                      double *bytes)
{
    uint32_t n = 0;
    for (uint64_t i = flow->first_source[c]; i < flow->first_source[c + 1]; i++)
        s->amount[flow->source[i]] = flow->bytes[i];
    for (uint32_t i = s->n_order; i-- > 0;) {
        uint32_t v = s->order[i];
        if (s->amount[v] == 0) continue;
        arc[n] = s->next[v];
        bytes[n++] = s->amount[v];
        s->amount[flow->to[s->next[v]]] += s->amount[v];
        s->amount[v] = 0;
    }
    s->amount[flow->target[c]] = 0;
    return n;
}

/* ---- what prices prove ---- */

void fc_flow_lengths(const struct fc_bound_flow *flow, const double *price, double *length)
{
    for (uint32_t a = 0; a < flow->n_arcs; a++) {
        uint32_t row = flow->row[a];
        length[a] = row == FC_FLOW_FREE ? 0 : row == FC_FLOW_DEAD ? (double)INFINITY : price[row];
    }
}

double fc_flow_prove(struct fc_flow_state *state, double *price)
{
    const struct fc_bound_flow *flow = state->flow;
    double scale = 0, bound = 0;
    for (uint32_t r = 0; r < flow->n_rows; r++) scale += price[r] * flow->capacity[r];
    if (!(scale > 0)) return 0;
    for (uint32_t r = 0; r < flow->n_rows; r++) price[r] /= scale;
    fc_flow_lengths(flow, price, state->length);
    for (uint32_t c = 0; c < flow->n_commodities; c++) bound += fc_flow_price(flow, c, state->length, &state->search);
    if (bound > state->lower_s) {
        state->lower_s = bound;
        memcpy(state->price, price, flow->n_rows * sizeof *price);
    }
    return bound;
}

bool fc_flow_done(const struct fc_flow_state *state, double gap)
{
    double floor_s = fmax(state->lower_s, state->flow->node_s);
    return state->upper_s <= floor_s * (1 + gap);
}
