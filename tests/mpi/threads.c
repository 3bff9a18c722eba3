/* threads.c - MPI from two threads of each rank at once (MPI_THREAD_MULTIPLE), a tag for each thread. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static int rank, size;

static void *talk(void *argument)
{
    int tag = *(int *)argument, value = 0;
    for (int i = 0; i < 200; i++) {
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD, &request);
        MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int got, tags[2] = {1, 2};
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
    if (got < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_create(&thread, NULL, talk, &tags[1]);
    talk(&tags[0]);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
