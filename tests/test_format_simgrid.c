/* test_format_simgrid.c - SimGrid's time-independent traces: every action, files, refusals, SimGrid's
 * samples. */
#include "tests/format_files.h"

/* Messages: MPI_BYTE on rank 0, MPI_DOUBLE on rank 1. */
static const char messages[] = "# a comment\n"
                               "0 init\n"
                               "1 init 1\n"
                               "0 compute 5e8\n"
                               "0 isend 1 7 1e3 1\n"
                               "0   irecv\t1 7 3\n"
                               "\n"
                               "0 isend 1 7 20\n"
                               "0 test 1 0 7\n"
                               "0 wait 0 1 7\n"
                               "0 wait 0 1 8\n"
                               "0 waitall 2\n"
                               "1 recv -333 -444 4 1\n"
                               "1 recv 0 7 2.9\n"
                               "1 recv 0 7 -1\n"
                               "1 send 0 7 4\n"
                               "1 irecv -333 7 4\n"
                               "1 wait -333 1 7\n"
                               "1 sendRecv 4 0 8 0 1 6\n"
                               "1 sleep 0.5\n"
                               "1 location main.c 12\n"
                               "1 comm_size 2\n"
                               "1 comm_split\n"
                               "1 waitAny 2\n"
                               "0 finalize\n"
                               "1 compute 1e9\n";

static void test_messages(void)
{
    struct fc_trace t;
    test_read(test_text("messages", messages), &t);
    CU_ASSERT_EQUAL(t.n_ranks, 2);
    CU_ASSERT(test_is(&t, 0, 0, FC_OP_INIT, -1, 0, 0));
    CU_ASSERT(test_is(&t, 0, 1, FC_OP_ISEND, 1, 7, 4000));
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 0, 1)->compute_s, 0.5, 1e-12);
    CU_ASSERT(test_is(&t, 0, 2, FC_OP_IRECV, 1, 7, 3));
    CU_ASSERT(test_is(&t, 0, 3, FC_OP_ISEND, 1, 7, 20));
    const struct fc_event *e = test_event(&t, 0, 4);
    CU_ASSERT(e->op == FC_OP_WAIT && e->n_list == 1 && test_listed(&t, e, 0) == 0 && e->polls == 1); /* the older one */
    e = test_event(&t, 0, 5);
    CU_ASSERT(e->n_list == 2 && test_listed(&t, e, 0) == 1 && test_listed(&t, e, 1) == 2);
    CU_ASSERT(test_is(&t, 0, 6, FC_OP_FINALIZE, -1, 0, 0));
    CU_ASSERT(test_is(&t, 1, 1, FC_OP_RECV, FC_ANY, FC_ANY, 16));
    CU_ASSERT(test_is(&t, 1, 2, FC_OP_RECV, 0, 7, 16)); /* 2 doubles */
    CU_ASSERT(test_is(&t, 1, 3, FC_OP_RECV, 0, 7, 0));
    CU_ASSERT(test_is(&t, 1, 4, FC_OP_SEND, 0, 7, 32));
    CU_ASSERT(test_is(&t, 1, 5, FC_OP_IRECV, FC_ANY, 7, 32));
    CU_ASSERT_EQUAL(test_listed(&t, test_event(&t, 1, 6), 0), 0);
    CU_ASSERT(test_is(&t, 1, 7, FC_OP_IRECV, 0, 0, 8));
    CU_ASSERT(test_is(&t, 1, 8, FC_OP_SEND, 0, 0, 16));
    CU_ASSERT_EQUAL(test_listed(&t, test_event(&t, 1, 9), 0), 1);
    CU_ASSERT(test_is(&t, 1, 10, FC_OP_OTHER, -1, 0, 0)); /* comm_size, behind the sleep */
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 1, 10)->compute_s, 0.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 1, 13)->compute_s, 1, 1e-12); /* behind the last call */
    CU_ASSERT_EQUAL(t.first_event[2], 21);
    CU_ASSERT(test_noted(&t, "(test: whether it succeeded is not recorded: taken as failed)"));
    CU_ASSERT(test_noted(&t, "(wait: no such request is open: left out, as SimGrid's replay does)"));
    CU_ASSERT(test_noted(&t, "(recv: as long as what a probe found, which is not recorded: taken as 0 bytes)"));
    CU_ASSERT(test_noted(&t, "(location: places in the source are left out)"));
    CU_ASSERT(test_noted(
        &t, "(comm_split: the format has no communicators: what is called on the new one is taken as called on "
            "the world)"));
    CU_ASSERT(test_noted(&t, "(waitAny: what completed is not recorded: only its place is kept)"));
    fc_trace_free(&t);
}

