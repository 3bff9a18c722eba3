/* transit_ends.h - messages under way in the order in which they end: a binary heap that knows where each message stands. What
 * decides is in the heap itself, so that looking for the least does not visit the messages. */
#pragma once

#include "solvers/transit/transit_internal.h"

struct fc_transit_end {
    unsigned __int128 key; /* fc_transit_event_key of when it ends, and of its id */
    uint32_t message;
};
struct fc_transit_ends {
    struct fc_transit_end *end; /* [n] */
    uint32_t *place;            /* [message] in end[] */
    size_t n, end_capacity, place_capacity;
};

static inline void fc_transit_ends_close(struct fc_transit_ends *ends)
{
    free(ends->end);
    free(ends->place);
}

static inline void fc_transit_ends_put(struct fc_transit_ends *ends, size_t at, struct fc_transit_end end)
{
    ends->end[at] = end;
    ends->place[end.message] = (uint32_t)at;
}
/* It comes to a place at which none, or one that ends later, stands: it or a later one goes on from there. */
static inline void fc_transit_ends_sink(struct fc_transit_ends *ends, size_t at, struct fc_transit_end end)
{
    size_t child, n = ends->n;
    while ((child = 2 * at + 2) < n) {
        child -= ends->end[child - 1].key < ends->end[child].key; /* without a branch */
        if (!(ends->end[child].key < end.key)) break;
        fc_transit_ends_put(ends, at, ends->end[child]);
        at = child;
    }
    if (child == n && ends->end[n - 1].key < end.key) {
        fc_transit_ends_put(ends, at, ends->end[n - 1]);
        at = n - 1;
    }
    fc_transit_ends_put(ends, at, end);
}

/* A message (below `messages`) that never ends, so far. False with the status filled: out of memory. */
static inline bool fc_transit_ends_add(struct fc_transit_ends *ends, uint32_t message, uint64_t id, size_t messages,
                                       struct fc_status *st)
{
    if (!fc_transit_reserve((void **)&ends->place, &ends->place_capacity, messages, sizeof *ends->place, st) ||
        !fc_transit_reserve((void **)&ends->end, &ends->end_capacity, ends->n + 1, sizeof *ends->end, st))
        return false;
    ends->n++;
    fc_transit_ends_put(ends, ends->n - 1, (struct fc_transit_end){fc_transit_event_key(INFINITY, id), message});
    return true;
}
/* The first is no longer one. */
static inline void fc_transit_ends_drop(struct fc_transit_ends *ends)
{
    if (--ends->n > 0) fc_transit_ends_sink(ends, 0, ends->end[ends->n]);
}

/* A message ends at another time; `later`: the order is made by fc_transit_ends_sort. */
static inline void fc_transit_ends_move(struct fc_transit_ends *ends, uint32_t message, uint64_t id, double end_s,
                                        bool later)
{
    struct fc_transit_end end = {fc_transit_event_key(end_s, id), message};
    size_t at = ends->place[message], from = at;
    if (later) {
        ends->end[at].key = end.key;
        return;
    }
    while (at > 0 && end.key < ends->end[(at - 1) / 2].key) {
        fc_transit_ends_put(ends, at, ends->end[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    if (at == from)
        fc_transit_ends_sink(ends, at, end);
    else
        fc_transit_ends_put(ends, at, end);
}
static inline void fc_transit_ends_sort(struct fc_transit_ends *ends)
{
    for (size_t i = ends->n / 2; i-- > 0;) fc_transit_ends_sink(ends, i, ends->end[i]);
}

/* When the first of them ends; INFINITY: none is under way. */
static inline double fc_transit_ends_first(const struct fc_transit_ends *ends)
{
    if (ends->n == 0) return INFINITY;
    uint64_t bits = (uint64_t)(ends->end[0].key >> 64);
    double end_s;
    memcpy(&end_s, &bits, sizeof end_s);
    return end_s;
}
