/* test_queueing_pair.c - latency of single pairs and by distance: the whole is the sum of its parts, on every family;
 * pairs that are alike; pairs behind the hot spot. */
#include "solvers/queueing/queueing_pair.h"
#include "tests/flit_oracles.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

struct bench {
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_turns turns;
    struct fc_queueing *queueing;
    struct fc_queueing_pairs *pairs;
    struct fc_queueing_answer answer; /* at 0.7 of saturation */
};
static bool open_bench(const struct fc_network *net, const char *pattern, const char *vc_rule, uint32_t flits,
                       struct bench *b, struct fc_status *st)
{
    struct fc_queueing_parameters theory;
    double saturation;
    *b = (struct bench){0};
    fc_queueing_defaults(&theory);
    fc_flit_defaults(&b->settings);
    b->settings.packet_flits_min = b->settings.packet_flits_max = flits;
    b->settings.vc_rule = vc_rule;
    if (fc_demand_from_pattern(net, pattern, 1, &b->demand, st)) return false;
    return !fc_turns_make(net, &b->demand, &b->settings, 1000000, &b->turns, st) &&
           !fc_queueing_open(&b->turns, &b->queueing, st) &&
           !fc_queueing_saturation(b->queueing, &theory, &saturation, st) &&
           !fc_queueing_solve(b->queueing, &theory, 0.7 * saturation, &b->answer, st) &&
           !fc_queueing_pairs_open(b->queueing, &b->settings, &b->pairs, st);
}
static void close_bench(struct bench *b)
{
    fc_queueing_pairs_close(b->pairs);
    fc_queueing_close(b->queueing);
    fc_turns_free(&b->turns);
    fc_demand_free(&b->demand);
}

static bool opens(const struct fc_network *net, const char *pattern, const char *vc_rule, uint32_t flits,
                  struct bench *b)
{
    struct fc_status st = {0};
    if (open_bench(net, pattern, vc_rule, flits, b, &st)) return true;
    printf("\n    %s\n", st.message);
    CU_FAIL("the model does not open");
    close_bench(b);
    return false;
}

/* Classes of hops are ascending, their shares are 1 in all, and their means make the network's. */
static void check_sum(const struct bench *b, double tolerance)
{
    static struct fc_hops_class class[FC_MOST_HOPS_CLASSES];
    struct fc_status st = {0};
    uint32_t n;
    double share = 0, mean = 0, hops = 0, zero_load = 0;
    CU_ASSERT_EQUAL_FATAL(fc_queueing_by_hops(b->pairs, &b->demand, 1, class, &n, &st), FC_OK);
    for (uint32_t i = 0; i < n; i++) {
        const struct fc_pair_answer *a = &class[i].latency;
        CU_ASSERT(i == 0 || class[i].hops > class[i - 1].hops);
        CU_ASSERT(a->latency_mean_cycles >= a->zero_load_cycles * (1 - 1e-9));
        CU_ASSERT(a->latency_p95_cycles <= a->latency_p99_cycles);
        share += class[i].share;
        mean += class[i].share * a->latency_mean_cycles;
        hops += class[i].share * a->hops_mean;
        zero_load += class[i].share * a->zero_load_cycles;
    }
    CU_ASSERT(fc_near(share, 1, 1e-9));
    CU_ASSERT(fc_near(hops, b->turns.hops_mean, tolerance));
    CU_ASSERT(fc_near(zero_load, b->turns.zero_load_cycles, tolerance));
    CU_ASSERT(fc_near(mean, b->answer.latency_mean_cycles, tolerance));
    if (!fc_near(mean, b->answer.latency_mean_cycles, tolerance))
        printf("\n    %.6g cycles by classes, %.6g in all\n", mean, b->answer.latency_mean_cycles);
}

static void families(void)
{
    for (size_t i = 0; i < FC_COUNT(oracle_machines); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_status st = {0};
        struct bench b;
        const struct oracle_machine *o = &oracle_machines[i];
        enum oracle_flow flow = i % 2 && !strstr(o->rest, "bubble") ? ORACLE_WORMHOLE : ORACLE_CUT_THROUGH;
        CU_ASSERT_FATAL(oracle_open(oracle_yaml(o, 2, false, flow, "256 B"), &machine, &net, &st));
        if (opens(&net, "uniform", o->vc_rule, 4, &b)) {
            unsigned failed = CU_get_number_of_failures();
            check_sum(&b, 0.02);
            if (CU_get_number_of_failures() > failed) printf("\n    %s\n", o->name);
            close_bench(&b);
        }
        oracle_close(&machine, &net);
    }
}

static const char routers[] = "clock: 1 GHz\n"
                              "links:\n"
                              "  %s: {bandwidth: 8 GB/s, latency: 1 cycle}\n"
                              "  injection: {bandwidth: 8 GB/s, latency: 1 cycle}\n"
                              "router: {delay: 2 cycles, vcs: 4, buffer: 64 B, routing: dimension-order, escape: %s,\n"
                              "         flow_control: wormhole, flit: 8 B, credit: 1 cycle}\n"
                              "packet: {min: 8 B, max: 64 B}\n";
