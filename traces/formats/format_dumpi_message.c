/* format_dumpi_message.c - point-to-point calls of DUMPI and the life of requests.
 *
 * Statuses are trusted only where they can be right: of receives, a sender in the communicator, at most the
 * bytes asked for, and "cancelled" only after MPI_Cancel; for sends, MPI libraries leave garbage in them. A
 * wildcard's sender and tag come from the status; without one they stay FC_ANY. Under MPICH a receive from
 * MPI_PROC_NULL is recorded as one from any source: its status names no sender, and so tells it. Request ids
 * are those of the MPI handle: reused after completion, and under Open MPI shared by sends that are complete
 * already (the oldest completes first). */
#include "traces/formats/format_dumpi.h"

#include <inttypes.h>

enum target { REACHES, TO_NOBODY, KEPT };

/* The event of a message: communicator, peer, tag, bytes. KEPT: its communicator is unknown, and its time was
 * kept. */
static enum fc_code message(struct fc_dumpi_reader *r, int op, const struct fc_dumpi_argument *a, int64_t comm_handle,
                            struct fc_event *e, enum target *target)
{
    const struct fc_dumpi_comm *comm;
    bool receive = op == FC_OP_RECV || op == FC_OP_IRECV;
    int64_t peer = a[2].value, tag = a[3].value;
    *e = fc_dumpi_event(r, op);
    *target = TO_NOBODY;
    if (peer < 0 && !(receive && peer == FC_ANY)) return FC_OK;
    *target = KEPT;
    if (fc_dumpi_comm(r, comm_handle, &comm) || !comm) return r->run->st->code;
    *target = REACHES;
    e->comm = comm->number;
    if (tag < 0 && !(receive && tag == FC_ANY)) return fc_dumpi_fail(&r->file, "tag %" PRId64 " is negative", tag);
    e->tag = (int32_t)tag;
    e->peer = FC_ANY;
    if (peer >= 0 && fc_dumpi_world(r, comm, peer, &e->peer)) return r->run->st->code;
    return fc_dumpi_bytes(r, a[0].value, a[1].value, &e->bytes);
}

/* What a receive brought, into its event; false: it was from nobody. Numbers of communicators are indices in
 * run->comm. */
static bool take_status(struct fc_dumpi_reader *r, const struct fc_dumpi_status *status, struct fc_event *e)
{
    const struct fc_dumpi_comm *comm = &r->run->comm[e->comm];
    if (e->peer == FC_ANY && status->source < 0) return false;
    if (status->bytes >= 0 && status->bytes <= e->bytes) e->bytes = status->bytes;
    if (e->tag == FC_ANY && status->tag >= 0) e->tag = status->tag;
    if (e->peer == FC_ANY && (uint32_t)status->source < comm->n) e->peer = (int32_t)comm->member[status->source];
    return true;
}

/* ---- blocking ---- */

static enum fc_code send(struct fc_dumpi_reader *r)
{
    static const uint8_t modes[] = {0, 0, 0, 2, 1, 3};
    const struct fc_dumpi_argument *a = r->record.arg;
    struct fc_event e;
    enum target target;
    if (message(r, FC_OP_SEND, a, a[4].value, &e, &target) || target == KEPT) return r->run->st->code;
    if (target == TO_NOBODY) return fc_dumpi_other(r, NULL);
    e.mode = modes[r->record.function];
    return fc_hold_event(&r->hold, &e, NULL);
}

static enum fc_code receive(struct fc_dumpi_reader *r)
{
    const struct fc_dumpi_argument *a = r->record.arg;
    struct fc_dumpi_status status;
    struct fc_event e;
    enum target target;
    if (message(r, FC_OP_RECV, a, a[4].value, &e, &target) || target == KEPT) return r->run->st->code;
    if (target == REACHES && fc_dumpi_status(&r->file, &a[5], 0, &status) && !take_status(r, &status, &e))
        target = TO_NOBODY;
    return target == TO_NOBODY ? fc_dumpi_other(r, NULL) : fc_hold_event(&r->hold, &e, NULL);
}

