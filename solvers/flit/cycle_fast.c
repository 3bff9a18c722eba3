/* cycle_fast.c - the cycle engine's tick for simple routers, several times as fast as cycle_step.c and equal
 * to it.
 *
 * Simple: a torus or mesh routed in dimension order; every link moves a flit a tick, one transfer an input
 * port at a time, virtual channels allocated with the switch, round robin, at most 64 input channels a
 * router. Then a head needs no look at its packet: the hops left travel with it (32 bits). A tick is a few
 * straight loops over lists, without a loop a router, whose ends no processor can predict:
 *
 *   credits; channels left over or woken that have a front flit to offer: one winner a port; flits that just
 * arrived at ports where nobody else asks, then those winners: one winner an output; all outputs with a
 * winner: the flit moves.
 *
 * A channel that lost offers again in the next tick; one that waits for a credit or a free channel sleeps at
 * the output. Model, timing and tie-breaks are those of cycle_step.c; tests hold the two against each other.
 */
#include "solvers/flit/cycle.h"

#include <string.h>

#define LOW(word) ((uint32_t)__builtin_ctzll(word))
#define INLINE static inline __attribute__((always_inline))
#define EJECTED 63u       /* the queue of ejection links */
#define NUMBER 0x3ffffffu /* of a channel, or link << vc_shift | vc, below the 6 bits of its queue */
typedef struct fc_cycle engine;
typedef struct fc_cycle_block block;
typedef struct fc_fast_channel channel;
typedef struct fc_fast_out output;

/* Places for ports that routers have, as a power of two: for their ports and for the outputs of the routing.
 */
static int port_bits(const engine *e, const struct fc_route_fields *fields)
{
    uint32_t most = fields->width;
    int bits = 0;
    for (uint32_t r = 0; r < e->flit->n_routers; r++)
        if (e->first_port[r + 1] - e->first_port[r] > most) most = e->first_port[r + 1] - e->first_port[r];
    while (1u << bits < most) bits++;
    return bits;
}
bool fc_cycle_is_simple(const struct fc_cycle *e)
{
    const struct fc_flit_net *f = e->flit;
    struct fc_route_fields fields;
    if (f->plain || f->vc_stage || f->paths != 1 || e->counts->interval_ticks) return false;
    if (f->arbitration != FC_ROUND_ROBIN || f->net->machine->router.in_network_percent > 0) return false;
    if (!fc_route_torus_fields(f, &fields)) return false;
    if (f->n_vcs > FC_FAST_VCS || f->buffer_flits > UINT8_MAX) return false;
    if ((uint64_t)f->n_routers << (port_bits(e, &fields) + e->vc_shift) > NUMBER) return false;
    if ((uint64_t)f->n_links << e->vc_shift > NUMBER || e->n_blocks * e->n_queues > 62) return false;
    for (int c = 0; c < f->net->machine->n_classes; c++)
        if (e->slow[c]) return false;
    for (uint32_t r = 0; r < f->n_routers; r++)
        if ((e->first_port[r + 1] - e->first_port[r]) << e->vc_shift > 64 ||
            f->net->first_link[r + 1] - f->net->first_link[r] > 64)
            return false;
    return true;
}

/* What the loops read, by value: nothing that they write can be taken for it. */
struct view {
    struct fc_fast fast;
    const uint32_t *injection; /* [n_nodes] link */
    uint64_t **write;
    const struct fc_flit_traffic *traffic;
    const uint32_t *place_node; /* [n_nodes of the block] */
    struct fc_cycle_node *node;
    struct fc_cycle_packet *packet;
    uint32_t *packet_src, *injected;
    const uint64_t *ejected;
    uint64_t measure_from, measured; /* window: first tick, length */
    uint32_t router_mask;            /* of a port number: the first of its router */
    uint32_t ring_mask, ring_shift, packet_flits, injection_vcs, injection_delay, delivery_delay;
};
/* Lists of a tick, see struct fc_cycle_block. */
struct lists {
    uint32_t *waiting, *ports, *outs;
    uint32_t n_waiting, n_ports, n_outs;
    uint32_t flits, packets, measured; /* that enter the network; of the packets, those that are measured */
};
/* Known when the loops are compiled: packets of one flit; of several, in wormhole; or in cut-through. */
enum kind { SINGLE, WORMS, CUT_THROUGH };

