/* event_wait.h - heads that wait for links, and what wakes them (event_wait.c). */
#pragma once

#include "solvers/flit/event.h"

/* Sets the link's wake-up to the tick at which one of the heads that wait for it may next be served. Those that it
 * could serve now wait for a path of their input port, and have an event of their own for that. */
void fc_event_rearm(struct fc_event_block *block, uint32_t link);
/* None of the choices of the head of channel c is available: it waits for all of them. And: it waits no more. */
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

/* The request groups (bits of fc_event_link.wanted) of a head that would take any of `vcs`, with room for k + 1 packets:
 * the one of exactly these channels, or, when the block has FC_EVENT_GROUPS others already, one for each channel. */
static inline uint64_t fc_event_request_groups(struct fc_event_block *block, uint32_t vcs, uint32_t k)
{
    for (uint32_t i = 0; i < FC_EVENT_GROUPS; i++) {
        struct fc_event_request_group *g = &block->group[i];
        if (g->vcs == vcs && g->k == k) return 1ull << i;
        if (g->vcs) continue;
        *g = (struct fc_event_request_group){(uint16_t)vcs, (uint8_t)k};
        return 1ull << i;
    }
    uint64_t groups = 0;
    for (; vcs; vcs &= vcs - 1) groups |= 1ull << (FC_EVENT_GROUPS + 2 * (uint32_t)__builtin_ctz(vcs) + k);
    return groups;
}

/* Heads of the request group that wait for the link: a mask of the channels into its router. */
static inline uint64_t *fc_event_waiting(const struct fc_event_engine *e, uint32_t l, uint32_t group)
{
    return &e->waiting[((size_t)l * e->n_groups + group) * (size_t)e->words];
}
