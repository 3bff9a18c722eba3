/* replay.c - the time of a job from its trace: every rank has a clock, every message crosses the links of
 * its route.
 *
 * Model. Computation recorded between calls is scaled; end points follow LogGOPS (replay_ends.c); messages
 * cut through links that carry one message at a time (replay_links.c) on paths of the machine's routing
 * (replay_routes.c); collective calls become the rounds of their algorithms (collective.c). The trace
 * fixes who matches whom, so two runs differ in times only:
 *     ideal       every message meets free links
 *     contention  messages wait for links held by others
 * With loggops the network is L and G alone, as LogGOPSim has it (Hoefler et al., HPDC'10): a message sent
 * at t occupies its sender's CPU until t + o + (n - 1) O and card until t + g + (n - 1) G, arrives at t +
 * o + L, and costs the receiver o + (n - 1) max(O, G).
 *
 *     time_s         the last rank's end, or the last arrival if that is later
 *     computation_s  scaled computation, mean over ranks
 *     communication_s = time_s - computation_s: overheads, transit and waiting of the mean rank
 *     bound_s        max(ideal run; for fixed routes the busiest link's wire bytes / bandwidth, for adaptive routing
 *                    the cut bound of the node traffic). The first holds because the contended run only adds waits
 *                    to the same max-plus recursion, the others because all traffic has crossed at the end
 *     binds          the greatest part of the critical path, the chain of events that ends at time_s: computation,
 *                    software (overheads, gaps), link (serialisation, waiting for links), latency (the rest)
 *     bottleneck     the link that is busy longest, whatever binds
 *
 * Limits: the model's error against machines is not known (error_percent NaN). Receives cost CPU time in
 * the call that completes them, also when the message came earlier (LogGOPSim charges it at arrival); a
 * nonblocking collective does not slow its rank; one-sided data is counted but nobody waits for it;
 * blocked messages hold no buffers upstream; matching order is the recorded one, also where the program
 * would have taken another message. */
#include "solvers/load_internal.h"
#include "solvers/replay.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const fc_network_model_names[] = {"ideal", "contention", NULL};

/* ---- what is replayed ---- */

static enum fc_code check(const struct fc_job *job, const struct fc_placement *placement)
{
    const struct fc_trace *t = job->trace;
    if (job->settings->loggops) {
        if (job->settings->network != FC_NET_IDEAL)
            return fc_refuse(job->st, FC_INPUT,
                             "LogGOPS parameters replace the network, so there is no contention (use "
                             "the ideal network)");
        return FC_OK;
    }
    if (placement && placement->n_tasks != t->n_ranks)
        return fc_refuse(job->st, FC_INPUT,
                         "the mapping places %" PRIu32 " tasks, the trace has %" PRIu32 " ranks",
                         placement->n_tasks, t->n_ranks);
    if (!placement && t->n_ranks > fc_machine_cores(job->net))
        return fc_refuse(job->st, FC_INPUT, "the trace has %" PRIu32 " ranks, the machine %" PRIu64 " cores",
                         t->n_ranks, fc_machine_cores(job->net));
    for (uint32_t r = 0; placement && r < t->n_ranks; r++)
        if (placement->node[r] >= job->net->n_nodes)
            return fc_refuse(job->st, FC_INPUT,
                             "rank %" PRIu32 " is mapped to node %" PRIu32 " (the machine has %" PRIu32
                             " nodes)",
                             r, placement->node[r], job->net->n_nodes);
    return FC_OK;
}

static enum fc_code place(struct fc_job *job, const struct fc_placement *placement)
{
    if (job->settings->loggops) return FC_OK;
    job->node = placement ? placement->node : NULL;
    if (!job->node) {
        uint32_t *node = fc_alloc(&job->arena, job->trace->n_ranks, sizeof *node, job->st);
        if (!node) return job->st->code;
        for (uint32_t r = 0; r < job->trace->n_ranks; r++)
            node[r] = (uint32_t)(r / (uint64_t)job->net->machine->cores_per_node);
        job->node = node;
    }
    const struct fc_machine *m = job->net->machine;
    job->packet_bytes = m->packet.max_bytes > m->packet.header_bytes
                            ? m->packet.max_bytes - m->packet.header_bytes
                            : m->router.flit_bytes;
    job->local_s_per_byte = 1 / m->classes[fc_injection_class(m)].bandwidth_bytes_per_s;
    return fc_routes_start(&job->routes, job->net, job->settings->background_bytes_per_s, job->st);
}

/* Numbers the ranks' own messages, senders in order (part[] holds the matches before and the numbers
 * after), and counts requests. */
