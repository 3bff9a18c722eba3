/* search.c - routing-aware exchange of units between slots, by simulated annealing on a norm of the link
 * times.
 *
 * Minimises E = ln( sum over links t^p ) / p + w ln( sum over links t ), t = load / bandwidth. The first term
 * lies within ln(n_links) / p of the longest link time, and its change needs only the links that a move
 * touches; the second (hop time) breaks ties and leads where no link stands out. Logarithms make temperatures
 * relative, so that they need no tuning to the job. A move takes a unit to another slot and what is there
 * back, or does so with a run of consecutive places. Loads follow the routing's own walk, so every routing of
 * every family is searched as it will be used (adaptive routings by their uniform minimal split).
 *
 * Giving up: while what was moved is added again, both sums only grow; a move is refused at once when one of them is beyond
 * what the threshold of its draw allows.
 *
 * Screening: the norm falls at most by what the two units' own traffic adds to it (as of the last refresh),
 * and the change of hop time is known from distances alone; a move that this bounds above the threshold of
 * its draw is refused without looking at links. With a cap the objective is hop time, and moves that lift a
 * link over the cap are refused. Source: Kirkpatrick, Gelatt, Vecchi, Science 220 (1983); congestion
 * refinement over routes: Mirsadeghi & Afsahi, IPDPSW'16. Limits: a heuristic without a guarantee; the result
 * depends on the seed. Work is counted in link updates and never timed: the same input gives the same
 * mapping. */
#include "mapping/search.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { REBUILD_EVERY = 1 << 16 }; /* accepted moves; sheds the rounding of fractional shares */
enum { REFRESH_SHARE = 6 };       /* the search works so many times as much between refreshes as a refresh costs */
enum { DISTANCES_A_LINK = 4 };    /* so many table look-ups cost as much as a link update */
enum { WALKED = 64 };             /* links of walks that are listed before their loads change */

struct fc_search_before {
    double load, power;
    uint32_t link;
};

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* ---- loads ---- */

/* What a trial changes beside the links, kept in registers while it runs. */
struct tally {
    double power, hop;
    long over;
    uint32_t n_before;
    uint64_t work;
};

/* Adds bytes to a link; the sums follow. */
ALWAYS_INLINE void touch(struct fc_search *s, uint32_t l, double bytes, struct tally *t)
{
    struct fc_search_link *link = &s->link[l];
    double load = link->load, raised = link->power, was = load * link->inverse;
    s->before[t->n_before] = (struct fc_search_before){load, raised, l};
    t->n_before += link->stamp != s->now;
    double is = (load + bytes) * link->inverse, now = fc_search_power(is, s->doublings);
    link->stamp = s->now;
    link->load = load + bytes;
    link->power = now;
    t->power += now - raised;
    t->hop += bytes * link->inverse;
    t->over += (is > s->cap) - (was > s->cap);
}

ALWAYS_INLINE void touch_run(struct fc_search *s, uint32_t first, uint32_t from, uint32_t n, uint32_t k, double bytes,
                             struct tally *t)
{
    for (uint32_t i = 0, at = from; i < n; i++) {
        touch(s, first + at, bytes, t);
        at = at + 1 == k ? 0 : at + 1;
    }
    t->work += n;
}

ALWAYS_INLINE void add_on_rings(struct fc_search *s, uint32_t a, uint32_t b, double bytes, struct tally *t)
{
    const struct fc_routes *r = s->routes;
    const struct fc_ring_place *p = r->at + (size_t)a * (size_t)r->n_dims, *q = r->at + (size_t)b * (size_t)r->n_dims;
    if (r->terminal_s > 0) {
        touch(s, r->out[a], bytes, t);
        touch(s, r->in[b], bytes, t);
        t->work += 2;
    }
    uint32_t list[FC_MAX_DIMS * FC_MOST_RING], n = 0;
    for (int d = 0; d < r->n_dims; d++) {
        const struct fc_ring *ring = &r->ring[d];
        uint32_t x = p[d].c, y = q[d].c, line = p[d].high + q[d].low, count = ring->count[x * ring->k + y];
        const uint32_t *run = ring->run + (x * ring->k + y) * ring->width;
        if (count == FC_BOTH_WAYS) {
            touch_run(s, ring->plus + line, x, ring->k / 2, ring->k, bytes / 2, t);
            touch_run(s, ring->minus + line, y + 1 == ring->k ? 0 : y + 1, ring->k / 2, ring->k, bytes / 2, t);
            continue;
        }
        for (uint32_t i = 0; i < ring->width; i += 4)
            for (uint32_t j = i; j < i + 4; j++) list[n + j] = run[j] + line;
        n += count;
    }
    for (uint32_t i = 0; i < n; i++) touch(s, list[i], bytes, t);
    t->work += n;
}

