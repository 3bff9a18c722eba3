/* test_replay_error.c - the stated error of replays: the quantile against its definition, hull and reasons for none;
 * jobs replayed on a square of routers, alike for any number of threads, written and read again; held-out jobs
 * covered; refusals. */
#include "solvers/calibration/calibration_jobs.h"
#include "solvers/calibration/calibration_replays.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SQUARE                                                                                                         \
    "name: a\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\n"                                                  \
    "links: {torus: {bandwidth: 8 GB/s, latency: 1 cycles}, injection: {bandwidth: 16 GB/s}}\n"                        \
    "router: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, vcs: 2, buffer: 128 B, "                          \
    "escape: dateline, routing: dimension-order}\n"                                                                    \
    "packet: {min: 8 B, max: 64 B, header: 8 B}\nnode: {cores: 2}\n"                                                   \
    "software: {send: 50 ns, recv: 50 ns, gap: 0 ns, eager: 1 KiB, compute_scale: 1.0}\n"

/* ---- the quantile ---- */

/* Of a calibration made before interference was measured. */
static struct fc_replay_point old_at(double share, double waiting, double packets, double hops)
{
    return (struct fc_replay_point){share, waiting, packets, hops, NAN};
}

enum { CASES = 60 };
static struct fc_replay_case made[CASES];

/* Case i of n is off by (i + 1) % of its (share + 0.05), half of them too slow. */
static struct fc_replays make_cases(uint32_t n, double share, double packets)
{
    for (uint32_t i = 0; i < n; i++) {
        made[i] = (struct fc_replay_case){.network = i % 2 ? "a" : "b", .job = "j", .mapping = "order", .nodes = 16};
        for (int m = 0; m < FC_MEASURED; m++) {
            made[i].at[m] = old_at(share, 0, packets, 2);
            made[i].ratio[m] = 1 + (i % 2 ? -0.01 : 0.01) * (i + 1) * (share + 0.05);
        }
    }
    return (struct fc_replays){.n_cases = n, .cases = made};
}

static double error_at(const struct fc_replays *r, struct fc_replay_point point, bool *extrapolated)
{
    struct fc_replay_answer a;
    fc_replay_error(r, FC_MEASURED_CONTENTION, &point, NULL, FC_NONE, &a);
    CU_ASSERT(isnan(a.error_percent) == (a.why[0] && !a.extrapolated));
    if (extrapolated) *extrapolated = a.extrapolated;
    return a.error_percent;
}

static void test_quantile(void)
{
    struct fc_replays r = make_cases(19, 0.5, 1);
    /* 0.9 x 20 = 18: the second greatest of 19 */
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, old_at(0.5, 0, 1, 2), NULL), 18 * 0.55, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, old_at(0.1, 0, 1, 2), NULL), 18 * 0.15, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, old_at(0, 0, 1, 2), NULL), 1, 1e-9); /* at least 1 % */
    r = make_cases(9, 0.5, 1);
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, old_at(0.5, 0, 1, 2), NULL), 9 * 0.55, 1e-9);
    r = make_cases(8, 0.5, 1); /* ninety percent of them is more than there are */
    CU_ASSERT(isnan(error_at(&r, old_at(0.5, 0, 1, 2), NULL)));
    r = make_cases(19, 0.5, 1);
    r.cases[18].ratio[FC_MEASURED_CONTENTION] = NAN; /* this model could not: 0.9 x 19 = 17.1 of 18 */
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, old_at(0.5, 0, 1, 2), NULL), 17.1 * 0.55, 1e-9);
}

/* Of two clouds of cases the nearer tells. */
static void test_alike(void)
{
    struct fc_replays r = make_cases(CASES, 0.9, 1);
    for (uint32_t i = 0; i < CASES / 2; i++) {
        r.cases[i].at[FC_MEASURED_CONTENTION].share = 0.1;
        r.cases[i].ratio[FC_MEASURED_CONTENTION] = 1.03;
    }
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, old_at(0.1, 0, 1, 2), NULL), 3, 1e-9);
    CU_ASSERT(error_at(&r, old_at(0.9, 0, 1, 2), NULL) > 40);
}

