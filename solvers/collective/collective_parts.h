/* collective_parts.h - the algorithms themselves, for the table in collective.c and for algorithms made of
 * others. build_x appends the messages of x from s->round on; time_x is its closed form. */
#ifndef FC_COLLECTIVE_PARTS_H
#define FC_COLLECTIVE_PARTS_H

#include "solvers/collective/collective.h"

#define FC_COLLECTIVE(name)                                                                                            \
    void fc_build_##name(struct fc_schedule *s);                                                                       \
    double fc_time_##name(const struct fc_loggp *p, uint32_t n, double bytes)

/* collective_dissemination.c */
extern const struct fc_collective_alike fc_alike_dissemination;
double fc_time_dissemination(const struct fc_loggp *p, uint32_t n, double bytes);
/* collective_doubling.c: recursive doubling */
FC_COLLECTIVE(barrier_doubling);
FC_COLLECTIVE(allreduce_doubling);
FC_COLLECTIVE(scan_doubling);
extern const struct fc_collective_alike fc_alike_allgather_doubling;
double fc_time_allgather_doubling(const struct fc_loggp *p, uint32_t n, double bytes);
/* collective_binomial.c */
FC_COLLECTIVE(bcast_binomial);
FC_COLLECTIVE(reduce_binomial);
FC_COLLECTIVE(scatter_binomial);
FC_COLLECTIVE(gather_binomial);
/* collective_tree.c: other trees, whole or in segments */
FC_COLLECTIVE(bcast_linear);
FC_COLLECTIVE(bcast_chain);
FC_COLLECTIVE(bcast_pipeline);
FC_COLLECTIVE(bcast_binary);
FC_COLLECTIVE(bcast_binary_segments);
FC_COLLECTIVE(bcast_knomial);
FC_COLLECTIVE(bcast_binomial_segments);
FC_COLLECTIVE(reduce_linear);
FC_COLLECTIVE(reduce_in_order);
void fc_build_reduce_pipeline(struct fc_schedule *s);
void fc_build_reduce_binary_segments(struct fc_schedule *s);
void fc_build_reduce_binomial_segments(struct fc_schedule *s);
FC_COLLECTIVE(reduce_chain);
FC_COLLECTIVE(reduce_chains);
FC_COLLECTIVE(reduce_binary);
FC_COLLECTIVE(barrier_linear);
FC_COLLECTIVE(barrier_binomial);
FC_COLLECTIVE(barrier_quaternary);
/* collective_linear.c */
FC_COLLECTIVE(scatter_linear);
FC_COLLECTIVE(gather_linear);
FC_COLLECTIVE(scan_linear);
extern const struct fc_collective_alike fc_alike_alltoall_linear, fc_alike_allgather_linear;
double fc_time_alltoall_linear(const struct fc_loggp *p, uint32_t n, double bytes);
/* collective_ring.c */
extern const struct fc_collective_alike fc_alike_allgather_ring, fc_alike_allreduce_ring;
extern const struct fc_collective_alike fc_alike_reduce_scatter_ring;
double fc_time_allgather_ring(const struct fc_loggp *p, uint32_t n, double bytes);
double fc_time_allreduce_ring(const struct fc_loggp *p, uint32_t n, double bytes);
/* collective_bruck.c */
extern const struct fc_collective_alike fc_alike_allgather_bruck, fc_alike_alltoall_bruck;
double fc_time_allgather_bruck(const struct fc_loggp *p, uint32_t n, double bytes);
double fc_time_alltoall_bruck(const struct fc_loggp *p, uint32_t n, double bytes);
/* collective_sparbit.c, collective_radix.c, collective_doubling_any.c: allgather and others */
FC_COLLECTIVE(sparbit);
void fc_build_allgather_bruck_4(struct fc_schedule *s);
void fc_build_allgather_bruck_8(struct fc_schedule *s);
void fc_build_alltoall_bruck_4(struct fc_schedule *s);
void fc_build_alltoall_bruck_8(struct fc_schedule *s);
void fc_build_allgather_doubling_any(struct fc_schedule *s);
void fc_build_bcast_scatter_doubling_any(struct fc_schedule *s);
void fc_build_reduce_scatter_doubling(struct fc_schedule *s);
/* collective_split.c, collective_throttled.c */
void fc_build_bcast_split(struct fc_schedule *s);
void fc_build_scattered(struct fc_schedule *s);
void fc_build_gather_sync(struct fc_schedule *s);
FC_COLLECTIVE(scatter_nb);
FC_COLLECTIVE(double_ring);
/* collective_rabenseifner_halves.c, collective_ring_segments.c, collective_butterfly.c */
FC_COLLECTIVE(allreduce_halves);
void fc_build_reduce_halves(struct fc_schedule *s);
FC_COLLECTIVE(allreduce_ring_segments);
void fc_build_butterfly(struct fc_schedule *s);
FC_COLLECTIVE(noncommutative);
/* collective_pairwise.c */
extern const struct fc_collective_alike fc_alike_alltoall_shifted;
extern const struct fc_collective_alike fc_alike_alltoall_pairwise, fc_alike_reduce_scatter_pairwise;
double fc_time_pairwise(const struct fc_loggp *p, uint32_t n, double bytes); /* n - 1 rounds of one block */
/* collective_neighbor.c */
extern const struct fc_collective_alike fc_alike_neighbor;
double fc_time_neighbor(const struct fc_loggp *p, uint32_t n, double bytes);
/* collective_halving.c */
FC_COLLECTIVE(halving);
/* collective_rabenseifner.c */
FC_COLLECTIVE(allreduce_rabenseifner);
FC_COLLECTIVE(reduce_rabenseifner);
/* collective_composed.c: one after the other */
FC_COLLECTIVE(bcast_scatter_ring);
FC_COLLECTIVE(bcast_scatter_doubling);
FC_COLLECTIVE(allreduce_reduce_bcast);
FC_COLLECTIVE(allreduce_linear);
FC_COLLECTIVE(allreduce_allgather);
FC_COLLECTIVE(allgather_gather_bcast);
FC_COLLECTIVE(reduce_scatter_reduce_scatter);

/* What networks carry out: collective_qsnet.c, collective_line.c, collective_plane.c. The table gives each the messages
 * of software that does the same, for who wants bytes between tasks. */
extern const struct fc_collective_hardware fc_hardware_barrier, fc_hardware_barrier_event, fc_hardware_barrier_elan;
extern const struct fc_collective_hardware fc_hardware_bcast, fc_hardware_bcast_elan;
extern const struct fc_collective_hardware fc_hardware_line, fc_hardware_plane;

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

#endif
