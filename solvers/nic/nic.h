/* nic.h - what a node's network interface (section `nic:` of a machine file) makes of the network: one-sided
 * transfers, atomic operations, hardware and software barriers and broadcasts, alone and beside saturating
 * traffic. Each file has its equations at its head; docs/quadrics-gemini.md holds them against the published
 * figures.
 *
 * The section is optional (machine->nic.line 0: none); barriers and broadcasts refuse
 * a machine without it. */
#pragma once

#include "models/models.h"

/* ---- one-sided transfers (nic.c) ----------------------------------------------------------------- */

/* Where the buffers are: behind the host's bus, or in the interface's own memory. */
enum fc_nic_memory { FC_NIC_HOST, FC_NIC_OWN };

/* Greatest rates of one node in one direction, payload bytes/s; INFINITY where the file gives no limit. */
struct fc_nic_peaks {
    double engine;     /* of the interface's pipeline */
    double bus;        /* host bus, raw */
    double put, block; /* host bus, after its headers: puts; block transfers both ways at once */
    double ports;      /* of the router's ports for all its nodes together */
    double efficiency; /* payload over wire bytes of full packets, responses counted */
};
void fc_nic_peaks(const struct fc_machine *machine, struct fc_nic_peaks *peaks);

/* Wire bytes of one packet with `bytes` of data (at most a full one) and of its response. Machines that give
 * no flits: packets of `packet:`, and no response to a put. */
struct fc_nic_wire {
    double request_bytes, response_bytes;
};
struct fc_nic_wire fc_nic_put_wire(const struct fc_machine *machine, double bytes);
struct fc_nic_wire fc_nic_get_wire(const struct fc_machine *machine, double bytes);

/* The way between two nodes under the machine's routing, of a split the mean over its shares. */
struct fc_nic_way {
    double head_s;                /* routers and wires at zero load */
    double narrowest_bytes_per_s; /* wire rate of the narrowest single link */
    double bundle_bytes_per_s;    /* greatest wire rate of this pair alone, split as the routing does */
};
/* FC_INPUT: no such node, or source = target. */
enum fc_code fc_nic_way(const struct fc_network *net, uint32_t source, uint32_t target, struct fc_nic_way *way,
                        struct fc_status *st);

/* Greatest payload rate between two nodes by puts: their links, the host bus, the engine, the ports. */
double fc_nic_pair_rate(const struct fc_machine *machine, const struct fc_nic_way *way, enum fc_nic_memory memory);
/* Time of one transfer: a put until the data is there, a get until it is back, a message of
 * the machine's `software` end points. */
double fc_nic_put_s(const struct fc_machine *machine, const struct fc_nic_way *way, double bytes,
                    enum fc_nic_memory memory);
double fc_nic_get_s(const struct fc_machine *machine, const struct fc_nic_way *way, double bytes);
double fc_nic_message_s(const struct fc_machine *machine, const struct fc_nic_way *way, double bytes,
                        enum fc_nic_memory memory);
/* Payload rate of a node whose `processes` put messages of `bytes` one after the other to many nodes. */
double fc_nic_put_rate(const struct fc_machine *machine, double bytes, double processes, enum fc_nic_memory memory);

/* ---- atomic operations on one node (nic_amo.c) --------------------------------------------------- */

/* Operations a second when `processes` do one after the other on random ones of `variables`; round_trip_s is
 * the time of one alone, its service apart. FC_INPUT: the file has no amo_hit, or a count is below 1.
 * O(processes). */
enum fc_code fc_nic_amo_rate(const struct fc_machine *machine, uint32_t processes, double variables,
                             double round_trip_s, double *rate_per_s, struct fc_status *st);

/* ---- traffic that fills the network (nic_background.c) ------------------------------------------- */

/* What saturating traffic leaves to others. */
struct fc_nic_background {
    double accepted_bytes_per_s;     /* payload that a node gets rid of */
    bool contended;                  /* its worms wait for each other */
    double held_s;                   /* contended: how long a worm holds a virtual channel */
    double all_held[FC_MAX_CLASSES]; /* share of time in which a link of the class has no channel free */
};
/* From one run of the flit-level kernel in which every node always has a packet of the pattern waiting (0.4 s
 * of CPU time on 64 nodes). FC_INPUT as fc_demand_from_pattern, fc_flit_run. */
enum fc_code fc_nic_background_run(const struct fc_network *net, const char *pattern, uint64_t seed,
                                   struct fc_nic_background *background, struct fc_status *st);

/* ---- barriers and broadcasts (nic_collective.c, nic_loaded.c) ------------------------------------ */

enum fc_nic_barrier { FC_NIC_BARRIER_HARDWARE, FC_NIC_BARRIER_EVENT, FC_NIC_BARRIER_SOFTWARE };
struct fc_nic_time {
    double mean_s;
    double below; /* share of operations that take less than limit_s; NaN without a limit */
};
/* A barrier of nodes 0 .. n_nodes - 1; limit_s 0: none; background NULL: an empty network. FC_INPUT: keys
 * that are missing, n_nodes below 2 or more than there are. */
enum fc_code fc_nic_barrier_from(const struct fc_network *net, uint32_t first, uint32_t n_nodes,
                                 enum fc_nic_barrier kind, const struct fc_nic_background *background, double limit_s,
                                 struct fc_nic_time *time, struct fc_status *st); /* first .. first + n_nodes - 1 */
enum fc_code fc_nic_barrier(const struct fc_network *net, uint32_t n_nodes, enum fc_nic_barrier kind,
                            const struct fc_nic_background *background, double limit_s, struct fc_nic_time *time,
                            struct fc_status *st);

enum fc_nic_broadcast { FC_NIC_BROADCAST_HARDWARE, FC_NIC_BROADCAST_SOFTWARE }; /* by the barrier before it */
/* A broadcast of `bytes` from node 0 to nodes 0 .. n_nodes - 1, synchronisation included; else as
 * fc_nic_barrier. Any node of the range may send: the way leads through the top of its tree. */
enum fc_code fc_nic_broadcast_from(const struct fc_network *net, uint32_t first, uint32_t n_nodes, double bytes,
                                   enum fc_nic_broadcast kind, enum fc_nic_memory memory,
                                   const struct fc_nic_background *background, double *time_s, struct fc_status *st);
enum fc_code fc_nic_broadcast(const struct fc_network *net, uint32_t n_nodes, double bytes, enum fc_nic_broadcast kind,
                              enum fc_nic_memory memory, const struct fc_nic_background *background, double *time_s,
                              struct fc_status *st);
