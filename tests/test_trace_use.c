/* test_trace_use.c - what is made of traces: matching, totals, demand, generated traces, the shipped
 * recordings. */
#include "tests/trace_good.h"
#include "tests/trace_oracles.h"

/* ---- matching ---- */

static void test_match(void)
{
    struct fc_trace t;
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    uint64_t *match;
    read_good(&t);
    CU_ASSERT_EQUAL_FATAL(fc_trace_match(&t, &arena, &match, &st), FC_OK);
    CU_ASSERT_EQUAL(match[1], 18); /* line 11 with line 29 */
    CU_ASSERT_EQUAL(match[18], 1);
    CU_ASSERT_EQUAL(match[2], 24);
    CU_ASSERT_EQUAL(match[3], 19);
    CU_ASSERT_EQUAL(match[6], 25);
    CU_ASSERT_EQUAL(match[0], UINT64_MAX);
    CU_ASSERT_EQUAL(match[4], UINT64_MAX);
    fc_arena_free(&arena);
    fc_trace_free(&t);
}

/* One sender, one receiver: rank 1 receives in the order given, tags cross, order within a tag is kept. */
static void test_match_order(void)
{
    static const char text[] = "fabricast-trace 1\nranks 2\ncomm 0 0-1\nevents 8\n"
                               "rank 0 4\n"
                               "send 0 0 0 comm=0 peer=1 tag=1 bytes=1\nsend 0 0 0 comm=0 peer=1 tag=2 bytes=2\n"
                               "send 0 0 0 comm=0 peer=1 tag=1 bytes=3\nsend 0 0 0 comm=0 peer=1 tag=2 bytes=4\n"
                               "rank 1 4\n"
                               "recv 0 0 0 comm=0 peer=0 tag=2 bytes=2\nrecv 0 0 0 comm=0 peer=0 tag=2 bytes=4\n"
                               "recv 0 0 0 comm=0 peer=0 tag=1 bytes=1\nrecv 0 0 0 comm=0 peer=0 tag=1 bytes=3\nend\n";
    static const uint64_t expected[8] = {6, 4, 7, 5, 1, 3, 0, 2};
    struct fc_trace t;
    struct fc_arena arena = {0};
    struct fc_status st;
    uint64_t *match;
    CU_ASSERT_EQUAL_FATAL(read_text(text, &t, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_trace_match(&t, &arena, &match, &st), FC_OK);
    for (int i = 0; i < 8; i++) CU_ASSERT_EQUAL(match[i], expected[i]);
    fc_arena_free(&arena);
    fc_trace_free(&t);
}

static void expect_unmatched(const char *what, const char *by, const char *says)
{
    struct fc_trace t;
    struct fc_arena arena = {0};
    struct fc_status st;
    uint64_t *match;
    char *text = replaced(what, by);
    CU_ASSERT_EQUAL_FATAL(read_text(text, &t, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_trace_match(&t, &arena, &match, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, says));
    fc_arena_free(&arena);
    fc_trace_free(&t);
    free(text);
}

static void test_unmatched(void)
{
    expect_unmatched("peer=1 tag=7", "peer=1 tag=6",
                     ":11: rank 0: no message is sent by rank 1 with tag 6 in "
                     "communicator 0 for this irecv of 100 bytes");
    expect_unmatched("peer=0 tag=3", "peer=0 tag=4",
                     ":16: rank 0: no receive is posted by rank 2 with tag 3 in communicator 1 for this send");
    expect_unmatched("comm=1 peer=0 tag=8", "comm=0 peer=0 tag=8", ":12: rank 0: no message is sent by rank 2");
    expect_unmatched("recv 0.100000003 0.200000000 0.000000000 comm=0 peer=0 tag=9 bytes=4096",
                     "other 0.100000003 0.200000000 0.000000000", ":13: rank 0: no receive is posted by rank 1");
}

/* ---- totals and demand ---- */

static void test_summary(void)
{
    struct fc_trace t;
    struct fc_trace_summary s;
    read_good(&t);
    fc_trace_summarise(&t, &s);
    CU_ASSERT_EQUAL(s.n_events, 39);
    CU_ASSERT_EQUAL(s.n_messages, 4);
    CU_ASSERT_EQUAL(s.p2p_bytes, 4096 + 10 + 100 + 0);
    CU_ASSERT_EQUAL(s.n_pairs, 4); /* 0-1, 0-2, 1-0, 2-0 */
    CU_ASSERT_EQUAL(s.n_collectives, 4 + 2 + 8);
    CU_ASSERT_EQUAL(s.collective_bytes, 64 + 30 + 8 + 8 + 1 + 2 + 3 + 4 + 5 + 6 + 7);
    CU_ASSERT_EQUAL(s.n_polls, 70 + 65535);
    CU_ASSERT_EQUAL(s.op_count[FC_OP_WAIT], 5);
    CU_ASSERT_EQUAL(s.op_bytes[FC_OP_RMA], 512 + 99 + 8);
    CU_ASSERT_DOUBLE_EQUAL(s.span_s, 0.400000001, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(s.compute_s, (0.0500005 + 0.02) / 3, 1e-12);
    fc_trace_free(&t);
}

static void test_demand(void)
{
    static const struct {
        uint32_t src, dst;
        double bytes, messages;
    } expected[] = {{0, 1, 4096, 1}, {0, 2, 10 + 8, 2}, {1, 0, 100, 1}, {2, 0, 0 + 512 + 99 + 8, 4}};
    struct fc_trace t;
    struct fc_demand d;
    struct fc_status st = {0};
    read_good(&t);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_trace(&t, &d, &st), FC_OK);
    CU_ASSERT_EQUAL(d.n_tasks, 3);
    CU_ASSERT_EQUAL_FATAL(d.n_entries, FC_COUNT(expected));
    for (size_t i = 0; i < d.n_entries; i++) {
        CU_ASSERT_EQUAL(d.src[i], expected[i].src);
        CU_ASSERT_EQUAL(d.dst[i], expected[i].dst);
        CU_ASSERT_EQUAL(d.bytes[i], expected[i].bytes);
        CU_ASSERT_EQUAL(d.messages[i], expected[i].messages);
    }
    fc_arena_free(&d.arena);
    fc_trace_free(&t);
}

/* ---- generated traces ---- */

static void test_generate(void)
{
    uint32_t src[] = {0, 0, 2, 3}, dst[] = {1, 2, 0, 3};
    double bytes[] = {1000, 10, 7, 5}, messages[] = {3, 1, 2, 1};
    double a[] = {2, 0, 0, 0}, b[] = {0, 8, 8, 8};
    struct fc_demand d = {.name = "by hand",
                          .n_tasks = 4,
                          .n_entries = 4,
                          .src = src,
                          .dst = dst,
                          .bytes = bytes,
                          .messages = messages,
                          .n_dense = 1,
                          .dense = {{a, b, 6}}};
    struct fc_trace t, back;
    struct fc_trace_summary s;
    struct fc_arena arena = {0};
    struct fc_demand again;
    struct fc_status st = {0};
    uint64_t *match;
    CU_ASSERT_EQUAL_FATAL(fc_trace_generate(&d, 3, 0.002, &t, &st), FC_OK);
    fc_trace_summarise(&t, &s);
    CU_ASSERT_EQUAL(s.n_messages, 3 * (3 + 1 + 2 + 3 * 3)); /* 16 bytes in 3 messages of up to 6 to each of 3 */
    CU_ASSERT_EQUAL(s.p2p_bytes, 3 * (1000 + 10 + 7 + 3 * 16));
    CU_ASSERT_DOUBLE_EQUAL(s.compute_s, 3 * 0.002, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(s.span_s, 3 * 0.002, 1e-12);
    CU_ASSERT_EQUAL(fc_trace_match(&t, &arena, &match, &st), FC_OK);
    for (uint64_t i = 0; i < s.n_events; i++)
        if (match[i] != UINT64_MAX) CU_ASSERT_EQUAL(t.events[i].bytes, t.events[match[i]].bytes);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, true, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_trace_read(second, &back, &st), FC_OK); /* whole by the reader's checks, lines too */
    expect_same(&t, &back);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_trace(&t, &again, &st), FC_OK);
    CU_ASSERT_EQUAL(again.n_entries, 4); /* what stays in task 3 is no message */
    CU_ASSERT_EQUAL(again.bytes[0], 3 * 1016);
    CU_ASSERT_EQUAL(again.messages[0], 3 * 6);
    fc_arena_free(&again.arena);
    fc_arena_free(&arena);
    fc_trace_free(&t);
    fc_trace_free(&back);
}

static void test_generate_refusals(void)
{
    double a[] = {1, 1};
    struct fc_demand d = {.name = "uniform", .n_tasks = 2, .n_dense = 1, .dense = {{a, a, 1}}, .open_loop = true};
    struct fc_trace t;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_trace_generate(&d, 1, 0, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "uniform gives relative rates, not messages"));
    d.open_loop = false;
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_trace_generate(&d, 0, 0, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "0 iterations"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_trace_generate(&d, 10, -1, &t, &st), FC_INPUT);
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_trace_generate(&d, 10, 1e6, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "out of range"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_trace_generate(&d, 2000000000, 0, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "more than 2147483647 requests"));
    double huge = 1e300, one = 1;
    uint32_t zero = 0, next = 1;
    struct fc_demand big = {.n_tasks = 2, .n_entries = 1, .src = &zero, .dst = &next, .bytes = &huge, .messages = &one};
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_trace_generate(&big, 1, 0, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "entry 0 has 1e+300 bytes"));
}

