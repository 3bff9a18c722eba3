/* pmpi_pick.c - libfabricast-pmpi.so, which is preloaded: the recorder is picked where the program's MPI is known.
 *
 * A recorder is built with one MPI's mpi.h (libfabricast-pmpi-openmpi.so, -mpich.so); which MPI a program has is known
 * only in its process: it may be started by a script or a launcher, or be Python, which loads MPI when it comes to it. This
 * library needs no MPI. It has every name that a recorder wraps (pmpi_names.h, made from the recorders), and at the first
 * call, MPI_Init's, it looks whose MPI is loaded and opens the recorder for that one from beside itself. Where there is
 * none, the process ends before MPI starts, and `trace capture` says why.
 *
 * A name passes its arguments on as 14 words, the most that an MPI function has (mpi_rget_accumulate). They are all
 * integers and addresses, so on 64-bit Linux each lies in a register or a stack slot of its own, and the real function
 * reads as many as it has.
 *
 * The same file, with FC_PICK, is libfabricast-reorder.so (library/reorder), where no harm is done: without a library for its
 * MPI the program runs as it is. */
#include "traces/pmpi/pmpi_raw.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS                                                                                                          \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n
typedef long function(WORDS);

enum {
#define NAME(name) AT_##name,
#include "pmpi_names.h"
#undef NAME
    N_NAMES
};
static const char *const names[N_NAMES] = {
#define NAME(name) #name,
#include "pmpi_names.h"
#undef NAME
};
static function *_Atomic real[N_NAMES];

#ifndef FC_PICK
#define FC_PICK "pmpi"
/* By this `trace capture` knows the library. */
extern const int fc_pmpi_picks __attribute__((visibility("default")));
const int fc_pmpi_picks = 1;
#else
#define FC_PICK_REORDER
#endif

static struct {
    pthread_once_t once;
    void *mpi, *recorder; /* opened libraries; recorder NULL: nothing is recorded */
} picked = {.once = PTHREAD_ONCE_INIT};

#ifndef FC_PICK_REORDER
/* ---- marks for the one who started the program: files in its directory ---- */

/* Writes the mark, once for all processes. */
static void leave_mark(const char *name, const char *text)
{
    const char *directory = getenv(FC_RAW_DIRECTORY);
    char path[PATH_MAX];
    if (!directory || !*directory) return;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if ((file < 0 && errno != EEXIST) || (file >= 0 && write(file, text, strlen(text)) < 0))
        dprintf(STDERR_FILENO, "fabricast: cannot record: %s: %s%s%s\n", path, strerror(errno), *text ? ": " : "",
                text);
    if (file >= 0) close(file);
}

#endif

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int is_mpi(struct dl_phdr_info *object, size_t size, void *found)
{
    (void)size;
    const char *name = object->dlpi_name ? base_name(object->dlpi_name) : "";
    if (strncmp(name, "libmpi.so", 9) != 0 && strncmp(name, "libmpich", 8) != 0 && strncmp(name, "libmpi_", 7) != 0)
        return 0;
    void *library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library && dlsym(library, "PMPI_Init")) *(void **)found = library;
    return *(void **)found != NULL;
}

#ifndef FC_PICK_REORDER
/* Which processes this library reached, and whether MPI was there before the program began. */
__attribute__((constructor)) static void arrive(void)
{
    void *mpi = NULL;
    if (!getenv(FC_RAW_DIRECTORY)) return;
    leave_mark(FC_RAW_LOADED, "");
    dl_iterate_phdr(is_mpi, &mpi);
    if (mpi) leave_mark(FC_RAW_HAS_MPI, "");
}
#endif

/* ---- picking ---- */

static const char *family_of(void *mpi, char *version, size_t size)
{
    static const char *const like_mpich[] = {"MPICH", "Intel(R) MPI", "MVAPICH"}; /* one binary interface */
    static char text[1 << 14];
    int length = 0;
    int (*ask)(char *, int *) = (int (*)(char *, int *))(uintptr_t)dlsym(mpi, "PMPI_Get_library_version");
    if (ask) ask(text, &length);
    for (char *at = text; *at; at++)
        if (*at == '\t') *at = ' ';
    text[strcspn(text, ",\n")] = '\0';
    snprintf(version, size, "%.200s", *text ? text : "an MPI without a name");
    if (dlsym(mpi, "ompi_mpi_comm_world")) return "openmpi";
    for (size_t i = 0; i < sizeof like_mpich / sizeof *like_mpich; i++)
        if (strstr(version, like_mpich[i])) return "mpich";
    return "";
}

#ifdef FC_PICK_REORDER
/* Says so, in the first process. */
static void refuse(const char *version, const char *why)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (getenv(ranks[i]) && strcmp(getenv(ranks[i]), "0") != 0) return;
    dprintf(STDERR_FILENO, "fabricast: untouched: no libfabricast-reorder for %s%s%s\n", version, *why ? ": " : "",
            why);
}
#else
/* Ends the process before MPI starts; without a directory nobody wants a recording. */
static void refuse(const char *version, const char *why)
{
    char text[1024];
    if (!getenv(FC_RAW_DIRECTORY)) return;
    snprintf(text, sizeof text, "%s%s%.700s", version, *why ? ": " : "", why);
    leave_mark(FC_RAW_REFUSED, text);
    _exit(2);
}
#endif

static void pick(void)
{
    char version[256], path[PATH_MAX];
    Dl_info here, there;
    void *init = dlsym(RTLD_NEXT, "PMPI_Init");
    if (init && dladdr(init, &there)) picked.mpi = dlopen(there.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!picked.mpi) dl_iterate_phdr(is_mpi, &picked.mpi); /* opened by Python for itself alone */
    if (!picked.mpi || !dladdr((void *)(uintptr_t)pick, &here)) return;
    const char *family = family_of(picked.mpi, version, sizeof version);
    snprintf(path, sizeof path, "%.*slibfabricast-" FC_PICK "-%s.so", (int)(base_name(here.dli_fname) - here.dli_fname),
             here.dli_fname, family);
    if (!*family || access(path, F_OK) != 0) {
        refuse(version, "");
        return;
    }
    init = dlsym(picked.mpi, "PMPI_Init");
    if (dladdr(init, &there))
        dlopen(there.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL); /* the recorder calls it */
    picked.recorder = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!picked.recorder) refuse(version, dlerror());
}

/* The recorder's function of that name, else MPI's own. */
static function *find(int number)
{
    function *found = real[number];
    if (found) return found;
    pthread_once(&picked.once, pick);
    void *at = picked.recorder ? dlsym(picked.recorder, names[number]) : NULL;
    if (!at) at = dlsym(RTLD_NEXT, names[number]);
    if (!at && picked.mpi) at = dlsym(picked.mpi, names[number]);
    if (!at) {
        dprintf(STDERR_FILENO, "fabricast: no MPI library of this process has %s\n", names[number]);
        abort();
    }
    return real[number] = (function *)(uintptr_t)at;
}

#define NAME(name)                                                                                                     \
    __attribute__((visibility("default"))) function name;                                                              \
    long name(WORDS)                                                                                                   \
    {                                                                                                                  \
        return find(AT_##name)(a, b, c, d, e, f, g, h, i, j, k, l, m, n);                                              \
    }
#include "pmpi_names.h"
