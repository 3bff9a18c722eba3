/* bound_ring.c - how little can leave a set of s tasks when every task exchanges bytes with its nearest on a ring
 * (multicasts at multiples of a stride, rings).
 *
 * Let every task t send at least u_k bytes to t + k stride and v_k to t - k stride (modulo the n tasks), k = 1 .. d.
 * The tasks lie on rings of m = n / gcd(n, stride). Of a set of s tasks of one ring with s d < m some d tasks in a
 * row are not in it, so the ring can be cut there and laid out as a line. The i-th last task of the set on that
 * line has at most i - 1 of the set after it, so at most min(d, i - 1) of its d next ones are in the set, and
 *     pairs (task of the set, one of its d next that is not) >= f_d(s) = sum for i = 1 .. min(s, d) of (d + 1 - i).
 * As many pairs have the set's task after the other one: where equally many tasks of the set lack the k-th next,
 * as many lack the k-th before. With w_k the least of u_j + v_j for j <= k, and w_{d+1} = 0,
 *     bytes leaving >= sum over k of (w_k - w_{k+1}) f_k(s),   the same entering.
 * f_k is concave and 0 at 0, so a set over several rings has no less, and sets of at most `most` tasks have at
 * least leaving(most) / most a task. Met by sets of neighbours. Limits: sees one stride, the best of those of task
 * 0's partners; nothing for sets of m / d tasks and more. */
#include "core/values.h"
#include "mapping/bound.h"

#include <math.h>

enum { MOST_STRIDES = 64 };
static const double most_work = 5e8; /* partners looked at */

/* u + v at so many strides: the least that all tasks send up, and down. */
static double class_bytes(const struct fc_unit_graph *g, uint64_t offset)
{
    double up = INFINITY, down = INFINITY;
    for (uint64_t t = 0; t < g->n && (up > 0 || down > 0); t++) {
        uint32_t next = (uint32_t)((t + offset) % g->n);
        up = fmin(up, fc_unit_bytes(g, (uint32_t)t, next));
        down = fmin(down, fc_unit_bytes(g, next, (uint32_t)t));
    }
    return up + down;
}

/* What the tasks exchange at multiples of the stride. */
static struct fc_ring_surface look(const struct fc_unit_graph *g, uint64_t stride, double *work)
{
    struct fc_ring_surface ring = {.length = g->n / fc_common_divisor(g->n, stride)};
    double least = INFINITY;
    while (ring.d < FC_MOST_RING_PARTNERS && 2 * (ring.d + 1) < ring.length && *work < most_work) {
        least = fmin(least, class_bytes(g, (ring.d + 1) * stride % g->n));
        *work += (double)g->first[g->n];
        if (!(least > 0)) break;
        ring.bytes[ring.d++] = least;
    }
    return ring;
}

static double far_surface(const struct fc_ring_surface *ring)
{
    double sum = 0;
    for (uint64_t k = 0; k < ring->d; k++) sum += (double)(k + 1) * ring->bytes[k];
    return sum;
}

struct fc_ring_surface fc_ring_surface_find(const struct fc_unit_graph *g)
{
    struct fc_ring_surface best = {0};
    double work = 0;
    uint64_t most = g->n > 0 && g->first[1] < MOST_STRIDES ? g->first[1] : MOST_STRIDES;
    for (uint64_t e = 0; g->n > 2 && e < g->first[1] && e < most; e++) {
        uint64_t stride = g->other[e];
        if (stride == 0 || 2 * stride > g->n || work >= most_work) continue;
        struct fc_ring_surface ring = look(g, stride, &work);
        if (far_surface(&ring) > far_surface(&best)) best = ring;
    }
    return best;
}

double fc_ring_leaving(const struct fc_ring_surface *ring, uint64_t most)
{
    double sum = 0;
    if (ring->d == 0 || most == 0 || most >= (ring->length + ring->d - 1) / ring->d) return 0;
    for (uint64_t k = 1; k <= ring->d; k++) {
        double less = ring->bytes[k - 1] - (k < ring->d ? ring->bytes[k] : 0), pairs = 0;
        for (uint64_t i = 1; i <= k && i <= most; i++) pairs += (double)(k + 1 - i);
        sum += less * pairs;
    }
    return sum / (double)most;
}