static void test_collectives(void)
{
    struct fc_trace t;
    static const struct {
        const char *line;
        int op, peer;
        int64_t bytes;
    } want[] = {
        {"0 barrier", FC_OP_BARRIER, -1, 0},
        {"0 bcast 5e1", FC_OP_BCAST, 0, 50},
        {"0 bcast 50 1 0", FC_OP_BCAST, 1, 400},
        {"0 reduce 50 1e9", FC_OP_REDUCE, 0, 50},
        {"0 reduce 50 0 1 3", FC_OP_REDUCE, 1, 100},
        {"0 allreduce 50 0 1", FC_OP_ALLREDUCE, -1, 200},
        {"0 scan 5 0", FC_OP_SCAN, -1, 5},
        {"0 exscan 5 0 0", FC_OP_SCAN, -1, 40},
        {"0 alltoall 5 6", FC_OP_ALLTOALL, -1, 5},
        {"0 alltoall 5 6 1 0", FC_OP_ALLTOALL, -1, 20},
        {"0 allgather 5 6 3 0", FC_OP_ALLGATHER, -1, 10},
        {"0 gather 5 6 1 1 0", FC_OP_GATHER, 1, 20},
        {"0 scatter 5 6 1 1 0", FC_OP_SCATTER, 1, 48},
        {"0 gatherv 5 5 5 5 2 1 0", FC_OP_GATHER, 2, 20},
        {"0 allgatherv 5 5 6 7", FC_OP_ALLGATHER, -1, 5},
        {"0 allgatherv 5 5 6 7 1 1", FC_OP_ALLGATHER, -1, 20},
        {"0 allgatherv 5 5 6 7 0 5 11", FC_OP_ALLGATHER, -1, 5},
        {"0 allgatherv 5 5 6 7 1 0 5 11", FC_OP_ALLGATHER, -1, 20},
        {"0 scatterv 5 6 7 5 2 0 1", FC_OP_SCATTER, 2, 20},
        {"0 reducescatter 5 6 7 2e9 1", FC_OP_REDUCE_SCATTER, -1, 20},
        {"0 alltoallv 100 1 2 3 100 4 5 6 1 1", FC_OP_ALLTOALLV, -1, 24},
    };
    char text[2048] = "0 init\n";
    for (size_t i = 0; i < FC_COUNT(want); i++) strcat(strcat(text, want[i].line), "\n");
    strcat(text, "1 init\n2 init\n");
    test_read(test_text("collectives", text), &t);
    for (size_t i = 0; i < FC_COUNT(want); i++)
        CU_ASSERT(test_is(&t, 0, i + 1, want[i].op, want[i].peer, 0, want[i].bytes));
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 0, 5)->compute_s, 1, 1e-12);  /* the operations of the reduce before it */
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 0, 21)->compute_s, 2, 1e-12); /* of the reducescatter */
    CU_ASSERT_EQUAL(test_listed(&t, test_event(&t, 0, 21), 2), 12);
    fc_trace_free(&t);
}

/* What SimGrid's tracer writes and its replay does not know. */
static void test_nonblocking(void)
{
    struct fc_trace t;
    test_read(test_text("nonblocking", "0 init 1\n0 iallreduce 1 0 1\n0 iallreduce 2 0 1\n0 wait -333 -333 "
                                       "-4446\n0 ibarrier\n0 waitall\n"),
              &t);
    CU_ASSERT(test_is(&t, 0, 1, FC_OP_ALLREDUCE, -1, 0, 4));
    CU_ASSERT_EQUAL(test_event(&t, 0, 1)->mode, 1);
    CU_ASSERT_EQUAL(test_listed(&t, test_event(&t, 0, 3), 0), 0);
    CU_ASSERT_EQUAL(test_event(&t, 0, 5)->n_list, 2);
    fc_trace_free(&t);
    CU_ASSERT(test_refused(test_text("nonblocking", "0 iallreduce 1 0\n0 ibarrier\n0 wait -333 -333 -4446\n"),
                           ":3: action wait: which of the nonblocking collectives that are open"));
}

