/* mapping_bound.c - the bound of a mapping problem: the arrays that the bounds of the optimizer work on, made
 * for any problem. Limits: dense traffic has no list of messages, so none is known; a bound of 0 says nothing
 * and counts as none. */
#include "mapping/map_build.h"
#include "mapping/optimizer.h"

#include <math.h>

enum fc_code fc_mapping_bound(const struct fc_map_problem *problem, double *bound_s, struct fc_status *st)
{
    const struct fc_demand *demand = problem->demand;
    struct fc_mapping scratch = {0};
    struct fc_slots slots;
    struct fc_unit_graph tasks;
    *bound_s = NAN;
    enum fc_code code = fc_map_start(problem, &scratch, &slots, st); /* too many tasks are refused here */
    uint32_t *identity =
        code || demand->n_dense ? NULL : fc_alloc(&scratch.arena, demand->n_tasks, sizeof *identity, st);
    for (uint32_t t = 0; identity && t < demand->n_tasks; t++) identity[t] = t;
    if (identity && !fc_unit_graph_build(demand, identity, demand->n_tasks, &scratch.arena, &tasks, st)) {
        struct fc_sites sites = {problem->net, problem->net->machine->routing, slots.node, slots.n_nodes,
                                 slots.per_node};
        fc_task_bound(&sites, &tasks, bound_s, st);
        if (*bound_s == 0) *bound_s = NAN;
    }
    fc_mapping_free(&scratch);
    return st->code;
}
