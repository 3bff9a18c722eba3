/* turns_ugal.c - turns under UGAL, whose share of indirect routes grows with the load.
 *
 * The rule is the kernel's (route_two_level.c): a packet goes directly where q_direct <= weight q_indirect + threshold. The
 * queue that it finds at link l, sending x flits a cycle, is drawn for it: what is on the wire is a Poisson number of
 * packets of mean x R, R the round trip of a credit without contention, and what waits is exponential of mean
 *
 *     credits:  x sum_o p(o | l) W(o)   behind the link, for its next outputs o,
 *     local:    x W(l)                  before it,      W(o) = rho t / (2 (1 - rho))  (M/D/1),
 *     both:     their sum, and the wire,
 *
 * no more than the channels hold, those before it the more for both. The shares at a load are a fixed point, found by successive averages over
 * walks of all traffic (turns.c): where a direct link nears saturation, W rises until as many packets turn
 * away from it as keep it below. At small loads nothing exceeds the threshold, and all is direct. p(o | l) is the mean of the walks: after one in
 * which all turned away from o, the next would see no queue.
 *
 * Where several times what a link takes would come directly (adverse traffic between groups), W is thousands of t, which means of rho do not find in
 * so few walks: there it is a price, which each walk raises or lowers by what it sent,
 *
 *     W <- W exp(g (rho - 1) s),   s = (rho - 1)^2 / ((rho - 1)^2 + the variance of a walk's rho),   g = GAIN / (1 + (walks before / FALLS)^2).
 *
 * Here rho is the link's utilisation, or that of the fullest of its channels where these are given out in a stage, over USABLE. Every walk
 * follows packets of its own: with the same ones in all, the busiest of several cables alike would be one that had luck.
 *
 * Rungs: turns at rising loads, the last at the load that its own busiest link can just bear, less CHANCE standard deviations. queueing_rungs.c
 * solves between them. Queues that last before links which are too full: turns_kept.c. Limits: queues of links further away than the next are not
 * seen; M/D/1 for all other links. */
#include "solvers/queueing/turns_internal.h"

#include <string.h>

enum { ROUNDS = 32, TOP_ROUNDS = 12 };
#define GROWTH 1.4
/* Utilisation at which waits grow without bound here: the queueing model, which does not know the rule, must find a steady
 * state beside it (of 0.8, 0.85, 0.9 and 0.95 the best on half of the machines in docs/notes/calibration.md); and that of the busiest
 * link at the last rung. */
#define USABLE 0.95
#define BEARABLE 0.98
#define CHANCE 1.5     /* standard deviations by which the busiest of several links alike looks busier than it is */
#define FULL 0.9995    /* share of USABLE that is taken for 1 */
#define GAIN 4.0       /* of a price in the first walk */
#define FALLS 8.0      /* walks after which it is half */
#define ALL_DIRECT 0.9 /* of the load that fills the busiest link directly: the first rung is no higher */
#define MOST_PRICE 4e3 /* service times; 1000 to 8000 chosen among as USABLE was (docs/notes/queueing.md) */
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
    uint32_t set = w->orbit ? w->orbit[link] : link;
    double flits = w->turns->flits_mean;
    double wire = w->on_wire[set] > 0 ? flits * poisson(w->on_wire[set] / flits, sight->random, link) : 0;
    double waits = -w->waits[set] * log(uniform(sight->random, link, 2));
    int stages = 1 + (w->net->machine->router.ugal.queue == FC_UGAL_BOTH);
    return (uint32_t)fmin(wire + waits, stages * w->flit.n_network_vcs * (double)w->flit.buffer_flits);
}

/* Under `both` drawn() has it all. */
static uint32_t none(const void *of, uint32_t link)
{
    (void)of, (void)link;
    return 0;
}

struct fc_flit_view fc_turns_see(const struct fc_turns_sight *sight)
{
    bool both = sight->walk->net->machine->router.ugal.queue == FC_UGAL_BOTH;
    return (struct fc_flit_view){sight, drawn, both ? none : drawn};
}

