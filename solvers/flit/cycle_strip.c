/* cycle_strip.c - ticks of routers whose input channels are a strip of bytes (cycle_strip.h): faster than cycle_bits.c and equal
 * to it.
 *
 *   credits and flits that come; flits that nodes send; in every router that may have something to move all channels at once:
 *   what may go by which output, and of each port the channel that is first by its turns; the virtual-channel stage; each output
 *   takes the next port in its turns; the flits that won move.
 *
 * Each of these is one loop over all routers, channels or nodes that it concerns, since loops of a few turns in each router end in
 * a branch that nobody can predict. Model, timing and tie-breaks: cycle_step.c (Dally & Towles 2004, sections 16 to 19); tests
 * hold the two against each other. On processors without AVX2 cycle_bits.c runs instead. */
#include "solvers/flit/cycle_strip.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include "solvers/flit/cycle_strip_view.h"
#include "solvers/flit/source_draw.h"

#include <immintrin.h>

/* ---- credits ---- */

INLINE void take_credits(const struct view *w, const uint64_t *item, const uint64_t *stop)
{
    for (; item != stop; item++) {
        uint32_t q = (uint32_t)*item >> 3, vc = (uint32_t)*item & 7;
        w->sender[q].credits[vc]++;
        w->able[q] |= (uint8_t)(1u << vc);
    }
}

/* ---- the virtual-channel stage ---- */

/* The head at the front of channel g asks for a channel that is free: the next in its turns if it had one of that output last,
 * else the first. It has it until another comes whose turn is nearer; what others see changes when the stage ends. */
INLINE void ask(const struct view *w, struct sums *sums, uint32_t g, uint32_t out, uint32_t vcs, const struct how h)
{
    const uint32_t vc_mask = (1u << h.vc_bits) - 1, q = g / FC_STRIP * FC_STRIP_SENDERS + out;
    struct fc_strip_channel *c = &w->channel[g];
    uint32_t last = c->won, is_free = vcs & w->free[q], next = is_free & (0xfeu << (last & 7));
    uint32_t vc = LOW((last >> 3 == out && next ? next : is_free) | 128), place = q << h.vc_bits | (vc & vc_mask);
    uint32_t key = (g - w->vc_turn[place]) % 32 << 8 | g % 32, bid = w->bid[place];
    if (__builtin_expect(!is_free || key > bid, 0)) {
        w->waits[sums->n_waits++] = g;
        return;
    }
    if (__builtin_expect(bid != UINT16_MAX, 0)) { /* who had it waits on */
        uint32_t other = g / FC_STRIP * FC_STRIP + (bid & 255);
        w->held[other] = w->want[other] = 0;
        w->channel[other].won = w->lost[place];
        w->waits[sums->n_waits++] = other;
    } else
        w->asks[sums->n_asks++] = place;
    w->lost[place] = (uint8_t)last;
    w->bid[place] = (uint16_t)key;
    w->held[g] = 0xff;
    w->want[g] = c->has = (uint8_t)(1u << vc);
    c->won = (uint8_t)(out << 3 | vc);
    is_busy(w, g);
}
/* Heads that have come before. */
INLINE void stage_begins(const struct view *w, struct sums *sums, const struct how h)
{
    uint32_t n = sums->n_waits;
    sums->n_waits = sums->n_asks = 0;
    for (uint32_t i = 0; i < n; i++) ask(w, sums, w->waits[i], w->out[w->waits[i]], w->channel[w->waits[i]].asks, h);
}
INLINE void stage_ends(const struct view *w, struct sums *sums, const struct how h)
{
    const uint32_t vc_mask = (1u << h.vc_bits) - 1;
    for (uint32_t i = 0; i < sums->n_asks; i++) {
        uint32_t place = w->asks[i];
        w->vc_turn[place] = (uint8_t)((w->bid[place] & 255) + 1);
        w->bid[place] = UINT16_MAX;
        w->free[place >> h.vc_bits] &= (uint8_t) ~(1u << (place & vc_mask));
    }
}

/* ---- arrivals ---- */

