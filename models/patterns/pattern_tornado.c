/* pattern_tornado.c - every node sends just short of half-way round every ring: d_i = s_i + (ceil(k_i/2) - 1)
 * mod k_i.
 *
 * Source: Dally & Towles 2004, table 3.2 and section 3.2; minimal routing uses one direction of each ring
 * only. Defined on coordinates, so on tori and meshes (a mesh has the same destinations but longer ways
 * back). A dimension of size 1 or 2 has offset 0. */
#include "models/demand_build.h"

static uint32_t tornado(const struct fc_network *net, uint32_t node)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t router = node / s->nodes_per_router, to = 0;
    for (int d = 0; d < s->n_dims; d++) {
        uint32_t k = s->k[d];
        to += (fc_torus_coordinate(s, router, d) + (k + 1) / 2 - 1) % k * s->stride[d];
    }
    return to * s->nodes_per_router + node % s->nodes_per_router;
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct fc_message_settings *set = settings;
    (void)seed;
    if (!fc_torus(net))
        return fc_refuse(st, FC_INPUT, "a %s network has no rings (defined for torus and mesh)",
                         net->machine->family->name);
    return fc_demand_permutation(net, demand, tornado, set->bytes, st);
}

const struct fc_pattern_ops fc_pattern_tornado = {
    .name = "tornado",
    .help = "ceil(k/2)-1 steps in every dimension: bytes=1MiB",
    .source = "Dally & Towles 2004, table 3.2",
    FC_MESSAGE_SETTINGS("1 MiB"),
    .make = make,
};
