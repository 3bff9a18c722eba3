/* cycle_boxes_run.h - the tick of a torus in boxes (cycle_boxes.h): that of cycle_fast_run.h, and equal to it.
 *
 * A site at a tick: credits that come back; flits that nodes send, one by one; flits that arrive and allocation, a vector
 * of lanes at a time; flits that move, and heads that are fronts now, one by one; then rows of arrivals and credits go to
 * the sites behind, turned where boxes end. */
#pragma once

#include "solvers/flit/cycle_fast_run.h"
#include "solvers/flit/cycle_boxes.h"
#include "solvers/flit/source_draw.h"

#define AT FC_LANES_AT
typedef uint32_t fc_words __attribute__((vector_size(FC_LANE_BYTES), aligned(FC_LANE_BYTES), may_alias));
typedef uint32_t fc_four __attribute__((vector_size(16), aligned(16), may_alias));

struct site_tick {                   /* of a site at a tick */
    fc_row able[2];                  /* channels of outputs that have credits, as bits of outputs */
    fc_row fit[2];                   /* of these, those that a head may have; ejection: either channel is 0's */
    fc_row may_send;                 /* channels of the node that have credits */
    fc_row winner[FC_SITE_PORTS];    /* outputs: bit of the port */
    fc_row target[FC_SITE_OUTS];     /* outputs: place * channels + channel in the slots behind */
    fc_row source[FC_SITE_PORTS];    /* outputs: the same of the flit that leaves by it */
    fc_row second[FC_SITE_PORTS];    /* ports: not 0 where a flit stands behind it */
    fc_row out[FC_SITE_OUTS];        /* outputs: what the flit wants behind */
    fc_row code[FC_SITE_PORTS];      /* and by which channel it comes, see struct fc_site_due */
    fc_row back[FC_SITE_PORTS];      /* ports: credits */
    fc_row tail[FC_SITE_PORTS];      /* outputs with a winner: 1 where it is the last of its packet */
    uint64_t winners[FC_SITE_PORTS]; /* outputs: lanes that have one */
};
struct site_view {
    struct view w;
    struct fc_boxes x;
};

