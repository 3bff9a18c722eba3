/* strategy_greedy.c - the task most tied to those already placed goes next to them, one after the other.
 *
 * The next task is the unplaced one that exchanges most bytes with placed tasks; where none does, the one
 * that talks most. A breadth-first search through the network from the node of its partner of most bytes
 * meets free cores; of the first MOST_CANDIDATES nodes with one, the node of least bytes x link time to its
 * MOST_PARTNERS heaviest placed partners, along the family's shortest routes, takes it. Source: Hoefler &
 * Snir, Generic topology mapping strategies for large-scale parallel architectures, ICS'11, section 4.1 (the
 * weighted choice among several nodes is ours). Limits: a search gives up after MOST_SEEN links and takes the
 * next free node in the machine's order, so the whole is O(tasks x MOST_SEEN + edges log tasks); late tasks
 * find what is left over. */
#include "mapping/near_free.h"
#include "mapping/search.h"

#include <math.h>
#include <string.h>

enum { MOST_CANDIDATES = 8, MOST_PARTNERS = 8, MOST_SEEN = 4096 };

struct greedy {
    const struct fc_network *net;
    struct fc_sites sites; /* for their bandwidths */
    const struct fc_slots *slots;
    const struct fc_routing_ops *routing;
    struct fc_unit_graph graph;
    struct fc_walk walk;
    struct fc_mapping *mapping;
    /* The unplaced tasks as a heap: most tied first, then those that talk most, then lower numbers. */
    uint32_t *heap, n_heap; /* [n_tasks] */
    uint32_t *position;     /* [n_tasks] in the heap; FC_NONE: placed */
    double *tie, *talk;     /* [n_tasks] bytes with placed tasks, and with all */
    struct fc_near_free near;
};

/* ---- the heap ---- */

static bool before(const struct greedy *g, uint32_t a, uint32_t b)
{
    if (g->tie[a] != g->tie[b]) return g->tie[a] > g->tie[b];
    if (g->talk[a] != g->talk[b]) return g->talk[a] > g->talk[b];
    return a < b;
}
static void put(struct greedy *g, uint32_t at, uint32_t task)
{
    g->heap[at] = task;
    g->position[task] = at;
}
static void rise(struct greedy *g, uint32_t task)
{
    uint32_t at = g->position[task];
    for (; at > 0 && before(g, task, g->heap[(at - 1) / 2]); at = (at - 1) / 2) put(g, at, g->heap[(at - 1) / 2]);
    put(g, at, task);
}
static void sink(struct greedy *g, uint32_t at, uint32_t task)
{
    for (uint32_t child; (child = 2 * at + 1) < g->n_heap; at = child) {
        if (child + 1 < g->n_heap && before(g, g->heap[child + 1], g->heap[child])) child++;
        if (!before(g, g->heap[child], task)) break;
        put(g, at, g->heap[child]);
    }
    put(g, at, task);
}
static uint32_t take_first(struct greedy *g)
{
    uint32_t first = g->heap[0], last = g->heap[--g->n_heap];
    if (g->n_heap > 0) sink(g, 0, last);
    g->position[first] = FC_NONE;
    return first;
}

/* ---- where to ---- */

/* The placed partners of the task with most bytes, most first; returns how many. */
static int find_partners(const struct greedy *g, uint32_t task, uint32_t *partner, double *bytes)
{
    int n = 0;
    for (uint64_t e = g->graph.first[task]; e < g->graph.first[task + 1]; e++) {
        uint32_t other = g->graph.other[e];
        double b = g->graph.out[e] + g->graph.in[e];
        int at = n;
        if (g->position[other] != FC_NONE) continue;
        while (at > 0 && bytes[at - 1] < b) at--;
        if (at == MOST_PARTNERS) continue;
        if (n < MOST_PARTNERS) n++;
        memmove(&partner[at + 1], &partner[at], (size_t)(n - 1 - at) * sizeof *partner);
        memmove(&bytes[at + 1], &bytes[at], (size_t)(n - 1 - at) * sizeof *bytes);
        partner[at] = other;
        bytes[at] = b;
    }
    return n;
}

/* Link time of a byte from one node to the other. */
static double byte_time(struct greedy *g, uint32_t from, uint32_t to)
{
    double time = 0;
    if (from == to) return 0;
    g->walk.n = 0;
    g->routing->walk(g->net, from, to, 1, &g->walk);
    for (uint32_t i = 0; i < g->walk.n; i++) time += g->walk.weight[i] / fc_site_bandwidth(&g->sites, g->walk.link[i]);
    return time;
}

