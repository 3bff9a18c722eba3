/* job_calls.c - the collective calls of a trace and the messages they become.
 *
 * MPI orders collectives on a communicator: the k-th call of one member meets the k-th of every other.
 * Calls that are alike (operation, members, root, bytes of every member) share one schedule
 * (collective.c). Making a communicator costs like an allgather of 8 bytes on its parent, Finalize like a
 * barrier where it is every rank's last call (a trace may be a window without it). A member that makes
 * fewer calls than others leaves its calls incomplete: the replay then names who waits. */
#include "core/array.h"
#include "solvers/replay/job_calls.h"
#include "solvers/collective/collective.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct finder {
    const struct fc_trace *trace;
    const struct fc_collective_choice *collectives;
    struct fc_status *st;
    struct fc_arena scratch;
    struct fc_job_calls *calls;
    uint64_t *part;        /* [n_events] */
    uint64_t *rank_first;  /* [n_ranks + 1] */
    uint32_t *rank_comm;   /* communicators of each rank, and */
    uint32_t *rank_member; /* the rank's number in it */
    uint32_t *member;      /* [n_comms] number of the rank at hand in each of its communicators */
    uint32_t *made;        /* [comm_first[n_comms]] calls so far of each member of each communicator */
    uint64_t *comm_call;   /* [n_comms + 1] first call of each communicator */
    uint64_t *call_first;  /* [n_calls + 1] first event of each call in `event` */
    uint64_t *event;       /* event of each member of each call; UINT64_MAX: none */
    struct taker {
        uint64_t event;
        uint32_t comm, member, k; /* the member's k-th call */
    } * taker;
    size_t n_takers, taker_capacity;
    uint32_t *bucket, *next; /* hash table of calls that have a schedule: [mask + 1], [n_calls] */
    uint32_t mask;
    bool all_finalize;
};

static uint32_t members_of(const struct fc_trace *t, uint32_t comm)
{
    return (uint32_t)(t->comm_first[comm + 1] - t->comm_first[comm]);
}
static uint32_t comm_of(const struct fc_event *e)
{
    return e->op == FC_OP_COMM ? (uint32_t)e->peer : e->op == FC_OP_FINALIZE ? 0 : (uint32_t)e->comm;
}

/* ---- who belongs together ---- */

static enum fc_code list_comms_of_ranks(struct finder *f)
{
    const struct fc_trace *t = f->trace;
    uint64_t n = t->comm_first[t->n_comms];
    f->rank_first = fc_alloc(&f->scratch, (size_t)t->n_ranks + 1, sizeof *f->rank_first, f->st);
    f->rank_comm = fc_alloc(&f->scratch, n, sizeof *f->rank_comm, f->st);
    f->rank_member = fc_alloc(&f->scratch, n, sizeof *f->rank_member, f->st);
    f->member = fc_alloc(&f->scratch, t->n_comms, sizeof *f->member, f->st);
    f->made = fc_alloc(&f->scratch, n, sizeof *f->made, f->st);
    f->comm_call = fc_alloc(&f->scratch, (size_t)t->n_comms + 1, sizeof *f->comm_call, f->st);
    if (f->st->code) return f->st->code;
    for (uint64_t i = 0; i < n; i++) f->rank_first[t->comm_member[i] + 1]++;
    for (uint32_t r = 0; r < t->n_ranks; r++) f->rank_first[r + 1] += f->rank_first[r];
    for (uint32_t c = t->n_comms; c-- > 0;) /* from behind: rank_first[r + 1] walks down to the start of r */
        for (uint32_t m = 0; m < members_of(t, c); m++) {
            uint64_t at = --f->rank_first[t->comm_member[t->comm_first[c] + m] + 1];
            f->rank_comm[at] = c;
            f->rank_member[at] = m;
        }
    for (uint32_t r = 0; r < t->n_ranks; r++) f->rank_first[r] = f->rank_first[r + 1];
    f->rank_first[t->n_ranks] = n;
    return FC_OK;
}

/* All events that take part in calls, with made[] counted: rank by rank, in the order made. */
static enum fc_code list_takers(struct finder *f)
{
    const struct fc_trace *t = f->trace;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        for (uint64_t i = f->rank_first[r]; i < f->rank_first[r + 1]; i++)
            f->member[f->rank_comm[i]] = f->rank_member[i];
        for (uint64_t i = t->first_event[r]; i < t->first_event[r + 1]; i++) {
            if (!fc_is_call(&t->events[i], f->all_finalize)) continue;
            if (!FC_GROW(f->taker, f->taker_capacity, f->n_takers + 1))
                return fc_out_of_memory(f->st, "the collective calls of the trace");
            uint32_t comm = comm_of(&t->events[i]), member = f->member[comm];
            f->taker[f->n_takers++] = (struct taker){i, comm, member, f->made[t->comm_first[comm] + member]++};
        }
    }
    return FC_OK;
}

