/* models.h - WHAT is modelled: machine files, the network graph, families, routings, traffic, deadlock certificates.
 *
 * A machine file becomes a struct fc_machine (everything checked, base units), the machine becomes a struct fc_network
 * (flat arrays), a pattern or graph file or trace becomes a struct fc_demand (bytes between tasks). A family, a
 * routing, a virtual-channel rule and a pattern is each one file ending in one `const struct ..._ops` and one line in
 * lists.c; everything generic is derived from the arrays. Source: Dally & Towles, Principles and Practices of
 * Interconnection Networks (2004), chapters 3 to 14. */
#ifndef FC_MODELS_H
#define FC_MODELS_H

#include "core/core.h"

#include <math.h>

#define FC_MAX_DIMS 8
#define FC_MAX_CLASSES 16
#define FC_MOST_INJECTION_FIFOS 16
#define FC_MOST_INJECTION_FLITS 65535 /* that one of them holds: engines count them in 16 bits */

/* ---- machine files (machine.c) ----------------------------------------------------------------------------------- */

/* One kind of link: bandwidth of one direction of one link, latency of the wire (without router delay). */
struct fc_link_class {
    char name[24];
    double bandwidth_bytes_per_s; /* INFINITY where it is never the bottleneck */
    double latency_s;
    bool given; /* named in the machine file */
};

enum fc_flow_control { FC_CUT_THROUGH, FC_WORMHOLE };
enum fc_escape {
    FC_ESCAPE_NONE,
    FC_ESCAPE_BUBBLE,
    FC_ESCAPE_DATELINE,
    FC_ESCAPE_DIRECTION_ORDERED,
    FC_ESCAPE_BUBBLE_DIRECTION_ORDERED
};
enum fc_arbitration { FC_ROUND_ROBIN, FC_AGE, FC_RANDOM, FC_JSQ, FC_SLQ, FC_JSQ_SLQ };
extern const char *const fc_flow_control_names[], *const fc_escape_names[], *const fc_arbitration_names[];

struct fc_router {
    double delay_s; /* head flit from buffer write to link, without contention */
    int flow_control, escape, arbitration;
    double flit_bytes;
    long long vcs;       /* dynamic (adaptive) virtual channels for data; the escape channels come on top */
    double buffer_bytes; /* per virtual channel and input port */
    const char *routing; /* NULL: the family's default */
    long long paths;     /* receiver-to-sender buses per input port */
    /* Only the flit-level kernel looks at these: */
    double bypass_s;               /* the head's delay through an idle router; NaN: the delay */
    bool high_priority;            /* channels of their own for high-priority packets */
    double credit_s;               /* handling of a credit at the sender, wire apart */
    int vc_allocation;             /* when a head gets its virtual channel */
    int dateline;                  /* which packets take the channel behind the dateline */
    long long injection_fifos;     /* of a node; 0: one a virtual channel */
    int injection;                 /* which of them a packet may take */
    double injection_buffer_bytes; /* of each; 0: as buffer_bytes */
    double slq_percent; /* arbitration slq: share of decisions that serve the longest queue; the rest are random */
    double in_network_percent;  /* share of decisions in which packets in the network go before injected ones */
    int multicast;              /* enum fc_multicast_kind */
    long long multicast_window; /* tree: packets of a sender that may wait for acknowledgements */
};
enum fc_vc_allocation { FC_VC_COMBINED, FC_VC_STAGE };       /* with the switch, or a pipeline stage before it */
enum fc_dateline { FC_DATELINE_CROSSED, FC_DATELINE_ENTRY }; /* from the dateline on; all the way in that dimension */
/* Any; those of the directions in which the packet may leave first; one drawn for the packet. */
enum fc_injection { FC_INJECTION_ANY, FC_INJECTION_DIRECTION, FC_INJECTION_RANDOM };
extern const char *const fc_vc_allocation_names[], *const fc_dateline_names[], *const fc_injection_names[];
/* What the routers copy: nothing; a packet along a line, one copy at every node it passes (Blue Gene/L); a
 * packet down a tree, onto all links that lead to its range of nodes, with combined acknowledgements (QsNET).
 * multicast.c */
enum fc_multicast_kind { FC_MULTICAST_NONE, FC_MULTICAST_DEPOSIT, FC_MULTICAST_TREE };
extern const char *const fc_multicast_names[];

/* Wire bytes of a message: every packet carries at most max - header payload bytes and occupies its own length, rounded
 * up to flits, plus the trailer. All zero: the wire carries exactly the payload. */
struct fc_packet {
    double min_bytes, max_bytes, header_bytes, trailer_bytes;
};

