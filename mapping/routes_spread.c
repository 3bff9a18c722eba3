/* routes_spread.c - the loads of routings that send each message over the whole network as few sums, for a search:
 * indirect and UGAL on two-level networks, Valiant's on tori and meshes.
 *
 * A flow of b bytes from router r of supernode s to router q of t goes over all supernodes i alike, so a walk
 * of it has hundreds of links. But what it adds to all loads is a sum of fixed vectors ("bundles"), which
 * flows share: with S supernodes, a part w sent directly and k = (1 - w) / (S - 2),
 *
 *     b k (OUT[r] + D_OUT[s] + IN[q] + D_IN[t]) + b (w - k) (OUT_TO[r][t] + IN_FROM[q][s]) + b PAIR[s][t]
 *
 * OUT_TO[r][i]: the local ways from r to the hosts of the cables to i, IN_FROM[q][i] likewise from the hosts
 * to q; OUT and IN their sums over i. D_OUT[s], D_IN[s]: all D links out of and into s. PAIR[s][t]:
 * k times the ways between hosts in all supernodes on the way, (w - 2 k) times the D links from s to t.
 * On a torus b (OUT[r] + IN[q]), the mean ways from r to all routers and from all to q. A
 * move first sums bytes by bundle, where much cancels, and then adds each changed bundle to the links once
 * (search.c). Source: Bhatele et al. SC'11 section 4.2, Dally & Towles 2004 section 9.1 for the routings.
 * Limits: fixed splits (UGAL half and half); S >= 3; tables of up to MOST_ENTRIES links in all. */
#include "mapping/routes.h"

#include "models/family_torus.h"
#include "models/family_two_level.h"

#include <math.h>

enum { MOST_ENTRIES = 12000000 };
static const double most_steps = 1e8;

/* One bundle in the making: what it has of each link so far. */
struct maker {
    struct fc_routes *r;
    const struct fc_network *net;
    double *sum;    /* [n_links] */
    uint32_t *list; /* [n] links with a sum */
    uint32_t n;
    uint64_t room; /* entries of the tables; 0: only counted */
    uint64_t total;
};

static void put(struct maker *m, uint32_t real, double weight)
{
    uint32_t l = m->r->number[real];
    if (l == FC_NONE || weight == 0) return;
    if (m->sum[l] == 0) m->list[m->n++] = l;
    m->sum[l] += weight;
}

static void put_local(struct maker *m, uint32_t base, uint32_t a, uint32_t b, double weight)
{
    uint32_t links[4];
    double weights[4];
    int n = fc_two_level_local_route(m->net, base, a, b, links, weights);
    for (int i = 0; i < n; i++) put(m, links[i], weight * weights[i]);
}

