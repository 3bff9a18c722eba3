/* routes.h - private to mapping/: the routes between the places of a search, laid out for speed (routes.c).
 *
 * Links that never bind (infinite bandwidth) are left out; the others are numbered anew, so that on tori
 * under dimension order the links of a ring lie side by side and a route is a few runs of them. */
#ifndef FC_ROUTES_H
#define FC_ROUTES_H

#include "mapping/map_build.h"
#include "models/family_torus.h"

/* The places that units may take: slot i is on node[i / slots_per_node]; traffic follows `routing`. */
struct fc_sites {
    const struct fc_network *net;
    const struct fc_routing_ops *routing;
    const uint32_t *node; /* [n_nodes] allowed nodes */
    uint32_t n_nodes, slots_per_node;
    const double *background_bytes_per_s; /* [n_links] taken by other jobs; NULL: nothing */
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
    FC_ROUTES_RINGS, /* torus or mesh, dimension order, single cables: runs of links, computed */
    FC_ROUTES_TABLE, /* every pair's route in a table */
    FC_ROUTES_WALK   /* the routing's own walk each time */
};
/* Where a place lies in one dimension: coordinate c; its line of the dimension has number (high of the source
 * + low of the destination), both times k: dimension order has the destination's coordinates in the
 * dimensions before and the source's in those after. */
struct fc_ring_place {
    uint32_t c, low, high;
};
enum { FC_BOTH_WAYS = 255, FC_MOST_RING = 128 /* longest dimension */ };
struct fc_ring {
    uint32_t k, plus,
        minus; /* first link of line 0 in each direction; + at position c leads from c to c + 1 */
    bool wraps;
    float *seconds; /* [k] a byte between coordinates that differ by so much */
    /* [k][k][width] links from coordinate a to b, less the line's number, and how many: FC_BOTH_WAYS at a
     * tie. */
    uint32_t width, *run;
    uint8_t *count; /* [k][k] */
};
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
    uint32_t *out, *in;       /* [n] link of each place into and out of the network, FC_NONE where left out */
    float terminal_s;         /* seconds a byte into and out of the network */
    /* FC_ROUTES_TABLE: */
    uint32_t *first, *link; /* [n n + 1], [first[n n]] */
    float *share;           /* [first[n n]]; NULL: all 1 */
    float *distance;        /* [n][n] seconds a byte summed over the route */
};
/* A table is made when it has at most `most_work` links in all. On failure nothing is left to free. */
enum fc_code fc_routes_make(const struct fc_sites *sites, uint64_t most_work, struct fc_routes *routes,
                            struct fc_status *st);
void fc_routes_free(struct fc_routes *routes);

/* Seconds of link time that a byte takes from place a to b; only with fc_routes_measured. */
static inline bool fc_routes_measured(const struct fc_routes *r)
{
    return r->kind != FC_ROUTES_WALK;
}
static inline double fc_routes_distance(const struct fc_routes *r, uint32_t a, uint32_t b)
{
    if (r->kind == FC_ROUTES_TABLE) return (double)r->distance[(size_t)a * r->n + b];
    if (a == b) return 0;
    const struct fc_ring_place *p = r->at + (size_t)a * (size_t)r->n_dims,
                               *q = r->at + (size_t)b * (size_t)r->n_dims;
    float sum = r->terminal_s;
    for (int d = 0; d < r->n_dims; d++)
        sum += r->ring[d].seconds[p[d].c > q[d].c ? p[d].c - q[d].c : q[d].c - p[d].c];
    return (double)sum;
}

#endif
