/* pattern_uniform.c - uniform random traffic: lambda_sd = 1/N for every pair, the sender itself included.
 *
 * Source: Dally & Towles (2004), table 3.1 (random traffic). Each node offers one byte a unit; the share 1/N
 * that it sends to itself never enters the network, so the network carries (N-1)/N of it. */
#include "models/demand_build.h"

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    (void)settings, (void)seed;
    if (fc_demand_start(demand, net->n_nodes, 0, st)) return st->code;
    struct fc_dense *part = fc_demand_dense(demand, fc_packet_payload_bytes(net->machine), st);
    if (!part) return st->code;
    for (uint32_t t = 0; t < net->n_nodes; t++) {
        part->a[t] = 1;
        part->b[t] = 1.0 / net->n_nodes;
    }
    demand->open_loop = true;
    return FC_OK;
}

const struct fc_pattern_ops fc_pattern_uniform = {
    .name = "uniform",
    .help = "every node sends to every node alike (rates only)",
    .source = "Dally & Towles 2004, table 3.1",
    .make = make,
};
