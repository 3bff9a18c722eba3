/* network.h - the network as flat arrays, and what a family is (network.c, family_*.c). */
#pragma once

#include "models/machine.h"

/* Vertices are routers 0 .. n_routers-1, then nodes (terminals) n_routers .. n_routers+n_nodes-1. Links are directed
 * and sorted by source vertex: links of vertex v are first_link[v] .. first_link[v+1]-1. Every parallel cable is a
 * link of its own. A node's links are its injection links; a router's links to nodes are ejection links; a node may
 * hang on several routers (rails). Nodes are numbered so that consecutive nodes are neighbours in the machine's
 * natural order (def mapping: rank r on core r). */
struct fc_network {
    struct fc_arena arena; /* owns the arrays */
    const struct fc_machine *machine;
    uint32_t n_routers, n_nodes, n_vertices, n_links;
    uint32_t *first_link;   /* [n_vertices + 1] */
    uint32_t *link_source;  /* [n_links] vertex */
    uint32_t *link_target;  /* [n_links] vertex */
    uint8_t *link_class;    /* [n_links] index in machine->classes */
    void *extra;            /* tables of the family, in the arena */
    uint8_t *node_kind;     /* [n_nodes] index in machine->kinds; NULL: all nodes are alike */
    uint8_t *node_slow;     /* [n_nodes] 1: one of node.slow_hosts; NULL: none is */
    const char **host_name; /* [n_nodes]; NULL: the machine, or that node, has no host name (hosts.h) */
};

/* Builds the machine's network. The machine must outlive it. FC_INPUT with the place in the machine file, FC_NO when
 * the memory does not suffice (nothing is touched before that is known). O(links). */
enum fc_code fc_network_build(const struct fc_machine *machine, struct fc_network *net, struct fc_status *st);
void fc_network_free(struct fc_network *net);
/* For build: FC_NO at the file's network: when the arrays of that many links and vertices and `more_bytes` of tables do
 * not fit 32-bit numbers or the memory. Called before anything is allocated. */
enum fc_code fc_network_fits(const struct fc_machine *machine, double n_vertices, double n_links, double more_bytes,
                             struct fc_status *st);

/* For families that build link by link: n_vertices known, links added in any order, then sealed into CSR (stable:
 * links of one vertex keep the order in which they were added). */
struct fc_link_list {
    uint32_t *source, *target;
    uint8_t *link_class;
    uint32_t n, capacity;
};
/* Arrays for `capacity` links in the arena. */
enum fc_code fc_links_start(struct fc_link_list *list, struct fc_arena *arena, uint64_t capacity, struct fc_status *st);
static inline uint32_t fc_links_add(struct fc_link_list *list, uint32_t source, uint32_t target, int link_class)
{
    list->source[list->n] = source;
    list->target[list->n] = target;
    list->link_class[list->n] = (uint8_t)link_class;
    return list->n++;
}
/* Fills net's CSR arrays from the list (net->n_routers and n_nodes set before). `place` (may be NULL) gets for each
 * added link its final number [list->n]. */
enum fc_code fc_links_seal(struct fc_network *net, const struct fc_link_list *list, uint32_t *place,
                           struct fc_status *st);

static inline uint32_t fc_node_vertex(const struct fc_network *net, uint32_t node)
{
    return net->n_routers + node;
}
static inline bool fc_is_node(const struct fc_network *net, uint32_t vertex)
{
    return vertex >= net->n_routers;
}
/* Whether the link, below n_links, leads from a router to a router. */
static inline bool fc_is_between_routers(const struct fc_network *net, uint32_t link)
{
    return !fc_is_node(net, net->link_source[link]) && !fc_is_node(net, net->link_target[link]);
}
/* Tasks that a node can hold, and by how much its computation takes longer than software: says. */
static inline long long fc_node_cores(const struct fc_network *net, uint32_t node)
{
    return net->node_kind ? net->machine->kinds.kind[net->node_kind[node]].cores : net->machine->cores_per_node;
}
static inline double fc_node_compute_scale(const struct fc_network *net, uint32_t node)
{
    return net->node_kind ? net->machine->kinds.kind[net->node_kind[node]].compute_scale : 1;
}
/* What o is longer there. */
static inline double fc_node_slow_s(const struct fc_network *net, uint32_t node)
{
    return net->node_slow && net->node_slow[node] ? net->machine->slow_overhead_s : 0;
}
/* Its ports each way, the bandwidth of one, at how many ends a fetched message that it sends crosses one; the bandwidth of the
 * messages between its own tasks together. INFINITY: no limit. */
