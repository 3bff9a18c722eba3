/* routing_reverse.c - a routing of tori and meshes: the last dimension first. At a tie of an even ring +. */
#include "models/routings/torus_loads.h"

static uint32_t walk_capacity(const struct fc_network *net)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t n = 2;
    for (int d = 0; d < s->n_dims; d++) n += s->k[d];
    return n;
}
static void walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *out)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t v = src / s->nodes_per_router, to = dst / s->nodes_per_router;
    fc_walk_add(out, fc_torus_injection(net, src), share);
    for (int d = s->n_dims - 1; d >= 0; d--) {
        struct fc_torus_offset o = fc_torus_offset(s, d, fc_torus_coordinate(s, v, d), fc_torus_coordinate(s, to, d));
        int direction = o.plus_share > 0 ? FC_PLUS : FC_MINUS;
        for (uint32_t h = direction == FC_PLUS ? o.plus : o.minus; h > 0; h--) {
            fc_walk_add(out, fc_torus_port(net, v, d, direction), share);
            v = fc_torus_neighbour(s, v, d, direction);
        }
    }
    fc_walk_add(out, fc_torus_ejection(net, dst), share);
}
static const char *const families[] = {"torus", "mesh", NULL};
const struct fc_routing_ops fc_routing_reverse = {
    .name = "reverse-order",
    .help = "the last dimension first",
    .source = "Dally & Towles 2004 ch. 8",
    .families = families,
    .walk_capacity = walk_capacity,
    .walk = walk,
};
