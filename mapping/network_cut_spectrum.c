/* network_cut_spectrum.c - the second smallest eigenvalue mu of L x = mu M x, L the Laplacian of a graph, M a mass of each vertex.
 *
 * With M = 1 it is the algebraic connectivity (Fiedler 1973). On the space orthogonal to the constants, 1 / mu is the greatest
 * eigenvalue of A = M^1/2 L^+ M^1/2, found by the Lanczos method with full reorthogonalisation (Golub & Van Loan, Matrix
 * Computations, 4th ed., section 10.3); L^+ b by conjugate gradients with Jacobi's preconditioner. A tridiagonal matrix of a few
 * dozen rows is what GSL then solves. Why not a library: GSL has no sparse eigenvalues, and its dense ones take n^3 steps; this
 * takes some 30 x 50 passes over the links on networks that expand. The error of a Ritz value is at most its residual, which is
 * added to 1 / mu, so mu is a lower bound but for rounding. Limit: a start vector drawn at random is orthogonal to the eigenvector
 * with probability 0. */
#include "mapping/network_cut.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 120, MOST_GRADIENTS = 4000 };
static const double accuracy = 1e-9, solved = 1e-12;

struct laplacian {
    uint32_t n;
    const uint32_t *first, *other;
    const double *weight;
    double *degree, *mass_root, *residual, *direction, *image;
};

static double dot(uint32_t n, const double *a, const double *b)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void apply(const struct laplacian *l, const double *x, double *y)
{
    for (uint32_t v = 0; v < l->n; v++) {
        double sum = l->degree[v] * x[v];
        for (uint32_t e = l->first[v]; e < l->first[v + 1]; e++) sum -= l->weight[e] * x[l->other[e]];
        y[v] = sum;
    }
}

/* x = L^+ b up to a constant, b of sum 0. */
static void solve(const struct laplacian *l, const double *b, double *x)
{
    double *r = l->residual, *p = l->direction, *q = l->image, rho = 0, before,
           least = solved * solved * dot(l->n, b, b);
    memset(x, 0, l->n * sizeof *x);
    memcpy(r, b, l->n * sizeof *r);
    for (uint32_t i = 0; i < l->n; i++) {
        p[i] = r[i] / l->degree[i];
        rho += r[i] * p[i];
    }
    for (int step = 0; step < MOST_GRADIENTS && dot(l->n, r, r) > least; step++) {
        apply(l, p, q);
        double alpha = rho / dot(l->n, p, q);
        before = rho;
        rho = 0;
        for (uint32_t i = 0; i < l->n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            rho += r[i] * r[i] / l->degree[i];
        }
        for (uint32_t i = 0; i < l->n; i++) p[i] = r[i] / l->degree[i] + rho / before * p[i];
    }
}

/* Greatest eigenvalue of the tridiagonal matrix of n rows, and the last component of its vector. */
static enum fc_code greatest(int n, const double *diagonal, const double *beside, double *value, double *last,
                             struct fc_status *st)
{
    gsl_eigen_symmv_workspace *w = gsl_eigen_symmv_alloc((size_t)n);
    gsl_matrix *m = gsl_matrix_calloc((size_t)n, (size_t)n), *vectors = gsl_matrix_alloc((size_t)n, (size_t)n);
    gsl_vector *values = gsl_vector_alloc((size_t)n);
    if (!w || !m || !vectors || !values) {
        fc_out_of_memory(st, "eigenvalues");
    } else {
        for (int i = 0; i < n; i++) {
            gsl_matrix_set(m, (size_t)i, (size_t)i, diagonal[i]);
            if (i) gsl_matrix_set(m, (size_t)i, (size_t)i - 1, beside[i - 1]);
        }
        gsl_eigen_symmv(m, values, vectors, w);
        size_t best = gsl_vector_max_index(values);
        *value = gsl_vector_get(values, best);
        *last = gsl_matrix_get(vectors, (size_t)n - 1, best);
    }
    if (w) gsl_eigen_symmv_free(w);
    if (m) gsl_matrix_free(m);
    if (vectors) gsl_matrix_free(vectors);
    if (values) gsl_vector_free(values);
    return st->code;
}

