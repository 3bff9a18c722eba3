/* test_flit_multicast.c - packets that routers copy: closed forms of fill, tree, acknowledgement and bound;
 * every target once; many at a time on little buffer; threads; published figures; refusals. */
#include "models/demand_build.h"
#include "models/family_fat_tree.h"
#include "reproduce/bluegene.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdlib.h>

struct run {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_flit_result r;
    struct fc_status st;
    uint32_t *node; /* [n_nodes] task t on node t */
    double bound_s;
};

/* Flits of 8 B a cycle of 1 ns; delay 2, all wires 1. */
#define TORUS(name, family, shape, router)                                                                             \
    "name: " name "\nclock: 1 GHz\nnetwork: {family: " family ", " shape "}\nlinks: {" family                          \
    ": {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: "             \
    "{delay: 2 "                                                                                                       \
    "cycles, flit: 8 B, multicast: deposit, " router "}\npacket: {min: 8 B, max: 40 B}\n"
#define TREE_OF(children, parents, up, router)                                                                         \
    "name: tree\nclock: 1 GHz\nnetwork: {family: fat-tree, children: " children ", parents: " parents                  \
    "}\nlinks: {leaf: {bandwidth: 8 GB/s, latency: 3 cycles}" up "}\nrouter: {delay: 2 cycles, flit: 8 B, escape: "    \
    "none, multicast: tree, " router "}\npacket: {min: 8 B, max: 40 B}\n"
#define TREE(children, parents, router)                                                                                \
    TREE_OF(children, parents, ", up: {bandwidth: 8 GB/s, latency: 1 cycle}", router)
enum { DELAY = 2, FLITS = 5, LEAF = 3, UP = 1 };

