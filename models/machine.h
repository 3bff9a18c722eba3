/* machine.h - a machine file as read and checked: links, router, packets, end points (machine.c). */
#pragma once

#include "core/core.h"

#include <math.h>

#define FC_MAX_DIMS 8
#define FC_MAX_CLASSES 16
#define FC_MOST_INJECTION_FIFOS 16
#define FC_MOST_INJECTION_FLITS 65535 /* that one of them holds: engines count them in 16 bits */

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
    FC_ESCAPE_BUBBLE_DIRECTION_ORDERED,
    FC_ESCAPE_HOPS, /* the last three: graphs */
    FC_ESCAPE_LAYERS,
    FC_ESCAPE_UPDOWN
};
enum fc_arbitration { FC_ROUND_ROBIN, FC_AGE, FC_RANDOM, FC_JSQ, FC_SLQ, FC_JSQ_SLQ };
extern const char *const fc_flow_control_names[], *const fc_escape_names[], *const fc_arbitration_names[];

/* The rule of UGAL (router.ugal): a packet goes directly where
 *     q_direct <= weight * q_indirect + threshold,
 * q the flits that the source's router counts for the first link of the route. */
enum fc_ugal_queue { FC_UGAL_LOCAL, FC_UGAL_CREDITS, FC_UGAL_BOTH };
/* Where an indirect route of a two-level network leads: through a supernode, or to a router drawn in it. */
enum fc_ugal_via { FC_UGAL_SUPERNODE, FC_UGAL_ROUTER };
extern const char *const fc_ugal_queue_names[], *const fc_ugal_via_names[];
struct fc_ugal {
    double threshold_flits; /* NaN: left out; see fc_ugal_threshold_flits */
    long long weight;       /* of the indirect route's queue */
    int queue;              /* enum fc_ugal_queue: what is counted */
    int via;                /* enum fc_ugal_via */
    long line;              /* of the section; 0: the file has none */
};

struct fc_router {
    double delay_s; /* head flit from buffer write to link, without contention */
    int flow_control, escape, arbitration;
    double flit_bytes;
    long long vcs;       /* dynamic (adaptive) virtual channels for data; the escape channels come on top */
    double buffer_bytes; /* per virtual channel and input port */
    bool vcs_given;      /* the file says it */
    bool buffer_given;   /* the file says it; else what is needed, at least the key's default */
    const char *routing; /* NULL: the family's default */
    long long paths;     /* receiver-to-sender buses per input port */
    int queues;          /* where packets wait; what is at outputs only replays know */
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
    struct fc_ugal ugal;
};
/* Behind others that go elsewhere (head-of-line blocking), or for their own output alone. */
enum fc_queues { FC_QUEUES_INPUT, FC_QUEUES_OUTPUT };
extern const char *const fc_queues_names[];
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
    double call_s;            /* of a collective call, besides its messages */
    double own_per_byte_s;    /* of a member's own block, which an allgather copies to where the others' come */
    double inline_bytes;      /* up to this a message goes with its request; */
    double eager_start_s;     /* a longer eager one is so much later: the interface fetches it; no CPU time */
    double rendezvous_s;      /* a longer one than eager is announced, its memory registered */
    double local_s;           /* of a message between tasks of one node, instead of o; 0: as send_s, recv_s */
    double reduce_per_byte_s; /* CPU time of a reduction, a byte taken in, */
    double cache_bytes;       /* of vectors up to this; of longer ones, which come from memory: */
    double reduce_memory_per_byte_s;
    double fresh_per_byte_s;         /* of memory that a call takes anew (fc_fresh_s), */
    double fresh_local_per_byte_s;   /* and of what comes from such memory of another task of the node */
    double pack_s, pack_per_block_s; /* a message of blocks that lie apart, both ends together: it; each of them */
    /* Long eager buffers are kept for this many partners of a task (0: all), between others messages are eager up to
     * eager_beyond_bytes. */
    long long eager_partners;
    double eager_beyond_bytes;
};

