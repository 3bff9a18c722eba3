/* lists.c - what this build knows: one line a family, routing, virtual-channel rule, pattern. */
#include "models/models.h"

/* X(record): declared and listed. */
/* clang-format off */
#define FAMILIES(X)                                                                                                    \
    X(torus)                                                                                                           \
    X(mesh)                                                                                                            \
    X(fat_tree)                                                                                                        \
    X(tmesh)                                                                                                           \
    X(two_level)                                                                                                       \
    X(dragonfly_plus)                                                                                                  \
    X(graph)
/* clang-format on */
#define ROUTINGS(X)                                                                                                    \
    X(dimension_order)                                                                                                 \
    X(adaptive)                                                                                                        \
    X(valiant)                                                                                                         \
    X(nca)                                                                                                             \
    X(nca_hash)                                                                                                        \
    X(nca_random)                                                                                                      \
    X(tmesh)                                                                                                           \
    X(direct)                                                                                                          \
    X(indirect)                                                                                                        \
    X(ugal)                                                                                                            \
    X(plus_direct)                                                                                                     \
    X(plus_indirect)                                                                                                   \
    X(plus_ugal)                                                                                                       \
    X(shortest)                                                                                                        \
    X(shortest_hash)                                                                                                   \
    X(graph_valiant)                                                                                                   \
    X(graph_ugal)                                                                                                      \
    X(updown)                                                                                                          \
    X(tables)
#define VC_RULES(X)                                                                                                    \
    X(none_torus)                                                                                                      \
    X(dateline)                                                                                                        \
    X(direction_ordered)                                                                                               \
    X(bubble)                                                                                                          \
    X(bubble_direction)                                                                                                \
    X(shared)                                                                                                          \
    X(separate)                                                                                                        \
    X(six)                                                                                                             \
    X(up_down)                                                                                                         \
    X(none_two_level)                                                                                                  \
    X(hops)                                                                                                            \
    X(cell_hops)                                                                                                       \
    X(none_graph)                                                                                                      \
    X(graph_hops)                                                                                                      \
    X(layers)                                                                                                          \
    X(updown)
#define PATTERNS(X)                                                                                                    \
    X(uniform)                                                                                                         \
    X(complement)                                                                                                      \
    X(transpose)                                                                                                       \
    X(tornado)                                                                                                         \
    X(bit_reverse)                                                                                                     \
    X(neighbor)                                                                                                        \
    X(hotregion)                                                                                                       \
    X(alltoall)                                                                                                        \
    X(blocks)                                                                                                          \
    X(hotspot)                                                                                                         \
    X(line_broadcast)                                                                                                  \
    X(plane_broadcast)                                                                                                 \
    X(broadcast)                                                                                                       \
    X(stencil2d)                                                                                                       \
    X(stencil3d)                                                                                                       \
    X(stencil4d)                                                                                                       \
    X(multicast)                                                                                                       \
    X(permutation)                                                                                                     \
    X(group_shift)                                                                                                     \
    X(adversarial)                                                                                                     \
    X(random)

#define DECLARE(name) extern const struct fc_family_ops fc_family_##name;
#define ENTRY(name) &fc_family_##name,
FAMILIES(DECLARE)
const struct fc_family_ops *const fc_families[] = {FAMILIES(ENTRY) NULL};
#undef DECLARE
#undef ENTRY

#define DECLARE(name) extern const struct fc_routing_ops fc_routing_##name;
#define ENTRY(name) &fc_routing_##name,
ROUTINGS(DECLARE)
const struct fc_routing_ops *const fc_routings[] = {ROUTINGS(ENTRY) NULL};
#undef DECLARE
#undef ENTRY

#define DECLARE(name) extern const struct fc_vc_rule_ops fc_vc_##name;
#define ENTRY(name) &fc_vc_##name,
VC_RULES(DECLARE)
const struct fc_vc_rule_ops *const fc_vc_rules[] = {VC_RULES(ENTRY) NULL};
#undef DECLARE
#undef ENTRY

#define DECLARE(name) extern const struct fc_pattern_ops fc_pattern_##name;
#define ENTRY(name) &fc_pattern_##name,
PATTERNS(DECLARE)
const struct fc_pattern_ops *const fc_patterns[] = {PATTERNS(ENTRY) NULL};
#undef DECLARE
#undef ENTRY
