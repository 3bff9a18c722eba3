/* trace_unpack.c - reads the packed form of a trace (layout: trace_pack.h).
 *
 * Sizes are believed only as far as bytes back them: an event and a list's entry cost a byte of the payload
 * each, and the payload's own size must agree with zstd's and fit memory. Limits: a rank's columns are one
 * piece, so from a file cut in the middle the last good record is the last one of the last whole rank. */
#include "traces/trace_pack.h"

#include <inttypes.h>
#include <string.h>
#include <zstd.h>

/* A column being read; `bad` sticks once it ends early or a number is too long. */
struct column_in {
    const unsigned char *at, *end;
    bool bad;
};

static inline uint64_t get(struct column_in *in)
{
    if (in->at < in->end && *in->at < 0x80) return *in->at++;
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        unsigned char byte = *in->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    in->bad = true;
    return 0;
}

static inline int64_t get_signed(struct column_in *in)
{
    uint64_t value = get(in);
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* Differences of hostile numbers must not overflow: sums wrap and the range check behind refuses them. */
static inline int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

struct unpacker {
    struct column_in in; /* rest of the payload */
    size_t size;         /* of the payload as announced and allocated; `in` may end before it */
    struct fc_trace *trace;
    struct fc_status *st;
    const char *why; /* why the payload is shorter than announced; NULL: it is whole */
    uint64_t n_lists, next_list;
};

bool fc_is_packed(const struct fc_text *text)
{
    return text->size >= 8 && memcmp(text->data, FC_PACKED_MAGIC, 8) == 0;
}

/* Decompresses what can be: returns the bytes, *why tells why they are fewer than `size`. */
static size_t decompress(const struct fc_text *text, unsigned char *data, size_t size, const char **why)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    ZSTD_inBuffer in = {text->data, text->size, HEAD_BYTES};
    ZSTD_outBuffer out = {data, size, 0};
    size_t left = 1;
    *why = NULL;
    while (zstd && in.pos < in.size && left != 0) {
        size_t before = in.pos + out.pos;
        left = ZSTD_decompressStream(zstd, &out, &in);
        if (ZSTD_isError(left)) *why = "damaged";
        if (*why || (left && in.pos + out.pos == before)) break;
    }
    if (!*why && (!zstd || left != 0)) *why = zstd ? "cut in the middle" : "unreadable: out of memory";
    if (!*why && (out.pos != size || in.pos != in.size)) *why = "damaged";
    ZSTD_freeDCtx(zstd);
    return out.pos;
}

static enum fc_code damaged(const struct unpacker *u, struct fc_place where, const char *what)
{
    if (u->why)
        return fc_fail(u->st, FC_INPUT, where,
                       "the packed trace is %s: it ends within %s (this is the last good "
                       "record)",
                       u->why, what);
    return fc_fail(u->st, FC_INPUT, where,
                   "the packed trace is damaged: %s end early or hold a number that is none", what);
}

/* The next block of the payload, by its length. */
static bool get_block(struct column_in *from, struct column_in *block)
{
    uint64_t size = get(from);
    if (from->bad || size > (size_t)(from->end - from->at)) {
        from->bad = true;
        return false;
    }
    *block = (struct column_in){from->at, from->at + size, false};
    from->at += size;
    return true;
}

static enum fc_code get_head(struct unpacker *u, long *n_lines)
{
    struct column_in block;
    struct fc_trace *trace = u->trace;
    if (!get_block(&u->in, &block)) return damaged(u, (struct fc_place){trace->file, 1}, "the head");
    struct fc_text text = {trace->file, (const char *)block.at, (size_t)(block.end - block.at)};
    struct fc_lines lines;
    fc_lines_start(&lines, &text);
    if (fc_read_head(&lines, u->size, trace, u->st)) return u->st->code;
    if (lines.next != lines.end)
        return fc_fail(u->st, FC_INPUT, fc_lines_place(&lines), "text behind the end of the head");
    *n_lines = lines.line;
    return FC_OK;
}

