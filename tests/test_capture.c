/* test_capture.c - the recorder against an independent witness: Open MPI's monitoring counts bytes and messages of every
 * pair of ranks in the same run, and both must agree byte for byte; what the same program sends under MPICH must be the
 * same. Programs: tests/mpi. What the machine lacks (an MPI, its Fortran, the monitoring component, the recorder itself) is
 * skipped and said. */
#include "solvers/solvers.h"
#include "tests/tests.h"
#include "tests/trace_oracles.h"
#include "traces/traces.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RANKS = 8 };
static char directory[64]; /* programs, recordings, the witness' files */

static int make_directory(void)
{
    strcpy(directory, "/tmp/fabricast-capture-XXXXXX");
    return mkdtemp(directory) ? 0 : 1;
}

static int remove_directory(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static bool have(const char *tool)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", tool);
    return system(command) == 0;
}

static bool skip(const char *why)
{
    printf("\n    SKIPPED: %s ", why);
    return false;
}

/* The MPI at hand, as Debian calls its tools: mpicc.openmpi. */
static const char *mpi = "openmpi";

static bool is_openmpi(void)
{
    return strcmp(mpi, "openmpi") == 0;
}

/* Its tool of that name; elsewhere Open MPI's may be the only one. */
static const char *tool(const char *name, char *full, size_t size)
{
    snprintf(full, size, "%s.%s", name, mpi);
    if (is_openmpi() && !have(full)) snprintf(full, size, "%s", name);
    return full;
}

/* For ranks of MPICH that share processors. */
static void make_yield(void)
{
    char command[256], made[96];
    snprintf(made, sizeof made, "%s/yield.so", directory);
    snprintf(command, sizeof command, "gcc -D_GNU_SOURCE -O2 -shared -fPIC -o %s/yield.so tests/mpi/yield_mpich.c -ldl",
             directory);
    if (!is_openmpi() && access(made, F_OK)) CU_ASSERT_EQUAL(system(command), 0);
}

/* The folder of this MPI's programs. */
static const char *programs(void)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", directory, mpi);
    mkdir(path, 0700);
    return path;
}

/* Compiles tests/mpi/`source` to `program` of this MPI, unless an earlier test did; false (and says so) where that cannot be
 * done. */
static bool compile(const char *compiler, const char *options, const char *source, const char *program)
{
    char command[512], with[32], there[160];
    snprintf(there, sizeof there, "%s/%s", programs(), program);
    if (access(there, X_OK) == 0) return true;
    if (!have(tool("mpirun", with, sizeof with)) || !have(tool(compiler, with, sizeof with))) {
        char why[64];
        snprintf(why, sizeof why, "%s is not installed", with);
        return skip(why);
    }
    snprintf(command, sizeof command, "%s %s %s -o %s/%s tests/mpi/%s -pthread", with, options,
             strcmp(compiler, "mpicc") == 0 ? "-Wno-stringop-overflow" : "-w", programs(), program, source);
    bool done = system(command) == 0;
    CU_ASSERT(done);
    make_yield();
    return done;
}

/* "mpirun -n N" of the MPI at hand, for a shell. */
static const char *mpirun(int n, char *text, size_t size)
{
    char name[32];
    tool("mpirun", name, sizeof name);
    if (is_openmpi())
        snprintf(text, size, "%s%s --quiet --oversubscribe -n %d", name, geteuid() == 0 ? " --allow-run-as-root" : "",
                 n);
    else
        snprintf(text, size, "env LD_PRELOAD=$LD_PRELOAD:%s/yield.so %s -n %d", directory, name, n);
    return text;
}

/* Records `program` with an argument on n ranks. */
static enum fc_code record_to(const char *program, const char *argument, int n, bool partial, const char *output,
                              struct fc_capture_report *report, struct fc_arena *arena, struct fc_status *st)
{
    char command[512], run[128];
    char *argv[] = {"sh", "-c", command, NULL};
    snprintf(command, sizeof command, "exec %s %s/%s %s%s", mpirun(n, run, sizeof run), programs(), program,
             argument ? argument : "",
             strcmp(program, "ends") ? "" : " >/dev/null 2>&1"); /* MPIs tell of every bad end */
    unlink(output);
    return fc_trace_capture(argv, output, partial, arena, report, st);
}

