/* ranks.c - finds and loads the library with the launcher's MPI. */
#include "cli/ranks.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What launchers tell the processes they start. */
static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};

int fc_ranks_told(void)
{
    for (size_t i = 0; i < FC_COUNT(sizes); i++)
        if (getenv(sizes[i])) return atoi(getenv(sizes[i]));
    return 1;
}

/* From beside the program or where it is installed; NULL: none that can be loaded. */
static void *open_library(const char *program)
{
    static const char *const places[] = {"", "../", "../lib/fabricast/", "../lib/"};
    const char *slash = strrchr(program, '/'), *family = getenv("OMPI_COMM_WORLD_SIZE") ? "openmpi" : "mpich";
    for (size_t i = 0; i < FC_COUNT(places); i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%.*s%slibfabricast-sweep-%s.so", slash ? (int)(slash + 1 - program) : 0, program,
                 places[i], family);
        if (access(path, R_OK) == 0) return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    }
    return NULL;
}

const void *fc_ranks_table(const char *program, const char *name, struct fc_status *st)
{
    void *library = open_library(program);
    const void *table = library ? dlsym(library, name) : NULL;
    const char *why = table ? NULL : dlerror();
    if (!table)
        fc_refuse(
            st, FC_NO, "started as one of %d ranks, but MPI cannot be loaded: %s", fc_ranks_told(),
            why ? why
                : "no libfabricast-sweep-openmpi.so, -mpich.so for this launcher is beside the program (it is built "
                  "where the MPI's compiler is: make MPICC=..)");
    return table;
}

enum fc_code fc_ranks_check(int told, int size, struct fc_status *st)
{
    if (size != told)
        return fc_refuse(st, FC_NO, "started as one of %d ranks by the launcher of another MPI (this one is alone)",
                         told);
    for (size_t i = 0; i < FC_COUNT(sizes); i++) unsetenv(sizes[i]);
    return FC_OK;
}

const struct fc_ranks_library *fc_ranks_join(struct fc_ranks *ranks, struct fc_status *st)
{
    char program[PATH_MAX];
    int told = fc_ranks_told();
    *ranks = (struct fc_ranks){.size = 1};
    if (told <= 1) return NULL;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    const struct fc_ranks_library *library = fc_ranks_table(program, "fc_ranks_mpi", st);
    if (!library) return NULL;
    if (!library->open(ranks)) {
        fc_refuse(st, FC_NO, "started as one of %d ranks, but MPI cannot be started", told);
        return NULL;
    }
    if (fc_ranks_check(told, ranks->size, st)) {
        library->close();
        *ranks = (struct fc_ranks){.size = 1};
        return NULL;
    }
    return library;
}
