/* nic_spread.c - distributions of waits on a grid: the sum of independent ones is a convolution, the greatest
 * a product of distribution functions. A continuous distribution puts the probability of (x - step/2, x +
 * step/2] on x, so its mean is kept to a fraction of a step. */
#include "solvers/nic/nic_spread.h"

#include <math.h>

static enum fc_code make(struct fc_spread *s, uint64_t n, double step_s, struct fc_arena *arena, struct fc_status *st)
{
    s->n = (uint32_t)(n < FC_SPREAD_CELLS ? n : FC_SPREAD_CELLS);
    s->step_s = step_s;
    s->p = fc_alloc(arena, s->n, sizeof *s->p, st);
    return s->p ? FC_OK : st->code;
}

static uint64_t cells(double length_s, double step_s)
{
    double n = ceil(length_s / step_s) + 2;
    return n < FC_SPREAD_CELLS ? (uint64_t)n : FC_SPREAD_CELLS;
}

enum fc_code fc_spread_none(struct fc_spread *s, double step_s, struct fc_arena *arena, struct fc_status *st)
{
    if (make(s, 1, step_s, arena, st)) return st->code;
    s->p[0] = 1;
    return FC_OK;
}

/* p from the distribution function at the cells' upper ends. */
static void differences(struct fc_spread *s)
{
    s->p[s->n - 1] = 1;
    for (uint32_t i = s->n - 1; i > 0; i--) s->p[i] -= s->p[i - 1];
}

enum fc_code fc_spread_residual(struct fc_spread *s, double step_s, double least_s, double some, double length_s,
                                double of, struct fc_arena *arena, struct fc_status *st)
{
    if (make(s, cells(least_s + length_s, step_s), step_s, arena, st)) return st->code;
    for (uint32_t i = 0; i < s->n; i++) {
        double x = (i + 0.5) * step_s - least_s, left = x < length_s ? 1 - x / length_s : 0;
        s->p[i] = x < 0 ? 0 : 1 - some * (length_s > 0 ? pow(left, of) : 0);
    }
    differences(s);
    return FC_OK;
}

enum fc_code fc_spread_exponential(struct fc_spread *s, double step_s, double some, double mean_s,
                                   struct fc_arena *arena, struct fc_status *st)
{
    if (make(s, some > 0 ? cells(30 * mean_s, step_s) : 1, step_s, arena, st)) return st->code;
    for (uint32_t i = 0; i < s->n; i++) s->p[i] = 1 - (some > 0 ? some * exp(-(i + 0.5) * step_s / mean_s) : 0);
    differences(s);
    return FC_OK;
}

enum fc_code fc_spread_add(struct fc_spread *a, const struct fc_spread *b, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_spread sum;
    if (make(&sum, (uint64_t)a->n + b->n - 1, a->step_s, arena, st)) return st->code;
    for (uint32_t i = 0; i < a->n; i++) {
        const double p = a->p[i], *more = b->p;
        double *to = sum.p + i, *last = sum.p + sum.n - 1;
        uint32_t n = b->n < sum.n - i ? b->n : sum.n - i;
        if (p == 0) continue;
        for (uint32_t j = 0; j < n; j++) to[j] += p * more[j];
        for (uint32_t j = n; j < b->n; j++) *last += p * more[j];
    }
    *a = sum;
    return FC_OK;
}

enum fc_code fc_spread_max(struct fc_spread *a, const struct fc_spread *b, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_spread most;
    if (make(&most, a->n > b->n ? a->n : b->n, a->step_s, arena, st)) return st->code;
    double below_a = 0, below_b = 0;
    for (uint32_t i = 0; i < most.n; i++) {
        below_a += i < a->n ? a->p[i] : 0;
        below_b += i < b->n ? b->p[i] : 0;
        most.p[i] = below_a * below_b;
    }
    differences(&most);
    *a = most;
    return FC_OK;
}

void fc_spread_copies(struct fc_spread *a, double copies)
{
    double below = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        below += a->p[i];
        a->p[i] = pow(below < 1 ? below : 1, copies);
    }
    differences(a);
}

double fc_spread_mean(const struct fc_spread *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n; i++) sum += s->p[i] * i;
    return sum * s->step_s;
}

double fc_spread_below(const struct fc_spread *s, double x)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n && i * s->step_s < x; i++) sum += s->p[i];
    return sum;
}
