/* test_flit_statistics.c - statistics of the flit-level kernel on data with known answers; ideal and
 * saturation throughput of the whole kernel. */
#include "solvers/flit/run.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- statistics ------------------------------------------------------------------------------------------
 */

static void buckets(void)
{
    uint64_t before = 0;
    for (uint32_t b = 0; b < FC_FLIT_BUCKETS; b++) {
        uint64_t low, end;
        fc_flit_bucket_range(b, &low, &end);
        CU_ASSERT_EQUAL(low, before);
        CU_ASSERT(end > low && (b < 64 || (end - low) * 32 <= low));
        CU_ASSERT_EQUAL(fc_flit_bucket(low), b);
        CU_ASSERT_EQUAL(fc_flit_bucket(end - 1), b);
        before = end;
    }
    CU_ASSERT_EQUAL(fc_flit_bucket(UINT64_MAX), FC_FLIT_BUCKETS - 1);
}

static struct fc_flit_counts *new_counts(uint64_t from, uint64_t to)
{
    struct fc_flit_counts *c = calloc(1, sizeof *c);
    c->measure_from = from, c->measure_to = to, c->batches = FC_FLIT_BATCHES;
    return c;
}

static void percentiles(void)
{
    struct fc_flit_counts *c = new_counts(0, 1000000);
    CU_ASSERT(isnan(fc_flit_percentile(c, 0.5)));
    for (uint64_t i = 1; i <= 50; i++) fc_flit_count_delivery(c, i, i, i + i, 1); /* latencies 1 .. 50: exact */
    CU_ASSERT_EQUAL(fc_flit_percentile(c, 0.5), 25);
    CU_ASSERT_EQUAL(fc_flit_percentile(c, 0.02), 1);
    CU_ASSERT_EQUAL(fc_flit_percentile(c, 1), 50);
    fc_flit_restart_window(c, 0, 1000000);
    CU_ASSERT(isnan(fc_flit_percentile(c, 0.5)));
    for (uint64_t i = 1; i <= 100000; i++) fc_flit_count_delivery(c, 5, 5, 5 + i, 1);
    CU_ASSERT(fc_near(fc_flit_percentile(c, 0.5), 50000, 1e-4));
    CU_ASSERT(fc_near(fc_flit_percentile(c, 0.99), 99000, 1e-3));
    CU_ASSERT(fc_flit_percentile(c, 1) <= 100000);
    free(c);
}

static void windows_and_batches(void)
{
    struct fc_flit_counts *c = new_counts(100, 100 + 32 * 10), *wide = new_counts(100, 100 + 64 * 10);
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t born = fc_random_below(1, 2, i, 420), latency = fc_random_below(1, 3, i, 1000);
        fc_flit_count_delivery(c, born, born + 1, born + latency, 2);
        fc_flit_count_delivery(wide, born, born + 1, born + latency, 2);
    }
    CU_ASSERT_EQUAL(c->packets_delivered, 2000);
    CU_ASSERT(c->measured_delivered < 2000 && c->measured_delivered > 1300);
    fc_flit_double_window(c);
    CU_ASSERT_EQUAL(c->measure_to, wide->measure_to);
    CU_ASSERT_EQUAL(memcmp(c->batch_packets, wide->batch_packets, sizeof c->batch_packets), 0);
    CU_ASSERT_EQUAL(memcmp(c->batch_ticks, wide->batch_ticks, sizeof c->batch_ticks), 0);
    CU_ASSERT_EQUAL(memcmp(c->histogram, wide->histogram, sizeof c->histogram), 0);
    free(c);
    free(wide);
}

/* Half widths of batch means hold the true mean (here 0 above a base) in about 95 % of cases, for independent
 * data and, with joined batches, for data that correlate over batches. */
