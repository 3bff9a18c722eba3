/* trace_check.c - what makes a trace whole: checked once, after reading or block by block, so that everything
 * behind may index without looking.
 *
 * Invariants afterwards: op, mode, communicator, peer, list and times in range; the rank is a member of every
 * communicator that it uses and so is its peer; request k of a rank is the k-th that it makes and is
 * completed at most once, after it was made. Balance is not required: a trace may be a window. */
#include "core/array.h"
#include "core/values.h"
#include "traces/trace_format.h"
#include "traces/trace_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct fc_place here(const struct fc_trace_checker *c)
{
    return fc_event_place(c->trace, c->rank, c->trace->first_event[c->rank] + c->number);
}

/* Most communicators list their members in order; only the others are sorted. */
enum fc_code fc_check_start(struct fc_trace_checker *c, const struct fc_trace *t, struct fc_status *st)
{
    uint64_t n_members = t->comm_first[t->n_comms];
    *c = (struct fc_trace_checker){.trace = t, .st = st};
    c->sorted = malloc((n_members + 1) * sizeof *c->sorted);
    if (!c->sorted) return fc_out_of_memory(st, "%" PRIu64 " members of communicators", n_members);
    memcpy(c->sorted, t->comm_member, n_members * sizeof *c->sorted);
    for (uint32_t k = 0; k < t->n_comms; k++) {
        uint32_t *member = c->sorted + t->comm_first[k];
        uint64_t n = t->comm_first[k + 1] - t->comm_first[k], i = 1;
        while (i < n && member[i - 1] < member[i]) i++;
        if (i < n) qsort(member, n, sizeof *member, fc_by_number);
    }
    return FC_OK;
}

void fc_check_end(struct fc_trace_checker *c)
{
    free(c->sorted);
    c->sorted = NULL;
}

void fc_check_rank_free(struct fc_rank_check *r)
{
    free(r->completed);
    *r = (struct fc_rank_check){0};
}

static bool is_member(const struct fc_trace_checker *c, int32_t comm, uint32_t rank)
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
static enum fc_code check_comm(const struct fc_trace_checker *c, int32_t comm)
{
    if (comm < 0 || (uint32_t)comm >= c->trace->n_comms)
        return fc_fail(c->st, FC_INPUT, here(c), "communicator %" PRId32 " is out of range (there are %" PRIu32 ")",
                       comm, c->trace->n_comms);
    if (comm == c->of->comm) return FC_OK;
    if (is_member(c, comm, c->rank)) {
        c->of->comm = comm;
        return FC_OK;
    }
    return fc_fail(c->st, FC_INPUT, here(c), "rank %" PRIu32 " is no member of communicator %" PRId32, c->rank, comm);
}

static enum fc_code check_peer(const struct fc_trace_checker *c, int32_t comm)
{
    const char *what = fc_op_fields[c->event->op] & FC_HAS_ROOT ? "root" : "peer";
    int32_t peer = c->event->peer;
    if (peer == FC_ANY && is_receive(c->event)) return FC_OK;
    if (peer < 0 || (uint32_t)peer >= c->trace->n_ranks)
        return fc_fail(c->st, FC_INPUT, here(c), "%s %" PRId32 " is out of range (allowed: 0 to %" PRIu32 ")", what,
                       peer, c->trace->n_ranks - 1);
    if (is_member(c, comm, (uint32_t)peer)) return FC_OK;
    return fc_fail(c->st, FC_INPUT, here(c), "%s %" PRId32 " is no member of communicator %" PRId32, what, peer, comm);
}

static enum fc_code check_sizes(const struct fc_trace_checker *c)
{
    const struct fc_trace *t = c->trace;
    const struct fc_event *e = c->event;
    uint64_t members = t->comm_first[e->comm + 1] - t->comm_first[e->comm];
    int64_t sum = 0;
    if (e->n_list != members)
        return fc_fail(c->st, FC_INPUT, here(c),
                       "%" PRIu32 " sizes for the %" PRIu64 " members of communicator %" PRId32, e->n_list, members,
                       e->comm);
    for (uint32_t i = 0; i < e->n_list; i++)
        if (c->list[i] < 0 || __builtin_add_overflow(sum, c->list[i], &sum))
            return fc_fail(c->st, FC_INPUT, here(c), "size %" PRId64 " of member %" PRIu32 " is negative or too large",
                           c->list[i], i);
    if (sum == e->bytes) return FC_OK;
    return fc_fail(c->st, FC_INPUT, here(c), "the sizes sum to %" PRId64 ", not to bytes=%" PRId64, sum, e->bytes);
}

/* Marks request k, which is made; false: it was marked before. What all have completed is forgotten: memory is a bit
 * for each request from the oldest open one on. */
static bool complete(struct fc_rank_check *r, uint64_t k)
{
    if (k < r->base) return false;
    uint64_t word = (k - r->base) / 64, bit = UINT64_C(1) << k % 64;
    if (r->completed[r->head + word] & bit) return false;
    r->completed[r->head + word] |= bit;
    while (r->head < r->n_words && r->completed[r->head] == UINT64_MAX) {
        r->head++;
        r->base += 64;
    }
    return true;
}

