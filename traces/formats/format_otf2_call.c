/* format_otf2_call.c - what happened in one rank's MPI calls, from OTF2's records, as events.
 *
 * Records between the Enter and the Leave of an MPI function belong to that call and become events when it is
 * left: each message or collective one; what was completed (MpiIsendComplete, MpiIrecv,
 * NonBlockingCollectiveComplete) one WAIT behind them; a test that completed nothing a failed poll. A receive's
 * request is held until MpiIrecv tells sender, tag and bytes. OTF2 has no CPU clock: computation is the wall
 * time between calls in which measurement was on. */
#include "core/array.h"
#include "traces/formats/format_otf2.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum fc_code fc_otf2_fail(const struct fc_otf2_rank *r, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fc_fail(r->st, FC_INPUT, (struct fc_place){r->path, 0}, "rank %" PRIu32 ", record %" PRIu64 ": %s", r->rank,
                   r->n_records, text);
}

bool fc_otf2_make_room(struct fc_otf2_rank *r, void **array, size_t n, size_t *capacity, size_t size)
{
    if (n <= *capacity || fc_array_grow(array, capacity, sizeof *capacity, n, size)) return true;
    return fc_out_of_memory(r->st, "reading calls of rank %" PRIu32, r->rank), false;
}

void fc_otf2_start(struct fc_otf2_rank *r, uint32_t rank)
{
    fc_hold_start(&r->hold, r->sink, rank);
    r->rank = rank;
    r->self = r->made = -1;
    r->n_records = 0;
    r->call = NULL;
    r->depth = 0;
    r->enter_s = r->leave_s = 0;
    r->free_s = -1;
    r->off = false;
    r->n_items = r->n_done = 0;
    r->completes = false;
}

void fc_otf2_free(struct fc_otf2_rank *r)
{
    fc_hold_free(&r->hold);
    free(r->items);
    free(r->done);
    free(r->list);
}

/* ---- names ---- */

/* `name` without "MPI_" is one of the words of a list (ending with NULL), or begins with it when the word
 * ends with '*'. */
bool fc_otf2_is_one_of(const char *name, const char *const *words)
{
    const char *rest = name + 4;
    size_t length = strcspn(rest, "(");
    for (; *words; words++) {
        size_t n = strlen(*words);
        bool open = (*words)[n - 1] == '*';
        n -= open;
        if (length >= n && (open || length == n) && strncasecmp(rest, *words, n) == 0) return true;
    }
    return false;
}

/* Calls that neither communicate nor wait: their time is computation. */
static const char *const local_calls[] = {"Comm_rank",
                                          "Comm_size",
                                          "Comm_group",
                                          "Comm_compare",
                                          "Comm_get_*",
                                          "Comm_set_*",
                                          "Comm_test_inter",
                                          "Comm_remote_*",
                                          "Comm_create_keyval",
                                          "Comm_free_keyval",
                                          "Comm_create_errhandler",
                                          "Comm_call_errhandler",
                                          "Comm_delete_attr",
                                          "Type_*",
                                          "Group_*",
                                          "Op_*",
                                          "Info_*",
                                          "Wtime",
                                          "Wtick",
                                          "Get_*",
                                          "Error*",
                                          "Errhandler*",
                                          "Attr_*",
                                          "Keyval_*",
                                          "Cart_coords",
                                          "Cart_rank",
                                          "Cart_shift",
                                          "Cart_get",
                                          "Cart_map",
                                          "Cartdim_get",
                                          "Topo_test",
                                          "Dims_create",
                                          "Address",
                                          "Pack*",
                                          "Unpack*",
                                          "Status_*",
                                          "Buffer_*",
                                          "Initialized",
                                          "Finalized",
                                          "Query_thread",
                                          "Is_thread_main",
                                          "Pcontrol",
                                          "Request_free",
                                          "Cancel",
                                          "Test_cancelled",
                                          "Send_init",
                                          "Recv_init",
                                          "Bsend_init",
                                          "Ssend_init",
                                          "Rsend_init",
                                          "Alloc_mem",
                                          "Free_mem",
                                          "Graph_get",
                                          "Graph_neighbors*",
                                          "Graphdims_get",
                                          "Graph_map",
                                          "Dist_graph_neighbors*",
                                          NULL};
