/* transit_heads.h - links that the packets at the heads of nodes' FIFOs leave idle (transit_heads.c has the equations). */
#pragma once

#include "solvers/transit/transit_fair.h"
#include "solvers/transit/transit_fifos.h"

struct fc_transit_ways;
struct fc_heads_node {
    uint32_t n;     /* messages to others that move */
    uint32_t first; /* wanted[first ..): of the links behind its routers, router after router */
    bool stirred;   /* one has begun or ended since the last solve */
};
/* A link into a node. The two are parts of the time, as senders were when one of their messages last began or ended. */
struct fc_heads_door {
    uint32_t link, node;
    uint32_t first;          /* come[first ..): over each input of its router */
    double unsent, unbeside; /* no head of a sender's FIFOs wants it; none of a sender at the same router */
    bool stale, is_listed;   /* these two are; it is in doors[] */
};
struct fc_heads {
    const struct fc_network *net;
    const struct fc_fifos *fifos;
    bool behind, before;        /* links behind nodes' routers stand idle; those before receivers do */
    uint32_t first_fifo;        /* behind: links of the nodes' FIFOs (transit_contention.c) */
    struct fc_heads_node *node; /* [n_nodes] */
    double *wanted; /* behind: by how many of the node's messages, each as far as its packets may take the link */
    /* Before: door[first_door[i] ..) are the links into node i; own_door[first_own[r] ..), of door[], those out of router r;
     * input[first_input[r] ..) the links from other routers into it. */
    uint32_t *first_door, *first_own, *own_door, *first_input, *input,
        *place; /* place[n_links] of an input among them */
    struct fc_heads_door *door;
    double *come;                       /* messages to the door's node, each as far as it comes over the input, */
    double *crossing;                   /* [n_links] and all that do */
    double *share;                      /* [n_nodes] of messages that a node has on the link at hand */
    uint32_t *stirred, *doors, *starts; /* [n_stirred] nodes; [n_doors] to be looked at, of door[]; nodes */
    uint32_t n_stirred, n_doors;
};
/* In the arena; net and fifos outlive it. first_fifo: FC_NONE where FIFOs hold nobody up. loses: packets behind each other do hold
 * each other up. FC_NO: out of memory. O(links). */
enum fc_code fc_heads_open(struct fc_heads *heads, const struct fc_network *net, const struct fc_fifos *fifos,
                           uint32_t first_fifo, bool loses, struct fc_arena *arena, struct fc_status *st);
/* A message from node src to another over way `way`, all its parts, moves from now on; has ended. O(links of the way). */
void fc_heads_begins(struct fc_heads *heads, const struct fc_transit_ways *ways, uint32_t way, uint32_t src,
                     uint32_t dst);
void fc_heads_ends(struct fc_heads *heads, const struct fc_transit_ways *ways, uint32_t way, uint32_t src,
                   uint32_t dst);
/* Links have the capacity that is left of them from the next solve on. False: out of memory. O(flows of the nodes
 * whose messages have begun or ended, and of their receivers; inputs and nodes of the routers on their ways). */
bool fc_heads_settle(struct fc_heads *heads, struct fc_fair *fair);
