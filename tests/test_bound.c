/* test_bound.c - the flow program against closed forms, against itself (edges, columns, weights; with and without
 * symmetry), and its prices by weak duality computed here anew; assignments against all permutations; worst cases
 * against closed forms. */
#include "solvers/bound/bound.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TORUS(dims)                                                                                                    \
    "name: t\nnetwork: {family: torus, dims: " dims "}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 1 ns}}\n"
#define MESH(dims)                                                                                                     \
    "name: t\nnetwork: {family: mesh, dims: " dims "}\nlinks: {mesh: {bandwidth: 1 GB/s, latency: 1 ns}}\n"
#define TREE(m, w)                                                                                                     \
    "name: t\nnetwork: {family: fat-tree, children: " m ", parents: " w "}\nlinks: {leaf: {bandwidth: 1 GB/s, "        \
    "latency: 1 ns}, up: {bandwidth: 1 GB/s, latency: 1 ns}}\n"
#define TMESH                                                                                                                 \
    "name: t\nnetwork: {family: tmesh, dims: [3, 2, 4], mesh: [3, 3], bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}}\n" \
    "links: {torus: {bandwidth: 1 GB/s, latency: 1 ns}, mesh: {bandwidth: 4 GB/s, latency: 1 ns}}\n"
#define GROUP(rule)                                                                                                     \
    "name: t\nnetwork: {family: two-level, supernodes: 4, drawers: 2, nodes_per_drawer: 2, d_link: " rule "}\n"         \
    "links: {ll: {bandwidth: 24 GB/s, latency: 1 ns}, lr: {bandwidth: 5 GB/s, latency: 1 ns}, d: {bandwidth: 10 GB/s, " \
    "latency: 1 ns}}\n"

/* Traffic on nodes; arrays by malloc. */
static void traffic(const struct fc_network *net, const char *pattern, struct fc_node_demand *out)
{
    struct fc_demand d;
    struct fc_status st = {0};
    memset(out, 0, sizeof *out);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(net, pattern, 1, &d, &st), FC_OK);
    out->src = calloc(d.n_entries + 1, sizeof *out->src);
    out->dst = calloc(d.n_entries + 1, sizeof *out->dst);
    out->bytes = calloc(d.n_entries + 1, sizeof *out->bytes);
    for (size_t e = 0; e < d.n_entries; e++) {
        if (d.src[e] == d.dst[e]) continue;
        out->src[out->n] = d.src[e];
        out->dst[out->n] = d.dst[e];
        out->bytes[out->n++] = d.bytes[e];
    }
    for (int i = 0; i < d.n_dense; i++) {
        out->a[i] = malloc(net->n_nodes * sizeof(double));
        out->b[i] = malloc(net->n_nodes * sizeof(double));
        memcpy(out->a[i], d.dense[i].a, net->n_nodes * sizeof(double));
        memcpy(out->b[i], d.dense[i].b, net->n_nodes * sizeof(double));
    }
    out->n_dense = d.n_dense;
    fc_demand_free(&d);
}
static void random_traffic(uint32_t n_nodes, size_t n, uint64_t seed, struct fc_node_demand *out)
{
    *out = (struct fc_node_demand){
        .src = calloc(n, sizeof(uint32_t)), .dst = calloc(n, sizeof(uint32_t)), .bytes = calloc(n, sizeof(double))};
    for (size_t e = 0; e < n; e++) {
        uint32_t s = (uint32_t)fc_random_below(seed, 1, e, n_nodes), d = (uint32_t)fc_random_below(seed, 2, e, n_nodes);
        if (s == d) continue;
        out->src[out->n] = s;
        out->dst[out->n] = d;
        out->bytes[out->n++] = 1 + (double)fc_random_below(seed, 3, e, 9);
    }
}
static void drop(struct fc_node_demand *d)
{
    free(d->src);
    free(d->dst);
    free(d->bytes);
    for (int i = 0; i < d->n_dense; i++) free(d->a[i]), free(d->b[i]);
}

