/* test_traces.c - the trace format: both forms, every refusal with its line, cut and damaged files, matching,
 * totals, demand and generated traces. */
#include "tests/tests.h"
#include "traces/traces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* Every op once at least; lines are counted in the refusals below. */
static const char good[] =
    "fabricast-trace 1\n"                                                                          /* 1 */
    "program demo -n 3\n"                                                                          /* 2 */
    "recorded by hand\n"                                                                           /* 3 */
    "unwrapped MPI_Comm_spawn\n"                                                                   /* 4 */
    "ranks 3\n"                                                                                    /* 5 */
    "comm 0 0-2\n"                                                                                 /* 6 */
    "comm 1 2,0\n"                                                                                 /* 7 */
    "events 39\n"                                                                                  /* 8 */
    "rank 0 17\n"                                                                                  /* 9 */
    "init 0.000000000 0.100000000 0.000000000\n"                                                   /* 10 */
    "irecv 0.100000001 0.100000002 0.000000500 comm=0 peer=1 tag=7 bytes=100 request=0\n"          /* 11 */
    "irecv 0.100000003 0.100000004 0.000000000 comm=1 peer=2 tag=8 bytes=0 request=1\n"            /* 12 */
    "isend 0.100000005 0.100000006 0.000000000 mode=synchronous comm=0 peer=1 tag=9 bytes=4096 request=2\n"
    "wait 0.100000007 0.200000000 0.050000000 requests=0-1 polls=70\n"                             /* 14 */
    "wait 0.200000001 0.200000002 0.000000000 requests=2\n"                                        /* 15 */
    "send 0.200000003 0.200000004 0.000000000 mode=buffered comm=1 peer=2 tag=3 bytes=10\n"        /* 16 */
    "poll 0.200000004 0.200000004 0.000000000 polls=65535\n"                                       /* 17 */
    "barrier 0.200000005 0.200000006 0.000000000 comm=0\n"                                         /* 18 */
    "bcast 0.200000007 0.200000008 0.000000000 comm=1 root=2 bytes=64\n"                           /* 19 */
    "alltoallv 0.200000009 0.300000000 0.000000000 comm=1 bytes=30 sizes=10,20\n"                  /* 20 */
    "allreduce 0.300000001 0.300000002 0.000000000 mode=nonblocking comm=0 bytes=8 request=3\n"    /* 21 */
    "wait 0.300000003 0.300000004 0.000000000 requests=3\n"                                        /* 22 */
    "comm 0.300000005 0.300000006 0.000000000 comm=1 parent=0\n"                                   /* 23 */
    "rma 0.300000007 0.300000008 0.000000000 mode=get peer=2 bytes=512\n"                          /* 24 */
    "other 0.300000009 0.300000010 0.000000000\n"                                                  /* 25 */
    "finalize 0.300000011 0.400000000 0.000000000\n"                                               /* 26 */
    "rank 1 7\n"                                                                                   /* 27 */
    "init 0.000000000 0.100000000 0.000000000\n"                                                   /* 28 */
    "send 0.100000001 0.100000002 0.020000000 mode=ready comm=0 peer=0 tag=7 bytes=100\n"          /* 29 */
    "recv 0.100000003 0.200000000 0.000000000 comm=0 peer=0 tag=9 bytes=4096\n"                    /* 30 */
    "barrier 0.200000001 0.200000002 0.000000000 comm=0\n"                                         /* 31 */
    "allreduce 0.200000003 0.200000004 0.000000000 comm=0 bytes=8\n"                               /* 32 */
    "comm 0.200000005 0.200000006 0.000000000 comm=-1 parent=0\n"                                  /* 33 */
    "finalize 0.200000007 0.400000001 0.000000000\n"                                               /* 34 */
    "rank 2 15\n"                                                                                  /* 35 */
    "send 0.100000001 0.100000002 0.000000000 comm=1 peer=0 tag=8 bytes=0\n"                       /* 36 */
    "recv 0.100000003 0.200000000 0.000000000 comm=1 peer=0 tag=3 bytes=10\n"                      /* 37 */
    "gather 0.200000001 0.200000002 0.000000000 comm=0 root=1 bytes=1\n"                           /* 38 */
    "scatter 0.200000003 0.200000004 0.000000000 comm=0 root=1 bytes=2\n"                          /* 39 */
    "allgather 0.200000005 0.200000006 0.000000000 comm=0 bytes=3\n"                               /* 40 */
    "alltoall 0.200000007 0.200000008 0.000000000 comm=0 bytes=4\n"                                /* 41 */
    "reduce 0.200000009 0.200000010 0.000000000 comm=0 root=0 bytes=5\n"                           /* 42 */
    "reduce_scatter 0.200000011 0.200000012 0.000000000 comm=0 bytes=6\n"                          /* 43 */
    "scan 0.200000013 0.200000014 0.000000000 comm=0 bytes=7\n"                                    /* 44 */
    "comm 0.200000015 0.200000016 0.000000000 mode=nonblocking comm=1 parent=0 request=0\n"        /* 45 */
    "barrier 0.200000017 0.200000018 0.000000000 mode=nonblocking comm=0 request=1\n"              /* 46 */
    "wait 0.200000019 0.200000020 0.000000000 requests=1,0\n"                                      /* 47 */
    "wait 0.200000021 0.200000022 0.000000000\n"                                                   /* 48 */
    "rma 0.200000023 0.200000024 0.000000000 mode=put peer=0 bytes=99\n"                           /* 49 */
    "rma 0.200000025 0.200000026 0.000000000 mode=update peer=0 bytes=8\n"                         /* 50 */
    "end\n";                                                                                       /* 51 */