static bool opened(struct run *w, const char *yaml)
{
    memset(w, 0, sizeof *w);
    fc_flit_defaults(&w->settings);
    if (!fc_test_network(yaml, &w->machine, &w->net)) return false;
    w->node = malloc(w->net.n_nodes * sizeof *w->node);
    for (uint32_t n = 0; n < w->net.n_nodes; n++) w->node[n] = n;
    return true;
}
static void close_run(struct run *w)
{
    fc_flit_free(&w->r);
    fc_demand_free(&w->demand);
    fc_test_close(&w->machine, &w->net);
    free(w->node);
}
/* A demand of `n` multicasts to be added, without entries. */
static void by_hand(struct run *w, size_t n)
{
    fc_demand_free(&w->demand);
    CU_ASSERT_EQUAL_FATAL(fc_demand_start(&w->demand, w->net.n_nodes, 0, &w->st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_demand_multicasts_start(&w->demand, n, &w->st), FC_OK);
    w->demand.name = "by hand";
}
static void add_range(struct run *w, uint32_t src, uint32_t first, uint32_t last, double bytes)
{
    uint32_t *target = fc_demand_multicast(&w->demand, src, bytes, last - first + 1, &w->st);
    for (uint32_t t = first; target && t <= last; t++) target[t - first] = t;
}
static void add_line(struct run *w, uint32_t src, int d, int direction, uint32_t hops, double bytes)
{
    CU_ASSERT_EQUAL(fc_demand_line(fc_torus(&w->net), &w->demand, src, d, direction, hops, bytes, &w->st), FC_OK);
}
static bool ran(struct run *w)
{
    char text[1600];
    fc_flit_free(&w->r);
    if (!fc_flit_run(&w->net, &w->demand, w->node, &w->settings, &w->r, &w->st) &&
        !fc_flit_multicast_bound(&w->net, &w->demand, w->node, &w->bound_s, &w->st)) {
        const struct fc_flit_result *r = &w->r;
        CU_ASSERT_TRUE(r->complete && r->credits_full && !r->deadlock);
        CU_ASSERT_STRING_EQUAL(r->engine, "cycle");
        CU_ASSERT_EQUAL(r->packets_injected + r->packets_copied, r->packets_delivered);
        CU_ASSERT_EQUAL(r->flits_injected + r->flits_copied, r->flits_delivered);
        return true;
    }
    fc_status_text(&w->st, text, sizeof text);
    printf("\n    %s", text);
    CU_FAIL("the run fails");
    return false;
}
/* Flits that node n was sent; packets of FLITS flits only. */
static uint64_t received(const struct run *w, uint32_t n)
{
    double sum = 0;
    for (uint32_t l = 0; l < w->net.n_links; l++)
        if (w->net.link_target[l] == fc_node_vertex(&w->net, n)) sum += w->r.link_utilization[l];
    return (uint64_t)llround(sum * (double)w->r.cycles);
}

/* ---- deposit ---- */

/* n packets over h hops: the last is whole at the last node after (h + 1) delays, h + 2 wires and n F flits;
 * the mean latency in the network is that of one packet over 1 .. h hops. */
static void line_of(const char *yaml, uint32_t hops, int direction)
{
    struct run w;
    if (!opened(&w, yaml)) return;
    for (uint32_t n = 1; n <= 40; n += 39) {
        by_hand(&w, 1);
        add_line(&w, 1, 0, direction, hops, n * FLITS * 8.0);
        if (!ran(&w)) break;
        CU_ASSERT_EQUAL(w.r.cycles, (hops + 1) * DELAY + (hops + 2) + n * FLITS);
        CU_ASSERT_DOUBLE_EQUAL(w.r.network_latency_mean_cycles, (hops + 1) / 2.0 * (DELAY + 1) + DELAY + 2 + FLITS,
                               1e-9);
        CU_ASSERT_DOUBLE_EQUAL(w.r.hops_mean, (hops + 1) / 2.0, 1e-12);
        CU_ASSERT_EQUAL(w.r.packets_injected, n);
        CU_ASSERT_EQUAL(w.r.packets_delivered, (uint64_t)n * hops);
        CU_ASSERT_EQUAL(w.r.flit_hops, (uint64_t)n * FLITS * hops);
        CU_ASSERT_DOUBLE_EQUAL(w.bound_s, n * FLITS * 1e-9, 1e-15);
        uint32_t at = 1, n_got = 0;
        const struct fc_torus_shape *s = fc_torus(&w.net);
        for (uint32_t i = 0; i < hops; i++) {
            at = fc_torus_neighbour(s, at, 0, direction);
            CU_ASSERT_EQUAL(received(&w, at), (uint64_t)n * FLITS);
        }
        for (uint32_t v = 0; v < w.net.n_nodes; v++) n_got += received(&w, v) > 0;
        CU_ASSERT_EQUAL(n_got, hops);
    }
    close_run(&w);
}
static void deposit_times(void)
{
    static const char
        cut[] = TORUS("c", "torus", "dims: [8, 3]",
                      "vcs: 2, buffer: 80 B, escape: dateline, routing: dimension-order, credit: 1 cycle"),
        worm[] = TORUS("w", "torus", "dims: [8, 3]",
                       "vcs: 2, buffer: 80 B, escape: dateline, routing: dimension-order, flow_control: wormhole"),
        staged[] = TORUS("s", "torus", "dims: [8, 3]",
                         "vcs: 4, buffer: 80 B, escape: dateline, routing: dimension-order, flow_control: wormhole, "
                         "vc_allocation: stage"),
        bubble[] = TORUS("b", "torus", "dims: [8, 3]", "vcs: 2, buffer: 120 B, escape: bubble, routing: adaptive"),
        ordered[] =
            TORUS("o", "torus", "dims: [8, 3]", "vcs: 2, buffer: 120 B, escape: bubble, routing: dimension-order"),
        pair[] = TORUS("p", "torus", "dims: [8, 3]",
                       "vcs: 1, buffer: 120 B, escape: direction-ordered, routing: adaptive, flow_control: wormhole"),
        mesh[] = TORUS("m", "mesh", "dims: [8, 3]", "vcs: 1, buffer: 80 B, escape: none, routing: dimension-order");
    const char *const rings[] = {cut, worm, staged, bubble, ordered, pair};
    for (size_t i = 0; i < FC_COUNT(rings); i++)
        for (uint32_t hops = 1; hops < 8; hops += 2)
            for (int direction = FC_PLUS; direction <= FC_MINUS; direction++) line_of(rings[i], hops, direction);
    line_of(mesh, 6, FC_PLUS);
    line_of(mesh, 1, FC_MINUS);
}

/* Adiga et al. 2005: "For the line broadcast of large messages, more than 99% of peak is achieved". */
static void blue_gene_line(void)
{
    struct fc_flit_settings settings;
    struct run w = {.machine = {.file = NULL}};
    struct fc_bench b;
    fc_flit_defaults(&settings);
    if (!fc_bench_open(&b, "bgl-512", "", &w.st)) {
        double bound_s = 0;
        uint32_t node[512];
        for (uint32_t n = 0; n < 512; n++) node[n] = n;
        CU_ASSERT_EQUAL(fc_demand_from_pattern(&b.net, "line-broadcast:bytes=115200", 1, &w.demand, &w.st), FC_OK);
        CU_ASSERT_EQUAL(w.demand.n_multicasts, 2);
        CU_ASSERT_EQUAL(fc_flit_run(&b.net, &w.demand, node, &settings, &w.r, &w.st), FC_OK);
        CU_ASSERT_EQUAL(fc_flit_multicast_bound(&b.net, &w.demand, node, &bound_s, &w.st), FC_OK);
        CU_ASSERT_DOUBLE_EQUAL(bound_s, 240 * 270 / 175e6, 1e-12);
        double percent = 100 * bound_s / ((double)w.r.cycles * w.r.cycle_s);
        CU_ASSERT_TRUE(percent > 99 && percent < 100);
        CU_ASSERT_STRING_EQUAL(w.r.multicast, "deposit");
        CU_ASSERT_EQUAL(w.r.packets_delivered, 2 * 240 * 7);
        fc_bench_close(&b);
    } else
        CU_FAIL("the machine does not build");
    fc_flit_free(&w.r);
    fc_demand_free(&w.demand);
}

/* Four trees of lines over a plane: every node but the root gets the message once, and every link of the
 * plane but those into the root carries a quarter. */
static void plane(void)
{
    struct run w;
    if (!opened(&w, TORUS("p", "torus", "dims: [4, 3, 2]", "vcs: 2, buffer: 120 B, escape: bubble, routing: adaptive")))
        return;
    CU_ASSERT_EQUAL(fc_demand_from_pattern(&w.net, "plane-broadcast:bytes=1600", 1, &w.demand, &w.st), FC_OK);
    if (ran(&w)) {
        for (uint32_t n = 0; n < w.net.n_nodes; n++) CU_ASSERT_EQUAL(received(&w, n), n > 0 && n < 12 ? 200 : 0);
        for (uint32_t l = 0; l < w.net.n_links; l++) {
            uint32_t from = w.net.link_source[l], to = w.net.link_target[l];
            if (from >= w.net.n_routers || to >= w.net.n_routers) continue;
            bool in_plane = from < 12 && to < 12 && to != 0;
            CU_ASSERT_EQUAL(llround(w.r.link_utilization[l] * (double)w.r.cycles), in_plane ? 50 : 0);
        }
    }
    close_run(&w);
}

/* All nodes send along all lines at a time, on as little buffer as the rule allows. */
static void deposits_everywhere(void)
{
    static const char bubble[] =
        TORUS("b", "torus", "dims: [4, 3, 4]", "vcs: 1, buffer: 80 B, escape: bubble, routing: adaptive, paths: 2"),
                      ordered[] =
                          TORUS("o", "torus", "dims: [4, 3, 4]",
                                "vcs: 1, buffer: 80 B, escape: bubble, routing: dimension-order, arbitration: random"),
                      worm[] = TORUS(
                          "w", "torus", "dims: [4, 3, 4]",
                          "vcs: 2, buffer: 8 B, escape: dateline, routing: dimension-order, flow_control: wormhole"),
                      both[] =
                          TORUS("a", "torus", "dims: [4, 3, 4]",
                                "vcs: 1, buffer: 16 B, escape: dateline, routing: adaptive, flow_control: wormhole, "
                                "vc_allocation: stage");
    const char *const machines[] = {bubble, ordered, worm, both};
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        struct run w;
        if (!opened(&w, machines[i])) continue;
        uint32_t n = w.net.n_nodes, share = 2 * (3 + 2 + 3);
        by_hand(&w, 6 * (size_t)n);
        for (uint32_t s = 0; s < n; s++)
            for (int d = 0; d < 3; d++)
                for (int direction = 0; direction < 2; direction++)
                    add_line(&w, s, d, direction, fc_torus(&w.net)->k[d] - 1, 10 * FLITS * 8.0);
        w.settings.seed = i + 1;
        if (ran(&w)) {
            CU_ASSERT_EQUAL(w.r.packets_delivered, (uint64_t)n * share * 10);
            for (uint32_t v = 0; v < n; v++) CU_ASSERT_EQUAL(received(&w, v), share * 10 * FLITS);
            struct fc_flit_result one = w.r;
            uint64_t cycles = one.cycles, hops = one.flit_hops;
            double mean = one.latency_mean_cycles, p99 = one.latency_p99_cycles, escape = one.escape_share;
            w.settings.threads = 2;
            if (ran(&w)) {
                CU_ASSERT_EQUAL(w.r.cycles, cycles);
                CU_ASSERT_EQUAL(w.r.flit_hops, hops);
                CU_ASSERT_TRUE(w.r.latency_mean_cycles == mean && w.r.latency_p99_cycles == p99);
                CU_ASSERT_TRUE(w.r.escape_share == escape || (isnan(escape) && isnan(w.r.escape_share)));
            }
        }
        close_run(&w);
    }
}

