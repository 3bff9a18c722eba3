/* bound_partners.c - what tasks must exchange with tasks that are not beside them.
 *
 * In a unit of at most c tasks a task t has at most c - 1 others beside it, so it sends out of the unit at
 * least
 *     beyond(t, c - 1) = bytes of its list of partners - those of the c - 1 heaviest
 *                      + a[t] * (sum of b - the c greatest b)       for each dense part a[s] b[d],
 * and what leaves the unit is at least the greatest of them, and at least their sum over the tasks inside.
 * Summed over units that hold all tasks: at least the sum over all tasks. Receiving likewise. Limit: 0
 * where a task has fewer partners than others beside it. */
#include "mapping/bound.h"

#include <math.h>
#include <stdlib.h>

static int falling(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* values[n], falling, become the sums of each and all that follow: without the differences of a prefix sum,
 * which would round. */
static void sum_rests(double *values, uint64_t n)
{
    qsort(values, n, sizeof *values, falling);
    for (uint64_t i = n; i-- > 1;) values[i - 1] += values[i];
}

static double *rests(const double *values, uint32_t n, struct fc_arena *arena, struct fc_status *st)
{
    double *rest = fc_alloc(arena, n + 1ull, sizeof *rest, st);
    for (uint32_t i = 0; rest && i < n; i++) rest[i] = values[i];
    if (rest) sum_rests(rest, n);
    return rest;
}

enum fc_code fc_partners_start(const struct fc_demand *demand, const struct fc_unit_graph *tasks,
                               struct fc_arena *arena, struct fc_partners *p, struct fc_status *st)
{
    uint64_t edges = tasks->first[tasks->n];
    *p = (struct fc_partners){.n = tasks->n, .first = tasks->first, .n_dense = demand->n_dense};
    p->out = fc_alloc(arena, edges + 1, sizeof *p->out, st);
    p->in = p->out ? fc_alloc(arena, edges + 1, sizeof *p->in, st) : NULL;
    if (!p->in) return st->code;
    for (uint64_t e = 0; e < edges; e++) {
        p->out[e] = tasks->out[e];
        p->in[e] = tasks->in[e];
    }
    for (uint32_t t = 0; t < p->n; t++) {
        sum_rests(p->out + p->first[t], p->first[t + 1] - p->first[t]);
        sum_rests(p->in + p->first[t], p->first[t + 1] - p->first[t]);
    }
    for (int i = 0; i < p->n_dense && !st->code; i++) {
        p->a[i] = demand->dense[i].a;
        p->b[i] = demand->dense[i].b;
        p->rest_a[i] = rests(p->a[i], p->n, arena, st);
        p->rest_b[i] = rests(p->b[i], p->n, arena, st);
    }
    return st->code;
}

double fc_partners_beyond(const struct fc_partners *p, uint64_t beside, bool in, double *heaviest)
{
    const double *rest = in ? p->in : p->out;
    uint64_t together = beside < p->n ? beside + 1 : p->n;
    double sum = 0;
    *heaviest = 0;
    for (uint32_t t = 0; t < p->n; t++) {
        double bytes = beside < p->first[t + 1] - p->first[t] ? rest[p->first[t] + beside] : 0;
        for (int i = 0; i < p->n_dense; i++)
            bytes += in ? p->b[i][t] * p->rest_a[i][together] : p->a[i][t] * p->rest_b[i][together];
        sum += bytes;
        *heaviest = fmax(*heaviest, bytes);
    }
    return sum;
}