/* Room for the bit of one request more. */
static enum fc_code make_request(struct fc_rank_check *r, struct fc_status *st)
{
    uint64_t word = r->head + (r->made - r->base) / 64;
    r->made++;
    if (word < r->n_words) return FC_OK;
    if (r->head > 16 && r->head >= r->n_words / 2) {
        memmove(r->completed, r->completed + r->head, (r->n_words - r->head) * sizeof *r->completed);
        r->n_words -= r->head;
        r->head = 0;
    }
    if (!FC_GROW(r->completed, r->capacity, r->n_words + 1)) return fc_out_of_memory(st, "open requests of a trace");
    r->completed[r->n_words++] = 0;
    return FC_OK;
}

static enum fc_code check_requests(struct fc_trace_checker *c)
{
    const struct fc_event *e = c->event;
    for (uint32_t i = 0; i < e->n_list; i++) {
        int64_t r = c->list[i];
        if (r < 0 || (uint64_t)r >= c->of->made)
            return fc_fail(c->st, FC_INPUT, here(c),
                           "request %" PRId64 " is completed but was never made (this rank "
                           "has made %" PRIu64 " so far)",
                           r, c->of->made);
        if (!complete(c->of, (uint64_t)r))
            return fc_fail(c->st, FC_INPUT, here(c), "request %" PRId64 " is completed twice", r);
    }
    return FC_OK;
}

static enum fc_code check_numbers(struct fc_trace_checker *c)
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
        return fc_fail(c->st, FC_INPUT, here(c), "the call leaves (%.9f s) before it enters (%.9f s)", e->leave_s,
                       e->enter_s);
    if (e->n_list && !c->trace->graph && !(fc_op_fields[e->op] & (FC_HAS_REQUESTS | FC_HAS_SIZES)))
        return fc_fail(c->st, FC_INPUT, here(c), "%s has no list", fc_op_names[e->op]);
    return FC_OK;
}

/* An event of a graph: its kind, its processor, and only earlier events before it. */
static enum fc_code check_vertex(const struct fc_trace_checker *c)
{
    const struct fc_event *e = c->event;
    int64_t number = (int64_t)c->number;
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
        int64_t before = c->list[i];
        if (before < 0) before = ~before;
        if (before >= number)
            return fc_fail(c->st, FC_INPUT, here(c),
                           "event %" PRId64 " of rank %" PRIu32 " depends on event %" PRId64
                           ", which does not come before it",
                           number, c->rank, before);
    }
    return FC_OK;
}

enum fc_code fc_check_event(struct fc_trace_checker *c, struct fc_rank_check *of, uint32_t rank, uint64_t number,
                            const struct fc_event *e, const int64_t *list)
{
    c->of = of;
    c->rank = rank;
    c->number = number;
    c->event = e;
    c->list = list;
    if (check_numbers(c)) return c->st->code;
    int fields = fc_op_fields[e->op];
    if ((fields & FC_HAS_COMM) && !(e->op == FC_OP_COMM && e->comm == -1) && check_comm(c, e->comm)) return FC_INPUT;
    if ((fields & FC_HAS_PARENT) && check_comm(c, e->peer)) return FC_INPUT;
    if ((fields & (FC_HAS_PEER | FC_HAS_ROOT)) && check_peer(c, fields & FC_HAS_COMM ? e->comm : 0)) return FC_INPUT;
    if (c->trace->graph) return check_vertex(c);
    if ((fields & FC_HAS_SIZES) && check_sizes(c)) return FC_INPUT;
    if ((fields & FC_HAS_REQUESTS) && check_requests(c)) return FC_INPUT;
    bool makes = fc_makes_request(e->op, e->mode);
    if (makes ? (uint64_t)e->request != of->made : e->request != -1)
        return fc_fail(c->st, FC_INPUT, here(c), "request %" PRId32 " of %s (expected %" PRId64 ": requests count up)",
                       e->request, fc_op_names[e->op], makes ? (int64_t)of->made : INT64_C(-1));
    return makes ? make_request(of, c->st) : FC_OK;
}

static enum fc_code check_rank(struct fc_trace_checker *c, uint32_t rank, struct fc_rank_check *of)
{
    const struct fc_trace *t = c->trace;
    of->made = of->base = of->head = of->n_words = 0;
    of->comm = 0;
    for (uint64_t i = t->first_event[rank]; i < t->first_event[rank + 1]; i++) {
        const struct fc_event *e = &t->events[i];
        if (e->n_list && (e->list > t->n_lists || e->n_list > t->n_lists - e->list))
            return fc_fail(c->st, FC_INPUT, fc_event_place(t, rank, i), "a list is out of range");
        if (fc_check_event(c, of, rank, i - t->first_event[rank], e, fc_event_list(t->lists, e))) return c->st->code;
    }
    return FC_OK;
}

enum fc_code fc_trace_check(const struct fc_trace *trace, struct fc_status *st)
{
    struct fc_trace_checker c;
    struct fc_rank_check of = {0};
    enum fc_code code = fc_check_start(&c, trace, st);
    for (uint32_t r = 0; !code && r < trace->n_ranks; r++) code = check_rank(&c, r, &of);
    fc_check_rank_free(&of);
    fc_check_end(&c);
    return code;
}
