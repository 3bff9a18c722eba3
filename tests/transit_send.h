/* transit_send.h - messages of tests between nodes, in the order of their numbers, by the route that the network takes. */
#pragma once

#include "solvers/transit/transit_internal.h"

#include <stdlib.h>

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

/* Of each link, [n_links] (fc_transit_links); NULL: the model does not know links. Good until the fourth call from then. */
static inline const double *total_of_links(const struct fc_transit *transit, bool busy)
{
    static double *room[4][2];
    static int next;
    double **both = room[next++ % 4];
    struct fc_transit_busiest busiest;
    for (int k = 0; k < 2; k++) {
        free(both[k]);
        both[k] = calloc(transit->net->n_links + 1, sizeof *both[k]);
    }
    return fc_transit_links(transit, both[0], both[1], &busiest) ? both[busy] : NULL;
}
static inline const double *carried_bytes(const struct fc_transit *transit)
{
    return total_of_links(transit, false);
}
static inline const double *busy_seconds(const struct fc_transit *transit)
{
    return total_of_links(transit, true);
}
