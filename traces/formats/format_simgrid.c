/* format_simgrid.c - SimGrid's time-independent traces (Desprez, Markomanolis, Quinson, Suter, "Assessing the
 * Performance of MPI Applications Through Time-Independent Trace Replay", ICPPW 2011), as smpirun -trace-ti
 * writes and smpi_replay reads them.
 *
 *   RANK ACTION arguments, one a line. A list file names one file a rank; a single name (or a trace itself)
 * is a file that all ranks share. A description of jobs (SimGrid's replay_multiple) has a line NAME FILE
 * RANKS [OPERATIONS] for each: they become ranks one behind the other, each job with a communicator of its
 * own and that much computation before it; nothing waits for all at the end. Lines of other ranks in a rank's
 * own file are left out, as in smpi_replay, and noted.
 *
 * Counts are elements of a datatype: its number is the last argument, else MPI_BYTE, after `init` with an
 * argument MPI_DOUBLE. Computation is FLOPS / speed of the rank (fc_trace_options); the FLOPS of a reduction
 * are computed after it; `sleep` passes as computation. There are no clocks. A request is known by source,
 * destination and tag; `wait` takes the oldest of them that is open, and one that is not there is skipped, as
 * in smpi_replay. -333 and -444 are MPI_ANY_SOURCE and MPI_ANY_TAG: what came is not written.
 *
 * Limits of the format: no communicators (all is on the world), no ways to send, no lengths received. Actions
 * that SimGrid's tracer writes and its replay does not know: nonblocking collectives (iallreduce, ...) are
 * read, their request is taken by `wait -333 -333`; what waitAny, waitSome and testAny completed is not
 * written: noted, the request stays open; of Start and Startall the message itself is missing: refused. */
#include "traces/formats/format_simgrid.h"
#include "traces/trace_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_RANKS = 1 << 26 };

/* ---- lines ---- */

static enum fc_code split(struct fc_simgrid *s, const char *text, size_t length, struct fc_simgrid_word *action)
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
        struct fc_simgrid_word *grown = fc_grow(s->word, &s->word_capacity, s->n_words + 1, sizeof *grown, s->st);
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
            if (fc_sink_note(s->sink, "a line of another rank in a rank's own file: left out, as SimGrid's replay does",
                             1))
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
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    struct fc_status st = {0};
    const char *text = NULL;
    size_t length;
    struct stat info;
    bool trace = !stat(path, &info) && S_ISREG(info.st_mode) && !fc_stream_open(path, &s, &st) &&
                 !fc_text_line(&s, &text, &length, &st) && text && is_action(text, length);
    return trace;
}

/* The file of a list's line: beside the list, in a folder above it (lists are written from there), or as
 * named; NULL: none of them is there. */
static char *find_file(const char *list, const char *name, size_t length, struct fc_arena *arena, struct fc_status *st)
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

static enum fc_code start(struct fc_simgrid *s, uint32_t n_ranks)
{
    static const char *const of[] = {" (assumed)", "", " (rank 0)"};
    char recorded[120];
    const struct fc_trace_options *o = s->options;
    snprintf(recorded, sizeof recorded, "SimGrid time-independent trace at %g operations/s%s; no clocks",
             fc_speed_of(o, 0), of[o->n_speeds > 1 ? 2 : o->n_speeds]);
    if (fc_sink_start(s->sink, n_ranks, NULL, recorded) || fc_sink_speeds(s->sink, o)) return s->st->code;
    s->rank = fc_alloc(&s->arena, n_ranks, sizeof *s->rank, s->st);
    return s->st->code;
}

static enum fc_code read_shared(struct fc_simgrid *s, const char *file)
{
    for (uint32_t r = 0; r < s->n_ranks; r++)
        if (fc_sink_file(s->sink, s->first + r, file)) return s->st->code;
    read_file(s, file, s->n_ranks);
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        if (s->st->code == FC_OK && !fc_sink_events(s->sink, s->first + r) && s->n_ranks > 1)
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

static enum fc_code read_private(struct fc_simgrid *s, char **file)
{
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        if (s->st->code == FC_OK && !fc_sink_file(s->sink, s->first + r, file[r])) read_file(s, file[r], r);
        end_rank(s, r);
    }
    return s->st->code;
}

/* ---- jobs ---- */

