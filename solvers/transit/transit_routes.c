/* transit_routes.c - the ways of single messages: at most 8 paths a pair of nodes (of some routings 16), made once.
 *
 * A routing gives a pair's traffic as weighted links (fc_walk), a flow from node to node. The flow is
 * taken apart into paths: a link takes its weight from the parcels that wait at its source, latest first,
 * and leaves them at its target; as a walk lists links after those that feed them, the parcels are there,
 * and a walk written path after path comes apart into those very paths. Of the paths N = 8 are drawn by
 * systematic sampling: the points (i + u) / N of the paths laid end to end by weight, u a random number of
 * the pair. So a link's load has the routing's mean over pairs, a route of up to N equal paths is kept
 * whole, and a single path stays one.
 *
 * A message of p packets takes all its route's paths by their shares, or when p is less than them p in
 * equal shares, from path floor(n * frac(turn * golden ratio)) on: for turns in any arithmetic progression
 * these are spread evenly. Its way is the sum: link l carries w_l of its bytes, alone it goes at the rate
 * min over l of b_l / w_l, and its last byte arrives the head delays of its longest path later; of a usual minimal one where routers
 * compare ways by their queues (UGAL), which go round only what is crowded, unless the message itself crowds its way: with more than the
 * threshold over each of N ways. With the longest, jobs on frontier, perlmutter and theta took
 * 7.7, 8.9 and 2.3 % too long in the mean, with the shortest they were 2.4, 1.8 and 0.9 % off, with this 1.2, 0.4 and 0.3.
 *
 * Sets. A packet that goes half way round an even ring is given its direction at the source, + or - with equal chance, whatever is
 * crowded (fc_routing_ops.source_sets), and so one of S sets of paths. Paths are numbered such that S in a row are one of each set.
 *
 * Claim. A router gives its inputs turns, so a message that meets others again and again has less of a link the further it comes: the
 * parking lot (Dally & Towles 2004, 15.4, where it halves at each router). Messages stop and start, and their packets are few: claims are
 *
 *     hops^-f,  f = FAR (1 - p / 50),    p percent of the decisions taken for packets in the network before injected ones (router.in_network);
 *
 * so where these always go first it is the one from afar that has more. Routers that take the oldest packet first are fair to both: f = 0. FAR
 * was chosen on shipped machines and o.. of tests/validate_phases.c, the change of sign on Blue Gene/L, the only one that has p.
 *
 * Limits: a long message of a routing with detours (UGAL) takes the split of its loads, whatever queues are on the
 * way; a route of more than N paths loads N of them.
 * Kept are the ways that were asked for, not the paths: O(walk) a pair, and once more a way that is new later;
 * O(1) a message. Where all routers look alike paths are kept by displacement instead (transit_shapes.c), and a
 * pair costs O(links of its N paths). */
#include "core/array.h"
#include "solvers/load_internal.h"
#include "solvers/transit/transit_internal.h"
#include "models/hosts.h"

#include <stdlib.h>

#define FAR (1.0 / 3)
#define LEAST_HOPS 2.0 /* in and out */
#define MOST_HOPS 128.0

struct fc_way_parcel {
    double weight;
    uint32_t link;   /* it came over; FC_NONE at the source */
    uint32_t before; /* the parcel it was there */
    uint32_t below;  /* the next one that waits at the same vertex */
};
bool fc_transit_widen(void **array, size_t *capacity, size_t need, size_t size, struct fc_status *st)
{
    if (need < FC_NONE / 2 && fc_array_grow(array, capacity, sizeof *capacity, need, size)) return true;
    return fc_out_of_memory(st, "the messages of the job"), false;
}
#define RESERVE(w, array, capacity, need)                                                                              \
    fc_transit_reserve((void **)&(w)->array, &(w)->capacity, need, sizeof *(w)->array, (w)->st)

static inline uint64_t hash_of(uint64_t key)
{
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return key ^ key >> 32;
}

