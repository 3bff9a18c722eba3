/* replay_calls.c - the collective calls of a trace, found as the ranks come to them.
 *
 * MPI orders collectives on a communicator: the k-th call of one member meets the k-th of every other. Each
 * communicator keeps its calls in progress, between the slowest member's and the fastest's, in a ring. A
 * member starts when it comes; what the call consists of is decided when the first one comes: by its bytes
 * where the operation moves the same for each member, by those of all (replay_source.c looks ahead) where
 * members may differ. Members that disagree on the operation or the root are refused.
 *
 * Messages: rounds worked out as they come for algorithms that exchange n^2 of them (replay_rounds.c), else a
 * list that calls alike (operation, members, root, bytes) share. Lists that no call uses are dropped when all
 * lists together hold more than MOST_LISTED messages. Making a communicator costs like an allgather of 8
 * bytes on its parent, Finalize like a barrier where it is every rank's last call (a trace may be a window
 * without it). */
#include "solvers/replay/replay_dense.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* In a ring: all members have left it. NULL: nobody has come to it. */
static const struct fc_live_call finished;
#define FINISHED ((struct fc_live_call *)(uintptr_t)&finished)

enum { LIST_BUCKETS = 1 << 10, MOST_LISTED = 1 << 23, LONG_LIST = 1 << 12 };

/* ---- communicators ---- */

static uint32_t members_of(const struct fc_trace *t, uint32_t comm)
{
    return (uint32_t)(t->comm_first[comm + 1] - t->comm_first[comm]);
}

static enum fc_code list_comms_of_ranks(struct fc_calls *c)
{
    const struct fc_trace *t = c->job->trace;
    uint64_t first = t->comm_first[1], n = t->comm_first[t->n_comms];
    c->rank_first = fc_alloc(&c->arena, (size_t)t->n_ranks + 1, sizeof *c->rank_first, c->job->st);
    c->rank_comm = fc_alloc(&c->arena, n - first, sizeof *c->rank_comm, c->job->st);
    c->rank_member = fc_alloc(&c->arena, n - first, sizeof *c->rank_member, c->job->st);
    if (c->job->st->code) return c->job->st->code;
    for (uint64_t i = first; i < n; i++) c->rank_first[t->comm_member[i] + 1]++;
    for (uint32_t r = 0; r < t->n_ranks; r++) c->rank_first[r + 1] += c->rank_first[r];
    for (uint32_t k = t->n_comms; k-- > 1;) /* from behind: rank_first[r + 1] walks down to the start of r */
        for (uint32_t m = 0; m < members_of(t, k); m++) {
            uint64_t at = --c->rank_first[t->comm_member[t->comm_first[k] + m] + 1];
            c->rank_comm[at] = k;
            c->rank_member[at] = m;
        }
    for (uint32_t r = 0; r < t->n_ranks; r++) c->rank_first[r] = c->rank_first[r + 1];
    c->rank_first[t->n_ranks] = n - first;
    return FC_OK;
}

