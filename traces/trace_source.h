/* trace_source.h - a trace as streams: each rank's events one after the other, whether they lie in memory or in a file
 * larger than memory. What replays, converts or counts a trace goes through this. */
#pragma once

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
    /* Is Finalize the last event of every rank? May be NULL: that takes a reading. False also with st filled. */
    bool (*finalizes)(struct fc_trace_source *source);
    void (*close)(struct fc_trace_source *source);
    void *private;
};

/* A trace in memory as a source; the trace is borrowed. O(ranks). */
enum fc_code fc_source_memory(const struct fc_trace *trace, struct fc_trace_source *source, struct fc_status *st);
/* The same; the source takes the trace over, also when it fails. */
enum fc_code fc_source_own(struct fc_trace *trace, struct fc_trace_source *source, struct fc_status *st);
/* A trace file of any format as a source; `st` is kept for as long. One of at most options->memory_events events (NULL: the
 * usual options) is read into memory (head->events is not NULL then) and checked. A longer one is streamed: a file of our
 * packed form, version 2, block by block, any other after it went once through a temporary file in TMPDIR (of blocks; it
 * has no name, so that it is gone when the process ends, however; FC_NO when it cannot be written). What
 * is no regular file is always read into memory. Streamed events are checked as they
 * come: an FC_INPUT with the place of fc_event_place may turn up at any refill. Memory of a streamed one: a block a rank,
 * together some 100 MB up to 50 000 ranks, and the head. */
struct fc_trace_options;
enum fc_code fc_source_open(const char *path, const struct fc_trace_options *options, struct fc_trace_source *source,
                            struct fc_status *st);
/* Writes the rest of a source that was just opened or restarted as fc_trace_write does; in bounded memory when it is
 * streamed. */
enum fc_code fc_source_write(struct fc_trace_source *source, const char *path, bool text, struct fc_status *st);
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
/* An event's own list among `lists`; NULL when it has none (there may then be no lists at all). */
static inline const int64_t *fc_event_list(const int64_t *lists, const struct fc_event *e)
{
    return e->n_list ? lists + e->list : NULL;
}
static inline const int64_t *fc_source_list(const struct fc_trace_source *source, uint32_t rank,
                                            const struct fc_event *e)
{
    return fc_event_list(source->rank[rank].lists, e);
}
