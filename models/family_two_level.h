/* family_two_level.h - shape and index arithmetic of two-level direct networks (PERCS, dragonfly). */
#ifndef FC_FAMILY_TWO_LEVEL_H
#define FC_FAMILY_TWO_LEVEL_H

#include "models/models.h"

enum fc_d_link { FC_D_PACKED, FC_D_MODULO, FC_D_BLOCK, FC_D_RELATIVE, FC_D_HASHED, FC_D_FREE };
enum fc_local { FC_LOCAL_FULL, FC_LOCAL_GRID };

/* Router r = (supernode * drawers + drawer) * nodes_per_drawer + position; `member` = r % routers_per_supernode. With
 * one drawer it is a dragonfly group. Local links: full = LL to every router of the drawer, LR to every router of the
 * other drawers (PERCS); grid = LL within the drawer, LR to the same position of the other drawers (Cray XC).
 * Router links lie in the order LL (by position), LR (by drawer, position), D (by supernode, cable), ejection. */
struct fc_two_level_shape {
    long long supernodes, drawers, nodes_per_drawer, links_per_pair, d_ports;
    int d_link, local;
    /* Derived by check: */
    uint32_t n_supernodes, n_drawers, n_positions; /* positions: routers a drawer */
    uint32_t members;                              /* routers a supernode */
    uint32_t n_routers, nodes_per_router, pair_links;
    int ll_class, lr_class, d_class;
};
/* net->extra: */
struct fc_two_level_tables {
    uint32_t *d_link; /* [S][S][pair_links] D link from supernode s to t, FC_NONE on the diagonal */
};
static inline const struct fc_two_level_shape *fc_two_level(const struct fc_network *net)
{
    return net->machine->shape;
}
static inline uint32_t fc_two_level_d_link(const struct fc_network *net, uint32_t s, uint32_t t, uint32_t cable)
{
    const struct fc_two_level_shape *shape = fc_two_level(net);
    const struct fc_two_level_tables *tables = net->extra;
    return tables->d_link[((uint64_t)s * shape->n_supernodes + t) * shape->pair_links + cable];
}
/* Member of supernode s that hosts cable `cable` of its link to supernode t, by the machine's d_link rule. */
uint32_t fc_two_level_host(const struct fc_two_level_shape *shape, uint32_t s, uint32_t t, uint32_t cable);
/* The local link from member a to member b (a != b) of router `base + a`'s supernode (base = first router), or FC_NONE
 * where the group is a grid and they share neither drawer nor position. */
static inline uint32_t fc_two_level_local_link(const struct fc_network *net, uint32_t base, uint32_t a, uint32_t b)
{
    const struct fc_two_level_shape *s = fc_two_level(net);
    uint32_t p = s->n_positions, da = a / p, db = b / p, pa = a % p, pb = b % p, first = net->first_link[base + a];
    if (da == db) return first + (pb < pa ? pb : pb - 1);
    uint32_t drawer_rank = db < da ? db : db - 1;
    if (s->local == FC_LOCAL_FULL) return first + p - 1 + drawer_rank * p + pb;
    return pa == pb ? first + p - 1 + drawer_rank : FC_NONE;
}

#endif
