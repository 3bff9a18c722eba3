/* test_queueing_stage.c - the queueing model of routers that give out virtual channels in a stage of their own, by theory.
 *
 * A channel is free again a cycle after the last flit of a packet of F flits: F / (F + 1) of a link go through one channel, and
 * (2 - sqrt 2) F / (F + 1) of a crossbar with one queue an input. A port that asks for one output at a time is one such queue
 * however many channels it has (Karol, Hluchyj & Morgan 1987). A buffer of B flits passes B a credit's round trip. */
#include "tests/queueing_fixture.h"

/* One router and n nodes; packets of `flits`. Pattern NULL: each to the next, who sends to it alone. */
static bool open_stage(const char *yaml, const char *pattern, uint32_t flits, struct queued *s)
{
    static uint32_t src[128], dst[128];
    static double bytes[128];
    queued_start(s, flits);
    if (!fc_test_network(yaml, &s->machine, &s->net)) return false;
    if (!pattern)
        oracle_shift(&s->demand, s->net.n_nodes, 1, src, dst, bytes);
    else if (fc_demand_from_pattern(&s->net, pattern, 1, &s->demand, &s->st))
        return false;
    return queued_model(s);
}

static const char *crossbar(int n, int vcs, const char *allocation, const char *latency, const char *buffer)
{
    static char yaml[1024];
    snprintf(
        yaml, sizeof yaml,
        "name: crossbar\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [%d], parents: [1]}\nlinks: {leaf: "
        "{bandwidth: 8 GB/s, latency: %s}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: wormhole, credit: 1 "
        "cycle, vcs: %d, buffer: %s, escape: none, routing: nca-hash, vc_allocation: %s}\npacket: {min: 8 B, max: 64 "
        "B}\n",
        n, latency, vcs, buffer, allocation);
    return yaml;
}

static void check_saturation(const char *yaml, const char *pattern, uint32_t flits, double expected, double tolerance)
{
    struct queued s;
    if (open_stage(yaml, pattern, flits, &s)) {
        double got = queued_saturation(&s);
        CU_ASSERT(fc_near(got, expected, tolerance));
        if (!fc_near(got, expected, tolerance)) printf("\n    %g (expected %g)\n", got, expected);
    }
    queued_close(&s, pattern != NULL);
}

static void one_channel(void)
{
    check_saturation(crossbar(8, 1, "stage", "1 cycle", "4 KiB"), NULL, 1, 0.5, 1e-3);
    check_saturation(crossbar(8, 1, "stage", "1 cycle", "4 KiB"), NULL, 4, 0.8, 1e-3);
    check_saturation(crossbar(8, 1, "combined", "1 cycle", "4 KiB"), NULL, 4, 1, 1e-3);
}

static void crossbars(void)
{
    const double karol = 2 - sqrt(2);
    check_saturation(crossbar(128, 1, "stage", "1 cycle", "4 KiB"), "uniform", 1, karol / 2, 0.01);
    check_saturation(crossbar(128, 1, "stage", "1 cycle", "4 KiB"), "uniform", 4, karol * 0.8, 0.01);
    struct queued s;
    if (open_stage(crossbar(128, 4, "combined", "1 cycle", "4 KiB"), "uniform", 1, &s)) {
        CU_ASSERT(s.turns.one_bid);
        s.theory.value[FC_Q_PORT] = 1; /* theory's on graphs, whose ports are the same */
        CU_ASSERT(fc_near(queued_saturation(&s), karol, 0.01));
    }
    queued_close(&s, true);
}

/* From sending a flit to the use of its credit: 2 x 20 cycles of wire, 2 of the router, a flit's, 1 of the credit. */
static void credits(void)
{
    check_saturation(crossbar(8, 1, "stage", "20 cycles", "64 B"), NULL, 1, 8.0 / 44, 1e-3);
    check_saturation(crossbar(8, 2, "stage", "20 cycles", "64 B"), NULL, 1, 16.0 / 44, 1e-3);
}

/* Latency rises from that of a packet alone to the saturation; pairs make the mean; the kernel agrees. */
static void curve(void)
{
    struct queued s;
    if (open_stage(crossbar(16, 2, "stage", "1 cycle", "128 B"), "uniform", 2, &s)) {
        struct fc_queueing_answer a;
        double end = queued_saturation(&s), last = s.turns.zero_load_cycles;
        CU_ASSERT(!fc_queueing_solve(s.queueing, &s.theory, 1e-6 * end, &a, &s.st) &&
                  fc_near(a.latency_mean_cycles, last, 1e-4));
        for (int i = 1; i < 20; i++) {
            CU_ASSERT(!fc_queueing_solve(s.queueing, &s.theory, end * i / 20, &a, &s.st) && a.stable);
            CU_ASSERT(a.latency_mean_cycles > last && a.contention_cycles >= 0 && a.backpressure_cycles >= 0);
            last = a.latency_mean_cycles;
        }
        for (double share = 0.3; share < 0.7; share += 0.3) {
            struct fc_flit_result r;
            struct fc_queueing_pairs *pairs = NULL;
            struct fc_pair_answer pair;
            CU_ASSERT(!fc_queueing_solve(s.queueing, &s.theory, share * end, &a, &s.st));
            CU_ASSERT(!oracle_run(&s.net, &s.demand, FC_ENGINE_CYCLE, share * end, 2, 6000, &r, &s.st));
            CU_ASSERT(fc_near(a.latency_mean_cycles, r.latency_mean_cycles, 0.08));
            fc_flit_free(&r);
            CU_ASSERT(!fc_queueing_pairs_open(s.queueing, &s.settings, &pairs, &s.st));
            CU_ASSERT(!fc_queueing_pair(pairs, 0, 5, 1, &pair, &s.st) && /* all pairs are alike */
                      fc_near(pair.latency_mean_cycles, a.latency_mean_cycles, 1e-3));
            fc_queueing_pairs_close(pairs);
        }
    }
    queued_close(&s, true);
}

