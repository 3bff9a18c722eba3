/* test_nic.c - the network interface: keys and their refusals; transfers, atomic operations, barriers and
 * broadcasts against closed forms worked out here; waits beside a background against means of uniform
 * variables. The published figures: `fabricast reproduce gemini qsnet`. */
#include "solvers/nic/nic.h"
#include "solvers/nic/nic_spread.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

/* A ring of 8 with two cables each way; flits of 3 bytes. */
#define RING                                                                                                           \
    "name: r\nclock: 800 MHz\nnetwork: {family: torus, dims: [8], links_per_dim: [2]}\n"                               \
    "links: {torus: {bandwidth: 1 GB/s, latency: 5 ns}, injection: {bandwidth: 10 GB/s, latency: 1 ns}}\n"             \
    "router: {delay: 100 ns, flit: 3 B, vcs: 2, escape: dateline, routing: dimension-order}\n"                         \
    "packet: {min: 33 B, max: 96 B, header: 32 B}\n"                                                                   \
    "software: {send: 2 us, recv: 3 us}\n"
#define RING_NIC                                                                                                       \
    "nic: {put: 0.5 us, gap: 0.1 us, per_byte: 1 ns/B, clock: 650 MHz, unit: 64 B, "                                   \
    "unit_cycles: 5, host: 9.6 GB/s, host_header: 12 B, block_header: 24 B, ports: 8, port_cycles: 32, "               \
    "put_flits: 8, "                                                                                                   \
    "ack_flits: 2, "                                                                                                   \
    "get_flits: 8, reply_flits: 3, data_flits: 3, amo_hit: 6.5, amo_miss: 13, amo_lines: 64}\n"
/* 16 nodes on switches of 4: c(1) = 35 + 2 10, c(2) = 3 35 + 4 10 ns; packets of 320 + 58 bytes, 400 MB/s. */
#define TREE                                                                                                           \
    "name: t\nclock: 200 MHz\nnetwork: {family: fat-tree, children: [4, 4], parents: [1, 4]}\n"                        \
    "links: {leaf: {bandwidth: 400 MB/s, latency: 10 ns}, up: {bandwidth: 400 MB/s, latency: 10 ns}}\n"                \
    "router: {delay: 35 ns, flow_control: wormhole, flit: 2 B, vcs: %s, escape: none, buffer: 256 B, "                 \
    "routing: nca, "                                                                                                   \
    "arbitration: age, multicast: tree, multicast_window: 2}\n"                                                        \
    "packet: {max: 378 B, header: 58 B}\n"
#define TREE_NIC                                                                                                       \
    "nic: {put: 2 us, host: 100 MB/s, host_efficiency: 0.5, barrier: 4 us, event: 1 us, tree: 7 us, "                  \
    "tree_arity: 4, "                                                                                                  \
    "broadcast: 6 us, broadcast_event: 1 us, acknowledge: 2 us, dma_queue: 7, dma_slice: 1000 B%s}\n"
#define C1 55e-9
#define C2 145e-9
#define EMPTY (58 / 400e6)
#define FULL (378 / 400e6)

struct bench {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st;
};

static void open_bench(struct bench *b, const char *yaml)
{
    memset(b, 0, sizeof *b);
    CU_ASSERT_FATAL(fc_test_network(yaml, &b->machine, &b->net));
}
static void open_tree(struct bench *b, const char *vcs, const char *more)
{
    char yaml[2000];
    snprintf(yaml, sizeof yaml, TREE TREE_NIC, vcs, more);
    open_bench(b, yaml);
}
static void close_bench(struct bench *b)
{
    fc_test_close(&b->machine, &b->net);
}

/* ---- keys ---- */

static void refuse(const char *yaml, long line, const char *part)
{
    struct fc_machine m;
    struct fc_status st = {0};
    CU_ASSERT(fc_test_machine(yaml, &m, &st) == FC_INPUT);
    if (!fc_says(&st, FC_INPUT, part)) CU_FAIL("message");
    CU_ASSERT_EQUAL(st.line, line);
    if (!st.code) fc_machine_free(&m);
}

