/* test_maxmin.c - max-min fair rates: textbook examples, the bottleneck property on random instances,
 * refusals. */
#include "tests/maxmin.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>

static void one_link(void)
{
    enum { N = 7 };
    struct fc_status st = {0};
    double capacity = 21, weight[N], rate[N];
    uint64_t first[N + 1];
    uint32_t link[N] = {0}, bottleneck[N];
    for (int i = 0; i <= N; i++) first[i] = (uint64_t)i;
    for (int i = 0; i < N; i++) weight[i] = 1;
    CU_ASSERT_EQUAL(fc_maxmin(1, &capacity, N, first, link, weight, rate, bottleneck, &st), FC_OK);
    for (int i = 0; i < N; i++) CU_ASSERT(rate[i] == 3 && bottleneck[i] == 0);
    weight[0] = 15; /* rises as fast as the others but takes 15 parts of the link */
    CU_ASSERT_EQUAL(fc_maxmin(1, &capacity, N, first, link, weight, rate, NULL, &st), FC_OK);
    for (int i = 0; i < N; i++) CU_ASSERT_EQUAL(rate[i], 1);
}

/* Bertsekas & Gallager, Data Networks, section 6.5.2: five sessions, unit links; sessions 2, 3, 5 share
 * one link and get 1/3, session 1 shares a link with session 3 and gets 2/3, session 4 is alone and gets
 * 1. */