static void number_rank(struct fc_job *job, uint32_t r)
{
    const struct fc_trace *t = job->trace;
    int64_t last = -1;
    for (uint64_t i = t->first_event[r]; i < t->first_event[r + 1]; i++) {
        const struct fc_event *e = &t->events[i];
        last = e->request > last ? e->request : last;
        if (e->op == FC_OP_WAIT && e->n_list > job->longest_wait) job->longest_wait = e->n_list;
        bool sends = e->op == FC_OP_SEND || e->op == FC_OP_ISEND, moves = e->op == FC_OP_RMA;
        if (!sends && !moves) continue;
        bool fetches = moves && e->mode == FC_MOVE_GET;
        uint32_t peer = (uint32_t)e->peer;
        if (sends) job->part[job->part[i]] = job->n_messages;
        job->part[i] = job->n_messages;
        job->message[job->n_messages++] =
            (struct fc_message){fetches ? peer : r, fetches ? r : peer, (double)e->bytes, 0};
        if (moves && e->mode == FC_MOVE_UPDATE)
            job->message[job->n_messages++] = (struct fc_message){peer, r, (double)e->bytes, 0};
    }
    job->first_request[r + 1] = job->first_request[r] + (uint64_t)(last + 1);
}

static enum fc_code number_messages(struct fc_job *job)
{
    const struct fc_trace *t = job->trace;
    job->first_request = fc_alloc(&job->arena, (size_t)t->n_ranks + 1, sizeof *job->first_request, job->st);
    job->message = fc_alloc(&job->arena, 2 * t->first_event[t->n_ranks], sizeof *job->message, job->st);
    if (!job->first_request || !job->message)
        return job->st->code; /* room for all; memory is used as it is touched */
    job->longest_wait = 1;
    for (uint32_t r = 0; r < t->n_ranks; r++) number_rank(job, r);
    return FC_OK;
}

static void count_calls(struct fc_job *job)
{
    job->n_expected = job->n_messages + 1;
    for (uint32_t c = 0; c < job->calls.n_calls; c++)
        job->n_expected += job->calls.schedules[job->calls.calls[c].schedule].n_messages;
    for (uint32_t k = 0; k < job->calls.n_schedules; k++) {
        const struct fc_call_schedule *s = &job->calls.schedules[k];
        for (uint32_t m = 0; m < s->n; m++)
            if (s->first_step[m + 1] - s->first_step[m] > job->longest_wait)
                job->longest_wait = (uint32_t)(s->first_step[m + 1] - s->first_step[m]);
    }
}

static enum fc_code prepare(struct fc_job *job, const struct fc_placement *placement)
{
    if (check(job, placement) || place(job, placement)) return job->st->code;
    if (fc_trace_match(job->trace, &job->arena, &job->part, job->st) || number_messages(job))
        return job->st->code;
    if (fc_job_calls_find(job->trace, job->settings->collectives, job->part, &job->calls, job->st)) return job->st->code;
    count_calls(job);
    return FC_OK;
}

/* ---- results ---- */

static enum fc_code report_ranks(const struct fc_run *run, struct fc_replay *replay)
{
    const struct fc_job *job = run->job;
    const struct fc_trace *t = job->trace;
    replay->rank_finish_s = fc_alloc(&replay->arena, t->n_ranks, sizeof(double), job->st);
    replay->rank_compute_s = fc_alloc(&replay->arena, t->n_ranks, sizeof(double), job->st);
    if (job->st->code) return job->st->code;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        replay->rank_finish_s[r] = run->strand[r].clock_s;
        replay->rank_compute_s[r] = run->strand[r].compute_s;
        replay->prediction.computation_s += replay->rank_compute_s[r] / t->n_ranks;
    }
    replay->p2p_wait_s = run->total.p2p_wait_s / t->n_ranks;
    replay->collective_s = run->total.collective_s / t->n_ranks;
    replay->link_wait_s = run->total.link_wait_s;
    replay->n_messages = run->n_messages;
    return FC_OK;
}

/* Copies the links' totals; returns the greatest busy time and its link (FC_NONE: no link carried
 * anything). */
static double report_links(const struct fc_run *run, struct fc_replay *replay, uint32_t *busiest)
{
    uint32_t n = run->link ? run->job->net->n_links : 0;
    double most = 0;
    *busiest = FC_NONE;
    replay->link_bytes = fc_alloc(&replay->arena, n, sizeof(double), run->job->st);
    replay->link_busy_s = fc_alloc(&replay->arena, n, sizeof(double), run->job->st);
    for (uint32_t l = 0; !run->job->st->code && l < n; l++) {
        replay->link_bytes[l] = run->link[l].bytes;
        replay->link_busy_s[l] = run->link[l].busy_s;
        if (run->link[l].busy_s <= most) continue;
        most = run->link[l].busy_s;
        *busiest = l;
    }
    return most;
}

