/* test_phases.c - a trace cut into phases: traces by hand whose phases are known, properties of the shipped
 * ones. */
#include "solvers/collective/collective.h"
#include "tests/replay_script.h"
#include "tests/trace_oracles.h"
#include "traces/flows.h"

#include <stdlib.h>

/* ---- helpers ---- */

static double bytes_between(const struct fc_demand *d, uint32_t src, uint32_t dst, double *messages)
{
    for (size_t i = 0; i < d->n_entries; i++)
        if (d->src[i] == src && d->dst[i] == dst) {
            *messages = d->messages[i];
            return d->bytes[i];
        }
    *messages = 0;
    return 0;
}

/* Phases first .. last of the script hold exactly these entries. */
struct entry {
    uint32_t src, dst;
    double bytes, messages;
};
static void expect_phases(uint64_t first, uint64_t last, const struct entry *expected, size_t n)
{
    struct fc_demand d;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_phases_by(&script.trace, NULL, first, last, &d, &st), FC_OK);
    CU_ASSERT_EQUAL(d.n_tasks, script.trace.n_ranks);
    CU_ASSERT_EQUAL(d.n_entries, n);
    for (size_t i = 0; i < n; i++) {
        double messages, bytes = bytes_between(&d, expected[i].src, expected[i].dst, &messages);
        if (bytes != expected[i].bytes || messages != expected[i].messages)
            printf("\n    phase %d: %u to %u: %g bytes in %g messages, expected %g in %g", (int)first, expected[i].src,
                   expected[i].dst, bytes, messages, expected[i].bytes, expected[i].messages);
        CU_ASSERT(bytes == expected[i].bytes && messages == expected[i].messages);
    }
    fc_demand_free(&d);
}
#define EXPECT_PHASE(n, ...)                                                                                           \
    do {                                                                                                               \
        const struct entry entries[] = {__VA_ARGS__};                                                                  \
        expect_phases(n, n, entries, FC_COUNT(entries));                                                               \
    } while (0)

static uint64_t count_phases(void)
{
    struct fc_phase_cut cut;
    struct fc_status st = {0};
    uint64_t n = 0;
    CU_ASSERT_EQUAL_FATAL(fc_phases_start(&script.trace, &cut, &st), FC_OK);
    do {
        CU_ASSERT_EQUAL_FATAL(fc_phases_next(&cut, &st), FC_OK);
        CU_ASSERT_EQUAL(cut.number, n);
        n++;
    } while (!cut.last);
    fc_phases_free(&cut);
    return n;
}

/* Every phase by itself; their sum is the demand of the job, entry by entry. */
static void expect_sum(const struct fc_trace *trace, uint64_t n_phases, double tolerance)
{
    struct fc_demand all, one;
    struct fc_status st = {0};
    size_t n = trace->n_ranks;
    double *bytes = calloc(n * n, sizeof *bytes), *messages = calloc(n * n, sizeof *messages);
    for (uint64_t p = 0; p < n_phases; p++) {
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_phases_by(trace, NULL, p, p, &one, &st), FC_OK);
        for (size_t i = 0; i < one.n_entries; i++) {
            bytes[one.src[i] * n + one.dst[i]] += one.bytes[i];
            messages[one.src[i] * n + one.dst[i]] += one.messages[i];
        }
        fc_demand_free(&one);
    }
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_job(trace, &all, &st), FC_OK);
    for (size_t i = 0; i < all.n_entries; i++) {
        size_t at = all.src[i] * n + all.dst[i];
        CU_ASSERT(fc_near(bytes[at], all.bytes[i], tolerance));
        CU_ASSERT_EQUAL(messages[at], all.messages[i]);
        messages[at] = 0;
    }
    for (size_t i = 0; i < n * n; i++) CU_ASSERT_EQUAL(messages[i], 0); /* and nothing else */
    CU_ASSERT_EQUAL(fc_demand_of_phases_by(trace, NULL, n_phases, n_phases, &one, &st), FC_INPUT);
    fc_demand_free(&all);
    free(bytes);
    free(messages);
}

static struct fc_event *add_on(enum fc_op op, int32_t comm, int32_t peer, int64_t bytes)
{
    struct fc_event *e = add(&script, op, peer, bytes);
    e->comm = comm;
    return e;
}