/* Seconds x 1e9: the greatest load in bytes where links move 1 GB/s; the ends must meet. */
static double optimum(const struct fc_network *net, const struct fc_node_demand *d, struct fc_flow_settings settings)
{
    struct fc_flow_bound b;
    struct fc_status st = {0};
    enum fc_code code = fc_flow_bound_solve(net, d, &settings, &b, &st);
    if (code) printf("\n    %s\n", st.message);
    CU_ASSERT_EQUAL_FATAL(code, FC_OK);
    CU_ASSERT(b.exact);
    CU_ASSERT(b.upper_s <= b.lower_s * (1 + 1e-9));
    double z = b.lower_s * 1e9;
    fc_flow_bound_free(&b);
    return z;
}

/* ---- closed forms ---- */

static void test_closed_forms(void)
{
    static const struct {
        const char *yaml, *pattern;
        double minimal, all; /* 0: not asked */
    } cases[] = {
        /* uniform: k/8 (k even), (k - 1/k)/8; mesh k/4, (k - 1/k)/4 (Dally & Towles, sec. 3.3) */
        {TORUS("[8, 8]"), "uniform", 1, 1},
        {TORUS("[5, 5]"), "uniform", 0.6, 0.6},
        {TORUS("[6, 6, 6]"), "uniform", 0.75, 0.75},
        {TORUS("[8, 8, 8]"), "uniform", 1, 1},
        {TORUS("[8, 4]"), "uniform", 1, 0},
        {MESH("[8, 8]"), "uniform", 2, 0},
        {MESH("[5, 5]"), "uniform", 1.2, 1.2},
        /* tornado: k/2 - 1 one way; the other way round takes 3/8 of it */
        {TORUS("[8]"), "tornado:bytes=1", 3, 1.875},
        {TORUS("[8, 8]"), "tornado:bytes=1", 3, 1.875},
        {TORUS("[8, 8, 8]"), "tornado:bytes=1", 3, 1.875},
        /* complement: all of a half crosses its cut, k/4 on a torus and k/2 on a mesh */
        {TORUS("[8, 8]"), "complement:bytes=1", 2, 2},
        {MESH("[8, 8]"), "complement:bytes=1", 4, 4},
        /* hot spots: the links into the region, 511/6 and 504 x 8 / 24 */
        {TORUS("[8, 8, 8]"), "hotspot:size=1x1x1,bytes=1", 511 / 6.0, 511 / 6.0},
        {TORUS("[8, 8, 8]"), "hotspot:size=2x2x2,bytes=1", 4032 / 24.0, 0},
        /* fat-trees: full bisection carries every permutation at the rate of a link; half of it, at half */
        {TREE("[4, 4, 4]", "[1, 4, 4]"), "complement:bytes=1", 1, 1},
        {TREE("[4, 4, 4]", "[1, 4, 4]"), "uniform", 63 / 64.0, 63 / 64.0},
        {TREE("[4, 4]", "[1, 2]"), "complement:bytes=1", 2, 2},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_node_demand d;
        if (!fc_test_network(cases[i].yaml, &machine, &net)) continue;
        traffic(&net, cases[i].pattern, &d);
        double z = optimum(&net, &d, (struct fc_flow_settings){.paths = FC_FLOW_MINIMAL});
        if (!fc_near(z, cases[i].minimal, 1e-6)) printf("\n    case %zu, minimal: %.9g\n", i, z);
        CU_ASSERT(fc_near(z, cases[i].minimal, 1e-6));
        if (cases[i].all > 0) {
            z = optimum(&net, &d, (struct fc_flow_settings){.paths = FC_FLOW_ALL});
            if (!fc_near(z, cases[i].all, 1e-6)) printf("\n    case %zu, all: %.9g\n", i, z);
            CU_ASSERT(fc_near(z, cases[i].all, 1e-6));
        }
        drop(&d);
        fc_test_close(&machine, &net);
    }
}