/* Calls without a record are to nobody, or only wait. */
static const char *const quiet_calls[] = {"Send",       "Ssend",           "Bsend",  "Rsend",  "Recv",      "Isend",
                                          "Issend",     "Ibsend",          "Irsend", "Irecv",  "Sendrecv*", "Start*",
                                          "Probe",      "Mprobe",          "Mrecv",  "Imrecv", "Comm_free", "Win_free",
                                          "File_close", "Comm_disconnect", NULL};
static const char *const waiting_calls[] = {"Wait*", NULL};
static const char *const testing_calls[] = {
    "Test", "Testall", "Testany", "Testsome", "Iprobe", "Improbe", "Request_get_status", NULL};
static const char *const init_calls[] = {"Init", "Init_thread", NULL};
static const char *const finalize_calls[] = {"Finalize", NULL};

static int send_mode(const char *name)
{
    static const char *const modes[4][4] = {
        {NULL}, {"Ssend", "Issend", NULL}, {"Bsend", "Ibsend", NULL}, {"Rsend", "Irsend", NULL}};
    for (int m = 1; name && m < 4; m++)
        if (fc_otf2_is_one_of(name, modes[m])) return m;
    return 0;
}

/* ---- communicators ---- */

static int by_ref(const void *key, const void *comm)
{
    uint32_t a = *(const uint32_t *)key, b = ((const struct fc_otf2_comm *)comm)->ref;
    return (a > b) - (a < b);
}

/* The number of a communicator in the trace and its members; *found NULL: unknown (noted). */
enum fc_code fc_otf2_comm_of(struct fc_otf2_rank *r, uint32_t ref, const struct fc_otf2_comm **found, int32_t *number)
{
    struct fc_otf2_comm *c = bsearch(&ref, r->comms, r->n_comms, sizeof *c, by_ref);
    *found = c;
    if (!c) return fc_otf2_fail(r, "communicator %" PRIu32 " is not defined", ref);
    if (c->self && r->self < 0 && fc_sink_comm(r->sink, &r->rank, 1, &r->self)) return r->st->code;
    *number = c->self ? r->self : c->number;
    if (c->known) return FC_OK;
    *found = NULL;
    return fc_sink_note(r->sink, "messages and collectives on intercommunicators: left out", 1);
}

enum fc_code fc_otf2_world_of(const struct fc_otf2_rank *r, const struct fc_otf2_comm *c, uint32_t rank, int32_t *world)
{
    if (rank >= (c->self ? 1 : c->n))
        return fc_otf2_fail(r, "names rank %" PRIu32 " of a communicator of %" PRIu32 " ranks", rank,
                            c->self ? 1 : c->n);
    *world = (int32_t)(c->self ? r->rank : c->member[rank]);
    return FC_OK;
}

/* ---- one call ---- */

static enum fc_code pass(struct fc_otf2_rank *r, struct fc_otf2_item *i)
{
    if (i->n && fc_otf2_make_room(r, (void **)&r->list, i->n, &r->list_capacity, sizeof *r->list))
        for (uint32_t k = 0; k < i->n; k++) r->list[k] = i->event.bytes / i->n + (k < i->event.bytes % i->n);
    if (r->st->code) return r->st->code;
    i->event.n_list = i->n;
    if (!i->request) return fc_hold_event(&r->hold, &i->event, r->list);
    bool open = i->event.op != FC_OP_ISEND;
    return fc_hold_make(&r->hold, i->key, &i->event, open) ? FC_OK : r->st->code;
}

/* A send and a receive in one call are MPI_Sendrecv: IRECV, SEND, WAIT. */
static enum fc_code pass_sendrecv(struct fc_otf2_rank *r)
{
    bool first = r->items[0].event.op == FC_OP_RECV;
    struct fc_event got = r->items[!first].event, sent = r->items[first].event, wait = got;
    got.op = FC_OP_IRECV;
    struct fc_hold_request *request = fc_hold_make(&r->hold, UINT64_MAX, &got, false);
    if (!request) return r->st->code;
    int64_t number = request->number;
    fc_hold_drop(&r->hold, request);
    if (fc_hold_event(&r->hold, &sent, NULL)) return r->st->code;
    wait = fc_hold_plain(FC_OP_WAIT, r->enter_s, r->leave_s, 0);
    wait.n_list = 1;
    return fc_hold_event(&r->hold, &wait, &number);
}

