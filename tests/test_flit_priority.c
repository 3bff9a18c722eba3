/* test_flit_priority.c - channels for packets of high priority: waits, routes, refusals.
 *
 * Oracle: Cobham, J. Oper. Res. Soc. Am. 2(1), 1954, in discrete time: packets of F flits born with p_h and
 * p_l a cycle, rho = F p, and R = rho (F-1) / 2 flits left of the packet on the link as an arrival sees it;
 *
 *   W_h = R / (1 - rho_h),   W_l = (R / (1 - rho_h) + rho_h) / (1 - rho)
 *
 * since high ones go first that are born by the very cycle in which the low one would start. */
#include "solvers/flit/prepared.h"
#include "solvers/flit/route_ops.h"
#include "tests/flit_router.h"

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
        const struct fc_flit_part *h = &b.r.high_priority;
        double got_high = h->latency_mean_cycles - alone, got_low = h->others_latency_mean_cycles - alone;
        CU_ASSERT_TRUE(fabs(got_high / w_high - 1) < 0.02);
        CU_ASSERT_TRUE(fabs(got_low / w_low - 1) < 0.02);
        CU_ASSERT_TRUE(h->latency_p50_cycles <= h->latency_p99_cycles &&
                       h->latency_p99_cycles <= h->latency_max_cycles);
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

/* While the rest is far beyond saturation, packets of high priority meet each other and, in cut-through, the
 * rest of one packet a link. */
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
        b.settings.warmup_cycles = 2000;
        b.settings.measure_cycles = 3000;
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
        if (!(latency[0] < (cut ? 1.9 : 1.15) * alone))
            printf("\n    latency %g, alone %g\n%s", latency[0], alone, busy[i]);
        close_bench(&b);
    }
}

/* Dependencies between channels of high priority along every route: within a ring only (bubble), or none in a
 * circle. */
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
    uint32_t at = net->link_target[net->first_link[flit->n_routers + src]],
             link = net->first_link[flit->n_routers + src];
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
                follow_high(&flit, p / b.net.n_nodes, p % b.net.n_nodes, ties | ties << 8, strstr(yaml[i], "bubble"),
                            &g);
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
        {"name: t\nnetwork: {family: fat-tree, children: [4, 4], parents: [1, 4]}\nlinks: {leaf: {bandwidth: "
         "8 GB/s}, up: "
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

int suite_flit_priority(void)
{
    CU_pSuite suite = CU_add_suite("flit: packets of high priority", NULL, NULL);
    if (!suite) return 1;
    CU_ADD_TEST(suite, cobham);
    CU_ADD_TEST(suite, above_the_rest);
    CU_ADD_TEST(suite, high_routes);
    CU_ADD_TEST(suite, priority_refused);
    return 0;
}
