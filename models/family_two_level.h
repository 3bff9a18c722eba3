/* family_two_level.h - shape and index arithmetic of two-level direct networks (PERCS, dragonfly). */
#pragma once

#include "models/models.h"

enum fc_d_link { FC_D_PACKED, FC_D_MODULO, FC_D_BLOCK, FC_D_RELATIVE, FC_D_HASHED, FC_D_FREE, FC_D_LISTED };
enum fc_local { FC_LOCAL_FULL, FC_LOCAL_GRID };

/* Router r = (supernode * drawers + drawer) * nodes_per_drawer + position; `member` = r % routers_per_supernode. With
 * one drawer it is a dragonfly group. Local links: full = LL to every router of the drawer, LR to every router of the
 * other drawers (PERCS); grid = LL within the drawer, LR to the same position of the other drawers (Cray XC).
 * Router links lie in the order LL (by position), LR (by drawer, position), D (by supernode, cable), ejection. */
struct fc_two_level_shape {
    long long supernodes, drawers, nodes_per_drawer, links_per_pair, d_ports;
    int d_link, local;
    const char *d_links; /* d_link listed: the file, as in the machine file */
    /* Derived by check: */
    uint32_t n_supernodes, n_drawers, n_positions; /* positions: routers a drawer */
    uint32_t members;                              /* routers a supernode */
    uint32_t n_routers, nodes_per_router, pair_links;
    int ll_class, lr_class, d_class;
    uint32_t *host; /* listed: [S][S][pair_links] member of supernode s that hosts cable c to t; else NULL */
};
/* The D link of a cable from supernode s to t, and the members at its two ends. */
struct fc_two_level_crossing {
    uint32_t link, from, to;
};
/* net->extra: */
struct fc_two_level_tables {
    struct fc_two_level_crossing *crossing; /* [S][S][pair_links] from s to t; link FC_NONE on the diagonal */
};
extern const struct fc_family_ops fc_family_two_level;
extern const struct fc_routing_ops fc_routing_direct, fc_routing_indirect, fc_routing_ugal;
extern const struct fc_layout fc_two_level_layout;
/* The shape of a two-level network; NULL: the machine is of another family. */
static inline const struct fc_two_level_shape *fc_machine_two_level(const struct fc_machine *machine)
{
    return machine->family == &fc_family_two_level ? machine->shape : NULL;
}
static inline const struct fc_two_level_shape *fc_two_level(const struct fc_network *net)
{
    return fc_machine_two_level(net->machine);
}
/* UGAL whose indirect routes cross to a router drawn in the supernode between (router.ugal.via). */
static inline bool fc_two_level_via_router(const struct fc_network *net)
{
    return net->machine->router.ugal.via == FC_UGAL_ROUTER && net->machine->routing == &fc_routing_ugal &&
           fc_two_level(net)->n_supernodes >= 3;
}
/* Of s != t. */
static inline struct fc_two_level_crossing fc_two_level_cross(const struct fc_network *net, uint32_t s, uint32_t t,
                                                              uint32_t cable)
{
    const struct fc_two_level_shape *shape = net->machine->shape;
    const struct fc_two_level_tables *tables = net->extra;
    return tables->crossing[((uint64_t)s * shape->n_supernodes + t) * shape->pair_links + cable];
}
/* The local link from member a to member b (a != b) of router `base + a`'s supernode (base = first router), or FC_NONE
 * where the group is a grid and they share neither drawer nor position. */
static inline uint32_t fc_two_level_local_link(const struct fc_network *net, uint32_t base, uint32_t a, uint32_t b)
{
    const struct fc_two_level_shape *s = net->machine->shape;
    uint32_t p = s->n_positions, da = a / p, db = b / p, pa = a % p, pb = b % p, first = net->first_link[base + a];
    if (da == db) return first + (pb < pa ? pb : pb - 1);
    uint32_t drawer_rank = db < da ? db : db - 1;
    if (s->local == FC_LOCAL_FULL) return first + p - 1 + drawer_rank * p + pb;
    return pa == pb ? first + p - 1 + drawer_rank : FC_NONE;
}
/* Local links from member a to member b of the supernode with first router `base`: none for a == b, one, or the two
 * two-hop ways of a grid with half the share each. links [4], weights [4]; returns how many. */
static inline int fc_two_level_local_route(const struct fc_network *net, uint32_t base, uint32_t a, uint32_t b,
                                           uint32_t *links, double *weights)
{
    if (a == b) return 0;
    uint32_t one = fc_two_level_local_link(net, base, a, b);
    if (one != FC_NONE) {
        links[0] = one;
        weights[0] = 1;
        return 1;
    }
    uint32_t p = fc_two_level(net)->n_positions;
    uint32_t corner[2] = {a / p * p + b % p, b / p * p + a % p};
    for (int i = 0; i < 2; i++) {
        links[2 * i] = fc_two_level_local_link(net, base, a, corner[i]);
        links[2 * i + 1] = fc_two_level_local_link(net, base, corner[i], b);
        weights[2 * i] = weights[2 * i + 1] = 0.5;
    }
    return 4;
}
static inline uint32_t fc_two_level_injection(const struct fc_network *net, uint32_t node)
{
    return net->first_link[net->n_routers + node];
}
static inline uint32_t fc_two_level_ejection(const struct fc_network *net, uint32_t node)
{
    uint32_t per_router = fc_two_level(net)->nodes_per_router, router = node / per_router;
    return net->first_link[router + 1] - per_router + node % per_router;
}
