/* trace_generate.c - a trace of `iterations` times one phase of a pattern: compute, post all receives, start
 * all sends, wait for all.
 *
 * Bytes become whole numbers: message i of the m messages of an entry of B bytes has floor(B (i+1) / m) -
 * floor(B i / m) bytes, so the entry keeps its total. Dense parts a[s] b[d] are expanded (n^2 messages).
 * Times are those of a machine whose network costs nothing: entering and leaving at the end of the
 * computation. Limits: what stays in a task (source = destination) is no message; a demand of relative rates
 * has no message size and is refused. */
#include "traces/trace_format.h"

#include <inttypes.h>

struct message {
    uint32_t src, dst;
    int64_t bytes;
};

/* Visits all messages of one phase in order of entry, then dense part. */
struct walk {
    const struct fc_demand *demand;
    size_t entry;
    int part;
    uint64_t pair;
    double bytes, n, i; /* of the entry at hand: bytes, messages, next message */
    uint32_t src, dst;
};

/* The next pair with bytes; false at the end. */
static bool next_pair(struct walk *w)
{
    const struct fc_demand *d = w->demand;
    uint64_t n_pairs = (uint64_t)d->n_tasks * d->n_tasks;
    while (w->entry < d->n_entries) {
        size_t k = w->entry++;
        w->src = d->src[k];
        w->dst = d->dst[k];
        w->bytes = floor(d->bytes[k] + 0.5);
        w->n = d->messages && d->messages[k] > 1 ? floor(d->messages[k] + 0.5) : 1;
        if (w->src != w->dst) return true;
    }
    for (; w->part < d->n_dense; w->part++, w->pair = 0)
        while (w->pair < n_pairs) {
            const struct fc_dense *part = &d->dense[w->part];
            w->src = (uint32_t)(w->pair / d->n_tasks);
            w->dst = (uint32_t)(w->pair++ % d->n_tasks);
            w->bytes = floor(part->a[w->src] * part->b[w->dst] + 0.5);
            w->n = part->message_bytes > 0 ? fmax(1, ceil(w->bytes / part->message_bytes)) : 1;
            if (w->src != w->dst && w->bytes > 0) return true;
        }
    return false;
}

static bool next_message(struct walk *w, struct message *message)
{
    if (w->i >= w->n) {
        if (!next_pair(w)) return false;
        w->i = 0;
    }
    double before = floor(w->bytes * w->i / w->n), after = floor(w->bytes * (w->i + 1) / w->n);
    *message = (struct message){w->src, w->dst, (int64_t)(after - before)};
    w->i++;
    return true;
}

static enum fc_code check(const struct fc_demand *demand, int iterations, double computation_s, struct fc_status *st)
{
    if (demand->open_loop)
        return fc_refuse(st, FC_INPUT,
                         "%s gives relative rates, not messages: no trace can be made of it (expected "
                         "e.g. alltoall, stencil2d, or a graph)",
                         demand->name ? demand->name : "the pattern");
    if (iterations < 1) return fc_refuse(st, FC_INPUT, "%d iterations (expected at least 1)", iterations);
    if (!(computation_s >= 0 && computation_s * iterations <= (double)FC_MAX_TIME_NS / 1e9))
        return fc_refuse(st, FC_INPUT, "%d times %g s of computation is out of range (allowed: 0 to 9000000 s in all)",
                         iterations, computation_s);
    if (demand->n_tasks < 1 || demand->n_tasks > INT32_MAX)
        return fc_refuse(st, FC_INPUT, "%" PRIu32 " tasks (expected 1 to %d)", demand->n_tasks, INT32_MAX);
    for (size_t k = 0; k < demand->n_entries; k++)
        if (!(demand->bytes[k] >= 0 && demand->bytes[k] < 0x1p53))
            return fc_refuse(st, FC_INPUT, "entry %zu has %g bytes (expected 0 to 2^53)", k, demand->bytes[k]);
    return FC_OK;
}

struct generator {
    struct fc_trace *trace;
    uint64_t *n_out, *n_in;       /* [n_tasks] messages of one phase */
    uint64_t *next_out, *next_in; /* [n_tasks] event index of the next send and receive of the phase at hand */
    uint64_t n_messages;
};

static enum fc_code count(struct generator *g, struct fc_arena *scratch, const struct fc_demand *demand,
                          struct fc_status *st)
{
    uint64_t **arrays[] = {&g->n_out, &g->n_in, &g->next_out, &g->next_in};
    for (size_t i = 0; i < FC_COUNT(arrays); i++) {
        *arrays[i] = fc_alloc(scratch, demand->n_tasks, sizeof(uint64_t), st);
        if (!*arrays[i]) return FC_NO;
    }
    struct walk w = {.demand = demand};
    for (struct message m; next_message(&w, &m); g->n_messages++) {
        g->n_out[m.src]++;
        g->n_in[m.dst]++;
    }
    return FC_OK;
}