static void test_keys(void)
{
    static const struct {
        const char *nic, *part;
    } wrong[] = {
        {"{gap: 1 us}", "nic: put is missing"},
        {"{putt: 1 us}", "unknown key 'putt' (did you mean 'put'? "},
        {"{put: 2 s}", "nic.put: "},
        {"{put: -1 us}", "nic.put: "},
        {"{put: nan us}", "nic.put: "},
        {"{put: 1 us, put: 1 us}", "put: given twice"},
        {"{put: 1 us, host_efficiency: 1.5}", "nic.host_efficiency: "},
        {"{put: 1 us, unit_cycles: 5}", "nic.unit_cycles: without nic.clock"},
        {"{put: 1 us, clock: 1 GHz, unit_cycles: 5}", "nic.unit_cycles: without nic.unit"},
        {"{put: 1 us, host_header: 12 B}", "nic.host_header: without nic.unit"},
        {"{put: 1 us, unit: 64 B, host_header: 12 B}", "nic.host_header: without nic.host"},
        {"{put: 1 us, block_header: 12 B}", "nic.block_header: without nic.unit"},
        {"{put: 1 us, ports: 8}", "nic.ports: without nic.port_cycles"},
        {"{put: 1 us, port_cycles: 8}", "nic.port_cycles: without nic.ports"},
        {"{put: 1 us, ports: 8, port_cycles: 8}", "nic.port_cycles: without nic.unit"},
        {"{put: 1 us, put_flits: 8}", "nic.put_flits: without nic.data_flits"},
        {"{put: 1 us, get_flits: 8}", "nic.get_flits: without nic.reply_flits"},
        {"{put: 1 us, get_flits: 8, reply_flits: 3, data_flits: 3}", "nic.get_flits: without nic.put_flits"},
        {"{put: 1 us, amo_hit: 8}", "nic.amo_hit: without nic.clock"},
        {"{put: 1 us, clock: 1 GHz, amo_hit: 8}", "nic.amo_hit: without nic.amo_miss"},
        {"{put: 1 us, amo_miss: 8}", "nic.amo_miss: without nic.amo_hit"},
        {"{put: 1 us, amo_lines: 8}", "nic.amo_lines: without nic.amo_hit"},
        {"{put: 1 us, clock: 1 GHz, amo_hit: 8, amo_miss: 7}", "nic.amo_miss: 7 cycles are fewer than amo_hit, 8"},
        {"{put: 1 us, barrier: 1 us}", "nic.barrier: without router.multicast: tree"},
        {"{put: 1 us, tree: 1 us}", "nic.tree: without router.multicast: tree"},
        {"{put: 1 us, tree_arity: 1}", "nic.tree_arity: "},
        {"{put: 1 us, event: 1 us}", "nic.event: without nic.barrier"},
        {"{put: 1 us, broadcast: 1 us}", "nic.broadcast: without nic.barrier"},
        {"{put: 1 us, acknowledge: 1 us}", "nic.acknowledge: without nic.broadcast"},
        {"{put: 1 us, broadcast_event: 1 us}", "nic.broadcast_event: without nic.tree"},
        {"{put: 1 us, noise_percent: 1}", "nic.noise_percent: without nic.noise"},
        {"{put: 1 us, noise: 1 us}", "nic.noise: without nic.noise_percent"},
        {"{put: 1 us, dma_queue: 1}", "nic.dma_queue: without nic.dma_slice"},
        {"{put: 1 us, dma_slice: 1 B}", "nic.dma_slice: without nic.dma_queue"},
        {"[1]", "nic: is not a mapping"},
    };
    char yaml[2000];
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        snprintf(yaml, sizeof yaml, RING "nic: %s\n", wrong[i].nic);
        refuse(yaml, 8, wrong[i].part);
    }
    refuse(RING "nic:\n  put: 1 us\n  clock: 1 GHz\n  unit_cycles: 3\n", 11, "nic.unit_cycles: without nic.unit");
    refuse("name: a\nnetwork: {family: torus, dims: [4]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n"
           "nic: {put: 1 us, unit: 64 B, ports: 8, port_cycles: 8}\n",
           4, "nic.port_cycles: without the machine's clock");
}

