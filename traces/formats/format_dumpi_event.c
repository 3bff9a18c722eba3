/* format_dumpi_event.c - records of one rank as events: clocks, datatypes, collectives, communicators,
 * one-sided.
 *
 * Computation is the CPU time since the last event left (its clock recorded), else the wall time; calls that
 * do not communicate are part of it. A datatype's bytes: the file's own table for those that the program did
 * not make, and for the others what their constructors say: contiguous count * old, vector count *
 * blocklength * old, indexed and struct the sum of lengths times old (MPI 4.0, 5.1), whatever lies between.
 */
#include "traces/formats/format_dumpi.h"
#include "traces/trace_format.h"

#include <inttypes.h>
#include <string.h>
#include <stdlib.h>

enum { MOST_HANDLES = 1 << 16 };

/* ---- clocks ---- */

/* Where MPI_Finalize was called with the recording off, the file is a window of the run: it was off, too, from MPI_Init to
 * the first call that is there. */
static bool is_window(const struct fc_dumpi_reader *r)
{
    return r->file.ignored[DUMPI_FINALIZE] > 0;
}

/* Clocks of several threads, and clocks that were set back, overlap: time never goes backwards in a trace. */
static enum fc_code take_clocks(struct fc_dumpi_reader *r)
{
    const struct fc_dumpi_record *d = &r->record;
    const char *thread = "calls of several threads: in the order in which they were recorded";
    const char *before = "time between MPI_Init and the first call of the recorded window: not taken as computation";
    double enter_s = r->last_leave_s, leave_s = enter_s;
    int64_t compute_ns = 0;
    if (d->has_wall) {
        enter_s = fc_from_ns(d->wall_enter_ns - r->run->start_ns);
        leave_s = fc_from_ns(d->wall_leave_ns - r->run->start_ns);
        if (r->started) compute_ns = d->wall_enter_ns - r->last_wall_ns;
    }
    if (d->has_cpu && r->started) compute_ns = d->cpu_enter_ns - r->last_cpu_ns;
    if (d->has_cpu && !d->has_wall) { /* no wall clock: the CPU's */
        enter_s = r->last_leave_s + (compute_ns > 0 ? fc_from_ns(compute_ns) : 0);
        leave_s = enter_s + fc_from_ns(d->cpu_leave_ns - d->cpu_enter_ns);
    }
    if (r->behind_init && is_window(r)) {
        compute_ns = 0;
        if (fc_sink_note(r->run->sink, before, 1)) return r->run->st->code;
    }
    bool back = enter_s < r->last_leave_s || leave_s < enter_s || compute_ns < 0;
    r->enter_s = enter_s < r->last_leave_s ? r->last_leave_s : enter_s;
    r->leave_s = leave_s < r->enter_s ? r->enter_s : leave_s;
    r->compute_ns = r->before_ns + (compute_ns < 0 ? 0 : compute_ns);
    r->compute_s = fc_from_ns(r->compute_ns);
    if (d->thread && fc_sink_note(r->run->sink, thread, 1)) return r->run->st->code;
    return back ? fc_sink_note(r->run->sink, "clocks that ran backwards: read as standing still", 1) : FC_OK;
}

/* The record has been an event, or (`polled`) adds to the next one's computation what was before it. */
static void leave(struct fc_dumpi_reader *r, bool polled)
{
    r->started = true;
    r->behind_init = r->record.function == DUMPI_INIT || r->record.function == DUMPI_INIT_THREAD;
    r->before_ns = polled ? r->compute_ns : 0;
    r->last_leave_s = r->leave_s;
    if (r->record.has_cpu) r->last_cpu_ns = r->record.cpu_leave_ns;
    if (r->record.has_wall) r->last_wall_ns = r->record.wall_leave_ns;
}

/* ---- datatypes ---- */

static enum fc_code set_type(struct fc_dumpi_reader *r, int64_t type, int64_t bytes)
{
    uint16_t t = (uint16_t)type;
    if (t >= r->n_types) {
        uint32_t n = 2u * t + 64;
        int64_t *larger = realloc(r->type_size, n * sizeof *larger);
        if (!larger) return fc_out_of_memory(r->run->st, "%" PRIu32 " datatypes", n);
        for (uint32_t i = r->n_types; i < n; i++) larger[i] = -1;
        r->type_size = larger;
        r->n_types = n;
    }
    r->type_size[t] = bytes;
    return FC_OK;
}