static void test_hull(void)
{
    struct fc_replays r = make_cases(19, 0.5, 4);
    bool outside;
    double inside = error_at(&r, old_at(0.5, 0, 4, 2), &outside);
    CU_ASSERT(!outside);
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, old_at(0.5, 0, 6, 2), &outside), inside, 1e-9);
    CU_ASSERT(!outside); /* 6^-1/2 is within 0.1 of 4^-1/2 */
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, old_at(0.5, 0, 40, 2), &outside), 1.2 * inside, 1e-9);
    CU_ASSERT(outside);
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, old_at(0.5, 0, 4, 3), &outside), 1.2 * inside, 1e-9);
    CU_ASSERT(outside);
    r.cases[0].at[FC_MEASURED_CONTENTION].hops = 1; /* a step from 1 to 2 reaches 4 */
    error_at(&r, old_at(0.5, 0, 4, 3), &outside);
    CU_ASSERT(!outside);
}

/* Relatives: of nine own jobs that are off by 1 to 9 % of (share + 0.05), and of ten of another machine,
 * eight tenths of the way from the last but one to the last: 0.94 x 20; of two relatives
 * of one kind of router, each job half; alone they say less with distance. */
static void test_relatives(void)
{
    static struct fc_replay_case other[10];
    struct fc_replays own = make_cases(9, 0.5, 1),
                      of[2] = {{.n_cases = 10, .cases = other}, {.n_cases = 10, .cases = other}};
    struct fc_replays_relative relative[2] = {{&of[0], 0, 1}, {&of[1], 0, 0.5}};
    struct fc_replay_point at = old_at(0.5, 0, 1, 2);
    bool outside;
    for (int i = 0; i < 10; i++) {
        other[i] = made[i];
        other[i].network = "c";
        for (int m = 0; m < FC_MEASURED; m++) {
            other[i].at[m] = old_at(0.5, 0, 9, 2);
            other[i].ratio[m] = 1 + 0.01 * (10 + i) * 0.55; /* 10 to 19 */
        }
    }
    own.n_relatives = 1;
    own.relatives = relative;
    CU_ASSERT_DOUBLE_EQUAL(error_at(&own, at, &outside), 18.8 * 0.55, 1e-9);
    CU_ASSERT(!outside);
    error_at(&own, old_at(0.5, 0, 9, 2), &outside); /* only the relative ran messages of nine packets */
    CU_ASSERT(!outside);
    error_at(&own, old_at(0.5, 0, 90, 2), &outside);
    CU_ASSERT(outside);
    struct fc_replays none = {.n_relatives = 2, .relatives = relative};
    at.packets = 9;
    relative[0].weight = 0.5; /* twenty halves: k = 10, 0.9 x 11 is of the last */
    CU_ASSERT_DOUBLE_EQUAL(error_at(&none, at, &outside), 19 * 0.55, 1e-9);
    relative[0].distance = 4;
    relative[1].distance = 9;
    double near = log1p(0.19 * 0.55), far = 0.03 * 4 * 0.55;
    CU_ASSERT_DOUBLE_EQUAL(error_at(&none, at, &outside), 100 * expm1(sqrt(near * near + far * far)), 1e-9);
    of[0] = make_cases(60, 0.5, 9); /* all count where it is known whom messages meet: 0.9 x 61 = 54.9 */
    for (int i = 0; i < 60; i++) made[i].at[FC_MEASURED_CONTENTION].interference = 0;
    at.interference = 0;
    relative[0] = (struct fc_replays_relative){&of[0], 0, 1};
    none.n_relatives = 1;
    CU_ASSERT_DOUBLE_EQUAL(error_at(&none, at, &outside), 54.9 * 0.55, 1e-9);
}

/* x of a job of which it is known whom its messages meet. */
static double uncertain(double w, double b, double p)
{
    return 0.01 + w * b + 0.5 * w / p;
}

