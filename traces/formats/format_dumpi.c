/* format_dumpi.c - DUMPI traces (SST/DUMPI, libdumpi 1.0 to 8.1): one file a rank, PREFIX-0000.bin ..., and
 * PREFIX.meta.
 *
 * Each file is read once for its events; before, when any rank makes communicators, once more for those
 * calls, because what a split makes is known only when all its members have called (format_dumpi_comm.c).
 * Memory: one file's read-ahead, what is open at one rank, and the communicators. Ranks whose file is missing
 * are ranks without events, and a note says which. */
#include "traces/formats/format_dumpi.h"
#include "core/stream.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MOST_RANKS = 1 << 26, MOST_PATH = 4096, MOST_HANDLES = 1 << 16 };

/* Where the files of a run are. */
struct place {
    char folder[MOST_PATH], prefix[MOST_PATH]; /* prefix: name without "-0000.bin" */
    char meta[MOST_PATH];                      /* path; "": none */
    bool single;                               /* one file whose name has no rank */
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Length of PREFIX in PREFIX-0012.bin and its rank; 0: the name is another. */
static size_t rank_of_name(const char *name, uint64_t *rank)
{
    size_t end = strlen(name), first;
    if (!ends_with(name, ".bin")) return 0;
    end -= 4;
    for (first = end; first > 0 && isdigit((unsigned char)name[first - 1]);) first--;
    if (end - first < 4 || end - first > 9 || first < 2 || name[first - 1] != '-') return 0;
    *rank = strtoull(name + first, NULL, 10);
    return first - 1;
}

static bool has_magic(const char *head, size_t n)
{
    return n >= 8 && memcmp(head, "\xff\xaa\xdd\x44UMPI", 8) == 0;
}

static bool is_dumpi_file(const char *folder, const char *name)
{
    char path[MOST_PATH], head[8];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
    FILE *in = fopen(path, "rb");
    size_t n = in ? fread(head, 1, sizeof head, in) : 0;
    if (in) fclose(in);
    return has_magic(head, n);
}

static bool is_dumpi(const struct fc_trace_probe *probe)
{
    if (!probe->folder)
        return has_magic(probe->head, probe->n_head) ||
               (ends_with(probe->path, ".meta") && memmem(probe->head, probe->n_head, "numprocs=", 9));
    DIR *folder = opendir(probe->path);
    bool found = false;
    uint64_t rank;
    for (struct dirent *d; folder && !found && (d = readdir(folder));)
        found = rank_of_name(d->d_name, &rank) && is_dumpi_file(probe->path, d->d_name);
    if (folder) closedir(folder);
    return found;
}

/* ---- which files ---- */

static enum fc_code wrong(const struct fc_dumpi_run *run, const char *text)
{
    return fc_fail(run->st, FC_INPUT, (struct fc_place){run->sink->trace->file, 0}, "%s", text);
}

/* The one prefix of a folder. */
static enum fc_code find_prefix(struct fc_dumpi_run *run, struct place *place)
{
    DIR *folder = opendir(place->folder);
    char other[MOST_PATH] = "", text[600];
    uint64_t rank;
    if (!folder) return wrong(run, strerror(errno));
    for (struct dirent *d; (d = readdir(folder));) {
        size_t n = rank_of_name(d->d_name, &rank);
        if (!n || !is_dumpi_file(place->folder, d->d_name)) continue;
        if (!place->prefix[0]) {
            snprintf(place->prefix, sizeof place->prefix, "%.*s", (int)n, d->d_name);
        } else if (strncmp(place->prefix, d->d_name, n) || place->prefix[n]) {
            snprintf(other, sizeof other, "%.*s", (int)n, d->d_name);
        }
    }
    closedir(folder);
    if (!other[0]) return FC_OK;
    bool swap = strcmp(other, place->prefix) < 0; /* the order of a folder is not fixed */
    snprintf(text, sizeof text, "holds several DUMPI runs (%.200s, %.200s ...): name the .meta file of one",
             swap ? other : place->prefix, swap ? place->prefix : other);
    return wrong(run, text);
}

static enum fc_code find_place(struct fc_dumpi_run *run, const char *path, struct place *place)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    uint64_t rank;
    if (strlen(path) > MOST_PATH - 300) return wrong(run, "has too long a path");
    DIR *folder = opendir(path);
    if (folder) {
        closedir(folder);
        snprintf(place->folder, sizeof place->folder, "%s", path);
        if (find_prefix(run, place)) return FC_INPUT;
    } else {
        snprintf(place->folder, sizeof place->folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
        if (slash == path) strcpy(place->folder, "/");
        size_t n = ends_with(name, ".meta") ? strlen(name) - 5 : rank_of_name(name, &rank);
        place->single = n == 0;
        snprintf(place->prefix, sizeof place->prefix, "%.*s", (int)n, name);
    }
    if (place->single) return FC_OK;
    snprintf(place->meta, sizeof place->meta, "%.*s/%.*s.meta", MOST_PATH - 600, place->folder, 500, place->prefix);
    FILE *in = fopen(place->meta, "rb");
    if (in)
        fclose(in);
    else
        place->meta[0] = 0;
    return FC_OK;
}

/* Bytes of all files of the prefix. */
static uint64_t count_bytes(const struct place *place, const char *path)
{
    struct stat info;
    uint64_t rank, bytes = 0;
    if (place->single) return stat(path, &info) ? 0 : (uint64_t)info.st_size;
    DIR *folder = opendir(place->folder);
    for (struct dirent *d; folder && (d = readdir(folder));) {
        size_t n = rank_of_name(d->d_name, &rank);
        bool ours = n && !strncmp(d->d_name, place->prefix, n) && !place->prefix[n];
        if (ours && !fstatat(dirfd(folder), d->d_name, &info, 0)) bytes += (uint64_t)info.st_size;
    }
    if (folder) closedir(folder);
    return bytes;
}

/* A rank may lack its file, but a file is longer than this. */
static uint64_t most_ranks(const struct fc_dumpi_run *run)
{
    return FC_SILENT + run->sink->bytes / 64;
}

/* numprocs and fileprefix of the .meta file. */
static enum fc_code read_meta(struct fc_dumpi_run *run, struct place *place)
{
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    const char *line;
    size_t n;
    long long number = 0;
    enum fc_code code = fc_stream_open(place->meta, &s, run->st);
    while (!code && !(code = fc_stream_line(&s, &line, &n, run->st)) && line) {
        if (n > 9 && memcmp(line, "numprocs=", 9) == 0)
            code = fc_word_int(line + 9, n - 9, 1, MOST_RANKS, "numprocs", &number, fc_stream_place(&s), run->st);
        if (!code && number)
            code = fc_announced((uint64_t)number, most_ranks(run), "ranks", fc_stream_place(&s), run->st);
    }
    if (!code && !number)
        code = fc_fail(run->st, FC_INPUT, (struct fc_place){place->meta, 0},
                       "has no line numprocs=, so is no .meta file of DUMPI");
    run->n_ranks = (uint32_t)number;
    return code;
}

/* The rank and the number of ranks that a lone file knows: what MPI_Comm_rank and MPI_Comm_size answered
 * about the world. */
static enum fc_code ask_file(struct fc_dumpi_run *run, const char *path, uint32_t *rank)
{
    struct fc_dumpi_file file = {0};
    struct fc_dumpi_record record;
    bool there = true, size = run->n_ranks > 0, own = *rank != UINT32_MAX;
    enum fc_code code = fc_dumpi_open(&file, path, 0, run->st);
    while (!code && there && !(size && own)) {
        code = fc_dumpi_next(&file, &record, &there);
        if (code || !there || record.arg[0].value != FC_DUMPI_WORLD) continue;
        int64_t answer = record.arg[1].value;
        if (record.function == DUMPI_COMM_SIZE && !size) {
            if (answer < 1 || answer > MOST_RANKS)
                code = fc_dumpi_fail(&file, "MPI_Comm_size answers %" PRId64, answer);
            else if ((uint64_t)answer > most_ranks(run))
                code = fc_dumpi_fail(&file, "MPI_Comm_size answers %" PRId64 ", more ranks than the files can hold",
                                     answer);
            run->n_ranks = (uint32_t)answer;
            size = true;
        } else if (record.function == DUMPI_COMM_RANK && !own) {
            if (answer < 0 || answer >= MOST_RANKS)
                code = fc_dumpi_fail(&file, "MPI_Comm_rank answers %" PRId64, answer);
            *rank = (uint32_t)answer;
            own = true;
        }
    }
    fc_dumpi_close(&file);
    if (!code && !(size && own))
        code = fc_fail(run->st, FC_INPUT, (struct fc_place){path, 0},
                       "is one rank of a DUMPI run, but %s is not known: the program did not ask for "
                       "MPI_Comm_%s. Name it "
                       "PREFIX-0000.bin (0000: its rank) and write PREFIX.meta with a line numprocs=N beside it",
                       size ? "which one" : "of how many", size ? "rank" : "size");
    return code;
}

static enum fc_code set_path(struct fc_dumpi_run *run, uint64_t rank, const char *path)
{
    if (rank >= run->n_ranks)
        return fc_fail(run->st, FC_INPUT, (struct fc_place){path, 0},
                       "is rank %" PRIu64 " of a run of %" PRIu32 " ranks", rank, run->n_ranks);
    run->path[rank] = fc_copy_text(&run->arena, path, run->st);
    if (run->path[rank]) run->n_missing--;
    return run->path[rank] ? FC_OK : FC_NO;
}

/* Calls set_path for all files of the prefix; with run->path NULL it only keeps the path of one. */
static enum fc_code list_files(struct fc_dumpi_run *run, const struct place *place, char *one)
{
    DIR *folder = opendir(place->folder);
    enum fc_code code = folder ? FC_OK : wrong(run, strerror(errno));
    char path[2 * MOST_PATH];
    uint64_t rank;
    for (struct dirent *d; !code && (d = readdir(folder));) {
        size_t n = rank_of_name(d->d_name, &rank);
        if (!n || strncmp(d->d_name, place->prefix, n) || place->prefix[n]) continue;
        snprintf(path, sizeof path, "%s/%s", place->folder, d->d_name);
        if (run->path)
            code = set_path(run, rank, path);
        else if (!one[0] || strcmp(path, one) < 0)
            snprintf(one, MOST_PATH, "%.*s", MOST_PATH - 1, path);
    }
    if (folder) closedir(folder);
    return code;
}

static enum fc_code find_files(struct fc_dumpi_run *run, const char *path, const struct place *place)
{
    char one[MOST_PATH] = "";
    uint32_t rank = place->single ? UINT32_MAX : 0;
    if (!place->single && list_files(run, place, one)) return run->st->code;
    if (!place->single && !one[0]) return wrong(run, "there is no PREFIX-0000.bin, PREFIX-0001.bin ... beside it");
    if (!run->n_ranks || place->single)
        if (ask_file(run, place->single ? path : one, &rank)) return run->st->code;
    run->n_missing = run->n_ranks;
    run->path = fc_alloc(&run->arena, run->n_ranks, sizeof *run->path, run->st);
    if (!run->path) return FC_NO;
    return place->single ? set_path(run, rank, path) : list_files(run, place, one);
}

static enum fc_code note_missing(struct fc_dumpi_run *run)
{
    char text[160];
    size_t used = 0;
    if (!run->n_missing) return FC_OK;
    for (uint32_t r = 0, last; r < run->n_ranks && used < 90; r = last + 1) {
        last = r;
        if (run->path[r]) continue;
        while (last + 1 < run->n_ranks && !run->path[last + 1]) last++;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32, used ? ", " : "ranks without a file: ", r);
        if (last > r) used += (size_t)snprintf(text + used, sizeof text - used, "-%" PRIu32, last);
        if (used >= 90) used += (size_t)snprintf(text + used, sizeof text - used, " ...");
    }
    return fc_sink_note(run->sink, text, 1);
}

