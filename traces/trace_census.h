/* trace_census.h - what `trace info` tells of a trace, counted in one pass over a source. */
#pragma once

#include "traces/trace_period.h"

enum { FC_SIZE_CLASSES = 65 };
/* Class of a size or count: 0 of 0; k of 2^(k-1) .. 2^k - 1. */
static inline int fc_size_class(uint64_t n)
{
    return n ? 64 - __builtin_clzll(n) : 0;
}

struct fc_trace_census {
    struct fc_trace_summary totals;
    uint64_t messages[FC_SIZE_CLASSES]; /* sends by size */
    double message_bytes[FC_SIZE_CLASSES];
    uint64_t calls[FC_SIZE_CLASSES];    /* collective calls by the bytes recorded; making communicators is none */
    uint64_t partners[FC_SIZE_CLASSES]; /* ranks by the number of ranks that they send to */
    uint32_t most_partners;
    double computation_share; /* CPU time between calls of it and time in calls, over all ranks; NaN: no time */
    uint64_t n_sub_comms, n_sub_calls; /* communicators of some ranks only; collective calls on them */
    /* Balance by pair of ranks: how many more there are than the other side has. */
    uint64_t unmatched_sends, unmatched_receives;
    uint64_t other_tags;    /* pairs with as many receives as sends, but of other communicators or tags */
    uint64_t wildcards;     /* receives that do not tell their source or tag */
    uint64_t open_requests; /* never waited for */
};
/* Takes the whole source, rank by rank; and with a period (NULL: without) what fc_period_find finds, in one reading. Memory O(ordered
 * pairs of ranks with messages). Errors: those of the source. */
enum fc_code fc_trace_count_periods(struct fc_trace_source *source, struct fc_trace_census *census,
                                    struct fc_period *period, struct fc_status *st);
