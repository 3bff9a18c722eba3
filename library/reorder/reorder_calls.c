/* reorder_calls.c - MPI_Init, MPI_Finalize and the topology calls, in C and Fortran.
 *
 * A topology call with reorder: its graph goes to fc_reorder, and the same call, reorder 0, is made on the communicator that
 * comes back. A rank's neighbours are those of its new number. MPI_Dist_graph_create_adjacent gets them from each rank itself,
 * so the lists of old rank r go to the process that is r now. */
#include "library/reorder/reorder_mpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef MPI_Fint fint;

/* ---- what is wanted ---- */

static struct fc_asking asking_of(const char *call, int n)
{
    const char *mode = getenv("FABRICAST_REORDER");
    struct fc_asking asking = {.call = call, .n = n, .wanted = true};
    if (!mode || !*mode) return asking;
    if (!strcmp(mode, "never"))
        asking.wanted = false;
    else if (!strcmp(mode, "always"))
        asking.always = true;
    else
        asking.file = mode;
    return asking;
}

/* As fc_reorder, with what the environment wants of a topology call; one rank has no other place. */
static bool reorder(MPI_Comm comm, const char *call, int n, const int *edges, int n_edges, MPI_Comm *made, int *source)
{
    struct fc_asking asking = asking_of(call, n);
    if (n < 2 || !fc_reorder(comm, &asking, edges, n_edges, made, source)) return false;
    return fc_world.reordered = true;
}

static bool is_first(MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank == 0;
}

/* Ranks of an intracommunicator; -1: none, MPI itself must say so. */
static int size_of(MPI_Comm comm)
{
    int between, size;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &between) || between || PMPI_Comm_size(comm, &size))
        return -1;
    return size;
}

/* Frees *made, which `rc` says that a topology was put on. */
static int done(MPI_Comm *made, int rc)
{
    PMPI_Comm_free(made);
    return rc;
}

/* ---- MPI_Cart_create ---- */

/* The grid's ranks; -1: MPI must say what is wrong. */
static int ranks_of_grid(MPI_Comm comm, int n_dims, const int *dims)
{
    int size = size_of(comm);
    long long n = 1;
    if (size < 0 || n_dims < 1 || !dims) return -1;
    for (int d = 0; d < n_dims; d++) {
        if (dims[d] < 1) return -1;
        n *= dims[d];
        if (n > size) return -1;
    }
    return (int)n;
}

/* Of each rank to the next and the one before in each dimension; the last dimension is the fastest. *n_edges -1: too many,
 * or no memory. */
static int *edges_of_grid(int n, int n_dims, const int *dims, const int *periods, int *n_edges)
{
    int *edges =
        (long long)n * n_dims > INT_MAX / 6 ? NULL : malloc((size_t)n * (size_t)n_dims * 6 * sizeof *edges + 1);
    *n_edges = edges ? 0 : -1;
    for (int rank = 0; edges && rank < n; rank++)
        for (int d = n_dims - 1, below = 1; d >= 0; below *= dims[d--])
            for (int step = -1; step <= 1; step += 2) {
                int at = rank / below % dims[d], to = at + step;
                if (to < 0 || to >= dims[d]) {
                    if (!periods[d]) continue;
                    to = (to + dims[d]) % dims[d];
                }
                int *edge = edges + 3 * (size_t)(*n_edges)++;
                edge[0] = rank, edge[1] = rank + (to - at) * below, edge[2] = 1;
            }
    return edges;
}

static int cart_create(MPI_Comm comm, int n_dims, const int *dims, const int *periods, int wanted, MPI_Comm *cart)
{
    MPI_Comm made;
    int n_edges = 0, source, n, *edges = NULL;
    comm = fc_comm_now(comm);
    n = wanted ? ranks_of_grid(comm, n_dims, dims) : -1;
    if (n < 0) return PMPI_Cart_create(comm, n_dims, dims, periods, wanted, cart);
    if (is_first(comm)) edges = edges_of_grid(n, n_dims, dims, periods, &n_edges);
    bool moved = reorder(comm, "MPI_Cart_create", n, edges, n_edges, &made, &source);
    free(edges);
    if (!moved) return PMPI_Cart_create(comm, n_dims, dims, periods, wanted, cart);
    *cart = MPI_COMM_NULL;
    return made == MPI_COMM_NULL ? MPI_SUCCESS : done(&made, PMPI_Cart_create(made, n_dims, dims, periods, 0, cart));
}

