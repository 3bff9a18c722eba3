/* collective_throttled.c - linear exchanges in which not everything is under way at once.
 *
 *     alltoall(v) scattered   32 receives and sends at a time, all waited for before the next 32 (MPICH's scattered,
 *                             MPIR_CVAR_ALLTOALL_THROTTLE = 32): up to 33 members it is collective_linear.c
 *     gather linear-sync      the root calls for each member's block by an empty message and waits for it; then an empty
 *                             second part, since the first is the whole block where no segment size is given
 *     scatter linear-nb       as collective_linear.c, but the root waits for all sends only in the end
 *                             T = (n - 2) s(b) + H(b)
 *     barrier double-ring     an empty message goes twice round: T = 2 n H(0)
 * Sources: MPICH 4.0.2; Open MPI coll/base. No closed form of the first two. */
#include "solvers/collective/collective_parts.h"

enum { AT_ONCE = 32 };

static double block(const struct fc_schedule *s, uint32_t from, uint32_t to)
{
    return s->list && !s->before ? s->list[(uint64_t)from * s->n + to] : s->bytes;
}
void fc_build_scattered(struct fc_schedule *s)
{
    for (uint32_t first = 1; first < s->n; first += AT_ONCE, s->round++)
        for (uint32_t m = 0; m < s->n; m++)
            for (uint32_t k = first; k < s->n && k < first + AT_ONCE; k++) {
                uint32_t to = (uint32_t)(((uint64_t)m + k) % s->n);
                if (block(s, m, to) > 0) fc_schedule_add(s, m, to, block(s, m, to));
            }
}

void fc_build_gather_sync(struct fc_schedule *s)
{
    for (uint32_t m = 0; m < s->n; m++) {
        if (m == s->root) continue;
        fc_schedule_add(s, s->root, m, 0);
        s->round++;
        fc_schedule_add(s, m, s->root, fc_schedule_blocks(s, m, 1));
        s->round++;
    }
    for (uint32_t m = 0; m < s->n; m++)
        if (m != s->root) fc_schedule_add(s, m, s->root, 0);
    s->round++;
}

void fc_build_scatter_nb(struct fc_schedule *s)
{
    for (uint32_t m = 0; m < s->n; m++)
        if (m != s->root) fc_schedule_add(s, s->root, m, fc_schedule_blocks(s, m, 1));
    s->round++;
}
FC_TIME(scatter_nb, fc_time_scatter_linear(p, n, bytes))

void fc_build_double_ring(struct fc_schedule *s)
{
    for (uint64_t i = 0; i < 2 * (uint64_t)s->n; i++, s->round++)
        fc_schedule_add(s, (uint32_t)(i % s->n), (uint32_t)((i + 1) % s->n), 0);
}
double fc_time_double_ring(const struct fc_loggp *p, uint32_t n, double bytes)
{
    (void)bytes;
    return 2.0 * n * fc_loggp_hop_s(p, 0);
}
