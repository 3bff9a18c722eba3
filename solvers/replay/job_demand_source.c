/* job_demand_source.c - all bytes of a recorded job as one demand, from a trace that streams by once.
 *
 * What job_demand.c makes of a trace in memory: point-to-point messages, one-sided data and collective calls
 * as the messages of their algorithms (collective.c). The ranks take turns, each up to its next collective
 * call, so that few calls are open at once. A call is whole when its last member has come. Where the
 * operation moves the same for every member, calls alike (communicator, operation, root, bytes) are counted
 * and expanded together; one whose members may differ is expanded when it is whole. Calls that stay
 * incomplete (the trace is a window) count with what came. Finalize is a barrier where it is every rank's
 * last call.
 *
 * Memory: O(pairs of ranks that exchange anything + communicators + calls open at once), of an alltoallv
 * among n members n^2 while it is open. */
#include "core/array.h"
#include "solvers/replay/replay_calls.h"
#include "solvers/replay/replay_job.h"
#include "solvers/replay/replay_run.h"
#include "traces/flows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 1 << 12 }; /* slots for kinds of calls that are counted; expanded when half of them are full */

/* A call that some members have made. */
struct open_call {
    uint32_t n_here, first_rank;
    uint8_t op;
    int32_t root_rank; /* as recorded */
    uint64_t first_event;
    double most_bytes;
    double *part; /* [n] bytes of each member where they may differ; of an alltoallv [n][n] from each to each */
};
struct comm_calls {
    uint64_t first;          /* number of call[0] of the communicator */
    struct open_call **call; /* [n] */
    size_t n, capacity;
};
/* Calls alike. */
struct kind {
    uint64_t times; /* 0: free */
    uint32_t comm;
    uint8_t op;
    int32_t root_rank;
    double bytes;
};
struct walk {
    struct fc_trace_source *source;
    const struct fc_trace *head;
    const struct fc_collective_choice *collectives;
    struct fc_status *st;
    struct fc_replay_settings settings; /* for fc_calls only */
    struct fc_job job;
    struct fc_calls calls;   /* members of communicators, and their calls so far */
    struct comm_calls *comm; /* [n_comms] */
    struct kind *kind;       /* [KINDS] */
    uint32_t n_kinds;
    uint8_t *last_op; /* [n_ranks] */
    bool *ended;      /* [n_ranks] */
    struct fc_flows flows;
};

static uint32_t members_of(const struct walk *w, uint32_t comm)
{
    return (uint32_t)(w->head->comm_first[comm + 1] - w->head->comm_first[comm]);
}

static struct fc_place place_of(const struct walk *w, uint32_t rank, uint64_t event)
{
    const struct fc_trace *t = w->head;
    if (t->first_line) return (struct fc_place){t->file, t->first_line[rank] + (long)event};
    return (struct fc_place){t->rank_file ? t->rank_file[rank] : t->file, 0};
}

static enum fc_code no_memory(const struct walk *w)
{
    return fc_out_of_memory(w->st, "the collective calls of the trace");
}

/* ---- calls that are whole ---- */

static enum fc_code expand(struct walk *w, const struct kind *kind, const double *list)
{
    enum fc_op op = kind->op == FC_OP_COMM       ? FC_OP_ALLGATHER
                    : kind->op == FC_OP_FINALIZE ? FC_OP_BARRIER
                                                 : (enum fc_op)kind->op;
    bool rooted = op == FC_OP_BCAST || op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_REDUCE;
    const uint32_t *member = w->head->comm_member + w->head->comm_first[kind->comm];
    uint32_t n = members_of(w, kind->comm), root = 0;
    struct fc_arena scratch = {0};
    struct fc_message *messages = NULL;
    uint64_t n_messages = 0;
    while (rooted && root < n && member[root] != (uint32_t)kind->root_rank) root++;
    if (root == n)
        return fc_refuse(w->st, FC_INPUT, "%s: root %" PRId32 " of %s is no member of communicator %" PRIu32,
                         w->head->file, kind->root_rank, fc_op_names[kind->op], kind->comm);
    enum fc_code code = fc_collective_messages_by(w->collectives, op, n, root, kind->bytes, list, &scratch, &messages,
                                                  &n_messages, w->st);
    double times = (double)kind->times;
    for (uint64_t i = 0; !code && i < n_messages; i++) {
        const struct fc_message *m = &messages[i];
        code =
            fc_flows_add(&w->flows, (struct fc_flow){member[m->from], member[m->to], times * m->bytes, times}, w->st);
    }
    fc_arena_free(&scratch);
    return code;
}

static enum fc_code expand_kinds(struct walk *w)
{
    for (uint32_t i = 0; i < KINDS; i++)
        if (w->kind[i].times && expand(w, &w->kind[i], NULL)) return w->st->code;
    memset(w->kind, 0, KINDS * sizeof *w->kind);
    w->n_kinds = 0;
    return FC_OK;
}

