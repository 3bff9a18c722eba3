/* trace_source.c - a trace that lies in memory, as a source: all of a rank is at hand at once. */
#include "traces/trace_source.h"

#include <stdlib.h>

static void nothing_more(struct fc_trace_source *source, uint32_t rank)
{
    (void)source;
    (void)rank;
}

static enum fc_code restart(struct fc_trace_source *source)
{
    const struct fc_trace *t = source->head;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        source->rank[r] = (struct fc_source_rank){.at = t->events + t->first_event[r],
                                                  .end = t->events + t->first_event[r + 1],
                                                  .lists = t->lists};
    return FC_OK;
}

enum fc_code fc_source_memory(const struct fc_trace *trace, struct fc_trace_source *source, struct fc_status *st)
{
    *source = (struct fc_trace_source){.head = trace, .st = st, .refill = nothing_more, .restart = restart};
    source->rank = calloc(trace->n_ranks, sizeof *source->rank);
    if (!source->rank) return fc_refuse(st, FC_NO, "out of memory: %u ranks of a trace", trace->n_ranks);
    return restart(source);
}

void fc_source_close(struct fc_trace_source *source)
{
    if (source->close) source->close(source);
    free(source->rank);
    *source = (struct fc_trace_source){0};
}
