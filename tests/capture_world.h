/* capture_world.h - for the tests of the recorder: programs of tests/mpi compiled, recorded under an MPI and read back, and an
 * independent witness: Open MPI's monitoring counts bytes and messages of every pair of ranks in the same run, and both must
 * agree byte for byte; what the same program sends under MPICH must be the same. What the machine lacks (an MPI, its Fortran,
 * the monitoring component, the recorder itself) is skipped and said. */
#pragma once

#include "solvers/solvers.h"
#include "tests/tests.h"
#include "tests/trace_oracles.h"
#include "traces/traces.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_RANKS = 8 };

static char directory[64]; /* programs, recordings, the witness' files */

static inline int make_directory(void)
{
    strcpy(directory, "/tmp/fabricast-capture-XXXXXX");
    return mkdtemp(directory) ? 0 : 1;
}

static inline int remove_directory(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static inline bool have(const char *tool)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", tool);
    return system(command) == 0;
}

static inline bool skip(const char *why)
{
    printf("\n    SKIPPED: %s ", why);
    return false;
}

/* The MPI at hand, as Debian calls its tools: mpicc.openmpi. */
static const char *mpi = "openmpi";

static inline bool is_openmpi(void)
{
    return strcmp(mpi, "openmpi") == 0;
}

/* Its tool of that name; elsewhere Open MPI's may be the only one. */
static inline const char *tool(const char *name, char *full, size_t size)
{
    snprintf(full, size, "%s.%s", name, mpi);
    if (is_openmpi() && !have(full)) snprintf(full, size, "%s", name);
    return full;
}

/* For ranks of MPICH that share processors. */
static inline void make_yield(void)
{
    char command[256], made[96];
    snprintf(made, sizeof made, "%s/yield.so", directory);
    snprintf(command, sizeof command, "gcc -D_GNU_SOURCE -O2 -shared -fPIC -o %s/yield.so tests/mpi/yield_mpich.c -ldl",
             directory);
    if (!is_openmpi() && access(made, F_OK)) CU_ASSERT_EQUAL(system(command), 0);
}

/* The folder of this MPI's programs. */
static inline const char *programs(void)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", directory, mpi);
    mkdir(path, 0700);
    return path;
}

/* Compiles tests/mpi/`source` to `program` of this MPI, unless an earlier test did; false (and says so) where that cannot be
 * done. */
static inline bool compile(const char *compiler, const char *options, const char *source, const char *program)
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
static inline const char *mpirun(int n, char *text, size_t size)
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
static inline enum fc_code record_to(const char *program, const char *argument, int n, bool partial, const char *output,
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
static inline enum fc_code record(const char *program, const char *argument, int n, bool partial,
                                  struct fc_capture_report *report, struct fc_arena *arena, struct fc_status *st)
{
    char output[128];
    snprintf(output, sizeof output, "%s/trace", directory);
    return record_to(program, argument, n, partial, output, report, arena, st);
}

/* Recorded and read back; false where the recorder is not built (said) or on failure (asserted). */
static inline bool recorded(const char *program, const char *argument, int n, struct fc_trace *trace)
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

static inline uint64_t count(const struct fc_trace *trace, int op, double *bytes)
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
static inline bool read_witness(int n, struct pairs *pairs)
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

static inline void fill_pairs(const struct fc_trace *trace, struct pairs *pairs)
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

static inline void compare(const struct pairs *ours, const struct pairs *theirs, int n)
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

static inline bool agrees_with_earlier(const char *program, int n, struct fc_trace *trace)
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
static inline bool agrees_with_witness(const char *program, int n, struct fc_trace *trace)
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

/* The same under the other MPI. */
#define UNDER_MPICH(test)                                                                                              \
    static void test##_mpich(void)                                                                                     \
    {                                                                                                                  \
        mpi = "mpich";                                                                                                 \
        test();                                                                                                        \
        mpi = "openmpi";                                                                                               \
    }
