/* replay_links.c - a message on its way: cut-through over links that carry one message at a time.
 *
 * A message leaves with all its bytes at time d. On each link of its path, with bandwidth b and head delay
 * D (router and wire), for w wire bytes of it on this path:
 *     start = max(head at the link, link free);  link free again at start + w / b
 *     head at the next link = start + D;  tail there = max(tail here, start + w / b) + D
 * and it has arrived when the last tail of its shares is at the receiver's node. Links are taken in the
 * order in which heads stand before them: one queue of events ordered by (time, number of the message), so
 * the result is the same whatever the host. Alone in the network this is d + sum D + w / min b: the ideal
 * network uses that formula (shares of one message still leave one after the other), which no contended
 * arrival can undercut, since a start is never before the head (max-plus monotonicity, Baccelli et al.
 * 1992).
 *
 * A message of n packets uses min(n, paths) of its route's paths, starting with another one each time.
 * Messages inside a node cross its memory at the injection bandwidth without queueing. Limits: a blocked
 * message holds no link upstream (buffers are never full, so no tree saturation); messages, not packets,
 * take turns. */
#include "solvers/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum fc_code fc_flights_start(struct fc_run *run)
{
    const struct fc_network *net = run->job->net;
    const double *background = run->job->settings->background_bytes_per_s;
    run->free_flight = FC_NONE;
    if (run->job->settings->loggops) return FC_OK;
    run->link = fc_alloc(&run->arena, net->n_links, sizeof *run->link, run->job->st);
    if (!run->link) return run->job->st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        double b = fc_link_bandwidth(net, l) - (background ? background[l] : 0);
        run->link[l].s_per_byte = b > 0 ? 1 / b : INFINITY; /* no route crosses a link without bandwidth */
        run->link[l].delay_s = fc_head_delay_s(net, l);
    }
    return FC_OK;
}

void fc_flights_reset(struct fc_run *run)
{
    for (uint32_t l = 0; run->link && l < run->job->net->n_links; l++)
        run->link[l].free_s = run->link[l].busy_s = run->link[l].bytes = 0;
    for (uint32_t i = 0; i < run->job->routes.n_routes; i++) run->job->routes.route[i].wire_bytes = 0;
}

/* ---- queue of heads before links: a 4-ary heap ---- */

static inline unsigned __int128 key_of(double time_s, uint64_t order)
{
    uint64_t bits;
    memcpy(&bits, &time_s, sizeof bits);
    return (unsigned __int128)bits << 64 | order;
}
static inline double time_of(struct fc_happening h)
{
    uint64_t bits = (uint64_t)(h.key >> 64);
    double time_s;
    memcpy(&time_s, &bits, sizeof time_s);
    return time_s;
}

