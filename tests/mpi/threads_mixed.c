/* threads_mixed.c - every blocking call from three threads of each rank at once (MPI_THREAD_MULTIPLE), each thread with
 * a communicator of its own that it makes itself. Argument: `ring` (only MPI_Sendrecv of 20 kB), `late` (small messages
 * received in another order than sent), or the seed of an order of calls, sizes and pauses. The program needs no buffering:
 * it would come to its end if every send waited for its receive. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 30, BIG = 100000 };
static int rank, size, ring, late;
static unsigned seed;
static MPI_Comm parents[THREADS];
static char out[THREADS][BIG], in[THREADS][2][BIG];

struct talk {
    int me, right, left, n, tag;
    MPI_Comm comm;
};

static void exchange(const struct talk *t)
{
    MPI_Sendrecv(out[t->me], t->n, MPI_CHAR, t->right, t->tag, in[t->me][0], t->n, MPI_CHAR, t->left, t->tag, t->comm,
                 MPI_STATUS_IGNORE);
}

static void replace(const struct talk *t)
{
    MPI_Sendrecv_replace(in[t->me][0], t->n, MPI_CHAR, t->right, t->tag, t->left, t->tag, t->comm, MPI_STATUS_IGNORE);
}

/* The even ranks send first. */
static void alternate(const struct talk *t)
{
    if (rank % 2 == 0) MPI_Ssend(out[t->me], t->n, MPI_CHAR, t->right, t->tag, t->comm);
    MPI_Recv(in[t->me][0], t->n, MPI_CHAR, MPI_ANY_SOURCE, t->tag, t->comm, MPI_STATUS_IGNORE);
    if (rank % 2 == 1) MPI_Send(out[t->me], t->n, MPI_CHAR, t->right, t->tag, t->comm);
}

static void post_first(const struct talk *t)
{
    MPI_Request request;
    MPI_Irecv(in[t->me][0], t->n, MPI_CHAR, t->left, t->tag, t->comm, &request);
    MPI_Send(out[t->me], t->n, MPI_CHAR, t->right, t->tag, t->comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void look_first(const struct talk *t)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(out[t->me], t->n, MPI_CHAR, t->right, t->tag, t->comm, &request);
    MPI_Probe(MPI_ANY_SOURCE, t->tag, t->comm, &status);
    MPI_Recv(in[t->me][0], t->n, MPI_CHAR, status.MPI_SOURCE, t->tag, t->comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void both_ways(const struct talk *t)
{
    MPI_Request requests[4];
    int done, which[4];
    MPI_Irecv(in[t->me][0], t->n, MPI_CHAR, t->left, t->tag, t->comm, &requests[0]);
    MPI_Irecv(in[t->me][1], t->n, MPI_CHAR, t->right, t->tag + 1, t->comm, &requests[1]);
    MPI_Isend(out[t->me], t->n, MPI_CHAR, t->right, t->tag, t->comm, &requests[2]);
    MPI_Issend(out[t->me], t->n, MPI_CHAR, t->left, t->tag + 1, t->comm, &requests[3]);
    MPI_Waitany(4, requests, &done, MPI_STATUS_IGNORE);
    MPI_Waitsome(4, requests, &done, which, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void all(const struct talk *t)
{
    int mine = rank, sum;
    MPI_Bcast(out[t->me], t->n, MPI_CHAR, t->me % size, t->comm);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, t->comm);
    MPI_Barrier(t->comm);
}

/* Thread 0's message has left long before thread 1 sends the one that is received first. */
static void receive_late(const struct talk *t)
{
    char one = 0;
    if (t->me == 2) return;
    if (rank == 0) {
        usleep(t->me * 30000);
        MPI_Send(&one, 1, MPI_CHAR, 1, t->me, MPI_COMM_WORLD);
    } else if (rank == 1 && t->me == 0) {
        MPI_Recv(&one, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&one, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void *talk(void *argument)
{
    static void (*const ways[])(const struct talk *) = {exchange,   replace,   alternate, post_first,
                                                        look_first, both_ways, all};
    enum { WAYS = sizeof ways / sizeof *ways };
    static const int sizes[] = {8, 2000, 20000, BIG};
    struct talk t = {.me = *(int *)argument, .right = (rank + 1) % size, .left = (rank + size - 1) % size};
    unsigned order = seed * THREADS + (unsigned)t.me; /* equal on all ranks */
    unsigned pause = order * 1000 + (unsigned)rank;
    if (late) {
        receive_late(&t);
        return NULL;
    }
    MPI_Comm_dup(parents[t.me], &t.comm);
    for (int i = 0; i < ROUNDS; i++) {
        t.n = ring ? 20000 : sizes[rand_r(&order) % 4];
        t.tag = ring ? 0 : t.me * 10;
        ways[ring ? 0 : rand_r(&order) % WAYS](&t);
        if (!ring && rand_r(&pause) % 4 == 0) usleep(rand_r(&pause) % 300);
    }
    MPI_Comm_free(&t.comm);
    return NULL;
}

int main(int argc, char **argv)
{
    int got, number[THREADS];
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
    if (argc < 2 || got < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "no argument, or this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    ring = strcmp(argv[1], "ring") == 0;
    late = strcmp(argv[1], "late") == 0;
    seed = (unsigned)atoi(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
    for (int i = 0; i < THREADS; i++) number[i] = i, pthread_create(&thread[i], NULL, talk, &number[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    MPI_Finalize();
    return 0;
}
