/* transit_internal.h - private parts of the transit: ways (transit_routes.c), queues of happenings, the table
 * of network models (transit.c). */
#ifndef FC_TRANSIT_INTERNAL_H
#define FC_TRANSIT_INTERNAL_H

#include "solvers/transit/transit.h"
#include "solvers/transit/transit_shapes.h"

#include <math.h>
#include <string.h>

/* ---- happenings in the order of (time, id): a 4-ary heap (transit.c) ---- */

/* Times are not negative, so their bits order as they do: one comparison without a branch orders two. */
struct fc_due {
    unsigned __int128 key; /* time's bits << 64 | id */
    double value;          /* arrivals: alone_s */
    uint32_t index;        /* departures: the message */
};
struct fc_dues {
    struct fc_due *due; /* [n] a heap */
    size_t n, capacity;
};
static inline unsigned __int128 fc_due_key(double time_s, uint64_t id)
{
    uint64_t bits;
    time_s += 0.0; /* -0 would be last */
    memcpy(&bits, &time_s, sizeof bits);
    return (unsigned __int128)bits << 64 | id;
}
static inline double fc_due_time(const struct fc_due *due)
{
    uint64_t bits = (uint64_t)(due->key >> 64);
    double time_s;
    memcpy(&time_s, &bits, sizeof time_s);
    return time_s;
}
/* The earliest time; INFINITY: empty. */
static inline double fc_dues_first(const struct fc_dues *dues)
{
    return dues->n ? fc_due_time(dues->due) : INFINITY;
}
bool fc_dues_push(struct fc_dues *dues, struct fc_due due, struct fc_status *st);
struct fc_due fc_dues_pop(struct fc_dues *dues);

/* ---- ways (transit_routes.c) ---- */

/* The links that one message crosses, and the share of its bytes that does: finite[0 .. n_finite) limit it,
 * all n carry it. */
