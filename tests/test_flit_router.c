/* test_flit_router.c - what a router of the cycle engine may have beside the common: reception queues of finite size,
 * channels for packets of high priority, a bypass; and the bubble escape in direction order.
 *
 * Oracles. Reception: one server; its k-th packet is taken at (first whole packet) + k S while it never runs dry; with
 * births of probability p a cycle the wait is that of Geo/D/1, p S (S-1) / (2 (1 - p S)). Priority: Cobham, J. Oper. Res.
 * Soc. Am. 2(1), 1954, in discrete time: packets of F flits born with p_h and p_l a cycle, rho = F p, and
 * R = rho (F-1) / 2 flits left of the packet on the link as an arrival sees it;
 *   W_h = R / (1 - rho_h),   W_l = (R / (1 - rho_h) + rho_h) / (1 - rho)
 * since high ones go first that are born by the very cycle in which the low one would start. Bypass and reception at zero
 * load: R bypass + wires + F + S. */
#include "solvers/flit/kernel.h"
#include "tests/flit_oracles.h"
#include "tests/support.h"
#include "tests/tests.h"

#define MACHINE(network, latency, router, node)                                                              \
    "name: t\nclock: 1 GHz\nnetwork: {" network "}\nlinks: {" latency "}\nrouter: {flit: 8 B, credit: 1 cycle, " router \
    "}\npacket: {max: 64 B}\nnode: {" node "}\n"
#define PAIR "family: mesh, dims: [2]"
#define WIRES "mesh: {bandwidth: 8 GB/s, latency: 2 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}"
#define TORUS_WIRES "torus: {bandwidth: 8 GB/s, latency: 2 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}"
#define WORM "delay: 3 cycles, flow_control: wormhole, "
#define CUT "delay: 3 cycles, flow_control: cut-through, "

struct bench {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_settings settings;
    struct fc_flit_result r;
    struct fc_status st;
};
static bool open_bench(struct bench *b, const char *yaml)
{
    memset(b, 0, sizeof *b);
    fc_flit_defaults(&b->settings);
    return fc_test_network(yaml, &b->machine, &b->net);
}
static void close_bench(struct bench *b)
{
    fc_flit_free(&b->r);
    fc_test_close(&b->machine, &b->net);
}
static enum fc_code run_demand(struct bench *b, const struct fc_demand *demand)
{
    uint32_t node[64];
    for (uint32_t i = 0; i < 64; i++) node[i] = i;
    fc_flit_free(&b->r);
    b->st = (struct fc_status){0};
    CU_ASSERT_FATAL(b->net.n_nodes <= 64);
    return fc_flit_run(&b->net, demand, demand->open_loop ? NULL : node, &b->settings, &b->r, &b->st);
}
static void must_run(struct bench *b, const struct fc_demand *demand)
{
    if (run_demand(b, demand)) printf("\n    %s", b->st.message);
    CU_ASSERT_EQUAL(b->st.code, FC_OK);
}
/* One entry of the demand: `bytes` from src to dst, or rates in an open loop. */
static struct fc_demand entry(const struct bench *b, uint32_t *src, uint32_t *dst, double *bytes, size_t n, bool open)
{
    static double one[64];
    for (size_t i = 0; i < 64; i++) one[i] = 1;
    return (struct fc_demand){.name = "entries", .n_tasks = b->net.n_nodes, .n_entries = n, .src = src, .dst = dst,
                              .bytes = bytes, .messages = one, .open_loop = open};
}
static void run_pattern(struct bench *b, const char *pattern)
{
    struct fc_demand demand;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&b->net, pattern, 1, &demand, &st), FC_OK);
    must_run(b, &demand);
    fc_demand_free(&demand);
}
/* The refusal holds these words. */
static void refused(struct bench *b, const struct fc_demand *demand, const char *words)
{
    CU_ASSERT_EQUAL(run_demand(b, demand), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(b->st.message, words));
    if (!strstr(b->st.message, words)) printf("\n    got \"%s\", expected \"%s\"", b->st.message, words);
}
static void refused_pattern(struct bench *b, const char *pattern, bool open, const char *words)
{
    struct fc_demand demand;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&b->net, pattern, 1, &demand, &st), FC_OK);
    demand.open_loop = open;
    refused(b, &demand, words);
    fc_demand_free(&demand);
}
static void refused_file(const char *yaml, long line, const char *words)
{
    struct fc_machine machine;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_test_machine(yaml, &machine, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, words));
    CU_ASSERT_EQUAL(st.line, line);
    if (!strstr(st.message, words)) printf("\n    got \"%s\", expected \"%s\"", st.message, words);
}

