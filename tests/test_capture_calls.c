/* test_capture_calls.c - the recorder: threads, collectives, communicators, one-sided calls, programs that break off, MPI
 * opened at run time. */
#include "tests/capture_world.h"

#include <sys/wait.h>

/* Can it be replayed, with rendezvous for all messages, for the larger ones, for none? */
static void expect_replay(const struct fc_trace *trace, bool whole)
{
    static const double eager[] = {0, 10e3, 1e9};
    for (size_t i = 0; i < FC_COUNT(eager); i++) {
        struct fc_replay_settings settings = {.network = FC_NET_IDEAL,
                                              .software = {.eager_bytes = eager[i], .compute_scale = 1},
                                              .loggops = true,
                                              .loggops_latency_s = 1e-6,
                                              .loggops_per_byte_s = 1e-9};
        struct fc_replay replay = {0};
        struct fc_status st = {0};
        CU_ASSERT_EQUAL(fc_replay_run(NULL, trace, NULL, &settings, &replay, &st), FC_OK);
        if (st.code) fc_says(&st, FC_OK, "");
        CU_ASSERT(replay.prediction.time_s > 0 || st.code);
        if (whole) CU_ASSERT_EQUAL(replay.n_unmatched_sends + replay.n_unmatched_receives, 0);
        fc_replay_free(&replay);
    }
}

static void test_threads(void)
{
    struct fc_trace t;
    if (!compile("mpicc", "-Wall", "threads.c", "threads") || !agrees_with_witness("threads", 3, &t)) return;
    CU_ASSERT_EQUAL(count(&t, FC_OP_SEND, NULL) + count(&t, FC_OP_ISEND, NULL), 3 * 2 * 200);
    expect_replay(&t, true);
    fc_trace_free(&t);
}

/* A handle that MPI gives to another thread before the wait that freed it was logged. */
static void test_reused_handle(void)
{
    struct fc_trace t;
    int32_t tag[2] = {0}; /* of the first receive, of the second */
    uint32_t completed[2] = {9, 9};
    int n_received = 0, n_completed = 0;
    if (!compile("mpicc", "-Wall", "reuse.c", "reuse") || !recorded("reuse", NULL, 2, &t)) return;
    for (uint64_t e = t.first_event[0]; e < t.first_event[1]; e++) {
        const struct fc_event *event = &t.events[e];
        if (event->op == FC_OP_IRECV && n_received < 2) tag[n_received++] = event->tag;
        if (event->op == FC_OP_WAIT && n_completed < 2) completed[n_completed++] = (uint32_t)t.lists[event->list];
    }
    CU_ASSERT_EQUAL(tag[0], 1);
    CU_ASSERT_EQUAL(tag[1], 2);
    CU_ASSERT_EQUAL(completed[0], 1); /* the second thread is done first */
    CU_ASSERT_EQUAL(completed[1], 0);
    expect_replay(&t, true);
    fc_trace_free(&t);
}

/* Blocking calls of several threads at once have no order in which one thread could make them. */
static void test_blocking_threads(void)
{
    struct fc_trace t;
    if (!compile("mpicc", "-Wall", "threads_blocking.c", "threads_blocking") ||
        !agrees_with_witness("threads_blocking", 4, &t))
        return;
    CU_ASSERT_EQUAL(count(&t, FC_OP_SEND, NULL) + count(&t, FC_OP_ISEND, NULL), 4 * 3 * 60);
    CU_ASSERT_EQUAL(count(&t, FC_OP_BARRIER, NULL), 4 * 3 * 6);
    expect_replay(&t, true);
    fc_trace_free(&t);
}

/* Every kind of blocking call, large and small messages: what ran can be replayed whatever is sent eagerly. */
static void test_mixed_threads(void)
{
    static const char *const orders[] = {"ring", "1", "late", "2"};
    struct fc_trace t;
    if (!compile("mpicc", "-Wall", "threads_mixed.c", "threads_mixed")) return;
    for (size_t i = 0; i < (is_openmpi() ? FC_COUNT(orders) : 2); i++) {
        if (!recorded("threads_mixed", orders[i], 4, &t)) return;
        expect_replay(&t, true);
        fc_trace_free(&t);
    }
}