/* The network interface (section `nic:`, nic_keys.c; models in solvers/nic/nic.h). 0: left out. */
struct fc_nic {
    long line;                                /* of the section; 0: the file has none */
    double put_s;                             /* end points of a put, the network apart */
    double gap_s, per_byte_s;                 /* g and G of one process */
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

/* Which of its node's ports a message has: the next in turn, or its task's own. */
enum fc_port_of { FC_PORT_OF_MESSAGE, FC_PORT_OF_TASK };
extern const char *const fc_port_of_names[];

/* How a node takes packets in; only the flit-level kernel looks at it. */
struct fc_reception {
    double bytes;                /* of each queue; 0: endless, and everything is taken in at once */
    long long queues;            /* of each ejection link */
    double packet_s, per_byte_s; /* time that the node is busy with a packet */
};

/* Collectives that were measured on the machine itself (section `measured:`, machine_measured.c). */
struct fc_measured_case {
    const char *collective;
    double nodes, ranks_per_node, bytes; /* of the vector */
    double ratio;                        /* measured over predicted time */
};
struct fc_measured_cases {
    const char *source; /* NULL: the file has no such section */
    double widen;       /* stated errors are so many times as wide as the cases say */
    uint32_t n;
    struct fc_measured_case *cases; /* [n] */
};

/* What the machine costs (section `cost:`, machine_cost.c), all in one currency of the reader's. */
struct fc_cost {
    long line;                             /* of the section; 0: the file has none */
    const char *currency;                  /* a word; "": not named */
    double per_switch, per_port, per_node; /* a port: of a switch, one for each cable that ends at it */
    double per_cable, per_metre; /* of classes that have no price of their own; per_metre: with a floor plan */
    double per_node_cable;       /* of those to nodes; NaN: as the others */
    double per_optical, per_optical_metre; /* the same of cables longer than reach_m; both 0: no cable is optical */
    double reach_m;
    long long rack_nodes, rack_switches; /* that a rack holds; the latter without nodes. rack_nodes 0: no floor plan */
    double rack_width_m, rack_depth_m;   /* from rack to rack along a row, and from row to row */
    double rack_cable_m, rack_slack_m;   /* a cable within a rack; of one between racks what is not on the way */
    double class_cable[FC_MAX_CLASSES];  /* NaN: as per_cable */
};

/* Nodes that differ from others (`node:` as a list, node_kinds.c). */
struct fc_node_kind {
    const char *hosts; /* as the file gives them; NULL: all nodes that no other kind has */
    long line;
    long long cores;
    double compute_scale;         /* beside that of software: */
    double injection_bytes_per_s; /* 0: as links.injection */
    int link_class;               /* of its nodes' links where it has its own injection; else -1 */
    long long ports, port_sides;  /* as those of struct fc_machine; sides: where one of its nodes sends */
    double port_bytes_per_s, memory_bytes_per_s; /* INFINITY: no limit */
};
struct fc_node_kinds {
    uint32_t n; /* 0: all nodes are alike */
    struct fc_node_kind *kind;
    const uint8_t *of_node; /* [n_nodes] of what is left of a machine; NULL: by hosts */
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
    struct fc_node_kinds kinds;
    long long cores_per_node; /* where nodes differ, of those with the most */
    /* Where nodes differ, the next four are those of the kind that has most of each (network.h has a node's). */
    long long ports;           /* of a node, each way: a message is put or fetched through one, */
    double port_bytes_per_s;   /* which is no faster than this; INFINITY: ports are no limit */
    int port_of;               /* enum fc_port_of */
    long long port_sides;      /* one that is fetched: through the receiver's (1), or the sender's too (2) */
    double memory_bytes_per_s; /* of all messages between tasks of one node together; INFINITY: no limit */
    /* Both ways between two nodes together, of messages beyond the first exchange_beyond_bytes under way; INFINITY: no limit */
    double exchange_bytes_per_s, exchange_beyond_bytes;
    /* Nodes known to be slow, as --nodes names them (NULL: none), and by how much o is longer there, at each end of a message */
    const char *slow_hosts;
    long slow_line; /* of the section that names them */
    double slow_overhead_s;
    const uint8_t *slow_of_node; /* [n_nodes] of what is left of a machine: 1 where slow; NULL: by slow_hosts */
    struct fc_reception reception;
    struct fc_software software;
    struct fc_nic nic;
    struct fc_measured_cases measured;
    struct fc_cost cost;
    const struct fc_routing_ops *routing; /* router.routing, or the family's default */
    const char *failed; /* links, routers, nodes that are out of order (machine_without.h); NULL: none */
    long failed_line;
    bool damaged;                   /* it is what such losses left of another */
    const char *hosts, *hosts_file; /* names of its nodes, as the file gives them; NULL: not given */
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
/* FC_INPUT where packets wait at outputs (router.queues); `who` knows inputs only: "the queueing model's routers queue". */
enum fc_code fc_check_input_queues(const struct fc_machine *machine, const char *who, struct fc_status *st);
/* Writes the machine file with keys changed, whole, comments left out (machine_save.c). `heading`: lines of comment that it
 * begins with, each "# ...\n"; NULL: none. */
enum fc_code fc_machine_save(const char *name_or_path, const char *const *settings, size_t n_settings,
                             const char *heading, const char *path, struct fc_status *st);
/* Changes the routing (name checked against the family; FC_INPUT names those it can). NULL keeps it. */
enum fc_code fc_machine_route(struct fc_machine *machine, const char *routing, struct fc_status *st);
/* Directory of shipped machine files: $FABRICAST_DATA/machines, the source tree's or the installed one. */
const char *fc_machines_directory(char *out, size_t size);
/* Names of the shipped machines, sorted; owned by the arena. */
enum fc_code fc_machine_names(struct fc_arena *arena, const char ***names, size_t *n, struct fc_status *st);
/* router.buffer that lets one virtual channel fill every link, bytes in whole flits (machine_buffer.c). */
double fc_buffer_needed_bytes(const struct fc_machine *machine);
/* Wire bytes of one message of `bytes` payload bytes (0 bytes still sends one packet). */
double fc_wire_bytes(const struct fc_machine *machine, double bytes);
/* The shape in words, as the file's keys give it: "dims [8, 8, 8]". Machines of one kind of router with equal words are
 * the same network. Returns out. */
char *fc_machine_shape(const struct fc_machine *machine, char *out, size_t size);
/* From this number on relatives are as small as can be: for machines of which no others can be run. */
enum { FC_SMALLEST_RELATIVE = 8 };
/* Relative number 0, 1, ... of a machine: same routers, links and packets in another shape, which may be that of the
 * machine or of another number (machine_smaller.c). *exists false: there is none of that number. It borrows from the machine, which must
 * outlive it; free with fc_machine_free. */
enum fc_code fc_machine_smaller(const struct fc_machine *machine, int number, struct fc_machine *smaller, bool *exists,
                                struct fc_status *st);
/* Cores of the machine that can hold a task: nodes x cores per node. */
uint64_t fc_machine_cores(const struct fc_network *net);
/* router.ugal's threshold, its default where the file gives none (machine_ugal.c). */
double fc_ugal_threshold_flits(const struct fc_machine *machine);
/* Whether the family has what router.multicast asks for. FC_INPUT: a message that begins with the key
 * (multicast.c). */
enum fc_code fc_multicast_check(const struct fc_machine *machine, struct fc_status *st);

/* A message is held to the bandwidth of one port: of its sender, or of its receiver (transit_contention.c). */
static inline bool fc_has_ports(const struct fc_machine *machine)
{
    for (uint32_t k = 0; k < machine->kinds.n; k++)
        if (machine->kinds.kind[k].port_bytes_per_s < INFINITY) return true;
    return machine->port_bytes_per_s < INFINITY;
}
/* Messages between tasks of one node, of any node, share a bandwidth. */
static inline bool fc_shares_memory(const struct fc_machine *machine)
{
    for (uint32_t k = 0; k < machine->kinds.n; k++)
        if (machine->kinds.kind[k].memory_bytes_per_s < INFINITY) return true;
    return machine->memory_bytes_per_s < INFINITY;
}

/* All values of x[n] are the same. */
static inline bool fc_all_equal(const double *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (x[i] != x[0]) return false;
    return true;
}