/* LogGOPS of the end points (Hoefler et al., HPDC'10). */
struct fc_software {
    double send_s, recv_s; /* o at the sender and the receiver */
    double gap_s;          /* g: least time between two messages of a task */
    double eager_bytes;    /* S: longer messages use rendezvous */
    double compute_scale;  /* recorded computation times are multiplied by it */
    double per_byte_s;     /* O: CPU time a byte */
    /* Beyond LogGOPS, at each end of a message: */
    double copy_per_byte_s;   /* an eager one is copied through buffers */
    double rendezvous_s;      /* a longer one is announced, its memory registered */
    double reduce_per_byte_s; /* CPU time of a reduction, a byte taken in */
};

/* The network interface (section `nic:`, nic_keys.c; models in solvers/nic/nic.h). 0: left out. */
struct fc_nic {
    long line;                                /* of the section; 0: the file has none */
    double put_s;                             /* end points of a put, the network apart */
    double gap_s, per_byte_s;                 /* g and G of one process */
    double block_start_s;                     /* block transfer: more than a put */
    double clock_hz, unit_bytes, unit_cycles; /* a transaction of at most unit_bytes takes unit_cycles of clock_hz */
    double host_bytes_per_s, host_efficiency; /* host bus, one direction */
    double host_header_bytes, block_header_bytes; /* there, beside each unit: puts; block transfers both ways */
    long long ports;                              /* of the router, for all its nodes together */
    double port_cycles;                           /* of the machine's clock, for a unit on one of them */
    long long put_flits, ack_flits, get_flits, reply_flits; /* beside the data; ack: all of it; get: the request */
    long long data_flits;                                   /* of each 8 bytes */
    double amo_hit_cycles, amo_miss_cycles;                 /* of clock_hz */
    long long amo_lines;                                    /* variables in the cache */
    double barrier_s, event_s, tree_s;                      /* the network apart */
    long long tree_arity;
    double broadcast_s, broadcast_event_s, acknowledge_s;
    double noise_percent, noise_s; /* operations that the system of one node holds up; mean time */
    long long dma_queue;           /* background transfers under way in each node, */
    double dma_slice_bytes;        /* served in turns of so many bytes */
};

/* How a node takes packets in; only the flit-level kernel looks at it. */
struct fc_reception {
    double bytes;                /* of each queue; 0: endless, and everything is taken in at once */
    long long queues;            /* of each ejection link */
    double packet_s, per_byte_s; /* time that the node is busy with a packet */
};

struct fc_family_ops;
struct fc_layout;
struct fc_routing_ops;
struct fc_network;
struct fc_demand;

struct fc_machine {
    struct fc_arena arena; /* owns everything below */
    const char *file;      /* as the user named it */
    const char *changes;   /* what --set changed in it; NULL: nothing */
    const char *name, *title, *source, *confidence;
    double clock_hz; /* 0: none given, `cycles` not available */
    const struct fc_family_ops *family;
    void *shape;       /* the family's own settings, struct defined in its file's head or family_*.h */
    long network_line; /* line of `network:`, for errors found later */
    long long nodes_per_router;
    const char *link_names[FC_MAX_CLASSES]; /* class names found under links:, before check() declares its classes */
    int n_link_names;
    struct fc_link_class classes[FC_MAX_CLASSES]; /* the family's classes in its order, then `injection` last */
    int n_classes;
    struct fc_router router;
    struct fc_packet packet;
    long long cores_per_node;
    long long ports;         /* of a node, each way: a message is put or fetched through one, */
    double port_bytes_per_s; /* which is no faster than this; INFINITY: ports are no limit */
    struct fc_reception reception;
    struct fc_software software;
    struct fc_nic nic;
    const struct fc_routing_ops *routing; /* router.routing, or the family's default */
    const char *hosts, *hosts_file;       /* names of its nodes, as the file gives them; NULL: not given */
    long hosts_line;
};

/* Reads and checks one machine: a path (contains '/' or ends in .yaml), or the name of a shipped machine. Refuses
 * unknown keys, wrong types, units and ranges with file:line. The machine owns all; free with fc_machine_free. */
enum fc_code fc_machine_load(const char *name_or_path, struct fc_machine *machine, struct fc_status *st);
/* The same with keys of the file changed or added: "links.torus.bandwidth=350MB/s", "network.dims=[8, 8, 4]"; a refusal
 * names the setting. */
enum fc_code fc_machine_load_changed(const char *name_or_path, const char *const *settings, size_t n_settings,
                                     struct fc_machine *machine, struct fc_status *st);
