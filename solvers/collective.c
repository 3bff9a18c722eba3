/* collective.c - a collective call as rounds of point-to-point messages: which algorithm, and its
 * messages.
 *
 * Algorithms and limits are MPICH's (Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005, and its defaults
 * since), which Open MPI shares but for the limits; the ring allreduce for long vectors on n != 2^k is
 * Patarasu & Yuan's, because folding would move the whole vector twice more. A member starts a round when
 * it has sent and received all of the round before. Limits: reductions cost no arithmetic; reordering
 * inside Bruck's algorithms costs no copies; no algorithm knows which members share a node; an operation
 * on nothing (0 bytes) exchanges no message, the barrier apart. */
#include "solvers/collective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits in bytes, MPICH defaults (MPIR_CVAR_<NAME>_MSG_SIZE): of the vector, or of all blocks. */
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

#define MPICH "Thakur, Rabenseifner & Gropp 2005"
const struct fc_collective_algorithm fc_collective_algorithms[] = {
    {FC_OP_BARRIER, "dissemination", "Hensgen, Finkel & Manber 1988", false, fc_barrier_dissemination},
    {FC_OP_BCAST, "binomial", MPICH, false, fc_bcast_binomial},
    {FC_OP_BCAST, "scatter+doubling", MPICH, true, fc_bcast_scatter_doubling},
    {FC_OP_BCAST, "scatter+ring", "Barnett et al. 1994 (van de Geijn); " MPICH, false, fc_bcast_scatter_ring},
    {FC_OP_GATHER, "binomial", MPICH, false, fc_gather_binomial},
    {FC_OP_SCATTER, "binomial", MPICH, false, fc_scatter_binomial},
    {FC_OP_ALLGATHER, "doubling", MPICH, true, fc_allgather_doubling},
    {FC_OP_ALLGATHER, "bruck", "Bruck et al. 1997", false, fc_allgather_bruck},
    {FC_OP_ALLGATHER, "ring", MPICH, false, fc_allgather_ring},
    {FC_OP_ALLTOALL, "bruck", "Bruck et al. 1997", false, fc_alltoall_bruck},
    {FC_OP_ALLTOALL, "linear", MPICH, false, fc_alltoall_linear},
    {FC_OP_ALLTOALL, "pairwise", MPICH, false, fc_alltoall_pairwise},
    {FC_OP_ALLTOALLV, "linear", MPICH, false, fc_alltoall_linear},
    {FC_OP_ALLTOALLV, "pairwise", "Open MPI coll/base", false, fc_alltoall_pairwise},
    {FC_OP_REDUCE, "binomial", MPICH, false, fc_reduce_binomial},
    {FC_OP_REDUCE, "rabenseifner", MPICH, false, fc_reduce_rabenseifner},
    {FC_OP_ALLREDUCE, "doubling", MPICH, false, fc_allreduce_doubling},
    {FC_OP_ALLREDUCE, "rabenseifner", MPICH, false, fc_allreduce_rabenseifner},
    {FC_OP_ALLREDUCE, "ring", "Patarasu & Yuan 2009", false, fc_allreduce_ring},
    {FC_OP_REDUCE_SCATTER, "halving", MPICH, false, fc_reduce_scatter_halving},
    {FC_OP_REDUCE_SCATTER, "pairwise", MPICH, false, fc_reduce_scatter_pairwise},
    {FC_OP_SCAN, "doubling", MPICH, false, fc_scan_doubling},
    {FC_N_OPS, NULL, NULL, false, NULL},
};

static const struct fc_collective_algorithm *named(enum fc_op op, const char *name)
{
    for (const struct fc_collective_algorithm *a = fc_collective_algorithms; a->name; a++)
        if (a->op == op && (!name || !strcmp(a->name, name))) return a;
    return NULL;
}

const struct fc_collective_algorithm *fc_collective_choose(enum fc_op op, uint32_t n, double total)
{
    bool power = fc_power_of_two(n) == n, halves = total >= (double)ELEMENT * fc_power_of_two(n);
    double block = total / n;
    switch (op) {
    case FC_OP_BCAST:
        if (total < BCAST_SHORT || n < BCAST_FEW) return named(op, "binomial");
        return named(op, power && total < BCAST_LONG ? "scatter+doubling" : "scatter+ring");
    case FC_OP_REDUCE:
        return named(op, total > REDUCE_SHORT && halves ? "rabenseifner" : "binomial");
    case FC_OP_ALLREDUCE:
        if (total <= REDUCE_SHORT || !halves) return named(op, "doubling");
        return named(op, power || total < ALLREDUCE_LONG ? "rabenseifner" : "ring");
    case FC_OP_ALLGATHER:
        if (power && total < ALLGATHER_LONG) return named(op, "doubling");
        return named(op, total < ALLGATHER_SHORT ? "bruck" : "ring");
    case FC_OP_ALLTOALL: /* total: what one member sends */
        if (block <= ALLTOALL_SHORT && n >= 8) return named(op, "bruck");
        return named(op, block <= ALLTOALL_MEDIUM ? "linear" : "pairwise");
    case FC_OP_ALLTOALLV:
        return named(op, block <= ALLTOALL_MEDIUM ? "linear" : "pairwise");
    case FC_OP_REDUCE_SCATTER:
        return named(op, total < REDUCE_SCATTER_LONG ? "halving" : "pairwise");
    default:
        return named(op, NULL);
    }
}

void fc_schedule_grow(struct fc_schedule *s)
{
    uint64_t capacity = s->capacity ? 2 * s->capacity : 64;
    struct fc_message *more = s->full ? NULL : realloc(s->messages, capacity * sizeof *more);
    if (!more) {
        s->full = true;
        return;
    }
    s->messages = more;
    s->capacity = capacity;
}

/* ---- sizes ---- */

static bool has_blocks(enum fc_op op)
{
    return op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_ALLGATHER || op == FC_OP_REDUCE_SCATTER;
}

static enum fc_code check(enum fc_op op, uint32_t n, uint32_t root, double bytes, const double *list,
                          struct fc_status *st)
{
    if ((unsigned)op >= FC_N_OPS || !named(op, NULL))
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
        return fc_refuse(st, FC_NO, "out of memory after %llu messages of one collective call",
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
    bool nothing = algorithm->op != FC_OP_BARRIER && !(total_bytes(algorithm->op, n, bytes, list) > 0);
    if (n == 1 || nothing) return FC_OK;
    struct fc_schedule s = {.n = n, .root = root, .bytes = bytes, .list = list};
    struct fc_arena scratch = {0};
    if (list && has_blocks(algorithm->op)) {
        s.before = fc_alloc(&scratch, (size_t)n + 1, sizeof *s.before, st);
        for (uint32_t i = 0; s.before && i < n; i++) s.before[i + 1] = s.before[i] + list[i];
    }
    if (!st->code) {
        algorithm->build(&s);
        append(&s, arena, messages, n_messages, st);
    }
    free(s.messages);
    fc_arena_free(&scratch);
    return st->code;
}

enum fc_code fc_collective_messages(enum fc_op op, uint32_t n, uint32_t root, double bytes,
                                    const double *list, struct fc_arena *arena, struct fc_message **messages,
                                    uint64_t *n_messages, struct fc_status *st)
{
    if (check(op, n, root, bytes, list, st)) return st->code;
    return fc_collective_build(fc_collective_choose(op, n, total_bytes(op, n, bytes, list)), n, root, bytes,
                               list, arena, messages, n_messages, st);
}
