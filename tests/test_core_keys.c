/* test_core_keys.c - keys and random: right values, and one case per refusal. */
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct fc_place here = {"m.yaml", 7};

/* ---- keys ---- */

struct settings {
    long long vcs, bytes;
    double latency_s, load;
    const char *name;
    bool deep;
    int routing;
    struct fc_ints dims;
    struct fc_reals sizes, rates;
};

static const char *const routings[] = {"dimension-order", "adaptive", "valiant", NULL};
#define AT(field) offsetof(struct settings, field)
static const struct fc_key keys[] = {
    {.name = "vcs", .kind = FC_KEY_INT, .offset = AT(vcs), .low = 1, .high = 16, .preset = "2"},
    {.name = "bytes", .kind = FC_KEY_INT, .unit = FC_BYTES, .offset = AT(bytes)},
    {.name = "latency",
     .kind = FC_KEY_QUANTITY,
     .unit = FC_SECONDS,
     .offset = AT(latency_s),
     .low = 1e-9,
     .high = 1,
     .preset = "12 ns"},
    {.name = "load", .kind = FC_KEY_QUANTITY, .offset = AT(load), .low = 0.25, .high = INFINITY},
    {.name = "part", .kind = FC_KEY_SHARE, .offset = AT(load), .low = 0, .high = 2},
    {.name = "name", .kind = FC_KEY_TEXT, .offset = AT(name), .preset = "bgl"},
    {.name = "deep", .kind = FC_KEY_BOOL, .offset = AT(deep), .preset = "yes"},
    {.name = "routing", .kind = FC_KEY_CHOICE, .offset = AT(routing), .choices = routings, .preset = "adaptive"},
    {.name = "dims", .kind = FC_KEY_INTS, .offset = AT(dims), .low = 1, .high = 1000, .preset = "4x4x4"},
    {.name = "sizes", .kind = FC_KEY_QUANTITIES, .unit = FC_BYTES, .offset = AT(sizes)},
    {.name = "rates", .kind = FC_KEY_QUANTITIES, .unit = FC_BYTES_PER_S, .offset = AT(rates)},
};

static enum fc_code set(struct settings *s, const char *name, const char *text, double clock_hz, struct fc_status *st)
{
    return fc_key_set(fc_key_find(keys, FC_COUNT(keys), name), s, text, clock_hz, NULL, here, st);
}

static void keys_preset(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0}, fault = {0};
    struct settings s = {.load = 0.5};
    CU_ASSERT_EQUAL(fc_keys_preset(keys, FC_COUNT(keys), &s, &arena, &st), FC_OK);
    CU_ASSERT_EQUAL(s.vcs, 2);
    CU_ASSERT(s.latency_s == 12e-9 && s.load == 0.5 && s.deep);
    CU_ASSERT_STRING_EQUAL(s.name, "bgl");
    CU_ASSERT_EQUAL(s.routing, 1);
    CU_ASSERT(s.dims.n == 3 && s.dims.v[2] == 4);
    const struct fc_key wrong = {.name = "vcs", .kind = FC_KEY_INT, .offset = AT(vcs), .preset = "two"};
    CU_ASSERT_EQUAL(fc_keys_preset(&wrong, 1, &s, &arena, &fault), FC_FAULT);
    CU_ASSERT(fc_says(&fault, FC_FAULT, "preset of vcs: 'two' is not an integer"));
    fc_arena_free(&arena);
}

