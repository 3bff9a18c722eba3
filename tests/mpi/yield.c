/* yield.c - preloaded: a rank that waits sleeps 50 us (NAP_NS) where Open MPI would yield and ask again at once (with
 * mpi_yield_when_idle), so that ranks which share processors do not keep them from each other. */
#include <time.h>

#ifndef NAP_NS
#define NAP_NS 50000
#endif

int sched_yield(void);

int sched_yield(void)
{
    return nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, 0);
}
