/* trace_pack.c - writes the packed form of a trace, version 1: its records in columns (trace_columns.c), compressed by
 * zstd. Files of it are around; fc_trace_write makes version 2 (trace_blocks_write.c). */
#include "tests/trace_oracles.h"
#include "traces/trace_pack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { LEVEL = 15 }; /* higher ones take minutes on long traces and gain a few percent */

/* One rank's columns behind `out`; the columns are scratch. */
static bool put_rank(struct fc_bytes *out, const struct fc_trace *trace, uint32_t rank, struct fc_bytes *column)
{
    struct fc_column_base base = {0};
    bool ok = true;
    for (int c = 0; c < FC_N_COLUMNS; c++) column[c].size = 0;
    for (uint64_t i = trace->first_event[rank]; ok && i < trace->first_event[rank + 1]; i++) {
        const struct fc_event *e = &trace->events[i];
        ok = fc_columns_put(column, rank, trace->graph, e, trace->lists + e->list, &base);
    }
    for (int c = 0; ok && c < fc_n_columns(trace->graph); c++)
        ok = fc_bytes_put_block(out, column[c].data, column[c].size);
    return ok;
}

static bool put_head(struct fc_bytes *out, const struct fc_trace *trace)
{
    char *text = NULL;
    size_t size = 0;
    uint64_t n_lists = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return false;
    fc_write_head(memory, trace);
    bool ok = fclose(memory) == 0 && fc_bytes_put_block(out, text, size);
    free(text);
    for (uint64_t e = 0; e < trace->first_event[trace->n_ranks]; e++) n_lists += trace->events[e].n_list;
    ok = ok && fc_bytes_put(out, n_lists);
    for (uint32_t r = 0; ok && r < trace->n_ranks; r++)
        ok = fc_bytes_put(out, trace->first_event[r + 1] - trace->first_event[r]);
    return ok;
}

static bool compress(struct fc_bytes *to, const struct fc_bytes *from)
{
    size_t bound = ZSTD_compressBound(from->size);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    bool ok = zstd && fc_bytes_reserve(to, bound);
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
    struct fc_bytes payload = {0}, packed = {0}, column[FC_N_COLUMNS] = {0};
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
    for (int c = 0; c < FC_N_COLUMNS; c++) free(column[c].data);
    free(payload.data);
    free(packed.data);
    return ok ? FC_OK : fc_refuse(st, FC_NO, "out of memory while a trace is packed");
}