/* ---- symmetry ---- */

static void test_symmetry(void)
{
    static const char *const yaml[] = {
        TORUS("[4, 4]"), TORUS("[4, 3, 2]"), TMESH,
        "name: t\nnetwork: {family: torus, dims: [4, 3, 2], wrap: [1, 0, 1], links_per_dim: "
        "[2, 1, 3], nodes_per_router: 2}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 1 ns}}\n"};
    for (size_t i = 0; i < FC_COUNT(yaml); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_node_demand d;
        struct fc_flow_bound b;
        struct fc_status st = {0};
        if (!fc_test_network(yaml[i], &machine, &net)) continue;
        traffic(&net, "uniform", &d);
        for (int paths = 0; paths < 2; paths++) {
            struct fc_flow_settings settings = {.paths = paths ? FC_FLOW_ALL : FC_FLOW_MINIMAL};
            CU_ASSERT_EQUAL_FATAL(fc_flow_bound_solve(&net, &d, &settings, &b, &st), FC_OK);
            CU_ASSERT(b.symmetry > 1 && b.n_rows * b.symmetry < net.n_links);
            fc_flow_bound_free(&b);
            double z = optimum(&net, &d, settings);
            settings.whole = true;
            CU_ASSERT(fc_near(z, optimum(&net, &d, settings), 1e-8));
        }
        d.a[0][0] *= 2; /* no longer the same from everywhere */
        CU_ASSERT_EQUAL_FATAL(fc_flow_bound_solve(&net, &d, &(struct fc_flow_settings){0}, &b, &st), FC_OK);
        CU_ASSERT_EQUAL(b.symmetry, 1);
        fc_flow_bound_free(&b);
        drop(&d);
        fc_test_close(&machine, &net);
    }
}

/* ---- random traffic: three methods, and weak duality computed here ---- */

/* Sum of bytes x shortest path by prices, relaxing all links until nothing changes; packets pass through no node. */
static double priced(const struct fc_network *net, const struct fc_node_demand *d, const double *price)
{
    double *distance = malloc(net->n_vertices * sizeof *distance), sum = 0;
    for (uint32_t t = 0; t < net->n_nodes; t++) {
        uint32_t target = fc_node_vertex(net, t);
        for (uint32_t v = 0; v < net->n_vertices; v++) distance[v] = v == target ? 0 : INFINITY;
        for (bool changed = true; changed;) {
            changed = false;
            for (uint32_t l = 0; l < net->n_links; l++) {
                uint32_t to = net->link_target[l], from = net->link_source[l];
                if (fc_is_node(net, to) && to != target) continue;
                if (distance[to] + price[l] < distance[from]) distance[from] = distance[to] + price[l], changed = true;
            }
        }
        for (size_t e = 0; e < d->n; e++)
            if (d->dst[e] == t) sum += d->bytes[e] * distance[fc_node_vertex(net, d->src[e])];
    }
    free(distance);
    return sum;
}

