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
 *     channel an input and uniform traffic u = 1 at 2 - sqrt 2 (Karol, Hluchyj & Morgan 1987). Where the
 *     links behind the channel are slower, of mean time t, with l = l_c / V_c
 *         + beta l E[t_k^2] / 2 (1 / (1 - l t) - 1 / (1 - l t_k)):
 *     a tandem of queues then waits as long in all as the slowest of them alone (Friedman 1965), exactly.
 * (4) The input port moves `paths` packets at a time and loses the share epsilon of its heads' waits:
 *     the same with S' = t_o + epsilon (W + X), rate l_k / paths.
 * (5) The next channel is full with probability F = min(1, u r^(B - 1))^V, r = 1 - u / ((l/V)(Q + S)), B
 *     packets a channel; a packet then waits X = gamma F max(0, S_next - t_k) / V.
 * (6) chi: a packet keeps a busy link (1 + chi) t.
 * Latency = zero load + sum of (1) to (5) over the way + the wait for the injection link, M/G/1.
 *
 * Solved by damped substitution; every LEAP_EVERY rounds each wait goes on by Aitken's rule (waits are convex
 * in each other, so from below this does not overshoot); unstable where a u or a utilisation reaches 1.
 * Limits: arrivals are taken as independent, so traffic of few constant flows waits less than said; spacing
 * by links is remembered one link far; wormhole packets longer than a buffer are taken as cut through; waits
 * of different hops as independent in the tail estimate. */
#include "solvers/queueing_internal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#define MOST_RATIO 0.95
enum { MOST_ITERATIONS = 3000, DAMPED = 40, LEAP_EVERY = 8 };

const char *const fc_queueing_parameter_names[] = {
    "contention", "input_queue", "backpressure", "port", "choice", "gap", NULL};

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

struct solve {
    struct fc_queueing *q;
    const double *p;   /* [FC_Q_PARAMETERS] */
    double load, most; /* greatest utilisation met */
    double damping;
    bool leap;
    double change, greatest_wait;
};

/* Without the calls that fmin and fmax are; NaN comes through. */
static inline double more(double a, double b)
{
    return a > b ? a : b;
}
static inline double less(double a, double b)
{
    return a < b ? a : b;
}

/* (1): A and B of all edges from the waits of the round before. */
static void contention(struct solve *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    memset(q->out_waiting, 0, t->n_links * sizeof *q->out_waiting);
    memset(q->out_follow, 0, t->n_links * sizeof *q->out_follow);
    memset(q->pair_waiting, 0, q->n_pairs * sizeof *q->pair_waiting);
    for (uint32_t e = 0; e < q->n_edges; e++)
        q->pair_waiting[q->edge_pair[e]] +=
            v->load * q->edge_rate[e] / t->copies[q->pair_out[q->edge_pair[e]]] * q->edge_wait[e];
    for (uint32_t p = 0; p < q->n_pairs; p++) {
        uint32_t o = q->pair_out[p];
        double others = v->load * (t->rate[o] - q->pair_rate[p]) * t->service[o];
        q->out_waiting[o] += q->pair_waiting[p];
        if (others > 1e-9) q->out_follow[o] += less(1, q->pair_waiting[p] / others);
    }
}

static double edge_wait(const struct solve *v, uint32_t e)
{
    const struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    uint32_t p = q->edge_pair[e], o = q->pair_out[p];
    double rate = v->load * more(0, t->rate[o] - q->pair_rate[p]);
    double others = rate * t->service[o];
    double follow = q->out_follow[o] - (others > 1e-9 ? less(1, q->pair_waiting[p] / others) : 0);
    double f = less(1, q->busy[q->edge_channel[e]] * q->edge_share[e]);
    double a = rate * t->service2[o] / 2 + more(0, q->out_waiting[o] - q->pair_waiting[p]) * t->service[o];
    double b = more(0, follow) * t->service[o];
    return v->p[FC_Q_CONTENTION] * (1 + v->p[FC_Q_GAP]) * ((1 - f) * a + f * b);
}

/* The part of (2) that depends on the load only. */
static void factors(struct solve *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    for (uint32_t s = 0; s < t->n_states; s++) {
        uint32_t m = t->state_outputs[s];
        double rho = less(1, v->load * q->state_rho[s]);
        q->state_factor[s] = m > 1 ? pow(rho, v->p[FC_Q_CHOICE] * q->state_power[s]) / m : 1;
    }
}

/* How much further steps in geometric progression would go. */
static double leap(double step, double before)
{
    double ratio = before != 0 ? less(step / before, MOST_RATIO) : 0;
    return ratio > 0.1 ? step * ratio / (1 - ratio) : 0;
}

/* (2), the part of (3) and (4) that sums over states (moments of the time at the front), and edge waits as
 * means of the states that use the edge. */
