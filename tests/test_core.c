/* test_core.c - status, arena, units: right values, and one case per refusal. */
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct fc_place here = {"m.yaml", 7};

/* ---- status ---- */

static void status_keeps_first(void)
{
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_fail(&st, FC_INPUT, here, "vcs: %d is too many", 99), FC_INPUT);
    CU_ASSERT_EQUAL(fc_refuse(&st, FC_FAULT, "later"), FC_FAULT); /* returns its own code, keeps the first cause */
    CU_ASSERT(fc_says(&st, FC_INPUT, "m.yaml:7: vcs: 99 is too many"));
}

static void status_places(void)
{
    char text[64];
    struct fc_status whole = {0}, none = {0};
    fc_fail(&whole, FC_NO, (struct fc_place){"a.txt", 0}, "is empty");
    fc_status_text(&whole, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "a.txt: is empty");
    fc_refuse(&none, FC_NO, "unstable");
    fc_status_text(&none, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "unstable");
    fc_status_text(&none, text, 4);
    CU_ASSERT_STRING_EQUAL(text, "uns");
}

static void status_is_harmless(void)
{
    struct fc_status st = {0}, tall = {0};
    char long_text[3000];
    fc_refuse(&st, FC_INPUT, "'%s'", "\033[2J\a\x7f");
    CU_ASSERT_STRING_EQUAL(st.message, "'\\x1b[2J\\x07\\x7f'");
    memset(long_text, 'x', sizeof long_text); /* then a 2-byte character that does not fit whole */
    memcpy(long_text + sizeof tall.message - 2, "\xc3\xa9", 3);
    fc_refuse(&tall, FC_INPUT, "%s", long_text);
    CU_ASSERT_EQUAL(strlen(tall.message), sizeof tall.message - 2);
    CU_ASSERT_EQUAL(tall.message[sizeof tall.message - 3], 'x');
}

/* ---- arena ---- */

static bool all_zero(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i]) return false;
    return true;
}

static void arena_gives_zeroed_aligned(void)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 16384, 20000, 65536, 65537, 3, 1000000, 5};
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    unsigned char *got[FC_COUNT(sizes)];
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < FC_COUNT(sizes); i++) {
            got[i] = fc_alloc(&arena, sizes[i], 1, &st);
            CU_ASSERT_PTR_NOT_NULL_FATAL(got[i]);
            CU_ASSERT_EQUAL((uintptr_t)got[i] % 64, 0);
            CU_ASSERT(all_zero(got[i], sizes[i]));
            memset(got[i], (int)i + 1, sizes[i]);
        }
        for (size_t i = 0; i < FC_COUNT(sizes); i++) /* nothing overlaps */
            CU_ASSERT(sizes[i] == 0 || (got[i][0] == i + 1 && got[i][sizes[i] - 1] == i + 1));
    }
    fc_arena_free(&arena);
    CU_ASSERT_EQUAL(arena.used_bytes, 0);
    CU_ASSERT_PTR_NOT_NULL(fc_alloc(&arena, 1, 1, &st)); /* can be used again */
    fc_arena_free(&arena);
    CU_ASSERT_EQUAL(st.code, FC_OK);
}

static void arena_refuses_overflow(void)
{
    static const size_t cases[][2] = {
        {SIZE_MAX, 2}, {(size_t)1 << 63, 1}, {(size_t)1 << 62, 4}, {(size_t)1 << 32, (size_t)1 << 32}, {SIZE_MAX, 1}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_arena arena = {.limit_bytes = SIZE_MAX};
        struct fc_status st = {0};
        CU_ASSERT_PTR_NULL(fc_alloc(&arena, cases[i][0], cases[i][1], &st));
        CU_ASSERT(fc_says(&st, FC_NO, "out of memory: "));
        CU_ASSERT_EQUAL(arena.used_bytes, 0);
        fc_arena_free(&arena);
    }
}

