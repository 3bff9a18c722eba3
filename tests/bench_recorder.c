/* bench_recorder.c - what recording costs a program: CPU time of an MPI call and of a poll that finds nothing, with the recorder
 * less without it, beside its goal of 5 us as a ratio (below 1 = met). The program is tests/mpi/overhead.c, on one rank.
 * Two readings of the thread's CPU clock, a system call each, are most of it. Not a test: machines differ. `make bench` */
#include "core/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOAL_NS 5000.0

/* Best of three runs: nanoseconds of a call and of a poll. False: it does not run. */
static bool measure(const char *directory, const char *before, double ns[2])
{
    char command[600], file[200];
    ns[0] = ns[1] = INFINITY;
    snprintf(file, sizeof file, "%s/ns", directory);
    snprintf(
        command, sizeof command,
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 %s mpirun --oversubscribe -n 1 %s/overhead %s >/dev/null 2>&1",
        before, directory, file);
    for (int run = 0; run < 3; run++) {
        double call, poll;
        unlink(file);
        if (system(command) != 0) return false;
        FILE *in = fopen(file, "r");
        bool good = in && fscanf(in, "%lf %lf", &call, &poll) == 2;
        if (in) fclose(in);
        if (!good) return false;
        ns[0] = fmin(ns[0], call);
        ns[1] = fmin(ns[1], poll);
    }
    return true;
}

int main(void)
{
    char directory[] = "/tmp/fabricast-bench-XXXXXX", command[400], record[200];
    double plain[2], recorded[2];
    if (!mkdtemp(directory)) return 1;
    snprintf(command, sizeof command, "mpicc -O1 tests/mpi/overhead.c -o %s/overhead", directory);
    snprintf(record, sizeof record, "obj/fabricast trace capture -o %s/trace.fct --", directory);
    bool good = system(command) == 0 && measure(directory, "", plain) && measure(directory, record, recorded);
    if (good) {
        printf("%-30s %10s %10s %10s\n", "recorder, CPU ns", "without", "with", "of goal");
        printf("%-30s %10.0f %10.0f %10.2f\n", "a call", plain[0], recorded[0], (recorded[0] - plain[0]) / GOAL_NS);
        printf("%-30s %10.0f %10.0f %10.2f\n", "a poll", plain[1], recorded[1], (recorded[1] - plain[1]) / GOAL_NS);
    } else {
        printf("recorder: not measured (no mpicc, or no Open MPI to run the program)\n");
    }
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command) != 0;
}
