/* queueing.c - mean waiting in a network of input-queued routers, as a fixed point over channels.
 *
 * All times in cycles; link o sends packets of mean time t_o at rate l_o, rho_o = l_o t_o. Channel c: the V_c
 * virtual channels of link k = link(c) that a class of packets may use, rate l_c; share q_co of its packets
 * goes on by link o.
 *
 * (1) A head waits for its output o. Others that came by link j bring rho_jo; first come, first served
 *     (Pollaczek & Khinchine; same input excluded: Ogras & Marculescu 2007, contention matrix):
 *       met at random       A_co = sum_{j != k} [ rho_jo E[t^2] / (2 E[t]^2) + l_jo W_jo ] t
 *       met as a follower   B_co = sum_{j != k}   l_jo W_jo / (rho_o - rho_jo) t
 *     where a follower is a head whose predecessor left by the same output: it finds no packet of another
 *     input half sent, but those that came to wait in the meantime. W_co = alpha ((1 - f) A + f B), f = u_c
 *     q_co. As the number of inputs grows B -> A and W -> rho t / (2 (1 - rho)), M/D/1; two inputs alternate
 *     at saturation.
 * (2) A head that may choose among m outputs waits W_set = mean of its W_co x rho^(delta (sqrt(2 (m + 1)) -
 *     2)) / m (Sakasegawa 1977, M/D/m).
 * (3) The channel's queue. A packet occupies the front for S = t_o + W + X (X: wait for room), so that
 *       u_c = l_c S / V_c,   Q_c = beta (l_c / V_c) max(0, E[S^2] - t_k^2) / (2 (1 - u_c)):
 *     M/G/1, less what packets one behind the other on a link of time t_k cannot do to each other. With one
 *     channel an input and uniform traffic u = 1 at 2 - sqrt 2 (Karol, Hluchyj & Morgan 1987). A packet of F flits
 *     from a faster link of the network has left the front by (t_o - t_k) / F sooner where the next one, of the
 *     share 1 - q_co, goes elsewhere: t_o above is less by that. Where the
 *     links behind the channel are slower, of mean time t, with l = l_c / V_c
 *         + beta l E[t_k^2] / 2 (1 / (1 - l t) - 1 / (1 - l t_k)):
 *     a tandem of queues then waits as long in all as the slowest of them alone (Friedman 1965), exactly.
 * (4) The input port moves `paths` packets at a time and loses the share epsilon of its heads' waits:
 *     the same with S' = t_o + epsilon (W + X), rate l_k / paths.
 * (5) The next channel is full with probability F = min(1, u r^(B - 1))^V, r = 1 - u / ((l/V)(Q + S)), B
 *     packets a channel; a packet then waits X = gamma F max(0, S_next - t_k) / V.
 * (6) chi: a packet keeps a busy link (1 + chi) t.
 * (7) Routers that give out virtual channels in a stage of their own: queueing_stage.c.
 * (8) Families without calibrations (turns.h, by_theory): in (1) W_jo + X_jo in place of W_jo, X_jo the room that packets wait for that
 *     came before to the same virtual channel; in (5) B less the places that are taken for a credit's round trip, by X of (7).
 * Theory has epsilon = 1 where an input port asks for one output at a time and asks again until it is served (separable
 * allocators whose pointers move on a grant only): its heads are one queue of the crossbar of Karol, Hluchyj & Morgan, however
 * many virtual channels it has. Where a port serves any head whose output is free (the event engine) it is lost only while all its
 * heads wait: epsilon is the mean over packets of q^(5/3), q the share of its port's packets that come by the virtual channel of its
 * own. With one channel that is Karol's 1; the power is that with which crossbars of 64 inputs with 2, 3, 4, 8 and 16 channels
 * accept what they do in the kernel (0.719, 0.786, 0.824, 0.897, 0.941; 0.718, 0.788, 0.825, 0.896, 0.943).
 * Latency = zero load + sum of (1) to (5) over the way + the wait for the injection link, M/G/1.
 *
 * Solved by substitution (queueing_rounds.c); unstable where a u or a utilisation reaches 1.
 * Limits: arrivals are taken as independent, so traffic of few constant flows waits less than said; spacing
 * by links is remembered one link far; wormhole packets longer than a buffer are taken as cut through; waits
 * of different hops as independent in the tail estimate. */
#include "solvers/queueing/queueing_internal.h"

#include <gsl/gsl_cdf.h>
#include <string.h>

#define PORT_POWER (5.0 / 3)

const char *const fc_queueing_parameter_names[] = {"contention", "input_queue", "backpressure", "port", "choice",
                                                   "gap",        NULL};

