/* test_trace_graph.c - what only foreign traces have, in our own forms: wildcards, graphs; compressed text. */
#include "tests/trace_good.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

static const char wild[] = "fabricast-trace 1\n"                                                      /* 1 */
                           "program \n"                                                               /* 2 */
                           "recorded \n"                                                              /* 3 */
                           "ranks 2\n"                                                                /* 4 */
                           "comm 0 0-1\n"                                                             /* 5 */
                           "events 6\n"                                                               /* 6 */
                           "rank 0 4\n"                                                               /* 7 */
                           "recv 0.000000000 1.000000000 0.000000000 comm=0 peer=any tag=5 bytes=8\n" /* 8 */
                           "irecv 1.000000000 1.000000000 0.000000000 comm=0 peer=1 tag=any bytes=8 request=0\n"
                           "recv 1.000000000 2.000000000 0.000000000 comm=0 peer=any tag=any bytes=8\n" /* 10 */
                           "wait 2.000000000 3.000000000 0.000000000 requests=0\n"                      /* 11 */
                           "rank 1 2\n"                                                                 /* 12 */
                           "send 0.000000000 0.000000000 0.000000000 comm=0 peer=0 tag=5 bytes=8\n"     /* 13 */
                           "send 0.000000000 0.000000000 0.000000000 comm=0 peer=0 tag=6 bytes=8\n"     /* 14 */
                           "end\n";
static const char graph[] =
    "fabricast-trace 1\n"                         /* 1 */
    "program \n"                                  /* 2 */
    "recorded \n"                                 /* 3 */
    "graph\n"                                     /* 4 */
    "ranks 2\n"                                   /* 5 */
    "comm 0 0-1\n"                                /* 6 */
    "events 6\n"                                  /* 7 */
    "rank 0 5\n"                                  /* 8 */
    "other 0.000000000 0.000000000 0.000000729\n" /* 9 */
    "send 0.000000000 0.000000000 0.000000000 comm=0 peer=1 tag=5 bytes=1024 after=0 nic=2\n"
    "recv 0.000000000 0.000000000 0.000000000 comm=0 peer=any tag=any bytes=7 started=0,1 cpu=3\n"
    "barrier 0.000000000 0.000000000 0.000000000 comm=0 after=0,2 started=1 cpu=70000\n"
    "other 0.000000000 0.000000000 0.000000000 after=3\n"                       /* 13 */
    "rank 1 1\n"                                                                /* 14 */
    "recv 0.000000000 0.000000000 0.000000000 comm=0 peer=0 tag=5 bytes=1024\n" /* 15 */
    "end\n";

/* Text, packed and text again give the same. */
static void expect_round_trip(const char *text, struct fc_trace *t)
{
    struct fc_trace packed;
    struct fc_status st;
    size_t size;
    CU_ASSERT_EQUAL_FATAL(read_text(text, t, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(t, second, false, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_trace_read(second, &packed, &st), FC_OK);
    CU_ASSERT_EQUAL(packed.graph, t->graph);
    expect_same(t, &packed);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&packed, second, true, &st), FC_OK);
    char *again = get_file(second, &size);
    CU_ASSERT_STRING_EQUAL(again, text);
    free(again);
    fc_trace_free(&packed);
}

static void test_wildcards(void)
{
    struct fc_trace t;
    expect_round_trip(wild, &t);
    CU_ASSERT_EQUAL(t.events[0].peer, FC_ANY);
    CU_ASSERT_EQUAL(t.events[0].tag, 5);
    CU_ASSERT_EQUAL(t.events[1].peer, 1);
    CU_ASSERT_EQUAL(t.events[1].tag, FC_ANY);
    fc_trace_free(&t);
}

static void test_graph(void)
{
    struct fc_trace t;
    expect_round_trip(graph, &t);
    CU_ASSERT_TRUE(t.graph);
    CU_ASSERT_EQUAL(t.events[1].polls, 2);
    CU_ASSERT_EQUAL(t.events[1].request, 0);
    CU_ASSERT_EQUAL(t.events[2].request, 3);
    CU_ASSERT_EQUAL(t.events[3].request, 70000);
    CU_ASSERT_EQUAL_FATAL(t.events[3].n_list, 3);
    const int64_t *list = t.lists + t.events[3].list;
    CU_ASSERT(list[0] == 0 && list[1] == 2 && list[2] == ~INT64_C(1));
    CU_ASSERT_EQUAL(fc_event_place(&t, 1, 5).line, 15);
    fc_trace_free(&t);
}

static void expect_refused(const char *of, const char *what, const char *by, const char *says)
{
    struct fc_trace t;
    struct fc_status st;
    const char *at = strstr(of, what);
    char text[4096];
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - of), of, by, at + strlen(what));
    CU_ASSERT_EQUAL(read_text(text, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, says));
}

