/* place_milp.c - the best layout as an integer program, by GLPK's branch and cut.
 *
 * x_iu = 1: interface i on node u. Sum_u x_iu = 1, sum_i x_iu <= 1. Lines: sum_{u in line} x_iu is the same
 * for the two interfaces of a dimension, and at most one dimension a line.
 *
 * Hops (compact): minimise sum_{i<j} w_ij sum_a t_ija, with t_ija >= +-(coordinate a of i - of j), sum_a
 * t_ija >= 1, and the row sum_{i<j,a} t_ija >= least town (place_town.c).
 *
 * Weighted hops, load (RLT; Adams & Sherali): y_iujv for i < j, u != v: sum_v y_iujv = x_iu, sum_u y_iujv =
 * x_jv; a link's load is linear in x and y, at most z. With lines only the y that they allow exist.
 *
 * The greatest load, by profiles (place_cuts.c): for each set of positions on the first routed axis that cuts
 * leave, ascending in their bounds, the same program with the x and y of these positions only; what is known
 * by then cuts it off.
 *
 * The objective is declared whole where the model's numbers are (Z, in units of 1 / scale). Symmetry: the
 * pair of the first dimension has its middle in the lower half of every axis (mirrors), and where traffic
 * uses the two interfaces of a dimension alike the first is on the lower node. Limits: some 10^4 y. */
#include "mapping/place/place_best.h"
#include "solvers/glpk_thread.h"

#include <math.h>

enum { MOST_PAIRS = 40000, MOST_PROFILES = 100000 };

struct program {
    const struct fc_place_model *m;
    const struct fc_layout_rules *rules;
    int objective;
    const uint32_t *profile; /* [n] positions on the axis that routes take first, NULL: any */
    glp_prob *lp;
    int column_z;  /* the objective */
    int *column_x; /* [n][n_mesh] 0: may not be there */
    int *column_y; /* [n (n - 1) / 2][n_mesh][n_mesh] 0: none */
    double unit;   /* of Z */
    /* a row in the making: */
    int n, *index;
    double *value;
};

static int x_of(const struct program *p, int i, uint32_t u)
{
    return p->column_x[(uint32_t)i * p->m->n_mesh + u];
}
static int *y_of(const struct program *p, int i, int j, uint32_t u, uint32_t v)
{
    size_t pair = (size_t)(i * p->m->n - i * (i + 1) / 2 + j - i - 1);
    return &p->column_y[(pair * p->m->n_mesh + u) * p->m->n_mesh + v];
}

static void term(struct program *p, int column, double value)
{
    if (!column || value == 0) return;
    p->index[++p->n] = column;
    p->value[p->n] = value;
}

/* Ends the row: bounds of GLPK's kinds. */
static void row(struct program *p, int kind, double low, double high)
{
    int at = glp_add_rows(p->lp, 1);
    glp_set_row_bnds(p->lp, at, kind, low, high);
    glp_set_mat_row(p->lp, at, p->n, p->index, p->value);
    p->n = 0;
}

static int column(struct program *p, int kind, double low, double high)
{
    int at = glp_add_cols(p->lp, 1);
    if (kind == GLP_BV)
        glp_set_col_kind(p->lp, at, GLP_BV);
    else
        glp_set_col_bnds(p->lp, at, low == high ? GLP_FX : isinf(high) ? GLP_LO : GLP_DB, low, high);
    if (kind == GLP_IV) glp_set_col_kind(p->lp, at, GLP_IV);
    return at;
}

static uint32_t coordinate(const struct fc_chip *c, uint32_t u, int axis)
{
    for (int a = c->n_axes - 1; a > axis; a--) u /= c->side[a];
    return u % c->side[axis];
}

static bool pinned(const struct program *p)
{
    bool any = p->rules->taken != NULL;
    for (int i = 0; i < p->m->n; i++) any = any || p->rules->pinned[i] != FC_NONE;
    return any;
}

/* ---- assignment, lines, symmetry ---- */

static bool may_host(const struct program *p, int i, uint32_t u)
{
    const struct fc_chip *c = &p->m->chip;
    return !(p->rules->taken && p->rules->taken[u]) && (p->rules->pinned[i] == FC_NONE || p->rules->pinned[i] == u) &&
           (!p->profile || p->profile[i] == coordinate(c, u, c->order[0]));
}

