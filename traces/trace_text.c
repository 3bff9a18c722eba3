/* trace_text.c - reads the readable form of a trace: one line an event (grammar: docs/trace-format.md).
 *
 * An event is `op enter leave compute key=value ...`, times in seconds with nine decimals. Everything that
 * one line can tell wrong is refused here with its line; what needs the other lines is checked in
 * trace_check.c. Lists of requests may be written as ranges, so a list is believed only as far as the rank
 * has made requests: a short hostile line cannot ask for much memory. Entries of other lists cost their bytes. */
#include "traces/trace_format.h"
#include "traces/trace_formats.h"

#include "core/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct fc_lines lines;
    struct fc_trace *trace; /* its head is read */
    struct fc_status *st;
    uint64_t list_capacity;
    uint64_t made, completed;   /* requests of this rank so far */
    uint64_t number;            /* of the rank's event at hand */
    struct fc_stream *stream;   /* where lines come from and */
    struct fc_trace_sink *sink; /* events go to; NULL: all lies in memory */
};

static bool next_line(struct reader *in)
{
    if (!in->stream) return fc_lines_next(&in->lines);
    if (fc_stream_line(in->stream, &in->lines.text, &in->lines.length, in->st) || !in->lines.text) return false;
    in->lines.line++;
    return true;
}

/* A key, the op's field that allows it, and the field whose place it fills. */
enum key {
    KEY_COMM,
    KEY_PEER,
    KEY_ROOT,
    KEY_PARENT,
    KEY_TAG,
    KEY_BYTES,
    KEY_REQUESTS,
    KEY_SIZES,
    KEY_REQUEST,
    KEY_MODE,
    KEY_POLLS,
    KEY_AFTER,
    KEY_STARTED,
    KEY_CPU,
    KEY_NIC,
    N_KEYS
};
static const struct {
    const char *name;
    int fields;
} keys[N_KEYS] = {{"comm", FC_HAS_COMM},
                  {"peer", FC_HAS_PEER},
                  {"root", FC_HAS_ROOT},
                  {"parent", FC_HAS_PARENT},
                  {"tag", FC_HAS_TAG},
                  {"bytes", FC_HAS_BYTES},
                  {"requests", FC_HAS_REQUESTS},
                  {"sizes", FC_HAS_SIZES},
                  {"request", FC_MAKES_REQUEST | FC_MAY_BE_NONBLOCKING},
                  {"mode", FC_SENDS | FC_MOVES | FC_MAY_BE_NONBLOCKING},
                  {"polls", FC_HAS_POLLS},
                  {"after", FC_IN_GRAPH},
                  {"started", FC_IN_GRAPH},
                  {"cpu", FC_IN_GRAPH},
                  {"nic", FC_IN_GRAPH}};

#define SHOWN(length) ((int)((length) < 40 ? (length) : 40))

static enum fc_code push_list(struct reader *in, int64_t value)
{
    struct fc_trace *trace = in->trace;
    if (trace->n_lists == in->list_capacity) {
        uint64_t capacity = in->list_capacity ? 2 * in->list_capacity : 1024;
        int64_t *larger = fc_alloc(&trace->arena, capacity, sizeof *larger, in->st);
        if (!larger) return FC_NO;
        if (trace->n_lists) memcpy(larger, trace->lists, trace->n_lists * sizeof *larger);
        trace->lists = larger;
        in->list_capacity = capacity;
    }
    trace->lists[trace->n_lists++] = value;
    return FC_OK;
}

