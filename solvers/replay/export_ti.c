/* export_ti.c - writes SimGrid's time-independent trace (Desprez, Markomanolis, Quinson & Suter, PDSEC 2011; the actions
 * of smpi_replay.cpp), one file shared by all ranks, counts in bytes (`init` without argument).
 *
 * A wait names source, destination and tag and takes the oldest such request, which is ours: requests of one key
 * complete alike. Collectives of equal shares over all ranks in order are said as such, others as the rounds of their
 * messages: isend and irecv, then a wait for each. Computation is the recorded CPU time between calls times
 * the speed of the rank. Limits: nonblocking collectives do not exist and become blocking ones where they start; reductions
 * compute nothing; calls that only take time, failed polls and the modes of sends are left out. */
#include "solvers/replay/export.h"

#include <inttypes.h>

enum { ANY_SOURCE = -333, ANY_TAG = -444 }; /* SMPI's MPI_ANY_SOURCE, MPI_ANY_TAG */

struct open_request {
    int32_t from, to;
    int64_t tag;
    bool pending; /* false: of a collective that is over */
};
struct writer {
    struct fc_exporter x;
    FILE *out;
    const struct fc_trace_options *options;
    struct open_request *request; /* of the rank */
    uint64_t n_pending;
    int64_t *bytes; /* [n_calls] of every member; -1: they differ */
    uint32_t rank;
};

static int64_t tag_of(const struct writer *w, const struct fc_event *e)
{
    int64_t tag = fc_export_tag(&w->x, e->comm, e->tag);
    return tag < 0 ? ANY_TAG : tag;
}

static void write_wait(struct writer *w, int32_t from, int32_t to, int64_t tag)
{
    fprintf(w->out, "%" PRIu32 " wait %" PRId32 " %" PRId32 " %" PRId64 "\n", w->rank, from, to, tag);
}

static void write_message(struct writer *w, const struct fc_event *e)
{
    bool receives = e->op == FC_OP_RECV || e->op == FC_OP_IRECV;
    int32_t peer = e->peer == FC_ANY ? ANY_SOURCE : e->peer, self = (int32_t)w->rank;
    int64_t tag = tag_of(w, e);
    fprintf(w->out, "%" PRIu32 " %s %" PRId32 " %" PRId64 " %" PRId64 "\n", w->rank, fc_op_names[e->op], peer, tag,
            e->bytes);
    if (e->request < 0) return;
    w->request[e->request] = (struct open_request){receives ? peer : self, receives ? self : peer, tag, true};
    w->n_pending++;
}

static void write_waits(struct writer *w, const struct fc_event *e)
{
    const int64_t *list = fc_event_list(w->x.trace->lists, e);
    uint64_t n = 0;
    for (uint32_t i = 0; i < e->n_list; i++) n += w->request[list[i]].pending;
    if (n > 1 && n == w->n_pending)
        fprintf(w->out, "%" PRIu32 " waitall %" PRIu64 "\n", w->rank, n);
    else
        for (uint32_t i = 0; i < e->n_list; i++) {
            const struct open_request *r = &w->request[list[i]];
            if (r->pending) write_wait(w, r->from, r->to, r->tag);
        }
    for (uint32_t i = 0; i < e->n_list; i++) w->request[list[i]].pending = false;
    w->n_pending -= n;
}

/* ---- collectives ---- */

static void write_rounds(struct writer *w, uint64_t event)
{
    uint64_t step, end;
    int32_t self = (int32_t)w->rank;
    fc_export_steps(&w->x, event, &step, &end);
    while (step < end) {
        uint64_t last = step;
        uint32_t round = fc_export_step(&w->x, event, step).round;
        while (last < end && fc_export_step(&w->x, event, last).round == round) last++;
        const char *immediate = last - step > 1 ? "i" : "";
        for (uint64_t i = step; i < last; i++) {
            struct fc_export_step s = fc_export_step(&w->x, event, i);
            fprintf(w->out, "%" PRIu32 " %s%s %" PRIu32 " %" PRId64 " %" PRId64 "\n", w->rank, immediate,
                    s.receives ? "recv" : "send", s.peer, s.tag, s.bytes);
        }
        for (uint64_t i = step; *immediate && i < last; i++) {
            struct fc_export_step s = fc_export_step(&w->x, event, i);
            write_wait(w, s.receives ? (int32_t)s.peer : self, s.receives ? self : (int32_t)s.peer, s.tag);
        }
        step = last;
    }
}

/* All ranks in the order of the world. */
static bool is_world(const struct fc_trace *t, uint32_t comm)
{
    const uint32_t *member = t->comm_member + t->comm_first[comm];
    if (t->comm_first[comm + 1] - t->comm_first[comm] != t->n_ranks) return false;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        if (member[r] != r) return false;
    return true;
}

