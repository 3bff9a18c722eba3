/* test_traces.c - the trace format: both forms, every refusal with its line, cut and damaged files. */
#include "tests/trace_good.h"
#include "tests/trace_oracles.h"
#include "traces/trace_format.h"

#include <zstd.h>

/* ---- both forms ---- */

static void test_reads_what_is_written(void)
{
    struct fc_trace t;
    read_good(&t);
    CU_ASSERT_STRING_EQUAL(t.program, "demo -n 3");
    CU_ASSERT_STRING_EQUAL(t.recorded, "by hand");
    CU_ASSERT_EQUAL(t.n_unwrapped, 1);
    CU_ASSERT_STRING_EQUAL(t.unwrapped[0], "MPI_Comm_spawn");
    CU_ASSERT_EQUAL(t.n_ranks, 3);
    CU_ASSERT_EQUAL(t.n_comms, 2);
    CU_ASSERT_EQUAL(t.comm_member[t.comm_first[1]], 2); /* order of the communicator, not of the world */
    CU_ASSERT_EQUAL(t.comm_member[t.comm_first[1] + 1], 0);
    const struct fc_event *e = &t.events[3];
    CU_ASSERT_EQUAL(e->op, FC_OP_ISEND);
    CU_ASSERT_EQUAL(e->mode, 1);
    CU_ASSERT_EQUAL(e->bytes, 4096);
    CU_ASSERT_EQUAL(e->request, 2);
    CU_ASSERT_EQUAL(e->enter_s, 0.100000005);
    CU_ASSERT_EQUAL(t.events[4].polls, 70);
    CU_ASSERT_EQUAL(t.events[4].n_list, 2);
    CU_ASSERT_EQUAL(t.lists[t.events[4].list + 1], 1);
    CU_ASSERT_EQUAL(fc_event_place(&t, 2, t.first_event[2] + 1).line, 37);
    fc_trace_free(&t);
}

/* Writes version 1 of the packed form to `second`. */
static void put_version_1(const struct fc_trace *t)
{
    struct fc_status st = {0};
    FILE *out = fopen(second, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL_FATAL(fc_write_trace_packed(t, out, &st), FC_OK);
    fclose(out);
}

static void test_forms_agree(void)
{
    struct fc_status st = {0};
    struct fc_trace text, packed;
    size_t size;
    read_good(&text);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&text, second, false, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_trace_read(second, &packed, &st), FC_OK);
    expect_same(&text, &packed);
    fc_trace_free(&packed);
    put_version_1(&text);
    CU_ASSERT_EQUAL_FATAL(fc_trace_read(second, &packed, &st), FC_OK);
    expect_same(&text, &packed);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&packed, second, true, &st), FC_OK);
    char *again = get_file(second, &size);
    CU_ASSERT_STRING_EQUAL(again, good); /* byte for byte through both forms */
    free(again);
    fc_trace_free(&text);
    fc_trace_free(&packed);
}

