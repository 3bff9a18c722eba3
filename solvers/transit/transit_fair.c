/* transit_fair.c - max-min fair rates of flows that come and go: water filling of what changes, in one pass.
 *
 * The max-min fair rates are the only ones under which every flow has a bottleneck: a full link on which no
 * other flow has a greater rate (Bertsekas & Gallager, Data Networks, 2nd ed. 1992, section 6.5.2; with
 * shares w_fl of a flow's rate on link l as in tests/maxmin.c). So rates that have this property need no other
 * proof:
 *
 * A flow that goes changes nobody when no flow has its bottleneck on a link that it leaves.
 *
 * A flow that comes gets r = min over its links of what is left there / w, if r > 0 and no flow on that link
 * is faster: it has its bottleneck there, and full links stay as they were. Nobody else changes.
 *
 * Else rates are filled from low to high as in tests/maxmin.c, but a flow keeps the rate it had until the level is
 * there or it is in the way. A flow is active (its rate is sought, at least the level) or has a rate r: one
 * that was decided in this solve, or the old one, to be kept if possible. A link fills at the level x,
 *
 *     sum over active flows w x + sum over the others w min(r, x) = capacity:
 *
 * there the active get x and the others that were faster are slowed down to it, and all of them have their
 * bottleneck. Where flows are bound to a link by an old rate L, it must still be full at L; if not (x > L),
 * they become active at L, but for those that another link binds at L too. The least x or L of all links that
 * something happened on is next. Keys may lag behind, since an x never falls below the level.
 *
 * Why this is exact: what happens at a level touches nothing that was decided below. A flow that becomes active
 * or is slowed down had a rate of at least the level, so it crosses no link that has filled below that; what
 * it frees or takes concerns links that fill later, and flows bound there are not slower than it was. So a
 * flow is decided at most once a solve, and in the end each has a bottleneck: the link at which it was
 * decided, or its old one, looked at again if anything there had changed. Rates equal those of fc_maxmin to
 * 1e-9; the tests hold them against it at every event. Nothing is allocated once the arrays have grown.
 *
 * Regions are small, so what costs time is not arithmetic but branches that a processor guesses wrong: whether a link is at
 * hand already, whether a flow shares it, whether its last active flow is decided. There are none on these; a flow whose rate
 * is sought has the pace INFINITY, so that one comparison tells who shares a link.
 *
 * Where links lose to flows that mix (transit_fair_mix.c), or to packets behind others (transit_heads.c), a link's capacity depends on who is on it, not on rates: it
 * is found before a solve and fixed while that lasts. A link whose capacity has changed is one that something happened
 * on if flows are bound to it, or if its flows now have more than it: then it fills lower, or is released, as above. */
#include "solvers/transit/transit_fair.h"
#include "solvers/transit/transit_internal.h"
#include "solvers/transit/transit_lanes.h"

#include <stdlib.h>

#define CLOSE 1e-10 /* rates and capacities that differ by less are equal */
#define SURELY 1e-9 /* sums kept by subtraction are nearer */
enum { LEAST_KEYS = 16 };

_Static_assert(sizeof(struct fc_fair_link) == 64, "a link is one cache line");

#define RESERVE(f, array, capacity, need)                                                                              \
    fc_transit_reserve((void **)&(f)->array, &(f)->capacity, need, sizeof *(f)->array, (f)->st)

