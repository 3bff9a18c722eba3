/* map_build.h - private to mapping/: what strategies share (mapping.c, blocks.c). */
#pragma once

#include "mapping/mapping.h"

/* Streams of random numbers, one a use. */
enum { FC_MAP_RANDOM_CORES = 0x6d617031, FC_MAP_RANDOM_UNITS, FC_MAP_PROPOSALS, FC_MAP_RANDOM_SCOTCH = 0x6d617073 };

/* Where tasks may go: slot i is core i % per_node of allowed node i / per_node, nodes in the order given. */
struct fc_slots {
    const uint32_t *node; /* [n_nodes] allowed nodes */
    uint32_t n_nodes;
    uint32_t per_node;       /* tasks a node may hold: its cores, or 1 when the problem says spread */
    uint32_t cores_per_node; /* of the machine */
    uint64_t n;              /* n_nodes * per_node; of uneven nodes, of all together */
    bool uneven;             /* nodes hold different numbers of tasks: per_node is the most, slots are not to be used */
};

/* Checks the problem (nodes exist and differ, tasks fit), lists the slots and allocates the mapping's arrays,
 * all in the mapping's arena. */
enum fc_code fc_map_start(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_slots *slots,
                          struct fc_status *st);
static inline void fc_map_put(struct fc_mapping *mapping, const struct fc_slots *slots, uint32_t task, uint32_t node,
                              uint32_t place)
{
    mapping->node[task] = node;
    mapping->core[task] = node * slots->cores_per_node + place;
}
static inline void fc_map_put_slot(struct fc_mapping *mapping, const struct fc_slots *slots, uint32_t task,
                                   uint64_t slot)
{
    fc_map_put(mapping, slots, task, slots->node[slot / slots->per_node], (uint32_t)(slot % slots->per_node));
}

/* ---- units: nodes, drawers, supernodes (blocks.c)
 * ---------------------------------------------------------------- */

/* Levels of the machine's hierarchy, inner to outer. */
enum fc_level { FC_LEVEL_NODE, FC_LEVEL_DRAWER, FC_LEVEL_SUPERNODE, FC_N_LEVELS };

/* A block of tasks for each level up to `top`, each tiled by the block of the level inside it. */
struct fc_blocks {
    int n_grid;
    long long grid[FC_MAX_DIMS];               /* slowest dimension first; no grid: {n_tasks} */
    long long block[FC_N_LEVELS][FC_MAX_DIMS]; /* tasks in each dimension */
    enum fc_level top;
    uint32_t nodes_per_unit[FC_N_LEVELS]; /* nodes of a whole unit of the level */
    uint32_t n_units;                     /* units of the top level whose nodes are all allowed, in order of them */
    uint32_t *first_node;                 /* [n_units] */
    struct fc_ints given[FC_N_LEVELS];    /* shapes that the user gives, n == 0: chosen */
};

/* Sets nodes_per_unit and lists the units of level `top`, in the arena. FC_INPUT: the family lacks the level. */
enum fc_code fc_blocks_units(const struct fc_map_problem *problem, const struct fc_slots *slots, enum fc_level top,
                             const char *name, struct fc_arena *arena, struct fc_blocks *blocks, struct fc_status *st);
/* Reads "node=4x4x2x1,drawer=8x8x2x1" into shape[FC_N_LEVELS]; FC_INPUT names the strategy. */
enum fc_code fc_block_shapes_read(const char *text, const char *strategy, struct fc_ints *shape, struct fc_status *st);
/* "nearest valid shapes: 4x2x2x2, 4x4x2x1" (the grid's fastest dimension first) for blocks->grid: they divide it, are
 * made of `inside` blocks (NULL: any) and have least to most tasks. Returns out. */
char *fc_block_shapes_near(const struct fc_blocks *blocks, const long long *asked, const long long *inside, double most,
                           double least, char *out, size_t size);
/* Checks the given shapes against the grid and the units. FC_INPUT names the nearest valid shapes. */
enum fc_code fc_block_shapes_check(const struct fc_blocks *blocks, uint32_t slots_per_node, const char *strategy,
                                   struct fc_status *st);

/* Chooses the blocks: of those that tile the grid, divide each other and fit the units, the fullest node,
 * then the one with the least surface, then the longest in the fastest dimensions; outer levels likewise.
 * `name` is the strategy's, for messages. FC_INPUT: the family lacks the level, or nothing tiles. A demand
 * without a grid is refused when `needs_grid`, else blocks are runs of consecutive tasks. */
enum fc_code fc_blocks_choose(const struct fc_map_problem *problem, const struct fc_slots *slots, enum fc_level top,
                              bool needs_grid, const char *name, struct fc_arena *arena, struct fc_blocks *blocks,
                              struct fc_status *st);
/* Places every task: top-level blocks in row-major order on units in the order unit_order[n_units] (NULL: as
 * they are), inside a unit likewise level by level. */
void fc_blocks_place(const struct fc_blocks *blocks, const uint32_t *unit_order, const struct fc_slots *slots,
                     struct fc_mapping *mapping);
