/* ends.c HOW - a ring exchange and collectives over and over; in round 60 rank 1 ends the program by HOW:
 * abort, kill (SIGKILL), fault (SIGSEGV), exit (without MPI_Finalize), none. The others wait for it, or are far behind. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 100, END = 60, BIG = 50000 };
static char out[BIG], in[BIG];

static void round_of(int rank, int size, int i, MPI_Comm half)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, value = i;
    MPI_Request request[2];
    MPI_Comm made;
    MPI_Irecv(in, BIG, MPI_CHAR, i % 2 ? MPI_ANY_SOURCE : left, 5, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, i % 3 ? 100 : BIG, MPI_CHAR, right, 5, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 200, MPI_CHAR, left, 6, in, BIG, MPI_CHAR, right, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) MPI_Send(out, i % 4 ? 8 : BIG, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(in, BIG, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&value, 1, MPI_INT, i % size, MPI_COMM_WORLD);
    if (i % 5 == 0) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, half);
    if (i % 20 == 0) {
        MPI_Comm_split(half, rank, 0, &made);
        MPI_Comm_free(&made);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    const char *how = argc > 1 ? argv[1] : "none";
    for (int i = 0; i < ROUNDS; i++) {
        if (i == END && rank == 1) {
            if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 9);
            if (strcmp(how, "kill") == 0) raise(SIGKILL);
            if (strcmp(how, "fault") == 0) raise(SIGSEGV);
            if (strcmp(how, "exit") == 0) exit(3);
        }
        round_of(rank, size, i, half);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
