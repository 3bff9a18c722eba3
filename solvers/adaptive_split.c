/* adaptive_split.c - the split of sparse traffic over minimal paths that an adaptive torus finds.
 *
 * Every flow is cut in chunks; each chunk goes from router to router over the profitable dimension whose links carry
 * the least so far (join the shortest queue, as the routers do, with loads in place of queues). Chunks are then taken
 * out one by one and sent again over the path of least cost, cost(l) = (time(l) / max time)^7 by dynamic programming over
 * the box of minimal paths where it is small, else again greedily: a descent on sum time^8, a smooth stand-in for the
 * greatest load (the linear program: min z, sum f <= z b). Deterministic: chunks in a fixed order, no clock.
 * Limit: a local optimum; the distance to the proven cut bound is what percent of peak shows. */
#include "models/family_torus.h"
#include "solvers/load_internal.h"

#include <string.h>

static const double full_budget = 6e7;
enum { MANY = FC_MAX_DIMS }; /* sides of a box, more than loops are made for */

/* A flow in one dimension: the source's coordinate, hops, direction; at a tie of an even ring FC_PLUS. */
struct leg {
    uint32_t c, hops;
    uint8_t direction;
    bool tie;
};
struct split {
    const struct fc_network *net;
    const struct fc_torus_shape *s;
    double budget;            /* point or hop visits */
    uint32_t n_chunks;        /* a flow */
    double *port_s;           /* [n_routers][n_dims][2] seconds of traffic on each port (all its cables) */
    double rate[FC_MAX_DIMS]; /* bytes/s of a port of each dimension */
    double unit[FC_MAX_DIMS]; /* 1 / mean seconds of a port of each dimension, fixed by minimal routing */
    struct leg *leg;          /* [n_flows][n_dims] */
    uint8_t *path;            /* hops of every chunk: dimension * 2 + direction */
    uint64_t *first; /* [n_flows + 1] hops of the flows before it: chunk c's path is at first[i] + c * first[n_flows] */
    /* [n_routers][n_dims][2] what a chunk more would cost on each port, in rounds that go by cost; NULL: chunks are not
     * all of the same size, and costs are found when they are looked at. */
    double *port_cost;
    /* Of flows that have one minimal path (one dimension, no tie in it), found once; n_ports 0: any other flow. */
    struct lane {
        uint32_t n_ports, first; /* port[first ..], in port_s */
        uint8_t step;            /* of the path, each hop */
        double more_s;           /* what a chunk adds to each port */
    } * lane;                    /* [n_flows] */
    uint32_t *port;
    double chunk_s[FC_MAX_DIMS]; /* of port_cost: what a chunk adds to a port of the dimension */
    double cost_unit;            /* 1 / the greatest load when the round began */
    double *box_cost;            /* [points] scratch of cheapest_in_box */
    uint8_t *box_step;
    uint32_t *box_offset; /* [hops and one a dimension] */
};

/* What is left of a chunk's way. */
struct way {
    uint32_t v, c[FC_MAX_DIMS];
    uint32_t hops[FC_MAX_DIMS];
    int direction[FC_MAX_DIMS];
};

static inline double *port_of(const struct split *p, uint32_t v, int dim, int direction)
{
    return &p->port_s[(v * (uint32_t)p->s->n_dims + (uint32_t)dim) * 2 + (uint32_t)direction];
}

static struct leg find_leg(const struct split *p, uint32_t src, uint32_t dst, int d)
{
    uint32_t c = fc_torus_coordinate(p->s, src, d);
    struct fc_torus_offset o = fc_torus_offset(p->s, d, c, fc_torus_coordinate(p->s, dst, d));
    bool plus = o.plus_share > 0;
    return (struct leg){c, plus ? o.plus : o.minus, plus ? FC_PLUS : FC_MINUS, o.plus_share == 0.5};
}

static double power7(double x)
{
    double x2 = x * x, x4 = x2 * x2;
    return x4 * x2 * x;
}

