/* event_torus.c - choices and waiting on a torus with minimal adaptive routing: what event_router.c does with
 * any routing, without lists of choices.
 *
 * Rule. Of the links nearer that are free, the adaptive channel with the best score (event_router.c, rule 1);
 * when none has room, the escape. A head that cannot move is a bit in sets kept at the links it may take: one
 * for their adaptive channels, two for what escapes need. Limits: single cables, a port in every direction,
 * links between routers of one class, at most 64 channels into a router; every other network takes the
 * general path. */
#include "solvers/flit/event_router.h"
#include "solvers/flit/event_torus_move.h"
#include "solvers/flit/event_wait.h"

/* What the best channel so far is worth, above it a random number, its port and its number; 0: none has room.
 * In one word, so that the better of two is found without a branch: that would be a random one. */
static inline uint32_t port_of(uint64_t best)
{
    return (uint32_t)best >> 4 & 15;
}
static inline uint32_t vc_of(uint64_t best)
{
    return (uint32_t)best & 15;
}
_Static_assert(2 * FC_MAX_DIMS <= 16 && FC_FLIT_MOST_VCS <= 16, "four bits each");

/* From bit 32 on what the channel is worth, below it the draw, then v. */
static inline uint64_t weigh(const uint64_t *worth, const struct fc_event_block *block, const struct fc_event_tokens *t,
                             uint32_t v, uint32_t draw)
{
    return worth[fc_event_room(block, t)] | draw << 8 | v;
}
static inline uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}
#define HAS_ROOM (UINT64_C(1) << 32)

/* The best adaptive channel with room of the free links nearer; 0: none. */
FC_EVENT_INLINE uint64_t best_of(const struct fc_event_block *block, struct fc_event_shape s, uint32_t router,
                                 uint64_t route, const uint32_t *row, uint64_t random)
{
    const struct fc_event_engine *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const uint64_t *worth = e->worth;
    union fc_event_lane *open[FC_MAX_DIMS];
    uint32_t port[FC_MAX_DIMS], n_open = 0, first = s.n_vcs - s.n_free;
    const uint64_t *busy = fc_event_ports_busy(e, s, router);
    uint64_t now = block->wheel.now, best = 0, minus = route >> f->minus;
    for (uint32_t d = 0; d < s.n_dims; d++) { /* no branches in it: they would be random ones */
        uint32_t p = 2 * d + (uint32_t)(minus >> d & 1);
        union fc_event_lane *lane = fc_event_lane_at(e, s, row[FC_ROUTE_PORTS + p]);
        open[n_open] = lane;
        port[n_open] = p << 4;
        n_open += ((route & f->field[d]) != 0) & (busy[p] <= now);
        __builtin_prefetch(fc_event_tokens_at(lane, s, first));
    }
    for (uint32_t i = 0; i < n_open; i++)
        for (uint32_t v = first; v < s.n_vcs; v++) {
            best = greater(
                best, weigh(worth, block, fc_event_tokens_at(open[i], s, v), port[i] | v, (uint32_t)random & 0xffffu));
            random = random >> 11 | random << 53;
        }
    return best < HAS_ROOM ? 0 : best;
}

/* The kind of need of an escape: packets of room in a bubble's channel, else its side of the dateline. */
static inline uint32_t escape_kind(const struct fc_event_engine *e, const struct fc_flit_choice *escape)
{
    return e->adaptive.bubble ? escape->room_packets > 1 : escape->vcs >> 1;
}

static inline struct fc_flit_choice escape_of(const struct fc_event_engine *e, const struct fc_event_channel *channel,
                                              const uint32_t *row, uint64_t route)
{
    const struct fc_route_adaptive *f = &e->adaptive;
    return fc_route_adaptive_escape_choice(f, row, route, fc_route_adaptive_escape(f, route), e->bit_vc[channel->bit]);
}

