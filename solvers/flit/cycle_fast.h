/* cycle_fast.h - the fast path of the cycle engine (cycle_fast*.c): its state.
 *
 * Routers stand in chunks of 64, each block's from a chunk's start on; a router is a lane of its chunk. What
 * allocation reads lies in rows of 64 bytes, one for a port, channel or output of all lanes, so that a plain
 * loop over a row is a vector instruction or a few. */
#pragma once

#include "solvers/flit/cycle.h"
#include "solvers/flit/route_fields.h"

enum { FC_LANES = 64, FC_FAST_PORTS = 32, FC_FAST_VCS = 8 };
#define FC_FAST_FIRST 0x80 /* with the channel of an arrival: its ring starts at place 0 again */
#define FC_FAST_BODY 0xff  /* for the output of an arrival: not a head */

/* Where the rows of a chunk begin, in bytes. A chunk has places for 2^place_bits ports, outputs and injection
 * links and 2^vc_bits channels each. Channel rows: place << vc_bits | vc. Senders: outputs (network,
 * ejection), then the injection links of the routers' nodes. */
struct fc_fast_rows {
    size_t count;              /* channels: flits, the front included */
    size_t head;               /* place of the front in the ring of slots */
    size_t out;                /* output that the front's packet leaves by */
    size_t want;               /* mask of the virtual channels there that will do */
    size_t held;               /* 0xff: it has that channel; 0: not yet */
    size_t credits;            /* sender channels */
    size_t tail;               /* sender channels: the place behind the last flit in the ring that they send to */
    size_t able, roomy;        /* senders: masks of channels with credits, with room for a packet (each tick) */
    size_t last_out, last_vc;  /* ports, round robins: last winner */
    size_t free;               /* senders: mask of channels that no packet holds */
    size_t last_port;          /* outputs, round robin over ports: mask of those above the last winner; with
                                 more than 8 places its number */
    size_t sent_vc;            /* outputs, round robin over channels: mask of those above the last winner */
    size_t wraps;              /* senders: 1 << out_bits where the next link that way crosses the dateline, else 0 */
    size_t upstream;           /* channels, uint32_t: where credits go, see struct fc_fast */
    size_t arrives;            /* senders, uint32_t: where arrivals are told, see struct fc_fast */
    size_t slot;               /* senders, uint32_t: slot of channel 0 behind the link, place 0 */
    size_t sent, packets_sent; /* senders, uint32_t: since the last flush */
    size_t size;
};
static inline __attribute__((always_inline)) struct fc_fast_rows fc_fast_rows(uint32_t place_bits, uint32_t vc_bits)
{
    size_t places = (size_t)FC_LANES << place_bits, channels = places << vc_bits;
    struct fc_fast_rows r = {0};
    r.head = channels;
    r.out = 2 * channels;
    r.want = 3 * channels;
    r.held = 4 * channels;
    r.credits = 5 * channels;
    r.tail = 6 * channels;
    r.able = 7 * channels;
    r.roomy = r.able + places;
    r.last_out = r.roomy + places;
    r.last_vc = r.last_out + places;
    r.free = r.last_vc + places;
    r.last_port = r.free + places;
    r.sent_vc = r.last_port + places;
    r.wraps = r.sent_vc + places;
    r.upstream = r.wraps + places;
    r.arrives = r.upstream + 4 * channels;
    r.slot = r.arrives + 4 * places;
    r.sent = r.slot + 4 * places;
    r.packets_sent = r.sent + 4 * places;
    r.size = r.packets_sent + 4 * places;
    return r;
}
/* A flit. Where a sender has all its credits the ring that it sends to is empty and starts at its first slot
 * again: most flits lie in the first few. Packets of one flit: what is left of the route word, then the
 * packet's number. Others: at fixed places the route word, flags of the packet's first and last, the number.
 */
struct fc_fast {
    struct fc_route_fields route;
    struct fc_fast_rows rows;
    uint32_t place_bits, vc_bits;
    uint32_t n_ports, n_outs, n_senders; /* rows in use; n_senders: and the injection links */
    uint32_t n_network_outs;
    uint32_t ring_bits; /* slots of a channel: 2^ring_bits */
    uint8_t *chunk;     /* [n_chunks][rows.size] */
    uint64_t *slot;     /* [n_chunks][2^ring_bits][channels of a chunk] flits */
    uint32_t n_chunks;
    /* Credits that are under way: a ring of ticks, each a byte 0 or 1 for every sender channel of every
     * chunk; `upstream`: byte of the tick + delay << tick_bits. */
    uint8_t *returned; /* [2^(tick_bits + slots)] */
    uint32_t tick_bits, returned_mask;
    /* Flits that are under way lie in their slots already; what their arrival changes stands in a ring of
     * ticks likewise: for every chunk four times its ports, a byte each of the flit's channel + 1 and
     * FC_FAST_FIRST (0: no flit), its output, the channels there; and nothing. */
    uint8_t *arriving; /* [2^(arriving_bits + slots)] */
    uint32_t arriving_bits, arriving_mask;
    uint32_t *lane;         /* [n_routers] chunk * 64 + lane */
    uint32_t *sender;       /* [n_links] (chunk << place_bits | place) * 64 + lane */
    struct fc_boxes *boxes; /* the same network in boxes (cycle_boxes.h), which runs then; or NULL */
    uint8_t next_vc[FC_FAST_VCS << FC_FAST_VCS]; /* [last << FC_FAST_VCS | mask] the next in the round robin */
};

bool fc_cycle_is_simple(const struct fc_cycle *engine);
enum fc_code fc_cycle_fast_open(struct fc_cycle *engine, struct fc_status *st);
/* fc_cycle_block_run for machines that fc_cycle_is_simple finds to be so. */
void fc_cycle_block_run_fast(struct fc_cycle_block *block, uint64_t from, uint64_t to);
/* Its ticks on processors without AVX2, and with AVX-512; counts->flits_injected and others are left to it. */
void fc_cycle_fast_run_narrow(struct fc_cycle_block *block, uint64_t from, uint64_t to);
void fc_cycle_fast_run_wide(struct fc_cycle_block *block, uint64_t from, uint64_t to);
/* Copies the fast path's state to the general one's, for reports: all of it, or the flits that the block's
 * links sent. */
void fc_cycle_fast_sync(struct fc_cycle *engine);
void fc_cycle_fast_sync_sent(struct fc_cycle_block *block);
/* Flits in channel vc of the input port. */
uint32_t fc_cycle_fast_count(const struct fc_cycle *engine, const struct fc_cycle_port *port, int vc);
