/* test_without.c - a machine without what has failed: it carries what the same network, written without it, carries; names,
 * numbers of nodes, refusals; the rule that counts hops. */
#include "answer/session.h"
#include "models/family_graph.h"
#include "models/machine_without.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#define TORUS                                                                                                          \
    "name: t\nnetwork: {family: torus, dims: [4, 3]}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 5 ns}, injection: "  \
    "{bandwidth: 2 GB/s}}\n"

static bool opened(const char *machine, const char *without, const char *nodes, struct fc_session *s,
                   struct fc_status *st)
{
    struct fc_question q = {.machine = machine, .without = without, .nodes = nodes};
    return !fc_session_open(&q, machine, s, st);
}

/* The cables of the 4 x 3 torus but that from (0,0) to (1,0), and but what hangs on (2,1) where `switch_gone`, as a list. */
static void write_edges(FILE *f, bool cable_gone, bool switch_gone)
{
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 4; x++) {
            int from = 4 * y + x, to[2] = {4 * y + (x + 1) % 4, 4 * ((y + 1) % 3) + x};
            for (int d = 0; d < 2; d++) {
                if ((cable_gone && from == 0 && d == 0) || (switch_gone && (from == 6 || to[d] == 6))) continue;
                fprintf(f, "router %d router %d 1 GB/s 5 ns\n", from, to[d]);
            }
            if (!switch_gone || from != 6) fprintf(f, "router %d node %d 2 GB/s\n", from, from);
        }
}

static bool written(bool cable_gone, bool switch_gone, char *path, char *edges)
{
    char *text = NULL, yaml[300];
    size_t size;
    FILE *f = open_memstream(&text, &size);
    write_edges(f, cable_gone, switch_gone);
    fclose(f);
    bool made = fc_test_file(edges, ".edges", text, size);
    free(text);
    snprintf(yaml, sizeof yaml,
             "name: w\nnetwork: {family: graph, format: edge-list, file: %s}\n"
             "links: {injection: {bandwidth: 2 GB/s}}\n",
             edges);
    return made && fc_test_file(path, ".yaml", yaml, strlen(yaml));
}

/* Loads of all to all and of one pair, sorted: the two number their links differently. */
static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double *sorted_loads(const struct fc_network *net)
{
    double *load = calloc(net->n_links, sizeof *load), *ones = malloc(net->n_nodes * sizeof *ones);
    struct fc_status st = {0};
    uint32_t src = 1, dst = net->n_nodes - 1;
    double bytes = 7;
    for (uint32_t n = 0; n < net->n_nodes; n++) ones[n] = 1;
    CU_ASSERT_EQUAL(net->machine->routing->rank_one(net, ones, ones, load, &st), FC_OK);
    CU_ASSERT_EQUAL(net->machine->routing->sparse(net, &src, &dst, &bytes, 1, load, &st), FC_OK);
    qsort(load, net->n_links, sizeof *load, by_value);
    free(ones);
    return load;
}

static void as_written(void)
{
    static const struct {
        const char *without;
        bool cable, router;
    } cases[] = {{"x+ (0,0)->(1,0)", true, false},
                 {"(1,0)->(0,0)", true, false},
                 {"(2,1)", false, true},
                 {"(2,1), x+ (0,0)->(1,0)", true, true}};
    char machine[64], path[64], edges[64];
    CU_ASSERT_TRUE_FATAL(fc_test_file(machine, ".yaml", TORUS, strlen(TORUS)));
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_session a, b;
        struct fc_status st = {0};
        CU_ASSERT_TRUE_FATAL(written(cases[i].cable, cases[i].router, path, edges));
        CU_ASSERT_TRUE_FATAL(opened(machine, cases[i].without, NULL, &a, &st));
        CU_ASSERT_TRUE_FATAL(opened(path, NULL, NULL, &b, &st));
        CU_ASSERT(a.net.n_links == b.net.n_links && a.net.n_nodes == b.net.n_nodes && !a.nodes);
        CU_ASSERT_STRING_EQUAL(a.machine.routing->name, "shortest");
        double *x = sorted_loads(&a.net), *y = sorted_loads(&b.net);
        for (uint32_t l = 0; l < a.net.n_links && l < b.net.n_links; l++) CU_ASSERT(fc_near(x[l], y[l], 1e-12));
        free(x);
        free(y);
        fc_session_close(&a);
        fc_session_close(&b);
        remove(path);
        remove(edges);
    }
    remove(machine);
}

