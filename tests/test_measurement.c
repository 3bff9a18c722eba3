/* test_measurement.c - rows of our own benchmark: what was put into made-up rows is found again, with noise, on a network whose
 * routes are known; the machine file that is written reads back; what is no such rows is refused. */
#include "answer/measurement.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two leaf switches of four nodes under one: rates of leaf and root links, their latencies. */
struct truth {
    double send, recv, G, O, S, c, R, reduce, leaf_rate, root_rate, leaf_s, root_s;
    uint32_t ranks_each;
};
enum { NODES = 8 };

struct maker {
    FILE *f;
    const struct truth *t;
    uint64_t seed, i;
    int rows, set;
};

static void row(struct maker *m, const char *part, uint32_t from, uint32_t to, double bytes, double s)
{
    double noisy = s * (1 + 0.01 * (2 * fc_random_real(m->seed, 3, m->i++) - 1));
    fprintf(m->f, "%s %d %u %u %.0f 40 %.9g %.9g %.9g\n", part, m->set, from, to, bytes, noisy, noisy * 0.99,
            noisy * 1.01);
    m->rows++;
    if (m->i % 7 == 0) fprintf(m->f, "[a launcher says something]\n");
}

static bool is_far(uint32_t a, uint32_t b)
{
    return a / (NODES / 2) != b / (NODES / 2);
}
static double latency_of(const struct truth *t, uint32_t a, uint32_t b)
{
    return 2 * t->leaf_s + (is_far(a, b) ? 2 * t->root_s : 0);
}
static double time_of(const struct truth *t, double m, uint32_t a, uint32_t b)
{
    double L = latency_of(t, a, b), rate = is_far(a, b) ? fmin(t->leaf_rate, t->root_rate) : t->leaf_rate;
    return t->send + t->recv + L + m * (fmax(t->G, 1 / rate) + 2 * t->O) +
           (m <= t->S ? 2 * m * t->c : 2 * L + 2 * t->R);
}

static bool rows_of(const struct truth *t, uint64_t seed, char *path)
{
    char *text;
    size_t size;
    struct maker m = {.f = open_memstream(&text, &size), .t = t, .seed = seed};
    uint32_t e = t->ranks_each;
    double rate = fmin(1 / t->G, t->leaf_rate);
    fprintf(m.f, "hello\n# fabricast measure 1: %u ranks on %d nodes\n", NODES * e, NODES);
    for (uint32_t r = 0; r < NODES * e; r++) fprintf(m.f, "rank %u %u cn%u\n", r, r / e, r / e);
    for (uint32_t n = 1; n < NODES; n++) row(&m, "latency", 0, n * e, 8, time_of(t, 8, 0, n));
    row(&m, "probe", 0, e, t->S, t->send);
    fprintf(m.f, "eager 0 %u %.0f\n", e, t->S);
    m.rows++;
    for (double b = 1; b <= 4194304; b *= 2) row(&m, "latency", 0, e, b, time_of(t, b, 0, 1));
    for (int k = 1; k <= 4; k++) row(&m, "latency", 0, e, k * t->S + (k == 1), time_of(t, k * t->S + (k == 1), 0, 1));
    for (double b = 1; b <= 64; b *= 8) {
        row(&m, "send", 0, e, b, t->send);
        row(&m, "receive", 0, e, b, t->recv);
    }
    for (double b = 8; b <= 4194304; b *= 8) row(&m, "stream", 0, e, b, fmax(t->send, fmax(b / rate, b * t->O)));
    for (uint32_t k = 1; e > 1 && k <= e; k *= 2) {
        m.set++;
        for (uint32_t i = 0; i < k; i++) row(&m, "stream", i, e + i, 1e6, 1e6 / fmin(rate, t->leaf_rate / k));
    }
    m.set++;
    for (uint32_t i = 0; i < NODES / 2; i++)
        row(&m, "stream", i * e, (i + NODES / 2) * e, 1e6, 1e6 / fmin(rate, t->root_rate / (NODES / 2)));
    m.set = 0;
    for (double b = 4096; b < 1e6; b *= 4) row(&m, "reduce", 0, 0, b, b * t->reduce);
    fprintf(m.f, "end %d 12.5\n", m.rows);
    fclose(m.f);
    bool made = fc_test_file(path, ".rows", text, size);
    free(text);
    return made;
}

