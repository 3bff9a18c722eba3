/* test_machine_set.c - machine files with keys changed from outside (--set). */
#include "tests/support.h"
#include "tests/tests.h"

#include <string.h>
#include <unistd.h>

static const char file[] = "name: small\ntitle: of eight\nnetwork: {family: torus, dims: [4, 2]}\n"
                           "links:\n  torus: {bandwidth: 1 GB/s, latency: 5 ns}\nnode: {cores: 2}\n";

static enum fc_code load(const char *const *settings, size_t n, struct fc_machine *machine, struct fc_status *st)
{
    char path[64];
    *st = (struct fc_status){0};
    CU_ASSERT_FATAL(fc_test_file(path, ".yaml", file, strlen(file)));
    enum fc_code code = fc_machine_load_changed(path, settings, n, machine, st);
    unlink(path);
    return code;
}

/* The changed machine is the machine of the changed file. */
static void test_values(void)
{
    static const char *const settings[] = {"links.torus.bandwidth=350 MB/s",
                                           "network.dims=[4, 4, 2]",
                                           "links.injection.bandwidth=2 GB/s",
                                           "router.vcs=3",
                                           "node.cores=8",
                                           "software={send: 1 us}",
                                           "node.cores=4"};
    struct fc_machine machine;
    struct fc_status st;
    CU_ASSERT_EQUAL_FATAL(load(settings, FC_COUNT(settings), &machine, &st), FC_OK);
    CU_ASSERT_EQUAL(machine.classes[0].bandwidth_bytes_per_s, 350e6);
    CU_ASSERT_EQUAL(machine.classes[0].latency_s, 5e-9);
    CU_ASSERT_EQUAL(machine.classes[1].bandwidth_bytes_per_s, 2e9);
    CU_ASSERT_EQUAL(machine.router.vcs, 3);
    CU_ASSERT_EQUAL(machine.cores_per_node, 4); /* the last wins */
    CU_ASSERT_EQUAL(machine.software.send_s, 1e-6);
    CU_ASSERT_PTR_NOT_NULL(strstr(machine.title, "of eight (changed: links.torus.bandwidth=350 MB/s, network.dims="));
    struct fc_network net;
    CU_ASSERT_EQUAL_FATAL(fc_network_build(&machine, &net, &st), FC_OK);
    CU_ASSERT_EQUAL(net.n_nodes, 32);
    fc_test_close(&machine, &net);
}

/* Classes of a list of cables are named after their rates. */
static void test_class_with_point(void)
{
    static const char cables[] = "router a node n0 12.5 GB/s\nrouter a node n1 12.5 GB/s\n";
    static const char *const settings[] = {"links.12.5 GB/s.bandwidth=3 GB/s", "links.12.5 GB/s.latency=7 ns"};
    char edges[64], path[64], text[300];
    struct fc_machine machine;
    struct fc_status st = {0};
    CU_ASSERT_FATAL(fc_test_file(edges, ".edges", cables, strlen(cables)));
    snprintf(text, sizeof text, "name: two\nnetwork: {family: graph, file: %s, format: edge-list}\n", edges);
    CU_ASSERT_FATAL(fc_test_file(path, ".yaml", text, strlen(text)));
    CU_ASSERT_EQUAL_FATAL(fc_machine_load_changed(path, settings, FC_COUNT(settings), &machine, &st), FC_OK);
    CU_ASSERT_STRING_EQUAL(machine.classes[0].name, "12.5 GB/s");
    CU_ASSERT(machine.classes[0].bandwidth_bytes_per_s == 3e9 && machine.classes[0].latency_s == 7e-9);
    fc_machine_free(&machine);
    unlink(edges);
    unlink(path);
}

static void test_nothing_set(void)
{
    struct fc_machine machine;
    struct fc_status st;
    CU_ASSERT_EQUAL_FATAL(load(NULL, 0, &machine, &st), FC_OK);
    CU_ASSERT_STRING_EQUAL(machine.title, "of eight");
    CU_ASSERT_PTR_NULL(machine.changes);
    fc_machine_free(&machine);
}

static void test_refusals(void)
{
    static const struct {
        const char *setting, *says;
    } cases[] = {
        {"", "no KEY=VALUE"},
        {"=3", "no KEY=VALUE"},
        {"router.vcs=", "no KEY=VALUE"},
        {"router.vcs= ", "no value"},
        {"router.vcs=x", "--set router.vcs=x: router.vcs: 'x' is not an integer"},
        {"router.vcs=-1", "--set router.vcs=-1: router.vcs"},
        {"router.vcss=2", "--set router.vcss=2: unknown key 'vcss' (did you mean 'vcs'?"},
        {"roter.vcs=2", "--set roter.vcs=2: unknown key 'roter'"},
        {"name.x=2", "--set name.x=2: name is not a section"},
        {"network.dims=[4, 2", "the value is not YAML"},
        {"network.dims=[[4], 2]", "expected plain values"},
        {"network.family=ring", "network.family: 'ring' is unknown"},
        {"links.torus.latency.z=1", "latency is not a section"},
        {"links.torus.bandwidth=5 furlongs", "links.torus.bandwidth"},
        {"links.mesh.bandwidth=5 GB/s", "no link class 'mesh'"},
        {"a={b: {b: {b: {b: {b: {b: {b: {b: {b: {b: 1}}}}}}}}}}", "too deep"},
        {".=1", "--set .=1"},
        {"x: y=1", "--set x: y=1"},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_status st;
        const char *const settings[] = {"node.cores=3", cases[i].setting};
        CU_ASSERT_NOT_EQUAL(load(settings, 2, &machine, &st), FC_OK);
        CU_ASSERT(fc_says(&st, st.code, cases[i].says));
    }
}

int suite_machine_set(void)
{
    static const CU_TestInfo tests[] = {
        {"values", test_values},
        {"a class with a point in its name", test_class_with_point},
        {"nothing set", test_nothing_set},
        {"refusals name the setting", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("machine_set", tests);
}
