/* pattern_permutation.c - a random permutation: node s sends to p(s), p drawn uniformly from all N!
 * permutations.
 *
 * seed=N names the permutation, whatever the run's own --seed, so that a run can be repeated with other
 * random numbers on the same traffic. A fixed point p(s) = s (one is expected) stays in its node. Source:
 * Dally & Towles 2004, section 3.2. */
#include "models/demand_build.h"

enum { PERMUTATION_STREAM = 0x7065726d };

struct settings {
    long long seed;
    double bytes;
};

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct settings *set = settings;
    (void)seed;
    if (fc_demand_start(demand, net->n_nodes, net->n_nodes, st)) return st->code;
    uint32_t *to = fc_alloc(&demand->arena, net->n_nodes, sizeof *to, st);
    if (!to) return st->code;
    fc_random_permutation((uint64_t)set->seed, PERMUTATION_STREAM, to, net->n_nodes);
    for (uint32_t s = 0; s < net->n_nodes; s++) fc_demand_add(demand, s, to[s], set->bytes);
    return FC_OK;
}

static const struct fc_key keys[] = {
    {"seed", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, seed), 0, 9e18, NULL, "1", "which permutation"},
    FC_KEY_MESSAGE_BYTES(struct settings, "1 MiB"),
};

const struct fc_pattern_ops fc_pattern_permutation = {
    .name = "permutation",
    .help = "a random permutation of the nodes: seed=1,bytes=1MiB",
    .source = "Dally & Towles 2004, section 3.2",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
