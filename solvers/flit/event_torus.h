/* event_torus.h - what event_torus.c (choices, waiting), event_torus_move.c (a packet moves) and
 * event_torus_contend.c (several at once) share: adaptive routing on a torus in the packet-event engine. */
#pragma once

#include "solvers/flit/event.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/event_tokens.h"

/* As fc_event_append, fc_event_inject and fc_event_take_return. */
void fc_event_torus_append(struct fc_event_block *block, uint32_t channel, uint32_t packet);
void fc_event_torus_inject(struct fc_event_block *block, uint32_t node);
void fc_event_torus_return(struct fc_event_block *block, uint32_t link, uint32_t vc, const struct fc_event_ramp *ramp);
/* Moves the head of channel c, alone at its router, or lets it wait. */
void fc_event_torus_alone(struct fc_event_block *block, uint32_t c);
/* Deals with those of a tick's n events, block->words, that are alone at their vertices; returns how many are
 * left at the front. */
uint32_t fc_event_torus_direct(struct fc_event_block *block, uint32_t n);
/* Several heads and links have events at the router. */
void fc_event_torus_contend(struct fc_event_block *block, const struct fc_event_dirty *dirty);
/* The link got free, or tokens behind it, and nothing else happened at the router: one of those that wait for
 * it moves. Masks of one word only. */
void fc_event_torus_serve(struct fc_event_block *block, uint32_t router, uint32_t link);
/* Calls what it will look at into the cache. */
void fc_event_torus_prefetch(const struct fc_event_block *block, const struct fc_event_channel *channel);

/* Half a cache line or whole ones. */
static inline uint32_t fc_event_port_stride(uint32_t n_dims)
{
    return n_dims <= 2 ? 4 : n_dims <= 4 ? 8 : 16;
}

/* A hop, or the way to the node. */
struct fc_event_hop {
    uint64_t route; /* behind it */
    uint32_t link;
    uint8_t vc, escape;
};

/* ---- event_torus_move.c ---- */

/* The head of channel c takes the hop; `waited`: it did before. */
void fc_event_torus_send(struct fc_event_block *block, uint32_t c, struct fc_event_hop hop, bool waited);
/* The head of channel c starts on the link to its node. */
void fc_event_torus_eject(struct fc_event_block *block, uint32_t c, uint32_t link);
/* Wakes the link, which heads wait for, when it may next serve one of them. */
void fc_event_torus_rearm(struct fc_event_block *block, uint32_t link);
/* Wakes it, or a node that waits, for tokens of the channel, of which some are on their way until `last`. */
void fc_event_torus_wake(struct fc_event_block *block, uint32_t link, uint32_t vc, const struct fc_event_tokens *tokens,
                         uint64_t last);

/* fc_event_add_behind and fc_event_post_return of a ramp in parts. */
void fc_event_torus_add(struct fc_event_block *block, struct fc_event_tokens *tokens, uint64_t last, uint32_t step,
                        uint32_t flits, uint32_t extra);
void fc_event_torus_post(struct fc_event_block *block, int to, uint32_t link, uint32_t vc, uint64_t last, uint32_t step,
                         uint32_t flits, uint32_t extra);

/* ---- event_torus.c ---- */

/* What the head of channel c may take now: true. Else it waits, registered, or has an event when its port has
 * a path free. */
bool fc_event_torus_pick(struct fc_event_block *block, uint32_t c, uint64_t random, struct fc_event_hop *hop);
/* The head of channel c waits no more. */
void fc_event_torus_stop(struct fc_event_block *block, uint32_t c);
/* Heads that wait for the link and that it could take now; `hop`: the best adaptive channel that has room for
 * all of them, or vc FC_EVENT_NO_VC: they ask for the escape. */
#define FC_EVENT_NO_VC 255
uint64_t fc_event_torus_candidates(struct fc_event_block *block, uint32_t link, uint64_t random,
                                   struct fc_event_hop *hop);
/* The waiting head of channel c takes the link as far as `hop` (of the above) allows it; whether it did. */
bool fc_event_torus_take(struct fc_event_block *block, uint32_t c, struct fc_event_hop hop);

/* ---- inline ---- */

static inline bool fc_event_torus_arrived(const struct fc_event_engine *e, uint64_t route)
{
    return !(route & e->adaptive.hops);
}
static inline const uint32_t *fc_event_torus_row(const struct fc_event_engine *e, uint32_t router)
{
    return e->adaptive.row + (size_t)router * e->adaptive.width;
}
static inline uint32_t fc_event_torus_ejection(const struct fc_event_engine *e, const uint32_t *row, uint32_t router,
                                               uint32_t dst)
{
    return row[FC_ROUTE_EJECTION] + (dst - router * e->adaptive.per_router);
}
static inline union fc_event_lane *fc_event_lane_of(const struct fc_event_engine *e, uint32_t l)
{
    return &e->lane[(size_t)l * e->stride];
}

/* Tokens there are now, as fc_event_count, without a division. Ramps behind the first have not begun while
 * that one lasts. */
static inline int32_t fc_event_room(const struct fc_event_block *block, const struct fc_event_tokens *t)
{
    uint64_t now = block->wheel.now, ahead = t->ramp.last - now;
    if (__builtin_expect(t->more | t->ramp.extra, 0)) return fc_event_count_many(block, t, now);
    uint64_t left = now < t->ramp.last ? ahead : 0, flits = t->ramp.flits;
    uint64_t missing = (left * t->per_step + (FC_EVENT_STEPS - 1)) / FC_EVENT_STEPS;
    missing = missing > flits ? flits : missing;
    return t->count + (int32_t)flits - (int32_t)missing;
}
