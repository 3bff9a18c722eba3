/* flow_columns.c - column generation: the flow program over ways found by shortest paths, to its optimum.
 *
 * A column is one flow p of all traffic to one destination c. The master program mixes them (Dantzig & Wolfe 1960):
 *
 *   min z   s.t.  sum_{c,p} w_cp load_p(l) <= z b_l for every row l,   sum_p w_cp = 1 for every c,   w >= 0,
 *
 * and its prices y (the duals of the links, sum y b = 1) and sigma_c ask for the paths of least price: a destination
 * whose shortest paths cost less than sigma_c gives a column. Each set of prices also proves a bound; prices between
 * the best so far and the master's are asked first, which steadies them (Wentges 1997). It ends when the bound and the
 * master meet. GLPK's primal simplex, warm from the last basis. Rows of links that no column fills enter late. */
#include "solvers/bound/flow.h"
#include "solvers/glpk_thread.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 30.0 /* of an iteration, for each row of the program */
enum {
    OBJECTIVE = 1000,       /* coefficient of z: GLPK's tolerances are absolute */
    LARGE_MASTER = 60000,   /* coefficients */
    LITTLE_WORK = 200000000 /* that of a bound beside other answers */
};

struct master {
    struct fc_flow_state *state;
    const struct fc_bound_flow *flow;
    struct fc_status *st;
    glp_prob *lp;
    glp_smcp parameters;
    double scale;              /* seconds of z = 1 */
    int z;                     /* its column */
    int *lp_row;               /* [n_rows] of the master, 0: not in it yet */
    int convexity;             /* row of the first commodity */
    struct fc_flow_pool *pool; /* its column j is the master's j + 2 */
    double *on_row;            /* [n_rows] zero between uses */
    int *index;                /* [n_rows + 2] */
    double *value;
    double *price, *mix; /* [n_rows] */
    double *sigma;       /* [n_commodities] */
    double gap, most_steps;
};

/* ---- rows and columns ---- */

/* Coefficients of a column on the rows that the master has, and of its commodity, into index, value from 1. */
static int coefficients(struct master *m, const struct fc_flow_column *k)
{
    const struct fc_bound_flow *flow = m->flow;
    const uint32_t *arc = m->pool->arc + k->first;
    int n = 0;
    for (uint32_t i = 0; i < k->n; i++)
        if (flow->row[arc[i]] < FC_FLOW_DEAD) m->on_row[flow->row[arc[i]]] += m->pool->bytes[k->first + i];
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t r = flow->row[arc[i]];
        if (r >= FC_FLOW_DEAD || m->on_row[r] == 0) continue;
        if (m->lp_row[r]) m->index[++n] = m->lp_row[r], m->value[n] = m->on_row[r] / flow->capacity[r] / m->scale;
        m->on_row[r] = 0;
    }
    m->index[++n] = m->convexity + (int)k->commodity;
    m->value[n] = 1;
    return n;
}

/* Gives the pool's last column to the master. */
static void add_column(struct master *m)
{
    int j = glp_add_cols(m->lp, 1), n = coefficients(m, &m->pool->column[m->pool->n_columns - 1]);
    glp_set_col_bnds(m->lp, j, GLP_LO, 0, 0);
    glp_set_mat_col(m->lp, j, n, m->index, m->value);
}

/* The state's loads, of the master's mixture. Returns the greatest, seconds. */
static double mixture_loads(struct master *m)
{
    for (uint32_t j = 0; j < m->pool->n_columns; j++)
        m->pool->column[j].weight = fmax(0, glp_get_col_prim(m->lp, (int)j + 2));
    return fc_flow_loads(m->state);
}

/* Rows whose load is above `least_s` enter; the new rows' slacks are basic. Returns how many. */
static uint32_t add_rows(struct master *m, double least_s)
{
    const struct fc_bound_flow *flow = m->flow;
    uint32_t added = 0;
    for (uint32_t r = 0; r < flow->n_rows; r++) {
        if (m->lp_row[r] || m->state->load[r] / flow->capacity[r] <= least_s) continue;
        m->lp_row[r] = glp_add_rows(m->lp, 1);
        int column[] = {0, m->z};
        double minus[] = {0, -1};
        glp_set_row_bnds(m->lp, m->lp_row[r], GLP_UP, 0, 0);
        glp_set_mat_row(m->lp, m->lp_row[r], 1, column, minus);
        added++;
    }
    for (uint32_t j = 0; added && j < m->pool->n_columns; j++)
        glp_set_mat_col(m->lp, (int)j + 2, coefficients(m, &m->pool->column[j]), m->index, m->value);
    return added;
}

/* ---- the master ---- */

