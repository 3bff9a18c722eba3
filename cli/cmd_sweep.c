/* cmd_sweep.c - `sweep`: a command over all combinations of some of its options, one row each. */
#include "cli/arguments.h"
#include "cli/heartbeat.h"
#include "cli/option_rules.h"
#include "cli/print.h"
#include "cli/ranks.h"
#include "cli/version.h"
#include "sweep/sweep.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct answer {
    const struct fc_sweep *sweep;
    const struct fc_sweep_row *rows; /* [sweep->n_points] */
    bool tsv;
};

/* A value that is no number, in the arena; NULL: null. */
static const char *cell_text(const json_t *value, struct fc_arena *arena, struct fc_status *st)
{
    if (!value || json_is_null(value)) return NULL;
    if (json_is_string(value)) return json_string_value(value);
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    const char *kept = text ? fc_copy_text(arena, text, st) : NULL;
    free(text);
    return kept;
}

/* Columns to show: what errors are against, which a sweep knows beside what it is asked for, only where rows differ by it, so that
 * calibrated rows and others are never compared in silence. */
static size_t columns_shown(const struct answer *a)
{
    const struct fc_sweep *s = a->sweep;
    size_t last = s->n_columns - 1;
    const json_t *first = NULL;
    for (size_t p = 0; p < s->n_points && s->n_optional; p++) {
        const json_t *value = json_array_get(a->rows[p].values, last);
        if (a->rows[p].status) continue;
        if (first && !json_equal(first, value)) return s->n_columns;
        first = value;
    }
    return s->n_columns - s->n_optional;
}

/* Numbers wherever there is a value. */
static bool is_numeric(const struct answer *a, size_t column)
{
    bool numbers = false;
    for (size_t p = 0; p < a->sweep->n_points; p++) {
        const json_t *value = json_array_get(a->rows[p].values, column);
        if (!json_is_number(value) && !json_is_null(value)) return false;
        numbers = numbers || json_is_number(value);
    }
    return numbers;
}

static enum fc_code make_table(const struct answer *a, struct fc_arena *arena, struct fc_table *table,
                               struct fc_status *st)
{
    const struct fc_sweep *s = a->sweep;
    bool says = false;
    for (size_t p = 0; p < s->n_points; p++) says = says || a->rows[p].message;
    size_t shown = columns_shown(a), n_values = s->n_axes + shown, n = n_values + (says || a->tsv ? 2 : 1);
    struct fc_column *columns = fc_alloc(arena, n, sizeof *columns, st);
    struct fc_cell *cells = fc_alloc(arena, n, sizeof *cells, st);
    if (!columns || !cells) return st->code;
    for (size_t i = 0; i < s->n_axes; i++) columns[i] = (struct fc_column){.name = s->axis[i].key};
    for (size_t i = 0; i < shown; i++)
        columns[s->n_axes + i] = (struct fc_column){
            .name = s->column[i], .format = "%.6g", .kind = is_numeric(a, i) ? FC_CELL_REAL : FC_CELL_TEXT};
    columns[n_values] = (struct fc_column){.name = "status", .kind = FC_CELL_INT};
    if (n > n_values + 1) columns[n_values + 1] = (struct fc_column){.name = "message"};
    fc_table_start(table, columns, (int)n);
    for (size_t p = 0; p < s->n_points && !st->code; p++) {
        const struct fc_sweep_row *row = &a->rows[p];
        for (size_t i = 0; i < s->n_axes; i++) cells[i].text = fc_sweep_value(s, p, i);
        for (size_t i = 0; i < shown; i++) {
            const json_t *value = json_array_get(row->values, i);
            if (columns[s->n_axes + i].kind == FC_CELL_REAL)
                cells[s->n_axes + i].real = json_is_number(value) ? json_number_value(value) : NAN;
            else
                cells[s->n_axes + i].text = cell_text(value, arena, st);
        }
        cells[n_values].integer = row->status;
        if (n > n_values + 1) cells[n_values + 1].text = row->message ? row->message : "";
        fc_table_row(table, cells, st);
    }
    return st->code;
}

