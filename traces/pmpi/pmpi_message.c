/* pmpi_message.c - point to point calls and the life of requests.
 *
 * A request gets a number when it is made. A receive's peer, tag and bytes are known when it is completed:
 * the wait's record carries them and the merge puts them into the receive, so wildcards never reach a trace.
 * MPI may give one handle to several requests that are complete already (Open MPI does for small sends):
 * requests of one handle form a queue. A persistent request is a plain one from each start to its completion.
 */
#include "traces/pmpi/pmpi_record.h"

#include <stdlib.h>

struct fc_pmpi_request {
    int64_t number;
    struct fc_comm *comm; /* held while a receive is open */
    bool receive, cancelled;
    bool claimed; /* a wait or test of some thread is under way for it */
    bool persistent, active;
    int mode, peer, tag; /* persistent: what each start does; peer as a world rank, -1: wildcard or none */
    int64_t bytes;
    bool to_nobody; /* persistent with MPI_PROC_NULL */
    struct fc_pmpi_request *next;
};

static struct {
    struct fc_handles requests, messages;
    int64_t made;
} state;

static struct fc_pmpi_request *add_request(MPI_Request handle)
{
    struct fc_pmpi_request *r = calloc(1, sizeof *r), *first = fc_handles_get(&state.requests, FC_KEY(handle));
    if (!r) abort();
    r->number = state.made++;
    if (!first) {
        fc_handles_set(&state.requests, FC_KEY(handle), r);
    } else {
        while (first->next) first = first->next;
        first->next = r;
    }
    return r;
}

/* The oldest request of that handle for which no other thread waits; NULL: none of ours. */
static struct fc_pmpi_request *request_of(MPI_Request handle)
{
    struct fc_pmpi_request *r = fc_handles_get(&state.requests, FC_KEY(handle));
    while (r && r->claimed) r = r->next;
    return r;
}

static void unlink_request(MPI_Request handle, struct fc_pmpi_request *r)
{
    struct fc_pmpi_request *before = fc_handles_get(&state.requests, FC_KEY(handle));
    if (before == r) {
        fc_handles_set(&state.requests, FC_KEY(handle), r->next);
        return;
    }
    while (before->next != r) before = before->next;
    before->next = r->next;
}

static void free_request(struct fc_pmpi_request *r)
{
    if (r->comm) fc_comm_release(r->comm);
    free(r);
}

void fc_request_new(MPI_Request handle, int64_t *number)
{
    *number = add_request(handle)->number;
}

/* ---- blocking ---- */

static struct fc_raw_event message_event(const struct fc_pmpi_call *call, int kind, const struct fc_comm *comm,
                                         int peer, int tag, int64_t bytes)
{
    int world = fc_world_of(comm, peer);
    bool good = call->rc == MPI_SUCCESS && world >= 0;
    struct fc_raw_event event = fc_pmpi_event(call, good ? kind : FC_OP_OTHER);
    if (!good) return event;
    event.comm = comm->number;
    event.peer = world;
    event.tag = tag;
    event.bytes = bytes;
    return event;
}

static int64_t received_bytes(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    return bytes > 0 ? bytes : 0; /* MPI_UNDEFINED is negative */
}

void fc_log_send(struct fc_pmpi_call *call, int mode, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    if (!fc_pmpi_left(call)) return;
    struct fc_raw_event event = message_event(call, FC_OP_SEND, fc_comm_of(comm), dest, tag, fc_bytes_of(count, type));
    if (event.kind == FC_OP_SEND) event.mode = (uint8_t)mode;
    fc_pmpi_write(&event, NULL, 0);
    fc_pmpi_done();
}

/* comm NULL: none of ours. */
static struct fc_raw_event received_event(const struct fc_pmpi_call *call, int kind, const struct fc_comm *comm,
                                          const MPI_Status *status)
{
    if (!comm || call->rc != MPI_SUCCESS) return fc_pmpi_event(call, FC_OP_OTHER);
    return message_event(call, kind, comm, status->MPI_SOURCE, status->MPI_TAG, received_bytes(status));
}

static void write_received(const struct fc_pmpi_call *call, const struct fc_comm *comm, const MPI_Status *status)
{
    struct fc_raw_event event = received_event(call, FC_OP_RECV, comm, status);
    fc_pmpi_write(&event, NULL, 0);
}