/* ---- reception ---- */

enum { SERVICE = 13 };
#define TAKES "reception: 256 B, reception_time: 13 cycles"

/* A message of N packets of 8 flits: whole one after the other every 8 cycles, taken every 13. Cut short, the rest is in
 * flight. */
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
    if (!open_bench(&b, MACHINE(PAIR, WIRES, WORM "vcs: 1, buffer: 128 B", "reception: 16 KiB, reception_time: 13 cycles")))
        return;
    struct fc_demand demand = entry(&b, &src, &dst, &rate, 1, true);
    b.settings.packet_flits_min = b.settings.packet_flits_max = 1;
    b.settings.load_flits_per_cycle = p / 2; /* mean over two nodes */
    b.settings.measure_cycles = 2000000;
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
    refused_file(MACHINE(PAIR, WIRES, WORM "vcs: 1", "reception_per_byte: 1 ns/B"), 7, "node.reception_per_byte: without");
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

/* ---- high priority ---- */

static void cobham(void)
{
    static const struct {
        double load, share;
        uint32_t flits;
    } cases[] = {{0.7, 0.2, 8}, {0.75, 0.5, 4}, {0.6, 0.05, 8}};
    struct bench b;
    uint32_t src = 0, dst = 1;
    double rate = 1;
    if (!open_bench(&b, MACHINE(PAIR, WIRES, CUT "vcs: 1, buffer: 512 B, high_priority: true", ""))) return;
    struct fc_demand demand = entry(&b, &src, &dst, &rate, 1, true);
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        double rho = cases[i].load, high = rho * cases[i].share, flits = cases[i].flits, left = rho * (flits - 1) / 2;
        double w_high = left / (1 - high), w_low = (left / (1 - high) + high) / (1 - rho);
        double alone = oracle_zero_load(&b.net, 0, 1, cases[i].flits);
        b.settings.packet_flits_min = b.settings.packet_flits_max = cases[i].flits;
        b.settings.load_flits_per_cycle = rho / 2;
        b.settings.high_priority_share = cases[i].share;
        b.settings.measure_cycles = 1500000;
        must_run(&b, &demand);
        const struct fc_flit_high_priority *h = &b.r.high_priority;
        double got_high = h->latency_mean_cycles - alone, got_low = h->others_latency_mean_cycles - alone;
        CU_ASSERT_TRUE(fabs(got_high / w_high - 1) < 0.02);
        CU_ASSERT_TRUE(fabs(got_low / w_low - 1) < 0.02);
        CU_ASSERT_TRUE(h->latency_p50_cycles <= h->latency_p99_cycles && h->latency_p99_cycles <= h->latency_max_cycles);
        CU_ASSERT_TRUE(fabs(b.r.offered_flits_per_node_cycle - rho / 2) < 1e-12);
        if (fabs(got_high / w_high - 1) >= 0.02 || fabs(got_low / w_low - 1) >= 0.02)
            printf("\n    waits %g and %g, expected %g and %g", got_high, got_low, w_high, w_low);
    }
    close_bench(&b);
}

#define SATURATED "vcs: 4, buffer: 128 B, high_priority: yes, "
static const char *const busy[] = {
    MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES, WORM SATURATED "routing: dimension-order", "cores: 1"),
    MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES, CUT SATURATED "routing: adaptive, escape: bubble", "cores: 1"),
    MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES, CUT SATURATED "routing: dimension-order, escape: bubble", ""),
    MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES,
            WORM SATURATED "routing: adaptive, vc_allocation: stage, arbitration: age, injection_fifos: 8",
            "reception: 256 B, reception_queues: 7, reception_time: 2 cycles"),
    MACHINE("family: mesh, dims: [4, 4]", WIRES, CUT SATURATED "bypass: 1 cycle", ""),
};

