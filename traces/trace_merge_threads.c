/* trace_merge_threads.c - one sequence of calls for a rank whose threads call MPI at the same time.
 *
 * A trace has one sequence of events a rank, and a replay that blocks in one thread's call must not keep another's from
 * being made. So a blocking call is taken apart into two steps: it starts when it was entered and ends when it left, the
 * nonblocking call and a wait. MPI_Sendrecv starts a receive and a send, and ends with a wait for both. Steps are sorted
 * by what they give to others: starts by when they were entered, ends and waits by when they left. What a step waited for
 * was entered before it left, on whichever rank; so along every dependency times grow, each by its own rank's clock, and
 * the order has no cycle. trace_merge_order.c then moves the ends of sends that left early only because the message was
 * small. A call whose end follows its start at once was alone, and stays the blocking call that it was. Limits:
 * computation of the threads adds up, as if they had shared one core. */
#include "traces/trace_merge.h"

#include <stdlib.h>
#include <string.h>

static bool blocks(int op, int mode)
{
    bool collective = op == FC_OP_COMM || (op >= FC_OP_BARRIER && op <= FC_OP_SCAN);
    return op == FC_OP_SEND || op == FC_OP_RECV || (collective && mode == 0);
}

bool fc_merge_splits(const struct fc_raw_event *raw)
{
    return blocks(raw->kind, raw->mode);
}

/* Starts come before ends of the same moment. */
static int by_key(const void *left, const void *right)
{
    const struct fc_step *a = left, *b = right;
    if (a->key_s != b->key_s) return a->key_s < b->key_s ? -1 : 1;
    if (a->waits != b->waits) return a->waits ? 1 : -1;
    return (a->event > b->event) - (a->event < b->event);
}

/* ---- taking apart ---- */

/* What each request of a rank was made by, and the send that ends with a receive. */
static void note_makers(struct fc_steps *s, const struct fc_trace *t, uint32_t r)
{
    for (uint64_t i = t->first_event[r]; i < t->first_event[r + 1]; i++) {
        const struct fc_event *e = &t->events[i];
        s->partner[i] = UINT64_MAX;
        if (e->op == FC_OP_WAIT || e->request < 0) continue;
        if (e->op == FC_OP_SEND)
            s->partner[s->maker[t->first_event[r] + (uint64_t)e->request]] = i;
        else
            s->maker[t->first_event[r] + (uint64_t)e->request] = i;
    }
}

static void take_apart(struct fc_steps *s, const struct fc_trace *t, uint32_t r)
{
    uint64_t n = s->first[r];
    for (uint64_t i = t->first_event[r]; i < t->first_event[r + 1]; i++) {
        const struct fc_event *e = &t->events[i];
        bool waits = e->op == FC_OP_WAIT, both = blocks(e->op, e->mode), two = both && s->threads[r];
        s->step[n++] = (struct fc_step){waits ? e->leave_s : e->enter_s, i, !waits, waits || (both && !two)};
        if (two && e->request < 0) s->step[n++] = (struct fc_step){e->leave_s, i, false, true};
    }
    if (s->threads[r]) qsort(s->step + s->first[r], n - s->first[r], sizeof *s->step, by_key);
    s->first[r + 1] = n;
}

/* ---- putting together ---- */

struct builder {
    struct fc_trace *t;
    const struct fc_steps *s;
    const struct fc_event *from; /* as the ranks returned */
    const int64_t *lists;
    int64_t *number; /* [events] of the request that it makes */
    uint64_t n;
    int32_t made; /* requests of the rank at hand */
};

static const int64_t *list_of(const struct builder *b, const struct fc_event *e)
{
    return b->lists + e->list;
}

/* Is the step at i, a start, followed at once by its end? A send that ends with its receive: by their wait. */
static bool was_alone(const struct builder *b, uint64_t i, uint64_t end)
{
    const struct fc_step *step = b->s->step + i;
    const struct fc_event *e = &b->from[step->event], *next = i + 1 < end ? &b->from[step[1].event] : NULL;
    if (!next || !step[1].waits) return false;
    if (e->request < 0) return step[1].event == step->event;
    return next->op == FC_OP_WAIT && next->n_list == 1 && *list_of(b, next) == e->request;
}

static void start(struct builder *b, const struct fc_event *e)
{
    struct fc_event *to = &b->t->events[b->n++];
    *to = *e;
    to->leave_s = e->enter_s;
    if (e->op == FC_OP_SEND)
        to->op = FC_OP_ISEND;
    else if (e->op == FC_OP_RECV)
        to->op = FC_OP_IRECV;
    else
        to->mode = 1;
    b->number[e - b->from] = to->request = b->made++;
}