/* 64-bit C, for files of writers that had no table. */
static enum fc_code start_types(struct fc_dumpi_reader *r)
{
    static const int8_t usual[FC_DUMPI_FIRST_TYPE] = {-1, -1, 1, 1, 1, 1, 4, 2, 2, 4,  4,  8, 8, 4,
                                                      8,  16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20};
    r->n_types = 0;
    for (int t = 0; t < FC_DUMPI_FIRST_TYPE; t++)
        if (set_type(r, t, usual[t])) return r->run->st->code;
    for (uint32_t t = FC_DUMPI_FIRST_TYPE; t < r->n_types; t++) r->type_size[t] = -1;
    for (uint32_t t = 0; t < r->file.n_types; t++)
        if ((r->file.type_size[t] > 0 || t < FC_DUMPI_FIRST_TYPE) && r->file.type_size[t] >= 0 &&
            set_type(r, t, r->file.type_size[t]))
            return r->run->st->code;
    if (r->file.sizes) return FC_OK;
    return fc_sink_note(r->run->sink, "no table of datatype sizes: those of 64-bit C are used", 1);
}

/* Elements times the old type; -1 when that is unknown. */
static int64_t times_old(const struct fc_dumpi_reader *r, int64_t elements, int64_t old)
{
    uint16_t t = (uint16_t)old;
    int64_t bytes;
    if (elements < 0 || t >= r->n_types || r->type_size[t] < 0) return -1;
    return __builtin_mul_overflow(elements, r->type_size[t], &bytes) ? -1 : bytes;
}

static int64_t sum_of(const struct fc_dumpi_reader *r, const struct fc_dumpi_argument *list)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        int32_t length = fc_dumpi_entry(&r->file, list, i);
        if (length < 0) return -1;
        sum += length;
    }
    return sum;
}

static int64_t size_of_struct(const struct fc_dumpi_reader *r, const struct fc_dumpi_argument *lengths,
                              const struct fc_dumpi_argument *types)
{
    int64_t sum = 0;
    if (lengths->n != types->n) return -1;
    for (uint32_t i = 0; i < lengths->n; i++) {
        int64_t part = times_old(r, fc_dumpi_entry(&r->file, lengths, i), fc_dumpi_entry(&r->file, types, i));
        if (part < 0 || __builtin_add_overflow(sum, part, &sum)) return -1;
    }
    return sum;
}

static int64_t size_of_subarray(const struct fc_dumpi_reader *r, const struct fc_dumpi_argument *sides, int64_t old)
{
    int64_t elements = 1;
    for (uint32_t i = 0; i < sides->n; i++)
        if (__builtin_mul_overflow(elements, (int64_t)fc_dumpi_entry(&r->file, sides, i), &elements)) return -1;
    return times_old(r, elements, old);
}

static int64_t blocks(const struct fc_dumpi_argument *a)
{
    return a[0].value < 0 || a[1].value < 0 ? -1 : a[0].value * a[1].value;
}

/* Datatype constructors; they are local. */
static enum fc_code make_type(struct fc_dumpi_reader *r, bool *taken)
{
    const struct fc_dumpi_argument *a = r->record.arg;
    *taken = true;
    switch (r->record.function) {
    case DUMPI_TYPE_CONTIGUOUS: return set_type(r, a[2].value, times_old(r, a[0].value, a[1].value));
    case DUMPI_TYPE_VECTOR:
    case DUMPI_TYPE_HVECTOR:
    case DUMPI_TYPE_CREATE_HVECTOR: return set_type(r, a[4].value, times_old(r, blocks(a), a[3].value));
    case DUMPI_TYPE_INDEXED:
    case DUMPI_TYPE_HINDEXED:
    case DUMPI_TYPE_CREATE_HINDEXED: return set_type(r, a[4].value, times_old(r, sum_of(r, &a[1]), a[3].value));
    case DUMPI_TYPE_INDEXED_BLOCK: return set_type(r, a[4].value, times_old(r, blocks(a), a[3].value));
    case DUMPI_TYPE_STRUCT:
    case DUMPI_TYPE_CREATE_STRUCT: return set_type(r, a[4].value, size_of_struct(r, &a[1], &a[3]));
    case DUMPI_TYPE_DUP: return set_type(r, a[1].value, times_old(r, 1, a[0].value));
    case DUMPI_TYPE_RESIZED: return set_type(r, a[3].value, times_old(r, 1, a[0].value));
    case DUMPI_TYPE_SUBARRAY: return set_type(r, a[6].value, size_of_subarray(r, &a[2], a[5].value));
    case DUMPI_TYPE_DARRAY: return set_type(r, a[9].value, -1);
    default: *taken = false; return FC_OK;
    }
}

