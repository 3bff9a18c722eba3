/* search_heat.c - which units to move first: those whose traffic crosses the hottest links, and what the traffic of each
 * adds to the norm, at most. */
#include "mapping/search.h"

#include <math.h>

static const double hot_share = 0.8; /* of the longest link time: a hot link */

/* Links of the route from a to b into the walk, numbered anew. */
static void list_route(struct fc_search *s, uint32_t a, uint32_t b, double bytes)
{
    const struct fc_routes *r = s->routes;
    uint32_t n = 0;
    s->walk.n = 0;
    s->sites->routing->walk(s->sites->net, s->sites->node[a], s->sites->node[b], bytes, &s->walk);
    s->work += s->walk.n;
    for (uint32_t i = 0; i < s->walk.n; i++) {
        uint32_t l = r->number[s->walk.link[i]];
        if (l == FC_NONE) continue;
        s->walk.link[n] = l;
        s->walk.weight[n++] = s->walk.weight[i];
    }
    s->walk.n = n;
}

/* What the flow from unit u to v adds to the sum of powers, at most; *hot when it crosses a hot link. */
static double flow_heat(struct fc_search *s, uint32_t a, uint32_t b, double bytes, bool *hot)
{
    double heat = 0;
    list_route(s, a, b, bytes);
    for (uint32_t i = 0; i < s->walk.n; i++) {
        const struct fc_search_link *link = &s->link[s->walk.link[i]];
        double without = fmax(0, link->load - s->walk.weight[i]) * link->inverse;
        *hot = *hot || link->load * link->inverse > hot_share;
        heat += link->power - fc_search_power(without, s->doublings);
    }
    return heat;
}

static bool is_hot_bundle(const struct fc_search *s, uint32_t bundle)
{
    const struct fc_route_spread *spread = &s->routes->spread;
    for (uint32_t e = spread->first[bundle]; e < spread->first[bundle + 1]; e++) {
        const struct fc_search_link *link = &s->link[spread->link[e]];
        if (link->load * link->inverse > hot_share) return true;
    }
    return false;
}

/* On routes that are spread: hot are units whose own way out of their router and supernode, or into it, crosses a
 * hot link. What each adds to the norm is not known. */
static void find_hot_spread(struct fc_search *s)
{
    const struct fc_unit_graph *g = s->graph;
    const struct fc_route_spread *spread = &s->routes->spread;
    uint32_t R = spread->n_routers, S = spread->n_groups;
    const bool *hot = s->is_hot;
    for (uint32_t i = 0; i < 2 * R + 2 * S; i++) s->is_hot[i] = is_hot_bundle(s, i);
    s->work += (spread->first[2 * R + 2 * S] + g->first[g->n]) / 8;
    for (uint32_t u = 0; u < g->n; u++) {
        uint32_t here = s->place[u], group = S > 0 ? spread->group[here] : 0;
        bool ways = hot[spread->router[here]] || hot[R + spread->router[here]], is = false;
        if (S > 0) ways = ways || hot[2 * R + group] || hot[2 * R + S + group];
        for (uint64_t e = g->first[u]; !is && e < g->first[u + 1]; e++) {
            uint32_t there = s->place[g->other[e]];
            if (here == there) continue;
            if (fc_spread_is_local(spread, here, there))
                flow_heat(s, here, there, 1, &is);
            else
                is = ways;
        }
        s->heat[u] = INFINITY;
        if (is) s->hot[s->n_hot++] = u;
    }
}

void fc_search_heat(struct fc_search *s)
{
    const struct fc_unit_graph *g = s->graph;
    s->n_hot = 0;
    if (s->routes->kind == FC_ROUTES_SPREAD) {
        find_hot_spread(s);
        return;
    }
    for (uint32_t u = 0; u < g->n; u++) s->heat[u] = 0;
    for (uint32_t u = 0; u < g->n; u++) {
        bool hot = false;
        for (uint64_t e = g->first[u]; e < g->first[u + 1]; e++) {
            uint32_t here = s->place[u], there = s->place[g->other[e]];
            if (here == there) continue;
            if (g->out[e] > 0) s->heat[u] += flow_heat(s, here, there, g->out[e], &hot);
            if (g->in[e] > 0) s->heat[u] += flow_heat(s, there, here, g->in[e], &hot);
        }
        if (hot) s->hot[s->n_hot++] = u;
    }
}