/* Both halves: IRECV, SEND, WAIT; one half alone when the other is to nobody. */
static enum fc_code send_receive(struct fc_dumpi_reader *r)
{
    const struct fc_dumpi_argument *a = r->record.arg;
    bool replace = r->record.function == DUMPI_SENDRECV_REPLACE;
    struct fc_dumpi_argument in[4] = {a[4], a[5], a[6], a[7]};
    if (replace) in[0] = a[0], in[1] = a[1], in[2] = a[4], in[3] = a[5];
    int64_t comm = a[replace ? 6 : 8].value;
    struct fc_event sent, got;
    enum target to, from;
    struct fc_dumpi_status status;
    if (message(r, FC_OP_IRECV, in, comm, &got, &from) || from == KEPT) return r->run->st->code;
    if (message(r, FC_OP_SEND, a, comm, &sent, &to) || to == KEPT) return r->run->st->code;
    if (from == REACHES && fc_dumpi_status(&r->file, &a[replace ? 7 : 9], 0, &status) && !take_status(r, &status, &got))
        from = TO_NOBODY;
    if (from == TO_NOBODY) return to == TO_NOBODY ? fc_dumpi_other(r, NULL) : fc_hold_event(&r->hold, &sent, NULL);
    if (to == TO_NOBODY) {
        got.op = FC_OP_RECV;
        return fc_hold_event(&r->hold, &got, NULL);
    }
    got.leave_s = got.enter_s;
    struct fc_hold_request *request = fc_hold_make(&r->hold, 0, &got, false);
    if (!request) return r->run->st->code;
    int64_t number = request->number;
    fc_hold_drop(&r->hold, request);
    sent.leave_s = sent.enter_s;
    sent.compute_s = 0;
    struct fc_event wait = fc_dumpi_event(r, FC_OP_WAIT);
    wait.compute_s = 0;
    wait.n_list = 1;
    if (fc_hold_event(&r->hold, &sent, NULL)) return r->run->st->code;
    return fc_hold_event(&r->hold, &wait, &number);
}

/* ---- making requests ---- */

static uint64_t key_of(int64_t request)
{
    return (uint64_t)(uint32_t)request + 1; /* 0 is that of Sendrecv */
}

/* A request that was made again was completed where nothing was recorded; only sends may share an id. */
static void forget_stale(struct fc_dumpi_reader *r, uint64_t key, bool receives)
{
    struct fc_hold_request *old = fc_hold_find(&r->hold, key);
    while (old && (receives || old->receive || old->persistent)) {
        fc_hold_resolve(&r->hold, old, &old->post, NULL);
        fc_hold_drop(&r->hold, old);
        old = fc_hold_find(&r->hold, key);
    }
}

static enum fc_code make_request(struct fc_dumpi_reader *r, int op, int mode)
{
    const struct fc_dumpi_argument *a = r->record.arg;
    uint64_t key = key_of(a[5].value);
    struct fc_event e;
    enum target target;
    forget_stale(r, key, op == FC_OP_IRECV);
    if (message(r, op, a, a[4].value, &e, &target)) return r->run->st->code;
    if (target != REACHES) {
        if (!fc_hold_none(&r->hold, key)) return r->run->st->code;
        return target == KEPT ? FC_OK : fc_dumpi_other(r, NULL);
    }
    e.mode = (uint8_t)mode;
    return fc_hold_make(&r->hold, key, &e, op == FC_OP_IRECV) ? FC_OK : r->run->st->code;
}

static enum fc_code make_persistent(struct fc_dumpi_reader *r, int op, int mode)
{
    const struct fc_dumpi_argument *a = r->record.arg;
    uint64_t key = key_of(a[5].value);
    struct fc_event e;
    enum target target;
    forget_stale(r, key, true);
    if (message(r, op, a, a[4].value, &e, &target)) return r->run->st->code;
    struct fc_hold_request *request = fc_hold_none(&r->hold, key);
    if (!request) return r->run->st->code;
    request->persistent = true;
    request->post = e;
    request->post.mode = (uint8_t)mode;
    if (target != REACHES) request->post.op = FC_OP_OTHER;
    return target == KEPT ? FC_OK : fc_dumpi_other(r, NULL);
}

static enum fc_code start_one(struct fc_dumpi_reader *r, int64_t handle, bool first, bool last)
{
    struct fc_hold_request *request = fc_hold_find(&r->hold, key_of(handle));
    struct fc_event e = fc_dumpi_event(r, FC_OP_OTHER);
    if (!last) e.leave_s = e.enter_s;
    if (!first) e.compute_s = 0;
    if (!request || !request->persistent) {
        const char *text =
            "persistent requests started that the trace does not show being made: only their time is kept";
        if (fc_sink_note(r->run->sink, text, 1)) return r->run->st->code;
        return fc_hold_event(&r->hold, &e, NULL);
    }
    if (request->number >= 0) return fc_dumpi_fail(&r->file, "request %" PRId64 " is started twice", handle);
    if (request->post.op == FC_OP_OTHER) return fc_hold_event(&r->hold, &e, NULL);
    struct fc_event post = request->post;
    post.enter_s = e.enter_s;
    post.leave_s = e.leave_s;
    post.compute_s = e.compute_s;
    return fc_hold_restart(&r->hold, request, &post);
}