/* ---- looking over all files ---- */

struct overview {
    uint64_t ignored[FC_DUMPI_COUNTED];
    char program[1024], origin[400];
    bool begun;
};

static void describe(const struct fc_dumpi_run *run, const struct fc_dumpi_file *file, struct overview *o)
{
    time_t when = (time_t)file->started_s;
    struct tm utc;
    char date[40] = "";
    if (when > 0 && gmtime_r(&when, &utc)) strftime(date, sizeof date, "; %Y-%m-%d %H:%M UTC", &utc);
    snprintf(o->origin, sizeof o->origin, "DUMPI %d.%d.%d; %" PRIu32 " ranks%s%s%s", file->version[0], file->version[1],
             file->version[2], run->n_ranks, file->host[0] ? "; first on " : "", file->host, date);
}

static enum fc_code look_over_file(struct fc_dumpi_run *run, struct fc_dumpi_file *file, struct overview *o)
{
    struct fc_dumpi_record record;
    bool there;
    int parent;
    for (int f = 0; f < FC_DUMPI_COUNTED; f++) {
        o->ignored[f] += file->ignored[f];
        if (fc_dumpi_makes_comm(f, &parent) >= 0 && (file->called[f] || !file->footer)) run->makes_comms = true;
    }
    if (!o->origin[0]) describe(run, file, o);
    if (fc_dumpi_next(file, &record, &there)) return run->st->code;
    if (!there) return FC_OK;
    if (record.has_wall && (!o->begun || record.wall_enter_ns < run->start_ns)) {
        run->start_ns = record.wall_enter_ns;
        o->begun = true;
    }
    int argv = record.function == DUMPI_INIT || record.function == DUMPI_INIT_THREAD ? 0 : -1;
    if (argv == 0 && !o->program[0]) fc_dumpi_text(file, &record.arg[0], o->program, sizeof o->program);
    return FC_OK;
}

