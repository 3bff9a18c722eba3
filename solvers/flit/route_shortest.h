/* route_shortest.h - tables of the routings of graphs, filled by route_graph_tables.c; route_graph.c has the routings that do more
 * than take any shortest path (route_shortest.c). */
#pragma once

#include "models/deadlock/cdg.h"
#include "models/family_graph.h"
#include "solvers/flit/route.h"

struct fc_shortest_routes {
    const struct fc_network *net;
    const struct fc_graph_tables *tables;
    uint64_t *next; /* [n_groups][n_routers][words]; all zero at the group's own routers */
    uint32_t words;
    uint32_t *router_links; /* [n_routers] links to routers, which stand first */
    uint16_t *vcs;          /* [n_groups]; or, by_hops, of a packet with so many hops left [longest + 1] */
    bool by_hops;
    uint16_t all;
    /* Detours (NULL without): next links to the stops, and channels on the first way with so many hops left. */
    uint64_t *stop_next;              /* [n_stops][n_routers][words] */
    uint16_t *first_vcs;              /* [farthest + 1] */
    uint64_t weight, threshold_flits; /* UGAL */
    int queue;                        /* what it counts, enum fc_ugal_queue */
    /* Rule updown (NULL without): number of the link, among the router's, on the escape to the group. */
    uint16_t *escape; /* [n_groups][2: gone down][n_routers] */
    const struct fc_updown *updown;
};

/* Route word, low bits first: group of destinations (24); stop on the first way, or the pair's hash (24); on the first way;
 * on the escape; gone down. */
#define FC_GRAPH_BITS 24
#define FC_GRAPH_MOST_PLACES (1u << FC_GRAPH_BITS)
#define FC_GRAPH_FIRST_WAY (1ull << 48)
#define FC_GRAPH_ESCAPE (1ull << 49)
#define FC_GRAPH_DOWN (1ull << 50)
static inline uint32_t fc_graph_low(uint64_t route)
{
    return (uint32_t)(route & (FC_GRAPH_MOST_PLACES - 1));
}
static inline uint32_t fc_graph_high(uint64_t route)
{
    return (uint32_t)(route >> FC_GRAPH_BITS) & (FC_GRAPH_MOST_PLACES - 1);
}

/* Fills the tables into flit->route_tables, channels by the rule. `detours`: with those of first ways. */
enum fc_code fc_route_shortest_prepare(struct fc_flit_net *flit, bool detours, struct fc_status *st);
/* Choices by those tables, escapes and first ways too. */
int fc_route_graph_choices(const struct fc_flit_net *flit, uint32_t router, const struct fc_flit_head *head,
                           struct fc_flit_choice *out);
/* The links of a node to the routers nearest by hops[n_routers]. */
int fc_route_graph_inject(const struct fc_flit_net *flit, uint32_t vertex, const uint16_t *hops, uint64_t route,
                          struct fc_flit_choice *out);
/* The links of a router to the packet's node. */
int fc_route_graph_eject(const struct fc_shortest_routes *t, uint32_t router, const struct fc_flit_head *head,
                         uint32_t n_routers, struct fc_flit_choice *out);
