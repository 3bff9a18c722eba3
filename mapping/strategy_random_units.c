/* strategy_random_units.c - blocks of tasks on random nodes or random drawers.
 *
 * A node (rnm) or drawer (rdm) holds a block of the task grid as bnm and bdm cut it, or a run of consecutive
 * tasks when the traffic has no grid; the units that take the blocks are drawn at random, so traffic between
 * units spreads over the links. Source: RNM and RDM of Bhatele et al., SC'11, section 4.1. Limits: results
 * vary with the seed by some 15 % (rnm) and 1.7 times (rdm); compare several seeds. */
#include "mapping/map_build.h"

static enum fc_code map_units(const struct fc_map_problem *problem, enum fc_level top, const char *name,
                              struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    struct fc_blocks blocks;
    if (fc_map_start(problem, mapping, &slots, st) ||
        fc_blocks_choose(problem, &slots, top, false, name, &mapping->arena, &blocks, st))
        return st->code;
    uint32_t *order = fc_alloc(&mapping->arena, blocks.n_units, sizeof *order, st);
    if (!order) return st->code;
    fc_random_permutation(problem->seed, FC_MAP_RANDOM_UNITS, order, blocks.n_units);
    fc_blocks_place(&blocks, order, &slots, mapping);
    return FC_OK;
}

static enum fc_code map_nodes(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    return map_units(problem, FC_LEVEL_NODE, "rnm", mapping, st);
}
static enum fc_code map_drawers(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    return map_units(problem, FC_LEVEL_DRAWER, "rdm", mapping, st);
}

const struct fc_strategy_ops fc_strategy_rnm = {
    .name = "rnm",
    .help = "blocks of tasks on random nodes",
    .source = "Bhatele et al., SC'11, section 4.1 (RNM)",
    .option = "shapes of its blocks: node=4x4x2x1,drawer=8x8x2x1",
    .map = map_nodes,
};
const struct fc_strategy_ops fc_strategy_rdm = {
    .name = "rdm",
    .help = "blocks of tasks on random drawers (two-level)",
    .source = "Bhatele et al., SC'11, section 4.1 (RDM)",
    .option = "shapes of its blocks: node=4x4x2x1,drawer=8x8x2x1",
    .map = map_drawers,
};