static enum fc_code resize_table(struct fc_transit_ways *w, uint32_t size)
{
    uint32_t *slot = malloc((size_t)size * sizeof *slot);
    if (!slot) return fc_out_of_memory(w->st, "the routes of the job");
    memset(slot, 0xff, (size_t)size * sizeof *slot);
    free(w->slot);
    w->slot = slot;
    w->mask = size - 1;
    for (uint32_t i = 0; i < w->n_routes; i++) {
        uint64_t at = hash_of(w->route[i].key);
        while (slot[at & w->mask] != FC_NONE) at++;
        slot[at & w->mask] = i;
    }
    return FC_OK;
}

enum fc_code fc_transit_ways_open(struct fc_transit_ways *w, const struct fc_network *net, const double *background,
                                  struct fc_status *st)
{
    *w = (struct fc_transit_ways){
        .net = net, .background = background, .st = st, .path_key = UINT64_MAX, .fresh = FC_NONE};
    const struct fc_machine *m = net->machine;
    w->packet_bytes = m->packet.max_bytes > m->packet.header_bytes ? m->packet.max_bytes - m->packet.header_bytes
                                                                   : m->router.flit_bytes;
    w->most_paths = m->routing->message_paths ? m->routing->message_paths(net) : FC_WAY_PATHS;
    if (w->most_paths > FC_WAY_MOST_PATHS)
        return fc_refuse(st, FC_FAULT, "%s routing has too many paths", m->routing->name);
    bool compares = m->routing->adaptive && m->routing->detours;
    w->direct_bytes = compares ? w->most_paths * fc_ugal_threshold_flits(m) * m->router.flit_bytes : INFINITY;
    uint32_t capacity = m->routing->walk_capacity(net);
    if (capacity == FC_NONE)
        return fc_refuse(st, FC_NO, "a route of %s routing on this machine needs more memory than there is",
                         m->routing->name);
    if (fc_walk_start(&w->walk, capacity, st) || resize_table(w, 256) || fc_way_shapes_open(&w->shapes, net, st) ||
        fc_cuts_open(&w->cuts, net, st))
        return st->code;
    w->top = malloc((size_t)net->n_vertices * sizeof *w->top);
    w->merged = malloc((size_t)net->n_links * sizeof *w->merged);
    if (!w->top || !w->merged) return fc_out_of_memory(st, "the routes of the job");
    memset(w->top, 0xff, (size_t)net->n_vertices * sizeof *w->top);
    memset(w->merged, 0xff, (size_t)net->n_links * sizeof *w->merged);
    return FC_OK;
}

void fc_transit_ways_close(struct fc_transit_ways *w)
{
    fc_walk_free(&w->walk);
    fc_way_shapes_close(&w->shapes);
    free(w->way);
    free(w->link);
    free(w->weight);
    free(w->route);
    free(w->path_link);
    free(w->short_way);
    free(w->slot);
    free(w->top);
    free(w->merged);
    fc_cuts_close(&w->cuts);
    free(w->parcel);
    free(w->bytes);
    free(w->wire_bytes);
    memset(w, 0, sizeof *w);
}

/* ---- from a walk to parcels ---- */

static bool put(struct fc_transit_ways *w, uint32_t vertex, double weight, uint32_t link, uint32_t before)
{
    if (!RESERVE(w, parcel, parcel_capacity, w->n_parcels + 1)) return false;
    w->parcel[w->n_parcels] = (struct fc_way_parcel){weight, link, before, w->top[vertex]};
    w->top[vertex] = (uint32_t)w->n_parcels++;
    return true;
}

/* Moves `weight` over the link. What rounding leaves over or lacks is dropped. */
static bool carry(struct fc_transit_ways *w, uint32_t link, double weight)
{
    uint32_t u = w->net->link_source[link], v = w->net->link_target[link];
    double rounding = 1e-9 * weight;
    while (weight > rounding && w->top[u] != FC_NONE) {
        uint32_t from = w->top[u];
        double have = w->parcel[from].weight, taken = have;
        if (have > weight + rounding) {
            taken = weight;
            w->parcel[from].weight = have - taken;
        } else {
            w->top[u] = w->parcel[from].below;
        }
        weight -= taken;
        if (!put(w, v, taken, link, from)) return false;
    }
    return true;
}

