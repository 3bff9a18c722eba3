/* trace_check.c - what makes a trace whole: checked once after reading, in either form, so that everything
 * behind may index without looking.
 *
 * Invariants afterwards: op, mode, communicator, peer, list and times in range; the rank is a member of every
 * communicator that it uses and so is its peer; request k of a rank is the k-th that it makes and is
 * completed at most once, after it was made. Balance is not required (a trace may be a window): see
 * trace_match.c. */
#include "traces/trace_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct checker {
    const struct fc_trace *trace;
    struct fc_status *st;
    struct fc_arena arena;
    uint32_t *sorted;     /* members of each communicator, ascending; layout of comm_member */
    uint64_t *rank_first; /* [n_ranks + 1] */
    uint32_t *rank_comm;  /* communicators of each rank */
    uint32_t *stamp;      /* [n_comms] rank + 1 when the rank at hand is a member */
    uint64_t *completed;  /* bit k: request k of the rank at hand is completed */
    uint64_t made;
    uint32_t rank;
    const struct fc_event *event;
};

static struct fc_place here(const struct checker *c)
{
    return fc_event_place(c->trace, c->rank, (uint64_t)(c->event - c->trace->events));
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Most communicators list their members in order; only the others are sorted. */
static void sort_members(struct checker *c)
{
    const struct fc_trace *t = c->trace;
    memcpy(c->sorted, t->comm_member, t->comm_first[t->n_comms] * sizeof *c->sorted);
    for (uint32_t k = 0; k < t->n_comms; k++) {
        uint32_t *member = c->sorted + t->comm_first[k];
        uint64_t n = t->comm_first[k + 1] - t->comm_first[k], i = 1;
        while (i < n && member[i - 1] < member[i]) i++;
        if (i < n) qsort(member, n, sizeof *member, by_number);
    }
}

static void list_comms_of_ranks(struct checker *c)
{
    const struct fc_trace *t = c->trace;
    for (uint64_t i = 0; i < t->comm_first[t->n_comms]; i++) c->rank_first[t->comm_member[i] + 1]++;
    for (uint32_t r = 0; r < t->n_ranks; r++) c->rank_first[r + 1] += c->rank_first[r];
    for (uint32_t k = t->n_comms;
         k-- > 0;) /* filled from the back: rank_first[r + 1] walks down to r's start */
        for (uint64_t i = t->comm_first[k]; i < t->comm_first[k + 1]; i++)
            c->rank_comm[--c->rank_first[t->comm_member[i] + 1]] = k;
    for (uint32_t r = 0; r < t->n_ranks; r++) c->rank_first[r] = c->rank_first[r + 1];
    c->rank_first[t->n_ranks] = t->comm_first[t->n_comms];
}

static enum fc_code start(struct checker *c)
{
    const struct fc_trace *t = c->trace;
    uint64_t n_members = t->comm_first[t->n_comms], most = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        uint64_t n = t->first_event[r + 1] - t->first_event[r];
        if (n > most) most = n;
    }
    c->sorted = fc_alloc(&c->arena, n_members, sizeof *c->sorted, c->st);
    c->rank_first = fc_alloc(&c->arena, (size_t)t->n_ranks + 1, sizeof *c->rank_first, c->st);
    c->rank_comm = fc_alloc(&c->arena, n_members, sizeof *c->rank_comm, c->st);
    c->stamp = fc_alloc(&c->arena, t->n_comms, sizeof *c->stamp, c->st);
    c->completed = fc_alloc(&c->arena, most / 64 + 1, sizeof *c->completed, c->st);
    if (!c->sorted || !c->rank_first || !c->rank_comm || !c->stamp || !c->completed) return FC_NO;
    sort_members(c);
    list_comms_of_ranks(c);
    return FC_OK;
}

