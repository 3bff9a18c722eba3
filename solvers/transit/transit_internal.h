/* transit_internal.h - private parts of the transit: routes and how a message is split over their paths, called its
 * way (transit_routes.c); the queue of events and the table of network models (transit.c). */
#pragma once

#include "solvers/transit/transit.h"
#include "solvers/transit/transit_cut.h"
#include "solvers/transit/transit_shapes.h"

#include <math.h>
#include <string.h>

/* Room for `need` elements, at least doubling; false with the status filled when there is no memory. */
bool fc_transit_widen(void **array, size_t *capacity, size_t need, size_t size, struct fc_status *st);
static inline bool fc_transit_reserve(void **array, size_t *capacity, size_t need, size_t size, struct fc_status *st)
{
    return need <= *capacity || fc_transit_widen(array, capacity, need, size, st);
}

/* ---- events in the order of (time, id): a 4-ary heap (transit.c) ---- */

/* A start or an arrival of a message. Times are not negative, so their bits order as the times do, and one integer
 * comparison orders two events. */
struct fc_transit_event {
    unsigned __int128 key; /* time's bits << 64 | id */
    double value;          /* arrivals: the contention-free time of arrival */
    uint32_t index;        /* departures: the message */
    float interference;    /* arrivals: of fc_arrival */
};
struct fc_transit_events {
    struct fc_transit_event *event; /* [n] a heap */
    size_t n, capacity;
};
static inline unsigned __int128 fc_transit_event_key(double time_s, uint64_t id)
{
    uint64_t bits;
    time_s += 0.0; /* -0 would be last */
    memcpy(&bits, &time_s, sizeof bits);
    return (unsigned __int128)bits << 64 | id;
}
static inline double fc_transit_event_time(const struct fc_transit_event *event)
{
    uint64_t bits = (uint64_t)(event->key >> 64);
    double time_s;
    memcpy(&time_s, &bits, sizeof time_s);
    return time_s;
}
/* The earliest time; INFINITY: empty. */
static inline double fc_transit_events_first(const struct fc_transit_events *events)
{
    return events->n ? fc_transit_event_time(events->event) : INFINITY;
}
bool fc_transit_events_push(struct fc_transit_events *events, struct fc_transit_event event, struct fc_status *st);
struct fc_transit_event fc_transit_events_pop(struct fc_transit_events *events);

/* ---- routes and ways (transit_routes.c) ---- */

/* A way: the links that one message crosses, with the share (weight) of its bytes on each. All n links carry it; only the
 * first n_finite, those of finite bandwidth, limit its rate. Where its packets may leave over more links than its paths do, these
 * are there too, with weight 0. */
