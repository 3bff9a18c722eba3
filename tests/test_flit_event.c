/* test_flit_event.c - the packet-event engine against exact theory: zero-load latency to the tick,
 * conservation, equal results for any number of threads, the bubble, and a deadlock that is real. Queues:
 * test_flit_event_queue.c. */
#include "solvers/flit/event_wheel.h"
#include "tests/flit_event.h"

/* ---- machines ------------------------------------------------------------ */

#define BGL_LIKE(dims, more)                                                                                           \
    "name: t\nclock: 175 MHz\nnetwork: {family: torus, dims: " dims "}\n"                                              \
    "links: {torus: {bandwidth: 175 MB/s, latency: 8 cycles}, injection: {bandwidth: 1.05 GB/s}}\n"                    \
    "router: {delay: 8 cycles, flow_control: cut-through, flit: 32 B, buffer: 1 KiB, paths: 2, " more "}\n"            \
    "packet: {min: 32 B, max: 256 B, header: 16 B, trailer: 14 B}\n"

static const char *const machines[] = {
    BGL_LIKE("[4, 4, 4]", "vcs: 2, escape: bubble, routing: adaptive, arbitration: jsq-slq"),
    BGL_LIKE("[8, 5]", "vcs: 2, escape: dateline, routing: dimension-order, arbitration: round-robin"),
    BGL_LIKE("[6, 4]", "vcs: 4, escape: dateline, routing: valiant, arbitration: age"),
    /* links of different rates along the way, two nodes a router */
    "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4], nodes_per_router: 2}\n"
    "links: {x: {bandwidth: 32 GB/s, latency: 3 cycles}, y: {bandwidth: 4 GB/s, latency: 7 cycles},"
    " injection: {bandwidth: 64 GB/s, latency: 2 cycles}}\n"
    "router: {delay: 5 cycles, flow_control: cut-through, flit: 32 B, buffer: 1 KiB, vcs: 2, escape: "
    "dateline,"
    " routing: dimension-order, arbitration: random}\npacket: {min: 32 B, max: 256 B, trailer: 8 B}\n",
    "name: t\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [4, 4], parents: [1, 4]}\n"
    "links: {leaf: {bandwidth: 32 GB/s, latency: 4 cycles}, up: {bandwidth: 16 GB/s, latency: 9 cycles}}\n"
    "router: {delay: 6 cycles, flow_control: cut-through, flit: 32 B, buffer: 1 KiB, vcs: 2, routing: nca,"
    " arbitration: slq}\npacket: {min: 32 B, max: 256 B}\n",
    "tmesh-216",
    "percs-16",
};

/* ---- zero load ------------------------------------------------------------ */

/* Latency of the one packet over the links that it used, in order: between routers each starts when the first flit is
 * there whole, the last one when the rest will be in time. */
static uint64_t walk_ticks(const struct run *r, uint32_t src, uint32_t flits, uint32_t *links)
{
    const struct fc_network *net = &r->net;
    uint32_t v = net->n_routers + src, came = 0;
    uint64_t ready = 0, tail = 0; /* of head and tail, through the router */
    for (*links = 0;; ++*links) {
        uint32_t l = net->first_link[v];
        while (l < net->first_link[v + 1] && r->link_packets[l] == 0) l++;
        int class = net->link_class[l];
        uint64_t ticks = fc_flit_packet_ticks(&r->flit, class, flits), latency = r->flit.latency_ticks[class];
        uint32_t goes = r->flit.flit_ticks[class];
        v = net->link_target[l];
        if (fc_is_node(net, v)) {
            ++*links;
            return (tail > ready + ticks ? tail : ready + ticks) + latency;
        }
        uint64_t start = ready + (came > goes ? came - goes : 0);
        ready = start + latency + r->flit.router_ticks;
        tail = (tail > start + ticks ? tail : start + ticks) + latency + r->flit.router_ticks;
        came = goes;
    }
}

