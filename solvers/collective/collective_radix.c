/* collective_radix.c - Bruck's algorithms of radix k: ceil(log_k n) rounds, in each up to k - 1 messages at once.
 *
 * Round i goes over distance d = k^i, and j = 1 .. k - 1 with j d < n:
 *     allgather  member m holds blocks m .. m + d - 1 and sends min(d, n - j d) of them to m - j d
 *     alltoall   the blocks whose distance to their target has digit j at place i go j d places on
 * k = 2 is collective_bruck.c. Source: Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997; Open MPI's
 * bruck-k-fanout and MPICH's k_brucks are these (HLC-Lab/pico's k_bruck has k = 2 fixed). No closed form here. */
#include "solvers/collective/collective_parts.h"

static void gather(struct fc_schedule *s, uint32_t k)
{
    for (uint64_t d = 1; d < s->n; d *= k, s->round++) {
        s->work = d * k >= s->n ? FC_WORK_PACKS : FC_WORK_NONE; /* in the end all blocks are turned to their places */
        for (uint32_t m = 0; m < s->n; m++)
            for (uint64_t j = 1; j < k && j * d < s->n; j++) {
                uint32_t count = (uint32_t)(s->n - j * d < d ? s->n - j * d : d);
                fc_schedule_add(s, m, (uint32_t)((m + s->n - j * d) % s->n), fc_schedule_blocks(s, m, count));
            }
    }
}
FC_BUILD(allgather_bruck_4, gather(s, 4))
FC_BUILD(allgather_bruck_8, gather(s, 8))

/* Distances below n whose digit of place d is j. */
static uint32_t with_digit(uint32_t n, uint32_t k, uint64_t d, uint64_t j)
{
    uint64_t period = d * k, rest = n % period;
    uint64_t extra = rest <= j * d ? 0 : rest - j * d < d ? rest - j * d : d;
    return (uint32_t)(n / period * d + extra);
}
static void exchange(struct fc_schedule *s, uint32_t k)
{
    s->work = FC_WORK_PACKS;
    for (uint64_t d = 1; d < s->n; d *= k, s->round++)
        for (uint32_t m = 0; m < s->n; m++)
            for (uint64_t j = 1; j < k && j * d < s->n; j++)
                fc_schedule_add(s, m, (uint32_t)((m + j * d) % s->n), with_digit(s->n, k, d, j) * s->bytes);
}
FC_BUILD(alltoall_bruck_4, exchange(s, 4))
FC_BUILD(alltoall_bruck_8, exchange(s, 8))
