/* test_weakest.c - the cables that a job can spare least: each time is that of --without, the order that of all of them; bridges,
 * cables alike, nodes with several cables, machines in parts. */
#include "answer/weakest.h"
#include "models/machine_without.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TORUS                                                                                                          \
    "name: t\nnetwork: {family: torus, dims: [4, 3]}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 5 ns}, injection: "  \
    "{bandwidth: 9 GB/s}}\n"
#define RING                                                                                                           \
    "fabricast-trace 1\nranks 3\ncomm 0 0-2\nevents 6\n"                                                               \
    "rank 0 2\nsend 1 1 1e-6 comm=0 peer=1 tag=0 bytes=30000\nrecv 1 1 0 comm=0 peer=2 tag=0 bytes=9000\n"             \
    "rank 1 2\nrecv 1 1 0 comm=0 peer=0 tag=0 bytes=30000\nsend 1 1 0 comm=0 peer=2 tag=0 bytes=20000\n"               \
    "rank 2 2\nrecv 1 1 0 comm=0 peer=1 tag=0 bytes=20000\nsend 1 1 0 comm=0 peer=0 tag=0 bytes=9000\nend\n"

/* As `predict --weakest n` asks. False: st tells why not. */
static bool ask(struct fc_question q, size_t n, struct fc_weakest *w, struct fc_status *st)
{
    const char *map = "def";
    struct fc_session session;
    struct fc_predicted_job job;
    struct fc_demand demand = {0};
    struct fc_answer answer = {0};
    memset(w, 0, sizeof *w);
    q.keep_links = q.time_only = true;
    if (!fc_job_open(&q, &job, st) && !fc_session_open(&q, q.machine, &session, st)) {
        if (!fc_job_traffic(&job, &q, &session, &map, 1, &demand, st) &&
            !fc_answer_placed(&q, &session, &job, &demand, map, &answer, st))
            fc_answer_weakest(&q, &session, &job, &demand, &answer, n, w, st);
        fc_answer_free(&answer);
        fc_demand_free(&demand);
        fc_session_close(&session);
    }
    fc_job_close(&job);
    return !st->code;
}

static double time_without(struct fc_question q, const char *name)
{
    struct fc_answer answer;
    struct fc_status st = {0};
    q.without = name;
    q.time_only = true;
    double time_s = fc_answer_make(&q, &answer, &st) ? (double)NAN : answer.p.time_s;
    fc_answer_free(&answer);
    return time_s;
}

/* Every cable taken out by its name takes as long as the ranking says, and no other one longer. */
static void against_without(struct fc_question q)
{
    struct fc_session s;
    struct fc_weakest w;
    struct fc_status st = {0};
    char name[300];
    uint32_t n_cables = 0, n_longer = 0;
    CU_ASSERT_TRUE_FATAL(ask(q, 4, &w, &st));
    CU_ASSERT_FATAL(w.n == 4 && w.n_looked_at == w.n_loaded && w.whole_s > 0);
    for (size_t i = 0; i < w.n; i++) {
        CU_ASSERT(!w.link[i].disconnects && w.link[i].cables == 1);
        CU_ASSERT(fc_near(w.link[i].time_s, time_without(q, w.link[i].link), 1e-12));
        CU_ASSERT(fc_near(w.link[i].increase_percent, 100 * (w.link[i].time_s / w.whole_s - 1), 1e-12));
        CU_ASSERT(i == 0 || w.link[i].time_s <= w.link[i - 1].time_s);
    }
    CU_ASSERT_TRUE_FATAL(!fc_session_open(&q, q.machine, &s, &st));
    for (uint32_t l = 0; l < s.net.first_link[s.net.n_routers]; l++) {
        if (fc_is_node(&s.net, s.net.link_target[l]) || fc_other_direction(&s.net, l) < l) continue;
        n_cables++;
        n_longer += time_without(q, fc_link_name(&s.net, l, name, sizeof name)) > w.link[3].time_s * (1 + 1e-12);
    }
    CU_ASSERT(n_cables == 24 && n_longer <= 3);
    fc_session_close(&s);
    fc_weakest_free(&w);
}

static void as_without(void)
{
    char machine[64], trace[64];
    CU_ASSERT_TRUE_FATAL(fc_test_file(machine, ".yaml", TORUS, strlen(TORUS)));
    CU_ASSERT_TRUE_FATAL(fc_test_file(trace, ".txt", RING, strlen(RING)));
    against_without(
        (struct fc_question){.machine = machine, .pattern = "stencil2d:grid=4x3,bytes=64KiB", .threads = 1});
    against_without((struct fc_question){.machine = machine, .trace = trace, .threads = 1, .nodes = "0,2,5"});
    remove(machine);
    remove(trace);
}

/* Two leaves with two cables to one spine and one to another; a third leaf on one cable; node d has cables to two leaves. */
static const char edges[] = "router leaf0 node a\nrouter leaf1 node b\nrouter leaf2 node c\nrouter leaf0 node d\n"
                            "router leaf1 node d\nrouter leaf0 router spine0 1 GB/s 0 s 2\n"
                            "router leaf1 router spine0 1 GB/s 0 s 2\nrouter leaf0 router spine1 2 GB/s\n"
                            "router leaf1 router spine1 2 GB/s\nrouter leaf2 router spine0 3 GB/s\n";
