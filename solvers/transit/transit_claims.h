/* transit_claims.h - what messages to one node have of the links where they meet (transit_claims.c has the equation). */
#pragma once

#include "solvers/transit/transit_fair.h"

struct fc_transit_ways;
/* `look`, here and below: the number (n_looks) of the look at a node in which it was met last; what else is there is of that look.
 * Links by which messages to the node at hand come to a router and leave it. */
struct fc_claims_router {
    uint32_t look, in, out;
};
/* A link of theirs: how many of them cross it. */
struct fc_claims_link {
    uint32_t look, n;
};
/* A flow, listed in its look; and what is known of its message where it is the first of it: log a, summed up over its n flows, then a. */
struct fc_claims_flow {
    double sum, a;
    uint32_t look, n, listed; /* n: 0 once there is a */
};
struct fc_claims {
    const struct fc_network *net;
    double strength;                 /* 1 - p / 50; 0: all have what they have by their ways */
    struct fc_claims_router *router; /* [n_vertices] */
    struct fc_claims_link *link;     /* [n_links] */
    uint32_t *first_door, *door;     /* door[first_door[i] ..): the links into node i */
    uint32_t *node;                  /* [n_nodes] settle in which it was looked at last */
    uint32_t n_looks, n_settles;     /* so far */
    uint32_t *flow;                  /* [n_flows] that go to the node at hand */
    struct fc_claims_flow *of;       /* [of_capacity] by flow */
    uint32_t *changed;               /* [n_changed] flows that have another claim since the last settle began */
    size_t n_flows, n_changed, flow_capacity, of_capacity, changed_capacity;
};
/* In the arena, but for what grows; net outlives it. FC_NO: out of memory. O(links). */
enum fc_code fc_claims_open(struct fc_claims *claims, const struct fc_network *net, struct fc_arena *arena,
                            struct fc_status *st);
void fc_claims_close(struct fc_claims *claims);
/* Before a solve: messages to nodes for which one has come since the last have their claims, whose flows change is in changed[]. FC_NO: out of
 * memory. O(links of the ways to those nodes). */
enum fc_code fc_claims_settle(struct fc_claims *claims, struct fc_fair *fair, const struct fc_transit_ways *ways);
