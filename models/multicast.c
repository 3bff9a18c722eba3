/* multicast.c - messages that routers copy: which families have what, and the lists of them in a demand.
 *
 * deposit (Adiga et al., IBM J. Res. Dev. 49(2/3), 2005): "a bit in the header may be set that causes a
 * packet to be broadcast down any Cartesian dimension and deposited at each node"; tori and meshes with one
 * node a router. tree (Petrini et al., IEEE NCA 2001): up to a switch above all targets, then onto every link
 * down that leads to some, acknowledgements combined on the way back; fat-trees with one link a node. */
#include "models/demand_build.h"
#include "models/family_fat_tree.h"

const char *const fc_multicast_names[] = {"none", "deposit", "tree", NULL};

enum fc_code fc_multicast_check(const struct fc_machine *m, struct fc_status *st)
{
    const struct fc_fat_tree_shape *s = fc_machine_fat_tree(m);
    int kind = m->router.multicast;
    struct fc_place where = {m->file, m->network_line};
    if (kind == FC_MULTICAST_DEPOSIT && !fc_machine_torus(m))
        return fc_fail(st, FC_INPUT, where,
                       "router.multicast: deposit goes along a line of a torus or mesh, which a %s network has not",
                       m->family->name);
    if (kind == FC_MULTICAST_DEPOSIT && m->nodes_per_router != 1)
        return fc_fail(st, FC_INPUT, where,
                       "router.multicast: deposit is for one node a router, not network.nodes_per_router: %lld",
                       m->nodes_per_router);
    if (kind == FC_MULTICAST_TREE && !s)
        return fc_fail(st, FC_INPUT, where,
                       "router.multicast: tree is for fat-trees; a %s network has no root above all nodes",
                       m->family->name);
    if (kind != FC_MULTICAST_TREE) return FC_OK;
    if (s->planes * s->w[1] * s->p[1] > 1)
        return fc_fail(st, FC_INPUT, where, "router.multicast: tree is for nodes with one link each, not %u",
                       s->planes * s->w[1] * s->p[1]);
    return FC_OK;
}

enum fc_code fc_demand_multicasts_start(struct fc_demand *demand, size_t n, struct fc_status *st)
{
    demand->n_multicasts = 0;
    demand->multicasts = fc_alloc(&demand->arena, n, sizeof *demand->multicasts, st);
    return demand->multicasts ? FC_OK : st->code;
}

uint32_t *fc_demand_multicast(struct fc_demand *demand, uint32_t src, double bytes, uint32_t n_targets,
                              struct fc_status *st)
{
    uint32_t *target = fc_alloc(&demand->arena, n_targets, sizeof *target, st);
    if (!target) return NULL;
    demand->multicasts[demand->n_multicasts++] =
        (struct fc_multicast){.src = src, .n_targets = n_targets, .target = target, .bytes = bytes};
    return target;
}

enum fc_code fc_demand_line(const struct fc_torus_shape *s, struct fc_demand *demand, uint32_t router, int d,
                            int direction, uint32_t hops, double bytes, struct fc_status *st)
{
    uint32_t *target = fc_demand_multicast(demand, router, bytes, hops, st);
    if (!target) return st->code;
    struct fc_multicast *line = &demand->multicasts[demand->n_multicasts - 1];
    line->dim = (uint8_t)d;
    line->direction = (uint8_t)direction;
    for (uint32_t i = 0; i < hops; i++) target[i] = router = fc_torus_neighbour(s, router, d, direction);
    return FC_OK;
}
