/* test_hosts.c - host lists, nodes by number, host, coordinates, router and file, the host names of a
 * machine. */
#include "core/hostlist.h"
#include "models/hosts.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *temporary(char *path, const char *text)
{
    CU_ASSERT_FATAL(fc_test_file(path, "", text, strlen(text)));
    return path;
}

/* ---- host lists ---- */

static enum fc_code collect(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                            struct fc_status *st)
{
    char *out = context;
    size_t n = strlen(out);
    (void)where;
    (void)st;
    CU_ASSERT_EQUAL(strlen(name), length);
    if (n < 400) snprintf(out + n, 500 - n, times > 1 ? "%s*%u " : "%s ", name, times);
    return FC_OK;
}

static void test_host_lists(void)
{
    static const struct {
        const char *list, *expected; /* expected NULL: refused, what */
        const char *what;
    } lists[] = {
        {"cn[000-003,020],gpu7", "cn000 cn001 cn002 cn003 cn020 gpu7 ", NULL},
        {"n[8-11]", "n8 n9 n10 n11 ", NULL},
        {"n[08-11]", "n08 n09 n10 n11 ", NULL},
        {"n[098-101]", "n098 n099 n100 n101 ", NULL},
        {"r[0-1]n[2-3]x", "r0n2x r0n3x r1n2x r1n3x ", NULL},
        {"[1-2]a", "1a 2a ", NULL},
        {"a*2,b[0-1]*3", "a*2 b0*3 b1*3 ", NULL},
        {"a-b.c_d", "a-b.c_d ", NULL},
        {"cn[0-", NULL, "a ] behind the ["},
        {"cn0]", NULL, "a [ before the ]"},
        {"cn[3-1]", NULL, "rising ranges"},
        {"cn[]", NULL, "rising ranges"},
        {"cn[0-1[2-3]]", NULL, "rising ranges"},
        {"cn[0-8:2]", NULL, "rising ranges"},
        {"cn[-1]", NULL, "rising ranges"},
        {"cn[1-]", NULL, "rising ranges"},
        {"cn[0-1234567890]", NULL, "rising ranges"},
        {"a*", NULL, "a count behind the *"},
        {"a*0", NULL, "a count behind the *"},
        {"a*2*3", NULL, "a count behind the *"},
        {"*2", NULL, "a name"},
        {"a,,b", NULL, "an empty name"},
        {"", NULL, "an empty name"},
        {"a b", NULL, "no blank inside"},
        {"n[0-999999999]", NULL, "more than 1000000 hosts"},
    };
    for (size_t i = 0; i < FC_COUNT(lists); i++) {
        char out[500] = "";
        struct fc_status st = {0};
        struct fc_place where = {"hosts", 7};
        enum fc_code code = fc_host_list_walk(lists[i].list, strlen(lists[i].list), collect, out, where, &st);
        if (lists[i].expected) {
            CU_ASSERT_EQUAL(code, FC_OK);
            CU_ASSERT_STRING_EQUAL(out, lists[i].expected);
        } else {
            CU_ASSERT(fc_says(&st, code, lists[i].what));
            CU_ASSERT(fc_says(&st, code, "hosts:7: "));
            CU_ASSERT_EQUAL(code, FC_INPUT);
        }
    }
}

/* ---- nodes as users name them ---- */

static void check_nodes(const struct fc_network *net, const char *text, const char *expected, const char *what)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    uint32_t *node;
    size_t n;
    char out[200] = "";
    enum fc_code code = fc_nodes_read(net, text, 0, &arena, &node, &n, &st);
    for (size_t i = 0; !code && i < n; i++) {
        size_t used = strlen(out);
        snprintf(out + used, sizeof out - used, "%u ", node[i]);
    }
    if (expected) {
        CU_ASSERT_EQUAL(code, FC_OK);
        if (strcmp(out, expected)) printf("\n%s: %s, expected %s %s\n", text, out, expected, st.message);
        CU_ASSERT_STRING_EQUAL(out, expected);
    } else {
        CU_ASSERT(fc_says(&st, FC_INPUT, what));
    }
    fc_arena_free(&arena);
}

