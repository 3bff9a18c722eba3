/* trace_sink.c - collects a foreign trace: events rank by rank, communicators, notes; in memory, or, once it has grown too
 * long for a source, in a temporary file in blocks (trace_blocks.h).
 *
 * In memory each rank has a chain of pieces that double up to 64 Ki events; closing copies them into one array, rank-major, and frees each
 * piece behind the copy, so the peak is the trace and one rank of it. */
#include "core/array.h"
#include "traces/trace_blocks.h"
#include "traces/trace_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_PIECE = 4, LARGEST_PIECE = 1 << 16, MOST_RANKS = 1 << 26 };

struct piece {
    struct piece *next;
    uint32_t n, capacity;
    struct fc_event event[];
};
struct fc_sink_rank {
    struct piece *first, *last;
    uint64_t n_events;
    int32_t n_requests;
    int64_t *list;
    uint64_t n_list, list_capacity;
};
struct fc_sink_comm {
    struct fc_sink_comm *before;
    uint32_t n;
    uint32_t member[];
};
struct fc_sink_note {
    struct fc_sink_note *before;
    uint64_t times;
    char text[];
};

static enum fc_code no_memory(struct fc_status *st)
{
    return fc_out_of_memory(st, "reading a trace");
}

enum fc_code fc_sink_start(struct fc_trace_sink *sink, uint32_t n_ranks, const char *program, const char *recorded)
{
    struct fc_trace *t = sink->trace;
    struct fc_place where = {t->file, 0};
    if (n_ranks < 1 || n_ranks > MOST_RANKS)
        return fc_fail(sink->st, FC_INPUT, where, "%" PRIu32 " ranks (allowed: 1 to %d)", n_ranks, MOST_RANKS);
    if (fc_announced(n_ranks, FC_SILENT + sink->bytes / 4, "ranks", where, sink->st)) return sink->st->code;
    t->n_ranks = n_ranks;
    t->program = fc_copy_text(&t->arena, program ? program : "", sink->st);
    t->recorded = fc_copy_text(&t->arena, recorded ? recorded : "", sink->st);
    sink->ranks = fc_alloc(&sink->scratch, n_ranks, sizeof *sink->ranks, sink->st);
    uint32_t *world = fc_alloc(&sink->scratch, n_ranks, sizeof *world, sink->st);
    int32_t comm;
    if (!t->program || !t->recorded || !sink->ranks || !world) return FC_NO;
    for (uint32_t r = 0; r < n_ranks; r++) world[r] = r;
    return fc_sink_comm(sink, world, n_ranks, &comm);
}

void fc_sink_graph(struct fc_trace_sink *sink)
{
    sink->trace->graph = true;
}

enum fc_code fc_sink_speeds(struct fc_trace_sink *sink, const struct fc_trace_options *options)
{
    sink->trace->operations = true;
    if (options->n_speeds > 1 && options->n_speeds != sink->trace->n_ranks)
        return fc_fail(sink->st, FC_INPUT, (struct fc_place){sink->trace->file, 0},
                       "%" PRIu32 " speeds for %" PRIu32 " ranks (expected one for all, or one for each)",
                       options->n_speeds, sink->trace->n_ranks);
    for (uint32_t r = 0; r < (options->n_speeds > 1 ? options->n_speeds : 1); r++)
        if (!(fc_speed_of(options, r) > 0 && isfinite(fc_speed_of(options, r))))
            return fc_refuse(sink->st, FC_INPUT, "a speed of %g operations/s (expected above 0)",
                             fc_speed_of(options, r));
    return FC_OK;
}

double fc_sink_seconds(struct fc_trace_sink *sink, const struct fc_trace_options *options, uint32_t rank,
                       double operations)
{
    if (!options->n_speeds && operations > 0) sink->trace->assumed_flops_per_s = options->flops_per_s;
    return operations / fc_speed_of(options, rank);
}

enum fc_code fc_sink_file(struct fc_trace_sink *sink, uint32_t rank, const char *path)
{
    struct fc_trace *t = sink->trace;
    if (!t->rank_file) {
        t->rank_file = fc_alloc(&t->arena, t->n_ranks, sizeof *t->rank_file, sink->st);
        if (!t->rank_file) return FC_NO;
        for (uint32_t r = 0; r < t->n_ranks; r++) t->rank_file[r] = t->file;
    }
    const char *copy = fc_copy_text(&t->arena, path, sink->st);
    if (!copy) return FC_NO;
    t->rank_file[rank] = copy;
    return FC_OK;
}