static enum fc_code look_over(struct fc_dumpi_run *run, struct overview *o)
{
    enum fc_code code = FC_OK;
    for (uint32_t r = 0; !code && r < run->n_ranks; r++) {
        struct fc_dumpi_file file = {0};
        if (!run->path[r]) continue;
        code = fc_dumpi_open(&file, run->path[r], r, run->st);
        if (!code) code = look_over_file(run, &file, o);
        fc_dumpi_close(&file);
    }
    return code;
}

static bool is_noted(int function)
{
    bool own = function == DUMPI_COMM_SIZE || function == DUMPI_COMM_RANK || function == DUMPI_REQUEST_FREE ||
               function == DUMPI_CANCEL || (function >= DUMPI_TYPE_CONTIGUOUS && function <= DUMPI_TYPE_STRUCT) ||
               function == DUMPI_TYPE_DUP || (function >= DUMPI_TYPE_DARRAY && function <= DUMPI_TYPE_SUBARRAY) ||
               (function >= DUMPI_COMM_GROUP && function <= DUMPI_GROUP_RANGE_EXCL);
    return !own && fc_dumpi_functions[function].class != FC_DUMPI_LOCAL;
}

/* Calls that the tracer was told not to record. */
static enum fc_code note_ignored(struct fc_dumpi_run *run, const struct overview *o)
{
    char text[120];
    for (int f = 0; f < FC_DUMPI_COUNTED - 1; f++) {
        if (!o->ignored[f] || !is_noted(f)) continue;
        snprintf(text, sizeof text, "%s was called and not recorded", fc_dumpi_functions[f].name);
        if (fc_sink_note(run->sink, text, o->ignored[f])) return run->st->code;
    }
    return FC_OK;
}

