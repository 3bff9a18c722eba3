/* machine_files.c - where machine files lie: shipped ones by name, others by path. */
#include "models/machine_files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where this code lies: the shared library's folder, or the program's. */
static bool own_directory(char *out, size_t size)
{
    Dl_info here;
    char real[PATH_MAX];
    bool found = dladdr((const void *)(uintptr_t)fc_machines_directory, &here) && here.dli_fname &&
                 strstr(here.dli_fname, ".so") && realpath(here.dli_fname, real);
    ssize_t n = found ? (ssize_t)strlen(real) : readlink("/proc/self/exe", real, sizeof real - 1);
    if (n <= 0 || (size_t)n >= size) return false;
    real[n] = 0;
    char *slash = strrchr(real, '/');
    if (slash) *slash = 0;
    strcpy(out, real);
    return true;
}

const char *fc_machines_directory(char *out, size_t size)
{
    const char *data = getenv("FABRICAST_DATA");
    if (data) {
        snprintf(out, size, "%s/machines", data);
        return out;
    }
    char self[512];
    if (own_directory(self, sizeof self)) {
        /* PREFIX/bin, PREFIX/lib, PREFIX/lib/TRIPLET, or obj/... of the source tree (one or two folders deep) */
        static const char *const relative[] = {"../share/fabricast/machines", "../../share/fabricast/machines",
                                               "../models/machines", "../../models/machines"};
        for (size_t i = 0; i < FC_COUNT(relative); i++) {
            size_t up = strlen(self);
            const char *rest = relative[i];
            for (; !strncmp(rest, "../", 3); rest += 3)
                while (up > 0 && self[--up] != '/') continue;
            snprintf(out, size, "%.*s/%s", (int)up, self, rest);
            if (access(out, R_OK) == 0) return out;
        }
    }
    snprintf(out, size, "models/machines");
    return out;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum fc_code fc_machine_names(struct fc_arena *arena, const char ***names, size_t *n, struct fc_status *st)
{
    char directory[600];
    fc_machines_directory(directory, sizeof directory);
    DIR *dir = opendir(directory);
    if (!dir && errno == ENOMEM) return fc_out_of_memory(st, "reading %s", directory);
    if (!dir)
        return fc_refuse(st, FC_INPUT,
                         "%s: %s (expected the shipped machine files; FABRICAST_DATA may name their parent)", directory,
                         strerror(errno));
    const size_t limit = 1000;
    *n = 0;
    *names = fc_alloc(arena, limit, sizeof **names, st);
    for (struct dirent *entry; *names && *n < limit && (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        static const char calibration[] = ".calibration.yaml"; /* of the machine beside it */
        if (length < 6 || strcmp(entry->d_name + length - 5, ".yaml")) continue;
        if (length >= sizeof calibration && !strcmp(entry->d_name + length + 1 - sizeof calibration, calibration))
            continue;
        char *name = fc_copy_text(arena, entry->d_name, st);
        if (!name) break;
        name[length - 5] = 0;
        (*names)[(*n)++] = name;
    }
    closedir(dir);
    if (st->code) return st->code;
    qsort(*names, *n, sizeof **names, compare_names);
    return FC_OK;
}

enum fc_code fc_machine_locate(const char *name, char *path, size_t size, struct fc_arena *arena, struct fc_status *st)
{
    size_t length = strlen(name);
    if (strchr(name, '/') || (length > 5 && !strcmp(name + length - 5, ".yaml"))) {
        snprintf(path, size, "%s", name);
        return FC_OK;
    }
    char directory[600];
    const char **names;
    size_t n;
    snprintf(path, size, "%s/%s.yaml", fc_machines_directory(directory, sizeof directory), name);
    if (access(path, F_OK) == 0) return FC_OK;
    if (fc_machine_names(arena, &names, &n, st)) return st->code;
    const char *near = fc_nearest(name, names, n);
    return fc_refuse(st, FC_INPUT,
                     "no shipped machine is called '%s'%s%s%s (`fabricast machines` lists them; a path "
                     "contains '/' or ends in .yaml)",
                     name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

enum fc_code fc_machine_new_file(const char *path, const char *suffix, char *name, size_t name_size, char *beside,
                                 size_t beside_size, struct fc_status *st)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t length = dot ? (size_t)(dot - base) : 0;
    if (!dot || strcmp(dot, ".yaml") || length == 0 || length >= name_size ||
        strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+.") != strlen(base))
        return fc_refuse(
            st, FC_INPUT,
            "-o %.200s: is no name of a machine file (expected NAME.yaml, NAME of letters, digits, - and _)", path);
    snprintf(name, name_size, "%.*s", (int)length, base);
    int n = snprintf(beside, beside_size, "%.*s%s.%s", (int)(base - path), path, name, suffix);
    return (size_t)n < beside_size ? FC_OK : fc_refuse(st, FC_INPUT, "-o: the path is too long");
}

const char *fc_machine_beside(struct fc_machine *machine, const char *file, struct fc_status *st)
{
    const char *slash = machine->file ? strrchr(machine->file, '/') : NULL;
    if (file[0] == '/' || !slash) return fc_copy_text(&machine->arena, file, st);
    size_t directory = (size_t)(slash - machine->file) + 1, length = strlen(file);
    char *path = fc_alloc(&machine->arena, directory + length + 1, 1, st);
    if (!path) return NULL;
    memcpy(path, machine->file, directory);
    memcpy(path + directory, file, length);
    return path;
}
