/* format_liballprof_calls.c - lines of liballprof's text (Hoefler; written by generated wrappers of every MPI
 * function):
 *
 *   MPI_Name:ENTER:arguments in C order:LEAVE
 *
 * Times are microseconds since the epoch, whole or with a fraction; MPI_Init has no ENTER and MPI_Finalize no
 * LEAVE (`-`). Pointers (requests too) are addresses, a communicator is handle,rank,size, a type
 * id,size,extent (the extent may be anything), and newer writers put the elements of an array of counts
 * behind its address: ADDRESS:4,8,15. */
#include "traces/formats/format_liballprof.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define NONE FC_ALLPROF_ABSENT
#define MESSAGE(name, op, mode, makes, keeps)                                                                          \
    {                                                                                                                  \
        name, FC_ALLPROF_MESSAGE, op, mode, makes, keeps, (op) == FC_OP_SEND ? 6 : 7, 7, 1, 2, NONE, 5                 \
    }
#define COLLECTIVE(name, op, low, high, count, type, root)                                                             \
    {                                                                                                                  \
        name, FC_ALLPROF_COLLECTIVE, op, 0, false, false, low, high, count, type, root, -1                             \
    }
#define OTHER(name, shape, low, high)                                                                                  \
    {                                                                                                                  \
        name, shape, FC_OP_OTHER, 0, false, false, low, high, NONE, NONE, NONE, NONE                                   \
    }

