/* format_simgrid_actions.c - actions of SimGrid's time-independent traces, one line at a time
 * (format_simgrid.c has the rules). */
#include "traces/formats/format_simgrid.h"
#include "traces/trace_format.h"

#include <inttypes.h>
#include <string.h>

enum { ANY_SOURCE = -333, ANY_TAG = -444 };

/* Bytes of the basic datatypes by number, on LP64; 0: unknown. Numbers above 52 differ between versions (53
 * or 57 is MPI_PACKED). */
static const uint8_t type_bytes[] = {
    [0] = 8,  [1] = 4,   [2] = 1,   [3] = 2,  [4] = 8,   [5] = 4,   [6] = 1,   [7] = 8,   [8] = 1,  [9] = 1,
    [10] = 2, [11] = 4,  [12] = 8,  [13] = 8, [14] = 16, [15] = 4,  [16] = 1,  [17] = 1,  [18] = 2, [19] = 4,
    [20] = 8, [21] = 1,  [22] = 2,  [23] = 4, [24] = 8,  [25] = 8,  [26] = 16, [27] = 32, [28] = 8, [29] = 8,
    [30] = 8, [31] = 16, [32] = 16, [33] = 8, [34] = 8,  [35] = 8,  [36] = 16, [37] = 16, [38] = 4, [39] = 4,
    [40] = 8, [46] = 2,  [47] = 4,  [48] = 8, [49] = 16, [50] = 32, [57] = 1,  [58] = 8};

enum action {
    INIT,
    FINALIZE,
    NOTHING,
    OTHER,
    LOCATION,
    SLEEP,
    COMPUTE,
    MESSAGE,
    SENDRECV,
    WAIT,
    TEST,
    WAITALL,
    OPEN,
    LOST,
    PLAIN,  /* barrier: nothing; bcast: COUNT [ROOT [DT]] */
    REDUCE, /* COUNT FLOPS [ROOT] [DT] */
    SHARE,  /* alltoall, allgather, gather, scatter: SC RC [ROOT] [DT DT] */
    GATHERV,
    ALLGATHERV,
    SCATTERV,
    REDUCESCATTER,
    ALLTOALLV
};
struct kind {
    const char *name;
    uint8_t action, op;
    bool root;
};
static const struct kind kinds[] = {
    {"init", INIT, FC_OP_INIT, false},
    {"finalize", FINALIZE, FC_OP_FINALIZE, false},
    {"comm_size", OTHER, FC_OP_OTHER, false},
    {"comm_split", NOTHING, FC_OP_OTHER, false},
    {"comm_dup", NOTHING, FC_OP_OTHER, false},
    {"location", LOCATION, FC_OP_OTHER, false},
    {"sleep", SLEEP, FC_OP_OTHER, false},
    {"compute", COMPUTE, FC_OP_OTHER, false},
    {"send", MESSAGE, FC_OP_SEND, false},
    {"recv", MESSAGE, FC_OP_RECV, false},
    {"isend", MESSAGE, FC_OP_ISEND, false},
    {"irecv", MESSAGE, FC_OP_IRECV, false},
    {"sendRecv", SENDRECV, FC_OP_SEND, false},
    {"wait", WAIT, FC_OP_WAIT, false},
    {"test", TEST, FC_OP_POLL, false},
    {"waitall", WAITALL, FC_OP_WAIT, false},
    {"waitAll", WAITALL, FC_OP_WAIT, false},
    {"waitAny", OPEN, FC_OP_OTHER, false},
    {"waitany", OPEN, FC_OP_OTHER, false},
    {"waitSome", OPEN, FC_OP_OTHER, false},
    {"waitsome", OPEN, FC_OP_OTHER, false},
    {"testAny", OPEN, FC_OP_OTHER, false},
    {"testany", OPEN, FC_OP_OTHER, false},
    {"testSome", OPEN, FC_OP_OTHER, false},
    {"testAll", OPEN, FC_OP_OTHER, false},
    {"testall", OPEN, FC_OP_OTHER, false},
    {"Iprobe", OPEN, FC_OP_OTHER, false},
    {"Start", LOST, FC_OP_OTHER, false},
    {"Startall", LOST, FC_OP_OTHER, false},
    {"barrier", PLAIN, FC_OP_BARRIER, false},
    {"bcast", PLAIN, FC_OP_BCAST, true},
    {"reduce", REDUCE, FC_OP_REDUCE, true},
    {"allreduce", REDUCE, FC_OP_ALLREDUCE, false},
    {"scan", REDUCE, FC_OP_SCAN, false},
    {"exscan", REDUCE, FC_OP_SCAN, false},
    {"alltoall", SHARE, FC_OP_ALLTOALL, false},
    {"allgather", SHARE, FC_OP_ALLGATHER, false},
    {"gather", SHARE, FC_OP_GATHER, true},
    {"scatter", SHARE, FC_OP_SCATTER, true},
    {"gatherv", GATHERV, FC_OP_GATHER, true},
    {"allgatherv", ALLGATHERV, FC_OP_ALLGATHER, false},
    {"scatterv", SCATTERV, FC_OP_SCATTER, true},
    {"reducescatter", REDUCESCATTER, FC_OP_REDUCE_SCATTER, false},
    {"alltoallv", ALLTOALLV, FC_OP_ALLTOALLV, false},
};

