/* test_contention.c - bulk-synchronous phases against closed forms, bounds. */
#include "tests/support.h"
#include "solvers/solvers.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

/* Blue Gene/L's router and packets; dims, routing and end points filled in. */
static const char torus_yaml[] = "name: t\n"
                                 "clock: 175 MHz\n"
                                 "network: {family: %s, dims: [%s]}\n"
                                 "links: {%s: {bandwidth: 175 MB/s, latency: 8 cycles}}\n"
                                 "router: {delay: 8 cycles, flow_control: %s, vcs: %d, escape: %s, routing: %s}\n"
                                 "packet: {min: 32 B, max: 256 B, header: 16 B, trailer: 14 B}\n"
                                 "software: {send: %s, recv: %s, gap: %s, eager: 1 KiB}\n";

struct bench {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_load load;
    uint32_t node[8192];
    struct fc_placement placement;
    struct fc_load_settings settings;
    struct fc_prediction out;
    struct fc_status st;
};

static void open_yaml(struct bench *b, const char *yaml)
{
    memset(b, 0, sizeof *b);
    CU_ASSERT_FATAL(fc_test_network(yaml, &b->machine, &b->net));
}

static void open_torus(struct bench *b, const char *dims, const char *routing)
{
    char yaml[1000];
    snprintf(yaml, sizeof yaml, torus_yaml, "torus", dims, "torus", "cut-through", 2, "bubble", routing, "0 s", "0 s",
             "0 s");
    open_yaml(b, yaml);
}

static void close_bench(struct bench *b)
{
    fc_load_free(&b->load);
    fc_demand_free(&b->demand);
    fc_test_close(&b->machine, &b->net);
}

/* Task t on node t / per_node, then load and prediction of the demand that is there. */
static enum fc_code predict_demand(struct bench *b, uint32_t per_node)
{
    CU_ASSERT_FATAL(b->demand.n_tasks <= FC_COUNT(b->node));
    for (uint32_t t = 0; t < b->demand.n_tasks; t++) b->node[t] = t / per_node;
    b->placement = (struct fc_placement){b->demand.n_tasks, b->node};
    b->settings.threads = 1;
    fc_load_free(&b->load);
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(&b->net, &b->demand, &b->placement, &b->settings, &b->load, &b->st), FC_OK);
    return fc_predict_phase(&b->net, &b->demand, &b->placement, &b->load, &b->settings, &b->out, &b->st);
}

static enum fc_code predict(struct bench *b, const char *pattern)
{
    fc_demand_free(&b->demand);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&b->net, pattern, 1, &b->demand, &b->st), FC_OK);
    return predict_demand(b, 1);
}

/* ---- without a calibration ---- */

/* All-to-all on a k-ary 3-cube, k even: every link carries N k / 8 messages; the farthest node is 3 k / 2
 * hops away. */
static void cube(const char *dims, double k, const char *routing)
{
    struct bench b;
    open_torus(&b, dims, routing);
    CU_ASSERT_EQUAL(predict(&b, "alltoall:bytes=2400"), FC_OK); /* 10 full packets */
    double bound_s = k * k * k * k / 8 * 2700 / 175e6, hop_s = 16 / 175e6;
    double fill_s = 1.5 * k * hop_s + 8 / 175e6; /* the last router; node links are free */
    CU_ASSERT(fc_near(b.out.bound_s, bound_s, 1e-12));
    CU_ASSERT(fc_near(b.out.time_s, bound_s + fill_s, 1e-9));
    CU_ASSERT(fc_near(b.out.network_s, bound_s + fill_s, 1e-9));
    CU_ASSERT(fc_near(b.out.percent_of_peak, 100 * bound_s / (bound_s + fill_s), 1e-9));
    CU_ASSERT(isnan(b.out.error_percent) && !b.out.extrapolated);
    CU_ASSERT(strstr(b.out.why, "not calibrated") != NULL);
    CU_ASSERT_STRING_EQUAL(b.out.binds, "link");
    CU_ASSERT_NOT_EQUAL(b.out.bottleneck, FC_NONE);
    CU_ASSERT(fc_near(b.out.bottleneck_bytes, k * k * k * k / 8 * 2400, 1e-12));
    close_bench(&b);
}