enum fc_code fc_sink_comm(struct fc_trace_sink *sink, const uint32_t *member, uint32_t n, int32_t *comm)
{
    sink->n_members += n;
    if (fc_announced(sink->n_members, fc_members_room(sink->bytes), "members of communicators",
                     (struct fc_place){sink->trace->file, 0}, sink->st))
        return sink->st->code;
    struct fc_sink_comm *c = fc_alloc(&sink->scratch, 1, sizeof *c + n * sizeof *c->member, sink->st);
    if (!c) return FC_NO;
    for (uint32_t i = 0; i < n; i++)
        if (member[i] >= sink->trace->n_ranks)
            return fc_fail(sink->st, FC_INPUT, (struct fc_place){sink->trace->file, 0},
                           "communicator %" PRIu32 " has member %" PRIu32 " (there are %" PRIu32 " ranks)",
                           sink->n_comms, member[i], sink->trace->n_ranks);
    c->before = sink->comms;
    c->n = n;
    memcpy(c->member, member, n * sizeof *member);
    sink->comms = c;
    *comm = (int32_t)sink->n_comms++;
    return FC_OK;
}

static enum fc_code add_list(struct fc_trace_sink *sink, struct fc_sink_rank *rank, const int64_t *list, uint32_t n)
{
    if (!FC_GROW(rank->list, rank->list_capacity, rank->n_list + n)) return no_memory(sink->st);
    memcpy(rank->list + rank->n_list, list, n * sizeof *list);
    rank->n_list += n;
    return FC_OK;
}

static enum fc_code add_piece(struct fc_trace_sink *sink, struct fc_sink_rank *rank)
{
    uint32_t capacity = rank->last ? 2 * rank->last->capacity : FIRST_PIECE;
    if (capacity > LARGEST_PIECE) capacity = LARGEST_PIECE;
    struct piece *piece = malloc(sizeof *piece + capacity * sizeof *piece->event);
    if (!piece) return no_memory(sink->st);
    piece->next = NULL;
    piece->n = 0;
    piece->capacity = capacity;
    if (rank->last)
        rank->last->next = piece;
    else
        rank->first = piece;
    rank->last = piece;
    return FC_OK;
}

static void free_rank(struct fc_sink_rank *rank)
{
    for (struct piece *p = rank->first, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    free(rank->list);
    rank->first = rank->last = NULL;
    rank->list = NULL;
}

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

/* A file that is gone when it is closed. */
static FILE *temporary_file(struct fc_status *st)
{
    const char *folder = temporary_folder();
    char name[512];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && snprintf(name, sizeof name, "%s/fabricast-XXXXXX", folder) < (int)sizeof name) {
        fd = mkostemp(name, O_CLOEXEC);
        if (fd >= 0) unlink(name);
    }
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!file) {
        fc_refuse(st, FC_NO, "no temporary file in %s for a trace that is larger than memory should hold: %s", folder,
                  strerror(errno));
        if (fd >= 0) close(fd);
    }
    return file;
}

/* Moves what is in memory into a temporary file, where all that follows goes too. */
static enum fc_code start_spool(struct fc_trace_sink *sink)
{
    const struct fc_trace *t = sink->trace;
    struct fc_block_writer *w = fc_alloc(&sink->scratch, 1, sizeof *w, sink->st);
    sink->spool_file = w ? temporary_file(sink->st) : NULL;
    if (!sink->spool_file) return sink->st->code;
    sink->spool = w;
    fc_blocks_start(w, sink->spool_file, t->n_ranks, t->graph, FC_LEVEL_SPOOL, sink->st);
    w->folder = temporary_folder();
    for (uint32_t r = 0; !sink->st->code && r < t->n_ranks; r++) {
        struct fc_sink_rank *rank = &sink->ranks[r];
        for (const struct piece *p = rank->first; p; p = p->next)
            for (uint32_t i = 0; i < p->n; i++)
                if (fc_blocks_event(w, r, &p->event[i], fc_event_list(rank->list, &p->event[i]))) return sink->st->code;
        free_rank(rank);
    }
    return sink->st->code;
}

/* Blocks do not hold the numbers of requests, so they must be right now. */
static enum fc_code wrong_request(const struct fc_trace_sink *sink, uint32_t rank, const struct fc_event *event)
{
    const struct fc_trace *t = sink->trace;
    const struct fc_sink_rank *r = &sink->ranks[rank];
    struct fc_place where = {t->rank_file ? t->rank_file[rank] : t->file, 0};
    if (t->first_line) where.line = t->first_line[rank] + (long)r->n_events;
    return fc_fail(sink->st, FC_INPUT, where, "request %" PRId32 " of %s (expected %" PRId32 ": requests count up)",
                   event->request, fc_op_names[event->op], r->n_requests);
}

