/* collective_vendors.c - which algorithm the MPI of a vendor takes, as far as it is known.
 *
 * Cray MPICH: MPICH's rules, but bcast is a tree whatever the size: MPICH_BCAST_ONLY_TREE = 1 and MPICH_BCAST_INTERNODE_RADIX = 4,
 * defaults as the library of 8.1.17 printed them on Crusher (MPICH_ENV_DISPLAY; merthidayetoglu/Bisection_Bandwidth_Tester).
 * Its limit of short alltoalls is 64 to 512 B there, and depends on the members in a way that is not told: MPICH's 256 B lies
 * within. That the tree is the 4-nomial one is a guess; shared memory and chunked exchanges are not known.
 *
 * FJMPI 4.0.1 (Fugaku): no source is public. Its choices were told from its times on 2 x 2 x 2 nodes beside those of each
 * algorithm that can be forced (HLC-Lab/pico, 413bc5d): powers of 8 apart, so a limit is known to a factor of 8, and those of
 * Open MPI 4.0's fixed rules were taken where they lie in between. These are allgather (doubling below 50,000 B of all
 * blocks, then neighbour exchange), allreduce (doubling, then the ring without segments) and reduce_scatter (halving up to
 * 256 KiB, then the ring). Scatter: binomial up to 1 MiB of all blocks, then linear. Reduce: binomial, in-order binary, then
 * a binary tree in segments of 32 KiB. Taken for algorithms of its own that are not in our table: gather above 2 KiB
 * (linear), alltoall (linear), bcast (binary tree; from 64 KiB in segments, since its own trees are pipelines). The Tofu
 * barrier, which also broadcasts and adds a few elements, is missing: barrier, bcast and reductions up to 32 B are three times
 * too slow. How far this holds on 8 x 8 x 8: docs/collectives.md. */
#include "solvers/collective/collective.h"

const char *fc_collective_cray(const struct fc_collective_call *call)
{
    return call->op == FC_OP_BCAST ? "4-nomial" : fc_collective_mpich4(call);
}

enum {
    ALLGATHER_SHORT = 50000,   /* of all blocks, below: doubling, or Bruck's where n != 2^k */
    ALLREDUCE_SHORT = 65536,   /* below: doubling; between 16 KiB and 128 KiB */
    REDUCE_SHORT = 2048,       /* up to: binomial */
    BCAST_LONG = 65536,        /* from here: in segments; between 16 KiB and 128 KiB */
    REDUCE_LONG = 65536,       /* from here: in segments; between 16 KiB and 128 KiB */
    HALVING_SHORT = 12288,     /* up to: halving whatever n */
    HALVING_LONG = 262144,     /* up to, n = 2^k: halving */
    SCATTER_LONG = 4 * 1048576 /* of all blocks, from here: linear; between 1 and 8 MiB */
};

const char *fc_collective_fjmpi(const struct fc_collective_call *call)
{
    uint32_t n = call->n;
    double total = call->total;
    bool power = fc_floor_power_of_two(n) == n;
    switch (call->op) {
    case FC_OP_BARRIER: return "doubling";
    case FC_OP_BCAST: return total < BCAST_LONG ? "binary" : "binary-segments";
    case FC_OP_GATHER: return total <= REDUCE_SHORT ? "binomial" : "linear";
    case FC_OP_SCATTER: return total < SCATTER_LONG ? "binomial" : "linear";
    case FC_OP_ALLGATHER:
        if (total < ALLGATHER_SHORT) return power ? "doubling" : "bruck";
        return n % 2 ? "ring" : "neighbor";
    case FC_OP_ALLTOALL: return "linear";
    case FC_OP_ALLTOALLV: return "linear";
    case FC_OP_REDUCE:
        if (total <= REDUCE_SHORT) return "binomial";
        return total < REDUCE_LONG ? "in-order-binary" : "binary-segments";
    case FC_OP_ALLREDUCE: return total < ALLREDUCE_SHORT ? "doubling" : "ring";
    case FC_OP_REDUCE_SCATTER: return total <= HALVING_SHORT || (power && total <= HALVING_LONG) ? "halving" : "ring";
    case FC_OP_SCAN: return "linear";
    default: return NULL;
    }
}
