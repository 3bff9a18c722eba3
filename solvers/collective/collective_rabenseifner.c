/* collective_rabenseifner.c - long reductions: halve the vector round by round, then put it together.
 *
 * Reduce-scatter: in round j = 1 .. k members exchange with the one whose number differs in bit j - 1 and
 * keep a 2^j-th of the vector. Allreduce: the same exchanges in the opposite order gather it everywhere.
 * Reduce: a binomial tree gathers it at the root. n != 2^k folds first (the reduce keeps the even one of a
 * pair, so the root stays). Sources: Rabenseifner, ICCS 2004; Thakur, Rabenseifner & Gropp, IJHPCA 19(1),
 * 2005.
 *
 *     allreduce  T = 2 sum of H(b / 2^j) + (n != 2^k: 2 H(b))
 *     reduce     T = 2 sum of H(b / 2^j) + (n != 2^k: H(b))
 * exact also where members are folded: a chain of messages alone, over every round, begins and ends at any
 * of them (allreduce), or begins at one and ends at the root (reduce). */
#include "solvers/collective/collective_parts.h"

static double both_ways_s(const struct fc_loggp *p, uint32_t n, double bytes)
{
    double time = 0;
    for (uint32_t part = 2; part <= fc_floor_power_of_two(n) && part > 0; part *= 2)
        time += 2 * fc_loggp_hop_s(p, bytes / part);
    return time;
}

void fc_build_allreduce_rabenseifner(struct fc_schedule *s)
{
    uint32_t folded = fc_fold(s, s->bytes), power = s->n - folded;
    for (uint32_t mask = 1; mask < power; mask *= 2) fc_fold_exchange(s, mask, folded, s->bytes / (2.0 * mask));
    s->work = FC_WORK_NONE;
    for (uint32_t mask = power / 2; mask > 0; mask /= 2) fc_fold_exchange(s, mask, folded, s->bytes / (2.0 * mask));
    fc_unfold(s, folded, s->bytes);
}
double fc_time_allreduce_rabenseifner(const struct fc_loggp *p, uint32_t n, double bytes)
{
    bool folds = fc_floor_power_of_two(n) != n;
    return both_ways_s(p, n, bytes) + (folds ? 2 * fc_loggp_hop_s(p, bytes) : 0);
}

static uint32_t kept(const struct fc_schedule *s, uint32_t i, uint32_t folded)
{
    return fc_schedule_member(s, i < folded ? 2 * i : i + folded);
}

void fc_build_reduce_rabenseifner(struct fc_schedule *s)
{
    uint32_t power = fc_floor_power_of_two(s->n), folded = s->n - power;
    for (uint32_t i = 0; i < folded; i++)
        fc_schedule_add(s, fc_schedule_member(s, 2 * i + 1), fc_schedule_member(s, 2 * i), s->bytes);
    s->round += folded > 0;
    for (uint32_t mask = 1; mask < power; mask *= 2, s->round++)
        for (uint32_t i = 0; i < power; i++)
            fc_schedule_add(s, kept(s, i, folded), kept(s, i ^ mask, folded), s->bytes / (2.0 * mask));
    s->work = FC_WORK_NONE;
    for (uint32_t mask = power / 2; mask > 0; mask /= 2, s->round++)
        for (uint32_t i = mask; i < 2 * mask; i++)
            fc_schedule_add(s, kept(s, i, folded), kept(s, i - mask, folded), s->bytes / (2.0 * mask));
}
double fc_time_reduce_rabenseifner(const struct fc_loggp *p, uint32_t n, double bytes)
{
    bool folds = fc_floor_power_of_two(n) != n;
    return both_ways_s(p, n, bytes) + (folds ? fc_loggp_hop_s(p, bytes) : 0);
}