static struct fc_event *add_nonblocking(enum fc_op op, int32_t comm, int64_t bytes)
{
    struct fc_event *e = add_on(op, comm, -1, bytes);
    e->mode = 1;
    e->request = script.n_requests++;
    return e;
}

static void add_alltoallv(int32_t comm, uint32_t n, const int64_t *sizes)
{
    struct fc_event *e = add_on(FC_OP_ALLTOALLV, comm, -1, 0);
    e->list = script.trace.n_lists;
    e->n_list = n;
    for (uint32_t i = 0; i < n; i++) e->bytes += script.list[script.trace.n_lists++] = sizes[i];
}

/* ---- by hand ---- */

/* 3 ranks: a ring of 100 bytes, an allreduce of 8; a ring of 50 and a ring of 7 back, a barrier; one message;
 * end. The allreduce of 3 folds: 0 -> 1, 1 <-> 2, 1 -> 0; the barrier goes to r + 1 and r + 2. */
static void test_by_hand(void)
{
    start_script(&script, 3);
    for (int r = 0; r < 3; r++) {
        next_rank(&script);
        add(&script, FC_OP_INIT, -1, 0);
        add(&script, FC_OP_SEND, (r + 1) % 3, 100);
        add(&script, FC_OP_RECV, (r + 2) % 3, 100);
        add(&script, FC_OP_ALLREDUCE, -1, 8);
        add(&script, FC_OP_SEND, (r + 1) % 3, 50);
        add(&script, FC_OP_SEND, (r + 2) % 3, 7);
        add(&script, FC_OP_BARRIER, -1, 0);
        if (r == 2) add(&script, FC_OP_SEND, 0, 1000);
    }
    EXPECT_PHASE(0, {0, 1, 108, 2}, {1, 2, 108, 2}, {2, 0, 100, 1}, {2, 1, 8, 1}, {1, 0, 8, 1});
    EXPECT_PHASE(1, {0, 1, 50, 2}, {1, 2, 50, 2}, {2, 0, 50, 2}, {0, 2, 7, 2}, {1, 0, 7, 2}, {2, 1, 7, 2});
    EXPECT_PHASE(2, {2, 0, 1000, 1});
    expect_phases(
        1, 2,
        (const struct entry[]){{0, 1, 50, 2}, {1, 2, 50, 2}, {2, 0, 1050, 3}, {0, 2, 7, 2}, {1, 0, 7, 2}, {2, 1, 7, 2}},
        6);
    CU_ASSERT_EQUAL(count_phases(), 3);
    expect_sum(&script.trace, 3, 0);
}

static void test_cut(void)
{
    static const uint64_t begin[3][2] = {{0, 4}, {2, 7}, {3, 8}}, end[3][2] = {{2, 7}, {3, 8}, {4, 9}};
    static const uint64_t ending[3] = {1, 2, 3};
    struct fc_phase_cut cut;
    struct fc_status st = {0};
    start_script(&script, 2);
    for (int r = 0; r < 2; r++) {
        next_rank(&script);
        add(&script, FC_OP_INIT, -1, 0);
        if (r == 1) add(&script, FC_OP_SEND, 0, 1);
        add(&script, FC_OP_BARRIER, -1, 0);
        add(&script, FC_OP_ALLGATHER, -1, 4);
        add(&script, FC_OP_FINALIZE, -1, 0);
    }
    CU_ASSERT_EQUAL_FATAL(fc_phases_start(&script.trace, &cut, &st), FC_OK);
    for (int p = 0; p < 3; p++) {
        CU_ASSERT_EQUAL_FATAL(fc_phases_next(&cut, &st), FC_OK);
        for (int r = 0; r < 2; r++) {
            CU_ASSERT_EQUAL(cut.begin[r], begin[p][r]);
            CU_ASSERT_EQUAL(cut.end[r], end[p][r]);
        }
        CU_ASSERT_EQUAL(cut.ending, ending[p]);
        CU_ASSERT_EQUAL(cut.last, p == 2);
    }
    fc_phases_free(&cut);
}

