/* cycle_bits.c - the commonest routers of the general path: one bit a virtual channel.
 *
 * The rules of cycle_step.c and cycle_allocate.c without bypass, reception queues, packets of high priority or copies;
 * the results are theirs to the bit (tests hold the two against each other). Nor for escapes that a head takes where no
 * other choice has room: room may end without waking the head, which there looks again when its port is woken for
 * another channel. A router's input channels stand as bits in words of its own, port << vc_shift | vc:
 *
 *   full     have a flit
 *   awake    of these, may bid for something; the others wait for a link to wake them (asleep of struct fc_cycle_out)
 *   waits    virtual-channel stage: the front is a head without a channel
 *   shut     their port is in the middle of a transfer (links slower than a flit a tick)
 *
 * A router with nothing awake is not looked at, a port with one bid needs no comparison. Whoever could not go anyway is left
 * asleep: on a link in the middle of a flit until that has left, in cut-through on one that a packet has until it has passed. */
#include "solvers/flit/cycle_router.h"

#include <string.h>

enum { MOST_WORDS = 64 }; /* 256 ports of 16 channels */
/* At the front of an empty channel whose packet has a link for itself: the flit before is leaving, and when it has left the next
 * one's turn comes (transfer_ends_bits). */
#define LEAVES FC_FLIT_PACKET

struct fc_cycle_words {
    uint64_t full, awake, waits, shut;
};
struct fc_cycle_pick { /* what a head without a channel has found, for when it wins */
    uint64_t route;
    uint32_t out;
    uint16_t vcs;
    uint8_t room_packets;
};
struct fc_cycle_bits {
    uint32_t words;              /* a router */
    struct fc_cycle_words *word; /* [n_routers][words] */
    struct fc_cycle_pick *pick;  /* [n_blocks][most_in] of the router that is being looked at */
    uint32_t most_in;            /* channels of a router, and what makes a whole cache line */
    bool slow;                   /* some links take longer than a tick for a flit */
    bool whole; /* a packet has a link for itself until it has passed, and room for all of it: cut-through */
};

bool fc_cycle_has_bits(const engine *e)
{
    const struct fc_flit_net *f = e->flit;
    if (f->plain || e->counts->interval_ticks) return false;
    if (!strcmp(f->vc_rule, "updown")) return false; /* its escape: FC_FLIT_PATIENT */
    return !e->line && !e->intake && !e->high && !f->high_vcs && !e->multicast;
}
enum fc_code fc_cycle_bits_open(engine *e, struct fc_status *st)
{
    uint32_t n = e->flit->n_routers, most = 1, shift = (uint32_t)e->vc_shift;
    struct fc_cycle_bits *bits = e->bits = fc_alloc(&e->arena, 1, sizeof *bits, st);
    if (!bits) return st->code;
    for (uint32_t r = 0; r < n; r++) most = fc_most(most, e->first_port[r + 1] - e->first_port[r]);
    bits->words = ((most << shift) + 63) / 64;
    bits->most_in = (most << shift) + 4; /* threads keep to lines of their own */
    bits->word = fc_alloc(&e->arena, (size_t)n * bits->words, sizeof *bits->word, st);
    bits->pick = fc_alloc(&e->arena, (size_t)e->n_blocks * bits->most_in, sizeof *bits->pick, st);
    if (!bits->word || !bits->pick) return st->code;
    if (bits->words > e->port_words && /* asleep: channels instead of ports */
        !(e->asleep = fc_alloc(&e->arena, (size_t)e->flit->n_links * (bits->words - 1), sizeof *e->asleep, st)))
        return st->code;
    bits->whole = e->flit->cut_through && !e->flit->vc_stage; /* a stage may give two channels of a link at a time */
    for (int c = 0; c < e->flit->net->machine->n_classes; c++) bits->slow |= e->slow[c];
    return FC_OK;
}

/* ---- who sleeps ---- */

