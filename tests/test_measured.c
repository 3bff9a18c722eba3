/* test_measured.c - end points fitted to measured collectives (answer/measured*.c), the error that other rows give
 * (solvers/calibration/measured_error.c), the section `measured:` of machine files, and machine files that are saved.
 *
 * The oracle of the fit: rows "measured" are predictions with end points that the fit is not told. */
#include "answer/measured.h"
#include "mapping/mapping.h"
#include "models/models.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CUBE                                                                                                                  \
    "name: cube\nnetwork: {family: torus, dims: [2, 2, 2]}\nlinks: {torus: {bandwidth: 5 GB/s, latency: 50 ns}, injection: "  \
    "{bandwidth: 20 GB/s}}\nrouter: {delay: 100 ns, escape: dateline, routing: dimension-order}\nnode: {cores: 4, ports: 1, " \
    "port_bandwidth: 4 GB/s}\n"
#define ENDS                                                                                                           \
    "software: {send: 1 us, recv: 1 us, eager: 16 KiB, copy_per_byte: 0.1 ns/B, rendezvous: 3 us, reduce_per_byte: 0.1 ns/B}\n"

static void write_file(char *path, const char *suffix, const char *text)
{
    CU_ASSERT_FATAL(fc_test_file(path, suffix, text, strlen(text)));
}

/* Rows of six algorithms and seven sizes on 2x2x2; times 1 us where none are given. */
static char *table_text(const double *us)
{
    static const char *const calls[] = {"allreduce\tdoubling", "allreduce\tring",     "bcast\tbinomial",
                                        "allgather\tring",     "allgather\tdoubling", "reduce\tbinomial"};
    static char text[9000];
    size_t at = (size_t)snprintf(text, sizeof text, "system\tnodes\tcollective\talgorithm\ttotal_bytes\tmedian_us\n");
    for (int c = 0, i = 0; c < 6; c++)
        for (int k = 0; k < 7; k++, i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "cube\t2x2x2\t%s\t%d\t%.9g\n", calls[c], 256 << (3 * k),
                                   us ? us[i] : 1.0);
    return text;
}

