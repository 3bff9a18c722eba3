/* validate_duals.c - derivatives of a replay on an ideal network against the duals of the job as a linear program, by GLPK, for
 * traces of 10^3, 10^4 and 10^5 events (tests/test_sensitivity.c does 400).
 *
 * RANKS ranks compute, send to one and receive from another, as often as there are events for. LogGP as replay_ends.c plays it: a
 * send starts when its processor and its card are free and takes o; the card is busy for g + (n - 1) G; the message is there o + L
 * after the start. A receive starts when the message is there and processor and card are free, and takes o + (n - 1) G. So with a
 * column for each start s, and columns fixed at the values of the parameters p,
 *
 *     minimise T    subject to    s_i >= s_j + a_ij p    for all j that i waits for,    T >= the end of every rank
 *
 * and the reduced cost of a parameter's column is dT/dp (Hoefler, Schneider & Lumsdaine, HPDC'10; Shen et al., "LLAMP", SC'24). The
 * start basis is the longest path found here by going through the starts in order: of each start the row that binds is at its bound.
 * GLPK factorises it, finds whether it is optimal, pivots where not, and says the duals. The shortest trace is solved from GLPK's own
 * basis too, which knows nothing of the path.
 *
 * A row a trace: GLPK's time and pivots, ours, the greatest difference of T and of derivative x parameter, as a part of T. Exit status
 * 1 where one is above 1e-6. `make validate` */
#include "answer/answer.h"
#include "core/core.h"

#include <glpk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 20, MOST_BYTES = 20000 };
enum { SEND, RECV, LATENCY, GAP, PER_BYTE, SCALE, PARAMETERS };
static const double value[PARAMETERS] = {2e-6, 2e-6, 3e-6, 1e-6, 1.0 / 700e6, 1};
static const char *const names[PARAMETERS] = {"send", "recv", "latency", "gap", "link:G", "compute"};
#define CLOSE 1e-6

/* A time: that of a column (0: the start of all) and so much of each parameter. */
struct moment {
    int column;
    double part[PARAMETERS];
};
struct program {
    glp_prob *lp;
    double *at_s; /* [columns + 1] the longest path to each start */
};

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct moment later(struct moment m, int parameter, double part)
{
    m.part[parameter] += part;
    return m;
}

static double time_of(const struct program *p, const struct moment *m)
{
    double s = m->column ? p->at_s[m->column] : 0;
    for (int k = 0; k < PARAMETERS; k++) s += m->part[k] * value[k];
    return s;
}

/* A new column that is not before any of these. Of its rows the one that binds is nonbasic. */
static struct moment latest(struct program *p, const struct moment *after, int n)
{
    int column = glp_add_cols(p->lp, 1), binds = 0;
    struct moment m = {.column = column};
    glp_set_col_bnds(p->lp, column, GLP_FR, 0, 0);
    glp_set_col_stat(p->lp, column, GLP_BS);
    p->at_s[column] = -INFINITY;
    for (int i = 0; i < n; i++) {
        int row = glp_add_rows(p->lp, 1), index[PARAMETERS + 3] = {0, column}, terms = 1;
        double of[PARAMETERS + 3] = {0, -1}, s = time_of(p, &after[i]);
        if (after[i].column) index[++terms] = after[i].column, of[terms] = 1;
        for (int k = 0; k < PARAMETERS; k++)
            if (after[i].part[k] != 0) index[++terms] = k + 1, of[terms] = after[i].part[k];
        glp_set_row_bnds(p->lp, row, GLP_UP, 0, 0);
        glp_set_mat_row(p->lp, row, terms, index, of);
        glp_set_row_stat(p->lp, row, GLP_BS);
        if (!(s > p->at_s[column])) continue;
        p->at_s[column] = s;
        binds = row;
    }
    glp_set_row_stat(p->lp, binds, GLP_NU);
    return m;
}

/* The trace as text, and the same as a program. */
static bool build(struct program *p, int rounds, FILE *f)
{
    struct moment clock[RANKS] = {{0}}, out[RANKS] = {{0}}, in[RANKS] = {{0}}, end[RANKS] = {{0}};
    struct moment *there = calloc((size_t)RANKS * (size_t)rounds, sizeof *there);
    uint64_t seed = 7;
    if (!there) return false;
    for (int k = 0; k < rounds; k++) {
        int shift = 1 + (int)fc_random_below(seed, 0, (uint64_t)k, RANKS - 1);
        for (int r = 0; r < RANKS; r++) {
            uint64_t which = (uint64_t)(RANKS * k + r);
            double compute_s = 1e-9 * (double)fc_random_below(seed, 1, which, 60000),
                   more = (double)fc_random_below(seed, 2, which, MOST_BYTES);
            struct moment after[2] = {later(clock[r], SCALE, compute_s), out[r]};
            struct moment start = latest(p, after, k ? 2 : 1);
            clock[r] = later(start, SEND, 1);
            out[r] = later(later(start, GAP, 1), PER_BYTE, more);
            there[which] = later(clock[r], LATENCY, 1);
        }
        for (int r = 0; r < RANKS; r++) {
            uint64_t which = (uint64_t)(RANKS * k + (r + RANKS - shift) % RANKS);
            double more = (double)fc_random_below(seed, 2, which, MOST_BYTES);
            struct moment after[3] = {clock[r], there[which], in[r]};
            struct moment start = latest(p, after, k ? 3 : 2);
            clock[r] = later(later(start, RECV, 1), PER_BYTE, more);
            in[r] = later(later(start, GAP, 1), PER_BYTE, more);
        }
    }
    free(there);
    for (int r = 0; r < RANKS; r++) end[r] = clock[r];
    glp_set_obj_coef(p->lp, latest(p, end, RANKS).column, 1);
    fprintf(f, "fabricast-trace 1\nranks %d\ncomm 0 0-%d\nevents %d\n", RANKS, RANKS - 1, 2 * RANKS * rounds);
    for (int r = 0; r < RANKS; r++) {
        fprintf(f, "rank %d %d\n", r, 2 * rounds);
        for (int k = 0; k < rounds; k++) {
            int shift = 1 + (int)fc_random_below(seed, 0, (uint64_t)k, RANKS - 1), from = (r + RANKS - shift) % RANKS;
            uint64_t which = (uint64_t)(RANKS * k + r), other = (uint64_t)(RANKS * k + from);
            fprintf(f, "send 0 0 %.9f comm=0 peer=%d tag=%d bytes=%d\n",
                    1e-9 * (double)fc_random_below(seed, 1, which, 60000), (r + shift) % RANKS, k,
                    1 + (int)fc_random_below(seed, 2, which, MOST_BYTES));
            fprintf(f, "recv 0 0 0 comm=0 peer=%d tag=%d bytes=%d\n", from, k,
                    1 + (int)fc_random_below(seed, 2, other, MOST_BYTES));
        }
    }
    return fprintf(f, "end\n") > 0;
}

