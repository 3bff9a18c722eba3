/* test_queueing_window.c - closed injection between its asymptotic bounds (Denning & Buzen 1978, "The Operational
 * Analysis of Queueing Network Models": X <= min(1 / D_max, n / R_0), and X >= n / (R_0 + (n - 1) D) with D the sum of
 * all demands), and full networks. */
#include "solvers/queueing/queueing_window.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>

struct ring {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_turns turns;
    struct fc_queueing *queueing;
    struct fc_queueing_parameters theory;
    double saturation;
};
static void close_ring(struct ring *r)
{
    fc_queueing_close(r->queueing);
    fc_turns_free(&r->turns);
    fc_demand_free(&r->demand);
    fc_test_close(&r->machine, &r->net);
}

static bool open_ring(const char *pattern, struct ring *r)
{
    struct fc_status st = {0};
    struct fc_flit_settings settings;
    *r = (struct ring){0};
    fc_queueing_defaults(&r->theory);
    fc_flit_defaults(&settings);
    settings.packet_flits_min = settings.packet_flits_max = 4;
    if (!fc_test_network("name: ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [8]}\n"
                         "links:\n"
                         "  torus: {bandwidth: 8 GB/s, latency: 5 cycles}\n"
                         "  injection: {bandwidth: 8 GB/s, latency: 1 cycle}\n"
                         "router: {delay: 2 cycles, vcs: 2, buffer: 64 B, routing: dimension-order, escape: dateline,\n"
                         "         flow_control: wormhole, flit: 8 B, credit: 1 cycle}\n"
                         "packet: {min: 8 B, max: 64 B}\n",
                         &r->machine, &r->net))
        return false;
    if (!fc_demand_from_pattern(&r->net, pattern, 1, &r->demand, &st) &&
        !fc_turns_make(&r->net, &r->demand, &settings, 100000, &r->turns, &st) &&
        !fc_queueing_open(&r->turns, &r->queueing, &st) &&
        !fc_queueing_saturation(r->queueing, &r->theory, &r->saturation, &st))
        return true;
    printf("\n    %s\n", st.message);
    CU_FAIL("the model does not open");
    close_ring(r);
    return false;
}
static enum fc_code solve(void *context, double load, struct fc_queueing_answer *answer, struct fc_status *st)
{
    struct ring *r = context;
    return fc_queueing_solve(r->queueing, &r->theory, load, answer, st);
}

static struct fc_window_answer window(struct ring *r, uint32_t n, double ack)
{
    struct fc_status st = {0};
    struct fc_window_answer a = {0};
    struct fc_window_model model = {r, solve, r->saturation, r->turns.flits_mean};
    CU_ASSERT_EQUAL(fc_window_solve(&model, n, ack, &a, &st), FC_OK);
    if (st.code) printf("\n    %s\n", st.message);
    return a;
}

/* One hop on: no link is shared, so a node alone with its window on three links of 4 cycles each. */
static void one_flow_a_link(void)
{
    struct ring r;
    if (!open_ring("neighbor", &r)) return;
    double zero = r.turns.zero_load_cycles, keep = 4, last = 0;
    for (uint32_t n = 1; n <= 256; n *= 2) {
        struct fc_window_answer a = window(&r, n, 30);
        double packets = a.load_flits_per_cycle / 4, round = zero + 30;
        CU_ASSERT(packets <= fmin(1 / keep, n / round) * (1 + 1e-6));
        CU_ASSERT(packets >= n / (round + (n - 1) * 3 * keep) * (1 - 1e-6));
        CU_ASSERT(packets >= last * (1 - 1e-6));
        CU_ASSERT(fc_near(packets * (a.latency_mean_cycles + 30), n, 1e-4)); /* Little */
        if (n == 1) CU_ASSERT(fc_near(packets, 1 / round, 1e-6));
        last = packets;
    }
    CU_ASSERT(last > 0.98 / keep);
    close_ring(&r);
}

/* Long windows fill the network, which passes no more. */
static void full(void)
{
    struct ring r;
    if (!open_ring("uniform", &r)) return;
    struct fc_window_answer small = window(&r, 1, 0), large = window(&r, 100000, 0);
    CU_ASSERT(!small.saturated && small.load_flits_per_cycle < r.saturation);
    CU_ASSERT(small.latency_mean_cycles >= r.turns.zero_load_cycles);
    CU_ASSERT(large.saturated);
    CU_ASSERT_EQUAL(large.load_flits_per_cycle, r.saturation);
    CU_ASSERT(fc_near(large.latency_mean_cycles, 100000 * 4 / r.saturation, 1e-9));
    close_ring(&r);
}

static void refusals(void)
{
    struct ring r;
    struct fc_window_answer a;
    struct fc_status none = {0}, ack = {0};
    if (!open_ring("uniform", &r)) return;
    struct fc_window_model model = {&r, solve, r.saturation, r.turns.flits_mean};
    CU_ASSERT_EQUAL(fc_window_solve(&model, 0, 0, &a, &none), FC_INPUT);
    CU_ASSERT(fc_says(&none, FC_INPUT, "expected at least 1 packet"));
    CU_ASSERT_EQUAL(fc_window_solve(&model, 1, -1, &a, &ack), FC_INPUT);
    CU_ASSERT(fc_says(&ack, FC_INPUT, "expected 0 or more"));
    close_ring(&r);
}

int suite_queueing_window(void)
{
    static const CU_TestInfo tests[] = {
        {"one flow a link: between the bounds", one_flow_a_link},
        {"a full network", full},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("queueing_window", tests);
}
