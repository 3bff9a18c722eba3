/* test_strategies.c - strategies fold, tile, permute, hilbert, greedy and scotch: known embeddings in hops a byte and greatest link
 * load, legal and repeatable mappings on every kind of target, refusals. */
#include "mapping/mapping.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool open_machine(const char *name, struct fc_machine *machine, struct fc_network *net)
{
    struct fc_status st = {0};
    if (fc_machine_load(name, machine, &st) == FC_OK && fc_network_build(machine, net, &st) == FC_OK) return true;
    printf("\n    %s: %s\n", name, st.message);
    CU_FAIL("a machine does not open");
    return false;
}

/* Every task on a core of its own, of the allowed nodes. */
static bool legal(const struct fc_map_problem *problem, const struct fc_mapping *m)
{
    uint64_t n = fc_machine_cores(problem->net);
    bool *used = calloc(n, 1), *allowed = calloc(problem->net->n_nodes, 1),
         good = m->n_tasks == problem->demand->n_tasks;
    for (size_t i = 0; i < problem->n_nodes; i++) allowed[problem->nodes[i]] = true;
    for (uint32_t t = 0; good && t < m->n_tasks; t++) {
        good = m->core[t] < n && !used[m->core[t]] &&
               m->node[t] == m->core[t] / (uint32_t)problem->net->machine->cores_per_node &&
               (!problem->nodes || allowed[m->node[t]]);
        if (good) used[m->core[t]] = true;
    }
    free(used);
    free(allowed);
    return good;
}

/* Mean hops of a byte that leaves its task; greatest bytes on a link between routers. */
static void measure(const struct fc_map_problem *problem, const struct fc_mapping *m, double *hops, double *most)
{
    struct fc_placement placement = {m->n_tasks, m->node};
    struct fc_load_settings settings = {.split = FC_SPLIT_UNIFORM};
    struct fc_load load;
    struct fc_status st = {0};
    const struct fc_network *net = problem->net;
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(net, problem->demand, &placement, &settings, &load, &st), FC_OK);
    *hops = load.hop_bytes / fc_demand_bytes(problem->demand);
    *most = 0;
    for (uint32_t l = 0; l < net->n_links; l++)
        if (!fc_is_node(net, net->link_source[l]) && !fc_is_node(net, net->link_target[l]))
            *most = fmax(*most, load.bytes[l]);
    fc_load_free(&load);
}

/* The mapping, checked: legal, and the same once more with other threads. */
static bool make(struct fc_map_problem *problem, const char *strategy, struct fc_mapping *m)
{
    struct fc_mapping again = {0};
    struct fc_status st = {0};
    problem->threads = 1;
    enum fc_code code = fc_mapping_make(problem, strategy, m, &st);
    CU_ASSERT_EQUAL(code, FC_OK);
    if (code) printf("\n    %s: %s\n", strategy, st.message);
    if (code) return false;
    CU_ASSERT(legal(problem, m));
    problem->threads = 2;
    CU_ASSERT_EQUAL(fc_mapping_make(problem, strategy, &again, &st), FC_OK);
    CU_ASSERT(!memcmp(m->core, again.core, m->n_tasks * sizeof *m->core));
    fc_mapping_free(&again);
    return true;
}

/* Stencils of 1000 bytes a message with every node used. The fold of 64x64 (64 = 16 x 4 in snakes, z = 4 b + d): a step
 * along one side costs (60 + 4 x 4) / 64 hops, along the other (60 + 3 + 3) / 64: 71/64 on the mean. A ring of 64
 * in snakes is a Hamiltonian cycle of the 4x4x4 torus, and so is one along the curve, whose ends are neighbours there; on
 * a mesh the fold's ends are 3 apart. Equal grids embed with 1 hop; a side of 8 on pairs of cores and 4 routers with
 * half a hop. Tiles of a ring of 64 on 4x4x4: 48 steps of 1 hop, 12 of 2 (back to the start of a line, and on), 3 of 3,
 * and 3 around: 84/64. Planes of
 * 16x16 for 64x64 on 16^3: (60 + 3 x 2 + 4) / 64 hops along one side, (60 + 4 x 5) / 64 along the other: 75/64. */
