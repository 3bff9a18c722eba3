/* event_router.c - what moves at a router at one tick: choice and arbitration.
 *
 * All that became known at a router at this tick (heads that arrived or came to the front, links that got
 * free, tokens that came back) is gathered first, then decided, so that the order of events within a tick
 * means nothing. Rule, after Adiga et al., IBM J. Res. Dev. 49(2/3), 2005, "arbitration": (1) every head
 * picks one of its available outputs; (2) of the heads of an input port that picked the same output one asks;
 * (3) every output takes one of those that ask, if its port has a path free. Repeated until nothing more can
 * move at this tick. An output channel is available when its link is free, a packet of full size (two to
 * enter a bubble ring) fits behind it, and the packet may start on it (fc_event_may_start). Limit: a packet is
 * never spread over two buffers, and decisions take no time beyond the router's delay. */
#include "solvers/flit/event.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/event_router.h"
#include "solvers/flit/event_tokens.h"
#include "solvers/flit/event_torus.h"
#include "solvers/flit/event_transfer.h"
#include "solvers/flit/event_wait.h"
#include "solvers/flit/route_ops.h"

#define SALT_PICK FC_EVENT_SALT_PICK
#define SALT_ELECT FC_EVENT_SALT_ELECT

/* ---- a head's choice ------------------------------------------------------------ */

static int ask_route(const struct fc_event_engine *e, const struct fc_event_channel *channel,
                     const struct fc_event_packet *packet, struct fc_flit_choice *out)
{
    struct fc_flit_head head = {.route = packet->route, .dst = packet->dst, .random = packet->random};
    int n = e->flit->route->choices(e->flit, channel->router, channel->link, e->bit_vc[channel->bit], &head, out);
    for (int i = 0; i < n && e->is_large; i++) {
        const union fc_event_lane *lane = &e->lane[(size_t)out[i].link * e->stride];
        __builtin_prefetch(lane);
        __builtin_prefetch(lane + e->n_network_vcs);
    }
    return n;
}

/* Whether one of the i choices before this one has room, its link busy or not. */
static __attribute__((noinline)) bool has_room(const struct fc_event_block *block, const struct fc_flit_choice *choice,
                                               int i)
{
    const struct fc_event_engine *e = block->engine;
    for (choice -= i; i > 0; i--, choice++) {
        const union fc_event_lane *lane = e->lane + (size_t)choice->link * e->stride;
        for (uint32_t left = choice->vcs; left; left &= left - 1)
            if (fc_event_count(block, &lane[1 + __builtin_ctz(left)].tokens, block->wheel.now) >= (int32_t)e->full)
                return true;
    }
    return false;
}

/* The best available choice, -1 when there is none. Kept out of its callers, where it would lack registers.
 */
static __attribute__((noinline)) int pick(const struct fc_event_block *block, const struct fc_event_packet *packet,
                                          const struct fc_flit_choice *choice, int n, uint64_t random, uint8_t *vc)
{
    const struct fc_event_engine *e = block->engine;
    const union fc_event_lane *lanes = e->lane;
    const uint32_t *score = e->score;
    uint64_t now = block->wheel.now, best = 0;
    uint32_t stride = e->stride, full = e->full, best_vc = 0;
    int picked = -1;
    for (int i = 0; i < n; i++, choice++) {
        const union fc_event_lane *lane = lanes + (size_t)choice->link * stride;
        const struct fc_event_link *link = &lane->link;
        if (link->busy_until > now) continue;
        if (choice->escape && (picked >= 0 || (choice->escape == FC_FLIT_PATIENT && has_room(block, choice, i)))) break;
        if (link->link_class != packet->in_class && fc_event_may_start(e, packet, link) > now) continue;
        if (link->kind == FC_EVENT_EJECTION) {
            *vc = (uint8_t)__builtin_ctz(choice->vcs);
            return i;
        }
        int32_t need = (int32_t)(choice->room_packets > 1 ? 2 * full : full);
        uint32_t left = choice->vcs;
        do {
            uint32_t v = (uint32_t)__builtin_ctz(left);
            left &= left - 1;
            int32_t tokens = fc_event_count(block, &lane[1 + v].tokens, now);
            if (tokens < need) continue;
            random = random * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
            uint64_t key = (uint64_t)score[tokens] << 32 | random >> 33 | 1;
            bool better = key > best;
            best = better ? key : best;
            picked = better ? i : picked;
            best_vc = better ? v : best_vc;
        } while (left);
    }
    *vc = (uint8_t)best_vc;
    return picked;
}

