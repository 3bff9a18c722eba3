/* trace_blocks_read.c - reads version 2 of the packed form (layout: trace_blocks.h), whole or rank by rank in blocks.
 *
 * As a source each rank holds one block; it is unpacked when the one before is taken, and its events are checked then
 * (trace_check.c). Sizes are believed only as far as bytes back them: an event costs four bytes of its block and a
 * list's entry one, a block's unpacked size must agree with zstd's and be below 256 MiB, and head, blocks, tail
 * and end must fill the file to the byte. */
#include "traces/trace_blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* A rank's block at hand. */
struct rank_block {
    struct fc_event *event;
    int64_t *list;
    uint64_t next; /* block of the rank, index in order[] */
    struct fc_column_base base;
    struct fc_rank_check check;
};
struct reader {
    struct fc_trace head;
    struct fc_status *st;
    int fd; /* -1: all is in `data` */
    const unsigned char *data;
    uint64_t size;
    struct fc_block *blocks; /* in order of the file */
    uint64_t n_blocks;
    uint64_t *first; /* [n_ranks + 1] blocks of each rank in order[] */
    uint64_t *order;
    struct rank_block *rank; /* [n_ranks] */
    struct fc_trace_checker checker;
    unsigned char *packed, *raw;
    size_t packed_capacity, raw_capacity;
    ZSTD_DCtx *zstd;
};

bool fc_is_blocks(const struct fc_text *text)
{
    return text->size >= FC_BLOCKS_HEAD && memcmp(text->data, FC_BLOCKS_MAGIC, FC_BLOCKS_HEAD) == 0;
}

static enum fc_code damaged(const struct reader *r, const char *what)
{
    return fc_fail(r->st, FC_INPUT, (struct fc_place){r->head.file, 0}, "the packed trace is damaged: %s", what);
}

static bool room(unsigned char **data, size_t *capacity, size_t size)
{
    if (*capacity >= size) return true;
    unsigned char *larger = malloc(size);
    if (!larger) return false;
    free(*data);
    *data = larger;
    *capacity = size;
    return true;
}

/* Bytes of the file, valid until the next call; NULL with st filled. */
static const unsigned char *bytes_at(struct reader *r, uint64_t offset, size_t n)
{
    if (r->fd < 0) return r->data + offset;
    if (!room(&r->packed, &r->packed_capacity, n)) {
        fc_out_of_memory(r->st, "a block of %zu bytes of %s", n, r->head.file);
        return NULL;
    }
    for (size_t got = 0; got < n;) {
        ssize_t more = pread(r->fd, r->packed + got, n - got, (off_t)(offset + got));
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) {
            fc_fail(r->st, FC_INPUT, (struct fc_place){r->head.file, 0}, "cannot be read: %s",
                    more ? strerror(errno) : "it ends early");
            return NULL;
        }
        got += (size_t)more;
    }
    return r->packed;
}

/* Unpacks a frame into r->raw. */
static enum fc_code get_frame(struct reader *r, uint64_t offset, size_t size, size_t raw_size, const char *what)
{
    const unsigned char *packed = bytes_at(r, offset, size);
    if (!packed) return r->st->code;
    if (ZSTD_getFrameContentSize(packed, size) != raw_size) return damaged(r, what);
    if (!room(&r->raw, &r->raw_capacity, raw_size + 1))
        return fc_out_of_memory(r->st, "a block of %zu bytes of %s", raw_size, r->head.file);
    if (ZSTD_decompressDCtx(r->zstd, r->raw, raw_size, packed, size) != raw_size) return damaged(r, what);
    return FC_OK;
}

/* ---- the tail ---- */