/* Seconds with up to nine decimals exactly; other spellings to the nearest nanosecond. */
static enum fc_code read_time(struct reader *in, const char *word, size_t length, const char *what, double *seconds)
{
    int64_t ns = 0;
    int decimals = -1;
    size_t i = 0;
    for (; i < length && length < 18; i++) {
        if (word[i] == '.' && decimals < 0)
            decimals = 0;
        else if (word[i] >= '0' && word[i] <= '9' && decimals < 9) {
            ns = 10 * ns + (word[i] - '0');
            if (decimals >= 0) decimals++;
        } else
            break;
    }
    bool plain = length > 0 && length < 18 && i == length && word[0] != '.';
    if (plain && decimals == 9) {
        *seconds = fc_from_ns(ns);
    } else {
        double value;
        if (fc_word_real(word, length, what, &value, fc_lines_place(&in->lines), in->st)) return FC_INPUT;
        ns = value >= 0 && value <= (double)FC_MAX_TIME_NS / 1e9 ? fc_to_ns(value) : -1;
        *seconds = fc_from_ns(ns);
    }
    if (ns >= 0 && ns <= FC_MAX_TIME_NS) return FC_OK;
    return fc_fail(in->st, FC_INPUT, fc_lines_place(&in->lines),
                   "%s: '%.*s' is out of range (allowed: 0 to 9000000 seconds)", what, SHOWN(length), word);
}

/* "3" or "3-7" of a list of requests, all made before and not more than are open. */
static enum fc_code read_requests(struct reader *in, struct fc_event *e, const char *word, size_t length)
{
    struct fc_place where = fc_lines_place(&in->lines);
    const char *dash = memchr(word, '-', length);
    size_t head = dash ? (size_t)(dash - word) : length;
    long long first, last;
    if (fc_word_int(word, head, 0, INT32_MAX, "requests", &first, where, in->st)) return FC_INPUT;
    last = first;
    if (dash && fc_word_int(dash + 1, length - head - 1, first, INT32_MAX, "requests", &last, where, in->st))
        return FC_INPUT;
    if ((uint64_t)last >= in->made)
        return fc_fail(in->st, FC_INPUT, where,
                       "request %lld is completed but was never made (this rank has made %" PRIu64 " so far)", last,
                       in->made);
    in->completed += (uint64_t)(last - first) + 1;
    if (in->completed > in->made)
        return fc_fail(in->st, FC_INPUT, where,
                       "a request is completed twice (this rank has made %" PRIu64 " and completes %" PRIu64 ")",
                       in->made, in->completed);
    for (long long r = first; r <= last; r++, e->n_list++)
        if (push_list(in, r)) return FC_NO;
    return FC_OK;
}

static enum fc_code read_size(struct reader *in, struct fc_event *e, const char *word, size_t length)
{
    long long size;
    if (fc_word_int(word, length, 0, INT64_MAX, "sizes", &size, fc_lines_place(&in->lines), in->st)) return FC_INPUT;
    e->n_list++;
    return push_list(in, size);
}

/* An event that must have finished (after=), or started, before this one. */
static enum fc_code read_before(struct reader *in, struct fc_event *e, bool started, const char *word, size_t length)
{
    long long before;
    struct fc_place where = fc_lines_place(&in->lines);
    if (fc_word_int(word, length, 0, INT64_MAX, started ? "started" : "after", &before, where, in->st)) return FC_INPUT;
    if ((uint64_t)before >= in->number)
        return fc_fail(in->st, FC_INPUT, where,
                       "event %" PRIu64 " of the rank depends on event %lld, which does not come before it", in->number,
                       before);
    e->n_list++;
    return push_list(in, started ? ~before : before);
}

static enum fc_code read_list(struct reader *in, struct fc_event *e, int key, const char *word, size_t length)
{
    const char *end = word + length;
    for (;;) {
        const char *comma = memchr(word, ',', (size_t)(end - word));
        size_t n = (size_t)((comma ? comma : end) - word);
        enum fc_code code = key == KEY_REQUESTS ? read_requests(in, e, word, n)
                            : key == KEY_SIZES  ? read_size(in, e, word, n)
                                                : read_before(in, e, key == KEY_STARTED, word, n);
        if (code || !comma) return code;
        word = comma + 1;
    }
}

static enum fc_code read_mode(struct reader *in, struct fc_event *e, const char *word, size_t length)
{
    for (int mode = 0; mode < 4; mode++) {
        const char *name = fc_mode_name(e->op, mode);
        if (name && *name && strlen(name) == length && memcmp(name, word, length) == 0) {
            e->mode = (uint8_t)mode;
            return FC_OK;
        }
    }
    return fc_fail(in->st, FC_INPUT, fc_lines_place(&in->lines), "mode '%.*s' is unknown for %s", SHOWN(length), word,
                   fc_op_names[e->op]);
}

