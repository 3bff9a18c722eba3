/* test_flit_router.c - what a router or node of the cycle engine may have beside the common: reception queues
 * of finite size, a bypass; and the bubble escape in direction order.
 *
 * Oracles. Reception: one server; its k-th packet is taken at (first whole packet) + k S while it never runs
 * dry; with births of probability p a cycle the wait is that of Geo/D/1, p S (S-1) / (2 (1 - p S)). Zero
 * load: R bypass + wires + F
 * + S. */
#include "solvers/flit/prepared.h"
#include "solvers/flit/route_ops.h"
#include "tests/flit_router.h"

/* ---- reception ---- */

enum { SERVICE = 13 };
#define TAKES "reception: 256 B, reception_time: 13 cycles"

/* A message of N packets of 8 flits: whole one after the other every 8 cycles, taken every 13. Cut short, the
 * rest is in flight. */
static void drain_rate(void)
{
    static const char *const yaml[] = {
        MACHINE(PAIR, WIRES, WORM "vcs: 2, buffer: 128 B", TAKES),
        MACHINE(PAIR, WIRES, CUT "vcs: 1, buffer: 128 B", TAKES ", reception_queues: 3"),
        MACHINE(PAIR, WIRES, WORM "vcs: 2, buffer: 64 B, vc_allocation: stage", TAKES ", reception_queues: 2"),
        MACHINE(PAIR, WIRES, CUT "vcs: 1, buffer: 128 B",
                "reception: 256 B, reception_time: 5 cycles, reception_per_byte: 0.125 ns/B"), /* 5 + 8 */
    };
    enum { PACKETS = 50 };
    for (size_t i = 0; i < FC_COUNT(yaml); i++) {
        struct bench b;
        uint32_t src = 0, dst = 1;
        double bytes = PACKETS * 64;
        if (!open_bench(&b, yaml[i])) continue;
        struct fc_demand demand = entry(&b, &src, &dst, &bytes, 1, false);
        double whole = oracle_zero_load(&b.net, 0, 1, 8);
        must_run(&b, &demand);
        CU_ASSERT_TRUE(b.r.complete && b.r.credits_full);
        CU_ASSERT_EQUAL(b.r.packets_delivered, PACKETS);
        CU_ASSERT_EQUAL((double)b.r.cycles, whole + PACKETS * SERVICE);
        CU_ASSERT_STRING_EQUAL(b.r.engine, "cycle");
        b.settings.most_cycles = 300;
        must_run(&b, &demand);
        CU_ASSERT_EQUAL((double)b.r.packets_delivered, floor((300 - 1 - whole) / SERVICE));
        CU_ASSERT_EQUAL(b.r.packets_injected, b.r.packets_delivered + b.r.packets_in_flight);
        CU_ASSERT_EQUAL(b.r.flits_injected, b.r.flits_delivered + b.r.flits_in_flight);
        CU_ASSERT_TRUE(b.r.packets_in_flight > 3);
        close_bench(&b);
    }
}

/* All send to one node, which never runs dry: the whole network waits for it, and no other is hurt. */
static void slow_receiver(void)
{
    static const char *const yaml[] = {
        MACHINE("family: torus, dims: [4, 3]", TORUS_WIRES, WORM "vcs: 2, buffer: 64 B, routing: dimension-order",
                TAKES ", reception_queues: 2"),
        MACHINE("family: torus, dims: [4, 3]", TORUS_WIRES,
                CUT "vcs: 2, buffer: 128 B, escape: bubble, arbitration: jsq-slq, paths: 2", TAKES),
    };
    for (size_t i = 0; i < FC_COUNT(yaml); i++) {
        struct bench b;
        uint32_t src[11], dst[11];
        double bytes[11], nearest = INFINITY, cycles[2];
        if (!open_bench(&b, yaml[i])) continue;
        for (uint32_t s = 0; s < 11; s++) {
            src[s] = s + 1, dst[s] = 0, bytes[s] = 20 * 64;
            nearest = fmin(nearest, oracle_zero_load(&b.net, s + 1, 0, 8));
        }
        struct fc_demand demand = entry(&b, src, dst, bytes, 11, false);
        for (int t = 1; t <= 2; t++) {
            b.settings.threads = t;
            must_run(&b, &demand);
            CU_ASSERT_TRUE(b.r.complete && b.r.credits_full);
            cycles[t - 1] = (double)b.r.cycles;
        }
        CU_ASSERT_EQUAL(cycles[0], nearest + 11 * 20 * SERVICE);
        CU_ASSERT_EQUAL(cycles[0], cycles[1]);
        close_bench(&b);
    }
}

