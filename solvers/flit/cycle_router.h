/* cycle_router.h - a router of the cycle engine's general path: who has work, who sleeps, what a head asks
 * for (cycle_step.c, cycle_allocate.c, cycle_inject.c). Timing and rules: cycle_step.c. */
#pragma once

#include "solvers/flit/cycle_multicast.h"

#define LOW(word) ((uint32_t)__builtin_ctzll(word))
typedef struct fc_cycle engine;
typedef struct fc_cycle_block block;

static inline void push(block *b, uint32_t to, uint16_t which, uint64_t item)
{
    *b->write[to * (uint32_t)b->engine->n_queues + which]++ = item;
}
/* Random bits of a decision at a place and tick: the same for any number of blocks. */
enum { DRAW_CHOICE, DRAW_NETWORK, DRAW_LONGEST, DRAW_WINNER };
static inline uint64_t draw(const engine *e, int what, uint32_t place, uint64_t t)
{
    return fc_random_quick(e->draws[what] + place * UINT64_C(0x9e3779b97f4a7c15), t);
}

/* ---- who has work ---- */

static inline void activate(engine *e, block *b, const struct fc_cycle_port *port)
{
    uint32_t r = port->router;
    e->active_ports[(size_t)r * e->port_words + port->number / 64] |= 1ull << port->number % 64;
    b->active[(r - b->first_router) / 64] |= 1ull << (r - b->first_router) % 64;
}
static inline void wake_port(engine *e, block *b, struct fc_cycle_port *port)
{
    port->ready |= port->ready_asleep;
    port->heads |= port->heads_asleep;
    port->ready_asleep = port->heads_asleep = 0;
    if (port->ready | port->heads) activate(e, b, port);
}
static inline void wake_word(engine *e, block *b, struct fc_cycle_port *port, uint64_t *asleep)
{
    uint64_t w = *asleep;
    *asleep = 0;
    for (; w; w &= w - 1) wake_port(e, b, port + LOW(w));
}
static inline void wake(engine *e, block *b, uint32_t link)
{
    struct fc_cycle_port *port = e->port + e->first_port[e->flit->net->link_source[link]];
    wake_word(e, b, port, &e->out[link].asleep);
    for (uint32_t w = 1; w < e->port_words; w++)
        wake_word(e, b, port + 64 * w, &e->asleep[(size_t)link * (e->port_words - 1) + w - 1]);
}
static inline bool anyone_asleep(const engine *e, uint32_t link)
{
    if (e->out[link].asleep) return true;
    for (uint32_t w = 1; w < e->port_words; w++)
        if (e->asleep[(size_t)link * (e->port_words - 1) + w - 1]) return true;
    return false;
}
static inline void sleep_on(engine *e, uint32_t link, const struct fc_cycle_port *port)
{
    if (port->number < 64)
        e->out[link].asleep |= 1ull << port->number;
    else
        e->asleep[(size_t)link * (e->port_words - 1) + port->number / 64 - 1] |= 1ull << port->number % 64;
}

/* ---- routing of a head ---- */

/* Flits that must fit downstream for a head to take a channel. */
static inline uint32_t room_needed(const struct fc_flit_net *flit, uint8_t room_packets)
{
    uint32_t packets = room_packets & 0x7f;
    if (packets) return packets * flit->packet_flits_max;
    return flit->cut_through ? flit->packet_flits_max : 1;
}
/* The channels of `vcs` that a head may have now. */
static inline uint16_t available(const engine *e, const struct fc_cycle_out *o, uint16_t vcs, uint8_t room_packets)
{
    const struct fc_flit_net *flit = e->flit;
    if (flit->cut_through && o->free != (1u << flit->n_vcs) - 1)
        return 0; /* a packet is on its way: it is not interrupted */
    uint16_t a = o->free & vcs;
    if (o->endless) return a;
    if (o->target == FC_NONE) a &= flit->reception_vcs;
    uint32_t need = room_needed(flit, room_packets);
    if (need == 1) return flit->vc_stage ? a : a & o->credited;
    for (uint16_t rest = a; rest; rest &= (uint16_t)(rest - 1))
        if (o->credits[LOW(rest)] < need) a &= (uint16_t) ~(1u << LOW(rest));
    return a;
}
/* Whether one of the first n choices has room, its link busy or not: with cut-through what is on the link leaves it. */
static inline bool has_room(const engine *e, const struct fc_flit_choice *choice, int n)
{
    for (int i = 0; i < n; i++) {
        const struct fc_cycle_out *o = &e->out[choice[i].link];
        if (available(e, o, choice[i].vcs, 0)) return true;
        for (uint16_t rest = e->flit->cut_through ? choice[i].vcs : 0; rest; rest &= (uint16_t)(rest - 1))
            if (o->credits[LOW(rest)] >= room_needed(e->flit, 0)) return true;
    }
    return false;
}
static inline uint8_t room_of(const struct fc_flit_choice *choice)
{
    return (uint8_t)(choice->room_packets | (choice->full_size ? 0x80 : 0));
}

