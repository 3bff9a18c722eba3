/* test_flit_cycle.c - the cycle engine: its fast path against the general one, any number of threads, all
 * arbitrations, adaptive routing, bubble, slow links; and against the event engine where both are exact. */
#include "solvers/flit/counts.h"
#include "solvers/flit/engine.h"
#include "solvers/flit/prepared.h"
#include "solvers/flit/route_fields.h"
#include "solvers/flit/traffic.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run through the engine interface, without run control. */
struct run {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_flit_net flit;
    struct fc_flit_traffic *traffic;
    struct fc_arena arena;
    struct fc_flit_counts *counts;
    uint64_t *link_flits, *link_packets;
    uint32_t *injected;
    struct fc_flit_state state;
    bool credits_full;
    struct fc_flit_blocked *blocked; /* what stands at the end, moving or not */
    uint32_t n_blocked, *wanted;
};
struct plan {
    const char *yaml, *pattern;
    double load; /* 0: backlog */
    uint32_t least, most;
    int threads;
    bool plain, closed, published;
    int vector_bytes;
    const struct fc_flit_engine_ops *engine;
};
enum { FROM = 200, TO = 700 };

static bool start(struct run *r, const struct plan *p, struct fc_flit_settings *s)
{
    struct fc_status st = {0};
    memset(r, 0, sizeof *r);
    fc_flit_defaults(s);
    if (!fc_test_network(p->yaml, &r->machine, &r->net)) return false;
    s->load_flits_per_cycle = p->load;
    s->backlog = p->load == 0 && !p->closed;
    s->packet_flits_min = p->least;
    s->packet_flits_max = p->most;
    s->bubble_as_published = p->published;
    s->seed = 7;
    if (fc_demand_from_pattern(&r->net, p->pattern, 1, &r->demand, &st)) CU_FAIL_FATAL("pattern");
    r->demand.open_loop = !p->closed;
    if (fc_flit_prepare(&r->net, s, &r->flit, &st) ||
        fc_flit_traffic_make(&r->flit, &r->demand, NULL, s, &r->traffic, &st)) {
        printf("\n    %s\n", st.message);
        CU_FAIL_FATAL("prepare");
    }
    r->flit.plain = p->plain;
    r->flit.vector_bytes = p->vector_bytes;
    return true;
}
static void go(struct run *r, const struct plan *p)
{
    struct fc_flit_settings s;
    struct fc_status st = {0};
    void *engine = NULL;
    const struct fc_flit_engine_ops *ops = p->engine ? p->engine : &fc_flit_cycle_engine;
    if (!start(r, p, &s)) return;
    r->counts = fc_alloc(&r->arena, (size_t)p->threads, sizeof *r->counts, &st);
    r->link_flits = fc_alloc(&r->arena, r->net.n_links, sizeof *r->link_flits, &st);
    r->link_packets = fc_alloc(&r->arena, r->net.n_links, sizeof *r->link_packets, &st);
    r->injected = fc_alloc(&r->arena, r->net.n_nodes, sizeof *r->injected, &st);
    double cycle = r->flit.ticks_per_cycle;
    for (int i = 0; i < p->threads; i++) {
        r->counts[i].measure_from = p->closed ? 0 : (uint64_t)(FROM * cycle);
        r->counts[i].measure_to = p->closed ? UINT64_MAX / 64 : (uint64_t)(TO * cycle);
        CU_ASSERT_EQUAL_FATAL(fc_flit_counts_make(&r->counts[i], &r->arena, &st), FC_OK);
    }
    CU_ASSERT_EQUAL_FATAL(ops->open(&r->flit, r->traffic, p->threads, s.seed, r->counts, r->link_flits, r->link_packets,
                                    r->injected, &engine, &st),
                          FC_OK);
    uint64_t stop = p->closed ? (uint64_t)(400000 * cycle) : (uint64_t)(TO * cycle);
    for (uint64_t t = stop / 3; t <= stop && !r->state.exhausted; t += stop / 3) /* in pieces, as run control does */
        CU_ASSERT_EQUAL_FATAL(ops->advance(engine, t, &r->state, &st), FC_OK);
    if (!r->state.exhausted) CU_ASSERT_EQUAL_FATAL(ops->advance(engine, stop, &r->state, &st), FC_OK);
    if (r->state.exhausted) /* the last credits travel */
        CU_ASSERT_EQUAL_FATAL(ops->advance(engine, r->state.now + 1024, &r->state, &st), FC_OK);
    r->credits_full = ops->credits_full(engine);
    CU_ASSERT_EQUAL_FATAL(ops->blocked(engine, &r->arena, &r->blocked, &r->n_blocked, &r->wanted, &st), FC_OK);
    for (int i = 1; i < p->threads; i++) fc_flit_counts_add(&r->counts[0], &r->counts[i]);
    const struct fc_flit_counts *c = r->counts;
    CU_ASSERT_EQUAL(c->packets_injected, c->packets_delivered + r->state.packets_in_flight);
    CU_ASSERT_EQUAL(c->flits_injected, c->flits_delivered + r->state.flits_in_flight);
    ops->close(engine);
}
static void end(struct run *r)
{
    fc_flit_traffic_free(r->traffic);
    fc_flit_unprepare(&r->flit);
    fc_demand_free(&r->demand);
    fc_test_close(&r->machine, &r->net);
    fc_arena_free(&r->arena);
}

