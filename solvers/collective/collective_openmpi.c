/* collective_openmpi.c - which algorithm Open MPI takes: the fixed rules of its component coll/tuned.
 *
 * The first rule of an operation that has n < members and bytes < limit holds (0: any). Bytes are those of
 * the vector (bcast, reduce, allreduce; reduce_scatter: all blocks) or of one member's block (gather,
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

struct rule {
    uint32_t members;
    double bytes;
    const char *name;
};

static const struct rule barrier_rules[] = {
    {4, 0, "doubling"},   {8, 0, "linear"},           {64, 0, "doubling"},   {256, 0, "dissemination"},
    {512, 0, "binomial"}, {1024, 0, "dissemination"}, {4096, 0, "binomial"}, {0, 0, "dissemination"},
};
static const struct rule bcast_rules[] = {
    {4, 32, "chain"},
    {4, 256, "binary"},
    {4, 512, "chain"},
    {4, 1024, "4-nomial"},
    {4, 32768, "linear"},
    {4, 131072, "binary"},
    {4, 262144, "chain"},
    {4, 524288, "linear"},
    {4, 1048576, "binomial-doubling"},
    {4, 0, "binary"},
    {8, 64, "binary"},
    {8, 128, "binomial-doubling"},
    {8, 2048, "binary"},
    {8, 8192, "binomial-doubling"},
    {8, 1048576, "linear"},
    {8, 0, "chain"},
    {16, 8, "4-nomial"},
    {16, 64, "binary"},
    {16, 4096, "4-nomial"},
    {16, 16384, "binary"},
    {16, 32768, "binomial-doubling"},
    {16, 0, "linear"},
    {32, 4096, "4-nomial"},
    {32, 1048576, "binomial-doubling"},
    {32, 0, "scatter+doubling"},
    {64, 2048, "binomial-doubling"},
    {64, 0, "4-nomial"},
    {128, 0, "4-nomial"},
    {256, 2, "binomial-doubling"},
    {256, 16384, "binary"},
    {256, 32768, "linear"},
    {256, 65536, "binary"},
    {256, 0, "4-nomial"},
    {1024, 16384, "4-nomial"},
    {1024, 32768, "split-binary"},
    {1024, 0, "4-nomial"},
    {2048, 524288, "4-nomial"},
    {2048, 0, "scatter+doubling"},
    {4096, 262144, "4-nomial"},
    {4096, 0, "scatter+doubling"},
    {0, 8192, "4-nomial"},
    {0, 16384, "binary"},
    {0, 262144, "4-nomial"},
    {0, 0, "scatter+doubling"},
};
static const struct rule gather_rules[] = {
    {4, 4, "linear"},     {4, 32768, "binomial"}, {4, 65536, "linear"},    {4, 131072, "binomial"},
    {4, 0, "linear"},     {8, 1024, "binomial"},  {8, 8192, "linear"},     {8, 32768, "binomial"},
    {8, 0, "linear"},     {256, 0, "binomial"},   {512, 2048, "binomial"}, {512, 8192, "linear"},
    {512, 0, "binomial"}, {0, 0, "binomial"},
};
static const struct rule scatter_rules[] = {
    {4, 0, "linear"},     {8, 2048, "binomial"},   {8, 4096, "linear"}, {8, 8192, "binomial"},
    {8, 0, "linear"},     {32, 16384, "binomial"}, {32, 0, "linear"},   {64, 512, "binomial"},
    {64, 8192, "linear"}, {64, 16384, "binomial"}, {64, 0, "linear"},   {0, 512, "binomial"},
    {0, 0, "linear"},
};
static const struct rule allgather_rules[] = {
    {32, 0, "doubling"},        {64, 1024, "doubling"},
    {64, 65536, "neighbor"},    {64, 0, "ring"},
    {128, 512, "doubling"},     {128, 65536, "neighbor"},
    {128, 0, "ring"},           {256, 512, "doubling"},
    {256, 131072, "neighbor"},  {256, 524288, "ring"},
    {256, 1048576, "neighbor"}, {256, 0, "ring"},
    {512, 32, "doubling"},      {512, 128, "bruck"},
    {512, 1024, "doubling"},    {512, 131072, "neighbor"},
    {512, 524288, "ring"},      {512, 1048576, "neighbor"},
    {512, 0, "ring"},           {1024, 64, "doubling"},
    {1024, 256, "bruck"},       {1024, 2048, "doubling"},
    {1024, 0, "neighbor"},      {2048, 4, "doubling"},
    {2048, 8, "bruck"},         {2048, 16, "doubling"},
    {2048, 32, "bruck"},        {2048, 256, "doubling"},
    {2048, 512, "bruck"},       {2048, 4096, "doubling"},
    {2048, 0, "neighbor"},      {4096, 32, "bruck"},
    {4096, 128, "doubling"},    {4096, 512, "bruck"},
    {4096, 4096, "doubling"},   {4096, 0, "neighbor"},
    {0, 2, "doubling"},         {0, 8, "bruck"},
    {0, 16, "doubling"},        {0, 512, "bruck"},
    {0, 4096, "doubling"},      {0, 0, "neighbor"},
};
static const struct rule allgatherv_rules[] = {
    {3, 2048, "ring"},
    {3, 4096, "neighbor"},
    {3, 8192, "ring"},
    {3, 0, "neighbor"},
    {8, 256, "gather+bcast"},
    {8, 4096, "neighbor"},
    {8, 8192, "ring"},
    {8, 16384, "neighbor"},
    {8, 262144, "bruck"},
    {8, 0, "neighbor"},
    {16, 1024, "gather+bcast"},
    {16, 0, "bruck"},
    {32, 128, "gather+bcast"},
    {32, 262144, "bruck"},
    {32, 0, "ring"},
    {64, 256, "gather+bcast"},
    {64, 8192, "bruck"},
    {64, 0, "ring"},
    {128, 256, "gather+bcast"},
    {128, 4096, "bruck"},
    {128, 0, "ring"},
    {256, 1024, "bruck"},
    {256, 65536, "neighbor"},
    {256, 0, "ring"},
    {512, 1024, "bruck"},
    {512, 0, "ring"},
    {1024, 512, "bruck"},
    {1024, 1024, "gather+bcast"},
    {1024, 4096, "bruck"},
    {1024, 1048576, "neighbor"},
    {1024, 0, "ring"},
    {0, 4096, "bruck"},
    {0, 0, "neighbor"},
};
static const struct rule alltoall_rules[] = {
    {3, 32768, "shifted"},   {3, 262144, "linear"},   {3, 0, "shifted"},    {8, 524288, "linear"},
    {8, 1048576, "shifted"}, {8, 0, "linear"},        {16, 0, "linear"},    {32, 4, "linear"},
    {32, 512, "bruck"},      {32, 0, "linear"},       {64, 512, "bruck"},   {64, 0, "linear"},
    {256, 1024, "bruck"},    {256, 262144, "linear"}, {256, 0, "shifted"},  {512, 1024, "bruck"},
    {512, 32768, "linear"},  {512, 0, "shifted"},     {1024, 512, "bruck"}, {1024, 262144, "linear"},
    {1024, 0, "shifted"},    {2048, 512, "bruck"},    {2048, 0, "linear"},  {4096, 1024, "bruck"},
    {4096, 0, "linear"},     {0, 2048, "bruck"},      {0, 0, "linear"},
};
static const struct rule alltoallv_rules[] = {
    {4, 0, "shifted"},  {64, 0, "linear"},    {128, 0, "shifted"},
    {256, 0, "linear"}, {1024, 0, "shifted"}, {0, 0, "linear"},
};
static const struct rule reduce_rules[] = {
    {4, 8, "rabenseifner"},
    {4, 16, "binary"},
    {4, 32, "chain"},
    {4, 262144, "linear"},
    {4, 0, "chain"},
    {8, 4096, "binary"},
    {8, 65536, "chain"},
    {8, 262144, "binomial"},
    {8, 524288, "linear"},
    {8, 1048576, "binomial"},
    {8, 0, "linear"},
    {16, 8192, "binary"},
    {16, 0, "binomial"},
    {32, 4096, "binary"},
    {32, 0, "binomial"},
    {256, 0, "binomial"},
    {512, 8192, "binomial"},
    {512, 16384, "in-order-binary"},
    {512, 0, "binomial"},
    {2048, 0, "binomial"},
    {4096, 512, "binomial"},
    {4096, 1024, "in-order-binary"},
    {4096, 8192, "binomial"},
    {4096, 16384, "in-order-binary"},
    {4096, 0, "binomial"},
    {0, 16, "binomial"},
    {0, 32, "in-order-binary"},
    {0, 1024, "binomial"},
    {0, 2048, "in-order-binary"},
    {0, 8192, "binomial"},
    {0, 16384, "in-order-binary"},
    {0, 0, "binomial"},
};
static const struct rule allreduce_rules[] = {
    {4, 8, "ring"},
    {4, 4096, "doubling"},
    {4, 8192, "ring"},
    {4, 16384, "doubling"},
    {4, 262144, "ring"},
    {4, 0, "rabenseifner"},
    {8, 16, "ring"},
    {8, 8192, "doubling"},
    {8, 0, "rabenseifner"},
    {16, 8192, "doubling"},
    {16, 0, "rabenseifner"},
    {32, 64, "ring"},
    {32, 4096, "doubling"},
    {32, 0, "rabenseifner"},
    {64, 128, "ring"},
    {64, 0, "rabenseifner"},
    {128, 262144, "doubling"},
    {128, 0, "rabenseifner"},
    {256, 131072, "reduce+bcast"},
    {256, 262144, "doubling"},
    {256, 0, "rabenseifner"},
    {512, 4096, "reduce+bcast"},
    {512, 0, "rabenseifner"},
    {2048, 2048, "reduce+bcast"},
    {2048, 16384, "doubling"},
    {2048, 0, "rabenseifner"},
    {4096, 2048, "reduce+bcast"},
    {4096, 4096, "ring"},
    {4096, 16384, "doubling"},
    {4096, 0, "rabenseifner"},
    {0, 2048, "reduce+bcast"},
    {0, 16384, "ring"},
    {0, 32768, "doubling"},
    {0, 0, "rabenseifner"},
};
static const struct rule reduce_scatter_rules[] = {
    {4, 65536, "ring"},
    {4, 131072, "butterfly"},
    {4, 0, "ring"},
    {8, 8, "reduce+scatter"},
    {8, 262144, "halving"},
    {8, 0, "ring"},
    {32, 262144, "halving"},
    {32, 0, "ring"},
    {64, 64, "reduce+scatter"},
    {64, 2048, "halving"},
    {64, 524288, "butterfly"},
    {64, 0, "ring"},
    {128, 256, "reduce+scatter"},
    {128, 512, "halving"},
    {128, 2048, "butterfly"},
    {128, 4096, "halving"},
    {128, 0, "butterfly"},
    {256, 256, "reduce+scatter"},
    {256, 512, "halving"},
    {256, 0, "butterfly"},
    {512, 256, "reduce+scatter"},
    {512, 1024, "halving"},
    {512, 0, "butterfly"},
    {1024, 512, "reduce+scatter"},
    {1024, 2048, "halving"},
    {1024, 8192, "butterfly"},
    {1024, 16384, "halving"},
    {1024, 0, "butterfly"},
    {2048, 512, "reduce+scatter"},
    {2048, 4096, "halving"},
    {2048, 16384, "butterfly"},
    {2048, 32768, "halving"},
    {2048, 0, "butterfly"},
    {4096, 512, "reduce+scatter"},
    {4096, 4096, "halving"},
    {4096, 0, "butterfly"},
    {0, 1024, "reduce+scatter"},
    {0, 8192, "halving"},
    {0, 0, "butterfly"},
};

static const char *first_rule(const struct rule *rule, uint32_t n, double bytes)
{
    while ((rule->members && n >= rule->members) || (rule->bytes > 0 && bytes >= rule->bytes)) rule++;
    return rule->name;
}

const char *fc_collective_openmpi(const struct fc_collective_call *call)
{
    uint32_t n = call->n, power = fc_power_of_two(n);
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