/* Whether the escape, whose link is free, has room. */
static inline bool escape_fits(const struct fc_event_block *block, const struct fc_flit_choice *escape,
                               struct fc_event_hop *hop)
{
    const struct fc_event_engine *e = block->engine;
    uint32_t v = (uint32_t)__builtin_ctz(escape->vcs);
    *hop = (struct fc_event_hop){escape->route, escape->link, (uint8_t)v, 1};
    return fc_event_room(block, &fc_event_lane_of(e, escape->link)[e->first_tokens + v].tokens) >=
           (int32_t)e->escape_need[escape_kind(e, escape)];
}

/* ---- waiting ------------------------------------------------------------ */

/* Sees to the wake-up of a link that nobody waited for. */
static inline void arm(struct fc_event_block *block, uint32_t l)
{
    struct fc_event_link *link = fc_event_link(block->engine, l);
    if (link->busy_until > block->wheel.now)
        fc_event_wake_at(block, l, link, link->busy_until);
    else
        fc_event_torus_rearm(block, l);
}

static inline void wait(struct fc_event_block *block, struct fc_event_channel *channel, const uint32_t *row,
                        uint64_t route, const struct fc_flit_choice *escape)
{
    struct fc_event_engine *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    uint64_t bit = 1ull << channel->bit;
    uint32_t fresh[FC_MAX_DIMS + 1], n_fresh = 0; /* links that nobody waited for */
    if (channel->flags & FC_EVENT_WAITS) return;
    channel->flags |= FC_EVENT_WAITS | FC_EVENT_ALL;
    if (escape->vcs)
        fc_event_escape_wanted(e, fc_event_shape_of(e), channel->router,
                               fc_event_link(e, escape->link)->port)[escape_kind(e, escape)] |= bit;
    for (int d = 0; d < f->n_dims; d++) { /* no branches in it: they would be random ones */
        uint32_t l = row[FC_ROUTE_PORTS + 2 * d + (int)(route >> (f->minus + d) & 1)];
        struct fc_event_link *link = fc_event_link(e, l);
        uint64_t before = link->wanted, after = before | (bit & -(uint64_t)((route & f->field[d]) != 0));
        link->wanted = after;
        fresh[n_fresh] = l;
        n_fresh += (before == 0) & (after != 0);
    }
    for (uint32_t i = 0; i < n_fresh; i++) arm(block, fresh[i]);
    /* the first to wait for the escape may not be the first to wait for the link */
    if (escape->vcs && fc_event_link(e, escape->link)->busy_until <= block->wheel.now)
        fc_event_torus_rearm(block, escape->link);
}

static __attribute__((noinline)) void wait_to_eject(struct fc_event_block *block, struct fc_event_channel *channel,
                                                    uint32_t l)
{
    channel->flags |= FC_EVENT_WAITS | FC_EVENT_ALL;
    struct fc_event_link *link = fc_event_link(block->engine, l);
    bool fresh = link->wanted == 0;
    link->wanted |= 1ull << channel->bit;
    if (fresh) arm(block, l);
}

FC_EVENT_INLINE void stop_hops(struct fc_event_block *block, struct fc_event_shape s,
                               const struct fc_event_channel *channel, const uint32_t *row, uint64_t route)
{
    const struct fc_event_engine *e = block->engine;
    uint64_t others = ~(1ull << channel->bit), minus = route >> e->adaptive.minus;
    for (uint32_t d = 0; d < s.n_dims; d++) {
        uint32_t p = 2 * d + (uint32_t)(minus >> d & 1);
        uint64_t *escape = fc_event_escape_wanted(e, s, channel->router, p);
        fc_event_lane_at(e, s, row[FC_ROUTE_PORTS + p])->link.wanted &= others;
        escape[0] &= others;
        escape[1] &= others;
    }
}

