/* event_torus_move.h - a packet leaves a channel of an adaptive torus and enters the next, or its node; what
 * event_transfer.c does in any network. Inlined where heads are alone at their routers (event_torus.c).
 *
 * Times are those of event_transfer.c. What is known before is not asked: all links between routers are of
 * one class, and the link into the network is no slower, so that only on the link to its node a packet could
 * run dry. The head of one that has no hops left is called when it cannot any more. */
#pragma once

#include "solvers/flit/event_count.h"
#include "solvers/flit/event_torus.h"
#include "solvers/flit/event_transfer.h"

#define FC_EVENT_INLINE static inline __attribute__((always_inline))

/* What the compiler may know: numbers of the engine, or constants in its place. */
struct fc_event_shape {
    uint32_t stride, n_vcs, n_dims, n_free, paths; /* n_vcs: of links between routers; paths 0: not few */
};
/* Blue Gene/L: three dimensions, two adaptive channels and the bubble, two paths a port. */
#define FC_EVENT_USUAL ((struct fc_event_shape){4, 3, 3, 2, 2})
FC_EVENT_INLINE struct fc_event_shape fc_event_shape_of(const struct fc_event_engine *e)
{
    return (struct fc_event_shape){e->stride, e->n_network_vcs, (uint32_t)e->adaptive.n_dims, e->adaptive.n_free,
                                   e->few_paths ? e->paths : 0};
}
/* The ticks until which the links of a router's ports are busy. */
FC_EVENT_INLINE uint64_t *fc_event_ports_busy(const struct fc_event_engine *e, struct fc_event_shape s, uint32_t router)
{
    return e->port_busy + (size_t)router * fc_event_port_stride(s.n_dims);
}
/* Heads that wait for the escape on a port of the router, by kind of need. */
FC_EVENT_INLINE uint64_t *fc_event_escape_wanted(const struct fc_event_engine *e, struct fc_event_shape s,
                                                 uint32_t router, uint32_t port)
{
    return e->escape_wanted + ((size_t)router * fc_event_port_stride(s.n_dims) + port) * 2;
}
/* A link, followed by the rest of it; tokens of a channel are at the end. */
FC_EVENT_INLINE union fc_event_lane *fc_event_lane_at(const struct fc_event_engine *e, struct fc_event_shape s,
                                                      uint32_t l)
{
    return e->lane + (size_t)l * s.stride;
}
FC_EVENT_INLINE struct fc_event_tokens *fc_event_tokens_at(union fc_event_lane *lane, struct fc_event_shape s,
                                                           uint32_t vc)
{
    return &lane[s.stride - s.n_vcs + vc].tokens;
}

/* The tick from which the packet may go on. */
FC_EVENT_INLINE uint64_t fc_event_head_tick(const struct fc_event_engine *e, const struct fc_event_packet *packet)
{
    uint64_t ready = packet->ready;
    uint64_t dry = packet->tail - packet->flits * e->ejection.flit - e->ejection.trailer;
    bool later = fc_event_torus_arrived(e, packet->route) & (dry > ready); /* no branch: a random one */
    return ready + ((dry - ready) & -(uint64_t)later);
}

FC_EVENT_INLINE void fc_event_enqueue(struct fc_event_block *block, uint32_t c, uint32_t p)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    const struct fc_event_packet *packet = &block->packet[p];
    channel->queued = (uint16_t)(channel->queued + packet->flits);
    channel->tail_ready = packet->ready & 0xffffffu;
    if (channel->head) {
        block->packet[channel->tail].next = p;
        channel->tail = p;
        return;
    }
    uint64_t tick = fc_event_head_tick(e, packet);
    tick = channel->when > tick ? channel->when : tick;
    channel->head = channel->tail = p;
    channel->when = tick;
    channel->flags = FC_EVENT_DUE;
    fc_event_push(&block->wheel, tick, FC_EVENT_CHANNEL, c);
}

