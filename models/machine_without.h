/* machine_without.h - a machine without what has failed: cables, routers, nodes (machine_without.c). */
#ifndef FC_MODELS_MACHINE_WITHOUT_H
#define FC_MODELS_MACHINE_WITHOUT_H

#include "models/models.h"

/* Makes of the machine one of family `graph` that lacks what `list` names; `net` is its network, built, and no longer of
 * the machine afterwards. Names, separated by commas: a link as it is printed ("x+ (0,0,0)->(1,0,0)", both directions of
 * the cable) or all cables between two places ("(0,0,0)->(1,0,0)"); a router ("(0,0,0)", "12.5", "leaf3"), with the nodes
 * that hang on nothing else; a node by its number or host, hosts also as lists (cn[003-005]). Traffic takes the shortest
 * ways that are left. Where only nodes are named, routers and cables stay: *network is false and the machine is what it was.
 * now[net->n_nodes], in the arena: the number of each node in the new machine, FC_NONE: it is gone.
 * Messages have no place: the caller knows where the names stand. FC_INPUT: a name that the machine does not have; FC_NO: what is left is not connected, with a node on either side. The
 * machine owns the new shape. O(links + names x routers). */
enum fc_code fc_machine_without(struct fc_machine *machine, const struct fc_network *net, const char *list,
                                struct fc_arena *arena, uint32_t **now, bool *network, struct fc_status *st);

#endif
