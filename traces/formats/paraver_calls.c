/* paraver_calls.c - makes each rank's calls, in program order, of a Paraver trace's states, events and
 * communications.
 *
 * A rank has a queue of its calls and three heaps ordered by time: sends by logical send, receives by logical
 * receive, completions by physical receive. The call at the head of the queue is handed on once the trace has
 * passed its end and what it waits for is known:
 *
 *   Send, Recv, Sendrecv  take the communication whose logical time they hold; it stands in the trace before
 *                         their end;
 *   Irecv                 its communication stands at its send, which may come later: all behind it is held
 *                         back till then;
 *   Wait, Test, ...       complete receives whose physical time they hold or that came before; Waitall all
 *                         open sends too. The trace names no requests: a Wait that holds no receive completes
 *                         the oldest open send; a Test that holds none has failed;
 *   rooted collectives    only the root says that it is: the k-th rooted calls of the members of a
 *                         communicator belong together.
 *
 * Computation is what lies between two calls in state running; of a rank without states before its first call,
 * all that lies between. Memory: what is open, at most from a rank's first Irecv that never gets its
 * communication to the end of the trace. */
#include "traces/formats/paraver.h"

#include "traces/trace_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- handing calls on ---- */

static struct fc_prv_call *nth(const struct fc_prv_rank *r, size_t i)
{
    return &r->calls[(r->first + i) & (r->capacity - 1)];
}

static const struct fc_prv_function *function_of(const struct fc_prv_call *call)
{
    return fc_prv_function(call->value);
}

static double seconds(const struct fc_prv *p, int64_t time)
{
    return (double)time / p->units_per_s;
}

static enum fc_code note(struct fc_prv *p, const char *function, const char *what)
{
    char text[160];
    snprintf(text, sizeof text, "%s%s%s", function ? "MPI_" : "", function ? function : "", what);
    return fc_sink_note(p->sink, text, 1);
}

/* Hands an event on, with the polls that failed before it. */
static enum fc_code hand_on(struct fc_prv *p, uint32_t rank, struct fc_event *e, const int64_t *list)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    e->polls = (uint16_t)r->polls;
    e->compute_s += seconds(p, r->poll_compute);
    r->polls = 0;
    r->poll_compute = 0;
    e->request = fc_makes_request(e->op, e->mode) ? fc_sink_requests(p->sink, rank) : -1;
    return fc_sink_event(p->sink, rank, e, list);
}

static enum fc_code hand_on_polls(struct fc_prv *p, uint32_t rank)
{
    double at = seconds(p, p->ranks[rank].poll_time);
    struct fc_event e = {.op = FC_OP_POLL, .peer = -1, .enter_s = at, .leave_s = at};
    return p->ranks[rank].polls ? hand_on(p, rank, &e, NULL) : FC_OK;
}

static enum fc_code poll_failed(struct fc_prv *p, uint32_t rank, const struct fc_prv_call *call)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    r->poll_compute += call->compute;
    r->poll_time = call->leave;
    return ++r->polls == UINT16_MAX ? hand_on_polls(p, rank) : FC_OK;
}

static enum fc_code only_time(struct fc_prv *p, uint32_t rank, struct fc_event *e, const char *function,
                              const char *why)
{
    if (why && note(p, function, why)) return p->sink->st->code;
    e->op = FC_OP_OTHER;
    e->mode = 0;
    return hand_on(p, rank, e, NULL);
}

/* Whether the call holds the heap's first item; at the instant where it leaves and another of its kind
 * enters, the item is the other's. */
static bool holds(const struct fc_prv_rank *r, const struct fc_prv_heap *h)
{
    const struct fc_prv_call *call = nth(r, 0), *next = r->n > 1 ? nth(r, 1) : NULL;
    if (!h->n || h->item[0].time < call->enter || h->item[0].time > call->leave) return false;
    return !(h->item[0].time > call->enter && next && next->enter == h->item[0].time && next->value == call->value);
}

/* Communications at times at which the rank was in no call that could make them. */
static enum fc_code drop_strays(struct fc_prv *p, struct fc_prv_rank *r, int64_t enter)
{
    for (; r->sends.n && r->sends.item[0].time < enter; fc_prv_pop(&r->sends))
        if (note(p, NULL, "sent message outside any call that sends: left out")) return p->sink->st->code;
    for (; r->receives.n && r->receives.item[0].time < enter; fc_prv_pop(&r->receives))
        if (note(p, NULL, "received message outside any call that receives: left out")) return p->sink->st->code;
    return FC_OK;
}

