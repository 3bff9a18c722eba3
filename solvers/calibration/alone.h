/* alone.h - traffic in which nobody meets (alone.c). */
#pragma once

#include "solvers/queueing/turns.h"

struct fc_alone {
    const struct fc_turns *turns;
    bool holds; /* nobody meets, and the kernel told how the sources go; the rest is only then of use */
    uint32_t n; /* sources */
    double *service_cycles, longest_cycles; /* [n] from packet to packet where one always waits; the greatest */
    double spread;                          /* mean of the square of a packet's time over the square of the mean */
};
/* Looks whether nobody meets in the traffic of `pattern`, which the turns were made of, and runs it. Arrays lie in the arena; the turns must
 * outlive it. Same settings, same answer. */
enum fc_code fc_alone_find(const struct fc_turns *turns, const char *pattern, const struct fc_flit_settings *settings,
                           struct fc_arena *arena, struct fc_alone *alone, struct fc_status *st);
/* Load, flits a node and cycle, at which the slowest source has no pause left. */
double fc_alone_saturation(const struct fc_alone *alone);
/* Mean latency, source queue included, cycles, below saturation. */
double fc_alone_latency(const struct fc_alone *alone, double load_flits_per_cycle);