static bool is_member(const struct checker *c, int32_t comm, uint32_t rank)
{
    uint64_t low = c->trace->comm_first[comm], end = c->trace->comm_first[comm + 1], high = end;
    if (comm == 0) return rank < c->trace->n_ranks;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (c->sorted[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && c->sorted[low] == rank;
}

static bool is_receive(const struct fc_event *e)
{
    return e->op == FC_OP_RECV || e->op == FC_OP_IRECV;
}

/* The rank at hand belongs to communicator `comm`. */
static enum fc_code check_comm(const struct checker *c, int32_t comm)
{
    if (comm < 0 || (uint32_t)comm >= c->trace->n_comms)
        return fc_fail(c->st, FC_INPUT, here(c),
                       "communicator %" PRId32 " is out of range (there are %" PRIu32 ")", comm,
                       c->trace->n_comms);
    if (c->stamp[comm] == c->rank + 1) return FC_OK;
    return fc_fail(c->st, FC_INPUT, here(c), "rank %" PRIu32 " is no member of communicator %" PRId32,
                   c->rank, comm);
}

static enum fc_code check_peer(const struct checker *c, int32_t comm)
{
    const char *what = fc_op_fields[c->event->op] & FC_HAS_ROOT ? "root" : "peer";
    int32_t peer = c->event->peer;
    if (peer == FC_ANY && is_receive(c->event)) return FC_OK;
    if (peer < 0 || (uint32_t)peer >= c->trace->n_ranks)
        return fc_fail(c->st, FC_INPUT, here(c), "%s %" PRId32 " is out of range (allowed: 0 to %" PRIu32 ")",
                       what, peer, c->trace->n_ranks - 1);
    if (is_member(c, comm, (uint32_t)peer)) return FC_OK;
    return fc_fail(c->st, FC_INPUT, here(c), "%s %" PRId32 " is no member of communicator %" PRId32, what,
                   peer, comm);
}

static enum fc_code check_sizes(const struct checker *c)
{
    const struct fc_trace *t = c->trace;
    const struct fc_event *e = c->event;
    uint64_t members = t->comm_first[e->comm + 1] - t->comm_first[e->comm];
    int64_t sum = 0;
    if (e->n_list != members)
        return fc_fail(c->st, FC_INPUT, here(c),
                       "%" PRIu32 " sizes for the %" PRIu64 " members of communicator %" PRId32, e->n_list,
                       members, e->comm);
    for (uint32_t i = 0; i < e->n_list; i++)
        if (t->lists[e->list + i] < 0 || __builtin_add_overflow(sum, t->lists[e->list + i], &sum))
            return fc_fail(c->st, FC_INPUT, here(c),
                           "size %" PRId64 " of member %" PRIu32 " is negative or too large",
                           t->lists[e->list + i], i);
    if (sum == e->bytes) return FC_OK;
    return fc_fail(c->st, FC_INPUT, here(c), "the sizes sum to %" PRId64 ", not to bytes=%" PRId64, sum,
                   e->bytes);
}

static enum fc_code check_requests(struct checker *c)
{
    const struct fc_event *e = c->event;
    for (uint32_t i = 0; i < e->n_list; i++) {
        int64_t r = c->trace->lists[e->list + i];
        if (r < 0 || (uint64_t)r >= c->made)
            return fc_fail(c->st, FC_INPUT, here(c),
                           "request %" PRId64 " is completed but was never made (this rank "
                           "has made %" PRIu64 " so far)",
                           r, c->made);
        if (c->completed[r / 64] >> (r % 64) & 1)
            return fc_fail(c->st, FC_INPUT, here(c), "request %" PRId64 " is completed twice", r);
        c->completed[r / 64] |= UINT64_C(1) << (r % 64);
    }
    return FC_OK;
}

static enum fc_code check_numbers(struct checker *c)
{
    const struct fc_event *e = c->event;
    const double most = (double)FC_MAX_TIME_NS / 1e9;
    if (e->op >= FC_N_OPS) return fc_fail(c->st, FC_INPUT, here(c), "op number %d is unknown", e->op);
    if (!fc_mode_name(e->op, e->mode))
        return fc_fail(c->st, FC_INPUT, here(c), "%s has no mode %d", fc_op_names[e->op], e->mode);
    bool any_tag = e->tag == FC_ANY && is_receive(e);
    if ((e->tag < 0 && !any_tag) || e->bytes < 0)
        return fc_fail(c->st, FC_INPUT, here(c), "%s is negative", e->bytes < 0 ? "the number of bytes" : "the tag");
    if (!(e->enter_s >= 0 && e->leave_s <= most && e->compute_s >= 0 && e->compute_s <= most))
        return fc_fail(c->st, FC_INPUT, here(c), "a time is out of range (allowed: 0 to 9000000 seconds)");
    if (e->leave_s < e->enter_s)
        return fc_fail(c->st, FC_INPUT, here(c), "the call leaves (%.9f s) before it enters (%.9f s)",
                       e->leave_s, e->enter_s);
    if (e->n_list && (e->list > c->trace->n_lists || e->n_list > c->trace->n_lists - e->list))
        return fc_fail(c->st, FC_INPUT, here(c), "a list is out of range");
    if (e->n_list && !c->trace->graph && !(fc_op_fields[e->op] & (FC_HAS_REQUESTS | FC_HAS_SIZES)))
        return fc_fail(c->st, FC_INPUT, here(c), "%s has no list", fc_op_names[e->op]);
    return FC_OK;
}

/* An event of a graph: its kind, its processor, and only earlier events before it. */
static enum fc_code check_vertex(const struct checker *c)
{
    const struct fc_event *e = c->event;
    int64_t number = e - c->trace->events - (int64_t)c->trace->first_event[c->rank];
    bool collective = e->op >= FC_OP_BARRIER && e->op <= FC_OP_SCAN && e->op != FC_OP_ALLTOALLV;
    if (e->op != FC_OP_SEND && e->op != FC_OP_RECV && e->op != FC_OP_OTHER && !collective)
        return fc_fail(c->st, FC_INPUT, here(c),
                       "a graph has no %s (expected send, recv, other or a collective but alltoallv)",
                       fc_op_names[e->op]);
    if (collective && e->mode)
        return fc_fail(c->st, FC_INPUT, here(c), "a graph has no nonblocking %s", fc_op_names[e->op]);
    if (e->request < 0)
        return fc_fail(c->st, FC_INPUT, here(c), "processor %" PRId32 " of a rank is negative", e->request);
    for (uint32_t i = 0; i < e->n_list; i++) {
        int64_t before = c->trace->lists[e->list + i];
        if (before < 0) before = ~before;
        if (before >= number)
            return fc_fail(c->st, FC_INPUT, here(c),
                           "event %" PRId64 " of rank %" PRIu32 " depends on event %" PRId64
                           ", which does not come before it",
                           number, c->rank, before);
    }
    return FC_OK;
}

static enum fc_code check_event(struct checker *c)
{
    const struct fc_event *e = c->event;
    if (check_numbers(c)) return c->st->code;
    int fields = fc_op_fields[e->op];
    if ((fields & FC_HAS_COMM) && !(e->op == FC_OP_COMM && e->comm == -1) && check_comm(c, e->comm))
        return FC_INPUT;
    if ((fields & FC_HAS_PARENT) && check_comm(c, e->peer)) return FC_INPUT;
    if ((fields & (FC_HAS_PEER | FC_HAS_ROOT)) && check_peer(c, fields & FC_HAS_COMM ? e->comm : 0))
        return FC_INPUT;
    if (c->trace->graph) return check_vertex(c);
    if ((fields & FC_HAS_SIZES) && check_sizes(c)) return FC_INPUT;
    if ((fields & FC_HAS_REQUESTS) && check_requests(c)) return FC_INPUT;
    bool makes = fc_makes_request(e->op, e->mode);
    if (makes ? (uint64_t)e->request != c->made : e->request != -1)
        return fc_fail(c->st, FC_INPUT, here(c),
                       "request %" PRId32 " of %s (expected %" PRId64 ": requests count up)", e->request,
                       fc_op_names[e->op], makes ? (int64_t)c->made : INT64_C(-1));
    c->made += makes;
    return FC_OK;
}

static enum fc_code check_rank(struct checker *c)
{
    const struct fc_trace *t = c->trace;
    uint64_t n = t->first_event[c->rank + 1] - t->first_event[c->rank];
    memset(c->completed, 0, (n / 64 + 1) * sizeof *c->completed);
    c->made = 0;
    for (uint64_t i = c->rank_first[c->rank]; i < c->rank_first[c->rank + 1]; i++)
        c->stamp[c->rank_comm[i]] = c->rank + 1;
    for (uint64_t e = t->first_event[c->rank]; e < t->first_event[c->rank + 1]; e++) {
        c->event = &t->events[e];
        if (check_event(c)) return c->st->code;
    }
    return FC_OK;
}

enum fc_code fc_trace_check(const struct fc_trace *trace, struct fc_status *st)
{
    struct checker c = {.trace = trace, .st = st};
    enum fc_code code = start(&c);
    for (c.rank = 0; !code && c.rank < trace->n_ranks; c.rank++) code = check_rank(&c);
    fc_arena_free(&c.arena);
    return code;
}
