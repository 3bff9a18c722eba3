/* collective_halving.c - reduce_scatter by recursive halving.
 *
 * The group of 2^j members halves: each member sends the partner's half of the group's blocks, adds what it
 * gets for its own half. n != 2^k folds; a pair's blocks stay together, and the odd one hands the even one
 * its block at last. Source: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005.
 *
 * Time of 2^k: sum of H(2^j b), j < k. Else, with r_j(i) for the blocks of i's half in round j and D(i) as
 * in collective_fold.c, folding first:
 *     T = max over i of (sum over j of (o + r_j(i)) + max(H(n b) + L D(i), k L) + (i folded: H(b))). */
#include "solvers/collective/collective_parts.h"

/* The first old member whose block belongs to member i after folding. */
static uint32_t first_block(uint32_t i, uint32_t folded)
{
    return i < folded ? 2 * i : i + folded;
}

void fc_build_halving(struct fc_schedule *s)
{
    uint32_t folded = fc_fold(s, fc_schedule_blocks(s, 0, s->n)), power = s->n - folded;
    for (uint32_t mask = power / 2; mask > 0; mask /= 2, s->round++)
        for (uint32_t i = 0; i < power; i++) {
            uint32_t half = (i ^ mask) & ~(mask - 1), from = first_block(half, folded);
            uint32_t count = first_block(half + mask, folded) - from;
            fc_schedule_add(s, fc_unfolded(i, folded), fc_unfolded(i ^ mask, folded),
                            fc_schedule_blocks(s, from, count));
        }
    for (uint32_t i = 0; i < folded; i++) fc_schedule_add(s, 2 * i + 1, 2 * i, fc_schedule_blocks(s, 2 * i, 1));
    s->round += folded > 0;
}

double fc_time_halving(const struct fc_loggp *p, uint32_t n, double bytes)
{
    uint32_t power = fc_floor_power_of_two(n), folded = n - power, k = fc_ceil_log2(power);
    double latest = 0, fold = fc_loggp_hop_s(p, n * bytes);
    for (uint32_t i = 0; i < power; i++) {
        double time = k * p->latency_s;
        if (folded) time = fmax(time, fold + fc_fold_distance(i, folded) * p->latency_s);
        for (uint32_t mask = power / 2; mask > 0; mask /= 2) {
            uint32_t half = i & ~(mask - 1);
            uint32_t count = first_block(half + mask, folded) - first_block(half, folded);
            time += p->send_s + fc_loggp_recv_s(p, count * bytes);
        }
        latest = fmax(latest, time + (i < folded ? fc_loggp_hop_s(p, bytes) : 0));
    }
    return latest;
}
