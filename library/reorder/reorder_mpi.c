/* reorder_mpi.c - the collective part: rank 0 of a communicator learns hosts and neighbours and decides, all get their new
 * number, MPI_Comm_split makes the communicator (docs/reorder.md).
 *
 * Whether anything is asked at all is rank 0's decision too, so ranks with another environment do as the others. Where it says
 * no, nothing but that one broadcast happened and the program's call goes to MPI as it was. */
#include "library/reorder/reorder_mpi.h"

#include <stdlib.h>
#include <string.h>

/* ---- the decision ---- */

enum {
    MINE,
    SOURCE,
    TOLD
}; /* what every rank is told: its new rank (-1: none), and that of the old rank of this number */

/* The edges of all ranks at rank 0, three numbers each; false (on all): too many, or no memory, on any (n_own -1). */
static bool gather_edges(MPI_Comm comm, const int *own, int n_own, int rank, int size, int **all, size_t *n_all)
{
    int *count = NULL, *at = NULL, ok = 1;
    long long total = 0;
    *all = NULL;
    if (rank == 0) {
        count = malloc((size_t)size * sizeof *count);
        at = malloc((size_t)size * sizeof *at);
        ok = count && at;
    }
    PMPI_Bcast(&ok, 1, MPI_INT, 0, comm);
    if (ok) {
        int words = 3 * n_own;
        PMPI_Gather(&words, 1, MPI_INT, count, 1, MPI_INT, 0, comm);
        for (int i = 0; rank == 0 && i < size; i++) {
            at[i] = (int)total;
            total += count[i];
            if (count[i] < 0 || total > INT32_MAX) ok = 0, total = 0;
        }
        if (rank == 0) ok = ok && (*all = malloc((size_t)total * sizeof **all + 1));
        PMPI_Bcast(&ok, 1, MPI_INT, 0, comm);
        if (ok) PMPI_Gatherv(own, words, MPI_INT, *all, count, at, MPI_INT, 0, comm);
    }
    *n_all = (size_t)total / 3;
    free(count);
    free(at);
    return ok;
}

/* Rank 0: new ranks into told[3 size]; false: all stay. */
static bool decide(const struct fc_asking *asking, const char *hosts, const int *edges, size_t n_edges, int size,
                   int *told)
{
    int n = asking->n, *split = malloc((3 * n_edges + 1) * sizeof *split),
        *new_rank = malloc((size_t)size * sizeof *new_rank);
    struct fc_placing p = {asking->call,    asking->file,        n,      asking->always, hosts, split,
                           split + n_edges, split + 2 * n_edges, n_edges};
    bool placed = split && new_rank;
    for (size_t e = 0; placed && e < n_edges; e++)
        for (size_t part = 0; part < 3; part++) split[part * n_edges + e] = edges[3 * e + part];
    if (!placed) fc_reorder_say("%s: untouched: no memory", asking->call);
    placed = placed && fc_place(&p, new_rank);
    for (int i = 0; placed && i < size; i++) {
        told[TOLD * i + MINE] = i < n ? new_rank[i] : -1;
        told[TOLD * i + SOURCE] = i < n ? new_rank[new_rank[i]] : -1;
    }
    free(split);
    free(new_rank);
    return placed;
}

bool fc_reorder(MPI_Comm comm, const struct fc_asking *asking, const int *edges, int n_edges, MPI_Comm *made,
                int *source)
{
    int rank, size, go, mine[TOLD], length = 0, *told = NULL, *all;
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "", name[FC_HOST_BYTES] = "", *hosts = NULL;
    size_t n_all;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (rank == 0) {
        go = asking->wanted && fc_place_ready(asking->call);
        if (go) {
            hosts = malloc((size_t)size * sizeof name);
            told = malloc((size_t)size * sizeof mine);
            go = hosts && told;
            if (!go) fc_reorder_say("%s: untouched: no memory", asking->call);
        }
    }
    if (PMPI_Bcast(&go, 1, MPI_INT, 0, comm) || !go) goto untouched;
    PMPI_Get_processor_name(host, &length);
    memcpy(name, host, strnlen(host, sizeof name - 1));
    PMPI_Gather(name, sizeof name, MPI_CHAR, hosts, sizeof name, MPI_CHAR, 0, comm);
    go = gather_edges(comm, edges, n_edges, rank, size, &all, &n_all);
    if (rank == 0 && !go) fc_reorder_say("%s: untouched: too many neighbours, or no memory", asking->call);
    if (rank == 0) go = go && decide(asking, hosts, all, n_all, size, told);
    free(all);
    if (PMPI_Bcast(&go, 1, MPI_INT, 0, comm) || !go) goto untouched;
    PMPI_Scatter(told, TOLD, MPI_INT, mine, TOLD, MPI_INT, 0, comm);
    free(hosts);
    free(told);
    *source = mine[SOURCE];
    return PMPI_Comm_split(comm, mine[MINE] < 0 ? MPI_UNDEFINED : 0, mine[MINE] < 0 ? 0 : mine[MINE], made) ==
           MPI_SUCCESS;
untouched:
    free(hosts);
    free(told);
    return false;
}

/* ---- MPI_COMM_WORLD ---- */

bool fc_is_world(uintptr_t handle)
{
    return (MPI_Comm)handle == MPI_COMM_WORLD;
}

bool fc_is_predefined(int keyval)
{
    static const int predefined[] = {MPI_TAG_UB,        MPI_HOST,         MPI_IO,    MPI_WTIME_IS_GLOBAL,
                                     MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE, MPI_APPNUM};
    for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++)
        if (predefined[i] == keyval) return true;
    return false;
}

MPI_Comm fc_comm_now(MPI_Comm comm)
{
    return fc_world.renumbered && comm == MPI_COMM_WORLD ? (MPI_Comm)fc_world.now : comm;
}

void fc_reorder_start(void)
{
    const char *file = getenv("FABRICAST_MAP");
    int size, source;
    MPI_Comm made;
    fc_world.real = (uintptr_t)MPI_COMM_WORLD;
    fc_world.real_fortran = (int)PMPI_Comm_c2f(MPI_COMM_WORLD);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    struct fc_asking asking = {.call = "MPI_COMM_WORLD", .file = file, .n = size, .wanted = file && *file};
    if (!fc_reorder(MPI_COMM_WORLD, &asking, NULL, 0, &made, &source)) return;
    fc_world.now = (uintptr_t)made;
    fc_world.now_fortran = (int)PMPI_Comm_c2f(made);
    fc_world.renumbered = true;
}

void fc_reorder_finish(void)
{
    unsigned long long mine = fc_world.messages, all = 0;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all)
        fc_reorder_say(
            "warning: %llu messages or probes on MPI_COMM_WORLD after ranks were reordered: where they meant ranks of "
            "the new communicator the results are wrong (FABRICAST_REORDER=never)",
            all);
    MPI_Comm made = (MPI_Comm)fc_world.now;
    if (fc_world.renumbered) PMPI_Comm_free(&made);
    fc_world.renumbered = false;
}