static void assignment(struct program *p)
{
    const struct fc_place_model *m = p->m;
    for (int i = 0; i < m->n; i++)
        for (uint32_t u = 0; u < m->n_mesh; u++)
            p->column_x[(uint32_t)i * m->n_mesh + u] = may_host(p, i, u) ? column(p, GLP_BV, 0, 1) : 0;
    for (int i = 0; i < m->n; i++) {
        for (uint32_t u = 0; u < m->n_mesh; u++) term(p, x_of(p, i, u), 1);
        row(p, GLP_FX, 1, 1);
    }
    for (uint32_t u = 0; u < m->n_mesh; u++) {
        for (int i = 0; i < m->n; i++) term(p, x_of(p, i, u), 1);
        if (p->n) row(p, GLP_UP, 0, 1);
    }
}

static void lines(struct program *p)
{
    const struct fc_place_model *m = p->m;
    for (uint32_t line = 0; p->rules->lines && line < fc_layout_lines(m); line++) {
        for (int d = 0; d < m->chip.n_dims; d++) {
            for (uint32_t u = 0; u < m->n_mesh; u++) {
                if (fc_layout_line(m, u) != line) continue;
                term(p, x_of(p, 2 * d, u), 1);
                term(p, x_of(p, 2 * d + 1, u), -1);
            }
            row(p, GLP_FX, 0, 0);
        }
        for (int d = 0; d < m->chip.n_dims; d++)
            for (uint32_t u = 0; u < m->n_mesh; u++)
                if (fc_layout_line(m, u) == line) term(p, x_of(p, 2 * d, u), 1);
        row(p, GLP_UP, 0, 1);
    }
}

static void symmetry(struct program *p)
{
    const struct fc_place_model *m = p->m;
    for (int a = 0; a < m->chip.n_axes; a++) {
        if (p->profile && a == m->chip.order[0]) continue;
        for (uint32_t u = 0; u < m->n_mesh; u++)
            for (int i = 0; i < 2; i++) term(p, x_of(p, i, u), coordinate(&m->chip, u, a));
        row(p, GLP_UP, 0, m->chip.side[a] - 1.0);
    }
    for (int d = 0; d < m->chip.n_dims; d++) { /* uniform traffic uses both interfaces of a dimension alike */
        if (p->profile && p->profile[2 * d] != p->profile[2 * d + 1]) continue; /* one of both profiles stands */
        for (uint32_t u = 0; u < m->n_mesh; u++) {
            term(p, x_of(p, 2 * d, u), -(double)u);
            term(p, x_of(p, 2 * d + 1, u), u);
        }
        row(p, GLP_LO, 1, 0);
    }
}

/* ---- objectives ---- */

static void hops(struct program *p, bool bare)
{
    const struct fc_place_model *m = p->m;
    int axes = m->chip.n_axes, first = 0;
    for (int i = 0; i < m->n; i++)
        for (int j = i + 1; j < m->n; j++) {
            int t = 0;
            for (int a = 0; a < axes; a++) {
                t = column(p, GLP_CV, 0, m->chip.side[a] - 1.0);
                first = first ? first : t;
                for (int sign = -1; sign < 2; sign += 2) {
                    term(p, t, 1);
                    for (uint32_t u = 0; u < m->n_mesh; u++) {
                        double at = sign * (double)coordinate(&m->chip, u, a);
                        term(p, x_of(p, i, u), at);
                        term(p, x_of(p, j, u), -at);
                    }
                    row(p, GLP_LO, 0, 0);
                }
            }
            for (int a = 0; a < axes; a++) term(p, t - a, 1);
            row(p, GLP_LO, 1, 0);
        }
    int at = first, last = glp_get_num_cols(p->lp);
    for (int t = first; !bare && t <= last; t++) term(p, t, 1);
    if (!bare) row(p, GLP_LO, fc_town_pairs(m), 0);
    for (int i = 0; i < m->n; i++)
        for (int j = i + 1; j < m->n; j++)
            for (int a = 0; a < axes; a++) term(p, at++, -m->turn_weight[i][j]);
    p->unit = 1.0 / m->turn_pairs;
    p->column_z = column(p, GLP_IV, bare ? 0 : fc_town_bound(m), INFINITY);
    term(p, p->column_z, 1);
    row(p, GLP_FX, 0, 0);
}

