/* replay_hardware.c - collective calls that the network itself carries out (struct fc_collective_hardware).
 *
 * No messages: the algorithm tells once, for calls of one communicator that are alike, when each member may
 * leave after the start. The start is when the last member has entered (together), or the root has; a member
 * leaves at the start + its time, or when it enters if that is later. Both views of a replay have a start of
 * their own. Payload that reaches other nodes counts as sent between nodes; it is on no link. */
#include "solvers/replay/replay_calls.h"
#include "solvers/replay/replay_job.h"
#include "solvers/replay/replay_run.h"

/* Payload to nodes other than the root's. */
static double to_other_nodes(const struct fc_calls *c, const struct fc_live_call *call, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    uint32_t n = 0;
    if (call->op != FC_OP_BCAST) return 0;
    bool *there = fc_alloc(&scratch, c->job->net->n_nodes, sizeof *there, st);
    for (uint32_t m = 0; there && m < call->n; m++) {
        bool *at = &there[c->job->node[call->member[m]]];
        n += !*at;
        *at = true;
    }
    fc_arena_free(&scratch);
    return n > 1 ? (n - 1) * call->bytes : 0;
}

static enum fc_code work_out(struct fc_calls *c, const struct fc_live_call *call, struct fc_hardware_times *h)
{
    const struct fc_job *job = c->job;
    struct fc_arena scratch = {0};
    uint32_t *node = fc_alloc(&scratch, call->n, sizeof *node, job->st);
    for (uint32_t m = 0; node && m < call->n; m++) node[m] = job->node[call->member[m]];
    struct fc_hardware_call what = {.net = job->net,
                                    .background = job->settings->background,
                                    .background_bytes_per_s = job->settings->background_bytes_per_s,
                                    .software = &job->settings->software,
                                    .n = call->n,
                                    .root = call->root,
                                    .node = node,
                                    .bytes = call->bytes};
    if (node) h->algorithm->hardware->times(&what, h->at_s, job->st);
    fc_arena_free(&scratch);
    return job->st->code;
}

enum fc_code fc_hardware_begin(struct fc_calls *c, struct fc_live_call *call,
                               const struct fc_collective_algorithm *algorithm)
{
    if (c->job->settings->loggops)
        return fc_refuse(c->job->st, FC_INPUT,
                         "%s by %s is carried out by the machine's network, which LogGOPS parameters replace",
                         fc_op_names[algorithm->op], algorithm->name);
    if (c->job->settings->adjoint)
        c->job->settings->adjoint->lost = true; /* of times nobody knows what they depend on */
    struct fc_hardware_times **link = &c->hardware, *h = *link;
    for (; h; link = &h->next, h = *link)
        if (h->algorithm == algorithm && h->comm == call->comm && h->root == call->root && h->bytes == call->bytes)
            break;
    if (!h) {
        h = fc_alloc(&c->arena, 1, sizeof *h + call->n * sizeof *h->at_s, c->job->st);
        if (!h) return c->job->st->code;
        h->algorithm = algorithm;
        h->comm = call->comm;
        h->root = call->root;
        h->bytes = call->bytes;
        h->network_bytes = to_other_nodes(c, call, c->job->st);
        if (work_out(c, call, h)) return c->job->st->code;
    } else {
        *link = h->next;
    }
    h->next = c->hardware; /* the latest first */
    c->hardware = h;
    call->hardware = h;
    return FC_OK;
}

/* The member enters; from the start on nobody waits. */
static void enter(struct fc_run *run, struct fc_strand *s)
{
    struct fc_live_call *call = s->call;
    bool together = call->hardware->algorithm->hardware->together, counts = together || s->member == call->root;
    call->n_entered++;
    if (counts && s->at[FC_REAL].clock_s >= call->start_s[FC_REAL]) call->chain = s->chain;
    for (int v = 0; counts && v < run->views; v++) call->start_s[v] = fc_later(call->start_s[v], s->at[v].clock_s);
    if (call->started || (together ? call->n_entered + call->n_gone < call->n : !counts)) return;
    call->started = true;
    run->n_messages++;
    run->total.network_bytes += call->hardware->network_bytes;
    if (run->timeline) {
        double last_s = 0;
        for (uint32_t m = 0; m < call->n; m++) last_s = fc_later(last_s, call->hardware->at_s[m]);
        fc_timeline_moves(run->timeline, call->member[0], call->hardware->network_bytes, call->start_s[FC_REAL],
                          call->start_s[FC_REAL] + last_s);
    }
    for (struct fc_strand *w = call->waiting, *next; w; w = next) {
        next = w->next_ready;
        fc_wake(run, w);
    }
    call->waiting = NULL;
}

bool fc_hardware_play(struct fc_run *run, struct fc_strand *s)
{
    struct fc_live_call *call = s->call;
    if (!s->in_round) {
        s->in_round = true;
        enter(run, s);
        if (!call->started) {
            s->pending = 1;
            s->next_ready = call->waiting;
            call->waiting = s;
            return false;
        }
    }
    s->in_round = false;
    for (int v = 0; v < run->views; v++) {
        double over_s = call->start_s[v] + call->hardware->at_s[s->member];
        if (v == FC_REAL && over_s > s->at[v].clock_s) {
            if (s->main || run->graph) fc_rank_idles(run, s->rank, s->at[v].clock_s, over_s, &s->chain, &call->chain);
            s->chain = call->chain;
        }
        s->at[v].clock_s = fc_later(s->at[v].clock_s, over_s);
    }
    return true;
}

static bool is_waiting(const struct fc_live_call *call, uint32_t member)
{
    for (const struct fc_strand *w = call->waiting; w; w = w->next_ready)
        if (w->member == member) return true;
    return false;
}

uint32_t fc_hardware_waits_for(const struct fc_strand *s)
{
    const struct fc_live_call *call = s->call;
    if (!call->hardware->algorithm->hardware->together) return call->member[call->root];
    for (uint32_t m = 0; m < call->n; m++)
        if (!is_waiting(call, m)) return call->member[m];
    return s->rank;
}
