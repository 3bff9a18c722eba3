/* test_node_kinds.c - machines whose nodes differ: cores fill each node's own, computation takes its node's time, injection is a
 * class of its own; what is left of such a machine; who refuses them, and wrong lists. */
#include "answer/answer.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

#define TORUS                                                                                                          \
    "name: k\nnetwork: {family: torus, dims: [4, 2]}\nlinks: {torus: {bandwidth: 10 GB/s, latency: 1 ns}, injection: " \
    "{bandwidth: 4 GB/s, latency: 2 ns}}\nhosts: cn[0-7]\n"
#define KINDS "node:\n- {hosts: ['cn[0-1]'], cores: 4, compute_scale: 2, injection: 1 GB/s}\n- {cores: 2}\n"
#define ALIKE TORUS "node: {cores: 2}\n"

static bool opened(const char *yaml, const struct fc_question *ask, struct fc_session *s, struct fc_status *st)
{
    char path[64];
    struct fc_question q = *ask;
    *st = (struct fc_status){0};
    if (!fc_test_file(path, ".yaml", yaml, strlen(yaml))) return false;
    bool good = !fc_session_open(&q, path, s, st);
    remove(path);
    return good;
}

static void nodes(void)
{
    char name[64];
    struct fc_session s;
    struct fc_status st;
    if (!opened(TORUS KINDS, &(struct fc_question){0}, &s, &st)) printf("%s\n", st.message);
    CU_ASSERT_FALSE_FATAL(st.code);
    const struct fc_network *net = &s.net;
    CU_ASSERT(net->node_kind[0] == 0 && net->node_kind[1] == 0 && net->node_kind[2] == 1 && net->node_kind[7] == 1);
    CU_ASSERT(fc_node_cores(net, 1) == 4 && fc_node_cores(net, 2) == 2 && fc_machine_cores(net) == 20);
    CU_ASSERT(fc_node_compute_scale(net, 0) == 2 && fc_node_compute_scale(net, 7) == 1);
    for (uint32_t n = 0; n < 8; n++) {
        uint32_t in = net->first_link[fc_node_vertex(net, n)], router = net->link_target[in],
                 out = fc_find_link(net, router, fc_node_vertex(net, n));
        double rate = n < 2 ? 1e9 : 4e9;
        CU_ASSERT(fc_link_bandwidth(net, in) == rate && fc_link_bandwidth(net, out) == rate);
        CU_ASSERT_EQUAL(s.machine.classes[net->link_class[in]].latency_s, 2e-9);
    }
    CU_ASSERT_STRING_EQUAL(fc_link_name(net, net->first_link[fc_node_vertex(net, 1)], name, sizeof name), "node 1 in");
    fc_session_close(&s);

    /* Without a cable it is a graph, whose nodes are what they were; without (1,0) node 2 is node 1. */
    CU_ASSERT_TRUE_FATAL(opened(TORUS KINDS, &(struct fc_question){.without = "(1,0)"}, &s, &st));
    CU_ASSERT(s.net.n_nodes == 7 && s.net.node_kind[0] == 0 && s.net.node_kind[1] == 1);
    CU_ASSERT(fc_link_bandwidth(&s.net, s.net.first_link[fc_node_vertex(&s.net, 0)]) == 1e9);
    CU_ASSERT(fc_link_bandwidth(&s.net, s.net.first_link[fc_node_vertex(&s.net, 1)]) == 4e9);
    fc_session_close(&s);
}

/* ---- where tasks go ---- */

static bool placed(const struct fc_question *ask, uint32_t n_tasks, const char *map, struct fc_mapping *m,
                   struct fc_status *st)
{
    struct fc_session s;
    struct fc_demand demand = {.n_tasks = n_tasks};
    if (!opened(TORUS KINDS, ask, &s, st)) return false;
    bool good = !fc_place_tasks(ask, &s, &demand, map, m, st);
    fc_session_close(&s);
    return good;
}