static bool same(const struct run *a, const struct run *b)
{
    const struct fc_flit_counts *x = a->counts, *y = b->counts;
    bool good = x->measured_delivered == y->measured_delivered && x->measured_started == y->measured_started &&
                x->latency_ticks == y->latency_ticks && x->network_ticks == y->network_ticks && x->hops == y->hops &&
                x->latency_max_ticks == y->latency_max_ticks && x->packets_injected == y->packets_injected &&
                x->packets_delivered == y->packets_delivered && x->flits_injected == y->flits_injected &&
                x->flits_delivered == y->flits_delivered && x->flit_hops == y->flit_hops &&
                x->escape_flit_hops == y->escape_flit_hops && x->window_flits_delivered == y->window_flits_delivered;
    good = good && !memcmp(x->histogram, y->histogram, sizeof x->histogram);
    good = good && !memcmp(x->batch_ticks, y->batch_ticks, sizeof x->batch_ticks);
    good = good && !memcmp(x->occupancy_flit_ticks, y->occupancy_flit_ticks, sizeof x->occupancy_flit_ticks);
    good = good && !memcmp(a->link_flits, b->link_flits, a->net.n_links * sizeof *a->link_flits);
    good = good && !memcmp(a->link_packets, b->link_packets, a->net.n_links * sizeof *a->link_packets);
    good = good && !memcmp(a->injected, b->injected, a->net.n_nodes * sizeof *a->injected);
    good = good && a->n_blocked == b->n_blocked && a->credits_full == b->credits_full;
    for (uint32_t i = 0; good && i < a->n_blocked; i++) {
        const struct fc_flit_blocked *c = &a->blocked[i], *d = &b->blocked[i];
        good = c->channel == d->channel && c->packet_src == d->packet_src && c->packet_dst == d->packet_dst &&
               c->packet_flits == d->packet_flits && c->n_wanted == d->n_wanted && c->first_wanted == d->first_wanted;
        good =
            good && !memcmp(a->wanted + c->first_wanted, b->wanted + c->first_wanted, c->n_wanted * sizeof *a->wanted);
    }
    return good && a->state.now == b->state.now && a->state.packets_in_flight == b->state.packets_in_flight;
}
/* One run of `p` against each of the others. */
static void compare(const struct plan *p, const struct plan *others, size_t n)
{
    struct run a, b;
    go(&a, p);
    if (!a.counts) return;
    CU_ASSERT_TRUE(a.counts->measured_delivered > 0 || p->load == 0);
    CU_ASSERT_TRUE(a.counts->window_flits_delivered > 1000);
    for (size_t i = 0; i < n; i++) {
        go(&b, &others[i]);
        CU_ASSERT_TRUE(b.counts && same(&a, &b));
        if (b.counts && !same(&a, &b))
            printf("\n    differs: %s, load %g, %u flits\n%s", p->pattern, p->load, p->most, p->yaml);
        end(&b);
    }
    end(&a);
}

#define HEAD(network) "name: t\nclock: 1 GHz\nnetwork: {" network "}\n"
#define LINKS(class, latency, injection)                                                                               \
    "links: {" class ": {bandwidth: 8 GB/s, latency: " latency "}, injection: {bandwidth: 8 GB/s, latency: " injection \
                     "}}\n"
