/* test_background.c - other jobs' traffic: rates and what links lose, births as a Poisson process, and the
 * network models of a replay beside it. */
#include "solvers/background.h"
#include "solvers/flit/flit.h"
#include "solvers/transit/transit.h"
#include "tests/support.h"
#include "tests/tests.h"
#include "tests/transit_send.h"

#include <math.h>
#include <string.h>

/* A ring of 8; packets of 240 + 16 bytes: 256 ns on a link. */
#define RING_YAML                                                                                                      \
    "name: ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [8]}\n"                                                  \
    "links: {torus: {bandwidth: 1 GB/s, latency: 10 ns}, injection: {bandwidth: 4 GB/s, latency: 10 ns}}\n"            \
    "router: {delay: 20 ns, flit: 16 B, routing: dimension-order, vcs: 2, escape: bubble, buffer: 1 KiB}\n"            \
    "packet: {min: 32 B, max: 256 B, header: 16 B}\nnode: {cores: 2}\n"

struct bench {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_background b;
    struct fc_status st;
};
static void open_bench(struct bench *x)
{
    memset(x, 0, sizeof *x);
    CU_ASSERT_FATAL(fc_test_network(RING_YAML, &x->machine, &x->net));
}
static void close_bench(struct bench *x)
{
    fc_background_free(&x->b);
    fc_test_close(&x->machine, &x->net);
}
static void make(struct bench *x, const char *pattern, const uint32_t *nodes, size_t n, enum fc_background_load kind,
                 double load)
{
    fc_background_free(&x->b);
    bool made = !fc_background_of_pattern(&x->net, pattern, nodes, n, kind, load, 1, &x->b, &x->st);
    if (!made) printf("\n    %s", x->st.message);
    CU_ASSERT_FATAL(made);
}
static double of_link(const struct bench *x, uint32_t from, uint32_t to)
{
    return x->b.link_bytes_per_s[fc_find_link(&x->net, from, to)];
}

/* ---- rates ---- */

/* tornado: every node sends 3 (of 8) further: three pairs a link. */
static void loads(void)
{
    struct bench x;
    open_bench(&x);
    make(&x, "tornado", NULL, 0, FC_BACKGROUND_PAYLOAD, 24e6);
    for (uint32_t r = 0; r < 8; r++) {
        CU_ASSERT(fc_near(of_link(&x, r, (r + 1) % 8), 3 * 24e6 * 256 / 240, 1e-12));
        CU_ASSERT(of_link(&x, (r + 1) % 8, r) == 0);
    }
    CU_ASSERT(fc_near(x.b.max_utilization, 0.0768, 1e-12) && x.b.n_senders == 8);
    CU_ASSERT(fc_near(x.b.offered_bytes_per_s, 8 * 24e6, 1e-12) && x.b.packet_bytes == 240);
    make(&x, "tornado", NULL, 0, FC_BACKGROUND_SHARE, 0.6);
    CU_ASSERT(fc_near(x.b.max_utilization, 0.6, 1e-12) && fc_near(of_link(&x, 5, 6), 0.6e9, 1e-12));
    make(&x, "tornado", NULL, 0, FC_BACKGROUND_FLITS, 0.01); /* 16 flits a packet, a cycle of 1 ns: 150 MB/s */
    CU_ASSERT(fc_near(x.b.offered_bytes_per_s, 8 * 240 * 0.01 / 16 / 1e-9, 1e-12));
    close_bench(&x);
}

