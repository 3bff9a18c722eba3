/* replay_links.c - contention: messages cut through links that carry one message at a time.
 *
 * A message leaves with all its bytes at time d. On each link of its path, with bandwidth b and head delay
 * D (router and wire), for w wire bytes of it on this path:
 *     start = max(head at the link, link free);  link free again at start + w / b
 *     head at the next link = start + D;  tail there = max(tail here, start + w / b) + D
 * and it has arrived when the last tail of its shares is at the receiver's node. Links are taken in the
 * order in which heads stand before them: one queue of events ordered by (time, message), so the result is
 * the same whatever the host. Alone in the network this is d + sum D + w / min b (shares of one message still
 * leave one after the other), which no contended arrival can undercut, since a start is never before the head
 * (max-plus monotonicity, Baccelli et al. 1992).
 *
 * A message of n packets uses min(n, paths) of its route's paths, starting with another one each time.
 * Limits: a blocked message holds no link upstream (buffers are never full, so no tree saturation); messages,
 * not packets, take turns. */
#include "solvers/load_internal.h"
#include "solvers/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const fc_network_model_names[] = {"ideal", "contention", NULL};

struct link_state {
    double free_s, s_per_byte, delay_s;
};
/* A message, or a share of it on one path. */
struct flight {
    uint64_t id;
    uint32_t at, end; /* links of the routes' list still to cross; end: it arrives */
    uint32_t message; /* the flight that stands for the whole message; FC_NONE: this one does */
    uint32_t shares_left, next_free;
    double wire_bytes, bytes, tail_s, alone_s, left_s;
};
/* A head arrives at a link, or a message. Times are not negative, so their bits order as they do: the key's
 * high half is the time, the low half the message, and one comparison without a branch orders two happenings.
 */
struct happening {
    unsigned __int128 key;
    uint32_t flight;
};
struct fc_transit {
    const struct fc_network *net;
    struct fc_status *st;
    struct fc_arena arena;
    struct fc_routes routes;
    struct link_state *link; /* [n_links] */
    double *bytes, *busy_s;  /* [n_links] payload */
    struct flight *flight;
    uint32_t n_flights, free_flight;
    size_t flight_capacity, heap_capacity, n_heap;
    struct happening *heap;
    double packet_bytes, local_s_per_byte, waited_s;
};

enum fc_code fc_transit_open(const struct fc_network *net, const struct fc_transit_settings *settings,
                             struct fc_transit **transit, struct fc_status *st)
{
    struct fc_transit *t = *transit = calloc(1, sizeof *t);
    if (!t) return fc_refuse(st, FC_NO, "out of memory for the network");
    const struct fc_machine *m = net->machine;
    const double *background = settings->background_bytes_per_s;
    t->net = net;
    t->st = st;
    t->free_flight = FC_NONE;
    t->packet_bytes = m->packet.max_bytes > m->packet.header_bytes
                          ? m->packet.max_bytes - m->packet.header_bytes
                          : m->router.flit_bytes;
    t->local_s_per_byte = 1 / m->classes[fc_injection_class(m)].bandwidth_bytes_per_s;
    t->link = fc_alloc(&t->arena, net->n_links, sizeof *t->link, st);
    t->bytes = fc_alloc(&t->arena, net->n_links, sizeof *t->bytes, st);
    t->busy_s = fc_alloc(&t->arena, net->n_links, sizeof *t->busy_s, st);
    if (st->code || fc_routes_start(&t->routes, net, background, st)) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        double b = fc_free_bandwidth(net, background, l);
        t->link[l].s_per_byte = b > 0 ? 1 / b : INFINITY; /* no route crosses a link without bandwidth */
        t->link[l].delay_s = fc_head_delay_s(net, l);
    }
    return FC_OK;
}

void fc_transit_reset(struct fc_transit *t)
{
    for (uint32_t l = 0; l < t->net->n_links; l++) t->link[l].free_s = t->bytes[l] = t->busy_s[l] = 0;
    for (uint32_t i = 0; i < t->routes.n_routes; i++) t->routes.route[i].n_sent = 0;
    t->n_flights = 0;
    t->free_flight = FC_NONE;
    t->n_heap = 0;
    t->waited_s = 0;
}