/* Routes a new front head. A single choice is final; several are looked at anew at each attempt. */
static inline void route_head(engine *e, struct fc_cycle_channel *c, const struct fc_cycle_port *port, int vc)
{
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    struct fc_cycle_packet *packet = &e->packet[c->front & FC_FLIT_PACKET];
    int n = e->flit->route->choices(e->flit, port->router, port->link, vc, &packet->head, choice);
    if (n != 1) {
        c->out = FC_NONE;
        return;
    }
    c->out = choice->link;
    c->vcs = choice->vcs;
    c->room_packets = room_of(choice);
    packet->head.route = choice->route;
}

/* Whether an output, channels `a` of which a head may have now, is better than the best so far; *vcs: those that it should take.
 * `credits`: of its channels, NULL: nobody counts them. `place`: of the decision. */
static inline bool is_better(const engine *e, uint16_t a, const uint16_t *credits, uint32_t place, uint64_t t,
                             uint64_t *best, uint16_t *vcs)
{
    uint64_t worth = 0;
    uint16_t its = a;
    if (e->flit->select == FC_SELECT_JSQ)
        for (uint16_t rest = a; rest; rest &= (uint16_t)(rest - 1)) {
            uint64_t range = credits ? (uint64_t)credits[LOW(rest)] * 4 / (e->flit->buffer_flits + 1u) : 3;
            if (range > worth || its == a) worth = range, its = (uint16_t)(1u << LOW(rest));
        }
    uint64_t value = (worth + 1) << 32 | draw(e, DRAW_CHOICE, place, t) >> 32;
    if (value <= *best) return false;
    *best = value;
    *vcs = its;
    return true;
}
/* Chooses among several outputs: the best available one by the machine's selection, the escape if there is
 * none. On success fills bid->out, vcs, route, room; else choose() has the port sleep on all of them. choice[MOST],
 * *n_choices: what there was to choose from. */
static inline bool choose_of(engine *e, const struct fc_cycle_channel *c, const struct fc_cycle_port *port, int vc,
                             uint64_t t, struct fc_cycle_bid *bid, struct fc_flit_choice *choice, int *n_choices)
{
    const struct fc_flit_net *flit = e->flit;
    int n =
        flit->route->choices(flit, port->router, port->link, vc, &e->packet[c->front & FC_FLIT_PACKET].head, choice);
    *n_choices = n;
    uint64_t best = 0;
    int taken = -1;
    for (int i = 0; i < n; i++) {
        const struct fc_cycle_out *o = &e->out[choice[i].link];
        if (choice[i].escape && (taken >= 0 || (choice[i].escape == FC_FLIT_PATIENT && has_room(e, choice, i)))) break;
        uint16_t a = o->busy ? 0 : available(e, o, choice[i].vcs, room_of(&choice[i]));
        if (!a) continue;
        uint32_t place = ((port->link << 4) | (uint32_t)vc) * 64u + (uint32_t)i;
        if (!is_better(e, a, o->target == FC_NONE ? NULL : o->credits, place, t, &best, &bid->vcs)) continue;
        taken = i;
        bid->out = choice[i].link;
        bid->route = choice[i].route;
        bid->room_packets = room_of(&choice[i]);
    }
    return taken >= 0;
}
static inline bool choose(engine *e, const struct fc_cycle_channel *c, const struct fc_cycle_port *port, int vc,
                          uint64_t t, struct fc_cycle_bid *bid)
{
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    int n;
    if (choose_of(e, c, port, vc, t, bid, choice, &n)) return true;
    for (int i = 0; i < n; i++) sleep_on(e, choice[i].link, port);
    return false;
}

/* The front flit of the channel is new: what it waits for. */
static inline void front_is_new(engine *e, block *b, struct fc_cycle_channel *c, struct fc_cycle_port *port, int vc)
{
    uint16_t bit = (uint16_t)(1u << vc);
    if (e->multicast && fc_cycle_fork_front(e, b, c, port, vc)) return;
    if (c->front & FC_FLIT_HEAD) {
        route_head(e, c, port, vc);
        if (e->flit->vc_stage) {
            port->heads |= bit;
            port->ready &= (uint16_t)~bit;
        } else
            port->ready |= bit;
    } else
        port->ready |= bit;
    activate(e, b, port);
}