/* Node numbers are those of the whole machine; names stay. */
static void numbers(void)
{
    char machine[64], name[300];
    struct fc_session s;
    struct fc_status st = {0};
    CU_ASSERT_TRUE_FATAL(fc_test_file(machine, ".yaml", TORUS, strlen(TORUS)));
    CU_ASSERT_TRUE_FATAL(opened(machine, "(2,1)", "5,7", &s, &st)); /* node 6 is gone */
    CU_ASSERT(s.n_nodes == 2 && s.nodes[0] == 5 && s.nodes[1] == 6);
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&s.net, fc_node_vertex(&s.net, 6), name, sizeof name), "node 7");
    fc_session_close(&s);
    CU_ASSERT(!opened(machine, "(2,1)", "5,6", &s, &st) &&
              strstr(st.message, "node 6 is gone (failed, or by --without)"));

    st = (struct fc_status){0}; /* nodes alone: the torus stays a torus, they may not be used */
    CU_ASSERT_TRUE_FATAL(opened(machine, "6, node 0", NULL, &s, &st));
    CU_ASSERT(s.n_nodes == 10 && s.nodes[0] == 1 && s.nodes[5] == 7 && s.net.n_nodes == 12);
    CU_ASSERT_STRING_EQUAL(s.machine.family->name, "torus");
    CU_ASSERT_EQUAL(fc_session_only_whole(&s, &st), FC_INPUT);
    fc_session_close(&s);
    remove(machine);
}

/* `failed:` in the file is the same as --without, and both add up. */
static void by_the_file(void)
{
    static const char failed[] = TORUS "failed: ['x+ (0,0)->(1,0)', '(2,1)']\n", wrong[] = TORUS "failed: (9,9)\n";
    char whole[64], damaged[64], other[64];
    struct fc_session a, b;
    struct fc_status st = {0};
    CU_ASSERT_TRUE_FATAL(fc_test_file(whole, ".yaml", TORUS, strlen(TORUS)));
    CU_ASSERT_TRUE_FATAL(fc_test_file(damaged, ".yaml", failed, strlen(failed)));
    CU_ASSERT_TRUE_FATAL(fc_test_file(other, ".yaml", wrong, strlen(wrong)));
    for (int both = 0; both < 2; both++) {
        CU_ASSERT_TRUE_FATAL(opened(damaged, both ? "(0,2)" : NULL, NULL, &a, &st));
        CU_ASSERT_TRUE_FATAL(
            opened(whole, both ? "x+ (0,0)->(1,0),(2,1),(0,2)" : "x+ (0,0)->(1,0),(2,1)", NULL, &b, &st));
        CU_ASSERT(a.net.n_links == b.net.n_links && a.net.n_nodes == b.net.n_nodes);
        CU_ASSERT(!memcmp(a.net.link_target, b.net.link_target, a.net.n_links * sizeof *a.net.link_target));
        CU_ASSERT_STRING_EQUAL(a.machine.title, b.machine.title);
        fc_session_close(&a);
        fc_session_close(&b);
    }
    CU_ASSERT(!opened(other, NULL, NULL, &a, &st) && st.line == 4 && !strcmp(st.file, other));
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "failed: '(9,9)' is no link"));
    remove(whole);
    remove(damaged);
    remove(other);
}

static void hosts(void)
{
    char machine[64];
    struct fc_session s;
    struct fc_status st = {0};
    CU_ASSERT_TRUE_FATAL(fc_test_file(machine, ".yaml", FC_TEST_NAMED, strlen(FC_TEST_NAMED)));
    CU_ASSERT_TRUE_FATAL(opened(machine, "cn[2-3],cn6", "cn7,cn1", &s, &st));
    CU_ASSERT(s.n_nodes == 2 && s.nodes[0] == 7 && s.nodes[1] == 1);
    fc_session_close(&s);
    CU_ASSERT_TRUE_FATAL(opened(machine, "(1,0)", "cn7,cn0", &s, &st));
    CU_ASSERT(s.n_nodes == 2 && s.nodes[0] == 6 && s.nodes[1] == 0 && s.net.host_name);
    CU_ASSERT_STRING_EQUAL(s.net.host_name[6], "cn7");
    fc_session_close(&s);
    remove(machine);
}

/* Two rails: a node is gone when both its switches are, and the machine is in one piece while every two nodes share one. */
static void rails(void)
{
    static const char tree[] = "name: r\nnetwork: {family: fat-tree, children: [2, 2], parents: [1, 1], planes: 2}\n"
                               "links: {leaf: {bandwidth: 1 GB/s}, up: {bandwidth: 1 GB/s}}\n";
    char machine[64], list[700], name[300];
    struct fc_session s;
    struct fc_status st = {0};
    CU_ASSERT_TRUE_FATAL(fc_test_file(machine, ".yaml", tree, strlen(tree)));
    CU_ASSERT_TRUE_FATAL(opened(machine, NULL, NULL, &s, &st));
    uint32_t first = s.net.first_link[fc_node_vertex(&s.net, 0)];
    fc_vertex_name(&s.net, s.net.link_target[first], list, sizeof list);
    fc_vertex_name(&s.net, s.net.link_target[first + 1], name, sizeof name);
    fc_session_close(&s);
    CU_ASSERT_TRUE_FATAL(opened(machine, list, NULL, &s, &st));
    CU_ASSERT_EQUAL(s.net.n_nodes, 4);
    fc_session_close(&s);
    strcat(strcat(list, ","), name);
    CU_ASSERT_TRUE_FATAL(opened(machine, list, NULL, &s, &st));
    CU_ASSERT_EQUAL(s.net.n_nodes, 2);
    fc_session_close(&s);
    remove(machine);
}

