/* vc_bubble_direction.c - the bubble escape in direction order: one virtual channel, asked for in the order
 * x+ y+ z+ x- y- z- (Scott & Thorson 1996 for the order; Puente et al., ICPP 1999 for the bubble; both
 * escapes are compared by Adiga et al. 2005).
 *
 * Invariant and conditions of every ring are those of vc_bubble.c: room for one packet of full size is left
 * in the bubble buffers of each ring (dimension, direction, line of routers), so that some packet of it can
 * move. Rings are left in order: the directions of a packet's hops are fixed at the source and its set of
 * directions with hops left only shrinks, by adaptive hops too, so the first of them in the order never comes
 * before the one it asked for earlier. Only adaptive routing has an escape to choose: dimension-order and
 * Valiant routing keep to their own order, and the rule is then the bubble's. The graph counts both sides of
 * a dateline as one channel, so that for tori it is a superset of the extended dependencies. */
#include "models/deadlock/cdg.h"

static const char *const families[] = {"torus", "mesh", NULL};
const struct fc_vc_rule_ops fc_vc_bubble_direction = {
    .name = "bubble-direction-ordered",
    .help = "the bubble's channel, asked for in the order x+ y+ z+ x- y- z-",
    .source = "Scott & Thorson 1996; Puente et al., ICPP 1999; Adiga et al. 2005",
    .families = families,
    .routings = fc_torus_routings,
    .argument = "Directions are taken in order and no ring is long enough to close on itself.",
    .variant = FC_ESCAPE_BUBBLE_DIRECTION_ORDERED,
    .chosen = fc_torus_chosen,
    .vcs = fc_torus_vcs,
    .dependencies = fc_torus_dependencies,
    .invariant = fc_bubble_invariant,
};
