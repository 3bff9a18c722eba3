/* halo.c - an ordinary program with a Cartesian grid (tests/validate_reorder.sh): halo BYTES STEPS
 *
 * A grid of 2 x n/2, a ring in its first dimension, made with reorder; each step exchanges BYTES with the (up to) four
 * neighbours, of whom two are one rank. Rank 0 of the grid prints
 * the seconds of the fastest step after one that opens the connections, and the host of each rank of the grid. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n, rank, dims[2] = {2, 0}, periods[2] = {1, 0}, near[4], length, bytes, steps;
    char name[MPI_MAX_PROCESSOR_NAME] = "", *names, *out, *in;
    double least = 1e30, took, start;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    bytes = argc > 1 ? atoi(argv[1]) : 1000, steps = argc > 2 ? atoi(argv[2]) : 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Dims_create(n, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_shift(grid, 0, 1, &near[0], &near[1]);
    MPI_Cart_shift(grid, 1, 1, &near[2], &near[3]);
    out = calloc(4, (size_t)bytes);
    in = calloc(4, (size_t)bytes);
    names = malloc((size_t)n * sizeof name);
    if (!out || !in || !names) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step <= steps; step++) {
        MPI_Request request[8];
        MPI_Barrier(grid);
        start = MPI_Wtime();
        for (int i = 0; i < 4; i++) {
            MPI_Irecv(in + i * (size_t)bytes, bytes, MPI_CHAR, near[i], i ^ 1, grid, &request[i]);
            MPI_Isend(out + i * (size_t)bytes, bytes, MPI_CHAR, near[i], i, grid, &request[4 + i]);
        }
        MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
        took = MPI_Wtime() - start;
        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, grid);
        if (step && took < least) least = took;
    }
    MPI_Get_processor_name(name, &length);
    MPI_Gather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, 0, grid);
    if (rank == 0) printf("seconds %.6f\n", least);
    for (int r = 0; rank == 0 && r < n; r++) printf("host %d %s\n", r, names + r * sizeof name);
    fflush(stdout);
    free(out);
    free(in);
    free(names);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
