/* collective_parts.h - algorithms that others are made of; the table in collective.c declares them all. build_x appends
 * the messages of x from s->round on; time_x is its closed form. */
#pragma once

#include "solvers/collective/collective.h"

/* Defines one that is one step: messages into s; seconds of n members with `bytes` under p. */
#define FC_BUILD(name, does)                                                                                           \
    void fc_build_##name(struct fc_schedule *s)                                                                        \
    {                                                                                                                  \
        does;                                                                                                          \
    }
#define FC_TIME(name, seconds)                                                                                         \
    double fc_time_##name(const struct fc_loggp *p, uint32_t n, double bytes)                                          \
    {                                                                                                                  \
        (void)n, (void)bytes;                                                                                          \
        return seconds;                                                                                                \
    }

#define FC_COLLECTIVE(name)                                                                                            \
    void fc_build_##name(struct fc_schedule *s);                                                                       \
    double fc_time_##name(const struct fc_loggp *p, uint32_t n, double bytes)

/* collective_doubling.c, collective_ring.c, collective_bruck.c, collective_linear.c */
extern const struct fc_collective_alike fc_alike_allgather_doubling, fc_alike_allgather_ring, fc_alike_allgather_bruck;
double fc_time_allgather_doubling(const struct fc_loggp *p, uint32_t n, double bytes);
double fc_time_allgather_ring(const struct fc_loggp *p, uint32_t n, double bytes);
double fc_time_allgather_bruck(const struct fc_loggp *p, uint32_t n, double bytes);
double fc_time_alltoall_linear(const struct fc_loggp *p, uint32_t n, double bytes);
FC_COLLECTIVE(scatter_linear);
/* collective_binomial.c */
FC_COLLECTIVE(bcast_binomial);
FC_COLLECTIVE(reduce_binomial);
FC_COLLECTIVE(scatter_binomial);
FC_COLLECTIVE(gather_binomial);
/* collective_tree.c */
FC_COLLECTIVE(bcast_linear);
FC_COLLECTIVE(reduce_linear);

/* ---- folding to a power of two (collective_fold.c) ---- */

/* Members left after folding are numbered 0 .. power-1; the old number of member i: the odd one of a pair. */
static inline uint32_t fc_unfolded(uint32_t i, uint32_t folded)
{
    return i < folded ? 2 * i + 1 : i + folded;
}
/* The even member of each of the first n - 2^k pairs hands its vector to the odd one. Returns the pairs. */
uint32_t fc_fold(struct fc_schedule *s, double bytes);
/* All members left exchange with the one whose number differs in `mask`. */
void fc_fold_exchange(struct fc_schedule *s, uint32_t mask, uint32_t folded, double bytes);
void fc_unfold(struct fc_schedule *s, uint32_t folded, double bytes);
/* The greatest number of bits in which i differs from a number below `folded` (folded > 0). */
uint32_t fc_fold_distance(uint32_t i, uint32_t folded);
/* Time of k rounds of exchanges of b bytes among 2^k members, `folded` of which come a hop late; then, if
 * any is folded, results go back to them. */
double fc_fold_doubling_s(const struct fc_loggp *p, uint32_t n, double bytes);
