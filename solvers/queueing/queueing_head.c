/* queueing_head.c - what can be read of the load solved last; waits of single heads: (2) of queueing.c for one set of choices. */
#include "solvers/queueing/queueing_internal.h"

double fc_queueing_solved_cycles(const struct fc_queueing *queueing)
{
    fc_queueing_catch_up(queueing);
    return queueing->solved_cycles;
}

const double *fc_queueing_link_wait(const struct fc_queueing *queueing)
{
    fc_queueing_catch_up(queueing);
    return queueing->link_wait;
}

/* The edge of (channel, output); edges stand in this order. FC_NONE: no packet of the turns goes there. */
static uint32_t find_edge(const struct fc_queueing *q, uint32_t channel, uint32_t link)
{
    uint32_t low = 0, high = q->n_edges;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, c = q->edge_channel[middle];
        if (c < channel || (c == channel && q->pair_out[q->edge_pair[middle]] < link))
            low = middle + 1;
        else
            high = middle;
    }
    return low < q->n_edges && q->edge_channel[low] == channel && q->pair_out[q->edge_pair[low]] == link ? low
                                                                                                         : FC_NONE;
}

/* The exit of an edge of channel `in` to a channel; FC_NONE: none. */
static uint32_t find_exit(const struct fc_queueing *q, uint32_t in, uint32_t e, uint32_t to)
{
    for (uint32_t k = q->first_exit[in]; k < q->first_exit[in + 1]; k++)
        if (q->exit_edge[k] == e && q->exit_channel[k] == to) return k;
    return FC_NONE;
}

double fc_queueing_head_wait(const struct fc_queueing *q, uint32_t in, uint32_t n, const uint32_t *next,
                             const double *share)
{
    const struct fc_turns *t = q->t;
    double wait = 0, room = 0, rho = 0;
    fc_queueing_catch_up(q);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t o = t->channel_link[next[i]], e = in == FC_NONE ? FC_NONE : find_edge(q, in, o);
        room += share[i] * q->room[next[i]];
        rho += share[i] * q->solved_load * t->rate[o] * t->service[o];
        if (in == FC_NONE) continue;
        if (e == FC_NONE || !(t->stage > 0)) {
            wait += share[i] * (e == FC_NONE ? q->link_wait[o] : q->edge_next[e]);
            continue;
        }
        uint32_t k = find_exit(q, in, e, next[i]);
        wait += share[i] *
                (k == FC_NONE ? q->edge_next[e] : fc_queueing_in_turn(q) * q->exit_link_wait[k] + q->exit_vc_wait[k]);
    }
    if (n > 1) wait *= pow(fmin(1, rho), q->solved.value[FC_Q_CHOICE] * (sqrt(2.0 * (n + 1)) - 2)) / n;
    return wait + room;
}

double fc_queueing_channel_wait(const struct fc_queueing *q, uint32_t channel)
{
    const struct fc_turns *t = q->t;
    uint32_t l = t->channel_link[channel];
    fc_queueing_catch_up(q);
    double wait = t->kind[l] == FC_TURN_EJECTION || !(t->channel_rate[channel] > 0) ? 0 : q->queue[channel];
    if (t->kind[l] == FC_TURN_INJECTION) {
        double rate = q->solved_load * t->rate[l];
        wait += rate * t->service2[l] / (2 * (1 - rate * t->service[l]));
    }
    return wait;
}