/* Takes out of x what it has along M^1/2 1, so that M^1/2 x sums to 0. */
static void centre(const struct laplacian *l, double mass, double *x)
{
    double along = dot(l->n, l->mass_root, x) / mass;
    for (uint32_t i = 0; i < l->n; i++) x[i] -= along * l->mass_root[i];
}

static enum fc_code lanczos(const struct laplacian *l, double mass, double *basis, double *scratch, double *mu,
                            struct fc_status *st)
{
    double diagonal[MOST_STEPS], beside[MOST_STEPS], value = 0, last = 0;
    uint32_t n = l->n;
    for (uint32_t i = 0; i < n; i++) basis[i] = l->mass_root[i] * (fc_random_real(1, 0x6c616e, i) - 0.5);
    centre(l, mass, basis);
    double norm = sqrt(dot(n, basis, basis));
    for (uint32_t i = 0; i < n; i++) basis[i] /= norm;
    for (int k = 0; k < MOST_STEPS; k++) {
        double *v = basis + (size_t)k * n, *next = v + n;
        for (uint32_t i = 0; i < n; i++) scratch[i] = l->mass_root[i] * v[i];
        solve(l, scratch, next);
        for (uint32_t i = 0; i < n; i++) next[i] *= l->mass_root[i];
        diagonal[k] = dot(n, v, next);
        for (int twice = 0; twice < 2; twice++) {
            centre(l, mass, next);
            for (int j = 0; j <= k; j++) {
                const double *w = basis + (size_t)j * n;
                double along = dot(n, w, next);
                for (uint32_t i = 0; i < n; i++) next[i] -= along * w[i];
            }
        }
        beside[k] = sqrt(dot(n, next, next));
        if (greatest(k + 1, diagonal, beside, &value, &last, st)) return st->code;
        if (beside[k] * fabs(last) <= accuracy * value || beside[k] <= 1e-14 * value) break;
        for (uint32_t i = 0; i < n; i++) next[i] /= beside[k];
        if (k + 1 == MOST_STEPS) value += beside[k] * fabs(last);
    }
    *mu = 1 / (value * (1 + accuracy));
    return FC_OK;
}

/* Whether every vertex with mass is joined to the first; others that are not get no degree. */
static bool joined(const struct laplacian *l, const double *mass, uint32_t *queue, bool *met)
{
    uint32_t start = 0, tail = 0;
    while (start < l->n && mass[start] == 0) start++;
    if (start == l->n) return false;
    met[start] = true;
    queue[tail++] = start;
    for (uint32_t head = 0; head < tail; head++)
        for (uint32_t e = l->first[queue[head]]; e < l->first[queue[head] + 1]; e++)
            if (!met[l->other[e]]) met[l->other[e]] = true, queue[tail++] = l->other[e];
    for (uint32_t v = 0; v < l->n; v++)
        if (mass[v] > 0 && !met[v]) return false;
    return true;
}

enum fc_code fc_second_eigenvalue(uint32_t n, const uint32_t *first, const uint32_t *other, const double *weight,
                                  const double *mass, double *mu, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct laplacian l = {.n = n, .first = first, .other = other, .weight = weight};
    uint32_t *queue = fc_alloc(&scratch, n, sizeof *queue, st);
    bool *met = fc_alloc(&scratch, n, sizeof *met, st);
    double *all = fc_alloc(&scratch, 6 * (size_t)n, sizeof *all, st);
    double *basis = fc_alloc(&scratch, (size_t)n, (MOST_STEPS + 1) * sizeof *basis, st), sum = 0;
    *mu = 0;
    if (!st->code && n > 1 && joined(&l, mass, queue, met)) {
        l.degree = all, l.mass_root = all + n, l.residual = all + 2 * (size_t)n, l.direction = all + 3 * (size_t)n;
        l.image = all + 4 * (size_t)n;
        for (uint32_t v = 0; v < n; v++) {
            for (uint32_t e = first[v]; e < first[v + 1]; e++) l.degree[v] += weight[e];
            if (l.degree[v] == 0) l.degree[v] = 1; /* alone, without mass */
            l.mass_root[v] = sqrt(mass[v]);
            sum += mass[v];
        }
        lanczos(&l, sum, basis, all + 5 * (size_t)n, mu, st);
    }
    fc_arena_free(&scratch);
    return st->code;
}
