/* sweep_run.c - the points of a sweep as processes, so many at once, on this machine or on MPI ranks.
 *
 * Rank 0 deals: whoever has a processor free asks for a point and brings the answer of its last one with the question, so
 * long points do not hold up others; rank 0 runs points too. Rows stand in the order of the points, whoever ran them. */
#include "core/json.h"
#include "sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

static enum fc_code start(struct sweeper *w, struct child *c, size_t point)
{
    struct fc_arena arena = {0};
    char **words;
    c->point = point;
    c->answer = tmpfile();
    c->messages = tmpfile();
    if (!c->answer || !c->messages) return fc_refuse(w->st, FC_NO, "no temporary file: %s", strerror(errno));
    if (!fc_sweep_words(w->sweep, w->settings->program, point, &arena, &words, w->st)) {
        c->pid = fork();
        if (c->pid == 0) {
            int nothing = open("/dev/null", O_RDONLY);
            dup2(nothing, 0);
            dup2(fileno(c->answer), 1);
            dup2(fileno(c->messages), 2);
            execv(w->settings->program, words);
            _exit(127);
        }
        if (c->pid < 0) {
            c->pid = 0;
            fc_refuse(w->st, FC_NO, "a process for point %zu cannot be started: %s", point + 1, strerror(errno));
        }
    }
    fc_arena_free(&arena);
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
    for (size_t i = 0; i < w->sweep->n_columns; i++) {
        if (look_up(answer, w->sweep->column[i])) continue;
        json_object_foreach (answer, key, value) {
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
    if (WIFSIGNALED(status) && !row->message) {
        snprintf(killed, sizeof killed, "ended by signal %d", WTERMSIG(status));
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
        if (c->pid == 0 || waitpid(c->pid, &status, WNOHANG) != c->pid) continue;
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
    json_t *text = json_pack("{s:I, s:i, s:O, s:s?}", "point", (json_int_t)point, "status", row->status, "values",
                             row->values, "message", row->message);
    char *packed = json_dumps(text, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(text);
    return packed;
}

static bool unpack(const char *text, size_t n_points, struct fc_sweep_row *row, size_t *point)
{
    json_t *message = fc_json_text(text, strlen(text), 0, NULL, &(struct fc_status){0}), *values = json_object_get(message, "values");
    const char *said = json_string_value(json_object_get(message, "message"));
    *point = (size_t)json_integer_value(json_object_get(message, "point"));
    bool good = json_is_array(values) && *point < n_points;
    if (good)
        *row = (struct fc_sweep_row){.status = (int)json_integer_value(json_object_get(message, "status")),
                                     .values = json_incref(values), .message = said ? strdup(said) : NULL};
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
    else if (*text != 'a')
        fc_fail(w->st, *text == '!' ? FC_INPUT : FC_FAULT, (struct fc_place){0}, "%s", text + (*text == '!'));
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

void fc_sweep_excuse(const struct fc_sweep_settings *settings, const struct fc_status *why)
{
    char wrong[sizeof why->message + 1];
    int from;
    snprintf(wrong, sizeof wrong, "!%s", why->message);
    for (int i = 0; i < settings->at_once; i++) settings->ranks->send(0, wrong, strlen(wrong));
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
    int home = 0, free_places = w->settings->at_once, from;
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
                    if (start(w, &w->child[i], next)) return w->st->code;
                    free_places--;
                    break;
                }
            home += next >= w->sweep->n_points;
        }
        while (ended(w, &point, &row)) {
            char wrong[1100], *packed = pack(&row, point);
            happened = true;
            free_places++;
            snprintf(wrong, sizeof wrong, "!%s", w->st->message);
            const char *told = w->st->code ? wrong : packed ? packed : "out of memory on a rank";
            w->settings->ranks->send(0, told, strlen(told));
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