/* ---- communicators ---- */

static enum fc_code make_comm(struct fc_dumpi_reader *r, int parent_at, int made_at)
{
    const struct fc_dumpi_argument *a = r->record.arg;
    const struct fc_dumpi_made *made = &r->run->made[r->file.rank];
    const struct fc_dumpi_comm *parent;
    if (r->n_made >= made->n) /* the footers counted none, so nobody looked */
        return fc_dumpi_fail(&r->file, "%s is not in the footer's count of calls: the footer is damaged",
                             fc_dumpi_functions[r->record.function].name);
    int32_t comm = made->comm[r->n_made++];
    int64_t handle = a[made_at].value;
    const char *unknown = " (a communicator whose members are unknown)";
    if (comm == FC_DUMPI_UNKNOWN || parent_at < 0) {
        if (handle != FC_DUMPI_NULL) r->comm[(uint16_t)handle] = FC_DUMPI_UNKNOWN;
        return fc_dumpi_other(r, handle == FC_DUMPI_NULL ? NULL : unknown);
    }
    if (fc_dumpi_comm(r, a[parent_at].value, &parent) || !parent) return r->run->st->code;
    struct fc_event e = fc_dumpi_event(r, FC_OP_COMM);
    e.peer = parent->number;
    e.comm = comm < 0 ? -1 : r->run->comm[comm].number;
    if (handle != FC_DUMPI_NULL) r->comm[(uint16_t)handle] = comm < 0 ? FC_DUMPI_UNKNOWN : comm;
    return fc_hold_event(&r->hold, &e, NULL);
}

/* What the program was told must be what was found. */
static enum fc_code check_comm(const struct fc_dumpi_reader *r)
{
    const struct fc_dumpi_argument *a = r->record.arg;
    const struct fc_dumpi_comm *c = fc_dumpi_known_comm(r, a[0].value);
    if (!c) return FC_OK;
    bool size = r->record.function == DUMPI_COMM_SIZE;
    if (size ? a[1].value == c->n : a[1].value >= 0 && a[1].value < c->n && c->member[a[1].value] == r->file.rank)
        return FC_OK;
    return fc_dumpi_fail(&r->file,
                         "%s answers %" PRId64 ", which does not fit the members found from the calls that made the "
                         "communicator (%" PRIu32 " members; an MPI library that reorders ranks cannot be followed)",
                         size ? "MPI_Comm_size" : "MPI_Comm_rank", a[1].value, c->n);
}

/* ---- collectives ---- */

