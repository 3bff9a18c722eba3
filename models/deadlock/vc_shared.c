/* vc_shared.c - two virtual channels everywhere: a torus ring's dateline pair, and on the mesh the channel
 * of the torus link by which the packet came in (0 from a core). The rule of the paper's section 2.1,
 * which shows that it deadlocks: turns into a dimension share mesh links with traffic inside that
 * dimension and take channel 1 back to 0. All placements of its Table 1 are cyclic under it, in both mesh
 * orders. */
#include "models/deadlock/cdg.h"
#include "models/family_tmesh.h"

static const char *const families[] = {"tmesh", NULL};
const struct fc_vc_rule_ops fc_vc_shared = {
    .name = "shared",
    .help = "two channels a link; on the mesh a packet keeps the channel it arrived by",
    .source = "Liu, Xun, Cao & Sun, TMesh, sec. 2.1 and Fig. 5",
    .families = families,
    .routings = fc_tmesh_routings,
    .variant = FC_TMESH_SHARED,
    .chosen = fc_tmesh_chosen,
    .vcs = fc_tmesh_vcs,
    .data_vcs = fc_tmesh_data_vcs,
    .dependencies = fc_tmesh_dependencies,
};
