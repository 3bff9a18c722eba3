/* test_benchmark.c - tables of OSU's benchmarks and NetPIPE: what was put into made-up tables is found again, with noise; all
 * forms are read; what is no such table is refused. */
#include "answer/benchmark.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct truth {
    double o, L, G, S, c, R;
};

static double latency(const struct truth *t, double m)
{
    return 2 * t->o + t->L + m * t->G + (m <= t->S ? 2 * m * t->c : 2 * t->L + 2 * t->R);
}

static double noise(uint64_t seed, uint64_t i, double width)
{
    return 1 + width * (2 * fc_random_real(seed, 9, i) - 1);
}

/* Writes both tables, values off by up to `width`. */
static bool tables(const struct truth *t, uint64_t seed, double width, char *lat, char *bw)
{
    char *text[2];
    size_t size[2];
    FILE *f[2] = {open_memstream(&text[0], &size[0]), open_memstream(&text[1], &size[1])};
    fprintf(f[0], "a launcher says hello\n# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n");
    fprintf(f[1], "# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n");
    for (int k = -1; k <= 22; k++) {
        double m = k < 0 ? 0 : (double)(1u << k);
        fprintf(f[0], "%-10.0f %20.3f\n", m, 1e6 * latency(t, m) * noise(seed, (uint64_t)(2 * k + 4), width));
        if (k >= 0)
            fprintf(f[1], "%-10.0f %20.4f\n", m,
                    1e-6 * m / (t->o > m * t->G ? t->o : m * t->G) * noise(seed, (uint64_t)(2 * k + 5), width));
    }
    fclose(f[0]);
    fclose(f[1]);
    bool made = fc_test_file(lat, ".txt", text[0], size[0]) && fc_test_file(bw, ".txt", text[1], size[1]);
    free(text[0]);
    free(text[1]);
    return made;
}

static void found_again(void)
{
    static const struct truth truths[] = {{0.4e-6, 1.2e-6, 1 / 12e9, 8192, 0.05e-9, 0.6e-6},
                                          {0.2e-6, 0.8e-6, 1 / 25e9, 16384, 0.08e-9, 1e-6},
                                          {1.5e-6, 2.5e-6, 1 / 1e9, 65536, 0.2e-9, 3e-6},
                                          {0.3e-6, 1.7e-6, 1 / 3e9, 1024, 0, 0.5e-6}};
    for (size_t i = 0; i < FC_COUNT(truths); i++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            const struct truth *t = &truths[i];
            struct fc_benchmark_fit f;
            struct fc_benchmark table[2];
            struct fc_arena arena = {0};
            struct fc_status st = {0};
            char lat[64], bw[64];
            CU_ASSERT_TRUE_FATAL(tables(t, seed, 0.01, lat, bw));
            CU_ASSERT_FALSE(fc_benchmark_read("osu", lat, &arena, &table[0], &st));
            CU_ASSERT_FALSE(fc_benchmark_read("osu", bw, &arena, &table[1], &st));
            CU_ASSERT(table[0].n == 24 && table[1].n == 23 && table[1].kind == FC_BENCHMARK_BANDWIDTH);
            CU_ASSERT_FALSE(fc_benchmark_fit_tables(table, 2, NAN, &f, &st));
            CU_ASSERT_EQUAL(f.eager_bytes, t->S);
            CU_ASSERT(fc_near(f.overhead_s, t->o, 0.05) && fc_near(f.latency_s, t->L, 0.1));
            CU_ASSERT(fc_near(1 / f.bandwidth_bytes_per_s, t->G, 0.03));
            CU_ASSERT(fabs(f.copy_per_byte_s - t->c) < 0.1 * t->c + 0.02 * t->G);
            CU_ASSERT(fabs(f.rendezvous_s - t->R) < 0.15 * (t->L + t->o + t->R)); /* what is left of a sum of them */
            CU_ASSERT(f.off_percent < 2 && !f.overhead_is_bound);
            /* L known: the latency alone tells o. */
            CU_ASSERT_FALSE(fc_benchmark_fit_tables(table, 1, t->L, &f, &st));
            CU_ASSERT(fc_near(f.overhead_s, t->o, 0.08) && !f.overhead_is_bound);
            CU_ASSERT_FALSE(fc_benchmark_fit_tables(table, 1, NAN, &f, &st));
            CU_ASSERT(f.overhead_is_bound && f.latency_s == 0 && fc_near(f.overhead_s, t->o + t->L / 2, 0.02));
            unlink(lat);
            unlink(bw);
            fc_arena_free(&arena);
        }
}