/* Rank of x in a round robin that `last` won last, for numbers below 64: those above it first. */
INLINE uint32_t after(uint32_t x, uint32_t last)
{
    return (x - last - 1) & 127;
}
/* The next channel of a mask that is not empty, in a round robin that `last` < FC_FAST_VCS won last; without
 * a branch. */
INLINE uint32_t next_in(uint32_t vcs, uint32_t last)
{
    return LOW((vcs | vcs << FC_FAST_VCS) & 0xfffffffeu << last) % FC_FAST_VCS;
}
/* Bodies go before heads. */
INLINE uint32_t heads_last(const channel *c, const enum kind kind)
{
    return kind == SINGLE ? 0 : (uint32_t)(c->out_vc == FC_NO_VC) << 7;
}
/* The channels that the packet at the front may take: with credits; for a head also free, and with room for
 * the packet in cut-through. */
INLINE uint32_t admitted(const struct view *w, const channel *c, const output *o, const enum kind kind)
{
    if (kind == SINGLE) return (uint32_t)(o->credited & c->vcs);
    if (c->out_vc != FC_NO_VC) return o->credited & 1u << c->out_vc;
    if (kind == CUT_THROUGH && o->free != w->fast.all)
        return 0; /* a packet is on its way: it is not interrupted */
    uint32_t a = (uint32_t)(o->free & o->credited & c->vcs);
    if (kind == CUT_THROUGH && o->target >> 26 != EJECTED)
        for (uint32_t rest = a; rest; rest &= rest - 1)
            if (o->credits[LOW(rest)] < w->packet_flits) a &= ~(1u << LOW(rest));
    return a;
}

/* Routers have 2^port_shift places for ports. */
INLINE uint32_t router_of(const struct view *w, uint32_t number, const uint32_t shift)
{
    return number >> shift >> w->fast.port_shift;
}
/* Place of a channel among those of its router. */
INLINE uint32_t local(const struct view *w, uint32_t number, const uint32_t shift)
{
    return number & ((w->fast.n_ports << shift) - 1);
}
/* The link of a head whose hops left are `route`, and its channels; the route word behind it. No branch on
 * whether it has arrived: one packet in a few has, at random. */
INLINE void route_head(const struct view *w, channel *c, uint32_t number, uint32_t route,
                       const uint32_t shift)
{
    const struct fc_route_fields *f = &w->fast.route;
    const struct fc_route_step *step = &f->step[__builtin_ctz((route & f->hops) | f->end)];
    const struct fc_route_port *at =
        f->port + (number >> shift & w->router_mask) + step->port + (route >> step->minus & step->is_hop);
    route = (route - step->unit) | at->wraps;
    c->route = route;
    c->link = at->link;
    c->vcs = step->vcs[route >> step->crossed & 1];
    if (__builtin_expect(f->per_router > 1, 0)) {
        uint32_t node =
            w->packet[c->flit & FC_FLIT_PACKET].head.dst - router_of(w, number, shift) * f->per_router;
        c->link += node & (step->is_hop - 1u);
    }
}

/* ---- bids ---- */

