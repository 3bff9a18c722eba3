/* run.c - runs CUnit's active suites side by side, a process a suite.
 *
 * A suite that crashes or leaks ends its own process only and counts as failed. The slow ones begin first
 * (slow_suites), so that no worker is left with one at the end; the others in the order of the registry. */
#include "tests/run.h"
#include "tests/tests.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct job {
    CU_pSuite suite;
    unsigned index; /* in the registry */
    pid_t process;
    FILE *output, *counts; /* both unnamed temporary files */
    char sessions[40];     /* a folder for Open MPI's */
    struct fc_test_counts result;
    double start_s, wall_s, cpu_s;
    bool bad; /* ended by a signal, a sanitizer or without its counts */
};

/* The slowest first, by processor time and what they wait. "slowest suites" at the end of a run tells what belongs here. */
static const char *const slow_suites[] = {
    "launched",
    "cases/docs/architect",
    "options",
    "traces capture of calls",
    "map search",
    "cases/README",
    "installed",
    "cases/refusals",
    "cases/bulk",
    "flit_route",
    "reproduce",
    "traces capture",
    "cases/report",
    "transit_flit.c, source_outside.c, transit_queueing.c",
    "turns by destination",
    "flit: traffic of others beside the demand",
    "calibration fits",
    "cases/docs/mapping",
    "replay error",
    "calibration",
    "flit_injection",
    "map budget",
    "cases/reproduce",
    "cases/docs/place",
    "format of C files",
    "cases/place",
};

/* Its place in that list; behind the list when it is not there. */
static size_t slow_place(const struct job *job)
{
    size_t i = 0;
    while (i < FC_COUNT(slow_suites) && strcmp(job->suite->pName, slow_suites[i])) i++;
    return i;
}