/* A call without messages: by its name. */
static enum fc_code pass_named(struct fc_otf2_rank *r, double compute_s, bool *kept)
{
    char text[160];
    int op = FC_OP_OTHER;
    *kept = true;
    if (fc_otf2_is_one_of(r->call, testing_calls)) {
        *kept = false;
        fc_hold_poll(&r->hold);
        return FC_OK;
    }
    *kept = !fc_otf2_is_one_of(r->call, local_calls);
    if (!*kept) return FC_OK;
    if (fc_otf2_is_one_of(r->call, waiting_calls)) {
        op = FC_OP_WAIT;
    } else if (fc_otf2_is_one_of(r->call, init_calls)) {
        op = FC_OP_INIT;
    } else if (fc_otf2_is_one_of(r->call, finalize_calls)) {
        op = FC_OP_FINALIZE;
    } else if (!fc_otf2_is_one_of(r->call, quiet_calls)) {
        snprintf(text, sizeof text, "%.100s without a record of what it did: only its time is kept", r->call);
        if (fc_sink_note(r->sink, text, 1)) return r->st->code;
    }
    struct fc_event e = fc_hold_plain(op, r->enter_s, r->leave_s, compute_s);
    return fc_hold_event(&r->hold, &e, NULL);
}

static enum fc_code pass_items(struct fc_otf2_rank *r, double compute_s)
{
    bool pair = r->n_items == 2 && r->items[0].event.op + r->items[1].event.op == FC_OP_SEND + FC_OP_RECV &&
                !r->items[0].request && !r->items[1].request;
    bool wait = r->completes || (r->call && fc_otf2_is_one_of(r->call, waiting_calls));
    for (size_t i = 0; i < r->n_items; i++) { /* all but the last take no time */
        struct fc_event *e = &r->items[i].event;
        e->enter_s = r->enter_s;
        e->leave_s = i + 1 < r->n_items || wait || pair ? r->enter_s : r->leave_s;
        e->compute_s = i == 0 ? compute_s : 0;
        if (e->op == FC_OP_SEND || e->op == FC_OP_ISEND) e->mode = (uint8_t)(r->call ? send_mode(r->call) : 0);
    }
    if (pair) {
        if (pass_sendrecv(r)) return r->st->code;
        r->n_items = 0;
        compute_s = 0;
    }
    for (size_t i = 0; i < r->n_items; i++)
        if (pass(r, &r->items[i])) return r->st->code;
    if (!wait) return FC_OK;
    struct fc_event e = fc_hold_plain(FC_OP_WAIT, r->enter_s, r->leave_s, r->n_items ? 0 : compute_s);
    e.n_list = (uint32_t)r->n_done;
    return fc_hold_event(&r->hold, &e, r->done);
}

static enum fc_code finish(struct fc_otf2_rank *r)
{
    double compute_s = r->free_s < 0 || r->enter_s < r->free_s ? 0 : r->enter_s - r->free_s;
    bool kept = r->n_items || r->completes;
    enum fc_code code = kept ? pass_items(r, compute_s) : r->call ? pass_named(r, compute_s, &kept) : FC_OK;
    if (kept) r->free_s = r->leave_s;
    r->n_items = r->n_done = 0;
    r->completes = false;
    r->made = -1;
    r->call = NULL;
    return code;
}

/* Time never goes backwards in a trace. */
static double no_earlier(const struct fc_otf2_rank *r, double time_s)
{
    return time_s > r->leave_s ? time_s : r->leave_s;
}

enum fc_code fc_otf2_enter(struct fc_otf2_rank *r, const char *name, double time_s)
{
    if (r->call) {
        r->depth++;
        return FC_OK;
    }
    r->call = name;
    r->enter_s = r->leave_s = no_earlier(r, time_s);
    return FC_OK;
}

enum fc_code fc_otf2_leave(struct fc_otf2_rank *r, double time_s)
{
    if (!r->call) return FC_OK; /* a window that begins inside a call */
    if (r->depth) {
        r->depth--;
        return FC_OK;
    }
    r->leave_s = no_earlier(r, time_s);
    return finish(r);
}

