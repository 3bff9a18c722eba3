/* format_liballprof.c - traces of liballprof ("htor's PMPI tracer", "collprof"; what schedgen of LogGOPSim
 * reads): one text a rank, a line for each call (format_liballprof_calls.c).
 *
 * The files are read twice: first for what only all of them tell (format_liballprof_survey.c), then for the
 * events. Computation is the wall clock between two calls. Bytes are counts times the type's size. A receive
 * is as long as its buffer, and wildcards stay: the format does not tell what came. Clocks are as written:
 * the offsets in the comments have neither a documented sign nor unit.
 *
 * What the format leaves open is kept as time and noted: which request MPI_Waitany and MPI_Waitsome
 * completed, whether a test succeeded (taken as failed, so that its request stays open), which communicator a
 * call made. */
#include "traces/formats/format_liballprof.h"
#include "traces/trace_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NO_REQUEST = -1, TO_NOBODY = INT32_MAX }; /* TO_NOBODY: of a message to MPI_PROC_NULL */

struct rank {
    struct fc_allprof *a;
    struct fc_stream stream;
    uint32_t rank;
    struct fc_open_requests open, kept, comms; /* address -> request; address -> persistent; (handle, size) -> use */
    struct fc_event *persistent;               /* [n_persistent]; op OTHER: to or from nobody */
    size_t n_persistent, persistent_capacity;
    int64_t *list;
    size_t list_capacity;
    int64_t left_ns; /* end of the call before, or start of the trace */
    bool begun;
    uint32_t polls;
    int64_t idle_ns; /* computation before the folded polls */
};

static enum fc_code note(const struct rank *r, const struct fc_allprof_call *call, const char *why)
{
    char text[160];
    snprintf(text, sizeof text, "%.*s: %s", fc_shown(call->name.length), call->name.text, why);
    return fc_sink_note(r->a->sink, text, 1);
}

/* ---- times ---- */

/* Steps the clock over a call; its computation is added to what polls left. */
static enum fc_code pass(struct rank *r, struct fc_allprof_call *call)
{
    const int64_t most = FC_MAX_TIME_NS;
    if (call->enter_ns - r->a->start_ns > most || call->leave_ns - r->a->start_ns > most)
        return fc_fail(r->a->st, FC_INPUT, call->where,
                       "%.0f s after the first call of the trace (allowed: up to 9000000 s)",
                       (double)(call->enter_ns - r->a->start_ns) / 1e9);
    if (call->leave_ns < call->enter_ns) {
        call->leave_ns = call->enter_ns;
        if (fc_sink_note(r->a->sink, "the clock goes back inside a call: taken as no time", 1)) return r->a->st->code;
    }
    if (r->begun && call->enter_ns < r->left_ns) {
        if (fc_sink_note(r->a->sink, "the clock goes back between two calls: taken as no time", 1))
            return r->a->st->code;
    } else if (r->begun) {
        r->idle_ns += call->enter_ns - r->left_ns;
    }
    r->begun = true;
    r->left_ns = call->leave_ns;
    return FC_OK;
}

static double since_start_s(const struct rank *r, int64_t ns)
{
    return (double)(ns - r->a->start_ns) / 1e9;
}

/* Hands on an event that lasts as long as the call; what was computed and polled before goes with it. */
static enum fc_code put(struct rank *r, const struct fc_allprof_call *call, struct fc_event e, const int64_t *list)
{
    e.enter_s = since_start_s(r, call->enter_ns);
    e.leave_s = since_start_s(r, call->leave_ns);
    e.compute_s = (double)r->idle_ns / 1e9;
    e.polls = (uint16_t)r->polls;
    r->idle_ns = r->polls = 0;
    return fc_sink_event(r->a->sink, r->rank, &e, list);
}

/* The same, taking no time: the call goes on. */
static enum fc_code put_part(struct rank *r, const struct fc_allprof_call *call, struct fc_event e)
{
    struct fc_allprof_call part = *call;
    part.leave_ns = part.enter_ns;
    return put(r, &part, e, NULL);
}

static enum fc_code put_plain(struct rank *r, const struct fc_allprof_call *call, int op)
{
    return put(r, call, fc_event_of(op), NULL);
}

static enum fc_code poll(struct rank *r, const struct fc_allprof_call *call)
{
    if (r->polls == UINT16_MAX && put_part(r, call, fc_event_of(FC_OP_POLL))) return r->a->st->code;
    r->polls++;
    return note(r, call, "whether it succeeded is not recorded: taken as failed");
}

/* ---- arguments ---- */