static bool take_apart(struct fc_transit_ways *w, uint32_t src, uint32_t dst)
{
    const struct fc_walk *walk = &w->walk;
    w->walk.n = 0;
    w->n_parcels = 0;
    w->net->machine->routing->walk(w->net, src, dst, 1, &w->walk);
    bool good = put(w, fc_node_vertex(w->net, src), 1, FC_NONE, FC_NONE);
    for (uint32_t i = 0; good && i < walk->n; i++) good = carry(w, walk->link[i], walk->weight[i]);
    return good;
}

static void forget(struct fc_transit_ways *w, uint32_t src)
{
    w->top[fc_node_vertex(w->net, src)] = FC_NONE;
    for (uint32_t i = 0; i < w->walk.n; i++) w->top[w->net->link_target[w->walk.link[i]]] = FC_NONE;
}

/* ---- from parcels to paths ---- */

/* The background leaves the links something. */
static bool has_room(const struct fc_transit_ways *w, const uint32_t *link, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;) {
        if (fc_free_bandwidth(w->net, w->background, link[i]) > 0) continue;
        char name[96];
        fc_refuse(w->st, FC_NO, "link %s has no bandwidth left: %g of %g bytes/s are taken by the background",
                  fc_link_name(w->net, link[i], name, sizeof name), w->background ? w->background[link[i]] : 0,
                  fc_link_bandwidth(w->net, link[i]));
        return false;
    }
    return true;
}

static uint32_t hops_of(const struct fc_transit_ways *w, uint32_t parcel)
{
    uint32_t n = 0;
    for (uint32_t p = parcel; w->parcel[p].link != FC_NONE; p = w->parcel[p].before) n++;
    return n;
}

/* The path of a parcel that has arrived. */
static bool add_path(struct fc_transit_ways *w, uint32_t parcel, double share)
{
    uint32_t n = hops_of(w, parcel);
    if (!RESERVE(w, path_link, path_link_capacity, w->n_path_links + n)) return false;
    uint32_t *link = w->path_link + w->n_path_links;
    for (uint32_t p = parcel, i = n; i-- > 0; p = w->parcel[p].before) link[i] = w->parcel[p].link;
    w->path[w->n_paths++] =
        (struct fc_way_path){(uint32_t)w->n_path_links, n, share, fc_transit_head_delays_s(w->net, link, n)};
    w->n_path_links += n;
    return has_room(w, link, n);
}

/* The points (i + u) / N among the arrived parcels laid end to end, latest first. */
static bool draw_paths(struct fc_transit_ways *w, uint32_t src, uint32_t dst)
{
    uint32_t top = w->top[fc_node_vertex(w->net, dst)], drawn = 0;
    double total = 0, seen = 0, u = fc_random_real(1, src, dst);
    for (uint32_t p = top; p != FC_NONE; p = w->parcel[p].below) total += w->parcel[p].weight;
    if (total == 0) {
        char from[360], to[360];
        fc_refuse(w->st, FC_INPUT, "%s routing has no route from %s to %s", w->net->machine->routing->name,
                  fc_node_name(w->net, src, from, sizeof from), fc_node_name(w->net, dst, to, sizeof to));
        return false;
    }
    if (!(fabs(total - 1) < 1e-6)) {
        fc_refuse(w->st, FC_FAULT, "%s routing brings %g of the traffic from node %u to node %u",
                  w->net->machine->routing->name, total, src, dst);
        return false;
    }
    for (uint32_t p = top; p != FC_NONE; p = w->parcel[p].below) {
        uint32_t points = 0;
        seen += w->parcel[p].weight / total;
        while (drawn < w->most_paths && (drawn + u < seen * w->most_paths || w->parcel[p].below == FC_NONE))
            drawn++, points++; /* the last one takes what rounding left */
        if (points && !add_path(w, p, (double)points / w->most_paths)) return false;
    }
    return true;
}

/* ---- paths of pairs that lie to each other alike (transit_shapes.c) ---- */