void fc_queueing_defaults(struct fc_queueing_parameters *parameters)
{
    *parameters = (struct fc_queueing_parameters){
        .value = {[FC_Q_CONTENTION] = 1,
                  [FC_Q_INPUT_QUEUE] = 1,
                  [FC_Q_BACKPRESSURE] = 1,
                  [FC_Q_PORT] = 0.3,
                  [FC_Q_CHOICE] = 1,
                  [FC_Q_GAP] = 0},
    };
}

/* Theory's epsilon where an input port serves any head whose output is free. */
static double port_lost(const struct fc_turns *t)
{
    double sum = 0, all = 0;
    for (uint32_t i = 0; i < t->n_channels; i++) {
        uint32_t c = t->channel_met ? t->channel_met[i] : i, l = t->channel_link[c];
        if (t->kind[l] == FC_TURN_EJECTION || !(t->channel_rate[c] > 0)) continue;
        double own = t->channel_rate[c] / t->channel_vcs[c] / (t->rate[l] * t->copies[l]);
        sum += t->channel_rate[c] * pow(own, PORT_POWER);
        all += t->channel_rate[c];
    }
    return all > 0 ? sum / all : 1;
}

void fc_queueing_theory(const struct fc_turns *turns, struct fc_queueing_parameters *parameters)
{
    fc_queueing_defaults(parameters);
    if (turns->one_bid && (turns->by_theory || turns->stage > 0)) /* of others without a stage it was not looked at */
        parameters->value[FC_Q_PORT] = 1;
    else if (turns->by_theory)
        parameters->value[FC_Q_PORT] = port_lost(turns);
}

/* ---- answers ---- */

/* Wait of the heads of a state for their outputs, by (2); *vc: for a virtual channel, by (7). */
static double state_wait(const struct fc_queueing *q, uint32_t s, double *vc)
{
    const struct fc_turns *t = q->t;
    double wait = 0;
    if (t->state_in[s] == FC_NONE || !(t->state_rate[s] > 0)) return 0;
    if (t->stage > 0) {
        *vc = fc_queueing_stage_wait(q, s, &wait);
        return wait;
    }
    for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++)
        wait += t->choice_rate[i] * q->edge_next[q->edge_of[i]];
    return wait / t->state_rate[s] * (q->state_row[s] == FC_NONE ? 1 : q->row_factor[q->state_row[s]]);
}

/* Mean and variance of the waits over the way of a packet; the variance of a wait W before a link of time t
 * as in M/D/1, W^2 + 2/3 t W. */
static void add_waits(struct fc_queueing *q, double load, struct fc_queueing_answer *a)
{
    const struct fc_turns *t = q->t;
    double contention_sum = 0, queue = 0, room = 0, variance = 0, source = 0, kept_off = 0;
    memset(q->link_wait, 0, t->n_links * sizeof *q->link_wait);
    for (uint32_t s = 0; s < t->n_states; s++) {
        double vc = 0, w = state_wait(q, s, &vc);
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
            double rate = t->choice_rate[i], x = vc + q->room[t->choice_channel[i]];
            uint32_t l = t->choice_link[i];
            double off = 0, kept = t->state_in[s] == FC_NONE ? 0 : fc_turns_kept_cycles(t, l, load, &off);
            if (kept > w + x)
                contention_sum += rate * (kept - w - x), kept_off += rate * off, variance += rate * kept * kept;
            if (t->state_in[s] == FC_NONE)
                source += rate * x;
            else
                contention_sum += rate * w, room += rate * x;
            variance += rate * ((w + x) * (w + x) + 2.0 / 3 * t->service[l] * (w + x));
            q->link_wait[l] += rate * (w + x);
        }
    }
    for (uint32_t i = 0; i < t->n_channels; i++) {
        uint32_t c = t->channel_met ? t->channel_met[i] : i, l = t->channel_link[c];
        double w = q->queue[c], rate = t->channel_rate[c];
        if (!(rate > 0) || t->kind[l] == FC_TURN_EJECTION) continue;
        queue += rate * w;
        variance += rate * (w * w + 2.0 / 3 * t->service[l] * w);
    }
    for (uint32_t l = 0; l < t->n_links; l++) {
        if (t->rate[l] > 0) q->link_wait[l] /= t->rate[l] * t->copies[l];
        if (t->kind[l] != FC_TURN_INJECTION || !(t->rate[l] > 0)) continue;
        double rate = load * t->rate[l];
        double w = rate * t->service2[l] / (2 * (1 - rate * t->service[l]));
        source += t->rate[l] * t->copies[l] * w;
        variance += t->rate[l] * t->copies[l] * (w * w + 2.0 / 3 * t->service[l] * w);
    }
    double n = t->packets;
    a->contention_cycles = contention_sum / n;
    a->queue_cycles = queue / n;
    a->backpressure_cycles = room / n;
    a->kept_off_cycles = kept_off / n;
    a->source_cycles = source / n;
    a->network_cycles = t->zero_load_cycles + a->contention_cycles + a->queue_cycles + a->backpressure_cycles;
    a->latency_mean_cycles = a->network_cycles + a->source_cycles;
    a->latency_sd_cycles = sqrt(variance / n + t->zero_load_variance);
}

