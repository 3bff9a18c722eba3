/* trace_pack.c - writes the packed form of a trace: its records in columns, compressed by zstd. */
#include "traces/trace_pack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { LEVEL = 15 }; /* higher ones take minutes on long traces and gain a few percent */

/* ---- bytes ---- */

struct bytes {
    unsigned char *data;
    size_t size, capacity;
};

/* Room for `more` bytes; false when there is no memory. */
static bool reserve(struct bytes *b, size_t more)
{
    if (b->capacity - b->size >= more) return true;
    size_t capacity = 2 * b->capacity + more + 4096;
    unsigned char *larger = realloc(b->data, capacity);
    if (!larger) return false;
    b->data = larger;
    b->capacity = capacity;
    return true;
}

static bool put(struct bytes *b, uint64_t value)
{
    if (!reserve(b, 10)) return false;
    for (; value >= 0x80; value >>= 7) b->data[b->size++] = (unsigned char)(value | 0x80);
    b->data[b->size++] = (unsigned char)value;
    return true;
}

static bool put_signed(struct bytes *b, int64_t value)
{
    return put(b, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static bool put_block(struct bytes *b, const void *data, size_t size)
{
    if (!put(b, size) || !reserve(b, size)) return false;
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
    return true;
}

/* ---- writing ---- */

static bool put_list(struct bytes *b, const struct fc_trace *trace, const struct fc_event *e, int64_t made)
{
    const int64_t *list = trace->lists + e->list;
    bool ok = put(b, e->n_list);
    for (uint32_t i = 0; ok && i < e->n_list; i++)
        ok = fc_op_fields[e->op] & FC_HAS_SIZES ? put(b, (uint64_t)list[i])
             : i == 0                           ? put_signed(b, made - list[0])
                                                : put_signed(b, list[i] - list[i - 1] - 1);
    return ok;
}

static bool put_times(struct bytes *column, const struct fc_event *e, struct base *base)
{
    int64_t enter = fc_to_ns(e->enter_s), leave = fc_to_ns(e->leave_s), compute = fc_to_ns(e->compute_s);
    bool ok = put_signed(&column[COL_ENTER], enter - base->leave_ns) &&
              put(&column[COL_LEAVE], (uint64_t)(leave - enter)) &&
              put_signed(&column[COL_COMPUTE], enter - base->leave_ns - compute);
    base->leave_ns = leave;
    return ok;
}

static bool put_event(struct bytes *column, const struct fc_trace *trace, uint32_t rank,
                      const struct fc_event *e, struct base *base)
{
    int fields = fc_op_fields[e->op];
    int kind = e->op | e->mode << KIND_MODE | (e->polls ? KIND_POLLS : 0);
    bool ok = reserve(&column[COL_KIND], 1);
    if (ok) column[COL_KIND].data[column[COL_KIND].size++] = (unsigned char)kind;
    if (e->polls) ok = ok && put(&column[COL_POLLS], e->polls);
    if (fields & FC_HAS_COMM) ok = ok && put(&column[COL_COMM], (uint64_t)(e->comm + 1));
    if (fields & FC_HAS_PEER) ok = ok && put_signed(&column[COL_PEER], (int64_t)e->peer - rank);
    if (fields & (FC_HAS_ROOT | FC_HAS_PARENT)) ok = ok && put_signed(&column[COL_PEER], e->peer);
    if (fields & FC_HAS_TAG) ok = ok && put_signed(&column[COL_TAG], (int64_t)e->tag - base->tag);
    if (fields & FC_HAS_TAG) base->tag = e->tag;
    if (fields & FC_HAS_BYTES) ok = ok && put(&column[COL_BYTES], (uint64_t)e->bytes);
    if (fields & (FC_HAS_REQUESTS | FC_HAS_SIZES))
        ok = ok && put_list(&column[COL_LIST], trace, e, base->made);
    base->made += fc_makes_request(e->op, e->mode);
    return ok && put_times(column, e, base);
}

/* One rank's columns behind `out`; the columns are scratch. */
static bool put_rank(struct bytes *out, const struct fc_trace *trace, uint32_t rank, struct bytes *column)
{
    struct base base = {0};
    bool ok = true;
    for (int c = 0; c < N_COLUMNS; c++) column[c].size = 0;
    for (uint64_t e = trace->first_event[rank]; ok && e < trace->first_event[rank + 1]; e++)
        ok = put_event(column, trace, rank, &trace->events[e], &base);
    for (int c = 0; ok && c < N_COLUMNS; c++) ok = put_block(out, column[c].data, column[c].size);
    return ok;
}

static bool put_head(struct bytes *out, const struct fc_trace *trace)
{
    char *text = NULL;
    size_t size = 0;
    uint64_t n_lists = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return false;
    fc_write_head(memory, trace);
    bool ok = fclose(memory) == 0 && put_block(out, text, size);
    free(text);
    for (uint64_t e = 0; e < trace->first_event[trace->n_ranks]; e++) n_lists += trace->events[e].n_list;
    ok = ok && put(out, n_lists);
    for (uint32_t r = 0; ok && r < trace->n_ranks; r++)
        ok = put(out, trace->first_event[r + 1] - trace->first_event[r]);
    return ok;
}

static bool compress(struct bytes *to, const struct bytes *from)
{
    size_t bound = ZSTD_compressBound(from->size);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    bool ok = zstd && reserve(to, bound);
    if (ok) {
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
        size_t size = ZSTD_compress2(zstd, to->data, bound, from->data, from->size);
        ok = !ZSTD_isError(size);
        to->size = size;
    }
    ZSTD_freeCCtx(zstd);
    return ok;
}

enum fc_code fc_write_trace_packed(const struct fc_trace *trace, FILE *out, struct fc_status *st)
{
    struct bytes payload = {0}, packed = {0}, column[N_COLUMNS] = {0};
    bool ok = put_head(&payload, trace);
    for (uint32_t r = 0; ok && r < trace->n_ranks; r++) ok = put_rank(&payload, trace, r, column);
    ok = ok && compress(&packed, &payload);
    if (ok) {
        unsigned char size[8];
        for (int i = 0; i < 8; i++) size[i] = (unsigned char)((uint64_t)payload.size >> 8 * i);
        fwrite(FC_PACKED_MAGIC, 1, 8, out);
        fwrite(size, 1, sizeof size, out);
        fwrite(packed.data, 1, packed.size, out);
    }
    for (int c = 0; c < N_COLUMNS; c++) free(column[c].data);
    free(payload.data);
    free(packed.data);
    return ok ? FC_OK : fc_refuse(st, FC_NO, "out of memory while a trace is packed");
}
