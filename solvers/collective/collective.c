/* collective.c - a collective call as rounds of point-to-point messages: the table of algorithms, and the
 * messages of a call.
 *
 * A member starts a round when it has sent and received all of the round before; it is in a round only when
 * it sends or receives in it. Who adds what comes to what it has, and who packs blocks, is marked on the messages (enum
 * fc_message_work). Limits: closed forms know of neither; no algorithm knows which members share a node; an operation on nothing (0 bytes) exchanges
 * no message, the barrier apart. */
#include "solvers/collective/collective_parts.h"

#include <stdlib.h>
#include <string.h>

#define MPICH "Thakur, Rabenseifner & Gropp 2005"
#define OMPI "Open MPI coll/base"
#define QSNET "QsNET, Petrini et al. 2001"
#define DEPOSIT "BG/L deposit bit, Adiga et al. 2005"
#define ANY FC_ANY_MEMBERS
#define POWER FC_POWER_OF_TWO_MEMBERS
#define EVEN FC_EVEN_MEMBERS
/* Operation, name, source, which numbers of members, then names of functions: messages (fc_build_ or fc_alike_), closed
 * form (fc_time_, of BUILT that of the messages' name, of UNTIMED none), what the network does (fc_hardware_). Declared and listed. */
#define ALGORITHMS(BUILT, UNTIMED, ALIKE, HARD_BUILT, HARD_ALIKE)                                                      \
    ALIKE(BARRIER, "dissemination", "Hensgen, Finkel & Manber 1988", ANY, dissemination, dissemination)                \
    BUILT(BARRIER, "doubling", OMPI, ANY, barrier_doubling)                                                            \
    BUILT(BARRIER, "linear", OMPI, ANY, barrier_linear)                                                                \
    BUILT(BARRIER, "binomial", OMPI ", tree", ANY, barrier_binomial)                                                   \
    BUILT(BARRIER, "double-ring", OMPI, ANY, double_ring)                                                              \
    BUILT(BARRIER, "4-ary", "QsNET's software tree, Petrini et al. 2002", ANY, barrier_quaternary)                     \
    HARD_ALIKE(BARRIER, "hardware", QSNET ": hgsync", ANY, dissemination, barrier)                                     \
    HARD_ALIKE(BARRIER, "hardware-event", QSNET ": hgsyncEvent", ANY, dissemination, barrier_event)                    \
    HARD_ALIKE(BARRIER, "elan", QSNET ": gsync", ANY, dissemination, barrier_elan)                                     \
    BUILT(BCAST, "binomial", MPICH, ANY, bcast_binomial)                                                               \
    BUILT(BCAST, "binomial-doubling", OMPI ": bmtree", ANY, bcast_doubling)                                            \
    BUILT(BCAST, "linear", OMPI, ANY, bcast_linear)                                                                    \
    BUILT(BCAST, "chain", OMPI, ANY, bcast_chain)                                                                      \
    BUILT(BCAST, "pipeline", "chain in segments of 32 KiB, " OMPI, ANY, bcast_pipeline)                                \
    BUILT(BCAST, "3-chains", OMPI, ANY, bcast_chains3)                                                                 \
    BUILT(BCAST, "4-chains", OMPI, ANY, bcast_chains4)                                                                 \
    BUILT(BCAST, "binary", OMPI, ANY, bcast_binary)                                                                    \
    BUILT(BCAST, "binary-segments", "in segments of 32 KiB, " OMPI, ANY, bcast_binary_segments)                        \
    BUILT(BCAST, "binomial-segments", "in segments of 32 KiB, " OMPI, ANY, bcast_binomial_segments)                    \
    BUILT(BCAST, "4-nomial", OMPI ", knomial", ANY, bcast_knomial)                                                     \
    UNTIMED(BCAST, "split-binary", OMPI, ANY, bcast_split)                                                             \
    BUILT(BCAST, "scatter+doubling", MPICH, POWER, bcast_scatter_doubling)                                             \
    UNTIMED(BCAST, "scatter+doubling-any", MPICH, ANY, bcast_scatter_doubling_any)                                     \
    BUILT(BCAST, "scatter+ring", "Barnett et al. 1993 (van de Geijn)", ANY, bcast_scatter_ring)                        \
    HARD_BUILT(BCAST, "hardware", QSNET ": hbcast", ANY, bcast_binomial, bcast)                                        \
    HARD_BUILT(BCAST, "elan", QSNET ": bcast", ANY, bcast_binomial, bcast_elan)                                        \
    HARD_BUILT(BCAST, "line", DEPOSIT, ANY, bcast_chain, line)                                                         \
    HARD_BUILT(BCAST, "plane", DEPOSIT, ANY, bcast_chain, plane)                                                       \
    BUILT(GATHER, "binomial", MPICH, ANY, gather_binomial)                                                             \
    BUILT(GATHER, "linear", OMPI, ANY, gather_linear)                                                                  \
    UNTIMED(GATHER, "linear-sync", OMPI, ANY, gather_sync)                                                             \
    BUILT(SCATTER, "binomial", MPICH, ANY, scatter_binomial)                                                           \
    BUILT(SCATTER, "linear", OMPI, ANY, scatter_linear)                                                                \
    BUILT(SCATTER, "linear-nb", OMPI, ANY, scatter_nb)                                                                 \
    ALIKE(ALLGATHER, "doubling", MPICH, POWER, allgather_doubling, allgather_doubling)                                 \
    UNTIMED(ALLGATHER, "doubling-any", MPICH, ANY, allgather_doubling_any)                                             \
    ALIKE(ALLGATHER, "bruck", "Bruck et al. 1997", ANY, allgather_bruck, allgather_bruck)                              \
    UNTIMED(ALLGATHER, "4-bruck", "Bruck et al. 1997", ANY, allgather_bruck_4)                                         \
    UNTIMED(ALLGATHER, "8-bruck", "Bruck et al. 1997", ANY, allgather_bruck_8)                                         \
    BUILT(ALLGATHER, "sparbit", "Loch & Koslovski 2021", ANY, sparbit)                                                 \
    ALIKE(ALLGATHER, "ring", MPICH, ANY, allgather_ring, allgather_ring)                                               \
    ALIKE(ALLGATHER, "neighbor", "Chen et al. 2005", EVEN, neighbor, neighbor)                                         \
    BUILT(ALLGATHER, "gather+bcast", OMPI, ANY, allgather_gather_bcast)                                                \
    ALIKE(ALLGATHER, "linear", "Open MPI coll/libnbc", ANY, allgather_linear, alltoall_linear)                         \
    ALIKE(ALLTOALL, "bruck", "Bruck et al. 1997", ANY, alltoall_bruck, alltoall_bruck)                                 \
    UNTIMED(ALLTOALL, "4-bruck", "Bruck et al. 1997", ANY, alltoall_bruck_4)                                           \
    UNTIMED(ALLTOALL, "8-bruck", "Bruck et al. 1997", ANY, alltoall_bruck_8)                                           \
    ALIKE(ALLTOALL, "linear", MPICH, ANY, alltoall_linear, alltoall_linear)                                            \
    ALIKE(ALLTOALL, "pairwise", MPICH, ANY, alltoall_pairwise, pairwise)                                               \
    ALIKE(ALLTOALL, "shifted", OMPI ", pairwise", ANY, alltoall_shifted, pairwise)                                     \
    UNTIMED(ALLTOALL, "scattered", "MPICH", ANY, scattered)                                                            \
    ALIKE(ALLTOALLV, "linear", MPICH, ANY, alltoall_linear, alltoall_linear)                                           \
    ALIKE(ALLTOALLV, "pairwise", MPICH, ANY, alltoall_pairwise, pairwise)                                              \
    ALIKE(ALLTOALLV, "shifted", OMPI ", pairwise", ANY, alltoall_shifted, pairwise)                                    \
    UNTIMED(ALLTOALLV, "scattered", "MPICH", ANY, scattered)                                                           \
    BUILT(REDUCE, "binomial", MPICH, ANY, reduce_binomial)                                                             \
    BUILT(REDUCE, "linear", OMPI, ANY, reduce_linear)                                                                  \
    BUILT(REDUCE, "chain", OMPI, ANY, reduce_chain)                                                                    \
    BUILT(REDUCE, "2-chains", OMPI, ANY, reduce_chains)                                                                \
    BUILT(REDUCE, "3-chains", OMPI, ANY, reduce_chains3)                                                               \
    BUILT(REDUCE, "4-chains", OMPI, ANY, reduce_chains4)                                                               \
    BUILT(REDUCE, "binary", OMPI, ANY, reduce_binary)                                                                  \
    BUILT(REDUCE, "in-order-binary", OMPI, ANY, reduce_in_order)                                                       \
    UNTIMED(REDUCE, "pipeline", "chain in segments of 32 KiB, " OMPI, ANY, reduce_pipeline)                            \
    UNTIMED(REDUCE, "binary-segments", "in segments of 32 KiB, " OMPI, ANY, reduce_binary_segments)                    \
    UNTIMED(REDUCE, "binomial-segments", "in segments of 32 KiB, " OMPI, ANY, reduce_binomial_segments)                \
    BUILT(REDUCE, "rabenseifner", "Rabenseifner 2004; " MPICH, ANY, reduce_rabenseifner)                               \
    UNTIMED(REDUCE, "rabenseifner-halves", OMPI ", redscat_gather", ANY, reduce_halves)                                \
    BUILT(ALLREDUCE, "doubling", MPICH, ANY, allreduce_doubling)                                                       \
    BUILT(ALLREDUCE, "rabenseifner", "Rabenseifner 2004; " MPICH, ANY, allreduce_rabenseifner)                         \
    BUILT(ALLREDUCE, "rabenseifner-halves", OMPI ", redscat_allgather", ANY, allreduce_halves)                         \
    ALIKE(ALLREDUCE, "ring", "Patarasu & Yuan 2009", ANY, allreduce_ring, allreduce_ring)                              \
    BUILT(ALLREDUCE, "ring-segments", "in parts of 1 MiB, " OMPI, ANY, allreduce_ring_segments)                        \
    BUILT(ALLREDUCE, "reduce+bcast", OMPI ", both binomial", ANY, allreduce_reduce_bcast)                              \
    BUILT(ALLREDUCE, "allgather+reduce", OMPI, ANY, allreduce_allgather)                                               \
    BUILT(ALLREDUCE, "linear", OMPI, ANY, allreduce_linear)                                                            \
    BUILT(REDUCE_SCATTER, "halving", MPICH, ANY, halving)                                                              \
    UNTIMED(REDUCE_SCATTER, "doubling", MPICH, ANY, reduce_scatter_doubling)                                           \
    UNTIMED(REDUCE_SCATTER, "butterfly", "Traeff 2005; " OMPI, ANY, butterfly)                                         \
    BUILT(REDUCE_SCATTER, "noncommutative", "Traeff 2005; MPICH", POWER, noncommutative)                               \
    ALIKE(REDUCE_SCATTER, "pairwise", MPICH, ANY, reduce_scatter_pairwise, pairwise)                                   \
    ALIKE(REDUCE_SCATTER, "ring", OMPI, ANY, reduce_scatter_ring, allgather_ring)                                      \
    BUILT(REDUCE_SCATTER, "reduce+scatter", OMPI, ANY, reduce_scatter_reduce_scatter)                                  \
    BUILT(SCAN, "doubling", MPICH, ANY, scan_doubling)                                                                 \
    BUILT(SCAN, "linear", OMPI, ANY, scan_linear)

