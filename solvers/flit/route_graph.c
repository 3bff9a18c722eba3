/* route_graph.c - graphs: one path a pair drawn by a hash (shortest-hash, updown-hash), detours (valiant, ugal), and the escape of rule
 * updown beside any of them.
 *
 * shortest-hash, updown-hash: the paths of models/routings/routing_graph_hash.c. valiant: to a stop drawn evenly by the packet's
 * random word, then to the destination, each by any shortest path (route_shortest.c); nodes of one group directly. ugal (Singh
 * 2005; Besta & Hoefler, SC'14, section IV-C; as in route_two_level.c): when a packet leaves its source, the detour through a stop
 * drawn among all is held against the direct way,
 *
 *     direct  if  q_direct <= weight q_detour + threshold,
 *
 * q the least that the source's router counts of the links with which the way may begin (router.ugal). A stop on the packet's own
 * router or its destination's is no detour.
 *
 * Channels: rule hops counts from the end, as in vc_graph_hops.c; packets that go directly have those of the second way. Rule
 * updown: the first channel is the escape, all others are any packet's; a packet on the escape stays there. Limits: those of
 * route_shortest.c; detours choose before they leave. */
#include "solvers/flit/route_shortest.h"

#include <string.h>

static const uint16_t *hops_to_stop(const struct fc_shortest_routes *t, uint32_t stop)
{
    return t->tables->stop_hops + (size_t)stop * t->net->n_routers;
}
static const uint16_t *hops_to_group(const struct fc_shortest_routes *t, uint32_t group)
{
    return t->tables->hops + (size_t)group * t->net->n_routers;
}

/* ---- any shortest path, to a stop and on, with an escape ---- */

static int escape(const struct fc_shortest_routes *t, uint32_t router, const struct fc_flit_head *head,
                  struct fc_flit_choice *out)
{
    uint32_t group = fc_graph_low(head->route), n = t->net->n_routers;
    bool down = (head->route & FC_GRAPH_DOWN) != 0;
    if (hops_to_group(t, group)[router] == 0) { /* a first way leads past the destination */
        struct fc_flit_choice last[FC_FLIT_MOST_CHOICES];
        fc_route_graph_eject(t, router, head, n, last);
        *out = last[0];
        out->escape = FC_FLIT_PATIENT;
        return 1;
    }
    uint32_t link = t->net->first_link[router] + t->escape[((size_t)group * 2 + down) * n + router];
    down = fc_updown_is_down(t->updown, router, t->net->link_target[link]);
    *out = (struct fc_flit_choice){.route = group | FC_GRAPH_ESCAPE | (down ? FC_GRAPH_DOWN : 0),
                                   .link = link,
                                   .vcs = 1,
                                   .escape = FC_FLIT_PATIENT};
    return 1;
}

int fc_route_graph_choices(const struct fc_flit_net *flit, uint32_t router, const struct fc_flit_head *head,
                           struct fc_flit_choice *out)
{
    const struct fc_shortest_routes *t = flit->route_tables;
    uint32_t group = fc_graph_low(head->route), place = group;
    uint64_t route = head->route;
    const uint16_t *hops = hops_to_group(t, group);
    if (route & FC_GRAPH_FIRST_WAY) {
        const uint16_t *first = hops_to_stop(t, fc_graph_high(route));
        if (router >= flit->n_routers) return fc_route_graph_inject(flit, router, first, route, out);
        if (first[router] == 0)
            route = group; /* the second way begins */
        else
            place = fc_graph_high(route), hops = first;
    }
    if (router >= flit->n_routers) return fc_route_graph_inject(flit, router, hops, route, out);
    if (hops[router] == 0) return fc_route_graph_eject(t, router, head, flit->n_routers, out);
    if (route & FC_GRAPH_ESCAPE) return escape(t, router, head, out);
    bool second = !(route & FC_GRAPH_FIRST_WAY);
    const uint64_t *mask = (second ? t->next : t->stop_next) + ((size_t)place * flit->n_routers + router) * t->words;
    uint32_t first_link = t->net->first_link[router];
    uint16_t vcs = !second ? t->first_vcs[hops[router]] : t->vcs[t->by_hops ? hops[router] : group];
    int n = 0;
    for (uint32_t w = 0; w < t->words; w++)
        for (uint64_t left = mask[w]; left; left &= left - 1)
            out[n++] = (struct fc_flit_choice){
                .route = route, .link = first_link + 64 * w + (uint32_t)__builtin_ctzll(left), .vcs = vcs};
    return t->escape ? n + escape(t, router, head, out + n) : n;
}