static uint64_t get_u64(const unsigned char *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static enum fc_code get_head(struct reader *r, struct fc_column_in *in)
{
    struct fc_column_in block;
    struct fc_lines lines;
    if (!fc_column_get_block(in, &block)) return damaged(r, "its head is cut");
    struct fc_text text = {r->head.file, (const char *)block.at, (size_t)(block.end - block.at)};
    fc_lines_start(&lines, &text);
    /* a block has more than 16 bytes; events are counted by the blocks */
    struct fc_head_room room = {FC_SILENT + r->size / 16, INT64_MAX, fc_members_room(r->size)};
    if (fc_read_head(&lines, room, &r->head, r->st)) return r->st->code;
    return lines.next == lines.end ? FC_OK : damaged(r, "text behind the end of the head");
}

/* The blocks, which must lie one behind the other up to `end`. */
static enum fc_code get_blocks(struct reader *r, struct fc_column_in *in, uint64_t end)
{
    uint64_t offset = FC_BLOCKS_HEAD, n = fc_column_get(in);
    if (in->bad || n > (size_t)(in->end - in->at)) return damaged(r, "the number of blocks");
    r->blocks = malloc((n + 1) * sizeof *r->blocks);
    if (!r->blocks) return fc_out_of_memory(r->st, "%" PRIu64 " blocks of %s", n, r->head.file);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t v[6];
        for (int k = 0; k < 6; k++) v[k] = fc_column_get(in);
        bool good = !in->bad && v[0] < r->head.n_ranks && v[1] >= 1 && v[1] <= FC_MOST_BLOCK_EVENTS &&
                    v[1] <= v[4] / 4 && v[2] <= v[4] && v[3] <= v[1] && v[4] <= FC_MOST_BLOCK_BYTES &&
                    v[5] <= end - offset;
        if (!good || v[5] > UINT32_MAX) return damaged(r, "its list of blocks");
        r->blocks[i] = (struct fc_block){offset,         (uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[3],
                                         (uint32_t)v[2], (uint32_t)v[4], (uint32_t)v[5]};
        offset += v[5];
    }
    r->n_blocks = n;
    if (in->at != in->end || offset != end) return damaged(r, "its list of blocks does not fit the file");
    return FC_OK;
}

/* The largest blocks of all ranks, which a source may hold at once. */
static enum fc_code check_held(const struct reader *r)
{
    uint64_t held = 0;
    for (uint32_t k = 0; k < r->head.n_ranks; k++) {
        uint32_t most = 0;
        for (uint64_t i = r->first[k]; i < r->first[k + 1]; i++) {
            uint32_t n = r->blocks[r->order[i]].n_events;
            if (n > most) most = n;
        }
        held += most;
    }
    if (held <= FC_MOST_HELD_EVENTS + (uint64_t)FC_FEWEST_BLOCK_EVENTS * r->head.n_ranks) return FC_OK;
    return damaged(r, "its blocks are too large to hold one of each rank");
}

/* Blocks by rank, and the head's counts and lines from them. */
static enum fc_code sort_blocks(struct reader *r)
{
    struct fc_trace *t = &r->head;
    uint64_t total = t->first_event[t->n_ranks], sum = 0;
    r->first = calloc((size_t)t->n_ranks + 2, sizeof *r->first);
    r->order = malloc((r->n_blocks + 1) * sizeof *r->order);
    r->rank = calloc(t->n_ranks, sizeof *r->rank);
    if (!r->first || !r->order || !r->rank)
        return fc_out_of_memory(r->st, "%" PRIu64 " blocks of %s", r->n_blocks, t->file);
    memset(t->first_event, 0, ((size_t)t->n_ranks + 1) * sizeof *t->first_event);
    for (uint64_t i = 0; i < r->n_blocks; i++) {
        r->first[r->blocks[i].rank + 2]++;
        t->first_event[r->blocks[i].rank + 1] += r->blocks[i].n_events;
        sum += r->blocks[i].n_events;
    }
    if (sum != total) return damaged(r, "its blocks do not have the events that the head announces");
    for (uint32_t k = 0; k < t->n_ranks; k++) {
        t->first_event[k + 1] += t->first_event[k];
        r->first[k + 2] += r->first[k + 1];
    }
    for (uint64_t i = 0; i < r->n_blocks; i++) r->order[r->first[r->blocks[i].rank + 1]++] = i;
    return check_held(r);
}

static enum fc_code read_tail(struct reader *r)
{
    const unsigned char *end = NULL;
    uint64_t least = FC_BLOCKS_HEAD + FC_BLOCKS_END, raw_size = 0, size = 0;
    if (r->size >= least) {
        if (!(end = bytes_at(r, r->size - FC_BLOCKS_END, FC_BLOCKS_END))) return r->st->code;
        raw_size = get_u64(end);
        size = get_u64(end + 8);
    }
    if (!end || memcmp(end + 16, FC_BLOCKS_MAGIC, 8) != 0)
        return fc_fail(r->st, FC_INPUT, (struct fc_place){r->head.file, 0},
                       "the packed trace is cut in the middle: its end with the list of its parts is missing");
    if (size > r->size - least || raw_size > SIZE_MAX / 2) return damaged(r, "the size of its tail");
    uint64_t at = r->size - FC_BLOCKS_END - size;
    if (raw_size / 100 > r->size + (1 << 18)) return damaged(r, "the size of its tail"); /* a text shrinks less */
    if (get_frame(r, at, size, raw_size, "its tail")) return r->st->code;
    struct fc_column_in in = {r->raw, r->raw + raw_size, false};
    if (get_head(r, &in) || get_blocks(r, &in, at) || sort_blocks(r)) return r->st->code;
    fc_set_lines(&r->head);
    return FC_OK;
}

/* ---- blocks ---- */

/* Unpacks a block's events; base: what came before of this rank. */
static enum fc_code get_block(struct reader *r, const struct fc_block *b, struct fc_event *event,
                              struct fc_lists_in *lists, struct fc_column_base *base)
{
    struct fc_column_in column[FC_N_COLUMNS], in;
    int n_columns = fc_n_columns(r->head.graph);
    int64_t made = base->made;
    char what[96];
    snprintf(what, sizeof what, "a block of rank %" PRIu32 " (events from %" PRId64 " on)", b->rank, base->number);
    *base = (struct fc_column_base){.made = base->made, .number = base->number};
    if (get_frame(r, b->offset, b->size, b->raw_size, what)) return r->st->code;
    in = (struct fc_column_in){r->raw, r->raw + b->raw_size, false};
    uint64_t lists_end = lists->next + b->n_lists;
    for (int c = 0; c < n_columns; c++)
        if (!fc_column_get_block(&in, &column[c])) return damaged(r, what);
    if (in.at != in.end || column[FC_COL_KIND].end - column[FC_COL_KIND].at != b->n_events) return damaged(r, what);
    for (uint32_t i = 0; i < b->n_events; i++) {
        struct fc_place where =
            fc_event_place(&r->head, b->rank, r->head.first_event[b->rank] + (uint64_t)base->number);
        if (!fc_columns_get(column, b->rank, r->head.graph, &event[i], lists, base))
            return fc_fail(r->st, FC_INPUT, where, "op number %d is unknown", event[i].op);
        for (int c = 0; c < n_columns; c++)
            if (column[c].bad)
                return fc_fail(r->st, FC_INPUT, where,
                               "the packed trace is damaged: the %s of rank %" PRIu32
                               " end early or hold a number that is none",
                               fc_column_names[c], b->rank);
    }
    for (int c = 0; c < n_columns; c++)
        if (column[c].at != column[c].end) return damaged(r, what);
    if (lists->next != lists_end || base->made - made != b->n_requests) return damaged(r, what);
    return FC_OK;
}

static void free_reader(struct reader *r)
{
    for (uint32_t k = 0; r->rank && k < r->head.n_ranks; k++) {
        free(r->rank[k].event);
        free(r->rank[k].list);
        fc_check_rank_free(&r->rank[k].check);
    }
    if (r->fd >= 0) close(r->fd);
    free(r->blocks);
    free(r->first);
    free(r->order);
    free(r->rank);
    free(r->packed);
    free(r->raw);
    ZSTD_freeDCtx(r->zstd);
    fc_check_end(&r->checker);
    fc_trace_free(&r->head);
}

enum fc_code fc_read_trace_blocks(const struct fc_text *text, struct fc_trace *trace, struct fc_status *st)
{
    struct reader r = {.st = st, .fd = -1, .data = (const unsigned char *)text->data, .size = text->size};
    struct fc_lists_in lists = {0};
    r.head = *trace; /* its file and arena */
    r.zstd = ZSTD_createDCtx();
    if (!r.zstd) fc_out_of_memory(st, "reading the trace");
    if (!st->code && !read_tail(&r)) {
        struct fc_trace *t = &r.head;
        for (uint64_t i = 0; i < r.n_blocks; i++) lists.n += r.blocks[i].n_lists;
        t->events = fc_alloc(&t->arena, t->first_event[t->n_ranks], sizeof *t->events, st);
        t->lists = lists.list = fc_alloc(&t->arena, lists.n, sizeof *t->lists, st);
        t->n_lists = lists.n;
        for (uint32_t k = 0; !st->code && k < t->n_ranks; k++) {
            struct fc_column_base base = {0};
            for (uint64_t i = r.first[k]; !st->code && i < r.first[k + 1]; i++)
                get_block(&r, &r.blocks[r.order[i]], t->events + t->first_event[k] + base.number, &lists, &base);
        }
    }
    *trace = r.head;
    r.head = (struct fc_trace){.n_ranks = trace->n_ranks};
    free_reader(&r);
    return st->code;
}

/* ---- as a source ---- */

static void refill(struct fc_trace_source *source, uint32_t rank)
{
    struct reader *r = source->private;
    struct rank_block *k = &r->rank[rank];
    struct fc_source_rank *at = &source->rank[rank];
    if (r->st->code || k->next == r->first[rank + 1]) {
        free(k->event); /* a rank that has ended holds nothing */
        free(k->list);
        k->event = NULL;
        k->list = NULL;
        at->at = at->end = NULL;
        return;
    }
    const struct fc_block *b = &r->blocks[r->order[k->next++]];
    struct fc_event *event = realloc(k->event, b->n_events * sizeof *event);
    if (event) k->event = event;
    int64_t *list = realloc(k->list, ((size_t)b->n_lists + 1) * sizeof *list);
    if (list) k->list = list;
    struct fc_lists_in lists = {list, b->n_lists, 0};
    uint64_t number = (uint64_t)k->base.number;
    at->at = at->end = NULL;
    if (!event || !list)
        fc_out_of_memory(r->st, "a block of %" PRIu32 " events of %s", b->n_events, r->head.file);
    else if (!get_block(r, b, event, &lists, &k->base))
        for (uint32_t i = 0; i < b->n_events; i++)
            if (fc_check_event(&r->checker, &k->check, rank, number + i, &event[i], fc_event_list(list, &event[i])))
                break;
    if (r->st->code) return;
    *at = (struct fc_source_rank){event, event + b->n_events, list, number};
}

static enum fc_code restart(struct fc_trace_source *source)
{
    struct reader *r = source->private;
    for (uint32_t k = 0; k < r->head.n_ranks; k++) {
        struct rank_block *block = &r->rank[k];
        fc_check_rank_free(&block->check);
        block->next = r->first[k];
        block->base = (struct fc_column_base){0};
        source->rank[k] = (struct fc_source_rank){0};
    }
    return r->st->code;
}

/* The last byte of a column of calls tells the op. */
static bool finalizes(struct fc_trace_source *source)
{
    struct reader *r = source->private;
    for (uint32_t k = 0; k < r->head.n_ranks; k++) {
        if (r->first[k] == r->first[k + 1]) return false;
        const struct fc_block *b = &r->blocks[r->order[r->first[k + 1] - 1]];
        struct fc_column_in in, kind;
        if (get_frame(r, b->offset, b->size, b->raw_size, "the last block of a rank")) return false;
        in = (struct fc_column_in){r->raw, r->raw + b->raw_size, false};
        if (!fc_column_get_block(&in, &kind) || kind.at == kind.end) {
            damaged(r, "the last block of a rank");
            return false;
        }
        if ((kind.end[-1] & ((1 << FC_KIND_MODE) - 1)) != FC_OP_FINALIZE) return false;
    }
    return true;
}

static void close_source(struct fc_trace_source *source)
{
    free_reader(source->private);
    free(source->private);
}

/* The source around a reader that knows its blocks. */
static enum fc_code open_source(struct reader *r, struct fc_trace_source *source, struct fc_status *st)
{
    if (fc_check_start(&r->checker, &r->head, st)) return st->code;
    source->head = &r->head;
    source->rank = calloc(r->head.n_ranks, sizeof *source->rank);
    if (!source->rank) return fc_out_of_memory(st, "%u ranks of a trace", r->head.n_ranks);
    return restart(source);
}

static struct reader *new_reader(int fd, struct fc_trace_source *source, struct fc_status *st)
{
    struct reader *r = calloc(1, sizeof *r);
    *source = (struct fc_trace_source){.st = st, .refill = refill, .restart = restart, .finalizes = finalizes};
    if (r) r->zstd = ZSTD_createDCtx();
    if (!r || !r->zstd) {
        free(r);
        if (fd >= 0) close(fd);
        fc_out_of_memory(st, "reading the trace");
        return NULL;
    }
    r->st = st;
    r->fd = fd;
    source->private = r;
    source->close = close_source;
    return r;
}

enum fc_code fc_source_blocks(const char *file, struct fc_trace_source *source, struct fc_status *st)
{
    struct stat info;
    *source = (struct fc_trace_source){0};
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        fc_fail(st, FC_INPUT, (struct fc_place){file, 0}, "cannot be read: %s", strerror(errno));
        if (fd >= 0) close(fd);
        return st->code;
    }
    struct reader *r = new_reader(fd, source, st);
    if (!r) return st->code;
    r->size = (uint64_t)info.st_size;
    r->head.file = fc_copy_text(&r->head.arena, file, st);
    if (!r->head.file || read_tail(r) || open_source(r, source, st)) fc_source_close(source);
    return st->code;
}

enum fc_code fc_source_spooled(int fd, struct fc_trace *head, struct fc_block_writer *w, struct fc_trace_source *source,
                               struct fc_status *st)
{
    struct reader *r = new_reader(fd, source, st);
    if (!r) {
        fc_trace_free(head);
        return st->code;
    }
    r->head = *head;
    *head = (struct fc_trace){0};
    r->size = w->offset;
    r->blocks = w->blocks;
    r->n_blocks = w->n_blocks;
    w->blocks = NULL;
    if (sort_blocks(r) || open_source(r, source, st)) fc_source_close(source);
    return st->code;
}
