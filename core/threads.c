/* threads.c - how many threads work at a time; a team of threads that meet often.
 *
 * Loops over independent pieces of work are OpenMP's. A team is for work whose parts wait for each other every few
 * microseconds: OpenMP's own waits spin for milliseconds, which on a shared machine takes the processor from the very
 * thread that is awaited. */
#include "core/core.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

int fc_threads(int asked)
{
    int most = omp_get_num_procs(), limit = omp_get_thread_limit();
    if (omp_get_active_level() >= omp_get_max_active_levels()) return 1;
    if (limit < most) most = limit;
    if (asked < most) most = asked;
    return most > 1 ? most : 1;
}

/* ---- where threads wait for each other ---- */

struct meeting {
    char before[64]; /* nothing else on its cache lines */
    uint32_t arrived, round, vain;
    pthread_mutex_t lock;
    pthread_cond_t opened;
    char behind[64];
};

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Returns when all `n` threads have come; the last one opens the next round. Who waits spins for a while, as most
 * meetings are short, and then sleeps. Spinning in vain halves how long it is tried the next time (at first some
 * 20 us), success doubles it. */
static void meet(struct meeting *m, int n)
{
    enum { MOST = 1024, LEAST = 16 };
    uint32_t round = __atomic_load_n(&m->round, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&m->arrived, 1, __ATOMIC_ACQ_REL) == (uint32_t)n) {
        __atomic_store_n(&m->arrived, 0, __ATOMIC_RELAXED);
        pthread_mutex_lock(&m->lock);
        __atomic_store_n(&m->round, round + 1, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&m->lock);
        pthread_cond_broadcast(&m->opened);
        return;
    }
    uint32_t vain = __atomic_load_n(&m->vain, __ATOMIC_RELAXED);
    for (int spins = MOST >> vain; spins > 0; spins--) {
        if (__atomic_load_n(&m->round, __ATOMIC_ACQUIRE) != round) {
            if (vain > 0) __atomic_store_n(&m->vain, vain - 1, __ATOMIC_RELAXED);
            return;
        }
        pause_briefly();
    }
    if (MOST >> vain > LEAST) __atomic_store_n(&m->vain, vain + 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&m->lock);
    while (__atomic_load_n(&m->round, __ATOMIC_ACQUIRE) == round) pthread_cond_wait(&m->opened, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

/* ---- teams ---- */

struct fc_team {
    int n, n_started; /* threads with the caller's; whose number has been given out */
    bool over;
    pthread_mutex_t lock;           /* held while the team is being opened */
    struct meeting between, within; /* two pieces of work; one */
    void (*work)(void *argument, int thread, struct fc_team *team);
    void *argument;
    pthread_t thread[];
};

static void *follow(void *of)
{
    struct fc_team *team = of;
    pthread_mutex_lock(&team->lock);
    int thread = ++team->n_started;
    pthread_mutex_unlock(&team->lock);
    for (;;) {
        meet(&team->between, team->n);
        if (team->over) return NULL;
        team->work(team->argument, thread, team);
        meet(&team->between, team->n);
    }
}

/* OMP_PROC_BIND holds the calling thread, and so those that it starts, to one place: these get all places. */
static void allow_all_places(pthread_attr_t *attributes)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    for (int p = 0; p < omp_get_num_places(); p++) {
        int ids[CPU_SETSIZE], n = omp_get_place_num_procs(p);
        if (n > CPU_SETSIZE) return;
        omp_get_place_proc_ids(p, ids);
        for (int i = 0; i < n; i++)
            if (ids[i] < CPU_SETSIZE) CPU_SET(ids[i], &allowed);
    }
    if (CPU_COUNT(&allowed)) pthread_attr_setaffinity_np(attributes, sizeof allowed, &allowed);
}

struct fc_team *fc_team_open(int threads)
{
    int n = fc_threads(threads);
    struct fc_team *team = n > 1 ? calloc(1, sizeof *team + (size_t)n * sizeof *team->thread) : NULL;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (!team) return NULL;
    pthread_mutex_init(&team->lock, NULL);
    for (int i = 0; i < 2; i++) {
        struct meeting *m = i ? &team->within : &team->between;
        pthread_mutex_init(&m->lock, NULL);
        pthread_cond_init(&m->opened, NULL);
    }
    pthread_attr_init(&attributes);
    allow_all_places(&attributes);
    sigfillset(&all); /* signals are the caller's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&team->lock);
    for (team->n = 1; team->n < n; team->n++)
        if (pthread_create(&team->thread[team->n], &attributes, follow, team)) break;
    pthread_mutex_unlock(&team->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return team;
}

int fc_team_size(const struct fc_team *team)
{
    return team ? team->n : 1;
}

void fc_team_run(struct fc_team *team, void (*work)(void *argument, int thread, struct fc_team *team), void *argument)
{
    if (fc_team_size(team) > 1) {
        team->work = work;
        team->argument = argument;
        meet(&team->between, team->n);
    }
    work(argument, 0, team);
    if (fc_team_size(team) > 1) meet(&team->between, team->n);
}

void fc_team_meet(struct fc_team *team)
{
    if (fc_team_size(team) > 1) meet(&team->within, team->n);
}

void fc_team_close(struct fc_team *team)
{
    if (!team) return;
    team->over = true;
    if (team->n > 1) meet(&team->between, team->n);
    for (int i = 1; i < team->n; i++) pthread_join(team->thread[i], NULL);
    for (int i = 0; i < 2; i++) {
        struct meeting *m = i ? &team->within : &team->between;
        pthread_mutex_destroy(&m->lock);
        pthread_cond_destroy(&m->opened);
    }
    pthread_mutex_destroy(&team->lock);
    free(team);
}