static void half_widths_hold(void)
{
    enum { TRIALS = 400 };
    for (int kind = 0; kind < 2; kind++) {
        int held = 0, joined = 0;
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            struct fc_flit_counts *c = new_counts(0, 3200);
            double state = 0;
            for (int b = 0; b < 32; b++) {
                double sum = 0, u = 0;
                for (uint64_t k = 0; k < 12; k++) u += fc_random_real(trial, (uint64_t)b, k);
                state = (kind ? 0.45 * state : 0) + (u - 6);
                sum = state * 1000 + 100000;
                c->batch_packets[b] = 50;
                c->batch_ticks[b] = (uint64_t)rint(sum * 50);
            }
            struct fc_flit_mean m = fc_flit_batch_mean(c, 32);
            held += fabs(m.mean - 100000) <= m.half_width;
            joined += m.batches < 32;
            free(c);
        }
        CU_ASSERT(held >= (kind ? 0.86 : 0.92) * TRIALS && held <= 0.985 * TRIALS);
        CU_ASSERT(kind ? joined > TRIALS / 2 : joined < TRIALS / 4);
    }
    struct fc_flit_counts *c = new_counts(0, 3200);
    CU_ASSERT(isnan(fc_flit_batch_mean(c, 32).mean) && isnan(fc_flit_batch_mean(c, 32).half_width));
    c->batch_packets[3] = 1, c->batch_ticks[3] = 7;
    CU_ASSERT(fc_flit_batch_mean(c, 32).mean == 7 && isnan(fc_flit_batch_mean(c, 32).half_width));
    /* Two of 2 packets in 2 batches, by hand: means 10 and 14, t(1) = 12.706, error 2. */
    c->batch_packets[0] = c->batch_packets[1] = 2, c->batch_ticks[0] = 20, c->batch_ticks[1] = 28;
    struct fc_flit_mean m = fc_flit_batch_mean(c, 2);
    CU_ASSERT_EQUAL(m.mean, 12);
    CU_ASSERT(fc_near(m.half_width, 25.412409, 1e-6));
    free(c);
}

static void trends(void)
{
    struct fc_flit_counts *c = new_counts(0, 3200);
    for (int b = 0; b < 32; b++) c->batch_packets[b] = 10, c->batch_ticks[b] = 10 * (100 + 10 * (uint64_t)b);
    struct fc_flit_trend t = fc_flit_latency_trend(c, 32);
    CU_ASSERT(fc_near(t.growth, 320 / 255.0, 1e-9) && t.t > 1e6);
    t = fc_flit_latency_trend(c, 16);
    CU_ASSERT(fc_near(t.growth, 320 / 175.0, 1e-9));
    for (int b = 0; b < 32; b++) c->batch_ticks[b] = 10 * (1000 - 10 * (uint64_t)b);
    CU_ASSERT(fc_flit_latency_trend(c, 32).growth < 0);
    int rising = 0;
    for (uint64_t trial = 0; trial < 500; trial++) {
        for (int b = 0; b < 32; b++) c->batch_ticks[b] = 900 + fc_random_below(4, trial, (uint64_t)b, 200);
        rising += fc_flit_latency_trend(c, 32).t > 4;
    }
    CU_ASSERT(rising < 10); /* 2 expected: one side of t with 6 degrees of freedom, 0.36 % */
    memset(c->batch_packets, 0, sizeof c->batch_packets);
    CU_ASSERT_EQUAL(fc_flit_latency_trend(c, 32).t, 0);
    free(c);
}

static void counts_add_up(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_flit_counts part[3] = {{0}}, all = {0}, sum = {0};
    struct fc_flit_counts *list[] = {&part[0], &part[1], &part[2], &all, &sum};
    for (size_t i = 0; i < FC_COUNT(list); i++) {
        list[i]->measure_from = 50, list[i]->measure_to = 850;
        list[i]->interval_ticks = 100, list[i]->n_intervals = 10;
        CU_ASSERT_EQUAL_FATAL(fc_flit_counts_make(list[i], &arena, &st), FC_OK);
    }
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t born = fc_random_below(8, 1, i, 900), latency = fc_random_below(8, 2, i, 300);
        struct fc_flit_counts *two[] = {&part[i % 3], &all};
        for (int k = 0; k < 2; k++) {
            fc_flit_count_delivery(two[k], born, born + 3, born + latency + 3, 4);
            fc_flit_count_flits(two[k], born + latency, 2);
            two[k]->occupancy_flit_ticks[i % 5] += latency;
            two[k]->flit_hops += 8, two[k]->escape_flit_hops += i % 2, two[k]->measured_started += i % 7;
            two[k]->packets_injected++, two[k]->flits_injected += 2;
            two[k]->interval_vc_flits[i % 10][i % 3]++;
            two[k]->interval_returns[i % 10]++, two[k]->interval_unblocked[i % 10] += i % 2;
        }
    }
    for (int k = 2; k >= 0; k--) fc_flit_counts_add(&sum, &part[k]);
    for (uint32_t i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(sum.interval_flits[i], all.interval_flits[i]);
        CU_ASSERT_EQUAL(sum.interval_returns[i], all.interval_returns[i]);
        CU_ASSERT_EQUAL(sum.interval_unblocked[i], all.interval_unblocked[i]);
        CU_ASSERT_EQUAL(memcmp(sum.interval_vc_flits[i], all.interval_vc_flits[i], sizeof sum.interval_vc_flits[i]), 0);
    }
    CU_ASSERT(all.last_delivery > 1100 && all.window_flits_delivered > 0);
    sum.interval_flits = all.interval_flits, sum.interval_vc_flits = all.interval_vc_flits;
    sum.interval_returns = all.interval_returns, sum.interval_unblocked = all.interval_unblocked;
    CU_ASSERT_EQUAL(memcmp(&sum, &all, sizeof sum), 0);
    fc_arena_free(&arena);
}

