/* test_calibration_design.c - which cases are run for a calibration, in which order, and what they are taken to cost. */
#include "solvers/calibration/calibration_internal.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

/* A machine, and what would be run for its calibration. */
struct designed {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_arena arena;
    struct fc_calibration_design d;
    struct fc_status st;
};

static void design(struct designed *x, double budget_s)
{
    CU_ASSERT_EQUAL_FATAL(fc_calibration_design_make(&x->machine, budget_s, NULL, 1, &x->arena, &x->d, &x->st), FC_OK);
}
static bool open_designed(struct designed *x, const char *yaml, double budget_s)
{
    *x = (struct designed){.st = {0}};
    if (!fc_test_network(yaml, &x->machine, &x->net)) return false;
    design(x, budget_s);
    return true;
}
static void close_designed(struct designed *x)
{
    fc_calibration_design_free(&x->d);
    fc_arena_free(&x->arena);
    fc_test_close(&x->machine, &x->net);
}

/* Under UGAL a core is taken to move fewer packets the more channels a network has: of two networks the larger is the dearer by
 * hop, by little where both fit its caches. */
static void test_ugal_rate(void)
{
    struct designed x;
    if (!open_designed(
            &x,
            "name: t\nnetwork: {family: two-level, supernodes: 9, nodes_per_drawer: 8, nodes_per_router: 2, d_link: "
            "modulo}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 10 ns}, d: {bandwidth: 8 GB/s, latency: 100 ns}}\n"
            "router: {vcs: 3, routing: ugal, flit: 8 B}\npacket: {max: 64 B}\n",
            60))
        return;
    CU_ASSERT(x.d.n_networks >= 2 && x.d.n_jobs >= 2);
    for (uint32_t i = 0; i < x.d.n_jobs; i++) {
        const struct fc_calibration_job *a = &x.d.jobs[i];
        CU_ASSERT(a->moves_per_s < FC_CALIBRATION_UGAL_MOVES_PER_S &&
                  a->moves_per_s > 0.8 * FC_CALIBRATION_UGAL_MOVES_PER_S);
        for (uint32_t j = 0; j < x.d.n_jobs; j++)
            if (a->net->n_links > x.d.jobs[j].net->n_links) CU_ASSERT(a->moves_per_s < x.d.jobs[j].moves_per_s);
    }
    close_designed(&x);
}

/* Traffic that people name is run on the machine's own network, once, where that has it: 27 nodes have no bit-reverse, and no eighth. */
static void test_named_traffic(void)
{
    struct designed x;
    static const struct {
        const char *pattern;
        uint32_t times;
    } expected[] = {{"permutation:seed=1", 1}, {"permutation:seed=2", 1}, {"hotregion", 0},
                    {"complement", 1},         {"neighbor", 1},           {"bit-reverse", 0}};
    if (!open_designed(
            &x,
            "name: t\nnetwork: {family: torus, dims: [3, 3, 3]}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 10 ns}, "
            "injection: {bandwidth: 1 GB/s, latency: 10 ns}}\n"
            "router: {vcs: 2, flit: 8 B}\npacket: {max: 64 B}\n",
            60))
        return;
    for (size_t i = 0; i < FC_COUNT(expected); i++) {
        uint32_t n = 0;
        for (uint32_t j = 0; j < x.d.n_jobs; j++)
            if (!strcmp(x.d.jobs[j].out->pattern, expected[i].pattern)) {
                CU_ASSERT_EQUAL(x.d.jobs[j].out->nodes, 27);
                CU_ASSERT_EQUAL(x.d.jobs[j].settings.packet_flits_max, 8);
                n++;
            }
        CU_ASSERT_EQUAL(n, expected[i].times);
    }
    close_designed(&x);
}

/* Uniform traffic on the machine's own network comes behind that on the smallest, each of its patterns once in the longest packets, and
 * these may take more of the budget than others. Worms through routers of few channels, which lie in strips, are faster. */
