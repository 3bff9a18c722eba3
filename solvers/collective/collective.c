/* collective.c - a collective call as rounds of point-to-point messages: the table of algorithms, and the
 * messages of a call.
 *
 * A member starts a round when it has sent and received all of the round before; it is in a round only when
 * it sends or receives in it. Who adds what comes to what it has, and who packs blocks, is marked on the messages (enum
 * fc_message_work). Limits: closed forms know of neither; no algorithm knows which members share a node; an operation on nothing (0 bytes) exchanges
 * no message, the barrier apart. */
#include "solvers/collective/collective_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MPICH "Thakur, Rabenseifner & Gropp 2005"
#define OMPI "Open MPI coll/base"
#define QSNET "QsNET, Petrini et al. 2001"
#define DEPOSIT "BG/L deposit bit, Adiga et al. 2005"
#define ALIKE(part) NULL, &fc_alike_##part, fc_time_##part, NULL
#define BUILD(part) fc_build_##part, NULL, fc_time_##part, NULL
#define ALIKE_BY(part, formula) NULL, &fc_alike_##part, fc_time_##formula, NULL
#define ANY FC_ANY_MEMBERS
#define POWER FC_POWER_OF_TWO_MEMBERS
#define EVEN FC_EVEN_MEMBERS
const struct fc_collective_algorithm fc_collective_algorithms[] = {
    {FC_OP_BARRIER, "dissemination", "Hensgen, Finkel & Manber 1988", ANY, ALIKE(dissemination)},
    {FC_OP_BARRIER, "doubling", OMPI, ANY, BUILD(barrier_doubling)},
    {FC_OP_BARRIER, "linear", OMPI, ANY, BUILD(barrier_linear)},
    {FC_OP_BARRIER, "binomial", OMPI ", tree", ANY, BUILD(barrier_binomial)},
    {FC_OP_BARRIER, "4-ary", "QsNET's software tree, Petrini et al. 2002", ANY, BUILD(barrier_quaternary)},
    {FC_OP_BARRIER, "hardware", QSNET ": hgsync", ANY, NULL, &fc_alike_dissemination, NULL,
     &fc_hardware_barrier},
    {FC_OP_BARRIER, "hardware-event", QSNET ": hgsyncEvent", ANY, NULL, &fc_alike_dissemination, NULL,
     &fc_hardware_barrier_event},
    {FC_OP_BARRIER, "elan", QSNET ": gsync", ANY, NULL, &fc_alike_dissemination, NULL,
     &fc_hardware_barrier_elan},
    {FC_OP_BCAST, "binomial", MPICH, ANY, BUILD(bcast_binomial)},
    {FC_OP_BCAST, "linear", OMPI, ANY, BUILD(bcast_linear)},
    {FC_OP_BCAST, "chain", OMPI, ANY, BUILD(bcast_chain)},
    {FC_OP_BCAST, "pipeline", "chain in segments of 32 KiB, " OMPI, ANY, BUILD(bcast_pipeline)},
    {FC_OP_BCAST, "binary", OMPI, ANY, BUILD(bcast_binary)},
    {FC_OP_BCAST, "binary-segments", "in segments of 32 KiB, " OMPI, ANY, BUILD(bcast_binary_segments)},
    {FC_OP_BCAST, "binomial-segments", "in segments of 32 KiB, " OMPI, ANY, BUILD(bcast_binomial_segments)},
    {FC_OP_BCAST, "4-nomial", OMPI ", knomial", ANY, BUILD(bcast_knomial)},
    {FC_OP_BCAST, "scatter+doubling", MPICH, POWER, BUILD(bcast_scatter_doubling)},
    {FC_OP_BCAST, "scatter+ring", "Barnett et al. 1993 (van de Geijn)", ANY, BUILD(bcast_scatter_ring)},
    {FC_OP_BCAST, "hardware", QSNET ": hbcast", ANY, fc_build_bcast_binomial, NULL, NULL, &fc_hardware_bcast},
    {FC_OP_BCAST, "elan", QSNET ": bcast", ANY, fc_build_bcast_binomial, NULL, NULL, &fc_hardware_bcast_elan},
    {FC_OP_BCAST, "line", DEPOSIT, ANY, fc_build_bcast_chain, NULL, NULL, &fc_hardware_line},
    {FC_OP_BCAST, "plane", DEPOSIT, ANY, fc_build_bcast_chain, NULL, NULL, &fc_hardware_plane},
    {FC_OP_GATHER, "binomial", MPICH, ANY, BUILD(gather_binomial)},
    {FC_OP_GATHER, "linear", OMPI, ANY, BUILD(gather_linear)},
    {FC_OP_SCATTER, "binomial", MPICH, ANY, BUILD(scatter_binomial)},
    {FC_OP_SCATTER, "linear", OMPI, ANY, BUILD(scatter_linear)},
    {FC_OP_ALLGATHER, "doubling", MPICH, POWER, ALIKE(allgather_doubling)},
    {FC_OP_ALLGATHER, "bruck", "Bruck et al. 1997", ANY, ALIKE(allgather_bruck)},
    {FC_OP_ALLGATHER, "ring", MPICH, ANY, ALIKE(allgather_ring)},
    {FC_OP_ALLGATHER, "neighbor", "Chen et al. 2005", EVEN, ALIKE(neighbor)},
    {FC_OP_ALLGATHER, "gather+bcast", OMPI, ANY, BUILD(allgather_gather_bcast)},
    {FC_OP_ALLGATHER, "linear", "Open MPI coll/libnbc", ANY, ALIKE_BY(allgather_linear, alltoall_linear)},
    {FC_OP_ALLTOALL, "bruck", "Bruck et al. 1997", ANY, ALIKE(alltoall_bruck)},
    {FC_OP_ALLTOALL, "linear", MPICH, ANY, ALIKE(alltoall_linear)},
    {FC_OP_ALLTOALL, "pairwise", MPICH, ANY, ALIKE_BY(alltoall_pairwise, pairwise)},
    {FC_OP_ALLTOALLV, "linear", MPICH, ANY, ALIKE(alltoall_linear)},
    {FC_OP_ALLTOALLV, "pairwise", OMPI, ANY, ALIKE_BY(alltoall_pairwise, pairwise)},
    {FC_OP_REDUCE, "binomial", MPICH, ANY, BUILD(reduce_binomial)},
    {FC_OP_REDUCE, "linear", OMPI, ANY, BUILD(reduce_linear)},
    {FC_OP_REDUCE, "chain", OMPI, ANY, BUILD(reduce_chain)},
    {FC_OP_REDUCE, "2-chains", OMPI, ANY, BUILD(reduce_chains)},
    {FC_OP_REDUCE, "binary", OMPI, ANY, BUILD(reduce_binary)},
    {FC_OP_REDUCE, "rabenseifner", "Rabenseifner 2004; " MPICH, ANY, BUILD(reduce_rabenseifner)},
    {FC_OP_ALLREDUCE, "doubling", MPICH, ANY, BUILD(allreduce_doubling)},
    {FC_OP_ALLREDUCE, "rabenseifner", "Rabenseifner 2004; " MPICH, ANY, BUILD(allreduce_rabenseifner)},
    {FC_OP_ALLREDUCE, "ring", "Patarasu & Yuan 2009", ANY, ALIKE(allreduce_ring)},
    {FC_OP_ALLREDUCE, "reduce+bcast", OMPI ", both binomial", ANY, BUILD(allreduce_reduce_bcast)},
    {FC_OP_ALLREDUCE, "linear", OMPI, ANY, BUILD(allreduce_linear)},
    {FC_OP_REDUCE_SCATTER, "halving", MPICH, ANY, BUILD(halving)},
    {FC_OP_REDUCE_SCATTER, "pairwise", MPICH, ANY, ALIKE_BY(reduce_scatter_pairwise, pairwise)},
    {FC_OP_REDUCE_SCATTER, "ring", OMPI, ANY, ALIKE_BY(reduce_scatter_ring, allgather_ring)},
    {FC_OP_REDUCE_SCATTER, "reduce+scatter", OMPI, ANY, BUILD(reduce_scatter_reduce_scatter)},
    {FC_OP_SCAN, "doubling", MPICH, ANY, BUILD(scan_doubling)},
    {FC_OP_SCAN, "linear", OMPI, ANY, BUILD(scan_linear)},
    {FC_N_OPS, NULL, NULL, ANY, NULL, NULL, NULL, NULL},
};