static void test_files(void)
{
    struct fc_trace t;
    test_text("lists/list", "parts/a\nparts/b\n");
    test_text("lists/parts/a", "0 init\n1 barrier\n0 barrier\n");
    test_text("lists/parts/b", "1 init\n1 barrier\n");
    test_text("lists/parts/above", "parts/a\nparts/b\n"); /* named from the folder above */
    test_text("lists/single", "parts/shared\n");
    test_text("lists/parts/shared", "1 init\n0 init\n");
    test_read(test_path("lists/list"), &t);
    CU_ASSERT_EQUAL(t.n_ranks, 2);
    CU_ASSERT_EQUAL(t.first_event[2], 4);
    CU_ASSERT_STRING_EQUAL(t.rank_file[1], test_path("lists/parts/b"));
    CU_ASSERT(test_noted(&t, "(a line of another rank in a rank's own file: left out, as SimGrid's replay does)"));
    fc_trace_free(&t);
    test_read(test_path("lists/parts/above"), &t);
    CU_ASSERT_EQUAL(t.n_ranks, 2);
    fc_trace_free(&t);
    test_read(test_path("lists/single"), &t);
    CU_ASSERT_EQUAL(t.n_ranks, 2);
    fc_trace_free(&t);
    test_text("lists/list", "parts/a\nparts/c\n");
    CU_ASSERT(test_refused(test_path("lists/list"), "lists/list:2: file 'parts/c' of rank 1 is not there"));
}

static void test_speed(void)
{
    struct fc_trace_options options = FC_TRACE_OPTIONS;
    const struct fc_trace_format *format;
    struct fc_trace t = {.file = test_text("speed", "0 init\n0 compute 3e9\n0 finalize\n")};
    struct fc_status st = {0};
    options.flops_per_s = 2e9;
    CU_ASSERT_FATAL(!fc_trace_detect(t.file, &format, &st) && format && strcmp(format->name, "ti") == 0);
    CU_ASSERT_FATAL(!fc_trace_read_foreign(format, &options, &t, &st));
    CU_ASSERT_DOUBLE_EQUAL(t.events[1].compute_s, 1.5, 1e-12);
    fc_trace_free(&t);
    t = (struct fc_trace){.file = test_path("speed")};
    options.flops_per_s = 0;
    CU_ASSERT(fc_trace_read_foreign(format, &options, &t, &st) == FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "a speed of 0 operations/s (expected above 0)"));
    fc_trace_free(&t);
}

static enum fc_code read_at(const char *path, const double *speeds, uint32_t n, struct fc_trace *t,
                            struct fc_status *st)
{
    struct fc_trace_options options = FC_TRACE_OPTIONS;
    options.speeds = speeds;
    options.n_speeds = n;
    return fc_trace_read_with(path, &options, t, st);
}

static void test_speeds(void)
{
    static const double speeds[] = {1e9, 4e9, 0};
    struct fc_trace t;
    struct fc_status st = {0};
    const char *path =
        test_text("speeds", "0 init\n1 init\n0 compute 2e9\n1 compute 2e9\n1 sleep 3\n0 finalize\n1 finalize\n");
    CU_ASSERT_FATAL(!read_at(path, NULL, 0, &t, &st));
    CU_ASSERT(t.operations);
    CU_ASSERT_DOUBLE_EQUAL(t.assumed_flops_per_s, 1e9, 0);
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 1, 1)->compute_s, 5, 1e-12);
    fc_trace_free(&t);
    CU_ASSERT_FATAL(!read_at(path, speeds, 2, &t, &st));
    CU_ASSERT_DOUBLE_EQUAL(t.assumed_flops_per_s, 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 0, 1)->compute_s, 2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 1, 1)->compute_s, 3.5, 1e-12);
    fc_trace_free(&t);
    CU_ASSERT_FATAL(!read_at(path, speeds + 1, 1, &t, &st));
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 0, 1)->compute_s, 0.5, 1e-12);
    fc_trace_free(&t);
    CU_ASSERT(read_at(path, speeds, 3, &t, &st) == FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "3 speeds for 2 ranks (expected one for all, or one for each)"));
    st = (struct fc_status){0};
    CU_ASSERT(read_at(path, speeds + 1, 2, &t, &st) == FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "a speed of 0 operations/s (expected above 0)"));
    test_read(test_text("idle", "0 init\n"), &t); /* nothing to assume */
    CU_ASSERT_DOUBLE_EQUAL(t.assumed_flops_per_s, 0, 0);
    fc_trace_free(&t);
}

/* Two jobs: messages, roots and collectives are among their own ranks, and nobody waits for the other at the
 * end. */