static const struct shape {
    int op, count, type, root, comm; /* arguments; -1: has none */
} shapes[FC_DUMPI_FUNCTIONS] = {
    [DUMPI_BARRIER] = {FC_OP_BARRIER, -1, -1, -1, 0},   [DUMPI_BCAST] = {FC_OP_BCAST, 0, 1, 2, 3},
    [DUMPI_GATHER] = {FC_OP_GATHER, 1, 2, 3, 4},        [DUMPI_GATHERV] = {FC_OP_GATHER, 2, 3, 4, 5},
    [DUMPI_SCATTER] = {FC_OP_SCATTER, 1, 2, 3, 4},      [DUMPI_SCATTERV] = {FC_OP_SCATTER, 3, 4, 5, 6},
    [DUMPI_ALLGATHER] = {FC_OP_ALLGATHER, 0, 1, -1, 4}, [DUMPI_ALLGATHERV] = {FC_OP_ALLGATHER, 1, 2, -1, 6},
    [DUMPI_ALLTOALL] = {FC_OP_ALLTOALL, 0, 1, -1, 4},   [DUMPI_ALLTOALLV] = {FC_OP_ALLTOALLV, 1, 3, -1, 7},
    [DUMPI_ALLTOALLW] = {FC_OP_ALLTOALLV, 1, 3, -1, 7}, [DUMPI_REDUCE] = {FC_OP_REDUCE, 0, 1, 3, 4},
    [DUMPI_ALLREDUCE] = {FC_OP_ALLREDUCE, 0, 1, -1, 3}, [DUMPI_REDUCE_SCATTER] = {FC_OP_REDUCE_SCATTER, 1, 2, -1, 4},
    [DUMPI_SCAN] = {FC_OP_SCAN, 0, 1, -1, 3},           [DUMPI_EXSCAN] = {FC_OP_SCAN, 0, 1, -1, 3},
};

static enum fc_code sizes_of_members(struct fc_dumpi_reader *r, const struct shape *s, const struct fc_dumpi_comm *comm,
                                     struct fc_event *e)
{
    const struct fc_dumpi_argument *a = r->record.arg, *counts = &a[s->count], *type = &a[s->type];
    bool many = type->width != 0;
    if (counts->n != comm->n || (many && type->n != comm->n))
        return fc_dumpi_fail(&r->file, "%s has %" PRIu32 " counts for the %" PRIu32 " members of its communicator",
                             fc_dumpi_functions[r->record.function].name, counts->n, comm->n);
    if (fc_dumpi_room(r, comm->n)) return r->run->st->code;
    for (uint32_t i = 0; i < comm->n; i++) {
        int64_t t = many ? fc_dumpi_entry(&r->file, type, i) : type->value;
        if (fc_dumpi_bytes(r, fc_dumpi_entry(&r->file, counts, i), t, &r->list[i])) return r->run->st->code;
        if (__builtin_add_overflow(e->bytes, r->list[i], &e->bytes))
            return fc_dumpi_fail(&r->file, "counts are too large");
    }
    e->n_list = comm->n;
    return FC_OK;
}

static enum fc_code collective(struct fc_dumpi_reader *r)
{
    const struct shape *s = &shapes[r->record.function];
    const struct fc_dumpi_argument *a = r->record.arg;
    const struct fc_dumpi_comm *comm;
    if (fc_dumpi_comm(r, a[s->comm].value, &comm) || !comm) return r->run->st->code;
    struct fc_event e = fc_dumpi_event(r, s->op);
    e.comm = comm->number;
    if (s->root >= 0 && fc_dumpi_world(r, comm, a[s->root].value, &e.peer)) return r->run->st->code;
    int64_t count = s->count < 0 ? 0 : a[s->count].value;
    if (s->op == FC_OP_ALLTOALLV) {
        if (sizes_of_members(r, s, comm, &e)) return r->run->st->code;
    } else if (s->op == FC_OP_REDUCE_SCATTER) {
        uint32_t place = 0;
        while (place < comm->n && comm->member[place] != r->file.rank) place++;
        if (place >= a[s->count].n || a[s->count].n != comm->n)
            return fc_dumpi_fail(&r->file, "MPI_Reduce_scatter has %" PRIu32 " counts for %" PRIu32 " members",
                                 a[s->count].n, comm->n);
        count = fc_dumpi_entry(&r->file, &a[s->count], place);
    }
    if (s->count >= 0 && s->op != FC_OP_ALLTOALLV && fc_dumpi_bytes(r, count, a[s->type].value, &e.bytes))
        return r->run->st->code;
    return fc_hold_event(&r->hold, &e, r->list);
}

/* ---- one-sided ---- */

