/* event_torus.c - a head alone at its router on a torus or mesh with minimal adaptive routing: what event_router.c does
 * with any routing, without the list of choices.
 *
 * Of the links nearer that are free, the adaptive channel with the best score (event_router.c, rule 1); when none has
 * room, the escape. Every result, random draws too, is that of the general path, which takes over where a head waits
 * already or the network has links of different speeds in a packet's way. Limit: single cables. */
#include "solvers/flit/event.h"

/* The best of the channels with room, of lanes of free links; -1: none has any. */
struct best {
    uint64_t key;
    int32_t port;
    uint32_t vc;
};

static inline void weigh(const struct fc_event_block *block, const union fc_event_lane *lane, uint32_t vcs,
                         int32_t need, int32_t port, uint64_t *random, struct best *best)
{
    const struct fc_event *e = block->engine;
    do {
        uint32_t v = (uint32_t)__builtin_ctz(vcs);
        vcs &= vcs - 1;
        int32_t tokens = fc_event_count(block, &lane[1 + v].tokens, block->wheel.now);
        *random = *random * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
        uint64_t key = (uint64_t)e->score[tokens > 0 ? tokens : 0] << 32 | *random >> 33 | 1;
        key = tokens >= need ? key : 0;
        bool better = key > best->key;
        best->key = better ? key : best->key;
        best->port = better ? port : best->port;
        best->vc = better ? v : best->vc;
    } while (vcs);
}

/* The choice of a head: adaptive on the best channel with room of the free links nearer, else the escape; -1: none. */
static inline __attribute__((always_inline)) bool pick_hop(const struct fc_event_block *block, const struct fc_event_channel *channel,
                                                           const struct fc_event_packet *packet, const uint32_t *row,
                                                           uint64_t random, struct fc_flit_choice *choice, uint32_t *vc, int n_dims)
{
    const struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const union fc_event_lane *lane[FC_MAX_DIMS + 1];
    int32_t port[FC_MAX_DIMS + 1];
    uint64_t now = block->wheel.now, route = packet->route;
    struct best best = {.port = -1};
    uint32_t n = 0;
    for (int d = 0; d < n_dims; d++) { /* no branches in it: they would be random ones */
        int32_t p = 2 * d + (int32_t)(route >> (f->minus + d) & 1);
        lane[n] = &e->lane[(size_t)row[FC_ROUTE_PORTS + p] * e->stride];
        port[n] = p;
        n += (uint32_t)((route & f->field[d]) != 0) & (uint32_t)(lane[n]->link.busy_until <= now);
    }
    for (uint32_t i = 0; i < n; i++) weigh(block, lane[i], f->free_vcs, (int32_t)e->full, port[i], &random, &best);
    *vc = best.vc;
    if (best.port >= 0) {
        uint32_t p = (uint32_t)best.port;
        choice->route = fc_route_adaptive_after(f, row[FC_ROUTE_WRAPS], route, p);
        choice->link = row[FC_ROUTE_PORTS + p];
        choice->vcs = f->free_vcs;
        choice->escape = choice->room_packets = choice->full_size = 0;
        return true;
    }
    if (e->flit->n_escape_vcs == 0) return false;
    uint32_t p = fc_route_adaptive_escape(f, route);
    const union fc_event_lane *to = &e->lane[(size_t)row[FC_ROUTE_PORTS + p] * e->stride];
    if (to->link.busy_until > now) return false;
    *choice = fc_route_adaptive_escape_choice(f, row, route, p, e->bit_vc[channel->bit]);
    weigh(block, to, choice->vcs, (int32_t)((choice->room_packets > 1 ? 2 : 1) * e->full), (int32_t)p, &random, &best);
    *vc = best.vc;
    return best.port >= 0;
}

bool fc_event_torus_pick(const struct fc_event_block *block, const struct fc_event_channel *channel, uint64_t random,
                         struct fc_flit_choice *choice, uint32_t *vc)
{
    const struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const struct fc_event_packet *packet = &block->packet[channel->head];
    const uint32_t *row = f->row + (size_t)channel->router * f->width;
    if (packet->route & f->hops)
        return f->n_dims == 3 ? pick_hop(block, channel, packet, row, random, choice, vc, 3)
                              : pick_hop(block, channel, packet, row, random, choice, vc, f->n_dims);
    *choice = (struct fc_flit_choice){.route = packet->route,
                                      .link = row[FC_ROUTE_EJECTION] + (packet->dst - channel->router * f->per_router),
                                      .vcs = 1};
    *vc = 0;
    const struct fc_event_link *link = fc_event_link(e, choice->link);
    return link->busy_until <= block->wheel.now && fc_event_torus_dry(block, channel) == 0;
}

uint64_t fc_event_torus_dry(const struct fc_event_block *block, const struct fc_event_channel *channel)
{
    const struct fc_event *e = block->engine;
    const struct fc_event_packet *packet = &block->packet[channel->head];
    if (packet->route & e->adaptive.hops) return 0;
    uint64_t ticks = packet->flits * e->ejection.flit + e->ejection.trailer;
    return block->wheel.now + ticks < packet->tail ? packet->tail - ticks : 0;
}

