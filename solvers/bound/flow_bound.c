/* flow_bound.c - the least greatest link load of a traffic: which method, and what is handed back. */
#include "solvers/bound/flow.h"

#include <string.h>

/* Links and destinations that column generation is tried with; variables of the edge form. */
enum { MOST_MASTER_ROWS = 25000, MOST_EDGE_VARIABLES = 50000 };

static enum fc_code start(struct fc_flow_state *state, const struct fc_bound_flow *flow, struct fc_status *st)
{
    *state = (struct fc_flow_state){.flow = flow};
    state->price = fc_alloc(&state->arena, flow->n_rows, sizeof *state->price, st);
    state->tree_arc = fc_alloc(&state->arena, flow->n_arcs, sizeof *state->tree_arc, st);
    state->tree_bytes = fc_alloc(&state->arena, flow->n_arcs, sizeof *state->tree_bytes, st);
    state->sum = fc_alloc(&state->arena, flow->n_arcs, sizeof *state->sum, st);
    state->load = fc_alloc(&state->arena, flow->n_rows, sizeof *state->load, st);
    state->length = fc_alloc(&state->arena, flow->n_arcs, sizeof *state->length, st);
    return st->code ? st->code : fc_flow_search_start(flow, &state->arena, &state->search, st);
}

static enum fc_code answer(const struct fc_flow_state *state, struct fc_flow_bound *bound, struct fc_status *st)
{
    const struct fc_bound_flow *flow = state->flow;
    bound->paths = flow->paths;
    bound->node_s = flow->node_s;
    bound->lower_s = fmax(state->lower_s, flow->node_s);
    bound->upper_s = fmax(state->upper_s, bound->lower_s); /* above it by rounding only */
    bound->n_commodities = flow->n_targets;
    bound->n_rows = flow->n_rows;
    bound->n_variables = flow->first_variable[flow->n_commodities];
    bound->symmetry = flow->symmetry;
    bound->rounds = state->rounds;
    bound->price = fc_alloc(&bound->arena, flow->net->n_links, sizeof *bound->price, st);
    for (uint32_t l = 0; bound->price && l < flow->net->n_links; l++) {
        uint32_t arc = flow->link_arc[l];
        if (arc != FC_NONE && flow->row[arc] < FC_FLOW_DEAD)
            bound->price[l] = state->price[flow->row[arc]] / flow->row_arcs[flow->row[arc]];
    }
    return st->code;
}

/* Weights first: they give the columns to begin with, prices to hold on to, and often the answer. */
static enum fc_code solve(struct fc_flow_state *state, const struct fc_flow_settings *settings, const char **method,
                          struct fc_status *st)
{
    const struct fc_bound_flow *flow = state->flow;
    double gap = settings->gap > 0 ? settings->gap : 1e-9, work = settings->work > 0 ? settings->work : 5e9;
    bool columns = settings->method == FC_FLOW_COLUMNS ||
                   (settings->method == FC_FLOW_AUTO && flow->n_rows + flow->n_commodities <= MOST_MASTER_ROWS);
    *method = "weights";
    if (settings->method == FC_FLOW_EDGES) {
        double n = (double)flow->first_variable[flow->n_commodities];
        if (n > MOST_EDGE_VARIABLES)
            return fc_refuse(st, FC_NO, "the edge form has %.3g variables (at most %d; column generation takes more)",
                             n, MOST_EDGE_VARIABLES);
        *method = "edges";
        return fc_flow_weights(state, INFINITY, work, 0, st) ? st->code : fc_flow_edges(state, st);
    }
    if (flow->n_commodities > flow->n_targets) columns = false; /* pairs: too many rows for a simplex */
    if (settings->method == FC_FLOW_AUTO && !columns) gap = fmax(gap, 0.005);
    if (!columns) return fc_flow_weights(state, gap, work, UINT64_MAX, st);
    if (fc_flow_weights(state, fmax(gap, 0.01), work / 2, 60, st) || fc_flow_done(state, gap)) return st->code;
    *method = "columns";
    return fc_flow_columns(state, gap, work, st);
}

enum fc_code fc_flow_bound_solve(const struct fc_network *net, const struct fc_node_demand *demand,
                                 const struct fc_flow_settings *settings, struct fc_flow_bound *bound,
                                 struct fc_status *st)
{
    struct fc_bound_flow flow;
    struct fc_flow_state state;
    double gap = settings->gap > 0 ? settings->gap : 1e-9;
    memset(bound, 0, sizeof *bound);
    bound->method = "none";
    if (fc_flow_build(net, demand, settings, &flow, st)) return st->code;
    if (!start(&state, &flow, st) && flow.n_commodities > 0) solve(&state, settings, &bound->method, st);
    if (!st->code) answer(&state, bound, st);
    bound->exact = !st->code && bound->upper_s <= bound->lower_s * (1 + gap);
    fc_flow_pool_free(&state.pool);
    fc_arena_free(&state.arena);
    fc_arena_free(&flow.arena);
    if (st->code) fc_flow_bound_free(bound);
    return st->code;
}

FC_FREES(fc_flow_bound_free, fc_flow_bound)

bool fc_flow_minimal(const struct fc_network *net)
{
    return net->machine->routing->minimal;
}

struct fc_flow_settings fc_flow_cheap(const struct fc_network *net)
{
    return (struct fc_flow_settings){.paths = fc_flow_minimal(net) ? FC_FLOW_MINIMAL : FC_FLOW_ALL,
                                     .most_variables = 6e4,
                                     .work = 1.5e8,
                                     .gap = 1e-6,
                                     .if_cheap = true};
}
