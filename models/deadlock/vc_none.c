/* vc_none.c - one virtual channel and no rule: what the bare routing gives. Dimension order is acyclic on
 * a mesh and on rings of at most 3; on longer rings the wrap-around closes a cycle. Minimal adaptive
 * routing turns both ways and is cyclic from two dimensions on. Two-level and irregular networks have to
 * be looked at case by case. */
#include "models/deadlock/cdg.h"

static const char *const torus_families[] = {"torus", "mesh", NULL};
static const char *const two_level_families[] = {"two-level", NULL};
static const char *const graph_families[] = {"graph", NULL};

const struct fc_vc_rule_ops fc_vc_none_torus = {
    .name = "none",
    .help = "one virtual channel, no escape",
    .source = "Dally & Seitz 1987",
    .families = torus_families,
    .routings = fc_torus_routings,
    .variant = FC_ESCAPE_NONE,
    .chosen = fc_torus_chosen,
    .dependencies = fc_torus_dependencies,
};
const struct fc_vc_rule_ops fc_vc_none_two_level = {
    .name = "none",
    .help = "one virtual channel for the whole route",
    .source = "Dally & Seitz 1987",
    .families = two_level_families,
    .routings = fc_two_level_routings,
    .variant = true,
    .only_named = true,
    .dependencies = fc_two_level_dependencies,
};
const struct fc_vc_rule_ops fc_vc_none_graph = {
    .name = "none",
    .help = "one virtual channel (virtual lane) for every path",
    .source = "Dally & Seitz 1987",
    .families = graph_families,
    .routings = fc_graph_routings,
    .variant = FC_GRAPH_ONE,
    .chosen = fc_graph_chosen,
    .dependencies = fc_graph_dependencies,
};
