/* transit_parts.c - what messages of adaptive routings choose of their route's paths (transit_routes.c).
 *
 * Short messages go round others: of all runs of as many paths, those as short as the one that is their turn, they take the one whose
 * most crowded link has fewest messages (fc_transit_way_free), of other sets too: a packet has its set from its source, but a fluid lets short messages
 * that meet wait longer than packets do, and with this they are nearer to the kernel (allreduce of 64 B on bgl-64 +6 %, else +18).
 *
 * Long messages of minimal adaptive routings are taken apart: part i of at most 4 takes some of the paths, equally many of each set, and each has a
 * rate of its own (transit_contention.c), as packets that find a queue before them take another way. Nor are they bound to the
 * paths drawn: alone such a message goes as fast as all links out of its source let it (transit_cut.c).
 *
 * Limits: behind MOST_CHOSEN ways, which are kept, nobody chooses. Where sets have unlike numbers of paths a message is not taken apart. */
#include "solvers/transit/transit_internal.h"

#include <math.h>

enum { MOST_CHOSEN = 1 << 20 };

uint32_t fc_transit_way_free(struct fc_transit_ways *w, uint32_t number, double bytes,
                             uint32_t (*crowd)(const void *, uint32_t), const void *context)
{
    uint32_t n_paths = w->route[w->way[number].route].n_paths, first = w->way[number].path, best = number;
    uint32_t least = UINT32_MAX, used = w->way[number].used;
    double head_s = w->way[number].head_s * (1 + 1e-9), s_per_byte = w->way[number].s_per_byte * (1 + 1e-9);
    if (!w->net->machine->routing->adaptive || w->n_ways >= MOST_CHOSEN ||
        !fc_transit_is_short(w, &w->route[w->way[number].route], bytes))
        return number;
    for (uint32_t k = 0; k < n_paths && least > 0; k++) {
        uint32_t at = fc_transit_short_way(w, &w->route[w->way[number].route], used, (first + k) % n_paths, true),
                 most = 0;
        if (at == FC_NONE) return FC_NONE;
        const struct fc_transit_way *way = &w->way[at];
        if (way->head_s > head_s || way->s_per_byte > s_per_byte) continue;
        for (uint32_t i = way->first; i < way->first + way->n_finite && most < least; i++) {
            uint32_t there = crowd(context, w->link[i]);
            most = there > most ? there : most;
        }
        if (most < least) least = most, best = at;
    }
    return best;
}

/* Paths of a part; the last may have fewer. */
static uint32_t part_paths(const struct fc_way_route *route)
{
    uint32_t each = (route->n_paths + FC_WAY_PARTS - 1) / FC_WAY_PARTS;
    return (each + route->n_sets - 1) / route->n_sets * route->n_sets;
}

uint32_t fc_transit_parts(const struct fc_transit_ways *w, uint32_t number, double bytes)
{
    const struct fc_way_route *route = &w->route[w->way[number].route];
    const struct fc_routing_ops *routing = w->net->machine->routing;
    if (!routing->adaptive || routing->detours || w->n_ways >= MOST_CHOSEN || fc_transit_is_short(w, route, bytes))
        return 1;
    return (route->n_paths + part_paths(route) - 1) / part_paths(route);
}

uint32_t fc_transit_part(struct fc_transit_ways *w, uint32_t number, uint32_t part)
{
    struct fc_way_route *route = &w->route[w->way[number].route];
    uint32_t used = part_paths(route), first = part * used, left = route->n_paths - first;
    if (left < used) used = left;
    return fc_transit_short_way(w, route, used, first, used == 1);
}

double fc_transit_uneven_s(const struct fc_transit_ways *w, uint32_t number, double bytes, double wire_bytes)
{
    const struct fc_transit_way *way = &w->way[number];
    const struct fc_way_route *route = &w->route[way->route];
    if (route->n_sets <= 1 || way->used < route->n_paths || way->narrow == FC_NONE ||
        fc_is_node(w->net, w->net->link_source[way->narrow]) || fc_is_node(w->net, w->net->link_target[way->narrow]))
        return 0;
    return wire_bytes * way->s_per_byte * sqrt(2 / (M_PI * fmax(1, bytes / w->packet_bytes)));
}
