/* measured_error.h - the error of a prediction from collectives that were measured on the machine itself (measured_error.c). */
#pragma once

#include "solvers/solvers.h"

/* What a job mostly does. */
struct fc_measured_point {
    const char *collective;              /* the operation that weighs most; NULL: messages of its own */
    double nodes, ranks_per_node, bytes; /* of its vector, or mean of a message */
};

/* The error in percent: of eight in ten of the twelve cases nearest to the point, widened by cases->widen. *extrapolated: the job is
 * larger or smaller than all that were measured, and the error wider. `without`: a case whose job does not count, FC_NONE: none.
 * NaN: too few cases. O(cases). */
double fc_measured_error_percent(const struct fc_measured_cases *cases, const struct fc_measured_point *point,
                                 uint32_t without, bool *extrapolated);
/* Chooses cases->widen, at least 1, so that each job's cases are covered in SHARE by the error that the other jobs' give (of one
 * job: each case by the others). The covered share of all. */
double fc_measured_widen(struct fc_measured_cases *cases);
/* error_percent, error_against, extrapolated and why of a replay on that machine. */
void fc_measured_state_error(const struct fc_machine *machine, const struct fc_trace *trace,
                             const struct fc_placement *placement, struct fc_replay *replay);
