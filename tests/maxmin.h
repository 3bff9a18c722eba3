/* maxmin.h - max-min fair rates from scratch, the oracle of solvers/transit/transit_fair.c (Bertsekas & Gallager, water filling). */
#pragma once

#include "core/core.h"

/* Flow f crosses links link[first[f]..first[f+1]) with weights; capacity[n_links] bytes/s. rate[n_flows] out, bytes/s;
 * bottleneck[n_flows] (may be NULL) the link that froze the flow. A flow that crosses no finite link gets INFINITY.
 * Every flow has a saturated link on which its rate is the greatest. */
enum fc_code fc_maxmin(uint32_t n_links, const double *capacity, uint32_t n_flows, const uint64_t *first,
                       const uint32_t *link, const double *weight, double *rate, uint32_t *bottleneck,
                       struct fc_status *st);