static inline void set_port(struct split *p, double *port_s, double seconds, int d)
{
    *port_s = seconds;
    if (p->port_cost) p->port_cost[port_s - p->port_s] = power7((seconds + p->chunk_s[d]) * p->cost_unit) / p->rate[d];
}

/* At a tie of an even ring bit d of `turn` sends dimension d the - way. */
static inline struct way start(const struct split *p, uint32_t src, size_t e, uint32_t turn)
{
    const struct leg *leg = p->leg + e * (size_t)p->s->n_dims;
    struct way w;
    w.v = src;
    for (int d = 0; d < p->s->n_dims; d++) {
        w.c[d] = leg[d].c;
        w.hops[d] = leg[d].hops;
        w.direction[d] = leg[d].tie && (turn >> d & 1) ? FC_MINUS : leg[d].direction;
    }
    return w;
}

static inline void step(const struct split *p, struct way *w, int d)
{
    uint32_t k = p->s->k[d], stride = p->s->stride[d];
    if (w->direction[d] == FC_PLUS) {
        bool wraps = w->c[d] + 1 == k;
        w->v = wraps ? w->v - w->c[d] * stride : w->v + stride;
        w->c[d] = wraps ? 0 : w->c[d] + 1;
    } else {
        bool wraps = w->c[d] == 0;
        w->v = wraps ? w->v + (k - 1) * stride : w->v - stride;
        w->c[d] = wraps ? k - 1 : w->c[d] - 1;
    }
    w->hops[d]--;
}

/* Sends a chunk greedily and notes its path. Ties go to the dimension with most hops left, which keeps choices open. */
static uint32_t send_greedy(struct split *p, struct way w, double bytes, uint8_t *path)
{
    uint32_t n = 0;
    int dims = p->s->n_dims;
    for (;;) {
        int best = -1;
        double least = INFINITY;
        for (int d = 0; d < dims; d++) {
            if (w.hops[d] == 0) continue;
            double t = *port_of(p, w.v, d, w.direction[d]) * p->unit[d];
            if (best < 0 || t < least || (t == least && w.hops[d] > w.hops[best])) best = d, least = t;
        }
        if (best < 0) return n;
        *port_of(p, w.v, best, w.direction[best]) += bytes / p->rate[best];
        path[n++] = (uint8_t)(best * 2 + w.direction[best]);
        step(p, &w, best);
    }
}

/* A dimension that a box of minimal paths extends in. */
struct side {
    uint32_t at, hops;      /* from the source; of all */
    uint32_t step, port;    /* in box_cost; of a router's ports */
    const uint32_t *offset; /* [hops + 1] what it adds to the router's number; the source's own is not in it */
    double more_s, rate;
};

/* The sides of the chunk's box, and the number of the router that all offsets are added to. */
static uint32_t sides_of(const struct split *p, const struct way *w, double bytes, struct side *side, uint32_t *points,
                         uint32_t *base)
{
    uint32_t n = 0, *offset = p->box_offset;
    *points = 1;
    *base = w->v;
    for (int d = 0; d < p->s->n_dims; d++) {
        uint32_t k = p->s->k[d], hops = w->hops[d], c = w->c[d];
        bool plus = w->direction[d] == FC_PLUS;
        if (hops == 0) continue;
        side[n++] = (struct side){
            hops, hops, *points, (uint32_t)(d * 2 + w->direction[d]), offset, bytes / p->rate[d], p->rate[d]};
        *base -= c * p->s->stride[d];
        for (uint32_t i = 0; i <= hops; i++) {
            *offset++ = c * p->s->stride[d];
            c = plus ? (c + 1 == k ? 0 : c + 1) : (c == 0 ? k - 1 : c - 1);
        }
        *points *= hops + 1;
    }
    return n;
}

/* `known`: p->port_cost is there. */
static inline double cost_of(const struct split *p, uint32_t port, const struct side *s, bool known)
{
    return known ? p->port_cost[port] : power7((p->port_s[port] + s->more_s) * p->cost_unit) / s->rate;
}