static void test_methods(void)
{
    static const char *const yaml[] = {TORUS("[4, 4]"),          TORUS("[5, 3]"), MESH("[4, 3]"),
                                       TREE("[3, 3]", "[2, 2]"), GROUP("packed"), TORUS("[6, 2]")};
    for (size_t i = 0; i < FC_COUNT(yaml); i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct fc_machine machine;
            struct fc_network net;
            struct fc_node_demand d;
            struct fc_flow_bound b;
            struct fc_status st = {0};
            if (!fc_test_network(yaml[i], &machine, &net)) continue;
            random_traffic(net.n_nodes, 2 * net.n_nodes, seed, &d);
            struct fc_flow_settings settings = {.paths = seed % 2 ? FC_FLOW_ALL : FC_FLOW_MINIMAL};
            CU_ASSERT_EQUAL_FATAL(fc_flow_bound_solve(&net, &d, &settings, &b, &st), FC_OK);
            double sum = 0;
            for (uint32_t l = 0; l < net.n_links; l++) {
                CU_ASSERT(b.price[l] >= 0);
                if (b.price[l] > 0) sum += b.price[l] * fc_link_bandwidth(&net, l);
            }
            CU_ASSERT(fc_near(sum, 1, 1e-12));
            if (settings.paths == FC_FLOW_ALL && b.lower_s > b.node_s)
                CU_ASSERT(fc_near(priced(&net, &d, b.price), b.lower_s, 1e-9));
            double z = b.lower_s * 1e9;
            fc_flow_bound_free(&b);
            settings.method = FC_FLOW_EDGES;
            CU_ASSERT(fc_near(optimum(&net, &d, settings), z, 1e-8));
            settings.method = FC_FLOW_WEIGHTS;
            settings.gap = 0.02;
            CU_ASSERT_EQUAL_FATAL(fc_flow_bound_solve(&net, &d, &settings, &b, &st), FC_OK);
            CU_ASSERT(b.exact && b.lower_s * 1e9 <= z * (1 + 1e-9) && b.upper_s * 1e9 >= z * (1 - 1e-9));
            fc_flow_bound_free(&b);
            drop(&d);
            fc_test_close(&machine, &net);
        }
}

/* Where each pair of routers is a commodity of its own, few searches for paths are enough. */
static void test_pairs(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_node_demand d;
    struct fc_flow_bound b;
    struct fc_status st = {0};
    CU_ASSERT_FATAL(fc_test_network(TORUS("[6, 6, 4]"), &machine, &net));
    random_traffic(net.n_nodes, 4 * net.n_nodes, 5, &d);
    struct fc_flow_settings settings = {.paths = FC_FLOW_ALL, .method = FC_FLOW_WEIGHTS, .gap = 0.02};
    CU_ASSERT_EQUAL_FATAL(fc_flow_bound_solve(&net, &d, &settings, &b, &st), FC_OK);
    CU_ASSERT(b.exact && b.lower_s > b.node_s && b.rounds <= 18); /* 26 with one pass a search */
    fc_flow_bound_free(&b);
    drop(&d);
    fc_test_close(&machine, &net);
}

/* Beside the channel loads: above the cuts, never above the loads found; the same for two runs. */
static void test_in_loads(void)
{
    struct fc_machine machine;
    struct fc_network net;
    int better = 0;
    if (!fc_test_network(TORUS("[5, 4]"), &machine, &net)) return;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_machine_route(&machine, "adaptive", &st), FC_OK);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct fc_demand d;
        struct fc_load cuts, lp;
        struct fc_load_summary summary;
        char pattern[64];
        uint32_t node[20];
        for (uint32_t t = 0; t < 20; t++) node[t] = t;
        snprintf(pattern, sizeof pattern, "permutation:seed=%d,bytes=1000", (int)seed);
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, pattern, seed, &d, &st), FC_OK);
        struct fc_placement placement = {d.n_tasks, node};
        struct fc_flow_settings flow = fc_flow_cheap(&net);
        struct fc_load_settings settings = {.seed = 1};
        CU_ASSERT_EQUAL_FATAL(fc_load_solve(&net, &d, &placement, &settings, &cuts, &st), FC_OK);
        settings.flow = &flow;
        CU_ASSERT_EQUAL_FATAL(fc_load_solve(&net, &d, &placement, &settings, &lp, &st), FC_OK);
        fc_load_summarise(&net, &lp, &settings, &summary);
        CU_ASSERT_STRING_EQUAL(cuts.bound_by, "cuts");
        CU_ASSERT(lp.cut_bound_s >= cuts.cut_bound_s && lp.flow->exact);
        CU_ASSERT(lp.cut_bound_s <= summary.max_link_s * (1 + 1e-9));
        better += !strcmp(lp.bound_by, "linear program");
        fc_load_free(&cuts);
        fc_load_free(&lp);
        fc_demand_free(&d);
    }
    CU_ASSERT(better > 0);
    fc_test_close(&machine, &net);
}

