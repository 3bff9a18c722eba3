/* test_format_liballprof.c - liballprof's text: every kind of call, strides, communicators, refusals, the
 * sample traces. */
#include "tests/format_files.h"

/* Two ranks, requests 8 bytes apart; C and D are the world of rank 0 and 1 under Open MPI. */
#define C "6575616,0,2"
#define D "6575616,1,2"
static const char rank0[] = "# htor's PMPI Tracer 0.9 Output File\n"
                            "\n"
                            "MPI_Init:-:1:2:1000000\n"
                            "MPI_Comm_rank:1000010:" C ":5:1000012\n"
                            "MPI_Isend:1000020:77:3:1,4,46909632806920:1:9:" C ":4096:1000021\n"
                            "MPI_Irecv:1000022.5:77:5:10,8,8:-1:-1:" C ":4104:1000023.25\n"
                            "MPI_Waitall:1000030:2:4096:0:1000040\n"
                            "MPI_Sendrecv:1000050:7:1:1,4,4:1:1:8:2:1,4,4:1:2:" C ":9:1000060\n"
                            "MPI_Sendrecv_replace:1000061:7:6:1,4,4:-2:1:1:3:" C ":9:1000062\n"
                            "MPI_Recv_init:1000070:7:4:1,4,4:1:4:" C ":8192:1000071\n"
                            "MPI_Start:1000072:8192:1000073\n"
                            "MPI_Wait:1000074:8192:0:1000075\n"
                            "MPI_Startall:1000076:1:8192:1000077\n"
                            "MPI_Test:1000078:8192:1:2:1000079\n"
                            "MPI_Wait:1000080:8192:0:1000081\n"
                            "MPI_Request_free:1000082:8192:1000083\n"
                            "MPI_Isend:1000084:7:1:1,4,4:-2:0:" C ":4096:1000085\n"
                            "MPI_Wait:1000086:4096:0:1000087\n"
                            "MPI_Finalize:1000200:-\n";
static const char rank1[] = "MPI_Init:-:1:2:1000001.000000\n"
                            "MPI_Recv:1000030.000000:7:3:1,4,4:0:9:" D ":9:1000031.000000\n"
                            "MPI_Ssend:1000032.000000:7:5:10,8,8:0:3:" D ":1000033.000000\n"
                            "MPI_Bsend:1000034.000000:7:2:1,4,4:0:2:" D ":1000035.000000\n"
                            "MPI_Finalize:1000200.000000:-\n";

static void write_two(const char *first, const char *second)
{
    test_text("two/t-rank-0.txt", first);
    test_text("two/t-rank-1.txt", second);
}