static json_t *to_json(const struct answer *a)
{
    const struct fc_sweep *s = a->sweep;
    size_t shown = columns_shown(a);
    json_t *rows = json_array();
    for (size_t p = 0; p < s->n_points; p++) {
        json_t *varied = json_object(), *values = json_object();
        for (size_t i = 0; i < s->n_axes; i++)
            json_object_set_new(varied, s->axis[i].key, json_string(fc_sweep_value(s, p, i)));
        for (size_t i = 0; i < shown; i++) json_object_set(values, s->column[i], json_array_get(a->rows[p].values, i));
        json_array_append_new(rows, json_pack("{s:o, s:o, s:i, s:s?}", "varied", varied, "values", values, "status",
                                              a->rows[p].status, "message", a->rows[p].message));
    }
    return json_pack("{s:s, s:o}", "command", s->command[0], "points", rows);
}

struct printed {
    const struct fc_table *table;
    bool tsv;
};
static void print(FILE *stream, const void *what)
{
    const struct printed *p = what;
    if (p->tsv)
        fc_table_print_tsv(p->table, stream);
    else
        fc_table_print(p->table, stream);
}

static enum fc_code deliver(const struct fc_arguments *arguments, const struct answer *a, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    FC_SCOPED(fc_table_free) struct fc_table table = {0};
    if (!make_table(a, &arena, &table, st)) {
        struct printed printed = {&table, a->tsv};
        fc_deliver(arguments, arguments->json ? to_json(a) : NULL, print, &printed, st);
    }
    return st->code;
}

/* ---- ranks ---- */

/* NULL with the status empty: one process. Where mpirun started several, MPI is loaded. */
static const struct fc_sweep_ranks *open_ranks(const char *program, struct fc_sweep_settings *settings,
                                               struct fc_status *st)
{
    int told = fc_ranks_told();
    settings->size = 1;
    const struct fc_sweep_ranks *ranks = told > 1 ? fc_ranks_table(program, "fc_sweep_ranks_mpi", st) : NULL;
    if (!ranks) return NULL;
    if (!ranks->open(&settings->rank, &settings->size)) {
        fc_refuse(st, FC_NO, "started as one of %d ranks, but MPI cannot be started", told);
        return NULL;
    }
    if (!fc_ranks_check(told, settings->size, st)) return ranks;
    ranks->close();
    return NULL;
}

/* ---- what may be swept ---- */

static enum fc_code unswept(const struct fc_sweep *sweep, struct fc_status *st)
{
    char known[400] = "";
    const struct fc_command *c;
    for (size_t i = 0; (c = fc_commands[i]); i++) {
        size_t n = strlen(known);
        if (c->swept)
            snprintf(known + n, sizeof known - n, "%s%s%s%s", n ? ", " : "", c->name, *c->swept ? " " : "", c->swept);
    }
    return fc_fail(st, FC_INPUT, (struct fc_place){sweep->file, sweep->command_line},
                   "command: '%s' is no command that only answers (expected %s)", sweep->command[0], known);
}

/* With the place of what is wrong, and its key. */
static enum fc_code check_words(const struct fc_sweep *sweep, const struct fc_command *command, int n,
                                const char *const *words, long line, const char *key, struct fc_status *st)
{
    struct fc_status why = {0};
    if (!fc_check_swept(command, n, words, &why)) return FC_OK;
    return fc_fail(st, why.code, (struct fc_place){sweep->file, line}, "%s: %s", key, why.message);
}

/* Points are command lines that a file names: they may answer, and nothing else. Options are read as the points will read
 * them: shortened, bundled, with or without '='. */
