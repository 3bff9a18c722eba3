/* vc_layers.c - graphs: destinations spread over virtual channels (InfiniBand: virtual lanes) so that each
 * channel's dependencies stay acyclic (Domke, Hoefler & Nagel, "Deadlock-free oblivious routing for
 * arbitrary topologies", IPDPS 2011; there path by path, here by whole destinations, which keeps routing
 * tables by destination but may take more channels). As many channels as the greedy assignment needs;
 * InfiniBand switches offer up to 15. */
#include "models/deadlock/cdg.h"
#include "models/family_graph.h"

/* When the layers cannot be found the dependencies fail for the same reason and say it. */
static int vcs(const struct fc_network *net, int variant)
{
    (void)variant;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_status st = {0};
    uint32_t n_layers = 0;
    const struct fc_graph_tables *tables = net->extra;
    uint32_t *layer = fc_alloc(&scratch, tables->n_groups, sizeof *layer, &st);
    if (layer) fc_graph_layers(net, layer, &n_layers, &st);
    return n_layers ? (int)n_layers : 1;
}

/* Where there are not enough layers, finding them fails and says so. */
static bool invariant(const struct fc_network *net, int variant, char *words, size_t size)
{
    (void)net, (void)variant;
    snprintf(words, size, "A destination joins a layer only where it closes no cycle.");
    return true;
}

static const char *const families[] = {"graph", NULL};
const struct fc_vc_rule_ops fc_vc_layers = {
    .name = "layers",
    .help = "a virtual channel a layer of destinations, as many as keep each layer acyclic",
    .source = "Domke, Hoefler & Nagel, IPDPS 2011",
    .families = families,
    .routings = fc_graph_layered_routings,
    .argument = "A packet keeps the channel of its destination's layer, and each layer is acyclic by itself.",
    .variant = FC_GRAPH_LAYERS,
    .chosen = fc_graph_chosen,
    .vcs = vcs,
    .data_vcs = vcs,
    .dependencies = fc_graph_dependencies,
    .invariant = invariant,
};