static struct fc_place here(const struct fc_simgrid *s)
{
    return fc_stream_place(&s->stream);
}

/* NULL: unknown. A nonblocking collective is the blocking one with *nonblocking set. */
static const struct kind *find_kind(const char *name, size_t length, bool *nonblocking)
{
    *nonblocking = false;
    for (size_t i = 0; i < FC_COUNT(kinds); i++)
        if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, name, length) == 0) return &kinds[i];
    *nonblocking = true;
    if (length < 2 || (*name != 'i' && *name != 'I')) return NULL;
    for (size_t i = 0; i < FC_COUNT(kinds); i++)
        if (kinds[i].action >= PLAIN && strlen(kinds[i].name) == length - 1 &&
            memcmp(kinds[i].name, name + 1, length - 1) == 0)
            return &kinds[i];
    return NULL;
}

/* ---- arguments ---- */

static enum fc_code integer(const struct fc_simgrid *s, size_t i, const char *what, long long low, long long high,
                            int64_t *value)
{
    long long number = 0;
    enum fc_code code = fc_word_int(s->word[i].text, s->word[i].length, low, high, what, &number, here(s), s->st);
    *value = number;
    return code;
}

/* Number of elements, which may be written as 5e4: truncated to a whole number, as smpi_replay does. */
static enum fc_code count(const struct fc_simgrid *s, size_t i, int64_t *value)
{
    double number;
    *value = 0;
    if (fc_word_real(s->word[i].text, s->word[i].length, "a count", &number, here(s), s->st)) return s->st->code;
    if (!(fabs(number) <= 0x1p53))
        return fc_fail(s->st, FC_INPUT, here(s), "a count of %g (allowed: up to 2^53)", number);
    *value = (int64_t)number;
    return FC_OK;
}

/* Bytes of one element: type number in argument i, the default where the line has no such argument. */
static enum fc_code type_size(const struct fc_simgrid *s, size_t i, int64_t *bytes)
{
    int64_t number;
    *bytes = s->rank[s->at].real ? 8 : 1;
    if (i >= s->n_words) return FC_OK;
    if (integer(s, i, "a datatype", -1, INT32_MAX, &number)) return s->st->code;
    *bytes = number < 0 ? 0 : number < (int64_t)sizeof type_bytes ? type_bytes[number] : 0; /* -1: MPI_DATATYPE_NULL */
    if (*bytes || number < 0) return FC_OK;
    return fc_fail(s->st, FC_INPUT, here(s),
                   "the size of datatype %" PRId64 " is unknown (known: 0 to 40, 46 to 50, 57, 58)", number);
}

/* The count in argument i times the size of the type in argument `type`. */
static enum fc_code sized(const struct fc_simgrid *s, size_t i, size_t type, int64_t *bytes)
{
    int64_t n, size;
    if (count(s, i, &n) || type_size(s, type, &size)) return s->st->code;
    if (n < 0) return fc_fail(s->st, FC_INPUT, here(s), "a count of %" PRId64 " (expected 0 or more)", n);
    *bytes = n * size; /* below 2^53 * 32 */
    return FC_OK;
}