static void test_other_spellings(void)
{
    struct fc_trace t;
    struct fc_status st;
    char *text = replaced("comm 0 0-2\n", "# people may write comments in the head\n\ncomm 0 0,1,2\n");
    CU_ASSERT_EQUAL_FATAL(read_text(text, &t, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_event_place(&t, 0, 0).line, 12);
    fc_trace_free(&t);
    free(text);
    text = replaced("irecv 0.100000001 0.100000002 0.000000500 comm=0 peer=1 tag=7 bytes=100 request=0",
                    "irecv  .1 1.00000002e-1 5E-7\trequest=0 bytes=100 tag=7 peer=1 comm=0 polls=0 ");
    CU_ASSERT_EQUAL_FATAL(read_text(text, &t, &st), FC_OK);
    CU_ASSERT_EQUAL(t.events[1].leave_s, 0.100000002);
    CU_ASSERT_EQUAL(t.events[1].compute_s, 0.0000005);
    fc_trace_free(&t);
    free(text);
}

/* ---- refusals of the text form ---- */

static void test_text_refusals(void)
{
    static const struct {
        const char *what, *by, *says;
    } cases[] = {
        {"fabricast-trace 1", "something else", ":1: not a trace"},
        {"fabricast-trace 1", "fabricast-trace 2", ":1: version '2'"},
        {"ranks 3\n", "", ":5: a communicator before the number of ranks"},
        {"ranks 3\n", "ranks 3\nranks 3\n", ":6: the number of ranks is given a second time"},
        {"ranks 3", "ranks 0", ":5: ranks: '0' is out of range"},
        {"ranks 3", "ranks 2000000000", ":5: 2000000000 ranks announced, more than the file can hold"},
        {"recorded", "recroded", ":3: unknown word 'recroded'"},
        {"comm 0 0-2", "comm 0 0-1", ":8: communicator 0 is not the world"},
        {"comm 0 0-2", "comm 0 0,2,1", ":8: communicator 0 is not the world"},
        {"comm 1 2,0", "comm 1 ", ":7: communicator 1 has no member"},
        {"comm 1 2,0", "comm 1 2,3", ":7: members of communicator 1: '3' is out of range"},
        {"comm 1 2,0", "comm 1 0-4000000000", ":7: members of communicator 1: "},
        {"comm 1 2,0", "comm 1 2,2", ":7: members of communicator 1: 2 is listed twice"},
        {"comm 1 2,0", "comm 2 2,0", ":7: communicator 2 out of order (expected 1)"},
        {"events 39\n", "", "the trace ends inside its head"},
        {"events 39", "events 9000000000000000000", ":8: 9000000000000000000 events announced, more than"},
        {"events 39", "events 38", ":35: rank 2 announces 15 events, but of the head's 38 only 14"},
        {"events 39", "events 40", ":51: the ranks have 39 events, but the head announces 40"},
        {"rank 1 7", "rank 2 7", ":27: rank 2 out of order (expected 1)"},
        {"rank 1 7", "rank 1 8", ":35: op 'rank' is unknown"},
        {"rank 1 7", "rank 1 6", ":34: expected 'rank 2 N'"},
        {"rank 0 17", "rank 0 18", ":27: op 'rank' is unknown"},
        {"end\n", "", ":50: the trace ends here, cut"},
        {"end\n", "end\nmore\n", ":52: text after the trace's end"},
        {"barrier 0.200000005", "barier 0.200000005", ":18: op 'barier' is unknown (meant: barrier)"},
        {"barrier 0.200000005", "\nbarrier 0.200000005", ":18: an empty line"},
        {"0.200000004 0.000000000 polls=65535", "0.200000004", ":17: poll lacks its compute time"},
        {"init 0.000000000 0.1", "init -1 0.1", ":10: enter time: '-1' is out of range"},
        {"init 0.000000000 0.1", "init 0 1e9 ", ":10: leave time: '1e9' is out of range"},
        {"init 0.000000000 0.1", "init 1.x 0.1", ":10: enter time: '1.x' is not a number"},
        {"0.100000007 0.200000000", "0.300000007 0.200000000", ":14: the call leaves (0.200000000 s) before it enters"},
        {"peer=1 tag=7", "peer=3 tag=7", ":11: peer: '3' is out of range (allowed: 0 to 2)"},
        {"peer=1 tag=7", "peer=-1 tag=7", ":11: peer: '-1' is out of range"},
        {"comm=1 peer=2 tag=8", "comm=1 peer=1 tag=8", ":12: peer 1 is no member of communicator 1"},
        {"comm=1 root=2", "comm=1 root=1", ":19: root 1 is no member of communicator 1"},
        {"comm=0 peer=0 tag=9", "comm=1 peer=0 tag=9", ":30: rank 1 is no member of communicator 1"},
        {"comm=1 parent=0", "comm=1 parent=2", ":23: parent: '2' is out of range"},
        {"comm=0 peer=1 tag=7", "comm=2 peer=1 tag=7", ":11: comm: '2' is out of range"},
        {"tag=7", "tag=-7", ":11: tag: '-7' is out of range"},
        {"tag=7 ", "", ":11: irecv lacks tag="},
        {"tag=7 ", "tag=7 tag=7 ", ":11: tag is given twice"},
        {"tag=7 ", "tag=7 root=1 ", ":11: irecv has no root"},
        {"tag=7 ", "tag=7 colour=1 ", ":11: 'colour=1' is not a known key=value"},
        {"tag=7 ", "tag=7 tag ", ":11: 'tag' is not a known key=value"},
        {"bytes=100", "bytes=99999999999999999999", ":11: bytes: '99999999999999999999' is out of range"},
        {"bytes=100", "bytes=1e2", ":11: bytes: '1e2' is not an integer"},
        {"request=0", "request=1", ":11: request 1 of irecv (expected 0"},
        {"request=2", "request=1", ":13: request 1 of isend (expected 2"},
        {" request=2", "", ":13: isend lacks request="},
        {"mode=synchronous", "mode=fast", ":13: mode 'fast' is unknown for isend"},
        {"mode=get peer", "peer", ":24: rma lacks mode="},
        {"comm=0\nbcast", "comm=0 request=3\nbcast", ":18: a blocking barrier makes no request"},
        {"requests=0-1", "requests=0-3",
         ":14: request 3 is completed but was never made (this rank has made 3 so far)"},
        {"requests=0-1", "requests=0-2000000000", ":14: request 2000000000 is completed but was never made"},
        {"requests=0-1", "requests=0,0", ":14: request 0 is completed twice"},
        {"requests=0-1", "requests=0-1,0-1", ":14: a request is completed twice (this rank has made 3"},
        {"requests=2\n", "requests=1\n", ":15: request 1 is completed twice"},
        {"requests=0-1", "requests=1-0", ":14: requests: '0' is out of range"},
        {"requests=0-1", "requests=", ":14: requests: '' is not an integer"},
        {"requests=0-1", "requests=0,", ":14: requests: '' is not an integer"},
        {"sizes=10,20", "sizes=10,21", ":20: the sizes sum to 31, not to bytes=30"},
        {"sizes=10,20", "sizes=10,10,10", ":20: 3 sizes for the 2 members of communicator 1"},
        {"sizes=10,20", "sizes=40,-10", ":20: sizes: '-10' is out of range"},
        {" sizes=10,20", "", ":20: alltoallv lacks sizes="},
        {"polls=70", "polls=70000", ":14: polls: '70000' is out of range (allowed: 0 to 65535)"},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_trace t;
        struct fc_status st;
        char *text = replaced(cases[i].what, cases[i].by);
        CU_ASSERT_EQUAL(read_text(text, &t, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, cases[i].says));
        CU_ASSERT_PTR_NULL(t.events); /* nothing is left to free */
        free(text);
    }
}

/* What only the whole shows is refused in the packed form with the line that the text form would have. */
static void test_packed_refusals(void)
{
    static const struct {
        uint64_t event;
        size_t offset, size;
        int64_t value;
        const char *says;
    } cases[] = {
        {1, offsetof(struct fc_event, peer), 4, 3, ":11: peer 3 is out of range (allowed: 0 to 2)"},
        {2, offsetof(struct fc_event, peer), 4, 1, ":12: peer 1 is no member of communicator 1"},
        {9, offsetof(struct fc_event, peer), 4, 1, ":19: root 1 is no member of communicator 1"},
        {1, offsetof(struct fc_event, comm), 4, 2, ":11: communicator 2 is out of range (there are 2)"},
        {19, offsetof(struct fc_event, comm), 4, 1, ":30: rank 1 is no member of communicator 1"},
        {13, offsetof(struct fc_event, peer), 4, 7, ":23: communicator 7 is out of range"},
        {3, offsetof(struct fc_event, op), 1, FC_OP_SEND, ":15: request 2 is completed but was never made"},
        {8, offsetof(struct fc_event, mode), 1, 2, ":18: barrier has no mode 2"},
        {20, offsetof(struct fc_event, mode), 1, 3, ":31: barrier has no mode 3"},
        {10, offsetof(struct fc_event, bytes), 8, 31, ":20: the sizes sum to 30, not to bytes=31"},
        {18, offsetof(struct fc_event, tag), 4, -7, ":29: the packed trace is damaged: the tags of rank 1"},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_trace t, back;
        struct fc_status st = {0};
        read_good(&t);
        memcpy((char *)&t.events[cases[i].event] + cases[i].offset, &cases[i].value, cases[i].size);
        put_version_1(&t);
        CU_ASSERT_EQUAL(fc_trace_read(second, &back, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, cases[i].says));
        fc_trace_free(&t);
    }
    struct fc_trace t, back;
    struct fc_status st = {0};
    read_good(&t);
    t.lists[t.events[5].list] = 0; /* completed by the wait before */
    put_version_1(&t);
    CU_ASSERT_EQUAL(fc_trace_read(second, &back, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, ":15: request 0 is completed twice"));
    fc_trace_free(&t);
}

/* ---- cut and damaged files: refused with a message, never a crash ---- */

/* Reads whatever is in `second`: good or refused, and nothing else. */
static bool survives(void)
{
    struct fc_trace t;
    struct fc_status st = {0};
    enum fc_code code = fc_trace_read(second, &t, &st);
    if (code == FC_OK)
        fc_trace_free(&t);
    else
        CU_ASSERT((code == FC_INPUT || code == FC_NO) && st.code == code && st.message[0]);
    return code == FC_OK;
}

static void test_cut_anywhere(void)
{
    struct fc_trace t;
    struct fc_status st = {0};
    size_t size;
    for (size_t n = 0; n + 1 < sizeof good - 1; n++) { /* the last line end may be missing */
        put_file(second, good, n);
        CU_ASSERT(!survives());
    }
    read_good(&t);
    put_version_1(&t);
    char *packed = get_file(second, &size);
    for (size_t n = 0; n < size; n++) {
        put_file(second, packed, n);
        CU_ASSERT(!survives());
    }
    free(packed);
    fc_trace_free(&t);
    put_file(second, good, (size_t)(strstr(good, "recv 0.100000003 0.2") - good));
    CU_ASSERT_EQUAL(fc_trace_read(second, &t, &st), FC_INPUT);
    CU_ASSERT(
        fc_says(&st, FC_INPUT, ":29: the trace ends here, cut in the middle (expected more events of the rank: 5)"));
}

/* A packed sample cut in half: the message names the last rank that is whole. */
static void test_cut_sample(void)
{
    struct fc_trace t;
    struct fc_status st = {0};
    size_t size;
    CU_ASSERT_EQUAL_FATAL(fc_trace_read("traces/samples/lammps-lj-16.fct", &t, &st), FC_OK);
    long rank_4 = t.first_line[4], last = t.first_line[15];
    fc_trace_free(&t);
    char *packed = get_file("traces/samples/lammps-lj-16.fct", &size);
    put_file(second, packed, size / 2);
    free(packed);
    CU_ASSERT_EQUAL(fc_trace_read(second, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "cut in the middle"));
    CU_ASSERT(st.line > rank_4 && st.line < last);
}

static void mutate(char *data, size_t size, uint64_t round)
{
    uint64_t n = 1 + fc_random_below(7, round, 0, 4);
    for (uint64_t k = 0; k < n; k++) {
        size_t at = (size_t)fc_random_below(7, round, 1 + 3 * k, size);
        uint64_t how = fc_random(7, round, 2 + 3 * k);
        if (how % 3 == 0)
            data[at] = (char)(how >> 8);
        else if (how % 3 == 1)
            data[at] = (char)(data[at] ^ 1 << (how >> 8) % 8);
        else
            data[at] = "0179-=,. \n"[(how >> 8) % 10];
    }
}

static void fuzz(const char *data, size_t size, int rounds)
{
    char *copy = malloc(size);
    for (int i = 0; i < rounds; i++) {
        memcpy(copy, data, size);
        mutate(copy, size, (uint64_t)i);
        put_file(second, copy, size);
        survives();
    }
    free(copy);
}

static void test_fuzz_text(void)
{
    fuzz(good, sizeof good - 1, 4000);
}

/* A payload as a packed file, so that damage reaches what is behind the checksum. */
static void put_payload(const void *payload, size_t size)
{
    size_t bound = ZSTD_compressBound(size);
    char *file = malloc(16 + bound);
    memcpy(file, "fctrace1", 8);
    for (int i = 0; i < 8; i++) file[8 + i] = (char)((uint64_t)size >> 8 * i);
    size_t n = ZSTD_compress(file + 16, bound, payload, size, 1);
    put_file(second, file, 16 + n);
    free(file);
}

static void test_fuzz_packed(void)
{
    struct fc_trace t;
    struct fc_status st = {0};
    size_t size;
    read_good(&t);
    put_version_1(&t);
    fc_trace_free(&t);
    char *packed = get_file(second, &size);
    size_t n = (size_t)ZSTD_getFrameContentSize(packed + 16, size - 16);
    char *payload = malloc(n), *copy = malloc(n);
    CU_ASSERT_EQUAL_FATAL(ZSTD_decompress(payload, n, packed + 16, size - 16), n);
    fuzz(packed, size, 1500);
    for (int i = 0; i < 4000; i++) {
        memcpy(copy, payload, n);
        mutate(copy, n, (uint64_t)i);
        put_payload(copy, n);
        survives();
    }
    static const char kinds[] = {17, FC_OP_INIT, FC_OP_IRECV, FC_OP_IRECV}; /* rank 0: length, calls */
    char *at = memmem(payload, n, kinds, sizeof kinds);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    at[2] = 31;
    put_payload(payload, n);
    CU_ASSERT_EQUAL(fc_trace_read(second, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, ":11: op number 31 is unknown"));
    at[2] = FC_OP_IRECV;
    for (size_t k = 0; k < n; k++) { /* shorter than its columns say, but a whole file */
        put_payload(payload, k);
        CU_ASSERT(!survives());
    }
    free(payload);
    free(copy);
    free(packed);
}

/* A few bytes that announce more than any memory: refused before it is asked for. */
static void test_hostile_sizes(void)
{
    struct fc_trace t;
    struct fc_status st = {0};
    unsigned char file[16 + 13] = "fctrace1";
    static const unsigned char frame[5] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0}; /* zstd frame with an 8-byte size */
    file[15] = 0x10;                                                      /* 2^60 bytes */
    memcpy(file + 16, frame, sizeof frame);
    file[16 + 12] = 0x10;
    put_file(second, file, sizeof file);
    CU_ASSERT_EQUAL(fc_trace_read(second, &t, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "out of memory"));
    st = (struct fc_status){0};
    file[16 + 12] = 0x20;
    put_file(second, file, sizeof file);
    CU_ASSERT_EQUAL(fc_trace_read(second, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "two sizes of its contents disagree"));
}

int suite_traces(void)
{
    static const CU_TestInfo format[] = {{"reads what is written", test_reads_what_is_written},
                                         {"both forms agree", test_forms_agree},
                                         {"other spellings", test_other_spellings},
                                         {"refusals of the text form", test_text_refusals},
                                         {"refusals of the packed form", test_packed_refusals},
                                         {"cut anywhere", test_cut_anywhere},
                                         {"a sample cut in half", test_cut_sample},
                                         {"damaged text", test_fuzz_text},
                                         {"damaged packed files", test_fuzz_packed},
                                         {"hostile sizes", test_hostile_sizes},
                                         CU_TEST_INFO_NULL};
    make_paths();
    return fc_add_suite("traces format", format);
}