static inline void sleep_bit(engine *e, uint32_t words, uint32_t link, uint32_t local)
{
    e->out[link].dozes = 1;
    if (__builtin_expect(local < 64, 1))
        e->out[link].asleep |= 1ull << local;
    else
        e->asleep[(size_t)link * (words - 1) + local / 64 - 1] |= 1ull << local % 64;
}
static inline void is_active(block *b, uint32_t router)
{
    uint32_t place = router - b->first_router;
    b->active[place / 64] |= 1ull << place % 64;
}
/* What waits for the link may bid again. */
static inline void wake_link(engine *e, block *b, uint32_t words, uint32_t link)
{
    struct fc_cycle_out *o = &e->out[link];
    if (!o->dozes) return;
    uint32_t home = e->flit->net->link_source[link];
    struct fc_cycle_words *router = e->bits->word + (size_t)home * words;
    uint64_t woken = o->asleep & router->full; /* who slept at several links may have gone */
    router->awake |= woken;
    o->asleep = o->dozes = 0;
    for (uint32_t w = 1; w < words; w++) {
        uint64_t *asleep = &e->asleep[(size_t)link * (words - 1) + w - 1];
        router[w].awake |= *asleep & router[w].full;
        woken |= *asleep & router[w].full;
        *asleep = 0;
    }
    if (woken) is_active(b, home);
}
/* Where the channel vc of the port has its bit; *bit: 0 to 63. */
static inline struct fc_cycle_words *word_of(const engine *e, const struct fc_cycle_port *port, uint32_t vc,
                                             uint32_t *bit)
{
    uint32_t place = (uint32_t)port->number << e->vc_shift | vc;
    *bit = place % 64;
    return e->bits->word + (size_t)port->router * e->bits->words + place / 64;
}

/* ---- fronts ---- */

/* The front flit of the channel is new; `local`: its place in the router, word and bit of it. */
static inline void front_changes(engine *e, block *b, struct fc_cycle_channel *c, const struct fc_cycle_port *port,
                                 uint32_t local, struct fc_cycle_words *word)
{
    const uint64_t bit = 1ull << local % 64;
    const bool head = c->front & FC_FLIT_HEAD, stage = e->flit->vc_stage;
    if (head) {
        route_head(e, c, port, (int)(local & ((1u << e->vc_shift) - 1)));
        if (stage) word->waits |= bit;
    }
    if (e->bits->slow && !(head && stage) && c->out != FC_NONE && e->out[c->out].busy) {
        word->awake &= ~bit;
        if (head || !e->bits->whole) sleep_bit(e, e->bits->words, c->out, local); /* else: transfer_ends_bits */
        return;
    }
    word->awake |= bit;
    is_active(b, port->router);
}
static inline void arrive_bits(engine *e, block *b, uint64_t item)
{
    uint32_t channel = (uint32_t)item, flit = (uint32_t)(item >> 32), shift = (uint32_t)e->vc_shift;
    struct fc_cycle_channel *c = &e->channel[channel];
    b->occupied[channel & ((1u << shift) - 1)] += flit / FC_FLIT_HOP & 1;
    if (c->count++) {
        uint32_t place = (uint32_t)(c->ring_head + c->count - 2) & e->ring_mask;
        e->ring[((size_t)channel << e->ring_shift) + place] = flit;
        return;
    }
    const bool follows = c->front == LEAVES;
    c->front = flit;
    if (follows) return;
    const struct fc_cycle_port *port = &e->port[channel >> shift];
    uint32_t vc = channel & ((1u << shift) - 1), bit;
    struct fc_cycle_words *word = word_of(e, port, vc, &bit);
    word->full |= 1ull << bit;
    front_changes(e, b, c, port, (uint32_t)port->number << shift | vc, word);
}
/* Whether a packet has the link for itself. */
static inline bool is_held(const engine *e, const struct fc_cycle_out *o)
{
    return e->bits->whole && o->free != (1u << e->flit->n_vcs) - 1;
}
static inline void credit_bits(engine *e, block *b, uint64_t item)
{
    uint32_t link = (uint32_t)item >> e->vc_shift, vc = (uint32_t)item & ((1u << e->vc_shift) - 1);
    struct fc_cycle_out *o = &e->out[link];
    o->credits[vc] = (uint16_t)(o->credits[vc] + (item >> 32));
    o->credited |= (uint16_t)(1u << vc);
    if ((o->busy && !e->flit->vc_stage) || is_held(e, o)) return;
    wake_link(e, b, e->bits->words, link);
}
/* Bits of a port's channels, in one word. */
static inline uint64_t port_bits(const engine *e, const struct fc_cycle_port *port, struct fc_cycle_words **word)
{
    uint32_t first;
    *word = word_of(e, port, 0, &first);
    return ((1ull << (1u << e->vc_shift)) - 1) << first;
}
static void transfer_ends_bits(engine *e, block *b, uint64_t item)
{
    uint32_t link = (uint32_t)item;
    struct fc_cycle_port *port = &e->port[item >> 32];
    struct fc_cycle_out *o = &e->out[link];
    struct fc_cycle_words *word;
    uint64_t bits = port_bits(e, port, &word);
    o->busy = 0;
    port->busy--;
    word->shut &= ~bits;
    if (word->awake & bits) is_active(b, port->router);
    if (!is_held(e, o)) {
        wake_link(e, b, e->bits->words, link);
        return;
    }
    uint64_t bit = 1ull << o->holder % 64;
    struct fc_cycle_channel *c =
        &e->channel[(size_t)(item >> 32) << e->vc_shift | (o->holder & ((1u << e->vc_shift) - 1))];
    if (!c->count) {
        c->front = 0;
        return;
    }
    word->full |= bit;
    word->awake |= bit;
    is_active(b, port->router);
}

