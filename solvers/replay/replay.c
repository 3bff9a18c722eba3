/* replay.c - the time of a job from its trace: every rank has a clock, every message crosses the links of
 * its route.
 *
 * Model. Computation recorded between calls is scaled; end points follow LogGOPS (replay_ends.c); collective
 * calls become the rounds of their algorithms (collective.c); messages cross an ideal network (replay_net.c)
 * or one in which they meet (transit.h). Programs are replayed as they are read (replay_ranks.c), in memory
 * that what is open at once needs: messages, requests, calls in progress, communicators. Graphs are replayed
 * in order of time (replay_graph.c). With loggops the network is L and G alone, as LogGOPSim has it (Hoefler
 * et al., HPDC'10): a message sent at t occupies its sender's CPU until t + o + (n - 1) O and card until t +
 * g + (n - 1) G, arrives at t + o + L, and costs the receiver o + (n - 1) max(O, G).
 *
 *     time_s         the last rank's end, or the last arrival if that is later
 *     computation_s  scaled computation, mean over ranks
 *     waiting_s      mean over ranks of the time that each does nothing because the path to what it waits for has more
 *                    computation than its own (replay_ends.c); from its end on, the path to the last rank's end
 *     communication_s = time_s - computation_s - waiting_s: overheads, transit, and what messages of others hold up
 *     bound_s        below; percent_of_peak = bound_s / time_s
 *     binds          the greatest part of the critical path, the chain of events that ends at time_s:
 *                    computation, software (overheads, gaps), link (serialisation, waiting for links),
 *                    latency (the rest)
 *     bottleneck     the link that is busy longest, whatever binds
 *
 * Bound: the greater of two. (1) The same run on an ideal network, computed beside it with the run's own
 * matches: once it is fixed who matches whom, a run is a max-plus recursion over its arrivals, and no message
 * arrives before it would alone. (With receives from anyone another match could be faster: the bound is that
 * of this one.) Of a graph it is the longest path of its dependencies, as if processors and cards were free.
 * (2) For fixed routes the busiest link's wire bytes / bandwidth, for adaptive routing the cut bound of the
 * node traffic: all of it has crossed at the end.
 *
 * Limits: error_percent is NaN here; replay_error.c states what the machine's calibration knows of it. Receives of programs cost CPU
 * time in the call that completes them, also when the message came earlier (LogGOPSim charges it at arrival);
 * a nonblocking collective does not slow its rank; one-sided data is counted but nobody waits for it; blocked
 * messages hold no buffers upstream. */
#include "solvers/replay/replay_calls.h"
#include "solvers/replay/replay_job.h"
#include "solvers/replay/replay_match.h"
#include "solvers/replay/replay_net.h"
#include "solvers/replay/replay_report.h"
#include "solvers/replay/replay_run.h"
#include "solvers/replay/replay_source.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        return fc_refuse(job->st, FC_INPUT, "the mapping places %" PRIu32 " tasks, the trace has %" PRIu32 " ranks",
                         placement->n_tasks, t->n_ranks);
    if (!placement && t->n_ranks > fc_machine_cores(job->net))
        return fc_refuse(job->st, FC_INPUT, "the trace has %" PRIu32 " ranks, the machine %" PRIu64 " cores",
                         t->n_ranks, fc_machine_cores(job->net));
    for (uint32_t r = 0; placement && r < t->n_ranks; r++)
        if (placement->node[r] >= job->net->n_nodes)
            return fc_refuse(job->st, FC_INPUT,
                             "rank %" PRIu32 " is mapped to node %" PRIu32 " (the machine has %" PRIu32 " nodes)", r,
                             placement->node[r], job->net->n_nodes);
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
    return FC_OK;
}

