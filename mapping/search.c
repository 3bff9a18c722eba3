/* search.c - routing-aware exchange of units between slots, by simulated annealing on the p-norm of link times.
 *
 * Minimises E = ln( sum over links (load / bandwidth)^8 ) / 8 + w ln( sum over links load / bandwidth ): the first term is
 * within n_links^(1/8) of the longest link time, smooth in every load near it, and its change needs only the links that
 * a move touches; the second (hop time) breaks ties and leads where no link stands out. A move takes a unit to another
 * slot and what is there back. Loads follow the routing's own walk, so any routing of any family is searched as it will
 * be used (adaptive routings with their uniform minimal split). Source: Metropolis et al. 1953, Kirkpatrick et al. 1983;
 * congestion descent on routes: Mirsadeghi & Afsahi, IPDPSW'16. Limits: a heuristic without a guarantee; what is best may
 * depend on the seed. Work is counted in link updates, never timed: the same input gives the same bytes. */
#include "mapping/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REBUILD_EVERY = 1 << 16 }; /* accepted moves; sheds rounding of fractional shares */

/* x^(2^doublings). */
static inline double power(double x, int doublings)
{
    for (int i = 0; i < doublings; i++) x *= x;
    return x;
}

/* ---- loads ---- */

/* Adds the walk's links to the loads; remembers each link's load before the trial. */
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
    s->net->machine->routing->walk(s->net, from, to, bytes, &s->walk);
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
        memset(s->stamp, 0, s->net->n_links * sizeof *s->stamp);
        s->now = 1;
    }
}

static void sum_norms(struct fc_search *s)
{
    s->power_sum = s->hop_sum = 0;
    for (uint32_t l = 0; l < s->net->n_links; l++) {
        double r = s->load[l] * s->inverse[l];
        s->power_sum += power(r, s->doublings);
        s->hop_sum += r;
    }
}

static void sum_loads(struct fc_search *s)
{
    const struct fc_unit_graph *g = s->graph;
    memset(s->load, 0, s->net->n_links * sizeof *s->load);
    next_trial(s);
    for (uint32_t u = 0; u < g->n; u++)
        for (uint64_t e = g->first[u]; e < g->first[u + 1]; e++) {
            uint32_t here = s->unit_node[u], there = s->unit_node[g->other[e]];
            if (g->out[e] > 0 && here != there) add_flow(s, here, there, g->out[e]);
        }
}

double fc_search_time_s(const struct fc_search *s)
{
    double most = 0;
    for (uint32_t l = 0; l < s->net->n_links; l++) {
        double t = s->inverse[l] > 0 ? s->load[l] / fc_link_bandwidth(s->net, l) : 0;
        if (t > most) most = t;
    }
    return most;
}

/* ---- a trial move ---- */

static void set_slot(struct fc_search *s, uint32_t u, uint32_t slot)
{
    s->unit[slot] = u;
    if (u == FC_NONE) return;
    s->slot[u] = slot;
    s->unit_node[u] = s->node[slot / s->slots_per_node];
}

static void exchange(struct fc_search *s, uint32_t a, uint32_t b)
{
    uint32_t u = s->unit[a], v = s->unit[b];
    set_slot(s, u, b);
    set_slot(s, v, a);
}

/* Unit u goes to slot `to`, who is there comes back; gives the sums after the move. Slots of different nodes. */
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
    s->net->machine->routing->walk(s->net, from, to, 1, &s->walk);
    s->work += s->walk.n;
    for (uint32_t i = 0; i < s->walk.n; i++)
        if (s->is_hot[s->walk.link[i]]) return true;
    return false;
}

/* Lists the units with a flow over a link of at least 0.8 of the longest link time. */
static void find_hot_units(struct fc_search *s)
{
    const struct fc_unit_graph *g = s->graph;
    double most = 0;
    for (uint32_t l = 0; l < s->net->n_links; l++) most = fmax(most, s->load[l] * s->inverse[l]);
    for (uint32_t l = 0; l < s->net->n_links; l++) s->is_hot[l] = s->load[l] * s->inverse[l] > 0.8 * most;
    s->n_hot = 0;
    for (uint32_t u = 0; u < g->n; u++) {
        bool hot = false;
        for (uint64_t e = g->first[u]; !hot && e < g->first[u + 1]; e++) {
            uint32_t here = s->unit_node[u], there = s->unit_node[g->other[e]];
            if (here == there) continue;
            hot = (g->out[e] > 0 && crosses_hot(s, here, there)) || (g->in[e] > 0 && crosses_hot(s, there, here));
        }
        if (hot) s->hot[s->n_hot++] = u;
    }
}