/* Lines that hold several names or ranges are candidate lists, and are not merged. */
static void test_candidates(const struct fc_network *net)
{
    static const char *const files[] = {"cn5\ncn1 cn2\n", "cn[0-1]\ncn[2-3]\n", "0\n1-2\n", "cn0,cn1\n3\n",
                                        "(0-1,0)\n# and\n(2,0)\n"};
    static const long second[] = {2, 2, 2, 2, 3};
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        char path[64], expected[200];
        struct fc_arena arena = {0};
        struct fc_status st = {0};
        struct fc_host_line *list;
        size_t n;
        temporary(path, files[i]);
        snprintf(expected, sizeof expected, "%s:%ld: a second list of nodes: the file has 2 candidate lists", path,
                 second[i]);
        check_nodes(net, path, NULL, expected);
        CU_ASSERT_EQUAL(fc_host_file_lists(path, &arena, &list, &n, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(n, 2);
        CU_ASSERT_EQUAL(list[1].line, second[i]);
        if (i == 0) CU_ASSERT_STRING_EQUAL(list[1].text, "cn1,cn2");
        uint32_t *node;
        CU_ASSERT_EQUAL(fc_nodes_read(net, path, second[i], &arena, &node, &n, &st), FC_OK);
        CU_ASSERT_EQUAL(n, i > 2 ? 1 : 2);
        fc_arena_free(&arena);
        unlink(path);
    }
}

static void test_node_lists(void)
{
    struct fc_machine machine;
    struct fc_network net;
    char path[64], at[80];
    if (!fc_test_network(FC_TEST_NAMED, &machine, &net)) return;
    check_nodes(&net, "0-2,7", "0 1 2 7 ", NULL);
    check_nodes(&net, "7, 3", "7 3 ", NULL);
    check_nodes(&net, "cn[6-7],cn0", "6 7 0 ", NULL);
    check_nodes(&net, "cn1*2,3", "1 3 ", NULL);
    check_nodes(&net, "(1,1)", "5 ", NULL);
    check_nodes(&net, "(0-1,0-1),cn7", "0 1 4 5 7 ", NULL);
    check_nodes(&net, "(3,0),(2,1)", "3 6 ", NULL);
    check_nodes(&net, "cn0,cn0", NULL, "--nodes: cn0, node 0, is listed twice");
    check_nodes(&net, "0-3,2", NULL, "2, is listed twice");
    check_nodes(&net, "3,cn3", NULL, "is listed twice");
    check_nodes(&net, "(0,0),0", NULL, "is listed twice");
    check_nodes(&net, "8", NULL, "--nodes: '8' is out of range (allowed: 0 to 7)");
    check_nodes(&net, "3-1", NULL, "runs backwards");
    check_nodes(&net, "cn8", NULL, "host 'cn8' is not in machine small (near: cn0, cn1, cn2; it has cn0 to cn7)");
    check_nodes(&net, "gpu0", NULL, "host 'gpu0' is not in machine small");
    check_nodes(&net, "(4,0)", NULL, "'(4,0)' is no place in machine small (its last router is (3,1))");
    check_nodes(&net, "(0,0,0)", NULL, "is no place");
    check_nodes(&net, "(0;0)", NULL, "expected coordinates");
    check_nodes(&net, "(0,0", NULL, "expected coordinates");
    check_nodes(&net, "", NULL, "an empty name");
    check_nodes(&net, "@/no/such/file", NULL, "/no/such/file: cannot be read");

    /* $PBS_NODEFILE repeats hosts; the first mention counts */
    temporary(path, "cn5\ncn5\n# a comment\ncn1\n0\n(2,0)\n\ncn5*2 # again\n");
    snprintf(at, sizeof at, "@%s", path);
    check_nodes(&net, at, "5 1 0 2 ", NULL);
    check_nodes(&net, path, "5 1 0 2 ", NULL);
    unlink(path);
    temporary(path, "# one list on one line\n cn5 cn1,cn[2-3] 0,5\n");
    check_nodes(&net, path, "5 1 2 3 0 ", NULL);
    unlink(path);
    test_candidates(&net);
    temporary(path, "cn5\ncn9\n");
    check_nodes(&net, path, NULL, ":2: host 'cn9' is not in machine small");
    unlink(path);
    temporary(path, "# nothing\n");
    check_nodes(&net, path, NULL, "no host in the file");
    unlink(path);
    fc_test_close(&machine, &net);

    if (!fc_test_network(FC_TEST_SMALL, &machine, &net)) return;
    check_nodes(&net, "0-2", "0 1 2 ", NULL);
    check_nodes(&net, "cn0", NULL, "machine small has no host names");
    fc_test_close(&machine, &net);
}

/* Routers by the names we print: supernode.member, chip and mesh node, switch; several nodes a router. */
static void test_routers(void)
{
    struct fc_machine machine;
    struct fc_network net;
    char path[64], yaml[300];
    if (!fc_test_network(
            "name: two\nnetwork: {family: two-level, supernodes: 3, drawers: 2, nodes_per_drawer: 2, "
            "nodes_per_router: 2}\nlinks: {ll: {bandwidth: 1 GB/s}, lr: {bandwidth: 1 GB/s}, d: {bandwidth: "
            "1 "
            "GB/s}}\n",
            &machine, &net))
        return;
    check_nodes(&net, "1.3,0.[0-1]", "14 15 0 1 2 3 ", NULL);
    check_nodes(&net, "3.0", NULL, "names of routers up to 2.3");
    fc_test_close(&machine, &net);

    if (!fc_test_network(
            "name: chips\nnetwork: {family: tmesh, dims: [2, 2], mesh: [2, 2], bridges: {x-: 0, y-: 1, x+: "
            "2, "
            "y+: 3}, router_nodes_compute: true}\nlinks: {torus: {bandwidth: 1 GB/s}, mesh: {bandwidth: 1 "
            "GB/s}}\n",
            &machine, &net))
        return;
    check_nodes(&net, "(1,0)", "4 5 6 7 ", NULL);
    check_nodes(&net, "(1,1).2", "14 ", NULL);
    check_nodes(&net, "(0-1,1).0", "8 12 ", NULL);
    fc_test_close(&machine, &net);

    temporary(path, "SwitchName=leaf0 Nodes=tux[0-1]\nSwitchName=leaf1 Nodes=tux[2-3]\nSwitchName=top "
                    "Switches=leaf[0-1]\n");
    snprintf(yaml, sizeof yaml,
             "name: fabric\nnetwork: {family: graph, file: %s, format: slurm-topology}\nlinks: {link: "
             "{bandwidth: 1 GB/s}}\n",
             path);
    if (!fc_test_network(yaml, &machine, &net)) return;
    unlink(path);
    check_nodes(&net, "leaf1,tux0", "2 3 0 ", NULL);
    check_nodes(&net, "leaf1,tux3", NULL, "tux3, node 3, is listed twice");
    check_nodes(&net, "leaf2", NULL, "host 'leaf2' is not in machine fabric");
    fc_test_close(&machine, &net);

    /* two cables from a node to its router; names that are numbers are no hosts */
    temporary(path, "router a node 0 1GB/s 0 2\nrouter a node 1\nrouter a router b\n");
    snprintf(yaml, sizeof yaml,
             "name: pairs\nnetwork: {family: graph, file: %s, format: edge-list}\nlinks: {link: "
             "{bandwidth: 1 GB/s}}\n",
             path);
    if (!fc_test_network(yaml, &machine, &net)) return;
    unlink(path);
    CU_ASSERT_PTR_NULL(net.host_name);
    check_nodes(&net, "a", "0 1 ", NULL);
    fc_test_close(&machine, &net);
}

static void test_machine_hosts(void)
{
    static const struct {
        const char *lines, *what;
    } wrong[] = {
        {"hosts: cn[0-6]\n", ":5: hosts: 7 hosts for 8 nodes"},
        {"hosts: cn[0-6],cn3\n", ":5: host 'cn3' is listed twice"},
        {"hosts: [cn0, cn1]\n", ":5: hosts: 2 hosts for 8 nodes"},
        {"hosts: cn[0-5],7,8\n", ":5: '7' is a number"},
        {"hosts: ./list\n", ":5: hosts: './list' (expected a host list"},
        {"hosts: cn[0-\n", ":5: host list: 'cn[0-' (expected a ] behind the [)"},
        {"hosts_file: /no/such/file\n", "/no/such/file: cannot be read"},
        {"hosts: cn[0-7]\nhosts_file: x\n", "expected one of them"},
    };
    struct fc_machine machine;
    struct fc_network net;
    char path[64], yaml[400];
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct fc_status st = {0};
        snprintf(yaml, sizeof yaml, "%s%s", FC_TEST_SMALL, wrong[i].lines);
        CU_ASSERT_EQUAL_FATAL(fc_test_machine(yaml, &machine, &st), FC_OK);
        CU_ASSERT_EQUAL(fc_network_build(&machine, &net, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, wrong[i].what));
        fc_machine_free(&machine);
    }
    temporary(path, "a[0-3]\nb0 b1\nb2,b3\n");
    snprintf(yaml, sizeof yaml, "%shosts_file: %s\n", FC_TEST_SMALL, path);
    if (!fc_test_network(yaml, &machine, &net)) return;
    unlink(path);
    CU_ASSERT_STRING_EQUAL(net.host_name[3], "a3");
    CU_ASSERT_STRING_EQUAL(net.host_name[7], "b3");
    fc_test_close(&machine, &net);
}

