/* transit_send.h - messages of tests between nodes, in the order of their numbers, by the route that the network takes. */
#pragma once

#include "solvers/transit/transit_internal.h"

static inline enum fc_code fc_test_send(struct fc_transit *transit, uint64_t id, double time_s, uint32_t src,
                                        uint32_t dst, double bytes)
{
    struct fc_transit_ports ports = {bytes > transit->net->machine->software.eager_bytes, FC_NONE, FC_NONE};
    return fc_transit_send(transit, id, id, time_s, src, dst, bytes, FC_NONE, ports);
}

/* Another transit instead, as this one was at first. */
static inline enum fc_code fc_test_reopen(struct fc_transit **transit)
{
    const struct fc_network *net = (*transit)->net;
    struct fc_transit_settings settings = (*transit)->settings;
    struct fc_status *st = (*transit)->st;
    fc_transit_close(*transit);
    return fc_transit_open(net, &settings, transit, st);
}
