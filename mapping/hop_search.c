/* hop_search.c - exchange of units between slots by simulated annealing on hop time.
 *
 * Minimises J = sum over pairs of bytes(u, v) * distance(node of u, node of v), the quadratic assignment
 * problem that topology mappers solve (hop-bytes when every link is alike). Cheap, as a move costs one table
 * entry an edge, and so the way to a good start for the search on link times (search.c). Source: Kirkpatrick,
 * Gelatt, Vecchi, Science 220 (1983); Connolly, EJOR 46 (1990) for quadratic assignment. Limits: a heuristic;
 * the table needs nodes^2 entries. */
#include "mapping/hop_search.h"

#include <math.h>
#include <string.h>

static void distances_by_route(const struct fc_sites *sites, struct fc_walk *walk, struct fc_distance_table *table)
{
    for (uint32_t i = 0; i < table->n; i++)
        for (uint32_t j = 0; j < table->n; j++) {
            if (i == j) continue;
            double seconds = 0;
            walk->n = 0;
            sites->routing->walk(sites->net, sites->node[i], sites->node[j], 1, walk);
            for (uint32_t k = 0; k < walk->n; k++) {
                double bandwidth = fc_site_bandwidth(sites, walk->link[k]);
                if (isfinite(bandwidth)) seconds += walk->weight[k] / bandwidth;
            }
            table->work += walk->n;
            table->distance[(size_t)i * table->n + j] = (float)seconds;
        }
}

static enum fc_code distances_by_hops(const struct fc_sites *sites, struct fc_distance_table *table,
                                      struct fc_status *st)
{
    const struct fc_network *net = sites->net;
    struct fc_arena scratch = {0};
    uint32_t *hops = fc_alloc(&scratch, net->n_vertices, sizeof *hops, st);
    uint32_t *queue = hops ? fc_alloc(&scratch, net->n_vertices, sizeof *queue, st) : NULL;
    for (uint32_t i = 0; queue && i < table->n; i++) {
        fc_distances(net, fc_node_vertex(net, sites->node[i]), hops, queue);
        for (uint32_t j = 0; j < table->n; j++)
            table->distance[(size_t)i * table->n + j] = (float)hops[fc_node_vertex(net, sites->node[j])];
        table->work += net->n_links;
    }
    fc_arena_free(&scratch);
    return queue ? FC_OK : st->code;
}

enum fc_code fc_distances_all(const struct fc_sites *sites, uint64_t most_work, struct fc_arena *arena,
                              struct fc_distance_table *table, struct fc_status *st)
{
    struct fc_walk walk;
    size_t n = sites->n_nodes;
    *table = (struct fc_distance_table){.n = sites->n_nodes};
    double search_work = (double)n * sites->net->n_links / 4; /* breadth first search from every node */
    if (n > FC_MOST_TABLE_NODES || search_work > 4 * (double)most_work) return FC_OK;
    table->distance = fc_alloc(arena, n * n, sizeof *table->distance, st);
    if (!table->distance || fc_walk_start(&walk, sites->routing->walk_capacity(sites->net), st)) return st->code;
    enum fc_code code = FC_OK;
    if (fc_sites_mean_route(sites, &walk) * (double)n * (double)n <= (double)most_work)
        distances_by_route(sites, &walk, table);
    else
        code = distances_by_hops(sites, table, st);
    fc_walk_free(&walk);
    return code;
}

struct anneal {
    const struct fc_unit_graph *graph;
    const struct fc_distance_table *table;
    uint32_t slots_per_node, n_slots;
    uint32_t *slot, *place;   /* [graph->n]; place = slot / slots_per_node */
    uint32_t *unit;           /* [n_slots] */
    uint32_t *best;           /* [graph->n] slots */
    const uint32_t *kind;     /* [n_slots] or NULL */
    const volatile int *stop; /* or NULL */
    uint64_t work;
};

/* Cost of unit u's edges but those with `except`. */
static inline double unit_cost(struct anneal *a, uint32_t u, uint32_t except)
{
    const struct fc_unit_graph *g = a->graph;
    size_t n = a->table->n, here = a->place[u];
    const float *from = a->table->distance + here * n, *to = a->table->distance + here;
    double cost = 0;
    for (uint64_t e = g->first[u]; e < g->first[u + 1]; e++) {
        if (g->other[e] == except) continue;
        size_t there = a->place[g->other[e]];
        cost += g->out[e] * from[there] + g->in[e] * to[there * n];
    }
    a->work += g->first[u + 1] - g->first[u];
    return cost;
}

