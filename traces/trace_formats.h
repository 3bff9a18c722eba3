/* trace_formats.h - foreign trace formats: what a reader is, and the sink that it fills.
 *
 * A new format is one file with one `const struct fc_trace_format` and one line in trace_formats.c. A reader goes once
 * over its files and hands events to the sink, those of one rank in program order, ranks in any order. It keeps what it
 * needs to understand the next record (open requests, communicators), never the trace. */
#pragma once

#include "traces/traces.h"

/* What a foreign format leaves open. */
struct fc_trace_options {
    /* Speeds of formats that count operations (SimGrid; Chakra without durations): [n_speeds] one of all
     * ranks, or one each. n_speeds 0: flops_per_s is assumed, and trace->assumed_flops_per_s tells. */
    const double *speeds;
    uint32_t n_speeds;
    double flops_per_s;
    double tick_s;          /* length of the unit of time of a format that names none (GOAL) */
    uint64_t memory_events; /* fc_source_open: a trace of more events goes through a temporary file */
};
#define FC_TRACE_OPTIONS                                                                                               \
    {                                                                                                                  \
        .flops_per_s = 1e9, .tick_s = 1e-9, .memory_events = 1 << 20                                                   \
    }

static inline double fc_speed_of(const struct fc_trace_options *options, uint32_t rank)
{
    return options->n_speeds ? options->speeds[options->n_speeds > 1 ? rank : 0] : options->flops_per_s;
}

/* ---- the sink (trace_sink.c) ---- */

/* Takes a trace as it is read. Fields are private but `st` and `bytes`; every function fails by filling it. */
struct fc_trace_sink {
    struct fc_status *st;
    struct fc_trace *trace;
    struct fc_sink_rank *ranks; /* [n_ranks] */
    struct fc_sink_comm *comms; /* list of those defined so far, last first */
    struct fc_sink_note *notes;
    uint32_t n_comms;
    uint64_t
        bytes; /* of the input, as fc_stream_bytes: set by the reader before fc_sink_start; what the input announces
                         * is held against it */
    uint64_t n_members; /* of all communicators so far */
    struct fc_arena scratch;
    uint64_t n_events, memory_events; /* so many stay in memory; 0: all */
    struct fc_block_writer *spool;    /* where they go once there are more; NULL: memory */
    FILE *spool_file;                 /* temporary, without a name */
};

/* First of all: how many ranks (at least one), the command line and origin (NULL: unknown). Defines communicator 0, the
 * world. */
enum fc_code fc_sink_start(struct fc_trace_sink *sink, uint32_t n_ranks, const char *program, const char *recorded);
/* The events depend on each other as a graph (struct fc_trace). */
void fc_sink_graph(struct fc_trace_sink *sink);
/* The file of a rank, for messages. */
enum fc_code fc_sink_file(struct fc_trace_sink *sink, uint32_t rank, const char *path);
/* Defines the next communicator, at any time before the sink is closed; events may name it before: member[n] in its own
 * order (world ranks, each once; copied); *comm gets its number. */
enum fc_code fc_sink_comm(struct fc_trace_sink *sink, const uint32_t *member, uint32_t n, int32_t *comm);
/* The next event of `rank`. event->list is ignored: list[event->n_list] is copied (NULL when n_list is 0). Requests
 * count up from 0 per rank (fc_sink_requests). O(1). */
enum fc_code fc_sink_event(struct fc_trace_sink *sink, uint32_t rank, const struct fc_event *event,
                           const int64_t *list);
/* Events and requests that the rank has made so far. */
uint64_t fc_sink_events(const struct fc_trace_sink *sink, uint32_t rank);
int32_t fc_sink_requests(const struct fc_trace_sink *sink, uint32_t rank);
/* The format counts operations: behind fc_sink_start. FC_INPUT unless the speeds are above 0, and none, one,
 * or one for each rank. */
enum fc_code fc_sink_speeds(struct fc_trace_sink *sink, const struct fc_trace_options *options);
/* Time of the rank for so many operations. */
double fc_sink_seconds(struct fc_trace_sink *sink, const struct fc_trace_options *options, uint32_t rank,
                       double operations);
/* Something that the trace lacks or that was left out, once for each occurrence; the same text again is counted. At the end it
 * becomes an entry of trace->unwrapped: "(12 times: TEXT)"; with 0 times the text as it is. */
enum fc_code fc_sink_note(struct fc_trace_sink *sink, const char *text, uint64_t times);

/* ---- formats (trace_formats.c) ---- */

/* What is known of a file before it is read. */
struct fc_trace_probe {
    const char *path;
    bool folder;
    const char *head; /* first bytes, decompressed; of a folder none */
    size_t n_head;    /* at most 64 KiB */
};

struct fc_trace_format {
    const char *name;                               /* "otf2", as --format takes it */
    const char *what;                               /* one line for `list` */
    bool (*is)(const struct fc_trace_probe *probe); /* told apart from all others by name or first bytes */
    /* Reads the whole trace into the sink. FC_INPUT names file, and rank and record or line. */
    enum fc_code (*read)(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink);
};
extern const struct fc_trace_format *const fc_trace_formats[]; /* ends with NULL; our own form is not in it */

/* Their names, "otf2, dumpi, ...", into `out`, which is returned. */
const char *fc_trace_format_names(char *out, size_t size);
/* The format of a file or folder; *format NULL: our own (also when nothing else fits). */
enum fc_code fc_trace_detect(const char *path, const struct fc_trace_format **format, struct fc_status *st);
/* fc_trace_read with options. */
enum fc_code fc_trace_read_with(const char *path, const struct fc_trace_options *options, struct fc_trace *trace,
                                struct fc_status *st);
/* Reads trace->file through the format's reader into memory. O(trace). */
enum fc_code fc_trace_read_foreign(const struct fc_trace_format *format, const struct fc_trace_options *options,
                                   struct fc_trace *trace, struct fc_status *st);
/* The same as a source: memory for options->memory_events events, for more of them a temporary file in TMPDIR. Takes the trace
 * (its arena and file) over, also when it fails; an opened source owns it. */
struct fc_trace_source;
enum fc_code fc_source_foreign(const struct fc_trace_format *format, const struct fc_trace_options *options,
                               struct fc_trace *trace, struct fc_trace_source *source, struct fc_status *st);
