/* event_torus_move.c - a packet leaves a channel of an adaptive torus and enters the next, or its node; what
 * event_transfer.c does in any network.
 *
 * Times are those of event_transfer.c. What is known before is not asked: all links between routers are of
 * one class, and the link into the network is no slower, so that only on the link to its node a packet could
 * run dry. The head of one that has no hops left is called when it cannot any more. */
#include "solvers/flit/event_torus.h"

/* ---- waiting for links and tokens ---- */

/* The first tick at which there are `need` tokens, or `first` if that is earlier; ticks that have come do not
 * count. */
static inline uint64_t token_tick(const struct fc_event_block *block, const struct fc_event_tokens *t,
                                  uint32_t need, uint64_t first)
{
    uint64_t tick = fc_event_token_tick(block, t, need);
    return tick && tick < first ? tick : first;
}

void fc_event_torus_rearm(struct fc_event_block *block, uint32_t l)
{
    struct fc_event *e = block->engine;
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
    for (uint32_t k = 0; k < 2; k++)
        if (lane[1].escapes.wanted[k])
            first = token_tick(block, &tokens[e->escape_vc[k]].tokens, e->escape_need[k], first);
    if (first != FC_EVENT_NEVER) fc_event_wake_at(block, l, &lane->link, first);
}

/* Wakes the link for those who wait for the channel, of whose tokens some are on their way. While it is busy
 * its wake-up is that of its end. */
static __attribute__((noinline)) void wake_for_tokens(struct fc_event_block *block, uint32_t l, uint32_t vc,
                                                      const struct fc_event_tokens *t,
                                                      const struct fc_event_ramp *ramp)
{
    struct fc_event *e = block->engine;
    union fc_event_lane *lane = fc_event_lane_of(e, l);
    uint64_t now = block->wheel.now;
    if (lane->link.kind == FC_EVENT_INJECTION) {
        fc_event_wake_for_tokens(block, l, vc, ramp);
        return;
    }
    if (lane->link.busy_until > now) return;
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t need = k < 2 ? e->escape_need[k] : e->full;
        bool wanted = k < 2 ? lane[1].escapes.wanted[k] && e->escape_vc[k] == vc : vc >= (uint32_t)e->flit->n_escape_vcs;
        if (!wanted) continue;
        uint64_t tick = fc_event_token_tick(block, t, need);
        if (tick == 0 && ramp->last > now) continue; /* had them before: its heads wait for something else */
        if (tick != FC_EVENT_NEVER) fc_event_wake_at(block, l, &lane->link, tick > now ? tick : now);
    }
}

void fc_event_torus_return(struct fc_event_block *block, uint32_t l, uint32_t vc,
                           const struct fc_event_ramp *ramp)
{
    struct fc_event *e = block->engine;
    struct fc_event_tokens *t = fc_event_tokens_of(e, l, vc);
    while (t->ramp.flits && block->wheel.now >= t->ramp.last) fc_event_next_ramp(block, t);
    if (t->ramp.flits) {
        fc_event_add_behind(block, t, ramp);
    } else {
        t->ramp = *ramp;
        t->per_step = fc_event_per_step(e, ramp->step);
    }
    if (fc_event_link(e, l)->wanted) wake_for_tokens(block, l, vc, t, ramp);
}

/* ---- channels ---- */

/* The tick from which the packet may go on. */
static inline uint64_t head_tick(const struct fc_event *e, const struct fc_event_packet *packet)
{
    uint64_t dry = packet->tail - packet->flits * e->ejection.flit - e->ejection.trailer;
    uint64_t wait = -(uint64_t)(fc_event_torus_arrived(e, packet->route) & (dry > packet->ready));
    return packet->ready + ((dry - packet->ready) & wait);
}

