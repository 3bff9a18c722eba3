/* turns_ugal.c - turns under UGAL, whose share of indirect routes grows with the load.
 *
 * The rule is the kernel's (route_two_level.c): a packet goes directly where q_direct <= weight q_indirect + threshold. The
 * queue that it finds at link l, sending x flits a cycle, is drawn for it: what is on the wire is a Poisson number of
 * packets of mean x R, R the round trip of a credit without contention, and what waits is exponential of mean
 *
 *     credits:  x sum_o p(o | l) W(o)   behind the link, for its next outputs o,
 *     local:    x W(l)                  before it,      W(o) = rho t / (2 (1 - rho))  (M/D/1),
 *
 * no more than the channels hold. The shares at a load are a fixed point, found by successive averages of the links'
 * loads over walks of all traffic (turns.c): where a direct link nears saturation, W rises until as many packets turn
 * away from it as keep it below. At small loads nothing exceeds the threshold, and all is direct.
 *
 * Rungs: turns at rising loads, the last at the load that its own busiest link can just bear. queueing_rungs.c solves
 * between them. Limits: queues of links further away than the next are not seen; M/D/1 for all links. */
#include "solvers/queueing/turns_internal.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 10, TOP_ROUNDS = 5 };
#define FULL 0.9995 /* utilisation that is taken for 1 */
static const double rung_share[FC_TURNS_RUNGS] = {0.25, 0.45, 0.6, 0.75, 0.88, 1};

/* Uniform in (0, 1) from the packet's word. */
static double uniform(uint32_t random, uint32_t link, uint32_t salt)
{
    uint64_t x = fc_random_quick((uint64_t)random << 32 | link, salt);
    return ((double)(x >> 11) + 0.5) * 0x1p-53;
}

/* Poisson by counting down; normal from 30 on. */
static double poisson(double mean, uint32_t random, uint32_t link)
{
    double u = uniform(random, link, 0);
    if (mean > 30) {
        double v = uniform(random, link, 1);
        return fmax(0, round(mean + sqrt(mean) * sqrt(-2 * log(u)) * cos(2 * M_PI * v)));
    }
    double n = 0, p = exp(-mean);
    for (double sum = p; u > sum && n < 200; sum += p) p *= mean / ++n;
    return n;
}

static uint32_t drawn(const void *of, uint32_t link)
{
    const struct fc_turns_sight *sight = of;
    const struct fc_turns_walk *w = sight->walk;
    double flits = w->turns->flits_mean;
    double wire = w->on_wire[link] > 0 ? flits * poisson(w->on_wire[link] / flits, sight->random, link) : 0;
    double waits = -w->waits[link] * log(uniform(sight->random, link, 2));
    return (uint32_t)fmin(wire + waits, w->flit.n_network_vcs * (double)w->flit.buffer_flits);
}

struct fc_flit_view fc_turns_see(const struct fc_turns_sight *sight)
{
    return (struct fc_flit_view){sight, drawn, drawn};
}

static double wait_of(const struct fc_turns_walk *w, uint32_t l)
{
    const struct fc_turns *t = w->turns;
    double rho = fmin(FULL, w->at_load * w->mean_rate[l] * t->service[l]);
    return rho * t->service[l] / (2 * (1 - rho));
}

/* What a packet finds at each link, from the mean loads so far and the outputs of the last walk. */
static void look(struct fc_turns_walk *w, double *sum, double *rate)
{
    const struct fc_turns *t = w->turns;
    const struct fc_flit_net *flit = &w->flit;
    bool local = w->net->machine->router.ugal.queue == FC_UGAL_LOCAL;
    memset(sum, 0, t->n_links * sizeof *sum);
    memset(rate, 0, t->n_links * sizeof *rate);
    for (uint32_t s = 0; s < t->n_states; s++) {
        if (t->state_in[s] == FC_NONE) continue;
        uint32_t in = t->channel_link[t->state_in[s]];
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
            sum[in] += t->choice_rate[i] * wait_of(w, t->choice_link[i]);
            rate[in] += t->choice_rate[i];
        }
    }
    for (uint32_t l = 0; l < t->n_links; l++) {
        int class = w->net->link_class[l];
        double x = fmin(w->at_load * w->mean_rate[l], 1 / fmax(t->service[l], 1e-9)) * t->flits_mean;
        double trip =
            (2.0 * flit->latency_ticks[class] + flit->router_ticks + flit->credit_ticks) / flit->ticks_per_cycle;
        w->on_wire[l] = local ? 0 : x * (trip + t->service[l]);
        w->waits[l] = x * (local ? wait_of(w, l) : rate[l] > 0 ? sum[l] / rate[l] : 0);
    }
}

/* The turns at a load, in w->turns. */
static enum fc_code settle(struct fc_turns_walk *w, double load, double packets, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    double *sum = fc_alloc(w->arena, t->n_links, sizeof *sum, st),
           *rate = fc_alloc(w->arena, t->n_links, sizeof *rate, st);
    if (st->code) return st->code;
    w->at_load = load;
    for (int round = 0; round < ROUNDS; round++) {
        bool last = round + 1 == ROUNDS;
        if (fc_turns_walk_all(w, last ? packets / 2 : packets / (2 * ROUNDS), st)) return st->code;
        fc_turns_add_up(w);
        double step = round == 0 && !w->known ? 1 : 2.0 / (round + 3);
        for (uint32_t l = 0; l < t->n_links; l++) w->mean_rate[l] += step * (t->rate[l] - w->mean_rate[l]);
        look(w, sum, rate);
        w->known = true;
    }
    return FC_OK;
}

enum fc_code fc_turns_ugal(struct fc_turns_walk *w, double load, uint64_t most_hops, double *most_load,
                           struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    w->mean_rate = fc_alloc(w->arena, t->n_links, sizeof *w->mean_rate, st);
    w->on_wire = fc_alloc(w->arena, t->n_links, sizeof *w->on_wire, st);
    w->waits = fc_alloc(w->arena, t->n_links, sizeof *w->waits, st);
    if (st->code || fc_turns_walk_all(w, 64, st)) return st->code;
    double packets = (double)most_hops / ((double)w->n_hops / (double)w->n_walked);
    if (load > 0) return settle(w, load, packets, st);
    /* The load that the busiest link can just bear, from that of direct routes on. */
    if (fc_turns_walk_all(w, packets / ROUNDS, st)) return st->code;
    fc_turns_add_up(w);
    double most = 1 / t->max_service_rate;
    for (int round = 0; round < TOP_ROUNDS; round++) {
        if (settle(w, most, round + 1 < TOP_ROUNDS ? packets / 4 : packets, st)) return st->code;
        most = 1 / t->max_service_rate;
    }
    *most_load = most;
    return FC_OK;
}

double fc_turns_rung_load(const struct fc_turns *turns, uint32_t rung)
{
    return rung_share[rung] * turns->rung_top;
}