static void test_own_network(void)
{
    const char *yaml[] = {"2", "8"}; /* virtual channels */
    double moves_per_s[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct designed x;
        char text[600];
        uint32_t at = FC_NONE, n_own = 0, n_longest = 0;
        snprintf(text, sizeof text,
                 "name: t\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [4, 3, 3], parents: [1, 3, 2]}\n"
                 "links: {leaf: {bandwidth: 8 GB/s, latency: 2 ns}, up: {bandwidth: 8 GB/s, latency: 2 ns}}\n"
                 "router: {delay: 4 ns, vcs: %s, escape: none, routing: nca, flow_control: wormhole, buffer: 128 B, "
                 "flit: 8 B}\npacket: {max: 64 B}\n",
                 yaml[i]);
        if (!open_designed(&x, text, 60)) return;
        for (uint32_t k = 0; k < x.d.n_jobs; k++) {
            const struct fc_calibration_job *job = &x.d.jobs[k];
            bool is_own = job->out->nodes == 36, is_longest = job->settings.packet_flits_max == 8;
            CU_ASSERT_EQUAL(job->wanted, is_own && is_longest);
            if (is_own && is_longest && !strcmp(job->out->pattern, "uniform")) at = k, n_own++;
            if (is_own && is_longest && !strcmp(job->out->pattern, "complement")) n_longest++;
            moves_per_s[i] = job->moves_per_s;
        }
        CU_ASSERT(at != FC_NONE && n_own == 1 && n_longest == 1);
        for (uint32_t k = 0; k < at && at != FC_NONE; k++)
            CU_ASSERT(x.d.jobs[k].out->nodes < 36 && !strcmp(x.d.jobs[k].out->pattern, "uniform") &&
                      x.d.jobs[k].out->nodes == x.d.jobs[0].out->nodes);
        close_designed(&x);
    }
    CU_ASSERT(moves_per_s[0] > 1.5 * moves_per_s[1]);
}

/* Where one case takes much of the budget: after the first the cheapest come first, and runs that overload deep buffers do not go on for ever. What was
 * moved is what the budget stands for, though the first case may take more than was thought. */
static void test_ugal_budget(void)
{
    struct designed x;
    struct fc_calibration_settings set = {.threads = 1, .seed = 1};
    double budget_s = 0.6, run_s = 3, spent_s = 0; /* warm-ups of 1000 cycles are more than such small windows */
    uint32_t n_ran = 0;
    if (!open_designed(
            &x,
            "name: t\nclock: 1 GHz\nnetwork: {family: two-level, supernodes: 4, nodes_per_drawer: 2, nodes_per_router: 1, "
            "d_link: modulo}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 2 ns}, d: {bandwidth: 8 GB/s, latency: 10 ns}}\n"
            "router: {delay: 2 ns, vcs: 3, routing: ugal, flit: 8 B, buffer: 16 KiB}\n",
            budget_s))
        return;
    for (uint32_t i = 2; i < x.d.n_jobs; i++) CU_ASSERT(x.d.jobs[i].estimate_s >= x.d.jobs[i - 1].estimate_s);
    CU_ASSERT_EQUAL(fc_calibration_run(&x.d, run_s, &set, &x.arena, &x.st), FC_OK);
    for (uint32_t i = 0; i < x.d.n_jobs; i++) {
        spent_s += x.d.jobs[i].spent_s;
        n_ran += x.d.jobs[i].ran;
    }
    CU_ASSERT(n_ran >= 2 && spent_s < 1.1 * run_s);
    close_designed(&x);
}

/* A fat-tree of many parallel links, where much happens in a zero-load time: what cases take is what the design says, and less than
 * the budget; those that may take too little are given up, and say so. */
