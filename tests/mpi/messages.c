/* messages.c - point to point in every way a recorder can get wrong; any number of ranks from 2. With an argument:
 * persistent requests only, which Open MPI's monitoring does not count (tests/test_capture.c knows their bytes). */
#include <mpi.h>
#include <stdio.h>

enum { N = 1000 };
static int rank, size, right, left;
static double out[4 * N], in[4 * N];

/* Any source, any tag, and messages shorter than their receives. */
static void wildcards(void)
{
    MPI_Status status;
    if (rank == 0) {
        for (int i = 1; i < size; i++)
            MPI_Recv(in, 4 * N, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 1; i < size; i++)
            MPI_Recv(in, 4 * N, MPI_DOUBLE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(out, 10 * rank, MPI_DOUBLE, 0, rank, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD); /* ANY_TAG must not take the next message */
        MPI_Ssend(out, 5 + rank, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Receives from anywhere completed in any order, with statuses of one's own and without. */
static void any_order(void)
{
    MPI_Request request[8];
    MPI_Status status[8];
    int index, indices[8], done;
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < 4; k++)
            MPI_Irecv(in + k * N, N, MPI_DOUBLE, round % 2 ? left : MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &request[k]);
        for (int k = 3; k >= 0; k--)
            MPI_Isend(out, 100 * k + round, MPI_DOUBLE, right, k, MPI_COMM_WORLD, &request[4 + k]);
        if (round == 0) {
            for (int k = 0; k < 8; k++) MPI_Waitany(8, request, &index, k % 2 ? &status[0] : MPI_STATUS_IGNORE);
            MPI_Waitany(8, request, &index, MPI_STATUS_IGNORE); /* nothing left */
        } else if (round == 1) {
            for (int left_over = 8; left_over > 0; left_over -= done)
                MPI_Waitsome(8, request, &done, indices, left_over % 2 ? status : MPI_STATUSES_IGNORE);
        } else if (round == 2) {
            for (int left_over = 8; left_over > 0; left_over -= done > 0 ? done : 0)
                MPI_Testsome(8, request, &done, indices, MPI_STATUSES_IGNORE);
        } else {
            for (int flag = 0; !flag;) MPI_Testall(8, request, &flag, status);
        }
    }
}

static void persistent(void)
{
    MPI_Request request[4];
    MPI_Send_init(out, N, MPI_FLOAT, right, 20, MPI_COMM_WORLD, &request[0]);
    MPI_Ssend_init(out, N / 2, MPI_FLOAT, left, 21, MPI_COMM_WORLD, &request[1]);
    MPI_Recv_init(in, N, MPI_FLOAT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &request[2]);
    MPI_Recv_init(in + N, N, MPI_FLOAT, right, MPI_ANY_TAG, MPI_COMM_WORLD, &request[3]);
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD); /* ANY_TAG must not take the next phase's message */
        MPI_Startall(2, request + 2);
        MPI_Start(&request[0]);
        MPI_Start(&request[1]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    }
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE); /* inactive: completes nothing */
    for (int i = 0; i < 4; i++) MPI_Request_free(&request[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks in another order, so that a communicator's numbers are not the world's. */
static void sub_communicators(void)
{
    MPI_Comm half, turned;
    int me, n, value = rank;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_dup(half, &turned);
    MPI_Comm_rank(turned, &me);
    MPI_Comm_size(turned, &n);
    MPI_Sendrecv(out, 7 + me, MPI_DOUBLE, (me + 1) % n, 1, in, N, MPI_DOUBLE, (me + n - 1) % n, 1, turned,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, (me + 1) % n, 2, MPI_ANY_SOURCE, MPI_ANY_TAG, half, MPI_STATUS_IGNORE);
    MPI_Comm_free(&half);
    MPI_Sendrecv(out, 3, MPI_DOUBLE, me + 1 < n ? me + 1 : MPI_PROC_NULL, 1, in, N, MPI_DOUBLE,
                 me > 0 ? me - 1 : MPI_PROC_NULL, 1, turned, MPI_STATUS_IGNORE);
    MPI_Comm_free(&turned);
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Every second of N doubles, and a struct with a hole: the bytes on the wire are those of the data. */
static void derived_types(void)
{
    MPI_Datatype column, pair;
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Request request;
    MPI_Type_vector(N / 2, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&column);
    MPI_Type_commit(&pair);
    MPI_Irecv(in, N / 2, MPI_DOUBLE, left, 30, MPI_COMM_WORLD, &request);
    MPI_Send(out, 1, column, right, 30, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 11, pair, left, 31, MPI_COMM_WORLD, &request);
    MPI_Send(out, 9, pair, right, 31, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    MPI_Type_free(&pair);
}

/* A message that comes late: thousands of tests and probes fail before. */
static void failed_polls(void)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int flag = 0, count = 0;
    if (rank == 1) {
        for (double end = MPI_Wtime() + 0.02; MPI_Wtime() < end;) {
        }
        for (int i = 0; i < 4; i++) MPI_Send(out, 40 + i, MPI_INT, 0, 40 + i, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        MPI_Irecv(in, N, MPI_INT, 1, 40, MPI_COMM_WORLD, &request);
        while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        for (flag = 0; !flag;) MPI_Iprobe(MPI_ANY_SOURCE, 41, MPI_COMM_WORLD, &flag, &status);
        MPI_Recv(in, N, MPI_INT, status.MPI_SOURCE, 41, MPI_COMM_WORLD, &status);
        for (flag = 0; !flag;) MPI_Improbe(1, 42, MPI_COMM_WORLD, &flag, &message, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        MPI_Mrecv(in, count, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Mprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        MPI_Imrecv(in, N, MPI_INT, &message, &request);
        MPI_Wait(&request, &status);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A receive that is cancelled, sends that are given away, a ready and a buffered send, a message to oneself. */
static void odd_ends(void)
{
    static char buffer[N + 10 * MPI_BSEND_OVERHEAD];
    MPI_Request request, other;
    MPI_Status status;
    int cancelled = 0;
    MPI_Irecv(in, N, MPI_DOUBLE, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled) fprintf(stderr, "the receive was not cancelled\n");
    MPI_Isend(out, 6, MPI_INT, right, 50, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(in, N, MPI_INT, left, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, N, MPI_INT, left, 51, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(out, 8, MPI_INT, right, 51, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Bsend(out, 9, MPI_INT, right, 52, MPI_COMM_WORLD);
    MPI_Recv(in, N, MPI_INT, left, 52, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    void *old;
    int old_size;
    MPI_Buffer_detach(&old, &old_size);
    MPI_Irecv(in, N, MPI_INT, 0, 53, MPI_COMM_SELF, &request);
    MPI_Isend(out, 12, MPI_INT, 0, 53, MPI_COMM_SELF, &other);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* MPI_REQUEST_NULL */
    MPI_Sendrecv(NULL, 0, MPI_INT, right, 54, NULL, 0, MPI_INT, left, 54, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    if (argc > 1) {
        persistent();
    } else {
        wildcards();
        any_order();
        sub_communicators();
        derived_types();
        failed_polls();
        odd_ends();
    }
    MPI_Finalize();
    return 0;
}