/* Packets of one flit never wait on the way, only for the node. */
static void reception_wait(void)
{
    struct bench b;
    uint32_t src = 0, dst = 1;
    double rate = 1, p = 0.06;
    if (!open_bench(&b,
                    MACHINE(PAIR, WIRES, WORM "vcs: 1, buffer: 128 B", "reception: 16 KiB, reception_time: 13 cycles")))
        return;
    struct fc_demand demand = entry(&b, &src, &dst, &rate, 1, true);
    b.settings.packet_flits_min = b.settings.packet_flits_max = 1;
    b.settings.load_flits_per_cycle = p / 2; /* mean over two nodes */
    b.settings.measure_cycles = 800000;
    must_run(&b, &demand);
    double wait = p * SERVICE * (SERVICE - 1) / (2 * (1 - p * SERVICE));
    double expected = oracle_zero_load(&b.net, 0, 1, 1) + SERVICE + wait;
    CU_ASSERT_TRUE(b.r.stable);
    CU_ASSERT_TRUE(fabs(b.r.latency_mean_cycles - expected) < 0.02 * wait);
    if (!(fabs(b.r.latency_mean_cycles - expected) < 0.02 * wait))
        printf("\n    latency %g, expected %g", b.r.latency_mean_cycles, expected);
    close_bench(&b);
}

static void reception_refused(void)
{
    struct bench b;
    refused_file(MACHINE(PAIR, WIRES, WORM "vcs: 1", "reception_time: 3 cycles"), 7, "node.reception_time: without");
    refused_file(MACHINE(PAIR, WIRES, WORM "vcs: 1", "reception_per_byte: 1 ns/B"), 7,
                 "node.reception_per_byte: without");
    refused_file(MACHINE(PAIR, WIRES, WORM "vcs: 1", "reception_queues: 2"), 7, "node.reception_queues: without");
    refused_file(MACHINE(PAIR, WIRES, WORM "vcs: 1", "reception: 0"), 7, "node.reception: '0' is out of range");
    refused_file(MACHINE(PAIR, WIRES, WORM "vcs: 1", "reception: 64, reception_queues: 17"), 7, "out of range");
    if (open_bench(&b, MACHINE(PAIR, WIRES, WORM "vcs: 1", "reception: 63 B"))) {
        refused_pattern(&b, "alltoall:bytes=8", false, "node.reception: 63 B hold 7 flits");
        close_bench(&b);
    }
    if (open_bench(&b, MACHINE(PAIR, WIRES, WORM "vcs: 1", "reception: 1 MiB"))) {
        refused_pattern(&b, "alltoall:bytes=8", false, "reception queues are limited to 65535 flits");
        close_bench(&b);
    }
    if (open_bench(&b, MACHINE(PAIR, WIRES, CUT "vcs: 1", "reception: 1 KiB"))) {
        b.settings.engine = FC_ENGINE_EVENT;
        refused_pattern(&b, "alltoall:bytes=8", false, "reception queues of finite size");
        close_bench(&b);
    }
}

/* The last credits travel longer than the last packet: a drained run waits for them. */
static void last_credits(void)
{
    struct bench b;
    uint32_t src = 0, dst = 1;
    double bytes = 64;
    if (!open_bench(&b, MACHINE(PAIR, "mesh: {bandwidth: 8 GB/s, latency: 1000 cycles}, injection: {bandwidth: 8 GB/s}",
                                WORM "vcs: 1, buffer: 64 B", "")))
        return;
    struct fc_demand demand = entry(&b, &src, &dst, &bytes, 1, false);
    b.settings.engine = FC_ENGINE_CYCLE;
    for (int t = 1; t <= 2; t++) {
        b.settings.threads = t;
        must_run(&b, &demand);
        CU_ASSERT_TRUE(b.r.complete && b.r.credits_full);
    }
    close_bench(&b);
}

