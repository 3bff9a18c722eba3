/* strategy_scotch.c - the general graph partitioner Scotch, which minimises hop-bytes on a model of the
 * network.
 *
 * Tasks are vertices of weight 1, edges weigh the bytes both ways (scaled to whole numbers), the target is
 * the network (scotch_target.c). Scotch keeps parts equal to about a hundredth; tasks above a part's cores go
 * to the nearest free ones, last ranks first, which costs less than asking Scotch for strict balance. Jobs of
 * up to SMALL_JOB tasks are mapped with SEEDS seeds and the mapping of the shortest longest link is kept.
 * Deterministic: one thread and a random stream of its own per seed. Source: F. Pellegrini, Static mapping by
 * dual recursive bipartitioning of process and architecture graphs, SHPCC'94; libScotch 7.0. Limits: knows
 * nothing of routes; 2^31 edges. */
#include "mapping/near_free.h"
#include "mapping/scotch_errors.h"
#include "mapping/scotch_target.h"
#include "mapping/search.h"
#include "mapping/torus_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_JOB = 8192, SEEDS = 4, MOST_SEEDS = 1000 };

struct job {
    const struct fc_map_problem *problem;
    const struct fc_slots *slots;
    struct fc_mapping *mapping;
    struct fc_scotch_target target;
    SCOTCH_Num n_edges, *first, *other, *weight, *part;
    uint32_t *late, *best_core; /* [n_tasks] tasks whose part is full; the best mapping */
    int n_seeds;
    struct fc_status *st;
};

/* Bytes become multiples of the least, or, where these add up to too much for Scotch's sums, shares of the
 * whole. */
static void scale_weights(struct job *j, const struct fc_unit_graph *graph)
{
    double least = INFINITY, sum = 0;
    for (SCOTCH_Num e = 0; e < j->n_edges; e++) {
        double bytes = graph->out[e] + graph->in[e];
        least = fmin(least, bytes);
        sum += bytes;
    }
    double most = fmax(1 << 24, 4.0 * j->n_edges), scale = fmin(1 / least, most / sum);
    for (SCOTCH_Num e = 0; e < j->n_edges; e++)
        j->weight[e] = (SCOTCH_Num)fmax(1, round((graph->out[e] + graph->in[e]) * scale));
}

static enum fc_code task_graph(struct job *j, struct fc_arena *arena)
{
    struct fc_unit_graph graph;
    uint32_t n = j->mapping->n_tasks, *unit = fc_alloc(arena, n, sizeof *unit, j->st);
    if (!unit) return j->st->code;
    for (uint32_t t = 0; t < n; t++) unit[t] = t;
    if (fc_unit_graph_build(j->problem->demand, unit, n, arena, &graph, j->st)) return j->st->code;
    if (graph.first[n] >= INT32_MAX / 8 || n >= INT32_MAX / 8)
        return fc_refuse(j->st, FC_NO, "%llu edges of tasks are too many for Scotch",
                         (unsigned long long)graph.first[n]);
    j->n_edges = (SCOTCH_Num)graph.first[n];
    size_t room = (size_t)j->n_edges + 1;
    j->first = fc_alloc(arena, (size_t)n + 1, sizeof *j->first, j->st);
    j->other = j->first ? fc_alloc(arena, room, sizeof *j->other, j->st) : NULL;
    j->weight = j->other ? fc_alloc(arena, room, sizeof *j->weight, j->st) : NULL;
    j->part = j->weight ? fc_alloc(arena, n, sizeof *j->part, j->st) : NULL;
    j->late = j->part ? fc_alloc(arena, n, sizeof *j->late, j->st) : NULL;
    j->best_core = j->late ? fc_alloc(arena, n, sizeof *j->best_core, j->st) : NULL;
    if (!j->best_core) return j->st->code;
    for (uint32_t t = 0; t <= n; t++) j->first[t] = (SCOTCH_Num)graph.first[t];
    for (SCOTCH_Num e = 0; e < j->n_edges; e++) j->other[e] = (SCOTCH_Num)graph.other[e];
    scale_weights(j, &graph);
    return FC_OK;
}

/* ---- one mapping ---- */

/* Tasks onto the cores of their parts, those too many onto the nearest free ones. */
static enum fc_code place(struct job *j, struct fc_near_free *near)
{
    uint32_t n_late = 0;
    const uint32_t *first = j->target.first_place;
    for (uint32_t t = 0; t < j->mapping->n_tasks; t++) {
        if (j->part[t] < 0 || (uint32_t)j->part[t] >= j->target.n_parts)
            return fc_refuse(j->st, FC_FAULT, "Scotch puts task %u in part %lld of %u", t, (long long)j->part[t],
                             j->target.n_parts);
        uint32_t at = fc_near_free_next(near, first[j->part[t]]);
        if (at >= first[j->part[t]] && at < first[j->part[t] + 1])
            fc_near_free_take(near, at, t, j->mapping);
        else
            j->late[n_late++] = t;
    }
    for (uint32_t i = 0; i < n_late; i++) {
        uint32_t from = first[j->part[j->late[i]]], to;
        if (fc_near_free_find(near, j->slots->node[from], UINT32_MAX, &to, 1) == 0)
            to = fc_near_free_next(near, from); /* none that can be reached */
        fc_near_free_take(near, to, j->late[i], j->mapping);
    }
    return FC_OK;
}

static enum fc_code place_parts(struct job *j)
{
    struct fc_arena scratch = {0};
    struct fc_near_free near;
    if (!fc_near_free_start(&near, j->problem->net, j->slots, &scratch, j->st)) place(j, &near);
    fc_arena_free(&scratch);
    return j->st->code;
}