/* The same of a text in memory; its file is the name in messages, and where names in it are relative to. */
enum fc_code fc_machine_read(const struct fc_text *text, struct fc_machine *machine, struct fc_status *st);
void fc_machine_free(struct fc_machine *machine);
/* Changes the routing (name checked against the family; FC_INPUT names those it can). NULL keeps it. */
enum fc_code fc_machine_route(struct fc_machine *machine, const char *routing, struct fc_status *st);
/* Directory of shipped machine files: $FABRICAST_DATA/machines, the source tree's or the installed one. */
const char *fc_machines_directory(char *out, size_t size);
/* Names of the shipped machines, sorted; owned by the arena. */
enum fc_code fc_machine_names(struct fc_arena *arena, const char ***names, size_t *n, struct fc_status *st);
/* Wire bytes of one message of `bytes` payload bytes (0 bytes still sends one packet). */
double fc_wire_bytes(const struct fc_machine *machine, double bytes);
/* The shape in words, as the file's keys give it: "dims [8, 8, 8]". Machines of one kind of router with equal words are
 * the same network. Returns out. */
char *fc_machine_shape(const struct fc_machine *machine, char *out, size_t size);
/* Relative number 0, 1, ... of a machine: same routers, links and packets in another shape, which may be that of the
 * machine or of another number (machine_smaller.c). *exists false: no more. It borrows from the machine, which must
 * outlive it; free with fc_machine_free. */
enum fc_code fc_machine_smaller(const struct fc_machine *machine, int number, struct fc_machine *smaller, bool *exists,
                                struct fc_status *st);
/* Cores of the machine that can hold a task: nodes x cores per node. */
uint64_t fc_machine_cores(const struct fc_network *net);
/* Whether the family has what router.multicast asks for. FC_INPUT: a message that begins with the key
 * (multicast.c). */
enum fc_code fc_multicast_check(const struct fc_machine *machine, struct fc_status *st);

/* A message is held to the bandwidth of one port of its sender. */
static inline bool fc_has_ports(const struct fc_machine *machine)
{
    return machine->port_bytes_per_s < INFINITY;
}

/* All values of x[n] are the same. */
static inline bool fc_all_equal(const double *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (x[i] != x[0]) return false;
    return true;
}

/* ---- the network: CSR arrays (network.c) -------------------------------------------------------------------------- */

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
/* Injection class index (always the last of machine->classes). */
static inline int fc_injection_class(const struct fc_machine *machine)
{
    return machine->n_classes - 1;
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
    /* What a reader of the network's figures should know beyond them (what a fabric file left out); "" for nothing. */
    void (*note)(const struct fc_network *net, char *out, size_t size);
    /* Closed forms; sets what it knows, leaves NaN. NULL: everything by search. */
    void (*facts)(const struct fc_network *net, struct fc_facts *facts);

    /* What follows may all be left out (NULL). family_parts.h has what several families do alike. */

    /* The shape in words, as the file's keys give it, into out ("" before). NULL: the lists, numbers and choices of
     * `keys` that are not at their default, in their order. */
    void (*words)(const struct fc_machine *machine, char *out, size_t size);
    /* Makes of the copy of a machine's shape, before check(), that of relative 0, 1, ... (fc_machine_smaller); false:
     * there are no more. NULL: the machine has no relatives. */
    bool (*relative)(void *shape, int number);
    /* The network as a grid, or as a tree of parts; false: this one is none. NULL: never. */
    bool (*grid)(const struct fc_machine *machine, struct fc_grid *grid);
    bool (*tree)(const struct fc_machine *machine, struct fc_tree *tree);
    /* Patterns that load few of its links most, for calibrations; ends with NULL. NULL: none but `complement`. */
    const char *const *hard_patterns;
    /* Where links and nodes stand in pictures (link_map.h). NULL: a router a row, links in their order. */
    const struct fc_layout *layout;
    /* What the blocks of partition(index) are called: "supernodes". NULL: "blocks 1", "blocks 2", ... */
    void (*block_name)(const struct fc_network *net, int index, char *out, size_t size);
    /* Further partitions, by which tasks are divided when a mapping is bounded: as partition(), with the name of the
     * blocks. NULL: none. */
    uint32_t (*units)(const struct fc_network *net, int index, uint32_t *label, char *name, size_t size);
    /* Whether the network looks the same from every router. NULL: not that it is known. */
    bool (*looks_alike)(const struct fc_network *net);
    /* Where routes leave out links whose place the machine file does not tell: what leaves which out, and by `expected`
     * what would not; "" for no such. NULL: no such. */
    const char *(*left_out)(const struct fc_network *net, const char **expected);
    /* Names of the nodes as the network's own file has them, [n_nodes]. NULL: it has none. */
    const char *const *(*node_names)(const struct fc_network *net);
};

