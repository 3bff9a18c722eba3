/* contention.c - the time of a bulk-synchronous phase: every task computes, then all messages of the phase
 * leave at once.
 *
 *     T       = t_c + max(R, T_cpu + T_fill) + T_ends
 *     R       = ratio x (T_links + T_fill), the network; the ratio is that of the kernel's closed runs where
 *               there is a calibration, or one of its family (bulk.c), else 1
 *     T_links = max over links of W_l / b_l; W_l wire bytes on link l (payload load times the demand's wire
 *               factor), b_l bandwidth left by the background
 *     T_cpu   = max over tasks of max(sum o_s + sum o_r + O per byte, (n_sent - 1) g + o_s)
 *     T_fill  = zero-load latency of the longest route: the pipeline's filling and draining
 *     T_ends  = o_s + o_r
 * Source: channel load bound, Dally & Towles 2004 ch. 3; end points, Hoefler et al. (LogGOPS), HPDC'10.
 * Links and processors work at the same time, so the greater of the two counts, not their sum: Adiga et
 * al. 2005, figure 11, one 32-byte packet a pair on 8 x 8 x 8: 71 % of peak = 511 messages x 260 CPU
 * cycles, while the links alone would reach 94 %.
 *
 * Lower bound: t_c + max(load bound of the links, T_cpu, T_fill + T_ends): each holds for every schedule of
 * the phase once all tasks have computed, because no link moves more than b_l, no task works faster than its
 * overheads, and the message of the longest route crosses it (T_fill counts where all routes of a pair
 * are as long).
 *
 * The longest route is looked for among pairs spread over the demand whose routes cross ROUTES links in
 * all, and is at least the byte-weighted mean latency sum_l load_l d_l / bytes (both are true lower
 * bounds). Limits: without a calibration the ratio is 1 and the error unknown; messages inside a node cost
 * CPU time only; no order of messages, no waiting of one task for another within the phase. */
#include "solvers/calibration/bulk.h"
#include "solvers/load_internal.h"
#include "solvers/timing.h"

#include <math.h>
#include <string.h>

enum { ROUTES = 1 << 21, LONGEST_WALK = 1 << 22 };

struct phase {
    const struct fc_network *net;
    const struct fc_demand *demand;
    const struct fc_placement *placement;
    const struct fc_load *load;
    const double *background;
    struct fc_phase_parts *parts;
    struct fc_status *st;
};

static enum fc_code check(const struct phase *p)
{
    if (p->demand->open_loop)
        return fc_refuse(p->st, FC_INPUT,
                         "%s traffic is a rate, not a number of bytes, so it takes no time (use alltoall:bytes=N for a "
                         "message between every two nodes)",
                         p->demand->name);
    if (p->placement->n_tasks != p->demand->n_tasks)
        return fc_refuse(p->st, FC_INPUT, "the mapping places %u tasks, the traffic has %u", p->placement->n_tasks,
                         p->demand->n_tasks);
    return FC_OK;
}

/* ---- links ---- */

static enum fc_code links(struct phase *p)
{
    const struct fc_network *net = p->net;
    struct fc_phase_parts *out = p->parts;
    for (uint32_t l = 0; l < net->n_links; l++) {
        if (p->load->bytes[l] == 0) continue;
        double free_bytes_per_s = fc_free_bandwidth(net, p->background, l);
        if (!(free_bytes_per_s > 0)) {
            char name[96];
            return fc_refuse(p->st, FC_NO,
                             "link %s has no bandwidth left: %g of %g bytes/s are taken by the background",
                             fc_link_name(net, l, name, sizeof name), p->background[l], fc_link_bandwidth(net, l));
        }
        double seconds = p->load->bytes[l] * p->load->wire_factor / free_bytes_per_s;
        if (seconds <= out->links_s) continue;
        out->links_s = seconds;
        out->bottleneck = l;
        out->bottleneck_bytes = p->load->bytes[l];
    }
    return FC_OK;
}

/* ---- processors ---- */

static uint32_t node_of(const struct phase *p, uint32_t task)
{
    return p->placement ? p->placement->node[task] : (uint32_t)(task / p->net->machine->cores_per_node);
}
/* What o is longer for that task. */
static double slow_s(const struct phase *p, uint32_t task)
{
    return p->net->node_slow ? fc_node_slow_s(p->net, node_of(p, task)) : 0;
}