static enum fc_code read_comm(struct rank *r, const struct fc_allprof_call *call, int at, struct fc_event *e,
                              struct fc_allprof_use *use)
{
    if (fc_allprof_comm_of(call, at, use, r->a->st)) return r->a->st->code;
    int32_t known = fc_requests_find(&r->comms, (uint64_t)use->handle, use->size);
    if (known < 0) return fc_fail(r->a->st, FC_INPUT, call->where, "the file changed while it was read");
    e->comm = r->a->use[known].comm;
    return FC_OK;
}

/* Bytes of `count` of the type; -1 where there is neither. */
static enum fc_code read_bytes(struct rank *r, const struct fc_allprof_call *call, int count, int type, int64_t *bytes)
{
    int64_t n, size;
    if (fc_allprof_integer(call, count, "a count", 0, INT32_MAX, &n, r->a->st) ||
        fc_allprof_type_size(call, type, &size, r->a->st))
        return r->a->st->code;
    *bytes = n * size;
    return FC_OK;
}

/* A rank of the communicator as one of the world. */
static enum fc_code read_member(struct rank *r, const struct fc_allprof_call *call, int at, int32_t comm,
                                const char *what, int32_t *world)
{
    const struct fc_allprof_comm *c = &r->a->comm[comm];
    int64_t member;
    if (fc_allprof_integer(call, at, what, 0, (int64_t)c->n - 1, &member, r->a->st)) return r->a->st->code;
    *world = (int32_t)c->member[member];
    return FC_OK;
}

/* Peer and tag of a message; op OTHER where it is to or from nobody. */
static enum fc_code read_peer(struct rank *r, const struct fc_allprof_call *call, int peer, int tag, int comm,
                              struct fc_event *e)
{
    struct fc_allprof_use use;
    int64_t number, value;
    bool receive = e->op == FC_OP_RECV || e->op == FC_OP_IRECV;
    int any = r->a->mpich ? -2 : -1, nobody = -3 - any;
    if (read_comm(r, call, comm, e, &use) ||
        fc_allprof_integer(call, peer, "a peer", receive ? -2 : nobody, INT32_MAX, &number, r->a->st) ||
        fc_allprof_integer(call, tag, "a tag", receive ? -1 : 0, INT32_MAX, &value, r->a->st))
        return r->a->st->code;
    e->tag = (int32_t)value; /* -1 is MPI_ANY_TAG of both and FC_ANY */
    e->peer = FC_ANY;
    if (number == any && !receive)
        return fc_fail(r->a->st, FC_INPUT, call->where, "a message to any rank (%d is MPI_ANY_SOURCE)", any);
    if (number == nobody) *e = fc_event_of(FC_OP_OTHER);
    return number < 0 ? FC_OK : read_member(r, call, peer, e->comm, "a peer", &e->peer);
}

/* ---- requests ---- */

static enum fc_code read_request(struct rank *r, const struct fc_allprof_call *call, int at, uint64_t *address)
{
    int64_t value;
    if (fc_allprof_integer(call, at, "the address of a request", 0, INT64_MAX / 2, &value, r->a->st))
        return r->a->st->code;
    *address = (uint64_t)value;
    return FC_OK;
}

/* Makes the event's request, if it has a partner, and opens it under the address. */
static enum fc_code open_request(struct rank *r, const struct fc_allprof_call *call, struct fc_event *e,
                                 uint64_t address)
{
    int32_t number = TO_NOBODY;
    if (fc_requests_take(&r->open, address, 0) >= 0 &&
        fc_sink_note(r->a->sink, "a request whose completion is not recorded (a test that succeeded, or MPI_Waitany)",
                     1))
        return r->a->st->code;
    if (e->op != FC_OP_OTHER) number = e->request = fc_sink_requests(r->a->sink, r->rank);
    if (fc_requests_add(&r->open, address, 0, number, r->a->st)) return r->a->st->code;
    return put(r, call, *e, NULL);
}

static enum fc_code keep_persistent(struct rank *r, const struct fc_allprof_call *call, const struct fc_event *e,
                                    uint64_t address)
{
    struct fc_event *grown =
        fc_grow(r->persistent, &r->persistent_capacity, r->n_persistent + 1, sizeof *grown, r->a->st);
    if (!grown || r->n_persistent >= INT32_MAX - 1)
        return grown ? fc_refuse(r->a->st, FC_NO, "too many requests") : r->a->st->code;
    r->persistent = grown;
    r->persistent[r->n_persistent] = *e;
    fc_requests_take(&r->kept, address, 0);
    if (fc_requests_add(&r->kept, address, 0, (int32_t)r->n_persistent++, r->a->st)) return r->a->st->code;
    return put_plain(r, call, FC_OP_OTHER);
}