void fc_cycle_bits_events(engine *e, block *b, int kind, const uint64_t *item, const uint64_t *stop)
{
    if (kind == FC_QUEUE_ARRIVAL)
        for (; item != stop; item++) arrive_bits(e, b, *item);
    else if (kind == FC_QUEUE_CREDIT)
        for (; item != stop; item++) credit_bits(e, b, *item);
    else
        for (; item != stop; item++) transfer_ends_bits(e, b, *item);
}

/* ---- allocation ---- */

/* Place of x in a round robin of n that `last` won last. */
static inline uint32_t turns_after(uint32_t x, uint32_t last, uint32_t n)
{
    return x - last - 1 + (-(uint32_t)(x <= last) & n);
}
/* What allocation of a router reads, by value: nothing that it writes can be taken for it. */
struct here {
    struct fc_cycle_words *word;
    struct fc_cycle_channel *channel; /* its first */
    struct fc_cycle_port *port;       /* its first */
    struct fc_cycle_out *out;         /* of all links */
    uint64_t *bid;                    /* of its outputs and their channels: the first in order; UINT64_MAX: none */
    uint32_t *bidder;                 /* [the same] whose it is */
    uint16_t *vc_rr;                  /* of its links */
    struct fc_cycle_packet *packet;
    uint32_t *vc_last, *touched; /* vc_last: of its channels */
    struct fc_cycle_pick *pick;  /* of its channels */
    uint32_t words, shift, first_channel, n_ports, first_link, n_out, n_vcs;
    uint16_t credits_or; /* of a channel that a head may take: must have credits (0), need not (all ones) */
    bool whole;          /* cut-through: whole packets must fit */
    bool turns;          /* the order is round robin and nothing else */
    bool several;        /* some ports move several flits at a time */
};

