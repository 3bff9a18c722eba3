/* trace_open.c - a trace of any format as a stream of events, and a stream into a file of ours. */
#include "traces/trace_blocks.h"
#include "traces/trace_formats.h"
#include <string.h>
#include <sys/stat.h>

/* The first bytes of a regular file; empty for anything else. */
static void first_bytes(const char *path, unsigned char *head, size_t n)
{
    struct stat info;
    memset(head, 0, n);
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    if (!file) return;
    if (fread(head, 1, n, file) < n) memset(head, 0, n); /* shorter than any trace: let the reader say so */
    fclose(file);
}

enum fc_code fc_source_open(const char *path, const struct fc_trace_options *options, struct fc_trace_source *source,
                            struct fc_status *st)
{
    static const struct fc_trace_options usual = FC_TRACE_OPTIONS;
    const struct fc_trace_format *format;
    struct fc_trace trace = {0};
    unsigned char head[16];
    *source = (struct fc_trace_source){0};
    if (fc_trace_detect(path, &format, st)) return st->code;
    first_bytes(path, head, sizeof head);
    if (!options) options = &usual;
    bool blocks = !format && memcmp(head, FC_BLOCKS_MAGIC, 8) == 0;
    bool packed = !format && memcmp(head, "fctrace1", 8) == 0;
    uint64_t size = 0; /* of what is packed; an event has some eight bytes */
    for (int i = 0; i < 8; i++) size |= (uint64_t)head[8 + i] << 8 * i;
    if (blocks) {
        if (fc_source_blocks(path, source, st)) return st->code;
        if (source->head->first_event[source->head->n_ranks] > options->memory_events) return FC_OK;
        fc_source_close(source);
    }
    if (blocks || (packed && size / 8 <= options->memory_events) || (!format && head[0] == 0))
        return fc_trace_read(path, &trace, st) ? st->code : fc_source_own(&trace, source, st);
    if (!(trace.file = fc_copy_text(&trace.arena, path, st))) return FC_NO;
    if (!format) format = packed ? &fc_own_packed_format : &fc_own_text_format;
    return fc_source_foreign(format, options, &trace, source, st);
}

static void write_text(struct fc_trace_source *source, FILE *out)
{
    const struct fc_trace *head = source->head;
    const struct fc_event *e;
    fc_write_head(out, head);
    for (uint32_t r = 0; r < head->n_ranks; r++) {
        fprintf(out, "rank %u %llu\n", r, (unsigned long long)(head->first_event[r + 1] - head->first_event[r]));
        for (; (e = fc_source_peek(source, r)); fc_source_take(source, r))
            fc_write_event_text(out, e, fc_source_list(source, r, e), head->graph);
    }
    fputs("end\n", out);
}

static void write_blocks(struct fc_trace_source *source, FILE *out, struct fc_status *st)
{
    const struct fc_trace *head = source->head;
    struct fc_block_writer w;
    const struct fc_event *e;
    fc_blocks_start(&w, out, head->n_ranks, head->graph, FC_LEVEL_FILE, st);
    for (uint32_t r = 0; !st->code && r < head->n_ranks; r++)
        for (; !st->code && (e = fc_source_peek(source, r)); fc_source_take(source, r))
            fc_blocks_event(&w, r, e, fc_source_list(source, r, e));
    if (!st->code) fc_blocks_flush(&w);
    if (!st->code) fc_blocks_tail(&w, head);
    fc_blocks_free(&w);
}

enum fc_code fc_source_write(struct fc_trace_source *source, const char *path, bool text, struct fc_status *st)
{
    struct fc_output out;
    if (source->head->events) return fc_trace_write(source->head, path, text, st);
    if (fc_output_open(&out, path, st)) return st->code;
    if (text)
        write_text(source, out.stream);
    else
        write_blocks(source, out.stream, st);
    if (source->st->code && !st->code) *st = *source->st;
    if (!st->code) fc_output_close(&out, st);
    fc_output_abandon(&out);
    return st->code;
}
