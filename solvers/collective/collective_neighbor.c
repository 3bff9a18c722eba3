/* collective_neighbor.c - allgather by neighbour exchange, n even: n / 2 rounds.
 *
 * Members talk to their two neighbours in turn. First each pair (2c, 2c + 1) exchanges blocks; then each
 * member sends the two blocks that it got last (first: its own pair) to its other neighbour. Pairs travel in
 * both directions: T = H(b) + (n / 2 - 1) H(2 b).
 * Source: Chen, Zhang, Zhang & Yuan, "Performance evaluation of allgather algorithms on terascale Linux
 * cluster with Fast Ethernet", HPC Asia 2005; Open MPI coll/base. */
#include "solvers/collective/collective_parts.h"

static uint32_t rounds(uint32_t n)
{
    return n / 2;
}
static uint32_t partner(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    (void)k;
    bool right = (member & 1) == (round & 1);
    return right ? (member + 1 == n ? 0 : member + 1) : member ? member - 1 : n - 1;
}
static double pair(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round)
{
    (void)to;
    if (round == 0) return fc_schedule_blocks(s, from, 1);
    int64_t step = round % 2 ? (int64_t)(round - 1) / 2 : -(int64_t)round / 2, pairs = s->n / 2;
    int64_t c = (int64_t)(from / 2) + (from % 2 ? -step : step);
    return fc_schedule_blocks(s, (uint32_t)(2 * (((c % pairs) + pairs) % pairs)), 2);
}
const struct fc_collective_alike fc_alike_neighbor = {.n_rounds = rounds, .to = partner, .bytes = pair};

FC_TIME(neighbor, fc_loggp_hop_s(p, bytes) + (n / 2 - 1) * fc_loggp_hop_s(p, 2 * bytes))
