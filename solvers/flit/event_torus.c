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

static bool eject(struct fc_event_block *block, uint32_t c, const struct fc_event_channel *channel,
                  const struct fc_event_packet *packet, const uint32_t *row)
{
    const struct fc_event *e = block->engine;
    struct fc_flit_choice choice = {.route = packet->route, .vcs = 1};
    uint64_t now = block->wheel.now;
    choice.link = row[FC_ROUTE_EJECTION] + (packet->dst - channel->router * e->adaptive.per_router);
    const struct fc_event_link *link = fc_event_link(e, choice.link);
    if (e->eject_end[channel->link] > now || link->busy_until > now ||
        now + fc_event_ticks(e, link->link_class, packet->flits) < packet->tail)
        return false;
    fc_event_send(block, c, &choice, 0, false);
    return true;
}

/* ---- waiting ------------------------------------------------------------ */

static inline void wait_on(struct fc_event_block *block, uint32_t bit, uint32_t l, uint32_t vcs, uint32_t k)
{
    struct fc_event *e = block->engine;
    struct fc_event_link *link = fc_event_link(e, l);
    uint64_t slots = fc_event_slots(block, vcs, k), before = link->wanted, first = FC_EVENT_NEVER;
    link->wanted |= slots;
    for (uint64_t left = slots; left; left &= left - 1)
        fc_event_waiting(e, l, (uint32_t)__builtin_ctzll(left))[bit / 64] |= 1ull << bit % 64;
    if ((before & slots) == slots) return; /* who waits for the same has seen to the wake-up */
    if (link->busy_until > block->wheel.now) {
        fc_event_wake_at(block, l, link, link->busy_until);
        return;
    }
    for (; vcs; vcs &= vcs - 1) {
        const struct fc_event_tokens *t = fc_event_tokens_of(e, l, (uint32_t)__builtin_ctz(vcs));
        uint64_t tick = fc_event_token_tick(block, t, (k + 1) * e->full);
        if (tick && tick < first) first = tick;
    }
    if (first != FC_EVENT_NEVER) fc_event_wake_at(block, l, link, first);
}

/* The head waits for every hop nearer, and the escape. */
static void wait(struct fc_event_block *block, uint32_t c, const uint32_t *row, const struct fc_flit_choice *escape)
{
    struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    struct fc_event_channel *channel = &e->channel[c];
    uint64_t route = block->packet[channel->head].route;
    if (channel->flags & FC_EVENT_ALL) return;
    channel->flags |= FC_EVENT_WAITS | FC_EVENT_ALL;
    for (int d = 0; d < f->n_dims; d++)
        if (route & f->field[d])
            wait_on(block, channel->bit, row[FC_ROUTE_PORTS + 2 * d + (int)(route >> (f->minus + d) & 1)],
                    f->free_vcs, 0);
    if (escape) wait_on(block, channel->bit, escape->link, escape->vcs, escape->room_packets > 1);
}

static inline void stop_on(struct fc_event_block *block, uint32_t bit, uint32_t l, uint32_t vcs, uint32_t k)
{
    struct fc_event *e = block->engine;
    uint64_t slots = fc_event_slots(block, vcs, k);
    for (uint64_t left = slots; left; left &= left - 1) {
        uint64_t *mask = fc_event_waiting(e, l, (uint32_t)__builtin_ctzll(left));
        *mask &= ~(1ull << bit);
        if (*mask == 0) fc_event_link(e, l)->wanted &= ~(left & -left);
    }
}

static void stop_waiting(struct fc_event_block *block, uint32_t bit, const uint32_t *row, uint64_t route,
                         const struct fc_flit_choice *escape)
{
    const struct fc_route_adaptive *f = &block->engine->adaptive;
    for (int d = 0; d < f->n_dims; d++)
        if (route & f->field[d])
            stop_on(block, bit, row[FC_ROUTE_PORTS + 2 * d + (int)(route >> (f->minus + d) & 1)], f->free_vcs, 0);
    if (block->engine->flit->n_escape_vcs) stop_on(block, bit, escape->link, escape->vcs, escape->room_packets > 1);
}

/* The waiting head of channel c takes link l: its best adaptive channel, or the escape if that leads there. */
static bool take(struct fc_event_block *block, uint32_t c, uint32_t l, const struct best *best, uint64_t random)
{
    struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    struct fc_event_channel *channel = &e->channel[c];
    uint64_t route = block->packet[channel->head].route;
    const uint32_t *row = f->row + (size_t)channel->router * f->width;
    struct fc_flit_choice escape = {.link = FC_NONE}, choice;
    struct best other = {.port = -1};
    uint32_t vc = best->vc;
    if (e->flit->n_escape_vcs)
        escape = fc_route_adaptive_escape_choice(f, row, route, fc_route_adaptive_escape(f, route),
                                                 e->bit_vc[channel->bit]);
    if (best->port >= 0) {
        uint32_t p = 0;
        for (int d = 0; d < f->n_dims; d++) {
            uint32_t port = 2 * (uint32_t)d + (uint32_t)(route >> (f->minus + d) & 1);
            p = row[FC_ROUTE_PORTS + port] == l ? port : p;
        }
        choice = (struct fc_flit_choice){
            .route = fc_route_adaptive_after(f, row[FC_ROUTE_WRAPS], route, p), .link = l, .vcs = f->free_vcs};
    } else {
        if (escape.link != l) return false;
        weigh(block, &e->lane[(size_t)l * e->stride], escape.vcs,
              (int32_t)((escape.room_packets > 1 ? 2 : 1) * e->full), 0, &random, &other);
        if (other.port < 0) return false;
        choice = escape;
        vc = other.vc;
    }
    stop_waiting(block, channel->bit, row, route, &escape);
    fc_event_send(block, c, &choice, vc, true);
    return true;
}

