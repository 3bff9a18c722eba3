/* family_dragonfly_plus.h - shape and index arithmetic of networks of unequal cells: dragonfly+ and dragonfly. */
#pragma once

#include "models/models.h"

/* Most switches of a cell that host global links, for tables on the stack. */
#define FC_PLUS_MOST_HOSTS 1024

/* A cell: n_leaves leaf switches, then n_spines spine switches, from router first_router on. With spines every leaf is
 * linked to every spine, and spines host the global links (dragonfly+); without, the leaves are linked all to all and
 * host them (dragonfly). */
struct fc_plus_cell {
    uint32_t first_router, n_leaves, n_spines;
    uint32_t first_block, n_blocks;
    uint32_t kind;
};
/* Nodes that hang on the same `rails` leaf switches, from router first_leaf on, each by `cables` links to each. */
struct fc_plus_block {
    uint32_t cell, first_leaf, rails, cables, first_node, n_nodes;
};
/* Links of a leaf: local (by leaf) or up (by spine), global (by peer cell, cable), ejection (by node, cable); of a spine:
 * down (by leaf), global; of a node: rail, cable. */
struct fc_plus_shape {
    struct fc_ints cells, leaves, spines, nodes_per_cell, rails, node_links; /* as in the file, by kind of cell */
    struct fc_ints links_by_kind; /* of cells of kind 0 with 0, 1, ..., of 1 with 1, ...; none: links_per_pair */
    long long links_per_pair;
    const char *leaf_nodes;
    /* Derived by check, arrays in the machine's arena: */
    uint32_t n_cells, n_blocks, n_routers, n_nodes, pair_links, least_links; /* pair_links: of the pair with most */
    struct fc_plus_cell *cell;                                               /* [n_cells] */
    struct fc_plus_block *block;                                             /* [n_blocks] */
    uint32_t *router_cell;                                                   /* [n_routers] */
    uint32_t *router_block;                                                  /* [n_routers]; FC_NONE: a spine */
    uint32_t *node_block;                                                    /* [n_nodes] */
    double n_links;
    int local_class, spine_class, global_class; /* -1: there are none */
};
/* net->extra: */
struct fc_plus_tables {
    uint32_t
        *global; /* [n_cells][n_cells][pair_links] global link from a cell to another; FC_NONE where there is none */
};
extern const struct fc_family_ops fc_family_dragonfly_plus;
extern const struct fc_routing_ops fc_routing_plus_direct, fc_routing_plus_indirect, fc_routing_plus_ugal;
/* The shape; NULL: the machine is of another family. */
static inline const struct fc_plus_shape *fc_machine_plus(const struct fc_machine *machine)
{
    return machine->family == &fc_family_dragonfly_plus ? machine->shape : NULL;
}
static inline const struct fc_plus_shape *fc_plus(const struct fc_network *net)
{
    return fc_machine_plus(net->machine);
}
/* Switches of a cell that host global links, and the router of host h. */
static inline uint32_t fc_plus_hosts(const struct fc_plus_cell *cell)
{
    return cell->n_spines ? cell->n_spines : cell->n_leaves;
}
static inline uint32_t fc_plus_host_router(const struct fc_plus_cell *cell, uint32_t h)
{
    return cell->first_router + (cell->n_spines ? cell->n_leaves : 0) + h;
}
/* Links between two kinds of cells, and between two cells. */
static inline uint32_t fc_plus_kind_links(const struct fc_plus_shape *s, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a, kinds = (uint32_t)s->cells.n;
    return (uint32_t)(s->links_by_kind.n ? s->links_by_kind.v[low * (2 * kinds - low + 1) / 2 + high - low]
                                         : s->links_per_pair);
}
static inline uint32_t fc_plus_cables(const struct fc_plus_shape *s, uint32_t cell, uint32_t to)
{
    return s->links_by_kind.n ? fc_plus_kind_links(s, s->cell[cell].kind, s->cell[to].kind) : s->pair_links;
}
/* The host in cell s of cable c to cell t: an even spread over its hosts. */
static inline uint32_t fc_plus_host(const struct fc_plus_shape *s, uint32_t cell, uint32_t to, uint32_t cable)
{
    return (uint32_t)(((uint64_t)to * s->pair_links + cable) % fc_plus_hosts(&s->cell[cell]));
}
/* Global link from cell s to t (s != t). */
static inline uint32_t fc_plus_global(const struct fc_network *net, uint32_t s, uint32_t t, uint32_t cable)
{
    const struct fc_plus_shape *shape = net->machine->shape;
    const struct fc_plus_tables *tables = net->extra;
    return tables->global[((uint64_t)s * shape->n_cells + t) * shape->pair_links + cable];
}
/* First cable from host h of cell s to cell t that is its own; the others follow every fc_plus_hosts. May be >= fc_plus_cables:
 * the host has none. */
static inline uint32_t fc_plus_own_cable(const struct fc_plus_shape *s, uint32_t cell, uint32_t h, uint32_t to)
{
    uint64_t hosts = fc_plus_hosts(&s->cell[cell]);
    return (uint32_t)((h + hosts - (uint64_t)to * s->pair_links % hosts) % hosts);
}
/* Of a cell without spines: the link from leaf a to leaf b (a != b). */
static inline uint32_t fc_plus_local(const struct fc_network *net, const struct fc_plus_cell *cell, uint32_t a,
                                     uint32_t b)
{
    return net->first_link[cell->first_router + a] + (b < a ? b : b - 1);
}
/* Of a cell with spines: up from a leaf, down to it. */
static inline uint32_t fc_plus_up(const struct fc_network *net, const struct fc_plus_cell *cell, uint32_t leaf,
                                  uint32_t spine)
{
    return net->first_link[cell->first_router + leaf] + spine;
}
static inline uint32_t fc_plus_down(const struct fc_network *net, const struct fc_plus_cell *cell, uint32_t spine,
                                    uint32_t leaf)
{
    return net->first_link[cell->first_router + cell->n_leaves + spine] + leaf;
}
/* First of a node's links to, and from, its leaf switch on a rail; `cables` of them. */
static inline uint32_t fc_plus_injection(const struct fc_network *net, const struct fc_plus_block *b, uint32_t node,
                                         uint32_t rail)
{
    return net->first_link[net->n_routers + node] + rail * b->cables;
}
static inline uint32_t fc_plus_ejection(const struct fc_network *net, const struct fc_plus_block *b, uint32_t node,
                                        uint32_t rail)
{
    return net->first_link[b->first_leaf + rail + 1] - (b->n_nodes - (node - b->first_node)) * b->cables;
}
