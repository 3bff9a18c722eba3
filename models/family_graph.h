/* family_graph.h - networks read from fabric files (family_graph.c, graph_parts.c, read_*.c), and what their routings
 * share (routing_shortest.c, routing_graph_*.c). */
#pragma once

#include "models/models.h"

/* A full-duplex cable between router `router` and router or node `other`. Port 0, LID 0: not known. */
struct fc_cable {
    uint32_t router, other;
    bool to_node;
    uint8_t link_class;
    uint16_t port, other_port;
    uint32_t lid; /* InfiniBand's address of the node's port */
};

enum fc_unnamed { FC_UNNAMED_SKIP, FC_UNNAMED_NODE };

struct fc_graph_shape {
    const char *file, *format; /* as in the machine file */
    const char *routes;        /* files of forwarding tables, "a,b", as in the machine file; NULL: none */
    int unnamed;               /* ibnetdiscover adapters whose description names no host */
    /* Read by check, in the machine's arena: */
    const char *path;
    uint32_t n_routers, n_nodes, n_cables;
    const char **router_name, **node_name; /* unique, in natural order: n2 before n10 */
    struct fc_cable *cables;               /* [n_cables] in the order of the file */
    uint64_t *router_guid;                 /* [n_routers] ibnetdiscover: of each switch, 0: not known; else NULL */
    const char *routes_path;               /* with routes: the first of them */
    uint32_t n_ends;                       /* cables to nodes */
    uint32_t *end;                         /* [n_ends] their numbers in cables */
    uint32_t *forward; /* [n_ends][n_routers] the cable by which a router forwards to that end; FC_NONE: it does not */
    uint32_t n_aggregation; /* ibnetdiscover: in-switch reduction engines, which are no hosts */
    uint32_t n_unnamed;     /* ibnetdiscover: adapters without a host name (skipped or nodes) */
};

/* net->extra. Nodes that hang on the same routers by as many cables form a group: all routes to them are
 * alike up to the last link. Links of a router: to routers first, then to nodes. */
struct fc_graph_tables {
    uint32_t n_groups;
    uint32_t *group;        /* [n_nodes] */
    uint32_t *first_member; /* [n_groups + 1] */
    uint32_t *member;       /* [n_nodes] nodes by group */
    uint16_t *hops;         /* [n_groups][n_routers] to the nearest router of the group; FC_FAR: no path */
    uint32_t *cable;        /* [n_links] cable of the link, index in shape->cables */
    uint32_t *reverse;      /* [n_links] the other direction of the same cable */
    uint32_t walk_capacity;
    /* Stops: the routers that nodes hang on, which detours go through (routing_graph_valiant.c). */
    uint32_t n_stops;
    uint32_t *stop;           /* [n_stops] router */
    uint16_t *stop_hops;      /* [n_stops][n_routers]; `hops` where every group has one router and that for itself */
    uint32_t farthest;        /* most hops between two stops with a path, 1 or more */
    struct fc_updown *updown; /* NULL: the routing at building was another */
    struct fc_forwarding *forwarding; /* with network.routes; else NULL */
};
#define FC_FAR UINT16_MAX

/* Up*-down* routes (graph_updown.c): routers stand in an order, a link to an earlier one goes up, and no route goes up
 * again once it has gone down. So no two routes wait for each other (Schroeder et al., Autonet, 1991). */
struct fc_updown {
    uint32_t *place; /* [n_routers] in the order, the roots first */
    uint16_t
        *hops[2]; /* [n_groups][n_routers] of the shortest such route to the group: of a packet that may still go up;
                         * of one that may not. FC_FAR: none */
};
/* The order and its hops in the arena. Roots are the routers farthest from all nodes, where they join all nodes that a path
 * joins (fat-trees: the top switches); else one, that with the fewest hops to all nodes. O(groups x links). */
enum fc_code fc_graph_updown(const struct fc_network *net, struct fc_arena *arena, struct fc_updown *updown,
                             struct fc_status *st);
static inline bool fc_updown_is_down(const struct fc_updown *u, uint32_t from, uint32_t to)
{
    return u->place[to] > u->place[from];
}
/* Whether the link out of router `from` to router `to` is the next of a shortest up*-down* route to the group; `down`: the
 * packet has gone down. */
static inline bool fc_updown_leads(const struct fc_updown *u, size_t row, uint32_t from, uint32_t to, bool down)
{
    bool goes_down = fc_updown_is_down(u, from, to);
    if (down && !goes_down) return false;
    return u->hops[goes_down][row + to] + 1 == u->hops[down][row + from];
}

/* ---- one path a pair: which of equally good links a packet takes (routing_graph_hash.c) ---- */

/* 24 bits that stand for a pair of nodes; the n-th of so many links at a vertex that the pair takes. */
static inline uint32_t fc_graph_pair_hash(uint32_t src, uint32_t dst)
{
    return (uint32_t)(fc_random_quick((uint64_t)src << 32 | dst, 0x6a09e667) >> 40);
}
static inline uint32_t fc_graph_hashed(uint32_t hash, uint32_t vertex, uint32_t n)
{
    return (uint32_t)((fc_random_quick(hash, vertex) >> 32) * n >> 32);
}
/* The link by which the pair of that hash leaves the vertex (a router, or its source) for node dst; FC_NONE: there is no
 * path. By shortest paths; by up*-down* ones, *down: whether it has gone down, before and after. O(links of the vertex). */