/* ---- the whole kernel -------------------------------------------------------------------------------------
 */

#define PAPER(family, more) PAPER_OF(family, "[8, 8]", more)
#define PAPER_OF(family, dims, more)                                                                                   \
    "name: t\nclock: 1 GHz\nnetwork: {family: " family ", dims: " dims "}\n"                                           \
    "links: {" family ": {bandwidth: 8 GB/s, latency: 1 ns}, injection: {bandwidth: 8 GB/s}}\n"                        \
    "router: {flit: 8 B, buffer: 128 B, vcs: 2, escape: dateline, routing: dimension-order}\n" more

struct whole {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_status st;
};

static bool open_whole(struct whole *w, const char *yaml, const char *pattern)
{
    memset(w, 0, sizeof *w);
    if (!fc_test_network(yaml, &w->machine, &w->net)) return false;
    fc_flit_defaults(&w->settings);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&w->net, pattern, 1, &w->demand, &w->st), FC_OK);
    w->demand.open_loop = true;
    return true;
}

static void close_whole(struct whole *w)
{
    fc_demand_free(&w->demand);
    fc_test_close(&w->machine, &w->net);
}

/* Closed forms of Dally & Towles, section 3.3, in flits a node and cycle. */
static void ideal_throughput(void)
{
    static const struct {
        const char *yaml, *pattern;
        double ideal;
    } cases[] = {
        {PAPER("mesh", "packet: {max: 8 B}\n"), "uniform", 0.5},      /* 4/k */
        {PAPER("torus", "packet: {max: 8 B}\n"), "uniform", 1},       /* 8/k: as much as a node can inject */
        {PAPER("torus", "packet: {max: 8 B}\n"), "tornado", 1.0 / 3}, /* 1 / (ceil(k/2) - 1) */
        {PAPER("torus", "packet: {max: 8 B}\n"), "neighbor", 1},
        {PAPER("torus", "packet: {max: 32 B, trailer: 8 B}\n"), "neighbor", 0.8}, /* 4 flits in 5 cycles */
        {PAPER("torus", "packet: {max: 32 B, trailer: 8 B}\n"), "tornado", 0.8 / 3},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct whole w;
        double ideal = 0;
        if (!open_whole(&w, cases[i].yaml, cases[i].pattern)) return;
        CU_ASSERT_EQUAL(fc_flit_ideal_throughput(&w.net, &w.demand, &w.settings, &ideal, &w.st), FC_OK);
        CU_ASSERT(fc_near(ideal, cases[i].ideal, 1e-9));
        w.demand.open_loop = false;
        CU_ASSERT_EQUAL(fc_flit_ideal_throughput(&w.net, &w.demand, &w.settings, &ideal, &w.st), FC_INPUT);
        CU_ASSERT(fc_says(&w.st, FC_INPUT, "only open-loop traffic has a throughput"));
        close_whole(&w);
    }
}

/* Neighbours share no link, so what can be injected arrives; uniform traffic saturates below the ideal, and
 * what the bisection answers is held by a run of its own, with other random numbers, just below and not just
 * above. */