static void five_sessions(void)
{
    struct fc_status st = {0};
    double capacity[3] = {1, 1, 1}, weight[] = {1, 1, 1, 1, 1, 1}, rate[5];
    uint64_t first[6] = {0, 1, 2, 4, 5, 6};
    uint32_t link[] = {1, /**/ 0, /**/ 0, 1, /**/ 2, /**/ 0}, bottleneck[5];
    CU_ASSERT_EQUAL(fc_maxmin(3, capacity, 5, first, link, weight, rate, bottleneck, &st), FC_OK);
    CU_ASSERT_DOUBLE_EQUAL(rate[0], 2.0 / 3, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(rate[1], 1.0 / 3, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(rate[2], 1.0 / 3, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(rate[3], 1, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(rate[4], 1.0 / 3, 1e-15);
    CU_ASSERT(bottleneck[0] == 1 && bottleneck[1] == 0 && bottleneck[2] == 0 && bottleneck[3] == 2);
}

/* Parking lot: one long flow over n links, one short flow on each. Link i has capacity 2 (i + 1): the long
 * flow is frozen at 1 by link 0, short flow i gets 2 (i + 1) - 1. */
static void parking_lot(void)
{
    enum { N = 50 };
    struct fc_status st = {0};
    double capacity[N], weight[2 * N], rate[N + 1];
    uint64_t first[N + 2] = {0, N};
    uint32_t link[2 * N], bottleneck[N + 1];
    for (uint32_t i = 0; i < N; i++) {
        capacity[i] = 2.0 * (i + 1);
        link[i] = N - 1 - i;
        link[N + i] = i;
        weight[i] = weight[N + i] = 1;
        first[i + 2] = N + i + 1;
    }
    CU_ASSERT_EQUAL(fc_maxmin(N, capacity, N + 1, first, link, weight, rate, bottleneck, &st), FC_OK);
    CU_ASSERT(rate[0] == 1 && bottleneck[0] == 0);
    for (uint32_t i = 0; i < N; i++) CU_ASSERT(rate[i + 1] == 2.0 * (i + 1) - 1 && bottleneck[i + 1] == i);
}

static void unlimited(void)
{
    struct fc_status st = {0};
    double capacity[3] = {INFINITY, 10, 0}, weight[] = {1, 1, 0.5, 1, 0}, rate[3];
    uint64_t first[4] = {0, 1, 3, 5};
    uint32_t link[] = {0, /**/ 0, 1, /**/ 0, 2}, bottleneck[3]; /* an entry of weight 0 asks nothing of its link */
    CU_ASSERT_EQUAL(fc_maxmin(3, capacity, 3, first, link, weight, rate, bottleneck, &st), FC_OK);
    CU_ASSERT(isinf(rate[0]) && bottleneck[0] == FC_NONE);
    CU_ASSERT(rate[1] == 20 && bottleneck[1] == 1);
    CU_ASSERT(isinf(rate[2]) && bottleneck[2] == FC_NONE);
    CU_ASSERT_EQUAL(fc_maxmin(0, NULL, 0, (uint64_t[]){0}, NULL, NULL, rate, NULL, &st), FC_OK);
}

/* A flow of great weight freezes first; what is left of the link's weights is then below their rounding. */
static void weights_far_apart(void)
{
    struct fc_status st = {0};
    double capacity[2] = {1e-12, 9}, weight[] = {1, 1e12, 1e-6}, rate[2];
    uint64_t first[3] = {0, 2, 3};
    uint32_t link[] = {0, 1, /**/ 1}, bottleneck[2];
    CU_ASSERT_EQUAL(fc_maxmin(2, capacity, 2, first, link, weight, rate, bottleneck, &st), FC_OK);
    CU_ASSERT(rate[0] == 1e-12 && bottleneck[0] == 0 && bottleneck[1] == 1);
    CU_ASSERT_DOUBLE_EQUAL(rate[1], 8e6, 1e-6);
}

/* ---- the property that defines the solution ---- */

enum { LINKS = 40, FLOWS = 120, MOST = 9 };
struct instance {
    double capacity[LINKS], weight[FLOWS * MOST], rate[FLOWS];
    uint64_t first[FLOWS + 1];
    uint32_t link[FLOWS * MOST], bottleneck[FLOWS];
};

/* Weights over six orders of magnitude, links that appear twice in a flow, links of infinite capacity. */
static void draw(struct instance *in, uint64_t seed)
{
    uint64_t at = 0, index = 0;
    for (int l = 0; l < LINKS; l++)
        in->capacity[l] = fc_random_below(seed, 1, (uint64_t)l, 12) == 0
                              ? (double)INFINITY
                              : exp(6 * fc_random_real(seed, 2, (uint64_t)l));
    for (int f = 0; f < FLOWS; f++) {
        uint64_t n = 1 + fc_random_below(seed, 3, (uint64_t)f, MOST);
        in->first[f] = at;
        for (uint64_t i = 0; i < n; i++, at++) {
            in->link[at] = (uint32_t)fc_random_below(seed, 4, index++, LINKS);
            in->weight[at] = seed % 2 ? 1 : exp(14 * fc_random_real(seed, 5, index++) - 7);
        }
    }
    in->first[FLOWS] = at;
}

static double used(const struct instance *in, uint32_t link)
{
    double sum = 0;
    for (int f = 0; f < FLOWS; f++)
        for (uint64_t i = in->first[f]; i < in->first[f + 1]; i++)
            if (in->link[i] == link) sum += in->weight[i] * in->rate[f];
    return sum;
}

static double greatest_rate(const struct instance *in, uint32_t link)
{
    double most = 0;
    for (int f = 0; f < FLOWS; f++)
        for (uint64_t i = in->first[f]; i < in->first[f + 1]; i++)
            if (in->link[i] == link) most = fmax(most, in->rate[f]);
    return most;
}

static void bottleneck_property(void)
{
    static struct instance in;
    int wrong = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct fc_status st = {0};
        draw(&in, seed);
        CU_ASSERT_EQUAL_FATAL(
            fc_maxmin(LINKS, in.capacity, FLOWS, in.first, in.link, in.weight, in.rate, in.bottleneck, &st), FC_OK);
        for (uint32_t l = 0; l < LINKS; l++)
            if (isfinite(in.capacity[l])) wrong += used(&in, l) > in.capacity[l] * (1 + 1e-9);
        for (int f = 0; f < FLOWS; f++) {
            uint32_t b = in.bottleneck[f];
            if (b == FC_NONE) {
                wrong += isfinite(in.rate[f]);
                continue;
            }
            wrong += !(in.rate[f] > 0);
            wrong += fabs(used(&in, b) - in.capacity[b]) > 1e-9 * in.capacity[b];
            wrong += in.rate[f] < greatest_rate(&in, b) * (1 - 1e-12);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* ---- refusals ---- */

static struct fc_status refused(double capacity, uint32_t link, double weight)
{
    struct fc_status st = {0};
    double rate;
    fc_maxmin(1, &capacity, 1, (uint64_t[]){0, 1}, &link, &weight, &rate, NULL, &st);
    return st;
}

static void refusals(void)
{
    struct fc_status full = refused(0, 0, 1), negative = refused(-3, 0, 1), unknown = refused(NAN, 0, 1);
    struct fc_status outside = refused(1, 1, 1), weight = refused(1, 0, -0.5), no_weight = refused(1, 0, NAN);
    CU_ASSERT(fc_says(&full, FC_NO, "link 0 has no capacity left (0 bytes/s)"));
    CU_ASSERT(fc_says(&negative, FC_NO, "no capacity left (-3 bytes/s)"));
    CU_ASSERT(fc_says(&unknown, FC_INPUT, "link 0 has no capacity given"));
    CU_ASSERT(fc_says(&outside, FC_INPUT, "crosses link 1 (there are 1 links)"));
    CU_ASSERT(fc_says(&weight, FC_INPUT, "weight -0.5 (expected 0 or more)"));
    CU_ASSERT(fc_says(&no_weight, FC_INPUT, "expected 0 or more"));
}

int suite_maxmin(void)
{
    static const CU_TestInfo tests[] = {
        {"n flows on one link", one_link},
        {"five sessions (Bertsekas & Gallager)", five_sessions},
        {"parking lot", parking_lot},
        {"infinite capacity, weight 0, no flows", unlimited},
        {"weights far apart", weights_far_apart},
        {"every flow has a bottleneck", bottleneck_property},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("maxmin", tests);
}