/* Collectives over some ranks end no phase; a communicator of all ranks in another order does. */
static void test_communicators(void)
{
    start_script(&script, 4);
    add_comm(&script, 0, 2);
    add_comm(&script, 2, 2);
    add_comm(&script, 0, 4);
    uint32_t *all = script.member + script.comm_first[3];
    all[0] = 2, all[1] = 0, all[2] = 3, all[3] = 1;
    for (int r = 0; r < 4; r++) {
        next_rank(&script);
        for (int i = 0; i < 5; i++) add_on(FC_OP_BARRIER, 1 + r / 2, -1, 0);
        add_on(FC_OP_ALLREDUCE, 1 + r / 2, -1, 16);
        if (r == 0) add_on(FC_OP_COMM, 1, 1, 0); /* over communicator 1: not over all */
        if (r == 1) add_on(FC_OP_COMM, -1, 1, 0);
        add_on(FC_OP_BARRIER, 3, -1, 0);
        add(&script, FC_OP_SEND, r ^ 3, 10);
        add_on(FC_OP_COMM, r < 2 ? 1 : -1, 3, 0); /* over all */
        add(&script, FC_OP_SEND, r ^ 3, 20);
    }
    CU_ASSERT_EQUAL(count_phases(), 3);
    EXPECT_PHASE(2, {0, 3, 20, 1}, {1, 2, 20, 1}, {2, 1, 20, 1}, {3, 0, 20, 1});
    expect_sum(&script.trace, 3, 0);
}

/* What synchronises and what does not: one call on each of 4 ranks, then a message. */
static void expect_cut_by(const char *what, bool cuts)
{
    uint64_t n = count_phases();
    if (n != 1 + (uint64_t)cuts) printf("\n    %s: %d phases", what, (int)n);
    CU_ASSERT_EQUAL(n, 1 + (uint64_t)cuts);
    expect_sum(&script.trace, n, 1e-14);
}

static void test_operations(void)
{
    static const struct {
        enum fc_op op;
        int32_t peer;
        int64_t bytes, bytes_of_2;
        bool cuts;
    } cases[] = {
        {FC_OP_BARRIER, -1, 0, 0, true},          {FC_OP_ALLREDUCE, -1, 8, 8, true},
        {FC_OP_ALLREDUCE, -1, 0, 0, false},       {FC_OP_ALLGATHER, -1, 5, 9, true},
        {FC_OP_ALLGATHER, -1, 5, 0, false},       {FC_OP_ALLTOALL, -1, 3, 3, true},
        {FC_OP_ALLTOALL, -1, 0, 0, false},        {FC_OP_REDUCE_SCATTER, -1, 24, 8, true},
        {FC_OP_REDUCE_SCATTER, -1, 24, 0, false}, {FC_OP_COMM, 0, 0, 0, true},
        {FC_OP_BCAST, 0, 100, 100, false},        {FC_OP_GATHER, 1, 100, 100, false},
        {FC_OP_SCATTER, 1, 100, 100, false},      {FC_OP_REDUCE, 3, 100, 100, false},
        {FC_OP_SCAN, -1, 100, 100, false},
    };
    for (size_t c = 0; c < FC_COUNT(cases); c++) {
        start_script(&script, 4);
        for (int r = 0; r < 4; r++) {
            next_rank(&script);
            add(&script, cases[c].op, cases[c].peer, r == 2 ? cases[c].bytes_of_2 : cases[c].bytes);
            add(&script, FC_OP_SEND, 3 - r, 11);
        }
        expect_cut_by(fc_op_names[cases[c].op], cases[c].cuts);
        for (int r = 0; r < 4; r++) { /* the same, nonblocking: its caller goes on */
            script.event[2 * r].mode = 1;
            script.event[2 * r].request = 0;
        }
        expect_cut_by("nonblocking", false);
    }
}

static void test_alltoallv(void)
{
    static const struct {
        int64_t sizes[3][3];
        bool cuts;
    } cases[] = {{{{0, 1, 2}, {3, 0, 4}, {5, 6, 0}}, true},
                 {{{9, 1, 2}, {3, 9, 4}, {5, 0, 9}}, false},
                 {{{9, 0, 1}, {1, 9, 0}, {0, 1, 9}}, false}}; /* a ring: neighbours only */
    for (size_t c = 0; c < FC_COUNT(cases); c++) {
        start_script(&script, 3);
        add_comm(&script, 0, 3);
        uint32_t *all = script.member + script.comm_first[1];
        all[0] = 1, all[1] = 2, all[2] = 0;
        for (int r = 0; r < 3; r++) {
            next_rank(&script);
            add_alltoallv(1, 3, cases[c].sizes[(r + 2) % 3]); /* rank r is member (r + 2) % 3 */
            add(&script, FC_OP_SEND, (r + 1) % 3, 11);
        }
        expect_cut_by("alltoallv", cases[c].cuts);
    }
}

