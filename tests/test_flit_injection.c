/* test_flit_injection.c - which injection FIFOs a packet may take (router.injection), and how deep they are
 * (router.injection_buffer).
 *
 * Oracle for `direction`: nodes of a ring, always with a packet waiting, for the next node or the one before by
 * a fair coin, two FIFOs of K packets. The source stops at a packet whose FIFO is full; so one FIFO is full at
 * every slot of a packet's length, and with j packets in the other
 *
 *   j' = min(max(j - 1, 0) + G, K),   P(G = g) = 2^-(g + 1),   links busy = 1/2 + P(j > 0) / 2
 *
 * Oracle for `random` with FIFOs that never run empty: two heads, each for either link by a coin; both leave
 * where they differ, one where not, and the other is still there: 3/4 of the links, as of a saturated 2 x 2
 * switch (Karol, Hluchyj & Morgan, IEEE Trans. Communications 35(12), 1987). How many packets a FIFO takes is
 * counted while not one flit has left it. */
#include "solvers/calibration/calibration.h"
#include "solvers/flit/prepared.h"
#include "solvers/flit/route_ops.h"
#include "tests/flit_router.h"

#define RING(more)                                                                                                     \
    MACHINE("family: torus, dims: [8]",                                                                                \
            "torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 64 GB/s}",                           \
            "flow_control: cut-through, routing: adaptive, escape: bubble, buffer: 4 KiB, vcs: 1, " more, "")

static double links_busy(int k)
{
    double p[17] = {1}, next[17];
    for (int step = 0; step < 2000; step++) {
        memset(next, 0, sizeof next);
        for (int j = 0; j <= k; j++) {
            double share = p[j] / 2;
            for (int to = j > 0 ? j - 1 : 0; to < k; to++, share /= 2) next[to] += share;
            next[k] += 2 * share;
        }
        memcpy(p, next, sizeof p);
    }
    return 1 - p[0] / 2;
}

/* Links busy with packets of 128 flits, backlogged, measured over so many cycles. */
static double saturated(const char *yaml, int engine, uint64_t cycles)
{
    struct bench b;
    uint32_t src[16], dst[16];
    double rate[16], busy = NAN;
    if (!open_bench(&b, yaml)) return busy;
    for (uint32_t i = 0; i < 16; i++) {
        src[i] = i / 2;
        dst[i] = (i / 2 + (i % 2 ? 1 : 7)) % 8;
        rate[i] = 1;
    }
    struct fc_demand demand = entry(&b, src, dst, rate, 16, true);
    b.settings.engine = engine;
    b.settings.backlog = true;
    b.settings.packet_flits_min = b.settings.packet_flits_max = 128;
    b.settings.warmup_cycles = 10000;
    b.settings.measure_cycles = cycles;
    must_run(&b, &demand);
    if (!b.st.code) busy = b.r.accepted_flits_per_node_cycle / 2;
    close_bench(&b);
    return busy;
}

static void queues(void)
{
    double four = links_busy(4);
    CU_ASSERT_DOUBLE_EQUAL(links_busy(1), 0.75, 1e-9); /* j is 0 or 1 by a coin */
    for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
        double own = saturated(RING("injection_fifos: 2, injection: direction"), engine, 50000),
               any = saturated(RING("injection_fifos: 2"), engine, 50000);
        CU_ASSERT_DOUBLE_EQUAL(own, four, 0.015);
        CU_ASSERT_TRUE(any < 0.97 * own);
        if (fabs(own - four) > 0.015 || any > 0.97 * own)
            printf("\n    %s: links busy %g, expected %g; any FIFO: %g", fc_flit_engine_names[engine], own, four, any);
    }
}

/* The FIFOs of a packet from node 0. */
static uint16_t fifos_of(const struct fc_flit_net *flit, uint32_t dst)
{
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    struct fc_flit_head head = {.dst = dst, .random = 1};
    head.route = flit->route->start(flit, 0, dst, 1, NULL);
    int n = flit->route->choices(flit, flit->n_routers, FC_NONE, 0, &head, choice);
    CU_ASSERT_EQUAL(n, 1);
    CU_ASSERT_EQUAL(choice[0].link, flit->net->first_link[flit->n_routers]);
    return choice[0].vcs;
}

