/* block_shapes.c - block shapes that the user gives: "bsm:node=4x4x2x1,drawer=8x8x2x1".
 *
 * A shape has a side for each dimension of the task grid, in the order in which the pattern gives the grid. A
 * valid one divides the grid, consists of whole blocks of the level inside it, holds no more tasks than its
 * unit has slots, and the outermost one leaves no more blocks than there are units. The nearest valid shapes
 * of a wrong one are those of least sum over the dimensions of |ln(side / side asked for)|. */
#include "mapping/map_build.h"

#include <math.h>
#include <string.h>

static const char *const level_names[FC_N_LEVELS] = {"node", "drawer", "supernode"};

enum fc_code fc_block_shapes_read(const char *text, const char *strategy, struct fc_ints *shape, struct fc_status *st)
{
    struct fc_key keys[FC_N_LEVELS];
    struct fc_arena arena = {0};
    struct fc_status why = {0};
    for (int level = 0; level < FC_N_LEVELS; level++)
        keys[level] = (struct fc_key){
            level_names[level],  FC_KEY_INTS, FC_NUMBER, (size_t)level * sizeof *shape, 1, 1e9, NULL, NULL,
            "sides of the block"};
    memset(shape, 0, FC_N_LEVELS * sizeof *shape);
    fc_keys_parse(keys, FC_N_LEVELS, shape, text, 0, &arena, (struct fc_place){0}, &why);
    fc_arena_free(&arena);
    if (!why.code && *text) return FC_OK;
    return fc_refuse(st, FC_INPUT, "strategy %s: %s", strategy,
                     why.code ? why.message : "no shape behind the ':' (expected e.g. node=4x4x2x1)");
}

static char *shape_text(char *out, size_t size, const long long *side, int n, bool fastest_first)
{
    size_t used = 0;
    out[0] = '\0';
    for (int d = 0; d < n && used < size; d++)
        used += (size_t)snprintf(out + used, size - used, "%s%lld", d ? "x" : "", side[fastest_first ? n - 1 - d : d]);
    return out;
}

/* ---- the nearest valid shapes ---- */

enum { MOST_NEAR = 3 };
struct nearest {
    const struct fc_blocks *blocks;
    const long long *asked, *inside; /* [n_grid] inside NULL: any */
    double most, least;              /* tasks */
    long long side[FC_MAX_DIMS], found[MOST_NEAR][FC_MAX_DIMS];
    double distance[MOST_NEAR];
    int n;
};

static void keep(struct nearest *s, double distance)
{
    int at = s->n < MOST_NEAR ? s->n++ : MOST_NEAR;
    if (at == MOST_NEAR && distance >= s->distance[MOST_NEAR - 1]) return;
    if (at == MOST_NEAR) at--;
    for (; at > 0 && s->distance[at - 1] > distance; at--) {
        s->distance[at] = s->distance[at - 1];
        memcpy(s->found[at], s->found[at - 1], sizeof s->found[at]);
    }
    s->distance[at] = distance;
    memcpy(s->found[at], s->side, sizeof s->side);
}

static void look(struct nearest *s, int d, double volume, double distance)
{
    if (d == s->blocks->n_grid) {
        if (volume >= s->least) keep(s, distance);
        return;
    }
    long long g = s->blocks->grid[d], step = s->inside ? s->inside[d] : 1;
    for (long long side = step; side <= g && volume * (double)side <= s->most; side += step) {
        double more = fabs(log((double)side / (double)s->asked[d]));
        if (g % side || (s->n == MOST_NEAR && distance + more >= s->distance[MOST_NEAR - 1])) continue;
        s->side[d] = side;
        look(s, d + 1, volume * (double)side, distance + more);
    }
}

static char *near_text(struct nearest *s, bool fastest_first, char *out, size_t size)
{
    char one[160];
    look(s, 0, 1, 0);
    snprintf(out, size, "%s", s->n ? "nearest valid shapes: " : "no shape is valid here");
    for (int i = 0; i < s->n; i++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", i ? ", " : "",
                 shape_text(one, sizeof one, s->found[i], s->blocks->n_grid, fastest_first));
    }
    return out;
}

char *fc_block_shapes_near(const struct fc_blocks *blocks, const long long *asked, const long long *inside, double most,
                           double least, char *out, size_t size)
{
    struct nearest s = {.blocks = blocks, .asked = asked, .inside = inside, .most = most, .least = least};
    return near_text(&s, true, out, size);
}

static enum fc_code refuse(struct nearest *s, const char *strategy, const char *unit, const char *why,
                           struct fc_status *st)
{
    char asked[200], near[500];
    return fc_refuse(st, FC_INPUT, "strategy %s: block %s of a %s %s (%s)", strategy,
                     shape_text(asked, sizeof asked, s->asked, s->blocks->n_grid, false), unit, why,
                     near_text(s, false, near, sizeof near));
}

/* ---- checks ---- */

static enum fc_code check_level(const struct fc_blocks *b, int level, uint32_t slots_per_node, const char *strategy,
                                struct fc_status *st)
{
    const struct fc_ints *shape = &b->given[level];
    const char *unit = level_names[level];
    char why[200] = "";
    double volume = 1, n_tasks = 1;
    if (level > (int)b->top)
        return fc_refuse(st, FC_INPUT, "strategy %s has no blocks of a %s (its largest are of a %s)", strategy, unit,
                         level_names[b->top]);
    if (shape->n != b->n_grid)
        return fc_refuse(st, FC_INPUT, "strategy %s: the block of a %s has %d sides and the task grid %d dimensions",
                         strategy, unit, shape->n, b->n_grid);
    for (int d = 0; d < b->n_grid; d++) n_tasks *= (double)b->grid[d];
    struct nearest s = {.blocks = b, .asked = shape->v, .most = (double)slots_per_node * b->nodes_per_unit[level]};
    if (level > 0 && b->given[level - 1].n) s.inside = b->given[level - 1].v;
    if (level == (int)b->top) s.least = n_tasks / b->n_units;
    for (int d = 0; d < b->n_grid; d++) {
        volume *= (double)shape->v[d];
        if (b->grid[d] % shape->v[d])
            snprintf(why, sizeof why, "does not divide the task grid: %lld is no part of %lld", shape->v[d],
                     b->grid[d]);
        else if (s.inside && shape->v[d] % s.inside[d] && !*why)
            snprintf(why, sizeof why, "is not made of whole blocks of a %s: %lld is no multiple of %lld",
                     level_names[level - 1], shape->v[d], s.inside[d]);
    }
    if (!*why && volume > s.most)
        snprintf(why, sizeof why, "has %.0f tasks, and a %s holds %.0f", volume, unit, s.most);
    if (!*why && volume < s.least)
        snprintf(why, sizeof why, "makes %.0f blocks, and %u %ss are at hand", n_tasks / volume, b->n_units, unit);
    return *why ? refuse(&s, strategy, unit, why, st) : FC_OK;
}

enum fc_code fc_block_shapes_check(const struct fc_blocks *blocks, uint32_t slots_per_node, const char *strategy,
                                   struct fc_status *st)
{
    for (int level = 0; level < FC_N_LEVELS; level++)
        if (blocks->given[level].n && check_level(blocks, level, slots_per_node, strategy, st)) return st->code;
    return FC_OK;
}
