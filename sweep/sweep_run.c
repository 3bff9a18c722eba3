/* sweep_run.c - the points of a sweep as processes, so many at once, on this machine or on MPI ranks.
 *
 * Rank 0 deals: whoever has a processor free asks for a point and brings the answer of its last one with the question, so
 * long points do not hold up others; rank 0 runs points too. Rows stand in the order of the points, whoever ran them. */
#include "core/json.h"
#include "core/unfinished.h"
#include "sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
    pid_t pid; /* 0: free */
    size_t point;
    FILE *answer, *messages;
};
struct sweeper {
    const struct fc_sweep *sweep;
    const struct fc_sweep_settings *settings;
    struct fc_sweep_row *rows;
    struct fc_sweep_journal journal;
    struct fc_status *st;
    struct child *child; /* [at_once] */
    size_t next, n_done;
    size_t asking; /* processors of other ranks that have not been sent home */
    bool columns_known;
};

void fc_sweep_rows_free(struct fc_sweep_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_decref(rows[i].values);
        free(rows[i].message);
    }
    if (n) memset(rows, 0, n * sizeof *rows);
}

/* ---- one point ---- */

/* Deaf: an interrupt would end a search early, and its answer would look like any other. */
static enum fc_code start(struct sweeper *w, struct child *c, size_t point)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    char **words;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    c->point = point;
    c->answer = tmpfile();
    c->messages = tmpfile();
    if (nothing < 0 || !c->answer || !c->messages)
        fc_refuse(w->st, FC_NO, "no temporary file: %s", strerror(errno));
    else if (!fc_sweep_words(w->sweep, w->settings->program, point, &arena, &words, w->st)) {
        struct fc_child child = {
            .argv = words, .deaf = true, .end = SIGKILL, .stream = {nothing, fileno(c->answer), fileno(c->messages)}};
        c->pid = fc_child_start(&child);
        if (c->pid < 0)
            fc_refuse(w->st, FC_NO, "a process for point %zu cannot be started: %s", point + 1, strerror(errno));
    }
    if (nothing >= 0) close(nothing);
    if (w->st->code) {
        if (c->answer) fclose(c->answer);
        if (c->messages) fclose(c->messages);
        *c = (struct child){0};
    }
    return w->st->code;
}

/* The value at "a.b" or "list.0.b"; borrowed, NULL: not there. */
static json_t *look_up(json_t *at, const char *path)
{
    char name[256];
    while (at && *path) {
        size_t n = strcspn(path, ".");
        if (n == 0 || n >= sizeof name) return NULL;
        memcpy(name, path, n);
        name[n] = '\0';
        at = json_is_array(at) ? json_array_get(at, (size_t)strtoul(name, NULL, 10)) : json_object_get(at, name);
        path += n + (path[n] == '.');
    }
    return at;
}

/* The first answer tells whether the columns exist. */
static enum fc_code check_columns(struct sweeper *w, json_t *answer)
{
    char known[600] = "";
    const char *key;
    json_t *value;
    if (w->columns_known) return FC_OK;
    w->columns_known = true;
    for (size_t i = 0; i < w->sweep->n_columns - w->sweep->n_optional; i++) {
        if (look_up(answer, w->sweep->column[i])) continue;
        json_object_foreach(answer, key, value)
        {
            size_t n = strlen(known);
            snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", key);
        }
        return fc_fail(w->st, FC_INPUT, (struct fc_place){w->sweep->file, 0},
                       "columns: '%s' is not in the answer of %s (it has: %s)", w->sweep->column[i],
                       w->sweep->command[0], known);
    }
    return FC_OK;
}

/* First line, without the program's name. malloc'd; NULL: nothing was written. */
static char *first_line(FILE *stream)
{
    static const char who[] = "fabricast: ";
    char line[1024];
    rewind(stream);
    if (!fgets(line, sizeof line, stream)) return NULL;
    line[strcspn(line, "\n")] = '\0';
    return strdup(strncmp(line, who, sizeof who - 1) ? line : line + sizeof who - 1);
}