int MPI_Cart_create(MPI_Comm comm, int n_dims, const int dims[], const int periods[], int wanted, MPI_Comm *cart)
{
    return cart_create(comm, n_dims, dims, periods, wanted, cart);
}

/* ---- MPI_Graph_create ---- */

/* The graph's edges by its index; -1: MPI must say what is wrong. */
static int edges_of_index(int n, const int *index)
{
    int edges = 0;
    for (int rank = 0; rank < n; edges = index[rank++])
        if (index[rank] < edges) return -1;
    return edges;
}

static int graph_create(MPI_Comm comm, int n, const int *index, const int *neighbour, int wanted, MPI_Comm *graph)
{
    MPI_Comm made;
    int n_edges = 0, source, size, total, *edges = NULL;
    comm = fc_comm_now(comm);
    size = size_of(comm);
    total = wanted && n >= 1 && n <= size && index ? edges_of_index(n, index) : -1;
    if (total < 0 || total > INT_MAX / 3 || (total && !neighbour))
        return PMPI_Graph_create(comm, n, index, neighbour, wanted, graph);
    if (is_first(comm)) {
        edges = malloc((size_t)total * 3 * sizeof *edges + 1);
        if (!edges) n_edges = -1;
    }
    for (int rank = 0; edges && rank < n; rank++)
        for (int e = rank ? index[rank - 1] : 0; e < index[rank]; e++) {
            int *edge = edges + 3 * (size_t)n_edges++;
            edge[0] = rank, edge[1] = neighbour[e], edge[2] = 1;
        }
    bool moved = reorder(comm, "MPI_Graph_create", n, edges, n_edges, &made, &source);
    free(edges);
    if (!moved) return PMPI_Graph_create(comm, n, index, neighbour, wanted, graph);
    *graph = MPI_COMM_NULL;
    return made == MPI_COMM_NULL ? MPI_SUCCESS : done(&made, PMPI_Graph_create(made, n, index, neighbour, 0, graph));
}

int MPI_Graph_create(MPI_Comm comm, int n, const int index[], const int neighbours[], int wanted, MPI_Comm *graph)
{
    return graph_create(comm, n, index, neighbours, wanted, graph);
}

/* ---- MPI_Dist_graph_create ---- */

/* `weight` NULL: all 1. */
static int dist_graph_create(MPI_Comm comm, int n, const int *source, const int *degree, const int *destination,
                             const int *weight, const int *given, MPI_Info info, int wanted, MPI_Comm *graph)
{
    MPI_Comm made;
    long long total = 0;
    int n_edges = 0, unused, *edges = NULL, size;
    comm = fc_comm_now(comm);
    size = size_of(comm);
    for (int i = 0; i < n && degree; i++) total += degree[i] > 0 ? degree[i] : 0;
    if (!wanted || size < 0)
        return PMPI_Dist_graph_create(comm, n, source, degree, destination, given, info, wanted, graph);
    /* The edges are this rank's own: too many of them are for all to know. */
    if (total <= INT_MAX / 3) edges = malloc((size_t)total * 3 * sizeof *edges + 1);
    for (int i = 0; edges && total && i < n; i++)
        for (int k = 0; k < degree[i]; k++, n_edges++) {
            int *edge = edges + 3 * (size_t)n_edges;
            edge[0] = source[i], edge[1] = destination[n_edges], edge[2] = weight ? weight[n_edges] : 1;
        }
    bool moved = reorder(comm, "MPI_Dist_graph_create", size, edges, edges ? n_edges : -1, &made, &unused);
    free(edges);
    if (!moved) return PMPI_Dist_graph_create(comm, n, source, degree, destination, given, info, wanted, graph);
    return done(&made, PMPI_Dist_graph_create(made, n, source, degree, destination, given, info, 0, graph));
}