static void masks(void)
{
    /* Nodes of 5 x 5: 1 step +x, 4 one -x, 5 one +y, 20 one -y, 6 and 24 both. */
    static const struct {
        const char *yaml;
        uint16_t fifos[7]; /* of packets to 0, 1, 4, 5, 20, 6, 24 */
    } cases[] = {
        {MACHINE("family: torus, dims: [5, 5]", TORUS_WIRES,
                 CUT "routing: adaptive, escape: bubble, vcs: 2, injection_fifos: 6, injection: direction", ""),
         {0x3f, 1, 2, 4, 8, 1 | 4, 2 | 8}},
        {MACHINE("family: torus, dims: [5, 5]", TORUS_WIRES,
                 CUT "routing: adaptive, escape: bubble, vcs: 2, injection_fifos: 6", ""),
         {0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f}},
        {MACHINE("family: torus, dims: [5, 5]", TORUS_WIRES,
                 CUT "routing: dimension-order, vcs: 2, injection_fifos: 9, injection: direction", ""),
         {0x1ff, 3, 12, 3 << 4, 3 << 6, 3, 12}},
        {MACHINE("family: mesh, dims: [5, 1, 5]", WIRES,
                 CUT "routing: dimension-order, vcs: 1, injection_fifos: 4, injection: direction", ""),
         {0xf, 1, 1, 4, 4, 1, 1}},
    };
    static const uint32_t to[] = {0, 1, 4, 5, 20, 6, 24};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct bench b;
        struct fc_flit_net flit;
        if (!open_bench(&b, cases[i].yaml)) continue;
        CU_ASSERT_EQUAL(fc_flit_prepare(&b.net, &b.settings, &flit, &b.st), FC_OK);
        if (b.st.code) printf("\n    %s", b.st.message);
        for (size_t j = 0; j < FC_COUNT(to) && !b.st.code; j++)
            CU_ASSERT_EQUAL(fifos_of(&flit, to[j]), cases[i].fifos[j]);
        fc_flit_unprepare(&flit);
        close_bench(&b);
    }
}

/* Each of three FIFOs gets its third of the packets, the same one whenever it is asked for. */
static void drawn(void)
{
    struct bench b;
    struct fc_flit_net flit;
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    uint32_t n[3] = {0};
    if (!open_bench(&b, RING("injection_fifos: 3, injection: random"))) return;
    CU_ASSERT_EQUAL_FATAL(fc_flit_prepare(&b.net, &b.settings, &flit, &b.st), FC_OK);
    for (uint32_t i = 0; i < 30000; i++) {
        struct fc_flit_head head = {.dst = 1, .random = (uint32_t)fc_random(1, 2, i)};
        head.route = flit.route->start(&flit, 0, 1, head.random, NULL);
        for (int again = 0; again < 2; again++)
            CU_ASSERT_EQUAL(flit.route->choices(&flit, flit.n_routers, FC_NONE, 0, &head, choice), 1);
        CU_ASSERT_FATAL(choice[0].vcs == 1 || choice[0].vcs == 2 || choice[0].vcs == 4);
        n[choice[0].vcs / 2]++;
    }
    for (int i = 0; i < 3; i++) CU_ASSERT_TRUE(fabs(n[i] - 1e4) < 5 * sqrt(3e4 * 2 / 9));
    fc_flit_unprepare(&flit);
    close_bench(&b);
    for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
        double busy = saturated(RING("injection_fifos: 3, injection: random"), engine, 10000);
        CU_ASSERT_TRUE(busy > 0.5 && busy < 0.95);
    }
}

/* ---- depth ---- */

/* Links between routers on which a flit takes 1000 cycles. */
#define SLOW(family) family ": {bandwidth: 8 MB/s}, injection: {bandwidth: 8 GB/s}"
#define SLOW_MESH(router) MACHINE(PAIR, SLOW("mesh"), router, "")
#define SLOW_RING(router) MACHINE("family: torus, dims: [8]", SLOW("torus"), CUT router, "")