static void test_embeddings(void)
{
    static const struct {
        const char *machine, *pattern, *strategy;
        double hops, most_load; /* hops < 0: at most -hops */
    } known[] = {
        {"tests/machines/torus-16x16x16.yaml", "stencil2d:grid=64x64,bytes=1000", "fold", 71.0 / 64, 4000},
        {"tests/machines/torus-16x16x16.yaml", "stencil3d:grid=16x16x16,bytes=1000", "fold", 1, 1000},
        {"tests/machines/torus-16x16x16.yaml", "stencil3d:grid=16x16x16,bytes=1000", "hilbert", 1, 1000},
        {"tests/machines/torus-16x16x16.yaml", "stencil2d:grid=64x64,bytes=1000", "hilbert", -2.2, 7000},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=64x1,bytes=1000", "fold", 1, 1000},
        {"tests/machines/torus-16x16x16.yaml", "stencil3d:grid=16x16x16,bytes=1000", "tile", 1, 1000},
        {"tests/machines/torus-16x16x16.yaml", "stencil2d:grid=64x64,bytes=1000", "tile", 75.0 / 64, 5000},
        {"tests/machines/torus-16x16x16.yaml", "stencil2d:grid=64x64,bytes=1000", "tile:time", -1.7, 3000},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=64x1,bytes=1000", "tile", 84.0 / 64, 3000},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=64x1,bytes=1000", "hilbert", 1, 1000},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=64x1,bytes=1000", "greedy", 1, 1000},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=8x8,bytes=1000", "fold", 1.125, 4000},
        {"tests/machines/torus-4x4x4.yaml", "stencil3d:grid=4x4x4,bytes=1000", "greedy", 1, 1000},
        {"tests/machines/torus-4x4x4.yaml", "stencil3d:grid=4x4x4,bytes=1000", "scotch", -1.3, 4000},
        {"tests/machines/torus-16x16x16.yaml", "stencil3d:grid=16x16x16,bytes=1000", "permute", 1, 1000},
        {"tests/machines/torus-4x4x4.yaml", "stencil3d:grid=4x4x4,bytes=1000", "permute:zyxt", 1, 1000},
        {"bgl-64", "stencil3d:grid=8x4x4,bytes=1000", "permute:txyz", 2.5 / 3, 2000},
        {"bgl-64", "stencil3d:grid=8x4x4,bytes=1000", "permute", -1, 2000},
        {"bgl-64", "stencil3d:grid=8x4x4,bytes=1000", "fold", -1, 2000},
        {"tests/machines/mesh-4x4.yaml", "stencil2d:grid=16x1,bytes=1000", "fold", (15 + 3) / 16.0, 2000},
        {"tests/machines/mesh-4x4.yaml", "stencil2d:grid=4x4,bytes=1000", "scotch", -2, 4000},
    };
    for (size_t i = 0; i < FC_COUNT(known); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_mapping m = {0};
        struct fc_status st = {0};
        double hops = 0, most = 0;
        if (!open_machine(known[i].machine, &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, known[i].pattern, 1, &d, &st), FC_OK);
        struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1};
        if (make(&problem, known[i].strategy, &m)) measure(&problem, &m, &hops, &most);
        bool good = known[i].hops < 0 ? hops <= -known[i].hops : fc_near(hops, known[i].hops, 1e-12);
        CU_ASSERT(good && most <= known[i].most_load);
        if (!good || most > known[i].most_load)
            printf("\n    %s %s: %g hops, %g bytes\n", known[i].strategy, known[i].pattern, hops, most);
        fc_mapping_free(&m);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

