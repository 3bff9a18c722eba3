/* queueing_rungs.c - the queueing model where the turns depend on the load (UGAL, turns_ugal.c).
 *
 * A load between two rungs is solved on the turns of both, and the answers are mixed in proportion:
 *
 *     T(x) = (1 - f) T_i(x) + f T_{i+1}(x),   f = (x - x_i) / (x_{i+1} - x_i);
 *
 * rung 0, at load 0, is the empty network. Where the lower one has no steady state at x, the upper one counts alone, and
 * it decides what is stable; above the last rung, the last. Limit: T has small steps where a lower rung ends. */
#include "solvers/queueing/queueing_internal.h"

/* The first rung whose load is not below. */
static uint32_t above(const struct fc_queueing *q, double load)
{
    uint32_t i = 0;
    while (i + 1 < q->t->n_rungs && fc_turns_rung_load(q->t, i) < load) i++;
    return i;
}

enum fc_code fc_queueing_is_stable(struct fc_queueing *q, const struct fc_queueing_parameters *parameters, double load,
                                   bool *stable, double *greatest_utilization, struct fc_status *st)
{
    struct fc_queueing *one = q->rung ? q->rung[above(q, load)] : q;
    return fc_queueing_is_stable_one(one, parameters, load, stable, greatest_utilization, st);
}

static void mix(double *to, double from, double share)
{
    *to += share * (from - *to);
}

enum fc_code fc_queueing_solve(struct fc_queueing *q, const struct fc_queueing_parameters *parameters, double load,
                               struct fc_queueing_answer *a, struct fc_status *st)
{
    if (!q->rung) return fc_queueing_solve_one(q, parameters, load, a, st);
    uint32_t i = above(q, load);
    double high = fc_turns_rung_load(q->t, i), low = i > 0 ? fc_turns_rung_load(q->t, i - 1) : 0;
    struct fc_queueing_answer b;
    struct fc_status below_status = {0};
    q->solved_cycles = NAN;
    if (fc_queueing_solve_one(q->rung[i], parameters, load, a, st) || !a->stable) return st->code;
    struct fc_queueing *below = i > 0 ? q->rung[i - 1] : q;
    bool known = !fc_queueing_solve_one(below, parameters, load, &b, &below_status) && b.stable;
    if (below != q) { /* its waits of links and pairs are of direct routes */
        struct fc_queueing_answer direct;
        struct fc_status none = {0};
        fc_queueing_solve_one(q, parameters, load, &direct, &none);
    }
    if (!known || load >= high) return FC_OK;
    double share = (high - load) / (high - low);
    mix(&a->latency_mean_cycles, b.latency_mean_cycles, share);
    mix(&a->network_cycles, b.network_cycles, share);
    mix(&a->source_cycles, b.source_cycles, share);
    mix(&a->latency_sd_cycles, b.latency_sd_cycles, share);
    mix(&a->latency_p95_cycles, b.latency_p95_cycles, share);
    mix(&a->latency_p99_cycles, b.latency_p99_cycles, share);
    mix(&a->contention_cycles, b.contention_cycles, share);
    mix(&a->queue_cycles, b.queue_cycles, share);
    mix(&a->backpressure_cycles, b.backpressure_cycles, share);
    return FC_OK;
}
