/* calibration_replays.h - jobs of a calibration replayed over models and kernel, and their section of the file;
 * private to calibration*.c. */
#pragma once

#include "solvers/calibration/calibration_phases.h"

/* Of the budget, and beyond it: so the other sections are the same with and without this one. */
#define FC_CALIBRATION_REPLAYS_SHARE 0.1
/* Of one core, in the units of calibration_replays.c. */
#define FC_CALIBRATION_REPLAYS_WORK_PER_S 4e6

/* Replays small jobs on the machine and relatives of it within `budget`, with the calibration's own parameters under
 * the queueing model, into calibration->replays. Same result for any number of threads. */
enum fc_code fc_calibration_replays_run(const struct fc_machine *machine, double budget,
                                        const struct fc_calibration_settings *settings,
                                        struct fc_calibration *calibration, struct fc_status *st);
/* The section `replays:` (calibration_replays_file.c): written where anything was run. */
void fc_calibration_replays_write(FILE *stream, const struct fc_replays *replays);
/* FC_INPUT with file:line for what is wrong; node NULL: a file without the section, which has none. */
enum fc_code fc_calibration_replays_read(struct reader *r, const struct yaml_node_s *node);