/* ---- tree ---- */

/* From a sender to a tree of `top` levels below the root: switches and wires one way. */
static uint32_t way(int top)
{
    return (2 * (uint32_t)top - 1) * DELAY + 2 * LEAF + 2 * ((uint32_t)top - 1) * UP;
}
static uint32_t below_root(int top)
{
    return (uint32_t)top * DELAY + LEAF + ((uint32_t)top - 1) * UP;
}
#define WORM(window) "vcs: 2, buffer: 64 B, flow_control: wormhole, routing: nca, multicast_window: " window
#define QUATERNARY(children, parents, window) TREE(children, parents, WORM(window))

/* 4^n nodes are reached after hops x (delay + wire) + the flits; packet i + 1 starts when the acknowledgement
 * of packet i is back, a way later than its arrival. */
static void tree_times(void)
{
    static const char *const yaml[][2] = {
        {TREE_OF("[4]", "[1]", "", WORM("1")), TREE_OF("[4]", "[1]", "", WORM("2"))},
        {QUATERNARY("[4, 4]", "[1, 4]", "1"), QUATERNARY("[4, 4]", "[1, 4]", "2")},
        {QUATERNARY("[4, 4, 4]", "[1, 4, 4]", "1"), QUATERNARY("[4, 4, 4]", "[1, 4, 4]", "2")}};
    for (int n = 1; n <= 3; n++)
        for (uint32_t window = 1; window <= 2; window++)
            for (uint32_t packets = 1; packets <= 30; packets += 29) {
                struct run w;
                if (!opened(&w, yaml[n - 1][window - 1])) continue;
                uint32_t all = w.net.n_nodes, one = way(n) + FLITS;
                uint32_t period = window == 1 ? one + way(n) : FLITS + 2 * below_root(n);
                by_hand(&w, 1);
                add_range(&w, all - 1, 0, all - 1, packets * FLITS * 8.0);
                if (ran(&w)) {
                    CU_ASSERT_EQUAL(w.r.cycles, one + (packets - 1) * period);
                    CU_ASSERT_EQUAL(w.r.packets_delivered, (uint64_t)packets * all);
                    for (uint32_t v = 0; v < all; v++) CU_ASSERT_EQUAL(received(&w, v), packets * FLITS);
                    CU_ASSERT_DOUBLE_EQUAL(w.r.hops_mean, 2 * n - 2, 1e-12);
                    CU_ASSERT_DOUBLE_EQUAL(w.bound_s, packets * FLITS * 1e-9, 1e-15);
                }
                close_run(&w);
            }
}

