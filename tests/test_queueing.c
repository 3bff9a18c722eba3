/* test_queueing.c - the queueing model, uncalibrated, against exact theory and on every family.
 *
 * M/G/1 (Pollaczek & Khinchine): W = l E[t^2] / (2 (1 - l E[t])). Tandem: packets that follow each other
 * through links of times t_1, t_2 ... (cut-through, the same packet everywhere) wait in all as long as at the
 * slowest link alone (Friedman 1965). Crossbar with one queue an input: 2 - sqrt 2 (Karol, Hluchyj & Morgan
 * 1987). */
#include "solvers/queueing/queueing.h"
#include "tests/flit_oracles.h"
#include "tests/support.h"
#include "tests/tests.h"

static const uint64_t most_hops = 100000;

struct model {
    struct fc_turns turns;
    struct fc_queueing *queueing;
    struct fc_queueing_parameters theory;
};

static bool open_model(const struct fc_network *net, const struct fc_demand *demand, const char *vc_rule,
                       uint32_t least, uint32_t most, struct model *m)
{
    struct fc_status st = {0};
    struct fc_flit_settings settings;
    fc_flit_defaults(&settings);
    settings.packet_flits_min = least;
    settings.packet_flits_max = most;
    settings.vc_rule = vc_rule;
    fc_queueing_defaults(&m->theory);
    if (fc_turns_make(net, demand, &settings, most_hops, &m->turns, &st) == FC_OK) {
        if (fc_queueing_open(&m->turns, &m->queueing, &st) == FC_OK) return true;
        fc_turns_free(&m->turns);
    }
    printf("\n    %s\n", st.message);
    CU_FAIL("the model does not open");
    return false;
}

static void close_model(struct model *m)
{
    fc_queueing_close(m->queueing);
    fc_turns_free(&m->turns);
}

static struct fc_queueing_answer solve(const struct model *m, double load)
{
    struct fc_status st = {0};
    struct fc_queueing_answer a = {0};
    CU_ASSERT_EQUAL(fc_queueing_solve(m->queueing, &m->theory, load, &a, &st), FC_OK);
    if (st.code) printf("\n    %s\n", st.message);
    return a;
}

static double saturation(const struct model *m)
{
    struct fc_status st = {0};
    double load = NAN;
    CU_ASSERT_EQUAL(fc_queueing_saturation(m->queueing, &m->theory, &load, &st), FC_OK);
    return load;
}

/* E[t] and E[t^2] of packets of least .. most flits of `flit` cycles. */
static void moments(uint32_t least, uint32_t most, double flit, double *mean, double *square)
{
    *mean = *square = 0;
    for (uint32_t f = least; f <= most; f++) {
        *mean += f * flit / (most - least + 1);
        *square += f * flit * f * flit / (most - least + 1);
    }
}
static double m_g_1(double rate, double mean, double square)
{
    return rate * square / (2 * (1 - rate * mean));
}

/* ---- one queue, tandem ---- */

/* A ring in which every node sends `hops` places on; flit times of injection, ring and ejection links, one
 * channel. */
static bool open_ring(const char *injection, const char *ring, int vcs, struct fc_machine *machine,
                      struct fc_network *net)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "name: ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [8]}\nlinks: {torus: {bandwidth: %s, "
             "latency: 1 "
             "cycle}, injection: {bandwidth: %s, latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, "
             "flow_control: "
             "cut-through, vcs: %d, buffer: 4 MiB, escape: %s, routing: dimension-order}\npacket: {min: 8 B, "
             "max: 64 B}\n",
             ring, injection, vcs, vcs == 1 ? "bubble" : "dateline");
    return fc_test_network(yaml, machine, net);
}