/* Of two numbers the one of lower rank, the other into *loser, without a branch: it would be a random one. */
INLINE uint32_t better(uint32_t a, uint32_t rank_a, uint32_t b, uint32_t rank_b, uint32_t *loser)
{
    uint32_t swap = (a ^ b) & -(uint32_t)(rank_a < rank_b);
    *loser = a ^ swap;
    return b ^ swap;
}
/* Of two channels of a port, the one next in its round robins bids; the other waits. */
INLINE void two_of_a_port(const struct view *w, struct lists *lists, uint32_t number,
                          struct fc_fast_port *port, const enum kind kind, const uint32_t shift)
{
    uint32_t vc_mask = (1u << shift) - 1, rival = port->winner, last = port->last >> shift;
    uint32_t first_link = w->fast.first_link[router_of(w, number, shift)];
    const channel *a = &w->fast.channel[number], *b = &w->fast.channel[rival];
    uint32_t mine = heads_last(a, kind) << 16 | after(a->link - first_link, last - first_link) << 8 |
                    after(number & vc_mask, port->last & vc_mask);
    uint32_t its = heads_last(b, kind) << 16 | after(b->link - first_link, last - first_link) << 8 |
                   after(rival & vc_mask, port->last & vc_mask);
    port->winner = better(number, mine, rival, its, &lists->waiting[lists->n_waiting++]);
}
/* Of two ports that want an output, the one next in its round robin gets it, bodies before heads; the other
 * waits. */
INLINE void two_of_an_output(const struct view *w, struct lists *lists, uint32_t number, output *o,
                             const enum kind kind, const uint32_t shift)
{
    const channel *a = &w->fast.channel[number], *b = &w->fast.channel[o->winner];
    uint32_t mask = w->fast.n_ports - 1, last = o->last_port & mask;
    uint32_t mine = heads_last(a, kind) | after(number >> shift & mask, last);
    uint32_t its = heads_last(b, kind) | after(o->winner >> shift & mask, last);
    o->winner = better(number, mine, o->winner, its, &lists->waiting[lists->n_waiting++]);
}
INLINE void bid(const struct view *w, struct lists *lists, uint32_t number, uint32_t link, output *o,
                const enum kind kind, const uint32_t shift)
{
    if (__builtin_expect(o->winner != FC_NONE, 0)) {
        two_of_an_output(w, lists, number, o, kind, shift);
        return;
    }
    o->winner = number;
    lists->outs[lists->n_outs++] = link;
}
/* The front flit of a channel asks for its output, if it may have it. Of those that waited, several may sit
 * at a port, so that each port has to choose first; they come before all that arrive. Flits that arrive at a
 * port where nobody asks are alone there, as a link brings one a tick, and bid at once. */
INLINE void offer(const struct view *w, struct lists *lists, uint32_t number, const bool arrives,
                  const enum kind kind, const uint32_t shift)
{
    const channel *c = &w->fast.channel[number];
    output *o = &w->fast.out[c->link];
    struct fc_fast_port *port = &w->fast.port[number >> shift];
    if (__builtin_expect(!admitted(w, c, o, kind), 0)) {
        o->asleep |= 1ull << local(w, number, shift);
        return;
    }
    if (__builtin_expect(port->winner != FC_NONE, 0)) {
        two_of_a_port(w, lists, number, port, kind, shift);
        return;
    }
    if (arrives) {
        bid(w, lists, number, c->link, o, kind, shift);
        return;
    }
    port->winner = number;
    lists->ports[lists->n_ports++] = number >> shift;
}
INLINE void settle_ports(const struct view *w, struct lists *lists, const enum kind kind,
                         const uint32_t shift)
{
    for (uint32_t k = 0; k < lists->n_ports; k++) {
        struct fc_fast_port *port = &w->fast.port[lists->ports[k]];
        uint32_t link = w->fast.channel[port->winner].link;
        bid(w, lists, port->winner, link, &w->fast.out[link], kind, shift);
        port->winner = FC_NONE;
    }
}

/* ---- arrivals and credits ---- */

