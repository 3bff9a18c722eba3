/* collective_alias.c - names that libraries, and measured tables, have for algorithms.
 *
 * Open MPI's are those of coll_tuned_<op>_algorithm, MPICH's of MPIR_CVAR_<OP>_INTRA_ALGORITHM, FJMPI's of
 * coll_select_<op>_algorithm; rows of HLC-Lab/pico have them with a suffix or prefix for the library, `_over` for its own
 * code (libbine). Where two libraries mean different things by a name, the library decides: Open MPI's binomial bcast doubles from
 * the nearest on, its pipeline forced by name has no segments (a chain), its chain has four; FJMPI's chain fits three, its
 * binary reduction segments of 32 KiB. Radixes
 * are the libraries' defaults: 4 of Open MPI's knomial bcast, 2 of k_bruck, k_brucks and recexch (HLC-Lab/pico's k_bruck is
 * fixed at 2). Open MPI's linear_sync alltoall has no limit of requests by default, so it is linear. */
#include "solvers/collective/collective.h"

#include <string.h>

const struct fc_collective_alias fc_collective_aliases[] = {
    {FC_OP_BARRIER, "", "recursive-doubling", "doubling"},
    {FC_OP_BARRIER, "", "two-proc", "doubling"},
    {FC_OP_BARRIER, "", "basic-linear", "linear"},
    {FC_OP_BARRIER, "", "bruck", "dissemination"},
    {FC_OP_BARRIER, "", "k-dissemination", "dissemination"},
    {FC_OP_BARRIER, "", "tree", "binomial"},
    {FC_OP_BCAST, "", "basic-linear", "linear"},
    {FC_OP_BCAST, "", "binary-tree", "binary"},
    {FC_OP_BCAST, "", "bintree", "binary"},
    {FC_OP_BCAST, "", "split-binary-tree", "split-binary"},
    {FC_OP_BCAST, "", "split-bintree", "split-binary"},
    {FC_OP_BCAST, "", "knomial", "4-nomial"},
    {FC_OP_BCAST, "", "k-chain", "4-chains"},
    {FC_OP_BCAST, "", "scatter-allgather", "scatter+doubling-any"},
    {FC_OP_BCAST, "", "scatter-recursive-doubling-allgather", "scatter+doubling-any"},
    {FC_OP_BCAST, "", "scatter-allgather-ring", "scatter+ring"},
    {FC_OP_BCAST, "", "scatter-ring-allgather", "scatter+ring"},
    {FC_OP_BCAST, "ompi", "binomial", "binomial-doubling"},
    {FC_OP_BCAST, "ompi", "chain", "4-chains"},
    {FC_OP_BCAST, "ompi", "pipeline", "chain"},
    {FC_OP_BCAST, "fjmpi", "binomial", "binomial-doubling"},
    {FC_OP_BCAST, "fjmpi", "chain", "3-chains"},
    {FC_OP_BCAST, "fjmpi", "pipeline", "chain"},
    {FC_OP_GATHER, "", "basic-linear", "linear"},
    {FC_OP_GATHER, "", "linear-synch", "linear-sync"},
    {FC_OP_SCATTER, "", "basic-linear", "linear"},
    {FC_OP_ALLGATHER, "", "recursive-doubling", "doubling"},
    {FC_OP_ALLGATHER, "", "two-proc", "doubling"},
    {FC_OP_ALLGATHER, "", "recexch-doubling", "doubling"},
    {FC_OP_ALLGATHER, "mpich", "recursive-doubling", "doubling-any"},
    {FC_OP_ALLGATHER, "", "brucks", "bruck"},
    {FC_OP_ALLGATHER, "", "k-bruck", "bruck"},
    {FC_OP_ALLGATHER, "", "k-brucks", "bruck"},
    {FC_OP_ALLGATHER, "", "bruck-k-fanout", "bruck"},
    {FC_OP_ALLGATHER, "", "neighbor-exchange", "neighbor"},
    {FC_OP_ALLGATHER, "", "direct-messaging", "linear"},
    {FC_OP_ALLGATHER, "", "basic-linear", "gather+bcast"},
    {FC_OP_ALLGATHER, "ompi", "linear", "gather+bcast"},
    {FC_OP_ALLGATHER, "fjmpi", "linear", "gather+bcast"},
    {FC_OP_ALLGATHER, "fjmpi", "gtbc", "gather+bcast"},
    {FC_OP_ALLTOALL, "", "basic-linear", "linear"},
    {FC_OP_ALLTOALL, "", "linear-sync", "linear"},
    {FC_OP_ALLTOALL, "", "brucks", "bruck"},
    {FC_OP_ALLTOALL, "", "k-brucks", "bruck"},
    {FC_OP_ALLTOALL, "", "modified-bruck", "bruck"},
    {FC_OP_ALLTOALL, "", "two-proc", "pairwise"},
    {FC_OP_ALLTOALL, "", "pairwise-sendrecv-replace", "pairwise"},
    {FC_OP_ALLTOALL, "ompi", "pairwise", "shifted"},
    {FC_OP_ALLTOALL, "fjmpi", "pairwise", "shifted"},
    {FC_OP_ALLTOALLV, "", "basic-linear", "linear"},
    {FC_OP_ALLTOALLV, "", "pairwise-sendrecv-replace", "pairwise"},
    {FC_OP_ALLTOALLV, "ompi", "pairwise", "shifted"},
    {FC_OP_ALLTOALLV, "fjmpi", "pairwise", "shifted"},
    {FC_OP_REDUCE, "", "basic-linear", "linear"},
    {FC_OP_REDUCE, "", "k-chain", "4-chains"},
    {FC_OP_REDUCE, "", "in-order", "in-order-binary"},
    {FC_OP_REDUCE, "", "reduce-scatter-gather", "rabenseifner"},
    {FC_OP_REDUCE, "", "redscat-gather", "rabenseifner-halves"},
    {FC_OP_REDUCE, "ompi", "chain", "4-chains"},
    {FC_OP_REDUCE, "ompi", "pipeline", "chain"},
    {FC_OP_REDUCE, "ompi", "rabenseifner", "rabenseifner-halves"},
    {FC_OP_REDUCE, "fjmpi", "chain", "3-chains"},
    {FC_OP_REDUCE, "fjmpi", "binary", "binary-segments"},
    {FC_OP_REDUCE, "fjmpi", "pipeline", "chain"},
    {FC_OP_ALLREDUCE, "", "recursive-doubling", "doubling"},
    {FC_OP_ALLREDUCE, "", "recursive-multiplying", "doubling"},
    {FC_OP_ALLREDUCE, "", "recexch", "doubling"},
    {FC_OP_ALLREDUCE, "", "basic-linear", "linear"},
    {FC_OP_ALLREDUCE, "", "nonoverlapping", "reduce+bcast"},
    {FC_OP_ALLREDUCE, "", "segmented-ring", "ring"},
    {FC_OP_ALLREDUCE, "", "ring-segmented", "ring"},
    {FC_OP_ALLREDUCE, "", "reduce-scatter-allgather", "rabenseifner"},
    {FC_OP_ALLREDUCE, "", "redscat-allgather", "rabenseifner-halves"},
    {FC_OP_ALLREDUCE, "", "allgather-reduce", "allgather+reduce"},
    {FC_OP_ALLREDUCE, "ompi", "rabenseifner", "rabenseifner-halves"},
    {FC_OP_ALLREDUCE, "over", "rabenseifner", "rabenseifner-halves"},
    {FC_OP_ALLREDUCE, "fjmpi", "rdbc", "reduce+bcast"},
    {FC_OP_REDUCE_SCATTER, "", "recursive-halving", "halving"},
    {FC_OP_REDUCE_SCATTER, "", "basic-recursive-halving", "halving"},
    {FC_OP_REDUCE_SCATTER, "", "recursive-doubling", "doubling"},
    {FC_OP_REDUCE_SCATTER, "", "recursive-distance-doubling", "butterfly"},
    {FC_OP_REDUCE_SCATTER, "", "non-commutative", "noncommutative"},
    {FC_OP_REDUCE_SCATTER, "", "non-overlapping", "reduce+scatter"},
    {FC_OP_REDUCE_SCATTER, "", "nonoverlapping", "reduce+scatter"},
    {FC_OP_SCAN, "", "recursive-doubling", "doubling"},
    {FC_OP_SCAN, "", "basic-linear", "linear"},
    {FC_N_OPS, NULL, NULL, NULL},
};

