/* turns_zero.c - how long a packet takes that is alone in the network, by the rules of the two engines.
 *
 * Whole packets (event.c, after Kermani & Kleinrock 1979): a packet that keeps a link of p ticks starts on it
 * when its head is there, its first flit whole, so later by max(0, f_in - f_out) with flit times f where the link is
 * faster than the one it came by; its tail has passed p later, and not before it has come. To its node a packet
 * starts no earlier than tail - p; it is delivered when that link has brought it whole, trailer included. Flits
 * (cycle_queues.c): a flit that comes by a link slower than the fastest between routers is sent on when it is
 * there whole; flits follow each other at the pace of each link, so the slowest sets the pace of all behind
 * it; the last flit is at its node after the slower of its last two links has passed it. Packets of several
 * lengths are taken at their mean: exact where the order of p over the links does not depend on the length.
 */
#include "solvers/queueing/turns_internal.h"

void fc_turns_hop(const struct fc_turns_walk *w, struct fc_turns_alone *alone, int link_class, bool from_router,
                  bool to_node)
{
    const struct fc_flit_net *f = &w->flit;
    double flits = w->turns->flits_mean, latency = f->latency_ticks[link_class];
    double delay = from_router ? f->router_ticks : 0, trailer = f->trailer_ticks[link_class];
    double head = alone->head + delay, tail = alone->tail + delay;
    if (w->whole_packets) {
        double flit = f->flit_ticks[link_class], keeps = flits * flit + trailer;
        if (to_node)
            head = fmax(head, tail - keeps);
        else if (from_router)
            head += fmax(0, f->flit_ticks[alone->in_class] - flit);
        tail = fmax(head + keeps, tail) + latency;
        head += latency;
    } else {
        double flit = fmax(1, f->flit_ticks[link_class]), last = fmax(head + (flits - 1) * flit, tail);
        if (to_node) {
            double before = fmax(1, f->flit_ticks[alone->in_class]);
            tail = last + latency + fmax(flit, before) + fmax(trailer, f->trailer_ticks[alone->in_class]);
        } else {
            double whole = fmax(0, flit - w->fastest);
            tail = last + latency + whole;
        }
        head += latency + fmax(0, flit - w->fastest);
    }
    *alone = (struct fc_turns_alone){head, tail, link_class};
}