/* ---- collectives, communicators and one-sided calls: sizes as in collectives.c ---- */

static void test_collectives(void)
{
    static const struct {
        int op;
        uint64_t n;
        double ints; /* summed over the ranks */
    } expected[] = {
        {FC_OP_BCAST, 4 + 4 + 3 + 2, 4 * 10 + 4 * 10 + 3 * 2 + 2 * 3},
        {FC_OP_REDUCE, 4, 4 * 11},
        {FC_OP_ALLREDUCE, 4 + 4 + 4 + 2, 4 * 12 + 4 * 20 + 4 * 1 + 2 * 4},
        {FC_OP_SCAN, 8, 4 * 13 + 4 * 14},
        {FC_OP_REDUCE_SCATTER, 8, 10 + 4 * 5},
        {FC_OP_GATHER, 8, 4 * 6 + 10},
        {FC_OP_SCATTER, 8, 4 * 7 + 10},
        {FC_OP_ALLGATHER, 4 + 4 + 4, 4 * 8 + 10 + 4 * 3},
        {FC_OP_ALLTOALL, 8, 4 * 9 + 4 * 2},
        {FC_OP_ALLTOALLV, 4 + 4 + 4 + 4, 2 * 4 * 10 + 4 * 3 * 5 + 4 * 6},
        {FC_OP_BARRIER, 4 * 4, 0},
        {FC_OP_RMA, 3 + 4 + 4, 30 + 31 + 32 + 4 + 4 * 5},
        {FC_OP_SEND, 1, 21},
        {FC_OP_RECV, 1, 21},
        {FC_OP_COMM, 4 * 10 + 2, 0},
    };
    struct fc_trace t;
    if (!compile("mpicc", "-Wall", "collectives.c", "collectives")) return;
    if (!recorded("collectives", "tests/mpi/collectives.c", 4, &t)) return;
    for (size_t i = 0; i < FC_COUNT(expected); i++) {
        double bytes;
        CU_ASSERT_EQUAL(count(&t, expected[i].op, &bytes), expected[i].n);
        CU_ASSERT_EQUAL(bytes, 4 * expected[i].ints);
    }
    struct pairs p;
    fill_pairs(&t, &p);
    CU_ASSERT_EQUAL(p.bytes[0][3], 4 * 21 + 4); /* rank 1 of the other group is rank 3 of the world; and an update */
    CU_ASSERT_EQUAL(p.bytes[3][2], 4 * 31 + 4 * 5); /* a get moves towards the caller */
    CU_ASSERT_EQUAL(p.bytes[1][3], 0);              /* and so does get_accumulate without an operation */

    /* ranks 2 and 0, in this order, twice: comm_create and comm_create_group */
    int reversed = 0, undefined = 0;
    for (uint32_t c = 0; c < t.n_comms; c++)
        reversed += t.comm_first[c + 1] - t.comm_first[c] == 2 && t.comm_member[t.comm_first[c]] == 2 &&
                    t.comm_member[t.comm_first[c] + 1] == 0;
    CU_ASSERT_EQUAL(reversed, 2);
    for (uint64_t e = 0; e < t.first_event[4]; e++) undefined += t.events[e].op == FC_OP_COMM && t.events[e].comm == -1;
    CU_ASSERT_EQUAL(undefined, 1 + 2); /* one colour undefined, two ranks outside of the group */

    bool file_open = false, spawn = false;
    for (uint32_t i = 0; i < t.n_unwrapped; i++) {
        file_open |= strcmp(t.unwrapped[i], "MPI_File_open") == 0;
        spawn |= strcmp(t.unwrapped[i], "MPI_Comm_spawn") == 0;
        CU_ASSERT_STRING_NOT_EQUAL(t.unwrapped[i], "MPI_Comm_rank"); /* not recorded either, but moves nothing */
    }
    CU_ASSERT(file_open && !spawn);
    fc_trace_free(&t);
}