INLINE fc_lanes either(fc_lanes mask, fc_lanes a, fc_lanes b)
{
    return b ^ ((a ^ b) & mask);
}
/* 0xff where the top bit is set. */
INLINE fc_lanes top(fc_lanes a)
{
    return (fc_lanes)((fc_signed_lanes)a < 0);
}
INLINE fc_lanes place_in_slots(fc_lanes place)
{
    fc_lanes twice = place + place, four = twice + twice, eight = four + four;
    return eight + four + twice; /* FC_SITE_CHANNELS times */
}
INLINE void site_credits(struct fc_site *s, const struct fc_site_due *due, const struct view *w, struct site_tick *k,
                         const enum fc_fast_kind kind)
{
    for (uint32_t i = 0; i < FC_LANES; i += sizeof(fc_lanes)) {
        fc_lanes able0 = (fc_lanes){0} + (1u << FC_SITE_OUTS), able1 = able0; /* ejection: always */
        fc_lanes roomy0 = able0, roomy1 = able0;                              /* cut-through: for a packet */
        FC_UNROLLED
        for (uint32_t o = 0; o < FC_SITE_PORTS; o++) {
            fc_lanes back = AT(due->back[o], i);
            fc_lanes credits0 = AT(s->credits[2 * o], i) + (back & 1),
                     credits1 = AT(s->credits[2 * o + 1], i) + (back >> 1);
            AT(s->credits[2 * o], i) = credits0;
            AT(s->credits[2 * o + 1], i) = credits1;
            fc_lanes has0 = (fc_lanes)(credits0 != 0), has1 = (fc_lanes)(credits1 != 0);
            if (o == FC_SITE_OUTS)
                AT(k->may_send, i) = ((has0 & 1) | (has1 & 2)) & w->injection_vcs;
            else
                able0 |= has0 & (uint8_t)(1u << o), able1 |= has1 & (uint8_t)(1u << o);
            if (kind == FC_FAST_CUT_THROUGH && o < FC_SITE_OUTS) {
                roomy0 |= (fc_lanes)(credits0 >= w->packet_flits) & (uint8_t)(1u << o);
                roomy1 |= (fc_lanes)(credits1 >= w->packet_flits) & (uint8_t)(1u << o);
            }
        }
        AT(k->able[0], i) = able0;
        AT(k->able[1], i) = able1;
        if (kind == FC_FAST_SINGLE) continue;
        fc_lanes free0 = AT(s->free[0], i), free1 = AT(s->free[1], i);
        if (kind == FC_FAST_CUT_THROUGH) { /* a packet on its way is not interrupted */
            AT(k->fit[0], i) = roomy0 & free0 & free1;
            AT(k->fit[1], i) = roomy1 & free0 & free1;
        } else {
            AT(k->fit[0], i) = able0 & (free0 | (free1 & (1u << FC_SITE_OUTS)));
            AT(k->fit[1], i) = able1 & free1;
        }
    }
}
INLINE uint8_t soon(int32_t born, int32_t start)
{
    int32_t wait = born - start;
    wait = wait < 0 ? 0 : wait;
    return (uint8_t)(wait > UINT8_MAX ? UINT8_MAX : wait);
}
/* The node's packet has left: its next. */
INLINE void site_next(block *b, const struct site_view *v, struct fc_site *s, uint32_t lane, uint32_t n,
                      struct fc_flit_source *source, uint64_t start)
{
    if (v->x.plain)
        fc_flit_next_plain(b->engine->traffic, n, source);
    else
        fc_flit_next(b->engine->traffic, n, source);
    b->n_done += source->born == UINT64_MAX;
    s->born[lane] = fc_site_born(source->born, v->x.epoch);
    s->soon[lane] = soon(s->born[lane], (int32_t)(start - v->x.epoch));
}
INLINE void site_send(block *b, const struct site_view *v, struct sums *sums, struct fc_site *s, uint32_t site,
                      uint64_t t, uint64_t start, const struct site_tick *k, const enum fc_fast_kind kind)
{
    struct fc_site_due *due = v->x.due + ((size_t)site << v->x.due_bits) + ((t + v->x.node_delay) & v->x.due_mask);
    uint64_t *slots = v->x.slot + (size_t)site * v->x.ring_places * FC_SITE_CHANNELS * FC_LANES;
    fc_row sends;
    for (uint32_t i = 0; i < FC_LANES; i += sizeof(fc_lanes)) {
        AT(sends, i) = (fc_lanes)(AT(s->soon, i) <= (uint8_t)(t - start)) & AT(k->may_send, i);
        AT(due->out[FC_SITE_OUTS], i) = (fc_lanes){0};
    }
    const uint64_t senders = fc_fast_lanes_set(sends); /* called into the cache first */
    for (uint64_t rest = senders; rest; rest &= rest - 1)
        __builtin_prefetch(&b->engine->node[b->node[site * FC_LANES + LOW(rest)]].source);
    for (uint64_t rest = senders; rest; rest &= rest - 1) {
        uint32_t lane = LOW(rest), place = site * FC_LANES + lane, n = b->node[place], may = k->may_send[lane];
        struct fc_cycle_node *node = &b->engine->node[n];
        uint32_t vc, id = node->packet;
        bool head = kind == FC_FAST_SINGLE || !node->left;
        uint64_t flit;
        if (kind == FC_FAST_CUT_THROUGH && head)
            for (uint32_t i = 0; i < 2; i++)
                if (s->credits[2 * FC_SITE_OUTS + i][lane] < node->source.flits) may &= ~(1u << i);
        if (kind == FC_FAST_CUT_THROUGH && head && !may) continue;
        if (head) {
            if ((id = fc_cycle_record(b)) == FC_NONE) return;
            vc = may == 3 ? s->last_vc[lane] == 0 : may >> 1;
            s->last_vc[lane] = (uint8_t)vc;
            flit = start_packet(&v->w, sums, n, &node->source, t, id, kind);
            if (kind != FC_FAST_SINGLE) {
                node->left = (uint16_t)node->source.flits;
                node->packet = id;
                node->vc = (uint8_t)vc;
            }
        } else if (may >> node->vc & 1) {
            vc = node->vc;
            flit = (uint64_t)id << v->w.id_shift;
        } else
            continue;
        if (kind == FC_FAST_SINGLE || --node->left == 0) {
            if (kind != FC_FAST_SINGLE) {
                flit |= v->w.tail;
                s->packets_sum[FC_SITE_PORTS][lane]++;
            }
            site_next(b, v, s, lane, n, &node->source, start);
        }
        uint32_t c = 2 * FC_SITE_OUTS + vc;
        s->sent_sum[FC_SITE_PORTS][lane]++;
        sums->flits++;
        bool first = s->credits[c][lane]-- == v->w.buffer_flits;
        uint32_t at = first ? 0 : s->tail[c][lane];
        s->tail[c][lane] = (uint8_t)((at + 1) & v->w.ring_mask);
        slots[(at * FC_SITE_CHANNELS + c) * FC_LANES + lane] = flit;
        due->out[FC_SITE_OUTS][lane] = head ? v->x.want[flit & v->w.code_mask] : FC_SITE_BODY;
        due->code[FC_SITE_OUTS][lane] = (uint8_t)(vc | (first ? FC_FAST_FIRST : 0));
    }
}

