/* vc_none.c - one virtual channel and no rule: what the bare routing gives. Dimension order is acyclic on
 * a mesh and on rings of at most 3; on longer rings the wrap-around closes a cycle. Minimal adaptive
 * routing turns both ways and is cyclic from two dimensions on. Two-level and irregular networks have to
 * be looked at case by case. */
#include "models/deadlock/cdg.h"

static int one(const struct fc_network *net)
{
    (void)net;
    return 1;
}
static bool no_escape(const struct fc_machine *machine)
{
    return machine->router.escape == FC_ESCAPE_NONE;
}
static bool never(const struct fc_machine *machine)
{
    (void)machine;
    return false;
}
/* What tori choose says nothing of a graph. */
static bool no_rule(const struct fc_machine *machine)
{
    return machine->router.escape != FC_ESCAPE_HOPS && machine->router.escape != FC_ESCAPE_LAYERS;
}

static enum fc_code torus_dependencies(const struct fc_network *net, struct fc_cdg *cdg, struct fc_status *st)
{
    if (!fc_torus_is_adaptive(net)) return fc_torus_ordered_dependencies(net, FC_TORUS_ONE, cdg, st);
    fc_torus_adaptive_dependencies(net, cdg);
    return FC_OK;
}

static enum fc_code two_level_dependencies(const struct fc_network *net, struct fc_cdg *cdg, struct fc_status *st)
{
    return fc_two_level_dependencies(net, true, cdg, st);
}

static enum fc_code graph_dependencies(const struct fc_network *net, struct fc_cdg *cdg, struct fc_status *st)
{
    return fc_graph_dependencies(net, FC_GRAPH_ONE, cdg, st);
}

static const char *const torus_families[] = {"torus", "mesh", NULL};
static const char *const two_level_families[] = {"two-level", NULL};
static const char *const graph_families[] = {"graph", NULL};

const struct fc_vc_rule_ops fc_vc_none_torus = {
    .name = "none",
    .help = "one virtual channel, no escape",
    .source = "Dally & Seitz 1987",
    .families = torus_families,
    .routings = fc_torus_routings,
    .chosen = no_escape,
    .vcs = one,
    .dependencies = torus_dependencies,
};
const struct fc_vc_rule_ops fc_vc_none_two_level = {
    .name = "none",
    .help = "one virtual channel for the whole route",
    .source = "Dally & Seitz 1987",
    .families = two_level_families,
    .routings = fc_two_level_routings,
    .chosen = never,
    .vcs = one,
    .dependencies = two_level_dependencies,
};
const struct fc_vc_rule_ops fc_vc_none_graph = {
    .name = "none",
    .help = "one virtual channel (virtual lane) for every shortest path",
    .source = "Dally & Seitz 1987",
    .families = graph_families,
    .routings = fc_graph_routings,
    .chosen = no_rule,
    .vcs = one,
    .dependencies = graph_dependencies,
};
