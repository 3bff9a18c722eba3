/* torus_loads.c - loads of rank-one traffic T(s,d) = a(s) b(d) on a torus without visiting pairs.
 *
 * Under dimension order, when the packet crosses dimension i its coordinates in the dimensions S crossed before are
 * the destination's and those in U (i included) still the source's. The traffic on one ring of dimension i is
 * therefore again rank-one: p(j) = sum of a over S-coordinates, q(j) = sum of b over the other U-coordinates. On a
 * ring of k, with h = ceil(k/2) - 1 and a tie at k/2 (k even) shared by both ways,
 *
 *   load+(x -> x+1) = sum_{t=0}^{k/2-1} p(x-t) [ q(x-t+t+1) + ... + q(x-t+h) + q(x-t+k/2)/2 ],
 *
 * by prefix sums of q in O(k) a link; on a line load+(x -> x+1) = P(0..x) Q(x+1..k-1). Constant a, b: the closed form
 * a b N kbar/2, kbar the mean ring distance (Dally & Towles, ch. 5; derivation ours). */
#include "models/routings/torus_loads.h"

#include <string.h>

void fc_torus_terminal_loads(const struct fc_network *net, const double *a, const double *b, double *load,
                             double *router_a, double *router_b)
{
    uint32_t per_router = fc_torus(net)->nodes_per_router;
    double sum_a = 0, sum_b = 0;
    memset(router_a, 0, net->n_routers * sizeof *router_a);
    memset(router_b, 0, net->n_routers * sizeof *router_b);
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        sum_a += a[n];
        sum_b += b[n];
        router_a[n / per_router] += a[n];
        router_b[n / per_router] += b[n];
    }
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        load[fc_torus_injection(net, n)] += a[n] * (sum_b - b[n]);
        load[fc_torus_ejection(net, n)] += b[n] * (sum_a - a[n]);
    }
}

uint32_t fc_torus_n_orders(const struct fc_torus_shape *s)
{
    static const uint32_t factorial[] = {1, 1, 2, 6};
    return s->n_dims <= 3 ? factorial[s->n_dims] : 2 * (uint32_t)s->n_dims;
}

void fc_torus_order(const struct fc_torus_shape *s, uint32_t c, int *order)
{
    static const int three[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}};
    int n = s->n_dims;
    for (int i = 0; i < n; i++) {
        if (n == 3)
            order[i] = three[c][i];
        else
            order[i] = c < (uint32_t)n ? (i + (int)c) % n : (2 * n - 1 - i - (int)c % n) % n;
    }
}

/* sums[v with coordinate dim == 0] = sum over that dimension (in place). */
static void marginalise(const struct fc_torus_shape *s, double *x, int dim)
{
    uint32_t stride = s->stride[dim], k = s->k[dim], block = stride * k;
    for (uint32_t base = 0; base < s->n_routers; base += block)
        for (uint32_t i = 0; i < stride; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < k; j++) sum += x[base + i + j * stride];
            x[base + i] = sum;
        }
}

/* Loads of the ring (or line) of k routers: plus[j] on j -> j+1, minus[j] on j -> j-1. prefix is scratch [2k+1]. */
static void ring_loads(const double *p, const double *q, uint32_t k, bool ring, double *plus, double *minus,
                       double *prefix)
{
    prefix[0] = 0;
    if (!ring) {
        double left = 0, right = 0;
        for (uint32_t j = 0; j < k; j++) prefix[j + 1] = prefix[j] + q[j];
        for (uint32_t j = 0; j < k; j++) {
            left += p[j];
            plus[j] = left * (prefix[k] - prefix[j + 1]);
        }
        for (uint32_t j = k; j-- > 0;) {
            right += p[j];
            minus[j] = right * prefix[j];
        }
        return;
    }
    for (uint32_t j = 0; j < 2 * k; j++) prefix[j + 1] = prefix[j] + q[j % k];
    uint32_t full = (k - 1) / 2, reach = k / 2;
    bool even = k % 2 == 0;
    for (uint32_t x = 0; x < k; x++) {
        double up = 0, down = 0;
        for (uint32_t t = 0; t < reach; t++) {
            uint32_t i = x >= t ? x - t : x + k - t; /* source that has come t hops */
            uint32_t tie = i + k / 2 >= k ? i + k / 2 - k : i + k / 2;
            double beyond = prefix[i + full + 1] - prefix[i + t + 1 <= i + full + 1 ? i + t + 1 : i + full + 1];
            up += p[i] * (beyond + (even ? 0.5 * q[tie] : 0));
            uint32_t m = x + t >= k ? x + t - k : x + t; /* the same, mirrored */
            uint32_t tie_m = m >= k / 2 ? m - k / 2 : m + k - k / 2;
            uint32_t from = m + k - full, to = m + k - t; /* destinations m-full .. m-t-1 */
            double below = to > from ? prefix[to] - prefix[from] : 0;
            down += p[m] * (below + (even ? 0.5 * q[tie_m] : 0));
        }
        plus[x] = up;
        minus[x] = down;
    }
}

