/* timeline.c - what ranks do over the time of a replay, in rows of ranks and bins of time: the data of a
 * timeline and of a time profile as Projections draws them (Kale, Zheng, Lee & Kumar, FGCS 2006).
 *
 * How long the job takes is known at its end only. So bins begin short, and whenever something ends behind
 * the last one all of them become twice as long, neighbours added: sums stay exact, the memory too, and in
 * the end more than half of the bins are in use. Lengths are powers of two, so that neither the doubling nor
 * the number of bins depends on the order in which things happen.
 *
 *     waits[row][bin] = processors x (overlap of the bin with 0..finish, over the row's ranks) - the rest
 *
 * Limits: what nonblocking collectives do beside their rank costs it nothing in the replay, so it is not
 * shown. A message counts as under way from when it leaves its node to its last byte's arrival, evenly. */
#include "core/timeline.h"

#include <math.h>
#include <string.h>

static const double FIRST_BIN_S = 0x1p-40; /* 0.9 ps */

enum fc_code fc_timeline_start(struct fc_timeline *t, uint32_t n_ranks, struct fc_status *st)
{
    fc_timeline_free(t);
    t->n_ranks = t->only_ranks && t->only_ranks < n_ranks ? t->only_ranks : n_ranks;
    t->ranks_per_row = t->n_ranks > FC_TIMELINE_ROWS ? (t->n_ranks + FC_TIMELINE_ROWS - 1) / FC_TIMELINE_ROWS : 1;
    t->n_rows = (t->n_ranks + t->ranks_per_row - 1) / t->ranks_per_row;
    t->bin_s = FIRST_BIN_S;
    t->n_processors = 1;
    t->state_s = fc_alloc(&t->arena, (size_t)t->n_rows * FC_TIMELINE_BINS * FC_RANK_STATES, sizeof *t->state_s, st);
    t->network_bytes = fc_alloc(&t->arena, FC_TIMELINE_BINS, sizeof *t->network_bytes, st);
    return st->code;
}

void fc_timeline_free(struct fc_timeline *t)
{
    uint32_t only_ranks = t->only_ranks;
    fc_arena_free(&t->arena);
    *t = (struct fc_timeline){.only_ranks = only_ranks};
}

static void double_bins(struct fc_timeline *t)
{
    enum { HALF = FC_TIMELINE_BINS / 2 };
    for (uint32_t row = 0; row < t->n_rows; row++)
        for (uint32_t b = 0; b < HALF; b++)
            for (int k = 0; k < FC_RANK_STATES; k++)
                fc_timeline_at(t, row, b)[k] = fc_timeline_at(t, row, 2 * b)[k] + fc_timeline_at(t, row, 2 * b + 1)[k];
    for (uint32_t row = 0; row < t->n_rows; row++)
        memset(fc_timeline_at(t, row, HALF), 0, HALF * FC_RANK_STATES * sizeof(double));
    for (uint32_t b = 0; b < HALF; b++) t->network_bytes[b] = t->network_bytes[2 * b] + t->network_bytes[2 * b + 1];
    memset(t->network_bytes + HALF, 0, HALF * sizeof *t->network_bytes);
    t->bin_s *= 2;
    t->n_bins = (t->n_bins + 1) / 2;
}

/* Adds `amount`, spread evenly over from..to, to bins that are `stride` apart. */
static void spread(struct fc_timeline *t, double *bin, size_t stride, double amount, double from_s, double to_s)
{
    while (to_s > FC_TIMELINE_BINS * t->bin_s) double_bins(t);
    double from = from_s / t->bin_s, to = to_s / t->bin_s;
    uint32_t first = (uint32_t)from, last = (uint32_t)to;
    first = first < FC_TIMELINE_BINS ? first : FC_TIMELINE_BINS - 1;
    if (last > first && (double)last == to) last--; /* it ends with the bin before */
    if (last >= FC_TIMELINE_BINS) last = FC_TIMELINE_BINS - 1;
    if (last >= t->n_bins) t->n_bins = last + 1;
    if (first == last) {
        bin[first * stride] += amount;
        return;
    }
    double a_bin = amount / (to - from);
    bin[first * stride] += a_bin * (first + 1 - from);
    for (uint32_t b = first + 1; b < last; b++) bin[b * stride] += a_bin;
    bin[last * stride] += a_bin * (to - last);
}

void fc_timeline_does(struct fc_timeline *t, uint32_t rank, enum fc_rank_state state, double from_s, double to_s)
{
    if (rank >= t->n_ranks || !(to_s > from_s)) return;
    spread(t, fc_timeline_at(t, rank / t->ranks_per_row, 0) + state, FC_RANK_STATES, to_s - from_s, from_s, to_s);
}

void fc_timeline_moves(struct fc_timeline *t, uint32_t rank, double bytes, double from_s, double to_s)
{
    if (rank < t->n_ranks && bytes > 0) spread(t, t->network_bytes, 1, bytes, from_s, fmax(from_s, to_s));
}

void fc_timeline_end(struct fc_timeline *t, const double *finish_s)
{
    for (uint32_t r = 0; r < t->n_ranks; r++) fc_timeline_does(t, r, FC_RANK_WAITS, 0, finish_s[r]);
    for (uint32_t row = 0; row < t->n_rows; row++)
        for (uint32_t b = 0; b < t->n_bins; b++) {
            double *s = fc_timeline_at(t, row, b),
                   busy_s = s[FC_RANK_COMPUTES] + s[FC_RANK_SENDS] + s[FC_RANK_RECEIVES];
            s[FC_RANK_WAITS] = fmax(0, t->n_processors * s[FC_RANK_WAITS] - busy_s); /* below 0 by rounding */
        }
}