/* Keeps what the walk at hand came apart into, if all its paths are of one length. False: out of memory. */
static bool keep_shape(struct fc_transit_ways *w, uint32_t src, uint32_t dst, uint32_t displacement)
{
    const struct fc_network *net = w->net;
    uint32_t top = w->top[fc_node_vertex(net, dst)], n = 0, n_hops = hops_of(w, top), i = 0;
    double total = 0, seen = 0;
    if (!RESERVE(w, path_link, path_link_capacity, w->n_path_links + n_hops)) return false;
    for (uint32_t p = top; p != FC_NONE; p = w->parcel[p].below) {
        if (hops_of(w, p) != n_hops) return true;
        total += w->parcel[p].weight;
        n++;
    }
    struct fc_way_shape *shape = fc_way_shape_new(&w->shapes, displacement, n, n_hops);
    if (!shape) return true;
    shape->cut_bytes_per_s = w->cut_bytes_per_s;
    uint32_t *link = w->path_link + w->n_path_links; /* scratch */
    for (uint32_t p = top; p != FC_NONE; p = w->parcel[p].below, i++) {
        uint8_t *port = shape->port + (size_t)i * n_hops;
        uint32_t at = p;
        shape->seen[i] = seen += w->parcel[p].weight / total;
        for (uint32_t k = n_hops; k-- > 0; at = w->parcel[at].before) {
            uint32_t l = w->parcel[at].link;
            link[k] = l;
            port[k] = (uint8_t)(l - net->first_link[net->link_source[l]]);
        }
        shape->head_s[i] = fc_transit_head_delays_s(w->net, link, n_hops);
    }
    fc_way_shape_guide(shape);
    for (uint32_t k = 0; k < w->n_out; k++) {
        uint32_t door = net->first_link[fc_node_vertex(net, src)], router = net->link_source[w->out[k]];
        while (net->link_target[door] != router) door++;
        shape->out[k][0] = (uint8_t)(door - net->first_link[fc_node_vertex(net, src)]);
        shape->out[k][1] = (uint8_t)(w->out[k] - net->first_link[router]);
    }
    shape->n_out = w->n_out;
    return true;
}

/* As draw_paths from a walk. */
static bool draw_shape(struct fc_transit_ways *w, const struct fc_way_shape *shape, uint32_t src, uint32_t dst)
{
    const struct fc_network *net = w->net;
    double u = fc_random_real(1, src, dst);
    w->cut_bytes_per_s = shape->cut_bytes_per_s;
    for (; w->n_out < shape->n_out; w->n_out++) {
        const uint8_t *port = shape->out[w->n_out];
        w->out[w->n_out] =
            net->first_link[net->link_target[net->first_link[fc_node_vertex(net, src)] + port[0]]] + port[1];
    }
    if (!RESERVE(w, path_link, path_link_capacity, w->most_paths * (size_t)shape->n_hops)) return false;
    uint32_t last = FC_NONE;
    for (uint32_t drawn = 0; drawn < w->most_paths; drawn++) {
        uint32_t i = fc_way_shape_at(shape, (drawn + u) * (8.0 / w->most_paths));
        if (i == last) {
            w->path[w->n_paths - 1].share += 1.0 / w->most_paths;
            continue;
        }
        last = i;
        const uint8_t *port = shape->port + (size_t)i * shape->n_hops;
        uint32_t *link = w->path_link + w->n_path_links, v = fc_node_vertex(net, src);
        for (uint32_t k = 0; k < shape->n_hops; k++) {
            link[k] = net->first_link[v] + port[k];
            v = net->link_target[link[k]];
        }
        w->path[w->n_paths++] =
            (struct fc_way_path){(uint32_t)w->n_path_links, shape->n_hops, 1.0 / w->most_paths, shape->head_s[i]};
        w->n_path_links += shape->n_hops;
        if (w->background && !has_room(w, link, shape->n_hops)) return false;
    }
    return true;
}

/* Paths, and the cut, from a walk; kept as a shape or not. */
static bool draw_walk(struct fc_transit_ways *w, uint32_t src, uint32_t dst, uint32_t displacement, bool keep)
{
    bool good = take_apart(w, src, dst);
    if (good && fc_goes_round(w->net) && !w->background) { /* which takes of links */
        w->cut_bytes_per_s = fc_cut_of_walk(&w->cuts, w->net, src, &w->walk, w->st);
        w->n_out = fc_out_of_walk(w->net, src, &w->walk, FC_SHAPE_OUT, w->out);
    }
    good = good && !w->st->code && draw_paths(w, src, dst) && (!keep || keep_shape(w, src, dst, displacement));
    forget(w, src);
    return good;
}

