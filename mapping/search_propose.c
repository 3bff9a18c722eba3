/* search_propose.c - the moves that the search tries.
 *
 * Half of the units are hot ones (search_heat.c), half of the targets lie near a neighbour of the unit; the rest is drawn from all. */
#include "mapping/search.h"

/* An allowed node near `node`: on its router or on one a link away (with luck two); its place, or FC_NONE
 * when the draw ends at a router without nodes or at a node that is not allowed. */
static uint32_t near_place(const struct fc_search *s, uint32_t place, uint64_t bits)
{
    const struct fc_network *net = s->sites->net;
    uint32_t vertex = fc_node_vertex(net, s->sites->node[place]);
    for (int step = 0; step < 3 && (step == 0 || !fc_is_node(net, vertex)); step++) {
        uint32_t first = net->first_link[vertex], degree = net->first_link[vertex + 1] - first;
        if (degree == 0) return FC_NONE;
        vertex = net->link_target[first + (uint32_t)((bits & 0xfffff) * degree >> 20)];
        bits >>= 20;
        uint32_t end = net->first_link[vertex + 1]; /* a router's own nodes are its last links */
        if (step > 0 && !fc_is_node(net, vertex) && end > net->first_link[vertex] &&
            fc_is_node(net, net->link_target[end - 1]))
            vertex = net->link_target[end - 1];
    }
    return fc_is_node(net, vertex) ? s->place_of[vertex - net->n_routers] : FC_NONE;
}

/* Runs of 2, 4, 8... consecutive places, the short ones most often, aligned to their length. */
static bool widen(const struct fc_search *s, uint64_t bits, struct fc_search_proposal *p)
{
    uint32_t per_node = s->sites->slots_per_node, n = 2;
    while ((bits & 1) && n * 8 <= s->sites->n_nodes) n *= 2, bits >>= 1;
    uint32_t a = p->from / per_node / n * n, b = p->to / per_node / n * n;
    if (a == b || a + n > s->sites->n_nodes || b + n > s->sites->n_nodes) return false;
    *p = (struct fc_search_proposal){a * per_node, b * per_node, n * per_node};
    return true;
}

/* A slot of the group that the unit's place lies in. */
static uint32_t slot_within(const struct fc_search *s, const struct fc_place_groups *groups, uint32_t u, uint64_t bits)
{
    uint32_t group = groups->of_place[s->place[u]], first = groups->first[group], n = groups->first[group + 1] - first;
    uint32_t per_node = s->sites->slots_per_node, slot = (uint32_t)((bits & 0xffffffff) * n * per_node >> 32);
    return groups->place[first + slot / per_node] * per_node + slot % per_node;
}

/* A slot drawn from all; on routes that are spread half of the time one of the unit's own supernode, as these moves
 * change few sums. */
static uint32_t any_slot(const struct fc_search *s, uint32_t u, uint64_t bits)
{
    const struct fc_route_spread *spread = &s->routes->spread;
    uint32_t per_node = s->sites->slots_per_node, draw = (uint32_t)bits;
    if (s->routes->kind != FC_ROUTES_SPREAD || spread->n_groups == 0 || (bits >> 32 & 1))
        return (uint32_t)((uint64_t)draw * s->n_slots >> 32);
    uint32_t group = spread->group[s->place[u]], first = spread->first_place[group],
             n = spread->first_place[group + 1] - first, slot = (uint32_t)((uint64_t)draw * n * per_node >> 32);
    return spread->place[first + slot / per_node] * per_node + slot % per_node;
}

bool fc_search_propose(const struct fc_search *s, const struct fc_search_settings *set, uint64_t key, uint64_t step,
                       struct fc_search_proposal *p)
{
    const struct fc_unit_graph *g = s->graph;
    uint64_t a = fc_random_quick(key, 2 * step), b = fc_random_quick(key, 2 * step + 1);
    bool hot = (a & 1) && s->n_hot > 0, beside = a & 2;
    uint32_t pick = (uint32_t)(a >> 2), per_node = s->sites->slots_per_node, place = FC_NONE;
    uint32_t u = hot ? s->hot[(uint64_t)pick * s->n_hot >> 32] : (uint32_t)((uint64_t)pick * g->n >> 32);
    uint64_t degree = g->first[u + 1] - g->first[u];
    if (degree == 0) return false;
    if (beside) place = near_place(s, s->place[g->other[g->first[u] + (a >> 34) % degree]], b);
    const struct fc_place_groups *within = set->within;
    if (within && place != FC_NONE && within->of_place[place] != within->of_place[s->place[u]]) place = FC_NONE;
    if (place != FC_NONE)
        p->to = place * per_node + (uint32_t)((b >> 60) * per_node >> 4);
    else
        p->to = within ? slot_within(s, within, u, b) : any_slot(s, u, b);
    p->from = s->slot[u];
    p->n = 1;
    if (p->to / per_node == s->place[u]) return false;
    return !set->blocks || (a >> 40) % set->blocks != 0 || widen(s, b >> 40, p);
}