/* On routes that are spread: within a supernode to the links, between two to the sums of bundles. */
ALWAYS_INLINE void add_spread(struct fc_search *s, uint32_t a, uint32_t b, double bytes, struct tally *t)
{
    const struct fc_routes *r = s->routes;
    const struct fc_route_spread *spread = &r->spread;
    if (r->out[a] != FC_NONE) touch(s, r->out[a], bytes, t);
    if (r->in[b] != FC_NONE) touch(s, r->in[b], bytes, t);
    if (fc_spread_is_local(spread, a, b)) {
        uint32_t links[4];
        double weights[4];
        int n = fc_spread_local(r, a, b, links, weights);
        for (int i = 0; i < n; i++)
            if (r->number[links[i]] != FC_NONE) touch(s, r->number[links[i]], bytes * weights[i], t);
        t->work += 2;
        return;
    }
    struct fc_spread_use use[FC_SPREAD_USES];
    fc_spread_uses(spread, a, b, use);
    for (int i = 0; i < spread->n_uses; i++) {
        struct fc_search_sum *sum = &s->sum[use[i].bundle];
        if (!sum->listed) s->changed[s->n_changed++] = use[i].bundle;
        sum->bytes += bytes * use[i].share;
        sum->listed = true;
    }
    t->work += (uint64_t)spread->n_uses;
}

/* The links of walks, listed so far: each is called into the cache before the first is touched, as they lie anywhere. */
ALWAYS_INLINE void touch_walked(struct fc_search *s, struct tally *t)
{
    struct fc_walk *w = &s->walk;
    for (uint32_t i = 0; i < w->n; i++) {
        w->link[i] = s->routes->number[w->link[i]];
        if (w->link[i] != FC_NONE) __builtin_prefetch(&s->link[w->link[i]], 1);
    }
    for (uint32_t i = 0; i < w->n; i++)
        if (w->link[i] != FC_NONE) touch(s, w->link[i], w->weight[i], t);
    w->n = 0;
}

ALWAYS_INLINE void add_walk(struct fc_search *s, uint32_t a, uint32_t b, double bytes, struct tally *t)
{
    struct fc_walk *w = &s->walk, one = *w;
    one.link += w->n;
    one.weight += w->n;
    one.n = 0;
    one.capacity -= w->n; /* its end may be put to use by the routing */
    s->sites->routing->walk(s->sites->net, s->sites->node[a], s->sites->node[b], bytes, &one);
    for (uint32_t i = 0; i < one.n; i++) __builtin_prefetch(&s->routes->number[one.link[i]]);
    w->kept = one.kept;
    w->forget = one.forget;
    w->n += one.n;
    t->work += one.n;
    if (w->n >= WALKED) touch_walked(s, t);
}

ALWAYS_INLINE void add_flow(struct fc_search *s, uint32_t a, uint32_t b, double bytes, enum fc_routes_kind kind,
                            struct tally *t)
{
    const struct fc_routes *r = s->routes;
    if (kind == FC_ROUTES_RINGS) {
        add_on_rings(s, a, b, bytes, t);
    } else if (kind == FC_ROUTES_SPREAD) {
        add_spread(s, a, b, bytes, t);
    } else if (kind == FC_ROUTES_TABLE) {
        uint32_t lo = r->first[(size_t)a * r->n + b], hi = r->first[(size_t)a * r->n + b + 1];
        for (uint32_t i = lo; i < hi; i++) touch(s, r->link[i], r->share ? bytes * (double)r->share[i] : bytes, t);
        t->work += hi - lo;
    } else {
        add_walk(s, a, b, bytes, t);
    }
}

ALWAYS_INLINE struct tally begin(const struct fc_search *s)
{
    return (struct tally){s->power_sum, s->hop_sum, s->n_over, s->n_before, s->work};
}
ALWAYS_INLINE void end(struct fc_search *s, const struct tally *t)
{
    s->power_sum = t->power;
    s->hop_sum = t->hop;
    s->n_over = t->over;
    s->n_before = t->n_before;
    s->work = t->work;
}

