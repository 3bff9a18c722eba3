/* format_goal.c - GOAL schedules (Hoefler, Siebert, Lumsdaine, "Group Operation Assembly Language", ICPP
 * 2009) in the text that LogGOPSim's txt2bin takes (Hoefler, Schneider, Lumsdaine, "LogGOPSim", LSAP 2010).
 *
 *   num_ranks P, then for each rank: rank R { statements }, one a line:
 *   [LABEL:] calc TICKS [cpu C]
 *   [LABEL:] send BYTESb to RANK [tag T] [cpu C] [nic N]
 *   [LABEL:] recv BYTESb from RANK|-1 [tag T|-1] [cpu C] [nic N]
 *   LABEL requires|irequires LABEL
 *
 * Labels belong to their rank and stand above the dependencies that name them; what is not written is 0. A
 * dependency may point forward (`l1 requires l2` with l2 below l1): events are then put in an order in which
 * each comes behind what it depends on, and otherwise in the order written (depth first, so linear); a cycle
 * is refused.
 *
 * Wider than txt2bin: comments may also follow a statement, blocks come in any order, a rank may have none.
 * Narrower: a label given twice, which txt2bin takes as the first, is refused, and so are numbers that it
 * would cut to its field. Limits: one rank's block is held in memory, because its last line may order its
 * first. The Portals statements of LogGOPSim2 (put, get, append, test) are refused. */
#include "core/values.h"
#include "traces/formats/format_text.h"
#include "traces/trace_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 1 << 26, MOST_UNITS = 255 }; /* txt2bin: 8 bits for cpu and nic */
#define NOWHERE UINT32_MAX
#define ON_THE_WAY (UINT32_MAX - 1)

struct vertex {
    struct fc_event event; /* n_list: dependencies */
    uint32_t first, last;  /* dependencies, + 1 */
    long line;
};
struct dependency {
    uint32_t next; /* + 1 */
    uint32_t on;   /* vertex */
    bool on_start; /* irequires */
};
struct label {
    uint64_t at; /* in names */
    uint32_t length, vertex;
};
struct slot {
    uint32_t block, label; /* filled when block is the one at hand */
};

struct goal {
    struct fc_stream stream;
    struct fc_trace_sink *sink;
    struct fc_status *st;
    double tick_s;
    const char *at, *end; /* rest of the line */
    const char *token;
    size_t length;
    bool in_comment;
    uint32_t n_ranks, rank, block; /* block: number of the rank block at hand, from 1; 0: outside */
    uint32_t n_blocks;
    bool inside;
    uint8_t *seen; /* [n_ranks / 8 + 1] bit: the rank's block was read */
    /* the block at hand */
    struct vertex *vertex;
    struct dependency *dependency;
    struct label *label;
    struct slot *slot; /* [slot_mask + 1] */
    char *names;
    uint32_t *position, *order, *stack; /* [n_vertices] */
    int64_t *list;
    size_t n_vertices, n_dependencies, n_labels, n_names;
    size_t vertex_capacity, dependency_capacity, label_capacity, names_capacity, list_capacity;
    size_t position_capacity, order_capacity, stack_capacity, slot_mask;
    bool forward; /* a dependency points forward */
};

/* ---- tokens ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void skip_comment(struct goal *g)
{
    while (g->at < g->end) {
        const char *star = memchr(g->at, '*', (size_t)(g->end - g->at));
        g->at = star ? star + 1 : g->end;
        if (g->at < g->end && *g->at == '/') {
            g->at++;
            g->in_comment = false;
            return;
        }
    }
}

/* Takes the next token of the line: a word, a number (-1 too), one other byte. False at its end. */
static bool next(struct goal *g)
{
    for (;;) {
        if (g->in_comment) skip_comment(g);
        while (g->at < g->end && (*g->at == ' ' || *g->at == '\t' || *g->at == '\r')) g->at++;
        if (g->end - g->at < 2 || g->at[0] != '/') break;
        if (g->at[1] == '/') {
            g->at = g->end;
        } else if (g->at[1] == '*') {
            g->at += 2;
            g->in_comment = true;
        } else {
            break;
        }
    }
    g->token = g->at;
    g->length = 0;
    if (g->at == g->end) return false;
    if (is_letter(*g->at))
        while (g->at < g->end && (is_letter(*g->at) || fc_is_digit(*g->at) || *g->at == '_')) g->at++;
    else if (fc_is_digit(*g->at) || (*g->at == '-' && g->at + 1 < g->end && fc_is_digit(g->at[1])))
        for (g->at++; g->at < g->end && fc_is_digit(*g->at);) g->at++;
    else
        g->at++;
    g->length = (size_t)(g->at - g->token);
    return true;
}

