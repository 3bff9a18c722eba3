/* format_simgrid.c - SimGrid's time-independent traces (Desprez, Markomanolis, Quinson, Suter, "Assessing the
 * Performance of MPI Applications Through Time-Independent Trace Replay", ICPPW 2011), as smpirun -trace-ti
 * writes and smpi_replay reads them.
 *
 *   RANK ACTION arguments, one a line. A list file names one file a rank; a single name (or a trace itself)
 * is a file that all ranks share. Lines of other ranks in a rank's own file are left out, as in smpi_replay,
 * and noted.
 *
 * Counts are elements of a datatype: its number is the last argument, else MPI_BYTE, after `init` with an
 * argument MPI_DOUBLE. Computation is FLOPS / speed of the rank (fc_trace_options); the FLOPS of a reduction
 * are computed after it; `sleep` passes as computation. There are no clocks. A request is known by source, destination and
 * tag; `wait` takes the oldest of them that is open, and one that is not there is skipped, as in smpi_replay.
 * -333 and -444 are MPI_ANY_SOURCE and MPI_ANY_TAG: what came is not written.
 *
 * Limits of the format: no communicators (all is on the world), no ways to send, no lengths received. Actions
 * that SimGrid's tracer writes and its replay does not know: nonblocking collectives (iallreduce, ...) are
 * read, their request is taken by `wait -333 -333`; what waitAny, waitSome and testAny completed is not
 * written: noted, the request stays open; of Start and Startall the message itself is missing: refused. */
#include "traces/format_simgrid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_RANKS = 1 << 26 };

/* ---- lines ---- */

static enum fc_code split(struct fc_simgrid *s, const char *text, size_t length,
                          struct fc_simgrid_word *action)
{
    const char *end = text + length;
    struct fc_simgrid_word w, number;
    int64_t rank;
    s->n_words = 0;
    if (!fc_next_word(&text, end, &number.text, &number.length) ||
        !fc_next_word(&text, end, &action->text, &action->length))
        return fc_fail(s->st, FC_INPUT, fc_stream_place(&s->stream), "'%.*s' (expected a rank and an action)",
                       fc_shown(length), end - length);
    while (fc_next_word(&text, end, &w.text, &w.length)) {
        struct fc_simgrid_word *grown =
            fc_grow(s->word, &s->word_capacity, s->n_words + 1, sizeof *grown, s->st);
        if (!grown) return s->st->code;
        s->word = grown;
        s->word[s->n_words++] = w;
    }
    long long value = 0;
    rank = fc_word_int(number.text, number.length, 0, (long long)s->n_ranks - 1, "a rank", &value,
                       fc_stream_place(&s->stream), s->st)
               ? 0
               : value;
    s->at = (uint32_t)rank;
    return s->st->code;
}

/* Reads a file; of one rank, unless `only` is n_ranks. */
static enum fc_code read_file(struct fc_simgrid *s, const char *file, uint32_t only)
{
    const char *text;
    size_t length;
    struct fc_simgrid_word action;
    if (fc_stream_open(file, &s->stream, s->st)) return s->st->code;
    while (!fc_text_line(&s->stream, &text, &length, s->st) && text) {
        if (split(s, text, length, &action)) break;
        if (only < s->n_ranks && s->at != only) {
            if (fc_sink_note(
                    s->sink,
                    "a line of another rank in a rank's own file: left out, as SimGrid's replay does", 1))
                break;
            continue;
        }
        if (fc_simgrid_act(s, action.text, action.length)) break;
    }
    fc_stream_close(&s->stream);
    return s->st->code;
}

static enum fc_code end_rank(struct fc_simgrid *s, uint32_t rank)
{
    struct fc_simgrid_rank *r = &s->rank[rank];
    if (s->st->code == FC_OK) fc_simgrid_end(s, rank);
    fc_requests_free(&r->open);
    fc_requests_free(&r->collective);
    return s->st->code;
}

/* ---- files ---- */

/* A line of a trace: a rank and an action that is known. */
static bool is_action(const char *text, size_t length)
{
    const char *end = text + length, *word;
    size_t n;
    if (!fc_next_word(&text, end, &word, &n) || n > 9 || strspn(word, "0123456789") < n) return false;
    return fc_next_word(&text, end, &word, &n) && fc_simgrid_is_action(word, n);
}

static bool is_trace(const char *path)
{
    struct fc_stream s = {0};
    struct fc_status st = {0};
    const char *text = NULL;
    size_t length;
    struct stat info;
    bool trace = !stat(path, &info) && S_ISREG(info.st_mode) && !fc_stream_open(path, &s, &st) &&
                 !fc_text_line(&s, &text, &length, &st) && text && is_action(text, length);
    fc_stream_close(&s);
    return trace;
}

/* The file of a list's line: beside the list, in a folder above it (lists are written from there), or as
 * named; NULL: none of them is there. */
static char *find_file(const char *list, const char *name, size_t length, struct fc_arena *arena,
                       struct fc_status *st)
{
    size_t up = strlen(list), size = up + length + 2;
    char *path = fc_alloc(arena, size, 1, st);
    struct stat info;
    for (bool more = path && *name != '/'; more;) {
        while (up > 0 && list[up - 1] != '/') up--;
        snprintf(path, size, "%.*s%.*s", (int)up, list, (int)length, name);
        if (!stat(path, &info) && S_ISREG(info.st_mode)) return path;
        more = up > 0;
        if (more) up--;
    }
    if (!path) return NULL;
    snprintf(path, size, "%.*s", (int)length, name);
    return !stat(path, &info) && S_ISREG(info.st_mode) ? path : NULL;
}