static enum fc_code start_all(struct fc_dumpi_reader *r)
{
    const struct fc_dumpi_argument *list = &r->record.arg[1];
    for (uint32_t i = 0; i < list->n; i++)
        if (start_one(r, fc_dumpi_entry(&r->file, list, i), i == 0, i + 1 == list->n)) return r->run->st->code;
    return FC_OK;
}

/* ---- completing requests ---- */

/* The request of a handle is done; its number, if it has one in the trace, goes to r->list[*n]. */
static enum fc_code complete(struct fc_dumpi_reader *r, int64_t handle, const struct fc_dumpi_argument *statuses,
                             uint32_t k, uint32_t *n)
{
    struct fc_dumpi_status status;
    const char *unknown = "requests completed that the trace does not show being made";
    const char *cancelled = "cancelled requests whose status was ignored: taken as never completed";
    if (handle == FC_DUMPI_NULL) return FC_OK;
    struct fc_hold_request *request = fc_hold_find(&r->hold, key_of(handle));
    if (!request) return fc_sink_note(r->run->sink, unknown, 1);
    bool told = fc_dumpi_status(&r->file, statuses, k, &status), real = request->number >= 0;
    if (real && request->receive) {
        struct fc_event e = request->post;
        bool gone = request->cancelled && (!told || status.cancelled);
        if (gone && !told && fc_sink_note(r->run->sink, cancelled, 1)) return r->run->st->code;
        if (gone || (told && !take_status(r, &status, &e))) {
            int32_t number = request->number;
            fc_hold_cancel(&r->hold, request);
            for (uint32_t i = 0; i < *n; i++) r->list[i] -= r->list[i] > number;
            real = false;
        } else {
            fc_hold_resolve(&r->hold, request, &e, NULL);
        }
    }
    if (real) r->list[(*n)++] = request->number;
    if (request->persistent)
        request->number = -1;
    else
        fc_hold_drop(&r->hold, request);
    return FC_OK;
}

static enum fc_code wait_event(struct fc_dumpi_reader *r, uint32_t n)
{
    struct fc_event e = fc_dumpi_event(r, FC_OP_WAIT);
    e.n_list = n;
    return fc_hold_event(&r->hold, &e, r->list);
}

static enum fc_code wait_one(struct fc_dumpi_reader *r, int64_t handle, const struct fc_dumpi_argument *status)
{
    uint32_t n = 0;
    if (fc_dumpi_room(r, 1) || complete(r, handle, status, 0, &n)) return r->run->st->code;
    return wait_event(r, n);
}

static enum fc_code wait_all(struct fc_dumpi_reader *r, const struct fc_dumpi_argument *statuses)
{
    const struct fc_dumpi_argument *list = &r->record.arg[1];
    uint32_t n = 0;
    if (fc_dumpi_room(r, list->n)) return r->run->st->code;
    for (uint32_t i = 0; i < list->n; i++)
        if (complete(r, fc_dumpi_entry(&r->file, list, i), statuses, i, &n)) return r->run->st->code;
    return wait_event(r, n);
}

/* One of a list; an index below 0 (MPI_UNDEFINED): none was active. */
static enum fc_code wait_any(struct fc_dumpi_reader *r, int64_t index, const struct fc_dumpi_argument *status)
{
    const struct fc_dumpi_argument *list = &r->record.arg[1];
    if (index < 0) return wait_event(r, 0);
    if (index >= list->n)
        return fc_dumpi_fail(&r->file, "request %" PRId64 " of a list of %" PRIu32 " is completed", index, list->n);
    return wait_one(r, fc_dumpi_entry(&r->file, list, (uint32_t)index), status);
}

static enum fc_code wait_some(struct fc_dumpi_reader *r)
{
    const struct fc_dumpi_argument *a = r->record.arg, *list = &a[1], *index = &a[3];
    uint32_t n = 0;
    int64_t done = a[2].value;
    if (done == 0 && r->record.function == DUMPI_TESTSOME) return fc_hold_poll(&r->hold), FC_OK;
    if (done > index->n)
        return fc_dumpi_fail(&r->file, "%" PRId64 " requests are completed, but %" PRIu32 " are named", done, index->n);
    if (fc_dumpi_room(r, index->n)) return r->run->st->code;
    for (uint32_t i = 0; done > 0 && i < done; i++) {
        int32_t k = fc_dumpi_entry(&r->file, index, i);
        if (k < 0 || (uint32_t)k >= list->n)
            return fc_dumpi_fail(&r->file, "request %" PRId32 " of a list of %" PRIu32 " is completed", k, list->n);
        if (complete(r, fc_dumpi_entry(&r->file, list, (uint32_t)k), &a[4], i, &n)) return r->run->st->code;
    }
    return wait_event(r, n);
}