static const char machine_text[] =
    "name: tree\nnetwork: {family: fat-tree, children: [4, 2], parents: [1, 1]}\n"
    "links: {leaf: {bandwidth: 3 GB/s, latency: 1 ns}, level1: {bandwidth: 7 GB/s, latency: 1 ns}}\n"
    "router: {delay: 0 s}\nhosts: cn[0-7]\n";

/* The machine with the measured figures, as it is read again. */
static void check_written(const struct truth *t, const struct fc_machine *m)
{
    CU_ASSERT(fc_near(m->software.send_s, t->send, 0.03) && fc_near(m->software.recv_s, t->recv, 0.03));
    CU_ASSERT(m->software.eager_bytes == t->S && m->software.gap_s == 0);
    CU_ASSERT(fc_near(m->software.reduce_per_byte_s, t->reduce, 0.03));
    CU_ASSERT(fc_near(m->classes[0].bandwidth_bytes_per_s, t->leaf_rate, 0.05));
    CU_ASSERT(fc_near(m->classes[1].bandwidth_bytes_per_s, t->root_rate, 0.05));
    /* what routers and wires have apart is not told: a way is */
    double near = 2 * m->classes[0].latency_s + m->router.delay_s;
    double far = near + 2 * m->classes[1].latency_s + 2 * m->router.delay_s;
    CU_ASSERT(fc_near(near, 2 * t->leaf_s, 0.06) && fc_near(far, 2 * t->leaf_s + 2 * t->root_s, 0.06));
    if (t->ranks_each > 1 && t->leaf_rate * t->G > 1.1)
        CU_ASSERT(fc_near(m->port_bytes_per_s, 1 / t->G, 0.03) &&
                  m->ports == (long long)ceil(t->leaf_rate * t->G - 0.1));
}

