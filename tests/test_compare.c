/* test_compare.c - job sets, prices of machines, the comparison of machines by both, and where labels of its figure go. */
#include "answer/answer.h"
#include "answer/compare.h"
#include "plots/labels.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- job_set.c ---- */

static enum fc_code read_set(const char *text, struct fc_arena *arena, struct fc_job_set *set, struct fc_status *st)
{
    static char path[64]; /* the set's file name is borrowed */
    CU_ASSERT_FATAL(fc_test_file(path, ".jobs", text, strlen(text)));
    fc_job_set_read(path, arena, set, st);
    remove(path);
    return st->code;
}

static void jobs_as_written(void)
{
    struct fc_arena arena = {0};
    struct fc_job_set set;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(
        read_set("# c\n\n2 trace a/b.fct # old\n0.5 pattern alltoall:bytes=4KiB all\n1 graph /g.mtx\n", &arena, &set,
                 &st),
        FC_OK);
    CU_ASSERT_EQUAL_FATAL(set.n, 3);
    CU_ASSERT(set.jobs[0].kind == FC_SET_TRACE && set.jobs[0].weight == 2 && set.jobs[0].line == 3);
    CU_ASSERT(strstr(set.jobs[0].what, "/a/b.fct") != NULL);
    CU_ASSERT_STRING_EQUAL(set.jobs[0].name, "b.fct");
    CU_ASSERT_STRING_EQUAL(set.jobs[1].name, "all");
    CU_ASSERT_STRING_EQUAL(set.jobs[1].what, "alltoall:bytes=4KiB");
    CU_ASSERT_STRING_EQUAL(set.jobs[2].what, "/g.mtx");
    fc_arena_free(&arena);
}

static void sets_refused(void)
{
    static const struct {
        const char *text, *message;
        long line;
    } wrong[] = {
        {"", "no job", 0},
        {"# only this\n", "no job", 0},
        {"1 trace\n", "a job has 2 words", 1},
        {"1 trace a b c\n", "a job has 5 words", 1},
        {"\nx trace a\n", "weight", 2},
        {"0 trace a\n", "weight: 0 is not above 0", 1},
        {"-1 trace a\n", "weight: -1 is not above 0", 1},
        {"1e16 trace a\n", "weight: 1e16 is above 1e+15", 1},
        {"1 job a\n", "'job' is no kind of job", 1},
        {"1 traces a\n", "'traces' is no kind of job", 1},
    };
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct fc_arena arena = {0};
        struct fc_job_set set;
        struct fc_status st = {0};
        CU_ASSERT_EQUAL(read_set(wrong[i].text, &arena, &set, &st), FC_INPUT);
        CU_ASSERT(strstr(st.message, wrong[i].message) != NULL && st.line == wrong[i].line && *st.file);
        fc_arena_free(&arena);
    }
}

/* ---- machine_cost.c ---- */

#define TORUS "name: t\nnetwork: {family: torus, dims: [4, 3]}\nlinks: {torus: {bandwidth: 1 GB/s}%s}\n%s"

/* 12 routers and nodes, 24 cables of two dimensions, 12 to the nodes. */
static void prices(void)
{
    static const struct {
        const char *injection, *cost;
        double total;
    } cases[] = {
        {"", "", NAN},
        {"", "cost: {currency: USD}\n", 0},
        {"", "cost: {switch: 100, node: 7}\n", 12 * 107},
        {"", "cost: {cable: 5, port: 3}\n", 24 * 5 + 48 * 3},
        {", injection: {bandwidth: 1 GB/s}", "cost: {cable: 5, port: 3}\n", 36 * 5 + 60 * 3},
        {", injection: {bandwidth: 1 GB/s}", "cost: {cable: 5, cables: {injection: 0}}\n", 24 * 5},
        {", injection: {bandwidth: 1 GB/s}", "cost: {cables: {torus: 2.5}, cable: 1}\n", 24 * 2.5 + 12},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_network_cost cost;
        char text[512];
        snprintf(text, sizeof text, TORUS, cases[i].injection, cases[i].cost);
        if (!fc_test_network(text, &machine, &net)) continue;
        fc_network_cost(&net, &(struct fc_floor_plan){0}, &cost);
        CU_ASSERT(isnan(cases[i].total) ? isnan(cost.total) : fc_near(cost.total, cases[i].total, 1e-12));
        CU_ASSERT(cost.switches == 12 && cost.nodes == 12);
        fc_test_close(&machine, &net);
    }
}

