/* routes.h - private to mapping/: the routes between the places of a search, laid out for speed (routes.c).
 *
 * Links that never bind (infinite bandwidth) are left out; the others are numbered anew, so that on tori
 * under dimension order the links of a ring lie side by side and a route is a few runs of them. */
#pragma once

#include "mapping/map_build.h"
#include "models/family_torus.h"

/* The places that units may take: slot i is on node[i / slots_per_node]; traffic follows `routing`. */
struct fc_sites {
    const struct fc_network *net;
    const struct fc_routing_ops *routing;
    const uint32_t *node; /* [n_nodes] allowed nodes */
    uint32_t n_nodes, slots_per_node;
    const double *background_bytes_per_s; /* [n_links] taken by other jobs; NULL: nothing */
    bool no_spread; /* no sums by bundles of links, even where they fit: making them would cost too much */
};
/* Bandwidth that the background leaves of a link, bytes/s; a billionth of the link where it leaves nothing. */
static inline double fc_site_bandwidth(const struct fc_sites *sites, uint32_t link)
{
    double all = fc_link_bandwidth(sites->net, link);
    double left = sites->background_bytes_per_s ? all - sites->background_bytes_per_s[link] : all;
    return left > 1e-9 * all ? left : 1e-9 * all;
}

/* Mean length of 64 routes drawn over the nodes, links; `walk` is scratch. */
double fc_sites_mean_route(const struct fc_sites *sites, struct fc_walk *walk);

enum fc_routes_kind {
    FC_ROUTES_RINGS,  /* torus or mesh, dimension order, single cables: runs of links, computed */
    FC_ROUTES_TABLE,  /* every pair's route in a table */
    FC_ROUTES_SPREAD, /* every message over the whole network: sums by bundles of links */
    FC_ROUTES_WALK    /* the routing's own walk each time */
};
/* Where a place lies in one dimension: coordinate c; its line of the dimension has number (high of the source
 * + low of the destination), both times k: dimension order has the destination's coordinates in the
 * dimensions before and the source's in those after. */
struct fc_ring_place {
    uint32_t c, low, high;
};
enum { FC_BOTH_WAYS = 255, FC_MOST_RING = 128 /* longest dimension */ };
struct fc_ring {
    uint32_t k, plus, minus; /* first link of line 0 in each direction; + at position c leads from c to c + 1 */
    bool wraps;
    float *seconds; /* [k] a byte between coordinates that differ by so much */
    /* [k][k][width] links from coordinate a to b, less the line's number, and how many: FC_BOTH_WAYS at a
     * tie. */
    uint32_t width, *run;
    uint8_t *count; /* [k][k] */
};
/* Routes that are spread over the whole network (routes_spread_two_level.c has the equation). Bundles are numbered
 * OUT [router], IN [router], D_OUT [group], D_IN [group], OUT_TO [router][group], IN_FROM [router][group], PAIR
 * [group][group]; bundle i has weight[e] of a byte on link[e], e in first[i] .. first[i + 1). A group is a
 * supernode; on a torus there are none, and OUT and IN are all. */
struct fc_route_spread {
    uint32_t n_groups, n_routers, n_bundles;
    int n_uses;                    /* bundles that a message adds to */
    double direct, share;          /* part sent directly; through each of the other supernodes */
    uint32_t *router, *group;      /* [n] of a place; group: only with groups, as the next two */
    uint32_t *first_place, *place; /* [n_groups + 2], [n]: places of each group */
    uint32_t *first, *link;        /* [n_bundles + 1], [first[n_bundles]] */
    float *weight;                 /* [first[n_bundles]] */
    double *seconds;               /* [n_bundles] link time of a byte */
};
/* Whether messages between these places stay in their supernode, and so off the bundles. */
static inline bool fc_spread_is_local(const struct fc_route_spread *s, uint32_t a, uint32_t b)
{
    return s->n_groups > 0 && s->group[a] == s->group[b];
}
/* What a byte between other places adds: so much of these bundles, use[n_uses]. */
enum { FC_SPREAD_USES = 7 };
struct fc_spread_use {
    uint32_t bundle;
    double share;
};
static inline void fc_spread_uses(const struct fc_route_spread *s, uint32_t a, uint32_t b, struct fc_spread_use *use)
{
    uint32_t S = s->n_groups, R = s->n_routers, from = s->router[a], to = s->router[b], single = 2 * R + 2 * S;
    double all = s->share, one = s->direct - s->share;
    use[0] = (struct fc_spread_use){from, all};
    use[1] = (struct fc_spread_use){R + to, all};
    if (S == 0) return;
    uint32_t g = s->group[a], h = s->group[b];
    use[2] = (struct fc_spread_use){2 * R + g, all};
    use[3] = (struct fc_spread_use){2 * R + S + h, all};
    use[4] = (struct fc_spread_use){single + from * S + h, one};
    use[5] = (struct fc_spread_use){single + (R + to) * S + g, one};
    use[6] = (struct fc_spread_use){single + 2 * R * S + g * S + h, 1};
}

