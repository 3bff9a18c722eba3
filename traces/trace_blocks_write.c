/* trace_blocks_write.c - writes version 2 of the packed form (layout: trace_blocks.h).
 *
 * Each rank has an open block of events; a full one is turned into columns, compressed and appended. A block starts
 * anew (times from 0, tags from 0), so it can be read without those before; requests and events before it are sums
 * over the index. */
#include "core/array.h"
#include "traces/trace_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { OPEN_BYTES = 100 << 20, MOST_EVENTS = 4096, LISTS_PER_EVENT = 8 };

struct fc_open_block {
    struct fc_event *event;
    int64_t *list;
    uint32_t n, capacity, n_list, list_capacity;
    int64_t made; /* requests before the block */
};

static enum fc_code no_memory(struct fc_status *st)
{
    return fc_out_of_memory(st, "a trace is packed");
}

enum fc_code fc_blocks_start(struct fc_block_writer *w, FILE *out, uint32_t n_ranks, bool graph, int level,
                             struct fc_status *st)
{
    uint64_t each = OPEN_BYTES / sizeof(struct fc_event) / n_ranks;
    *w = (struct fc_block_writer){.out = out, .st = st, .n_ranks = n_ranks, .graph = graph, .offset = FC_BLOCKS_HEAD};
    w->block_events = each > MOST_EVENTS              ? MOST_EVENTS
                      : each < FC_FEWEST_BLOCK_EVENTS ? FC_FEWEST_BLOCK_EVENTS
                                                      : (uint32_t)each;
    w->open = calloc(n_ranks, sizeof *w->open);
    w->rank_events = calloc(n_ranks, sizeof *w->rank_events);
    w->zstd = ZSTD_createCCtx();
    if (!w->open || !w->rank_events || !w->zstd) return no_memory(st);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
    fwrite(FC_BLOCKS_MAGIC, 1, FC_BLOCKS_HEAD, out);
    return FC_OK;
}

enum fc_code fc_blocks_fail(const struct fc_block_writer *w, int error)
{
    return fc_refuse(w->st, FC_NO,
                     "the temporary file of a trace in %s cannot be written: %s "
                     "(expected a folder TMPDIR with room for it)",
                     w->folder, strerror(error));
}

/* Appends w->raw as a frame; *size gets its length. */
static enum fc_code put_frame(struct fc_block_writer *w, size_t *size)
{
    size_t bound = ZSTD_compressBound(w->raw.size);
    w->packed.size = 0;
    if (!fc_bytes_reserve(&w->packed, bound)) return no_memory(w->st);
    *size = ZSTD_compress2(w->zstd, w->packed.data, bound, w->raw.data, w->raw.size);
    if (ZSTD_getErrorCode(*size) == ZSTD_error_memory_allocation)
        return fc_out_of_memory(w->st, "packing a block of %zu bytes", w->raw.size);
    if (ZSTD_isError(*size)) return fc_refuse(w->st, FC_NO, "zstd: %s", ZSTD_getErrorName(*size));
    size_t written = fwrite(w->packed.data, 1, *size, w->out);
    if (written < *size && w->folder) return fc_blocks_fail(w, errno);
    w->offset += *size;
    return FC_OK;
}

static enum fc_code add_block(struct fc_block_writer *w, struct fc_block block)
{
    if (!FC_GROW(w->blocks, w->capacity, w->n_blocks + 1)) return no_memory(w->st);
    w->blocks[w->n_blocks++] = block;
    return FC_OK;
}

static enum fc_code put_block(struct fc_block_writer *w, uint32_t rank)
{
    struct fc_open_block *b = &w->open[rank];
    struct fc_column_base base = {.made = b->made, .number = (int64_t)(w->rank_events[rank] - b->n)};
    bool ok = true;
    size_t size;
    uint64_t offset = w->offset;
    for (int c = 0; c < FC_N_COLUMNS; c++) w->column[c].size = 0;
    w->raw.size = 0;
    for (uint32_t i = 0; ok && i < b->n; i++)
        ok = fc_columns_put(w->column, rank, w->graph, &b->event[i], fc_event_list(b->list, &b->event[i]), &base);
    for (int c = 0; ok && c < fc_n_columns(w->graph); c++)
        ok = fc_bytes_put_block(&w->raw, w->column[c].data, w->column[c].size);
    if (!ok) return no_memory(w->st);
    if (w->raw.size > FC_MOST_BLOCK_BYTES)
        return fc_refuse(w->st, FC_NO, "rank %u: a list of %u entries is too long to be packed", rank, b->n_list);
    if (put_frame(w, &size)) return w->st->code;
    struct fc_block block = {
        offset, rank, b->n, (uint32_t)(base.made - b->made), b->n_list, (uint32_t)w->raw.size, (uint32_t)size};
    b->made = base.made;
    b->n = b->n_list = 0;
    return add_block(w, block);
}