static void test_busy_budget(void)
{
    struct designed x;
    struct fc_calibration_settings set = {.threads = 1, .seed = 1};
    double budget_s = 1, spent_s = 0;
    uint32_t n_ran = 0;
    if (!open_designed(
            &x,
            "name: t\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [4, 2], parents: [1, 1], links: [1, 8], "
            "planes: 2}\nlinks: {leaf: {bandwidth: 8 GB/s, latency: 15 ns}, up: {bandwidth: 8 GB/s, latency: 50 ns}}\n"
            "router: {delay: 100 ns, flow_control: cut-through, flit: 8 B, vcs: 2, escape: none, buffer: 8 KiB, "
            "routing: nca, arbitration: round-robin}\npacket: {min: 8 B, max: 128 B}\n",
            budget_s))
        return;
    CU_ASSERT(x.d.jobs[0].events && x.d.jobs[0].more_links > 2);
    CU_ASSERT_EQUAL(fc_calibration_run(&x.d, budget_s, &set, &x.arena, &x.st), FC_OK);
    for (uint32_t i = 0; i < x.d.n_jobs; i++) {
        spent_s += x.d.jobs[i].spent_s;
        n_ran += x.d.jobs[i].ran;
        CU_ASSERT(x.d.jobs[i].spent_s == 0 || x.d.jobs[i].spent_s < 1.2 * x.d.jobs[i].most_s);
        CU_ASSERT(!x.d.jobs[i].ran || x.d.jobs[i].out->n_points >= 2);
    }
    CU_ASSERT(n_ran >= 2 && spent_s < 1.1 * budget_s);
    fc_calibration_design_free(&x.d);
    design(&x, budget_s);
    for (uint32_t i = 0; i < x.d.n_jobs; i++) x.d.jobs[i].estimate_s = 1e-3; /* far too little */
    CU_ASSERT_EQUAL(fc_calibration_run(&x.d, 2e-3, &set, &x.arena, &x.st), FC_OK);
    CU_ASSERT(x.d.n_jobs > 0 && x.d.jobs[0].cut && !x.d.jobs[0].ran);
    close_designed(&x);
}

/* Points of short windows end as soon as they are known to 2 %, and with a small window when that has passed (all 20,000 cycles
 * would make 0.7 % of the first; the last, next to saturation, takes them all). */
static void test_lean_points(void)
{
    struct designed x;
    struct fc_calibration_settings set = {.threads = 1, .seed = 1};
    static const uint64_t window_cycles[] = {20000, 400};
    double hops_run[2] = {0};
    for (int i = 0; i < 2; i++) {
        if (!open_designed(
                &x,
                "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\nlinks: {torus: {bandwidth: 8 "
                "GB/s, latency: 1 cycles}, injection: {bandwidth: 16 GB/s}}\n"
                "router: {delay: 2 cycles, vcs: 2, flit: 8 B, buffer: 64 B}\npacket: {max: 64 B}\n",
                60))
            return;
        struct fc_calibration_job *job = &x.d.jobs[0];
        struct fc_calibration_case *k = job->out;
        uint32_t n_jobs = x.d.n_jobs;
        x.d.n_jobs = 1;
        job->window_cycles = window_cycles[i];
        job->hurried = true;
        CU_ASSERT_EQUAL(fc_calibration_run(&x.d, 60, &set, &x.arena, &x.st), FC_OK);
        x.d.n_jobs = n_jobs;
        CU_ASSERT_EQUAL(k->n_points, 5);
        for (int p = 0; p < k->n_points; p++) {
            double half = k->points[p].half_width_cycles / k->points[p].latency_cycles;
            if (p < 4) CU_ASSERT(i == 0 ? half <= 0.02 && half > 0.009 : half > 0.02);
        }
        CU_ASSERT_EQUAL(job->window_cycles, window_cycles[i]);
        hops_run[i] = job->hops_run;
        close_designed(&x);
    }
    CU_ASSERT(hops_run[1] < hops_run[0]);
}

int suite_calibration_design(void)
{
    static const CU_TestInfo tests[] = {
        {"traffic that people name", test_named_traffic},
        {"the machine's own network comes early", test_own_network},
        {"large networks cost more a hop under UGAL", test_ugal_rate},
        {"the budget of runs under UGAL", test_ugal_budget},
        {"the budget where much happens in a zero-load time", test_busy_budget},
        {"points end when they are precise", test_lean_points},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("calibration design", tests);
}