/* What a child that has ended answered. */
static enum fc_code harvest(struct sweeper *w, struct child *c, int status, struct fc_sweep_row *row)
{
    char killed[64];
    *row = (struct fc_sweep_row){.values = json_array(), .message = first_line(c->messages)};
    row->status = WIFEXITED(status) ? WEXITSTATUS(status) : FC_FAULT;
    row->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (row->signal && !row->message) {
        snprintf(killed, sizeof killed, "ended by signal %d", row->signal);
        row->message = strdup(killed);
    }
    rewind(c->answer);
    json_t *answer = row->status <= FC_NO ? json_loadf(c->answer, 0, NULL) : NULL;
    if (!answer && row->status == FC_OK) row->status = FC_FAULT; /* --json, and no JSON */
    if (answer && row->status == FC_OK) check_columns(w, answer);
    for (size_t i = 0; i < w->sweep->n_columns; i++) {
        json_t *value = look_up(answer, w->sweep->column[i]);
        json_array_append_new(row->values, value ? json_incref(value) : json_null());
    }
    json_decref(answer);
    fclose(c->answer);
    fclose(c->messages);
    *c = (struct child){0};
    return w->st->code;
}

/* A child of this process that has ended, its row filled; NULL: none has. */
static struct child *ended(struct sweeper *w, size_t *point, struct fc_sweep_row *row)
{
    for (int i = 0; i < w->settings->at_once; i++) {
        struct child *c = &w->child[i];
        int status;
        if (c->pid == 0 || !fc_child_ended(c->pid, false, &status)) continue;
        *point = c->point;
        harvest(w, c, status, row);
        return c;
    }
    return NULL;
}

static void take_breath(void)
{
    nanosleep(&(struct timespec){0, 2000000}, NULL);
}

/* ---- dealing ---- */

static enum fc_code record(struct sweeper *w, size_t point, struct fc_sweep_row *row)
{
    row->done = true;
    w->rows[point] = *row;
    w->n_done++;
    fc_progress_show(w->settings->progress, (double)w->n_done / (double)w->sweep->n_points, "points");
    if (row->signal) return w->st->code; /* by a batch system, say, that is about to end us too */
    return fc_sweep_journal_add(&w->journal, w->sweep, w->settings, point, row, w->st);
}

/* Whether a point is left that is worth running. */
static bool more(struct sweeper *w)
{
    while (w->next < w->sweep->n_points && w->rows[w->next].done) w->next++;
    return !w->st->code && w->next < w->sweep->n_points;
}

/* n_points: there is none. */
static size_t deal(struct sweeper *w)
{
    return more(w) ? w->next++ : w->sweep->n_points;
}