static enum fc_code start_request(struct rank *r, const struct fc_allprof_call *call, uint64_t address)
{
    int32_t number = fc_requests_find(&r->kept, address, 0);
    if (number < 0)
        return fc_fail(r->a->st, FC_INPUT, call->where,
                       "%.*s of request %" PRIu64 ", which no MPI_Send_init or MPI_Recv_init made",
                       fc_shown(call->name.length), call->name.text, address);
    struct fc_event e = r->persistent[number];
    return open_request(r, call, &e, address);
}

static enum fc_code complete(struct rank *r, uint64_t address, size_t *n)
{
    int32_t number = fc_requests_take(&r->open, address, 0);
    if (number == NO_REQUEST)
        return fc_sink_note(r->a->sink, "a wait for an address without an open request (MPI_REQUEST_NULL)", 1);
    if (number != TO_NOBODY) r->list[(*n)++] = number;
    return FC_OK;
}

/* Wait, Waitall, Start, Startall, Request_free: those of the address at argument `at`, `count` of them. */
static enum fc_code use_requests(struct rank *r, const struct fc_allprof_call *call, int shape)
{
    bool several = shape == FC_ALLPROF_WAITALL || shape == FC_ALLPROF_STARTALL;
    bool starts = shape == FC_ALLPROF_START || shape == FC_ALLPROF_STARTALL;
    int64_t count = 1;
    uint64_t base = 0;
    size_t n = 0;
    if (several && fc_allprof_integer(call, 0, "a number of requests", 0, 1 << 24, &count, r->a->st))
        return r->a->st->code;
    if (read_request(r, call, several, &base)) return r->a->st->code;
    int64_t *list = fc_grow(r->list, &r->list_capacity, (size_t)count + 1, sizeof *list, r->a->st);
    if (!list) return r->a->st->code;
    r->list = list;
    for (int64_t i = 0; i < count; i++) {
        uint64_t address = base + (uint64_t)i * r->a->stride;
        if (starts ? start_request(r, call, address) : complete(r, address, &n)) return r->a->st->code;
    }
    if (starts) return count ? FC_OK : put_plain(r, call, FC_OP_OTHER);
    struct fc_event e = fc_event_of(FC_OP_WAIT);
    e.n_list = (uint32_t)n;
    return put(r, call, e, r->list);
}

static enum fc_code release(struct rank *r, const struct fc_allprof_call *call)
{
    uint64_t address = 0;
    if (read_request(r, call, 0, &address)) return r->a->st->code;
    fc_requests_take(&r->kept, address, 0);
    fc_requests_take(&r->open, address, 0);
    return put_plain(r, call, FC_OP_OTHER);
}

/* ---- messages ---- */

static enum fc_code message(struct rank *r, const struct fc_allprof_call *call, const struct fc_allprof_kind *kind)
{
    struct fc_event e = fc_event_of(kind->op);
    uint64_t address = 0;
    e.mode = kind->mode;
    if (read_bytes(r, call, kind->count_at, kind->type_at, &e.bytes) || read_peer(r, call, 3, 4, kind->comm_at, &e))
        return r->a->st->code;
    if (!kind->request) return put(r, call, e, NULL);
    if (read_request(r, call, -1, &address)) return r->a->st->code;
    return kind->persistent ? keep_persistent(r, call, &e, address) : open_request(r, call, &e, address);
}

/* Sendrecv is the receive, the send and a wait. */
static enum fc_code exchange(struct rank *r, const struct fc_allprof_call *call, bool replace)
{
    struct fc_event send = fc_event_of(FC_OP_SEND), receive = fc_event_of(FC_OP_IRECV), wait = fc_event_of(FC_OP_WAIT);
    int comm = replace ? 7 : 10;
    if (read_bytes(r, call, 1, 2, &send.bytes) ||
        read_bytes(r, call, replace ? 1 : 6, replace ? 2 : 7, &receive.bytes) ||
        read_peer(r, call, 3, 4, comm, &send) || read_peer(r, call, replace ? 5 : 8, replace ? 6 : 9, comm, &receive))
        return r->a->st->code;
    if (receive.op == FC_OP_OTHER) return put(r, call, send, NULL);
    int64_t request = fc_sink_requests(r->a->sink, r->rank);
    receive.request = (int32_t)request;
    wait.n_list = 1;
    if (put_part(r, call, receive) || (send.op != FC_OP_OTHER && put_part(r, call, send))) return r->a->st->code;
    return put(r, call, wait, &request);
}