static enum fc_code root(const struct fc_simgrid *s, size_t i, struct fc_event *e)
{
    int64_t number = 0;
    if (i < s->n_words && integer(s, i, "a root", 0, (long long)s->n_ranks - 1, &number)) return s->st->code;
    e->peer = (int32_t)(s->first + number);
    return FC_OK;
}

/* Argument i is a number of operations, or of seconds. */
static enum fc_code compute(struct fc_simgrid *s, size_t i, bool operations)
{
    double amount;
    if (fc_word_real(s->word[i].text, s->word[i].length, "an amount of computation", &amount, here(s), s->st))
        return s->st->code;
    double *compute_s = &s->rank[s->at].compute_s;
    *compute_s += operations ? fc_sink_seconds(s->sink, s->options, s->first + s->at, amount) : amount;
    if (amount >= 0 && *compute_s <= (double)FC_MAX_TIME_NS / 1e9) return FC_OK;
    return fc_fail(s->st, FC_INPUT, here(s), "computation of %g s between two calls (allowed: 0 to 9000000 s)",
                   *compute_s);
}

static enum fc_code words(const struct fc_simgrid *s, const struct kind *kind, size_t low, size_t high)
{
    if (s->n_words >= low && s->n_words <= high) return FC_OK;
    return fc_fail(s->st, FC_INPUT, here(s), "action %s has %zu arguments (expected %zu to %zu)", kind->name,
                   s->n_words, low, high);
}

/* ---- events ---- */

static enum fc_code put(struct fc_simgrid *s, struct fc_event e, const int64_t *list)
{
    struct fc_simgrid_rank *r = &s->rank[s->at];
    e.comm = s->comm;
    e.compute_s = r->compute_s;
    e.polls = (uint16_t)r->polls;
    r->compute_s = 0;
    r->polls = 0;
    return fc_sink_event(s->sink, s->first + s->at, &e, list);
}

static enum fc_code note(const struct fc_simgrid *s, const struct kind *kind, const char *why)
{
    char text[160];
    snprintf(text, sizeof text, "%s: %s", kind->name, why);
    return fc_sink_note(s->sink, text, 1);
}

static enum fc_code put_collective(struct fc_simgrid *s, const struct kind *kind, struct fc_event e, bool nonblocking)
{
    struct fc_simgrid_rank *r = &s->rank[s->at];
    if (nonblocking) {
        e.mode = 1;
        e.request = fc_sink_requests(s->sink, s->first + s->at);
        if (fc_requests_add(&r->collective, (uint64_t)(kind - kinds), 0, e.request, s->st)) return s->st->code;
    }
    return put(s, e, s->list);
}

/* ---- messages ---- */

static uint64_t key_of(int64_t source, int64_t destination)
{
    return (uint64_t)(uint32_t)source << 32 | (uint32_t)destination;
}

/* Peer and tag of arguments i and i + 1 (tag SIZE_MAX: 0); *raw as written, for the key. */
static enum fc_code partner(const struct fc_simgrid *s, size_t peer, size_t tag, struct fc_event *e, int64_t raw[2])
{
    bool receive = e->op == FC_OP_RECV || e->op == FC_OP_IRECV;
    raw[1] = 0;
    if (integer(s, peer, "a peer", INT32_MIN, INT32_MAX, &raw[0]) ||
        (tag != SIZE_MAX && integer(s, tag, "a tag", INT32_MIN, INT32_MAX, &raw[1])))
        return s->st->code;
    bool any = receive && raw[0] == ANY_SOURCE, any_tag = receive && raw[1] == ANY_TAG;
    if (!any && (raw[0] < 0 || raw[0] >= s->n_ranks))
        return fc_fail(s->st, FC_INPUT, here(s), "peer %" PRId64 " is out of range (allowed: 0 to %" PRIu32 "%s)",
                       raw[0], s->n_ranks - 1, receive ? ", or -333 for any" : "");
    if (!any_tag && raw[1] < 0)
        return fc_fail(s->st, FC_INPUT, here(s), "tag %" PRId64 " (allowed: 0 or more%s)", raw[1],
                       receive ? ", or -444 for any" : "");
    e->peer = any ? FC_ANY : (int32_t)(s->first + raw[0]);
    e->tag = any_tag ? FC_ANY : (int32_t)raw[1];
    return FC_OK;
}