struct job {
    const char *path; /* a trace or a list */
    uint32_t n_ranks; /* as described; 0: not told */
    double delay;     /* operations of each rank before its first action */
    char **file;      /* [n_files]: one a rank, or one shared */
    size_t n_files;
};

/* The files of a job, and how many ranks that makes. */
static enum fc_code find_ranks(struct fc_simgrid *s, struct job *job)
{
    if (is_trace(job->path)) {
        if (!(job->file = malloc(sizeof *job->file))) return fc_out_of_memory(s->st, "reading the trace");
        if (!(job->file[0] = fc_copy_text(&s->arena, job->path, s->st))) return s->st->code;
        job->n_files = 1;
    } else if (read_list(s, job->path, &job->file, &job->n_files)) {
        return s->st->code;
    }
    if (job->n_files > MOST_RANKS)
        return fc_refuse(s->st, FC_INPUT, "a list of %zu files (allowed: up to %d)", job->n_files, MOST_RANKS);
    for (size_t i = 0; i < job->n_files; i++) s->sink->bytes += fc_file_bytes(job->file[i]);
    s->n_ranks = (uint32_t)job->n_files;
    if (job->n_files == 1 && count_ranks(s, job->file[0])) return s->st->code;
    if (job->n_ranks && job->n_ranks != s->n_ranks)
        return fc_fail(s->st, FC_INPUT, (struct fc_place){job->path, 0},
                       "%" PRIu32 " ranks, not %" PRIu32 " as the description of jobs says", s->n_ranks, job->n_ranks);
    job->n_ranks = s->n_ranks;
    return FC_OK;
}

static enum fc_code read_job(struct fc_simgrid *s, const struct job *job, bool alone)
{
    uint32_t *member = alone ? NULL : calloc(job->n_ranks, sizeof *member);
    s->n_ranks = job->n_ranks;
    if (!alone) {
        if (!member) return fc_out_of_memory(s->st, "reading the trace");
        for (uint32_t r = 0; r < job->n_ranks; r++) member[r] = s->first + r;
        fc_sink_comm(s->sink, member, job->n_ranks, &s->comm);
        free(member);
    }
    for (uint32_t r = 0; !s->st->code && job->delay > 0 && r < s->n_ranks; r++) {
        double seconds = fc_sink_seconds(s->sink, s->options, s->first + r, job->delay);
        s->rank[r].compute_s = seconds;
        if (seconds > (double)FC_MAX_TIME_NS / 1e9)
            fc_refuse(s->st, FC_INPUT, "%g operations before the start of a job take %g s (allowed: up to 9000000 s)",
                      job->delay, seconds);
    }
    if (s->st->code) return s->st->code;
    return job->n_files == 1 ? read_shared(s, job->file[0]) : read_private(s, job->file);
}

/* All jobs, one behind the other in the numbers of ranks. */
static enum fc_code read_jobs(struct fc_simgrid *s, struct job *jobs, size_t n)
{
    uint64_t n_all = 0;
    for (size_t i = 0; i < n; i++) {
        if (find_ranks(s, &jobs[i])) return s->st->code;
        n_all += jobs[i].n_ranks;
    }
    if (n_all > MOST_RANKS)
        return fc_refuse(s->st, FC_INPUT, "%" PRIu64 " ranks (allowed: up to %d)", n_all, MOST_RANKS);
    if (start(s, (uint32_t)n_all)) return s->st->code;
    for (size_t i = 0; i < n; i++) {
        if (read_job(s, &jobs[i], n == 1)) return s->st->code;
        s->first += jobs[i].n_ranks;
        s->rank += jobs[i].n_ranks;
    }
    return FC_OK;
}

/* A line of a description of jobs, "NAME FILE RANKS [OPERATIONS]"; false: it is none. */
static bool job_words(const char *text, size_t length, struct fc_simgrid_word word[4])
{
    const char *end = text + length;
    size_t n = 0;
    while (n < 4 && fc_next_word(&text, end, &word[n].text, &word[n].length)) n++;
    if (n == 3) word[3].length = 0;
    return n >= 3 && word[2].length < 10 && strspn(word[2].text, "0123456789") >= word[2].length;
}