static void towards(double *mean, double now, double step)
{
    *mean += step * (now - *mean);
}
/* Routers with a stage for virtual channels: a channel passes a packet every stage + t. held_rate: packets a cycle that would keep
 * the link as busy as the fullest of its channels is; scratch: [n_links]. */
static void hold(struct fc_turns_walk *w, double step, double *scratch)
{
    struct fc_turns *t = w->turns;
    double *rate = t->channel_rate; /* added up anew at the end */
    memset(rate, 0, t->n_channels * sizeof *rate);
    memset(scratch, 0, t->n_links * sizeof *scratch);
    for (uint32_t s = fc_turns_next_met(w, 0); s < t->n_states; s = fc_turns_next_met(w, s + 1))
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++)
            rate[t->choice_channel[i]] += t->choice_rate[i];
    for (uint32_t c = 0; c < t->n_channels; c++) {
        uint32_t l = t->channel_link[c];
        double each = rate[c] / t->copies[l] / t->channel_vcs[c] * (t->service[l] + t->stage) / t->service[l];
        if (t->kind[l] == FC_TURN_NETWORK && t->service[l] > 0) scratch[l] = fmax(scratch[l], each);
    }
    for (uint32_t l = 0; l < t->n_links; l++) towards(&w->held_rate[l], scratch[l], step);
}

static double busy_rate(const struct fc_turns_walk *w, uint32_t l)
{
    return w->held_rate ? fmax(w->level_rate[l], w->held_rate[l]) : w->level_rate[l];
}

static double wait_of(const struct fc_turns_walk *w, uint32_t l)
{
    const struct fc_turns *t = w->turns;
    double rho = fmin(FULL, w->at_load * busy_rate(w, l) * t->service[l] / USABLE);
    return fmax(w->price[l], rho * t->service[l] / (2 * (1 - rho)));
}

/* Prices by what the walk just done sent. */
static void set_prices(struct fc_turns_walk *w, int round)
{
    const struct fc_turns *t = w->turns;
    double weight = fc_turns_packet_weight(w, 1);
    double gain = GAIN / (1 + round * round / (FALLS * FALLS));
    for (uint32_t l = 0; l < t->n_links; l++) {
        double scale = w->at_load * t->service[l] / USABLE, over = scale * t->rate[l] - 1;
        double price = over > 0 ? fmax(w->price[l], t->service[l]) : w->price[l];
        if (!(price > 0)) continue;
        double chance2 = scale * scale * t->rate[l] * weight / t->copies[l];
        over = fmin(2, over) * over * over / (over * over + chance2);
        w->price[l] = fmin(MOST_PRICE * t->service[l], price * exp(gain * over));
    }
}

/* Means of several walks: of states, of choices, and of the sums of the walk. */
struct mean {
    double *state, *choice;
    uint32_t states, choices; /* room */
    double rate, hops, zero_load, zero_load2;
    double share; /* sum of the squares of the walks' weights */
};

/* What a packet finds at each link, from the mean loads and outputs so far; scratch: [3][n_links]. Of the last walk alone, whoever
 * turned away would leave no queue for the next to see. */