/* The sums of bundles onto the links, but those of no more than `dust` bytes: what was taken away and added again. */
static void spend_sums(struct fc_search *s, double dust)
{
    const struct fc_route_spread *spread = &s->routes->spread;
    struct tally t = begin(s);
    for (uint32_t i = 0; i < s->n_changed; i++) {
        uint32_t bundle = s->changed[i], lo = spread->first[bundle], hi = spread->first[bundle + 1];
        double bytes = s->sum[bundle].bytes;
        s->sum[bundle] = (struct fc_search_sum){0};
        if (fabs(bytes) <= dust) continue;
        for (uint32_t e = lo; e < hi; e++) touch(s, spread->link[e], bytes * (double)spread->weight[e], &t);
        t.work += hi - lo;
    }
    s->n_changed = 0;
    end(s, &t);
}

ALWAYS_INLINE bool is_beyond(const struct fc_search *s, const struct tally *t)
{
    return (t->power > s->most.power) | (t->hop > s->most.hop) | (t->over > s->most.over);
}

/* All flows of unit u but those with unit `except`, times sign; ends early where the sums come to be above s->most. */
ALWAYS_INLINE void add_unit_by(struct fc_search *s, uint32_t u, uint32_t except, double sign, enum fc_routes_kind kind)
{
    const struct fc_unit_graph *g = s->graph;
    uint32_t here = s->place[u];
    struct tally t = begin(s);
    for (uint64_t e = g->first[u]; e < g->first[u + 1] && !is_beyond(s, &t); e++) {
        uint32_t there = s->place[g->other[e]];
        if (there == here || g->other[e] == except) continue;
        if (g->out[e] > 0) add_flow(s, here, there, sign * g->out[e], kind, &t);
        if (g->in[e] > 0) add_flow(s, there, here, sign * g->in[e], kind, &t);
    }
    if (is_beyond(s, &t)) s->walk.n = 0;
    if (kind == FC_ROUTES_WALK) touch_walked(s, &t);
    end(s, &t);
}

/* Adds (sign 1) or takes away (-1) them: a loop for each kind of routes, so that its sums stay in registers.
 */
static void add_unit(struct fc_search *s, uint32_t u, uint32_t except, double sign)
{
    if (s->routes->kind == FC_ROUTES_RINGS)
        add_unit_by(s, u, except, sign, FC_ROUTES_RINGS);
    else if (s->routes->kind == FC_ROUTES_TABLE)
        add_unit_by(s, u, except, sign, FC_ROUTES_TABLE);
    else if (s->routes->kind == FC_ROUTES_SPREAD)
        add_unit_by(s, u, except, sign, FC_ROUTES_SPREAD);
    else
        add_unit_by(s, u, except, sign, FC_ROUTES_WALK);
}

static void next_trial(struct fc_search *s)
{
    s->n_before = 0;
    if (++s->now == 0) {
        for (uint32_t l = 0; l < s->routes->n_links; l++) s->link[l].stamp = 0;
        s->now = 1;
    }
}

/* All loads afresh; sum_norms() must follow. */
static void sum_loads(struct fc_search *s)
{
    const struct fc_unit_graph *g = s->graph;
    for (uint32_t l = 0; l < s->routes->n_links; l++) s->link[l].load = s->link[l].power = 0;
    next_trial(s);
    struct tally t = begin(s);
    for (uint32_t u = 0; u < g->n; u++)
        for (uint64_t e = g->first[u]; e < g->first[u + 1]; e++) {
            uint32_t here = s->place[u], there = s->place[g->other[e]];
            if (g->out[e] > 0 && here != there) add_flow(s, here, there, g->out[e], s->routes->kind, &t);
        }
    if (s->routes->kind == FC_ROUTES_WALK) touch_walked(s, &t);
    end(s, &t);
    spend_sums(s, 0);
}

double fc_search_time_s(const struct fc_search *s)
{
    double longest = 0;
    for (uint32_t l = 0; l < s->routes->n_links; l++) longest = fmax(longest, s->link[l].load * s->routes->seconds[l]);
    return longest;
}

double fc_search_hop_s(const struct fc_search *s)
{
    return s->hop_sum * s->scale_s;
}

/* Makes the sums afresh with the longest link time as 1: powers neither overflow nor drown what is left of
 * them. */
