/* event_torus_move.c - moves on an adaptive torus that are not inlined (event_torus_move.h), and the wake-ups
 * of links: see event_wait.c for the rule. */
#include "solvers/flit/event_node.h"
#include "solvers/flit/event_torus_move.h"
#include "solvers/flit/event_wait.h"

/* ---- waiting for links and tokens ---- */

/* The first tick at which there are `need` tokens, or `first` if that is earlier; ticks that have come do not
 * count. */
static inline uint64_t token_tick(const struct fc_event_block *block, const struct fc_event_tokens *t, uint32_t need,
                                  uint64_t first)
{
    uint64_t tick = fc_event_token_tick(block, t, need);
    return tick && tick < first ? tick : first;
}

void fc_event_torus_rearm(struct fc_event_block *block, uint32_t l)
{
    struct fc_event_engine *e = block->engine;
    union fc_event_lane *lane = fc_event_lane_of(e, l);
    const union fc_event_lane *tokens = lane + e->first_tokens;
    uint64_t first = FC_EVENT_NEVER;
    if (lane->link.busy_until > block->wheel.now) {
        fc_event_wake_at(block, l, &lane->link, lane->link.busy_until);
        return;
    }
    if (lane->link.kind == FC_EVENT_EJECTION) return;
    for (uint32_t v = (uint32_t)e->flit->n_escape_vcs; v < e->n_network_vcs; v++)
        first = token_tick(block, &tokens[v].tokens, e->full, first);
    const uint64_t *escapes = fc_event_escape_wanted(e, fc_event_shape_of(e), lane->link.source, lane->link.port);
    for (uint32_t k = 0; k < 2; k++)
        if (escapes[k]) first = token_tick(block, &tokens[e->escape_vc[k]].tokens, e->escape_need[k], first);
    if (first != FC_EVENT_NEVER) fc_event_wake_at(block, l, &lane->link, first);
}

void fc_event_torus_wake(struct fc_event_block *block, uint32_t l, uint32_t vc, const struct fc_event_tokens *t,
                         uint64_t last)
{
    struct fc_event_engine *e = block->engine;
    union fc_event_lane *lane = fc_event_lane_of(e, l);
    uint64_t now = block->wheel.now;
    if (lane->link.kind == FC_EVENT_INJECTION) {
        fc_event_wake_for_tokens(block, l, vc, NULL);
        return;
    }
    if (lane->link.busy_until > now) return; /* its wake-up is that of its end */
    const uint64_t *escapes = fc_event_escape_wanted(e, fc_event_shape_of(e), lane->link.source, lane->link.port);
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t need = k < 2 ? e->escape_need[k] : e->full;
        bool wanted = k < 2 ? escapes[k] && e->escape_vc[k] == vc : vc >= (uint32_t)e->flit->n_escape_vcs;
        if (!wanted) continue;
        uint64_t tick = fc_event_token_tick(block, t, need);
        if (tick == 0 && last > now) continue; /* had them before: its heads wait for something else */
        if (tick != FC_EVENT_NEVER) fc_event_wake_at(block, l, &lane->link, tick > now ? tick : now);
    }
}

/* ---- moves ---- */

void fc_event_torus_return(struct fc_event_block *block, uint32_t l, uint32_t vc, const struct fc_event_ramp *ramp)
{
    const struct fc_event_engine *e = block->engine;
    fc_event_give_back(block, fc_event_shape_of(e), l, vc, ramp->last, ramp->step, ramp->flits, ramp->extra,
                       fc_event_per_step(e, ramp->step));
}

void fc_event_torus_add(struct fc_event_block *block, struct fc_event_tokens *t, uint64_t last, uint32_t step,
                        uint32_t flits, uint32_t extra)
{
    struct fc_event_ramp ramp = {last, step, (uint16_t)flits, (uint16_t)extra};
    fc_event_add_behind(block, t, &ramp);
}

void fc_event_torus_post(struct fc_event_block *block, int to, uint32_t l, uint32_t vc, uint64_t last, uint32_t step,
                         uint32_t flits, uint32_t extra)
{
    struct fc_event_ramp ramp = {last, step, (uint16_t)flits, (uint16_t)extra};
    fc_event_post_return(block, to, l, vc, &ramp);
}

void fc_event_torus_append(struct fc_event_block *block, uint32_t c, uint32_t p)
{
    fc_event_enqueue(block, c, p);
}

void fc_event_torus_send(struct fc_event_block *block, uint32_t c, struct fc_event_hop hop, bool waited)
{
    const struct fc_event_engine *e = block->engine;
    if (fc_event_torus_arrived(e, block->packet[e->channel[c].head].route))
        fc_event_torus_eject(block, c, hop.link);
    else if (e->is_usual)
        fc_event_move(block, FC_EVENT_USUAL, c, hop, waited);
    else
        fc_event_move(block, fc_event_shape_of(e), c, hop, waited);
}

void fc_event_torus_eject(struct fc_event_block *block, uint32_t c, uint32_t l)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    uint32_t p = channel->head, vc = e->bit_vc[channel->bit];
    struct fc_event_packet *packet = &block->packet[p];
    uint64_t now = block->wheel.now;
    uint32_t flits = packet->flits, sending = flits * e->ejection.flit, ticks = sending + e->ejection.trailer;
    fc_event_occupy(block, l, fc_event_link(e, l), channel, now + ticks);
    e->eject_end[channel->link] = now + sending;
    if (packet->hops) fc_event_count_occupancy(block, packet, vc, flits, e->ejection.flit);
    fc_event_torus_count(block, l, flits, e->ejection.flit);
    fc_event_leave(block, fc_event_shape_of(e), c, channel, packet, vc, now + sending, e->ejection.flit,
                   e->eject_per_step);
    block->last_move = now;
    fc_event_deliver(block, p, now + ticks + e->ejection.latency);
}