/* CPU seconds of every task: busy[n_tasks]; messages sent: sent[n_tasks]. */
static void entry_work(const struct phase *p, double *busy, double *sent)
{
    const struct fc_software *software = &p->net->machine->software;
    const struct fc_demand *d = p->demand;
    for (size_t e = 0; e < d->n_entries; e++) {
        double n = d->messages[e];
        if (d->src[e] == d->dst[e] || n <= 0) continue;
        busy[d->src[e]] += n * (fc_send_cpu_s(software, d->bytes[e] / n) + slow_s(p, d->src[e]));
        busy[d->dst[e]] += n * (fc_recv_cpu_s(software, d->bytes[e] / n) + slow_s(p, d->dst[e]));
        sent[d->src[e]] += n;
    }
}

/* Messages of a[s] * b[d] bytes between every two tasks: a task's count follows from the sums of a and b. */
static void dense_work(const struct phase *p, const struct fc_dense *part, double *busy, double *sent)
{
    const struct fc_software *software = &p->net->machine->software;
    double sum_a = 0, sum_b = 0, each = part->message_bytes;
    for (uint32_t t = 0; t < p->demand->n_tasks; t++) sum_a += part->a[t], sum_b += part->b[t];
    if (!(each > 0)) return;
    for (uint32_t t = 0; t < p->demand->n_tasks; t++) {
        double out = part->a[t] * (sum_b - part->b[t]) / each, in = part->b[t] * (sum_a - part->a[t]) / each;
        busy[t] += out * fc_send_cpu_s(software, each) + in * fc_recv_cpu_s(software, each) + (out + in) * slow_s(p, t);
        sent[t] += out;
    }
}

static enum fc_code processors(struct phase *p)
{
    const struct fc_software *software = &p->net->machine->software;
    uint32_t n = p->demand->n_tasks;
    struct fc_arena scratch = {0};
    double *busy = fc_alloc(&scratch, n, sizeof *busy, p->st), *sent = fc_alloc(&scratch, n, sizeof *sent, p->st);
    if (busy && sent) {
        entry_work(p, busy, sent);
        for (int i = 0; i < p->demand->n_dense; i++) dense_work(p, &p->demand->dense[i], busy, sent);
        for (uint32_t t = 0; t < n; t++) {
            double paced = sent[t] >= 1 ? (sent[t] - 1) * software->gap_s + software->send_s + slow_s(p, t) : 0;
            p->parts->cpu_s = fmax(p->parts->cpu_s, fmax(busy[t], paced));
        }
    }
    fc_arena_free(&scratch);
    return p->st->code;
}

/* ---- latency ---- */

static double route_latency(const struct phase *p, uint32_t src, uint32_t dst, struct fc_walk *walk)
{
    double sum = 0;
    walk->n = 0;
    p->net->machine->routing->walk(p->net, src, dst, 1, walk);
    for (uint32_t i = 0; i < walk->n; i++) sum += walk->weight[i] * fc_head_delay_s(p->net, walk->link[i]);
    return sum;
}

/* Looks at the pairs of the entries (dense NULL) or of a dense part until `budget` links are crossed: at
 * all of them in turn where the budget allows, else along a Weyl sequence, which spreads evenly. */
static void look_for_longest(struct phase *p, const struct fc_dense *dense, uint64_t budget, struct fc_walk *walk)
{
    const struct fc_demand *d = p->demand;
    uint64_t n_tasks = d->n_tasks, n_pairs = dense ? n_tasks * n_tasks : d->n_entries;
    bool all = n_pairs <= budget / walk->capacity;
    for (uint64_t i = 0, crossed = 0; i < n_pairs && crossed < budget; i++, crossed++) {
        uint64_t pair = all ? i : (uint64_t)((unsigned __int128)(i * UINT64_C(0x9E3779B97F4A7C15)) * n_pairs >> 64);
        uint32_t from = dense ? (uint32_t)(pair / n_tasks) : d->src[pair];
        uint32_t to = dense ? (uint32_t)(pair % n_tasks) : d->dst[pair];
        if (from == to || (dense && dense->a[from] * dense->b[to] == 0)) continue;
        uint32_t src = p->placement->node[from], dst = p->placement->node[to];
        if (src == dst) continue;
        p->parts->fill_s = fmax(p->parts->fill_s, route_latency(p, src, dst, walk));
        crossed += walk->n;
    }
}