static enum fc_code test_or_wait(struct fc_dumpi_reader *r)
{
    const struct fc_dumpi_argument *a = r->record.arg;
    int function = r->record.function;
    int flag = function == DUMPI_TEST                                  ? 1
               : function == DUMPI_TESTANY || function == DUMPI_IPROBE ? 3
               : function == DUMPI_TESTALL                             ? 2
               : function == DUMPI_REQUEST_GET_STATUS                  ? 1
                                                                       : -1;
    if (flag >= 0 && a[flag].value == 0) {
        fc_hold_poll(&r->hold);
        return FC_OK;
    }
    switch (function) {
    case DUMPI_WAIT: return wait_one(r, a[0].value, &a[1]);
    case DUMPI_TEST: return wait_one(r, a[0].value, &a[2]);
    case DUMPI_WAITALL: return wait_all(r, &a[2]);
    case DUMPI_TESTALL: return wait_all(r, &a[3]);
    case DUMPI_WAITANY: return wait_any(r, a[2].value, &a[3]);
    case DUMPI_TESTANY: return wait_any(r, a[2].value, &a[4]);
    case DUMPI_WAITSOME:
    case DUMPI_TESTSOME: return wait_some(r);
    default: return fc_dumpi_other(r, NULL); /* a probe that found something */
    }
}

static void forget(struct fc_dumpi_reader *r, bool free_it)
{
    struct fc_hold_request *request = fc_hold_find(&r->hold, key_of(r->record.arg[0].value));
    if (!request) return;
    request->cancelled = true;
    if (!free_it) return;
    fc_hold_resolve(&r->hold, request, &request->post, NULL);
    fc_hold_drop(&r->hold, request);
}

/* Requests of file operations: their completion is no message. */
static enum fc_code make_unseen(struct fc_dumpi_reader *r)
{
    const char *layout = fc_dumpi_functions[r->record.function].layout;
    int k = 0;
    while (layout[k + 1]) k++; /* the request is the last argument */
    if (!fc_hold_none(&r->hold, key_of(r->record.arg[k].value))) return r->run->st->code;
    return fc_dumpi_other(r, "");
}

enum fc_code fc_dumpi_message(struct fc_dumpi_reader *r)
{
    static const uint8_t modes[] = {0, 2, 1, 3};
    int function = r->record.function;
    switch (function) {
    case DUMPI_SEND:
    case DUMPI_BSEND:
    case DUMPI_SSEND:
    case DUMPI_RSEND: return send(r);
    case DUMPI_RECV: return receive(r);
    case DUMPI_ISEND:
    case DUMPI_IBSEND:
    case DUMPI_ISSEND:
    case DUMPI_IRSEND: return make_request(r, FC_OP_ISEND, modes[function - DUMPI_ISEND]);
    case DUMPI_IRECV: return make_request(r, FC_OP_IRECV, 0);
    case DUMPI_SEND_INIT:
    case DUMPI_BSEND_INIT:
    case DUMPI_SSEND_INIT:
    case DUMPI_RSEND_INIT: return make_persistent(r, FC_OP_ISEND, modes[function - DUMPI_SEND_INIT]);
    case DUMPI_RECV_INIT: return make_persistent(r, FC_OP_IRECV, 0);
    case DUMPI_START: return start_one(r, r->record.arg[0].value, true, true);
    case DUMPI_STARTALL: return start_all(r);
    case DUMPI_SENDRECV:
    case DUMPI_SENDRECV_REPLACE: return send_receive(r);
    case DUMPI_REQUEST_FREE: forget(r, true); return FC_OK;
    case DUMPI_CANCEL: forget(r, false); return FC_OK;
    case DUMPI_WAIT:
    case DUMPI_TEST:
    case DUMPI_WAITANY:
    case DUMPI_TESTANY:
    case DUMPI_WAITALL:
    case DUMPI_TESTALL:
    case DUMPI_WAITSOME:
    case DUMPI_TESTSOME:
    case DUMPI_IPROBE:
    case DUMPI_REQUEST_GET_STATUS: return test_or_wait(r);
    default: return make_unseen(r);
    }
}