/* The network as a grid; false: it is none. */
static inline bool fc_grid(const struct fc_network *net, struct fc_grid *grid)
{
    const struct fc_family_ops *family = net->machine->family;
    return family->grid && family->grid(net->machine, grid);
}

/* ---- routing (routing_*.c, one a file) ------------------------------------------------------------------------------ */

/* The weighted links that a unit of traffic from one node to another crosses, injection and ejection included. For a
 * route that is one path: the links in order, weights 1. For a split: each link with the share that crosses it, links
 * in an order such that a link comes after those that feed it; a link may appear more than once. */
struct fc_walk {
    uint32_t *link; /* [n] */
    double *weight; /* [n] */
    uint32_t n, capacity;
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
    bool detours; /* messages of one pair may go by ways of different length */
    int phases;   /* 2: to a router in between, then on; each phase has its channels. 0: one */
    /* Links between blocks of the family's first partition that a byte which leaves its block crosses at least, where
     * there are three blocks or more. 0: one. */
    int block_crossings;
    /* The family's routing of one fixed order of dimensions, which each phase of this one keeps to, and its escapes
     * and packets of high priority; itself where it is that. NULL: none. */
    const struct fc_routing_ops *ordered;
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

/* ---- demand: bytes between tasks (demand.c, pattern_*.c, graph files) ------------------------------------------------ */

/* Bytes that tasks send each other in one phase. Sparse entries in source-major order, plus dense parts a[s]*b[d]
 * (s != d) that are never expanded. Arrays are owned by the arena. */
/* One message to several tasks that routers of the machine's kind copy on the way. */
struct fc_multicast {
    uint32_t src, n_targets;
    uint32_t *target;       /* [n_targets] tasks; deposit: in the order of the line; tree: on adjacent nodes (the
                               sender may be among them: it gets a copy too) */
    double bytes;           /* payload */
    uint8_t dim, direction; /* deposit: the line; direction 0 +, 1 - */
};
struct fc_demand {
    struct fc_arena arena;
    const char *name; /* what it is, for people */
    uint32_t n_tasks;
    size_t n_entries;
    uint32_t *src, *dst; /* [n_entries] tasks, src-major; duplicates allowed, src == dst allowed (stays in the task) */
    double *bytes;       /* [n_entries] payload bytes */
    double *messages;    /* [n_entries] number of messages those bytes come in */
    int n_dense;
    struct fc_dense {
        double *a, *b;        /* [n_tasks] bytes from s to d = a[s] * b[d], s != d */
        double message_bytes; /* payload of one message of this part */
    } dense[4];
    bool open_loop; /* bytes are relative rates only (uniform, hotregion...), not a message */
    int n_grid;     /* stencil patterns: the task grid, slowest dimension first; else 0 */
    long long grid[FC_MAX_DIMS];
    double computation_s; /* per task in this phase, 0 unless given */
    /* The same messages once more, as routers that copy packets are given them (router.multicast); the
     * entries are how software passes them on. The flit-level kernel sends these instead; everything else
     * sees the entries. */
    size_t n_multicasts;
    struct fc_multicast *multicasts; /* [n_multicasts] src-major */
};
void fc_demand_free(struct fc_demand *demand);

/* A traffic pattern: one file, one record. */
struct fc_pattern_ops {
    const char *name, *help, *source;
    const struct fc_key *keys;
    size_t n_keys, settings_size;
    /* Fills demand (n_tasks, entries or dense parts) for this machine. */
    enum fc_code (*make)(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st);
};
/* "name[:key=value,...]" for this network. Patterns over nodes place one task a node; stencils and multicast one a
 * core. FC_INPUT names the valid patterns or keys. */
enum fc_code fc_demand_from_pattern(const struct fc_network *net, const char *text, uint64_t seed,
                                    struct fc_demand *demand, struct fc_status *st);
/* A communication graph in one of the formats of fc_graph_formats: a file, perhaps compressed (.gz, .xz, .zst), or for Open
 * MPI's monitoring also the folder of its files. The format is told by the content (dense also by a name NAME.mat). */
enum fc_code fc_demand_from_graph(const char *path, struct fc_demand *demand, struct fc_status *st);
/* bytes[i] from task src[i] to dst[i], i < n, one message each, copied; FC_INPUT names the entry that is none. The caller
 * frees the demand, also after a failure. O(n). */
enum fc_code fc_demand_of_pairs(const char *name, uint32_t n_tasks, size_t n, const uint32_t *src, const uint32_t *dst,
                                const double *bytes, struct fc_demand *demand, struct fc_status *st);
extern const struct fc_graph_format *const fc_graph_formats[]; /* ends with NULL (demand_build.h) */
/* Sum of payload bytes between distinct tasks. */
double fc_demand_bytes(const struct fc_demand *demand);

/* ---- deadlock certificate (deadlock.c, vc_*.c) ------------------------------------------------------------------------ */

/* A channel is (link, virtual channel): id = link * n_vcs + vc. The channel dependency graph (Dally & Seitz 1987) has an
 * arc from every channel that a packet may hold to every channel that it may wait for. Vertices behind the channels are
 * hubs: a path from channel to channel through hubs is one dependency, so that "all of these wait for all of those"
 * costs in + out arcs. Built by the helpers of cdg.h. */
struct fc_cdg {
    struct fc_arena arena;
    const struct fc_network *net;
    int n_vcs;
    uint64_t n_channels;
    uint64_t n_vertices; /* channels, then hubs */
    uint64_t n_arcs;
    uint64_t *first; /* [n_vertices + 1] arcs of vertex v: to[first[v]] .. to[first[v+1] - 1], sorted and unique */
    uint32_t *to;    /* [n_arcs] */
    int pass;        /* of building, see cdg.h */
    void *kept;      /* what the rule found in one pass for the next, in the arena */
    bool extended;   /* the channels are escape channels, the arcs also what adaptive hops between them bring (Duato) */
};
struct fc_certificate {
    struct fc_arena arena;
    const char *policy;   /* "dateline", "bubble", "six-vc", ... */
    const char *argument; /* why it is safe, or why not, one or two sentences for people */
    bool safe;
    bool acyclic; /* safe by an acyclic graph; else safe by the escape's invariant */
    uint64_t n_channels, n_arcs, n_used_channels;
    uint32_t *order;  /* acyclic: topological number of each channel [n_channels]; else NULL */
    uint32_t n_cycle; /* unsafe: the channels of one cycle, in order */
    uint32_t *cycle;
    int n_vcs;
    int data_vcs; /* of them the rule takes so many from router.vcs; those of escapes come on top of it */
    bool enough;  /* router.vcs has them: a machine is free of deadlock where it is safe and has enough */
};
/* A rule that tells which virtual channel a packet takes: one file, one record. */
struct fc_vc_rule_ops {
    const char *name, *help, *source;
    const char *const *families;
    const struct fc_routing_ops *const *routings; /* whose dependencies it knows; ends with NULL. NULL: any */
    const char *argument; /* why its graph has no cycle, in words; NULL: nothing but the check itself says so */
    /* Whether a machine of these families is run under this rule when none is named. */
    bool (*chosen)(const struct fc_machine *machine);
    /* Virtual channels a link for this network under this rule. */
    int (*vcs)(const struct fc_network *net);
    /* How many of router.vcs a link must have for it. NULL: no more than any machine has. */
    int (*data_vcs)(const struct fc_network *net);
    /* Adds every dependency of the machine's routing under this rule. Pure: called once a pass. */
    enum fc_code (*dependencies)(const struct fc_network *net, struct fc_cdg *cdg, struct fc_status *st);
    /* Whether the rule is safe on this machine whatever its graph (bubble: a cyclic one; layers: acyclic as they are
     * made), and why or why not in words with the machine's figures. NULL: safe only when the graph is acyclic. */
    bool (*invariant)(const struct fc_network *net, char *words, size_t size);
};
/* Certifies the machine's routing under the named rule (NULL: the machine's escape, or the family's default). The
 * caller frees with fc_certificate_free. FC_INPUT: rule unknown or not for this family. A cycle is an answer
 * (certificate->safe false), not a failure, and so are too few channels (certificate->enough false; the kernel refuses
 * such a machine). */
enum fc_code fc_certify(const struct fc_network *net, const char *rule, struct fc_certificate *certificate,
                        struct fc_status *st);
void fc_certificate_free(struct fc_certificate *certificate);
/* "x+ (3,0,7)->(4,0,7) vc 1". Returns out. */
char *fc_channel_name(const struct fc_network *net, uint32_t channel, int n_vcs, char *out, size_t size);

/* ---- the lists (lists.c): one line a family, routing, virtual-channel rule, pattern ----------------------------------- */
extern const struct fc_family_ops *const fc_families[];  /* NULL-terminated */
extern const struct fc_routing_ops *const fc_routings[]; /* NULL-terminated */
extern const struct fc_vc_rule_ops *const fc_vc_rules[]; /* NULL-terminated */
extern const struct fc_pattern_ops *const fc_patterns[]; /* NULL-terminated */

#endif