static void test_fit(void)
{
    static const double truth[FC_END_POINTS] = {
        [FC_END_OVERHEAD] = 1.7e-6, [FC_END_COPY] = 2e-10, [FC_END_RENDEZVOUS] = 6e-6,
        [FC_END_REDUCE] = 2.5e-10,  [FC_END_PORT] = 2.6e9, [FC_END_DELAY] = 1e-7,
        [FC_END_EAGER] = 16384,     [FC_END_CACHE] = 1e18, [FC_END_EXCHANGE] = INFINITY};
    char machine[64], rows[64], saved[64];
    double us[42];
    struct fc_status st = {0};
    struct fc_measured t;
    struct fc_measured_fit fit;
    struct fc_end_values values;
    write_file(machine, ".yaml", CUBE ENDS);
    write_file(rows, ".tsv", table_text(NULL));
    struct fc_question q = {.machine = machine};
    CU_ASSERT_FATAL(!fc_measured_read(rows, "cube", &t, &st) && !fc_measured_open(&q, &t, &st));
    memcpy(values.value, truth, sizeof truth);
    CU_ASSERT_FATAL(!fc_measured_predict(&t, &values, false, 1, &st));
    for (uint32_t i = 0; i < t.n_rows; i++) us[i] = 1e6 * t.rows[i].predicted_s;
    fc_measured_free(&t);
    unlink(rows);

    write_file(rows, ".tsv", table_text(us));
    CU_ASSERT_FATAL(!fc_measured_read(rows, "cube", &t, &st) && !fc_measured_open(&q, &t, &st));
    CU_ASSERT_EQUAL(fc_measured_choose(&t), 21);
    CU_ASSERT_FATAL(!fc_measured_fit(&t, 1, NULL, &fit, &st));
    for (int p = FC_END_OVERHEAD; p <= FC_END_PORT; p++)
        if (p != FC_END_EAGER_START && p != FC_END_REDUCE_MEMORY && p != FC_END_CALL) {
            CU_ASSERT(fc_near(fit.values.value[p], truth[p], 0.1));
            if (!fc_near(fit.values.value[p], truth[p], 0.1))
                printf("\n    %s: %g, fitted %g\n", fc_end_points[p].key, truth[p], fit.values.value[p]);
        }
    CU_ASSERT(fit.residual < 0.02);
    CU_ASSERT_EQUAL(fit.values.value[FC_END_EAGER], 16384);
    /* What was not fitted is predicted too, and the error says so. */
    CU_ASSERT(!fc_measured_predict(&t, &fit.values, false, 2, &st) && !fc_measured_judge(&t, &fit, &st));
    CU_ASSERT_EQUAL(fit.cases.n, 21);
    for (uint32_t i = 0; i < fit.cases.n; i++) CU_ASSERT(fabs(log(fit.cases.cases[i].ratio)) < 0.1);
    CU_ASSERT(fit.covered >= 0.8);
    /* The file that is written is a machine with these end points and cases. */
    struct fc_machine m;
    write_file(saved, ".yaml", "");
    CU_ASSERT_FATAL(!fc_measured_write(&t, &fit, &q, saved, &st));
    CU_ASSERT_FATAL(!fc_machine_load(saved, &m, &st));
    CU_ASSERT(fc_near(m.software.send_s, fit.values.value[FC_END_OVERHEAD], 1e-3));
    CU_ASSERT(fc_near(m.port_bytes_per_s, fit.values.value[FC_END_PORT], 1e-3));
    CU_ASSERT_EQUAL(m.measured.n, fit.cases.n);
    fc_machine_free(&m);
    fc_measured_free(&t);
    unlink(machine);
    unlink(rows);
    unlink(saved);
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {"", "is empty"},
        {"nodes\tcollective\talgorithm\tbytes\n", "no column median_us or time_us"},
        {"nodes\tcollective\talgorithm\tbytes\tmedian_us\n2x0\tbcast\tlinear\t8\t1\n", ":2: nodes '2x0'"},
        {"nodes\tcollective\talgorithm\tbytes\tmedian_us\n4\tbcast\tlinear\teight\t1\n", ":2: total_bytes 'eight'"},
        {"nodes\tcollective\talgorithm\tbytes\tmedian_us\n4\tbcast\tlinear\t8\t-1\n", ":2: median_us '-1'"},
        {"nodes\tcollective\talgorithm\tbytes\tmedian_us\n4\t\tlinear\t8\t1\n", ":2: collective ''"},
        {"nodes\tcollective\talgorithm\tbytes\tmedian_us\tpart\n4\tbcast\tlinear\t8\t1\tall\n", ":2: part 'all'"},
        {"nodes\tcollective\talgorithm\tbytes\tmedian_us\thosts\n4\tbcast\tlinear\t8\t1\t@a:0\n", ":2: hosts '@a:0'"},
        {"nodes\tcollective\talgorithm\tbytes\tmedian_us\tppn\n4\tbcast\tlinear\t8\t1\t0.5\n", ":2: ppn '0.5'"},
        {"nodes\tcollective\talgorithm\tbytes\tmedian_us\tlibrary\n4\tbcast\tlinear\t8\t1\tnone\n",
         ":2: library 'none'"},
        {"system\tnodes\tcollective\talgorithm\tbytes\tmedian_us\nlumi\t4\tbcast\tlinear\t8\t1\n",
         "no row of machine cube"},
    };
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        char path[64], message[700];
        struct fc_status st = {0};
        struct fc_measured t;
        write_file(path, ".tsv", wrong[i].text);
        CU_ASSERT_EQUAL(fc_measured_read(path, "cube", &t, &st), FC_INPUT);
        fc_status_text(&st, message, sizeof message);
        CU_ASSERT(strstr(message, wrong[i].part) != NULL);
        if (!strstr(message, wrong[i].part)) printf("\n    %s\n    expected %s\n", message, wrong[i].part);
        unlink(path);
    }
}