static enum fc_code check_sweep(const struct fc_sweep *sweep, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    const struct fc_command *command = NULL;
    for (size_t i = 0; (command = fc_commands[i]) && strcmp(command->name, sweep->command[0]);) i++;
    if (!command || !command->swept) return unswept(sweep, st);
    check_words(sweep, command, (int)sweep->n_command, sweep->command, sweep->command_line, "command", st);
    for (size_t i = 0; i < sweep->n_axes; i++)
        for (size_t k = 0, seen = 0; !st->code && k < sweep->axis[i].n && seen < 3; k++) {
            const char *word = fc_sweep_option(&sweep->axis[i], k, &arena, st);
            const char *words[] = {sweep->command[0], *command->swept ? command->swept : word, word};
            size_t form = !word ? 0 : strchr(word, '=') ? 1 : 2; /* with a value or without: values do not matter */
            if (!form || (seen & form)) continue;
            seen |= form;
            check_words(sweep, command, *command->swept ? 3 : 2, words, sweep->axis[i].line, "vary", st);
        }
    return st->code;
}

/* ---- the command ---- */

static enum fc_code tell_failures(const struct answer *a, struct fc_status *st)
{
    size_t failed = 0, first = 0;
    for (size_t p = a->sweep->n_points; p-- > 0;)
        if (a->rows[p].status) {
            failed++;
            first = p;
        }
    if (failed == 0) return FC_OK;
    return fc_refuse(st, FC_NO, "%zu of %zu points have no answer; the first, point %zu: %s", failed,
                     a->sweep->n_points, first + 1, a->rows[first].message ? a->rows[first].message : "see its status");
}

static enum fc_code sweep_points(const struct fc_arguments *arguments, const struct fc_sweep *sweep,
                                 struct fc_sweep_settings *settings, struct fc_status *st)
{
    const char *output = arguments->output && strcmp(arguments->output, "-") ? arguments->output : NULL;
    char journal[PATH_MAX];
    snprintf(journal, sizeof journal, "%.4000s.part", output ? output : sweep->file);
    settings->journal = journal;
    size_t length = output ? strlen(output) : 0;
    struct fc_sweep_row *rows = calloc(sweep->n_points, sizeof *rows);
    if (!rows) return fc_out_of_memory(st, "%zu points", sweep->n_points);
    struct answer answer = {sweep, rows, length > 4 && !strcmp(output + length - 4, ".tsv")};
    if (!fc_sweep_run(sweep, settings, rows, st) && settings->rank == 0 && !deliver(arguments, &answer, st)) {
        remove(journal);
        tell_failures(&answer, st);
    }
    fc_sweep_rows_free(rows, sweep->n_points);
    free(rows);
    return st->code;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    struct fc_sweep sweep;
    struct fc_progress progress;
    char program[PATH_MAX];
    struct fc_sweep_settings settings = {
        .program = program, .version = FC_VERSION, .at_once = arguments->ask.threads, .progress = &progress};
    if (arguments->n_words != 1)
        return fc_refuse(st, FC_INPUT, "%s (expected `sweep FILE`; docs/sweep.md)",
                         arguments->n_words ? "more than one sweep file" : "no sweep file");
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    const struct fc_sweep_ranks *ranks = settings.ranks = open_ranks(program, &settings, st);
    if (st->code) return st->code;
    fc_work_start(&progress, arguments->quiet || settings.rank > 0);
    if (!fc_sweep_read(arguments->words[0], &sweep, st) && !check_sweep(&sweep, st) &&
        !fc_sweep_add_optional(&sweep, "error_against", st))
        sweep_points(arguments, &sweep, &settings, st);
    else if (settings.rank > 0)
        fc_sweep_excuse(&settings, st);
    fc_work_end(&progress);
    fc_sweep_free(&sweep);
    if (settings.rank > 0) memset(st->message, 0, sizeof st->message); /* rank 0 has said it */
    if (ranks) ranks->close();
    return st->code;
}

const struct fc_command fc_command_sweep = {
    .name = "sweep",
    .arguments = "FILE",
    .summary = "a command over all combinations of some options; over MPI ranks under mpirun; goes on when interrupted",
    .example = "mpirun -n 8 fabricast sweep bandwidth.yaml -o bandwidth.tsv",
    .options = FC_GROUPS(FC_THREADS, FC_OUTPUT, FC_COMMON),
    .run = run,
};
