/* queueing_stage.c - routers that give out virtual channels in a stage of their own (router.vc_allocation: stage; Dally &
 * Towles 2004, section 16.2): equation (7) of queueing.c.
 *
 * A head first waits for one of the V virtual channels of its next channel c', for sigma cycles at least; it holds it until
 * its last flit has left, and only those that hold one ask for the switch. A packet of time t so holds it for
 *
 *     H = sigma + t + P + W + X
 *
 * with P the wait for the input port, W for the link, X for room (by (4), (1), (5)). Before that it waited as in M/D/n with n =
 * m V servers of time H, m the outputs that it may choose from, r their load less what its own virtual channel brings
 * (Sakasegawa 1977, half of M/M/n):
 *
 *     Y = H / 2 r^(sqrt(2 (n + 1)) - 1) / (n (1 - r)),         S = sigma + Y + P + W + t + X.
 *
 * One virtual channel so passes t / (t + sigma) of a link at most, and a crossbar of such queues (2 - sqrt 2) t / (t + sigma).
 *   W  Two packets of one virtual channel do not meet at the link: (1) times 1 - l_c' / (V l_o). Those that meet there go on flit by
 *      flit in turn, and both are late: W of a packet of F flits is (2 - 1 / F) times that, up to the wait of a processor that is
 *      shared (Kleinrock 1967), while its port loses, and the link works off, no more than before.
 *   P  Only v - 1 others can be before it in its port, v the virtual channels of its link: w of (4) is limited to their time k,
 *      w k / (w + k). A head that waited for a channel comes when that gets free, not spaced by its link: another of its port is
 *      then on its way with probability p = r^(sqrt(2 (n + 1)) - 1) rho (v - 1) / v, rho of the port, and flits of both alternate:
 *      p (t - half a flit) more. Of a channel that brings more or less than one in v of its port's packets, P is less or more.
 *   Q  Packets of one virtual channel come t + sigma apart: (3) with (t_k + sigma)^2.
 *   X  A place in a buffer is taken for a credit's round trip R besides the waits: (5) has l R places less, and a packet waits
 *      for one as in M/D/n with n places of time R. l R = B is the end: a channel passes B / R.
 *
 * Limits: waits of one head for channel, port and link are taken as independent; a channel is given to one of several heads
 * without loss, where routers of many channels give two heads the same one. */
#include "solvers/queueing/queueing_internal.h"

#include <string.h>

#define MOST_LOAD 0.99999

/* How likely a packet waits for one of n servers of load r, about. */
static double waits_at_all(double r, double n)
{
    return n == 1 ? r : pow(r, sqrt(2 * (n + 1)) - 1);
}

/* Mean wait for one of n servers that are busy for `time` with each packet, M/D/n. */
static double wait_for(double time, double r, double n)
{
    r = fc_less(r, MOST_LOAD);
    return time / 2 * waits_at_all(r, n) / (n * (1 - r));
}

enum fc_code fc_queueing_stage_open(struct fc_queueing *q, const uint32_t *exit_of, struct fc_arena *arena,
                                    struct fc_status *st)
{
    const struct fc_turns *t = q->t;
    double *rate = fc_alloc(arena, q->n_exits + 1ull, sizeof *rate, st);
    q->choice_exit = fc_alloc(arena, t->n_choices + 1ull, sizeof *q->choice_exit, st);
    q->not_own = rate;
    q->not_own_power = fc_alloc(arena, q->n_exits + 1ull, sizeof *q->not_own_power, st);
    q->vc_load = fc_alloc(arena, t->n_channels + 1ull, sizeof *q->vc_load, st);
    q->vc_waits = fc_alloc(arena, t->n_channels + 1ull, sizeof *q->vc_waits, st);
    q->others = fc_alloc(arena, q->n_exits + 1ull, sizeof *q->others, st);
    q->exit_link_wait = fc_alloc(arena, q->n_exits + 1ull, sizeof *q->exit_link_wait, st);
    q->exit_vc_wait = fc_alloc(arena, q->n_exits + 1ull, sizeof *q->exit_vc_wait, st);
    q->beside = fc_alloc(arena, t->n_channels + 1ull, sizeof *q->beside, st);
    q->held = fc_alloc(arena, t->n_channels + 1ull, sizeof *q->held, st);
    q->port_waits = fc_alloc(arena, t->n_links + 1ull, sizeof *q->port_waits, st);
    if (st->code) return st->code;
    for (uint32_t i = 0; i < t->n_choices; i++) {
        q->choice_exit[i] = exit_of[i];
        if (q->edge_of[i] != FC_NONE) rate[exit_of[i]] += t->choice_rate[i];
    }
    for (uint32_t c = 0; c < t->n_channels; c++) {
        uint32_t l = t->channel_link[c];
        double own = t->rate[l] > 0 ? t->channel_rate[c] / t->channel_vcs[c] / (t->rate[l] * t->copies[l]) : 1;
        q->beside[c] = t->n_vcs > 1 ? fc_more(0, 1 - own) * t->n_vcs / (t->n_vcs - 1) : 0;
    }
    for (uint32_t k = 0; k < q->n_exits; k++) {
        uint32_t in = q->edge_channel[q->exit_edge[k]], to = q->exit_channel[k], o = t->channel_link[to];
        double all = t->rate[o] * t->copies[o];
        q->not_own[k] = fc_more(0, 1 - rate[k] / t->channel_vcs[in] * q->channel_unit[to]);
        q->not_own_power[k] = waits_at_all(q->not_own[k], t->channel_vcs[to]);
        q->others[k] = all > 0 ? fc_more(0, 1 - t->channel_rate[to] / t->channel_vcs[to] / all) : 0;
    }
    return FC_OK;
}