static void zero_load(void)
{
    for (size_t m = 0; m < FC_COUNT(machines); m++)
        for (uint32_t i = 1; i < 6; i++) {
            struct run r;
            struct fc_flit_settings settings = settings_of(0);
            if (!build(&r, machines[m])) continue;
            uint32_t n = r.net.n_nodes, src = n / 7 * i, dst = (src + 1 + (n - 1) * i / 6) % n, links;
            one_flow(&r, src, dst, 25 * i - 24, false); /* one packet, 1 to 4 flits where a flit has 32 bytes */
            if (start(&r, &settings, 0, UINT32_MAX, 0)) {
                advance(&r, UINT32_MAX);
                finish(&r);
                CU_ASSERT(r.state.exhausted);
                CU_ASSERT_EQUAL(r.counts.packets_delivered, 1);
                uint64_t expected = walk_ticks(&r, src, (uint32_t)r.counts.flits_delivered, &links);
                CU_ASSERT_EQUAL(r.counts.latency_ticks, expected);
                CU_ASSERT_EQUAL(r.counts.network_ticks, expected);
                CU_ASSERT_EQUAL(r.counts.hops + 2, links);
                CU_ASSERT_EQUAL(r.counts.flit_hops, r.counts.hops * r.counts.flits_delivered);
                CU_ASSERT_EQUAL(r.state.now, expected);
                CU_ASSERT(fc_flit_event_engine.credits_full(r.engine));
            }
            end(&r);
        }
}

/* Equal rates everywhere: hops x (router + link) + serialisation, written out. */
static void equal_rates(void)
{
    struct run r;
    struct fc_flit_settings settings = settings_of(0);
    if (!build(&r, "name: t\nclock: 1 GHz\nnetwork: {family: mesh, dims: [9]}\n"
                   "links: {mesh: {bandwidth: 8 GB/s, latency: 2 cycles}, injection: {bandwidth: 8 GB/s, "
                   "latency: 1 cycle}}\n"
                   "router: {delay: 3 cycles, flow_control: cut-through, flit: 8 B, buffer: 64 B, vcs: 2,"
                   " routing: dimension-order, escape: none}\npacket: {min: 8 B, max: 40 B}\n"))
        return;
    one_flow(&r, 1, 7, 40, false);
    if (start(&r, &settings, 0, UINT32_MAX, 0)) {
        advance(&r, UINT32_MAX);
        finish(&r);
        uint64_t expected = 2 * 1 + 6 * 2 + 7 * 3 + 5; /* cycles: wires, routers, flits */
        CU_ASSERT_DOUBLE_EQUAL((double)r.counts.latency_ticks, (double)expected * r.flit.ticks_per_cycle, 1e-9);
    }
    end(&r);
}

/* ---- whole networks ------------------------------------------------------------ */

/* All-to-all until nothing is left, with packets of several lengths; returns the tick of the end. */
static void drain(const char *yaml, const char *pattern, bool published)
{
    struct run r;
    struct fc_flit_settings settings = settings_of(0);
    settings.bubble_as_published = published;
    settings.allow_deadlock = published;
    settings.threads = 2;
    if (!build(&r, yaml)) return;
    r.st.code = fc_demand_from_pattern(&r.net, pattern, 1, &r.demand, &r.st);
    if (start(&r, &settings, 0, UINT64_MAX / 2, 0)) {
        for (uint64_t t = 50000; !r.state.exhausted && t < 20000000; t += 50000) advance(&r, t);
        finish(&r);
        uint64_t n = r.net.n_nodes;
        CU_ASSERT(r.state.exhausted);
        CU_ASSERT(r.counts.packets_delivered >= n * (n - 1));
        CU_ASSERT_EQUAL(r.counts.packets_delivered, r.counts.packets_injected);
        CU_ASSERT_EQUAL(r.state.packets_in_flight, 0);
        CU_ASSERT_EQUAL(r.state.flits_in_flight, 0);
        CU_ASSERT_EQUAL(r.counts.measured_started, r.counts.measured_delivered);
        CU_ASSERT(fc_flit_event_engine.credits_full(r.engine));
    }
    end(&r);
}

static void drained(void)
{
    for (size_t m = 0; m < 5; m++) drain(machines[m], "alltoall:bytes=400", false);
    drain(machines[0], "alltoall:bytes=300", true); /* the bubble as first published: this load does not block it */
}

/* Every arbitration delivers everything. */
static void arbitrations(void)
{
    static const char *const names[] = {"round-robin", "age", "random", "jsq", "slq", "jsq-slq"};
    for (size_t i = 0; i < FC_COUNT(names); i++) {
        char yaml[900];
        snprintf(
            yaml, sizeof yaml,
            BGL_LIKE("[4, 4]", "vcs: 2, escape: bubble, routing: adaptive, in_network: 60, slq: 75, arbitration: %s"),
            names[i]);
        drain(yaml, "alltoall:bytes=700", false);
    }
}

