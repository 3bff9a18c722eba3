/* trace_file.c - a whole trace from a file of any format, and into one of ours. */
#include "traces/trace_blocks.h"
#include "core/stream.h"
#include "traces/trace_formats.h"
#include <string.h>
#include <sys/stat.h>

/* Our text form, compressed: it is read as it streams by, so that memory holds its events and not the text. */
static bool is_compressed_text(const char *path)
{
    static const char word[] = "fabricast-trace";
    struct fc_status ignored = {0};
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    struct stat info;
    bool regular = stat(path, &info) == 0 && S_ISREG(info.st_mode); /* a pipe can be read once only */
    bool is = regular && !fc_stream_open(path, &s, &ignored) && fc_stream_compressed(&s) &&
              !fc_stream_need(&s, sizeof word - 1, NULL, &ignored) && (size_t)(s.end - s.next) >= sizeof word - 1 &&
              memcmp(s.next, word, sizeof word - 1) == 0;
    return is;
}

static enum fc_code read_own(const char *path, struct fc_trace *trace, struct fc_status *st)
{
    struct fc_arena input = {0}; /* the file itself is not kept */
    struct fc_text text;
    enum fc_code code = fc_read_file(path, &input, &text, st);
    if (!code) {
        text.file = trace->file;
        code = fc_is_blocks(&text)   ? fc_read_trace_blocks(&text, trace, st)
               : fc_is_packed(&text) ? fc_read_trace_packed(&text, trace, st)
                                     : fc_read_trace_text(&text, trace, st);
    }
    fc_arena_free(&input);
    return code;
}

enum fc_code fc_trace_read(const char *path, struct fc_trace *trace, struct fc_status *st)
{
    static const struct fc_trace_options usual = FC_TRACE_OPTIONS;
    return fc_trace_read_with(path, &usual, trace, st);
}

enum fc_code fc_trace_read_with(const char *path, const struct fc_trace_options *options, struct fc_trace *trace,
                                struct fc_status *st)
{
    const struct fc_trace_format *format;
    *trace = (struct fc_trace){0};
    enum fc_code code = fc_trace_detect(path, &format, st);
    if (!code) {
        trace->file = fc_copy_text(&trace->arena, path, st);
        if (!trace->file) code = FC_NO;
    }
    if (!code && !format && is_compressed_text(path)) format = &fc_own_text_format;
    if (!code) code = format ? fc_trace_read_foreign(format, options, trace, st) : read_own(path, trace, st);
    if (!code) code = fc_trace_check(trace, st);
    if (code) fc_trace_free(trace);
    return code;
}

enum fc_code fc_trace_write(const struct fc_trace *trace, const char *path, bool text, struct fc_status *st)
{
    struct fc_output out;
    enum fc_code code = fc_output_open(&out, path, st);
    if (code) return code;
    code = text ? fc_write_trace_text(trace, out.stream, st) : fc_write_trace_blocks(trace, out.stream, st);
    if (!code) code = fc_output_close(&out, st);
    fc_output_abandon(&out);
    return code;
}