enum fc_code fc_fair_open(struct fc_fair *f, uint32_t n_links, const struct fc_fair_links *links, struct fc_status *st)
{
    *f = (struct fc_fair){.st = st, .n_links = n_links, .of = *links};
    f->memory = calloc((size_t)n_links + 2, sizeof *f->link);
    f->loose = malloc(((size_t)n_links + 1) * sizeof *f->loose);
    f->at_hand = malloc(((size_t)n_links + 1) * sizeof *f->at_hand);
    f->opened = calloc((size_t)n_links + 1, sizeof *f->opened);
    f->looked = calloc((size_t)n_links + 1, sizeof *f->looked);
    if (!f->memory || !f->loose || !f->at_hand || !f->opened || !f->looked)
        return fc_out_of_memory(st, "%u links", n_links);
    uintptr_t line = sizeof *f->link, at = ((uintptr_t)f->memory + line - 1) / line * line;
    f->link = (struct fc_fair_link *)at;
    for (size_t k = 0; k < FC_COUNT(f->free_on); k++) f->free_on[k] = FC_NONE;
    f->free_flow = FC_NONE;
    return FC_OK;
}

/* Keys for so many links; nobody has one now. */
static bool widen_keys(struct fc_fair *f, uint32_t n)
{
    uint32_t room = n < f->n_links / 2 ? 2 * n : f->n_links;
    if (n <= f->keys_capacity) return true;
    if (room < LEAST_KEYS) room = LEAST_KEYS;
    free(f->keys);
    f->keys_capacity = 0;
    f->keys = malloc(fc_lows_room(room) * sizeof *f->keys);
    if (!f->keys) return !fc_out_of_memory(f->st, "%u links", room);
    f->keys_capacity = room;
    fc_lows_on(&f->lows, f->keys, room);
    return true;
}

bool fc_fair_make_ready(struct fc_fair *f, uint32_t link)
{
    struct fc_fair_link *l = &f->link[link];
    if (fc_fair_is_ready(l)) return true;
    if (!widen_keys(f, f->n_ready + 1)) return false;
    f->n_ready++;
    f->opened[link] = f->of.capacity(f->of.of, link);
    *l = (struct fc_fair_link){.capacity = f->opened[link], .level = INFINITY, .place = FC_NONE, .in_order = true};
    if (f->mix) f->mix[link].alone = f->of.mixes(f->of.of, link) ? l->capacity : 0;
    return true;
}

void fc_fair_close(struct fc_fair *f)
{
    free(f->memory);
    free(f->flow);
    free(f->pace);
    free(f->entry);
    free(f->on);
    free(f->free_entries);
    free(f->came);
    free(f->changed);
    free(f->sharing);
    free(f->loose);
    free(f->at_hand);
    free(f->keys);
    free(f->sums);
    free(f->mix);
    free(f->stirred);
    free(f->met);
    free(f->own);
    free(f->opened);
    free(f->looked);
    free(f->given);
    memset(f, 0, sizeof *f);
}

/* ---- flows come and go ---- */

/* A block of n entries. FC_NONE: no memory. */
static uint32_t take_entries(struct fc_fair *f, uint32_t n)
{
    while (f->longest <= n) {
        if (!RESERVE(f, free_entries, free_capacity, f->longest + 1ull)) return FC_NONE;
        f->free_entries[f->longest++] = FC_NONE;
    }
    uint32_t first = f->free_entries[n];
    if (first != FC_NONE) {
        f->free_entries[n] = f->entry[first].link;
        return first;
    }
    if (!RESERVE(f, entry, entry_capacity, f->n_entries + n)) return FC_NONE;
    first = (uint32_t)f->n_entries;
    f->n_entries += n;
    return first;
}

/* Twice the room for flows on the link, which is made ready for its first. */
static bool widen(struct fc_fair *f, uint32_t link)
{
    struct fc_fair_link *l = &f->link[link];
    if (!fc_fair_make_ready(f, link)) return false;
    uint32_t k = l->room ? l->room + 1 : 2, room = UINT32_C(1) << k, first = f->free_on[k];
    if (first != FC_NONE) {
        f->free_on[k] = f->on[first].flow;
    } else {
        if (!RESERVE(f, on, on_capacity, f->n_on + room)) return false;
        first = (uint32_t)f->n_on;
        f->n_on += room;
    }
    if (l->room) {
        memcpy(f->on + first, f->on + l->first, l->n_flows * sizeof *f->on);
        f->on[l->first].flow = f->free_on[l->room];
        f->free_on[l->room] = l->first;
    }
    l->first = first;
    l->room = (uint8_t)k;
    return true;
}

