/* routing.h - routes as weighted links, and what a routing is (routings/). */
#pragma once

#include "models/network.h"

/* The weighted links that a unit of traffic from one node to another crosses, injection and ejection included. For a
 * route that is one path: the links in order, weights 1. For a split: each link with the share that crosses it, links
 * in an order such that a link comes after those that feed it; a link may appear more than once. */
struct fc_walk {
    uint32_t *link; /* [n] */
    double *weight; /* [n] */
    uint32_t n, capacity;
    void *kept;                 /* of a routing, for the next walk; NULL: nothing, */
    void (*forget)(void *kept); /* else frees it */
};
/* A walk with room for the longest route of the network. Owned by the caller. */
enum fc_code fc_walk_start(struct fc_walk *walk, uint32_t capacity, struct fc_status *st);
void fc_walk_free(struct fc_walk *walk);
static inline void fc_walk_add(struct fc_walk *walk, uint32_t link, double weight)
{
    walk->link[walk->n] = link;
    walk->weight[walk->n++] = weight;
}

struct fc_routing_ops {
    const char *name, *help, *source;
    const char *const *families; /* NULL-terminated; the same name may be served by another record for others */
    bool adaptive;               /* the split is the solver's to find; walk() gives the uniform minimal one */
    bool minimal; /* takes any minimal path and no others: what is proven of flows along those is proven of it */
    /* Routes from nodes of one router to nodes of another are the same but for the nodes' own links. */
    bool by_router;
    bool detours; /* messages of one pair may go by ways of different length */
    /* Of an adaptive one: in how many sets the paths of a pair fall of which each packet is given one at its source, each with equal
     * chance and whatever is crowded; it is free only within the set. The walk has one set after the other. NULL: one. */
    uint32_t (*source_sets)(const struct fc_network *net, uint32_t src, uint32_t dst);
    int phases; /* 2: to a router in between, then on; each phase has its channels. 0: one */
    /* Paths of a pair that one message of a replay is spread over at most (solvers/transit/transit_routes.c), up to 16; NULL: 8.
     * More where a message has many equally good ones, and few pairs are on each. */
    uint32_t (*message_paths)(const struct fc_network *net);
    /* Links between blocks of the family's first partition that a byte which leaves its block crosses at least, where
     * there are three blocks or more. 0: one. */
    int block_crossings;
    /* The family's routing of one fixed order of dimensions, which each phase of this one keeps to, and its escapes
     * and packets of high priority; itself where it is that. NULL: none. */
    const struct fc_routing_ops *ordered;
    /* What the machine's file lacks for it, as "KEY is missing"; NULL: nothing. NULL: it needs nothing. */
    const char *(*lacks)(const struct fc_machine *machine);
    /* Upper bound of walk entries for this network. */
    uint32_t (*walk_capacity)(const struct fc_network *net);
    /* Appends the route src -> dst (distinct nodes) to the walk, each weight times `share`. Pure, thread-safe. */
    void (*walk)(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk);
    /* Optional, both or none (NULL), on networks that look the same from every router: the displacement of a pair, below
     * n_displacements(net) (0: this network does not). Walks of one displacement are the same but for where they begin:
     * the same weights in the same order over links at the same places among those of their source vertex
     * (link - first_link[link_source[link]]), of the same classes. */
    uint32_t (*n_displacements)(const struct fc_network *net);
    uint32_t (*displacement)(const struct fc_network *net, uint32_t src, uint32_t dst);
    /* Structural loads, both optional (NULL: path walk). Add to load[n_links] the traffic a[s]*b[d] (s != d)
     * without visiting pairs; a, b are [n_nodes], bytes = a*b. */
    enum fc_code (*rank_one)(const struct fc_network *net, const double *a, const double *b, double *load,
                             struct fc_status *st);
    /* Adaptive routing as a mixture of components whose weights the solver finds (all three or none): loads of the
     * dense traffic a*b, or of the entries, as if all of it took component c < n_components(net). */
    uint32_t (*n_components)(const struct fc_network *net);
    enum fc_code (*component_rank_one)(const struct fc_network *net, uint32_t c, const double *a, const double *b,
                                       double *load, struct fc_status *st);
    enum fc_code (*component_sparse)(const struct fc_network *net, uint32_t c, const uint32_t *src, const uint32_t *dst,
                                     const double *bytes, size_t n, double *load, struct fc_status *st);
    /* Add the entries (src node, dst node, bytes) [n] in time independent of path length. src != dst. */
    enum fc_code (*sparse)(const struct fc_network *net, const uint32_t *src, const uint32_t *dst, const double *bytes,
                           size_t n, double *load, struct fc_status *st);
};
/* The routing of that name for the family, or NULL. */
const struct fc_routing_ops *fc_routing_find(const char *name, const char *family);
/* Whether a list of families that ends with NULL (routing, virtual-channel rule, routing of the kernel) has this
 * one. */
bool fc_serves(const char *const *families, const struct fc_family_ops *family);
/* Whether a routing can be the machine's: it is its family's, and the machine lacks nothing for it. */
static inline bool fc_routing_takes(const struct fc_routing_ops *routing, const struct fc_machine *machine)
{
    return fc_serves(routing->families, machine->family) && !(routing->lacks && routing->lacks(machine));
}