/* While the rest is far beyond saturation, packets of high priority meet each other and, in cut-through, the rest of one
 * packet a link. */
static void above_the_rest(void)
{
    for (size_t i = 0; i < FC_COUNT(busy); i++) {
        struct bench b;
        double alone = 0, latency[2];
        if (!open_bench(&b, busy[i])) continue;
        bool cut = b.machine.router.flow_control == FC_CUT_THROUGH;
        for (uint32_t d = 0; d < b.net.n_nodes; d++)
            for (uint32_t s = 0; s < b.net.n_nodes; s++)
                alone += s == d ? 0 : oracle_zero_load(&b.net, s, d, 8) / (b.net.n_nodes * (b.net.n_nodes - 1.0));
        b.settings.packet_flits_min = b.settings.packet_flits_max = 8;
        b.settings.load_flits_per_cycle = 0.98;
        b.settings.high_priority_share = 0.04;
        b.settings.measure_cycles = 4000;
        for (int t = 1; t <= 2; t++) {
            b.settings.threads = t;
            run_pattern(&b, "uniform");
            latency[t - 1] = b.r.high_priority.latency_mean_cycles;
            CU_ASSERT_FALSE(b.r.deadlock);
            CU_ASSERT_EQUAL(b.r.packets_injected, b.r.packets_delivered + b.r.packets_in_flight);
        }
        CU_ASSERT_EQUAL(latency[0], latency[1]);
        CU_ASSERT_TRUE(b.r.high_priority.packets > 200);
        CU_ASSERT_TRUE(latency[0] < (cut ? 1.9 : 1.15) * alone);
        CU_ASSERT_TRUE(b.r.high_priority.others_latency_mean_cycles > 10 * alone);
        if (!(latency[0] < (cut ? 1.9 : 1.15) * alone)) printf("\n    latency %g, alone %g\n%s", latency[0], alone, busy[i]);
        close_bench(&b);
    }
}

