/* collective_openmpi.c - which algorithm Open MPI takes: the fixed rules of its component coll/tuned.
 *
 * The first rules of an operation that have n < members hold (0: any), and of these the first with bytes < limit (0: any).
 * Bytes are those of the vector (bcast, reduce, allreduce; reduce_scatter: all blocks) or of one member's block (gather,
 * scatter, allgather, alltoall). Source: the thresholds of ompi_coll_tuned_*_intra_dec_fixed for commutative
 * operations in coll_tuned_decision_fixed.c, Open MPI 4.1.4 (the same up to 4.1.8 and 5.0.9), and what its algorithms do
 * where they cannot: doubling on n != 2^k is Bruck's, neighbour exchange on odd n the ring, a ring of fewer
 * elements than members doubling, Rabenseifner's linear. scan, gatherv and scatterv are coll/basic's, linear.
 *
 * Its linear exchange with synchronisation has no limit of requests there: linear. Exchanges of two members are pairwise,
 * doubling and neighbour exchange. Pipelines have no segments there by default, chains no fan-out: chain. Its reduction and
 * broadcast inside reduce+bcast are taken by these rules again; ours are binomial. */
#include "solvers/collective/collective.h"

#include <string.h>

struct rules {
    uint32_t members;
    struct {
        double bytes;
        const char *name;
    } rule[10];
};

