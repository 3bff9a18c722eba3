/* pattern_hotspot.c - every node outside a region sends one message to every node inside it.
 *
 * bytes(s, d) = bytes for s outside, d inside. Source: Adiga et al., IBM J. Res. Dev. 49(2/3), 2005, hot-spot
 * pattern (regions of 1, 2 and 4 nodes a side, 256-byte packets): the time is bound by the links into the
 * region. The region is the box of `size` routers at the origin of a torus or mesh with all their nodes;
 * elsewhere the first AxBxC nodes. */
#include "models/demand_build.h"

struct settings {
    struct fc_ints size;
    double bytes;
};

/* The box's sides; a dimension that `size` does not name has side 1, one that the machine lacks must be 1. */
static enum fc_code box_sides(const struct fc_torus_shape *s, const struct fc_ints *size, uint32_t *side,
                              struct fc_status *st)
{
    for (int d = 0; d < s->n_dims; d++) side[d] = 1;
    for (int d = 0; d < size->n; d++) {
        long long k = d < s->n_dims ? s->k[d] : 1;
        if (size->v[d] > k)
            return fc_refuse(st, FC_INPUT, "size: %lld in dimension %d, which has %lld", size->v[d], d + 1, k);
        if (d < s->n_dims) side[d] = (uint32_t)size->v[d];
    }
    return FC_OK;
}

static enum fc_code mark_region(const struct fc_network *net, const struct settings *set, double *inside,
                                struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t side[FC_MAX_DIMS];
    if (s) {
        if (box_sides(s, &set->size, side, st)) return st->code;
        fc_demand_box(s, side, inside);
        return FC_OK;
    }
    double nodes = 1;
    for (int d = 0; d < set->size.n; d++) nodes *= (double)set->size.v[d];
    if (nodes > net->n_nodes)
        return fc_refuse(st, FC_INPUT, "size: a region of %.15g nodes in a machine of %u", nodes, net->n_nodes);
    for (uint32_t t = 0; t < (uint32_t)nodes; t++) inside[t] = 1;
    return FC_OK;
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct settings *set = settings;
    (void)seed;
    if (fc_demand_start(demand, net->n_nodes, 0, st)) return st->code;
    struct fc_dense *part = fc_demand_dense(demand, set->bytes, st);
    if (!part || mark_region(net, set, part->b, st)) return st->code;
    bool senders = false;
    for (uint32_t t = 0; t < net->n_nodes; t++) {
        part->a[t] = part->b[t] > 0 ? 0 : set->bytes;
        senders = senders || part->b[t] == 0;
    }
    return senders ? FC_OK : fc_refuse(st, FC_INPUT, "size: the region is the whole machine, nobody is left to send");
}

static const struct fc_key keys[] = {
    {"size", FC_KEY_INTS, FC_NUMBER, offsetof(struct settings, size), 1, 1e9, NULL, "1x1x1", "sides of the region"},
    FC_KEY_MESSAGE_BYTES(struct settings, "256 B"),
};

const struct fc_pattern_ops fc_pattern_hotspot = {
    .name = "hotspot",
    .help = "all nodes outside a box send to all inside: size=1x1x1,bytes=256B",
    .source = "Adiga et al. 2005, hot-spot pattern",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