static void set_slot(struct anneal *a, uint32_t u, uint32_t slot)
{
    a->unit[slot] = u;
    if (u == FC_NONE) return;
    a->slot[u] = slot;
    a->place[u] = slot / a->slots_per_node;
}

static double exchange_gain(struct anneal *a, uint32_t u, uint32_t to)
{
    uint32_t from = a->slot[u], v = a->unit[to];
    double before = unit_cost(a, u, FC_NONE) + (v != FC_NONE ? unit_cost(a, v, u) : 0);
    set_slot(a, u, to);
    set_slot(a, v, from);
    return unit_cost(a, u, FC_NONE) + (v != FC_NONE ? unit_cost(a, v, u) : 0) - before;
}

double fc_hop_cost(const struct fc_unit_graph *graph, const struct fc_distance_table *table, const uint32_t *slot,
                   uint32_t slots_per_node)
{
    double cost = 0;
    for (uint32_t u = 0; u < graph->n; u++)
        for (uint64_t e = graph->first[u]; e < graph->first[u + 1]; e++)
            cost +=
                graph->out[e] *
                table->distance[(size_t)(slot[u] / slots_per_node) * table->n + slot[graph->other[e]] / slots_per_node];
    return cost;
}

static void run(struct anneal *a, double hot, double cold, uint64_t work, uint64_t seed, uint64_t stream)
{
    double cost = fc_hop_cost(a->graph, a->table, a->slot, a->slots_per_node), best = cost, temperature = hot;
    for (uint64_t step = 0; a->work < work; step++) {
        if (step % 1024 == 0) {
            if (a->stop && *a->stop) break;
            temperature = hot * pow(cold / hot, (double)a->work / (double)work);
            if (cost < best) {
                best = cost;
                memcpy(a->best, a->slot, a->graph->n * sizeof *a->best);
            }
        }
        uint64_t bits = fc_random(seed, stream, 2 * step);
        uint32_t u = (uint32_t)((bits & 0xffffffff) * a->graph->n >> 32), from = a->slot[u], to;
        a->work++;
        to = (uint32_t)((bits >> 32) * a->n_slots >> 32);
        if (to / a->slots_per_node == a->place[u] || (a->kind && a->kind[to] != a->kind[from])) continue;
        double gain = exchange_gain(a, u, to);
        if (gain <= 0 || gain < -temperature * log(fc_random_real(seed, stream, 2 * step + 1)))
            cost += gain;
        else {
            set_slot(a, a->unit[from], to); /* who came back, or FC_NONE */
            set_slot(a, u, from);
        }
    }
    if (cost < best) memcpy(a->best, a->slot, a->graph->n * sizeof *a->best);
}

enum fc_code fc_hop_anneal(const struct fc_unit_graph *graph, const struct fc_distance_table *table,
                           uint32_t slots_per_node, const uint32_t *kind, double heat, uint64_t work,
                           const volatile int *stop, uint64_t seed, uint64_t stream, uint32_t *slot,
                           struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct anneal a = {
        .graph = graph, .table = table, .slots_per_node = slots_per_node, .slot = slot, .kind = kind, .stop = stop};
    a.n_slots = table->n * slots_per_node;
    a.place = fc_alloc(&scratch, graph->n, sizeof *a.place, st);
    a.unit = a.place ? fc_alloc(&scratch, a.n_slots, sizeof *a.unit, st) : NULL;
    a.best = a.unit ? fc_alloc(&scratch, graph->n, sizeof *a.best, st) : NULL;
    if (a.best) {
        memset(a.unit, 0xff, a.n_slots * sizeof *a.unit);
        for (uint32_t u = 0; u < graph->n; u++) set_slot(&a, u, slot[u]);
        memcpy(a.best, slot, graph->n * sizeof *a.best);
        double scale = heat * fc_hop_cost(graph, table, slot, slots_per_node) / graph->n;
        if (scale > 0) run(&a, scale, scale / 100, work, seed, stream);
        memcpy(slot, a.best, graph->n * sizeof *slot);
    }
    fc_arena_free(&scratch);
    return st->code;
}
