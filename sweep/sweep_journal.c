/* sweep_journal.c - finished points on disk, a line of JSON each, so that an interrupted sweep goes on.
 *
 * A point is known by all that its answer depends on and that can be seen from outside: words, columns, version of the
 * program, size and time of the files among the words. Limit: files that such a file names in turn are not looked at. */
#include "core/json.h"
#include "core/unfinished.h"
#include "sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void add(char **text, size_t *size, const char *word)
{
    size_t n = *text ? strlen(*text) : 0, more = strlen(word) + 2;
    char *grown = realloc(*text, n + more);
    if (!grown) {
        free(*text);
        *text = NULL;
        return;
    }
    *text = grown;
    *size = n + more;
    snprintf(*text + n, more, "%s%s", n ? " " : "", word);
}

/* malloc'd; NULL: no memory. */
static char *key_of(const struct fc_sweep *sweep, const struct fc_sweep_settings *settings, size_t point,
                    struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    char **words, *key = NULL;
    size_t size = 0;
    if (!fc_sweep_words(sweep, "", point, &arena, &words, st)) {
        add(&key, &size, settings->version);
        for (size_t i = 0; key && i < sweep->n_columns; i++) add(&key, &size, sweep->column[i]);
        for (char **w = words + 1; key && *w; w++) {
            struct stat s;
            const char *equals = strchr(*w, '='), *file = **w == '-' && equals ? equals + 1 : *w;
            add(&key, &size, *w);
            if (!key || stat(file, &s) || !S_ISREG(s.st_mode)) continue;
            char stamp[80];
            snprintf(stamp, sizeof stamp, "(%lld bytes, %lld.%09ld)", (long long)s.st_size, (long long)s.st_mtim.tv_sec,
                     s.st_mtim.tv_nsec);
            add(&key, &size, stamp);
        }
    }
    if (!key) fc_out_of_memory(st, "the journal");
    return key;
}

/* A row of the journal into the point's, when it is of this sweep. */
static bool take(const struct fc_sweep *sweep, json_t *line, struct fc_sweep_row *row)
{
    json_t *values = json_object_get(line, "values"), *status = json_object_get(line, "status");
    const char *message = json_string_value(json_object_get(line, "message"));
    if (row->done || !json_is_integer(status) || !json_is_array(values) || json_array_size(values) != sweep->n_columns)
        return false;
    row->values = json_incref(values);
    row->status = (int)json_integer_value(status);
    row->message = message ? strdup(message) : NULL;
    row->done = true;
    return true;
}

/* Reads all whole lines; *end: where the last of them ends. */
static json_t *read_lines(FILE *stream, long *end)
{
    json_t *known = json_object();
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    *end = 0;
    while (known && (n = getline(&line, &capacity, stream)) > 0 && line[n - 1] == '\n') {
        json_t *object = fc_json_text(line, (size_t)n, 0, NULL, &(struct fc_status){0});
        const char *key = json_string_value(json_object_get(object, "key"));
        if (!object) break; /* damaged: what follows is run again */
        if (key) json_object_set(known, key, object);
        json_decref(object);
        *end = ftell(stream);
    }
    free(line);
    return known;
}

/* Whether a file holds nothing, or begins as our lines do (the first may have been cut short by a crash). */
static bool is_journal(FILE *stream)
{
    static const char start[] = "{\"key\":";
    char got[sizeof start - 1];
    rewind(stream);
    size_t n = fread(got, 1, sizeof got, stream);
    rewind(stream);
    return !ferror(stream) && !memcmp(got, start, n);
}

/* Opened and locked; -1 with errno. One that its holder removes while we wait is made anew. */
static int open_locked(const char *path)
{
    for (int i = 0; i < 100; i++) {
        struct stat info;
        int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (fd < 0) return -1;
        bool locked = !flock(fd, LOCK_EX | LOCK_NB);
        if (locked && !fstat(fd, &info) && info.st_nlink > 0) return fd;
        close(fd);
        if (!locked) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    errno = EWOULDBLOCK;
    return -1;
}

/* What is there may have been put there by others. */
static enum fc_code open_stream(struct fc_sweep_journal *journal, struct fc_status *st)
{
    struct fc_place where = {journal->path, 0};
    struct stat info;
    int fd = open_locked(journal->path);
    if (fd < 0 && errno == EWOULDBLOCK) return fc_fail(st, FC_NO, where, "another run of this sweep is under way");
    if (fd < 0 && errno == ELOOP)
        return fc_fail(st, FC_INPUT, where, "is a symbolic link (expected the sweep's journal)");
    if (fd >= 0) journal->stream = fdopen(fd, "a+");
    if (fd >= 0 && !journal->stream) close(fd);
    if (!journal->stream || fstat(fd, &info))
        return fc_fail(st, FC_NO, where, "the journal cannot be written: %s", strerror(errno));
    if (!S_ISREG(info.st_mode) || !is_journal(journal->stream))
        return fc_fail(st, FC_INPUT, where, "is not the journal of a sweep (rename it, or give -o another name)");
    return FC_OK;
}

enum fc_code fc_sweep_journal_open(struct fc_sweep_journal *journal, const struct fc_sweep *sweep,
                                   const struct fc_sweep_settings *settings, struct fc_sweep_row *rows, size_t *n_found,
                                   struct fc_status *st)
{
    long end;
    *n_found = 0;
    *journal = (struct fc_sweep_journal){.path = settings->journal};
    if (!settings->journal) return FC_OK;
    struct fc_place where = {settings->journal, 0};
    if (open_stream(journal, st)) return st->code;
    json_t *known = read_lines(journal->stream, &end);
    if (!known) return fc_out_of_memory(st, "the journal");
    for (size_t i = 0; i < sweep->n_points && !st->code && json_object_size(known); i++) {
        char *key = key_of(sweep, settings, i, st);
        json_t *line = key ? json_object_get(known, key) : NULL;
        if (line && take(sweep, line, &rows[i])) ++*n_found;
        free(key);
    }
    json_decref(known);
    if (!st->code && ftruncate(fileno(journal->stream), end))
        fc_fail(st, FC_NO, where, "the journal cannot be written: %s", strerror(errno));
    if (!st->code && end == 0) journal->empty = fc_unfinished_name(settings->journal);
    return st->code;
}

enum fc_code fc_sweep_journal_add(struct fc_sweep_journal *journal, const struct fc_sweep *sweep,
                                  const struct fc_sweep_settings *settings, size_t point,
                                  const struct fc_sweep_row *row, struct fc_status *st)
{
    if (!journal->stream) return FC_OK;
    char *key = key_of(sweep, settings, point, st);
    if (!key) return st->code;
    fc_unfinished_keep(&journal->empty);
    json_t *line = json_pack("{s:s, s:i, s:O, s:s?}", "key", key, "status", row->status, "values", row->values,
                             "message", row->message);
    bool written = line && !json_dumpf(line, journal->stream, JSON_COMPACT | JSON_REAL_PRECISION(17)) &&
                   fputc('\n', journal->stream) != EOF && !fflush(journal->stream);
    json_decref(line);
    free(key);
    if (written) return FC_OK;
    return fc_fail(st, FC_NO, (struct fc_place){journal->path, 0}, "the journal cannot be written: %s",
                   strerror(errno));
}

void fc_sweep_journal_close(struct fc_sweep_journal *journal)
{
    fc_unfinished_remove(&journal->empty);
    if (journal->stream) fclose(journal->stream);
    journal->stream = NULL;
}