static inline void arrive(engine *e, block *b, uint64_t item)
{
    if (e->bits) {
        fc_cycle_bits_events(e, b, FC_QUEUE_ARRIVAL, &item, &item + 1);
        return;
    }
    uint32_t channel = (uint32_t)item, flit = (uint32_t)(item >> 32);
    struct fc_cycle_channel *c = &e->channel[channel];
    if (c->count++) {
        uint32_t place = (uint32_t)(c->ring_head + c->count - 2) & e->ring_mask;
        e->ring[((size_t)channel << e->ring_shift) + place] = flit;
        return;
    }
    if (e->line) e->fresh[channel >> e->vc_shift] |= (uint16_t)(1u << (channel & ((1u << e->vc_shift) - 1)));
    c->front = flit;
    front_is_new(e, b, c, &e->port[channel >> e->vc_shift], (int)(channel & ((1u << e->vc_shift) - 1)));
}

/* ---- who goes first ---- */

static inline bool in_percent(uint64_t random, double percent)
{
    return (double)(random % 10000) < 100 * percent;
}
/* Order among inputs that want the same output, least first; below 2^62. The channel's packet and flits. */
static inline uint64_t order_of(const engine *e, uint32_t channel, uint32_t packet, uint32_t count, uint32_t distance,
                                uint32_t out, uint64_t t)
{
    const struct fc_router *router = &e->flit->net->machine->router;
    uint64_t first = 0;
    if (router->in_network_percent > 0 && in_percent(draw(e, DRAW_NETWORK, out, t), router->in_network_percent))
        first = (uint64_t)(e->port[channel >> e->vc_shift].link >= e->flit->net->first_link[e->flit->n_routers]) << 61;
    switch (e->flit->arbitration) {
    case FC_ROUND_ROBIN: return first | distance;
    case FC_AGE: return first | e->packet[packet].born << 12 | distance;
    case FC_SLQ:
    case FC_JSQ_SLQ: {
        bool longest = in_percent(draw(e, DRAW_LONGEST, out, t), router->slq_percent);
        uint64_t fullness = (uint64_t)count * 4 / (e->flit->buffer_flits + 1u);
        uint64_t range = fullness < 3 ? 3 - fullness : 0; /* an injection FIFO may be deeper than a buffer */
        return first | (longest ? range : 0) << 56 | draw(e, DRAW_WINNER, channel, t) >> 16;
    }
    default: return first | draw(e, DRAW_WINNER, channel, t) >> 8;
    }
}
static inline uint64_t order(const engine *e, uint32_t channel, uint32_t distance, uint32_t out, uint64_t t)
{
    const struct fc_cycle_channel *c = &e->channel[channel];
    return order_of(e, channel, c->front & FC_FLIT_PACKET, c->count, distance, out, t);
}

/* Bids of router r at tick t (cycle_allocate.c): heads for virtual channels, how many got one
 * (block->vc_grant), and all for the switch. `interval`: of the counts, or FC_NONE. */
uint32_t fc_cycle_allocate_channels(struct fc_cycle *engine, struct fc_cycle_block *block, uint32_t r, uint64_t t);
void fc_cycle_allocate_switch(struct fc_cycle *engine, struct fc_cycle_block *block, uint32_t r, uint64_t t,
                              uint32_t interval);
/* A record of the front packet of node n's source, which leaves its queue now. FC_NONE: none left. */
uint32_t fc_cycle_make_packet(struct fc_cycle_block *block, uint32_t n, const struct fc_flit_source *source,
                              uint64_t t);
/* The packet at the front of the source of node n gets a channel of the node's link and a record; false: no channel has room, or
 * no record is left. */
bool fc_cycle_new_packet(struct fc_cycle_block *block, uint32_t n, const struct fc_flit_source *source,
                         struct fc_cycle_node *node, uint64_t t);
/* One flit of the node at `place`, if it can go (cycle_inject.c). */
void fc_cycle_send(struct fc_cycle_block *block, uint32_t place, uint64_t t);
uint32_t fc_cycle_put_flit(struct fc_cycle_block *block, struct fc_cycle_node *node, uint32_t flags, uint64_t t);
/* A flit over every link of the block's nodes that can send one, where nodes have several links (cycle_rails.c). */
void fc_cycle_send_rails(struct fc_cycle_block *block, uint64_t t);