/* Packets of one flit: a head is at the front of channel g if `is`; `any`: the channel has flits. */
INLINE void head_is_front(const struct view *w, struct sums *sums, uint32_t g, uint64_t flit, bool is, bool any,
                          const struct how h)
{
    struct fc_strip_channel *c = &w->channel[g];
    uint8_t vcs = w->vcs[flit & w->code_mask];
    w->out[g] = is ? (uint8_t)(flit & w->out_mask) : w->out[g];
    c->asks = is ? vcs : c->asks;
    if (h.stage) {
        w->want[g] = is ? 0 : w->want[g];
        w->waits[sums->n_waits] = g;
        sums->n_waits += is && any;
    } else
        w->want[g] = is ? any ? vcs : 0 : w->want[g];
}
/* Worms: the head of the next packet is at the front of channel g. */
INLINE void worm_is_front(engine *e, const struct view *w, struct sums *sums, uint32_t g, const struct how h)
{
    struct fc_strip_channel *c = &w->channel[g];
    uint64_t flit = get(&w->slot[((size_t)g << w->ring_bits) + c->head]);
    uint32_t id = (uint32_t)(flit >> w->id_shift);
    bool waits;
    c->head = (uint8_t)((c->head + 1) & w->ring_mask);
    c->left = w->packet[id].flits;
    w->worm[g].front = flit;
    if (!h.stage && w->looked_up)
        waits = fc_cycle_strips_look_up(e, g, id);
    else {
        w->out[g] = (uint8_t)(flit & w->out_mask);
        c->asks = w->vcs[flit & w->code_mask];
        w->want[g] = h.stage ? 0 : c->asks;
        waits = h.stage;
    }
    w->waits[sums->n_waits] = g;
    sums->n_waits += waits;
}
INLINE void arrives(engine *e, const struct view *w, struct sums *sums, uint32_t g, const struct how h)
{
    struct fc_strip_channel *c = &w->channel[g];
    bool front = c->count++ == 0;
    if (!h.single) {
        if (__builtin_expect(front && !c->left, 0))
            worm_is_front(e, w, sums, g, h);
        else
            w->want[g] = front ? c->has : w->want[g];
        is_busy(w, g);
        return;
    }
    uint64_t flit = get(&w->slot[((size_t)g << w->ring_bits) + c->head]);
    if (h.stage) {
        if (!front) return;
        uint32_t out = (uint32_t)flit & w->out_mask;
        w->out[g] = (uint8_t)out;
        c->asks = w->vcs[flit & w->code_mask];
        ask(w, sums, g, out, c->asks, h);
        return;
    }
    head_is_front(w, sums, g, flit, front, true, h);
    is_busy(w, g);
}
/* What comes by queues of a kind. */
INLINE void receive(block *b, const struct view *w, struct sums *sums, uint64_t t, const int kind, const struct how h)
{
    engine *e = b->engine;
    uint32_t me = (uint32_t)(b - e->block);
    for (int from = 0; from < e->n_blocks; from++)
        for (int k = 0; k < e->n_queues; k++) {
            const struct fc_cycle_queue *q = &e->block[from].queue[me * (uint32_t)e->n_queues + (uint32_t)k];
            if (t < q->delay || !q->delay || e->queue_kind[k] != kind) continue;
            uint64_t slot = (t - q->delay) & q->slot_mask;
            const uint64_t *item = q->item + q->start[slot], *stop = item + q->count[slot];
            if (kind == FC_QUEUE_CREDIT)
                take_credits(w, item, stop);
            else
                for (; item != stop; item++) arrives(e, w, sums, (uint32_t)*item, h);
        }
}
/* A flit is sent by sender q, channel vc. */
INLINE void takes_credit(const struct view *w, struct fc_strip_sender *s, uint32_t q, uint32_t vc)
{
    uint8_t left = --s->credits[vc];
    w->able[q] &= (uint8_t) ~((uint32_t)(left == 0) << vc);
}
/* It lies in its slot there; of worms the head only. */
INLINE void put_behind(const struct view *w, struct fc_strip_sender *s, uint32_t vc, uint64_t flit)
{
    uint32_t tail = s->tail[vc];
    s->tail[vc] = (uint8_t)((tail + 1) & w->ring_mask);
    put(&w->slot[((size_t)(s->to + vc) << w->ring_bits) + tail], flit);
}