static void test_jobs(void)
{
    struct fc_trace t;
    test_text("jobs/a",
              "0 init\n1 init\n0 send 1 7 5\n1 recv 0 7 5\n0 bcast 8 1\n1 bcast 8 1\n0 finalize\n1 finalize\n");
    test_text("jobs/list", "jobs/a\n");
    test_read(test_text("jobs/two", "first list 2\n# later\nsecond a 2 3e9\n"), &t);
    CU_ASSERT_EQUAL(t.n_ranks, 4);
    CU_ASSERT_EQUAL(t.n_comms, 3);
    CU_ASSERT(test_is(&t, 2, 1, FC_OP_SEND, 3, 7, 5));
    CU_ASSERT(test_is(&t, 3, 2, FC_OP_BCAST, 3, 0, 8));
    CU_ASSERT_EQUAL(test_event(&t, 3, 2)->comm, 2);
    CU_ASSERT_EQUAL(t.comm_member[t.comm_first[2] + 1], 3);
    CU_ASSERT_EQUAL(test_event(&t, 0, 3)->op, FC_OP_OTHER);
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 0, 0)->compute_s, 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(test_event(&t, 2, 0)->compute_s, 3, 1e-12);
    fc_trace_free(&t);
    test_read(test_text("jobs/one", "only a 2 0\n"), &t);
    CU_ASSERT_EQUAL(t.n_comms, 1);
    CU_ASSERT_EQUAL(test_event(&t, 0, 3)->op, FC_OP_FINALIZE);
    fc_trace_free(&t);
    CU_ASSERT(test_refused(test_text("jobs/bad", "only a 3\n"), "2 ranks, not 3 as the description of jobs says"));
    CU_ASSERT(
        test_refused(test_text("jobs/bad", "first a 2\nsecond b 2\n"), "jobs/bad:2: file 'b' of the job is not there"));
    CU_ASSERT(test_refused(test_text("jobs/bad", "first a 2\nsecond a\n"),
                           ":2: 'second a' (expected a job: NAME FILE RANKS"));
    CU_ASSERT(test_refused(test_text("jobs/bad", "first a 2 x\n"),
                           "jobs/bad:1: operations before the start: 'x' is not a number"));
    CU_ASSERT(test_refused(test_text("jobs/bad", "first a 2 -1\n"),
                           ":1: -1 operations before the start of a job (expected 0"));
    CU_ASSERT(test_refused(test_text("jobs/bad", "first a 0\n"), "ranks: '0' is out of range"));
    CU_ASSERT(test_refused(test_text("jobs/bad", "first a 2 1e17\n"),
                           "1e+17 operations before the start of a job take 1e+08 s"));
    test_damaged("damaged", "first jobs/a 2\nsecond jobs/a 2 3e9\n", 200, test_path("damaged"));
}

static void test_refusals(void)
{
    static const struct {
        const char *line, *says;
    } bad[] = {
        {"0", ":3: '0' (expected a rank and an action)"},
        {"x send 1 0 1", ":3: a rank: 'x' is not an integer"},
        {"-1 init", ":3: a rank: '-1' is out of range"},
        {"9 init", "rank 9 in a file of 3 lines: ranks below it have none"},
        {"2 init\n2 init", "rank 1 has no line, but rank 2 has"},
        {"0 fly 1", ":3: action fly is unknown"},
        {"0 Startall", ":3: action Startall: the message that it starts is not in the trace"},
        {"0 Start 1 0 1", ":3: action Start: the message"},
        {"0 send 1 0", ":3: action send has 2 arguments (expected 3 to 4)"},
        {"0 send 2 0 1", ":3: peer 2 is out of range (allowed: 0 to 1)"},
        {"0 send -333 0 1", ":3: peer -333 is out of range"},
        {"0 send 1 -444 1", ":3: tag -444 (allowed: 0 or more)"},
        {"0 recv -1 0 1", ":3: peer -1 is out of range (allowed: 0 to 1, or -333 for any)"},
        {"0 send 1 0 -5", ":3: a count of -5 (expected 0 or more)"},
        {"0 send 1 0 1e300", ":3: a count of 1e+300 (allowed: up to 2^53)"},
        {"0 send 1 0 nan", ":3: a count: 'nan' is not a number"},
        {"0 send 1 0 1 56", ":3: the size of datatype 56 is unknown"},
        {"0 send 1 0 1 -2", ":3: a datatype: '-2' is out of range"},
        {"0 compute", ":3: action compute has 0 arguments (expected 1 to 1)"},
        {"0 compute -1", ":3: computation of -1e-09 s"},
        {"0 compute 1e17", ":3: computation of 1e+08 s between two calls (allowed: 0 to 9000000 s)"},
        {"0 sleep x", ":3: an amount of computation: 'x' is not a number"},
        {"0 wait 0 1", ":3: action wait has 2 arguments (expected 3 to 3)"},
        {"0 barrier 1", ":3: action barrier has 1 arguments"},
        {"0 bcast 1 2", ":3: a root: '2' is out of range"},
        {"0 reduce 1", ":3: action reduce has 1 arguments (expected 2 to 4)"},
        {"0 allgatherv 1 2", ":3: action allgatherv has 2 arguments (expected 3 to 7)"},
        {"0 alltoallv 1 2 3 4 5", ":3: action alltoallv has 5 arguments (expected 6 to 8)"},
        {"0 alltoallv 9 -2 3 9 2 3", ":3: a count: '-2' is out of range"},
        {"0 alltoallv 9 2 5e4 9 2 3", ":3: a count: '5e4' is not an integer"},
    };
    for (size_t i = 0; i < FC_COUNT(bad); i++) {
        char text[128];
        snprintf(text, sizeof text, "0 init\n%s\n%s\n", i == 4 ? "0 init" : "1 init", bad[i].line);
        CU_ASSERT(test_refused(test_text("bad", text), bad[i].says));
    }
}

