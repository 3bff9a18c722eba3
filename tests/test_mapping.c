/* test_mapping.c - strategies give legal mappings on every family, the PERCS mappings carry the loads that were measured
 * for them, the search never returns anything worse than rank order, mapping files are checked line by line. */
#include "mapping/mapping.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const machines[] = {"bgl-64", "qsnet-64", "percs-16", "tmesh-216"};

static bool open_machine(const char *name, struct fc_machine *machine, struct fc_network *net)
{
    struct fc_status st = {0};
    if (fc_machine_load(name, machine, &st) == FC_OK && fc_network_build(machine, net, &st) == FC_OK) return true;
    printf("\n    %s: %s\n", name, st.message);
    CU_FAIL("a shipped machine does not open");
    return false;
}

/* Every task on a core of its own, node = core / cores per node. */
static bool legal(const struct fc_network *net, const struct fc_mapping *m, const struct fc_demand *d)
{
    uint64_t n = fc_machine_cores(net);
    bool *used = calloc(n, 1), good = m->n_tasks == d->n_tasks;
    for (uint32_t t = 0; good && t < m->n_tasks; t++) {
        good = m->core[t] < n && !used[m->core[t]] && m->node[t] == m->core[t] / (uint32_t)net->machine->cores_per_node;
        if (good) used[m->core[t]] = true;
    }
    free(used);
    return good;
}

static double link_time(const struct fc_network *net, const struct fc_demand *d, const struct fc_mapping *m)
{
    struct fc_placement placement = {m->n_tasks, m->node};
    struct fc_load_settings settings = {0};
    struct fc_load_summary summary;
    struct fc_load load;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(net, d, &placement, &settings, &load, &st), FC_OK);
    fc_load_summarise(net, &load, &settings, &summary);
    fc_load_free(&load);
    return summary.max_link_s;
}

static void test_legal(void)
{
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_status st = {0};
        if (!open_machine(machines[i], &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "stencil2d:grid=8x8,bytes=1KiB", 1, &d, &st), FC_OK);
        int made = 0;
        for (int s = 0; fc_strategies[s]; s++) {
            struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 3, .time_s = 0.02, .threads = 1};
            struct fc_mapping a = {0}, b = {0};
            st = (struct fc_status){0};
            if (fc_mapping_make(&problem, fc_strategies[s]->name, &a, &st)) {
                CU_ASSERT_EQUAL(st.code, FC_INPUT); /* does not fit this family: says so */
                CU_ASSERT(strlen(st.message) > 20);
                continue;
            }
            made++;
            CU_ASSERT(legal(&net, &a, &d));
            CU_ASSERT_STRING_EQUAL(a.strategy, fc_strategies[s]->name);
            problem.threads = 2;
            CU_ASSERT_EQUAL(fc_mapping_make(&problem, fc_strategies[s]->name, &b, &st), FC_OK);
            CU_ASSERT(!memcmp(a.core, b.core, a.n_tasks * sizeof *a.core)); /* same seed, same mapping */
            fc_mapping_free(&a);
            fc_mapping_free(&b);
        }
        CU_ASSERT(made >= 4);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

/* Default order, and spreading one task a node. */
static void test_default(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping m = {0};
    struct fc_status st = {0};
    static const uint32_t nodes[] = {9, 3, 20};
    if (!open_machine("bgl-64", &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "stencil2d:grid=2x3,bytes=1KiB", 1, &d, &st), FC_OK);
    struct fc_map_problem problem = {.net = &net, .demand = &d, .nodes = nodes, .n_nodes = 3};
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "def", &m, &st), FC_OK);
    static const uint32_t expected[] = {18, 19, 6, 7, 40, 41};
    CU_ASSERT(!memcmp(m.core, expected, sizeof expected));
    fc_mapping_free(&m);
    problem.n_nodes = 2;
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "def", &m, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "6 ranks but the 2 allowed nodes have 4 cores"));
    fc_mapping_free(&m);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

/* Greatest bytes on a D link under the mappings of Tables 3 and 5 (SC'11), measured with an evaluator of our own. */
static void test_percs_mappings(void)
{
    static const struct {
        const char *machine, *pattern, *strategy;
        double d_bytes;
    } golden[] = {
        {"percs-64", "stencil4d:grid=16x16x16x16,bytes=2MiB", "def", 2147483648.0},
        {"percs-64", "stencil4d:grid=16x16x16x16,bytes=2MiB", "bnm", 1073741824.0},
        {"percs-64", "stencil4d:grid=16x16x16x16,bytes=2MiB", "bdm", 536870912.0},
        {"percs-64", "stencil4d:grid=16x16x16x16,bytes=2MiB", "bsm", 536870912.0},
        {"percs-64", "stencil2d:grid=256x256,bytes=64KiB", "def", 16777216.0},
        {"percs-64", "stencil2d:grid=256x256,bytes=64KiB", "bnm", 16777216.0},
        {"percs-64", "stencil2d:grid=256x256,bytes=64KiB", "bdm", 4194304.0},
        {"percs-64", "stencil2d:grid=256x256,bytes=64KiB", "bsm", 2097152.0},
        {"percs-300", "stencil4d:grid=16x16x16x75,bytes=1MiB/1MiB/512KiB/512KiB", "def", 536870912.0},
    };
    for (size_t i = 0; i < FC_COUNT(golden); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_mapping m = {0};
        struct fc_load load;
        struct fc_load_summary summary;
        struct fc_status st = {0};
        if (!open_machine(golden[i].machine, &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, golden[i].pattern, 1, &d, &st), FC_OK);
        struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1};
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, golden[i].strategy, &m, &st), FC_OK);
        struct fc_placement placement = {m.n_tasks, m.node};
        struct fc_load_settings settings = {0};
        CU_ASSERT_EQUAL_FATAL(fc_load_solve(&net, &d, &placement, &settings, &load, &st), FC_OK);
        fc_load_summarise(&net, &load, &settings, &summary);
        for (int c = 0; c < machine.n_classes; c++)
            if (!strcmp(machine.classes[c].name, "d")) {
                if (summary.classes[c].max_bytes != golden[i].d_bytes)
                    printf("\n    %s %s: %.0f\n", golden[i].pattern, golden[i].strategy, summary.classes[c].max_bytes);
                CU_ASSERT_EQUAL(summary.classes[c].max_bytes, golden[i].d_bytes);
            }
        fc_load_free(&load);
        fc_mapping_free(&m);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

