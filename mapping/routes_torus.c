/* routes_torus.c - routes in dimension order on a torus or mesh with single cables: one run of links a dimension
 * (two where it wraps, both ways at a tie of an even ring), found from coordinates. */
#include "mapping/routes.h"

#include "models/routings/torus_loads.h"

#include <math.h>
#include <string.h>

bool fc_torus_has_rings(const struct fc_sites *sites)
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
            for (uint32_t i = 0; i < n; i++) run[i] = rises ? ring->plus + (a + i) % k : ring->minus + (a + k - i) % k;
            ring->count[a * k + b] = (uint8_t)(ring->wraps && a != b && up == down ? FC_BOTH_WAYS : n);
        }
    for (uint32_t h = 0; h < k; h++)
        ring->seconds[h] = (float)((ring->wraps && k - h < h ? k - h : h) * r->seconds[ring->plus]);
    return FC_OK;
}

enum fc_code fc_torus_make_rings(struct fc_routes *r, struct fc_status *st)
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
        r->out[i] = fc_routes_add_link(r, fc_torus_injection(net, node));
        r->in[i] = fc_routes_add_link(r, fc_torus_ejection(net, node));
        for (int d = 0; d < s->n_dims; d++)
            r->at[(size_t)i * (size_t)s->n_dims + (size_t)d] =
                (struct fc_ring_place){fc_torus_coordinate(s, v, d), v % s->stride[d] * s->k[d],
                                       v / (s->stride[d] * s->k[d]) * s->stride[d] * s->k[d]};
    }
    return FC_OK;
}