/* Quantile p <= 0.99 of the gamma distribution, by halving between 0 and mean + 10 standard deviations, which
 * Cantelli's inequality puts above it (GSL's inverse gives up, and with it the program, for some small
 * shapes). */
static double gamma_quantile(double p, double shape, double scale)
{
    double low = 0, high = scale * (shape + 10 * sqrt(shape));
    for (int i = 0; i < 60 && high - low > 1e-9 * high; i++) {
        double middle = (low + high) / 2;
        if (gsl_cdf_gamma_P(middle, shape, scale) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double fc_queueing_quantile(double p, double least, double mean, double sd)
{
    double over = mean - least;
    if (!(over > 0) || !(sd > 0)) return mean;
    return least + gamma_quantile(p, over * over / (sd * sd), sd * sd / over);
}

static void add_tail(const struct fc_turns *t, struct fc_queueing_answer *a)
{
    double least = t->least_zero_load_cycles, mean = a->latency_mean_cycles, sd = a->latency_sd_cycles;
    a->latency_p95_cycles = fc_queueing_quantile(0.95, least, mean, sd);
    a->latency_p99_cycles = fc_queueing_quantile(0.99, least, mean, sd);
}

/* All of the answer but what add_waits and add_tail find. */
static enum fc_code settle(struct fc_queueing *q, const struct fc_queueing_parameters *parameters, double load,
                           struct fc_queueing_answer *answer, struct fc_status *st)
{
    struct fc_queueing_steady steady;
    q->solved_cycles = NAN;
    *answer = (struct fc_queueing_answer){.load_flits_per_cycle = load,
                                          .latency_mean_cycles = NAN,
                                          .network_cycles = NAN,
                                          .source_cycles = NAN,
                                          .latency_sd_cycles = NAN,
                                          .latency_p95_cycles = NAN,
                                          .latency_p99_cycles = NAN,
                                          .contention_cycles = NAN,
                                          .queue_cycles = NAN,
                                          .backpressure_cycles = NAN};
    if (!(load > 0) || !isfinite(load))
        return fc_refuse(st, FC_INPUT, "load %g flits a node and cycle (expected a positive number)", load);
    answer->greatest_utilization = load * q->t->max_service_rate * (1 + parameters->value[FC_Q_GAP]);
    if (answer->greatest_utilization >= 1) return FC_OK;
    bool converged = fc_queueing_rounds(q, parameters, load, &steady);
    answer->iterations = steady.iterations;
    if (!converged)
        return fc_refuse(st, FC_NO,
                         "the queueing model does not converge at %g flits a node and cycle (%d iterations, "
                         "change %g of %g cycles)",
                         load, steady.iterations, steady.change, steady.greatest_wait);
    answer->greatest_utilization = fmax(answer->greatest_utilization, steady.greatest_utilization);
    answer->stable = answer->greatest_utilization < 1;
    return FC_OK;
}

enum fc_code fc_queueing_is_stable_one(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                                       double load_flits_per_cycle, bool *stable, double *greatest_utilization,
                                       struct fc_status *st)
{
    struct fc_queueing_answer answer;
    enum fc_code code = settle(queueing, parameters, load_flits_per_cycle, &answer, st);
    *stable = answer.stable;
    *greatest_utilization = answer.greatest_utilization;
    return code;
}

enum fc_code fc_queueing_solve_one(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                                   double load_flits_per_cycle, struct fc_queueing_answer *answer, struct fc_status *st)
{
    if (settle(queueing, parameters, load_flits_per_cycle, answer, st) || !answer->stable) return st->code;
    queueing->solved_load = load_flits_per_cycle;
    queueing->solved = *parameters;
    add_waits(queueing, load_flits_per_cycle, answer);
    add_tail(queueing->t, answer);
    queueing->solved_cycles = answer->latency_mean_cycles;
    return FC_OK;
}
