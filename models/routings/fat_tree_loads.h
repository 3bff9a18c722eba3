/* fat_tree_loads.h - sums over the subtrees of a fat-tree (fat_tree_loads.c), for routing_nca.c,
 * routing_nca_hash.c. */
#pragma once

#include "models/family_fat_tree.h"

/* One number for each subtree of height 0 .. h: value[first[l] + x]. */
struct fc_subtree_values {
    double *value;                   /* [n], zero at the start */
    size_t first[FC_MAX_LEVELS + 2]; /* [h + 2] */
};
enum fc_code fc_subtree_start(const struct fc_fat_tree_shape *s, struct fc_arena *arena,
                              struct fc_subtree_values *values, struct fc_status *st);
/* inside[x] = sum of a over the nodes of subtree x, outside[x] = sum of a over all others, O(N). Sums of
 * positive terms only, so nothing cancels and an empty outside is exactly 0. */
void fc_subtree_sums(const struct fc_fat_tree_shape *s, const double *a, struct fc_subtree_values *inside,
                     struct fc_subtree_values *outside);
/* others[i * stride] = sum of value[j * stride] over j != i, j < n, plus base. Same precaution. */
void fc_sums_of_others(const double *value, double *others, size_t n, size_t stride, double base);
