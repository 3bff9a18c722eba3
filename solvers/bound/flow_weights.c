/* flow_weights.c - multiplicative weights: an interval around the least greatest load, in sweeps of shortest paths.
 *
 * Minimises the smooth maximum  phi(f) = mu log sum_l exp(load_l / (b_l mu))  (max <= phi <= max + mu log m) one
 * destination at a time. Its flow is a mixture of a few columns; the shortest paths under the prices
 *
 *   y_l = exp(load_l / (b_l mu)) / b_l,
 *
 * the gradient of phi, join them, and weight goes from the dearest column to the cheapest, by the step that minimises
 * phi on that line (pairwise Frank-Wolfe steps: Lacoste-Julien & Jaggi 2015). mu falls as the gap does. After each sweep
 * the prices prove a bound (flow_paths.c). Grigoriadis & Khachiyan, SIAM J. Optim. 4, 1994; Bienstock, Potential
 * Function Methods for Approximately Solving Linear Programming Problems, 2002. Deterministic: a fixed order, steps
 * counted, no clock. */
#include "solvers/bound/flow.h"

#include <string.h>

enum {
    MOST_COLUMNS = 16, /* of a destination; more are merged */
    MOST_PASSES = 12   /* over all pairs between two searches for paths */
};

struct sweep {
    struct fc_flow_state *state;
    const struct fc_bound_flow *flow;
    double mu, top;                /* prices are exp((load / b - top) / mu) / b */
    double *price;                 /* [n_rows] */
    double *delta;                 /* [n_rows] change of load, zero between steps */
    uint32_t *touched;             /* [n_rows] */
    uint32_t (*set)[MOST_COLUMNS]; /* [n_commodities] columns */
    uint32_t *n_set;               /* [n_commodities] */
};

/* ---- the first flow: at every vertex on over all arcs that are nearer by hops, by their capacities ---- */

static double part_of(const struct fc_bound_flow *flow, uint32_t a)
{
    uint32_t r = flow->row[a];
    return r == FC_FLOW_FREE ? 1 : r == FC_FLOW_DEAD ? 0 : flow->capacity[r];
}

static bool nearer(const struct fc_bound_flow *flow, const struct fc_flow_search *s, uint32_t a)
{
    return s->distance[flow->to[a]] + 1 == s->distance[flow->from[a]] && flow->row[a] != FC_FLOW_DEAD;
}

/* After a search by hops. */
static uint32_t even_flow(struct fc_flow_state *state, uint32_t c)
{
    const struct fc_bound_flow *flow = state->flow;
    struct fc_flow_search *s = &state->search;
    uint32_t n = 0;
    for (uint64_t i = flow->first_source[c]; i < flow->first_source[c + 1]; i++)
        s->amount[flow->source[i]] = flow->bytes[i];
    for (uint32_t i = s->n_order; i-- > 0;) {
        uint32_t v = s->order[i];
        double total = 0;
        if (s->amount[v] == 0) continue;
        for (uint32_t a = flow->first_out[v]; a < flow->first_out[v + 1]; a++)
            if (nearer(flow, s, a)) total += part_of(flow, a);
        for (uint32_t a = flow->first_out[v]; a < flow->first_out[v + 1]; a++) {
            if (!nearer(flow, s, a)) continue;
            state->tree_arc[n] = a;
            state->tree_bytes[n] = s->amount[v] * part_of(flow, a) / total;
            s->amount[flow->to[a]] += state->tree_bytes[n++];
        }
        s->amount[v] = 0;
    }
    s->amount[flow->target[c]] = 0;
    return n;
}