/* Sizes as in collectives.F90. */
static void expect_fortran_collectives(const char *program)
{
    static const struct {
        int op;
        uint64_t n;
        double ints; /* summed over the ranks */
    } expected[] = {
        {FC_OP_REDUCE, 4, 4 * 11},
        {FC_OP_SCAN, 8, 4 * 13 + 4 * 14},
        {FC_OP_REDUCE_SCATTER, 8, 10 + 4 * 5},
        {FC_OP_GATHER, 8, 4 * 6 + 10},
        {FC_OP_SCATTER, 8, 4 * 7 + 10},
        {FC_OP_ALLGATHER, 4, 10},
        {FC_OP_ALLTOALL, 4, 4 * 9},
        {FC_OP_ALLTOALLV, 12, 2 * 4 * 10 + 4 * 2 * 5},
        {FC_OP_BCAST, 4, 4 * 10},
        {FC_OP_ALLREDUCE, 4, 4 * 20},
        {FC_OP_BARRIER, 12, 0},
        {FC_OP_COMM, 24, 0},
        {FC_OP_SEND, 1, 21},
        {FC_OP_RECV, 1, 21},
        {FC_OP_RMA, 3 + 3 * 4, 30 + 31 + 32 + 4 * (1 + 5 + 3)},
    };
    struct fc_trace t;
    struct pairs p;
    if (!recorded(program, NULL, 4, &t)) return;
    for (size_t i = 0; i < FC_COUNT(expected); i++) {
        double bytes;
        CU_ASSERT_EQUAL(count(&t, expected[i].op, &bytes), expected[i].n);
        CU_ASSERT_EQUAL(bytes, 4 * expected[i].ints);
    }
    fill_pairs(&t, &p);
    CU_ASSERT_EQUAL(p.bytes[0][3], 4 * (21 + 3 + 1)); /* through the intercommunicator, and two updates */
    CU_ASSERT_EQUAL(p.bytes[1][0], 4 * (32 + 1));
    CU_ASSERT_EQUAL(p.bytes[2][3], 4 * 3); /* what only fetches sends nothing */
    CU_ASSERT_EQUAL(p.bytes[3][2], 4 * (31 + 5 + 3));
    CU_ASSERT_EQUAL(t.n_unwrapped, 0);
    expect_replay(&t, true);
    fc_trace_free(&t);
}

static void test_collectives_fortran(void)
{
    if (compile("mpif90", "", "collectives.F90", "collectives-mpi")) expect_fortran_collectives("collectives-mpi");
    if (compile("mpif90", "-DF08", "collectives.F90", "collectives-f08")) expect_fortran_collectives("collectives-f08");
}

/* ---- a program that does not come to its end ---- */

/* Nothing is kept of it. In a process of its own, since Open MPI takes a second to end the other ranks; 0: as it should. */
static pid_t start_without_keeping(const char *how, const char *says)
{
    pid_t process = fork();
    if (process != 0) return process;
    char output[128], words[128], sessions[128];
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_capture_report report;
    snprintf(words, sizeof words, "%s; nothing is kept", says);
    snprintf(output, sizeof output, "%s/none", directory);
    snprintf(sessions, sizeof sessions, "%s/sessions", directory);
    setenv("OMPI_MCA_orte_tmpdir_base", sessions, 1); /* two of Open MPI at once: tests/run.c, start */
    bool good = record_to("ends", how, 4, false, output, &report, &arena, &st) == FC_NO;
    good = fc_says(&st, FC_NO, words) && good && !report.kept && access(output, F_OK) != 0;
    fc_arena_free(&arena);
    fflush(NULL);
    _exit(!good);
}

