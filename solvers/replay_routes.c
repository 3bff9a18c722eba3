/* replay_routes.c - routes for single messages: at most 8 paths a pair of nodes, made once.
 *
 * A routing gives a pair's traffic as weighted links (fc_walk), a flow from node to node. The flow is
 * taken apart into paths: a link takes its weight from the parcels that wait at its source, latest first,
 * and leaves them at its target; as a walk lists links after those that feed them, the parcels are there,
 * and a walk written path after path comes apart into those very paths. Of the paths 8 are drawn by
 * systematic sampling: the points (i + u) / 8 of the paths laid end to end by weight, u a random number of
 * the pair. So a link's load has the routing's mean over pairs, a route of up to 8 equal paths is kept
 * whole, and a single path stays one.
 *
 * Limits: an adaptive routing is represented by its uniform minimal split, not by the queues met on the
 * way; a route of more than 8 paths loads 8 of them. O(walk) a pair. */
#include "solvers/load_internal.h"
#include "solvers/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fc_parcel {
    double weight;
    uint32_t link;   /* it came over; FC_NONE at the source */
    uint32_t before; /* the parcel it was there */
    uint32_t below;  /* the next one that waits at the same vertex */
};

/* Room for `need` things; false with the status filled when there is no memory. */
static bool reserve(void **array, size_t *capacity, size_t need, size_t size, struct fc_status *st)
{
    if (need <= *capacity) return true;
    size_t more = 2 * need > 64 ? 2 * need : 64;
    void *grown = need < FC_NONE ? realloc(*array, more * size) : NULL;
    if (!grown) {
        fc_refuse(st, FC_NO, "out of memory for the routes of the job");
        return false;
    }
    *array = grown;
    *capacity = more;
    return true;
}

static enum fc_code resize_table(struct fc_routes *r, uint32_t size)
{
    struct fc_route_slot *slot = malloc((size_t)size * sizeof *slot);
    if (!slot) return fc_refuse(r->st, FC_NO, "out of memory for the routes of the job");
    memset(slot, 0xff, (size_t)size * sizeof *slot);
    free(r->slot);
    r->slot = slot;
    r->mask = size - 1;
    for (uint32_t i = 0; i < r->n_routes; i++) {
        uint64_t key = (uint64_t)r->route[i].src << 32 | r->route[i].dst, at = fc_route_hash(key);
        while (slot[at & r->mask].key != UINT64_MAX) at++;
        slot[at & r->mask] = (struct fc_route_slot){key, i};
    }
    return FC_OK;
}

enum fc_code fc_routes_start(struct fc_routes *r, const struct fc_network *net, const double *background,
                             struct fc_status *st)
{
    *r = (struct fc_routes){.net = net, .background = background, .st = st};
    const struct fc_routing_ops *routing = net->machine->routing;
    uint32_t capacity = routing->walk_capacity(net);
    if (capacity == FC_NONE)
        return fc_refuse(st, FC_NO, "a route of %s routing on this machine needs more memory than there is",
                         routing->name);
    if (fc_walk_start(&r->walk, capacity, st) || resize_table(r, 256)) return st->code;
    r->top = malloc((size_t)net->n_vertices * sizeof *r->top);
    if (!r->top) return fc_refuse(st, FC_NO, "out of memory for the routes of the job");
    memset(r->top, 0xff, (size_t)net->n_vertices * sizeof *r->top);
    return FC_OK;
}

void fc_routes_free(struct fc_routes *r)
{
    fc_walk_free(&r->walk);
    free(r->slot);
    free(r->link);
    free(r->path);
    free(r->route);
    free(r->top);
    free(r->parcel);
    memset(r, 0, sizeof *r);
}

/* ---- from a walk to parcels ---- */

static bool put(struct fc_routes *r, uint32_t vertex, double weight, uint32_t link, uint32_t before)
{
    if (!reserve((void **)&r->parcel, &r->parcel_capacity, r->n_parcels + 1, sizeof *r->parcel, r->st))
        return false;
    r->parcel[r->n_parcels] = (struct fc_parcel){weight, link, before, r->top[vertex]};
    r->top[vertex] = (uint32_t)r->n_parcels++;
    return true;
}

/* Moves `weight` over the link. What rounding leaves over or lacks is dropped. */
static bool carry(struct fc_routes *r, uint32_t link, double weight)
{
    uint32_t u = r->net->link_source[link], v = r->net->link_target[link];
    double rounding = 1e-9 * weight;
    while (weight > rounding && r->top[u] != FC_NONE) {
        uint32_t from = r->top[u];
        double have = r->parcel[from].weight, taken = have;
        if (have > weight + rounding) {
            taken = weight;
            r->parcel[from].weight = have - taken;
        } else {
            r->top[u] = r->parcel[from].below;
        }
        weight -= taken;
        if (!put(r, v, taken, link, from)) return false;
    }
    return true;
}