/* Puts the paths, which come set by set, in an order in which any n_sets in a row are of different sets. Returns n_sets, or n_paths where sets
 * have unlike numbers of paths. */
static uint32_t deal_sets(struct fc_transit_ways *w, uint32_t n_sets)
{
    struct fc_way_path path[FC_WAY_MOST_PATHS];
    if (n_sets <= 1 || n_sets >= w->n_paths || w->n_paths % n_sets) return n_sets <= 1 ? 1 : w->n_paths;
    uint32_t each = w->n_paths / n_sets;
    double seen = 0;
    for (uint32_t i = 0; i < w->n_paths; i++) {
        if (i % each == 0 && fabs(seen * n_sets - i / each) > 1e-9) return w->n_paths;
        seen += w->path[i].share;
    }
    for (uint32_t i = 0; i < w->n_paths; i++) path[i % each * n_sets + i / each] = w->path[i];
    memcpy(w->path, path, w->n_paths * sizeof *path);
    return n_sets;
}

/* The paths of the pair into path[]. */
static bool walk_paths(struct fc_transit_ways *w, uint64_t key)
{
    uint32_t src = (uint32_t)(key >> 32), dst = (uint32_t)key, displacement = FC_NONE;
    if (w->path_key == key) return true;
    w->n_paths = 0;
    w->n_path_links = 0;
    w->path_key = UINT64_MAX;
    w->cut_bytes_per_s = INFINITY;
    w->n_out = 0;
    bool good, keep = false;
    if (w->shapes.n_displacements) {
        displacement = w->net->machine->routing->displacement(w->net, src, dst);
        keep = w->shapes.asked[displacement] == 1;
        if (w->shapes.asked[displacement] < 2) w->shapes.asked[displacement]++;
    }
    if (displacement != FC_NONE && w->shapes.shape[displacement]) {
        good = draw_shape(w, w->shapes.shape[displacement], src, dst);
    } else {
        good = draw_walk(w, src, dst, displacement, keep);
    }
    if (good) w->path_key = key;
    const struct fc_routing_ops *routing = w->net->machine->routing;
    w->n_sets = good && routing->source_sets ? deal_sets(w, routing->source_sets(w->net, src, dst)) : 1;
    return good;
}

/* ---- ways ---- */

/* The links and weights of the way at link[n_links]. */
static bool sum_paths(struct fc_transit_ways *w, struct fc_transit_way *way)
{
    if (!walk_paths(w, w->route[way->route].key) ||
        !RESERVE(w, link, link_capacity, w->n_links + w->n_path_links + w->n_out) ||
        !RESERVE(w, weight, weight_capacity, w->n_links + w->n_path_links + w->n_out))
        return false;
    uint32_t *link = w->link + w->n_links;
    double *weight = w->weight + w->n_links;
    way->n = 0;
    for (uint32_t i = 0; i < way->used; i++) {
        const struct fc_way_path *path = &w->path[(way->path + i) % w->n_paths];
        double share = way->even ? 1.0 / way->used : path->share / way->share;
        for (uint32_t k = 0; k < path->n; k++) {
            uint32_t l = w->path_link[path->first + k];
            if (w->merged[l] == FC_NONE) {
                w->merged[l] = way->n;
                link[way->n] = l;
                weight[way->n++] = 0;
            }
            weight[w->merged[l]] += share;
        }
    }
    for (uint32_t k = 0; way->used == w->n_paths && !way->even && k < w->n_out; k++) {
        if (w->merged[w->out[k]] != FC_NONE) continue;
        link[way->n] = w->out[k];
        weight[way->n++] = 0;
    }
    for (uint32_t i = 0; i < way->n; i++) w->merged[link[i]] = FC_NONE;
    return true;
}

static inline double greater(double a, double b) /* fmax is a call into the library, this is not */
{
    return a > b ? a : b;
}

/* Light ways are cheap to make again: beyond so many the next stands where the last that is not kept stood. */
static inline bool keeps_more(const struct fc_transit_ways *w)
{
    return !w->light || w->n_ways < w->most_light;
}