static enum fc_code read_value(struct reader *in, struct fc_event *e, int key, const char *word, size_t length)
{
    long long value = 0, low = 0, high = INT32_MAX;
    bool receives = e->op == FC_OP_RECV || e->op == FC_OP_IRECV;
    if (key == KEY_REQUESTS || key == KEY_SIZES || key == KEY_AFTER || key == KEY_STARTED)
        return read_list(in, e, key, word, length);
    if (key == KEY_MODE) return read_mode(in, e, word, length);
    if (key == KEY_COMM) {
        low = e->op == FC_OP_COMM ? -1 : 0; /* a split may give a rank no communicator */
        high = (long long)in->trace->n_comms - 1;
    }
    if (key == KEY_PARENT) high = (long long)in->trace->n_comms - 1;
    if (key == KEY_PEER || key == KEY_ROOT) high = (long long)in->trace->n_ranks - 1;
    if (key == KEY_BYTES) high = INT64_MAX;
    if (key == KEY_POLLS || key == KEY_NIC) high = UINT16_MAX;
    if (receives && (key == KEY_PEER || key == KEY_TAG) && length == 3 && memcmp(word, "any", 3) == 0)
        value = FC_ANY;
    else if (fc_word_int(word, length, low, high, keys[key].name, &value, fc_lines_place(&in->lines), in->st))
        return FC_INPUT;
    switch (key) {
    case KEY_COMM: e->comm = (int32_t)value; break;
    case KEY_TAG: e->tag = (int32_t)value; break;
    case KEY_BYTES: e->bytes = value; break;
    case KEY_REQUEST:
    case KEY_CPU: e->request = (int32_t)value; break;
    case KEY_POLLS:
    case KEY_NIC: e->polls = (uint16_t)value; break;
    default: e->peer = (int32_t)value;
    }
    return FC_OK;
}

/* All `key=value` words of a line; no key twice, none that the op does not have, none missing. */
static enum fc_code read_values(struct reader *in, struct fc_event *e, const char *at, const char *end)
{
    struct fc_place where = fc_lines_place(&in->lines);
    const char *word;
    size_t length;
    int seen = 0, fields = fc_event_fields(in->trace->graph, e->op);
    while (fc_next_word(&at, end, &word, &length)) {
        const char *equals = memchr(word, '=', length);
        size_t n = equals ? (size_t)(equals - word) : length;
        int key = 0;
        while (key < N_KEYS && (strlen(keys[key].name) != n || memcmp(keys[key].name, word, n) != 0)) key++;
        if (key == N_KEYS || !equals)
            return fc_fail(in->st, FC_INPUT, where, "'%.*s' is not a known key=value", SHOWN(length), word);
        if (!(fields & keys[key].fields))
            return fc_fail(in->st, FC_INPUT, where, "%s has no %s", fc_op_names[e->op], keys[key].name);
        if (seen >> key & 1) return fc_fail(in->st, FC_INPUT, where, "%s is given twice", keys[key].name);
        seen |= 1 << key;
        if (read_value(in, e, key, equals + 1, length - n - 1)) return in->st->code;
    }
    bool makes = !in->trace->graph && fc_makes_request(e->op, e->mode);
    for (int key = 0; key < N_KEYS; key++) {
        bool needed = key <= KEY_BYTES || key == KEY_SIZES ? fields & keys[key].fields
                      : key == KEY_REQUEST                 ? makes
                      : key == KEY_MODE                    ? fields & FC_MOVES
                                                           : false;
        if (needed && !(seen >> key & 1))
            return fc_fail(in->st, FC_INPUT, where, "%s lacks %s=", fc_op_names[e->op], keys[key].name);
    }
    if (!makes && (seen >> KEY_REQUEST & 1))
        return fc_fail(in->st, FC_INPUT, where, "a blocking %s makes no request", fc_op_names[e->op]);
    in->made += makes;
    return FC_OK;
}

