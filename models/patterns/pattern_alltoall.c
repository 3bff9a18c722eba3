/* pattern_alltoall.c - total exchange: every node sends its own message of `bytes` to every other node.
 *
 * bytes(s, d) = bytes for s != d; total N (N-1) bytes. Source: Adiga et al., IBM J. Res. Dev. 49(2/3), 2005,
 * MPI alltoall (figures 6 and 11). The order in which the messages leave is not part of the demand. */
#include "models/demand_build.h"

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct fc_message_settings *set = settings;
    (void)seed;
    if (fc_demand_start(demand, net->n_nodes, 0, st)) return st->code;
    struct fc_dense *part = fc_demand_dense(demand, set->bytes, st);
    if (!part) return st->code;
    for (uint32_t t = 0; t < net->n_nodes; t++) {
        part->a[t] = set->bytes;
        part->b[t] = 1;
    }
    return FC_OK;
}

const struct fc_pattern_ops fc_pattern_alltoall = {
    .name = "alltoall",
    .help = "every node sends a message to every other node: bytes=1KiB",
    .source = "Adiga et al. 2005, figures 6 and 11",
    FC_MESSAGE_SETTINGS("1 KiB"),
    .make = make,
};