static void found_again(void)
{
    static const struct truth truths[] = {
        {0.4e-6, 0.6e-6, 1 / 12e9, 0, 8192, 0.05e-9, 0.6e-6, 0.1e-9, 12e9, 20e9, 0.5e-6, 0.4e-6, 1},
        {2e-3, 3e-3, 4e-7, 1e-7, 19944, 1e-7, 1e-3, 3e-11, 2.5e6, 1.25e6, 3e-3, 2e-3, 1},
        {0.5e-6, 0.5e-6, 1 / 5e9, 0, 16384, 0.1e-9, 0.9e-6, 0.2e-9, 16e9, 15e9, 0.4e-6, 0.3e-6, 4}};
    char rows[64], machine[64], written[80];
    CU_ASSERT_TRUE_FATAL(fc_test_file(machine, ".yaml", machine_text, sizeof machine_text - 1));
    for (size_t i = 0; i < FC_COUNT(truths); i++) {
        const struct truth *t = &truths[i];
        struct fc_arena arena = {0};
        struct fc_status st = {0};
        struct fc_measurement m;
        struct fc_measurement_fit f;
        struct fc_measured_links links;
        struct fc_machine before, after;
        struct fc_network net;
        struct fc_question q = {.machine = machine};
        CU_ASSERT_TRUE_FATAL(rows_of(t, i + 1, rows));
        snprintf(written, sizeof written, "%s.yaml", rows);
        CU_ASSERT_FALSE_FATAL(fc_measurement_read(rows, &arena, &m, &st));
        CU_ASSERT(m.n_ranks == NODES * t->ranks_each && m.n_nodes == NODES && !m.one_host);
        CU_ASSERT_STRING_EQUAL(m.host[7], "cn7");
        CU_ASSERT_FALSE_FATAL(fc_measurement_solve(&m, &f, &st));
        const struct fc_interval *n = f.number;
        CU_ASSERT(fc_near(n[FC_NUMBER_SEND].value, t->send, 0.02) && n[FC_NUMBER_SEND].low <= n[FC_NUMBER_SEND].value &&
                  n[FC_NUMBER_SEND].high >= n[FC_NUMBER_SEND].value && n[FC_NUMBER_SEND].high < 1.05 * t->send);
        CU_ASSERT(fc_near(n[FC_NUMBER_LATENCY].value, 2 * t->leaf_s, 0.05));
        CU_ASSERT(fc_near(f.far_latency_s, 2 * t->leaf_s + 2 * t->root_s, 0.05));
        CU_ASSERT(fc_near(n[FC_NUMBER_G].value, t->G, 0.02));
        CU_ASSERT(fabs(n[FC_NUMBER_PER_BYTE].value - t->O) < 0.05 * t->O + 0.03 * t->G);
        CU_ASSERT(fabs(n[FC_NUMBER_COPY].value - t->c) < 0.1 * t->c + 0.03 * t->G);
        CU_ASSERT(fabs(n[FC_NUMBER_RENDEZVOUS].value - t->R) < 0.1 * t->R + 0.02 * (2 * t->leaf_s + t->S * t->G));
        CU_ASSERT(f.off_percent < 2 && fc_near(f.node_s_per_byte, t->ranks_each > 1 ? 1 / t->leaf_rate : t->G, 0.04));
        CU_ASSERT_FALSE_FATAL(fc_machine_load(machine, &before, &st));
        CU_ASSERT_FALSE_FATAL(fc_network_build(&before, &net, &st));
        CU_ASSERT_FALSE(fc_measurement_links(&m, &f, &net, &links, &st));
        CU_ASSERT(links.by_host && links.class[0].binds && links.off_percent < 10);
        /* 12 GB/s cannot fill a root link of 20 with one rank a node, four of them can */
        CU_ASSERT_TRUE(links.class[1].binds);
        CU_ASSERT_FALSE(fc_measurement_write(&m, &f, &links, &net, &q, written, &st));
        CU_ASSERT_FALSE_FATAL(fc_machine_load(written, &after, &st));
        check_written(t, &after);
        fc_machine_free(&after);
        CU_ASSERT_FALSE(fc_measurement_write(&m, &f, NULL, NULL, &q, written, &st)); /* one switch */
        CU_ASSERT_FALSE_FATAL(fc_machine_load(written, &after, &st));
        CU_ASSERT(fc_near(2 * after.classes[0].latency_s, 2 * t->leaf_s, 0.06) &&
                  after.cores_per_node == t->ranks_each);
        fc_machine_free(&after);
        fc_network_free(&net);
        fc_machine_free(&before);
        fc_arena_free(&arena);
        unlink(rows);
        unlink(written);
    }
    unlink(machine);
}

#define HEAD "# fabricast measure 1: 2 ranks on 2 nodes\nrank 0 0 a\nrank 1 1 b\n"
#define PAIR HEAD "eager 0 1 100\n"

