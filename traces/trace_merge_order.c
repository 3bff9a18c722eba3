/* trace_merge_order.c - the steps of ranks with several threads, in an order that no size of eager messages blocks.
 *
 * A small message's send leaves before its receive is posted. One thread may then do what the receiver waits for, on
 * another machine, where the message is too large to be sent eagerly, too: the other threads do it. In a trace, which has
 * one sequence a rank, the send's end would stand in the way. So the job is played without times: every send waits for its
 * receive, every collective call for all its members. When nothing can go on, the wait that ended first, of a rank with
 * several threads, is put off until it can be met; starts keep their order, so the same messages meet. Played to its end,
 * this order can be replayed with any limit of eager messages. If it cannot be, the program needs buffering, and
 * the order of the times is kept, which had it. O(events * log events). */
#include "traces/trace_merge.h"

#include <stdlib.h>
#include <string.h>

struct order {
    const struct fc_trace *t;
    const struct fc_steps *s;
    uint64_t
        *other; /* [events] of a message: the other end's event, UINT64_MAX: none; of a collective call: its number */
    uint32_t *absent; /* [collective calls] members that have not started it */
    bool *started;    /* [events] */
    uint64_t *at;     /* [n_ranks] the next step */
    bool *queued;     /* [n_ranks] */
    uint32_t *queue;  /* [n_ranks] ranks that may go on, a ring */
    uint32_t head, n_queued;
    uint64_t *out;    /* [steps] the order found, rank-major like the steps */
    uint64_t *n_out;  /* [n_ranks] */
    uint64_t *late;   /* [steps] those put off, from the rank's first step on, oldest first */
    uint64_t *n_late; /* [n_ranks] */
};

/* ---- what belongs together ---- */

