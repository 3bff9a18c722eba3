/* exact_hops.c - the least hop-bytes of a small job: the quadratic assignment problem by the linearisation of
 * Adams & Johnson, solved by GLPK; asked where exact_hop_search.c has not closed it in half of the budget.
 *
 * x[a,i] = 1 when task a is on place i; y[a,i,b,j] = x[a,i] x[b,j] for pairs a < b that exchange bytes:
 *     minimise  sum of y[a,i,b,j] (bytes a->b * hops i->j + bytes b->a * hops j->i)
 *     sum_i x[a,i] = 1,   sum_a x[a,i] <= capacity of i,
 *     sum_j y[a,i,b,j] = x[a,i],   sum_i y[a,i,b,j] = x[b,j],
 *     sum_b y[a,i,b,j] <= x[a,i] * (capacity of j, less one where i = j),
 * the last from the capacities times x[a,i]; with them the relaxation lies a few percent under the optimum, and
 * without them at half of it. One task stays on one place of each orbit of the network's automorphisms. The
 * search starts from the best of many descents and ends as soon as no mapping can be better by `unit`, of which
 * all costs are multiples. Where the relaxation itself takes too long, the bound is Gilmore & Lawler's: the
 * assignment of least sum over tasks of what each sends to the nearest slots at best. Source: Adams & Johnson,
 * DIMACS Series 16 (1994). Limits: the relaxation is solved in
 * floating point; what it proves is taken 1e-6 lower. The budget is counted in simplex iterations, so that
 * results repeat. */
#include "mapping/exact.h"
#include "solvers/glpk_thread.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const double slack = 1e-6;        /* relative, of what the simplex method proves */
static const double work_per_cell = 6.5; /* link updates' worth of an iteration, for each row and column */

struct program {
    const struct fc_exact_job *job;
    glp_prob *lp;
    int x, y[FC_EXACT_MOST][FC_EXACT_MOST]; /* first columns: x[0,0], y[a,0,b,0] where a < b; 0: none */
    double unit;                            /* costs are multiples of it; 0: not known */
    double *start;                          /* [columns + 1] the descents' mapping */
    int *index;                             /* [most + 1] scratch for a row */
    double *value;
    double bound, best, scale; /* in units of scale */
    int most_iterations;
    uint64_t budget;
    bool started;
    struct fc_exact_answer *answer;
    struct fc_arena *arena;
    struct fc_status *st;
};

static double pair_cost(const struct fc_exact_job *job, uint32_t a, uint32_t i, uint32_t b, uint32_t j)
{
    return job->bytes[a][b] * job->hops[i][j] + job->bytes[b][a] * job->hops[j][i];
}

/* Greatest common divisor of all costs; 0 where they are not whole numbers. */
static double common_unit(const struct fc_exact_job *job)
{
    double unit = 0;
    for (uint32_t a = 0; a < job->n_tasks; a++)
        for (uint32_t b = a + 1; b < job->n_tasks; b++)
            for (uint32_t i = 0; i < job->n_nodes; i++)
                for (uint32_t j = 0; j < job->n_nodes; j++) {
                    double x = pair_cost(job, a, i, b, j), y = unit;
                    if (x != floor(x) || x > 0x1p50) return 0;
                    while (y > 0) {
                        double rest = fmod(x, y);
                        x = y;
                        y = rest;
                    }
                    unit = x;
                }
    return unit;
}

/* ---- the program ---- */

static void add_row(struct program *p, int n, int kind, double bound)
{
    int row = glp_add_rows(p->lp, 1);
    glp_set_mat_row(p->lp, row, n, p->index, p->value);
    glp_set_row_bnds(p->lp, row, kind, bound, bound);
}

static void put(struct program *p, int *n, int column, double value)
{
    p->index[++*n] = column;
    p->value[*n] = value;
}

static int x_of(const struct program *p, uint32_t a, uint32_t i)
{
    return p->x + (int)(a * p->job->n_nodes + i);
}

