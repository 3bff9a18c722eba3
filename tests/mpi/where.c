/* where.c - "RANK HOST" of each rank, in the order of the ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int rank, n, length;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Get_processor_name(name, &length);
    if (rank) {
        MPI_Send(name, sizeof name, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    } else {
        printf("0 %s\n", name);
        for (int i = 1; i < n; i++) {
            MPI_Recv(name, sizeof name, MPI_CHAR, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%d %s\n", i, name);
        }
    }
    MPI_Finalize();
    return 0;
}