static void refusals(void)
{
    static const struct {
        const char *without, *says;
    } cases[] = {
        {"(9,9)",
         "'(9,9)' is no link, router, node or host of t (they are called 'x+ (0,0)->(1,0)', '(0,0)', 'node 0')"},
        {"x+ (0,0)->(2,0)", "is no link"},
        {"", "an empty name"},
        {"(0,0),,(1,1)", "an empty name"},
        {"12", "'12' is no link"},
        {"cn[0-3]", "'cn0' is no link"},
        {"node 0 in", "is no link"},
        {"node 0->(0,0)", "node 0 would have no cable left"},
        {"(0,0)->(1,0),(0,0)->(3,0),(0,0)->(0,1),(0,0)->(0,2)", "nothing would connect node 0 and node 1"},
        {"(0,0),(1,0),(2,0),(3,0),(0,1),(1,1),(2,1),(3,1),(0,2),(1,2),(2,2),(3,2)", "no node would be left"},
        {"0,1,2,3,4,5,6,7,8,9,10,11", "no node is left"},
    };
    char machine[64];
    CU_ASSERT_TRUE_FATAL(fc_test_file(machine, ".yaml", TORUS, strlen(TORUS)));
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_session s;
        struct fc_status st = {0};
        bool open = opened(machine, cases[i].without, NULL, &s, &st);
        CU_ASSERT(!open);
        if (open) fc_session_close(&s);
        if (!strstr(st.message, cases[i].says)) printf("%s: %s\n", cases[i].without, st.message);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, cases[i].says));
    }
    remove(machine);
}

/* A torus as a graph turns every way: one channel deadlocks, one a hop does not; as many as the longest route has hops. */
static void hops(void)
{
    char machine[64];
    struct fc_session s;
    struct fc_status st = {0};
    struct fc_certificate one, each;
    CU_ASSERT_TRUE_FATAL(fc_test_file(machine, ".yaml", TORUS, strlen(TORUS)));
    CU_ASSERT_TRUE_FATAL(opened(machine, "(0,0)->(1,0)", NULL, &s, &st));
    CU_ASSERT_FALSE(fc_certify(&s.net, "none", &one, &st));
    CU_ASSERT_FALSE(fc_certify(&s.net, "hops", &each, &st));
    CU_ASSERT(!one.safe && each.safe && each.n_vcs == 3 && each.enough);
    CU_ASSERT(s.machine.router.vcs == 3 && strstr(s.machine.title, "a virtual channel a hop: 3"));
    fc_certificate_free(&one);
    fc_certificate_free(&each);
    fc_session_close(&s);
    remove(machine);
    /* The rule by the file: graphs only. */
    struct fc_machine m;
    CU_ASSERT_EQUAL(fc_test_machine(TORUS "router: {escape: layers}\n", &m, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "router.escape: a torus network has no rule 'layers' (graphs have it)"));
}

/* Where only nodes are gone, --routing still counts, with the tables that the network has for it. */
static void nodes_and_routing(void)
{
    char machine[64], edges[64];
    struct fc_session s;
    struct fc_status st = {0};
    CU_ASSERT_TRUE_FATAL(written(false, false, machine, edges));
    struct fc_question q = {.machine = machine, .without = "11", .routing = "updown-hash"};
    CU_ASSERT_FALSE_FATAL(fc_session_open(&q, machine, &s, &st));
    CU_ASSERT(s.machine.routing == &fc_routing_updown && s.n_nodes == 11 && s.net.n_nodes == 12);
    const struct fc_graph_tables *tables = s.net.extra;
    CU_ASSERT_PTR_NOT_NULL(tables->updown);
    fc_session_close(&s);
    remove(machine);
    remove(edges);
}

int suite_without(void)
{
    static const CU_TestInfo tests[] = {
        {"a network without a cable, a switch, both, is the same one written without", as_written},
        {"nodes are numbered as in the whole machine", numbers},
        {"by the file", by_the_file},
        {"hosts", hosts},
        {"rails", rails},
        {"nodes gone, by another routing", nodes_and_routing},
        {"refusals", refusals},
        {"rule hops", hops},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("without", tests);
}
