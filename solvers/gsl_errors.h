/* gsl_errors.h - GSL that does not end the process. */
#pragma once

/* Before GSL is used: its errors are returned, and fc_memory_whole knows when it found no memory. A handler that the host
 * program has set stays. */
void fc_gsl_errors(void);
