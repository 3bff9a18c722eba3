/* cut_torus.h - cuts by dimensions (cut_torus.c), for cut_bound.c. */
#pragma once

#include "solvers/load_internal.h"

/* Seconds; 0 for other families, and routings that may take longer ways. */
enum fc_code fc_cut_torus(const struct fc_network *net, const struct fc_node_demand *demand,
                          const double *background_bytes_per_s, double *bound_s, struct fc_status *st);