static bool push(struct fc_run *run, struct fc_happening h)
{
    if (run->n_heap == run->heap_capacity) {
        size_t more = run->heap_capacity ? 2 * run->heap_capacity : 256;
        struct fc_happening *heap = realloc(run->heap, more * sizeof *heap);
        if (!heap) return fc_refuse(run->job->st, FC_NO, "out of memory for messages under way"), false;
        run->heap = heap;
        run->heap_capacity = more;
    }
    size_t at = run->n_heap++;
    while (at > 0 && h.key < run->heap[(at - 1) / 4].key) {
        run->heap[at] = run->heap[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    run->heap[at] = h;
    return true;
}

/* Puts h in the place of the first and restores the order. */
static void replace_first(struct fc_run *run, struct fc_happening h)
{
    size_t at = 0;
    for (;;) {
        size_t child = 4 * at + 1, end = child + 4 < run->n_heap ? child + 4 : run->n_heap, best = child;
        if (child >= run->n_heap) break;
        for (size_t c = child + 1; c < end; c++) best = run->heap[c].key < run->heap[best].key ? c : best;
        if (run->heap[best].key > h.key) break;
        run->heap[at] = run->heap[best];
        at = best;
    }
    run->heap[at] = h;
}

static void remove_first(struct fc_run *run)
{
    struct fc_happening last = run->heap[--run->n_heap];
    if (run->n_heap) replace_first(run, last);
}

/* ---- arrival ---- */

static void arrive(struct fc_run *run, struct fc_mail *mail, double time_s)
{
    mail->arrived_s = time_s;
    mail->state |= FC_ARRIVED;
    mail->chain.link_s += fc_later(0, time_s - mail->sent_s);
    fc_run_ends(run, time_s, &mail->chain);
    fc_wake(run, mail->sender);
    fc_wake(run, mail->receiver);
}

/* ---- departure ---- */

/* Adds a share to the links' totals at once: nothing happens to it on an ideal network. */
static void count_share(struct fc_run *run, const struct fc_path *path, double wire_bytes, double bytes)
{
    const uint32_t *link = run->job->routes.link + path->first;
    for (uint32_t i = 0; i < path->n; i++) {
        run->link[link[i]].busy_s += wire_bytes * run->link[link[i]].s_per_byte;
        run->link[link[i]].bytes += bytes;
    }
}

static bool fly(struct fc_run *run, struct fc_mail *mail, const struct fc_path *path, double wire_bytes,
                double bytes, double time_s, uint64_t order)
{
    uint32_t f = run->free_flight;
    if (f != FC_NONE) {
        run->free_flight = run->flight[f].next_free;
    } else {
        if (run->n_flights == run->flight_capacity) {
            size_t more = run->flight_capacity ? 2 * run->flight_capacity : 256;
            struct fc_flight *flight = more < FC_NONE ? realloc(run->flight, more * sizeof *flight) : NULL;
            if (!flight) return fc_refuse(run->job->st, FC_NO, "out of memory for messages under way"), false;
            run->flight = flight;
            run->flight_capacity = more;
        }
        f = run->n_flights++;
    }
    run->flight[f] =
        (struct fc_flight){mail, path->first, path->first + path->n, wire_bytes, bytes, time_s, FC_NONE};
    return push(run, (struct fc_happening){key_of(time_s, order), f});
}

/* Sends the message over the paths of its route. */
static void depart(struct fc_run *run, struct fc_route *route, const struct fc_message *message,
                   struct fc_mail *mail, uint64_t number, double time_s)
{
    const struct fc_job *job = run->job;
    const struct fc_path *path = job->routes.path + route->first_path;
    uint32_t n = route->n_paths, used = n, first = 0;
    double wire = fc_wire_bytes(job->net->machine, message->bytes), arrived = 0;
    if (n > 1 &&
        message->bytes < n * job->packet_bytes) { /* fewer packets than paths: some of them, in turn */
        used = (uint32_t)fmax(1, ceil(message->bytes / job->packet_bytes));
        first = (uint32_t)(number % n);
    }
    route->wire_bytes += wire;
    mail->sent_s = time_s + route->latency_s;
    run->total.network_bytes += message->bytes;
    mail->shares_left = (uint8_t)used;
    for (uint32_t i = 0; i < used; i++) {
        const struct fc_path *p = &path[(first + i) % n];
        double share = used == n ? p->share : 1.0 / used;
        if (!run->ideal) {
            if (!fly(run, mail, p, share * wire, share * message->bytes, time_s, number * FC_MOST_PATHS + i))
                return;
            continue;
        }
        double waited = 0; /* for earlier shares on the same first link */
        uint32_t door = job->routes.link[p->first];
        for (uint32_t k = 0; k < i; k++) {
            const struct fc_path *q = &path[(first + k) % n];
            if (job->routes.link[q->first] == door)
                waited += (used == n ? q->share : 1.0 / used) * wire * run->link[door].s_per_byte;
        }
        arrived = fc_later(arrived, time_s + waited + p->head_s + share * wire * p->s_per_byte);
        count_share(run, p, share * wire, share * message->bytes);
    }
    if (run->ideal) arrive(run, mail, arrived);
}

void fc_mail_leave(struct fc_run *run, struct fc_batch *batch, uint64_t i)
{
    const struct fc_job *job = run->job;
    const struct fc_message *message = &batch->message[i];
    struct fc_mail *mail = &batch->mail[i];
    uint32_t from = fc_batch_rank(batch, message->from), to = fc_batch_rank(batch, message->to);
    run->n_messages++;
    if (job->settings->loggops) {
        run->total.network_bytes += message->bytes;
        mail->sent_s += job->settings->loggops_latency_s;
        arrive(run, mail, mail->sent_s);
        return;
    }
    bool announced = mail->state & FC_RENDEZVOUS;
    double time_s = announced ? fc_later(mail->sent_s, mail->posted_s) : mail->sent_s;
    if (job->node[from] == job->node[to]) {
        run->total.local_bytes += message->bytes;
        mail->chain.software_s += message->bytes * job->local_s_per_byte;
        mail->sent_s = time_s + message->bytes * job->local_s_per_byte;
        arrive(run, mail, mail->sent_s);
        return;
    }
    struct fc_route *route = fc_routes_find(&run->job->routes, job->node[from], job->node[to]);
    if (!route) return; /* refused; the status says why */
    if (announced) time_s = fc_later(mail->sent_s + route->latency_s, mail->posted_s) + route->latency_s;
    depart(run, route, message, mail, batch->number + i, time_s);
}

/* ---- on the links ---- */

/* The head of the first happening crosses links as long as nothing else happens before. True when its
 * share arrives. */
static bool cross(struct fc_run *run)
{
    struct fc_happening first = run->heap[0];
    struct fc_flight *flight = &run->flight[first.flight];
    double now_s = time_of(first);
    for (;;) {
        struct fc_link_state *link = &run->link[run->job->routes.link[flight->at++]];
        double start = fc_later(now_s, link->free_s), carries_s = flight->wire_bytes * link->s_per_byte;
        run->total.link_wait_s += start - now_s;
        link->free_s = start + carries_s;
        link->busy_s += carries_s;
        link->bytes += flight->bytes;
        now_s = start + link->delay_s;
        flight->tail_s = fc_later(flight->tail_s, link->free_s) + link->delay_s;
        if (flight->at == flight->end) return true;
        first.key = key_of(now_s, (uint64_t)first.key);
        for (size_t c = 1; c < run->n_heap && c < 5; c++)
            if (run->heap[c].key < first.key) {
                replace_first(run, first);
                return false;
            }
    }
}

bool fc_flights_run(struct fc_run *run)
{
    while (run->n_heap > 0) {
        if (!cross(run)) continue;
        uint32_t f = run->heap[0].flight;
        struct fc_mail *mail = run->flight[f].mail;
        double arrived = fc_later(mail->arrived_s, run->flight[f].tail_s);
        remove_first(run);
        run->flight[f].next_free = run->free_flight;
        run->free_flight = f;
        mail->arrived_s = arrived;
        if (--mail->shares_left > 0) continue;
        arrive(run, mail, arrived);
        return true;
    }
    return false;
}
