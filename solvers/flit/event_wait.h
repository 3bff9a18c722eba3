/* event_wait.h - heads that wait for links, and what wakes them (event_wait.c). */
#ifndef FC_EVENT_WAIT_H
#define FC_EVENT_WAIT_H

#include "solvers/flit/event.h"

/* Wakes the link when one of its waiters may next be served. Those that could be served now wait for a path:
 * they have an event of their own. */
void fc_event_rearm(struct fc_event_block *block, uint32_t link);
/* The head of channel c, for which none of the choices is available, waits for them; or does no more. */
void fc_event_wait(struct fc_event_block *block, uint32_t c, const struct fc_flit_choice *choice, int n);
void fc_event_stop_waiting(struct fc_event_block *block, uint32_t bit, const struct fc_flit_choice *choice, int n);
/* Heads that wait for the link and that it could take now; whether there are any. */
bool fc_event_eligible(struct fc_event_block *block, uint32_t link, uint64_t *mask);

/* The head of channel c is looked at again at `tick`. */
static inline void fc_event_head_due(struct fc_event_block *block, uint32_t c, uint64_t tick)
{
    struct fc_event_channel *channel = &block->engine->channel[c];
    if ((channel->flags & FC_EVENT_DUE) && channel->when <= tick) return;
    channel->flags |= FC_EVENT_DUE;
    channel->when = tick;
    fc_event_push(&block->wheel, tick, FC_EVENT_CHANNEL, c);
}

static inline void fc_event_wake_at(struct fc_event_block *block, uint32_t l, struct fc_event_link *link, uint64_t tick)
{
    if (tick >= link->wake) return;
    link->wake = tick;
    fc_event_push(&block->wheel, tick, FC_EVENT_LINK, l);
}

/* The slots for heads that would take any of `vcs`: one, or one for each channel when the block's groups are
 * others. */
static inline uint64_t fc_event_slots(struct fc_event_block *block, uint32_t vcs, uint32_t k)
{
    for (uint32_t i = 0; i < FC_EVENT_GROUPS; i++) {
        struct fc_event_group *g = &block->group[i];
        if (g->vcs == vcs && g->k == k) return 1ull << i;
        if (g->vcs) continue;
        *g = (struct fc_event_group){(uint16_t)vcs, (uint8_t)k};
        return 1ull << i;
    }
    uint64_t slots = 0;
    for (; vcs; vcs &= vcs - 1) slots |= 1ull << (FC_EVENT_GROUPS + 2 * (uint32_t)__builtin_ctz(vcs) + k);
    return slots;
}

/* Heads in the slot of a link. */
static inline uint64_t *fc_event_waiting(const struct fc_event *e, uint32_t l, uint32_t slot)
{
    return &e->waiting[((size_t)l * e->n_slots + slot) * (size_t)e->words];
}

#endif
