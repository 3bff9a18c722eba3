/* route_two_level.c - direct, indirect and UGAL routing of packets on two-level networks (PERCS, dragonfly).
 *
 * Direct: LL/LR - D - LL/LR, the cable of a bundle picked by the packet's random word. Indirect (Valiant
 * 1982): through a supernode chosen uniformly among the others; direct within a supernode or with only two.
 * UGAL (Singh 2005; Kim, Dally, Scott & Abts, ISCA 2008, section 4): when a packet leaves its source, the indirect route
 * through one supernode, drawn among all, is held against the direct one (its own and the destination's: direct),
 *
 *     direct  if  q_direct <= weight q_indirect + threshold,
 *
 * q the flits that the source's router counts for the route's first link (router.ugal, struct fc_ugal). With one first
 * link for both routes it is direct. The draw, weight 2, threshold 30 and credits are BookSim 2's
 * (src/networks/dragonfly.cpp, ugal_dragonflynew), which also crosses the supernode to a router drawn there, as via: router
 * has it; Kim et al. weigh by the hops of either route.
 * Two hops across a grid group take either corner at random. Rule hops: channel = D links taken so far (UGAL: 2, via: router 3, less
 * those still to take, so that direct and indirect packets of a source share no channel before their first D link), in a
 * grid group twice that plus the local hop; none: one channel. Routes and channels as in
 * models/routings/routing_two_level.c and cdg_two_level.c. Limit: d_link free is routed on the packed cabling it
 * stands on, with all its local hops.
 *
 * Route word, low bits first: destination's router, supernode in between (the number of supernodes: none),
 * first and second cable, corner (1), D links taken (2; UGAL: 2 less those to take), local hops taken since (1); via: router:
 * not yet at the router between (1), its member number. */
#include "models/deadlock/cdg.h"
#include "models/family_two_level.h"
#include "solvers/flit/route.h"
#include "solvers/flit/route_fields.h"

#include <string.h>

enum { MOST_WAYS = 1 << 17 }; /* a megabyte */

struct two_level_routes {
    const struct fc_two_level_shape *shape;
    const struct fc_network *net;
    struct home {
        uint32_t supernode, member;
    } * home;                                  /* [n_routers] */
    const struct fc_two_level_crossing *cross; /* [S][S][cables] */
    uint64_t to_mask, via_mask, cable_mask;
    int via, cable[2], corner, taken, local;
    uint64_t weight, threshold_flits; /* UGAL */
    int queue;                        /* what it counts, enum fc_ugal_queue */
    uint16_t all;
    uint16_t vcs[4][2]; /* [segment][local hops in it] */
    uint8_t segment[3]; /* by the D links taken, when not on the way to the router between */
    bool via_router;    /* indirect routes cross to a router drawn in the supernode between */
    int stop, crossing; /* its member number, and that the packet has not been there */
    uint64_t stop_mask;
    /* [n_routers][n_nodes] ways of direct packets, hops << 48, bits << 56; 0: not walked yet. NULL: the random word decides, or
     * there are too many. */
    uint64_t *direct;
};

static inline uint64_t cable_index(const struct two_level_routes *t, uint32_t s, uint32_t to, uint32_t cable)
{
    return ((uint64_t)s * t->shape->n_supernodes + to) * t->shape->pair_links + cable;
}

/* On the way to the router drawn in the supernode between. */
static inline bool is_crossing(const struct two_level_routes *t, uint64_t route)
{
    return (route >> t->crossing & 1) && (route >> t->taken & 3) == 1;
}
/* The route at a router: there, what remains begins anew. */
static inline uint64_t at_router(const struct two_level_routes *t, uint32_t router, uint64_t route)
{
    if (!t->via_router || !is_crossing(t, route) || t->home[router].member != (route >> t->stop & t->stop_mask))
        return route;
    return route & ~(1ull << t->crossing | 1ull << t->local);
}