#define ROUTER(more) "router: {delay: 2 cycles, credit: 1 cycle, flit: 8 B, " more "}\npacket: {min: 8 B, max: 64 B}\n"
#define TREE "links: {leaf: {bandwidth: 8 GB/s, latency: 1 cycle}, up: {bandwidth: 8 GB/s, latency: 2 cycles}}\n"
#define WORM(vcs, buffer, more)                                                                                        \
    ROUTER("flow_control: wormhole, routing: dimension-order, vcs: " vcs ", buffer: " buffer ", " more)

static const char *const simple[] = {
    HEAD("family: torus, dims: [4, 3, 4]") LINKS("torus", "1 cycle", "1 cycle") WORM("4", "64 B", "escape: dateline"),
    HEAD("family: torus, dims: [5, 4]") LINKS("torus", "3 cycles", "0 s")
        WORM("2", "40 B", "escape: dateline, dateline: entry"),
    HEAD("family: mesh, dims: [4, 3], nodes_per_router: 2") LINKS("mesh", "0 s", "2 cycles")
        WORM("3", "24 B", "escape: none"),
    HEAD("family: torus, dims: [6, 2, 3]") LINKS("torus", "1 cycle", "1 cycle")
        ROUTER("flow_control: cut-through, routing: dimension-order, vcs: 2, buffer: 128 B, escape: dateline"),
    /* More than 64 routers; more than 8 places for ports at a router. */
    HEAD("family: torus, dims: [5, 5, 3]") LINKS("torus", "1 cycle", "1 cycle") WORM("2", "32 B", "escape: dateline"),
    HEAD("family: torus, dims: [3, 4], nodes_per_router: 5") LINKS("torus", "2 cycles", "0 s")
        WORM("8", "24 B", "escape: dateline"),
    /* Boxes (cycle_boxes.h) of 1, 2 and 3 routers a side. */
    HEAD("family: torus, dims: [8, 4, 12]") LINKS("torus", "1 cycle", "1 cycle") WORM("2", "64 B", "escape: dateline"),
    HEAD("family: torus, dims: [4, 12, 4]") LINKS("torus", "4 cycles", "0 s") WORM("2", "24 B", "escape: dateline"),
    HEAD("family: torus, dims: [4, 4, 8]") LINKS("torus", "1 cycle", "2 cycles")
        ROUTER("flow_control: cut-through, routing: dimension-order, vcs: 2, buffer: 128 B, escape: dateline"),
};

static void fast_path(void)
{
    for (size_t i = 0; i < FC_COUNT(simple); i++)
        for (int length = 0; length < 3; length++)
            for (int load = 0; load < (length ? 2 : 3); load++) {
                struct plan p = {.yaml = simple[i], .pattern = "uniform", .threads = 1, .load = 0.25 * load};
                p.least = length ? 2 : 1;
                p.most = length == 2 ? 8 : length ? 5 : 1;
                struct plan q = p;
                q.plain = true;
                compare(&p, &q, 1);
            }
}
/* Vectors of any length, and two threads, which have no boxes. */
static void vectors(void)
{
    for (size_t i = 0; i < FC_COUNT(simple); i++)
        for (uint32_t most = 1; most < 8; most += 5) {
            struct plan p = {.yaml = simple[i], .pattern = "uniform", .threads = 1, .load = 0.4, .least = 1};
            p.most = most;
            struct plan q[] = {p, p};
            q[0].vector_bytes = 16;
            q[1].vector_bytes = 32;
            p.threads = 2;
            compare(&p, q, FC_COUNT(q));
        }
}

