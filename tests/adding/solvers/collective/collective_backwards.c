/* collective_backwards.c - a broadcast that goes round backwards from the root: T = (n - 1) H(b). */
#include "solvers/collective/collective_parts.h"

void fc_build_bcast_backwards(struct fc_schedule *s)
{
    for (uint32_t i = 0; i + 1 < s->n; i++, s->round++)
        fc_schedule_add(s, fc_schedule_member(s, (s->n - i) % s->n), fc_schedule_member(s, s->n - i - 1), s->bytes);
}
double fc_time_bcast_backwards(const struct fc_loggp *p, uint32_t n, double bytes)
{
    return (n - 1) * fc_loggp_hop_s(p, bytes);
}
