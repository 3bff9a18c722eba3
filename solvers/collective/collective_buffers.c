/* collective_buffers.c - memory that a reduction takes anew in every call: buffers as long as the whole vector, beside those of the
 * user. Read from Open MPI 4 and 5 (ompi/mca/coll/base: coll_base_allreduce.c, coll_base_reduce_scatter.c); other libraries have
 * the same algorithms and mostly the same buffers. A ring's allreduce has buffers of one block only. A reduce_scatter sends its
 * partial sums, which are in such a buffer; Rabenseifner's allreduce keeps them in the user's and only receives into one; doubling
 * sends out of one in the first round and then out of one or the other as sums come to lie: half. */
#include "solvers/collective/collective.h"

#include <string.h>

static const struct {
    enum fc_op op;
    const char *algorithm;
    struct fc_collective_fresh fresh;
} table[] = {
    {FC_OP_ALLREDUCE, "doubling", {1, 0.5}},          {FC_OP_ALLREDUCE, "rabenseifner", {1, 0}},
    {FC_OP_ALLREDUCE, "rabenseifner-halves", {1, 0}}, {FC_OP_REDUCE_SCATTER, "ring", {1, 1}}, /* the sums */
    {FC_OP_REDUCE_SCATTER, "halving", {2, 1}}, /* what comes, and the sums */
    {FC_OP_REDUCE_SCATTER, "doubling", {2, 1}},       {FC_OP_REDUCE_SCATTER, "butterfly", {2, 1}},
};

struct fc_collective_fresh fc_collective_buffers(const struct fc_collective_algorithm *algorithm)
{
    for (size_t i = 0; i < FC_COUNT(table); i++)
        if (table[i].op == algorithm->op && !strcmp(table[i].algorithm, algorithm->name)) return table[i].fresh;
    return (struct fc_collective_fresh){0, 0};
}