/* ---- injection ---- */

/* The node's front packet leaves its queue: its flit, the first. */
INLINE uint64_t start_packet(engine *e, const struct view *w, struct sums *sums, uint32_t n,
                             const struct fc_flit_source *source, uint64_t t, uint32_t id, const struct how h)
{
    uint32_t hops = 0, bits;
    uint64_t route = 0;
    if (!h.single && !h.stage && w->looked_up)
        fc_cycle_strips_starts(e, id, n, source);
    else if (w->n_dims)
        route = fc_route_fields_start(w->route, w->n_dims, n, source->dst, source->random, &hops, &bits);
    else {
        const struct fc_flit_view sees = w->sees; /* who gets the address of w keeps all of it in memory */
        route = w->flit->route->way(w->flit, w->route, n, source->dst, source->random, &sees, &hops, &bits);
    }
    fc_cycle_packet_starts(&w->packet[id], source, t, hops);
    w->packet_src[id] = n;
    sums->packets++;
    sums->measured += source->born - w->measure_from < w->measured;
    w->injected[n] += t - w->measure_from < w->measured;
    if (h.single) return route | (uint64_t)id << bits;
    return route | (uint64_t)id << w->id_shift;
}
/* One flit of node n, if it can go. */
INLINE void send(block *b, const struct view *w, struct sums *sums, uint32_t n, uint64_t t, const struct how h)
{
    struct fc_cycle_node *node = &w->node[n];
    uint32_t vc = node->vc, id = node->packet, q = w->node_sender[n];
    struct fc_strip_sender *s = &w->sender[q];
    uint64_t flit = 0;
    bool head = h.single || !node->left;
    if (head) {
        uint32_t may = w->able[q] & w->injection_vcs, next = may & (0xfffeu << node->last_vc);
        if (__builtin_expect(!may, 0)) return;
        if ((id = fc_cycle_record(b)) == FC_NONE) return;
        node->last_vc = (uint8_t)(vc = LOW(next ? next : may));
        flit = start_packet(b->engine, w, sums, n, &node->source, t, id, h);
        if (!h.single) {
            node->left = (uint16_t)node->source.flits;
            node->packet = id;
            node->vc = (uint8_t)vc;
        }
    } else if (!(w->able[q] >> vc & 1))
        return;
    uint64_t wake = t + 1;
    s->sent++;
    sums->flits++;
    if (h.single || --node->left == 0) {
        if (!h.single) s->packets_sent++;
        if (w->plain)
            fc_flit_next_plain(w->traffic, n, &node->source);
        else
            fc_flit_next(w->traffic, n, &node->source);
        if (node->source.born > wake) wake = node->source.born;
        b->n_done += wake == UINT64_MAX;
    }
    w->wake[n] = wake;
    sums->last_move = t;
    takes_credit(w, s, q, vc);
    if (head) put_behind(w, s, vc, flit);
    if (__builtin_expect(s->queue == FC_NONE, 0))
        arrives(b->engine, w, sums, s->to + vc, h);
    else
        push(w, s->queue, s->to + vc);
}
/* Nodes whose time has come, by four. */
INLINE void nodes(block *b, const struct view *w, struct sums *sums, uint64_t t, const struct how h)
{
    const __m256i now = _mm256_set1_epi64x((int64_t)(t + 1)), signs = _mm256_set1_epi64x(INT64_MIN);
    const __m256i limit = _mm256_xor_si256(now, signs);
    const uint64_t *wake = w->wake + w->first_node;
    for (uint32_t first = 0; first < w->n_nodes; first += 64) {
        uint32_t n = w->n_nodes - first < 64 ? w->n_nodes - first : 64;
        uint64_t due = 0;
        for (uint32_t i = 0; i < n / 4 * 4; i += 4) {
            __m256i at = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(wake + first + i)), signs);
            __m256i is = _mm256_cmpgt_epi64(limit, at);
            due |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(is)) << i;
        }
        for (uint32_t i = n / 4 * 4; i < n; i++) due |= (uint64_t)(wake[first + i] <= t) << i;
        for (; due; due &= due - 1) send(b, w, sums, w->first_node + first + LOW(due), t, h);
    }
}