static void fill(struct fc_event *e, int op, int mode, const struct fc_prv_item *item)
{
    e->op = (uint8_t)op;
    e->mode = (uint8_t)mode;
    e->peer = (int32_t)item->peer;
    e->tag = item->tag;
    e->bytes = item->bytes;
}

static enum fc_code open_send(struct fc_prv *p, struct fc_prv_rank *r, int32_t request)
{
    if (r->open_first == r->open_n) r->open_first = r->open_n = 0;
    if (r->open_n == r->open_capacity && r->open_first > r->open_n / 2) {
        r->open_n -= r->open_first;
        memmove(r->open_sends, r->open_sends + r->open_first, r->open_n * sizeof *r->open_sends);
        r->open_first = 0;
    }
    int64_t *larger = fc_prv_room(p, r->open_sends, r->open_n, &r->open_capacity, sizeof *larger);
    if (!larger) return FC_NO;
    r->open_sends = larger;
    r->open_sends[r->open_n++] = request;
    return FC_OK;
}

/* The call's send or receive as a nonblocking event, its request kept until a call completes it. */
static enum fc_code begin(struct fc_prv *p, uint32_t rank, struct fc_event *e, bool is_send, int mode)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    struct fc_prv_item item = fc_prv_pop(is_send ? &r->sends : &r->receives);
    fill(e, is_send ? FC_OP_ISEND : FC_OP_IRECV, mode, &item);
    if (hand_on(p, rank, e, NULL)) return p->sink->st->code;
    if (is_send) return open_send(p, r, e->request);
    item.request = e->request;
    item.time = item.physical;
    return fc_prv_push(p, &r->completions, &item);
}

static enum fc_code exchange(struct fc_prv *p, uint32_t rank, struct fc_event *e, const char *name)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    bool sends = holds(r, &r->sends), receives = holds(r, &r->receives);
    double leave = e->leave_s;
    int64_t request = -1;
    if (!sends && !receives) return only_time(p, rank, e, name, " without a communication: only its time is kept");
    if (sends != receives && note(p, name, " with one communication only: taken as a send or receive"))
        return p->sink->st->code;
    if (receives) {
        struct fc_prv_item item = fc_prv_pop(&r->receives);
        fill(e, sends ? FC_OP_IRECV : FC_OP_RECV, 0, &item);
        if (sends) e->leave_s = e->enter_s;
        if (hand_on(p, rank, e, NULL)) return p->sink->st->code;
        request = e->request;
        e->compute_s = 0;
    }
    if (sends) {
        struct fc_prv_item item = fc_prv_pop(&r->sends);
        fill(e, FC_OP_SEND, 0, &item);
        e->leave_s = receives ? e->enter_s : leave;
        if (hand_on(p, rank, e, NULL)) return p->sink->st->code;
    }
    if (!sends || !receives) return FC_OK;
    struct fc_event wait = {.op = FC_OP_WAIT, .peer = -1, .n_list = 1, .enter_s = e->enter_s, .leave_s = leave};
    return hand_on(p, rank, &wait, &request);
}

static enum fc_code start_all(struct fc_prv *p, uint32_t rank, struct fc_event *e, const char *name)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    double leave = e->leave_s;
    bool any = false;
    for (;;) {
        bool receives = holds(r, &r->receives), sends = holds(r, &r->sends);
        if (!receives && !sends) break;
        any = true;
        e->leave_s = e->enter_s;
        if (begin(p, rank, e, !receives, 0)) return p->sink->st->code;
        e->compute_s = 0;
    }
    if (!any) return only_time(p, rank, e, name, " without a communication: only its time is kept");
    struct fc_event rest = {.op = FC_OP_OTHER, .peer = -1, .enter_s = e->enter_s, .leave_s = leave};
    return hand_on(p, rank, &rest, NULL);
}

/* Takes the receives that the call completes: all that came up to its end, or where it completes one that
 * which it holds, else the oldest. */
static enum fc_code take_receives(struct fc_prv *p, struct fc_prv_rank *r, const struct fc_prv_call *call, bool one,
                                  int64_t *list, size_t *n)
{
    size_t came = 0, chosen = 0;
    struct fc_prv_item *items = r->completions.n ? malloc(r->completions.n * sizeof *items) : NULL;
    if (r->completions.n && !items) return fc_prv_no_memory(p);
    while (r->completions.n && r->completions.item[0].time <= call->leave) items[came++] = fc_prv_pop(&r->completions);
    while (one && chosen + 1 < came && items[chosen].time < call->enter) chosen++;
    if (came && items[chosen].time < call->enter) chosen = 0;
    enum fc_code code = FC_OK;
    for (size_t i = 0; !code && i < came; i++) {
        if (!one || i == chosen)
            list[(*n)++] = items[i].request;
        else
            code = fc_prv_push(p, &r->completions, &items[i]);
    }
    free(items);
    return code;
}