/* The same; the recording is DIRECTORY/trace. */
static enum fc_code record(const char *program, const char *argument, int n, bool partial,
                           struct fc_capture_report *report, struct fc_arena *arena, struct fc_status *st)
{
    char output[128];
    snprintf(output, sizeof output, "%s/trace", directory);
    return record_to(program, argument, n, partial, output, report, arena, st);
}

/* Recorded and read back; false where the recorder is not built (said) or on failure (asserted). */
static bool recorded(const char *program, const char *argument, int n, struct fc_trace *trace)
{
    char output[128];
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_capture_report report;
    enum fc_code code = record(program, argument, n, false, &report, &arena, &st);
    if (code == FC_NO && strstr(st.message, "is not beside the program")) return skip(st.message);
    CU_ASSERT_EQUAL(code, FC_OK);
    if (code) fc_says(&st, FC_OK, "");
    snprintf(output, sizeof output, "%s/trace", directory);
    if (!code) code = fc_trace_read(output, trace, &st);
    CU_ASSERT_EQUAL(code, FC_OK);
    if (!code) {
        uint64_t *match;
        CU_ASSERT_EQUAL(report.exit_status, 0);
        CU_ASSERT_EQUAL(report.n_ranks, (uint32_t)n);
        CU_ASSERT_EQUAL(report.n_events, trace->first_event[n]);
        CU_ASSERT_EQUAL(report.n_unwrapped, trace->n_unwrapped);
        CU_ASSERT_EQUAL(fc_trace_match(trace, &arena, &match, &st), FC_OK);
        if (st.code)
            fc_says(&st, FC_OK, "");
        else
            for (uint64_t e = 0; e < trace->first_event[n]; e++)
                if (match[e] != UINT64_MAX) CU_ASSERT_EQUAL(trace->events[e].bytes, trace->events[match[e]].bytes);
    }
    fc_arena_free(&arena);
    return !code;
}

static uint64_t count(const struct fc_trace *trace, int op, double *bytes)
{
    struct fc_trace_summary s;
    fc_trace_summarise(trace, &s);
    if (bytes) *bytes = s.op_bytes[op];
    return s.op_count[op];
}

/* ---- the witness ---- */

struct pairs {
    double bytes[MAX_RANKS][MAX_RANKS], messages[MAX_RANKS][MAX_RANKS];
};

/* DIRECTORY/m.RANK.prof: "E src dst B bytes M msgs sent ..." for what the program itself sends. */
static bool read_witness(int n, struct pairs *pairs)
{
    char path[128], line[4096];
    memset(pairs, 0, sizeof *pairs);
    for (int r = 0; r < n; r++) {
        int src, dst;
        double bytes, messages;
        snprintf(path, sizeof path, "%s/m.%d.prof", directory, r);
        FILE *file = fopen(path, "r");
        if (!file) return skip("this MPI has no pml_monitoring to compare with");
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "E %d %d %lf bytes %lf msgs", &src, &dst, &bytes, &messages) == 4) {
                pairs->bytes[src][dst] = bytes;
                pairs->messages[src][dst] = messages;
            }
        fclose(file);
        unlink(path);
    }
    return true;
}

static void fill_pairs(const struct fc_trace *trace, struct pairs *pairs)
{
    struct fc_demand d;
    struct fc_status st = {0};
    memset(pairs, 0, sizeof *pairs);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_trace(trace, &d, &st), FC_OK);
    for (size_t i = 0; i < d.n_entries; i++) {
        pairs->bytes[d.src[i]][d.dst[i]] = d.bytes[i];
        pairs->messages[d.src[i]][d.dst[i]] = d.messages[i];
    }
    fc_arena_free(&d.arena);
}