void fc_event_torus_append(struct fc_event_block *block, uint32_t c, uint32_t p)
{
    struct fc_event *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    const struct fc_event_packet *packet = &block->packet[p];
    channel->queued = (uint16_t)(channel->queued + packet->flits);
    channel->tail_ready = packet->ready & 0xffffffu;
    if (channel->head) {
        block->packet[channel->tail].next = p;
        channel->tail = p;
        return;
    }
    uint64_t tick = head_tick(e, packet);
    channel->head = channel->tail = p;
    channel->when = channel->when > tick ? channel->when : tick;
    channel->flags = FC_EVENT_DUE;
    fc_event_push(&block->wheel, channel->when, FC_EVENT_CHANNEL, c);
}

/* Takes the head off its queue until `end`, frees its tokens one in `step` ticks, and calls the next. */
static inline __attribute__((always_inline)) void leave(struct fc_event_block *block, uint32_t c,
                                                        struct fc_event_channel *channel,
                                                        const struct fc_event_packet *packet, uint64_t end,
                                                        uint32_t step)
{
    struct fc_event *e = block->engine;
    uint32_t vc = e->bit_vc[channel->bit], next = packet->next;
    channel->head = next;
    channel->queued = (uint16_t)(channel->queued - packet->flits);
    channel->flags = 0;
    channel->when = end;
    if (next) {
        uint64_t tick = head_tick(e, &block->packet[next]);
        channel->when = tick > end ? tick : end;
        channel->flags = FC_EVENT_DUE;
        fc_event_push(&block->wheel, channel->when, FC_EVENT_CHANNEL, c);
    }
    uint32_t one_by_one = step ? packet->flits : 1;
    struct fc_event_ramp ramp = {.last = end + e->times[packet->in_class].token,
                                 .step = step ? step : 1,
                                 .flits = (uint16_t)one_by_one,
                                 .extra = (uint16_t)(packet->held - one_by_one)};
    if (block->counts->interval_ticks) fc_event_count_return(block, ramp.last);
    int to = e->n_blocks > 1 ? e->vertex_block[fc_event_link(e, channel->link)->source] : 0;
    if (to == block->index)
        fc_event_torus_return(block, channel->link, vc, &ramp);
    else
        fc_event_post_return(block, to, channel->link, vc, &ramp);
}

/* The packet starts on a link, not to a node, for channel vc. */
static inline __attribute__((always_inline)) void enter(struct fc_event_block *block, uint32_t l, uint32_t vc,
                                                        struct fc_event_tokens *t, uint32_t p,
                                                        struct fc_event_packet *packet, uint32_t link_class,
                                                        uint32_t ticks, uint32_t ready)
{
    struct fc_event *e = block->engine;
    uint32_t c = fc_event_channel_at(e, l, vc);
    t->count -= packet->held;
    packet->ready = block->wheel.now + ready;
    packet->tail = packet->ready + ticks;
    packet->in_class = (uint16_t)link_class;
    packet->next = 0;
    int to = e->n_blocks > 1 ? e->vertex_block[e->channel[c].router] : 0;
    if (to == block->index)
        fc_event_torus_append(block, c, p);
    else
        fc_event_post_arrival(block, to, c, p);
}

/* ---- moves ---- */

static inline void count_sent(struct fc_event_block *block, uint32_t l, uint32_t flits, uint32_t flit_ticks)
{
    if (block->wheel.now - block->counts->measure_from >= block->well_within) {
        fc_event_count_edge(block, l, flits, flit_ticks);
        return;
    }
    block->engine->sent[l] += (uint64_t)flits << 32 | 1;
}

/* The link sends until then. */
static inline void occupy(struct fc_event_block *block, uint32_t l, struct fc_event_link *link, uint64_t end)
{
    link->busy_until = end;
    if (!link->wanted) return;
    link->wake = end; /* whatever it was, it comes too early now */
    fc_event_push(&block->wheel, end, FC_EVENT_LINK, l);
}