static enum fc_code latency(struct phase *p)
{
    uint32_t capacity = p->net->machine->routing->walk_capacity(p->net);
    double sum = 0;
    for (uint32_t l = 0; l < p->net->n_links; l++)
        if (p->load->bytes[l] != 0) sum += p->load->bytes[l] * fc_head_delay_s(p->net, l);
    if (p->load->network_bytes > 0) p->parts->fill_s = sum / p->load->network_bytes;
    if (capacity <= LONGEST_WALK) {
        struct fc_walk walk;
        uint64_t parts = (uint64_t)p->demand->n_dense + (p->demand->n_entries > 0);
        if (fc_walk_start(&walk, capacity, p->st)) return p->st->code;
        if (p->demand->n_entries) look_for_longest(p, NULL, ROUTES / parts, &walk);
        for (int i = 0; i < p->demand->n_dense; i++) look_for_longest(p, &p->demand->dense[i], ROUTES / parts, &walk);
        fc_walk_free(&walk);
    }
    if (p->parts->cpu_s > 0 || p->parts->fill_s > 0) /* only when there is any message */
        p->parts->ends_s = p->net->machine->software.send_s + p->net->machine->software.recv_s;
    return FC_OK;
}

/* ---- the phase ---- */

enum fc_code fc_phase_parts(const struct fc_network *net, const struct fc_demand *demand,
                            const struct fc_placement *placement, const struct fc_load *load,
                            const struct fc_load_settings *settings, struct fc_phase_parts *parts, struct fc_status *st)
{
    struct phase p = {.net = net,
                      .demand = demand,
                      .placement = placement,
                      .load = load,
                      .parts = parts,
                      .background = settings ? settings->background_bytes_per_s : NULL,
                      .st = st};
    *parts = (struct fc_phase_parts){.bottleneck = FC_NONE};
    if (check(&p) || links(&p) || processors(&p) || latency(&p)) return st->code;
    return FC_OK;
}

/* Where no fluid knows of the FIFOs: what is said of the links is raised to what nodes take to fill and to empty them. */
static enum fc_code at_least_fifos(const struct phase *p, const struct fc_bulk_point *point,
                                   struct fc_bulk_answer *answer)
{
    double seconds;
    if (fc_bulk_fifos(p->net, p->demand, p->placement, &seconds, p->st)) return p->st->code;
    if (seconds > 0) answer->ratio = fmax(answer->ratio, (seconds + p->parts->fill_s) / point->reference_s);
    return FC_OK;
}

/* The network's time R, less T_fill; its error into the prediction. *asked: a calibration knew the ratio. */
static enum fc_code ask_calibration(const struct phase *p, const struct fc_bulk *bulk, double *links_s, bool *asked,
                                    struct fc_prediction *out)
{
    struct fc_bulk_point point;
    struct fc_bulk_answer answer;
    *links_s = p->parts->links_s;
    *asked = false;
    if (!fc_bulk_tells(bulk)) {
        snprintf(out->why, sizeof out->why, "not calibrated for this network");
        return FC_OK;
    }
    if (!(p->parts->links_s > 0)) {
        snprintf(out->why, sizeof out->why, "no message crosses the network");
        return FC_OK;
    }
    const char *kind = fc_bulk_kind(p->net, p->demand, p->placement, p->load);
    struct fc_bulk_fluid fluid = {0};
    double split;
    bool asks_fluid =
        strcmp(kind, FC_BULK_ALL_TO_ALL) || bulk->n_relatives > 0; /* one's own runs know all-to-all without */
    if (fc_bulk_split(p->net, p->demand, p->placement, p->load, &split, p->st) ||
        (asks_fluid && fc_bulk_fluid(p->net, p->demand, p->placement, p->background, bulk->mixing, &fluid, p->st)) ||
        fc_bulk_locate(p->net, p->demand, p->placement, p->load, p->parts, split, fluid.seconds, &point, p->st) ||
        fc_bulk_ratio(bulk, p->net, kind, &point, &answer, p->st) ||
        (!strcmp(kind, FC_BULK_GRAPH) &&
         fc_bulk_ends(p->net, p->load, p->background, p->parts, &point, &answer, p->st)))
        return p->st->code;
    if (!(fluid.seconds > 0) && at_least_fifos(p, &point, &answer)) return p->st->code;
    bool unnamed = !strcmp(kind, FC_BULK_GRAPH) || !strcmp(kind, FC_BULK_PERMUTATION);
    bool mixes = bulk->mixing > 0 && bulk->mixing < 1;
    if (unnamed && !p->background &&
        fc_bulk_apart(p->net, p->demand, p->placement, p->parts, &point, mixes ? NULL : &fluid, &answer, p->st))
        return p->st->code;
    *links_s = answer.ratio * point.reference_s - p->parts->fill_s;
    snprintf(out->why, sizeof out->why, "%s", answer.why);
    if (p->background && !answer.extrapolated) {
        answer.error_percent *= 2;
        answer.extrapolated = true;
        snprintf(out->why, sizeof out->why, "no run had a background");
    }
    out->extrapolated = answer.extrapolated;
    fc_prediction_error(out, answer.error_percent, bulk->n_relatives ? FC_AGAINST_FAMILY : FC_AGAINST_KERNEL);
    *asked = true;
    return FC_OK;
}