/* ---- a head or a link alone ------------------------------------------------------------ */

/* A head alone at its router, its choices asked for. */
static __attribute__((noinline)) void route_alone(struct fc_event_block *block, uint32_t c,
                                                  const struct fc_flit_choice *choice, int n)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    struct fc_event_packet *packet = &block->packet[channel->head];
    uint64_t now = block->wheel.now, until;
    uint8_t vc = 0;
    const struct fc_event_link *first = fc_event_link(e, choice[0].link);
    if (!fc_event_path_free(e, channel->link, first->kind, now, &until)) {
        fc_event_head_due(block, c, until);
        return;
    }
    if (n == 1) {
        uint64_t start = fc_event_may_start(e, packet, first);
        if (start > now) {
            fc_event_head_due(block, c, start);
            return;
        }
    }
    int i = pick(block, packet, choice, n, fc_event_random(block, channel->router, 0) + (channel->bit + 1) * SALT_PICK,
                 &vc);
    if (i < 0) {
        fc_event_wait(block, c, choice, n);
        return;
    }
    bool waited = channel->flags & FC_EVENT_WAITS;
    if (waited) fc_event_stop_waiting(block, channel->bit, choice, n);
    fc_event_send(block, c, &choice[i], vc, waited);
}

/* The link takes one of the heads of the mask (overwritten), which all wait for it, but for bids, which
 * picked it: those are marked in `bids`, NULL when there are none. Whether somebody moved. */
static bool take_one(struct fc_event_block *block, uint32_t router, uint32_t l, uint64_t *mask, const uint64_t *bids,
                     uint64_t random)
{
    struct fc_event_engine *e = block->engine;
    const struct fc_event_link *link = fc_event_link(e, l);
    uint64_t *rivals = block->mask + 2 * e->words, now = block->wheel.now, until;
    while (fc_event_any(e, mask)) {
        fc_event_copy(e, rivals, mask);
        uint32_t bit =
            fc_event_elect(block, router, rivals, link->turn, fc_event_spread(random + (l + 1) * SALT_ELECT));
        uint32_t c = e->head_channel[e->head_first[router] + bit];
        struct fc_event_channel *channel = &e->channel[c];
        struct fc_event_bid *bid = bids && (bids[bit / 64] >> bit % 64 & 1) ? &block->bid[block->bid_at[bit]] : NULL;
        mask[bit / 64] &= ~(1ull << bit % 64);
        if (!fc_event_path_free(e, channel->link, link->kind, now, &until)) {
            fc_event_head_due(block, c, until);
            if (bid) bid->out = true;
            continue;
        }
        const struct fc_flit_choice *choice =
            bid ? block->choice + bid->first_choice : block->choice + block->n_choices;
        int n = bid ? (int)bid->n_choices
                    : ask_route(e, channel, &block->packet[channel->head], block->choice + block->n_choices);
        uint8_t vc = bid ? bid->vc : 0;
        int i = bid ? bid->choice
                    : pick(block, &block->packet[channel->head], choice, n, random + (bit + 1) * SALT_PICK, &vc);
        if (i < 0) continue;
        bool waited = channel->flags & FC_EVENT_WAITS;
        if (waited) fc_event_stop_waiting(block, bit, choice, n);
        if (bid) bid->out = true;
        fc_event_send(block, c, &choice[i], vc, waited);
        return true;
    }
    return false;
}

/* A link that got free, or tokens behind it, and nothing else at the router: one of those that wait for it.
 * Whatever else they wait for is not available, or they would not wait. */
static void serve_waiting(struct fc_event_block *block, uint32_t router, uint32_t l, uint64_t random)
{
    while (fc_event_eligible(block, l, block->mask))
        if (!take_one(block, router, l, block->mask, NULL, random)) break;
    fc_event_rearm(block, l);
}

/* ---- several heads and links at once ------------------------------------------------------------ */