/* A load as `flit` means it: at the ideal throughput of the pattern the busiest link is busy all the time. */
static void as_the_kernel_means_it(void)
{
    static const char *const patterns[] = {"uniform", "complement"};
    struct bench x;
    open_bench(&x);
    for (size_t i = 0; i < FC_COUNT(patterns); i++) {
        struct fc_demand d;
        struct fc_flit_settings settings;
        double ideal = 0;
        fc_flit_defaults(&settings);
        CU_ASSERT_FATAL(!fc_demand_from_pattern(&x.net, patterns[i], 1, &d, &x.st));
        d.open_loop = true;
        CU_ASSERT(!fc_flit_ideal_throughput(&x.net, &d, &settings, &ideal, &x.st));
        make(&x, patterns[i], NULL, 0, FC_BACKGROUND_FLITS, 0.4 * ideal);
        CU_ASSERT(fc_near(x.b.max_utilization, 0.4, 1e-9));
        fc_demand_free(&d);
    }
    close_bench(&x);
}

static void among_some(void)
{
    static const uint32_t nodes[] = {1, 2, 5};
    struct bench x;
    open_bench(&x);
    make(&x, "uniform", nodes, 3, FC_BACKGROUND_PAYLOAD, 90e6); /* a third to itself */
    CU_ASSERT(fc_near(x.b.offered_bytes_per_s, 2 * 90e6, 1e-12) && x.b.n_senders == 3);
    CU_ASSERT(fc_near(of_link(&x, 5, 6), 0.5 * 30e6 * 256 / 240, 1e-12));       /* of 5 to 1, a tie, half */
    CU_ASSERT(fc_near(of_link(&x, 1, 2), (1 + 0.5) * 30e6 * 256 / 240, 1e-12)); /* 1 to 2, half of 1 to 5 */
    CU_ASSERT(x.b.link_bytes_per_s[x.net.first_link[fc_node_vertex(&x.net, 0)]] == 0);
    close_bench(&x);
}

/* A graph's bytes, several tasks a node. */
static void of_demand(void)
{
    uint32_t src[] = {0, 0, 1, 3}, dst[] = {1, 2, 3, 0}, node[] = {4, 4, 5, 6};
    double bytes[] = {100, 200, 300, 400}, messages[] = {1, 1, 1, 1};
    struct fc_demand d = {
        .name = "g", .n_tasks = 4, .n_entries = 4, .src = src, .dst = dst, .bytes = bytes, .messages = messages};
    struct bench x;
    open_bench(&x);
    CU_ASSERT_FATAL(!fc_background_of_demand(&x.net, &d, node, 1000, 1, &x.b, &x.st));
    CU_ASSERT(fc_near(x.b.offered_bytes_per_s, 900e3, 1e-12) && x.b.n_senders == 2);
    CU_ASSERT(fc_near(of_link(&x, 4, 5), 500e3 * 256 / 240, 1e-12)); /* 0-2 and 1-3 */
    CU_ASSERT(fc_near(of_link(&x, 5, 6), 300e3 * 256 / 240, 1e-12));
    fc_background_free(&x.b);
    CU_ASSERT(fc_background_of_demand(&x.net, &d, node, 1e8, 1, &x.b, &x.st) == FC_INPUT &&
              fc_says(&x.st, FC_INPUT, "would keep link x+ (4)->(5) busy for"));
    close_bench(&x);
}