/* Two cores a node, and grids that need both, or that leave nodes free; parts of machines; trees; two levels. */
static void test_targets(void)
{
    static const uint32_t some[] = {1, 3, 4, 5, 6, 7, 8, 9, 20, 21, 22, 23, 24, 25, 26, 40};
    static const struct {
        const char *machine, *pattern, *strategy;
        bool part;
    } cases[] = {
        {"bgl-64", "stencil2d:grid=16x8,bytes=1000", "fold", false},
        {"bgl-64", "stencil2d:grid=6x4,bytes=1000", "fold", false},
        {"bgl-64", "stencil2d:grid=7x9,bytes=1000", "hilbert", false},
        {"bgl-64", "stencil2d:grid=5x6,bytes=1000", "hilbert", true},
        {"bgl-64", "stencil2d:grid=8x4,bytes=1000", "greedy", true},
        {"bgl-64", "stencil2d:grid=8x4,bytes=1000", "scotch", true},
        {"bgl-64", "stencil2d:grid=16x8,bytes=1000", "scotch", false},
        {"bgl-64", "stencil2d:grid=16x8,bytes=1000", "scotch:2", false},
        {"qsnet-64", "stencil2d:grid=16x16,bytes=1000", "greedy", false},
        {"qsnet-64", "stencil2d:grid=16x16,bytes=1000", "scotch", false},
        {"percs-16", "stencil2d:grid=32x32,bytes=1000", "hilbert", false},
        {"percs-16", "stencil2d:grid=32x32,bytes=1000", "greedy", false},
        {"percs-16", "stencil2d:grid=32x32,bytes=1000", "scotch", false},
        {"tests/fabrics/rails_ndr.yaml", "stencil2d:grid=2x2,bytes=1000", "scotch", false},
        {"tests/fabrics/tree.yaml", "stencil2d:grid=2x2,bytes=1000", "greedy", false},
        {"tmesh-216", "stencil2d:grid=8x8,bytes=1000", "scotch", false},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_mapping m = {0};
        struct fc_status st = {0};
        if (!open_machine(cases[i].machine, &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, cases[i].pattern, 1, &d, &st), FC_OK);
        struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1};
        if (cases[i].part) problem.nodes = some, problem.n_nodes = FC_COUNT(some);
        if (make(&problem, cases[i].strategy, &m)) CU_ASSERT_STRING_EQUAL(m.strategy, cases[i].strategy);
        fc_mapping_free(&m);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

/* A task with six partners takes the middle of a star; groups of four that talk only among themselves each get a
 * leaf switch of their own, however their tasks are numbered. */
static void test_small_graphs(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_mapping m = {0};
    double hops = 0, most = 0;
    uint32_t src[48] = {0}, dst[48];
    double bytes[48], messages[48];
    for (int e = 0; e < 48; e++) bytes[e] = 100, messages[e] = 1;
    struct fc_demand star = {
        .name = "star", .n_tasks = 7, .n_entries = 6, .src = src, .dst = dst, .bytes = bytes, .messages = messages};
    for (uint32_t e = 0; e < 6; e++) dst[e] = e + 1;
    if (!open_machine("tests/machines/torus-4x4x4.yaml", &machine, &net)) return;
    struct fc_map_problem problem = {.net = &net, .demand = &star, .seed = 1};
    if (make(&problem, "greedy", &m)) measure(&problem, &m, &hops, &most);
    CU_ASSERT(fc_near(hops, 1, 1e-12) && fc_near(most, 100, 1e-12));
    fc_mapping_free(&m);
    fc_test_close(&machine, &net);

    static const char *const both[] = {"greedy", "scotch"};
    struct fc_demand groups = star;
    groups.name = "groups";
    groups.n_tasks = 16;
    groups.n_entries = 48;
    for (uint32_t t = 0, e = 0; t < 16; t++) /* tasks t, t + 4, t + 8, t + 12 */
        for (uint32_t other = t % 4; other < 16; other += 4)
            if (other != t) src[e] = t, dst[e++] = other;
    if (!open_machine("tests/machines/qsnet-16.yaml", &machine, &net)) return;
    problem = (struct fc_map_problem){.net = &net, .demand = &groups, .seed = 1, .spread = true};
    for (int s = 0; s < 2; s++) {
        if (!make(&problem, both[s], &m)) continue;
        for (uint32_t t = 4; t < 16; t++) CU_ASSERT_EQUAL(m.node[t] / 4, m.node[t % 4] / 4);
        fc_mapping_free(&m);
    }
    fc_test_close(&machine, &net);
}

static void test_refusals(void)
{
    static const uint32_t some[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const struct {
        const char *machine, *pattern, *strategy, *what;
        bool part;
    } refused[] = {
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=5x5", "fold", "do not fit the torus's", false},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=4x2", "fold", "needs all 64 nodes of the machine", true},
        {"tests/machines/torus-4x4x4.yaml", "alltoall:bytes=5", "fold", "needs a task grid", false},
        {"qsnet-64", "stencil2d:grid=8x8", "fold", "needs a torus or mesh, and qsnet-64 is a fat-tree", false},
        {"qsnet-64", "alltoall:bytes=5", "hilbert", "needs a task grid or a torus", false},
        {"tests/machines/torus-4x4x4.yaml", "alltoall:bytes=5", "greedy", "is dense traffic or none", false},
        {"tests/machines/torus-4x4x4.yaml", "alltoall:bytes=5", "scotch", "is dense traffic or none", false},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=8x8", "scotch:0", "number of seeds", false},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=8x8", "scotch:", "number of seeds", false},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=8x8", "permute:xyz", "expected each letter of xyzt once",
         false},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=8x8", "permute:xxyz", "is no order of the dimensions",
         false},
        {"percs-16", "stencil2d:grid=8x8", "permute", "needs a torus or mesh, and percs-16", false},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=8x8", "greedy:2", "takes nothing behind its name", false},
        {"tests/machines/torus-4x4x4.yaml", "stencil2d:grid=8x8", "scotch", "64 ranks", true},
    };
    for (size_t i = 0; i < FC_COUNT(refused); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_mapping m = {0};
        struct fc_status st = {0};
        if (!open_machine(refused[i].machine, &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, refused[i].pattern, 1, &d, &st), FC_OK);
        struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1};
        if (refused[i].part) problem.nodes = some, problem.n_nodes = FC_COUNT(some);
        CU_ASSERT_EQUAL(fc_mapping_make(&problem, refused[i].strategy, &m, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, refused[i].what));
        fc_mapping_free(&m);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

int suite_strategies(void)
{
    static const CU_TestInfo tests[] = {
        {"known embeddings", test_embeddings},
        {"kinds of targets", test_targets},
        {"small graphs", test_small_graphs},
        {"refusals", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("strategies", tests);
}
