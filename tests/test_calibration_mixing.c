/* test_calibration_mixing.c - the limit of mixing from times of its own equation, with what is known beforehand in closed form, and
 * where there is none. */
#include "solvers/calibration/calibration_mixing.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>

enum { MIXED = 30 };
/* Jobs of three networks: log T(x) is a_i (1 - x), the kernel is where x is `limit`, but for `noise` of alternating sign. */
static void mixed(struct fc_mixing_case *c, double limit, double noise, bool one_network)
{
    static const char *const names[] = {"a", "b", "c"};
    for (uint32_t i = 0; i < MIXED; i++) {
        double a = 0.1 * (1 + i / 3);
        c[i] = (struct fc_mixing_case){.network = names[one_network ? 0 : i % 3],
                                       .kernel_s = exp(a * (1 - limit) + (i / 3 % 2 ? noise : -noise))};
        for (int k = 0; k < FC_MIXING_LIMITS; k++) c[i].time_s[k] = exp(a * (1 - fc_mixing_limit(k)));
    }
}

static void test_mixing(void)
{
    struct fc_mixing_case c[MIXED];
    struct fc_replays r = {0};
    for (int one = 0; one < 2; one++) {
        mixed(c, 0.55, 0, one);
        fc_mixing_fit(c, MIXED, FC_MIXING_LIMITS, &r);
        /* What is known beforehand counts 0.01 / 0.18^2 (x - 0.8)^2 beside sum a^2 (x - 0.55)^2. */
        double sum = 0.03 * 385, prior = 0.01 / (0.18 * 0.18), at = (0.55 * sum + 0.8 * prior) / (sum + prior);
        CU_ASSERT(fabs(r.mixing - at) < 0.005 && r.mixing_low <= r.mixing && r.mixing_high >= r.mixing);
        for (int i = 0; i < MIXED; i++) CU_ASSERT(c[i].left_out > 0.55 && c[i].left_out < 0.57);
        CU_ASSERT(!fc_mixing_enough(c, MIXED, 5) && fc_mixing_enough(c, MIXED, 7));
        mixed(c, 0.55, 0.02, one);
        fc_mixing_fit(c, MIXED, FC_MIXING_LIMITS, &r);
        /* t(0.975, 29) / sqrt(29) x sqrt((30 x 0.02^2 + 0.01 (0.25 / 0.18)^2) / (0.03 x 385)), but for the steps */
        CU_ASSERT(r.mixing_low < 0.55 && r.mixing_high > 0.55);
        CU_ASSERT(fabs((r.mixing_high - r.mixing_low) / 2 - 0.0198) < 0.005);
        /* A job that is a third off for another reason: by squares it would move the limit by 1 x 0.357 / (0.03 x 385) = 0.031. */
        mixed(c, 0.55, 0, one);
        c[MIXED - 1].kernel_s *= 0.7;
        fc_mixing_fit(c, MIXED, FC_MIXING_LIMITS, &r);
        CU_ASSERT(fabs(r.mixing - at) < 0.01);
        mixed(c, 0.55, 0, one); /* jobs that say nothing, then little */
        for (int i = 0; i < MIXED; i++)
            for (int k = 0; k < FC_MIXING_LIMITS; k++) c[i].time_s[k] = c[i].kernel_s = 1;
        fc_mixing_fit(c, MIXED, FC_MIXING_LIMITS, &r);
        CU_ASSERT(fc_near(r.mixing, 0.8, 1e-12));
        for (int k = 0; k < FC_MIXING_LIMITS; k++) c[0].time_s[k] = exp(0.1 * (1 - fc_mixing_limit(k)));
        fc_mixing_fit(c, MIXED, FC_MIXING_LIMITS, &r); /* one job that asks for 1 */
        CU_ASSERT(fabs(r.mixing - (0.01 + 0.8 * prior) / (0.01 + prior)) < 0.005);
        mixed(c, 1, -0.02, one); /* noise alone */
        fc_mixing_fit(c, MIXED, FC_MIXING_LIMITS, &r);
        CU_ASSERT(r.mixing > 0.98 && r.mixing_high == 1);
        if (!one) { /* one network asks for 0.3, which the two others do not gain by */
            mixed(c, 1, 0, one);
            for (int i = 0; i < MIXED; i += 3) c[i].kernel_s = exp(0.1 * (1 + i / 3) * 0.7);
            fc_mixing_fit(c, MIXED, FC_MIXING_LIMITS, &r);
            CU_ASSERT(r.mixing == 1 && r.mixing_low == 1 && r.mixing_high == 1 && c[0].left_out == 1);
        }
        for (int k = 0; k < 2; k++) { /* beyond what is tried, and as good as at its end */
            mixed(c, k ? 0.1 : 0.22, 0, one);
            fc_mixing_fit(c, MIXED, FC_MIXING_LIMITS, &r);
            CU_ASSERT(r.mixing == 1 && c[0].left_out == 1);
        }
    }
}

int suite_calibration_mixing(void)
{
    static const CU_TestInfo tests[] = {
        {"the limit of mixing, from times of its own equation", test_mixing},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("calibration_mixing", tests);
}