static void look(struct fc_turns_walk *w, const struct mean *m, double *scratch)
{
    const struct fc_turns *t = w->turns;
    const struct fc_flit_net *flit = &w->flit;
    int counts = w->net->machine->router.ugal.queue;
    bool before = counts != FC_UGAL_CREDITS, behind = counts != FC_UGAL_LOCAL;
    double *sum = scratch, *rate = sum + t->n_links, *wait = rate + t->n_links;
    memset(sum, 0, 2 * t->n_links * sizeof *sum);
    for (uint32_t l = 0; l < t->n_links; l++) wait[l] = wait_of(w, l);
    for (uint32_t s = 0; behind && s < t->n_states; s++) {
        if (t->state_in[s] == FC_NONE) continue;
        uint32_t in = t->channel_link[t->state_in[s]];
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
            sum[in] += m->choice[i] * wait[t->choice_link[i]];
            rate[in] += m->choice[i];
        }
    }
    for (uint32_t l = 0; l < t->n_links; l++) {
        int class = w->net->link_class[t->link[l]];
        double x = fmin(w->at_load * w->level_rate[l], 1 / fmax(t->service[l], 1e-9)) * t->flits_mean;
        double trip =
            (2.0 * flit->latency_ticks[class] + flit->router_ticks + flit->credit_ticks) / flit->ticks_per_cycle;
        w->on_wire[l] = behind ? x * (trip + t->service[l]) : 0;
        w->waits[l] = x * ((before ? wait[l] : 0) + (behind && rate[l] > 0 ? sum[l] / rate[l] : 0));
    }
}

static double *widen(struct fc_turns_walk *w, double *old, uint32_t n, uint32_t room, struct fc_status *st)
{
    double *array = fc_alloc(w->arena, room, sizeof *array, st);
    if (array && n) memcpy(array, old, n * sizeof *array);
    return array;
}
/* Means of states and choices. */
static enum fc_code add_states(struct fc_turns_walk *w, struct mean *m, double step, struct fc_status *st)
{
    const struct fc_turns *t = w->turns;
    if (t->n_states > m->states || t->n_choices > m->choices) {
        m->state = widen(w, m->state, m->states, 2 * t->n_states, st);
        m->choice = widen(w, m->choice, m->choices, 2 * t->n_choices, st);
        if (st->code) return st->code;
        m->states = 2 * t->n_states;
        m->choices = 2 * t->n_choices;
    }
    for (uint32_t s = 0; s < t->n_states; s++) towards(&m->state[s], t->state_rate[s], step);
    for (uint32_t i = 0; i < t->n_choices; i++) towards(&m->choice[i], t->choice_rate[i], step);
    return FC_OK;
}
static void add_links(struct fc_turns_walk *w, struct mean *m, double step)
{
    const struct fc_turns *t = w->turns;
    m->share = (1 - step) * (1 - step) * m->share + step * step;
    towards(&m->rate, w->rate, step);
    towards(&m->hops, w->hops, step);
    towards(&m->zero_load, w->zero_load, step);
    towards(&m->zero_load2, w->zero_load2, step);
    for (uint32_t l = 0; l < t->n_links; l++) towards(&w->mean_rate[l], t->rate[l], step);
    memcpy(w->level_rate, w->mean_rate, t->n_links * sizeof *w->level_rate);
    fc_turns_level(w, m->share, w->level_rate);
}

/* Of the walk just done. */
static enum fc_code take_direct(struct fc_turns_walk *w, struct fc_turns_direct *d, struct fc_status *st)
{
    const struct fc_turns *t = w->turns;
    d->n_choices = t->n_choices;
    d->choice_rate = fc_alloc(w->arena, d->n_choices + 1ull, sizeof *d->choice_rate, st);
    d->rate = fc_alloc(w->arena, t->n_links, sizeof *d->rate, st);
    if (st->code) return st->code;
    memcpy(d->choice_rate, t->choice_rate, d->n_choices * sizeof *d->choice_rate);
    memcpy(d->rate, t->rate, t->n_links * sizeof *d->rate);
    fc_turns_level(w, 1, d->rate);
    return FC_OK;
}

