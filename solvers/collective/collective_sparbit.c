/* collective_sparbit.c - allgather by Sparbit: binomial trees of all members at once, the longest distance first.
 *
 * k = ceil(log2 n) rounds over distances d = 2^(k-1), ..., 2, 1. A member holds its own block and those that came;
 * in each round it sends every one of them, a message each, to the member d behind it, and none is turned about
 * in the end. Where n is no multiple of 2 d, the last block of a round would come twice: it is left out, which of the
 * rounds is told by the bits of n. With c(d) blocks of b bytes in a round, each round is like an exchange of all with
 * c(d) others (collective_linear.c):
 *     T = sum over d of A(c(d) + 1, b),  A(n, b) the time of the linear alltoall.
 * Source: Loch & Koslovski, "Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather algorithm", 2021;
 * in Open MPI 5 (coll/base) and in HLC-Lab/pico (libbine), of which the rule of the left out block was read. */
#include "solvers/collective/collective_parts.h"

/* Is the last block of the round left out? d is one of the bits of n above its lowest that are not set, or that bit. */
static bool leaves_one_out(uint32_t n, uint32_t d)
{
    uint32_t lowest = (uint32_t)__builtin_ctz(n);
    uint32_t rounds = (~(n >> lowest) | 1) << lowest;
    return (d & rounds) == d;
}

void fc_build_sparbit(struct fc_schedule *s)
{
    uint32_t held = 1;
    for (uint32_t d = UINT32_C(1) << (fc_ceil_log2(s->n) - 1); d > 0; d /= 2, s->round++) {
        uint32_t out = leaves_one_out(s->n, d);
        for (uint32_t m = 0; m < s->n; m++)
            for (uint32_t i = 0; i < held - out; i++) {
                uint64_t back = 2 * (uint64_t)i * d % s->n;
                fc_schedule_add(s, m, (m + d) % s->n, fc_schedule_blocks(s, (uint32_t)((m + s->n - back) % s->n), 1));
            }
        held = 2 * held - out;
    }
}
double fc_time_sparbit(const struct fc_loggp *p, uint32_t n, double bytes)
{
    double time = 0;
    uint32_t held = 1;
    for (uint32_t d = UINT32_C(1) << (fc_ceil_log2(n) - 1); d > 0; d /= 2) {
        uint32_t out = leaves_one_out(n, d);
        if (held > out) time += fc_time_alltoall_linear(p, held - out + 1, bytes);
        held = 2 * held - out;
    }
    return time;
}