static const char *const any[] = {
    HEAD("family: torus, dims: [4, 4]") LINKS("torus", "1 cycle", "1 cycle")
        WORM("2", "64 B", "vc_allocation: stage, escape: dateline"),
    HEAD("family: torus, dims: [4, 4, 2]") LINKS("torus", "4 cycles", "1 cycle")
        ROUTER("flow_control: cut-through, routing: adaptive, vcs: 2, buffer: 128 B, escape: bubble, "
               "arbitration: jsq-slq, paths: 2"),
    HEAD("family: torus, dims: [4, 4]") LINKS("torus", "2 cycles", "1 cycle")
        ROUTER("flow_control: wormhole, routing: adaptive, vcs: 2, buffer: 64 B, escape: dateline, "
               "arbitration: age, "
               "vc_allocation: stage"),
    HEAD("family: fat-tree, children: [4, 4], parents: [1, 4]")
        TREE ROUTER("flow_control: wormhole, routing: nca, vcs: 2, buffer: 64 B, arbitration: random"),
    HEAD("family: two-level, supernodes: 5, drawers: 1, nodes_per_drawer: 4") "links: {ll: {bandwidth: 8 "
                                                                              "GB/s, latency: 2 cycles}, lr: "
                                                                              "{bandwidth: 8 GB/s, latency: 2 "
                                                                              "cycles}, d: {bandwidth: 4 "
                                                                              "GB/s, latency: 20 cycles}, "
                                                                              "injection: {bandwidth: 8 GB/s, "
                                                                              "latency: 1 cycle}}\n" ROUTER(
                                                                                  "flow_control: wormhole, "
                                                                                  "routing: ugal, vcs: 3, "
                                                                                  "buffer: 256 B, "
                                                                                  "arbitration: slq"),
    HEAD("family: tmesh, dims: [3, 3], mesh: [2, 2], bridges: {x-: 0, y-: 1, x+: 2, y+: 3}, "
         "router_nodes_compute: true, vc_policy: six-vc") "links: {torus: {bandwidth: 2 GB/s, latency: 4 "
                                                          "cycles}, mesh: {bandwidth: 8 GB/s, latency: 1 "
                                                          "cycle}, injection: "
                                                          "{bandwidth: 8 GB/s, latency: 1 cycle}}\n" ROUTER(
                                                              "flow_control: wormhole, vcs: 2, buffer: 64 B"),
};

/* Not simple, as the above: one bit a virtual channel (cycle_bits.c). */
static const char *const turns[] = {
    HEAD("family: torus, dims: [4, 4]") LINKS("torus", "1 cycle", "1 cycle")
        WORM("4", "64 B", "vc_allocation: stage, escape: dateline"),
    HEAD("family: torus, dims: [4, 4]") LINKS("torus", "2 cycles", "0 s")
        ROUTER("flow_control: wormhole, routing: adaptive, vcs: 2, buffer: 32 B, escape: dateline, vc_allocation: "
               "stage"),
    HEAD("family: torus, dims: [4, 3, 2]") LINKS("torus", "2 cycles", "1 cycle")
        ROUTER("flow_control: cut-through, routing: adaptive, vcs: 2, buffer: 128 B, escape: bubble"),
    HEAD("family: fat-tree, children: [4, 4], parents: [1, 4]")
        TREE ROUTER("flow_control: wormhole, routing: nca, vcs: 2, buffer: 64 B"),
    HEAD("family: fat-tree, children: [4, 4], parents: [1, 4]")
        TREE ROUTER("flow_control: cut-through, routing: nca-random, vcs: 3, buffer: 128 B, vc_allocation: stage"),
    /* Links slower than a flit a tick; a choice at the source that sees the queues. */
    HEAD(
        "family: two-level, supernodes: 5, drawers: 1, nodes_per_drawer: 4") "links: {ll: {bandwidth: 8 GB/s, latency: 2 cycles}, lr: {bandwidth: 8 GB/s, latency: 2 cycles}, "
                                                                             "d: {bandwidth: 4 GB/s, latency: 20 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\n" ROUTER(
                                                                                 "flow_control: wormhole, routing: ugal, vcs: 3, buffer: 256 B"),
    /* More than 64 channels at a router. */
    HEAD("family: mesh, dims: [2, 2], nodes_per_router: 9") LINKS("mesh", "1 cycle", "2 cycles")
        WORM("8", "24 B", "escape: none, vc_allocation: stage"),
    HEAD("family: mesh, dims: [2, 2], nodes_per_router: 17") LINKS("mesh", "1 cycle", "1 cycle")
        ROUTER("flow_control: cut-through, routing: adaptive, vcs: 3, buffer: 128 B, escape: bubble"),
};
static void bits(void)
{
    for (size_t i = 0; i < FC_COUNT(turns) + FC_COUNT(any); i++)
        for (int load = i >= FC_COUNT(turns); load < 2; load++) {
            const char *yaml = i < FC_COUNT(turns) ? turns[i] : any[i - FC_COUNT(turns)];
            struct plan p = {.yaml = yaml, .pattern = "uniform", .threads = 1, .load = 0.2 * load, .least = 1};
            p.most = load ? 1 : 6;
            struct plan q[] = {p, p};
            q[1].vector_bytes = 16; /* some are small enough for strips */
            p.plain = true;
            compare(&p, q, FC_COUNT(q));
        }
}

