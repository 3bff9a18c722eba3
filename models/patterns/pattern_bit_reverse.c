/* pattern_bit_reverse.c - every node sends to the node whose number has its bits in reverse order.
 *
 * d_i = s_(b-1-i) over the b bits of the node number (Dally & Towles 2004, table 3.2). Defined for 2^b nodes.
 */
#include "models/demand_build.h"

static uint32_t reverse(const struct fc_network *net, uint32_t node)
{
    uint32_t to = 0;
    for (int i = 0, bits = fc_exact_log2(net->n_nodes); i < bits; i++) to |= (node >> i & 1) << (bits - 1 - i);
    return to;
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct fc_message_settings *set = settings;
    (void)seed;
    if (fc_exact_log2(net->n_nodes) < 0)
        return fc_refuse(st, FC_INPUT, "%u nodes are not a power of two", net->n_nodes);
    return fc_demand_permutation(net, demand, reverse, set->bytes, st);
}

const struct fc_pattern_ops fc_pattern_bit_reverse = {
    .name = "bit-reverse",
    .help = "to the node number with the bits reversed (2^b nodes): bytes=1MiB",
    .source = "Dally & Towles 2004, table 3.2",
    FC_MESSAGE_SETTINGS("1 MiB"),
    .make = make,
};
