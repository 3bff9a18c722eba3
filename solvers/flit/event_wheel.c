/* event_wheel.c - the calendar of the packet-event engine: which events are due at which tick.
 *
 * A calendar queue (Brown, CACM 31(10), 1988) with slots of one tick, so that nothing is ever sorted: an
 * event less than 2^bits ticks ahead lies in the slot of its tick; one up to 255 periods of 2^bits ticks
 * ahead in the list of its period, dealt out to the slots when the period begins; the rest in one list,
 * looked through when a period comes within reach. A slot is a cache line of events; what it cannot hold, and
 * the lists, are chains of chunks of a cache line from one pool. Within a tick events are in no order that
 * means anything: the engine looks at all of them that are at one router before it decides. */
#include "solvers/flit/event_wheel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

bool fc_event_grow(void **array, uint32_t *capacity, uint32_t n, size_t size)
{
    if (n < *capacity) return true;
    uint64_t wanted = *capacity ? 2ull * *capacity : 1024;
    if (wanted > FC_EVENT_INDEX) return false;
    size_t bytes = (size_t)wanted * size, align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    bytes = (bytes + align - 1) / align * align;
    void *more = aligned_alloc(align, bytes);
    if (!more) return false;
    if (align == HUGE_PAGE) madvise(more, bytes, MADV_HUGEPAGE);
    if (*array) memcpy(more, *array, (size_t)*capacity * size);
    free(*array);
    *array = more;
    *capacity = (uint32_t)wanted;
    return true;
}

enum fc_code fc_event_wheel_make(struct fc_event_wheel *wheel, uint64_t reach, struct fc_arena *arena,
                                 struct fc_status *st)
{
    wheel->bits = 8;
    while (wheel->bits < 16 && (1ull << wheel->bits) <= reach) wheel->bits++;
    size_t slots = (size_t)1 << wheel->bits;
    wheel->slot = fc_alloc(arena, slots, sizeof *wheel->slot, st);
    wheel->filled = fc_alloc(arena, slots / 64, sizeof *wheel->filled, st);
    wheel->n_chunks = 1;
    return wheel->slot && wheel->filled ? FC_OK : st->code;
}

void fc_event_wheel_free(struct fc_event_wheel *wheel)
{
    free(wheel->chunk);
    free(wheel->far);
}

/* A chunk off the free list, empty; 0 and out_of_memory when there is none. */
static uint32_t new_chunk(struct fc_event_wheel *wheel)
{
    uint32_t c = wheel->free_chunk;
    if (c) {
        wheel->free_chunk = wheel->chunk[c].next;
    } else {
        void *pool = wheel->chunk;
        if (!fc_event_grow(&pool, &wheel->chunk_capacity, wheel->n_chunks, sizeof *wheel->chunk)) {
            wheel->out_of_memory = true;
            return 0;
        }
        wheel->chunk = pool;
        c = wheel->n_chunks++;
    }
    wheel->chunk[c].n = 0;
    return c;
}

bool fc_event_spill(struct fc_event_wheel *wheel, struct fc_event_chunk *slot)
{
    uint32_t c = new_chunk(wheel);
    if (c == 0) return false;
    wheel->chunk[c] = *slot;
    slot->next = c;
    slot->n = 0;
    return true;
}

static void add_to_list(struct fc_event_wheel *wheel, uint32_t *first, uint32_t word)
{
    uint32_t c = *first;
    if (c == 0 || wheel->chunk[c].n == FC_EVENT_CHUNK) {
        uint32_t fresh = new_chunk(wheel);
        if (fresh == 0) return;
        wheel->chunk[fresh].next = c;
        *first = c = fresh;
    }
    struct fc_event_chunk *chunk = &wheel->chunk[c];
    chunk->word[chunk->n++] = word;
}

void fc_event_push_far(struct fc_event_wheel *wheel, uint64_t tick, uint32_t word)
{
    uint64_t ahead = (tick >> wheel->bits) - wheel->at_period;
    if (ahead < FC_EVENT_PERIODS) {
        uint32_t *first = &wheel->period[(tick >> wheel->bits) % FC_EVENT_PERIODS];
        add_to_list(wheel, first, (uint32_t)tick & ((1u << wheel->bits) - 1));
        if (!wheel->out_of_memory) add_to_list(wheel, first, word); /* a chunk holds whole pairs */
        return;
    }
    void *pool = wheel->far;
    if (!fc_event_grow(&pool, &wheel->far_capacity, wheel->n_far, sizeof *wheel->far)) {
        wheel->out_of_memory = true;
        return;
    }
    wheel->far = pool;
    wheel->far[wheel->n_far++] = (struct fc_event_far){tick, word};
}

static void deal_period(struct fc_event_wheel *wheel)
{
    uint64_t start = wheel->at_period << wheel->bits;
    uint32_t *first = &wheel->period[wheel->at_period % FC_EVENT_PERIODS], c = *first;
    *first = 0;
    while (c) {
        uint32_t next = wheel->chunk[c].next, n = wheel->chunk[c].n;
        for (uint32_t i = 0; i < n; i += 2) {
            uint32_t at = wheel->chunk[c].word[i], word = wheel->chunk[c].word[i + 1];
            fc_event_push(wheel, start + at, (int)(word >> FC_EVENT_KIND_SHIFT), word & FC_EVENT_INDEX);
        }
        wheel->chunk[c].next = wheel->free_chunk;
        wheel->free_chunk = c;
        c = next;
    }
    uint32_t n = wheel->n_far;
    wheel->n_far = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct fc_event_far f = wheel->far[i];
        if ((f.tick >> wheel->bits) - wheel->at_period < FC_EVENT_PERIODS)
            fc_event_push_far(wheel, f.tick, f.word);
        else
            wheel->far[wheel->n_far++] = f;
    }
}

void fc_event_set_now(struct fc_event_wheel *wheel, uint64_t tick)
{
    while (wheel->at_period < tick >> wheel->bits) {
        wheel->at_period++;
        wheel->now = wheel->at_period << wheel->bits;
        deal_period(wheel);
    }
    wheel->now = tick;
}

bool fc_event_next_tick(struct fc_event_wheel *wheel, uint64_t end)
{
    uint64_t slots = 1ull << wheel->bits;
    while (wheel->now < end) {
        uint64_t at = wheel->now & (slots - 1), word = at / 64;
        uint64_t bits = wheel->filled[word] >> at % 64 << at % 64;
        while (bits == 0 && ++word < slots / 64) bits = wheel->filled[word];
        uint64_t tick = wheel->now - at + (bits ? word * 64 + (uint64_t)__builtin_ctzll(bits) : slots);
        if (tick >= end) break;
        fc_event_set_now(wheel, tick);
        if (bits) return true;
    }
    if (wheel->now < end) fc_event_set_now(wheel, end);
    return false;
}
