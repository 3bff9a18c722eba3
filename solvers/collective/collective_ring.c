/* collective_ring.c - rings: in every round each member sends one block to its right neighbour.
 *
 *     allgather       n - 1 rounds, each hands on the block that it got last:  T = (n - 1) H(b)
 *     reduce_scatter  n - 1 rounds, each adds its part to the block that it got:  T = (n - 1) H(b)
 *     allreduce       both, with blocks of an n-th of the vector:  T = 2 (n - 1) H(b / n)
 * The allreduce moves 2 (n - 1) n-ths of the vector a member, the least possible. Sources: Patarasu & Yuan,
 * JPDC 69(2), 2009; Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005 (allgather). */
#include "solvers/collective/collective_parts.h"

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
static uint32_t gathered(uint32_t n, uint32_t from, uint32_t to, uint32_t round)
{
    (void)to;
    return (uint32_t)(((uint64_t)from + n - round) % n);
}
/* Block m starts behind member m and is complete at m: `from` sends block from - 1 first. */
static uint32_t reduced(uint32_t n, uint32_t from, uint32_t to, uint32_t round)
{
    (void)to;
    return (uint32_t)(((uint64_t)from + 2 * (uint64_t)n - 1 - round) % n);
}
static double part(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round)
{
    (void)from, (void)to, (void)round;
    return s->bytes / s->n;
}

const struct fc_collective_alike fc_alike_allgather_ring = {
    .n_rounds = fc_alike_less_one, .to = right, .from = left, .block = gathered};
const struct fc_collective_alike fc_alike_reduce_scatter_ring = {
    .n_rounds = fc_alike_less_one, .to = right, .block = reduced};
const struct fc_collective_alike fc_alike_allreduce_ring = {
    .n_rounds = twice, .to = right, .from = left, .bytes = part, .n_reduce = fc_alike_less_one};

FC_TIME(allgather_ring, (n - 1) * fc_loggp_hop_s(p, bytes))
FC_TIME(allreduce_ring, 2 * (n - 1) * fc_loggp_hop_s(p, bytes / n))
