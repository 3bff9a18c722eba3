/* test_flit_background.c - traffic of others in an open-loop run of the kernel: rates, waits, counts, refusals.
 *
 * Oracle: both kinds share the queue of their node, so births with p_i a cycle of packets of F_i flits wait for the
 * injection link as in Geo/G/1 (Takagi, Queueing Analysis 3, 1993, section 1.2): W = sum p_i F_i (F_i - 1) / (2 (1 - rho)),
 * rho = sum p_i F_i, the same for either. */
#include "tests/flit_router.h"

/* Own packets of least..8 flits, each length as often; the background's have 8. */
static void one_queue(void)
{
    static const struct {
        double own, others; /* flits a cycle */
        uint32_t least;
    } cases[] = {{0.5, 0.2, 8}, {0.1, 0.5, 2}, {0.4, 0.25, 1}};
    struct bench b;
    uint32_t src = 0, dst = 1;
    double rate = 1;
    if (!open_bench(&b, MACHINE(PAIR, WIRES, CUT "vcs: 1, buffer: 512 B", ""))) return;
    struct fc_demand demand = entry(&b, &src, &dst, &rate, 1, true), others = demand;
    for (size_t i = 0; i < 2 * FC_COUNT(cases); i++) {
        uint32_t least = cases[i / 2].least;
        double own = cases[i / 2].own, bg = cases[i / 2].others, rho = own + bg, alone = 0, left = bg * 7;
        for (uint32_t f = least; f <= 8; f++) {
            alone += oracle_zero_load(&b.net, 0, 1, f) / (9 - least);
            left += own / ((least + 8) / 2.0) / (9 - least) * f * (f - 1);
        }
        double wait = left / (2 * (1 - rho));
        b.settings.engine = i % 2 ? FC_ENGINE_CYCLE : FC_ENGINE_EVENT;
        b.settings.packet_flits_min = least;
        b.settings.packet_flits_max = 8;
        b.settings.load_flits_per_cycle = own / 2; /* one of two nodes sends */
        b.settings.background = &others;
        b.settings.background_flits_per_cycle = bg / 2;
        b.settings.measure_cycles = 600000;
        must_run(&b, &demand);
        const struct fc_flit_part *h = &b.r.background;
        double got = b.r.latency_mean_cycles - alone,
               beside = h->latency_mean_cycles - oracle_zero_load(&b.net, 0, 1, 8);
        CU_ASSERT_TRUE(fabs(got / wait - 1) < 0.02);
        CU_ASSERT_TRUE(fabs(beside / wait - 1) < 0.02);
        CU_ASSERT_TRUE(fabs(b.r.accepted_flits_per_node_cycle / (own / 2) - 1) < 0.015);
        CU_ASSERT_TRUE(fabs(h->accepted_flits_per_node_cycle / (bg / 2) - 1) < 0.015);
        CU_ASSERT_TRUE(fabs(h->share - bg / rho) < 1e-12);
        CU_ASSERT_TRUE(fabs(b.r.offered_flits_per_node_cycle - own / 2) < 1e-12);
        CU_ASSERT_EQUAL(h->others_latency_mean_cycles, b.r.latency_mean_cycles);
        CU_ASSERT_EQUAL(b.r.packets_injected, b.r.packets_delivered + b.r.packets_in_flight);
        if (fabs(got / wait - 1) >= 0.02 || fabs(beside / wait - 1) >= 0.02)
            printf("\n    waits %g and %g, expected %g", got, beside, wait);
    }
    close_bench(&b);
}

static const char *const networks[] = {
    MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES, WORM "vcs: 2, buffer: 128 B, routing: dimension-order", ""),
    MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES, CUT "vcs: 2, buffer: 128 B, routing: adaptive, escape: bubble",
            ""),
    MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES,
            CUT "vcs: 2, buffer: 128 B, routing: dimension-order, escape: bubble", ""),
    MACHINE("family: mesh, dims: [4, 4]", WIRES, CUT "vcs: 1, buffer: 128 B, bypass: 1 cycle", ""),
};

/* Nodes 0 to 3 (a row) talk among themselves, all others are the background: rates of both, the same for any number of
 * threads, and the demand's packets wait more than without. */