static void test_interference(void)
{
    static struct fc_replay_case other[2];
    struct fc_replays r = make_cases(19, 0.5, 1), of = {.n_cases = 1, .cases = other},
                      knows = {.n_cases = 1, .cases = other + 1};
    struct fc_replays_relative relatives[] = {{&of, 0, 0.001}, {&knows, 0, 0.001}};
    struct fc_replay_point at = {.share = 0.5, .packets = 1, .hops = 2}; /* nobody waits; 0.85 x 20 = 17 */
    for (uint32_t i = 0; i < 19; i++)
        for (int m = 0; m < FC_MEASURED; m++) {
            r.cases[i].at[m].interference = 0.25;
            r.cases[i].at[m].waiting = 0.4;
            r.cases[i].ratio[m] = 1 + 0.1 * (i + 1) * uncertain(0.4, 0.25, 1);
        }
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, at, NULL), 170 * 0.01, 1e-9);
    at.interference = 0.9; /* nor does that make anybody wait */
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, at, NULL), 170 * 0.01, 1e-9);
    at.interference = 0.5;
    at.waiting = 0.3;
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, at, NULL), 170 * uncertain(0.3, 0.5, 1), 1e-9);
    at.interference = 0;
    at.waiting = 0.4;
    at.packets = 4;
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, at, NULL), 1.2 * 170 * uncertain(0.4, 0, 4),
                           1e-9); /* longer messages than any */
    at.packets = 1;
    at.interference = NAN; /* a replay of which it is not known, and a relative made before: the share alone */
    double old = error_at(&r, at, NULL);
    CU_ASSERT_DOUBLE_EQUAL(old, 180 * uncertain(0.4, 0.25, 1), 1e-9);
    at.share = 0.05;
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, at, NULL), old * 0.1 / 0.55, 1e-9);
    at.interference = 0.25;
    other[0] = other[1] = r.cases[0];
    for (int m = 0; m < FC_MEASURED; m++) other[0].at[m].interference = NAN;
    r.n_relatives = 1;
    r.relatives = relatives; /* 0.94 x 20 of the nearest 19, not 0.9 x 20 */
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, at, NULL), old * 0.1 / 0.55 * 18.8 / 18, 1e-9);
    r.n_relatives = 2; /* one of two knows: the other is passed over, however far it was off */
    double known = error_at(&r, at, NULL);
    CU_ASSERT(known > 2 * old * 0.1 / 0.55);
    for (int m = 0; m < FC_MEASURED; m++) other[0].ratio[m] = 9;
    CU_ASSERT_EQUAL(error_at(&r, at, NULL), known);
    r.n_relatives = 1;
    for (int m = 0; m < FC_MEASURED; m++) other[0].ratio[m] = NAN; /* it says nothing under this model */
    CU_ASSERT(error_at(&r, at, NULL) > 2 * old * 0.1 / 0.55);
}

/* All jobs count, each by how uncertain it is: 0.85 x 61 is 51.85: most of the way from the 51st to the 52nd of 60. */
static void test_all_count(void)
{
    struct fc_replays r = make_cases(CASES, 0.5, 1);
    for (uint32_t i = 0; i < CASES; i++)
        for (int m = 0; m < FC_MEASURED; m++) {
            bool waits = i % 2;
            r.cases[i].at[m].interference = 0.9;
            r.cases[i].at[m].waiting = waits ? 0.5 : 0;
            r.cases[i].ratio[m] = 1 + 0.01 * (i + 1) * uncertain(waits ? 0.5 : 0, 0.9, 1);
        }
    struct fc_replay_point at = {.share = 0.5, .packets = 1, .hops = 2, .interference = 0.9};
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, at, NULL), fmax(1, 51.85 * 0.01), 1e-9);
    at.waiting = 0.5;
    CU_ASSERT_DOUBLE_EQUAL(error_at(&r, at, NULL), 51.85 * uncertain(0.5, 0.9, 1), 1e-9);
}

/* Errors of 1, 2, ... 60 % that everybody shares: leaving a network out covers what a quantile covers. */
static void test_cover(void)
{
    struct fc_replays r = make_cases(CASES, 0.5, 1);
    fc_replays_cover(&r);
    for (int m = 0; m < FC_MEASURED; m++) CU_ASSERT(r.covered_percent[m] > 80 && r.covered_percent[m] <= 100);
    for (int m = 0; m < FC_MEASURED; m++) CU_ASSERT(r.unknown[m] >= 1 && r.unknown[m] < 1.5);
    for (uint32_t i = 0; i < CASES; i += 2) r.cases[i].ratio[FC_MEASURED_QUEUEING] = 1; /* network b: exact, a: not */
    fc_replays_cover(&r);
    CU_ASSERT(r.unknown[FC_MEASURED_QUEUEING] > 20);
    for (uint32_t i = 0; i < CASES; i++) r.cases[i].network = "b";
    fc_replays_cover(&r);
    CU_ASSERT(isnan(r.unknown[0]) && r.covered_percent[0] > 80);
    r.n_cases = 5;
    fc_replays_cover(&r);
    CU_ASSERT(isnan(r.covered_percent[0]) && isnan(r.unknown[0]));
}