static enum fc_code first_flows(struct sweep *w, struct fc_status *st)
{
    struct fc_flow_state *state = w->state;
    const struct fc_bound_flow *flow = w->flow;
    for (uint32_t a = 0; a < flow->n_arcs; a++) state->length[a] = flow->row[a] == FC_FLOW_DEAD ? (double)INFINITY : 1;
    for (uint32_t v = 0; v < flow->n_vertices; v++) state->search.distance[v] = INFINITY;
    for (uint32_t c = 0; c < flow->n_commodities; c++) {
        if (isinf(fc_flow_price(flow, c, state->length, &state->search))) {
            uint64_t i = flow->first_source[c];
            char from[64], to[64];
            while (state->search.distance[flow->source[i]] < INFINITY) i++;
            return fc_refuse(st, FC_NO, "no way with bandwidth left from %s to %s",
                             fc_vertex_name(flow->net, flow->source[i], from, sizeof from),
                             fc_vertex_name(flow->net, flow->target[c], to, sizeof to));
        }
        uint32_t n = even_flow(state, c);
        w->set[c][0] = state->pool.n_columns;
        w->n_set[c] = 1;
        if (fc_flow_pool_add(&state->pool, c, 1, n, state->tree_arc, state->tree_bytes, st)) return st->code;
        for (uint32_t i = 0; i < state->search.n_order; i++) state->search.distance[state->search.order[i]] = INFINITY;
        state->search.distance[flow->target[c]] = INFINITY;
    }
    return FC_OK;
}

/* ---- one destination ---- */

static void set_price(struct sweep *w, uint32_t r)
{
    w->price[r] = exp((w->state->load[r] / w->flow->capacity[r] - w->top) / w->mu) / w->flow->capacity[r];
}

static double cost(const struct sweep *w, uint32_t column)
{
    const struct fc_flow_pool *p = &w->state->pool;
    const struct fc_flow_column *k = &p->column[column];
    double sum = 0;
    for (uint64_t i = k->first; i < k->first + k->n; i++) {
        uint32_t r = w->flow->row[p->arc[i]];
        if (r < FC_FLOW_DEAD) sum += p->bytes[i] * w->price[r];
    }
    return sum;
}

/* Adds sign x the column's loads to delta and lists the rows. */
static uint32_t change(struct sweep *w, uint32_t column, double sign, uint32_t n)
{
    const struct fc_flow_pool *p = &w->state->pool;
    const struct fc_flow_column *k = &p->column[column];
    for (uint64_t i = k->first; i < k->first + k->n; i++) {
        uint32_t r = w->flow->row[p->arc[i]];
        if (r >= FC_FLOW_DEAD) continue;
        if (w->delta[r] == 0) w->touched[n++] = r;
        w->delta[r] += sign * p->bytes[i];
        if (w->delta[r] == 0) w->delta[r] = 1e-300; /* stays in the list */
    }
    return n;
}

/* Slope of phi, times a positive constant, after `step`. */
static double slope(const struct sweep *w, uint32_t n, double step)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t r = w->touched[i];
        sum += w->delta[r] * w->price[r] * exp(step * w->delta[r] / w->flow->capacity[r] / w->mu);
    }
    return sum;
}

/* The step in [0, most] that minimises phi, a convex function: where its slope changes sign. */
static double best_step(const struct sweep *w, uint32_t n, double most)
{
    double low = 0, high = most, at_low = slope(w, n, 0), at_high = slope(w, n, most);
    if (!(at_low < 0)) return 0;
    if (at_high <= 0) return most;
    for (int i = 0; i < 10 && high - low > 1e-3 * high; i++) {
        double cut = isfinite(at_high) && at_high < -30 * at_low ? at_low / (at_low - at_high) : 0.1;
        double middle = low + (high - low) * fmin(fmax(cut, 0.05), 0.95), at = slope(w, n, middle);
        if (at < 0)
            low = middle, at_low = at;
        else
            high = middle, at_high = at;
    }
    return low;
}

