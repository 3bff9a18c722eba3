/* queueing_rounds.c - the fixed point of queueing.c, by substitution.
 *
 * A round takes the waits of edges W_co, the waits for room X and the loads u of channels, works out (1) to (5) once
 * and goes the share `damping` of the way. Every LEAP_EVERY rounds each wait goes on by Aitken's rule (waits are convex
 * in each other, so from below this does not overshoot; with leaps every four to six rounds, fits no longer found the
 * parameters that their data was made with). Rounds are not damped while the changes fall.
 * Start: zeros; where the model is tuned warm, the line through the two solutions found last (zero waits at load zero
 * is one) continued to the load: waits are convex in the load, so that this start, too, is from below.
 * Equations (1), (2) and sums over heads: queueing_heads.c. What depends neither on waits nor on the load is worked
 * out in queueing_open.c, what depends on the load only once a solve. */
#include "solvers/queueing/queueing_internal.h"

#include <gsl/gsl_math.h>
#include <string.h>

#define LEAST_DAMPING 0.4
#define HOPELESS 100.0 /* utilisation that no round comes back from */
enum { MOST_ITERATIONS = 3000, DAMPED = 40, LEAP_EVERY = 8, MOST_POWER = 4096 };

/* (3), (4): M/G/1 less what the link before allows. */
static double queue_wait(double rate, double mean, double square, double link, double *busy)
{
    *busy = rate * mean;
    return rate * fc_more(0, square - link) / (2 * (1 - fc_less(*busy, 0.99999)));
}

/* (3): what a slower link behind a link of time t adds for packets that come one behind the other. */
static double slower_behind(double rate, double mean, double square, double behind)
{
    if (!(behind > mean * (1 + 1e-12))) return 0;
    return rate * square / 2 * (1 / (1 - fc_less(rate * behind, 0.99999)) - 1 / (1 - fc_less(rate * mean, 0.99999)));
}

/* (4). */
static void ports(struct fc_queueing_round *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    double beta = v->p[FC_Q_INPUT_QUEUE];
    for (uint32_t l = 0; l < t->n_links; l++) {
        q->port_busy[l] = 0;
        if (!(t->rate[l] > 0) || t->kind[l] == FC_TURN_EJECTION) continue;
        double all = t->rate[l] * t->copies[l];
        double mean = q->port[l] / all, square = q->port2[l] / all;
        q->port[l] = t->n_vcs > 1 ? beta * queue_wait(v->load * t->rate[l] / t->paths[l], mean, square, t->service2[l],
                                                      &q->port_busy[l])
                                  : 0;
        v->most = fc_more(v->most, q->port_busy[l]);
        if (t->stage > 0) q->port[l] = fc_queueing_stage_port(v, l, mean, q->port[l]);
    }
}

static double power(double x, double n)
{
    return n >= 0 && n <= MOST_POWER && n == floor(n) ? gsl_pow_uint(x, (unsigned)n) : pow(x, n);
}

/* (3) and (5). */
static void queues(struct fc_queueing_round *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    double beta = v->p[FC_Q_INPUT_QUEUE], gamma = v->p[FC_Q_BACKPRESSURE], held = t->buffer_packets;
    for (uint32_t c = 0; c < t->n_channels; c++) {
        uint32_t l = t->channel_link[c];
        if (!(t->channel_rate[c] > 0) || t->kind[l] == FC_TURN_EJECTION) continue;
        double rate = v->load * t->channel_rate[c] / t->copies[l] / t->channel_vcs[c],
               mean = q->front[c] / t->channel_rate[c];
        double square = q->front2[c] / t->channel_rate[c], apart = t->service2[l], places = held, credits = 0;
        if (t->stage > 0 && t->kind[l] != FC_TURN_INJECTION) apart += t->stage * (2 * t->service[l] + t->stage);
        if (t->places) credits = fc_queueing_credits(v, c, rate, &places);
        double wait = beta * queue_wait(rate, mean, square, apart, &q->busy[c]);
        wait += beta * slower_behind(rate, t->service[l], t->service2[l], q->behind[c]);
        q->queue[c] = wait + (t->stage > 0 ? q->beside[c] : 1) * q->port[l];
        v->most = fc_more(v->most, q->busy[c]);
        double u = fc_less(q->busy[c], 1), packets = rate * (q->queue[c] + mean);
        double ratio = packets > u ? 1 - u / packets : 0;
        double full = places > 1 ? u * power(ratio, places - 1) : u;
        double x = gamma * fc_more(0, mean - t->service[l]) / t->channel_vcs[c];
        for (int i = 0; i < t->channel_vcs[c]; i++) x *= full;
        x += credits;
        v->change = fc_more(v->change, fabs(x - q->room[c]));
        q->room[c] += v->damping * (x - q->room[c]);
    }
}

