/* test_core_table.c - table and progress: what people and programs read. */
#include "tests/tests.h"

#include <fcntl.h>
#include <poll.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- table ---- */

static const struct fc_column columns[] = {
    {.name = "link", .kind = FC_CELL_TEXT, .title = "Link"},
    {.name = "count", .kind = FC_CELL_INT},
    {.name = "time_s", .kind = FC_CELL_REAL, .unit = FC_SECONDS, .title = "time"},
    {.name = "share", .kind = FC_CELL_REAL, .format = "%.1f"},
    {.name = "note", .kind = FC_CELL_TEXT},
};

static void fill(struct fc_table *table)
{
    struct fc_status st = {0};
    fc_table_start(table, columns, FC_COUNT(columns));
    const struct fc_cell rows[][FC_COUNT(columns)] = {
        {{.text = "torus"}, {.integer = 1536}, {.real = 35e-9}, {.real = 12.345}, {.text = "a\tb"}},
        {{.text = "\xc3\xa9t\xc3\xa9"}, {.integer = -7}, {.real = NAN}, {.real = 0.1}, {.text = NULL}},
        {{.text = "x"}, {.real = NAN}, {.real = 0}, {.real = INFINITY}, {.text = "\xff"}},
    };
    for (size_t r = 0; r < FC_COUNT(rows); r++) CU_ASSERT_EQUAL(fc_table_row(table, rows[r], &st), FC_OK);
}

static char *printed(void (*print)(const struct fc_table *, FILE *), const struct fc_table *table)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    print(table, stream);
    fclose(stream);
    return text;
}

static void table_for_people(void)
{
    struct fc_table table;
    fill(&table);
    char *text = printed(fc_table_print, &table);
    CU_ASSERT_STRING_EQUAL(text, "Link   count   time  share  note\n"
                                 "torus   1536  35 ns   12.3  a\\x09b\n"
                                 "\xc3\xa9t\xc3\xa9       -7      -    0.1  -\n"
                                 "x          -    0 s    inf  \\xff\n");
    free(text);
    fc_table_free(&table);
}

static void table_tsv(void)
{
    struct fc_table table;
    fill(&table);
    char *text = printed(fc_table_print_tsv, &table);
    CU_ASSERT_STRING_EQUAL(text, "link\tcount\ttime_s\tshare\tnote\n"
                                 "torus\t1536\t3.5e-08\t12.345\ta\\x09b\n"
                                 "\xc3\xa9t\xc3\xa9\t-7\tnan\t0.1\t-\n"
                                 "x\tnan\t0\tinf\t\\xff\n");
    free(text);
    fc_table_free(&table);
}

static void table_tsv_is_exact(void)
{
    static const struct fc_column one = {.name = "v", .kind = FC_CELL_REAL};
    for (uint64_t i = 0; i < 2000; i++) {
        struct fc_table table;
        struct fc_status st = {0};
        double value = fc_random_real(2, 0, i) * pow(10, (double)fc_random_below(2, 1, i, 40) - 20);
        fc_table_start(&table, &one, 1);
        CU_ASSERT_EQUAL(fc_table_row(&table, &(struct fc_cell){.real = value}, &st), FC_OK);
        char *text = printed(fc_table_print_tsv, &table);
        CU_ASSERT(strtod(text + 2, NULL) == value);
        free(text);
        fc_table_free(&table);
    }
}

static void print_json(const struct fc_table *table, FILE *stream)
{
    json_t *json = fc_table_json(table);
    fc_json_print(json, stream);
    json_decref(json);
}

static void table_json(void)
{
    struct fc_table table;
    fill(&table);
    table.n_rows = 2;
    char *text = printed(print_json, &table);
    CU_ASSERT_STRING_EQUAL(text, "[\n"
                                 "  {\n"
                                 "    \"link\": \"torus\",\n"
                                 "    \"count\": 1536,\n"
                                 "    \"time_s\": 3.5e-8,\n"
                                 "    \"share\": 12.345,\n"
                                 "    \"note\": \"a\\tb\"\n"
                                 "  },\n"
                                 "  {\n"
                                 "    \"link\": \"\xc3\xa9t\xc3\xa9\",\n"
                                 "    \"count\": -7,\n"
                                 "    \"time_s\": null,\n"
                                 "    \"share\": 0.1,\n"
                                 "    \"note\": null\n"
                                 "  }\n"
                                 "]\n");
    free(text);
    table.n_rows = 3;
    json_t *json = fc_table_json(&table), *last = json_array_get(json, 2);
    CU_ASSERT(json_is_null(json_object_get(last, "count")) && json_is_null(json_object_get(last, "share")));
    CU_ASSERT_EQUAL(json_real_value(json_object_get(last, "time_s")), 0);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(last, "note")), "?"); /* no UTF-8, still there */
    json_decref(json);
    json = fc_json_real(-0.0);
    CU_ASSERT(json_is_real(json) && !signbit(json_real_value(json)));
    json_decref(json);
    fc_table_free(&table);
}