static void mappings(void)
{
    static const struct {
        const char *nodes;
        int ranks_per_node;
        uint32_t n;
        const char *map, *says; /* NULL: it is placed, */
        uint32_t node[12];      /* so */
    } cases[] = {
        {NULL, 0, 12, "def", NULL, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3}},
        {"cn3,cn0,cn2", 0, 8, "def", NULL, {3, 3, 0, 0, 0, 0, 2, 2}},
        {NULL, 2, 6, "def", NULL, {0, 0, 1, 1, 2, 2}},
        {"0-1", 3, 6, "def", NULL, {0, 0, 0, 1, 1, 1}},
        {NULL, 0, 20, "def", NULL, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3}},
        {NULL, 0, 21, "def", "21 ranks but the machine has 20 cores", {0}},
        {NULL, 0, 4, "random", "the allowed nodes have different numbers of cores (expected --ranks-per-node", {0}},
        {NULL, 3, 4, "random", "the allowed nodes have different numbers of cores", {0}},
        {NULL, 0, 4, "optimize", "strategy optimize is for nodes of one injection", {0}},
        {NULL, 5, 4, "def", "--ranks-per-node: 5 are more than a node of k holds (4)", {0}},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_question q = {.nodes = cases[i].nodes, .ranks_per_node = cases[i].ranks_per_node};
        struct fc_mapping m = {0};
        struct fc_status st;
        bool good = placed(&q, cases[i].n, cases[i].map, &m, &st);
        CU_ASSERT_EQUAL(good, !cases[i].says);
        if (st.code && (!cases[i].says || !strstr(st.message, cases[i].says))) printf("%zu: %s\n", i, st.message);
        for (uint32_t t = 0; good && t < cases[i].n && t < 12; t++) CU_ASSERT_EQUAL(m.node[t], cases[i].node[t]);
        if (cases[i].says) CU_ASSERT_PTR_NOT_NULL(strstr(st.message, cases[i].says));
        if (good) fc_mapping_free(&m);
    }
    struct fc_mapping any = {0};
    struct fc_status none;
    CU_ASSERT(placed(&(struct fc_question){.nodes = "cn[2-4]"}, 6, "random", &any, &none));
    for (uint32_t t = 0; t < 6; t++) CU_ASSERT(any.core[t] % 4 < 2);
    fc_mapping_free(&any);
    /* A file and nodes that are told may use the cores that are there. */
    static const char fits[] = "3\n8\n9\n", over[] = "3\n10\n9\n"; /* cores 4 n to 4 n + 3 are node n's */
    static const uint32_t two[] = {2, 2}, three[] = {2, 2, 2};
    char file[64];
    struct fc_mapping m = {0};
    struct fc_status st;
    CU_ASSERT_TRUE_FATAL(fc_test_file(file, ".map", fits, strlen(fits)));
    CU_ASSERT(placed(&(struct fc_question){0}, 3, file, &m, &st) && m.node[0] == 0 && m.node[1] == 2);
    fc_mapping_free(&m);
    remove(file);
    CU_ASSERT_TRUE_FATAL(fc_test_file(file, ".map", over, strlen(over)));
    CU_ASSERT(!placed(&(struct fc_question){0}, 3, file, &m, &st) &&
              strstr(st.message, "task 1 is on core 2 of node 2, which has 2"));
    remove(file);
    CU_ASSERT(placed(&(struct fc_question){.node_of = two, .n_node_of = 2}, 2, NULL, &m, &st) && m.core[1] == 9);
    fc_mapping_free(&m);
    CU_ASSERT(!placed(&(struct fc_question){.node_of = three, .n_node_of = 3}, 3, NULL, &m, &st) &&
              strstr(st.message, "node 2 has more tasks than its 2 cores"));
    fc_mapping_free(&m);
}

/* ---- times ---- */

#define TRACE                                                                                                          \
    "fabricast-trace 1\nranks 2\ncomm 0 0-1\nevents 4\n"                                                               \
    "rank 0 2\nsend 1 1 0.5 comm=0 peer=1 tag=0 bytes=1000000\nrecv 1 1 0 comm=0 peer=1 tag=0 bytes=8\n"               \
    "rank 1 2\nrecv 1 1 0.5 comm=0 peer=0 tag=0 bytes=1000000\nsend 1 1 0.25 comm=0 peer=0 tag=0 bytes=8\nend\n"