/* GLPK's optimum; from its own basis or the path's. */
static bool solve(glp_prob *lp, bool own_basis, double *took_s, int *pivots)
{
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.tol_bnd = how.tol_dj = 1e-10;
    if (own_basis) glp_adv_basis(lp, 0);
    double from_s = cpu_s();
    int before = glp_get_it_cnt(lp);
    bool good = !glp_simplex(lp, &how) && glp_get_status(lp) == GLP_OPT;
    *took_s = cpu_s() - from_s;
    *pivots = glp_get_it_cnt(lp) - before;
    return good;
}

/* How far the answer is from the program, as a part of T. */
static double worst(const struct fc_answer *a, glp_prob *lp)
{
    double off = fabs(a->p.time_s / glp_get_obj_val(lp) - 1);
    for (int k = 0; k < PARAMETERS; k++) {
        const struct fc_sensitivity_row *found = NULL;
        for (size_t i = 0; i < a->sensitivity->n; i++)
            if (!strcmp(a->sensitivity->rows[i].parameter, names[k])) found = &a->sensitivity->rows[i];
        if (!found || !found->derivative_by || strcmp(found->derivative_by, "path")) return INFINITY;
        double sign = k == PER_BYTE ? -1 : 1; /* a row of bytes/s: b dT/db = -G dT/dG */
        double part_s = sign * found->derivative * found->value, dual_s = glp_get_col_dual(lp, k + 1) * value[k];
        off = fmax(off, fabs(part_s - dual_s) / a->p.time_s);
    }
    return off;
}

static bool row(int rounds, bool own_basis)
{
    char path[] = "/tmp/fabricast-duals-XXXXXX";
    int file = mkstemp(path), pivots;
    FILE *f = file < 0 ? NULL : fdopen(file, "w");
    size_t most = (size_t)RANKS * (size_t)rounds * 2 + PARAMETERS + 2;
    struct program p = {.lp = glp_create_prob(), .at_s = calloc(most, sizeof *p.at_s)};
    struct fc_answer a;
    struct fc_status st = {0};
    double took_s, off = INFINITY;
    if (!f || !p.at_s) return false;
    glp_add_cols(p.lp, PARAMETERS);
    for (int c = 0; c < PARAMETERS; c++) {
        glp_set_col_bnds(p.lp, c + 1, GLP_FX, value[c], value[c]);
        glp_set_col_stat(p.lp, c + 1, GLP_NS);
    }
    bool good = build(&p, rounds, f);
    good = !fclose(f) && good && solve(p.lp, own_basis, &took_s, &pivots);
    if (good) {
        struct fc_question q = {.machine = "bgl-64",
                                .trace = path,
                                .network = "ideal",
                                .loggops = "L=3us,o=2us,g=1us,G=1.4285714285714286ns/B,S=1GB",
                                .sensitivity = true,
                                .search_s = 1e-3,
                                .search_given = true,
                                .seed = 1,
                                .threads = 1};
        double from_s = cpu_s();
        if (!fc_answer_make(&q, &a, &st)) off = worst(&a, p.lp);
        printf("%8d %8d %8d  %-10s %8.2f %8d %8.2f %10.1e%s\n", 2 * RANKS * rounds, glp_get_num_rows(p.lp),
               glp_get_num_cols(p.lp), own_basis ? "GLPK's" : "the path", took_s, pivots, cpu_s() - from_s, off,
               off <= CLOSE ? "" : "  MISSED");
        fflush(stdout);
        fc_answer_free(&a);
    }
    if (!good)
        fprintf(stderr, "validate_duals: %d events: GLPK has no optimum, or no trace was written\n",
                2 * RANKS * rounds);
    if (st.code) fprintf(stderr, "validate_duals: %s\n", st.message);
    glp_delete_prob(p.lp);
    free(p.at_s);
    remove(path);
    return good && off <= CLOSE;
}

int main(void)
{
    static const struct {
        int rounds;
        bool own_basis;
    } traces[] = {{25, true}, {25, false}, {250, false}, {2500, false}};
    int missed = 0;
    glp_term_out(GLP_OFF);
    printf("%8s %8s %8s  %-10s %8s %8s %8s %10s\n", "events", "rows", "columns", "basis", "GLPK (s)", "pivots",
           "here (s)", "off (of T)");
    for (size_t i = 0; i < FC_COUNT(traces); i++) missed += !row(traces[i].rounds, traces[i].own_basis);
    return missed > 0;
}