static void positions(struct program *p)
{
    const struct fc_place_model *m = p->m;
    for (int i = 0; i < m->n; i++)
        for (int j = i + 1; j < m->n; j++) {
            for (uint32_t u = 0; u < m->n_mesh; u++)
                for (uint32_t v = 0; v < m->n_mesh; v++) {
                    bool may = u != v && x_of(p, i, u) && x_of(p, j, v);
                    if (p->rules->lines)
                        may = may && (fc_layout_line(m, u) == fc_layout_line(m, v)) == (i / 2 == j / 2);
                    *y_of(p, i, j, u, v) = may ? column(p, GLP_CV, 0, INFINITY) : 0;
                }
            for (int back = 0; back < 2; back++)
                for (uint32_t u = 0; u < m->n_mesh; u++) {
                    int x = x_of(p, back ? j : i, u);
                    if (!x) continue;
                    for (uint32_t v = 0; v < m->n_mesh; v++)
                        term(p, back ? *y_of(p, i, j, v, u) : *y_of(p, i, j, u, v), 1);
                    term(p, x, -1);
                    row(p, GLP_FX, 0, 0);
                }
        }
}

static bool crosses(const struct fc_place_model *m, uint32_t u, uint32_t v, uint32_t link)
{
    for (uint32_t h = m->first_hop[u * m->n_mesh + v]; h < m->first_hop[u * m->n_mesh + v + 1]; h++)
        if (m->route[h] == link) return true;
    return false;
}

/* Terms of a link's load in Z's units, times `factor`; without its constant. */
static void load_terms(struct program *p, uint32_t link, double factor)
{
    const struct fc_place_model *m = p->m;
    for (int i = 0; i < m->n; i++)
        for (uint32_t u = 0; u < m->n_mesh; u++) {
            term(p, x_of(p, i, u), factor * m->unary[((size_t)i * m->n_mesh + u) * m->n_links + link] / p->unit);
            for (int j = i + 1; j < m->n; j++)
                for (uint32_t v = 0; v < m->n_mesh; v++) {
                    int y = *y_of(p, i, j, u, v);
                    double flits = !y                       ? 0
                                   : crosses(m, u, v, link) ? m->flow[i][j]
                                   : crosses(m, v, u, link) ? m->flow[j][i]
                                                            : 0;
                    term(p, y, factor * flits / p->unit);
                }
        }
}

static void loads(struct program *p, double most)
{
    for (uint32_t l = 0; l < p->m->n_links; l++) {
        load_terms(p, l, -1);
        double base = p->m->base[l] / p->unit;
        if (p->objective == FC_PLACE_LOAD) {
            term(p, p->column_z, 1);
            row(p, GLP_LO, base, 0);
        } else {
            row(p, GLP_LO, base - most / p->unit * (1 + 1e-9), 0);
        }
    }
}

static void weighted(struct program *p)
{
    const struct fc_place_model *m = p->m;
    for (int i = 0; i < m->n; i++)
        for (uint32_t u = 0; u < m->n_mesh; u++) {
            term(p, x_of(p, i, u), -m->unary_hops[(size_t)i * m->n_mesh + u] / p->unit);
            for (int j = i + 1; j < m->n; j++)
                for (uint32_t v = 0; v < m->n_mesh; v++)
                    term(p, *y_of(p, i, j, u, v),
                         -(m->flow[i][j] + m->flow[j][i]) * m->distance[u * m->n_mesh + v] / p->unit);
        }
    term(p, p->column_z, 1);
    row(p, GLP_FX, m->base_hops / p->unit, 0);
}

static enum fc_code build(struct program *p, const struct fc_place_milp_settings *settings, struct fc_status *st)
{
    const struct fc_place_model *m = p->m;
    double nodes = p->profile ? fc_layout_lines(m) : m->n_mesh;
    double pairs = m->n * (m->n - 1) / 2.0 * nodes * nodes;
    if (p->rules->lines) pairs /= fc_layout_lines(m);
    if (p->objective != FC_PLACE_HOPS && pairs > MOST_PAIRS)
        return fc_refuse(st, FC_NO, "the integer program of %.3g pairs of positions is too large (at most %d)", pairs,
                         MOST_PAIRS);
    glp_set_obj_dir(p->lp, GLP_MIN);
    assignment(p);
    lines(p);
    if (!pinned(p)) symmetry(p);
    if (p->objective == FC_PLACE_HOPS) {
        if (settings->most_load > 0) return fc_refuse(st, FC_FAULT, "a most load for hops");
        hops(p, settings->bare);
    } else {
        p->unit = m->scale > 0 ? 1 / m->scale : 1;
        p->column_z = column(p, m->scale > 0 ? GLP_IV : GLP_CV, 0, INFINITY);
        positions(p);
        if (p->objective == FC_PLACE_WEIGHTED) weighted(p);
        if (p->objective == FC_PLACE_LOAD || settings->most_load > 0) loads(p, settings->most_load);
    }
    glp_set_obj_coef(p->lp, p->column_z, 1);
    glp_scale_prob(p->lp, GLP_SF_AUTO);
    return FC_OK;
}