/* Any text: an answer or a refusal, never a crash (the tests run under sanitizers). */
static void test_fuzz(void)
{
    static const char signs[] = "cn0123456789[]()-,*:{}= +#x";
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st;
    uint64_t draw = 0;
    if (!fc_test_network(FC_TEST_NAMED, &machine, &net)) return;
    for (int i = 0; i < 3000; i++) {
        struct fc_arena arena = {0};
        char text[24];
        uint32_t *node;
        size_t n, length = fc_random_below(12, 0, (uint64_t)i, sizeof text - 1);
        for (size_t at = 0; at < length; at++) text[at] = signs[fc_random_below(12, 1, draw++, sizeof signs - 1)];
        text[length] = '\0';
        st = (struct fc_status){0};
        enum fc_code code = fc_nodes_read(&net, text, 0, &arena, &node, &n, &st);
        CU_ASSERT(code == FC_OK ? n > 0 && n <= 8 : code != FC_FAULT && st.message[0]);
        fc_arena_free(&arena);
    }
    fc_test_close(&machine, &net);
}

int suite_hosts(void)
{
    static const CU_TestInfo tests[] = {
        {"host lists", test_host_lists},
        {"nodes by number, host, coordinates, file", test_node_lists},
        {"nodes by router", test_routers},
        {"host names of a machine", test_machine_hosts},
        {"any text is refused or answered", test_fuzz},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("hosts", tests);
}
