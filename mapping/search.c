/* search.c - routing-aware exchange of units between slots, by simulated annealing on a norm of the link
 * times.
 *
 * Minimises E = ln( sum over links t^p ) / p + w ln( sum over links t ), t = load / bandwidth. The first term
 * lies within ln(n_links) / p of the longest link time, and its change needs only the links that a move
 * touches; the second (hop time) breaks ties and leads where no link stands out. Logarithms make temperatures
 * relative, so that they need no tuning to the job. A move takes a unit to another slot and what is there
 * back. Loads follow the routing's own walk, so every routing of every family is searched as it will be used
 * (adaptive routings by their uniform minimal split). Source: Kirkpatrick, Gelatt, Vecchi, Science 220
 * (1983); congestion refinement over routes: Mirsadeghi & Afsahi, IPDPSW'16. Limits: a heuristic without a
 * guarantee; the result depends on the seed. Work is counted in link updates and never timed: the same input
 * gives the same mapping. */
#include "mapping/search.h"

#include <math.h>
#include <string.h>

enum { REBUILD_EVERY = 1 << 16 };    /* accepted moves; sheds the rounding of fractional shares */
static const double hot_share = 0.8; /* of the longest link time: a hot link */

static inline double power(double x, int doublings)
{
    for (int i = 0; i < doublings; i++) x *= x;
    return x;
}

/* ---- loads ---- */

/* Adds the walk's links to the loads; notes each link's load before the trial. */
static inline void apply_walk(struct fc_search *s)
{
    const struct fc_walk *walk = &s->walk;
    for (uint32_t i = 0; i < walk->n; i++) {
        uint32_t l = walk->link[i];
        if (s->inverse[l] == 0) continue;
        if (s->stamp[l] != s->now) {
            s->stamp[l] = s->now;
            s->before[l] = s->load[l];
            s->touched[s->n_touched++] = l;
        }
        s->load[l] += walk->weight[i];
    }
    s->work += walk->n;
}

static inline void add_flow(struct fc_search *s, uint32_t from, uint32_t to, double bytes)
{
    s->walk.n = 0;
    s->sites->routing->walk(s->sites->net, from, to, bytes, &s->walk);
    apply_walk(s);
}

/* Adds (sign 1) or takes away (-1) all flows of unit u but those with unit `except`. */
static void add_unit(struct fc_search *s, uint32_t u, uint32_t except, double sign)
{
    const struct fc_unit_graph *g = s->graph;
    uint32_t here = s->unit_node[u];
    for (uint64_t e = g->first[u]; e < g->first[u + 1]; e++) {
        uint32_t there = s->unit_node[g->other[e]];
        if (there == here || g->other[e] == except) continue;
        if (g->out[e] > 0) add_flow(s, here, there, sign * g->out[e]);
        if (g->in[e] > 0) add_flow(s, there, here, sign * g->in[e]);
    }
}

static void next_trial(struct fc_search *s)
{
    s->n_touched = 0;
    if (++s->now == 0) {
        memset(s->stamp, 0, s->sites->net->n_links * sizeof *s->stamp);
        s->now = 1;
    }
}

static void sum_loads(struct fc_search *s)
{
    const struct fc_unit_graph *g = s->graph;
    memset(s->load, 0, s->sites->net->n_links * sizeof *s->load);
    next_trial(s);
    for (uint32_t u = 0; u < g->n; u++)
        for (uint64_t e = g->first[u]; e < g->first[u + 1]; e++) {
            uint32_t here = s->unit_node[u], there = s->unit_node[g->other[e]];
            if (g->out[e] > 0 && here != there) add_flow(s, here, there, g->out[e]);
        }
}

double fc_search_time_s(const struct fc_search *s)
{
    double longest = 0;
    for (uint32_t l = 0; l < s->sites->net->n_links; l++)
        if (s->inverse[l] > 0) longest = fmax(longest, s->load[l] / fc_link_bandwidth(s->sites->net, l));
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
    const struct fc_network *net = s->sites->net;
    double longest = fc_search_time_s(s);
    s->scale_s = longest > 0 ? longest : 1;
    s->power_sum = s->hop_sum = 0;
    for (uint32_t l = 0; l < net->n_links; l++) {
        if (s->inverse[l] > 0) s->inverse[l] = 1 / fc_link_bandwidth(net, l) / s->scale_s;
        double r = s->load[l] * s->inverse[l];
        s->power_sum += power(r, s->doublings);
        s->hop_sum += r;
    }
    s->fresh_sum = s->power_sum;
    s->work += net->n_links / 8; /* cheaper than updates, but many */
}

double fc_search_norm(const struct fc_search *s)
{
    return log(s->power_sum) / ldexp(1, s->doublings) + log(s->scale_s);
}

/* ---- a trial move ---- */

static void set_slot(struct fc_search *s, uint32_t u, uint32_t slot)
{
    s->unit[slot] = u;
    if (u == FC_NONE) return;
    s->slot[u] = slot;
    s->unit_node[u] = s->sites->node[slot / s->sites->slots_per_node];
}