static void keys_set(void)
{
    struct settings s = {0};
    struct fc_status st = {0};
    CU_ASSERT(!set(&s, "vcs", " 16 ", 0, &st) && s.vcs == 16);
    CU_ASSERT(!set(&s, "vcs", "1e1", 0, &st) && s.vcs == 10);
    CU_ASSERT(!set(&s, "bytes", "1 KiB", 0, &st) && s.bytes == 1024);
    CU_ASSERT(!set(&s, "bytes", "9000000000000000000", 0, &st) && s.bytes == 9000000000000000000LL);
    CU_ASSERT(!set(&s, "latency", "3 cycles", 1e6, &st) && s.latency_s == 3e-6);
    CU_ASSERT(!set(&s, "part", "30%", 0, &st) && s.load == 0.3);
    CU_ASSERT(!set(&s, "part", "1.5", 0, &st) && s.load == 1.5);
    CU_ASSERT(!set(&s, "deep", "no", 0, &st) && !s.deep);
    CU_ASSERT(!set(&s, "deep", "True", 0, &st) && s.deep);
    CU_ASSERT(!set(&s, "routing", "valiant", 0, &st) && s.routing == 2);
    CU_ASSERT(!set(&s, "dims", "[8, 4,2]", 0, &st) && s.dims.n == 3 && s.dims.v[0] == 8 && s.dims.v[2] == 2);
    CU_ASSERT(!set(&s, "dims", "5,6", 0, &st) && s.dims.n == 2 && s.dims.v[1] == 6);
    CU_ASSERT(!set(&s, "dims", "7", 0, &st) && s.dims.n == 1 && s.dims.v[0] == 7);
    CU_ASSERT(!set(&s, "sizes", "1MiB/1MiB/512KiB", 0, &st) && s.sizes.n == 3 && s.sizes.v[2] == 524288);
    CU_ASSERT(!set(&s, "rates", "[1 MB/s, 8 b/s]", 0, &st) && s.rates.n == 2 && s.rates.v[1] == 1);
    CU_ASSERT_EQUAL(st.code, FC_OK);
}

static void keys_refuse(void)
{
    static const struct {
        const char *name, *text;
        double clock_hz;
        const char *message;
    } cases[] = {
        {"vcs", "0", 0, "m.yaml:7: vcs: '0' is out of range (allowed: 1 to 16)"},
        {"vcs", "17", 0, "vcs: '17' is out of range"},
        {"vcs", "two", 0, "vcs: 'two' is not an integer"},
        {"vcs", "", 0, "vcs: '' is not an integer"},
        {"vcs", "1.5", 0, "vcs: '1.5' is not a whole number"},
        {"vcs", "3 B", 0, "vcs: '3 B' is not an integer"},
        {"vcs", "9223372036854775808", 0, "vcs: '9223372036854775808' is too large (allowed: up to 9e18)"},
        {"vcs", "-9223372036854775809", 0, "is too large"},
        {"vcs", "9000000000000000001", 0, "is too large"},
        {"vcs", "1e19", 0, "vcs: '1e19' is too large"},
        {"vcs", "1e999", 0, "vcs: '1e999' is too large"},
        {"bytes", "8192 PiB", 0, "bytes: '8192 PiB' is too large"},
        {"bytes", "2.5 B", 0, "bytes: '2.5 B' is not a whole number"},
        {"bytes", "2 s", 0, "bytes: '2 s' is not a quantity (expected bytes"},
        {"latency", "2 s", 0, "latency: '2 s' is out of range (allowed: 1 ns to 1 s)"},
        {"latency", "175 MX/s", 0, "latency: '175 MX/s' is not a quantity (expected a time"},
        {"latency", "12", 1e9, "latency: '12' is ambiguous (write 12 cycles or 12 ns)"},
        {"load", "0.1", 0, "load: '0.1' is out of range (allowed: at least 0.25)"},
        {"part", "some", 0, "part: 'some' is no share (expected 0.3 or 30%)"},
        {"part", "30 %x", 0, "is no share"},
        {"part", "300%", 0, "part: '300%' is out of range (allowed: 0 to 2)"},
        {"name", "x", 0, "name: a text needs an arena"},
        {"deep", "maybe", 0, "deep: 'maybe' is neither true nor false"},
        {"routing", "adaptve", 0,
         "routing: 'adaptve' is not known (did you mean 'adaptive'? allowed: dimension-order, "
         "adaptive, valiant)"},
        {"routing", "zzzzzz", 0, "routing: 'zzzzzz' is not known (allowed: dimension-order"},
        {"dims", "4,,4", 0, "dims: '4,,4' has an empty entry"},
        {"dims", "4x4x", 0, "dims: '4x4x' has an empty entry"},
        {"dims", "[]", 0, "dims: '[]' has an empty entry"},
        {"dims", "", 0, "dims: '' has an empty entry"},
        {"dims", "[4,4", 0, "dims: '[4,4' lacks a bracket"},
        {"dims", "4,4]", 0, "dims: '4,4]' lacks a bracket"},
        {"dims", "4,4x4", 0, "dims: '4x4' is not an integer"},
        {"dims", "4,1001", 0, "dims: '1001' is out of range (allowed: 1 to 1000)"},
        {"dims", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", 0, "has too many entries (at most 16)"},
        {"sizes", "1 MiB/2 s", 0, "sizes: '2 s' is not a quantity"},
        {"rates", "1 MB/s/1 MB/s", 0, "rates: '1 MB/s/1 MB/s' is not a quantity"},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct settings s, before;
        struct fc_status st = {0};
        memset(&s, 0x5a, sizeof s);
        before = s;
        enum fc_code code = strcmp(cases[i].name, "name") == 0 ? FC_FAULT : FC_INPUT;
        CU_ASSERT_EQUAL(set(&s, cases[i].name, cases[i].text, cases[i].clock_hz, &st), code);
        CU_ASSERT(fc_says(&st, code, cases[i].message));
        CU_ASSERT(memcmp(&s, &before, sizeof s) == 0); /* nothing half done */
    }
    char tall[2000];
    struct settings s = {0};
    struct fc_status st = {0};
    memset(tall, '1', sizeof tall - 1);
    tall[sizeof tall - 1] = '\0';
    CU_ASSERT_EQUAL(set(&s, "dims", tall, 0, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "is too long for a list"));
}

static enum fc_code parse(struct settings *s, const char *text, struct fc_arena *arena, struct fc_status *st)
{
    return fc_keys_parse(keys, FC_COUNT(keys), s, text, 0, arena, here, st);
}

static void keys_parse(void)
{
    struct settings s = {0};
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(parse(&s, "vcs=3, dims=[2,3],sizes=1MiB/2MiB,latency = 5 ns,name=a b", &arena, &st), FC_OK);
    CU_ASSERT(s.vcs == 3 && s.dims.n == 2 && s.dims.v[1] == 3 && s.sizes.n == 2 && s.latency_s == 5e-9);
    CU_ASSERT_STRING_EQUAL(s.name, "a b");
    CU_ASSERT_EQUAL(parse(&s, " vcs=4", &arena, &st), FC_OK);
    CU_ASSERT_EQUAL(s.vcs, 4);
    CU_ASSERT_EQUAL(parse(&s, " ", &arena, &st), FC_OK);
    CU_ASSERT_EQUAL(parse(&s, NULL, &arena, &st), FC_OK);
    static const char *const wrong[][2] = {
        {"vcs", "'vcs' is not name=value"},
        {"vcs=3,", "'' is not name=value"},
        {"vcs=3,vcs=4", "vcs: given twice"},
        {"vcs=0", "vcs: '0' is out of range"},
        {"dims=4,4", "'4' is not name=value"},
        {"vc=3", "unknown key 'vc' (did you mean 'vcs'? known: vcs, bytes, lat"},
        {"zzzzzzz=3",
         "unknown key 'zzzzzzz' (known: vcs, bytes, latency, load, part, name, deep, routing, dims, sizes, rates)"},
    };
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct fc_status refusal = {0};
        CU_ASSERT_EQUAL(parse(&s, wrong[i][0], &arena, &refusal), FC_INPUT);
        CU_ASSERT(fc_says(&refusal, FC_INPUT, wrong[i][1]));
    }
    fc_arena_free(&arena);
    CU_ASSERT_PTR_NULL(fc_key_find(keys, FC_COUNT(keys), "VCS"));
}