static const struct fc_allprof_kind kinds[] = {
    MESSAGE("Send", FC_OP_SEND, 0, false, false),
    MESSAGE("Ssend", FC_OP_SEND, 1, false, false),
    MESSAGE("Bsend", FC_OP_SEND, 2, false, false),
    MESSAGE("Rsend", FC_OP_SEND, 3, false, false),
    MESSAGE("Recv", FC_OP_RECV, 0, false, false),
    MESSAGE("Isend", FC_OP_ISEND, 0, true, false),
    MESSAGE("Issend", FC_OP_ISEND, 1, true, false),
    MESSAGE("Ibsend", FC_OP_ISEND, 2, true, false),
    MESSAGE("Irsend", FC_OP_ISEND, 3, true, false),
    MESSAGE("Irecv", FC_OP_IRECV, 0, true, false),
    MESSAGE("Send_init", FC_OP_ISEND, 0, true, true),
    MESSAGE("Ssend_init", FC_OP_ISEND, 1, true, true),
    MESSAGE("Bsend_init", FC_OP_ISEND, 2, true, true),
    MESSAGE("Rsend_init", FC_OP_ISEND, 3, true, true),
    MESSAGE("Recv_init", FC_OP_IRECV, 0, true, true),
    OTHER("Sendrecv", FC_ALLPROF_EXCHANGE, 12, 12),
    OTHER("Sendrecv_replace", FC_ALLPROF_REPLACE, 9, 9),
    OTHER("Wait", FC_ALLPROF_WAIT, 1, 2),
    OTHER("Waitall", FC_ALLPROF_WAITALL, 2, 3),
    OTHER("Waitany", FC_ALLPROF_OPEN, 2, 8),
    OTHER("Waitsome", FC_ALLPROF_OPEN, 2, 8),
    OTHER("Start", FC_ALLPROF_START, 1, 1),
    OTHER("Startall", FC_ALLPROF_STARTALL, 2, 2),
    OTHER("Request_free", FC_ALLPROF_RELEASE, 1, 1),
    OTHER("Test", FC_ALLPROF_POLL, 1, 8),
    OTHER("Testall", FC_ALLPROF_POLL, 1, 8),
    OTHER("Testany", FC_ALLPROF_POLL, 1, 8),
    OTHER("Testsome", FC_ALLPROF_POLL, 1, 8),
    OTHER("Iprobe", FC_ALLPROF_POLL, 1, 8),
    COLLECTIVE("Barrier", FC_OP_BARRIER, 1, 1, NONE, NONE, NONE),
    COLLECTIVE("Bcast", FC_OP_BCAST, 5, 5, 1, 2, 3),
    COLLECTIVE("Gather", FC_OP_GATHER, 8, 8, 1, 2, -2),
    COLLECTIVE("Gatherv", FC_OP_GATHER, 9, 11, 1, 2, -2),
    COLLECTIVE("Scatter", FC_OP_SCATTER, 8, 8, -4, -3, -2),
    COLLECTIVE("Scatterv", FC_OP_SCATTER, 9, 11, -4, -3, -2),
    COLLECTIVE("Allgather", FC_OP_ALLGATHER, 7, 7, 1, 2, NONE),
    COLLECTIVE("Allgatherv", FC_OP_ALLGATHER, 8, 10, 1, 2, NONE),
    COLLECTIVE("Alltoall", FC_OP_ALLTOALL, 7, 7, 1, 2, NONE),
    COLLECTIVE("Reduce", FC_OP_REDUCE, 7, 7, 2, 3, -2),
    COLLECTIVE("Allreduce", FC_OP_ALLREDUCE, 6, 6, 2, 3, NONE),
    COLLECTIVE("Scan", FC_OP_SCAN, 6, 6, 2, 3, NONE),
    COLLECTIVE("Exscan", FC_OP_SCAN, 6, 6, 2, 3, NONE),
    {"Reduce_scatter", FC_ALLPROF_SHARES, FC_OP_REDUCE_SCATTER, 0, false, false, 6, 7, -4, -3, NONE, -1},
    COLLECTIVE("Reduce_scatter_block", FC_OP_REDUCE_SCATTER, 6, 6, 2, 3, NONE),
    {"Alltoallv", FC_ALLPROF_SIZES, FC_OP_ALLTOALLV, 0, false, false, 9, 13, 2, NONE, NONE, -1},
#define MAKES(name)                                                                                                    \
    {                                                                                                                  \
        name, FC_ALLPROF_MAKES, FC_OP_COMM, 0, false, false, 2, 12, NONE, NONE, NONE, 0                                \
    }
    MAKES("Comm_dup"),
    MAKES("Comm_split"),
    MAKES("Comm_create"),
    MAKES("Comm_split_type"),
    MAKES("Cart_create"),
    MAKES("Cart_sub"),
    MAKES("Graph_create"),
    OTHER("Init", FC_ALLPROF_PLAIN, 0, 8),
    OTHER("Init_thread", FC_ALLPROF_PLAIN, 0, 8),
    OTHER("Finalize", FC_ALLPROF_PLAIN, 0, 0),
};
#define PLAIN(name) OTHER(name, FC_ALLPROF_PLAIN, 0, FC_ALLPROF_FIELDS)
/* Groups of functions by how their names begin: local, so that only time passes. */
static const struct fc_allprof_kind local[] = {
    PLAIN("Comm_rank"),    PLAIN("Comm_size"),    PLAIN("Comm_group"),  PLAIN("Comm_free"),
    PLAIN("Comm_get"),     PLAIN("Comm_set"),     PLAIN("Type_"),       PLAIN("Group_"),
    PLAIN("Get_count"),    PLAIN("Get_elements"), PLAIN("Get_address"), PLAIN("Get_processor_name"),
    PLAIN("Get_version"),  PLAIN("Address"),      PLAIN("Op_"),         PLAIN("Errhandler"),
    PLAIN("Error_"),       PLAIN("Attr_"),        PLAIN("Keyval"),      PLAIN("Cart_coords"),
    PLAIN("Cart_rank"),    PLAIN("Cart_shift"),   PLAIN("Cart_get"),    PLAIN("Cartdim_get"),
    PLAIN("Dims_create"),  PLAIN("Topo_test"),    PLAIN("Wtime"),       PLAIN("Wtick"),
    PLAIN("Initialized"),  PLAIN("Finalized"),    PLAIN("Pack"),        PLAIN("Unpack"),
    PLAIN("Probe"),        PLAIN("Buffer_"),      PLAIN("Info_"),       PLAIN("Pcontrol"),
    PLAIN("Query_thread"), PLAIN("Alloc_mem"),    PLAIN("Free_mem"),
};

static const struct fc_allprof_kind *find(const char *name, size_t length)
{
    for (size_t i = 0; i < FC_COUNT(kinds); i++)
        if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, name, length) == 0) return &kinds[i];
    return NULL;
}

