/* strategy_blocked.c - blocks of a stencil's task grid on nodes, drawers and supernodes, in order.
 *
 * bnm puts a block on each node; bdm groups node blocks to blocks of a drawer, bsm those to blocks of a
 * supernode; blocks of the outermost level follow in row-major order. Source: BNM, BDM, BSM of Bhatele et
 * al., SC'11, section 4.1, tables 3 and 5; the shapes are chosen by blocks.c. */
#include "mapping/map_build.h"

static enum fc_code map_blocks(const struct fc_map_problem *problem, enum fc_level top, const char *name,
                               struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    struct fc_blocks blocks;
    if (fc_map_start(problem, mapping, &slots, st) ||
        fc_blocks_choose(problem, &slots, top, true, name, &mapping->arena, &blocks, st))
        return st->code;
    fc_blocks_place(&blocks, NULL, &slots, mapping);
    return FC_OK;
}

static enum fc_code map_nodes(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    return map_blocks(problem, FC_LEVEL_NODE, "bnm", mapping, st);
}
static enum fc_code map_drawers(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    return map_blocks(problem, FC_LEVEL_DRAWER, "bdm", mapping, st);
}
static enum fc_code map_supernodes(const struct fc_map_problem *problem, struct fc_mapping *mapping,
                                   struct fc_status *st)
{
    return map_blocks(problem, FC_LEVEL_SUPERNODE, "bsm", mapping, st);
}

const struct fc_strategy_ops fc_strategy_bnm = {
    .name = "bnm",
    .help = "blocks of the task grid on nodes, in order (stencils)",
    .source = "Bhatele et al., SC'11, section 4.1 (BNM)",
    .option = "shapes of its blocks: node=4x4x2x1,drawer=8x8x2x1",
    .map = map_nodes,
};
const struct fc_strategy_ops fc_strategy_bdm = {
    .name = "bdm",
    .help = "blocks of the task grid on nodes and drawers (stencils, two-level)",
    .source = "Bhatele et al., SC'11, section 4.1 (BDM)",
    .option = "shapes of its blocks: node=4x4x2x1,drawer=8x8x2x1",
    .map = map_drawers,
};
const struct fc_strategy_ops fc_strategy_bsm = {
    .name = "bsm",
    .help = "blocks of the task grid on nodes, drawers and supernodes (stencils, two-level)",
    .source = "Bhatele et al., SC'11, section 4.1 (BSM)",
    .option = "shapes of its blocks: node=4x4x2x1,drawer=8x8x2x1",
    .map = map_supernodes,
};
