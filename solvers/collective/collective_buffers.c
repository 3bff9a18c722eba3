/* collective_buffers.c - memory that a reduction takes anew in every call: buffers as long as the whole vector, beside those of the
 * user. Read from Open MPI 4 and 5 (ompi/mca/coll/base: coll_base_allreduce.c, coll_base_reduce_scatter.c); other libraries have
 * the same algorithms and mostly the same buffers. A ring's allreduce has buffers of one block only. */
#include "solvers/collective/collective.h"

#include <string.h>

static const struct {
    enum fc_op op;
    const char *algorithm;
    uint32_t buffers;
} table[] = {
    {FC_OP_ALLREDUCE, "doubling", 1},
    {FC_OP_ALLREDUCE, "rabenseifner", 1},
    {FC_OP_ALLREDUCE, "rabenseifner-halves", 1},
    {FC_OP_REDUCE_SCATTER, "ring", 1},    /* the sums */
    {FC_OP_REDUCE_SCATTER, "halving", 2}, /* what comes, and the sums */
    {FC_OP_REDUCE_SCATTER, "doubling", 2},
    {FC_OP_REDUCE_SCATTER, "butterfly", 2},
};

uint32_t fc_collective_buffers(const struct fc_collective_algorithm *algorithm)
{
    for (size_t i = 0; i < FC_COUNT(table); i++)
        if (table[i].op == algorithm->op && !strcmp(table[i].algorithm, algorithm->name)) return table[i].buffers;
    return 0;
}
