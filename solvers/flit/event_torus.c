/* event_torus.c - a head alone at its router on a torus or mesh with minimal adaptive routing: what
 * event_router.c does with any routing, without the list of choices.
 *
 * Of the links nearer that are free, the adaptive channel with the best score (event_router.c, rule 1); when
 * none has room, the escape. Every result, random draws too, is that of the general path, which takes over
 * where a head waits already or the network has links of different speeds in a packet's way. Limit: single
 * cables. */
#include "solvers/flit/event.h"

/* What the best channel so far is worth, above it a random number, its port and its number; 0: none has room.
 * In one word, so that the better of two is found without a branch: that would be a random one. */
static inline uint64_t port_of(uint64_t best)
{
    return best >> 4 & 15;
}
static inline uint32_t vc_of(uint64_t best)
{
    return (uint32_t)best & 15;
}
_Static_assert(2 * FC_MAX_DIMS <= 16 && FC_FLIT_MOST_VCS <= 16, "four bits each");

static inline uint64_t weigh(const struct fc_event_block *block, const union fc_event_lane *lane, uint32_t v,
                             int32_t need, uint32_t port, uint64_t *random, uint64_t best)
{
    const struct fc_event *e = block->engine;
    int32_t tokens = fc_event_count(block, &lane[1 + v].tokens, block->wheel.now);
    *random = *random * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    uint64_t key = (uint64_t)(e->score[tokens & ~(tokens >> 31)] + 1) << 32 | ((*random >> 32) & ~255ull) |
                   port << 4 | v;
    key &= -(uint64_t)(tokens >= need);
    return key > best ? key : best;
}

/* Channels v .. v + n - 1. */
static inline __attribute__((always_inline)) uint64_t weigh_all(const struct fc_event_block *block,
                                                                const union fc_event_lane *lane, uint32_t v,
                                                                uint32_t n, int32_t need, uint32_t port,
                                                                uint64_t *random, uint64_t best)
{
    for (uint32_t end = v + n; v < end; v++) best = weigh(block, lane, v, need, port, random, best);
    return best;
}

static uint64_t weigh_escape(const struct fc_event_block *block, const struct fc_flit_choice *escape,
                             uint32_t port, uint64_t random)
{
    const struct fc_event *e = block->engine;
    uint64_t best = 0;
    for (uint32_t vcs = escape->vcs; vcs; vcs &= vcs - 1)
        best = weigh(block, &e->lane[(size_t)escape->link * e->stride], (uint32_t)__builtin_ctz(vcs),
                     (int32_t)((escape->room_packets > 1 ? 2 : 1) * e->full), port, &random, best);
    return best;
}

/* The choice of a head: adaptive on the best channel with room of the free links nearer, else the escape; -1:
 * none. */
static inline __attribute__((always_inline)) bool pick_hop(const struct fc_event_block *block,
                                                           const struct fc_event_channel *channel,
                                                           uint64_t route, const uint32_t *row,
                                                           uint64_t random, struct fc_flit_choice *choice,
                                                           uint32_t *vc, int n_dims, uint32_t n_free)
{
    const struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const union fc_event_lane *lane[FC_MAX_DIMS + 1];
    uint32_t port[FC_MAX_DIMS + 1], n = 0, first = (uint32_t)e->flit->n_escape_vcs;
    uint64_t now = block->wheel.now, best = 0, minus = route >> f->minus;
    for (int d = 0; d < n_dims; d++) { /* no branches in it: they would be random ones */
        uint32_t p = 2 * (uint32_t)d + (uint32_t)(minus >> d & 1);
        lane[n] = &e->lane[(size_t)row[FC_ROUTE_PORTS + p] * e->stride];
        port[n] = p;
        n += (uint32_t)((route & f->field[d]) != 0) & (uint32_t)(lane[n]->link.busy_until <= now);
    }
    for (uint32_t i = 0; i < n; i++)
        best = weigh_all(block, lane[i], first, n_free, (int32_t)e->full, port[i], &random, best);
    if (best) {
        uint32_t p = (uint32_t)port_of(best);
        choice->route = fc_route_adaptive_after(f, row[FC_ROUTE_WRAPS], route, p);
        choice->link = row[FC_ROUTE_PORTS + p];
        choice->vcs = f->free_vcs;
        choice->escape = choice->room_packets = choice->full_size = 0;
        *vc = vc_of(best);
        return true;
    }
    if (first == 0) return false;
    uint32_t p = fc_route_adaptive_escape(f, route);
    if (fc_event_link(e, row[FC_ROUTE_PORTS + p])->busy_until > now) return false;
    *choice = fc_route_adaptive_escape_choice(f, row, route, p, e->bit_vc[channel->bit]);
    best = weigh_escape(block, choice, p, random);
    *vc = vc_of(best);
    return best != 0;
}

static inline __attribute__((always_inline)) bool pick(const struct fc_event_block *block,
                                                       const struct fc_event_channel *channel,
                                                       uint64_t random, struct fc_flit_choice *choice,
                                                       uint32_t *vc)
{
    const struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const struct fc_event_packet *packet = &block->packet[channel->head];
    const uint32_t *row = f->row + (size_t)channel->router * f->width;
    if (packet->route & f->hops)
        return f->n_dims == 3 && f->n_free == 2
                   ? pick_hop(block, channel, packet->route, row, random, choice, vc, 3, 2)
                   : pick_hop(block, channel, packet->route, row, random, choice, vc, f->n_dims, f->n_free);
    *choice = (struct fc_flit_choice){.route = packet->route,
                                      .link = row[FC_ROUTE_EJECTION] +
                                              (packet->dst - channel->router * f->per_router),
                                      .vcs = 1};
    *vc = 0;
    const struct fc_event_link *link = fc_event_link(e, choice->link);
    return link->busy_until <= block->wheel.now && fc_event_torus_dry(block, channel) == 0;
}

