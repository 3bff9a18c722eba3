/* fuzz_run.c - one input through one reader: files in memory, and what a reader must keep to. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 16 };
static char folder[64];

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info, (void)kind, (void)at;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fc_fuzz_folder(void)
{
    if (*folder) return folder;
    strcpy(folder, "/dev/shm/fabricast-fuzz-XXXXXX");
    if (!mkdtemp(folder)) {
        strcpy(folder, "/tmp/fabricast-fuzz-XXXXXX");
        if (!mkdtemp(folder)) abort();
    }
    atexit(remove_folder);
    return folder;
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return; /* a name that is a folder: the reader finds that */
    if (write(fd, data, size) != (ssize_t)size) abort();
    close(fd);
}

/* Letters, digits, . - _ and one / at most. */
static bool good_name(const char *name, size_t n)
{
    size_t slashes = 0;
    for (size_t i = 0; i < n; i++) {
        slashes += name[i] == '/';
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/", name[i])) return false;
    }
    return n > 0 && n < 64 && slashes < 2 && name[0] != '.' && name[0] != '/' && name[n - 1] != '/' &&
           !memmem(name, n, "/.", 2);
}

/* Writes the files of a bundle; names[n] are to be removed. */
static int unpack(const uint8_t *data, size_t size, char names[][128])
{
    const uint8_t *at = data, *end = data + size;
    int n = 0;
    while (n < MOST_FILES && end - at > 2 && memcmp(at, "@@", 2) == 0) {
        const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
        if (!line) break;
        const uint8_t *next = memmem(line, (size_t)(end - line), "\n@@", 3), *stop = next ? next : end;
        const uint8_t *from = line + 1 < stop ? line + 1 : stop;
        if (good_name((const char *)at + 2, (size_t)(line - at - 2))) {
            snprintf(names[n], 128, "%s/%.*s", fc_fuzz_folder(), (int)(line - at - 2), at + 2);
            char *slash = strchr(names[n] + strlen(folder) + 1, '/');
            if (slash) {
                *slash = 0;
                mkdir(names[n], 0700);
                *slash = '/';
            }
            write_file(names[n++], from, (size_t)(stop - from));
        }
        at = next ? next + 1 : end;
    }
    return n;
}

static void broken(const struct fc_fuzz_target *target, const struct fc_status *st)
{
    fprintf(stderr, "fuzz: target %s answers %d '%s'\n", target->name, st->code, st->message);
    abort();
}

void fc_fuzz_run(const struct fc_fuzz_target *target, const uint8_t *data, size_t size)
{
    static char names[MOST_FILES][128];
    char path[200];
    struct fc_status st = {0};
    int n = 0;
    char *text = malloc(size + 1); /* of its own size, so that a step past its end is found */
    if (!text) return;
    memcpy(text, data, size);
    text[size] = 0;
    snprintf(path, sizeof path, "%s/%s", fc_fuzz_folder(), target->file ? target->file : "");
    if (target->bundle) {
        n = unpack(data, size, names);
    } else if (target->file) {
        write_file(path, data, size);
    }
    enum fc_code code = target->run(target, path, text, &st);
    if (code != st.code || code == FC_FAULT || code > FC_FAULT || (code && !*st.message)) broken(target, &st);
    while (n > 0) unlink(names[--n]);
    free(text);
}

const struct fc_fuzz_target *fc_fuzz_find(const char *name)
{
    for (const struct fc_fuzz_target *t = fc_fuzz_targets; t->name; t++)
        if (strcmp(t->name, name) == 0) return t;
    return NULL;
}