/* Weights that are none. */
static const int *weights_of(const int *given)
{
    return given == MPI_UNWEIGHTED || given == MPI_WEIGHTS_EMPTY ? NULL : given;
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
                          const int weights[], MPI_Info info, int wanted, MPI_Comm *graph)
{
    return dist_graph_create(comm, n, sources, degrees, destinations, weights_of(weights), weights, info, wanted,
                             graph);
}

/* ---- MPI_Dist_graph_create_adjacent ---- */

/* Neighbours and their weights (NULL: none), of one direction. */
struct list {
    int n, *rank, *weight;
};

/* Exchanges one direction's list with the processes that have this one's old number and had its new one; a rank without
 * memory tells the others by `ok` later. */
static bool exchange(MPI_Comm comm, int to, int from, struct list own, struct list *got)
{
    int sent[2] = {own.n, own.weight != NULL}, told[2] = {0, 0};
    PMPI_Sendrecv(sent, 2, MPI_INT, to, 0, told, 2, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
    *got = (struct list){told[0], malloc((size_t)told[0] * sizeof(int) + 1),
                         told[1] ? malloc((size_t)told[0] * sizeof(int) + 1) : NULL};
    int ok = got->rank && (got->weight || !told[1]), all;
    PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, comm);
    if (!all) return false;
    PMPI_Sendrecv(own.rank, own.n, MPI_INT, to, 1, got->rank, got->n, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
    if (own.weight && got->weight)
        PMPI_Sendrecv(own.weight, own.n, MPI_INT, to, 2, got->weight, got->n, MPI_INT, from, 2, comm,
                      MPI_STATUS_IGNORE);
    else if (own.weight)
        PMPI_Send(own.weight, own.n, MPI_INT, to, 2, comm);
    else if (got->weight)
        PMPI_Recv(got->weight, got->n, MPI_INT, from, 2, comm, MPI_STATUS_IGNORE);
    return true;
}

static void free_list(struct list list)
{
    free(list.rank);
    free(list.weight);
}

static const int *weights(struct list list, bool weighted)
{
    if (!weighted) return MPI_UNWEIGHTED;
    return list.weight ? list.weight : MPI_WEIGHTS_EMPTY;
}

static int adjacent_on(MPI_Comm made, int to, int from, struct list in, struct list out, bool weighted, MPI_Info info,
                       MPI_Comm *graph, bool *able)
{
    struct list new_in = {0}, new_out = {0};
    int rc = MPI_SUCCESS;
    *able = exchange(made, to, from, in, &new_in) && exchange(made, to, from, out, &new_out);
    if (*able)
        rc = PMPI_Dist_graph_create_adjacent(made, new_in.n, new_in.rank, weights(new_in, weighted), new_out.n,
                                             new_out.rank, weights(new_out, weighted), info, 0, graph);
    free_list(new_in);
    free_list(new_out);
    return rc;
}

static int dist_graph_create_adjacent(MPI_Comm comm, int n_in, const int *in, const int *in_weight, const int *in_given,
                                      int n_out, const int *out, const int *out_weight, const int *out_given,
                                      bool weighted, MPI_Info info, int wanted, MPI_Comm *graph)
{
    MPI_Comm made;
    int rank, from, rc = MPI_SUCCESS, size;
    bool able = false;
    comm = fc_comm_now(comm);
    size = size_of(comm);
    int *edges = wanted && size >= 0 && n_out >= 0 && n_out <= INT_MAX / 3
                     ? malloc((size_t)n_out * 3 * sizeof *edges + 1)
                     : NULL;
    if (wanted && size >= 0) {
        PMPI_Comm_rank(comm, &rank);
        for (int i = 0; edges && i < n_out; i++) {
            int *edge = edges + 3 * (size_t)i;
            edge[0] = rank, edge[1] = out[i], edge[2] = out_weight ? out_weight[i] : 1;
        }
        if (reorder(comm, "MPI_Dist_graph_create_adjacent", size, edges, edges ? n_out : -1, &made, &from)) {
            struct list own_in = {n_in, (int *)(uintptr_t)in, (int *)(uintptr_t)in_weight};
            struct list own_out = {n_out, (int *)(uintptr_t)out, (int *)(uintptr_t)out_weight};
            rc = done(&made, adjacent_on(made, rank, from, own_in, own_out, weighted, info, graph, &able));
        }
    }
    free(edges);
    return able ? rc
                : PMPI_Dist_graph_create_adjacent(comm, n_in, in, in_given, n_out, out, out_given, info, wanted, graph);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int n_in, const int in[], const int in_weights[], int n_out,
                                   const int out[], const int out_weights[], MPI_Info info, int wanted, MPI_Comm *graph)
{
    return dist_graph_create_adjacent(
        comm, n_in, in, weights_of(in_weights), in_weights, n_out, out, weights_of(out_weights), out_weights,
        in_weights != MPI_UNWEIGHTED && out_weights != MPI_UNWEIGHTED, info, wanted, graph);
}

/* ---- MPI_Init and MPI_Finalize ---- */

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);
    if (rc == MPI_SUCCESS) fc_reorder_start();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS) fc_reorder_start();
    return rc;
}

