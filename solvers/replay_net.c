/* replay_net.c - what lies between the end points.
 *
 * Ideal networks are formulas: a message alone in the network that leaves at d has arrived at d + head
 * delays of its longest path + w max_l s_l / b_l for w wire bytes, of which the share s_l crosses link l
 * of bandwidth b_l. With loggops the network is L alone. Inside a node a message crosses its memory at
 * the injection bandwidth without queueing. Everything else is a transit (transit.h), which also tells
 * when each message would have arrived alone: that is the other view. A message of n packets uses min(n,
 * paths) of its route's paths, starting with another one each time. */
#include "solvers/load_internal.h"
#include "solvers/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum fc_code fc_net_start(struct fc_run *run)
{
    const struct fc_replay_settings *settings = run->job->settings;
    run->views = settings->network == FC_NET_IDEAL ? 1 : 2;
    if (settings->network == FC_NET_IDEAL) return FC_OK;
    struct fc_transit_settings transit = {.network = settings->network,
                                          .background_bytes_per_s = settings->background_bytes_per_s,
                                          .background = settings->background};
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
    if (run->arrived) {
        run->arrived(run, mail);
        return;
    }
    if (run->match.inbox && !(mail->state & FC_EMBEDDED)) fc_match_stale(&run->match, mail->to);
    fc_wake(run, mail->sender);
    fc_wake(run, mail->receiver);
    mail->sender = mail->receiver = NULL;
}

bool fc_mail_route(struct fc_run *run, struct fc_mail *mail)
{
    struct fc_routes *routes = &run->job->routes;
    uint32_t src = run->job->node[mail->from], dst = run->job->node[mail->to];
    if (mail->route != FC_NONE && routes->route[mail->route].src == src &&
        routes->route[mail->route].dst == dst)
        return true;
    struct fc_route *route = fc_routes_find(routes, src, dst);
    if (!route) return false; /* refused; the status says why */
    mail->route = (uint32_t)(route - routes->route);
    return true;
}

double fc_mail_announced_s(void *context, struct fc_mail *mail)
{
    struct fc_run *run = context;
    const struct fc_job *job = run->job;
    if (job->settings->loggops) return mail->sent_s[FC_REAL] + job->settings->loggops_latency_s;
    if (job->node[mail->from] == job->node[mail->to]) return mail->sent_s[FC_REAL];
    if (!fc_mail_route(run, mail)) return INFINITY;
    return mail->sent_s[FC_REAL] + job->routes.route[mail->route].latency_s;
}

/* Seconds a byte of a message that is spread over `used` of the route's paths from `first` on: of the link that its
 * shares together take longest. */
static double spread_s_per_byte(const struct fc_routes *routes, const struct fc_route *route, uint32_t first,
                                uint32_t used)
{
    const struct fc_path *path = routes->path + route->first_path;
    uint32_t n = route->n_paths;
    double slowest = 0;
    for (uint32_t i = 0; i < used; i++) {
        const struct fc_path *p = &path[(first + i) % n];
        for (uint32_t k = p->first; k < p->first + p->n; k++) {
            double share = 0;
            for (uint32_t j = 0; j < used; j++) {
                const struct fc_path *q = &path[(first + j) % n];
                for (uint32_t l = q->first; l < q->first + q->n; l++)
                    if (routes->link[l] == routes->link[k]) share += used == n ? q->share : 1.0 / used;
            }
            slowest = fc_later(slowest, share / fc_free_bandwidth(routes->net, routes->background, routes->link[k]));
        }
    }
    return slowest;
}

