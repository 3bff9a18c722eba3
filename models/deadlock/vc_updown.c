/* vc_updown.c - graphs: a virtual channel on which packets go up* and then down* (graph_updown.c) is the escape of all others,
 * which take what way they like (Duato 1993; Silla & Duato, "High-performance routing in networks of workstations with irregular
 * topology", IEEE TPDS 11(7), 2000). A packet that has taken the escape stays there to its destination, so no dependencies
 * lead through the other channels. One channel beside those of router.vcs, for any routing: few buffers where `hops` would take
 * many; traffic that must escape crowds near the root. */
#include "models/deadlock/cdg.h"

static const char *const families[] = {"graph", NULL};
const struct fc_vc_rule_ops fc_vc_updown = {
    .name = "updown",
    .help = "an escape channel on up*-down* routes; the others are free to all packets",
    .source = "Schroeder et al., IEEE JSAC 1991; Silla & Duato, IEEE TPDS 2000",
    .families = families,
    .routings = fc_graph_updown_routings,
    .argument = "No packet on the escape channel goes up once it has gone down, and none leaves that channel.",
    .variant = FC_GRAPH_UPDOWN,
    .chosen = fc_graph_chosen,
    .dependencies = fc_graph_dependencies,
};
