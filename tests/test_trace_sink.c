/* test_trace_sink.c - the sink that readers of foreign traces fill, and a trace in memory as a source. */
#include "tests/tests.h"
#include "traces/trace_format.h"
#include "traces/trace_formats.h"
#include "traces/trace_source.h"

#include <string.h>

static enum fc_code read_with(enum fc_code (*read)(const char *, const struct fc_trace_options *,
                                                   struct fc_trace_sink *),
                              struct fc_trace *trace, struct fc_status *st)
{
    static const struct fc_trace_options options = FC_TRACE_OPTIONS;
    struct fc_trace_format format = {.name = "made up", .read = read};
    *trace = (struct fc_trace){.file = "a.trace"};
    *st = (struct fc_status){0};
    return fc_trace_read_foreign(&format, &options, trace, st);
}

static enum fc_code add(struct fc_trace_sink *sink, uint32_t rank, enum fc_op op, int32_t comm, int32_t peer,
                        int32_t request, const int64_t *list, uint32_t n_list)
{
    struct fc_event e = {.op = (uint8_t)op,
                         .comm = comm,
                         .peer = peer,
                         .tag = 1,
                         .bytes = 8,
                         .request = request,
                         .n_list = n_list,
                         .list = 12345};
    if (op == FC_OP_WAIT) e.bytes = e.tag = 0;
    return fc_sink_event(sink, rank, &e, list);
}

/* ---- what is taken ---- */

enum { ROUNDS = 150000 }; /* beyond the largest piece, twice */

/* Two ranks alternately; rank 2 has nothing; a communicator that is named before it is defined. */
static enum fc_code read_messages(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    int32_t comm;
    CU_ASSERT_EQUAL(options->flops_per_s, 1e9);
    CU_ASSERT_STRING_EQUAL(path, "a.trace");
    if (fc_sink_start(sink, 3, "prog", NULL)) return sink->st->code;
    for (int64_t i = 0; i < ROUNDS; i++) {
        CU_ASSERT_EQUAL_FATAL(fc_sink_requests(sink, 1), i);
        if (add(sink, 0, FC_OP_SEND, 1, 1, -1, NULL, 0) || add(sink, 1, FC_OP_IRECV, 1, 0, (int32_t)i, NULL, 0) ||
            add(sink, 1, FC_OP_WAIT, 0, -1, -1, &i, 1))
            return sink->st->code;
    }
    CU_ASSERT_EQUAL(fc_sink_events(sink, 0), ROUNDS);
    CU_ASSERT_EQUAL(fc_sink_events(sink, 1), 2 * ROUNDS);
    CU_ASSERT_EQUAL(fc_sink_events(sink, 2), 0);
    if (fc_sink_comm(sink, (const uint32_t[]){1, 0}, 2, &comm)) return sink->st->code;
    CU_ASSERT_EQUAL(comm, 1);
    if (fc_sink_note(sink, "MPI_Win_fence: only its time is kept", 1) || fc_sink_note(sink, "MPI_File_open", 1) ||
        fc_sink_note(sink, "MPI_Win_fence: only its time is kept", 4))
        return sink->st->code;
    return fc_sink_file(sink, 1, "a.1.trace");
}