int fc_by_channel(const void *left, const void *right)
{
    const struct fc_message_end *a = left, *b = right;
    if (a->comm != b->comm) return a->comm < b->comm ? -1 : 1;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    if (a->tag != b->tag) return a->tag < b->tag ? -1 : 1;
    if (a->receives != b->receives) return a->receives ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

bool fc_same_channel(const struct fc_message_end *a, const struct fc_message_end *b)
{
    return a->comm == b->comm && a->from == b->from && a->to == b->to && a->tag == b->tag;
}

static bool is_send(const struct fc_event *e)
{
    return e->op == FC_OP_SEND || e->op == FC_OP_ISEND;
}

static bool is_receive(const struct fc_event *e)
{
    return e->op == FC_OP_RECV || e->op == FC_OP_IRECV;
}

/* The k-th send of a channel meets its k-th receive. */
static enum fc_code match_messages(struct order *o, struct fc_arena *scratch, struct fc_status *st)
{
    const struct fc_trace *t = o->t;
    uint64_t n = 0;
    struct fc_message_end *end = fc_alloc(scratch, t->first_event[t->n_ranks], sizeof *end, st);
    if (!end) return FC_NO;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        for (uint64_t i = o->s->first[r]; i < o->s->first[r + 1]; i++) {
            const struct fc_event *e = &t->events[o->s->step[i].event];
            int32_t rank = (int32_t)r;
            if (!o->s->step[i].starts || (!is_send(e) && !is_receive(e))) continue;
            bool sends = is_send(e);
            end[n++] =
                (struct fc_message_end){e->comm, sends ? rank : e->peer, sends ? e->peer : rank, e->tag, !sends, i};
        }
    qsort(end, n, sizeof *end, fc_by_channel);
    for (uint64_t i = 0, next; i < n; i = next) {
        uint64_t receives = 0;
        for (next = i; next < n && fc_same_channel(&end[i], &end[next]); next++) receives += end[next].receives;
        for (uint64_t k = 0; k < receives && receives + k < next - i; k++) {
            uint64_t a = o->s->step[end[i + k].at].event, b = o->s->step[end[i + receives + k].at].event;
            o->other[a] = b;
            o->other[b] = a;
        }
    }
    return FC_OK;
}

/* The communicator over which the event is collective; -1: none. */
static int32_t over(const struct fc_event *e)
{
    if (e->op == FC_OP_COMM) return e->peer;
    return e->op >= FC_OP_BARRIER && e->op <= FC_OP_SCAN ? e->comm : -1;
}

/* Numbers the collective calls: the k-th of each member over a communicator is one call. */
static enum fc_code match_calls(struct order *o, struct fc_arena *scratch, struct fc_status *st)
{
    const struct fc_trace *t = o->t;
    uint64_t *n = fc_alloc(scratch, t->n_comms, sizeof *n, st), *most = fc_alloc(scratch, t->n_comms, sizeof *most, st);
    uint64_t *first = fc_alloc(scratch, (size_t)t->n_comms + 1, sizeof *first, st);
    uint32_t *stamp = fc_alloc(scratch, t->n_comms, sizeof *stamp, st);
    if (!n || !most || !first || !stamp) return FC_NO;
    for (int pass = 0; pass < 2; pass++) {
        memset(stamp, 0, t->n_comms * sizeof *stamp);
        for (uint32_t c = 0; c < t->n_comms; c++) first[c + 1] = first[c] + most[c];
        if (pass && !(o->absent = fc_alloc(scratch, first[t->n_comms], sizeof *o->absent, st))) return FC_NO;
        for (uint32_t r = 0; r < t->n_ranks; r++)
            for (uint64_t i = o->s->first[r]; i < o->s->first[r + 1]; i++) {
                uint64_t event = o->s->step[i].event;
                int32_t c = o->s->step[i].starts ? over(&t->events[event]) : -1;
                if (c < 0) continue;
                if (stamp[c] != r + 1) n[c] = 0, stamp[c] = r + 1;
                if (pass) o->absent[o->other[event] = first[c] + n[c]]++;
                if (++n[c] > most[c]) most[c] = n[c];
            }
    }
    return FC_OK;
}

/* ---- playing ---- */

static void wake(struct order *o, uint32_t rank)
{
    if (o->queued[rank]) return;
    o->queued[rank] = true;
    o->queue[(o->head + o->n_queued++) % o->t->n_ranks] = rank;
}

static void start(struct order *o, uint64_t event)
{
    const struct fc_event *e = &o->t->events[event];
    int32_t c = over(e);
    if (o->started[event]) return;
    o->started[event] = true;
    if ((is_send(e) || is_receive(e)) && o->other[event] != UINT64_MAX) wake(o, (uint32_t)e->peer);
    if (c < 0 || --o->absent[o->other[event]] > 0) return;
    for (uint64_t i = o->t->comm_first[c]; i < o->t->comm_first[c + 1]; i++) wake(o, o->t->comm_member[i]);
}

static bool is_met(const struct order *o, uint64_t event)
{
    const struct fc_event *e = &o->t->events[event];
    if (over(e) >= 0) return o->absent[o->other[event]] == 0;
    if (!is_send(e) && !is_receive(e)) return true;
    bool buffered = is_send(e) && e->mode == 2;
    return buffered || o->other[event] == UINT64_MAX || o->started[o->other[event]];
}

static bool can_end(const struct order *o, uint32_t r, uint64_t step)
{
    uint64_t event = o->s->step[step].event;
    const struct fc_event *e = &o->t->events[event];
    if (!o->s->step[step].waits) return true;
    if (e->op != FC_OP_WAIT) return is_met(o, event);
    for (uint32_t k = 0; k < e->n_list; k++) {
        uint64_t maker = o->s->maker[o->t->first_event[r] + (uint64_t)o->t->lists[e->list + k]];
        uint64_t partner = o->s->partner[maker];
        if (!is_met(o, maker) || (partner != UINT64_MAX && !is_met(o, partner))) return false;
    }
    return true;
}

/* Takes the steps put off that can end now. */
static void end_late(struct order *o, uint32_t r)
{
    uint64_t *late = o->late + o->s->first[r], kept = 0;
    for (uint64_t i = 0; i < o->n_late[r]; i++)
        if (can_end(o, r, late[i]))
            o->out[o->s->first[r] + o->n_out[r]++] = late[i];
        else
            late[kept++] = late[i];
    o->n_late[r] = kept;
}

/* What the rank cannot do before: its next step, and at the end of the program what was put off. */
static bool is_blocked(const struct order *o, uint32_t r)
{
    uint64_t step = o->at[r];
    return !can_end(o, r, step) || (o->n_late[r] > 0 && o->t->events[o->s->step[step].event].op == FC_OP_FINALIZE);
}

static void play(struct order *o, uint32_t r)
{
    for (;; o->at[r]++) {
        end_late(o, r);
        if (o->at[r] == o->s->first[r + 1]) return;
        if (o->s->step[o->at[r]].starts) start(o, o->s->step[o->at[r]].event);
        if (is_blocked(o, r)) return;
        o->out[o->s->first[r] + o->n_out[r]++] = o->at[r];
    }
}

/* Puts off the wait that ended first; false: there is none that may be. */
static bool put_off(struct order *o)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t r = 0; r < o->t->n_ranks; r++) {
        if (!o->s->threads[r] || o->at[r] == o->s->first[r + 1] || can_end(o, r, o->at[r])) continue;
        if (best == UINT32_MAX || o->s->step[o->at[r]].key_s < o->s->step[o->at[best]].key_s) best = r;
    }
    if (best == UINT32_MAX) return false;
    o->late[o->s->first[best] + o->n_late[best]++] = o->at[best]++;
    wake(o, best);
    return true;
}

