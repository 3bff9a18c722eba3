/* trace_unpack.c - reads version 1 of the packed form of a trace (layout: trace_pack.h).
 *
 * Sizes are believed only as far as bytes back them: an event and a list's entry cost a byte of the payload
 * each, and the payload's own size must agree with zstd's and fit memory. Limits: a rank's columns are one
 * piece, so from a file cut in the middle the last good record is the last one of the last whole rank. */
#include "traces/trace_pack.h"

#include <inttypes.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

struct unpacker {
    struct fc_column_in in; /* rest of the payload */
    size_t size;            /* of the payload as announced and allocated; `in` may end before it */
    struct fc_trace *trace;
    struct fc_status *st;
    const char *why; /* why the payload is shorter than announced; NULL: it is whole */
    struct fc_lists_in lists;
};

bool fc_is_packed(const struct fc_text *text)
{
    return text->size >= 8 && memcmp(text->data, FC_PACKED_MAGIC, 8) == 0;
}

/* Decompresses what can be: returns the bytes, *why tells why they are fewer than `size`. */
static size_t decompress(const struct fc_text *text, unsigned char *data, size_t size, const char **why)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    ZSTD_inBuffer in = {text->data, text->size, HEAD_BYTES};
    ZSTD_outBuffer out = {data, size, 0};
    size_t left = 1;
    static const char no_memory[] = "unreadable: out of memory";
    *why = NULL;
    while (zstd && in.pos < in.size && left != 0) {
        size_t before = in.pos + out.pos;
        left = ZSTD_decompressStream(zstd, &out, &in);
        if (ZSTD_isError(left)) *why = ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? no_memory : "damaged";
        if (*why || (left && in.pos + out.pos == before)) break;
    }
    if (!*why && (!zstd || left != 0)) *why = zstd ? "cut in the middle" : no_memory;
    if (*why == no_memory) fc_out_of_memory(&(struct fc_status){0}, "unpacking %s", text->file);
    if (!*why && (out.pos != size || in.pos != in.size)) *why = "damaged";
    ZSTD_freeDCtx(zstd);
    return out.pos;
}

static enum fc_code damaged(const struct unpacker *u, struct fc_place where, const char *what)
{
    if (u->why)
        return fc_fail(u->st, FC_INPUT, where,
                       "the packed trace is %s: it ends within %s (this is the last good "
                       "record)",
                       u->why, what);
    return fc_fail(u->st, FC_INPUT, where, "the packed trace is damaged: %s end early or hold a number that is none",
                   what);
}

static enum fc_code get_head(struct unpacker *u, long *n_lines)
{
    struct fc_column_in block;
    struct fc_trace *trace = u->trace;
    if (!fc_column_get_block(&u->in, &block)) return damaged(u, (struct fc_place){trace->file, 1}, "the head");
    struct fc_text text = {trace->file, (const char *)block.at, (size_t)(block.end - block.at)};
    struct fc_lines lines;
    fc_lines_start(&lines, &text);
    /* a rank costs a count and its columns' sizes, an event a byte in each of at least four columns */
    struct fc_head_room room = {u->size / 4, u->size / 4, fc_members_room(u->size)};
    if (fc_read_head(&lines, room, trace, u->st)) return u->st->code;
    if (lines.next != lines.end)
        return fc_fail(u->st, FC_INPUT, fc_lines_place(&lines), "text behind the end of the head");
    *n_lines = lines.line;
    return FC_OK;
}

/* Events a rank and their lines in the text form. */
static enum fc_code get_counts(struct unpacker *u, long n_lines)
{
    struct fc_trace *trace = u->trace;
    uint64_t total = trace->first_event[trace->n_ranks], sum = 0;
    u->lists.n = fc_column_get(&u->in);
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        uint64_t n = fc_column_get(&u->in);
        trace->first_event[r] = sum;
        trace->first_line[r] = n_lines + 2 + (long)r + (long)sum;
        if (n > total - sum) u->in.bad = true;
        if (u->in.bad) return damaged(u, (struct fc_place){trace->file, n_lines}, "the numbers of events");
        sum += n;
    }
    if (sum != total || u->lists.n > u->size)
        return fc_fail(u->st, FC_INPUT, (struct fc_place){trace->file, n_lines},
                       "the packed trace is damaged: the numbers of events do not fit the head");
    return FC_OK;
}

