/* forced_torus.c - traffic of tori and meshes to which minimal paths leave no choice: the pairs whose routers differ in
 * one coordinate and are not half way round its ring; along a line every link on their way (difference arrays: O(k^2) a
 * line for dense parts). */
#include "models/family_torus.h"
#include "solvers/bound/forced.h"

#include <string.h>

/* One flow along dimension d from router v; tells of no tie. */
static void add_line(struct fc_forced *f, uint32_t v, int d, struct fc_torus_offset o, double bytes)
{
    const struct fc_torus_shape *s = fc_torus(f->net);
    int direction = o.plus_share > 0 ? FC_PLUS : FC_MINUS;
    uint32_t hops = o.plus_share > 0 ? o.plus : o.minus, k = s->k[d], c = fc_torus_coordinate(s, v, d);
    uint32_t base = v - c * s->stride[d];
    for (uint32_t h = 0; h < hops; h++) {
        f->bytes[fc_torus_port(f->net, base + c * s->stride[d], d, direction)] += bytes;
        c = direction == FC_PLUS ? (c + 1 == k ? 0 : c + 1) : (c == 0 ? k - 1 : c - 1);
    }
}

static void entries(struct fc_forced *f)
{
    const struct fc_torus_shape *s = fc_torus(f->net);
    const struct fc_node_demand *demand = f->demand;
    for (size_t e = 0; e < demand->n; e++) {
        uint32_t a = demand->src[e] / s->nodes_per_router, b = demand->dst[e] / s->nodes_per_router;
        int differ = 0, dim = 0;
        for (int d = 0; d < s->n_dims; d++)
            if (fc_torus_coordinate(s, a, d) != fc_torus_coordinate(s, b, d)) differ++, dim = d;
        if (differ != 1) continue;
        struct fc_torus_offset o =
            fc_torus_offset(s, dim, fc_torus_coordinate(s, a, dim), fc_torus_coordinate(s, b, dim));
        if (o.plus_share != 0.5) add_line(f, a, dim, o, demand->bytes[e]);
    }
}

/* All pairs of one line: a, b [k] of the routers on it; up, down [k + 1] scratch: changes of what the links +
 * and - of each router carry. */
static void dense_line(struct fc_forced *f, uint32_t base, int d, const double *a, const double *b, double *up,
                       double *down)
{
    const struct fc_torus_shape *s = fc_torus(f->net);
    uint32_t k = s->k[d];
    memset(up, 0, (k + 1) * sizeof *up);
    memset(down, 0, (k + 1) * sizeof *down);
    for (uint32_t x = 0; x < k; x++)
        for (uint32_t y = 0; y < k; y++) {
            struct fc_torus_offset o = fc_torus_offset(s, d, x, y);
            double bytes = a[x] * b[y];
            if (x == y || o.plus_share == 0.5 || bytes == 0) continue;
            double *change = o.plus_share > 0 ? up : down;
            uint32_t hops = o.plus_share > 0 ? o.plus : o.minus, first = o.plus_share > 0 ? x : (x + 1 + k - hops) % k;
            uint32_t end = first + hops;
            change[first] += bytes;
            change[end < k ? end : k] -= bytes;
            if (end > k) change[0] += bytes, change[end - k] -= bytes;
        }
    double plus = 0, minus = 0;
    for (uint32_t c = 0; c < k; c++) {
        uint32_t v = base + c * s->stride[d];
        plus += up[c];
        minus += down[c];
        if (plus > 0) f->bytes[fc_torus_port(f->net, v, d, FC_PLUS)] += plus;
        if (minus > 0) f->bytes[fc_torus_port(f->net, v, d, FC_MINUS)] += minus;
    }
}

enum fc_code fc_forced_torus(struct fc_forced *f, struct fc_arena *scratch, struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(f->net);
    uint32_t most = 1;
    if (!s) return FC_OK;
    entries(f);
    for (int d = 0; d < s->n_dims; d++) most = s->k[d] > most ? s->k[d] : most;
    double *line = fc_alloc(scratch, 4 * (most + 1ull), sizeof *line, st);
    if (!line) return st->code;
    double *a = line, *b = a + most + 1, *up = b + most + 1, *down = up + most + 1;
    for (int part = 0; part < f->demand->n_dense; part++)
        for (int d = 0; d < s->n_dims; d++)
            for (uint32_t v = 0; s->k[d] > 1 && v < s->n_routers; v++) {
                double sum_a = 0, sum_b = 0;
                if (fc_torus_coordinate(s, v, d)) continue;
                for (uint32_t c = 0; c < s->k[d]; c++) {
                    uint32_t first = (v + c * s->stride[d]) * s->nodes_per_router;
                    a[c] = b[c] = 0;
                    for (uint32_t i = 0; i < s->nodes_per_router; i++) {
                        a[c] += f->demand->a[part][first + i];
                        b[c] += f->demand->b[part][first + i];
                    }
                    sum_a += a[c];
                    sum_b += b[c];
                }
                if (sum_a > 0 && sum_b > 0) dense_line(f, v, d, a, b, up, down);
            }
    return FC_OK;
}
