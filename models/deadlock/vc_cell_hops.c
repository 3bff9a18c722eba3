/* vc_cell_hops.c - networks of cells: the virtual channel is the number of global links taken so far (Kim et al., ISCA
 * 2008; Shpiner et al., HiPINEB 2017): two for direct routing, three for indirect and UGAL, and one more for the second local
 * link of detours within a cell without spines. */
#include "models/deadlock/cdg.h"

static const char *const families[] = {"dragonfly-plus", NULL};
const struct fc_vc_rule_ops fc_vc_cell_hops = {
    .name = "cell-hops",
    .help = "channel = global links taken so far (detours within a cell: one more)",
    .source = "Kim, Dally, Scott & Abts, ISCA 2008; Shpiner et al., HiPINEB 2017",
    .families = families,
    .routings = fc_plus_routings,
    .argument =
        "The channel number grows with every global link and never falls; within a cell a packet goes up, then "
        "down, or where it passes through down, then up, or over one local link, or over two, the second in a channel of "
        "its own.",
    .proven = true,
    .vcs = fc_plus_vcs,
    .data_vcs = fc_plus_vcs,
    .dependencies = fc_plus_dependencies,
};