/* Points of the box in a row along its first side, from its far end, the last of them j: n other sides are left there. */
static inline __attribute__((always_inline)) void row_of_box(struct split *p, const struct side *first,
                                                             const struct side *const *other, uint32_t n, uint32_t j,
                                                             uint32_t v, bool known)
{
    uint32_t ports = 2 * (uint32_t)p->s->n_dims;
    double *cost = p->box_cost;
    for (uint32_t at = first->hops + 1; at-- > 0; j--) {
        uint32_t router = (v + first->offset[at]) * ports;
        double least = INFINITY;
        uint32_t best = 0;
        if (at < first->hops) least = cost_of(p, router + first->port, first, known) + cost[j + 1], best = first->port;
        for (uint32_t i = 0; i < n; i++) {
            double t = cost_of(p, router + other[i]->port, other[i], known) + cost[j + other[i]->step];
            if (t < least) least = t, best = other[i]->port;
        }
        if (!(least < INFINITY)) least = 0; /* the far corner */
        cost[j] = least;
        p->box_step[j] = (uint8_t)(best / 2);
    }
}

/* Cost of the cheapest path of the box, from the far corner back: cost[i] = min over dimensions of port cost +
 * cost[next]; box_step[i] is the dimension taken. */
static double cheapest_in_box(struct split *p, const struct way *w, double bytes)
{
    struct side side[FC_MAX_DIMS];
    const struct side *other[FC_MAX_DIMS];
    uint32_t points, base, n = sides_of(p, w, bytes, side, &points, &base);
    if (n == 0) return 0; /* nodes of one router */
    for (uint32_t j = points; j > 0; j -= side[0].hops + 1) {
        uint32_t n_others = 0, v = base;
        for (uint32_t i = 1; i < n; i++) {
            v += side[i].offset[side[i].at];
            if (side[i].at < side[i].hops) other[n_others++] = &side[i];
        }
        switch (p->port_cost ? n_others : MANY) {
        case 0: row_of_box(p, side, other, 0, j - 1, v, true); break;
        case 1: row_of_box(p, side, other, 1, j - 1, v, true); break;
        case 2: row_of_box(p, side, other, 2, j - 1, v, true); break;
        default: row_of_box(p, side, other, n_others, j - 1, v, p->port_cost != NULL); break;
        }
        for (uint32_t i = 1; i < n; i++) { /* the row before, lexicographically */
            if (side[i].at-- > 0) break;
            side[i].at = side[i].hops;
        }
    }
    return p->box_cost[0];
}

/* Sends a chunk over the cheapest minimal path, both ways round tried where the ring's ends are equally far. */
static void send_cheapest(struct split *p, uint32_t src, size_t e, double bytes, uint8_t *path)
{
    int dims = p->s->n_dims;
    uint32_t ties = 0, best = 0, last = 0, i = 0, size[FC_MAX_DIMS], points = 1;
    double least = INFINITY;
    for (int d = 0; d < dims; d++) ties |= (uint32_t)p->leg[e * (size_t)dims + (size_t)d].tie << d;
    for (uint32_t turn = ties;; turn = (turn - 1) & ties) { /* every subset of the tied dimensions */
        struct way w = start(p, src, e, turn);
        double cost = cheapest_in_box(p, &w, bytes);
        last = turn;
        if (cost < least) least = cost, best = turn;
        if (turn == 0) break;
    }
    struct way w = start(p, src, e, best);
    if (best != last) cheapest_in_box(p, &w, bytes);
    for (int d = 0; d < dims; d++) {
        size[d] = points;
        points *= w.hops[d] + 1;
    }
    while (i + 1 < points) {
        int d = p->box_step[i];
        double *t = port_of(p, w.v, d, w.direction[d]);
        set_port(p, t, *t + bytes / p->rate[d], d);
        *path++ = (uint8_t)(d * 2 + w.direction[d]);
        step(p, &w, d);
        i += size[d];
    }
}

static void take_out(struct split *p, struct way w, const uint8_t *path, uint64_t n, double bytes)
{
    for (uint64_t i = 0; i < n; i++) {
        int d = path[i] / 2;
        w.direction[d] = path[i] % 2;
        double *t = port_of(p, w.v, d, w.direction[d]);
        double less = *t - bytes / p->rate[d];
        set_port(p, t, less > 0 ? less : 0, d);
        step(p, &w, d);
    }
}