/* PEER TAG COUNT [DT]. A receive with a negative count took what a probe found: its length is not written. */
static enum fc_code message(struct fc_simgrid *s, const struct kind *kind)
{
    struct fc_event e = fc_event_of(kind->op);
    int64_t raw[2], n = 0;
    bool send = kind->op == FC_OP_SEND || kind->op == FC_OP_ISEND;
    if (words(s, kind, 3, 4) || partner(s, 0, 1, &e, raw) || (!send && count(s, 2, &n))) return s->st->code;
    if (n < 0) {
        if (note(s, kind, "as long as what a probe found, which is not recorded: taken as 0 bytes")) return s->st->code;
    } else if (sized(s, 2, 3, &e.bytes)) {
        return s->st->code;
    }
    if (kind->op == FC_OP_SEND || kind->op == FC_OP_RECV) return put(s, e, NULL);
    e.request = fc_sink_requests(s->sink, s->first + s->at);
    uint64_t key = send ? key_of(s->at, raw[0]) : key_of(raw[0], s->at);
    if (fc_requests_add(&s->rank[s->at].open, key, (uint64_t)raw[1], e.request, s->st)) return s->st->code;
    return put(s, e, NULL);
}

/* SCOUNT DST RCOUNT SRC [DT DT] */
static enum fc_code sendrecv(struct fc_simgrid *s, const struct kind *kind)
{
    struct fc_event send = fc_event_of(FC_OP_SEND), receive = fc_event_of(FC_OP_IRECV), wait = fc_event_of(FC_OP_WAIT);
    int64_t raw[2], request = fc_sink_requests(s->sink, s->first + s->at);
    if (words(s, kind, 4, 6) || sized(s, 0, 4, &send.bytes) || sized(s, 2, 5, &receive.bytes) ||
        partner(s, 1, SIZE_MAX, &send, raw) || partner(s, 3, SIZE_MAX, &receive, raw))
        return s->st->code;
    receive.request = (int32_t)request;
    wait.n_list = 1;
    if (put(s, receive, NULL) || put(s, send, NULL)) return s->st->code;
    return put(s, wait, &request);
}

/* The oldest nonblocking collective, if all that are open are of one kind: the tag that tells them apart is
 * SimGrid's own. */
static enum fc_code wait_collective(struct fc_simgrid *s, int64_t *request)
{
    struct fc_open_requests *open = &s->rank[s->at].collective;
    *request = -1;
    for (size_t i = 0; i < FC_COUNT(kinds); i++) {
        int32_t oldest = fc_requests_find(open, i, 0);
        if (oldest < 0) continue;
        if (*request >= 0)
            return fc_fail(s->st, FC_INPUT, here(s),
                           "action wait: which of the nonblocking collectives that are open it is for is not written");
        *request = oldest;
    }
    for (size_t i = 0; *request >= 0 && i < FC_COUNT(kinds); i++)
        if (fc_requests_find(open, i, 0) == *request) fc_requests_take(open, i, 0);
    return FC_OK;
}

/* SRC DST TAG */
static enum fc_code wait(struct fc_simgrid *s, const struct kind *kind)
{
    struct fc_event e = fc_event_of(FC_OP_WAIT);
    int64_t v[3], request;
    if (words(s, kind, 3, 3)) return s->st->code;
    for (size_t i = 0; i < 3; i++)
        if (integer(s, i, "a rank or tag", INT32_MIN, INT32_MAX, &v[i])) return s->st->code;
    if (kind->action == TEST) {
        struct fc_simgrid_rank *r = &s->rank[s->at];
        if (r->polls == UINT16_MAX && put(s, fc_event_of(FC_OP_POLL), NULL)) return s->st->code;
        r->polls++;
        return note(s, kind, "whether it succeeded is not recorded: taken as failed");
    }
    request = fc_requests_take(&s->rank[s->at].open, key_of(v[0], v[1]), (uint64_t)v[2]);
    if (request < 0 && v[0] == ANY_SOURCE && v[1] == ANY_SOURCE && wait_collective(s, &request)) return s->st->code;
    if (request < 0) return note(s, kind, "no such request is open: left out, as SimGrid's replay does");
    e.n_list = 1;
    return put(s, e, &request);
}

