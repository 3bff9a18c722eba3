/* collective_doubling.c - recursive doubling: in round j members exchange with the one whose number differs
 * in bit j.
 *
 *     allreduce, barrier  all that was combined so far; n != 2^k folds: T in collective_fold.c, k H for 2^k
 *     allgather (2^k)     the 2^j blocks gathered so far: T = sum of H(2^j b), j < k
 *     scan                as allreduce, without folding: who has no partner waits; T = ceil(log2 n) H,
 *                         since the chain 2^(k-1) - 1, ..., 0, 2^(k-1) has a partner in every round
 * Sources: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005. The barrier folds member i + 2^k to i (Open MPI
 * coll/base). */
#include "solvers/collective/collective_parts.h"

void fc_build_allreduce_doubling(struct fc_schedule *s)
{
    uint32_t folded = fc_fold(s, s->bytes);
    for (uint32_t mask = 1; mask < s->n - folded; mask *= 2) fc_fold_exchange(s, mask, folded, s->bytes);
    fc_unfold(s, folded, s->bytes);
}
FC_TIME(allreduce_doubling, fc_fold_doubling_s(p, n, bytes))

void fc_build_barrier_doubling(struct fc_schedule *s)
{
    uint32_t power = fc_floor_power_of_two(s->n);
    for (uint32_t i = power; i < s->n; i++) fc_schedule_add(s, i, i - power, 0);
    s->round += s->n > power;
    for (uint32_t mask = 1; mask < power; mask *= 2, s->round++)
        for (uint32_t i = 0; i < power; i++) fc_schedule_add(s, i, i ^ mask, 0);
    for (uint32_t i = power; i < s->n; i++) fc_schedule_add(s, i - power, i, 0);
    s->round += s->n > power;
}
double fc_time_barrier_doubling(const struct fc_loggp *p, uint32_t n, double bytes)
{
    (void)bytes;
    return fc_fold_doubling_s(p, n, 0);
}

void fc_build_scan_doubling(struct fc_schedule *s)
{
    for (uint64_t mask = 1; mask < s->n; mask *= 2, s->round++)
        for (uint32_t r = 0; r < s->n; r++)
            if ((r ^ mask) < s->n) fc_schedule_add(s, r, r ^ (uint32_t)mask, s->bytes);
}
FC_TIME(scan_doubling, fc_ceil_log2(n) * fc_loggp_hop_s(p, bytes))

/* ---- allgather: everyone sends the aligned group that it has so far ---- */

static uint32_t partner(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    (void)n, (void)k;
    return member ^ UINT32_C(1) << round;
}
static double group(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round)
{
    (void)to;
    uint32_t size = UINT32_C(1) << round;
    return fc_schedule_blocks(s, from & ~(size - 1), size);
}
const struct fc_collective_alike fc_alike_allgather_doubling = {
    .n_rounds = fc_ceil_log2, .to = partner, .bytes = group};

double fc_time_allgather_doubling(const struct fc_loggp *p, uint32_t n, double bytes)
{
    double time = 0;
    for (uint32_t size = 1; size < n; size *= 2) time += fc_loggp_hop_s(p, size * bytes);
    return time;
}