static inline long long fc_node_ports(const struct fc_network *net, uint32_t node)
{
    return net->node_kind ? net->machine->kinds.kind[net->node_kind[node]].ports : net->machine->ports;
}
static inline double fc_node_port_bandwidth(const struct fc_network *net, uint32_t node)
{
    return net->node_kind ? net->machine->kinds.kind[net->node_kind[node]].port_bytes_per_s
                          : net->machine->port_bytes_per_s;
}
static inline long long fc_node_port_sides(const struct fc_network *net, uint32_t node)
{
    return net->node_kind ? net->machine->kinds.kind[net->node_kind[node]].port_sides : net->machine->port_sides;
}
static inline double fc_node_memory_bandwidth(const struct fc_network *net, uint32_t node)
{
    return net->node_kind ? net->machine->kinds.kind[net->node_kind[node]].memory_bytes_per_s
                          : net->machine->memory_bytes_per_s;
}
/* Injection class index (always the last of machine->classes; those of kinds of nodes stand before it). */
static inline int fc_injection_class(const struct fc_machine *machine)
{
    return machine->n_classes - 1;
}
/* The class of a node's own links where they are of class `injection` or of its kind's: as fast is one message within it. */
static inline int fc_node_injection_class(const struct fc_network *net, uint32_t node)
{
    int own = net->node_kind ? net->machine->kinds.kind[net->node_kind[node]].link_class : -1;
    return own < 0 ? fc_injection_class(net->machine) : own;
}
static inline double fc_local_s_per_byte(const struct fc_network *net, uint32_t node)
{
    return 1 / net->machine->classes[fc_node_injection_class(net, node)].bandwidth_bytes_per_s;
}
static inline double fc_link_bandwidth(const struct fc_network *net, uint32_t link)
{
    return net->machine->classes[net->link_class[link]].bandwidth_bytes_per_s;
}
/* The first link from vertex a to vertex b, or FC_NONE. O(degree of a). */
uint32_t fc_find_link(const struct fc_network *net, uint32_t a, uint32_t b);
/* Names for people: "x+ (3,0,7)->(4,0,7)", "D 12.5->40.1", "node 17 in". Returns out. */
char *fc_link_name(const struct fc_network *net, uint32_t link, char *out, size_t size);
char *fc_vertex_name(const struct fc_network *net, uint32_t vertex, char *out, size_t size);

/* Hop distance (router-to-router links of a shortest path) from a router or node vertex to every vertex by breadth
 * first search: distance[n_vertices], FC_NONE where unreachable; node links count 0. queue[n_vertices] is scratch. */
void fc_distances(const struct fc_network *net, uint32_t from, uint32_t *distance, uint32_t *queue);

/* Figures of a network. NaN where unknown. A hop is a router-to-router link; distances are those of the family's
 * minimal routing (direct on two-level networks, dimension order on tmesh), which need not be a shortest path. */
struct fc_facts {
    uint64_t n_nodes, n_routers;
    double diameter_hops;         /* greatest distance between two nodes */
    double mean_hops;             /* over all ordered pairs, a node with itself included (nk/4 of a k-ary n-cube) */
    double mean_hops_distinct;    /* over ordered pairs of distinct nodes */
    double bisection_links;       /* links of one direction across the least balanced cut */
    double bisection_bytes_per_s; /* their bandwidth, one direction */
    uint64_t class_links[FC_MAX_CLASSES]; /* directed links a class */
};
/* Closed forms where the family has them, else breadth first search from every node (O(n_nodes * n_links)). */
enum fc_code fc_network_facts(const struct fc_network *net, struct fc_facts *facts, struct fc_status *st);