/* Bytes of a call, where all members have the same. */
static enum fc_code find_bytes(struct writer *w, struct fc_status *st)
{
    const struct fc_trace *t = w->x.trace;
    uint32_t n = w->x.calls.n_calls;
    bool *seen = fc_alloc(&w->x.arena, n, sizeof *seen, st);
    w->bytes = fc_alloc(&w->x.arena, n, sizeof *w->bytes, st);
    if (!seen || !w->bytes) return FC_NO;
    for (uint64_t i = 0; i < t->first_event[t->n_ranks]; i++) {
        if (w->x.part[i] == UINT64_MAX) continue;
        const struct fc_event *e = &t->events[i];
        uint32_t call = fc_part_call(w->x.part[i]);
        int64_t bytes = e->op == FC_OP_COMM ? FC_COMM_BYTES : e->op == FC_OP_ALLTOALLV ? -1 : e->bytes;
        if (seen[call] && w->bytes[call] != bytes) bytes = -1;
        w->bytes[call] = bytes;
        seen[call] = true;
    }
    for (uint32_t call = 0, known = FC_NONE, world = 0; call < n;
         call++) { /* calls of one communicator follow each other */
        uint32_t comm = w->x.calls.calls[call].comm;
        if (comm != known) world = is_world(t, known = comm);
        if (!world) w->bytes[call] = -1;
    }
    return FC_OK;
}

static void write_native(struct writer *w, const struct fc_event *e, int64_t b)
{
    FILE *out = w->out;
    fprintf(out, "%" PRIu32 " ", w->rank);
    switch (e->op) {
    case FC_OP_BARRIER: fprintf(out, "barrier"); break;
    case FC_OP_BCAST: fprintf(out, "bcast %" PRId64 " %" PRId32, b, e->peer); break;
    case FC_OP_REDUCE: fprintf(out, "reduce %" PRId64 " 0 %" PRId32, b, e->peer); break;
    case FC_OP_ALLREDUCE: fprintf(out, "allreduce %" PRId64 " 0", b); break;
    case FC_OP_SCAN: fprintf(out, "scan %" PRId64 " 0", b); break;
    case FC_OP_GATHER: fprintf(out, "gather %" PRId64 " %" PRId64 " %" PRId32, b, b, e->peer); break;
    case FC_OP_SCATTER: fprintf(out, "scatter %" PRId64 " %" PRId64 " %" PRId32, b, b, e->peer); break;
    case FC_OP_ALLTOALL: fprintf(out, "alltoall %" PRId64 " %" PRId64, b, b); break;
    case FC_OP_REDUCE_SCATTER:
        fprintf(out, "reducescatter");
        for (uint32_t r = 0; r < w->x.trace->n_ranks; r++) fprintf(out, " %" PRId64, b);
        fprintf(out, " 0");
        break;
    default: fprintf(out, "allgather %" PRId64 " %" PRId64, b, b); /* making a communicator too */
    }
    fputc('\n', out);
}

static void write_collective(struct writer *w, uint64_t event, const struct fc_event *e)
{
    int64_t bytes = w->bytes[fc_part_call(w->x.part[event])];
    if (e->mode) {
        w->x.losses[FC_LOST_NONBLOCKING]++;
        w->request[e->request].pending = false;
    }
    if (bytes >= 0)
        write_native(w, e, bytes);
    else
        write_rounds(w, event);
}

/* ---- ranks ---- */

static void write_rank(struct writer *w)
{
    const struct fc_trace *t = w->x.trace;
    w->n_pending = 0;
    fprintf(w->out, "%" PRIu32 " init\n", w->rank);
    for (uint64_t i = t->first_event[w->rank]; i < t->first_event[w->rank + 1]; i++) {
        const struct fc_event *e = &t->events[i];
        if (e->compute_s > 0)
            fprintf(w->out, "%" PRIu32 " compute %.15g\n", w->rank, e->compute_s * fc_speed_of(w->options, w->rank));
        if (e->op == FC_OP_SEND || e->op == FC_OP_RECV || e->op == FC_OP_ISEND || e->op == FC_OP_IRECV)
            write_message(w, e);
        else if (e->op == FC_OP_WAIT)
            write_waits(w, e);
        else if (w->x.part[i] != UINT64_MAX && e->op != FC_OP_FINALIZE)
            write_collective(w, i, e);
    }
    w->x.losses[FC_LOST_OPEN] += w->n_pending;
    fprintf(w->out, "%" PRIu32 " finalize\n", w->rank);
}

enum fc_code fc_export_ti(const struct fc_trace *trace, const struct fc_trace_options *options, FILE *out,
                          uint64_t *losses, struct fc_status *st)
{
    struct writer w = {.out = out, .options = options};
    uint64_t most = 0;
    if (trace->graph)
        return fc_fail(st, FC_INPUT, (struct fc_place){trace->file, 0},
                       "its events depend on each other as a graph, which a time-independent trace cannot say "
                       "(expected goal or mtx)");
    if (options->n_speeds > 1 && options->n_speeds != trace->n_ranks)
        return fc_fail(st, FC_INPUT, (struct fc_place){trace->file, 0},
                       "%" PRIu32 " speeds for %" PRIu32 " ranks (expected one for all, or one for each)",
                       options->n_speeds, trace->n_ranks);
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        uint64_t n = trace->first_event[r + 1] - trace->first_event[r];
        if (n > most) most = n;
    }
    if (!fc_export_start(trace, losses, &w.x, st) && !find_bytes(&w, st)) {
        w.request = fc_alloc(&w.x.arena, most, sizeof *w.request, st);
        for (w.rank = 0; w.request && w.rank < trace->n_ranks; w.rank++) write_rank(&w);
    }
    fc_export_end(&w.x);
    return st->code;
}