/* ---- the shipped recordings: totals that Open MPI's monitoring counted in the same runs ---- */

static void test_samples(void)
{
    static const struct {
        const char *file;
        uint32_t n_ranks, n_comms;
        uint64_t n_messages, n_pairs, n_collectives;
        double p2p_bytes;
    } samples[] = {
        {"traces/samples/lammps-lj-16.fct", 16, 2, 20736, 64, 1888, 234185200},
        {"traces/samples/lammps-lj-64.fct", 64, 2, 84480, 384, 7552, 455220680},
        {"traces/samples/qe-si-16.fct", 16, 1441, 26239, 59, 95162, 2994932},
    };
    for (size_t i = 0; i < FC_COUNT(samples); i++) {
        struct fc_trace t;
        struct fc_trace_summary s;
        struct fc_arena arena = {0};
        struct fc_status st = {0};
        uint64_t *match = NULL;
        CU_ASSERT_EQUAL_FATAL(fc_trace_read(samples[i].file, &t, &st), FC_OK);
        fc_trace_summarise(&t, &s);
        CU_ASSERT_EQUAL(t.n_ranks, samples[i].n_ranks);
        CU_ASSERT_EQUAL(t.n_comms, samples[i].n_comms);
        CU_ASSERT_EQUAL(s.n_messages, samples[i].n_messages);
        CU_ASSERT_EQUAL(s.n_pairs, samples[i].n_pairs);
        CU_ASSERT_EQUAL(s.n_collectives, samples[i].n_collectives);
        CU_ASSERT_EQUAL(s.p2p_bytes, samples[i].p2p_bytes);
        CU_ASSERT(s.compute_s > 0);
        CU_ASSERT_EQUAL(fc_trace_match(&t, &arena, &match, &st), FC_OK);
        for (uint64_t e = 0; match && e < s.n_events; e++)
            if (match[e] != UINT64_MAX && t.events[e].bytes != t.events[match[e]].bytes) {
                CU_FAIL("a message and its receive differ in bytes");
                break;
            }
        fc_arena_free(&arena);
        fc_trace_free(&t);
    }
}

int suite_trace_use(void)
{
    static const CU_TestInfo tests[] = {{"matching", test_match},
                                        {"matching keeps order", test_match_order},
                                        {"unmatched calls are named", test_unmatched},
                                        {"totals", test_summary},
                                        {"demand", test_demand},
                                        {"generated traces", test_generate},
                                        {"refusals of generate", test_generate_refusals},
                                        {"the shipped recordings", test_samples},
                                        CU_TEST_INFO_NULL};
    make_paths();
    return fc_add_suite("traces use", tests);
}