/* Flits that arrive in lanes from i on, and what each port asks for: a bit of an output, 0: nothing. */
INLINE fc_lanes site_port(struct fc_site *s, const struct fc_site_due *due, const struct site_tick *k, uint32_t p,
                          uint32_t i, fc_lanes *channel_1, fc_lanes *far, fc_lanes *head, const enum fc_fast_kind kind)
{
    fc_lanes out = AT(due->out[p], i), code = AT(due->code[p], i), able0 = AT(k->able[0], i), able1 = AT(k->able[1], i);
    fc_lanes comes = (fc_lanes)(out != 0), on1 = comes & -(code & 1), on0 = comes & ~on1, first = top(code), asks[2],
             bodies[2];
    FC_UNROLLED
    for (uint32_t vc = 0; vc < 2; vc++) {
        uint32_t c = 2 * p + vc;
        fc_lanes on = vc ? on1 : on0, count = AT(s->count[c], i), want = AT(s->want[c], i);
        fc_lanes new = on &(fc_lanes)(count == 0);
        if (kind != FC_FAST_SINGLE) new &= (fc_lanes)(out != FC_SITE_BODY);
        want = either(new, out, want);
        count -= on;
        AT(s->count[c], i) = count;
        AT(s->want[c], i) = want;
        AT(s->head[c], i) &= ~(on & first);
        far[vc] = top(want);
        asks[vc] = want & (fc_lanes)(count != 0);
        if (kind == FC_FAST_SINGLE) {
            asks[vc] &= either(far[vc], able1, able0);
            continue;
        }
        fc_lanes held = AT(s->held[c], i);
        bodies[vc] = asks[vc] & held & either(far[vc], able1, able0);
        asks[vc] &= ~held & either(far[vc], AT(k->fit[1], i), AT(k->fit[0], i));
    }
    if (kind != FC_FAST_SINGLE) { /* bodies first */
        *head = (fc_lanes)((bodies[0] | bodies[1]) == 0);
        for (uint32_t vc = 0; vc < 2; vc++) asks[vc] = either(*head, asks[vc], bodies[vc]);
    }
    fc_lanes all = asks[0] | asks[1], above = AT(s->above_out[p], i), bid;
    fc_fast_next(&all, &above, &bid);
    *channel_1 = (fc_lanes)(asks[1] == bid) & ((fc_lanes)(asks[0] != bid) | AT(s->last_0[p], i));
    *far = either(*channel_1, far[1], far[0]);
    return bid;
}
struct site_bids { /* in lanes of a vector; masks of ports as the router counts them */
    fc_lanes bid[FC_SITE_PORTS], channel_1[FC_SITE_PORTS]; /* ports: the output asked for; 0xff: from channel 1 */
    fc_lanes asks[FC_SITE_PORTS];                          /* outputs: ports that ask */
    fc_lanes far, head;                                    /* ports: for channel 1 there; for a head */
    fc_lanes won, ejected_1;                               /* ports: winners; heads that the node gets by channel 1 */
};
/* A packet of several flits: its channel behind output o is held, which a head takes. The node's are taken in turn. */
INLINE void site_hold(struct fc_site *s, struct site_bids *b, fc_lanes winner, fc_lanes *on0, fc_lanes *on1, uint32_t o,
                      uint32_t i)
{
    fc_lanes head = (fc_lanes)((winner & b->head) != 0), free0 = AT(s->free[0], i), free1 = AT(s->free[1], i);
    uint8_t bit = (uint8_t)(1u << o);
    if (o == FC_SITE_OUTS) {
        fc_lanes may0 = (fc_lanes)((free0 & bit) != 0), may1 = (fc_lanes)((free1 & bit) != 0);
        fc_lanes takes_1 = head & may1 & (~may0 | AT(s->last_ejected_0, i));
        AT(s->last_ejected_0, i) = either(head, ~takes_1, AT(s->last_ejected_0, i));
        *on1 |= takes_1;
        *on0 &= ~takes_1;
        b->ejected_1 = winner & takes_1;
    }
    AT(s->free[0], i) = free0 & ~(*on0 & bit);
    AT(s->free[1], i) = free1 & ~(*on1 & bit);
}
/* Output o elects a port, and its flit gets a credit and a place behind. */
INLINE void site_elect(struct fc_site *s, struct site_tick *k, struct site_bids *b, uint32_t o, uint32_t i,
                       uint8_t buffer_flits, uint8_t ring_mask, const enum fc_fast_kind kind)
{
    fc_lanes above = AT(s->above_port[o], i), asks = b->asks[o], winner;
    if (kind != FC_FAST_SINGLE) {
        fc_lanes bodies = asks & ~b->head;
        asks = bodies | (asks & (fc_lanes)(bodies == 0));
    }
    fc_fast_next(&asks, &above, &winner);
    AT(s->above_port[o], i) = above;
    AT(k->winner[o], i) = winner;
    b->won |= winner;
    fc_lanes none = (fc_lanes)(winner == 0), place = {0};
    AT(s->sent[o], i) += none + 1;
    fc_lanes on1 = (fc_lanes)((winner & b->far) != 0), on0 = ~(on1 | none);
    if (kind != FC_FAST_SINGLE) site_hold(s, b, winner, &on0, &on1, o, i);
    fc_lanes code = on1 & 1;
    if (o < FC_SITE_OUTS) {
        FC_UNROLLED
        for (uint32_t vc = 0; vc < 2; vc++) {
            fc_lanes on = vc ? on1 : on0, credits = AT(s->credits[2 * o + vc], i);
            fc_lanes first = on & (fc_lanes)(credits == buffer_flits), tail = AT(s->tail[2 * o + vc], i) & ~first;
            AT(s->credits[2 * o + vc], i) = credits + on;
            AT(s->tail[2 * o + vc], i) = (tail - on) & ring_mask;
            place |= tail & on;
            code |= first & FC_FAST_FIRST;
        }
        AT(k->target[o], i) = place_in_slots(place) + (on1 & 1) + (uint8_t)(2 * o);
    }
    AT(k->code[o], i) = code;
}
/* Port p, where it has won: its round robins move on, and the flit leaves its channel. Where it stood in the slots. */
INLINE fc_lanes site_win(struct fc_site *s, struct site_tick *k, const struct site_bids *b, uint32_t p, uint32_t i,
                         uint8_t ring_mask, const enum fc_fast_kind kind)
{
    fc_lanes won = (fc_lanes)((b->won & AT(s->bit[p], i)) != 0), on1 = won & b->channel_1[p], on0 = won & ~on1;
    AT(s->above_out[p], i) = either(won, ~(b->bid[p] | (b->bid[p] - 1)), AT(s->above_out[p], i));
    AT(s->last_0[p], i) = either(won, ~b->channel_1[p], AT(s->last_0[p], i));
    fc_lanes count0 = AT(s->count[2 * p], i) + on0, count1 = AT(s->count[2 * p + 1], i) + on1;
    fc_lanes head0 = AT(s->head[2 * p], i), head1 = AT(s->head[2 * p + 1], i);
    AT(s->count[2 * p], i) = count0;
    AT(s->count[2 * p + 1], i) = count1;
    AT(s->head[2 * p], i) = (head0 - on0) & ring_mask;
    AT(s->head[2 * p + 1], i) = (head1 - on1) & ring_mask;
    AT(k->second[p], i) = (on0 & count0) | (on1 & count1);
    AT(k->back[p], i) = (on0 & 1) | (on1 & 2);
    if (kind != FC_FAST_SINGLE) {
        fc_lanes by_1 = (fc_lanes)((b->ejected_1 & AT(s->bit[p], i)) != 0) & FC_SITE_FAR;
        AT(s->want[2 * p], i) |= by_1 & on0;
        AT(s->want[2 * p + 1], i) |= by_1 & on1;
        AT(s->held[2 * p], i) |= on0;
        AT(s->held[2 * p + 1], i) |= on1;
    }
    return place_in_slots(either(on1, head1, head0)) + (on1 & 1) + (uint8_t)(2 * p);
}
INLINE void site_allocate(struct fc_site *s, const struct fc_site_due *due, uint8_t buffer_flits, uint8_t ring_mask,
                          struct site_tick *k, const enum fc_fast_kind kind)
{
    for (uint32_t i = 0; i < FC_LANES; i += sizeof(fc_lanes)) {
        struct site_bids b = {0};
        fc_lanes source[FC_SITE_PORTS];
        FC_UNROLLED
        for (uint32_t p = 0; p < FC_SITE_PORTS; p++) {
            fc_lanes far[2], head, bit = AT(s->bit[p], i);
            b.bid[p] = site_port(s, due, k, p, i, &b.channel_1[p], far, &head, kind);
            b.far |= far[0] & bit;
            if (kind != FC_FAST_SINGLE) b.head |= head & bit;
            FC_UNROLLED
            for (uint32_t o = 0; o < FC_SITE_PORTS; o++) b.asks[o] |= (fc_lanes)(b.bid[p] == (uint8_t)(1u << o)) & bit;
        }
        FC_UNROLLED
        for (uint32_t o = 0; o < FC_SITE_PORTS; o++) site_elect(s, k, &b, o, i, buffer_flits, ring_mask, kind);
        FC_UNROLLED
        for (uint32_t p = 0; p < FC_SITE_PORTS; p++) source[p] = site_win(s, k, &b, p, i, ring_mask, kind);
        FC_UNROLLED
        for (uint32_t o = 0; o < FC_SITE_PORTS; o++) {
            fc_lanes winner = AT(k->winner[o], i), of_winner = {0};
            FC_UNROLLED
            for (uint32_t p = 0; p < FC_SITE_PORTS; p++)
                of_winner |= source[p] & (fc_lanes)(winner == AT(s->bit[p], i));
            AT(k->source[o], i) = of_winner;
        }
    }
    for (uint32_t o = 0; o < FC_SITE_PORTS; o++) k->winners[o] = fc_fast_lanes_set(k->winner[o]);
}

