/* collective_pairwise.c - pairwise exchange: round i = 1 .. n - 1 over distance i, one block a round.
 *
 * alltoall(v): partners are m ^ i where n = 2^k, else m + i to send and m - i to receive (MPICH). reduce_scatter, and
 * alltoall(v) `shifted` (Open MPI coll/base): always m + i and m - i. T = (n - 1) H(b).
 * Source: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005. */
#include "solvers/collective/collective_parts.h"

static uint32_t one(uint32_t n)
{
    (void)n;
    return 1;
}
static uint32_t rounds(uint32_t n)
{
    return n - 1;
}
static uint32_t ahead(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    (void)k;
    return (uint32_t)(((uint64_t)member + round + 1) % n);
}
static uint32_t behind(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    (void)k;
    return (uint32_t)(((uint64_t)member + n - round - 1) % n);
}
static uint32_t to(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    return fc_power_of_two(n) == n ? member ^ (round + 1) : ahead(n, member, round, k);
}
static uint32_t from(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    return fc_power_of_two(n) == n ? member ^ (round + 1) : behind(n, member, round, k);
}
static double block(const struct fc_schedule *s, uint32_t source, uint32_t target, uint32_t round)
{
    (void)round;
    return s->list ? s->list[(uint64_t)source * s->n + target] : s->bytes;
}
static double part(const struct fc_schedule *s, uint32_t source, uint32_t target, uint32_t round)
{
    (void)source, (void)round;
    return fc_schedule_blocks(s, target, 1);
}
const struct fc_collective_alike fc_alike_alltoall_pairwise = {rounds, one, to, from, block, NULL, NULL};
const struct fc_collective_alike fc_alike_alltoall_shifted = {rounds, one, ahead, behind, block, NULL, NULL};
const struct fc_collective_alike fc_alike_reduce_scatter_pairwise = {rounds, one, ahead, behind, part, NULL, NULL};

double fc_time_pairwise(const struct fc_loggp *p, uint32_t n, double bytes)
{
    return (n - 1) * fc_loggp_hop_s(p, bytes);
}