/* Tokens are on their way back. The ramp comes in parts: one put together in memory and read again whole
 * would be waited for. */
FC_EVENT_INLINE void fc_event_give_back(struct fc_event_block *block, struct fc_event_shape s, uint32_t l, uint32_t vc,
                                        uint64_t last, uint32_t step, uint32_t flits, uint32_t extra, uint32_t per_step)
{
    struct fc_event_engine *e = block->engine;
    union fc_event_lane *lane = fc_event_lane_at(e, s, l);
    struct fc_event_tokens *t =
        __builtin_expect(vc >= s.n_vcs, 0) ? fc_event_tokens_of(e, l, vc) : fc_event_tokens_at(lane, s, vc);
    if (__builtin_expect(t->more != 0, 0))
        while (t->ramp.flits && block->wheel.now >= t->ramp.last) fc_event_next_ramp(block, t);
    if (t->ramp.flits && block->wheel.now < t->ramp.last) {
        fc_event_torus_add(block, t, last, step, flits, extra);
    } else { /* nothing behind the ramp that ended */
        t->count += t->ramp.flits + t->ramp.extra;
        t->last = t->ramp.flits ? (uint32_t)t->ramp.last : t->last;
        t->ramp.last = last;
        t->ramp.step = step;
        t->ramp.flits = (uint16_t)flits;
        t->ramp.extra = (uint16_t)extra;
        t->per_step = per_step;
    }
    if (lane->link.wanted) fc_event_torus_wake(block, l, vc, t, last);
}

/* Takes the head off its queue until `end`, frees its tokens one in `flit_ticks`, and calls the next. */
FC_EVENT_INLINE void fc_event_leave(struct fc_event_block *block, struct fc_event_shape s, uint32_t c,
                                    struct fc_event_channel *channel, const struct fc_event_packet *packet, uint32_t vc,
                                    uint64_t end, uint32_t flit_ticks, uint32_t per_step)
{
    struct fc_event_engine *e = block->engine;
    uint32_t next = packet->next, link = channel->link;
    channel->head = next;
    channel->queued = (uint16_t)(channel->queued - packet->flits);
    channel->flags = 0;
    channel->when = end;
    if (next) {
        uint64_t tick = fc_event_head_tick(e, &block->packet[next]);
        tick = tick > end ? tick : end;
        channel->when = tick;
        channel->flags = FC_EVENT_DUE;
        fc_event_push(&block->wheel, tick, FC_EVENT_CHANNEL, c);
    }
    uint32_t flits = flit_ticks ? packet->flits : 1, step = flit_ticks ? flit_ticks : 1, extra = packet->held - flits;
    uint64_t last = end + e->times[packet->in_class].token;
    if (__builtin_expect(block->counts->interval_ticks != 0, 0)) fc_event_count_return(block, last);
    int to = e->n_blocks > 1 ? e->vertex_block[fc_event_lane_at(e, s, link)->link.source] : 0;
    if (to == block->index)
        fc_event_give_back(block, s, link, vc, last, step, flits, extra, per_step);
    else
        fc_event_torus_post(block, to, link, vc, last, step, flits, extra);
}

/* The packet starts on a link, not to a node, for channel c, which had these tokens. */
FC_EVENT_INLINE void fc_event_enter(struct fc_event_block *block, uint32_t c, struct fc_event_tokens *t, uint32_t p,
                                    struct fc_event_packet *packet, uint32_t link_class, uint32_t ticks, uint32_t ready)
{
    struct fc_event_engine *e = block->engine;
    t->count -= packet->held;
    packet->ready = block->wheel.now + ready;
    packet->tail = packet->ready + ticks;
    packet->in_class = (uint8_t)link_class;
    packet->next = 0;
    int to = e->n_blocks > 1 ? e->vertex_block[e->channel[c].router] : 0;
    if (to == block->index)
        fc_event_enqueue(block, c, p);
    else
        fc_event_post_arrival(block, to, c, p);
}