struct fc_transit_way {
    uint32_t first, n, n_finite; /* ways->link[first .. first + n) and ways->weight there */
    double head_s;     /* head delays of the longest of its paths; under UGAL of a usual minimal one of its route */
    double detour_s;   /* under UGAL: what the longest of its paths takes more; else 0 */
    double s_per_byte; /* 1 / the contention-free rate: max over links of weight / bandwidth; or
                                  * 1 / free_bytes_per_s */
    double claim;      /* on links shared with others, 0 to 1 (transit_routes.c) */
    double share;      /* of a long message's bytes that goes over its paths */
    double bytes, wire_bytes; /* sent so far */
    uint32_t narrow;          /* the link that it is alone as slow as; FC_NONE: a port */
    uint32_t route;
    uint8_t used, path;      /* over `used` of its route's paths: path, path + 1, ..., cyclically */
    bool even;               /* in equal shares, a packet each; else by the paths' own */
    double fifos_s_per_byte; /* fc_fifos_s_per_byte of its finite links; below 0: not asked for yet */
    double
        free_bytes_per_s; /* alone of a long message whose packets take all paths there are; 0: by those of the way */
};
enum { FC_WAY_PATHS = 8, FC_WAY_MOST_PATHS = 16 }; /* of a routing that says nothing; of any */
struct fc_way_path {
    uint32_t first, n; /* path_link[first .. first + n), in order */
    double share;      /* of the bytes of a message that uses all paths */
    double head_s;     /* head delays of its links */
};
struct fc_way_route {
    uint64_t key;      /* src << 32 | dst */
    double latency_s;  /* least head delays of its paths; under UGAL fc_transit_undisturbed_s */
    double wire_bytes; /* sent over it so far */
    uint32_t n_paths;
    uint32_t n_sets; /* of them (fc_routing_ops.source_sets); n_paths: no parts */
    uint32_t full;   /* way of messages with at least a packet for every path; FC_NONE: none yet */
    uint32_t
        shorts; /* ways of shorter ones: short_way[short_way[shorts + used - 1] + first path], and of parts in several
                      * paths: [shorts + n_paths - 1]; FC_NONE: none yet */
};
struct fc_transit_ways {
    const struct fc_network *net;
    const double *background;
    struct fc_status *st;
    double packet_bytes; /* payload of one packet */
    struct fc_transit_way *way;
    uint32_t *link; /* of all ways, one after the other */
    double *weight;
    struct fc_way_route *route;
    uint32_t *short_way;
    size_t n_ways, n_links, n_routes, n_short;
    size_t way_capacity, link_capacity, weight_capacity, route_capacity, short_capacity;
    /* The paths of one pair of nodes only, path_key: a later way of another pair walks the network again. */
    uint64_t path_key;
    struct fc_way_path path[FC_WAY_MOST_PATHS];
    double direct_bytes; /* a message of more takes detours, too; INFINITY but under UGAL */
    uint32_t most_paths, n_paths, n_sets, *path_link; /* n_sets: path i is of set i mod n_sets */
    double cut_bytes_per_s; /* of the pair (fc_cut_of_walk); INFINITY: packets keep to the paths drawn */
    uint32_t out[FC_SHAPE_OUT],
        n_out; /* links behind the source's routers that the pair's packets may take, drawn or not */
    size_t n_path_links, path_link_capacity;
    struct fc_way_shapes shapes;
    /* Light ways do not keep their links (ideal networks, where millions of pairs may send one message each):
     * way->first is FC_NONE. Those of the latest, `fresh`, are at link[n_links] until the next is made: its
     * first message is added to the sums below at once, later ones by walking again in the end. */
    bool light;
    size_t most_light;          /* so many are kept; a later one is made anew for each of its messages */
    uint32_t fresh;             /* way; FC_NONE: none */
    double *bytes, *wire_bytes; /* [n_links of the network] */
    uint32_t *slot;             /* [mask + 1] route, FC_NONE: free; at most half full */
    uint32_t mask;
    struct fc_walk walk;
    uint32_t *top; /* [n_vertices] latest parcel (share of the message, on a path so far) that waits at each vertex */
    struct fc_cuts cuts;
    uint32_t *merged; /* [n_links] entry of the way at hand, or FC_NONE */
    struct fc_way_parcel *parcel;
    size_t n_parcels, parcel_capacity;
};
enum fc_code fc_transit_ways_open(struct fc_transit_ways *ways, const struct fc_network *net, const double *background,
                                  struct fc_status *st);
void fc_transit_ways_close(struct fc_transit_ways *ways);
/* The way of a message of `bytes` payload between different nodes; FC_NONE with the status filled when
 * there is none. A message of p packets uses min(p, paths) of its route's paths, starting with one that its
 * turn tells (fc_transit_first_path). */
uint32_t fc_transit_ways_find(struct fc_transit_ways *ways, uint32_t src, uint32_t dst, double bytes, uint64_t turn);
/* The same in two steps: the route between different nodes, which is walked once; then the way of a message over it. */
uint32_t fc_transit_route_find(struct fc_transit_ways *ways, uint32_t src, uint32_t dst);
uint32_t fc_transit_way_over(struct fc_transit_ways *ways, uint32_t route, double bytes, uint64_t turn);
/* A message with fewer packets than its route has paths. */
static inline bool fc_transit_is_short(const struct fc_transit_ways *ways, const struct fc_way_route *route,
                                       double bytes)
{
    return route->n_paths > 1 && bytes <= (route->n_paths - 1) * ways->packet_bytes;
}
/* The way over `used` paths of the route from `first` on, cyclically, fewer than all: of a short message (even), or of a part, all of
 * a route having as many but the last. FC_NONE: out of memory. */
uint32_t fc_transit_short_way(struct fc_transit_ways *ways, struct fc_way_route *route, uint32_t used, uint32_t first,
                              bool even);