static void saturation_throughput(void)
{
    struct whole w;
    double load;
    if (!open_whole(&w, PAPER_OF("torus", "[4, 4]", "packet: {max: 8 B}\n"), "neighbor")) return;
    w.settings.warmup_cycles = 500, w.settings.measure_cycles = 2000;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &load, &w.st), FC_OK);
    CU_ASSERT_EQUAL(load, 1);
    close_whole(&w);
    if (!open_whole(&w, PAPER_OF("mesh", "[6, 2]", "packet: {max: 8 B}\n"), "uniform")) return;
    w.settings.warmup_cycles = 1000, w.settings.measure_cycles = 6000;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &load, &w.st), FC_OK);
    CU_ASSERT(load > 0.4 && load < 0.7); /* ideal 4/6 */
    struct fc_flit_result result;
    w.settings.seed = 77;
    for (int above = 0; above < 2; above++) {
        w.settings.load_flits_per_cycle = load * (above ? 1.1 : 0.95);
        CU_ASSERT_EQUAL(fc_flit_run(&w.net, &w.demand, NULL, &w.settings, &result, &w.st), FC_OK);
        CU_ASSERT_EQUAL(result.stable, !above);
        CU_ASSERT((result.accepted_flits_per_node_cycle > 0.98 * w.settings.load_flits_per_cycle) == !above);
        fc_flit_free(&result);
    }
    /* A latency limit in a short fixed window lets more pass. */
    double limited;
    w.settings.seed = 1;
    w.settings.warmup_cycles = w.settings.measure_cycles = 1000;
    w.settings.latency_limit_cycles = 400;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &limited, &w.st), FC_OK);
    CU_ASSERT(limited > load && limited < 1.3 * load);
    close_whole(&w);
}

/* The long runs of a search keep between what runs before saw, so that the answer does not contradict them; without a precision
 * they are not looked at. */
static void seen_before(void)
{
    struct whole w;
    double load, within, below, fixed, again;
    if (!open_whole(&w, PAPER_OF("mesh", "[6, 2]", "packet: {max: 8 B}\n"), "uniform")) return;
    w.settings.precision = 0.02;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &load, &w.st), FC_OK);
    w.settings.stable_load = 0.95 * load, w.settings.unstable_load = 1.1 * load;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &within, &w.st), FC_OK);
    CU_ASSERT(fabs(within / load - 1) < 0.02);
    w.settings.stable_load = 0.5 * load, w.settings.unstable_load = 0.8 * load;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &below, &w.st), FC_OK);
    CU_ASSERT(below < 0.8 * load && below > 0.77 * load);
    w.settings.precision = 0;
    w.settings.warmup_cycles = 1000, w.settings.measure_cycles = 6000;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &fixed, &w.st), FC_OK);
    w.settings.stable_load = w.settings.unstable_load = 0;
    CU_ASSERT_EQUAL(fc_flit_saturation(&w.net, &w.demand, &w.settings, &again, &w.st), FC_OK);
    CU_ASSERT_EQUAL(fixed, again);
    close_whole(&w);
}

/* Under UGAL, group to group, direct links keep queues of 20 000 cycles, as the threshold has it, which do not grow. A run that is allowed
 * 50 packets a node goes on until it is known. */
static void long_queues_that_last(void)
{
    struct whole w;
    struct fc_flit_result result;
    char yaml[1024];
    snprintf(yaml, sizeof yaml, FC_TEST_SLINGSHOT, "both");
    if (!open_whole(&w, yaml, "group-shift")) return;
    w.settings.load_flits_per_cycle = 0.15;
    w.settings.precision = 0.05;
    w.settings.most_packets = 3000;
    w.settings.lengthen = true;
    CU_ASSERT_EQUAL(fc_flit_run(&w.net, &w.demand, NULL, &w.settings, &result, &w.st), FC_OK);
    CU_ASSERT(result.stable);
    CU_ASSERT(result.latency_p99_cycles >
              60 * 86 + 0.03 * 150000); /* packets of 86 cycles: what would be late in the short run */
    CU_ASSERT(result.measured_packets > 2 * w.settings.most_packets);
    fc_flit_free(&result);
    close_whole(&w);
}

/* On a switch of 64 nodes two send to one 1.06 times what its link takes, the others a fifth of a link to one each: 0.4 % of what all
 * offer is too much, buffers have room for it for all of the run, and the sources wait for nothing. What arrives ever later
 * tells; offered 0.9 of the link all is stable. */