enum fc_code fc_collective_fits(const struct fc_collective_algorithm *algorithm, uint32_t n,
                                struct fc_status *st)
{
    const char *op = fc_op_names[algorithm->op];
    if (algorithm->need == FC_POWER_OF_TWO_MEMBERS && n > 0 && fc_power_of_two(n) != n)
        return fc_refuse(st, FC_INPUT, "%s by %s needs a power of two as members, not %u", op,
                         algorithm->name, n);
    if (algorithm->need == FC_EVEN_MEMBERS && n > 1 && n % 2)
        return fc_refuse(st, FC_INPUT, "%s by %s needs an even number of members, not %u", op,
                         algorithm->name, n);
    return FC_OK;
}

double fc_collective_time_s(const struct fc_collective_algorithm *algorithm, const struct fc_loggp *p,
                            uint32_t n, double bytes)
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
        return fc_out_of_memory(st, "after %llu messages of one collective call",
                         (unsigned long long)s->n_messages);
    struct fc_message *all = fc_alloc(arena, *n_messages + s->n_messages, sizeof *all, st);
    if (!all) return st->code;
    if (*n_messages) memcpy(all, *messages, *n_messages * sizeof *all);
    if (s->n_messages) memcpy(all + *n_messages, s->messages, s->n_messages * sizeof *all);
    *messages = all;
    *n_messages += s->n_messages;
    return FC_OK;
}