static void prices_refused(void)
{
    static const char *const wrong[][2] = {
        {"cost: 5\n", "cost: is not a mapping"},
        {"cost: {swich: 5}\n", "unknown key 'swich'"},
        {"cost: {switch: -5}\n", "cost.switch"},
        {"cost: {switch: [1, 2]}\n", "cost.switch: expected one value"},
        {"cost: {switch: 5 B}\n", "cost.switch"},
        {"cost: {cables: 5}\n", "cost.cables: is not a mapping"},
        {"cost: {cables: {d: 5}}\n", "no link class 'd' (it has: torus, injection)"},
        {"cost: {cables: {torus: {a: 1}}}\n", "cost.cables.torus: expected a number"},
        {"cost: {cables: {torus: x}}\n", "cost.cables.torus"},
    };
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct fc_machine machine;
        struct fc_status st = {0};
        char text[512];
        snprintf(text, sizeof text, TORUS, "", wrong[i][0]);
        CU_ASSERT_EQUAL(fc_test_machine(text, &machine, &st), FC_INPUT);
        CU_ASSERT(strstr(st.message, wrong[i][1]) != NULL && st.line == 4);
        if (!strstr(st.message, wrong[i][1])) printf("\n    %s\n", st.message);
    }
}

/* ---- compare.c ---- */

static struct fc_question plain(void)
{
    return (struct fc_question){.seed = 1, .threads = 1};
}

/* A line of two nodes and links three times as fast: times are those of predictions, means and front by hand. */
static void as_predicted(void)
{
    static const char *const names[] = {"slow", "fast", "dear"};
    static const char *const rates[] = {"1 GB/s", "3 GB/s", "3 GB/s"};
    static const int cable[] = {1, 2, 4};
    char path[3][64], set_path[64];
    const char *machines[3];
    struct fc_arena arena = {0};
    struct fc_job_set set;
    struct fc_comparison c;
    struct fc_status st = {0};
    static const char text[] = "1 pattern alltoall:bytes=1MB\n3 pattern alltoall:bytes=4MB\n";
    for (int i = 0; i < 3; i++) {
        char machine[400];
        int n = snprintf(
            machine, sizeof machine,
            "name: %s\nnetwork: {family: mesh, dims: [2]}\nlinks: {mesh: {bandwidth: %s}}\ncost: {cable: %d}\n",
            names[i], rates[i], cable[i]);
        CU_ASSERT_FATAL(fc_test_file(path[i], ".yaml", machine, (size_t)n));
        machines[i] = path[i];
    }
    CU_ASSERT_FATAL(fc_test_file(set_path, ".jobs", text, sizeof text - 1));
    CU_ASSERT_EQUAL_FATAL(fc_job_set_read(set_path, &arena, &set, &st), FC_OK);
    struct fc_question q = plain();
    CU_ASSERT_EQUAL_FATAL(fc_compare(&q, &set, machines, 3, FC_TIERS_THEORY, &c, &st), FC_OK);
    for (int i = 0; i < 3; i++) {
        double t[2];
        for (int j = 0; j < 2; j++) {
            struct fc_question one = plain();
            struct fc_answer answer;
            one.machine = machines[i];
            one.pattern = set.jobs[j].what;
            one.uncalibrated = true;
            CU_ASSERT_EQUAL_FATAL(fc_answer_make(&one, &answer, &st), FC_OK);
            t[j] = answer.p.time_s;
            fc_answer_free(&answer);
            CU_ASSERT(c.machines[i].cells[j].time_s == t[j] && c.machines[i].cells[j].n_tasks == 2);
        }
        CU_ASSERT(fc_near(c.machines[i].mean_s, pow(t[0], 0.25) * pow(t[1], 0.75), 1e-12));
        CU_ASSERT(fc_near(c.machines[i].relative, c.machines[i].mean_s / c.machines[0].mean_s, 1e-12));
        CU_ASSERT_EQUAL(c.machines[i].tier, FC_TIER_THEORY);
    }
    CU_ASSERT(c.machines[0].mean_s > 2 * c.machines[1].mean_s);
    CU_ASSERT(c.machines[0].on_front && c.machines[1].on_front && !c.machines[2].on_front);
    CU_ASSERT(!c.uneven_tasks && !c.mixed_tiers && !c.tiers_lowered && c.one_currency);
    fc_comparison_free(&c);
    for (int i = 0; i < 3; i++) remove(path[i]);
    remove(set_path);
    fc_arena_free(&arena);
}