/* ---- what a replay tells ---- */

/* Interference of three rounds of messages of 4 kB between pairs of tasks, one a node of a square. */
static double interference_of(size_t n, const uint32_t *src, const uint32_t *dst)
{
    static const double bytes[] = {4e3, 4e3};
    static const uint32_t node[] = {0, 1, 5, 3};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_trace trace;
    struct fc_replay replay;
    struct fc_status st = {0};
    struct fc_replay_point point = {.interference = NAN};
    const struct fc_placement placement = {4, (uint32_t *)(uintptr_t)node};
    if (!fc_test_network(SQUARE, &machine, &net)) return NAN;
    struct fc_replay_settings how = {.network = FC_NET_CONTENTION, .software = machine.software};
    CU_ASSERT_FATAL(!fc_demand_of_pairs("pairs", 4, n, src, dst, bytes, &demand, &st));
    CU_ASSERT_FATAL(!fc_trace_generate(&demand, 3, 0, &trace, &st));
    CU_ASSERT_FATAL(!fc_replay_run(&net, &trace, &placement, &how, &replay, &st));
    fc_replay_locate(&net, &replay, &point);
    CU_ASSERT(point.share > 0.5 && point.interference <= point.share);
    fc_replay_free(&replay);
    fc_trace_free(&trace);
    fc_demand_free(&demand);
    fc_network_free(&net);
    fc_machine_free(&machine);
    return point.interference;
}

/* One pair meets nobody. Two that share a link have half of it each, for most of the time. */
static void test_locate(void)
{
    static const uint32_t src[] = {0, 1}, dst[] = {2, 2}, away[] = {1, 2};
    CU_ASSERT_EQUAL(interference_of(1, src, dst), 0);
    CU_ASSERT_EQUAL(interference_of(2, src, away), 0); /* nodes 0 -> 1 and 1 -> 5: no link in common */
    double both = interference_of(2, src, dst);
    CU_ASSERT(both > 0.3 && both <= 0.5);
}

/* ---- jobs on a square ---- */

static bool run(int threads, double work, struct fc_machine *machine, struct fc_calibration *c)
{
    struct fc_calibration_settings how = {.threads = threads, .seed = 5};
    struct fc_network net;
    struct fc_status st = {0};
    memset(c, 0, sizeof *c);
    if (!fc_test_network(SQUARE, machine, &net)) return false;
    fc_network_free(&net);
    if (!fc_calibration_replays_run(machine, work, &how, c, &st)) return true;
    CU_FAIL("run");
    printf("\n    %s\n", st.message);
    return false;
}

static bool same(const struct fc_replays *a, const struct fc_replays *b)
{
    bool equal = a->n_cases == b->n_cases && a->hops_run == b->hops_run && a->mixing == b->mixing &&
                 a->mixing_low == b->mixing_low && a->mixing_high == b->mixing_high;
    for (uint32_t i = 0; equal && i < a->n_cases; i++) {
        const struct fc_replay_case *x = &a->cases[i], *y = &b->cases[i];
        equal = !strcmp(x->network, y->network) && !strcmp(x->job, y->job) && !strcmp(x->mapping, y->mapping) &&
                x->kernel_s == y->kernel_s && !memcmp(x->at, y->at, sizeof x->at) &&
                !memcmp(x->ratio, y->ratio, sizeof x->ratio);
    }
    return equal;
}