/* Blue Gene/L: minimal adaptive routing with the bubble fills the links of a symmetric torus. */
static void capacity(void)
{
    struct run r;
    struct fc_flit_settings settings = settings_of(0);
    settings.backlog = true;
    if (!build(&r, BGL_LIKE("[8, 8, 8]", "vcs: 2, escape: bubble, routing: adaptive, arbitration: jsq-slq,"
                                         " in_network: 100, injection_fifos: 6")))
        return;
    r.st.code = fc_demand_from_pattern(&r.net, "uniform", 1, &r.demand, &r.st);
    uint64_t from = 60000, to = 100000;
    if (start(&r, &settings, from, to, 0)) {
        advance(&r, to);
        finish(&r);
        double busy = 0, links = 0;
        for (uint32_t l = 0; l < r.net.n_links; l++) {
            if (r.net.link_class[l] != 0) continue;
            busy += (double)(r.link_flits[l] * r.flit.flit_ticks[0] + r.link_packets[l] * r.flit.trailer_ticks[0]);
            links++;
        }
        CU_ASSERT(busy / links / (double)(to - from) > 0.93);
        CU_ASSERT(busy / links / (double)(to - from) <= 1.001);
        CU_ASSERT(r.state.last_move < to && r.state.last_move > to - 100);
    }
    end(&r);
}

/* ---- threads ------------------------------------------------------------ */

static bool same_counts(const struct fc_flit_counts *a, const struct fc_flit_counts *b)
{
    bool same =
        !memcmp(&a->measured_started, &b->measured_started,
                offsetof(struct fc_flit_counts, interval_flits) - offsetof(struct fc_flit_counts, measured_started));
    for (uint32_t i = 0; i < a->n_intervals; i++)
        same = same && a->interval_flits[i] == b->interval_flits[i] &&
               a->interval_returns[i] == b->interval_returns[i] &&
               a->interval_unblocked[i] == b->interval_unblocked[i] &&
               !memcmp(a->interval_vc_flits[i], b->interval_vc_flits[i], sizeof a->interval_vc_flits[i]);
    return same;
}

static void compare_threads(const char *yaml, const char *pattern, double load, uint64_t to)
{
    struct run first;
    for (int threads = 1; threads <= 5; threads += 2) {
        struct run r;
        struct fc_flit_settings settings = settings_of(load > 0 ? load : 0);
        settings.threads = threads == 1 ? 1 : threads - 1; /* 1, 2, 4 */
        settings.backlog = load < 0;
        settings.packet_flits_min = load != 0 ? 1 : 0;
        settings.packet_flits_max = load != 0 ? 8 : 0;
        if (!build(&r, yaml)) return;
        r.st.code = fc_demand_from_pattern(&r.net, pattern, 1, &r.demand, &r.st);
        if (start(&r, &settings, to / 3, to * 2 / 3, 8)) {
            for (uint64_t t = to / 5; t <= to; t += to / 5) advance(&r, t);
            finish(&r);
        }
        if (threads == 1) {
            first = r;
            CU_ASSERT(r.counts.packets_delivered > 300);
            continue;
        }
        CU_ASSERT(same_counts(&first.counts, &r.counts));
        CU_ASSERT(!memcmp(first.link_flits, r.link_flits, r.net.n_links * sizeof *r.link_flits));
        CU_ASSERT(!memcmp(first.link_packets, r.link_packets, r.net.n_links * sizeof *r.link_packets));
        CU_ASSERT(!memcmp(first.injected, r.injected, r.net.n_nodes * sizeof *r.injected));
        CU_ASSERT_EQUAL(first.state.now, r.state.now);
        CU_ASSERT_EQUAL(first.state.last_move, r.state.last_move);
        CU_ASSERT_EQUAL(first.state.sources_waiting, r.state.sources_waiting);
        CU_ASSERT_EQUAL(first.state.packets_in_flight, r.state.packets_in_flight);
        end(&r);
    }
    end(&first);
}