static bool is(const struct goal *g, const char *word)
{
    return strlen(word) == g->length && memcmp(word, g->token, g->length) == 0;
}

static enum fc_code fail_expected(const struct goal *g, const char *expected)
{
    if (!g->length)
        return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream), "the line ends (expected %s)", expected);
    return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream), "'%.*s' (expected %s)", fc_shown(g->length), g->token,
                   expected);
}

static enum fc_code word(struct goal *g, const char *expected)
{
    return next(g) && is(g, expected) ? FC_OK : fail_expected(g, expected);
}

/* A whole number from `low` (0, or -1 where anything may be meant) to `high`. */
static enum fc_code number(struct goal *g, const char *what, long long low, long long high, long long *value)
{
    if (!next(g) || !(fc_is_digit(*g->token) || *g->token == '-')) return fail_expected(g, what);
    return fc_word_int(g->token, g->length, low, high, what, value, fc_stream_place(&g->stream), g->st);
}

/* ---- labels ---- */

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < length; i++) h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

/* The slot of a label: its own, or the empty one where it belongs. */
static struct slot *slot_of(const struct goal *g, const char *text, size_t length)
{
    for (uint64_t i = hash_of(text, length);; i++) {
        struct slot *s = &g->slot[i & g->slot_mask];
        if (s->block != g->block) return s;
        const struct label *l = &g->label[s->label];
        if (l->length == length && memcmp(g->names + l->at, text, length) == 0) return s;
    }
}

static enum fc_code more_slots(struct goal *g)
{
    size_t n = g->slot ? 2 * (g->slot_mask + 1) : 64;
    struct slot *slot = calloc(n, sizeof *slot);
    if (!slot) return fc_out_of_memory(g->st, "reading a trace");
    free(g->slot);
    g->slot = slot;
    g->slot_mask = n - 1;
    for (uint32_t i = 0; i < g->n_labels; i++)
        *slot_of(g, g->names + g->label[i].at, g->label[i].length) = (struct slot){g->block, i};
    return FC_OK;
}

static enum fc_code add_label(struct goal *g, const char *text, size_t length)
{
    if ((!g->slot || g->n_labels >= g->slot_mask / 2) && more_slots(g)) return g->st->code;
    struct slot *s = slot_of(g, text, length);
    if (s->block == g->block)
        return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream),
                       "label '%.*s' of rank %" PRIu32 " is given twice (line %ld)", fc_shown(length), text, g->rank,
                       g->vertex[g->label[s->label].vertex].line);
    struct label *label = fc_grow(g->label, &g->label_capacity, g->n_labels + 1, sizeof *label, g->st);
    if (!label) return g->st->code;
    g->label = label;
    char *names = fc_grow(g->names, &g->names_capacity, g->n_names + length, 1, g->st);
    if (!names) return g->st->code;
    g->names = names;
    memcpy(names + g->n_names, text, length);
    label[g->n_labels] = (struct label){g->n_names, (uint32_t)length, (uint32_t)g->n_vertices};
    *s = (struct slot){g->block, (uint32_t)g->n_labels++};
    g->n_names += length;
    return FC_OK;
}

static enum fc_code find_label(struct goal *g, const char *text, size_t length, uint32_t *vertex)
{
    const struct slot *s = g->slot ? slot_of(g, text, length) : NULL;
    if (!s || s->block != g->block)
        return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream),
                       "label '%.*s' is unknown here (expected one of a statement above of rank %" PRIu32 ")",
                       fc_shown(length), text, g->rank);
    *vertex = g->label[s->label].vertex;
    return FC_OK;
}

/* ---- statements ---- */

static enum fc_code line_ends(struct goal *g, const char *expected)
{
    return g->length ? fail_expected(g, expected) : FC_OK;
}

