/* forced_bound.c - a lower bound of max over links of load / bandwidth from traffic that no minimal routing
 * can move.
 *
 * However adaptive routing splits, bytes that are certain to be at router v, and have no minimal way on but
 * by the cables to one neighbour u, cross those cables: T >= sum of such bytes / bandwidth of the cables from
 * v to u. Which bytes these are is found for tori and meshes (forced_torus.c) and for graphs (forced_graph.c).
 * Exact sums over all pairs; never above the flow LP, whose every feasible flow carries these bytes there.
 * Limit: bytes that have a choice count for nothing, also where their ways meet again. */
#include "solvers/bound/forced.h"

static double greatest(const struct fc_forced *f, const double *background)
{
    const struct fc_network *net = f->net;
    double most = 0;
    for (uint32_t l = 0; l < net->first_link[net->n_routers]; l++) {
        if (!(f->bytes[l] > 0)) continue;
        uint32_t v = net->link_source[l];
        double rate = 0;
        for (uint32_t c = net->first_link[v]; c < net->first_link[v + 1]; c++)
            if (net->link_target[c] == net->link_target[l]) rate += fc_free_bandwidth(net, background, c);
        if (rate > 0 && isfinite(rate)) most = fmax(most, f->bytes[l] / rate);
    }
    return most;
}

enum fc_code fc_forced_bound(const struct fc_network *net, const struct fc_node_demand *demand,
                             const double *background_bytes_per_s, double *bound_s, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_forced f = {.net = net, .demand = demand};
    *bound_s = 0;
    if (!net->machine->routing->minimal) return FC_OK;
    f.bytes = fc_alloc(&scratch, net->n_links, sizeof *f.bytes, st);
    if (f.bytes && !fc_forced_torus(&f, &scratch, st) && !fc_forced_graph(&f, &scratch, st))
        *bound_s = greatest(&f, background_bytes_per_s);
    return st->code;
}