static void fronts(struct solve *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    double epsilon = v->p[FC_Q_PORT];
    for (uint32_t e = 0; e < q->n_edges; e++) q->edge_next[e] = edge_wait(v, e);
    memset(q->edge_wait, 0, q->n_edges * sizeof *q->edge_wait);
    memset(q->front, 0, t->n_channels * sizeof *q->front);
    memset(q->front2, 0, t->n_channels * sizeof *q->front2);
    memset(q->port, 0, t->n_links * sizeof *q->port);
    memset(q->port2, 0, t->n_links * sizeof *q->port2);
    for (uint32_t s = 0; s < t->n_states; s++) {
        uint32_t c = t->state_in[s], first = t->first_choice[s], last = t->first_choice[s + 1];
        if (c == FC_NONE || !(t->state_rate[s] > 0)) continue;
        double w = 0, x = 0;
        for (uint32_t i = first; i < last; i++) {
            w += q->choice_share[i] * q->edge_next[q->edge_of[i]];
            x += q->choice_share[i] * q->room[t->choice_channel[i]];
        }
        double old = q->state_wait[s], step = v->damping * (w * q->state_factor[s] - old);
        w = old + step + (v->leap ? leap(step, q->state_step[s]) : 0);
        q->state_step[s] = step;
        v->change = more(v->change, fabs(step));
        v->greatest_wait = more(v->greatest_wait, w);
        q->state_wait[s] = w;
        double service = q->state_service[s], wait = w + x, share = t->state_rate[s], vary = q->state_vary[s];
        for (uint32_t i = first; i < last; i++) q->edge_wait[q->edge_of[i]] += q->choice_share[i] * (share * w);
        q->front[c] += share * (service + wait);
        q->front2[c] += share * ((service + wait) * (service + wait) + wait * wait + vary);
        double held = service + epsilon * wait, part = epsilon * wait;
        q->port[t->channel_link[c]] += share * held;
        q->port2[t->channel_link[c]] += share * (held * held + part * part + vary);
    }
    for (uint32_t e = 0; e < q->n_edges; e++) q->edge_wait[e] *= q->edge_unit[e];
}

/* (3), (4): M/G/1 less what the link before allows. */
static double queue_wait(double rate, double mean, double square, double link, double *busy)
{
    *busy = rate * mean;
    return rate * more(0, square - link) / (2 * (1 - less(*busy, 0.99999)));
}

/* (3): what a slower link behind a link of time t adds for packets that come one behind the other. */
static double slower_behind(double rate, double mean, double square, double behind)
{
    if (!(behind > mean * (1 + 1e-12))) return 0;
    return rate * square / 2 *
           (1 / (1 - less(rate * behind, 0.99999)) - 1 / (1 - less(rate * mean, 0.99999)));
}

/* (3) to (5). */
static void queues(struct solve *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    double beta = v->p[FC_Q_INPUT_QUEUE], gamma = v->p[FC_Q_BACKPRESSURE], held = t->buffer_packets;
    for (uint32_t l = 0; l < t->n_links; l++) {
        q->port_busy[l] = 0;
        if (!(t->rate[l] > 0) || t->kind[l] == FC_TURN_EJECTION) continue;
        double all = t->rate[l] * t->copies[l];
        q->port[l] = t->n_vcs > 1 ? beta * queue_wait(v->load * t->rate[l] / t->paths[l], q->port[l] / all,
                                                      q->port2[l] / all, t->service2[l], &q->port_busy[l])
                                  : 0;
        v->most = more(v->most, q->port_busy[l]);
    }
    for (uint32_t c = 0; c < t->n_channels; c++) {
        uint32_t l = t->channel_link[c];
        if (!(t->channel_rate[c] > 0) || t->kind[l] == FC_TURN_EJECTION) continue;
        double rate = v->load * t->channel_rate[c] / t->copies[l] / t->channel_vcs[c],
               mean = q->front[c] / t->channel_rate[c];
        double wait =
            beta * queue_wait(rate, mean, q->front2[c] / t->channel_rate[c], t->service2[l], &q->busy[c]);
        wait += beta * slower_behind(rate, t->service[l], t->service2[l], q->behind[c]);
        q->queue[c] = wait + q->port[l];
        v->most = more(v->most, q->busy[c]);
        double u = less(q->busy[c], 1), packets = rate * (q->queue[c] + mean);
        double ratio = packets > u ? 1 - u / packets : 0;
        double full = held > 1 ? u * pow(ratio, held - 1) : u;
        double x = gamma * more(0, mean - t->service[l]) / t->channel_vcs[c];
        for (int i = 0; i < t->channel_vcs[c]; i++) x *= full;
        v->change = more(v->change, fabs(x - q->room[c]));
        q->room[c] += v->damping * (x - q->room[c]);
    }
}

static double link_utilization(const struct fc_turns *t, const struct solve *v)
{
    return v->load * t->max_service_rate * (1 + v->p[FC_Q_GAP]);
}