void fc_transit_close(struct fc_transit *t)
{
    fc_routes_free(&t->routes);
    free(t->heap);
    free(t->flight);
    fc_arena_free(&t->arena);
    free(t);
}

const double *fc_transit_link_bytes(const struct fc_transit *t)
{
    return t->bytes;
}
const double *fc_transit_link_busy_s(const struct fc_transit *t)
{
    return t->busy_s;
}
double fc_transit_waited_s(const struct fc_transit *t)
{
    return t->waited_s;
}

/* ---- queue of happenings: a 4-ary heap ---- */

static inline unsigned __int128 key_of(double time_s, uint64_t order)
{
    uint64_t bits;
    memcpy(&bits, &time_s, sizeof bits);
    return (unsigned __int128)bits << 64 | order;
}
static inline double time_of(struct happening h)
{
    uint64_t bits = (uint64_t)(h.key >> 64);
    double time_s;
    memcpy(&time_s, &bits, sizeof time_s);
    return time_s;
}

static bool push(struct fc_transit *t, struct happening h)
{
    if (t->n_heap == t->heap_capacity) {
        size_t more = t->heap_capacity ? 2 * t->heap_capacity : 256;
        struct happening *heap = realloc(t->heap, more * sizeof *heap);
        if (!heap) return fc_refuse(t->st, FC_NO, "out of memory for messages under way"), false;
        t->heap = heap;
        t->heap_capacity = more;
    }
    size_t at = t->n_heap++;
    while (at > 0 && h.key < t->heap[(at - 1) / 4].key) {
        t->heap[at] = t->heap[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    t->heap[at] = h;
    return true;
}

/* Puts h in the place of the first and restores the order. */
static void replace_first(struct fc_transit *t, struct happening h)
{
    size_t at = 0;
    for (;;) {
        size_t child = 4 * at + 1, end = child + 4 < t->n_heap ? child + 4 : t->n_heap, best = child;
        if (child >= t->n_heap) break;
        for (size_t c = child + 1; c < end; c++) best = t->heap[c].key < t->heap[best].key ? c : best;
        if (t->heap[best].key > h.key) break;
        t->heap[at] = t->heap[best];
        at = best;
    }
    t->heap[at] = h;
}

static void remove_first(struct fc_transit *t)
{
    struct happening last = t->heap[--t->n_heap];
    if (t->n_heap) replace_first(t, last);
}

/* ---- departure ---- */

static uint32_t new_flight(struct fc_transit *t, struct flight f)
{
    uint32_t i = t->free_flight;
    if (i != FC_NONE) {
        t->free_flight = t->flight[i].next_free;
    } else {
        if (t->n_flights == t->flight_capacity) {
            size_t more = t->flight_capacity ? 2 * t->flight_capacity : 256;
            struct flight *flight = more < FC_NONE ? realloc(t->flight, more * sizeof *flight) : NULL;
            if (!flight) return fc_refuse(t->st, FC_NO, "out of memory for messages under way"), FC_NONE;
            t->flight = flight;
            t->flight_capacity = more;
        }
        i = t->n_flights++;
    }
    t->flight[i] = f;
    return i;
}

static void free_flight(struct fc_transit *t, uint32_t i)
{
    t->flight[i].next_free = t->free_flight;
    t->free_flight = i;
}

/* The shares of a message over several paths; returns when the last would arrive alone. */
static double send_shares(struct fc_transit *t, const struct fc_route *route, uint64_t id, double time_s,
                          double bytes, double wire)
{
    const struct fc_path *path = t->routes.path + route->first_path;
    uint32_t n = route->n_paths, used = n, first = 0;
    double alone_s = 0;
    if (bytes < n * t->packet_bytes) { /* fewer packets than paths: some of them, in turn */
        used = (uint32_t)fmax(1, ceil(bytes / t->packet_bytes));
        first = (uint32_t)(route->n_sent % n);
    }
    uint32_t whole = used == 1 ? FC_NONE : new_flight(t, (struct flight){.id = id, .shares_left = used});
    for (uint32_t i = 0; i < used && !t->st->code; i++) {
        const struct fc_path *p = &path[(first + i) % n];
        uint32_t door = t->routes.link[p->first];
        double share = used == n ? p->share : 1.0 / used,
               waited = 0; /* for earlier shares on the same first link */
        for (uint32_t k = 0; k < i; k++) {
            const struct fc_path *q = &path[(first + k) % n];
            if (t->routes.link[q->first] == door)
                waited += (used == n ? q->share : 1.0 / used) * wire * t->link[door].s_per_byte;
        }
        alone_s = fc_later(alone_s, time_s + waited + p->head_s + share * wire * p->s_per_byte);
        uint32_t f = new_flight(t, (struct flight){.id = id,
                                                   .at = p->first,
                                                   .end = p->first + p->n,
                                                   .message = whole,
                                                   .wire_bytes = share * wire,
                                                   .bytes = share * bytes,
                                                   .tail_s = time_s,
                                                   .alone_s = alone_s});
        if (f != FC_NONE) push(t, (struct happening){key_of(time_s, id), f});
    }
    if (whole != FC_NONE) t->flight[whole].alone_s = alone_s;
    return alone_s;
}

enum fc_code fc_transit_send(struct fc_transit *t, uint64_t id, double time_s, uint32_t src, uint32_t dst,
                             double bytes)
{
    if (src == dst) {
        double arrived = time_s + bytes * t->local_s_per_byte;
        uint32_t f = new_flight(
            t, (struct flight){.id = id, .message = FC_NONE, .tail_s = arrived, .alone_s = arrived});
        if (f != FC_NONE) push(t, (struct happening){key_of(arrived, id), f});
        return t->st->code;
    }
    struct fc_route *route = fc_routes_find(&t->routes, src, dst);
    if (!route) return t->st->code;
    double wire = fc_wire_bytes(t->net->machine, bytes);
    if (route->n_paths == 1) {
        const struct fc_path *p = t->routes.path + route->first_path;
        uint32_t f = new_flight(t, (struct flight){.id = id,
                                                   .at = p->first,
                                                   .end = p->first + p->n,
                                                   .message = FC_NONE,
                                                   .wire_bytes = wire,
                                                   .bytes = bytes,
                                                   .tail_s = time_s,
                                                   .alone_s = time_s + p->head_s + wire * p->s_per_byte});
        if (f != FC_NONE) push(t, (struct happening){key_of(time_s, id), f});
    } else {
        send_shares(t, route, id, time_s, bytes, wire);
    }
    route->n_sent++;
    return t->st->code;
}

/* ---- on the links ---- */

/* The head of the first happening crosses links as long as nothing else happens before. */
static void cross(struct fc_transit *t)
{
    struct happening first = t->heap[0];
    struct flight *flight = &t->flight[first.flight];
    double now_s = time_of(first);
    for (;;) {
        uint32_t l = t->routes.link[flight->at++];
        struct link_state *link = &t->link[l];
        double start = fc_later(now_s, link->free_s), carries_s = flight->wire_bytes * link->s_per_byte;
        t->waited_s += start - now_s;
        link->free_s = start + carries_s;
        t->busy_s[l] += carries_s;
        t->bytes[l] += flight->bytes;
        now_s = start + link->delay_s;
        flight->tail_s = fc_later(flight->tail_s, link->free_s) + link->delay_s;
        bool over = flight->at == flight->end;
        first.key = key_of(over ? flight->tail_s : now_s, (uint64_t)first.key);
        size_t c = 1;
        while (!over && c < t->n_heap && c < 5 && t->heap[c].key >= first.key) c++;
        if (!over && (c == 5 || c >= t->n_heap)) continue;
        replace_first(t, first);
        return;
    }
}

enum fc_code fc_transit_next(struct fc_transit *t, double until_s, struct fc_arrival *arrival, bool *found)
{
    *found = false;
    while (t->n_heap > 0 && !t->st->code && !*found) {
        if (time_of(t->heap[0]) > until_s) break;
        uint32_t f = t->heap[0].flight, whole = t->flight[f].message;
        if (t->flight[f].at < t->flight[f].end) {
            cross(t);
            continue;
        }
        double now_s = t->flight[f].tail_s;
        remove_first(t);
        free_flight(t, f);
        if (whole != FC_NONE) {
            if (--t->flight[whole].shares_left > 0) continue;
            free_flight(t, f = whole);
        }
        *arrival = (struct fc_arrival){t->flight[f].id, now_s, t->flight[f].alone_s};
        *found = true;
    }
    return t->st->code;
}
