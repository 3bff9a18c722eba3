/* queueing_window.h - closed injection: every node keeps so many packets on their way. */
#pragma once

#include "solvers/queueing/queueing.h"

struct fc_window_answer {
    uint32_t window_packets;
    double load_flits_per_cycle; /* accepted, flits a node and cycle (mean over the nodes, as in struct fc_turns) */
    double latency_mean_cycles;  /* of a packet, from when the window lets it go */
    bool saturated;              /* the network, not the window, is the limit: the load is the saturation */
};
/* An open model: solve gives the latency at a load (stable false: there is none), saturation where it ends. */
struct fc_window_model {
    void *context;
    enum fc_code (*solve)(void *context, double load_flits_per_cycle, struct fc_queueing_answer *answer,
                          struct fc_status *st);
    double saturation, flits_mean; /* flits a node and cycle; flits a packet */
};
/* Throughput and latency when a node starts a packet only while fewer than `window_packets` >= 1 of its own are on
 * their way; a packet's place is free again ack_cycles after it arrived whole. FC_INPUT: no window, a negative time.
 * FC_NO: the model does not converge. Some thirty solves. */
enum fc_code fc_window_solve(const struct fc_window_model *model, uint32_t window_packets, double ack_cycles,
                             struct fc_window_answer *answer, struct fc_status *st);
