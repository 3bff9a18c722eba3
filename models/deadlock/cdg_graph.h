/* cdg_graph.h - dependencies of all shortest paths to a place, gathered as bit matrices (cdg_graph.c), for
 * cdg_graph_detour.c too. */
#pragma once

#include "models/deadlock/cdg.h"
#include "models/family_graph.h"

struct fc_gather {
    const struct fc_network *net;
    const struct fc_graph_tables *tables;
    uint32_t *first_in, *in; /* [n_routers + 1], [links into routers] */
    uint32_t *place;         /* [n_links] of a link in `in` */
    uint64_t *first_row;     /* [n_routers + 1] words before the router's matrix */
    uint64_t *bits;          /* row a link in, column a link out */
    uint32_t *order, *count; /* routers by falling hops; [n_routers + 1] scratch */
    uint8_t *used;           /* [n_links] used towards the destination at hand */
    uint64_t *mask;          /* row of the next hops */
    uint64_t **level;        /* [longest + 1] bits by the hops left at the router, instead of one; or NULL */
    uint32_t longest;
};
static inline uint64_t fc_gather_words(const struct fc_network *net, uint32_t v)
{
    return (net->first_link[v + 1] - net->first_link[v] + 63) / 64;
}
enum fc_code fc_gather_start(struct fc_gather *g, const struct fc_network *net, struct fc_arena *scratch,
                             struct fc_status *st);
/* Links by which packets leave router v, as g->mask: one hop nearer, and where none is left, to the nodes of the group;
 * FC_NONE: to none. */
void fc_gather_next_hops(struct fc_gather *g, uint32_t v, uint32_t group, const uint16_t *hops);
/* Adds what packets from all nodes to the routers with no hops[n_routers] left wait for, and on to the nodes of the group
 * there, FC_NONE: none; g->used is then what they use. */
void fc_gather_sweep(struct fc_gather *g, const uint16_t *hops, uint32_t group);
/* Adds the arcs of the gathered pairs: from channel `in_vc` of links between routers, 0 of a node's where node_first, to
 * channel `out_vc`. */
void fc_gather_arcs(const struct fc_gather *g, uint32_t in_vc, uint32_t out_vc, bool node_first, struct fc_cdg *cdg);
