/* spawn.c - rank 0 and 1 start two more processes of this program together, greet them and each other. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, one = 1;
    MPI_Comm parent, children;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Recv(&one, 1, MPI_INT, rank, 5, parent, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&parent);
    } else {
        MPI_Sendrecv(&one, 1, MPI_INT, 1 - rank, 3, &one, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
        MPI_Send(&one, 1, MPI_INT, rank, 5, children);
        MPI_Comm_disconnect(&children);
    }
    MPI_Finalize();
    return 0;
}
