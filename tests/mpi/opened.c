/* opened.c - a program without MPI that opens the library of its argument for itself alone, as Python does; compiled with
 * -DLIBRARY that library, which exchanges one message. */
#ifdef LIBRARY
#include <mpi.h>
#include <stddef.h>

int play(void);

int play(void)
{
    int rank, one = 1;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(&one, 1, MPI_INT, 1 - rank, 3, &one, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
#else
#include <dlfcn.h>
#include <stdint.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
    int (*play)(void) = library ? (int (*)(void))(uintptr_t)dlsym(library, "play") : 0;
    return play ? play() : 3;
}
#endif
