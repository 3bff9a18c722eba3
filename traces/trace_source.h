/* trace_source.h - a trace as streams: each rank's events one after the other, whether they lie in memory or in a file
 * larger than memory. What replays, converts or counts a trace goes through this. */
#ifndef FC_TRACE_SOURCE_H
#define FC_TRACE_SOURCE_H

#include "traces/traces.h"

/* What is at hand of one rank. */
struct fc_source_rank {
    const struct fc_event *at, *end; /* next event, end of those at hand */
    const int64_t *lists;            /* event->list is an index into it */
    uint64_t number;                 /* of the event at `at`, from 0 */
};
struct fc_trace_source {
    const struct fc_trace *head; /* ranks, communicators, names; its events only when they are in memory (else NULL) */
    struct fc_status *st;
    struct fc_source_rank *rank; /* [n_ranks] */
    /* Brings more events of the rank to at .. end; none (at == end) at the rank's end or with st filled. */
    void (*refill)(struct fc_trace_source *source, uint32_t rank);
    enum fc_code (*restart)(struct fc_trace_source *source); /* all ranks from their first event */
    void (*close)(struct fc_trace_source *source);
    void *private;
};

/* A trace in memory as a source; the trace is borrowed. O(ranks). */
enum fc_code fc_source_memory(const struct fc_trace *trace, struct fc_trace_source *source, struct fc_status *st);
void fc_source_close(struct fc_trace_source *source);

/* The rank's next event, without taking it; NULL at its end or when st is filled. Valid until the rank's next fc_source_peek
 * behind a fc_source_take. */
static inline const struct fc_event *fc_source_peek(struct fc_trace_source *source, uint32_t rank)
{
    struct fc_source_rank *r = &source->rank[rank];
    if (r->at == r->end) source->refill(source, rank);
    return r->at == r->end ? NULL : r->at;
}
static inline void fc_source_take(struct fc_trace_source *source, uint32_t rank)
{
    source->rank[rank].at++;
    source->rank[rank].number++;
}
static inline const int64_t *fc_source_list(const struct fc_trace_source *source, uint32_t rank, const struct fc_event *e)
{
    return source->rank[rank].lists + e->list;
}

#endif