/* Two backgrounds are the sum of their rates: of entries, and of dense parts. */
static void sums(void)
{
    struct bench x, y;
    open_bench(&x);
    open_bench(&y);
    make(&x, "tornado", NULL, 0, FC_BACKGROUND_PAYLOAD, 24e6);
    make(&y, "tornado", NULL, 0, FC_BACKGROUND_PAYLOAD, 6e6);
    CU_ASSERT_EQUAL(fc_background_add(&x.net, &y.b, 1, &x.b, &x.st), FC_OK);
    for (uint32_t r = 0; r < 8; r++) CU_ASSERT(fc_near(of_link(&x, r, (r + 1) % 8), 3 * 30e6 * 256 / 240, 1e-12));
    CU_ASSERT(x.b.n_senders == 8 && fc_near(x.b.offered_bytes_per_s, 8 * 30e6, 1e-12));
    CU_ASSERT(fc_near(x.b.max_utilization, 0.096, 1e-12));
    make(&x, "uniform", NULL, 0, FC_BACKGROUND_SHARE, 0.5);
    make(&y, "uniform", NULL, 0, FC_BACKGROUND_SHARE, 0.2);
    CU_ASSERT_EQUAL(fc_background_add(&x.net, &y.b, 1, &x.b, &x.st), FC_OK);
    CU_ASSERT(fc_near(x.b.max_utilization, 0.7, 1e-12) && x.b.demand.n_dense == 2);
    make(&y, "uniform", NULL, 0, FC_BACKGROUND_SHARE, 0.4);
    CU_ASSERT_EQUAL(fc_background_add(&x.net, &y.b, 1, &x.b, &x.st), FC_INPUT);
    CU_ASSERT(fc_says(&x.st, FC_INPUT, "busy for 110 % of the time") && x.b.link_bytes_per_s == NULL);
    x.st = (struct fc_status){0};
    make(&x, "uniform", NULL, 0, FC_BACKGROUND_SHARE, 0.1);
    x.b.fills = true;
    CU_ASSERT_EQUAL(fc_background_add(&x.net, &y.b, 1, &x.b, &x.st), FC_INPUT);
    CU_ASSERT(fc_says(&x.st, FC_INPUT, "full is of one background alone"));
    x.st = (struct fc_status){0};
    close_bench(&x);
    close_bench(&y);
}

static void refusals(void)
{
    static const uint32_t nodes[] = {1, 2}, wrong[] = {9};
    static const struct {
        const char *pattern;
        const uint32_t *nodes;
        size_t n;
        enum fc_background_load kind;
        double load;
        const char *why;
    } cases[] = {
        {"tornado", NULL, 0, FC_BACKGROUND_SHARE, 1, "busy for 100 % of the time (expected less than 100 %)"},
        {"tornado", nodes, 2, FC_BACKGROUND_SHARE, 0.5, "none of these 2 nodes sends to another"},
        {"uniform", wrong, 1, FC_BACKGROUND_SHARE, 0.5, "a background on node 9 (the machine has 8)"},
        {"uniform", NULL, 0, FC_BACKGROUND_FLITS, 0, "of load 0 (expected more than 0)"},
        {"uniform", NULL, 0, FC_BACKGROUND_FLITS, NAN, "of load nan (expected more than 0)"},
        {"uniform", nodes, 2, FC_BACKGROUND_FULL, 0, "always have a packet waiting are those of all nodes"},
        {"stencil2d:grid=4x4", NULL, 0, FC_BACKGROUND_SHARE, 0.5, "has 16 tasks: a background has one a node, of 8"},
        {"unifrom", NULL, 0, FC_BACKGROUND_SHARE, 0.5, "unifrom"},
    };
    struct bench x;
    open_bench(&x);
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        x.st = (struct fc_status){0};
        bool said = fc_background_of_pattern(&x.net, cases[i].pattern, cases[i].nodes, cases[i].n, cases[i].kind,
                                             cases[i].load, 1, &x.b, &x.st) == FC_INPUT &&
                    fc_says(&x.st, FC_INPUT, cases[i].why);
        if (!said) printf("\n    %s: %s", cases[i].pattern, x.st.message);
        CU_ASSERT(said);
    }
    close_bench(&x);
}

/* ---- births ---- */

/* Counts over a window within 4 standard deviations, squared gaps as of an exponential distribution; the same
 * again when opened anew. */