/* ---- a round ---- */

/* Load of a virtual channel of c by what holds it. */
static double vc_load(const struct fc_queueing *q, double load, uint32_t c)
{
    const struct fc_turns *t = q->t;
    return load * t->channel_rate[c] / t->copies[t->channel_link[c]] / t->channel_vcs[c] * q->hold[c];
}

/* Sums over the heads of one channel, of rate x: S less t, times t, its square; the same of the port; likelihood to wait. */
struct sums {
    double wait, service, square, port, port_service, port_square, waits;
};
struct head {
    double service, link, shared, vc, waits,
        room; /* time on the output, W first come, W, Y, how likely Y is not 0, X */
};
static void add(struct sums *s, double rate, const struct head *h, double always)
{
    double w = h->shared + h->vc + h->room + always;
    s->wait += rate * w;
    s->service += rate * w * h->service;
    s->square += rate * w * w;
    s->port += rate * h->link;
    s->port_service += rate * h->link * h->service;
    s->port_square += rate * h->link * h->link;
    s->waits += rate * h->waits;
}

double fc_queueing_in_turn(const struct fc_queueing *q)
{
    return 2 - 1 / fc_more(1, q->t->flits_mean);
}

/* A head that goes by exit k and has no choice. */
static struct head head_at(const struct fc_queueing *q, uint32_t k)
{
    uint32_t to = q->exit_channel[k];
    double n = q->t->channel_vcs[to], r = q->vc_load[to] * q->not_own[k];
    double waits = fc_less(1, q->vc_waits[to] * q->not_own_power[k]);
    double link = q->edge_next[q->exit_edge[k]] * q->others[k];
    return (struct head){.service = q->exit_service[k],
                         .link = link,
                         .shared = link * fc_queueing_in_turn(q),
                         .vc = q->hold[to] / 2 * waits / (n * (1 - fc_less(r, MOST_LOAD))),
                         .waits = waits,
                         .room = q->room[to]};
}

/* Means over the exits of a row, with what its choice saves of both waits. */
static struct head head_of_row(const struct fc_queueing *q, uint32_t c, uint32_t r)
{
    struct head h = {.service = q->row_service[r]};
    double busy = 0, n = 0, m = q->row_outputs[r];
    for (uint32_t i = q->first_place[r]; i < q->first_place[r + 1]; i++) {
        double share = q->place_share[i];
        if (!(share > 0)) continue;
        uint32_t k = q->first_exit[c] + fc_queueing_place(q, r, i), to = q->exit_channel[k];
        h.link += share * q->exit_link_wait[k];
        h.vc += share * q->exit_vc_wait[k];
        h.room += share * q->room[to];
        busy += share * q->vc_load[to];
        n += share * q->t->channel_vcs[to];
    }
    busy = fc_less(busy, 1);
    h.waits = waits_at_all(busy, m * n);
    h.link *= q->row_factor[r];
    h.shared = h.link * fc_queueing_in_turn(q);
    if (m > 1) h.vc *= pow(busy, sqrt(2 * (m * n + 1)) - sqrt(2 * (n + 1))) / m;
    return h;
}