#define SLOW(class, bandwidth, injection)                                                                              \
    "links: {" class ": {bandwidth: " bandwidth ", latency: 2 cycles}, injection: {bandwidth: " injection "}}\n"
/* Links slower than a flit a tick, or ports of several transfers at a time: who has a link for itself until it has passed, who sleeps
 * on a busy one, whose port is shut. */
static const char *const busy[] = {
    HEAD("family: torus, dims: [4, 3, 4]") SLOW("torus", "2 GB/s", "12 GB/s") ROUTER(
        "flow_control: cut-through, routing: adaptive, vcs: 2, buffer: 256 B, escape: bubble, arbitration: jsq-slq, "
        "paths: 2, in_network: 100, injection_fifos: 6"),
    HEAD("family: torus, dims: [4, 3, 4]") SLOW("torus", "2 GB/s", "2 GB/s")
        ROUTER("flow_control: cut-through, routing: dimension-order, vcs: 2, buffer: 64 B, escape: dateline"),
    HEAD("family: torus, dims: [4, 3, 4]") SLOW("torus", "2 GB/s", "4 GB/s")
        ROUTER("flow_control: cut-through, routing: adaptive, vcs: 2, buffer: 128 B, escape: dateline, "
               "vc_allocation: stage"),
    HEAD("family: torus, dims: [4, 3, 4]") SLOW("torus", "4 GB/s", "8 GB/s")
        ROUTER("flow_control: wormhole, routing: adaptive, vcs: 2, buffer: 32 B, escape: dateline, arbitration: age"),
    HEAD("family: torus, dims: [4, 3, 4]") SLOW("torus", "4 GB/s", "8 GB/s")
        WORM("4", "24 B", "escape: dateline, vc_allocation: stage, paths: 3"),
    HEAD("family: torus, dims: [4, 3, 4]") LINKS("torus", "1 cycle", "1 cycle")
        ROUTER("flow_control: cut-through, routing: adaptive, vcs: 2, buffer: 128 B, escape: bubble, paths: 2"),
    HEAD("family: mesh, dims: [2, 2], nodes_per_router: 17") SLOW("mesh", "4 GB/s", "8 GB/s")
        ROUTER("flow_control: cut-through, routing: adaptive, vcs: 3, buffer: 128 B, escape: bubble"),
};
static void slow_links(void)
{
    for (size_t i = 0; i < FC_COUNT(busy); i++)
        for (int load = 0; load < 3; load++) {
            struct plan p = {.yaml = busy[i], .pattern = "uniform", .threads = 1, .load = 0.05 * load};
            p.least = load < 2 ? 1 : 8;
            p.most = load ? 8 : 5;
            struct plan q[] = {p, p};
            q[0].plain = true;
            q[1].threads = 3;
            compare(&p, q, FC_COUNT(q));
        }
}

#define DRAGONFLY(local, far)                                                                                          \
    HEAD("family: two-level, supernodes: 5, drawers: 1, nodes_per_drawer: 4, nodes_per_router: 2")                     \
    "links: {ll: {bandwidth: 8 GB/s, latency: " local "}, d: {bandwidth: 8 GB/s, latency: " far                        \
    "}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\n"