/* When it arrives alone after leaving at time 0, as transit_ideal.c has it; what it puts on its paths is counted. */
static double alone_s(struct fc_routes *routes, struct fc_route *route, double packet_bytes, double bytes,
                      double wire, uint64_t turn)
{
    struct fc_path *path = routes->path + route->first_path;
    uint32_t n = route->n_paths, used = n, first = 0;
    double head_s = 0, s_per_byte;
    if (n == 1) {
        path->wire_bytes += wire;
        path->bytes += bytes;
        return path->head_s + wire * path->s_per_byte;
    }
    if (bytes < n * packet_bytes) { /* fewer packets than paths: some of them, in turn */
        used = (uint32_t)fmax(1, ceil(bytes / packet_bytes));
        first = fc_transit_first_path(turn, n);
    }
    for (uint32_t i = 0; i < used; i++) {
        struct fc_path *p = &path[(first + i) % n];
        double share = used == n ? p->share : 1.0 / used;
        head_s = fc_later(head_s, p->head_s);
        p->wire_bytes += share * wire;
        p->bytes += share * bytes;
    }
    if (used == 1) {
        s_per_byte = path[first].s_per_byte;
    } else if (used < n) {
        s_per_byte = spread_s_per_byte(routes, route, first, used);
    } else {
        if (!(route->s_per_byte > 0)) route->s_per_byte = spread_s_per_byte(routes, route, 0, n);
        s_per_byte = route->s_per_byte;
    }
    return head_s + wire * s_per_byte;
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
            if (!way || !free_way)
                return fc_refuse(job->st, FC_NO, "out of memory for messages under way"), false;
            run->way_capacity = more;
        }
        slot = run->n_way++;
    }
    /* Messages that leave at the same time are ordered by sender and by the order in which it sent them. */
    uint64_t id = (uint64_t)mail->from << 38 | (uint64_t)(mail->number & 0xfff) << 26 | slot;
    run->way[slot] = mail;
    mail->state |= FC_NETWORK_HOLDS;
    return fc_transit_send_in_turn(run->transit, id, mail->number, time_s[FC_REAL], job->node[mail->from],
                                   job->node[mail->to], mail->bytes) == FC_OK;
}

void fc_mail_leave(struct fc_run *run, struct fc_mail *mail)
{
    struct fc_job *job = run->job;
    double time_s[FC_VIEWS] = {0};
    bool announced = mail->state & FC_RENDEZVOUS;
    run->n_messages++;
    if (job->settings->loggops) {
        run->total.network_bytes += mail->bytes;
        mail->sent_s[FC_REAL] += job->settings->loggops_latency_s;
        arrive(run, mail, mail->sent_s);
        return;
    }
    if (job->node[mail->from] == job->node[mail->to]) {
        run->total.local_bytes += mail->bytes;
        mail->chain.software_s += mail->bytes * job->local_s_per_byte;
        for (int v = 0; v < run->views; v++) {
            double leaves_s = announced ? fc_later(mail->sent_s[v], mail->posted_s[v]) : mail->sent_s[v];
            mail->sent_s[v] = time_s[v] = leaves_s + mail->bytes * job->local_s_per_byte;
        }
        arrive(run, mail, time_s);
        return;
    }
    if (!fc_mail_route(run, mail)) return;
    struct fc_route *route = &job->routes.route[mail->route];
    if (mail->bytes != route->last_bytes) {
        route->last_bytes = mail->bytes;
        route->last_wire_bytes = fc_wire_bytes(job->net->machine, mail->bytes);
    }
    double wire = route->last_wire_bytes;
    for (int v = 0; v < run->views; v++) {
        time_s[v] = mail->sent_s[v];
        if (announced)
            time_s[v] = fc_later(mail->sent_s[v] + route->latency_s, mail->posted_s[v]) + route->latency_s;
        mail->sent_s[v] = time_s[v] + route->latency_s;
    }
    run->total.network_bytes += mail->bytes;
    route->wire_bytes += wire;
    if (run->transit) {
        mail->arrived_s[FC_ALONE] = time_s[FC_ALONE] - time_s[FC_REAL];
        depart(run, mail, time_s);
        return;
    }
    time_s[FC_REAL] += alone_s(&job->routes, route, job->packet_bytes, mail->bytes, wire, mail->number);
    arrive(run, mail, time_s);
}

bool fc_net_next(struct fc_run *run, double until_s)
{
    struct fc_arrival arrival;
    bool found = false;
    if (!run->transit || fc_transit_next(run->transit, until_s, &arrival, &found) || !found) return false;
    uint32_t slot = (uint32_t)(arrival.id & 0x3ffffff);
    struct fc_mail *mail = run->way[slot];
    run->free_way[run->n_free_way++] = slot;
    /* in the other view it left as much earlier; nothing arrives before it would alone, but for rounding */
    double time_s[FC_VIEWS] = {arrival.time_s,
                               fmin(arrival.alone_s, arrival.time_s) + mail->arrived_s[FC_ALONE]};
    arrive(run, mail, time_s);
    fc_mail_release(&run->match, mail, FC_NETWORK_HOLDS);
    return true;
}