/* Within 900 cycles no flit has given its place in a FIFO back: the node has filled them, and no more. */
static void depth(void)
{
    enum { EITHER = FC_ENGINE_CYCLE };
    static const struct {
        const char *yaml;
        uint64_t flits;
        int engines; /* from event to this; wormhole: the cycle engine alone */
    } cases[] = {
        {SLOW_MESH(CUT "vcs: 2, buffer: 128 B, injection_fifos: 3, injection_buffer: 1000 B"), 3 * 15 * 8, EITHER},
        {SLOW_MESH(CUT "vcs: 2, buffer: 1 KiB, injection_fifos: 3, injection_buffer: 64 B"), 3 * 8, EITHER},
        {SLOW_MESH(CUT "vcs: 2, buffer: 128 B, injection_fifos: 3"), 3 * 16, EITHER},
        {SLOW_RING("routing: adaptive, escape: bubble, vcs: 1, buffer: 128 B, injection_fifos: 2, "
                   "injection_buffer: 2 KiB"),
         2 * 256, EITHER},
        {SLOW_RING("routing: adaptive, escape: bubble, vcs: 2, buffer: 128 B, arbitration: jsq-slq, "
                   "injection_fifos: 5, injection_buffer: 576 B"),
         5 * 72, EITHER},
        {SLOW_RING("routing: dimension-order, vcs: 2, buffer: 128 B, injection_buffer: 1 KiB"), 2 * 128, EITHER},
        {SLOW_MESH(WORM "vcs: 2, buffer: 32 B, injection_fifos: 3, injection_buffer: 1 KiB"), 3 * 128, 0},
        {SLOW_MESH(WORM "vcs: 2, buffer: 32 B, injection_buffer: 8 B"), 1, 0}, /* and stops */
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++)
        for (int engine = cases[i].engines ? FC_ENGINE_EVENT : FC_ENGINE_CYCLE; engine <= FC_ENGINE_CYCLE; engine++) {
            struct bench b;
            uint32_t src = 0, dst = 1;
            double bytes = 100 * 64;
            if (!open_bench(&b, cases[i].yaml)) continue;
            struct fc_demand demand = entry(&b, &src, &dst, &bytes, 1, false);
            b.settings.engine = engine;
            b.settings.most_cycles = 900;
            must_run(&b, &demand);
            CU_ASSERT_EQUAL(b.r.flits_injected, cases[i].flits);
            if (b.r.flits_injected != cases[i].flits)
                printf("\n    case %zu, %s: %llu flits", i, fc_flit_engine_names[engine],
                       (unsigned long long)b.r.flits_injected);
            CU_ASSERT_EQUAL(b.r.flits_injected, b.r.flits_delivered + b.r.flits_in_flight);
            CU_ASSERT_TRUE(!b.r.complete && b.r.flits_delivered <= 1); /* the cycle engine passes heads on */
            b.settings.most_cycles = 0;
            must_run(&b, &demand);
            CU_ASSERT_TRUE(b.r.complete && b.r.credits_full);
            CU_ASSERT_EQUAL(b.r.packets_delivered, 100);
            CU_ASSERT_EQUAL(b.r.flits_injected, b.r.flits_delivered);
            close_bench(&b);
        }
}

/* An adapter's queue of one packet on a link that has 25 on the wire, there and back: they have left the queue, so the link is full but for
 * the router's delay and the flit that a credit waits for; not where the router behind has no room for them. */
static void long_links(void)
{
    static const struct {
        const char *buffer;
        double least, most;
    } cases[] = {{"4 KiB", 0.95, 1}, {"512 B", 0.25, 0.35}, {"64 B", 0.03, 0.05}};
    for (size_t i = 0; i < FC_COUNT(cases); i++)
        for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
            struct bench b;
            char yaml[1024];
            uint32_t src[] = {0, 1}, dst[] = {1, 0};
            double rate[] = {1, 1};
            snprintf(yaml, sizeof yaml,
                     MACHINE(PAIR,
                             "mesh: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 100 "
                             "cycles}",
                             CUT "vcs: 1, injection_fifos: 1, injection_buffer: 64 B, buffer: %s", ""),
                     cases[i].buffer);
            if (!open_bench(&b, yaml)) continue;
            struct fc_demand demand = entry(&b, src, dst, rate, 2, true);
            b.settings.engine = engine;
            b.settings.backlog = true;
            b.settings.packet_flits_min = b.settings.packet_flits_max = 8;
            b.settings.warmup_cycles = 2000;
            b.settings.measure_cycles = 8000;
            must_run(&b, &demand);
            double busy = b.r.accepted_flits_per_node_cycle;
            if (!(busy >= cases[i].least && busy <= cases[i].most))
                printf("\n    %s, buffer %s: %g\n", fc_flit_engine_names[engine], cases[i].buffer, busy);
            CU_ASSERT(busy >= cases[i].least && busy <= cases[i].most);
            close_bench(&b);
        }
}