static inline bool has_room(const struct fc_fair_link *l)
{
    return l->room != 0 && l->n_flows >> l->room == 0;
}

/* The link, which has room, is one of the flow's. */
static inline void enter(struct fc_fair *f, uint32_t flow, uint32_t entry, uint32_t link, double weight)
{
    struct fc_fair_link *l = &f->link[link];
    f->on[l->first + l->n_flows] = (struct fc_fair_on){weight, flow, entry};
    f->entry[entry] = (struct fc_fair_entry){weight, link, l->n_flows++};
    l->weight += weight;
}

uint32_t fc_fair_add(struct fc_fair *f, uint32_t n, const uint32_t *link, const double *weight, double share,
                     double claim, const struct fc_fair_more *more, uint32_t n_more, double blocks, uint32_t end)
{
    uint32_t all = n + n_more;
    if (!RESERVE(f, came, came_capacity, f->n_came + 1) ||
        !RESERVE(f, changed, changed_capacity, 2 * f->n_living + 2) ||
        !RESERVE(f, sharing, sharing_capacity, f->n_living + 2) || !RESERVE(f, pace, pace_capacity, f->n_flows + 1) ||
        (f->free_flow == FC_NONE && !RESERVE(f, flow, flow_capacity, f->n_flows + 1)))
        return FC_NONE;
    for (uint32_t i = 0; i < n; i++)
        if (!has_room(&f->link[link[i]]) && !widen(f, link[i])) return FC_NONE;
    for (uint32_t i = 0; i < n_more; i++)
        if (!has_room(&f->link[more[i].link]) && !widen(f, more[i].link)) return FC_NONE;
    uint32_t first = take_entries(f, all), flow = f->free_flow;
    if (first == FC_NONE) return FC_NONE;
    if (flow != FC_NONE)
        f->free_flow = f->flow[flow].first;
    else
        flow = (uint32_t)f->n_flows++;
    f->flow[flow] = (struct fc_fair_flow){.first = first,
                                          .n = all,
                                          .bottleneck = FC_NONE,
                                          .place = (uint32_t)f->n_came,
                                          .state = FC_FAIR_LIVING | FC_FAIR_CAME,
                                          .blocks = (float)blocks,
                                          .end = end,
                                          .start = FC_NONE,
                                          .message = flow,
                                          .claim = claim,
                                          .way = FC_NONE};
    f->pace[flow] = 0;
    f->came[f->n_came++] = flow;
    f->n_living++;
    for (uint32_t i = 0; i < n; i++) enter(f, flow, first + i, link[i], share * claim * weight[i]);
    for (uint32_t i = 0; i < n_more; i++) enter(f, flow, first + n + i, more[i].link, share * claim * more[i].weight);
    if (f->mix) fc_fair_stir(f, flow);
    return flow;
}

void fc_fair_remove(struct fc_fair *f, uint32_t flow)
{
    struct fc_fair_flow *gone = &f->flow[flow];
    if (gone->bottleneck != FC_NONE) fc_fair_unbind(&f->link[gone->bottleneck]);
    for (uint32_t i = gone->first; i < gone->first + gone->n; i++) {
        const struct fc_fair_entry *e = &f->entry[i];
        struct fc_fair_link *l = &f->link[e->link];
        struct fc_fair_on *last = &f->on[l->first + --l->n_flows];
        f->entry[last->entry].place = e->place;
        f->on[l->first + e->place] = *last;
        l->weight -= e->weight;
        l->used -= e->weight * gone->rate;
        l->in_order = l->n_flows == 0;
        if (l->in_order) l->weight = l->used = 0; /* without what rounding has left */
        if (l->n_bound > 0 && !l->loose) {
            l->loose = true;
            f->loose[f->n_loose++] = e->link;
        }
    }
    if (f->mix) fc_fair_unstir(f, flow);
    if (gone->state & FC_FAIR_CAME) {
        uint32_t last = f->came[--f->n_came];
        f->came[gone->place] = last;
        f->flow[last].place = gone->place;
    }
    f->entry[gone->first].link = f->free_entries[gone->n];
    f->free_entries[gone->n] = gone->first;
    gone->state = 0;
    gone->first = f->free_flow;
    f->free_flow = flow;
    f->n_living--;
}