/* A record outside a call is a call of its own that takes no time. */
enum fc_code fc_otf2_settle(struct fc_otf2_rank *r, double time_s)
{
    if (r->call || r->st->code) return r->st->code;
    r->enter_s = r->leave_s = no_earlier(r, time_s);
    return finish(r);
}

struct fc_otf2_item *fc_otf2_add_item(struct fc_otf2_rank *r, int op)
{
    if (!fc_otf2_make_room(r, (void **)&r->items, r->n_items + 1, &r->item_capacity, sizeof *r->items)) return NULL;
    struct fc_otf2_item *i = &r->items[r->n_items++];
    *i = (struct fc_otf2_item){.event = fc_hold_plain(op, 0, 0, 0)};
    return i;
}

/* ---- records ---- */

/* It brought nothing: numbers above its own move down. */
void fc_otf2_cancel(struct fc_otf2_rank *r, struct fc_hold_request *request)
{
    int32_t number = request->number;
    fc_hold_cancel(&r->hold, request);
    for (size_t i = 0; request->number < 0 && i < r->n_done; i++) r->done[i] -= r->done[i] > number;
}

/* A request of the call is complete: into the list of its WAIT. */
enum fc_code fc_otf2_done(struct fc_otf2_rank *r, struct fc_hold_request *request)
{
    r->completes = true;
    if (request->number >= 0) {
        if (!fc_otf2_make_room(r, (void **)&r->done, r->n_done + 1, &r->done_capacity, sizeof *r->done))
            return r->st->code;
        r->done[r->n_done++] = request->number;
    }
    fc_hold_drop(&r->hold, request);
    return FC_OK;
}

enum fc_code fc_otf2_unknown_request(struct fc_otf2_rank *r)
{
    r->completes = true;
    return fc_sink_note(r->sink, "requests completed that the trace does not show being made", 1);
}

/* A completion may stand in the call that makes its request. */
static enum fc_code flush_items(struct fc_otf2_rank *r)
{
    double compute_s = r->free_s < 0 || r->enter_s < r->free_s ? 0 : r->enter_s - r->free_s;
    for (size_t i = 0; i < r->n_items; i++) {
        struct fc_event *e = &r->items[i].event;
        e->enter_s = e->leave_s = r->enter_s;
        e->compute_s = i == 0 ? compute_s : 0;
        if (e->op == FC_OP_ISEND) e->mode = (uint8_t)(r->call ? send_mode(r->call) : 0);
        if (pass(r, &r->items[i])) return r->st->code;
    }
    if (r->n_items) r->free_s = r->enter_s;
    r->n_items = 0;
    return FC_OK;
}

struct fc_hold_request *fc_otf2_find_request(struct fc_otf2_rank *r, uint64_t key)
{
    for (size_t i = 0; i < r->n_items; i++)
        if (r->items[i].request && r->items[i].key == key) {
            if (flush_items(r)) return NULL;
            break;
        }
    return fc_hold_find(&r->hold, key);
}

enum fc_code fc_otf2_message(struct fc_otf2_rank *r, int kind, uint32_t peer, uint32_t comm, uint32_t tag,
                             uint64_t bytes, uint64_t request, double time_s)
{
    static const int ops[] = {FC_OP_SEND, FC_OP_RECV, FC_OP_ISEND, FC_OP_IRECV};
    static const char *const unnamed[] = {"Isend", "Issend", "Ibsend", "Irsend", NULL};
    const struct fc_otf2_comm *c;
    struct fc_event e = fc_hold_plain(ops[kind], 0, 0, 0);
    struct fc_hold_request *of = kind == FC_OTF2_IRECV ? fc_otf2_find_request(r, request) : NULL;
    if (fc_otf2_comm_of(r, comm, &c, &e.comm)) return r->st->code;
    if (tag > INT32_MAX || bytes > INT64_MAX)
        return fc_otf2_fail(r, "a message of %" PRIu64 " bytes with tag %" PRIu32, bytes, tag);
    e.tag = (int32_t)tag;
    e.bytes = (int64_t)bytes;
    if (c && fc_otf2_world_of(r, c, peer, &e.peer)) return r->st->code;
    if (kind == FC_OTF2_IRECV) {
        if (!of) return fc_otf2_unknown_request(r) || fc_otf2_settle(r, time_s) ? r->st->code : FC_OK;
        if (!c) fc_otf2_cancel(r, of);
        if (c && fc_hold_resolve(&r->hold, of, &e, NULL)) return r->st->code;
        return fc_otf2_done(r, of) ? r->st->code : fc_otf2_settle(r, time_s);
    }
    if (!c) return FC_OK;
    struct fc_otf2_item *i = fc_otf2_add_item(r, ops[kind]);
    if (!i) return r->st->code;
    i->event = e;
    i->request = kind == FC_OTF2_ISEND;
    i->key = request;
    if (kind == FC_OTF2_SEND && r->call && fc_otf2_is_one_of(r->call, unnamed)) { /* recorded without requests */
        i->event.op = FC_OP_ISEND;
        i->request = true;
        i->key = UINT64_MAX;
        if (fc_sink_note(r->sink, "nonblocking sends recorded without requests: nothing waits for them", 1))
            return r->st->code;
    }
    return fc_otf2_settle(r, time_s);
}