/* Dependencies between channels of high priority along every route: within a ring only (bubble), or none in a circle. */
struct graph {
    uint32_t n, n_arcs, *from, *to, *order;
};
static bool is_acyclic(struct graph *g)
{
    for (uint32_t round = 0; round <= g->n; round++) { /* longest paths settle within n rounds */
        bool changed = false;
        for (uint32_t i = 0; i < g->n_arcs; i++)
            if (g->order[g->to[i]] <= g->order[g->from[i]]) {
                g->order[g->to[i]] = g->order[g->from[i]] + 1;
                changed = true;
            }
        if (!changed) return true;
    }
    return false;
}
static void follow_high(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random, bool bubble,
                        struct graph *g)
{
    struct fc_flit_head head = {flit->route->start(flit, src, dst, random, NULL), dst, random};
    const struct fc_network *net = flit->net;
    uint32_t at = net->link_target[net->first_link[flit->n_routers + src]], link = net->first_link[flit->n_routers + src];
    uint32_t held = FC_NONE, hops = 0;
    int vc = __builtin_ctz(flit->high_vcs);
    while (!fc_is_node(net, at) && hops < 20) {
        struct fc_flit_choice c[FC_FLIT_MOST_CHOICES];
        CU_ASSERT_EQUAL_FATAL(flit->route->choices(flit, at, link, vc, &head, c), 1);
        CU_ASSERT_TRUE(c->vcs && !(c->vcs & ~flit->high_vcs));
        uint32_t channel = c->link * (uint32_t)flit->n_vcs + (uint32_t)__builtin_ctz(c->vcs);
        bool turns = hops > 0 && (c->link - net->first_link[at]) != (link - net->first_link[net->link_source[link]]);
        if (bubble && !fc_is_node(net, net->link_target[c->link])) {
            CU_ASSERT_EQUAL(c->room_packets, turns || hops == 0 ? 2 : 1);
            CU_ASSERT_EQUAL(c->full_size, 1);
        }
        if (held != FC_NONE && (!bubble || turns)) g->from[g->n_arcs] = held, g->to[g->n_arcs++] = channel;
        held = channel;
        link = c->link, vc = __builtin_ctz(c->vcs), head.route = c->route;
        at = net->link_target[link];
        hops += !fc_is_node(net, at);
    }
    CU_ASSERT_EQUAL(at, fc_node_vertex(net, dst));
}
static void high_routes(void)
{
    static const char *const yaml[] = {
        MACHINE("family: torus, dims: [4, 5]", TORUS_WIRES, CUT SATURATED "routing: dimension-order", ""),
        MACHINE("family: torus, dims: [4, 5]", TORUS_WIRES, CUT SATURATED "routing: adaptive, dateline: entry", ""),
        MACHINE("family: torus, dims: [4, 5]", TORUS_WIRES, CUT SATURATED "escape: direction-ordered", ""),
        MACHINE("family: torus, dims: [4, 5]", TORUS_WIRES, CUT SATURATED "escape: bubble", ""),
        MACHINE("family: torus, dims: [4, 5]", TORUS_WIRES, CUT SATURATED "escape: bubble-direction-ordered", ""),
        MACHINE("family: torus, dims: [4, 5], wrap: [0, 1]", TORUS_WIRES, CUT SATURATED "injection_fifos: 9", ""),
        MACHINE("family: mesh, dims: [4, 5]", WIRES, CUT SATURATED "escape: none", ""),
    };
    for (size_t i = 0; i < FC_COUNT(yaml); i++) {
        struct bench b;
        struct fc_flit_net flit;
        if (!open_bench(&b, yaml[i])) continue;
        b.settings.high_priority_share = 0.1;
        if (fc_flit_prepare(&b.net, &b.settings, &flit, &b.st)) CU_FAIL_FATAL("prepare");
        uint32_t pairs = b.net.n_nodes * b.net.n_nodes, n = b.net.n_links * (uint32_t)flit.n_vcs;
        struct graph g = {n, 0, calloc(16 * pairs * 8, 4), calloc(16 * pairs * 8, 4), calloc(n, 4)};
        for (uint32_t p = 0; p < pairs; p++)
            for (uint32_t ties = 0; ties < 4; ties++)
                follow_high(&flit, p / b.net.n_nodes, p % b.net.n_nodes, ties | ties << 8, strstr(yaml[i], "bubble"), &g);
        CU_ASSERT_TRUE(is_acyclic(&g));
        CU_ASSERT_EQUAL(flit.high_vcs & flit.injection_vcs, 0);
        CU_ASSERT_EQUAL(flit.high_vcs >> flit.n_network_vcs, 0);
        free(g.from), free(g.to), free(g.order);
        fc_flit_unprepare(&flit);
        close_bench(&b);
    }
}

static void priority_refused(void)
{
    struct bench b;
    if (open_bench(&b, MACHINE(PAIR, WIRES, CUT "vcs: 1", ""))) {
        b.settings.load_flits_per_cycle = 0.1;
        b.settings.high_priority_share = 0.1;
        refused_pattern(&b, "uniform", true, "router.high_priority: no channels for packets of high priority");
        close_bench(&b);
    }
    if (open_bench(&b, MACHINE(PAIR, WIRES, CUT "vcs: 1, high_priority: yes", ""))) {
        b.settings.load_flits_per_cycle = 0.1;
        b.settings.high_priority_share = 1;
        refused_pattern(&b, "uniform", true, "high-priority share 1: expected 0 or more and less than 1");
        b.settings.high_priority_share = NAN;
        refused_pattern(&b, "uniform", true, "high-priority share nan");
        b.settings.high_priority_share = 0.1;
        b.settings.load_flits_per_cycle = 1.01;
        refused_pattern(&b, "uniform", true, "would offer 1.01 flits a cycle");
        b.settings.load_flits_per_cycle = 0;
        refused_pattern(&b, "alltoall:bytes=8", false, "finite messages have no rate");
        b.settings.backlog = true;
        refused_pattern(&b, "uniform", true, "always have a packet waiting have no rate");
        b.settings.backlog = false;
        b.settings.load_flits_per_cycle = 0.1;
        b.settings.engine = FC_ENGINE_EVENT;
        refused_pattern(&b, "uniform", true, "packets of high priority (router.high_priority)");
        close_bench(&b);
    }
    static const struct {
        const char *yaml, *words;
    } bad[] = {
        {MACHINE(PAIR, WIRES, CUT "vcs: 16, high_priority: yes", ""), "more than 16 virtual channels"},
        {MACHINE("family: torus, dims: [4]", TORUS_WIRES, CUT "vcs: 4, routing: valiant, high_priority: yes", ""),
         "router.high_priority: valiant routing on a torus"},
        {"name: t\nnetwork: {family: fat-tree, children: [4, 4], parents: [1, 4]}\nlinks: {leaf: {bandwidth: 8 GB/s}, up: "
         "{bandwidth: 8 GB/s}}\nrouter: {high_priority: yes}\npacket: {max: 64 B}\n",
         "router.high_priority: nca routing on a fat-tree"},
    };
    for (size_t i = 0; i < FC_COUNT(bad); i++) {
        if (!open_bench(&b, bad[i].yaml)) continue;
        b.settings.load_flits_per_cycle = b.settings.high_priority_share = 0.1;
        refused_pattern(&b, "uniform", true, bad[i].words);
        close_bench(&b);
    }
}