static double time_of(const char *yaml, struct fc_question q, struct fc_answer *answer)
{
    char path[64];
    struct fc_status st = {0};
    if (!fc_test_file(path, ".yaml", yaml, strlen(yaml))) return NAN;
    q.machine = path;
    q.keep_links = true;
    q.time_only = !strcmp(yaml, ALIKE);
    if (fc_answer_make(&q, answer, &st)) printf("%s\n", st.message);
    remove(path);
    return st.code ? (double)NAN : answer->p.time_s;
}

static void times(void)
{
    char trace[64];
    struct fc_answer a, b;
    CU_ASSERT_TRUE_FATAL(fc_test_file(trace, ".txt", TRACE, strlen(TRACE)));
    /* Rank 0 on a slow node, rank 1 on another. */
    static const uint32_t on[] = {0, 2}, off[] = {3, 2};
    struct fc_question q = {.trace = trace, .node_of = on, .n_node_of = 2, .threads = 1};
    double slow_s = time_of(TORUS KINDS, q, &a);
    CU_ASSERT(fc_near(a.rank_compute_s[0], 1, 1e-12) && fc_near(a.rank_compute_s[1], 0.75, 1e-12));
    double alike_s = time_of(ALIKE, q, &b);
    CU_ASSERT(fc_near(b.rank_compute_s[0], 0.5, 1e-12) && fc_near(b.rank_compute_s[1], 0.75, 1e-12));
    /* Half a second more of computation, and 1 MB into the network at 1 GB/s instead of 4. */
    CU_ASSERT(fc_near(slow_s - alike_s, 0.5 + 1e6 / 1e9 - 1e6 / 4e9, 1e-3));
    fc_answer_free(&a);
    fc_answer_free(&b);
    q.node_of = off;
    slow_s = time_of(TORUS KINDS, q, &a);
    CU_ASSERT(slow_s == time_of(ALIKE, q, &b));
    CU_ASSERT(isnan(a.best_bound_s) && !strcmp(a.best_bound_why, "the machine's nodes differ"));
    fc_answer_free(&a);
    fc_answer_free(&b);
    remove(trace);

    /* A phase: all to all of 8 nodes; the slow ones' links bind, and their computation counts. */
    struct fc_question p = {.pattern = "alltoall:bytes=1MB", .compute_s = 0.25, .threads = 1};
    slow_s = time_of(TORUS KINDS, p, &a);
    CU_ASSERT(fc_near(a.p.computation_s, 0.5, 1e-12) && slow_s > 0.5 + 7e-3 && slow_s < 0.5 + 8e-3);
    CU_ASSERT_PTR_NOT_NULL(strstr(a.bottleneck, "node "));
    CU_ASSERT(time_of(ALIKE, p, &b) < 0.25 + 3e-3);
    fc_answer_free(&a);
    fc_answer_free(&b);
}

/* ---- ports and memory ---- */

/* Rank 0 sends 4 MB (fetched) and 1 KB (put) to rank 1, rank 2 4 MB to rank 1 at the same time, rank 1 4 MB to rank 3. */
#define PORTS_TRACE                                                                                                    \
    "fabricast-trace 1\nranks 4\ncomm 0 0-3\nevents 9\n"                                                               \
    "rank 0 2\nsend 1 1 0 comm=0 peer=1 tag=0 bytes=4000000\nsend 1 1 0 comm=0 peer=1 tag=2 bytes=1000\n"              \
    "rank 1 5\nirecv 1 1 0 comm=0 peer=0 tag=0 bytes=4000000 request=0\n"                                              \
    "irecv 1 1 0 comm=0 peer=2 tag=1 bytes=4000000 request=1\nrecv 1 1 0 comm=0 peer=0 tag=2 bytes=1000\n"             \
    "wait 1 1 0 requests=0,1\nsend 1 1 0 comm=0 peer=3 tag=3 bytes=4000000\n"                                          \
    "rank 2 1\nsend 1 1 0 comm=0 peer=1 tag=1 bytes=4000000\n"                                                         \
    "rank 3 1\nrecv 1 1 0 comm=0 peer=1 tag=3 bytes=4000000\nend\n"

