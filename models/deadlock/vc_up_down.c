/* vc_up_down.c - fat-trees: one virtual channel is enough, since no packet goes up again after it came
 * down (Leiserson 1985; Petrini & Vanneschi, IPPS 1997). */
#include "models/deadlock/cdg.h"

static const char *const families[] = {"fat-tree", NULL};
const struct fc_vc_rule_ops fc_vc_up_down = {
    .name = "up-down",
    .help = "one virtual channel: up to a common ancestor, then down",
    .source = "Petrini & Vanneschi, IPPS 1997",
    .families = families,
    .routings = fc_fat_tree_routings,
    .argument = "Every packet first goes up, then down, and never up again.",
    .proven = true,
    .dependencies = fc_fat_tree_dependencies,
};