/* Where a node's memory is shared: reductions in it are no faster than a task's share, on the fullest node. */
static enum fc_code share_memory(const struct fc_job *job, struct fc_software *software)
{
    double s_per_byte = 0; /* of a task where it is most */
    if (job->settings->loggops || !fc_shares_memory(job->net->machine)) return FC_OK;
    uint32_t *tasks = calloc(job->net->n_nodes, sizeof *tasks);
    if (!tasks) return fc_out_of_memory(job->st, "the tasks of each node");
    for (uint32_t r = 0; r < job->trace->n_ranks; r++)
        if (++tasks[job->node[r]] > 1)
            s_per_byte = fmax(s_per_byte, tasks[job->node[r]] / fc_node_memory_bandwidth(job->net, job->node[r]));
    free(tasks);
    double *reduce_s = &software->reduce_memory_per_byte_s;
    if (*reduce_s > 0) *reduce_s = fmax(*reduce_s, s_per_byte);
    return FC_OK;
}

static enum fc_code replay_job(struct fc_job *job, struct fc_replay *replay)
{
    struct fc_run run = {.job = job, .timeline = job->settings->timeline, .adjoint = job->settings->adjoint};
    uint32_t n_ranks = job->trace->n_ranks;
    run.finish_s = fc_alloc(&run.arena, n_ranks, sizeof *run.finish_s, job->st);
    run.compute_s = fc_alloc(&run.arena, n_ranks, sizeof *run.compute_s, job->st);
    run.path_compute_s = fc_alloc(&run.arena, n_ranks, sizeof *run.path_compute_s, job->st);
    run.waiting_s = fc_alloc(&run.arena, n_ranks, sizeof *run.waiting_s, job->st);
    run.n_sent = fc_alloc(&run.arena, n_ranks, sizeof *run.n_sent, job->st);
    if (run.timeline) fc_timeline_start(run.timeline, n_ranks, job->st);
    fc_eager_start(&run.eager, job->settings->software.eager_partners, n_ranks, job->node, &run.arena, job->st);
    if (!job->st->code && !fc_match_start(&run.match, n_ranks, job->st) && !fc_calls_start(&run.calls, job) &&
        !fc_net_start(&run) && !(job->trace->graph ? fc_run_graph(&run) : fc_run_programs(&run)) &&
        !fc_report_replay(&run, replay) && run.timeline)
        fc_timeline_end(run.timeline, run.finish_s);
    for (struct fc_strand *s = run.all_beside; s; s = s->behind) free(s->hand);
    for (int v = 0; v < FC_VIEWS; v++) free(run.taken[v]);
    fc_net_stop(&run);
    if (run.calls.job) fc_calls_free(&run.calls);
    if (run.reader.job) fc_reader_free(&run.reader);
    fc_match_free(&run.match);
    fc_arena_free(&run.arena);
    return job->st->code;
}

enum fc_code fc_replay_source(const struct fc_network *net, struct fc_trace_source *source,
                              const struct fc_placement *placement, const struct fc_replay_settings *settings,
                              struct fc_replay *replay, struct fc_status *st)
{
    struct fc_replay_settings own = *settings;
    struct fc_job job = {.net = net, .trace = source->head, .source = source, .settings = &own, .st = st};
    memset(replay, 0, sizeof *replay);
    enum fc_code code = check(&job, placement);
    if (!code) code = place(&job, placement);
    if (!code) code = share_memory(&job, &own.software);
    if (!code) code = replay_job(&job, replay);
    fc_arena_free(&job.arena);
    if (code) fc_replay_free(replay);
    return code;
}

enum fc_code fc_replay_run(const struct fc_network *net, const struct fc_trace *trace,
                           const struct fc_placement *placement, const struct fc_replay_settings *settings,
                           struct fc_replay *replay, struct fc_status *st)
{
    struct fc_trace_source source;
    memset(replay, 0, sizeof *replay);
    if (fc_source_memory(trace, &source, st)) return st->code;
    enum fc_code code = fc_replay_source(net, &source, placement, settings, replay, st);
    fc_source_close(&source);
    return code;
}

void fc_replay_free(struct fc_replay *replay)
{
    fc_arena_free(&replay->arena);
    memset(replay, 0, sizeof *replay);
}