static void ends(void)
{
    char trace[64];
    CU_ASSERT_TRUE_FATAL(fc_test_file(trace, ".txt", PORTS_TRACE, strlen(PORTS_TRACE)));
    static const uint32_t apart[] = {2, 0, 3, 4}, inside[] = {0, 0, 2, 0};
    static const struct {
        const char *kind; /* of nodes 0 and 1; the others have no such limit */
        const uint32_t *node;
        double plus_s; /* more than without */
    } cases[] = {
        /* 8 MB into node 0 at 4 GB/s of its link, or through its port; then 4 MB to rank 3, fetched by rank 3's node. */
        {"port_bandwidth: 1 GB/s", apart, 8e6 / 1e9 - 8e6 / 4e9},
        {"port_bandwidth: 2 GB/s, ports: 2", apart, 0},
        {"port_bandwidth: 1 GB/s, ports: 2", apart, 4e6 / 1e9 - 8e6 / 4e9},
        {"port_bandwidth: 1 GB/s, port_sides: 2", apart, 12e6 / 1e9 - 12e6 / 4e9},
        {"port_bandwidth: 8 GB/s", apart, 0},
        /* Two messages of 4 MB within node 0, one after the other; from rank 2 one of 4 MB over the network. */
        {"memory_bandwidth: 1 GB/s", inside, 8e6 / 1e9 - 8e6 / 4e9},
        {"memory_bandwidth: 9 GB/s", inside, 0},
    };
    struct fc_question q = {.trace = trace, .n_node_of = 4, .threads = 1};
    struct fc_answer a = {0};
    double without_s = NAN;
    char yaml[600];
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        if (q.node_of != cases[i].node) {
            q.node_of = cases[i].node;
            without_s = time_of(TORUS "node: {cores: 4}\n", q, &a);
            fc_answer_free(&a);
        }
        snprintf(yaml, sizeof yaml, TORUS "node: [{hosts: 'cn[0-1]', cores: 4, %s}, {cores: 4}]\n", cases[i].kind);
        CU_ASSERT(fc_near(time_of(yaml, q, &a), without_s + cases[i].plus_s, 2e-2));
        fc_answer_free(&a);
    }
    /* All nodes of one kind are a machine without kinds, to the bit. */
    for (int fluid = 0; fluid < 2; fluid++) {
        static const char all[] = "ports: 2, port_bandwidth: 1 GB/s, port_sides: 2, memory_bandwidth: 2 GB/s";
        q.network = fluid ? "contention" : "ideal";
        snprintf(yaml, sizeof yaml, TORUS "node: [{cores: 4, %s}]\n", all);
        double with_s = time_of(yaml, q, &a);
        fc_answer_free(&a);
        snprintf(yaml, sizeof yaml, TORUS "node: {cores: 4, %s}\n", all);
        CU_ASSERT(with_s == time_of(yaml, q, &a) && with_s > 0);
        fc_answer_free(&a);
    }
    /* Alone: 1 KB is put through its sender's port, 4 MB fetched through its receiver's. */
    static const uint32_t from[] = {0, 2, 3, 4};
    q.node_of = from;
    q.network = "ideal";
    without_s = time_of(TORUS "node: {cores: 4}\n", q, &a);
    fc_answer_free(&a);
    for (int sides = 1; sides <= 2; sides++) {
        snprintf(yaml, sizeof yaml,
                 TORUS "node: [{hosts: cn0, cores: 4, port_bandwidth: 0.1 GB/s, port_sides: %d}, {cores: 4}]\n", sides);
        double long_s = sides == 2 ? 4e6 / 0.1e9 - 4e6 / 4e9 : 0;
        CU_ASSERT(fc_near(time_of(yaml, q, &a) - without_s, long_s + 1e3 / 0.1e9 - 1e3 / 4e9, 1e-2));
        fc_answer_free(&a);
    }
    remove(trace);
}

/* ---- slow nodes ---- */