/* What a routing sends from one place to another crosses link[first[a n + b] .. first[a n + b + 1]). */
struct fc_routes {
    struct fc_arena arena;
    enum fc_routes_kind kind;
    const struct fc_sites *sites;
    uint32_t n;        /* places */
    uint32_t n_links;  /* numbered anew */
    uint32_t *real;    /* [n_links] the network's number */
    uint32_t *number;  /* [links of the network] new number, FC_NONE where left out */
    double *seconds;   /* [n_links] a byte: 1 / bandwidth */
    uint32_t capacity; /* links of the longest route */
    uint64_t work;     /* what it cost to build, link updates */
    /* FC_ROUTES_RINGS: */
    int n_dims;
    struct fc_ring ring[FC_MAX_DIMS];
    struct fc_ring_place *at; /* [n][n_dims] */
    uint32_t *out, *in;       /* [n] link of each place into and out of the network, FC_NONE where left out; also of
                                 FC_ROUTES_SPREAD */
    float terminal_s;         /* seconds a byte into and out of the network */
    /* FC_ROUTES_TABLE: */
    uint32_t *first, *link; /* [n n + 1], [first[n n]] */
    float *share;           /* [first[n n]]; NULL: all 1 */
    float *distance;        /* [n][n] seconds a byte summed over the route */
    /* FC_ROUTES_SPREAD: */
    struct fc_route_spread spread;
};
/* A table is made when it has at most `most_work` links in all. On failure nothing is left to free. */
enum fc_code fc_routes_make(const struct fc_sites *sites, uint64_t most_work, struct fc_routes *routes,
                            struct fc_status *st);
void fc_routes_free(struct fc_routes *routes);

/* routes_torus.c: whether the routes are runs along rings and lines; makes them. The number of a real link, new;
 * FC_NONE: it never binds. */
bool fc_torus_has_rings(const struct fc_sites *sites);
enum fc_code fc_torus_make_rings(struct fc_routes *routes, struct fc_status *st);
uint32_t fc_routes_add_link(struct fc_routes *routes, uint32_t real);

/* routes_spread.c: whether the sites' routing is one that is spread, on a network small enough for the bundles; makes them
 * for routes whose links are numbered; the link time of a byte. */
bool fc_spread_fits(const struct fc_sites *sites);
/* What making them costs at most, link updates. */
uint64_t fc_spread_work(const struct fc_sites *sites);
enum fc_code fc_spread_make(struct fc_routes *routes, struct fc_status *st);
double fc_spread_distance(const struct fc_routes *routes, uint32_t a, uint32_t b);
/* The links between two places of one group and what goes by each, links[4], weights[4]; returns how many. */
int fc_spread_local(const struct fc_routes *routes, uint32_t a, uint32_t b, uint32_t *links, double *weights);

/* Seconds of link time that a byte takes from place a to b; only with fc_routes_measured. */
static inline bool fc_routes_measured(const struct fc_routes *r)
{
    return r->kind != FC_ROUTES_WALK;
}
static inline double fc_routes_distance(const struct fc_routes *r, uint32_t a, uint32_t b)
{
    if (r->kind == FC_ROUTES_TABLE) return (double)r->distance[(size_t)a * r->n + b];
    if (a == b) return 0;
    if (r->kind == FC_ROUTES_SPREAD) return fc_spread_distance(r, a, b);
    const struct fc_ring_place *p = r->at + (size_t)a * (size_t)r->n_dims, *q = r->at + (size_t)b * (size_t)r->n_dims;
    float sum = r->terminal_s;
    for (int d = 0; d < r->n_dims; d++) sum += r->ring[d].seconds[p[d].c > q[d].c ? p[d].c - q[d].c : q[d].c - p[d].c];
    return (double)sum;
}
