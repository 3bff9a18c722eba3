/* map_start.c - the slots that tasks may take: cores of the allowed nodes; and an empty mapping. */
#include "mapping/map_build.h"
#include "mapping/launcher.h"
#include <unistd.h>

static enum fc_code list_nodes(const struct fc_map_problem *problem, struct fc_arena *arena, struct fc_slots *slots,
                               struct fc_status *st)
{
    uint32_t n_machine = problem->net->n_nodes;
    size_t n = problem->nodes ? problem->n_nodes : n_machine;
    uint32_t *node = fc_alloc(arena, n, sizeof *node, st);
    bool *seen = node ? fc_alloc(arena, n_machine, sizeof *seen, st) : NULL;
    if (!seen) return st->code;
    for (size_t i = 0; i < n; i++) {
        node[i] = problem->nodes ? problem->nodes[i] : (uint32_t)i;
        if (node[i] >= n_machine)
            return fc_refuse(st, FC_INPUT, "node %u is not one of the machine's %u nodes", node[i], n_machine);
        if (seen[node[i]]) return fc_refuse(st, FC_INPUT, "node %u is listed twice", node[i]);
        seen[node[i]] = true;
    }
    slots->node = node;
    slots->n_nodes = (uint32_t)n;
    return FC_OK;
}

static enum fc_code check_room(const struct fc_map_problem *problem, const struct fc_slots *slots, struct fc_status *st)
{
    uint32_t n = problem->demand->n_tasks;
    if (n <= slots->n) return FC_OK;
    if (problem->spread)
        return fc_refuse(st, FC_INPUT, "communication graph has %u ranks, one a node, but %s %u nodes", n,
                         problem->nodes ? "only these are allowed:" : "the machine has", slots->n_nodes);
    if (problem->nodes)
        return fc_refuse(st, FC_INPUT, "communication graph has %u ranks but the %u allowed nodes have %llu cores", n,
                         slots->n_nodes, (unsigned long long)slots->n);
    return fc_refuse(st, FC_INPUT, "communication graph has %u ranks but the machine has %llu cores", n,
                     (unsigned long long)slots->n);
}

/* Nodes of several kinds: as many slots on each of one kind. */
static void count_cores(const struct fc_map_problem *problem, struct fc_slots *slots)
{
    slots->n = 0;
    slots->per_node = 0;
    for (uint32_t i = 0; i < slots->n_nodes; i++) {
        uint32_t cores = (uint32_t)fc_node_cores(problem->net, slots->node[i]);
        slots->uneven = slots->uneven || (i > 0 && cores != slots->per_node);
        if (cores > slots->per_node) slots->per_node = cores;
        slots->n += cores;
    }
}

enum fc_code fc_map_start(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_slots *slots,
                          struct fc_status *st)
{
    struct fc_arena *arena = &mapping->arena;
    *slots = (struct fc_slots){.cores_per_node = (uint32_t)problem->net->machine->cores_per_node};
    slots->per_node = problem->spread ? 1 : slots->cores_per_node;
    if (list_nodes(problem, arena, slots, st)) return st->code;
    slots->n = (uint64_t)slots->n_nodes * slots->per_node;
    if (problem->net->node_kind && !problem->spread) count_cores(problem, slots);
    if (slots->uneven && !problem->any_nodes)
        return fc_refuse(
            st, FC_INPUT,
            "the allowed nodes have different numbers of cores (expected --ranks-per-node, --nodes of one kind, or "
            "mapping def or a file)");
    if ((uint64_t)problem->net->n_nodes * slots->cores_per_node >= FC_NONE)
        return fc_refuse(st, FC_NO, "the machine's %llu cores are too many to map (at most %u)",
                         (unsigned long long)problem->net->n_nodes * slots->cores_per_node, FC_NONE - 1);
    if (check_room(problem, slots, st)) return st->code;
    mapping->n_tasks = problem->demand->n_tasks;
    mapping->core = fc_alloc(arena, mapping->n_tasks, sizeof *mapping->core, st);
    mapping->node = mapping->core ? fc_alloc(arena, mapping->n_tasks, sizeof *mapping->node, st) : NULL;
    return mapping->node ? FC_OK : st->code;
}
