/* bulk_apart.c - phases whose messages hardly meet: a few of them on a large network, or between neighbours.
 *
 * The ratio of bulk.c was run on phases in which all nodes send. A message alone loses nothing to others, whatever phases of
 * its kind lose. With T_f and b of bulk_fluid.c, but without what mixing takes,
 *
 *     log T = (1 - m) log T_f + m log T_ratio,   m = min(1, (b / MEET)^2),
 *
 * and of the errors in the same way, with m (1 - m) of the square of how the two differ besides. T_f's error is
 *
 *     ONE_WAY                      3 %
 *     SEVERAL                      35 %: packets draw ways unevenly (adaptive routing, more than a hop, and a bottleneck between
 *                                  routers, or routes with detours); or packets that move whole wait for room to enter, a buffer
 *                                  holding fewer than WHOLE of the longest
 *     1 / sqrt(packets)            at most SEVERAL, more than ONE_WAY: half way round a ring packets draw their direction, unevenly;
 *     DRAWN                        20 %, more than that: and links are of unequal speed: the one in front holds up the others where
 *                                  directions part, and that is not at the node's router
 *
 * MEET and the errors were chosen on the phases of tests/validate_phases.c on shipped machines and o.., with 1, 4 and 16 random
 * messages of three lengths: T_f is 6 % off in the mean where b = 0, and T_ratio 25 %; from b = 0.5 on T_ratio is nearer. Limits:
 * phases with a dense part, of more than MOST_MESSAGES messages, or beside other traffic keep T_ratio. */
#include "solvers/calibration/bulk.h"

#define MEET 0.5
#define ONE_WAY 0.03
#define SEVERAL 0.35
#define DRAWN 0.2
#define WHOLE 3.0
enum { MOST_MESSAGES = 1024 }; /* 0.1 s */

/* Routers joined by links of more than one speed. */
static bool is_unequal(const struct fc_network *net)
{
    double one = 0;
    for (uint32_t l = 0; l < net->n_links; l++) {
        if (!fc_is_between_routers(net, l)) continue;
        double bandwidth = fc_link_bandwidth(net, l);
        if (one > 0 && bandwidth != one) return true;
        one = bandwidth;
    }
    return false;
}

/* Whether packets of some message draw a direction at their source. */
static bool is_drawn(const struct fc_network *net, const struct fc_demand *d, const struct fc_placement *placement)
{
    const struct fc_routing_ops *routing = net->machine->routing;
    for (size_t e = 0; routing->source_sets && e < d->n_entries; e++) {
        uint32_t src = placement->node[d->src[e]], dst = placement->node[d->dst[e]];
        if (src != dst && d->bytes[e] > 0 && routing->source_sets(net, src, dst) > 1) return true;
    }
    return false;
}

/* Of T_f. */
static double alone_error(const struct fc_network *net, const struct fc_demand *demand,
                          const struct fc_placement *placement, const struct fc_phase_parts *parts,
                          const struct fc_bulk_point *point)
{
    const struct fc_machine *m = net->machine;
    uint32_t link = parts->bottleneck;
    bool ends = link != FC_NONE && !fc_is_between_routers(net, link);
    bool narrow = m->router.flow_control == FC_CUT_THROUGH && m->router.buffer_bytes < WHOLE * m->packet.max_bytes;
    bool several = m->routing->adaptive && (!ends || m->routing->detours) && point->hops > 1 + 1e-9;
    if (several || narrow) return SEVERAL;
    if (!is_drawn(net, demand, placement)) return ONE_WAY;
    double uneven = point->packets > 1 ? fmin(SEVERAL, 1 / sqrt(point->packets)) : 0;
    return fmax(uneven, is_unequal(net) ? DRAWN : ONE_WAY);
}

enum fc_code fc_bulk_apart(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, const struct fc_phase_parts *parts,
                           const struct fc_bulk_point *point, const struct fc_bulk_fluid *unmixed,
                           struct fc_bulk_answer *answer, struct fc_status *st)
{
    struct fc_bulk_fluid fluid;
    if (demand->n_entries > MOST_MESSAGES || !(point->reference_s > 0)) return FC_OK;
    if (unmixed)
        fluid = *unmixed;
    else if (fc_bulk_fluid(net, demand, placement, NULL, 1, &fluid, st))
        return st->code;
    double meet = fluid.interference / MEET, m = fmin(1, meet * meet);
    if (!(fluid.seconds > 0) || m == 1) return FC_OK;
    double alone = log(fluid.seconds / point->reference_s), differ = log(answer->ratio) - alone;
    double error = (1 - m) * log1p(alone_error(net, demand, placement, parts, point));
    if (m > 0) error += m * log1p(answer->error_percent / 100);
    answer->ratio = exp(alone + m * differ);
    answer->error_percent = 100 * expm1(hypot(error, sqrt(m * (1 - m)) * differ));
    if (m < 0.5) {
        answer->extrapolated = false;
        answer->why[0] = '\0';
    }
    return FC_OK;
}
