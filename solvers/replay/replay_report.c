/* replay_report.c - from a finished run to its result: totals, the bound, what binds. */
#include "solvers/bound/bound.h"
#include "solvers/replay/replay_job.h"
#include "solvers/replay/replay_match.h"
#include "solvers/replay/replay_report.h"
#include "solvers/replay/replay_run.h"

#include <math.h>

static enum fc_code report_ranks(const struct fc_run *run, struct fc_replay *replay)
{
    const struct fc_job *job = run->job;
    uint32_t n_ranks = job->trace->n_ranks;
    replay->rank_finish_s = fc_alloc(&replay->arena, n_ranks, sizeof(double), job->st);
    replay->rank_compute_s = fc_alloc(&replay->arena, n_ranks, sizeof(double), job->st);
    replay->rank_path_compute_s = fc_alloc(&replay->arena, n_ranks, sizeof(double), job->st);
    if (run->waiting_s) replay->rank_waiting_s = fc_alloc(&replay->arena, n_ranks, sizeof(double), job->st);
    if (job->st->code) return job->st->code;
    for (uint32_t r = 0; r < n_ranks; r++) {
        if (run->waiting_s) replay->rank_waiting_s[r] = run->waiting_s[r];
        replay->rank_path_compute_s[r] = run->path_compute_s[r];
        replay->rank_finish_s[r] = run->finish_s[r];
        replay->rank_compute_s[r] = run->compute_s[r];
        replay->prediction.computation_s += replay->rank_compute_s[r] / n_ranks;
    }
    replay->p2p_wait_s = run->total.p2p_wait_s / n_ranks;
    replay->collective_s = run->total.collective_s / n_ranks;
    replay->link_wait_s = run->transit ? fc_transit_waited_s(run->transit) : 0;
    replay->n_messages = run->n_messages;
    replay->n_events = run->n_events;
    replay->n_uneven_calls = run->calls.n_uneven;
    fc_match_count(&run->match, &replay->n_unmatched_sends, &replay->n_unmatched_receives);
    return FC_OK;
}

void fc_replay_split(struct fc_replay *replay, uint32_t n_ranks)
{
    struct fc_prediction *p = &replay->prediction;
    double waiting_s = 0, rest_s = p->time_s - p->computation_s;
    uint32_t last = 0;
    p->waiting_s = NAN;
    p->communication_s = rest_s;
    p->anywhere_s = 0;
    if (!replay->rank_waiting_s) return;
    for (uint32_t r = 0; r < n_ranks; r++) {
        if (replay->rank_finish_s[r] > replay->rank_finish_s[last]) last = r;
        p->anywhere_s = fmax(p->anywhere_s, replay->rank_compute_s[r]); /* one processor a rank */
    }
    for (uint32_t r = 0; r < n_ranks; r++) {
        double more_s = replay->rank_path_compute_s[last] - replay->rank_path_compute_s[r];
        double idle_s = replay->rank_finish_s[last] - replay->rank_finish_s[r];
        waiting_s += (replay->rank_waiting_s[r] + fmax(0, fmin(more_s, idle_s))) / n_ranks;
    }
    p->waiting_s = fmax(0, fmin(waiting_s, rest_s)); /* beyond either by rounding, or by --period's extrapolation */
    p->communication_s = rest_s - p->waiting_s;
}

/* The links' totals; returns the greatest busy time and its link (FC_NONE: no link carried anything). */
static double report_links(const struct fc_run *run, struct fc_replay *replay, uint32_t *busiest)
{
    const struct fc_job *job = run->job;
    uint32_t n = job->settings->loggops ? 0 : job->net->n_links;
    struct fc_transit_busiest most = {0, FC_NONE};
    replay->link_bytes = fc_alloc(&replay->arena, n, sizeof(double), job->st);
    replay->link_busy_s = fc_alloc(&replay->arena, n, sizeof(double), job->st);
    if (!job->st->code && n && run->transit)
        fc_transit_links(run->transit, replay->link_bytes, replay->link_busy_s, &most);
    *busiest = most.link;
    return most.busy_s;
}

