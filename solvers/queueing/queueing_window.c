/* queueing_window.c - closed injection by the open model and Little's law.
 *
 * With n packets of a node on their way, the node sends X = n / (R(X) + a), a: time until an acknowledgement frees
 * the place (Little). R(X) is the open model's latency at that load, but that at its own injection link a packet meets
 * only the n - 1 others of its node: source wait times (n - 1) / n (Bard 1979, Schweitzer 1979: mean value
 * analysis of closed networks with an arrival sees the others). X (R(X) + a) rises with X, so there is one
 * solution; where it would lie beyond the saturation X_s the network is full: X = X_s, R = n / X_s - a.
 * Limits: waits inside the network are those of open traffic, so they are somewhat too long for small windows; all
 * nodes that send are taken as their mean. Not held against the kernel, which has no windows for single packets. */
#include "solvers/queueing/queueing_window.h"

enum { MOST_STEPS = 60 };
#define ACCURACY 1e-8
#define FULL 0.999 /* of the saturation: beyond, the network is full */

struct closed {
    const struct fc_window_model *model;
    double window, ack;
    double latency; /* found last */
    struct fc_status *st;
};

/* Packets of a node on their way at that load, less the window. */
static double excess(double load, void *context)
{
    struct closed *c = context;
    struct fc_queueing_answer a;
    if (c->model->solve(c->model->context, load, &a, c->st) || !a.stable) return INFINITY;
    c->latency = a.network_cycles + a.source_cycles * (c->window - 1) / c->window;
    return load / c->model->flits_mean * (c->latency + c->ack) - c->window;
}

/* Halves between a load with fewer packets on their way and one with more, which may be unstable (infinitely many). */
static double find_load(struct closed *c, double most)
{
    double least = 0;
    for (int i = 0; i < MOST_STEPS && most - least > ACCURACY * most && !c->st->code; i++) {
        double middle = (least + most) / 2;
        if (excess(middle, c) < 0)
            least = middle;
        else
            most = middle;
    }
    return least;
}

enum fc_code fc_window_solve(const struct fc_window_model *model, uint32_t window_packets, double ack_cycles,
                             struct fc_window_answer *answer, struct fc_status *st)
{
    struct closed c = {model, window_packets, ack_cycles, NAN, st};
    *answer = (struct fc_window_answer){window_packets, NAN, NAN, false};
    if (window_packets == 0) return fc_refuse(st, FC_INPUT, "window 0 (expected at least 1 packet)");
    if (!(ack_cycles >= 0) || !isfinite(ack_cycles))
        return fc_refuse(st, FC_INPUT, "an acknowledgement after %g cycles (expected 0 or more)", ack_cycles);
    double most = FULL * model->saturation, over = excess(most, &c);
    if (st->code) return st->code;
    if (over <= 0) {
        answer->saturated = true;
        answer->load_flits_per_cycle = model->saturation;
        answer->latency_mean_cycles = window_packets * model->flits_mean / model->saturation - ack_cycles;
        return FC_OK;
    }
    double load = find_load(&c, most);
    excess(load, &c);
    answer->load_flits_per_cycle = load;
    answer->latency_mean_cycles = c.latency;
    return st->code;
}