/* A basis that is feasible: of each commodity its first column, the flow so far, and z on the worst row. */
static void first_basis(struct master *m)
{
    const struct fc_bound_flow *flow = m->flow;
    const double *load = m->state->load;
    uint32_t worst = 0;
    for (uint32_t r = 0; r < flow->n_rows; r++)
        if (load[r] / flow->capacity[r] > load[worst] / flow->capacity[worst]) worst = r;
    glp_std_basis(m->lp);
    for (uint32_t c = 0; c < flow->n_commodities; c++) {
        glp_set_row_stat(m->lp, m->convexity + (int)c, GLP_NS);
        glp_set_col_stat(m->lp, (int)c + 2, GLP_BS);
    }
    glp_set_row_stat(m->lp, m->lp_row[worst], GLP_NU);
    glp_set_col_stat(m->lp, m->z, GLP_BS);
}

/* The pool anew: first the whole flow of each commodity as one column, then the columns that it is made of. */
static enum fc_code take_pool(struct master *m)
{
    struct fc_flow_state *state = m->state;
    struct fc_flow_pool old = state->pool;
    uint32_t n = m->flow->n_commodities, *first = calloc(n + 2ull, sizeof *first);
    uint32_t *list = calloc(old.n_columns + 1ull, sizeof *list);
    struct fc_flow_pool fresh = {0};
    if (!first || !list) fc_out_of_memory(m->st, "%u columns of the flow program", old.n_columns);
    for (uint32_t j = 0; !m->st->code && j < old.n_columns; j++) first[old.column[j].commodity + 2]++;
    for (uint32_t c = 0; !m->st->code && c < n; c++) first[c + 2] += first[c + 1];
    for (uint32_t j = 0; !m->st->code && j < old.n_columns; j++) list[first[old.column[j].commodity + 1]++] = j;
    for (uint32_t c = 0; !m->st->code && c < n; c++) {
        uint32_t arcs = fc_flow_mean(state, first[c + 1] - first[c], list + first[c]);
        fc_flow_pool_add(&fresh, c, 1, arcs, state->tree_arc, state->tree_bytes, m->st);
    }
    for (uint32_t j = 0; !m->st->code && j < old.n_columns; j++) {
        const struct fc_flow_column *k = &old.column[j];
        bool alone = first[k->commodity + 1] - first[k->commodity] == 1;
        if (!alone) fc_flow_pool_add(&fresh, k->commodity, 0, k->n, old.arc + k->first, old.bytes + k->first, m->st);
    }
    free(first);
    free(list);
    fc_flow_pool_free(&old);
    state->pool = fresh;
    return m->st->code;
}

static enum fc_code reserve(struct master *m, struct fc_arena *scratch)
{
    const struct fc_bound_flow *flow = m->flow;
    m->lp_row = fc_alloc(scratch, flow->n_rows, sizeof *m->lp_row, m->st);
    m->on_row = fc_alloc(scratch, flow->n_rows, sizeof *m->on_row, m->st);
    m->index = fc_alloc(scratch, flow->n_rows + 3ull, sizeof *m->index, m->st);
    m->value = fc_alloc(scratch, flow->n_rows + 3ull, sizeof *m->value, m->st);
    m->price = fc_alloc(scratch, flow->n_rows, sizeof *m->price, m->st);
    m->mix = fc_alloc(scratch, flow->n_rows, sizeof *m->mix, m->st);
    m->sigma = fc_alloc(scratch, flow->n_commodities, sizeof *m->sigma, m->st);
    return m->st->code ? m->st->code : take_pool(m);
}

static void start(struct master *m)
{
    const struct fc_bound_flow *flow = m->flow;
    m->scale = fc_flow_loads(m->state);
    m->lp = glp_create_prob();
    glp_init_smcp(&m->parameters);
    m->parameters.msg_lev = GLP_MSG_OFF;
    m->parameters.tol_bnd = m->parameters.tol_dj = 1e-9;
    m->convexity = glp_add_rows(m->lp, (int)flow->n_commodities);
    for (uint32_t c = 0; c < flow->n_commodities; c++) glp_set_row_bnds(m->lp, m->convexity + (int)c, GLP_FX, 1, 1);
    m->z = glp_add_cols(m->lp, 1);
    glp_set_obj_dir(m->lp, GLP_MIN);
    glp_set_obj_coef(m->lp, m->z, OBJECTIVE);
    glp_set_col_bnds(m->lp, m->z, GLP_LO, flow->node_s / m->scale, 0);
    glp_add_cols(m->lp, (int)m->pool->n_columns);
    for (uint32_t j = 0; j < m->pool->n_columns; j++) glp_set_col_bnds(m->lp, (int)j + 2, GLP_LO, 0, 0);
    add_rows(m, 0.5 * m->scale);
    first_basis(m);
}

