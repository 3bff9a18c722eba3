/* replay_source.c - the events of a trace as the replay takes them, with a look ahead at collective calls.
 *
 * Some calls cannot be planned from what one member brings: how a scatter, an allgather, a reduce_scatter, an
 * alltoallv go depends on the bytes of every member, and MPI tells each process what a trace tells only the
 * one whose bytes they are. So before such a call starts, the other ranks' events up to it are looked at. In
 * memory that is a second reading; of a stream the events between are kept until they are replayed, as many
 * as the ranks are apart. Limit: a member that never makes the call (a window) is looked at, and kept, to its
 * end. */
#include "core/array.h"
#include "solvers/replay/replay_calls.h"
#include "solvers/replay/replay_job.h"
#include "solvers/replay/replay_source.h"

#include <stdlib.h>
#include <string.h>

enum fc_code fc_reader_start(struct fc_reader *r, struct fc_job *job)
{
    const struct fc_trace *t = job->trace;
    *r = (struct fc_reader){.job = job};
    r->scanned = fc_alloc(&r->arena, t->comm_first[t->n_comms], sizeof *r->scanned, job->st);
    r->number = fc_alloc(&r->arena, t->n_ranks, sizeof *r->number, job->st);
    if (!t->events) r->ahead = fc_alloc(&r->arena, t->n_ranks, sizeof *r->ahead, job->st);
    return job->st->code;
}

void fc_reader_free(struct fc_reader *r)
{
    for (uint32_t i = 0; r->ahead && i < r->job->trace->n_ranks; i++) {
        free(r->ahead[i].event);
        free(r->ahead[i].list);
    }
    fc_arena_free(&r->arena);
    *r = (struct fc_reader){0};
}

const struct fc_event *fc_reader_peek_slow(struct fc_reader *r, uint32_t rank)
{
    if (r->ahead && r->ahead[rank].n) return &r->ahead[rank].event[r->ahead[rank].first];
    return fc_source_peek(r->job->source, rank);
}

const int64_t *fc_reader_list(const struct fc_reader *r, uint32_t rank, const struct fc_event *e)
{
    if (r->ahead && r->ahead[rank].n) return fc_event_list(r->ahead[rank].list, e);
    return fc_source_list(r->job->source, rank, e);
}

uint64_t fc_reader_number(const struct fc_reader *r, uint32_t rank)
{
    return r->ahead ? r->number[rank] : r->job->source->rank[rank].number;
}

/* ---- looking at an event ---- */

/* Counts the calls; tells those that the rank has not come to yet. */
static enum fc_code look(struct fc_reader *r, struct fc_calls *calls, uint32_t rank, const struct fc_event *e,
                         const int64_t *list, uint64_t number)
{
    if (!(e->op >= FC_OP_BARRIER && e->op <= FC_OP_COMM)) return FC_OK;
    const struct fc_trace *t = r->job->trace;
    uint32_t comm = fc_call_comm(e), member = comm < t->n_comms ? fc_calls_member(calls, comm, rank) : FC_NONE;
    if (member == FC_NONE) return FC_OK; /* refused when the rank comes to it */
    uint64_t at = t->comm_first[comm] + member;
    uint32_t k = r->scanned[at]++;
    return k < calls->made[at] ? FC_OK : fc_calls_announce(calls, comm, k, member, rank, number, e, list);
}