static void cubes(void)
{
    cube("4, 4, 4", 4, "adaptive");
    cube("8, 8, 8", 8, "adaptive");
    cube("16, 16, 16", 16, "adaptive");
    cube("8, 8, 8", 8, "dimension-order");
}

/* ---- end points ---- */

/* Adiga et al. 2005, figure 11: one 32-byte packet a pair on 8 x 8 x 8 reaches 71 % of what the links
 * allow, because send and receive take 260 cycles of a 700 MHz processor together. */
static void short_messages(void)
{
    struct bench b;
    char yaml[1000];
    snprintf(yaml, sizeof yaml, torus_yaml, "torus", "8, 8, 8", "torus", "cut-through", 2, "bubble", "adaptive",
             "185.714 ns", "185.714 ns", "0 s");
    open_yaml(&b, yaml);
    CU_ASSERT_EQUAL(predict(&b, "alltoall:bytes=16"), FC_OK);
    double links_s = 512 * 46 / 175e6, cpu_s = 511 * 371.428e-9;
    CU_ASSERT_STRING_EQUAL(b.out.binds, "software");
    CU_ASSERT(b.out.bottleneck == FC_NONE && b.out.bottleneck_bytes == 0);
    CU_ASSERT(fc_near(b.out.bound_s, cpu_s, 1e-9));
    CU_ASSERT(fabs(100 * links_s / b.out.time_s - 71) < 3);
    close_bench(&b);
}

/* Two tasks exchange by hand: bytes, messages and overheads counted at each end. */
static void two_tasks(void)
{
    struct bench b;
    char yaml[1000];
    snprintf(yaml, sizeof yaml, torus_yaml, "torus", "4, 4", "torus", "cut-through", 2, "bubble", "dimension-order",
             "2 us", "3 us", "4 us");
    open_yaml(&b, yaml);
    uint32_t src[] = {0, 1, 1}, dst[] = {1, 0, 1};
    double bytes[] = {480, 240, 1e9}, messages[] = {10, 1, 1};
    b.demand = (struct fc_demand){.n_tasks = 2,
                                  .n_entries = 3,
                                  .src = src,
                                  .dst = dst,
                                  .bytes = bytes,
                                  .messages = messages,
                                  .computation_s = 1e-3};
    CU_ASSERT_EQUAL(predict_demand(&b, 1), FC_OK);
    /* task 0: 10 sends + 1 receive = 23 us, but 10 sends are 4 us apart: 9 x 4 + 2 = 38; task 1: 2 + 10 x
     * 3 = 32 */
    double hop_s = 16 / 175e6, fill_s = 5e-6 + hop_s + 8 / 175e6;
    CU_ASSERT(fc_near(b.out.communication_s, 38e-6 + fill_s, 1e-9));
    CU_ASSERT(fc_near(b.out.time_s, 1e-3 + 38e-6 + fill_s, 1e-9));
    CU_ASSERT(fc_near(b.out.bound_s, 1e-3 + 38e-6, 1e-9));
    CU_ASSERT_STRING_EQUAL(b.out.binds, "computation");
    CU_ASSERT_EQUAL(b.out.network_bytes, 720);
    CU_ASSERT_EQUAL(predict_demand(&b, 2), FC_OK); /* on one node: CPU time only */
    CU_ASSERT(fc_near(b.out.communication_s, 43e-6, 1e-9));
    CU_ASSERT(b.out.network_bytes == 0 && b.out.bottleneck == FC_NONE);
    b.demand = (struct fc_demand){.n_tasks = 2};
    CU_ASSERT_EQUAL(predict_demand(&b, 1), FC_OK); /* nothing to do */
    CU_ASSERT(b.out.time_s == 0 && b.out.percent_of_peak == 100);
    close_bench(&b);
}

