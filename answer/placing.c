/* placing.c - where a question's tasks sit: by a strategy, a file, or as they are told. */
#include "answer/job.h"

#include <string.h>

/* From a --time of so many seconds on mappings are measured with all the work of the adaptive split. */
enum { FULL_SPLIT_S = 4 };

struct fc_map_problem fc_map_problem_of(const struct fc_question *q, const struct fc_session *s,
                                        const struct fc_demand *demand)
{
    bool over_nodes =
        q->pattern && demand->n_grid == 0 && demand->n_tasks == s->net.n_nodes && strncmp(q->pattern, "multicast", 9);
    return (struct fc_map_problem){
        .net = &s->net,
        .demand = demand,
        .nodes = s->nodes,
        .n_nodes = s->n_nodes,
        .background_bytes_per_s = s->background_bytes_per_s,
        .spread = over_nodes,
        .seed = q->seed,
        .time_s = q->search_given ? fmax(1e-9, q->search_s) : q->search_s,
        .starts_free = !q->search_given,
        .split_share = q->search_given ? fmax(1e-9, fmin(1, q->search_s / FULL_SPLIT_S)) : 0,
        .threads = q->threads,
    };
}

enum fc_code fc_place_problem(const struct fc_question *q, struct fc_map_problem problem, const char *map,
                              struct fc_mapping *mapping, struct fc_status *st)
{
    const struct fc_watcher *watcher = q->watcher;
    uint64_t nodes = problem.nodes ? problem.n_nodes : problem.net->n_nodes, room = nodes * (uint64_t)q->ranks_per_node;
    if (q->ranks_per_node && problem.demand->n_tasks > room)
        return fc_refuse(st, FC_INPUT, "--ranks-per-node %d: %u tasks on %llu nodes (expected at most %llu)",
                         q->ranks_per_node, problem.demand->n_tasks, (unsigned long long)nodes,
                         (unsigned long long)room);
    bool searches = map && !strncmp(map, "optimize", strlen("optimize"));
    searches = searches && watcher && watcher->search_starts;
    problem.progress = watcher ? watcher->progress : NULL;
    problem.stop = searches ? watcher->search_starts(watcher->context) : NULL;
    enum fc_code code = fc_mapping_make(&problem, map ? map : "def", mapping, st);
    if (searches && watcher->search_ends) watcher->search_ends(watcher->context);
    return code;
}

/* Task t on node q->node_of[t], on its cores in the order of the tasks. */
static enum fc_code place_as_told(const struct fc_question *q, const struct fc_session *s, uint32_t n_tasks,
                                  struct fc_mapping *mapping, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t stride = (uint32_t)s->machine.cores_per_node, *used = fc_alloc(&scratch, s->net.n_nodes, sizeof *used, st);
    memset(mapping, 0, sizeof *mapping);
    mapping->strategy = "given";
    mapping->n_tasks = n_tasks;
    mapping->core = fc_alloc(&mapping->arena, n_tasks, sizeof *mapping->core, st);
    mapping->node = fc_alloc(&mapping->arena, n_tasks, sizeof *mapping->node, st);
    if (!st->code && q->n_node_of != n_tasks)
        fc_refuse(st, FC_INPUT, "%u nodes are given for %u tasks (expected one each)", q->n_node_of, n_tasks);
    for (uint32_t t = 0; t < n_tasks && !st->code; t++) {
        uint32_t node = q->node_of[t], cores = node < s->net.n_nodes ? (uint32_t)fc_node_cores(&s->net, node) : 0;
        if (node >= s->net.n_nodes)
            fc_refuse(st, FC_INPUT, "task %u is on node %u (the machine has nodes 0 to %u)", t, node,
                      s->net.n_nodes - 1);
        else if (used[node] == cores)
            fc_refuse(st, FC_INPUT, "node %u has more tasks than its %u cores", node, cores);
        else
            mapping->core[t] = node * stride + used[node]++, mapping->node[t] = node;
    }
    return st->code;
}

enum fc_code fc_place_tasks(const struct fc_question *q, const struct fc_session *s, const struct fc_demand *demand,
                            const char *map, struct fc_mapping *mapping, struct fc_status *st)
{
    if (q->node_of) return place_as_told(q, s, demand->n_tasks, mapping, st);
    return fc_place_problem(q, fc_map_problem_of(q, s, demand), map, mapping, st);
}
