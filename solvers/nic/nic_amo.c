/* nic_amo.c - atomic operations of many processes on the variables of one node: a closed queueing network.
 *
 * Every process has one operation under way: round trip Z, then the server, the target's interface, with
 *
 *   S = h hit + (1 - h) miss cycles,   h = min(1, lines / variables)
 *
 * since variables are drawn at random and a cache of so many lines holds that share of them. Mean value
 * analysis (Reiser & Lavenberg 1980) for one station and a delay:
 *
 *   R(n) = S (1 + Q(n-1)),   X(n) = n / (Z + R(n)),   Q(n) = X(n) R(n),   X -> 1 / S
 *
 * Source: Alverson et al. 2010, section V and Figure 9.
 * Limits: exponential service, so too slow near the knee if service times are fixed; any replacement that
 * keeps the cache full of variables drawn evenly. */
#include "solvers/nic/nic.h"

enum fc_code fc_nic_amo_rate(const struct fc_machine *m, uint32_t processes, double variables, double round_trip_s,
                             double *rate_per_s, struct fc_status *st)
{
    const struct fc_nic *n = &m->nic;
    if (n->amo_hit_cycles == 0)
        return fc_fail(st, FC_INPUT, (struct fc_place){m->file, n->line},
                       "nic.amo_hit is missing: the interface does no atomic operations");
    if (processes < 1 || !(variables >= 1) || !(round_trip_s >= 0))
        return fc_refuse(st, FC_INPUT,
                         "atomic operations of %u processes on %g variables, round trip %g s (expected at "
                         "least one of each, and a time)",
                         processes, variables, round_trip_s);
    double hit = fmin(1, (double)n->amo_lines / variables);
    double service = (hit * n->amo_hit_cycles + (1 - hit) * n->amo_miss_cycles) / n->clock_hz;
    double queue = 0, rate = 0;
    for (uint32_t k = 1; k <= processes; k++) {
        double response = service * (1 + queue);
        rate = k / (round_trip_s + response);
        queue = rate * response;
    }
    *rate_per_s = rate;
    return FC_OK;
}