/* Keeps the source's event of the rank at hand. */
static const struct fc_event *keep(struct fc_reader *r, uint32_t rank)
{
    struct fc_ahead *a = &r->ahead[rank];
    const struct fc_event *e = fc_source_peek(r->job->source, rank);
    if (!e) return NULL;
    if (a->first + a->n == a->capacity) {
        if (a->first > a->n) {
            memmove(a->event, a->event + a->first, a->n * sizeof *a->event);
            a->first = 0;
        } else {
            if (!FC_GROW(a->event, a->capacity, a->capacity + 1))
                return fc_out_of_memory(r->job->st, "the events looked at ahead"), NULL;
        }
    }
    if (a->n == 0) a->n_list = 0;
    if (!FC_GROW(a->list, a->list_capacity, a->n_list + e->n_list))
        return fc_out_of_memory(r->job->st, "the events looked at ahead"), NULL;
    struct fc_event *to = &a->event[a->first + a->n++];
    *to = *e;
    if (e->n_list) memcpy(a->list + a->n_list, fc_source_list(r->job->source, rank, e), e->n_list * sizeof *a->list);
    to->list = a->n_list;
    a->n_list += e->n_list;
    fc_source_take(r->job->source, rank);
    return to;
}

/* The next event of the rank that was not looked at; NULL: it ends. */
static const struct fc_event *next_to_scan(struct fc_reader *r, uint32_t rank, const int64_t **list)
{
    const struct fc_trace *t = r->job->trace;
    if (!r->ahead) {
        uint64_t at = t->first_event[rank] + r->number[rank];
        *list = t->lists;
        return at < t->first_event[rank + 1] ? &t->events[at] : NULL;
    }
    struct fc_ahead *a = &r->ahead[rank];
    uint64_t kept = a->scanned - r->number[rank]; /* of the events kept, looked at */
    const struct fc_event *e = kept < a->n ? &a->event[a->first + kept] : keep(r, rank);
    *list = a->list;
    return e;
}

static bool scan_one(struct fc_reader *r, struct fc_calls *calls, uint32_t rank)
{
    const int64_t *list;
    const struct fc_event *e = next_to_scan(r, rank, &list);
    if (!e) return false;
    uint64_t number = r->ahead ? r->ahead[rank].scanned++ : r->number[rank]++; /* in memory `number` is the scan's */
    return look(r, calls, rank, e, list + e->list, number) == FC_OK;
}

enum fc_code fc_reader_scan(struct fc_reader *r, struct fc_calls *calls, uint32_t rank, uint32_t comm, uint32_t member,
                            uint32_t number)
{
    uint64_t at = r->job->trace->comm_first[comm] + member;
    while (r->scanned[at] <= number && scan_one(r, calls, rank)) {
    }
    return r->job->st->code;
}

void fc_reader_take_slow(struct fc_reader *r, struct fc_calls *calls, uint32_t rank)
{
    struct fc_ahead *a = &r->ahead[rank];
    if (a->scanned == r->number[rank]) { /* the scan goes on behind what is replayed */
        const struct fc_event *e = fc_reader_peek_slow(r, rank);
        a->scanned++;
        look(r, calls, rank, e, fc_reader_list(r, rank, e), r->number[rank]);
    }
    r->number[rank]++;
    if (a->n) {
        a->first++;
        a->n--;
        if (a->n == 0) a->first = 0;
    } else {
        fc_source_take(r->job->source, rank);
    }
}

/* ---- does every rank end with Finalize? ---- */

static bool last_is_finalize(struct fc_reader *r, struct fc_calls *calls, uint32_t rank)
{
    const struct fc_trace *t = r->job->trace;
    if (!r->ahead) {
        uint64_t end = t->first_event[rank + 1];
        return end > t->first_event[rank] && t->events[end - 1].op == FC_OP_FINALIZE;
    }
    while (scan_one(r, calls, rank)) {
    }
    const struct fc_ahead *a = &r->ahead[rank];
    return a->n > 0 && a->event[a->first + a->n - 1].op == FC_OP_FINALIZE;
}

enum fc_code fc_reader_finalizes(struct fc_reader *r, struct fc_calls *calls, bool *all)
{
    struct fc_trace_source *source = r->job->source;
    *all = source->finalizes ? source->finalizes(source) : true;
    if (source->finalizes) return r->job->st->code;
    for (uint32_t i = 0; i < r->job->trace->n_ranks && *all && !r->job->st->code; i++)
        *all = last_is_finalize(r, calls, i);
    return r->job->st->code;
}
