/* queueing_rounds.c - the fixed point of queueing.c, by substitution.
 *
 * A round takes the waits of edges W_co, the waits for room X and the loads u of channels, works out (1) to (5) once
 * and goes the share `damping` of the way. Every LEAP_EVERY rounds each wait goes on by Aitken's rule (waits are convex
 * in each other, so from below this does not overshoot; with leaps every four to six rounds, fits no longer found the
 * parameters that their data was made with). Rounds are not damped while the changes fall.
 * Start: zeros; where the model is tuned warm, the line through the two solutions found last (zero waits at load zero
 * is one) continued to the load: waits are convex in the load, so that this start, too, is from below.
 *
 * Heads with one way to go wait as their edge does and are summed there; the others are rows of shares over the exits
 * of their channel, an exit being (channel, next channel). What depends neither on waits nor on the load is worked out
 * in queueing_open.c, what depends on the load only once a solve. */
#include "solvers/queueing_internal.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <string.h>

#define MOST_RATIO 0.95
#define LEAST_DAMPING 0.4
enum { MOST_ITERATIONS = 3000, DAMPED = 40, LEAP_EVERY = 8, MOST_POWER = 4096 };

struct solve {
    struct fc_queueing *q;
    const double *p; /* [FC_Q_PARAMETERS] */
    double load;
    double most; /* greatest utilisation met */
    double damping;
    bool leap, leap_next; /* in this round, in the next */
    double change, greatest_wait;
};

/* Copied to where it is called, for one kind of processor each. */
#define HOT static inline __attribute__((always_inline))

/* Without the calls that fmin and fmax are; NaN comes through. */
HOT double more(double a, double b)
{
    return a > b ? a : b;
}
HOT double less(double a, double b)
{
    return a < b ? a : b;
}

/* (1): what pair p brings to its output; waiting: at load one. */
HOT void bring(struct fc_queueing *q, uint32_t p, double waiting, double load)
{
    /* Others of less than 1e-9 of the output's load are none. */
    double unit = q->pair_unit[p] < 1e9 * load ? q->pair_unit[p] : 0;
    fc_two_doubles part = {load * waiting, less(1, waiting * unit)};
    q->pair_part[p] = part;
    q->out_part[q->pair_out[p]] += part;
}

/* (1): what each pair of (input port, output link) brings to the output, from the waits of the round before. */
HOT void contention(struct solve *v)
{
    struct fc_queueing *q = v->q;
    memset(q->out_part, 0, q->t->n_links * sizeof *q->out_part);
    if (q->n_pairs == q->n_edges) {
        for (uint32_t p = 0; p < q->n_pairs; p++) bring(q, p, q->edge_weight[p] * q->edge_wait[p], v->load);
        return;
    }
    memset(q->pair_waiting, 0, q->n_pairs * sizeof *q->pair_waiting);
    for (uint32_t e = 0; e < q->n_edges; e++)
        q->pair_waiting[q->edge_pair[e]] += q->edge_weight[e] * q->edge_wait[e];
    for (uint32_t p = 0; p < q->n_pairs; p++) bring(q, p, q->pair_waiting[p], v->load);
}

/* (1): the waits at the edges of one channel. */
HOT void edge_waits(struct solve *v, uint32_t first, uint32_t last, double busy)
{
    const struct fc_queueing *q = v->q;
    const double *service = q->t->service;
    double factor = v->p[FC_Q_CONTENTION] * (1 + v->p[FC_Q_GAP]);
    for (uint32_t e = first; e < last; e++) {
        uint32_t p = q->edge_pair[e], o = q->pair_out[p];
        double f = less(1, busy * q->edge_share[e]);
        fc_two_doubles others = q->out_part[o] - q->pair_part[p];
        double a = v->load * q->pair_half[p] + more(0, others[FC_WAITING]) * service[o];
        double b = more(0, others[FC_FOLLOW]) * service[o];
        q->edge_next[e] = factor * ((1 - f) * a + f * b);
    }
}

/* Sums over the heads of one channel: rate x wait, times time on the output, times wait. */
struct front {
    double wait, service, square;
};
HOT void add_heads(struct front *f, double rate, double service, double wait)
{
    double flow = rate * wait;
    f->wait += flow;
    f->service += flow * service;
    f->square += flow * wait;
}

typedef double four_doubles __attribute__((vector_size(32), aligned(8), may_alias));

