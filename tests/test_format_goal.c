/* test_format_goal.c - GOAL schedules: the dialect, orders, every refusal, the sample files of LogGOPSim. */
#include "tests/format_files.h"

static const char good[] = "// a schedule\n"
                           "num_ranks 3 /* of\n"
                           " three */\n"
                           "\n"
                           "rank 2 {\n"
                           "}\n"
                           "rank 0 {\n"
                           "l1: calc 729000 cpu 1\n"
                           "  l2 : send 1024b to 1 tag 5 cpu 2 nic 3\n"
                           "send 7 b to 0\r\n"
                           "l3: recv 10b from -1 tag -1 // whatever comes\n"
                           "l3 requires l2\n"
                           "l3 irequires l1\n"
                           "}\n"
                           "rank 1{\n"
                           "l2: recv 1024b from 0 nic 7\n"
                           "/* free */ l1: calc 5\n"
                           "l1 requires l2\n"
                           "l1 requires l2\n"
                           "}\n";

static void test_dialect(void)
{
    struct fc_trace t;
    test_read(test_text("good.goal", good), &t);
    CU_ASSERT(t.graph);
    CU_ASSERT_EQUAL(t.n_ranks, 3);
    CU_ASSERT_EQUAL(t.first_event[3], 6);
    CU_ASSERT_EQUAL(t.first_event[2], 6); /* rank 2 does nothing */
    CU_ASSERT(test_is(&t, 0, 0, FC_OP_OTHER, -1, 0, 0));
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 0, 0)->compute_s, 729e-6, 1e-18);
    CU_ASSERT_EQUAL(test_event(&t, 0, 0)->request, 1); /* the cpu */
    CU_ASSERT(test_is(&t, 0, 1, FC_OP_SEND, 1, 5, 1024));
    CU_ASSERT_EQUAL(test_event(&t, 0, 1)->request, 2);
    CU_ASSERT_EQUAL(test_event(&t, 0, 1)->polls, 3); /* the nic */
    CU_ASSERT(test_is(&t, 0, 2, FC_OP_SEND, 0, 0, 7));
    CU_ASSERT_EQUAL(test_event(&t, 0, 2)->request, 0);
    CU_ASSERT(test_is(&t, 0, 3, FC_OP_RECV, FC_ANY, FC_ANY, 10));
    const struct fc_event *e = test_event(&t, 0, 3);
    CU_ASSERT_EQUAL(e->n_list, 2);
    CU_ASSERT_EQUAL(test_listed(&t, e, 0), 1);
    CU_ASSERT_EQUAL(test_listed(&t, e, 1), ~(int64_t)0); /* started */
    CU_ASSERT(test_is(&t, 1, 0, FC_OP_RECV, 0, 0, 1024));
    CU_ASSERT_EQUAL(test_event(&t, 1, 0)->polls, 7);
    CU_ASSERT_EQUAL(test_event(&t, 1, 1)->n_list, 2);
    CU_ASSERT_EQUAL(t.n_unwrapped, 0);
    fc_trace_free(&t);
}

static void test_tick(void)
{
    struct fc_trace_options options = FC_TRACE_OPTIONS;
    const struct fc_trace_format *format;
    struct fc_trace t = {.file = test_text("tick.goal", "num_ranks 1\nrank 0 {\ncalc 3\n}\n")};
    struct fc_status st = {0};
    options.tick_s = 1e-6;
    CU_ASSERT_FATAL(!fc_trace_detect(t.file, &format, &st) && format && strcmp(format->name, "goal") == 0);
    CU_ASSERT_FATAL(!fc_trace_read_foreign(format, &options, &t, &st));
    CU_ASSERT_DOUBLE_EQUAL(t.events[0].compute_s, 3e-6, 1e-20);
    fc_trace_free(&t);
}

/* Dependencies that point forward put what they need first; all else stays in the order written. */
static void test_order(void)
{
    struct fc_trace t;
    test_read(test_text("order.goal", "num_ranks 1\n"
                                      "rank 0 {\n"
                                      "a: calc 1\n"
                                      "b: calc 2\n"
                                      "c: calc 3\n"
                                      "d: calc 4\n"
                                      "e: calc 5\n"
                                      "b requires e\n"
                                      "e irequires c\n"
                                      "d requires a\n"
                                      "}\n"),
              &t);
    const double ticks[] = {1, 3, 5, 2, 4}; /* a, c, e, b, d */
    for (int i = 0; i < 5; i++) CU_ASSERT_DOUBLE_EQUAL(t.events[i].compute_s, ticks[i] * 1e-9, 1e-20);
    CU_ASSERT_EQUAL(test_listed(&t, &t.events[2], 0), ~(int64_t)1);
    CU_ASSERT_EQUAL(test_listed(&t, &t.events[3], 0), 2);
    CU_ASSERT_EQUAL(test_listed(&t, &t.events[4], 0), 0);
    fc_trace_free(&t);
}