INLINE void arrive(const struct view *w, struct lists *lists, uint32_t number, uint32_t flit, uint32_t route,
                   const enum kind kind, const uint32_t shift)
{
    channel *c = &w->fast.channel[number];
    if (__builtin_expect(c->count++ != 0, 0)) {
        uint32_t behind = (uint32_t)(c->ring_head + c->count - 2) & w->ring_mask;
        w->fast.ring[((size_t)number << w->ring_shift) + behind] = (uint64_t)flit << 32 | route;
        return;
    }
    c->flit = flit;
    if (kind == SINGLE || flit & FC_FLIT_HEAD) route_head(w, c, number, route, shift);
    offer(w, lists, number, true, kind, shift);
}
/* Channels that slept at the output offer again: at the next tick or, in `lists`, whenever it is read. */
INLINE void wake(const struct view *w, output *o, uint32_t router, struct lists *lists, const uint32_t shift)
{
    uint32_t first = router * (w->fast.n_ports << shift);
    for (uint64_t rest = o->asleep; rest; rest &= rest - 1)
        lists->waiting[lists->n_waiting++] = first + LOW(rest);
    o->asleep = 0;
}
INLINE void credit(const struct view *w, struct lists *lists, uint32_t item, const uint32_t shift)
{
    output *o = &w->fast.out[item >> shift];
    uint32_t vc = item & ((1u << shift) - 1);
    o->credits[vc]++;
    o->credited |= (uint8_t)(1u << vc);
    if (__builtin_expect(o->asleep != 0, 0)) wake(w, o, w->fast.link_source[item >> shift], lists, shift);
}
/* The items that queue k of block `from` has for this one at t. */
INLINE const uint64_t *due(const engine *e, const block *b, int from, int k, uint64_t t,
                           const uint64_t **stop)
{
    const struct fc_cycle_queue *q = &e->block[from].queue[(b - e->block) * e->n_queues + k];
    uint64_t slot = (t - q->delay) & q->slot_mask;
    const uint64_t *item = q->item + q->start[slot];
    *stop = t < q->delay || !q->delay ? item : item + q->count[slot];
    return item;
}
INLINE void credits(const engine *e, const block *b, const struct view *w, struct lists *lists, uint64_t t,
                    const uint32_t shift)
{
    const uint64_t *stop;
    for (int from = 0; from < e->n_blocks; from++)
        for (int k = 0; k < e->n_queues; k++)
            if (e->queue_kind[k] == FC_QUEUE_CREDIT)
                for (const uint64_t *item = due(e, b, from, k, t, &stop); item != stop; item++) {
                    if (w->fast.far) /* queues have items to spare behind the last */
                        __builtin_prefetch(&w->fast.out[(item[10] & NUMBER) >> shift], 1);
                    credit(w, lists, (uint32_t)*item & NUMBER, shift);
                }
}
INLINE void arrivals(const engine *e, const block *b, const struct view *w, struct lists *lists, uint64_t t,
                     const enum kind kind, const uint32_t shift)
{
    const uint64_t *stop;
    for (int from = 0; from < e->n_blocks; from++)
        for (int k = 0; k < e->n_queues; k++)
            if (e->queue_kind[k] == FC_QUEUE_ARRIVAL)
                for (const uint64_t *item = due(e, b, from, k, t, &stop); item != stop; item += 2) {
                    if (w->fast.far) {
                        __builtin_prefetch(&w->fast.channel[item[20] & NUMBER], 1);
                        __builtin_prefetch(&w->fast.port[(item[20] & NUMBER) >> shift], 1);
                    }
                    arrive(w, lists, (uint32_t)item[0] & NUMBER, (uint32_t)(item[0] >> 32), (uint32_t)item[1],
                           kind, shift);
                }
}

/* ---- injection ---- */