/* (2) of a row, and X: means of the waits of its exits by its shares; adds rate x (2) to each exit's heads. */
HOT void row_dense(const struct fc_queueing *q, uint32_t r, const double *next, struct front *f)
{
    uint32_t n = (q->first_place[r + 1] - q->first_place[r]) / FC_PLACES_AT_ONCE, exit = q->row_exit[r];
    const four_doubles *share = (const four_doubles *)(q->place_share + q->first_place[r]);
    const four_doubles *waits = (const four_doubles *)(next + exit), *room = (const four_doubles *)(q->exit_room + exit);
    four_doubles *sum = (four_doubles *)(q->exit_wait + exit), w4 = {0}, x4 = {0};
    for (uint32_t i = 0; i < n; i++) {
        w4 += share[i] * waits[i];
        x4 += share[i] * room[i];
    }
    double rate = q->row_rate[r], w = ((w4[0] + w4[2]) + (w4[1] + w4[3])) * q->row_factor[r], flow = rate * w;
    add_heads(f, rate, q->row_service[r], w + ((x4[0] + x4[2]) + (x4[1] + x4[3])));
    for (uint32_t i = 0; i < n; i++) sum[i] += share[i] * flow;
}

HOT void row_sparse(const struct fc_queueing *q, uint32_t r, const double *next, struct front *f)
{
    uint32_t first = q->first_place[r], last = q->first_place[r + 1];
    double w = 0, x = 0;
    for (uint32_t i = first; i < last; i++) {
        w += q->place_share[i] * next[q->place_exit[i]];
        x += q->place_share[i] * q->exit_room[q->place_exit[i]];
    }
    w *= q->row_factor[r];
    add_heads(f, q->row_rate[r], q->row_service[r], w + x);
    for (uint32_t i = first; i < last; i++)
        q->exit_wait[q->place_exit[i]] += q->place_share[i] * (q->row_rate[r] * w);
}

/* (2) and the sums over heads of (3) and (4) for one channel; waits of its exits' heads into exit_wait. */
HOT struct front front_of(const struct solve *v, uint32_t c)
{
    const struct fc_queueing *q = v->q;
    struct front f = {0, 0, 0};
    uint32_t exit = q->first_exit[c], n = q->first_exit[c + 1] - exit;
    const double *next = q->exit_next;
    if (q->n_exits == q->n_edges) next = q->edge_next + exit;
    else
        for (uint32_t k = 0; k < n; k++) q->exit_next[k] = q->edge_next[q->exit_edge[exit + k]];
    for (uint32_t k = 0; k < n; k++) {
        double rate = q->exit_rate[exit + k], room = q->room[q->exit_channel[exit + k]];
        q->exit_room[k] = room;
        q->exit_wait[k] = rate * next[k];
        add_heads(&f, rate, q->exit_service[exit + k], next[k] + room);
    }
    for (uint32_t r = q->first_row[c]; r < q->first_row[c + 1]; r++)
        if (q->row_exit[r] != FC_NONE) row_dense(q, r, next, &f);
        else row_sparse(q, r, next, &f);
    return f;
}

/* How much further steps in geometric progression would go. */
HOT double leap(double step, double before)
{
    double ratio = before != 0 ? less(step / before, MOST_RATIO) : 0;
    return ratio > 0.1 ? step * ratio / (1 - ratio) : 0;
}

struct greatest {
    double change, wait;
};
/* The wait at the edge as mean of the heads that use it. */
HOT void go_on(const struct solve *v, uint32_t e, double sum, struct greatest *most)
{
    struct fc_queueing *q = v->q;
    double before = q->edge_wait[e], w = sum * q->edge_unit[e], step = v->damping * (w - before), after = before + step;
    if (v->leap) after += leap(step, q->edge_step[e]);
    if (v->leap_next) q->edge_step[e] = step;
    q->edge_wait[e] = after;
    most->change = more(most->change, fabs(step));
    most->wait = more(most->wait, w);
}

HOT void edges_go_on(struct solve *v, uint32_t exit, uint32_t last)
{
    const struct fc_queueing *q = v->q;
    struct greatest most = {v->change, v->greatest_wait};
    if (q->n_exits == q->n_edges) {
        for (uint32_t k = exit; k < last; k++) go_on(v, k, q->exit_wait[k - exit], &most);
    } else {
        for (uint32_t k = exit; k < last;) {
            uint32_t e = q->exit_edge[k];
            double sum = 0;
            for (; k < last && q->exit_edge[k] == e; k++) sum += q->exit_wait[k - exit];
            go_on(v, e, sum, &most);
        }
    }
    v->change = most.change;
    v->greatest_wait = most.wait;
}

/* (2), the part of (3) and (4) that sums over heads (moments of the time at the front), and waits of edges.
 * With s the time on the output and w the wait, E[S^2] is that of (s + w)^2 + w^2 and the port's that of
 * (s + epsilon w)^2 + (epsilon w)^2, both beside the variance of s. */
