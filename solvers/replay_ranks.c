/* replay_ranks.c - the ranks' programs: computation, messages (replay_ends.c), waits, collective calls.
 *
 * A collective call is its algorithm's rounds (collective.c): receives posted, sends started, all waited
 * for; a nonblocking one goes on by itself, beside the program, from the time of its call. One-sided data
 * moves without CPU time at the target and nobody waits for it but the end of the job.
 *
 * A rank runs ahead until it must wait for something that has not arrived. All it does there is adding and
 * taking maxima of times, in an order that the program alone fixes: so later arrivals never make anything
 * earlier, which is what makes the ideal run a lower bound of every other. */
#include "solvers/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void make_ready(struct fc_run *run, struct fc_strand *s)
{
    s->next_ready = run->ready;
    run->ready = s;
}

static bool is_long(const struct fc_run *run, double bytes)
{
    return bytes > run->job->settings->software.eager_bytes;
}

/* ---- collective calls ---- */

static struct fc_batch *enter_call(struct fc_run *run, uint32_t call)
{
    struct fc_job *job = run->job;
    const struct fc_call *c = &job->calls.calls[call];
    const struct fc_call_schedule *schedule = &job->calls.schedules[c->schedule];
    struct fc_batch *batch = run->batch[call];
    if (batch) return batch;
    batch = run->free_batch[c->schedule];
    if (batch) {
        run->free_batch[c->schedule] = batch->next_free;
        memset(batch->mail, 0, schedule->n_messages * sizeof *batch->mail);
    } else {
        batch = fc_alloc(&run->arena, 1, sizeof *batch, job->st);
        if (!batch) return NULL;
        batch->mail = fc_alloc(&run->arena, schedule->n_messages, sizeof *batch->mail, job->st);
        if (!batch->mail) return NULL;
    }
    batch->message = schedule->messages;
    batch->member = c->comm ? job->trace->comm_member + job->trace->comm_first[c->comm] : NULL;
    batch->number = job->n_messages + ((uint64_t)call << 24);
    batch->n_done = 0;
    return run->batch[call] = batch;
}

static const struct fc_call_schedule *schedule_of(const struct fc_run *run, const struct fc_strand *s)
{
    return &run->job->calls.schedules[run->job->calls.calls[fc_part_call(s->part)].schedule];
}

static void begin_round(struct fc_run *run, struct fc_strand *s, struct fc_batch *batch, uint64_t end)
{
    const struct fc_call_schedule *schedule = schedule_of(run, s);
    uint32_t round = schedule->messages[schedule->step[s->step] / 2].round;
    s->round_end = s->step;
    while (s->round_end < end && schedule->messages[schedule->step[s->round_end] / 2].round == round)
        s->round_end++;
    for (uint64_t k = s->step; k < s->round_end; k++)
        if (schedule->step[k] & 1) fc_end_post(run, s, batch, schedule->step[k] / 2);
    for (uint64_t k = s->step; k < s->round_end; k++) {
        uint64_t i = schedule->step[k] / 2;
        if (!(schedule->step[k] & 1))
            fc_end_send(run, s, batch, i, is_long(run, schedule->messages[i].bytes));
    }
    for (uint64_t k = s->step; k < s->round_end; k++) {
        if (schedule->step[k] & 1)
            fc_wait_for_receive(s, &batch->mail[schedule->step[k] / 2]);
        else
            fc_wait_for_send(s, &batch->mail[schedule->step[k] / 2]);
    }
    s->in_round = true;
}

static void end_round(struct fc_run *run, struct fc_strand *s, const struct fc_batch *batch)
{
    const struct fc_call_schedule *schedule = schedule_of(run, s);
    struct fc_harvest h = {0, 0, NULL};
    for (uint64_t k = s->step; k < s->round_end; k++) {
        uint64_t i = schedule->step[k] / 2;
        if (schedule->step[k] & 1)
            fc_harvest_receive(run, &h, &batch->mail[i], schedule->messages[i].bytes);
        else
            fc_harvest_send(&h, &batch->mail[i]);
    }
    fc_end_wait(run, s, &h);
    s->step = s->round_end;
    s->in_round = false;
}

