/* event_wait.c - tokens on their way back, and the heads that wait for them or for a link: the wake lists.
 *
 * Tokens. The room that a packet frees comes back flit by flit: a ramp in time, kept as such and evaluated
 * when somebody asks. Waiting heads are bits in sets, one for each link and each kind of need that heads have
 * of it. Invariant: when a link has waiters, its `wake` is not later than the first tick, as far as ramps
 * under way tell, at which it could serve one of them. A wake-up too early changes nothing. Hence a head that
 * waits is looked at only when it may move, and results do not depend on when the tokens of other threads
 * became known. */
#include "solvers/flit/event.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/event_tokens.h"
#include "solvers/flit/event_wait.h"
#include "solvers/flit/route_ops.h"

/* ---- tokens ------------------------------------------------------------ */

void fc_event_next_ramp(struct fc_event_block *block, struct fc_event_tokens *t)
{
    t->count += t->ramp.flits + t->ramp.extra;
    t->last = (uint32_t)t->ramp.last;
    t->ramp = (struct fc_event_ramp){.step = 1};
    if (t->more == 0) return;
    struct fc_event_more *last = &block->more[t->more];
    uint32_t i = last->next;
    struct fc_event_more *front = &block->more[i];
    t->ramp = front->ramp;
    t->per_step = fc_event_per_step(block->engine, front->ramp.step);
    if (i == t->more)
        t->more = 0;
    else
        last->next = front->next;
    front->next = block->free_more;
    block->free_more = i;
}

int32_t fc_event_count_many(const struct fc_event_block *block, const struct fc_event_tokens *t, uint64_t now)
{
    int32_t count = t->count;
    const struct fc_event_ramp *r = &t->ramp;
    for (uint32_t at = 0; r->flits; r = &block->more[at].ramp) {
        if (now < r->last) {
            uint64_t left = r->last - now;
            if (left <= (uint64_t)(r->flits - 1u) * r->step)
                count += r->flits - (int32_t)(((uint32_t)left + r->step - 1) / r->step);
            break;
        }
        count += r->flits + r->extra;
        if (at == t->more) break;
        at = block->more[at ? at : t->more].next;
    }
    return count;
}

uint64_t fc_event_token_tick(const struct fc_event_block *block, const struct fc_event_tokens *t, uint32_t need)
{
    int32_t lack = (int32_t)need - t->count;
    if (lack <= 0) return 0;
    const struct fc_event_ramp *r = &t->ramp;
    uint64_t now = block->wheel.now;
    for (uint32_t at = 0; r->flits; r = &block->more[at].ramp) {
        if (lack <= r->flits + r->extra) {
            uint64_t tick = lack < r->flits ? r->last - (uint64_t)(r->flits - lack) * r->step : r->last;
            return tick <= now ? 0 : tick;
        }
        lack -= r->flits + r->extra;
        if (at == t->more) break;
        at = block->more[at ? at : t->more].next;
    }
    return FC_EVENT_NEVER;
}

void fc_event_add_behind(struct fc_event_block *block, struct fc_event_tokens *t, const struct fc_event_ramp *ramp)
{
    uint32_t i = block->free_more;
    if (i) {
        block->free_more = block->more[i].next;
    } else {
        void *pool = block->more;
        if (!fc_event_grow(&pool, &block->more_capacity, block->n_more, sizeof *block->more)) {
            block->out_of_memory = true;
            return;
        }
        block->more = pool;
        i = block->n_more++;
    }
    struct fc_event_more *fresh = &block->more[i];
    fresh->ramp = *ramp;
    if (t->more) {
        fresh->next = block->more[t->more].next;
        block->more[t->more].next = i;
    } else {
        fresh->next = i;
    }
    t->more = i;
}

/* Channels and room that the heads of a request group wait for. */
static inline struct fc_event_request_group request_group(const struct fc_event_block *block, uint32_t number)
{
    if (number < FC_EVENT_GROUPS) return block->group[number];
    number -= FC_EVENT_GROUPS;
    return (struct fc_event_request_group){(uint16_t)(1u << number / 2), number & 1};
}

void fc_event_wake_for_tokens(struct fc_event_block *block, uint32_t l, uint32_t vc, const struct fc_event_ramp *ramp)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_link *link = fc_event_link(e, l);
    const struct fc_event_tokens *t = fc_event_tokens_of(e, l, vc);
    uint64_t now = block->wheel.now;
    if (link->kind == FC_EVENT_INJECTION) {
        struct fc_event_node *node = &e->node[link->source - e->flit->n_routers];
        uint64_t tick = fc_event_token_tick(block, t, e->full);
        if (tick < now) tick = now;
        if (tick >= node->when) return;
        node->when = tick;
        fc_event_push(&block->wheel, tick, FC_EVENT_NODE, link->source - e->flit->n_routers);
        return;
    }
    uint64_t first = ramp->last - (ramp->flits - 1u) * (uint64_t)ramp->step;
    for (uint64_t left = link->wanted; left; left &= left - 1) {
        struct fc_event_request_group g = request_group(block, (uint32_t)__builtin_ctzll(left));
        if (!(g.vcs >> vc & 1)) continue;
        uint64_t tick = fc_event_token_tick(block, t, (g.k + 1u) * e->full);
        if (tick == 0 && first > now) continue; /* had them before: its heads wait for something else */
        if (tick < now) tick = now;
        if (tick != FC_EVENT_NEVER) fc_event_wake_at(block, l, link, tick > link->busy_until ? tick : link->busy_until);
    }
}

