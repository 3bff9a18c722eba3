/* test_flit_means.c - MSER-5 and batch means with births as a control variate, on data with known answers. */
#include "solvers/flit/run.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>

static double noise(uint64_t trial, uint64_t what, uint64_t i) /* sum of 12: variance 1 */
{
    double u = -6;
    for (uint64_t k = 0; k < 12; k++) u += fc_random_real(trial * 8 + what, i, k);
    return u;
}

/* z(d) worked out by hand for 9 9 1 1 1 1: 0 once both nines are gone. */
static void cuts(void)
{
    CU_ASSERT_EQUAL(fc_flit_mser5_cut((const double[]){9, 9, 1, 1, 1, 1}, 6), 2);
    CU_ASSERT_EQUAL(fc_flit_mser5_cut((const double[]){5, 5, 5, 5}, 4), 0);
    CU_ASSERT_EQUAL(fc_flit_mser5_cut((const double[]){7}, 1), 0);
    CU_ASSERT_EQUAL(fc_flit_mser5_cut(NULL, 0), 0);
    /* 1 2 3 4: z = 5/16, 2/9, 1/8 for d = 0, 1, 2: a trend is cut to its end. */
    CU_ASSERT_EQUAL(fc_flit_mser5_cut((const double[]){1, 2, 3, 4}, 4), 2);
    int late = 0, far = 0;
    for (uint64_t trial = 0; trial < 200; trial++) {
        double settled[32], rising[32];
        for (uint64_t i = 0; i < 32; i++) {
            settled[i] = 100 + noise(trial, 0, i) - (i < 4 ? 50 : 0); /* a transient of 4 groups */
            rising[i] = 100 + noise(trial, 1, i) + 4 * (double)i;
        }
        int cut = fc_flit_mser5_cut(settled, 32);
        CU_ASSERT(cut >= 4);
        late += cut > 16;
        far += fc_flit_mser5_cut(rising, 32) > 16;
    }
    CU_ASSERT(late < 70); /* noise alone is cut late now and then */
    CU_ASSERT(far == 200);
}

/* Births that explain everything leave no error, and the mean is that at the expected births. */
static void control_is_exact(void)
{
    double sum[32], weight[32], births[32];
    for (int i = 0; i < 32; i++) {
        births[i] = 90 + i % 4;
        weight[i] = 1;
        sum[i] = 7 + 0.5 * births[i];
    }
    struct fc_flit_mean m = fc_flit_controlled_mean(&(struct fc_flit_series){sum, weight, births, 32, 100}, 16);
    CU_ASSERT(fc_near(m.mean, 57, 1e-9));
    CU_ASSERT(m.half_width < 1e-6);
    m = fc_flit_controlled_mean(&(struct fc_flit_series){sum, weight, births, 3, 100}, 16);
    CU_ASSERT(isnan(m.half_width));
    for (int i = 0; i < 32; i++) weight[i] = 0;
    m = fc_flit_controlled_mean(&(struct fc_flit_series){sum, weight, births, 32, 100}, 16);
    CU_ASSERT(isnan(m.mean) && isnan(m.half_width));
}

/* Without a control, by hand: 4 batches 1 3 1 3, t(2) = 4.302653, sqrt(4 / 2 / 4); neighbours correlate by less than 0. */
static void plain_batches(void)
{
    static const double sum[] = {1, 3, 1, 3}, one[] = {1, 1, 1, 1};
    struct fc_flit_mean m = fc_flit_controlled_mean(&(struct fc_flit_series){sum, one, one, 4, 1}, 16);
    CU_ASSERT_EQUAL(m.mean, 2);
    CU_ASSERT_EQUAL(m.batches, 4);
    CU_ASSERT(fc_near(m.half_width, 4.302652730 * sqrt(0.5), 1e-8));
}

/* Sums that follow births with a slope and errors that last over batches: 95 % intervals hold in about 95 %, and are
 * narrower than those that do not know of the births. */
static void intervals_hold(void)
{
    enum { TRIALS = 400 };
    for (int kind = 0; kind < 2; kind++) {
        int held = 0;
        double width = 0, plain = 0;
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            double sum[64], births[64], one[64], state = 0;
            for (uint64_t i = 0; i < 64; i++) {
                births[i] = 100 + 10 * noise(trial, 2, i);
                one[i] = 1;
                state = (kind ? 0.5 * state : 0) + noise(trial, 3, i);
                sum[i] = 1000 + 0.2 * (births[i] - 100) + state;
            }
            struct fc_flit_mean m = fc_flit_controlled_mean(&(struct fc_flit_series){sum, one, births, 64, 100}, 16);
            held += fabs(m.mean - 1000) <= m.half_width;
            width += m.half_width;
            plain += fc_flit_controlled_mean(&(struct fc_flit_series){sum, one, one, 64, 1}, 16).half_width;
            CU_ASSERT(m.batches >= 8 && m.batches < 32);
        }
        CU_ASSERT(held >= 0.9 * TRIALS && held <= 0.99 * TRIALS);
        CU_ASSERT(width < (kind ? 0.85 : 0.6) * plain);
    }
}

int suite_flit_means(void)
{
    static const CU_TestInfo tests[] = {
        {"cuts", cuts},
        {"control is exact", control_is_exact},
        {"plain batches", plain_batches},
        {"intervals hold", intervals_hold},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit_means", tests);
}