static void keys_nearest(void)
{
    static const char *const names[] = {"bandwidth",
                                        "latency",
                                        "dims",
                                        "vcs",
                                        "deadlock-avoidance",
                                        "a-name-longer-than-any-key-of-any-table-that-anybody-would-write-down"};
    static const char *const cases[][2] = {
        {"bandwith", "bandwidth"},
        {"badnwidth", "bandwidth"},
        {"LATENCY", "latency"},
        {"dmis", "dims"},
        {"altecny", "latency"}, /* two swaps, four replacements */
        {"vc", "vcs"},
        {"deadlok-avoydence", "deadlock-avoidance"},
        {"throughput", NULL},
        {"xy", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        const char *near = fc_nearest(cases[i][0], names, FC_COUNT(names));
        CU_ASSERT_STRING_EQUAL(near ? near : "none", cases[i][1] ? cases[i][1] : "none");
    }
    CU_ASSERT_PTR_NULL(fc_nearest(names[5] + 1, names, FC_COUNT(names))); /* beyond what is compared */
    char tall[80] = {0}; /* near to a name that is compared, but itself too long for it */
    memset(tall, 'a', 70);
    CU_ASSERT_PTR_NULL(fc_nearest(tall, (const char *const[]){tall + 10}, 1));
}

/* ---- random ---- */

/* Known answers of Random123 1.09, kat_vectors, philox4x32 with 10 rounds: the first two of the four words.
 */
static void random_known_answers(void)
{
    CU_ASSERT_EQUAL(fc_random(0, 0, 0), UINT64_C(0xe169c58d6627e8d5));
    CU_ASSERT_EQUAL(fc_random(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_C(0x41c83b0e408f276d));
    CU_ASSERT_EQUAL(fc_random(UINT64_C(0x299f31d0a4093822), UINT64_C(0x85a308d3243f6a88), UINT64_C(0x0370734413198a2e)),
                    UINT64_C(0x94fdccebd16cfe09));
}

static void random_reals(void)
{
    enum { N = 100000 };
    double sum = 0, squares = 0, lag = 0, before = 0.5;
    for (uint64_t i = 0; i < N; i++) {
        double x = fc_random_real(42, 7, i);
        CU_ASSERT(x >= 0 && x < 1);
        sum += x;
        squares += (x - 0.5) * (x - 0.5);
        lag += (x - 0.5) * (before - 0.5);
        before = x;
    }
    CU_ASSERT_DOUBLE_EQUAL(sum / N, 0.5, 0.004); /* 4 sigma: 4 * sqrt(1/12/N) */
    CU_ASSERT_DOUBLE_EQUAL(squares / N, 1. / 12, 0.001);
    CU_ASSERT_DOUBLE_EQUAL(lag / N, 0, 0.0011); /* neighbours are independent: 4 * (1/12) / sqrt(N) */
}

static void random_below(void)
{
    enum { BINS = 7, N = 70000 };
    int count[BINS] = {0};
    double chi2 = 0;
    for (uint64_t i = 0; i < N; i++) {
        uint64_t x = fc_random_below(3, i, 0, BINS);
        CU_ASSERT_FATAL(x < BINS);
        count[x]++;
    }
    for (int b = 0; b < BINS; b++) chi2 += pow(count[b] - N / BINS, 2) / ((double)N / BINS);
    CU_ASSERT(chi2 < 22.5); /* 6 degrees of freedom, p = 0.001 */
    CU_ASSERT_EQUAL(fc_random_below(3, 1, 1, 1), 0);
    CU_ASSERT(fc_random_below(0, 0, 0, UINT64_MAX) > UINT64_MAX / 2); /* 0xe1...: the high bits decide */
}

static void random_permutations(void)
{
    enum { N = 1000, TRIES = 12000 };
    uint32_t p[N], q[N];
    bool seen[N] = {false};
    fc_random_permutation(5, 1, p, N);
    fc_random_permutation(5, 2, q, N);
    for (int i = 0; i < N; i++) {
        CU_ASSERT_FATAL(p[i] < N && !seen[p[i]]);
        seen[p[i]] = true;
    }
    CU_ASSERT(memcmp(p, q, sizeof p) != 0);
    fc_random_permutation(5, 1, q, N);
    CU_ASSERT(memcmp(p, q, sizeof p) == 0);

    int count[9] = {0}; /* the six orders of three, by first * 3 + second */
    double chi2 = 0;
    for (uint64_t i = 0; i < TRIES; i++) {
        fc_random_permutation(9, i, p, 3);
        count[p[0] * 3 + p[1]]++;
    }
    for (int o = 0; o < 9; o++)
        if (o % 4 != 0) chi2 += pow(count[o] - TRIES / 6, 2) / (TRIES / 6.);
    CU_ASSERT(chi2 < 20.5); /* 5 degrees of freedom, p = 0.001 */
    fc_random_permutation(5, 1, p, 0);
}

#define TEST(function)                                                                                                 \
    {                                                                                                                  \
#function, function                                                                                            \
    }
int suite_core_keys(void)
{
    static const CU_TestInfo key[] = {TEST(keys_preset), TEST(keys_set),     TEST(keys_refuse),
                                      TEST(keys_parse),  TEST(keys_nearest), CU_TEST_INFO_NULL};
    static const CU_TestInfo random[] = {TEST(random_known_answers), TEST(random_reals), TEST(random_below),
                                         TEST(random_permutations), CU_TEST_INFO_NULL};
    return fc_add_suite("core/keys", key) || fc_add_suite("core/random", random);
}
