/* queueing_rungs.c - the queueing model where the turns depend on the load (UGAL, turns_ugal.c).
 *
 * A load between two rungs is solved on the turns of both, and the answers are mixed in proportion:
 *
 *     T(x) = (1 - f) T_i(x) + f T_{i+1}(x),   f = (x - x_i) / (x_{i+1} - x_i);
 *
 * rung 0, at load 0, is the empty network. Where the lower one has no steady state at x, the upper one counts alone; where neither has
 * one, the first further up that has: queues that grow turn as many packets away as those shares do. A load is stable where its rung or the
 * next has a steady state; above the last rung, the last. Limit: T has small steps where a lower rung ends.
 *
 * Waits of links and of single packets are those of the empty network's turns, which are solved at each load, too, but only
 * when someone asks (few do); in the order of the loads, as each solve goes on from those before. */
#include "solvers/queueing/queueing_internal.h"

#include <string.h>

/* Rungs further up, where only whether a load is stable is asked: more changed no answer and cost as much each. */
enum { LOOKED_AT = 1 };

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
    if (!q->rung) return fc_queueing_is_stable_one(q, parameters, load, stable, greatest_utilization, st);
    double least = INFINITY;
    struct fc_status one = {0};
    *stable = false;
    uint32_t first = above(q, load);
    for (uint32_t i = first; i < q->t->n_rungs && i <= first + LOOKED_AT && !*stable; i++) {
        double u = INFINITY;
        one = (struct fc_status){0};
        if (fc_queueing_is_stable_one(q->rung[i], parameters, load, stable, &u, &one) && one.code != FC_NO) break;
        if (one.code) *stable = false;
        least = *stable ? u : fmin(least, one.code ? (double)INFINITY : u);
    }
    if (one.code && (one.code != FC_NO || isinf(least))) *st = one;
    *greatest_utilization = least;
    return st->code;
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

/* The first rung from `from` on that has a steady state at the load, and its answer; the last, unstable or refused, where none has. */
static uint32_t steady_rung(struct fc_queueing *q, const struct fc_queueing_parameters *parameters, double load,
                            uint32_t from, struct fc_queueing_answer *a, struct fc_status *st)
{
    for (uint32_t i = from;; i++) {
        struct fc_status one = {0};
        fc_queueing_solve_one(q->rung[i], parameters, load, a, &one);
        bool open = one.code == FC_NO || (!one.code && !a->stable);
        if (open && i + 1 < q->t->n_rungs) continue;
        *st = one;
        return i;
    }
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
    uint32_t up = steady_rung(q, parameters, load, i, a, st);
    if (st->code || !a->stable) return st->code;
    q->unsolved = false;
    if (up > i) {
        put_off(q, parameters, load);
        return FC_OK;
    }
    struct fc_queueing *below = i > 0 ? q->rung[i - 1] : q;
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
    mix(&a->kept_off_cycles, b.kept_off_cycles, share);
    return FC_OK;
}
