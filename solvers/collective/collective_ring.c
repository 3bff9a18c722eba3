/* collective_ring.c - rings: in every round each member sends one block to its right neighbour.
 *
 *     allgather       n - 1 rounds, each hands on the block that it got last:  T = (n - 1) H(b)
 *     reduce_scatter  n - 1 rounds, each adds its part to the block that it got:  T = (n - 1) H(b)
 *     allreduce       both, with blocks of an n-th of the vector:  T = 2 (n - 1) H(b / n)
 * The allreduce moves 2 (n - 1) n-ths of the vector a member, the least possible. Sources: Patarasu & Yuan,
 * JPDC 69(2), 2009; Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005 (allgather). */
#include "solvers/collective/collective_parts.h"

static uint32_t one(uint32_t n)
{
    (void)n;
    return 1;
}
static uint32_t once(uint32_t n)
{
    return n - 1;
}
static uint32_t twice(uint32_t n)
{
    return 2 * (n - 1);
}
static uint32_t right(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    (void)round, (void)k;
    return member + 1 == n ? 0 : member + 1;
}
static uint32_t left(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    (void)round, (void)k;
    return member ? member - 1 : n - 1;
}
/* The own block first, then what came in the round before. */
static double gathered(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round)
{
    (void)to;
    return fc_schedule_blocks(s, (uint32_t)(((uint64_t)from + s->n - round) % s->n), 1);
}
/* Block m starts behind member m and is complete at m: `from` sends block from - 1 first. */
static double reduced(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round)
{
    (void)to;
    return fc_schedule_blocks(s, (uint32_t)(((uint64_t)from + 2 * (uint64_t)s->n - 1 - round) % s->n), 1);
}
static double part(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round)
{
    (void)from, (void)to, (void)round;
    return s->bytes / s->n;
}

const struct fc_collective_alike fc_alike_allgather_ring = {once, one, right, left, gathered, NULL, NULL};
const struct fc_collective_alike fc_alike_reduce_scatter_ring = {once, one, right, left, reduced, NULL, NULL};
const struct fc_collective_alike fc_alike_allreduce_ring = {twice, one, right, left, part, once, NULL};

double fc_time_allgather_ring(const struct fc_loggp *p, uint32_t n, double bytes)
{
    return (n - 1) * fc_loggp_hop_s(p, bytes);
}
double fc_time_allreduce_ring(const struct fc_loggp *p, uint32_t n, double bytes)
{
    return 2 * (n - 1) * fc_loggp_hop_s(p, bytes / n);
}