static enum fc_code read_text(const char *program, const char *text, struct fc_benchmark *t, struct fc_arena *arena,
                              struct fc_status *st)
{
    char path[64];
    if (!fc_test_file(path, ".txt", text, strlen(text))) return FC_NO;
    fc_benchmark_read(program, path, arena, t, st);
    unlink(path);
    return st->code;
}

static void forms(void)
{
    struct fc_benchmark t;
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    CU_ASSERT_FALSE(
        read_text("osu",
                  "# OSU MPI Multiple Bandwidth / Message Rate Test v5.9\n# [ pairs: 12 ] [ window size: 64 ]\n"
                  "# Size MB/s Messages/s\n1 10.5 10500000\n2 21 1\n4096 48000.5 2\n",
                  &t, &arena, &st));
    CU_ASSERT(t.kind == FC_BENCHMARK_PAIRS && t.pairs == 12 && t.n == 3 && t.value[2] == 48000.5e6);
    CU_ASSERT_FALSE(
        read_text("netpipe",
                  "Send and receive buffers are 16384\n  0:       1 bytes   7000 times -->      3.14 Mbps in       "
                  "2.43 usec\n  1:       2 bytes   7000 times -->      6.2 Mbps in       2.5 usec\n"
                  "  2:     300 bytes   7000 times -->      6.2 Mbps in       3 usec\n",
                  &t, &arena, &st));
    CU_ASSERT(t.kind == FC_BENCHMARK_LATENCY && t.n == 3 && t.bytes[2] == 300 && fc_near(t.value[0], 2.43e-6, 1e-12));
    CU_ASSERT_FALSE(read_text("netpipe", " 1 0.51 0.0000149600\n 2 1.0 0.000015\n 3 1.5 0.0000151\n", &t, &arena, &st));
    CU_ASSERT(t.n == 3 && fc_near(t.value[0], 14.96e-6, 1e-12));
    fc_arena_free(&arena);
}

static void refusals(void)
{
    static const struct {
        const char *program, *text, *says;
    } cases[] = {
        {"osu", "1 2\n", "has no line '# OSU MPI ... Test'"},
        {"osu", "# OSU MPI Allreduce Latency Test\n", ":1: no benchmark of messages between two ranks"},
        {"osu", "# OSU MPI Bi-Directional Bandwidth Test\n", ":1: bandwidth of both directions together"},
        {"osu", "# OSU MPI Latency Test\n1 2\n2\n", ":3: the row ends early"},
        {"osu", "# OSU MPI Latency Test\n1 2\n2 x\n", ":3:"},
        {"osu", "# OSU MPI Latency Test\n1 0\n", ":2: a value that is none"},
        {"osu", "# OSU MPI Latency Test\n2 1\n1 1\n", ":3: sizes that do not rise"},
        {"osu", "# OSU MPI Latency Test\n1 1\n2 2\n", "has 2 rows of sizes and times (expected 3 or more)"},
        {"osu", "# OSU MPI Latency Test\n1 1\n# OSU MPI Latency Test\n", ":3: a second table"},
        {"netpipe", "hello\n", "has 0 rows"},
        {"imb", "", "'imb' is no benchmark that is read (known: osu, netpipe)"},
    };
    struct fc_benchmark t;
    struct fc_benchmark_fit f;
    struct fc_arena arena = {0};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_status st = {0};
        char message[1700];
        CU_ASSERT_EQUAL(read_text(cases[i].program, cases[i].text, &t, &arena, &st), FC_INPUT);
        snprintf(message, sizeof message, "%s:%ld: %s", st.file, st.line, st.message);
        if (!strstr(message, cases[i].says)) printf("%s\n", message);
        CU_ASSERT_PTR_NOT_NULL(strstr(message, cases[i].says));
    }
    struct fc_status st = {0};
    CU_ASSERT_FALSE(read_text("osu", "# OSU MPI Bandwidth Test\n1 1\n2 2\n4 4\n", &t, &arena, &st));
    CU_ASSERT_EQUAL(fc_benchmark_fit_tables(&t, 1, NAN, &f, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "no table of latencies"));
    fc_arena_free(&arena);
}

int suite_benchmark(void)
{
    static const CU_TestInfo tests[] = {
        {"what was put in is found again", found_again},
        {"forms", forms},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("benchmark tables", tests);
}
