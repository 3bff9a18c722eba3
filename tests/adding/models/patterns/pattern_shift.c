/* pattern_shift.c - every node sends to the one `by` places on. */
#include "models/demand_build.h"

struct settings {
    double bytes;
    long long by;
};
static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct settings *set = settings;
    (void)seed;
    if (fc_demand_start(demand, net->n_nodes, net->n_nodes, st)) return st->code;
    for (uint32_t s = 0; s < net->n_nodes; s++)
        fc_demand_add(demand, s, (uint32_t)((s + (uint64_t)set->by) % net->n_nodes), set->bytes);
    return FC_OK;
}
static const struct fc_key keys[] = {
    FC_KEY_MESSAGE_BYTES(struct settings, "1 MiB"),
    {"by", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, by), 1, 1e6, NULL, "1", "places"},
};
const struct fc_pattern_ops fc_pattern_shift = {
    .name = "shift",
    .help = "node s sends to node s + by: by=1, bytes=1MiB",
    .source = "Dally & Towles 2004, table 3.1",
    .keys = keys,
    .n_keys = FC_COUNT(keys),
    .settings_size = sizeof(struct settings),
    .make = make,
};