static void add_bid(struct fc_event_block *block, uint32_t c)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    struct fc_event_bid *bid = &block->bid[block->n_bids];
    bid->channel = c;
    bid->bit = channel->bit;
    bid->out = false;
    block->bid_at[channel->bit] = (uint16_t)block->n_bids++;
    bid->first_choice = block->n_choices;
    bid->n_choices = (uint32_t)ask_route(e, channel, &block->packet[channel->head], &block->choice[block->n_choices]);
    block->n_choices += bid->n_choices;
}

/* Phase 1: every bid picks a link; those that cannot wait. Whether any can. */
static bool bids_pick(struct fc_event_block *block, uint64_t random)
{
    struct fc_event_engine *e = block->engine;
    bool any = false;
    for (uint32_t b = 0; b < block->n_bids; b++) {
        struct fc_event_bid *bid = &block->bid[b];
        if (bid->out) continue;
        struct fc_event_channel *channel = &e->channel[bid->channel];
        const struct fc_flit_choice *choice = &block->choice[bid->first_choice];
        uint64_t until;
        bid->link = FC_NONE;
        if (!fc_event_path_free(e, channel->link, fc_event_link(e, choice[0].link)->kind, block->wheel.now, &until)) {
            fc_event_head_due(block, bid->channel, until);
            bid->out = true;
            continue;
        }
        bid->choice = pick(block, &block->packet[channel->head], choice, (int)bid->n_choices,
                           random + (bid->bit + 1u) * SALT_PICK, &bid->vc);
        if (bid->choice < 0) {
            fc_event_wait(block, bid->channel, choice, (int)bid->n_choices);
            bid->out = true;
            continue;
        }
        bid->link = choice[bid->choice].link;
        any = true;
    }
    return any;
}

/* Phases 2 and 3 for a link that bids have picked: they and those that wait for it, one of whom moves. */
static void decide_link(struct fc_event_block *block, uint32_t router, uint32_t l, bool woken, uint64_t random)
{
    struct fc_event_engine *e = block->engine;
    uint64_t *mask = block->mask, *bids = block->mask + e->words;
    const uint64_t *known = block->mask + 3 * e->words;
    if (woken)
        fc_event_eligible(block, l, mask);
    else
        fc_event_clear(e, mask);
    fc_event_clear(e, bids);
    for (uint32_t b = 0; b < block->n_bids; b++) {
        struct fc_event_bid *bid = &block->bid[b];
        if (bid->out || bid->link != l) continue;
        bids[bid->bit / 64] |= 1ull << bid->bit % 64;
        bid->link = FC_NONE;
    }
    for (int w = 0; w < e->words; w++) mask[w] = (mask[w] & ~known[w]) | bids[w];
    take_one(block, router, l, mask, bids, random);
}

/* Sorts a router's events of this tick into woken links and bids. */
static void sort_events(struct fc_event_block *block, const struct fc_event_dirty *dirty, uint32_t *n_woken)
{
    struct fc_event_engine *e = block->engine;
    uint64_t *known = block->mask + 3 * e->words;
    uint32_t word = dirty->word, more = dirty->more;
    fc_event_clear(e, known);
    for (;;) {
        uint32_t index = word & FC_EVENT_INDEX;
        if (word >> FC_EVENT_KIND_SHIFT == FC_EVENT_LINK) {
            block->woken[(*n_woken)++] = index;
        } else {
            add_bid(block, index);
            known[block->bid[block->n_bids - 1].bit / 64] |= 1ull << block->bid[block->n_bids - 1].bit % 64;
        }
        if (!more) return;
        word = block->note[more].word;
        more = block->note[more].next;
    }
}

/* The link that comes first in a random order, of those that bids have picked. The order of bids means
 * nothing. */
static uint32_t first_link(const struct fc_event_block *block, uint64_t random)
{
    uint32_t first = FC_NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t b = 0; b < block->n_bids; b++) {
        const struct fc_event_bid *bid = &block->bid[b];
        if (bid->out || bid->link == FC_NONE) continue;
        uint64_t key = fc_event_spread(random + bid->link * SALT_PICK);
        if (key < least || (key == least && bid->link < first)) least = key, first = bid->link;
    }
    return first;
}