/* Rows that cannot be predicted are left out with the reason, not refused. */
static void test_left_out(void)
{
    char machine[64], rows[64];
    struct fc_status st = {0};
    struct fc_measured t;
    write_file(machine, ".yaml", CUBE ENDS);
    write_file(
        rows, ".tsv",
        "nodes\tcollective\talgorithm\tbytes\tmedian_us\n2x2x2\tallgather\tring\t8\t1\n2x2x2\tbcast\tbanana\t8\t1\n"
        "9\tbcast\tlinear\t8\t1\n2x2x2\tdance\tlinear\t8\t1\n2x2x2\tbcast\tlinear\t8\t9\n");
    struct fc_question q = {.machine = machine};
    CU_ASSERT_FATAL(!fc_measured_read(rows, "cube", &t, &st) && !fc_measured_open(&q, &t, &st));
    CU_ASSERT_EQUAL_FATAL(t.n_rows, 5);
    CU_ASSERT(strstr(t.rows[0].left_out, "less than an element") != NULL);
    CU_ASSERT_STRING_EQUAL(t.rows[1].left_out, "the algorithm is not known");
    CU_ASSERT(t.rows[2].left_out && strstr(t.rows[2].left_out, "9 tasks") != NULL);
    CU_ASSERT_STRING_EQUAL(t.rows[3].left_out, "no such collective is known");
    CU_ASSERT_PTR_NULL(t.rows[4].left_out);
    fc_measured_free(&t);
    unlink(machine);
    unlink(rows);
}

/* Four ranks that a linear barrier lets go one after the other, o apart: a linear broadcast reaches each 3 o after that. */
static void test_barrier(void)
{
    char machine[64], rows[64];
    struct fc_status st = {0};
    struct fc_measured t;
    write_file(machine, ".yaml", CUBE ENDS);
    write_file(rows, ".tsv",
               "nodes\tcollective\talgorithm\tbytes\tmedian_us\tlibrary\n4\tbcast\tlinear\t8\t1\t\n"
               "4\tbcast\tlinear\t8\t1\topenmpi\n");
    struct fc_question q = {.machine = machine};
    CU_ASSERT_FATAL(!fc_measured_read(rows, "cube", &t, &st) && !fc_measured_open(&q, &t, &st));
    struct fc_end_values values = fc_end_values_of(&t.jobs[0].session.machine);
    CU_ASSERT_FATAL(!fc_measured_predict(&t, &values, false, 1, &st));
    CU_ASSERT(t.rows[0].predicted_s > 4.3e-6); /* three sends, latency, a receive */
    CU_ASSERT(fc_near(t.rows[1].predicted_s, 3e-6, 0.01));
    fc_measured_free(&t);
    unlink(machine);
    unlink(rows);
}

/* Comments, what part a row has, and hosts on a line of a file beside the table. */
static void test_parts(void)
{
    char machine[64], rows[64], hosts[64], text[600];
    struct fc_status st = {0};
    struct fc_measured t;
    write_file(machine, ".yaml", CUBE ENDS);
    write_file(hosts, ".hosts", "0,1\n6,7\n");
    const char *name = strrchr(hosts, '/');
    snprintf(
        text, sizeof text,
        "# a comment\n\nnodes\tcollective\talgorithm\tbytes\tmedian_us\tpart\thosts\n2\tbcast\tlinear\t8\t1\tfit\t@%s:2\n"
        "2\tbcast\tlinear\t64\t1\tseen\t@%s:2\n2\tbcast\tlinear\t512\t1\tjudge\t0,3\n",
        name ? name + 1 : hosts, name ? name + 1 : hosts);
    write_file(rows, ".tsv", text);
    struct fc_question q = {.machine = machine};
    struct fc_end_values values;
    CU_ASSERT_FATAL(!fc_measured_read(rows, "cube", &t, &st) && !fc_measured_open(&q, &t, &st));
    CU_ASSERT_EQUAL_FATAL(t.n_rows, 3);
    CU_ASSERT_EQUAL_FATAL(t.n_jobs, 2);
    CU_ASSERT(t.jobs[0].mapping && t.jobs[0].mapping->node[0] == 6 && t.jobs[0].mapping->node[1] == 7);
    CU_ASSERT(t.jobs[1].mapping && t.jobs[1].mapping->node[0] == 0 && t.jobs[1].mapping->node[1] == 3);
    CU_ASSERT_EQUAL(fc_measured_choose(&t), 1);
    CU_ASSERT(t.rows[0].fitted && !t.rows[0].seen && !t.rows[1].fitted && t.rows[1].seen && !t.rows[2].fitted);
    values = fc_end_values_of(&t.jobs[0].session.machine);
    struct fc_measured_fit fit;
    CU_ASSERT(!fc_measured_predict(&t, &values, false, 1, &st) && !fc_measured_judge(&t, &fit, &st));
    CU_ASSERT_EQUAL_FATAL(fit.cases.n, 1);
    CU_ASSERT_EQUAL(fit.cases.cases[0].bytes, 512);
    fc_measured_free(&t);
    unlink(machine);
    unlink(hosts);
    unlink(rows);
}

