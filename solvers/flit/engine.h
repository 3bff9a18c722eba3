/* engine.h - the engines (event.c, cycle.c): what run control asks of them, and deadlock reports. */
#pragma once

#include "solvers/flit/counts.h"
#include "solvers/flit/prepared.h"
#include "solvers/flit/traffic.h"

struct fc_flit_state {  /* between two calls of advance, all threads joined */
    uint64_t now;       /* tick reached: everything before it has happened; once exhausted, that of the last arrival */
    uint64_t last_move; /* tick of the last movement of a flit; for deadlock detection */
    uint64_t packets_in_flight, flits_in_flight; /* injected and not delivered, counted in the engine's own buffers */
    uint64_t sources_waiting; /* nodes whose front packet was born before measure_to and has not left */
    uint64_t longest_wait;    /* ticks since the birth of the oldest front packet that has not left; those of high
                                 priority do not count; 0: none waits */
    bool exhausted;           /* no packet in flight and no source has one to come */
    /* Over ranks the above is of all of them, the same on each; since the start, of this rank: */
    uint64_t windows, messages, message_bytes;
    int neighbours;
};
/* A head that cannot move: the channel it sits in, and the channels any of which would do. For deadlock
 * reports. */
struct fc_flit_blocked {
    uint32_t channel; /* link * n_vcs + vc, with the packet at its head */
    uint32_t packet_src, packet_dst, packet_flits;
    uint32_t n_wanted, first_wanted; /* wanted[first ..) channels */
};
struct fc_flit_engine_ops {
    const char *name;
    /* Whether the engine is exact for this machine; if not, why, in words for people. */
    bool (*takes)(const struct fc_flit_net *flit, char *why, size_t size);
    /* counts: one a thread, [threads], windows set; link_flits and link_packets [n_links] get what each link
     * sent within [measure_from, measure_to); injected [n_nodes] the packets that left each source then; over
     * ranks those of this rank alone. All outlive the engine, which only ever adds to the three: run.c takes differences when it moves the
     * window. */
    enum fc_code (*open)(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic, int threads,
                         uint64_t seed, struct fc_flit_counts *counts, uint64_t *link_flits, uint64_t *link_packets,
                         uint32_t *injected, void **engine, struct fc_status *st);
    /* Simulates up to tick `until` (exclusive), or less when exhausted. FC_NO: out of memory. */
    enum fc_code (*advance)(void *engine, uint64_t until, struct fc_flit_state *state, struct fc_status *st);
    /* The blocked heads, for a deadlock report: arrays in the arena; over ranks those of all. */
    enum fc_code (*blocked)(void *engine, struct fc_arena *arena, struct fc_flit_blocked **blocked, uint32_t *n,
                            uint32_t **wanted, struct fc_status *st);
    /* Whether every channel has all its credits (nothing in flight and credits returned). */
    bool (*credits_full)(const void *engine);
    void (*close)(void *engine);
    /* Between two advances, one thread: the node's source, which had no packet to come, may have one again (it is
     * asked by fc_flit_first); its birth is not after the tick reached. NULL: the engine cannot. */
    void (*wake)(void *engine, uint32_t node);
    /* Before the first advance, with sources that have no packet: the clock starts at `tick`. Goes with wake. */
    void (*start_at)(void *engine, uint64_t tick);
};
extern const struct fc_flit_engine_ops fc_flit_event_engine, fc_flit_cycle_engine;
/* Mean length of packets, flits, up to which the cycle engine answers sooner than the event engine where both are
 * exact and agree (docs/flit.md); 0: never. From measurements: docs/notes/performance.md (cycle_fast_open.c). */
uint32_t fc_cycle_quick_flits(const struct fc_flit_net *flit);
/* Whether a run with these settings takes the event engine: it is exact, and asked for or the faster one (run.c). */
bool fc_flit_by_events(const struct fc_flit_net *flit, const struct fc_flit_settings *settings);

/* The cycle of waiting packets in a deadlock, in words: "x+ (0,0)->(1,0) vc 0 holds packet 3 -> 7 (8 flits),
 * waits for ..." Text in the arena; says so when the blocked heads wait for channels that others than they
 * hold. */
enum fc_code fc_flit_deadlock_text(const struct fc_flit_net *flit, const struct fc_flit_blocked *blocked, uint32_t n,
                                   const uint32_t *wanted, struct fc_arena *arena, const char **text,
                                   struct fc_status *st);