static void table_grows(void)
{
    static const struct fc_column one = {.name = "n", .kind = FC_CELL_INT, .unit = FC_BYTES};
    struct fc_table table;
    struct fc_status st = {0};
    fc_table_start(&table, &one, 1);
    for (long long i = 0; i < 1000; i++)
        CU_ASSERT_EQUAL(fc_table_row(&table, &(struct fc_cell){.integer = i * 1000}, &st), FC_OK);
    CU_ASSERT_EQUAL(table.n_rows, 1000);
    CU_ASSERT_EQUAL(table.cells[999].integer, 999000);
    char *text = printed(fc_table_print, &table);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n999 KB\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n   0 B\n")); /* numbers are right aligned */
    free(text);
    fc_table_free(&table);
    CU_ASSERT_EQUAL(table.n_rows, 0);
    fc_table_free(&table);
}

/* ---- progress ---- */

struct counter {
    struct fc_progress progress;
    int calls;
    double last;
};

static void count(struct fc_progress *self, double done_fraction, const char *what)
{
    struct counter *counter = (struct counter *)self; /* progress is its first member */
    counter->calls += what != NULL;
    counter->last = done_fraction;
}

static void progress_is_rare(void)
{
    struct counter counter = {.progress = {.show = count, .last_shown_s = -fc_wall_s()}};
    for (int i = 0; i < 10000; i++) fc_progress_show(&counter.progress, i / 10000., "work");
    CU_ASSERT(counter.calls <= 3); /* 10 a second; 10000 calls take milliseconds */
    int before = counter.calls;
    usleep(120000);
    fc_progress_show(&counter.progress, 0.5, "work");
    CU_ASSERT(counter.calls == before + 1 && counter.last == 0.5);
    fc_progress_show(NULL, 0.5, "work");
    fc_progress_show(&(struct fc_progress){0}, 0.5, "work");
}

/* Runs one progress with standard error on `fd` and puts what was drawn on the other end into `seen`. */
static void run_progress(int fd, int other_end, bool quiet, char *seen, size_t size)
{
    struct fc_progress progress;
    int saved = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    fc_progress_start(&progress, quiet);
    usleep(120000);
    fc_progress_show(&progress, 0.425, "flit kernel");
    fc_progress_end(&progress);
    fc_progress_show(&progress, 1, "after the end");
    dup2(saved, STDERR_FILENO);
    close(saved);
    fcntl(other_end, F_SETFL, O_NONBLOCK);
    size_t n = 0; /* a terminal hands over what was written when the kernel gets to it */
    for (struct pollfd end = {other_end, POLLIN, 0}; n + 1 < size && poll(&end, 1, 200) > 0;) {
        ssize_t more = read(other_end, seen + n, size - 1 - n);
        if (more <= 0) break;
        n += (size_t)more;
    }
    seen[n] = '\0';
}

static void progress_draws_on_terminals_only(void)
{
    char seen[1000];
    int master = posix_openpt(O_RDWR | O_NOCTTY), ends[2];
    CU_ASSERT_FATAL(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    CU_ASSERT_FATAL(terminal >= 0 && pipe(ends) == 0);
    run_progress(terminal, master, true, seen, sizeof seen);
    CU_ASSERT_STRING_EQUAL(seen, "");
    run_progress(ends[1], ends[0], false, seen, sizeof seen);
    CU_ASSERT_STRING_EQUAL(seen, "");
    run_progress(terminal, master, false, seen, sizeof seen);
    CU_ASSERT_PTR_NOT_NULL(strstr(seen, "\r[############..................]  42 %  flit kernel"));
    CU_ASSERT_PTR_NULL(strstr(seen, "after"));
    CU_ASSERT_EQUAL(seen[strlen(seen) - 1], '\r');
    close(terminal);
    close(master);
    close(ends[0]);
    close(ends[1]);
}

static void progress_clocks(void)
{
    double wall_s = fc_wall_s(), cpu_s = fc_cpu_s();
    usleep(20000);
    CU_ASSERT(fc_wall_s() - wall_s >= 0.02);
    CU_ASSERT(fc_cpu_s() - cpu_s < 0.02); /* sleeping costs none */
    volatile double x = 1;
    for (cpu_s = fc_cpu_s(), wall_s = fc_wall_s(); fc_cpu_s() - cpu_s < 0.01 && fc_wall_s() - wall_s < 10;) x = x + 1;
    CU_ASSERT(fc_cpu_s() - cpu_s >= 0.01);
}

#define TEST(function)                                                                                                 \
    {                                                                                                                  \
#function, function                                                                                            \
    }
int suite_core_table(void)
{
    static const CU_TestInfo table[] = {TEST(table_for_people), TEST(table_tsv),   TEST(table_tsv_is_exact),
                                        TEST(table_json),       TEST(table_grows), CU_TEST_INFO_NULL};
    static const CU_TestInfo progress[] = {TEST(progress_is_rare), TEST(progress_draws_on_terminals_only),
                                           TEST(progress_clocks), CU_TEST_INFO_NULL};
    return fc_add_suite("core/table", table) || fc_add_suite("core/progress", progress);
}
