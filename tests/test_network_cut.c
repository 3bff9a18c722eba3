/* test_network_cut.c - bounds of the bisection: against every division into halves of small networks, closed forms, and
 * eigenvalues found densely. */
#include "mapping/network_cut.h"
#include "tests/graph_checks.h"

#include <gsl/gsl_eigen.h>
#include <math.h>

struct text {
    char *data;
    size_t size;
    FILE *stream;
};

static bool open_text(struct text *t, struct fc_machine *machine, struct fc_network *net)
{
    fclose(t->stream);
    bool good = graph_of("edge-list", t->data, "links: {link: {bandwidth: 1 GB/s}}\n", machine, net);
    free(t->data);
    return good;
}
static void start(struct text *t)
{
    t->stream = open_memstream(&t->data, &t->size);
}

static struct fc_bisection bounds_of(const struct fc_network *net)
{
    struct fc_bisection b = {0};
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_bisection_bounds(net, &b, &st), FC_OK);
    CU_ASSERT(b.lower_links <= b.upper_links && b.lower_bytes_per_s <= b.upper_bytes_per_s * (1 + 1e-9));
    return b;
}

/* The least cut of one direction over all sides of all vertices, nodes even. */
static double least_cut(const struct fc_network *net)
{
    double least = INFINITY;
    for (uint32_t mask = 0; mask < 1u << net->n_vertices; mask++) {
        int nodes = __builtin_popcount(mask >> net->n_routers), all = (int)net->n_nodes;
        double cut = 0;
        if (2 * nodes != all && 2 * nodes != all - 1) continue;
        for (uint32_t l = 0; l < net->n_links; l++)
            cut += (mask >> net->link_source[l] & 1) && !(mask >> net->link_target[l] & 1);
        least = fmin(least, cut);
    }
    return least;
}

static void small_networks(void)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct text t;
        struct fc_machine machine;
        struct fc_network net;
        uint64_t at = 0, routers = 3 + fc_random_below(seed, 1, at++, 4), nodes = 2 + fc_random_below(seed, 1, at++, 7);
        start(&t);
        for (uint64_t i = 1; i < routers; i++) {
            uint64_t to = fc_random_below(seed, 1, at++, i), count = 1 + fc_random_below(seed, 1, at++, 3);
            fprintf(t.stream, "router %d router %d 1GB/s 0 %d\n", (int)i, (int)to, (int)count);
        }
        for (uint64_t i = 0; i < nodes; i++) {
            uint64_t home = fc_random_below(seed, 1, at++, routers);
            fprintf(t.stream, "router %d node %d\n", (int)home, (int)i);
            if (i % 3 == 2) fprintf(t.stream, "router %d node %d\n", (int)((home + 1) % routers), (int)i);
        }
        if (!open_text(&t, &machine, &net)) continue;
        struct fc_bisection b = bounds_of(&net);
        double exact = least_cut(&net);
        CU_ASSERT(b.lower_links <= exact && exact <= b.upper_links);
        if (!(b.lower_links <= exact && exact <= b.upper_links))
            printf("\n    seed %d: %g, not between %g and %g", (int)seed, exact, b.lower_links, b.upper_links);
        fc_test_close(&machine, &net);
    }
}

/* Rings (2), complete graphs (n^2 / 4), squares of complete graphs (HyperX; n^3 / 4): both ends meet. */
static void closed_forms(void)
{
    for (int k = 4; k <= 8; k += 2)
        for (int kind = 0; kind < 3; kind++) {
            struct text t;
            struct fc_machine machine;
            struct fc_network net;
            int n = kind == 2 ? k * k : k;
            start(&t);
            for (int i = 0; i < n; i++) {
                for (int node = 0; node < k; node++) fprintf(t.stream, "router %d node %d\n", i, i * k + node);
                if (kind == 0) fprintf(t.stream, "router %d router %d\n", i, (i + 1) % n);
                for (int j = 0; kind > 0 && j < i; j++)
                    if (kind == 1 || i / k == j / k || i % k == j % k) fprintf(t.stream, "router %d router %d\n", i, j);
            }
            if (!open_text(&t, &machine, &net)) continue;
            struct fc_bisection b = bounds_of(&net);
            double expected = kind == 0 ? 2 : n * k / 4;
            CU_ASSERT_EQUAL(b.upper_links, expected);
            CU_ASSERT_EQUAL(b.lower_links, expected);
            CU_ASSERT_DOUBLE_EQUAL(b.upper_bytes_per_s, expected * 1e9, 1);
            fc_test_close(&machine, &net);
        }
}