/* ---- allocation ---- */

INLINE __m256i least_of_port(__m256i key, const struct how h)
{
    const __m256i one = _mm256_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, 1, 0, 3, 2, 5, 4, 7, 6,
                                         9, 8, 11, 10, 13, 12, 15, 14);
    if (h.vc_bits > 0) key = _mm256_min_epu8(key, _mm256_shuffle_epi8(key, one));
    if (h.vc_bits > 1)
        key = _mm256_min_epu8(key, _mm256_or_si256(_mm256_srli_epi32(key, 16), _mm256_slli_epi32(key, 16)));
    if (h.vc_bits > 2) key = _mm256_min_epu8(key, _mm256_shuffle_epi32(key, 0xb1));
    return key;
}
/* 1 << (output % 8) of the channels in `won`, summed up: as many bits as channels where no two ask for one output. */
INLINE uint64_t sum_of_outputs(__m256i out, __m256i won, const struct view *w)
{
    const __m256i bit = _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64,
                                         -128, 0, 0, 0, 0, 0, 0, 0, 0);
    __m256i four = _mm256_sad_epu8(_mm256_and_si256(_mm256_shuffle_epi8(bit, out), won), _mm256_setzero_si256());
    if (w->many_outs) {
        __m256i high = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(bit, 0x11), out); /* of outputs 8 to 15 */
        high = _mm256_sad_epu8(_mm256_and_si256(high, won), _mm256_setzero_si256());
        four = _mm256_add_epi64(four, _mm256_slli_epi64(high, 16));
    }
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return (uint64_t)_mm_cvtsi128_si64(two) + (uint64_t)_mm_extract_epi64(two, 1);
}
/* Of each port of router r the channel that is first: a mask. *idle: no channel has anything that may move; *clash: two of
 * them ask for one output. */
INLINE uint32_t winners(const struct view *w, uint32_t r, bool *idle, bool *clash, const struct how h)
{
    const bool heads = !h.single && !h.stage; /* some have no channel yet, others have */
    const size_t g = (size_t)r * FC_STRIP, q = (size_t)r * FC_STRIP_SENDERS;
    const __m256i want = _mm256_load_si256((const __m256i *)(w->want + g)), zero = _mm256_setzero_si256();
    __m256i out = _mm256_load_si256((const __m256i *)(w->out + g)), held = zero;
    __m128i able = _mm_load_si128((const __m128i *)(w->able + q));
    __m256i may = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(able), out);
    if (heads) {
        __m128i fit = _mm_and_si128(able, _mm_load_si128((const __m128i *)(w->free + q)));
        held = _mm256_load_si256((const __m256i *)(w->held + g));
        may = _mm256_blendv_epi8(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(fit), out), may, held);
    }
    __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(may, want), zero);
    __m256i key = _mm256_sub_epi8(out, _mm256_load_si256((const __m256i *)(w->turn + g)));
    key = _mm256_and_si256(key, _mm256_set1_epi8(h.vc_bits > 2 ? 7 : 15));
    key = _mm256_add_epi8(_mm256_slli_epi16(key, (int)h.vc_bits), _mm256_load_si256((const __m256i *)(w->rank + g)));
    if (heads) key = _mm256_or_si256(key, _mm256_andnot_si256(held, _mm256_set1_epi8(64)));
    key = _mm256_or_si256(key, none);
    *idle = _mm256_testz_si256(want, want);
    __m256i won = _mm256_andnot_si256(none, _mm256_cmpeq_epi8(key, least_of_port(key, h)));
    uint32_t mask = (uint32_t)_mm256_movemask_epi8(won);
    *clash = __builtin_popcountll(sum_of_outputs(out, won, w)) != __builtin_popcount(mask);
    return mask;
}
/* Several ports ask for one output, which takes the next in its turns: what is left of `won`. */
TARGET static __attribute__((noinline)) uint32_t
contend(const uint8_t *out, const uint8_t *held, const struct fc_strip_sender *sender, uint32_t won, uint32_t vc_bits)
{
    uint32_t best[FC_STRIP_SENDERS], taken = 0, left = 0;
    for (uint32_t rest = won; rest; rest &= rest - 1) {
        uint32_t c = LOW(rest), o = out[c], key = ((c >> vc_bits) - sender[o].port_turn) & 31;
        key = ((held ? ~held[c] & 32u : 0) | key) << 8 | c;
        best[o] = taken >> o & 1 && best[o] < key ? best[o] : key;
        taken |= 1u << o;
    }
    for (; taken; taken &= taken - 1) left |= 1u << (best[LOW(taken)] & 255);
    return left;
}
/* Each input port puts forward the channel that is first by its turns, each output takes the next port in its; bodies before
 * heads without a channel. */