/* At most 1, up to MOST_HOPS. */
static double claim_of(const struct fc_network *net, uint32_t hops)
{
    const struct fc_router *router = &net->machine->router;
    double far = router->arbitration == FC_AGE ? 0 : FAR * (1 - router->in_network_percent / 50);
    return pow((far < 0 ? MOST_HOPS : LEAST_HOPS) / fmax(hops, LEAST_HOPS), far);
}

/* The sum of `used` paths of the route from `first` on, cyclically. FC_NONE: out of memory. */
static uint32_t make_way(struct fc_transit_ways *w, uint32_t route, uint32_t used, uint32_t first, bool even)
{
    struct fc_transit_way way = {.first = (uint32_t)w->n_links,
                                 .narrow = FC_NONE,
                                 .route = route,
                                 .used = (uint8_t)used,
                                 .path = (uint8_t)first,
                                 .even = even,
                                 .fifos_s_per_byte = -1};
    if (!RESERVE(w, way, way_capacity, w->n_ways + 1) || !walk_paths(w, w->route[route].key)) return FC_NONE;
    uint32_t hops = 0;
    for (uint32_t i = 0; i < used; i++) {
        const struct fc_way_path *path = &w->path[(first + i) % w->n_paths];
        hops = path->n > hops ? path->n : hops;
        way.head_s = greater(way.head_s, path->head_s);
        way.share += path->share;
    }
    if (w->direct_bytes < INFINITY) {
        double longest_s = way.head_s;
        way.head_s = w->route[route].latency_s;
        way.detour_s = fmax(0, longest_s - way.head_s);
    }
    if (!sum_paths(w, &way)) return FC_NONE;
    uint32_t *link = w->link + w->n_links;
    double *weight = w->weight + w->n_links;
    for (uint32_t i = 0; i < way.n; i++) {
        uint32_t l = link[i];
        double each = weight[i] / fc_free_bandwidth(w->net, w->background, l);
        if (!(each > 0)) continue;
        if (each > way.s_per_byte) way.narrow = l;
        way.s_per_byte = greater(way.s_per_byte, each);
        uint32_t at = way.n_finite++;
        double moved = weight[i];
        link[i] = link[at], weight[i] = weight[at];
        link[at] = l, weight[at] = moved;
    }
    if (!even && used == w->n_paths && way.s_per_byte * w->cut_bytes_per_s > 1 + 1e-9 &&
        w->cut_bytes_per_s < INFINITY) {
        way.free_bytes_per_s = w->cut_bytes_per_s;
        way.s_per_byte = 1 / way.free_bytes_per_s;
    }
    if (1 / w->net->machine->port_bytes_per_s > way.s_per_byte) way.narrow = FC_NONE;
    way.s_per_byte = greater(way.s_per_byte, 1 / w->net->machine->port_bytes_per_s);
    way.claim = claim_of(w->net, hops);
    uint32_t number = (uint32_t)w->n_ways;
    if (w->light) {
        way.first = FC_NONE;
        w->fresh = number;
    } else {
        w->n_links += way.n;
    }
    w->way[w->n_ways] = way;
    w->n_ways += keeps_more(w);
    return number;
}

enum fc_code fc_transit_ways_lighten(struct fc_transit_ways *w)
{
    w->light = true;
    w->most_light = (size_t)1 << 20;
    w->bytes = calloc((size_t)w->net->n_links + 1, sizeof *w->bytes);
    w->wire_bytes = calloc((size_t)w->net->n_links + 1, sizeof *w->wire_bytes);
    if (w->bytes && w->wire_bytes) return FC_OK;
    return fc_out_of_memory(w->st, "the routes of the job");
}

bool fc_transit_add_light(struct fc_transit_ways *w, uint32_t number, double bytes, double wire_bytes)
{
    struct fc_transit_way *way = &w->way[number];
    if (w->fresh != number && !sum_paths(w, way)) return false;
    for (uint32_t i = 0; i < way->n; i++) {
        uint32_t l = w->link[w->n_links + i];
        w->bytes[l] += w->weight[w->n_links + i] * bytes;
        w->wire_bytes[l] += w->weight[w->n_links + i] * wire_bytes;
    }
    return true;
}