/* Random nodes on 64 supernodes, 4D: the published best direct mapping; its busiest link takes 36 to 48 ms over seeds. */
static void test_random_nodes(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_status st = {0};
    if (!open_machine("percs-64", &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "stencil4d:grid=16x16x16x16,bytes=2MiB", 1, &d, &st), FC_OK);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct fc_mapping m = {0};
        struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = seed};
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "rnm", &m, &st), FC_OK);
        double time_s = link_time(&net, &d, &m);
        CU_ASSERT(time_s > 36e-3 && time_s < 48e-3);
        fc_mapping_free(&m);
    }
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

/* The search is never worse than rank order by its own objective, on every family, and better where rank order is bad. */
static void test_optimize(void)
{
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_status st = {0};
        if (!open_machine(machines[i], &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(
            fc_demand_from_pattern(&net, "multicast:tasks=64,targets=6,stride=9,bytes=64KiB", 1, &d, &st), FC_OK);
        struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1, .time_s = 0.05, .threads = 1};
        struct fc_mapping in_order = {0}, found = {0};
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "def", &in_order, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &found, &st), FC_OK);
        CU_ASSERT(legal(&net, &found, &d));
        double before = link_time(&net, &d, &in_order), after = link_time(&net, &d, &found);
        CU_ASSERT(after <= before * (1 + 1e-9));
        if (!strcmp(machines[i], "tmesh-216")) CU_ASSERT(after < 0.8 * before);
        fc_mapping_free(&in_order);
        fc_mapping_free(&found);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    fputs(text, stream);
    fclose(stream);
}

static void test_files(void)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"0\n1\n2\n", ":3: the file ends after 3 of 4 tasks"},
        {"0\n1\n2\n2\n", ":4: core 2 is used twice (first at line 3)"},
        {"0\n1\n2\n3\n4\n", ":5: more lines than the 4 tasks"},
        {"0\n1\n128\n3\n", ":3: "},
        {"0\n1\n-2\n3\n", ":3: "},
        {"0\none\n2\n3\n", ":2: "},
        {"", "the file ends after 0 of 4 tasks"},
    };
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_status st = {0};
    char path[] = "/tmp/fabricast-map-XXXXXX";
    if (!open_machine("bgl-64", &machine, &net)) return;
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "stencil2d:grid=2x2,bytes=1KiB", 1, &d, &st), FC_OK);
    struct fc_map_problem problem = {.net = &net, .demand = &d};
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct fc_mapping m = {0};
        write_file(path, wrong[i].text);
        st = (struct fc_status){0};
        CU_ASSERT_EQUAL(fc_mapping_make(&problem, path, &m, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, wrong[i].says));
        fc_mapping_free(&m);
    }
    struct fc_mapping m = {0}, again = {0};
    st = (struct fc_status){0};
    write_file(path, "# tasks in order\n7\n0 # the second\n\n127\n64\n");
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, path, &m, &st), FC_OK);
    static const uint32_t expected[] = {7, 0, 127, 64};
    CU_ASSERT(!memcmp(m.core, expected, sizeof expected));
    CU_ASSERT_EQUAL(m.node[2], 63);
    CU_ASSERT_EQUAL(fc_mapping_write(&m, path, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, path, &again, &st), FC_OK); /* what is written is read back */
    CU_ASSERT(!memcmp(again.core, expected, sizeof expected));
    unlink(path);
    fc_mapping_free(&m);
    fc_mapping_free(&again);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

static void test_refusals(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping m = {0};
    struct fc_status st = {0};
    if (!open_machine("qsnet-64", &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "stencil2d:grid=8x8,bytes=1KiB", 1, &d, &st), FC_OK);
    struct fc_map_problem problem = {.net = &net, .demand = &d};
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "bsm", &m, &st), FC_INPUT); /* a fat-tree has no supernodes */
    CU_ASSERT(fc_says(&st, FC_INPUT, "supernode"));
    fc_mapping_free(&m);
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "optimise", &m, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "did you mean 'optimize'?"));
    fc_mapping_free(&m);
    static const uint32_t twice[] = {1, 2, 1};
    problem.nodes = twice;
    problem.n_nodes = 3;
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "def", &m, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "node 1 is listed twice"));
    fc_mapping_free(&m);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

int suite_mapping(void)
{
    static const CU_TestInfo tests[] = {
        {"every strategy on every family: legal, same for any threads", test_legal},
        {"rank order on chosen nodes", test_default},
        {"PERCS mappings carry the measured loads", test_percs_mappings},
        {"random nodes: 36 to 48 ms", test_random_nodes},
        {"the search is never worse than rank order", test_optimize},
        {"mapping files", test_files},
        {"refusals", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("mapping", tests);
}