#define WORMS(more) ROUTER("flow_control: wormhole, " more)
/* Small plain routers: strips (cycle_strip.h). */
static const char *const strips[] = {
    HEAD("family: fat-tree, children: [4, 4], parents: [1, 4]") TREE WORMS("routing: nca-random, vcs: 4, buffer: 64 B"),
    HEAD("family: fat-tree, children: [4, 4, 2], parents: [1, 4, 2], links: [1, 1, 2]")
        TREE WORMS("routing: nca-random, vcs: 2, buffer: 24 B, vc_allocation: stage"),
    HEAD("family: fat-tree, children: [3, 4], parents: [1, 2]")
        TREE WORMS("routing: nca-hash, vcs: 3, buffer: 40 B, vc_allocation: stage"),
    DRAGONFLY("2 cycles", "9 cycles") WORMS("routing: direct, vcs: 2, buffer: 2 KiB, vc_allocation: stage"),
    DRAGONFLY("1 cycle", "5 cycles") WORMS("routing: indirect, vcs: 3, buffer: 64 B"),
    DRAGONFLY("2 cycles", "20 cycles")
        WORMS("routing: ugal, ugal: {threshold: 3, weight: 2, queue: credits, via: router}, vcs: 4, buffer: 256 B, "
              "vc_allocation: stage"),
    DRAGONFLY("1 cycle", "3 cycles")
        WORMS("routing: ugal, ugal: {threshold: 2, weight: 1, queue: both}, vcs: 3, buffer: 2 KiB"),
    HEAD("family: mesh, dims: [3, 4], nodes_per_router: 5") LINKS("mesh", "1 cycle", "0 s")
        WORM("2", "24 B", "escape: none, vc_allocation: stage"),
    HEAD("family: mesh, dims: [3, 4]") LINKS("mesh", "2 cycles", "1 cycle")
        WORM("8", "24 B", "escape: none, vc_allocation: stage"),
    HEAD("family: mesh, dims: [5, 4], nodes_per_router: 3") LINKS("mesh", "1 cycle", "1 cycle")
        WORM("1", "16 B", "escape: none, vc_allocation: stage"),
    HEAD("family: torus, dims: [3, 4, 3]") LINKS("torus", "1 cycle", "2 cycles")
        WORM("4", "64 B", "escape: dateline, dateline: entry, vc_allocation: stage"),
};
/* Against the lists, against one bit a channel (processors without long vectors), in two parts. `length`: of packets, 0: a flit. */
static void by_other_paths(const char *yaml, int length, double load)
{
    struct plan p = {.yaml = yaml, .pattern = "uniform", .threads = 1, .load = load};
    p.least = length ? 2 : 1;
    p.most = length == 2 ? 8 : length ? 3 : 1;
    struct plan q[] = {p, p, p};
    q[0].plain = true;
    q[1].vector_bytes = 16;
    q[1].threads = length == 1 ? 2 : 1;
    q[2].threads = 2;
    compare(&p, q, FC_COUNT(q));
}
static void small_routers(void)
{
    for (size_t i = 0; i < FC_COUNT(strips); i++)
        for (int length = 0; length < 3; length++)
            for (int load = 0; load < (length ? 2 : 3); load++) by_other_paths(strips[i], length, 0.2 * load);
}
/* Small routers that look up what a head may do, and outputs of every order. */
static const char *const looked_up[] = {
    HEAD("family: fat-tree, children: [4, 4], parents: [1, 4]")
        TREE WORMS("routing: nca, vcs: 2, buffer: 256 B, arbitration: age"),
    HEAD("family: fat-tree, children: [4, 4, 2], parents: [1, 4, 2], links: [1, 1, 2]")
        TREE WORMS("routing: nca, vcs: 2, buffer: 24 B"),
    HEAD("family: fat-tree, children: [4, 4], parents: [1, 4]")
        TREE WORMS("routing: nca, vcs: 3, buffer: 64 B, arbitration: jsq-slq"),
    HEAD("family: fat-tree, children: [4, 4], parents: [1, 4]")
        TREE WORMS("routing: nca-random, vcs: 2, buffer: 2 KiB, arbitration: age"),
    DRAGONFLY("1 cycle", "5 cycles") WORMS("routing: direct, vcs: 2, buffer: 64 B, arbitration: slq"),
    HEAD("family: torus, dims: [4, 4]") LINKS("torus", "2 cycles", "0 s")
        WORMS("routing: adaptive, vcs: 3, buffer: 32 B, escape: dateline, arbitration: random"),
    HEAD("family: torus, dims: [3, 4]") LINKS("torus", "1 cycle", "1 cycle")
        WORMS("routing: adaptive, vcs: 4, buffer: 40 B, escape: dateline, arbitration: jsq-slq"),
};
static void looks_up(void)
{
    for (size_t i = 0; i < FC_COUNT(looked_up); i++)
        for (int length = 0; length < 3; length++)
            for (int load = 0; load < 2; load++) by_other_paths(looked_up[i], length, 0.3 * load);
}
/* Their ways are known at the source: the above compares no path with itself. */
static void ways(void)
{
    for (size_t i = 0; i < FC_COUNT(strips); i++) {
        struct run r;
        struct fc_flit_settings s;
        struct plan p = {.yaml = strips[i], .pattern = "uniform", .load = 0.1, .least = 1, .most = 1};
        struct fc_route_fields fields;
        if (!start(&r, &p, &s)) continue;
        CU_ASSERT_TRUE(fc_route_torus_fields(&r.flit, &fields) || fc_route_ways_fields(&r.flit, &fields));
        end(&r);
    }
}