/* What the witness saw, for the same run under another MPI. */
static struct {
    char program[32];
    int n;
    struct pairs pairs;
} witnessed[8];
static int n_witnessed;

static void compare(const struct pairs *ours, const struct pairs *theirs, int n)
{
    double total = 0;
    for (int s = 0; s < n; s++)
        for (int d = 0; d < n; d++) {
            CU_ASSERT_EQUAL(ours->bytes[s][d], theirs->bytes[s][d]);
            CU_ASSERT_EQUAL(ours->messages[s][d], theirs->messages[s][d]);
            total += theirs->bytes[s][d];
        }
    CU_ASSERT(total > 0);
}

static bool agrees_with_earlier(const char *program, int n, struct fc_trace *trace)
{
    struct pairs ours;
    if (!recorded(program, NULL, n, trace)) return false;
    CU_ASSERT_PTR_NOT_NULL(strstr(trace->recorded, "MPICH"));
    fill_pairs(trace, &ours);
    for (int i = 0; i < n_witnessed; i++)
        if (n == witnessed[i].n && strcmp(program, witnessed[i].program) == 0) compare(&ours, &witnessed[i].pairs, n);
    return true;
}

/* Records under the witness and compares every pair. */
static bool agrees_with_witness(const char *program, int n, struct fc_trace *trace)
{
    struct pairs ours, theirs;
    if (!is_openmpi()) return agrees_with_earlier(program, n, trace);
    char prefix[128];
    snprintf(prefix, sizeof prefix, "%s/m", directory);
    setenv("OMPI_MCA_pml_monitoring_enable", "2", 1);
    setenv("OMPI_MCA_pml_monitoring_enable_output", "3", 1);
    setenv("OMPI_MCA_pml_monitoring_filename", prefix, 1);
    bool ok = recorded(program, NULL, n, trace);
    unsetenv("OMPI_MCA_pml_monitoring_enable");
    unsetenv("OMPI_MCA_pml_monitoring_enable_output");
    unsetenv("OMPI_MCA_pml_monitoring_filename");
    if (!ok || !read_witness(n, &theirs)) return ok;
    fill_pairs(trace, &ours);
    compare(&ours, &theirs, n);
    if (n_witnessed < (int)FC_COUNT(witnessed)) {
        snprintf(witnessed[n_witnessed].program, sizeof witnessed->program, "%s", program);
        witnessed[n_witnessed].n = n;
        witnessed[n_witnessed++].pairs = theirs;
    }
    return true;
}

static void test_messages_c(void)
{
    struct fc_trace t;
    if (!compile("mpicc", "-Wall", "messages.c", "messages")) return;
    for (int n = 2; n <= 5; n += 3) {
        if (!agrees_with_witness("messages", n, &t)) return;
        struct fc_trace_summary s;
        fc_trace_summarise(&t, &s);
        CU_ASSERT(s.n_polls > 0);                  /* the late message was polled for... */
        CU_ASSERT(s.n_events < (uint64_t)n * 150); /* ...and the polls are folded */
        CU_ASSERT(s.compute_s < s.span_s);
        fc_trace_free(&t);
    }
}

static void test_messages_fortran(void)
{
    struct fc_trace t;
    if (!compile("mpif90", "", "messages.F90", "messages-mpi")) return;
    if (agrees_with_witness("messages-mpi", 4, &t)) fc_trace_free(&t);
    if (!compile("mpif90", "-fno-underscoring", "messages.F90", "messages-plain")) return;
    if (agrees_with_witness("messages-plain", 4, &t)) fc_trace_free(&t);
}

static void test_messages_fortran_2008(void)
{
    struct fc_trace t;
    if (!compile("mpif90", "-DF08", "messages.F90", "messages-f08")) return;
    if (!agrees_with_witness("messages-f08", 4, &t)) return;
    double bytes;
    CU_ASSERT_EQUAL(count(&t, FC_OP_ALLREDUCE, &bytes), 4);
    CU_ASSERT_EQUAL(bytes, 4 * 16 * 8);
    CU_ASSERT_EQUAL(count(&t, FC_OP_ALLGATHER, &bytes), 4);
    CU_ASSERT_EQUAL(bytes, 4 * 24 * 4); /* in place: the receive count stands */
    fc_trace_free(&t);
}