static int choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                   const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    (void)in_link, (void)in_vc;
    return fc_route_graph_choices(flit, router, head, out);
}

static uint64_t detour(uint32_t group, uint32_t stop)
{
    return group | (uint64_t)stop << FC_GRAPH_BITS | FC_GRAPH_FIRST_WAY;
}
static uint32_t draw_stop(const struct fc_shortest_routes *t, uint32_t random)
{
    return fc_route_below(fc_route_mix(random, 0), t->tables->n_stops);
}

static uint64_t valiant_start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                              const struct fc_flit_view *view)
{
    const struct fc_shortest_routes *t = flit->route_tables;
    uint32_t group = t->tables->group[dst];
    (void)view;
    return group == t->tables->group[src] ? group : detour(group, draw_stop(t, random));
}

/* The router of a node that is nearest by the hops, the first of several. */
static uint32_t nearest_router(const struct fc_network *net, uint32_t node, const uint16_t *hops)
{
    uint32_t v = fc_node_vertex(net, node), best = net->link_target[net->first_link[v]];
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (hops[net->link_target[l]] < hops[best]) best = net->link_target[l];
    return best;
}

/* The least count of the links in the mask of the router. */
static uint64_t least_queue(const struct fc_shortest_routes *t, const uint64_t *next, uint32_t place, uint32_t router,
                            const struct fc_flit_view *view)
{
    const uint64_t *mask = next + ((size_t)place * t->net->n_routers + router) * t->words;
    uint64_t least = UINT64_MAX;
    for (uint32_t w = 0; w < t->words; w++)
        for (uint64_t left = mask[w]; left; left &= left - 1) {
            uint32_t link = t->net->first_link[router] + 64 * w + (uint32_t)__builtin_ctzll(left);
            uint64_t here = fc_flit_ugal_count(view, t->queue, link);
            if (here < least) least = here;
        }
    return least;
}

static uint64_t ugal_start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                           const struct fc_flit_view *view)
{
    const struct fc_shortest_routes *t = flit->route_tables;
    uint32_t group = t->tables->group[dst];
    if (group == t->tables->group[src] || !view) return group;
    uint32_t stop = draw_stop(t, random), middle = t->tables->stop[stop];
    const uint16_t *straight = hops_to_group(t, group), *around = hops_to_stop(t, stop);
    uint32_t first = nearest_router(t->net, src, straight), other = nearest_router(t->net, src, around);
    if (straight[first] == 0 || around[other] == 0 || straight[middle] == 0) return group;
    uint64_t queue = least_queue(t, t->next, group, first, view);
    if (queue <= t->threshold_flits) return group;
    uint64_t detour_queue = least_queue(t, t->stop_next, stop, other, view);
    return queue <= t->weight * detour_queue + t->threshold_flits ? group : detour(group, stop);
}

static enum fc_code prepare_detours(struct fc_flit_net *flit, struct fc_status *st)
{
    if (((const struct fc_graph_tables *)flit->net->extra)->n_groups >= FC_GRAPH_MOST_PLACES)
        return fc_route_refuse(flit, st, "network: too many groups of nodes (at most %u)", FC_GRAPH_MOST_PLACES - 1);
    if (fc_route_shortest_prepare(flit, true, st)) return st->code;
    struct fc_shortest_routes *t = flit->route_tables;
    const struct fc_ugal *ugal = &flit->net->machine->router.ugal;
    t->weight = (uint64_t)ugal->weight;
    t->threshold_flits = (uint64_t)fc_ugal_threshold_flits(flit->net->machine);
    t->queue = ugal->queue;
    return FC_OK;
}

/* ---- one path a pair ---- */

static uint64_t hashed_start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                             const struct fc_flit_view *view)
{
    const struct fc_shortest_routes *t = flit->route_tables;
    (void)random, (void)view;
    return t->tables->group[dst] | (uint64_t)fc_graph_pair_hash(src, dst) << FC_GRAPH_BITS;
}