/* ---- bypass ---- */

static void bypass_zero_load(void)
{
    static const char *const yaml[] = {
        MACHINE("family: mesh, dims: [4, 3]", WIRES, WORM "vcs: 2, buffer: 128 B, bypass: 1 cycle", ""),
        MACHINE("family: torus, dims: [5, 4]", TORUS_WIRES, CUT "vcs: 2, buffer: 128 B, escape: bubble, bypass: 0 s", ""),
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

/* Two nodes of a router send a flit each to the next router in the same cycle: both ask for the link, both take the full
 * delay there, and the bypass after it. */
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
/* A bypass as long as the delay is none; a short one carries all there is, leaves saturation where it was, and keeps every
 * worm together. */
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
            b.settings.measure_cycles = 10000;
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
    refused_file(MACHINE(PAIR, WIRES, WORM "bypass: 4 cycles", ""), 5, "router.bypass: 4e-09 s is longer than router.delay");
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
                 CUT "vcs: 1, buffer: 128 B, escape: bubble-direction-ordered", ""), false, true},
        {MACHINE("family: mesh, dims: [4, 4]", WIRES,
                 CUT "vcs: 1, buffer: 128 B, routing: adaptive, escape: bubble-direction-ordered", ""), true, true},
        {MACHINE("family: torus, dims: [5, 4]", TORUS_WIRES,
                 CUT "vcs: 1, buffer: 128 B, routing: dimension-order, escape: bubble-direction-ordered", ""), false, true},
        {MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES,
                 CUT "vcs: 1, buffer: 127 B, escape: bubble-direction-ordered", ""), false, false},
        {MACHINE("family: torus, dims: [4, 4]", TORUS_WIRES,
                 WORM "vcs: 1, buffer: 128 B, escape: bubble-direction-ordered", ""), false, false},
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
            refused_pattern(&b, "uniform", true, i == 3 ? "the bubble rule needs room for two" : "wormhole with the bubble");
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
        uint32_t src = p / b.net.n_nodes, dst = p % b.net.n_nodes, at = src, rank = 0, link = b.net.first_link[48 + src];
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
    CU_pSuite suite = CU_add_suite("flit: reception, priority, bypass, bubble in direction order", NULL, NULL);
    if (!suite) return 1;
    CU_ADD_TEST(suite, drain_rate);
    CU_ADD_TEST(suite, slow_receiver);
    CU_ADD_TEST(suite, reception_wait);
    CU_ADD_TEST(suite, reception_refused);
    CU_ADD_TEST(suite, last_credits);
    CU_ADD_TEST(suite, cobham);
    CU_ADD_TEST(suite, above_the_rest);
    CU_ADD_TEST(suite, high_routes);
    CU_ADD_TEST(suite, priority_refused);
    CU_ADD_TEST(suite, bypass_zero_load);
    CU_ADD_TEST(suite, bypass_contention);
    CU_ADD_TEST(suite, bypass_under_load);
    CU_ADD_TEST(suite, bypass_refused);
    CU_ADD_TEST(suite, bubble_direction);
    CU_ADD_TEST(suite, escape_order);
    return 0;
}