/* Messages belong where they are sent, whenever they are received or waited for. */
static void test_nonblocking(void)
{
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_ISEND, 1, 100);
    add(&script, FC_OP_IRECV, 1, 30);
    add(&script, FC_OP_BARRIER, -1, 0);
    add_wait(&script, 0, 2);
    next_rank(&script);
    add(&script, FC_OP_BARRIER, -1, 0);
    add(&script, FC_OP_RECV, 0, 100);
    add(&script, FC_OP_SEND, 0, 30);
    EXPECT_PHASE(0, {0, 1, 100, 2}, {1, 0, 0, 1}); /* with the barrier's messages */
    EXPECT_PHASE(1, {1, 0, 30, 1});
    expect_sum(&script.trace, 2, 0);
}

/* A nonblocking allgather that one rank starts before the barrier and the other after it: each sends its own
 * part. */
static void test_nonblocking_collective(void)
{
    start_script(&script, 2);
    add_comm(&script, 0, 2);
    for (int r = 0; r < 2; r++) {
        next_rank(&script);
        if (r == 0) add_nonblocking(FC_OP_ALLGATHER, 1, 64);
        add(&script, FC_OP_BARRIER, -1, 0);
        if (r == 1) add_nonblocking(FC_OP_ALLGATHER, 1, 64);
        add_wait(&script, 0, 1);
    }
    EXPECT_PHASE(0, {0, 1, 64, 2}, {1, 0, 0, 1});
    EXPECT_PHASE(1, {1, 0, 64, 1});
    expect_sum(&script.trace, 2, 0);
}

/* A window: rank 1's record ends before a barrier and an allreduce on a part; what it would send comes last.
 */
static void test_window(void)
{
    start_script(&script, 3);
    add_comm(&script, 0, 2);
    for (int r = 0; r < 3; r++) {
        next_rank(&script);
        if (r == 0) add_nonblocking(FC_OP_ALLREDUCE, 1, 64);
        add(&script, FC_OP_BARRIER, -1, 0);
        if (r != 1) add(&script, FC_OP_BARRIER, -1, 0);
    }
    EXPECT_PHASE(0, {0, 1, 64, 2}, {0, 2, 0, 1}, {1, 0, 0, 1}, {1, 2, 0, 1}, {2, 0, 0, 1}, {2, 1, 0, 1});
    EXPECT_PHASE(1, {0, 1, 0, 1}, {0, 2, 0, 1}, {1, 0, 64, 2}, {1, 2, 0, 1}, {2, 0, 0, 1}, {2, 1, 0, 1});
    expect_sum(&script.trace, 2, 0);
    start_script(&script, 2); /* only one phase: it is the last */
    next_rank(&script);
    add_nonblocking(FC_OP_ALLREDUCE, 0, 64);
    next_rank(&script);
    EXPECT_PHASE(0, {0, 1, 64, 1}, {1, 0, 64, 1});
    expect_sum(&script.trace, 1, 0);
}

static void test_small(void)
{
    start_script(&script, 1);
    next_rank(&script);
    CU_ASSERT_EQUAL(count_phases(), 1); /* nothing at all */
    expect_phases(0, 0, NULL, 0);
    add(&script, FC_OP_SEND, 0, 5); /* to itself */
    add(&script, FC_OP_BARRIER, -1, 0);
    CU_ASSERT_EQUAL(count_phases(), 1);
    EXPECT_PHASE(0, {0, 0, 5, 1});
    add(&script, FC_OP_SEND, 0, 6);
    CU_ASSERT_EQUAL(count_phases(), 2);
    expect_sum(&script.trace, 2, 0);
}

/* ---- refusals ---- */