int MPI_Finalize(void)
{
    fc_reorder_finish();
    return PMPI_Finalize();
}

/* ---- Fortran: mpi_x_ (Open MPI; MPICH's calls C) and mpi_x_f08_ ---- */

/* Constants are addresses of these. */
#ifdef OPEN_MPI
extern int mpi_fortran_unweighted_ __attribute__((weak));
extern int mpi_fortran_weights_empty_ __attribute__((weak));
#define UNWEIGHTED &mpi_fortran_unweighted_
#define WEIGHTS_EMPTY &mpi_fortran_weights_empty_
#else
extern int __mpi_f08_link_constants_MOD_mpi_unweighted __attribute__((weak));
extern int __mpi_f08_link_constants_MOD_mpi_weights_empty __attribute__((weak));
#define UNWEIGHTED &__mpi_f08_link_constants_MOD_mpi_unweighted
#define WEIGHTS_EMPTY &__mpi_f08_link_constants_MOD_mpi_weights_empty
#endif

/* As C has them. */
static const int *weights_of_fortran(const fint *given)
{
    const int *unweighted = UNWEIGHTED, *empty = WEIGHTS_EMPTY;
    if (unweighted && given == unweighted) return MPI_UNWEIGHTED;
    return empty && given == empty ? MPI_WEIGHTS_EMPTY : given;
}

#define COMM(x) PMPI_Comm_f2c(*(x))

/* The C call's answer. */
static void give(int rc, const MPI_Comm *made, fint *out, fint *err)
{
    if (rc == MPI_SUCCESS) *out = PMPI_Comm_c2f(*made);
    if (err) *err = rc;
}

static void fortran_cart(fint *comm, fint *n_dims, fint *dims, fint *periods, fint *wanted, fint *out, fint *err)
{
    MPI_Comm made = MPI_COMM_NULL;
    int n = *n_dims > 0 ? *n_dims : 0, *period = malloc((size_t)n * sizeof *period + 1), rc = MPI_ERR_NO_MEM;
    for (int d = 0; period && d < n; d++) period[d] = periods[d] != 0;
    if (period) rc = cart_create(COMM(comm), *n_dims, dims, period, *wanted != 0, &made);
    free(period);
    give(rc, &made, out, err);
}

static void fortran_graph(fint *comm, fint *n, fint *index, fint *neighbours, fint *wanted, fint *out, fint *err)
{
    MPI_Comm made = MPI_COMM_NULL;
    give(graph_create(COMM(comm), *n, index, neighbours, *wanted != 0, &made), &made, out, err);
}

static void fortran_dist(fint *comm, fint *n, fint *sources, fint *degrees, fint *destinations, fint *weights,
                         fint *info, fint *wanted, fint *out, fint *err)
{
    MPI_Comm made = MPI_COMM_NULL;
    const int *w = weights_of_fortran(weights);
    give(MPI_Dist_graph_create(COMM(comm), *n, sources, degrees, destinations, w, PMPI_Info_f2c(*info), *wanted != 0,
                               &made),
         &made, out, err);
}

