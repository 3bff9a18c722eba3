/* kills_jobs.h - what test_kills.c and validate_kills.c end by signals: every command that writes, in runs of a second. */
#pragma once

#include "tests/kills.h"

/* The inputs, in a directory of their own; paths are absolute, since the program runs elsewhere. */
struct kills_inputs {
    char sweep[PATH_MAX + 32], machine[PATH_MAX + 32], trace[PATH_MAX + 32], small_trace[PATH_MAX + 32],
        program[PATH_MAX + 32];
};

/* Rank 0 and its neighbours exchange for a while. */
static const char kills_mpi_program[] = "#include <mpi.h>\n"
                                        "#include <unistd.h>\n"
                                        "int main(int argc, char **argv)\n"
                                        "{\n"
                                        "    int rank, size;\n"
                                        "    MPI_Init(&argc, &argv);\n"
                                        "    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                                        "    MPI_Comm_size(MPI_COMM_WORLD, &size);\n"
                                        "    for (int i = 0; i < 40; i++) {\n"
                                        "        MPI_Barrier(MPI_COMM_WORLD);\n"
                                        "        usleep(2000);\n"
                                        "    }\n"
                                        "    return MPI_Finalize();\n"
                                        "}\n";

static bool kills_put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* `root`: the source tree. */
static bool kills_make_inputs(const struct kills *k, const char *root, struct kills_inputs *in)
{
    char data[PATH_MAX + 32];
    snprintf(in->sweep, sizeof in->sweep, "%s/s.yaml", k->directory);
    snprintf(in->machine, sizeof in->machine, "%s/tiny.yaml", k->directory);
    snprintf(in->trace, sizeof in->trace, "%s/traces/samples/lammps-lj-64.fct", root);
    snprintf(in->small_trace, sizeof in->small_trace, "%s/traces/samples/lammps-lj-16.fct", root);
    snprintf(data, sizeof data, "%s/models", root);
    setenv("FABRICAST_DATA", data, 1);
    if (!kills_put(in->machine,
                   "name: tiny\nnetwork: {family: torus, dims: [2, 2]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n"
                   "node: {cores: 1}\n") ||
        !kills_put(in->sweep, "command: flit -p uniform --load 20% --warmup 500 --measure 2000\n"
                              "vary: {machine: [bgl-64], seed: 1:5:1}\ncolumns: [hops_mean]\n"))
        return false;
    return true;
}

/* The MPI program to record. False: there is no mpicc. */
static inline bool kills_make_program(const struct kills *k, struct kills_inputs *in)
{
    char source[PATH_MAX + 32], command[4 * PATH_MAX];
    snprintf(in->program, sizeof in->program, "%s/ranks", k->directory);
    snprintf(source, sizeof source, "%s/ranks.c", k->directory);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    snprintf(command, sizeof command, "command -v mpicc >/dev/null && mpicc -o '%s' '%s'", in->program, source);
    return kills_put(source, kills_mpi_program) && !system(command);
}

enum {
    KILLS_SWEEP,
    KILLS_MAP,
    KILLS_CONVERT,
    KILLS_CALIBRATE,
    KILLS_REPRODUCE,
    KILLS_REPORT,
    KILLS_PLOTS,
    KILLS_EXPORT,
    KILLS_CAPTURE,
    KILLS_CAPTURE_RANKS,
    KILLS_SWEEP_RANKS,
    KILLS_JOBS
};

static void kills_make_jobs(const struct kills_inputs *in, struct kills_job jobs[KILLS_JOBS])
{
    const struct kills_job list[KILLS_JOBS] = {
        [KILLS_SWEEP] = {.name = "sweep",
                         .journal = "s.tsv.part",
                         .words = {"fabricast", "sweep", in->sweep, "-o", "s.tsv", "--threads", "2"}},
        [KILLS_MAP] = {.name = "map",
                       .stops_early = true,
                       .words = {"fabricast", "map", "-m", in->machine, "--set", "network.dims=[4, 4]", "-p",
                                 "stencil2d:grid=4x4,bytes=64KiB", "--strategy", "optimize", "-o", "m.map"}},
        [KILLS_CONVERT] = {.name = "convert", .words = {"fabricast", "trace", "convert", in->trace, "-o", "t.txt"}},
        [KILLS_CALIBRATE] = {.name = "calibrate",
                             .words = {"fabricast", "calibrate", "-m", in->machine, "--budget", "0.3s", "-o",
                                       "c.yaml"}},
        [KILLS_REPRODUCE] = {.name = "reproduce",
                             .words = {"fabricast", "reproduce", "gemini-rates", "percs-fig2", "--quick", "-o",
                                       "figures"}},
        [KILLS_REPORT] = {.name = "report",
                          .words = {"fabricast", "report", "-m", "bgl-64", "-p", "alltoall:bytes=4KiB", "--map", "def",
                                    "--versus", "rnm", "-o", "r.html"}},
        [KILLS_PLOTS] = {.name = "plots",
                         .words = {"fabricast", "load", "-m", "bgl-64", "-p", "uniform", "--plot", "plots"}},
        [KILLS_EXPORT] = {.name = "export",
                          .words = {"fabricast", "trace", "convert", in->small_trace, "-o", "t.goal"}},
        [KILLS_CAPTURE] = {.name = "capture",
                           .differs = true,
                           .hands_on = true,
                           .words = {"fabricast", "trace", "capture", "-o", "c.fct", "--", in->program}},
        [KILLS_CAPTURE_RANKS] = {.name = "capture of mpirun",
                                 .differs = true,
                                 .hands_on = true,
                                 .words = {"fabricast", "trace", "capture", "-o", "c.fct", "--", "mpirun",
                                           "--oversubscribe", "-n", "2", in->program}},
        [KILLS_SWEEP_RANKS] = {.name = "sweep of mpirun",
                               .journal = "s.tsv.part",
                               .hands_on = true,
                               .words = {"mpirun", "--oversubscribe", "-n", "2", "fabricast", "sweep", in->sweep, "-o",
                                         "s.tsv"}},
    };
    memcpy(jobs, list, sizeof list);
}
