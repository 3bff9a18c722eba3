/* efficiency.h - what share of the links' bound real routers reach in a bulk exchange (efficiency.c). */
#ifndef FC_EFFICIENCY_H
#define FC_EFFICIENCY_H

#include "solvers/solvers.h"

struct fc_efficiency {
    double eta;           /* time on the links = bound / eta; 1 when not known */
    double error_percent; /* of a time predicted with eta; NaN: no measurement applies */
    const char *source;   /* the measurement; NULL when none applies */
};
/* The efficiency of `demand` on this machine, or eta 1 with an unknown error where none was measured:
 * never an extrapolation. */
struct fc_efficiency fc_efficiency_of(const struct fc_network *net, const struct fc_demand *demand,
                                      const struct fc_load *load);

#endif
