/* grid_shifts.c - groups of shifts of a torus of tasks, whose shifts are long.
 *
 * A group of n shifts of the torus Z_k1 x ... x Z_kd is grown from elements drawn at random, each of an order m that divides n over the
 * shifts that it has: the coordinates are multiples of k / gcd(k, m). Short shifts lie in each other's way, so groups are ranked by
 *     sum over shifts h of exp(-2 |h| / s),   |h| = sum_i min(h_i, k_i - h_i) mean(w) / w_i,   s = (tasks / n)^(1/d),
 * as pieces of least surface are long where neighbours exchange much. Limits: groups are drawn, not listed. */
#include "core/values.h"
#include "mapping/even_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 1500, MOST_GENERATORS = 24 };
static const double most_steps = 3e6; /* shifts added in all draws */

bool fc_task_torus(const long long *side, int n, const struct fc_unit_graph *tasks, const uint32_t *number,
                   struct fc_task_torus *torus)
{
    uint64_t all = 1;
    double sum = 0;
    *torus = (struct fc_task_torus){.n_tasks = tasks->n};
    for (int d = n - 1; d >= 0; d--) {
        if (side[d] < 1 || (uint64_t)side[d] > tasks->n / all) return false;
        if (side[d] > 1) {
            torus->side[torus->n] = (uint32_t)side[d];
            torus->stride[torus->n++] = (uint32_t)all;
        }
        all *= (uint64_t)side[d];
    }
    if (all != tasks->n) return false;
    for (uint32_t t = 0; t < tasks->n; t++)
        for (uint64_t e = tasks->first[t]; e < tasks->first[t + 1]; e++) {
            uint32_t a = number ? number[t] : t, b = number ? number[tasks->other[e]] : tasks->other[e];
            for (int d = 0; d < torus->n; d++)
                if (fc_torus_add(torus, a, torus->stride[d]) == b)
                    torus->weight[d] += (tasks->out[e] + tasks->in[e]) / 2 / tasks->n;
        }
    for (int d = 0; d < torus->n; d++) sum += torus->weight[d];
    return sum > 0;
}

uint32_t fc_torus_add(const struct fc_task_torus *torus, uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (int d = 0; d < torus->n; d++)
        sum += (a / torus->stride[d] + b / torus->stride[d]) % torus->side[d] * torus->stride[d];
    return sum;
}

static double length(const struct fc_task_torus *t, uint32_t shift)
{
    double mean = 0, sum = 0;
    for (int d = 0; d < t->n; d++) mean += t->weight[d] / t->n;
    for (int d = 0; d < t->n; d++) {
        uint32_t at = shift / t->stride[d] % t->side[d], back = t->side[d] - at;
        sum += (at < back ? at : back) * mean / fmax(t->weight[d], 1e-3 * mean);
    }
    return sum;
}

/* An element whose order divides n, so that a group of so many times fewer shifts does not become too large by it. */
static uint32_t draw(const struct fc_task_torus *t, uint32_t n, uint64_t key, uint64_t *counter)
{
    uint32_t shift = 0;
    for (int d = 0; d < t->n; d++) {
        uint32_t values = (uint32_t)fc_common_divisor(t->side[d], n), step = t->side[d] / values;
        shift += (uint32_t)((fc_random_quick(key, (*counter)++) >> 32) * values >> 32) * step * t->stride[d];
    }
    return shift;
}

/* Adds the multiples of x to the group; false when it would have more than n shifts or a number that does not divide n. */
static bool extend(const struct fc_task_torus *t, uint32_t x, bool *in, struct fc_grid_shifts *group, uint32_t n)
{
    uint32_t had = group->n;
    for (uint32_t y = x; !in[y]; y = fc_torus_add(t, y, x)) {
        if (group->n + had > n) return false;
        for (uint32_t i = 0; i < had; i++) {
            uint32_t z = fc_torus_add(t, group->shift[i], y);
            group->shift[group->n++] = z;
            in[z] = true;
        }
    }
    return n % group->n == 0;
}

/* A group of n shifts with elements that the draw tells; group->n 0: these make none. */
static void grow(const struct fc_task_torus *t, uint32_t n, uint64_t key, bool *in, struct fc_grid_shifts *group)
{
    uint64_t counter = 0;
    group->n = 1;
    group->shift[0] = 0;
    in[0] = true;
    bool is_group = true;
    for (int i = 0; is_group && i < MOST_GENERATORS && group->n < n; i++)
        is_group = extend(t, draw(t, n / group->n, key, &counter), in, group, n);
    for (uint32_t i = 0; i < group->n; i++) in[group->shift[i]] = false;
    if (!is_group || group->n != n) {
        group->n = 0;
        return;
    }
    double scale = pow((double)t->n_tasks / n, 1.0 / t->n);
    group->short_ones = 0;
    for (uint32_t i = 1; i < group->n; i++) group->short_ones += exp(-2 * length(t, group->shift[i]) / scale);
}

enum fc_code fc_grid_shifts_find(const struct fc_task_torus *torus, uint32_t n, uint64_t seed, uint64_t stream,
                                 struct fc_arena *arena, struct fc_grid_shifts *list, int *found, struct fc_status *st)
{
    struct fc_grid_shifts group;
    bool *in = fc_alloc(arena, torus->n_tasks, sizeof *in, st);
    *found = 0;
    for (int i = 0; in && i < FC_MOST_SHIFT_GROUPS; i++) {
        list[i].shift = fc_alloc(arena, n, sizeof *list[i].shift, st);
        if (!list[i].shift) return st->code;
    }
    if (!in) return st->code;
    group.shift = fc_alloc(arena, n, sizeof *group.shift, st);
    if (!group.shift) return st->code;
    int draws = (int)fmin(DRAWS, most_steps / n);
    for (int i = 0; i < draws; i++) {
        grow(torus, n, fc_random(seed, stream, (uint64_t)i), in, &group);
        if (group.n == 0) continue;
        int at = *found;
        bool known = false;
        for (int k = 0; k < *found; k++) known = known || fabs(list[k].short_ones - group.short_ones) < 1e-9;
        while (at > 0 && list[at - 1].short_ones > group.short_ones) at--;
        if (known || at >= FC_MOST_SHIFT_GROUPS) continue;
        if (*found < FC_MOST_SHIFT_GROUPS) ++*found;
        struct fc_grid_shifts last = list[*found - 1];
        memmove(list + at + 1, list + at, (size_t)(*found - 1 - at) * sizeof *list);
        list[at] = group;
        group = last;
    }
    return FC_OK;
}
