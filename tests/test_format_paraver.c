/* test_format_paraver.c - Paraver traces written here, whose calls are known: compared with our text form,
 * line by line; each refusal with its line; a generated program of many ranks; cut and changed files. There
 * is no public .prv to compare with. */
#include "tests/support.h"
#include "tests/tests.h"
#include "tests/trace_oracles.h"
#include "traces/trace_formats.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64] = "", out[80];

static void put(const char *text, size_t n)
{
    CU_ASSERT_FATAL(fc_test_file(path, "", text, n));
}

static enum fc_code read_text(const char *text, size_t n, struct fc_trace *t, struct fc_status *st)
{
    put(text, n);
    *st = (struct fc_status){0};
    enum fc_code code = fc_trace_read(path, t, st);
    unlink(path);
    return code;
}

/* What the trace is in our text form from `rank 0` on, to be freed. */
static char *as_text(const struct fc_trace *t)
{
    struct fc_status st = {0};
    snprintf(out, sizeof out, "%s.fct", path);
    CU_ASSERT_EQUAL_FATAL(fc_trace_write(t, out, true, &st), FC_OK);
    FILE *f = fopen(out, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    char *text = calloc(1, 1 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    unlink(out);
    char *from = strstr(text, "rank 0 ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(from);
    memmove(text, from, strlen(from) + 1);
    return text;
}

static void expect(const char *prv, const char *text, const char *const *notes, size_t n_notes)
{
    struct fc_trace t;
    struct fc_status st;
    if (read_text(prv, strlen(prv), &t, &st)) {
        printf("\n    refused: line %ld: %s\n", st.line, st.message);
        CU_FAIL("a good trace is refused");
        return;
    }
    char *got = as_text(&t);
    if (strcmp(got, text)) printf("\n    expected:\n%s\n    got:\n%s", text, got);
    CU_ASSERT_STRING_EQUAL(got, text);
    CU_ASSERT_EQUAL(t.n_unwrapped, n_notes);
    for (uint32_t i = 0; i < t.n_unwrapped; i++) {
        bool found = false;
        for (size_t k = 0; k < n_notes; k++) found = found || !strcmp(t.unwrapped[i], notes[k]);
        if (!found) printf("\n    note: %s\n", t.unwrapped[i]);
        CU_ASSERT(found);
    }
    free(got);
    fc_trace_free(&t);
}
#define NOTES(...) (const char *const[]){__VA_ARGS__}, FC_COUNT(((const char *const[]){__VA_ARGS__}))

#define HEAD2 "#Paraver (01/02/2024 at 10:00):1000_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"
#define RUN2 "1:1:1:1:1:0:1000:1\n1:2:1:2:1:0:1000:1\n"

/* A receive that waits; the states of each rank; the sender's second half runs 3 of 8. */
static void test_blocking(void)
{
    expect("#Paraver (01/02/2024 at 10:00):100_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"
           "1:1:1:1:1:0:10:1\n1:2:1:2:1:0:5:1\n"
           "1:2:1:2:1:5:30:3\n2:2:1:2:1:5:50000001:2\n"
           "2:1:1:1:1:10:50000001:1\n3:1:1:1:1:10:12:2:1:2:1:5:30:4096:7\n1:1:1:1:1:10:12:9\n"
           "2:1:1:1:1:12:50000001:0:42000050:18446744073709551615\n1:1:1:1:1:12:15:1\n1:1:1:1:1:15:20:7\n"
           "2:1:1:1:1:20:50000003:32\n2:1:1:1:1:21:50000003:0\n2:2:1:2:1:30:50000001:0\n",
           "rank 0 2\nsend 0.000000010 0.000000012 0.000000010 comm=0 peer=1 tag=7 bytes=4096\n"
           "finalize 0.000000020 0.000000021 0.000000003\n"
           "rank 1 1\nrecv 0.000000005 0.000000030 0.000000005 comm=0 peer=0 tag=7 bytes=4096\nend\n",
           NULL, 0);
    /* microseconds; no states at all */
    expect("#Paraver (01/02/2024 at 10:00):100:0:1:2(1:0,1:0)\n"
           "2:0:1:1:1:10:50000001:34\n3:0:1:1:1:10:12:0:1:2:1:11:13:5:0\n2:0:1:2:1:11:50000001:2\n2:0:1:1:1:"
           "12:50000001:0\n"
           "2:0:1:2:1:13:50000001:0\n",
           "rank 0 1\nsend 0.000010000 0.000012000 0.000010000 mode=synchronous comm=0 peer=1 tag=0 bytes=5\n"
           "rank 1 1\nrecv 0.000011000 0.000013000 0.000011000 comm=0 peer=0 tag=0 bytes=5\nend\n",
           NOTES("(2 times: call of a rank without states before it: computation is all the time before the "
                 "call)"));
}

/* Rank 1 posts two receives long before they are sent and does other things in between: all is held back and
 * comes in order. */
static void test_nonblocking(void)
{
    expect(HEAD2 RUN2
           "2:2:1:2:1:10:50000001:4\n2:2:1:2:1:11:50000001:0\n2:2:1:2:1:12:50000001:4\n2:2:1:2:1:13:50000001:0\n"
           "2:2:1:2:1:20:50000003:31\n2:2:1:2:1:25:50000003:0\n2:2:1:2:1:30:50000001:5\n"
           "2:1:1:1:1:40:50000001:3\n3:1:1:1:1:40:41:2:1:2:1:12:50:200:2\n2:1:1:1:1:41:50000001:0\n"
           "2:2:1:2:1:50:50000001:0\n2:2:1:2:1:55:50000001:6\n"
           "2:1:1:1:1:60:50000001:37\n3:1:1:1:1:60:61:2:1:2:1:10:70:100:1\n2:1:1:1:1:61:50000001:0\n2:1:1:1:1:"
           "62:50000001:6\n"
           "2:2:1:2:1:70:50000001:0\n2:1:1:1:1:75:50000001:0\n",
           "rank 0 3\nisend 0.000000040 0.000000041 0.000000040 comm=0 peer=1 tag=2 bytes=200 request=0\n"
           "isend 0.000000060 0.000000061 0.000000019 mode=synchronous comm=0 peer=1 tag=1 bytes=100 request=1\n"
           "wait 0.000000062 0.000000075 0.000000001 requests=0-1\n"
           "rank 1 5\nirecv 0.000000010 0.000000011 0.000000010 comm=0 peer=0 tag=1 bytes=100 request=0\n"
           "irecv 0.000000012 0.000000013 0.000000001 comm=0 peer=0 tag=2 bytes=200 request=1\n"
           "init 0.000000020 0.000000025 0.000000007\n"
           "wait 0.000000030 0.000000050 0.000000005 requests=1\n"
           "wait 0.000000055 0.000000070 0.000000005 requests=0\nend\n",
           NULL, 0);
}

/* Sendrecv both ways; a Test that fails twice and then holds the arrival; Waitany for the send; persistent
 * requests. */
static void test_other_calls(void)
{
    expect(HEAD2 RUN2
           "2:1:1:1:1:10:50000001:41\n3:1:1:1:1:10:10:2:1:2:1:11:20:8:5\n2:2:1:2:1:11:50000001:42\n"
           "3:2:1:2:1:11:11:1:1:1:1:10:21:16:6\n2:2:1:2:1:20:50000001:0\n2:1:1:1:1:21:50000001:0\n"
           "2:1:1:1:1:30:50000001:4\n2:1:1:1:1:31:50000001:0\n2:1:1:1:1:32:50000001:39\n2:1:1:1:1:33:50000001:"
           "0\n"
           "2:1:1:1:1:34:50000001:62\n2:1:1:1:1:35:50000001:0\n"
           "2:2:1:2:1:36:50000001:124\n3:2:1:2:1:36:36:1:1:1:1:30:41:64:9\n3:2:1:2:1:36:36:1:1:1:1:45:46:65:9\n"
           "2:2:1:2:1:37:50000001:0\n2:2:1:2:1:38:50000001:6\n2:1:1:1:1:40:50000001:39\n"
           "2:1:1:1:1:42:50000001:0\n2:1:1:1:1:45:50000001:2\n2:1:1:1:1:46:50000001:0\n2:2:1:2:1:50:50000001:0\n"
           "2:2:1:2:1:60:50000004:65:50001000:512:50001001:0\n2:2:1:2:1:61:50000004:0\n"
           "2:2:1:2:1:62:50000003:22\n2:2:1:2:1:63:50000003:0\n2:2:1:2:1:64:50000003:19\n2:2:1:2:1:65:50000003:"
           "0\n"
           "2:2:1:2:1:66:50000001:39\n2:2:1:2:1:67:50000001:0\n",
           "rank 0 6\nirecv 0.000000010 0.000000010 0.000000010 comm=0 peer=1 tag=6 bytes=16 request=0\n"
           "send 0.000000010 0.000000010 0.000000000 comm=0 peer=1 tag=5 bytes=8\n"
           "wait 0.000000010 0.000000021 0.000000000 requests=0\n"
           "irecv 0.000000030 0.000000031 0.000000009 comm=0 peer=1 tag=9 bytes=64 request=1\n"
           "wait 0.000000040 0.000000042 0.000000007 requests=1 polls=2\n"
           "recv 0.000000045 0.000000046 0.000000003 comm=0 peer=1 tag=9 bytes=65\n"
           "rank 1 11\nirecv 0.000000011 0.000000011 0.000000011 comm=0 peer=0 tag=5 bytes=8 request=0\n"
           "send 0.000000011 0.000000011 0.000000000 comm=0 peer=0 tag=6 bytes=16\n"
           "wait 0.000000011 0.000000020 0.000000000 requests=0\n"
           "isend 0.000000036 0.000000036 0.000000016 comm=0 peer=0 tag=9 bytes=64 request=1\n"
           "isend 0.000000036 0.000000036 0.000000000 comm=0 peer=0 tag=9 bytes=65 request=2\n"
           "other 0.000000036 0.000000037 0.000000000\n"
           "wait 0.000000038 0.000000050 0.000000001 requests=1-2\n"
           "rma 0.000000060 0.000000061 0.000000010 mode=put peer=0 bytes=512\n"
           "other 0.000000062 0.000000063 0.000000001\nother 0.000000064 0.000000065 0.000000001\n"
           "poll 0.000000067 0.000000067 0.000000001 polls=1\nend\n",
           NOTES("(MPI_Comm_dup: only its time is kept)"));
}

/* Four ranks; communicator 2 is tasks 4 and 2. Only the root says so, and enters last. */
static void test_collectives(void)
{
    expect("#Paraver (01/02/2024 at "
           "10:00):1000_ns:1(4):1:4(1:1,1:1,1:1,1:1),3\nc:1:1:4:1:2:3:4\nc:1:2:2:4:2\nc:1:3:4:1:2:3:4\n"
           "1:1:1:1:1:0:9:1\n1:2:1:2:1:0:9:1\n1:3:1:3:1:0:9:1\n1:4:1:4:1:0:9:1\n"
           "2:2:1:2:1:10:50000002:13:50100001:80:50100002:0:50100004:2\n2:2:1:2:1:11:50000002:0\n"
           "2:2:1:2:1:12:50000002:10:50100001:8:50100002:8:50100004:2\n"
           "2:4:1:4:1:20:50000002:13\n2:4:1:4:1:20:50100001:81:50100002:161:50100003:1:50100004:2\n2:4:1:4:1:21:"
           "50000002:0\n"
           "2:4:1:4:1:22:50000002:10:50100001:8:50100002:8:50100004:2\n2:2:1:2:1:23:50000002:0\n2:4:1:4:1:23:"
           "50000002:0\n"
           "2:1:1:1:1:30:50000002:7:50100001:50:50100003:1:50100004:3\n2:2:1:2:1:30:50000002:7:50100002:50:"
           "50100004:3\n"
           "2:3:1:3:1:30:50000002:7:50100002:50:50100004:3\n2:4:1:4:1:30:50000002:7:50100002:50:50100004:3\n"
           "2:1:1:1:1:31:50000002:0\n2:2:1:2:1:32:50000002:0\n2:3:1:3:1:33:50000002:0\n2:4:1:4:1:34:50000002:0\n"
           "2:2:1:2:1:40:50000002:12:50100001:13:50100004:2\n2:4:1:4:1:40:50000002:12:50100001:12:50100004:2\n"
           "2:2:1:2:1:41:50000002:0\n2:4:1:4:1:41:50000002:0\n"
           "2:1:1:1:1:50:50000002:80:50100001:400:50100002:100:50100004:1\n2:1:1:1:1:51:50000002:0\n"
           "2:1:1:1:1:60:50000002:8:50100004:9\n2:1:1:1:1:61:50000002:0\n2:1:1:1:1:62:50000002:155\n2:1:1:1:1:"
           "63:50000002:0\n"
           "2:3:1:3:1:70:50000002:16:50100002:7:50100004:1\n2:3:1:3:1:71:50000002:0\n",
           "rank 0 4\nbcast 0.000000030 0.000000031 0.000000009 comm=2 root=0 bytes=50\n"
           "reduce_scatter 0.000000050 0.000000051 0.000000000 comm=0 bytes=100\nother 0.000000060 0.000000061 "
           "0.000000000\n"
           "other 0.000000062 0.000000063 0.000000000\n"
           "rank 1 4\ngather 0.000000010 0.000000011 0.000000009 comm=1 root=3 bytes=80\n"
           "allreduce 0.000000012 0.000000023 0.000000000 comm=1 bytes=8\n"
           "bcast 0.000000030 0.000000032 0.000000000 comm=2 root=0 bytes=50\n"
           "alltoallv 0.000000040 0.000000041 0.000000000 comm=1 bytes=13 sizes=7,6\n"
           "rank 2 2\nbcast 0.000000030 0.000000033 0.000000009 comm=2 root=0 bytes=50\nother 0.000000070 "
           "0.000000071 0.000000000\n"
           "rank 3 4\ngather 0.000000020 0.000000021 0.000000009 comm=1 root=3 bytes=81\n"
           "allreduce 0.000000022 0.000000023 0.000000000 comm=1 bytes=8\n"
           "bcast 0.000000030 0.000000034 0.000000000 comm=2 root=0 bytes=50\n"
           "alltoallv 0.000000040 0.000000041 0.000000000 comm=1 bytes=12 sizes=6,6\nend\n",
           NOTES("(2 times: MPI_Alltoallv: bytes to each member are not told and taken as equal)",
                 "(MPI_Barrier on a communicator that is not told or lacks the rank: only its time is kept)",
                 "(MPI_Iallreduce: only its time is kept)",
                 "(MPI_Scatterv: no member says that it is the root: only its time is kept)"));
}

/* A window: calls cut at both ends, messages without calls, calls without messages. */
static void test_windows(void)
{
    expect(HEAD2 RUN2
           "2:1:1:1:1:5:50000001:0\n2:1:1:1:1:10:50000001:1\n2:1:1:1:1:12:50000001:0\n2:2:1:2:1:13:50000001:4\n"
           "2:2:1:2:1:14:50000001:0\n3:1:1:1:1:15:15:2:1:2:1:16:17:5:0\n2:1:1:1:1:20:50000001:3\n2:1:1:1:1:21:"
           "50000001:41\n"
           "2:1:1:1:1:22:50000001:0\n2:2:1:2:2:23:50000001:1\n2:2:1:2:2:24:50000001:0\n2:2:1:2:1:30:50000002:8:"
           "50100004:1\n",
           "rank 0 3\nother 0.000000010 0.000000012 0.000000010\nother 0.000000020 0.000000021 0.000000008\n"
           "other 0.000000021 0.000000022 0.000000000\n"
           "rank 1 3\nother 0.000000013 0.000000014 0.000000013\nother 0.000000023 0.000000024 0.000000009\n"
           "barrier 0.000000030 0.000000030 0.000000006 comm=0\nend\n",
           NOTES("(end of an MPI call that does not begin in the trace: left out)",
                 "(2 times: MPI_Send without a communication: only its time is kept)",
                 "(MPI_Isend without a communication: only its time is kept)",
                 "(MPI_Sendrecv without a communication: only its time is kept)",
                 "(MPI_Irecv without a communication: only its time is kept)",
                 "(sent message outside any call that sends: left out)",
                 "(received message outside any call that receives: left out)",
                 "(MPI call that does not end before the next: ends there)",
                 "(MPI call that does not end in the trace: ends with it)"));
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"#Paraver 01/02/2024\n", ":1: not the head of a Paraver trace"},
        {"#Paraver (01/02/2024 at 10:00)\n", ":1: not the head of a Paraver trace"},
        {"#Paraver (01/02/2024 at 10:00):x_ns:1(2):1:2(1:1)\n", ":1: not the head"},
        {"#Paraver (01/02/2024 at 10:00):5_ns:1(2:1:2(1:1\n", ":1: not the head"},
        {"#Paraver (01/02/2024 at 10:00):5_ns:1(2):2:2(1:1,1:1),1:1(1:1),1\n", ":1: 2 applications (expected 1"},
        {"#Paraver (01/02/2024 at 10:00):5_ns:1(2):1:0(),1\n", ":1: 0 tasks"},
        {"#Paraver (01/02/2024 at 10:00):5_ns:1(2):1:999999999(),1\n", ":1: 999999999 tasks"},
        {HEAD2 "7:1:1:1:1:5\n", ":3: record '7:1:1:1:1:5' (expected c:, 1:, 2: or 3:)"},
        {HEAD2 "c:1:1:1:1\n", ":3: communicator 1 is defined twice"},
        {HEAD2 "c:1:2:3:1:2\n", ":3: members: '3' (expected a number from 1 to 2)"},
        {HEAD2 "c:1:2:2:1:3\n", ":3: task of a communicator: '3'"},
        {HEAD2 "c:1:2:2:1:1\n", ":3: task 1 is listed twice"},
        {HEAD2 "c:1:2:1:1:2\n", ":3: more than the 1 tasks"},
        {HEAD2 "c:1:2:2:1\n", ":3: task of a communicator: ''"},
        {HEAD2 "c:2:2:1:1\n", ":3: application: '2'"},
        {HEAD2 "2:1:1:1:1:5:50000002:8:50100004:1\nc:1:2:1:1\n", ":4: a communicator is defined behind its first use"},
        {HEAD2 "1:1:1:3:1:0:5:1\n", ":3: task: '3' (expected a number from 1 to 2)"},
        {HEAD2 "1:1:1:1:0:0:5:1\n", ":3: thread: '0'"},
        {HEAD2 "1:1:1:1:1:9:5:1\n", ":3: end: '5' (expected a number from 9"},
        {HEAD2 "1:1:1:1:1:9:15:1\n2:1:1:1:1:8:1:1\n", ":4: time 8 behind time 9: the trace is not sorted"},
        {HEAD2 "2:1:1:1:1:8:50000001\n", ":3: event value: ''"},
        {HEAD2 "2:1:1:1:1:-8:50000001:1\n", ":3: time: '-8'"},
        {HEAD2 "2:1:1:1:1:8:50000001:1x\n", ":3: event value: '1x'"},
        {HEAD2 "2:1:1:1:1:8:50000002:10:50100001:-5\n", ":3: -5 bytes"},
        {HEAD2 "2:1:1:1:1:99999999999999999999999:50000001:1\n", ":3: time: '99999999999999999999999'"},
        {HEAD2 "3:1:1:1:1:5:6:2:1:2:1:5\n", ":3: physical receive: ''"},
        {HEAD2 "3:1:1:1:1:5:6:2:1:2:1:5:6:-1:0\n", ":3: bytes: '-1'"},
        {HEAD2 "3:1:1:1:1:5:6:2:1:9:1:5:6:1:0\n", ":3: task: '9'"},
    };
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct fc_trace t;
        struct fc_status st;
        if (read_text(wrong[i].text, strlen(wrong[i].text), &t, &st) == FC_OK) fc_trace_free(&t);
        CU_ASSERT(fc_says(&st, FC_INPUT, wrong[i].says));
    }
}