/* Which rack each router stands in, with its nodes (mapping/floor_plan.h makes it); rack r is at column r % columns of row
 * r / columns. */
struct fc_floor_plan {
    uint32_t columns, rows, n_racks; /* racks that are not empty; 0: no plan */
    uint32_t *router_rack;           /* [n_routers] */
};
/* Metres of the cable that link l is one way of: rack_cable within a rack; between racks rack_slack and the way along rows
 * and columns. The plan has racks. O(1). */
double fc_cable_length_m(const struct fc_network *net, const struct fc_floor_plan *plan, uint32_t l);

/* What the network is made of and costs by its machine's `cost:` (machine_cost.c), in the machine's currency. */
struct fc_network_cost {
    double switches, ports, nodes;
    double cables[FC_MAX_CLASSES];     /* of each class; both ways are one */
    double racks, cables_m, longest_m; /* of a floor plan; NaN without one. All cables together; the longest */
    double optical;                    /* cables beyond `reach`; NaN without a floor plan */
    double switches_cost, cables_cost, nodes_cost; /* ports are with switches */
    double total;                                  /* NaN: the machine has no `cost:` */
};
/* O(links). The plan is of this network; one without racks where the machine's `cost:` has no rack_nodes. */
void fc_network_cost(const struct fc_network *net, const struct fc_floor_plan *plan, struct fc_network_cost *cost);

/* Like cells in a box, each linked to its neighbours along every dimension: a router with its nodes, or several.
 * Cell c has coordinate c / stride[d] % k[d], routers c * routers .. and nodes c * nodes ..; a step along a ring
 * takes the network into itself. */
struct fc_grid {
    int n_dims;
    uint32_t k[FC_MAX_DIMS], stride[FC_MAX_DIMS];
    bool ring[FC_MAX_DIMS];           /* else a line */
    uint32_t n_cells, routers, nodes; /* cells; of each */
};
/* A whole that is divided into equal parts of consecutive nodes, level by level from the top; the least parts have
 * leaf_nodes nodes. */
struct fc_tree {
    int n;
    struct {
        uint32_t parts; /* that a part of the level above has */
        int link_class; /* of the links between them; -1: there are none but to the nodes */
    } level[FC_MAX_LIST];
    uint32_t leaf_nodes;
};

/* A family: what generic code cannot derive. Code that is for one family alone asks its header for the shape
 * (fc_torus(net) and the like), which is NULL on networks of others; nobody compares names. */
struct fc_family_ops {
    const char *name, *usage, *source; /* "torus", keys to paste, paper and section */
    size_t shape_size;
    const struct fc_key *keys; /* keys under network:, offsets in the shape struct */
    size_t n_keys;
    const char *default_routing;
    bool takes_nodes_per_router;
    /* Checks the shape and declares the link classes in machine->classes, n_classes (without `injection`; link_names
     * tells which the file gives; a class with a default bandwidth is marked given). The files of the family are read
     * here. Afterwards links: fills the classes; a class without bandwidth is refused by the generic code. */
    enum fc_code (*check)(struct fc_machine *machine, struct fc_place where, struct fc_status *st);
    /* Counts routers, nodes, links and bytes and refuses too large, then builds the arrays. */
    enum fc_code (*build)(const struct fc_machine *machine, struct fc_network *net, struct fc_status *st);
    /* Links of class `injection` are named by the generic code. */
    void (*link_name)(const struct fc_network *net, uint32_t link, char *out, size_t size);
    void (*vertex_name)(const struct fc_network *net, uint32_t vertex, char *out, size_t size);
    /* Partition number `index` of the routers into blocks whose cuts bound throughput (slabs, sub-boxes, supernodes,
     * subtrees): label[n_routers] = block, or FC_NONE for a router in no block. Returns the number of blocks, 0 when
     * there are no more partitions. NULL: none. */
    uint32_t (*partition)(const struct fc_network *net, int index, uint32_t *label);
    /* The family's routings know the blocks of partition 0 by the links between them alone, not by their numbers. */
    bool groups_by_links;
    /* What a reader of the network's figures should know beyond them (what a fabric file left out); "" for nothing. */
    void (*note)(const struct fc_network *net, char *out, size_t size);
    /* Closed forms; sets what it knows, leaves NaN. NULL: everything by search. */
    void (*facts)(const struct fc_network *net, struct fc_facts *facts);