static char *pack(const struct fc_sweep_row *row, size_t point)
{
    json_t *text = json_pack("{s:I, s:i, s:i, s:O, s:s?}", "point", (json_int_t)point, "status", row->status, "signal",
                             row->signal, "values", row->values, "message", row->message);
    char *packed = json_dumps(text, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(text);
    return packed;
}

static bool unpack(const char *text, size_t n_points, struct fc_sweep_row *row, size_t *point)
{
    json_t *message = fc_json_text(text, strlen(text), 0, NULL, &(struct fc_status){0}),
           *values = json_object_get(message, "values");
    const char *said = json_string_value(json_object_get(message, "message"));
    *point = (size_t)json_integer_value(json_object_get(message, "point"));
    bool good = json_is_array(values) && *point < n_points;
    if (good)
        *row = (struct fc_sweep_row){.status = (int)json_integer_value(json_object_get(message, "status")),
                                     .signal = (int)json_integer_value(json_object_get(message, "signal")),
                                     .values = json_incref(values),
                                     .message = said ? strdup(said) : NULL};
    json_decref(message);
    return good;
}

/* A question of another rank, with an answer or without ("ask"). */
static bool answer_ranks(struct sweeper *w)
{
    int from;
    char *text = w->settings->ranks ? w->settings->ranks->receive(&from) : NULL, reply[32];
    if (!text) return false;
    struct fc_sweep_row row;
    size_t point;
    if (*text == '{' && unpack(text, w->sweep->n_points, &row, &point))
        record(w, point, &row);
    else if (*text == '!' && text[1] >= '0' + FC_NO && text[1] <= '0' + FC_FAULT)
        fc_fail(w->st, (enum fc_code)(text[1] - '0'), (struct fc_place){0}, "%s", text + 2);
    else if (*text != 'a')
        fc_fail(w->st, FC_FAULT, (struct fc_place){0}, "a rank says '%.100s'", text);
    free(text);
    size_t next = deal(w);
    if (next == w->sweep->n_points) w->asking--;
    snprintf(reply, sizeof reply, "%zu", next);
    w->settings->ranks->send(from, reply, strlen(reply));
    return true;
}

static enum fc_code deal_all(struct sweeper *w)
{
    struct fc_sweep_row row;
    size_t point, under_way = 0;
    w->asking = (size_t)(w->settings->size - 1) * (size_t)w->settings->at_once;
    for (;;) {
        bool happened = answer_ranks(w);
        for (int i = 0; i < w->settings->at_once; i++) {
            if (w->child[i].pid || !more(w)) continue;
            if (!start(w, &w->child[i], deal(w))) under_way++;
        }
        while (ended(w, &point, &row)) {
            happened = true;
            under_way--;
            if (w->st->code) /* its columns are wrong: not worth keeping */
                fc_sweep_rows_free(&row, 1);
            else
                record(w, point, &row);
        }
        if (under_way == 0 && w->asking == 0 && !more(w)) return w->st->code;
        if (!happened) take_breath();
    }
}

/* What went wrong on this rank, for rank 0. */
static void tell_failure(const struct fc_sweep_settings *settings, const struct fc_status *why)
{
    char text[sizeof why->message + 2];
    snprintf(text, sizeof text, "!%d%s", (int)why->code, why->message);
    settings->ranks->send(0, text, strlen(text));
}

void fc_sweep_excuse(const struct fc_sweep_settings *settings, const struct fc_status *why)
{
    int from;
    for (int i = 0; i < settings->at_once; i++) tell_failure(settings, why);
    for (int told = 0; told < settings->at_once;) {
        char *text = settings->ranks->receive(&from);
        told += text != NULL;
        free(text);
        if (!text) take_breath();
    }
}

/* Another rank than 0: each of its processors asks, runs, brings the answer with the next question. */
static enum fc_code work(struct sweeper *w)
{
    struct fc_sweep_row row;
    size_t point;
    int home = 0, from;
    for (int i = 0; i < w->settings->at_once; i++) w->settings->ranks->send(0, "ask", 3);
    while (home < w->settings->at_once) {
        bool happened = false;
        char *text = w->settings->ranks->receive(&from);
        if (text) {
            size_t next = (size_t)strtoull(text, NULL, 10);
            happened = true;
            free(text);
            for (int i = 0; next < w->sweep->n_points && i < w->settings->at_once; i++)
                if (w->child[i].pid == 0) {
                    if (start(w, &w->child[i], next)) tell_failure(w->settings, w->st);
                    break;
                }
            home += next >= w->sweep->n_points;
        }
        while (ended(w, &point, &row)) {
            char *packed = w->st->code ? NULL : pack(&row, point);
            happened = true;
            if (packed)
                w->settings->ranks->send(0, packed, strlen(packed));
            else
                fc_refuse(w->st, FC_NO, "out of memory on a rank"), tell_failure(w->settings, w->st);
            free(packed);
            fc_sweep_rows_free(&row, 1);
        }
        if (!happened) take_breath();
    }
    memset(w->st, 0, sizeof *w->st); /* rank 0 says it */
    return FC_OK;
}

enum fc_code fc_sweep_run(const struct fc_sweep *sweep, const struct fc_sweep_settings *settings,
                          struct fc_sweep_row *rows, struct fc_status *st)
{
    struct sweeper w = {.sweep = sweep, .settings = settings, .rows = rows, .st = st};
    w.child = calloc((size_t)settings->at_once, sizeof *w.child);
    if (!w.child) return fc_out_of_memory(st, "%d processes", settings->at_once);
    if (settings->rank == 0) {
        fc_sweep_journal_open(&w.journal, sweep, settings, rows, &w.n_done, st);
        w.columns_known = w.n_done > 0;
        deal_all(&w); /* after a failure too: the other ranks wait to be sent home */
        fc_sweep_journal_close(&w.journal);
    } else {
        work(&w);
    }
    free(w.child);
    return st->code;
}