/* Events a rank and their lines in the text form. */
static enum fc_code get_counts(struct unpacker *u, long n_lines)
{
    struct fc_trace *trace = u->trace;
    uint64_t total = trace->first_event[trace->n_ranks], sum = 0;
    u->n_lists = get(&u->in);
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        uint64_t n = get(&u->in);
        trace->first_event[r] = sum;
        trace->first_line[r] = n_lines + 2 + (long)r + (long)sum;
        if (n > total - sum) u->in.bad = true;
        if (u->in.bad) return damaged(u, (struct fc_place){trace->file, n_lines}, "the numbers of events");
        sum += n;
    }
    if (sum != total || u->n_lists > u->size)
        return fc_fail(u->st, FC_INPUT, (struct fc_place){trace->file, n_lines},
                       "the packed trace is damaged: the numbers of events do not fit the head");
    return FC_OK;
}

/* A list's entries from its column. `made`: requests made before this call. */
static void get_list(struct unpacker *u, struct column_in *in, struct fc_event *e, int64_t made)
{
    uint64_t n = get(in);
    int64_t *list = u->trace->lists + u->next_list;
    e->list = u->next_list;
    if (n > u->n_lists - u->next_list || n > (size_t)(in->end - in->at)) {
        in->bad = true;
        return;
    }
    e->n_list = (uint32_t)n;
    u->next_list += n;
    for (uint64_t i = 0; i < n; i++)
        list[i] = fc_op_fields[e->op] & FC_HAS_SIZES ? (int64_t)get(in)
                  : i == 0                           ? (int64_t)((uint64_t)made - (uint64_t)get_signed(in))
                                                     : add(add(list[i - 1], 1), get_signed(in));
}

/* A number for an int32_t field; what does not fit makes the column bad. */
static inline int32_t fit(struct column_in *in, int64_t value)
{
    if (value < -1 || value > INT32_MAX) in->bad = true;
    return (int32_t)value;
}

static inline uint16_t get_polls(struct column_in *in)
{
    uint64_t polls = get(in);
    if (polls > UINT16_MAX) in->bad = true;
    return (uint16_t)polls;
}

/* A time in range, else the column is bad: the text form refuses the same. */
static inline int64_t fit_time(struct column_in *in, int64_t ns)
{
    if (ns < 0 || ns > FC_MAX_TIME_NS) in->bad = true;
    return ns;
}

static inline void get_times(struct column_in *column, struct fc_event *e, struct base *base)
{
    int64_t gap = get_signed(&column[COL_ENTER]);
    int64_t enter = fit_time(&column[COL_ENTER], add(base->leave_ns, gap));
    int64_t leave = fit_time(&column[COL_LEAVE], add(enter, (int64_t)get(&column[COL_LEAVE])));
    int64_t other = get_signed(&column[COL_COMPUTE]);
    int64_t compute = fit_time(&column[COL_COMPUTE], (int64_t)((uint64_t)gap - (uint64_t)other));
    e->enter_s = fc_from_ns(enter);
    e->leave_s = fc_from_ns(leave);
    e->compute_s = fc_from_ns(compute);
    base->leave_ns = leave;
}

/* One event from the columns; false for an op that there is not. */
static bool get_event(struct unpacker *u, struct column_in *column, uint32_t rank, struct fc_event *e,
                      struct base *base)
{
    int kind = column[COL_KIND].at < column[COL_KIND].end ? *column[COL_KIND].at++ : 0;
    *e = (struct fc_event){.op = kind & 0x1f, .mode = kind >> KIND_MODE & 3, .peer = -1, .request = -1};
    if (e->op >= FC_N_OPS) return false;
    int fields = fc_op_fields[e->op];
    struct column_in *in = column;
    if (kind & KIND_POLLS) e->polls = get_polls(&in[COL_POLLS]);
    if (fields & FC_HAS_COMM) e->comm = fit(&in[COL_COMM], add((int64_t)get(&in[COL_COMM]), -1));
    if (fields & FC_HAS_PEER) e->peer = fit(&in[COL_PEER], add(get_signed(&in[COL_PEER]), rank));
    if (fields & (FC_HAS_ROOT | FC_HAS_PARENT)) e->peer = fit(&in[COL_PEER], get_signed(&in[COL_PEER]));
    if (fields & FC_HAS_TAG) e->tag = base->tag = fit(&in[COL_TAG], add(get_signed(&in[COL_TAG]), base->tag));
    if (fields & FC_HAS_BYTES) e->bytes = (int64_t)get(&in[COL_BYTES]);
    if (fields & (FC_HAS_REQUESTS | FC_HAS_SIZES)) get_list(u, &in[COL_LIST], e, base->made);
    if (fc_makes_request(e->op, e->mode)) e->request = (int32_t)base->made++;
    get_times(column, e, base);
    return true;
}