static bool play_all(struct order *o)
{
    for (uint32_t r = 0; r < o->t->n_ranks; r++) o->at[r] = o->s->first[r], wake(o, r);
    do {
        while (o->n_queued > 0) {
            uint32_t r = o->queue[o->head];
            o->head = (o->head + 1) % o->t->n_ranks;
            o->n_queued--;
            o->queued[r] = false;
            play(o, r);
        }
    } while (put_off(o));
    for (uint32_t r = 0; r < o->t->n_ranks; r++)
        if (o->n_out[r] < o->s->first[r + 1] - o->s->first[r]) return false;
    return true;
}

enum fc_code fc_merge_order(struct fc_merger *m, struct fc_steps *steps)
{
    const struct fc_trace *t = m->trace;
    uint64_t n = t->first_event[t->n_ranks], n_steps = steps->first[t->n_ranks];
    struct order o = {.t = t, .s = steps};
    struct fc_step *sorted = fc_alloc(m->scratch, n_steps, sizeof *sorted, m->st);
    o.other = fc_alloc(m->scratch, n, sizeof *o.other, m->st);
    o.started = fc_alloc(m->scratch, n, sizeof *o.started, m->st);
    o.at = fc_alloc(m->scratch, t->n_ranks, sizeof *o.at, m->st);
    o.queued = fc_alloc(m->scratch, t->n_ranks, sizeof *o.queued, m->st);
    o.queue = fc_alloc(m->scratch, t->n_ranks, sizeof *o.queue, m->st);
    o.out = fc_alloc(m->scratch, n_steps, sizeof *o.out, m->st);
    o.n_out = fc_alloc(m->scratch, t->n_ranks, sizeof *o.n_out, m->st);
    o.late = fc_alloc(m->scratch, n_steps, sizeof *o.late, m->st);
    o.n_late = fc_alloc(m->scratch, t->n_ranks, sizeof *o.n_late, m->st);
    if (!sorted || !o.other || !o.started || !o.at || !o.queued || !o.queue || !o.out || !o.n_out || !o.late ||
        !o.n_late)
        return FC_NO;
    memset(o.other, 0xff, n * sizeof *o.other);
    if (match_messages(&o, m->scratch, m->st) || match_calls(&o, m->scratch, m->st)) return m->st->code;
    if (!play_all(&o)) return FC_OK;
    memcpy(sorted, steps->step, n_steps * sizeof *sorted);
    for (uint64_t i = 0; i < n_steps; i++) steps->step[i] = sorted[o.out[i]];
    return FC_OK;
}
