/* event_wheel.h - the calendar of the packet-event engine, and arrays that grow. */
#pragma once

#include "core/core.h"

/* Events are 32-bit words: kind in the top bits, what it concerns below. At most 2^30 channels. */
enum { FC_EVENT_CHANNEL, FC_EVENT_LINK, FC_EVENT_NODE };
#define FC_EVENT_KIND_SHIFT 30
#define FC_EVENT_INDEX ((1u << FC_EVENT_KIND_SHIFT) - 1)

#define FC_EVENT_CHUNK 14
struct fc_event_chunk { /* one cache line; chunks are a list, only the first not full */
    uint32_t next, n;
    uint32_t word[FC_EVENT_CHUNK];
};
#define FC_EVENT_PERIODS 256
/* A calendar of 2^bits slots of one tick, 256 periods of that length behind it, and a list for what lies
 * beyond. */
struct fc_event_wheel {
    int bits;
    struct fc_event_chunk *slot;       /* [2^bits] the newest events of a tick; older ones in its list */
    uint64_t *filled;                  /* [2^bits / 64] bitmap of the slots that are not empty */
    uint32_t period[FC_EVENT_PERIODS]; /* chunks of pairs (tick within the period, event) */
    uint64_t at_period;                /* the period whose pairs lie in the slots already */
    uint64_t now;
    struct fc_event_chunk *chunk;
    uint32_t n_chunks, chunk_capacity, free_chunk;
    struct fc_event_far {
        uint64_t tick;
        uint32_t word;
    } * far;
    uint32_t n_far, far_capacity;
    bool out_of_memory;
};

enum fc_code fc_event_wheel_make(struct fc_event_wheel *wheel, uint64_t reach, struct fc_arena *arena,
                                 struct fc_status *st);
void fc_event_wheel_free(struct fc_event_wheel *wheel);
/* An event at `tick` >= now, beyond the slots. */
void fc_event_push_far(struct fc_event_wheel *wheel, uint64_t tick, uint32_t word);
/* Moves `now` to the first tick before `end` that has events and returns true; else moves it to `end`. */
bool fc_event_next_tick(struct fc_event_wheel *wheel, uint64_t end);
/* Moves `now` on to `tick`, before which there are no events left. */
void fc_event_set_now(struct fc_event_wheel *wheel, uint64_t tick);
/* Makes room for one more element of `size` bytes in a growing array, 64-byte aligned; false: out of memory.
 */
bool fc_event_grow(void **array, uint32_t *capacity, uint32_t n, size_t size);

/* Moves the events of a full slot into its list; false: out of memory. */
bool fc_event_spill(struct fc_event_wheel *wheel, struct fc_event_chunk *slot);

static inline void fc_event_push(struct fc_event_wheel *wheel, uint64_t tick, int kind, uint32_t index)
{
    uint32_t word = (uint32_t)kind << FC_EVENT_KIND_SHIFT | index;
    if (__builtin_expect((tick - wheel->now) >> wheel->bits != 0, 0)) {
        fc_event_push_far(wheel, tick, word);
        return;
    }
    uint32_t s = (uint32_t)tick & ((1u << wheel->bits) - 1);
    struct fc_event_chunk *slot = &wheel->slot[s];
    if (__builtin_expect(slot->n == FC_EVENT_CHUNK, 0) && !fc_event_spill(wheel, slot)) return;
    wheel->filled[s / 64] |= 1ull << s % 64;
    slot->word[slot->n++] = word;
}