static enum fc_code complete(struct fc_prv *p, uint32_t rank, struct fc_event *e, const struct fc_prv_call *call,
                             int kind)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    bool test = kind == FC_PRV_TEST || kind == FC_PRV_TESTSOME;
    size_t most = r->completions.n + (r->open_n - r->open_first), n = 0;
    int64_t *list = malloc((most + 1) * sizeof *list);
    if (!list) return fc_prv_no_memory(p);
    enum fc_code code = take_receives(p, r, call, kind == FC_PRV_WAIT || kind == FC_PRV_TEST, list, &n);
    while (!test && r->open_first < r->open_n && (kind == FC_PRV_WAITALL || !n))
        list[n++] = r->open_sends[r->open_first++];
    e->op = FC_OP_WAIT;
    e->n_list = (uint32_t)n;
    if (!code) code = test && !n ? poll_failed(p, rank, call) : hand_on(p, rank, e, list);
    free(list);
    return code;
}

/* Bytes to each member are not told: their sum is spread evenly, the rest to the first. */
static enum fc_code alltoallv(struct fc_prv *p, uint32_t rank, struct fc_event *e, uint32_t n, const char *name)
{
    int64_t *sizes = malloc(n * sizeof *sizes);
    if (!sizes) return fc_prv_no_memory(p);
    for (uint32_t i = 0; i < n; i++) sizes[i] = e->bytes / n + (i < e->bytes % n);
    e->n_list = n;
    enum fc_code code = note(p, name, ": bytes to each member are not told and taken as equal");
    if (!code) code = hand_on(p, rank, e, sizes);
    free(sizes);
    return code;
}

static enum fc_code collective(struct fc_prv *p, uint32_t rank, struct fc_event *e, const struct fc_prv_call *call,
                               const struct fc_prv_function *f)
{
    int fields = fc_op_fields[f->op];
    if (call->comm == FC_NONE)
        return only_time(p, rank, e, f->name,
                         " on a communicator that is not told or lacks the rank: only its time is kept");
    const struct fc_prv_comm *c = &p->comms[call->comm];
    int64_t most = call->sent > call->received ? call->sent : call->received;
    e->op = f->op;
    e->comm = c->number;
    if (fields & FC_HAS_ROOT) {
        uint32_t root = fc_prv_take_root(p, call);
        if (root == FC_NONE) {
            e->comm = 0;
            return only_time(p, rank, e, f->name, ": no member says that it is the root: only its time is kept");
        }
        e->peer = (int32_t)root;
    }
    switch (f->op) {
    case FC_OP_BARRIER: break;
    case FC_OP_SCATTER:
    case FC_OP_REDUCE_SCATTER: e->bytes = call->received; break;
    case FC_OP_GATHER:
    case FC_OP_ALLGATHER:
    case FC_OP_ALLTOALL: e->bytes = call->sent; break;
    case FC_OP_ALLTOALLV: e->bytes = call->sent; return alltoallv(p, rank, e, c->n, f->name);
    default: e->bytes = most; /* broadcast and reductions: only the root, or all but it, may send or receive */
    }
    return hand_on(p, rank, e, NULL);
}

static enum fc_code one_sided(struct fc_prv *p, uint32_t rank, struct fc_event *e, const struct fc_prv_call *call,
                              const struct fc_prv_function *f)
{
    if (call->target < 0 || call->target >= p->n_ranks)
        return only_time(p, rank, e, f->name, " without a target: only its time is kept");
    e->op = FC_OP_RMA;
    e->mode = f->mode;
    e->peer = (int32_t)call->target;
    e->bytes = call->sent;
    return hand_on(p, rank, e, NULL);
}

