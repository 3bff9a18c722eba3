/* event_router.h - arbitration at the routers of the packet-event engine (event_router.c, event_elect.c). */
#pragma once

#include "solvers/flit/event.h"

/* Decides what moves at n <= FC_EVENT_BATCH routers at this tick. */
void fc_event_arbitrate(struct fc_event_block *block, const struct fc_event_dirty *dirty, uint32_t n);

/* One of the heads of the mask (not empty; overwritten): phases 2 and 3 in one where they ask for the same
 * output. */
uint32_t fc_event_elect(struct fc_event_block *block, uint32_t router, uint64_t *mask, uint32_t turn, uint64_t random);
#define FC_EVENT_SALT_PICK 0x9e3779b97f4a7c15u
#define FC_EVENT_SALT_ELECT 0xd1342543de82ef95u
static inline uint64_t fc_event_spread(uint64_t x)
{
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

/* Random bits for (seed, router, tick, salt): a pure function, so that threads do not matter. The finaliser
 * of splitmix64 (Steele, Lea & Flood, OOPSLA 2014) of a linear combination. */
static inline uint64_t fc_event_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
static inline uint64_t fc_event_random(const struct fc_event_block *block, uint32_t router, uint32_t salt)
{
    uint64_t place = (uint64_t)router << 32 | salt;
    return fc_event_mix(block->engine->seed + place * 0xda942042e4dd58b5u + block->wheel.now * 0x9e3779b97f4a7c15u);
}