/* ---- heads ------------------------------------------------------------ */

void fc_event_rearm(struct fc_event_block *block, uint32_t l)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_link *link = fc_event_link(e, l);
    uint64_t first = FC_EVENT_NEVER;
    if (link->wanted == 0) return;
    if (link->busy_until > block->wheel.now) {
        fc_event_wake_at(block, l, link, link->busy_until);
        return;
    }
    if (link->kind == FC_EVENT_EJECTION) return;
    for (uint64_t left = link->wanted; left; left &= left - 1) {
        struct fc_event_request_group g = request_group(block, (uint32_t)__builtin_ctzll(left));
        for (uint32_t vcs = g.vcs; vcs; vcs &= vcs - 1) {
            const struct fc_event_tokens *t = fc_event_tokens_of(e, l, (uint32_t)__builtin_ctz(vcs));
            uint64_t tick = fc_event_token_tick(block, t, (g.k + 1u) * e->full);
            if (tick && tick < first) first = tick;
        }
    }
    if (first != FC_EVENT_NEVER) fc_event_wake_at(block, l, link, first);
}

/* Registers the head on one choice. */
static void wait_on(struct fc_event_block *block, uint32_t bit, const struct fc_flit_choice *choice)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_link *link = fc_event_link(e, choice->link);
    uint32_t k = choice->room_packets > 1, vcs = choice->vcs;
    if (link->kind == FC_EVENT_EJECTION) vcs &= -vcs;
    uint64_t groups = fc_event_request_groups(block, vcs, k), first = FC_EVENT_NEVER, before = link->wanted;
    link->wanted |= groups;
    for (uint64_t left = groups; left; left &= left - 1)
        fc_event_waiting(e, choice->link, (uint32_t)__builtin_ctzll(left))[bit / 64] |= 1ull << bit % 64;
    if ((before & groups) == groups) return; /* who waits for the same has seen to the wake-up */
    if (link->busy_until > block->wheel.now) {
        fc_event_wake_at(block, choice->link, link, link->busy_until);
        return;
    }
    if (link->kind == FC_EVENT_EJECTION) return;
    for (; vcs; vcs &= vcs - 1) {
        const struct fc_event_tokens *t = fc_event_tokens_of(e, choice->link, (uint32_t)__builtin_ctz(vcs));
        uint64_t tick = fc_event_token_tick(block, t, (k + 1) * e->full);
        if (tick && tick < first) first = tick;
    }
    if (first != FC_EVENT_NEVER) fc_event_wake_at(block, choice->link, link, first);
}

void fc_event_wait(struct fc_event_block *block, uint32_t c, const struct fc_flit_choice *choice, int n)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    const struct fc_event_packet *packet = &block->packet[channel->head];
    uint64_t now = block->wheel.now, again = FC_EVENT_NEVER;
    if (channel->flags & FC_EVENT_ALL) return;
    for (int i = 0; i < n; i++) {
        uint64_t tick = fc_event_may_start(e, packet, fc_event_link(e, choice[i].link));
        if (tick > now) {
            if (tick < again) again = tick;
            continue;
        }
        channel->flags |= FC_EVENT_WAITS;
        wait_on(block, channel->bit, &choice[i]);
    }
    if (again != FC_EVENT_NEVER)
        fc_event_head_due(block, c, again);
    else
        channel->flags |= FC_EVENT_ALL;
}

void fc_event_stop_waiting(struct fc_event_block *block, uint32_t bit, const struct fc_flit_choice *choice, int n)
{
    struct fc_event_engine *e = block->engine;
    for (int i = 0; i < n; i++) {
        struct fc_event_link *link = fc_event_link(e, choice[i].link);
        uint32_t vcs = choice[i].vcs;
        if (link->kind == FC_EVENT_EJECTION) vcs &= -vcs;
        uint64_t groups = fc_event_request_groups(block, vcs, choice[i].room_packets > 1);
        for (uint64_t left = groups; left; left &= left - 1) {
            uint64_t *mask = fc_event_waiting(e, choice[i].link, (uint32_t)__builtin_ctzll(left)), any = 0;
            mask[bit / 64] &= ~(1ull << bit % 64);
            for (int w = 0; w < e->words; w++) any |= mask[w];
            if (!any) link->wanted &= ~(left & -left);
        }
    }
}

bool fc_event_eligible(struct fc_event_block *block, uint32_t l, uint64_t *mask)
{
    struct fc_event_engine *e = block->engine;
    const struct fc_event_link *link = fc_event_link(e, l);
    uint64_t now = block->wheel.now, found = 0;
    fc_event_clear(e, mask);
    if (link->busy_until > now) return false;
    for (uint64_t left = link->wanted; left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(left);
        struct fc_event_request_group g = request_group(block, number);
        bool room = link->kind == FC_EVENT_EJECTION;
        for (uint32_t vcs = g.vcs; vcs && !room; vcs &= vcs - 1) {
            const struct fc_event_tokens *t = fc_event_tokens_of(e, l, (uint32_t)__builtin_ctz(vcs));
            room = fc_event_count(block, t, now) >= (int32_t)((g.k + 1u) * e->full);
        }
        if (!room) continue;
        const uint64_t *waiting = fc_event_waiting(e, l, number);
        for (int w = 0; w < e->words; w++) found |= mask[w] |= waiting[w];
    }
    return found;
}
