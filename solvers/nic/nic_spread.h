/* nic_spread.h - distributions of waits on a grid: sums and maxima of independent ones (nic_spread.c). */
#pragma once

#include "core/core.h"

#define FC_SPREAD_CELLS 8192 /* at most; what lies beyond counts in the last */

/* A wait is i * step_s with probability p[i]. */
struct fc_spread {
    uint32_t n;
    double step_s;
    double *p; /* [n] sums to 1; in an arena */
};
/* No wait at all. */
enum fc_code fc_spread_none(struct fc_spread *s, double step_s, struct fc_arena *arena, struct fc_status *st);
/* least_s, and with probability `some` a part of length_s more: the least of `of` uniform ones. */
enum fc_code fc_spread_residual(struct fc_spread *s, double step_s, double least_s, double some, double length_s,
                                double of, struct fc_arena *arena, struct fc_status *st);
/* With probability `some` an exponential wait of that mean. */
enum fc_code fc_spread_exponential(struct fc_spread *s, double step_s, double some, double mean_s,
                                   struct fc_arena *arena, struct fc_status *st);
/* a becomes a + b, the greatest of a and b; of `copies` of itself. One step for both. O(a->n b->n), O(n). */
enum fc_code fc_spread_add(struct fc_spread *a, const struct fc_spread *b, struct fc_arena *arena,
                           struct fc_status *st);
enum fc_code fc_spread_max(struct fc_spread *a, const struct fc_spread *b, struct fc_arena *arena,
                           struct fc_status *st);
void fc_spread_copies(struct fc_spread *a, double copies);
double fc_spread_mean(const struct fc_spread *s);
/* Share below x. */
double fc_spread_below(const struct fc_spread *s, double x);