static void exchange(struct fc_search *s, uint32_t a, uint32_t b)
{
    uint32_t u = s->unit[a], v = s->unit[b];
    set_slot(s, u, b);
    set_slot(s, v, a);
}

/* Unit u goes to slot `to` of another node, who is there comes back; gives the sums after the move. */
static void trial(struct fc_search *s, uint32_t u, uint32_t to, double *power_sum, double *hop_sum)
{
    uint32_t v = s->unit[to];
    next_trial(s);
    add_unit(s, u, FC_NONE, -1);
    if (v != FC_NONE) add_unit(s, v, u, -1);
    exchange(s, s->slot[u], to);
    add_unit(s, u, FC_NONE, 1);
    if (v != FC_NONE) add_unit(s, v, u, 1);
    *power_sum = s->power_sum;
    *hop_sum = s->hop_sum;
    for (uint32_t i = 0; i < s->n_touched; i++) {
        uint32_t l = s->touched[i];
        double after = s->load[l] * s->inverse[l], before = s->before[l] * s->inverse[l];
        *power_sum += power(after, s->doublings) - power(before, s->doublings);
        *hop_sum += after - before;
    }
    *power_sum = fmax(*power_sum, 1e-14 * s->fresh_sum);
}

static void take_back(struct fc_search *s, uint32_t u, uint32_t from)
{
    exchange(s, s->slot[u], from);
    for (uint32_t i = 0; i < s->n_touched; i++) s->load[s->touched[i]] = s->before[s->touched[i]];
}

/* ---- proposals ---- */

static bool crosses_hot(struct fc_search *s, uint32_t from, uint32_t to)
{
    s->walk.n = 0;
    s->sites->routing->walk(s->sites->net, from, to, 1, &s->walk);
    s->work += s->walk.n;
    for (uint32_t i = 0; i < s->walk.n; i++)
        if (s->is_hot[s->walk.link[i]]) return true;
    return false;
}

/* Lists the units with a flow over a hot link. Needs fresh sums. */
static void find_hot_units(struct fc_search *s)
{
    const struct fc_unit_graph *g = s->graph;
    for (uint32_t l = 0; l < s->sites->net->n_links; l++)
        s->is_hot[l] = s->load[l] * s->inverse[l] > hot_share;
    s->n_hot = 0;
    for (uint32_t u = 0; u < g->n; u++) {
        bool hot = false;
        for (uint64_t e = g->first[u]; !hot && e < g->first[u + 1]; e++) {
            uint32_t here = s->unit_node[u], there = s->unit_node[g->other[e]];
            if (here == there) continue;
            hot = (g->out[e] > 0 && crosses_hot(s, here, there)) ||
                  (g->in[e] > 0 && crosses_hot(s, there, here));
        }
        if (hot) s->hot[s->n_hot++] = u;
    }
}

/* An allowed node near `node`: on its router or on one a link away (with luck two); its index, or FC_NONE
 * when the draw ends at a router without nodes or at a node that is not allowed. */
static uint32_t near_place(const struct fc_search *s, uint32_t node, uint64_t bits)
{
    const struct fc_network *net = s->sites->net;
    uint32_t vertex = fc_node_vertex(net, node);
    for (int step = 0; step < 3 && (step == 0 || !fc_is_node(net, vertex)); step++) {
        uint32_t first = net->first_link[vertex], degree = net->first_link[vertex + 1] - first;
        if (degree == 0) return FC_NONE;
        vertex = net->link_target[first + (uint32_t)((bits & 0xfffff) * degree >> 20)];
        bits >>= 20;
        uint32_t end = net->first_link[vertex + 1]; /* a router's own nodes are its last links */
        if (step > 0 && !fc_is_node(net, vertex) && end > net->first_link[vertex] &&
            fc_is_node(net, net->link_target[end - 1]))
            vertex = net->link_target[end - 1];
    }
    return fc_is_node(net, vertex) ? s->place[vertex - net->n_routers] : FC_NONE;
}

/* Half of the units are hot ones, half of the targets lie near a neighbour of the unit; the rest is drawn
 * from all. False when the move would change nothing. */
static bool propose(const struct fc_search *s, const struct fc_search_settings *set, uint64_t step,
                    uint32_t *u, uint32_t *to)
{
    const struct fc_unit_graph *g = s->graph;
    uint64_t a = fc_random(set->seed, set->stream, 2 * step),
             b = fc_random(set->seed, set->stream, 2 * step + 1);
    bool hot = (a & 1) && s->n_hot > 0, beside = a & 2;
    uint32_t pick = (uint32_t)(a >> 2), per_node = s->sites->slots_per_node, place = FC_NONE;
    *u = hot ? s->hot[(uint64_t)pick * s->n_hot >> 32] : (uint32_t)((uint64_t)pick * g->n >> 32);
    uint64_t degree = g->first[*u + 1] - g->first[*u];
    if (degree == 0) return false;
    if (beside) place = near_place(s, s->unit_node[g->other[g->first[*u] + (a >> 34) % degree]], b);
    *to = place == FC_NONE ? (uint32_t)((b & 0xffffffff) * s->n_slots >> 32)
                           : place * per_node + (uint32_t)((b >> 60) * per_node >> 4);
    return s->sites->node[*to / per_node] != s->unit_node[*u];
}