static void sort_links(struct fc_event_block *block, uint32_t n, uint64_t random)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = i; j; j--) {
            uint32_t a = block->woken[j - 1], b = block->woken[j];
            if (fc_event_spread(random + a * SALT_PICK) <= fc_event_spread(random + b * SALT_PICK)) break;
            block->woken[j - 1] = b;
            block->woken[j] = a;
        }
}

static __attribute__((noinline)) void contend(struct fc_event_block *block, const struct fc_event_dirty *dirty)
{
    uint32_t router = dirty->router, n_woken = 0, l;
    block->n_bids = 0;
    block->n_choices = FC_EVENT_BATCH * FC_FLIT_MOST_CHOICES;
    sort_events(block, dirty, &n_woken);
    for (uint32_t round = 0;; round++) {
        uint64_t random = fc_event_random(block, router, round);
        if (!bids_pick(block, random)) break;
        while ((l = first_link(block, random)) != FC_NONE) {
            bool woken = false;
            for (uint32_t i = 0; i < n_woken; i++) woken = woken || block->woken[i] == l;
            decide_link(block, router, l, woken, random);
        }
    }
    if (n_woken == 0) return;
    uint64_t random = fc_event_random(block, router, 0);
    sort_links(block, n_woken, random);
    for (uint32_t i = 0; i < n_woken; i++) serve_waiting(block, router, block->woken[i], random);
}

static inline bool is_lone_head(const struct fc_event_dirty *dirty)
{
    return dirty->n == 1 && dirty->word >> FC_EVENT_KIND_SHIFT == FC_EVENT_CHANNEL;
}

static void prefetch_heads(const struct fc_event_block *block, const struct fc_event_dirty *dirty)
{
    uint32_t word = dirty->word, more = dirty->more;
    for (;;) {
        if (word >> FC_EVENT_KIND_SHIFT == FC_EVENT_CHANNEL)
            fc_event_torus_prefetch(block, &block->engine->channel[word & FC_EVENT_INDEX]);
        if (!more) return;
        word = block->note[more].word;
        more = block->note[more].next;
    }
}

static void arbitrate_torus(struct fc_event_block *block, const struct fc_event_dirty *dirty, uint32_t n)
{
    struct fc_event_engine *e = block->engine;
    for (uint32_t i = 0; i < n && e->is_large; i++) prefetch_heads(block, &dirty[i]);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = dirty[i].word & FC_EVENT_INDEX;
        if (dirty[i].n > 1)
            fc_event_torus_contend(block, &dirty[i]);
        else if (dirty[i].word >> FC_EVENT_KIND_SHIFT == FC_EVENT_CHANNEL)
            fc_event_torus_alone(block, index);
        else
            fc_event_torus_serve(block, dirty[i].router, index);
    }
}

/* Choices are a pure function of a head: those of a batch of routers are asked for first, so that what they
 * are about is on its way to the cache when it is needed. */
void fc_event_arbitrate(struct fc_event_block *block, const struct fc_event_dirty *dirty, uint32_t n)
{
    struct fc_event_engine *e = block->engine;
    int n_choices[FC_EVENT_BATCH];
    if (e->is_adaptive_torus) {
        arbitrate_torus(block, dirty, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct fc_event_channel *channel = &e->channel[dirty[i].word & FC_EVENT_INDEX];
        if (!is_lone_head(&dirty[i])) continue;
        const struct fc_event_packet *packet = &block->packet[channel->head];
        n_choices[i] = ask_route(e, channel, packet, block->choice + (size_t)i * FC_FLIT_MOST_CHOICES);
        if (packet->next) __builtin_prefetch(&block->packet[packet->next]);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = dirty[i].word & FC_EVENT_INDEX;
        block->n_choices = FC_EVENT_BATCH * FC_FLIT_MOST_CHOICES;
        if (is_lone_head(&dirty[i]))
            route_alone(block, index, block->choice + (size_t)i * FC_FLIT_MOST_CHOICES, n_choices[i]);
        else if (dirty[i].n == 1)
            serve_waiting(block, dirty[i].router, index, fc_event_random(block, dirty[i].router, 0));
        else
            contend(block, &dirty[i]);
    }
}
