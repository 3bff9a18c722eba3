/* collective_doubling_any.c - recursive doubling of blocks among any number of members, as MPICH does it.
 *
 * Members are numbered from the root (v). In the round of mask = 2^j member v exchanges with v ^ mask, if there is
 * one: each sends the aligned group of up to 2^j blocks that it has (collective_doubling.c). Where the upper group is
 * not full, some of the lower have no partner: those who have one, the first `done`, hand on what they got, by
 * halving: at tmp = mask / 2, ..., 1 the first `done` of every aligned 2 tmp send to the member tmp further on.
 *     allgather           blocks of the members
 *     bcast               after a binomial scatter of n-ths
 *     reduce_scatter      v sends all blocks but those of its group and adds what it gets; handed on: all blocks but
 *                         the upper group's. For operations that do not commute
 * n = 2^k: the time is that of collective_doubling.c (and scatter_doubling of collective_composed.c); no closed form of
 * other n here. Sources: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005; MPICH 4.0.2 (allgather, bcast, reduce_scatter:
 * recursive_doubling), of which the handing on was read; HLC-Lab/pico's and Open MPI's scatter_allgather are the bcast. */
#include "solvers/collective/collective_parts.h"

static double group(const struct fc_schedule *s, uint32_t v, uint32_t mask, bool but)
{
    uint32_t from = v & ~(mask - 1), count = s->n - from < mask ? s->n - from : mask;
    double bytes = fc_schedule_blocks(s, fc_schedule_member(s, from), count);
    return but ? fc_schedule_blocks(s, 0, s->n) - bytes : bytes;
}

/* Members of the group at `from`, of `mask`, `done` of which have the upper group's blocks, give them to the rest. */
static void hand_on(struct fc_schedule *s, uint32_t from, uint32_t mask, uint32_t done, bool but)
{
    double bytes = group(s, from + mask, mask, but);
    for (uint32_t tmp = mask / 2; tmp > 0; tmp /= 2, s->round++)
        for (uint32_t v = from; v < from + mask; v++) {
            uint32_t place = v & (2 * tmp - 1);
            if (place < tmp && place < done && place + tmp >= done)
                fc_schedule_add(s, fc_schedule_member(s, v), fc_schedule_member(s, v + tmp), bytes);
        }
}

static void doubling(struct fc_schedule *s, bool but)
{
    for (uint32_t mask = 1; mask > 0 && mask < s->n; mask *= 2) {
        for (uint32_t v = 0; v < s->n; v++)
            if ((v ^ mask) < s->n)
                fc_schedule_add(s, fc_schedule_member(s, v), fc_schedule_member(s, v ^ mask), group(s, v, mask, but));
        s->round++;
        uint32_t from = (s->n - 1) / (2 * mask) * (2 * mask); /* only the last two groups can differ in size */
        if (s->n > from + mask && s->n < from + 2 * mask) hand_on(s, from, mask, s->n - from - mask, but);
    }
}

FC_BUILD(allgather_doubling_any, doubling(s, false))
void fc_build_bcast_scatter_doubling_any(struct fc_schedule *s)
{
    double vector_bytes = s->bytes;
    s->bytes /= s->n;
    fc_build_scatter_binomial(s);
    doubling(s, false);
    s->bytes = vector_bytes;
}
FC_BUILD(reduce_scatter_doubling, doubling(s, true))
