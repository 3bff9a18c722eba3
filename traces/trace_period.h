/* trace_period.h - the repeating part of an iterative program's trace: prologue, the same calls over and
 * over, epilogue.
 *
 * A rank's calls repeat where operation, mode, communicator, peer, tag, bytes and lists do, requests counted
 * from the newest; times and failed polls may differ. Places are counted in calls, that is events but POLL.
 */
#pragma once

#include "traces/trace_source.h"

struct fc_period_rank {
    uint64_t n_calls;    /* of the whole rank */
    uint64_t start;      /* first call of the first period; 0 and */
    uint64_t length;     /* 0: the rank does nothing that the others' periods need. Else calls of a period */
    uint64_t n_requests; /* that a period makes, and completes */
    double compute_s;    /* of the whole rank */
};
struct fc_period {
    struct fc_arena arena;
    uint32_t n_ranks;
    uint64_t repeats;                 /* periods n, at least FC_LEAST_REPEATS; 0: none found, `why` tells */
    struct fc_period_rank *rank;      /* [n_ranks] */
    uint64_t least_calls, most_calls; /* of a period, over the ranks that take part */
    double covers; /* share of all calls that lies in the n periods; none found: of the longest stretch
                    * of one rank that repeats */
    char why[200];
};
enum { FC_LEAST_REPEATS = 5 };

/* ---- finding it (trace_period.c) ---- */

/* Reads the source once, rank by rank. The stretch of a rank is the one about its middle call whose length
 * less four periods is greatest, exactly (two Z functions), so a loop of more than half of a rank's calls is
 * always found. The periods of the ranks are then put together so that in one period of all every pair of
 * ranks sends as many messages as it receives, every member of a communicator makes as many collective calls,
 * and every rank completes as many requests as it makes: taking whole periods out leaves a trace that fits
 * together. Where a period has collective calls of the world, all ranks' periods start behind the same one.
 * Found: at least FC_LEAST_REPEATS periods that cover half of all calls. O(events + pairs log pairs); memory
 * 16 bytes a call of the longest rank + pairs. Errors: those of the source. */
enum fc_code fc_period_find(struct fc_trace_source *source, struct fc_period *period, struct fc_status *st);
void fc_period_free(struct fc_period *period);

/* The same beside another reading: every event of rank 0, then of rank 1, ..., fc_period_next between two
 * ranks. */
struct fc_period_finder;
struct fc_period_finder *fc_period_start(const struct fc_trace *head, struct fc_period *period, struct fc_status *st);
enum fc_code fc_period_event(struct fc_period_finder *finder, const struct fc_event *event, const int64_t *list);
enum fc_code fc_period_next(struct fc_period_finder *finder);
/* Behind the last rank; frees the finder (NULL is fine), whatever the status says. */
enum fc_code fc_period_finish(struct fc_period_finder *finder);

/* ---- using it (trace_shorten.c) ---- */

/* A trace in memory with `keep` of the n periods, evenly spread over them, and all that lies before and
 * behind. Reads the source from its beginning (it is restarted). `left` is its period: the same with repeats
 * = keep. Polls go, their computation stays. FC_NO with the status filled when more than most_calls would be
 * left. Both are freed by the caller. */
enum fc_code fc_trace_shorten(struct fc_trace_source *source, const struct fc_period *period, uint64_t keep,
                              uint64_t most_calls, struct fc_trace *trace, struct fc_period *left,
                              struct fc_status *st);
/* Calls of the trace with `keep` periods. */
uint64_t fc_period_calls(const struct fc_period *period, uint64_t keep);
