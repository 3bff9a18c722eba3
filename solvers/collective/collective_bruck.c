/* collective_bruck.c - Bruck's algorithms: ceil(log2 n) rounds for any n, round j over distance d = 2^j.
 *
 *     allgather  member m holds blocks m .. m + d - 1 and sends min(d, n - d) of them to m - d:
 *                T = sum of H(min(d, n - d) b)
 *     alltoall   all blocks whose distance to their target has bit j go d places on, c_j of them:
 *                T = sum of H(c_j b);  c_j = n / 2 where n = 2^k
 * Source: Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997. Copies between rounds cost nothing
 * here. */
#include "solvers/collective/collective_parts.h"

static uint32_t behind(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    (void)k;
    return (uint32_t)((member + n - (UINT64_C(1) << round)) % n);
}

static uint32_t gathered(uint32_t n, uint32_t round)
{
    uint64_t d = UINT64_C(1) << round;
    return n - d < d ? (uint32_t)(n - d) : (uint32_t)d;
}
static double gather_bytes(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round)
{
    (void)to;
    return fc_schedule_blocks(s, from, gathered(s->n, round));
}
/* All n blocks are turned to their places: twice what the last message brings, where n = 2^k. */
static enum fc_message_work in_the_end(uint32_t n, uint32_t round)
{
    return round + 1 == fc_ceil_log2(n) ? FC_WORK_PACKS : FC_WORK_NONE;
}
const struct fc_collective_alike fc_alike_allgather_bruck = {
    .n_rounds = fc_ceil_log2, .to = behind, .bytes = gather_bytes, .packs = in_the_end};

double fc_time_allgather_bruck(const struct fc_loggp *p, uint32_t n, double bytes)
{
    double time = 0;
    for (uint32_t j = 0; j < fc_ceil_log2(n); j++) time += fc_loggp_hop_s(p, gathered(n, j) * bytes);
    return time;
}

/* Distances below n with bit `round`. */
static uint32_t moved(uint32_t n, uint32_t round)
{
    uint64_t d = UINT64_C(1) << round, whole = n / (2 * d) * d, rest = n % (2 * d);
    return (uint32_t)(whole + (rest > d ? rest - d : 0));
}
static double move_bytes(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round)
{
    (void)from, (void)to;
    return moved(s->n, round) * s->bytes;
}
static enum fc_message_work always(uint32_t n, uint32_t round)
{
    (void)n, (void)round;
    return FC_WORK_PICKS;
}
const struct fc_collective_alike fc_alike_alltoall_bruck = {
    .n_rounds = fc_ceil_log2, .to = fc_alike_far_ahead, .bytes = move_bytes, .packs = always};

double fc_time_alltoall_bruck(const struct fc_loggp *p, uint32_t n, double bytes)
{
    double time = 0;
    for (uint32_t j = 0; j < fc_ceil_log2(n); j++) time += fc_loggp_hop_s(p, moved(n, j) * bytes);
    return time;
}