/* Goes on with the call of s until it is over (true) or must wait (false). */
static bool play_call(struct fc_run *run, struct fc_strand *s)
{
    uint32_t call = fc_part_call(s->part), member = fc_part_member(s->part);
    const struct fc_call_schedule *schedule = schedule_of(run, s);
    struct fc_batch *batch = enter_call(run, call);
    if (!batch) return false;
    if (!s->in_call) {
        s->in_call = true;
        s->step = schedule->first_step[member];
        s->entered_s = s->clock_s;
    }
    for (uint64_t end = schedule->first_step[member + 1];;) {
        if (s->in_round) end_round(run, s, batch);
        if (s->step == end) break;
        begin_round(run, s, batch, end);
        if (s->pending) return false;
    }
    s->in_call = false;
    if (++batch->n_done == schedule->n) {
        batch->next_free = run->free_batch[run->job->calls.calls[call].schedule];
        run->free_batch[run->job->calls.calls[call].schedule] = batch;
        run->batch[call] = NULL;
    }
    return true;
}

/* ---- events ---- */

static struct fc_request *request_of(const struct fc_run *run, const struct fc_strand *s, int64_t number)
{
    return &run->request[run->job->first_request[s->rank] + (uint64_t)number];
}

/* The event takes part in a collective call, or in the barrier that Finalize is. */
static bool is_call(const struct fc_run *run, const struct fc_strand *s, const struct fc_event *e)
{
    return fc_is_call(e, true) && run->job->part[s->event] != UINT64_MAX;
}

static void start_nonblocking(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    struct fc_strand *beside = fc_alloc(&run->arena, 1, sizeof *beside, run->job->st);
    if (!beside) return;
    beside->clock_s = s->clock_s;
    beside->chain = s->chain;
    beside->rank = s->rank;
    beside->event = s->event;
    beside->part = run->job->part[s->event];
    request_of(run, s, e->request)->call = beside;
    make_ready(run, beside);
}

/* Put: one message away. Get: one back, which leaves the target when it is asked for. Update: both. */
static void move_one_sided(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    uint64_t i = run->job->part[s->event];
    if (e->mode == FC_MOVE_GET) {
        s->clock_s += run->job->settings->software.send_s;
        s->chain.software_s += run->job->settings->software.send_s;
    } else {
        fc_end_send(run, s, &run->own, i++, false);
    }
    if (e->mode == FC_MOVE_PUT) return;
    run->own.mail[i].sent_s = s->clock_s;
    run->own.mail[i].chain = s->chain;
    fc_mail_leave(run, &run->own, i);
}

/* Starts the event at hand; leaves s->pending > 0 when it must wait. */
static void begin(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    uint64_t i = run->job->part[s->event];
    struct fc_batch *own = &run->own;
    bool rendezvous =
        e->mode == FC_SEND_SYNCHRONOUS || (e->mode != FC_SEND_BUFFERED && is_long(run, (double)e->bytes));
    switch (e->op) {
    case FC_OP_SEND:
        fc_end_send(run, s, own, i, rendezvous);
        fc_wait_for_send(s, &own->mail[i]);
        break;
    case FC_OP_RECV:
        fc_end_post(run, s, own, i);
        fc_wait_for_receive(s, &own->mail[i]);
        break;
    case FC_OP_ISEND:
        fc_end_send(run, s, own, i, rendezvous);
        request_of(run, s, e->request)->mail = &own->mail[i];
        break;
    case FC_OP_IRECV:
        fc_end_post(run, s, own, i);
        *request_of(run, s, e->request) = (struct fc_request){&own->mail[i], NULL, true};
        break;
    case FC_OP_WAIT:
        for (uint32_t k = 0; k < e->n_list; k++) {
            struct fc_request *r = request_of(run, s, run->job->trace->lists[e->list + k]);
            if (r->call && !r->call->finished) {
                r->call->waiter = s;
                s->pending++;
            } else if (r->mail) {
                if (r->receives)
                    fc_wait_for_receive(s, r->mail);
                else
                    fc_wait_for_send(s, r->mail);
            }
        }
        break;
    case FC_OP_RMA:
        move_one_sided(run, s, e);
        break;
    default:
        s->part = i;
        if (is_call(run, s, e) && e->request >= 0) start_nonblocking(run, s, e);
    }
}

/* Completes the event at hand: everything that it waited for is there. */
static void end(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    const struct fc_batch *own = &run->own;
    uint64_t i = run->job->part[s->event];
    struct fc_harvest h = {0, 0, NULL};
    switch (e->op) {
    case FC_OP_SEND:
        fc_harvest_send(&h, &own->mail[i]);
        break;
    case FC_OP_RECV:
        fc_harvest_receive(run, &h, &own->mail[i], own->message[i].bytes);
        break;
    case FC_OP_WAIT:
        for (uint32_t k = 0; k < e->n_list; k++) {
            const struct fc_request *r = request_of(run, s, run->job->trace->lists[e->list + k]);
            if (r->call)
                fc_harvest_other(&h, r->call->clock_s, &r->call->chain);
            else if (r->mail && r->receives)
                fc_harvest_receive(run, &h, r->mail, own->message[r->mail - own->mail].bytes);
            else if (r->mail)
                fc_harvest_send(&h, r->mail);
        }
        break;
    default:
        return;
    }
    run->total.p2p_wait_s += fc_end_wait(run, s, &h);
}