/* The next link at the router, and the route behind it. Ejection: FC_NONE. */
static inline uint32_t next_link(const struct two_level_routes *t, uint32_t router, uint64_t route, uint64_t *after)
{
    const struct fc_two_level_shape *s = t->shape;
    struct home here = t->home[router];
    uint32_t to = (uint32_t)(route & t->to_mask), via = (uint32_t)(route >> t->via & t->via_mask);
    uint32_t taken = (uint32_t)(route >> t->taken & 3), next = t->home[to].supernode, target = t->home[to].member;
    if (taken == 0 && via < s->n_supernodes) next = via;
    if (t->via_router && is_crossing(t, route)) {
        target = (uint32_t)(route >> t->stop & t->stop_mask);
    } else if (next != here.supernode) {
        uint64_t i = cable_index(t, here.supernode, next, (uint32_t)(route >> t->cable[taken] & t->cable_mask));
        target = t->cross[i].from;
        if (target == here.member) {
            *after = (route & ~(1ull << t->local)) + (1ull << t->taken);
            return t->cross[i].link;
        }
    } else if (router == to) {
        return FC_NONE;
    }
    uint32_t base = router - here.member, link = fc_two_level_local_link(t->net, base, here.member, target);
    *after = route | 1ull << t->local;
    if (link != FC_NONE) return link;
    uint32_t p = s->n_positions, row = here.member / p * p + target % p, column = target / p * p + here.member % p;
    uint32_t corner = (route >> t->corner & 1) ^ (taken & 1) ? column : row;
    return fc_two_level_local_link(t->net, base, here.member, corner);
}

static int choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                   const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct two_level_routes *t = flit->route_tables;
    uint64_t route = head->route, after = route;
    (void)in_link, (void)in_vc;
    if (router >= flit->n_routers) return fc_route_inject(flit, router, route, out);
    after = route = at_router(t, router, route);
    uint32_t link = next_link(t, router, route, &after);
    uint64_t taken = route >> t->taken & 3;
    bool global = (after >> t->taken & 3) != taken; /* D links always have the segment's first channel */
    uint32_t segment = t->via_router && is_crossing(t, route) ? 1 : t->segment[taken];
    uint16_t vcs = t->vcs[segment][global ? 0 : route >> t->local & 1];
    if (link == FC_NONE) {
        uint32_t per_router = t->shape->nodes_per_router;
        link = t->net->first_link[router + 1] - per_router + (head->dst - router * per_router);
        vcs = t->vcs[segment][0];
    }
    out[0] = (struct fc_flit_choice){.route = after, .link = link, .vcs = vcs};
    return 1;
}

static uint64_t direct_route(const struct two_level_routes *t, uint32_t dst, uint32_t random)
{
    uint32_t cable = fc_route_below(fc_route_mix(random, 0), t->shape->pair_links);
    uint64_t corner = fc_route_mix(random, 1) & 1;
    return dst / t->shape->nodes_per_router | (uint64_t)t->shape->n_supernodes << t->via |
           (uint64_t)cable << t->cable[0] | corner << t->corner;
}

static uint64_t direct_start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                             const struct fc_flit_view *view)
{
    (void)src, (void)view;
    return direct_route(flit->route_tables, dst, random);
}

/* The route made one through supernode `via`. */
static uint64_t indirect_route(const struct two_level_routes *t, uint64_t route, uint32_t via, uint32_t random)
{
    uint64_t second = fc_route_below(fc_route_mix(random, 3), t->shape->pair_links);
    route = (route & ~(t->via_mask << t->via)) | (uint64_t)via << t->via | second << t->cable[1];
    if (!t->via_router) return route;
    return route | (uint64_t)fc_route_below(fc_route_mix(random, 4), t->shape->members) << t->stop |
           1ull << t->crossing;
}

static uint64_t indirect_start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                               const struct fc_flit_view *view)
{
    const struct two_level_routes *t = flit->route_tables;
    uint64_t route = direct_route(t, dst, random);
    uint32_t from = t->home[src / t->shape->nodes_per_router].supernode, to = t->home[route & t->to_mask].supernode;
    (void)view;
    if (from == to || t->shape->n_supernodes < 3) return route;
    uint32_t low = from < to ? from : to, high = from < to ? to : from;
    uint32_t via = fc_route_below(fc_route_mix(random, 2), t->shape->n_supernodes - 2);
    via += via >= low;
    via += via >= high;
    return indirect_route(t, route, via, random);
}

/* A direct route that has the last channels of those of an indirect one: its cable is the second. */
static uint64_t counted_from_the_end(const struct two_level_routes *t, bool inside, uint64_t direct)
{
    uint64_t cable = direct >> t->cable[0] & t->cable_mask;
    return (direct & ~(t->cable_mask << t->cable[0])) | cable << t->cable[1] | (inside ? 2ull : 1ull) << t->taken;
}