static void test_refusals(void)
{
    struct fc_demand d;
    struct fc_job_phases phases;
    struct fc_status st = {0};
    start_script(&script, 2);
    add_comm(&script, 0, 2);
    for (int r = 0; r < 2; r++) {
        next_rank(&script);
        add_on(FC_OP_BCAST, r, 0, 5);
        add_on(FC_OP_BCAST, 1 - r, 0, 5);
        add_on(FC_OP_BARRIER, r, -1, 0);
        add_on(FC_OP_BARRIER, 1 - r, -1, 0);
    }
    const char *says = "job.trace:2002: rank 1 calls barrier (collective call 2 on communicator 1) where rank 0 calls "
                       "barrier (call 2 on communicator 0, line 1002): all ranks must synchronise in the same order";
    CU_ASSERT_EQUAL(fc_demand_of_phases_by(&script.trace, NULL, 0, 0, &d, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, says));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_job_phases_find_by(&script.trace, NULL, &phases, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, says));
    for (int r = 0; r < 2; r++) { /* a blocking call does not meet a nonblocking one */
        script.event[4 * r + 2].comm = script.event[4 * r + 3].comm = 0;
        script.event[4 * r].comm = script.event[4 * r + 1].comm = 0;
    }
    script.event[6].mode = 1;
    script.event[6].request = 0;
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_demand_of_phases_by(&script.trace, NULL, 0, 0, &d, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT,
                      "job.trace:2003: rank 1 calls barrier (collective call 4 on communicator 0) where "
                      "rank 0 calls barrier (call 3 on communicator 0, line 1002)"));
    script.event[6].mode = 0;
    script.event[6].request = -1;
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_demand_of_phases_by(&script.trace, NULL, 1, 2, &d, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "job.trace: phase 2 is out of range (allowed: 0 to 1)"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_demand_of_phases_by(&script.trace, NULL, 1, 0, &d, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "there are no phases from 1 to 0"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_demand_of_phases_by(&script.trace, NULL, 0, UINT64_MAX, &d, &st), FC_INPUT);
}

/* ---- kinds and rows ---- */