static enum fc_code waitall(struct fc_simgrid *s, const struct kind *kind)
{
    struct fc_event e = fc_event_of(FC_OP_WAIT);
    struct fc_simgrid_rank *r = &s->rank[s->at];
    size_t n = r->open.n_open, n_all = n + r->collective.n_open;
    if (words(s, kind, 0, 1)) return s->st->code;
    int64_t *list = fc_grow(s->list, &s->list_capacity, n_all, sizeof *list, s->st);
    if (!list && n_all) return s->st->code;
    s->list = list;
    fc_requests_take_all(&r->open, list);
    fc_requests_take_all(&r->collective, n_all ? list + n : NULL);
    e.n_list = (uint32_t)n_all;
    return put(s, e, list);
}

/* ---- collectives ---- */

/* Arguments first .. first + n_ranks - 1 as counts of `size` bytes into s->list. */
static enum fc_code vector(struct fc_simgrid *s, size_t first, int64_t size)
{
    int64_t *list = fc_grow(s->list, &s->list_capacity, s->n_ranks, sizeof *list, s->st);
    if (!list) return s->st->code;
    s->list = list;
    for (uint32_t i = 0; i < s->n_ranks; i++) {
        if (integer(s, first + i, "a count", 0, INT32_MAX, &list[i])) return s->st->code;
        list[i] *= size;
    }
    return FC_OK;
}

/* SC rc[P] [DT DT] [displacements P], as smpi_replay tells them apart: by their number. */
static enum fc_code allgatherv(struct fc_simgrid *s, const struct kind *kind, struct fc_event *e)
{
    size_t p = s->n_ranks;
    if (words(s, kind, p + 1, 2 * p + 3)) return s->st->code;
    size_t extra = s->n_words - p - 1;
    bool only_places = extra == p && p > 2;
    if (extra > 2 && extra != p && extra != p + 1 && extra != p + 2)
        return fc_fail(s->st, FC_INPUT, here(s),
                       "action %s has %zu arguments behind its counts (expected types, displacements or both)",
                       kind->name, extra);
    return vector(s, 1, 1) ? s->st->code : sized(s, 0, only_places ? SIZE_MAX : p + 1, &e->bytes);
}

/* SBUF sc[P] RBUF rc[P] [DT DT] */
static enum fc_code alltoallv(struct fc_simgrid *s, const struct kind *kind, struct fc_event *e)
{
    size_t p = s->n_ranks;
    int64_t size;
    if (words(s, kind, 2 * p + 2, 2 * p + 4) || type_size(s, 2 * p + 2, &size) || vector(s, p + 2, size) ||
        vector(s, 1, size))
        return s->st->code;
    e->n_list = s->n_ranks;
    for (uint32_t i = 0; i < s->n_ranks; i++) e->bytes += s->list[i];
    return FC_OK;
}