/* One byte of the section changed, or all behind it cut off: an answer or a refusal. */
static void test_damaged(void)
{
    static const char text[] = RING RING_NIC;
    char yaml[sizeof text];
    size_t start = strlen(RING);
    for (uint64_t i = 0; i < 400; i++) {
        struct fc_machine m;
        struct fc_status st = {0};
        memcpy(yaml, text, sizeof text);
        size_t at = start + fc_random_below(1, 0, i, sizeof text - 1 - start);
        yaml[at] = i % 4 ? (char)(32 + fc_random_below(1, 1, i, 95)) : '\0';
        enum fc_code code = fc_test_machine(yaml, &m, &st);
        CU_ASSERT(code == FC_OK || (code == FC_INPUT && *st.message));
        if (!code) fc_machine_free(&m);
    }
}

/* ---- transfers ---- */

static void test_peaks(void)
{
    struct bench b;
    struct fc_nic_peaks p;
    open_bench(&b, RING RING_NIC);
    fc_nic_peaks(&b.machine, &p);
    CU_ASSERT(fc_near(p.engine, 64 * 650e6 / 5, 1e-12) && fc_near(p.bus, 9.6e9, 1e-12));
    CU_ASSERT(fc_near(p.put, 9.6e9 * 64 / 76, 1e-12) && fc_near(p.block, 9.6e9 * 64 / 88, 1e-12));
    CU_ASSERT(fc_near(p.ports, 8 * 64 * 800e6 / 32, 1e-12) && fc_near(p.efficiency, 64 / 102., 1e-12));
    struct fc_nic_wire put = fc_nic_put_wire(&b.machine, 8), get = fc_nic_get_wire(&b.machine, 64);
    CU_ASSERT(put.request_bytes == 33 && put.response_bytes == 6 && get.request_bytes == 24 &&
              get.response_bytes == 81);
    close_bench(&b);
    open_bench(&b, RING "nic: {put: 1 us}\n");
    fc_nic_peaks(&b.machine, &p);
    CU_ASSERT(isinf(p.engine) && isinf(p.bus) && isinf(p.put) && isinf(p.block) && isinf(p.ports));
    CU_ASSERT(fc_near(p.efficiency, 64 / 96., 1e-12));
    close_bench(&b);
}

static void test_way(void)
{
    struct bench b;
    struct fc_nic_way w;
    open_bench(&b, RING RING_NIC);
    CU_ASSERT_FATAL(!fc_nic_way(&b.net, 0, 3, &w, &b.st));
    CU_ASSERT(fc_near(w.head_s, 4 * 100e-9 + 3 * 5e-9 + 2 * 1e-9, 1e-9));
    CU_ASSERT(w.narrowest_bytes_per_s == 1e9 && fc_near(w.bundle_bytes_per_s, 2e9, 1e-12));
    /* Two cables of 1 GB/s, 64 of 102 bytes; at 4 hops both ways round carry half. */
    CU_ASSERT(fc_near(fc_nic_pair_rate(&b.machine, &w, FC_NIC_HOST), 2e9 * 64 / 102, 1e-9));
    CU_ASSERT_FATAL(!fc_nic_way(&b.net, 0, 4, &w, &b.st));
    CU_ASSERT(fc_near(w.bundle_bytes_per_s, 4e9, 1e-12));
    CU_ASSERT(fc_nic_way(&b.net, 3, 3, &w, &b.st) == FC_INPUT &&
              fc_says(&b.st, FC_INPUT, "a way from node 3 to node 3 (expected two different ones below 8)"));
    struct fc_status st = {0};
    CU_ASSERT(fc_nic_way(&b.net, 0, 8, &w, &st) == FC_INPUT && fc_says(&st, FC_INPUT, "from node 0 to node 8"));
    close_bench(&b);
}