/* The flits behind those that leave are the fronts now. */
INLINE void site_fronts(const struct site_view *v, struct fc_site *s, const uint64_t *slots, const struct site_tick *k)
{
    for (uint32_t p = 0; p < FC_SITE_PORTS; p++)
        for (uint64_t rest = fc_fast_lanes_set(k->second[p]); rest; rest &= rest - 1) {
            uint32_t lane = LOW(rest), c = 2 * p + (k->back[p][lane] >> 1);
            uint64_t flit = slots[((uint32_t)s->head[c][lane] * FC_SITE_CHANNELS + c) * FC_LANES + lane];
            s->want[c][lane] = v->x.want[flit & v->w.code_mask];
        }
}
/* Behind a packet's last flit its channels are free, here and at the output. */
INLINE void site_ends(struct fc_site *s, struct site_tick *k)
{
    for (uint32_t i = 0; i < FC_LANES; i += sizeof(fc_lanes)) {
        fc_lanes ports = {0}, free0 = AT(s->free[0], i), free1 = AT(s->free[1], i);
        FC_UNROLLED
        for (uint32_t o = 0; o < FC_SITE_PORTS; o++) {
            fc_lanes winner = AT(k->winner[o], i), ends = (fc_lanes)(winner != 0) & -AT(k->tail[o], i);
            fc_lanes on1 = -(AT(k->code[o], i) & 1);
            free0 |= ends & ~on1 & (uint8_t)(1u << o);
            free1 |= ends & on1 & (uint8_t)(1u << o);
            ports |= ends & winner;
            AT(s->packets[o], i) -= ends;
        }
        AT(s->free[0], i) = free0;
        AT(s->free[1], i) = free1;
        FC_UNROLLED
        for (uint32_t p = 0; p < FC_SITE_PORTS; p++) {
            fc_lanes ends = (fc_lanes)((ports & AT(s->bit[p], i)) != 0), back = AT(k->back[p], i);
            AT(k->second[p], i) &= ends;
            AT(s->held[2 * p], i) &= ~(ends & (fc_lanes)(back == 1));
            AT(s->held[2 * p + 1], i) &= ~(ends & (fc_lanes)(back == 2));
        }
    }
}
INLINE void site_moves(block *b, const struct site_view *v, struct sums *sums, struct fc_site *s, const uint64_t *slots,
                       uint64_t t, struct site_tick *k, const enum fc_fast_kind kind)
{
    const size_t site_slots = (size_t)v->x.ring_places * FC_SITE_CHANNELS * FC_LANES;
    for (uint32_t o = 0; o < FC_SITE_OUTS; o++) {
        uint64_t *behind = v->x.slot + s->to[o].site * site_slots;
        const uint8_t *source = k->source[o], *target = k->target[o], *wraps = s->wraps[o], *there = s->lane[o];
        uint8_t *out = k->out[o];
        memset(out, 0, FC_LANES);
        sums->moved += (uint32_t)__builtin_popcountll(k->winners[o]);
        for (uint64_t rest = k->winners[o]; rest; rest &= rest - 1) {
            uint32_t lane = LOW(rest);
            uint64_t flit = slots[(uint32_t)source[lane] * FC_LANES + lane];
            if (kind != FC_FAST_SINGLE) k->tail[o][lane] = flit & v->w.tail ? 1 : 0;
            bool head = kind == FC_FAST_SINGLE || flit & v->w.head;
            flit = hop(&v->w, flit, wraps[lane], kind);
            behind[(uint32_t)target[lane] * FC_LANES + there[lane]] = flit;
            out[lane] = head ? v->x.want[flit & v->w.code_mask] : FC_SITE_BODY;
        }
    }
    sums->ejected += (uint32_t)__builtin_popcountll(k->winners[FC_SITE_OUTS]);
    uint64_t arrived[FC_LANES];
    uint32_t n = 0;
    for (uint64_t rest = k->winners[FC_SITE_OUTS]; rest; rest &= rest - 1) {
        uint32_t lane = LOW(rest);
        uint64_t flit = slots[(uint32_t)k->source[FC_SITE_OUTS][lane] * FC_LANES + lane];
        if (kind != FC_FAST_SINGLE) k->tail[FC_SITE_OUTS][lane] = flit & v->w.tail ? 1 : 0;
        __builtin_prefetch(&v->w.packet[flit >> (kind == FC_FAST_SINGLE ? v->w.last_bits : v->w.id_shift)]);
        arrived[n++] = flit;
    }
    for (uint32_t i = 0; i < n; i++) deliver(b, &v->w, arrived[i], t, kind);
}