uint32_t fc_calls_member(const struct fc_calls *c, uint32_t comm, uint32_t rank)
{
    if (comm == 0) return rank;
    uint64_t low = c->rank_first[rank], high = c->rank_first[rank + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (c->rank_comm[middle] < comm)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->rank_first[rank + 1] && c->rank_comm[low] == comm ? c->rank_member[low] : FC_NONE;
}

enum fc_code fc_calls_start(struct fc_calls *c, struct fc_job *job)
{
    const struct fc_trace *t = job->trace;
    *c = (struct fc_calls){.job = job};
    c->made = fc_alloc(&c->arena, t->comm_first[t->n_comms], sizeof *c->made, job->st);
    c->comm = fc_alloc(&c->arena, t->n_comms, sizeof *c->comm, job->st);
    c->bucket = fc_alloc(&c->arena, LIST_BUCKETS, sizeof(struct fc_call_list *), job->st);
    return job->st->code ? job->st->code : list_comms_of_ranks(c);
}

/* ---- calls in progress ---- */

static void forget(struct fc_live_call *call)
{
    for (uint32_t i = 0; call->owns_blocks && i < call->n; i++) free(call->blocks[i]);
    free(call->blocks);
    free(call->sizes);
    free(call->before);
    fc_dense_free(call->dense);
}

static struct fc_live_call *new_call(struct fc_calls *c, uint32_t comm, uint32_t number)
{
    struct fc_live_call *call = c->free_call;
    if (call)
        c->free_call = call->next_free;
    else if (!(call = fc_alloc(&c->arena, 1, sizeof *call, c->job->st)))
        return NULL;
    const struct fc_trace *t = c->job->trace;
    *call = (struct fc_live_call){.comm = comm,
                                  .number = number,
                                  .serial = FC_OF_CALL + c->n_calls,
                                  .n = members_of(t, comm),
                                  .first_rank = FC_NONE,
                                  .member = t->comm_member + t->comm_first[comm]};
    c->n_calls = c->n_calls == INT32_MAX ? 0 : c->n_calls + 1;
    return call;
}

static bool grow(struct fc_comm_calls *ring, uint32_t need, struct fc_status *st)
{
    uint32_t size = ring->slot ? ring->mask + 1 : 4;
    while (size < need) size *= 2;
    struct fc_live_call **slot = calloc(size, sizeof(struct fc_live_call *));
    if (!slot) return fc_out_of_memory(st, "the collective calls in progress"), false;
    for (uint32_t k = ring->first; k < ring->first + ring->n; k++) slot[k & (size - 1)] = ring->slot[k & ring->mask];
    free(ring->slot);
    ring->slot = slot;
    ring->mask = size - 1;
    return true;
}

/* The number-th call of the communicator, new if nobody has come to it. */
static struct fc_live_call *find_call(struct fc_calls *c, uint32_t comm, uint32_t number)
{
    struct fc_comm_calls *ring = &c->comm[comm];
    uint32_t need = number - ring->first + 1;
    if ((!ring->slot || need > ring->mask + 1) && !grow(ring, need, c->job->st)) return NULL;
    while (ring->n < need) ring->slot[(ring->first + ring->n++) & ring->mask] = NULL;
    struct fc_live_call **slot = &ring->slot[number & ring->mask];
    if (!*slot) *slot = new_call(c, comm, number);
    return *slot;
}

void fc_calls_leave(struct fc_calls *c, struct fc_live_call *call)
{
    if (++call->n_done + call->n_gone < call->n) return;
    struct fc_comm_calls *ring = &c->comm[call->comm];
    if (call->batch) {
        call->batch->next_free = call->list->free_batch;
        call->list->free_batch = call->batch;
    }
    if (call->list) call->list->n_used--;
    ring->slot[call->number & ring->mask] = FINISHED;
    forget(call);
    call->next_free = c->free_call;
    c->free_call = call;
    for (; ring->n && ring->slot[ring->first & ring->mask] == FINISHED; ring->n--) ring->first++;
}

/* ---- what members bring ---- */

static double part_bytes(const struct fc_event *e)
{
    return e->op == FC_OP_COMM                                 ? FC_COMM_BYTES
           : e->op == FC_OP_FINALIZE || e->op == FC_OP_BARRIER ? 0
                                                               : (double)e->bytes;
}

static bool may_differ(int op)
{
    return op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_ALLGATHER || op == FC_OP_REDUCE_SCATTER ||
           op == FC_OP_ALLTOALLV;
}

/* "line 12" or "call 12": where another event is, in a message that begins with a place. */
static const char *name_place(const struct fc_trace *t, uint32_t rank, uint64_t event, char *out, size_t size)
{
    if (t->first_line)
        snprintf(out, size, "line %ld", t->first_line[rank] + (long)event);
    else
        snprintf(out, size, "call %" PRIu64, event);
    return out;
}

static struct fc_place place_of(const struct fc_trace *t, uint32_t rank, uint64_t event)
{
    if (t->first_line) return (struct fc_place){t->file, t->first_line[rank] + (long)event};
    return (struct fc_place){t->rank_file ? t->rank_file[rank] : t->file, 0};
}

static enum fc_code check_agreement(const struct fc_calls *c, const struct fc_live_call *call, uint32_t rank,
                                    uint64_t event, const struct fc_event *e)
{
    if (call->op == e->op && call->root_rank == e->peer) return FC_OK;
    const struct fc_trace *t = c->job->trace;
    char there[40], here[48] = "";
    struct fc_place where = place_of(t, rank, event);
    name_place(t, call->first_rank, call->first_event, there, sizeof there);
    if (!where.line) snprintf(here, sizeof here, ", call %" PRIu64 ",", event);
    if (call->op != e->op)
        return fc_fail(c->job->st, FC_INPUT, where,
                       "rank %" PRIu32 "%s calls %s where rank %" PRIu32 " calls %s (%s) on the same communicator",
                       rank, here, fc_op_names[e->op], call->first_rank, fc_op_names[call->op], there);
    return fc_fail(c->job->st, FC_INPUT, where,
                   "rank %" PRIu32 "%s calls %s with root %" PRId32 ", rank %" PRIu32 " with root %" PRId32 " (%s)",
                   rank, here, fc_op_names[e->op], e->peer, call->first_rank, call->root_rank, there);
}

static enum fc_code first_comes(struct fc_calls *c, struct fc_live_call *call, uint32_t rank, uint64_t event,
                                const struct fc_event *e)
{
    call->first_rank = rank;
    call->first_event = event;
    call->op = e->op;
    call->root_rank = e->peer;
    call->bytes = part_bytes(e);
    if (may_differ(e->op)) {
        call->sizes = malloc(call->n * sizeof *call->sizes);
        if (e->op == FC_OP_ALLTOALLV) call->blocks = calloc(call->n, sizeof *call->blocks);
        if (!call->sizes || (e->op == FC_OP_ALLTOALLV && !call->blocks))
            return fc_out_of_memory(c->job->st, "the collective calls in progress");
        for (uint32_t m = 0; m < call->n; m++) call->sizes[m] = -1;
    }
    bool rooted = e->op == FC_OP_BCAST || e->op == FC_OP_GATHER || e->op == FC_OP_SCATTER || e->op == FC_OP_REDUCE;
    if (!rooted) return FC_OK;
    call->root = e->peer < 0 || (uint32_t)e->peer >= c->job->trace->n_ranks
                     ? FC_NONE
                     : fc_calls_member(c, call->comm, (uint32_t)e->peer);
    if (call->root != FC_NONE) return FC_OK;
    return fc_fail(c->job->st, FC_INPUT, place_of(c->job->trace, rank, event),
                   "rank %" PRIu32 ", call %" PRIu64 ": root %" PRId32 " is no member of communicator %" PRIu32, rank,
                   event, e->peer, call->comm);
}

/* The member's part, told once. */
static enum fc_code contribute(struct fc_calls *c, struct fc_live_call *call, uint32_t member, uint32_t rank,
                               uint64_t event, const struct fc_event *e, const int64_t *list)
{
    if (call->first_rank == FC_NONE ? first_comes(c, call, rank, event, e) : check_agreement(c, call, rank, event, e))
        return c->job->st->code;
    if (!may_differ(e->op)) {
        if (part_bytes(e) != call->bytes && !call->uneven) c->n_uneven += call->uneven = true;
        return FC_OK;
    }
    if (call->begun || call->sizes[member] >= 0) return FC_OK;
    call->sizes[member] = part_bytes(e);
    if (!call->blocks) return FC_OK;
    if (e->n_list != call->n)
        return fc_fail(c->job->st, FC_INPUT, place_of(c->job->trace, rank, event),
                       "rank %" PRIu32 ", call %" PRIu64 ": %" PRIu32 " sizes for the %" PRIu32 " members", rank, event,
                       e->n_list, call->n);
    call->blocks[member] = (int64_t *)(uintptr_t)list; /* never written */
    if (c->job->trace->events) return FC_OK;
    call->owns_blocks = true;
    call->blocks[member] = malloc(call->n * sizeof **call->blocks);
    if (!call->blocks[member]) return fc_out_of_memory(c->job->st, "the collective calls in progress");
    memcpy(call->blocks[member], list, call->n * sizeof **call->blocks);
    return FC_OK;
}

enum fc_code fc_calls_announce(struct fc_calls *c, uint32_t comm, uint32_t number, uint32_t member, uint32_t rank,
                               uint64_t event, const struct fc_event *e, const int64_t *list)
{
    if (!may_differ(e->op)) return FC_OK; /* nobody asks for it */
    struct fc_live_call *call = find_call(c, comm, number);
    return call ? contribute(c, call, member, rank, event, e, list) : c->job->st->code;
}

/* ---- lists of messages ---- */

static uint64_t mix(uint64_t h, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    h = (h ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

static bool alike(const struct fc_call_list *l, const struct fc_live_call *call, enum fc_op op)
{
    return l->op == op && l->n == call->n && l->root == call->root && l->bytes == call->bytes &&
           !l->sizes == !call->sizes && (!l->sizes || !memcmp(l->sizes, call->sizes, l->n * sizeof *l->sizes));
}

static void free_list(struct fc_call_list *l)
{
    for (struct fc_batch *b = l->free_batch, *next; b; b = next) {
        next = b->next_free;
        free(b);
    }
    fc_arena_free(&l->arena);
    free(l);
}

static void drop_unused(struct fc_calls *c, bool all)
{
    for (uint32_t i = 0; i < LIST_BUCKETS; i++)
        for (struct fc_call_list **link = &c->bucket[i]; *link;) {
            struct fc_call_list *l = *link;
            if (l->n_used && !all) {
                link = &l->next;
                continue;
            }
            c->n_listed -= l->s.n_messages;
            *link = l->next;
            free_list(l);
        }
}

static enum fc_code make_list(struct fc_calls *c, struct fc_live_call *call, enum fc_op op, struct fc_call_list **list)
{
    struct fc_status *st = c->job->st;
    struct fc_call_list *l = calloc(1, sizeof *l);
    if (!l) return fc_out_of_memory(st, "the collective calls in progress");
    *list = l;
    *l = (struct fc_call_list){.op = op, .n = call->n, .root = call->root, .bytes = call->bytes, .s.n = call->n};
    if (call->sizes) {
        l->sizes = fc_alloc(&l->arena, l->n, sizeof *l->sizes, st);
        if (l->sizes) memcpy(l->sizes, call->sizes, l->n * sizeof *l->sizes);
    }
    if (st->code || fc_collective_messages_by(c->job->settings->collectives, op, l->n, l->root, l->bytes, l->sizes,
                                              &l->arena, &l->s.messages, &l->s.n_messages, st))
        return st->code;
    c->n_listed += l->s.n_messages;
    return fc_call_schedule_sort(&l->s, &l->arena, st);
}

static enum fc_code find_list(struct fc_calls *c, struct fc_live_call *call, enum fc_op op)
{
    uint64_t h = mix(mix(mix(op, call->n), call->root), call->bytes);
    for (uint32_t i = 0; call->sizes && i < call->n; i++) h = mix(h, call->sizes[i]);
    struct fc_call_list **bucket = &c->bucket[h % LIST_BUCKETS], *l = *bucket;
    while (l && !alike(l, call, op)) l = l->next;
    if (!l) {
        if (c->n_listed > MOST_LISTED) drop_unused(c, false);
        if (make_list(c, call, op, &l)) {
            if (l) free_list(l);
            return c->job->st->code;
        }
        l->next = *bucket;
        *bucket = l;
    }
    l->n_used++;
    call->list = l;
    call->batch = l->free_batch;
    if (call->batch) {
        l->free_batch = call->batch->next_free;
    } else {
        call->batch = malloc(sizeof *call->batch + l->s.n_messages * sizeof *call->batch->mail);
        if (!call->batch) return fc_out_of_memory(c->job->st, "the collective calls in progress");
        for (uint64_t i = 0; i < l->s.n_messages; i++) call->batch->mail[i].route = FC_NONE;
    }
    for (uint64_t i = 0; i < l->s.n_messages; i++) {
        struct fc_mail *mail = &call->batch->mail[i];
        mail->state = FC_EMBEDDED;
        mail->sender = mail->receiver = NULL;
        mail->taken = NULL;
        mail->row = NULL;
    }
    return FC_OK;
}

/* ---- what a call is ---- */

/* All members' bytes: their greatest, and each where they differ. Returns what decides the algorithm: bytes
 * of the vector, of all blocks, or of what a member sends (collective.c). */
static double sum_up(struct fc_live_call *call, enum fc_op op)
{
    if (!call->sizes) return op == FC_OP_ALLTOALL || op == FC_OP_ALLGATHER ? call->n * call->bytes : call->bytes;
    bool equal = true;
    double sum = 0;
    call->bytes = 0;
    for (uint32_t m = 0; m < call->n; m++) {
        if (call->sizes[m] < 0) { /* a window: it never comes, or its part is lost */
            call->sizes[m] = 0;
            call->n_gone++;
        }
        sum += call->sizes[m];
        equal = equal && call->sizes[m] == call->sizes[0];
        call->bytes = fc_later(call->bytes, call->sizes[m]);
    }
    if (equal || op == FC_OP_ALLTOALLV) {
        free(call->sizes);
        call->sizes = NULL;
    }
    return op == FC_OP_ALLTOALLV ? sum / call->n : sum;
}

static enum fc_code begin(struct fc_calls *c, struct fc_reader *reader, struct fc_live_call *call)
{
    enum fc_op op = call->op == FC_OP_COMM       ? FC_OP_ALLGATHER
                    : call->op == FC_OP_FINALIZE ? FC_OP_BARRIER
                                                 : (enum fc_op)call->op;
    for (uint32_t m = 0; call->sizes && m < call->n; m++)
        if (call->sizes[m] < 0 && reader && fc_reader_scan(reader, c, call->member[m], call->comm, m, call->number))
            return c->job->st->code;
    call->begun = true;
    double total = sum_up(call, op);
    if (call->n == 1 || (op != FC_OP_BARRIER && !(total > 0))) return FC_OK;
    bool uneven = call->sizes && fc_sizes_differ(call->sizes, call->n);
    struct fc_collective_call what = {op, call->n, total, uneven};
    const struct fc_collective_algorithm *algorithm = fc_collective_select(c->job->settings->collectives, &what);
    if (algorithm->hardware) return fc_hardware_begin(c, call, algorithm);
    call->fresh = fc_collective_buffers(algorithm);
    const struct fc_collective_alike *alike = algorithm->alike;
    if (!alike || !alike->from || (!call->blocks && (uint64_t)call->n * call->n < LONG_LIST))
        return find_list(c, call, op);
    call->alike = alike;
    if (alike->n_sends && !call->blocks && !call->n_gone && fc_dense_start(call, c->job->st)) return c->job->st->code;
    if (!call->sizes) return FC_OK;
    call->before = calloc((size_t)call->n + 1, sizeof *call->before);
    if (!call->before) return fc_out_of_memory(c->job->st, "the collective calls in progress");
    for (uint32_t m = 0; m < call->n; m++) call->before[m + 1] = call->before[m] + call->sizes[m];
    return FC_OK;
}

struct fc_live_call *fc_calls_join(struct fc_calls *c, struct fc_reader *reader, uint32_t rank,
                                   const struct fc_event *e, const int64_t *list, uint64_t number, uint32_t k,
                                   uint32_t *member)
{
    uint32_t comm = fc_call_comm(e);
    *member = fc_calls_member(c, comm, rank);
    struct fc_live_call *call = find_call(c, comm, k);
    if (!call || contribute(c, call, *member, rank, number, e, list)) return NULL;
    if (!call->begun && begin(c, reader, call)) return NULL;
    return call;
}

struct fc_live_call *fc_calls_enter(struct fc_calls *c, struct fc_reader *reader, uint32_t rank,
                                    const struct fc_event *e, const int64_t *list, uint64_t number, uint32_t *member)
{
    const struct fc_trace *t = c->job->trace;
    uint32_t comm = fc_call_comm(e), m = comm < t->n_comms ? fc_calls_member(c, comm, rank) : FC_NONE;
    if (m == FC_NONE) {
        fc_fail(c->job->st, FC_INPUT, place_of(t, rank, number),
                "rank %" PRIu32 ", call %" PRIu64 ": %s on communicator %" PRId32 ", of which it is no member", rank,
                number, fc_op_names[e->op], (int32_t)comm);
        return NULL;
    }
    return fc_calls_join(c, reader, rank, e, list, number, c->made[t->comm_first[comm] + m]++, member);
}

bool fc_calls_takes_part(struct fc_calls *c, struct fc_reader *reader, const struct fc_event *e)
{
    if (e->op >= FC_OP_BARRIER && e->op <= FC_OP_COMM) return true;
    if (e->op != FC_OP_FINALIZE) return false;
    if (!c->finalize_known) {
        c->finalize_known = true;
        if (fc_reader_finalizes(reader, c, &c->all_finalize)) c->all_finalize = false;
    }
    return c->all_finalize;
}

void fc_calls_free(struct fc_calls *c)
{
    for (uint32_t k = 0; c->comm && k < c->job->trace->n_comms; k++) {
        struct fc_comm_calls *ring = &c->comm[k];
        for (uint32_t i = ring->first; i < ring->first + ring->n; i++) {
            struct fc_live_call *call = ring->slot[i & ring->mask];
            if (!call || call == FINISHED) continue;
            free(call->batch);
            forget(call);
        }
        free(ring->slot);
    }
    if (c->bucket) drop_unused(c, true);
    fc_arena_free(&c->arena);
    *c = (struct fc_calls){0};
}
