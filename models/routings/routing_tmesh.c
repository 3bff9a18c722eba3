/* routing_tmesh.c - dimension-order routing on tori of mesh chips (Liu, Xun, Cao & Sun, TMesh, section
 * 3.1.2).
 *
 * A packet crosses torus dimension x, then y, ... by a shortest way round; on every chip it goes straight
 * over the mesh (in mesh_order) from where it is to the bridge it leaves by, at last to its node. Ties of
 * even rings go both ways with half the traffic, which also halves the on-chip parts.
 *
 * Rank-one traffic T(s,d) = a(s) b(d) without visiting pairs: with A_i(c) the sum of a over the chips that
 * differ from c in dimensions before i only, B_i(c) the sum of b over those that differ in dimensions
 * after i only, chip c sees
 *
 *   enter(i,+) = sum_{t=1..k/2} w_t A_i(c - t),   leave(i,+) = sum_t w_t B_i(c + t),   w_t = 1, at a tie 1/2,
 *   pass(i,+)  = sum_{t>=1} A_i(c - t) sum_{u>=1} w_{t+u} B_i(c + u),
 *
 * and likewise -. The torus link (i,+) of c carries pass + A_i(c) leave(i,+). On the chip, the traffic
 * that entered last in dimension i goes to the nodes of c and to the exits of later dimensions, which is
 * again rank-one: enter(i,.) from the entry bridges times b and leave(j > i,.) at the exits; so is that of
 * the chip's own nodes. Each costs one pass over the mesh by prefix sums, so all is O(chips (sum of k +
 * dims * mesh nodes)). */
#include "models/family_tmesh.h"

#include <string.h>

/* ---- walk ---- */

static void walk_chip(const struct fc_network *net, uint32_t chip, uint32_t from, uint32_t to, double share,
                      struct fc_walk *walk)
{
    uint32_t *link = walk->link + walk->n, n = fc_tmesh_mesh_path(net, from, to, link);
    for (uint32_t i = 0; i < n; i++) {
        link[i] += chip * fc_tmesh(net)->chip_links;
        walk->weight[walk->n + i] = share;
    }
    walk->n += n;
}

struct leg {
    uint32_t hops;
    int direction;
};

/* The whole route with a direction chosen in every dimension. */
static void walk_legs(const struct fc_network *net, const struct leg *legs, uint32_t chip, uint32_t from, uint32_t to,
                      double share, struct fc_walk *walk)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    for (int d = 0; d < s->n_dims; d++)
        for (uint32_t h = 0; h < legs[d].hops; h++) {
            walk_chip(net, chip, from, s->bridge[d][legs[d].direction], share, walk);
            fc_walk_add(walk, chip * s->chip_links + fc_tmesh_tables(net)->torus_port[d][legs[d].direction], share);
            chip = fc_tmesh_neighbour(s, chip, d, legs[d].direction);
            from = fc_tmesh_entry(s, d, legs[d].direction);
        }
    walk_chip(net, chip, from, to, share, walk);
}

static void walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    const struct fc_tmesh_tables *tables = fc_tmesh_tables(net);
    uint32_t a = src / s->n_computing, b = dst / s->n_computing, n_ties = 0;
    int tied[FC_MAX_DIMS];
    struct leg legs[FC_MAX_DIMS];
    for (int d = 0; d < s->n_dims; d++) {
        uint32_t k = s->k[d], plus = (fc_tmesh_coordinate(s, b, d) + k - fc_tmesh_coordinate(s, a, d)) % k;
        legs[d] = plus <= k - plus ? (struct leg){plus, FC_TMESH_PLUS} : (struct leg){k - plus, FC_TMESH_MINUS};
        if (2 * plus == k) tied[n_ties++] = d;
    }
    fc_walk_add(walk, net->first_link[net->n_routers + src], share);
    for (uint32_t way = 0; way < 1u << n_ties; way++) {
        for (uint32_t t = 0; t < n_ties; t++) legs[tied[t]].direction = way >> t & 1 ? FC_TMESH_MINUS : FC_TMESH_PLUS;
        walk_legs(net, legs, a, tables->computing[src % s->n_computing], tables->computing[dst % s->n_computing],
                  share / (1u << n_ties), walk);
    }
    fc_walk_add(walk, b * s->chip_links + tables->ejection[dst % s->n_computing], share);
}

