/* ranks.h - processes (MPI ranks) that work out one answer together, each a part of it: what they tell each other. Every rank
 * makes the same calls in the same order. Who makes the table: cli/ranks_mpi.c over MPI, tests/ranks_threads.h in threads. */
#pragma once

#include "core/core.h"

#include <stdlib.h>

/* A message: n bytes, malloc'd. */
struct fc_parcel {
    void *bytes;
    size_t n, capacity;
};
/* Makes place for `n` bytes; what is in it may be lost. False: out of memory, nothing is changed. */
static inline bool fc_parcel_room(struct fc_parcel *parcel, size_t n)
{
    if (n <= parcel->capacity) return true;
    size_t capacity = n + n / 2;
    void *more = malloc(capacity);
    if (!more) return false;
    free(parcel->bytes);
    parcel->bytes = more;
    parcel->capacity = capacity;
    return true;
}

struct fc_ranks {
    int rank, size;
    void *own; /* of whoever made the table */
    /* One message to each of n other ranks, and one from each of them, a multiple of 8 bytes; returns when all have come.
     * in[n] are owned by the caller and grow as needed. Peers of one rank have it as a peer, too. */
    void (*exchange)(const struct fc_ranks *ranks, int n, const int *peer, const struct fc_parcel *out,
                     struct fc_parcel *in);
    /* Each value becomes the sum (modulo 2^64), or the greatest, of those of all ranks, on all of them. */
    void (*sum)(const struct fc_ranks *ranks, uint64_t *value, size_t n);
    void (*greatest)(const struct fc_ranks *ranks, uint64_t *value, size_t n);
    /* The messages of all ranks behind each other, on all of them; first[size + 1]: where each begins. */
    void (*gather)(const struct fc_ranks *ranks, const struct fc_parcel *out, struct fc_parcel *in, size_t *first);
    /* Says why and ends all ranks; does not come back. For a rank without memory, where to speak with the others may fail,
     * too, and they would wait. NULL: it speaks with them. */
    void (*give_up)(const struct fc_ranks *ranks, const struct fc_status *why);
};

/* Whether there are others. */
static inline bool fc_ranks_several(const struct fc_ranks *ranks)
{
    return ranks && ranks->size > 1;
}
/* Where a rank that failed tells the others, which would wait for it: all of them come here. When some rank's status is a
 * failure, that of the lowest such rank becomes that of all of them, with its number. Returns st->code. */
enum fc_code fc_ranks_agree(const struct fc_ranks *ranks, struct fc_status *st);
/* Whether all ranks have the same value. */
bool fc_ranks_alike(const struct fc_ranks *ranks, uint64_t value);
