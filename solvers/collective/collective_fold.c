/* collective_fold.c - what algorithms for 2^k members do with others: they fold.
 *
 * The first f = n - 2^k pairs fold: one hands its vector to the other before, and gets its result after.
 * Source: Rabenseifner & Traeff, "More efficient reduction algorithms for non-power-of-two number of
 * processors", EuroPVM/MPI 2004.
 *
 * Time. After folding, members i < f start a hop H late, the others at once. Exchange by doubling: a
 * member's round costs o + r after its own last, o + L + r after its partner's, so after k rounds
 *     t(i) = k (o + r) + max over x of (start(x) + L d(x, i)),  d: bits in which x and i differ,
 * which is k (o + r) + max(H + L D(i), k L) with D(i) the greatest d to a member that folded. D is k for
 * some i, and w = bits of f - 1 at most among those that folded and send back: hence
 *     T = k (o + r) + max(H + k L, max(H + w L, k L) + H),   k H where nobody folds. */
#include "solvers/collective/collective_parts.h"

uint32_t fc_fold(struct fc_schedule *s, double bytes)
{
    uint32_t folded = s->n - fc_floor_power_of_two(s->n);
    for (uint32_t i = 0; i < folded; i++) fc_schedule_add(s, 2 * i, 2 * i + 1, bytes);
    s->round += folded > 0;
    return folded;
}

void fc_fold_exchange(struct fc_schedule *s, uint32_t mask, uint32_t folded, double bytes)
{
    for (uint32_t i = 0; i < s->n - folded; i++)
        fc_schedule_add(s, fc_unfolded(i, folded), fc_unfolded(i ^ mask, folded), bytes);
    s->round++;
}

void fc_unfold(struct fc_schedule *s, uint32_t folded, double bytes)
{
    s->work = FC_WORK_NONE;
    for (uint32_t i = 0; i < folded; i++) fc_schedule_add(s, 2 * i + 1, 2 * i, bytes);
    s->round += folded > 0;
}

/* A number below `folded` has its high bits down to a bit that is set there, a 0 at that bit, anything
 * below: the complement of i. */
uint32_t fc_fold_distance(uint32_t i, uint32_t folded)
{
    uint32_t most = 0;
    for (uint32_t bit = 0; folded >> bit; bit++) {
        if (!(folded >> bit & 1)) continue;
        uint64_t high = (uint64_t)(folded ^ i) >> (bit + 1);
        uint32_t differs = (uint32_t)__builtin_popcountll(high) + (i >> bit & 1) + bit;
        most = differs > most ? differs : most;
    }
    return most;
}

double fc_fold_doubling_s(const struct fc_loggp *p, uint32_t n, double bytes)
{
    uint32_t power = fc_floor_power_of_two(n), folded = n - power, k = fc_ceil_log2(power);
    double hop = fc_loggp_hop_s(p, bytes), latency = p->latency_s;
    if (!folded) return k * hop;
    double back = fmax(hop + fc_ceil_log2(folded) * latency, k * latency) + hop;
    return k * (hop - latency) + fmax(hop + k * latency, back);
}
