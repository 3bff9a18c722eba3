/* vc_dateline.c - two virtual channels a ring, one before and one after its dateline (Dally & Seitz 1987).
 *
 * The dateline of every ring lies between the greatest coordinate and 0. A packet enters a dimension on
 * channel 0; the link that crosses the dateline and all after it in that dimension are taken on channel 1.
 * With router.dateline: entry a packet whose route will cross it takes channel 1 all the way in the
 * dimension (why no ring closes then either: cdg_torus.c). Valiant routing has a pair for each phase (0, 1
 * and 2, 3). Under adaptive routing the pair is the escape, asked for in dimension order, and the side of
 * the dateline counts crossings on adaptive channels too: the graph is then Duato's extended one. */
#include "models/deadlock/cdg.h"

static const char *const families[] = {"torus", "mesh", NULL};
const struct fc_vc_rule_ops fc_vc_dateline = {
    .name = "dateline",
    .help = "channel 1 from the dateline of each ring on (dateline: entry: wherever the route will cross it), "
            "else 0; the escape pair of adaptive routing",
    .source = "Dally & Seitz 1987; Duato 1993; Adiga et al. 2005",
    .families = families,
    .routings = fc_torus_routings,
    .argument = "Dimensions are taken in order, and no packet crosses a dateline twice, so neither turns nor "
                "rings close "
                "on themselves.",
    .proven = true,
    .variant = FC_ESCAPE_DATELINE,
    .chosen = fc_torus_chosen,
    .vcs = fc_torus_vcs,
    .data_vcs = fc_torus_pair_data_vcs,
    .dependencies = fc_torus_dependencies,
};
