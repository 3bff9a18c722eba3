/* export_goal.c - writes GOAL, LogGOPSim's schedule text (Hoefler, Schneider & Lumsdaine, HPDC 2010; its txt2bin grammar).
 *
 * Program order becomes dependencies: a statement requires the one before where that blocks, and irequires it (starts
 * after its start) where it does not block. A wait is a calc of 0 that requires its requests and what came before. A
 * collective is the rounds of its messages, each round requiring all of the one before; a nonblocking one hangs on a
 * calc of 0 at its place and its request is its last round. Computation is the recorded CPU time between calls, in ticks.
 * Limits: a program that relies on eager sends ends only where the simulator sends eagerly; calls that only take time, failed polls, and the modes of sends are not in GOAL. */
#include "solvers/replay/export.h"

#include <inttypes.h>
#include <math.h>

#define NONE UINT64_MAX

/* A statement to follow: after its end, or after its start. */
struct point {
    uint64_t label;
    bool started;
};
struct goal {
    struct fc_exporter x;
    FILE *out;
    double tick_s;
    uint64_t n;         /* labels of the rank so far */
    struct point *done; /* by request, or by event of a graph: what completes it */
    uint64_t *began;    /* by event of a graph */
    const struct fc_event *event;
};

static uint64_t label(struct goal *g)
{
    fprintf(g->out, "l%" PRIu64 ": ", g->n);
    return g->n++;
}

/* Ends a statement: of a graph with its processor and NIC. */
static void place(const struct goal *g, bool nic)
{
    bool graph = g->x.trace->graph;
    if (graph && g->event->request) fprintf(g->out, " cpu %" PRId32, g->event->request);
    if (graph && nic && g->event->polls) fprintf(g->out, " nic %d", g->event->polls);
    fputc('\n', g->out);
}

static void follow(const struct goal *g, uint64_t l, struct point before)
{
    if (before.label != NONE)
        fprintf(g->out, "l%" PRIu64 " %s l%" PRIu64 "\n", l, before.started ? "irequires" : "requires", before.label);
}

static struct point calc(struct goal *g, int64_t ticks, struct point before)
{
    uint64_t l = label(g);
    fprintf(g->out, "calc %" PRId64, ticks);
    place(g, false);
    follow(g, l, before);
    return (struct point){l, false};
}

static uint64_t message(struct goal *g, bool receives, int32_t peer, int64_t tag, int64_t bytes)
{
    uint64_t l = label(g);
    fprintf(g->out, "%s %" PRId64 "b %s %" PRId32 " tag %" PRId64, receives ? "recv" : "send", bytes,
            receives ? "from" : "to", peer, tag);
    place(g, true);
    return l;
}

static uint64_t point_to_point(struct goal *g, const struct fc_event *e)
{
    return message(g, e->op == FC_OP_RECV || e->op == FC_OP_IRECV, e->peer, fc_export_tag(&g->x, e->comm, e->tag),
                   e->bytes);
}

/* The rounds of a collective behind `at`; what ends it. */
static struct point rounds(struct goal *g, uint64_t event, struct point at)
{
    uint64_t step, end;
    fc_export_steps(&g->x, event, &step, &end);
    while (step < end) {
        uint32_t round = fc_export_step(&g->x, event, step).round;
        uint64_t first = g->n;
        for (; step < end; step++) {
            struct fc_export_step s = fc_export_step(&g->x, event, step);
            if (s.round != round) break;
            follow(g, message(g, s.receives, (int32_t)s.peer, s.tag, s.bytes), at);
        }
        uint64_t last = g->n;
        at = (struct point){first, false};
        if (last - first > 1) {
            at = calc(g, 0, at);
            for (uint64_t l = first + 1; l < last; l++) follow(g, at.label, (struct point){l, false});
        }
    }
    return at;
}

/* ---- programs ---- */