static void test_missing_rank(void)
{
    struct fc_trace t;
    test_read(test_text("few.goal", "num_ranks 9\nrank 4 {\ncalc 1\n}\n"), &t);
    CU_ASSERT(test_noted(&t, "(8 times: a rank without a block: it does nothing)"));
    CU_ASSERT_EQUAL(t.first_event[9], 1);
    fc_trace_free(&t);
}

static void test_refusals(void)
{
#define BLOCK(text) "num_ranks 2\nrank 0 {\n" text "\n}\nrank 1 {\n}\n"
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"num_ranks\n", ":1: the line ends (expected a number of ranks)"},
        {"num_ranks 0\n", ":1: a number of ranks: '0' is out of range"},
        {"num_ranks 99999999999\n", ":1: a number of ranks: '99999999999' is out of range"},
        {"num_ranks 2\nnum_ranks 2\n", ":2: num_ranks is given twice"},
        {"num_ranks 2\ncalc 1\n", ":2: 'calc' (expected rank)"},
        {"num_ranks 2\nrank 2 {\n}\n", ":2: a rank: '2' is out of range (allowed: 0 to 1)"},
        {"num_ranks 2\nrank 0\n{\n}\n", ":2: the line ends (expected {)"},
        {"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", ":4: rank 0 has two blocks"},
        {"num_ranks 2\nrank 0 {\nrank 1 {\n}\n", ":3: 'rank' (expected '}' before the next rank)"},
        {"num_ranks 2\nrank 0 {\ncalc 1\n", ":3: the file ends inside rank 0 (expected '}')"},
        {"num_ranks 2\nrank 0 {\n/* calc 1\n", "the file ends inside a comment"},
        {BLOCK("calc"), ":3: the line ends (expected a number of ticks)"},
        {BLOCK("calc 1.5"), ":3: '.' (expected cpu or the end of the line)"},
        {BLOCK("calc -1"), ":3: a number of ticks: '-1' is out of range"},
        {BLOCK("calc 99999999999999999"), ":3: calc 99999999999999999 is 1e+08 s (allowed: up to 9000000 s)"},
        {BLOCK("calc 999999999999999999999"), ":3: a number of ticks"},
        {BLOCK("calc 1 nic 1"), ":3: 'nic' (expected cpu"},
        {BLOCK("calc 1 cpu 256"), ":3: a cpu: '256' is out of range (allowed: 0 to 255)"},
        {BLOCK("send 1 to 1"), ":3: 'to' (expected b)"},
        {BLOCK("send 1b from 1"), ":3: 'from' (expected to)"},
        {BLOCK("recv 1b to 1"), ":3: 'to' (expected from)"},
        {BLOCK("send 1b to 2"), ":3: a rank: '2' is out of range"},
        {BLOCK("send 1b to -1"), ":3: a rank: '-1' is out of range"},
        {BLOCK("send 1b to 1 tag -1"), ":3: a tag: '-1' is out of range"},
        {BLOCK("recv 1b from 1 tag 4294967295"), ":3: a tag: '4294967295' is out of range"},
        {BLOCK("send 1b to 1 nic 0 cpu 0"), ":3: 'cpu' (expected tag, cpu, nic in this order"},
        {BLOCK("send 9999999999999999999b to 1"), ":3: a number of bytes"},
        {BLOCK("l1: l2: calc 1"), ":3: 'l2' (expected calc, send or recv)"},
        {BLOCK("l1 calc 1"), ":3: 'calc' (expected ':', requires or irequires behind a label)"},
        {BLOCK("l1: calc 1\nl1: calc 2"), ":4: label 'l1' of rank 0 is given twice (line 3)"},
        {BLOCK("l1: calc 1\nl1 requires l2"), ":4: label 'l2' is unknown here"},
        {BLOCK("l1: calc 1\nl2 requires l1\nl2: calc 1"), ":4: label 'l2' is unknown here"},
        {BLOCK("l1: calc 1\nl1 requires"), ":4: the line ends (expected a label)"},
        {BLOCK("l1: calc 1\nl1 requires l1"), ":3: a cycle"},
        {BLOCK("a: calc 1\nb: calc 1\nc: calc 1\na requires b\nb requires c\nc irequires a"),
         ":5: a cycle: this statement waits for that of line 3, which waits for this one"},
        {BLOCK("put 8b to 1 tag 2"), ":3: 'put' is one of the Portals statements of LogGOPSim2"},
        {BLOCK("test 1 for 2"), ":3: 'test' is one of the Portals"},
        {BLOCK("?"), ":3: '?' (expected a label"},
        {"num_ranks 2\nrank 0 {\nl1: calc 1\n}\nrank 1 {\nl2: calc 1\nl2 requires l1\n}\n",
         ":7: label 'l1' is unknown here"},
    };
    for (size_t i = 0; i < FC_COUNT(bad); i++) CU_ASSERT(test_refused(test_text("bad.goal", bad[i].text), bad[i].says));
}

