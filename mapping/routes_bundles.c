/* routes_bundles.c - bundles in the making: links are summed, then kept (routes_spread.c tells what they are for). */
#include "mapping/routes_spread.h"

void fc_spread_put(struct fc_spread_maker *m, uint32_t real, double weight)
{
    uint32_t l = m->r->number[real];
    if (l == FC_NONE || weight == 0) return;
    if (m->sum[l] == 0) m->list[m->n++] = l;
    m->sum[l] += weight;
}

void fc_spread_end(struct fc_spread_maker *m, uint32_t bundle)
{
    struct fc_route_spread *spread = &m->r->spread;
    double seconds = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t l = m->list[i];
        if (m->room > 0) {
            spread->link[m->total + i] = l;
            spread->weight[m->total + i] = (float)m->sum[l];
            seconds += m->sum[l] * m->r->seconds[l];
        }
        m->sum[l] = 0;
    }
    m->total += m->n;
    m->n = 0;
    if (m->room == 0) return;
    spread->first[bundle + 1] = (uint32_t)m->total;
    spread->seconds[bundle] = seconds;
}

enum fc_code fc_spread_place(struct fc_routes *r, uint32_t per_router, struct fc_status *st)
{
    const struct fc_network *net = r->sites->net;
    uint32_t n = r->n;
    r->spread.router = fc_alloc(&r->arena, n, sizeof *r->spread.router, st);
    r->out = r->spread.router ? fc_alloc(&r->arena, n, sizeof *r->out, st) : NULL;
    r->in = r->out ? fc_alloc(&r->arena, n, sizeof *r->in, st) : NULL;
    for (uint32_t i = 0; r->in && i < n; i++) {
        uint32_t node = r->sites->node[i], router = node / per_router;
        r->spread.router[i] = router;
        r->out[i] = r->number[net->first_link[fc_node_vertex(net, node)]];
        r->in[i] = r->number[net->first_link[router + 1] - per_router + node % per_router];
    }
    return st->code;
}
