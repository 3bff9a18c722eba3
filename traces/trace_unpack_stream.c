/* trace_unpack_stream.c - version 1 of the packed form (layout: trace_pack.h) as it streams by, into a sink.
 *
 * The columns of one rank are in memory at once, packed as they are (some ten bytes an event), up to 1 GiB. */
#include "traces/trace_formats.h"
#include "traces/trace_pack.h"

#include "core/stream.h"

#include <inttypes.h>
#include <stdlib.h>

struct reader {
    struct fc_stream s;
    struct fc_trace_sink *sink;
    struct fc_status *st;
    struct fc_trace head;
    int64_t *list;
    size_t list_capacity;
};

static enum fc_code damaged(const struct reader *r, const char *what)
{
    return fc_fail(r->st, FC_INPUT, (struct fc_place){r->head.file, 0}, "the packed trace is damaged: %s", what);
}

/* The number at `offset` behind the stream's next byte; *offset steps over it. */
static enum fc_code number_at(struct reader *r, size_t *offset, const char *what, uint64_t *value)
{
    size_t there;
    if (fc_stream_need(&r->s, *offset + 10, &there, r->st)) return r->st->code;
    struct fc_column_in in = {r->s.next + (there < *offset ? there : *offset), r->s.next + there, false};
    *value = fc_column_get(&in);
    if (in.bad) return damaged(r, what);
    *offset = (size_t)(in.at - r->s.next);
    return FC_OK;
}

/* A block with its length: *first gets its offset, *offset steps over it. */
static enum fc_code block_at(struct reader *r, size_t *offset, const char *what, size_t *first)
{
    uint64_t size;
    size_t there;
    if (number_at(r, offset, what, &size)) return r->st->code;
    if (size > UINT32_MAX || fc_stream_need(&r->s, *offset + size, &there, r->st))
        return r->st->code ? r->st->code : damaged(r, what);
    if (there < *offset + size) return damaged(r, what);
    *first = *offset;
    *offset += size;
    return FC_OK;
}

static enum fc_code read_head(struct reader *r)
{
    size_t offset = 0, first = 0;
    uint64_t n, sum = 0;
    if (block_at(r, &offset, "its head", &first)) return r->st->code;
    struct fc_text text = {r->head.file, (const char *)r->s.next + first, offset - first};
    struct fc_lines lines;
    fc_lines_start(&lines, &text);
    r->sink->bytes = fc_stream_bytes(&r->s);
    struct fc_head_room room = {FC_SILENT + r->sink->bytes / 4, INT64_MAX, fc_members_room(r->sink->bytes)};
    if (fc_read_head(&lines, room, &r->head, r->st)) return r->st->code;
    if (lines.next != lines.end) return damaged(r, "text behind the end of the head");
    fc_stream_skip(&r->s, offset);
    offset = 0;
    if (fc_sink_head(r->sink, &r->head) || number_at(r, &offset, "the number of list entries", &n)) return r->st->code;
    fc_stream_skip(&r->s, offset);
    for (uint32_t k = 0; k < r->head.n_ranks; k++) {
        offset = 0;
        if (number_at(r, &offset, "the numbers of events", &n)) return r->st->code;
        fc_stream_skip(&r->s, offset);
        r->head.first_event[k] = sum;
        r->sink->trace->first_line[k] = lines.line + 2 + (long)k + (long)sum;
        if (n > r->head.first_event[r->head.n_ranks] - sum)
            return damaged(r, "the numbers of events do not fit the head");
        sum += n;
    }
    return sum == r->head.first_event[r->head.n_ranks] ? FC_OK
                                                       : damaged(r, "the numbers of events do not fit the head");
}

static enum fc_code read_events(struct reader *r, uint32_t rank, struct fc_column_in *column, uint64_t n)
{
    struct fc_column_base base = {0};
    int n_columns = fc_n_columns(r->head.graph);
    for (uint64_t i = 0; i < n; i++) {
        struct fc_event e;
        struct fc_lists_in lists = {r->list, r->list_capacity, 0};
        struct fc_place where = {r->head.file, r->sink->trace->first_line[rank] + (long)i};
        if (!fc_columns_get(column, rank, r->head.graph, &e, &lists, &base))
            return fc_fail(r->st, FC_INPUT, where, "op number %d is unknown", e.op);
        for (int c = 0; c < n_columns; c++)
            if (column[c].bad)
                return fc_fail(r->st, FC_INPUT, where,
                               "the packed trace is damaged: the %s of rank %" PRIu32
                               " end early or hold a number that is none",
                               fc_column_names[c], rank);
        if (fc_sink_event(r->sink, rank, &e, r->list)) return r->st->code;
    }
    for (int c = 0; c < n_columns; c++)
        if (column[c].at != column[c].end) return damaged(r, "columns of a rank that are longer than its events");
    return FC_OK;
}

static enum fc_code read_rank(struct reader *r, uint32_t rank)
{
    struct fc_column_in column[FC_N_COLUMNS];
    size_t first[FC_N_COLUMNS], end[FC_N_COLUMNS], offset = 0;
    int n_columns = fc_n_columns(r->head.graph);
    uint64_t n = r->head.first_event[rank + 1] - r->head.first_event[rank];
    char what[64];
    snprintf(what, sizeof what, "the events of rank %" PRIu32, rank);
    for (int c = 0; c < n_columns; c++) {
        if (block_at(r, &offset, what, &first[c])) return r->st->code;
        end[c] = offset;
    }
    for (int c = 0; c < n_columns; c++)
        column[c] = (struct fc_column_in){r->s.next + first[c], r->s.next + end[c], false};
    if (end[FC_COL_KIND] - first[FC_COL_KIND] != n) return damaged(r, what);
    size_t most = end[FC_COL_LIST] - first[FC_COL_LIST] + 1; /* an entry costs a byte */
    if (most > r->list_capacity) {
        int64_t *larger = realloc(r->list, most * sizeof *larger);
        if (!larger) return fc_out_of_memory(r->st, "the lists of rank %" PRIu32, rank);
        r->list = larger;
        r->list_capacity = most;
    }
    if (read_events(r, rank, column, n)) return r->st->code;
    fc_stream_skip(&r->s, offset);
    return FC_OK;
}

static enum fc_code stream_packed(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    struct reader r = {.sink = sink, .st = sink->st, .head.file = sink->trace->file};
    size_t there = 0;
    (void)options;
    if (!fc_stream_open_at(path, HEAD_BYTES, &r.s, r.st)) read_head(&r);
    for (uint32_t k = 0; !r.st->code && k < r.head.n_ranks; k++) read_rank(&r, k);
    if (!r.st->code && !fc_stream_need(&r.s, 1, &there, r.st) && there) damaged(&r, "bytes behind its last rank");
    fc_stream_close(&r.s);
    free(r.list);
    fc_arena_free(&r.head.arena);
    return sink->st->code;
}

const struct fc_trace_format fc_own_packed_format = {.name = "fct", .what = "our trace, packed", .read = stream_packed};