enum fc_code fc_collective_build(const struct fc_collective_algorithm *algorithm, uint32_t n, uint32_t root,
                                 double bytes, const double *list, struct fc_arena *arena,
                                 struct fc_message **messages, uint64_t *n_messages, struct fc_status *st)
{
    if (check(algorithm->op, n, root, bytes, list, st)) return st->code;
    if (fc_collective_fits(algorithm, n, st)) return st->code;
    bool nothing = algorithm->op != FC_OP_BARRIER && !(total_bytes(algorithm->op, n, bytes, list) > 0);
    if (n == 1 || nothing) return FC_OK;
    bool rooted = algorithm->op == FC_OP_BCAST || algorithm->op == FC_OP_GATHER ||
                  algorithm->op == FC_OP_SCATTER || algorithm->op == FC_OP_REDUCE;
    struct fc_schedule s = {.n = n, .root = rooted ? root : 0, .bytes = bytes, .list = list, .work = fc_op_work(algorithm->op)};
    struct fc_arena scratch = {0};
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
    fc_arena_free(&scratch);
    return st->code;
}

enum fc_code fc_collective_messages_by(const struct fc_collective_choice *choice, enum fc_op op, uint32_t n,
                                       uint32_t root, double bytes, const double *list,
                                       struct fc_arena *arena, struct fc_message **messages,
                                       uint64_t *n_messages, struct fc_status *st)
{
    if (check(op, n, root, bytes, list, st)) return st->code;
    bool uneven = list && has_blocks(op) && fc_sizes_differ(list, n);
    struct fc_collective_call call = {op, n, total_bytes(op, n, bytes, list), uneven};
    return fc_collective_build(fc_collective_select(choice, &call), n, root, bytes, list, arena, messages,
                               n_messages, st);
}

enum fc_code fc_collective_messages(enum fc_op op, uint32_t n, uint32_t root, double bytes,
                                    const double *list, struct fc_arena *arena, struct fc_message **messages,
                                    uint64_t *n_messages, struct fc_status *st)
{
    return fc_collective_messages_by(NULL, op, n, root, bytes, list, arena, messages, n_messages, st);
}