/* ---- a newcomer that disturbs nobody ---- */

static bool fits(struct fc_fair *f, uint32_t flow)
{
    struct fc_fair_flow *x = &f->flow[flow];
    double rate = INFINITY;
    uint32_t narrow = FC_NONE;
    for (uint32_t i = x->first; i < x->first + x->n; i++) {
        const struct fc_fair_link *l = &f->link[f->entry[i].link];
        double left = l->capacity - l->used;
        if (left < rate * f->entry[i].weight) {
            if (left <= CLOSE * l->capacity) return false;
            rate = left / f->entry[i].weight;
            narrow = f->entry[i].link;
        }
    }
    struct fc_fair_link *n = &f->link[narrow];
    for (uint32_t i = n->first; i < n->first + n->n_flows; i++)
        if (f->pace[f->on[i].flow] > rate * (1 + CLOSE)) return false;
    for (uint32_t i = x->first; i < x->first + x->n; i++) f->link[f->entry[i].link].used += f->entry[i].weight * rate;
    n->n_bound++;
    n->level = rate;
    x->bottleneck = narrow;
    x->rate = f->pace[flow] = rate;
    f->changed[f->n_changed++] = flow;
    return true;
}

/* ---- links at hand: l->used is what is left of the capacity ---- */

static inline double greater(double a, double b) /* fmax is a call into the library, this is not */
{
    return a > b ? a : b;
}
static inline double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* The links of one flow, one after the other: what a solve knows, where a processor has it at once. */
struct pass {
    struct fc_fair *f;
    struct fc_fair_link *link;
    double *key;
    uint32_t *at_hand, n;
    bool tree; /* of keys (transit_lows.h) */
};

static inline struct pass start_pass(struct fc_fair *f)
{
    return (struct pass){f, f->link, f->lows.key[0], f->at_hand, f->lows.n, f->lows.top > 0};
}

/* The link is at hand. Returns what is left there. No branch on whether it is for the first time. */
static inline fc_lane touch(struct pass *p, struct fc_fair_link *l, uint32_t link)
{
    uint32_t place = l->place, n = p->n;
    bool fresh = place >= n; /* FC_NONE, then */
    p->at_hand[n] = link;
    l->place = place < n ? place : n;
    p->n = n + fresh;
    return fc_lane_rest(fresh, fc_lane_load(&l->capacity), fc_lane_load(&l->used));
}

static inline void touch_alone(struct fc_fair *f, struct fc_fair_link *l, uint32_t link)
{
    struct pass p = start_pass(f);
    fc_lane_store(&l->used, touch(&p, l, link));
    f->lows.n = p.n;
}

static inline void set_key(const struct pass *p, uint32_t place, fc_lane key)
{
    if (p->tree)
        fc_lows_set(&p->f->lows, place, fc_lane_value(key));
    else
        fc_lane_store(&p->key[place], key);
}

static void leave_links(struct fc_fair *f)
{
    for (uint32_t i = 0; i < f->lows.n; i++) {
        struct fc_fair_link *l = &f->link[f->at_hand[i]];
        l->used = l->capacity - l->used;
        l->active = 0;
        l->n_active = 0;
        l->place = FC_NONE;
        l->full = false;
    }
    fc_lows_clear(&f->lows);
}

/* It is looked at no later than at this level. */
static inline void lower_key(struct fc_fair *f, const struct fc_fair_link *l, double key)
{
    fc_lows_set(&f->lows, l->place, lesser(key, f->lows.key[0][l->place]));
}

