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
 * Where links lose to flows that mix (transit_fair_mix.c), a link's capacity depends on who is on it, not on rates: it
 * is found before a solve and fixed while that lasts. A link whose capacity has changed is one that something happened
 * on if flows are bound to it, or if its flows now have more than it: then it fills lower, or is released, as above. */
#include "solvers/transit/transit_fair.h"
#include "solvers/transit/transit_internal.h"

#include <stdlib.h>

#define CLOSE 1e-10 /* rates and capacities that differ by less are equal */

_Static_assert(sizeof(struct fc_fair_link) == 64, "a link is one cache line");

#define RESERVE(f, array, capacity, need)                                                                              \
    fc_transit_reserve((void **)&(f)->array, &(f)->capacity, need, sizeof *(f)->array, (f)->st)

enum fc_code fc_fair_open(struct fc_fair *f, uint32_t n_links, const double *capacity, struct fc_status *st)
{
    *f = (struct fc_fair){.st = st, .n_links = n_links};
    f->link = aligned_alloc(64, ((size_t)n_links + 1) * sizeof *f->link);
    f->loose = malloc(((size_t)n_links + 1) * sizeof *f->loose);
    f->at_hand = malloc(((size_t)n_links + 1) * sizeof *f->at_hand);
    f->keys = malloc(fc_lows_room(n_links) * sizeof *f->keys);
    if (!f->link || !f->loose || !f->at_hand || !f->keys) return fc_out_of_memory(st, "%u links", n_links);
    for (uint32_t l = 0; l < n_links; l++)
        f->link[l] = (struct fc_fair_link){.capacity = capacity[l], .place = FC_NONE};
    for (size_t k = 0; k < FC_COUNT(f->free_on); k++) f->free_on[k] = FC_NONE;
    f->free_flow = FC_NONE;
    fc_lows_on(&f->lows, f->keys, n_links);
    fc_lows_clear(&f->lows);
    return FC_OK;
}

