/* export.h - a trace written for other tools: GOAL (LogGOPSim), SimGrid's time-independent form, Matrix Market.
 *
 * These forms have no communicators, so collective calls become the messages of their algorithm (collective.c) where the form
 * cannot say them. What a form cannot say at all is counted, never dropped in silence. */
#pragma once

#include "solvers/replay/job_calls.h"
#include "traces/trace_formats.h"
#include "traces/trace_source.h"

enum fc_export_loss {
    FC_LOST_RMA,         /* one-sided calls left out */
    FC_LOST_WILDCARD,    /* receives with any source or any tag, which may take a message of a collective */
    FC_LOST_NONBLOCKING, /* nonblocking collectives written as blocking ones */
    FC_LOST_OPEN,        /* requests that are never completed */
    FC_N_LOSSES
};
extern const char *const fc_export_losses[FC_N_LOSSES]; /* as told to people before their number */

struct fc_trace_writer {
    const char *name, *what;
    const char *extension; /* of the files, ".goal" */
    /* Writes the trace, which is checked; losses[FC_N_LOSSES] are added to. FC_INPUT: what fc_job_calls_find refuses, or
     * what the form cannot hold at all. Memory O(events), beside the trace. */
    enum fc_code (*write)(const struct fc_trace *trace, const struct fc_trace_options *options, FILE *out,
                          uint64_t *losses, struct fc_status *st);
};
extern const struct fc_trace_writer fc_trace_writers[]; /* ends with name NULL; our own forms are not in it */

/* ---- for writers ---- */

struct fc_exporter {
    const struct fc_trace *trace;
    struct fc_arena arena;
    struct fc_job_calls calls;
    uint64_t *part; /* [n_events] fc_call_part(); UINT64_MAX: of no call */
    struct fc_export_tag {
        int32_t comm, tag, number; /* number -1: free */
    } * tags;                      /* [mask + 1] */
    uint64_t mask;
    bool keep_world;    /* tags of the world are written as they are */
    int64_t first_call; /* tag of the messages of call 0 */
    uint64_t *losses;
};
enum fc_code fc_export_start(const struct fc_trace *trace, uint64_t *losses, struct fc_exporter *x,
                             struct fc_status *st);
void fc_export_end(struct fc_exporter *x);
/* One number for each (communicator, tag), FC_ANY for FC_ANY; tags of the world stay as they are where they leave room. */
int64_t fc_export_tag(const struct fc_exporter *x, int32_t comm, int32_t tag);

/* A message of a member's part of a call. */
struct fc_export_step {
    bool receives;
    uint32_t peer, round; /* peer: rank of the world */
    int64_t bytes, tag;
};
/* The steps of event `event`'s part: [first, end), to be asked for one by one. */
void fc_export_steps(const struct fc_exporter *x, uint64_t event, uint64_t *first, uint64_t *end);
struct fc_export_step fc_export_step(const struct fc_exporter *x, uint64_t event, uint64_t step);

enum fc_code fc_export_goal(const struct fc_trace *trace, const struct fc_trace_options *options, FILE *out,
                            uint64_t *losses, struct fc_status *st);
enum fc_code fc_export_ti(const struct fc_trace *trace, const struct fc_trace_options *options, FILE *out,
                          uint64_t *losses, struct fc_status *st);
