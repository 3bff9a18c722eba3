/* calibration_phases.h - closed runs of a calibration, and their section of the file; private to
 * calibration*.c. */
#pragma once

#include "solvers/calibration/calibration_internal.h"

/* Of the budget. */
#define FC_CALIBRATION_PHASES_SHARE 0.2
/* Of one core: packets of the event engine over links of all kinds, in closed runs, whose queues are longest. */
#define FC_CALIBRATION_PHASES_MOVES_PER_S 2e6

/* The networks of closed runs: those of the design, and the machine and relatives of it that are too large for
 * open-loop runs. */
enum { FC_CALIBRATION_MOST_NETWORKS = 8 };
struct fc_calibration_networks {
    struct fc_arena arena;
    int n, n_owned;
    const char *without;                                        /* of the settings */
    const struct fc_network *net[FC_CALIBRATION_MOST_NETWORKS]; /* ascending nodes; equal ones as they were found */
    struct fc_machine *machine; /* [most] of the owned; the machine itself is a borrowed copy */
    struct fc_network *own;     /* [most] */
    bool borrowed[FC_CALIBRATION_MOST_NETWORKS];
};
/* `without` is set, all else 0; closed also after a failure. The design must outlive it. */
enum fc_code fc_calibration_networks_open(const struct fc_machine *machine, const struct fc_calibration_design *design,
                                          struct fc_calibration_networks *networks, struct fc_status *st);
void fc_calibration_networks_close(struct fc_calibration_networks *networks);

/* Designs the closed runs on the networks of the design and others like them within `budget_moves`, makes
 * them, fits the processes of bulk.c and measures their errors. `mixing`: of fc_bulk_fluid. n_cases is 0 where fewer than four runs fit. Out
 * in the calibration's arena. Same result for any number of threads. FC_NO: a run deadlocks. */
enum fc_code fc_calibration_phases_run(const struct fc_machine *machine, const struct fc_calibration_design *design,
                                       double budget_moves, const struct fc_calibration_settings *settings,
                                       double mixing, struct fc_arena *arena, struct fc_bulk *bulk,
                                       struct fc_status *st);
/* Finds the fluids of all cases again with another limit of mixing, and fits anew; nothing is run. A case of a network that is neither the
 * machine's own nor a smaller relative has none (`fluid` 0). FC_NO: out of memory. */
enum fc_code fc_calibration_phases_renew(const struct fc_machine *machine, uint64_t seed, int threads, double mixing,
                                         struct fc_bulk *bulk, struct fc_status *st);
/* Runs one more phase through the kernel, as many tasks on each node, and keeps it among the cases, instead of the same one where it
 * is there; fc_bulk_fit is to follow. *added: the case, may be NULL. FC_INPUT: no pattern of messages, or none crosses the network; FC_NO: a
 * deadlock, a run that does not end, or no room; the cases are then as they were. */
enum fc_code fc_calibration_phase_add(const struct fc_network *net, const char *pattern, uint64_t seed,
                                      struct fc_arena *arena, struct fc_bulk *bulk, const struct fc_bulk_case **added,
                                      struct fc_status *st);
/* The section `phases:` (calibration_phases_file.c). */
void fc_calibration_phases_write(FILE *stream, const struct fc_bulk *bulk);
/* FC_INPUT with file:line for what is wrong. `r` is a struct reader of calibration_yaml.h. */
struct reader;
struct yaml_node_s;
enum fc_code fc_calibration_phases_read(struct reader *r, const struct yaml_node_s *node);
