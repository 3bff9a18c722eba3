/* collective_exchange.c - collectives in which all members do the same, as rounds of messages.
 *
 * Recursive doubling and halving exchange with member ^ mask; for n that is no power of two the first 2 (n
 * - 2^k) members fold: the even one hands its vector to its odd neighbour before, and gets its result
 * after. Sources: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005 (all but the ring); Bruck et al., IEEE
 * TPDS 8(11), 1997; Patarasu & Yuan, JPDC 69(2), 2009 (ring allreduce, 2 (n - 1) n-ths of the vector a
 * member: the least possible). */
#include "solvers/collective.h"

/* ---- folding to a power of two ---- */

/* Members left after folding are numbered 0 .. power-1; this is the old number of member i (its odd one of
 * the pair). */
static uint32_t unfolded(uint32_t i, uint32_t folded)
{
    return i < folded ? 2 * i + 1 : i + folded;
}

static uint32_t fold(struct fc_schedule *s, double bytes)
{
    uint32_t folded = s->n - fc_power_of_two(s->n);
    for (uint32_t i = 0; i < folded; i++) fc_schedule_add(s, 2 * i, 2 * i + 1, bytes);
    s->round += folded > 0;
    return folded;
}

static void exchange(struct fc_schedule *s, uint32_t mask, uint32_t folded, double bytes)
{
    for (uint32_t i = 0; i < s->n - folded; i++)
        fc_schedule_add(s, unfolded(i, folded), unfolded(i ^ mask, folded), bytes);
    s->round++;
}

static void unfold(struct fc_schedule *s, uint32_t folded, double bytes)
{
    for (uint32_t i = 0; i < folded; i++) fc_schedule_add(s, 2 * i + 1, 2 * i, bytes);
    s->round += folded > 0;
}

/* ---- allreduce, scan ---- */

void fc_allreduce_doubling(struct fc_schedule *s)
{
    uint32_t folded = fold(s, s->bytes);
    for (uint32_t mask = 1; mask < s->n - folded; mask *= 2) exchange(s, mask, folded, s->bytes);
    unfold(s, folded, s->bytes);
}

/* Reduce-scatter by halving (half the vector to the neighbour first), then all gather the other way. */
void fc_allreduce_rabenseifner(struct fc_schedule *s)
{
    uint32_t folded = fold(s, s->bytes), power = s->n - folded;
    for (uint32_t mask = 1; mask < power; mask *= 2) exchange(s, mask, folded, s->bytes / (2.0 * mask));
    for (uint32_t mask = power / 2; mask > 0; mask /= 2) exchange(s, mask, folded, s->bytes / (2.0 * mask));
    unfold(s, folded, s->bytes);
}

void fc_allreduce_ring(struct fc_schedule *s)
{
    for (uint32_t k = 0; k < 2 * (s->n - 1); k++, s->round++)
        for (uint32_t r = 0; r < s->n; r++) fc_schedule_add(s, r, (r + 1) % s->n, s->bytes / s->n);
}

void fc_scan_doubling(struct fc_schedule *s)
{
    for (uint64_t mask = 1; mask < s->n; mask *= 2, s->round++)
        for (uint32_t r = 0; r < s->n; r++)
            if ((r ^ mask) < s->n) fc_schedule_add(s, r, r ^ (uint32_t)mask, s->bytes);
}

/* ---- allgather ---- */

void fc_allgather_doubling(
    struct fc_schedule *s) /* n = 2^k: everyone sends the aligned group that it has so far */
{
    for (uint32_t mask = 1; mask < s->n; mask *= 2, s->round++)
        for (uint32_t r = 0; r < s->n; r++)
            fc_schedule_add(s, r, r ^ mask, fc_schedule_blocks(s, r & ~(mask - 1), mask));
}