static uint64_t way_hops(const struct split *p, size_t e)
{
    uint64_t n = 0;
    for (int d = 0; d < p->s->n_dims; d++) n += p->leg[e * (size_t)p->s->n_dims + (size_t)d].hops;
    return n;
}

/* Whether a flow has one minimal path: one dimension and no tie in it. */
static bool has_one_path(const struct split *p, size_t e)
{
    const struct leg *leg = p->leg + e * (size_t)p->s->n_dims;
    int n = 0;
    for (int d = 0; d < p->s->n_dims; d++) n += leg[d].tie ? 2 : leg[d].hops > 0;
    return n < 2;
}

/* Lists the ports of those that have one. */
static enum fc_code find_lanes(struct split *p, const uint32_t *src, const double *bytes, size_t n,
                               struct fc_arena *arena, struct fc_status *st)
{
    uint32_t n_ports = 0;
    p->lane = fc_alloc(arena, n, sizeof *p->lane, st);
    for (size_t i = 0; p->lane && i < n; i++)
        if (has_one_path(p, i)) n_ports += (uint32_t)way_hops(p, i);
    p->port = p->lane ? fc_alloc(arena, n_ports + 1ull, sizeof *p->port, st) : NULL;
    n_ports = 0;
    for (size_t i = 0; p->port && i < n; i++) {
        if (!has_one_path(p, i)) continue;
        struct way w = start(p, src[i], i, 0);
        struct lane *lane = &p->lane[i];
        lane->first = n_ports;
        for (int d = 0; d < p->s->n_dims; d++)
            while (w.hops[d] > 0) {
                lane->step = (uint8_t)(d * 2 + w.direction[d]);
                lane->more_s = bytes[i] / p->n_chunks / p->rate[d];
                p->port[n_ports++] = (uint32_t)(port_of(p, w.v, d, w.direction[d]) - p->port_s);
                step(p, &w, d);
            }
        lane->n_ports = n_ports - lane->first;
    }
    return st->code;
}

/* Sends a chunk over its lane. */
static void send_along(struct split *p, const struct lane *lane)
{
    for (uint32_t i = 0; i < lane->n_ports; i++) p->port_s[p->port[lane->first + i]] += lane->more_s;
}
/* Takes it out and sends it again. */
static void send_again(struct split *p, const struct lane *lane)
{
    for (uint32_t i = 0; i < lane->n_ports; i++) {
        double *t = &p->port_s[p->port[lane->first + i]], left = *t - lane->more_s;
        double again = (left > 0 ? left : 0) + lane->more_s;
        if (again != *t) set_port(p, t, again, lane->step / 2);
    }
}

static double greatest(const struct split *p)
{
    double z = 0;
    size_t n = (size_t)p->net->n_routers * (size_t)p->s->n_dims * 2;
    for (size_t i = 0; i < n; i++) z = p->port_s[i] > z ? p->port_s[i] : z;
    return z;
}

static uint64_t way_points(const struct split *p, size_t e)
{
    uint64_t n = 1;
    for (int d = 0; d < p->s->n_dims; d++) n *= p->leg[e * (size_t)p->s->n_dims + (size_t)d].hops + 1ull;
    return n;
}

/* In a fixed shuffled order, so that neighbours in the list do not go first everywhere. */
struct flows {
    size_t n;
    uint32_t *src; /* [n] routers */
    double *bytes; /* [n] */
    uint32_t *at;  /* [n] where the list's flow lies in the order */
};

static void first_round(struct split *p, const struct flows *f)
{
    uint8_t *path = p->path;
    for (uint32_t c = 0; c < p->n_chunks; c++)
        for (size_t i = 0; i < f->n; i++) {
            const struct lane *lane = &p->lane[i];
            send_along(p, lane);
            for (uint32_t h = 0; h < lane->n_ports; h++) *path++ = lane->step;
            if (!lane->n_ports) path += send_greedy(p, start(p, f->src[i], i, c), f->bytes[i] / p->n_chunks, path);
        }
}

