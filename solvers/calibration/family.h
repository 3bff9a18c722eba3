/* family.h - the calibration of a machine that has none of its own: what the calibrations of machines of its family say
 * (family.c). */
#pragma once

#include "solvers/calibration/calibration.h"

/* The calibration that answers for a network: its own (fc_calibration_find); else, where there are shipped calibrations of
 * its family of networks, or one beside its file that does not fit, what these say: calibration->n_relatives is above 0
 * then, and *misfit (may be NULL) says why there is no own one, as it does where nothing is found. FC_INPUT: a file cannot
 * be read. The caller frees what was found. Cost: reading them, some milliseconds each. */
enum fc_code fc_calibration_of(const struct fc_network *net, struct fc_calibration *calibration, bool *found,
                               struct fc_calibration_misfit *misfit, struct fc_status *st);
/* The family's part of it alone. `without`: a kind of router whose calibrations do not count; NULL: none. *found false: why
 * is in `why`. */
enum fc_code fc_family_find(const struct fc_network *net, const char *without, struct fc_calibration *calibration,
                            bool *found, char *why, size_t why_size, struct fc_status *st);
/* Of the machine's own calibration: where it has replayed few jobs (FC_ENOUGH_REPLAYS), those of the family, without its kind
 * of router, count beside them. */
enum fc_code fc_family_stand_by(const struct fc_network *net, struct fc_calibration *calibration, struct fc_status *st);
