/* routes_spread.h - what routes_spread.c and the routings that are spread (routes_spread_torus.c,
 * routes_spread_two_level.c) share. */
#pragma once

#include "mapping/routes.h"

enum { FC_SPREAD_MOST_ENTRIES = 12000000 }; /* links of all bundles */

/* One bundle in the making: what it has of each link so far. */
struct fc_spread_maker {
    struct fc_routes *r;
    const struct fc_network *net;
    double *sum;    /* [n_links] */
    uint32_t *list; /* [n] links with a sum */
    uint32_t n;
    uint64_t room; /* entries of the tables; 0: only counted */
    uint64_t total;
};
/* Adds to the bundle; ends it under its number. */
void fc_spread_put(struct fc_spread_maker *m, uint32_t real, double weight);
void fc_spread_end(struct fc_spread_maker *m, uint32_t bundle);
/* Routers of the places, and their own links into and out of the network, of per_router nodes a router. */
enum fc_code fc_spread_place(struct fc_routes *r, uint32_t per_router, struct fc_status *st);

/* Routings of one family that are spread. */
struct fc_spread_kind {
    bool (*serves)(const struct fc_sites *sites);
    bool (*fits)(const struct fc_sites *sites);
    uint64_t (*work)(const struct fc_sites *sites);                   /* link updates that all bundles take */
    enum fc_code (*start)(struct fc_routes *r, struct fc_status *st); /* fills r->spread but for the bundles */
    /* All bundles in the order of their numbers. */
    enum fc_code (*make)(struct fc_spread_maker *m, struct fc_status *st);
};
extern const struct fc_spread_kind fc_spread_torus, fc_spread_two_level;