static void test_broken_copies(void)
{
    test_damaged("damaged.goal", good, 1500, test_path("damaged.goal"));
}

/* A binomial tree: rank r gets its message from r without its highest bit. */
static void test_many_ranks(void)
{
    enum { RANKS = 4096 };
    struct fc_trace t;
    FILE *file = fopen(test_path("tree.goal"), "w");
    CU_ASSERT_FATAL(file != NULL);
    fprintf(file, "num_ranks %d\n", RANKS);
    for (unsigned r = 0; r < RANKS; r++) {
        unsigned high = 1;
        while (2 * high <= r) high *= 2;
        fprintf(file, "rank %u {\n", r);
        if (r) fprintf(file, "l0: recv 1b from %u\n", r - high);
        for (unsigned k = r ? 2 * high : 1; k < RANKS; k *= 2) {
            fprintf(file, "s%u: send 1b to %u\n", k, r + k);
            if (r) fprintf(file, "s%u requires l0\n", k);
        }
        fprintf(file, "}\n");
    }
    fclose(file);
    test_read(test_path("tree.goal"), &t);
    CU_ASSERT_EQUAL(t.first_event[RANKS], 2 * (RANKS - 1));
    CU_ASSERT_EQUAL(t.n_lists, RANKS - 1 - 12); /* every send but the root's */
    fc_trace_free(&t);
}

static void test_references(void)
{
    static const struct test_counts files[] = {
        {"goal/binary_tree_32.goal", 32, 31, 31, 0, 0, 0, 31, 26},
        {"goal/binomialtreebcast_128_1024.goal", 128, 127, 127, 0, 0, 0, 127 * 1024, 120},
        {"goal/binomialtreereduce_8_1024.goal", 8, 7, 7, 0, 0, 0, 7 * 1024, 4},
        {"goal/ping_pong_big.g2", 2, 2, 2, 0, 0, 0, 150000, 1},
        {"goal/test-btreebcast16.g2", 16, 15, 15, 0, 0, 0, 15, 11},
        {"goal/test-doublering4.g2", 4, 8, 8, 0, 0, 0, 8, 6},
        {"goal/test-nbc-notest.g2", 2, 2, 2, 0, 0, 6, 2, 10},
        {"goal/test-nbc-notest_rndvz-async.g2", 2, 2, 2, 0, 0, 6, 22, 10},
        {"goal/test-nbc-notest_rndvz.g2", 2, 2, 2, 0, 0, 6, 22, 10},
        {"goal/test-nbc-test_rndvz.g2", 2, 2, 2, 0, 0, 6, 22, 10},
        {"goal/test-nbp2p.g2", 2, 1, 1, 0, 0, 6, 1, 8},
        {"goal/test-nbp2p_rndvz.g2", 2, 1, 1, 0, 0, 6, 11, 8},
        {"goal/amg27.goal.xz", 27, 15524, 15524, 0, 0, 68383, 13584368, 99404 + 31048},
        {"goal/lmp16.goal.xz", 16, 26475, 26475, 0, 0, 89238, 234321593, 147356 + 20736},
    };
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        const char *path = test_reference(files[i].name);
        if (!path) return;
        CU_ASSERT(test_counted(path, &files[i]));
    }
}

int suite_format_goal(void)
{
    static const CU_TestInfo tests[] = {
        {"the dialect of txt2bin", test_dialect},
        {"the unit of time", test_tick},
        {"dependencies that point forward", test_order},
        {"ranks without a block", test_missing_rank},
        {"refusals with their line", test_refusals},
        {"damaged copies", test_broken_copies},
        {"a tree of 4096 ranks", test_many_ranks},
        {"LogGOPSim's samples", test_references},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("format_goal", tests);
}
