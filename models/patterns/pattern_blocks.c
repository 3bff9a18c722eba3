/* pattern_blocks.c - nodes talk within their block only: every node sends a message of `bytes` to every other
 * node of its block of `nodes` consecutive ones.
 *
 * bytes(s, d) = bytes for s != d, floor(s / nodes) = floor(d / nodes). A block is a chip of a TMesh, a
 * supernode, a leaf switch's nodes, or a job. Source: Liu, Xun, Cao & Sun (TMesh), section 3.2, the traffic
 * within a chip of Figure 17 (of which the paper says no more; uniform here). */
#include "models/demand_build.h"

struct settings {
    long long nodes;
    double bytes;
};

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct settings *set = settings;
    uint32_t size = (uint32_t)set->nodes;
    (void)seed;
    if (net->n_nodes % size)
        return fc_refuse(st, FC_INPUT, "nodes: blocks of %u do not divide the %u nodes", size, net->n_nodes);
    if (fc_demand_start(demand, net->n_nodes, (uint64_t)net->n_nodes * (size - 1), st)) return st->code;
    for (uint32_t s = 0; s < net->n_nodes; s++)
        for (uint32_t d = s - s % size; d < s - s % size + size; d++)
            if (d != s) fc_demand_add(demand, s, d, set->bytes);
    return FC_OK;
}

static const struct fc_key keys[] = {
    {"nodes", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, nodes), 2, 4e9, NULL, "16", "nodes of a block"},
    FC_KEY_MESSAGE_BYTES(struct settings, "1 KiB"),
};

const struct fc_pattern_ops fc_pattern_blocks = {
    .name = "blocks",
    .help = "every node to every other of its block of consecutive nodes: nodes=16,bytes=1KiB",
    .source = "Liu, Xun, Cao & Sun (TMesh), section 3.2",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