/* A machine without a cost is on no front, and takes none from those that have one; two currencies do. */
static void front_in_one_currency(void)
{
    static const char *const cost[] = {"", "cost: {currency: USD, switch: 5}\n", "cost: {currency: USD, switch: 9}\n",
                                       "cost: {currency: EUR, switch: 9}\n"};
    char path[4][64];
    const char *machines[4];
    struct fc_set_job job = {FC_SET_PATTERN, "alltoall:bytes=1MB", "a", 1, 1};
    struct fc_job_set set = {"x.jobs", &job, 1};
    for (int i = 0; i < 4; i++) {
        char machine[400];
        int n =
            snprintf(machine, sizeof machine,
                     "name: m\nnetwork: {family: mesh, dims: [2]}\nlinks: {mesh: {bandwidth: 1 GB/s}}\n%s", cost[i]);
        CU_ASSERT_FATAL(fc_test_file(path[i], ".yaml", machine, (size_t)n));
        machines[i] = path[i];
    }
    for (size_t n = 3; n <= 4; n++) {
        struct fc_question q = plain();
        struct fc_comparison c;
        struct fc_status st = {0};
        CU_ASSERT_EQUAL_FATAL(fc_compare(&q, &set, machines, n, FC_TIERS_THEORY, &c, &st), FC_OK);
        CU_ASSERT_EQUAL(c.one_currency, n == 3);
        CU_ASSERT(!c.machines[0].on_front && c.machines[1].on_front == (n == 3) && !c.machines[2].on_front);
        if (n == 3) CU_ASSERT_STRING_EQUAL(c.currency, "USD");
        fc_comparison_free(&c);
    }
    for (int i = 0; i < 4; i++) remove(path[i]);
}

/* bgl-64 has a calibration, a graph has none: by default both go without, or each by what it has. */
static void one_tier(void)
{
    static const char edges[] =
        "router 0 router 1\nrouter 1 router 2\nrouter 0 node 0\nrouter 0 node 1\nrouter 1 node 2\nrouter 2 node 3\n";
    char graph[400], path[64], edge_path[64];
    struct fc_set_job job = {FC_SET_PATTERN, "stencil2d:grid=2x2,bytes=64KiB", "halo", 1, 1};
    struct fc_job_set set = {"x.jobs", &job, 1};
    CU_ASSERT_FATAL(fc_test_file(edge_path, ".txt", edges, sizeof edges - 1));
    int n =
        snprintf(graph, sizeof graph,
                 "name: g\nnetwork: {family: graph, file: %s, format: edge-list}\nlinks: {link: {bandwidth: 1 GB/s}}\n",
                 edge_path);
    CU_ASSERT_FATAL(fc_test_file(path, ".yaml", graph, (size_t)n));
    const char *machines[] = {"bgl-64", path};
    for (int tiers = 0; tiers < 3; tiers++) {
        struct fc_question q = plain();
        struct fc_comparison c;
        struct fc_status st = {0};
        fc_compare(&q, &set, machines, 2, (enum fc_tiers)tiers, &c, &st);
        CU_ASSERT_EQUAL(st.code, FC_OK);
        if (st.code) printf("\n    %s\n", st.message);
        if (st.code) break;
        CU_ASSERT_EQUAL(c.machines[0].tier, tiers == FC_TIERS_OWN ? FC_TIER_CALIBRATED : FC_TIER_THEORY);
        CU_ASSERT_EQUAL(c.machines[1].tier, FC_TIER_THEORY);
        CU_ASSERT(c.mixed_tiers == (tiers == FC_TIERS_OWN) && c.tiers_lowered == (tiers == FC_TIERS_SAME));
        CU_ASSERT(isnan(c.machines[0].error_percent) == (tiers != FC_TIERS_OWN));
        CU_ASSERT(!c.machines[0].on_front && isnan(c.machines[0].cost.total));
        fc_comparison_free(&c);
    }
    remove(path);
    remove(edge_path);
}

/* A file that cannot be read is no machine's fault: its own name, and the job's line. */
static void files_refused(void)
{
    static const char *const machines[] = {"bgl-64"};
    struct fc_set_job job = {FC_SET_TRACE, "/nosuch.fct", "n", 1, 7};
    struct fc_job_set set = {"x.jobs", &job, 1};
    struct fc_question q = plain();
    struct fc_comparison c;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_compare(&q, &set, machines, 1, FC_TIERS_SAME, &c, &st), FC_INPUT);
    CU_ASSERT(!strcmp(st.file, "/nosuch.fct") && strstr(st.message, " (job of x.jobs:7)"));
    fc_comparison_free(&c);
}