/* A row to the next box behind output turn - 1: lanes x + 4 y + 16 z. */
INLINE void turn(uint8_t *to, const uint8_t *from, uint32_t turn)
{
    const fc_four *four = (const fc_four *)from;
    fc_four *next = (fc_four *)to;
    if (turn == 0)
        memcpy(to, from, FC_LANES);
    else if (turn <= 2)
        for (uint32_t i = 0; i < FC_LANES; i += sizeof(fc_words)) {
            fc_words word = *(const fc_words *)(from + i);
            *(fc_words *)(to + i) = turn == 1 ? word << 8 | word >> 24 : word >> 8 | word << 24;
        }
    else if (turn == 3)
        for (int i = 0; i < 4; i++) next[i] = __builtin_shufflevector(four[i], four[i], 3, 0, 1, 2);
    else if (turn == 4)
        for (int i = 0; i < 4; i++) next[i] = __builtin_shufflevector(four[i], four[i], 1, 2, 3, 0);
    else
        for (uint32_t i = 0; i < 4; i++) next[(turn == 5 ? i + 1 : i + 3) % 4] = four[i];
}
INLINE void site_tell(const struct site_view *v, const struct fc_site *s, uint64_t t, const struct site_tick *k)
{
    for (uint32_t o = 0; o < FC_SITE_OUTS; o++) {
        const struct fc_site_link *to = &s->to[o];
        struct fc_site_due *due = v->x.due + ((size_t)to->site << v->x.due_bits) + ((t + to->delay) & v->x.due_mask);
        turn(due->out[o], k->out[o], to->turn);
        turn(due->code[o], k->code[o], to->turn);
    }
    for (uint32_t p = 0; p < FC_SITE_PORTS; p++) {
        const struct fc_site_link *from = &s->from[p];
        struct fc_site_due *due =
            v->x.due + ((size_t)from->site << v->x.due_bits) + ((t + from->delay) & v->x.due_mask);
        turn(due->back[p], k->back[p], from->turn);
    }
}