static void few_late_pairs(void)
{
    enum { NODES = 64 };
    static const struct {
        double link; /* what two offer of it */
        bool stable;
    } cases[] = {{1.06, false}, {0.9, true}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct whole w;
        struct fc_flit_result result;
        uint32_t src[NODES], dst[NODES];
        double bytes[NODES], sum = 0;
        if (!open_whole(&w,
                        "name: t\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [64], parents: [1]}\n"
                        "links: {leaf: {bandwidth: 8 GB/s, latency: 200 ns}}\n"
                        "router: {flit: 8 B, buffer: 64 KiB, vcs: 1, escape: none, flow_control: cut-through, routing: "
                        "nca}\npacket: {max: 8 B}\n",
                        "neighbor"))
            return;
        fc_demand_free(&w.demand);
        for (uint32_t n = 0; n < NODES; n++) {
            bool two = n < 2;
            src[n] = n;
            dst[n] = two ? 63 : n - 1;
            sum += bytes[n] = two ? cases[i].link / 2 : 0.2;
        }
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_pairs("two on a link", NODES, NODES, src, dst, bytes, &w.demand, &w.st),
                              FC_OK);
        w.demand.open_loop = true;
        w.settings.load_flits_per_cycle = sum / NODES;
        w.settings.precision = 0.01;
        w.settings.most_packets = 100000;
        for (int only_accepted = 0; only_accepted < 2; only_accepted++) {
            w.settings.only_accepted = only_accepted;
            CU_ASSERT_EQUAL(fc_flit_run(&w.net, &w.demand, NULL, &w.settings, &result, &w.st), FC_OK);
            CU_ASSERT_EQUAL(result.stable, cases[i].stable);
            fc_flit_free(&result);
        }
        close_whole(&w);
    }
}

/* A run is given up at the first chunk past its moves; a search, whose runs share them, says that it was and finds nothing, but
 * one that may move as much as it needs finds what it finds without a limit. */
static void most_moves(void)
{
    struct whole w;
    struct fc_flit_result result;
    struct fc_flit_cost free_cost = {0}, cost = {0};
    double load, limited;
    if (!open_whole(&w, PAPER_OF("mesh", "[6, 2]", "packet: {max: 8 B}\n"), "uniform")) return;
    w.settings.warmup_cycles = 1000, w.settings.measure_cycles = 6000;
    w.settings.load_flits_per_cycle = 0.3;
    w.settings.most_moves = 5000;
    CU_ASSERT_EQUAL_FATAL(fc_flit_run(&w.net, &w.demand, NULL, &w.settings, &result, &w.st), FC_OK);
    CU_ASSERT(result.cut && !result.complete && !result.stable && !strncmp(result.unstable_because, "given up", 8));
    CU_ASSERT(fc_flit_moves(&result) > 5000 && fc_flit_moves(&result) < 5000 + 256 * 12 * 0.3 * 2 * 8);
    fc_flit_free(&result);
    w.settings.most_moves = 0;
    CU_ASSERT_EQUAL(fc_flit_saturation_counted(&w.net, &w.demand, &w.settings, &load, &free_cost, &w.st), FC_OK);
    CU_ASSERT(!free_cost.cut && free_cost.moves > free_cost.flit_hops);
    w.settings.most_moves = free_cost.moves + 1;
    CU_ASSERT_EQUAL(fc_flit_saturation_counted(&w.net, &w.demand, &w.settings, &limited, &cost, &w.st), FC_OK);
    CU_ASSERT(!cost.cut && limited == load && cost.moves == free_cost.moves);
    for (int precise = 0; precise < 2; precise++) {
        cost = (struct fc_flit_cost){0};
        w.settings.most_moves = free_cost.moves / 4;
        w.settings.precision = precise ? 0.01 : 0;
        if (precise) w.settings.measure_cycles = 0;
        CU_ASSERT_EQUAL(fc_flit_saturation_counted(&w.net, &w.demand, &w.settings, &limited, &cost, &w.st), FC_OK);
        CU_ASSERT(cost.cut && isnan(limited) && cost.moves < 1.5 * w.settings.most_moves);
    }
    close_whole(&w);
}
int suite_flit_statistics(void)
{
    static const CU_TestInfo tests[] = {
        {"buckets", buckets},
        {"percentiles", percentiles},
        {"windows and batches", windows_and_batches},
        {"half widths hold", half_widths_hold},
        {"trends", trends},
        {"counts add up", counts_add_up},
        {"ideal throughput", ideal_throughput},
        {"saturation throughput", saturation_throughput},
        {"few late pairs", few_late_pairs},
        {"long queues that last", long_queues_that_last},
        {"loads seen before a saturation", seen_before},
        {"runs and searches end where they have moved enough", most_moves},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit_statistics", tests);
}