void fc_fair_close(struct fc_fair *f)
{
    free(f->link);
    free(f->flow);
    free(f->entry);
    free(f->on);
    free(f->free_entries);
    free(f->came);
    free(f->changed);
    free(f->loose);
    free(f->at_hand);
    free(f->keys);
    free(f->sums);
    free(f->mix);
    free(f->stirred);
    free(f->alike);
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

/* Twice the room for flows on the link. */
static bool widen(struct fc_fair *f, struct fc_fair_link *l)
{
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

/* Room to count flows of the way. */
static bool count_way(struct fc_fair *f, uint32_t way)
{
    size_t before = f->alike_capacity;
    if (!RESERVE(f, alike, alike_capacity, way + 1ull)) return false;
    for (size_t k = before; k < f->alike_capacity; k++) f->alike[k] = 0;
    return true;
}

uint32_t fc_fair_add(struct fc_fair *f, uint32_t n, const uint32_t *link, const double *weight, double share,
                     uint32_t whole, double blocks, uint32_t way)
{
    uint32_t all = n + (whole != FC_NONE);
    if (!RESERVE(f, came, came_capacity, f->n_came + 1) ||
        !RESERVE(f, changed, changed_capacity, 2 * f->n_living + 2) ||
        (f->free_flow == FC_NONE && !RESERVE(f, flow, flow_capacity, f->n_flows + 1)) ||
        (f->mix && way != FC_NONE && !count_way(f, way)))
        return FC_NONE;
    for (uint32_t i = 0; i < all; i++) {
        struct fc_fair_link *l = &f->link[i < n ? link[i] : whole];
        if ((l->room == 0 || l->n_flows >> l->room) && !widen(f, l)) return FC_NONE;
    }
    uint32_t first = take_entries(f, all), flow = f->free_flow;
    if (first == FC_NONE) return FC_NONE;
    if (flow != FC_NONE)
        f->free_flow = f->flow[flow].first;
    else
        flow = (uint32_t)f->n_flows++;
    f->flow[flow] = (struct fc_fair_flow){
        0, first, all, FC_NONE, (uint32_t)f->n_came, FC_FAIR_LIVING | FC_FAIR_CAME, (float)blocks, way};
    f->came[f->n_came++] = flow;
    f->n_living++;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t number = i < n ? link[i] : whole;
        double w = i < n ? share * weight[i] : share;
        struct fc_fair_link *l = &f->link[number];
        f->on[l->first + l->n_flows] = (struct fc_fair_on){w, flow, first + i};
        f->entry[first + i] = (struct fc_fair_entry){w, number, l->n_flows++};
    }
    if (f->mix) fc_fair_stir(f, flow, 1);
    return flow;
}

void fc_fair_remove(struct fc_fair *f, uint32_t flow)
{
    struct fc_fair_flow *gone = &f->flow[flow];
    if (gone->bottleneck != FC_NONE) f->link[gone->bottleneck].n_bound--;
    for (uint32_t i = gone->first; i < gone->first + gone->n; i++) {
        const struct fc_fair_entry *e = &f->entry[i];
        struct fc_fair_link *l = &f->link[e->link];
        struct fc_fair_on *last = &f->on[l->first + --l->n_flows];
        f->entry[last->entry].place = e->place;
        f->on[l->first + e->place] = *last;
        l->used -= e->weight * gone->rate;
        if (l->n_flows == 0) l->used = 0; /* without what rounding has left */
        if (l->n_bound > 0 && !l->loose) {
            l->loose = true;
            f->loose[f->n_loose++] = e->link;
        }
    }
    if (f->mix) fc_fair_stir(f, flow, -1);
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
        if (f->flow[f->on[i].flow].rate > rate * (1 + CLOSE)) return false;
    for (uint32_t i = x->first; i < x->first + x->n; i++) f->link[f->entry[i].link].used += f->entry[i].weight * rate;
    n->n_bound++;
    n->level = rate;
    x->bottleneck = narrow;
    x->rate = rate;
    f->changed[f->n_changed++] = flow;
    return true;
}

/* ---- filling ---- */

static inline double greater(double a, double b) /* fmax is a call into the library, this is not */
{
    return a > b ? a : b;
}

static inline void touch(struct fc_fair *f, uint32_t link)
{
    struct fc_fair_link *l = &f->link[link];
    if (l->place != FC_NONE) return;
    l->place = f->lows.n;
    f->at_hand[l->place] = link;
    fc_lows_add(&f->lows);
    l->spare = l->capacity - l->used;
    l->active = 0;
    l->n_active = 0;
    l->full = false;
}

/* It is looked at no later than at this level. */
static inline void lower_key(struct fc_fair *f, const struct fc_fair_link *l, double key)
{
    if (key < f->lows.key[0][l->place]) fc_lows_set(&f->lows, l->place, key);
}

static void activate(struct fc_fair *f, uint32_t flow)
{
    struct fc_fair_flow *x = &f->flow[flow];
    x->state |= FC_FAIR_ACTIVE;
    for (uint32_t i = x->first; i < x->first + x->n; i++) {
        const struct fc_fair_entry *e = &f->entry[i];
        struct fc_fair_link *l = &f->link[e->link];
        touch(f, e->link);
        l->spare += e->weight * x->rate;
        l->active += e->weight;
        l->n_active++;
        double key = l->spare / l->active;
        lower_key(f, l, l->n_bound > 0 && l->level < key ? l->level : key);
    }
}

/* All flows there have a rate: it is looked at again where they exceed it, or those bound to it may rise. */
static inline void rest(struct fc_fair *f, const struct fc_fair_link *l)
{
    double close = CLOSE * l->capacity;
    if (l->spare < -close) return; /* its key lags behind */
    fc_lows_set(&f->lows, l->place, l->n_bound > 0 && l->spare > close ? l->level : INFINITY);
}

/* The flow gets the level, and its bottleneck is the link, whose own sums are not kept up. */
static void decide(struct fc_fair *f, uint32_t flow, uint32_t link, double level)
{
    struct fc_fair_flow *x = &f->flow[flow];
    double old = x->rate;
    bool active = x->state & FC_FAIR_ACTIVE;
    for (uint32_t i = x->first; i < x->first + x->n; i++) {
        const struct fc_fair_entry *e = &f->entry[i];
        struct fc_fair_link *l = &f->link[e->link];
        if (e->link == link) continue;
        if (active) {
            l->spare -= e->weight * level;
            l->active -= e->weight;
            if (--l->n_active == 0) rest(f, l);
        } else {
            touch(f, e->link);
            l->spare += e->weight * (old - level);
            if (l->n_bound > 0) lower_key(f, l, l->level);
        }
    }
    if (x->bottleneck != FC_NONE) f->link[x->bottleneck].n_bound--;
    f->link[link].n_bound++;
    x->bottleneck = link;
    x->state = FC_FAIR_LIVING;
    if (fabs(level - old) <= 1e-13 * old) return;
    x->rate = level;
    f->changed[f->n_changed++] = flow;
}

/* The level at which the link fills, from sums made afresh. */
static double fills_at(const struct fc_fair *f, const struct fc_fair_link *l)
{
    double level = l->n_active > 0 ? greater(l->spare / l->active, f->level) : f->level;
    for (uint32_t before = l->n_active;;) {
        uint32_t sharing = 0;
        double kept = 0, weight = 0;
        for (uint32_t i = l->first; i < l->first + l->n_flows; i++) {
            const struct fc_fair_flow *x = &f->flow[f->on[i].flow];
            bool shares = (x->state & FC_FAIR_ACTIVE) || x->rate > level * (1 + CLOSE);
            sharing += shares;
            weight += shares ? f->on[i].weight : 0;
            kept += shares ? 0 : f->on[i].weight * x->rate;
        }
        if (sharing == 0) return INFINITY;
        level = greater((l->capacity - kept) / weight, f->level);
        if (sharing == before) return level;
        before = sharing;
    }
}

static void fill_link(struct fc_fair *f, uint32_t link, double level)
{
    struct fc_fair_link *l = &f->link[link];
    double used = 0;
    for (uint32_t i = l->first; i < l->first + l->n_flows; i++) {
        struct fc_fair_flow *x = &f->flow[f->on[i].flow];
        if ((x->state & FC_FAIR_ACTIVE) || x->rate > level * (1 + CLOSE)) decide(f, f->on[i].flow, link, level);
        used += f->on[i].weight * x->rate;
    }
    l->spare = l->capacity - used;
    l->n_active = 0;
    l->level = level;
    l->full = true;
}

/* Another link that keeps the flow, which is bound to none, at its rate. */
static bool bind_elsewhere(struct fc_fair *f, struct fc_fair_flow *x, uint32_t link)
{
    for (uint32_t i = x->first; i < x->first + x->n; i++) {
        uint32_t other = f->entry[i].link;
        struct fc_fair_link *l = &f->link[other];
        if (other == link || l->n_bound == 0 || l->level > x->rate * (1 + CLOSE)) continue;
        l->n_bound++;
        x->bottleneck = other;
        return true;
    }
    return false;
}

/* The link is no longer full: who is bound to it may be faster. */
static void release(struct fc_fair *f, uint32_t link)
{
    struct fc_fair_link *l = &f->link[link];
    l->n_bound = 0;
    for (uint32_t i = l->first; i < l->first + l->n_flows; i++) {
        struct fc_fair_flow *x = &f->flow[f->on[i].flow];
        if (x->bottleneck != link) continue;
        x->bottleneck = FC_NONE;
        if (!bind_elsewhere(f, x, link)) activate(f, f->on[i].flow);
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
        double most = l->n_bound > 0 && !l->full ? l->level : INFINITY, now = INFINITY;
        f->level = greater(f->level, key);
        if (l->n_active == 0 && fabs(l->spare) <= CLOSE * l->capacity) most = INFINITY;
        if (l->n_active > 0) now = l->spare / l->active;
        if (l->n_active > 0 ? now <= most * (1 + CLOSE) : l->spare < -CLOSE * l->capacity) now = fills_at(f, l);
        double next = now < most ? now : most;
        if (next > key * (1 + 1e-12)) { /* it lagged behind */
            fc_lows_set(&f->lows, place, next);
            continue;
        }
        fc_lows_set(&f->lows, place, INFINITY);
        if (isinf(next)) continue;
        if (now > most * (1 + CLOSE)) {
            release(f, link);
            if (l->n_active > 0) lower_key(f, l, l->spare / l->active);
        } else {
            fill_link(f, link, greater(next, f->level));
        }
    }
}

static void leave_links(struct fc_fair *f)
{
    for (uint32_t i = 0; i < f->lows.n; i++) {
        struct fc_fair_link *l = &f->link[f->at_hand[i]];
        l->used = l->capacity - l->spare;
        l->place = FC_NONE;
    }
    fc_lows_clear(&f->lows);
}

/* The link has the capacity for the flows that are there now. */
static void settle(struct fc_fair *f, uint32_t link)
{
    struct fc_fair_link *l = &f->link[link];
    double before = l->capacity, now = fc_fair_mixed(f, link);
    f->mix[link].stirred = false;
    if (fabs(now - before) <= CLOSE * before) return;
    l->capacity = now;
    if (l->n_bound == 0 && l->used <= now * (1 + CLOSE)) return;
    touch(f, link);
    lower_key(f, l, now > before ? l->level : 0);
}

enum fc_code fc_fair_solve(struct fc_fair *f)
{
    size_t stay = 0;
    f->n_changed = 0;
    for (size_t i = 0; i < f->n_stirred; i++) settle(f, f->stirred[i]);
    f->n_stirred = 0;
    for (size_t i = 0; i < f->n_loose; i++) {
        struct fc_fair_link *l = &f->link[f->loose[i]];
        l->loose = false;
        if (l->n_bound == 0) continue;
        touch(f, f->loose[i]);
        lower_key(f, l, l->level);
    }
    f->n_loose = 0;
    bool only_newcomers = f->lows.n == 0;
    for (size_t k = 0; k < f->n_came; k++) {
        f->flow[f->came[k]].state = FC_FAIR_LIVING;
        if (!only_newcomers || !fits(f, f->came[k])) f->came[stay++] = f->came[k];
    }
    for (size_t k = 0; k < stay; k++) activate(f, f->came[k]);
    f->n_came = 0;
    fill(f);
    leave_links(f);
    return FC_OK;
}
