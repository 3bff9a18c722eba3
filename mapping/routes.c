/* routes.c - the routes between the places of a search: rings of a torus, a table, or the routing's own walk.
 *
 * Dimension order on a torus or mesh with single cables needs no table: a route is one run of links a
 * dimension (two where it wraps, both ways at a tie of an even ring), found from coordinates. Other routings
 * of networks that are small enough get a table of all pairs. Limits: the table takes 8 bytes a pair and 4 or
 * 8 a link of a route. */
#include "mapping/routes.h"

#include "models/routings/torus_loads.h"

#include <math.h>
#include <string.h>

enum { MOST_ENTRIES = 12000000, MOST_TABLE_PLACES = 4096 };

static enum fc_code number_links(struct fc_routes *r, struct fc_status *st)
{
    const struct fc_network *net = r->sites->net;
    r->real = fc_alloc(&r->arena, net->n_links, sizeof *r->real, st);
    r->number = r->real ? fc_alloc(&r->arena, net->n_links, sizeof *r->number, st) : NULL;
    r->seconds = r->number ? fc_alloc(&r->arena, net->n_links, sizeof *r->seconds, st) : NULL;
    if (!r->seconds) return st->code;
    memset(r->number, 0xff, net->n_links * sizeof *r->number);
    return FC_OK;
}

static uint32_t add_link(struct fc_routes *r, uint32_t real)
{
    double bandwidth = fc_site_bandwidth(r->sites, real);
    if (!isfinite(bandwidth)) return FC_NONE;
    r->real[r->n_links] = real;
    r->seconds[r->n_links] = 1 / bandwidth;
    return r->number[real] = r->n_links++;
}

/* ---- rings ---- */

static bool are_rings(const struct fc_sites *sites)
{
    const struct fc_network *net = sites->net;
    const struct fc_torus_shape *s = fc_torus(net);
    if (sites->background_bytes_per_s || !s || sites->routing->ordered != sites->routing) return false;
    for (int d = 0; d < s->n_dims; d++)
        if (s->parallel[d] > 1 || s->k[d] > FC_MOST_RING ||
            !isfinite(net->machine->classes[s->dim_class[d]].bandwidth_bytes_per_s))
            return false;
    return true;
}

/* Numbers the links of dimension d, line by line, first those in + direction. A mesh's missing last link
 * keeps an unused number (of no link), so that positions stay coordinates. */
static void number_ring(struct fc_routes *r, const struct fc_torus_shape *s, int d)
{
    const struct fc_network *net = r->sites->net;
    double seconds = 1 / net->machine->classes[s->dim_class[d]].bandwidth_bytes_per_s;
    for (int direction = FC_PLUS; direction <= FC_MINUS; direction++) {
        uint32_t base = r->n_links;
        if (direction == FC_PLUS)
            r->ring[d].plus = base;
        else
            r->ring[d].minus = base;
        for (uint32_t v = 0; v < s->n_routers; v++) {
            uint32_t line = v % s->stride[d] + v / (s->stride[d] * s->k[d]) * s->stride[d];
            uint32_t at = base + line * s->k[d] + fc_torus_coordinate(s, v, d);
            uint32_t port = s->k[d] > 1 ? fc_torus_port(net, v, d, direction) : FC_NONE;
            r->real[at] = port;
            r->seconds[at] = seconds;
            if (port != FC_NONE) r->number[port] = at;
        }
        r->n_links += s->n_routers;
    }
}

/* The runs between all coordinates of a dimension, padded to whole groups of 4. */
static enum fc_code list_runs(struct fc_routes *r, struct fc_ring *ring, struct fc_status *st)
{
    uint32_t k = ring->k, most = ring->wraps ? k / 2 : k - 1;
    ring->width = (most + 3) / 4 * 4;
    ring->count = fc_alloc(&r->arena, (size_t)k * k, sizeof *ring->count, st);
    ring->run = ring->count ? fc_alloc(&r->arena, (size_t)k * k * ring->width, sizeof *ring->run, st) : NULL;
    ring->seconds = ring->run ? fc_alloc(&r->arena, k, sizeof *ring->seconds, st) : NULL;
    if (!ring->seconds) return st->code;
    for (uint32_t a = 0; a < k; a++)
        for (uint32_t b = 0; b < k; b++) {
            uint32_t up = b >= a ? b - a : b + k - a, down = a == b ? 0 : k - up,
                     *run = ring->run + (a * k + b) * ring->width;
            bool rises = ring->wraps ? up <= down : b > a;
            uint32_t n = rises ? up : ring->wraps ? down : a - b;
            for (uint32_t i = 0; i < n; i++)
                run[i] = rises ? ring->plus + (a + i) % k : ring->minus + (a + k - i) % k;
            ring->count[a * k + b] = (uint8_t)(ring->wraps && a != b && up == down ? FC_BOTH_WAYS : n);
        }
    for (uint32_t h = 0; h < k; h++)
        ring->seconds[h] = (float)((ring->wraps && k - h < h ? k - h : h) * r->seconds[ring->plus]);
    return FC_OK;
}