#define TIME(name) double fc_time_##name(const struct fc_loggp *, uint32_t, double);
#define DECLARE_BUILT(op, name, source, need, part)                                                                    \
    void fc_build_##part(struct fc_schedule *);                                                                        \
    TIME(part)
#define DECLARE_UNTIMED(op, name, source, need, part) void fc_build_##part(struct fc_schedule *);
#define DECLARE_ALIKE(op, name, source, need, part, time)                                                              \
    extern const struct fc_collective_alike fc_alike_##part;                                                           \
    TIME(time)
#define DECLARE_HARD_BUILT(op, name, source, need, part, hard)                                                         \
    void fc_build_##part(struct fc_schedule *);                                                                        \
    extern const struct fc_collective_hardware fc_hardware_##hard;
#define DECLARE_HARD_ALIKE(op, name, source, need, part, hard)                                                         \
    extern const struct fc_collective_alike fc_alike_##part;                                                           \
    extern const struct fc_collective_hardware fc_hardware_##hard;
ALGORITHMS(DECLARE_BUILT, DECLARE_UNTIMED, DECLARE_ALIKE, DECLARE_HARD_BUILT, DECLARE_HARD_ALIKE)

#define BUILT(op, name, source, need, part)                                                                            \
    {FC_OP_##op, name, source, need, fc_build_##part, NULL, fc_time_##part, NULL},
#define UNTIMED(op, name, source, need, part) {FC_OP_##op, name, source, need, fc_build_##part, NULL, NULL, NULL},
#define ALIKE(op, name, source, need, part, time)                                                                      \
    {FC_OP_##op, name, source, need, NULL, &fc_alike_##part, fc_time_##time, NULL},
#define HARD_BUILT(op, name, source, need, part, hard)                                                                 \
    {FC_OP_##op, name, source, need, fc_build_##part, NULL, NULL, &fc_hardware_##hard},
#define HARD_ALIKE(op, name, source, need, part, hard)                                                                 \
    {FC_OP_##op, name, source, need, NULL, &fc_alike_##part, NULL, &fc_hardware_##hard},
const struct fc_collective_algorithm fc_collective_algorithms[] = {
    ALGORITHMS(BUILT, UNTIMED, ALIKE, HARD_BUILT, HARD_ALIKE){FC_N_OPS, NULL, NULL, ANY, NULL, NULL, NULL, NULL},
};

enum fc_code fc_collective_fits(const struct fc_collective_algorithm *algorithm, uint32_t n, struct fc_status *st)
{
    const char *op = fc_op_names[algorithm->op];
    if (algorithm->need == FC_POWER_OF_TWO_MEMBERS && n > 0 && fc_floor_power_of_two(n) != n)
        return fc_refuse(st, FC_INPUT, "%s by %s needs a power of two as members, not %u", op, algorithm->name, n);
    if (algorithm->need == FC_EVEN_MEMBERS && n > 1 && n % 2)
        return fc_refuse(st, FC_INPUT, "%s by %s needs an even number of members, not %u", op, algorithm->name, n);
    return FC_OK;
}

double fc_collective_time_s(const struct fc_collective_algorithm *algorithm, const struct fc_loggp *p, uint32_t n,
                            double bytes)
{
    if (n < 2 || (algorithm->op != FC_OP_BARRIER && !(bytes > 0))) return 0;
    return algorithm->time_s ? algorithm->time_s(p, n, bytes) : NAN;
}

/* ---- sizes ---- */

static bool has_blocks(enum fc_op op)
{
    return op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_ALLGATHER || op == FC_OP_REDUCE_SCATTER;
}

static enum fc_code check(enum fc_op op, uint32_t n, uint32_t root, double bytes, const double *list,
                          struct fc_status *st)
{
    if ((unsigned)op >= FC_N_OPS || !fc_collective_named(op, NULL))
        return fc_refuse(st, FC_INPUT, "%s is no collective operation",
                         (unsigned)op < FC_N_OPS ? fc_op_names[op] : "this");
    if (n == 0 || root >= n)
        return fc_refuse(st, FC_INPUT, "%s: root %u is not among the %u members", fc_op_names[op], root, n);
    uint64_t n_list = !list ? 0 : op == FC_OP_ALLTOALLV ? (uint64_t)n * n : has_blocks(op) ? n : 0;
    if (op == FC_OP_ALLTOALLV && !list)
        return fc_refuse(st, FC_INPUT, "alltoallv: the bytes from each to each are missing");
    for (uint64_t i = 0; i < n_list; i++)
        if (!(list[i] >= 0) || isinf(list[i]))
            return fc_refuse(st, FC_INPUT, "%s: %g bytes (expected 0 or more)", fc_op_names[op], list[i]);
    if (!(bytes >= 0) || isinf(bytes))
        return fc_refuse(st, FC_INPUT, "%s: %g bytes (expected 0 or more)", fc_op_names[op], bytes);
    return FC_OK;
}

/* Bytes that decide: of the vector, of all blocks, or of what a member sends in an alltoall (mean for
 * alltoallv). */
static double total_bytes(enum fc_op op, uint32_t n, double bytes, const double *list)
{
    double sum = 0;
    if (op == FC_OP_ALLTOALL) return n * bytes;
    if (op == FC_OP_ALLTOALLV) {
        for (uint64_t i = 0; i < (uint64_t)n * n; i++) sum += list[i];
        return sum / n;
    }
    if (!has_blocks(op)) return bytes;
    if (!list) return n * bytes;
    for (uint32_t i = 0; i < n; i++) sum += list[i];
    return sum;
}

/* ---- building ---- */

static enum fc_code append(struct fc_schedule *s, struct fc_arena *arena, struct fc_message **messages,
                           uint64_t *n_messages, struct fc_status *st)
{
    if (s->full)
        return fc_out_of_memory(st, "after %llu messages of one collective call", (unsigned long long)s->n_messages);
    struct fc_message *all = fc_alloc(arena, *n_messages + s->n_messages, sizeof *all, st);
    if (!all) return st->code;
    if (*n_messages) memcpy(all, *messages, *n_messages * sizeof *all);
    if (s->n_messages) memcpy(all + *n_messages, s->messages, s->n_messages * sizeof *all);
    *messages = all;
    *n_messages += s->n_messages;
    return FC_OK;
}

enum fc_code fc_collective_build(const struct fc_collective_algorithm *algorithm, uint32_t n, uint32_t root,
                                 double bytes, const double *list, struct fc_arena *arena, struct fc_message **messages,
                                 uint64_t *n_messages, struct fc_status *st)
{
    if (check(algorithm->op, n, root, bytes, list, st)) return st->code;
    if (fc_collective_fits(algorithm, n, st)) return st->code;
    bool nothing = algorithm->op != FC_OP_BARRIER && !(total_bytes(algorithm->op, n, bytes, list) > 0);
    if (n == 1 || nothing) return FC_OK;
    bool rooted = algorithm->op == FC_OP_BCAST || algorithm->op == FC_OP_GATHER || algorithm->op == FC_OP_SCATTER ||
                  algorithm->op == FC_OP_REDUCE;
    struct fc_schedule s = {
        .n = n, .root = rooted ? root : 0, .bytes = bytes, .list = list, .work = fc_op_work(algorithm->op)};
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    if (list && has_blocks(algorithm->op)) {
        s.before = fc_alloc(&scratch, (size_t)n + 1, sizeof *s.before, st);
        for (uint32_t i = 0; s.before && i < n; i++) s.before[i + 1] = s.before[i] + list[i];
    }
    if (!st->code) {
        if (algorithm->alike)
            fc_collective_alike_build(algorithm->alike, &s);
        else
            algorithm->build(&s);
        append(&s, arena, messages, n_messages, st);
    }
    free(s.messages);
    return st->code;
}

enum fc_code fc_collective_messages_by(const struct fc_collective_choice *choice, enum fc_op op, uint32_t n,
                                       uint32_t root, double bytes, const double *list, struct fc_arena *arena,
                                       struct fc_message **messages, uint64_t *n_messages, struct fc_status *st)
{
    if (check(op, n, root, bytes, list, st)) return st->code;
    bool uneven = list && has_blocks(op) && fc_sizes_differ(list, n);
    struct fc_collective_call call = {op, n, total_bytes(op, n, bytes, list), uneven};
    return fc_collective_build(fc_collective_select(choice, &call), n, root, bytes, list, arena, messages, n_messages,
                               st);
}
