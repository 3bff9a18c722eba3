/* event_tokens.h - tokens of a channel that are there or come back (event_wait.c). */
#pragma once

#include "solvers/flit/event.h"

/* The tick at which there are `need` tokens, as far as is known; 0: now. */
uint64_t fc_event_token_tick(const struct fc_event_block *block, const struct fc_event_tokens *tokens, uint32_t need);
/* Adds the ramp that ended to the count, and goes on with the next. */
void fc_event_next_ramp(struct fc_event_block *block, struct fc_event_tokens *tokens);
/* Puts a ramp behind the one in progress. */
void fc_event_add_behind(struct fc_event_block *block, struct fc_event_tokens *tokens,
                         const struct fc_event_ramp *ramp);
/* Wakes those who wait for tokens of the channel, of which some are on their way. */
void fc_event_wake_for_tokens(struct fc_event_block *block, uint32_t link, uint32_t vc,
                              const struct fc_event_ramp *ramp);

/* Tokens there are at `now`. Changes nothing: what came back is added up when the next return comes. */
int32_t fc_event_count_many(const struct fc_event_block *block, const struct fc_event_tokens *t, uint64_t now);
static inline int32_t fc_event_count(const struct fc_event_block *block, const struct fc_event_tokens *t, uint64_t now)
{
    if (t->more) return fc_event_count_many(block, t, now);
    uint64_t span = (uint64_t)t->ramp.flits * t->ramp.step, ahead = t->ramp.last - now;
    uint64_t left = ahead & ~(uint64_t)((int64_t)ahead >> 63); /* branches would be random ones */
    int32_t missing = (int32_t)(t->ramp.extra & -(uint32_t)(left != 0));
    left = left > span ? span : left;
    missing += (int32_t)(((uint32_t)left + t->ramp.step - 1) / t->ramp.step);
    return t->count + t->ramp.flits + t->ramp.extra - missing;
}

/* Tokens on their way to a channel whose link starts in this block. */
static inline void fc_event_take_return(struct fc_event_block *block, uint32_t l, uint32_t vc,
                                        const struct fc_event_ramp *ramp)
{
    struct fc_event_tokens *t = fc_event_tokens_of(block->engine, l, vc);
    while (t->ramp.flits && block->wheel.now >= t->ramp.last) fc_event_next_ramp(block, t);
    if (t->ramp.flits)
        fc_event_add_behind(block, t, ramp);
    else
        t->ramp = *ramp;
    if (fc_event_link(block->engine, l)->wanted) fc_event_wake_for_tokens(block, l, vc, ramp);
}
