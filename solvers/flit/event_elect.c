/* event_elect.c - who of several heads moves: the election at a link in the packet-event engine.
 *
 * Rule, after Adiga et al., IBM J. Res. Dev. 49(2/3), 2005, "arbitration": those in the network before those
 * that enter it, the longest queue of four ranges, or neither, each for its share of the decisions; then at
 * random a port and one of its channels, or in turn, or the oldest packet (Dally & Towles (2004), chapter
 * 18). */
#include "solvers/flit/event.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/event_router.h"

/* Flits that have arrived in the channel and not begun to leave, in four ranges of a buffer between
 * routers; an injection FIFO may be deeper, all beyond is the fourth. When the last packet is there all are; its tick
 * is known to 24 bits, which decides within 2^23 ticks, and beyond at worst sends us along the queue. */
static inline uint32_t fullness(const struct fc_event_block *block, uint32_t c)
{
    const struct fc_event_engine *e = block->engine;
    const struct fc_event_channel *channel = &e->channel[c];
    uint64_t f = 0, b = e->flit->buffer_flits, now = block->wheel.now;
    if (e->short_times && ((now - channel->tail_ready) & 0xffffff) < 1u << 23) {
        f = channel->queued;
    } else {
        for (uint32_t p = channel->head; p && 4 * f <= 3 * b; p = block->packet[p].next) {
            if (block->packet[p].ready > now) break;
            f += block->packet[p].flits;
        }
    }
    return e->range[f < b ? f : b];
}

/* Random: a port, then one of its channels. What a channel draws is `best` if it is more. */
static inline uint32_t drawn(const struct fc_event_engine *e, uint32_t winner, uint32_t bit, uint64_t random,
                             uint64_t *best)
{
    uint64_t port = fc_event_spread(random + e->bit_port[bit] * FC_EVENT_SALT_PICK) >> 32;
    uint64_t key = port << 32 | fc_event_spread(random + (bit + 1) * FC_EVENT_SALT_ELECT) >> 32 | 1;
    winner = key > *best ? bit : winner; /* a branch would be a random one */
    *best = key > *best ? key : *best;
    return winner;
}

static uint32_t elect_random(const struct fc_event_engine *e, const uint64_t *mask, uint64_t random)
{
    uint64_t best = 0;
    uint32_t winner = 0;
    for (int w = 0; w < e->words; w++)
        for (uint64_t left = mask[w]; left; left &= left - 1)
            winner = drawn(e, winner, (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left), random, &best);
    return winner;
}

static inline bool is_single(const struct fc_event_engine *e, const uint64_t *mask)
{
    if (e->words == 1) return (mask[0] & (mask[0] - 1)) == 0;
    bool one = false;
    for (int w = 0; w < e->words; w++) {
        if (mask[w] & (mask[w] - 1) || (mask[w] && one)) return false;
        one = one || mask[w];
    }
    return true;
}

/* The first bit of the mask at or after `from`, or the first of all. */
static uint32_t first_bit(const struct fc_event_engine *e, const uint64_t *mask, uint32_t from)
{
    uint32_t w = from / 64, words = (uint32_t)e->words;
    if (words == 1 && from == 0) return (uint32_t)__builtin_ctzll(mask[0]);
    uint64_t left = w < words ? mask[w] >> from % 64 << from % 64 : 0;
    for (uint32_t i = 0; i <= words; i++) {
        if (left) return w * 64 + (uint32_t)__builtin_ctzll(left);
        w = w + 1 < words ? w + 1 : 0;
        left = mask[w];
    }
    return 0;
}

/* Round robin over ports from the one after `turn`, then over the port's channels. */
static uint32_t elect_in_turn(const struct fc_event_engine *e, uint32_t router, const uint64_t *mask, uint32_t turn)
{
    uint32_t n_vcs = e->n_vcs, bit = first_bit(e, mask, (turn + 1) * n_vcs);
    uint32_t base = e->bit_port[bit] * n_vcs;
    uint32_t link = e->channel[e->head_channel[e->head_first[router] + bit]].link;
    for (uint32_t i = 1; i <= n_vcs; i++) {
        uint32_t other = base + (e->port_turn[link] + i) % n_vcs;
        if (mask[other / 64] >> other % 64 & 1) return other;
    }
    return bit;
}