static enum fc_code get_rank(struct unpacker *u, uint32_t rank)
{
    static const char *const names[N_COLUMNS] = {
        "calls", "polls", "communicators", "peers",       "tags",
        "bytes", "lists", "enter times",   "leave times", "compute times"};
    struct fc_trace *trace = u->trace;
    struct column_in column[N_COLUMNS];
    struct base base = {0};
    struct fc_place last = {trace->file, trace->first_line[rank] - 1};
    char what[64];
    uint64_t first = trace->first_event[rank], n = trace->first_event[rank + 1] - first;
    snprintf(what, sizeof what, "the events of rank %" PRIu32, rank);
    for (int c = 0; c < N_COLUMNS; c++)
        if (!get_block(&u->in, &column[c])) return damaged(u, last, what);
    if ((uint64_t)(column[COL_KIND].end - column[COL_KIND].at) != n) return damaged(u, last, what);
    for (uint64_t i = 0; i < n; i++) {
        struct fc_place where = {trace->file, trace->first_line[rank] + (long)i};
        if (!get_event(u, column, rank, &trace->events[first + i], &base))
            return fc_fail(u->st, FC_INPUT, where, "op number %d is unknown", trace->events[first + i].op);
        for (int c = 0; c < N_COLUMNS; c++)
            if (column[c].bad) {
                snprintf(what, sizeof what, "the %s of rank %" PRIu32, names[c], rank);
                return damaged(u, where, what);
            }
    }
    for (int c = 0; c < N_COLUMNS; c++)
        if (column[c].at != column[c].end) return damaged(u, last, what);
    return FC_OK;
}

static enum fc_code unpack(struct unpacker *u)
{
    struct fc_trace *trace = u->trace;
    long n_lines = 0;
    if (get_head(u, &n_lines) || get_counts(u, n_lines)) return u->st->code;
    trace->lists = fc_alloc(&trace->arena, u->n_lists, sizeof *trace->lists, u->st);
    if (!trace->lists) return FC_NO;
    trace->n_lists = u->n_lists;
    for (uint32_t r = 0; r < trace->n_ranks; r++)
        if (get_rank(u, r)) return u->st->code;
    if (u->next_list == u->n_lists && u->in.at == u->in.end && !u->why) return FC_OK;
    return fc_fail(u->st, FC_INPUT, (struct fc_place){trace->file, 0}, "the packed trace is %s: its %s",
                   u->why ? u->why : "damaged",
                   u->why ? "checksum or end is wrong" : "lists do not fit its calls");
}

enum fc_code fc_read_trace_packed(const struct fc_text *text, struct fc_trace *trace, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct unpacker u = {.trace = trace, .st = st};
    uint64_t size = 0;
    if (text->size < HEAD_BYTES)
        return fc_fail(st, FC_INPUT, (struct fc_place){text->file, 1},
                       "the packed trace is cut within its first %d bytes", HEAD_BYTES);
    for (int i = 0; i < 8; i++) size |= (uint64_t)(unsigned char)text->data[8 + i] << 8 * i;
    /* zstd's own announcement must agree before any memory is asked for */
    if (ZSTD_getFrameContentSize(text->data + HEAD_BYTES, text->size - HEAD_BYTES) != size)
        return fc_fail(st, FC_INPUT, (struct fc_place){text->file, 1},
                       "the packed trace is damaged: two sizes of its contents disagree");
    unsigned char *payload = fc_alloc(&scratch, size, 1, st);
    if (!payload) return FC_NO;
    u.size = size;
    size_t have = decompress(text, payload, size, &u.why);
    u.in = (struct column_in){payload, payload + have, false};
    enum fc_code code = unpack(&u);
    fc_arena_free(&scratch);
    return code;
}