/* Mean waiting, source and network together, at a load against M/G/1 at the slowest link. */
static void check_tandem(const char *injection, double injection_flit, const char *ring, double ring_flit, int vcs,
                         uint32_t least, uint32_t most)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct model m;
    uint32_t src[8], dst[8];
    double bytes[8], slow = fmax(injection_flit, ring_flit), mean, square, first_mean, first_square;
    if (!open_ring(injection, ring, vcs, &machine, &net)) return;
    oracle_shift(&demand, 8, 1, src, dst, bytes);
    moments(least, most, slow, &mean, &square);
    moments(least, most, injection_flit, &first_mean, &first_square);
    if (open_model(&net, &demand, NULL, least, most, &m)) {
        double flits = (least + most) / 2.0;
        for (double rho = 0.1; rho < 0.96; rho += 0.17) {
            double rate = rho / mean, load = rate * flits;
            struct fc_queueing_answer a = solve(&m, load);
            CU_ASSERT(a.stable);
            CU_ASSERT(fc_near(a.source_cycles, m_g_1(rate, first_mean, first_square), 1e-9));
            CU_ASSERT(fc_near(a.latency_mean_cycles - m.turns.zero_load_cycles, m_g_1(rate, mean, square), 1e-6));
            CU_ASSERT(fc_near(a.network_cycles + a.source_cycles, a.latency_mean_cycles, 1e-12));
        }
        CU_ASSERT(fc_near(saturation(&m), flits / mean, 2e-4));
        close_model(&m);
    }
    fc_test_close(&machine, &net);
}

/* Fast, slow, fast, fast: nobody waits behind the slow link. */
static void slow_in_the_middle(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct model m;
    uint32_t src[9], dst[9];
    double bytes[9], mean, square;
    if (!fc_test_network(
            "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [3, 3]}\nlinks: {x: {bandwidth: 2 GB/s, "
            "latency: 1 cycle}, y: {bandwidth: 8 GB/s, latency: 1 cycle}, injection: {bandwidth: 8 GB/s, "
            "latency: 1 cycle}}\nrouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, vcs: 1, "
            "buffer: 4 MiB, escape: bubble, routing: dimension-order}\npacket: {min: 8 B, max: 64 B}\n",
            &machine, &net))
        return;
    oracle_shift(&demand, 9, 1, src, dst, bytes);
    for (uint32_t s = 0; s < 9; s++) dst[s] = (s % 3 + 1) % 3 + (s / 3 + 1) % 3 * 3;
    moments(1, 5, 4, &mean, &square);
    if (open_model(&net, &demand, NULL, 1, 5, &m)) {
        for (double rho = 0.2; rho < 1; rho += 0.3) {
            struct fc_queueing_answer a = solve(&m, rho / mean * 3);
            CU_ASSERT(fc_near(a.latency_mean_cycles - m.turns.zero_load_cycles, m_g_1(rho / mean, mean, square), 1e-6));
        }
        close_model(&m);
    }
    fc_test_close(&machine, &net);
}

static void one_queue(void)
{
    check_tandem("8 GB/s", 1, "8 GB/s", 1, 1, 4, 4); /* M/D/1 at the source and nothing behind it */
    check_tandem("8 GB/s", 1, "8 GB/s", 1, 1, 1, 8); /* M/G/1 */
    check_tandem("8 GB/s", 1, "8 GB/s", 1, 2, 1, 8); /* on two channels */
}

static void tandem(void)
{
    check_tandem("8 GB/s", 1, "4 GB/s", 2, 1, 5, 5); /* M/D/1 at the second link */
    check_tandem("8 GB/s", 1, "4 GB/s", 2, 1, 1, 8);
    check_tandem("8 GB/s", 1, "1 GB/s", 8, 1, 2, 3);
    slow_in_the_middle();
}

/* ---- many inputs ---- */

static bool open_crossbar(int n, struct fc_machine *machine, struct fc_network *net)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "name: crossbar\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [%d], parents: "
             "[1]}\nlinks: {leaf: "
             "{bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 1 cycle, flit: 8 B, flow_control: "
             "cut-through, vcs: "
             "1, buffer: 256 B, escape: none, routing: nca-hash}\npacket: {min: 8 B, max: 8 B}\n",
             n);
    return fc_test_network(yaml, machine, net);
}