static bool take_apart(struct fc_routes *r, uint32_t src, uint32_t dst)
{
    const struct fc_walk *walk = &r->walk;
    r->walk.n = 0;
    r->n_parcels = 0;
    r->net->machine->routing->walk(r->net, src, dst, 1, &r->walk);
    bool good = put(r, fc_node_vertex(r->net, src), 1, FC_NONE, FC_NONE);
    for (uint32_t i = 0; good && i < walk->n; i++) good = carry(r, walk->link[i], walk->weight[i]);
    return good;
}

static void forget(struct fc_routes *r, uint32_t src)
{
    r->top[fc_node_vertex(r->net, src)] = FC_NONE;
    for (uint32_t i = 0; i < r->walk.n; i++) r->top[r->net->link_target[r->walk.link[i]]] = FC_NONE;
}

/* ---- from parcels to paths ---- */

/* The path of a parcel that has arrived. */
static bool add_path(struct fc_routes *r, uint32_t parcel, double share)
{
    uint32_t n = 0;
    for (uint32_t p = parcel; r->parcel[p].link != FC_NONE; p = r->parcel[p].before) n++;
    if (!reserve((void **)&r->link, &r->link_capacity, (size_t)r->n_links + n, sizeof *r->link, r->st) ||
        !reserve((void **)&r->path, &r->path_capacity, (size_t)r->n_paths + 1, sizeof *r->path, r->st))
        return false;
    struct fc_path *path = &r->path[r->n_paths++];
    *path = (struct fc_path){.first = r->n_links, .n = n, .share = share};
    for (uint32_t p = parcel, i = n; i-- > 0; p = r->parcel[p].before) {
        uint32_t l = r->link[path->first + i] = r->parcel[p].link;
        double free_bytes_per_s = fc_free_bandwidth(r->net, r->background, l);
        if (!(free_bytes_per_s > 0)) {
            char name[96];
            fc_refuse(
                r->st, FC_NO, "link %s has no bandwidth left: %g of %g bytes/s are taken by the background",
                fc_link_name(r->net, l, name, sizeof name), r->background[l], fc_link_bandwidth(r->net, l));
            return false;
        }
        path->head_s += fc_head_delay_s(r->net, l);
        path->s_per_byte = fmax(path->s_per_byte, 1 / free_bytes_per_s);
    }
    r->n_links += n;
    return true;
}

/* The points (i + u) / 8 among the arrived parcels laid end to end, latest first. */
static bool draw_paths(struct fc_routes *r, uint32_t src, uint32_t dst)
{
    uint32_t top = r->top[fc_node_vertex(r->net, dst)], drawn = 0, first_path = r->n_paths;
    double total = 0, seen = 0, u = fc_random_real(1, src, dst);
    for (uint32_t p = top; p != FC_NONE; p = r->parcel[p].below) total += r->parcel[p].weight;
    if (!(fabs(total - 1) < 1e-6)) {
        fc_refuse(r->st, FC_FAULT, "%s routing brings %g of the traffic from node %u to node %u",
                  r->net->machine->routing->name, total, src, dst);
        return false;
    }
    for (uint32_t p = top; p != FC_NONE; p = r->parcel[p].below) {
        uint32_t points = 0;
        seen += r->parcel[p].weight / total;
        while (drawn < FC_MOST_PATHS && (drawn + u < seen * FC_MOST_PATHS || r->parcel[p].below == FC_NONE))
            drawn++, points++; /* the last one takes what rounding left */
        if (points && !add_path(r, p, (double)points / FC_MOST_PATHS)) return false;
    }
    r->route[r->n_routes].first_path = first_path;
    r->route[r->n_routes].n_paths = r->n_paths - first_path;
    return true;
}

struct fc_route *fc_routes_add(struct fc_routes *r, uint32_t src, uint32_t dst)
{
    if (r->st->code) return NULL;
    if (!reserve((void **)&r->route, &r->route_capacity, (size_t)r->n_routes + 1, sizeof *r->route, r->st))
        return NULL;
    struct fc_route *route = &r->route[r->n_routes];
    *route = (struct fc_route){.src = src, .dst = dst, .latency_s = INFINITY, .last_bytes = -1};
    bool good = take_apart(r, src, dst) && draw_paths(r, src, dst);
    forget(r, src);
    if (!good) return NULL;
    for (uint32_t p = 0; p < route->n_paths; p++)
        route->latency_s = fmin(route->latency_s, r->path[route->first_path + p].head_s);
    r->n_routes++;
    if (2 * (uint64_t)r->n_routes > r->mask)
        return resize_table(r, 2 * (r->mask + 1)) ? NULL : &r->route[r->n_routes - 1];
    uint64_t key = (uint64_t)src << 32 | dst, at = fc_route_hash(key);
    while (r->slot[at & r->mask].key != UINT64_MAX) at++;
    r->slot[at & r->mask] = (struct fc_route_slot){key, r->n_routes - 1};
    return &r->route[r->n_routes - 1];
}
