/* transit_ideal.c - every message alone: arrival = departure + head delays of its longest path + W max_l w_l
 * / b_l (transit_routes.c; W wire bytes, b_l the bandwidth that the background leaves). A lower bound of
 * contention and queueing. Limits: no message meets another. O(log messages under way) a message. */
#include "solvers/transit/transit_internal.h"

static enum fc_code send(struct fc_transit *t, const struct fc_transit_message *m)
{
    uint32_t w = fc_transit_ways_find(&t->ways, m->src, m->dst, m->bytes, m->turn);
    if (w == FC_NONE) return t->st->code;
    double port_s = fc_transit_port_s_per_byte(t->net, m->src, m->dst, m->ports.fetched);
    double arrived_s = fc_transit_alone_s(&t->ways, w, m->time_s, m->bytes, m->wire_bytes, port_s);
    return fc_transit_arrive(t, m->id, arrived_s, arrived_s);
}

static enum fc_code open_ideal(struct fc_transit *t)
{
    return fc_transit_ways_lighten(&t->ways);
}

const struct fc_transit_ops fc_transit_ideal = {.name = "ideal", .open = open_ideal, .send = send};