static void refusals(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"hello\n", "has no line '# fabricast measure 1: ...'"},
        {"# fabricast measure 2: 2 ranks on 2 nodes\n", ":1: a form that this program does not know"},
        {"# fabricast measure 1: 1 ranks on 1 nodes\n", ":1: "},
        {"# fabricast measure 1: 2 ranks\n", ":1: a title that ends early"},
        {"# fabricast measure 1: 2 ranks on 2 nodes\nrank 1 0 a\n", ":2: ranks that are not in order"},
        {"# fabricast measure 1: 2 ranks on 1 nodes\nrank 0 0 a\nrank 1 0 b\n", ":3: a node with two host names"},
        {"# fabricast measure 1: 2 ranks on 2 nodes\nrank 0 0\n", ":2: the row ends early"},
        {"# fabricast measure 1: 2 ranks on 2 nodes\nrank 0 0 a,b\n",
         ":2: a host name that cannot be in a list of hosts"},
        {"# fabricast measure 1: 2 ranks on 2 nodes\nrank 0 0 a\nend 0 1\n", "names 1 of 2 ranks"},
        {"# fabricast measure 1: 2 ranks on 2 nodes\nrank 0 0 a\nrank 1 0 a\nend 0 1\n", "node 1 has no rank"},
        {HEAD "latency 0 0 1 8 5 1e-6 1e-6\n", ":4: the row ends early"},
        {HEAD "latency 0 0 1 8 5 1e-6 2e-6 3e-6\n", ":4: an interval that does not hold its median"},
        {HEAD "latency 0 0 2 8 5 1e-6 1e-6 1e-6\n", ":4:"},
        {HEAD "latency 0 0 1 8 5 x 1e-6 1e-6\n", ":4:"},
        {HEAD "latency 0 0 1 8 5 1e-6 1e-6 1e-6 7\n", ":4: the row goes on"},
        {HEAD "latency 0 0 1 8 5 1e-6 1e-6 1e-6\n", "has no line 'end ROWS'"},
        {HEAD "latency 0 0 1 8 5 1e-6 1e-6 1e-6\nend 2 1\n", ":5: 2 rows were written, 1 are here"},
        {HEAD "end 0 1\n", "has no row 'eager'"},
        {PAIR "end 1 1\n", "has no rows of short sends and receives"},
        {PAIR "send 0 0 1 8 5 1 1 1\nreceive 0 0 1 8 5 1 1 1\nend 3 1\n", "has no rows of a stream"},
        {PAIR "send 0 0 1 8 5 1 1 1\nreceive 0 0 1 8 5 1 1 1\nstream 0 0 1 4096 5 1 1 1\nend 4 1\n",
         "has 0 latencies of eager messages"},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_arena arena = {0};
        struct fc_status st = {0};
        struct fc_measurement m;
        struct fc_measurement_fit f;
        char path[64], message[1700];
        CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".rows", cases[i].text, strlen(cases[i].text)));
        if (!fc_measurement_read(path, &arena, &m, &st)) fc_measurement_solve(&m, &f, &st);
        unlink(path);
        snprintf(message, sizeof message, "%s:%ld: %s", st.file, st.line, st.message);
        CU_ASSERT_EQUAL(st.code, FC_INPUT);
        if (!strstr(message, cases[i].says)) printf("%zu: %s\n", i, message);
        CU_ASSERT_PTR_NOT_NULL(strstr(message, cases[i].says));
        fc_arena_free(&arena);
    }
}

static void other_hosts(void)
{
    static const struct truth t = {1e-6, 1e-6, 1e-9, 0, 1000, 0, 1e-6, 1e-10, 1e9, 1e9, 1e-6, 1e-6, 1};
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_measurement m;
    struct fc_measurement_fit f;
    struct fc_measured_links links;
    struct fc_machine machine;
    struct fc_network net;
    char path[64], text[sizeof machine_text];
    CU_ASSERT_TRUE_FATAL(rows_of(&t, 1, path));
    CU_ASSERT_FALSE_FATAL(fc_measurement_read(path, &arena, &m, &st));
    unlink(path);
    CU_ASSERT_FALSE_FATAL(fc_measurement_solve(&m, &f, &st));
    memcpy(text, machine_text, sizeof text);
    memcpy(strstr(text, "cn["), "gn[", 3);
    CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".yaml", text, sizeof text - 1));
    CU_ASSERT_FALSE_FATAL(fc_machine_load(path, &machine, &st));
    CU_ASSERT_FALSE_FATAL(fc_network_build(&machine, &net, &st));
    CU_ASSERT_EQUAL(fc_measurement_links(&m, &f, &net, &links, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "cn0"));
    fc_network_free(&net);
    fc_machine_free(&machine);
    fc_arena_free(&arena);
    unlink(path);
}

int suite_measurement(void)
{
    static const CU_TestInfo tests[] = {
        {"what was put in is found again", found_again},
        {"refusals", refusals},
        {"other hosts", other_hosts},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("our own benchmark's rows", tests);
}