INLINE void allocate(const engine *e, const struct view *w, struct sums *sums, uint64_t t, const struct how h)
{
    const bool heads = !h.single && !h.stage;
    uint32_t n = 0, moves = 0, ejects = 0, *list = w->list;
    for (uint32_t first = 0; first < w->n_routers; first += 32) {
        uint8_t *busy = w->busy + w->first_router + first;
        __m256i is = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)busy), _mm256_setzero_si256());
        uint32_t rest = ~(uint32_t)_mm256_movemask_epi8(is);
        if (w->n_routers - first < 32) rest &= (1u << (w->n_routers - first)) - 1;
        for (; rest; rest &= rest - 1) {
            uint32_t r = w->first_router + first + LOW(rest), g = r * FC_STRIP;
            bool none, clash;
            uint32_t won = winners(w, r, &none, &clash, h);
            busy[LOW(rest)] = !none;
            if (clash && !h.single && !w->turns)
                won = fc_cycle_strips_contend(e, r, won, t);
            else if (clash)
                won = contend(w->out + g, heads ? w->held + g : NULL, w->sender + r * FC_STRIP_SENDERS, won, h.vc_bits);
            uint32_t count = (uint32_t)__builtin_popcount(won);
            for (uint32_t i = 0; i < 4; i++, won &= won - 1) list[n + i] = g + _tzcnt_u32(won);
            for (uint32_t i = 4; won; i++, won &= won - 1) list[n + i] = g + LOW(won);
            n += count;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t g = list[i], node = w->ejects[g / FC_STRIP] >> w->out[g] & 1;
        w->moves[moves] = w->ejected[ejects] = g;
        moves += !node;
        ejects += node;
    }
    sums->n_moves = moves;
    sums->n_ejects = ejects;
}

/* ---- the switch ---- */