static uint32_t walk_capacity(const struct fc_network *net)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    uint64_t hops = 0, ways = 1, mesh = s->rows + s->columns;
    for (int d = 0; d < s->n_dims; d++) {
        hops += fc_tmesh_reach(s, d);
        ways *= s->k[d] % 2 == 0 ? 2 : 1;
    }
    uint64_t n = 2 + ways * (hops + (hops + 1) * mesh);
    return n < FC_NONE ? (uint32_t)n : FC_NONE;
}

/* ---- structural loads ---- */

struct flows {
    double *enter, *leave, *pass; /* [n_chips][n_dims][2] */
};

/* One ring of k chips with sources p and destinations q [k]: its three sums for chip j at out[j * step]. */
static void ring_flows(const double *p, const double *q, uint32_t k, int direction, double *enter, double *leave,
                       double *pass, size_t step)
{
    uint32_t forth = direction == FC_TMESH_PLUS ? 1 : k - 1, back = k - forth;
    uint32_t reach = k / 2;
    double last = 2 * reach == k ? 0.5 : 1; /* weight of the longest offset */
    for (uint32_t j = 0; j < k; j++) {
        double in = 0, out = 0, through = 0, beyond = 0;
        uint32_t from = j, to = j;
        for (uint32_t t = 1; t <= reach; t++) {
            double w = t == reach ? last : 1;
            from = (from + back) % k;
            to = (to + forth) % k;
            in += w * p[from];
            out += w * q[to];
        }
        to = j;
        for (uint32_t t = reach; t >= 1; t--, from = (from + forth) % k) { /* from t behind up to reach - t ahead */
            through += p[from] * (t == reach ? 0 : beyond + last * q[to]);
            if (t < reach) beyond += q[to];
            to = (to + forth) % k;
        }
        enter[j * step] = in;
        leave[j * step] = out;
        pass[j * step] = through;
    }
}

/* Sum over a dimension, left at its coordinate 0. */
static void marginalise(const struct fc_tmesh_shape *s, double *x, int dim)
{
    uint32_t stride = s->stride[dim], k = s->k[dim];
    for (uint32_t chip = 0; chip < s->n_chips; chip++) {
        if (fc_tmesh_coordinate(s, chip, dim) != 0) continue;
        for (uint32_t j = 1; j < k; j++) x[chip] += x[chip + j * stride];
    }
}

/* All rings of a dimension; adds its torus links' loads. a_sum summed over the dimensions before, b_sum
 * over those after. p, q are scratch [k]. */
static void dimension_flows(const struct fc_network *net, int dim, const double *a_sum, const double *b_sum, double *p,
                            double *q, const struct flows *f, double *load)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    uint32_t k = s->k[dim], stride = s->stride[dim];
    size_t width = 2 * (size_t)s->n_dims;
    for (uint32_t chip = 0; k > 1 && chip < s->n_chips; chip++) {
        if (fc_tmesh_coordinate(s, chip, dim) != 0) continue;
        uint32_t above = chip % stride, below = chip - above; /* parts of the dimensions before and after */
        for (uint32_t j = 0; j < k; j++) {
            p[j] = a_sum[below + j * stride];
            q[j] = b_sum[above + j * stride];
        }
        for (int way = 0; way < 2; way++) {
            size_t at = chip * width + 2 * (size_t)dim + (size_t)way, step = stride * width;
            ring_flows(p, q, k, way, f->enter + at, f->leave + at, f->pass + at, step);
            for (uint32_t j = 0; j < k; j++)
                load[(chip + j * stride) * s->chip_links + fc_tmesh_tables(net)->torus_port[dim][way]] +=
                    f->pass[at + j * step] + p[j] * f->leave[at + j * step];
        }
    }
}

