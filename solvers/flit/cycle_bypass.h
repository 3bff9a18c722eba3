/* cycle_bypass.h - the bypass of idle routers (router.bypass): a head that finds nobody in its way is on the
 * next link after `bypass` instead of `delay`. The idea of pipeline bypassing: Dally & Towles (2004),
 * section 16.7 (speculation and lookahead); Kumar, Peh, Kundu & Jha, "Express virtual channels", ISCA 2007,
 * section 2.
 *
 * A head bypasses the router when, at the tick t at which it reaches the switch,
 *   its channel was empty,
 *   it gets the output in that very tick, while no other channel of the router could use it in that tick, and
 *   the link is free from t + bypass on: no flit granted before, of whatever packet, is still on its way to
 * it or on it. The other flits of the packet follow it by the bypass, each as long as the third condition
 * holds for it. Everything else takes the full delay. Since a flit is never on the link before one that was
 * granted earlier, order within channels and the link's rate are kept. Credits go back as without the bypass.
 * Limits: no bypass with a virtual-channel stage; a head that waits a single tick for a token or a channel
 * takes the full delay. */
#pragma once

#include "solvers/flit/cycle_router.h"

/* The heads that arrived at this tick in empty channels of the port; forgets them. */
static inline uint16_t take_fresh(engine *e, const struct fc_cycle_port *port)
{
    uint16_t *fresh = &e->fresh[port - e->port], mask = *fresh;
    *fresh = 0;
    return mask;
}
/* A channel asks for the link at tick t. */
static inline void ask(engine *e, uint32_t link, uint64_t t)
{
    struct fc_cycle_line *line = &e->line[link];
    line->asked = line->asked_at == t ? line->asked + 1 : 1;
    line->asked_at = t;
}
/* The front flit of the bid's channel gets the switch at tick t: by how many ticks it is on the link earlier
 * than after the full delay. */
static inline uint32_t bypass(engine *e, const struct fc_cycle_bid *bid, uint32_t front, uint64_t t)
{
    const struct fc_flit_net *flit = e->flit;
    struct fc_cycle_line *line = &e->line[bid->out];
    uint16_t *passing = &e->passing[bid->channel >> e->vc_shift],
             bit = (uint16_t)(1u << (bid->channel & ((1u << e->vc_shift) - 1)));
    uint32_t link_class = e->out[bid->out].link_class, early = 0;
    if (front & FC_FLIT_HEAD) *passing &= (uint16_t)~bit;
    if (front & FC_FLIT_HEAD && bid->fresh && line->asked == 1) *passing |= bit;
    if (*passing & bit && line->free <= t + flit->bypass_ticks)
        early = e->gain;
    else if (front & FC_FLIT_HEAD)
        *passing &= (uint16_t)~bit;
    uint32_t ticks = fc_most(flit->flit_ticks[link_class], 1);
    if (front & FC_FLIT_TAIL) ticks += flit->trailer_ticks[link_class];
    line->free = t + flit->router_ticks - early + ticks;
    return early;
}