/* A, then B C five times, then A twice more, D: kinds 0 1 2 3. B and D differ in the end only. */
static void test_rows(void)
{
    static const char order[] = "ABCBCBCBCBCAAD";
    static const struct fc_phase_row rows[] = {{0, 1, 1}, {1, 2, 5}, {2, 2, 5}, {11, 1, 2}, {13, 1, 1}};
    struct fc_job_phases p;
    struct fc_status st = {0};
    start_script(&script, 2);
    for (int r = 0; r < 2; r++) {
        next_rank(&script);
        for (const char *c = order; *c; c++) {
            if (*c == 'A') add(&script, FC_OP_SEND, 1 - r, 10);
            if (*c == 'B' || *c == 'D') add(&script, FC_OP_SEND, 1 - r, 20 + 5 * r);
            if (*c == 'C' && r == 0) add(&script, FC_OP_SEND, 1, 45);
            if (*c == 'D')
                add(&script, FC_OP_FINALIZE, -1, 0);
            else
                add(&script, FC_OP_BARRIER, -1, 0);
        }
    }
    CU_ASSERT_EQUAL_FATAL(fc_job_phases_find_by(&script.trace, NULL, &p, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(p.n_phases, strlen(order));
    CU_ASSERT_EQUAL(p.n_kinds, 4);
    for (uint64_t i = 0; i < p.n_phases; i++) CU_ASSERT_EQUAL(p.phase[i].kind, (uint64_t)(order[i] - 'A'));
    CU_ASSERT_EQUAL_FATAL(p.n_rows, FC_COUNT(rows));
    for (uint64_t i = 0; i < p.n_rows; i++) CU_ASSERT_EQUAL(memcmp(&p.row[i], &rows[i], sizeof rows[i]), 0);
    CU_ASSERT_EQUAL(p.phase[1].bytes, 45);
    CU_ASSERT_EQUAL(p.phase[1].messages, 4);
    CU_ASSERT_EQUAL(p.phase[1].n_pairs, 2);
    CU_ASSERT_EQUAL(p.phase[1].max_rank_bytes, 25);
    CU_ASSERT_EQUAL(p.phase[2].n_pairs, 2);
    CU_ASSERT_EQUAL(p.phase[2].messages, 3);
    CU_ASSERT_EQUAL(p.phase[2].max_rank_bytes, 45);
    CU_ASSERT_EQUAL(p.phase[12].ending, FC_OP_BARRIER);
    CU_ASSERT_EQUAL(p.phase[13].ending, FC_OP_FINALIZE);
    fc_job_phases_free(&p);
}

/* ---- properties ---- */

/* The rule is sound for the algorithms that we expand to: where it says that an operation synchronises, its
 * messages make every member depend on every member. A member's round waits for its round before. */
static void expect_dependence(enum fc_op op, uint32_t n, double bytes)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_message *message = NULL;
    uint64_t count = 0, knows[64], next[64], all = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    double *list = NULL;
    if (op == FC_OP_ALLTOALLV) {
        list = fc_alloc(&arena, (size_t)n * n, sizeof *list, &st);
        for (uint32_t i = 0; i < n * n; i++) list[i] = i % (n + 1) ? bytes : 0;
    }
    CU_ASSERT_EQUAL_FATAL(fc_collective_messages_by(NULL, op, n, 0, bytes, list, &arena, &message, &count, &st), FC_OK);
    for (uint32_t m = 0; m < n; m++) knows[m] = next[m] = UINT64_C(1) << m;
    for (uint64_t i = 0; i < count; i++) {
        if (i && message[i].round != message[i - 1].round) memcpy(knows, next, sizeof knows);
        next[message[i].to] |= knows[message[i].from];
    }
    for (uint32_t m = 0; m < n; m++) CU_ASSERT_EQUAL(next[m], all);
    fc_arena_free(&arena);
}

static void test_dependence(void)
{
    static const enum fc_op ops[] = {FC_OP_BARRIER,   FC_OP_ALLGATHER, FC_OP_ALLTOALL,
                                     FC_OP_ALLTOALLV, FC_OP_ALLREDUCE, FC_OP_REDUCE_SCATTER};
    static const uint32_t members[] = {2, 3, 4, 5, 7, 8, 12, 16, 31, 64};
    static const double sizes[] = {1, 8, 300, 4096, 50000, 1 << 20};
    for (size_t o = 0; o < FC_COUNT(ops); o++)
        for (size_t m = 0; m < FC_COUNT(members); m++)
            for (size_t s = 0; s < FC_COUNT(sizes); s++) expect_dependence(ops[o], members[m], sizes[s]);
}

/* No message arrives in a phase before the one in which it is sent: each send's phase is at most that of the
 * call that completes its receive. phase[n_events]. */
static void expect_causal(const struct fc_trace *t, const uint32_t *phase)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    uint64_t *match, n_across = 0;
    CU_ASSERT_EQUAL_FATAL(fc_trace_match(t, &arena, &match, &st), FC_OK);
    uint64_t n = t->first_event[t->n_ranks], *irecv = fc_alloc(&arena, n, sizeof *irecv, &st);
    for (uint32_t r = 0; r < t->n_ranks; r++)
        for (uint64_t i = t->first_event[r]; i < t->first_event[r + 1]; i++) {
            const struct fc_event *e = &t->events[i];
            if (e->request >= 0) irecv[e->request] = i;
            for (uint32_t k = 0; e->op == FC_OP_WAIT && k < e->n_list; k++) {
                uint64_t receive = irecv[t->lists[e->list + k]];
                if (t->events[receive].op != FC_OP_IRECV) continue;
                n_across += phase[match[receive]] > phase[i];
            }
            if (e->op == FC_OP_RECV) n_across += phase[match[i]] > phase[i];
        }
    CU_ASSERT_EQUAL(n_across, 0);
    fc_arena_free(&arena);
}

