/* queueing_heads.c - equations (1) and (2) of queueing.c and the sums over heads that (3) and (4) need.
 *
 * Heads with one way to go wait as their edge does and are summed there; the others are rows of shares over
 * the exits of their channel, an exit being (channel, next channel). With s a head's time on its output and
 * w its wait, E[S^2] is that of (s + w)^2 + w^2, and the port's that of (s + epsilon w)^2 + (epsilon w)^2,
 * both beside the variance of s: three sums over heads, of rate x w, rate x w s and rate x w^2, do.
 *
 * Where edges, exits and pairs are the same things (one set of virtual channels an output, one channel an
 * input port), what a pair brings is worked out a second time instead of kept, and nothing is looked up.
 * The code is compiled for this case and the other, and for two kinds of processor, which give the same
 * bits. */
#include "solvers/queueing/queueing_internal.h"

#include <string.h>

#define MOST_RATIO 0.95

/* Copied to where it is called, for one case and one kind of processor each. */
#define HOT static inline __attribute__((always_inline))

typedef double four_doubles __attribute__((vector_size(32), aligned(8), may_alias));

/* What pair p brings to its output; waiting: at load one. */
HOT void bring(const struct fc_queueing *q, uint32_t p, double waiting, double load, fc_two_doubles *part)
{
    /* Others of less than 1e-9 of the output's load are none. */
    double unit = q->pair_unit[p] < 1e9 * load ? q->pair_unit[p] : 0;
    *part = (fc_two_doubles){load * waiting, fc_less(1, waiting * unit)};
}

/* How long packets of the edge stand before others of its output, at load one: they wait for it and, by theory, for room. */
HOT double waiting_at(const struct fc_queueing *q, uint32_t e, uint32_t output, bool rooms)
{
    double wait = rooms ? q->edge_wait[e] + q->edge_room[e] : q->edge_wait[e];
    return q->edge_rate[e] * q->link_unit[output] * wait;
}

/* By theory: the room that packets of each edge wait for, by the shares of its exits in their output. */
static void find_rooms(const struct fc_queueing *q, const struct fc_queueing_block *block)
{
    for (uint32_t k = block[0].exit; k < block[1].exit;) {
        uint32_t e = q->exit_edge[k];
        double sum = 0, all = 0;
        for (; k < block[1].exit && q->exit_edge[k] == e; k++) {
            double own = q->exit_own[k];
            sum += own * own * q->room[q->exit_channel[k]];
            all += own;
        }
        q->edge_room[e] = all > 0 ? sum / all : 0;
    }
}

/* (1): what all pairs of a block bring to their outputs, from the waits of the round before. */
HOT void contention(const struct fc_queueing_round *v, const struct fc_queueing_block *block, bool plain, bool rooms)
{
    const struct fc_queueing *q = v->q;
    uint32_t first = block[0].pair, last = block[1].pair;
    if (!plain) {
        memset(q->pair_waiting + first, 0, (last - first) * sizeof *q->pair_waiting);
        for (uint32_t e = block[0].edge; e < block[1].edge; e++) {
            uint32_t p = q->edge_pair[e];
            q->pair_waiting[p] += waiting_at(q, e, q->pair_out[p], rooms);
        }
    }
    for (uint32_t p = first; p < last; p++) {
        uint32_t o = q->pair_out[p];
        double waiting = plain ? waiting_at(q, p, o, rooms) : q->pair_waiting[p];
        fc_two_doubles part;
        bring(q, p, waiting, v->load, &part);
        if (!plain) q->pair_part[p] = part;
        q->out_part[o] += part;
    }
}

