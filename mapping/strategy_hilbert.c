/* strategy_hilbert.c - tasks along a Hilbert curve through the task grid, onto cores along a Hilbert curve
 * through the torus or mesh.
 *
 * Neighbours on the curve are neighbours in space, and boxes of space are runs of the curve, so near tasks
 * come to near routers whatever the two dimensions. A box that is no cube of a power of two is visited in the
 * order of the curve through the smallest such cube around it. Traffic without a grid keeps the order of its
 * ranks, networks without coordinates the order of their nodes. Source: J. Skilling, Programming the Hilbert
 * curve, AIP Conf. Proc. 707, 2004. Limits: in such a box the curve has jumps; dimensions x bits of the
 * longest side at most 64. */
#include "mapping/map_build.h"

#include <stdlib.h>

static const char name[] = "hilbert";

struct stop {
    uint64_t key;
    uint32_t item;
};

/* The index on the curve through a cube of side 2^bits of the point x[n], which is overwritten. */
static uint64_t curve_index(uint32_t *x, int n, int bits)
{
    uint32_t top = UINT32_C(1) << (bits - 1), flip = 0;
    for (uint32_t q = top; q > 1; q >>= 1) { /* undo the turns of the sub-cubes, outermost first */
        uint32_t low = q - 1;
        for (int i = 0; i < n; i++) {
            if (x[i] & q) {
                x[0] ^= low;
            } else {
                uint32_t swap = (x[0] ^ x[i]) & low;
                x[0] ^= swap;
                x[i] ^= swap;
            }
        }
    }
    for (int i = 1; i < n; i++) x[i] ^= x[i - 1]; /* Gray code */
    for (uint32_t q = top; q > 1; q >>= 1)
        if (x[n - 1] & q) flip ^= q - 1;
    uint64_t index = 0;
    for (int b = bits - 1; b >= 0; b--)
        for (int i = 0; i < n; i++) index = index << 1 | ((x[i] ^ flip) >> b & 1);
    return index;
}

static int compare(const void *a, const void *b)
{
    const struct stop *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Sorts stop[n] along the curve: the item lies at point item / per_point of a box of n_dims sides, the first
 * fastest; sides of 1 count none. */
static enum fc_code sort_along(struct stop *stop, uint32_t n, const uint32_t *side, int n_dims, uint32_t per_point,
                               struct fc_status *st)
{
    int bits = 1, n_long = 0;
    for (int d = 0; d < n_dims; d++) {
        n_long += side[d] > 1;
        while ((uint64_t)side[d] > UINT64_C(1) << bits) bits++;
    }
    if (bits * n_long > 64)
        return fc_refuse(st, FC_INPUT, "strategy %s: %d dimensions of %d bits (at most 64 bits in all)", name, n_long,
                         bits);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x[FC_MAX_DIMS], left = stop[i].item / per_point;
        int m = 0;
        for (int d = 0; d < n_dims; d++) {
            if (side[d] > 1) x[m++] = left % side[d];
            left /= side[d];
        }
        stop[i].key = m ? curve_index(x, m, bits) : 0;
    }
    qsort(stop, n, sizeof *stop, compare);
    return FC_OK;
}

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    const struct fc_network *net = problem->net;
    const struct fc_demand *demand = problem->demand;
    struct fc_grid grid;
    bool box = fc_grid(net, &grid) && grid.routers == 1;
    if (!box && demand->n_grid == 0)
        return fc_refuse(st, FC_INPUT, "strategy %s needs a task grid or a torus or mesh, and here is neither", name);
    if (fc_map_start(problem, mapping, &slots, st)) return st->code;
    struct stop *task = fc_alloc(&mapping->arena, mapping->n_tasks, sizeof *task, st);
    struct stop *node = task ? fc_alloc(&mapping->arena, slots.n_nodes, sizeof *node, st) : NULL;
    if (!node) return st->code;
    for (uint32_t t = 0; t < mapping->n_tasks; t++) task[t].item = t;
    for (uint32_t i = 0; i < slots.n_nodes; i++) node[i].item = slots.node[i];
    if (demand->n_grid) {
        uint32_t side[FC_MAX_DIMS]; /* fastest first, like the torus */
        for (int d = 0; d < demand->n_grid; d++) side[d] = (uint32_t)demand->grid[demand->n_grid - 1 - d];
        if (sort_along(task, mapping->n_tasks, side, demand->n_grid, 1, st)) return st->code;
    }
    if (box && sort_along(node, slots.n_nodes, grid.k, grid.n_dims, grid.nodes, st)) return st->code;
    for (uint32_t i = 0; i < mapping->n_tasks; i++)
        fc_map_put(mapping, &slots, task[i].item, node[i / slots.per_node].item, i % slots.per_node);
    return FC_OK;
}

const struct fc_strategy_ops fc_strategy_hilbert = {
    .name = "hilbert",
    .help = "the task grid and the torus both along a Hilbert curve",
    .source = "Skilling, AIP Conf. Proc. 707, 2004",
    .map = map,
};