INLINE void site_tick(block *b, const struct site_view *v, struct sums *sums, uint32_t site, uint64_t t, uint64_t start,
                      struct site_tick *k, const enum fc_fast_kind kind)
{
    struct fc_site *s = v->x.site + site;
    const struct fc_site_due *due = v->x.due + ((size_t)site << v->x.due_bits) + (t & v->x.due_mask);
    const uint64_t *slots = v->x.slot + (size_t)site * v->x.ring_places * FC_SITE_CHANNELS * FC_LANES;
    uint32_t ejected = sums->ejected;
    site_credits(s, due, &v->w, k, kind);
    site_send(b, v, sums, s, site, t, start, k, kind);
    site_allocate(s, due, v->w.buffer_flits, (uint8_t)v->w.ring_mask, k, kind);
    if (kind == FC_FAST_SINGLE) site_fronts(v, s, slots, k);
    site_moves(b, v, sums, s, slots, t, k, kind);
    if (kind != FC_FAST_SINGLE) {
        site_ends(s, k);
        site_fronts(v, s, slots, k);
    }
    site_tell(v, s, t, k);
    fc_flit_count_flits(b->counts, t + v->w.delivery_delay, sums->ejected - ejected);
    uint32_t moves = sums->flits + sums->moved + sums->ejected;
    if (moves != sums->moves && t > b->last_move) b->last_move = t;
    sums->moves = moves;
}
/* Bytes that count what was sent, before they overflow. */
INLINE void tally(const struct fc_boxes *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t o = 0; o < FC_SITE_PORTS; o++)
            for (uint32_t lane = 0; lane < FC_LANES; lane++) {
                x->site[i].sent_sum[o][lane] += x->site[i].sent[o][lane];
                x->site[i].packets_sum[o][lane] += x->site[i].packets[o][lane];
                x->site[i].sent[o][lane] = x->site[i].packets[o][lane] = 0;
            }
}
RUN void run_boxes(block *b, uint64_t from, uint64_t to, const enum fc_fast_kind kind)
{
    if (from - b->engine->fast->boxes->epoch > INT32_MAX / 2) fc_cycle_boxes_set_epoch(b->engine, from);
    const struct site_view v = {.w = view_of(b, FC_SITE_PORTS, 3, 1), .x = *b->engine->fast->boxes};
    struct site_tick k;
    for (uint64_t start = from, end; start < to; start = end) {
        struct sums sums = {0};
        end = stretch(b, start, to);
        if (end > start + v.x.window) end = start + v.x.window;
        fc_cycle_watch(b, start);
        for (uint32_t site = 0; site < v.x.n; site++) {
            struct fc_site *s = v.x.site + site;
            for (uint32_t i = 0; i < FC_LANES; i++) s->soon[i] = soon(s->born[i], (int32_t)(start - v.x.epoch));
            for (uint64_t t = start; t < end; t++) site_tick(b, &v, &sums, site, t, start, &k, kind);
        }
        b->flits_in += sums.flits;
        b->packets_in += sums.packets;
        b->counts->measured_started += sums.measured;
        b->hops += sums.moved;
        b->flits_out += sums.ejected;
        if (end % 64 == 0 || end == to) tally(&v.x);
    }
}
/* Either path. The commonest size, three dimensions with a node a router and 2 channels, has a copy of its own. */
INLINE void run_any(block *b, uint64_t from, uint64_t to)
{
    const struct fc_fast *f = b->engine->fast;
    uint32_t ports = f->n_outs == f->n_ports && f->route.per_router == 1 ? f->n_ports : 0;
    if (f->boxes && b->engine->flit->packet_flits_max == 1)
        run_boxes(b, from, to, FC_FAST_SINGLE);
    else if (f->boxes && b->engine->flit->cut_through)
        run_boxes(b, from, to, FC_FAST_CUT_THROUGH);
    else if (f->boxes)
        run_boxes(b, from, to, FC_FAST_WORMS);
    else if (ports == 7 && f->vc_bits == 1)
        run_kind(b, from, to, 7, 3, 1);
    else
        run_kind(b, from, to, 0, f->place_bits, f->vc_bits);
}
