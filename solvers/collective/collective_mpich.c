/* collective_mpich.c - which algorithm MPICH takes: up to 3 (`mpich`) and from 4 on (`mpich4`).
 *
 * Limits are MPICH's (Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005, and its defaults since,
 * MPIR_CVAR_<NAME>_MSG_SIZE); the ring allreduce for long vectors on n != 2^k is Patarasu & Yuan's, because
 * folding would move the whole vector twice more. */
#include "solvers/collective/collective.h"

#include <string.h>

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

const char *fc_collective_mpich(const struct fc_collective_call *call)
{
    uint32_t n = call->n;
    double total = call->total, block = total / n;
    bool power = fc_floor_power_of_two(n) == n, halves = total >= (double)ELEMENT * fc_floor_power_of_two(n);
    switch (call->op) {
    case FC_OP_BARRIER: return "dissemination";
    case FC_OP_BCAST:
        if (total < BCAST_SHORT || n < BCAST_FEW) return "binomial";
        return power && total < BCAST_LONG ? "scatter+doubling" : "scatter+ring";
    case FC_OP_GATHER:
    case FC_OP_SCATTER: return "binomial";
    case FC_OP_REDUCE: return total > REDUCE_SHORT && halves ? "rabenseifner" : "binomial";
    case FC_OP_ALLREDUCE:
        if (total <= REDUCE_SHORT || !halves) return "doubling";
        return power || total < ALLREDUCE_LONG ? "rabenseifner" : "ring";
    case FC_OP_ALLGATHER:
        if (power && total < ALLGATHER_LONG) return "doubling";
        return total < ALLGATHER_SHORT ? "bruck" : "ring";
    case FC_OP_ALLTOALL: /* total: what one member sends */
        if (block <= ALLTOALL_SHORT && n >= 8) return "bruck";
        return block <= ALLTOALL_MEDIUM ? "linear" : "pairwise";
    case FC_OP_ALLTOALLV: return block <= ALLTOALL_MEDIUM ? "linear" : "pairwise";
    case FC_OP_REDUCE_SCATTER: return total < REDUCE_SCATTER_LONG ? "halving" : "pairwise";
    case FC_OP_SCAN: return "doubling";
    default: return NULL;
    }
}

/* MPICH 4: maint/tuning/coll/mpir/generic.json of 4.0.2, alike up to 5.0.1, and the same text inside the library that
 * Debian has; operations that commute and are built in. Beyond 33 members its `scattered` is 32 at a time. */
const char *fc_collective_mpich4(const struct fc_collective_call *call)
{
    uint32_t n = call->n;
    double total = call->total;
    bool power = fc_floor_power_of_two(n) == n, halves = total >= (double)ELEMENT * fc_floor_power_of_two(n);
    switch (call->op) {
    case FC_OP_BCAST:
        if (total <= BCAST_SHORT || n < BCAST_FEW) return "binomial";
        return power && total <= BCAST_LONG ? "scatter+doubling" : "scatter+ring";
    case FC_OP_GATHER:
    case FC_OP_SCATTER: return call->uneven ? "linear" : "binomial";
    case FC_OP_ALLREDUCE: return total <= ELEMENT || !halves ? "doubling" : "rabenseifner";
    case FC_OP_ALLTOALLV: return n <= 33 ? "linear" : "scattered";
    case FC_OP_ALLTOALL: {
        const char *name = fc_collective_mpich(call);
        return n > 33 && !strcmp(name, "linear") ? "scattered" : name;
    }
    default: return fc_collective_mpich(call);
    }
}