/* ---- solving ---- */

static double z_of(const struct program *p, const struct fc_bridge_layout *layout)
{
    struct fc_layout_figures f;
    if (p->objective == FC_PLACE_HOPS) return fc_layout_turn_sum(p->m, layout);
    fc_layout_cost(p->m, layout, NULL, &f);
    double z = p->objective == FC_PLACE_LOAD ? f.greatest_load : f.weighted_hops * p->m->n_cores;
    return p->m->scale > 0 ? round(z / p->unit) : z / p->unit;
}

static void read_layout(const struct program *p, struct fc_bridge_layout *layout)
{
    for (int i = 0; i < p->m->n; i++)
        for (uint32_t u = 0; u < p->m->n_mesh; u++)
            if (x_of(p, i, u) && glp_mip_col_val(p->lp, x_of(p, i, u)) > 0.5) layout->node[i] = u;
}

struct watch {
    double bound;
    uint64_t nodes;
};

static void watch(glp_tree *tree, void *info)
{
    struct watch *w = info;
    int total = 0, node = glp_ios_best_node(tree);
    glp_ios_tree_size(tree, NULL, NULL, &total);
    w->nodes = (uint64_t)total;
    if (node) w->bound = glp_ios_node_bound(tree, node);
}

static void parameters(const struct fc_place_milp_settings *settings, glp_smcp *simplex, glp_iocp *cut, struct watch *w)
{
    glp_init_smcp(simplex);
    glp_init_iocp(cut);
    simplex->msg_lev = cut->msg_lev = GLP_MSG_OFF;
    simplex->tm_lim = cut->tm_lim = (int)fmin(2e9, fmax(1, settings->time_s * 1000));
    simplex->presolve = GLP_ON;
    cut->cb_func = watch;
    cut->cb_info = w;
    cut->bt_tech = GLP_BT_BLB;
}

/* Sets `best` from the layout in it; `bound` in Z's units. */
static void answer(const struct program *p, double bound, bool proven, uint64_t nodes, struct fc_place_best *best)
{
    double unit = p->objective == FC_PLACE_WEIGHTED ? p->unit / p->m->n_cores : p->unit;
    fc_layout_figure(p->m, &best->layout, NULL, &best->figures);
    best->value = fc_layout_value(&best->figures, p->objective);
    best->bound = proven ? best->value : fmin(best->value, fmax(bound, 0) * unit);
    best->proven = proven;
    best->gap_percent = best->bound > 0 ? 100 * (best->value / best->bound - 1) : (double)NAN;
    best->by = "integer program";
    best->steps = nodes;
}

/* Where a layout is known only better ones are looked for, by one unit where Z is whole: none is its proof.
 */
static enum fc_code solve(struct program *p, const struct fc_place_milp_settings *settings, struct fc_place_best *best,
                          struct fc_status *st)
{
    bool known = best->by && !settings->bare, found = false;
    double step = p->objective == FC_PLACE_HOPS || p->m->scale > 0 ? 1 : 0, low = glp_get_col_lb(p->lp, p->column_z);
    double most = known ? z_of(p, &best->layout) - step : INFINITY;
    struct watch w = {low, 0};
    glp_smcp simplex;
    glp_iocp cut;
    parameters(settings, &simplex, &cut, &w);
    if (known && most < low) {
        answer(p, low, true, 0, best);
        return FC_OK;
    }
    if (known) glp_set_col_bnds(p->lp, p->column_z, most > low ? GLP_DB : GLP_FX, low, most);
    int failed = glp_simplex(p->lp, &simplex), status = glp_get_status(p->lp);
    bool none = failed == GLP_ENOPFS || failed == GLP_ENODFS || (!failed && status == GLP_NOFEAS);
    if (!none && (failed || status != GLP_OPT))
        return fc_refuse(st, FC_NO, "the linear program was not solved within %.3g s", settings->time_s);
    bool proven = none;
    if (!none) {
        w.bound = glp_get_obj_val(p->lp);
        int ended = glp_intopt(p->lp, &cut);
        status = glp_mip_status(p->lp);
        found = status == GLP_OPT || status == GLP_FEAS;
        proven = ended == 0 && (status == GLP_OPT || (known && status == GLP_NOFEAS));
        none = status == GLP_NOFEAS;
    }
    if (none && !known) return fc_refuse(st, FC_INPUT, "the integer program has no solution: no layout is allowed");
    if (!found && !known) return fc_refuse(st, FC_NO, "no layout was found within %.3g s", settings->time_s);
    if (found) read_layout(p, &best->layout);
    if (step > 0) w.bound = ceil(w.bound - 1e-6);
    answer(p, w.bound, proven || w.bound > z_of(p, &best->layout) - step + 1e-6, w.nodes, best);
    return FC_OK;
}