static void sum_norms(struct fc_search *s)
{
    double longest = fc_search_time_s(s), cap_s = s->cap * s->scale_s;
    s->scale_s = longest > 0 ? longest : 1;
    s->cap = isfinite(s->cap) ? cap_s / s->scale_s : s->cap;
    s->power_sum = s->hop_sum = 0;
    s->n_over = 0;
    for (uint32_t l = 0; l < s->routes->n_links; l++) {
        struct fc_search_link *link = &s->link[l];
        link->inverse = s->routes->seconds[l] / s->scale_s;
        double r = link->load * link->inverse;
        link->power = fc_search_power(r, s->doublings);
        s->power_sum += link->power;
        s->hop_sum += r;
        s->n_over += r > s->cap;
    }
    s->fresh_sum = s->power_sum;
    s->work += s->routes->n_links / 8; /* cheaper than updates, but many */
}

double fc_search_norm(const struct fc_search *s)
{
    double sum = 0;
    for (uint32_t l = 0; l < s->routes->n_links; l++) sum += fc_search_power(s->link[l].load * s->link[l].inverse, 4);
    return log(sum) / 16 + log(s->scale_s);
}

/* ---- moves ---- */

static void set_slot(struct fc_search *s, uint32_t u, uint32_t slot)
{
    s->unit[slot] = u;
    if (u == FC_NONE) return;
    s->slot[u] = slot;
    s->place[u] = slot / s->sites->slots_per_node;
}

static void exchange(struct fc_search *s, uint32_t a, uint32_t b)
{
    uint32_t u = s->unit[a], v = s->unit[b];
    set_slot(s, u, b);
    set_slot(s, v, a);
}

static const struct fc_search_most no_most = {INFINITY, INFINITY, LONG_MAX};

/* What the sums may grow to, now that what moves is taken away, where a move may change the objective by `most`: each as if
 * the other stayed as low as it is. A little more for rounding, so that nothing is refused that would have been accepted. */
static struct fc_search_most most_of(const struct fc_search *s, const struct fc_search_settings *set,
                                     const struct fc_search_sums *was, double most)
{
    const double more = 1 + 1e-9;
    struct fc_search_most m = no_most;
    if (s->routes->kind == FC_ROUTES_SPREAD) return m; /* sums come to the links at the end */
    if (set->cap_s > 0) return (struct fc_search_most){INFINITY, more * was->hop * exp(most), was->over};
    double p = ldexp(1, s->doublings), w = set->hop_weight;
    if (s->hop_sum > 0) m.power = more * was->power * exp(p * (most - w * log(s->hop_sum / was->hop)));
    if (s->power_sum > 0 && w > 0) m.hop = more * was->hop * exp((most - log(s->power_sum / was->power) / p) / w);
    return m;
}

/* What is in slots a and b of different places changes places; loads and sums follow, but for what is left when the move is
 * found to change the objective by more than `most` (INFINITY: none is). */
static void move(struct fc_search *s, const struct fc_search_settings *set, uint32_t a, uint32_t b,
                 const struct fc_search_sums *was, double most)
{
    uint32_t u = s->unit[a], v = s->unit[b];
    if (u != FC_NONE) add_unit(s, u, FC_NONE, -1);
    if (v != FC_NONE) add_unit(s, v, u, -1);
    exchange(s, a, b);
    if (isfinite(most)) s->most = most_of(s, set, was, most);
    if (u != FC_NONE) add_unit(s, u, FC_NONE, 1);
    if (v != FC_NONE) add_unit(s, v, u, 1);
}

/* Bytes times distance of unit u's flows were it on place `here` and unit v on `there`. */
static double unit_hop_s(const struct fc_search *s, uint32_t u, uint32_t here, uint32_t v, uint32_t there)
{
    const struct fc_unit_graph *g = s->graph;
    const struct fc_routes *r = s->routes;
    double sum = 0;
    for (uint64_t e = g->first[u]; e < g->first[u + 1]; e++) {
        uint32_t other = g->other[e], at = other == v ? there : s->place[other];
        if (r->kind == FC_ROUTES_RINGS)
            sum += (g->out[e] + g->in[e]) * fc_routes_distance(r, here, at);
        else
            sum += g->out[e] * fc_routes_distance(r, here, at) + g->in[e] * fc_routes_distance(r, at, here);
    }
    return sum;
}

