/* event_transfer.h - a packet moves on, within a block or to another one (event_transfer.c), on a path of its input port. */
#pragma once

#include "solvers/flit/event.h"

/* A packet is on its way to a channel whose link ends in this block. */
void fc_event_append(struct fc_event_block *block, uint32_t channel, uint32_t packet);
/* A packet starts on an injection link. */
void fc_event_depart(struct fc_event_block *block, uint32_t link, uint32_t vc, uint32_t packet);
/* The head of channel c takes a choice. */
void fc_event_send(struct fc_event_block *block, uint32_t c, const struct fc_flit_choice *choice, uint32_t vc,
                   bool waited);

/* The same to another block: the packet's copy, and tokens. */
void fc_event_post_arrival(struct fc_event_block *block, int to, uint32_t channel, uint32_t packet);
void fc_event_post_return(struct fc_event_block *block, int to, uint32_t link, uint32_t vc,
                          const struct fc_event_ramp *ramp);

static inline struct fc_event_outbox *fc_event_outbox_to(struct fc_event_block *block, int to)
{
    struct fc_event_engine *e = block->engine;
    return fc_event_outbox_at(e, block->parity, block->index, to);
}

/* Whether the head's input port has a path free to links of that kind; if not, `until` is when it will. A
 * path is held while a packet crosses. Links to nodes have a path of their own in every port. */
static inline bool fc_event_path_free(const struct fc_event_engine *e, uint32_t in_link, int kind, uint64_t now,
                                      uint64_t *until)
{
    *until = e->eject_end[in_link];
    if (kind == FC_EVENT_EJECTION) return *until <= now;
    if (!e->few_paths || in_link >= e->first_unlimited) return true;
    const uint64_t *end = &e->path_end[(size_t)in_link * e->paths];
    if (e->paths == 2) {
        *until = end[1] < end[0] ? end[1] : end[0];
        return *until <= now;
    }
    *until = FC_EVENT_NEVER;
    for (uint32_t i = 0; i < e->paths; i++) {
        if (end[i] <= now) return true;
        if (end[i] < *until) *until = end[i];
    }
    return false;
}

static inline void fc_event_take_path(struct fc_event_engine *e, uint32_t in_link, int kind, uint64_t now, uint64_t end)
{
    if (kind == FC_EVENT_EJECTION) {
        e->eject_end[in_link] = end;
        return;
    }
    if (!e->few_paths || in_link >= e->first_unlimited) return;
    uint64_t *path = &e->path_end[(size_t)in_link * e->paths];
    if (e->paths == 2) {
        path[path[1] < path[0]] = end;
        return;
    }
    while (*path > now) path++;
    *path = end;
}