/* The cut bound of the traffic that the run sent between nodes. */
static enum fc_code cut_bound(const struct fc_job *job, double *bound_s)
{
    struct fc_arena scratch = {0};
    struct fc_node_demand nodes = {.n = job->routes.n_routes};
    nodes.src = fc_alloc(&scratch, nodes.n, sizeof *nodes.src, job->st);
    nodes.dst = fc_alloc(&scratch, nodes.n, sizeof *nodes.dst, job->st);
    nodes.bytes = fc_alloc(&scratch, nodes.n, sizeof *nodes.bytes, job->st);
    for (size_t i = 0; !job->st->code && i < nodes.n; i++) {
        nodes.src[i] = job->routes.route[i].src;
        nodes.dst[i] = job->routes.route[i].dst;
        nodes.bytes[i] = job->routes.route[i].wire_bytes;
    }
    if (!job->st->code)
        fc_cut_bound(job->net, &nodes, job->settings->background_bytes_per_s, bound_s, job->st);
    fc_arena_free(&scratch);
    return job->st->code;
}

/* The greatest part of the chain of events that ends last. */
static const char *what_binds(const struct fc_run *run)
{
    const struct fc_chain *c = &run->chain;
    double latency_s = run->time_s - c->computation_s - c->software_s - c->link_s;
    if (c->computation_s >= fmax(c->software_s, fmax(c->link_s, latency_s))) return "computation";
    if (c->link_s >= fmax(c->software_s, latency_s)) return "link";
    return c->software_s >= latency_s ? "software" : "latency";
}

static enum fc_code report(const struct fc_run *run, double ideal_s, struct fc_replay *replay)
{
    const struct fc_job *job = run->job;
    struct fc_prediction *p = &replay->prediction;
    if (report_ranks(run, replay)) return job->st->code;
    double link_s = report_links(run, replay, &p->bottleneck);
    if (job->st->code) return job->st->code;
    p->time_s = run->time_s;
    p->communication_s = p->time_s - p->computation_s;
    p->bound_s = ideal_s;
    if (job->settings->network == FC_NET_CONTENTION) {
        if (job->net->machine->routing->adaptive && cut_bound(job, &link_s)) return job->st->code;
        p->bound_s = fmin(fmax(ideal_s, link_s), p->time_s); /* equal but for rounding when nothing waits */
    }
    p->percent_of_peak = p->time_s > 0 ? 100 * p->bound_s / p->time_s : 100;
    p->error_percent = p->network_s = NAN;
    snprintf(p->why, sizeof p->why, "%s",
             job->settings->network == FC_NET_CONTENTION ? "replays are not compared with the kernel"
                                                         : "an ideal network is no machine's");
    p->bottleneck_bytes = p->bottleneck == FC_NONE ? 0 : replay->link_bytes[p->bottleneck];
    p->binds = what_binds(run);
    p->local_bytes = run->total.local_bytes;
    p->network_bytes = run->total.network_bytes;
    return FC_OK;
}

/* ---- the runs ---- */

static enum fc_code replay_job(struct fc_job *job, struct fc_replay *replay)
{
    struct fc_run run;
    enum fc_code code = fc_run_start(&run, job);
    if (!code)
        code = fc_run_all(&run, true); /* the bound of a contended run, and a quick look for deadlocks */
    double ideal_s = run.time_s;
    if (!code && job->settings->network == FC_NET_CONTENTION) code = fc_run_all(&run, false);
    if (!code) code = report(&run, ideal_s, replay);
    fc_run_free(&run);
    return code;
}

enum fc_code fc_replay_run(const struct fc_network *net, const struct fc_trace *trace,
                           const struct fc_placement *placement, const struct fc_replay_settings *settings,
                           struct fc_replay *replay, struct fc_status *st)
{
    struct fc_job job = {.net = net, .trace = trace, .settings = settings, .st = st};
    memset(replay, 0, sizeof *replay);
    enum fc_code code = prepare(&job, placement);
    if (!code) code = replay_job(&job, replay);
    fc_routes_free(&job.routes);
    fc_job_calls_free(&job.calls);
    fc_arena_free(&job.arena);
    if (code) fc_replay_free(replay);
    return code;
}

void fc_replay_free(struct fc_replay *replay)
{
    fc_arena_free(&replay->arena);
    memset(replay, 0, sizeof *replay);
}
