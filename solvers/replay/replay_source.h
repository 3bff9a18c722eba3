/* replay_source.h - a rank's next event, and a look ahead at collective calls still to come (replay_source.c). */
#pragma once

#include "solvers/replay/replay_calls.h"

/* Events of a rank that were read but not yet replayed, because a collective call needed to know what the
 * others bring. */
struct fc_ahead {
    struct fc_event *event; /* [first .. first + n) */
    int64_t *list;
    size_t first, n, capacity, n_list, list_capacity;
    uint64_t scanned; /* events of the rank up to here were looked at */
};
struct fc_reader {
    struct fc_job *job;
    struct fc_ahead *ahead; /* [n_ranks] */
    uint32_t *scanned;      /* [comm_first[n_comms]] calls looked at of each member of each communicator */
    uint64_t *number;       /* [n_ranks] of the event at hand; of a trace in memory: of the next to look at */
    struct fc_arena arena;
};
enum fc_code fc_reader_start(struct fc_reader *reader, struct fc_job *job);
void fc_reader_free(struct fc_reader *reader);
/* The rank's next event and its list; NULL at its end, or with the status filled. */
const struct fc_event *fc_reader_peek_slow(struct fc_reader *reader, uint32_t rank);
static inline const struct fc_event *fc_reader_peek(struct fc_reader *reader, uint32_t rank)
{
    const struct fc_source_rank *r = &reader->job->source->rank[rank];
    return reader->ahead == NULL && r->at != r->end ? r->at : fc_reader_peek_slow(reader, rank);
}
void fc_reader_take_slow(struct fc_reader *reader, struct fc_calls *calls, uint32_t rank);
static inline void fc_reader_take(struct fc_reader *reader, struct fc_calls *calls, uint32_t rank)
{
    if (reader->ahead)
        fc_reader_take_slow(reader, calls, rank);
    else
        fc_source_take(reader->job->source, rank);
}
const int64_t *fc_reader_list(const struct fc_reader *reader, uint32_t rank, const struct fc_event *e);
uint64_t fc_reader_number(const struct fc_reader *reader, uint32_t rank);
/* Looks at the rank's events until its number-th call of the communicator has been announced, or it ends. */
enum fc_code fc_reader_scan(struct fc_reader *reader, struct fc_calls *calls, uint32_t rank, uint32_t comm,
                            uint32_t member, uint32_t number);
/* Is Finalize the last event of every rank? Looks at all that is left. */
enum fc_code fc_reader_finalizes(struct fc_reader *reader, struct fc_calls *calls, bool *all);