/* Any range, senders in and out of it: the targets and nobody else, once, over the lowest common root. */
static void tree_ranges(void)
{
    struct run w;
    if (!opened(&w, TREE("[3, 2, 4]", "[1, 2, 3]", "vcs: 2, buffer: 64 B, routing: nca-hash"))) return;
    const struct fc_fat_tree_shape *s = fc_fat_tree(&w.net);
    for (uint32_t first = 0; first < 24; first += 5)
        for (uint32_t last = first; last < 24; last += 4)
            for (uint32_t src = 0; src < 24; src += 7) {
                if (first == last && src == first) continue;
                int top = 1;
                while (src / s->subtree_nodes[top] != first / s->subtree_nodes[top] ||
                       src / s->subtree_nodes[top] != last / s->subtree_nodes[top])
                    top++;
                by_hand(&w, 1);
                add_range(&w, src, first, last, FLITS * 8.0);
                if (!ran(&w)) break;
                CU_ASSERT_EQUAL(w.r.cycles, way(top) + FLITS);
                for (uint32_t v = 0; v < 24; v++) CU_ASSERT_EQUAL(received(&w, v), v >= first && v <= last ? FLITS : 0);
            }
    close_run(&w);
}

/* Two senders under one root: the second packet turns down when the first has been acknowledged to the root.
 */
