/* measured_error.c - the error of a prediction from collectives that were measured on the machine itself.
 *
 * With x_i = |measured_i / predicted_i - 1| of the cases, of rows that the end points were not fitted to, and the distance of a
 * job from case i
 *
 *     d_i = (|ln(bytes / bytes_i)| + |ln(nodes / nodes_i)| + 3 |ln(ranks / ranks_i)|) / ln 8 + (2 if the operation is another),
 *
 * the error is w q, q the SHARE quantile of x over the NEAREST nearest cases, at least LEAST: a time T +- e is to be measured
 * between T (1 - e) and T (1 + e), as that of replays against the kernel is (replay_error.c). w (`widen`) is such that the cases
 * of every job are covered in SHARE by the error that the other jobs give: what a job of another size may expect.
 * Outside of the sizes measured the error grows by GROWTH for every factor of 8. A quantile of neighbours, not a model: the
 * cases have algorithms, sizes and noise of their own (Stone, Consistent nonparametric regression, Ann. Stat. 5, 1977).
 * Limits: collectives of all ranks; of other jobs it says what messages of that size are worth. */
#include "solvers/calibration/measured_error.h"
#include "core/values.h"

#include <stdlib.h>
#include <string.h>

#define SHARE 0.8
#define LEAST 0.05
#define GROWTH 0.2
#define OTHER_OPERATION 2.0
#define UNIT_BYTES 16384.0
#define RANKS_WEIGHT 3.0 /* one rank a node and many are different regimes */
enum { NEAREST = 12, LEAST_CASES = 8 };

struct neighbour {
    double distance, off;
    uint32_t number;
};

static int nearer(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}
static int by_off(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;
    return x->off < y->off ? -1 : x->off > y->off;
}

static double steps(double a, double b)
{
    return fabs(log(a / b)) / log(8);
}

static bool same_job(const struct fc_measured_case *a, const struct fc_measured_case *b)
{
    return a->nodes == b->nodes && a->ranks_per_node == b->ranks_per_node;
}

/* How far the job's size is outside of those measured. */
static double outside(const struct fc_measured_cases *cases, const struct fc_measured_point *p, uint32_t without)
{
    double low = INFINITY, high = 0;
    for (uint32_t i = 0; i < cases->n; i++) {
        const struct fc_measured_case *c = &cases->cases[i];
        if (without != FC_NONE && same_job(c, &cases->cases[without])) continue;
        low = fmin(low, c->nodes);
        high = fmax(high, c->nodes);
    }
    return p->nodes < low ? steps(low, p->nodes) : p->nodes > high ? steps(p->nodes, high) : 0;
}

/* q of the point, widened outside; NaN: too few cases. `alone`: case `without` is left out by itself, not with its job. */
static double quantile(const struct fc_measured_cases *cases, const struct fc_measured_point *p, uint32_t without,
                       bool alone, bool *extrapolated)
{
    struct neighbour *near = malloc((cases->n + 1) * sizeof *near);
    uint32_t n = 0;
    for (uint32_t i = 0; near && i < cases->n; i++) {
        const struct fc_measured_case *c = &cases->cases[i];
        if (without != FC_NONE && (alone ? i == without : same_job(c, &cases->cases[without]))) continue;
        bool other = !p->collective || strcmp(c->collective, p->collective);
        near[n++] = (struct neighbour){steps(c->bytes, p->bytes) + steps(c->nodes, p->nodes) +
                                           RANKS_WEIGHT * steps(c->ranks_per_node, p->ranks_per_node) +
                                           (other ? OTHER_OPERATION : 0),
                                       fabs(c->ratio - 1), i};
    }
    double q = NAN;
    if (n >= LEAST_CASES) {
        double far = outside(cases, p, alone ? FC_NONE : without);
        qsort(near, n, sizeof *near, nearer);
        n = n < NEAREST ? n : NEAREST;
        qsort(near, n, sizeof *near, by_off);
        q = fmax(LEAST, near[(uint32_t)(SHARE * (n - 1) + 0.5)].off) * (1 + GROWTH * far);
        *extrapolated = far > 0;
    }
    free(near);
    return q;
}

double fc_measured_error_percent(const struct fc_measured_cases *cases, const struct fc_measured_point *point,
                                 uint32_t without, bool *extrapolated)
{
    *extrapolated = false;
    return 100 * cases->widen * quantile(cases, point, without, false, extrapolated);
}

