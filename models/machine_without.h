/* machine_without.h - a machine without what has failed: cables, routers, nodes (machine_without.c). */
#ifndef FC_MODELS_MACHINE_WITHOUT_H
#define FC_MODELS_MACHINE_WITHOUT_H

#include "models/models.h"

/* What is left. */
struct fc_remains {
    uint32_t *now; /* [n_nodes] in the arena: the number of each node in the new machine, FC_NONE: it is gone */
    bool network;  /* routers or cables are gone; else the machine is what it was */
    bool cut;      /* refused, since nodes would not be connected */
};
/* Makes of the machine one of family `graph` that lacks what `list` names; `net` is its network, built, and no longer of the
 * machine afterwards. Names, separated by commas: a link as it is printed ("x+ (0,0,0)->(1,0,0)", both directions of the
 * cable) or all cables between two places ("(0,0,0)->(1,0,0)"); a router ("(0,0,0)", "12.5", "leaf3"), with the nodes
 * that hang on nothing else; a node by its number or host, hosts also as lists (cn[003-005]). Traffic takes the shortest
 * ways that are left. Where only nodes are named, routers and cables stay.
 * Messages have no place: the caller knows where the names stand. FC_INPUT: a name that the machine does not
 * have; FC_NO: what is left is not connected, with a node on either side. The machine owns the new shape. O(links + names x routers). */
enum fc_code fc_machine_without(struct fc_machine *machine, const struct fc_network *net, const char *list,
                                struct fc_arena *arena, struct fc_remains *left, struct fc_status *st);
/* The same without the cable of one link, by its number (FC_NONE: without nothing, and it is a graph still). The title stays.
 * O(links). */
enum fc_code fc_machine_without_cable(struct fc_machine *machine, const struct fc_network *net, uint32_t link,
                                      struct fc_arena *arena, struct fc_remains *left, struct fc_status *st);
/* The link that is the other direction of the same cable; FC_NONE: it has none. */
uint32_t fc_other_direction(const struct fc_network *net, uint32_t link);

#endif
