/* format_paraver.c - reads Paraver traces (.prv) of one MPI application.
 *
 *   #Paraver (dd/mm/yyyy at hh:mm):TIME[_ns]:NODES(cpus,...):1:TASKS(threads:node,...)[,COMMUNICATORS]
 *   c:application:communicator:n:task:...
 *   1:cpu:application:task:thread:begin:end:state
 *   2:cpu:application:task:thread:time:type:value[:type:value...]
 *   3:(cpu:application:task:thread:logical:physical) of the sender, then of the receiver:bytes:tag
 *
 * Numbers count from 1; times are nanoseconds with `_ns`, else microseconds. States and events stand in order
 * of time over all ranks, a communication at its send; what makes calls of them is paraver_calls.c. One pass;
 * memory is bounded by what is open. Limits: one application; only the first thread's states count as
 * computation; the communicators of messages are not told: all are the world's; targets of one-sided calls
 * count in the world. Source: Paraver trace file description (BSC) and the event numbers of Extrae 3 and 4. */
#include "traces/formats/paraver.h"

#include "core/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RUNNING = 1, MOST_TASKS = 1 << 26 };
static const char head[] = "#Paraver ";

struct line {
    const char *at, *end;
    struct fc_place where;
    struct fc_status *st;
};

static bool is_paraver(const struct fc_trace_probe *probe)
{
    return !probe->folder && probe->n_head >= sizeof head - 1 && memcmp(probe->head, head, sizeof head - 1) == 0;
}

/* The next number up to a colon or the line's end, within low .. high. */
static enum fc_code field(struct line *l, const char *what, int64_t low, int64_t high, int64_t *value)
{
    const char *word = l->at;
    while (l->at < l->end && *l->at != ':') l->at++;
    size_t length = (size_t)(l->at - word);
    bool negative = length > 1 && *word == '-', good = length > 0 && length < 21;
    uint64_t number = 0;
    for (size_t i = negative; good && i < length; i++) {
        good = word[i] >= '0' && word[i] <= '9' && !__builtin_mul_overflow(number, (uint64_t)10, &number) &&
               !__builtin_add_overflow(number, (uint64_t)(word[i] - '0'), &number);
    }
    if (l->at < l->end) l->at++; /* the colon */
    /* Values of counters and addresses may take 64 bits; nothing reads them. */
    if (good && high == INT64_MAX && number > INT64_MAX) number = INT64_MAX;
    if (good && number <= INT64_MAX) {
        *value = negative ? -(int64_t)number : (int64_t)number;
        if (*value >= low && *value <= high) return FC_OK;
    }
    return fc_fail(l->st, FC_INPUT, l->where, "%s: '%.*s' (expected a number from %" PRId64 " to %" PRId64 ")", what,
                   (int)(length < 40 ? length : 40), word, low, high);
}

static enum fc_code bad_head(struct line *l)
{
    return fc_fail(l->st, FC_INPUT, l->where,
                   "not the head of a Paraver trace (expected "
                   "#Paraver (date at time):TIME_ns:NODES(cpus):1:TASKS(threads:node,...),COMMUNICATORS)");
}

/* A number at the start of what is left, with what may stand behind it in brackets. */
static bool head_number(struct line *l, int64_t *value)
{
    const char *start = l->at;
    *value = 0;
    while (l->at < l->end && *l->at >= '0' && *l->at <= '9' && l->at - start < 18)
        *value = *value * 10 + (*l->at++ - '0');
    if (l->at == start) return false;
    if (l->at < l->end && *l->at == '(') {
        while (l->at < l->end && *l->at != ')') l->at++;
        if (l->at == l->end) return false;
        l->at++;
    }
    return true;
}

static bool head_colon(struct line *l)
{
    return l->at < l->end && *l->at++ == ':';
}