static uint64_t ugal_start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                           const struct fc_flit_view *view)
{
    const struct two_level_routes *t = flit->route_tables;
    uint32_t router = src / t->shape->nodes_per_router, supernodes = t->shape->n_supernodes;
    uint64_t shortest = direct_route(t, dst, random), after;
    uint32_t from = t->home[router].supernode, to = t->home[shortest & t->to_mask].supernode;
    if (supernodes < 3) return shortest;
    uint64_t direct = counted_from_the_end(t, from == to, shortest);
    uint32_t via = fc_route_below(fc_route_mix(random, 2), supernodes);
    if (from == to || via == from || via == to || !view) return direct;
    uint64_t indirect = indirect_route(t, shortest, via, random);
    uint32_t first = next_link(t, router, direct, &after), other = next_link(t, router, indirect, &after);
    if (first == other) return direct;
    uint64_t queue = fc_flit_ugal_count(view, t->queue, first);
    if (queue <= t->threshold_flits) return direct;
    return queue <= t->weight * fc_flit_ugal_count(view, t->queue, other) + t->threshold_flits ? direct : indirect;
}

/* The way of a packet on a direct route, which is walked once. */
static uint64_t known_way(const struct fc_flit_net *flit, const struct fc_route_fields *fields, uint32_t src,
                          const struct fc_flit_head *head, uint32_t *hops, uint32_t *bits)
{
    const struct two_level_routes *t = flit->route_tables;
    bool is_direct = (head->route >> t->via & t->via_mask) == t->shape->n_supernodes;
    if (!is_direct || !t->direct) return fc_route_walk(flit, fields, src, *head, hops, bits, choices);
    uint64_t *known = &t->direct[(size_t)(src / t->shape->nodes_per_router) * flit->n_nodes + head->dst];
    uint64_t way = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (__builtin_expect(!way, 0)) {
        way = fc_route_walk(flit, fields, src, *head, hops, bits, choices);
        way |= (uint64_t)*hops << 48 | (uint64_t)*bits << 56;
        __atomic_store_n(known, way, __ATOMIC_RELAXED);
    }
    *hops = way >> 48 & 255;
    *bits = (uint32_t)(way >> 56);
    return way & ((1ull << 48) - 1);
}
static uint64_t direct_way(const struct fc_flit_net *flit, const struct fc_route_fields *fields, uint32_t src,
                           uint32_t dst, uint32_t random, const struct fc_flit_view *view, uint32_t *hops,
                           uint32_t *bits)
{
    struct fc_flit_head head = {.route = direct_start(flit, src, dst, random, view), .dst = dst, .random = random};
    return known_way(flit, fields, src, &head, hops, bits);
}
static uint64_t indirect_way(const struct fc_flit_net *flit, const struct fc_route_fields *fields, uint32_t src,
                             uint32_t dst, uint32_t random, const struct fc_flit_view *view, uint32_t *hops,
                             uint32_t *bits)
{
    struct fc_flit_head head = {.route = indirect_start(flit, src, dst, random, view), .dst = dst, .random = random};
    return known_way(flit, fields, src, &head, hops, bits);
}
static uint64_t ugal_way(const struct fc_flit_net *flit, const struct fc_route_fields *fields, uint32_t src,
                         uint32_t dst, uint32_t random, const struct fc_flit_view *view, uint32_t *hops, uint32_t *bits)
{
    struct fc_flit_head head = {.route = ugal_start(flit, src, dst, random, view), .dst = dst, .random = random};
    return known_way(flit, fields, src, &head, hops, bits);
}

/* ---- tables ---- */

static enum fc_code lay_out_word(const struct fc_flit_net *flit, struct two_level_routes *t, struct fc_status *st)
{
    const struct fc_two_level_shape *s = t->shape;
    int to = fc_route_bits(s->n_routers - 1), via = fc_route_bits(s->n_supernodes),
        cable = fc_route_bits(s->pair_links - 1);
    t->to_mask = (1ull << to) - 1;
    t->via_mask = (1ull << via) - 1;
    t->cable_mask = (1ull << cable) - 1;
    t->via = to;
    t->cable[0] = to + via;
    t->cable[1] = t->cable[0] + cable;
    t->corner = t->cable[1] + cable;
    t->taken = t->corner + 1;
    t->local = t->taken + 2;
    t->crossing = t->local + 1;
    t->stop = t->crossing + 1;
    int stop = t->via_router ? fc_route_bits(s->members - 1) : 0;
    t->stop_mask = (1ull << stop) - 1;
    if ((t->via_router ? t->stop + stop - 1 : t->local) < 64) return FC_OK;
    return fc_route_refuse(flit, st, "network: %u routers and %u cables a pair are too many for the flit-level kernel",
                           s->n_routers, s->pair_links);
}

