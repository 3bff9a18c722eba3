/* trace_formats.c - the foreign formats that are read, one line each, and telling them apart. */
#include "traces/trace_formats.h"

#include "core/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

extern const struct fc_trace_format fc_format_goal, fc_format_liballprof, fc_format_simgrid;

const struct fc_trace_format *const fc_trace_formats[] = {
    &fc_format_goal,
    &fc_format_liballprof,
    &fc_format_simgrid,
    NULL,
};

enum { PROBE_BYTES = 64 << 10 };

static enum fc_code probe_head(const char *path, struct fc_stream *s, struct fc_trace_probe *probe,
                               struct fc_status *st)
{
    if (fc_stream_open(path, s, st) || fc_stream_need(s, PROBE_BYTES, &probe->n_head, st)) return st->code;
    probe->head = (const char *)s->next;
    return FC_OK;
}

enum fc_code fc_trace_detect(const char *path, const struct fc_trace_format **format, struct fc_status *st)
{
    struct fc_stream s = {0};
    struct stat info;
    struct fc_trace_probe probe = {.path = path};
    *format = NULL;
    if (stat(path, &info))
        return fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "cannot be read: %s", strerror(errno));
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return FC_OK; /* a pipe can be read once only */
    probe.folder = S_ISDIR(info.st_mode);
    enum fc_code code = probe.folder ? FC_OK : probe_head(path, &s, &probe, st);
    for (size_t i = 0; !code && !*format && fc_trace_formats[i]; i++)
        if (fc_trace_formats[i]->is(&probe)) *format = fc_trace_formats[i];
    if (!code && probe.folder && !*format)
        code = fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "is a folder without a trace that is known");
    fc_stream_close(&s);
    return code;
}
