/* turns_ways.h - all ways to one destination as a graph without cycles (turns_ways.c), for
 * turns_destinations.c. */
#pragma once

#include "solvers/queueing/turns_internal.h"

/* A spot is a place and a route word: heads there have one set of outputs, whichever way they came. Spots
 * stand in topological order, those of the sources first. */
struct fc_ways {
    uint32_t n_starts, n_spots;
    double *start;     /* [n_starts] packets a cycle that start there */
    uint32_t *first;   /* [n_spots + 1] */
    uint32_t *channel; /* [first[n_spots]] of the turns, in the order of the routing */
    uint32_t *to;      /* same: spot behind it, FC_NONE: the destination */
};

struct fc_ways_builder {
    struct fc_turns_walk *w;
    struct fc_flit_words words;            /* random words that stand for all */
    uint32_t n_destinations, *destination; /* nodes that anything is sent to */
    uint32_t *first_entry, *entry;         /* [n_nodes + 1], [n_entries] of the demand by destination */
    double *rate;                          /* [n_nodes] scratch: packets a cycle from each source */
    uint32_t *last_at, *met;               /* [n_vertices] newest spot there, + 1, and when */
    uint32_t stamp;
    uint32_t n, capacity; /* spots in the order in which they are met */
    uint32_t *vertex, *next, *waits, *first, *order, *place;
    uint64_t *route;
    double *start;
    uint32_t n_edges, edges_capacity, most_outputs; /* of any spot built so far */
    uint32_t *channel, *to;
    struct fc_ways ways; /* the latest built */
    struct fc_ways kept; /* the latest taken out of a copy */
};

/* FC_OK with *good: whether a few random words stand for all under the routing, so that building all ways is
 * exact. */
enum fc_code fc_ways_open(struct fc_turns_walk *w, struct fc_ways_builder *builder, bool *good, struct fc_status *st);
/* The ways of all traffic to the node under random word `word`, in builder->ways until the next call. Rates
 * are those of one word, all of them together make the traffic. */
enum fc_code fc_ways_build(struct fc_ways_builder *builder, uint32_t destination, uint32_t word, struct fc_status *st);
/* Where copies are kept; start with the arena and zeros. */
struct fc_ways_store {
    struct fc_arena *arena;
    char *at;
    size_t left;   /* bytes behind `at` */
    double *start; /* of the copy before */
    uint32_t n_starts;
};
/* struct fc_ways, with numbers of 16 bits where those do: what is gone through again and again is memory. */
struct fc_kept_ways {
    uint32_t n_starts, n_spots;
    bool narrow;
    double *start;
    void *first, *channel, *to;
};
/* A copy that lives as long as the arena of the store. */
enum fc_code fc_ways_keep(const struct fc_ways *ways, struct fc_ways_store *store, struct fc_kept_ways *copy,
                          struct fc_status *st);
/* The copy's ways until the next call with this builder, which has built it. */
const struct fc_ways *fc_ways_kept(struct fc_ways_builder *builder, const struct fc_kept_ways *copy);
