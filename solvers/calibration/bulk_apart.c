/* bulk_apart.c - phases whose messages hardly meet: a few of them on a large network, or between neighbours.
 *
 * The ratio of bulk.c was run on phases in which all nodes send. A message alone loses nothing to others, whatever phases of
 * its kind lose. So all messages are sent at once over links that they share as those of replays do (solvers/transit/transit_contention.c,
 * without software), which takes T_f until the last has arrived, and with b what other pairs of nodes have of the busiest link of a
 * message's way (struct fc_arrival), mean over bytes,
 *
 *     log T = (1 - m) log T_f + m log T_ratio,   m = min(1, (b / MEET)^2),
 *
 * and of the errors in the same way, T_f's being ONE_WAY, with several ways (adaptive routing and more than a hop) SEVERAL, since packets
 * draw ways unevenly, and over links of unequal speed UNEQUAL / sqrt(packets) more, since from a slow link to a fast one a packet
 * waits for its tail.
 *
 * MEET and the errors were chosen on the phases of tests/validate_phases.c on shipped machines and o.., and on 1, 4 and 16 random messages of
 * three lengths there: T_f alone is 6 % off in the mean where b = 0, and T_ratio 25 %; from b = 0.5 on T_ratio is nearer. Limits: phases with
 * a dense part, of more than MOST_MESSAGES messages, or beside other traffic keep T_ratio. */
#include "solvers/calibration/bulk.h"
#include "solvers/transit/transit.h"

#define MEET 0.5
#define ONE_WAY 0.03
#define SEVERAL 0.35
#define UNEQUAL 0.5
enum { MOST_MESSAGES = 1024 }; /* 0.1 s */

/* Messages between different nodes, all at once. bytes[]: of each. */
static uint64_t send_all(const struct fc_demand *d, const struct fc_placement *placement, struct fc_transit *transit,
                         double *bytes)
{
    const struct fc_transit_ports any = {.out = FC_NONE, .in = FC_NONE};
    uint64_t n = 0;
    for (size_t e = 0; e < d->n_entries; e++) {
        uint32_t src = placement->node[d->src[e]], dst = placement->node[d->dst[e]];
        if (src == dst || !(d->bytes[e] > 0)) continue;
        bytes[n] = d->bytes[e];
        if (fc_transit_send(transit, n, e, 0, src, dst, d->bytes[e], FC_NONE, any)) return 0;
        n++;
    }
    return n;
}

/* T_f and b; *seconds 0: no message. */
static enum fc_code flows(const struct fc_network *net, const struct fc_demand *demand,
                          const struct fc_placement *placement, double *seconds, double *met, struct fc_status *st)
{
    const struct fc_transit_settings how = {.network = FC_NET_CONTENTION};
    struct fc_transit *transit;
    double bytes[MOST_MESSAGES], all = 0;
    *seconds = *met = 0;
    if (fc_transit_open(net, &how, &transit, st)) return st->code;
    bool more = send_all(demand, placement, transit, bytes) > 0;
    while (more) {
        struct fc_arrival arrival;
        if (fc_transit_next(transit, INFINITY, &arrival, &more) || !more) break;
        *seconds = arrival.time_s;
        *met += bytes[arrival.id] * arrival.interference;
        all += bytes[arrival.id];
    }
    if (all > 0) *met /= all;
    fc_transit_close(transit);
    return st->code;
}

/* Routers joined by links of more than one speed. */
static bool is_unequal(const struct fc_network *net)
{
    double one = 0;
    for (uint32_t l = 0; l < net->n_links; l++) {
        if (fc_is_node(net, net->link_source[l]) || fc_is_node(net, net->link_target[l])) continue;
        double bandwidth = fc_link_bandwidth(net, l);
        if (one > 0 && bandwidth != one) return true;
        one = bandwidth;
    }
    return false;
}

enum fc_code fc_bulk_apart(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, const struct fc_bulk_point *point,
                           struct fc_bulk_answer *answer, struct fc_status *st)
{
    double seconds, met;
    if (demand->n_dense || demand->n_entries > MOST_MESSAGES || !(point->reference_s > 0)) return FC_OK;
    if (flows(net, demand, placement, &seconds, &met, st)) return st->code;
    double m = fmin(1, (met / MEET) * (met / MEET));
    if (!(seconds > 0) || m == 1) return FC_OK;
    double error = net->machine->routing->adaptive && point->hops > 1 ? SEVERAL : ONE_WAY;
    if (is_unequal(net)) error = fmax(error, ONE_WAY + UNEQUAL / sqrt(point->packets));
    error = (1 - m) * log1p(error);
    if (m > 0) error += m * log1p(answer->error_percent / 100);
    answer->ratio = exp((1 - m) * log(seconds / point->reference_s) + m * log(answer->ratio));
    answer->error_percent = 100 * expm1(error);
    if (m < 0.5) {
        answer->extrapolated = false;
        answer->why[0] = '\0';
    }
    return FC_OK;
}
