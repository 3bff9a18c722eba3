/* flow_edges.c - the flow program with one variable a link and destination, as bound.h writes it, by GLPK.
 *
 * A row of z - load / capacity >= 0 for every row of the network, conservation at every vertex but the target for
 * every destination. Minimal paths keep the variables of their arcs only. The presolver, then the primal simplex method;
 * the prices of the capacity rows prove the bound (flow_paths.c), so that a wrong answer of the solver could not
 * pass. Small programs: some 10^4 variables. */
#include "solvers/bound/flow.h"
#include "solvers/glpk_thread.h"

#include <string.h>

struct edges {
    glp_prob *lp;
    const struct fc_bound_flow *flow;
    double scale_s, scale_bytes; /* z and flows of about 1 */
    int *at;                     /* [n_vertices] conservation row of the commodity, 0: none */
    int z;
    double *price, value; /* the answer: [n_rows] of the capacity rows, and of the objective */
    struct fc_status *st;
};

/* Row of vertex v of the commodity, made at its first use. */
static int row_of(struct edges *e, uint32_t c, uint32_t v)
{
    if (v == e->flow->target[c]) return 0;
    if (!e->at[v]) {
        e->at[v] = glp_add_rows(e->lp, 1);
        glp_set_row_bnds(e->lp, e->at[v], GLP_FX, 0, 0);
    }
    return e->at[v];
}

static void add_commodity(struct edges *e, uint32_t c)
{
    const struct fc_bound_flow *flow = e->flow;
    const uint32_t *arc = fc_flow_arcs(flow, c);
    uint64_t n = flow->first_variable[c + 1] - flow->first_variable[c];
    memset(e->at, 0, flow->n_vertices * sizeof *e->at);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t a = arc[i], from = flow->from[a], to = flow->to[a], r = flow->row[a];
        bool passes_node = to >= flow->net->n_routers && to != flow->target[c];
        if (r == FC_FLOW_DEAD || passes_node || from == flow->target[c]) continue;
        int rows[4], count = 0, column = glp_add_cols(e->lp, 1), out = row_of(e, c, from), in = row_of(e, c, to);
        double values[4];
        if (out) rows[++count] = out, values[count] = 1;
        if (in) rows[++count] = in, values[count] = -1;
        if (r != FC_FLOW_FREE)
            rows[++count] = (int)r + 1, values[count] = -e->scale_bytes / (flow->capacity[r] * e->scale_s);
        glp_set_col_bnds(e->lp, column, GLP_LO, 0, 0);
        glp_set_mat_col(e->lp, column, count, rows, values);
    }
    for (uint64_t i = flow->first_source[c]; i < flow->first_source[c + 1]; i++) {
        double bytes = flow->bytes[i] / e->scale_bytes;
        glp_set_row_bnds(e->lp, row_of(e, c, flow->source[i]), GLP_FX, bytes, bytes);
    }
}

static void set_up(struct edges *e)
{
    const struct fc_bound_flow *flow = e->flow;
    e->lp = glp_create_prob();
    glp_set_obj_dir(e->lp, GLP_MIN);
    e->z = glp_add_cols(e->lp, 1);
    glp_set_obj_coef(e->lp, e->z, 1);
    glp_set_col_bnds(e->lp, e->z, GLP_LO, 0, 0);
    glp_add_rows(e->lp, (int)flow->n_rows);
    for (uint32_t r = 0; r < flow->n_rows; r++) {
        int column[] = {0, e->z};
        double one[] = {0, 1};
        glp_set_row_bnds(e->lp, (int)r + 1, GLP_LO, 0, 0);
        glp_set_mat_row(e->lp, (int)r + 1, 1, column, one);
    }
    for (uint32_t c = 0; c < flow->n_commodities; c++) add_commodity(e, c);
}

static void solve(void *of)
{
    struct edges *e = of;
    const struct fc_bound_flow *flow = e->flow;
    glp_smcp parameters;
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_OFF;
    parameters.presolve = GLP_ON;
    parameters.meth = GLP_PRIMAL;
    parameters.tol_bnd = parameters.tol_dj = 1e-9;
    set_up(e);
    if (glp_simplex(e->lp, &parameters) || glp_get_status(e->lp) != GLP_OPT) {
        fc_refuse(e->st, FC_NO, "GLPK did not solve the flow program of %d rows and %d columns (its edge form)",
                  glp_get_num_rows(e->lp), glp_get_num_cols(e->lp));
        return;
    }
    for (uint32_t r = 0; r < flow->n_rows; r++)
        e->price[r] = fmax(0, glp_get_row_dual(e->lp, (int)r + 1)) / flow->capacity[r];
    e->value = glp_get_obj_val(e->lp);
}

enum fc_code fc_flow_edges(struct fc_flow_state *state, struct fc_status *st)
{
    const struct fc_bound_flow *flow = state->flow;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct edges e = {.flow = flow, .scale_s = state->upper_s, .st = st};
    e.price = fc_alloc(&scratch, flow->n_rows, sizeof *e.price, st);
    e.at = fc_alloc(&scratch, flow->n_vertices, sizeof *e.at, st);
    for (uint64_t i = 0; i < flow->first_source[flow->n_commodities]; i++)
        e.scale_bytes = fmax(e.scale_bytes, flow->bytes[i]);
    if (!st->code && !fc_glpk(solve, &e, "the flow program", st)) {
        fc_flow_prove(state, e.price);
        state->upper_s = fmin(state->upper_s, e.value * e.scale_s);
    }
    return st->code;
}