static enum fc_code get_rank(struct unpacker *u, uint32_t rank)
{
    struct fc_trace *trace = u->trace;
    struct fc_column_in column[FC_N_COLUMNS];
    struct fc_column_base base = {0};
    struct fc_place last = {trace->file, trace->first_line[rank] - 1};
    char what[64];
    int n_columns = fc_n_columns(trace->graph);
    uint64_t first = trace->first_event[rank], n = trace->first_event[rank + 1] - first;
    snprintf(what, sizeof what, "the events of rank %" PRIu32, rank);
    for (int c = 0; c < n_columns; c++)
        if (!fc_column_get_block(&u->in, &column[c])) return damaged(u, last, what);
    if ((uint64_t)(column[FC_COL_KIND].end - column[FC_COL_KIND].at) != n) return damaged(u, last, what);
    for (uint64_t i = 0; i < n; i++) {
        struct fc_place where = {trace->file, trace->first_line[rank] + (long)i};
        if (!fc_columns_get(column, rank, trace->graph, &trace->events[first + i], &u->lists, &base))
            return fc_fail(u->st, FC_INPUT, where, "op number %d is unknown", trace->events[first + i].op);
        for (int c = 0; c < n_columns; c++)
            if (column[c].bad) {
                snprintf(what, sizeof what, "the %s of rank %" PRIu32, fc_column_names[c], rank);
                return damaged(u, where, what);
            }
    }
    for (int c = 0; c < n_columns; c++)
        if (column[c].at != column[c].end) return damaged(u, last, what);
    return FC_OK;
}

static enum fc_code unpack(struct unpacker *u)
{
    struct fc_trace *trace = u->trace;
    long n_lines = 0;
    if (get_head(u, &n_lines) || get_counts(u, n_lines)) return u->st->code;
    trace->lists = fc_alloc(&trace->arena, u->lists.n, sizeof *trace->lists, u->st);
    trace->events = fc_alloc(&trace->arena, trace->first_event[trace->n_ranks], sizeof *trace->events, u->st);
    if (!trace->lists || !trace->events) return FC_NO;
    u->lists.list = trace->lists;
    trace->n_lists = u->lists.n;
    for (uint32_t r = 0; r < trace->n_ranks; r++)
        if (get_rank(u, r)) return u->st->code;
    if (u->lists.next == u->lists.n && u->in.at == u->in.end && !u->why) return FC_OK;
    return fc_fail(u->st, FC_INPUT, (struct fc_place){trace->file, 0}, "the packed trace is %s: its %s",
                   u->why ? u->why : "damaged", u->why ? "checksum or end is wrong" : "lists do not fit its calls");
}

enum fc_code fc_read_trace_packed(const struct fc_text *text, struct fc_trace *trace, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct unpacker u = {.trace = trace, .st = st};
    uint64_t size = 0;
    if (text->size < HEAD_BYTES)
        return fc_fail(st, FC_INPUT, (struct fc_place){text->file, 1},
                       "the packed trace is cut within its first %d bytes", HEAD_BYTES);
    for (int i = 0; i < 8; i++) size |= (uint64_t)(unsigned char)text->data[8 + i] << 8 * i;
    /* zstd's own announcement must agree before any memory is asked for */
    if (ZSTD_getFrameContentSize(text->data + HEAD_BYTES, text->size - HEAD_BYTES) != size)
        return fc_fail(st, FC_INPUT, (struct fc_place){text->file, 1},
                       "the packed trace is damaged: two sizes of its contents disagree");
    unsigned char *payload = fc_alloc(&scratch, size, 1, st);
    if (!payload) return FC_NO;
    u.size = size;
    size_t have = decompress(text, payload, size, &u.why);
    u.in = (struct fc_column_in){payload, payload + have, false};
    enum fc_code code = unpack(&u);
    return code;
}