/* ---- waiting ------------------------------------------------------------ */

/* Makes sure of a wake-up for the channels. */
static void arm(struct fc_event_block *block, uint32_t l, uint32_t vcs, uint32_t need)
{
    struct fc_event *e = block->engine;
    struct fc_event_link *link = fc_event_link(e, l);
    uint64_t first = FC_EVENT_NEVER;
    if (link->busy_until > block->wheel.now) {
        fc_event_wake_at(block, l, link, link->busy_until);
        return;
    }
    for (; vcs; vcs &= vcs - 1) {
        uint64_t tick = fc_event_token_tick(block, fc_event_tokens_of(e, l, (uint32_t)__builtin_ctz(vcs)), need);
        if (tick && tick < first) first = tick;
    }
    if (first != FC_EVENT_NEVER) fc_event_wake_at(block, l, link, first);
}

/* Heads of the mask, one or none, wait in the slot. Those who wait for the same have seen to the wake-up. */
static inline void wait_on(struct fc_event_block *block, uint32_t l, uint32_t slot, uint64_t bit, uint32_t vcs, uint32_t need)
{
    struct fc_event *e = block->engine;
    struct fc_event_link *link = fc_event_link(e, l);
    uint64_t wants = (uint64_t)(bit != 0) << slot, fresh = wants & ~link->wanted;
    *fc_event_waiting(e, l, slot) |= bit;
    link->wanted |= wants;
    if (fresh) arm(block, l, vcs, need);
}

static inline void stop_on(struct fc_event *e, uint32_t l, uint32_t slot, uint64_t bit)
{
    uint64_t *mask = fc_event_waiting(e, l, slot);
    *mask &= ~bit;
    fc_event_link(e, l)->wanted &= ~((uint64_t)(*mask == 0) << slot);
}

/* Slots: 0 for the adaptive channels, then those of the escapes. */
static inline uint32_t escape_slot(const struct fc_flit_choice *escape)
{
    return 1 + (escape->vcs - 1u) * 2 + (escape->room_packets > 1);
}

static inline uint32_t ejection_link(const struct fc_event *e, const struct fc_event_channel *channel, const struct fc_event_packet *packet,
                                     const uint32_t *row)
{
    return row[FC_ROUTE_EJECTION] + (packet->dst - channel->router * e->adaptive.per_router);
}

void fc_event_torus_wait(struct fc_event_block *block, uint32_t c)
{
    struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    struct fc_event_channel *channel = &e->channel[c];
    const struct fc_event_packet *packet = &block->packet[channel->head];
    const uint32_t *row = f->row + (size_t)channel->router * f->width;
    uint64_t route = packet->route, bit = 1ull << channel->bit, later;
    if (channel->flags & FC_EVENT_ALL) return;
    if ((later = fc_event_torus_dry(block, channel))) {
        fc_event_head_due(block, c, later);
        return;
    }
    channel->flags |= FC_EVENT_WAITS | FC_EVENT_ALL;
    if (!(route & f->hops)) {
        wait_on(block, ejection_link(e, channel, packet, row), 1, bit, 1, 0);
        return;
    }
    for (int d = 0; d < f->n_dims; d++)
        wait_on(block, row[FC_ROUTE_PORTS + 2 * d + (int)(route >> (f->minus + d) & 1)], 0,
                bit & -(uint64_t)((route & f->field[d]) != 0), f->free_vcs, e->full);
    if (e->flit->n_escape_vcs == 0) return;
    struct fc_flit_choice escape = fc_route_adaptive_escape_choice(f, row, route, fc_route_adaptive_escape(f, route),
                                                                   e->bit_vc[channel->bit]);
    wait_on(block, escape.link, escape_slot(&escape), bit, escape.vcs, (escape.room_packets > 1 ? 2 : 1) * e->full);
}

void fc_event_torus_stop(struct fc_event_block *block, const struct fc_event_channel *channel)
{
    struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const struct fc_event_packet *packet = &block->packet[channel->head];
    const uint32_t *row = f->row + (size_t)channel->router * f->width;
    uint64_t route = packet->route, bit = 1ull << channel->bit;
    if (!(route & f->hops)) {
        stop_on(e, ejection_link(e, channel, packet, row), 1, bit);
        return;
    }
    for (int d = 0; d < f->n_dims; d++)
        stop_on(e, row[FC_ROUTE_PORTS + 2 * d + (int)(route >> (f->minus + d) & 1)], 0,
                bit & -(uint64_t)((route & f->field[d]) != 0));
    if (e->flit->n_escape_vcs == 0) return;
    struct fc_flit_choice escape = fc_route_adaptive_escape_choice(f, row, route, fc_route_adaptive_escape(f, route),
                                                                   e->bit_vc[channel->bit]);
    stop_on(e, escape.link, escape_slot(&escape), bit);
}

/* ---- a link alone at its router ------------------------------------------------------------ */

