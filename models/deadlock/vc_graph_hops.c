/* vc_graph_hops.c - graphs: the virtual channel counts hops, from the end: a packet with h hops left takes channel
 * longest - h, so that every route ends in the last one (Gunther, "Prevention of deadlocks in packet-switched data transport
 * systems", IEEE Trans. Communications 29(4), 1981; so Slim Fly, Besta & Hoefler, SC'14, and other networks of low diameter).
 * As many channels as the longest route has hops: two on a network of diameter two, too many on a torus. Detours count both
 * ways, each as long as it can be: a packet on its first way, with h hops left to the stop, takes channel longest - h, on its
 * second, with h left, 2 longest - h; one that goes directly takes those of the second. */
#include "models/deadlock/cdg.h"
#include "models/family_graph.h"

uint32_t fc_graph_counted_hops(const struct fc_network *net)
{
    const struct fc_graph_tables *t = net->extra;
    return net->machine->routing->detours ? 2 * t->farthest : fc_graph_longest(net);
}

static int vcs(const struct fc_network *net, int variant)
{
    (void)variant;
    return (int)fc_graph_counted_hops(net);
}

static const char *const families[] = {"graph", NULL};
const struct fc_vc_rule_ops fc_vc_graph_hops = {
    .name = "hops",
    .help = "a virtual channel a hop, the last hop of every route in the last channel",
    .source = "Gunther, IEEE Trans. Communications 1981; Besta & Hoefler, SC'14",
    .families = families,
    .routings = fc_graph_hop_routings,
    .argument = "The channel number grows with every hop.",
    .variant = FC_GRAPH_HOPS,
    .chosen = fc_graph_chosen,
    .vcs = vcs,
    .data_vcs = vcs,
    .dependencies = fc_graph_dependencies,
};