/* Each end of a message on node 0 takes 30 us longer. */
#define SLOW TORUS "node: {cores: 2, slow_hosts: 'cn0', slow_overhead: 30 us}\nsoftware: {send: 1 us, recv: 1 us}\n"
#define QUICK ALIKE "software: {send: 1 us, recv: 1 us}\n"

static void slow(void)
{
    char trace[64];
    struct fc_session s;
    struct fc_status st;
    struct fc_answer a;
    CU_ASSERT_TRUE_FATAL(opened(SLOW, &(struct fc_question){0}, &s, &st));
    CU_ASSERT(fc_node_slow_s(&s.net, 0) == 30e-6 && fc_node_slow_s(&s.net, 1) == 0);
    fc_session_close(&s);
    /* Without routers it is a graph, in which node 2 is node 1 and the slow one what it was, or gone. */
    CU_ASSERT_TRUE_FATAL(opened(SLOW, &(struct fc_question){.without = "(1,0)"}, &s, &st));
    CU_ASSERT(s.net.n_nodes == 7 && fc_node_slow_s(&s.net, 0) == 30e-6 && fc_node_slow_s(&s.net, 1) == 0);
    fc_session_close(&s);
    CU_ASSERT_TRUE_FATAL(opened(SLOW, &(struct fc_question){.without = "(0,0)"}, &s, &st));
    for (uint32_t n = 0; n < s.net.n_nodes; n++) CU_ASSERT(fc_node_slow_s(&s.net, n) == 0);
    fc_session_close(&s);

    /* There and back: both ends of both messages, whoever sends; elsewhere, and on LogGOPS's machine, nothing. */
    static const uint32_t on[] = {0, 2}, back[] = {2, 0}, off[] = {3, 2}, together[] = {0, 0};
    static const struct {
        const uint32_t *node;
        double plus_s;
        const char *loggops;
    } cases[] = {
        {on, 60e-6, NULL}, {back, 60e-6, NULL}, {off, 0, NULL}, {together, 120e-6, NULL}, {on, 0, "L=1us,g=0,G=0"}};
    CU_ASSERT_TRUE_FATAL(fc_test_file(trace, ".txt", TRACE, strlen(TRACE)));
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_question q = {
            .trace = trace, .node_of = cases[i].node, .n_node_of = 2, .threads = 1, .loggops = cases[i].loggops};
        if (q.loggops) q.network = "ideal";
        double without_s = time_of(QUICK, q, &a);
        fc_answer_free(&a);
        CU_ASSERT(fc_near(time_of(SLOW, q, &a) - without_s, cases[i].plus_s, 1e-6));
        fc_answer_free(&a);
    }
    remove(trace);
    /* A graph of one message, from the slow node and to it. */
    static const char goal[] =
        "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 1\n}\nrank 1 {\nl1: recv 8b from 0 tag 1\n}\n";
    CU_ASSERT_TRUE_FATAL(fc_test_file(trace, ".goal", goal, strlen(goal)));
    for (size_t i = 0; i < 3; i++) {
        struct fc_question q = {.trace = trace, .node_of = cases[i].node, .n_node_of = 2, .threads = 1};
        double without_s = time_of(QUICK, q, &a);
        fc_answer_free(&a);
        CU_ASSERT(fc_near(time_of(SLOW, q, &a) - without_s, cases[i].plus_s / 2, 1e-6));
        fc_answer_free(&a);
    }
    remove(trace);
    /* A phase is as long as its busiest processor is: of 7 messages each way on the slow node. */
    struct fc_question p = {.pattern = "alltoall:bytes=8", .threads = 1};
    double without_s = time_of(QUICK, p, &a);
    fc_answer_free(&a);
    CU_ASSERT(fc_near(time_of(SLOW, p, &a) - without_s, 2 * 7 * 30e-6, 1e-3));
    fc_answer_free(&a);
}

/* ---- refusals ---- */

