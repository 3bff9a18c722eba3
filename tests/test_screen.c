/* test_screen.c - many lists of nodes by what the network costs a job there: closed forms, order, what is refused. */
#include "answer/answer.h"
#include "answer/screen.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line of eight routers, a node each; links of 1 GB/s and 100 ns, routers of 50 ns, node wires of 10 ns. */
#define LINE                                                                                                           \
    "name: line\nnetwork: {family: mesh, dims: [8]}\nlinks: {mesh: {bandwidth: 1 GB/s, latency: 100 ns}, injection: "  \
    "{bandwidth: 4 GB/s, latency: 10 ns}}\nrouter: {delay: 50 ns}\nnode: {cores: 2}\n"

static void open_line(char *path, struct fc_session *session, struct fc_question *q)
{
    struct fc_status st = {0};
    CU_ASSERT_FATAL(fc_test_file(path, ".yaml", LINE, sizeof LINE - 1));
    *q = (struct fc_question){.machine = path, .seed = 1, .threads = 2};
    CU_ASSERT_EQUAL_FATAL(fc_session_open(q, path, session, &st), FC_OK);
}

/* Tasks 0 and 1 on one node, 2 and 3 on another that is h hops away: two messages of 1 MB each way share the links. */
static void closed_form(void)
{
    static const uint32_t src[] = {0, 1, 0, 3}, dst[] = {2, 3, 1, 1};
    static const double bytes[] = {1e6, 1e6, 5e6, 1e6};
    static const char *const nodes[] = {"0-1", "0,7", "2,5"};
    static const int hops[] = {1, 7, 3};
    struct fc_screened lists[3];
    struct fc_session session;
    struct fc_question q;
    struct fc_demand demand;
    struct fc_status st = {0};
    char path[64];
    open_line(path, &session, &q);
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_pairs("x", 4, 4, src, dst, bytes, &demand, &st), FC_OK);
    for (int i = 0; i < 3; i++) lists[i] = (struct fc_screened){nodes[i], i + 1, 0, 0};
    CU_ASSERT_EQUAL_FATAL(fc_screen_nodes(&q, &session, &demand, lists, 3, &st), FC_OK);
    for (int i = 0; i < 3; i++) {
        double latency_s = 2 * 10e-9 + (hops[i] + 1) * 50e-9 + hops[i] * 100e-9;
        CU_ASSERT(fc_near(lists[i].score_s, 2e6 / 1e9 + latency_s, 1e-12));
    }
    fc_demand_free(&demand);
    fc_session_close(&session);
    remove(path);
}

