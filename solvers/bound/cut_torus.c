/* cut_torus.c - tori and meshes with minimal routing: the hops of the traffic in each dimension are fixed, so T >=
 * bytes x hops / (bandwidth of the dimension's links). */
#include "solvers/bound/cut_torus.h"

#include "models/family_torus.h"

#include <string.h>

/* Minimal hops of all traffic in one dimension, bytes x hops. */
static double hop_bytes(const struct fc_network *net, const struct fc_node_demand *d, int dim, double *a, double *b)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t per_router = s->nodes_per_router, k = s->k[dim];
    double sum = 0;
    for (size_t e = 0; e < d->n; e++) {
        struct fc_torus_offset o = fc_torus_offset(s, dim, fc_torus_coordinate(s, d->src[e] / per_router, dim),
                                                   fc_torus_coordinate(s, d->dst[e] / per_router, dim));
        sum += d->bytes[e] * (o.plus_share > 0 ? o.plus : o.minus);
    }
    for (int i = 0; i < d->n_dense; i++) {
        memset(a, 0, k * sizeof *a);
        memset(b, 0, k * sizeof *b);
        for (uint32_t n = 0; n < net->n_nodes; n++) {
            uint32_t at = fc_torus_coordinate(s, n / per_router, dim);
            a[at] += d->a[i][n];
            b[at] += d->b[i][n];
        }
        for (uint32_t x = 0; x < k; x++)
            for (uint32_t y = 0; y < k; y++) {
                struct fc_torus_offset o = fc_torus_offset(s, dim, x, y);
                sum += a[x] * b[y] * (o.plus_share > 0 ? o.plus : o.minus);
            }
    }
    return sum;
}

enum fc_code fc_cut_torus(const struct fc_network *net, const struct fc_node_demand *demand,
                          const double *background_bytes_per_s, double *bound_s, struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(net);
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t most = 1;
    *bound_s = 0;
    if (!s || !net->machine->routing->minimal) return FC_OK;
    for (int dim = 0; dim < s->n_dims; dim++) most = s->k[dim] > most ? s->k[dim] : most;
    double *a = fc_alloc(&scratch, most, sizeof *a, st), *b = a ? fc_alloc(&scratch, most, sizeof *b, st) : NULL;
    for (int dim = 0; b && dim < s->n_dims; dim++) {
        double rate = 0;
        for (uint32_t v = 0; v < net->n_routers; v++)
            for (int direction = 0; direction < 2; direction++) {
                uint32_t port = fc_torus_port(net, v, dim, direction);
                for (uint32_t p = 0; port != FC_NONE && p < s->parallel[dim]; p++)
                    rate += fc_free_bandwidth(net, background_bytes_per_s, port + p);
            }
        double bytes = hop_bytes(net, demand, dim, a, b);
        if (bytes > 0 && rate > 0 && isfinite(rate)) *bound_s = fmax(*bound_s, bytes / rate);
    }
    return st->code;
}