static const struct rules barrier_rules[] = {
    {4, {{0, "doubling"}}},   {8, {{0, "linear"}}},           {64, {{0, "doubling"}}},   {256, {{0, "dissemination"}}},
    {512, {{0, "binomial"}}}, {1024, {{0, "dissemination"}}}, {4096, {{0, "binomial"}}}, {0, {{0, "dissemination"}}},
};
static const struct rules bcast_rules[] = {
    {4,
     {{32, "chain"},
      {256, "binary"},
      {512, "chain"},
      {1024, "4-nomial"},
      {32768, "linear"},
      {131072, "binary"},
      {262144, "chain"},
      {524288, "linear"},
      {1048576, "binomial-doubling"},
      {0, "binary"}}},
    {8,
     {{64, "binary"},
      {128, "binomial-doubling"},
      {2048, "binary"},
      {8192, "binomial-doubling"},
      {1048576, "linear"},
      {0, "chain"}}},
    {16,
     {{8, "4-nomial"},
      {64, "binary"},
      {4096, "4-nomial"},
      {16384, "binary"},
      {32768, "binomial-doubling"},
      {0, "linear"}}},
    {32, {{4096, "4-nomial"}, {1048576, "binomial-doubling"}, {0, "scatter+doubling"}}},
    {64, {{2048, "binomial-doubling"}, {0, "4-nomial"}}},
    {128, {{0, "4-nomial"}}},
    {256, {{2, "binomial-doubling"}, {16384, "binary"}, {32768, "linear"}, {65536, "binary"}, {0, "4-nomial"}}},
    {1024, {{16384, "4-nomial"}, {32768, "split-binary"}, {0, "4-nomial"}}},
    {2048, {{524288, "4-nomial"}, {0, "scatter+doubling"}}},
    {4096, {{262144, "4-nomial"}, {0, "scatter+doubling"}}},
    {0, {{8192, "4-nomial"}, {16384, "binary"}, {262144, "4-nomial"}, {0, "scatter+doubling"}}},
};
static const struct rules gather_rules[] = {
    {4, {{4, "linear"}, {32768, "binomial"}, {65536, "linear"}, {131072, "binomial"}, {0, "linear"}}},
    {8, {{1024, "binomial"}, {8192, "linear"}, {32768, "binomial"}, {0, "linear"}}},
    {256, {{0, "binomial"}}},
    {512, {{2048, "binomial"}, {8192, "linear"}, {0, "binomial"}}},
    {0, {{0, "binomial"}}},
};
static const struct rules scatter_rules[] = {
    {4, {{0, "linear"}}},
    {8, {{2048, "binomial"}, {4096, "linear"}, {8192, "binomial"}, {0, "linear"}}},
    {32, {{16384, "binomial"}, {0, "linear"}}},
    {64, {{512, "binomial"}, {8192, "linear"}, {16384, "binomial"}, {0, "linear"}}},
    {0, {{512, "binomial"}, {0, "linear"}}},
};
static const struct rules allgather_rules[] = {
    {32, {{0, "doubling"}}},
    {64, {{1024, "doubling"}, {65536, "neighbor"}, {0, "ring"}}},
    {128, {{512, "doubling"}, {65536, "neighbor"}, {0, "ring"}}},
    {256, {{512, "doubling"}, {131072, "neighbor"}, {524288, "ring"}, {1048576, "neighbor"}, {0, "ring"}}},
    {512,
     {{32, "doubling"},
      {128, "bruck"},
      {1024, "doubling"},
      {131072, "neighbor"},
      {524288, "ring"},
      {1048576, "neighbor"},
      {0, "ring"}}},
    {1024, {{64, "doubling"}, {256, "bruck"}, {2048, "doubling"}, {0, "neighbor"}}},
    {2048,
     {{4, "doubling"},
      {8, "bruck"},
      {16, "doubling"},
      {32, "bruck"},
      {256, "doubling"},
      {512, "bruck"},
      {4096, "doubling"},
      {0, "neighbor"}}},
    {4096, {{32, "bruck"}, {128, "doubling"}, {512, "bruck"}, {4096, "doubling"}, {0, "neighbor"}}},
    {0, {{2, "doubling"}, {8, "bruck"}, {16, "doubling"}, {512, "bruck"}, {4096, "doubling"}, {0, "neighbor"}}},
};
static const struct rules allgatherv_rules[] = {
    {3, {{2048, "ring"}, {4096, "neighbor"}, {8192, "ring"}, {0, "neighbor"}}},
    {8,
     {{256, "gather+bcast"},
      {4096, "neighbor"},
      {8192, "ring"},
      {16384, "neighbor"},
      {262144, "bruck"},
      {0, "neighbor"}}},
    {16, {{1024, "gather+bcast"}, {0, "bruck"}}},
    {32, {{128, "gather+bcast"}, {262144, "bruck"}, {0, "ring"}}},
    {64, {{256, "gather+bcast"}, {8192, "bruck"}, {0, "ring"}}},
    {128, {{256, "gather+bcast"}, {4096, "bruck"}, {0, "ring"}}},
    {256, {{1024, "bruck"}, {65536, "neighbor"}, {0, "ring"}}},
    {512, {{1024, "bruck"}, {0, "ring"}}},
    {1024, {{512, "bruck"}, {1024, "gather+bcast"}, {4096, "bruck"}, {1048576, "neighbor"}, {0, "ring"}}},
    {0, {{4096, "bruck"}, {0, "neighbor"}}},
};
static const struct rules alltoall_rules[] = {
    {3, {{32768, "shifted"}, {262144, "linear"}, {0, "shifted"}}},
    {8, {{524288, "linear"}, {1048576, "shifted"}, {0, "linear"}}},
    {16, {{0, "linear"}}},
    {32, {{4, "linear"}, {512, "bruck"}, {0, "linear"}}},
    {64, {{512, "bruck"}, {0, "linear"}}},
    {256, {{1024, "bruck"}, {262144, "linear"}, {0, "shifted"}}},
    {512, {{1024, "bruck"}, {32768, "linear"}, {0, "shifted"}}},
    {1024, {{512, "bruck"}, {262144, "linear"}, {0, "shifted"}}},
    {2048, {{512, "bruck"}, {0, "linear"}}},
    {4096, {{1024, "bruck"}, {0, "linear"}}},
    {0, {{2048, "bruck"}, {0, "linear"}}},
};
static const struct rules alltoallv_rules[] = {
    {4, {{0, "shifted"}}},  {64, {{0, "linear"}}},    {128, {{0, "shifted"}}},
    {256, {{0, "linear"}}}, {1024, {{0, "shifted"}}}, {0, {{0, "linear"}}},
};
static const struct rules reduce_rules[] = {
    {4, {{8, "rabenseifner"}, {16, "binary"}, {32, "chain"}, {262144, "linear"}, {0, "chain"}}},
    {8,
     {{4096, "binary"},
      {65536, "chain"},
      {262144, "binomial"},
      {524288, "linear"},
      {1048576, "binomial"},
      {0, "linear"}}},
    {16, {{8192, "binary"}, {0, "binomial"}}},
    {32, {{4096, "binary"}, {0, "binomial"}}},
    {256, {{0, "binomial"}}},
    {512, {{8192, "binomial"}, {16384, "in-order-binary"}, {0, "binomial"}}},
    {2048, {{0, "binomial"}}},
    {4096,
     {{512, "binomial"}, {1024, "in-order-binary"}, {8192, "binomial"}, {16384, "in-order-binary"}, {0, "binomial"}}},
    {0,
     {{16, "binomial"},
      {32, "in-order-binary"},
      {1024, "binomial"},
      {2048, "in-order-binary"},
      {8192, "binomial"},
      {16384, "in-order-binary"},
      {0, "binomial"}}},
};
static const struct rules allreduce_rules[] = {
    {4, {{8, "ring"}, {4096, "doubling"}, {8192, "ring"}, {16384, "doubling"}, {262144, "ring"}, {0, "rabenseifner"}}},
    {8, {{16, "ring"}, {8192, "doubling"}, {0, "rabenseifner"}}},
    {16, {{8192, "doubling"}, {0, "rabenseifner"}}},
    {32, {{64, "ring"}, {4096, "doubling"}, {0, "rabenseifner"}}},
    {64, {{128, "ring"}, {0, "rabenseifner"}}},
    {128, {{262144, "doubling"}, {0, "rabenseifner"}}},
    {256, {{131072, "reduce+bcast"}, {262144, "doubling"}, {0, "rabenseifner"}}},
    {512, {{4096, "reduce+bcast"}, {0, "rabenseifner"}}},
    {2048, {{2048, "reduce+bcast"}, {16384, "doubling"}, {0, "rabenseifner"}}},
    {4096, {{2048, "reduce+bcast"}, {4096, "ring"}, {16384, "doubling"}, {0, "rabenseifner"}}},
    {0, {{2048, "reduce+bcast"}, {16384, "ring"}, {32768, "doubling"}, {0, "rabenseifner"}}},
};
static const struct rules reduce_scatter_rules[] = {
    {4, {{65536, "ring"}, {131072, "butterfly"}, {0, "ring"}}},
    {8, {{8, "reduce+scatter"}, {262144, "halving"}, {0, "ring"}}},
    {32, {{262144, "halving"}, {0, "ring"}}},
    {64, {{64, "reduce+scatter"}, {2048, "halving"}, {524288, "butterfly"}, {0, "ring"}}},
    {128, {{256, "reduce+scatter"}, {512, "halving"}, {2048, "butterfly"}, {4096, "halving"}, {0, "butterfly"}}},
    {256, {{256, "reduce+scatter"}, {512, "halving"}, {0, "butterfly"}}},
    {512, {{256, "reduce+scatter"}, {1024, "halving"}, {0, "butterfly"}}},
    {1024, {{512, "reduce+scatter"}, {2048, "halving"}, {8192, "butterfly"}, {16384, "halving"}, {0, "butterfly"}}},
    {2048, {{512, "reduce+scatter"}, {4096, "halving"}, {16384, "butterfly"}, {32768, "halving"}, {0, "butterfly"}}},
    {4096, {{512, "reduce+scatter"}, {4096, "halving"}, {0, "butterfly"}}},
    {0, {{1024, "reduce+scatter"}, {8192, "halving"}, {0, "butterfly"}}},
};

