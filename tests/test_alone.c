/* test_alone.c - traffic in which nobody meets: against the discrete queue it is, and the kernel; what is not such traffic. */
#include "solvers/calibration/alone.h"
#include "tests/queueing_fixture.h"

#define TORUS(dims, latency, buffer, more)                                                                                   \
    "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: " dims more                                                       \
    "}\nlinks: {torus: {bandwidth: 8 GB/s, latency: " latency                                                                \
    "}, injection: {bandwidth: 16 GB/s}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, credit: 1 cycle, " \
    "vcs: 2, buffer: " buffer ", escape: dateline, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n"

static bool open_traffic(const char *yaml, const char *pattern, struct queued *w)
{
    queued_start(w, 8);
    return fc_test_network(yaml, &w->machine, &w->net) &&
           !fc_demand_from_pattern(&w->net, pattern, 1, &w->demand, &w->st) && queued_model(w);
}

/* One hop on a ring: a source of 8 cycles a packet, and nothing else. */
static void ring(void)
{
    struct queued w;
    struct fc_calibrated *c;
    struct fc_calibrated_answer a;
    double percent;
    if (open_traffic(oracle_ring, "neighbor", &w) &&
        !fc_calibrated_open(NULL, &w.turns, "neighbor", &w.settings, &c, &w.st)) {
        CU_ASSERT(fc_calibrated_alone(c) && !fc_calibrated_by_theory(c));
        CU_ASSERT(fc_near(fc_calibrated_saturation(c, &percent), 1, 1e-6) && percent > 1 && percent < 4);
        for (double load = 0.2; load < 0.99; load += 0.25) {
            CU_ASSERT(!fc_calibrated_solve(c, load, &a, &w.st) && a.tier == FC_TIER_ALONE && !a.extrapolated &&
                      !*a.why);
            CU_ASSERT(fc_near(a.model.latency_mean_cycles, w.turns.zero_load_cycles + oracle_geo_d_1(load, 8), 1e-6));
            CU_ASSERT(fc_near(a.model.network_cycles + a.model.source_cycles, a.model.latency_mean_cycles, 1e-9));
            CU_ASSERT(a.error_percent >= 1 && a.error_percent < (load < 0.8 ? 2 : 10));
        }
        CU_ASSERT(!fc_calibrated_solve(c, 1.01, &a, &w.st) && !a.model.stable);
        fc_calibrated_close(c);
    }
    queued_close(&w, true);
}

/* Against the kernel's own saturation and latency at 60 % of it. */
static void against_kernel(const char *yaml, const char *pattern)
{
    struct queued w;
    struct fc_calibrated *c;
    struct fc_calibrated_answer a;
    struct fc_flit_result r;
    if (open_traffic(yaml, pattern, &w) && !fc_calibrated_open(NULL, &w.turns, pattern, &w.settings, &c, &w.st)) {
        double saturation = fc_calibrated_saturation(c, NULL), load = 0.6 * saturation;
        CU_ASSERT_FATAL(fc_calibrated_alone(c));
        CU_ASSERT(fc_near(saturation, 1 / w.turns.max_service_rate, 0.02));
        CU_ASSERT_EQUAL_FATAL(oracle_run(&w.net, &w.demand, FC_ENGINE_AUTO, load, 8, 60000, &r, &w.st), FC_OK);
        CU_ASSERT(r.stable && !fc_calibrated_solve(c, load, &a, &w.st));
        CU_ASSERT(fc_near(a.model.latency_mean_cycles, r.latency_mean_cycles, 0.02));
        if (!fc_near(a.model.latency_mean_cycles, r.latency_mean_cycles, 0.02))
            printf("\n    %s: %g, kernel %g\n", pattern, a.model.latency_mean_cycles, r.latency_mean_cycles);
        fc_flit_free(&r);
        CU_ASSERT_EQUAL_FATAL(oracle_run(&w.net, &w.demand, FC_ENGINE_AUTO, 1.06 * saturation, 8, 60000, &r, &w.st),
                              FC_OK);
        CU_ASSERT(!r.stable);
        fc_flit_free(&r);
        fc_calibrated_close(c);
    }
    queued_close(&w, true);
}

static void limits(void)
{
    against_kernel(TORUS("[4, 3]", "4 cycles", "256 B", ""), "neighbor");
    against_kernel(TORUS("[4, 3, 3]", "1 cycle", "128 B", ""), "neighbor");
    against_kernel(
        "name: t\nclock: 1 GHz\nnetwork: {family: two-level, supernodes: 4, drawers: 2, nodes_per_drawer: 4}\n"
        "links: {ll: {bandwidth: 8 GB/s, latency: 2 cycles}, lr: {bandwidth: 2 GB/s, latency: 4 cycles}, d: {bandwidth: "
        "4 GB/s, latency: 9 cycles}, injection: {bandwidth: 16 GB/s}}\nrouter: {delay: 2 cycles, credit: 1 cycle, flit: "
        "8 B, flow_control: cut-through, routing: direct, vcs: 3, buffer: 512 B}\npacket: {min: 8 B, max: 64 B}\n",
        "neighbor");
}

static void others(void)
{
    static const struct {
        const char *yaml, *pattern;
        bool holds;
    } list[] = {
        {TORUS("[4, 4]", "1 cycle", "128 B", ""), "neighbor", true},
        {TORUS("[4, 4]", "1 cycle", "128 B", ""), "uniform", false},
        {TORUS("[4, 4]", "1 cycle", "128 B", ""), "transpose", false},
        {TORUS("[4, 4]", "1 cycle", "128 B", ", nodes_per_router: 2"), "tornado", false},   /* two nodes, one link */
        {TORUS("[4, 3]", "40 cycles", "64 B", ""), "neighbor", false},                      /* credits come late */
        {TORUS("[4, 4]", "1 cycle", "128 B, vc_allocation: stage", ""), "neighbor", false}, /* packets side by side */
        {TORUS("[520]", "1 cycle", "128 B", ""), "neighbor", false},                        /* too large */
    };
    for (size_t i = 0; i < FC_COUNT(list); i++) {
        struct queued w;
        struct fc_alone alone;
        struct fc_arena arena = {0};
        if (open_traffic(list[i].yaml, list[i].pattern, &w)) {
            CU_ASSERT_EQUAL(fc_alone_find(&w.turns, list[i].pattern, &w.settings, &arena, &alone, &w.st), FC_OK);
            CU_ASSERT_EQUAL(alone.holds, list[i].holds);
            w.settings.background = &w.demand;
            CU_ASSERT_EQUAL(fc_alone_find(&w.turns, list[i].pattern, &w.settings, &arena, &alone, &w.st), FC_OK);
            CU_ASSERT_FALSE(alone.holds);
        }
        fc_arena_free(&arena);
        queued_close(&w, true);
    }
}

int suite_alone(void)
{
    static const CU_TestInfo tests[] = {
        {"one source is a discrete queue", ring},
        {"it is limited as in the kernel", limits},
        {"where flows meet, or the network is large", others},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("alone", tests);
}