static struct point write_call(struct goal *g, uint64_t event, struct point before)
{
    const struct fc_event *e = g->event;
    const int64_t *list = fc_event_list(g->x.trace->lists, e);
    if (g->x.part[event] != UINT64_MAX) {
        if (e->op == FC_OP_FINALIZE || e->mode == 0) return rounds(g, event, before);
        struct point at = calc(g, 0, before);
        g->done[e->request] = rounds(g, event, at);
        return at;
    }
    if (e->op == FC_OP_WAIT && e->n_list) {
        struct point join = calc(g, 0, before);
        for (uint32_t i = 0; i < e->n_list; i++) follow(g, join.label, g->done[list[i]]);
        return join;
    }
    if (e->op == FC_OP_SEND || e->op == FC_OP_RECV || e->op == FC_OP_ISEND || e->op == FC_OP_IRECV) {
        bool blocks = e->op == FC_OP_SEND || e->op == FC_OP_RECV;
        uint64_t l = point_to_point(g, e);
        follow(g, l, before);
        if (!blocks) g->done[e->request] = (struct point){l, false};
        return (struct point){l, !blocks};
    }
    return before;
}

static void write_program(struct goal *g, uint32_t rank)
{
    const struct fc_trace *t = g->x.trace;
    struct point at = {NONE, false};
    uint64_t open = 0;
    for (uint64_t i = t->first_event[rank]; i < t->first_event[rank + 1]; i++) {
        g->event = &t->events[i];
        int64_t ticks = llround(g->event->compute_s / g->tick_s);
        if (ticks > 0) at = calc(g, ticks, at);
        at = write_call(g, i, at);
        open += g->event->request >= 0;
        if (g->event->op == FC_OP_WAIT) open -= g->event->n_list;
    }
    g->x.losses[FC_LOST_OPEN] += open;
}

/* ---- graphs ---- */

static void write_graph(struct goal *g, uint32_t rank)
{
    const struct fc_trace *t = g->x.trace;
    for (uint64_t i = t->first_event[rank], k = 0; i < t->first_event[rank + 1]; i++, k++) {
        const struct fc_event *e = g->event = &t->events[i];
        const int64_t *list = fc_event_list(t->lists, e);
        const struct point nothing = {NONE, false};
        uint64_t first = g->n;
        bool call = g->x.part[i] != UINT64_MAX;
        int64_t ticks = llround(e->compute_s / g->tick_s);
        struct point at = nothing;
        if (call || e->op == FC_OP_OTHER || ticks > 0) at = calc(g, ticks, nothing);
        for (uint32_t d = 0; at.label != NONE && d < e->n_list; d++)
            follow(g, at.label, list[d] < 0 ? (struct point){g->began[~list[d]], true} : g->done[list[d]]);
        if (call) at = rounds(g, i, at);
        if (e->op == FC_OP_SEND || e->op == FC_OP_RECV) {
            uint64_t l = point_to_point(g, e);
            follow(g, l, at);
            for (uint32_t d = 0; at.label == NONE && d < e->n_list; d++)
                follow(g, l, list[d] < 0 ? (struct point){g->began[~list[d]], true} : g->done[list[d]]);
            at = (struct point){l, false};
        }
        g->began[k] = first;
        g->done[k] = at;
    }
}

static enum fc_code write_ranks(struct goal *g, struct fc_status *st)
{
    const struct fc_trace *t = g->x.trace;
    uint64_t most = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        uint64_t n = t->first_event[r + 1] - t->first_event[r];
        if (n > most) most = n;
    }
    g->done = fc_alloc(&g->x.arena, most, sizeof *g->done, st);
    g->began = fc_alloc(&g->x.arena, most, sizeof *g->began, st);
    if (!g->done || !g->began) return FC_NO;
    fprintf(g->out, "num_ranks %" PRIu32 "\n", t->n_ranks);
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        fprintf(g->out, "rank %" PRIu32 " {\n", r);
        g->n = 0;
        if (t->graph)
            write_graph(g, r);
        else
            write_program(g, r);
        if (!g->n) fprintf(g->out, "l0: calc 0\n"); /* an empty block is not in the grammar */
        fprintf(g->out, "}\n");
    }
    return FC_OK;
}

enum fc_code fc_export_goal(const struct fc_trace *trace, const struct fc_trace_options *options, FILE *out,
                            uint64_t *losses, struct fc_status *st)
{
    struct goal g = {.out = out, .tick_s = options->tick_s};
    if (!fc_export_start(trace, losses, &g.x, st)) write_ranks(&g, st);
    fc_export_end(&g.x);
    return st->code;
}