static void arena_refuses_beyond_limit(void)
{
    struct fc_arena arena = {.limit_bytes = 100 * 1000};
    struct fc_status st = {0}, huge = {0};
    CU_ASSERT_PTR_NOT_NULL(fc_alloc(&arena, 1000, 64, &st));
    CU_ASSERT_PTR_NULL(fc_alloc(&arena, 1000, 64, &st));
    CU_ASSERT(fc_says(&st, FC_NO, "out of memory: 64 KB more needed, 64 KB in use, 100 KB allowed"));
    CU_ASSERT_PTR_NOT_NULL(fc_alloc(&arena, 35968, 1, &(struct fc_status){0})); /* what is left, to the last byte */
    CU_ASSERT_PTR_NULL(fc_alloc(&arena, 1, 1, &(struct fc_status){0}));
    fc_arena_free(&arena);

    struct fc_arena machine = {0}; /* no limit given: the machine's memory */
    CU_ASSERT_PTR_NULL(fc_alloc(&machine, fc_memory_bytes() + 1, 1, &huge));
    CU_ASSERT(fc_says(&huge, FC_NO, "out of memory"));
    fc_arena_free(&machine);
}

static void arena_big_blocks_are_lazy(void)
{
    struct fc_arena arena = {.limit_bytes = SIZE_MAX};
    struct fc_status st = {0};
    size_t before = fc_peak_rss_bytes(), gib = (size_t)1 << 30;
    CU_ASSERT(before > 1000000);
    char *big = fc_alloc(&arena, 2, gib, &st);
    CU_ASSERT_PTR_NOT_NULL_FATAL(big);
    CU_ASSERT_EQUAL(big[gib], 0);
    CU_ASSERT(fc_peak_rss_bytes() < before + gib / 2);
    fc_arena_free(&arena);
}

static void arena_texts_and_memory(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    char text[] = "torus";
    char *copy = fc_copy_text(&arena, text, &st);
    text[0] = 'T';
    CU_ASSERT_STRING_EQUAL(copy, "torus");
    fc_arena_free(&arena);
    arena.limit_bytes = 64;
    CU_ASSERT_PTR_NOT_NULL(fc_copy_text(&arena, "x", &st));
    CU_ASSERT_PTR_NULL(fc_copy_text(&arena, "x", &st));
    CU_ASSERT(fc_says(&st, FC_NO, "out of memory"));
    fc_arena_free(&arena);
    size_t ram = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    CU_ASSERT(fc_memory_bytes() > ((size_t)16 << 20) && fc_memory_bytes() <= ram);
}

/* ---- units ---- */

static void units_read(void)
{
    static const struct {
        const char *text;
        enum fc_unit unit;
        double clock_hz, value;
    } cases[] = {
        {"175 MB/s", FC_BYTES_PER_S, 0, 175e6},
        {"8.3 GiB/s", FC_BYTES_PER_S, 0, 8.3 * 1024 * 1024 * 1024},
        {"100 Gb/s", FC_BYTES_PER_S, 0, 12.5e9},
        {"100Gbit/s", FC_BYTES_PER_S, 0, 12.5e9},
        {"8 Kibits/s", FC_BYTES_PER_S, 0, 1024},
        {"3 b/s", FC_BYTES_PER_S, 0, 0.375},
        {"1e6", FC_BYTES_PER_S, 0, 1e6},
        {"35 ns", FC_SECONDS, 0, 35e-9},
        {"2.5 \xc2\xb5s", FC_SECONDS, 0, 2.5e-6},
        {"2.5 \xce\xbcs", FC_SECONDS, 0, 2.5e-6},
        {"0.1us", FC_SECONDS, 175e6, 0.1e-6},
        {" 700 ps ", FC_SECONDS, 0, 700e-12},
        {"1.94 ms", FC_SECONDS, 0, 1.94e-3},
        {"20s", FC_SECONDS, 0, 20},
        {"20", FC_SECONDS, 0, 20},
        {"0", FC_SECONDS, 175e6, 0},
        {"3 cycles", FC_SECONDS, 175e6, 3 / 175e6},
        {"1 cycle", FC_SECONDS, 1e9, 1e-9},
        {"8 phits", FC_SECONDS, 175e6, 8 / 175e6},
        {"256 B", FC_BYTES, 0, 256},
        {"1 KiB", FC_BYTES, 0, 1024},
        {"64kB", FC_BYTES, 0, 64000},
        {"64 KB", FC_BYTES, 0, 64000},
        {"4 MiB", FC_BYTES, 0, 4194304},
        {"1 TiB", FC_BYTES, 0, 1099511627776.},
        {"2 PB", FC_BYTES, 0, 2e15},
        {"7 PiB", FC_BYTES, 0, 7 * 1125899906842624.},
        {"16 bytes", FC_BYTES, 0, 16},
        {"+5", FC_BYTES, 0, 5},
        {".5", FC_NUMBER, 0, 0.5},
        {"1.E2", FC_NUMBER, 0, 100},
        {"0", FC_NUMBER, 0, 0},
        {"700 MHz", FC_HERTZ, 0, 700e6},
        {"1.6GHz", FC_HERTZ, 0, 1.6e9},
        {"6ns/B", FC_SECONDS_PER_BYTE, 0, 6e-9},
        {"2 cycles/B", FC_SECONDS_PER_BYTE, 1e9, 2e-9},
        {"1e-9 s/B", FC_SECONDS_PER_BYTE, 0, 1e-9},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_status st = {0};
        double value = NAN;
        CU_ASSERT_EQUAL(fc_quantity(cases[i].text, cases[i].unit, cases[i].clock_hz, &value, here, &st), FC_OK);
        /* a fraction may be rounded twice (0.1, then 0.1 / 1e6), a whole number is exact */
        bool whole = !strchr(cases[i].text, '.');
        bool right = whole ? value == cases[i].value : fabs(value - cases[i].value) <= 0x1p-52 * cases[i].value;
        if (!right) printf("\n    %s: %.17g, expected %.17g\n", cases[i].text, value, cases[i].value);
        CU_ASSERT(right);
    }
}