/* The channels that the head at the front of `mine` may have now, and of which link; 0: none, it sleeps. */
static inline __attribute__((always_inline)) uint16_t find(engine *e, const struct here *h, uint32_t mine, uint64_t t,
                                                           uint32_t *link)
{
    struct fc_cycle_channel *c = &h->channel[mine];
    uint16_t vcs = 0;
    *link = c->out;
    if (__builtin_expect(c->out != FC_NONE, 1)) {
        const struct fc_cycle_out *o = &h->out[c->out];
        if (__builtin_expect(h->whole || c->room_packets, 0))
            vcs = available(e, o, c->vcs, c->room_packets);
        else
            vcs = o->free & c->vcs & (o->credited | h->credits_or);
        if (__builtin_expect(!vcs, 0)) sleep_bit(e, h->words, c->out, mine);
    } else {
        struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
        struct fc_cycle_bid bid;
        uint32_t vc = mine & ((1u << h->shift) - 1);
        int n = 0;
        if (choose_of(e, c, &h->port[mine >> h->shift], (int)vc, t, &bid, choice, &n)) {
            vcs = bid.vcs;
            *link = bid.out;
            h->pick[mine] = (struct fc_cycle_pick){bid.route, bid.out, vcs, bid.room_packets};
        } else
            for (int i = 0; i < n; i++) sleep_bit(e, h->words, choice[i].link, mine);
    }
    if (__builtin_expect(!vcs, 0)) h->word[mine / 64].awake &= ~(1ull << mine % 64);
    return vcs;
}
/* The head has won: what it chose, where it had a choice. */
static inline __attribute__((always_inline)) void take_pick(const struct here *h, struct fc_cycle_channel *c,
                                                            uint32_t mine)
{
    const struct fc_cycle_pick *pick = &h->pick[mine];
    c->out = pick->out;
    c->room_packets = pick->room_packets;
    h->packet[c->front & FC_FLIT_PACKET].head.route = pick->route;
}
/* Out of the way of those that only take turns. */
static __attribute__((noinline)) uint64_t any_order(const engine *e, uint32_t channel, uint32_t distance, uint32_t link,
                                                    uint64_t t)
{
    return order(e, channel, distance, link, t);
}
/* The channel's bid for a place in the router's lists; `distance`: in the round robin. `head`: behind all others. */
static inline __attribute__((always_inline)) void put_bid(const engine *e, const struct here *h, uint32_t place,
                                                          uint32_t link, uint32_t mine, uint32_t distance, bool head,
                                                          uint64_t t, uint32_t *n_touched)
{
    uint64_t before = h->bid[place], bid = (uint64_t)head << 62;
    bid |= __builtin_expect(h->turns, 1) ? distance : any_order(e, h->first_channel + mine, distance, link, t);
    h->touched[*n_touched] = place;
    *n_touched += before == UINT64_MAX;
    h->bidder[place] = bid < before ? mine : h->bidder[place];
    h->bid[place] = bid < before ? bid : before;
}

/* Virtual-channel stage: each waiting head bids for one channel; the channel takes the next input in its turns. */
static inline __attribute__((always_inline)) void stage(engine *e, const struct here *h, uint64_t t)
{
    const uint32_t shift = h->shift, vc_mask = (1u << shift) - 1, all = h->n_ports << shift;
    uint32_t n_touched = 0;
    for (uint32_t w = 0; w < h->words; w++)
        for (uint64_t rest = h->word[w].awake & h->word[w].waits; rest; rest &= rest - 1) {
            uint32_t mine = 64 * w + LOW(rest), link, vcs = find(e, h, mine, t, &link);
            if (__builtin_expect(!vcs, 0)) continue;
            uint32_t last = h->vc_last[mine], from = ((last & 15) + 1) & -(uint32_t)(last >> 4 == link);
            uint32_t next = vcs & (0xffffu << from), out_vc = LOW(next ? next : vcs);
            uint32_t place = (link - h->first_link) << shift | out_vc, rr = h->vc_rr[place];
            put_bid(e, h, place, link, mine, mine - rr + (-(uint32_t)(mine < rr) & all), false, t, &n_touched);
        }
    for (uint32_t i = 0; i < n_touched; i++) {
        uint32_t place = h->touched[i], out_vc = place & vc_mask, mine = h->bidder[place];
        struct fc_cycle_channel *c = &h->channel[mine];
        h->bid[place] = UINT64_MAX;
        if (__builtin_expect(c->out == FC_NONE, 0)) take_pick(h, c, mine);
        h->out[h->first_link + (place >> shift)].free &= (uint16_t) ~(1u << out_vc);
        c->out_vc = (uint8_t)out_vc;
        h->vc_last[mine] = (h->first_link + (place >> shift)) << 4 | out_vc;
        h->vc_rr[place] = (uint16_t)(mine + 1 == all ? 0 : mine + 1);
        h->word[mine / 64].waits &= ~(1ull << mine % 64);
    }
}

