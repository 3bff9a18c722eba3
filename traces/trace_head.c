/* trace_head.c - the head of a trace (program, ranks, communicators) and the doors to both forms.
 *
 * The head is the same text in both forms, so places in errors agree. Grammar: docs/trace-format.md. Limits: what the head announces is believed only as far as
 * the file could hold it and memory can take it. */
#include "traces/trace_blocks.h"
#include "traces/trace_formats.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

const char *const fc_op_names[FC_N_OPS] = {
    "init",      "finalize",       "send",   "recv",    "isend",     "irecv",    "wait",      "poll",
    "barrier",   "bcast",          "gather", "scatter", "allgather", "alltoall", "alltoallv", "reduce",
    "allreduce", "reduce_scatter", "scan",   "comm",    "rma",       "other"};

#define P2P (FC_HAS_COMM | FC_HAS_PEER | FC_HAS_TAG | FC_HAS_BYTES)
#define COLLECTIVE (FC_HAS_COMM | FC_MAY_BE_NONBLOCKING)
const uint16_t fc_op_fields[FC_N_OPS] = {
    [FC_OP_SEND] = P2P | FC_SENDS,
    [FC_OP_RECV] = P2P,
    [FC_OP_ISEND] = P2P | FC_SENDS | FC_MAKES_REQUEST,
    [FC_OP_IRECV] = P2P | FC_MAKES_REQUEST,
    [FC_OP_WAIT] = FC_HAS_REQUESTS,
    [FC_OP_BARRIER] = COLLECTIVE,
    [FC_OP_BCAST] = COLLECTIVE | FC_HAS_ROOT | FC_HAS_BYTES,
    [FC_OP_GATHER] = COLLECTIVE | FC_HAS_ROOT | FC_HAS_BYTES,
    [FC_OP_SCATTER] = COLLECTIVE | FC_HAS_ROOT | FC_HAS_BYTES,
    [FC_OP_ALLGATHER] = COLLECTIVE | FC_HAS_BYTES,
    [FC_OP_ALLTOALL] = COLLECTIVE | FC_HAS_BYTES,
    [FC_OP_ALLTOALLV] = COLLECTIVE | FC_HAS_BYTES | FC_HAS_SIZES,
    [FC_OP_REDUCE] = COLLECTIVE | FC_HAS_ROOT | FC_HAS_BYTES,
    [FC_OP_ALLREDUCE] = COLLECTIVE | FC_HAS_BYTES,
    [FC_OP_REDUCE_SCATTER] = COLLECTIVE | FC_HAS_BYTES,
    [FC_OP_SCAN] = COLLECTIVE | FC_HAS_BYTES,
    [FC_OP_COMM] = COLLECTIVE | FC_HAS_PARENT,
    [FC_OP_RMA] = FC_HAS_PEER | FC_HAS_BYTES | FC_MOVES,
};

const char *fc_mode_name(int op, int mode)
{
    static const char *const send[] = {"standard", "synchronous", "buffered", "ready"};
    static const char *const move[] = {"put", "get", "update"};
    if (fc_op_fields[op] & FC_SENDS) return mode < 4 ? send[mode] : NULL;
    if (fc_op_fields[op] & FC_MOVES) return mode < 3 ? move[mode] : NULL;
    if ((fc_op_fields[op] & FC_MAY_BE_NONBLOCKING) && mode == 1) return "nonblocking";
    return mode == 0 ? "" : NULL;
}

/* ---- writing ---- */

/* One line of free text: control characters would end or hide it. */
static void write_line(FILE *out, const char *key, const char *text)
{
    fprintf(out, "%s ", key);
    for (const char *c = text ? text : ""; *c; c++) fputc(iscntrl((unsigned char)*c) ? ' ' : *c, out);
    fputc('\n', out);
}

static void write_members(FILE *out, const uint32_t *member, uint64_t n)
{
    for (uint64_t i = 0; i < n;) {
        uint64_t last = i;
        while (last + 1 < n && member[last + 1] == member[last] + 1) last++;
        fprintf(out, i ? ",%" PRIu32 : "%" PRIu32, member[i]);
        if (last > i) fprintf(out, "-%" PRIu32, member[last]);
        i = last + 1;
    }
}

void fc_write_head(FILE *out, const struct fc_trace *trace)
{
    fprintf(out, "fabricast-trace 1\n");
    write_line(out, "program", trace->program);
    write_line(out, "recorded", trace->recorded);
    for (uint32_t i = 0; i < trace->n_unwrapped; i++) write_line(out, "unwrapped", trace->unwrapped[i]);
    if (trace->graph) fprintf(out, "graph\n");
    fprintf(out, "ranks %" PRIu32 "\n", trace->n_ranks);
    for (uint32_t c = 0; c < trace->n_comms; c++) {
        fprintf(out, "comm %" PRIu32 " ", c);
        write_members(out, trace->comm_member + trace->comm_first[c], trace->comm_first[c + 1] - trace->comm_first[c]);
        fputc('\n', out);
    }
    fprintf(out, "events %" PRIu64 "\n", trace->first_event[trace->n_ranks]);
}