static enum fc_code fill_tables(struct fc_flit_net *flit, struct two_level_routes *t, struct fc_status *st)
{
    const struct fc_two_level_shape *s = t->shape;
    const struct fc_two_level_tables *tables = flit->net->extra;
    t->cross = tables->crossing;
    t->home = fc_alloc(&flit->arena, s->n_routers, sizeof *t->home, st);
    if (!t->home) return st->code;
    for (uint32_t r = 0; r < s->n_routers; r++) t->home[r] = (struct home){r / s->members, r % s->members};
    bool corners = s->local == FC_LOCAL_GRID && s->n_drawers > 1 && s->n_positions > 1;
    size_t ways = (size_t)s->n_routers * flit->n_nodes;
    if (!corners && s->pair_links == 1 && ways <= MOST_WAYS &&
        !(t->direct = fc_alloc(&flit->arena, ways, sizeof *t->direct, st)))
        return st->code;
    return FC_OK;
}

static enum fc_code prepare(struct fc_flit_net *flit, struct fc_status *st)
{
    struct two_level_routes *t = fc_alloc(&flit->arena, 1, sizeof *t, st);
    if (!t) return st->code;
    flit->route_tables = t;
    t->net = flit->net;
    t->shape = fc_two_level(flit->net);
    bool single = !strcmp(flit->vc_rule, "none");
    int n_rule = fc_two_level_vcs(flit->net, single), rep;
    bool grid = t->shape->local == FC_LOCAL_GRID && t->shape->n_drawers > 1 && t->shape->n_positions > 1;
    if (fc_route_data_channels(flit, n_rule, &rep, st)) return st->code;
    t->via_router = fc_two_level_via_router(flit->net);
    for (int taken = 0; taken < 3; taken++) t->segment[taken] = (uint8_t)(taken + (t->via_router && taken > 0));
    for (int segment = 0; segment < 3 + t->via_router; segment++)
        for (int local = 0; local < 2; local++)
            t->vcs[segment][local] = fc_flit_vc_mask(single ? 0 : grid ? 2 * segment + local : segment, rep);
    t->all = fc_route_all(flit);
    for (int segment = 0; segment < 3 + t->via_router; segment++)
        for (int local = 0; local < 2; local++) fc_route_add_way_vcs(flit, t->vcs[segment][local]);
    flit->way_links = (grid ? 2 : 1) * (3 + t->via_router) + 2 + 1; /* local ones, two D links, to the node */
    const struct fc_ugal *ugal = &flit->net->machine->router.ugal;
    t->weight = (uint64_t)ugal->weight;
    t->threshold_flits = (uint64_t)fc_ugal_threshold_flits(flit->net->machine);
    t->queue = ugal->queue;
    return lay_out_word(flit, t, st) || flit->figures ? st->code : fill_tables(flit, t, st);
}

/* The cable, and the corner that a local way turns at. */
static bool words(const struct fc_flit_net *flit, struct fc_flit_words *out)
{
    const struct fc_two_level_shape *s = fc_two_level(flit->net);
    bool corners = s->local == FC_LOCAL_GRID && s->n_drawers > 1 && s->n_positions > 1;
    uint32_t cables = s->pair_links, n = 0;
    if (2 * cables > FC_FLIT_MOST_WORDS) return false;
    for (uint32_t corner = 0; corner < 1u + corners; corner++)
        for (uint32_t cable = 0; cable < cables; cable++) {
            uint32_t *word = &out->start[n++];
            while (fc_route_below(fc_route_mix(*word, 0), cables) != cable ||
                   (corners && (fc_route_mix(*word, 1) & 1) != corner))
                ++*word;
        }
    out->n_start = n;
    return true;
}

static const char *const families[] = {"two-level", NULL};
const struct fc_flit_route_ops fc_route_direct = {
    .name = "direct",
    .families = families,
    .prepare = prepare,
    .start = direct_start,
    .choices = choices,
    .way = direct_way,
    .words = words,
};
const struct fc_flit_route_ops fc_route_indirect = {
    .name = "indirect",
    .families = families,
    .prepare = prepare,
    .start = indirect_start,
    .choices = choices,
    .way = indirect_way,
};
const struct fc_flit_route_ops fc_route_ugal = {
    .name = "ugal",
    .families = families,
    .prepare = prepare,
    .start = ugal_start,
    .choices = choices,
    .way = ugal_way,
    .words = words,
};
