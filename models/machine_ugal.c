/* machine_ugal.c - the threshold of UGAL where the machine file gives none.
 *
 * A direct route goes where q_direct <= weight q_indirect + threshold (struct fc_ugal). Credits that are out count flits
 * that are merely on the wire, too: at a share x of a link's rate, x (2 latency + delay + credit) rate of them. So that
 * an almost empty network routes directly, the threshold is the greatest of
 *
 *     30 flits (BookSim 2, src/networks/dragonfly.cpp, adaptive_threshold),
 *     six packets of the largest size (those 30 flits are six of BookSim's usual five): a few on the wire are no queue,
 *     an eighth of what the longest link between routers holds in such a round trip at its full rate.
 *
 * Limit: above an eighth of a link's load flits on the wire begin to count as a queue. */
#include "models/models.h"

#include <string.h>

enum { LEAST_FLITS = 30, PACKETS = 6, WIRE_SHARE = 8 };

double fc_ugal_threshold_flits(const struct fc_machine *machine)
{
    const struct fc_router *router = &machine->router;
    if (!isnan(router->ugal.threshold_flits)) return router->ugal.threshold_flits;
    double most = fmax(LEAST_FLITS, PACKETS * ceil(machine->packet.max_bytes / router->flit_bytes));
    for (int c = 0; c < machine->n_classes; c++) {
        const struct fc_link_class *class = &machine->classes[c];
        double round_trip_s = 2 * class->latency_s + router->delay_s + router->credit_s;
        if (!isfinite(class->bandwidth_bytes_per_s) || !strcmp(class->name, "injection")) continue;
        most = fmax(most, ceil(round_trip_s * class->bandwidth_bytes_per_s / router->flit_bytes / WIRE_SHARE));
    }
    return most;
}
