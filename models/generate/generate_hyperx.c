/* generate_hyperx.c - HyperX: routers on a grid, each linked to every other of its row in every dimension.
 *
 * Router (c0, c1, ...) has sum of (S_d - 1) links; two routers are as many hops apart as coordinates differ. Source: Ahn,
 * Binkert, Davis, McLaren & Schreiber, "HyperX: topology, routing, and packaging of efficient large-scale networks", SC'09.
 * Limits: one cable a pair (K = 1). */
#include "models/generate/generate.h"

struct settings {
    struct fc_generated_rates rates;
    struct fc_ints dims;
    long long nodes;
};

static enum fc_code make(const void *settings, struct fc_generated *g, struct fc_status *st)
{
    const struct settings *s = settings;
    uint64_t n = 1, degree = 0;
    int hops = 0;
    for (int d = 0; d < s->dims.n; d++) {
        n *= (uint64_t)s->dims.v[d];
        degree += (uint64_t)s->dims.v[d] - 1;
        hops += s->dims.v[d] > 1;
        if (n > 1 << 20) return fc_refuse(st, FC_INPUT, "dims: more than %d routers", 1 << 20);
    }
    if (fc_generated_graph(g, n, (uint64_t)s->nodes, n * degree / 2, st)) return st->code;
    g->vcs = hops > 1 ? hops : 1;
    size_t at = (size_t)snprintf(g->title, sizeof g->title, "HyperX of ");
    for (int d = 0; d < s->dims.n && at < sizeof g->title; d++)
        at += (size_t)snprintf(g->title + at, sizeof g->title - at, "%s%lld", d ? " x " : "", s->dims.v[d]);
    if (at < sizeof g->title) snprintf(g->title + at, sizeof g->title - at, " routers, %lld nodes each", s->nodes);
    for (uint32_t r = 0; r < n; r++)
        for (uint64_t d = 0, stride = 1; d < (uint64_t)s->dims.n; stride *= (uint64_t)s->dims.v[d++])
            for (uint64_t c = r / stride % (uint64_t)s->dims.v[d] + 1; c < (uint64_t)s->dims.v[d]; c++)
                fc_generated_cable(g, r, r + (uint32_t)((c - r / stride % (uint64_t)s->dims.v[d]) * stride));
    return FC_OK;
}

static const struct fc_key keys[] = {
    {"dims", FC_KEY_INTS, FC_NUMBER, offsetof(struct settings, dims), 1, 65536, NULL, "10x10",
     "routers in each dimension"},
    {"nodes", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, nodes), 1, 1024, NULL, "10", "of a router"},
    FC_GENERATED_RATES(struct settings),
};

const struct fc_generator_ops fc_generator_hyperx = {
    .name = "hyperx",
    .help = "routers on a grid, all of a row linked: dims=10x10,nodes=10",
    .source = "Ahn et al., SC'09",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