static void refusals(void)
{
    static const struct {
        const char *node, *says;
        long line;
    } cases[] = {
        {"node: {slow_hosts: cn9, slow_overhead: 1 us}\n", "node.slow_hosts: host 'cn9' is not in machine k", 5},
        {"node:\n  slow_hosts: cn1\n", "node.slow_hosts: without node.slow_overhead nothing is slow", 6},
        {"node:\n  cores: 2\n  slow_overhead: 1 us\n", "node.slow_overhead: without node.slow_hosts", 7},
        {"node:\n- {slow_hosts: cn1}\n", "node.slow_hosts: cannot differ from node to node", 6},
        {"node: []\n", "node: 0 kinds of nodes (expected 1 to 16)", 5},
        {"node: [4]\n", "node: expected a list of {hosts: LIST, cores: N", 5},
        {"node:\n- {cores: 2, ports: 65}\n", "node.ports", 6},
        {"node:\n- {port_bandwidth: 1 s}\n", "node.port_bandwidth", 6},
        {"node:\n- {exchange_bandwidth: 1 GB/s}\n",
         "node.exchange_bandwidth: cannot differ from node to node (node: {...} of all nodes takes it)", 6},
        {"node:\n- {cores: 1}\n- {hosts: cn1, reception: 1 KiB}\n", "node.reception: cannot differ", 7},
        {"node:\n- {core: 2}\n", "unknown key 'core' (did you mean 'cores'? known: hosts", 6},
        {"node:\n- {cores: 0}\n", "node.cores", 6},
        {"node:\n- {cores: 1}\n- {cores: 2}\n",
         "node.hosts: is missing (the nodes that are left are of the kind on line 6)", 7},
        {"node:\n- {hosts: cn9}\n- {cores: 2}\n", "node.hosts: host 'cn9' is not in machine k", 6},
        {"node:\n- {hosts: 'cn[0-1]'}\n- {hosts: cn1}\n", "node.hosts: node 1 (cn1) is of the kind on line 6 already",
         7},
        {"node:\n- {hosts: 'cn[0-6]'}\n", "node: node 7 (cn7) is of no kind", 6},
        {"node:\n- {hosts: {a: b}}\n", "node.hosts: expected a host list", 6},
        {"node:\n- {injection: 3}\n- {cores: [1]}\n", "node.cores: expected one value", 7},
        {"node:\n- {compute_scale: 0}\n", "node.compute_scale", 6},
    };
    char yaml[500];
    struct fc_session s;
    struct fc_status st;
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        snprintf(yaml, sizeof yaml, "%s%s", TORUS, cases[i].node);
        bool open = opened(yaml, &(struct fc_question){0}, &s, &st);
        CU_ASSERT_FALSE(open);
        if (!strstr(st.message, cases[i].says) || st.line != cases[i].line)
            printf("%zu: %ld: %s\n", i, st.line, st.message);
        CU_ASSERT(strstr(st.message, cases[i].says) && st.line == cases[i].line);
        if (open) fc_session_close(&s);
    }
    CU_ASSERT_FALSE(
        opened("name: t\nnetwork: {family: fat-tree, children: [4], parents: [1]}\nlinks: {leaf: {bandwidth: 1 "
               "GB/s}}\nnode: [{injection: 1 GB/s}]\n",
               &(struct fc_question){0}, &s, &st));
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "node.injection: nodes of this fat-tree hang on its links 'leaf'"));
    CU_ASSERT_TRUE_FATAL(opened(TORUS KINDS, &(struct fc_question){0}, &s, &st));
    CU_ASSERT_EQUAL(fc_session_only_alike(&s, "flit", &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "node: flit is for machines whose nodes are all alike"));
    fc_session_close(&s);
    st = (struct fc_status){0};
    struct fc_question q = {.background = "uniform:10%"};
    CU_ASSERT_FALSE(opened(TORUS KINDS, &q, &s, &st));
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "node: --background is for machines"));
}

int suite_node_kinds(void)
{
    static const CU_TestInfo tests[] = {
        {"every node is of its kind", nodes},
        {"mappings fill each node's own cores", mappings},
        {"computation and injection of each node", times},
        {"ports and memory of each node", ends},
        {"messages of slow nodes", slow},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("node_kinds", tests);
}