static void roots_serialise(void)
{
    struct run w;
    if (!opened(&w, QUATERNARY("[4, 4]", "[1, 4]", "1"))) return;
    by_hand(&w, 2);
    add_range(&w, 0, 0, 15, FLITS * 8.0);
    add_range(&w, 5, 0, 15, FLITS * 8.0);
    if (ran(&w)) CU_ASSERT_EQUAL(w.r.cycles, way(2) + FLITS + FLITS + 2 * below_root(2));
    by_hand(&w, 2); /* roots apart: at a time */
    add_range(&w, 0, 0, 3, FLITS * 8.0);
    add_range(&w, 5, 4, 7, FLITS * 8.0);
    if (ran(&w)) CU_ASSERT_EQUAL(w.r.cycles, way(1) + FLITS);
    close_run(&w);
}

/* Every node to nested, overlapping and equal ranges at a time. */
static void trees_everywhere(void)
{
    static const char worm[] = TREE("[4, 4, 4]", "[1, 4, 4]",
                                    "vcs: 2, buffer: 8 B, flow_control: wormhole, routing: nca, multicast_window: 4"),
                      cut[] = TREE("[4, 4, 4]", "[1, 4, 4]", "vcs: 1, buffer: 40 B, routing: nca, multicast_window: 3"),
                      staged[] = TREE(
                          "[4, 4, 4]", "[1, 2, 2]",
                          "vcs: 2, buffer: 16 B, flow_control: wormhole, routing: nca-random, multicast_window: 2, "
                          "vc_allocation: stage, arbitration: age");
    const char *const machines[] = {worm, cut, staged};
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        struct run w;
        uint64_t due[64] = {0};
        if (!opened(&w, machines[i])) continue;
        by_hand(&w, 4 * 64);
        for (uint32_t s = 0; s < 64; s++)
            for (uint64_t k = 0; k < 4; k++) {
                uint32_t a = (uint32_t)(fc_random(i, s, 2 * k) % 64), b = (uint32_t)(fc_random(i, s, 2 * k + 1) % 64);
                if (k % 2) a = s / 16 * 16 + a % 16, b = s / 16 * 16 + b % 16;
                uint32_t first = a < b ? a : b, last = a < b ? b : a;
                if (first == last) last = first == 63 ? first-- : first + 1;
                add_range(&w, s, first, last, 3 * FLITS * 8.0);
                for (uint32_t v = first; v <= last; v++) due[v] += 3 * FLITS;
            }
        w.settings.threads = 1 + (int)(i % 2);
        if (ran(&w))
            for (uint32_t v = 0; v < 64; v++) CU_ASSERT_EQUAL(received(&w, v), due[v]);
        close_run(&w);
    }
}

/* Petrini et al. 2001, figure 13 and text of 6.2.2: broadcast of 1 MB to 64 nodes between Elan memories at
 * 288 MB/s, 1.111 us a packet of 320 B against 0.955 us between two nodes. The shipped machine: 945 ns of
 * flits and twice 3 x (35 + 10) ns from root to nodes, 1.215 us. With one packet under way 945 + 2 (5 x 35 +
 * 6 x 10) ns, 1.415 us. */
