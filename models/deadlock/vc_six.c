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

static bool chosen(const struct fc_machine *machine)
{
    return ((const struct fc_tmesh_shape *)machine->shape)->vc_policy == FC_TMESH_SIX_VC;
}
static int vcs(const struct fc_network *net)
{
    return fc_tmesh_vcs(net, FC_TMESH_SIX_VC);
}
static enum fc_code dependencies(const struct fc_network *net, struct fc_cdg *cdg, struct fc_status *st)
{
    return fc_tmesh_dependencies(net, FC_TMESH_SIX_VC, cdg, st);
}

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
    .chosen = chosen,
    .vcs = vcs,
    .data_vcs = fc_tmesh_data_vcs,
    .dependencies = dependencies,
};
