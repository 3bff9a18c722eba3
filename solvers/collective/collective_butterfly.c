/* collective_butterfly.c - reduce_scatter by halving over growing distances, from nearest to farthest.
 *
 *     butterfly       n != 2^k folds first (collective_fold.c; a pair's blocks stay together). In the round of mask = 2^j
 *                     members i and i ^ mask exchange halves of their window of blocks: who has the bit keeps the upper
 *                     one. After k rounds i holds the block of the member with the mirrored bits, and sends it there;
 *                     the one of a folded member to that.
 *     noncommutative  (n = 2^k) blocks are taken in mirrored order, so nothing is left to send in the end: in round j a
 *                     member sends the blocks whose number differs from its own in bit j, of those it holds.
 *                     T = sum of H(2^j b), j < k.
 * No closed form of the butterfly. Sources: Traeff, "An improved algorithm for (non-commutative) reduce-scatter with
 * an application", EuroPVM/MPI 2005; Open MPI coll/base (butterfly; HLC-Lab/pico's recursive_distance_doubling is that for
 * 2^k) and MPICH (noncommutative). */
#include "solvers/collective/collective_parts.h"

static uint32_t mirrored(uint32_t i, uint32_t power)
{
    uint32_t to = 0;
    for (uint32_t bit = 1; bit < power; bit *= 2, i /= 2) to = 2 * to + (i & 1);
    return to;
}

/* The first old member whose block belongs to member i after folding. */
static uint32_t first_block(uint32_t i, uint32_t folded)
{
    return i < folded ? 2 * i : i + folded;
}

/* Where the window of i begins when it has `left` blocks: its bits so far, the lowest as the highest. */
static uint32_t window(uint32_t i, uint32_t power, uint32_t left)
{
    return mirrored(i, power) & ~(left - 1);
}

static void hand_out(struct fc_schedule *s, uint32_t folded, uint32_t power)
{
    s->work = FC_WORK_NONE;
    for (uint32_t i = 0; i < power; i++) {
        uint32_t to = mirrored(i, power), block = first_block(to, folded);
        if (to < folded) fc_schedule_add(s, fc_unfolded(i, folded), block, fc_schedule_blocks(s, block, 1));
        if (to != i)
            fc_schedule_add(s, fc_unfolded(i, folded), fc_unfolded(to, folded),
                            fc_schedule_blocks(s, block + (to < folded), 1));
    }
    s->round++;
}

void fc_build_butterfly(struct fc_schedule *s)
{
    uint32_t folded = fc_fold(s, fc_schedule_blocks(s, 0, s->n)), power = s->n - folded;
    for (uint32_t mask = 1, left = power / 2; mask < power; mask *= 2, left /= 2, s->round++)
        for (uint32_t i = 0; i < power; i++) {
            uint32_t at = window(i ^ mask, power, left);
            uint32_t from = first_block(at, folded), count = first_block(at + left, folded) - from;
            fc_schedule_add(s, fc_unfolded(i, folded), fc_unfolded(i ^ mask, folded),
                            fc_schedule_blocks(s, from, count));
        }
    hand_out(s, folded, power);
}

/* Bytes of the blocks that agree with `to` in the bits below 2 mask. */
static double agreeing(const struct fc_schedule *s, uint32_t to, uint32_t mask)
{
    double bytes = 0;
    if (!s->before) return s->n / (2.0 * mask) * s->bytes;
    for (uint32_t block = to & (2 * mask - 1); block < s->n; block += 2 * mask)
        bytes += fc_schedule_blocks(s, block, 1);
    return bytes;
}
void fc_build_noncommutative(struct fc_schedule *s)
{
    for (uint32_t mask = 1; mask < s->n; mask *= 2, s->round++)
        for (uint32_t i = 0; i < s->n; i++) fc_schedule_add(s, i, i ^ mask, agreeing(s, i ^ mask, mask));
}
double fc_time_noncommutative(const struct fc_loggp *p, uint32_t n, double bytes)
{
    double time = 0;
    for (uint32_t size = 1; size < n; size *= 2) time += fc_loggp_hop_s(p, size * bytes);
    return time;
}
