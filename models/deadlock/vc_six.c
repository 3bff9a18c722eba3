/* vc_six.c - mesh channel 2 d + (dateline side) for a packet that leaves by dimension d next; on its last
 * chip it keeps that of the dimension it came by; traffic that stays on the chip takes 0. Torus links have
 * the dateline pair. 2 n mesh channels, six in 3D: acyclic for any placement, any mesh and any n.
 *
 * Proof. A chain of dependencies on the mesh within one channel is one straight run along the axis routed
 * first, then one along the other, so a chain that enters at a bridge never leaves by that bridge again:
 * in class (d, side) no chain turns from moving + in d to moving -. So it advances monotonically around
 * the ring; it leaves the class only over the dateline, which minimal routes cross once, or to a later
 * dimension; ejection ends it. */
#include "models/deadlock/cdg.h"
#include "models/family_tmesh.h"

static const char *const families[] = {"tmesh", NULL};
const struct fc_vc_rule_ops fc_vc_six = {
    .name = "six-vc",
    .help = "a mesh channel for each torus dimension and side of its dateline (2 n), two on the torus",
    .source = "derivation ours (docs/deadlock.md)",
    .families = families,
    .routings = fc_tmesh_routings,
    .argument = "Traffic for dimension d has mesh channels of its own on either side of the dateline, where "
                "it only moves on "
                "around the ring: a straight mesh route never returns to the bridge it came in by.",
    .proven = true,
    .variant = FC_TMESH_SIX_VC,
    .chosen = fc_tmesh_chosen,
    .vcs = fc_tmesh_vcs,
    .data_vcs = fc_tmesh_data_vcs,
    .dependencies = fc_tmesh_dependencies,
};