/* A random allowed node one link from the router of `node`, or on it; FC_NONE when the draw finds none. */
static uint32_t near_node(const struct fc_search *s, uint32_t node, uint64_t bits)
{
    const struct fc_network *net = s->net;
    uint32_t vertex = fc_node_vertex(net, node);
    for (int step = 0; step < 3; step++) {
        uint32_t first = net->first_link[vertex], degree = net->first_link[vertex + 1] - first;
        vertex = net->link_target[first + (uint32_t)((bits & 0xfffff) * degree >> 20)];
        bits >>= 20;
        if (fc_is_node(net, vertex)) break;
        /* a router: with even chance look at its own nodes, which are its last links */
        uint32_t last = net->first_link[vertex + 1] - 1;
        if (step > 0 && fc_is_node(net, net->link_target[last])) vertex = net->link_target[last];
        if (fc_is_node(net, vertex)) break;
    }
    if (!fc_is_node(net, vertex)) return FC_NONE;
    return s->place[vertex - net->n_routers];
}

/* Half of the units come from the hot ones, half of the targets lie beside a neighbour in the graph. */
static bool propose(const struct fc_search *s, const struct fc_search_settings *set, uint64_t step, uint32_t *u,
                    uint32_t *to)
{
    const struct fc_unit_graph *g = s->graph;
    uint64_t a = fc_random(set->seed, set->stream, 2 * step), b = fc_random(set->seed, set->stream, 2 * step + 1);
    bool hot = (a & 1) && s->n_hot > 0, beside = a & 2;
    a >>= 2;
    *u = hot ? s->hot[(a & 0xffffffff) * s->n_hot >> 32] : (uint32_t)((a & 0xffffffff) * g->n >> 32);
    uint64_t degree = g->first[*u + 1] - g->first[*u];
    if (degree == 0) return false;
    uint32_t place = FC_NONE;
    if (beside) {
        uint32_t v = g->other[g->first[*u] + (a >> 32) % degree];
        place = near_node(s, s->unit_node[v], b);
    }
    if (place != FC_NONE)
        *to = place * s->slots_per_node + (uint32_t)(b >> 60) % s->slots_per_node;
    else
        *to = (uint32_t)((b & 0xffffffff) * s->n_slots >> 32);
    return s->node[*to / s->slots_per_node] != s->unit_node[*u];
}

/* ---- the run ---- */

void fc_search_run(struct fc_search *s, const struct fc_search_settings *set, struct fc_progress *progress,
                   double progress_from, double progress_to)
{
    uint64_t start = s->work, accepted = 0, n_edges = s->graph->first[s->graph->n];
    uint64_t refresh = n_edges / 8 + 256, *unused = NULL;
    (void)unused;
    double temperature = set->start_temperature, best = INFINITY;
    uint32_t *best_slot = s->touched + s->net->n_links; /* [n] behind the touched links */
    uint64_t step = 0, steps_tried = 0;
    double p = ldexp(1, set->doublings);
    s->doublings = set->doublings;
    double longest = fc_search_time_s(s);
    for (uint32_t l = 0; l < s->net->n_links; l++) s->inverse[l] = longest > 0 ? 1 / fc_link_bandwidth(s->net, l) / longest : 0;
    sum_norms(s);
    for (; s->work - start < set->work && s->power_sum > 0; step++) {
        if (step % refresh == 0) {
            double done = (double)(s->work - start) / (double)set->work;
            temperature = set->start_temperature * pow(set->end_temperature / set->start_temperature, done);
            find_hot_units(s);
            fc_progress_show(progress, progress_from + (progress_to - progress_from) * done, "searching");
            if (s->power_sum < best) {
                best = s->power_sum;
                memcpy(best_slot, s->slot, s->graph->n * sizeof *best_slot);
            }
        }
        uint32_t u, to;
        s->work++;
        if (!propose(s, set, step, &u, &to)) continue;
        steps_tried++;
        uint32_t from = s->slot[u];
        double power_sum, hop_sum;
        trial(s, u, to, &power_sum, &hop_sum);
        double change = log(power_sum / s->power_sum) / p + set->hop_weight * log(hop_sum / s->hop_sum);
        double luck = fc_random_real(set->seed, set->stream + 1, step);
        if (!(change <= 0) && !(change < -temperature * log(luck))) {
            take_back(s, u, from);
            continue;
        }
        s->power_sum = power_sum;
        s->hop_sum = hop_sum;
        if (++accepted % REBUILD_EVERY == 0) {
            sum_loads(s);
            sum_norms(s);
        }
    }
    if (getenv("DBG")) fprintf(stderr,"steps %lu tried %lu accepted %lu hot %u\n", step, steps_tried, accepted, s->n_hot);
    if (best < s->power_sum)
        for (uint32_t u = 0; u < s->graph->n; u++) s->unit[s->slot[u]] = FC_NONE;
    if (best < s->power_sum)
        for (uint32_t u = 0; u < s->graph->n; u++) set_slot(s, u, best_slot[u]);
    sum_loads(s);
    sum_norms(s);
}

