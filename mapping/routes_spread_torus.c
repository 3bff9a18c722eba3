/* routes_spread_torus.c - Valiant's routing on tori and meshes: a flow of b bytes from router r to router q adds
 * b (OUT[r] + IN[q]) to all loads, the mean ways from r to all routers and from all to q (Dally & Towles 2004, section
 * 9.1). */
#include "mapping/routes_spread.h"
#include "models/family_torus.h"

static bool serves(const struct fc_sites *sites)
{
    return sites->routing->phases > 1 && fc_torus(sites->net);
}

static uint64_t work(const struct fc_sites *sites)
{
    return 8ull * fc_torus(sites->net)->n_routers * sites->net->n_links;
}

/* Bundles are dense. */
static bool fits(const struct fc_sites *sites)
{
    return 2.0 * fc_torus(sites->net)->n_routers * sites->net->n_links <= FC_SPREAD_MOST_ENTRIES;
}

static enum fc_code start(struct fc_routes *r, struct fc_status *st)
{
    const struct fc_torus_shape *shape = fc_torus(r->sites->net);
    r->spread.n_routers = shape->n_routers;
    r->spread.n_uses = 2;
    r->spread.n_bundles = 2 * shape->n_routers;
    r->spread.share = 1;
    return fc_spread_place(r, shape->nodes_per_router, st);
}

/* OUT, then IN of all routers, one walk from and to every router. */
static enum fc_code make(struct fc_spread_maker *m, struct fc_status *st)
{
    const struct fc_torus_shape *shape = fc_torus(m->net);
    const struct fc_routing_ops *phase = m->r->sites->routing->ordered;
    uint32_t R = shape->n_routers, per_router = shape->nodes_per_router;
    struct fc_walk walk;
    if (fc_walk_start(&walk, phase->walk_capacity(m->net), st)) return st->code;
    for (int out = 1; out >= 0; out--)
        for (uint32_t r = 0; r < R; r++) {
            for (uint32_t via = 0; via < R; via++) {
                uint32_t from = (out ? r : via) * per_router, to = (out ? via : r) * per_router;
                walk.n = 0;
                if (r != via) phase->walk(m->net, from, to, 1.0 / R, &walk);
                for (uint32_t i = 0; i < walk.n; i++)
                    if (!fc_is_node(m->net, m->net->link_source[walk.link[i]]) &&
                        !fc_is_node(m->net, m->net->link_target[walk.link[i]]))
                        fc_spread_put(m, walk.link[i], walk.weight[i]);
            }
            fc_spread_end(m, out ? r : R + r);
        }
    fc_walk_free(&walk);
    return FC_OK;
}

const struct fc_spread_kind fc_spread_torus = {serves, fits, work, start, make};
