/* test_calibration_added.c - one more traffic among the cases of a calibration (fc_calibrate_curve). */
#include "solvers/calibration/calibration.h"
#include "solvers/flit/flit.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int suite_calibration_added(void);

#define SMALL                                                                                                          \
    "name: small\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\n"                                              \
    "links: {torus: {bandwidth: 8 GB/s, latency: 1 cycles}}\n"                                                         \
    "router: {delay: 2 cycles, flit: 8 B, vcs: 2, buffer: 128 B, escape: dateline, routing: "                          \
    "dimension-order, flow_control: cut-through}\npacket: {min: 64 B, max: 64 B}\n"

static enum fc_calibration_tier tier_of(const struct fc_network *net, const struct fc_calibration *c,
                                        const char *pattern, double *saturation, struct fc_status *st)
{
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_turns turns;
    struct fc_calibrated *calibrated = NULL;
    struct fc_calibrated_answer a = {.tier = FC_TIER_NONE};
    fc_flit_defaults(&settings);
    if (fc_demand_from_pattern(net, pattern, 1, &demand, st)) return FC_TIER_NONE;
    demand.open_loop = true;
    if (!fc_turns_make(net, &demand, &settings, 0, &turns, st)) {
        if (!fc_calibrated_open(c, &turns, pattern, &settings, &calibrated, st)) {
            fc_calibrated_solve(calibrated, 0.05, &a, st);
            *saturation = fc_calibrated_saturation(calibrated, NULL);
        }
        fc_calibrated_close(calibrated);
        fc_turns_free(&turns);
    }
    fc_demand_free(&demand);
    return a.tier;
}

/* A traffic that no case has: by transfer; then it is run. Once more, longer: in its place, and its saturation is the
 * answer. */
static void test_added(void)
{
    struct fc_machine m;
    struct fc_network net;
    struct fc_calibration c;
    struct fc_status st = {0};
    char path[64];
    double before = NAN, after = NAN;
    const struct fc_calibration_case *added = NULL;
    struct fc_calibration_settings set = {.budget_s = 0.5, .threads = 1, .seed = 1};
    snprintf(path, sizeof path, "/tmp/fabricast-added-%ld.yaml", (long)getpid());
    if (!fc_test_network(SMALL, &m, &net)) return;
    CU_ASSERT_FATAL(!fc_calibrate(&m, &set, &c, &st));
    uint32_t n = c.n_cases;
    CU_ASSERT_EQUAL(tier_of(&net, &c, "permutation:seed=3", &before, &st), FC_TIER_TRANSFER);
    for (int twice = 0; twice < 2; twice++) {
        set.budget_s = twice ? 4 : 1;
        CU_ASSERT_FATAL(!fc_calibrate_curve(&m, &set, "permutation:seed=3", &c, &added, &st));
        CU_ASSERT_EQUAL(c.n_cases, n + 1);
        CU_ASSERT(added >= c.cases && added < c.cases + c.n_cases && !added->fitted && added->n_points >= 5);
        CU_ASSERT_STRING_EQUAL(added->pattern, "permutation:seed=3");
    }
    CU_ASSERT(tier_of(&net, &c, "permutation:seed=3", &after, &st) != FC_TIER_NONE);
    CU_ASSERT_EQUAL(after, added->saturation);
    CU_ASSERT(before != after && fabs(log(before / after)) < 0.5);
    CU_ASSERT(!fc_calibration_write(&c, path, &st));
    fc_calibration_free(&c);
    CU_ASSERT(!fc_calibration_read(path, &c, &st));
    CU_ASSERT_EQUAL(c.n_cases, n + 1);
    remove(path);
    set.budget_s = 1e-3;
    CU_ASSERT(fc_calibrate_curve(&m, &set, "tornado", &c, &added, &st) &&
              fc_says(&st, FC_NO, "the budget does not allow it"));
    CU_ASSERT_EQUAL(c.n_cases, n + 1);
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_calibrate_curve(&m, &set, "no-such-pattern", &c, &added, &st), FC_INPUT);
    fc_calibration_free(&c);
    fc_test_close(&m, &net);
}

/* A phase: with the same name in its place, else one more; the process is fitted with it. */
static void test_phase(void)
{
    struct fc_machine m;
    struct fc_network net;
    struct fc_calibration c;
    struct fc_status st = {0};
    const struct fc_bulk_case *added = NULL;
    struct fc_calibration_settings set = {.budget_s = 0.5, .threads = 1, .seed = 1};
    if (!fc_test_network(SMALL, &m, &net)) return;
    CU_ASSERT_FATAL(!fc_calibrate(&m, &set, &c, &st));
    uint32_t n = c.phases.n_cases;
    double ratio[2] = {0};
    for (int twice = 0; twice < 2; twice++) {
        CU_ASSERT_FATAL(!fc_calibrate_phase(&m, &set, "complement:bytes=5000", &c, &added, &st));
        CU_ASSERT_EQUAL(c.phases.n_cases, n + 1);
        CU_ASSERT(added >= c.phases.cases && added < c.phases.cases + c.phases.n_cases);
        CU_ASSERT_STRING_EQUAL(added->pattern, "complement:bytes=5000");
        CU_ASSERT(added->nodes == 16 && added->ratio > 0.9 && added->ratio < 3 && added->left_network_percent > 0);
        ratio[twice] = added->ratio;
    }
    CU_ASSERT_EQUAL(ratio[0], ratio[1]);
    CU_ASSERT(!fc_calibrate_phase(&m, &set, "complement:bytes=5KiB", &c, &added, &st) && c.phases.n_cases == n + 2);
    CU_ASSERT(fc_calibrate_phase(&m, &set, "uniform", &c, &added, &st) &&
              fc_says(&st, FC_INPUT, "rates, not messages"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_calibrate_phase(&m, &set, "no-such-pattern:bytes=5", &c, &added, &st), FC_INPUT);
    CU_ASSERT_EQUAL(c.phases.n_cases, n + 2);
    fc_calibration_free(&c);
    fc_test_close(&m, &net);
}

int suite_calibration_added(void)
{
    static const CU_TestInfo tests[] = {
        {"one more traffic is added, run and answered", test_added}, {"one more phase", test_phase}, CU_TEST_INFO_NULL};
    return fc_add_suite("calibration, traffic added", tests);
}
