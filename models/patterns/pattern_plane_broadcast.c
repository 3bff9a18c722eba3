/* pattern_plane_broadcast.c - pipelined broadcast of one message from node 0 over its x-y plane of a torus,
 * as the traffic between neighbours that it causes in the steady state.
 *
 * The message is cut in four quarters (colours), one for each link of the root, and each colour takes a
 * spanning tree of its own. The tree of x+: along row 0 by x+, then up every column x != 0 by y+, and into
 * column 0 by the wrap link of x+; the tree of y+ is the same with x and y exchanged, those of x- and y- are
 * their mirror images. The four trees share no link and together use every link of the plane except the four
 * into the root, so every other link carries bytes/4 and T -> bytes/(4 b). Further nodes of a router get the
 * message from its first node. Total: bytes times the number of receivers. Where routers deposit copies
 * (router.multicast) a tree is a line of its row, a line of each column, and single hops over the wrap links;
 * every node but the root begins to pass on at once, as in the steady state. Source: Adiga et al., IBM J.
 * Res. Dev. 49(2/3), 2005, plane fill with two cores: 175 MB/s * 4 * payload share
 * * 96 %. Limits: needs wrapped x and y; the software's corner turns are not in the demand. */
#include "models/demand_build.h"

static void add_router(const struct fc_torus_shape *s, uint32_t router, double bytes, struct fc_demand *demand)
{
    uint32_t per_router = s->nodes_per_router, node = router * per_router;
    for (int d = 0; d < 2; d++)
        for (int direction = FC_PLUS; direction <= FC_MINUS; direction++) {
            uint32_t to = fc_torus_neighbour(s, router, d, direction);
            if (to != 0) fc_demand_add(demand, node, to * per_router, bytes / 4);
        }
    for (uint32_t t = 1; t < per_router; t++) fc_demand_add(demand, node, node + t, bytes);
}

/* What the router sends of the tree that leaves the root along d: the root its row, the row's other routers
 * their columns, the row's last router and those beside it the hop into the root's column. */
static enum fc_code add_lines(const struct fc_torus_shape *s, uint32_t router, int d, int direction, double bytes,
                              struct fc_demand *demand, struct fc_status *st)
{
    uint32_t along = fc_torus_coordinate(s, router, d), across = fc_torus_coordinate(s, router, 1 - d);
    uint32_t last = direction == FC_PLUS ? s->k[d] - 1 : 1;
    if (across == 0)
        return fc_demand_line(s, demand, router, along ? 1 - d : d, direction, s->k[along ? 1 - d : d] - 1, bytes, st);
    return along == last ? fc_demand_line(s, demand, router, d, direction, 1, bytes, st) : FC_OK;
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct fc_message_settings *set = settings;
    const struct fc_torus_shape *s = fc_torus(net);
    (void)seed;
    if (!s || s->n_dims < 2 || s->k[0] < 2 || s->k[1] < 2 || !s->ring[0] || !s->ring[1])
        return fc_refuse(st, FC_INPUT,
                         "needs a torus with rings of 2 or more in x and y (the four trees use the wrap links)");
    uint32_t n = s->k[0] * s->k[1];
    if (fc_demand_start(demand, net->n_nodes, (uint64_t)n * (3 + s->nodes_per_router), st)) return st->code;
    for (uint32_t router = 0; router < n; router++) add_router(s, router, set->bytes, demand);
    if (!fc_demand_deposits(net)) return FC_OK;
    if (fc_demand_multicasts_start(demand, 4 * ((size_t)s->k[0] + s->k[1]), st)) return st->code;
    for (uint32_t router = 0; router < n; router++)
        for (int tree = 0; tree < 4; tree++)
            if (add_lines(s, router, tree / 2, tree % 2, set->bytes / 4, demand, st)) return st->code;
    return FC_OK;
}

const struct fc_pattern_ops fc_pattern_plane_broadcast = {
    .name = "plane-broadcast",
    .help = "pipelined broadcast of one message over a plane of the torus: bytes=1MiB",
    .source = "Adiga et al. 2005, plane fill",
    FC_MESSAGE_SETTINGS("1 MiB"),
    .make = make,
};