/* Highest rank of a shared file. */
static enum fc_code count_ranks(struct fc_simgrid *s, const char *file)
{
    const char *text;
    size_t length;
    struct fc_simgrid_word action;
    int64_t highest = -1, n_lines = 0;
    s->n_ranks = MOST_RANKS;
    if (fc_stream_open(file, &s->stream, s->st)) return s->st->code;
    while (!fc_text_line(&s->stream, &text, &length, s->st) && text && !split(s, text, length, &action)) {
        if (s->at > highest) highest = s->at;
        n_lines++;
    }
    if (!s->st->code && highest >= n_lines)
        fc_fail(s->st, FC_INPUT, (struct fc_place){file, 0},
                "rank %" PRId64 " in a file of %" PRId64
                " lines: ranks below it have none (expected all ranks, or a list of one file a rank)",
                highest, n_lines);
    fc_stream_close(&s->stream);
    s->n_ranks = (uint32_t)(highest + 1);
    return s->st->code;
}

static enum fc_code start(struct fc_simgrid *s)
{
    char recorded[120];
    const struct fc_trace_options *o = s->options;
    snprintf(recorded, sizeof recorded, "SimGrid time-independent trace at %g operations/s%s; no clocks",
             fc_speed_of(o, 0), o->n_speeds > 1 ? " (rank 0)" : o->n_speeds ? "" : " (assumed)");
    if (fc_sink_start(s->sink, s->n_ranks, NULL, recorded) || fc_sink_speeds(s->sink, o)) return s->st->code;
    s->rank = fc_alloc(&s->arena, s->n_ranks, sizeof *s->rank, s->st);
    return s->st->code;
}

static enum fc_code read_shared(struct fc_simgrid *s, const char *file)
{
    if (count_ranks(s, file) || start(s)) return s->st->code;
    for (uint32_t r = 0; r < s->n_ranks; r++)
        if (fc_sink_file(s->sink, r, file)) return s->st->code;
    read_file(s, file, s->n_ranks);
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        if (s->st->code == FC_OK && !fc_sink_events(s->sink, r) && s->n_ranks > 1)
            fc_fail(s->st, FC_INPUT, (struct fc_place){file, 0},
                    "rank %" PRIu32 " has no line, but rank %" PRIu32
                    " has (expected all ranks, or a list of one file a rank)",
                    r, s->n_ranks - 1);
        end_rank(s, r);
    }
    return s->st->code;
}

/* The names of a list; *n of them. */
static enum fc_code read_list(struct fc_simgrid *s, const char *path, char ***file, size_t *n)
{
    const char *text;
    size_t length, capacity = 0;
    if (fc_stream_open(path, &s->stream, s->st)) return s->st->code;
    while (!fc_text_line(&s->stream, &text, &length, s->st) && text) {
        char **grown = fc_grow(*file, &capacity, *n + 1, sizeof *grown, s->st);
        if (!grown) break;
        *file = grown;
        grown[*n] = find_file(path, text, length, &s->arena, s->st);
        if (!grown[*n]) {
            fc_fail(s->st, FC_INPUT, fc_stream_place(&s->stream), "file '%.*s' of rank %zu is not there",
                    fc_shown(length), text, *n);
            break;
        }
        ++*n;
    }
    fc_stream_close(&s->stream);
    return s->st->code;
}

static enum fc_code read_private(struct fc_simgrid *s, char **file, size_t n)
{
    if (n > MOST_RANKS)
        return fc_refuse(s->st, FC_INPUT, "a list of %zu files (allowed: up to %d)", n, MOST_RANKS);
    s->n_ranks = (uint32_t)n;
    if (start(s)) return s->st->code;
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        if (s->st->code == FC_OK && !fc_sink_file(s->sink, r, file[r])) read_file(s, file[r], r);
        end_rank(s, r);
    }
    return s->st->code;
}

static enum fc_code read_simgrid(const char *path, const struct fc_trace_options *options,
                                 struct fc_trace_sink *sink)
{
    struct fc_simgrid s = {.sink = sink, .st = sink->st, .options = options};
    char **file = NULL;
    size_t n = 0;
    if (is_trace(path))
        read_shared(&s, path);
    else if (!read_list(&s, path, &file, &n))
        n == 1 ? read_shared(&s, file[0]) : read_private(&s, file, n);
    free(file);
    free(s.word);
    free(s.list);
    fc_arena_free(&s.arena);
    return sink->st->code;
}

static bool is_simgrid(const struct fc_trace_probe *probe)
{
    const char *text, *at, *word;
    size_t length, n;
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    if (probe->folder || !fc_probe_line(probe, &text, &length)) return false;
    if (is_action(text, length)) return true;
    at = text;
    if (length > 4096 || !fc_next_word(&at, text + length, &word, &n) || n != length) return false;
    char *file = find_file(probe->path, text, length, &arena, &st);
    bool ours = file && is_trace(file);
    fc_arena_free(&arena);
    return ours;
}

const struct fc_trace_format fc_format_simgrid = {
    .name = "ti",
    .what = "time-independent traces of SimGrid (list of files, or one file)",
    .is = is_simgrid,
    .read = read_simgrid,
};
