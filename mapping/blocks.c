/* blocks.c - blocks of a task grid for nodes, drawers and supernodes (Bhatele et al., SC'11, section 4.1, tables 3, 5).
 *
 * A block of a level is a box of tasks that tiles the grid and is tiled by the block of the level inside it. Chosen are
 * the fullest boxes, then those of least surface sum_i V / b_i over the dimensions that a box does not span (the tasks
 * with a neighbour outside), then those of least sum of sides, then those longest in the fastest dimension. That rule
 * gives exactly the shapes of tables 3 and 5 (there written fastest dimension first) and 4x4x2x1, 8x8x4x1 of section 7.
 * Limits: boxes only, all alike, so a grid side with a large prime factor leaves flat boxes. */
#include "mapping/map_build.h"

#include "models/family_two_level.h"

#include <string.h>

static const char *const level_names[FC_N_LEVELS] = {"node", "drawer", "supernode"};

static enum fc_code set_levels(const struct fc_map_problem *problem, const char *name, struct fc_blocks *b,
                               struct fc_status *st)
{
    b->nodes_per_unit[FC_LEVEL_NODE] = 1;
    if (b->top == FC_LEVEL_NODE) return FC_OK;
    const struct fc_two_level_shape *s = fc_two_level(problem->net);
    if (!s)
        return fc_refuse(st, FC_INPUT, "strategy %s needs %ss, and a %s network has none (two-level networks do)", name,
                         level_names[b->top], problem->net->machine->family->name);
    b->nodes_per_unit[FC_LEVEL_DRAWER] = s->n_positions * s->nodes_per_router;
    b->nodes_per_unit[FC_LEVEL_SUPERNODE] = s->members * s->nodes_per_router;
    return FC_OK;
}

/* The top-level units whose nodes are all allowed, in the order in which their first nodes are listed. */
static enum fc_code find_units(const struct fc_slots *slots, uint32_t n_machine_nodes, struct fc_arena *arena,
                               struct fc_blocks *b, struct fc_status *st)
{
    uint32_t size = b->nodes_per_unit[b->top], n = n_machine_nodes / size;
    uint32_t *allowed = fc_alloc(arena, n, sizeof *allowed, st);
    b->first_node = allowed ? fc_alloc(arena, n, sizeof *b->first_node, st) : NULL;
    if (!b->first_node) return st->code;
    for (uint32_t i = 0; i < slots->n_nodes; i++) allowed[slots->node[i] / size]++;
    for (uint32_t i = 0; i < slots->n_nodes; i++) {
        uint32_t unit = slots->node[i] / size;
        if (allowed[unit] != size) continue;
        b->first_node[b->n_units++] = unit * size;
        allowed[unit] = 0;
    }
    return FC_OK;
}

/* A candidate block and the two numbers that rank it. */
struct candidate {
    long long side[FC_MAX_DIMS];
    double volume, surface;
};

/* Negative when a is to be tried before b; 0 only for equal sides. */
static int compare(const struct candidate *a, const struct candidate *b, int n)
{
    if (a->volume != b->volume) return a->volume > b->volume ? -1 : 1;
    if (a->surface != b->surface) return a->surface < b->surface ? -1 : 1;
    long long sum = 0;
    for (int d = 0; d < n; d++) sum += a->side[d] - b->side[d];
    if (sum != 0) return sum < 0 ? -1 : 1;
    for (int d = 0; d < n; d++)
        if (a->side[d] != b->side[d]) return a->side[d] < b->side[d] ? -1 : 1;
    return 0;
}

/* What a candidate of one level must fit: it is made of `inside` blocks, at most `most` tasks. */
struct search {
    const struct fc_blocks *blocks;
    const long long *inside; /* [n_grid] */
    double most;             /* tasks */
    const struct candidate *after;
    struct candidate at, best;
    bool found;
};

static void rank_candidate(struct search *s)
{
    int n = s->blocks->n_grid;
    s->at.surface = 0;
    for (int d = 0; d < n; d++)
        if (s->at.side[d] < s->blocks->grid[d]) s->at.surface += s->at.volume / (double)s->at.side[d];
    if (s->after && compare(&s->at, s->after, n) <= 0) return;
    if (s->found && compare(&s->at, &s->best, n) >= 0) return;
    s->best = s->at;
    s->found = true;
}

static void enumerate(struct search *s, int d, double volume)
{
    if (d == s->blocks->n_grid) {
        s->at.volume = volume;
        rank_candidate(s);
        return;
    }
    long long g = s->blocks->grid[d];
    for (long long side = s->inside[d]; side <= g && volume * (double)side <= s->most; side += s->inside[d]) {
        if (g % side) continue;
        s->at.side[d] = side;
        enumerate(s, d + 1, volume * (double)side);
    }
}

/* Candidates of the level in order, the first for which the outer levels can be chosen too. The top level's
 * blocks must not outnumber the units. */