static inline void turn(struct fc_event *e, const struct fc_event_channel *channel, struct fc_event_link *link)
{
    if (e->flit->arbitration != FC_ROUND_ROBIN) return;
    link->turn = e->bit_port[channel->bit];
    e->port_turn[channel->link] = e->bit_vc[channel->bit];
}

void fc_event_torus_send(struct fc_event_block *block, uint32_t c, struct fc_event_hop hop, bool waited)
{
    struct fc_event *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    uint32_t p = channel->head;
    struct fc_event_packet *packet = &block->packet[p];
    if (fc_event_torus_arrived(e, packet->route)) {
        fc_event_torus_eject(block, c, hop.link);
        return;
    }
    struct fc_flit_counts *counts = block->counts;
    union fc_event_lane *lane = fc_event_lane_of(e, hop.link);
    struct fc_event_tokens *t = &lane[e->first_tokens + hop.vc].tokens;
    uint64_t now = block->wheel.now;
    uint32_t flits = packet->flits, sending = flits * e->hop.flit, ticks = sending + e->hop.trailer;
    __builtin_prefetch(&e->channel[hop.link * e->n_network_vcs + hop.vc]);
    __builtin_prefetch(&e->sent[hop.link]);
    occupy(block, hop.link, &lane->link, now + ticks);
    turn(e, channel, &lane->link);
    fc_event_take_path(e, channel->link, FC_EVENT_BETWEEN, now, now + sending);
    if (packet->hops) fc_event_count_occupancy(block, packet, e->bit_vc[channel->bit], e->hop.flit);
    count_sent(block, hop.link, flits, e->hop.flit);
    leave(block, c, channel, packet, now + sending, e->hop.flit);
    block->last_move = now;
    counts->flit_hops += flits;
    counts->escape_flit_hops += hop.escape ? flits : 0;
    if (__builtin_expect(counts->interval_ticks != 0, 0)) {
        fc_event_count_intervals(block, flits, e->hop.flit, hop.vc);
        if (waited) fc_event_count_unblocked(block, t);
    }
    packet->route = hop.route;
    packet->held = (uint16_t)(hop.escape & e->adaptive.full_size ? e->full : flits);
    packet->hops++;
    enter(block, hop.link, hop.vc, t, p, packet, e->hop_class, ticks, e->hop.ready);
}

void fc_event_torus_eject(struct fc_event_block *block, uint32_t c, uint32_t l)
{
    struct fc_event *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    uint32_t p = channel->head;
    struct fc_event_packet *packet = &block->packet[p];
    union fc_event_lane *lane = fc_event_lane_of(e, l);
    uint64_t now = block->wheel.now;
    uint32_t sending = packet->flits * e->ejection.flit, ticks = sending + e->ejection.trailer;
    occupy(block, l, &lane->link, now + ticks);
    turn(e, channel, &lane->link);
    e->eject_end[channel->link] = now + sending;
    if (packet->hops) fc_event_count_occupancy(block, packet, e->bit_vc[channel->bit], e->ejection.flit);
    count_sent(block, l, packet->flits, e->ejection.flit);
    leave(block, c, channel, packet, now + sending, e->ejection.flit);
    block->last_move = now;
    fc_event_deliver(block, p, now + ticks + e->ejection.latency);
}

void fc_event_torus_depart(struct fc_event_block *block, uint32_t l, uint32_t vc, uint32_t p)
{
    struct fc_event *e = block->engine;
    struct fc_event_packet *packet = &block->packet[p];
    union fc_event_lane *lane = fc_event_lane_of(e, l);
    uint32_t flits = packet->flits, ticks = flits * e->injection.flit + e->injection.trailer;
    lane->link.busy_until = block->wheel.now + ticks;
    block->last_move = block->wheel.now;
    count_sent(block, l, flits, e->injection.flit);
    enter(block, l, vc, fc_event_tokens_of(e, l, vc), p, packet, lane->link.link_class, ticks,
          e->injection.ready);
}
