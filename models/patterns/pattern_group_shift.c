/* pattern_group_shift.c - every node sends to the node at its place in the group `by` further on: of G groups of nodes, node
 * (g, i) to (g + by mod G, i). Groups are those of a dragonfly, the highest subtrees of a fat-tree, slabs of a torus or a mesh
 * (group_shift.c). Where they differ in size the place is taken modulo that of the other, and a node may get several messages.
 *
 * Source: Kim, Dally, Scott & Abts, ISCA 2008, section 4.2 ("worst-case traffic: each node in group i to group i + 1"): with
 * minimal routing the cables between two groups carry all of a group. */
#include "models/demand_build.h"
#include "models/group_shift.h"

struct settings {
    long long by;
    double bytes;
};

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct settings *set = settings;
    (void)seed;
    if (fc_demand_start(demand, net->n_nodes, net->n_nodes, st)) return st->code;
    uint32_t *to = fc_alloc(&demand->arena, net->n_nodes, sizeof *to, st);
    if (!to || fc_group_shift(net, (uint64_t)set->by, to, st)) return st->code;
    for (uint32_t s = 0; s < net->n_nodes; s++) fc_demand_add(demand, s, to[s], set->bytes);
    return FC_OK;
}

static const struct fc_key keys[] = {
    {"by", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, by), 1, 4294967295.0, NULL, "1", "groups further on"},
    FC_KEY_MESSAGE_BYTES(struct settings, "1 MiB"),
};

const struct fc_pattern_ops fc_pattern_group_shift = {
    .name = "group-shift",
    .help = "each node to its place in the next group: by=1,bytes=1MiB",
    .source = "Kim et al., ISCA 2008, section 4.2",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