/* Finalize is the last call of every rank. */
static bool every_rank_finalizes(const struct fc_trace *t)
{
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        uint64_t end = t->first_event[r + 1];
        if (end == t->first_event[r] || t->events[end - 1].op != FC_OP_FINALIZE) return false;
    }
    return true;
}

static enum fc_code number_calls(struct finder *f)
{
    const struct fc_trace *t = f->trace;
    uint64_t n_calls = 0, n_events = 0;
    f->all_finalize = every_rank_finalizes(t);
    if (list_takers(f)) return f->st->code;
    for (uint32_t c = 0; c < t->n_comms; c++) {
        uint32_t most = 0;
        for (uint64_t i = t->comm_first[c]; i < t->comm_first[c + 1]; i++) most = f->made[i] > most ? f->made[i] : most;
        f->comm_call[c] = n_calls;
        n_calls += most;
        n_events += (uint64_t)most * members_of(t, c);
    }
    f->comm_call[t->n_comms] = n_calls;
    if (n_calls >= FC_NONE) return fc_refuse(f->st, FC_NO, "%" PRIu64 " collective calls are too many", n_calls);
    f->calls->n_calls = (uint32_t)n_calls;
    f->calls->calls = fc_alloc(&f->calls->arena, n_calls, sizeof *f->calls->calls, f->st);
    f->call_first = fc_alloc(&f->scratch, n_calls + 1, sizeof *f->call_first, f->st);
    f->event = fc_alloc(&f->scratch, n_events, sizeof *f->event, f->st);
    if (f->st->code) return f->st->code;
    for (uint32_t c = 0, call = 0; c < t->n_comms; c++)
        for (; call < f->comm_call[c + 1]; call++) {
            f->calls->calls[call].comm = c;
            f->call_first[call + 1] = f->call_first[call] + members_of(t, c);
        }
    memset(f->event, 0xff, n_events * sizeof *f->event);
    for (size_t i = 0; i < f->n_takers; i++) {
        const struct taker *x = &f->taker[i];
        uint64_t call = f->comm_call[x->comm] + x->k;
        f->part[x->event] = fc_call_part((uint32_t)call, x->member);
        f->event[f->call_first[call] + x->member] = x->event;
    }
    return FC_OK;
}

/* ---- what a call is ---- */

/* The first event of a call. Every call has one, since some member made that many. */
static uint64_t first_event_of(const struct finder *f, uint32_t call)
{
    uint64_t i = f->call_first[call];
    while (f->event[i] == UINT64_MAX) i++;
    return f->event[i];
}

/* Members must agree on the operation and the root. */
static enum fc_code check_call(const struct finder *f, uint32_t call)
{
    const struct fc_trace *t = f->trace;
    uint64_t first = first_event_of(f, call);
    const struct fc_event *a = &t->events[first];
    for (uint64_t i = f->call_first[call]; i < f->call_first[call + 1]; i++) {
        if (f->event[i] == UINT64_MAX) continue;
        const struct fc_event *b = &t->events[f->event[i]];
        if (a->op == b->op && a->peer == b->peer) continue;
        const uint32_t *member = t->comm_member + t->comm_first[f->calls->calls[call].comm];
        uint32_t rank = member[i - f->call_first[call]], other = 0;
        while (f->event[f->call_first[call] + other] != first) other++;
        struct fc_place where = fc_event_place(t, rank, f->event[i]);
        long line = fc_event_place(t, member[other], first).line;
        if (a->op != b->op)
            return fc_fail(f->st, FC_INPUT, where,
                           "rank %" PRIu32 " calls %s where rank %" PRIu32 " calls %s (line %ld) "
                           "on the same communicator",
                           rank, fc_op_names[b->op], member[other], fc_op_names[a->op], line);
        return fc_fail(f->st, FC_INPUT, where,
                       "rank %" PRIu32 " calls %s with root %" PRId32 ", rank %" PRIu32 " with root %" PRId32
                       " (line %ld)",
                       rank, fc_op_names[b->op], b->peer, member[other], a->peer, line);
    }
    return FC_OK;
}