static enum fc_code one_sided(struct fc_dumpi_reader *r)
{
    const struct fc_dumpi_argument *a = r->record.arg;
    bool update = r->record.function == DUMPI_ACCUMULATE;
    int32_t index = r->window[(uint16_t)a[update ? 7 : 6].value];
    if (index < 0) return fc_dumpi_other(r, " on a window whose members are unknown");
    struct fc_event e = fc_dumpi_event(r, FC_OP_RMA);
    e.mode = update ? 2 : r->record.function == DUMPI_GET;
    if (fc_dumpi_bytes(r, a[0].value, a[1].value, &e.bytes)) return r->run->st->code;
    if (a[2].value < 0) return fc_dumpi_other(r, NULL); /* to nobody */
    if (fc_dumpi_world(r, &r->run->comm[index], a[2].value, &e.peer)) return r->run->st->code;
    return fc_hold_event(&r->hold, &e, NULL);
}

static enum fc_code make_window(struct fc_dumpi_reader *r)
{
    const struct fc_dumpi_argument *a = r->record.arg;
    const struct fc_dumpi_comm *comm;
    r->window[(uint16_t)a[4].value] = FC_DUMPI_UNKNOWN;
    if (fc_dumpi_comm(r, a[3].value, &comm) || !comm) return r->run->st->code;
    r->window[(uint16_t)a[4].value] = (int32_t)(comm - r->run->comm);
    return fc_dumpi_other(r, "");
}

/* ---- all calls ---- */

static enum fc_code call(struct fc_dumpi_reader *r)
{
    int parent, function = r->record.function, made = fc_dumpi_makes_comm(function, &parent);
    if (made >= 0) return make_comm(r, parent, made);
    if (shapes[function].op) return collective(r);
    switch (function) {
    case DUMPI_INIT:
    case DUMPI_INIT_THREAD:
    case DUMPI_FINALIZE: {
        struct fc_event e = fc_dumpi_event(r, function == DUMPI_FINALIZE ? FC_OP_FINALIZE : FC_OP_INIT);
        return fc_hold_event(&r->hold, &e, NULL);
    }
    case DUMPI_COMM_FREE: return fc_dumpi_other(r, NULL);
    case DUMPI_ACCUMULATE:
    case DUMPI_GET:
    case DUMPI_PUT: return one_sided(r);
    case DUMPI_WIN_CREATE: return make_window(r);
    default: return fc_dumpi_message(r);
    }
}

static bool is_local(int function)
{
    bool group = function >= DUMPI_COMM_GROUP && function <= DUMPI_GROUP_RANGE_EXCL;
    return group || fc_dumpi_functions[function].class == FC_DUMPI_LOCAL;
}

static enum fc_code take_record(struct fc_dumpi_reader *r)
{
    int function = r->record.function;
    bool taken;
    if (make_type(r, &taken) || taken) return r->run->st->code;
    if (function == DUMPI_COMM_SIZE || function == DUMPI_COMM_RANK) return check_comm(r);
    if (is_local(function)) return FC_OK;
    if (take_clocks(r)) return r->run->st->code;
    uint64_t polls = r->hold.polls, events = fc_hold_events(&r->hold);
    enum fc_code code;
    switch (fc_dumpi_functions[function].class) {
    case FC_DUMPI_CALL: code = call(r); break;
    case FC_DUMPI_LOST: code = fc_dumpi_other(r, ""); break;
    default: code = fc_dumpi_other(r, NULL);
    }
    bool made = fc_hold_events(&r->hold) > events;
    if (made || r->hold.polls > polls) leave(r, !made);
    return code;
}

/* No handle is known; doubled, since this is done for every rank. */
static void forget(int32_t *handle)
{
    handle[0] = FC_DUMPI_UNKNOWN;
    for (size_t n = 1; n < MOST_HANDLES; n *= 2) memcpy(handle + n, handle, n * sizeof *handle);
}

enum fc_code fc_dumpi_read_rank(struct fc_dumpi_reader *r)
{
    bool there = true;
    enum fc_code code = start_types(r);
    forget(r->comm);
    forget(r->window);
    r->comm[FC_DUMPI_WORLD] = 0;
    r->n_made = 0;
    r->started = false;
    r->last_leave_s = 0;
    r->before_ns = 0;
    fc_hold_start(&r->hold, r->run->sink, r->file.rank);
    while (!code && there) {
        code = fc_dumpi_next(&r->file, &r->record, &there);
        if (!code && there) code = take_record(r);
    }
    return code ? code : fc_hold_end(&r->hold);
}
