/* cycle_step.c - one tick of the cycle engine: arrivals, credits, injection, virtual-channel and switch allocation.
 *
 * Router: input-buffered, one crossbar port an input (router.paths transfers at a time), separable input-first allocation
 * with round-robin pointers that move only on a grant (Dally & Towles 2004, sections 16 to 19). With vc_stage a head
 * first wins a virtual channel (bids of tick t see the channels that were free before t's switch grants), then the
 * switch from the next tick on; else both at once, bodies before heads.
 *
 *   head at the buffer at a: switch at a (+1 with vc_stage), on the link at a + D, in the next buffer at a + D + L
 *
 * with router delay D and wire latency L. Credits return flit time + router.credit + L after the switch. A channel that
 * cannot move sleeps until the link it waits for gets a credit, a free channel or the end of a transfer.
 *
 * Limits: a flit that comes by a slower link than the router's fastest is forwarded when it is there whole. */
#include "solvers/flit/cycle.h"

#include <string.h>

#define LOW(word) ((uint32_t)__builtin_ctzll(word))
typedef struct fc_cycle engine;
typedef struct fc_cycle_block block;

static inline void push(block *b, uint32_t to, uint16_t which, uint64_t item)
{
    *b->write[to * (uint32_t)b->engine->n_queues + which]++ = item;
}
void fc_cycle_queues_start(block *b, uint64_t t)
{
    for (uint32_t k = 0; k < (uint32_t)(b->engine->n_blocks * b->engine->n_queues); k++) {
        struct fc_cycle_queue *q = &b->queue[k];
        if (q->at + q->most > q->size) q->at = 0;
        q->start[t & q->slot_mask] = q->at;
        b->write[k] = q->item + q->at;
    }
}
void fc_cycle_queues_end(block *b, uint64_t t)
{
    for (uint32_t k = 0; k < (uint32_t)(b->engine->n_blocks * b->engine->n_queues); k++) {
        struct fc_cycle_queue *q = &b->queue[k];
        uint64_t at = (uint64_t)(b->write[k] - q->item);
        q->count[t & q->slot_mask] = (uint32_t)(at - q->at);
        q->at = at;
    }
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
static void wake(engine *e, block *b, uint32_t link)
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
    if (flit->cut_through && o->free != (1u << flit->n_vcs) - 1) return 0; /* a packet is on its way: it is not interrupted */
    uint16_t a = o->free & vcs;
    if (o->target == FC_NONE) return a;
    uint32_t need = room_needed(flit, room_packets);
    if (need == 1) return flit->vc_stage ? a : a & o->credited;
    for (uint16_t rest = a; rest; rest &= (uint16_t)(rest - 1))
        if (o->credits[LOW(rest)] < need) a &= (uint16_t) ~(1u << LOW(rest));
    return a;
}
static uint32_t credits_of(const struct fc_cycle_out *o, uint16_t vcs)
{
    uint32_t sum = 0;
    if (o->target == FC_NONE) return UINT16_MAX;
    for (; vcs; vcs &= (uint16_t)(vcs - 1)) sum += o->credits[LOW(vcs)];
    return sum;
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

/* Chooses among several outputs: the best available one by the machine's selection, the escape if there is none. On
 * success fills bid->out, vcs, route, room; else the port sleeps on all of them. */
static bool choose(engine *e, const struct fc_cycle_channel *c, const struct fc_cycle_port *port, int vc, uint64_t t,
                   struct fc_cycle_bid *bid)
{
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    const struct fc_flit_net *flit = e->flit;
    int n = flit->route->choices(flit, port->router, port->link, vc, &e->packet[c->front & FC_FLIT_PACKET].head, choice);
    uint64_t best = 0;
    int taken = -1;
    for (int i = 0; i < n; i++) {
        const struct fc_cycle_out *o = &e->out[choice[i].link];
        if (choice[i].escape && taken >= 0) break;
        uint16_t a = o->busy ? 0 : available(e, o, choice[i].vcs, room_of(&choice[i]));
        if (!a) continue;
        uint64_t worth = 0;
        uint16_t vcs = a;
        if (flit->select == FC_SELECT_LEAST) worth = credits_of(o, choice[i].vcs);
        if (flit->select == FC_SELECT_JSQ) {
            for (uint16_t rest = a; rest; rest &= (uint16_t)(rest - 1)) {
                uint64_t range = o->target == FC_NONE
                                     ? 3
                                     : (uint64_t)o->credits[LOW(rest)] * 4 / (flit->buffer_flits + 1u);
                if (range > worth || vcs == a) worth = range, vcs = (uint16_t)(1u << LOW(rest));
            }
        }
        uint64_t tie = draw(e, DRAW_CHOICE, ((port->link << 4) | (uint32_t)vc) * 64u + (uint32_t)i, t);
        uint64_t value = (worth + 1) << 32 | tie >> 32;
        if (value <= best) continue;
        best = value;
        taken = i;
        bid->out = choice[i].link;
        bid->vcs = vcs & a;
        bid->route = choice[i].route;
        bid->room_packets = room_of(&choice[i]);
    }
    if (taken < 0)
        for (int i = 0; i < n; i++) sleep_on(e, choice[i].link, port);
    return taken >= 0;
}

/* The front flit of the channel is new: what it waits for. */
static inline void front_is_new(engine *e, block *b, struct fc_cycle_channel *c, struct fc_cycle_port *port, int vc)
{
    uint16_t bit = (uint16_t)(1u << vc);
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

/* ---- events ---- */

static inline void arrive(engine *e, block *b, uint64_t item)
{
    uint32_t channel = (uint32_t)item, flit = (uint32_t)(item >> 32);
    struct fc_cycle_channel *c = &e->channel[channel];
    if (c->count++) {
        uint32_t place = (uint32_t)(c->ring_head + c->count - 2) & e->ring_mask;
        e->ring[((size_t)channel << e->ring_shift) + place] = flit;
        return;
    }
    c->front = flit;
    front_is_new(e, b, c, &e->port[channel >> e->vc_shift], (int)(channel & ((1u << e->vc_shift) - 1)));
}
static inline void credit(engine *e, block *b, uint64_t item, uint32_t interval)
{
    uint32_t link = (uint32_t)item >> e->vc_shift, vc = (uint32_t)item & ((1u << e->vc_shift) - 1);
    struct fc_cycle_out *o = &e->out[link];
    o->credits[vc] = (uint16_t)(o->credits[vc] + (item >> 32));
    o->credited |= (uint16_t)(1u << vc);
    if (interval != FC_NONE && o->router_link) {
        b->counts->interval_returns[interval]++;
        b->counts->interval_unblocked[interval] += anyone_asleep(e, link);
    }
    if (anyone_asleep(e, link)) wake(e, b, link);
}
static inline void transfer_ends(engine *e, block *b, uint64_t item)
{
    struct fc_cycle_port *port = &e->port[item >> 32];
    uint32_t link = (uint32_t)item;
    e->out[link].busy = 0;
    port->busy--;
    wake_port(e, b, port);
    if (anyone_asleep(e, link)) wake(e, b, link);
}
static void receive(engine *e, block *b, uint64_t t, uint32_t interval)
{
    uint32_t me = (uint32_t)(b - e->block);
    for (int from = 0; from < e->n_blocks; from++)
        for (int k = 0; k < e->n_queues; k++) {
            const struct fc_cycle_queue *q = &e->block[from].queue[me * (uint32_t)e->n_queues + (uint32_t)k];
            if (t < q->delay || !q->delay) continue;
            uint64_t slot = (t - q->delay) & q->slot_mask;
            const uint64_t *item = q->item + q->start[slot], *stop = item + q->count[slot];
            if (e->queue_kind[k] == FC_QUEUE_ARRIVAL)
                for (; item != stop; item++) arrive(e, b, *item);
            else if (e->queue_kind[k] == FC_QUEUE_CREDIT)
                for (; item != stop; item++) credit(e, b, *item, interval);
            else
                for (; item != stop; item++) transfer_ends(e, b, *item);
        }
}

/* ---- injection ---- */

static uint32_t queued_flits(const void *engine_, uint32_t link)
{
    const engine *e = engine_;
    const struct fc_cycle_out *o = &e->out[link];
    uint32_t sum = 0;
    if (o->target == FC_NONE) return 0;
    for (int v = 0; v < e->flit->n_vcs; v++) sum += e->flit->buffer_flits - o->credits[v];
    return sum;
}
/* A record of the front packet of node n's source, which leaves its queue now. FC_NONE: none left. */
static uint32_t make_packet(block *b, uint32_t n, uint64_t t)
{
    engine *e = b->engine;
    struct fc_flit_counts *counts = b->counts;
    const struct fc_flit_source *s = &e->node[n].source;
    const struct fc_flit_view view = {e, queued_flits};
    uint32_t id = fc_cycle_record(b);
    if (id == FC_NONE) return FC_NONE;
    struct fc_cycle_packet *packet = &e->packet[id];
    packet->head.dst = s->dst;
    packet->head.random = s->random;
    packet->head.route = e->flit->route->start(e->flit, n, s->dst, s->random, &view);
    packet->born = s->born;
    packet->waited = (uint32_t)(t - s->born);
    packet->flits = (uint16_t)s->flits;
    packet->hops = 0;
    e->packet_src[id] = n;
    b->packets_in++;
    counts->packets_injected++;
    counts->measured_started += s->born >= counts->measure_from && s->born < counts->measure_to;
    e->injected[n] += t >= counts->measure_from && t < counts->measure_to;
    return id;
}
static bool new_packet(engine *e, block *b, uint32_t n, struct fc_cycle_node *node, uint64_t t)
{
    const struct fc_network *net = e->flit->net;
    const struct fc_flit_source *s = &node->source;
    uint32_t first = net->first_link[net->n_routers + n], links = net->first_link[net->n_routers + n + 1] - first;
    uint32_t link = links == 1 ? first : first + (s->random >> 16) % links;
    struct fc_cycle_out *o = &e->out[link];
    uint16_t a = o->free & o->credited & e->flit->injection_vcs;
    if (e->flit->cut_through)
        for (uint16_t rest = a; rest; rest &= (uint16_t)(rest - 1))
            if (o->credits[LOW(rest)] < s->flits) a &= (uint16_t) ~(1u << LOW(rest));
    if (!a) return false;
    uint16_t next = a & (uint16_t)(0xfffeu << node->last_vc);
    node->vc = node->last_vc = (uint8_t)LOW(next ? next : a);
    node->link = link;
    node->left = (uint16_t)s->flits;
    node->packet = make_packet(b, n, t);
    if (node->packet == FC_NONE) return false;
    o->free &= (uint16_t) ~(1u << node->vc);
    return true;
}
/* One flit of the node, if it can go. */
static void send(engine *e, block *b, uint32_t place, uint64_t t)
{
    uint32_t n = b->node[place];
    struct fc_cycle_node *node = &e->node[n];
    if (node->link_free > t) return;
    uint32_t flags = 0;
    if (!node->left) {
        if (!new_packet(e, b, n, node, t)) return;
        flags = FC_FLIT_HEAD;
    }
    struct fc_cycle_out *o = &e->out[node->link];
    uint16_t bit = (uint16_t)(1u << node->vc);
    if (!(o->credited & bit)) return;
    if (--o->credits[node->vc] == 0) o->credited &= (uint16_t)~bit;
    uint32_t ticks = e->flit->flit_ticks[o->link_class];
    o->sent++;
    b->counts->flits_injected++;
    b->flits_in++;
    b->last_move = t;
    if (--node->left == 0) {
        flags |= FC_FLIT_TAIL;
        o->sent += 1ull << 32;
        o->free |= bit;
        ticks += e->flit->trailer_ticks[o->link_class];
        fc_cycle_next_packet(b, e->traffic, place, n, &node->source, t);
    }
    node->link_free = t + (ticks ? ticks : 1);
    uint64_t item = (uint64_t)(node->packet | flags) << 32 | (o->target + node->vc);
    if (e->delay_injection[o->link_class])
        push(b, o->target_block, e->queue_injection[o->link_class], item);
    else
        arrive(e, b, item);
}

/* ---- allocation ---- */

static inline struct fc_cycle_bid *bid_at(block *b, uint32_t place, uint32_t *n_touched)
{
    struct fc_cycle_bid *bid = &b->bid[place];
    if (bid->key == UINT64_MAX) b->touched[(*n_touched)++] = place;
    return bid;
}
/* Place of x in a round robin of n that `last` won last. */
static inline uint32_t after(uint32_t x, uint32_t last, uint32_t n)
{
    return x > last ? x - last - 1 : x + n - last - 1;
}
static inline bool in_percent(uint64_t random, double percent)
{
    return (double)(random % 10000) < 100 * percent;
}
/* Order among inputs that want the same output, least first; below 2^62. */
static inline uint64_t order(const engine *e, uint32_t channel, uint32_t distance, uint32_t out, uint64_t t)
{
    const struct fc_router *router = &e->flit->net->machine->router;
    uint64_t first = 0;
    if (router->in_network_percent > 0 && in_percent(draw(e, DRAW_NETWORK, out, t), router->in_network_percent))
        first = (uint64_t)(e->port[channel >> e->vc_shift].link >= e->flit->net->first_link[e->flit->n_routers]) << 61;
    switch (e->flit->arbitration) {
    case FC_ROUND_ROBIN: return first | distance;
    case FC_AGE: return first | e->packet[e->channel[channel].front & FC_FLIT_PACKET].born << 12 | distance;
    case FC_SLQ:
    case FC_JSQ_SLQ: {
        bool longest = in_percent(draw(e, DRAW_LONGEST, out, t), router->slq_percent);
        uint64_t range = 3 - (uint64_t)e->channel[channel].count * 4 / (e->flit->buffer_flits + 1u);
        return first | (longest ? range : 0) << 56 | draw(e, DRAW_WINNER, channel, t) >> 16;
    }
    default: return first | draw(e, DRAW_WINNER, channel, t) >> 8;
    }
}

/* Virtual-channel stage: heads bid for free channels; the winners may bid for the switch from the next tick on. */
static uint32_t allocate_channels(engine *e, block *b, uint32_t r, uint64_t t)
{
    struct fc_cycle_port *ports = e->port + e->first_port[r];
    uint32_t n_ports = e->first_port[r + 1] - e->first_port[r], first_link = e->flit->net->first_link[r];
    uint32_t n_touched = 0, n_granted = 0, all = n_ports << e->vc_shift;
    for (uint32_t w = 0; w < e->port_words; w++)
        for (uint64_t rest = e->active_ports[(size_t)r * e->port_words + w]; rest; rest &= rest - 1) {
            struct fc_cycle_port *port = ports + 64 * w + LOW(rest);
            for (uint16_t heads = port->heads; heads; heads &= (uint16_t)(heads - 1)) {
                uint32_t vc = LOW(heads), channel = (uint32_t)(port - e->port) << e->vc_shift | vc;
                struct fc_cycle_channel *c = &e->channel[channel];
                struct fc_cycle_bid want = {0, 0, channel, c->out, 0, c->room_packets};
                bool may;
                if (c->out == FC_NONE)
                    may = choose(e, c, port, (int)vc, t, &want);
                else {
                    want.vcs = available(e, &e->out[c->out], c->vcs, c->room_packets);
                    may = want.vcs;
                    want.route = e->packet[c->front & FC_FLIT_PACKET].head.route;
                    if (!may) sleep_on(e, c->out, port);
                }
                if (!may) {
                    port->heads &= (uint16_t) ~(1u << vc);
                    port->heads_asleep |= (uint16_t)(1u << vc);
                    continue;
                }
                uint32_t from = e->vc_last[channel] >> 4 == want.out ? (e->vc_last[channel] & 15) + 1 : 0;
                uint16_t next = want.vcs & (uint16_t)(0xffffu << from);
                uint32_t out_vc = LOW(next ? next : want.vcs);
                uint32_t mine = (uint32_t)port->number << e->vc_shift | vc;
                uint32_t rr = e->vc_rr[want.out << e->vc_shift | out_vc];
                want.key = order(e, channel, mine >= rr ? mine - rr : mine + all - rr, want.out, t);
                struct fc_cycle_bid *bid = bid_at(b, (want.out - first_link) << e->vc_shift | out_vc, &n_touched);
                if (want.key < bid->key) *bid = want;
            }
        }
    for (uint32_t i = 0; i < n_touched; i++) {
        struct fc_cycle_bid *bid = &b->bid[b->touched[i]];
        uint32_t out_vc = b->touched[i] & ((1u << e->vc_shift) - 1);
        struct fc_cycle_channel *c = &e->channel[bid->channel];
        struct fc_cycle_port *port = &e->port[bid->channel >> e->vc_shift];
        uint32_t vc = bid->channel & ((1u << e->vc_shift) - 1), mine = (uint32_t)port->number << e->vc_shift | vc;
        e->out[bid->out].free &= (uint16_t) ~(1u << out_vc);
        c->out = bid->out;
        c->out_vc = (uint8_t)out_vc;
        c->room_packets = bid->room_packets;
        e->packet[c->front & FC_FLIT_PACKET].head.route = bid->route;
        e->vc_last[bid->channel] = bid->out << 4 | out_vc;
        e->vc_rr[bid->out << e->vc_shift | out_vc] = (uint16_t)(mine + 1 == all ? 0 : mine + 1);
        port->heads &= (uint16_t) ~(1u << vc);
        b->vc_grant[n_granted++] = bid->channel;
        bid->key = UINT64_MAX;
    }
    return n_granted;
}

static inline void fell_asleep(struct fc_cycle_port *port, uint32_t vc)
{
    port->ready &= (uint16_t) ~(1u << vc);
    port->ready_asleep |= (uint16_t)(1u << vc);
}
/* What the channel asks of the switch; false when it has to sleep. */
static inline bool switch_request(engine *e, struct fc_cycle_port *port, uint32_t vc, uint32_t channel, uint64_t t,
                                  struct fc_cycle_bid *want)
{
    struct fc_cycle_channel *c = &e->channel[channel];
    want->channel = channel;
    want->out = c->out;
    want->vcs = 0;
    if (c->out_vc != FC_NO_VC) {
        const struct fc_cycle_out *o = &e->out[c->out];
        if (!o->busy && (o->target == FC_NONE || o->credited >> c->out_vc & 1)) return true;
    } else if (c->out == FC_NONE) {
        if (choose(e, c, port, (int)vc, t, want)) return true;
        fell_asleep(port, vc);
        return false;
    } else {
        const struct fc_cycle_out *o = &e->out[c->out];
        want->vcs = o->busy ? 0 : available(e, o, c->vcs, c->room_packets);
        want->room_packets = c->room_packets;
        if (want->vcs) return true;
    }
    sleep_on(e, c->out, port);
    fell_asleep(port, vc);
    return false;
}

/* A flit leaves for its node, where it is whole at tick `arrived`. */
static inline void deliver(block *b, uint32_t flit, uint64_t arrived)
{
    fc_flit_count_flits(b->counts, arrived, 1);
    b->flits_out++;
    if (flit & FC_FLIT_TAIL) fc_cycle_end_packet(b, flit & FC_FLIT_PACKET, arrived);
}

/* The switch moves the front flit of the bid's channel. */
static inline void grant(engine *e, block *b, const struct fc_cycle_bid *bid, uint64_t t, uint32_t interval)
{
    uint32_t channel = bid->channel, vc = channel & ((1u << e->vc_shift) - 1), link = bid->out;
    struct fc_cycle_channel *c = &e->channel[channel];
    struct fc_cycle_port *port = &e->port[channel >> e->vc_shift];
    struct fc_cycle_out *o = &e->out[link];
    const struct fc_flit_net *flit = e->flit;
    uint32_t front = c->front;
    struct fc_cycle_packet *packet = &e->packet[front & FC_FLIT_PACKET];
    if (c->out_vc == FC_NO_VC) {
        uint16_t next = bid->vcs & (uint16_t)(0xfffeu << o->last_vc);
        c->out_vc = o->last_vc = (uint8_t)LOW(next ? next : bid->vcs);
        o->free &= (uint16_t) ~(1u << c->out_vc);
        if (c->out == FC_NONE) packet->head.route = bid->route;
        c->out = link;
        c->room_packets = bid->room_packets;
    }
    uint16_t out_bit = (uint16_t)(1u << c->out_vc);
    uint32_t extra = c->room_packets & 0x80 ? flit->packet_flits_max - packet->flits : 0;
    if (o->target != FC_NONE) {
        if (front & FC_FLIT_HEAD) o->credits[c->out_vc] = (uint16_t)(o->credits[c->out_vc] - extra);
        if (--o->credits[c->out_vc] == 0) o->credited &= (uint16_t)~out_bit;
        uint32_t sent = (front & ~FC_FLIT_FULL) | (c->room_packets & 0x80 ? FC_FLIT_FULL : 0);
        push(b, o->target_block, e->queue_arrival[o->link_class], (uint64_t)sent << 32 | (o->target + c->out_vc));
        if (front & FC_FLIT_HEAD) packet->hops++;
        b->counts->flit_hops++;
        if (flit->adaptive && c->out_vc < flit->n_escape_vcs) b->counts->escape_flit_hops++;
        if (interval != FC_NONE) b->counts->interval_vc_flits[interval][c->out_vc]++;
    } else {
        uint32_t after = e->delay_delivery[port->link_class][o->link_class];
        if (front & FC_FLIT_TAIL) after += e->trailer[port->link_class][o->link_class];
        deliver(b, front, t + after);
    }
    o->sent++;
    uint32_t returned = 1;
    if (front & FC_FLIT_FULL && front & FC_FLIT_TAIL) returned += flit->packet_flits_max - packet->flits;
    push(b, port->source_block, e->queue_credit[port->link_class][o->link_class], (uint64_t)returned << 32 | port->link << e->vc_shift | vc);
    if (e->slow[o->link_class]) {
        o->busy = 1;
        port->busy++;
        push(b, (uint32_t)(b - e->block),
             front & FC_FLIT_TAIL ? e->queue_free_tail[o->link_class] : e->queue_free[o->link_class],
             (uint64_t)(channel >> e->vc_shift) << 32 | link);
    }
    if (front & FC_FLIT_TAIL) {
        o->sent += 1ull << 32;
        o->free |= out_bit;
        c->out_vc = FC_NO_VC;
        if (anyone_asleep(e, link)) wake(e, b, link);
    }
    if (--c->count) {
        c->front = e->ring[((size_t)channel << e->ring_shift) + (c->ring_head & e->ring_mask)];
        c->ring_head++;
        front_is_new(e, b, c, port, (int)vc);
    } else
        port->ready &= (uint16_t) ~(1u << vc);
}

/* Switch allocation of a router: each input port puts forward its bids, each output takes one. */
static inline void allocate_switch(engine *e, block *b, uint32_t r, uint64_t t, uint32_t interval)
{
    const struct fc_flit_net *flit = e->flit;
    struct fc_cycle_port *ports = e->port + e->first_port[r];
    uint32_t n_ports = e->first_port[r + 1] - e->first_port[r];
    uint32_t first_link = flit->net->first_link[r], n_out = flit->net->first_link[r + 1] - first_link;
    uint32_t n_touched = 0, n_vcs = (uint32_t)flit->n_vcs;
    for (uint32_t w = 0; w < e->port_words; w++) {
        uint64_t *active = &e->active_ports[(size_t)r * e->port_words + w];
        for (uint64_t rest = *active; rest; rest &= rest - 1) {
            struct fc_cycle_port *port = ports + 64 * w + LOW(rest);
            struct fc_cycle_bid want[FC_FLIT_MOST_VCS];
            uint32_t n = 0, room = flit->paths - port->busy;
            if (port->busy >= flit->paths) {
                port->ready_asleep |= port->ready;
                port->ready = 0;
                room = 0;
            }
            for (uint16_t ready = port->ready; ready; ready &= (uint16_t)(ready - 1)) {
                uint32_t vc = LOW(ready), channel = (uint32_t)(port - e->port) << e->vc_shift | vc;
                if (!switch_request(e, port, vc, channel, t, &want[n])) continue;
                uint32_t out = want[n].out - first_link;
                out = after(out, port->last_out, n_out);
                want[n].key = (uint64_t)(want[n].vcs != 0) << 40 | out << 8 | after(vc, port->last_vc, n_vcs);
                n++;
            }
            if (!(port->ready | port->heads)) *active &= ~(1ull << LOW(rest));
            for (; n && room; room--) {
                uint32_t best = 0;
                for (uint32_t i = 1; i < n; i++)
                    if (want[i].key < want[best].key) best = i;
                uint32_t out = want[best].out, turn = after(port->number, e->out[out].last_port, n_ports);
                uint64_t key = (uint64_t)(want[best].vcs != 0) << 62 | order(e, want[best].channel, turn, out, t);
                struct fc_cycle_bid *bid = bid_at(b, out - first_link, &n_touched);
                if (key < bid->key) {
                    *bid = want[best];
                    bid->key = key;
                }
                uint32_t kept = 0;
                for (uint32_t i = 0; i < n; i++)
                    if (want[i].out != out) want[kept++] = want[i];
                n = kept;
            }
        }
    }
    for (uint32_t i = 0; i < n_touched; i++) {
        uint32_t local = b->touched[i];
        struct fc_cycle_bid bid = b->bid[local];
        struct fc_cycle_port *port = &e->port[bid.channel >> e->vc_shift];
        b->bid[local].key = UINT64_MAX;
        uint32_t vc = bid.channel & ((1u << e->vc_shift) - 1);
        port->last_out = (uint16_t)local;
        port->last_vc = (uint8_t)vc;
        e->out[bid.out].last_port = port->number;
        grant(e, b, &bid, t, interval);
    }
    if (n_touched) b->last_move = t;
}

static void routers(engine *e, block *b, uint64_t t, uint32_t interval)
{
    uint32_t n_words = (b->last_router - b->first_router + 63) / 64;
    for (uint32_t w = 0; w < n_words; w++)
        for (uint64_t rest = b->active[w]; rest; rest &= rest - 1) {
            uint32_t r = b->first_router + 64 * w + LOW(rest), granted = 0;
            b->active[w] &= ~(1ull << LOW(rest));
            if (e->flit->vc_stage) granted = allocate_channels(e, b, r, t);
            allocate_switch(e, b, r, t, interval);
            for (uint32_t i = 0; i < granted; i++) {
                uint32_t channel = (uint32_t)b->vc_grant[i];
                struct fc_cycle_port *port = &e->port[channel >> e->vc_shift];
                port->ready |= (uint16_t)(1u << (channel & ((1u << e->vc_shift) - 1)));
                activate(e, b, port);
            }
            for (uint32_t p = 0; p < e->port_words; p++)
                if (e->active_ports[(size_t)r * e->port_words + p]) b->active[w] |= 1ull << LOW(rest);
        }
}

/* ---- counts over the window ---- */

void fc_cycle_flush_links(struct fc_cycle_block *b, bool keep)
{
    engine *e = b->engine;
    const struct fc_network *net = e->flit->net;
    if (e->fast) fc_cycle_fast_sync_sent(b);
    for (uint32_t i = 0; i < b->last_router - b->first_router + b->n_nodes; i++) {
        uint32_t routers = b->last_router - b->first_router;
        uint32_t v = i < routers ? b->first_router + i : net->n_routers + b->node[i - routers];
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
            if (keep) {
                e->link_flits[l] += (uint32_t)e->out[l].sent;
                e->link_packets[l] += e->out[l].sent >> 32;
            }
            e->out[l].sent = 0;
        }
    }
}
/* Flits in the channels behind router-to-router links, every 64 ticks. */
static void sample_occupancy(engine *e, block *b)
{
    for (uint32_t p = e->first_port[b->first_router]; p < e->first_port[b->last_router]; p++) {
        if (!e->out[e->port[p].link].router_link) continue;
        if (e->fast) {
            size_t port = (size_t)e->port[p].router * e->fast->n_ports + e->port[p].number;
            const struct fc_fast_channel *c = &e->fast->channel[port << e->vc_shift];
            for (int v = 0; v < e->flit->n_vcs; v++) b->counts->occupancy_flit_ticks[v] += 64ull * c[v].count;
            continue;
        }
        for (int v = 0; v < e->flit->n_vcs; v++)
            b->counts->occupancy_flit_ticks[v] += 64ull * e->channel[((size_t)p << e->vc_shift) + (size_t)v].count;
    }
}

void fc_cycle_watch(block *b, uint64_t t)
{
    const struct fc_flit_counts *counts = b->counts;
    if (t == counts->measure_from) fc_cycle_flush_links(b, false);
    if (t == counts->measure_to) fc_cycle_flush_links(b, true);
    if (t % 64 == 0 && t >= counts->measure_from && t < counts->measure_to) sample_occupancy(b->engine, b);
}

void fc_cycle_block_run(block *b, uint64_t from, uint64_t to)
{
    engine *e = b->engine;
    const struct fc_flit_counts *counts = b->counts;
    for (uint64_t t = from; t < to; t++) {
        uint32_t interval = FC_NONE;
        if (counts->interval_ticks && t / counts->interval_ticks < counts->n_intervals)
            interval = (uint32_t)(t / counts->interval_ticks);
        fc_cycle_watch(b, t);
        fc_cycle_queues_start(b, t);
        receive(e, b, t, interval);
        fc_cycle_births(b, t);
        for (uint32_t w = 0; w < (b->n_nodes + 63) / 64; w++)
            for (uint64_t rest = b->sending[w]; rest; rest &= rest - 1) send(e, b, 64 * w + LOW(rest), t);
        routers(e, b, t, interval);
        fc_cycle_queues_end(b, t);
    }
}
