/* cdg_graph_rules.c - which dependencies a routing of graphs has under a rule, and which routings the rules know: all shortest paths
 * (cdg_graph.c), detours (cdg_graph_detour.c), up*-down* routes (cdg_graph_updown.c). */
#include "models/deadlock/cdg_graph.h"

/* Of packets that hash all paths count: the next pair may take another. */
const struct fc_routing_ops *const fc_graph_routings[] = {&fc_routing_shortest,      &fc_routing_shortest_hash,
                                                          &fc_routing_graph_valiant, &fc_routing_graph_ugal,
                                                          &fc_routing_updown,        NULL};
const struct fc_routing_ops *const fc_graph_layered_routings[] = {&fc_routing_shortest, &fc_routing_shortest_hash,
                                                                  NULL};
const struct fc_routing_ops *const fc_graph_hop_routings[] = {&fc_routing_shortest, &fc_routing_shortest_hash,
                                                              &fc_routing_graph_valiant, &fc_routing_graph_ugal, NULL};
const struct fc_routing_ops *const fc_graph_updown_routings[] = {
    &fc_routing_shortest, &fc_routing_shortest_hash, &fc_routing_graph_valiant, &fc_routing_graph_ugal, NULL};

bool fc_graph_chosen(const struct fc_machine *machine, int variant)
{
    int escape = machine->router.escape;
    bool updown = escape == FC_ESCAPE_UPDOWN && machine->routing != &fc_routing_updown; /* which needs no escape */
    return variant == (escape == FC_ESCAPE_HOPS     ? FC_GRAPH_HOPS
                       : escape == FC_ESCAPE_LAYERS ? FC_GRAPH_LAYERS
                       : updown                     ? FC_GRAPH_UPDOWN
                                                    : FC_GRAPH_ONE); /* what tori choose says nothing of a graph */
}

enum fc_code fc_graph_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg, struct fc_status *st)
{
    const struct fc_routing_ops *routing = net->machine->routing;
    if (variant == FC_GRAPH_UPDOWN || routing == &fc_routing_updown)
        return fc_graph_updown_dependencies(net, variant == FC_GRAPH_UPDOWN, cdg, st);
    if (routing->detours) return fc_graph_detour_dependencies(net, variant == FC_GRAPH_HOPS, cdg, st);
    return fc_graph_shortest_dependencies(net, (enum fc_graph_scheme)variant, cdg, st);
}