static void front(struct fc_queueing_round *v, uint32_t c)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    uint32_t l = t->channel_link[c], exit = q->first_exit[c], last = q->first_exit[c + 1];
    double epsilon = v->p[FC_Q_PORT], always = t->stage + q->port_free[l] * q->beside[c];
    struct sums s = {0};
    for (uint32_t k = exit; k < last; k++) {
        struct head h = head_at(q, k);
        double rate = q->exit_rate[k];
        q->exit_link_wait[k] = h.link;
        q->exit_vc_wait[k] = h.vc;
        q->exit_wait[k - exit] = rate * h.link;
        q->held[q->exit_channel[k]] += rate * (always + h.service + h.shared + h.room);
        add(&s, rate, &h, always);
    }
    for (uint32_t r = q->first_row[c]; r < q->first_row[c + 1]; r++) {
        struct head h = head_of_row(q, c, r);
        for (uint32_t i = q->first_place[r]; i < q->first_place[r + 1]; i++) {
            uint32_t k = fc_queueing_place(q, r, i);
            double rate = q->row_rate[r] * q->place_share[i];
            if (!(rate > 0)) continue;
            q->exit_wait[k] += rate * h.link;
            q->held[q->exit_channel[exit + k]] += rate * (always + h.service + h.shared + h.room);
        }
        add(&s, q->row_rate[r], &h, always);
    }
    q->front[c] = q->held_time[c] + s.wait;
    q->front2[c] = q->held_square[c] + 2 * (s.service + s.square);
    q->port[l] += q->own_time[c] + epsilon * s.port;
    q->port2[l] += q->own_square[c] + 2 * epsilon * (s.port_service + epsilon * s.port_square);
    q->port_waits[l] += s.waits;
}

void fc_queueing_stage_fronts(struct fc_queueing_round *v)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    fc_queueing_contention(v);
    for (uint32_t c = 0; c < t->n_channels; c++) {
        q->vc_load[c] = vc_load(q, v->load, c);
        q->vc_waits[c] = waits_at_all(q->vc_load[c], t->channel_vcs[c]);
    }
    memset(q->port, 0, t->n_links * sizeof *q->port);
    memset(q->port2, 0, t->n_links * sizeof *q->port2);
    memset(q->port_waits, 0, t->n_links * sizeof *q->port_waits);
    memset(q->held, 0, t->n_channels * sizeof *q->held);
    for (uint32_t c = 0; c < t->n_channels; c++)
        if (q->first_exit[c] < q->first_exit[c + 1]) {
            fc_queueing_edge_waits(v, c);
            front(v, c);
            fc_queueing_edges_go_on(v, c);
        }
    for (uint32_t c = 0; c < t->n_channels; c++) {
        if (!(t->channel_rate[c] > 0) || t->kind[t->channel_link[c]] == FC_TURN_INJECTION) continue;
        double hold = q->held[c] * q->channel_unit[c];
        v->change = fc_more(v->change, fabs(hold - q->hold[c]));
        q->hold[c] += v->damping * (hold - q->hold[c]);
        v->most = fc_more(v->most, vc_load(q, v->load, c));
    }
}

double fc_queueing_stage_port(struct fc_queueing_round *v, uint32_t l, double mean, double queue)
{
    struct fc_queueing *q = v->q;
    const struct fc_turns *t = q->t;
    double others = (t->n_vcs - 1) * mean, rho = fc_less(1, v->load * t->rate[l] / t->paths[l] * mean);
    double waited = fc_less(1, q->port_waits[l] / (t->rate[l] * t->copies[l])), flit = t->service[l] / t->flits_mean;
    double wait = queue > 0 ? queue * others / (queue + others) : 0;
    wait += waited * rho * (t->n_vcs - 1) / t->n_vcs * (t->service[l] - flit / 2);
    v->change = fc_more(v->change, fabs(wait - q->port_free[l]));
    q->port_free[l] += v->damping * (wait - q->port_free[l]);
    return q->port_free[l];
}

double fc_queueing_credits(struct fc_queueing_round *v, uint32_t c, double rate, double *places)
{
    const struct fc_turns *t = v->q->t;
    uint32_t l = t->channel_link[c];
    double all = t->places[l], busy = rate * t->round_trip[l];
    if (!(all > 0)) return 0;
    *places = fc_more(1, all - busy);
    all = fc_more(1, all);
    v->most = fc_more(v->most, busy / all);
    return wait_for(t->round_trip[l], busy / all, all);
}

/* ---- answers ---- */

double fc_queueing_stage_wait(const struct fc_queueing *q, uint32_t s, double *link)
{
    const struct fc_turns *t = q->t;
    double vc = 0, w = 0;
    if (q->state_row[s] != FC_NONE) {
        struct head h = head_of_row(q, t->state_in[s], q->state_row[s]);
        *link = h.shared;
        return h.vc;
    }
    for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
        w += t->choice_rate[i] * q->exit_link_wait[q->choice_exit[i]];
        vc += t->choice_rate[i] * q->exit_vc_wait[q->choice_exit[i]];
    }
    *link = w / t->state_rate[s] * fc_queueing_in_turn(q);
    return vc / t->state_rate[s];
}