static uint32_t elect_oldest(const struct fc_event_block *block, uint32_t router, const uint64_t *mask)
{
    const struct fc_event_engine *e = block->engine;
    const struct fc_event_packet *oldest = NULL;
    uint32_t winner = 0;
    for (int w = 0; w < e->words; w++)
        for (uint64_t left = mask[w]; left; left &= left - 1) {
            uint32_t bit = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);
            uint32_t c = e->head_channel[e->head_first[router] + bit];
            const struct fc_event_packet *packet = &block->packet[e->channel[c].head];
            if (oldest && (packet->born > oldest->born || (packet->born == oldest->born && packet->src >= oldest->src)))
                continue;
            oldest = packet;
            winner = bit;
        }
    return winner;
}

/* Keeps those with the fullest buffers. */
static void keep_fullest(struct fc_event_block *block, uint32_t router, uint64_t *mask)
{
    const struct fc_event_engine *e = block->engine;
    uint64_t *kept = block->mask + 4 * e->words;
    uint32_t most = 0;
    fc_event_clear(e, kept);
    for (int w = 0; w < e->words; w++)
        for (uint64_t left = mask[w]; left; left &= left - 1) {
            uint32_t bit = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);
            uint32_t f = fullness(block, e->head_channel[e->head_first[router] + bit]);
            if (f > most) fc_event_clear(e, kept), most = f;
            if (f == most) kept[w] |= left & -left;
        }
    fc_event_copy(e, mask, kept);
}

/* The same at random, for masks of one word: no branches where they would be random ones. */
static uint32_t elect_of_word(const struct fc_event_block *block, uint32_t router, uint64_t mask, uint64_t random)
{
    const struct fc_event_engine *e = block->engine;
    const uint32_t *head_channel = &e->head_channel[e->head_first[router]];
    uint64_t within = mask & ~e->injected_mask[router], best = 0;
    uint32_t winner = 0;
    bool first = (within != 0) & (random >> 40 < e->in_network_share);
    mask &= within | -(uint64_t)!first;
    if ((mask & (mask - 1)) == 0) return (uint32_t)__builtin_ctzll(mask);
    random = fc_event_spread(random + FC_EVENT_SALT_PICK);
    if (e->longest_queue && random >> 40 < e->longest_queue_share) {
        uint64_t kept = 0;
        uint32_t most = 0;
        for (uint64_t left = mask; left; left &= left - 1) {
            uint32_t f = fullness(block, head_channel[__builtin_ctzll(left)]);
            kept &= -(uint64_t)(f <= most);
            most = f > most ? f : most;
            kept |= left & -left & -(uint64_t)(f == most);
        }
        mask = kept;
        if ((mask & (mask - 1)) == 0) return (uint32_t)__builtin_ctzll(mask);
    }
    for (uint64_t left = mask; left; left &= left - 1)
        winner = drawn(e, winner, (uint32_t)__builtin_ctzll(left), random, &best);
    return winner;
}

uint32_t fc_event_elect(struct fc_event_block *block, uint32_t router, uint64_t *mask, uint32_t turn, uint64_t random)
{
    const struct fc_event_engine *e = block->engine;
    const uint64_t *injected = &e->injected_mask[(size_t)router * (size_t)e->words];
    uint64_t within = 0, outside = 0;
    if (e->elects_of_word) return elect_of_word(block, router, mask[0], random);
    if (is_single(e, mask)) return first_bit(e, mask, 0);
    for (int w = 0; w < e->words; w++) {
        within |= mask[w] & ~injected[w];
        outside |= mask[w] & injected[w];
    }
    if (within && outside && random >> 40 < e->in_network_share)
        for (int w = 0; w < e->words; w++) mask[w] &= ~injected[w];
    if (is_single(e, mask)) return first_bit(e, mask, 0);
    if (e->flit->arbitration == FC_ROUND_ROBIN) return elect_in_turn(e, router, mask, turn);
    if (e->flit->arbitration == FC_AGE) return elect_oldest(block, router, mask);
    random = fc_event_spread(random + FC_EVENT_SALT_PICK);
    if (e->longest_queue && random >> 40 < e->longest_queue_share) keep_fullest(block, router, mask);
    return elect_random(e, mask, random);
}