/* The link that the channel asks the switch for, FC_NONE: none, it sleeps; whether it is a head without a channel. */
static inline __attribute__((always_inline)) uint32_t request(engine *e, const struct here *h, uint32_t mine,
                                                              uint64_t t, bool *head)
{
    struct fc_cycle_channel *c = &h->channel[mine];
    uint32_t link = c->out;
    *head = c->out_vc == FC_NO_VC;
    if (*head) {
        if (link != FC_NONE && h->out[link].busy) goto sleep;
        uint16_t vcs = find(e, h, mine, t, &link);
        h->pick[mine].vcs = vcs;
        return vcs ? link : FC_NONE;
    }
    const struct fc_cycle_out *o = &h->out[link]; /* those without end have all their credits */
    if (__builtin_expect((uint32_t)!o->busy & (uint32_t)o->credited >> c->out_vc, 1)) return link;
sleep:
    sleep_bit(e, h->words, link, mine);
    h->word[mine / 64].awake &= ~(1ull << mine % 64);
    return FC_NONE;
}

/* The switch moves the front flit of the channel. */
static inline __attribute__((always_inline)) void move(engine *e, block *b, const struct here *h, uint32_t mine,
                                                       uint32_t link, uint64_t t)
{
    uint32_t vc = mine & ((1u << h->shift) - 1);
    struct fc_cycle_channel *c = &h->channel[mine];
    struct fc_cycle_port *port = &h->port[mine >> h->shift];
    struct fc_cycle_out *o = &h->out[link];
    struct fc_cycle_words *word = &h->word[mine / 64];
    const uint32_t front = c->front, id = front & FC_FLIT_PACKET, in_class = port->link_class;
    const uint32_t out_class = o->link_class;
    port->last_out = (uint16_t)(link - h->first_link);
    port->last_vc = (uint8_t)vc;
    o->last_port = port->number;
    if (c->out_vc == FC_NO_VC) {
        uint16_t vcs = h->pick[mine].vcs, next = vcs & (uint16_t)(0xfffeu << o->last_vc);
        if (__builtin_expect(c->out == FC_NONE, 0)) take_pick(h, c, mine);
        c->out_vc = o->last_vc = (uint8_t)LOW(next ? next : vcs);
        o->free &= (uint16_t) ~(1u << c->out_vc);
        o->holder = (uint16_t)mine;
    }
    const uint32_t out_vc = c->out_vc;
    const bool full_size = c->room_packets & 0x80;
    if (o->target != FC_NONE) {
        if (front & FC_FLIT_HEAD) {
            if (__builtin_expect(full_size, 0))
                o->credits[out_vc] = (uint16_t)(o->credits[out_vc] - (e->flit->packet_flits_max - h->packet[id].flits));
            h->packet[id].hops++;
        }
        if (--o->credits[out_vc] == 0) o->credited &= (uint16_t) ~(1u << out_vc);
        uint32_t sent = (front & ~FC_FLIT_FULL) | FC_FLIT_HOP | (full_size ? FC_FLIT_FULL : 0);
        push(b, o->target_block, e->queue_arrival[out_class], (uint64_t)sent << 32 | (o->target + out_vc));
        b->hops++;
        if (e->flit->adaptive && out_vc < (uint32_t)e->flit->n_escape_vcs) b->counts->escape_flit_hops++;
    } else {
        uint64_t arrived = t + e->delay_delivery[in_class][out_class];
        if (front & FC_FLIT_TAIL) arrived += e->trailer[in_class][out_class];
        fc_flit_count_flits(b->counts, arrived, 1);
        b->flits_out++;
        if (front & FC_FLIT_TAIL) fc_cycle_end_packet(b, id, arrived);
    }
    uint32_t returned = 1;
    if (__builtin_expect((front & (FC_FLIT_FULL | FC_FLIT_TAIL)) == (FC_FLIT_FULL | FC_FLIT_TAIL), 0))
        returned += e->flit->packet_flits_max - h->packet[id].flits;
    push(b, port->source_block, e->queue_credit[in_class][out_class],
         (uint64_t)returned << 32 | port->link << h->shift | vc);
    if (__builtin_expect(e->slow[out_class], 0)) {
        uint32_t number = (h->first_channel + mine) >> h->shift;
        struct fc_cycle_words *first;
        uint64_t bits = port_bits(e, port, &first);
        o->busy = 1;
        first->shut |= bits & -(uint64_t)(++port->busy >= port->paths);
        push(b, (uint32_t)(b - e->block),
             front & FC_FLIT_TAIL ? e->queue_free_tail[out_class] : e->queue_free[out_class],
             (uint64_t)number << 32 | link);
    }
    b->occupied[vc] -= front / FC_FLIT_HOP & 1;
    uint64_t sent = 1;
    if (front & FC_FLIT_TAIL) {
        sent += 1ull << 32;
        o->free |= (uint16_t)(1u << out_vc);
        c->out_vc = FC_NO_VC;
        if (!o->busy || e->flit->vc_stage) wake_link(e, b, h->words, link);
    }
    o->sent += sent;
    if (--c->count) {
        c->front = e->ring[((size_t)(h->first_channel + mine) << e->ring_shift) + (c->ring_head & e->ring_mask)];
        c->ring_head++;
        front_changes(e, b, c, port, mine, word);
    } else {
        word->awake &= ~(1ull << mine % 64);
        word->full &= ~(1ull << mine % 64);
        c->front = o->busy && e->bits->whole && !(front & FC_FLIT_TAIL) ? LEAVES : 0;
    }
}

