/* cycle_allocate.c - virtual-channel and switch allocation of the cycle engine's general path: separable,
 * input first, an iteration a tick, pointers that move only on a grant (Dally & Towles 2004, sections 18.3
 * and 19.3); or by age, at random, or the longest queue first (Adiga et al. 2005). */
#include "solvers/flit/cycle_bypass.h"

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
/* Virtual-channel stage: heads bid for free channels; the winners may bid for the switch from the next tick
 * on. */
uint32_t fc_cycle_allocate_channels(engine *e, block *b, uint32_t r, uint64_t t)
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
                struct fc_cycle_bid want = {0, 0, channel, c->out, 0, c->room_packets, false};
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
        if (!o->busy && (o->endless || o->credited >> c->out_vc & 1)) return true;
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
static inline void deliver(block *b, uint32_t flit, uint32_t vc, uint64_t arrived)
{
    fc_flit_count_flits(b->counts, arrived, 1);
    b->flits_out++;
    if (!(flit & FC_FLIT_TAIL)) return;
    fc_cycle_end_high(b, flit & FC_FLIT_PACKET, vc, arrived);
    fc_cycle_end_packet(b, flit & FC_FLIT_PACKET, arrived);
}

/* The switch moves the front flit of the bid's channel. */
static inline __attribute__((always_inline)) void grant(engine *e, block *b, const struct fc_cycle_bid *bid, uint64_t t,
                                                        uint32_t interval, bool more)
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
    uint32_t early = more && e->line ? bypass(e, bid, front, t) : 0;
    if (more ? !o->endless : o->target != FC_NONE) {
        if (front & FC_FLIT_HEAD) o->credits[c->out_vc] = (uint16_t)(o->credits[c->out_vc] - extra);
        if (--o->credits[c->out_vc] == 0) o->credited &= (uint16_t)~out_bit;
    }
    if (o->target != FC_NONE) {
        uint32_t sent = (front & ~FC_FLIT_FULL) | (c->room_packets & 0x80 ? FC_FLIT_FULL : 0);
        push(b, o->target_block, early ? e->queue_bypass[o->link_class] : e->queue_arrival[o->link_class],
             (uint64_t)sent << 32 | (o->target + c->out_vc));
        if (front & FC_FLIT_HEAD) packet->hops++;
        b->counts->flit_hops++;
        if (flit->adaptive && c->out_vc < flit->n_escape_vcs) b->counts->escape_flit_hops++;
        if (interval != FC_NONE) b->counts->interval_vc_flits[interval][c->out_vc]++;
    } else {
        uint32_t after = e->delay_delivery[port->link_class][o->link_class];
        if (front & FC_FLIT_TAIL) after += e->trailer[port->link_class][o->link_class];
        if (!more || o->endless)
            deliver(b, front, c->out_vc, t + after - early);
        else if (front & FC_FLIT_TAIL)
            fc_cycle_intake(b, link, c->out_vc, front & FC_FLIT_PACKET, t + after - early, t);
    }
    o->sent++;
    uint32_t returned = 1;
    if (front & FC_FLIT_FULL && front & FC_FLIT_TAIL) returned += flit->packet_flits_max - packet->flits;
    push(b, port->source_block, e->queue_credit[port->link_class][o->link_class],
         (uint64_t)returned << 32 | port->link << e->vc_shift | vc);
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

/* Switch allocation of a router: each input port puts forward its bids, each output takes one. `more`: there
 * are a bypass, packets of high priority or reception queues. */
static inline __attribute__((always_inline)) void allocate_switch(engine *e, block *b, uint32_t r, uint64_t t,
                                                                  uint32_t interval, bool more)
{
    const struct fc_flit_net *flit = e->flit;
    struct fc_cycle_port *ports = e->port + e->first_port[r];
    uint32_t n_ports = e->first_port[r + 1] - e->first_port[r];
    uint32_t first_link = flit->net->first_link[r], n_out = flit->net->first_link[r + 1] - first_link;
    uint32_t n_touched = 0, n_vcs = (uint32_t)flit->n_vcs;
    if (e->multicast) fc_cycle_forks_move(e, b, r, t, interval);
    for (uint32_t w = 0; w < e->port_words; w++) {
        uint64_t *active = &e->active_ports[(size_t)r * e->port_words + w];
        for (uint64_t rest = *active; rest; rest &= rest - 1) {
            struct fc_cycle_port *port = ports + 64 * w + LOW(rest);
            struct fc_cycle_bid want[FC_FLIT_MOST_VCS];
            uint32_t n = 0, paths = flit->port_paths[port->link];
            uint32_t room = port->busy < paths ? paths - port->busy : 0;
            if (room == 0) {
                port->ready_asleep |= port->ready;
                port->ready = 0;
            }
            uint16_t fresh = more && e->line ? take_fresh(e, port) : 0;
            for (uint16_t ready = port->ready; ready; ready &= (uint16_t)(ready - 1)) {
                uint32_t vc = LOW(ready), channel = (uint32_t)(port - e->port) << e->vc_shift | vc;
                if (!switch_request(e, port, vc, channel, t, &want[n])) continue;
                uint32_t out = want[n].out - first_link;
                out = after(out, port->last_out, n_out);
                want[n].key = (uint64_t)(want[n].vcs != 0) << 40 | out << 8 | after(vc, port->last_vc, n_vcs);
                if (more) {
                    want[n].fresh = fresh >> vc & 1;
                    if (e->line) ask(e, want[n].out, t);
                    want[n].key |= (uint64_t) !(flit->high_vcs >> vc & 1) << 41; /* high priority first */
                }
                n++;
            }
            if (!(port->ready | port->heads | port->forks)) *active &= ~(1ull << LOW(rest));
            for (; n && room; room--) {
                uint32_t best = 0;
                for (uint32_t i = 1; i < n; i++)
                    if (want[i].key < want[best].key) best = i;
                uint32_t out = want[best].out, turn = after(port->number, e->out[out].last_port, n_ports);
                uint64_t key = (uint64_t)(want[best].vcs != 0) << 62 | order(e, want[best].channel, turn, out, t);
                if (more) key |= (want[best].key >> 41) << 63;
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
        grant(e, b, &bid, t, interval, more);
    }
    if (e->multicast) fc_cycle_forks_end(e, b);
    if (n_touched) b->last_move = t;
}
void fc_cycle_allocate_switch(engine *e, block *b, uint32_t r, uint64_t t, uint32_t interval)
{
    if (e->line || e->intake || e->high)
        allocate_switch(e, b, r, t, interval, true);
    else
        allocate_switch(e, b, r, t, interval, false);
}