static void test_transfers(void)
{
    struct bench b;
    struct fc_nic_way w;
    open_bench(&b, RING RING_NIC);
    const struct fc_machine *m = &b.machine;
    CU_ASSERT_FATAL(!fc_nic_way(&b.net, 0, 1, &w, &b.st));
    double pair = 2e9 * 64 / 102;
    CU_ASSERT(fc_near(fc_nic_put_s(m, &w, 8, FC_NIC_HOST), 0.5e-6 + w.head_s + 33e-9, 1e-12));
    CU_ASSERT(fc_near(fc_nic_put_s(m, &w, 6464, FC_NIC_HOST), 0.5e-6 + w.head_s + 96e-9 + 6400 / pair, 1e-12));
    CU_ASSERT(fc_near(fc_nic_get_s(m, &w, 64), 2 * (0.5e-6 + w.head_s) + 105e-9, 1e-12));
    CU_ASSERT(fc_near(fc_nic_message_s(m, &w, 8, FC_NIC_HOST), 5e-6 + w.head_s + 33e-9, 1e-12));
    double before = 0;
    for (double n = 0; n < 1e5; n = 2 * n + 1) {
        double now = fc_nic_put_s(m, &w, n, FC_NIC_HOST);
        CU_ASSERT(now >= before && fc_nic_get_s(m, &w, n) > now);
        before = now;
    }
    close_bench(&b);
}

static void test_put_rate(void)
{
    struct bench b;
    open_bench(&b, RING RING_NIC);
    const struct fc_machine *m = &b.machine;
    CU_ASSERT(fc_near(fc_nic_put_rate(m, 100, 1, FC_NIC_HOST), 100 / 200e-9, 1e-12));
    CU_ASSERT(fc_near(fc_nic_put_rate(m, 100, 4, FC_NIC_HOST), 400 / 200e-9, 1e-12));
    CU_ASSERT(fc_near(fc_nic_put_rate(m, 1e6, 100, FC_NIC_HOST), 9.6e9 * 64 / 76, 1e-12));
    CU_ASSERT(fc_near(fc_nic_put_rate(m, 1e6, 100, FC_NIC_OWN), 8.32e9, 1e-12));
    for (double n = 8; n < 1e6; n *= 2)
        for (double p = 1; p < 8; p++) {
            CU_ASSERT(fc_nic_put_rate(m, 2 * n, p, FC_NIC_HOST) >= fc_nic_put_rate(m, n, p, FC_NIC_HOST));
            CU_ASSERT(fc_nic_put_rate(m, n, p + 1, FC_NIC_HOST) >= fc_nic_put_rate(m, n, p, FC_NIC_HOST));
        }
    close_bench(&b);
}

static double amo(struct bench *b, uint32_t processes, double variables)
{
    double rate = NAN;
    CU_ASSERT(!fc_nic_amo_rate(&b->machine, processes, variables, 1e-6, &rate, &b->st));
    return rate;
}

static void test_amo(void)
{
    struct bench b;
    double rate;
    open_bench(&b, RING RING_NIC);
    double hit = 6.5 / 650e6, miss = 13 / 650e6;
    CU_ASSERT(fc_near(amo(&b, 1, 1), 1 / (1e-6 + hit), 1e-12) && fc_near(amo(&b, 1, 64), 1 / (1e-6 + hit), 1e-12));
    CU_ASSERT(fc_near(amo(&b, 1, 128), 1 / (1e-6 + (hit + miss) / 2), 1e-12));
    /* Two processes: R = S (1 + S / (Z + S)). */
    CU_ASSERT(fc_near(amo(&b, 2, 1), 2 / (1e-6 + hit * (1 + hit / (1e-6 + hit))), 1e-12));
    CU_ASSERT(fc_near(amo(&b, 5000, 1), 1 / hit, 1e-3) && fc_near(amo(&b, 5000, 1e12), 1 / miss, 1e-3));
    for (uint32_t p = 1; p < 200; p += 7) {
        CU_ASSERT(amo(&b, p + 1, 100) > amo(&b, p, 100) * (1 - 1e-12) && amo(&b, p, 200) <= amo(&b, p, 100));
        CU_ASSERT(amo(&b, p, 1) <= fmin(1 / hit, p / (1e-6 + hit)) * (1 + 1e-12));
    }
    struct fc_status none = {0}, few = {0}, early = {0};
    CU_ASSERT(fc_nic_amo_rate(&b.machine, 0, 1, 0, &rate, &none) == FC_INPUT &&
              fc_says(&none, FC_INPUT, "0 processes"));
    CU_ASSERT(fc_nic_amo_rate(&b.machine, 1, 0.5, 0, &rate, &few) == FC_INPUT &&
              fc_says(&few, FC_INPUT, "0.5 variables"));
    CU_ASSERT(fc_nic_amo_rate(&b.machine, 1, 1, NAN, &rate, &early) == FC_INPUT &&
              fc_says(&early, FC_INPUT, "round trip"));
    close_bench(&b);
    struct fc_status st = {0};
    open_bench(&b, RING "nic: {put: 1 us}\n");
    CU_ASSERT(fc_nic_amo_rate(&b.machine, 1, 1, 0, &rate, &st) == FC_INPUT &&
              fc_says(&st, FC_INPUT, "nic.amo_hit is missing"));
    close_bench(&b);
}