/* ---- a generated program: a ring of ranks that exchange, and reduce to a root that moves, every step ----
 */

enum { RANKS = 12, STEPS = 60, GAP = 100 };

struct record {
    int64_t time;
    int order;
    char text[112];
};
struct records {
    struct record *at;
    int n;
};

static void add(struct records *all, int64_t time, const char *format, ...) FC_PRINTF(3, 4);
static void add(struct records *all, int64_t time, const char *format, ...)
{
    va_list arguments;
    struct record *r = &all->at[all->n];
    r->time = time;
    r->order = all->n++;
    va_start(arguments, format);
    vsnprintf(r->text, sizeof r->text, format, arguments);
    va_end(arguments);
}

static int by_time(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    return x->time != y->time ? (x->time < y->time ? -1 : 1) : x->order - y->order;
}

/* Each rank posts its receive, sends skewed by its number, waits for both, and reduces to rank step mod
 * RANKS, which enters last. */
static char *generate(size_t *size)
{
    struct records all = {calloc(RANKS * STEPS * 20, sizeof *all.at), 0};
    char *text = calloc(RANKS * STEPS * 20, sizeof(struct record));
    CU_ASSERT_FATAL(all.at && text);
    for (int r = 0; r < RANKS; r++) add(&all, 0, "1:%d:1:%d:1:0:%d:1", r + 1, r + 1, (STEPS + 1) * GAP);
    for (int step = 0; step < STEPS; step++) {
        int64_t t0 = (int64_t)step * GAP;
        for (int r = 0; r < RANKS; r++) {
            int right = (r + 1) % RANKS, task = r + 1;
            int64_t send = t0 + 20 + r, recv = t0 + 10 + r % 3, reduce = t0 + 60 + (step % RANKS == r ? 25 : r % 5);
            add(&all, recv, "2:%d:1:%d:1:%ld:50000001:4", task, task, (long)recv);
            add(&all, recv + 1, "2:%d:1:%d:1:%ld:50000001:0", task, task, (long)recv + 1);
            add(&all, send, "3:%d:1:%d:1:%ld:%ld:%d:1:%d:1:%ld:%ld:%d:%d", task, task, (long)send, (long)send + 1,
                right + 1, right + 1, (long)t0 + 10 + right % 3, (long)t0 + 50, 1000 * step + r, step);
            add(&all, send, "2:%d:1:%d:1:%ld:50000001:3", task, task, (long)send);
            add(&all, send + 1, "2:%d:1:%d:1:%ld:50000001:0", task, task, (long)send + 1);
            add(&all, t0 + 40, "2:%d:1:%d:1:%ld:50000001:6", task, task, (long)t0 + 40);
            add(&all, t0 + 50, "2:%d:1:%d:1:%ld:50000001:0", task, task, (long)t0 + 50);
            add(&all, reduce, "2:%d:1:%d:1:%ld:50000002:9:50100001:64:50100004:1%s", task, task, (long)reduce,
                step % RANKS == r ? ":50100003:1" : "");
            add(&all, reduce + 2, "2:%d:1:%d:1:%ld:50000002:0", task, task, (long)reduce + 2);
        }
    }
    qsort(all.at, (size_t)all.n, sizeof *all.at, by_time);
    *size = (size_t)sprintf(
        text,
        "#Paraver (01/02/2024 at 10:00):%d_ns:1(12):1:12(1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1),1\n"
        "c:1:1:12:1:2:3:4:5:6:7:8:9:10:11:12\n",
        (STEPS + 1) * GAP);
    for (int i = 0; i < all.n; i++) *size += (size_t)sprintf(text + *size, "%s\n", all.at[i].text);
    free(all.at);
    return text;
}