static enum fc_code read_units(struct goal *g, struct fc_event *e, bool message)
{
    long long value;
    bool more = next(g);
    if (more && message && is(g, "tag")) {
        if (number(g, "a tag", e->op == FC_OP_RECV ? -1 : 0, INT32_MAX, &value)) return g->st->code;
        e->tag = (int32_t)value;
        more = next(g);
    }
    if (more && is(g, "cpu")) {
        if (number(g, "a cpu", 0, MOST_UNITS, &value)) return g->st->code;
        e->request = (int32_t)value;
        more = next(g);
    }
    if (more && message && is(g, "nic")) {
        if (number(g, "a nic", 0, MOST_UNITS, &value)) return g->st->code;
        e->polls = (uint16_t)value;
        next(g);
    }
    return line_ends(g, message ? "tag, cpu, nic in this order, or the end of the line" : "cpu or the end of the line");
}

static enum fc_code read_message(struct goal *g, struct fc_event *e)
{
    long long bytes, peer;
    bool send = e->op == FC_OP_SEND;
    if (number(g, "a number of bytes", 0, INT64_MAX, &bytes) || word(g, "b") || word(g, send ? "to" : "from") ||
        number(g, "a rank", send ? 0 : -1, (long long)g->n_ranks - 1, &peer))
        return g->st->code;
    e->bytes = bytes;
    e->peer = (int32_t)peer; /* -1 is FC_ANY */
    return read_units(g, e, true);
}

static enum fc_code read_calc(struct goal *g, struct fc_event *e)
{
    long long ticks;
    if (number(g, "a number of ticks", 0, INT64_MAX, &ticks)) return g->st->code;
    e->compute_s = (double)ticks * g->tick_s;
    if (!(e->compute_s <= (double)FC_MAX_TIME_NS / 1e9))
        return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream), "calc %lld is %g s (allowed: up to 9000000 s)",
                       ticks, e->compute_s);
    return read_units(g, e, false);
}

/* calc, send or recv, the token at hand. */
static enum fc_code read_operation(struct goal *g)
{
    bool calc = is(g, "calc");
    if (g->n_vertices >= ON_THE_WAY) return fc_refuse(g->st, FC_NO, "more than 4294967294 statements of one rank");
    struct vertex *vertex = fc_grow(g->vertex, &g->vertex_capacity, g->n_vertices + 1, sizeof *vertex, g->st);
    if (!vertex) return g->st->code;
    g->vertex = vertex;
    vertex += g->n_vertices;
    *vertex = (struct vertex){.event = fc_event_of(calc            ? FC_OP_OTHER
                                                   : is(g, "send") ? FC_OP_SEND
                                                                   : FC_OP_RECV),
                              .line = g->stream.line};
    vertex->event.request = 0;
    if (calc ? read_calc(g, &vertex->event) : read_message(g, &vertex->event)) return g->st->code;
    g->n_vertices++;
    return FC_OK;
}

static enum fc_code read_dependency(struct goal *g, const char *text, size_t length, bool on_start)
{
    uint32_t dependent = 0, on = 0;
    if (find_label(g, text, length, &dependent)) return g->st->code;
    if (!next(g) || !is_letter(*g->token)) return fail_expected(g, "a label");
    if (find_label(g, g->token, g->length, &on)) return g->st->code;
    if (g->n_dependencies >= UINT32_MAX)
        return fc_refuse(g->st, FC_NO, "more than 4294967295 dependencies of one rank");
    struct dependency *d = fc_grow(g->dependency, &g->dependency_capacity, g->n_dependencies + 1, sizeof *d, g->st);
    if (!d) return g->st->code;
    g->dependency = d;
    struct vertex *v = &g->vertex[dependent];
    d[g->n_dependencies++] = (struct dependency){0, on, on_start};
    *(v->last ? &d[v->last - 1].next : &v->first) = (uint32_t)g->n_dependencies;
    v->last = (uint32_t)g->n_dependencies;
    v->event.n_list++;
    g->forward |= on >= dependent;
    next(g);
    return line_ends(g, "the end of the line");
}

static bool is_operation(const struct goal *g)
{
    return is(g, "calc") || is(g, "send") || is(g, "recv");
}