/* The turns at a load, in w->turns: means of the walks, the first ones counting less. Not `whole`: max_service_rate alone. */
static enum fc_code settle(struct fc_turns_walk *w, fc_turns_walker *walk, double load, double packets, bool whole,
                           struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    struct mean m = {0};
    struct fc_turns_direct direct = {0};
    int queue = w->net->machine->router.ugal.queue;
    bool keeps = whole && queue == FC_UGAL_BOTH; /* elsewhere some sources do not see the queue */
    double *scratch = fc_alloc(w->arena, 3ull * t->n_links, sizeof *scratch, st);
    if (st->code) return st->code;
    w->at_load = load;
    memset(w->waits, 0, t->n_links * sizeof *w->waits);
    memset(w->on_wire, 0, t->n_links * sizeof *w->on_wire);
    for (int round = 0; round < ROUNDS; round++) {
        if (walk(w, packets / ROUNDS, st)) return st->code;
        fc_turns_add_up_met(w);
        if (round == 0 && keeps && take_direct(w, &direct, st)) return st->code;
        if ((whole || queue != FC_UGAL_LOCAL) && add_states(w, &m, 2.0 / (round + 2), st)) return st->code;
        add_links(w, &m, 2.0 / (round + 2));
        set_prices(w, round);
        if (w->held_rate) hold(w, 2.0 / (round + 2), scratch);
        look(w, &m, scratch);
    }
    if (!whole) {
        double weight = fc_turns_packet_weight(w, m.share);
        t->max_service_rate = 0;
        for (uint32_t l = 0; l < t->n_links; l++) {
            double rate = busy_rate(w, l) - CHANCE * sqrt(w->level_rate[l] * weight / t->copies[l]);
            t->max_service_rate = fmax(t->max_service_rate, rate * t->service[l]);
        }
        return FC_OK;
    }
    memcpy(t->state_rate, m.state, t->n_states * sizeof *m.state);
    memcpy(t->choice_rate, m.choice, t->n_choices * sizeof *m.choice);
    w->rate = m.rate, w->hops = m.hops, w->zero_load = m.zero_load, w->zero_load2 = m.zero_load2;
    fc_turns_add_up(w);
    if (keeps && fc_turns_keep(w, &direct, st)) return st->code;
    return fc_turns_smooth(w, m.share, st);
}

enum fc_code fc_turns_ugal(struct fc_turns_walk *w, fc_turns_walker *walk, double load, uint64_t most_hops,
                           double *most_load, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    w->mean_rate = fc_alloc(w->arena, t->n_links, sizeof *w->mean_rate, st);
    w->level_rate = fc_alloc(w->arena, t->n_links, sizeof *w->level_rate, st);
    w->price = fc_alloc(w->arena, t->n_links, sizeof *w->price, st);
    w->on_wire = fc_alloc(w->arena, t->n_links, sizeof *w->on_wire, st);
    w->waits = fc_alloc(w->arena, t->n_links, sizeof *w->waits, st);
    if (t->stage > 0) w->held_rate = fc_alloc(w->arena, t->n_links, sizeof *w->held_rate, st);
    if (st->code || walk(w, 64, st)) return st->code;
    double packets = (double)most_hops / ((double)w->n_hops / (double)w->n_walked);
    if (load > 0) return settle(w, walk, load, packets, true, st);
    if (walk(w, packets / ROUNDS, st)) return st->code;
    fc_turns_add_up(w);
    /* The rule sheds no more than it must, so the greatest load is found from below and halved in. */
    double low = 1 / t->max_service_rate, high = 0, x = GROWTH * low;
    t->direct_load = low;
    for (int round = 0; round < TOP_ROUNDS && (high == 0 || high - low > 0.01 * high); round++) {
        if (settle(w, walk, x, packets / 4, false, st)) return st->code;
        bool bears = x * t->max_service_rate < BEARABLE;
        *(bears ? &low : &high) = x;
        x = high > 0 ? (low + high) / 2 : GROWTH * x;
    }
    *most_load = low;
    return settle(w, walk, low, packets, true, st);
}

double fc_turns_rung_load(const struct fc_turns *turns, uint32_t rung)
{
    double load = rung_share[rung] * turns->rung_top;
    return rung == 0 ? fmin(load, ALL_DIRECT * turns->direct_load) : load;
}