static enum fc_code read_op(struct reader *in, const char *word, size_t length, struct fc_event *e)
{
    for (int op = 0; op < FC_N_OPS; op++)
        if (strlen(fc_op_names[op]) == length && memcmp(fc_op_names[op], word, length) == 0) {
            e->op = (uint8_t)op;
            return FC_OK;
        }
    char name[41];
    snprintf(name, sizeof name, "%.*s", SHOWN(length), word);
    const char *near = fc_nearest(name, fc_op_names, FC_N_OPS);
    return fc_fail(in->st, FC_INPUT, fc_lines_place(&in->lines), "op '%s' is unknown (%s%s)", name,
                   near ? "meant: " : "expected one of send, recv, isend, irecv, wait, barrier, bcast, ...",
                   near ? near : "");
}

static enum fc_code read_event(struct reader *in, struct fc_event *e)
{
    static const char *const what[3] = {"enter time", "leave time", "compute time"};
    const char *at = in->lines.text, *end = at + in->lines.length, *word;
    size_t length;
    double time[3];
    *e = (struct fc_event){.peer = -1, .request = in->trace->graph ? 0 : -1, .list = in->trace->n_lists};
    if (!fc_next_word(&at, end, &word, &length))
        return fc_fail(in->st, FC_INPUT, fc_lines_place(&in->lines), "an empty line among the events");
    if (read_op(in, word, length, e)) return FC_INPUT;
    for (int i = 0; i < 3; i++) {
        if (!fc_next_word(&at, end, &word, &length))
            return fc_fail(in->st, FC_INPUT, fc_lines_place(&in->lines), "%s lacks its %s", fc_op_names[e->op],
                           what[i]);
        if (read_time(in, word, length, what[i], &time[i])) return FC_INPUT;
    }
    e->enter_s = time[0];
    e->leave_s = time[1];
    e->compute_s = time[2];
    return read_values(in, e, at, end);
}

static enum fc_code cut(const struct reader *in, const char *expected, uint64_t number)
{
    return fc_fail(in->st, FC_INPUT, fc_lines_place(&in->lines),
                   "the trace ends here, cut in the middle (expected %s%" PRIu64 ")", expected, number);
}

/* "rank R N": the line before a rank's events. */
static enum fc_code read_rank_line(struct reader *in, uint32_t rank, uint64_t left, uint64_t *n)
{
    struct fc_place where = fc_lines_place(&in->lines);
    const char *at = in->lines.text, *end = at + in->lines.length, *word;
    size_t length;
    long long value[2];
    if (!fc_next_word(&at, end, &word, &length) || length != 4 || memcmp(word, "rank", 4) != 0)
        return fc_fail(in->st, FC_INPUT, where, "expected 'rank %" PRIu32 " N', the events of that rank, not '%.*s'",
                       rank, SHOWN(in->lines.length), in->lines.text);
    for (int i = 0; i < 2; i++) {
        fc_next_word(&at, end, &word, &length);
        if (fc_word_int(word, length, 0, INT64_MAX, i ? "events of the rank" : "rank", &value[i], where, in->st))
            return FC_INPUT;
    }
    if (value[0] != (long long)rank)
        return fc_fail(in->st, FC_INPUT, where, "rank %lld out of order (expected %" PRIu32 ")", value[0], rank);
    if ((uint64_t)value[1] > left)
        return fc_fail(in->st, FC_INPUT, where,
                       "rank %" PRIu32 " announces %lld events, but of the head's %" PRIu64 " only %" PRIu64
                       " are left",
                       rank, value[1], in->trace->first_event[in->trace->n_ranks], left);
    *n = (uint64_t)value[1];
    return FC_OK;
}