/* Hands on the call at the head of the queue. */
static enum fc_code hand_on_call(struct fc_prv *p, uint32_t rank)
{
    static const char lost[] = ": only its time is kept", alone[] = " without a communication: only its time is kept";
    struct fc_prv_rank *r = &p->ranks[rank];
    const struct fc_prv_call *call = nth(r, 0);
    const struct fc_prv_function *f = function_of(call);
    struct fc_event e = {.op = FC_OP_OTHER,
                         .peer = -1,
                         .enter_s = seconds(p, call->enter),
                         .leave_s = seconds(p, call->leave),
                         .compute_s = seconds(p, call->compute)};
    if (drop_strays(p, r, call->enter)) return p->sink->st->code;
    bool sends = holds(r, &r->sends), receives = holds(r, &r->receives);
    struct fc_prv_item item;
    switch (f->kind) {
    case FC_PRV_CALL: e.op = f->op; return hand_on(p, rank, &e, NULL);
    case FC_PRV_LOST: return only_time(p, rank, &e, f->name, lost);
    case FC_PRV_SEND:
    case FC_PRV_RECV:
        if (!(f->kind == FC_PRV_SEND ? sends : receives)) return only_time(p, rank, &e, f->name, alone);
        item = fc_prv_pop(f->kind == FC_PRV_SEND ? &r->sends : &r->receives);
        fill(&e, f->op, f->mode, &item);
        return hand_on(p, rank, &e, NULL);
    case FC_PRV_ISEND:
    case FC_PRV_IRECV:
    case FC_PRV_START:
        if (!(f->kind != FC_PRV_IRECV && sends) && !(f->kind != FC_PRV_ISEND && receives))
            return only_time(p, rank, &e, f->name, alone);
        return begin(p, rank, &e, f->kind != FC_PRV_IRECV && sends, f->kind == FC_PRV_ISEND ? f->mode : 0);
    case FC_PRV_STARTALL: return start_all(p, rank, &e, f->name);
    case FC_PRV_SENDRECV: return exchange(p, rank, &e, f->name);
    case FC_PRV_WAIT:
    case FC_PRV_WAITALL:
    case FC_PRV_WAITSOME:
    case FC_PRV_TEST:
    case FC_PRV_TESTSOME: return complete(p, rank, &e, call, f->kind);
    case FC_PRV_POLL: return poll_failed(p, rank, call);
    case FC_PRV_COLLECTIVE: return collective(p, rank, &e, call, f);
    case FC_PRV_RMA: return one_sided(p, rank, &e, call, f);
    case FC_PRV_UNKNOWN: return only_time(p, rank, &e, NULL, "MPI call of an unknown number: only its time is kept");
    default: return only_time(p, rank, &e, NULL, NULL);
    }
}

static enum fc_code flush(struct fc_prv *p, uint32_t rank)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    while (r->n) {
        struct fc_prv_call *call = nth(r, 0);
        int kind = function_of(call)->kind;
        if (call->leave < 0 || (!p->ended && p->now <= call->leave)) return FC_OK;
        if (drop_strays(p, r, call->enter)) return p->sink->st->code;
        bool waits = (kind == FC_PRV_IRECV && !holds(r, &r->receives)) ||
                     (kind == FC_PRV_START && !holds(r, &r->receives) && !holds(r, &r->sends)) ||
                     /* Startall does not tell how many it starts: once a Waitall behind it is over, they have come. */
                     (kind == FC_PRV_STARTALL && (r->waitall_left <= call->leave || r->waitall_left >= p->now)) ||
                     (call->counted && !fc_prv_root_known(p, call));
        if (waits && !p->ended) return FC_OK;
        if (hand_on_call(p, rank)) return p->sink->st->code;
        r->first = (r->first + 1) & (r->capacity - 1);
        r->n--;
    }
    return FC_OK;
}

/* ---- what the trace tells ---- */

enum fc_code fc_prv_start(struct fc_prv *p, struct fc_trace_sink *sink, uint32_t n_ranks, double units_per_s)
{
    *p = (struct fc_prv){.sink = sink, .n_ranks = n_ranks, .units_per_s = units_per_s};
    p->ranks = calloc(n_ranks, sizeof *p->ranks);
    return p->ranks ? FC_OK : fc_prv_no_memory(p);
}

/* Computation of the running interval at hand up to `time`. */
static void account(struct fc_prv_rank *r, int64_t time)
{
    int64_t from = r->run_from > r->left ? r->run_from : r->left, to = r->run_to < time ? r->run_to : time;
    if (!r->thread && from < to) r->compute += to - from;
    if (time > r->run_from) r->run_from = time < r->run_to ? time : r->run_to;
}

void fc_prv_state(struct fc_prv *p, uint32_t rank, int64_t begin, int64_t end, bool running)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    account(r, begin);
    r->has_states = true;
    r->run_from = begin;
    r->run_to = running ? end : begin;
}