static void qsnet(void)
{
    struct run w = {.machine = {.file = NULL}};
    fc_flit_defaults(&w.settings);
    if (fc_machine_load("qsnet-64", &w.machine, &w.st) || fc_network_build(&w.machine, &w.net, &w.st)) {
        CU_FAIL("qsnet-64 does not build");
        return;
    }
    w.node = malloc(64 * sizeof *w.node);
    for (uint32_t n = 0; n < 64; n++) w.node[n] = n;
    CU_ASSERT_EQUAL(w.machine.router.multicast_window, 2);
    for (int window = 2; window >= 1; window--) {
        double packet_s = window == 2 ? 1.215e-6 : 1.415e-6, first_s = 235e-9 + 945e-9;
        w.machine.router.multicast_window = window;
        fc_demand_free(&w.demand);
        CU_ASSERT_EQUAL(fc_demand_from_pattern(&w.net, "broadcast:bytes=64000", 1, &w.demand, &w.st), FC_OK);
        if (!ran(&w)) break;
        double time_s = (double)w.r.cycles * w.r.cycle_s, rate = 320 / packet_s;
        CU_ASSERT_DOUBLE_EQUAL(time_s, first_s + 199 * packet_s, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(rate / 288e6, window == 2 ? 0.9145 : 0.7852, 1e-4);
    }
    close_run(&w);
}

/* ---- what stays as it was, and refusals ---- */

/* Without copies the entries are sent; so are loads in percent and traces. A credit may come back after 256
 * ticks. */
static void software_form(void)
{
    struct fc_flit_settings settings;
    struct run w = {.machine = {.file = NULL}};
    struct fc_bench b;
    fc_flit_defaults(&settings);
    settings.engine = FC_ENGINE_CYCLE;
    if (fc_bench_open(&b, "bgl-512", "network.dims=[4, 4, 4]; router.multicast=none", &w.st)) {
        CU_FAIL("the machine does not build");
        return;
    }
    uint32_t node[64];
    for (uint32_t n = 0; n < 64; n++) node[n] = n;
    CU_ASSERT_EQUAL(fc_demand_from_pattern(&b.net, "line-broadcast:bytes=65536", 1, &w.demand, &w.st), FC_OK);
    CU_ASSERT_EQUAL(w.demand.n_multicasts, 0);
    CU_ASSERT_EQUAL(fc_flit_run(&b.net, &w.demand, node, &settings, &w.r, &w.st), FC_OK);
    CU_ASSERT_STRING_EQUAL(w.r.multicast, "");
    CU_ASSERT_EQUAL(w.r.packets_copied + w.r.flits_copied, 0);
    CU_ASSERT_TRUE(w.r.complete && w.r.credits_full);
    fc_flit_free(&w.r);
    fc_demand_free(&w.demand);
    fc_bench_close(&b);
}

static void refused(const char *yaml, const char *part)
{
    struct fc_machine machine;
    struct fc_status st = {0};
    if (!fc_test_machine(yaml, &machine, &st)) fc_machine_free(&machine);
    CU_ASSERT_TRUE(fc_says(&st, FC_INPUT, part));
}
static void refuses_run(struct run *w, const char *part)
{
    fc_flit_free(&w->r);
    fc_flit_run(&w->net, &w->demand, w->node, &w->settings, &w->r, &w->st);
    CU_ASSERT_TRUE(fc_says(&w->st, FC_INPUT, part));
    w->st = (struct fc_status){0};
}
static void machines_refused(void)
{
    refused("name: t\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [4], parents: [1]}\nlinks: {leaf: "
            "{bandwidth: 1 "
            "GB/s}}\nrouter:\n  escape: none\n  multicast: deposit\n",
            ":7: router.multicast: deposit goes along a line of a torus or mesh, which a fat-tree network "
            "has not");
    refused("name: t\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 1 GB/s}}\nrouter: "
            "{multicast: tree}\n",
            "router.multicast: tree is for fat-trees; a torus network");
    refused("name: t\nnetwork: {family: torus, dims: [4], nodes_per_router: 2}\nlinks: {torus: {bandwidth: 1 "
            "GB/s}}\nrouter: {multicast: deposit}\n",
            "deposit is for one node a router, not network.nodes_per_router: 2");
    refused("name: t\nnetwork: {family: fat-tree, children: [4, 4], parents: [2, 2]}\nlinks: {leaf: "
            "{bandwidth: 1 GB/s}, up: "
            "{bandwidth: 1 GB/s}}\nrouter: {multicast: tree}\n",
            "tree is for nodes with one link each, not 2");
    refused(TREE_OF("[4]", "[1]", "", "vcs: 1, multicast_window: 0"), "router.multicast_window");
    refused("name: t\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 1 GB/s}}\nrouter: "
            "{multicast: all}\n",
            "router.multicast: 'all'");
}
static void lines_refused(void)
{
    struct run w;
    if (opened(&w, TORUS("r", "torus", "dims: [4, 4]",
                         "vcs: 4, buffer: 80 B, escape: dateline, routing: dimension-order"))) {
        by_hand(&w, 1);
        add_line(&w, 0, 0, FC_PLUS, 3, 40);
        w.settings.engine = FC_ENGINE_EVENT;
        refuses_run(&w,
                    "engine event is not exact for this machine: routers copy packets on the way (router.multicast)");
        w.settings.engine = FC_ENGINE_AUTO;
        w.node[2] = 7, w.node[7] = 2;
        refuses_run(&w, "deposit from node 0 along x+: receiver 1 is on node 7 (expected node 2");
        w.node[2] = 2, w.node[7] = 7;
        w.demand.multicasts[0].target[2] = 0;
        refuses_run(&w, "receiver 2 is on node 0 (expected node 3");
        CU_ASSERT_EQUAL(fc_machine_route(&w.machine, "valiant", &w.st), FC_OK);
        w.demand.multicasts[0].target[2] = 3;
        refuses_run(&w, "deposit does not go with valiant routing");
        close_run(&w);
    }
    if (opened(&w, TORUS("e", "torus", "dims: [4, 4]",
                         "vcs: 4, buffer: 80 B, dateline: entry, routing: dimension-order"))) {
        by_hand(&w, 1);
        add_line(&w, 0, 0, FC_PLUS, 3, 40);
        refuses_run(&w, "router.dateline: entry is free of deadlock for (expected crossed)");
        close_run(&w);
    }
    if (opened(&w, TORUS("n", "torus", "dims: [3]", "vcs: 1, buffer: 80 B, escape: none, routing: dimension-order"))) {
        by_hand(&w, 1);
        add_line(&w, 0, 0, FC_PLUS, 2, 40);
        refuses_run(&w, "deposit over 2 hops of a ring of 3 can deadlock under rule none");
        by_hand(&w, 1);
        add_line(&w, 0, 0, FC_PLUS, 1, 40);
        ran(&w);
        close_run(&w);
    }
}
static void trees_refused(void)
{
    struct run w;
    static const struct {
        const char *pattern, *part;
    } pattern[] = {{"broadcast:root=16", "root: node 16 of a machine of 16 (expected 0 to 15)"},
                   {"broadcast:nodes=17", "nodes: the first 17 of a machine of 16"},
                   {"broadcast:nodes=1", "the root alone, nobody to send to"}};
    if (!opened(&w, QUATERNARY("[4, 4]", "[1, 4]", "1"))) return;
    by_hand(&w, 1);
    add_range(&w, 0, 4, 8, 40);
    w.demand.multicasts[0].target[4] = 9;
    refuses_run(&w, "tree reaches adjacent nodes, each once: of the receivers of node 0 two are on nodes 7 and 9");
    by_hand(&w, 1);
    add_range(&w, 3, 3, 3, 40);
    refuses_run(&w, "task 3 sends a multicast to its own node only");
    for (size_t i = 0; i < FC_COUNT(pattern); i++) {
        fc_demand_free(&w.demand);
        fc_demand_from_pattern(&w.net, pattern[i].pattern, 1, &w.demand, &w.st);
        CU_ASSERT_TRUE(fc_says(&w.st, FC_INPUT, pattern[i].part));
        w.st = (struct fc_status){0};
    }
    close_run(&w);
}

int suite_flit_multicast(void)
{
    static const CU_TestInfo tests[] = {{"a line: fill and packets, every node once", deposit_times},
                                        {"a line of Blue Gene/L", blue_gene_line},
                                        {"a plane of four trees", plane},
                                        {"lines everywhere, any threads", deposits_everywhere},
                                        {"a tree: way, flits, acknowledgement", tree_times},
                                        {"a tree: any range", tree_ranges},
                                        {"a root takes one packet at a time", roots_serialise},
                                        {"trees everywhere", trees_everywhere},
                                        {"QsNET's broadcast", qsnet},
                                        {"without copies", software_form},
                                        {"refusals: machines", machines_refused},
                                        {"refusals: lines", lines_refused},
                                        {"refusals: trees", trees_refused},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite("flit multicast", tests);
}