/* ---- distributions ---- */

static void test_spread(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_spread a, b;
    CU_ASSERT_FATAL(!fc_spread_residual(&a, 1e-3, 0, 1, 1, 1, &arena, &st));
    CU_ASSERT(fc_near(fc_spread_mean(&a), 0.5, 1e-3) && fc_near(fc_spread_below(&a, 0.25), 0.25, 1e-2));
    fc_spread_copies(&a, 3);
    CU_ASSERT(fc_near(fc_spread_mean(&a), 0.75, 1e-3) && fc_near(fc_spread_below(&a, 0.5), 0.125, 1e-2));
    CU_ASSERT_FATAL(!fc_spread_residual(&b, 1e-3, 2, 0.5, 1, 2, &arena, &st));
    CU_ASSERT(fc_near(fc_spread_mean(&b), 2 + 0.5 / 3, 1e-3));
    CU_ASSERT_FATAL(!fc_spread_add(&b, &a, &arena, &st));
    CU_ASSERT(fc_near(fc_spread_mean(&b), 2 + 0.5 / 3 + 0.75, 1e-3) && fc_near(fc_spread_below(&b, 9), 1, 1e-12));
    CU_ASSERT_FATAL(!fc_spread_max(&a, &b, &arena, &st)); /* b is more than 2, a at most 1 */
    CU_ASSERT(fc_near(fc_spread_mean(&a), fc_spread_mean(&b), 1e-9));
    CU_ASSERT_FATAL(!fc_spread_exponential(&a, 1e-2, 0.25, 1, &arena, &st));
    CU_ASSERT(fc_near(fc_spread_mean(&a), 0.25, 1e-3) && fc_near(1 - fc_spread_below(&a, 1), 0.25 * exp(-1), 2e-2));
    CU_ASSERT_FATAL(!fc_spread_none(&a, 1, &arena, &st));
    CU_ASSERT(fc_spread_mean(&a) == 0 && fc_spread_below(&a, 1) == 1 && fc_spread_below(&a, 0) == 0);
    fc_arena_free(&arena);
}

/* ---- barriers and broadcasts ---- */

static double barrier(struct bench *b, uint32_t nodes, enum fc_nic_barrier kind, const struct fc_nic_background *load)
{
    struct fc_nic_time t = {NAN, NAN};
    CU_ASSERT(!fc_nic_barrier(&b->net, nodes, kind, load, 0, &t, &b->st));
    CU_ASSERT(isnan(t.below));
    return t.mean_s;
}

static void test_barriers(void)
{
    struct bench b;
    open_tree(&b, "2", "");
    CU_ASSERT(fc_near(barrier(&b, 4, FC_NIC_BARRIER_HARDWARE, NULL), 4e-6 + 3 * C1, 1e-12));
    CU_ASSERT(fc_near(barrier(&b, 2, FC_NIC_BARRIER_HARDWARE, NULL), 4e-6 + 3 * C1, 1e-12));
    CU_ASSERT(fc_near(barrier(&b, 5, FC_NIC_BARRIER_HARDWARE, NULL), 4e-6 + 3 * C2, 1e-12));
    CU_ASSERT(fc_near(barrier(&b, 16, FC_NIC_BARRIER_EVENT, NULL), 5e-6 + 3 * C2, 1e-12));
    CU_ASSERT(fc_near(barrier(&b, 4, FC_NIC_BARRIER_SOFTWARE, NULL), 7e-6 + 2e-6 + EMPTY + 2 * C1, 1e-12));
    CU_ASSERT(fc_near(barrier(&b, 16, FC_NIC_BARRIER_SOFTWARE, NULL), 7e-6 + 4e-6 + 2 * EMPTY + C1 + 2 * C2, 1e-12));
    close_bench(&b);
    /* Noise: 1 - (1 - q)^P of an exponential of mean m. */
    struct fc_nic_time t;
    open_tree(&b, "2", ", noise_percent: 1, noise: 10 us");
    double some = 1 - pow(0.99, 16), alone = 4e-6 + 3 * C2;
    CU_ASSERT_FATAL(!fc_nic_barrier(&b.net, 16, FC_NIC_BARRIER_HARDWARE, NULL, alone + 10e-6, &t, &b.st));
    CU_ASSERT(fc_near(t.mean_s, alone + some * 10e-6, 1e-4) && fc_near(1 - t.below, some * exp(-1), 1e-2));
    CU_ASSERT_FATAL(!fc_nic_barrier(&b.net, 16, FC_NIC_BARRIER_HARDWARE, NULL, alone / 2, &t, &b.st));
    CU_ASSERT(t.below == 0);
    close_bench(&b);
}