/* All cases off by a fifth, above or below: the error is that, and grows outside of the sizes measured. */
static void test_error(void)
{
    struct fc_measured_case cases[40];
    struct fc_measured_cases all = {"test", 1, 40, cases};
    for (uint32_t i = 0; i < 40; i++)
        cases[i] = (struct fc_measured_case){i % 2 ? "bcast" : "allreduce", i < 20 ? 8 : 64, 1, 256 << (i % 10),
                                             i % 3 ? 1.2 : 0.8};
    bool far;
    struct fc_measured_point at = {"bcast", 8, 1, 4096};
    CU_ASSERT(fc_near(fc_measured_error_percent(&all, &at, FC_NONE, &far), 20, 1e-9) && !far);
    at.nodes = 512;
    CU_ASSERT(fc_near(fc_measured_error_percent(&all, &at, FC_NONE, &far), 24, 1e-9) && far);
    CU_ASSERT(fc_near(fc_measured_widen(&all), 1, 1e-9) && all.widen == 1);
    /* The larger job is off twice as far: what the small one says of it must be widened. */
    for (uint32_t i = 20; i < 40; i++) cases[i].ratio = 1.4;
    CU_ASSERT(fc_measured_widen(&all) >= 0.8 && all.widen > 1.5);
    all.n = 5;
    CU_ASSERT(isnan(fc_measured_error_percent(&all, &at, FC_NONE, &far)));
}

static void test_section(void)
{
    static const struct {
        const char *section, *part;
    } wrong[] = {
        {"measured: 3\n", "is not a mapping"},
        {"measured: {colour: red}\n", "measured.colour: is unknown"},
        {"measured: {widen: -1}\n", "measured.widen: expected a number above 0"},
        {"measured: {rows: []}\n", "measured.rows: expected a list"},
        {"measured: {rows: [[bcast, 8, 1, 256]]}\n", "measured.rows: a row is"},
        {"measured: {rows: [[bcast, 8, 1, 256, 0]]}\n", "measured.rows: a row is"},
    };
    struct fc_machine m;
    struct fc_status st = {0};
    CU_ASSERT_FATAL(
        !fc_test_machine(CUBE "measured: {source: here, widen: 1.2, rows: [[bcast, 8, 2, 256, 0.9]]}\n", &m, &st));
    CU_ASSERT(m.measured.n == 1 && m.measured.widen == 1.2 && !strcmp(m.measured.cases[0].collective, "bcast"));
    CU_ASSERT(m.measured.cases[0].ranks_per_node == 2 && m.measured.cases[0].ratio == 0.9);
    fc_machine_free(&m);
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        char text[900];
        snprintf(text, sizeof text, "%s%s", CUBE, wrong[i].section);
        memset(&st, 0, sizeof st);
        CU_ASSERT_EQUAL(fc_test_machine(text, &m, &st), FC_INPUT);
        CU_ASSERT(strstr(st.message, wrong[i].part) != NULL && st.line > 0);
        if (!strstr(st.message, wrong[i].part)) printf("\n    %s\n", st.message);
    }
}

static const CU_TestInfo tests[] = {
    {"end points that are known are found", test_fit},
    {"tables that are refused", test_refusals},
    {"rows that are left out", test_left_out},
    {"the barrier before a call", test_barrier},
    {"what part a row has, and where hosts stand", test_parts},
    {"the error that other rows give", test_error},
    {"section measured of a machine file", test_section},
    CU_TEST_INFO_NULL,
};
int suite_measured(void)
{
    return fc_add_suite("measured", tests);
}