/* A job that no calibration runs; its error against the kernel, and the one stated. */
static bool held_out(const struct fc_network *net, const struct fc_calibration *calibration, const char *pattern)
{
    struct fc_demand demand;
    struct fc_trace trace;
    struct fc_replay model, kernel;
    struct fc_status st = {0};
    struct fc_replay_settings how = {
        .network = FC_NET_CONTENTION, .software = net->machine->software, .calibration = calibration};
    CU_ASSERT_FATAL(!fc_demand_from_pattern(net, pattern, 3, &demand, &st));
    CU_ASSERT_FATAL(!fc_trace_generate(&demand, 3, 1e-7, &trace, &st));
    CU_ASSERT_FATAL(!fc_replay_run(net, &trace, NULL, &how, &model, &st));
    fc_replay_state_error(net, &calibration->replays, &how, false, &model);
    how.network = FC_NET_FLIT;
    CU_ASSERT_FATAL(!fc_replay_run(net, &trace, NULL, &how, &kernel, &st));
    CU_ASSERT(model.prediction.error_percent >= 1);
    bool covered = 100 * fabs(kernel.prediction.time_s / model.prediction.time_s - 1) <= model.prediction.error_percent;
    if (!covered)
        printf("\n    %s: %.1f %%, stated %.1f %%\n", pattern,
               100 * (kernel.prediction.time_s / model.prediction.time_s - 1), model.prediction.error_percent);
    fc_replay_free(&kernel);
    fc_replay_free(&model);
    fc_trace_free(&trace);
    fc_demand_free(&demand);
    return covered;
}

static void test_runs(void)
{
    struct fc_machine machine[2];
    struct fc_calibration c[2];
    if (!run(1, 4e5, &machine[0], &c[0])) return;
    if (run(2, 4e5, &machine[1], &c[1])) {
        CU_ASSERT(c[0].replays.n_cases >= 10 && c[0].replays.n_cases <= FC_MOST_REPLAYS);
        CU_ASSERT(c[0].replays.hops_run <= 4e5);
        CU_ASSERT(same(&c[0].replays, &c[1].replays));
        fc_calibration_free(&c[1]);
        fc_machine_free(&machine[1]);
    }
    fc_calibration_free(&c[0]);
    fc_machine_free(&machine[0]);
    if (!run(1, 1e3, &machine[0], &c[0])) return; /* no room for ten jobs */
    CU_ASSERT_EQUAL(c[0].replays.n_cases, 0);
    fc_calibration_free(&c[0]);
    fc_machine_free(&machine[0]);
}

/* What is stated covers nine of ten, within what ten draws may be off. */
static void test_held_out(void)
{
    static const char *const jobs[] = {"complement:bytes=300",
                                       "alltoall:bytes=40",
                                       "stencil2d:grid=8x4,bytes=600",
                                       "permutation:seed=9,bytes=1500",
                                       "transpose:bytes=5000",
                                       "neighbor:bytes=900",
                                       "bit-reverse:bytes=64",
                                       "stencil3d:grid=4x4x2,bytes=200",
                                       "stencil3d:grid=2x4x2,bytes=3000",
                                       "permutation:seed=11,bytes=100"};
    struct fc_machine machine;
    struct fc_calibration c;
    struct fc_network net;
    struct fc_status st = {0};
    int covered = 0;
    if (!run(2, 6e6, &machine, &c)) return;
    CU_ASSERT(c.replays.n_cases >= 30 && c.replays.covered_percent[FC_MEASURED_CONTENTION] >= 80);
    if (!fc_network_build(&machine, &net, &st)) {
        for (size_t i = 0; i < FC_COUNT(jobs); i++) covered += held_out(&net, &c, jobs[i]);
        fc_network_free(&net);
    }
    CU_ASSERT(covered >= 8);
    fc_calibration_free(&c);
    fc_machine_free(&machine);
}

/* Every job of the list can be made where the shape has its pattern, places all ranks, and has messages. */
static void test_jobs(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_small_job jobs[FC_MOST_SMALL_JOBS];
    if (!fc_test_network(SQUARE, &machine, &net)) return;
    int n = fc_small_jobs(&net, jobs), exist = 0, random = 0;
    CU_ASSERT(n >= 20 && n <= FC_MOST_SMALL_JOBS);
    for (int i = 0; i < n; i++) {
        struct fc_trace trace;
        struct fc_placement placement;
        struct fc_status st = {0};
        random += jobs[i].random;
        if (fc_small_job_make(&net, &jobs[i], 1, &trace, &placement, &st)) {
            CU_ASSERT_EQUAL(st.code, FC_INPUT);
            continue;
        }
        exist++;
        CU_ASSERT_EQUAL(placement.n_tasks, trace.n_ranks);
        for (uint32_t r = 0; r < trace.n_ranks; r++) CU_ASSERT(placement.node[r] < net.n_nodes);
        fc_trace_free(&trace);
    }
    CU_ASSERT(exist >= 20 && random > n / 4 && random < 3 * n / 4);
    fc_network_free(&net);
    fc_machine_free(&machine);
}