/* Adds the loads of flows x[m] y[n] between all mesh nodes m, n of a chip (arrays [n_mesh]) to the chip's
 * links. u runs along the axis that is routed first: u-links carry (sources of the line before) x (targets
 * of all lines behind), w-links (sources of all columns before) x (targets of the column behind). sums is
 * scratch [2 (rows + columns + 2)]. */
static void mesh_rank_one(const struct fc_network *net, const double *x, const double *y, double *sums, double *load)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    const uint32_t(*port)[FC_MESH_PORTS] = (const uint32_t(*)[FC_MESH_PORTS])fc_tmesh_tables(net)->mesh_port;
    bool row_first = s->mesh_order == FC_ROW_FIRST;
    uint32_t n_u = row_first ? s->columns : s->rows, n_w = row_first ? s->rows : s->columns;
    uint32_t step_u = row_first ? 1 : s->columns, step_w = row_first ? s->columns : 1;
    int next_u = row_first ? FC_EAST : FC_SOUTH, next_w = row_first ? FC_SOUTH : FC_EAST;
    double *y_before = sums, *y_from = y_before + n_u + 1, *x_before = y_from + n_u + 1, *x_from = x_before + n_w + 1;
    memset(sums, 0, 2 * (n_u + n_w + 2) * sizeof *sums);
    for (uint32_t w = 0; w < n_w; w++)
        for (uint32_t u = 0; u < n_u; u++) {
            y_before[u + 1] += y[u * step_u + w * step_w];
            x_before[w + 1] += x[u * step_u + w * step_w];
        }
    for (uint32_t u = n_u; u-- > 0;) y_from[u] = y_from[u + 1] + y_before[u + 1];
    for (uint32_t w = n_w; w-- > 0;) x_from[w] = x_from[w + 1] + x_before[w + 1];
    for (uint32_t u = 0; u < n_u; u++) y_before[u + 1] += y_before[u];
    for (uint32_t w = 0; w < n_w; w++) x_before[w + 1] += x_before[w];
    if (y_from[0] == 0 || x_from[0] == 0) return;
    for (uint32_t w = 0; w < n_w; w++) {
        double sent = 0;
        for (uint32_t u = 0; u + 1 < n_u; u++) {
            uint32_t m = u * step_u + w * step_w;
            sent += x[m];
            load[port[m][next_u]] += sent * y_from[u + 1];
        }
        sent = 0;
        for (uint32_t u = n_u; u-- > 1;) {
            uint32_t m = u * step_u + w * step_w;
            sent += x[m];
            load[port[m][next_u + 1]] += sent * y_before[u];
        }
    }
    for (uint32_t u = 0; u < n_u; u++) {
        double wanted = 0;
        for (uint32_t w = 0; w + 1 < n_w; w++) {
            wanted += y[u * step_u + w * step_w];
            load[port[u * step_u + (w + 1) * step_w][next_w + 1]] += x_from[w + 1] * wanted;
        }
        wanted = 0;
        for (uint32_t w = n_w; w-- > 1;) {
            wanted += y[u * step_u + w * step_w];
            load[port[u * step_u + (w - 1) * step_w][next_w]] += x_before[w] * wanted;
        }
    }
}

/* All on-chip loads of one chip. x, y [n_mesh], sums [2 (rows + columns + 2)] are scratch; flow arrays
 * point at the chip's. */
