/* pattern_transpose.c - matrix transposition: the two halves of the address change places.
 *
 * d_i = s_((i + b/2) mod b) over the b digits of the address (Dally & Towles 2004, table 3.2). On a torus or
 * mesh with an even number of dimensions, k_i = k_(i + n/2), the digits are the coordinates: (x, y) -> (y,
 * x), and the place on the router stays. Elsewhere they are the bits of the node number, which must be 2^b
 * nodes with b even. */
#include "models/demand_build.h"

static bool by_coordinates(const struct fc_torus_shape *s)
{
    if (!s || s->n_dims % 2 != 0) return false;
    for (int d = 0; d < s->n_dims / 2; d++)
        if (s->k[d] != s->k[d + s->n_dims / 2]) return false;
    return true;
}

static uint32_t swap_coordinates(const struct fc_network *net, uint32_t node)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t router = node / s->nodes_per_router, to = 0;
    int half = s->n_dims / 2;
    for (int d = 0; d < s->n_dims; d++) to += fc_torus_coordinate(s, router, (d + half) % s->n_dims) * s->stride[d];
    return to * s->nodes_per_router + node % s->nodes_per_router;
}

static uint32_t swap_bits(const struct fc_network *net, uint32_t node)
{
    int half = fc_exact_log2(net->n_nodes) / 2;
    uint32_t low = node & ((1u << half) - 1);
    return low << half | node >> half;
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct fc_message_settings *set = settings;
    (void)seed;
    if (by_coordinates(fc_torus(net))) return fc_demand_permutation(net, demand, swap_coordinates, set->bytes, st);
    int bits = fc_exact_log2(net->n_nodes);
    if (bits < 0 || bits % 2 != 0)
        return fc_refuse(st, FC_INPUT,
                         "%u nodes have no two equal halves of an address (defined for an even number of "
                         "equal torus dimensions, or 4^m nodes)",
                         net->n_nodes);
    return fc_demand_permutation(net, demand, swap_bits, set->bytes, st);
}

const struct fc_pattern_ops fc_pattern_transpose = {
    .name = "transpose",
    .help = "the halves of the address change places, (x,y) to (y,x): bytes=1MiB",
    .source = "Dally & Towles 2004, table 3.2",
    FC_MESSAGE_SETTINGS("1 MiB"),
    .make = make,
};