static void never_empty(void)
{
    double shallow = saturated(RING("injection_fifos: 2, injection: random"), FC_ENGINE_EVENT, 50000);
    for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
        double deep =
            saturated(RING("injection_fifos: 2, injection: random, injection_buffer: 500 KiB"), engine, 50000);
        CU_ASSERT_DOUBLE_EQUAL(deep, 0.75, 0.015);
        CU_ASSERT_TRUE(shallow < 0.95 * deep);
        if (fabs(deep - 0.75) > 0.015 || shallow >= 0.95 * deep)
            printf("\n    %s: links busy %g, shallow %g", fc_flit_engine_names[engine], deep, shallow);
    }
}

#define FAST(family) family ": {bandwidth: 8 GB/s, latency: 2 cycles}, injection: {bandwidth: 32 GB/s}"

/* Uniform traffic past saturation out of deep FIFOs, then an all-to-all: nothing is lost, for any number of
 * threads. */
static void conserved(void)
{
    static const char *const yaml[] = {
        MACHINE("family: torus, dims: [4, 4]", FAST("torus"),
                CUT "routing: adaptive, escape: bubble, vcs: 2, buffer: 128 B, arbitration: jsq-slq, "
                    "paths: 2, in_network: 100, injection_fifos: 6, injection: random, injection_buffer: 4 KiB",
                ""),
        MACHINE("family: mesh, dims: [4, 4]", FAST("mesh"),
                WORM "vcs: 2, buffer: 32 B, arbitration: slq, injection_buffer: 4 KiB", ""),
    };
    for (size_t i = 0; i < FC_COUNT(yaml); i++)
        for (int engine = i ? FC_ENGINE_CYCLE : FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
            struct bench b;
            uint64_t cycles[2], delivered[2];
            if (!open_bench(&b, yaml[i])) continue;
            b.settings.engine = engine;
            uint64_t measure = b.settings.measure_cycles, warmup = b.settings.warmup_cycles;
            for (int t = 0; t < 2; t++) {
                b.settings.threads = t + 1;
                b.settings.backlog = true;
                b.settings.warmup_cycles = 1000;
                b.settings.measure_cycles = 4000;
                run_pattern(&b, "uniform");
                CU_ASSERT_EQUAL(b.r.flits_injected, b.r.flits_delivered + b.r.flits_in_flight);
                CU_ASSERT_EQUAL(b.r.packets_injected, b.r.packets_delivered + b.r.packets_in_flight);
                CU_ASSERT_TRUE(b.r.flits_in_flight > 16 * 512); /* more than a FIFO a node */
                delivered[t] = b.r.flits_delivered;
                b.settings.backlog = false;
                b.settings.warmup_cycles = warmup;
                b.settings.measure_cycles = measure;
                run_pattern(&b, "alltoall:bytes=1000");
                CU_ASSERT_TRUE(b.r.complete && b.r.credits_full);
                CU_ASSERT_EQUAL(b.r.flits_injected, b.r.flits_delivered);
                cycles[t] = b.r.cycles;
            }
            CU_ASSERT_TRUE(delivered[0] == delivered[1] && cycles[0] == cycles[1]);
            close_bench(&b);
        }
}

static void kinds(void)
{
    struct bench b;
    struct fc_arena arena = {0};
    const char *deep = NULL, *same = NULL;
    if (open_bench(&b, RING("injection_buffer: 8 KiB"))) {
        CU_ASSERT_EQUAL(fc_calibration_kind(&b.net, NULL, &arena, &deep, &b.st), FC_OK);
        CU_ASSERT_TRUE(deep && strstr(deep, " buffer_flits=512 ") && strstr(deep, " injection_flits=1024"));
        close_bench(&b);
    }
    if (open_bench(&b, RING("injection_buffer: 4 KiB"))) {
        CU_ASSERT_EQUAL(fc_calibration_kind(&b.net, NULL, &arena, &same, &b.st), FC_OK);
        CU_ASSERT_TRUE(same && !strstr(same, "injection_flits"));
        close_bench(&b);
    }
    fc_arena_free(&arena);
}

