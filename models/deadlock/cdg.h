/* cdg.h - building channel dependency graphs: what deadlock.c, cdg_*.c (the relations of the families) and
 * vc_*.c (the rules) share. */
#pragma once

#include "models/models.h"

/* A relation runs three times and adds the same arcs each time: hubs are counted, then arcs by source, then
 * arcs are put in their place (repeated ones are dropped at the end). So no array has to grow. */
enum { FC_CDG_HUBS, FC_CDG_COUNT, FC_CDG_FILL };

static inline uint32_t fc_cdg_channel(const struct fc_cdg *cdg, uint32_t link, uint32_t vc)
{
    return link * (uint32_t)cdg->n_vcs + vc;
}
/* first[v + 1] counts the arcs of v, then is the next free place among them. */
static inline void fc_cdg_add(struct fc_cdg *cdg, uint32_t from, uint32_t to)
{
    if (cdg->pass == FC_CDG_COUNT)
        cdg->first[from + 1]++;
    else if (cdg->pass == FC_CDG_FILL)
        cdg->to[cdg->first[from + 1]++] = to;
}
/* The first of n new hubs. Numbers are good from the second pass on. */
static inline uint32_t fc_cdg_hubs(struct fc_cdg *cdg, uint64_t n)
{
    uint64_t first = cdg->n_vertices;
    cdg->n_vertices += n;
    return (uint32_t)first;
}

/* The network's dependency graph under the rule. FC_INPUT: the routing is none that the rule knows; FC_NO:
 * too large. */
enum fc_code fc_cdg_build(const struct fc_network *net, const struct fc_vc_rule_ops *rule, struct fc_cdg *cdg,
                          struct fc_status *st);
void fc_cdg_free(struct fc_cdg *cdg);
/* The rule of that name for the family, or NULL; the rule that a machine is run under when none is named. A family that
 * no rule of the list serves, and a routing that none of its family's knows, have fc_vc_walked (vc_walked.c). */
extern const struct fc_vc_rule_ops fc_vc_walked;
const struct fc_vc_rule_ops *fc_vc_rule_find(const char *name, const struct fc_machine *machine);
const struct fc_vc_rule_ops *fc_vc_rule_of(const struct fc_machine *machine);
/* Whether the rule is one for that routing; fc_cdg_build and fc_certify refuse it else. */
bool fc_vc_rule_knows(const struct fc_vc_rule_ops *rule, const struct fc_routing_ops *routing);

/* order[v] = topological number of every vertex [n_vertices]; returns how many vertices got one (the
 * others, FC_NONE, lie on cycles or behind them). Kahn 1962: O(vertices + arcs). scratch [2 n_vertices]. */
uint64_t fc_cdg_sort(const struct fc_cdg *cdg, uint32_t *order, uint32_t *scratch);
/* component[v] = number of v's strongly connected component [n_vertices]. Tarjan 1972, without recursion.
 * Returns the number of components, or 0 with FC_NO in st. */
uint32_t fc_cdg_components(const struct fc_cdg *cdg, uint32_t *component, struct fc_status *st);

/* The routings that the relations of a family know; end with NULL. */
extern const struct fc_routing_ops *const fc_torus_routings[],
    *const fc_tmesh_routings[], *const fc_two_level_routings[], *const fc_plus_routings[],
                                                                    *const fc_fat_tree_routings[],
                                                                        *const fc_graph_routings[],
                                                                            *const fc_graph_layered_routings[],
                                                                                *const fc_graph_hop_routings[],
                                                                                    *const fc_graph_updown_routings[];

/* ---- what the records of the rules are made of (struct fc_vc_rule_ops) ---- */

/* Of tori and meshes; variant: enum fc_escape. Without an escape a link has one channel, under the bubble one a phase of the
 * routing (Valiant has two), else two a phase: before the dateline, after it. */
