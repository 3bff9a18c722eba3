/* replay_deadlock.c - who waits for whom when nothing moves any more.
 *
 * Every rank that has not finished is blocked on something another rank has not done. From the lowest such
 * rank the chain of "waits for" is followed until it closes (a cycle) or ends at a rank that has finished:
 * that part of it is reported. */
#include "solvers/replay.h"

#include <inttypes.h>
#include <string.h>

static bool missing(const struct fc_mail *mail, bool receives)
{
    return !(mail->state & FC_ARRIVED) && (receives || (mail->state & FC_RENDEZVOUS));
}

/* The rank that a call in progress waits for. */
static uint32_t call_waits_for(const struct fc_run *run, const struct fc_strand *s)
{
    const struct fc_call *call = &run->job->calls.calls[fc_part_call(s->part)];
    const struct fc_call_schedule *schedule = &run->job->calls.schedules[call->schedule];
    const struct fc_batch *batch = run->batch[fc_part_call(s->part)];
    for (uint64_t k = s->step; k < s->round_end; k++) {
        uint64_t i = schedule->step[k] / 2;
        bool receives = schedule->step[k] & 1;
        if (missing(&batch->mail[i], receives))
            return fc_batch_rank(batch, receives ? schedule->messages[i].from : schedule->messages[i].to);
    }
    return s->rank;
}

static uint32_t waits_for(const struct fc_run *run, const struct fc_strand *s)
{
    const struct fc_event *e = &run->job->trace->events[s->event];
    if (s->in_call) return call_waits_for(run, s);
    for (uint32_t k = 0; e->op == FC_OP_WAIT && k < e->n_list; k++) {
        uint64_t number = (uint64_t)run->job->trace->lists[e->list + k];
        const struct fc_request *r = &run->request[run->job->first_request[s->rank] + number];
        if (r->call && !r->call->finished) return call_waits_for(run, r->call);
        if (!r->mail || !missing(r->mail, r->receives)) continue;
        const struct fc_message *message = &run->own.message[r->mail - run->own.mail];
        return r->receives ? message->from : message->to;
    }
    return (uint32_t)e->peer; /* a send or a receive */
}

static size_t describe(const struct fc_run *run, uint32_t rank, char *out, size_t size)
{
    const struct fc_strand *s = &run->strand[rank];
    const struct fc_trace *t = run->job->trace;
    int n = snprintf(out, size, "rank %" PRIu32 " in %s (line %ld) for rank %" PRIu32, rank,
                     fc_op_names[t->events[s->event].op], fc_event_place(t, rank, s->event).line,
                     waits_for(run, s));
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

enum fc_code fc_report_deadlock(const struct fc_run *run)
{
    enum { MOST_NAMED = 6 };
    const struct fc_trace *t = run->job->trace;
    struct fc_arena scratch = {0};
    char text[800];
    uint32_t *visited = fc_alloc(&scratch, t->n_ranks, sizeof *visited, run->job->st), rank = 0, length = 0,
             end = 0;
    if (!visited) return run->job->st->code;
    while (run->strand[rank].finished) rank++;
    for (; !run->strand[rank].finished && !visited[rank]; rank = waits_for(run, &run->strand[rank]))
        visited[rank] = ++length;
    bool cycle = !run->strand[rank].finished;
    uint32_t start = cycle ? visited[rank] : 1, first = 0; /* of the chain's part to report */
    if (!cycle) end = rank;
    for (rank = 0; rank < t->n_ranks; rank++)
        if (visited[rank] == start) first = rank;
    size_t used = 0;
    rank = first;
    for (uint32_t i = start; i <= length; i++, rank = waits_for(run, &run->strand[rank])) {
        if (i - start == MOST_NAMED) {
            used +=
                (size_t)snprintf(text + used, sizeof text - used, ", and %" PRIu32 " more", length - i + 1);
            break;
        }
        if (i > start) used += (size_t)snprintf(text + used, sizeof text - used, ", ");
        used += describe(run, rank, text + used, sizeof text - used);
    }
    fc_arena_free(&scratch);
    struct fc_place where = fc_event_place(t, first, run->strand[first].event);
    if (cycle) return fc_fail(run->job->st, FC_INPUT, where, "ranks wait for each other for ever: %s", text);
    return fc_fail(run->job->st, FC_INPUT, where, "ranks wait for ever: %s, and rank %" PRIu32 " has ended",
                   text, end);
}
