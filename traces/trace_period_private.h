/* trace_period_private.h - between trace_period.c, which finds what repeats in each rank, and
 * trace_period_rates.c, which puts the ranks together. */
#pragma once

#include "traces/trace_period.h"

/* Per period of the rank that tells it: messages from a to b (sent, or received), or calls of rank a on
 * communicator b. */
struct fc_rate {
    uint32_t a, b, n;
};
struct fc_rate_list {
    struct fc_rate *rate; /* [n] malloc'd */
    size_t n, capacity;
};
struct fc_period_rates {
    const struct fc_trace *head;
    struct fc_period *period; /* rank[]: start and length of each rank's own shortest period; */
    uint64_t *stretch;        /* [n_ranks] calls of the stretch that it covers */
    uint32_t *any;            /* [n_ranks] receives from anyone */
    struct fc_rate_list sends, receives, calls;
    struct fc_rate_list world; /* a: rank, b: place in the period, of its calls on communicator 0, in order */
    uint64_t *world_before;    /* [n_ranks] calls on communicator 0 before the stretch */
};
/* Makes periods of the ranks' own: sets repeats, or why there are none. */
enum fc_code fc_period_join(struct fc_period_rates *rates, struct fc_status *st);