/* ---- collectives ---- */

/* Counts behind an array's address: "4,8,15" in field `at`, as bytes of `type` into list[n]. */
static enum fc_code read_counts(struct rank *r, const struct fc_allprof_call *call, int at, int64_t type, uint32_t n)
{
    const char *from = call->field[at].text, *end = from + call->field[at].length;
    int64_t *list = fc_grow(r->list, &r->list_capacity, n, sizeof *list, r->a->st);
    if (!list) return r->a->st->code;
    r->list = list;
    for (uint32_t i = 0; i < n; i++) {
        const char *comma = from <= end ? memchr(from, ',', (size_t)(end - from)) : NULL;
        long long count = 0;
        if (from > end || !comma != (i == n - 1))
            return fc_fail(r->a->st, FC_INPUT, call->where,
                           "a list of counts that is not one for each of the %" PRIu32 " members", n);
        if (!comma) comma = end;
        if (fc_word_int(from, (size_t)(comma - from), 0, INT32_MAX, "a count", &count, call->where, r->a->st))
            return r->a->st->code;
        list[i] = count * type;
        from = comma + 1;
    }
    return FC_OK;
}

/* Alltoallv, Reduce_scatter: only with the counts that newer writers put behind the array's address. */
static enum fc_code read_list(struct rank *r, const struct fc_allprof_call *call, const struct fc_allprof_kind *kind,
                              int extra, const struct fc_allprof_use *use, struct fc_event *e)
{
    bool sizes = kind->shape == FC_ALLPROF_SIZES;
    int n = call->n_fields - extra;
    int type_at = sizes ? (n == 13 ? 5 : 4) : n - 3; /* one or both arrays of each side are written out */
    int64_t type;
    if (n == kind->n_low)
        return fc_fail(r->a->st, FC_INPUT, call->where, "%.*s without its counts: only the array's address is written",
                       fc_shown(call->name.length), call->name.text);
    if (fc_allprof_type_size(call, type_at, &type, r->a->st) || read_counts(r, call, sizes ? 2 : 3, type, use->size))
        return r->a->st->code;
    if (!sizes) {
        e->bytes = r->list[use->rank];
        return FC_OK;
    }
    e->n_list = use->size;
    for (uint32_t i = 0; i < use->size; i++) e->bytes += r->list[i];
    return FC_OK;
}

static enum fc_code collective(struct rank *r, const struct fc_allprof_call *call, const struct fc_allprof_kind *kind,
                               bool nonblocking)
{
    struct fc_event e = fc_event_of(kind->op);
    struct fc_allprof_use use;
    uint64_t address = 0;
    int extra = nonblocking; /* the request behind the other arguments */
    e.mode = nonblocking;
    if (read_comm(r, call, kind->comm_at - extra, &e, &use)) return r->a->st->code;
    if (kind->shape != FC_ALLPROF_COLLECTIVE) {
        if (read_list(r, call, kind, extra, &use, &e)) return r->a->st->code;
    } else if (kind->count_at != FC_ALLPROF_ABSENT) {
        int count = kind->count_at < 0 ? kind->count_at - extra : kind->count_at;
        int type = kind->type_at < 0 ? kind->type_at - extra : kind->type_at;
        if (read_bytes(r, call, count, type, &e.bytes)) return r->a->st->code;
    }
    int root = kind->root_at < 0 ? kind->root_at - extra : kind->root_at;
    if (root != FC_ALLPROF_ABSENT && read_member(r, call, root, e.comm, "a root", &e.peer)) return r->a->st->code;
    if (!nonblocking) return put(r, call, e, r->list);
    if (read_request(r, call, -1, &address)) return r->a->st->code;
    e.request = fc_sink_requests(r->a->sink, r->rank);
    if (fc_requests_take(&r->open, address, 0) >= 0 &&
        fc_sink_note(r->a->sink, "a request whose completion is not recorded (a test that succeeded, or MPI_Waitany)",
                     1))
        return r->a->st->code;
    if (fc_requests_add(&r->open, address, 0, e.request, r->a->st)) return r->a->st->code;
    return put(r, call, e, r->list);
}

/* ---- calls ---- */

static bool named(const struct fc_allprof_call *call, const char *name)
{
    return strlen(name) == call->name.length && memcmp(name, call->name.text, call->name.length) == 0;
}