/* A port of several transfers at a time puts forward as many channels as it has room for, of each output the first by its turns. */
static inline __attribute__((always_inline)) void put_several(engine *e, const struct here *h, uint32_t first,
                                                              uint64_t bids, uint64_t t, uint32_t *n_touched)
{
    const uint32_t number = first >> h->shift;
    const struct fc_cycle_port *port = &h->port[number];
    struct want {
        uint32_t key, link, mine;
    } want[FC_FLIT_MOST_VCS];
    uint32_t n = 0, room = port->paths - port->busy;
    for (; bids; bids &= bids - 1) {
        bool head;
        uint32_t vc = LOW(bids), link = request(e, h, first + vc, t, &head);
        if (link == FC_NONE) continue;
        uint32_t key = (uint32_t)head << 24 | turns_after(link - h->first_link, port->last_out, h->n_out) << 8 |
                       turns_after(vc, port->last_vc, h->n_vcs);
        want[n++] = (struct want){key, link, first + vc};
    }
    for (; n && room; room--) {
        struct want best = want[0];
        for (uint32_t i = 1; i < n; i++)
            if (want[i].key < best.key) best = want[i];
        uint32_t distance = turns_after(number, h->out[best.link].last_port, h->n_ports), kept = 0;
        put_bid(e, h, best.link - h->first_link, best.link, best.mine, distance, best.key >> 24, t, n_touched);
        for (uint32_t i = 0; i < n; i++)
            if (want[i].link != best.link) want[kept++] = want[i];
        n = kept;
    }
}
/* Each input port puts forward the channel that is first by its turns, each output takes the next port in its. Bodies
 * before heads without a channel. */
static inline __attribute__((always_inline)) void switches(engine *e, block *b, const struct here *h,
                                                           const uint64_t *ready, uint64_t t)
{
    const uint32_t shift = h->shift, group = 1u << shift;
    const uint64_t port_mask = (1ull << group) - 1;
    uint32_t n_touched = 0;
    for (uint32_t w = 0; w < h->words; w++)
        for (uint64_t rest = ready[w]; rest;) {
            uint32_t first = LOW(rest) & ~(group - 1), mine = 64 * w + LOW(rest), number = mine >> shift, link;
            uint64_t bids = rest & port_mask << first;
            bool head;
            rest &= ~bids;
            if (__builtin_expect(!(bids & (bids - 1)), 1)) {
                link = request(e, h, mine, t, &head);
            } else if (h->several && h->port[number].paths > 1) {
                put_several(e, h, number << shift, bids >> first, t, &n_touched);
                continue;
            } else {
                const struct fc_cycle_port *port = &h->port[number];
                uint32_t best = UINT32_MAX;
                for (link = FC_NONE; bids; bids &= bids - 1) {
                    bool its_head;
                    uint32_t its = request(e, h, 64 * w + LOW(bids), t, &its_head);
                    if (its == FC_NONE) continue;
                    uint32_t key = (uint32_t)its_head << 24 |
                                   turns_after(its - h->first_link, port->last_out, h->n_out) << 8 |
                                   turns_after(LOW(bids) - first, port->last_vc, h->n_vcs);
                    if (key >= best) continue;
                    best = key;
                    link = its;
                    head = its_head;
                    mine = 64 * w + LOW(bids);
                }
            }
            if (__builtin_expect(link == FC_NONE, 0)) continue;
            uint32_t distance = turns_after(number, h->out[link].last_port, h->n_ports);
            put_bid(e, h, link - h->first_link, link, mine, distance, head, t, &n_touched);
        }
    for (uint32_t i = 0; i < n_touched; i++) {
        uint32_t local = h->touched[i], mine = h->bidder[local];
        h->bid[local] = UINT64_MAX;
        move(e, b, h, mine, h->first_link + local, t);
    }
    if (n_touched) b->last_move = t;
}