void fc_event_torus_stop(struct fc_event_block *block, uint32_t c)
{
    struct fc_event_engine *e = block->engine;
    const struct fc_event_channel *channel = &e->channel[c];
    const struct fc_event_packet *packet = &block->packet[channel->head];
    const uint32_t *row = fc_event_torus_row(e, channel->router);
    if (fc_event_torus_arrived(e, packet->route))
        fc_event_link(e, fc_event_torus_ejection(e, row, channel->router, packet->dst))->wanted &=
            ~(1ull << channel->bit);
    else
        stop_hops(block, fc_event_shape_of(e), channel, row, packet->route);
}

/* No adaptive channel has room: the head takes the escape, or waits. */
static __attribute__((noinline)) bool escape_or_wait(struct fc_event_block *block, struct fc_event_channel *channel,
                                                     const uint32_t *row, uint64_t route, struct fc_event_hop *hop)
{
    const struct fc_event_engine *e = block->engine;
    struct fc_flit_choice escape = {0};
    if (e->flit->n_escape_vcs) {
        escape = escape_of(e, channel, row, route);
        if (fc_event_link(e, escape.link)->busy_until <= block->wheel.now && escape_fits(block, &escape, hop))
            return true;
    }
    wait(block, channel, row, route, &escape);
    return false;
}

/* ---- heads ------------------------------------------------------------ */

/* As fc_event_torus_pick, of a head with hops left whose port has a path free. */
FC_EVENT_INLINE bool pick_hop(struct fc_event_block *block, struct fc_event_shape s, struct fc_event_channel *channel,
                              uint64_t route, uint64_t random, struct fc_event_hop *hop)
{
    struct fc_event_engine *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const uint32_t *row = fc_event_torus_row(e, channel->router);
    uint64_t best = best_of(block, s, channel->router, route, row, random);
    if (best) {
        uint32_t p = port_of(best);
        *hop = (struct fc_event_hop){fc_route_adaptive_after(f, row[FC_ROUTE_WRAPS], route, p), row[FC_ROUTE_PORTS + p],
                                     (uint8_t)vc_of(best), 0};
        return true;
    }
    return escape_or_wait(block, channel, row, route, hop);
}

/* The same of one that has arrived. */
FC_EVENT_INLINE bool pick_ejection(struct fc_event_block *block, struct fc_event_channel *channel,
                                   const struct fc_event_packet *packet, struct fc_event_hop *hop)
{
    const struct fc_event_engine *e = block->engine;
    const uint32_t *row = fc_event_torus_row(e, channel->router);
    uint32_t l = fc_event_torus_ejection(e, row, channel->router, packet->dst);
    *hop = (struct fc_event_hop){.route = packet->route, .link = l};
    if (fc_event_link(e, l)->busy_until <= block->wheel.now) return true;
    if (!(channel->flags & FC_EVENT_WAITS)) wait_to_eject(block, channel, l);
    return false;
}

FC_EVENT_INLINE bool path_free(const struct fc_event_engine *e, struct fc_event_shape s, uint32_t in_link, uint64_t now,
                               uint64_t *until)
{
    if (s.paths != 2) return fc_event_path_free(e, in_link, FC_EVENT_BETWEEN, now, until);
    const uint64_t *end = &e->path_end[(size_t)in_link * 2];
    *until = end[1] < end[0] ? end[1] : end[0];
    return (*until <= now) | (in_link >= e->first_unlimited); /* a branch would be a random one */
}

bool fc_event_torus_pick(struct fc_event_block *block, uint32_t c, uint64_t random, struct fc_event_hop *hop)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    const struct fc_event_packet *packet = &block->packet[channel->head];
    uint64_t until;
    bool arrived = fc_event_torus_arrived(e, packet->route);
    if (!fc_event_path_free(e, channel->link, arrived ? FC_EVENT_EJECTION : FC_EVENT_BETWEEN, block->wheel.now,
                            &until)) {
        fc_event_head_due(block, c, until);
        return false;
    }
    if (arrived) return pick_ejection(block, channel, packet, hop);
    return e->is_usual ? pick_hop(block, FC_EVENT_USUAL, channel, packet->route, random, hop)
                       : pick_hop(block, fc_event_shape_of(e), channel, packet->route, random, hop);
}