/* The rate of a flow is sought from now on. */
static inline void activate(struct fc_fair *f, uint32_t flow)
{
    struct fc_fair_flow *x = &f->flow[flow];
    struct pass p = start_pass(f);
    fc_lane rate = fc_lane_load(&x->rate);
    f->pace[flow] = INFINITY;
    for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end; e++) {
        struct fc_fair_link *l = &p.link[e->link];
        fc_lane weight = fc_lane_load(&e->weight), left = touch(&p, l, e->link);
        fc_lane active = fc_lane_add(fc_lane_load(&l->active), weight);
        left = fc_lane_add(left, fc_lane_mul(weight, rate));
        fc_lane_store(&l->used, left);
        fc_lane_store(&l->active, active);
        l->n_active++;
        fc_lane key = fc_lane_min(fc_lane_load(&l->level), fc_lane_div(left, active));
        set_key(&p, l->place, fc_lane_min(key, fc_lane_load(&p.key[l->place])));
    }
    f->lows.n = p.n;
}

/* A flow whose rate was sought gets the level: where it was the last of those, the link is looked at again if the others
 * exceed it (its key lags behind), or if those bound to it may rise. */
static inline void settle_active(struct fc_fair *f, const struct fc_fair_flow *x, double to)
{
    struct pass p = start_pass(f);
    fc_lane level = fc_lane_of(to), small = fc_lane_of(CLOSE), never = fc_lane_of(INFINITY), none = fc_lane_of(0);
    for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end; e++) {
        struct fc_fair_link *l = &p.link[e->link];
        fc_lane weight = fc_lane_load(&e->weight), close = fc_lane_mul(small, fc_lane_load(&l->capacity));
        fc_lane left = fc_lane_sub(fc_lane_load(&l->used), fc_lane_mul(weight, level));
        fc_lane_store(&l->used, left);
        fc_lane_store(&l->active, fc_lane_sub(fc_lane_load(&l->active), weight));
        uint32_t n = --l->n_active, place = l->place;
        fc_lane_mask stays = fc_lane_any(fc_lane_where(n > 0), fc_lane_greater(fc_lane_sub(none, close), left));
        fc_lane rests = fc_lane_choose(fc_lane_greater(left, close), fc_lane_load(&l->level), never);
        set_key(&p, place, fc_lane_choose(stays, fc_lane_load(&p.key[place]), rests));
    }
}
/* A flow slows down to the level. */
static inline void slow(struct fc_fair *f, const struct fc_fair_flow *x, double level)
{
    struct pass p = start_pass(f);
    fc_lane less = fc_lane_of(x->rate - level);
    for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end; e++) {
        struct fc_fair_link *l = &p.link[e->link];
        fc_lane left = touch(&p, l, e->link);
        fc_lane_store(&l->used, fc_lane_add(left, fc_lane_mul(fc_lane_load(&e->weight), less)));
        set_key(&p, l->place, fc_lane_min(fc_lane_load(&l->level), fc_lane_load(&p.key[l->place])));
    }
    f->lows.n = p.n;
}

/* ---- filling ---- */

/* The level at which the link fills, from sums made afresh: who shares it is in f->sharing. INFINITY: nobody does. Levels
 * rise from what it would be if all were sought, and those that are no faster drop out. */