static void check_generated(const struct fc_trace *t)
{
    struct fc_status st = {0};
    struct fc_arena arena = {0};
    uint64_t *match;
    CU_ASSERT_FATAL(t->n_ranks == RANKS && t->first_event[RANKS] == RANKS * STEPS * 4 && t->n_unwrapped == 0);
    CU_ASSERT_EQUAL(fc_trace_match(t, &arena, &match, &st), FC_OK);
    fc_arena_free(&arena);
    for (int r = 0; r < RANKS; r++)
        for (int step = 0; step < STEPS; step++) {
            const struct fc_event *e = t->events + t->first_event[r] + 4 * step;
            int left = (r + RANKS - 1) % RANKS;
            CU_ASSERT(e[0].op == FC_OP_IRECV && e[0].peer == left && e[0].bytes == 1000 * step + left &&
                      e[0].tag == step);
            CU_ASSERT(e[1].op == FC_OP_ISEND && e[1].peer == (r + 1) % RANKS && e[1].bytes == 1000 * step + r);
            CU_ASSERT(e[2].op == FC_OP_WAIT && e[2].n_list == 2 && t->lists[e[2].list] == 2 * step);
            CU_ASSERT(e[3].op == FC_OP_REDUCE && e[3].peer == step % RANKS && e[3].bytes == 64);
        }
}

