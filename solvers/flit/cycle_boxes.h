/* cycle_boxes.h - a torus as 64 equal boxes side by side, for the fast path of the cycle engine (cycle_boxes*.c).
 *
 * A torus of three dimensions whose sides are multiples of four is cut into 4 x 4 x 4 boxes. A box is a lane; a site is
 * the 64 routers at the same place of all boxes, a row of 64 bytes for each part of their state. Then the router behind
 * an output is in all lanes at the same site, in the same lane or, where a box ends, in the next box: lanes turned in
 * fours, sixteens or all. So credits, arrivals and allocation are whole rows, and only the flits themselves move one by
 * one. Site after site, each for a window of ticks.
 *
 * Takes what cycle_fast.h takes, with two virtual channels of which a hop may take one, a node a
 * router, one block. Same numbers: the round robins over ports count them as the general path does, lane by lane. */
#pragma once

#include "solvers/flit/cycle_fast.h"

enum { FC_SITE_DIMS = 3, FC_SITE_PORTS = 7, FC_SITE_OUTS = 6, FC_SITE_CHANNELS = 2 * FC_SITE_PORTS };
#define FC_SITE_BODY 0x80 /* of an arrival: not a head */
#define FC_SITE_FAR 0x80  /* of a wanted output, one bit of seven: by virtual channel 1, else 0 */
typedef uint8_t fc_row[FC_LANES] __attribute__((aligned(64)));

/* What reaches a site at a tick. Ports are named by the output at their sender, the node's is the last. */
struct fc_site_due {
    fc_row back[FC_SITE_PORTS]; /* to senders: a credit for channel 0 (1), for channel 1 (2), none */
    fc_row out[FC_SITE_PORTS];  /* at ports: the output that the flit wants; 0: no flit */
    fc_row code[FC_SITE_PORTS]; /* its channel, with FC_FAST_FIRST */
};
/* Turn of lanes on the way to the next box: 1 + the output it is behind; 0: none. */
struct fc_site_link {
    uint32_t site;
    uint8_t delay, turn;
};
struct fc_site {
    fc_row count[FC_SITE_CHANNELS];                           /* port * 2 + channel: flits, the front included */
    fc_row head[FC_SITE_CHANNELS];                            /* place of the front in its ring of slots */
    fc_row want[FC_SITE_CHANNELS];                            /* output that the front wants */
    fc_row credits[FC_SITE_CHANNELS], tail[FC_SITE_CHANNELS]; /* sender * 2 + channel, as in struct fc_fast_rows */
    fc_row held[FC_SITE_CHANNELS];    /* packets of several flits: 0xff where the packet has its next channel */
    fc_row free[2];                   /* outputs, as bits, whose channel 0, 1 no packet holds */
    fc_row last_ejected_0;            /* round robin over channels to the node: 0xff where channel 0 was taken last */
    fc_row above_out[FC_SITE_PORTS];  /* round robin over outputs: those above the last winner */
    fc_row last_0[FC_SITE_PORTS];     /* over channels: 0xff where channel 0 was the last winner */
    fc_row above_port[FC_SITE_PORTS]; /* outputs, over ports: those above the last winner, as bits */
    fc_row bit[FC_SITE_PORTS];        /* the bit of a port, by the router's own number of it */
    fc_row port[FC_SITE_PORTS + 1];   /* [number] the port */
    fc_row wraps[FC_SITE_OUTS];       /* as in struct fc_fast_rows */
    fc_row lane[FC_SITE_OUTS];        /* behind the output */
    fc_row last_vc;                   /* of the nodes */
    fc_row soon;                      /* ticks of this window until the node's packet is born, at most 255 */
    int32_t born[FC_LANES];           /* of it, behind the epoch; or INT32_MAX */
    fc_row sent[FC_SITE_PORTS];       /* outputs: since the last call of tally */
    fc_row packets[FC_SITE_PORTS];    /* the same, packets of several flits */
    uint32_t sent_sum[FC_SITE_PORTS + 1][FC_LANES];            /* and of the nodes, before that */
    uint32_t packets_sum[FC_SITE_PORTS + 1][FC_LANES];         /* packets of several flits */
    struct fc_site_link to[FC_SITE_OUTS], from[FC_SITE_PORTS]; /* from: the sender behind a port, delay of credits */
};
struct fc_boxes {
    uint32_t n, window, due_mask, due_bits;
    uint32_t node_delay, ring_places;
    uint64_t epoch;          /* tick that births are counted from */
    bool plain;              /* the sources are (source_draw.h) */
    uint8_t want[32];        /* [code of a flit's route word] */
    struct fc_site *site;    /* [n] */
    struct fc_site_due *due; /* [n][due_mask + 1] */
    uint64_t *slot;          /* [n][ring_places][channel][lane] flits */
};

static inline int32_t fc_site_born(uint64_t born, uint64_t epoch)
{
    uint64_t since = born > epoch ? born - epoch : 0;
    return since < INT32_MAX ? (int32_t)since : INT32_MAX;
}
/* Can the network be cut into boxes, as far as can be told before an engine is open? */
bool fc_cycle_boxes_fit(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic);
/* Cuts the torus into boxes where the engine is so plain; fast->boxes stays NULL where not. The nodes of block->node are put
 * in the order of sites. */
enum fc_code fc_cycle_boxes_open(struct fc_cycle *engine, struct fc_status *st);
/* Births are counted from tick `epoch`, which must not be 2^31 ticks or more before now. */
void fc_cycle_boxes_set_epoch(struct fc_cycle *engine, uint64_t epoch);
/* Copies the state to the rows of struct fc_fast, for reports. */
void fc_cycle_boxes_sync(const struct fc_cycle *engine);
/* Adds the flits in channels behind links between routers. */
void fc_cycle_boxes_occupancy(const struct fc_cycle *engine, uint64_t flits[2]);
void fc_cycle_boxes_sync_sent(const struct fc_cycle *engine);
