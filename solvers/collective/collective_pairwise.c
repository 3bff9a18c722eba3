/* collective_pairwise.c - pairwise exchange: round i = 1 .. n - 1 over distance i, one block a round.
 *
 * alltoall(v): partners are m ^ i where n = 2^k, else m + i to send and m - i to receive (MPICH). reduce_scatter, and
 * alltoall(v) `shifted` (Open MPI coll/base): always m + i and m - i. T = (n - 1) H(b).
 * Source: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005. */
#include "solvers/collective/collective_parts.h"

static uint32_t to(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    return fc_floor_power_of_two(n) == n ? member ^ (round + 1) : fc_alike_ahead(n, member, round, k);
}
static uint32_t from(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    return fc_floor_power_of_two(n) == n ? member ^ (round + 1) : fc_alike_behind(n, member, round, k);
}
static uint32_t target_of(uint32_t n, uint32_t source, uint32_t target, uint32_t round)
{
    (void)n, (void)source, (void)round;
    return target;
}
const struct fc_collective_alike fc_alike_alltoall_pairwise = {
    .n_rounds = fc_alike_less_one, .to = to, .from = from, .bytes = fc_alike_matrix};
const struct fc_collective_alike fc_alike_alltoall_shifted = {
    .n_rounds = fc_alike_less_one, .to = fc_alike_ahead, .from = fc_alike_behind, .bytes = fc_alike_matrix};
const struct fc_collective_alike fc_alike_reduce_scatter_pairwise = {
    .n_rounds = fc_alike_less_one, .to = fc_alike_ahead, .from = fc_alike_behind, .block = target_of};

FC_TIME(pairwise, (n - 1) * fc_loggp_hop_s(p, bytes))