/* All to one: many slow inputs make an M/D/1 queue of the output. */
static void all_to_one(void)
{
    enum { N = 201 };
    struct fc_machine machine;
    struct fc_network net;
    struct model m;
    static uint32_t src[N], dst[N];
    static double bytes[N];
    struct fc_demand demand = {.name = "all to one",
                               .n_tasks = N,
                               .n_entries = N - 1,
                               .src = src,
                               .dst = dst,
                               .bytes = bytes,
                               .messages = bytes,
                               .open_loop = true};
    for (uint32_t i = 0; i + 1 < N; i++) src[i] = i + 1, bytes[i] = 1;
    if (!open_crossbar(N, &machine, &net)) return;
    if (open_model(&net, &demand, NULL, 1, 1, &m)) {
        for (double rho = 0.2; rho < 0.9; rho += 0.2) {
            struct fc_queueing_answer a = solve(&m, rho / N);
            double waits = a.network_cycles - m.turns.zero_load_cycles;
            CU_ASSERT(fc_near(waits, m_g_1(rho, 1, 1), 0.01 / (1 - rho))); /* 200 are not yet infinitely many */
        }
        CU_ASSERT(fc_near(saturation(&m), 1.0 / N, 0.01));
        close_model(&m);
    }
    fc_test_close(&machine, &net);
}

