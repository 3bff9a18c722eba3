/* measure_site.h - `measure -- mpirun ...` and `measure --from fabricast FILE` (measure_site.c). */
#pragma once

#include "cli/arguments.h"

enum fc_code fc_measure_site(const struct fc_arguments *arguments, struct fc_status *st);
