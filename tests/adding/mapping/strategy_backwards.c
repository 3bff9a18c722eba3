/* strategy_backwards.c - the last task on the first core. */
#include "mapping/map_build.h"

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    if (fc_map_start(problem, mapping, &slots, st)) return st->code;
    for (uint32_t t = 0; t < mapping->n_tasks; t++) fc_map_put_slot(mapping, &slots, t, mapping->n_tasks - 1 - t);
    return FC_OK;
}
const struct fc_strategy_ops fc_strategy_backwards = {
    .name = "backwards",
    .help = "the last task on the first core",
    .source = "none",
    .map = map,
    .blind = true,
};
