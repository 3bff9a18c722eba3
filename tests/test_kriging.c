/* test_kriging.c - kriging against closed forms of one and two points, left-out points against a process that
 * never had them, interpolation, what is unlike, the search of the shape, refusals. */
#include "solvers/calibration/kriging.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

enum { N = 24 };

static struct fc_kriging_shape plain_shape(void)
{
    struct fc_kriging_shape s = {.kinds = 0.25, .groups = 0.1, .noise = 0.05, .variance = 4};
    for (int f = 0; f < FC_KRIGING_FEATURES; f++) s.length[f] = 1;
    return s;
}

/* Four kinds on six networks; the value depends on kind and the first feature, a little on the network. */
static void make_points(struct fc_kriging_point *p)
{
    static const char *const kind[] = {"a", "b", "c", "d"};
    for (uint32_t i = 0; i < N; i++) {
        double x = 0.3 * (i / 4), own[] = {0.1 * x, 0.2 - 0.1 * x, -0.15, 0.05 * sin(3 * x)};
        p[i] = (struct fc_kriging_point){kind[i % 4], {x, i % 4 < 2}, own[i % 4] + 0.004 * ((i * 7) % 5), i / 4};
    }
}

/* R = 1 + groups + noise; value y / R, variance s^2 (R - 1 / R) at the same place on another network. */
static void test_one_point(void)
{
    struct fc_status st = {0};
    struct fc_kriging_shape s = plain_shape();
    struct fc_kriging_point p = {"a", {2}, 3, 0}, q = {"a", {2}, 0, 1}, far = {"b", {1e3}, 0, 1};
    struct fc_kriging *k;
    double v, sd, all = 1.15, y;
    CU_ASSERT_FATAL(!fc_kriging_make(&p, 1, &s, &k, &st));
    fc_kriging_at(k, &q, &v, &sd);
    CU_ASSERT_DOUBLE_EQUAL(v, 3 / all, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(sd, sqrt(4 * (all - 1 / all)), 1e-12);
    q.group = 0; /* the same network: its own part is known too */
    fc_kriging_at(k, &q, &v, &sd);
    CU_ASSERT_DOUBLE_EQUAL(v, 3 * 1.1 / all, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(sd, sqrt(4 * (all - 1.1 * 1.1 / all)), 1e-12);
    q = (struct fc_kriging_point){"b", {2 + 0.7}, 0, FC_KRIGING_NO_GROUP};
    fc_kriging_at(k, &q, &v, &sd);
    double r = sqrt(5) * 0.7, with = 0.25 * (1 + r + r * r / 3) * exp(-r);
    CU_ASSERT_DOUBLE_EQUAL(v, 3 * with / all, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(sd, sqrt(4 * (all - with * with / all)), 1e-12);
    fc_kriging_at(k, &far, &v, &sd); /* unlike all that was measured */
    CU_ASSERT_DOUBLE_EQUAL(v, 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(sd, sqrt(4 * all), 1e-12);
    CU_ASSERT(!fc_kriging_leave_out(k, FC_KRIGING_GROUP, &y, &sd, &st)); /* nothing is left */
    CU_ASSERT_DOUBLE_EQUAL(y, 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(sd, sqrt(4 * all), 1e-12);
    fc_kriging_close(k);
}

/* R = [[a, b], [b, a]]: value k' R^-1 y with the inverse of a 2 x 2 matrix written out. */
static void test_two_points(void)
{
    struct fc_status st = {0};
    struct fc_kriging_shape s = plain_shape();
    struct fc_kriging_point p[2] = {{"a", {0}, 1, 0}, {"b", {1}, -2, 0}}, q = {"b", {0.5}, 0, 7};
    struct fc_kriging *k;
    double v, sd, a = 1.15, r = sqrt(5), b = 0.25 * (1 + r + r * r / 3) * exp(-r) + 0.1;
    CU_ASSERT_FATAL(!fc_kriging_make(p, 2, &s, &k, &st));
    fc_kriging_at(k, &q, &v, &sd);
    double h = sqrt(5) / 2, m = (1 + h + h * h / 3) * exp(-h), det = a * a - b * b, k0 = 0.25 * m, k1 = m;
    CU_ASSERT_DOUBLE_EQUAL(v, (k0 * (a * 1 - b * -2) + k1 * (a * -2 - b * 1)) / det, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(sd, sqrt(4 * (a - (a * k0 * k0 - 2 * b * k0 * k1 + a * k1 * k1) / det)), 1e-12);
    fc_kriging_close(k);
}

static void test_interpolates(void)
{
    struct fc_status st = {0};
    struct fc_kriging_shape s = plain_shape();
    struct fc_kriging_point p[N];
    struct fc_kriging *k;
    make_points(p);
    s.noise = 1e-9;
    CU_ASSERT_FATAL(!fc_kriging_make(p, N, &s, &k, &st));
    for (int i = 0; i < N; i++) {
        double v, sd;
        fc_kriging_at(k, &p[i], &v, &sd);
        CU_ASSERT_DOUBLE_EQUAL(v, p[i].value, 1e-6);
        CU_ASSERT(sd < 1e-3);
    }
    fc_kriging_close(k);
}

/* Against a process of the other points only. */
static void test_left_out(void)
{
    struct fc_status st = {0};
    struct fc_kriging_shape s = plain_shape();
    struct fc_kriging_point p[N], rest[N];
    struct fc_kriging *k, *without;
    double value[N], sd[N];
    make_points(p);
    CU_ASSERT_FATAL(!fc_kriging_make(p, N, &s, &k, &st));
    for (int what = 0; what < 3; what++) {
        CU_ASSERT(!fc_kriging_leave_out(k, (enum fc_kriging_left_out)what, value, sd, &st));
        for (int i = 0; i < N; i++) {
            uint32_t n = 0;
            double v, d;
            for (int j = 0; j < N; j++)
                if (what == FC_KRIGING_GROUP  ? p[j].group != p[i].group
                    : what == FC_KRIGING_KIND ? strcmp(p[j].kind, p[i].kind) != 0
                                              : j != i)
                    rest[n++] = p[j];
            CU_ASSERT_FATAL(!fc_kriging_make(rest, n, &s, &without, &st));
            fc_kriging_at(without, &p[i], &v, &d);
            CU_ASSERT_DOUBLE_EQUAL(v, value[i], 1e-9);
            CU_ASSERT_DOUBLE_EQUAL(d, sd[i], 1e-9);
            for (uint32_t j = 0; what == FC_KRIGING_POINT && j < N; j++) { /* what the others miss at another */
                if (j == (uint32_t)i) continue;
                fc_kriging_at(without, &p[j], &v, &d);
                CU_ASSERT_DOUBLE_EQUAL(p[j].value - v, fc_kriging_residual(k, j, (uint32_t)i), 1e-9);
            }
            fc_kriging_close(without);
        }
    }
    fc_kriging_close(k);
}

/* What depends on the kind is found again on a network that was not there; an unknown kind gets nothing of
 * it. */
static void test_fit(void)
{
    struct fc_status st = {0};
    struct fc_kriging_point p[N], q;
    struct fc_kriging *k, *again;
    make_points(p);
    CU_ASSERT_FATAL(!fc_kriging_fit(p, N - 4, &k, &st));
    CU_ASSERT_FATAL(!fc_kriging_fit(p, N - 4, &again, &st));
    CU_ASSERT(!memcmp(fc_kriging_shape_of(k), fc_kriging_shape_of(again), sizeof(struct fc_kriging_shape)));
    double sd_known = 0;
    for (int i = N - 4; i < N; i++) {
        double v, sd;
        fc_kriging_at(k, &p[i], &v, &sd);
        CU_ASSERT_DOUBLE_EQUAL(v, p[i].value, 0.025);
        CU_ASSERT(fabs(v - p[i].value) < 4 * sd && sd < 0.05);
        sd_known = sd;
    }
    q = p[N - 3];
    q.kind = "unknown";
    double v, sd;
    fc_kriging_at(k, &q, &v, &sd);
    CU_ASSERT(fabs(v) < 0.1 && sd > 3 * sd_known);
    fc_kriging_close(k);
    fc_kriging_close(again);
    for (int i = 0; i < N; i++) p[i].value = 0, p[i].group = 3; /* nothing to correct; one network */
    CU_ASSERT_FATAL(!fc_kriging_fit(p, N, &k, &st));
    fc_kriging_at(k, &q, &v, &sd);
    CU_ASSERT(v == 0 && sd < 1e-4);
    fc_kriging_close(k);
}

static void test_refused(void)
{
    struct fc_status st = {0};
    struct fc_kriging_shape s = plain_shape();
    struct fc_kriging_point p = {"a", {0}, 1, 0};
    struct fc_kriging *k;
    CU_ASSERT(fc_kriging_fit(&p, 0, &k, &st) == FC_INPUT && fc_says(&st, FC_INPUT, "from 0 points") && !k);
    memset(&st, 0, sizeof st);
    p.x[2] = NAN;
    CU_ASSERT(fc_kriging_fit(&p, 1, &k, &st) == FC_INPUT && fc_says(&st, FC_INPUT, "point 0"));
    memset(&st, 0, sizeof st);
    p.x[2] = 0;
    p.value = INFINITY;
    CU_ASSERT(fc_kriging_fit(&p, 1, &k, &st) == FC_INPUT);
    p.value = 1;
    double *const wrong[] = {&s.kinds, &s.groups, &s.noise, &s.variance, &s.length[1]};
    static const double value[] = {1.5, -1, 0, NAN, 0};
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        memset(&st, 0, sizeof st);
        s = plain_shape();
        *wrong[i] = value[i];
        CU_ASSERT(fc_kriging_make(&p, 1, &s, &k, &st) == FC_INPUT && fc_says(&st, FC_INPUT, "shape"));
    }
}

int suite_kriging(void)
{
    static const CU_TestInfo tests[] = {
        {"one point in closed form", test_one_point},
        {"two points in closed form", test_two_points},
        {"without noise it goes through its points", test_interpolates},
        {"points left out: as if never there", test_left_out},
        {"the shape is found; an unknown kind gets nothing", test_fit},
        {"what is refused", test_refused},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("kriging", tests);
}