/* Of a router with something awake. Returns whether it still has. */
static inline __attribute__((always_inline)) bool router(engine *e, block *b, struct here *h, uint32_t r, uint64_t t)
{
    const struct fc_network *net = e->flit->net;
    uint64_t ready[MOST_WORDS], any = 0, waits = 0, left = 0;
    h->word = e->bits->word + (size_t)r * h->words;
    for (uint32_t w = 0; w < h->words; w++) {
        ready[w] = h->word[w].awake & ~h->word[w].waits & ~h->word[w].shut;
        any |= ready[w];
        waits |= h->word[w].awake & h->word[w].waits;
    }
    uint32_t first_port = e->first_port[r];
    h->port = e->port + first_port;
    h->first_channel = first_port << h->shift;
    h->channel = e->channel + h->first_channel;
    h->first_link = net->first_link[r];
    if (h->words == 1 && !waits && !(any & (any - 1))) { /* alone: no bids */
        uint32_t mine = LOW(any | 1ull << 63);
        bool head;
        uint32_t link = any ? request(e, h, mine, t, &head) : FC_NONE;
        if (link != FC_NONE) {
            move(e, b, h, mine, link, t);
            b->last_move = t;
        }
        return h->word->awake & (h->word->waits | ~h->word->shut);
    }
    h->vc_last = e->flit->vc_stage ? e->vc_last + h->first_channel : NULL;
    h->vc_rr = e->flit->vc_stage ? e->vc_rr + ((size_t)h->first_link << h->shift) : NULL;
    h->n_ports = e->first_port[r + 1] - first_port;
    h->n_out = net->first_link[r + 1] - h->first_link;
    if (waits) stage(e, h, t);
    if (any) switches(e, b, h, ready, t);
    for (uint32_t w = 0; w < h->words; w++) left |= h->word[w].awake & (h->word[w].waits | ~h->word[w].shut);
    return left;
}
static inline __attribute__((always_inline)) void routers(engine *e, block *b, uint64_t t, const uint32_t words,
                                                          const bool several)
{
    const struct fc_network *net = e->flit->net;
    struct here h = {.out = e->out,
                     .pick = e->bits->pick + (size_t)(b - e->block) * e->bits->most_in,
                     .bid = b->bids,
                     .bidder = b->bidder,
                     .turns = e->flit->arbitration == FC_ROUND_ROBIN && net->machine->router.in_network_percent <= 0,
                     .several = several,
                     .packet = e->packet,
                     .touched = b->touched,
                     .words = words,
                     .shift = (uint32_t)e->vc_shift,
                     .n_vcs = (uint32_t)e->flit->n_vcs,
                     .credits_or = e->flit->vc_stage ? 0xffff : 0,
                     .whole = e->flit->cut_through};
    for (uint32_t first = b->first_router; first < b->last_router; first += 64) {
        uint64_t *active = &b->active[(first - b->first_router) / 64];
        for (uint64_t rest = *active; rest; rest &= rest - 1)
            if (!router(e, b, &h, first + LOW(rest), t)) *active &= ~(rest & -rest);
    }
}
void fc_cycle_bits_routers(engine *e, block *b, uint64_t t)
{
    if (e->bits->words > 1)
        routers(e, b, t, e->bits->words, e->flit->most_paths > 1);
    else if (e->flit->most_paths > 1)
        routers(e, b, t, 1, true);
    else
        routers(e, b, t, 1, false);
}