static enum fc_code read_head(struct line *l, struct fc_trace_sink *sink, struct fc_prv *p)
{
    char origin[128];
    int64_t time, nodes, applications, tasks;
    const char *date = l->at + sizeof head - 1, *closed = memchr(l->at, ')', (size_t)(l->end - l->at));
    if (!closed || date >= closed) return bad_head(l);
    snprintf(origin, sizeof origin, "Paraver trace %.*s", (int)(closed + 1 - date < 60 ? closed + 1 - date : 60), date);
    l->at = closed + 1;
    bool good = head_colon(l) && head_number(l, &time), ns = l->end - l->at >= 3 && memcmp(l->at, "_ns", 3) == 0;
    if (ns) l->at += 3;
    if (!good || !head_colon(l) || !head_number(l, &nodes) || !head_colon(l) || !head_number(l, &applications) ||
        !head_colon(l) || !head_number(l, &tasks))
        return bad_head(l);
    if (applications != 1)
        return fc_fail(l->st, FC_INPUT, l->where, "%" PRId64 " applications (expected 1: one MPI_COMM_WORLD)",
                       applications);
    if (tasks < 1 || tasks > MOST_TASKS)
        return fc_fail(l->st, FC_INPUT, l->where, "%" PRId64 " tasks (allowed: 1 to %d)", tasks, MOST_TASKS);
    /* the head has "1:1," of each, or a record names it */
    if (fc_announced((uint64_t)tasks, FC_SILENT + sink->bytes / 4, "tasks", l->where, l->st)) return l->st->code;
    if (fc_sink_start(sink, (uint32_t)tasks, NULL, origin)) return sink->st->code;
    return fc_prv_start(p, sink, (uint32_t)tasks, ns ? 1e9 : 1e6);
}

static enum fc_code read_comm(struct line *l, struct fc_prv *p)
{
    int64_t application, id, n, task;
    if (p->comms_sorted) return fc_fail(l->st, FC_INPUT, l->where, "a communicator is defined behind its first use");
    if (field(l, "application", 1, 1, &application) || field(l, "communicator", INT32_MIN, INT32_MAX, &id) ||
        field(l, "members", 1, p->n_ranks, &n))
        return l->st->code;
    uint32_t *member = malloc((size_t)n * sizeof *member);
    uint8_t *listed = calloc(p->n_ranks, 1);
    bool again = false;
    enum fc_code code = member && listed ? FC_OK : fc_out_of_memory(l->st, "reading the trace");
    for (int64_t i = 0; !code && i < n; i++) {
        code = field(l, "task of a communicator", 1, p->n_ranks, &task);
        if (!code && listed[task - 1]++)
            code = fc_fail(l->st, FC_INPUT, l->where, "task %" PRId64 " is listed twice", task);
        if (!code) member[i] = (uint32_t)task - 1;
    }
    if (!code && l->at < l->end)
        code = fc_fail(l->st, FC_INPUT, l->where, "more than the %" PRId64 " tasks of communicator %" PRId64, n, id);
    if (!code) code = fc_prv_comm(p, id, member, (uint32_t)n, &again);
    if (!code && again) code = fc_fail(l->st, FC_INPUT, l->where, "communicator %" PRId64 " is defined twice", id);
    free(member);
    free(listed);
    return code;
}

/* cpu:application:task:thread */
static enum fc_code object(struct line *l, const struct fc_prv *p, uint32_t *rank, uint32_t *thread)
{
    int64_t cpu, application, task, number;
    if (field(l, "cpu", 0, INT32_MAX, &cpu) || field(l, "application", 1, 1, &application) ||
        field(l, "task", 1, p->n_ranks, &task) || field(l, "thread", 1, INT32_MAX, &number))
        return l->st->code;
    *rank = (uint32_t)task - 1;
    *thread = (uint32_t)number;
    return FC_OK;
}

/* States and events come in order of time. */
static enum fc_code step(struct line *l, struct fc_prv *p, int64_t time)
{
    if (time < p->now)
        return fc_fail(l->st, FC_INPUT, l->where, "time %" PRId64 " behind time %" PRId64 ": the trace is not sorted",
                       time, p->now);
    p->now = time;
    return FC_OK;
}