/* Rank 1 ends it in round 60 of 100: nothing is kept, or with `partial` what all ranks did until then. */
static void expect_part(const char *how, const char *says)
{
    char output[128], words[128];
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_capture_report report;
    struct fc_trace t;
    int ended = -1;
    fflush(NULL);
    pid_t other = start_without_keeping(how, says);
    snprintf(output, sizeof output, "%s/trace", directory);
    snprintf(words, sizeof words, "%s; what all ranks did until then is kept", says);
    CU_ASSERT_EQUAL(record("ends", how, 4, true, &report, &arena, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, words) && report.kept && report.n_ranks == 4);
    CU_ASSERT(other > 0 && waitpid(other, &ended, 0) == other && ended == 0);
    fc_arena_free(&arena);
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_trace_read(output, &t, &st), FC_OK);
    if (st.code) return;
    uint64_t bcasts = count(&t, FC_OP_BCAST, NULL);
    CU_ASSERT(bcasts >= 4 * 55 && bcasts <= 4 * 60);
    CU_ASSERT_EQUAL(bcasts % 4, 0);
    CU_ASSERT(count(&t, FC_OP_FINALIZE, NULL) == 0);
    bool told = false;
    for (uint32_t i = 0; i < t.n_unwrapped; i++) told |= strstr(t.unwrapped[i], "broke off") != NULL;
    CU_ASSERT(told);
    expect_replay(&t, false);
    fc_trace_free(&t);
}

static void test_ends(void)
{
    struct fc_trace t;
    if (!compile("mpicc", "-Wall", "ends.c", "ends")) return;
    expect_part("fault", "ended by signal 11 (Segmentation fault)");
    if (!is_openmpi() || !recorded("ends", "none", 4, &t)) return;
    expect_replay(&t, true);
    fc_trace_free(&t);
    expect_part("abort", "failed with exit status 9");
    expect_part("kill", "ended by signal 9 (Killed)");
    expect_part("exit", "failed with exit status 3");
}

/* ---- what cannot be recorded ---- */

static void test_spawn(void)
{
    struct fc_trace t;
    bool told = false;
    if (!compile("mpicc", "-Wall", "spawn.c", "spawn") || !recorded("spawn", NULL, 2, &t)) return;
    for (uint32_t i = 0; i < t.n_unwrapped; i++)
        told |= strstr(t.unwrapped[i], "MPI_Comm_spawn was called: the processes it started are not recorded") != NULL;
    CU_ASSERT(told);
    CU_ASSERT_EQUAL(count(&t, FC_OP_SEND, NULL), 2); /* not those to the children */
    CU_ASSERT_EQUAL(count(&t, FC_OP_INIT, NULL), 2);
    expect_replay(&t, true);
    fc_trace_free(&t);
}

/* MPI that a program without it opens at run time, for one of its libraries alone. */
static void test_opened(void)
{
    struct fc_trace t;
    char library[128], program[128], shell[256];
    snprintf(library, sizeof library, "%s/opened.so", programs());
    snprintf(program, sizeof program, "%s/opened", programs());
    snprintf(shell, sizeof shell, "gcc -o %s tests/mpi/opened.c -ldl", program);
    if (!compile("mpicc", "-DLIBRARY -shared -fPIC", "opened.c", "opened.so")) return;
    CU_ASSERT_EQUAL_FATAL(system(shell), 0);
    if (!recorded("opened", library, 2, &t)) return;
    CU_ASSERT_EQUAL(count(&t, FC_OP_SEND, NULL), 2);
    fc_trace_free(&t);
}

UNDER_MPICH(test_opened)
UNDER_MPICH(test_mixed_threads)
UNDER_MPICH(test_ends)
UNDER_MPICH(test_collectives)
UNDER_MPICH(test_collectives_fortran)

int suite_capture_calls(void)
{
    static const CU_TestInfo calls[] = {{"two threads", test_threads},
                                        {"a handle used again", test_reused_handle},
                                        {"blocking calls of threads", test_blocking_threads},
                                        {"every blocking call of threads", test_mixed_threads},
                                        {"programs that break off", test_ends},
                                        {"collectives, communicators, one-sided", test_collectives},
                                        {"the same in Fortran", test_collectives_fortran},
                                        {"processes started by MPI", test_spawn},
                                        {"MPI opened at run time", test_opened},
                                        {"MPICH: opened at run time", test_opened_mpich},
                                        {"MPICH: every blocking call of threads", test_mixed_threads_mpich},
                                        {"MPICH: programs that break off", test_ends_mpich},
                                        {"MPICH: collectives, communicators, one-sided", test_collectives_mpich},
                                        {"MPICH: the same in Fortran", test_collectives_fortran_mpich},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite_between("traces capture of calls", make_directory, remove_directory, calls);
}