static uint32_t choose_place(struct greedy *g, uint32_t task, uint32_t last)
{
    uint32_t partner[MOST_PARTNERS], candidate[MOST_CANDIDATES], best = FC_NONE;
    double bytes[MOST_PARTNERS], least = INFINITY;
    int n_partners = find_partners(g, task, partner, bytes);
    if (n_partners == 0) return fc_near_free_next(&g->near, last);
    int n = fc_near_free_find(&g->near, g->mapping->node[partner[0]], MOST_SEEN, candidate, MOST_CANDIDATES);
    for (int c = 0; c < n; c++) {
        double cost = 0;
        for (int p = 0; p < n_partners && cost < least; p++)
            cost += bytes[p] * byte_time(g, g->slots->node[candidate[c]], g->mapping->node[partner[p]]);
        if (cost < least) {
            least = cost;
            best = candidate[c];
        }
    }
    return best != FC_NONE ? best : fc_near_free_next(&g->near, g->near.place[g->mapping->node[partner[0]]]);
}

/* ---- the whole ---- */

static void place_all(struct greedy *g)
{
    uint32_t last = 0;
    while (g->n_heap > 0) {
        uint32_t task = take_first(g), place = choose_place(g, task, last);
        fc_near_free_take(&g->near, place, task, g->mapping);
        last = place;
        for (uint64_t e = g->graph.first[task]; e < g->graph.first[task + 1]; e++) {
            uint32_t other = g->graph.other[e];
            if (g->position[other] == FC_NONE) continue;
            g->tie[other] += g->graph.out[e] + g->graph.in[e];
            rise(g, other);
        }
    }
}

static enum fc_code start(struct greedy *g, const struct fc_map_problem *problem, struct fc_status *st)
{
    struct fc_arena *arena = &g->mapping->arena;
    const struct fc_network *net = problem->net;
    uint32_t n = g->mapping->n_tasks;
    g->net = net;
    g->sites = (struct fc_sites){.net = net, .background_bytes_per_s = problem->background_bytes_per_s};
    g->routing = net->machine->routing;
    for (const struct fc_routing_ops *const *r = fc_routings; *r; r++)
        if (fc_routing_takes(*r, net->machine) && (*r)->walk_capacity(net) < g->routing->walk_capacity(net))
            g->routing = *r;
    uint32_t *unit = fc_alloc(arena, n, sizeof *unit, st);
    g->heap = unit ? fc_alloc(arena, n, sizeof *g->heap, st) : NULL;
    g->position = g->heap ? fc_alloc(arena, n, sizeof *g->position, st) : NULL;
    g->tie = g->position ? fc_alloc(arena, n, sizeof *g->tie, st) : NULL;
    g->talk = g->tie ? fc_alloc(arena, n, sizeof *g->talk, st) : NULL;
    if (!g->talk || fc_near_free_start(&g->near, net, g->slots, arena, st)) return st->code;
    for (uint32_t t = 0; t < n; t++) unit[t] = t;
    if (fc_unit_graph_build(problem->demand, unit, n, arena, &g->graph, st)) return st->code;
    for (uint32_t t = 0; t < n; t++)
        for (uint64_t e = g->graph.first[t]; e < g->graph.first[t + 1]; e++)
            g->talk[t] += g->graph.out[e] + g->graph.in[e];
    for (uint32_t t = 0; t < n; t++) {
        put(g, g->n_heap++, t);
        rise(g, t);
    }
    return FC_OK;
}

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    struct greedy g = {.slots = &slots, .mapping = mapping};
    if (problem->demand->n_entries == 0)
        return fc_refuse(st, FC_INPUT, "strategy greedy follows single messages, and %s is dense traffic or none",
                         problem->demand->name ? problem->demand->name : "this");
    if (fc_map_start(problem, mapping, &slots, st) || start(&g, problem, st) ||
        fc_walk_start(&g.walk, g.routing->walk_capacity(problem->net), st))
        return st->code;
    place_all(&g);
    fc_walk_free(&g.walk);
    return FC_OK;
}

static double work(const struct fc_map_problem *problem)
{
    return 45.0 * (double)problem->demand->n_entries + 20.0 * problem->net->n_nodes;
}

const struct fc_strategy_ops fc_strategy_greedy = {
    .name = "greedy",
    .help = "one task after the other, the most tied one next to its partners",
    .source = "Hoefler & Snir, ICS'11, section 4.1",
    .map = map,
    .work = work,
};