static int hashed_choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                          const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct fc_shortest_routes *t = flit->route_tables;
    uint32_t group = fc_graph_low(head->route);
    (void)in_link, (void)in_vc;
    if ((head->route & FC_GRAPH_ESCAPE) && hops_to_group(t, group)[router] > 0) return escape(t, router, head, out);
    uint32_t link = fc_graph_hashed_link(t->net, router, head->dst, fc_graph_high(head->route));
    bool inside = router < flit->n_routers && !fc_is_node(t->net, t->net->link_target[link]);
    uint16_t vcs = router >= flit->n_routers ? flit->injection_vcs
                   : !inside                 ? t->all
                   : t->by_hops              ? t->vcs[hops_to_group(t, group)[router]]
                                             : t->vcs[group];
    out[0] = (struct fc_flit_choice){.route = head->route, .link = link, .vcs = vcs};
    return inside && t->escape ? 1 + escape(t, router, head, out + 1) : 1;
}

static enum fc_code prepare_hashed(struct fc_flit_net *flit, struct fc_status *st)
{
    if (((const struct fc_graph_tables *)flit->net->extra)->n_groups >= FC_GRAPH_MOST_PLACES)
        return fc_route_refuse(flit, st, "network: too many groups of nodes (at most %u)", FC_GRAPH_MOST_PLACES - 1);
    if (fc_route_shortest_prepare(flit, false, st)) return st->code;
    flit->adaptive = ((const struct fc_shortest_routes *)flit->route_tables)->escape != NULL;
    return FC_OK;
}

static int updown_choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                          const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct fc_shortest_routes *t = flit->route_tables;
    bool down = (head->route & FC_GRAPH_DOWN) != 0;
    (void)in_link, (void)in_vc;
    uint32_t link = fc_graph_updown_link(t->net, router, head->dst, fc_graph_high(head->route), &down);
    out[0] = (struct fc_flit_choice){.route = (head->route & ~FC_GRAPH_DOWN) | (down ? FC_GRAPH_DOWN : 0),
                                     .link = link,
                                     .vcs = router >= flit->n_routers ? flit->injection_vcs : t->all};
    return 1;
}

/* ---- random words ---- */

static bool no_words(const struct fc_flit_net *flit, struct fc_flit_words *out)
{
    (void)flit, (void)out;
    return true;
}
/* Nothing is drawn: one word stands for all. */
static uint32_t one_stratum(const struct fc_flit_net *flit, int *tie_bits)
{
    (void)flit;
    *tie_bits = 0;
    return 1;
}
/* One a stop. */
static bool stop_words(const struct fc_flit_net *flit, struct fc_flit_words *out)
{
    const struct fc_shortest_routes *t = flit->route_tables;
    uint32_t n = t->tables->n_stops;
    if (n > FC_FLIT_MOST_WORDS) return false;
    out->n_start = n;
    for (uint32_t stop = 0; stop < n; stop++)
        while (draw_stop(t, out->start[stop]) != stop) out->start[stop]++;
    return true;
}

static const char *const families[] = {"graph", NULL};
const struct fc_flit_route_ops fc_route_shortest_hash = {
    .name = "shortest-hash",
    .families = families,
    .prepare = prepare_hashed,
    .start = hashed_start,
    .choices = hashed_choices,
    .words = no_words,
    .strata = one_stratum,
};
const struct fc_flit_route_ops fc_route_graph_updown = {
    .name = "updown-hash",
    .families = families,
    .prepare = prepare_hashed,
    .start = hashed_start,
    .choices = updown_choices,
    .words = no_words,
    .strata = one_stratum,
};
const struct fc_flit_route_ops fc_route_graph_valiant = {
    .name = "valiant",
    .families = families,
    .prepare = prepare_detours,
    .start = valiant_start,
    .choices = choices,
    .words = stop_words,
};
const struct fc_flit_route_ops fc_route_graph_ugal = {
    .name = "ugal",
    .families = families,
    .prepare = prepare_detours,
    .start = ugal_start,
    .choices = choices,
    .words = no_words,
};