const struct fc_allprof_kind *fc_allprof_kind(const struct fc_allprof_call *call, bool *nonblocking)
{
    const char *name = call->name.text + 4; /* behind MPI_ */
    size_t length = call->name.length - 4;
    char blocking[40];
    const struct fc_allprof_kind *kind = find(name, length);
    *nonblocking = false;
    if (kind) return kind;
    for (size_t i = 0; i < FC_COUNT(local); i++)
        if (length >= strlen(local[i].name) && memcmp(name, local[i].name, strlen(local[i].name)) == 0)
            return &local[i];
    if (length < 2 || length >= sizeof blocking || *name != 'I') return NULL;
    memcpy(blocking, name + 1, length - 1);
    *blocking = (char)toupper((unsigned char)*blocking);
    kind = find(blocking, length - 1);
    *nonblocking = kind && (kind->shape == FC_ALLPROF_COLLECTIVE || kind->shape == FC_ALLPROF_SHARES ||
                            kind->shape == FC_ALLPROF_SIZES);
    return *nonblocking ? kind : NULL;
}

/* ---- lines ---- */

/* Microseconds to nanoseconds, exactly. */
static enum fc_code read_time(const struct fc_allprof_call *call, struct fc_allprof_field f, int64_t *ns,
                              struct fc_status *st)
{
    int64_t value = 0;
    size_t i = 0;
    int decimals = 0;
    for (; i < f.length && i < 15 + 1 && isdigit((unsigned char)f.text[i]); i++) value = 10 * value + (f.text[i] - '0');
    bool good = i > 0 && value <= INT64_MAX / 1000 - 1;
    if (i < f.length && f.text[i] == '.')
        for (i++; i < f.length && isdigit((unsigned char)f.text[i]); i++)
            if (decimals < 3) value = good ? 10 * value + (f.text[i] - '0') : 0, decimals++;
    if (!good || i < f.length)
        return fc_fail(st, FC_INPUT, call->where, "time '%.*s' (expected microseconds since the epoch)",
                       fc_shown(f.length), f.text);
    for (; decimals < 3; decimals++) value *= 10;
    *ns = value;
    return FC_OK;
}

static enum fc_code split(const char *text, size_t length, struct fc_allprof_call *call, struct fc_status *st)
{
    struct fc_allprof_field all[FC_ALLPROF_FIELDS + 3];
    const char *end = text + length;
    int n = 0;
    for (const char *at = text; at <= end; n++) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        if (!colon) colon = end;
        if (n == FC_ALLPROF_FIELDS + 3)
            return fc_fail(st, FC_INPUT, call->where, "a call with more than %d arguments", FC_ALLPROF_FIELDS);
        all[n] = (struct fc_allprof_field){at, (size_t)(colon - at)};
        at = colon + 1;
    }
    if (n < 3 || all[0].length < 5 || memcmp(all[0].text, "MPI_", 4))
        return fc_fail(st, FC_INPUT, call->where, "'%.*s' (expected MPI_NAME:ENTER:arguments:LEAVE)", fc_shown(length),
                       text);
    call->name = all[0];
    call->n_fields = n - 3;
    memcpy(call->field, all + 2, (size_t)call->n_fields * sizeof *all);
    bool no_enter = all[1].length == 1 && *all[1].text == '-',
         no_leave = all[n - 1].length == 1 && *all[n - 1].text == '-';
    if (no_enter && no_leave) return fc_fail(st, FC_INPUT, call->where, "a call without a time");
    if (!no_enter && read_time(call, all[1], &call->enter_ns, st)) return st->code;
    if (!no_leave && read_time(call, all[n - 1], &call->leave_ns, st)) return st->code;
    if (no_enter) call->enter_ns = call->leave_ns;
    if (no_leave) call->leave_ns = call->enter_ns;
    return FC_OK;
}

enum fc_code fc_allprof_next(struct fc_stream *s, struct fc_allprof_call *call, struct fc_status *st)
{
    const char *text;
    size_t length;
    bool nonblocking;
    call->name.text = NULL;
    if (fc_text_line(s, &text, &length, st) || !text) return st->code;
    call->where = fc_stream_place(s);
    if (split(text, length, call, st)) return st->code;
    const struct fc_allprof_kind *kind = fc_allprof_kind(call, &nonblocking);
    if (kind && (call->n_fields - nonblocking < kind->n_low || call->n_fields - nonblocking > kind->n_high))
        return fc_fail(st, FC_INPUT, call->where, "%.*s has %d arguments (expected %d to %d)",
                       fc_shown(call->name.length), call->name.text, call->n_fields, kind->n_low + nonblocking,
                       kind->n_high + nonblocking);
    return FC_OK;
}