static void units_refuse(void)
{
    static const struct {
        const char *text;
        enum fc_unit unit;
        double clock_hz;
        const char *message;
    } cases[] = {
        {"175 MX/s", FC_BYTES_PER_S, 0, "m.yaml:7: '175 MX/s' is not a quantity (expected bytes/s, e.g. 175 MB/s)"},
        {"175 MB", FC_BYTES_PER_S, 0, "'175 MB' is not a quantity"},
        {"1 Kb", FC_BYTES, 0, "(expected bytes, e.g. 256 B or 1 KiB)"},
        {"1 M", FC_BYTES, 0, "'1 M' is not a quantity"},
        {"1 kiB", FC_BYTES, 0, "'1 kiB' is not a quantity"},
        {"1 mB", FC_BYTES, 0, "'1 mB' is not a quantity"},
        {"3 KiHz", FC_HERTZ, 0, "(expected a frequency, e.g. 700 MHz)"},
        {"3 Ms", FC_SECONDS, 0, "'3 Ms' is not a quantity"},
        {"6 ns", FC_SECONDS_PER_BYTE, 0, "(expected a time per byte, e.g. 6 ns/B)"},
        {"/B", FC_SECONDS_PER_BYTE, 0, "'/B' is not a quantity"},
        {"5 s", FC_NUMBER, 0, "(expected a number without unit, e.g. 0.25)"},
        {"", FC_SECONDS, 0, "'' is not a quantity"},
        {"ns", FC_SECONDS, 0, "'ns' is not a quantity"},
        {"nan", FC_NUMBER, 0, "'nan' is not a quantity"},
        {"inf", FC_NUMBER, 0, "'inf' is not a quantity"},
        {"0x10", FC_NUMBER, 0, "'0x10' is not a quantity"},
        {"-", FC_NUMBER, 0, "'-' is not a quantity"},
        {"1.2.3", FC_NUMBER, 0, "'1.2.3' is not a quantity"},
        {"3 ns later", FC_SECONDS, 0, "'3 ns later' is not a quantity"},
        {"3 ns 4", FC_SECONDS, 0, "'3 ns 4' is not a quantity"},
        {"-3 ns", FC_SECONDS, 0, "'-3 ns' is negative"},
        {"-0.5", FC_NUMBER, 0, "'-0.5' is negative"},
        {"1e999", FC_NUMBER, 0, "'1e999' is too large or too small"},
        {"1e-999", FC_NUMBER, 0, "'1e-999' is too large or too small"},
        {"1e300 PB/s", FC_BYTES_PER_S, 0, "'1e300 PB/s' is too large"},
        {"9223372036854775808", FC_BYTES, 0, "'9223372036854775808' is too large"},
        {"8192 PiB", FC_BYTES, 0, "'8192 PiB' is too large"},
        {"1e-320 ps", FC_SECONDS, 0, "'1e-320 ps' is too small"},
        {"3 cycles", FC_SECONDS, 0, "'3 cycles' needs a clock, and none is known here"},
        {"3 cycles", FC_BYTES, 1e9, "'3 cycles' is not a quantity"},
        {"12", FC_SECONDS, 175e6, "'12' is ambiguous (write 12 cycles or 12 ns)"},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_status st = {0};
        double value = -7;
        CU_ASSERT_EQUAL(fc_quantity(cases[i].text, cases[i].unit, cases[i].clock_hz, &value, here, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, cases[i].message));
        CU_ASSERT(value == -7); /* untouched */
    }
}