void fc_log_recv(struct fc_pmpi_call *call, MPI_Comm comm, const MPI_Status *status)
{
    if (!fc_pmpi_left(call)) return;
    write_received(call, fc_comm_of(comm), status);
    fc_pmpi_done();
}

/* Three events: the receive is posted, the message sent, and the wait takes all the time. */
void fc_log_sendrecv(struct fc_pmpi_call *call, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                     const MPI_Status *status)
{
    if (!fc_pmpi_left(call)) return;
    const struct fc_comm *c = fc_comm_of(comm);
    struct fc_pmpi_call post = *call;
    post.leave_ns = post.enter_ns;
    struct fc_raw_event irecv = received_event(&post, FC_OP_IRECV, c, status);
    irecv.request = irecv.kind == FC_OP_IRECV ? state.made++ : -1;
    if (irecv.request >= 0) fc_pmpi_write(&irecv, NULL, 0);
    struct fc_pmpi_call sent = irecv.request >= 0 ? post : *call;
    struct fc_raw_event send = message_event(&sent, FC_OP_SEND, c, dest, tag, fc_bytes_of(count, type));
    if (irecv.request < 0)
        send.compute_ns = irecv.compute_ns, send.polls = irecv.polls; /* taken but not written */
    else if (send.kind == FC_OP_SEND)
        send.request = irecv.request;
    if (send.kind == FC_OP_SEND || irecv.request < 0) fc_pmpi_write(&send, NULL, 0);
    if (irecv.request >= 0) {
        int64_t done[FC_DONE_WORDS] = {irecv.request, FC_HOW_RECEIVED, irecv.peer, irecv.tag, irecv.bytes};
        struct fc_raw_event wait = fc_pmpi_event(call, FC_OP_WAIT);
        fc_pmpi_write(&wait, done, FC_DONE_WORDS);
    }
    fc_pmpi_done();
}

/* ---- nonblocking ---- */

void fc_log_isend(struct fc_pmpi_call *call, int mode, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  MPI_Request request)
{
    if (!fc_pmpi_left(call)) return;
    struct fc_raw_event event = message_event(call, FC_OP_ISEND, fc_comm_of(comm), dest, tag, fc_bytes_of(count, type));
    if (event.kind == FC_OP_ISEND) {
        event.mode = (uint8_t)mode;
        event.request = add_request(request)->number;
    }
    fc_pmpi_write(&event, NULL, 0);
    fc_pmpi_done();
}

/* What is posted is kept: it stands when the request is freed before it completes. */
static void post_receive(const struct fc_pmpi_call *call, struct fc_comm *comm, int64_t bytes, int source, int tag,
                         MPI_Request request)
{
    bool good = call->rc == MPI_SUCCESS && source != MPI_PROC_NULL;
    struct fc_raw_event event = fc_pmpi_event(call, good ? FC_OP_IRECV : FC_OP_OTHER);
    if (good) {
        struct fc_pmpi_request *r = add_request(request);
        r->receive = true;
        r->comm = comm;
        comm->users++;
        event.request = r->number;
        event.comm = comm->number;
        event.peer = fc_world_of(comm, source);
        event.tag = tag;
        event.bytes = bytes;
    }
    fc_pmpi_write(&event, NULL, 0);
}

void fc_log_irecv(struct fc_pmpi_call *call, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request request)
{
    if (!fc_pmpi_left(call)) return;
    post_receive(call, fc_comm_of(comm), fc_bytes_of(count, type), source, tag, request);
    fc_pmpi_done();
}

void fc_log_persistent(struct fc_pmpi_call *call, int mode, int count, MPI_Datatype type, int peer, int tag,
                       MPI_Comm comm, MPI_Request request)
{
    if (!fc_pmpi_left(call)) return;
    if (call->rc == MPI_SUCCESS) {
        struct fc_pmpi_request *r = add_request(request);
        r->persistent = true;
        r->receive = mode < 0;
        r->mode = mode < 0 ? 0 : mode;
        r->comm = fc_comm_of(comm);
        r->comm->users++;
        r->peer = fc_world_of(r->comm, peer);
        r->to_nobody = peer == MPI_PROC_NULL;
        r->tag = tag;
        r->bytes = fc_bytes_of(count, type);
    }
    fc_pmpi_write_plain(call, FC_OP_OTHER);
    fc_pmpi_done();
}

