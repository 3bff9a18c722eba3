/* ranks_threads.h - ranks as threads of one process, for tests: what cli/ranks_mpi.c does over MPI. */
#pragma once

#include "core/ranks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 4 };

struct threads_ranks {
    int size;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct fc_parcel post[MOST_RANKS][MOST_RANKS]; /* from, to */
    bool full[MOST_RANKS][MOST_RANKS];
    uint64_t *value[MOST_RANKS]; /* of a sum or a maximum */
    struct fc_parcel gathered[MOST_RANKS];
    struct fc_ranks ranks[MOST_RANKS];
};

static inline void threads_put(struct fc_parcel *to, const struct fc_parcel *from)
{
    if (!fc_parcel_room(to, from->n)) abort();
    if (from->n) memcpy(to->bytes, from->bytes, from->n);
    to->n = from->n;
}

static inline void threads_exchange(const struct fc_ranks *r, int n, const int *peer, const struct fc_parcel *out,
                                    struct fc_parcel *in)
{
    struct threads_ranks *all = r->own;
    pthread_mutex_lock(&all->lock);
    for (int i = 0; i < n; i++) {
        while (all->full[r->rank][peer[i]]) pthread_cond_wait(&all->moved, &all->lock);
        threads_put(&all->post[r->rank][peer[i]], &out[i]);
        all->full[r->rank][peer[i]] = true;
        pthread_cond_broadcast(&all->moved);
    }
    for (int i = 0; i < n; i++) {
        while (!all->full[peer[i]][r->rank]) pthread_cond_wait(&all->moved, &all->lock);
        threads_put(&in[i], &all->post[peer[i]][r->rank]);
        all->full[peer[i]][r->rank] = false;
        pthread_cond_broadcast(&all->moved);
    }
    pthread_mutex_unlock(&all->lock);
}

static inline void threads_combine(const struct fc_ranks *r, uint64_t *value, size_t n, bool sum)
{
    struct threads_ranks *all = r->own;
    uint64_t *result = calloc(n + 1, sizeof *result);
    all->value[r->rank] = value;
    pthread_barrier_wait(&all->barrier);
    for (int k = 0; k < r->size; k++)
        for (size_t i = 0; i < n; i++)
            if (sum)
                result[i] += all->value[k][i];
            else if (all->value[k][i] > result[i])
                result[i] = all->value[k][i];
    pthread_barrier_wait(&all->barrier);
    memcpy(value, result, n * sizeof *value);
    free(result);
}

static inline void threads_sum(const struct fc_ranks *r, uint64_t *value, size_t n)
{
    threads_combine(r, value, n, true);
}

static inline void threads_greatest(const struct fc_ranks *r, uint64_t *value, size_t n)
{
    threads_combine(r, value, n, false);
}

static inline void threads_gather(const struct fc_ranks *r, const struct fc_parcel *out, struct fc_parcel *in,
                                  size_t *first)
{
    struct threads_ranks *all = r->own;
    all->gathered[r->rank] = *out;
    pthread_barrier_wait(&all->barrier);
    first[0] = 0;
    for (int k = 0; k < r->size; k++) first[k + 1] = first[k] + all->gathered[k].n;
    if (!fc_parcel_room(in, first[r->size])) abort();
    for (int k = 0; k < r->size; k++) memcpy((char *)in->bytes + first[k], all->gathered[k].bytes, all->gathered[k].n);
    in->n = first[r->size];
    pthread_barrier_wait(&all->barrier);
}

static inline void threads_ranks_open(struct threads_ranks *all, int size)
{
    memset(all, 0, sizeof *all);
    all->size = size;
    pthread_barrier_init(&all->barrier, NULL, (unsigned)size);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->moved, NULL);
    for (int i = 0; i < size; i++)
        all->ranks[i] = (struct fc_ranks){.rank = i,
                                          .size = size,
                                          .own = all,
                                          .exchange = threads_exchange,
                                          .sum = threads_sum,
                                          .greatest = threads_greatest,
                                          .gather = threads_gather};
}

static inline void threads_ranks_close(struct threads_ranks *all)
{
    for (int i = 0; i < all->size; i++)
        for (int k = 0; k < all->size; k++) free(all->post[i][k].bytes);
    pthread_barrier_destroy(&all->barrier);
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->moved);
}

/* Runs `work` as each rank; returns when all have come back. */
struct threads_rank {
    const struct fc_ranks *ranks;
    void (*work)(const struct fc_ranks *ranks, void *of);
    void *of;
};
static inline void *threads_rank_run(void *of)
{
    struct threads_rank *r = of;
    r->work(r->ranks, r->of);
    return NULL;
}
static inline void threads_ranks_run(int size, void (*work)(const struct fc_ranks *ranks, void *of), void *of)
{
    struct threads_ranks all;
    struct threads_rank rank[MOST_RANKS];
    pthread_t thread[MOST_RANKS];
    threads_ranks_open(&all, size);
    for (int i = 0; i < size; i++) {
        rank[i] = (struct threads_rank){&all.ranks[i], work, of};
        if (pthread_create(&thread[i], NULL, threads_rank_run, &rank[i])) abort();
    }
    for (int i = 0; i < size; i++) pthread_join(thread[i], NULL);
    threads_ranks_close(&all);
}
