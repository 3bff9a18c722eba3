/* vc_separate.c - mesh channels 0, 1 for transit (the dateline side kept, as in shared), 2 from a core to
 * its first bridge, 3 from the last bridge to a core and for traffic that stays on the chip. What remains
 * are turns between bridges: whether they close a cycle depends on the placement. The paper's section
 * 3.1.2 gives a condition on placements that a 3D torus on a 2D mesh cannot meet (m >= n); of its Table 1,
 * 8,4,0 and 1,5,9 are acyclic row-first and 5,4,6 column-first: each dimension's two bridges on a line of
 * their own along the axis that is routed first. */
#include "models/deadlock/cdg.h"
#include "models/family_tmesh.h"

static const char *const families[] = {"tmesh", NULL};
const struct fc_vc_rule_ops fc_vc_separate = {
    .name = "separate",
    .help = "as shared in transit, a mesh channel of its own for injection and one for ejection",
    .source = "Liu, Xun, Cao & Sun, TMesh, sec. 3.1.2",
    .families = families,
    .routings = fc_tmesh_routings,
    .variant = FC_TMESH_SEPARATE,
    .chosen = fc_tmesh_chosen,
    .vcs = fc_tmesh_vcs,
    .data_vcs = fc_tmesh_data_vcs,
    .dependencies = fc_tmesh_dependencies,
};