static void births(void)
{
    enum { N = 40000 };
    static uint32_t first[N];
    struct bench x;
    struct fc_births *births;
    double count[8][8] = {{0}}, last[8] = {0}, gaps2 = 0, end = 0;
    open_bench(&x);
    make(&x, "hotregion:fraction=0.25,region=0.25", NULL, 0, FC_BACKGROUND_SHARE, 0.5);
    CU_ASSERT_FATAL(!fc_births_open(&x.b, 8, 1e-9, 5, &births, &x.st));
    for (int i = 0; i < N; i++) {
        uint32_t src, dst;
        uint64_t at = fc_births_next_tick(births);
        CU_ASSERT(at >= (uint64_t)end);
        end = (double)at;
        fc_births_take(births, &src, &dst);
        count[src][dst]++;
        gaps2 += (end - last[src]) * (end - last[src]);
        last[src] = end;
        first[i] = src * 8 + dst;
    }
    double gap = 8 * end / N; /* of a node */
    CU_ASSERT(fc_near(gaps2 / N, 2 * gap * gap, 0.05));
    for (uint32_t s = 0; s < 8; s++)
        for (uint32_t d = 0; d < 8; d++) {
            double rate = 0;
            for (size_t e = 0; e < x.b.demand.n_entries; e++)
                if (x.b.demand.src[e] == s && x.b.demand.dst[e] == d) rate += x.b.demand.bytes[e];
            for (int i = 0; i < x.b.demand.n_dense; i++) rate += x.b.demand.dense[i].a[s] * x.b.demand.dense[i].b[d];
            double mean = s == d ? 0 : rate / 240 * end * 1e-9;
            CU_ASSERT(fabs(count[s][d] - mean) <= 4.5 * sqrt(mean));
        }
    fc_births_close(births);
    CU_ASSERT_FATAL(!fc_births_open(&x.b, 8, 1e-9, 5, &births, &x.st));
    for (int i = 0; i < N; i++) {
        uint32_t src, dst;
        fc_births_take(births, &src, &dst);
        if (src * 8 + dst != first[i]) {
            CU_FAIL("another birth when opened anew");
            break;
        }
    }
    fc_births_close(births);
    close_bench(&x);
}

/* ---- network models ---- */

static struct fc_transit *transit(struct bench *x, enum fc_network_model network)
{
    struct fc_transit *t = NULL;
    struct fc_transit_settings settings = {
        .network = network, .seed = 3, .background_bytes_per_s = x->b.link_bytes_per_s, .background = &x->b};
    CU_ASSERT_EQUAL_FATAL(fc_transit_open(&x->net, &settings, &t, &x->st), FC_OK);
    return t;
}

/* Mean time of messages of `bytes`, one after the other. */
static double mean_s(struct fc_transit *t, uint32_t src, uint32_t dst, double bytes, int n)
{
    double sum = 0, now = 0;
    for (int i = 0; i < n; i++) {
        struct fc_arrival a = {0};
        bool found = false;
        CU_ASSERT(!fc_test_send(t, (uint64_t)i, now, src, dst, bytes) && !fc_transit_next(t, INFINITY, &a, &found));
        CU_ASSERT_FATAL(found && a.time_s >= now);
        sum += a.time_s - now;
        now = a.time_s + 2e-6 + 1e-6 * fc_random_real(1, 2, (uint64_t)i);
    }
    return sum / n;
}

/* Node 0 keeps the links to 2 busy for 60 %; ours goes from 1 to 2. Inelastic: rate b - a. Kernel: our packet
 * waits more than for the rest of one under way (a S / 2) and about as in a queue of both (M/D/1, a S / (2 (1
 * - a))); a long message has half of the link, as the router takes turns. Queueing: M/D/1 times its factor,
 * here 2. */
