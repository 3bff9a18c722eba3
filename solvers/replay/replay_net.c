/* replay_net.c - what lies between the end points.
 *
 * On ideal networks every message is alone: what the transit says of its way (fc_transit_alone_s) is its
 * arrival, at once. With loggops the network is L alone. Inside a node a message crosses its memory at the
 * injection bandwidth without queueing, or, where that is shared, with the others there. Everything else goes through the transit (transit.h), which also
 * tells when each message would have arrived alone: that is the other view. */
#include "solvers/replay/replay_dense.h"
#include "solvers/replay/replay_net.h"

#include <math.h>
#include <stdlib.h>

/* Where tasks have ports: those of a node in blocks of its ranks, as Cray MPICH's policy BLOCK has them (intro_mpi(3),
 * MPICH_OFI_NIC_POLICY). */
static enum fc_code bind_ports(struct fc_run *run)
{
    const struct fc_job *job = run->job;
    const struct fc_machine *m = job->net->machine;
    uint32_t n = job->trace->n_ranks;
    if (m->port_of != FC_PORT_OF_TASK || m->ports < 2) return FC_OK;
    uint32_t *tasks = calloc(job->net->n_nodes, sizeof *tasks), *seen = calloc(job->net->n_nodes, sizeof *seen);
    run->port = fc_alloc(&run->arena, n, sizeof *run->port, job->st);
    if (!tasks || !seen) fc_out_of_memory(job->st, "the tasks of each node");
    for (uint32_t r = 0; r < n && !job->st->code; r++) tasks[job->node[r]]++;
    for (uint32_t r = 0; r < n && !job->st->code; r++)
        run->port[r] = (uint32_t)((uint64_t)seen[job->node[r]]++ * (uint64_t)m->ports / tasks[job->node[r]]);
    free(tasks);
    free(seen);
    return job->st->code;
}

enum fc_code fc_net_start(struct fc_run *run)
{
    const struct fc_replay_settings *settings = run->job->settings;
    run->views = settings->network == FC_NET_IDEAL ? 1 : 2;
    if (settings->loggops) return FC_OK;
    if (bind_ports(run)) return run->job->st->code;
    struct fc_transit_settings transit = {.network = settings->network,
                                          .background_bytes_per_s = settings->background_bytes_per_s,
                                          .background = settings->background,
                                          .made = settings->calibration,
                                          .adjoint = settings->adjoint};
    return fc_transit_open(run->job->net, &transit, &run->transit, run->job->st);
}

void fc_net_stop(struct fc_run *run)
{
    if (run->transit) fc_transit_close(run->transit);
    free(run->way);
    free(run->free_way);
}

static void arrive(struct fc_run *run, struct fc_mail *mail, const double *time_s)
{
    for (int v = 0; v < run->views; v++) mail->arrived_s[v] = time_s[v];
    mail->state |= FC_ARRIVED;
    mail->chain.link_s += fc_later(0, time_s[FC_REAL] - mail->sent_s[FC_REAL]);
    fc_run_ends(run, time_s[FC_REAL], run->views > 1 ? time_s[FC_ALONE] : 0, &mail->chain);
    if (mail->row) {
        fc_dense_arrived(run, mail);
        return;
    }
    if (run->arrived) {
        run->arrived(run, mail);
        return;
    }
    if (run->match.inbox && !(mail->state & FC_EMBEDDED)) fc_match_stale(&run->match, mail->to);
    fc_wake(run, mail->sender);
    fc_wake(run, mail->receiver);
    mail->sender = mail->receiver = NULL;
}

/* Looks up its route; false: there is none, the status says why. */
static bool find_route(struct fc_run *run, struct fc_mail *mail)
{
    struct fc_transit_ways *ways = &run->transit->ways;
    uint32_t src = run->job->node[mail->from], dst = run->job->node[mail->to];
    if (mail->route != FC_NONE && ways->route[mail->route].key == ((uint64_t)src << 32 | dst)) return true;
    mail->route = fc_transit_route_find(ways, src, dst);
    return mail->route != FC_NONE; /* else refused; the status says why */
}