/* As take, for a link to a node. */
static bool take_ejection(struct fc_event_block *block, uint32_t c, uint32_t l)
{
    struct fc_event *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    struct fc_flit_choice choice = {.route = block->packet[channel->head].route, .link = l, .vcs = 1};
    stop_on(block, channel->bit, l, 1, 0);
    fc_event_send(block, c, &choice, 0, true);
    return true;
}

void fc_event_torus_serve(struct fc_event_block *block, uint32_t router, uint32_t l)
{
    struct fc_event *e = block->engine;
    struct fc_event_link *link = fc_event_link(e, l);
    uint64_t now = block->wheel.now, random = fc_event_random(block, router, 0), until, mask;
    bool moved = true, ejection = link->kind == FC_EVENT_EJECTION;
    while (moved && link->busy_until <= now && link->wanted) {
        struct best best = {.port = -1};
        moved = false;
        if (!ejection)
            weigh(block, &e->lane[(size_t)l * e->stride], e->adaptive.free_vcs, (int32_t)e->full, 0, &random, &best);
        if (best.port >= 0 || ejection) /* whoever waits for a link waits for its adaptive channels */
            mask = *fc_event_waiting(e, l, (uint32_t)__builtin_ctzll(fc_event_slots(block, ejection ? 1 : e->adaptive.free_vcs, 0)));
        else
            fc_event_eligible(block, l, &mask);
        while (mask && !moved) {
            uint64_t rivals = mask;
            uint32_t bit = fc_event_elect(block, router, &rivals, link->turn, random);
            uint32_t c = e->head_channel[e->head_first[router] + bit];
            mask &= ~(1ull << bit);
            if (!fc_event_path_free(e, e->channel[c].link, link->kind, now, &until))
                fc_event_head_due(block, c, until);
            else
                moved = ejection ? take_ejection(block, c, l) : take(block, c, l, &best, random);
        }
    }
    fc_event_rearm(block, l);
}

/* ---- heads ------------------------------------------------------------ */

bool fc_event_torus_alone(struct fc_event_block *block, uint32_t c)
{
    struct fc_event *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const struct fc_event_channel *channel = &e->channel[c];
    const struct fc_event_packet *packet = &block->packet[channel->head];
    const uint32_t *row = f->row + (size_t)channel->router * f->width;
    uint64_t now = block->wheel.now, route = packet->route, until;
    if (channel->flags & FC_EVENT_WAITS) return false;
    if (!(route & f->hops)) return eject(block, c, channel, packet, row);
    if (now + packet->flits * e->least.flit + e->least.trailer < packet->tail) return false;
    if (!fc_event_path_free(e, channel->link, FC_EVENT_BETWEEN, now, &until)) {
        fc_event_head_due(block, c, until);
        return true;
    }
    const union fc_event_lane *lane[FC_MAX_DIMS + 1];
    int32_t port[FC_MAX_DIMS + 1];
    uint32_t n = 0;
    for (int d = 0; d < f->n_dims; d++) { /* no branches in it: they would be random ones */
        int32_t p = 2 * d + (int32_t)(route >> (f->minus + d) & 1);
        lane[n] = &e->lane[(size_t)row[FC_ROUTE_PORTS + p] * e->stride];
        port[n] = p;
        n += (uint32_t)((route & f->field[d]) != 0) & (uint32_t)(lane[n]->link.busy_until <= now);
    }
    uint64_t random = fc_event_random(block, channel->router, 0) + (channel->bit + 1) * FC_EVENT_SALT_PICK;
    struct best best = {.port = -1};
    for (uint32_t i = 0; i < n; i++)
        weigh(block, lane[i], f->free_vcs, (int32_t)e->full, port[i], &random, &best);
    struct fc_flit_choice choice;
    if (best.port >= 0) {
        uint32_t p = (uint32_t)best.port;
        choice = (struct fc_flit_choice){.route = fc_route_adaptive_after(f, row[FC_ROUTE_WRAPS], route, p),
                                         .link = row[FC_ROUTE_PORTS + p],
                                         .vcs = f->free_vcs};
    } else {
        if (e->flit->n_escape_vcs == 0) {
            wait(block, c, row, NULL);
            return true;
        }
        uint32_t p = fc_route_adaptive_escape(f, route);
        choice = fc_route_adaptive_escape_choice(f, row, route, p, e->bit_vc[channel->bit]);
        const union fc_event_lane *to = &e->lane[(size_t)choice.link * e->stride];
        if (to->link.busy_until <= now)
            weigh(block, to, choice.vcs, (int32_t)((choice.room_packets > 1 ? 2 : 1) * e->full), (int32_t)p, &random, &best);
        if (best.port < 0) {
            wait(block, c, row, &choice);
            return true;
        }
    }
    fc_event_send(block, c, &choice, best.vc, false);
    return true;
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