static bool grow(struct fc_open_block *b, uint32_t n_list, uint32_t most)
{
    if (b->n == b->capacity) {
        uint32_t capacity = b->capacity ? 2 * b->capacity : 32;
        if (capacity > most) capacity = most;
        struct fc_event *event = realloc(b->event, capacity * sizeof *event);
        if (!event) return false;
        b->event = event;
        b->capacity = capacity;
    }
    return FC_GROW(b->list, b->list_capacity, (size_t)b->n_list + n_list);
}

enum fc_code fc_blocks_event(struct fc_block_writer *w, uint32_t rank, const struct fc_event *event,
                             const int64_t *list)
{
    struct fc_open_block *b = &w->open[rank];
    uint64_t most_list = (uint64_t)LISTS_PER_EVENT * w->block_events;
    bool full = b->n == w->block_events || (b->n && (uint64_t)b->n_list + event->n_list > most_list);
    if (full && put_block(w, rank)) return w->st->code;
    if (!grow(b, event->n_list, w->block_events)) return no_memory(w->st);
    b->event[b->n] = *event;
    b->event[b->n++].list = b->n_list;
    if (event->n_list) memcpy(b->list + b->n_list, list, event->n_list * sizeof *list);
    b->n_list += event->n_list;
    w->rank_events[rank]++;
    return FC_OK;
}

enum fc_code fc_blocks_flush(struct fc_block_writer *w)
{
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        if (w->open[r].n && put_block(w, r)) return w->st->code;
        free(w->open[r].event);
        free(w->open[r].list);
        w->open[r] = (struct fc_open_block){0};
    }
    return FC_OK;
}

static bool put_head(struct fc_bytes *to, const struct fc_trace *head)
{
    struct fc_memory_stream memory;
    struct fc_status st = {0};
    if (fc_memory_open(&memory, &st)) return false;
    fc_write_head(memory.stream, head);
    bool ok = !fc_memory_close(&memory, &st) && fc_bytes_put_block(to, memory.text, memory.size);
    free(memory.text);
    return ok;
}

enum fc_code fc_blocks_tail(struct fc_block_writer *w, const struct fc_trace *head)
{
    unsigned char end[FC_BLOCKS_END];
    size_t size;
    w->raw.size = 0;
    bool ok = put_head(&w->raw, head) && fc_bytes_put(&w->raw, w->n_blocks);
    for (uint64_t i = 0; ok && i < w->n_blocks; i++) {
        const struct fc_block *b = &w->blocks[i];
        ok = fc_bytes_put(&w->raw, b->rank) && fc_bytes_put(&w->raw, b->n_events) &&
             fc_bytes_put(&w->raw, b->n_lists) && fc_bytes_put(&w->raw, b->n_requests) &&
             fc_bytes_put(&w->raw, b->raw_size) && fc_bytes_put(&w->raw, b->size);
    }
    if (!ok) return no_memory(w->st);
    if (put_frame(w, &size)) return w->st->code;
    for (int i = 0; i < 8; i++) {
        end[i] = (unsigned char)((uint64_t)w->raw.size >> 8 * i);
        end[8 + i] = (unsigned char)((uint64_t)size >> 8 * i);
    }
    memcpy(end + 16, FC_BLOCKS_MAGIC, 8);
    fwrite(end, 1, sizeof end, w->out);
    return FC_OK;
}

void fc_blocks_free(struct fc_block_writer *w)
{
    for (uint32_t r = 0; w->open && r < w->n_ranks; r++) {
        free(w->open[r].event);
        free(w->open[r].list);
    }
    for (int c = 0; c < FC_N_COLUMNS; c++) free(w->column[c].data);
    free(w->open);
    free(w->rank_events);
    free(w->blocks);
    free(w->raw.data);
    free(w->packed.data);
    ZSTD_freeCCtx(w->zstd);
    *w = (struct fc_block_writer){0};
}

enum fc_code fc_write_trace_blocks(const struct fc_trace *trace, FILE *out, struct fc_status *st)
{
    struct fc_block_writer w;
    fc_blocks_start(&w, out, trace->n_ranks, trace->graph, FC_LEVEL_FILE, st);
    for (uint32_t r = 0; !st->code && r < trace->n_ranks; r++)
        for (uint64_t i = trace->first_event[r]; !st->code && i < trace->first_event[r + 1]; i++)
            fc_blocks_event(&w, r, &trace->events[i], fc_event_list(trace->lists, &trace->events[i]));
    if (!st->code) fc_blocks_flush(&w);
    if (!st->code) fc_blocks_tail(&w, trace);
    fc_blocks_free(&w);
    return st->code;
}