static enum fc_code read_labelled(struct goal *g)
{
    static const char *const portals[] = {"put", "get", "append", "test", "tput", "tget", "tappend", "calcgem5"};
    const char *text = g->token;
    size_t length = g->length;
    next(g);
    if (is(g, ":")) {
        next(g);
        if (!is_operation(g)) return fail_expected(g, "calc, send or recv");
        return add_label(g, text, length) ? g->st->code : read_operation(g);
    }
    if (is(g, "requires") || is(g, "irequires")) return read_dependency(g, text, length, is(g, "irequires"));
    for (size_t i = 0; i < FC_COUNT(portals); i++)
        if (strlen(portals[i]) == length && memcmp(portals[i], text, length) == 0)
            return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream),
                           "'%s' is one of the Portals statements of LogGOPSim2, which are not read "
                           "(expected calc, send, recv, requires or irequires)",
                           portals[i]);
    return fail_expected(g, "':', requires or irequires behind a label");
}

/* ---- a rank's block ---- */

/* Fills order and position: depth first, so that each vertex comes directly behind what it waits for. */
static enum fc_code sort_vertices(struct goal *g)
{
    uint32_t n = (uint32_t)g->n_vertices, n_placed = 0;
    memset(g->position, 0xff, n * sizeof *g->position);
    for (uint32_t v = 0; v < n; v++) g->vertex[v].last = g->vertex[v].first; /* the next one to look at */
    for (uint32_t root = 0; root < n; root++) {
        uint32_t depth = 0;
        if (g->position[root] == NOWHERE) g->stack[depth++] = root;
        while (depth) {
            struct vertex *v = &g->vertex[g->stack[depth - 1]];
            uint32_t here = g->stack[depth - 1];
            g->position[here] = ON_THE_WAY;
            while (v->last && g->position[g->dependency[v->last - 1].on] < ON_THE_WAY)
                v->last = g->dependency[v->last - 1].next;
            if (!v->last) {
                g->order[n_placed] = here;
                g->position[here] = n_placed++;
                depth--;
                continue;
            }
            uint32_t on = g->dependency[v->last - 1].on;
            if (g->position[on] == ON_THE_WAY)
                return fc_fail(g->st, FC_INPUT, (struct fc_place){g->stream.file, v->line},
                               "a cycle: this statement waits for that of line %ld, which waits for this one",
                               g->vertex[on].line);
            g->stack[depth++] = on;
        }
    }
    return FC_OK;
}

static enum fc_code make_room(struct goal *g)
{
    size_t n = g->n_vertices;
    uint32_t *position = fc_grow(g->position, &g->position_capacity, n, sizeof *position, g->st);
    if (position) g->position = position;
    uint32_t *order = fc_grow(g->order, &g->order_capacity, n, sizeof *order, g->st);
    if (order) g->order = order;
    uint32_t *stack = fc_grow(g->stack, &g->stack_capacity, n, sizeof *stack, g->st);
    if (stack) g->stack = stack;
    int64_t *list = fc_grow(g->list, &g->list_capacity, g->n_dependencies, sizeof *list, g->st);
    if (list) g->list = list;
    return g->st->code;
}

static enum fc_code end_block(struct goal *g)
{
    if (make_room(g) || (g->forward && sort_vertices(g))) return g->st->code;
    for (uint32_t i = 0; i < g->n_vertices; i++) {
        const struct vertex *v = &g->vertex[g->forward ? g->order[i] : i];
        uint32_t n = 0;
        for (uint32_t d = v->first; d; d = g->dependency[d - 1].next) {
            uint32_t on = g->dependency[d - 1].on;
            int64_t before = g->forward ? g->position[on] : on;
            g->list[n++] = g->dependency[d - 1].on_start ? ~before : before;
        }
        if (fc_sink_event(g->sink, g->rank, &v->event, g->list)) return g->st->code;
    }
    g->n_vertices = g->n_dependencies = g->n_labels = g->n_names = 0;
    g->forward = g->inside = false;
    return FC_OK;
}

