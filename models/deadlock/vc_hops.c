/* vc_hops.c - two-level networks: the virtual channel is the number of D links taken so far (Kim et al.,
 * ISCA 2008; Arimilli et al., HOTI 2010): two for direct routing, three for indirect and UGAL. UGAL counts from the end, 2
 * less the D links still to take, which keeps direct and indirect packets apart before their first D link, and takes four where indirect routes lead to a
 * router drawn in the supernode between (router.ugal.via). In a grid
 * group, whose local routes may take two hops and either corner, twice as many: the hop of the segment
 * counts too. */
#include "models/deadlock/cdg.h"

static const char *const families[] = {"two-level", NULL};
const struct fc_vc_rule_ops fc_vc_hops = {
    .name = "hops",
    .help = "channel = D links taken so far (grid groups: and local hops)",
    .source = "Kim, Dally, Scott & Abts, ISCA 2008; Arimilli et al., HOTI 2010",
    .families = families,
    .routings = fc_two_level_routings,
    .argument = "The channel number grows with every D link (and every further hop within a group), and never falls.",
    .proven = true,
    .vcs = fc_two_level_vcs,
    .data_vcs = fc_two_level_vcs,
    .dependencies = fc_two_level_dependencies,
};
