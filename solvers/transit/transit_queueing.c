/* transit_queueing.c - packets wait for other packets: the calibrated queueing model under single messages.
 *
 * A message of at most SHORT packets that leaves at d over links none of which is saturated arrives at
 *
 *     d + alone + sum over links l of its way of w_l W_l
 *     W_l = a(r) m2_l / (2 (1 - min(u_l, 0.9)))
 *     u_l = A_l / T    m2_l = B_l / T    r = max over its links of u_l
 *
 * and any other at the later of this and its arrival by contention (transit_contention.c), which runs
 * underneath. A link is saturated when u_l >= 0.9, or when the work that was sent to it and cannot have
 * passed (Lindley's recursion at the link's rate) is more than QUEUE full packets: a burst.
 *
 * A_l and B_l are sums over the messages that left before: the time that each keeps the link, and that times
 * the time of one of its packets there, each times exp(-age / T). The mean of A / T is the link's utilisation
 * (Campbell's theorem), so W_l is the mean wait of M/G/1 (Pollaczek & Khinchine) times a. The factor a holds
 * what routers differ in (choice among outputs, finite buffers, ports): for uniform traffic at load x,
 *
 *     a = (latency(x) - zero load) / sum over links of P(packet crosses l) S_l rho_l / (2 (1 - rho_l))
 *
 * with the latency of the queueing model under the machine's calibration (queueing.c, calibrated.c),
 * tabulated against the utilisation of the busiest link and linear between. So steady uniform traffic of full
 * packets has the latency of `curve --solver queueing`, but for the noise of u (tests: within 5 % at 30 and
 * 60 % of the ideal throughput). T is WINDOW times a full packet's time on the slowest link.
 *
 * Beside a background of a_l bytes/s on link l its packets, full ones, are part of A and B for good: A_l =
 * a_l / b_l T + ..., B_l = a_l / b_l T S_l + ... with S_l a full packet's time; contention underneath shares
 * b_l - a_l.
 *
 * One message alone: as ideal; none is earlier. Limits: a message adds its load to all its links when it
 * leaves, not when it gets there; all packets of a message wait as the first; a is that of uniform traffic;
 * the first messages of a burst do not see the later ones. O(links of its way) a message beside contention;
 * opening costs a dozen solves of the model. */
#include "solvers/calibration/calibration.h"
#include "solvers/load_internal.h"
#include "solvers/transit/transit_internal.h"

enum { WINDOW = 128, POINTS = 12, LEAST_PACKETS = 50, SHORT = 8, QUEUE = 16 };
#define MOST_BUSY 0.9

struct fc_transit_waits {
    double window_s;
    double busy[POINTS], factor[POINTS]; /* a at the busiest link's utilisation, ascending */
    int n;
    double packet_wire_bytes, packet_bytes;
    struct {
        double busy_s, square_s2, at_s; /* A and B at at_s */
        double free_s;                  /* what was sent to it has passed, at the earliest */
    } * link;                           /* [n_links] */
};

/* ---- the factor ---- */

/* Mean wait of a packet by M/G/1 alone, cycles. */
static double plain_wait(const struct fc_turns *turns, double load)
{
    double sum = 0;
    for (uint32_t l = 0; l < turns->n_links; l++) {
        double rate = load * turns->rate[l], rho = rate * turns->service[l];
        if (turns->rate[l] > 0) sum += turns->copies[l] * turns->rate[l] * rate * turns->service2[l] / (2 * (1 - rho));
    }
    return sum / turns->packets;
}

static enum fc_code tabulate(struct fc_transit_waits *w, const struct fc_turns *turns, struct fc_calibrated *model,
                             struct fc_status *st)
{
    double most = fc_calibrated_saturation(model, NULL);
    for (int i = 0; i < POINTS; i++) {
        struct fc_calibrated_answer answer;
        double load = most * (i + 0.5) / POINTS, busy = load * turns->max_service_rate;
        if (busy >= 1) break;
        if (fc_calibrated_solve(model, load, &answer, st)) return st->code;
        if (!answer.model.stable) break;
        w->busy[w->n] = busy;
        w->factor[w->n++] =
            fmax(0, answer.model.latency_mean_cycles - turns->zero_load_cycles) / plain_wait(turns, load);
    }
    if (w->n == 0) return fc_refuse(st, FC_NO, "network queueing: the model has no stable load on this machine");
    return FC_OK;
}

static enum fc_code solve_model(struct fc_transit *t, struct fc_transit_waits *w, const struct fc_turns *turns,
                                const struct fc_flit_settings *settings)
{
    struct fc_calibration calibration = {0};
    struct fc_calibrated *model = NULL;
    bool found = false;
    enum fc_code code = FC_OK;
    if (t->settings.made) {
        /* the caller's */
    } else if (t->settings.calibration) {
        code = fc_calibration_read(t->settings.calibration, &calibration, t->st);
        found = !code;
    } else {
        code = fc_calibration_find(t->net, &calibration, &found, NULL, t->st);
    }
    if (!code)
        code = fc_calibrated_open(found ? &calibration : t->settings.made, turns, "uniform", settings, &model, t->st);
    if (!code) code = tabulate(w, turns, model, t->st);
    fc_calibrated_close(model);
    if (found) fc_calibration_free(&calibration);
    return code;
}