static void test_refusals(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flow_bound b;
    struct fc_flow_settings settings = {0};
    uint32_t src[] = {0, 1}, dst[] = {2, 3};
    double bytes[] = {1, 1};
    struct fc_node_demand d = {.n = 2, .src = src, .dst = dst, .bytes = bytes};
    if (!fc_test_network(TORUS("[4]"), &machine, &net)) return;
    struct fc_status st = {0};
    dst[1] = 4;
    CU_ASSERT_EQUAL(fc_flow_bound_solve(&net, &d, &settings, &b, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "from node 1 to node 4 (the machine has 4 nodes)"));
    dst[1] = 3;
    static const double wrong[] = {-1, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        st = (struct fc_status){0};
        bytes[1] = wrong[i];
        CU_ASSERT_EQUAL(fc_flow_bound_solve(&net, &d, &settings, &b, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, "expected a number >= 0"));
    }
    bytes[1] = 1;
    st = (struct fc_status){0};
    settings.most_variables = 1;
    CU_ASSERT_EQUAL(fc_flow_bound_solve(&net, &d, &settings, &b, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "2 pairs of routers (at most 1)"));
    st = (struct fc_status){0};
    settings.most_variables = 3;
    settings.paths = FC_FLOW_ALL;
    CU_ASSERT_EQUAL(fc_flow_bound_solve(&net, &d, &settings, &b, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "16 variables for 2 destinations and 8 links (at most 3)"));
    /* A background that takes all of the links out of router 0. */
    double background[24] = {0};
    st = (struct fc_status){0};
    for (uint32_t l = net.first_link[0]; l < net.first_link[1]; l++)
        if (!fc_is_node(&net, net.link_target[l])) background[l] = fc_link_bandwidth(&net, l);
    settings = (struct fc_flow_settings){.background_bytes_per_s = background};
    CU_ASSERT_EQUAL(fc_flow_bound_solve(&net, &d, &settings, &b, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "no way with bandwidth left from"));
    /* Half of one of them: 1/2 + 1 cables' worth. */
    for (uint32_t l = 0; l < net.n_links; l++) background[l] *= 0.5;
    d.n = 1;
    CU_ASSERT(fc_near(optimum(&net, &d, settings), 1, 1e-9));
    d.n = 0;
    CU_ASSERT_EQUAL(optimum(&net, &d, settings), 0);
    fc_test_close(&machine, &net);
    if (!fc_test_network(GROUP("free"), &machine, &net)) return;
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_flow_bound_solve(&net, &d, &(struct fc_flow_settings){0}, &b, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "d_link: free"));
    fc_test_close(&machine, &net);
}

/* ---- assignments ---- */

static double best_of_all(uint32_t n, const double *w, uint32_t row, uint32_t used)
{
    double best = 0;
    for (uint32_t d = 0; row < n && d < n; d++)
        if (!(used >> d & 1)) best = fmax(best, w[row * n + d] + best_of_all(n, w, row + 1, used | 1u << d));
    return best;
}

/* Random weights: real, small integers with ties, sparse. */
static double random_weight(uint64_t seed, uint32_t i)
{
    return seed % 3 == 0                      ? fc_random_real(seed, 1, i)
           : seed % 3 == 1                    ? (double)fc_random_below(seed, 1, i, 3)
           : fc_random_real(seed, 1, i) < 0.7 ? 0
                                              : 1;
}