void fc_log_start(struct fc_pmpi_call *call, int n, const MPI_Request *requests)
{
    if (!fc_pmpi_left(call)) return;
    struct fc_pmpi_call post = *call;
    for (int i = 0; i < n && call->rc == MPI_SUCCESS; i++) {
        struct fc_pmpi_request *r = request_of(requests[i]);
        if (!r) fc_pmpi_note("(MPI_Start of a request that was made by a function that is not recorded)");
        if (!r || !r->persistent || r->to_nobody) continue;
        r->active = true;
        r->cancelled = false;
        r->number = state.made++;
        struct fc_raw_event event = fc_pmpi_event(&post, r->receive ? FC_OP_IRECV : FC_OP_ISEND);
        event.mode = (uint8_t)r->mode;
        event.comm = r->comm->number;
        event.peer = r->peer;
        event.tag = r->tag;
        event.bytes = r->bytes;
        event.request = r->number;
        fc_pmpi_write(&event, NULL, 0);
        post.enter_ns = post.leave_ns; /* the first takes the call's time */
    }
    fc_pmpi_done();
}

/* ---- completion ---- */

void fc_request_claim(const struct fc_pmpi_call *call, int n, const MPI_Request *handles,
                      struct fc_pmpi_request ***claimed)
{
    *claimed = NULL;
    if (n <= 0 || !fc_pmpi_shared(call)) return;
    struct fc_pmpi_request **mine = malloc((size_t)n * sizeof *mine);
    if (!mine) abort();
    for (int i = 0; i < n; i++) {
        mine[i] = request_of(handles[i]);
        if (mine[i]) mine[i]->claimed = true;
    }
    fc_pmpi_unlock();
    *claimed = mine;
}

/* Words of the completion of the wait's i-th request, its k-th status; 0 when it is none of ours or inactive. */
static int complete(const struct fc_wait *wait, int i, int k, int64_t *words)
{
    MPI_Request handle = wait->was[i];
    struct fc_pmpi_request *r = wait->claimed ? wait->claimed[i] : request_of(handle);
    if (!r || (r->persistent && !r->active)) return 0;
    words[FC_DONE_REQUEST] = r->number;
    words[FC_DONE_HOW] = FC_HOW_PLAIN;
    words[FC_DONE_SOURCE] = words[FC_DONE_TAG] = words[FC_DONE_BYTES] = 0;
    if (r->receive || r->cancelled) {
        MPI_Status status;
        int cancelled = 0;
        wait->status_at(wait->statuses, k, &status);
        if (r->cancelled) PMPI_Test_cancelled(&status, &cancelled);
        if (cancelled) {
            words[FC_DONE_HOW] = FC_HOW_CANCELLED;
        } else if (r->receive) {
            words[FC_DONE_HOW] = FC_HOW_RECEIVED;
            words[FC_DONE_SOURCE] = fc_world_of(r->comm, status.MPI_SOURCE);
            words[FC_DONE_TAG] = status.MPI_TAG;
            words[FC_DONE_BYTES] = received_bytes(&status);
        }
    }
    if (r->persistent) {
        r->active = false;
    } else {
        unlink_request(handle, r);
        free_request(r);
        if (wait->claimed) wait->claimed[i] = NULL;
    }
    return FC_DONE_WORDS;
}

static void unclaim(const struct fc_wait *wait)
{
    for (int i = 0; wait->claimed && i < wait->n; i++)
        if (wait->claimed[i]) wait->claimed[i]->claimed = false;
    free(wait->claimed);
}

