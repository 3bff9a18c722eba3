/* yield_mpich.c - preloaded: a rank of MPICH that waits gives its processor away, where it would ask again and again (UCX
 * beneath it never yields), so that ranks which share processors do not keep them from each other. */
#include <dlfcn.h>
#include <sched.h>

enum { TRIES = 20 };

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    static __thread int in_vain;
    if (!real) real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned n = real(worker);
    in_vain = n ? 0 : in_vain + 1;
    if (in_vain > TRIES) sched_yield();
    return n;
}
