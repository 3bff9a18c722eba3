/* rank_files.c - finds the files of all ranks from the folder or from any one of them. */
#include "core/array.h"
#include "core/rank_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_DIGITS = 8 };

struct name {
    uint64_t rank;
    size_t stem; /* length of what is before ".RANK" */
    char *text;
};

/* STEM.RANK<suffix>[.gz|.xz|.zst] */
static bool parse_name(const char *text, const char *suffix, struct name *name)
{
    static const char *const packed[] = {"", ".gz", ".xz", ".zst"};
    size_t length = strlen(text), end = 0;
    for (size_t i = 0; i < FC_COUNT(packed) && !end; i++) {
        size_t tail = strlen(suffix) + strlen(packed[i]);
        if (length > tail && strncmp(text + length - tail, suffix, strlen(suffix)) == 0 &&
            strcmp(text + length - strlen(packed[i]), packed[i]) == 0)
            end = length - tail;
    }
    size_t digits = end;
    name->rank = 0;
    while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') digits--;
    if (digits == end || end - digits > MOST_DIGITS || digits < 2 || text[digits - 1] != '.') return false;
    for (size_t i = digits; i < end; i++) name->rank = name->rank * 10 + (uint64_t)(text[i] - '0');
    name->stem = digits - 1;
    return true;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool fc_is_rank_file(const char *path, const char *suffix)
{
    struct name name;
    return parse_name(last_part(path), suffix, &name);
}

bool fc_has_rank_files(const char *folder, const char *suffix)
{
    DIR *list = opendir(folder);
    bool found = false;
    for (struct dirent *entry; list && !found && (entry = readdir(list));)
        found = fc_is_rank_file(entry->d_name, suffix);
    if (list) closedir(list);
    return found;
}

static int by_set_and_rank(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    size_t shorter = x->stem < y->stem ? x->stem : y->stem;
    int order = memcmp(x->text, y->text, shorter);
    if (order) return order;
    if (x->stem != y->stem) return x->stem < y->stem ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return strcmp(x->text, y->text);
}

static bool same_set(const struct name *a, const struct name *b)
{
    return a->stem == b->stem && memcmp(a->text, b->text, a->stem) == 0;
}

/* All names of the folder that fit; of one set only when `set` is given. */
static enum fc_code list_names(const char *folder, const char *suffix, const struct name *set, struct name **names,
                               size_t *n, struct fc_status *st)
{
    size_t capacity = 0;
    DIR *list = opendir(folder);
    if (!list) return fc_fail(st, FC_INPUT, (struct fc_place){folder, 0}, "cannot be read: %s", strerror(errno));
    enum fc_code code = FC_OK;
    for (struct dirent *entry; !code && (entry = readdir(list));) {
        struct name name = {.text = entry->d_name};
        if (!parse_name(entry->d_name, suffix, &name) || (set && !same_set(&name, set))) continue;
        if (!FC_GROW(*names, capacity, *n + 1)) code = fc_out_of_memory(st, "the names of the ranks' files");
        if (!code) {
            (*names)[*n] = name;
            (*names)[*n].text = strdup(entry->d_name);
            code = (*names)[(*n)++].text ? FC_OK : fc_out_of_memory(st, "the names of the ranks' files");
        }
    }
    closedir(list);
    return code;
}

static enum fc_code check_names(const char *folder, const char *suffix, const struct name *names, size_t n,
                                struct fc_status *st)
{
    struct fc_place where = {folder, 0};
    if (n == 0) return fc_fail(st, FC_INPUT, where, "no file NAME.RANK%s here", suffix);
    for (size_t i = 1; i < n; i++)
        if (!same_set(&names[i], &names[0]))
            return fc_fail(st, FC_INPUT, where,
                           "several sets of files are here: %.*s.*%s and %.*s.*%s (expected one set, or one "
                           "of its files)",
                           (int)names[0].stem, names[0].text, suffix, (int)names[i].stem, names[i].text, suffix);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && names[i].rank == names[i - 1].rank)
            return fc_fail(st, FC_INPUT, where, "rank %" PRIu64 " is here twice: %s and %s", names[i].rank,
                           names[i - 1].text, names[i].text);
        if (names[i].rank != i)
            return fc_fail(st, FC_INPUT, where, "%.*s.%zu%s is missing (there is %s)", (int)names[0].stem,
                           names[0].text, i, suffix, names[i].text);
    }
    return FC_OK;
}

static enum fc_code keep_names(const char *folder, const struct name *names, size_t n, struct fc_arena *arena,
                               struct fc_rank_files *files, struct fc_status *st)
{
    char path[4096];
    const char *between = *folder && folder[strlen(folder) - 1] == '/' ? "" : "/";
    files->n = (uint32_t)n;
    files->path = fc_alloc(arena, n, sizeof *files->path, st);
    if (!files->path) return st->code;
    for (size_t i = 0; i <= n; i++) {
        int length = i < n ? (int)strlen(names[i].text) : (int)names[0].stem;
        const char *text = i < n ? names[i].text : names[0].text;
        if (snprintf(path, sizeof path, "%s%s%.*s", folder, between, length, text) >= (int)sizeof path)
            return fc_fail(st, FC_INPUT, (struct fc_place){folder, 0}, "the path is too long");
        const char *copy = fc_copy_text(arena, path, st);
        if (!copy) return st->code;
        if (i < n)
            files->path[i] = copy;
        else
            files->stem = copy;
    }
    return FC_OK;
}

enum fc_code fc_rank_files(const char *path, const char *suffix, struct fc_arena *arena, struct fc_rank_files *files,
                           struct fc_status *st)
{
    struct stat info;
    struct name *names = NULL, own;
    size_t n = 0;
    if (stat(path, &info))
        return fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "cannot be read: %s", strerror(errno));
    bool is_folder = S_ISDIR(info.st_mode);
    char *folder = strdup(path), *file = folder ? (char *)last_part(folder) : NULL;
    if (!folder) return fc_out_of_memory(st, "the names of the ranks' files");
    own.text = (char *)last_part(path);
    enum fc_code code = FC_OK;
    if (!is_folder) {
        if (!parse_name(own.text, suffix, &own))
            code = fc_fail(st, FC_INPUT, (struct fc_place){path, 0},
                           "its name does not tell its rank (expected NAME.RANK%s)", suffix);
        if (file == folder)
            strcpy(folder, "."); /* a name has at least the suffix */
        else
            *file = 0;
    }
    if (!code) code = list_names(folder, suffix, is_folder ? NULL : &own, &names, &n, st);
    if (!code && n) qsort(names, n, sizeof *names, by_set_and_rank);
    if (!code) code = check_names(folder, suffix, names, n, st);
    if (!code) code = keep_names(folder, names, n, arena, files, st);
    for (size_t i = 0; i < n; i++) free(names[i].text);
    free(names);
    free(folder);
    return code;
}
