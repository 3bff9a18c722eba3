/* transit_fifos.h - what a node's injection FIFOs let through (transit_fifos.c has the rule). */
#pragma once

#include "models/models.h"

struct fc_transit;
struct fc_transit_message;
struct fc_fifos_waiting;
/* The messages of a node to others that have left and not ended. */
struct fc_fifos_node {
    uint32_t n, n_moving;                 /* all; those that do not wait */
    uint32_t first, last;                 /* in waiting[], of those that wait, in order; FC_NONE: there are none */
    double foreseen_s;                    /* then it is looked whether the first of them begins */
    double rate;                          /* bytes/s on the wire, all together */
    double left_bytes;                    /* left of all together at time 0, had each always had the rate that it has */
    double sent_bytes;                    /* of all that have left since there have been any without a pause */
    double at_s, held_bytes, moved_bytes; /* when the last one left, what the FIFOs held then, and what had gone on */
};
/* The first packets of the short messages out of, or into, a node have its links until then; the last one has them so long. */
struct fc_fifos_turn {
    double until_s, packet_s;
    uint32_t began; /* of the adjoint: when the last one was put there */
};
struct fc_fifos {
    const struct fc_network *net;
    double n_fifos;      /* of each of a node's links into the network; 0: not known, nothing binds, nobody waits */
    double buffer_bytes; /* on the wire, of each FIFO */
    double packet_bytes; /* at most */
    bool bind;           /* those of some node let less through than its links carry */
    struct fc_fifos_node *node; /* [n_nodes] */
    struct fc_fifos_turn *turn; /* [2 n_nodes] out of node i, into it */
    struct fc_fifos_waiting *waiting;
    size_t n_waiting, n_made, waiting_capacity; /* those that wait; all that waiting[] has had room for */
    uint32_t free;                              /* in waiting[]: a list; FC_NONE: none */
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
void fc_fifos_close(struct fc_fifos *fifos);
/* A message leaves a node for another one at its time_s; *later: it is short, links of one of the two have the first packets of others until later,
 * and it is held until then (its time_s, `turns`). FC_NO: out of memory. O(the node's links). */
enum fc_code fc_fifos_turn(struct fc_transit *t, struct fc_fifos *fifos, const struct fc_transit_message *m,
                           bool *later);
/* Then; *waits: the packets before it have to go on first, and it is kept until fc_fifos_next. FC_NO: out of memory. O(the node's links). */
enum fc_code fc_fifos_leaves(struct fc_transit *t, struct fc_fifos *fifos, const struct fc_transit_message *m,
                             bool *waits);
/* The first of those that wait at the node, if it begins now; it does not wait any more, it has for *waited_s. *steps: of
 * fc_adjoint_queues. */
bool fc_fifos_next(struct fc_fifos *fifos, uint32_t node, double now_s, struct fc_transit_message *m, uint32_t *steps,
                   double *waited_s);
/* Rates of the node have changed, or a message has begun: a start with `waited` is held for when the next one may begin. */
enum fc_code fc_fifos_foresee_first(struct fc_transit *t, struct fc_fifos *fifos, uint32_t node, double now_s);
static inline enum fc_code fc_fifos_foresee(struct fc_transit *t, struct fc_fifos *fifos, uint32_t node, double now_s)
{
    bool waits = fifos->n_waiting > 0 && fifos->node[node].first != FC_NONE;
    return waits ? fc_fifos_foresee_first(t, fifos, node, now_s) : FC_OK;
}
/* A message that has left is under way, without a rate; one that had left_bytes left at since_s, and this rate since then, */
static inline void fc_fifos_begins(struct fc_fifos *fifos, uint32_t node)
{
    if (fifos->n_fifos > 0) fifos->node[node].n_moving++;
}
/* has other ones from now on: first it drops the old, then it takes the new; or has ended. Nothing of a node without FIFOs. */
static inline void fc_fifos_drops(struct fc_fifos *fifos, uint32_t node, double left_bytes, double since_s, double rate)
{
    if (!(fifos->n_fifos > 0)) return;
    fifos->node[node].rate -= rate;
    fifos->node[node].left_bytes -= left_bytes + rate * since_s;
}
static inline void fc_fifos_takes(struct fc_fifos *fifos, uint32_t node, double left_bytes, double since_s, double rate)
{
    fc_fifos_drops(fifos, node, -left_bytes, since_s, -rate);
}
void fc_fifos_ends(struct fc_fifos *fifos, uint32_t node, double left_bytes, double since_s, double rate);
/* Whether the link leaves a router of the node. O(the node's links). */
static inline bool fc_fifos_feed(const struct fc_network *net, uint32_t node, uint32_t link)
{
    uint32_t v = fc_node_vertex(net, node);
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (net->link_target[l] == net->link_source[link]) return true;
    return false;
}