static void test_calls(void)
{
    struct fc_trace t;
    write_two(rank0, rank1);
    test_read(test_path("two/t-rank-1.txt"), &t); /* any of the files */
    CU_ASSERT_EQUAL(t.n_ranks, 2);
    CU_ASSERT_EQUAL(t.n_comms, 1);
    CU_ASSERT(test_is(&t, 0, 0, FC_OP_INIT, -1, 0, 0));
    CU_ASSERT(test_is(&t, 0, 1, FC_OP_OTHER, -1, 0, 0));
    CU_ASSERT(test_is(&t, 0, 2, FC_OP_ISEND, 1, 9, 12)); /* the size, not the extent */
    CU_ASSERT(test_is(&t, 0, 3, FC_OP_IRECV, FC_ANY, FC_ANY, 40));
    const struct fc_event *e = test_event(&t, 0, 3);
    CU_ASSERT_DOUBLE_EQUAL(e->enter_s, 22.5e-6, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(e->leave_s, 23.25e-6, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(e->compute_s, 1.5e-6, 1e-15);
    e = test_event(&t, 0, 4);
    CU_ASSERT(e->op == FC_OP_WAIT && e->n_list == 2 && test_listed(&t, e, 0) == 0 && test_listed(&t, e, 1) == 1);
    CU_ASSERT(test_is(&t, 0, 5, FC_OP_IRECV, 1, 2, 8));
    CU_ASSERT(test_is(&t, 0, 6, FC_OP_SEND, 1, 1, 4));
    CU_ASSERT_EQUAL(test_listed(&t, test_event(&t, 0, 7), 0), 2);
    CU_ASSERT(test_is(&t, 0, 8, FC_OP_IRECV, 1, 3, 24)); /* nothing is sent to MPI_PROC_NULL */
    CU_ASSERT_EQUAL(test_listed(&t, test_event(&t, 0, 9), 0), 3);
    CU_ASSERT(test_is(&t, 0, 10, FC_OP_OTHER, -1, 0, 0)); /* Recv_init */
    CU_ASSERT(test_is(&t, 0, 11, FC_OP_IRECV, 1, 4, 16));
    CU_ASSERT_EQUAL(test_listed(&t, test_event(&t, 0, 12), 0), 4);
    CU_ASSERT(test_is(&t, 0, 13, FC_OP_IRECV, 1, 4, 16));
    e = test_event(&t, 0, 14);
    CU_ASSERT(test_listed(&t, e, 0) == 5 && e->polls == 1);
    CU_ASSERT_DOUBLE_EQUAL(e->compute_s, 2e-6, 1e-15); /* before the test and after it */
    CU_ASSERT(test_is(&t, 0, 16, FC_OP_OTHER, -1, 0, 0));
    CU_ASSERT(test_event(&t, 0, 17)->op == FC_OP_WAIT && test_event(&t, 0, 17)->n_list == 0);
    CU_ASSERT(test_is(&t, 0, 18, FC_OP_FINALIZE, -1, 0, 0));
    CU_ASSERT(test_event(&t, 1, 2)->mode == 1 && test_event(&t, 1, 3)->mode == 2);
    CU_ASSERT_STRING_EQUAL(t.rank_file[0], test_path("two/t-rank-0.txt"));
    CU_ASSERT(test_noted(&t, "(MPI_Test: whether it succeeded is not recorded: taken as failed)"));
    fc_trace_free(&t);
    test_read(test_path("two"), &t); /* the folder */
    CU_ASSERT_EQUAL(t.n_ranks, 2);
    fc_trace_free(&t);
}

/* Where a request is an integer, those of a list stand 4 bytes apart. */
static void test_stride(void)
{
    struct fc_trace t;
#define MAKE(address) "MPI_Irecv:2:7:1:1,4,4:-1:-1:0,0,1:" address ":2\n"
    test_text("stride/t-0", "MPI_Init:-:0:0:1\n" MAKE("400") MAKE("404") MAKE("408")
                                MAKE("412") "MPI_Waitall:4:2:400:0:5\n"
                                            "MPI_Waitall:6:2:408:0:7\nMPI_Finalize:8:-\n");
    test_read(test_path("stride"), &t);
    CU_ASSERT_EQUAL(test_listed(&t, test_event(&t, 0, 5), 1), 1);
    CU_ASSERT_EQUAL(test_listed(&t, test_event(&t, 0, 6), 0), 2);
    CU_ASSERT_EQUAL(t.n_unwrapped, 0);
    fc_trace_free(&t);
    test_text("stride/t-0", "MPI_Waitall:4:0:400:0:5\nMPI_Startall:6:0:400:7\n"); /* none */
    test_read(test_path("stride"), &t);
    CU_ASSERT(test_is(&t, 0, 0, FC_OP_WAIT, -1, 0, 0) && test_is(&t, 0, 1, FC_OP_OTHER, -1, 0, 0));
    fc_trace_free(&t);
    test_text("stride/t-0", "MPI_Init:-:0:0:1\n" MAKE("400") MAKE("408")
                                MAKE("416") "MPI_Waitall:4:3:400:0:5\n"
                                            "MPI_Waitall:6:2:400:0:7\n" MAKE("400") MAKE("400"));
    test_read(test_path("stride/t-0"), &t);
    CU_ASSERT_EQUAL(test_event(&t, 0, 4)->n_list, 3);
    CU_ASSERT_EQUAL(test_event(&t, 0, 5)->n_list, 0);
    CU_ASSERT(test_noted(&t, "(2 times: a wait for an address without an open request (MPI_REQUEST_NULL))"));
    CU_ASSERT(test_noted(&t, "(a request whose completion is not recorded (a test that succeeded, or MPI_Waitany))"));
    fc_trace_free(&t);
}

static void test_collectives(void)
{
    struct fc_trace t;
    static const char text[] = "MPI_Barrier:1:" C ":2\n"
                               "MPI_Bcast:1:7:3:2,4,4:1:" C ":2\n"
                               "MPI_Gather:1:7:3:2,4,4:7:3:2,4,4:1:" C ":2\n"
                               "MPI_Gatherv:1:7:5:2,4,4:7:8:1,2:9:0,1:2,4,4:1:" C ":2\n"
                               "MPI_Scatter:1:7:3:2,4,4:7:6:2,8,8:1:" C ":2\n"
                               "MPI_Scatterv:1:7:8:9:2,4,4:7:6:2,8,8:1:" C ":2\n"
                               "MPI_Allgather:1:7:3:2,4,4:7:6:2,8,8:" C ":2\n"
                               "MPI_Alltoall:1:7:3:2,4,4:7:6:2,8,8:" C ":2\n"
                               "MPI_Alltoallv:1:7:8:10,20:9:0,1:2,4,4:7:8:1,2:9:0,1:2,4,4:" C ":2\n"
                               "MPI_Alltoallv:1:7:8:10,21:9:2,4,4:7:8:1,2:9:2,4,4:" C ":2\n"
                               "MPI_Reduce:1:7:8:2:2,4,4:3:1:" C ":2\n"
                               "MPI_Allreduce:1:7:8:3:2,4,4:3:" C ":2\n"
                               "MPI_Reduce_scatter:1:7:8:9:4,5:2,4,4:3:" C ":2\n"
                               "MPI_Exscan:1:7:8:9:2,4,4:3:" C ":2\n"
                               "MPI_Iallreduce:1:7:8:3:2,4,4:3:" C ":64:2\n"
                               "MPI_Wait:2:64:0:3\n"
                               "MPI_Comm_dup:3:" C ":77:4\n"
                               "MPI_Win_fence:4:0:5:6\n";
    static const struct {
        int op, peer;
        int64_t bytes;
    } want[] = {{FC_OP_BARRIER, -1, 0},
                {FC_OP_BCAST, 1, 12},
                {FC_OP_GATHER, 1, 12},
                {FC_OP_GATHER, 1, 20},
                {FC_OP_SCATTER, 1, 48},
                {FC_OP_SCATTER, 1, 48},
                {FC_OP_ALLGATHER, -1, 12},
                {FC_OP_ALLTOALL, -1, 12},
                {FC_OP_ALLTOALLV, -1, 120},
                {FC_OP_ALLTOALLV, -1, 124},
                {FC_OP_REDUCE, 1, 8},
                {FC_OP_ALLREDUCE, -1, 12},
                {FC_OP_REDUCE_SCATTER, -1, 16},
                {FC_OP_SCAN, -1, 36},
                {FC_OP_ALLREDUCE, -1, 12},
                {FC_OP_WAIT, -1, 0},
                {FC_OP_COMM, 0, 0},
                {FC_OP_OTHER, -1, 0}};
    write_two(text, "MPI_Barrier:1:" D ":2\n");
    test_read(test_path("two"), &t);
    CU_ASSERT_EQUAL_FATAL(t.first_event[1], FC_COUNT(want));
    for (size_t i = 0; i < FC_COUNT(want); i++)
        CU_ASSERT(test_is(&t, 0, i, want[i].op, want[i].peer, 0, want[i].bytes));
    CU_ASSERT_EQUAL(test_listed(&t, test_event(&t, 0, 8), 1), 80);
    CU_ASSERT(test_event(&t, 0, 14)->mode == 1 && test_listed(&t, test_event(&t, 0, 15), 0) == 0);
    CU_ASSERT_EQUAL(test_event(&t, 0, 16)->comm, -1);
    CU_ASSERT(test_noted(&t, "(MPI_Win_fence: only its time is kept)"));
    CU_ASSERT(test_noted(&t, "(MPI_Comm_dup: which communicator it made is not recorded)"));
    fc_trace_free(&t);
}

static void write_four(const char *const line[4])
{
    static const char *const names[] = {"four/t-0", "four/t-1", "four/t-2", "four/t-3"};
    for (int r = 0; r < 4; r++) test_text(names[r], line[r]);
}

/* Members by handle; peers become ranks of the world. */
static void test_communicators(void)
{
    struct fc_trace t;
    const char *const split[] = {
        "MPI_Barrier:1:5,0,4:2\nMPI_Send:3:7:1:2,4,4:1:0:18446744071629176832,0,2:4\nMPI_Barrier:5:9,0,1:6\n",
        "MPI_Barrier:1:5,1,4:2\nMPI_Barrier:3:8,1,2:4\nMPI_Barrier:5:6,1,4:6\n",
        "MPI_Barrier:1:5,2,4:2\nMPI_Recv:3:7:1:2,4,4:0:0:18446744071629176832,1,2:9:4\nMPI_Barrier:5:6,0,4:"
        "6\n",
        "MPI_Bcast:1:5,0,4:2\n",
    };
    const char *all[4];
    memcpy(all, split, sizeof all);
    all[0] = "MPI_Barrier:1:5,0,4:2\nMPI_Send:3:7:1:2,4,4:1:0:18446744071629176832,0,2:4\nMPI_Barrier:5:9,0,1:6\n"
             "MPI_Barrier:7:6,2,4:8\n";
    all[3] = "MPI_Barrier:1:5,3,4:2\nMPI_Barrier:3:8,0,2:4\nMPI_Barrier:5:6,3,4:6\n";
    write_four(all);
    test_read(test_path("four"), &t);
    CU_ASSERT_EQUAL(t.n_comms, 5); /* the world, {0}, {3, 1}, {0, 2}, and all in another order */
    CU_ASSERT(test_is(&t, 0, 1, FC_OP_SEND, 2, 0, 4));
    CU_ASSERT(test_is(&t, 2, 1, FC_OP_RECV, 0, 0, 4));
    int32_t comm = test_event(&t, 1, 1)->comm;
    CU_ASSERT_EQUAL(comm, test_event(&t, 3, 1)->comm);
    CU_ASSERT_EQUAL(t.comm_member[t.comm_first[comm]], 3);
    CU_ASSERT_EQUAL(t.comm_member[t.comm_first[comm] + 1], 1);
    comm = test_event(&t, 1, 2)->comm;
    CU_ASSERT_EQUAL(t.comm_member[t.comm_first[comm]], 2);
    CU_ASSERT_EQUAL(test_event(&t, 0, 0)->comm, 0);
    fc_trace_free(&t);
    all[3] = "MPI_Barrier:1:5,3,4:2\nMPI_Barrier:3:9999,0,2:4\nMPI_Barrier:5:6,3,4:6\n"; /* an address of its
                                                                                            own */
    write_four(all);
    CU_ASSERT(test_refused(test_path("four"), "t-1:2: the members of communicator 8 of 2 ranks cannot be "
                                              "told: 1 ranks write that handle (expected: 2"));
    all[3] = "MPI_Barrier:1:5,3,4:2\nMPI_Barrier:3:18446744071629176832,0,2:4\n";
    write_four(all);
    CU_ASSERT(test_refused(test_path("four"), "cannot be told: 3 ranks write that handle"));
}

/* The world's handle may be an address that differs between processes. */
static void test_world_of_addresses(void)
{
    struct fc_trace t;
    const char *line[] = {"MPI_Barrier:1:111,0,4:2\n", "MPI_Barrier:1:222,1,4:2\n", "MPI_Barrier:1:333,2,4:2\n",
                          "MPI_Init:-:0:0:4\n"};
    write_four(line);
    test_read(test_path("four"), &t);
    CU_ASSERT_EQUAL(t.n_comms, 1);
    fc_trace_free(&t);
    line[1] = "MPI_Barrier:1:222,1,4:2\nMPI_Barrier:1:223,1,4:2\n";
    write_four(line);
    CU_ASSERT(test_refused(test_path("four"), "cannot be told"));
    line[1] = "MPI_Send:1:9:1:1,4,4:2:1:111,0,4:2\n"; /* rank 0 of the communicator is told, and no other is it */
    write_four(line);
    CU_ASSERT(test_refused(test_path("four"), "t-1:1: the members of communicator 111 of 4 ranks cannot be told: "
                                              "2 ranks write that handle"));
}

/* Under MPICH, told by the world's handle, -1 is nobody and -2 anybody. */
static void test_mpich(void)
{
    struct fc_trace t;
    test_text("mpich/t-0",
              "MPI_Recv:1:7:1:2,4,4:-1:0:1140850688,0,1:9:2\nMPI_Recv:3:7:1:2,4,4:-2:-1:1140850688,0,1:9:4\n");
    test_read(test_path("mpich"), &t);
    CU_ASSERT(test_is(&t, 0, 0, FC_OP_OTHER, -1, 0, 0));
    CU_ASSERT(test_is(&t, 0, 1, FC_OP_RECV, FC_ANY, FC_ANY, 4));
    fc_trace_free(&t);
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"MPI_Init:-:0:0:1\nhello\n", "t-rank-0.txt:2: 'hello' (expected MPI_NAME:ENTER:arguments:LEAVE)"},
        {"MPI_Send:1:7:3\n", ":1: MPI_Send has 1 arguments (expected 6 to 7)"},
        {"MPI_Send:1:7:3:1,4,4:1:0:" C ":2:3:4\n", ":1: MPI_Send has 8 arguments"},
        {"MPI_Barrier:1x:" C ":2\n", "time '1x' (expected microseconds"},
        {"MPI_Barrier:1:" C ":2.5.5\n", "time '2.5.5'"},
        {"MPI_Barrier:1:" C ":99999999999999999999\n", "time '99999999999999999999'"},
        {"MPI_Barrier:-:" C ":-\n", "a call without a time"},
        {"MPI_Barrier:1:5,0:2\n", "'5,0' (expected a communicator: handle,rank,size)"},
        {"MPI_Barrier:1:x,0,2:2\n", "'x,0,2' (expected a communicator"},
        {"MPI_Barrier:1:5,2,2:2\n", "rank 2 in a communicator of 2 ranks"},
        {"MPI_Barrier:1:5,0,9:2\n", ":1: a communicator of 9 ranks, but there are 2 files"},
        {"MPI_Barrier:1:" C ":2\nMPI_Barrier:3:6575616,1,2:4\n",
         ":2: communicator 6575616 of 2 ranks: this rank is its 1 here and its 0 in line 1"},
        {"MPI_Send:1:7:-3:1,4,4:1:0:" C ":2\n", "a count: '-3' is out of range"},
        {"MPI_Send:1:7:3:1:1:0:" C ":2\n", "'1' (expected a type: id,size,extent)"},
        {"MPI_Send:1:7:3:1,-4,4:1:0:" C ":2\n", "a type of -4 bytes"},
        {"MPI_Send:1:7:3:1,4,4:2:0:" C ":2\n", "a peer: '2' is out of range (allowed: 0 to 1)"},
        {"MPI_Send:1:7:3:1,4,4:-1:0:" C ":2\n", "a message to any rank (-1 is MPI_ANY_SOURCE)"},
        {"MPI_Send:1:7:3:1,4,4:1:-1:" C ":2\n", "a tag: '-1' is out of range"},
        {"MPI_Send:1:7:3:1,4,4:-3:0:" C ":2\n", "a peer: '-3' is out of range"},
        {"MPI_Bcast:1:7:3:1,4,4:2:" C ":2\n", "a root: '2' is out of range"},
        {"MPI_Isend:1:7:3:1,4,4:1:0:" C ":x:2\n", "the address of a request: 'x'"},
        {"MPI_Waitall:1:-1:4:0:2\n", "a number of requests: '-1'"},
        {"MPI_Start:1:640:2\n", "MPI_Start of request 640, which no MPI_Send_init or MPI_Recv_init made"},
        {"MPI_Alltoallv:1:7:8:9:2,4,4:7:8:9:2,4,4:" C ":2\n", "MPI_Alltoallv without its counts"},
        {"MPI_Reduce_scatter:1:7:8:9:2,4,4:3:" C ":2\n", "MPI_Reduce_scatter without its counts"},
        {"MPI_Reduce_scatter:1:7:8:9:4,5,6:2,4,4:3:" C ":2\n",
         "a list of counts that is not one for each of the 2 members"},
        {"MPI_Barrier:1:" C ":2\nMPI_Barrier:9000000000001000:" C ":9000000000001001\n",
         ":2: 9000000000 s after the first call"},
    };
    for (size_t i = 0; i < FC_COUNT(bad); i++) {
        write_two(bad[i].text, "MPI_Barrier:1:" D ":2\n");
        CU_ASSERT(test_refused(test_path("two/t-rank-0.txt"), bad[i].says));
    }
    CU_ASSERT(test_refused(test_text("nameless", "MPI_Init:-:0:0:1\n"), "the name holds no rank"));
    CU_ASSERT(test_refused(test_text("alone/t-3", "MPI_Init:-:0:0:1\n"), "alone/t-0: rank 0's file is missing"));
}