struct fc_transit_way {
    uint32_t first, n, n_finite; /* ways->link[first .. first + n) and weight: those of finite bandwidth first */
    double head_s;               /* head delays of the longest of its paths */
    double s_per_byte;           /* 1 / the rate of the message alone: max over links of weight / bandwidth */
    double bytes, wire_bytes;    /* sent so far */
    uint32_t route;
    uint8_t used, path; /* it is the sum of so many of its route's paths, from this one on */
};
enum { FC_WAY_PATHS = 8 };
struct fc_way_path {
    uint32_t first, n; /* path_link[first .. first + n), in order */
    double share;      /* of the bytes of a message that uses all paths */
    double head_s;     /* head delays of its links */
};
struct fc_way_route {
    uint64_t key;      /* src << 32 | dst */
    double latency_s;  /* least head delays of its paths */
    double wire_bytes; /* sent over it, for who counts them */
    uint32_t n_paths;
    uint32_t full;   /* way of a message with packets for every path, or FC_NONE */
    uint32_t shorts; /* short_way[short_way[shorts + used - 1] + first]: over `used` paths; FC_NONE: none yet */
};
struct fc_transit_ways {
    const struct fc_network *net;
    const double *background;
    struct fc_status *st;
    double packet_bytes; /* payload of one packet */
    struct fc_transit_way *way;
    uint32_t *link; /* of ways */
    double *weight;
    struct fc_way_route *route;
    uint32_t *short_way;
    size_t n_ways, n_links, n_routes, n_short;
    size_t way_capacity, link_capacity, weight_capacity, route_capacity, short_capacity;
    /* The paths of one pair, those of path_key. They are not kept: a way that is missing later walks again. */
    uint64_t path_key;
    struct fc_way_path path[FC_WAY_PATHS];
    uint32_t n_paths, *path_link;
    size_t n_path_links, path_link_capacity;
    struct fc_way_shapes shapes;
    /* Light ways do not keep their links (ideal networks, where millions of pairs may send one message each):
     * way->first is FC_NONE. Those of the latest, `fresh`, are at link[n_links] until the next is made: its
     * first message is added to the sums below at once, later ones by walking again in the end. */
    bool light;
    size_t most_light;          /* so many are kept; a later one is made anew for each of its messages */
    uint32_t fresh;             /* FC_NONE: none */
    double *bytes, *wire_bytes; /* [n_links of the network] */
    uint32_t *slot;             /* [mask + 1] route, FC_NONE: free; at most half full */
    uint32_t mask;
    struct fc_walk walk;
    uint32_t *top;    /* [n_vertices] latest parcel waiting at each vertex */
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
/* Its two halves: the route between different nodes, which is walked once, and the way of a message over it. */
uint32_t fc_transit_route_find(struct fc_transit_ways *ways, uint32_t src, uint32_t dst);
uint32_t fc_transit_way_over(struct fc_transit_ways *ways, uint32_t route, double bytes, uint64_t turn);
/* The way that a message takes whose turn is way `number`: the same, or where the routing is adaptive and the
 * message short, one beside it whose links are less crowded; crowd tells how many messages cross a link. FC_NONE: out
 * of memory. */
uint32_t fc_transit_way_free(struct fc_transit_ways *ways, uint32_t number, double bytes,
                             uint32_t (*crowd)(const void *context, uint32_t link), const void *context);
/* Makes ways light; before the first. */
enum fc_code fc_transit_ways_lighten(struct fc_transit_ways *ways);
/* Adds bytes and wire bytes to the links of a light way; its links are at link[n_links] then. */
bool fc_transit_add_light(struct fc_transit_ways *ways, uint32_t way, double bytes, double wire_bytes);
/* The message, which leaves at time_s, is counted; when it arrives alone. */
static inline double fc_transit_alone_s(struct fc_transit_ways *ways, uint32_t number, double time_s, double bytes,
                                        double wire_bytes)
{
    struct fc_transit_way *way = &ways->way[number];
    if (ways->fresh == number) {
        fc_transit_add_light(ways, number, bytes, wire_bytes);
        ways->fresh = FC_NONE;
    } else {
        way->bytes += bytes;
        way->wire_bytes += wire_bytes;
    }
    return time_s + way->head_s + wire_bytes * way->s_per_byte;
}

/* Room for `need` things, at least doubling; false with the status filled when there is no memory. */
bool fc_transit_reserve(void **array, size_t *capacity, size_t need, size_t size, struct fc_status *st);

/* ---- network models ---- */

/* A message between different nodes, on its way. */
struct fc_transit_message {
    uint64_t id, turn;
    double time_s, bytes, wire_bytes;
    uint32_t src, dst, route; /* route: FC_NONE: not looked up */
    bool fetched;             /* through its receiver's port, else put through its sender's */
};
/* As fc_transit_send_in_turn for who knows the route, and whether it is fetched. */
enum fc_code fc_transit_send_over(struct fc_transit *t, uint64_t id, uint64_t turn, double time_s, uint32_t src,
                                  uint32_t dst, double bytes, uint32_t route, bool fetched);
struct fc_transit_ops {
    const char *name;
    bool no_links; /* it does not know what crosses which link */
    enum fc_code (*open)(struct fc_transit *t);
    enum fc_code (*send)(struct fc_transit *t, const struct fc_transit_message *message);
    /* Makes sure that the first of t->arrivals is the next arrival if that is at or before until_s. NULL: it
     * always is. */
    enum fc_code (*advance)(struct fc_transit *t, double until_s);
    void (*reset)(struct fc_transit *t); /* NULL: nothing of its own */
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
    struct fc_dues arrivals;
    double taken_s; /* the last arrival taken */
    double waited_s;
    double local_s_per_byte;
    struct {
        double bytes, wire_bytes;
    } sizes[64];                      /* of messages, lately: the next is often as long */
    double *link_bytes, *link_busy_s; /* [n_links] made when asked for */
    void *own;                        /* of the network model */
    struct fc_transit_waits *waits;   /* network queueing; else NULL */
};
/* fc_wire_bytes, remembered. */
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
/* The message arrives at time_s, or when it would alone if that is (by rounding) later. */
static inline enum fc_code fc_transit_arrive(struct fc_transit *t, uint64_t id, double time_s, double alone_s)
{
    if (time_s < alone_s) time_s = alone_s;
    t->waited_s += time_s - alone_s;
    struct fc_due due = {.key = fc_due_key(time_s, id), .value = alone_s};
    return fc_dues_push(&t->arrivals, due, t->st) ? FC_OK : t->st->code;
}

#endif