/* y[a,i,b,j] whichever of a and b is the less; 0: they exchange nothing. */
static int y_of(const struct program *p, uint32_t a, uint32_t i, uint32_t b, uint32_t j)
{
    int first = a < b ? p->y[a][b] : p->y[b][a];
    return first ? first + (int)(a < b ? i * p->job->n_nodes + j : j * p->job->n_nodes + i) : 0;
}

static void add_columns(struct program *p)
{
    const struct fc_exact_job *job = p->job;
    int n = (int)job->n_nodes;
    p->x = glp_add_cols(p->lp, (int)job->n_tasks * n);
    for (int k = 0; k < (int)job->n_tasks * n; k++) glp_set_col_kind(p->lp, p->x + k, GLP_BV);
    for (uint32_t a = 0; a < job->n_tasks; a++)
        for (uint32_t b = a + 1; b < job->n_tasks; b++) {
            if (job->bytes[a][b] == 0 && job->bytes[b][a] == 0) continue;
            p->y[a][b] = glp_add_cols(p->lp, n * n);
            for (uint32_t i = 0; i < job->n_nodes; i++)
                for (uint32_t j = 0; j < job->n_nodes; j++) {
                    int column = y_of(p, a, i, b, j);
                    bool never = i == j && job->capacity[i] == 1;
                    glp_set_col_bnds(p->lp, column, never ? GLP_FX : GLP_LO, 0, 0);
                    glp_set_obj_coef(p->lp, column, pair_cost(job, a, i, b, j) / p->scale);
                }
        }
}

static void add_assignment(struct program *p)
{
    const struct fc_exact_job *job = p->job;
    for (uint32_t a = 0; a < job->n_tasks; a++) {
        int n = 0;
        for (uint32_t i = 0; i < job->n_nodes; i++) put(p, &n, x_of(p, a, i), 1);
        add_row(p, n, GLP_FX, 1);
    }
    for (uint32_t i = 0; i < job->n_nodes; i++) {
        int n = 0;
        for (uint32_t a = 0; a < job->n_tasks; a++) put(p, &n, x_of(p, a, i), 1);
        add_row(p, n, GLP_UP, job->capacity[i]);
    }
}

/* sum_j y[a,i,b,j] = x[a,i] for every ordered pair a, b. */
static void add_links(struct program *p, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < p->job->n_nodes; i++) {
        int n = 0;
        for (uint32_t j = 0; j < p->job->n_nodes; j++) put(p, &n, y_of(p, a, i, b, j), 1);
        put(p, &n, x_of(p, a, i), -1);
        add_row(p, n, GLP_FX, 0);
    }
}

/* sum_b y[a,i,b,j] <= x[a,i] * room of j; equal where every other task is a partner and no place stays free. */
static void add_rooms(struct program *p, uint32_t a)
{
    const struct fc_exact_job *job = p->job;
    uint32_t slots = 0;
    for (uint32_t i = 0; i < job->n_nodes; i++) slots += job->capacity[i];
    for (uint32_t i = 0; i < job->n_nodes; i++)
        for (uint32_t j = 0; j < job->n_nodes; j++) {
            int n = 0, room = (int)job->capacity[j] - (i == j);
            for (uint32_t b = 0; b < job->n_tasks; b++)
                if (b != a && y_of(p, a, i, b, j)) put(p, &n, y_of(p, a, i, b, j), 1);
            if (n <= room || room == 0) continue; /* follows from the others */
            put(p, &n, x_of(p, a, i), -room);
            add_row(p, n, slots == job->n_tasks && n == (int)job->n_tasks ? GLP_FX : GLP_UP, 0);
        }
}

/* The task with most partners: once on the first place of each orbit. */
static void break_symmetry(struct program *p)
{
    const struct fc_exact_job *job = p->job;
    uint32_t task = 0;
    int most = -1;
    for (uint32_t a = 0; a < job->n_tasks; a++) {
        int partners = 0;
        for (uint32_t b = 0; b < job->n_tasks; b++) partners += job->bytes[a][b] > 0 || job->bytes[b][a] > 0;
        if (partners <= most) continue;
        most = partners;
        task = a;
    }
    for (uint32_t i = 0; i < job->n_nodes; i++)
        if (job->orbit[i] != i) glp_set_col_bnds(p->lp, x_of(p, task, i), GLP_FX, 0, 0);
}