/* ---- what depends on the load only ---- */

/* row_power: what a choice saves at load one, so that its power is taken once for all loads. */
static void take_powers(struct fc_queueing *q, double choice)
{
    if (q->powers_of == choice) return;
    for (uint32_t r = 0; r < q->n_rows; r++)
        q->row_power[r] = pow(q->row_rho[r], choice * fc_queueing_set_power(q->row_outputs[r]));
    q->powers_of = choice;
}

static void factors(struct fc_queueing_round *v)
{
    struct fc_queueing *q = v->q;
    double choice = v->p[FC_Q_CHOICE], of_load[UINT8_MAX + 1];
    take_powers(q, choice);
    for (int m = 0; m <= UINT8_MAX; m++) of_load[m] = pow(v->load, choice * fc_queueing_set_power((uint8_t)m));
    for (uint32_t r = 0; r < q->n_rows; r++) {
        uint8_t m = q->row_outputs[r];
        q->row_factor[r] = m < 2 ? 1 : (v->load * q->row_rho[r] < 1 ? of_load[m] * q->row_power[r] : 1) / m;
    }
}

/* ---- where to start ---- */

static void start(struct fc_queueing_round *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_queueing_point *a = &q->found[0], *b = &q->found[1];
    size_t n = q->n_unknowns;
    if (memcmp(&q->found_with, v->p, sizeof q->found_with)) q->found[0].load = q->found[1].load = 0;
    if (!q->warm || !(b->load > 0) || b->load > v->load) {
        memset(q->edge_wait, 0, n * sizeof *q->edge_wait);
        return;
    }
    double further = (v->load - b->load) / (b->load - a->load);
    for (size_t i = 0; i < n; i++) {
        double before = a->load > 0 ? a->unknown[i] : 0;
        q->edge_wait[i] = b->unknown[i] + further * fc_more(0, b->unknown[i] - before);
    }
}

/* Remembers a stable solution: the two found last, of ascending loads. */
static void keep(struct fc_queueing_round *v)
{
    struct fc_queueing *q = v->q;
    struct fc_queueing_point *a = &q->found[0], *b = &q->found[1];
    if (!q->warm) return;
    if (v->load > b->load) {
        struct fc_queueing_point older = *a;
        *a = *b;
        *b = older;
    } else if (v->load <= a->load) {
        a->load = 0;
    }
    b->load = v->load;
    memcpy(b->unknown, q->edge_wait, q->n_unknowns * sizeof *b->unknown);
    memcpy(&q->found_with, v->p, sizeof q->found_with);
}

/* ---- rounds ---- */

static bool rounds(struct fc_queueing_round *v, int *iterations)
{
    double before = INFINITY;
    v->damping = 1;
    for (int i = 1; i <= MOST_ITERATIONS; i++) {
        v->change = v->greatest_wait = v->most = 0;
        v->leap = i % LEAP_EVERY == 0;
        v->leap_next = (i + 1) % LEAP_EVERY == 0;
        if (v->q->t->stage > 0)
            fc_queueing_stage_fronts(v);
        else
            fc_queueing_heads(v);
        ports(v);
        queues(v);
        *iterations = i;
        if (i > 2 && v->change <= v->q->accuracy * fc_more(1, v->greatest_wait)) return true;
        if ((i > DAMPED && v->most >= 1.2) || v->most >= HOPELESS) return true; /* unstable: `most` says so */
        if (!isfinite(v->greatest_wait)) return false;
        /* The round behind a leap may change more. */
        if (i > 2 && v->change > before && i % LEAP_EVERY != 1) v->damping = fc_more(LEAST_DAMPING, 0.7 * v->damping);
        if (i == DAMPED) v->damping = LEAST_DAMPING;
        before = v->change;
    }
    return false;
}

bool fc_queueing_rounds(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters, double load,
                        struct fc_queueing_steady *steady)
{
    struct fc_queueing_round v = {.q = queueing, .p = parameters->value, .load = load};
    start(&v);
    factors(&v);
    bool converged = rounds(&v, &steady->iterations);
    steady->change = v.change;
    steady->greatest_wait = v.greatest_wait;
    steady->greatest_utilization = v.most;
    if (converged && v.most < 1) keep(&v);
    return converged;
}