static void refused_depths(void)
{
    struct bench b;
    refused_file(MACHINE(PAIR, WIRES, "injection_buffer: 0", ""), 5, "router.injection_buffer: '0' is out of range");
    refused_file(MACHINE(PAIR, WIRES, "injection_buffer: 3 s", ""), 5, "router.injection_buffer: '3 s'");
    refused_file(MACHINE(PAIR, WIRES, "\n  vcs: 2,\n  injection_buffer: 512 KiB", ""), 7,
                 "router.injection_buffer: 524288 B hold 65536 flits of 8 B (expected at most 65535 flits)");
    if (open_bench(&b, MACHINE(PAIR, WIRES, CUT "injection_buffer: 524280 B", ""))) close_bench(&b);
    if (open_bench(&b, MACHINE(PAIR, WIRES, CUT "injection_buffer: 63 B", ""))) {
        refused_pattern(&b, "alltoall:bytes=8", false,
                        "router.injection_buffer: 63 B hold 7 flits (expected at least 8, the longest "
                        "packet)");
        close_bench(&b);
    }
    if (open_bench(&b, MACHINE(PAIR, WIRES, WORM "injection_buffer: 7 B", ""))) {
        refused_pattern(&b, "alltoall:bytes=8", false,
                        "router.injection_buffer: 7 B hold 0 flits (expected at least 1, wormhole's least)");
        close_bench(&b);
    }
}

static void refusals(void)
{
    struct bench b;
    if (open_bench(&b, MACHINE("family: torus, dims: [4, 4, 4]", TORUS_WIRES,
                               CUT "vcs: 2, injection_fifos: 5, injection: direction", ""))) {
        refused_pattern(&b, "neighbor", false, "5 injection FIFOs for 6 directions (expected injection_fifos: 6");
        close_bench(&b);
    }
    if (open_bench(&b, "name: t\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [2, 2], parents: [1, 2]}\n"
                       "links: {leaf: {bandwidth: 1 GB/s}, up: {bandwidth: 1 GB/s}}\n"
                       "router: {injection: direction}\n")) {
        refused_pattern(&b, "alltoall", false, "router.injection: direction: is for tori and meshes, not a fat-tree");
        close_bench(&b);
    }
    refused_file(MACHINE("family: torus, dims: [4]", TORUS_WIRES, "injection: x", ""), 5, "router.injection");
}

/* ---- links of unequal speed, nodes of several links ---- */

/* Seconds of a closed run by an engine. */
static double seconds_of(struct bench *b, int engine, uint32_t *src, uint32_t *dst, double *bytes, size_t n)
{
    struct fc_demand demand = entry(b, src, dst, bytes, n, false);
    b->settings.engine = engine;
    must_run(b, &demand);
    return (double)b->r.cycles * b->r.cycle_s;
}

/* A link of 8 GB/s brings packets of one flit for two links of 4 GB/s, in turn: it is never held up by either, so both messages
 * of 32 KiB take 8192 cycles, and some for the way. Held for a whole packet of the slow links it would be twice that. */
static void fast_feeds_slow(void)
{
    struct bench b;
    uint32_t src[] = {2, 2}, dst[] = {1, 5}; /* (0, 1) to (1, 0) and (1, 2) */
    double bytes[] = {32768, 32768};
    if (!open_bench(&b, FAST_FEEDS_SLOW)) return;
    for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
        double cycles = seconds_of(&b, engine, src, dst, bytes, 2) * 1e9;
        CU_ASSERT_TRUE(cycles >= 8192 && cycles < 8500); /* two arbiters: within 4 % */
        if (cycles >= 8500) printf("\n    %s: %g cycles", fc_flit_engine_names[engine], cycles);
        double rate[] = {1, 1};
        struct fc_demand demand = entry(&b, src, dst, rate, 2, true);
        struct fc_flit_settings closed = b.settings;
        b.settings.backlog = true; /* by a coin: 2 cycles where the next one goes the same way, else 1 */
        b.settings.warmup_cycles = 5000;
        b.settings.measure_cycles = 50000;
        must_run(&b, &demand);
        double busy = 6 * b.r.accepted_flits_per_node_cycle;
        /* the cycle engine's port passes on a flit at once where the link has stood still, so up to 3 / 4 */
        bool good = busy > 2.0 / 3 - 0.01 && busy < (engine == FC_ENGINE_EVENT ? 2.0 / 3 + 0.01 : 0.75);
        CU_ASSERT_TRUE(good);
        if (!good) printf("\n    %s: %g of the link", fc_flit_engine_names[engine], busy);
        b.settings = closed;
    }
    close_bench(&b);
}

/* A packet of 16 flits that comes by a link of 1 GB/s (8 cycles a flit) goes on by links of 8 GB/s as it comes: by two of them,
 * and out by another of 1 GB/s, it needs the 128 cycles of its bytes once, and 7 for the rest of its first flit. Packets that
 * go to and fro between such links, of several flits and all at once: both engines within 4 %. */