/* Moves weight from column `dear` to column `cheap`. Returns how much. */
static double move(struct sweep *w, uint32_t cheap, uint32_t dear)
{
    struct fc_flow_state *state = w->state;
    struct fc_flow_column *column = state->pool.column;
    uint32_t n = change(w, dear, -1, change(w, cheap, 1, 0));
    double step = best_step(w, n, column[dear].weight);
    column[cheap].weight += step;
    column[dear].weight = step < column[dear].weight ? column[dear].weight - step : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t r = w->touched[i];
        state->load[r] = fmax(0, state->load[r] + step * w->delta[r]);
        w->delta[r] = 0;
        set_price(w, r);
        if (w->flow->symmetry == 1) state->length[w->flow->row_arc[r]] = w->price[r];
    }
    state->steps += 60.0 * n;
    return step;
}

/* Room for one more column: gives up one of no weight, else merges the two lightest. */
static enum fc_code make_room(struct sweep *w, uint32_t c, struct fc_status *st)
{
    struct fc_flow_state *state = w->state;
    struct fc_flow_column *column = state->pool.column;
    uint32_t *set = w->set[c], two[2] = {0, 0};
    for (uint32_t pick = 0; pick < 2; pick++) { /* to the end of the set */
        uint32_t at = 0, end = w->n_set[c] - pick;
        for (uint32_t i = 1; i < end; i++)
            if (column[set[i]].weight < column[set[at]].weight) at = i;
        two[pick] = set[at];
        set[at] = set[end - 1];
        set[end - 1] = two[pick];
        if (column[two[0]].weight == 0) {
            column[two[0]].n = 0;
            w->n_set[c]--;
            return FC_OK;
        }
    }
    double weight = column[two[0]].weight + column[two[1]].weight;
    uint32_t n = fc_flow_mean(state, 2, two);
    column[two[0]].n = column[two[1]].n = 0;
    column[two[0]].weight = column[two[1]].weight = 0;
    w->n_set[c] -= 1;
    set[w->n_set[c] - 1] = state->pool.n_columns;
    return fc_flow_pool_add(&state->pool, c, weight, n, state->tree_arc, state->tree_bytes, st);
}

/* Moves weight from the commodity's dearest column to its cheapest, up to four times. */
static void settle(struct sweep *w, uint32_t c)
{
    struct fc_flow_state *state = w->state;
    bool moved = false;
    for (int step = 0; step < 4 && w->n_set[c] > 1; step++) {
        uint32_t cheap = FC_NONE, dear = FC_NONE;
        double low = INFINITY, high = -1;
        for (uint32_t i = 0; i < w->n_set[c]; i++) {
            uint32_t j = w->set[c][i];
            double of = cost(w, j);
            state->steps += 3.0 * state->pool.column[j].n;
            if (of < low) low = of, cheap = j;
            if (state->pool.column[j].weight > 0 && of > high) high = of, dear = j;
        }
        if (cheap == dear || !(high > low * (1 + 1e-6)) || move(w, cheap, dear) == 0) break;
        moved = true;
    }
    if (moved && w->flow->symmetry > 1) fc_flow_lengths(w->flow, w->price, state->length);
}

/* The shortest paths join the columns. */
static enum fc_code improve(struct sweep *w, uint32_t c, struct fc_status *st)
{
    struct fc_flow_state *state = w->state;
    double least = INFINITY, shortest = fc_flow_price(w->flow, c, state->length, &state->search);
    for (uint32_t i = 0; i < w->n_set[c]; i++) least = fmin(least, cost(w, w->set[c][i]));
    if (shortest < least * (1 - 1e-9)) {
        if (w->n_set[c] == MOST_COLUMNS && make_room(w, c, st)) return st->code;
        uint32_t n = fc_flow_tree(w->flow, c, &state->search, state->tree_arc, state->tree_bytes);
        w->set[c][w->n_set[c]++] = state->pool.n_columns;
        if (fc_flow_pool_add(&state->pool, c, 0, n, state->tree_arc, state->tree_bytes, st)) return st->code;
    }
    settle(w, c);
    return FC_OK;
}

/* ---- sweeps ---- */