static __attribute__((noinline)) void eject_alone(struct fc_event_block *block, uint32_t c)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    struct fc_event_hop hop;
    uint64_t until = e->eject_end[channel->link];
    if (until > block->wheel.now) {
        fc_event_head_due(block, c, until);
    } else if (pick_ejection(block, channel, &block->packet[channel->head], &hop)) {
        if (channel->flags & FC_EVENT_WAITS) fc_event_torus_stop(block, c);
        fc_event_torus_eject(block, c, hop.link);
    }
}

FC_EVENT_INLINE void move_alone(struct fc_event_block *block, struct fc_event_shape s, uint32_t c)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    uint64_t route = block->packet[channel->head].route, until;
    struct fc_event_hop hop;
    if (fc_event_torus_arrived(e, route)) {
        eject_alone(block, c);
        return;
    }
    if (!path_free(e, s, channel->link, block->wheel.now, &until)) {
        fc_event_head_due(block, c, until);
        return;
    }
    uint64_t random = fc_event_random(block, channel->router, 0) + (channel->bit + 1u) * FC_EVENT_SALT_PICK;
    if (!pick_hop(block, s, channel, route, random, &hop)) return;
    bool waited = channel->flags & FC_EVENT_WAITS;
    if (__builtin_expect(waited, 0)) fc_event_torus_stop(block, c);
    fc_event_move(block, s, c, hop, waited);
}

static __attribute__((noinline)) void usual_alone(struct fc_event_block *block, uint32_t c)
{
    move_alone(block, FC_EVENT_USUAL, c);
}
static __attribute__((noinline)) void other_alone(struct fc_event_block *block, uint32_t c)
{
    move_alone(block, fc_event_shape_of(block->engine), c);
}

void fc_event_torus_alone(struct fc_event_block *block, uint32_t c)
{
    if (block->engine->is_usual)
        usual_alone(block, c);
    else
        other_alone(block, c);
}

/* ---- links ------------------------------------------------------------ */

FC_EVENT_INLINE uint64_t candidates(struct fc_event_block *block, struct fc_event_shape s, union fc_event_lane *lane,
                                    uint32_t l, uint64_t random, struct fc_event_hop *hop)
{
    struct fc_event_engine *e = block->engine;
    uint32_t first = s.n_vcs - s.n_free;
    uint64_t best = 0, mask = 0;
    random += (l + 1) * FC_EVENT_SALT_PICK;
    *hop = (struct fc_event_hop){.link = l, .vc = FC_EVENT_NO_VC};
    if (lane->link.busy_until > block->wheel.now) return 0;
    if (lane->link.kind == FC_EVENT_EJECTION) return lane->link.wanted;
    for (uint32_t i = 0; i < s.n_free; i++)
        best = greater(best, weigh(e->worth, block, fc_event_tokens_at(lane, s, first + i), first + i,
                                   (uint32_t)(random >> 11 * (i & 3)) & 0xffffu));
    if (best >= HAS_ROOM) {
        hop->vc = (uint8_t)vc_of(best);
        return lane->link.wanted;
    }
    const uint64_t *wanted = fc_event_escape_wanted(e, s, lane->link.source, lane->link.port);
    for (uint32_t k = 0; k < 2 && first; k++) {
        const struct fc_event_tokens *t = fc_event_tokens_at(lane, s, e->escape_vc[k]);
        bool room = wanted[k] && fc_event_room(block, t) >= (int32_t)e->escape_need[k];
        mask |= wanted[k] & -(uint64_t)room;
    }
    return mask;
}

uint64_t fc_event_torus_candidates(struct fc_event_block *block, uint32_t l, uint64_t random, struct fc_event_hop *hop)
{
    union fc_event_lane *lane = fc_event_lane_of(block->engine, l);
    return block->engine->is_usual ? candidates(block, FC_EVENT_USUAL, lane, l, random, hop)
                                   : candidates(block, fc_event_shape_of(block->engine), lane, l, random, hop);
}