bool fc_event_torus_pick(const struct fc_event_block *block, const struct fc_event_channel *channel,
                         uint64_t random, struct fc_flit_choice *choice, uint32_t *vc)
{
    return pick(block, channel, random, choice, vc);
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
        uint64_t tick =
            fc_event_token_tick(block, fc_event_tokens_of(e, l, (uint32_t)__builtin_ctz(vcs)), need);
        if (tick && tick < first) first = tick;
    }
    if (first != FC_EVENT_NEVER) fc_event_wake_at(block, l, link, first);
}

/* Heads of the mask, one or none, wait in the slot. Those who wait for the same have seen to the wake-up. */
static inline void wait_on(struct fc_event_block *block, uint32_t l, uint32_t slot, uint64_t bit,
                           uint32_t vcs, uint32_t need)
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

static inline uint32_t ejection_link(const struct fc_event *e, const struct fc_event_channel *channel,
                                     const struct fc_event_packet *packet, const uint32_t *row)
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
    struct fc_flit_choice escape = fc_route_adaptive_escape_choice(
        f, row, route, fc_route_adaptive_escape(f, route), e->bit_vc[channel->bit]);
    wait_on(block, escape.link, escape_slot(&escape), bit, escape.vcs,
            (escape.room_packets > 1 ? 2 : 1) * e->full);
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
    struct fc_flit_choice escape = fc_route_adaptive_escape_choice(
        f, row, route, fc_route_adaptive_escape(f, route), e->bit_vc[channel->bit]);
    stop_on(e, escape.link, escape_slot(&escape), bit);
}

/* ---- a link alone at its router ------------------------------------------------------------ */

/* The waiting head of channel c takes link l: its best adaptive channel, or the escape if that leads there.
 */
static bool take(struct fc_event_block *block, uint32_t c, uint32_t l, uint64_t best, uint64_t random)
{
    struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    struct fc_event_channel *channel = &e->channel[c];
    uint64_t route = block->packet[channel->head].route;
    const uint32_t *row = f->row + (size_t)channel->router * f->width;
    struct fc_flit_choice choice = {.route = route, .link = l, .vcs = f->free_vcs};
    if (best && (route & f->hops)) {
        uint32_t p = 0;
        for (uint32_t d = 0; d < (uint32_t)f->n_dims; d++) {
            uint32_t port = 2 * d + (uint32_t)(route >> (f->minus + d) & 1);
            p = row[FC_ROUTE_PORTS + port] == l ? port : p;
        }
        choice.route = fc_route_adaptive_after(f, row[FC_ROUTE_WRAPS], route, p);
    } else if (route & f->hops) {
        choice = fc_route_adaptive_escape_choice(f, row, route, fc_route_adaptive_escape(f, route),
                                                 e->bit_vc[channel->bit]);
        if (choice.link != l) return false;
        best = weigh_escape(block, &choice, 0, random);
        if (best == 0) return false;
    }
    fc_event_torus_stop(block, channel);
    fc_event_send(block, c, &choice, vc_of(best), true);
    return true;
}

uint64_t fc_event_torus_candidates(struct fc_event_block *block, uint32_t l, uint64_t *random, uint64_t *best)
{
    struct fc_event *e = block->engine;
    const struct fc_event_link *link = fc_event_link(e, l);
    uint64_t mask = 0;
    *best = 0;
    if (link->busy_until > block->wheel.now) return 0;
    if (link->kind == FC_EVENT_EJECTION) return *fc_event_waiting(e, l, 1);
    *best = weigh_all(block, &e->lane[(size_t)l * e->stride], (uint32_t)e->flit->n_escape_vcs,
                      e->adaptive.n_free, (int32_t)e->full, 0, random, 0);
    if (*best) return *fc_event_waiting(e, l, 0);
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
        uint64_t best;
        uint64_t mask = fc_event_torus_candidates(block, l, &random, &best);
        moved = false;
        while (mask && !moved) {
            uint64_t rivals = mask;
            uint32_t bit = fc_event_elect(block, router, &rivals, link->turn, random);
            uint32_t c = e->head_channel[e->head_first[router] + bit];
            mask &= ~(1ull << bit);
            if (fc_event_path_free(e, e->channel[c].link, link->kind, now, &until))
                moved = take(block, c, l, best, random);
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
    if (!pick(block, channel, random, &choice, &vc)) {
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
    for (int d = 0; d < f->n_dims; d++) { /* all, rather than a branch that would be a random one */
        uint32_t p = 2 * (uint32_t)d + (uint32_t)(packet->route >> (f->minus + d) & 1);
        const union fc_event_lane *lane = &e->lane[(size_t)row[FC_ROUTE_PORTS + p] * e->stride];
        __builtin_prefetch(lane);
        __builtin_prefetch(lane + 2);
        __builtin_prefetch(fc_event_waiting(e, row[FC_ROUTE_PORTS + p], 0));
    }
}