/* ---- reasons for none ---- */

static void state(const struct fc_replays *replays, enum fc_network_model network, bool beside, const char *why)
{
    double other = 1;
    struct fc_machine machine;
    struct fc_network net;
    struct fc_replay_settings how = {.network = network};
    struct fc_replay replay = {.n_network_messages = 1};
    if (!fc_test_network(SQUARE, &machine, &net)) return;
    replay.link_bytes = calloc(2 * (size_t)net.n_links, sizeof *replay.link_bytes);
    replay.link_busy_s = replay.link_bytes + net.n_links;
    replay.prediction = (struct fc_prediction){.time_s = 1, .error_percent = NAN, .network_bytes = 8};
    snprintf(replay.prediction.why, sizeof replay.prediction.why, "as it was");
    if (beside) how.background_bytes_per_s = &other;
    fc_replay_state_error(&net, replays, &how, false, &replay);
    CU_ASSERT(isnan(replay.prediction.error_percent) && !replay.prediction.extrapolated);
    CU_ASSERT(strstr(replay.prediction.why, why) != NULL);
    free(replay.link_bytes);
    fc_network_free(&net);
    fc_machine_free(&machine);
}

static void test_reasons(void)
{
    struct fc_replays some = make_cases(19, 0.5, 1), none = {0}, few = make_cases(5, 0.5, 1);
    state(&some, FC_NET_IDEAL, false, "as it was");
    state(&some, FC_NET_FLIT, false, "as it was");
    state(&some, FC_NET_CONTENTION, true, "beside other traffic");
    state(&none, FC_NET_CONTENTION, false, "has no replays");
    state(NULL, FC_NET_QUEUEING, false, "no calibration");
    state(&few, FC_NET_QUEUEING, false, "too few");
}

/* ---- the file ---- */

/* What reading the section says after `old` became `new` in it. */
static void edited(const char *text, const char *old, const char *new, const char *why)
{
    char path[] = "/tmp/fc_replaysXXXXXX", out[1 << 16];
    const char *at = strstr(text, old);
    struct fc_calibration c;
    struct fc_status st = {0};
    CU_ASSERT_FATAL(at != NULL);
    snprintf(out, sizeof out, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0 && write(fd, out, strlen(out)) == (ssize_t)strlen(out));
    close(fd);
    enum fc_code code = fc_calibration_read(path, &c, &st);
    if (why) CU_ASSERT(fc_says(&st, FC_INPUT, why));
    if (!why) CU_ASSERT_EQUAL(code, FC_OK);
    if (!code) fc_calibration_free(&c);
    unlink(path);
}