static void end_bundle(struct maker *m, uint32_t bundle)
{
    struct fc_spread *spread = &m->r->spread;
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

/* The local ways between member r of supernode s and the hosts of its cables to i. */
static void put_legs(struct maker *m, uint32_t s, uint32_t member, uint32_t i, bool out)
{
    const struct fc_two_level_shape *shape = fc_two_level(m->net);
    if (i == s || shape->d_link == FC_D_FREE) return;
    for (uint32_t c = 0; c < shape->pair_links; c++)
        if (out)
            put_local(m, s * shape->members, member, fc_two_level_cross(m->net, s, i, c).from,
                      1.0 / shape->pair_links);
        else
            put_local(m, s * shape->members, fc_two_level_cross(m->net, i, s, c).to, member,
                      1.0 / shape->pair_links);
}

static void put_cables(struct maker *m, uint32_t s, uint32_t t, double weight)
{
    uint32_t cables = fc_two_level(m->net)->pair_links;
    for (uint32_t c = 0; s != t && c < cables; c++)
        put(m, fc_two_level_d_link(m->net, s, t, c), weight / cables);
}

static void put_pair(struct maker *m, uint32_t s, uint32_t t)
{
    const struct fc_two_level_shape *shape = fc_two_level(m->net);
    const struct fc_spread *spread = &m->r->spread;
    uint32_t S = shape->n_supernodes, cables = shape->pair_links;
    if (s == t) return;
    put_cables(m, s, t, spread->direct - 2 * spread->share);
    for (uint32_t i = 0; shape->d_link != FC_D_FREE && i < S; i++)
        for (uint32_t c = 0; i != s && i != t && c < cables * cables; c++)
            put_local(m, i * shape->members, fc_two_level_cross(m->net, s, i, c / cables).to,
                      fc_two_level_cross(m->net, i, t, c % cables).from, spread->share / cables / cables);
}

/* On a torus: OUT, then IN of all routers, one walk from and to every router. */
static void make_torus_bundles(struct maker *m, struct fc_walk *walk)
{
    const struct fc_torus_shape *shape = fc_torus(m->net);
    const struct fc_routing_ops *phase = m->r->sites->routing->ordered;
    uint32_t R = shape->n_routers, per_router = shape->nodes_per_router;
    m->total = 0;
    for (int out = 1; out >= 0; out--)
        for (uint32_t r = 0; r < R; r++) {
            for (uint32_t via = 0; via < R; via++) {
                uint32_t from = (out ? r : via) * per_router, to = (out ? via : r) * per_router;
                walk->n = 0;
                if (r != via) phase->walk(m->net, from, to, 1.0 / R, walk);
                for (uint32_t i = 0; i < walk->n; i++)
                    if (!fc_is_node(m->net, m->net->link_source[walk->link[i]]) &&
                        !fc_is_node(m->net, m->net->link_target[walk->link[i]]))
                        put(m, walk->link[i], walk->weight[i]);
            }
            end_bundle(m, out ? r : R + r);
        }
}

/* All bundles of a two-level network in the order of their numbers. */
static void make_group_bundles(struct maker *m)
{
    const struct fc_two_level_shape *shape = fc_two_level(m->net);
    uint32_t S = shape->n_supernodes, R = shape->n_routers, bundle = 0;
    m->total = 0;
    for (int out = 1; out >= 0; out--)
        for (uint32_t r = 0; r < R; r++) {
            for (uint32_t i = 0; i < S; i++) put_legs(m, r / shape->members, r % shape->members, i, out);
            end_bundle(m, bundle++);
        }
    for (int out = 1; out >= 0; out--)
        for (uint32_t s = 0; s < S; s++) {
            for (uint32_t i = 0; i < S; i++) put_cables(m, out ? s : i, out ? i : s, 1);
            end_bundle(m, bundle++);
        }
    for (int out = 1; out >= 0; out--)
        for (uint32_t r = 0; r < R; r++)
            for (uint32_t i = 0; i < S; i++) {
                put_legs(m, r / shape->members, r % shape->members, i, out);
                end_bundle(m, bundle++);
            }
    for (uint32_t s = 0; s < S; s++)
        for (uint32_t t = 0; t < S; t++) {
            put_pair(m, s, t);
            end_bundle(m, bundle++);
        }
}

/* The torus under Valiant's routing, or NULL. */
static const struct fc_torus_shape *torus_of(const struct fc_sites *sites)
{
    return sites->routing->phases > 1 ? fc_torus(sites->net) : NULL;
}

uint64_t fc_spread_work(const struct fc_sites *sites)
{
    const struct fc_torus_shape *torus = torus_of(sites);
    const struct fc_two_level_shape *shape = fc_two_level(sites->net);
    if (torus) return 8ull * torus->n_routers * sites->net->n_links;
    if (!shape) return 0;
    double S = shape->n_supernodes, c = shape->pair_links, R = shape->n_routers;
    double local = shape->d_link == FC_D_FREE ? 0 : shape->local == FC_LOCAL_FULL ? 1 : 4;
    double in_between = fmin(c * c * local * (S - 2), (S - 2) * shape->members * shape->members);
    return (uint64_t)(4 * (fmax(0, S * S * in_between) + 2 * R * S * c * local));
}

bool fc_spread_fits(const struct fc_sites *sites)
{
    const struct fc_torus_shape *torus = torus_of(sites);
    const struct fc_two_level_shape *shape = fc_two_level(sites->net);
    if (sites->no_spread) return false;
    if (torus) return 2.0 * torus->n_routers * sites->net->n_links <= MOST_ENTRIES; /* dense bundles */
    if (!shape || !sites->routing->detours) return false;
    double S = shape->n_supernodes, c = shape->pair_links, R = shape->n_routers;
    double local = shape->d_link == FC_D_FREE ? 0 : shape->local == FC_LOCAL_FULL ? 1 : 4;
    double in_between = fmin(c * c * local * (S - 2), (S - 2) * shape->members * shape->members);
    return S >= 3 && S * S * S * c * c <= most_steps && 2 * R * S <= MOST_ENTRIES &&
           S * S * in_between + 2 * R * S * c * local <= MOST_ENTRIES;
}

/* Routers of the places, and their own links into and out of the network. */
static enum fc_code place_them(struct fc_routes *r, uint32_t per_router, struct fc_status *st)
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

/* Supernodes of the places, and the places of each. */
static enum fc_code group_them(struct fc_routes *r, uint32_t members, struct fc_status *st)
{
    struct fc_spread *spread = &r->spread;
    uint32_t n = r->n, S = spread->n_groups;
    spread->group = fc_alloc(&r->arena, n, sizeof *spread->group, st);
    spread->first_place = spread->group ? fc_alloc(&r->arena, S + 2, sizeof *spread->first_place, st) : NULL;
    spread->place = spread->first_place ? fc_alloc(&r->arena, n, sizeof *spread->place, st) : NULL;
    if (!spread->place) return st->code;
    for (uint32_t i = 0; i < n; i++) spread->first_place[(spread->group[i] = spread->router[i] / members) + 2]++;
    for (uint32_t s = 0; s < S; s++) spread->first_place[s + 2] += spread->first_place[s + 1];
    for (uint32_t i = 0; i < n; i++) spread->place[spread->first_place[spread->group[i] + 1]++] = i;
    return FC_OK;
}

/* Counts the entries, makes room and fills it. */
static enum fc_code make_bundles(struct maker *m, struct fc_walk *walk, struct fc_status *st)
{
    struct fc_routes *r = m->r;
    struct fc_spread *spread = &r->spread;
    for (int pass = 0; pass < 2 && !st->code; pass++) {
        if (spread->n_groups > 0)
            make_group_bundles(m);
        else
            make_torus_bundles(m, walk);
        if (pass > 0) break;
        m->room = m->total + 1;
        spread->first = fc_alloc(&r->arena, spread->n_bundles + 1ull, sizeof *spread->first, st);
        spread->seconds =
            spread->first ? fc_alloc(&r->arena, spread->n_bundles, sizeof *spread->seconds, st) : NULL;
        spread->link = spread->seconds ? fc_alloc(&r->arena, m->room, sizeof *spread->link, st) : NULL;
        spread->weight = spread->link ? fc_alloc(&r->arena, m->room, sizeof *spread->weight, st) : NULL;
    }
    r->work += 2 * m->total;
    return st->code;
}

static void start_two_level(struct fc_routes *r, struct fc_status *st)
{
    const struct fc_two_level_shape *shape = fc_two_level(r->sites->net);
    struct fc_spread *spread = &r->spread;
    uint32_t S = shape->n_supernodes, R = shape->n_routers;
    spread->n_groups = S;
    spread->n_routers = R;
    spread->n_uses = FC_SPREAD_USES;
    spread->n_bundles = 2 * R + 2 * S + 2 * R * S + S * S;
    spread->direct = r->sites->routing->adaptive ? 0.5 : 0;
    spread->share = (1 - spread->direct) / (S - 2);
    if (!place_them(r, shape->nodes_per_router, st)) group_them(r, shape->members, st);
}

static void start_torus(struct fc_routes *r, struct fc_status *st)
{
    const struct fc_torus_shape *shape = fc_torus(r->sites->net);
    r->spread.n_routers = shape->n_routers;
    r->spread.n_uses = 2;
    r->spread.n_bundles = 2 * shape->n_routers;
    r->spread.share = 1;
    place_them(r, shape->nodes_per_router, st);
}

enum fc_code fc_spread_make(struct fc_routes *r, struct fc_status *st)
{
    const struct fc_network *net = r->sites->net;
    struct fc_arena scratch = {0};
    struct fc_walk walk = {0};
    struct maker m = {.r = r, .net = net};
    const struct fc_routing_ops *phase = r->sites->routing->ordered;
    bool torus = torus_of(r->sites) != NULL;
    m.sum = fc_alloc(&scratch, r->n_links, sizeof *m.sum, st);
    m.list = m.sum ? fc_alloc(&scratch, r->n_links, sizeof *m.list, st) : NULL;
    if (m.list && torus) fc_walk_start(&walk, phase->walk_capacity(net), st);
    if (!st->code) (torus ? start_torus : start_two_level)(r, st);
    if (!st->code) make_bundles(&m, &walk, st);
    fc_walk_free(&walk);
    fc_arena_free(&scratch);
    return st->code;
}

double fc_spread_distance(const struct fc_routes *r, uint32_t a, uint32_t b)
{
    const struct fc_spread *s = &r->spread;
    const struct fc_network *net = r->sites->net;
    double seconds = (r->out[a] == FC_NONE ? 0 : r->seconds[r->out[a]]) +
                     (r->in[b] == FC_NONE ? 0 : r->seconds[r->in[b]]);
    if (fc_spread_is_local(s, a, b)) {
        uint32_t links[4], members = fc_two_level(net)->members, base = s->group[a] * members;
        double weights[4];
        int n = fc_two_level_local_route(net, base, s->router[a] - base, s->router[b] - base, links, weights);
        for (int i = 0; i < n; i++)
            if (r->number[links[i]] != FC_NONE) seconds += weights[i] * r->seconds[r->number[links[i]]];
        return seconds;
    }
    struct fc_spread_use use[FC_SPREAD_USES];
    fc_spread_uses(s, a, b, use);
    for (int i = 0; i < s->n_uses; i++) seconds += use[i].share * s->seconds[use[i].bundle];
    return seconds;
}