static double fills_at(struct fc_fair *f, const struct fc_fair_link *l)
{
    double level = l->n_active > 0 ? greater(l->used / l->active, f->level) : f->level;
    const struct fc_fair_on *on = f->on + l->first, *end = on + l->n_flows;
    level = greater(level, (1 - SURELY) * l->capacity / l->weight);
    for (;;) {
        uint32_t sharing = 0;
        fc_lane bound = fc_lane_of(level * (1 + CLOSE)), never = fc_lane_of(INFINITY);
        fc_lane kept = fc_lane_of(0), weight = kept, least = never;
        for (const struct fc_fair_on *o = on; o < end; o++) {
            fc_lane pace = fc_lane_load(&f->pace[o->flow]), w = fc_lane_load(&o->weight);
            fc_lane_mask shares = fc_lane_greater(pace, bound);
            f->sharing[sharing] = o->flow;
            sharing += fc_lane_is(shares);
            weight = fc_lane_add(weight, fc_lane_inside(shares, w));
            kept = fc_lane_add(kept, fc_lane_outside(shares, fc_lane_mul(w, pace)));
            least = fc_lane_min(fc_lane_choose(shares, pace, never), least);
        }
        f->n_sharing = sharing;
        if (sharing == 0) return INFINITY;
        level = greater((l->capacity - fc_lane_value(kept)) / fc_lane_value(weight), f->level);
        if (fc_lane_value(least) > level * (1 + CLOSE)) return level;
    }
}

/* f->sharing get the level, and their bottleneck is the link. */
static void fill_link(struct fc_fair *f, struct fc_fair_link *l, uint32_t link, double level)
{
    double used = 0;
    for (size_t k = 0; k < f->n_sharing; k++) {
        uint32_t flow = f->sharing[k];
        struct fc_fair_flow *x = &f->flow[flow];
        if (k + FC_FAIR_AHEAD < f->n_sharing) fc_fair_call_in(f, f->sharing[k + FC_FAIR_AHEAD]);
        if (isinf(f->pace[flow]))
            settle_active(f, x, level);
        else
            slow(f, x, level);
        if (x->bottleneck != FC_NONE) fc_fair_unbind(&f->link[x->bottleneck]);
        x->bottleneck = link;
        l->n_bound++;
        if (fabs(level - x->rate) > 1e-13 * x->rate) {
            x->rate = level;
            f->changed[f->n_changed++] = flow;
        }
        f->pace[flow] = x->rate;
    }
    for (const struct fc_fair_on *o = f->on + l->first, *end = o + l->n_flows; o < end; o++)
        used += o->weight * f->pace[o->flow];
    l->used = l->capacity - used;
    l->active = 0;
    l->n_active = 0;
    l->level = level;
    l->full = true;
    fc_lows_set(&f->lows, l->place, INFINITY);
}

/* Another link that keeps the flow, which is bound to none, at its rate; FC_NONE: none does. */
static inline uint32_t kept_by(const struct fc_fair *f, const struct fc_fair_flow *x)
{
    uint32_t link = FC_NONE;
    double rate = x->rate * (1 + CLOSE);
    for (const struct fc_fair_entry *e = f->entry + x->first, *last = e + x->n; last-- > e;)
        link = f->link[last->link].level <= rate ? last->link : link;
    return link;
}

/* The link is no longer full: who is bound to it may be faster. */
static void release(struct fc_fair *f, struct fc_fair_link *l, uint32_t link)
{
    uint32_t n = 0;
    for (const struct fc_fair_on *o = f->on + l->first, *end = o + l->n_flows; o < end; o++) {
        f->sharing[n] = o->flow;
        n += f->flow[o->flow].bottleneck == link;
    }
    l->n_bound = 0;
    l->level = INFINITY;
    for (uint32_t k = 0; k < n; k++) {
        struct fc_fair_flow *x = &f->flow[f->sharing[k]];
        x->bottleneck = kept_by(f, x);
        if (x->bottleneck != FC_NONE)
            f->link[x->bottleneck].n_bound++;
        else
            activate(f, f->sharing[k]);
    }
}