#define GRAPH(file)                                                                                                    \
    "name: g\nnetwork: {family: graph, format: edge-list, file: %s}\nlinks: {link: {bandwidth: 8 GB/s}}\n", file

static bool written(const char *cables, char *machine, char *file)
{
    char yaml[300];
    if (!fc_test_file(file, ".edges", cables, strlen(cables))) return false;
    snprintf(yaml, sizeof yaml, GRAPH(file));
    return fc_test_file(machine, ".yaml", yaml, strlen(yaml));
}

static void bridges(void)
{
    char machine[64], file[64];
    struct fc_weakest w;
    struct fc_status st = {0};
    CU_ASSERT_TRUE_FATAL(written(edges, machine, file));
    struct fc_question q = {.machine = machine, .pattern = "alltoall:bytes=64KiB", .threads = 1};
    CU_ASSERT_TRUE_FATAL(ask(q, 20, &w, &st));
    CU_ASSERT(w.n_node_cables == 3 && w.n_loaded == 9 && w.n_looked_at == 9);
    CU_ASSERT_FATAL(w.n == 7); /* two pairs are alike */
    CU_ASSERT(w.link[0].disconnects && isnan(w.link[0].time_s) && isnan(w.link[0].increase_percent));
    CU_ASSERT_STRING_EQUAL(w.link[0].link, "3 GB/s leaf2->spine0");
    for (size_t i = 1; i < w.n; i++) {
        bool twice = strstr(w.link[i].link, "spine0") != NULL;
        CU_ASSERT(!w.link[i].disconnects && w.link[i].cables == 1u + twice);
        CU_ASSERT(fc_near(w.link[i].time_s, time_without(q, w.link[i].link), 1e-12));
    }
    fc_weakest_free(&w);
    CU_ASSERT_TRUE_FATAL(ask(q, 1, &w, &st));
    CU_ASSERT(w.n == 1 && w.link[0].disconnects);
    fc_weakest_free(&w);
    remove(machine);
    remove(file);
}

/* A budget of nothing looks at 2 n; the answer is the same with any number of threads. */
static void budget(void)
{
    char machine[64];
    struct fc_weakest a, b;
    struct fc_status st = {0};
    CU_ASSERT_TRUE_FATAL(fc_test_file(machine, ".yaml", TORUS, strlen(TORUS)));
    struct fc_question q = {.machine = machine,
                            .pattern = "stencil2d:grid=4x3,bytes=64KiB",
                            .search_s = 1e-9,
                            .search_given = true,
                            .threads = 1};
    CU_ASSERT_TRUE_FATAL(ask(q, 3, &a, &st));
    CU_ASSERT(a.n == 3 && a.n_looked_at == 6 && a.n_loaded > 6);
    q.threads = 3;
    CU_ASSERT_TRUE_FATAL(ask(q, 3, &b, &st));
    for (size_t i = 0; i < a.n && i < b.n; i++)
        CU_ASSERT(a.link[i].time_s == b.link[i].time_s && !strcmp(a.link[i].link, b.link[i].link));
    fc_weakest_free(&a);
    fc_weakest_free(&b);
    remove(machine);
}

/* Names that a list on the command line cannot hold. */
static void odd_names(void)
{
    char machine[64], file[64];
    struct fc_weakest w;
    struct fc_status st = {0};
    CU_ASSERT_TRUE_FATAL(written("router a,b node 0\nrouter c[1 node 1\nrouter d node 2\nrouter a,b router c[1\n"
                                 "router c[1 router d\nrouter d router a,b\n",
                                 machine, file));
    CU_ASSERT_TRUE(ask((struct fc_question){.machine = machine, .pattern = "alltoall:bytes=1KiB"}, 3, &w, &st));
    CU_ASSERT(w.n == 3 && w.n_looked_at == 3 && strstr(w.link[0].link, "a,b"));
    fc_weakest_free(&w);
    remove(machine);
    remove(file);
}

static void refusals(void)
{
    char machine[64], file[64];
    struct fc_weakest w;
    struct fc_status st = {0};
    CU_ASSERT_TRUE_FATAL(
        written("router a node 0\nrouter a router c\nrouter c node 1\nrouter b node 2\n", machine, file));
    CU_ASSERT_FALSE(
        ask((struct fc_question){.machine = machine, .pattern = "alltoall:bytes=1KiB", .nodes = "0,1"}, 1, &w, &st));
    fc_weakest_free(&w);
    st = (struct fc_status){0};
    char trace[64];
    CU_ASSERT_TRUE_FATAL(fc_test_file(trace, ".txt", RING, strlen(RING)));
    CU_ASSERT_FALSE(ask((struct fc_question){.machine = machine, .trace = trace, .nodes = "0,0,1"}, 1, &w, &st));
    fc_weakest_free(&w);
    remove(machine);
    remove(file);
    remove(trace);
}

int suite_weakest(void)
{
    static const CU_TestInfo tests[] = {
        {"every time is that of --without, in its order", as_without},
        {"bridges, cables alike, nodes with several", bridges},
        {"budget and threads", budget},
        {"names with commas and brackets", odd_names},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("weakest", tests);
}