static enum fc_code read_description_line(struct fc_simgrid *s, const char *path, const char *text, size_t length,
                                          struct job *job)
{
    struct fc_simgrid_word word[4];
    struct fc_place where = fc_stream_place(&s->stream);
    long long n_ranks = 0;
    if (!job_words(text, length, word))
        return fc_fail(s->st, FC_INPUT, where, "'%.*s' (expected a job: NAME FILE RANKS [OPERATIONS BEFORE IT STARTS])",
                       fc_shown(length), text);
    if (fc_word_int(word[2].text, word[2].length, 1, MOST_RANKS, "ranks", &n_ranks, where, s->st) ||
        (word[3].length &&
         fc_word_real(word[3].text, word[3].length, "operations before the start", &job->delay, where, s->st)))
        return s->st->code;
    if (!(job->delay >= 0 && isfinite(job->delay)))
        return fc_fail(s->st, FC_INPUT, where, "%g operations before the start of a job (expected 0 or more)",
                       job->delay);
    job->n_ranks = (uint32_t)n_ranks;
    job->path = find_file(path, word[1].text, word[1].length, &s->arena, s->st);
    if (!job->path && !s->st->code)
        fc_fail(s->st, FC_INPUT, where, "file '%.*s' of the job is not there", fc_shown(word[1].length), word[1].text);
    return s->st->code;
}

static enum fc_code read_description(struct fc_simgrid *s, const char *path, struct job **jobs, size_t *n)
{
    const char *text;
    size_t length, capacity = 0;
    if (fc_stream_open(path, &s->stream, s->st)) return s->st->code;
    while (!fc_text_line(&s->stream, &text, &length, s->st) && text) {
        struct job job = {0};
        struct job *grown = fc_grow(*jobs, &capacity, *n + 1, sizeof *grown, s->st);
        if (!grown) break;
        *jobs = grown;
        if (read_description_line(s, path, text, length, &job)) break;
        grown[(*n)++] = job;
    }
    fc_stream_close(&s->stream);
    return s->st->code;
}

/* The first line of the file is one of a description of jobs. */
static bool is_description(const char *path)
{
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    struct fc_status st = {0};
    struct fc_simgrid_word word[4];
    const char *text = NULL;
    size_t length;
    bool is = !fc_stream_open(path, &s, &st) && !fc_text_line(&s, &text, &length, &st) && text &&
              !is_action(text, length) && job_words(text, length, word);
    return is;
}

static enum fc_code read_simgrid(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    struct fc_simgrid s = {.sink = sink, .st = sink->st, .options = options};
    struct job one = {.path = path}, *described = NULL;
    size_t n = 0;
    if (!is_description(path))
        read_jobs(&s, &one, 1);
    else if (!read_description(&s, path, &described, &n))
        read_jobs(&s, described, n);
    for (size_t i = 0; i < n; i++) free(described[i].file);
    free(described);
    free(one.file);
    free(s.word);
    free(s.list);
    fc_arena_free(&s.arena);
    return sink->st->code;
}

/* The file is a trace, or a list whose first file is one. */
static bool leads_to_trace(const char *path)
{
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    struct fc_status st = {0};
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    const char *text = NULL;
    size_t length;
    if (is_trace(path)) return true;
    bool line = !fc_stream_open(path, &s, &st) && !fc_text_line(&s, &text, &length, &st) && text && length <= 4096;
    char *file = line ? find_file(path, text, length, &arena, &st) : NULL;
    bool leads = file && is_trace(file);
    return leads;
}

static bool is_simgrid(const struct fc_trace_probe *probe)
{
    const char *text, *at, *word;
    size_t length, n;
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_simgrid_word job[4];
    if (probe->folder || !fc_probe_line(probe, &text, &length)) return false;
    if (is_action(text, length)) return true;
    at = text;
    if (length > 4096 || !fc_next_word(&at, text + length, &word, &n)) return false;
    bool description = job_words(text, length, job);
    if (!description && n != length) return false;
    if (description) word = job[1].text, n = job[1].length;
    char *file = find_file(probe->path, word, n, &arena, &st);
    bool ours = file && (description ? leads_to_trace(file) : is_trace(file));
    return ours;
}

const struct fc_trace_format fc_format_simgrid = {
    .name = "ti",
    .what = "time-independent traces of SimGrid (list of files, one file, or a description of jobs)",
    .is = is_simgrid,
    .read = read_simgrid,
};