static void test_loaded_barriers(void)
{
    struct bench b;
    struct fc_nic_background free_way = {.accepted_bytes_per_s = 1e9},
                             full = {
                                 .accepted_bytes_per_s = 1e9, .contended = true, .held_s = 2e-6, .all_held = {1, 1}};
    open_tree(&b, "1", ", noise_percent: 0.0001, noise: 1 ns");
    double alone = barrier(&b, 4, FC_NIC_BARRIER_HARDWARE, NULL), far = barrier(&b, 16, FC_NIC_BARRIER_HARDWARE, NULL);
    CU_ASSERT(fc_near(barrier(&b, 4, FC_NIC_BARRIER_HARDWARE, &free_way), alone + EMPTY, 1e-4));
    /* One channel, always held: half of H up, 4/5 of it to the slowest of four. */
    CU_ASSERT(fc_near(barrier(&b, 4, FC_NIC_BARRIER_HARDWARE, &full), alone + EMPTY + 2e-6 * (0.5 + 0.8), 1e-3));
    CU_ASSERT(fc_near(barrier(&b, 2, FC_NIC_BARRIER_HARDWARE, &full), alone + EMPTY + 2e-6 * (0.5 + 2 / 3.), 1e-3));
    /* Two levels: more than one path's mean, less than the slowest link of each level. */
    double more = barrier(&b, 16, FC_NIC_BARRIER_HARDWARE, &full) - far - EMPTY;
    CU_ASSERT(more > 2e-6 * (1 + 0.8 + 0.8) && more < 2e-6 * (1 + 0.8 + 16 / 17.));
    /* Software: turns of 1 us; behind six and the rest of the seventh, the latest of three signals. */
    double soft = barrier(&b, 4, FC_NIC_BARRIER_SOFTWARE, NULL);
    CU_ASSERT(fc_near(barrier(&b, 4, FC_NIC_BARRIER_SOFTWARE, &free_way), soft + 2 * EMPTY + 6.75e-6, 1e-3));
    CU_ASSERT(barrier(&b, 4, FC_NIC_BARRIER_SOFTWARE, &full) > soft + 2 * EMPTY + 6.75e-6 + 2e-6 * 2.3);
    close_bench(&b);
    /* With two channels the first to be let go: a third of H for one link. */
    open_tree(&b, "2", ", noise_percent: 0.0001, noise: 1 ns");
    double down = 1 - 128 / 315.; /* integral of 1 - (1 - y^2)^4 */
    CU_ASSERT(fc_near(barrier(&b, 4, FC_NIC_BARRIER_HARDWARE, &full), alone + EMPTY + 2e-6 * (1 / 3. + down), 1e-3));
    struct fc_nic_time t;
    struct fc_status st = {0};
    full.accepted_bytes_per_s = 0;
    CU_ASSERT(fc_nic_barrier(&b.net, 4, FC_NIC_BARRIER_HARDWARE, &full, 0, &t, &st) == FC_INPUT &&
              fc_says(&st, FC_INPUT, "a background that moves 0 bytes/s"));
    close_bench(&b);
}

static double broadcast(struct bench *b, uint32_t nodes, double bytes, enum fc_nic_broadcast kind,
                        enum fc_nic_memory memory, const struct fc_nic_background *load)
{
    double t = NAN;
    CU_ASSERT(!fc_nic_broadcast(&b->net, nodes, bytes, kind, memory, load, &t, &b->st));
    return t;
}