/* False when the move's change of the objective is known to be above `most`. */
static bool passes(struct fc_search *s, const struct fc_search_settings *set, const struct fc_search_proposal *p,
                   double most)
{
    const struct fc_unit_graph *g = s->graph;
    uint32_t u = s->unit[p->from], v = s->unit[p->to], here = s->place[u], there = p->to / s->sites->slots_per_node;
    double change = unit_hop_s(s, u, there, v, here) - unit_hop_s(s, u, here, v, there), heat = s->heat[u];
    uint64_t looked = g->first[u + 1] - g->first[u];
    if (v != FC_NONE) {
        change += unit_hop_s(s, v, here, u, there) - unit_hop_s(s, v, there, u, here);
        heat += s->heat[v];
        looked += g->first[v + 1] - g->first[v];
    }
    s->work += 1 + 2 * looked / DISTANCES_A_LINK;
    double hop_sum = s->hop_sum + change / s->scale_s;
    if (hop_sum <= 0) return true;
    if (set->cap_s > 0) return log(hop_sum / s->hop_sum) <= most;
    if (heat >= 0.999 * s->power_sum) return true;
    return log1p(-heat / s->power_sum) / ldexp(1, s->doublings) + set->hop_weight * log(hop_sum / s->hop_sum) <= most;
}

/* ---- the run ---- */

static void keep_best(struct fc_search *s, const struct fc_search_settings *set)
{
    double now = set->cap_s > 0 ? fc_search_hop_s(s) : log(s->power_sum) / ldexp(1, s->doublings) + log(s->scale_s);
    if (now >= s->best_norm) return;
    s->best_norm = now;
    memcpy(s->best, s->slot, s->graph->n * sizeof *s->best);
}

static void go_to_best(struct fc_search *s)
{
    for (uint32_t i = 0; i < s->n_slots; i++) s->unit[i] = FC_NONE;
    for (uint32_t u = 0; u < s->graph->n; u++) set_slot(s, u, s->best[u]);
    sum_loads(s);
    sum_norms(s);
}

static void take_back(struct fc_search *s, const struct fc_search_proposal *p, const struct fc_search_sums *was)
{
    for (uint32_t i = p->n; i-- > 0;) exchange(s, p->from + i, p->to + i);
    for (uint32_t i = 0; i < s->n_before; i++) {
        struct fc_search_link *link = &s->link[s->before[i].link];
        link->load = s->before[i].load;
        link->power = s->before[i].power;
    }
    s->power_sum = was->power;
    s->hop_sum = was->hop;
    s->n_over = was->over;
}

/* Makes the move if it changes the objective by at most `most`; true when it did. */
static bool try_move(struct fc_search *s, const struct fc_search_settings *set, const struct fc_search_proposal *p,
                     double most)
{
    struct fc_search_sums was = {s->power_sum, s->hop_sum, s->n_over};
    s->n_evaluated++;
    if (p->n == 1 && fc_routes_measured(s->routes) && !passes(s, set, p, most)) return false;
    next_trial(s);
    for (uint32_t i = 0; i < p->n; i++) move(s, set, p->from + i, p->to + i, &was, p->n == 1 ? most : INFINITY);
    bool beyond = s->power_sum > s->most.power || s->hop_sum > s->most.hop || s->n_over > s->most.over;
    s->most = no_most;
    if (beyond) {
        take_back(s, p, &was);
        return false;
    }
    spend_sums(s, s->dust);
    s->power_sum = fmax(s->power_sum, 1e-14 * s->fresh_sum);
    double change = log(s->hop_sum / was.hop);
    if (set->cap_s > 0)
        change = s->n_over > was.over ? INFINITY : change;
    else
        change = log(s->power_sum / was.power) / ldexp(1, s->doublings) + set->hop_weight * change;
    if (change <= most) return true;
    take_back(s, p, &was);
    return false;
}

