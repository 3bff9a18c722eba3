/* strategy_def.c - the launcher's own order: task t on the t-th allowed core (one task a node: on the t-th
 * allowed node). Source: DEF of Bhatele et al., SC'11, section 4.1. */
#include "mapping/map_build.h"

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    struct fc_map_problem any = *problem;
    any.any_nodes = true;
    if (fc_map_start(&any, mapping, &slots, st)) return st->code;
    if (!slots.uneven) {
        for (uint32_t t = 0; t < mapping->n_tasks; t++) fc_map_put_slot(mapping, &slots, t, t);
        return FC_OK;
    }
    for (uint32_t t = 0, i = 0; t < mapping->n_tasks; i++)
        for (uint32_t c = 0; c < fc_node_cores(problem->net, slots.node[i]) && t < mapping->n_tasks; c++)
            fc_map_put(mapping, &slots, t++, slots.node[i], c);
    return FC_OK;
}

const struct fc_strategy_ops fc_strategy_def = {
    .name = "def",
    .help = "task t on the t-th core, nodes in order",
    .source = "Bhatele et al., SC'11, section 4.1 (DEF)",
    .map = map,
    .blind = true,
};
