/* strategy_random.c - every task on a core of its own drawn uniformly from the allowed ones: the baseline
 * that spreads traffic evenly and ignores locality. */
#include "mapping/map_build.h"

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    if (fc_map_start(problem, mapping, &slots, st)) return st->code;
    uint32_t *order = fc_alloc(&mapping->arena, slots.n, sizeof *order, st);
    if (!order) return st->code;
    fc_random_permutation(problem->seed, FC_MAP_RANDOM_CORES, order, (uint32_t)slots.n);
    for (uint32_t t = 0; t < mapping->n_tasks; t++) fc_map_put_slot(mapping, &slots, t, order[t]);
    return FC_OK;
}

/* All cores are shuffled. */
static double work(const struct fc_map_problem *problem)
{
    double nodes = problem->nodes ? (double)problem->n_nodes : problem->net->n_nodes;
    return 4 * nodes * (problem->spread ? 1 : problem->net->machine->cores_per_node);
}

const struct fc_strategy_ops fc_strategy_random = {
    .name = "random",
    .help = "tasks on random cores",
    .source = "uniform random permutation",
    .map = map,
    .work = work,
    .blind = true,
};
