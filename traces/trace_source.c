/* trace_source.c - opens a trace as a source, and the source of a trace in memory: all of a rank is at hand at once. */
#include "traces/trace_blocks.h"

#include <stdlib.h>
#include <sys/stat.h>

static void nothing_more(struct fc_trace_source *source, uint32_t rank)
{
    (void)source;
    (void)rank;
}

static enum fc_code restart(struct fc_trace_source *source)
{
    const struct fc_trace *t = source->head;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        source->rank[r] = (struct fc_source_rank){
            .at = t->events + t->first_event[r], .end = t->events + t->first_event[r + 1], .lists = t->lists};
    return FC_OK;
}

enum fc_code fc_source_memory(const struct fc_trace *trace, struct fc_trace_source *source, struct fc_status *st)
{
    *source = (struct fc_trace_source){.head = trace, .st = st, .refill = nothing_more, .restart = restart};
    source->rank = calloc(trace->n_ranks, sizeof *source->rank);
    if (!source->rank) return fc_out_of_memory(st, "%u ranks of a trace", trace->n_ranks);
    return restart(source);
}

/* ---- a trace that the source owns ---- */

static void close_own(struct fc_trace_source *source)
{
    fc_trace_free(source->private);
    free(source->private);
}

enum fc_code fc_source_own(struct fc_trace *trace, struct fc_trace_source *source, struct fc_status *st)
{
    struct fc_trace *own = malloc(sizeof *own);
    if (!own) {
        fc_trace_free(trace);
        return fc_out_of_memory(st, "reading the trace");
    }
    *own = *trace;
    *trace = (struct fc_trace){0};
    fc_source_memory(own, source, st);
    source->private = own;
    source->close = close_own;
    if (st->code) fc_source_close(source);
    return st->code;
}

/* ---- opening ---- */

/* ---- writing ---- */

void fc_source_close(struct fc_trace_source *source)
{
    if (source->close) source->close(source);
    free(source->rank);
    *source = (struct fc_trace_source){0};
}