/* Two halves that nothing joins, and a network of one node. */
static void nothing_to_cut(void)
{
    struct text t;
    struct fc_machine machine;
    struct fc_network net;
    start(&t);
    fprintf(t.stream, "router a node 0\nrouter a node 1\nrouter b node 2\nrouter b node 3\n");
    if (open_text(&t, &machine, &net)) {
        struct fc_bisection b = bounds_of(&net);
        CU_ASSERT(b.lower_links == 0 && b.upper_links == 0);
        fc_test_close(&machine, &net);
    }
    start(&t);
    fprintf(t.stream, "router a node 0\n");
    if (open_text(&t, &machine, &net)) {
        struct fc_bisection b = bounds_of(&net);
        CU_ASSERT(b.lower_links == 0 && b.upper_links == 0);
        fc_test_close(&machine, &net);
    }
}

/* Random weights and masses, against all eigenvalues of M^-1/2 L M^-1/2. */
static void eigenvalues(void)
{
    enum { N = 40, ARCS = N * 6 };
    for (uint64_t seed = 0; seed < 6; seed++) {
        double dense[N][N] = {{0}}, mass[N], weight[ARCS * 2], mu;
        uint32_t first[N + 1] = {0}, other[ARCS * 2], n = 0;
        struct fc_status st = {0};
        for (uint32_t i = 0; i < N; i++) {
            mass[i] = 0.5 + 4 * fc_random_real(seed, 2, i);
            for (uint32_t e = 0; e < 3; e++) {
                uint32_t to = e ? (uint32_t)fc_random_below(seed, 3, 3 * i + e, N) : (i + 1) % N;
                double w = 0.1 + fc_random_real(seed, 4, 3 * i + e);
                if (to != i) dense[i][to] += w, dense[to][i] += w;
            }
        }
        gsl_matrix *m = gsl_matrix_calloc(N, N);
        gsl_vector *values = gsl_vector_alloc(N);
        gsl_eigen_symm_workspace *w = gsl_eigen_symm_alloc(N);
        for (uint32_t i = 0; i < N; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < N; j++) {
                if (dense[i][j] == 0) continue;
                other[n] = j;
                weight[n++] = dense[i][j];
                sum += dense[i][j];
                gsl_matrix_set(m, i, j, -dense[i][j] / sqrt(mass[i] * mass[j]));
            }
            gsl_matrix_set(m, i, i, sum / mass[i]);
            first[i + 1] = n;
        }
        gsl_eigen_symm(m, values, w);
        double least = INFINITY, second = INFINITY;
        for (uint32_t i = 0; i < N; i++) {
            double v = gsl_vector_get(values, i);
            second = v < least ? least : fmin(second, v);
            least = fmin(least, v);
        }
        CU_ASSERT_EQUAL(fc_second_eigenvalue(N, first, other, weight, mass, &mu, &st), FC_OK);
        CU_ASSERT_DOUBLE_EQUAL(mu, second, 1e-7 * second);
        CU_ASSERT(mu <= second * (1 + 1e-10));
        gsl_eigen_symm_free(w);
        gsl_vector_free(values);
        gsl_matrix_free(m);
    }
}

static const CU_TestInfo tests[] = {
    {"every division of small networks", small_networks},
    {"rings, complete graphs, HyperX", closed_forms},
    {"nothing to cut", nothing_to_cut},
    {"eigenvalues", eigenvalues},
    CU_TEST_INFO_NULL,
};
int suite_network_cut(void)
{
    return fc_add_suite("network cut", tests);
}