/* ---- bypass ---- */

static void bypass_zero_load(void)
{
    static const char *const yaml[] = {
        MACHINE("family: mesh, dims: [4, 3]", WIRES, WORM "vcs: 2, buffer: 128 B, bypass: 1 cycle", ""),
        MACHINE("family: torus, dims: [5, 4]", TORUS_WIRES, CUT "vcs: 2, buffer: 128 B, escape: bubble, bypass: 0 s",
                ""),
        MACHINE("family: fat-tree, children: [3, 4], parents: [1, 2]",
                "leaf: {bandwidth: 8 GB/s, latency: 4 cycles}, up: {bandwidth: 8 GB/s, latency: 2 cycles}",
                WORM "vcs: 2, buffer: 128 B, bypass: 2 cycles", "reception: 64 B, reception_time: 5 cycles"),
    };
    uint32_t node[64];
    for (size_t i = 0; i < FC_COUNT(yaml); i++) {
        struct bench b;
        int wrong = 0;
        if (!open_bench(&b, yaml[i])) continue;
        struct fc_machine slow = b.machine;
        slow.router.delay_s = slow.router.bypass_s;
        struct fc_network by_bypass = b.net;
        by_bypass.machine = &slow;
        double taken = b.machine.reception.packet_s * 1e9;
        for (uint32_t s = 0; s < b.net.n_nodes; s++)
            for (uint32_t d = 0; d < b.net.n_nodes; d++)
                for (uint32_t flits = 1; s != d && flits < 9; flits += 7)
                    wrong += fabs(oracle_measure_one(&b.net, FC_ENGINE_CYCLE, NULL, s, d, flits, node, &b.st) - taken -
                                  oracle_zero_load(&by_bypass, s, d, flits)) > 1e-9;
        CU_ASSERT_EQUAL(wrong, 0);
        close_bench(&b);
    }
}

/* Two nodes of a router send a flit each to the next router in the same cycle: both ask for the link, both
 * take the full delay there, and the bypass after it. */
static void bypass_contention(void)
{
    struct bench b;
    uint32_t src[2] = {0, 1}, dst[2] = {2, 3};
    double bytes[2] = {8, 8};
    if (!open_bench(&b, MACHINE("family: mesh, dims: [2], nodes_per_router: 2", WIRES,
                                WORM "vcs: 2, buffer: 128 B, bypass: 1 cycle", "")))
        return;
    struct fc_demand one = entry(&b, src, dst, bytes, 1, false), two = entry(&b, src, dst, bytes, 2, false);
    must_run(&b, &one);
    CU_ASSERT_EQUAL(b.r.latency_max_cycles, 1 + 1 + 2 + 1 + 1 + 1);
    must_run(&b, &two);
    CU_ASSERT_EQUAL(b.r.latency_mean_cycles, 1 + 3 + 2 + 1 + 1 + 1 + 0.5);
    CU_ASSERT_EQUAL(b.r.latency_max_cycles, 1 + 3 + 2 + 1 + 1 + 1 + 1);
    close_bench(&b);
}

static bool same_answer(const struct fc_flit_result *a, const struct fc_flit_result *b)
{
    return a->latency_mean_cycles == b->latency_mean_cycles && a->latency_p99_cycles == b->latency_p99_cycles &&
           a->flit_hops == b->flit_hops && a->packets_injected == b->packets_injected && a->cycles == b->cycles &&
           a->accepted_flits_per_node_cycle == b->accepted_flits_per_node_cycle;
}
/* A bypass as long as the delay is none; a short one carries all there is, leaves saturation where it was,
 * and keeps every worm together. */