static enum fc_code start_sink(struct fc_dumpi_run *run, const struct overview *o)
{
    int32_t world;
    if (fc_sink_start(run->sink, run->n_ranks, o->program, o->origin)) return run->st->code;
    uint32_t *member = fc_alloc(&run->arena, run->n_ranks, sizeof *member, run->st);
    run->made = fc_alloc(&run->arena, run->n_ranks, sizeof *run->made, run->st);
    if (!member || !run->made) return FC_NO;
    for (uint32_t r = 0; r < run->n_ranks; r++) {
        member[r] = r;
        if (run->path[r] && fc_sink_file(run->sink, r, run->path[r])) return run->st->code;
    }
    if (fc_dumpi_add_comm(run, member, run->n_ranks, NULL, 0, &world)) return run->st->code;
    if (note_missing(run) || note_ignored(run, o)) return run->st->code;
    return run->makes_comms ? fc_dumpi_find_comms(run) : FC_OK;
}

static enum fc_code read_ranks(struct fc_dumpi_run *run)
{
    struct fc_dumpi_reader r = {.run = run};
    r.comm = malloc(MOST_HANDLES * sizeof *r.comm);
    r.window = malloc(MOST_HANDLES * sizeof *r.window);
    enum fc_code code = r.comm && r.window ? FC_OK : fc_out_of_memory(run->st, "reading a trace");
    for (uint32_t rank = 0; !code && rank < run->n_ranks; rank++) {
        if (!run->path[rank]) continue;
        code = fc_dumpi_open(&r.file, run->path[rank], rank, run->st);
        if (!code) code = fc_dumpi_read_rank(&r);
        fc_dumpi_close(&r.file);
    }
    fc_hold_free(&r.hold);
    free(r.type_size);
    free(r.list);
    free(r.comm);
    free(r.window);
    return code;
}

static enum fc_code read_dumpi(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    (void)options;
    struct fc_dumpi_run run = {.sink = sink, .st = sink->st};
    struct place *place = calloc(1, sizeof *place);
    struct overview *o = calloc(1, sizeof *o);
    enum fc_code code = place && o ? FC_OK : fc_out_of_memory(sink->st, "reading a trace");
    if (!code) code = find_place(&run, path, place);
    if (!code) sink->bytes = count_bytes(place, path);
    if (!code && place->meta[0]) code = read_meta(&run, place);
    if (!code) code = find_files(&run, path, place);
    if (!code) code = look_over(&run, o);
    if (!code) code = start_sink(&run, o);
    if (!code) code = read_ranks(&run);
    for (uint32_t r = 0; run.made && r < run.n_ranks; r++) free(run.made[r].comm);
    free(run.comm);
    free(place);
    free(o);
    fc_arena_free(&run.arena);
    return code;
}

const struct fc_trace_format fc_format_dumpi = {
    .name = "dumpi",
    .what = "DUMPI (SST/macro, CODES): PREFIX.meta, a PREFIX-0000.bin, or the folder",
    .is = is_dumpi,
    .read = read_dumpi,
};