enum fc_code fc_sink_event(struct fc_trace_sink *sink, uint32_t rank, const struct fc_event *event, const int64_t *list)
{
    struct fc_sink_rank *r = &sink->ranks[rank];
    if (!sink->trace->graph && fc_makes_request(event->op, event->mode)) {
        if (event->request != r->n_requests) return wrong_request(sink, rank, event);
        r->n_requests++;
    }
    r->n_events++;
    if (sink->memory_events && sink->n_events++ == sink->memory_events && start_spool(sink)) return sink->st->code;
    if (sink->spool) return fc_blocks_event(sink->spool, rank, event, list);
    if ((!r->last || r->last->n == r->last->capacity) && add_piece(sink, r)) return sink->st->code;
    struct fc_event *e = &r->last->event[r->last->n++];
    *e = *event;
    e->list = r->n_list;
    return event->n_list ? add_list(sink, r, list, event->n_list) : FC_OK;
}

uint64_t fc_sink_events(const struct fc_trace_sink *sink, uint32_t rank)
{
    return sink->ranks[rank].n_events;
}

int32_t fc_sink_requests(const struct fc_trace_sink *sink, uint32_t rank)
{
    return sink->ranks[rank].n_requests;
}

enum fc_code fc_sink_note(struct fc_trace_sink *sink, const char *text, uint64_t times)
{
    for (struct fc_sink_note *n = sink->notes; n; n = n->before)
        if (strcmp(n->text, text) == 0) {
            n->times += times;
            return FC_OK;
        }
    struct fc_sink_note *note = fc_alloc(&sink->scratch, 1, sizeof *note + strlen(text) + 1, sink->st);
    if (!note) return FC_NO;
    note->before = sink->notes;
    note->times = times;
    strcpy(note->text, text);
    sink->notes = note;
    return FC_OK;
}

enum fc_code fc_sink_head(struct fc_trace_sink *sink, const struct fc_trace *head)
{
    struct fc_trace *t = sink->trace;
    int32_t comm;
    if (fc_sink_start(sink, head->n_ranks, head->program, head->recorded)) return sink->st->code;
    if (head->graph) fc_sink_graph(sink);
    for (uint32_t c = 1; c < head->n_comms; c++)
        if (fc_sink_comm(sink, head->comm_member + head->comm_first[c],
                         (uint32_t)(head->comm_first[c + 1] - head->comm_first[c]), &comm))
            return sink->st->code;
    for (uint32_t i = 0; i < head->n_unwrapped; i++)
        if (fc_sink_note(sink, head->unwrapped[i], 0)) return sink->st->code;
    t->first_line = fc_alloc(&t->arena, t->n_ranks, sizeof *t->first_line, sink->st);
    return sink->st->code;
}

/* ---- closing ---- */

static enum fc_code close_comms(struct fc_trace_sink *sink)
{
    struct fc_trace *t = sink->trace;
    uint64_t members = 0;
    for (const struct fc_sink_comm *c = sink->comms; c; c = c->before) members += c->n;
    t->n_comms = sink->n_comms;
    t->comm_first = fc_alloc(&t->arena, (size_t)t->n_comms + 1, sizeof *t->comm_first, sink->st);
    t->comm_member = fc_alloc(&t->arena, members, sizeof *t->comm_member, sink->st);
    if (!t->comm_first || !t->comm_member) return FC_NO;
    t->comm_first[t->n_comms] = members;
    uint32_t k = t->n_comms;
    for (const struct fc_sink_comm *c = sink->comms; c; c = c->before) {
        t->comm_first[--k] = members -= c->n;
        memcpy(t->comm_member + members, c->member, c->n * sizeof *c->member);
    }
    return FC_OK;
}

static enum fc_code close_notes(struct fc_trace_sink *sink)
{
    struct fc_trace *t = sink->trace;
    uint32_t n = 0;
    for (const struct fc_sink_note *note = sink->notes; note; note = note->before) n++;
    t->unwrapped = fc_alloc(&t->arena, n, sizeof *t->unwrapped, sink->st);
    if (!t->unwrapped) return FC_NO;
    t->n_unwrapped = n;
    for (const struct fc_sink_note *note = sink->notes; note; note = note->before) {
        size_t size = strlen(note->text) + 40;
        char *text = fc_alloc(&t->arena, size, 1, sink->st);
        if (!text) return FC_NO;
        if (note->times == 0)
            snprintf(text, size, "%s", note->text);
        else if (note->times == 1)
            snprintf(text, size, "(%s)", note->text);
        else
            snprintf(text, size, "(%" PRIu64 " times: %s)", note->times, note->text);
        t->unwrapped[--n] = text;
    }
    return FC_OK;
}

