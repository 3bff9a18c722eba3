/* collective_ring_segments.c - allreduce by a ring whose blocks are cut in segments.
 *
 * Blocks are n-ths of the vector. Each is cut in P parts of 1 MiB, the last one counts from half of that on; the parts
 * go round and are added one after the other, then whole blocks go round: with N = n - 1
 *     T = P N H(b / (n P)) + N H(b / n),   P = 1: the ring of collective_ring.c.
 * Source: Open MPI coll/base (ring_segmented) with 1 MiB, the size that coll/tuned gives it up to Open MPI 4.0; forced by its
 * name, or by later rules, it has no segments and is the ring. */
#include "solvers/collective/collective_parts.h"

enum { SEGMENT = 1 << 20 };

static uint32_t parts(uint32_t n, double bytes)
{
    double whole = bytes / ((double)n * SEGMENT), floor_ = whole < 1 ? 1 : whole > 1e6 ? 1e6 : whole;
    uint32_t count = (uint32_t)floor_;
    return floor_ - count > 0.5 ? count + 1 : count;
}

void fc_build_allreduce_ring_segments(struct fc_schedule *s)
{
    uint32_t count = parts(s->n, s->bytes);
    for (uint64_t i = 0; i < (uint64_t)count * (s->n - 1); i++, s->round++)
        for (uint32_t m = 0; m < s->n; m++) fc_schedule_add(s, m, (m + 1) % s->n, s->bytes / s->n / count);
    s->work = FC_WORK_NONE;
    for (uint32_t i = 1; i < s->n; i++, s->round++)
        for (uint32_t m = 0; m < s->n; m++) fc_schedule_add(s, m, (m + 1) % s->n, s->bytes / s->n);
}
double fc_time_allreduce_ring_segments(const struct fc_loggp *p, uint32_t n, double bytes)
{
    uint32_t count = parts(n, bytes);
    return count * (n - 1.0) * fc_loggp_hop_s(p, bytes / n / count) + (n - 1.0) * fc_loggp_hop_s(p, bytes / n);
}