static enum fc_code plain(struct rank *r, const struct fc_allprof_call *call)
{
    if (named(call, "MPI_Init") || named(call, "MPI_Init_thread")) return put_plain(r, call, FC_OP_INIT);
    return put_plain(r, call, named(call, "MPI_Finalize") ? FC_OP_FINALIZE : FC_OP_OTHER);
}

static enum fc_code read_call(struct rank *r, struct fc_allprof_call *call)
{
    bool nonblocking;
    const struct fc_allprof_kind *kind = fc_allprof_kind(call, &nonblocking);
    struct fc_event e = fc_event_of(FC_OP_COMM);
    struct fc_allprof_use use;
    if (pass(r, call)) return r->a->st->code;
    if (!kind) return note(r, call, "only its time is kept") ? r->a->st->code : put_plain(r, call, FC_OP_OTHER);
    switch (kind->shape) {
    case FC_ALLPROF_MESSAGE: return message(r, call, kind);
    case FC_ALLPROF_EXCHANGE: return exchange(r, call, false);
    case FC_ALLPROF_REPLACE: return exchange(r, call, true);
    case FC_ALLPROF_WAIT:
    case FC_ALLPROF_WAITALL:
    case FC_ALLPROF_START:
    case FC_ALLPROF_STARTALL: return use_requests(r, call, kind->shape);
    case FC_ALLPROF_RELEASE: return release(r, call);
    case FC_ALLPROF_OPEN:
        return note(r, call, "which request completed is not recorded: only its time is kept")
                   ? r->a->st->code
                   : put_plain(r, call, FC_OP_OTHER);
    case FC_ALLPROF_POLL: return poll(r, call);
    case FC_ALLPROF_MAKES:
        if (read_comm(r, call, 0, &e, &use) || note(r, call, "which communicator it made is not recorded"))
            return r->a->st->code;
        e.peer = e.comm;
        e.comm = -1;
        return put(r, call, e, NULL);
    case FC_ALLPROF_PLAIN: return plain(r, call);
    default: return collective(r, call, kind, nonblocking);
    }
}

static enum fc_code read_rank(struct rank *r)
{
    struct fc_allprof *a = r->a;
    const char *file = fc_allprof_file(a, r->rank);
    struct fc_allprof_call call;
    if (!file || fc_sink_file(a->sink, r->rank, file) || fc_stream_open(file, &r->stream, a->st)) return a->st->code;
    for (size_t i = a->first_use[r->rank]; i < a->first_use[r->rank + 1]; i++)
        if (fc_requests_add(&r->comms, (uint64_t)a->use[i].handle, a->use[i].size, (int32_t)i, a->st))
            return a->st->code;
    for (;;) {
        if (fc_allprof_next(&r->stream, &call, a->st)) return a->st->code;
        if (!call.name.text) break;
        if (read_call(r, &call)) return a->st->code;
    }
    if (!r->polls) return FC_OK;
    call.enter_ns = call.leave_ns = r->left_ns;
    return put_plain(r, &call, FC_OP_POLL);
}

static enum fc_code read_liballprof(const char *path, const struct fc_trace_options *options,
                                    struct fc_trace_sink *sink)
{
    struct fc_allprof a = {.sink = sink, .st = sink->st};
    struct stat info;
    (void)options;
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (!fc_allprof_name(path, folder, &a, sink->st))
        fc_fail(sink->st, FC_INPUT, (struct fc_place){path, 0},
                "the name holds no rank (expected one file a rank, with -0, -1, ... in their names)");
    else
        fc_allprof_survey(&a);
    for (uint32_t rank = 0; !sink->st->code && rank < a.n_ranks; rank++) {
        struct rank r = {.a = &a, .rank = rank};
        read_rank(&r);
        fc_stream_close(&r.stream);
        fc_requests_free(&r.open);
        fc_requests_free(&r.kept);
        fc_requests_free(&r.comms);
        free(r.persistent);
        free(r.list);
    }
    fc_allprof_free(&a);
    return sink->st->code;
}

static bool is_liballprof(const struct fc_trace_probe *probe)
{
    struct fc_allprof a = {0};
    struct fc_status st = {0};
    if (!probe->folder) return fc_allprof_is(probe);
    bool found = fc_allprof_name(probe->path, true, &a, &st);
    fc_allprof_free(&a);
    return found;
}

const struct fc_trace_format fc_format_liballprof = {
    .name = "liballprof",
    .what = "text of liballprof, one file a rank (schedgen of LogGOPSim)",
    .is = is_liballprof,
    .read = read_liballprof,
};