static const char *first_rule(const struct rules *of, uint32_t n, double bytes)
{
    int i = 0;
    while (of->members && n >= of->members) of++;
    while (of->rule[i].bytes > 0 && bytes >= of->rule[i].bytes) i++;
    return of->rule[i].name;
}

const char *fc_collective_openmpi(const struct fc_collective_call *call)
{
    uint32_t n = call->n, power = fc_floor_power_of_two(n);
    double total = call->total, block = total / n, elements = total / 8; /* taken as 8 bytes each */
    const char *name;
    switch (call->op) {
    case FC_OP_BARRIER: return first_rule(barrier_rules, n, 0);
    case FC_OP_BCAST:
        name = first_rule(bcast_rules, n, total);
        return power != n && !strcmp(name, "scatter+doubling") ? "scatter+doubling-any" : name;
    case FC_OP_GATHER: return call->uneven ? "linear" : first_rule(gather_rules, n, block);
    case FC_OP_SCATTER: return call->uneven ? "linear" : first_rule(scatter_rules, n, block);
    case FC_OP_ALLGATHER:
        name = first_rule(call->uneven ? allgatherv_rules : allgather_rules, n, block);
        if (power != n && !strcmp(name, "doubling")) return "bruck";
        return n % 2 && !strcmp(name, "neighbor") ? "ring" : name;
    case FC_OP_ALLTOALL: return first_rule(alltoall_rules, n, block);
    case FC_OP_ALLTOALLV: return first_rule(alltoallv_rules, n, block);
    case FC_OP_REDUCE:
        name = first_rule(reduce_rules, n, total);
        return elements < power && !strcmp(name, "rabenseifner") ? "linear" : name;
    case FC_OP_ALLREDUCE:
        name = first_rule(allreduce_rules, n, total);
        if (elements < n && !strcmp(name, "ring")) return "doubling";
        if (strcmp(name, "rabenseifner")) return name;
        return elements < power ? "linear" : power == n ? name : "rabenseifner-halves";
    case FC_OP_REDUCE_SCATTER: return first_rule(reduce_scatter_rules, n, total);
    case FC_OP_SCAN: return "linear";
    default: return NULL;
    }
}
