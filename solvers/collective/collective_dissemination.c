/* collective_dissemination.c - barrier: in round j each member signals the one 2^j places on.
 *
 * After ceil(log2 n) rounds every member has heard of all: T = ceil(log2 n) H(0), H = o + L + o.
 * Source: Hensgen, Finkel & Manber, Int. J. Parallel Programming 17(1), 1988. */
#include "solvers/collective/collective_parts.h"

static double nothing(const struct fc_schedule *s, uint32_t a, uint32_t b, uint32_t round)
{
    (void)s, (void)a, (void)b, (void)round;
    return 0;
}
const struct fc_collective_alike fc_alike_dissemination = {
    .n_rounds = fc_ceil_log2, .to = fc_alike_far_ahead, .bytes = nothing};

double fc_time_dissemination(const struct fc_loggp *p, uint32_t n, double bytes)
{
    (void)bytes;
    return fc_ceil_log2(n) * fc_loggp_hop_s(p, 0);
}
