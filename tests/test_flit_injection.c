/* test_flit_injection.c - which injection FIFOs a packet may take (router.injection).
 *
 * Oracle for `direction`: nodes of a ring, always with a packet waiting, for the next node or the one before by
 * a fair coin, two FIFOs of K packets. The source stops at a packet whose FIFO is full; so one FIFO is full at
 * every slot of a packet's length, and with j packets in the other
 *
 *   j' = min(max(j - 1, 0) + G, K),   P(G = g) = 2^-(g + 1),   links busy = 1/2 + P(j > 0) / 2 */
#include "tests/flit_router.h"

#define RING(more)                                                                                           \
    MACHINE("family: torus, dims: [8]", "torus: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 64 GB/s}",                      \
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

/* Links busy with packets of 128 flits, backlogged. */
static double saturated(const char *yaml, int engine)
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
    b.settings.measure_cycles = 100000;
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
        double own = saturated(RING("injection_fifos: 2, injection: direction"), engine),
               any = saturated(RING("injection_fifos: 2"), engine);
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
        double busy = saturated(RING("injection_fifos: 3, injection: random"), engine);
        CU_ASSERT_TRUE(busy > 0.5 && busy < 0.95);
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

static CU_TestInfo tests[] = {
    {"queues of two directions", queues},
    {"FIFOs of a packet", masks},
    {"a FIFO drawn for each packet", drawn},
    {"refusals", refusals},
    CU_TEST_INFO_NULL,
};

int suite_flit_injection(void)
{
    return fc_add_suite("flit_injection", tests);
}
