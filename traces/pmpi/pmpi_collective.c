/* pmpi_collective.c - collectives: what each rank contributes, in bytes, as traces.h defines it for each op.
 *
 * Counts that MPI calls insignificant at a rank are not read there (they may be anything). Collectives
 * between two groups have a root that is no rank of the communicator's order: they are recorded as calls that
 * take time, and reported. A neighbourhood collective is an alltoallv whose sizes are zero but towards the
 * neighbours. */
#include "traces/pmpi/pmpi_record.h"

#include <stdlib.h>

/* Writes a collective, or only its time when it has no place in the format. */
static void write_collective(const struct fc_pmpi_call *call, int op, const struct fc_comm *comm, int root,
                             int64_t bytes, const int64_t *sizes, const MPI_Request *request)
{
    bool good = call->rc == MPI_SUCCESS && !comm->between;
    struct fc_raw_event event = fc_pmpi_event(call, good ? op : FC_OP_OTHER);
    if (comm->between) fc_pmpi_note("(collectives of an intercommunicator)");
    if (good) {
        event.comm = comm->number;
        event.peer = root >= 0 ? fc_world_of(comm, root) : -1;
        event.bytes = bytes;
        event.mode = request != NULL;
        if (request) fc_request_new(*request, &event.request);
    }
    fc_pmpi_write(&event, sizes, good && sizes ? (uint64_t)comm->n : 0);
}

void fc_log_collective(struct fc_pmpi_call *call, int op, MPI_Comm comm, int root, int64_t bytes,
                       const MPI_Request *request)
{
    if (!fc_pmpi_left(call)) return;
    write_collective(call, op, fc_comm_of(comm), root, bytes, NULL, request);
    fc_pmpi_done();
}

/* These two run before the call is left, so they ask MPI instead of the recorder's tables. */
int64_t fc_own_bytes(MPI_Comm comm, const int *counts, MPI_Datatype type)
{
    int rank = 0, between = 0;
    PMPI_Comm_test_inter(comm, &between);
    if (between) return 0;
    PMPI_Comm_rank(comm, &rank);
    return fc_bytes_of(counts[rank], type);
}

bool fc_is_root(MPI_Comm comm, int root)
{
    int rank = -1;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

void fc_log_sizes(struct fc_pmpi_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type,
                  const MPI_Datatype *types, const MPI_Request *request)
{
    if (!fc_pmpi_left(call)) return;
    const struct fc_comm *c = fc_comm_of(comm);
    int64_t *sizes = calloc((size_t)c->n + 1, sizeof *sizes), sum = 0;
    if (!sizes) abort();
    for (int i = 0; i < c->n && !c->between && call->rc == MPI_SUCCESS; i++) {
        sizes[i] = fc_bytes_of(counts[i], types ? types[i] : type);
        sum += sizes[i];
    }
    write_collective(call, FC_OP_ALLTOALLV, c, -1, sum, sizes, request);
    free(sizes);
    fc_pmpi_done();
}

/* The ranks that this one sends to, in the order of its buffers; the caller frees. *n is their number. */
static int *out_neighbors(MPI_Comm comm, int *n)
{
    int kind = MPI_UNDEFINED, dims = 0, rank = 0, in = 0, weighted = 0;
    int *neighbor = NULL;
    *n = 0;
    PMPI_Topo_test(comm, &kind);
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &dims);
        *n = 2 * dims;
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, n);
    } else if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &in, n, &weighted);
    }
    neighbor = malloc(((size_t)*n + 2 * (size_t)in + (size_t)*n + 1) * sizeof *neighbor);
    if (!neighbor) abort();
    int *weight_out = neighbor + *n, *source = weight_out + *n, *weight_in = source + in;
    if (kind == MPI_CART)
        for (int d = 0; d < dims; d++) PMPI_Cart_shift(comm, d, 1, &neighbor[2 * d], &neighbor[2 * d + 1]);
    if (kind == MPI_GRAPH) PMPI_Graph_neighbors(comm, rank, *n, neighbor);
    if (kind == MPI_DIST_GRAPH) PMPI_Dist_graph_neighbors(comm, in, source, weight_in, *n, neighbor, weight_out);
    return neighbor;
}

void fc_log_neighbors(struct fc_pmpi_call *call, MPI_Comm comm, int count, const int *counts, MPI_Datatype type,
                      const MPI_Datatype *types, const MPI_Request *request)
{
    if (!fc_pmpi_left(call)) return;
    const struct fc_comm *c = fc_comm_of(comm);
    int n = 0, *neighbor = out_neighbors(comm, &n);
    int64_t *sizes = calloc((size_t)c->n + 1, sizeof *sizes), sum = 0;
    if (!sizes) abort();
    for (int i = 0; i < n && call->rc == MPI_SUCCESS; i++) {
        if (neighbor[i] < 0 || neighbor[i] >= c->n) continue; /* the edge of a grid */
        int64_t bytes = fc_bytes_of(counts ? counts[i] : count, types ? types[i] : type);
        sizes[neighbor[i]] += bytes;
        sum += bytes;
    }
    write_collective(call, FC_OP_ALLTOALLV, c, -1, sum, sizes, request);
    free(sizes);
    free(neighbor);
    fc_pmpi_done();
}