/* The flit behind a hop. Behind the last in a dimension its field goes, with the bit for the far side. */
INLINE uint64_t hop(const struct view *w, uint64_t flit, uint32_t wraps, const struct how h)
{
    if (!w->n_dims)
        return h.single ? flit >> w->field_bits : (flit & ~w->route_mask) | (flit & w->route_mask) >> w->field_bits;
    uint64_t last = -(uint64_t)((flit & w->hops_mask) == 0);
    flit = (flit | wraps) - (w->hop & ~last);
    if (h.single) return flit >> (w->field_bits & last);
    return (flit & ~w->route_mask) | (flit & w->route_mask) >> (w->field_bits & last);
}
/* The channels of g's port take `bytes`, one each. */
INLINE void set_port(uint8_t *row, uint32_t g, uint64_t bytes, const struct how h)
{
    memcpy(row + (g >> h.vc_bits << h.vc_bits), &bytes, (size_t)1 << h.vc_bits);
}
/* What all flits do that leave channel g by its output: turns, credit. */
INLINE void leaves(const struct view *w, struct fc_strip_sender *s, uint32_t g, const struct how h)
{
    const uint32_t port = (g & 31) >> h.vc_bits, in_vc = g & ((1u << h.vc_bits) - 1);
    const struct fc_strip_back *back = &w->back[g / FC_STRIP * FC_STRIP + port];
    set_port(w->turn, g, (w->out[g] + 1u) * UINT64_C(0x0101010101010101), h);
    set_port(w->rank, g, w->rank_of[in_vc], h);
    s->port_turn = (uint8_t)(port + 1);
    s->sent++;
    push(w, back->queue, back->sender << 3 | in_vc);
}
/* The first of the channels `may` in the turns of sender s. */
INLINE uint32_t next_channel(struct fc_strip_sender *s, uint32_t may)
{
    uint32_t above = may & s->above, vc = LOW(above ? above : may);
    s->above = (uint8_t)(0xfeu << vc);
    return vc;
}
/* The front flit of channel g leaves by its output: packets of one flit. */
INLINE void move(block *b, const struct view *w, struct sums *sums, uint32_t g, uint64_t t, const bool ejects,
                 const struct how h)
{
    const uint32_t q = sender_of(w, g);
    struct fc_strip_channel *c = &w->channel[g];
    struct fc_strip_sender *s = &w->sender[q];
    const uint64_t *ring = w->slot + ((size_t)g << w->ring_bits);
    uint32_t at = c->head, behind = (at + 1) & w->ring_mask, left = --c->count, vc;
    uint64_t flit = get(&ring[at]), next = get(&ring[behind]);
    c->head = (uint8_t)behind;
    leaves(w, s, g, h);
    vc = h.stage ? LOW(c->has) : next_channel(s, w->want[g] & w->able[q]);
    if (h.stage) {
        w->held[g] = 0;
        w->free[q] |= (uint8_t)(1u << vc);
    }
    head_is_front(w, sums, g, next, true, left != 0, h);
    if (ejects)
        fc_cycle_end_packet(b, (uint32_t)(flit >> w->last_bits), t + w->delivery_delay);
    else {
        takes_credit(w, s, q, vc);
        put_behind(w, s, vc, hop(w, flit, s->wraps, h));
        push(w, s->queue, s->to + vc);
    }
}
/* The same of worms. */
INLINE void crawl(block *b, const struct view *w, struct sums *sums, uint32_t g, uint64_t t, const bool ejects,
                  const struct how h)
{
    const uint32_t q = sender_of(w, g);
    struct fc_strip_channel *c = &w->channel[g];
    struct fc_strip_sender *s = &w->sender[q];
    uint32_t count = --c->count, left = --c->left, vc;
    leaves(w, s, g, h);
    if (__builtin_expect(c->asks, 0)) { /* a head */
        uint64_t flit = w->worm[g].front;
        vc = h.stage ? LOW(c->has) : next_channel(s, w->want[g] & w->able[q] & w->free[q]);
        c->asks = 0;
        c->has = (uint8_t)(1u << vc);
        w->held[g] = 0xff;
        w->free[q] &= (uint8_t) ~(1u << vc);
        if (!h.stage && w->looked_up) {
            struct fc_cycle_packet *packet = &w->packet[flit >> w->id_shift];
            packet->head.route = w->worm[g].route;
            packet->hops += !ejects;
            w->worm[g].outs = 0;
        }
        if (!ejects) put_behind(w, s, vc, w->looked_up ? flit : hop(w, flit, s->wraps, h));
    } else
        vc = LOW(c->has);
    w->want[g] = count ? (uint8_t)(1u << vc) : 0;
    if (!ejects) {
        takes_credit(w, s, q, vc);
        push(w, s->queue, s->to + vc);
        sums->escaped += w->escape_vcs >> vc & 1;
    }
    if (__builtin_expect(!left, 0)) {
        s->packets_sent++;
        w->held[g] = 0;
        w->free[q] |= (uint8_t)(1u << vc);
        if (ejects) fc_cycle_end_packet(b, (uint32_t)(w->worm[g].front >> w->id_shift), t + w->delivery_delay);
        if (count) worm_is_front(b->engine, w, sums, g, h);
    }
}
INLINE void moves(block *b, const struct view *w, struct sums *sums, uint64_t t, const struct how h)
{
    for (uint32_t i = 0; i < sums->n_moves; i++)
        if (h.single)
            move(b, w, sums, w->moves[i], t, false, h);
        else
            crawl(b, w, sums, w->moves[i], t, false, h);
    for (uint32_t i = 0; i < sums->n_ejects; i++)
        if (h.single)
            move(b, w, sums, w->ejected[i], t, true, h);
        else
            crawl(b, w, sums, w->ejected[i], t, true, h);
}
INLINE void tick(block *b, const struct view *w, struct sums *sums, uint64_t t, const struct how h)
{
    receive(b, w, sums, t, FC_QUEUE_CREDIT, h);
    if (h.single && h.stage) { /* what arrives has no part in this tick's switch */
        allocate(b->engine, w, sums, t, h);
        stage_begins(w, sums, h);
    }
    receive(b, w, sums, t, FC_QUEUE_ARRIVAL, h);
    nodes(b, w, sums, t, h);
    if (!h.single && !h.stage && sums->n_waits)
        sums->n_waits = fc_cycle_strips_choose(b->engine, w->waits, sums->n_waits, w->busy, t);
    if (!h.single || !h.stage) allocate(b->engine, w, sums, t, h);
    if (h.stage && !h.single) stage_begins(w, sums, h);
    if (h.stage) stage_ends(w, sums, h);
    moves(b, w, sums, t, h);
    sums->moved += sums->n_moves;
    sums->ejected += sums->n_ejects;
    if (sums->n_ejects) fc_flit_count_flits(b->counts, t + w->delivery_delay, sums->n_ejects);
    if (sums->n_moves | sums->n_ejects) sums->last_move = t;
}