static void resend_round(struct split *p, const struct flows *f, bool cheapest)
{
    uint8_t *path = p->path;
    size_t ports = (size_t)p->net->n_routers * (size_t)p->s->n_dims * 2;
    p->cost_unit = 1 / greatest(p);
    for (size_t i = 0; p->port_cost && i < ports; i++)
        set_port(p, &p->port_s[i], p->port_s[i], (int)(i / 2 % (size_t)p->s->n_dims));
    for (uint32_t c = 0; c < p->n_chunks; c++)
        for (size_t i = 0; i < f->n; i++) {
            uint64_t n = p->first[i + 1] - p->first[i];
            if (p->lane[i].n_ports) {
                send_again(p, &p->lane[i]);
            } else {
                double bytes = f->bytes[i] / p->n_chunks;
                struct way w = start(p, f->src[i], i, c);
                take_out(p, w, path, n, bytes);
                if (cheapest)
                    send_cheapest(p, f->src[i], i, bytes, path);
                else
                    send_greedy(p, w, bytes, path);
            }
            path += n;
        }
}

/* Ports' seconds from the paths, without the rounding that taking out and sending again left. */
static void recount(struct split *p, const struct flows *f)
{
    memset(p->port_s, 0, (size_t)p->net->n_routers * (size_t)p->s->n_dims * 2 * sizeof *p->port_s);
    for (size_t e = 0; e < f->n; e++)
        for (uint32_t c = 0; c < p->n_chunks; c++) {
            size_t i = f->at[e];
            send_along(p, &p->lane[i]);
            if (p->lane[i].n_ports) continue;
            const uint8_t *path = p->path + c * p->first[f->n] + p->first[i];
            struct way w = start(p, f->src[i], i, 0);
            for (uint64_t h = 0; h < p->first[i + 1] - p->first[i]; h++) {
                int d = path[h] / 2;
                w.direction[d] = path[h] % 2;
                *port_of(p, w.v, d, w.direction[d]) += f->bytes[i] / p->n_chunks / p->rate[d];
                step(p, &w, d);
            }
        }
}

/* Whether all boxes of minimal paths are small enough to be searched. */
static bool is_cheapest(const struct split *p, uint64_t points)
{
    return (double)points * p->n_chunks * 2 <= p->budget;
}

/* Rounds until the greatest load stops falling, at most as many as a quarter of the budget allows. */
static void improve(struct split *p, const struct flows *f, uint64_t hops, uint64_t points)
{
    bool cheapest = is_cheapest(p, points);
    double cost = (double)(cheapest ? points : 2 * hops) * p->n_chunks;
    int rounds = (int)fmin(40, p->budget / 4 / fmax(cost, 1));
    double before = greatest(p);
    bool fixed = true; /* no flow has a choice, and rounds would change nothing */
    for (size_t i = 0; i < f->n && fixed; i++) fixed = has_one_path(p, i);
    if (fixed) return;
    for (int r = 0; r < rounds && before > 0; r++) {
        resend_round(p, f, cheapest);
        double now = greatest(p);
        if (r > 5 && now > before * (1 - 1e-4)) break;
        before = fmin(before, now);
    }
}

static void add_loads(const struct split *p, double *load)
{
    for (uint32_t v = 0; v < p->net->n_routers; v++)
        for (int d = 0; d < p->s->n_dims; d++)
            for (int direction = 0; direction < 2; direction++) {
                uint32_t port = fc_torus_port(p->net, v, d, direction), n = p->s->parallel[d];
                if (port == FC_NONE) continue;
                for (uint32_t i = 0; i < n; i++) load[port + i] += *port_of(p, v, d, direction) * p->rate[d] / n;
            }
}

bool fc_adaptive_torus_takes(const struct fc_network *net)
{
    return net->machine->routing == &fc_routing_adaptive;
}

