/* pattern_broadcast.c - one message from node `root` to the first `nodes` nodes, or to all.
 *
 * The entries are the message sent to one node after the other. Where switches copy packets down a tree
 * (router.multicast) it is sent once to the whole range, and a root within it gets a copy too. Source:
 * Petrini et al., IEEE NCA 2001, sections 2.3.1 and 4.2. Limits: neither the barrier that comes before a
 * broadcast there nor software trees are in the demand. */
#include "models/demand_build.h"

struct settings {
    long long root, nodes;
    double bytes;
};

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct settings *set = settings;
    (void)seed;
    if (set->root >= net->n_nodes)
        return fc_refuse(st, FC_INPUT, "root: node %lld of a machine of %u (expected 0 to %u)", set->root, net->n_nodes,
                         net->n_nodes - 1);
    if (set->nodes > net->n_nodes)
        return fc_refuse(st, FC_INPUT, "nodes: the first %lld of a machine of %u", set->nodes, net->n_nodes);
    uint32_t root = (uint32_t)set->root, n = set->nodes ? (uint32_t)set->nodes : net->n_nodes;
    if (n == 1 && root == 0) return fc_refuse(st, FC_INPUT, "nodes: the root alone, nobody to send to");
    if (fc_demand_start(demand, net->n_nodes, n, st)) return st->code;
    for (uint32_t node = 0; node < n; node++)
        if (node != root) fc_demand_add(demand, root, node, set->bytes);
    if (net->machine->router.multicast != FC_MULTICAST_TREE) return FC_OK;
    uint32_t *target =
        fc_demand_multicasts_start(demand, 1, st) ? NULL : fc_demand_multicast(demand, root, set->bytes, n, st);
    for (uint32_t node = 0; target && node < n; node++) target[node] = node;
    return st->code;
}

static const struct fc_key keys[] = {
    {"root", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, root), 0, 4e9, NULL, "0", "node that sends"},
    {"nodes", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, nodes), 1, 4e9, NULL, NULL,
     "how many receive, from node 0 on (default: all)"},
    FC_KEY_MESSAGE_BYTES(struct settings, "1 MiB"),
};

const struct fc_pattern_ops fc_pattern_broadcast = {
    .name = "broadcast",
    .help = "one message from a node to the first nodes: root=0,nodes=all,bytes=1MiB",
    .source = "Petrini et al., NCA 2001, section 4.2",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