static int by_begin(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    size_t i = slow_place(x), j = slow_place(y);
    return i != j ? (i > j) - (i < j) : (x->index > y->index) - (x->index < y->index);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count(struct fc_test_counts *counts)
{
    *counts = (struct fc_test_counts){
        .suites = CU_get_number_of_suites_run(),
        .tests = CU_get_number_of_tests_run(),
        .failed_tests = CU_get_number_of_tests_failed(),
        .asserts = CU_get_number_of_asserts(),
        .failed_asserts = CU_get_number_of_failures(),
    };
    counts->failed = counts->failed_tests + CU_get_number_of_suites_failed();
}

/* The new process is this program again, asked for one suite: what suites leave to the end of the process (atexit, the
 * leak sanitizer) then is theirs alone. */
static void become_suite(const struct job *job)
{
    char one[32], counts[32], update[] = "--update", program[] = "tests", option[] = "--one";
    char *argv[] = {program, option, one, counts, fc_update_cases ? update : NULL, NULL};
    snprintf(one, sizeof one, "%u", job->index);
    snprintf(counts, sizeof counts, "%d", dup(fileno(job->counts)));
    setenv("OMPI_MCA_orte_tmpdir_base", job->sessions, 1);
    dup2(fileno(job->output), 1);
    dup2(fileno(job->output), 2);
    execv("/proc/self/exe", argv);
    perror("tests");
    _exit(127);
}

bool fc_run_one_suite(unsigned index, int counts_file)
{
    CU_pSuite suite = CU_get_suite_by_index(index + 1, CU_get_registry());
    if (!suite) return false;
    CU_basic_run_suite(suite);
    struct fc_test_counts counts;
    count(&counts);
    return write(counts_file, &counts, sizeof counts) == sizeof counts;
}

/* A mpirun of Open MPI that ends removes the folder of its sessions under another that begins (4.1.4: "File exists", status 1): each
 * suite has a folder of its own. */
static bool start(struct job *job)
{
    strcpy(job->sessions, "/tmp/fabricast-sessions-XXXXXX");
    job->output = tmpfile();
    job->counts = tmpfile();
    if (!job->output || !job->counts || !mkdtemp(job->sessions)) return false;
    fflush(NULL);
    job->start_s = now_s();
    job->process = fork();
    if (job->process == 0) become_suite(job);
    return job->process > 0;
}

/* The suite's own lines, without CUnit's empty ones, its banner and its summary, which comes once at the end. */
static void show(struct job *job)
{
    char line[4096];
    bool summary = false;
    rewind(job->output);
    while (fgets(line, sizeof line, job->output)) {
        bool banner = strstr(line, "CUnit - A unit testing framework") || strstr(line, "http://cunit.sourceforge");
        if (!strncmp(line, "Run Summary:", 12)) summary = true;
        if (!summary && !banner && *line != '\n') fputs(line, stdout);
        if (summary && !strncmp(line, "Elapsed time", 12)) summary = false;
    }
    printf("%-7s %-28s %4u tests %7.1f s %7.1f CPU s\n", job->bad || job->result.failed ? "FAILED" : "passed",
           job->suite->pName, job->result.tests, job->wall_s, job->cpu_s);
    fflush(stdout);
}

static void finish(struct job *job, int status, const struct rusage *use)
{
    job->wall_s = now_s() - job->start_s;
    job->cpu_s = (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
                 1e-6 * (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
    rewind(job->counts);
    job->bad =
        fread(&job->result, sizeof job->result, 1, job->counts) != 1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    show(job);
    if (WIFSIGNALED(status))
        printf("        %s ended by signal %d\n", job->suite->pName, WTERMSIG(status));
    else if (job->bad)
        printf("        %s ended with status %d\n", job->suite->pName, WEXITSTATUS(status));
    fclose(job->output);
    fclose(job->counts);
    rmdir(job->sessions);
}

static struct job *running(struct job *jobs, size_t n, pid_t process)
{
    for (size_t i = 0; i < n; i++)
        if (jobs[i].process == process) return &jobs[i];
    return NULL;
}

static void run_side_by_side(struct job *jobs, size_t n, int most)
{
    size_t next = 0, done = 0;
    int active = 0;
    while (done < n) {
        while (active < most && next < n) {
            if (start(&jobs[next])) {
                active++;
            } else {
                printf("Suite: %s could not be started: %s\n", jobs[next].suite->pName, strerror(errno));
                jobs[next].bad = true;
                done++;
            }
            next++;
        }
        int status;
        struct rusage use;
        pid_t process = wait4(-1, &status, 0, &use);
        struct job *job = process > 0 ? running(jobs, next, process) : NULL;
        if (!job) continue;
        finish(job, status, &use);
        active--;
        done++;
    }
}

static int slower(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    return x->wall_s < y->wall_s ? 1 : x->wall_s > y->wall_s ? -1 : 0;
}

static void print_slowest(struct job *jobs, size_t n)
{
    qsort(jobs, n, sizeof *jobs, slower);
    printf("\n%-28s %8s %8s\n", "slowest suites", "wall s", "CPU s");
    for (size_t i = 0; i < n && i < 10; i++)
        printf("%-28s %8.1f %8.1f\n", jobs[i].suite->pName, jobs[i].wall_s, jobs[i].cpu_s);
}

/* As CUnit prints it. */
static void print_summary(const struct fc_test_counts *c, unsigned n_suites, unsigned n_bad, double elapsed_s)
{
    CU_pTestRegistry all = CU_get_registry();
    printf("\nRun Summary:    Type  Total    Ran Passed Failed Inactive\n");
    printf("              suites %6u %6u    n/a %6u %8u\n", all->uiNumberOfSuites, n_suites, n_bad,
           all->uiNumberOfSuites - n_suites);
    printf("               tests %6u %6u %6u %6u %8u\n", all->uiNumberOfTests, c->tests, c->tests - c->failed_tests,
           c->failed_tests, all->uiNumberOfTests - c->tests);
    printf("             asserts %6u %6u %6u %6u      n/a\n", c->asserts, c->asserts, c->asserts - c->failed_asserts,
           c->failed_asserts);
    printf("\nElapsed time = %8.3f seconds\n", elapsed_s);
}

void fc_run_suites(int most, struct fc_test_counts *counts)
{
    if (most <= 0) {
        CU_basic_run_tests();
        count(counts);
        return;
    }
    double start_s = now_s();
    struct job *jobs = calloc(CU_get_registry()->uiNumberOfSuites + 1, sizeof *jobs);
    unsigned n = 0, n_bad = 0, index = 0;
    for (CU_pSuite suite = CU_get_registry()->pSuite; jobs && suite; suite = suite->pNext, index++)
        if (suite->fActive) jobs[n++] = (struct job){.suite = suite, .index = index};
    if (n) qsort(jobs, n, sizeof *jobs, by_begin);
    run_side_by_side(jobs, n, most);
    for (unsigned i = 0; i < n; i++) {
        counts->suites += jobs[i].result.suites;
        counts->tests += jobs[i].result.tests;
        counts->failed_tests += jobs[i].result.failed_tests;
        counts->asserts += jobs[i].result.asserts;
        counts->failed_asserts += jobs[i].result.failed_asserts;
        counts->failed += jobs[i].result.failed + jobs[i].bad;
        n_bad += jobs[i].bad;
    }
    print_slowest(jobs, n);
    print_summary(counts, n, n_bad, now_s() - start_s);
    free(jobs);
}
