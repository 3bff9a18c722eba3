/* event_block.h - a thread's part of the network in the packet-event engine, and what blocks tell each other. Messages go to other
 * ranks as they are: these run the same program. */
#pragma once

#include "solvers/flit/counts.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/event_wheel.h"
#include "solvers/flit/route_ops.h"

/* Cross-block messages of a window: packets that start on a link into the other block, and tokens that go back to a link
 * of the other block. */
struct fc_event_arrival {
    struct fc_event_packet packet;
    uint32_t channel;
};
struct fc_event_return {
    struct fc_event_ramp ramp;
    uint32_t link, vc;
};
/* What one block has for another. Read by the other one in the next window. */
struct fc_event_outbox {
    struct fc_event_arrival *arrival;
    struct fc_event_return *back;
    uint32_t n_arrivals, arrival_capacity, n_back, back_capacity;
};

/* A router with events at the present tick: n of them, the first one's word, then a list of notes. */
struct fc_event_dirty {
    uint32_t router, n, word;
    uint32_t more; /* first note with the other events; 0: none */
};
struct fc_event_note {
    uint32_t word, next;
};
/* A head that takes part in the arbitration of a router: its request. */
struct fc_event_bid {
    uint32_t channel;
    uint32_t first_choice, n_choices;
    int32_t choice; /* the one that it asks for; -1: none is available */
    uint32_t link;  /* of that choice while it is not decided; else FC_NONE */
    uint16_t bit;
    uint8_t vc;
    bool out; /* takes part no more: has moved, or waits */
};

#define FC_EVENT_BATCH 8

struct fc_event_engine;
struct fc_event_block {
    struct fc_event_engine *engine;
    struct fc_flit_counts *counts;
    int index, parity;                  /* parity: of the outboxes it writes */
    uint32_t first_router, last_router; /* routers first .. last-1 */
    struct fc_event_request_group group[FC_EVENT_GROUPS];
    uint64_t
        well_within; /* a packet that starts less than so many ticks after measure_from lies wholly in the measurement */
    struct fc_event_wheel wheel;
    struct fc_event_packet *packet; /* [packet_capacity], 0 unused */
    uint32_t n_packets, packet_capacity, free_packet;
    struct fc_event_more *more; /* [more_capacity], 0 unused */
    uint32_t n_more, more_capacity, free_more;
    struct fc_event_dirty *dirty; /* [routers of the block] */
    uint32_t n_dirty;
    struct fc_event_note *note;
    uint32_t n_notes, note_capacity;
    struct fc_event_bid *bid;      /* [most channels into a router] */
    struct fc_flit_choice *choice; /* [FC_EVENT_BATCH + most channels into a router + 1][FC_FLIT_MOST_CHOICES] */
    uint32_t n_bids, n_choices;
    uint64_t *mask;   /* [5][words] scratch */
    uint16_t *bid_at; /* [64 * words] bid of a channel's bit */
    uint32_t *woken;  /* [most links out of a router] scratch */
    uint32_t *words;  /* [n_words] events of a tick */
    struct fc_event_at {
        uint32_t word, vertex;
    } * head, *other; /* [n_words] the same: heads, links and nodes */
    uint32_t n_words;
    uint64_t until; /* end of the present call of advance */
    struct fc_event_landing {
        uint64_t tick, born, entered;
        uint16_t hops, flits;
        bool background;
    } * landing; /* [landing_capacity] packets that arrive at or after `until` */
    uint32_t n_landings, landing_capacity;
    uint64_t packets_in, packets_out, flits_in, flits_out, live_sources;
    struct fc_event_report {
        uint64_t packets_in, packets_out, live_sources;
        bool out_of_memory;
    } report[2];
    uint64_t last_move, last_delivery;
    bool out_of_memory;
    uint64_t exchange_read; /* the last exchange among ranks whose messages it has taken in */
    char padding[64];
};
