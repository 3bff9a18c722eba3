/* trace_phases.c - a trace cut into phases by its global synchronisations.
 *
 * An operation synchronises when the result of every rank needs a contribution of every rank: then each
 * rank's return happens after each rank's call (Lamport, CACM 21(7), 1978), whatever the algorithm. That is a
 * property of the operation and of its sizes, which each rank's record tells for itself; the operation
 * synchronises when it does so by every rank's record. Bcast, gather, scatter, reduce and scan make no rank
 * wait for all; an operation on nothing needs no message; a nonblocking operation lets its caller go on.
 * Ranks that call blocking operations over all ranks in different orders would wait for each other for ever
 * (MPI 3.1, section 5.13): refused.
 *
 * Limits: pairs of operations that synchronise only together (reduce, then bcast), nonblocking operations and
 * window fences are not recognised, so a phase may hold more than it must, never less. An operation that some
 * rank never calls (a trace may be a window) ends no phase. */
#include "traces/trace_format.h"

#include <inttypes.h>

enum fc_code fc_phases_start(const struct fc_trace *trace, struct fc_phase_cut *cut, struct fc_status *st)
{
    uint32_t n_whole = 0;
    *cut = (struct fc_phase_cut){.trace = trace, .ending = UINT64_MAX};
    cut->whole = fc_alloc(&cut->arena, trace->n_comms, sizeof *cut->whole, st);
    for (uint32_t c = 0; cut->whole && c < trace->n_comms; c++)
        cut->whole[c] = trace->comm_first[c + 1] - trace->comm_first[c] == trace->n_ranks ? n_whole++ : FC_NONE;
    cut->made = fc_alloc(&cut->arena, (size_t)n_whole * trace->n_ranks, sizeof *cut->made, st);
    cut->begin = fc_alloc(&cut->arena, trace->n_ranks, sizeof *cut->begin, st);
    cut->end = fc_alloc(&cut->arena, trace->n_ranks, sizeof *cut->end, st);
    if (st->code) {
        fc_phases_free(cut);
        return st->code;
    }
    for (uint32_t r = 0; r < trace->n_ranks; r++) cut->end[r] = trace->first_event[r];
    return FC_OK;
}

FC_FREES(fc_phases_free, fc_phase_cut)

/* The communicator of a collective call. */
static uint32_t comm_of(const struct fc_event *e)
{
    return (uint32_t)(e->op == FC_OP_COMM ? e->peer : e->comm);
}

/* Operations that synchronise if their sizes are right. */
static bool may_synchronise(const struct fc_event *e)
{
    return e->mode == 0 &&
           (e->op == FC_OP_BARRIER || e->op == FC_OP_ALLGATHER || e->op == FC_OP_ALLTOALL || e->op == FC_OP_ALLTOALLV ||
            e->op == FC_OP_ALLREDUCE || e->op == FC_OP_REDUCE_SCATTER || e->op == FC_OP_COMM);
}

/* By this rank's record it gives something to every rank, or takes something from every rank. */
static bool synchronises(const struct fc_trace *t, uint32_t rank, const struct fc_event *e)
{
    if (e->op == FC_OP_BARRIER || e->op == FC_OP_COMM) return true;
    if (e->op != FC_OP_ALLTOALLV) return e->bytes > 0;
    const uint32_t *member = t->comm_member + t->comm_first[e->comm];
    for (uint32_t m = 0; m < e->n_list; m++)
        if (t->lists[e->list + m] == 0 && member[m] != rank) return false;
    return true;
}

/* Moves end[rank] to the rank's next call of an operation over all ranks that may synchronise; false: there
 * is none. */
static bool seek(struct fc_phase_cut *cut, uint32_t rank)
{
    const struct fc_trace *t = cut->trace;
    for (uint64_t end = t->first_event[rank + 1]; cut->end[rank] < end; cut->end[rank]++) {
        const struct fc_event *e = &t->events[cut->end[rank]];
        if (e->op < FC_OP_BARRIER || e->op > FC_OP_COMM) continue;
        uint32_t whole = cut->whole[comm_of(e)];
        if (whole == FC_NONE) continue;
        cut->made[(size_t)whole * t->n_ranks + rank]++;
        if (may_synchronise(e)) return true;
    }
    return false;
}

/* Number of the call at hand of a rank on its communicator, from 1. */
static uint32_t call_number(const struct fc_phase_cut *cut, uint32_t rank, const struct fc_event *e)
{
    return cut->made[(size_t)cut->whole[comm_of(e)] * cut->trace->n_ranks + rank];
}

/* The call at hand of a rank is rank 0's. */
static enum fc_code check_same(const struct fc_phase_cut *cut, uint32_t rank, struct fc_status *st)
{
    const struct fc_trace *t = cut->trace;
    const struct fc_event *a = &t->events[cut->end[0]], *b = &t->events[cut->end[rank]];
    uint32_t k = call_number(cut, 0, a), n = call_number(cut, rank, b);
    if (a->op == b->op && comm_of(a) == comm_of(b) && k == n) return FC_OK;
    return fc_fail(st, FC_INPUT, fc_event_place(t, rank, cut->end[rank]),
                   "rank %" PRIu32 " calls %s (collective call %" PRIu32 " on communicator %" PRIu32
                   ") where rank 0 calls %s (call %" PRIu32 " on communicator %" PRIu32 ", line %ld): "
                   "all ranks must synchronise in the same order",
                   rank, fc_op_names[b->op], n, comm_of(b), fc_op_names[a->op], k, comm_of(a),
                   fc_event_place(t, 0, cut->end[0]).line);
}

/* The rest of the trace. Finalize counts as its end only where every rank makes it last, as everywhere else.
 */
static void take_rest(struct fc_phase_cut *cut)
{
    const struct fc_trace *t = cut->trace;
    bool finalize = true;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        uint64_t end = t->first_event[r + 1];
        cut->end[r] = end;
        finalize = finalize && end > cut->begin[r] && t->events[end - 1].op == FC_OP_FINALIZE;
    }
    cut->ending = finalize ? cut->end[0] - 1 : UINT64_MAX;
    cut->last = true;
}

enum fc_code fc_phases_next(struct fc_phase_cut *cut, struct fc_status *st)
{
    const struct fc_trace *t = cut->trace;
    cut->number += cut->started;
    cut->started = true;
    for (uint32_t r = 0; r < t->n_ranks; r++) cut->begin[r] = cut->end[r];
    for (bool cuts = false; !cuts;) {
        bool all = true;
        for (uint32_t r = 0; r < t->n_ranks; r++) all = seek(cut, r) && all;
        if (!all) {
            take_rest(cut);
            return FC_OK;
        }
        cuts = true;
        for (uint32_t r = 0; r < t->n_ranks; r++) {
            if (check_same(cut, r, st)) return st->code;
            cuts = cuts && synchronises(t, r, &t->events[cut->end[r]]);
        }
        for (uint32_t r = 0; r < t->n_ranks; r++) cut->end[r]++;
    }
    cut->ending = cut->end[0] - 1;
    cut->last = true;
    for (uint32_t r = 0; r < t->n_ranks; r++) cut->last = cut->last && cut->end[r] == t->first_event[r + 1];
    return FC_OK;
}