static void beside_others(void)
{
    for (size_t i = 0; i < FC_COUNT(networks); i++) {
        struct bench b;
        struct fc_demand others;
        struct fc_status st = {0};
        uint32_t src[12], dst[12], n = 0;
        double bytes[12], alone, latency[2], beside[2];
        if (!open_bench(&b, networks[i])) continue;
        for (uint32_t s = 0; s < 4; s++)
            for (uint32_t d = 0; d < 4; d++)
                if (s != d) src[n] = s, dst[n] = d, bytes[n++] = 1;
        struct fc_demand demand = entry(&b, src, dst, bytes, n, true);
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&b.net, "uniform", 1, &others, &st), FC_OK);
        b.settings.load_flits_per_cycle = 0.05;
        b.settings.measure_cycles = 25000;
        must_run(&b, &demand);
        alone = b.r.latency_mean_cycles;
        CU_ASSERT_EQUAL(b.r.background.share, 0);
        b.settings.background = &others;
        b.settings.background_flits_per_cycle = 0.15;
        for (int t = 1; t <= 2; t++) {
            b.settings.threads = t;
            must_run(&b, &demand);
            latency[t - 1] = b.r.latency_mean_cycles;
            beside[t - 1] = b.r.background.latency_mean_cycles;
            CU_ASSERT_TRUE(b.r.stable);
            CU_ASSERT_TRUE(fabs(b.r.accepted_flits_per_node_cycle / 0.05 - 1) < 0.04);
            CU_ASSERT_TRUE(fabs(b.r.background.accepted_flits_per_node_cycle / 0.15 - 1) < 0.04);
            CU_ASSERT_EQUAL(b.r.packets_injected, b.r.packets_delivered + b.r.packets_in_flight);
        }
        CU_ASSERT_EQUAL(latency[0], latency[1]);
        CU_ASSERT_EQUAL(beside[0], beside[1]);
        CU_ASSERT_TRUE(latency[0] > 1.02 * alone);
        CU_ASSERT_TRUE(b.r.fairness_jain > 0.95); /* of the four that send for the demand */
        fc_demand_free(&others);
        close_bench(&b);
    }
}

static void what_is_refused(void)
{
    struct bench b;
    struct fc_demand others;
    struct fc_status st = {0};
    if (!open_bench(&b, MACHINE(PAIR, WIRES, CUT "vcs: 1, high_priority: yes", ""))) return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&b.net, "uniform", 1, &others, &st), FC_OK);
    b.settings.background = &others;
    b.settings.background_flits_per_cycle = 0.5;
    b.settings.load_flits_per_cycle = 0.6;
    refused_pattern(&b, "uniform", true, "would offer 0.6 flits a cycle and its background 0.5");
    b.settings.load_flits_per_cycle = 0.2;
    b.settings.high_priority_share = 0.1;
    refused_pattern(&b, "uniform", true, "cannot both be counted apart");
    b.settings.high_priority_share = 0;
    b.settings.background_flits_per_cycle = -1;
    refused_pattern(&b, "uniform", true, "load -1: expected a positive number");
    b.settings.background_flits_per_cycle = 0.1;
    b.settings.load_flits_per_cycle = 0;
    refused_pattern(&b, "complement", false, "a background beside finite messages");
    b.settings.backlog = true;
    refused_pattern(&b, "uniform", true, "leave a background no place");
    fc_demand_free(&others);
    close_bench(&b);
}

/* Pattern `blocks`: what stays on a chip crosses no torus link. */
static void within_a_chip(void)
{
    struct bench b;
    struct fc_demand demand;
    if (!open_bench(
            &b, "name: t\nclock: 1 GHz\nnetwork: {family: tmesh, dims: [2, 2], mesh: [3, 3], bridges: {x-: 0, y-: "
                "2, x+: 1, y+: 3}, router_nodes_compute: yes, vc_policy: six-vc}\nlinks: {torus: {bandwidth: 2 GB/s}, "
                "mesh: {bandwidth: 8 GB/s}, injection: {bandwidth: 8 GB/s}}\nrouter: {delay: 2 cycles, flow_control: "
                "cut-through, flit: 8 B, vcs: 2, escape: dateline, buffer: 128 B, routing: "
                "dimension-order}\npacket: {max: 64 B}\n"))
        return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&b.net, "blocks:nodes=9", 1, &demand, &b.st), FC_OK);
    CU_ASSERT_EQUAL(demand.n_entries, 36 * 8);
    demand.open_loop = true;
    b.settings.load_flits_per_cycle = 0.2;
    must_run(&b, &demand);
    CU_ASSERT_EQUAL(b.r.classes[0].max_utilization, 0);
    CU_ASSERT_TRUE(fabs(b.r.hops_mean - 2) < 0.02); /* 2 x (n^2 - 1) / (3 n), over others only: x 9 / 8 */
    fc_demand_free(&demand);
    b.st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_demand_from_pattern(&b.net, "blocks:nodes=16", 1, &demand, &b.st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.st.message, "blocks of 16 do not divide the 36 nodes"));
    close_bench(&b);
}

int suite_flit_background(void)
{
    CU_pSuite suite = CU_add_suite("flit: traffic of others beside the demand", NULL, NULL);
    if (!suite) return 1;
    CU_ADD_TEST(suite, one_queue);
    CU_ADD_TEST(suite, beside_others);
    CU_ADD_TEST(suite, what_is_refused);
    CU_ADD_TEST(suite, within_a_chip);
    return 0;
}
