/* machine_buffer.c - the input buffer of a virtual channel that keeps its link busy.
 *
 * A flit's buffer is free for the next one a round trip after it was sent: the wire, the router, the wire back, and the credit's
 * handling (Dally & Towles 2004, 16.3). So that one virtual channel alone can fill a link of bandwidth b
 *
 *     buffer = b (2 latency + delay + credit) + one flit + one of the longest packets, in whole flits
 *
 * the greatest of the links between routers, and of those of the nodes, of which no more than the fastest of the others
 * carries is asked; the packet, since cut-through sends it only where it fits in whole. Limits: with other traffic in the same
 * buffer, more is better still. */
#include "models/machine.h"
#include "models/network.h"

double fc_buffer_needed_bytes(const struct fc_machine *m)
{
    const struct fc_router *r = &m->router;
    int injection = fc_injection_class(m);
    double most_flits = 0, fastest = 0, packet_flits = fmax(1, ceil(m->packet.max_bytes / r->flit_bytes - 1e-9));
    for (int c = 0; c < m->n_classes; c++)
        if (c != injection) fastest = fmax(fastest, m->classes[c].bandwidth_bytes_per_s);
    for (int c = 0; c < m->n_classes; c++) {
        const struct fc_link_class *k = &m->classes[c];
        double bytes_per_s = fmin(k->bandwidth_bytes_per_s, fastest),
               round_s = 2 * k->latency_s + r->delay_s + r->credit_s;
        most_flits = fmax(most_flits, ceil(bytes_per_s * round_s / r->flit_bytes - 1e-9));
    }
    return (most_flits + 1 + packet_flits) * r->flit_bytes;
}
