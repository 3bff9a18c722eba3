/* pattern_line_broadcast.c - pipelined broadcast of one message from node 0 along its line in x, as the
 * traffic between neighbours that it causes in the steady state.
 *
 * On a ring of k routers the message is cut in two halves (colours): one travels + and the other -, each over
 * k - 1 links, so that both links of the root are busy: every link of the line except the two into the root
 * carries bytes/2, and T -> bytes/(2 b) for long messages. On a line (mesh) only + exists from the corner and
 * carries the whole message. Further nodes of a router get the message from its first node. Total: bytes
 * times the number of receivers. Where routers deposit copies (router.multicast) the root
 * sends each colour once along the line. Source: Adiga et al., IBM J. Res. Dev. 49(2/3), 2005, line fill.
 * Limits: fill time k * hop and corner software are not in the demand. */
#include "models/demand_build.h"

static void add_router(const struct fc_torus_shape *s, uint32_t x, double bytes, struct fc_demand *demand)
{
    uint32_t k = s->k[0], per_router = s->nodes_per_router, node = x * per_router;
    double part = s->ring[0] ? bytes / 2 : bytes;
    if (x + 1 < k) fc_demand_add(demand, node, node + per_router, part);
    if (s->ring[0] && x != 1) fc_demand_add(demand, node, (x == 0 ? k - 1 : x - 1) * per_router, part);
    for (uint32_t t = 1; t < per_router; t++) fc_demand_add(demand, node, node + t, bytes);
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct fc_message_settings *set = settings;
    const struct fc_torus_shape *s = fc_torus(net);
    (void)seed;
    if (!s)
        return fc_refuse(st, FC_INPUT, "a %s network has no line in x (defined for torus and mesh)",
                         net->machine->family->name);
    if (s->k[0] < 2) return fc_refuse(st, FC_INPUT, "dimension x has size 1: nobody to send to");
    if (fc_demand_start(demand, net->n_nodes, (uint64_t)s->k[0] * (1 + s->nodes_per_router), st)) return st->code;
    for (uint32_t x = 0; x < s->k[0]; x++) add_router(s, x, set->bytes, demand);
    if (!fc_demand_deposits(net)) return FC_OK;
    double part = s->ring[0] ? set->bytes / 2 : set->bytes;
    if (fc_demand_multicasts_start(demand, 2, st) || fc_demand_line(s, demand, 0, 0, FC_PLUS, s->k[0] - 1, part, st) ||
        (s->ring[0] && fc_demand_line(s, demand, 0, 0, FC_MINUS, s->k[0] - 1, part, st)))
        return st->code;
    return FC_OK;
}

const struct fc_pattern_ops fc_pattern_line_broadcast = {
    .name = "line-broadcast",
    .help = "pipelined broadcast of one message along a line of the torus: bytes=1MiB",
    .source = "Adiga et al. 2005, line fill",
    FC_MESSAGE_SETTINGS("1 MiB"),
    .make = make,
};