static void test_samples(void)
{
    static const struct {
        const char *file;
        uint64_t n_phases;
    } samples[] = {{"traces/samples/lammps-lj-16.fct", 82},
                   {"traces/samples/lammps-lj-64.fct", 82},
                   {"traces/samples/qe-si-16.fct", 562}};
    for (size_t s = 0; s < FC_COUNT(samples); s++) {
        struct fc_trace t;
        struct fc_status st = {0};
        struct fc_phase_cut cut;
        struct fc_job_phases p;
        struct fc_demand all, range;
        CU_ASSERT_EQUAL_FATAL(fc_trace_read(samples[s].file, &t, &st), FC_OK);
        uint64_t n = t.first_event[t.n_ranks], in_phases = 0;
        uint32_t *phase = calloc(n, sizeof *phase);
        CU_ASSERT_EQUAL_FATAL(fc_phases_start(&t, &cut, &st), FC_OK);
        while (!cut.last) {
            CU_ASSERT_EQUAL_FATAL(fc_phases_next(&cut, &st), FC_OK);
            for (uint32_t r = 0; r < t.n_ranks; r++)
                for (uint64_t i = cut.begin[r]; i < cut.end[r]; i++, in_phases++) phase[i] = (uint32_t)cut.number;
        }
        fc_phases_free(&cut);
        CU_ASSERT_EQUAL(in_phases, n); /* every event once */
        expect_causal(&t, phase);
        free(phase);
        CU_ASSERT_EQUAL_FATAL(fc_job_phases_find_by(&t, NULL, &p, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(p.n_phases, samples[s].n_phases);
        double bytes = 0, messages = 0, rows = 0;
        for (uint64_t i = 0; i < p.n_phases; i++) {
            bytes += p.phase[i].bytes;
            messages += p.phase[i].messages;
        }
        for (uint64_t i = 0; i < p.n_rows; i++) rows += (double)p.row[i].times;
        CU_ASSERT_EQUAL(rows, p.n_phases);
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_job(&t, &all, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_phases_by(&t, NULL, 0, p.n_phases - 1, &range, &st), FC_OK);
        CU_ASSERT(fc_near(bytes, fc_demand_bytes(&all), 1e-12));
        CU_ASSERT_EQUAL_FATAL(range.n_entries, all.n_entries);
        for (size_t i = 0; i < all.n_entries; i++) {
            CU_ASSERT(range.src[i] == all.src[i] && range.dst[i] == all.dst[i]);
            CU_ASSERT(fc_near(range.bytes[i], all.bytes[i], 1e-12));
            CU_ASSERT_EQUAL(range.messages[i], all.messages[i]);
            messages -= all.src[i] == all.dst[i] ? 0 : all.messages[i];
        }
        CU_ASSERT_EQUAL(messages, 0);
        if (s == 0) expect_sum(&t, p.n_phases, 1e-12);
        fc_demand_free(&all);
        fc_demand_free(&range);
        fc_job_phases_free(&p);
        fc_trace_free(&t);
    }
}

/* ---- adding up ---- */

/* Far more messages than pairs, and far more pairs than the room at first: sums are exact, entries sorted. */
static void test_flows(void)
{
    enum { N = 97 };
    struct fc_flows flows;
    struct fc_demand d;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_flows_start(&flows, N, &st), FC_OK);
    size_t room = flows.capacity;
    for (uint32_t k = 0; k < 100000; k++)
        CU_ASSERT_EQUAL(fc_flows_add(&flows, (struct fc_flow){k % 3, (k + 1) % 3, 0.5, 2}, &st), FC_OK);
    CU_ASSERT_EQUAL(flows.capacity, room); /* 3 pairs need no more */
    for (uint32_t times = 0; times < 5; times++)
        for (uint32_t a = N; a-- > 0;)
            for (uint32_t b = 0; b < N; b++)
                CU_ASSERT_EQUAL(fc_flows_add(&flows, (struct fc_flow){a, b, a * N + b, 1}, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_flows_demand(&flows, "x", &d, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(d.n_entries, N * N);
    for (uint32_t i = 0; i < N * N; i++) {
        uint32_t src = i / N, dst = i % N;
        double k = src < 3 && dst == (src + 1) % 3 ? src == 0 ? 33334 : 33333 : 0;
        CU_ASSERT(d.src[i] == src && d.dst[i] == dst);
        CU_ASSERT_EQUAL(d.bytes[i], 5.0 * i + 0.5 * k);
        CU_ASSERT_EQUAL(d.messages[i], 5 + 2 * k);
    }
    fc_demand_free(&d);
    fc_flows_free(&flows);
}

int suite_phases(void)
{
    static const CU_TestInfo tests[] = {{"phases by hand", test_by_hand},
                                        {"where a trace is cut", test_cut},
                                        {"communicators of some and of all ranks", test_communicators},
                                        {"operations that synchronise", test_operations},
                                        {"alltoallv", test_alltoallv},
                                        {"nonblocking messages across a cut", test_nonblocking},
                                        {"a nonblocking collective across a cut", test_nonblocking_collective},
                                        {"a window of a run", test_window},
                                        {"one rank, no event", test_small},
                                        {"refusals", test_refusals},
                                        {"kinds and rows", test_rows},
                                        {"what synchronises makes all depend on all", test_dependence},
                                        {"the shipped recordings", test_samples},
                                        {"adding up messages", test_flows},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite("phases", tests);
}
