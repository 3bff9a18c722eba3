/* grid.c - asks MPI for new ranks and tells what it got (tests/test_reorder.c): grid WHAT...
 *
 *     cart         MPI_Cart_create, 2 x n/2, periodic        graph     the same graph by MPI_Graph_create
 *     dist         by MPI_Dist_graph_create, each edge named by another rank; the first dimension ten times as heavy
 *     adjacent     the same by MPI_Dist_graph_create_adjacent
 *     part         MPI_Cart_create of n - 1 ranks            world     messages on MPI_COMM_WORLD after MPI_Cart_create
 *     none         no topology: an allreduce, attributes and groups of MPI_COMM_WORLD
 *     NAME=VALUE   sets a variable of the environment, for what comes after
 *
 * Every rank sends its new number to each neighbour that MPI tells and checks what comes. Rank 0 of MPI_COMM_WORLD prints the
 * rank that the launcher gave and the new one, of all, "cart 0>3 1>0 ..." ("-": none), and "wrong" where a neighbour was not the
 * one of the graph. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n, rank; /* of MPI_COMM_WORLD */

static int across(int r)
{
    return (r + n / 2) % n;
}

static int along(int r, int step)
{
    int row = r / (n / 2), column = r % (n / 2);
    return row * (n / 2) + (column + step + n / 2) % (n / 2);
}

static MPI_Comm cart(int ranks)
{
    MPI_Comm made;
    int dims[2] = {2, ranks / 2}, periods[2] = {1, 1};
    if (ranks % 2) dims[0] = ranks, dims[1] = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &made);
    return made;
}

static MPI_Comm graph(void)
{
    MPI_Comm made;
    int *index = malloc((size_t)n * sizeof *index), *edge = malloc(3 * (size_t)n * sizeof *edge);
    for (int r = 0; r < n; r++) {
        index[r] = 3 * (r + 1);
        edge[3 * r] = across(r), edge[3 * r + 1] = along(r, -1), edge[3 * r + 2] = along(r, 1);
    }
    MPI_Graph_create(MPI_COMM_WORLD, n, index, edge, 1, &made);
    free(index);
    free(edge);
    return made;
}

static MPI_Comm dist(int adjacent)
{
    MPI_Comm made;
    int about = adjacent ? rank : (rank + 1) % n, degree = 3, weight[3] = {10, 1, 1};
    int to[3] = {across(about), along(about, -1), along(about, 1)};
    if (adjacent)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, to, weight, 3, to, weight, MPI_INFO_NULL, 1, &made);
    else
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &about, &degree, to, weight, MPI_INFO_NULL, 1, &made);
    return made;
}

/* Neighbours of the new rank are those of the graph, and hear from it. */
static int is_wrong(MPI_Comm made, int is_dist)
{
    int me, in[3], out[3], in_weight[3], out_weight[3], heard = 0, bad = 0;
    MPI_Comm_rank(made, &me);
    if (is_dist) {
        MPI_Dist_graph_neighbors(made, 3, in, in_weight, 3, out, out_weight);
        for (int i = 0; i < 3; i++) bad |= out_weight[i] != (out[i] == across(me) ? 10 : 1);
    } else {
        MPI_Graph_neighbors(made, me, 3, out);
    }
    for (int i = 0; i < 3; i++) bad |= out[i] != across(me) && out[i] != along(me, 1) && out[i] != along(me, -1);
    bad |= out[0] == out[1] || out[1] == out[2] || out[0] == out[2];
    for (int i = 0; i < 3; i++) {
        MPI_Sendrecv(&me, 1, MPI_INT, across(me), i, &heard, 1, MPI_INT, across(me), i, made, MPI_STATUS_IGNORE);
        bad |= heard != across(me);
    }
    return bad;
}

static int is_wrong_cart(MPI_Comm made)
{
    int me, up, down, left, right, coords[2], heard, bad = 0;
    if (made == MPI_COMM_NULL) return 0;
    MPI_Comm_rank(made, &me);
    MPI_Cart_coords(made, me, 2, coords);
    MPI_Cart_shift(made, 0, 1, &up, &down);
    MPI_Cart_shift(made, 1, 1, &left, &right);
    MPI_Sendrecv(&me, 1, MPI_INT, right, 0, &heard, 1, MPI_INT, left, 0, made, MPI_STATUS_IGNORE);
    bad |= heard != left;
    MPI_Sendrecv(&me, 1, MPI_INT, down, 0, &heard, 1, MPI_INT, up, 0, made, MPI_STATUS_IGNORE);
    return bad | (heard != up);
}

/* MPI_COMM_WORLD in calls of other kinds: what they say must agree. */
static int is_wrong_world(void)
{
    int found = 0, *tag, in_group, sum, compare;
    MPI_Group group;
    MPI_Comm copy;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag, &found);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_rank(group, &in_group);
    MPI_Group_free(&group);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &compare);
    MPI_Comm_free(&copy);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return !found || *tag < 32767 || in_group != rank || compare != MPI_CONGRUENT || sum != n * (n - 1) / 2;
}

static void tell(const char *what, int started)
{
    int mine[2] = {started, -1}, wrong = 0, any, *all = malloc(2 * (size_t)n * sizeof *all);
    MPI_Comm made = MPI_COMM_NULL;
    if (!strcmp(what, "cart") || !strcmp(what, "world")) wrong = is_wrong_cart(made = cart(n));
    if (!strcmp(what, "part")) wrong = is_wrong_cart(made = cart(n - 1));
    if (!strcmp(what, "graph")) wrong = is_wrong(made = graph(), 0);
    if (!strcmp(what, "dist")) wrong = is_wrong(made = dist(0), 1);
    if (!strcmp(what, "adjacent")) wrong = is_wrong(made = dist(1), 1);
    if (!strcmp(what, "none")) wrong = is_wrong_world(), made = MPI_COMM_WORLD;
    if (!strcmp(what, "world"))
        MPI_Sendrecv(&n, 1, MPI_INT, rank ^ 1, 0, &any, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (made != MPI_COMM_NULL) MPI_Comm_rank(made, &mine[1]);
    MPI_Gather(mine, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s", what);
    for (int i = 0; rank == 0 && i < n; i++) {
        printf(" %d>", all[2 * i]);
        printf(all[2 * i + 1] < 0 ? "-" : "%d", all[2 * i + 1]);
    }
    if (rank == 0) printf("%s\n", any ? " wrong" : "");
    free(all);
    if (made != MPI_COMM_NULL && made != MPI_COMM_WORLD) MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    const char *openmpi = getenv("OMPI_COMM_WORLD_RANK"), *started = openmpi ? openmpi : getenv("PMI_RANK");
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++)
        if (!strchr(argv[i], '='))
            tell(argv[i], started ? atoi(started) : rank);
        else
            putenv(argv[i]);
    MPI_Finalize();
    return 0;
}