static enum fc_code count_kind(struct walk *w, const struct kind *k)
{
    uint64_t bits, h;
    memcpy(&bits, &k->bytes, sizeof bits);
    h = (bits ^ (uint64_t)k->comm << 40 ^ (uint64_t)(uint32_t)k->root_rank << 8 ^ k->op) * UINT64_C(0x9E3779B97F4A7C15);
    for (h >>= 40;; h++) {
        struct kind *slot = &w->kind[h % KINDS];
        if (slot->times &&
            (slot->comm != k->comm || slot->op != k->op || slot->root_rank != k->root_rank || slot->bytes != k->bytes))
            continue;
        uint64_t times = slot->times + 1;
        *slot = *k;
        slot->times = times;
        if (times == 1) w->n_kinds++;
        return w->n_kinds > KINDS / 2 ? expand_kinds(w) : FC_OK;
    }
}

static bool blocks_differ(const struct open_call *c, uint32_t n)
{
    for (uint32_t m = 1; m < n; m++)
        if (c->part[m] != c->part[0]) return true;
    return false;
}

static enum fc_code close_call(struct walk *w, uint32_t comm, struct open_call *c)
{
    struct kind kind = {1, comm, c->op, c->root_rank, c->most_bytes};
    bool list = c->op == FC_OP_ALLTOALLV || (c->part && blocks_differ(c, members_of(w, comm)));
    enum fc_code code = list ? expand(w, &kind, c->part) : count_kind(w, &kind);
    free(c->part);
    free(c);
    return code;
}

/* ---- calls as they are made ---- */

static bool may_differ(int op)
{
    return op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_ALLGATHER || op == FC_OP_REDUCE_SCATTER ||
           op == FC_OP_ALLTOALLV;
}

static struct open_call *open_call(struct walk *w, uint32_t comm, uint64_t number)
{
    struct comm_calls *k = &w->comm[comm];
    size_t at = (size_t)(number - k->first);
    if (!FC_GROW(k->call, k->capacity, at + 1)) return no_memory(w), NULL;
    if (at == k->n) {
        k->call[at] = calloc(1, sizeof **k->call);
        if (!k->call[at]) return no_memory(w), NULL;
        k->n++;
    }
    return k->call[at];
}

static enum fc_code first_comes(struct walk *w, struct open_call *c, uint32_t comm, uint32_t rank, uint64_t number,
                                const struct fc_event *e)
{
    size_t n = members_of(w, comm);
    c->op = e->op;
    c->root_rank = e->peer;
    c->first_rank = rank;
    c->first_event = number;
    if (!may_differ(e->op)) return FC_OK;
    c->part = calloc(e->op == FC_OP_ALLTOALLV ? n * n : n, sizeof *c->part);
    return c->part ? FC_OK : no_memory(w);
}

static enum fc_code disagree(const struct walk *w, const struct open_call *c, uint32_t rank, uint64_t number,
                             const struct fc_event *e)
{
    char there[40];
    if (w->head->first_line)
        snprintf(there, sizeof there, "line %ld", w->head->first_line[c->first_rank] + (long)c->first_event);
    else
        snprintf(there, sizeof there, "call %" PRIu64, c->first_event);
    if (c->op != e->op)
        return fc_fail(w->st, FC_INPUT, place_of(w, rank, number),
                       "rank %" PRIu32 " calls %s where rank %" PRIu32 " calls %s (%s) on the same communicator", rank,
                       fc_op_names[e->op], c->first_rank, fc_op_names[c->op], there);
    return fc_fail(w->st, FC_INPUT, place_of(w, rank, number),
                   "rank %" PRIu32 " calls %s with root %" PRId32 ", rank %" PRIu32 " with root %" PRId32 " (%s)", rank,
                   fc_op_names[e->op], e->peer, c->first_rank, c->root_rank, there);
}