/* An escape that is taken where nothing else has room: the same, and the same for any number of threads. */
static void escapes(void)
{
    struct plan p = {.yaml = "tests/fabrics/escapes.yaml", .pattern = "uniform", .threads = 1, .least = 4, .most = 8};
    struct plan q[] = {p, p};
    q[0].plain = true;
    q[1].threads = 2;
    compare(&p, q, FC_COUNT(q));
}

static void threads(void)
{
    for (size_t i = 0; i < FC_COUNT(any) + FC_COUNT(simple) + FC_COUNT(turns); i++) {
        size_t j = i - FC_COUNT(any), k = j - FC_COUNT(simple);
        const char *yaml = i < FC_COUNT(any) ? any[i] : j < FC_COUNT(simple) ? simple[j] : turns[k];
        struct plan p = {.yaml = yaml, .pattern = "uniform", .threads = 1, .load = 0.2, .least = 1, .most = 4};
        struct plan q[] = {p, p};
        q[0].threads = 2;
        q[1].threads = 3;
        compare(&p, q, i < FC_COUNT(any) ? 2 : 1);
    }
}

/* Finite messages: everything arrives, and every credit comes back. */
static void drained(void)
{
    for (size_t i = 0; i < FC_COUNT(any) + FC_COUNT(simple) + FC_COUNT(turns) + FC_COUNT(strips); i++) {
        size_t j = i - FC_COUNT(any), k = j - FC_COUNT(simple), l = k - FC_COUNT(turns);
        const char *yaml = i < FC_COUNT(any)      ? any[i]
                           : j < FC_COUNT(simple) ? simple[j]
                           : k < FC_COUNT(turns)  ? turns[k]
                                                  : strips[l];
        struct plan p = {.yaml = yaml, .pattern = "alltoall:bytes=128", .threads = 1 + (int)(i % 2), .closed = true};
        struct run r;
        go(&r, &p);
        CU_ASSERT_TRUE(r.state.exhausted);
        CU_ASSERT_EQUAL(r.state.packets_in_flight, 0);
        CU_ASSERT_TRUE(r.credits_full);
        uint64_t n = r.net.n_nodes;
        CU_ASSERT_EQUAL(r.counts->packets_delivered, n * (n - 1) * 2); /* 64 payload bytes a packet */
        if (!r.state.exhausted || !r.credits_full) printf("\n    not drained: %s", yaml);
        end(&r);
    }
}

/* Both engines are exact where packets are cut through whole and all links are alike; they differ in how ties
 * fall. */
static void two_engines(void)
{
    static const char *const yaml[] = {
        HEAD("family: torus, dims: [4, 4]") LINKS("torus", "3 cycles", "1 cycle")
            ROUTER("flow_control: cut-through, routing: dimension-order, vcs: 2, buffer: 256 B, escape: dateline"),
        HEAD("family: fat-tree, children: [4, 4], parents: [1, 4]")
            TREE ROUTER("flow_control: cut-through, routing: nca-random, vcs: 2, buffer: 256 B"),
    };
    for (size_t i = 0; i < FC_COUNT(yaml); i++)
        for (int load = 0; load < 3; load++) {
            struct plan p = {.yaml = yaml[i], .pattern = "uniform", .threads = 1, .least = 8, .most = 8};
            p.load = load == 0 ? 0.02 : load == 1 ? 0.2 : 0.4;
            struct run a, b;
            go(&a, &p);
            p.engine = &fc_flit_event_engine;
            go(&b, &p);
            double x = (double)a.counts->latency_ticks / (double)a.counts->measured_delivered / a.flit.ticks_per_cycle;
            double y = (double)b.counts->latency_ticks / (double)b.counts->measured_delivered / b.flit.ticks_per_cycle;
            CU_ASSERT_TRUE(fabs(x / y - 1) < (load == 2 ? 0.03 : 0.015));
            if (fabs(x / y - 1) >= (load == 2 ? 0.03 : 0.015))
                printf("\n    cycle %g, event %g at load %g\n%s", x, y, p.load, yaml[i]);
            end(&a);
            end(&b);
        }
}