enum fc_code fc_otf2_request(struct fc_otf2_rank *r, bool collective, uint64_t request, double time_s)
{
    struct fc_otf2_item *i = fc_otf2_add_item(r, collective ? FC_OP_BARRIER : FC_OP_IRECV);
    if (!i) return r->st->code;
    i->event.mode = collective;
    i->event.peer = collective ? -1 : FC_ANY;
    i->event.tag = collective ? 0 : FC_ANY;
    i->request = true;
    i->key = request;
    return fc_otf2_settle(r, time_s);
}

enum fc_code fc_otf2_send_done(struct fc_otf2_rank *r, uint64_t request, double time_s)
{
    struct fc_hold_request *of = fc_otf2_find_request(r, request);
    if (r->st->code || (of ? fc_otf2_done(r, of) : fc_otf2_unknown_request(r))) return r->st->code;
    return fc_otf2_settle(r, time_s);
}

enum fc_code fc_otf2_cancelled(struct fc_otf2_rank *r, uint64_t request)
{
    struct fc_hold_request *of = fc_otf2_find_request(r, request);
    if (!of) return r->st->code;
    bool held = of->receive;
    if (held) fc_otf2_cancel(r, of);
    fc_hold_drop(&r->hold, of);
    r->completes = true;
    return held ? FC_OK : fc_sink_note(r->sink, "cancelled sends: kept as sent", 1);
}

enum fc_code fc_otf2_move(struct fc_otf2_rank *r, int mode, uint32_t comm, uint32_t peer, uint64_t bytes, double time_s)
{
    const struct fc_otf2_comm *c;
    int32_t number;
    if (bytes > INT64_MAX) return fc_otf2_fail(r, "%" PRIu64 " bytes moved", bytes);
    if (fc_otf2_comm_of(r, comm, &c, &number) || !c) return r->st->code;
    struct fc_otf2_item *i = fc_otf2_add_item(r, FC_OP_RMA);
    if (!i) return r->st->code;
    i->event.mode = (uint8_t)mode;
    i->event.bytes = (int64_t)bytes;
    return fc_otf2_world_of(r, c, peer, &i->event.peer) ? r->st->code : fc_otf2_settle(r, time_s);
}

void fc_otf2_tested(struct fc_otf2_rank *r)
{
    if (!r->call) fc_hold_poll(&r->hold);
}

void fc_otf2_comm_made(struct fc_otf2_rank *r, uint32_t comm)
{
    const struct fc_otf2_comm *c = bsearch(&comm, r->comms, r->n_comms, sizeof *c, by_ref);
    if (c && c->known && !c->self) r->made = c->number;
}

enum fc_code fc_otf2_switch(struct fc_otf2_rank *r, bool on, double time_s)
{
    if (on == !r->off) return FC_OK;
    r->off = !on;
    if (on) {
        r->free_s = no_earlier(r, time_s);
        return FC_OK;
    }
    return fc_sink_note(
        r->sink, "windows without measurement: what happened in them is unknown, their time is no computation", 1);
}

enum fc_code fc_otf2_end(struct fc_otf2_rank *r)
{
    if (r->call && finish(r)) return r->st->code; /* a window that ends inside a call */
    uint64_t open = fc_hold_cancel_open(&r->hold);
    if (open && fc_sink_note(r->sink, "receives and collectives that never completed: only their time is kept", open))
        return r->st->code;
    return fc_hold_end(&r->hold);
}