FC_EVENT_INLINE void fc_event_torus_count(struct fc_event_block *block, uint32_t l, uint32_t flits, uint32_t flit_ticks)
{
    if (block->wheel.now - block->counts->measure_from >= block->well_within)
        fc_event_count_edge(block, l, flits, flit_ticks);
    else
        block->engine->sent[l] += (uint64_t)flits << 32 | 1;
}

/* The link sends until `end`. */
FC_EVENT_INLINE void fc_event_occupy(struct fc_event_block *block, uint32_t l, struct fc_event_link *link,
                                     const struct fc_event_channel *channel, uint64_t end)
{
    struct fc_event_engine *e = block->engine;
    link->busy_until = end;
    if (e->in_turn) {
        link->turn = e->bit_port[channel->bit];
        e->port_turn[channel->link] = e->bit_vc[channel->bit];
    }
    if (!link->wanted) return;
    link->wake = end; /* whatever it was, it comes too early now */
    fc_event_push(&block->wheel, end, FC_EVENT_LINK, l);
}

/* fc_event_count_occupancy of a packet that goes on at the rate at which it came, or came from its node. */
FC_EVENT_INLINE void fc_event_count_stay(struct fc_event_block *block, const struct fc_event_packet *packet,
                                         uint32_t vc)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now, arrived = packet->ready - block->engine->router_ticks,
             n = packet->hops ? packet->flits : 0;
    if (__builtin_expect((arrived < counts->measure_from) | (now >= counts->measure_to), 0))
        fc_event_count_occupancy_at_edge(block, arrived, vc, n, 0);
    else
        counts->occupancy_flit_ticks[vc] += (now - arrived) * n;
}

/* The head of channel c, which has hops left, takes a hop. */
FC_EVENT_INLINE void fc_event_move(struct fc_event_block *block, struct fc_event_shape s, uint32_t c,
                                   struct fc_event_hop hop, bool waited)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    struct fc_flit_counts *counts = block->counts;
    uint32_t p = channel->head, in_vc = e->bit_vc[channel->bit];
    struct fc_event_packet *packet = &block->packet[p];
    union fc_event_lane *lane = fc_event_lane_at(e, s, hop.link);
    struct fc_event_tokens *t = fc_event_tokens_at(lane, s, hop.vc);
    uint64_t now = block->wheel.now, end;
    uint32_t flits = packet->flits, sending = flits * e->hop.flit, ticks = sending + e->hop.trailer,
             next = hop.link * s.n_vcs + hop.vc;
    __builtin_prefetch(&e->channel[next]);
    __builtin_prefetch(&e->sent[hop.link]);
    end = now + sending;
    fc_event_occupy(block, hop.link, &lane->link, channel, now + ticks);
    fc_event_ports_busy(e, s, channel->router)[lane->link.port] = now + ticks;
    if (s.paths == 2) { /* of links that have a path for every channel too: nobody looks at those */
        uint64_t *path = &e->path_end[(size_t)channel->link * 2];
        path[path[1] < path[0]] = end;
    } else {
        fc_event_take_path(e, channel->link, FC_EVENT_BETWEEN, now, end);
    }
    fc_event_count_stay(block, packet, in_vc);
    fc_event_torus_count(block, hop.link, flits, e->hop.flit);
    fc_event_leave(block, s, c, channel, packet, in_vc, end, e->hop.flit, e->hop_per_step);
    block->last_move = now;
    counts->flit_hops += flits;
    counts->escape_flit_hops += flits & -(uint32_t)hop.escape;
    if (__builtin_expect(counts->interval_ticks != 0, 0)) {
        fc_event_count_intervals(block, flits, e->hop.flit, hop.vc);
        if (waited) fc_event_count_unblocked(block, t);
    }
    packet->route = hop.route;
    packet->held = (uint16_t)(hop.escape & e->adaptive.full_size ? e->full : flits);
    packet->hops++;
    fc_event_enter(block, next, t, p, packet, e->hop_class, ticks, e->hop.ready);
}