/* ---- running ---- */

TARGET static inline __attribute__((always_inline)) void run_how(block *b, uint64_t from, uint64_t to,
                                                                 const struct how h)
{
    const struct view w = view_of(b);
    struct sums sums = {.n_waits = b->n_waits};
    fc_cycle_queues_start(b, from);
    for (uint64_t t = from; t < to; t++) {
        fc_cycle_watch(b, t);
        tick(b, &w, &sums, t, h);
        fc_cycle_queues_turn(b, t);
    }
    if (sums.last_move > b->last_move) b->last_move = sums.last_move;
    b->n_waits = sums.n_waits;
    b->flits_in += sums.flits;
    b->packets_in += sums.packets;
    b->counts->flits_injected += sums.flits;
    b->counts->packets_injected += sums.packets;
    b->counts->measured_started += sums.measured;
    b->counts->flit_hops += sums.moved;
    b->counts->escape_flit_hops += sums.escaped;
    b->flits_out += sums.ejected;
}
/* Checked: one copy for all. */
#ifdef __SANITIZE_ADDRESS__
TARGET static __attribute__((noinline)) void run_kind(block *b, uint64_t from, uint64_t to, uint32_t vc_bits)
{
    run_how(b, from, to, (struct how){b->engine->strips->single, b->engine->flit->vc_stage, vc_bits});
}
#else
TARGET static inline __attribute__((always_inline)) void run_kind(block *b, uint64_t from, uint64_t to,
                                                                  const uint32_t vc_bits)
{
    bool single = b->engine->strips->single;
    if (b->engine->flit->vc_stage && single)
        run_how(b, from, to, (struct how){true, true, vc_bits});
    else if (b->engine->flit->vc_stage)
        run_how(b, from, to, (struct how){false, true, vc_bits});
    else if (single)
        run_how(b, from, to, (struct how){true, false, vc_bits});
    else
        run_how(b, from, to, (struct how){false, false, vc_bits});
}
#endif
TARGET void fc_cycle_strips_run(block *b, uint64_t from, uint64_t to)
{
    switch (b->engine->strips->vc_bits) {
    case 0: run_kind(b, from, to, 0); break;
    case 1: run_kind(b, from, to, 1); break;
    case 2: run_kind(b, from, to, 2); break;
    default: run_kind(b, from, to, 3); break;
    }
}
#else
void fc_cycle_strips_run(struct fc_cycle_block *b, uint64_t from, uint64_t to)
{
    (void)b, (void)from, (void)to; /* fc_cycle_has_strips is false */
}
#endif
