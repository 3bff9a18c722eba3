/* load_mixture.c - the best convex mixture of given load vectors:
 *
 *   min z   s.t.  sum_c w_c load_c(l) + base(l) <= z b(l) for every link l,  sum w = 1, w >= 0,
 *
 * an LP of n + 1 columns solved by GLPK with the rows generated as needed: it starts from the worst link of every
 * component and adds the worst links of the current mixture until none exceeds z by more than 1e-9. */
#include "solvers/glpk_thread.h"
#include "solvers/load_internal.h"

struct program {
    const struct fc_network *net;
    const double *base, *loads; /* loads [n][n_links] */
    uint32_t n;
    glp_prob *lp;
    double scale;          /* largest seconds seen: keeps the rows near 1 */
    double *weights;       /* [n] the answer */
    const uint32_t *first; /* [n] worst link of every component */
    struct fc_status *st;
};

static double seconds(const struct program *p, const double *weights, uint32_t link)
{
    double bytes = p->base ? p->base[link] : 0;
    for (uint32_t c = 0; c < p->n; c++) bytes += weights[c] * p->loads[(size_t)c * p->net->n_links + link];
    return bytes == 0 ? 0 : bytes / fc_link_bandwidth(p->net, link);
}

/* The worst link of the mixture. */
static uint32_t worst(const struct program *p, const double *weights, double *z)
{
    uint32_t at = 0;
    *z = -1;
    for (uint32_t l = 0; l < p->net->n_links; l++) {
        double s = seconds(p, weights, l);
        if (s > *z) *z = s, at = l;
    }
    return at;
}

static void add_row(struct program *p, uint32_t link)
{
    int columns[64], n = 0, row = glp_add_rows(p->lp, 1);
    double values[64], b = fc_link_bandwidth(p->net, link) * p->scale;
    for (uint32_t c = 0; c < p->n; c++) {
        columns[++n] = (int)c + 1;
        values[n] = p->loads[(size_t)c * p->net->n_links + link] / b;
    }
    columns[++n] = (int)p->n + 1;
    values[n] = -1;
    glp_set_mat_row(p->lp, row, n, columns, values);
    glp_set_row_bnds(p->lp, row, GLP_UP, 0, p->base ? -p->base[link] / b : 0);
}

static void set_up(struct program *p)
{
    p->lp = glp_create_prob();
    glp_set_obj_dir(p->lp, GLP_MIN);
    glp_add_cols(p->lp, (int)p->n + 1);
    int columns[64], row = glp_add_rows(p->lp, 1);
    double ones[64];
    for (uint32_t c = 0; c < p->n; c++) {
        glp_set_col_bnds(p->lp, (int)c + 1, GLP_LO, 0, 0);
        columns[c + 1] = (int)c + 1;
        ones[c + 1] = 1;
    }
    glp_set_col_bnds(p->lp, (int)p->n + 1, GLP_FR, 0, 0);
    glp_set_obj_coef(p->lp, (int)p->n + 1, 1);
    glp_set_mat_row(p->lp, row, (int)p->n, columns, ones);
    glp_set_row_bnds(p->lp, row, GLP_FX, 1, 1);
}

static void solve(void *of)
{
    struct program *p = of;
    glp_smcp parameters;
    set_up(p);
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_OFF;
    for (uint32_t c = 0; c < p->n; c++) add_row(p, p->first[c]);
    for (int round = 0;; round++) {
        if (glp_simplex(p->lp, &parameters) || glp_get_status(p->lp) != GLP_OPT || round == 1000) {
            fc_refuse(p->st, FC_FAULT, "the linear program of the route mixture was not solved");
            return;
        }
        double sum = 0, z, bound = glp_get_obj_val(p->lp) * p->scale;
        for (uint32_t c = 0; c < p->n; c++) sum += p->weights[c] = fmax(0, glp_get_col_prim(p->lp, (int)c + 1));
        for (uint32_t c = 0; c < p->n; c++) p->weights[c] /= sum;
        uint32_t link = worst(p, p->weights, &z);
        if (z <= bound * (1 + 1e-9)) return;
        add_row(p, link);
    }
}

enum fc_code fc_mixture_weights(const struct fc_network *net, const double *base, const double *loads, uint32_t n,
                                double *weights, struct fc_status *st)
{
    uint32_t first[64];
    struct program p = {.net = net, .base = base, .loads = loads, .n = n, .weights = weights, .first = first, .st = st};
    if (n > 62) return fc_refuse(st, FC_FAULT, "a mixture of %u routes is too wide", n);
    for (uint32_t c = 0; n > 1 && c < n; c++) {
        double z;
        for (uint32_t i = 0; i < n; i++) weights[i] = i == c;
        first[c] = worst(&p, weights, &z);
        p.scale = fmax(p.scale, z);
    }
    for (uint32_t c = 0; c < n; c++) weights[c] = c == 0;
    return n > 1 && p.scale > 0 ? fc_glpk(solve, &p, "the linear program of the route mixture", st) : FC_OK;
}