static void units_format(void)
{
    static const struct {
        double value;
        enum fc_unit unit;
        const char *text;
    } cases[] = {
        {1.94e-3, FC_SECONDS, "1.94 ms"},
        {175e6, FC_BYTES_PER_S, "175 MB/s"},
        {65500, FC_BYTES, "65.5 KB"},
        {65536, FC_BYTES, "65.54 KB"},
        {0, FC_SECONDS, "0 s"},
        {0, FC_BYTES, "0 B"},
        {999.96e3, FC_BYTES, "1 MB"},
        {999.9e3, FC_BYTES, "999.9 KB"},
        {-35e-9, FC_SECONDS, "-35 ns"},
        {1e-15, FC_SECONDS, "0.001 ps"},
        {86400, FC_SECONDS, "86400 s"},
        {700e3, FC_HERTZ, "700 kHz"},
        {6e-9, FC_SECONDS_PER_BYTE, "6 ns/B"},
        {0.6, FC_METRES, "0.6 m"},
        {1234, FC_METRES, "1234 m"},
        {12345, FC_NUMBER, "12345"},
        {0.25, FC_NUMBER, "0.25"},
        {NAN, FC_SECONDS, "-"},
        {INFINITY, FC_BYTES, "inf"},
        {0.5, FC_BYTES, "0.5 B"},
        {123456e15, FC_BYTES, "123456 PB"},
    };
    char text[40];
    for (size_t i = 0; i < FC_COUNT(cases); i++)
        CU_ASSERT_STRING_EQUAL(fc_format(text, sizeof text, cases[i].value, cases[i].unit), cases[i].text);
    CU_ASSERT_STRING_EQUAL(fc_format(text, 4, 175e6, FC_BYTES_PER_S), "175");
}

/* What is printed can be read back, to four digits. */
static void units_round_trip(void)
{
    for (int unit = FC_NUMBER; unit <= FC_METRES; unit++)
        for (uint64_t i = 0; i < 500; i++) {
            struct fc_status st = {0};
            char text[40];
            double value = pow(10, -13 + 28 * fc_random_real(1, (uint64_t)unit, i)), again = 0;
            fc_format(text, sizeof text, value, (enum fc_unit)unit);
            CU_ASSERT_EQUAL(fc_quantity(text, (enum fc_unit)unit, 0, &again, here, &st), FC_OK);
            CU_ASSERT(fabs(again - value) <= 0.51e-3 * value);
        }
}

#define TEST(function)                                                                                                 \
    {                                                                                                                  \
#function, function                                                                                            \
    }
int suite_core(void)
{
    static const CU_TestInfo status[] = {TEST(status_keeps_first), TEST(status_places), TEST(status_is_harmless),
                                         CU_TEST_INFO_NULL};
    static const CU_TestInfo arena[] = {TEST(arena_gives_zeroed_aligned), TEST(arena_refuses_overflow),
                                        TEST(arena_refuses_beyond_limit), TEST(arena_big_blocks_are_lazy),
                                        TEST(arena_texts_and_memory),     CU_TEST_INFO_NULL};
    static const CU_TestInfo units[] = {TEST(units_read), TEST(units_refuse), TEST(units_format),
                                        TEST(units_round_trip), CU_TEST_INFO_NULL};
    return fc_add_suite("core/status", status) || fc_add_suite("core/arena", arena) ||
           fc_add_suite("core/units", units);
}