/* A record of the node's front packet, which leaves its queue now, and its route word. FC_NONE: none left. */
INLINE uint32_t start_packet(block *b, const struct view *w, struct lists *lists, uint32_t n,
                             const struct fc_flit_source *source, uint64_t t, uint32_t *route)
{
    uint32_t id = fc_cycle_record(b);
    if (__builtin_expect(id == FC_NONE, 0)) return FC_NONE;
    uint64_t way = fc_route_fields_start(&w->fast.route, n, source->dst, source->random);
    struct fc_cycle_packet *packet = &w->packet[id];
    *route = (uint32_t)way;
    packet->head.dst = source->dst;
    packet->born = source->born;
    packet->waited = (uint32_t)(t - source->born);
    packet->flits = (uint16_t)source->flits;
    packet->hops = (uint16_t)(way >> 32);
    w->packet_src[id] = n;
    lists->packets++;
    lists->measured += source->born - w->measure_from < w->measured;
    w->injected[n] += t - w->measure_from < w->measured;
    return id;
}
/* One flit of the node, if it can go. */
INLINE void send(block *b, const struct view *w, struct lists *lists, uint32_t place, uint64_t t,
                 const enum kind kind, const uint32_t shift)
{
    uint32_t n = w->place_node[place], flags = 0, route = 0;
    struct fc_cycle_node *node = &w->node[n];
    output *o = &w->fast.out[w->injection[n]];
    uint32_t id = node->packet, vc = node->vc;
    if (kind == SINGLE || !node->left) {
        uint32_t a = o->credited & w->injection_vcs;
        if (kind != SINGLE) a &= o->free;
        if (kind == CUT_THROUGH)
            for (uint32_t rest = a; rest; rest &= rest - 1)
                if (o->credits[LOW(rest)] < node->source.flits) a &= ~(1u << LOW(rest));
        if (__builtin_expect(!a, 0)) return;
        node->last_vc = (uint8_t)(vc = next_in(a, node->last_vc));
        if ((id = start_packet(b, w, lists, n, &node->source, t, &route)) == FC_NONE) return;
        flags = FC_FLIT_HEAD;
        if (kind != SINGLE) {
            node->left = (uint16_t)node->source.flits;
            node->packet = id;
            node->vc = (uint8_t)vc;
            o->free &= (uint8_t) ~(1u << vc);
        }
    } else if (!(o->credited >> vc & 1))
        return;
    if (--o->credits[vc] == 0) o->credited &= (uint8_t) ~(1u << vc);
    o->sent++;
    lists->flits++;
    if (kind == SINGLE || --node->left == 0) {
        flags |= FC_FLIT_TAIL;
        if (kind != SINGLE) {
            w->fast.packets_sent[w->injection[n]]++;
            o->free |= (uint8_t)(1u << vc);
        }
        fc_cycle_next_packet(b, w->traffic, place, n, &node->source, t);
    }
    if (w->injection_delay) {
        uint64_t *item = w->write[o->target >> 26];
        w->write[o->target >> 26] = item + 2;
        item[0] = (uint64_t)(id | flags) << 32 | (o->target + vc);
        item[1] = route;
    } else
        arrive(w, lists, (o->target + vc) & NUMBER, id | flags, route, kind, shift);
}

/* ---- the switch ---- */

/* The front flit of the output's winner leaves by it. */
INLINE void move(const struct view *w, struct lists *lists, uint32_t link, const enum kind kind,
                 const uint32_t shift)
{
    output *o = &w->fast.out[link];
    const uint32_t number = o->winner, vc = number & ((1u << shift) - 1);
    channel *c = &w->fast.channel[number];
    struct fc_fast_port *port = &w->fast.port[number >> shift];
    const uint32_t flit = c->flit, count = c->count - 1u;
    uint32_t v = kind == SINGLE ? FC_NO_VC : c->out_vc;
    if (v == FC_NO_VC) {
        v = next_in(admitted(w, c, o, kind), o->last_vc);
        o->last_vc = (uint8_t)v;
        if (kind != SINGLE && !(flit & FC_FLIT_TAIL)) {
            o->free &= (uint8_t) ~(1u << v);
            c->out_vc = (uint8_t)v;
        }
    } else if (flit & FC_FLIT_TAIL) {
        c->out_vc = FC_NO_VC;
        o->free |= (uint8_t)(1u << v);
        if (o->asleep) wake(w, o, router_of(w, number, shift), lists, shift);
    }
    c->count = (uint8_t)count;
    o->winner = FC_NONE;
    o->last_port = (uint8_t)(number >> shift);
    o->sent++;
    if (kind != SINGLE) w->fast.packets_sent[link] += flit >> 30 & 1;
    port->last = link << shift | vc;
    const uint32_t target = o->target, upstream = port->upstream + vc;
    *w->write[upstream >> 26]++ = upstream;
    uint64_t *item = w->write[target >> 26];
    w->write[target >> 26] = item + 2;
    item[0] = (uint64_t)flit << 32 | (target + v);
    item[1] = c->route;
    if (__builtin_expect(--o->credits[v] == 0, 0)) o->credited &= (uint8_t) ~(1u << v);
    if (__builtin_expect(count == 0, 1)) return;
    uint64_t next = w->fast.ring[((size_t)number << w->ring_shift) + (c->ring_head++ & w->ring_mask)];
    c->flit = (uint32_t)(next >> 32);
    if (kind == SINGLE || c->flit & FC_FLIT_HEAD) route_head(w, c, number, (uint32_t)next, shift);
    lists->waiting[lists->n_waiting++] = number;
}

