/* lists.c - what this build knows: one line a family, routing, virtual-channel rule, pattern. */
#include "models/models.h"

extern const struct fc_family_ops fc_family_torus, fc_family_mesh, fc_family_two_level;
const struct fc_family_ops *const fc_families[] = {
    &fc_family_torus,
    &fc_family_mesh,
    &fc_family_two_level,
    NULL,
};

extern const struct fc_routing_ops fc_routing_dimension_order, fc_routing_adaptive, fc_routing_valiant,
    fc_routing_direct, fc_routing_indirect, fc_routing_ugal;
const struct fc_routing_ops *const fc_routings[] = {
    &fc_routing_dimension_order,
    &fc_routing_adaptive,
    &fc_routing_valiant,
    &fc_routing_direct,
    &fc_routing_indirect,
    &fc_routing_ugal,
    NULL,
};

extern const struct fc_pattern_ops fc_pattern_alltoall, fc_pattern_bit_reverse, fc_pattern_complement,
    fc_pattern_hotregion, fc_pattern_hotspot, fc_pattern_neighbor, fc_pattern_permutation, fc_pattern_tornado,
    fc_pattern_transpose, fc_pattern_uniform;
const struct fc_pattern_ops *const fc_patterns[] = {
    &fc_pattern_uniform,
    &fc_pattern_complement,
    &fc_pattern_transpose,
    &fc_pattern_tornado,
    &fc_pattern_bit_reverse,
    &fc_pattern_neighbor,
    &fc_pattern_hotregion,
    &fc_pattern_alltoall,
    &fc_pattern_hotspot,
    &fc_pattern_permutation,
    NULL,
};
