/* vc_bubble.c - the bubble escape: one virtual channel in dimension order whose rings never fill up
 * (Carrion, Beivide, Gregorio & Vallejo, HiPC 1997; Puente et al., ICPP 1999; Blue Gene/L: Adiga et al.
 * 2005).
 *
 * The dependency graph is cyclic by design: every ring closes on itself. Invariant: in the bubble buffers
 * of each ring (dimension, direction, line of routers) there is always room for one packet of full size
 * somewhere. A packet in the ring moves on when the next buffer has room for one; a packet enters it
 * (injection, turn, from an adaptive channel) only when that buffer has room for two, so one remains; then
 * some packet of the ring can always move, and rings are left in dimension order. Every packet counts as
 * full size whatever its length: with its true length free space is scattered in pieces too small for
 * anyone, and rings deadlock (Adiga et al.; found there by simulation). Hence the conditions: cut-through
 * (a packet in one buffer at a time) and a buffer of at least two full packets. Valiant routing needs a
 * bubble channel a phase, since the second phase enters the first dimensions again. */
#include "models/deadlock/cdg.h"

bool fc_bubble_invariant(const struct fc_network *net, int variant, char *words, size_t size)
{
    bool by_direction = variant == FC_ESCAPE_BUBBLE_DIRECTION_ORDERED && fc_torus_is_adaptive(net);
    const struct fc_machine *m = net->machine;
    double packet = m->packet.max_bytes;
    if (m->router.flow_control != FC_CUT_THROUGH) {
        snprintf(words, size,
                 "The bubble rule needs cut-through: a packet of wormhole routing lies in several buffers.");
        return false;
    }
    if (packet == 0) {
        snprintf(words, size, "The bubble rule cannot be checked without packet.max, the longest packet.");
        return false;
    }
    if (m->router.buffer_bytes < 2 * packet) {
        snprintf(words, size,
                 "The bubble rule needs buffers of two full packets (%.15g B), router.buffer is %.15g B: "
                 "nothing could ever enter a ring.",
                 2 * packet, m->router.buffer_bytes);
        return false;
    }
    snprintf(words, size,
             "Rings are cyclic by design, but none ever fills: a packet enters one only where two full "
             "packets fit (%.15g "
             "of %.15g B, each packet counted full size), so a packet's room is always left and some packet "
             "can move; "
             "rings are left in %s order.",
             2 * packet, m->router.buffer_bytes, by_direction ? "direction" : "dimension");
    return true;
}

static const char *const families[] = {"torus", "mesh", NULL};
const struct fc_vc_rule_ops fc_vc_bubble = {
    .name = "bubble",
    .help = "one channel in dimension order; a ring is entered only where two full packets fit",
    .source = "Carrion et al., HiPC 1997; Puente et al., ICPP 1999; Adiga et al. 2005",
    .families = families,
    .routings = fc_torus_routings,
    .argument = "Dimensions are taken in order and no ring is long enough to close on itself.",
    .variant = FC_ESCAPE_BUBBLE,
    .chosen = fc_torus_chosen,
    .vcs = fc_torus_vcs,
    .dependencies = fc_torus_ordered_dependencies,
    .invariant = fc_bubble_invariant,
};