/* ---- strands ---- */

static void run_main(struct fc_run *run, struct fc_strand *s)
{
    const struct fc_job *job = run->job;
    double scale = job->settings->software.compute_scale;
    for (uint64_t last = job->trace->first_event[s->rank + 1]; s->event < last;
         s->event++, s->begun = false) {
        const struct fc_event *e = &job->trace->events[s->event];
        if (!s->begun) {
            __builtin_prefetch(e + 3); /* the trace is far larger than a cache, and ranks take turns */
            s->begun = true;
            s->compute_s += e->compute_s * scale;
            s->chain.computation_s += e->compute_s * scale;
            s->clock_s += e->compute_s * scale;
            begin(run, s, e);
            if (s->pending || job->st->code) return;
        }
        if (is_call(run, s, e) && e->request < 0) {
            if (!play_call(run, s)) return;
            run->total.collective_s += s->clock_s - s->entered_s;
        } else {
            end(run, s, e);
        }
    }
    s->finished = true;
    run->n_finished++;
    fc_run_ends(run, s->clock_s, &s->chain);
}

static void run_beside(struct fc_run *run, struct fc_strand *s)
{
    if (!play_call(run, s)) return;
    s->finished = true;
    fc_run_ends(run, s->clock_s, &s->chain);
    fc_wake(run, s->waiter);
}

enum fc_code fc_run_start(struct fc_run *run, struct fc_job *job)
{
    uint32_t n_ranks = job->trace->n_ranks;
    *run = (struct fc_run){.job = job};
    run->own.message = job->message;
    run->own.mail = fc_alloc(&run->arena, job->n_messages, sizeof *run->own.mail, job->st);
    run->batch = fc_alloc(&run->arena, job->calls.n_calls, sizeof(struct fc_batch *), job->st);
    run->free_batch = fc_alloc(&run->arena, job->calls.n_schedules, sizeof(struct fc_batch *), job->st);
    run->strand = fc_alloc(&run->arena, n_ranks, sizeof *run->strand, job->st);
    run->request = fc_alloc(&run->arena, job->first_request[n_ranks], sizeof *run->request, job->st);
    run->taken = fc_alloc(&run->arena, job->longest_wait, sizeof *run->taken, job->st);
    return job->st->code ? job->st->code : fc_flights_start(run);
}

/* Everything as before the job. */
static void reset(struct fc_run *run, bool ideal)
{
    const struct fc_trace *t = run->job->trace;
    memset(run->own.mail, 0, run->job->n_messages * sizeof *run->own.mail);
    memset(run->strand, 0, t->n_ranks * sizeof *run->strand);
    memset(run->request, 0, run->job->first_request[t->n_ranks] * sizeof *run->request);
    memset(run->batch, 0,
           run->job->calls.n_calls * sizeof(struct fc_batch *)); /* calls that nobody has completed */
    memset(&run->total, 0, sizeof run->total);
    run->ideal = ideal;
    run->time_s = 0;
    run->chain = (struct fc_chain){0};
    run->n_finished = run->n_messages = 0;
    fc_flights_reset(run);
    for (uint32_t r = t->n_ranks; r-- > 0;) {
        run->strand[r].rank = r;
        run->strand[r].main = true;
        run->strand[r].event = t->first_event[r];
        make_ready(run, &run->strand[r]);
    }
}

enum fc_code fc_run_all(struct fc_run *run, bool ideal)
{
    struct fc_status *st = run->job->st;
    uint64_t arrivals = 0;
    reset(run, ideal);
    do {
        if (arrivals++ % 4096 == 0)
            fc_progress_show(run->job->settings->progress,
                             (double)run->n_messages / (double)run->job->n_expected, "replay");
        while (run->ready && !st->code) {
            struct fc_strand *s = run->ready;
            run->ready = s->next_ready;
            if (s->main)
                run_main(run, s);
            else
                run_beside(run, s);
        }
    } while (!st->code && fc_flights_run(run));
    if (!st->code && run->n_finished < run->job->trace->n_ranks) return fc_report_deadlock(run);
    return st->code;
}

void fc_run_free(struct fc_run *run)
{
    free(run->heap);
    free(run->flight);
    fc_arena_free(&run->arena);
    memset(run, 0, sizeof *run);
}
