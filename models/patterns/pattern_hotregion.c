/* pattern_hotregion.c - uniform traffic with an extra share for a region: a fraction f of every node's
 * packets goes to a node of the region R, drawn uniformly, the rest to any node: lambda_sd = (1-f)/N + f [d
 * in R]/|R|.
 *
 * Source: Adiga et al., IBM J. Res. Dev. 49(2/3), 2005, figures 3, 5, 7 (f = 0.25, R an eighth of the
 * machine, with the origin). R is a sub-torus at the origin, every dimension scaled as equally as whole sizes
 * allow; on families without coordinates the first region*N nodes. A region that is no whole number of nodes
 * is refused. */
#include "models/demand_build.h"

#include <string.h>

struct settings {
    double fraction, region;
};

/* Among boxes of `routers` routers the one whose sides are nearest to equal shares of the dimensions: the
 * greatest smallest share k_i wins, at a tie the longer first dimension. Depth-first over the divisors; false
 * when none exists. */
static bool search_box(const struct fc_torus_shape *s, int d, uint64_t left, double least, uint32_t *side, double *best,
                       uint32_t *best_side)
{
    if (d == s->n_dims) {
        if (left != 1 || least <= *best) return false;
        *best = least;
        memcpy(best_side, side, (size_t)s->n_dims * sizeof *side);
        return true;
    }
    bool found = false;
    for (uint32_t n = s->k[d]; n >= 1; n--) {
        if (left % n) continue;
        side[d] = n;
        found = search_box(s, d + 1, left / n, fmin(least, (double)n / s->k[d]), side, best, best_side) || found;
    }
    return found;
}

static enum fc_code mark_region(const struct fc_network *net, double region, double *inside, uint32_t *n_inside,
                                struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t per_unit = s ? s->nodes_per_router : 1, units = net->n_nodes / per_unit;
    double exact = region * units, whole = round(exact);
    if (whole < 1 || fabs(exact - whole) > 1e-6 * units)
        return fc_refuse(st, FC_INPUT,
                         "region: %g of %u %s is %.6g of them (expected a whole number, e.g. region=%.6g)", region,
                         units, s ? "routers" : "nodes", exact, fmax(whole, 1) / units);
    *n_inside = (uint32_t)whole * per_unit;
    if (!s) {
        for (uint32_t t = 0; t < *n_inside; t++) inside[t] = 1;
        return FC_OK;
    }
    uint32_t side[FC_MAX_DIMS], best_side[FC_MAX_DIMS] = {0};
    double best = 0;
    if (!search_box(s, 0, (uint64_t)whole, 1, side, &best, best_side))
        return fc_refuse(st, FC_INPUT, "region: %g of the machine is %.0f routers, which no box of it holds", region,
                         whole);
    fc_demand_box(s, best_side, inside);
    return FC_OK;
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct settings *set = settings;
    uint32_t n = net->n_nodes, n_inside = 0;
    (void)seed;
    if (fc_demand_start(demand, n, 0, st)) return st->code;
    struct fc_dense *part = fc_demand_dense(demand, fc_packet_payload_bytes(net->machine), st);
    if (!part || mark_region(net, set->region, part->b, &n_inside, st)) return st->code;
    for (uint32_t t = 0; t < n; t++) {
        part->a[t] = 1;
        part->b[t] = (1 - set->fraction) / n + (part->b[t] > 0 ? set->fraction / n_inside : 0);
    }
    demand->open_loop = true;
    return FC_OK;
}

static const struct fc_key keys[] = {
    {"fraction", FC_KEY_QUANTITY, FC_NUMBER, offsetof(struct settings, fraction), 0, 1, NULL, "0.25",
     "share of the packets that go to the region only"},
    {"region", FC_KEY_QUANTITY, FC_NUMBER, offsetof(struct settings, region), 0, 1, NULL, "0.125",
     "share of the machine that is the region"},
};

const struct fc_pattern_ops fc_pattern_hotregion = {
    .name = "hotregion",
    .help = "uniform, and a fraction to a region at the origin (rates only): fraction=0.25,region=0.125",
    .source = "Adiga et al. 2005, figures 3, 5, 7",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