static void test_broken_copies(void)
{
    write_two(rank0, rank1);
    test_damaged("two/t-rank-0.txt", rank0, 1200, test_path("two/t-rank-1.txt"));
}

static void test_references(void)
{
    static const struct test_counts files[] = {
        {"liballprof/sweep3d-2x2", 4, 5760, 5760, 0, 156, 8, 5760 * 36000, 0},
        {"liballprof/sphot-4", 4, 9, 9, 2, 40, 44, 3 * 192 + 3 * 8 + 3 * 128, 6},
        {"liballprof/pmpi-4", 4, 4, 4, 4, 4, 8, 16, 8},
    };
    for (size_t i = 0; i < FC_COUNT(files); i++) {
        const char *path = test_reference(files[i].name);
        if (!path) return;
        CU_ASSERT(test_counted(path, &files[i]));
    }
}

int suite_format_liballprof(void)
{
    static const CU_TestInfo tests[] = {
        {"messages and requests", test_calls},
        {"the size of a request", test_stride},
        {"collectives", test_collectives},
        {"members of communicators", test_communicators},
        {"a world whose handles differ", test_world_of_addresses},
        {"MPICH's numbers", test_mpich},
        {"refusals with their line", test_refusals},
        {"damaged copies", test_broken_copies},
        {"sample traces", test_references},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("format_liballprof", tests);
}