/* ---- the run ---- */

static void keep_best(struct fc_search *s)
{
    double now = fc_search_norm(s);
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

void fc_search_run(struct fc_search *s, const struct fc_search_settings *set)
{
    uint64_t start = s->work, accepted = 0;
    uint64_t refresh = 256 + s->graph->first[s->graph->n] / 8 + s->sites->net->n_links / 128;
    double temperature = set->start_temperature, p = ldexp(1, set->doublings);
    s->doublings = set->doublings;
    s->best_norm = INFINITY;
    sum_norms(s);
    for (uint64_t step = 0; s->work - start < set->work && s->power_sum > 0; step++, s->work++) {
        if (step % refresh == 0) {
            double done = (double)(s->work - start) / (double)set->work;
            temperature = set->start_temperature * pow(set->end_temperature / set->start_temperature, done);
            sum_norms(s);
            keep_best(s);
            if (s->scale_s <= set->enough_s) break;
            find_hot_units(s);
        }
        uint32_t u, to;
        double power_sum, hop_sum;
        if (!propose(s, set, step, &u, &to)) continue;
        uint32_t from = s->slot[u];
        trial(s, u, to, &power_sum, &hop_sum);
        double change = log(power_sum / s->power_sum) / p + set->hop_weight * log(hop_sum / s->hop_sum);
        double luck = fc_random_real(set->seed, set->stream + 1, step);
        if (change > 0 && change >= -temperature * log(luck)) {
            take_back(s, u, from);
            continue;
        }
        s->power_sum = power_sum;
        s->hop_sum = hop_sum;
        if (++accepted % REBUILD_EVERY == 0) sum_loads(s);
        if (accepted % REBUILD_EVERY == 0 || power_sum < 1e-4 * s->fresh_sum) sum_norms(s);
    }
    sum_loads(s);
    sum_norms(s);
    keep_best(s);
    go_to_best(s);
}

enum fc_code fc_search_start(const struct fc_sites *sites, const struct fc_unit_graph *graph,
                             const uint32_t *slot, struct fc_search *s, struct fc_status *st)
{
    uint32_t n_links = sites->net->n_links, n_machine = sites->net->n_nodes;
    *s =
        (struct fc_search){.sites = sites, .graph = graph, .n_slots = sites->n_nodes * sites->slots_per_node};
    s->place = fc_alloc(&s->arena, n_machine, sizeof *s->place, st);
    s->slot = s->place ? fc_alloc(&s->arena, graph->n, sizeof *s->slot, st) : NULL;
    s->best = s->slot ? fc_alloc(&s->arena, graph->n, sizeof *s->best, st) : NULL;
    s->unit = s->best ? fc_alloc(&s->arena, s->n_slots, sizeof *s->unit, st) : NULL;
    s->unit_node = s->unit ? fc_alloc(&s->arena, graph->n, sizeof *s->unit_node, st) : NULL;
    s->load = s->unit_node ? fc_alloc(&s->arena, n_links, sizeof *s->load, st) : NULL;
    s->inverse = s->load ? fc_alloc(&s->arena, n_links, sizeof *s->inverse, st) : NULL;
    s->touched = s->inverse ? fc_alloc(&s->arena, n_links, sizeof *s->touched, st) : NULL;
    s->stamp = s->touched ? fc_alloc(&s->arena, n_links, sizeof *s->stamp, st) : NULL;
    s->before = s->stamp ? fc_alloc(&s->arena, n_links, sizeof *s->before, st) : NULL;
    s->hot = s->before ? fc_alloc(&s->arena, graph->n, sizeof *s->hot, st) : NULL;
    s->is_hot = s->hot ? fc_alloc(&s->arena, n_links, sizeof *s->is_hot, st) : NULL;
    if (!s->is_hot || fc_walk_start(&s->walk, sites->routing->walk_capacity(sites->net), st)) {
        fc_arena_free(&s->arena);
        return st->code;
    }
    memset(s->place, 0xff, n_machine * sizeof *s->place);
    memset(s->unit, 0xff, s->n_slots * sizeof *s->unit);
    for (uint32_t i = 0; i < sites->n_nodes; i++) s->place[sites->node[i]] = i;
    for (uint32_t u = 0; u < graph->n; u++) set_slot(s, u, slot[u]);
    for (uint32_t l = 0; l < n_links; l++) s->inverse[l] = isfinite(fc_link_bandwidth(sites->net, l)) ? 1 : 0;
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
