/* domains.h - networks of which only is known which nodes are near each other: places within places (domains.c). */
#pragma once

#include "models/family_graph.h"

struct fc_domains {
    struct fc_graph_reader *reader;
    struct fc_domain {
        uint32_t parent; /* router; FC_NONE: the top */
        uint32_t level;  /* of the place: 1 holds nodes themselves */
        uint32_t n_nodes;
        bool known;
    } * of; /* [capacity] by router, in the reader's arena */
    uint32_t capacity;
};
/* One node and the names of the places that it is in, path[0] the outermost, n_path of 1 or more; names are unique among
 * places, and a place is always in the same one: FC_INPUT else, and for a node that was there before. */
enum fc_code fc_domains_add(struct fc_domains *domains, const char *node, const char *const *path, uint32_t n_path,
                            struct fc_place where, struct fc_status *st);
/* The cables between places; outermost places, if several, get a router `network` above them. */
enum fc_code fc_domains_finish(struct fc_domains *domains, struct fc_status *st);