/* Primal simplex from the last basis; where that cycles, dual, then from a fresh basis. */
static bool simplex(struct master *m)
{
    static const int methods[] = {GLP_PRIMAL, GLP_DUALP, GLP_PRIMAL};
    for (size_t i = 0; i < FC_COUNT(methods); i++) {
        m->parameters.meth = methods[i];
        double left = (m->most_steps - m->state->steps - m->state->search.steps) / (STEPS * glp_get_num_rows(m->lp));
        m->parameters.it_lim = (int)fmin(5000 + 2 * glp_get_num_rows(m->lp), fmax(1, left));
        if (i == 2) glp_adv_basis(m->lp, 0);
        int before = glp_get_it_cnt(m->lp), failed = glp_simplex(m->lp, &m->parameters);
        m->state->steps += STEPS * (glp_get_it_cnt(m->lp) - before) * glp_get_num_rows(m->lp);
        if (!failed && glp_get_status(m->lp) == GLP_OPT) return true;
        if (failed == GLP_EITLIM && m->state->steps + m->state->search.steps >= m->most_steps) return false;
        bool long_start =
            glp_get_num_nz(m->lp) > LARGE_MASTER && m->most_steps > LITTLE_WORK; /* seconds: one will do */
        if (failed == GLP_EITLIM && long_start) return false;
    }
    return false;
}

/* Solves the master and reads prices. False: GLPK gave up. */
static bool solve(struct master *m)
{
    const struct fc_bound_flow *flow = m->flow;
    for (;;) {
        if (!simplex(m)) return false;
        double z = mixture_loads(m), of_master = glp_get_obj_val(m->lp) / OBJECTIVE * m->scale;
        if (z <= of_master * (1 + 1e-10) || add_rows(m, of_master) == 0) break;
    }
    for (uint32_t r = 0; r < flow->n_rows; r++)
        m->price[r] =
            m->lp_row[r] ? fmax(0, -glp_get_row_dual(m->lp, m->lp_row[r])) / OBJECTIVE / flow->capacity[r] : 0;
    for (uint32_t c = 0; c < flow->n_commodities; c++)
        m->sigma[c] = glp_get_row_dual(m->lp, m->convexity + (int)c) / OBJECTIVE * m->scale;
    return true;
}

/* Asks the prices m->mix for paths: the bound they prove, and columns that the master's own prices welcome. */
static enum fc_code ask(struct master *m, uint32_t *added)
{
    struct fc_flow_state *state = m->state;
    const struct fc_bound_flow *flow = m->flow;
    double scale = 0, bound = 0;
    *added = 0;
    for (uint32_t r = 0; r < flow->n_rows; r++) scale += m->mix[r] * flow->capacity[r];
    if (!(scale > 0)) return FC_OK; /* z stands on the links of a node: no link has a price */
    for (uint32_t r = 0; r < flow->n_rows; r++) m->mix[r] /= scale;
    fc_flow_lengths(flow, m->mix, state->length);
    for (uint32_t c = 0; c < flow->n_commodities; c++) {
        double cost = 0;
        bound += fc_flow_price(flow, c, state->length, &state->search);
        uint32_t n = fc_flow_tree(flow, c, &state->search, state->tree_arc, state->tree_bytes);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t r = flow->row[state->tree_arc[i]];
            if (r < FC_FLOW_DEAD) cost += state->tree_bytes[i] * m->price[r];
        }
        if (cost >= m->sigma[c] - 3e-12 * m->scale) continue;
        if (fc_flow_pool_add(m->pool, c, 0, n, state->tree_arc, state->tree_bytes, m->st)) return m->st->code;
        add_column(m);
        ++*added;
    }
    if (bound > state->lower_s) {
        state->lower_s = bound;
        memcpy(state->price, m->mix, flow->n_rows * sizeof *m->mix);
    }
    state->rounds++;
    return FC_OK;
}

static enum fc_code iterate(struct master *m, double gap, double most_steps)
{
    struct fc_flow_state *state = m->state;
    const struct fc_bound_flow *flow = m->flow;
    const double hold = 0.5; /* part of the best prices in those that are asked */
    for (;;) {
        if (!solve(m)) return FC_OK; /* the interval stands */
        double z = glp_get_obj_val(m->lp) / OBJECTIVE * m->scale;
        uint32_t added = 0;
        for (int try = 0; try < 4 && added == 0; try++) { /* ever nearer to the master's prices, at last those */
            double part = try == 3 ? 0 : ldexp(hold, -2 * try);
            for (uint32_t r = 0; r < flow->n_rows; r++) m->mix[r] = part * state->price[r] + (1 - part) * m->price[r];
            if (ask(m, &added)) return m->st->code;
            if (z <= fmax(state->lower_s, flow->node_s) * (1 + gap)) break;
        }
        if (z <= fmax(state->lower_s, flow->node_s) * (1 + gap) || added == 0) break;
        if (state->steps + state->search.steps >= most_steps) break;
    }
    return FC_OK;
}

static void work(void *of)
{
    struct master *m = of;
    start(m);
    iterate(m, m->gap, m->most_steps);
}

enum fc_code fc_flow_columns(struct fc_flow_state *state, double gap, double most_steps, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct master m = {
        .state = state, .flow = state->flow, .pool = &state->pool, .st = st, .gap = gap, .most_steps = most_steps};
    if (!reserve(&m, &scratch)) fc_glpk(work, &m, "the flow program over paths", st);
    return st->code;
}