static void models(void)
{
    struct bench x;
    open_bench(&x);
    uint32_t src = 0, dst = 2, node[8];
    double bytes = 1, messages = 1, alone_s = 2 * 10e-9 + 10e-9 + 2 * 20e-9, packet_s = 256e-9;
    struct fc_demand d = {
        .name = "one", .n_tasks = 8, .n_entries = 1, .src = &src, .dst = &dst, .bytes = &bytes, .messages = &messages};
    for (uint32_t n = 0; n < 8; n++) node[n] = n;
    CU_ASSERT_FATAL(!fc_background_of_demand(&x.net, &d, node, 0.6e9 * 240 / 256, 1, &x.b, &x.st));
    CU_ASSERT(fc_near(of_link(&x, 1, 2), 0.6e9, 1e-9) && of_link(&x, 2, 3) == 0);
    struct fc_transit *t = transit(&x, FC_NET_CONTENTION);
    CU_ASSERT(fc_near(mean_s(t, 1, 2, 240e3, 3), alone_s + 1000 * packet_s / 0.4, 1e-12));
    fc_transit_close(t);
    double least_s = 0.6 * packet_s / 2, most_s = 0.6 * packet_s / 2 / 0.4;
    t = transit(&x, FC_NET_FLIT);
    double once_s = mean_s(t, 1, 2, 240, 4000) - alone_s - packet_s;
    CU_ASSERT(once_s > least_s && once_s < 1.3 * most_s);
    CU_ASSERT_EQUAL_FATAL(fc_test_reopen(&t), FC_OK);
    CU_ASSERT(mean_s(t, 1, 2, 240, 4000) - alone_s - packet_s == once_s);
    CU_ASSERT_EQUAL_FATAL(fc_test_reopen(&t), FC_OK);
    double long_s = mean_s(t, 1, 2, 24e3, 100);
    CU_ASSERT(fc_near(long_s, 2 * 100 * packet_s, 0.02));
    fc_transit_close(t);
    t = transit(&x, FC_NET_QUEUEING);
    double wait_s = mean_s(t, 1, 2, 240, 1000) - alone_s - packet_s;
    CU_ASSERT(wait_s > most_s && wait_s < 2.1 * most_s);
    fc_transit_close(t);
    close_bench(&x);
}

/* Without messages of the job nothing costs: a jump of a second beside a background. */
static void jumps(void)
{
    struct bench x;
    struct fc_arrival a;
    bool found;
    open_bench(&x);
    make(&x, "uniform", NULL, 0, FC_BACKGROUND_SHARE, 0.5);
    struct fc_transit *t = transit(&x, FC_NET_FLIT);
    for (uint64_t i = 0; i < 5; i++) {
        CU_ASSERT(!fc_test_send(t, i, (double)i, 0, 4, 240) && !fc_transit_next(t, INFINITY, &a, &found));
        CU_ASSERT(found && a.id == i && a.time_s > (double)i && a.time_s < (double)i + 1e-4);
    }
    CU_ASSERT(!fc_transit_next(t, 1e3, &a, &found) && !found);
    fc_transit_close(t);
    make(&x, "uniform", NULL, 0, FC_BACKGROUND_SHARE, 0.99);
    struct fc_transit_settings busy = {
        .network = FC_NET_FLIT, .background = &x.b, .background_bytes_per_s = x.b.link_bytes_per_s};
    CU_ASSERT(fc_transit_open(&x.net, &busy, &t, &x.st) == FC_NO &&
              fc_says(&x.st, FC_NO, "the background alone is more than the network carries"));
    x.st = (struct fc_status){0};
    x.b.fills = true;
    struct fc_transit_settings settings = {
        .network = FC_NET_FLIT, .background = &x.b, .background_bytes_per_s = x.b.link_bytes_per_s};
    CU_ASSERT(fc_transit_open(&x.net, &settings, &t, &x.st) == FC_INPUT &&
              fc_says(&x.st, FC_INPUT, "network flit sends a background at its rate"));
    settings.background = NULL;
    x.st = (struct fc_status){0};
    CU_ASSERT(fc_transit_open(&x.net, &settings, &t, &x.st) == FC_INPUT &&
              fc_says(&x.st, FC_INPUT, "network flit sends a background as packets"));
    close_bench(&x);
}

int suite_background(void)
{
    static const CU_TestInfo tests[] = {
        {"loads of links", loads},
        {"a load as the kernel means it", as_the_kernel_means_it},
        {"among some nodes", among_some},
        {"a demand's bytes", of_demand},
        {"two together", sums},
        {"refusals", refusals},
        {"births", births},
        {"network models beside it", models},
        {"jumps and refusals of flit", jumps},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("background", tests);
}
