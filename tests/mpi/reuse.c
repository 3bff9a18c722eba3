/* reuse.c - one thread's request gets the handle that another thread's wait has just freed, and is completed
 * before that wait has returned to whom called it (MPI_THREAD_MULTIPLE).
 *
 * Rank 0's first thread receives tag 1. Inside its wait, when MPI is done with the request, the second thread
 * receives tag 2, wait and all. PMPI_Wait stands before the library's own, which it calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t freed, received;
static MPI_Request first, second;
static __thread int lets_the_other_go;

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int (*real)(MPI_Request *, MPI_Status *);
    *(void **)&real = dlsym(RTLD_NEXT, "PMPI_Wait");
    int rc = real(request, status);
    if (lets_the_other_go) {
        pthread_barrier_wait(&freed);
        pthread_barrier_wait(&received);
    }
    return rc;
}

static void receive(int tag, int n, MPI_Request *kept)
{
    int value[2];
    MPI_Request request;
    MPI_Irecv(value, n, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
    *kept = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void *other(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&freed);
    receive(2, 2, &second);
    pthread_barrier_wait(&received);
    return NULL;
}

int main(int argc, char **argv)
{
    int got, rank, value[2] = {0};
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (got < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    if (rank == 1) {
        MPI_Send(value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Send(value, 2, MPI_INT, 0, 2, MPI_COMM_WORLD);
    } else {
        pthread_barrier_init(&freed, NULL, 2);
        pthread_barrier_init(&received, NULL, 2);
        pthread_create(&thread, NULL, other, NULL);
        lets_the_other_go = 1;
        receive(1, 1, &first);
        pthread_join(thread, NULL);
        if (first != second) fprintf(stderr, "this MPI gave another handle\n");
    }
    MPI_Finalize();
    return 0;
}