static void test_broadcasts(void)
{
    struct bench b;
    open_tree(&b, "2", "");
    double hard = barrier(&b, 4, FC_NIC_BARRIER_HARDWARE, NULL), soft = barrier(&b, 4, FC_NIC_BARRIER_SOFTWARE, NULL);
    CU_ASSERT(fc_near(broadcast(&b, 4, 64, FC_NIC_BROADCAST_HARDWARE, FC_NIC_OWN, NULL), hard + 6e-6 + C1 + 122 / 400e6,
                      1e-12));
    CU_ASSERT(
        fc_near(broadcast(&b, 4, 64, FC_NIC_BROADCAST_SOFTWARE, FC_NIC_OWN, NULL), soft + 1e-6 + 122 / 400e6, 1e-12));
    /* Eleven packets: ten more, two at a time in (2 us + F + 2 c); from main memory 320 bytes at 50 MB/s. */
    double first = hard + 6e-6 + C1 + FULL, window = (2e-6 + FULL + 2 * C1) / 2;
    CU_ASSERT(fc_near(broadcast(&b, 4, 3520, FC_NIC_BROADCAST_HARDWARE, FC_NIC_OWN, NULL), first + 10 * window, 1e-12));
    CU_ASSERT(
        fc_near(broadcast(&b, 4, 3520, FC_NIC_BROADCAST_HARDWARE, FC_NIC_HOST, NULL), first + 10 * 6.4e-6, 1e-12));
    double before = 0;
    for (double n = 0; n < 1e6; n = 3 * n + 1) {
        double now = broadcast(&b, 16, n, FC_NIC_BROADCAST_HARDWARE, FC_NIC_OWN, NULL);
        CU_ASSERT(now >= before && now > broadcast(&b, 4, n, FC_NIC_BROADCAST_HARDWARE, FC_NIC_OWN, NULL));
        before = now;
    }
    /* Beside a background: 6.5 turns of 1 us, then links for two. */
    struct fc_nic_background free_way = {.accepted_bytes_per_s = 1e9};
    double loaded = barrier(&b, 4, FC_NIC_BARRIER_HARDWARE, &free_way);
    CU_ASSERT(fc_near(broadcast(&b, 4, 64, FC_NIC_BROADCAST_HARDWARE, FC_NIC_OWN, &free_way),
                      loaded + 6e-6 + C1 + 2 * 122 / 400e6 + 6.5e-6, 1e-3));
    /* 2000 bytes: a second turn after seven others; six more packets. */
    double shared = (2e-6 + 2 * FULL + 2 * C1) / 2;
    CU_ASSERT(fc_near(broadcast(&b, 4, 2000, FC_NIC_BROADCAST_HARDWARE, FC_NIC_OWN, &free_way),
                      loaded + 6e-6 + C1 + 2 * FULL + 6.5e-6 + 7e-6 + 6 * fmax(shared, 2 * FULL + 70e-9), 1e-3));
    close_bench(&b);
}

static void refuse_collective(struct bench *b, uint32_t nodes, double bytes, const char *part)
{
    struct fc_status st = {0};
    double t;
    CU_ASSERT(fc_nic_broadcast(&b->net, nodes, bytes, FC_NIC_BROADCAST_SOFTWARE, FC_NIC_OWN, NULL, &t, &st) ==
              FC_INPUT);
    if (!fc_says(&st, FC_INPUT, part)) CU_FAIL("message");
}

