/* fat_tree_loads.c - for every subtree x of a fat-tree the sum of a node quantity inside, S(x) = sum of its
 * children's S, and outside, O(x) = O(parent) + sum over siblings x' != x of S(x'). Traffic a(s) b(d) that
 * leaves x upwards is S_a(x) O_b(x) whatever the routing; what enters it is S_b(x) O_a(x). */
#include "models/routings/fat_tree_loads.h"

#include <string.h>

enum fc_code fc_subtree_start(const struct fc_fat_tree_shape *s, struct fc_arena *arena,
                              struct fc_subtree_values *values, struct fc_status *st)
{
    values->first[0] = 0;
    for (int l = 0; l <= s->h; l++) values->first[l + 1] = values->first[l] + s->n_subtrees[l];
    values->value = fc_alloc(arena, values->first[s->h + 1], sizeof *values->value, st);
    return values->value ? FC_OK : st->code;
}

void fc_sums_of_others(const double *value, double *others, size_t n, size_t stride, double base)
{
    double before = base, after = 0;
    for (size_t i = 0; i < n; i++) {
        others[i * stride] = before;
        before += value[i * stride];
    }
    for (size_t i = n; i-- > 0;) {
        others[i * stride] += after;
        after += value[i * stride];
    }
}

void fc_subtree_sums(const struct fc_fat_tree_shape *s, const double *a, struct fc_subtree_values *inside,
                     struct fc_subtree_values *outside)
{
    memcpy(inside->value, a, s->n_nodes * sizeof *a);
    for (int l = 1; l <= s->h; l++) {
        const double *below = inside->value + inside->first[l - 1];
        double *sum = inside->value + inside->first[l];
        memset(sum, 0, s->n_subtrees[l] * sizeof *sum);
        for (uint32_t child = 0; child < s->n_subtrees[l - 1]; child++) sum[child / s->m[l]] += below[child];
    }
    outside->value[outside->first[s->h]] = 0;
    for (int l = s->h; l >= 1; l--)
        for (uint32_t x = 0; x < s->n_subtrees[l]; x++) {
            size_t child = inside->first[l - 1] + (size_t)x * s->m[l];
            fc_sums_of_others(inside->value + child, outside->value + child, s->m[l], 1,
                              outside->value[outside->first[l] + x]);
        }
}