static void test_generated(void)
{
    struct fc_trace t;
    struct fc_status st = {0};
    size_t size;
    char *text = generate(&size), command[160], packed[80];
    if (read_text(text, size, &t, &st) == FC_OK) {
        check_generated(&t);
        fc_trace_free(&t);
    } else {
        printf("\n    refused: line %ld: %s\n", st.line, st.message);
        CU_FAIL("the generated trace is refused");
    }
    put(text, size);
    snprintf(command, sizeof command, "gzip %s", path);
    snprintf(packed, sizeof packed, "%s.gz", path);
    CU_ASSERT_EQUAL(system(command), 0);
    CU_ASSERT_EQUAL_FATAL(fc_trace_read(packed, &t, &st), FC_OK);
    check_generated(&t);
    fc_trace_free(&t);
    unlink(packed);
    free(text);
}

/* Cut anywhere, or with any byte changed, a trace is read or refused, never worse. */
static void test_damage(void)
{
    static const char text[] =
        HEAD2 RUN2 "2:2:1:2:1:10:50000001:4\n2:2:1:2:1:11:50000001:0\n2:2:1:2:1:30:50000001:5\n"
                   "2:1:1:1:1:40:50000001:3\n3:1:1:1:1:40:41:2:1:2:1:10:50:200:2\n2:1:1:1:1:41:50000001:0\n2:"
                   "2:1:2:1:50:50000001:0\n"
                   "2:1:1:1:1:60:50000002:7:50100003:1:50100004:1\n2:2:1:2:1:60:50000002:7:50100004:1\n2:1:1:"
                   "1:1:61:50000002:0\n";
    struct fc_trace t;
    struct fc_status st;
    for (size_t cut = 0; cut < sizeof text - 1; cut++)
        if (read_text(text, cut, &t, &st) == FC_OK) fc_trace_free(&t);
    for (size_t i = 0; i < sizeof text - 1; i++)
        for (const char *by = "0:9-\n"; *by; by++) {
            char other[sizeof text];
            memcpy(other, text, sizeof text);
            other[i] = *by;
            if (read_text(other, sizeof text - 1, &t, &st) == FC_OK) fc_trace_free(&t);
        }
}

int suite_format_paraver(void)
{
    static const CU_TestInfo tests[] = {
        {"blocking calls and computation", test_blocking},
        {"nonblocking calls", test_nonblocking},
        {"other calls", test_other_calls},
        {"collectives", test_collectives},
        {"windows", test_windows},
        {"refusals with their lines", test_refusals},
        {"a generated program", test_generated},
        {"damaged traces", test_damage},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("format paraver", tests);
}