static enum fc_code best_of_seeds(struct job *j, SCOTCH_Graph *graph, SCOTCH_Context *context, int n_seeds)
{
    uint32_t n = j->mapping->n_tasks;
    double best_s = INFINITY;
    for (int i = 0; i < n_seeds; i++) {
        double time_s = 0;
        uint64_t seed = fc_random(j->problem->seed, FC_MAP_RANDOM_SCOTCH, (uint64_t)i) >> 34;
        SCOTCH_contextRandomSeed(context, (SCOTCH_Num)seed);
        SCOTCH_contextRandomReset(context);
        struct fc_scotch_graph tasks = {n, j->first, j->other, j->weight};
        if (fc_scotch_map(context, graph, j->target.arch, j->part, j->st) ||
            (j->target.in_boxes && fc_scotch_boxes_spread(&tasks, &j->target.grid, j->target.factor, j->part, j->st)))
            return j->st->code;
        if (place_parts(j) || (n_seeds > 1 && fc_map_link_time(j->problem, j->mapping, &time_s, NULL, j->st)))
            return j->st->code;
        if (time_s >= best_s) continue;
        best_s = time_s;
        memcpy(j->best_core, j->mapping->core, n * sizeof *j->best_core);
    }
    for (uint32_t t = 0; t < n; t++) {
        j->mapping->core[t] = j->best_core[t];
        j->mapping->node[t] = j->best_core[t] / j->slots->cores_per_node;
    }
    return FC_OK;
}

static enum fc_code map_in_context(struct job *j, SCOTCH_Context *context, int n_seeds)
{
    struct fc_arena *arena = &j->mapping->arena;
    SCOTCH_Graph *graph = SCOTCH_graphAlloc();
    if (!graph || SCOTCH_graphInit(graph)) {
        free(graph);
        return fc_out_of_memory(j->st, "the graph of the tasks");
    }
    if (!task_graph(j, arena) && !fc_scotch_target_make(&j->target, j->problem->net, j->slots, context, arena, j->st)) {
        if (!fc_scotch_check(!SCOTCH_graphBuild(graph, 0, (SCOTCH_Num)j->mapping->n_tasks, j->first, j->first + 1, NULL,
                                                NULL, j->n_edges, j->other, j->weight),
                             "the graph of the tasks", j->st))
            best_of_seeds(j, graph, context, n_seeds);
    }
    fc_scotch_target_free(&j->target);
    SCOTCH_graphExit(graph);
    free(graph);
    return j->st->code;
}

static void map_by_scotch(void *of)
{
    struct job *j = of;
    struct fc_status *st = j->st;
    SCOTCH_Context *context = SCOTCH_contextAlloc();
    if (!context || SCOTCH_contextInit(context)) {
        free(context);
        fc_out_of_memory(st, "the context of Scotch");
        return;
    }
    if (!fc_scotch_check(!SCOTCH_contextRandomClone(context) && !SCOTCH_contextThreadSpawn(context, 1, NULL) &&
                             !SCOTCH_contextOptionSetNum(context, SCOTCH_OPTIONNUMDETERMINISTIC, 1),
                         "the context of Scotch", st))
        map_in_context(j, context, j->n_seeds);
    SCOTCH_contextExit(context);
    free(context);
}

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    struct job j = {.problem = problem, .slots = &slots, .mapping = mapping, .st = st};
    long long n_seeds = problem->demand->n_tasks <= SMALL_JOB ? SEEDS : 1;
    if (problem->demand->n_entries == 0)
        return fc_refuse(st, FC_INPUT, "strategy scotch follows single messages, and %s is dense traffic or none",
                         problem->demand->name ? problem->demand->name : "this");
    if (problem->argument && fc_word_int(problem->argument, strlen(problem->argument), 1, MOST_SEEDS, "number of seeds",
                                         &n_seeds, (struct fc_place){"strategy scotch", 0}, st))
        return st->code;
    if (fc_map_start(problem, mapping, &slots, st)) return st->code;
    j.n_seeds = (int)n_seeds;
    double bytes = 1e6 + 200.0 * (double)problem->demand->n_entries + 400.0 * (double)mapping->n_tasks +
                   200.0 * (double)problem->net->n_links; /* some three times what was seen */
    return fc_scotch(map_by_scotch, &j, (size_t)bytes, st);
}

/* Scotch's work falls on the messages, and on pairs of parts where it has many; that on boxes on the messages. */
static double work(const struct fc_map_problem *problem)
{
    double entries = (double)problem->demand->n_entries,
           parts = problem->nodes ? (double)problem->n_nodes : problem->net->n_nodes;
    uint32_t factor[FC_MAX_DIMS];
    struct fc_grid grid;
    if (!problem->nodes && fc_grid(problem->net, &grid) && fc_scotch_boxes_choose(&grid, factor)) {
        for (int d = 0; d < grid.n_dims; d++) parts /= factor[d];
        entries *= 2;
    }
    double seeds = problem->argument ? atof(problem->argument) : problem->demand->n_tasks <= SMALL_JOB ? SEEDS : 1;
    return seeds * (2e5 + 160 * entries + parts * parts / 3);
}

const struct fc_strategy_ops fc_strategy_scotch = {
    .name = "scotch",
    .help = "the graph partitioner Scotch on a model of the network",
    .source = "Pellegrini, SHPCC'94; libScotch 7.0",
    .option = "how many seeds it tries: scotch:12",
    .map = map,
    .work = work,
};