void fc_search_run(struct fc_search *s, const struct fc_search_settings *set)
{
    uint64_t start = s->work, next_refresh = start, accepted = 0, keys[2];
    double temperature = set->start_temperature;
    for (uint64_t i = 0; i < 2; i++) keys[i] = fc_random(set->seed, set->stream + i, 0);
    s->doublings = set->doublings;
    s->best_norm = INFINITY;
    s->cap = set->cap_s > 0 ? set->cap_s / s->scale_s : (double)INFINITY;
    sum_norms(s);
    for (uint64_t step = 0; s->work - start < set->work && s->power_sum > 0; step++, s->work++) {
        if (set->stop && *set->stop) break;
        if (s->work >= next_refresh) {
            uint64_t before = s->work;
            double done = (double)(s->work - start) / (double)set->work;
            temperature = set->start_temperature * pow(set->end_temperature / set->start_temperature, done);
            sum_norms(s);
            keep_best(s, set);
            if (set->cap_s <= 0 && s->scale_s <= set->enough_s) break;
            fc_search_heat(s);
            next_refresh = s->work + REFRESH_SHARE * (s->work - before);
        }
        struct fc_search_proposal p;
        if (!fc_search_propose(s, set, keys[0], step, &p)) continue;
        double luck = (double)((fc_random_quick(keys[1], step) >> 11) + 1) * 0x1p-53;
        if (!try_move(s, set, &p, -temperature * log(luck))) continue;
        if (p.n == 1) {
            s->heat[s->unit[p.to]] = INFINITY;
            if (s->unit[p.from] != FC_NONE) s->heat[s->unit[p.from]] = INFINITY;
        }
        if (++accepted % REBUILD_EVERY == 0) sum_loads(s);
        if (accepted % REBUILD_EVERY == 0 || s->power_sum < 1e-4 * s->fresh_sum) sum_norms(s);
    }
    sum_loads(s);
    sum_norms(s);
    keep_best(s, set);
    go_to_best(s);
}

static enum fc_code start_sums(struct fc_search *s, struct fc_status *st)
{
    const struct fc_unit_graph *g = s->graph;
    const struct fc_route_spread *spread = &s->routes->spread;
    s->sum = fc_alloc(&s->arena, spread->n_bundles, sizeof *s->sum, st);
    s->changed = s->sum ? fc_alloc(&s->arena, spread->n_bundles, sizeof *s->changed, st) : NULL;
    s->is_hot = s->changed ? fc_alloc(&s->arena, spread->n_bundles, sizeof *s->is_hot, st) : NULL;
    for (uint64_t e = 0; e < g->first[g->n]; e++) s->dust = fmax(s->dust, g->out[e]);
    s->dust *= 1e-12;
    return st->code;
}

enum fc_code fc_search_start(const struct fc_sites *sites, const struct fc_routes *routes,
                             const struct fc_unit_graph *graph, const uint32_t *slot, struct fc_search *s,
                             struct fc_status *st)
{
    uint32_t n_links = routes->n_links, n_machine = sites->net->n_nodes;
    *s = (struct fc_search){.sites = sites,
                            .routes = routes,
                            .graph = graph,
                            .n_slots = sites->n_nodes * sites->slots_per_node,
                            .cap = INFINITY,
                            .scale_s = 1,
                            .most = no_most,
                            .doublings = 4};
    s->place_of = fc_alloc(&s->arena, n_machine, sizeof *s->place_of, st);
    s->slot = s->place_of ? fc_alloc(&s->arena, graph->n, sizeof *s->slot, st) : NULL;
    s->best = s->slot ? fc_alloc(&s->arena, graph->n, sizeof *s->best, st) : NULL;
    s->unit = s->best ? fc_alloc(&s->arena, s->n_slots, sizeof *s->unit, st) : NULL;
    s->place = s->unit ? fc_alloc(&s->arena, graph->n, sizeof *s->place, st) : NULL;
    s->link = s->place ? fc_alloc(&s->arena, n_links, sizeof *s->link, st) : NULL;
    s->before = s->link ? fc_alloc(&s->arena, (size_t)n_links + 1, sizeof *s->before, st) : NULL;
    s->hot = s->before ? fc_alloc(&s->arena, graph->n, sizeof *s->hot, st) : NULL;
    s->heat = s->hot ? fc_alloc(&s->arena, graph->n, sizeof *s->heat, st) : NULL;
    if (s->heat && routes->kind == FC_ROUTES_SPREAD) start_sums(s, st);
    if (st->code || fc_walk_start(&s->walk, sites->routing->walk_capacity(sites->net) + WALKED, st)) {
        fc_arena_free(&s->arena);
        return st->code;
    }
    memset(s->place_of, 0xff, n_machine * sizeof *s->place_of);
    memset(s->unit, 0xff, s->n_slots * sizeof *s->unit);
    for (uint32_t i = 0; i < sites->n_nodes; i++) s->place_of[sites->node[i]] = i;
    for (uint32_t u = 0; u < graph->n; u++) set_slot(s, u, slot[u]);
    sum_loads(s);
    sum_norms(s);
    return FC_OK;
}

void fc_search_free(struct fc_search *s)
{
    fc_walk_free(&s->walk);
    fc_arena_free(&s->arena);
    memset(s, 0, sizeof *s);
}