void fc_allgather_bruck(
    struct fc_schedule *s) /* member r holds blocks r .. r + d - 1 before the round of distance d */
{
    for (uint64_t d = 1; d < s->n; d *= 2, s->round++) {
        uint32_t count = s->n - d < d ? (uint32_t)(s->n - d) : (uint32_t)d;
        for (uint32_t r = 0; r < s->n; r++)
            fc_schedule_add(s, r, (uint32_t)((r + s->n - d) % s->n), fc_schedule_blocks(s, r, count));
    }
}

void fc_allgather_ring(struct fc_schedule *s)
{
    for (uint32_t k = 0; k + 1 < s->n; k++, s->round++)
        for (uint32_t r = 0; r < s->n; r++)
            fc_schedule_add(s, r, (r + 1) % s->n,
                            fc_schedule_blocks(s, (uint32_t)(((uint64_t)r + s->n - k) % s->n), 1));
}

/* ---- alltoall, alltoallv ---- */

void fc_alltoall_bruck(
    struct fc_schedule *s) /* round of distance d moves the blocks whose offset has bit d */
{
    for (uint64_t d = 1; d < s->n; d *= 2, s->round++) {
        uint64_t whole = s->n / (2 * d) * d, rest = s->n % (2 * d);
        double count = (double)(whole + (rest > d ? rest - d : 0)); /* offsets below n with that bit */
        for (uint32_t r = 0; r < s->n; r++)
            fc_schedule_add(s, r, (uint32_t)((r + d) % s->n), count * s->bytes);
    }
}

/* From r to d, unless it is nothing (MPICH posts nothing for an empty block). */
static void block(struct fc_schedule *s, uint32_t r, uint32_t d)
{
    double bytes = s->list ? s->list[(uint64_t)r * s->n + d] : s->bytes;
    if (bytes > 0) fc_schedule_add(s, r, d, bytes);
}

void fc_alltoall_linear(struct fc_schedule *s) /* all at once, each starting with its right neighbour */
{
    for (uint32_t r = 0; r < s->n; r++)
        for (uint32_t i = 1; i < s->n; i++) block(s, r, (uint32_t)(((uint64_t)r + i) % s->n));
    s->round++;
}

void fc_alltoall_pairwise(struct fc_schedule *s)
{
    bool power = fc_power_of_two(s->n) == s->n;
    for (uint32_t i = 1; i < s->n; i++, s->round++)
        for (uint32_t r = 0; r < s->n; r++) block(s, r, power ? r ^ i : (uint32_t)(((uint64_t)r + i) % s->n));
}

/* ---- reduce-scatter ---- */

/* The first old member whose block belongs to member i after folding: a pair's blocks stay together. */
static uint32_t first_block(uint32_t i, uint32_t folded)
{
    return i < folded ? 2 * i : i + folded;
}

void fc_reduce_scatter_halving(struct fc_schedule *s)
{
    uint32_t folded = fold(s, fc_schedule_blocks(s, 0, s->n)), power = s->n - folded;
    for (uint32_t mask = power / 2; mask > 0; mask /= 2, s->round++)
        for (uint32_t i = 0; i < power;
             i++) { /* the partner's half of the group's blocks goes to the partner */
            uint32_t half = (i ^ mask) & ~(mask - 1), from = first_block(half, folded);
            uint32_t count = first_block(half + mask, folded) - from;
            fc_schedule_add(s, unfolded(i, folded), unfolded(i ^ mask, folded),
                            fc_schedule_blocks(s, from, count));
        }
    for (uint32_t i = 0; i < folded; i++)
        fc_schedule_add(s, 2 * i + 1, 2 * i, fc_schedule_blocks(s, 2 * i, 1));
    s->round += folded > 0;
}

void fc_reduce_scatter_pairwise(struct fc_schedule *s)
{
    for (uint32_t i = 1; i < s->n; i++, s->round++)
        for (uint32_t r = 0; r < s->n; r++) {
            uint32_t d = (uint32_t)(((uint64_t)r + i) % s->n);
            fc_schedule_add(s, r, d, fc_schedule_blocks(s, d, 1));
        }
}
