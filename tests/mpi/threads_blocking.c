/* threads_blocking.c - large blocking messages, collectives and communicators from three threads of each rank
 * at once (MPI_THREAD_MULTIPLE): as one sequence of blocking calls they would wait for each other for ever.
 * */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 60, BIG = 100000 };
static int rank, size;
static MPI_Comm comms[THREADS];

static void *talk(void *argument)
{
    int me = *(int *)argument, right = (rank + 1) % size, left = (rank + size - 1) % size;
    static char out[BIG], in[THREADS][BIG];
    for (int i = 0; i < ROUNDS; i++) {
        if (rank % 2) {
            MPI_Recv(in[me], BIG, MPI_CHAR, left, me, comms[me], MPI_STATUS_IGNORE);
            MPI_Send(out, BIG, MPI_CHAR, right, me, comms[me]);
        } else {
            MPI_Send(out, BIG, MPI_CHAR, right, me, comms[me]);
            MPI_Recv(in[me], BIG, MPI_CHAR, left, me, comms[me], MPI_STATUS_IGNORE);
        }
        if (i % 10 == me) MPI_Barrier(comms[me]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int got, number[THREADS];
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
    if (got < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; i++) number[i] = i, pthread_create(&thread[i], NULL, talk, &number[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    MPI_Finalize();
    return 0;
}