bool fc_torus_chosen(const struct fc_machine *machine, int variant);
int fc_torus_vcs(const struct fc_network *net, int variant);
/* Those of router.vcs that a dateline pair takes: none under adaptive routing, one of the pair where no ring is closed. */
int fc_torus_pair_data_vcs(const struct fc_network *net, int variant);
/* Routes in the routing's dimension order (the escape's, where the routing is adaptive). */
enum fc_code fc_torus_ordered_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg,
                                           struct fc_status *st);
/* The same, but under adaptive routing any minimal route without an escape; with one Duato's extended dependencies of the
 * escape channels: dimension order, or all + before all -. A rule of one channel: both sides of a dateline are that channel. */
enum fc_code fc_torus_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg, struct fc_status *st);
/* Whether the machine's buffers and packets keep every bubble ring from filling up, and why or why not in words
 * (vc_bubble.c). */
bool fc_bubble_invariant(const struct fc_network *net, int variant, char *words, size_t size);
bool fc_torus_is_adaptive(const struct fc_network *net);

/* variant: enum fc_tmesh_policy. */
bool fc_tmesh_chosen(const struct fc_machine *machine, int variant);
int fc_tmesh_vcs(const struct fc_network *net, int variant);
/* Those of router.vcs: a torus link's dateline pair. */
int fc_tmesh_data_vcs(const struct fc_network *net, int variant);
enum fc_code fc_tmesh_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg, struct fc_status *st);

/* single: one channel for all. */
int fc_two_level_vcs(const struct fc_network *net, int single);
enum fc_code fc_two_level_dependencies(const struct fc_network *net, int single, struct fc_cdg *cdg,
                                       struct fc_status *st);
int fc_plus_vcs(const struct fc_network *net, int variant);
/* Global links that a packet takes at most: 0, 1, or 2 with detours. */
uint32_t fc_plus_most_global(const struct fc_network *net);
enum fc_code fc_plus_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg, struct fc_status *st);
enum fc_code fc_fat_tree_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg,
                                      struct fc_status *st);
enum fc_graph_scheme {
    FC_GRAPH_ONE,    /* one channel */
    FC_GRAPH_LAYERS, /* one a layer of destinations */
    FC_GRAPH_HOPS,   /* one a hop: that of a packet with h hops left is longest - h */
    FC_GRAPH_UPDOWN  /* an escape channel, on up*-down* routes; others as they like */
};
/* variant: enum fc_graph_scheme, by the machine's router.escape. */
bool fc_graph_chosen(const struct fc_machine *machine, int variant);
enum fc_code fc_graph_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg, struct fc_status *st);
/* Hops of the longest shortest path between two nodes, 1 or more. O(groups x links of nodes). */
uint32_t fc_graph_longest(const struct fc_network *net);
/* Hops that the rule `hops` counts: those of the machine's longest route, of both ways of a detour. */
uint32_t fc_graph_counted_hops(const struct fc_network *net);
/* Dependencies of all shortest paths (cdg_graph.c). */
enum fc_code fc_graph_shortest_dependencies(const struct fc_network *net, enum fc_graph_scheme scheme,
                                            struct fc_cdg *cdg, struct fc_status *st);
/* Dependencies of detours through a stop (cdg_graph_detour.c), one channel or one a hop; of up*-down* routes
 * (cdg_graph_updown.c). */
enum fc_code fc_graph_detour_dependencies(const struct fc_network *net, bool by_hops, struct fc_cdg *cdg,
                                          struct fc_status *st);
enum fc_code fc_graph_updown_dependencies(const struct fc_network *net, bool escape, struct fc_cdg *cdg,
                                          struct fc_status *st);
/* layer[group] of every destination group [n_groups] (family_graph.h), numbered from 0. FC_NO: out of
 * memory, or more than FC_MOST_LAYERS would be needed, the data lanes that InfiniBand has. */
#define FC_MOST_LAYERS 15
enum fc_code fc_graph_layers(const struct fc_network *net, uint32_t *layer, uint32_t *n_layers, struct fc_status *st);