static enum fc_code start(struct sweep *w, struct fc_arena *scratch, struct fc_status *st)
{
    const struct fc_bound_flow *flow = w->flow;
    w->price = fc_alloc(scratch, flow->n_rows, sizeof *w->price, st);
    w->delta = fc_alloc(scratch, flow->n_rows, sizeof *w->delta, st);
    w->touched = fc_alloc(scratch, flow->n_rows, sizeof *w->touched, st);
    w->set = fc_alloc(scratch, flow->n_commodities, sizeof *w->set, st);
    w->n_set = fc_alloc(scratch, flow->n_commodities, sizeof *w->n_set, st);
    return st->code ? st->code : first_flows(w, st);
}

/* Closes the gaps of the pool; the sets are read from it anew. */
static void compact(struct sweep *w)
{
    struct fc_flow_pool *p = &w->state->pool;
    fc_flow_pool_compact(p);
    memset(w->n_set, 0, w->flow->n_commodities * sizeof *w->n_set);
    for (uint32_t j = 0; j < p->n_columns; j++) {
        uint32_t c = p->column[j].commodity;
        w->set[c][w->n_set[c]++] = j;
    }
}

static enum fc_code sweep(struct sweep *w, double share, struct fc_status *st)
{
    struct fc_flow_state *state = w->state;
    const struct fc_bound_flow *flow = w->flow;
    w->top = fc_flow_loads(state);
    w->mu = share * w->top / log(flow->n_rows + 2.0);
    for (uint32_t r = 0; r < flow->n_rows; r++) set_price(w, r);
    fc_flow_lengths(flow, w->price, state->length);
    for (uint32_t c = 0; c < flow->n_commodities; c++)
        if (improve(w, c, st)) return st->code;
    uint32_t passes = flow->n_commodities > flow->n_targets ? (uint32_t)fmin(MOST_PASSES, (double)state->rounds) : 0;
    for (uint32_t pass = 0; pass < passes; pass++)
        for (uint32_t c = 0; c < flow->n_commodities; c++) settle(w, c);
    fc_flow_loads(state);
    fc_flow_prove(state, w->price);
    state->rounds++;
    if (state->pool.n_columns > 4 * flow->n_commodities + 1024) compact(w);
    return FC_OK;
}

/* The smoothing falls as sweeps stop to help; columns then begin with few good ways. Where pairs are moved one at a time, and there
 * will be no columns, it is four times as much as the ends are apart: with less, steps become too small before the prices
 * are right. A pair's search for paths costs as much as dozens of moves among the few that it has, so these are made again and again
 * before the next search, ever more often as the paths are found (1000 nodes of a Slim Fly, 12 CPU s: the ends 2.2 % apart without,
 * 0.5 % with 12 passes, and no less with 30). */
enum fc_code fc_flow_weights(struct fc_flow_state *state, double gap, double most_steps, uint64_t most_rounds,
                             struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct sweep w = {.state = state, .flow = state->flow};
    double share = 0.25; /* of the greatest load that the smoothing may add */
    int stalled = 0;
    state->upper_s = INFINITY;
    if (!start(&w, &scratch, st)) fc_flow_loads(state);
    while (!st->code && !fc_flow_done(state, gap) && state->rounds < most_rounds &&
           state->steps + state->search.steps < most_steps) {
        double lower = state->lower_s, upper = state->upper_s;
        if (sweep(&w, share, st)) break;
        double apart = state->upper_s / fmax(state->lower_s, 1e-300) - 1;
        if (w.flow->n_commodities > w.flow->n_targets) {
            share = fmax(fmin(0.25, 4 * apart), gap / 4);
            continue;
        }
        bool better = state->upper_s < upper * (1 - 0.02 * share) || state->lower_s > lower * (1 + 0.02 * share);
        stalled = better ? 0 : stalled + 1;
        if (stalled >= 2 && share > gap / 4) share *= 0.5, stalled = 0;
        share = fmax(fmin(share, apart), gap / 4);
    }
    if (!st->code) compact(&w);
    return st->code;
}