static void test_file(void)
{
    struct fc_calibration c, again;
    struct fc_status st = {0};
    struct fc_text text;
    struct fc_arena arena = {0};
    char path[] = "/tmp/fc_replaysXXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return;
    close(fd);
    CU_ASSERT_FATAL(!fc_calibration_read("models/machines/bgl-64.calibration.yaml", &c, &st));
    c.replays = make_cases(19, 0.5, 1);
    c.replays.cases[3].ratio[FC_MEASURED_QUEUEING] = NAN;
    for (int m = 0; m < FC_MEASURED; m++) c.replays.cases[7].at[m].interference = 0.25; /* the others: made before */
    for (uint32_t i = 0; i < 19; i++) c.replays.cases[i].kernel_s = 1e-5 * (i + 1);
    fc_replays_cover(&c.replays);
    c.replays.hops_run = 77;
    c.replays.mixing = 0.5;
    c.replays.mixing_low = 0.4;
    c.replays.mixing_high = 0.7;
    c.n_cases = 1; /* short files are read sooner */
    c.phases.n_cases = 8;
    CU_ASSERT_FATAL(!fc_calibration_write(&c, path, &st));
    CU_ASSERT_FATAL(!fc_calibration_read(path, &again, &st));
    c.replays.cases[3].ratio[FC_MEASURED_QUEUEING] = again.replays.cases[3].ratio[FC_MEASURED_QUEUEING];
    CU_ASSERT(isnan(c.replays.cases[3].ratio[FC_MEASURED_QUEUEING]));
    CU_ASSERT(same(&c.replays, &again.replays));
    CU_ASSERT_EQUAL(again.replays.covered_percent[0], c.replays.covered_percent[0]);
    CU_ASSERT_EQUAL(again.replays.cases[7].at[FC_MEASURED_QUEUEING].interference, 0.25);
    fc_calibration_free(&again);
    CU_ASSERT_FATAL(!fc_read_file(path, &arena, &text, &st));
    const char *section = strstr(text.data, "\nreplays:");
    CU_ASSERT_FATAL(section != NULL);
    edited(text.data, "\nreplays:", "\nreplayed:", "replayed");
    edited(text.data, "mapping: order, nodes: 16", "nodes: 16", "mapping is missing");
    edited(text.data, "kernel_s: 1e-05", "kernel_s: -1", "kernel_s");
    edited(text.data, "contention: [0.5,", "contention: [1.5,", "shares of 0 to 1");
    edited(text.data, "contention: [0.5, 0, 1, 2,", "contention: [0.5, 0, 0.2, 2,", "one packet");
    edited(text.data, "contention: [0.5, 0, 1, 2,", "contention: [0.5, 0, 1,", "list of 6");
    edited(text.data, "contention: [0.5, 0, 1, 2, 0.25,", "contention: [0.5, 0, 1, 2, 1.25,", "shares of 0 to 1");
    edited(text.data, "contention: [0.5, 0, 1, 2, 0.25,", "contention: [0.5, 0, 1, 2, null,", "shares of 0 to 1");
    edited(text.data, "queueing: [0.5, 0, 1, 2, null]", "queueing: [0.5, 0, 1, 2, nan]", "queueing");
    edited(text.data, "mixing: [0.5, 0.4, 0.7]", "mixing: [0.8, 0.4, 0.7]", "mixing: expected a limit");
    edited(text.data, "mixing: [0.5, 0.4, 0.7]", "mixing: [0.5, 0, 0.7]", "mixing: expected a limit");
    edited(text.data, "  mixing: [0.5, 0.4, 0.7]\n", "", NULL); /* one made before it was looked for */
    edited(text.data, section, "\n", NULL);                     /* one made before there were any */
    fc_arena_free(&arena);
    c.replays = (struct fc_replays){0};
    fc_calibration_free(&c);
    unlink(path);
}

/* Nothing is added to the calibration of another router, nor of another kernel. */
static void test_refusals(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_calibration c;
    struct fc_status st = {0};
    struct fc_calibration_settings how = {.threads = 1};
    if (!fc_test_network(SQUARE, &machine, &net)) return;
    CU_ASSERT_FATAL(!fc_calibration_read("models/machines/bgl-64.calibration.yaml", &c, &st));
    CU_ASSERT(fc_calibrate_replays(&machine, &how, &c, &st) && fc_says(&st, FC_INPUT, "another kind of router"));
    st = (struct fc_status){0};
    CU_ASSERT(fc_calibrate_curve(&machine, &how, "tornado", &c, NULL, &st) &&
              fc_says(&st, FC_INPUT, "another kind of router"));
    st = (struct fc_status){0};
    c.kernel_version = "0";
    CU_ASSERT(fc_calibrate_replays(&machine, &how, &c, &st) && fc_says(&st, FC_INPUT, "kernel version 0"));
    fc_calibration_free(&c);
    fc_network_free(&net);
    fc_machine_free(&machine);
}

int suite_replay_error(void)
{
    static const CU_TestInfo tests[] = {
        {"the quantile, by its definition", test_quantile},
        {"of jobs that are alike", test_alike},
        {"outside of what was run", test_hull},
        {"jobs of relatives, beside few of its own and alone", test_relatives},
        {"interference", test_interference},
        {"all jobs count, by how uncertain each is", test_all_count},
        {"cover with a network left out", test_cover},
        {"the interference of a replay", test_locate},
        {"small jobs", test_jobs},
        {"runs on a square, by any number of threads", test_runs},
        {"jobs held out", test_held_out},
        {"reasons for no error", test_reasons},
        {"the section of the file", test_file},
        {"refusals", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("replay error", tests);
}
