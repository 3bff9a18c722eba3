/* test_capture.c - the recorder: messages against the witness (tests/capture_world.h), what it refuses, what is out of its
 * reach. Two suites, so that two processors share them; what is compared under both MPIs is in one of them. */
#include "tests/capture_world.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>

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

UNDER_MPICH(test_messages_c)
UNDER_MPICH(test_messages_fortran)
UNDER_MPICH(test_messages_fortran_2008)
UNDER_MPICH(test_persistent)

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
    return fc_add_suite_between("traces capture", make_directory, remove_directory, messages);
}