/* A name as written, - for _, and the library it is told to be of. */
struct name {
    char text[40];
    const char *library; /* "": not told */
};

static bool ends(struct name *name, const char *suffix, const char *library)
{
    size_t n = strlen(name->text), m = strlen(suffix);
    if (n <= m || strcmp(name->text + n - m, suffix)) return false;
    name->text[n - m] = '\0';
    name->library = library;
    return true;
}

static struct name take_apart(const char *text, size_t length)
{
    struct name name = {"", ""};
    if (length >= sizeof name.text) return name;
    for (size_t i = 0; i < length; i++) name.text[i] = text[i] == '_' ? '-' : text[i];
    if (ends(&name, "-ompi", "ompi") || ends(&name, "-mpich", "mpich") || ends(&name, "-over", "over")) return name;
    if (!strncmp(name.text, "default-", 8)) {
        memmove(name.text, name.text + 8, strlen(name.text + 8) + 1);
        name.library = "fjmpi";
    }
    return name;
}

static const struct fc_collective_rules *rules_meant(const struct name *name)
{
    static const char *const of[][2] = {{"ompi", "openmpi"}, {"mpich", "mpich4"}, {"fjmpi", "fjmpi"}};
    const struct fc_collective_rules *named = fc_collective_rules_named(name->text);
    if (named && !*name->library) return named;
    bool nb = !strcmp(name->text, "nb") || !strcmp(name->text, "non-blocking");
    if (nb && (!*name->library || !strcmp(name->library, "mpich"))) return fc_collective_rules_named("mpich4");
    for (size_t i = 0; !strcmp(name->text, "default") && i < FC_COUNT(of); i++)
        if (!strcmp(name->library, of[i][0])) return fc_collective_rules_named(of[i][1]);
    return NULL;
}

static const struct fc_collective_algorithm *by_alias(enum fc_op op, const char *library, const char *text)
{
    for (const struct fc_collective_alias *a = fc_collective_aliases; a->alias; a++)
        if (a->op == op && (!library || !strcmp(a->library, library)) && !strcmp(a->alias, text))
            return fc_collective_named(op, a->name);
    return NULL;
}

const struct fc_collective_algorithm *fc_collective_known_as(enum fc_op op, const char *text, size_t length,
                                                             const struct fc_collective_rules **rules)
{
    struct name name = take_apart(text, length);
    const struct fc_collective_algorithm *found = NULL;
    *rules = NULL;
    if (!*name.text) return NULL;
    if ((*rules = rules_meant(&name))) return NULL;
    if (*name.library) found = by_alias(op, name.library, name.text);
    if (!found) found = fc_collective_named(op, name.text);
    return found ? found : by_alias(op, *name.library ? "" : NULL, name.text);
}
