/* bulk_ends.c - phases of no known kind: graphs, hot spots, incast.
 *
 * Where the phase's time as a fluid is known (bulk_fluid.c), r is the root of what bulk.c says of T_kernel / T_fluid: the graphs that
 * were run tell half of what others lose beyond the fluid, own machines and o.. of tests/validate_phases.c say (docs/notes/phases.md). Elsewhere
 * the fluid is T_links + T_fill and r its ratio, what routers lose while packets for one place hold up those for another. It was run on
 * phases in which all nodes send and receive about as much. Three things leave less room for that loss:
 *
 * 1. Packets for one end point do not hold up each other: its link is busy as long as any is left. With c the greatest share
 *    of all bytes that one node receives, beyond an even share of all nodes that take part, two packets that meet are both for others
 *    with (1 - c)^2,
 *
 *        r_c = 1 + (r - 1) (1 - c)^2 where r > 1, else r.
 *
 * 2. Where a node's own link is busiest, the routers' links have time to spare: T = T_fluid max(min(1, r_c), r_c a), a the part
 *    (T_net + T_fill) / (T_links + T_fill), T_net of the busiest link between routers.
 * 3. But not where nodes send to several others in turn: one that is held up holds up the rest, so that end points, too, are not
 *    always busy. With s the spread of destinations (bulk_point.c; 0: each node sends to one), a is 1 with s, as in 2. with 1 - s.
 *
 * The error is the ratio's, as far as the ratio still counts, and at least LEAST_PERCENT: the kernel takes up to 5 % more
 * than the bound for a hot spot, up to 10 % for two (bgl-64, bgl-512, qsnet-64, percs-16, tmesh-216). Half of what the ratio
 * would add for one packet of two, (r - 1) (1 - c) / 2, counts as error too, because several nodes that are nearly as busy do
 * hold up each other. Limit: hot spots that share a link near them. */
#include "solvers/calibration/bulk.h"
#include "solvers/load_internal.h"

#define LEAST_PERCENT 10.0

/* Greatest share of all bytes that one node receives, beyond an even share of the nodes that send or receive.
 * bytes[2 n_nodes]: zeroed. */
static double greatest_share(const struct fc_network *net, const struct fc_load *load, double *bytes)
{
    double most = 0, n = 0, *sent = bytes + net->n_nodes;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t from = net->link_source[l], to = net->link_target[l];
        if (fc_is_node(net, from)) sent[from - net->n_routers] += load->bytes[l];
        if (fc_is_node(net, to)) bytes[to - net->n_routers] += load->bytes[l];
    }
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        most = fmax(most, bytes[i]);
        n += bytes[i] + sent[i] > 0;
    }
    if (n < 2 || !(load->network_bytes > 0)) return 1;
    return fmin(1, fmax(0, (most / load->network_bytes - 1 / n) / (1 - 1 / n)));
}

enum fc_code fc_bulk_ends(const struct fc_network *net, const struct fc_load *load, const double *background,
                          const struct fc_phase_parts *parts, const struct fc_bulk_point *point,
                          struct fc_bulk_answer *answer, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    double *bytes = fc_alloc(&arena, 2 * (size_t)net->n_nodes, sizeof *bytes, st), net_s = 0;
    if (!bytes) return st->code;
    double c = greatest_share(net, load, bytes), q = (1 - c) * (1 - c);
    for (uint32_t l = 0; l < net->n_links; l++)
        if (load->bytes[l] > 0 && fc_is_between_routers(net, l))
            net_s = fmax(net_s, load->bytes[l] * load->wire_factor / fc_free_bandwidth(net, background, l));
    double links_s = point->reference_s - parts->fill_s; /* in whole flits */
    double part = fmin(1, (net_s / parts->links_s * links_s + parts->fill_s) / point->reference_s);
    double base = point->fluid > 0 ? point->fluid : 1;
    double r = point->fluid > 0 ? sqrt(answer->ratio / base) : answer->ratio;
    part = 1 - (1 - part) * (1 - point->spread);
    double lost = r > 1 ? (r - 1) * q : r - 1, between = (1 + lost) * part;
    double most = between + r * q * part * answer->error_percent / 100;
    double ratio = fmax(between, fmin(1, 1 + lost));
    double unsure = fmax(0, r - 1) * (1 - c) / 2, least = hypot(LEAST_PERCENT, 100 * unsure);
    answer->error_percent = fmax(fmin(least, answer->error_percent), 100 * (most / ratio - 1));
    answer->ratio = base * ratio;
    return FC_OK;
}
