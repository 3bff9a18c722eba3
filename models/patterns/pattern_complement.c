/* pattern_complement.c - every node sends to the node whose address is the complement of its own: d = N - 1 -
 * s.
 *
 * For N = 2^b this is the bit complement d_i = not s_i (Dally & Towles 2004, table 3.2); for any mixed-radix
 * numbering of the nodes (torus coordinates, fat-tree digits, supernode/drawer/node) it is the digit
 * complement d_i = k_i - 1 - s_i. */
#include "models/demand_build.h"

static uint32_t complement(const struct fc_network *net, uint32_t node)
{
    return net->n_nodes - 1 - node;
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct fc_message_settings *set = settings;
    (void)seed;
    return fc_demand_permutation(net, demand, complement, set->bytes, st);
}

const struct fc_pattern_ops fc_pattern_complement = {
    .name = "complement",
    .help = "node s sends to node N-1-s: bytes=1MiB",
    .source = "Dally & Towles 2004, table 3.2",
    FC_MESSAGE_SETTINGS("1 MiB"),
    .make = make,
};