/* One load: true when a steady state was found. */
static bool iterate(struct solve *v, int *iterations)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    bool go_on = q->warm && q->solved_load > 0 && q->solved_load <= v->load &&
                 !memcmp(&q->solved, v->p, sizeof q->solved);
    q->solved_load = 0;
    if (!go_on) {
        memset(q->edge_wait, 0, q->n_edges * sizeof *q->edge_wait);
        memset(q->state_wait, 0, t->n_states * sizeof *q->state_wait);
        memset(q->room, 0, t->n_channels * sizeof *q->room);
        memset(q->busy, 0, t->n_channels * sizeof *q->busy);
    }
    factors(v);
    for (int i = 1; i <= MOST_ITERATIONS; i++) {
        v->change = v->greatest_wait = v->most = 0;
        v->damping = i <= DAMPED ? 0.7 : 0.4;
        v->leap = i % LEAP_EVERY == 0;
        contention(v);
        fronts(v);
        queues(v);
        *iterations = i;
        if (i > 4 && v->change <= q->accuracy * more(1, v->greatest_wait)) return true;
        if (i > DAMPED && v->most >= 1.2) return true; /* unstable: `most` says so */
        if (!isfinite(v->greatest_wait)) return false;
    }
    return false;
}

/* ---- answers ---- */

/* Mean and variance of the waits over the way of a packet; the variance of a wait W before a link of time t
 * as in M/D/1, W^2 + 2/3 t W. */
static void add_waits(const struct solve *v, struct fc_queueing_answer *a)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    double contention_sum = 0, queue = 0, room = 0, variance = 0, source = 0;
    memset(q->link_wait, 0, t->n_links * sizeof *q->link_wait);
    for (uint32_t s = 0; s < t->n_states; s++)
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
            double rate = t->choice_rate[i], w = q->state_wait[s], x = q->room[t->choice_channel[i]];
            uint32_t l = t->choice_link[i];
            if (t->state_in[s] == FC_NONE)
                w = 0, source += rate * x;
            else
                contention_sum += rate * w, room += rate * x;
            variance += rate * ((w + x) * (w + x) + 2.0 / 3 * t->service[l] * (w + x));
            q->link_wait[l] += rate * (w + x);
        }
    for (uint32_t c = 0; c < t->n_channels; c++) {
        double w = q->queue[c], rate = t->channel_rate[c];
        uint32_t l = t->channel_link[c];
        if (!(rate > 0) || t->kind[l] == FC_TURN_EJECTION) continue;
        queue += rate * w;
        variance += rate * (w * w + 2.0 / 3 * t->service[l] * w);
    }
    for (uint32_t l = 0; l < t->n_links; l++) {
        if (t->rate[l] > 0) q->link_wait[l] /= t->rate[l] * t->copies[l];
        if (t->kind[l] != FC_TURN_INJECTION || !(t->rate[l] > 0)) continue;
        double rate = v->load * t->rate[l];
        double w = rate * t->service2[l] / (2 * (1 - rate * t->service[l]));
        source += t->rate[l] * t->copies[l] * w;
        variance += t->rate[l] * t->copies[l] * (w * w + 2.0 / 3 * t->service[l] * w);
    }
    double n = t->packets;
    a->contention_cycles = contention_sum / n;
    a->queue_cycles = queue / n;
    a->backpressure_cycles = room / n;
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

enum fc_code fc_queueing_solve(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                               double load_flits_per_cycle, struct fc_queueing_answer *answer,
                               struct fc_status *st)
{
    struct solve v = {.q = queueing, .p = parameters->value, .load = load_flits_per_cycle};
    queueing->solved_cycles = NAN;
    *answer = (struct fc_queueing_answer){.load_flits_per_cycle = load_flits_per_cycle,
                                          .latency_mean_cycles = NAN,
                                          .network_cycles = NAN,
                                          .source_cycles = NAN,
                                          .latency_sd_cycles = NAN,
                                          .latency_p95_cycles = NAN,
                                          .latency_p99_cycles = NAN,
                                          .contention_cycles = NAN,
                                          .queue_cycles = NAN,
                                          .backpressure_cycles = NAN};
    if (!(load_flits_per_cycle > 0) || !isfinite(load_flits_per_cycle))
        return fc_refuse(st, FC_INPUT, "load %g flits a node and cycle (expected a positive number)",
                         load_flits_per_cycle);
    answer->greatest_utilization = link_utilization(queueing->t, &v);
    if (answer->greatest_utilization >= 1) return FC_OK;
    if (!iterate(&v, &answer->iterations))
        return fc_refuse(st, FC_NO,
                         "the queueing model does not converge at %g flits a node and cycle (%d iterations, "
                         "change %g of %g cycles)",
                         load_flits_per_cycle, answer->iterations, v.change, v.greatest_wait);
    answer->greatest_utilization = fmax(answer->greatest_utilization, v.most);
    if (answer->greatest_utilization >= 1) return FC_OK;
    answer->stable = true;
    queueing->solved_load = load_flits_per_cycle;
    queueing->solved = *parameters;
    add_waits(&v, answer);
    add_tail(queueing->t, answer);
    queueing->solved_cycles = answer->latency_mean_cycles;
    return FC_OK;
}