/* The value by x, which keeps to supply and room, and the dual, which covers all weights, are the same. */
static double assigned(const struct fc_assignment *a)
{
    uint32_t x[49];
    double u[7], v[7], value = 0, dual = 0;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_assign(a, x, u, v, NULL, &st), FC_OK);
    for (uint32_t r = 0; r < a->n_rows; r++) {
        uint32_t used = 0;
        for (uint32_t c = 0; c < a->n_columns; c++) {
            size_t at = (size_t)r * a->n_columns + c;
            value += x[at] * a->weight[at];
            used += x[at];
            CU_ASSERT(u[r] + v[c] >= a->weight[at] - 1e-12);
        }
        CU_ASSERT(used <= a->supply[r] && u[r] >= 0);
        dual += a->supply[r] * u[r];
    }
    for (uint32_t c = 0; c < a->n_columns; c++) {
        uint32_t used = 0;
        for (uint32_t r = 0; r < a->n_rows; r++) used += x[(size_t)r * a->n_columns + c];
        CU_ASSERT(used <= a->room[c] && v[c] >= 0);
        dual += a->room[c] * v[c];
    }
    CU_ASSERT(fabs(value - dual) < 1e-11);
    return value;
}

static void test_assignment(void)
{
    static const uint32_t one[] = {1, 1, 1, 1, 1, 1, 1};
    for (uint64_t seed = 0; seed < 60; seed++) {
        uint32_t n = 1 + (uint32_t)(seed % 7);
        double w[49];
        for (uint32_t i = 0; i < n * n; i++) w[i] = random_weight(seed, i);
        CU_ASSERT(fabs(assigned(&(struct fc_assignment){n, n, w, one, one}) - best_of_all(n, w, 0, 0)) < 1e-12);
    }
}

/* Kinds of rows and columns: the same as all of their members one by one. */
static void test_assignment_of_kinds(void)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        uint32_t rows = 1 + (uint32_t)fc_random_below(seed, 2, 0, 4),
                 columns = 1 + (uint32_t)fc_random_below(seed, 2, 1, 4);
        uint32_t supply[4], room[4], n_rows = 0, n_columns = 0, row[7], column[7];
        double kinds[16], all[49] = {0};
        for (uint32_t i = 0; i < rows * columns; i++) kinds[i] = random_weight(seed, i);
        for (uint32_t r = 0; r < rows; r++) {
            supply[r] = 1 + (uint32_t)fc_random_below(seed, 3, r, 8 - n_rows - (rows - r)) % 3;
            for (uint32_t i = 0; i < supply[r]; i++) row[n_rows++] = r;
        }
        for (uint32_t c = 0; c < columns; c++) {
            room[c] = 1 + (uint32_t)fc_random_below(seed, 4, c, 8 - n_columns - (columns - c)) % 3;
            for (uint32_t i = 0; i < room[c]; i++) column[n_columns++] = c;
        }
        uint32_t n = n_rows > n_columns ? n_rows : n_columns;
        for (uint32_t r = 0; r < n_rows; r++)
            for (uint32_t c = 0; c < n_columns; c++) all[r * n + c] = kinds[row[r] * columns + column[c]];
        double value = assigned(&(struct fc_assignment){rows, columns, kinds, supply, room});
        CU_ASSERT(fabs(value - best_of_all(n, all, 0, 0)) < 1e-11);
    }
}

/* ---- worst cases ---- */

/* Greatest load of dimension order on a k-ary n-cube, ties of even rings split: a ring has sources i = 0 .. hops
 * behind the link and destinations j = 1 .. before it, i + j <= k/2 (equal: half). Dimension d of n has k^d sources
 * a position and k^(n-1-d) destinations; the side that has more fills all places of the other. */
static double dimension_order(uint32_t k, int n)
{
    double most = 0, half = k / 2;
    for (int d = 0; d < n; d++) {
        int fewer = d < n - 1 - d ? d : n - 1 - d;
        double side = pow(k, fewer), load = side * (k - 1) / 2;
        if (d == n - 1 - d) load = side * (k % 2 ? half : fmax(half - 1, half / 2));
        most = fmax(most, load);
    }
    return most;
}

