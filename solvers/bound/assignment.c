/* assignment.c - maximum-weight assignment with its dual, by shortest augmenting paths.
 *
 *   max sum_s w[s][to[s]]  =  min sum_s u_s + sum_d v_d   s.t.  u_s + v_d >= w[s][d]
 *
 * (Kuhn 1955; Jonker & Volgenant, Computing 38, 1987; Burkard, Dell'Amico & Martello, Assignment Problems, 2009,
 * ch. 4.) Columns are reduced and rows matched greedily first; every row that is left is matched by a Dijkstra search
 * on reduced costs. O(n^3) at worst, far less where the weights have structure. GLPK's own (glp_asnprob_*) take
 * integers or the simplex method: 1.5 s for n = 256. */
#include "solvers/bound/bound.h"

#include <math.h>
#include <string.h>

struct search {
    uint32_t n;
    const double *w;
    uint32_t *to, *from; /* [n] column of a row, row of a column; FC_NONE: free */
    double *u, *v;
    double *slack;    /* [n] least reduced cost of a column so far */
    uint32_t *by;     /* [n] row that gives it */
    uint32_t *column; /* [n] scanned | to scan | not reached */
};

/* u_s = max_d (w - v_d) with v = 0, and greedy matches of tight pairs. */
static void start(struct search *a)
{
    uint32_t n = a->n;
    memset(a->to, 0xff, n * sizeof *a->to);
    memset(a->from, 0xff, n * sizeof *a->from);
    for (uint32_t d = 0; d < n; d++) a->v[d] = 0;
    for (uint32_t d = 0; d < n; d++)
        for (uint32_t s = 0; s < n; s++) a->v[d] = fmax(a->v[d], a->w[(size_t)s * n + d]);
    for (uint32_t s = 0; s < n; s++) {
        const double *w = a->w + (size_t)s * n;
        a->u[s] = -INFINITY;
        for (uint32_t d = 0; d < n; d++) a->u[s] = fmax(a->u[s], w[d] - a->v[d]);
        for (uint32_t d = 0; d < n && a->to[s] == FC_NONE; d++)
            if (a->from[d] == FC_NONE && w[d] - a->v[d] == a->u[s]) a->to[s] = d, a->from[d] = s;
    }
}

/* Shortest path of reduced costs u + v - w >= 0 from free row `root` to a free column; matches along it. */
static void augment(struct search *a, uint32_t root)
{
    uint32_t n = a->n, scanned = 0, ready = 0, end = FC_NONE, row = root;
    double at = 0;
    for (uint32_t d = 0; d < n; d++) a->column[d] = d, a->slack[d] = INFINITY;
    while (end == FC_NONE) {
        const double *w = a->w + (size_t)row * n;
        for (uint32_t i = ready; i < n; i++) {
            uint32_t d = a->column[i];
            double cost = at + (a->u[row] + a->v[d] - w[d]);
            if (!(cost < a->slack[d])) continue;
            a->slack[d] = cost;
            a->by[d] = row;
            if (cost > at) continue;
            if (a->from[d] == FC_NONE) {
                end = d;
                break;
            }
            a->column[i] = a->column[ready];
            a->column[ready++] = d;
        }
        if (end != FC_NONE) break;
        if (scanned == ready) { /* the nearest of the others */
            at = INFINITY;
            for (uint32_t i = ready; i < n; i++) at = fmin(at, a->slack[a->column[i]]);
            for (uint32_t i = ready; i < n; i++) {
                uint32_t d = a->column[i];
                if (a->slack[d] > at) continue;
                if (a->from[d] == FC_NONE) end = d;
                a->column[i] = a->column[ready];
                a->column[ready++] = d;
            }
            if (end != FC_NONE) break;
        }
        row = a->from[a->column[scanned++]];
    }
    /* Columns that were scanned before `at` was reached, their rows, and the root move by what is left to `at`. */
    for (uint32_t i = 0; i < scanned; i++) {
        uint32_t d = a->column[i];
        a->v[d] += at - a->slack[d];
        a->u[a->from[d]] -= at - a->slack[d];
    }
    a->u[root] -= at;
    for (uint32_t d = end, s = FC_NONE; s != root;) {
        s = a->by[d];
        uint32_t next = a->to[s];
        a->from[d] = s;
        a->to[s] = d;
        d = next;
    }
}

enum fc_code fc_assign(uint32_t n, const double *weight, uint32_t *to, double *u, double *v, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct search a = {.n = n, .w = weight, .to = to, .u = u, .v = v};
    a.from = fc_alloc(&scratch, n, sizeof *a.from, st);
    a.by = fc_alloc(&scratch, n, sizeof *a.by, st);
    a.column = fc_alloc(&scratch, n, sizeof *a.column, st);
    a.slack = fc_alloc(&scratch, n, sizeof *a.slack, st);
    if (!st->code) {
        start(&a);
        for (uint32_t s = 0; s < n; s++)
            if (to[s] == FC_NONE) augment(&a, s);
    }
    fc_arena_free(&scratch);
    return st->code;
}