/* ---- reading ---- */

struct word {
    const char *text;
    size_t length;
};

static bool is(struct word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

/* The line's first word; what follows goes to `rest`, without blanks around it. */
static struct word first_word(const struct fc_lines *lines, struct word *rest)
{
    struct word word;
    const char *at = lines->text, *end = lines->text + lines->length;
    fc_next_word(&at, end, &word.text, &word.length);
    while (at < end && isspace((unsigned char)*at)) at++;
    while (end > at && isspace((unsigned char)end[-1])) end--;
    *rest = (struct word){at, (size_t)(end - at)};
    return word;
}

static char *copy_word(struct fc_arena *arena, struct word word, struct fc_status *st)
{
    char *copy = fc_alloc(arena, word.length + 1, 1, st);
    if (copy) memcpy(copy, word.text, word.length);
    return copy;
}

static enum fc_code read_version(struct fc_lines *lines, struct fc_status *st)
{
    struct word rest;
    if (!fc_lines_next(lines) || !is(first_word(lines, &rest), "fabricast-trace")) {
        char known[256];
        return fc_fail(st, FC_INPUT, (struct fc_place){lines->file, 1},
                       "not a trace that is known (expected 'fabricast-trace 1', or one of %s)",
                       fc_trace_format_names(known, sizeof known));
    }
    if (is(rest, "1")) return FC_OK;
    return fc_fail(st, FC_INPUT, fc_lines_place(lines), "version '%.*s' of the trace format is unknown (expected 1)",
                   rest.length < 40 ? (int)rest.length : 40, rest.text);
}

/* What the first pass over the head finds out. */
struct head {
    uint32_t n_comms, n_unwrapped;
};

/* Counts the head's lines, so that arrays get their size; a head without end is refused here. */
static enum fc_code count_head(struct fc_lines lines, struct head *head, struct fc_status *st)
{
    struct word rest;
    long last = lines.line;
    while (fc_lines_next(&lines)) {
        struct word word = first_word(&lines, &rest);
        head->n_comms += is(word, "comm");
        head->n_unwrapped += is(word, "unwrapped");
        last = lines.line;
        if (is(word, "events")) return FC_OK;
    }
    return fc_fail(st, FC_INPUT, (struct fc_place){lines.file, last},
                   "the trace ends inside its head (expected a line 'events N' before the ranks)");
}

static enum fc_code read_ranks(const struct fc_lines *lines, struct word rest, struct fc_head_room room,
                               struct fc_trace *trace, struct fc_status *st)
{
    long long n;
    if (trace->n_ranks)
        return fc_fail(st, FC_INPUT, fc_lines_place(lines), "the number of ranks is given a second time");
    if (fc_word_int(rest.text, rest.length, 1, INT32_MAX, "ranks", &n, fc_lines_place(lines), st)) return st->code;
    if (fc_announced((uint64_t)n, room.ranks, "ranks", fc_lines_place(lines), st)) return st->code;
    trace->n_ranks = (uint32_t)n;
    trace->first_event = fc_alloc(&trace->arena, (size_t)n + 1, sizeof *trace->first_event, st);
    trace->first_line = fc_alloc(&trace->arena, (size_t)n, sizeof *trace->first_line, st);
    return trace->first_event && trace->first_line ? FC_OK : FC_NO;
}

/* "comm N MEMBERS": appends to `members`, whose pieces are joined when all are known. */
static enum fc_code read_comm(const struct fc_lines *lines, struct word rest, struct fc_trace *trace, uint64_t room,
                              uint32_t **members, struct fc_status *st)
{
    struct word number;
    struct fc_place where = fc_lines_place(lines);
    const char *at = rest.text, *end = rest.text + rest.length;
    uint32_t c = trace->n_comms;
    long long n;
    if (!trace->n_ranks)
        return fc_fail(st, FC_INPUT, where, "a communicator before the number of ranks (expected 'ranks N' first)");
    fc_next_word(&at, end, &number.text, &number.length);
    if (fc_word_int(number.text, number.length, 0, INT32_MAX, "communicator", &n, where, st)) return st->code;
    if (n != c) return fc_fail(st, FC_INPUT, where, "communicator %lld out of order (expected %" PRIu32 ")", n, c);
    while (at < end && isspace((unsigned char)*at)) at++;
    if (at == end) return fc_fail(st, FC_INPUT, where, "communicator %" PRIu32 " has no member", c);

    struct fc_status why = {0};
    size_t n_members;
    char *text = copy_word(&trace->arena, (struct word){at, (size_t)(end - at)}, st);
    if (!text) return FC_NO;
    if (strlen(text) != (size_t)(end - at)) *text = '\0'; /* a NUL would hide what follows it: refused below */
    enum fc_code code = fc_parse_ranges(text, trace->n_ranks, &trace->arena, &members[c], &n_members, &why);
    if (code) return fc_fail(st, code, where, "members of communicator %" PRIu32 ": %s", c, why.message);
    trace->comm_first[c + 1] = trace->comm_first[c] + n_members;
    trace->n_comms++;
    return fc_announced(trace->comm_first[c + 1], room, "members of communicators", where, st);
}

/* Communicator 0 is the world: every rank at its place. */
static enum fc_code check_world(const struct fc_lines *lines, const struct fc_trace *trace, struct fc_status *st)
{
    bool good = trace->comm_first[1] == trace->n_ranks;
    for (uint32_t r = 0; good && r < trace->n_ranks; r++) good = trace->comm_member[r] == r;
    if (good) return FC_OK;
    return fc_fail(st, FC_INPUT, fc_lines_place(lines),
                   "communicator 0 is not the world (expected 'comm 0 0-%" PRIu32 "')", trace->n_ranks - 1);
}

/* "events N" ends the head: everything must be there now. */
static enum fc_code end_head(const struct fc_lines *lines, struct word rest, uint64_t room, uint32_t *const *members,
                             struct fc_trace *trace, struct fc_status *st)
{
    long long n;
    struct fc_place where = fc_lines_place(lines);
    if (!trace->n_ranks) return fc_fail(st, FC_INPUT, where, "the head has no line 'ranks N'");
    if (!trace->n_comms)
        return fc_fail(st, FC_INPUT, where, "the head has no communicator (expected 'comm 0 0-%" PRIu32 "')",
                       trace->n_ranks - 1);
    if (fc_word_int(rest.text, rest.length, 0, INT64_MAX, "events", &n, where, st)) return st->code;
    if (fc_announced((uint64_t)n, room, "events", where, st)) return st->code;
    trace->first_event[trace->n_ranks] = (uint64_t)n;
    trace->comm_member = fc_alloc(&trace->arena, trace->comm_first[trace->n_comms], sizeof(uint32_t), st);
    if (!trace->comm_member) return FC_NO;
    for (uint32_t c = 0; c < trace->n_comms; c++)
        memcpy(trace->comm_member + trace->comm_first[c], members[c],
               (trace->comm_first[c + 1] - trace->comm_first[c]) * sizeof(uint32_t));
    return check_world(lines, trace, st);
}

static enum fc_code read_head_line(const struct fc_lines *lines, struct word key, struct word rest,
                                   struct fc_head_room room, uint32_t **members, struct fc_trace *trace,
                                   struct fc_status *st)
{
    if (is(key, "ranks")) return read_ranks(lines, rest, room, trace, st);
    if (is(key, "comm")) return read_comm(lines, rest, trace, room.members, members, st);
    if (is(key, "events")) return end_head(lines, rest, room.events, members, trace, st);
    if (key.length == 0 || key.text[0] == '#') return FC_OK;
    if (is(key, "graph") && rest.length == 0) {
        trace->graph = true;
        return FC_OK;
    }
    char *text = copy_word(&trace->arena, rest, st);
    if (!text) return FC_NO;
    if (is(key, "program"))
        trace->program = text;
    else if (is(key, "recorded"))
        trace->recorded = text;
    else if (is(key, "unwrapped"))
        trace->unwrapped[trace->n_unwrapped++] = text;
    else
        return fc_fail(
            st, FC_INPUT, fc_lines_place(lines),
            "unknown word '%.*s' in the head (expected program, recorded, unwrapped, graph, ranks, comm or events)",
            key.length < 40 ? (int)key.length : 40, key.text);
    return FC_OK;
}

enum fc_code fc_read_head(struct fc_lines *lines, struct fc_head_room room, struct fc_trace *trace,
                          struct fc_status *st)
{
    struct head head = {0};
    if (read_version(lines, st) || count_head(*lines, &head, st)) return st->code;
    trace->program = trace->recorded = "";
    trace->comm_first = fc_alloc(&trace->arena, (size_t)head.n_comms + 1, sizeof *trace->comm_first, st);
    trace->unwrapped = fc_alloc(&trace->arena, head.n_unwrapped, sizeof *trace->unwrapped, st);
    uint32_t **members = fc_alloc(&trace->arena, head.n_comms, sizeof *members, st);
    if (!trace->comm_first || !trace->unwrapped || !members) return FC_NO;
    for (bool ended = false; !ended;) {
        struct word rest;
        fc_lines_next(lines); /* there is one: count_head saw the end */
        struct word key = first_word(lines, &rest);
        if (read_head_line(lines, key, rest, room, members, trace, st)) return st->code;
        ended = is(key, "events");
    }
    return FC_OK;
}

/* ---- the doors ---- */

FC_FREES(fc_trace_free, fc_trace)

struct fc_place fc_event_place(const struct fc_trace *trace, uint32_t rank, uint64_t event)
{
    if (!trace->first_line) return (struct fc_place){trace->rank_file ? trace->rank_file[rank] : trace->file, 0};
    return (struct fc_place){trace->file, trace->first_line[rank] + (long)(event - trace->first_event[rank])};
}
