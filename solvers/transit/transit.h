/* transit.h - messages on their way through a network, for whoever replays programs: sent in, they come out when their last
 * byte is at the receiver's node. What lies in between is chosen: ideal (every message alone), contention (max-min fair
 * sharing of routed links), queueing (the calibrated queueing model's latencies) or flit (the kernel). */
#pragma once

#include "solvers/solvers.h"

struct fc_adjoint;     /* solvers/adjoint/adjoint.h */
struct fc_calibration; /* solvers/calibration/calibration.h */
struct fc_transit_settings {
    enum fc_network_model network;
    const double *background_bytes_per_s;   /* [n_links] other jobs' traffic; NULL: none */
    const struct fc_background *background; /* flit: the same as packets to send (background.h) */
    uint64_t seed;                          /* flit */
    const char *calibration;                /* queueing: file; NULL: the machine's, or theory's parameters */
    const struct fc_calibration *made;      /* queueing: instead of a file; contention and queueing: what links
                                           * lose to messages that mix (replays.mixing); NULL: none */
    struct fc_adjoint *adjoint;             /* contention: the tape of derivatives; NULL: not asked for */
};
/* An arrival. */
struct fc_arrival {
    uint64_t id;
    double time_s;  /* its last byte is at the receiver's node */
    double alone_s; /* when it would have been, had the network been empty */
    /* contention: the part of a link's load that messages between other nodes have, on the link of its way where that is most,
     * when it begins or when it ends, whichever is more: 0 to 1; else 0 */
    double interference;
};

/* Ports of its ends that a message goes through: its receiver's where it is fetched, else its sender's, put; `out`, `in`: which
 * of the sender's and of the receiver's node, FC_NONE: the next in turn. */
struct fc_transit_ports {
    bool fetched;
    uint32_t out, in;
};

struct fc_transit; /* opaque; several may live at once, each in one thread */
/* net, the background and st must outlive it: later failures fill st too. flit: FC_NO over 20 000 links, FC_INPUT with
 * bytes of links and no background to send. queueing: what the calibration or the model refuse. The caller closes. */
enum fc_code fc_transit_open(const struct fc_network *net, const struct fc_transit_settings *settings,
                             struct fc_transit **transit, struct fc_status *st);
/* A message of `bytes` payload leaves node src for node dst (may be the same: node's memory) at time_s, not before the
 * last arrival that was taken. id: the caller's. Messages sent at the same time are ordered by id. It is its sender's
 * turn-th: one of fewer packets than its route has paths starts with path fc_transit_first_path(turn, paths). route:
 * the route's number where the caller knows it, FC_NONE. FC_NO: out of memory; FC_INPUT: no route. */
enum fc_code fc_transit_send(struct fc_transit *transit, uint64_t id, uint64_t turn, double time_s, uint32_t src,
                             uint32_t dst, double bytes, uint32_t route, struct fc_transit_ports ports);
/* floor(n * frac(turn * golden ratio)): turns in any arithmetic progression are spread evenly over n paths. */
static inline uint32_t fc_transit_first_path(uint64_t turn, uint32_t n)
{
    return (uint32_t)((unsigned __int128)(turn * UINT64_C(0x9E3779B97F4A7C15)) * n >> 64);
}
/* The next arrival, if one is at or before until_s (INFINITY: any); *found false: none. Arrivals come in order of time,
 * those of one time by id. All messages that leave at or before until_s must have been sent. */
enum fc_code fc_transit_next(struct fc_transit *transit, double until_s, struct fc_arrival *arrival, bool *found);
/* What links carried so far by the messages that have left, added into arrays of zeros, [n_links]: payload bytes, and seconds that they were
 * busy (wire bytes / free bandwidth); the busiest, the first of several, with link FC_NONE where none is. Bytes are those of the paths
 * drawn; where messages go round these (transit_fair_mix.c) no link is busy for longer than until the last arrival. False: the network model
 * does not know links (flit), or no memory. O(links of the ways of messages), but O(links) where these are not kept. */
struct fc_transit_busiest {
    double busy_s;
    uint32_t link;
};
bool fc_transit_links(const struct fc_transit *transit, double *bytes, double *busy_s,
                      struct fc_transit_busiest *busiest);
/* Time that messages took longer than alone so far, summed. */
double fc_transit_waited_s(const struct fc_transit *transit);
void fc_transit_close(struct fc_transit *transit);