/* The n events of a rank; in memory from trace->events[first] on. */
static enum fc_code read_rank(struct reader *in, uint32_t rank, uint64_t first, uint64_t n)
{
    struct fc_event event;
    in->made = in->completed = 0;
    for (in->number = 0; in->number < n; in->number++) {
        if (!next_line(in)) return cut(in, "more events of the rank: ", n - in->number);
        if (in->sink) in->trace->n_lists = 0;
        struct fc_event *e = in->sink ? &event : &in->trace->events[first + in->number];
        if (read_event(in, e)) return in->st->code;
        if (in->sink && fc_sink_event(in->sink, rank, e, in->trace->lists)) return in->st->code;
    }
    return FC_OK;
}

/* What follows the head. */
static enum fc_code read_body(struct reader *in, uint64_t *first_event, long *first_line)
{
    const struct fc_trace *trace = in->trace;
    uint64_t total = trace->first_event[trace->n_ranks], next = 0, n = 0;
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        first_event[r] = next;
        if (!next_line(in)) return cut(in, "rank ", r);
        if (read_rank_line(in, r, total - next, &n)) return in->st->code;
        first_line[r] = in->lines.line + 1;
        if (read_rank(in, r, next, n)) return in->st->code;
        next += n;
    }
    if (!next_line(in)) return cut(in, "a last line 'end' after events: ", total);
    if (in->lines.length != 3 || memcmp(in->lines.text, "end", 3) != 0)
        return fc_fail(in->st, FC_INPUT, fc_lines_place(&in->lines), "expected 'end' after the last rank's events");
    if (next != total)
        return fc_fail(in->st, FC_INPUT, fc_lines_place(&in->lines),
                       "the ranks have %" PRIu64 " events, but the head announces %" PRIu64, next, total);
    if (next_line(in)) return fc_fail(in->st, FC_INPUT, fc_lines_place(&in->lines), "text after the trace's end");
    return in->st->code;
}

enum fc_code fc_read_trace_text(const struct fc_text *text, struct fc_trace *trace, struct fc_status *st)
{
    struct reader in = {.trace = trace, .st = st};
    fc_lines_start(&in.lines, text);
    if (fc_read_head(&in.lines, fc_text_room(text->size), trace, st)) return st->code;
    trace->events = fc_alloc(&trace->arena, trace->first_event[trace->n_ranks], sizeof *trace->events, st);
    return trace->events ? read_body(&in, trace->first_event, trace->first_line) : FC_NO;
}

/* ---- from a stream into a sink ---- */

/* The lines up to `events N`; of a file that does not begin as a trace only the first. */
static char *collect_head(struct fc_stream *s, size_t *size, struct fc_status *st)
{
    struct fc_memory_stream memory;
    const char *line, *at, *word;
    size_t length, n;
    if (fc_memory_open(&memory, st)) return NULL;
    while (!fc_stream_line(s, &line, &length, st) && line) {
        fwrite(line, 1, length, memory.stream);
        fputc('\n', memory.stream);
        at = line;
        bool any = fc_next_word(&at, line + length, &word, &n);
        if (s->line == 1 && !(any && n == 15 && memcmp(word, "fabricast-trace", n) == 0)) break;
        if (any && n == 6 && memcmp(word, "events", n) == 0) break;
    }
    fc_memory_close(&memory, st);
    *size = memory.size;
    return memory.text;
}

static enum fc_code stream_text(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    struct fc_trace head = {.file = sink->trace->file};
    struct reader in = {.trace = &head, .st = sink->st, .stream = &s, .sink = sink};
    struct fc_text text = {.file = head.file};
    char *collected = NULL;
    (void)options;
    if (!fc_stream_open(path, &s, sink->st)) collected = collect_head(&s, &text.size, sink->st);
    text.data = collected;
    if (!sink->st->code) {
        fc_lines_start(&in.lines, &text);
        sink->bytes = fc_stream_bytes(&s);
        if (!fc_read_head(&in.lines, fc_text_room(sink->bytes), &head, sink->st) && !fc_sink_head(sink, &head))
            read_body(&in, head.first_event, sink->trace->first_line);
    }
    free(collected);
    fc_arena_free(&head.arena);
    return sink->st->code;
}

const struct fc_trace_format fc_own_text_format = {.name = "text", .what = "our trace, readable", .read = stream_text};
