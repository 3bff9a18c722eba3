/* routes_spread_two_level.c - indirect and UGAL routing on two-level networks (Bhatele et al. SC'11, section 4.2).
 *
 * A flow of b bytes from router r of supernode s to router q of t goes over all supernodes i alike, so a walk of it
 * has hundreds of links. With S supernodes, a part w sent directly and k = (1 - w) / (S - 2) it adds to all loads
 *
 *     b k (OUT[r] + D_OUT[s] + IN[q] + D_IN[t]) + b (w - k) (OUT_TO[r][t] + IN_FROM[q][s]) + b PAIR[s][t]
 *
 * OUT_TO[r][i]: the local ways from r to the hosts of the cables to i, IN_FROM[q][i] likewise from the hosts to q;
 * OUT and IN their sums over i. D_OUT[s], D_IN[s]: all D links out of and into s. PAIR[s][t]: k times the ways
 * between hosts in all supernodes on the way, (w - 2 k) times the D links from s to t. Limits: fixed splits (UGAL
 * half and half); S >= 3. */
#include "mapping/routes_spread.h"
#include "models/family_two_level.h"

#include <math.h>

static const double most_steps = 1e8;

static bool serves(const struct fc_sites *sites)
{
    return sites->routing->detours && fc_two_level(sites->net);
}

/* Local ways between hosts in all supernodes, at most. */
static double in_between(const struct fc_two_level_shape *shape, double local)
{
    double S = shape->n_supernodes, c = shape->pair_links;
    return fmin(c * c * local * (S - 2), (S - 2) * shape->members * shape->members);
}
static double local_links(const struct fc_two_level_shape *shape)
{
    return shape->d_link == FC_D_FREE ? 0 : shape->local == FC_LOCAL_FULL ? 1 : 4;
}

static uint64_t work(const struct fc_sites *sites)
{
    const struct fc_two_level_shape *shape = fc_two_level(sites->net);
    double S = shape->n_supernodes, c = shape->pair_links, R = shape->n_routers, local = local_links(shape);
    return (uint64_t)(4 * (fmax(0, S * S * in_between(shape, local)) + 2 * R * S * c * local));
}

static bool fits(const struct fc_sites *sites)
{
    const struct fc_two_level_shape *shape = fc_two_level(sites->net);
    double S = shape->n_supernodes, c = shape->pair_links, R = shape->n_routers, local = local_links(shape);
    return S >= 3 && S * S * S * c * c <= most_steps && 2 * R * S <= FC_SPREAD_MOST_ENTRIES &&
           S * S * in_between(shape, local) + 2 * R * S * c * local <= FC_SPREAD_MOST_ENTRIES;
}

/* Supernodes of the places, and the places of each. */
static enum fc_code group_them(struct fc_routes *r, uint32_t members, struct fc_status *st)
{
    struct fc_route_spread *spread = &r->spread;
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

static enum fc_code start(struct fc_routes *r, struct fc_status *st)
{
    const struct fc_two_level_shape *shape = fc_two_level(r->sites->net);
    struct fc_route_spread *spread = &r->spread;
    uint32_t S = shape->n_supernodes, R = shape->n_routers;
    spread->n_groups = S;
    spread->n_routers = R;
    spread->n_uses = FC_SPREAD_USES;
    spread->n_bundles = 2 * R + 2 * S + 2 * R * S + S * S;
    spread->direct = r->sites->routing->adaptive ? 0.5 : 0;
    spread->share = (1 - spread->direct) / (S - 2);
    return fc_spread_place(r, shape->nodes_per_router, st) ? st->code : group_them(r, shape->members, st);
}

static void put_local(struct fc_spread_maker *m, uint32_t base, uint32_t a, uint32_t b, double weight)
{
    uint32_t links[4];
    double weights[4];
    int n = fc_two_level_local_route(m->net, base, a, b, links, weights);
    for (int i = 0; i < n; i++) fc_spread_put(m, links[i], weight * weights[i]);
}

/* The local ways between member r of supernode s and the hosts of its cables to i. */
static void put_legs(struct fc_spread_maker *m, uint32_t s, uint32_t member, uint32_t i, bool out)
{
    const struct fc_two_level_shape *shape = fc_two_level(m->net);
    if (i == s || shape->d_link == FC_D_FREE) return;
    for (uint32_t c = 0; c < shape->pair_links; c++)
        if (out)
            put_local(m, s * shape->members, member, fc_two_level_cross(m->net, s, i, c).from, 1.0 / shape->pair_links);
        else
            put_local(m, s * shape->members, fc_two_level_cross(m->net, i, s, c).to, member, 1.0 / shape->pair_links);
}

static void put_cables(struct fc_spread_maker *m, uint32_t s, uint32_t t, double weight)
{
    uint32_t cables = fc_two_level(m->net)->pair_links;
    for (uint32_t c = 0; s != t && c < cables; c++)
        fc_spread_put(m, fc_two_level_cross(m->net, s, t, c).link, weight / cables);
}

static void put_pair(struct fc_spread_maker *m, uint32_t s, uint32_t t)
{
    const struct fc_two_level_shape *shape = fc_two_level(m->net);
    const struct fc_route_spread *spread = &m->r->spread;
    uint32_t S = shape->n_supernodes, cables = shape->pair_links;
    if (s == t) return;
    put_cables(m, s, t, spread->direct - 2 * spread->share);
    for (uint32_t i = 0; shape->d_link != FC_D_FREE && i < S; i++)
        for (uint32_t c = 0; i != s && i != t && c < cables * cables; c++)
            put_local(m, i * shape->members, fc_two_level_cross(m->net, s, i, c / cables).to,
                      fc_two_level_cross(m->net, i, t, c % cables).from, spread->share / cables / cables);
}

static enum fc_code make(struct fc_spread_maker *m, struct fc_status *st)
{
    const struct fc_two_level_shape *shape = fc_two_level(m->net);
    uint32_t S = shape->n_supernodes, R = shape->n_routers, bundle = 0;
    (void)st;
    for (int out = 1; out >= 0; out--)
        for (uint32_t r = 0; r < R; r++) {
            for (uint32_t i = 0; i < S; i++) put_legs(m, r / shape->members, r % shape->members, i, out);
            fc_spread_end(m, bundle++);
        }
    for (int out = 1; out >= 0; out--)
        for (uint32_t s = 0; s < S; s++) {
            for (uint32_t i = 0; i < S; i++) put_cables(m, out ? s : i, out ? i : s, 1);
            fc_spread_end(m, bundle++);
        }
    for (int out = 1; out >= 0; out--)
        for (uint32_t r = 0; r < R; r++)
            for (uint32_t i = 0; i < S; i++) {
                put_legs(m, r / shape->members, r % shape->members, i, out);
                fc_spread_end(m, bundle++);
            }
    for (uint32_t s = 0; s < S; s++)
        for (uint32_t t = 0; t < S; t++) {
            put_pair(m, s, t);
            fc_spread_end(m, bundle++);
        }
    return FC_OK;
}

int fc_spread_local(const struct fc_routes *r, uint32_t a, uint32_t b, uint32_t *links, double *weights)
{
    const struct fc_network *net = r->sites->net;
    uint32_t members = fc_two_level(net)->members, base = r->spread.group[a] * members;
    return fc_two_level_local_route(net, base, r->spread.router[a] - base, r->spread.router[b] - base, links, weights);
}

const struct fc_spread_kind fc_spread_two_level = {serves, fits, work, start, make};
