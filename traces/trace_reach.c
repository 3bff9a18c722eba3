/* trace_reach.c - why a program was not recorded, and how it ended.
 *
 * The preloaded library leaves marks in the directory (pmpi_raw.h): that it was loaded into a process at all, that one of
 * these had an MPI library, that its MPI has no recorder. What no mark can tell, because nothing was loaded, the files of
 * the command line's words tell: a program for another processor, linked statically, or with a set-user-ID bit. Limits: a
 * program started by a script is no word of the command line; of a launcher's exit status nothing is known but the
 * custom that 128 + n stands for signal n, and MPICH's. */
#include "traces/pmpi/pmpi_raw.h"
#include "traces/trace_capture.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_mark(const char *directory, const char *name)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

/* ---- the end ---- */

/* Reads the head of a rank's recording; does it lack its end? */
static bool is_broken(const char *directory, int rank, struct fc_raw_head *head)
{
    char path[PATH_MAX + 16];
    struct fc_raw_event last = {0};
    snprintf(path, sizeof path, "%s/%d", directory, rank);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool read = fread(head, sizeof *head, 1, file) == 1 && head->size >= sizeof *head + sizeof last &&
                fseeko(file, (off_t)(head->size - sizeof last), SEEK_SET) == 0 &&
                fread(&last, sizeof last, 1, file) == 1;
    fclose(file);
    return !read || last.kind != FC_RAW_END;
}

/* MPICH's launcher gives a rank's signal as its exit status, as if the rank had exited with it. Then no rank ended by
 * itself, and there are recordings without an end. */
static bool was_killed(const char *directory)
{
    struct fc_raw_head first = {0}, head;
    bool broken = is_broken(directory, 0, &first);
    first.library[sizeof first.library - 1] = '\0';
    if (!strstr(first.library, "MPICH") || has_mark(directory, FC_RAW_LEFT)) return false;
    for (int r = 1; r < first.n_ranks && !broken; r++) broken = is_broken(directory, r, &head);
    return broken;
}

void fc_describe_end(int exit_status, const char *directory, char *text, size_t size)
{
    int signal = exit_status > 128 ? exit_status - 128 : was_killed(directory) ? exit_status : 0;
    const char *name = signal > 0 ? sigdescr_np(signal) : NULL;
    if (name)
        snprintf(text, size, "was ended by signal %d (%s)", signal, name);
    else
        snprintf(text, size, "failed with exit status %d", exit_status);
}

/* ---- the beginning ---- */

void fc_recorder_families(const char *recorder, char *text, size_t size)
{
    static const char *const families[][2] = {{"openmpi", "Open MPI"}, {"mpich", "MPICH"}};
    const char *slash = strrchr(recorder, '/');
    text[0] = '\0';
    for (size_t i = 0; i < FC_COUNT(families); i++) {
        char path[2 * PATH_MAX];
        size_t n = strlen(text);
        snprintf(path, sizeof path, "%.*slibfabricast-pmpi-%s.so", slash ? (int)(slash + 1 - recorder) : 0, recorder,
                 families[i][0]);
        if (access(path, R_OK) == 0) snprintf(text + n, size - n, "%s%s", n ? " and " : "", families[i][1]);
    }
    if (!*text) snprintf(text, size, "no MPI");
}

/* The file that a word of the command line names, itself or on PATH; false: none that can be run. */
static bool find_program(const char *word, char *path, size_t size)
{
    struct stat info;
    const char *places = strchr(word, '/') ? "" : getenv("PATH");
    while (places) {
        size_t n = strcspn(places, ":");
        snprintf(path, size, "%.*s%s%s", (int)n, places, n ? "/" : "", word);
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0) return true;
        places = places[n] ? places + n + 1 : NULL;
    }
    return false;
}

/* Refuses where a program of the command line is such that it cannot be recorded. */
static enum fc_code check_programs(char *const *argv, struct fc_status *st)
{
    char path[PATH_MAX];
    struct stat info;
    for (char *const *word = argv; *word; word++) {
        if (!find_program(*word, path, sizeof path)) continue;
        struct fc_place place = {path, 0};
        enum fc_elf_kind kind = fc_elf_look(path);
        if (kind == FC_ELF_FOREIGN)
            return fc_fail(st, FC_INPUT, place,
                           "nothing was recorded: the program is for another kind of processor than "
                           "the recorder");
        if (kind == FC_ELF_STATIC)
            return fc_fail(st, FC_INPUT, place,
                           "nothing was recorded: the program is linked statically, so no recorder can "
                           "be loaded into it (expected: linked with the MPI's shared library)");
        if (kind == FC_ELF_HAS_MPI)
            return fc_fail(st, FC_INPUT, place,
                           "nothing was recorded: MPI is linked into the program statically, so the "
                           "recorder does not see its calls (expected: the MPI's shared library)");
        if (kind == FC_ELF_DYNAMIC && stat(path, &info) == 0 &&
            ((info.st_mode & S_ISUID && info.st_uid != geteuid()) ||
             (info.st_mode & S_ISGID && info.st_gid != getegid())))
            return fc_fail(st, FC_INPUT, place,
                           "nothing was recorded: the program runs as another user or group "
                           "(set-user-ID), and the system loads no recorder into it");
    }
    return FC_OK;
}

enum fc_code fc_check_refused(const char *directory, const char *recorder, struct fc_status *st)
{
    char path[PATH_MAX + 16], text[1024] = "", families[64];
    snprintf(path, sizeof path, "%s/" FC_RAW_REFUSED, directory);
    FILE *file = fopen(path, "r");
    if (!file) return FC_OK;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    fc_recorder_families(recorder, families, sizeof families);
    return fc_refuse(st, FC_INPUT,
                     "the program's MPI is %.500s; the recorders here are for %s: it was ended before MPI_Init (`make "
                     "MPICC=that MPI's mpicc` builds a recorder for it)",
                     text, families);
}

bool fc_reached(const char *directory)
{
    return has_mark(directory, "0");
}

enum fc_code fc_check_reached(char *const *argv, const char *directory, const char *recorder, struct fc_status *st)
{
    if (fc_reached(directory)) return FC_OK;
    if (check_programs(argv, st)) return st->code;
    if (!has_mark(directory, FC_RAW_LOADED))
        return fc_fail(
            st, FC_NO, (struct fc_place){recorder, 0},
            "nothing was recorded: the recorder was loaded into no process (does the command pass LD_PRELOAD "
            "and " FC_RAW_DIRECTORY " on? can this file be read and mapped where it runs?)");
    if (has_mark(directory, FC_RAW_HAS_MPI))
        return fc_refuse(st, FC_NO,
                         "nothing was recorded: a program with MPI's library ran, but no rank 0 came out of "
                         "MPI_Init");
    return fc_refuse(
        st, FC_NO,
        "nothing was recorded: the recorder was loaded, but into no program that called MPI_Init (is the "
        "program without MPI, or linked statically? do the ranks run on hosts that do not get LD_PRELOAD and " FC_RAW_DIRECTORY
        ": mpirun -x of Open MPI, -genv of MPICH?)");
}