/* Bytes of one member's part: what it moves, whatever the recorded field of ops without bytes holds. */
static double part_bytes(const struct finder *f, uint64_t event)
{
    if (event == UINT64_MAX) return 0;
    const struct fc_event *e = &f->trace->events[event];
    return e->op == FC_OP_COMM ? FC_COMM_BYTES : e->op == FC_OP_FINALIZE ? 0 : (double)e->bytes;
}

/* The root as a member; 0 for operations without one. */
static uint32_t root_member(const struct finder *f, uint32_t call)
{
    const struct fc_event *e = &f->trace->events[first_event_of(f, call)];
    bool rooted = e->op == FC_OP_BCAST || e->op == FC_OP_GATHER || e->op == FC_OP_SCATTER || e->op == FC_OP_REDUCE;
    uint32_t comm = f->calls->calls[call].comm;
    if (!rooted) return 0;
    if (comm == 0) return (uint32_t)e->peer;
    uint64_t first = f->trace->comm_first[comm], i = first;
    while (f->trace->comm_member[i] != (uint32_t)e->peer) i++; /* the reader has checked that it is there */
    return (uint32_t)(i - first);
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

static uint64_t hash_call(const struct finder *f, uint32_t call)
{
    const struct fc_trace *t = f->trace;
    const struct fc_event *a = &t->events[first_event_of(f, call)];
    uint64_t h = mix(mix(a->op, root_member(f, call)), f->call_first[call + 1] - f->call_first[call]);
    for (uint64_t i = f->call_first[call]; i < f->call_first[call + 1]; i++) {
        if (f->event[i] == UINT64_MAX) continue;
        const struct fc_event *e = &t->events[f->event[i]];
        h = mix(h, (uint64_t)e->bytes);
        for (uint32_t k = 0; e->op == FC_OP_ALLTOALLV && k < e->n_list; k++)
            h = mix(h, (uint64_t)t->lists[e->list + k]);
    }
    return h;
}

static bool alike(const struct finder *f, uint32_t x, uint32_t y)
{
    const struct fc_trace *t = f->trace;
    uint64_t n = f->call_first[x + 1] - f->call_first[x];
    if (n != f->call_first[y + 1] - f->call_first[y]) return false;
    if (t->events[first_event_of(f, x)].op != t->events[first_event_of(f, y)].op) return false;
    if (root_member(f, x) != root_member(f, y)) return false;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t p = f->event[f->call_first[x] + i], q = f->event[f->call_first[y] + i];
        if (part_bytes(f, p) != part_bytes(f, q) || (p == UINT64_MAX) != (q == UINT64_MAX)) return false;
        if (p == UINT64_MAX || t->events[p].op != FC_OP_ALLTOALLV) continue;
        if (memcmp(t->lists + t->events[p].list, t->lists + t->events[q].list, n * sizeof *t->lists)) return false;
    }
    return true;
}

/* ---- schedules ---- */

enum fc_code fc_call_schedule_sort(struct fc_call_schedule *s, struct fc_arena *arena, struct fc_status *st)
{
    s->first_step = fc_alloc(arena, (size_t)s->n + 2, sizeof *s->first_step, st);
    s->step = fc_alloc(arena, 2 * s->n_messages, sizeof *s->step, st);
    if (!s->first_step || !s->step) return st->code;
    for (uint64_t i = 0; i < s->n_messages; i++) {
        s->first_step[s->messages[i].from + 2]++;
        s->first_step[s->messages[i].to + 2]++;
    }
    for (uint32_t m = 0; m < s->n; m++) s->first_step[m + 2] += s->first_step[m + 1];
    for (uint64_t i = 0, end; i < s->n_messages; i = end) {
        for (end = i; end < s->n_messages && s->messages[end].round == s->messages[i].round; end++)
            s->step[s->first_step[s->messages[end].from + 1]++] = 2 * end;
        for (uint64_t k = i; k < end; k++) s->step[s->first_step[s->messages[k].to + 1]++] = 2 * k + 1;
    }
    return FC_OK; /* now first_step[m] .. first_step[m + 1] are the steps of m */
}

/* Bytes of the whole call and, where members differ or it is an alltoallv, the list fc_collective_messages
 * wants. */
