/* overheads.c - preloaded: sends and receives of MPI_COMM_WORLD take longer by a known time, OVERHEADS="SEND RECV" in seconds,
 * on a network that is there (tests/validate_measure.sh). The rank sleeps: others have the processor meanwhile. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static double send_s, recv_s;

static void take(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double end = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + seconds;
    t = (struct timespec){.tv_sec = (time_t)end, .tv_nsec = (long)(1e9 * (end - floor(end)))};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    prctl(PR_SET_TIMERSLACK, 1);
    if (sscanf(getenv("OVERHEADS"), "%lf %lf", &send_s, &recv_s) != 2) PMPI_Abort(MPI_COMM_WORLD, 3);
    return result;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD) take(send_s);
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (comm == MPI_COMM_WORLD) take(send_s);
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    int result = PMPI_Recv(buffer, count, type, from, tag, comm, status);
    if (comm == MPI_COMM_WORLD) take(recv_s);
    return result;
}