HOT void fronts(struct solve *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    double epsilon = v->p[FC_Q_PORT];
    memset(q->port, 0, t->n_links * sizeof *q->port);
    memset(q->port2, 0, t->n_links * sizeof *q->port2);
    for (uint32_t c = 0; c < t->n_channels; c++) {
        uint32_t exit = q->first_exit[c], last = q->first_exit[c + 1];
        if (exit < last) edge_waits(v, q->exit_edge[exit], q->exit_edge[last - 1] + 1, q->busy[c]);
        struct front f = front_of(v, c);
        q->front[c] = q->own_time[c] + f.wait;
        q->front2[c] = q->own_square[c] + 2 * (f.service + f.square);
        q->port[t->channel_link[c]] += q->own_time[c] + epsilon * f.wait;
        q->port2[t->channel_link[c]] += q->own_square[c] + 2 * epsilon * (f.service + epsilon * f.square);
        edges_go_on(v, exit, last);
    }
}

#if defined(__x86_64__)
/* The same with instructions for four numbers at a time; results are the same bit for bit. */
__attribute__((target("avx2"))) static void passes_avx2(struct solve *v)
{
    contention(v);
    fronts(v);
}
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define passes_avx2 passes_any
static bool has_avx2(void)
{
    return false;
}
#endif
static void passes_any(struct solve *v)
{
    contention(v);
    fronts(v);
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

/* (4). */
static void ports(struct solve *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    double beta = v->p[FC_Q_INPUT_QUEUE];
    for (uint32_t l = 0; l < t->n_links; l++) {
        q->port_busy[l] = 0;
        if (!(t->rate[l] > 0) || t->kind[l] == FC_TURN_EJECTION) continue;
        double all = t->rate[l] * t->copies[l];
        q->port[l] = t->n_vcs > 1 ? beta * queue_wait(v->load * t->rate[l] / t->paths[l], q->port[l] / all,
                                                      q->port2[l] / all, t->service2[l], &q->port_busy[l])
                                  : 0;
        v->most = more(v->most, q->port_busy[l]);
    }
}

static double power(double x, double n)
{
    return n >= 0 && n <= MOST_POWER && n == floor(n) ? gsl_pow_uint(x, (unsigned)n) : pow(x, n);
}

/* (3) and (5). */
static void queues(struct solve *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    double beta = v->p[FC_Q_INPUT_QUEUE], gamma = v->p[FC_Q_BACKPRESSURE], held = t->buffer_packets;
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
        double full = held > 1 ? u * power(ratio, held - 1) : u;
        double x = gamma * more(0, mean - t->service[l]) / t->channel_vcs[c];
        for (int i = 0; i < t->channel_vcs[c]; i++) x *= full;
        v->change = more(v->change, fabs(x - q->room[c]));
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

static void factors(struct solve *v)
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

static void start(struct solve *v)
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
        q->edge_wait[i] = b->unknown[i] + further * more(0, b->unknown[i] - before);
    }
}

/* Remembers a stable solution: the two found last, of ascending loads. */
static void keep(struct solve *v)
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

static bool rounds(struct solve *v, int *iterations)
{
    bool avx2 = has_avx2();
    double before = INFINITY;
    v->damping = 1;
    for (int i = 1; i <= MOST_ITERATIONS; i++) {
        v->change = v->greatest_wait = v->most = 0;
        v->leap = i % LEAP_EVERY == 0;
        v->leap_next = (i + 1) % LEAP_EVERY == 0;
        if (avx2) passes_avx2(v);
        else passes_any(v);
        ports(v);
        queues(v);
        *iterations = i;
        if (i > 2 && v->change <= v->q->accuracy * more(1, v->greatest_wait)) return true;
        if (i > DAMPED && v->most >= 1.2) return true; /* unstable: `most` says so */
        if (!isfinite(v->greatest_wait)) return false;
        /* The round behind a leap may change more. */
        if (i > 2 && v->change > before && i % LEAP_EVERY != 1) v->damping = more(LEAST_DAMPING, 0.7 * v->damping);
        if (i == DAMPED) v->damping = LEAST_DAMPING;
        before = v->change;
    }
    return false;
}

bool fc_queueing_rounds(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters, double load,
                        struct fc_queueing_steady *steady)
{
    struct solve v = {.q = queueing, .p = parameters->value, .load = load};
    start(&v);
    factors(&v);
    bool converged = rounds(&v, &steady->iterations);
    steady->change = v.change;
    steady->greatest_wait = v.greatest_wait;
    steady->greatest_utilization = v.most;
    if (converged && v.most < 1) keep(&v);
    return converged;
}