/* Room for init, finalize, and per phase the receives, the sends and one wait. */
static enum fc_code allocate(struct generator *g, const struct fc_demand *demand, uint64_t iterations,
                             struct fc_status *st)
{
    struct fc_trace *t = g->trace;
    uint64_t n = demand->n_tasks, n_events;
    if (__builtin_mul_overflow(iterations, 2 * g->n_messages + n, &n_events) || n_events > UINT64_MAX / 128)
        return fc_out_of_memory(st, "%" PRIu64 " iterations of %" PRIu64 " messages", iterations, g->n_messages);
    for (uint64_t r = 0; r < n; r++)
        if (iterations * (g->n_out[r] + g->n_in[r]) > INT32_MAX)
            return fc_refuse(st, FC_INPUT, "rank %" PRIu64 " would make more than %d requests", r, INT32_MAX);
    n_events += 2 * n;
    t->n_ranks = demand->n_tasks;
    t->n_comms = 1;
    t->n_lists = iterations * 2 * g->n_messages;
    t->comm_first = fc_alloc(&t->arena, 2, sizeof *t->comm_first, st);
    t->comm_member = fc_alloc(&t->arena, n, sizeof *t->comm_member, st);
    t->first_event = fc_alloc(&t->arena, n + 1, sizeof *t->first_event, st);
    t->first_line = fc_alloc(&t->arena, n, sizeof *t->first_line, st);
    t->events = fc_alloc(&t->arena, n_events, sizeof *t->events, st);
    t->lists = fc_alloc(&t->arena, t->n_lists, sizeof *t->lists, st);
    t->program = fc_copy_text(&t->arena, demand->name ? demand->name : "pattern", st);
    t->recorded = fc_copy_text(&t->arena, "generated, not recorded: the network costs nothing", st);
    t->unwrapped = fc_alloc(&t->arena, 0, sizeof *t->unwrapped, st);
    if (st->code) return st->code;
    t->comm_first[1] = n;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        t->comm_member[r] = r;
        t->first_event[r + 1] = t->first_event[r] + 2 + iterations * (g->n_out[r] + g->n_in[r] + 1);
    }
    fc_set_lines(t);
    return FC_OK;
}

/* Every call but the messages, rank by rank: init, per phase a wait for all, finalize. */
static void place_waits(struct generator *g, uint64_t iterations, double computation_s)
{
    struct fc_trace *t = g->trace;
    uint64_t list = 0;
    const struct fc_event rest = {.peer = -1, .request = -1};
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        uint64_t n = g->n_in[r] + g->n_out[r];
        struct fc_event *e = &t->events[t->first_event[r]];
        *e++ = rest;
        for (uint64_t k = 0; k < iterations; k++) {
            double now_s = fc_from_ns(fc_to_ns(computation_s * (double)(k + 1)));
            for (uint64_t i = 0; i <= n; i++) {
                e[i] = rest;
                e[i].op = FC_OP_WAIT;
                e[i].enter_s = e[i].leave_s = now_s;
            }
            e[0].compute_s = computation_s;
            e[n].list = list;
            e[n].n_list = (uint32_t)n;
            for (uint64_t i = 0; i < n; i++) t->lists[list++] = (int64_t)(k * n + i);
            e += n + 1;
        }
        *e = rest;
        e->op = FC_OP_FINALIZE;
        e->enter_s = e->leave_s = fc_from_ns(fc_to_ns(computation_s * (double)iterations));
    }
}

static void place_message(const struct fc_trace *t, uint64_t event, int op, uint32_t rank, uint32_t peer, int64_t bytes,
                          uint64_t phase)
{
    struct fc_event *e = &t->events[event];
    e->op = (uint8_t)op;
    e->peer = (int32_t)peer;
    e->bytes = bytes;
    e->request = (int32_t)(event - t->first_event[rank] - 1 - phase); /* all calls but init and a wait a phase */
}

static void place_messages(struct generator *g, const struct fc_demand *demand, uint64_t phase)
{
    const struct fc_trace *t = g->trace;
    struct walk w = {.demand = demand};
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        g->next_in[r] = t->first_event[r] + 1 + phase * (g->n_in[r] + g->n_out[r] + 1);
        g->next_out[r] = g->next_in[r] + g->n_in[r];
    }
    for (struct message m; next_message(&w, &m);) {
        place_message(t, g->next_in[m.dst]++, FC_OP_IRECV, m.dst, m.src, m.bytes, phase);
        place_message(t, g->next_out[m.src]++, FC_OP_ISEND, m.src, m.dst, m.bytes, phase);
    }
}

enum fc_code fc_trace_generate(const struct fc_demand *demand, int iterations, double computation_s,
                               struct fc_trace *trace, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct generator g = {.trace = trace};
    *trace = (struct fc_trace){0};
    enum fc_code code = check(demand, iterations, computation_s, st);
    if (!code) code = count(&g, &scratch, demand, st);
    if (!code) code = allocate(&g, demand, (uint64_t)iterations, st);
    if (!code) {
        place_waits(&g, (uint64_t)iterations, computation_s);
        for (int k = 0; k < iterations; k++) place_messages(&g, demand, (uint64_t)k);
    }
    fc_arena_free(&scratch);
    if (code) fc_trace_free(trace);
    return code;
}