static void test_messages(void)
{
    struct fc_trace t;
    struct fc_status st;
    CU_ASSERT_EQUAL_FATAL(read_with(read_messages, &t, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_trace_check(&t, &st), FC_OK);
    CU_ASSERT_STRING_EQUAL(t.program, "prog");
    CU_ASSERT_STRING_EQUAL(t.recorded, "");
    CU_ASSERT_EQUAL_FATAL(t.n_ranks, 3);
    CU_ASSERT_EQUAL_FATAL(t.n_comms, 2);
    CU_ASSERT_EQUAL(t.comm_first[1], 3);
    CU_ASSERT_EQUAL(t.comm_member[3], 1);
    CU_ASSERT_EQUAL(t.comm_member[4], 0);
    CU_ASSERT_EQUAL(t.first_event[1], ROUNDS);
    CU_ASSERT_EQUAL(t.first_event[2], 3 * ROUNDS);
    CU_ASSERT_EQUAL(t.first_event[3], 3 * ROUNDS);
    CU_ASSERT_EQUAL(t.n_lists, ROUNDS);
    for (int64_t i = 0; i < ROUNDS; i++) {
        const struct fc_event *e = &t.events[ROUNDS + 2 * i];
        CU_ASSERT_EQUAL_FATAL(e[0].request, i);
        CU_ASSERT_EQUAL_FATAL(e[0].list, 0);
        CU_ASSERT_EQUAL_FATAL(t.lists[e[1].list], i);
    }
    CU_ASSERT_EQUAL_FATAL(t.n_unwrapped, 2);
    CU_ASSERT_STRING_EQUAL(t.unwrapped[0], "(5 times: MPI_Win_fence: only its time is kept)");
    CU_ASSERT_STRING_EQUAL(t.unwrapped[1], "(MPI_File_open)");
    CU_ASSERT_STRING_EQUAL(fc_event_place(&t, 0, 0).file, "a.trace");
    CU_ASSERT_STRING_EQUAL(fc_event_place(&t, 1, ROUNDS).file, "a.1.trace");
    CU_ASSERT_EQUAL(fc_event_place(&t, 1, ROUNDS).line, 0);
    fc_trace_free(&t);
}

/* In a graph `request` is a processor: no requests are counted. */
static enum fc_code read_graph(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    (void)path;
    (void)options;
    if (fc_sink_start(sink, 2, NULL, NULL)) return sink->st->code;
    fc_sink_graph(sink);
    if (add(sink, 0, FC_OP_SEND, 0, 1, 5, NULL, 0) || add(sink, 0, FC_OP_RECV, 0, FC_ANY, 5, (int64_t[]){0}, 1) ||
        add(sink, 0, FC_OP_SEND, 0, 1, 0, (int64_t[]){~INT64_C(0), 1}, 2))
        return sink->st->code;
    CU_ASSERT_EQUAL(fc_sink_requests(sink, 0), 0);
    return FC_OK;
}

static void test_graph(void)
{
    struct fc_trace t;
    struct fc_status st;
    CU_ASSERT_EQUAL_FATAL(read_with(read_graph, &t, &st), FC_OK);
    CU_ASSERT_TRUE(t.graph);
    CU_ASSERT_EQUAL(fc_trace_check(&t, &st), FC_OK);
    CU_ASSERT_EQUAL(t.lists[t.events[2].list], -1);
    CU_ASSERT_EQUAL(t.lists[t.events[2].list + 1], 1);
    t.lists[t.events[1].list] = 1; /* on itself */
    CU_ASSERT_EQUAL(fc_trace_check(&t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "a.trace: event 1 of rank 0 depends on event 1, which does not come before it"));
    fc_trace_free(&t);
}

/* ---- what is refused ---- */

static enum fc_code read_nothing(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    (void)path;
    (void)options;
    (void)sink;
    return FC_OK;
}

static enum fc_code read_no_ranks(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    (void)path;
    (void)options;
    return fc_sink_start(sink, 0, NULL, NULL);
}

static enum fc_code read_many_ranks(const char *path, const struct fc_trace_options *options,
                                    struct fc_trace_sink *sink)
{
    (void)path;
    (void)options;
    return fc_sink_start(sink, 1 << 30, NULL, NULL);
}

static enum fc_code read_stranger(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    int32_t comm;
    (void)path;
    (void)options;
    if (fc_sink_start(sink, 4, NULL, NULL) || add(sink, 2, FC_OP_BARRIER, 0, -1, -1, NULL, 0)) return sink->st->code;
    return fc_sink_comm(sink, (const uint32_t[]){3, 4}, 2, &comm);
}

/* A reader that fails in the middle leaves nothing behind (the sanitizer looks). */
static enum fc_code read_half(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    (void)options;
    if (fc_sink_start(sink, 2, "p", "r")) return sink->st->code;
    for (int64_t i = 0; i < 500; i++)
        if (add(sink, 1, FC_OP_IRECV, 0, 0, (int32_t)i, NULL, 0) || add(sink, 1, FC_OP_WAIT, 0, -1, -1, &i, 1))
            return sink->st->code;
    return fc_fail(sink->st, FC_INPUT, (struct fc_place){path, 77}, "rubbish");
}

static void test_refusals(void)
{
    struct fc_trace t;
    struct fc_status st;
    CU_ASSERT_EQUAL(read_with(read_nothing, &t, &st), FC_FAULT);
    CU_ASSERT(fc_says(&st, FC_FAULT, "the reader of made up found no ranks"));
    fc_trace_free(&t);
    CU_ASSERT_EQUAL(read_with(read_no_ranks, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "a.trace: 0 ranks (allowed: 1 to 67108864)"));
    fc_trace_free(&t);
    CU_ASSERT_EQUAL(read_with(read_many_ranks, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "1073741824 ranks"));
    fc_trace_free(&t);
    CU_ASSERT_EQUAL(read_with(read_stranger, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "communicator 1 has member 4 (there are 4 ranks)"));
    fc_trace_free(&t);
    CU_ASSERT_EQUAL(read_with(read_half, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "a.trace:77: rubbish"));
    fc_trace_free(&t);
}

/* ---- a trace in memory as a source ---- */

static void walk(const struct fc_trace *t, struct fc_trace_source *source)
{
    uint64_t seen[3] = {0};
    for (bool more = true; more;) { /* the ranks by turns */
        more = false;
        for (uint32_t r = 0; r < 3; r++) {
            const struct fc_event *e = fc_source_peek(source, r), *same = &t->events[t->first_event[r] + seen[r]];
            CU_ASSERT_EQUAL(source->rank[r].number, seen[r]);
            if (!e) continue;
            CU_ASSERT_PTR_EQUAL_FATAL(e, fc_source_peek(source, r));
            CU_ASSERT_EQUAL_FATAL(e->op, same->op);
            if (e->n_list) CU_ASSERT_EQUAL_FATAL(*fc_source_list(source, r, e), t->lists[same->list]);
            fc_source_take(source, r);
            seen[r]++;
            more = true;
        }
    }
    for (uint32_t r = 0; r < 3; r++) CU_ASSERT_EQUAL(seen[r], t->first_event[r + 1] - t->first_event[r]);
}

static void test_source(void)
{
    struct fc_trace t;
    struct fc_trace_source source;
    struct fc_status st;
    CU_ASSERT_EQUAL_FATAL(read_with(read_messages, &t, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_source_memory(&t, &source, &st), FC_OK);
    CU_ASSERT_PTR_EQUAL(source.head, &t);
    walk(&t, &source);
    CU_ASSERT_EQUAL(source.restart(&source), FC_OK);
    walk(&t, &source);
    fc_source_close(&source);
    fc_source_close(&source); /* twice is safe */
    fc_trace_free(&t);
}

int suite_trace_sink(void)
{
    static const CU_TestInfo tests[] = {{"messages, communicators, notes, files", test_messages},
                                        {"a graph", test_graph},
                                        {"refusals", test_refusals},
                                        {"a trace in memory as a source", test_source},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite("trace sink", tests);
}