static enum fc_code read_collective(struct fc_simgrid *s, const struct kind *kind, struct fc_event *e)
{
    size_t p = s->n_ranks, r = kind->root;
    int64_t size;
    switch (kind->action) {
    case PLAIN:
        if (kind->op == FC_OP_BARRIER) return words(s, kind, 0, 0);
        return words(s, kind, 1, 3) || sized(s, 0, 2, &e->bytes) ? s->st->code : root(s, 1, e);
    case REDUCE:
        if (words(s, kind, 2, 3 + r) || sized(s, 0, 2 + r, &e->bytes)) return s->st->code;
        return r ? root(s, 2, e) : FC_OK;
    case SHARE: {
        bool scatter = kind->op == FC_OP_SCATTER;
        if (words(s, kind, 2, 4 + r) || sized(s, scatter, 2 + r + scatter, &e->bytes)) return s->st->code;
        return r ? root(s, 2, e) : FC_OK;
    }
    case GATHERV:
        if (words(s, kind, p + 1, p + 4) || vector(s, 1, 1) || sized(s, 0, p + 2, &e->bytes)) return s->st->code;
        return root(s, p + 1, e);
    case SCATTERV:
        if (words(s, kind, p + 1, p + 4) || vector(s, 0, 1) || sized(s, p, p + 3, &e->bytes)) return s->st->code;
        return root(s, p + 1, e);
    case REDUCESCATTER:
        if (words(s, kind, p + 1, p + 2) || type_size(s, p + 1, &size) || vector(s, 0, size)) return s->st->code;
        e->bytes = s->list[s->at];
        return FC_OK;
    case ALLGATHERV: return allgatherv(s, kind, e);
    default: return alltoallv(s, kind, e);
    }
}

static enum fc_code collective(struct fc_simgrid *s, const struct kind *kind, bool nonblocking)
{
    struct fc_event e = fc_event_of(kind->op);
    if (read_collective(s, kind, &e) || put_collective(s, kind, e, nonblocking)) return s->st->code;
    if (kind->action == REDUCE) return compute(s, 1, true);
    return kind->action == REDUCESCATTER ? compute(s, s->n_ranks, true) : FC_OK;
}

/* ---- any action ---- */

static enum fc_code act(struct fc_simgrid *s, const struct kind *kind, bool nonblocking)
{
    switch (kind->action) {
    case INIT:
        if (words(s, kind, 0, 1)) return s->st->code;
        s->rank[s->at].real = s->n_words == 1;
        return put(s, fc_event_of(FC_OP_INIT), NULL);
    case NOTHING:
        if (note(s, kind,
                 "the format has no communicators: what is called on the new one is taken as called on the "
                 "world"))
            return s->st->code;
        return put(s, fc_event_of(FC_OP_OTHER), NULL);
    case FINALIZE: /* of one of several jobs: no other waits for it */
        return put(s, fc_event_of(s->comm ? FC_OP_OTHER : FC_OP_FINALIZE), NULL);
    case OTHER: return put(s, fc_event_of(kind->op), NULL);
    case LOCATION: return note(s, kind, "places in the source are left out");
    case SLEEP: return words(s, kind, 1, 1) ? s->st->code : compute(s, 0, false);
    case COMPUTE: return words(s, kind, 1, 1) ? s->st->code : compute(s, 0, true);
    case MESSAGE: return message(s, kind);
    case SENDRECV: return sendrecv(s, kind);
    case WAIT:
    case TEST: return wait(s, kind);
    case WAITALL: return waitall(s, kind);
    case OPEN:
        if (note(s, kind, "what completed is not recorded: only its place is kept")) return s->st->code;
        return put(s, fc_event_of(FC_OP_OTHER), NULL);
    case LOST:
        return fc_fail(s->st, FC_INPUT, here(s), "action %s: the message that it starts is not in the trace",
                       kind->name);
    default: return collective(s, kind, nonblocking);
    }
}

bool fc_simgrid_is_action(const char *name, size_t length)
{
    bool nonblocking;
    return find_kind(name, length, &nonblocking) != NULL;
}

enum fc_code fc_simgrid_act(struct fc_simgrid *s, const char *name, size_t length)
{
    bool nonblocking;
    const struct kind *kind = find_kind(name, length, &nonblocking);
    if (kind) return act(s, kind, nonblocking);
    return fc_fail(s->st, FC_INPUT, here(s), "action %.*s is unknown", fc_shown(length), name);
}

enum fc_code fc_simgrid_end(struct fc_simgrid *s, uint32_t rank)
{
    const struct fc_simgrid_rank *r = &s->rank[rank];
    s->at = rank;
    if (!r->polls && !(r->compute_s > 0)) return FC_OK;
    return put(s, fc_event_of(r->polls ? FC_OP_POLL : FC_OP_OTHER), NULL);
}