/* A torus without dateline locks up under load; the blocked heads hold the cycle. */
static void deadlock(void)
{
    struct fc_flit_settings s;
    struct fc_status st = {0};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_flit_result result;
    if (!fc_test_network(HEAD("family: torus, dims: [4, 4]") LINKS("torus", "1 cycle", "1 cycle")
                             WORM("1", "16 B", "escape: none"),
                         &machine, &net))
        return;
    fc_flit_defaults(&s);
    s.load_flits_per_cycle = 0.6;
    s.packet_flits_min = s.packet_flits_max = 8;
    s.allow_deadlock = true;
    s.engine = FC_ENGINE_CYCLE;
    CU_ASSERT_EQUAL(fc_demand_from_pattern(&net, "uniform", 1, &demand, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_flit_run(&net, &demand, NULL, &s, &result, &st), FC_OK);
    CU_ASSERT_TRUE(result.deadlock);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.deadlock_text, "waits for"));
    CU_ASSERT_EQUAL(result.packets_injected, result.packets_delivered + result.packets_in_flight);
    fc_flit_free(&result);
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

static void taken(void)
{
    static const struct {
        const char *yaml, *why;
    } bad[] = {
        {HEAD("family: mesh, dims: [4, 4]")
             LINKS("mesh", "0 s", "0 s") "router: {delay: 0 s, flit: 8 B, flow_control: wormhole, escape: "
                                         "none}\npacket: {max: 8 B}\n",
         "zero together"},
        {HEAD("family: mesh, dims: [4, 4]")
             LINKS("mesh", "1 cycle", "0 s") "router: {delay: 0 s, flit: 8 B, flow_control: wormhole, "
                                             "escape: none, vc_allocation: stage}\npacket: {max: 8 B}\n",
         "virtual-channel stage"},
        {HEAD("family: mesh, dims: [4, 4]")
             LINKS("mesh", "1 cycle", "0 s") "router: {delay: 1 cycle, flit: 8 B, flow_control: wormhole, "
                                             "escape: none, buffer: 1 MiB}\npacket: {max: 8 B}\n",
         "limited to 65535 flits"},
    };
    for (size_t i = 0; i < FC_COUNT(bad); i++) {
        struct run r;
        struct fc_flit_settings s;
        char why[256] = "";
        struct plan p = {.yaml = bad[i].yaml, .pattern = "uniform", .load = 0.1, .least = 1, .most = 1};
        if (!start(&r, &p, &s)) continue;
        CU_ASSERT_FALSE(fc_flit_cycle_engine.takes(&r.flit, why, sizeof why));
        CU_ASSERT_PTR_NOT_NULL(strstr(why, bad[i].why));
        end(&r);
    }
}

int suite_flit_cycle(void)
{
    CU_pSuite suite = CU_add_suite("flit: cycle engine", NULL, NULL);
    if (!suite) return 1;
    CU_ADD_TEST(suite, fast_path);
    CU_ADD_TEST(suite, vectors);
    CU_ADD_TEST(suite, bits);
    CU_ADD_TEST(suite, slow_links);
    CU_ADD_TEST(suite, small_routers);
    CU_ADD_TEST(suite, looks_up);
    CU_ADD_TEST(suite, ways);
    CU_ADD_TEST(suite, escapes);
    CU_ADD_TEST(suite, threads);
    CU_ADD_TEST(suite, drained);
    CU_ADD_TEST(suite, two_engines);
    CU_ADD_TEST(suite, deadlock);
    CU_ADD_TEST(suite, taken);
    return 0;
}