static enum fc_code sizes_of(struct finder *f, uint32_t call, enum fc_op op, double *bytes, double **list)
{
    const struct fc_trace *t = f->trace;
    uint64_t first = f->call_first[call], n = f->call_first[call + 1] - first;
    bool equal = true,
         blocks = op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_ALLGATHER || op == FC_OP_REDUCE_SCATTER;
    *list = NULL;
    *bytes = 0;
    for (uint64_t i = 0; i < n; i++) {
        double part = part_bytes(f, f->event[first + i]);
        equal = equal && part == part_bytes(f, f->event[first]);
        *bytes = part > *bytes ? part : *bytes;
    }
    if (op != FC_OP_ALLTOALLV && (equal || !blocks)) return FC_OK;
    *list = fc_alloc(&f->scratch, op == FC_OP_ALLTOALLV ? n * n : n, sizeof **list, f->st);
    if (!*list) return f->st->code;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t e = f->event[first + i];
        if (op != FC_OP_ALLTOALLV)
            (*list)[i] = part_bytes(f, e);
        else if (e != UINT64_MAX)
            for (uint64_t k = 0; k < n; k++) (*list)[i * n + k] = (double)t->lists[t->events[e].list + k];
    }
    return FC_OK;
}

static enum fc_code make_schedule(struct finder *f, uint32_t call)
{
    const struct fc_event *e = &f->trace->events[first_event_of(f, call)];
    enum fc_op op = e->op == FC_OP_COMM ? FC_OP_ALLGATHER : e->op == FC_OP_FINALIZE ? FC_OP_BARRIER : (enum fc_op)e->op;
    struct fc_call_schedule *s = &f->calls->schedules[f->calls->n_schedules];
    double bytes, *list;
    s->n = (uint32_t)(f->call_first[call + 1] - f->call_first[call]);
    if (sizes_of(f, call, op, &bytes, &list)) return f->st->code;
    if (fc_collective_messages_by(f->collectives, op, s->n, root_member(f, call), bytes, list, &f->calls->arena,
                                  &s->messages, &s->n_messages, f->st))
        return f->st->code;
    f->calls->calls[call].schedule = f->calls->n_schedules++;
    return fc_call_schedule_sort(s, &f->calls->arena, f->st);
}

static enum fc_code schedule_calls(struct finder *f)
{
    uint32_t n = f->calls->n_calls, kinds = 0;
    for (f->mask = 15; f->mask < n; f->mask = 2 * f->mask + 1) {
    }
    f->bucket = fc_alloc(&f->scratch, (size_t)f->mask + 1, sizeof *f->bucket, f->st);
    f->next = fc_alloc(&f->scratch, n, sizeof *f->next, f->st);
    if (!f->bucket || !f->next) return f->st->code;
    memset(f->bucket, 0xff, ((size_t)f->mask + 1) * sizeof *f->bucket);
    for (uint32_t call = 0; call < n; call++) { /* calls[call].schedule: first the call that it is like */
        if (check_call(f, call)) return f->st->code;
        uint32_t *bucket = &f->bucket[hash_call(f, call) & f->mask], like = *bucket;
        while (like != FC_NONE && !alike(f, like, call)) like = f->next[like];
        f->calls->calls[call].schedule = like == FC_NONE ? call : like;
        if (like != FC_NONE) continue;
        f->next[call] = *bucket;
        *bucket = call;
        kinds++;
    }
    f->calls->schedules = fc_alloc(&f->calls->arena, kinds, sizeof *f->calls->schedules, f->st);
    if (!f->calls->schedules) return f->st->code;
    for (uint32_t call = 0; call < n; call++) { /* a call comes after the one that it is like */
        uint32_t like = f->calls->calls[call].schedule;
        if (like != call)
            f->calls->calls[call].schedule = f->calls->calls[like].schedule;
        else if (make_schedule(f, call))
            return f->st->code;
    }
    return FC_OK;
}

enum fc_code fc_job_calls_find(const struct fc_trace *trace, const struct fc_collective_choice *collectives,
                               uint64_t *part, struct fc_job_calls *calls, struct fc_status *st)
{
    struct finder f = {.trace = trace, .st = st, .collectives = collectives, .calls = calls, .part = part};
    memset(calls, 0, sizeof *calls);
    enum fc_code code = list_comms_of_ranks(&f);
    if (!code) code = number_calls(&f);
    if (!code) code = schedule_calls(&f);
    free(f.taker);
    fc_arena_free(&f.scratch);
    if (code) fc_job_calls_free(calls);
    return code;
}

void fc_job_calls_free(struct fc_job_calls *calls)
{
    fc_arena_free(&calls->arena);
    memset(calls, 0, sizeof *calls);
}