static void add_port(const struct fc_network *net, uint32_t router, int dim, int direction, double bytes, double *load)
{
    uint32_t port = fc_torus_port(net, router, dim, direction), n = fc_torus(net)->parallel[dim];
    if (port == FC_NONE) return;
    for (uint32_t p = 0; p < n; p++) load[port + p] += bytes / n;
}

static void uniform_loads(const struct fc_network *net, double ab, double *load)
{
    const struct fc_torus_shape *s = fc_torus(net);
    double n = s->n_routers;
    for (int d = 0; d < s->n_dims; d++) {
        double k = s->k[d], ring = ab * n * (s->k[d] % 2 ? (k - 1 / k) / 4 : k / 4) / 2;
        for (uint32_t v = 0; v < s->n_routers; v++) {
            double c = s->ring[d] ? 0 : fc_torus_coordinate(s, v, d);
            add_port(net, v, d, FC_PLUS, s->ring[d] ? ring : ab * n / k * (c + 1) * (k - 1 - c), load);
            add_port(net, v, d, FC_MINUS, s->ring[d] ? ring : ab * n / k * (k - c) * c, load);
        }
    }
}

/* All rings of dimension order[at]: a_sum summed over the dimensions before, b_sum over those after. */
static void dimension_loads(const struct fc_network *net, const int *order, int at, const double *a_sum,
                            const double *b_sum, double *work, double *load)
{
    const struct fc_torus_shape *s = fc_torus(net);
    int dim = order[at];
    uint32_t k = s->k[dim], stride = s->stride[dim];
    double *p = work, *q = p + k, *plus = q + k, *minus = plus + k, *prefix = minus + k;
    if (k == 1) return;
    for (uint32_t v = 0; v < s->n_routers; v++) {
        if (fc_torus_coordinate(s, v, dim) != 0) continue;
        uint32_t ia = v, ib = v;
        for (int i = 0; i < s->n_dims; i++) {
            if (i == at) continue;
            uint32_t part = fc_torus_coordinate(s, v, order[i]) * s->stride[order[i]];
            if (i < at)
                ia -= part;
            else
                ib -= part;
        }
        double any_p = 0, any_q = 0;
        for (uint32_t j = 0; j < k; j++) {
            any_p += p[j] = a_sum[ia + j * stride];
            any_q += q[j] = b_sum[ib + j * stride];
        }
        if (any_p == 0 || any_q == 0) continue;
        ring_loads(p, q, k, s->ring[dim], plus, minus, prefix);
        for (uint32_t j = 0; j < k; j++) {
            add_port(net, v + j * stride, dim, FC_PLUS, plus[j], load);
            add_port(net, v + j * stride, dim, FC_MINUS, minus[j], load);
        }
    }
}

enum fc_code fc_torus_rank_one(const struct fc_network *net, const int *order, const double *a, const double *b,
                               double *load, struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t n = s->n_routers, longest = 0;
    if (fc_all_equal(a, n) && fc_all_equal(b, n)) {
        uniform_loads(net, a[0] * b[0], load);
        return FC_OK;
    }
    for (int d = 0; d < s->n_dims; d++)
        if (s->k[d] > longest) longest = s->k[d];
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *a_sum = fc_alloc(&scratch, n, sizeof *a_sum, st);
    double *b_sum = fc_alloc(&scratch, (size_t)n * (size_t)s->n_dims, sizeof *b_sum, st);
    double *work = fc_alloc(&scratch, 6 * (size_t)longest + 1, sizeof *work, st);
    if (a_sum && b_sum && work) {
        memcpy(a_sum, a, n * sizeof *a);
        memcpy(b_sum + (size_t)n * (size_t)(s->n_dims - 1), b, n * sizeof *b);
        for (int i = s->n_dims - 1; i > 0; i--) { /* b_sum[i]: summed over order[i+1..] */
            memcpy(b_sum + (size_t)n * (size_t)(i - 1), b_sum + (size_t)n * (size_t)i, n * sizeof *b);
            marginalise(s, b_sum + (size_t)n * (size_t)(i - 1), order[i]);
        }
        for (int i = 0; i < s->n_dims; i++) {
            dimension_loads(net, order, i, a_sum, b_sum + (size_t)n * (size_t)i, work, load);
            marginalise(s, a_sum, order[i]);
        }
    }
    return st->code;
}