/* What GLPK cuts off by; that the symmetry would have it elsewhere does not matter, it is a mapping. */
static enum fc_code note_start(struct program *p, const uint32_t *node, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_exact_job *job = p->job;
    p->start = fc_alloc(arena, (size_t)glp_get_num_cols(p->lp) + 1, sizeof *p->start, st);
    for (uint32_t a = 0; p->start && a < job->n_tasks; a++) {
        p->start[x_of(p, a, node[a])] = 1;
        for (uint32_t b = a + 1; b < job->n_tasks; b++)
            if (p->y[a][b]) p->start[y_of(p, a, node[a], b, node[b])] = 1;
    }
    return st->code;
}

static enum fc_code build(struct program *p, const struct fc_exact_answer *answer, struct fc_arena *arena,
                          struct fc_status *st)
{
    size_t most = (size_t)p->job->n_tasks + p->job->n_nodes + 2;
    p->index = fc_alloc(arena, most, sizeof *p->index, st);
    p->value = p->index ? fc_alloc(arena, most, sizeof *p->value, st) : NULL;
    if (!p->value) return st->code;
    glp_set_obj_dir(p->lp, GLP_MIN);
    add_columns(p);
    add_assignment(p);
    for (uint32_t a = 0; a < p->job->n_tasks; a++) {
        for (uint32_t b = 0; b < p->job->n_tasks; b++)
            if (y_of(p, a, 0, b, 0)) add_links(p, a, b);
        add_rooms(p, a);
    }
    break_symmetry(p);
    return note_start(p, answer->node, arena, st);
}

/* ---- the bound of Gilmore & Lawler ---- */

/* The assignment of least sum of what each task sends at least, a linear program: no mapping has less hop-bytes. Sets
 * p->bound, in units of scale. */
static void gilmore_lawler(void *of)
{
    struct program *whole = of, p = {.job = whole->job, .lp = glp_create_prob(), .scale = whole->scale};
    const struct fc_exact_job *job = p.job;
    int index[FC_EXACT_MOST + 1];
    double value[FC_EXACT_MOST + 1];
    uint32_t nowhere[FC_EXACT_MOST], none[FC_EXACT_MOST] = {0};
    glp_smcp lp;
    memset(nowhere, 0xff, sizeof nowhere);
    p.index = index;
    p.value = value;
    p.x = glp_add_cols(p.lp, (int)(job->n_tasks * job->n_nodes));
    for (uint32_t a = 0; a < job->n_tasks; a++)
        for (uint32_t i = 0; i < job->n_nodes; i++) {
            glp_set_col_bnds(p.lp, x_of(&p, a, i), GLP_LO, 0, 0);
            glp_set_obj_coef(p.lp, x_of(&p, a, i), fc_exact_least_sent(job, a, i, nowhere, none) / p.scale);
        }
    add_assignment(&p);
    glp_init_smcp(&lp);
    lp.msg_lev = GLP_MSG_OFF;
    if (!glp_simplex(p.lp, &lp) && glp_get_status(p.lp) == GLP_OPT) whole->bound = glp_get_obj_val(p.lp);
}

/* ---- the search ---- */

static void watch(glp_tree *tree, void *info)
{
    struct program *p = info;
    if (!p->started) {
        p->started = true;
        glp_ios_heur_sol(tree, p->start);
    }
    int node = glp_ios_best_node(tree);
    if (node) p->bound = fmax(p->bound, glp_ios_node_bound(tree, node));
    if (glp_get_it_cnt(glp_ios_get_prob(tree)) > p->most_iterations) glp_ios_terminate(tree);
}