/* The waiting head of channel c takes link l: its best adaptive channel, or the escape if that leads there. */
static bool take(struct fc_event_block *block, uint32_t c, uint32_t l, const struct best *best, uint64_t random)
{
    struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    struct fc_event_channel *channel = &e->channel[c];
    uint64_t route = block->packet[channel->head].route;
    const uint32_t *row = f->row + (size_t)channel->router * f->width;
    struct fc_flit_choice choice = {.route = route, .link = l, .vcs = f->free_vcs};
    struct best other = *best;
    if (best->port >= 0 && (route & f->hops)) {
        uint32_t p = 0;
        for (uint32_t d = 0; d < (uint32_t)f->n_dims; d++) {
            uint32_t port = 2 * d + (uint32_t)(route >> (f->minus + d) & 1);
            p = row[FC_ROUTE_PORTS + port] == l ? port : p;
        }
        choice.route = fc_route_adaptive_after(f, row[FC_ROUTE_WRAPS], route, p);
    } else if (route & f->hops) {
        choice = fc_route_adaptive_escape_choice(f, row, route, fc_route_adaptive_escape(f, route), e->bit_vc[channel->bit]);
        if (choice.link != l) return false;
        weigh(block, &e->lane[(size_t)l * e->stride], choice.vcs, (int32_t)((choice.room_packets > 1 ? 2 : 1) * e->full), 0,
              &random, &other);
        if (other.port < 0) return false;
    }
    fc_event_torus_stop(block, channel);
    fc_event_send(block, c, &choice, other.vc, true);
    return true;
}

/* Heads that could take the link now: whoever waits for it waits for its adaptive channels. */
static uint64_t candidates(struct fc_event_block *block, uint32_t l, uint64_t *random, struct best *best)
{
    struct fc_event *e = block->engine;
    const struct fc_event_link *link = fc_event_link(e, l);
    uint64_t mask = 0;
    *best = (struct best){.port = -1};
    if (link->kind == FC_EVENT_EJECTION) return *fc_event_waiting(e, l, 1);
    weigh(block, &e->lane[(size_t)l * e->stride], e->adaptive.free_vcs, (int32_t)e->full, 0, random, best);
    if (best->port >= 0) return *fc_event_waiting(e, l, 0);
    if (link->wanted >> 1) fc_event_eligible(block, l, &mask);
    return mask;
}

void fc_event_torus_serve(struct fc_event_block *block, uint32_t router, uint32_t l)
{
    struct fc_event *e = block->engine;
    struct fc_event_link *link = fc_event_link(e, l);
    uint64_t now = block->wheel.now, random = fc_event_random(block, router, 0), until;
    bool moved = true;
    while (moved && link->busy_until <= now && link->wanted) {
        struct best best;
        uint64_t mask = candidates(block, l, &random, &best);
        moved = false;
        while (mask && !moved) {
            uint64_t rivals = mask;
            uint32_t bit = fc_event_elect(block, router, &rivals, link->turn, random);
            uint32_t c = e->head_channel[e->head_first[router] + bit];
            mask &= ~(1ull << bit);
            if (fc_event_path_free(e, e->channel[c].link, link->kind, now, &until))
                moved = take(block, c, l, &best, random);
            else
                fc_event_head_due(block, c, until);
        }
    }
    fc_event_rearm(block, l);
}

/* ---- a head alone at its router ------------------------------------------------------------ */

void fc_event_torus_alone(struct fc_event_block *block, uint32_t c)
{
    struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const struct fc_event_channel *channel = &e->channel[c];
    const struct fc_event_packet *packet = &block->packet[channel->head];
    uint64_t now = block->wheel.now, until;
    struct fc_flit_choice choice;
    uint32_t vc;
    int kind = packet->route & f->hops ? FC_EVENT_BETWEEN : FC_EVENT_EJECTION;
    if (!fc_event_path_free(e, channel->link, kind, now, &until)) {
        fc_event_head_due(block, c, until);
        return;
    }
    uint64_t random = fc_event_random(block, channel->router, 0) + (channel->bit + 1) * FC_EVENT_SALT_PICK;
    if (!fc_event_torus_pick(block, channel, random, &choice, &vc)) {
        fc_event_torus_wait(block, c);
        return;
    }
    bool waited = channel->flags & FC_EVENT_WAITS;
    if (waited) fc_event_torus_stop(block, channel);
    fc_event_send(block, c, &choice, vc, waited);
}

void fc_event_torus_prefetch(const struct fc_event_block *block, const struct fc_event_channel *channel)
{
    const struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const struct fc_event_packet *packet = &block->packet[channel->head];
    const uint32_t *row = f->row + (size_t)channel->router * f->width;
    if (packet->next) __builtin_prefetch(&block->packet[packet->next]);
    if (!(packet->route & f->hops)) {
        __builtin_prefetch(fc_event_link(e, row[FC_ROUTE_EJECTION]));
        return;
    }
    for (int d = 0; d < f->n_dims; d++) {
        if (!(packet->route & f->field[d])) continue;
        uint32_t p = 2 * (uint32_t)d + (uint32_t)(packet->route >> (f->minus + d) & 1);
        const union fc_event_lane *lane = &e->lane[(size_t)row[FC_ROUTE_PORTS + p] * e->stride];
        __builtin_prefetch(lane);
        __builtin_prefetch(lane + 2);
    }
}