static void test_refusals(void)
{
    static const struct {
        const char *of, *what, *by, *says;
    } cases[] = {
        {wild, "send 0.000000000 0.000000000 0.000000000 comm=0 peer=0 tag=5", "send 0 0 0 comm=0 peer=any tag=5",
         ":13: peer: 'any' is not an integer"},
        {wild, "comm=0 peer=0 tag=6", "comm=0 peer=0 tag=any", ":14: tag: 'any' is not an integer"},
        {wild, "peer=any tag=5", "peer=anyone tag=5", ":8: peer: 'anyone' is not an integer"},
        {wild, "bytes=8\nirecv", "bytes=8 after=0\nirecv", ":8: recv has no after"},
        {wild, "bytes=8\nirecv", "bytes=8 cpu=0\nirecv", ":8: recv has no cpu"},
        {graph, "graph\n", "graph of calls\n", ":4: unknown word 'graph'"},
        {graph, "after=3", "after=4", ":13: event 4 of the rank depends on event 4, which does not come before it"},
        {graph, "started=0,1", "started=0,9", ":11: event 2 of the rank depends on event 9"},
        {graph, "after=3", "after=-1", ":13: after: '-1' is out of range"},
        {graph, "after=3", "after=0-2", ":13: after: '0-2' is not an integer"},
        {graph, "after=3", "after=", ":13: after: '' is not an integer"},
        {graph, "after=3", "polls=3", ":13: other has no polls"},
        {graph, "nic=2", "nic=65536", ":10: nic: '65536' is out of range"},
        {graph, "cpu=3", "cpu=-3", ":11: cpu: '-3' is out of range"},
        {graph, "comm=0 after=0,2", "comm=0 mode=nonblocking after=0,2", ":12: barrier has no mode"},
        {graph, "other 0.000000000 0.000000000 0.000000729", "wait 0 0 0", ":9: a graph has no wait"},
        {graph, "other 0.000000000 0.000000000 0.000000729", "isend 0 0 0 comm=0 peer=1 tag=1 bytes=1",
         ":9: a graph has no isend"},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) expect_refused(cases[i].of, cases[i].what, cases[i].by, cases[i].says);
}

/* ---- compressed text ---- */

static void test_compressed(void)
{
    struct fc_trace t, u;
    struct fc_status st = {0};
    unsigned char out[8192];
    size_t n = 0;
    read_good(&t);
    gzFile gz = gzopen(second, "wb");
    gzwrite(gz, good, sizeof good - 1);
    gzclose(gz);
    CU_ASSERT_EQUAL_FATAL(fc_trace_read(second, &u, &st), FC_OK);
    expect_same(&t, &u);
    fc_trace_free(&u);
    CU_ASSERT_EQUAL(
        lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)good, sizeof good - 1, out, &n, sizeof out),
        LZMA_OK);
    put_file(second, out, n);
    CU_ASSERT_EQUAL_FATAL(fc_trace_read(second, &u, &st), FC_OK);
    expect_same(&t, &u);
    fc_trace_free(&u);
    put_file(second, out, n / 2);
    CU_ASSERT_EQUAL(fc_trace_read(second, &u, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "the compressed data is cut in the middle"));
    st = (struct fc_status){0};
    n = ZSTD_compress(out, sizeof out, good, sizeof good - 1, 3);
    put_file(second, out, n);
    CU_ASSERT_EQUAL_FATAL(fc_trace_read(second, &u, &st), FC_OK);
    expect_same(&t, &u);
    fc_trace_free(&u);
    fc_trace_free(&t);
}

/* Good or refused, never a crash. */
static void test_damaged(void)
{
    char text[sizeof graph];
    struct fc_trace t;
    struct fc_status st;
    for (uint64_t i = 0; i < 3000; i++) {
        memcpy(text, graph, sizeof graph);
        for (uint64_t k = 0; k < 1 + i % 3; k++)
            text[fc_random_below(11, i, 2 * k, sizeof graph - 1)] =
                "0179-=,. \naf"[fc_random_below(11, i, 2 * k + 1, 12)];
        if (!read_text(text, &t, &st)) fc_trace_free(&t);
        CU_ASSERT(st.code == FC_OK || st.code == FC_INPUT || st.code == FC_NO);
    }
    CU_ASSERT_EQUAL_FATAL(read_text(graph, &t, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, false, &st), FC_OK);
    fc_trace_free(&t);
}

int suite_trace_graph(void)
{
    static const CU_TestInfo tests[] = {{"wildcards", test_wildcards}, {"graphs", test_graph},
                                        {"refusals", test_refusals},   {"compressed text", test_compressed},
                                        {"damaged", test_damaged},     CU_TEST_INFO_NULL};
    make_paths();
    return fc_add_suite("trace graph", tests);
}