static void fortran_adjacent(fint *comm, fint *n_in, fint *in, fint *in_weights, fint *n_out, fint *out,
                             fint *out_weights, fint *info, fint *wanted, fint *graph, fint *err)
{
    MPI_Comm made = MPI_COMM_NULL;
    give(MPI_Dist_graph_create_adjacent(COMM(comm), *n_in, in, weights_of_fortran(in_weights), *n_out, out,
                                        weights_of_fortran(out_weights), PMPI_Info_f2c(*info), *wanted != 0, &made),
         &made, graph, err);
}

#ifdef OPEN_MPI
#define REAL_F08(name) pmpi_##name##_f08_
#else
#define REAL_F08(name) pmpir_##name##_f08_
#endif

#define STARTS(wrapper, real, parameters, arguments)                                                                   \
    void real parameters __attribute__((weak));                                                                        \
    void wrapper parameters;                                                                                           \
    void wrapper parameters                                                                                            \
    {                                                                                                                  \
        real arguments;                                                                                                \
        fc_reorder_start();                                                                                            \
    }
STARTS(mpi_init_f08_, REAL_F08(init), (fint * err), (err))
STARTS(mpi_init_thread_f08_, REAL_F08(init_thread), (fint * required, fint *provided, fint *err),
       (required, provided, err))
#define FINISHES(wrapper, real)                                                                                        \
    void real(fint *err) __attribute__((weak));                                                                        \
    void wrapper(fint *err);                                                                                           \
    void wrapper(fint *err)                                                                                            \
    {                                                                                                                  \
        fc_reorder_finish();                                                                                           \
        real(err);                                                                                                     \
    }
FINISHES(mpi_finalize_f08_, REAL_F08(finalize))

#define GRID (fint * a, fint * b, fint * c, fint * d, fint * e, fint * f, fint * g)
#define DIST (fint * a, fint * b, fint * c, fint * d, fint * e, fint * f, fint * g, fint * h, fint * i, fint * j)
#define ADJACENT                                                                                                       \
    (fint * a, fint * b, fint * c, fint * d, fint * e, fint * f, fint * g, fint * h, fint * i, fint * j, fint * k)
#define NAMED(name, parameters, body)                                                                                  \
    void name parameters;                                                                                              \
    void name parameters                                                                                               \
    {                                                                                                                  \
        body;                                                                                                          \
    }
#define TOPOLOGY(suffix)                                                                                               \
    NAMED(mpi_cart_create##suffix, GRID, fortran_cart(a, b, c, d, e, f, g))                                            \
    NAMED(mpi_graph_create##suffix, GRID, fortran_graph(a, b, c, d, e, f, g))                                          \
    NAMED(mpi_dist_graph_create##suffix, DIST, fortran_dist(a, b, c, d, e, f, g, h, i, j))                             \
    NAMED(mpi_dist_graph_create_adjacent##suffix, ADJACENT, fortran_adjacent(a, b, c, d, e, f, g, h, i, j, k))
TOPOLOGY(_f08_)
#ifdef OPEN_MPI
TOPOLOGY(_)
TOPOLOGY()
TOPOLOGY(__)
STARTS(mpi_init_, pmpi_init_, (fint * err), (err))
STARTS(mpi_init, pmpi_init, (fint * err), (err))
STARTS(mpi_init__, pmpi_init__, (fint * err), (err))
STARTS(mpi_init_thread_, pmpi_init_thread_, (fint * required, fint *provided, fint *err), (required, provided, err))
STARTS(mpi_init_thread, pmpi_init_thread, (fint * required, fint *provided, fint *err), (required, provided, err))
STARTS(mpi_init_thread__, pmpi_init_thread__, (fint * required, fint *provided, fint *err), (required, provided, err))
FINISHES(mpi_finalize_, pmpi_finalize_)
FINISHES(mpi_finalize, pmpi_finalize)
FINISHES(mpi_finalize__, pmpi_finalize__)
#endif
