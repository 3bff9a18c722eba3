/* pattern_neighbor.c - every node sends to one neighbour: d_i = s_i + 1 mod k_i in every dimension.
 *
 * Source: Dally & Towles 2004, table 3.2, a digit permutation: on a torus or mesh all coordinates step at
 * once, so a message crosses one link of each dimension (size 1: none). Families without coordinates have one
 * digit, the node number: d = s + 1 mod N. */
#include "models/demand_build.h"

static uint32_t next_coordinates(const struct fc_network *net, uint32_t node)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t router = node / s->nodes_per_router, to = 0;
    for (int d = 0; d < s->n_dims; d++) to += (fc_torus_coordinate(s, router, d) + 1) % s->k[d] * s->stride[d];
    return to * s->nodes_per_router + node % s->nodes_per_router;
}

static uint32_t next_number(const struct fc_network *net, uint32_t node)
{
    return node + 1 == net->n_nodes ? 0 : node + 1;
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct fc_message_settings *set = settings;
    (void)seed;
    return fc_demand_permutation(net, demand, fc_torus(net) ? next_coordinates : next_number, set->bytes, st);
}

const struct fc_pattern_ops fc_pattern_neighbor = {
    .name = "neighbor",
    .help = "one step in every dimension: bytes=1MiB",
    .source = "Dally & Towles 2004, table 3.2",
    FC_MESSAGE_SETTINGS("1 MiB"),
    .make = make,
};