/* Known instead of witnessed, for Open MPI's monitoring misses what MPI_Start sends: to the right and to the
 * left. */
static void expect_ring(const char *program, double right, double right_messages, double left, double left_messages)
{
    struct fc_trace t;
    struct pairs p;
    if (!recorded(program, "persistent", 4, &t)) return;
    fill_pairs(&t, &p);
    for (int r = 0; r < 4; r++) {
        CU_ASSERT_EQUAL(p.bytes[r][(r + 1) % 4], right);
        CU_ASSERT_EQUAL(p.messages[r][(r + 1) % 4], right_messages);
        CU_ASSERT_EQUAL(p.bytes[r][(r + 3) % 4], left);
        CU_ASSERT_EQUAL(p.messages[r][(r + 3) % 4], left_messages);
        CU_ASSERT_EQUAL(p.bytes[r][(r + 2) % 4], 0);
    }
    CU_ASSERT_EQUAL(count(&t, FC_OP_ISEND, NULL), 4 * (right_messages + left_messages));
    CU_ASSERT_EQUAL(count(&t, FC_OP_IRECV, NULL), 4 * (right_messages + left_messages));
    fc_trace_free(&t);
}

static void test_persistent(void)
{
    if (compile("mpicc", "-Wall", "messages.c", "messages")) expect_ring("messages", 3 * 4000, 3, 3 * 2000, 3);
    if (compile("mpif90", "", "messages.F90", "messages-mpi")) expect_ring("messages-mpi", 0, 0, 4 * 2000, 4);
    if (compile("mpif90", "-DF08", "messages.F90", "messages-f08")) expect_ring("messages-f08", 0, 0, 4 * 2000, 4);
}

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
    char output[128], words[128];
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_capture_report report;
    snprintf(words, sizeof words, "%s; nothing is kept", says);
    snprintf(output, sizeof output, "%s/none", directory);
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

/* ---- what goes wrong ---- */

static void expect_refused(char *const *argv, const char *output, enum fc_code code, const char *says)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_capture_report report;
    CU_ASSERT_EQUAL(fc_trace_capture(argv, output, false, &arena, &report, &st), code);
    CU_ASSERT(fc_says(&st, code, says));
    fc_arena_free(&arena);
}

static int files_left(const char *where)
{
    DIR *open = opendir(where);
    int n = 0;
    for (struct dirent *entry; open && (entry = readdir(open));) n += strncmp(entry->d_name, "refused", 7) == 0;
    if (open) closedir(open);
    return n;
}

/* Asleep until told: a thread that does not block SIGTERM, as those of OpenMP. */
static void *sleep_on(void *told)
{
    while (!*(volatile bool *)told) usleep(1000);
    return NULL;
}

static void test_end_of_a_batch_job(void)
{
    static char *argv[] = {"sh", "-c", "kill -TERM $PPID; sleep 5", NULL};
    char output[128];
    bool told = false;
    pthread_t thread;
    snprintf(output, sizeof output, "%s/refused", directory);
    expect_refused(argv, output, FC_NO, "ended by signal 15");
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, sleep_on, &told), 0);
    expect_refused(argv, output, FC_NO, "ended by signal 15");
    *(volatile bool *)&told = true;
    pthread_join(thread, NULL);
}

