/* trace_formats.c - the foreign formats that are read, one line each, and telling them apart. */
#include "traces/trace_formats.h"

#include "core/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* X(record): declared and listed, those told by their first bytes before those told by the files that they name. */
#define FORMATS(X)                                                                                                     \
    X(otf2)                                                                                                            \
    X(dumpi)                                                                                                           \
    X(paraver)                                                                                                         \
    X(chakra)                                                                                                          \
    X(goal)                                                                                                            \
    X(liballprof)                                                                                                      \
    X(simgrid)
#define DECLARE(name) extern const struct fc_trace_format fc_format_##name;
#define ENTRY(name) &fc_format_##name,
FORMATS(DECLARE)
const struct fc_trace_format *const fc_trace_formats[] = {FORMATS(ENTRY) NULL};
#undef DECLARE
#undef ENTRY

enum { PROBE_BYTES = 64 << 10 };

const char *fc_trace_format_names(char *out, size_t size)
{
    size_t n = 0;
    *out = 0;
    for (size_t i = 0; fc_trace_formats[i] && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "", fc_trace_formats[i]->name);
    return out;
}

/* Traces of many files are passed round as archives. */
static enum fc_code refuse_archive(const struct fc_trace_probe *probe, struct fc_status *st)
{
    bool tar = probe->n_head > 262 && !memcmp(probe->head + 257, "ustar", 5);
    bool zip = probe->n_head > 4 && !memcmp(probe->head, "PK\3\4", 4);
    if (!tar && !zip) return FC_OK;
    return fc_fail(st, FC_INPUT, (struct fc_place){probe->path, 0},
                   "is a %s archive of files (expected a trace: unpack it with `%s` and give the file or folder in it)",
                   tar ? "tar" : "zip", tar ? "tar -xf" : "unzip");
}

static enum fc_code probe_head(const char *path, struct fc_stream *s, struct fc_trace_probe *probe,
                               struct fc_status *st)
{
    if (fc_stream_open(path, s, st) || fc_stream_need(s, PROBE_BYTES, &probe->n_head, st)) return st->code;
    probe->head = (const char *)s->next;
    return FC_OK;
}

enum fc_code fc_trace_detect(const char *path, const struct fc_trace_format **format, struct fc_status *st)
{
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    struct stat info;
    char known[256];
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
        code = fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "is a folder without a trace that is known (%s)",
                       fc_trace_format_names(known, sizeof known));
    if (!code && !*format && !probe.folder) code = refuse_archive(&probe, st);
    return code;
}