static void bypass_under_load(void)
{
    static const char *const yaml[] = {
        MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES,
                WORM "vcs: 4, buffer: 64 B, routing: dimension-order, bypass: %d cycles", ""),
        MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES,
                CUT "vcs: 2, buffer: 128 B, escape: bubble, paths: 2, bypass: %d cycles", ""),
        MACHINE("family: mesh, dims: [4, 4]",
                "x: {bandwidth: 8 GB/s, latency: 1 cycle}, y: {bandwidth: 4 GB/s, latency: 3 cycles}, "
                "injection: {bandwidth: 8 GB/s}",
                WORM "vcs: 3, buffer: 64 B, bypass: %d cycles", ""),
    };
    for (size_t i = 0; i < FC_COUNT(yaml); i++) {
        double backlog[2] = {0}, low[2] = {0};
        struct fc_flit_result full[2];
        for (int bypass = 0; bypass < 4; bypass += 3) { /* 3: the delay */
            struct bench b;
            char text[1024];
            snprintf(text, sizeof text, yaml[i], bypass ? bypass : 1);
            if (!open_bench(&b, text)) return;
            run_pattern(&b, "alltoall:bytes=500");
            CU_ASSERT_TRUE(b.r.complete && b.r.credits_full);
            b.settings.load_flits_per_cycle = 0.1;
            b.settings.warmup_cycles = 1000;
            b.settings.measure_cycles = 4000;
            for (int without = 0; without < (bypass ? 2 : 1); without++) {
                if (without) b.machine.router.bypass_s = NAN;
                b.settings.engine = FC_ENGINE_CYCLE;
                b.settings.threads = 2 - without;
                run_pattern(&b, "uniform");
                full[without] = b.r;
                low[bypass > 0] = b.r.latency_mean_cycles;
            }
            if (bypass) CU_ASSERT_TRUE(same_answer(&full[0], &full[1]));
            b.settings.backlog = true;
            b.settings.load_flits_per_cycle = 0;
            run_pattern(&b, "uniform");
            CU_ASSERT_FALSE(b.r.deadlock);
            backlog[bypass > 0] = b.r.accepted_flits_per_node_cycle;
            close_bench(&b);
        }
        CU_ASSERT_TRUE(low[0] < low[1] - 2);
        CU_ASSERT_TRUE(fabs(backlog[0] / backlog[1] - 1) < 0.03);
        if (!(fabs(backlog[0] / backlog[1] - 1) < 0.03)) printf("\n    %g, without %g", backlog[0], backlog[1]);
    }
}

static void bypass_refused(void)
{
    struct bench b;
    refused_file(MACHINE(PAIR, WIRES, WORM "bypass: 4 cycles", ""), 5,
                 "router.bypass: 4e-09 s is longer than router.delay");
    refused_file(MACHINE(PAIR, WIRES, WORM "bypass: 1 cycle, vc_allocation: stage", ""), 5,
                 "router.bypass: with a virtual-channel stage");
    if (open_bench(&b, MACHINE(PAIR, WIRES, CUT "vcs: 1, bypass: 1 cycle", ""))) {
        b.settings.engine = FC_ENGINE_EVENT;
        refused_pattern(&b, "alltoall:bytes=8", false, "routers with a bypass (router.bypass)");
        close_bench(&b);
    }
    if (open_bench(&b, MACHINE(PAIR, "mesh: {bandwidth: 8 GB/s}", CUT "vcs: 1, bypass: 0 s", ""))) {
        refused_pattern(&b, "alltoall:bytes=8", false, "router bypass and latency of class mesh are zero together");
        close_bench(&b);
    }
}

/* ---- bubble in direction order ---- */

