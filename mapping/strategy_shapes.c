/* strategy_shapes.c - blocks of given shapes on nodes, drawers and supernodes; what they do not tile goes to
 * random drawers.
 *
 * shapes:NODE/DRAWER/SUPERNODE, or only the inner levels: each a box of tasks as 4x2x2x2, the grid's fastest
 * dimension first, tiled by the box of the level inside it. The outermost boxes follow each other in
 * row-major order on the units of their level. They may leave a rest in one dimension of the grid: a slab,
 * which is cut into boxes for drawers (nodes, when only their shape is given) by the rule of blocks.c, each
 * on a random one of the drawers that are left. Source: Bhatele et al., SC'11, tables 3 and 5, and section 7
 * for the rest ("we continue to map MPI tasks in the described shapes as long as it is possible to pack them
 * neatly within the supernodes, and for the remaining supernodes, we do a random drawer assignment"). */
#include "mapping/map_build.h"

#include <stdlib.h>
#include <string.h>

static const char name[] = "shapes";

/* What is being placed: one box of the grid at a time. */
struct job {
    const struct fc_map_problem *problem;
    const struct fc_slots *slots;
    struct fc_mapping *mapping;
    struct fc_blocks blocks;
    int cut;         /* dimension with a rest */
    long long whole; /* tasks of that dimension that the blocks tile */
    struct fc_status *st;
};

/* ---- the text ---- */

static enum fc_code bad_text(const struct job *j)
{
    return fc_refuse(j->st, FC_INPUT,
                     "strategy %s: '%.80s' is not 1 to 3 boxes of %d sides (expected NODE/DRAWER/SUPERNODE, each "
                     "like 4x2x2x2)",
                     name, j->problem->argument, j->blocks.n_grid);
}

static enum fc_code read_shapes(struct job *j)
{
    struct fc_blocks *b = &j->blocks;
    const char *at = j->problem->argument;
    for (int level = 0;; level++) {
        for (int d = b->n_grid - 1; d >= 0; d--) { /* fastest first; the grid is kept slowest first */
            char *end;
            long long side = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : 0;
            if (side < 1 || side >= FC_NONE || (d > 0 && *end != 'x')) return bad_text(j);
            b->block[level][d] = side;
            at = end + (d > 0);
        }
        b->top = (enum fc_level)level;
        if (*at == 0) return FC_OK;
        if (*at++ != '/' || level + 1 == FC_N_LEVELS) return bad_text(j);
    }
}

/* ---- do they fit? ---- */

static double volume(const struct fc_blocks *b, int level)
{
    double v = 1;
    for (int d = 0; d < b->n_grid; d++) v *= (double)b->block[level][d];
    return v;
}

/* Shapes near that of the level which would do there. */
static char *near(const struct job *j, int level, char *out, size_t size)
{
    struct fc_blocks grid = j->blocks;
    uint32_t room = level ? grid.nodes_per_unit[level] / grid.nodes_per_unit[level - 1] : j->slots->per_node;
    double least = level == (int)grid.top ? (double)j->problem->demand->n_tasks / grid.n_units : 1;
    memcpy(grid.grid, j->problem->demand->grid, sizeof grid.grid);
    return fc_block_shapes_near(&grid, grid.block[level], level ? grid.block[level - 1] : NULL,
                                room * (level ? volume(&grid, level - 1) : 1), least, out, size);
}

static enum fc_code check_levels(const struct job *j)
{
    char shapes[500];
    static const char *const names[] = {"node", "drawer", "supernode"};
    static const char *const inner_names[] = {"task", "node", "drawer"};
    const struct fc_blocks *b = &j->blocks;
    for (int level = 0; level <= (int)b->top; level++) {
        double inner = level ? volume(b, level - 1) : 1;
        uint32_t room = level ? b->nodes_per_unit[level] / b->nodes_per_unit[level - 1] : j->slots->per_node;
        for (int d = 0; level && d < b->n_grid; d++)
            if (b->block[level][d] % b->block[level - 1][d])
                return fc_refuse(j->st, FC_INPUT,
                                 "strategy %s: a side of %lld tasks of the %s is no multiple of the %s's %lld (%s)",
                                 name, b->block[level][d], names[level], names[level - 1], b->block[level - 1][d],
                                 near(j, level, shapes, sizeof shapes));
        if (volume(b, level) / inner > room)
            return fc_refuse(j->st, FC_INPUT, "strategy %s: the block of a %s has %.0f %ss, and a %s holds %u (%s)",
                             name, names[level], volume(b, level) / inner, inner_names[level], names[level], room,
                             near(j, level, shapes, sizeof shapes));
    }
    return FC_OK;
}

/* Sets cut and whole. */
static enum fc_code find_rest(struct job *j)
{
    const struct fc_blocks *b = &j->blocks;
    const long long *grid = j->problem->demand->grid, *top = b->block[b->top];
    double n_blocks = 1;
    int n_cut = 0;
    char shapes[500];
    j->cut = 0;
    for (int d = 0; d < b->n_grid; d++) {
        if (top[d] > grid[d])
            return fc_refuse(j->st, FC_INPUT, "strategy %s: a side of %lld tasks is longer than the grid's %lld (%s)",
                             name, top[d], grid[d], near(j, (int)b->top, shapes, sizeof shapes));
        if (grid[d] % top[d]) {
            j->cut = d;
            n_cut++;
        }
        n_blocks *= (double)(grid[d] / top[d]);
    }
    j->whole = grid[j->cut] / top[j->cut] * top[j->cut];
    if (n_cut > 1)
        return fc_refuse(j->st, FC_INPUT,
                         "strategy %s: the outermost block leaves a rest in %d dimensions of the grid (expected 1 at "
                         "most), %s",
                         name, n_cut, near(j, (int)b->top, shapes, sizeof shapes));
    if (n_blocks > b->n_units)
        return fc_refuse(j->st, FC_INPUT, "strategy %s: %.0f outermost blocks, and only %u units to hold them (%s)",
                         name, n_blocks, b->n_units, near(j, (int)b->top, shapes, sizeof shapes));
    return FC_OK;
}