struct milp {
    struct program *p;
    const struct fc_place_milp_settings *settings;
    struct fc_place_best *best;
    struct fc_status *st;
};

static void work(void *of)
{
    struct milp *w = of;
    w->p->lp = glp_create_prob();
    if (!build(w->p, w->settings, w->st)) solve(w->p, w->settings, w->best, w->st);
}

/* One program. */
static enum fc_code run(struct program *p, const struct fc_place_milp_settings *settings, struct fc_place_best *best,
                        struct fc_status *st)
{
    struct milp w = {p, settings, best, st};
    return fc_glpk(work, &w, "the integer program", st);
}

/* The greatest load, profile after profile in the order of their bounds. What is not finished stays `open`:
 * no layout of it is below; where that, or the layout known, is reached by a bound, so it is for all after
 * it. */
static enum fc_code by_profiles(struct program *p, const struct fc_place_profiles *profiles,
                                const struct fc_place_milp_settings *settings, struct fc_place_best *best,
                                struct fc_status *st)
{
    double start = fc_wall_s(), open = INFINITY;
    uint64_t nodes = 0;
    for (uint32_t f = 0; f < profiles->n; f++) {
        const struct fc_place_profile *profile = &profiles->profile[f];
        struct fc_place_milp_settings left = *settings;
        struct fc_place_best one = *best;
        struct fc_status why = {0};
        if (profile->bound >= open || (best->by && profile->bound >= best->value * (1 - 1e-12))) break;
        left.time_s -= fc_wall_s() - start;
        p->profile = profile->position;
        bool unfinished = left.time_s <= 0 || run(p, &left, &one, &why) == FC_NO;
        if (fc_is_out_of_memory(&why)) return fc_out_of_memory(st, "the integer program (GLPK)");
        if (unfinished) {
            open = fmin(open, profile->bound);
        } else if (!why.code) {
            nodes += one.steps;
            if (!one.proven) open = fmin(open, fmax(profile->bound, one.bound));
            *best = one;
        } else if (why.code != FC_INPUT) { /* that: the rules allow none here */
            return fc_refuse(st, why.code, "%s", why.message);
        }
    }
    if (!best->by) return fc_refuse(st, FC_NO, "no layout was found within %.3g s", settings->time_s);
    fc_layout_figure(p->m, &best->layout, NULL, &best->figures);
    best->value = best->figures.greatest_load;
    best->proven = open >= best->value;
    best->bound = fmin(best->value, open);
    best->gap_percent = best->bound > 0 ? 100 * (best->value / best->bound - 1) : (double)NAN;
    best->by = "integer program";
    best->steps = nodes;
    return FC_OK;
}

static enum fc_code set_up(struct program *p, struct fc_arena *arena, struct fc_status *st)
{
    size_t n = (size_t)p->m->n, nodes = p->m->n_mesh, pairs = n * (n - 1) / 2 * nodes * nodes;
    size_t room = n * nodes + pairs + n * (n - 1) / 2 * FC_CHIP_AXES + 16;
    p->column_x = fc_alloc(arena, n * nodes, sizeof *p->column_x, st);
    p->column_y = fc_alloc(arena, pairs, sizeof *p->column_y, st);
    p->index = fc_alloc(arena, room, sizeof *p->index, st);
    p->value = fc_alloc(arena, room, sizeof *p->value, st);
    return st->code;
}

enum fc_code fc_place_milp(const struct fc_place_model *m, const struct fc_layout_rules *rules, int objective,
                           const struct fc_place_milp_settings *settings, struct fc_place_best *best,
                           struct fc_status *st)
{
    struct program p = {.m = m, .rules = rules, .objective = objective};
    struct fc_arena arena = {0};
    struct fc_place_profiles profiles;
    struct fc_status too_many = {0};
    double below = best->by ? best->figures.greatest_load : INFINITY;
    if (!fc_layout_rules_check(m, rules, st) && !set_up(&p, &arena, st)) {
        if (objective == FC_PLACE_LOAD && !settings->bare &&
            !fc_place_profiles_find(m, rules, below, MOST_PROFILES, &arena, &profiles, &too_many))
            by_profiles(&p, &profiles, settings, best, st);
        else
            run(&p, settings, best, st);
    }
    fc_arena_free(&arena);
    return st->code;
}