/* Without a calibration, and with one of other routers of the family: theory, with an error. */
static void stated(void)
{
    struct queued s;
    struct fc_calibrated *c = NULL;
    struct fc_calibrated_answer answer;
    struct fc_calibration other = {.kind = "family=fat-tree vc_allocation=combined", .n_relatives = 1, .distance = 1};
    if (open_stage(crossbar(16, 2, "stage", "1 cycle", "128 B"), "uniform", 2, &s)) {
        double end = queued_saturation(&s), percent;
        for (int i = 0; i < 2; i++) {
            CU_ASSERT_FATAL(!fc_calibrated_open(i ? &other : NULL, &s.turns, "uniform", &s.settings, &c, &s.st) && c);
            CU_ASSERT(fc_calibrated_by_theory(c) && fc_near(fc_calibrated_saturation(c, &percent), end, 1e-3));
            CU_ASSERT(percent > 9 && percent < 11);
            CU_ASSERT(!fc_calibrated_solve(c, 0.3 * end, &answer, &s.st) && answer.tier == FC_TIER_NONE);
            CU_ASSERT(answer.error_percent >= 1 && answer.error_percent < 8 && !answer.extrapolated);
            fc_calibrated_close(c);
        }
    }
    queued_close(&s, true);
    if (open_stage(crossbar(16, 2, "stage", "20 cycles", "128 B"), "uniform", 2, &s)) {
        CU_ASSERT_FATAL(!fc_calibrated_open(NULL, &s.turns, "uniform", &s.settings, &c, &s.st) && c);
        CU_ASSERT(!fc_calibrated_solve(c, 0.05, &answer, &s.st) && answer.extrapolated);
        CU_ASSERT(strstr(answer.why, "of what a link sends in a credit's round trip") != NULL);
        fc_calibrated_close(c);
    }
    queued_close(&s, true);
    if (open_stage(crossbar(16, 2, "combined", "1 cycle", "128 B"), "uniform", 2, &s)) {
        CU_ASSERT_FATAL(!fc_calibrated_open(NULL, &s.turns, "uniform", &s.settings, &c, &s.st) && c);
        CU_ASSERT(!fc_calibrated_by_theory(c));
        fc_calibrated_close(c);
    }
    queued_close(&s, true);
}

/* Dragonflies of cells under UGAL: uniform traffic states an error, a wider one where a virtual channel holds few packets; other
 * traffic none. */
static void under_ugal(void)
{
    static const struct {
        const char *buffer, *pattern, *why;
        double least, most; /* of the saturation's error; NaN: none */
    } cases[] = {{"4 KiB", "uniform", NULL, 9, 11},
                 {"512 B", "uniform", "a virtual channel holds 4 packets", 19, 22},
                 {"4 KiB", "complement", "", NAN, NAN}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct queued s;
        struct fc_calibrated *c = NULL;
        struct fc_calibrated_answer answer;
        char yaml[1024];
        double percent;
        snprintf(
            yaml, sizeof yaml,
            "name: t\nclock: 1 GHz\nnetwork: {family: dragonfly-plus, cells: [5], leaves: [4], nodes_per_cell: [8], "
            "links_per_pair: 2}\nlinks: {local: {bandwidth: 32 GB/s, latency: 3 ns}, global: {bandwidth: 32 GB/s, "
            "latency: 5 ns}, injection: {bandwidth: 32 GB/s, latency: 1 ns}}\nrouter: {delay: 2 ns, flow_control: "
            "cut-through, flit: 32 B, vcs: 4, escape: none, buffer: %s, routing: ugal}\npacket: {min: 128 B, max: 128 B}\n",
            cases[i].buffer);
        if (open_stage(yaml, cases[i].pattern, 4, &s)) {
            CU_ASSERT_FATAL(!fc_calibrated_open(NULL, &s.turns, cases[i].pattern, &s.settings, &c, &s.st) && c);
            double end = fc_calibrated_saturation(c, &percent);
            CU_ASSERT(fc_calibrated_by_theory(c) == !isnan(cases[i].least));
            CU_ASSERT(!fc_calibrated_solve(c, 0.3 * end, &answer, &s.st));
            if (isnan(cases[i].least)) {
                CU_ASSERT(isnan(percent) && isnan(answer.error_percent));
            } else {
                CU_ASSERT(percent > cases[i].least && percent < cases[i].most);
                CU_ASSERT(answer.error_percent >= 1 && answer.error_percent < 8);
                CU_ASSERT(answer.extrapolated == (cases[i].why != NULL));
            }
            if (cases[i].why && *cases[i].why) CU_ASSERT(strstr(answer.why, cases[i].why) != NULL);
            fc_calibrated_close(c);
        }
        queued_close(&s, true);
    }
}

int suite_queueing_stage(void)
{
    static const CU_TestInfo tests[] = {
        {"one channel passes F / (F + 1) of a link", one_channel},
        {"crossbars saturate at (2 - sqrt 2) F / (F + 1)", crossbars},
        {"a buffer passes itself a round trip", credits},
        {"a curve, its pairs, and the kernel", curve},
        {"theory states an error", stated},
        {"and under UGAL", under_ugal},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("queueing_stage", tests);
}