static void test_collective_refusals(void)
{
    struct bench b;
    struct fc_nic_time t;
    char yaml[2000];
    open_tree(&b, "2", "");
    refuse_collective(&b, 1, 8, "of 1 nodes (expected 2 to 16)");
    refuse_collective(&b, 17, 8, "of 17 nodes (expected 2 to 16)");
    refuse_collective(&b, 4, -1, "a broadcast of -1 bytes");
    refuse_collective(&b, 4, NAN, "a broadcast of nan bytes");
    refuse_collective(&b, 4, INFINITY, "a broadcast of inf bytes");
    close_bench(&b);
    snprintf(yaml, sizeof yaml, TREE "nic: {put: 1 us}\n", "2");
    open_bench(&b, yaml);
    refuse_collective(&b, 4, 8, "nic.broadcast is missing");
    struct fc_status hard = {0}, soft = {0};
    CU_ASSERT(fc_nic_barrier(&b.net, 4, FC_NIC_BARRIER_HARDWARE, NULL, 0, &t, &hard) == FC_INPUT &&
              fc_says(&hard, FC_INPUT, "nic.barrier is missing"));
    CU_ASSERT(fc_nic_barrier(&b.net, 4, FC_NIC_BARRIER_SOFTWARE, NULL, 0, &t, &soft) == FC_INPUT &&
              fc_says(&soft, FC_INPUT, "nic.tree is missing"));
    close_bench(&b);
    snprintf(yaml, sizeof yaml, TREE "nic: {put: 1 us, barrier: 1 us, broadcast: 1 us, acknowledge: 1 us}\n", "2");
    open_bench(&b, yaml);
    refuse_collective(&b, 4, 8, "nic.broadcast_event is missing");
    close_bench(&b);
    open_bench(&b, RING RING_NIC);
    refuse_collective(&b, 4, 8, "is for machines with nic: and router.multicast: tree");
    close_bench(&b);
    snprintf(yaml, sizeof yaml, TREE, "2");
    open_bench(&b, yaml);
    refuse_collective(&b, 4, 8, "is for machines with nic: and router.multicast: tree");
    close_bench(&b);
}

/* ---- a background from the kernel ---- */

static void test_background(void)
{
    struct bench b;
    struct fc_nic_background uniform, complement;
    open_tree(&b, "2", "");
    double full = 400e6 * 320 / 378;
    CU_ASSERT_FATAL(!fc_nic_background_run(&b.net, "uniform", 1, &uniform, &b.st));
    CU_ASSERT_FATAL(!fc_nic_background_run(&b.net, "complement", 1, &complement, &b.st));
    CU_ASSERT(uniform.contended && uniform.accepted_bytes_per_s > 0.5 * full &&
              uniform.accepted_bytes_per_s < 0.75 * full);
    CU_ASSERT(uniform.held_s > 2 * FULL && uniform.held_s < 4 * FULL);
    CU_ASSERT(uniform.all_held[0] == 1 && uniform.all_held[1] > 0.3 && uniform.all_held[1] < 1);
    CU_ASSERT(!complement.contended && complement.accepted_bytes_per_s > 0.95 * full && complement.held_s == 0);
    double alone = barrier(&b, 16, FC_NIC_BARRIER_HARDWARE, NULL);
    CU_ASSERT(barrier(&b, 16, FC_NIC_BARRIER_HARDWARE, &uniform) >
              barrier(&b, 16, FC_NIC_BARRIER_HARDWARE, &complement));
    CU_ASSERT(fc_near(barrier(&b, 16, FC_NIC_BARRIER_HARDWARE, &complement), alone + EMPTY, 1e-4));
    struct fc_status unknown = {0}, ring = {0};
    CU_ASSERT(fc_nic_background_run(&b.net, "unifrom", 1, &uniform, &unknown) == FC_INPUT &&
              fc_says(&unknown, FC_INPUT, "unifrom"));
    close_bench(&b);
    open_bench(&b, RING RING_NIC);
    CU_ASSERT(fc_nic_background_run(&b.net, "uniform", 1, &uniform, &ring) == FC_INPUT &&
              fc_says(&ring, FC_INPUT, "router.multicast: tree"));
    close_bench(&b);
}

int suite_nic(void)
{
    static const CU_TestInfo tests[] = {
        {"keys and their refusals", test_keys},
        {"damaged sections", test_damaged},
        {"peak rates and wire bytes", test_peaks},
        {"ways between nodes", test_way},
        {"put, get, block transfer, message", test_transfers},
        {"put rate of processes", test_put_rate},
        {"atomic operations", test_amo},
        {"distributions", test_spread},
        {"barriers", test_barriers},
        {"barriers beside a background", test_loaded_barriers},
        {"broadcasts", test_broadcasts},
        {"refused barriers and broadcasts", test_collective_refusals},
        {"background from the kernel", test_background},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("nic", tests);
}