static uint32_t add_route(struct fc_transit_ways *w, uint64_t key)
{
    if (w->st->code || !RESERVE(w, route, route_capacity, w->n_routes + 1) || !walk_paths(w, key)) return FC_NONE;
    struct fc_way_route *route = &w->route[w->n_routes];
    *route = (struct fc_way_route){.key = key,
                                   .latency_s = INFINITY,
                                   .n_paths = w->n_paths,
                                   .n_sets = w->n_sets,
                                   .full = FC_NONE,
                                   .shorts = FC_NONE};
    for (uint32_t i = 0; i < w->n_paths; i++) route->latency_s = fmin(route->latency_s, w->path[i].head_s);
    if (w->direct_bytes < INFINITY) route->latency_s = fc_transit_undisturbed_s(w->path, w->n_paths);
    w->n_routes++;
    if (2 * (uint64_t)w->n_routes > w->mask)
        return resize_table(w, 2 * (w->mask + 1)) ? FC_NONE : (uint32_t)w->n_routes - 1;
    uint64_t at = hash_of(key);
    while (w->slot[at & w->mask] != FC_NONE) at++;
    w->slot[at & w->mask] = (uint32_t)w->n_routes - 1;
    return (uint32_t)w->n_routes - 1;
}

/* n more numbers of short ways, FC_NONE each; the first, or FC_NONE: out of memory. */
static uint32_t take_shorts(struct fc_transit_ways *w, uint32_t n)
{
    if (!RESERVE(w, short_way, short_capacity, w->n_short + n)) return FC_NONE;
    memset(w->short_way + w->n_short, 0xff, n * sizeof *w->short_way);
    w->n_short += n;
    return (uint32_t)w->n_short - n;
}

uint32_t fc_transit_short_way(struct fc_transit_ways *w, struct fc_way_route *route, uint32_t used, uint32_t first,
                              bool even)
{
    uint32_t number = (uint32_t)(route - w->route), row = even ? used - 1 : route->n_paths - 1;
    if (route->shorts == FC_NONE && !keeps_more(w)) return make_way(w, number, used, first, even);
    if (route->shorts == FC_NONE && (route->shorts = take_shorts(w, route->n_paths)) == FC_NONE) return FC_NONE;
    uint32_t block = w->short_way[route->shorts + row];
    if (block == FC_NONE) {
        if ((block = take_shorts(w, route->n_paths)) == FC_NONE) return FC_NONE;
        w->short_way[route->shorts + row] = block;
    }
    uint32_t way = w->short_way[block + first];
    if (way != FC_NONE) return way;
    bool keeps = keeps_more(w);
    way = make_way(w, number, used, first, even);
    if (keeps) w->short_way[block + first] = way;
    return way;
}

uint32_t fc_transit_route_find(struct fc_transit_ways *w, uint32_t src, uint32_t dst)
{
    uint64_t key = (uint64_t)src << 32 | dst;
    for (uint64_t i = hash_of(key);; i++) {
        uint32_t r = w->slot[i & w->mask];
        if (r == FC_NONE) return add_route(w, key);
        if (w->route[r].key == key) return r;
    }
}

/* Of a short message: a path for each of its packets. */
static uint32_t paths_of(const struct fc_transit_ways *w, double bytes)
{
    return bytes > w->packet_bytes ? (uint32_t)ceil(bytes / w->packet_bytes) : 1;
}

uint32_t fc_transit_way_over(struct fc_transit_ways *w, uint32_t number, double bytes, uint64_t turn)
{
    struct fc_way_route *route = &w->route[number];
    if (fc_transit_is_short(w, route, bytes))
        return fc_transit_short_way(w, route, paths_of(w, bytes), fc_transit_first_path(turn, route->n_paths), true);
    if (route->full != FC_NONE) return route->full;
    bool keeps = keeps_more(w);
    uint32_t way = make_way(w, number, route->n_paths, 0, false);
    if (keeps) route->full = way;
    return way;
}

uint32_t fc_transit_ways_find(struct fc_transit_ways *w, uint32_t src, uint32_t dst, double bytes, uint64_t turn)
{
    uint32_t route = fc_transit_route_find(w, src, dst);
    return route == FC_NONE ? FC_NONE : fc_transit_way_over(w, route, bytes, turn);
}
