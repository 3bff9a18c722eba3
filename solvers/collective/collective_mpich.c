/* collective_mpich.c - which algorithm MPICH takes.
 *
 * Limits are MPICH's (Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005, and its defaults since,
 * MPIR_CVAR_<NAME>_MSG_SIZE); the ring allreduce for long vectors on n != 2^k is Patarasu & Yuan's, because
 * folding would move the whole vector twice more. */
#include "solvers/collective/collective.h"

/* Limits in bytes: of the vector, or of all blocks. */
enum {
    BCAST_SHORT = 12288,          /* below: binomial */
    BCAST_LONG = 524288,          /* below, n = 2^k: scatter + recursive doubling; else scatter + ring */
    BCAST_FEW = 8,                /* fewer members: binomial */
    REDUCE_SHORT = 2048,          /* up to: binomial, recursive doubling; above: Rabenseifner */
    ALLREDUCE_LONG = 524288,      /* from here, n != 2^k: ring */
    ALLGATHER_SHORT = 81920,      /* below, n != 2^k: Bruck */
    ALLGATHER_LONG = 524288,      /* below, n = 2^k: recursive doubling; else ring */
    ALLTOALL_SHORT = 256,         /* of one block, up to, n >= 8: Bruck */
    ALLTOALL_MEDIUM = 32768,      /* of one block, up to: all at once; above: pairwise */
    REDUCE_SCATTER_LONG = 524288, /* below: recursive halving; else pairwise */
    ELEMENT = 8                   /* taken as the element's size: halving needs an element a member */
};

const struct fc_collective_algorithm *fc_collective_choose(enum fc_op op, uint32_t n, double total)
{
    bool power = fc_power_of_two(n) == n, halves = total >= (double)ELEMENT * fc_power_of_two(n);
    double block = total / n;
    switch (op) {
    case FC_OP_BCAST:
        if (total < BCAST_SHORT || n < BCAST_FEW) return fc_collective_named(op, "binomial");
        return fc_collective_named(op, power && total < BCAST_LONG ? "scatter+doubling" : "scatter+ring");
    case FC_OP_REDUCE: return fc_collective_named(op, total > REDUCE_SHORT && halves ? "rabenseifner" : "binomial");
    case FC_OP_ALLREDUCE:
        if (total <= REDUCE_SHORT || !halves) return fc_collective_named(op, "doubling");
        return fc_collective_named(op, power || total < ALLREDUCE_LONG ? "rabenseifner" : "ring");
    case FC_OP_ALLGATHER:
        if (power && total < ALLGATHER_LONG) return fc_collective_named(op, "doubling");
        return fc_collective_named(op, total < ALLGATHER_SHORT ? "bruck" : "ring");
    case FC_OP_ALLTOALL: /* total: what one member sends */
        if (block <= ALLTOALL_SHORT && n >= 8) return fc_collective_named(op, "bruck");
        return fc_collective_named(op, block <= ALLTOALL_MEDIUM ? "linear" : "pairwise");
    case FC_OP_ALLTOALLV: return fc_collective_named(op, block <= ALLTOALL_MEDIUM ? "linear" : "pairwise");
    case FC_OP_REDUCE_SCATTER: return fc_collective_named(op, total < REDUCE_SCATTER_LONG ? "halving" : "pairwise");
    default: return fc_collective_named(op, NULL);
    }
}