/* The phase waits for the node that computes longest. */
static double slowest(const struct phase *p)
{
    double scale = 0;
    if (!p->net->node_kind) return 1;
    for (uint32_t t = 0; t < p->demand->n_tasks; t++) scale = fmax(scale, fc_node_compute_scale(p->net, node_of(p, t)));
    return scale;
}

static void predict(const struct phase *p, double links_s, bool asked, const struct fc_load_summary *summary,
                    struct fc_prediction *out)
{
    const struct fc_phase_parts *t = p->parts;
    double fill_s = t->fill_s + t->ends_s;
    double least_s = fmax(summary->bound_s, fmax(t->cpu_s, p->net->machine->routing->detours ? t->ends_s : fill_s));
    out->computation_s = p->demand->computation_s * slowest(p);
    out->network_s = t->links_s > 0 ? fmax(links_s + t->fill_s, summary->bound_s) : 0;
    out->communication_s = fmax(links_s + fill_s, t->cpu_s > 0 ? t->cpu_s + fill_s : 0);
    /* A ratio below 1 (or a bound that differs by rounding) does not beat what is proven. */
    if (!asked) least_s = fmin(least_s, out->communication_s);
    out->communication_s = fmax(out->communication_s, least_s);
    out->time_s = out->computation_s + out->communication_s;
    out->bound_s = out->computation_s + least_s;
    out->anywhere_s = out->computation_s + fmax(t->cpu_s, t->ends_s);
    out->percent_of_peak = out->time_s > 0 ? 100 * out->bound_s / out->time_s : 100;
    out->local_bytes = p->load->local_bytes;
    out->network_bytes = p->load->network_bytes;
    bool link_counts = links_s >= t->cpu_s && t->links_s >= fill_s;
    out->binds = link_counts ? "link" : t->cpu_s >= fill_s && t->cpu_s >= links_s ? "software" : "latency";
    if (out->computation_s > out->communication_s) out->binds = "computation";
    out->bottleneck = link_counts ? t->bottleneck : FC_NONE;
    out->bottleneck_bytes = link_counts ? t->bottleneck_bytes : 0;
}

enum fc_code fc_predict_phase(const struct fc_network *net, const struct fc_demand *demand,
                              const struct fc_placement *placement, const struct fc_load *load,
                              const struct fc_load_settings *settings, struct fc_prediction *prediction,
                              struct fc_status *st)
{
    struct fc_phase_parts parts;
    struct fc_load_summary summary;
    struct fc_load_settings how = {.background_bytes_per_s = settings ? settings->background_bytes_per_s : NULL};
    struct phase p = {.net = net,
                      .demand = demand,
                      .placement = placement,
                      .load = load,
                      .parts = &parts,
                      .background = how.background_bytes_per_s,
                      .st = st};
    double links_s;
    bool asked;
    *prediction = (struct fc_prediction){.error_percent = NAN, .waiting_s = NAN, .bottleneck = FC_NONE};
    if (fc_phase_parts(net, demand, placement, load, &how, &parts, st) ||
        ask_calibration(&p, settings ? settings->bulk : NULL, &links_s, &asked, prediction))
        return st->code;
    fc_load_summarise(net, load, &how, &summary);
    predict(&p, links_s, asked, &summary, prediction);
    return FC_OK;
}
