/* test_map_background.c - mappings beside other jobs' traffic: what the background takes of a link is not there. */
#include "mapping/mapping.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>

static const char *const networks[] = {
    "name: ring\nnetwork: {family: torus, dims: [7]}\nlinks: {torus: {bandwidth: 1 GB/s}}\nrouter: {routing: dimension-order}\n",
    "name: mesh\nnetwork: {family: mesh, dims: [3, 2]}\nlinks: {mesh: {bandwidth: 1 GB/s}, injection: {bandwidth: 2 GB/s}}\n",
    "name: tree\nnetwork: {family: fat-tree, children: [3, 2], parents: [1, 2]}\nlinks: {leaf: {bandwidth: 1 GB/s}, level1: "
    "{bandwidth: 2 GB/s}}\n",
    "name: group\nnetwork: {family: two-level, supernodes: 3, drawers: 1, nodes_per_drawer: 2}\nlinks: {ll: {bandwidth: 2 GB/s}, "
    "lr: {bandwidth: 2 GB/s}, d: {bandwidth: 1 GB/s}}\n",
};

struct bench {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_map_problem problem;
    double *background; /* [n_links] */
};

/* A random job of five tasks beside a random background of up to 90 % of each link. */
static bool open_bench(struct bench *b, const char *yaml, uint64_t seed)
{
    char pattern[] = "stencil2d:grid=5x1,bytes=10000";
    struct fc_status st = {0};
    *b = (struct bench){0};
    if (!fc_test_network(yaml, &b->machine, &b->net)) return false;
    b->background = calloc(b->net.n_links, sizeof *b->background);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->background);
    for (uint32_t l = 0; l < b->net.n_links; l++) {
        double bandwidth = fc_link_bandwidth(&b->net, l);
        if (isfinite(bandwidth)) b->background[l] = 0.9 * bandwidth * fc_random_real(seed, 1, l);
    }
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&b->net, pattern, 1, &b->demand, &st), FC_OK);
    for (size_t e = 0; e < b->demand.n_entries; e++) b->demand.bytes[e] *= (double)(1 + fc_random_below(seed, 2, e, 9));
    b->problem = (struct fc_map_problem){.net = &b->net,
                                         .demand = &b->demand,
                                         .background_bytes_per_s = b->background,
                                         .seed = seed,
                                         .time_s = 0.02,
                                         .threads = 1};
    return true;
}

static void close_bench(struct bench *b)
{
    free(b->background);
    fc_demand_free(&b->demand);
    fc_test_close(&b->machine, &b->net);
}

static double time_of(const struct bench *b, const uint32_t *node)
{
    struct fc_placement placement = {b->demand.n_tasks, (uint32_t *)(uintptr_t)node};
    struct fc_load_settings settings = {.threads = 1, .background_bytes_per_s = b->background};
    struct fc_load_summary summary;
    struct fc_load load;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(&b->net, &b->demand, &placement, &settings, &load, &st), FC_OK);
    fc_load_summarise(&b->net, &load, &settings, &summary);
    fc_load_free(&load);
    return summary.max_link_s;
}

static double time_by(const struct bench *b, const char *strategy)
{
    struct fc_mapping mapping;
    struct fc_status st = {0};
    double time_s = (double)NAN;
    if (!fc_mapping_make(&b->problem, strategy, &mapping, &st)) {
        time_s = time_of(b, mapping.node);
        fc_mapping_free(&mapping);
    }
    return time_s;
}

/* The least time over all placements of tasks on different nodes. */
static double brute_force(const struct bench *b, uint32_t *node, uint32_t n)
{
    double least = INFINITY;
    if (n == b->demand.n_tasks) return time_of(b, node);
    for (uint32_t v = 0; v < b->net.n_nodes; v++) {
        bool taken = false;
        for (uint32_t t = 0; t < n; t++) taken = taken || node[t] == v;
        if (taken) continue;
        node[n] = v;
        least = fmin(least, brute_force(b, node, n + 1));
    }
    return least;
}

static void exact_is_the_least(void)
{
    for (size_t i = 0; i < FC_COUNT(networks); i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            struct bench b;
            uint32_t node[8];
            if (!open_bench(&b, networks[i], seed)) continue;
            double least = brute_force(&b, node, 0), found = time_by(&b, "exact");
            CU_ASSERT(fc_near(found, least, 1e-9));
            struct fc_map_bound bound;
            struct fc_status st = {0};
            CU_ASSERT_EQUAL(fc_mapping_bound(&b.problem, &bound, &st), FC_OK);
            CU_ASSERT(bound.time_s <= least * (1 + 1e-9)); /* so small a job is searched whole, under fixed splits */
            if (!b.machine.routing->adaptive) CU_ASSERT(fc_near(bound.time_s, least, 1e-9));
            close_bench(&b);
        }
}

static void optimize_is_never_worse(void)
{
    static const char *const others[] = {"def", "random", "greedy", "scotch"};
    for (size_t i = 0; i < FC_COUNT(networks); i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct bench b;
            struct fc_map_bound bound;
            struct fc_status st = {0};
            if (!open_bench(&b, networks[i], seed)) continue;
            double best = time_by(&b, "optimize");
            for (size_t k = 0; k < FC_COUNT(others); k++) CU_ASSERT(best <= time_by(&b, others[k]) * (1 + 1e-9));
            CU_ASSERT_EQUAL(fc_mapping_bound(&b.problem, &bound, &st), FC_OK);
            CU_ASSERT(bound.time_s <= best * (1 + 1e-9));
            close_bench(&b);
        }
}

/* Two tasks on a ring of which other jobs fill all links but those between nodes 4 and 5: there they go. */
static void goes_where_nobody_is(void)
{
    static const char *const strategies[] = {"exact", "optimize"};
    struct bench b;
    if (!open_bench(&b, networks[0], 1)) return;
    for (size_t e = 0; e < b.demand.n_entries; e++)
        if (b.demand.src[e] > 1 || b.demand.dst[e] > 1) b.demand.bytes[e] = 0;
    for (uint32_t l = 0; l < b.net.n_links; l++) {
        uint32_t from = b.net.link_source[l], to = b.net.link_target[l];
        bool quiet =
            (from == 4 && to == 5) || (from == 5 && to == 4) || fc_is_node(&b.net, from) || fc_is_node(&b.net, to);
        b.background[l] = quiet ? 0 : 0.99 * fc_link_bandwidth(&b.net, l);
    }
    for (size_t i = 0; i < FC_COUNT(strategies); i++) {
        struct fc_mapping mapping;
        struct fc_status st = {0};
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&b.problem, strategies[i], &mapping, &st), FC_OK);
        CU_ASSERT_EQUAL(mapping.node[0] + mapping.node[1], 9);
        CU_ASSERT(mapping.node[0] == 4 || mapping.node[0] == 5);
        fc_mapping_free(&mapping);
    }
    close_bench(&b);
}

int suite_map_background(void)
{
    static const CU_TestInfo tests[] = {
        {"exact is the least of all", exact_is_the_least},
        {"optimize is never worse", optimize_is_never_worse},
        {"goes where nobody is", goes_where_nobody_is},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("map_background", tests);
}
