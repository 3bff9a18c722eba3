/* bench_map_time.c - what `map --time` asks for beside what it takes: CPU seconds of the whole process, less those of
 * reading (machine and pattern, measured by building both here), as a ratio to the seconds asked; the goal is 1.5.
 * A * marks what is above it. Not a test: machines differ, and others run beside it. `make bench`; arguments: the
 * program and budgets, e.g. obj/bench_map_time obj/fabricast 0.1 2 20 */
#include "mapping/mapping.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const double goal = 1.5;

static const struct {
    const char *machine, *pattern, *setting; /* of --set, or NULL */
} jobs[] = {
    {"bgl-512", "stencil2d:grid=64x16", NULL},
    {"bgl-512", "multicast:targets=14,stride=5,tasks=1024", NULL},
    {"bgl-4k", "stencil2d:grid=64x64", NULL},
    {"bgl-4k", "stencil3d:grid=16x16x16", "router.routing=valiant"},
    {"bgl-32k", "permutation", NULL},
    {"bgl-64k", "stencil3d:grid=64x32x32", NULL},
    {"percs-16", "stencil4d:grid=16x16x8x8", NULL},
    {"percs-64", "stencil4d:grid=16x16x16x16", NULL},
    {"percs-64", "stencil2d:grid=256x256", "router.routing=indirect"},
    {"percs-300", "stencil4d:grid=16x16x16x75", NULL},
    {"frontier", "stencil3d:grid=32x32x32", NULL},
    {"frontier", "alltoall:bytes=1KiB", NULL},
    {"perlmutter", "stencil3d:grid=16x16x16", NULL},
    {"theta", "stencil3d:grid=32x32x32", NULL},
    {"fugaku", "stencil3d:grid=32x32x32", NULL},
    {"fugaku", "stencil3d:grid=64x64x32", NULL},
    {"summit", "stencil3d:grid=32x32x32", NULL},
    {"gemini-xe6", "stencil3d:grid=32x32x32", NULL},
    {"tmesh-3456", "stencil3d:grid=12x12x12", NULL},
    {"tpu-v4", "stencil2d:grid=64x64", NULL},
    {"qsnet-64", "stencil2d:grid=16x16", NULL},
};

/* CPU seconds of building the network and the traffic. */
static enum fc_code reading_s(size_t i, double *seconds, struct fc_status *st)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    double start = fc_cpu_s();
    if (fc_machine_load_changed(jobs[i].machine, &jobs[i].setting, jobs[i].setting != NULL, &machine, st) ||
        fc_network_build(&machine, &net, st) || fc_demand_from_pattern(&net, jobs[i].pattern, 1, &d, st))
        return st->code;
    *seconds = fc_cpu_s() - start;
    fc_demand_free(&d);
    fc_network_free(&net);
    fc_machine_free(&machine);
    return FC_OK;
}

/* CPU seconds of the program, user and system; below 0: it failed. */
static double taken_s(const char *program, size_t i, const char *strategy, const char *budget)
{
    struct rusage usage;
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(127);
        if (jobs[i].setting)
            execl(program, program, "map", "-q", "-m", jobs[i].machine, "-p", jobs[i].pattern, "--strategy", strategy,
                  "--time", budget, "--set", jobs[i].setting, (char *)NULL);
        execl(program, program, "map", "-q", "-m", jobs[i].machine, "-p", jobs[i].pattern, "--strategy", strategy,
              "--time", budget, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status)) return -1;
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_sec +
           1e-6 * (double)usage.ru_stime.tv_usec;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"0.1", "0.5", "2"}, *const strategies[] = {"optimize", "all"};
    const char *program = argc > 1 ? argv[1] : "obj/fabricast";
    const char *const *budgets = argc > 2 ? (const char *const *)argv + 2 : usual;
    int n_budgets = argc > 2 ? argc - 2 : (int)FC_COUNT(usual), above = 0, n = 0;
    printf("%-66s %8s %8s %8s %8s %7s\n", "map --time: CPU seconds", "strategy", "asked", "reading", "taken", "ratio");
    for (size_t i = 0; i < FC_COUNT(jobs); i++) {
        struct fc_status st = {0};
        double reading = 0;
        char what[128];
        if (reading_s(i, &reading, &st)) {
            fprintf(stderr, "%s\n", st.message);
            return 1;
        }
        snprintf(what, sizeof what, "%s, %s%s%s", jobs[i].machine, jobs[i].pattern, jobs[i].setting ? ", " : "",
                 jobs[i].setting ? strchr(jobs[i].setting, '=') + 1 : "");
        for (size_t s = 0; s < FC_COUNT(strategies); s++)
            for (int b = 0; b < n_budgets; b++) {
                double asked = atof(budgets[b]), taken = taken_s(program, i, strategies[s], budgets[b]);
                if (taken < 0) continue; /* dense traffic: optimize refuses it */
                double ratio = (taken > reading ? taken - reading : 0) / asked;
                n++;
                above += ratio > goal;
                printf("%-66s %8s %8s %8.3f %8.3f %7.2f%s\n", what, strategies[s], budgets[b], reading, taken, ratio,
                       ratio > goal ? " *" : "");
                fflush(stdout);
            }
    }
    printf("%d of %d above %g\n", above, n, goal);
    return 0;
}