static void test_broken_copies(void)
{
    test_damaged("damaged", messages, 1200, test_path("damaged"));
}

static void test_references(void)
{
    static const struct test_counts files[] = {
        {"simgrid_ti/replay/actions_allgatherv.txt", 4, 0, 0, 0, 4, 0, 0, 0},
        {"simgrid_ti/replay/actions_allreduce.txt", 3, 0, 0, 0, 3, 0, 0, 0},
        {"simgrid_ti/replay/actions_alltoall.txt", 3, 0, 0, 0, 3, 0, 0, 0},
        {"simgrid_ti/replay/actions_alltoallv.txt", 3, 0, 0, 0, 3, 0, 0, 9},
        {"simgrid_ti/replay/actions_barrier.txt", 3, 1, 1, 0, 3, 0, 10000000, 0},
        {"simgrid_ti/replay/actions_bcast.txt", 3, 0, 0, 0, 9, 0, 0, 0},
        {"simgrid_ti/replay/actions_bcast_reduce_datatypes.txt", 3, 0, 0, 0, 9, 0, 0, 0},
        {"simgrid_ti/replay/actions_gather.txt", 4, 0, 0, 0, 4, 0, 0, 0},
        {"simgrid_ti/replay/actions_reducescatter.txt", 4, 0, 0, 0, 4, 0, 0, 0},
        {"simgrid_ti/replay/actions_waitall.txt", 3, 3, 3, 3, 0, 0, 8000, 6},
        {"simgrid_ti/replay/actions_with_isend.txt", 3, 3, 3, 2, 0, 0, 3000000, 2},
        {"simgrid_ti/replay/split_traces", 2, 3, 3, 1, 0, 0, 3000000, 1},
        {"simgrid_ti/smpi_replay.txt", 32, 0, 0, 0, 1248, 480, 0, 2048},
        {"simgrid_ti/description_file", 64, 0, 0, 0, 2496, 1024, 0, 4096},
    };
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        const char *path = test_reference(files[i].name);
        if (!path) return;
        CU_ASSERT(test_counted(path, &files[i]));
    }
    const char *path = test_reference("simgrid_ti/replay/actions1.txt"); /* one rank's part */
    CU_ASSERT(path && test_refused(path, "rank 0 has no line, but rank 1 has"));
}

/* Recordings packed as tar files, the list in a folder of their own. */
static void test_recordings(void)
{
    static const struct test_counts files[] = {
        {"amg27", 27, 15524, 15524, 31048, 0, 0, 13584368, 31048},
        {"lmp16", 16, 20736, 20736, 20736, 1888, 0, 234266256, 20736},
    };
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        char name[64], command[512];
        snprintf(name, sizeof name, "simgrid_ti/%s.ti.tar.xz", files[i].name);
        const char *archive = test_reference(name);
        if (!archive) return;
        snprintf(command, sizeof command, "tar -xJf '%s' -C '%s'", archive, test_path(""));
        CU_ASSERT_FATAL(system(command) == 0);
        snprintf(name, sizeof name, "ti_%s/list", files[i].name);
        CU_ASSERT(test_counted(test_path(name), &files[i]));
    }
}

int suite_format_simgrid(void)
{
    static const CU_TestInfo tests[] = {
        {"messages and requests", test_messages},
        {"collectives", test_collectives},
        {"nonblocking collectives", test_nonblocking},
        {"lists and shared files", test_files},
        {"the recorded speed", test_speed},
        {"a speed for each rank", test_speeds},
        {"descriptions of jobs", test_jobs},
        {"refusals with their line", test_refusals},
        {"damaged copies", test_broken_copies},
        {"SimGrid's samples", test_references},
        {"recordings", test_recordings},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("format_simgrid", tests);
}