static enum fc_code enter(struct walk *w, uint32_t rank, uint64_t number, const struct fc_event *e, const int64_t *list)
{
    uint32_t comm = fc_call_comm(e),
             member = comm < w->head->n_comms ? fc_calls_member(&w->calls, comm, rank) : FC_NONE;
    if (member == FC_NONE)
        return fc_fail(w->st, FC_INPUT, place_of(w, rank, number),
                       "rank %" PRIu32 ", call %" PRIu64 ": %s on communicator %" PRId32 ", of which it is no member",
                       rank, number, fc_op_names[e->op], (int32_t)comm);
    struct comm_calls *k = &w->comm[comm];
    uint32_t n = members_of(w, comm);
    struct open_call *c = open_call(w, comm, w->calls.made[w->head->comm_first[comm] + member]++);
    if (!c) return w->st->code;
    if (c->n_here++ == 0 && first_comes(w, c, comm, rank, number, e)) return w->st->code;
    if (c->op != e->op || c->root_rank != e->peer) return disagree(w, c, rank, number, e);
    double bytes = e->op == FC_OP_COMM                                 ? FC_COMM_BYTES
                   : e->op == FC_OP_BARRIER || e->op == FC_OP_FINALIZE ? 0
                                                                       : (double)e->bytes;
    c->most_bytes = fc_later(c->most_bytes, bytes);
    if (e->op == FC_OP_ALLTOALLV) {
        if (e->n_list != n)
            return fc_fail(w->st, FC_INPUT, place_of(w, rank, number),
                           "rank %" PRIu32 ", call %" PRIu64 ": %" PRIu32 " sizes for the %" PRIu32 " members", rank,
                           number, e->n_list, n);
        for (uint32_t i = 0; i < n; i++) c->part[(size_t)member * n + i] = (double)list[i];
    } else if (c->part) {
        c->part[member] = bytes;
    }
    /* calls become whole in order: a member makes its k-th before its next */
    if (c->n_here < n) return FC_OK;
    k->first++;
    memmove(k->call, k->call + 1, --k->n * sizeof(struct open_call *));
    return close_call(w, comm, c);
}

/* The rank's events up to its next collective call. */
static enum fc_code turn(struct walk *w, uint32_t rank)
{
    const struct fc_event *e;
    while ((e = fc_source_peek(w->source, rank)) != NULL) {
        bool call = e->op >= FC_OP_BARRIER && e->op <= FC_OP_COMM;
        w->last_op[rank] = e->op;
        if (call ? enter(w, rank, w->source->rank[rank].number, e, fc_source_list(w->source, rank, e))
                 : fc_flows_add_event(&w->flows, rank, e, w->st))
            return w->st->code;
        fc_source_take(w->source, rank);
        if (call) return FC_OK;
    }
    w->ended[rank] = true;
    return w->source->st->code;
}

/* ---- all of it ---- */

static enum fc_code start(struct walk *w)
{
    const struct fc_trace *t = w->head;
    w->job = (struct fc_job){.trace = t, .source = w->source, .settings = &w->settings, .st = w->st};
    w->comm = calloc(t->n_comms, sizeof *w->comm);
    w->kind = calloc(KINDS, sizeof *w->kind);
    w->last_op = calloc(t->n_ranks, sizeof *w->last_op);
    w->ended = calloc(t->n_ranks, sizeof *w->ended);
    if (!w->comm || !w->kind || !w->last_op || !w->ended) return no_memory(w);
    return fc_flows_start(&w->flows, t->n_ranks, w->st) ? w->st->code : fc_calls_start(&w->calls, &w->job);
}

/* What stays open when all ranks have ended, and Finalize. */
static enum fc_code finish(struct walk *w)
{
    const struct fc_trace *t = w->head;
    bool finalize = true;
    for (uint32_t c = 0; c < t->n_comms; c++)
        for (; w->comm[c].n; w->comm[c].first++) {
            struct open_call *call = w->comm[c].call[0];
            memmove(w->comm[c].call, w->comm[c].call + 1, --w->comm[c].n * sizeof(struct open_call *));
            if (close_call(w, c, call)) return w->st->code;
        }
    for (uint32_t r = 0; r < t->n_ranks; r++) finalize = finalize && w->last_op[r] == FC_OP_FINALIZE;
    if (finalize && count_kind(w, &(struct kind){0, 0, FC_OP_FINALIZE, -1, 0})) return w->st->code;
    return expand_kinds(w);
}

static void free_walk(struct walk *w)
{
    for (uint32_t c = 0; w->comm && c < w->head->n_comms; c++) {
        for (size_t i = 0; i < w->comm[c].n; i++) {
            free(w->comm[c].call[i]->part);
            free(w->comm[c].call[i]);
        }
        free(w->comm[c].call);
    }
    free(w->comm);
    free(w->kind);
    free(w->last_op);
    free(w->ended);
    if (w->calls.job) fc_calls_free(&w->calls);
    fc_flows_free(&w->flows);
}

enum fc_code fc_demand_of_source(struct fc_trace_source *source, const struct fc_collective_choice *collectives,
                                 struct fc_demand *demand, struct fc_status *st)
{
    *demand = (struct fc_demand){0};
    if (source->head->events) return fc_demand_of_job_by(source->head, collectives, demand, st);
    struct walk w = {.source = source, .head = source->head, .collectives = collectives, .st = st};
    uint32_t n_ended = 0;
    enum fc_code code = start(&w);
    while (!code && n_ended < w.head->n_ranks)
        for (uint32_t r = 0; !code && r < w.head->n_ranks; r++) {
            if (w.ended[r]) continue;
            code = turn(&w, r);
            n_ended += w.ended[r];
        }
    if (!code) code = finish(&w);
    if (!code) code = fc_flows_demand(&w.flows, fc_trace_title(w.head), demand, st);
    free_walk(&w);
    return code;
}