static bool open_mesh(struct fc_machine *machine, struct fc_network *net)
{
    char yaml[1000];
    int n = snprintf(yaml, sizeof yaml, "name: mesh\nnetwork: {family: mesh, dims: [4, 4]}\n");
    snprintf(yaml + n, sizeof yaml - (size_t)n, routers, "mesh", "none");
    return fc_test_network(yaml, machine, net);
}
static bool open_ring(struct fc_machine *machine, struct fc_network *net)
{
    char yaml[1000];
    int n = snprintf(yaml, sizeof yaml, "name: ring\nnetwork: {family: torus, dims: [8]}\n");
    snprintf(yaml + n, sizeof yaml - (size_t)n, routers, "torus", "dateline");
    return fc_test_network(yaml, machine, net);
}

/* One way a pair: exact. */
static void without_choices(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct bench b;
    if (!open_mesh(&machine, &net)) return;
    if (opens(&net, "uniform", NULL, 2, &b)) {
        check_sum(&b, 1e-6);
        close_bench(&b);
    }
    /* Every node of the ring sends as far: all pairs are the network's mean. */
    fc_test_close(&machine, &net);
    if (!open_ring(&machine, &net)) return;
    if (opens(&net, "tornado", NULL, 2, &b)) {
        struct fc_status st = {0};
        struct fc_pair_answer one, other;
        double mean = 0;
        for (uint32_t s = 0; s < 8; s++) {
            uint32_t d = b.demand.dst[s];
            CU_ASSERT_EQUAL(fc_queueing_pair(b.pairs, b.demand.src[s], d, 1, &one, &st), FC_OK);
            mean += one.latency_mean_cycles / 8;
            CU_ASSERT_EQUAL(one.hops_mean, 3);
            CU_ASSERT(fc_near(one.latency_sd_cycles, b.answer.latency_sd_cycles, 0.05));
        }
        CU_ASSERT(fc_near(mean, b.answer.latency_mean_cycles, 1e-6));
        CU_ASSERT_EQUAL(fc_queueing_pair(b.pairs, b.demand.src[7], b.demand.dst[7], 1.5, &other, &st), FC_OK);
        CU_ASSERT(fc_near(other.latency_mean_cycles, 1.5 * one.latency_mean_cycles, 1e-12));
        close_bench(&b);
    }
    fc_test_close(&machine, &net);
}

/* Packets into the hot region wait longer than others as far away. */
static void hot_region(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct bench b;
    struct fc_status st = {0};
    struct fc_pair_answer into, beside;
    if (!open_mesh(&machine, &net)) return;
    if (opens(&net, "hotspot:size=1x1", NULL, 4, &b)) {
        check_sum(&b, 1e-6);
        uint32_t hot = 0;
        for (uint32_t i = 0; i < 16; i++)
            if (b.demand.dense[b.demand.n_dense - 1].b[i] > b.demand.dense[b.demand.n_dense - 1].b[hot]) hot = i;
        uint32_t from = hot ^ 1; /* one hop, there and back */
        CU_ASSERT_EQUAL(fc_queueing_pair(b.pairs, from, hot, 1, &into, &st), FC_OK);
        CU_ASSERT_EQUAL(fc_queueing_pair(b.pairs, hot, from, 1, &beside, &st), FC_OK);
        CU_ASSERT_EQUAL(into.zero_load_cycles, beside.zero_load_cycles);
        CU_ASSERT(into.latency_mean_cycles > beside.latency_mean_cycles);
        CU_ASSERT(into.latency_p99_cycles > beside.latency_p99_cycles);
        close_bench(&b);
    }
    fc_test_close(&machine, &net);
}

static void refusals(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct bench b;
    struct fc_pair_answer a;
    struct fc_queueing_parameters theory;
    struct fc_queueing_answer unstable;
    fc_queueing_defaults(&theory);
    if (!open_mesh(&machine, &net)) return;
    if (opens(&net, "uniform", NULL, 2, &b)) {
        struct fc_status st = {0}, no = {0}, fine = {0};
        CU_ASSERT_EQUAL(fc_queueing_pair(b.pairs, 3, 16, 1, &a, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, "pair 3-16: the machine has nodes 0 to 15"));
        CU_ASSERT_EQUAL(fc_queueing_solve(b.queueing, &theory, 5, &unstable, &fine), FC_OK);
        CU_ASSERT_EQUAL(fc_queueing_pair(b.pairs, 3, 15, 1, &a, &no), FC_NO);
        CU_ASSERT(fc_says(&no, FC_NO, "expected a load below saturation"));
        close_bench(&b);
    }
    fc_test_close(&machine, &net);
}

int suite_queueing_pair(void)
{
    static const CU_TestInfo tests[] = {
        {"classes of hops make the whole, every family", families},
        {"exact without choices", without_choices},
        {"the hot node's packets wait longer", hot_region},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("queueing_pair", tests);
}