static void bubble_direction(void)
{
    static const struct {
        const char *yaml;
        bool acyclic, safe;
    } cases[] = {
        {MACHINE("family: torus, dims: [4, 4, 2]", TORUS_WIRES,
                 CUT "vcs: 1, buffer: 128 B, escape: bubble-direction-ordered", ""),
         false, true},
        {MACHINE("family: mesh, dims: [4, 4]", WIRES,
                 CUT "vcs: 1, buffer: 128 B, routing: adaptive, escape: bubble-direction-ordered", ""),
         true, true},
        {MACHINE("family: torus, dims: [5, 4]", TORUS_WIRES,
                 CUT "vcs: 1, buffer: 128 B, routing: dimension-order, escape: bubble-direction-ordered", ""),
         false, true},
        {MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES,
                 CUT "vcs: 1, buffer: 127 B, escape: bubble-direction-ordered", ""),
         false, false},
        {MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES,
                 WORM "vcs: 1, buffer: 128 B, escape: bubble-direction-ordered", ""),
         false, false},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct bench b;
        struct fc_certificate c;
        if (!open_bench(&b, cases[i].yaml)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_certify(&b.net, NULL, &c, &b.st), FC_OK);
        CU_ASSERT_STRING_EQUAL(c.policy, "bubble-direction-ordered");
        CU_ASSERT_EQUAL(c.safe, cases[i].safe);
        CU_ASSERT_EQUAL(c.acyclic, cases[i].acyclic);
        fc_certificate_free(&c);
        b.settings.backlog = true;
        b.settings.packet_flits_min = 1;
        b.settings.packet_flits_max = 8;
        b.settings.measure_cycles = 4000;
        for (int engine = FC_ENGINE_EVENT; cases[i].safe && engine <= FC_ENGINE_CYCLE; engine++) {
            b.settings.engine = engine;
            run_pattern(&b, "uniform");
            CU_ASSERT_FALSE(b.r.deadlock);
            CU_ASSERT_TRUE(b.r.accepted_flits_per_node_cycle > 0.2);
            if (!i) CU_ASSERT_TRUE(b.r.escape_share > 0.01);
        }
        if (!cases[i].safe)
            refused_pattern(&b, "uniform", true,
                            i == 3 ? "the bubble rule needs room for two" : "wormhole with the bubble");
        close_bench(&b);
    }
}

/* The escape of every packet: all + directions, then all -, each once. */
static void escape_order(void)
{
    struct bench b;
    struct fc_flit_net flit;
    if (!open_bench(&b, MACHINE("family: torus, dims: [4, 3, 4]", TORUS_WIRES,
                                CUT "vcs: 1, buffer: 128 B, escape: bubble-direction-ordered", "")))
        return;
    if (fc_flit_prepare(&b.net, &b.settings, &flit, &b.st)) CU_FAIL_FATAL("prepare");
    CU_ASSERT_EQUAL(flit.n_escape_vcs, 1);
    for (uint32_t p = 0; p < b.net.n_nodes * b.net.n_nodes; p++) {
        uint32_t src = p / b.net.n_nodes, dst = p % b.net.n_nodes, at = src, rank = 0,
                 link = b.net.first_link[48 + src];
        struct fc_flit_head head = {flit.route->start(&flit, src, dst, p * 2654435761u, NULL), dst, 0};
        for (int hops = 0; at < b.net.n_routers && hops < 20; hops++) {
            struct fc_flit_choice c[FC_FLIT_MOST_CHOICES];
            int n = flit.route->choices(&flit, at, link, 0, &head, c);
            const struct fc_flit_choice *escape = &c[n - 1];
            uint32_t port = escape->link - b.net.first_link[at], ranks = port % 2 * 3 + port / 2;
            if (n > 1) {
                CU_ASSERT_TRUE(escape->escape && escape->vcs == 1 && escape->full_size);
                CU_ASSERT_TRUE(ranks >= rank);
                CU_ASSERT_EQUAL(escape->room_packets, hops && ranks == rank ? 1 : 2);
                rank = ranks;
            }
            head.route = escape->route;
            link = escape->link;
            at = b.net.link_target[link];
        }
        CU_ASSERT_EQUAL(at, fc_node_vertex(&b.net, dst));
    }
    fc_flit_unprepare(&flit);
    close_bench(&b);
}

int suite_flit_router(void)
{
    CU_pSuite suite = CU_add_suite("flit: reception, bypass, bubble in direction order", NULL, NULL);
    if (!suite) return 1;
    CU_ADD_TEST(suite, drain_rate);
    CU_ADD_TEST(suite, slow_receiver);
    CU_ADD_TEST(suite, reception_wait);
    CU_ADD_TEST(suite, reception_refused);
    CU_ADD_TEST(suite, last_credits);
    CU_ADD_TEST(suite, bypass_zero_load);
    CU_ADD_TEST(suite, bypass_contention);
    CU_ADD_TEST(suite, bypass_under_load);
    CU_ADD_TEST(suite, bypass_refused);
    CU_ADD_TEST(suite, bubble_direction);
    CU_ADD_TEST(suite, escape_order);
    return 0;
}