enum fc_code fc_adaptive_torus_split(const struct fc_network *net, const struct fc_node_demand *demand, uint64_t seed,
                                     double share, double *load, struct fc_status *st)
{
    struct split p = {.net = net, .s = fc_torus(net), .budget = full_budget * share};
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t per_router = p.s->nodes_per_router;
    size_t n = demand->n;
    uint64_t hops = 0, points = 0, most_points = 1, most_hops = 0;
    if (n >= FC_NONE) return fc_refuse(st, FC_NO, "%zu pairs are too many for the adaptive split", n);
    for (int d = 0; d < p.s->n_dims; d++)
        p.rate[d] = net->machine->classes[p.s->dim_class[d]].bandwidth_bytes_per_s * p.s->parallel[d];
    struct flows flows = {.n = n};
    uint32_t *order = fc_alloc(&scratch, n, sizeof *order, st);
    flows.at = fc_alloc(&scratch, n, sizeof *flows.at, st);
    flows.src = fc_alloc(&scratch, n, sizeof *flows.src, st);
    flows.bytes = fc_alloc(&scratch, n, sizeof *flows.bytes, st);
    p.leg = fc_alloc(&scratch, n * (size_t)p.s->n_dims, sizeof *p.leg, st);
    p.first = fc_alloc(&scratch, n + 1, sizeof *p.first, st);
    if (st->code) return st->code;
    fc_random_permutation(seed, 0x61646170, order, (uint32_t)n);
    for (size_t i = 0; i < n; i++) flows.at[order[i]] = (uint32_t)i;
    for (size_t e = 0; e < n; e++) {
        uint32_t dst = demand->dst[e] / per_router, i = flows.at[e];
        flows.src[i] = demand->src[e] / per_router;
        flows.bytes[i] = demand->bytes[e];
        load[net->first_link[net->n_routers + demand->src[e]]] += demand->bytes[e];
        load[net->first_link[dst + 1] - per_router + demand->dst[e] % per_router] += demand->bytes[e];
        for (int d = 0; d < p.s->n_dims; d++) {
            struct leg leg = p.leg[i * (size_t)p.s->n_dims + (size_t)d] = find_leg(&p, flows.src[i], dst, d);
            p.unit[d] += demand->bytes[e] / p.rate[d] * leg.hops;
        }
        uint64_t box = way_points(&p, i);
        points += box;
        most_points = box > most_points ? box : most_points;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t own = way_hops(&p, i);
        p.first[i + 1] = p.first[i] + own;
        most_hops = own > most_hops ? own : most_hops;
    }
    hops = p.first[n];
    for (int d = 0; d < p.s->n_dims; d++) p.unit[d] = p.unit[d] > 0 ? 2.0 * net->n_routers / p.unit[d] : 0;
    p.n_chunks = (uint32_t)fmax(2, fmin(32, p.budget / 15 / fmax((double)hops, 1)));
    p.port_s = fc_alloc(&scratch, (size_t)net->n_routers * (size_t)p.s->n_dims * 2, sizeof *p.port_s, st);
    p.path = fc_alloc(&scratch, hops * p.n_chunks, 1, st);
    p.box_cost = fc_alloc(&scratch, most_points, sizeof *p.box_cost, st);
    p.box_step = fc_alloc(&scratch, most_points, 1, st);
    p.box_offset = fc_alloc(&scratch, most_hops + FC_MAX_DIMS, sizeof *p.box_offset, st);
    if (st->code || find_lanes(&p, flows.src, flows.bytes, n, &scratch, st)) return st->code;
    first_round(&p, &flows);
    for (int d = 0; n && d < p.s->n_dims; d++) p.chunk_s[d] = flows.bytes[0] / p.n_chunks / p.rate[d];
    if (fc_all_equal(flows.bytes, n) && is_cheapest(&p, points))
        p.port_cost = fc_alloc(&scratch, (size_t)net->n_routers * (size_t)p.s->n_dims * 2, sizeof *p.port_cost, st);
    if (st->code) return st->code;
    improve(&p, &flows, hops, points);
    recount(&p, &flows);
    add_loads(&p, load);
    return st->code;
}