/* Ejection links move their flits into a queue too, so that no branch tells them apart; here they reach their
 * nodes, which give the credit back at once. */
INLINE void deliver(block *b, const struct view *w, uint64_t t, const enum kind kind, const uint32_t shift)
{
    const uint64_t *stop = w->write[EJECTED];
    uint32_t flits = (uint32_t)(stop - w->ejected) / 2;
    fc_flit_count_flits(b->counts, t + w->delivery_delay, flits);
    b->flits_out += flits;
    b->hops -= flits;
    for (const uint64_t *item = w->ejected; item != stop; item += 2) {
        uint32_t to = (uint32_t)item[0] & NUMBER, vc = to & ((1u << shift) - 1),
                 flit = (uint32_t)(item[0] >> 32);
        output *o = &w->fast.out[to >> shift];
        o->credits[vc]++;
        o->credited |= (uint8_t)(1u << vc);
        if (kind == SINGLE || flit & FC_FLIT_TAIL)
            fc_cycle_end_packet(b, flit & FC_FLIT_PACKET, t + w->delivery_delay);
    }
}

INLINE void run(block *b, uint64_t from, uint64_t to, const enum kind kind, const uint32_t shift)
{
    engine *e = b->engine;
    const struct fc_network *net = e->flit->net;
    const int injection = fc_injection_class(net->machine);
    const struct view w = {*e->fast,
                           net->first_link + net->n_routers,
                           b->write,
                           e->traffic,
                           b->node,
                           e->node,
                           e->packet,
                           e->packet_src,
                           e->injected,
                           b->ejected,
                           b->counts->measure_from,
                           b->counts->measure_to - b->counts->measure_from,
                           ~(e->fast->n_ports - 1),
                           e->ring_mask,
                           e->ring_shift,
                           e->flit->packet_flits_max,
                           e->flit->injection_vcs,
                           e->delay_injection[injection],
                           e->delay_delivery[injection][injection]};
    for (uint64_t t = from; t < to; t++) {
        struct lists lists = {b->offered, b->ports, b->outs, b->n_offered, 0, 0, 0, 0, 0};
        uint64_t before = b->hops + b->flits_out + b->flits_in;
        fc_cycle_watch(b, t);
        fc_cycle_queues_start(b, t);
        credits(e, b, &w, &lists, t, shift);
        uint32_t n_offered = lists.n_waiting;
        lists.waiting = b->waiting;
        lists.n_waiting = 0;
        for (uint32_t i = 0; i < n_offered; i++) offer(&w, &lists, b->offered[i], false, kind, shift);
        arrivals(e, b, &w, &lists, t, kind, shift);
        fc_cycle_births(b, t);
        for (uint32_t i = 0; i < (b->n_nodes + 63) / 64; i++)
            for (uint64_t rest = b->sending[i]; rest; rest &= rest - 1)
                send(b, &w, &lists, 64 * i + LOW(rest), t, kind, shift);
        b->flits_in += lists.flits;
        b->packets_in += lists.packets;
        b->counts->measured_started += lists.measured;
        settle_ports(&w, &lists, kind, shift);
        b->write[EJECTED] = b->ejected;
        for (uint32_t i = 0; i < lists.n_outs; i++) {
            if (w.fast.far) {
                uint32_t ahead = lists.outs[i + 6 < lists.n_outs ? i + 6 : i];
                __builtin_prefetch(&w.fast.channel[w.fast.out[ahead].winner], 1);
            }
            move(&w, &lists, lists.outs[i], kind, shift);
        }
        b->hops += lists.n_outs;
        deliver(b, &w, t, kind, shift);
        b->waiting = b->offered;
        b->offered = lists.waiting;
        b->n_offered = lists.n_waiting;
        if (b->hops + b->flits_out + b->flits_in != before) b->last_move = t;
        fc_cycle_queues_end(b, t);
    }
}
INLINE void run_kind(block *b, uint64_t from, uint64_t to, const uint32_t shift)
{
    const struct fc_flit_net *flit = b->engine->flit;
    if (flit->packet_flits_max == 1)
        run(b, from, to, SINGLE, shift);
    else if (flit->cut_through)
        run(b, from, to, CUT_THROUGH, shift);
    else
        run(b, from, to, WORMS, shift);
}
/* Most machines have 1, 2 or 4 channels; the others share a copy in which the shift is a variable. */
INLINE void run_shift(block *b, uint64_t from, uint64_t to)
{
    switch (b->engine->vc_shift) {
    case 0:
        run_kind(b, from, to, 0);
        break;
    case 1:
        run_kind(b, from, to, 1);
        break;
    case 2:
        run_kind(b, from, to, 2);
        break;
    default:
        run_kind(b, from, to, (uint32_t)b->engine->vc_shift);
    }
}
/* Bits of one word are what this file is about: a copy for processors with the instructions for it (BMI). */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("bmi,bmi2"))) static void run_bmi(block *b, uint64_t from, uint64_t to)
{
    run_shift(b, from, to);
}
static bool has_bmi(void)
{
    return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#else
#define run_bmi run_shift
static bool has_bmi(void)
{
    return false;
}
#endif
void fc_cycle_block_run_fast(block *b, uint64_t from, uint64_t to)
{
    uint64_t flits = b->flits_in, packets = b->packets_in;
    if (has_bmi())
        run_bmi(b, from, to);
    else
        run_shift(b, from, to);
    b->counts->flits_injected += b->flits_in - flits;
    b->counts->packets_injected += b->packets_in - packets;
    b->counts->flit_hops += b->hops;
    b->hops = 0;
}

/* ---- beginning and end ---- */

static enum fc_code open_lists(struct fc_cycle *e, struct fc_cycle_block *b, struct fc_status *st)
{
    const struct fc_network *net = e->flit->net;
    uint64_t ports = e->first_port[b->last_router] - e->first_port[b->first_router];
    uint64_t links = net->first_link[b->last_router] - net->first_link[b->first_router];
    if (!(b->offered = fc_alloc(&e->arena, (ports << e->vc_shift) + 1, sizeof *b->offered, st)) ||
        !(b->waiting = fc_alloc(&e->arena, (ports << e->vc_shift) + 1, sizeof *b->waiting, st)) ||
        !(b->ports = fc_alloc(&e->arena, ports + 1, sizeof *b->ports, st)) ||
        !(b->outs = fc_alloc(&e->arena, links + 1, sizeof *b->outs, st)) ||
        !(b->ejected = fc_alloc(&e->arena, 2 * links + 2, sizeof *b->ejected, st)))
        return st->code;
    return FC_OK;
}
enum fc_code fc_cycle_fast_open(struct fc_cycle *e, struct fc_status *st)
{
    const struct fc_network *net = e->flit->net;
    struct fc_route_fields fields;
    if (!fc_route_torus_fields(e->flit, &fields))
        return fc_refuse(st, FC_FAULT, "not a machine of the fast path");
    uint32_t port_shift = (uint32_t)port_bits(e, &fields), n_ports = 1u << port_shift;
    size_t ports = (size_t)net->n_routers * n_ports, channels = ports << e->vc_shift;
    struct fc_fast *f = e->fast = fc_alloc(&e->arena, 1, sizeof *f, st);
    if (!f || fc_route_torus_ports(e->flit, n_ports, &f->route, &e->arena, st) ||
        !(f->channel = fc_alloc(&e->arena, channels + 1, sizeof *f->channel, st)) ||
        !(f->port = fc_alloc(&e->arena, ports, sizeof *f->port, st)) ||
        !(f->out = fc_alloc(&e->arena, net->n_links, sizeof *f->out, st)) ||
        !(f->ring = fc_alloc(&e->arena, channels << e->ring_shift, sizeof *f->ring, st)) ||
        !(f->packets_sent = fc_alloc(&e->arena, net->n_links, sizeof *f->packets_sent, st)))
        return st->code;
    for (int b = 0; b < e->n_blocks; b++)
        if (open_lists(e, &e->block[b], st)) return st->code;
    f->n_ports = n_ports;
    f->all = (uint8_t)((1u << e->flit->n_vcs) - 1);
    f->port_shift = port_shift;
    f->far = channels * sizeof *f->channel > 512 << 10;
    f->first_link = net->first_link;
    f->link_source = net->link_source;
    for (size_t c = 0; c < channels; c++) f->channel[c].out_vc = FC_NO_VC;
    for (uint32_t n = 0; n < net->n_nodes; n++) e->node[n].last_vc = FC_FAST_VCS - 1;
    for (size_t p = 0; p < ports; p++) f->port[p].winner = FC_NONE;
    for (uint32_t l = 0; l < net->n_links; l++) {
        const struct fc_cycle_out *from = &e->out[l];
        output *o = &f->out[l];
        for (int v = 0; v < e->flit->n_vcs; v++) o->credits[v] = (uint8_t)e->flit->buffer_flits;
        o->free = o->credited = (uint8_t)from->free;
        o->last_vc = from->last_vc;
        o->last_port = from->last_port;
        o->winner = FC_NONE;
        o->target = EJECTED << 26 | l << e->vc_shift;
        if (from->target == FC_NONE) continue;
        const struct fc_cycle_port *port = &e->port[from->target >> e->vc_shift];
        int c = from->link_class;
        int arrives_by = from->router_link ? e->queue_arrival[c] : e->queue_injection[c];
        uint32_t arrivals_queue = (uint32_t)(from->target_block * e->n_queues + arrives_by);
        uint32_t credits_queue = (uint32_t)(port->source_block * e->n_queues + e->queue_credit[c][c]);
        uint32_t first = net->first_link[port->router], place = port->router * n_ports + port->number;
        o->target = arrivals_queue << 26 | place << e->vc_shift;
        f->port[place] = (struct fc_fast_port){credits_queue << 26 | l << e->vc_shift, FC_NONE,
                                               (first + port->last_out) << e->vc_shift | port->last_vc};
    }
    return FC_OK;
}

void fc_cycle_fast_sync_sent(struct fc_cycle_block *b)
{
    const struct fc_cycle *e = b->engine;
    const struct fc_network *net = e->flit->net;
    bool single = e->flit->packet_flits_max == 1;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t router = fc_is_node(net, net->link_source[l]) ? net->link_target[l] : net->link_source[l];
        if (router < b->first_router || router >= b->last_router) continue;
        output *o = &e->fast->out[l];
        e->out[l].sent += o->sent + ((uint64_t)(single ? o->sent : e->fast->packets_sent[l]) << 32);
        o->sent = e->fast->packets_sent[l] = 0;
    }
}
void fc_cycle_fast_sync(struct fc_cycle *e)
{
    for (uint32_t r = 0; r < e->flit->n_routers; r++)
        for (uint32_t i = 0; i < (e->first_port[r + 1] - e->first_port[r]) << e->vc_shift; i++) {
            const channel *from = &e->fast->channel[((size_t)r * e->fast->n_ports << e->vc_shift) + i];
            struct fc_cycle_channel *c = &e->channel[((size_t)e->first_port[r] << e->vc_shift) + i];
            c->front = from->flit;
            c->out = from->link;
            c->vcs = from->vcs;
            c->out_vc = from->out_vc;
            c->count = from->count;
        }
    for (uint32_t l = 0; l < e->flit->n_links; l++)
        for (int v = 0; v < e->flit->n_vcs; v++) e->out[l].credits[v] = e->fast->out[l].credits[v];
}