uint32_t fc_graph_hashed_link(const struct fc_network *net, uint32_t vertex, uint32_t dst, uint32_t hash);
uint32_t fc_graph_updown_link(const struct fc_network *net, uint32_t vertex, uint32_t dst, uint32_t hash, bool *down);
/* Numbers of the n routers into order[n], those with the most of hops[n] first, by counting (first[n + 1] is scratch);
 * returns how many: those that are FC_FAR are left out. O(n). */
uint32_t fc_graph_by_falling_hops(const uint16_t *hops, uint32_t n, uint32_t *first, uint32_t *order);

/* Forwarding tables as links (forwarding.c). An end is a cable of a node: number of the node's link less that of the first. */
struct fc_forwarding {
    uint32_t n_ends;
    uint32_t *link; /* [n_ends][n_routers] by which a router forwards to that end; FC_NONE: it does not */
    uint16_t *hops; /* [n_ends][n_routers] links between routers up to the node; FC_FAR: the tables do not lead there */
    uint16_t most_hops;
};

extern const struct fc_family_ops fc_family_graph;
extern const struct fc_layout fc_graph_layout;
extern const struct fc_routing_ops fc_routing_shortest, fc_routing_shortest_hash, fc_routing_graph_valiant,
    fc_routing_graph_ugal, fc_routing_updown, fc_routing_tables;
/* What was read from the fabric file; NULL: the machine is of another family. */
static inline const struct fc_graph_shape *fc_machine_graph(const struct fc_machine *machine)
{
    return machine->family == &fc_family_graph ? machine->shape : NULL;
}
static inline const struct fc_graph_shape *fc_graph(const struct fc_network *net)
{
    return fc_machine_graph(net->machine);
}

/* ---- what the readers share (graph_parts.c)
 * ------------------------------------------------------------------- */

/* Distinct names, numbered in the order of their first mention. */
struct fc_names {
    const char **name; /* [n] in the arena */
    uint32_t n, capacity, n_slots;
    uint32_t *slot; /* [n_slots] number + 1, 0 empty; power of two, at most half full */
};
/* The number of that name, added when new. Names must be printable UTF-8 of at most 255 bytes. */
enum fc_code fc_graph_names_add(struct fc_names *names, struct fc_arena *arena, const char *text, size_t length,
                                uint32_t *number, struct fc_place where, struct fc_status *st);
/* The number of that name, or FC_NONE. */
uint32_t fc_names_find(const struct fc_names *names, const char *text, size_t length);

/* One reading of a fabric file. */
struct fc_graph_reader {
    struct fc_machine *machine; /* its arena, clock and classes */
    struct fc_graph_shape *shape;
    struct fc_text text;
    struct fc_names routers, nodes;
    uint64_t *guid; /* [n_guids] of the routers in the order of their first mention; NULL: none are known */
    uint32_t n_guids;
    uint32_t capacity; /* of shape->cables */
};
enum fc_code fc_graph_add_cable(struct fc_graph_reader *reader, const struct fc_cable *cable, struct fc_status *st);
/* The class of that name, declared when new. bandwidth 0: not known, so the machine file must give it. */
enum fc_code fc_graph_class(struct fc_graph_reader *reader, const char *name, double bandwidth_bytes_per_s,
                            double latency_s, uint8_t *link_class, struct fc_place where, struct fc_status *st);
/* Numbers routers and nodes in natural order of their names and checks that every node has a cable. */
enum fc_code fc_graph_finish(struct fc_graph_reader *reader, struct fc_status *st);

/* The readers: each fills routers, nodes, cables and classes from reader->text. */
enum fc_code fc_read_ibnetdiscover(struct fc_graph_reader *reader, struct fc_status *st);
enum fc_code fc_read_slurm_topology(struct fc_graph_reader *reader, struct fc_status *st);
enum fc_code fc_read_cray_tiles(struct fc_graph_reader *reader, struct fc_status *st);
enum fc_code fc_read_edge_list(struct fc_graph_reader *reader, struct fc_status *st);
enum fc_code fc_read_kubernetes(struct fc_graph_reader *reader, struct fc_status *st);

/* ---- forwarding tables ---- */

/* Reads the tables of the files paths[n] into shape->forward, after fc_graph_finish (read_routes.c). */
enum fc_code fc_read_routes(struct fc_machine *machine, const char *const *paths, size_t n, struct fc_status *st);
/* Whether a text looks like forwarding tables: its first line that is none of blanks or comment. */
bool fc_are_routes(const struct fc_text *text);
/* The same as links of the network; FC_INPUT where they lead nowhere, or round and round, between nodes that are connected
 * (forwarding.c). O(ends x routers + nodes x ends). */
enum fc_code fc_forwarding_build(struct fc_network *net, struct fc_status *st);