    /* What follows may all be left out (NULL). family_parts.h has what several families do alike. */

    /* The shape in words, as the file's keys give it, into out ("" before). NULL: the lists, numbers and choices of
     * `keys` that are not at their default, in their order. */
    void (*words)(const struct fc_machine *machine, char *out, size_t size);
    /* Makes of the copy of a machine's shape, before check(), that of relative 0, 1, ... (fc_machine_smaller); false:
     * there is none of that number. NULL: the machine has no relatives. */
    bool (*relative)(void *shape, int number);
    /* The network as a grid, or as a tree of parts; false: this one is none. NULL: never. */
    bool (*grid)(const struct fc_machine *machine, struct fc_grid *grid);
    bool (*tree)(const struct fc_machine *machine, struct fc_tree *tree);
    /* Patterns that load few of its links most, for calibrations; ends with NULL. NULL: none but `complement`. */
    const char *const *hard_patterns;
    /* Optional: a permutation of the nodes, to[n_nodes], that is hard for the family's routings, with its source
     * (pattern_adversarial.c). NULL, or false on this network: one is searched for. */
    bool (*adversarial)(const struct fc_network *net, uint32_t *to);
    /* Where links and nodes stand in pictures (link_map.h). NULL: a router a row, links in their order. */
    const struct fc_layout *layout;
    /* What the blocks of partition(index) are called: "supernodes". NULL: "blocks 1", "blocks 2", ... */
    void (*block_name)(const struct fc_network *net, int index, char *out, size_t size);
    /* Further partitions, by which tasks are divided when a mapping is bounded: as partition(), with the name of the
     * blocks. NULL: none. */
    uint32_t (*units)(const struct fc_network *net, int index, uint32_t *label, char *name, size_t size);
    /* The order in which the tasks of a job go over the nodes, where it is not the order of their numbers:
     * node[n_nodes]. False (nothing is written): it is. NULL: always. */
    bool (*order)(const struct fc_network *net, uint32_t *node);
    /* Whether the network looks the same from every router. NULL: not that it is known. */
    bool (*looks_alike)(const struct fc_network *net);
    /* Where routes leave out links whose place the machine file does not tell: what leaves which out, and by `expected`
     * what would not; "" for no such. NULL: no such. */
    const char *(*left_out)(const struct fc_network *net, const char **expected);
    /* The routing of a machine whose file names none, where its shape decides. NULL: default_routing. */
    const char *(*routing_of)(const struct fc_machine *machine);
    /* No calibration of such routers' queueing is shipped, for which the model's equations would have to stay what they were: it
     * takes those that are nearer to the kernel without one (solvers/queueing/turns.h). */
    bool queueing_by_theory;
    /* Names of the nodes as the network's own file has them, [n_nodes]. NULL: it has none. */
    const char *const *(*node_names)(const struct fc_network *net);
};

/* The routing of a machine whose file names none. */
static inline const char *fc_default_routing(const struct fc_machine *machine)
{
    const struct fc_family_ops *family = machine->family;
    return family->routing_of ? family->routing_of(machine) : family->default_routing;
}
/* The network as a grid; false: it is none. */
static inline bool fc_grid(const struct fc_network *net, struct fc_grid *grid)
{
    const struct fc_family_ops *family = net->machine->family;
    return family->grid && family->grid(net->machine, grid);
}
