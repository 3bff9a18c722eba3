/* transit_fifos.h - what a node's injection FIFOs let through (transit_fifos.c has the rule). */
#pragma once

#include "models/models.h"

/* The messages of a node under way to others. */
struct fc_fifos_node {
    uint32_t n;
    double since_s;    /* so long has it been without a pause that there are any */
    double rate;       /* bytes/s on the wire, all together */
    double left_bytes; /* left of all together at time 0, had each always had the rate that it has */
};
struct fc_fifos {
    const struct fc_network *net;
    double n_fifos;      /* of each of a node's links into the network; 0: not known, nothing binds, nobody waits */
    double buffer_bytes; /* on the wire, of each FIFO */
    double packet_bytes; /* at most */
    bool bind;           /* those of some node let less through than its links carry */
    struct fc_fifos_node *node; /* [n_nodes] */
};
/* What a message waits for. */
struct fc_fifos_wait {
    double s;    /* seconds; 0: nothing */
    double rate; /* bytes/s of the others together */
    bool is_all; /* all that the others have left is there; else what the FIFOs hold, or what has come */
};
/* The FIFOs of the machine's nodes, in the arena; net outlives them. None where the machine's file says nothing of FIFOs and
 * virtual channels. FC_NO: out of memory. O(links). */
enum fc_code fc_fifos_open(struct fc_fifos *fifos, const struct fc_network *net, struct fc_arena *arena,
                           struct fc_status *st);
/* Seconds that a node's FIFOs together can feed links in one second. */
double fc_fifos_capacity(const struct fc_fifos *fifos, uint32_t node);
/* Of that, what a byte takes which crosses these links with these weights, a way from the node: the sum of weight / bandwidth
 * over those behind its routers. O(n). */
double fc_fifos_s_per_byte(const struct fc_network *net, uint32_t node, uint32_t n, const uint32_t *link,
                           const double *weight);
/* What a message that leaves the node now waits for: the packets before it in the FIFOs. O(the node's links). */
struct fc_fifos_wait fc_fifos_wait(const struct fc_fifos *fifos, uint32_t node, double now_s);
/* A message of the node is under way, without a rate; one that had left_bytes left at since_s, and this rate since then, */
void fc_fifos_begins(struct fc_fifos *fifos, uint32_t node, double wire_bytes, double now_s);
/* has other ones from now on: first it drops the old, then it takes the new; or has ended. Nothing of a node without FIFOs. */
void fc_fifos_drops(struct fc_fifos *fifos, uint32_t node, double left_bytes, double since_s, double rate);
void fc_fifos_takes(struct fc_fifos *fifos, uint32_t node, double left_bytes, double since_s, double rate);
void fc_fifos_ends(struct fc_fifos *fifos, uint32_t node, double left_bytes, double since_s, double rate);
/* Whether the link leaves a router of the node. O(the node's links). */
static inline bool fc_fifos_feed(const struct fc_network *net, uint32_t node, uint32_t link)
{
    uint32_t v = fc_node_vertex(net, node);
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (net->link_target[l] == net->link_source[link]) return true;
    return false;
}