/* The way that a message takes whose turn is way `number`: the same, or where the routing is adaptive and the
 * message short, one beside it whose links are less crowded; crowd tells how many messages cross a link. FC_NONE: out
 * of memory. */
uint32_t fc_transit_way_free(struct fc_transit_ways *ways, uint32_t number, double bytes,
                             uint32_t (*crowd)(const void *context, uint32_t link), const void *context);
/* How many parts a message over way `number` has, at most FC_WAY_PARTS; 1: it is not taken apart. Long messages of minimal
 * adaptive routings are: part i goes over some of the route's paths (way fc_transit_part), at first `share` of the bytes
 * (transit_parts.c). */
enum { FC_WAY_PARTS = 4 };
uint32_t fc_transit_parts(const struct fc_transit_ways *ways, uint32_t number, double bytes);
/* FC_NONE: out of memory. */
uint32_t fc_transit_part(struct fc_transit_ways *ways, uint32_t number, uint32_t part);
/* Makes ways light; before the first. */
enum fc_code fc_transit_ways_lighten(struct fc_transit_ways *ways);
/* Adds bytes and wire bytes to the links of a light way; its links are at link[n_links] then. */
bool fc_transit_add_light(struct fc_transit_ways *ways, uint32_t way, double bytes, double wire_bytes);
/* 1 / the bandwidth of the slowest port that a message crosses, where nodes differ; 0 where they do not: ways have it then. */
static inline double fc_transit_port_s_per_byte(const struct fc_network *net, uint32_t src, uint32_t dst, bool fetched)
{
    if (!net->node_kind) return 0;
    double in = fetched ? 1 / fc_node_port_bandwidth(net, dst) : 0;
    bool out = !fetched || fc_node_port_sides(net, src) > 1;
    return out ? fmax(in, 1 / fc_node_port_bandwidth(net, src)) : in;
}
/* How long the rest of a message of n packets takes over way `number` when the smaller part of it is there: where each packet is given one of
 * several sets of paths at its source (fc_routing_ops.source_sets), drawn fairly, the larger of two parts has, in the mean, 1 / sqrt(2 pi n) of
 * the packets more than half (de Moivre), so 2 / sqrt(2 pi n) of the message's time alone. A mean: bounds and ideal networks know nothing of it. 0:
 * one set, an end point is what it is as slow as, or it is short. More than two sets are taken for two. */
double fc_transit_uneven_s(const struct fc_transit_ways *ways, uint32_t number, double bytes, double wire_bytes);
/* Of a path of n links, node to node; of a packet that finds nobody, of n paths with their shares under UGAL (transit_delays.c). */
double fc_transit_head_delays_s(const struct fc_network *net, const uint32_t *link, uint32_t n);
double fc_transit_undisturbed_s(const struct fc_way_path *path, uint32_t n);
/* Head delays of a message: under UGAL the last packets of a long one find its first ones in the queues and go round. */
static inline double fc_transit_head_s(const struct fc_transit_ways *ways, const struct fc_transit_way *way,
                                       double wire_bytes)
{
    return way->head_s + (wire_bytes > ways->direct_bytes ? way->detour_s : 0);
}
/* Counts the bytes of a message that leaves at time_s; returns when it arrives without contention, no faster than its ports. */
static inline double fc_transit_alone_s(struct fc_transit_ways *ways, uint32_t number, double time_s, double bytes,
                                        double wire_bytes, double port_s_per_byte)
{
    struct fc_transit_way *way = &ways->way[number];
    if (ways->fresh == number) {
        fc_transit_add_light(ways, number, bytes, wire_bytes);
        ways->fresh = FC_NONE;
    } else {
        way->bytes += bytes;
        way->wire_bytes += wire_bytes;
    }
    return time_s + fc_transit_head_s(ways, way, wire_bytes) + wire_bytes * fmax(way->s_per_byte, port_s_per_byte);
}

/* ---- network models ---- */