static bool choose_level(struct fc_blocks *b, int level, double tasks_per_inner, double n_tasks)
{
    long long ones[FC_MAX_DIMS];
    if (level >= FC_N_LEVELS) return false;
    for (int d = 0; d < b->n_grid; d++) ones[d] = 1;
    uint32_t inner_units = level == 0 ? 1 : b->nodes_per_unit[level] / b->nodes_per_unit[level - 1];
    struct search s = {
        .blocks = b, .inside = level == 0 ? ones : b->block[level - 1], .most = tasks_per_inner * inner_units};
    bool top = level == (int)b->top;
    if (b->given[level].n) { /* checked, except against a block inside it that is being chosen */
        double volume = 1;
        bool fits = true;
        for (int d = 0; d < b->n_grid; d++) {
            volume *= (double)(b->block[level][d] = b->given[level].v[d]);
            fits = fits && b->block[level][d] % s.inside[d] == 0;
        }
        if (!fits || volume > s.most) return false;
        return top ? n_tasks / volume <= b->n_units : choose_level(b, level + 1, volume, n_tasks);
    }
    for (struct candidate last;; last = s.best) {
        s.after = s.found ? &last : NULL;
        s.found = false;
        enumerate(&s, 0, 1);
        if (!s.found) return false;
        memcpy(b->block[level], s.best.side, sizeof s.best.side);
        if (top) return n_tasks / s.best.volume <= b->n_units;
        if (choose_level(b, level + 1, s.best.volume, n_tasks)) return true;
    }
}

/* Without a grid a unit takes the next tasks in order, as many as it holds; the last one may stay part empty.
 */
static void consecutive(const struct fc_slots *slots, struct fc_blocks *b)
{
    for (int level = 0; level <= (int)b->top; level++)
        b->block[level][0] = (long long)slots->per_node * b->nodes_per_unit[level];
}

static enum fc_code no_tiling(const struct fc_slots *slots, const struct fc_blocks *b, const char *name,
                              struct fc_status *st)
{
    char grid[128] = "";
    for (int d = 0; d < b->n_grid; d++) {
        size_t n = strlen(grid);
        snprintf(grid + n, sizeof grid - n, "%s%lld", d ? "x" : "", b->grid[d]);
    }
    return fc_refuse(st, FC_INPUT,
                     "strategy %s: no equal blocks of at most %u tasks a node tile the task grid %s on the "
                     "%u %ss at hand",
                     name, slots->per_node, grid, b->n_units, level_names[b->top]);
}

enum fc_code fc_blocks_units(const struct fc_map_problem *problem, const struct fc_slots *slots, enum fc_level top,
                             const char *name, struct fc_arena *arena, struct fc_blocks *blocks, struct fc_status *st)
{
    blocks->top = top;
    if (set_levels(problem, name, blocks, st)) return st->code;
    return find_units(slots, problem->net->n_nodes, arena, blocks, st);
}

enum fc_code fc_blocks_choose(const struct fc_map_problem *problem, const struct fc_slots *slots, enum fc_level top,
                              bool needs_grid, const char *name, struct fc_arena *arena, struct fc_blocks *blocks,
                              struct fc_status *st)
{
    const struct fc_demand *demand = problem->demand;
    *blocks = (struct fc_blocks){.n_grid = demand->n_grid};
    if (fc_blocks_units(problem, slots, top, name, arena, blocks, st) ||
        (problem->argument && fc_block_shapes_read(problem->argument, name, blocks->given, st)))
        return st->code;
    if (demand->n_grid == 0 && (needs_grid || problem->argument))
        return fc_refuse(st, FC_INPUT, "strategy %s needs a task grid, which only stencil patterns have", name);
    if (demand->n_grid == 0) {
        blocks->n_grid = 1;
        blocks->grid[0] = demand->n_tasks;
        consecutive(slots, blocks);
        uint64_t room = (uint64_t)blocks->n_units * (uint64_t)blocks->block[top][0];
        return room >= demand->n_tasks ? FC_OK : no_tiling(slots, blocks, name, st);
    }
    memcpy(blocks->grid, demand->grid, sizeof blocks->grid);
    if (problem->argument && fc_block_shapes_check(blocks, slots->per_node, name, st)) return st->code;
    /* choose_level gives up at the first top-level candidate that needs too many units: volumes only fall
     * after it. */
    return choose_level(blocks, 0, slots->per_node, demand->n_tasks) ? FC_OK : no_tiling(slots, blocks, name, st);
}

void fc_blocks_place(const struct fc_blocks *b, const uint32_t *unit_order, const struct fc_slots *slots,
                     struct fc_mapping *mapping)
{
    long long c[FC_MAX_DIMS] = {0};
    for (uint32_t task = 0; task < mapping->n_tasks; task++) {
        uint64_t number[FC_N_LEVELS + 1]; /* [0]: place in the node, [level + 1]: unit of the level in the next */
        for (int level = -1; level <= (int)b->top; level++) {
            uint64_t index = 0;
            for (int d = 0; d < b->n_grid; d++) {
                long long outer = level == (int)b->top ? b->grid[d] : b->block[level + 1][d];
                long long inner = level < 0 ? 1 : b->block[level][d];
                index = index * (uint64_t)((outer + inner - 1) / inner) + (uint64_t)(c[d] % outer / inner);
            }
            number[level + 1] = index;
        }
        uint64_t unit = number[b->top + 1];
        uint32_t node = b->first_node[unit_order ? unit_order[unit] : unit];
        for (int level = 0; level < (int)b->top; level++)
            node += (uint32_t)number[level + 1] * b->nodes_per_unit[level];
        fc_map_put(mapping, slots, task, node, (uint32_t)number[0]);
        for (int d = b->n_grid - 1; d >= 0 && ++c[d] == b->grid[d]; d--) c[d] = 0;
    }
}