static enum fc_code enter(struct fc_prv *p, uint32_t rank, uint32_t thread, int64_t time, int64_t value)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    if (r->n == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 16;
        struct fc_prv_call *larger = malloc(capacity * sizeof *larger);
        if (!larger) return fc_prv_no_memory(p);
        for (size_t i = 0; i < r->n; i++) larger[i] = *nth(r, i);
        free(r->calls);
        r->calls = larger;
        r->capacity = capacity;
        r->first = 0;
    }
    account(r, time);
    if (!r->has_states && time > r->left) {
        r->compute = time - r->left;
        if (note(p, NULL, "call of a rank without states before it: computation is all the time before the call"))
            return p->sink->st->code;
    }
    *nth(r, r->n++) = (struct fc_prv_call){
        .enter = time, .leave = -1, .compute = r->compute, .value = value, .target = -1, .comm = FC_NONE};
    r->compute = 0;
    r->thread = thread;
    return FC_OK;
}

static enum fc_code leave(struct fc_prv *p, uint32_t rank, int64_t time)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    struct fc_prv_call *call = nth(r, r->n - 1);
    const struct fc_prv_function *f = function_of(call);
    account(r, time);
    call->leave = time;
    r->left = time;
    r->thread = 0;
    if (f->kind == FC_PRV_WAITALL) r->waitall_left = time;
    bool rooted = f->kind == FC_PRV_COLLECTIVE && (fc_op_fields[f->op] & FC_HAS_ROOT) && call->comm != FC_NONE;
    if (rooted && fc_prv_count_rooted(p, rank, call)) return p->sink->st->code;
    return flush(p, rank);
}

static enum fc_code call_event(struct fc_prv *p, uint32_t rank, uint32_t thread, int64_t time, int64_t value)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    if (r->thread && r->thread != thread)
        return value ? note(p, NULL, "MPI call of a thread inside another thread's call: left out") : FC_OK;
    if (!value) {
        if (r->thread) return leave(p, rank, time);
        return note(p, NULL, "end of an MPI call that does not begin in the trace: left out");
    }
    if (r->thread && (note(p, NULL, "MPI call that does not end before the next: ends there") || leave(p, rank, time)))
        return p->sink->st->code;
    return enter(p, rank, thread, time, value);
}

enum fc_code fc_prv_event(struct fc_prv *p, uint32_t rank, uint32_t thread, int64_t time, int64_t type, int64_t value)
{
    struct fc_prv_rank *r = &p->ranks[rank];
    if (type >= FC_PRV_CALL_FIRST && type <= FC_PRV_CALL_LAST) return call_event(p, rank, thread, time, value);
    if (r->thread != thread) return FC_OK;
    struct fc_prv_call *call = nth(r, r->n - 1);
    switch (type) {
    case FC_PRV_RMA_BYTES:
    case FC_PRV_SENT: call->sent = value; break;
    case FC_PRV_RECEIVED: call->received = value; break;
    case FC_PRV_ROOT: call->is_root = value == 1; break;
    case FC_PRV_COMM: call->comm = fc_prv_find(p, value, rank); break;
    case FC_PRV_RMA_TARGET: call->target = value; break;
    }
    return FC_OK;
}

enum fc_code fc_prv_message(struct fc_prv *p, uint32_t src, uint32_t dst, const struct fc_prv_message *m)
{
    struct fc_prv_rank *s = &p->ranks[src], *r = &p->ranks[dst];
    struct fc_prv_item sent = {.time = m->sent, .bytes = m->bytes, .order = s->order++, .peer = dst, .tag = m->tag};
    struct fc_prv_item received = {
        .time = m->posted, .physical = m->received, .bytes = m->bytes, .order = r->order++, .peer = src, .tag = m->tag};
    if (fc_prv_push(p, &s->sends, &sent) || fc_prv_push(p, &r->receives, &received)) return p->sink->st->code;
    return flush(p, dst);
}

enum fc_code fc_prv_finish(struct fc_prv *p)
{
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        struct fc_prv_rank *r = &p->ranks[i];
        if (!r->thread) continue;
        if (note(p, NULL, "MPI call that does not end in the trace: ends with it") || leave(p, i, p->now))
            return p->sink->st->code;
    }
    p->ended = true;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        if (flush(p, i) || drop_strays(p, &p->ranks[i], INT64_MAX) || hand_on_polls(p, i)) return p->sink->st->code;
    }
    return FC_OK;
}

void fc_prv_free(struct fc_prv *p)
{
    for (uint32_t i = 0; p->ranks && i < p->n_ranks; i++) {
        struct fc_prv_rank *r = &p->ranks[i];
        free(r->calls);
        free(r->sends.item);
        free(r->receives.item);
        free(r->completions.item);
        free(r->open_sends);
    }
    for (uint32_t i = 0; i < p->n_comms; i++) {
        free(p->comms[i].sorted);
        free(p->comms[i].calls);
        free(p->comms[i].open);
    }
    free(p->ranks);
    free(p->comms);
    *p = (struct fc_prv){0};
}