double fc_mail_announced_s(void *context, struct fc_mail *mail)
{
    struct fc_run *run = context;
    const struct fc_job *job = run->job;
    if (job->settings->loggops) return mail->sent_s[FC_REAL] + job->settings->loggops_latency_s;
    if (job->node[mail->from] == job->node[mail->to]) return mail->sent_s[FC_REAL];
    if (!find_route(run, mail)) return INFINITY;
    return mail->sent_s[FC_REAL] + run->transit->ways.route[mail->route].latency_s;
}

/* The later of what a message waits for; *latency_s: of its announcement before. */
static uint32_t leaves_after(const struct fc_run *run, const struct fc_mail *mail, double *latency_s)
{
    bool sent = !(mail->state & FC_RENDEZVOUS) || mail->sent_s[FC_REAL] + *latency_s >= mail->posted_s[FC_REAL];
    if (!sent || !run->adjoint) *latency_s = 0;
    return sent ? mail->sent_node : mail->posted_node;
}

static bool depart(struct fc_run *run, struct fc_mail *mail, const double *time_s)
{
    const struct fc_job *job = run->job;
    uint32_t slot;
    if (run->n_free_way) {
        slot = run->free_way[--run->n_free_way];
    } else {
        if (run->n_way == run->way_capacity) {
            size_t more = run->way_capacity ? 2 * run->way_capacity : 256;
            if (more > UINT32_C(1) << 26)
                return fc_refuse(job->st, FC_NO, "more than 2^26 messages are under way at once"), false;
            struct fc_mail **way = realloc(run->way, more * sizeof(struct fc_mail *));
            if (way) run->way = way;
            uint32_t *free_way = realloc(run->free_way, more * sizeof *free_way);
            if (free_way) run->free_way = free_way;
            if (!way || !free_way) return fc_out_of_memory(job->st, "messages under way"), false;
            run->way_capacity = more;
        }
        slot = run->n_way++;
    }
    /* Messages that leave at the same time are ordered by sender and by the order in which it sent them. */
    uint64_t id = (uint64_t)mail->from << 38 | (uint64_t)(mail->number & 0xfff) << 26 | slot;
    run->way[slot] = mail;
    mail->state |= FC_NETWORK_HOLDS;
    if (run->adjoint) fc_adjoint_departs(run->adjoint, id, mail->chain.node);
    struct fc_transit_ports ports = {(mail->state & FC_LONG) != 0, run->port ? run->port[mail->from] : FC_NONE,
                                     run->port ? run->port[mail->to] : FC_NONE};
    return fc_transit_send(run->transit, id, mail->number, time_s[FC_REAL], job->node[mail->from], job->node[mail->to],
                           mail->bytes, mail->route, ports) == FC_OK;
}