double fc_measured_widen(struct fc_measured_cases *cases)
{
    struct neighbour *need = malloc((cases->n + 1) * sizeof *need); /* off: what widens the error to the case */
    uint32_t n = 0, covered = 0;
    bool one_job = true, far;
    cases->widen = 1;
    for (uint32_t i = 1; i < cases->n; i++) one_job = one_job && same_job(&cases->cases[i], &cases->cases[0]);
    for (uint32_t i = 0; need && i < cases->n; i++) {
        const struct fc_measured_case *c = &cases->cases[i];
        const struct fc_measured_point at = {c->collective, c->nodes, c->ranks_per_node, c->bytes};
        double q = quantile(cases, &at, i, one_job, &far);
        if (!isnan(q)) need[n++] = (struct neighbour){0, fabs(c->ratio - 1) / q, i};
    }
    if (n > 0) {
        qsort(need, n, sizeof *need, by_off);
        cases->widen = fmax(1, need[(uint32_t)(SHARE * (n - 1) + 0.5)].off);
        while (covered < n && need[covered].off <= cases->widen) covered++;
    }
    free(need);
    return n ? (double)covered / n : NAN;
}

/* ---- of a replay ---- */

static double vector_bytes(const struct fc_trace *t, const struct fc_event *e)
{
    double n = e->comm >= 0 && (uint32_t)e->comm < t->n_comms
                   ? (double)(t->comm_first[e->comm + 1] - t->comm_first[e->comm])
                   : 1;
    switch (e->op) {
    case FC_OP_GATHER:
    case FC_OP_SCATTER:
    case FC_OP_ALLGATHER:
    case FC_OP_ALLTOALL:
    case FC_OP_REDUCE_SCATTER: return n * (double)e->bytes;
    default: return (double)e->bytes;
    }
}

static double count_nodes(const struct fc_placement *placement)
{
    uint32_t *node = malloc((placement->n_tasks + 1) * sizeof *node), n = 0;
    if (!node) return placement->n_tasks;
    memcpy(node, placement->node, placement->n_tasks * sizeof *node);
    qsort(node, placement->n_tasks, sizeof *node, fc_by_number);
    for (uint32_t i = 0; i < placement->n_tasks; i++) n += i == 0 || node[i] != node[i - 1];
    free(node);
    return n;
}

/* The point of a job: of the operation whose calls weigh most, each by 1 + bytes / 16 KiB. Events not in memory: messages of
 * the bytes given. O(events). */
static struct fc_measured_point locate(const struct fc_trace *t, const struct fc_placement *placement,
                                       double mean_message_bytes)
{
    double weight[FC_N_OPS] = {0}, bytes[FC_N_OPS] = {0}, nodes = count_nodes(placement);
    struct fc_measured_point point = {NULL, nodes, placement->n_tasks / fmax(1, nodes), fmax(1, mean_message_bytes)};
    int best = -1;
    for (uint64_t i = 0; t->events && i < t->first_event[t->n_ranks]; i++) {
        const struct fc_event *e = &t->events[i];
        bool message = e->op == FC_OP_SEND || e->op == FC_OP_ISEND;
        if (!message && !(e->op >= FC_OP_BARRIER && e->op <= FC_OP_SCAN)) continue;
        double b = vector_bytes(t, e), w = 1 + b / UNIT_BYTES;
        weight[message ? FC_OP_SEND : e->op] += w;
        bytes[message ? FC_OP_SEND : e->op] += w * b;
    }
    for (int op = 0; op < FC_N_OPS; op++)
        if (weight[op] > 0 && (best < 0 || weight[op] > weight[best])) best = op;
    if (best < 0) return point;
    point.bytes = fmax(1, bytes[best] / weight[best]);
    if (best != FC_OP_SEND) point.collective = fc_op_names[best];
    return point;
}

void fc_measured_state_error(const struct fc_machine *machine, const struct fc_trace *trace,
                             const struct fc_placement *placement, struct fc_replay *replay)
{
    struct fc_prediction *p = &replay->prediction;
    double mean = replay->n_messages ? (p->network_bytes + p->local_bytes) / (double)replay->n_messages : 1;
    struct fc_measured_point point = locate(trace, placement, mean);
    bool far;
    double error = fc_measured_error_percent(&machine->measured, &point, FC_NONE, &far);
    if (isnan(error)) return;
    p->extrapolated = far;
    snprintf(p->why, sizeof p->why, "%s", far ? "jobs of this many nodes were not measured" : "");
    fc_prediction_error(p, error, FC_AGAINST_MEASURED);
}