/* The waiting head of channel c takes the escape on the link, or cannot. */
static __attribute__((noinline)) bool take_escape(struct fc_event_block *block, uint32_t c, uint32_t l)
{
    const struct fc_event_engine *e = block->engine;
    const struct fc_event_channel *channel = &e->channel[c];
    struct fc_event_hop hop;
    struct fc_flit_choice escape =
        escape_of(e, channel, fc_event_torus_row(e, channel->router), block->packet[channel->head].route);
    if (escape.link != l || !escape_fits(block, &escape, &hop)) return false;
    fc_event_torus_stop(block, c);
    fc_event_torus_send(block, c, hop, true);
    return true;
}

FC_EVENT_INLINE bool take(struct fc_event_block *block, struct fc_event_shape s, union fc_event_lane *lane, uint32_t c,
                          struct fc_event_hop hop)
{
    struct fc_event_engine *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const struct fc_event_channel *channel = &e->channel[c];
    uint64_t route = block->packet[channel->head].route;
    if (fc_event_torus_arrived(e, route)) {
        lane->link.wanted &= ~(1ull << channel->bit);
        fc_event_torus_eject(block, c, hop.link);
        return true;
    }
    if (hop.vc == FC_EVENT_NO_VC) return take_escape(block, c, hop.link);
    const uint32_t *row = fc_event_torus_row(e, channel->router);
    stop_hops(block, s, channel, row, route);
    hop.route = fc_route_adaptive_after(f, row[FC_ROUTE_WRAPS], route, lane->link.port);
    fc_event_move(block, s, c, hop, true);
    return true;
}

bool fc_event_torus_take(struct fc_event_block *block, uint32_t c, struct fc_event_hop hop)
{
    union fc_event_lane *lane = fc_event_lane_of(block->engine, hop.link);
    return block->engine->is_usual ? take(block, FC_EVENT_USUAL, lane, c, hop)
                                   : take(block, fc_event_shape_of(block->engine), lane, c, hop);
}

FC_EVENT_INLINE void serve(struct fc_event_block *block, struct fc_event_shape s, uint32_t router, uint32_t l)
{
    struct fc_event_engine *e = block->engine;
    union fc_event_lane *lane = fc_event_lane_at(e, s, l);
    struct fc_event_hop hop;
    uint64_t random = fc_event_random(block, router, 0), until;
    uint64_t mask = candidates(block, s, lane, l, random, &hop);
    while (mask) {
        uint64_t rivals = mask;
        uint32_t bit = (uint32_t)__builtin_ctzll(mask);
        if (mask & (mask - 1))
            bit = fc_event_elect(block, router, &rivals, lane->link.turn,
                                 fc_event_spread(random + (l + 1) * FC_EVENT_SALT_ELECT));
        uint32_t c = e->head_channel[e->head_first[router] + bit];
        mask &= ~(1ull << bit);
        if (!fc_event_path_free(e, e->channel[c].link, lane->link.kind, block->wheel.now, &until))
            fc_event_head_due(block, c, until);
        else if (take(block, s, lane, c, hop))
            return;
    }
    if (lane->link.wanted) fc_event_torus_rearm(block, l);
}

static __attribute__((noinline)) void usual_serve(struct fc_event_block *block, uint32_t router, uint32_t l)
{
    serve(block, FC_EVENT_USUAL, router, l);
}
static __attribute__((noinline)) void other_serve(struct fc_event_block *block, uint32_t router, uint32_t l)
{
    serve(block, fc_event_shape_of(block->engine), router, l);
}

void fc_event_torus_serve(struct fc_event_block *block, uint32_t router, uint32_t l)
{
    if (block->engine->is_usual)
        usual_serve(block, router, l);
    else
        other_serve(block, router, l);
}