static void chip_loads(const struct fc_network *net, const double *a, const double *b, const double *enter,
                       const double *leave, const double *pass, double *x, double *y, double *sums, double *load)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    const struct fc_tmesh_tables *tables = fc_tmesh_tables(net);
    uint32_t path[2 * FC_TMESH_MOST_LINES];
    memset(y, 0, s->n_mesh * sizeof *y);
    for (uint32_t t = 0; t < s->n_computing; t++) y[tables->computing[t]] = b[t];
    for (int i = s->n_dims; i-- > 0;) { /* y: nodes and the exits of dimensions after i */
        memset(x, 0, s->n_mesh * sizeof *x);
        for (int way = 0; way < 2; way++) x[fc_tmesh_entry(s, i, way)] = enter[2 * i + way];
        mesh_rank_one(net, x, y, sums, load);
        for (int way = 0; way < 2; way++) {
            uint32_t n = fc_tmesh_mesh_path(net, fc_tmesh_entry(s, i, way), s->bridge[i][way], path);
            for (uint32_t l = 0; l < n; l++) load[path[l]] += pass[2 * i + way];
            y[s->bridge[i][way]] += leave[2 * i + way];
        }
    }
    memset(x, 0, s->n_mesh * sizeof *x);
    for (uint32_t t = 0; t < s->n_computing; t++) x[tables->computing[t]] = a[t];
    mesh_rank_one(net, x, y, sums, load);
}

static void terminal_loads(const struct fc_network *net, const double *a, const double *b, double *load)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    double sum_a = 0, sum_b = 0;
    for (uint32_t n = 0; n < net->n_nodes; n++) sum_a += a[n], sum_b += b[n];
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        load[net->first_link[net->n_routers + n]] += a[n] * (sum_b - b[n]);
        load[n / s->n_computing * s->chip_links + fc_tmesh_tables(net)->ejection[n % s->n_computing]] +=
            b[n] * (sum_a - a[n]);
    }
}

static enum fc_code rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                             struct fc_status *st)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    size_t chips = s->n_chips, dims = (size_t)s->n_dims, width = 2 * dims;
    double *flows = fc_alloc(&scratch, chips * width * 3, sizeof *flows, st);
    double *a_sum = fc_alloc(&scratch, chips, sizeof *a_sum, st);
    double *b_sum = fc_alloc(&scratch, chips * dims, sizeof *b_sum, st);
    double *ring = fc_alloc(&scratch, 2 * chips, sizeof *ring, st);
    double *mesh = fc_alloc(&scratch, 2 * (s->n_mesh + s->rows + s->columns + (size_t)2), sizeof *mesh, st);
    if (flows && a_sum && b_sum && ring && mesh) {
        struct flows f = {flows, flows + chips * width, flows + 2 * chips * width};
        double *last = b_sum + chips * (dims - 1), *x = mesh, *y = x + s->n_mesh, *sums = y + s->n_mesh;
        for (uint32_t n = 0; n < net->n_nodes; n++) {
            a_sum[n / s->n_computing] += a[n];
            last[n / s->n_computing] += b[n];
        }
        for (size_t i = dims - 1; i > 0; i--) { /* b_sum[i]: summed over the dimensions after i */
            memcpy(b_sum + chips * (i - 1), b_sum + chips * i, chips * sizeof *b_sum);
            marginalise(s, b_sum + chips * (i - 1), (int)i);
        }
        for (int i = 0; i < s->n_dims; i++) {
            dimension_flows(net, i, a_sum, b_sum + chips * (size_t)i, ring, ring + chips, &f, load);
            marginalise(s, a_sum, i);
        }
        for (size_t c = 0; c < chips; c++)
            chip_loads(net, a + c * s->n_computing, b + c * s->n_computing, f.enter + c * width, f.leave + c * width,
                       f.pass + c * width, x, y, sums, load + c * s->chip_links);
        terminal_loads(net, a, b, load);
    }
    return st->code;
}

static const char *const families[] = {"tmesh", NULL};

const struct fc_routing_ops fc_routing_tmesh = {
    .name = "dimension-order",
    .help = "torus x, then y, then z; straight over each chip's mesh between bridges",
    .source = "Liu, Xun, Cao & Sun, TMesh, sec. 3.1.2; Dally & Seitz 1987",
    .families = families,
    .walk_capacity = walk_capacity,
    .walk = walk,
    .rank_one = rank_one,
};