static void crossbar(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct model m;
    struct fc_status st = {0};
    if (!open_crossbar(128, &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "uniform", 1, &demand, &st), FC_OK);
    if (open_model(&net, &demand, NULL, 1, 1, &m)) {
        CU_ASSERT(fc_near(saturation(&m), 2 - sqrt(2), 0.01));
        close_model(&m);
    }
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

/* Packets of one flit come by a link of a flit a cycle for two links of half that, by a coin: the next one can go a cycle later where
 * it goes elsewhere, two where not, so that the link brings a packet in 3 / 2 cycles at most. The kernel: test_flit_injection.c. */
static void fast_feeds_slow(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct model m;
    uint32_t src[] = {2, 2}, dst[] = {1, 5}; /* (0, 1) to (1, 0) and (1, 2) */
    double rate[] = {1, 1};
    struct fc_demand demand = {.name = "two ways",
                               .n_tasks = 6,
                               .n_entries = 2,
                               .src = src,
                               .dst = dst,
                               .bytes = rate,
                               .messages = rate,
                               .open_loop = true};
    if (!fc_test_network(FAST_FEEDS_SLOW, &machine, &net)) return;
    if (open_model(&net, &demand, NULL, 1, 1, &m)) {
        CU_ASSERT(fc_near(6 * saturation(&m), 2.0 / 3, 1e-3));
        CU_ASSERT(solve(&m, 0.6 / 6).stable); /* not with two cycles for every packet */
        close_model(&m);
    }
    fc_test_close(&machine, &net);
}

/* ---- every family ---- */

static bool all_unknown(const struct fc_queueing_answer *a)
{
    return isnan(a->latency_mean_cycles) && isnan(a->network_cycles) && isnan(a->source_cycles) &&
           isnan(a->latency_sd_cycles) && isnan(a->latency_p95_cycles) && isnan(a->latency_p99_cycles) &&
           isnan(a->contention_cycles) && isnan(a->queue_cycles) && isnan(a->backpressure_cycles);
}

static void check_curve(const struct model *m)
{
    double last = m->turns.zero_load_cycles, end = saturation(m), most = 1 / m->turns.max_service_rate;
    CU_ASSERT(end > 0.2 * most && end <= most);
    for (int i = 1; i <= 19; i++) {
        struct fc_queueing_answer a = solve(m, end * i / 20);
        CU_ASSERT(a.stable && a.latency_mean_cycles > last && isfinite(a.latency_mean_cycles));
        CU_ASSERT(a.source_cycles >= 0 && a.contention_cycles >= 0 && a.queue_cycles >= 0 &&
                  a.backpressure_cycles >= 0);
        CU_ASSERT(a.network_cycles >= m->turns.zero_load_cycles && a.greatest_utilization < 1);
        CU_ASSERT(a.latency_p95_cycles > m->turns.least_zero_load_cycles &&
                  a.latency_p99_cycles > a.latency_p95_cycles);
        last = a.latency_mean_cycles;
    }
    struct fc_queueing_answer light = solve(m, 1e-6 * end);
    CU_ASSERT(fc_near(light.latency_mean_cycles, m->turns.zero_load_cycles, 1e-4));
    const double over[] = {1.001, 1.1, 3, 1e6};
    for (size_t i = 0; i < FC_COUNT(over); i++) {
        struct fc_status st = {0};
        struct fc_queueing_answer a;
        enum fc_code code = fc_queueing_solve(m->queueing, &m->theory, end * over[i], &a, &st);
        CU_ASSERT(code == FC_OK || (i == 0 && code == FC_NO)); /* so near it may not settle */
        CU_ASSERT(!a.stable && all_unknown(&a));
    }
}

static void families(void)
{
    for (size_t i = 0; i < FC_COUNT(oracle_machines); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand demand;
        struct model m;
        struct fc_status st = {0};
        const struct oracle_machine *o = &oracle_machines[i];
        enum oracle_flow flow = i % 2 && !strstr(o->rest, "bubble") ? ORACLE_WORMHOLE : ORACLE_CUT_THROUGH;
        CU_ASSERT_FATAL(oracle_open(oracle_yaml(o, 2, false, flow, "256 B"), &machine, &net, &st));
        const char *patterns[] = {"uniform", "permutation:seed=2"};
        for (size_t p = 0; p < 2; p++) {
            if (fc_demand_from_pattern(&net, patterns[p], 1, &demand, &st)) break;
            demand.open_loop = true;
            if (demand.n_tasks == net.n_nodes && open_model(&net, &demand, o->vc_rule, 1 + 3 * p, 4, &m)) {
                unsigned failed = CU_get_number_of_failures();
                check_curve(&m);
                if (CU_get_number_of_failures() > failed) printf("\n    %s, %s\n", o->name, patterns[p]);
                close_model(&m);
            }
            fc_demand_free(&demand);
        }
        oracle_close(&machine, &net);
    }
}

static void refusals(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct model m;
    uint32_t src[8], dst[8];
    double bytes[8];
    const double bad[] = {0, -1, NAN, INFINITY};
    if (!open_ring("8 GB/s", "8 GB/s", 2, &machine, &net)) return;
    oracle_shift(&demand, 8, 1, src, dst, bytes);
    if (open_model(&net, &demand, NULL, 1, 1, &m)) {
        for (size_t i = 0; i < FC_COUNT(bad); i++) {
            struct fc_status st = {0};
            struct fc_queueing_answer a;
            CU_ASSERT_EQUAL(fc_queueing_solve(m.queueing, &m.theory, bad[i], &a, &st), FC_INPUT);
            CU_ASSERT(fc_says(&st, FC_INPUT, "expected a positive number"));
            CU_ASSERT(!a.stable && all_unknown(&a));
        }
        struct fc_queueing_answer one = solve(&m, 0.6), other = solve(&m, 0.2), again = solve(&m, 0.6);
        CU_ASSERT(other.latency_mean_cycles < one.latency_mean_cycles);
        CU_ASSERT_EQUAL(one.latency_mean_cycles, again.latency_mean_cycles); /* nothing is kept between solves */
        CU_ASSERT_EQUAL(one.latency_p99_cycles, again.latency_p99_cycles);
        close_model(&m);
    }
    fc_test_close(&machine, &net);
}

/* An accuracy that no iteration reaches: the solve says that it could not be done, which is exit status 1. */
static void not_converged(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct model m;
    struct fc_status st = {0};
    struct fc_queueing_answer a;
    CU_ASSERT_FATAL(fc_test_network(
        "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}}\n"
        "router: {delay: 2 cycles, flit: 8 B, vcs: 2, buffer: 64 B, escape: dateline, routing: dimension-order}\n"
        "packet: {min: 8 B, max: 64 B}\n",
        &machine, &net));
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "uniform", 1, &demand, &st), FC_OK);
    if (open_model(&net, &demand, NULL, 4, 4, &m)) {
        fc_queueing_tune(m.queueing, -1, false);
        CU_ASSERT_EQUAL(fc_queueing_solve(m.queueing, &m.theory, 0.5 * 0.1, &a, &st), FC_NO);
        CU_ASSERT(fc_says(&st, FC_NO, "does not converge at 0.05 flits a node and cycle"));
        close_model(&m);
    }
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

int suite_queueing(void)
{
    static const CU_TestInfo tests[] = {
        {"one queue is M/D/1 or M/G/1", one_queue},
        {"a tandem waits as its slowest link", tandem},
        {"all to one is M/D/1", all_to_one},
        {"crossbar saturates at 2 - sqrt 2", crossbar},
        {"a fast link feeds two slow ones", fast_feeds_slow},
        {"every family", families},
        {"refusals, the same again", refusals},
        {"a solve that does not converge", not_converged},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("queueing", tests);
}