/* ---- placing ---- */

/* Tasks of the part, a box of the grid that begins at `from` in dimension cut, to their numbers in the job.
 */
static void take_over(const struct job *j, const long long *box, long long from, const struct fc_mapping *part)
{
    int n = j->blocks.n_grid;
    long long c[FC_MAX_DIMS] = {0};
    for (uint32_t t = 0; t < part->n_tasks; t++) {
        uint64_t task = 0;
        for (int d = 0; d < n; d++)
            task = task * (uint64_t)j->problem->demand->grid[d] + (uint64_t)(c[d] + (d == j->cut ? from : 0));
        j->mapping->core[task] = part->core[t];
        j->mapping->node[task] = part->node[t];
        for (int d = n - 1; d >= 0 && ++c[d] == box[d]; d--) c[d] = 0;
    }
}

/* A job of `length` tasks in dimension cut on the given nodes. */
static void sub_problem(const struct job *j, long long length, struct fc_demand *demand, struct fc_map_problem *problem)
{
    *demand = (struct fc_demand){.name = j->problem->demand->name, .n_grid = j->blocks.n_grid};
    memcpy(demand->grid, j->problem->demand->grid, sizeof demand->grid);
    demand->grid[j->cut] = length;
    demand->n_tasks = (uint32_t)((uint64_t)j->problem->demand->n_tasks / (uint64_t)j->problem->demand->grid[j->cut] *
                                 (uint64_t)length);
    *problem = *j->problem;
    problem->demand = demand;
    problem->argument = NULL; /* said here */
}

static enum fc_code place_whole(struct job *j, struct fc_mapping *part)
{
    struct fc_demand demand;
    struct fc_map_problem problem;
    struct fc_slots slots;
    sub_problem(j, j->whole, &demand, &problem);
    if (fc_map_start(&problem, part, &slots, j->st)) return j->st->code;
    memcpy(j->blocks.grid, demand.grid, sizeof j->blocks.grid);
    fc_blocks_place(&j->blocks, NULL, &slots, part);
    take_over(j, demand.grid, 0, part);
    return FC_OK;
}

/* The rest, on nodes that `whole` does not use. */
static enum fc_code place_rest(struct job *j, const struct fc_mapping *whole, struct fc_mapping *part)
{
    struct fc_demand demand;
    struct fc_map_problem problem;
    struct fc_slots slots;
    struct fc_blocks blocks;
    struct fc_arena *arena = &part->arena;
    enum fc_level level = j->blocks.top < FC_LEVEL_DRAWER ? j->blocks.top : FC_LEVEL_DRAWER;
    sub_problem(j, j->problem->demand->grid[j->cut] - j->whole, &demand, &problem);
    bool *used = fc_alloc(arena, problem.net->n_nodes, sizeof *used, j->st);
    uint32_t *left = used ? fc_alloc(arena, j->slots->n_nodes, sizeof *left, j->st) : NULL;
    if (!left) return j->st->code;
    for (uint32_t t = 0; t < whole->n_tasks; t++) used[whole->node[t]] = true;
    problem.nodes = left;
    problem.n_nodes = 0;
    for (uint32_t i = 0; i < j->slots->n_nodes; i++)
        if (!used[j->slots->node[i]]) left[problem.n_nodes++] = j->slots->node[i];
    if (fc_map_start(&problem, part, &slots, j->st) ||
        fc_blocks_choose(&problem, &slots, level, true, name, arena, &blocks, j->st))
        return j->st->code;
    uint32_t *order = fc_alloc(arena, blocks.n_units, sizeof *order, j->st);
    if (!order) return j->st->code;
    fc_random_permutation(problem.seed, FC_MAP_RANDOM_UNITS, order, blocks.n_units);
    fc_blocks_place(&blocks, order, &slots, part);
    take_over(j, demand.grid, j->whole, part);
    return FC_OK;
}

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    struct fc_mapping whole = {0}, rest = {0};
    struct job j = {.problem = problem, .slots = &slots, .mapping = mapping, .st = st};
    if (problem->demand->n_grid == 0)
        return fc_refuse(st, FC_INPUT, "strategy %s needs a task grid, which only stencil patterns have", name);
    j.blocks.n_grid = problem->demand->n_grid;
    if (fc_map_start(problem, mapping, &slots, st) || read_shapes(&j) ||
        fc_blocks_units(problem, &slots, j.blocks.top, name, &mapping->arena, &j.blocks, st) || check_levels(&j) ||
        find_rest(&j))
        return st->code;
    if (!place_whole(&j, &whole) && j.whole < problem->demand->grid[j.cut]) place_rest(&j, &whole, &rest);
    fc_mapping_free(&whole);
    fc_mapping_free(&rest);
    return st->code;
}

const struct fc_strategy_ops fc_strategy_shapes = {
    .name = "shapes",
    .help = "blocks of given shapes, what they do not tile on random drawers: shapes:4x2x2x2/4x4x4x4/8x8x4x4",
    .source = "Bhatele et al., SC'11, tables 3 and 5, section 7",
    .argument = "the shapes of its blocks: shapes:NODE/DRAWER/SUPERNODE, each like 4x2x2x2, outer ones may "
                "be left out",
    .map = map,
};