static void slow_feeds_fast(void)
{
    struct bench b;
    uint32_t src[270], dst[270];
    double bytes[270], seconds[2];
    if (open_bench(&b,
                   "name: t\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [8, 2], parents: [1, 1]}\n"
                   "links: {leaf: {bandwidth: 1 GB/s, latency: 2 cycles}, up: {bandwidth: 8 GB/s, latency: 2 cycles}}\n"
                   "router: {flit: 8 B, delay: 3 cycles, flow_control: cut-through, buffer: 2 KiB, vcs: 2,"
                   " routing: nca}\npacket: {max: 128 B}\n")) {
        src[0] = 0, dst[0] = 8, bytes[0] = 128;
        for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++)
            CU_ASSERT_DOUBLE_EQUAL(seconds_of(&b, engine, src, dst, bytes, 1) * 1e9, 4 * 2 + 3 * 3 + 7 + 128, 1e-6);
        close_bench(&b);
    }
    if (!open_bench(&b,
                    "name: t\nclock: 500 MHz\n"
                    "network: {family: tmesh, dims: [3, 3, 3], mesh: [4, 4], vc_policy: six-vc,"
                    " bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}}\n"
                    "links: {torus: {bandwidth: 2 GB/s, latency: 8 cycles}, mesh: {bandwidth: 25.6 GB/s, latency: 1 "
                    "cycle}}\n"
                    "router: {flit: 32 B, delay: 10 cycles, flow_control: cut-through, buffer: 2 KiB, vcs: 2,"
                    " escape: dateline, routing: dimension-order}\npacket: {max: 544 B}\n"))
        return;
    uint32_t n = b.net.n_nodes;
    CU_ASSERT_EQUAL_FATAL(n, 270); /* bridges do not compute */
    for (uint32_t i = 0; i < n; i++) src[i] = i, dst[i] = (i * 31 + 7) % n, bytes[i] = 400;
    for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++)
        seconds[engine - FC_ENGINE_EVENT] = seconds_of(&b, engine, src, dst, bytes, n);
    CU_ASSERT_TRUE(fc_near(seconds[0], seconds[1], 0.04));
    if (!fc_near(seconds[0], seconds[1], 0.04))
        printf("\n    event %g us, cycle %g us", seconds[0] * 1e6, seconds[1] * 1e6);
    close_bench(&b);
}

/* Nodes with a link into each of four planes send over all of them at once: 64 packets of 512 bytes take as long as 16 over
 * one link, 8192 cycles at 1 GB/s; and single packets of many nodes to one spread over the planes. */
static void planes(void)
{
    struct bench b;
    uint32_t one[] = {0}, other[] = {5}, src[12], dst[12];
    double bytes[] = {32768}, each[12];
    if (!open_bench(&b, "name: t\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [16], parents: [1], planes: 4}\n"
                        "links: {leaf: {bandwidth: 1 GB/s, latency: 2 cycles}}\n"
                        "router: {flit: 8 B, delay: 3 cycles, flow_control: cut-through, buffer: 2 KiB, vcs: 2,"
                        " routing: nca}\npacket: {max: 512 B}\n"))
        return;
    for (uint32_t i = 0; i < 12; i++) src[i] = i + 1, dst[i] = 0, each[i] = 512;
    for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
        double cycles = seconds_of(&b, engine, one, other, bytes, 1) * 1e9;
        CU_ASSERT_DOUBLE_EQUAL(cycles, 8192, 100);
        if (fabs(cycles - 8192) > 100) printf("\n    %s: %g cycles", fc_flit_engine_names[engine], cycles);
        cycles = seconds_of(&b, engine, src, dst, each, 12) * 1e9;
        CU_ASSERT_TRUE(cycles < 8 * 512); /* 12 if all took one plane */
        if (cycles >= 8 * 512) printf("\n    %s: %g cycles into one node", fc_flit_engine_names[engine], cycles);
    }
    close_bench(&b);
}

static CU_TestInfo tests[] = {
    {"queues of two directions", queues},
    {"FIFOs of a packet", masks},
    {"a FIFO drawn for each packet", drawn},
    {"depth: packets taken in while links stand still", depth},
    {"a short queue before a long link", long_links},
    {"FIFOs that are never empty", never_empty},
    {"conservation", conserved},
    {"depth is part of the kind", kinds},
    {"refusals", refusals},
    {"depths refused", refused_depths},
    {"a fast link feeds two slow ones", fast_feeds_slow},
    {"a link into each plane", planes},
    {"slow links feed a fast one", slow_feeds_fast},
    CU_TEST_INFO_NULL,
};

int suite_flit_injection(void)
{
    return fc_add_suite("flit_injection", tests);
}