static struct fc_allprof_field at_place(const struct fc_allprof_call *call, int at)
{
    return call->field[at < 0 ? call->n_fields + at : at];
}

enum fc_code fc_allprof_integer(const struct fc_allprof_call *call, int at, const char *what, int64_t low, int64_t high,
                                int64_t *value, struct fc_status *st)
{
    struct fc_allprof_field f = at_place(call, at);
    long long number = 0;
    enum fc_code code = fc_word_int(f.text, f.length, low, high, what, &number, call->where, st);
    *value = number;
    return code;
}

/* A handle: any 64 bits, with or without a sign. */
static bool read_handle(const char *text, size_t length, int64_t *value)
{
    bool negative = length && *text == '-';
    uint64_t v = 0;
    if (length == negative || length > 21) return false;
    for (size_t i = negative; i < length; i++) {
        if (!isdigit((unsigned char)text[i]) || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))
            return false;
    }
    *value = (int64_t)(negative ? 0 - v : v);
    return true;
}

/* Field of a handle and `n` - 1 integers with commas between; more may follow. */
static enum fc_code read_several(const struct fc_allprof_call *call, int at, const char *what, int n, int64_t *value,
                                 struct fc_status *st)
{
    struct fc_allprof_field f = at_place(call, at);
    const char *from = f.text, *end = f.text + f.length;
    for (int i = 0; i < n; i++) {
        const char *comma = from <= end ? memchr(from, ',', (size_t)(end - from)) : NULL;
        long long number = 0;
        if (from > end || (i < n - 1 && !comma) ||
            (i == 0 && !read_handle(from, (size_t)((comma ? comma : end) - from), &value[0])))
            return fc_fail(st, FC_INPUT, call->where, "'%.*s' (expected %s)", fc_shown(f.length), f.text, what);
        if (!comma) comma = end;
        if (i && fc_word_int(from, (size_t)(comma - from), INT64_MIN, INT64_MAX, what, &number, call->where, st))
            return st->code;
        if (i) value[i] = number;
        from = comma + 1;
    }
    return FC_OK;
}

enum fc_code fc_allprof_comm_of(const struct fc_allprof_call *call, int at, struct fc_allprof_use *use,
                                struct fc_status *st)
{
    int64_t v[3] = {0};
    if (read_several(call, at, "a communicator: handle,rank,size", 3, v, st)) return st->code;
    if (v[2] < 1 || v[2] > INT32_MAX || v[1] < 0 || v[1] >= v[2])
        return fc_fail(st, FC_INPUT, call->where, "rank %" PRId64 " in a communicator of %" PRId64 " ranks", v[1],
                       v[2]);
    *use = (struct fc_allprof_use){
        .handle = v[0], .rank = (uint32_t)v[1], .size = (uint32_t)v[2], .comm = -1, .line = call->where.line};
    return FC_OK;
}

enum fc_code fc_allprof_type_size(const struct fc_allprof_call *call, int at, int64_t *size, struct fc_status *st)
{
    int64_t v[2] = {0};
    if (read_several(call, at, "a type: id,size,extent", 2, v, st)) return st->code;
    if (v[1] < 0 || v[1] > INT32_MAX)
        return fc_fail(st, FC_INPUT, call->where, "a type of %" PRId64 " bytes (allowed: 0 to 2147483647)", v[1]);
    *size = v[1];
    return FC_OK;
}

bool fc_allprof_is(const struct fc_trace_probe *probe)
{
    const char *text;
    size_t length, i = 4;
    if (!fc_probe_line(probe, &text, &length) || length < 7 || memcmp(text, "MPI_", 4)) return false;
    while (i < length && (isalnum((unsigned char)text[i]) || text[i] == '_')) i++;
    if (i + 1 >= length || text[i] != ':') return false;
    return text[i + 1] == '-' || isdigit((unsigned char)text[i + 1]);
}
