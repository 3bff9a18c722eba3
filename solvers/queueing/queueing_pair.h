/* queueing_pair.h - latency of single pairs of nodes, and of pairs so many hops apart: mean and tail, at the load
 * that a queueing model solved last (queueing_pair.c has the rules). */
#pragma once

#include "solvers/queueing/queueing.h"

struct fc_pair_answer {
    double hops_mean;           /* links between routers */
    double zero_load_cycles;    /* alone in the network */
    double latency_mean_cycles; /* source queue included, as in struct fc_queueing_answer */
    double latency_sd_cycles;
    double latency_p95_cycles, latency_p99_cycles; /* estimate: shifted gamma distribution */
};
struct fc_queueing_pairs;
/* Prepares the network again, with the settings that the turns were made with. The model must outlive it. The
 * caller closes. FC_INPUT as fc_turns_make. */
enum fc_code fc_queueing_pairs_open(const struct fc_queueing *queueing, const struct fc_flit_settings *settings,
                                    struct fc_queueing_pairs **pairs, struct fc_status *st);
void fc_queueing_pairs_close(struct fc_queueing_pairs *pairs);
/* One pair of nodes at the load solved last; all times are multiplied by `factor` (1, or what a calibration found at
 * that load). FC_NO: no stable load was solved. FC_INPUT: no such node. Cost: 64 packets followed, about 100 us. */
enum fc_code fc_queueing_pair(const struct fc_queueing_pairs *pairs, uint32_t source, uint32_t target, double factor,
                              struct fc_pair_answer *answer, struct fc_status *st);

/* Packets of the demand whose pairs are so many hops apart. */
struct fc_hops_class {
    uint32_t hops;
    double share; /* of all packets */
    struct fc_pair_answer latency;
};
#define FC_MOST_HOPS_CLASSES 4096
/* class[FC_MOST_HOPS_CLASSES], ascending in hops (means over a pair's packets, rounded); *n of them. All pairs of the
 * demand up to 4096, else as many, drawn evenly by their bytes. */
enum fc_code fc_queueing_by_hops(const struct fc_queueing_pairs *pairs, const struct fc_demand *demand, double factor,
                                 struct fc_hops_class *class, uint32_t *n, struct fc_status *st);