static void worst_of(const char *yaml, const char *routing, double expected, bool both)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_worst_case w;
    struct fc_status st = {0};
    struct fc_walk walk;
    if (!fc_test_network(yaml, &machine, &net)) return;
    if (routing) CU_ASSERT_EQUAL_FATAL(fc_machine_route(&machine, routing, &st), FC_OK);
    for (int whole = 0; whole < (both ? 2 : 1); whole++) {
        double dual = 0, load = 0;
        CU_ASSERT_EQUAL_FATAL(fc_worst_case_solve(&net, whole, 0, &w, &st), FC_OK);
        for (uint32_t s = 0; s < net.n_nodes; s++) dual += w.u[s] + w.v[s];
        if (isnan(expected)) expected = w.load;
        if (!fc_near(w.load, expected, 1e-9))
            printf("\n    %s%s: %.9g, not %.9g\n", yaml, machine.routing->name, w.load, expected);
        CU_ASSERT(fc_near(w.load, expected, 1e-9));
        CU_ASSERT(fc_near(dual, w.load, 1e-9));
        /* The permutation gives that load on that link. */
        CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, net.machine->routing->walk_capacity(&net), &st), FC_OK);
        for (uint32_t s = 0; s < net.n_nodes; s++) {
            walk.n = 0;
            if (w.to[s] != s) net.machine->routing->walk(&net, s, w.to[s], 1, &walk);
            for (uint32_t i = 0; i < walk.n; i++) load += walk.link[i] == w.link ? walk.weight[i] : 0;
        }
        CU_ASSERT(fc_near(load, w.load, 1e-9));
        fc_walk_free(&walk);
        fc_worst_case_free(&w);
    }
    fc_test_close(&machine, &net);
}

#define GROUPS                                                                                                          \
    "name: g\nnetwork: {family: two-level, supernodes: 5, nodes_per_drawer: 2, nodes_per_router: 2, d_link: relative, " \
    "d_ports: 2}\nlinks: {ll: {bandwidth: 1 GB/s}, d: {bandwidth: 1 GB/s}, injection: {bandwidth: 1 GB/s}}\n"
#define MANY_GROUPS                                                                                                       \
    "name: g\nnetwork: {family: two-level, supernodes: 100, nodes_per_drawer: 8, nodes_per_router: 2, d_link: relative, " \
    "d_ports: 13}\nlinks: {ll: {bandwidth: 1 GB/s}, d: {bandwidth: 1 GB/s}, injection: {bandwidth: 1 GB/s}}\n"