void fc_log_wait(struct fc_pmpi_call *call, const struct fc_wait *wait)
{
    if (!fc_pmpi_left(call)) return;
    int64_t few[16 * FC_DONE_WORDS], *words = few;
    uint64_t n_words = 0;
    int n = call->rc == MPI_SUCCESS && wait->n_done > 0 ? wait->n_done : 0;
    if (n > 16) words = malloc((size_t)n * FC_DONE_WORDS * sizeof *words);
    if (!words) abort();
    for (int k = 0; k < n; k++)
        n_words += (uint64_t)complete(wait, wait->index ? wait->index[k] - wait->base : k, k, words + n_words);
    unclaim(wait);
    if (n_words == 0 && wait->is_test) {
        fc_pmpi_fold_poll();
    } else {
        struct fc_raw_event event = fc_pmpi_event(call, n_words ? FC_OP_WAIT : FC_OP_OTHER);
        fc_pmpi_write(&event, words, n_words);
    }
    if (words != few) free(words);
    fc_pmpi_done();
}

void fc_log_cancel(struct fc_pmpi_call *call, MPI_Request request)
{
    if (!fc_pmpi_left(call)) return;
    struct fc_pmpi_request *r = request_of(request);
    if (!r) r = fc_handles_get(&state.requests, FC_KEY(request)); /* another thread waits for it */
    if (r) r->cancelled = true;
    fc_pmpi_write_plain(call, FC_OP_OTHER);
    fc_pmpi_done();
}

struct fc_pmpi_request *fc_request_take(const struct fc_pmpi_call *call, MPI_Request handle)
{
    if (!fc_pmpi_ahead(call)) return NULL;
    struct fc_pmpi_request *r = request_of(handle);
    if (r) unlink_request(handle, r);
    fc_pmpi_unlock();
    return r;
}

void fc_log_request_free(struct fc_pmpi_call *call, struct fc_pmpi_request *was)
{
    if (!fc_pmpi_left(call)) return;
    struct fc_raw_event event = fc_pmpi_event(call, FC_OP_OTHER);
    int64_t freed[FC_DONE_WORDS] = {was ? was->number : 0, FC_HOW_FREED, 0, 0, 0};
    bool open = was && was->receive && (!was->persistent || was->active);
    if (open) fc_pmpi_note("(MPI_Request_free of a receive under way: counted with its posted size)");
    fc_pmpi_write(&event, freed, open ? FC_DONE_WORDS : 0);
    if (was) free_request(was);
    fc_pmpi_done();
}

/* ---- probes ---- */

void fc_log_probe(struct fc_pmpi_call *call, bool found)
{
    if (!fc_pmpi_left(call)) return;
    if (found)
        fc_pmpi_write_plain(call, FC_OP_OTHER);
    else
        fc_pmpi_fold_poll();
    fc_pmpi_done();
}

/* A probed message is received by its handle: the communicator is remembered. */
void fc_log_mprobe(struct fc_pmpi_call *call, bool found, MPI_Comm comm, MPI_Message message)
{
    if (!fc_pmpi_left(call)) return;
    if (!found) {
        fc_pmpi_fold_poll();
    } else {
        if (call->rc == MPI_SUCCESS && message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC) {
            struct fc_comm *c = fc_comm_of(comm);
            c->users++;
            fc_handles_set(&state.messages, FC_KEY(message), c);
        }
        fc_pmpi_write_plain(call, FC_OP_OTHER);
    }
    fc_pmpi_done();
}

struct fc_comm *fc_message_take(const struct fc_pmpi_call *call, MPI_Message handle)
{
    if (!fc_pmpi_ahead(call)) return NULL;
    struct fc_comm *comm = fc_handles_get(&state.messages, FC_KEY(handle));
    if (comm) fc_handles_set(&state.messages, FC_KEY(handle), NULL);
    fc_pmpi_unlock();
    return comm;
}

void fc_log_mrecv(struct fc_pmpi_call *call, struct fc_comm *comm, const MPI_Status *status)
{
    if (!fc_pmpi_left(call)) return;
    write_received(call, comm, status);
    fc_comm_release(comm);
    fc_pmpi_done();
}

void fc_log_imrecv(struct fc_pmpi_call *call, struct fc_comm *comm, int count, MPI_Datatype type, MPI_Request request)
{
    if (!fc_pmpi_left(call)) return;
    if (comm)
        post_receive(call, comm, fc_bytes_of(count, type), MPI_ANY_SOURCE, MPI_ANY_TAG, request);
    else
        fc_pmpi_write_plain(call, FC_OP_OTHER);
    fc_comm_release(comm);
    fc_pmpi_done();
}