static void thread_count(void)
{
    for (size_t m = 0; m < 5; m++) compare_threads(machines[m], "uniform", -1, 20000);
    compare_threads(machines[0], "uniform", 0.02, 40000);
    compare_threads(machines[0], "alltoall:bytes=500", 0, 400000); /* to the end */
    compare_threads(machines[0], "hotregion:fraction=0.5,region=0.125", -1, 30000);
    compare_threads("tmesh-216", "uniform", -1, 5000);
}

/* ---- counters ------------------------------------------------------------ */

static void intervals(void)
{
    struct run r;
    struct fc_flit_settings settings = settings_of(0);
    settings.backlog = true;
    if (!build(&r, machines[0])) return;
    r.st.code = fc_demand_from_pattern(&r.net, "uniform", 1, &r.demand, &r.st);
    uint64_t to = 60000;
    if (start(&r, &settings, 0, to, 6)) {
        advance(&r, to);
        finish(&r);
        uint64_t delivered = 0, sent = 0, returns = 0, unblocked = 0, links = 0;
        for (uint32_t i = 0; i < 6; i++) {
            delivered += r.counts.interval_flits[i];
            returns += r.counts.interval_returns[i];
            unblocked += r.counts.interval_unblocked[i];
            for (int v = 0; v < FC_FLIT_MOST_VCS; v++) sent += r.counts.interval_vc_flits[i][v];
        }
        for (uint32_t l = 0; l < r.net.n_links; l++)
            if (r.net.link_class[l] == 0) links += r.link_flits[l];
        CU_ASSERT_EQUAL(delivered, r.counts.flits_delivered);
        CU_ASSERT_EQUAL(sent, links); /* both count by the tick at which a flit starts */
        CU_ASSERT(r.counts.flit_hops >= sent && r.counts.flit_hops <= sent + 8 * 6 * 64);
        CU_ASSERT(unblocked > 0 && unblocked < returns);
    }
    end(&r);
}

/* Mean occupancy of one buffer by Little's law: a lone stream at full rate keeps latency x rate flits in it.
 */
static void occupancy(void)
{
    struct run r;
    struct fc_flit_settings settings = settings_of(0);
    settings.backlog = true;
    if (!build(&r, NARROW_INJECTION)) return;
    one_flow(&r, 0, 1, 1, true);
    if (start(&r, &settings, 4000, 84000, 0)) {
        advance(&r, 90000);
        finish(&r);
        /* the head waits the router's delay and until the slow ejection link may start; the tail comes at the
         * fast link's rate and leaves at the slow one's */
        double tpc = r.flit.ticks_per_cycle, occupied = 0;
        for (int v = 0; v < r.flit.n_vcs; v++) occupied += (double)r.counts.occupancy_flit_ticks[v];
        double flit_cycles = occupied / tpc / ((84000 - 4000) / tpc / 8);
        CU_ASSERT(fc_near(flit_cycles, 8 * 3 + 36 * (1 - 0.25), 0.01));
    }
    end(&r);
}

/* ---- deadlock ------------------------------------------------------------ */

/* A ring without a rule, one packet a buffer, and all nodes send two hops in one direction at once: every
 * packet takes its first channel and waits for that of the next. */
static void deadlock(void)
{
    struct run r;
    struct fc_flit_settings settings = settings_of(0);
    settings.backlog = true;
    settings.allow_deadlock = true;
    if (!build(&r, "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [6]}\nlinks: {torus: {bandwidth: 8 "
                   "GB/s}}\n"
                   "router: {delay: 8 cycles, flow_control: cut-through, flit: 8 B, buffer: 32 B, vcs: 1, "
                   "escape: none,"
                   " routing: dimension-order}\npacket: {min: 8 B, max: 32 B}\n"))
        return;
    r.st.code = fc_demand_from_pattern(&r.net, "tornado", 1, &r.demand, &r.st);
    r.demand.open_loop = true;
    if (start(&r, &settings, 0, UINT64_MAX / 2, 0)) {
        advance(&r, 1000000);
        finish(&r);
        CU_ASSERT(r.state.last_move < 1000);
        CU_ASSERT_EQUAL(r.counts.packets_delivered, 0);
        CU_ASSERT(r.state.packets_in_flight > 0);
        struct fc_flit_blocked *blocked;
        uint32_t n = 0, *wanted, ring = 0;
        CU_ASSERT_EQUAL(fc_flit_event_engine.blocked(r.engine, &r.arena, &blocked, &n, &wanted, &r.st), FC_OK);
        for (uint32_t i = 0; i < n; i++) {
            CU_ASSERT(blocked[i].n_wanted >= 1);
            uint32_t in = blocked[i].channel / (uint32_t)r.flit.n_vcs;
            for (uint32_t w = 0; w < blocked[i].n_wanted; w++) {
                uint32_t out = wanted[blocked[i].first_wanted + w] / (uint32_t)r.flit.n_vcs;
                CU_ASSERT_EQUAL(r.net.link_source[out], r.net.link_target[in]);
            }
            ring += r.net.link_class[in] == 0;
        }
        CU_ASSERT_EQUAL(ring, 6); /* every channel of the ring in use waits for the next */
        CU_ASSERT(!fc_flit_event_engine.credits_full(r.engine));
    }
    end(&r);
}

