/* queueing_rungs.c - the queueing model where the turns depend on the load (UGAL, turns_ugal.c).
 *
 * A load between two rungs is solved on the turns of both, and the answers are mixed in proportion:
 *
 *     T(x) = (1 - f) T_i(x) + f T_{i+1}(x),   f = (x - x_i) / (x_{i+1} - x_i);
 *
 * rung 0, at load 0, is the empty network. Where the lower one has no steady state at x, the upper one counts alone, and
 * it decides what is stable; above the last rung, the last. Limit: T has small steps where a lower rung ends.
 *
 * Waits of links and of single packets are those of the empty network's turns, which are solved at each load, too, but only
 * when someone asks (few do); in the order of the loads, as each solve goes on from those before. */
#include "solvers/queueing/queueing_internal.h"

#include <string.h>

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

void fc_queueing_catch_up(const struct fc_queueing *queueing)
{
    struct fc_queueing *q = (struct fc_queueing *)(uintptr_t)queueing; /* what is put off is not seen */
    if (!q->n_later) return;
    for (uint32_t i = 0; i < q->n_later; i++) {
        struct fc_queueing_answer direct;
        struct fc_status none = {0};
        fc_queueing_solve_one(q, &q->later[i].parameters, q->later[i].load, &direct, &none);
    }
    q->n_later = 0;
    if (q->unsolved) q->solved_cycles = NAN;
}

void fc_queueing_tune(struct fc_queueing *queueing, double accuracy, bool warm)
{
    fc_queueing_catch_up(queueing);
    queueing->accuracy = accuracy;
    queueing->warm = warm;
    for (uint32_t i = 0; queueing->rung && i < queueing->t->n_rungs; i++)
        fc_queueing_tune(queueing->rung[i], accuracy, warm);
}

/* Puts a solve of the empty network's turns off. */
static void put_off(struct fc_queueing *q, const struct fc_queueing_parameters *parameters, double load)
{
    struct fc_status none = {0};
    if (q->n_later == q->later_room) {
        uint32_t room = q->later_room ? 2 * q->later_room : 16;
        struct fc_queueing_later *later = fc_alloc(&q->arena, room, sizeof *later, &none);
        if (!later) {
            struct fc_queueing_answer direct;
            fc_queueing_catch_up(q);
            fc_queueing_solve_one(q, parameters, load, &direct, &none);
            return;
        }
        if (q->n_later) memcpy(later, q->later, q->n_later * sizeof *later);
        q->later = later;
        q->later_room = room;
    }
    q->later[q->n_later++] = (struct fc_queueing_later){*parameters, load};
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
    q->unsolved = true;
    q->solved_cycles = NAN;
    if (fc_queueing_solve_one(q->rung[i], parameters, load, a, st) || !a->stable) return st->code;
    struct fc_queueing *below = i > 0 ? q->rung[i - 1] : q;
    q->unsolved = false;
    if (below == q) fc_queueing_catch_up(q);
    bool known = !fc_queueing_solve_one(below, parameters, load, &b, &below_status) && b.stable;
    if (below != q) put_off(q, parameters, load);
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
