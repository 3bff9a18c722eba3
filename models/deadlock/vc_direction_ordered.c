/* vc_direction_ordered.c - dateline pairs as escape channels asked for in the order x+ y+ z+ x- y- z-
 * (Scott & Thorson, "The Cray T3E network", HOT Interconnects 1996; one of the escapes compared by Adiga
 * et al. 2005).
 *
 * The escape of a packet is its first direction in that order with hops left; half way round an even ring
 * counts as +. Only adaptive routing has an escape to choose: dimension-order and Valiant routing keep to
 * their own order, and the rule is then the dateline's pairs (vc_dateline.c).
 * router.dateline chooses the channel of a pair as there. */
#include "models/deadlock/cdg.h"

static const char *const families[] = {"torus", "mesh", NULL};
const struct fc_vc_rule_ops fc_vc_direction_ordered = {
    .name = "direction-ordered",
    .help = "dateline pairs as escape, asked for in the order x+ y+ z+ x- y- z-",
    .source = "Scott & Thorson 1996 (Cray T3E); Adiga et al. 2005",
    .families = families,
    .routings = fc_torus_routings,
    .argument = "Directions are taken in order and no packet crosses a dateline twice, so neither turns nor "
                "rings close on "
                "themselves.",
    .proven = true,
    .variant = FC_ESCAPE_DIRECTION_ORDERED,
    .chosen = fc_torus_chosen,
    .vcs = fc_torus_vcs,
    .data_vcs = fc_torus_pair_data_vcs,
    .dependencies = fc_torus_dependencies,
};