static void end(struct builder *b, const struct fc_event *e)
{
    b->t->events[b->n++] = (struct fc_event){.op = FC_OP_WAIT,
                                             .peer = -1,
                                             .request = -1,
                                             .n_list = 1,
                                             .list = b->t->n_lists,
                                             .enter_s = e->enter_s,
                                             .leave_s = e->leave_s};
    b->t->lists[b->t->n_lists++] = b->number[e - b->from];
}

/* A call as it was, with the list of its own and requests in the new numbers. */
static void copy(struct builder *b, const struct fc_event *e, uint64_t first)
{
    struct fc_event *to = &b->t->events[b->n++];
    struct fc_trace *t = b->t;
    *to = *e;
    to->list = t->n_lists;
    for (uint32_t k = 0; k < e->n_list; k++) {
        int64_t value = list_of(b, e)[k];
        if (e->op != FC_OP_WAIT) {
            t->lists[t->n_lists++] = value;
            continue;
        }
        uint64_t maker = b->s->maker[first + (uint64_t)value], partner = b->s->partner[maker];
        t->lists[t->n_lists++] = b->number[maker];
        if (partner != UINT64_MAX && b->number[partner] >= 0) t->lists[t->n_lists++] = b->number[partner];
    }
    to->n_list = (uint32_t)(t->n_lists - to->list);
    if (e->op == FC_OP_SEND || e->op == FC_OP_WAIT) to->request = -1;
    if (to->request >= 0) b->number[e - b->from] = to->request = b->made++;
}

static void put_together(struct builder *b, uint32_t r, uint64_t first)
{
    uint64_t end_of_rank = b->s->first[r + 1];
    b->made = 0;
    for (uint64_t i = b->s->first[r]; i < end_of_rank; i++) {
        const struct fc_step *step = &b->s->step[i];
        const struct fc_event *e = &b->from[step->event];
        if (!b->s->threads[r] || !blocks(e->op, e->mode)) {
            copy(b, e, first);
        } else if (step->waits) {
            end(b, e);
        } else if (was_alone(b, i, end_of_rank)) {
            copy(b, e, first);
            i += e->request < 0;
        } else {
            start(b, e);
        }
    }
}

static enum fc_code build(struct fc_merger *m, const struct fc_steps *s)
{
    struct fc_trace *t = m->trace;
    uint64_t n_all = t->first_event[t->n_ranks], first = 0, n_steps = s->first[t->n_ranks];
    struct builder b = {.t = t, .s = s, .from = t->events, .lists = t->lists};
    b.number = fc_alloc(m->scratch, n_all, sizeof *b.number, m->st);
    t->events = fc_alloc(&t->arena, n_steps, sizeof *t->events, m->st);
    t->lists = fc_alloc(&t->arena, t->n_lists + n_steps, sizeof *t->lists, m->st);
    if (!b.number || !t->events || !t->lists) return FC_NO;
    memset(b.number, -1, n_all * sizeof *b.number);
    t->n_lists = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        put_together(&b, r, first);
        first = t->first_event[r + 1];
        t->first_event[r + 1] = b.n;
    }
    return FC_OK;
}

enum fc_code fc_merge_untangle(struct fc_merger *m)
{
    struct fc_trace *t = m->trace;
    uint64_t n = t->first_event[t->n_ranks], n_splits = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++) n_splits += m->rank[r].n_splits;
    struct fc_steps s = {.first = fc_alloc(m->scratch, (size_t)t->n_ranks + 1, sizeof *s.first, m->st),
                         .threads = fc_alloc(m->scratch, t->n_ranks, sizeof *s.threads, m->st),
                         .step = fc_alloc(m->scratch, n + n_splits, sizeof *s.step, m->st),
                         .maker = fc_alloc(m->scratch, n, sizeof *s.maker, m->st),
                         .partner = fc_alloc(m->scratch, n, sizeof *s.partner, m->st)};
    if (!s.first || !s.threads || !s.step || !s.maker || !s.partner) return FC_NO;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        s.threads[r] = m->rank[r].head->threads != 0;
        note_makers(&s, t, r);
        take_apart(&s, t, r);
    }
    return fc_merge_order(m, &s) ? m->st->code : build(m, &s);
}

void fc_merge_renumber(struct fc_trace *t, struct fc_event *events, uint64_t n, int64_t *number)
{
    int64_t next = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct fc_event *e = &events[i];
        if (e->op != FC_OP_WAIT && e->request >= 0) {
            number[e->request] = next;
            e->request = (int32_t)next++;
        }
        for (uint32_t k = 0; e->op == FC_OP_WAIT && k < e->n_list; k++)
            t->lists[e->list + k] = number[t->lists[e->list + k]];
    }
}