/* ---- files ---- */

static char path[64], second[64];

static void remove_paths(void)
{
    unlink(path);
    unlink(second);
}

static void make_paths(void)
{
    snprintf(path, sizeof path, "/tmp/fabricast-trace-%ld", (long)getpid());
    snprintf(second, sizeof second, "/tmp/fabricast-trace-%ld-b", (long)getpid());
    atexit(remove_paths);
}

static void put_file(const char *where, const void *data, size_t size)
{
    FILE *file = fopen(where, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(data, 1, size, file), size);
    fclose(file);
}

/* The file's bytes, malloc'd. */
static char *get_file(const char *where, size_t *size)
{
    FILE *file = fopen(where, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size + 1);
    CU_ASSERT_EQUAL(fread(data, 1, *size, file), *size);
    data[*size] = '\0';
    fclose(file);
    return data;
}

static enum fc_code read_text(const char *text, struct fc_trace *trace, struct fc_status *st)
{
    *st = (struct fc_status){0};
    put_file(path, text, strlen(text));
    return fc_trace_read(path, trace, st);
}

static void read_good(struct fc_trace *trace)
{
    struct fc_status st;
    CU_ASSERT_EQUAL_FATAL(read_text(good, trace, &st), FC_OK);
}

/* The good text with its first `what` replaced; malloc'd. */
static char *replaced(const char *what, const char *by)
{
    const char *at = strstr(good, what);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    char *text = malloc(sizeof good + strlen(by));
    sprintf(text, "%.*s%s%s", (int)(at - good), good, by, at + strlen(what));
    return text;
}

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

static void expect_same(const struct fc_trace *a, const struct fc_trace *b)
{
    uint64_t n = a->first_event[a->n_ranks];
    CU_ASSERT_EQUAL_FATAL(n, b->first_event[b->n_ranks]);
    CU_ASSERT_STRING_EQUAL(a->program, b->program);
    for (uint64_t i = 0; i < n; i++) {
        struct fc_event x = a->events[i], y = b->events[i];
        CU_ASSERT_EQUAL_FATAL(x.n_list, y.n_list);
        if (x.n_list)
            CU_ASSERT_EQUAL(memcmp(a->lists + x.list, b->lists + y.list, x.n_list * sizeof *a->lists), 0);
        x.list = y.list = 0;
        CU_ASSERT_EQUAL(memcmp(&x, &y, sizeof x), 0);
    }
    for (uint32_t r = 0; r < a->n_ranks; r++) CU_ASSERT_EQUAL(a->first_line[r], b->first_line[r]);
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
        {"poll 0.200000004 0.200000004 0.000000000 polls", "poll 0.200000004 0.200000004", ":17: poll lacks its compute"},
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
        {"requests=0-1", "requests=0-3", ":14: request 3 is completed but was never made (this rank has made 3 so far)"},
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
        CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, false, &st), FC_OK);
        CU_ASSERT_EQUAL(fc_trace_read(second, &back, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, cases[i].says));
        fc_trace_free(&t);
    }
    struct fc_trace t, back;
    struct fc_status st = {0};
    read_good(&t);
    t.lists[t.events[5].list] = 0; /* completed by the wait before */
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, false, &st), FC_OK);
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
    if (code == FC_OK) fc_trace_free(&t);
    else CU_ASSERT((code == FC_INPUT || code == FC_NO) && st.code == code && st.message[0]);
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
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, false, &st), FC_OK);
    char *packed = get_file(second, &size);
    for (size_t n = 0; n < size; n++) {
        put_file(second, packed, n);
        CU_ASSERT(!survives());
    }
    free(packed);
    fc_trace_free(&t);
    put_file(second, good, (size_t)(strstr(good, "recv 0.100000003 0.2") - good));
    CU_ASSERT_EQUAL(fc_trace_read(second, &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, ":29: the trace ends here, cut in the middle (expected more events of the rank: 5)"));
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
        if (how % 3 == 0) data[at] = (char)(how >> 8);
        else if (how % 3 == 1) data[at] = (char)(data[at] ^ 1 << (how >> 8) % 8);
        else data[at] = "0179-=,. \n"[(how >> 8) % 10];
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
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(&t, second, false, &st), FC_OK);
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
    file[15] = 0x10;                                                       /* 2^60 bytes */
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
    expect_unmatched("peer=1 tag=7", "peer=1 tag=6", ":11: rank 0: no message is sent by rank 1 with tag 6 in "
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
    struct fc_demand d = {.name = "by hand", .n_tasks = 4, .n_entries = 4, .src = src, .dst = dst, .bytes = bytes,
                          .messages = messages, .n_dense = 1, .dense = {{a, b, 6}}};
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
                                         {"the samples", test_samples},
                                         CU_TEST_INFO_NULL};
    static const CU_TestInfo meaning[] = {{"matching", test_match},
                                          {"matching keeps order", test_match_order},
                                          {"unmatched calls are named", test_unmatched},
                                          {"totals", test_summary},
                                          {"demand", test_demand},
                                          {"generated traces", test_generate},
                                          {"refusals of generate", test_generate_refusals},
                                          CU_TEST_INFO_NULL};
    make_paths();
    return fc_add_suite("traces format", format) || fc_add_suite("traces meaning", meaning);
}
