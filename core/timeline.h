/* timeline.h - what the ranks of a job do, and what is under way between nodes, over the time of a replay
 * (timeline.c). */
#pragma once

#include "core/core.h"

/* The first three are what a rank's processor does; it waits until its end when it does none of them. */
enum fc_rank_state { FC_RANK_COMPUTES, FC_RANK_SENDS, FC_RANK_RECEIVES, FC_RANK_WAITS, FC_RANK_STATES };
enum { FC_TIMELINE_ROWS = 64, FC_TIMELINE_BINS = 1024 };

/* Ranks share rows, times share bins, so that it takes 2 MB for any job. All times are of the replay, s. */
struct fc_timeline {
    uint32_t only_ranks; /* set before: the job is the first so many ranks of the trace; 0: all of them */
    struct fc_arena arena;
    uint32_t n_ranks, ranks_per_row, n_rows; /* the last row may have fewer */
    uint32_t n_bins;                         /* those up to the end */
    double bin_s;                            /* length of a bin, a power of two */
    double *state_s;       /* [n_rows][FC_TIMELINE_BINS][FC_RANK_STATES], added over the ranks of the row */
    double *network_bytes; /* [FC_TIMELINE_BINS] payload between nodes, spread evenly over its way */
    double n_processors;   /* of a rank: more than 1 only of graphs */
};

static inline double *fc_timeline_at(const struct fc_timeline *t, uint32_t row, uint32_t bin)
{
    return &t->state_s[((size_t)row * FC_TIMELINE_BINS + bin) * FC_RANK_STATES];
}
static inline uint32_t fc_timeline_ranks(const struct fc_timeline *t, uint32_t row)
{
    return row + 1 < t->n_rows ? t->ranks_per_row : t->n_ranks - row * t->ranks_per_row;
}

/* An empty one for a trace of n_ranks; what it held is freed. FC_NO: out of memory. */
enum fc_code fc_timeline_start(struct fc_timeline *timeline, uint32_t n_ranks, struct fc_status *st);
void fc_timeline_free(struct fc_timeline *timeline);
/* The rank does `state` from..to. O(bins that it covers); intervals come in any order. */
void fc_timeline_does(struct fc_timeline *timeline, uint32_t rank, enum fc_rank_state state, double from_s,
                      double to_s);
/* Bytes of a message of `rank` are under way from..to. */
void fc_timeline_moves(struct fc_timeline *timeline, uint32_t rank, double bytes, double from_s, double to_s);
/* Every rank waits where it did nothing else until finish_s[rank]; bins end at the last of it all. */
void fc_timeline_end(struct fc_timeline *timeline, const double *finish_s);
