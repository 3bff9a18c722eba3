/* pattern_random.c - a random graph: a node sends to some others drawn at random, as irregular programs do.
 *
 * Each node sends with the probability `share`, to `partners` others, each drawn uniformly from all others (one may be drawn
 * twice). A message has bytes exp(sigma z - sigma^2 / 2), z normal: log-normal with the mean `bytes`, at least 1, whole; sigma 0:
 * all alike. seed=N names the graph, whatever the run's own --seed. Normal numbers: Box & Muller, Ann. Math. Stat. 29(2), 1958. */
#include "models/demand_build.h"

enum { RANDOM_SENDS = 0x72616e64, RANDOM_TO, RANDOM_SIZE, RANDOM_ANGLE };

struct settings {
    long long partners, seed;
    double share, sigma, bytes;
};

static double message_bytes(const struct settings *set, uint64_t at)
{
    uint64_t seed = (uint64_t)set->seed;
    double u = 1 - fc_random_real(seed, RANDOM_SIZE, at), v = fc_random_real(seed, RANDOM_ANGLE, at);
    double z = sqrt(-2 * log(u)) * cos(2 * M_PI * v), sigma = set->sigma;
    return fmax(fmin(set->bytes, 1), round(set->bytes * exp(sigma * z - sigma * sigma / 2)));
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct settings *set = settings;
    uint64_t own = (uint64_t)set->seed, partners = (uint64_t)set->partners;
    (void)seed;
    if (net->n_nodes < 2) return fc_refuse(st, FC_INPUT, "random: a network of one node has no partners");
    if (fc_demand_start(demand, net->n_nodes, net->n_nodes * partners, st)) return st->code;
    for (uint32_t s = 0; s < net->n_nodes; s++) {
        if (set->share < 1 && fc_random_real(own, RANDOM_SENDS, s) >= set->share) continue;
        for (uint64_t k = 0; k < partners; k++) {
            uint32_t to = (uint32_t)fc_random_below(own, RANDOM_TO, s * partners + k, net->n_nodes - 1);
            fc_demand_add(demand, s, to + (to >= s), message_bytes(set, s * partners + k));
        }
    }
    return FC_OK;
}

static const struct fc_key keys[] = {
    {"partners", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, partners), 1, 4096, NULL, "5",
     "messages of a node that sends"},
    {"share", FC_KEY_QUANTITY, FC_NUMBER, offsetof(struct settings, share), 0, 1, NULL, "1", "of the nodes that send"},
    {"sigma", FC_KEY_QUANTITY, FC_NUMBER, offsetof(struct settings, sigma), 0, 4, NULL, "1",
     "of the logarithm of a message's size"},
    {"seed", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, seed), 0, 9e18, NULL, "1", "which graph"},
    FC_KEY_MESSAGE_BYTES(struct settings, "64 KiB"),
};

const struct fc_pattern_ops fc_pattern_random = {
    .name = "random",
    .help = "some others drawn at random, sizes log-normal: partners=5,share=1,sigma=1,seed=1,bytes=64KiB",
    .source = "an irregular program's graph",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