static enum fc_code read_state(struct line *l, struct fc_prv *p)
{
    uint32_t rank, thread;
    int64_t begin, end, state;
    if (object(l, p, &rank, &thread) || field(l, "begin", 0, INT64_MAX, &begin) || step(l, p, begin) ||
        field(l, "end", begin, INT64_MAX, &end) || field(l, "state", 0, INT32_MAX, &state))
        return l->st->code;
    if (thread == 1) fc_prv_state(p, rank, begin, end, state == RUNNING);
    return FC_OK;
}

static enum fc_code read_event(struct line *l, struct fc_prv *p)
{
    uint32_t rank, thread;
    int64_t time, type, value;
    if (object(l, p, &rank, &thread) || field(l, "time", 0, INT64_MAX, &time) || step(l, p, time)) return l->st->code;
    do {
        if (field(l, "event type", INT64_MIN, INT64_MAX, &type) ||
            field(l, "event value", INT64_MIN, INT64_MAX, &value))
            return l->st->code;
        bool is_size = type == FC_PRV_SENT || type == FC_PRV_RECEIVED || type == FC_PRV_RMA_BYTES;
        if (is_size && value < 0) return fc_fail(l->st, FC_INPUT, l->where, "%" PRId64 " bytes", value);
        if (fc_prv_event(p, rank, thread, time, type, value)) return p->sink->st->code;
    } while (l->at < l->end);
    return FC_OK;
}

static enum fc_code read_communication(struct line *l, struct fc_prv *p)
{
    uint32_t src, dst, thread;
    int64_t physical, tag;
    struct fc_prv_message m;
    if (object(l, p, &src, &thread) || field(l, "logical send", 0, INT64_MAX, &m.sent) ||
        field(l, "physical send", 0, INT64_MAX, &physical) || object(l, p, &dst, &thread) ||
        field(l, "logical receive", 0, INT64_MAX, &m.posted) ||
        field(l, "physical receive", 0, INT64_MAX, &m.received) || field(l, "bytes", 0, INT64_MAX, &m.bytes) ||
        field(l, "tag", 0, INT32_MAX, &tag))
        return l->st->code;
    m.tag = (int32_t)tag;
    return fc_prv_message(p, src, dst, &m);
}

static enum fc_code read_line(struct line *l, struct fc_prv *p)
{
    char kind = *l->at;
    if (kind == '#' || l->at == l->end) return FC_OK;
    bool known = l->end - l->at > 2 && l->at[1] == ':' && strchr("123c", kind);
    if (!known)
        return fc_fail(l->st, FC_INPUT, l->where, "record '%.*s' (expected c:, 1:, 2: or 3:)",
                       (int)(l->end - l->at < 20 ? l->end - l->at : 20), l->at);
    l->at += 2;
    switch (kind) {
    case 'c': return read_comm(l, p);
    case '1': return read_state(l, p);
    case '2': return read_event(l, p);
    default: return read_communication(l, p);
    }
}

static enum fc_code read_paraver(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    (void)options;
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    struct fc_prv p = {0};
    struct line l = {.st = sink->st};
    size_t length;
    enum fc_code code = fc_stream_open(path, &s, sink->st);
    if (!code) sink->bytes = fc_stream_bytes(&s);
    while (!code) {
        code = fc_stream_line(&s, &l.at, &length, sink->st);
        if (code || !l.at) break;
        l.end = l.at + length;
        l.where = fc_stream_place(&s);
        if (s.line == 1)
            code = length >= sizeof head - 1 ? read_head(&l, sink, &p) : bad_head(&l);
        else if (length > 0)
            code = read_line(&l, &p);
    }
    if (!code && !p.sink) code = fc_fail(sink->st, FC_INPUT, (struct fc_place){path, 0}, "is empty");
    if (!code) code = fc_prv_finish(&p);
    fc_prv_free(&p);
    return code;
}

const struct fc_trace_format fc_format_paraver = {
    .name = "paraver",
    .what = "Paraver trace (.prv) of Extrae",
    .is = is_paraver,
    .read = read_paraver,
};
