/* exchange.c - programs for a slow real network (tests/validate_fabric.sh): exchange WHAT BYTES WARM REPEATS BATCHES
 *
 *     barrier   MPI_Barrier
 *     pairs     rank r and r xor n/2 exchange BYTES
 *     alltoall  MPI_Alltoall of BYTES a pair among all ranks
 *     groups    MPI_Alltoall of BYTES a pair among the even ranks, and among the odd ones (a transpose of a grid)
 *     stencil   Jacobi steps on a plane cut into 2 x n/2 blocks: edges of BYTES across the two rows, a sixteenth of
 *               it along a row, computation, an allreduce
 *
 * WARM repetitions that are not timed open the connections; then BATCHES times REPEATS repetitions between two
 * barriers. Rank 0 prints seconds a repetition: "least median greatest" of the batches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD_TAG = 7, MOST_BATCHES = 64 };

struct work {
    int rank, n, bytes;
    char *out, *in;       /* [n * bytes] */
    MPI_Comm group, grid; /* of `groups`; 2 x n/2, periodic */
    double *plane;        /* [cells] */
    int cells;
};

static void barrier(struct work *w)
{
    (void)w;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void pairs(struct work *w)
{
    int partner = w->rank ^ (w->n / 2);
    MPI_Sendrecv(w->out, w->bytes, MPI_CHAR, partner, WORLD_TAG, w->in, w->bytes, MPI_CHAR, partner, WORLD_TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void alltoall(struct work *w)
{
    MPI_Alltoall(w->out, w->bytes, MPI_CHAR, w->in, w->bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void groups(struct work *w)
{
    MPI_Alltoall(w->out, w->bytes, MPI_CHAR, w->in, w->bytes, MPI_CHAR, w->group);
}

static void stencil(struct work *w)
{
    MPI_Request request[6];
    int up, down, left, right, side = w->bytes / 16, n = 0;
    double sum = 0, all;
    MPI_Cart_shift(w->grid, 0, 1, &up, &down); /* two rows: both are the same rank */
    MPI_Cart_shift(w->grid, 1, 1, &left, &right);
    MPI_Irecv(w->in, w->bytes, MPI_CHAR, up, 0, w->grid, &request[n++]);
    MPI_Irecv(w->in + w->bytes, side, MPI_CHAR, left, 1, w->grid, &request[n++]);
    MPI_Irecv(w->in + w->bytes + side, side, MPI_CHAR, right, 2, w->grid, &request[n++]);
    MPI_Isend(w->out, w->bytes, MPI_CHAR, down, 0, w->grid, &request[n++]);
    MPI_Isend(w->out, side, MPI_CHAR, right, 1, w->grid, &request[n++]);
    MPI_Isend(w->out, side, MPI_CHAR, left, 2, w->grid, &request[n++]);
    MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
    for (int i = 1; i + 1 < w->cells; i++) {
        w->plane[i] = (w->plane[i - 1] + w->plane[i] + w->plane[i + 1]) / 3;
        sum += w->plane[i];
    }
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    w->plane[0] = all / w->cells / w->n;
}

static const struct {
    const char *name;
    void (*once)(struct work *w);
} programs[] = {
    {"barrier", barrier}, {"pairs", pairs}, {"alltoall", alltoall}, {"groups", groups}, {"stencil", stencil},
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A number of the command line; -1 where it is none within these limits. */
static int number(const char *text, int least, int most)
{
    char *end;
    long value = strtol(text, &end, 10);
    return *text && !*end && value >= least && value <= most ? (int)value : -1;
}

static void run(struct work *w, void (*once)(struct work *), int warm, int repeats, int batches)
{
    double took[MOST_BATCHES], mine, greatest;
    for (int i = 0; i < warm; i++) once(w);
    for (int b = 0; b < batches; b++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int i = 0; i < repeats; i++) once(w);
        mine = MPI_Wtime() - start;
        MPI_Reduce(&mine, &greatest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        took[b] = greatest / repeats;
    }
    qsort(took, (size_t)batches, sizeof *took, ascending);
    if (w->rank == 0) printf("%.6f %.6f %.6f\n", took[0], took[batches / 2], took[batches - 1]);
}

int main(int argc, char **argv)
{
    struct work w = {.cells = 1 << 16};
    size_t program = 0, n_programs = sizeof programs / sizeof *programs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.n);
    while (argc == 6 && program < n_programs && strcmp(programs[program].name, argv[1])) program++;
    w.bytes = argc == 6 ? number(argv[2], 16, 1 << 26) : -1;
    int warm = argc == 6 ? number(argv[3], 0, 1000) : -1;
    int repeats = argc == 6 ? number(argv[4], 1, 1000000) : -1;
    int batches = argc == 6 ? number(argv[5], 1, MOST_BATCHES) : -1;
    if (program == n_programs || w.bytes < 0 || warm < 0 || repeats < 0 || batches < 0 || w.n < 4 || w.n % 2) {
        if (w.rank == 0)
            fprintf(stderr, "usage: exchange barrier|pairs|alltoall|groups|stencil BYTES WARM REPEATS BATCHES, on "
                            "an even number of ranks, 4 or more\n");
        MPI_Finalize();
        return 2;
    }
    int sides[2] = {2, w.n / 2}, periods[2] = {1, 1};
    w.out = calloc((size_t)w.n, (size_t)w.bytes);
    w.in = calloc((size_t)w.n, (size_t)w.bytes);
    w.plane = calloc((size_t)w.cells, sizeof *w.plane);
    if (!w.out || !w.in || !w.plane) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_split(MPI_COMM_WORLD, w.rank % 2, w.rank, &w.group);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &w.grid);
    run(&w, programs[program].once, warm, repeats, batches);
    free(w.out);
    free(w.in);
    free(w.plane);
    MPI_Finalize();
    return 0;
}