enum fc_code fc_search_start(const struct fc_network *net, const struct fc_unit_graph *graph, const uint32_t *node,
                             uint32_t n_nodes, uint32_t slots_per_node, const uint32_t *slot, struct fc_search *s,
                             struct fc_status *st)
{
    *s = (struct fc_search){.net = net, .graph = graph, .node = node, .slots_per_node = slots_per_node};
    s->n_slots = n_nodes * slots_per_node;
    s->place = fc_alloc(&s->arena, net->n_nodes, sizeof *s->place, st);
    s->slot = s->place ? fc_alloc(&s->arena, graph->n, sizeof *s->slot, st) : NULL;
    s->unit = s->slot ? fc_alloc(&s->arena, s->n_slots, sizeof *s->unit, st) : NULL;
    s->unit_node = s->unit ? fc_alloc(&s->arena, graph->n, sizeof *s->unit_node, st) : NULL;
    s->load = s->unit_node ? fc_alloc(&s->arena, net->n_links, sizeof *s->load, st) : NULL;
    s->inverse = s->load ? fc_alloc(&s->arena, net->n_links, sizeof *s->inverse, st) : NULL;
    s->touched = s->inverse ? fc_alloc(&s->arena, (size_t)net->n_links + graph->n, sizeof *s->touched, st) : NULL;
    s->stamp = s->touched ? fc_alloc(&s->arena, net->n_links, sizeof *s->stamp, st) : NULL;
    s->before = s->stamp ? fc_alloc(&s->arena, net->n_links, sizeof *s->before, st) : NULL;
    s->hot = s->before ? fc_alloc(&s->arena, graph->n, sizeof *s->hot, st) : NULL;
    s->is_hot = s->hot ? fc_alloc(&s->arena, net->n_links, sizeof *s->is_hot, st) : NULL;
    if (!s->is_hot || fc_walk_start(&s->walk, net->machine->routing->walk_capacity(net), st)) {
        fc_search_free(s);
        return st->code;
    }
    memset(s->place, 0xff, net->n_nodes * sizeof *s->place);
    memset(s->unit, 0xff, s->n_slots * sizeof *s->unit);
    for (uint32_t i = 0; i < n_nodes; i++) s->place[node[i]] = i;
    for (uint32_t u = 0; u < graph->n; u++) set_slot(s, u, slot[u]);
    for (uint32_t l = 0; l < net->n_links; l++) s->inverse[l] = 1 / fc_link_bandwidth(net, l);
    sum_loads(s);
    double longest = fc_search_time_s(s);
    for (uint32_t l = 0; l < net->n_links; l++) s->inverse[l] = longest > 0 ? s->inverse[l] / longest : 0;
    sum_norms(s);
    return FC_OK;
}

void fc_search_free(struct fc_search *s)
{
    fc_walk_free(&s->walk);
    fc_arena_free(&s->arena);
    memset(s, 0, sizeof *s);
}