/* Raises the bound to what the flow program proves, where that is cheap. */
static enum fc_code flow_bound(const struct fc_job *job, const struct fc_node_demand *nodes, const double *background,
                               double *bound_s)
{
    struct fc_flow_settings settings = fc_flow_cheap(job->net);
    struct fc_flow_bound flow;
    struct fc_status why = {0};
    settings.background_bytes_per_s = background;
    if (!fc_flow_bound_solve(job->net, nodes, &settings, &flow, &why)) {
        *bound_s = fmax(*bound_s, flow.lower_s);
        fc_flow_bound_free(&flow);
    } else if (why.code != FC_NO) {
        *job->st = why;
    }
    return job->st->code;
}

/* The bound of the traffic that the run sent between nodes, by cuts and the flow program. */
static enum fc_code cut_bound(const struct fc_run *run, double *bound_s)
{
    const struct fc_job *job = run->job;
    const struct fc_transit_ways *ways = &run->transit->ways;
    struct fc_arena scratch = {0};
    struct fc_node_demand nodes = {.n = ways->n_routes};
    nodes.src = fc_alloc(&scratch, nodes.n, sizeof *nodes.src, job->st);
    nodes.dst = fc_alloc(&scratch, nodes.n, sizeof *nodes.dst, job->st);
    nodes.bytes = fc_alloc(&scratch, nodes.n, sizeof *nodes.bytes, job->st);
    for (size_t i = 0; !job->st->code && i < nodes.n; i++) {
        nodes.src[i] = (uint32_t)(ways->route[i].key >> 32);
        nodes.dst[i] = (uint32_t)ways->route[i].key;
        nodes.bytes[i] = ways->route[i].wire_bytes;
    }
    bool packets = job->settings->network == FC_NET_FLIT; /* may gain on those of the background */
    const double *background = packets ? NULL : job->settings->background_bytes_per_s;
    if (!job->st->code && !fc_cut_bound(job->net, &nodes, background, bound_s, job->st))
        flow_bound(job, &nodes, background, bound_s);
    fc_arena_free(&scratch);
    return job->st->code;
}

/* The greatest part of the chain of events that ends last. */
static const char *what_binds(const struct fc_run *run, struct fc_replay *replay)
{
    const struct fc_chain *c = &run->chain;
    double latency_s = run->time_s[FC_REAL] - c->computation_s - c->software_s - c->link_s;
    replay->path_link_s = fmax(0, c->link_s);
    replay->path_latency_s = fmax(0, latency_s);
    replay->path_interference_s = c->interference_s;
    if (c->computation_s >= fmax(c->software_s, fmax(c->link_s, latency_s))) return "computation";
    if (c->link_s >= fmax(c->software_s, latency_s)) return "link";
    return c->software_s >= latency_s ? "software" : "latency";
}

enum fc_code fc_report_replay(struct fc_run *run, struct fc_replay *replay)
{
    const struct fc_job *job = run->job;
    struct fc_prediction *p = &replay->prediction;
    if (report_ranks(run, replay)) return job->st->code;
    double link_s = report_links(run, replay, &p->bottleneck);
    if (job->st->code) return job->st->code;
    p->time_s = run->time_s[FC_REAL];
    fc_replay_split(replay, job->trace->n_ranks);
    p->bound_s = p->time_s;
    if (job->settings->network != FC_NET_IDEAL) {
        if (job->net->machine->routing->adaptive && !job->settings->time_only && cut_bound(run, &link_s))
            return job->st->code;
        p->bound_s =
            fmin(fmax(run->time_s[FC_ALONE], link_s), p->time_s); /* equal but for rounding when nothing waits */
    }
    if (job->settings->time_only) p->bound_s = NAN;
    p->percent_of_peak = p->time_s > 0 ? 100 * p->bound_s / p->time_s : 100;
    p->error_percent = p->network_s = NAN;
    snprintf(p->why, sizeof p->why, "%s",
             job->settings->network == FC_NET_IDEAL  ? "an ideal network is no machine's"
             : job->settings->network == FC_NET_FLIT ? "a run of the kernel itself: nothing to compare with"
                                                     : "replays are not compared with the kernel");
    p->bottleneck_bytes = p->bottleneck == FC_NONE ? 0 : replay->link_bytes[p->bottleneck];
    p->binds = what_binds(run, replay);
    if (run->adjoint) run->adjoint->last = run->chain.node;
    replay->alone_s = run->time_s[run->views > 1 ? FC_ALONE : FC_REAL];
    replay->n_network_messages = run->n_network_messages;
    p->local_bytes = run->total.local_bytes;
    p->network_bytes = run->total.network_bytes;
    return FC_OK;
}