static void close_rank(struct fc_trace *t, struct fc_sink_rank *rank, struct fc_event *to)
{
    for (struct piece *p = rank->first, *next; p; p = next) {
        next = p->next;
        for (uint32_t i = 0; i < p->n; i++) {
            to[i] = p->event[i];
            to[i].list = to[i].n_list ? to[i].list + t->n_lists : 0;
        }
        to += p->n;
        free(p);
    }
    if (rank->n_list) memcpy(t->lists + t->n_lists, rank->list, rank->n_list * sizeof *rank->list);
    t->n_lists += rank->n_list;
    free(rank->list);
    *rank = (struct fc_sink_rank){0};
}

static enum fc_code close_events(struct fc_trace_sink *sink)
{
    struct fc_trace *t = sink->trace;
    uint64_t n_lists = 0;
    t->first_event = fc_alloc(&t->arena, (size_t)t->n_ranks + 1, sizeof *t->first_event, sink->st);
    if (!t->first_event) return FC_NO;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        t->first_event[r + 1] = t->first_event[r] + sink->ranks[r].n_events;
        n_lists += sink->ranks[r].n_list;
    }
    if (sink->spool) return FC_OK;
    t->events = fc_alloc(&t->arena, t->first_event[t->n_ranks], sizeof *t->events, sink->st);
    t->lists = fc_alloc(&t->arena, n_lists, sizeof *t->lists, sink->st);
    if (!t->events || !t->lists) return FC_NO;
    for (uint32_t r = 0; r < t->n_ranks; r++) close_rank(t, &sink->ranks[r], t->events + t->first_event[r]);
    return FC_OK;
}

static void abandon(struct fc_trace_sink *sink)
{
    for (uint32_t r = 0; sink->ranks && r < sink->trace->n_ranks; r++) free_rank(&sink->ranks[r]);
    if (sink->spool) fc_blocks_free(sink->spool);
    if (sink->spool_file) fclose(sink->spool_file);
    fc_arena_free(&sink->scratch);
}

static enum fc_code fill(struct fc_trace_sink *sink, const struct fc_trace_format *format,
                         const struct fc_trace_options *options)
{
    enum fc_code code = format->read(sink->trace->file, options, sink);
    if (!code && !sink->ranks)
        code = fc_fail(sink->st, FC_FAULT, (struct fc_place){sink->trace->file, 0}, "the reader of %s found no ranks",
                       format->name);
    if (!code) code = close_comms(sink);
    if (!code) code = close_notes(sink);
    return code ? code : close_events(sink);
}

enum fc_code fc_trace_read_foreign(const struct fc_trace_format *format, const struct fc_trace_options *options,
                                   struct fc_trace *trace, struct fc_status *st)
{
    struct fc_trace_sink sink = {.st = st, .trace = trace};
    enum fc_code code = fill(&sink, format, options);
    abandon(&sink);
    return code;
}

/* Takes the temporary file and its blocks out of the sink. */
static enum fc_code open_spool(struct fc_trace_sink *sink, struct fc_trace *trace, struct fc_trace_source *source)
{
    struct fc_status *st = sink->st;
    if (fc_blocks_flush(sink->spool)) return st->code;
    if (fflush(sink->spool_file) != 0 || ferror(sink->spool_file)) return fc_blocks_fail(sink->spool, errno);
    int fd = dup(fileno(sink->spool_file));
    if (fd < 0) return fc_refuse(st, FC_NO, "the temporary file of a trace: %s", strerror(errno));
    return fc_source_spooled(fd, trace, sink->spool, source, st);
}

enum fc_code fc_source_foreign(const struct fc_trace_format *format, const struct fc_trace_options *options,
                               struct fc_trace *trace, struct fc_trace_source *source, struct fc_status *st)
{
    struct fc_trace_sink sink = {.st = st, .trace = trace, .memory_events = options->memory_events};
    enum fc_code code = fill(&sink, format, options);
    if (!code && sink.spool) code = open_spool(&sink, trace, source);
    if (!code && !sink.spool) code = fc_trace_check(trace, st);
    bool spooled = sink.spool != NULL;
    abandon(&sink);
    if (!code && !spooled) return fc_source_own(trace, source, st);
    if (code) fc_trace_free(trace);
    return code;
}