static enum fc_code begin_block(struct goal *g)
{
    long long rank;
    if (g->inside) return fail_expected(g, "'}' before the next rank");
    if (!g->n_ranks) return fail_expected(g, "num_ranks first");
    if (number(g, "a rank", 0, (long long)g->n_ranks - 1, &rank)) return g->st->code;
    if (g->seen[rank / 8] >> rank % 8 & 1)
        return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream), "rank %lld has two blocks", rank);
    g->seen[rank / 8] |= (uint8_t)(1 << rank % 8);
    g->rank = (uint32_t)rank;
    g->block = ++g->n_blocks;
    g->inside = true;
    return word(g, "{");
}

static enum fc_code read_n_ranks(struct goal *g)
{
    long long n;
    if (g->n_ranks) return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream), "num_ranks is given twice");
    if (number(g, "a number of ranks", 1, MOST_RANKS, &n)) return g->st->code;
    g->sink->bytes = fc_stream_bytes(&g->stream);
    if (fc_announced((uint64_t)n, FC_SILENT + g->sink->bytes / 8, "ranks", fc_stream_place(&g->stream), g->st))
        return g->st->code; /* the shortest block is "rank 0{}" */
    char recorded[80];
    snprintf(recorded, sizeof recorded, "GOAL schedule; a tick of computation is %g s", g->tick_s);
    if (fc_sink_start(g->sink, (uint32_t)n, NULL, recorded)) return g->st->code;
    fc_sink_graph(g->sink);
    g->n_ranks = (uint32_t)n;
    g->seen = calloc((size_t)n / 8 + 1, 1);
    return g->seen ? FC_OK : fc_out_of_memory(g->st, "reading a trace");
}

static enum fc_code read_line(struct goal *g)
{
    while (next(g)) {
        enum fc_code code;
        if (is(g, "num_ranks"))
            code = read_n_ranks(g);
        else if (is(g, "rank"))
            code = begin_block(g);
        else if (!g->inside)
            code = fail_expected(g, g->n_ranks ? "rank" : "num_ranks first");
        else if (is(g, "}"))
            code = end_block(g);
        else if (is_operation(g))
            code = read_operation(g);
        else if (is_letter(*g->token))
            code = read_labelled(g);
        else
            code = fail_expected(g, "a label, calc, send, recv or '}'");
        if (code) return code;
    }
    return FC_OK;
}

static enum fc_code read_all(struct goal *g)
{
    size_t length;
    for (;;) {
        if (fc_stream_line(&g->stream, &g->at, &length, g->st)) return g->st->code;
        if (!g->at) break;
        g->end = g->at + length;
        if (read_line(g)) return g->st->code;
    }
    if (g->in_comment)
        return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream), "the file ends inside a comment (expected */)");
    if (g->inside)
        return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream),
                       "the file ends inside rank %" PRIu32 " (expected '}')", g->rank);
    if (!g->n_ranks) return fc_fail(g->st, FC_INPUT, fc_stream_place(&g->stream), "the file ends (expected num_ranks)");
    if (g->n_blocks == g->n_ranks) return FC_OK;
    return fc_sink_note(g->sink, "a rank without a block: it does nothing", g->n_ranks - g->n_blocks);
}

static enum fc_code read_goal(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    struct goal g = {.sink = sink, .st = sink->st, .tick_s = options->tick_s};
    if (!fc_stream_open(path, &g.stream, sink->st)) read_all(&g);
    fc_stream_close(&g.stream);
    free(g.seen);
    free(g.vertex);
    free(g.dependency);
    free(g.label);
    free(g.slot);
    free(g.names);
    free(g.position);
    free(g.order);
    free(g.stack);
    free(g.list);
    return sink->st->code;
}

static bool is_goal(const struct fc_trace_probe *probe)
{
    struct goal g = {0};
    const char *end = probe->head + probe->n_head;
    for (const char *at = probe->head, *line_end; !probe->folder && at < end; at = line_end + 1) {
        line_end = memchr(at, '\n', (size_t)(end - at));
        g.at = at;
        g.end = line_end ? line_end : end;
        if (next(&g)) return is(&g, "num_ranks");
        if (!line_end) break;
    }
    return false;
}

const struct fc_trace_format fc_format_goal = {
    .name = "goal",
    .what = "GOAL schedules of LogGOPSim (text)",
    .is = is_goal,
    .read = read_goal,
};