static void test_refusals(void)
{
    char output[128];
    struct fc_trace unused;
    snprintf(output, sizeof output, "%s/refused", directory);
    if (!compile("mpicc", "-Wall", "messages.c", "messages")) return;
    if (!recorded("messages", "persistent", 2, &unused)) return;
    fc_trace_free(&unused);
    expect_refused((char *[]){NULL}, output, FC_INPUT, "no program to record");
    expect_refused((char *[]){"/no/such/program", NULL}, output, FC_INPUT, "/no/such/program cannot be run: No such");
    expect_refused((char *[]){"sh", "-c", "exit 3", NULL}, output, FC_NO, "failed with exit status 3");
    expect_refused((char *[]){"sh", "-c", "exit 200", NULL}, output, FC_NO, "failed with exit status 200");
    expect_refused((char *[]){"sh", "-c", "kill -9 $$", NULL}, output, FC_NO, "ended by signal 9 (Killed)");
    expect_refused((char *[]){"true", NULL}, "/no/such/directory/x", FC_INPUT, "/no/such/directory/x: cannot be");
    expect_refused((char *[]){"true", NULL}, "-", FC_INPUT, "a recording needs a file");
    char shell[512], run[128];
    snprintf(shell, sizeof shell, "for i in 1 2; do %s %s/messages p || exit; done", mpirun(2, run, sizeof run),
             programs());
    expect_refused((char *[]){"sh", "-c", shell, NULL}, output, FC_INPUT, "more than one MPI program");
    snprintf(shell, sizeof shell, "%s %s/messages p & wait; cd $FABRICAST_TRACE_DIR && truncate -s -8 0",
             mpirun(1, run, sizeof run), programs());
    expect_refused((char *[]){"sh", "-c", shell, NULL}, output, FC_NO, "the recording of rank 0 is not whole");
    snprintf(shell, sizeof shell, "%s %s/messages p; rm $FABRICAST_TRACE_DIR/1", mpirun(2, run, sizeof run),
             programs());
    expect_refused((char *[]){"sh", "-c", shell, NULL}, output, FC_NO, "rank 1 left no recording");
    setenv("FABRICAST_PMPI", "/no/such/recorder", 1);
    expect_refused((char *[]){"true", NULL}, output, FC_INPUT,
                   "/no/such/recorder: the recorder named by FABRICAST_PMPI");
    unsetenv("FABRICAST_PMPI");
    CU_ASSERT_EQUAL(files_left(directory), 0);
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

/* A recorder of the one MPI only, and a program with the other: ended before MPI_Init, and named. */
static void expect_foreign(const char *family, const char *says)
{
    static const char prepare[] = "p=$(dirname $(readlink -f /proc/%d/exe))/..; mkdir -p %s/only && rm -f %s/only/* && "
                                  "cp $p/libfabricast-pmpi.so $p/libfabricast-pmpi-%s.so %s/only";
    char shell[512], run[128], output[128], recorder[128];
    snprintf(shell, sizeof shell, prepare, (int)getpid(), directory, directory, family, directory);
    if (system(shell) != 0) {
        skip("no two recorders");
        return;
    }
    snprintf(output, sizeof output, "%s/refused", directory);
    snprintf(recorder, sizeof recorder, "%s/only/libfabricast-pmpi.so", directory);
    snprintf(shell, sizeof shell, "exec %s %s/messages p >/dev/null", mpirun(2, run, sizeof run), programs());
    setenv("FABRICAST_PMPI", recorder, 1);
    expect_refused((char *[]){"sh", "-c", shell, NULL}, output, FC_INPUT, says);
    snprintf(recorder, sizeof recorder, "%s/only/libfabricast-pmpi-%s.so", directory, family);
    setenv("FABRICAST_PMPI", recorder, 1);
    expect_refused((char *[]){"sh", "-c", shell, NULL}, output, FC_INPUT, "not a libfabricast-pmpi.so");
    unsetenv("FABRICAST_PMPI");
}

static void test_other_mpi(void)
{
    if (compile("mpicc", "-Wall", "messages.c", "messages")) expect_foreign("mpich", "the program's MPI is Open MPI v");
    mpi = "mpich";
    if (compile("mpicc", "-Wall", "messages.c", "messages"))
        expect_foreign("openmpi", "the recorders here are for Open MPI: it was ended before MPI_Init");
    mpi = "openmpi";
}

/* Compiles a program in one line. */
static bool make_program(const char *compiler, const char *code, const char *name)
{
    char shell[512];
    snprintf(shell, sizeof shell, "echo '%s' | %s -x c -o %s/%s - 2>/dev/null", code, compiler, directory, name);
    return system(shell) == 0;
}

static void test_out_of_reach(void)
{
    char output[128], program[128], shell[512], with[32], compiler[64];
    snprintf(output, sizeof output, "%s/refused", directory);
    snprintf(program, sizeof program, "%s/odd", directory);
    expect_refused((char *[]){"true", NULL}, output, FC_NO, "but into no program that called MPI_Init");
    if (make_program("gcc -static", "int main(void) { return 0; }", "odd")) {
        expect_refused((char *[]){program, NULL}, output, FC_INPUT, "is linked statically");
        expect_refused((char *[]){"nice", "-n", "0", program, NULL}, output, FC_INPUT, "is linked statically");
    }
    CU_ASSERT(make_program("gcc", "void PMPI_Init(void) {} int main(void) { return 0; }", "odd"));
    expect_refused((char *[]){program, NULL}, output, FC_INPUT, "MPI is linked into the program statically");
    snprintf(shell, sizeof shell, "head -c 4 /bin/true >%s && head -c 60 /dev/zero >>%s", program, program);
    CU_ASSERT_EQUAL(system(shell), 0);
    expect_refused((char *[]){"sh", "-c", "true", program, NULL}, output, FC_INPUT, "another kind of processor");
    snprintf(shell, sizeof shell, "cp /bin/true %s && chown 65534 %s && chmod 4755 %s", program, program, program);
    if (geteuid() == 0 && system(shell) == 0)
        expect_refused((char *[]){program, NULL}, output, FC_INPUT, "runs as another user or group");
    snprintf(compiler, sizeof compiler, "%s", tool("mpicc", with, sizeof with));
    static const char no_init[] = "int MPI_Finalized(int *); int main(void) { int f; return MPI_Finalized(&f) && f; }";
    if (have(compiler) && make_program(compiler, no_init, "odd"))
        expect_refused((char *[]){program, NULL}, output, FC_NO, "a program with MPI's library ran");
    CU_ASSERT_EQUAL(files_left(directory), 0);
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

/* The same under the other MPI. */
#define UNDER_MPICH(test)                                                                                              \
    static void test##_mpich(void)                                                                                     \
    {                                                                                                                  \
        mpi = "mpich";                                                                                                 \
        test();                                                                                                        \
        mpi = "openmpi";                                                                                               \
    }
UNDER_MPICH(test_messages_c)
UNDER_MPICH(test_messages_fortran)
UNDER_MPICH(test_messages_fortran_2008)
UNDER_MPICH(test_persistent)
UNDER_MPICH(test_opened)
UNDER_MPICH(test_mixed_threads)
UNDER_MPICH(test_ends)
UNDER_MPICH(test_collectives)
UNDER_MPICH(test_collectives_fortran)

/* Two suites, so that two processors share them; what is compared under both MPIs is in one of them. */
int suite_capture(void)
{
    static const CU_TestInfo messages[] = {
        {"messages in C as Open MPI counts them", test_messages_c},
        {"messages in Fortran (use mpi)", test_messages_fortran},
        {"messages in Fortran (use mpi_f08)", test_messages_fortran_2008},
        {"persistent requests", test_persistent},
        {"SIGTERM, whichever thread takes it, ends the program", test_end_of_a_batch_job},
        {"refusals", test_refusals},
        {"programs out of the recorder's reach", test_out_of_reach},
        {"a recorder of another MPI", test_other_mpi},
        {"MPICH: messages in C", test_messages_c_mpich},
        {"MPICH: messages in Fortran (use mpi)", test_messages_fortran_mpich},
        {"MPICH: messages in Fortran (use mpi_f08)", test_messages_fortran_2008_mpich},
        {"MPICH: persistent requests", test_persistent_mpich},
        CU_TEST_INFO_NULL};
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
    return fc_add_suite_between("traces capture", make_directory, remove_directory, messages) +
           fc_add_suite_between("traces capture of calls", make_directory, remove_directory, calls);
}
