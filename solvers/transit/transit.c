/* transit.c - messages on their way: what all network models share, and the table of them.
 *
 * A message between cores of one node crosses the node's memory at the injection bandwidth, whatever the
 * network model, and meets nobody. All others are the model's, which hands every arrival over as soon as
 * nothing can come before it; arrivals leave in the order of (time, id). A message alone takes T = head
 * delays of its longest path + max over links l of w_l W / b_l, W its wire bytes, w_l the share of them that
 * crosses link l of free bandwidth b_l (transit_routes.c): alone_s is its departure + T, with every model but
 * flit, whose alone_s is the same figure and not a run of the kernel. Free is what a background leaves, or
 * all where its packets are waited for (queueing, flit). */
#include "solvers/load_internal.h"
#include "solvers/transit/transit_internal.h"

#include <stdlib.h>

const char *const fc_network_model_names[] = {"ideal", "contention", "queueing", "flit", NULL};

/* In the order of enum fc_network_model. */
static const struct fc_transit_ops *const models[] = {&fc_transit_ideal, &fc_transit_contention, &fc_transit_queueing,
                                                      &fc_transit_flit};

/* ---- the queue of events ---- */

bool fc_transit_events_push(struct fc_transit_events *events, struct fc_transit_event event, struct fc_status *st)
{
    if (!fc_transit_reserve((void **)&events->event, &events->capacity, events->n + 1, sizeof event, st)) return false;
    size_t at = events->n++;
    while (at > 0 && event.key < events->event[(at - 1) / 4].key) {
        events->event[at] = events->event[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    events->event[at] = event;
    return true;
}

struct fc_transit_event fc_transit_events_pop(struct fc_transit_events *events)
{
    struct fc_transit_event first = events->event[0], last = events->event[--events->n];
    size_t at = 0;
    while (4 * at + 1 < events->n) {
        size_t child = 4 * at + 1, end = child + 4 < events->n ? child + 4 : events->n, best = child;
        for (size_t c = child + 1; c < end; c++) best = events->event[c].key < events->event[best].key ? c : best;
        if (events->event[best].key > last.key) break;
        events->event[at] = events->event[best];
        at = best;
    }
    events->event[at] = last;
    return first;
}

/* ---- messages that have not left ---- */

enum fc_code fc_transit_hold(struct fc_transit *t, const struct fc_transit_message *message)
{
    struct fc_transit_starts *s = &t->starts;
    uint32_t at = s->free - 1;
    if (s->free) {
        s->free = s->held[at].next_free;
    } else {
        if (!fc_transit_reserve((void **)&s->held, &s->capacity, s->n + 1, sizeof *s->held, t->st)) return t->st->code;
        at = (uint32_t)s->n++;
    }
    s->held[at].message = *message;
    struct fc_transit_event event = {.key = fc_transit_event_key(message->time_s, message->id), .index = at};
    return fc_transit_events_push(&s->order, event, t->st) ? FC_OK : t->st->code;
}

struct fc_transit_message fc_transit_pop_start(struct fc_transit *t)
{
    struct fc_transit_starts *s = &t->starts;
    uint32_t at = fc_transit_events_pop(&s->order).index;
    s->held[at].next_free = s->free;
    s->free = at + 1;
    return s->held[at].message;
}

/* ---- open, close ---- */

enum fc_code fc_transit_open(const struct fc_network *net, const struct fc_transit_settings *settings,
                             struct fc_transit **transit, struct fc_status *st)
{
    struct fc_arena arena = {0};
    *transit = NULL;
    if ((size_t)settings->network >= FC_COUNT(models))
        return fc_refuse(st, FC_INPUT, "there is no network model %d (expected 0 to %zu)", (int)settings->network,
                         FC_COUNT(models) - 1);
    struct fc_transit *t = fc_alloc(&arena, 1, sizeof *t, st);
    if (!t) return st->code;
    *t = (struct fc_transit){
        .ops = models[settings->network], .net = net, .settings = *settings, .st = st, .arena = arena};
    /* Beside a background rates are less (here), or packets wait for its own. */
    bool less = settings->network == FC_NET_CONTENTION || settings->network == FC_NET_IDEAL;
    if (!fc_transit_ways_open(&t->ways, net, less ? settings->background_bytes_per_s : NULL, st) && t->ops->open)
        t->ops->open(t);
    if (st->code) {
        fc_transit_close(t);
        return st->code;
    }
    *transit = t;
    return FC_OK;
}

void fc_transit_close(struct fc_transit *t)
{
    if (!t) return;
    if (t->ops->close) t->ops->close(t);
    fc_transit_ways_close(&t->ways);
    free(t->arrivals.event);
    free(t->starts.order.event);
    free(t->starts.held);
    struct fc_arena arena = t->arena; /* holds t itself too: freed from a copy */
    fc_arena_free(&arena);
}

/* ---- in, out ---- */

static enum fc_code check(const struct fc_transit *t, uint64_t id, double time_s, uint32_t src, uint32_t dst,
                          double bytes)
{
    if (src >= t->net->n_nodes || dst >= t->net->n_nodes)
        return fc_refuse(t->st, FC_INPUT, "message %llu goes from node %u to node %u (the machine has %u nodes)",
                         (unsigned long long)id, src, dst, t->net->n_nodes);
    if (!(bytes >= 0) || isinf(bytes))
        return fc_refuse(t->st, FC_INPUT, "message %llu has %g bytes (expected 0 or more)", (unsigned long long)id,
                         bytes);
    if (!(time_s >= 0) || isinf(time_s))
        return fc_refuse(t->st, FC_INPUT, "message %llu leaves at %g s (expected 0 or more)", (unsigned long long)id,
                         time_s);
    if (time_s < t->taken_s)
        return fc_refuse(t->st, FC_FAULT, "message %llu leaves at %.17g s, but an arrival of %.17g s is taken",
                         (unsigned long long)id, time_s, t->taken_s);
    return FC_OK;
}

enum fc_code fc_transit_send(struct fc_transit *t, uint64_t id, uint64_t turn, double time_s, uint32_t src,
                             uint32_t dst, double bytes, uint32_t route, struct fc_transit_ports ports)
{
    if (t->st->code || check(t, id, time_s, src, dst, bytes)) return t->st->code;
    bool locally = src == dst && fc_transit_shares_memory(t);
    if (src == dst && !locally) {
        double arrived_s = time_s + bytes * fc_local_s_per_byte(t->net, src);
        return fc_transit_arrive(t, id, arrived_s, arrived_s);
    }
    struct fc_transit_message message = {.id = id,
                                         .turn = turn,
                                         .time_s = time_s,
                                         .bytes = bytes,
                                         .wire_bytes = locally ? bytes : fc_transit_wire_bytes(t, bytes),
                                         .src = src,
                                         .dst = dst,
                                         .route = route,
                                         .ports = ports,
                                         .left_s = time_s};
    return t->ops->send(t, &message);
}

enum fc_code fc_transit_next(struct fc_transit *t, double until_s, struct fc_arrival *arrival, bool *found)
{
    *found = false;
    if (t->st->code) return t->st->code;
    if (t->ops->advance && t->ops->advance(t, until_s)) return t->st->code;
    if (!(fc_transit_events_first(&t->arrivals) <= until_s) || t->arrivals.n == 0) return FC_OK;
    struct fc_transit_event event = fc_transit_events_pop(&t->arrivals);
    *arrival = (struct fc_arrival){(uint64_t)event.key, fc_transit_event_time(&event), event.value, event.interference};
    t->taken_s = arrival->time_s;
    *found = true;
    return FC_OK;
}

/* ---- totals ---- */

/* The links of the whole network; else only those of messages are touched, which are few where the network is large. */
static void add_all(const struct fc_transit *t, double *bytes, double *busy_s)
{
    for (uint32_t l = 0; l < t->net->n_links; l++) {
        double free_bytes_per_s = fc_free_bandwidth(t->net, t->settings.background_bytes_per_s, l);
        bytes[l] = t->ways.bytes[l];
        busy_s[l] = t->ways.wire_bytes[l] > 0 ? t->ways.wire_bytes[l] / free_bytes_per_s : 0;
    }
}

static inline void end_link(const struct fc_transit *t, bool spreads, uint32_t l, double *busy_s,
                            struct fc_transit_busiest *busiest)
{
    if (spreads) busy_s[l] = fmin(busy_s[l], t->taken_s);
    if (busy_s[l] > busiest->busy_s || (busy_s[l] == busiest->busy_s && l < busiest->link && busy_s[l] > 0))
        *busiest = (struct fc_transit_busiest){busy_s[l], l};
}

bool fc_transit_links(const struct fc_transit *transit, double *bytes, double *busy_s,
                      struct fc_transit_busiest *busiest)
{
    struct fc_transit *t =
        (struct fc_transit *)(uintptr_t)transit; /* what light ways carry is put together when asked for */
    bool spreads = false;
    *busiest = (struct fc_transit_busiest){0, FC_NONE};
    if (t->ops->no_links) return false;
    for (size_t i = 0; i < t->ways.n_ways; i++) {
        struct fc_transit_way *way = &t->ways.way[i];
        spreads = spreads || (way->free_bytes_per_s > 0 && t->ops != &fc_transit_ideal);
        if (way->first == FC_NONE) {
            if (way->wire_bytes > 0 && !fc_transit_add_light(&t->ways, (uint32_t)i, way->bytes, way->wire_bytes))
                return false;
            way->bytes = way->wire_bytes = 0;
            t->ways.fresh = FC_NONE;
            continue;
        }
        for (uint32_t k = way->first; way->wire_bytes > 0 && k < way->first + way->n; k++) {
            uint32_t l = t->ways.link[k];
            bytes[l] += t->ways.weight[k] * way->bytes;
            busy_s[l] +=
                t->ways.weight[k] * way->wire_bytes / fc_free_bandwidth(t->net, t->settings.background_bytes_per_s, l);
        }
    }
    if (t->ways.light) {
        add_all(t, bytes, busy_s);
        for (uint32_t l = 0; l < t->net->n_links; l++) end_link(t, spreads, l, busy_s, busiest);
    }
    for (size_t i = 0; i < t->ways.n_ways && !t->ways.light; i++) {
        const struct fc_transit_way *way = &t->ways.way[i];
        for (uint32_t k = way->first; way->wire_bytes > 0 && k < way->first + way->n; k++)
            end_link(t, spreads, t->ways.link[k], busy_s, busiest);
    }
    return true;
}

double fc_transit_waited_s(const struct fc_transit *transit)
{
    return transit->waited_s;
}