/* ---- what it does not take ------------------------------------------------------------ */

static void refusal(const char *router, const char *part)
{
    struct run r;
    char yaml[700], why[200] = "";
    struct fc_flit_settings settings = settings_of(0.1);
    snprintf(yaml, sizeof yaml,
             "name: t\nclock: 1 GHz\nnetwork: {family: mesh, dims: [3]}\nlinks: {mesh: {bandwidth: 8 GB/s}}\n"
             "router: {flit: 8 B, vcs: 1, buffer: 64 B, routing: dimension-order, escape: none, delay: 1 "
             "cycle, %s}\n"
             "packet: {min: 8 B, max: 32 B}\n",
             router);
    if (!build(&r, yaml)) return;
    if (fc_flit_prepare(&r.net, &settings, &r.flit, &r.st) == FC_OK) {
        CU_ASSERT(!fc_flit_event_engine.takes(&r.flit, why, sizeof why));
        CU_ASSERT(strstr(why, part) != NULL);
        fc_flit_unprepare(&r.flit);
    }
    fine(&r);
    fc_test_close(&r.machine, &r.net);
}

static void refusals(void)
{
    refusal("flow_control: wormhole", "wormhole");
    refusal("flow_control: cut-through, vc_allocation: stage", "vc_allocation");
}

/* ---- the calendar ------------------------------------------------------------ */

/* Events at all distances come at their tick, each once. */
static void calendar(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_event_wheel *wheel = fc_alloc(&arena, 1, sizeof *wheel, &st);
    enum { N = 4000 };
    static uint64_t due[N];
    CU_ASSERT_EQUAL_FATAL(fc_event_wheel_make(wheel, 100, &arena, &st), FC_OK);
    for (uint32_t i = 0; i < N; i++) {
        due[i] = fc_random_below(3, 0, i, i % 4 == 0 ? 200 : i % 4 == 1 ? 3000 : i % 4 == 2 ? 70000 : 500000);
        fc_event_push(wheel, due[i], FC_EVENT_NODE, i);
    }
    uint32_t seen = 0, late = 0;
    uint64_t end_tick = 0;
    while (seen < N && end_tick < 600000) {
        end_tick += 977;
        while (fc_event_next_tick(wheel, end_tick)) {
            uint32_t s = (uint32_t)wheel->now & ((1u << wheel->bits) - 1);
            struct fc_event_chunk *chunk = &wheel->slot[s];
            wheel->filled[s / 64] &= ~(1ull << s % 64);
            for (;; chunk = &wheel->chunk[chunk->next]) {
                for (uint32_t i = 0; i < chunk->n; i++, seen++)
                    late += due[chunk->word[i] & FC_EVENT_INDEX] != wheel->now;
                if (chunk->next == 0) break;
            }
            wheel->slot[s].n = wheel->slot[s].next = 0;
        }
        CU_ASSERT_EQUAL(wheel->now, end_tick);
    }
    CU_ASSERT_EQUAL(seen, N);
    CU_ASSERT_EQUAL(late, 0);
    fc_event_wheel_free(wheel);
    fc_arena_free(&arena);
}

int suite_flit_event(void)
{
    static const CU_TestInfo tests[] = {
        {"the calendar", calendar},
        {"zero load, to the tick", zero_load},
        {"zero load, equal rates", equal_rates},
        {"drained networks", drained},
        {"every arbitration", arbitrations},
        {"Blue Gene/L near capacity", capacity},
        {"any number of threads", thread_count},
        {"intervals", intervals},
        {"occupancy", occupancy},
        {"a deadlock", deadlock},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit/event", tests);
}