/* Solves the program as far as the iterations go; p->bound is what is proven. True when p->best is the least. */
static bool solve(struct program *p, struct fc_exact_answer *answer, struct fc_status *st)
{
    glp_smcp lp;
    glp_iocp mip;
    glp_init_smcp(&lp);
    glp_init_iocp(&mip);
    lp.msg_lev = mip.msg_lev = GLP_MSG_OFF;
    lp.meth = GLP_DUALP; /* the start basis is dual feasible: half of the time of the primal */
    lp.it_lim = p->most_iterations;
    int failed = glp_simplex(p->lp, &lp);
    if (failed == GLP_EITLIM) return false;
    if (failed || glp_get_status(p->lp) != GLP_OPT) {
        fc_refuse(st, FC_FAULT, "the linear program of the hop-bytes was not solved");
        return false;
    }
    double step = p->unit > 0 ? p->unit / p->scale : 0;
    mip.br_tech = GLP_BR_FFV;
    mip.tol_obj = fmax(1e-9, step * (1 - slack) / (1 + p->best)); /* nodes within a step of the best are closed */
    mip.cb_func = watch;
    mip.cb_info = p;
    p->bound = fmax(p->bound, glp_get_obj_val(p->lp));
    if (p->bound >= p->best - step * (1 - slack) - p->best * 1e-9) return true;
    failed = glp_intopt(p->lp, &mip);
    if (failed && failed != GLP_ESTOP) fc_refuse(st, FC_FAULT, "GLPK could not solve the program of the hop-bytes");
    if (st->code || glp_mip_status(p->lp) == GLP_UNDEF) return false;
    for (uint32_t a = 0; a < p->job->n_tasks; a++)
        for (uint32_t i = 0; i < p->job->n_nodes; i++)
            if (glp_mip_col_val(p->lp, x_of(p, a, i)) > 0.5) answer->node[a] = i;
    return failed == 0;
}

/* The proven bound, up to the next multiple of the unit. */
static double bound_of(const struct program *p)
{
    double bound = p->bound * p->scale * (1 - slack);
    return p->unit > 0 ? p->unit * ceil(bound / p->unit - slack) : bound;
}

static void search(void *of)
{
    struct program *p = of;
    p->lp = glp_create_prob();
    if (build(p, p->answer, p->arena, p->st)) return;
    double cells = glp_get_num_rows(p->lp) + glp_get_num_cols(p->lp);
    p->most_iterations = (int)fmin(INT_MAX / 2, (double)p->budget / (work_per_cell * cells) + 1);
    p->answer->proven = solve(p, p->answer, p->st);
}

enum fc_code fc_exact_hop_program(const struct fc_exact_job *job, uint64_t budget, struct fc_exact_answer *answer,
                                  struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct program p = {
        .job = job, .unit = common_unit(job), .budget = budget, .answer = answer, .arena = &scratch, .st = st};
    p.scale = p.unit > 0 ? p.unit : answer->value / 1000;
    p.best = answer->value / p.scale;
    fc_glpk(gilmore_lawler, &p, "the bound of hop-bytes", st);
    fc_glpk(search, &p, "the program of the hop-bytes", st);
    if (!st->code) {
        answer->value = fc_exact_hop_bytes(job, answer->node);
        answer->bound = answer->proven ? answer->value : fmin(answer->value, fmax(answer->bound, bound_of(&p)));
        if (answer->bound >= answer->value * (1 - 1e-9)) answer->proven = true;
    }
    fc_arena_free(&scratch);
    return st->code;
}

enum fc_code fc_exact_hops(const struct fc_exact_job *job, uint64_t budget, uint64_t seed,
                           struct fc_exact_answer *answer, struct fc_status *st)
{
    fc_exact_descend(job, seed, NULL, answer);
    answer->bound = 0;
    answer->proven = answer->value == 0 || fc_exact_hop_search(job, common_unit(job) * (1 - slack), budget / 2, answer);
    if (!answer->proven) return fc_exact_hop_program(job, budget / 2, answer, st);
    answer->bound = answer->value;
    return FC_OK;
}
