/* collective_rabenseifner_halves.c - Rabenseifner's reductions as Open MPI folds them: n != 2^k folds by halves.
 *
 * Of each of the first f = n - 2^k pairs the two exchange halves, each adds its own, then the odd one hands its half
 * to the even one: twice b / 2 instead of b, and half the additions. Among the 2^k members left all is as in
 * collective_rabenseifner.c: in round j members exchange with the one whose number differs in bit j - 1 and keep a 2^j-th.
 *     allreduce  the same exchanges back gather it everywhere; the odd ones get the whole vector:
 *                T = 2 sum of H(b / 2^j) + (n != 2^k: 2 H(b / 2) + H(b))
 *     reduce     a binomial tree gathers it at the root, whose number among those left is r: v sends where v ^ r has its highest
 *                bit. A root that was folded takes the place of member 0, which hands it its part. n = 2^k:
 *                T = 2 sum of H(b / 2^j); no closed form here, since that of other n depends on the root.
 * Source: Open MPI coll/base (redscat_allgather, redscat_gather); Rabenseifner, ICCS 2004. */
#include "solvers/collective/collective_parts.h"

static uint32_t kept(uint32_t i, uint32_t folded)
{
    return i < folded ? 2 * i : i + folded;
}

static uint32_t fold(struct fc_schedule *s)
{
    uint32_t folded = s->n - fc_floor_power_of_two(s->n);
    enum fc_message_work work = s->work;
    for (uint32_t i = 0; i < folded; i++) {
        fc_schedule_add(s, 2 * i, 2 * i + 1, s->bytes / 2);
        fc_schedule_add(s, 2 * i + 1, 2 * i, s->bytes / 2);
    }
    s->round += folded > 0;
    s->work = FC_WORK_NONE;
    for (uint32_t i = 0; i < folded; i++) fc_schedule_add(s, 2 * i + 1, 2 * i, s->bytes / 2);
    s->round += folded > 0;
    s->work = work;
    return folded;
}

static void exchange(struct fc_schedule *s, uint32_t mask, uint32_t folded)
{
    for (uint32_t i = 0; i < s->n - folded; i++)
        fc_schedule_add(s, kept(i, folded), kept(i ^ mask, folded), s->bytes / (2.0 * mask));
    s->round++;
}

void fc_build_allreduce_halves(struct fc_schedule *s)
{
    uint32_t folded = fold(s), power = s->n - folded;
    for (uint32_t mask = 1; mask < power; mask *= 2) exchange(s, mask, folded);
    s->work = FC_WORK_NONE;
    for (uint32_t mask = power / 2; mask > 0; mask /= 2) exchange(s, mask, folded);
    for (uint32_t i = 0; i < folded; i++) fc_schedule_add(s, 2 * i, 2 * i + 1, s->bytes);
    s->round += folded > 0;
}
double fc_time_allreduce_halves(const struct fc_loggp *p, uint32_t n, double bytes)
{
    double time = fc_floor_power_of_two(n) == n ? 0 : 2 * fc_loggp_hop_s(p, bytes / 2) + fc_loggp_hop_s(p, bytes);
    for (uint32_t part = 2; part <= fc_floor_power_of_two(n) && part > 0; part *= 2)
        time += 2 * fc_loggp_hop_s(p, bytes / part);
    return time;
}

void fc_build_reduce_halves(struct fc_schedule *s)
{
    uint32_t folded = fold(s), power = s->n - folded, root = s->root;
    bool out = root < 2 * folded && root % 2;
    uint32_t at = out ? 0 : root < 2 * folded ? root / 2 : root - folded; /* the root's number among those left */
    for (uint32_t mask = 1; mask < power; mask *= 2) exchange(s, mask, folded);
    s->work = FC_WORK_NONE;
    if (out) fc_schedule_add(s, 0, root, s->bytes / power);
    s->round += out;
    for (uint32_t mask = power / 2; mask > 0; mask /= 2, s->round++)
        for (uint32_t x = mask; x < 2 * mask; x++) {
            uint32_t from = x ^ at, to = (x - mask) ^ at;
            fc_schedule_add(s, kept(from, folded), out && to == 0 ? root : kept(to, folded), s->bytes / (2.0 * mask));
        }
}