/* Stopped at once: what was found is not above what is proven. */
static void test_worst_case_stopped(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_worst_case stopped, all;
    struct fc_status st = {0};
    if (!fc_test_network(GROUPS, &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_machine_route(&machine, "indirect", &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_worst_case_solve(&net, false, 1, &stopped, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_worst_case_solve(&net, false, 0, &all, &st), FC_OK);
    CU_ASSERT(stopped.n_left > 0 && stopped.n_solved == 1 && all.n_left == 0 && all.most_s == all.time_s);
    CU_ASSERT(stopped.time_s <= all.time_s * (1 + 1e-9) && all.time_s <= stopped.most_s * (1 + 1e-9));
    fc_worst_case_free(&stopped);
    /* 5000 steps are enough for all links, but not for the walk of the routes too: one link is looked at all the same. */
    CU_ASSERT_EQUAL_FATAL(fc_worst_case_solve(&net, false, 5000, &stopped, &st), FC_OK);
    CU_ASSERT(stopped.n_left > 0 && stopped.n_solved == 1);
    fc_worst_case_free(&stopped);
    fc_worst_case_free(&all);
    fc_test_close(&machine, &net);
    /* Routes that are too many to be walked in that: a node's own link, and no more than a byte of every node. */
    if (!fc_test_network(MANY_GROUPS, &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_machine_route(&machine, "indirect", &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_worst_case_solve(&net, false, 1, &stopped, &st), FC_OK);
    CU_ASSERT(stopped.n_left > 0 && stopped.n_solved == 0 && stopped.work_left == 0);
    CU_ASSERT(stopped.load == 1 && stopped.time_s == 1 / fc_link_bandwidth(&net, stopped.link));
    CU_ASSERT(fc_near(stopped.most_s, 1600 / 1e9, 1e-12));
    fc_worst_case_free(&stopped);
    fc_test_close(&machine, &net);
}

static void test_worst_case(void)
{
    worst_of(TORUS("[8]"), "dimension-order", dimension_order(8, 1), true);
    worst_of(TORUS("[7]"), "dimension-order", dimension_order(7, 1), true);
    worst_of(TORUS("[8, 8]"), "dimension-order", dimension_order(8, 2), false);
    worst_of(TORUS("[5, 5]"), "dimension-order", dimension_order(5, 2), true);
    worst_of(TORUS("[4, 4, 4]"), "dimension-order", dimension_order(4, 3), true);
    worst_of(TORUS("[5, 5, 5]"), "dimension-order", dimension_order(5, 3), false);
    worst_of(TORUS("[8, 8, 8]"), "dimension-order", 24, false);
    /* Valiant: twice the load of uniform traffic under every permutation, half of the capacity. */
    worst_of(TORUS("[8, 8]"), "valiant", 2, false);
    worst_of(TORUS("[5, 5]"), "valiant", 1.2, true);
    /* A ring leaves minimal routing no choice but at ties: tornado. */
    worst_of(TORUS("[8]"), "adaptive", 3, true);
    /* The last link of a row takes all of the row; full bisection: a link's rate. */
    worst_of(MESH("[8, 8]"), "dimension-order", 7, false);
    worst_of(TREE("[4, 4]", "[1, 4]"), "nca", 1, false);
    /* Nodes of a router as one kind, and one by one: the same. A group of 2 x 2 nodes leaves over one cable. */
    worst_of(GROUPS, "direct", 4, true);
    worst_of(GROUPS, "indirect", NAN, true);
    worst_of(GROUPS, "ugal", NAN, true);
    worst_of(
        "name: t\nnetwork: {family: torus, dims: [3, 2], wrap: [0, 1], nodes_per_router: 3}\nlinks: {torus: {bandwidth: 1 "
        "GB/s}, injection: {bandwidth: 1 GB/s}}\n",
        "dimension-order", NAN, true);
    /* With and without translations. */
    worst_of(TORUS("[4, 2, 3]"), "adaptive", NAN, true);
    worst_of(TMESH, NULL, NAN, true);
    worst_of(
        "name: t\nnetwork: {family: torus, dims: [4, 3], wrap: [1, 0], links_per_dim: [2, 1], nodes_per_router: 2}\n"
        "links: {torus: {bandwidth: 1 GB/s, latency: 1 ns}, injection: {bandwidth: 4 GB/s}}\n",
        "dimension-order", NAN, true);
}

static void test_worst_case_refused(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_worst_case w;
    struct fc_status st = {0};
    if (!fc_test_network(TORUS("[32, 32, 8]"), &machine, &net)) return;
    CU_ASSERT_EQUAL(fc_worst_case_solve(&net, false, 0, &w, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "the worst case of 8192 nodes"));
    fc_test_close(&machine, &net);
}

int suite_bound(void)
{
    static const CU_TestInfo flow[] = {
        {"uniform, tornado, complement, hot spots, fat-trees: closed forms", test_closed_forms},
        {"one destination an orbit gives what all give", test_symmetry},
        {"edges, columns and weights agree; prices prove the bound", test_methods},
        {"pairs of routers one by one", test_pairs},
        {"the bound beside channel loads", test_in_loads},
        {"what is refused", test_refusals},
        CU_TEST_INFO_NULL,
    };
    static const CU_TestInfo worst[] = {
        {"assignments and their duals against all permutations", test_assignment},
        {"assignments of kinds", test_assignment_of_kinds},
        {"dimension order, Valiant, rings, meshes, trees: closed forms", test_worst_case},
        {"a worst case that is stopped", test_worst_case_stopped},
        {"too many nodes", test_worst_case_refused},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flow bound", flow) || fc_add_suite("worst case of a routing", worst);
}