/* A message between different nodes, on its way. */
struct fc_transit_message {
    uint64_t id, turn;
    double time_s, bytes, wire_bytes;
    uint32_t src, dst, route; /* route: FC_NONE: not looked up */
    struct fc_transit_ports ports;
    double left_s; /* when it left; time_s: where it has waited, until then */
    uint8_t turns; /* that it has had: out of its sender, then into its receiver (transit_fifos.c) */
    bool waited;   /* of a start: it is looked whether messages of src that wait begin (transit_fifos.c) */
};
/* Messages sent that have not left. */
struct fc_transit_starts {
    struct fc_transit_events order; /* index: of held[] */
    struct fc_transit_held {
        struct fc_transit_message message;
        uint32_t next_free; /* a place's number + 1; 0: none */
    } * held;
    size_t n, capacity;
    uint32_t free;
};
/* What a network model takes for `send` that acts when messages leave: keeps it in t->starts, in order of time, then id. */
enum fc_code fc_transit_hold(struct fc_transit *t, const struct fc_transit_message *message);
/* The first of them, which is no longer one. */
struct fc_transit_message fc_transit_pop_start(struct fc_transit *t);
struct fc_transit_ops {
    const char *name;
    bool no_links; /* it does not know what crosses which link */
    bool memory;   /* messages within a node share its memory: they are sent, too */
    enum fc_code (*open)(struct fc_transit *t);
    enum fc_code (*send)(struct fc_transit *t, const struct fc_transit_message *message);
    /* Makes sure that the first of t->arrivals is the next arrival if that is at or before until_s. NULL: it
     * always is. */
    enum fc_code (*advance)(struct fc_transit *t, double until_s);
    void (*close)(struct fc_transit *t); /* may be called after a failed open */
};
extern const struct fc_transit_ops fc_transit_ideal, fc_transit_contention, fc_transit_queueing, fc_transit_flit;

struct fc_transit {
    const struct fc_transit_ops *ops;
    const struct fc_network *net;
    struct fc_transit_settings settings;
    struct fc_status *st;
    struct fc_arena arena;
    struct fc_transit_ways ways;
    struct fc_transit_events arrivals;
    struct fc_transit_starts starts;
    double taken_s; /* the last arrival taken */
    double waited_s;
    struct {
        double bytes, wire_bytes;
    } sizes[64];                    /* cache of fc_wire_bytes */
    void *own;                      /* of the network model */
    struct fc_transit_waits *waits; /* network queueing; else NULL */
};
/* When the first message leaves that has not; INFINITY: all have. */
static inline double fc_transit_first_start_s(const struct fc_transit *t)
{
    return fc_transit_events_first(&t->starts.order);
}
/* Whether messages within a node wait for each other; else each crosses its memory alone. */
static inline bool fc_transit_shares_memory(const struct fc_transit *t)
{
    return t->ops->memory && fc_shares_memory(t->net->machine);
}
/* fc_wire_bytes, with a cache by size. */
static inline double fc_transit_wire_bytes(struct fc_transit *t, double bytes)
{
    uint64_t bits;
    memcpy(&bits, &bytes, sizeof bits);
    size_t at = (bits * UINT64_C(0x9E3779B97F4A7C15)) >> 58;
    if (t->sizes[at].bytes != bytes || bytes == 0) {
        t->sizes[at].bytes = bytes;
        t->sizes[at].wire_bytes = fc_wire_bytes(t->net->machine, bytes);
    }
    return t->sizes[at].wire_bytes;
}
/* What the packets of a message that leaves at time_s wait for others, whose load it joins; *shares: besides,
 * it arrives not before it would by contention (transit_queueing.c). */
double fc_transit_wait_s(struct fc_transit *t, const struct fc_transit_way *way, double time_s, double bytes,
                         double wire_bytes, bool *shares);
/* Schedules the arrival at time_s, or at the contention-free time alone_s if that is (by rounding) later. interference: of fc_arrival. */
static inline enum fc_code fc_transit_arrive_with(struct fc_transit *t, uint64_t id, double time_s, double alone_s,
                                                  float interference)
{
    if (time_s < alone_s) time_s = alone_s;
    t->waited_s += time_s - alone_s;
    struct fc_transit_event event = {
        .key = fc_transit_event_key(time_s, id), .value = alone_s, .interference = interference};
    return fc_transit_events_push(&t->arrivals, event, t->st) ? FC_OK : t->st->code;
}
static inline enum fc_code fc_transit_arrive(struct fc_transit *t, uint64_t id, double time_s, double alone_s)
{
    return fc_transit_arrive_with(t, id, time_s, alone_s, 0);
}
