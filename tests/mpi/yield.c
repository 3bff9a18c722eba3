/* yield.c - preloaded: a rank that waits sleeps 50 us where Open MPI would yield and ask again at once (with
 * mpi_yield_when_idle), so that ranks which share processors do not keep them from each other. */
#include <time.h>

int sched_yield(void);

int sched_yield(void)
{
    return nanosleep(&(struct timespec){.tv_nsec = 50000}, 0);
}