static void fill(struct fc_fair *f)
{
    uint32_t place = 0;
    f->level = 0;
    for (;;) {
        double key = fc_lows_least(&f->lows, &place);
        if (isinf(key)) return;
        uint32_t link = f->at_hand[place];
        struct fc_fair_link *l = &f->link[link];
        double most = l->full ? INFINITY : l->level, now = INFINITY, close = CLOSE * l->capacity;
        f->level = greater(f->level, key);
        if (l->n_active == 0 && fabs(l->used) <= close) most = INFINITY;
        if (l->n_active > 0) now = l->used / l->active;
        if (l->n_active > 0 ? now <= most * (1 + CLOSE) : l->used < -close) now = fills_at(f, l);
        double next = lesser(now, most);
        if (next > key * (1 + 1e-12)) { /* it lagged behind */
            fc_lows_set(&f->lows, place, next);
        } else if (now > most * (1 + CLOSE)) {
            fc_lows_set(&f->lows, place, INFINITY);
            release(f, l, link);
            if (l->n_active > 0) lower_key(f, l, l->used / l->active);
        } else {
            fill_link(f, l, link, greater(next, f->level));
        }
    }
}

bool fc_fair_give(struct fc_fair *f, uint32_t link, double capacity)
{
    if (!fc_fair_make_ready(f, link) || !RESERVE(f, given, given_capacity, f->n_given + 1)) return false;
    f->given[f->n_given++] = (struct fc_fair_given){capacity, link};
    return true;
}

/* The link has this capacity from now on. */
static void settle(struct fc_fair *f, uint32_t link, double now)
{
    struct fc_fair_link *l = &f->link[link];
    double before = l->capacity;
    if (fabs(now - before) <= CLOSE * before) return;
    l->capacity = now;
    if (l->n_bound == 0 && l->used <= now * (1 + CLOSE)) return;
    touch_alone(f, l, link);
    lower_key(f, l, now > before ? l->level : 0);
}

/* The rates of f->came[n] are sought: when their links fill. Those that are full have a level for all at once. */
static void activate_newcomers(struct fc_fair *f, size_t n)
{
    struct pass p = start_pass(f);
    f->level = 0;
    for (size_t k = 0; k < n; k++) {
        const struct fc_fair_flow *x = &f->flow[f->came[k]];
        f->pace[f->came[k]] = INFINITY;
        for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end; e++) {
            struct fc_fair_link *l = &p.link[e->link];
            fc_lane_store(&l->used, touch(&p, l, e->link));
            l->active += e->weight;
            l->n_active++;
        }
    }
    f->lows.n = p.n;
    for (uint32_t i = 0; i < f->lows.n; i++) {
        const struct fc_fair_link *l = &f->link[f->at_hand[i]];
        if (l->n_active == 0) continue;
        double fills = l->used > CLOSE * l->capacity ? l->used / l->active : fills_at(f, l);
        lower_key(f, l, lesser(l->level, fills));
    }
}

enum fc_code fc_fair_solve(struct fc_fair *f)
{
    size_t stay = 0;
    f->n_changed = 0;
    for (size_t i = 0; i < f->n_stirred; i++) {
        f->mix[f->stirred[i]].stirred = false;
        settle(f, f->stirred[i], fc_fair_mixed(f, f->stirred[i]));
    }
    for (size_t i = 0; i < f->n_given; i++) settle(f, f->given[i].link, f->given[i].capacity);
    f->n_stirred = f->n_given = 0;
    for (size_t i = 0; i < f->n_loose; i++) {
        struct fc_fair_link *l = &f->link[f->loose[i]];
        l->loose = false;
        if (l->n_bound == 0) continue;
        touch_alone(f, l, f->loose[i]);
        lower_key(f, l, l->level);
    }
    f->n_loose = 0;
    bool only_newcomers = f->lows.n == 0;
    for (size_t k = 0; k < f->n_came; k++) {
        f->flow[f->came[k]].state = FC_FAIR_LIVING;
        if (!only_newcomers || !fits(f, f->came[k])) f->came[stay++] = f->came[k];
    }
    f->n_came = 0;
    if (stay > 0) activate_newcomers(f, stay);
    if (f->lows.n > 0) fill(f);
    leave_links(f);
    return FC_OK;
}
