/* measurement_run.c - finds the benchmark for the launcher's MPI and starts it. The launcher is asked for its --version, and only
 * where a word of the command line is named like one (mpirun, mpiexec, orterun, prterun): nothing else is run to be asked. After
 * ten seconds without an answer it does not say. */
#include "answer/measurement.h"
#include "core/unfinished.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_VERSION = 4096, MOST_LOOKS = 1000 }; /* a hundredth of a second each: one that does not answer is ended */
static const char *const families[] = {"openmpi", "mpich"};

/* Beside the program, or where it was installed. */
static bool find_benchmark(const char *family, char *path)
{
    static const char *const places[] = {"", "../", "../lib/fabricast/", "../libexec/fabricast/"};
    char program[PATH_MAX], candidate[2 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash) slash[1] = '\0';
    for (size_t i = 0; i < FC_COUNT(places); i++) {
        snprintf(candidate, sizeof candidate, "%s%sfabricast-measure-%s", program, places[i], family);
        if (realpath(candidate, path) && !access(path, X_OK)) return true;
    }
    return false;
}

static char *asked_word(char *const *launcher)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun"};
    for (; *launcher; launcher++) {
        const char *slash = strrchr(*launcher, '/'), *name = slash ? slash + 1 : *launcher;
        for (size_t i = 0; i < FC_COUNT(names); i++)
            if (!strncmp(name, names[i], strlen(names[i]))) return *launcher;
    }
    return NULL;
}

/* The family by what `LAUNCHER --version` prints; NULL: it does not say. */
static const char *ask(char *launcher)
{
    static const struct {
        const char *says, *family;
    } known[] = {{"Open MPI", "openmpi"}, {"OpenRTE", "openmpi"}, {"prterun", "openmpi"},   {"PRRTE", "openmpi"},
                 {"HYDRA", "mpich"},      {"MPICH", "mpich"},     {"Intel(R) MPI", "mpich"}};
    char *argv[] = {launcher, (char[]){"--version"}, NULL}, text[MOST_VERSION] = "";
    const char *family = NULL;
    int fd = memfd_create("version", MFD_CLOEXEC), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), status = 0;
    struct fc_child child = {
        .argv = argv, .stream = {nothing, fd, fd}, .end = SIGKILL}; /* our input is the benchmark's */
    pid_t pid = fd >= 0 ? fc_child_start(&child) : -1;
    for (int looks = 0; pid > 0 && !fc_child_ended(pid, false, &status); looks++) {
        if (looks == MOST_LOOKS) kill(pid, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    ssize_t n = pid > 0 ? pread(fd, text, sizeof text - 1, 0) : 0;
    if (fd >= 0) close(fd);
    if (nothing >= 0) close(nothing);
    text[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; !family && i < FC_COUNT(known); i++)
        if (strstr(text, known[i].says)) family = known[i].family;
    return family;
}

static enum fc_code choose(char *const *launcher, const char *mpi, char *path, struct fc_status *st)
{
    char *word = mpi ? NULL : asked_word(launcher);
    const char *family = mpi;
    int built = 0;
    if (word) family = ask(word);
    for (size_t i = 0; i < FC_COUNT(families); i++) {
        bool there = find_benchmark(families[i], path);
        built += there;
        if (family && !strcmp(family, families[i]))
            return there ? FC_OK
                         : fc_refuse(st, FC_NO,
                                     "fabricast-measure-%s is not beside the program nor in ../lib/fabricast "
                                     "(it is built where that MPI's compiler is)",
                                     family);
    }
    if (mpi)
        return fc_refuse(st, FC_INPUT,
                         "--mpi: '%.60s' is none that the benchmark is built for (expected openmpi or mpich)", mpi);
    for (size_t i = 0; built == 1 && i < FC_COUNT(families); i++)
        if (find_benchmark(families[i], path)) return FC_OK;
    if (!built) return fc_refuse(st, FC_NO, "no benchmark was built: no compiler of an MPI was there");
    return fc_refuse(st, FC_INPUT, "%s does not tell whose MPI it starts (expected --mpi openmpi or --mpi mpich)",
                     launcher[0]);
}

enum fc_code fc_measurement_run(char *const *launcher, const char *mpi, double budget_s, int rows, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    char path[PATH_MAX], option[] = "--time", seconds[32];
    int status = 0;
    size_t n = 0;
    while (launcher[n]) n++;
    if (n == 0) return fc_refuse(st, FC_INPUT, "--: no launcher (expected e.g. `-- mpirun -n 4`)");
    if (choose(launcher, mpi, path, st)) return st->code;
    char **argv = fc_alloc(&arena, n + 4, sizeof *argv, st);
    if (argv) {
        memcpy(argv, launcher, n * sizeof *argv);
        snprintf(seconds, sizeof seconds, "%.6g", budget_s);
        argv[n] = path, argv[n + 1] = option, argv[n + 2] = seconds;
        struct fc_child child = {.argv = argv, .stream = {-1, rows, -1}, .end = SIGTERM};
        if (!fc_child_run(&child, &status, st) && status)
            fc_refuse(st, FC_NO, "%s ended with exit status %d; nothing is written", launcher[0], status);
    }
    return st->code;
}