/* (1): the wait at an edge of a channel; busy: of the channel, by its rate. */
HOT void edge_wait(const struct fc_queueing_round *v, uint32_t e, double busy, double factor, bool plain, bool rooms)
{
    const struct fc_queueing *q = v->q;
    uint32_t p = plain ? e : q->edge_pair[e], o = q->pair_out[p];
    double f = fc_less(1, busy * q->edge_rate[e]), t = q->t->service[o];
    fc_two_doubles others;
    if (plain)
        bring(q, p, waiting_at(q, e, o, rooms), v->load, &others);
    else
        others = q->pair_part[p];
    others = q->out_part[o] - others;
    double a = v->load * q->pair_half[p] + fc_more(0, others[FC_WAITING]) * t;
    double b = fc_more(0, others[FC_FOLLOW]) * t;
    q->edge_next[e] = factor * ((1 - f) * a + f * b);
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

/* (2) of a row, and X: means of the waits of its exits by its shares; adds rate x (2) to each exit's heads.
 * */
HOT void row_dense(const struct fc_queueing *q, uint32_t r, const double *next, struct front *f)
{
    uint32_t n = (q->first_place[r + 1] - q->first_place[r]) / FC_PLACES_AT_ONCE, exit = q->row_exit[r];
    const four_doubles *share = (const four_doubles *)(q->place_share + q->first_place[r]);
    const four_doubles *waits = (const four_doubles *)(next + exit);
    const four_doubles *room = (const four_doubles *)(q->exit_room + exit);
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
    for (uint32_t i = first; i < last; i++) q->exit_wait[q->place_exit[i]] += q->place_share[i] * (q->row_rate[r] * w);
}

/* (2) and the sums over heads of (3) and (4) for one channel; waits of its exits' heads into exit_wait. */
HOT struct front front_of(const struct fc_queueing_round *v, uint32_t c, bool plain)
{
    const struct fc_queueing *q = v->q;
    struct front f = {0, 0, 0};
    uint32_t exit = q->first_exit[c], n = q->first_exit[c + 1] - exit;
    double *next = plain ? q->edge_next + exit : q->exit_next;
    for (uint32_t k = 0; k < n; k++) {
        double rate = q->exit_rate[exit + k], room = q->room[q->exit_channel[exit + k]];
        if (!plain) next[k] = q->edge_next[q->exit_edge[exit + k]];
        q->exit_room[k] = room;
        q->exit_wait[k] = rate * next[k];
        add_heads(&f, rate, q->exit_service[exit + k], next[k] + room);
    }
    for (uint32_t r = q->first_row[c]; r < q->first_row[c + 1]; r++)
        if (q->row_exit[r] != FC_NONE)
            row_dense(q, r, next, &f);
        else
            row_sparse(q, r, next, &f);
    return f;
}

/* How much further steps in geometric progression would go. */
HOT double leap(double step, double before)
{
    double ratio = before != 0 ? fc_less(step / before, MOST_RATIO) : 0;
    return ratio > 0.1 ? step * ratio / (1 - ratio) : 0;
}

struct greatest {
    double change, wait;
};
/* The wait at the edge as mean of the heads that use it. */
HOT void go_on(const struct fc_queueing_round *v, uint32_t e, double sum, struct greatest *most)
{
    struct fc_queueing *q = v->q;
    double before = q->edge_wait[e], w = q->edge_rate[e] > 0 ? sum / q->edge_rate[e] : 0;
    double step = v->damping * (w - before), after = before + step;
    if (v->leap) after += leap(step, q->edge_step[e]);
    if (v->leap_next) q->edge_step[e] = step;
    q->edge_wait[e] = after;
    most->change = fc_more(most->change, fabs(step));
    most->wait = fc_more(most->wait, w);
}

HOT void edges_go_on(struct fc_queueing_round *v, uint32_t exit, uint32_t last, bool plain)
{
    const struct fc_queueing *q = v->q;
    struct greatest most = {v->change, v->greatest_wait};
    for (uint32_t k = exit; k < last;) {
        uint32_t e = plain ? k : q->exit_edge[k];
        double sum = q->exit_wait[k++ - exit];
        for (; !plain && k < last && q->exit_edge[k] == e; k++) sum += q->exit_wait[k - exit];
        go_on(v, e, sum, &most);
    }
    v->change = most.change;
    v->greatest_wait = most.wait;
}

/* All channels of a block. */
HOT void fronts(struct fc_queueing_round *v, const struct fc_queueing_block *block, bool plain, bool rooms)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    double epsilon = v->p[FC_Q_PORT], factor = v->p[FC_Q_CONTENTION] * (1 + v->p[FC_Q_GAP]);
    for (uint32_t c = block[0].channel; c < block[1].channel; c++) {
        uint32_t exit = q->first_exit[c], last = q->first_exit[c + 1], edge = 0, edges = 0;
        double busy = q->busy[c] * q->channel_unit[c];
        if (plain)
            edge = exit, edges = last;
        else if (exit < last)
            edge = q->exit_edge[exit], edges = q->exit_edge[last - 1] + 1;
        for (uint32_t e = edge; e < edges; e++) edge_wait(v, e, busy, factor, plain, rooms);
        struct front f = front_of(v, c, plain);
        q->front[c] = q->held_time[c] + f.wait;
        q->front2[c] = q->held_square[c] + 2 * (f.service + f.square);
        q->port[t->channel_link[c]] += q->own_time[c] + epsilon * f.wait;
        q->port2[t->channel_link[c]] += q->own_square[c] + 2 * epsilon * (f.service + epsilon * f.square);
        edges_go_on(v, exit, last, plain);
    }
}

void fc_queueing_contention(struct fc_queueing_round *v)
{
    const struct fc_queueing *q = v->q;
    memset(q->out_part, 0, q->t->n_links * sizeof *q->out_part);
    for (uint32_t b = 0; b < q->n_blocks; b++) contention(v, &q->block[b], false, false);
}

void fc_queueing_edge_waits(struct fc_queueing_round *v, uint32_t c)
{
    const struct fc_queueing *q = v->q;
    uint32_t exit = q->first_exit[c], last = q->first_exit[c + 1];
    double factor = v->p[FC_Q_CONTENTION] * (1 + v->p[FC_Q_GAP]), busy = q->busy[c] * q->channel_unit[c];
    for (uint32_t e = q->exit_edge[exit]; e <= q->exit_edge[last - 1]; e++) edge_wait(v, e, busy, factor, false, false);
}

void fc_queueing_edges_go_on(struct fc_queueing_round *v, uint32_t c)
{
    edges_go_on(v, v->q->first_exit[c], v->q->first_exit[c + 1], false);
}

HOT void heads(struct fc_queueing_round *v)
{
    const struct fc_queueing *q = v->q;
    uint32_t n_links = q->t->n_links;
    bool plain = q->n_exits == q->n_edges && q->n_pairs == q->n_edges;
    memset(q->out_part, 0, n_links * sizeof *q->out_part);
    memset(q->port, 0, n_links * sizeof *q->port);
    memset(q->port2, 0, n_links * sizeof *q->port2);
    for (uint32_t b = 0; b < q->n_blocks; b++) {
        const struct fc_queueing_block *block = &q->block[b];
        if (q->edge_room) {
            find_rooms(q, block);
            contention(v, block, false, true);
            fronts(v, block, false, true);
        } else if (plain) {
            contention(v, block, true, false);
            fronts(v, block, true, false);
        } else {
            contention(v, block, false, false);
            fronts(v, block, false, false);
        }
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void heads_avx2(struct fc_queueing_round *v)
{
    heads(v);
}
void fc_queueing_heads(struct fc_queueing_round *v)
{
    if (__builtin_cpu_supports("avx2"))
        heads_avx2(v);
    else
        heads(v);
}
#else
void fc_queueing_heads(struct fc_queueing_round *v)
{
    heads(v);
}
#endif
