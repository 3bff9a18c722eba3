/* kept_traces.h - private to serve/: traces that were read stay in memory for further questions (kept_traces.c). */
#pragma once

#include "traces/traces.h"

/* Together; a longer one is read by each question. */
#define FC_SERVE_TRACE_BYTES (256.0 * 1024 * 1024)

struct fc_kept_traces; /* opaque; used by any number of threads */
struct fc_kept_trace;
/* `most_bytes` of all traces that are kept; 0: FC_SERVE_TRACE_BYTES. NULL: out of memory. */
struct fc_kept_traces *fc_kept_traces_open(double most_bytes);
/* Nobody may use one any more. */
void fc_kept_traces_close(struct fc_kept_traces *traces);
/* The trace in a file of one of our own forms, read before or now, and unchanged since; in use until it is left. NULL: it is
 * for the question to read, and to say what is wrong with it. A question that asks for one that another is reading waits. */
struct fc_kept_trace *fc_kept_trace_enter(struct fc_kept_traces *traces, const char *path,
                                          const struct fc_trace **trace);
void fc_kept_trace_leave(struct fc_kept_traces *traces, struct fc_kept_trace *kept); /* NULL is fine */
