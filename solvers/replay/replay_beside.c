/* replay_beside.c - two jobs in one replay: another one runs again and again on its own nodes, or on shared
 * ones, while this one runs once.
 *
 * Both traces become one: this job's ranks first, the other's behind them, every communicator with the
 * members it had; the worlds of the two are communicators of their own, and Finalize, where it is a barrier
 * (replay_calls.c), one of its own world. Both begin at time 0; the other begins anew as soon as it has
 * ended (its Finalize, or a barrier in its stead: else ranks that only send would run ahead without end), so
 * often that it runs until this one has ended: first as often as the times of both alone tell, then twice as
 * often until that holds. What they send meets as the network under the replay has it, so both are
 * elastic: each slows the other down.
 *
 *     time_s   when the last rank of this job ends, beside the other
 *     bound_s  of the run alone: nothing another job does makes this one faster than that
 *
 * Loads of links, what binds and the bottleneck are those of the run alone: this job's own; waits are not
 * told. Limits: programs in memory, no graphs; messages of this job that nobody receives do not count as its
 * end. Costs the two replays alone and the joint ones, of which there is mostly one. */
#include "solvers/replay/replay_beside.h"
#include "core/timeline.h"

#include <math.h>
#include <string.h>

#define MOST_EVENTS 2e8 /* of the joint trace: some 16 GB */

struct joint {
    struct fc_arena arena;
    struct fc_trace trace;
    uint32_t *node;
    struct fc_status *st;
};
/* One job within the joint trace. */
struct part {
    const struct fc_trace *trace;
    uint32_t first_rank, first_comm; /* its world is first_comm */
    uint64_t first_list, runs;
    bool finalizes; /* Finalize is every rank's last call: a barrier */
    bool again;     /* runs follow one another */
};

/* ---- one trace of two ---- */

static bool finalizes(const struct fc_trace *t)
{
    for (uint32_t r = 0; r < t->n_ranks; r++)
        if (t->first_event[r + 1] == t->first_event[r] || t->events[t->first_event[r + 1] - 1].op != FC_OP_FINALIZE)
            return false;
    return true;
}

static struct fc_event as_part(const struct part *p, const struct fc_event *from)
{
    struct fc_event e = *from;
    if (e.comm >= 0) e.comm += (int32_t)p->first_comm;
    if (e.op == FC_OP_COMM) {
        if (e.peer >= 0) e.peer += (int32_t)p->first_comm; /* the parent */
    } else if (e.peer >= 0) {
        e.peer += (int32_t)p->first_rank;
    }
    if (e.op == FC_OP_FINALIZE) {
        e.op = p->finalizes ? FC_OP_BARRIER : FC_OP_OTHER;
        e.comm = (int32_t)p->first_comm;
        e.peer = -1;
    }
    e.list += p->first_list;
    return e;
}

static void add_ranks(struct joint *j, const struct part *p)
{
    struct fc_trace *t = &j->trace;
    for (uint32_t r = 0; r < p->trace->n_ranks; r++) {
        uint64_t at = t->first_event[p->first_rank + r];
        for (uint64_t run = 0; run < p->runs; run++) {
            for (uint64_t i = p->trace->first_event[r]; i < p->trace->first_event[r + 1]; i++)
                t->events[at++] = as_part(p, &p->trace->events[i]);
            if (p->again && !p->finalizes)
                t->events[at++] =
                    (struct fc_event){.op = FC_OP_BARRIER, .comm = (int32_t)p->first_comm, .peer = -1, .request = -1};
        }
        t->first_event[p->first_rank + r + 1] = at;
    }
    if (p->trace->n_lists) memcpy(t->lists + p->first_list, p->trace->lists, p->trace->n_lists * sizeof *t->lists);
    for (uint32_t k = 0; k < p->trace->n_comms; k++) {
        uint32_t *to = t->comm_member + t->comm_first[p->first_comm + k];
        uint64_t first = p->trace->comm_first[k], n = p->trace->comm_first[k + 1] - first;
        for (uint64_t i = 0; i < n; i++) to[i] = p->trace->comm_member[first + i] + p->first_rank;
        t->comm_first[p->first_comm + k + 1] = t->comm_first[p->first_comm + k] + n;
    }
}

static uint64_t n_events(const struct fc_trace *t)
{
    return t->first_event[t->n_ranks];
}
static uint64_t n_members(const struct fc_trace *t)
{
    return t->comm_first[t->n_comms];
}

static enum fc_code join(struct joint *j, const struct part *p) /* p[2] */
{
    const struct fc_trace *a = p[0].trace, *b = p[1].trace;
    struct fc_trace *t = &j->trace;
    uint32_t n = a->n_ranks + b->n_ranks;
    uint64_t events = n_events(a) + p[1].runs * (n_events(b) + (p[1].finalizes ? 0 : b->n_ranks));
    if ((double)events > MOST_EVENTS)
        return fc_refuse(j->st, FC_NO,
                         "the other job would run %llu times beside this one, %.3g events together (expected at most "
                         "%g; take its mean rates, trace:FILE)",
                         (unsigned long long)p[1].runs, (double)events, MOST_EVENTS);
    *t = (struct fc_trace){.file = a->file, .program = "", .recorded = "", .n_ranks = n};
    t->n_comms = 1 + a->n_comms + b->n_comms;
    t->n_lists = a->n_lists + b->n_lists;
    t->comm_first = fc_alloc(&j->arena, (size_t)t->n_comms + 1, sizeof *t->comm_first, j->st);
    t->comm_member = fc_alloc(&j->arena, n + n_members(a) + n_members(b), sizeof *t->comm_member, j->st);
    t->first_event = fc_alloc(&j->arena, (size_t)n + 1, sizeof *t->first_event, j->st);
    t->events = fc_alloc(&j->arena, events, sizeof *t->events, j->st);
    t->lists = fc_alloc(&j->arena, t->n_lists, sizeof *t->lists, j->st);
    if (j->st->code) return j->st->code;
    for (uint32_t r = 0; r < n; r++) t->comm_member[r] = r;
    t->comm_first[1] = n;
    add_ranks(j, &p[0]);
    add_ranks(j, &p[1]);
    return FC_OK;
}

