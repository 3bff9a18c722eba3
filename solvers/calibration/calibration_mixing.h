/* calibration_mixing.h - the limit of what links lose to flows that mix, from jobs replayed through the kernel
 * (calibration_mixing.c); private to calibration*.c. */
#pragma once

#include "solvers/calibration/replay_error.h"

/* What a limit is, as far as is known before jobs of the machine were run (calibration_mixing.c). */
#define FC_MIXING_PRIOR 0.8
/* Limits that jobs are replayed with: 1, 0.9 .. 0.2. */
enum { FC_MIXING_LIMITS = 9 };
static inline double fc_mixing_limit(int step)
{
    return (10 - step) / 10.0;
}
struct fc_mixing_case {
    const char *network;             /* shape */
    double kernel_s;                 /* > 0 */
    double time_s[FC_MIXING_LIMITS]; /* > 0, of the contention model with each limit */
    double left_out; /* out: the limit by the others: all networks but this, with one network all jobs but this */
};
/* The greatest step that a fit needs has been made: with the last of n steps jobs are farther from the kernel by far. */
bool fc_mixing_enough(const struct fc_mixing_case *cases, uint32_t n_cases, int n_steps);
/* cases[n_cases] with n_steps times each: the limit and its 95 % interval into *replays, and left_out of each case. All
 * of them are 1 where a limit takes jobs that it was not fitted to clearly farther from the kernel. O(cases^2) at worst. */
void fc_mixing_fit(struct fc_mixing_case *cases, uint32_t n_cases, int n_steps, struct fc_replays *replays);