static enum fc_code make_rings(struct fc_routes *r, struct fc_status *st)
{
    const struct fc_network *net = r->sites->net;
    const struct fc_torus_shape *s = fc_torus(net);
    size_t room = 2 * (size_t)s->n_dims * s->n_routers + 2 * (size_t)r->n;
    if (room >= FC_NONE) return fc_refuse(st, FC_NO, "%u routers are too many to search", s->n_routers);
    r->n_dims = s->n_dims;
    r->real = fc_alloc(&r->arena, room, sizeof *r->real, st);
    r->seconds = r->real ? fc_alloc(&r->arena, room, sizeof *r->seconds, st) : NULL;
    r->number = r->seconds ? fc_alloc(&r->arena, net->n_links, sizeof *r->number, st) : NULL;
    r->at = r->number ? fc_alloc(&r->arena, (size_t)r->n * (size_t)s->n_dims, sizeof *r->at, st) : NULL;
    r->out = r->at ? fc_alloc(&r->arena, r->n, sizeof *r->out, st) : NULL;
    r->in = r->out ? fc_alloc(&r->arena, r->n, sizeof *r->in, st) : NULL;
    if (!r->in) return st->code;
    memset(r->number, 0xff, net->n_links * sizeof *r->number);
    r->capacity = 2;
    for (int d = 0; d < s->n_dims; d++) {
        struct fc_ring *ring = &r->ring[d];
        *ring = (struct fc_ring){.k = s->k[d], .wraps = s->ring[d]};
        number_ring(r, s, d);
        r->capacity += ring->k + 1;
        if (list_runs(r, ring, st)) return st->code;
    }
    double injection = net->machine->classes[fc_injection_class(net->machine)].bandwidth_bytes_per_s;
    r->terminal_s = isfinite(injection) ? (float)(2 / injection) : 0;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t node = r->sites->node[i], v = node / s->nodes_per_router;
        r->out[i] = add_link(r, fc_torus_injection(net, node));
        r->in[i] = add_link(r, fc_torus_ejection(net, node));
        for (int d = 0; d < s->n_dims; d++)
            r->at[(size_t)i * (size_t)s->n_dims + (size_t)d] =
                (struct fc_ring_place){fc_torus_coordinate(s, v, d), v % s->stride[d] * s->k[d],
                                       v / (s->stride[d] * s->k[d]) * s->stride[d] * s->k[d]};
    }
    return FC_OK;
}

/* ---- the table ---- */

double fc_sites_mean_route(const struct fc_sites *sites, struct fc_walk *walk)
{
    double total = 0;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t a = sites->node[fc_random_below(1, FC_MAP_PROPOSALS, 2 * i, sites->n_nodes)];
        uint32_t b = sites->node[fc_random_below(1, FC_MAP_PROPOSALS, 2 * i + 1, sites->n_nodes)];
        walk->n = 0;
        if (a != b) sites->routing->walk(sites->net, a, b, 1, walk);
        total += walk->n;
    }
    return total / 64;
}

/* One pair's route to the table's end; false when that is full. */
static bool append_route(struct fc_routes *r, const struct fc_walk *walk, size_t pair, uint64_t room,
                         bool *whole)
{
    uint32_t at = r->first[pair];
    double seconds = 0;
    for (uint32_t i = 0; i < walk->n; i++) {
        uint32_t l = r->number[walk->link[i]];
        if (l == FC_NONE) continue;
        if (at == room) return false;
        r->link[at] = l;
        r->share[at++] = (float)walk->weight[i];
        *whole = *whole && walk->weight[i] == 1;
        seconds += walk->weight[i] * r->seconds[l];
    }
    r->distance[pair] = (float)seconds;
    r->first[pair + 1] = at;
    return true;
}

/* Leaves the kind as it is when the table would be too large. */
static enum fc_code make_table(struct fc_routes *r, uint64_t most_work, struct fc_status *st)
{
    struct fc_walk walk;
    size_t n = r->n, pairs = n * n;
    if (n > MOST_TABLE_PLACES) return FC_OK;
    if (fc_walk_start(&walk, r->sites->routing->walk_capacity(r->sites->net), st)) return st->code;
    double entries = fc_sites_mean_route(r->sites, &walk) * (double)pairs * 1.1 + 1000;
    if (entries <= MOST_ENTRIES && entries <= (double)most_work) {
        uint64_t room = (uint64_t)entries;
        bool whole = true, fits = true;
        r->first = fc_alloc(&r->arena, pairs + 1, sizeof *r->first, st);
        r->link = r->first ? fc_alloc(&r->arena, room, sizeof *r->link, st) : NULL;
        r->share = r->link ? fc_alloc(&r->arena, room, sizeof *r->share, st) : NULL;
        r->distance = r->share ? fc_alloc(&r->arena, pairs, sizeof *r->distance, st) : NULL;
        for (size_t i = 0; r->distance && fits && i < n; i++)
            for (size_t j = 0; fits && j < n; j++) {
                walk.n = 0;
                if (i != j)
                    r->sites->routing->walk(r->sites->net, r->sites->node[i], r->sites->node[j], 1, &walk);
                fits = append_route(r, &walk, i * n + j, room, &whole);
            }
        if (r->distance && fits) {
            r->kind = FC_ROUTES_TABLE;
            r->work += r->first[pairs];
            if (whole) r->share = NULL;
        }
    }
    fc_walk_free(&walk);
    return st->code;
}

enum fc_code fc_routes_make(const struct fc_sites *sites, uint64_t most_work, struct fc_routes *r,
                            struct fc_status *st)
{
    *r = (struct fc_routes){.kind = FC_ROUTES_WALK, .sites = sites, .n = sites->n_nodes};
    if (are_rings(sites)) {
        r->kind = FC_ROUTES_RINGS;
        make_rings(r, st);
    } else if (!number_links(r, st)) {
        for (uint32_t l = 0; l < sites->net->n_links; l++) add_link(r, l);
        r->capacity = sites->routing->walk_capacity(sites->net);
        if (fc_spread_fits(sites)) {
            r->kind = FC_ROUTES_SPREAD;
            fc_spread_make(r, st);
        } else {
            make_table(r, most_work, st);
        }
    }
    if (st->code) fc_arena_free(&r->arena);
    return st->code;
}

void fc_routes_free(struct fc_routes *r)
{
    fc_arena_free(&r->arena);
    memset(r, 0, sizeof *r);
}