/* The order is that of the predictions, for any number of threads. */
static void as_predicted(void)
{
    enum { LISTS = 40, PREDICTED = 9 };
    static char text[LISTS][80];
    struct fc_screened lists[LISTS], again[LISTS];
    struct fc_session session;
    struct fc_demand demand;
    struct fc_status st = {0};
    const char *small = "network.dims=[4,4,2]";
    struct fc_question q = {.machine = "bgl-64",
                            .settings = &small,
                            .n_settings = 1,
                            .routing = "dimension-order",
                            .pattern = "stencil2d:grid=4x4,bytes=64KiB",
                            .seed = 1,
                            .threads = 1};
    int agree = 0, pairs = 0;
    double time_s[LISTS];
    q.ranks_per_node = 1;
    CU_ASSERT_EQUAL_FATAL(fc_session_open(&q, q.machine, &session, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_job_demand(&q, &session, &demand, &st), FC_OK);
    for (int i = 0; i < LISTS; i++) {
        uint32_t node[32], n = 0;
        fc_random_permutation(5, (uint64_t)i, node, 32);
        for (int k = 0; k < 16; k++)
            n += (uint32_t)snprintf(text[i] + n, sizeof text[i] - n, "%s%u", k ? "," : "",
                                    i % 2 ? node[k] : (node[0] + (uint32_t)k) % 32);
        again[i] = lists[i] = (struct fc_screened){text[i], i + 1, 0, 0};
    }
    CU_ASSERT_EQUAL_FATAL(fc_screen_nodes(&q, &session, &demand, lists, LISTS, &st), FC_OK);
    q.threads = 4;
    q.time_only = true;
    CU_ASSERT_EQUAL_FATAL(fc_screen_nodes(&q, &session, &demand, again, LISTS, &st), FC_OK);
    for (int i = 0; i < LISTS; i++) CU_ASSERT(lists[i].score_s == again[i].score_s);
    for (int i = 0; i < PREDICTED; i++) {
        struct fc_answer answer;
        struct fc_session view;
        q.nodes = text[i];
        CU_ASSERT_EQUAL_FATAL(fc_answer_view(&q, &session, &view, &answer, &st), FC_OK);
        time_s[i] = answer.p.time_s;
        fc_answer_free(&answer);
        fc_answer_view_close(&session, &view);
    }
    for (int i = 0; i < PREDICTED; i++)
        for (int k = 0; k < i; k++) {
            if (fabs(time_s[i] / time_s[k] - 1) < 0.05) continue;
            pairs++;
            agree += (time_s[i] < time_s[k]) == (lists[i].score_s < lists[k].score_s);
        }
    CU_ASSERT(pairs > 12 && agree >= 0.9 * pairs); /* of bgl-64's adaptive routing two thirds */
    fc_demand_free(&demand);
    fc_session_close(&session);
}

/* Node wires without a limit: far more pairs than links, each wire counted once, and the time is that of the others, most of it in the
 * middle of the line. */
static void without_limit(void)
{
    static const char yaml[] =
        "name: line\nnetwork: {family: mesh, dims: [64]}\nlinks: {mesh: {bandwidth: 1 GB/s, latency: 100 ns}}\nnode: {cores: 1}\n";
    enum { NODES = 64, MESSAGES = NODES * NODES };
    static uint32_t src[MESSAGES], dst[MESSAGES];
    static double bytes[MESSAGES];
    struct fc_screened list = {"0-63", 1, 0, 0};
    struct fc_session session;
    struct fc_demand demand;
    struct fc_status st = {0};
    char path[64];
    CU_ASSERT_FATAL(fc_test_file(path, ".yaml", yaml, sizeof yaml - 1));
    struct fc_question q = {.machine = path, .seed = 1, .threads = 1};
    for (uint32_t i = 0; i < MESSAGES; i++) src[i] = i / NODES, dst[i] = i % NODES, bytes[i] = 1e6;
    CU_ASSERT_EQUAL_FATAL(fc_session_open(&q, path, &session, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_pairs("x", NODES, MESSAGES, src, dst, bytes, &demand, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_screen_nodes(&q, &session, &demand, &list, 1, &st), FC_OK);
    CU_ASSERT(fc_near(list.score_s, MESSAGES / 4 * 1e6 / 1e9 + NODES * (NODES - 1) / 2 * 100e-9, 1e-9));
    fc_demand_free(&demand);
    fc_session_close(&session);
    remove(path);
}

static void refused(void)
{
    struct fc_screened lists[3] = {{"0-3", 1, 0, 0}, {"0-1", 2, 0, 0}, {"0-9", 3, 0, 0}};
    static const uint32_t src[] = {0}, dst[] = {5};
    static const double bytes[] = {1};
    struct fc_session session;
    struct fc_question q;
    struct fc_demand demand;
    struct fc_status st = {0};
    char path[64];
    open_line(path, &session, &q);
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_pairs("x", 6, 1, src, dst, bytes, &demand, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_screen_nodes(&q, &session, &demand, lists, 3, &st), FC_INPUT); /* the first that is wrong */
    CU_ASSERT_STRING_EQUAL(st.message, "line 2: 2 nodes of 2 tasks (expected room for 6) (with --nodes 0-1)");
    fc_demand_free(&demand);
    fc_session_close(&session);
    remove(path);
}

int suite_screen(void)
{
    static const CU_TestInfo tests[] = {
        {"closed form on a line", closed_form},
        {"in the order of the predictions", as_predicted},
        {"wires without a limit", without_limit},
        {"a list that is too short", refused},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("screen", tests);
}