void fc_mail_leave(struct fc_run *run, struct fc_mail *mail)
{
    struct fc_job *job = run->job;
    double time_s[FC_VIEWS] = {0};
    bool announced = mail->state & FC_RENDEZVOUS;
    run->n_messages++;
    if (job->settings->loggops) {
        run->total.network_bytes += mail->bytes;
        run->n_network_messages++;
        mail->chain.node = fc_node_after(run, mail->sent_node, FC_COST_LATENCY, 0, job->settings->loggops_latency_s);
        mail->sent_s[FC_REAL] += job->settings->loggops_latency_s;
        fc_mail_moves(run, mail, mail->sent_s[FC_REAL] - job->settings->loggops_latency_s, mail->sent_s[FC_REAL]);
        arrive(run, mail, mail->sent_s);
        return;
    }
    if (job->node[mail->from] == job->node[mail->to]) {
        double no_latency_s = 0;
        run->total.local_bytes += mail->bytes;
        mail->chain.node = leaves_after(run, mail, &no_latency_s);
        for (int v = 0; v < run->views; v++)
            time_s[v] = announced ? fc_later(mail->sent_s[v], mail->posted_s[v]) : mail->sent_s[v];
        if (run->views > 1 && fc_transit_shares_memory(run->transit)) {
            mail->route = FC_NONE;
            for (int v = 0; v < run->views; v++) mail->sent_s[v] = time_s[v];
            mail->arrived_s[FC_ALONE] = time_s[FC_ALONE] - time_s[FC_REAL];
            depart(run, mail, time_s);
            return;
        }
        uint32_t node = job->node[mail->from];
        double local_s = mail->bytes * fc_local_s_per_byte(job->net, node);
        mail->chain.software_s += local_s;
        mail->chain.node = fc_node_after(run, mail->chain.node, FC_COST_CLASS,
                                         (uint32_t)fc_node_injection_class(job->net, node), local_s);
        for (int v = 0; v < run->views; v++) mail->sent_s[v] = time_s[v] += local_s;
        arrive(run, mail, time_s);
        return;
    }
    if (!find_route(run, mail)) return;
    struct fc_transit_ways *ways = &run->transit->ways;
    struct fc_way_route *route = &ways->route[mail->route];
    double wire_bytes = fc_transit_wire_bytes(run->transit, mail->bytes), announced_s = route->latency_s;
    mail->chain.node = leaves_after(run, mail, &announced_s);
    if (announced)
        mail->chain.node = fc_node_after(run, mail->chain.node, FC_COST_LATENCY, 0, announced_s + route->latency_s);
    double start_s = fc_eager_start_s(&job->settings->software, mail->bytes, (mail->state & FC_LONG) != 0);
    mail->chain.software_s += start_s;
    mail->chain.node = fc_node_after(run, mail->chain.node, FC_COST_OTHER, 0, start_s);
    for (int v = 0; v < run->views; v++) {
        time_s[v] = mail->sent_s[v];
        if (announced) time_s[v] = fc_later(mail->sent_s[v] + route->latency_s, mail->posted_s[v]) + route->latency_s;
        time_s[v] += start_s;
        mail->sent_s[v] = time_s[v] + route->latency_s;
    }
    run->total.network_bytes += mail->bytes;
    run->n_network_messages++;
    route->wire_bytes += wire_bytes;
    if (run->views > 1) {
        mail->arrived_s[FC_ALONE] = time_s[FC_ALONE] - time_s[FC_REAL];
        depart(run, mail, time_s);
        return;
    }
    uint32_t way = fc_transit_way_over(ways, mail->route, mail->bytes, mail->number);
    if (way == FC_NONE) return;
    double leaves_s = time_s[FC_REAL];
    double port_s =
        fc_transit_port_s_per_byte(job->net, job->node[mail->from], job->node[mail->to], (mail->state & FC_LONG) != 0);
    time_s[FC_REAL] = fc_transit_alone_s(ways, way, leaves_s, mail->bytes, wire_bytes, port_s);
    if (run->adjoint) {
        const struct fc_transit_way *w = &ways->way[way];
        if (port_s > w->s_per_byte) run->adjoint->lost = true;
        mail->chain.node =
            fc_node_after(run, mail->chain.node, FC_COST_LATENCY, 0, fc_transit_head_s(ways, w, wire_bytes));
        if (w->narrow != FC_NONE)
            mail->chain.node =
                fc_node_after(run, mail->chain.node, FC_COST_LINK, w->narrow, wire_bytes * w->s_per_byte);
    }
    fc_mail_moves(run, mail, leaves_s, time_s[FC_REAL]);
    arrive(run, mail, time_s);
}

bool fc_net_next(struct fc_run *run, double until_s)
{
    struct fc_arrival arrival;
    bool found = false;
    if (run->views == 1 || fc_transit_next(run->transit, until_s, &arrival, &found) || !found) return false;
    uint32_t slot = (uint32_t)(arrival.id & 0x3ffffff);
    struct fc_mail *mail = run->way[slot];
    run->free_way[run->n_free_way++] = slot;
    if (run->adjoint) mail->chain.node = fc_adjoint_arrived(run->adjoint, arrival.id);
    /* in the other view it left as much earlier; nothing arrives before it would alone, but for rounding */
    double time_s[FC_VIEWS] = {arrival.time_s, fmin(arrival.alone_s, arrival.time_s) + mail->arrived_s[FC_ALONE]};
    if (__builtin_expect(run->timeline != NULL, 0) && mail->route != FC_NONE)
        fc_mail_moves(run, mail, mail->sent_s[FC_REAL] - run->transit->ways.route[mail->route].latency_s,
                      arrival.time_s);
    mail->chain.interference_s += arrival.interference * fc_later(0, arrival.time_s - mail->sent_s[FC_REAL]);
    arrive(run, mail, time_s);
    fc_mail_release(&run->match, mail, FC_NETWORK_HOLDS);
    return true;
}