/* The job's line, and the machine. */
static void cells_refused(void)
{
    struct fc_set_job jobs[] = {{FC_SET_PATTERN, "nonsense", "n", 1, 7},
                                {FC_SET_PATTERN, "uniform", "u", 1, 8},
                                {FC_SET_PATTERN, "stencil2d:grid=99x99,bytes=1", "s", 1, 9},
                                {FC_SET_PATTERN, "alltoall:bytes=0", "z", 1, 10}};
    static const char *const machines[] = {"bgl-64"};
    for (size_t i = 0; i < FC_COUNT(jobs); i++) {
        struct fc_job_set set = {"x.jobs", &jobs[i], 1};
        struct fc_question q = plain();
        struct fc_comparison c;
        struct fc_status st = {0};
        fc_compare(&q, &set, machines, 1, FC_TIERS_SAME, &c, &st);
        if (i == 3 && !st.code) { /* an empty message still takes its overhead */
            fc_comparison_free(&c);
            continue;
        }
        CU_ASSERT(st.code == FC_INPUT || st.code == FC_NO);
        CU_ASSERT(!strcmp(st.file, "x.jobs") && st.line == jobs[i].line && strstr(st.message, "(machine bgl-64)"));
        fc_comparison_free(&c);
    }
}

/* ---- labels.c ---- */

static bool overlap(const struct fc_label *a, const struct fc_label *b, double letter, double line)
{
    double wa = (double)a->letters * letter, wb = (double)b->letters * letter;
    double la = a->at_x - (a->align + 1) * wa / 2, lb = b->at_x - (b->align + 1) * wb / 2;
    return la < lb + wb - 1e-9 && lb < la + wa - 1e-9 && fabs(a->at_y - b->at_y) < line - 1e-9;
}

/* Where there is room, no label lies on another or out of the frame, whatever the points. */
static void labels_apart(void)
{
    enum { N = 10 };
    struct fc_label l[N];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (int i = 0; i < N; i++)
            l[i] = (struct fc_label){
                .x = fc_random_real(seed, 1, (uint64_t)i), .y = fc_random_real(seed, 2, (uint64_t)i), .letters = 4};
        fc_labels_place(l, N, 0.01, 0.03, 0.01, 0.01);
        for (int i = 0; i < N; i++) {
            double width = 4 * 0.01, left = l[i].at_x - (l[i].align + 1) * width / 2;
            CU_ASSERT(left > -1e-9 && left + width < 1 + 1e-9);
            for (int k = 0; k < i; k++) CU_ASSERT(!overlap(&l[i], &l[k], 0.01, 0.03));
        }
    }
    CU_ASSERT_STRING_EQUAL(fc_label_side(&(struct fc_label){.align = -1}), "left");
}

/* Two points one above the other at the left edge, as two cheap machines have them, and two far away: every label begins nearer to
 * its own point than to another, in the frame, and none lies on another. */
static void labels_by_their_points(void)
{
    struct fc_label l[] = {{.x = 0.01, .y = 0.86, .letters = 8},
                           {.x = 0.016, .y = 0.90, .letters = 6},
                           {.x = 0.98, .y = 0.5, .letters = 10},
                           {.x = 0.5, .y = 0.02, .letters = 4}};
    enum { LABELS = sizeof l / sizeof *l };
    const double letter = 0.026, line = 0.075;
    fc_labels_place(l, LABELS, letter, line, 0.025, 0.03);
    for (size_t i = 0; i < LABELS; i++) {
        double width = letter * (double)l[i].letters, left = l[i].at_x - (l[i].align + 1) * width / 2;
        double distance[LABELS];
        for (size_t k = 0; k < LABELS; k++) {
            double x = fmax(0, fmax(left - l[k].x, l[k].x - left - width)),
                   y = fmax(0, fabs(l[k].y - l[i].at_y) - line / 2);
            distance[k] = hypot(x / 0.025, y / 0.03);
            double other_width = letter * (double)l[k].letters, other = l[k].at_x - (l[k].align + 1) * other_width / 2;
            if (k != i)
                CU_ASSERT(other >= left + width || left >= other + other_width ||
                          fabs(l[k].at_y - l[i].at_y) >= line - 1e-9);
        }
        CU_ASSERT(left >= 0 && left + width <= 1 && l[i].at_y >= line / 2 && l[i].at_y <= 1 - line / 2);
        for (size_t k = 0; k < LABELS; k++) CU_ASSERT(distance[i] <= distance[k]);
    }
}

int suite_compare(void)
{
    static const CU_TestInfo tests[] = {
        {"job sets as written", jobs_as_written},
        {"job sets refused, with the line", sets_refused},
        {"prices by hand", prices},
        {"prices refused", prices_refused},
        {"times, means, front", as_predicted},
        {"a front in one currency", front_in_one_currency},
        {"one tier for all machines", one_tier},
        {"a job that cannot be predicted", cells_refused},
        {"a job's file that is not there", files_refused},
        {"labels lie on no label", labels_apart},
        {"labels are nearest to their own points", labels_by_their_points},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("compare", tests);
}
