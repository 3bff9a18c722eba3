/* sweep_mpi.c - a sweep over MPI ranks: texts from one to another. A library of its own (mpicc), loaded where mpirun has
 * started the program, so that nothing else waits for MPI's start. MPI_THREAD_SINGLE; point-to-point only. */
#include "sweep/sweep.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static bool open_ranks(int *rank, int *size)
{
    return MPI_Init(NULL, NULL) == MPI_SUCCESS && MPI_Comm_rank(MPI_COMM_WORLD, rank) == MPI_SUCCESS &&
           MPI_Comm_size(MPI_COMM_WORLD, size) == MPI_SUCCESS;
}

static void send_text(int to, const char *text, size_t n)
{
    MPI_Send(text, (int)n, MPI_CHAR, to, 0, MPI_COMM_WORLD);
}

static char *receive_text(int *from)
{
    MPI_Status status;
    int there = 0, n = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
    if (!there) return NULL;
    MPI_Get_count(&status, MPI_CHAR, &n);
    char *text = calloc((size_t)n + 1, 1);
    if (!text) MPI_Abort(MPI_COMM_WORLD, FC_NO);
    MPI_Recv(text, n, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *from = status.MPI_SOURCE;
    return text;
}

static void close_ranks(void)
{
    MPI_Finalize();
}

extern const struct fc_sweep_ranks fc_sweep_ranks_mpi;
const struct fc_sweep_ranks fc_sweep_ranks_mpi = {open_ranks, send_text, receive_text, close_ranks};