static enum fc_code make_factor(struct fc_transit *t, struct fc_transit_waits *w)
{
    struct fc_flit_settings settings;
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    FC_SCOPED(fc_turns_free) struct fc_turns turns = {0};
    fc_flit_defaults(&settings);
    settings.seed = t->settings.seed;
    if (fc_demand_from_pattern(t->net, "uniform", 1, &demand, t->st)) return t->st->code;
    double hops = fmin(2e7, fmax(2e6, 200.0 * t->net->n_links));
    enum fc_code code = fc_turns_make(t->net, &demand, &settings, (uint64_t)hops, &turns, t->st);
    if (!code) {
        double packets = (double)turns.n_walked * (turns.hops_mean + 2) / turns.n_links;
        if (turns.sampled && packets < LEAST_PACKETS)
            code =
                fc_refuse(t->st, FC_NO,
                          "network queueing: the model can follow only %.3g packets a link of this network (expected "
                          "at least %d, or network contention)",
                          packets, LEAST_PACKETS);
        else
            code = solve_model(t, w, &turns, &settings);
    }
    return code;
}

/* Linear between the points, the nearest outside. */
static double factor(const struct fc_transit_waits *w, double busy)
{
    int i = 0;
    while (i < w->n && w->busy[i] < busy) i++;
    if (i == 0) return w->factor[0];
    if (i == w->n) return w->factor[w->n - 1];
    double part = (busy - w->busy[i - 1]) / (w->busy[i] - w->busy[i - 1]);
    return w->factor[i - 1] + part * (w->factor[i] - w->factor[i - 1]);
}

/* ---- messages ---- */

double fc_transit_wait_s(struct fc_transit *t, const struct fc_transit_way *way, double time_s, double bytes,
                         double wire_bytes, bool *shares)
{
    struct fc_transit_waits *w = t->waits;
    *shares = bytes > SHORT * w->packet_bytes;
    double busiest = 0, sum_s = 0, packet = bytes > w->packet_bytes ? w->packet_wire_bytes : wire_bytes;
    for (uint32_t k = way->first; k < way->first + way->n_finite; k++) {
        uint32_t l = t->ways.link[k];
        double weight = t->ways.weight[k];
        const double *others = t->settings.background_bytes_per_s;
        double each_s = 1 / fc_link_bandwidth(t->net, l), taken = others ? others[l] * each_s : 0;
        double fade = exp((w->link[l].at_s - time_s) / w->window_s);
        double busy_s = w->link[l].busy_s * fade, square_s2 = w->link[l].square_s2 * fade;
        double busy = busy_s / w->window_s + taken;
        double square = square_s2 / w->window_s + taken * w->packet_wire_bytes * each_s;
        sum_s += weight * square / (2 * (1 - fmin(busy, MOST_BUSY)));
        busiest = fmax(busiest, busy);
        double queue_s = fmax(0, w->link[l].free_s - time_s);
        *shares |= busy >= MOST_BUSY || queue_s > QUEUE * w->packet_wire_bytes * each_s;
        w->link[l].free_s = time_s + queue_s + weight * wire_bytes * each_s / (1 - taken);
        w->link[l].busy_s = busy_s + weight * wire_bytes * each_s;
        w->link[l].square_s2 = square_s2 + weight * wire_bytes * each_s * packet * each_s;
        w->link[l].at_s = time_s;
    }
    return sum_s > 0 ? factor(w, fmin(busiest, MOST_BUSY)) * sum_s : 0;
}

static enum fc_code open_queueing(struct fc_transit *t)
{
    const struct fc_network *net = t->net;
    struct fc_transit_waits *w = fc_alloc(&t->arena, 1, sizeof *w, t->st);
    if (!w || fc_transit_contention.open(t)) return t->st->code;
    w->link = fc_alloc(&t->arena, net->n_links, sizeof *w->link, t->st);
    if (!w->link || make_factor(t, w)) return t->st->code;
    double slowest = INFINITY;
    for (uint32_t l = 0; l < net->n_links; l++) slowest = fmin(slowest, fc_link_bandwidth(net, l));
    for (uint32_t l = 0; t->settings.background_bytes_per_s && l < net->n_links; l++)
        if (!(fc_free_bandwidth(net, t->settings.background_bytes_per_s, l) > 0))
            return fc_refuse(t->st, FC_NO, "network queueing: the background leaves nothing of a link");
    w->packet_bytes = t->ways.packet_bytes;
    w->packet_wire_bytes = fc_wire_bytes(net->machine, w->packet_bytes);
    w->window_s = WINDOW * w->packet_wire_bytes / slowest;
    if (!(w->window_s > 0) || isinf(w->window_s))
        return fc_refuse(t->st, FC_INPUT, "network queueing: packets of %g bytes on links of %g bytes/s never wait",
                         w->packet_wire_bytes, slowest);
    t->waits = w;
    return FC_OK;
}

static enum fc_code advance(struct fc_transit *t, double until_s)
{
    return fc_transit_contention.advance(t, until_s);
}
static void close_queueing(struct fc_transit *t)
{
    fc_transit_contention.close(t);
}

const struct fc_transit_ops fc_transit_queueing = {.name = "queueing",
                                                   .memory = true,
                                                   .open = open_queueing,
                                                   .send = fc_transit_hold,
                                                   .advance = advance,
                                                   .close = close_queueing};