/* One message over the longest way: latency binds. */
static void one_message(void)
{
    struct bench b;
    open_torus(&b, "8, 8, 8", "adaptive");
    uint32_t src[] = {0}, dst[] = {4 + 4 * 8 + 4 * 64};
    double bytes[] = {1}, messages[] = {1};
    b.demand = (struct fc_demand){
        .n_tasks = 512, .n_entries = 1, .src = src, .dst = dst, .bytes = bytes, .messages = messages};
    CU_ASSERT_EQUAL(predict_demand(&b, 1), FC_OK);
    double fill_s = 12 * 16 / 175e6 + 8 / 175e6;
    CU_ASSERT_STRING_EQUAL(b.out.binds, "latency");
    CU_ASSERT(fc_near(b.out.bound_s, fill_s, 1e-9));
    CU_ASSERT(b.out.time_s > fill_s && b.out.percent_of_peak <= 100);
    b.demand = (struct fc_demand){0};
    close_bench(&b);
}

/* ---- bounds, background, refusals ---- */

static void never_above_peak(void)
{
    static const char *const patterns[] = {"alltoall:bytes=1",     "alltoall:bytes=1MiB", "tornado:bytes=64KiB",
                                           "transpose:bytes=1KiB", "neighbor:bytes=100",  "hotspot:size=2x2x2"};
    static const char *const routings[] = {"adaptive", "dimension-order", "valiant"};
    struct bench b;
    for (size_t r = 0; r < FC_COUNT(routings); r++)
        for (size_t p = 0; p < FC_COUNT(patterns); p++) {
            open_torus(&b, "4, 4, 4", routings[r]);
            CU_ASSERT_EQUAL(predict(&b, patterns[p]), FC_OK);
            CU_ASSERT(b.out.percent_of_peak > 0 && b.out.percent_of_peak <= 100);
            CU_ASSERT(b.out.bound_s <= b.out.time_s);
            CU_ASSERT_EQUAL(b.out.time_s, b.out.computation_s + b.out.communication_s);
            close_bench(&b);
        }
}

static void background(void)
{
    static double taken[3 * 2 * 64 + 128];
    struct bench b;
    open_torus(&b, "4, 4, 4", "dimension-order");
    CU_ASSERT_EQUAL(predict(&b, "alltoall:bytes=100KiB"), FC_OK);
    double alone_s = b.out.bound_s;
    for (uint32_t l = 0; l < b.net.n_links; l++) taken[l] = 0.75 * 175e6;
    b.settings.background_bytes_per_s = taken;
    CU_ASSERT_EQUAL(predict(&b, "alltoall:bytes=100KiB"), FC_OK);
    CU_ASSERT(fc_near(b.out.bound_s, 4 * alone_s, 1e-12));
    taken[0] = 175e6;
    CU_ASSERT_EQUAL(predict(&b, "alltoall:bytes=100KiB"), FC_NO);
    CU_ASSERT(fc_says(&b.st, FC_NO, "has no bandwidth left: 1.75e+08 of 1.75e+08 bytes/s are taken"));
    close_bench(&b);
}

static void refusals(void)
{
    struct bench b;
    open_torus(&b, "4, 4, 4", "adaptive");
    CU_ASSERT_EQUAL(predict(&b, "uniform"), FC_INPUT);
    CU_ASSERT(fc_says(&b.st, FC_INPUT, "use alltoall:bytes=N"));
    b.st = (struct fc_status){0};
    CU_ASSERT_EQUAL(predict(&b, "alltoall:bytes=8"), FC_OK);
    b.placement.n_tasks = 63;
    CU_ASSERT_EQUAL(fc_predict_phase(&b.net, &b.demand, &b.placement, &b.load, &b.settings, &b.out, &b.st), FC_INPUT);
    CU_ASSERT(fc_says(&b.st, FC_INPUT, "the mapping places 63 tasks, the traffic has 64"));
    close_bench(&b);
}

int suite_contention(void)
{
    static const CU_TestInfo tests[] = {
        {"all-to-all on cubes", cubes},
        {"short messages are bound by software (Adiga et al., figure 11)", short_messages},
        {"two tasks by hand", two_tasks},
        {"one message: latency", one_message},
        {"percent of peak is at most 100", never_above_peak},
        {"background", background},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("contention", tests);
}