/* ---- the replays ---- */

static enum fc_code check(const struct fc_trace *job, const struct fc_trace *other,
                          const struct fc_replay_settings *settings, struct fc_status *st)
{
    if (settings->network == FC_NET_IDEAL)
        return fc_refuse(st, FC_INPUT,
                         "on an ideal network no message meets another: two jobs do not notice each other");
    if (job->graph || other->graph)
        return fc_refuse(st, FC_INPUT, "%s is a graph of events: only programs are replayed beside each other",
                         job->graph ? job->file : other->file);
    if (!job->events || !other->events)
        return fc_refuse(st, FC_INPUT, "%s is not in memory: only traces in memory are replayed beside each other",
                         job->events ? other->file : job->file);
    return FC_OK;
}

/* Both together; *lasts: the other was still running when this one ended. */
static enum fc_code run_both(const struct fc_network *net, const struct part *p,
                             const struct fc_replay_settings *settings, const uint32_t *node, struct fc_replay *both,
                             double *end_s, bool *lasts, struct fc_status *st)
{
    struct joint j = {.st = st};
    *end_s = 0;
    *lasts = true;
    if (!join(&j, p)) {
        struct fc_placement placement = {j.trace.n_ranks, node};
        if (settings->timeline) settings->timeline->only_ranks = p[0].trace->n_ranks;
        if (!fc_replay_run(net, &j.trace, &placement, settings, both, st)) {
            for (uint32_t r = 0; r < p[0].trace->n_ranks; r++) *end_s = fmax(*end_s, both->rank_finish_s[r]);
            for (uint32_t r = p[1].first_rank; r < j.trace.n_ranks; r++)
                *lasts = *lasts && both->rank_finish_s[r] >= *end_s;
        }
    }
    fc_arena_free(&j.arena);
    return st->code;
}

static void adopt(struct fc_replay *alone, const struct fc_replay *both, double end_s, uint32_t n_ranks)
{
    struct fc_prediction *p = &alone->prediction;
    memcpy(alone->rank_finish_s, both->rank_finish_s, n_ranks * sizeof *alone->rank_finish_s);
    memcpy(alone->rank_path_compute_s, both->rank_path_compute_s, n_ranks * sizeof *alone->rank_path_compute_s);
    memcpy(alone->rank_waiting_s, both->rank_waiting_s, n_ranks * sizeof *alone->rank_waiting_s);
    p->time_s = fmax(end_s, p->bound_s); /* equal but for rounding when nothing meets */
    fc_replay_split(alone, n_ranks);
    p->percent_of_peak = p->time_s > 0 ? 100 * p->bound_s / p->time_s : 100;
    alone->p2p_wait_s = alone->collective_s = alone->link_wait_s = NAN;
}

enum fc_code fc_replay_beside(const struct fc_network *net, const struct fc_trace *job,
                              const struct fc_placement *placement, const struct fc_trace *other,
                              const struct fc_placement *other_placement, const struct fc_replay_settings *settings,
                              struct fc_replay *replay, struct fc_beside *beside, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct fc_replay alone = {0};
    memset(replay, 0, sizeof *replay);
    memset(beside, 0, sizeof *beside);
    struct fc_replay_settings by_itself = *settings;
    by_itself.timeline = NULL;
    if (check(job, other, settings, st) || fc_replay_run(net, other, other_placement, &by_itself, &alone, st))
        return st->code;
    beside->other_alone_s = alone.prediction.time_s;
    fc_replay_free(&alone);
    if (!(beside->other_alone_s > 0))
        return fc_refuse(st, FC_INPUT, "%s takes no time: nothing to run beside", other->file);
    if (fc_replay_run(net, job, placement, &by_itself, replay, st)) return st->code;
    beside->alone_s = replay->prediction.time_s;
    struct part p[2] = {{job, 0, 1, 0, 1, finalizes(job), false},
                        {other, job->n_ranks, 1 + job->n_comms, job->n_lists, 1, finalizes(other), true}};
    p[1].runs = (uint64_t)fmin(1e12, ceil(1.25 * beside->alone_s / beside->other_alone_s) + 1);
    uint32_t *node = fc_alloc(&scratch, (size_t)job->n_ranks + other->n_ranks, sizeof *node, st);
    for (uint32_t r = 0; node && r < job->n_ranks; r++) node[r] = placement->node[r];
    for (uint32_t r = 0; node && r < other->n_ranks; r++) node[job->n_ranks + r] = other_placement->node[r];
    for (bool lasts = false; node && !lasts && !st->code; p[1].runs *= 2) {
        struct fc_replay both = {0};
        double end_s;
        if (!run_both(net, p, settings, node, &both, &end_s, &lasts, st) && lasts) {
            adopt(replay, &both, end_s, job->n_ranks);
            beside->runs = p[1].runs;
        }
        fc_replay_free(&both);
    }
    fc_arena_free(&scratch);
    if (st->code) fc_replay_free(replay);
    return st->code;
}
