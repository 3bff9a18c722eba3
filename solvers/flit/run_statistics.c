/* run_statistics.c - from integer counts to the figures of a run.
 *
 * Latency: mean over packets; 95 % half width by batch means (Law & Kelton, Simulation Modeling and Analysis,
 * section 9.5.3): batches by time of birth, ratio estimator sum(ticks) / sum(packets) because batches differ
 * in packets (Cochran, Sampling Techniques, chapter 6), Student's t. Batches are joined in pairs while one is
 * empty or the correlation of neighbours exceeds 0.2, down to 8. Percentiles: log-linear histogram
 * (counts.h), exact below 64 ticks, else linear within a bucket 1/32 to 1/64 wide. Utilisation: flit and
 * trailer times of the flits that a link sent over the window. Fairness: packets injected in the window by
 * each sending node, extremes over the mean, and Jain's index (sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe, DEC
 * TR-301, 1984). */
#include "solvers/flit/run.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

/* ---- batches --------------------------------------------------------------------------------------------- */

static double lag1_correlation(const double *packets, const double *ticks, int n, double mean)
{
    double all = 0, next = 0;
    for (int i = 0; i < n; i++) {
        double deviation = ticks[i] - mean * packets[i];
        all += deviation * deviation;
        if (i) next += deviation * (ticks[i - 1] - mean * packets[i - 1]);
    }
    return all > 0 ? next / all : 0;
}

struct fc_flit_mean fc_flit_batch_mean(const struct fc_flit_counts *counts, int n)
{
    double packets[FC_FLIT_MOST_BATCHES], ticks[FC_FLIT_MOST_BATCHES], all_packets = 0, all_ticks = 0;
    for (int i = 0; i < n; i++) {
        all_packets += packets[i] = (double)counts->batch_packets[i];
        all_ticks += ticks[i] = (double)counts->batch_ticks[i];
    }
    struct fc_flit_mean m = {all_packets > 0 ? all_ticks / all_packets : NAN, NAN, n};
    if (all_packets < 2 || n < 2) return m;
    for (;;) {
        bool empty = false;
        for (int i = 0; i < m.batches; i++) empty = empty || packets[i] == 0;
        if (m.batches < 16 && !(empty && m.batches >= 4)) break;
        if (!empty && lag1_correlation(packets, ticks, m.batches, m.mean) <= 0.2) break;
        int half = m.batches / 2, odd = m.batches % 2; /* an odd last batch goes to the one before it */
        for (int i = 0; i < half; i++) {
            packets[i] = packets[2 * i] + packets[2 * i + 1];
            ticks[i] = ticks[2 * i] + ticks[2 * i + 1];
        }
        if (odd) {
            packets[half - 1] += packets[2 * half];
            ticks[half - 1] += ticks[2 * half];
        }
        m.batches = half;
    }
    double squares = 0, size = all_packets / m.batches;
    for (int i = 0; i < m.batches; i++) squares += pow((ticks[i] - m.mean * packets[i]) / size, 2);
    double error = sqrt(squares / (m.batches - 1) / m.batches);
    m.half_width = gsl_cdf_tdist_Pinv(0.975, m.batches - 1) * error;
    return m;
}

struct fc_flit_trend fc_flit_latency_trend(const struct fc_flit_counts *counts, int n)
{
    enum { GROUPS = 8 };
    double mean[GROUPS], x_mean = (GROUPS - 1) / 2.0, y_mean = 0, xx = 0, xy = 0, rest = 0;
    for (int g = 0; g < GROUPS; g++) {
        double packets = 0, ticks = 0;
        for (int i = g * n / GROUPS; i < (g + 1) * n / GROUPS; i++) {
            packets += (double)counts->batch_packets[i];
            ticks += (double)counts->batch_ticks[i];
        }
        if (packets == 0) return (struct fc_flit_trend){0, INFINITY, 0}; /* too few packets to tell */
        mean[g] = ticks / packets;
        y_mean += mean[g] / GROUPS;
    }
    for (int g = 0; g < GROUPS; g++) {
        xx += (g - x_mean) * (g - x_mean);
        xy += (g - x_mean) * (mean[g] - y_mean);
    }
    double slope = xy / xx;
    for (int g = 0; g < GROUPS; g++) rest += pow(mean[g] - y_mean - slope * (g - x_mean), 2);
    double error = sqrt(rest / (GROUPS - 2) / xx);
    double window = y_mean > 0 ? GROUPS / y_mean * (double)counts->batches / n : 0;
    return (struct fc_flit_trend){slope * window, error * window, error > 0 ? slope / error : slope > 0 ? INFINITY : 0};
}

void fc_flit_join_batches(struct fc_flit_counts *counts)
{
    for (int i = 0; i < FC_FLIT_MOST_BATCHES; i++) {
        int from = 2 * i;
        bool old = from < FC_FLIT_MOST_BATCHES;
        counts->batch_packets[i] = old ? counts->batch_packets[from] + counts->batch_packets[from + 1] : 0;
        counts->batch_ticks[i] = old ? counts->batch_ticks[from] + counts->batch_ticks[from + 1] : 0;
    }
}

void fc_flit_double_window(struct fc_flit_counts *counts)
{
    counts->measure_to += counts->measure_to - counts->measure_from;
    fc_flit_join_batches(counts);
}

void fc_flit_restart_window(struct fc_flit_counts *counts, uint64_t from, uint64_t to)
{
    counts->measure_from = from;
    counts->measure_to = to;
    counts->batches = FC_FLIT_BATCHES;
    counts->measured_started = counts->measured_delivered = 0;
    counts->latency_ticks = counts->network_ticks = counts->hops = counts->latency_max_ticks = 0;
    counts->window_flits_delivered = counts->window_background_flits = 0;
    memset(counts->batch_packets, 0, sizeof counts->batch_packets);
    memset(counts->batch_ticks, 0, sizeof counts->batch_ticks);
    memset(counts->histogram, 0, sizeof counts->histogram);
    memset(&counts->apart, 0, sizeof counts->apart);
    memset(counts->occupancy_flit_ticks, 0, sizeof counts->occupancy_flit_ticks);
}

/* ---- percentiles ----------------------------------------------------------------------------------------- */

void fc_flit_bucket_range(uint32_t bucket, uint64_t *low, uint64_t *end)
{
    if (bucket < 64) {
        *low = bucket;
        *end = (uint64_t)bucket + 1;
        return;
    }
    int shift = (int)(bucket / 32) - 1;
    *low = ((uint64_t)(bucket % 32) + 32) << shift;
    *end = *low + (UINT64_C(1) << shift);
}

double fc_flit_percentile(const struct fc_flit_counts *counts, double p)
{
    uint64_t all = 0, before = 0;
    for (uint32_t b = 0; b < FC_FLIT_BUCKETS; b++) all += counts->histogram[b];
    if (all == 0) return NAN;
    double rank = fmax(ceil(p * (double)all - 1e-9), 1); /* of the packet asked for, from 1 */
    for (uint32_t b = 0; b < FC_FLIT_BUCKETS; b++) {
        uint64_t here = counts->histogram[b], low, end;
        if ((double)(before + here) < rank) {
            before += here;
            continue;
        }
        fc_flit_bucket_range(b, &low, &end);
        if (end > counts->latency_max_ticks + 1) end = counts->latency_max_ticks + 1;
        double inside = (rank - (double)before - 0.5) / (double)here * (double)(end - low - 1);
        return (double)low + (end - low > 1 ? inside : 0);
    }
    return (double)counts->latency_max_ticks;
}

/* ---- the result ------------------------------------------------------------------------------------------ */

static void fill_latency(const struct fc_flit_net *flit, const struct fc_flit_counts *total, struct fc_flit_result *r)
{
    double cycles = 1 / flit->ticks_per_cycle, packets = (double)total->measured_delivered;
    struct fc_flit_mean mean = fc_flit_batch_mean(total, (int)total->batches);
    bool none = total->measured_delivered == 0;
    r->measured_packets = total->measured_delivered;
    r->latency_mean_cycles = none ? NAN : (double)total->latency_ticks / packets * cycles;
    r->latency_half_width_cycles = mean.half_width * cycles;
    r->latency_p50_cycles = fc_flit_percentile(total, 0.50) * cycles;
    r->latency_p95_cycles = fc_flit_percentile(total, 0.95) * cycles;
    r->latency_p99_cycles = fc_flit_percentile(total, 0.99) * cycles;
    r->latency_max_cycles = none ? NAN : (double)total->latency_max_ticks * cycles;
    r->network_latency_mean_cycles = none ? NAN : (double)total->network_ticks / packets * cycles;
    r->hops_mean = none ? NAN : (double)total->hops / packets;
}

static void fill_part(const struct fc_flit_net *flit, const struct fc_flit_apart_counts *apart, struct fc_flit_part *to)
{
    double cycles = 1 / flit->ticks_per_cycle, packets = (double)apart->delivered;
    struct fc_flit_counts alone = {.latency_max_ticks = apart->latency_max_ticks};
    memcpy(alone.histogram, apart->histogram, sizeof apart->histogram);
    *to = (struct fc_flit_part){.packets = apart->delivered, .accepted_flits_per_node_cycle = NAN};
    to->latency_mean_cycles = packets > 0 ? (double)apart->latency_ticks / packets * cycles : NAN;
    to->network_latency_mean_cycles = packets > 0 ? (double)apart->network_ticks / packets * cycles : NAN;
    to->latency_p50_cycles = fc_flit_percentile(&alone, 0.50) * cycles;
    to->latency_p95_cycles = fc_flit_percentile(&alone, 0.95) * cycles;
    to->latency_p99_cycles = fc_flit_percentile(&alone, 0.99) * cycles;
    to->latency_max_cycles = packets > 0 ? (double)apart->latency_max_ticks * cycles : NAN;
}

static void fill_high_priority(const struct fc_flit_net *flit, const struct fc_flit_counts *total, double share,
                               struct fc_flit_result *r)
{
    struct fc_flit_part *to = &r->high_priority;
    double others = (double)(total->measured_delivered - total->apart.delivered);
    fill_part(flit, &total->apart, to);
    to->share = share;
    to->others_latency_mean_cycles =
        others > 0 ? (double)(total->latency_ticks - total->apart.latency_ticks) / others / flit->ticks_per_cycle : NAN;
}

static void fill_background(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic,
                            const struct fc_flit_counts *total, double window_cycles, struct fc_flit_result *r)
{
    struct fc_flit_part *to = &r->background;
    double offered = traffic->background->offered;
    fill_part(flit, &total->apart, to);
    to->share = offered / (offered + traffic->offered);
    to->accepted_flits_per_node_cycle =
        window_cycles > 0 ? (double)total->window_background_flits / flit->n_nodes / window_cycles : NAN;
    to->others_latency_mean_cycles = r->latency_mean_cycles;
}

static enum fc_code fill_links(const struct fc_flit_net *flit, const struct fc_flit_measured *m,
                               struct fc_flit_result *r, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    r->link_utilization = fc_alloc(&r->arena, flit->n_links, sizeof(double), st);
    if (!r->link_utilization) return st->code;
    r->n_classes = net->machine->n_classes;
    for (int c = 0; c < r->n_classes; c++) r->classes[c] = (struct fc_flit_class){.busiest = FC_NONE};
    for (uint32_t l = 0; l < flit->n_links; l++) {
        int c = net->link_class[l];
        struct fc_flit_class *class = &r->classes[c];
        double busy =
            (double)m->link_flits[l] * flit->flit_ticks[c] + (double)m->link_packets[l] * flit->trailer_ticks[c];
        double share = flit->flit_ticks[c] && m->window_ticks ? busy / (double)m->window_ticks : NAN;
        r->link_utilization[l] = share;
        class->links++;
        class->mean_utilization += share;
        if (share > class->max_utilization || (class->busiest == FC_NONE && share == 0)) {
            class->max_utilization = share;
            class->busiest = l;
        }
    }
    for (int c = 0; c < r->n_classes; c++) {
        struct fc_flit_class *class = &r->classes[c];
        class->mean_utilization = class->links ? class->mean_utilization / (double)class->links : NAN;
        if (isnan(class->mean_utilization)) class->max_utilization = NAN;
    }
    return FC_OK;
}

static void fill_buffers(const struct fc_flit_net *flit, const struct fc_flit_measured *m, struct fc_flit_result *r)
{
    uint64_t channels = 0; /* of one number: links between routers */
    for (uint32_t l = 0; l < flit->n_links; l++)
        channels +=
            !fc_is_node(flit->net, flit->net->link_source[l]) && !fc_is_node(flit->net, flit->net->link_target[l]);
    r->n_vcs = flit->n_network_vcs;
    for (int v = 0; v < FC_FLIT_MOST_VCS; v++)
        r->vc_occupancy_flits[v] =
            v < flit->n_network_vcs && channels && m->window_ticks
                ? (double)m->total->occupancy_flit_ticks[v] / (double)m->window_ticks / (double)channels
                : NAN;
    bool beside = flit->adaptive && flit->n_escape_vcs > 0 && flit->n_escape_vcs < flit->n_network_vcs;
    r->escape_share =
        beside && m->total->flit_hops ? (double)m->total->escape_flit_hops / (double)m->total->flit_hops : NAN;
}

static void fill_fairness(const struct fc_flit_traffic *traffic, const uint32_t *injected, struct fc_flit_result *r)
{
    double sum = 0, squares = 0, least = INFINITY, most = 0, n = 0;
    for (uint32_t s = 0; s < traffic->n_nodes; s++) {
        bool others = traffic->background && traffic->open.background_below[s] == UINT64_MAX; /* only theirs */
        if (others || !fc_flit_sends(traffic, s)) continue;
        double x = injected[s];
        n++;
        sum += x;
        squares += x * x;
        least = fmin(least, x);
        most = fmax(most, x);
    }
    r->fairness_min = sum > 0 ? least / (sum / n) : NAN;
    r->fairness_max = sum > 0 ? most / (sum / n) : NAN;
    r->fairness_jain = sum > 0 ? sum * sum / (n * squares) : NAN;
}

/* Only intervals that the run covered whole. */
static enum fc_code fill_intervals(const struct fc_flit_net *flit, const struct fc_flit_counts *total,
                                   uint64_t run_ticks, struct fc_flit_result *r, struct fc_status *st)
{
    if (!total->interval_ticks) return FC_OK;
    uint64_t whole = run_ticks / total->interval_ticks;
    r->n_intervals = whole < total->n_intervals ? (uint32_t)whole : total->n_intervals;
    r->intervals = fc_alloc(&r->arena, r->n_intervals, sizeof *r->intervals, st);
    if (!r->intervals) return st->code;
    double cycles = (double)total->interval_ticks / flit->ticks_per_cycle, links = 0;
    for (uint32_t l = 0; l < flit->n_links; l++)
        links += !fc_is_node(flit->net, flit->net->link_source[l]) && !fc_is_node(flit->net, flit->net->link_target[l]);
    for (uint32_t i = 0; i < r->n_intervals; i++) {
        struct fc_flit_interval *to = &r->intervals[i];
        to->flits_per_node_cycle = (double)total->interval_flits[i] / flit->n_nodes / cycles;
        for (int v = 0; v < flit->n_network_vcs; v++)
            to->vc_flits_per_link_cycle[v] = links > 0 ? (double)total->interval_vc_flits[i][v] / links / cycles : NAN;
        to->unblocking_probability = total->interval_returns[i]
                                         ? (double)total->interval_unblocked[i] / (double)total->interval_returns[i]
                                         : NAN;
    }
    return FC_OK;
}

enum fc_code fc_flit_fill_result(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic,
                                 const struct fc_flit_measured *measured, struct fc_flit_result *result,
                                 struct fc_status *st)
{
    const struct fc_flit_counts *total = measured->total;
    double window_cycles = (double)measured->window_ticks / flit->ticks_per_cycle;
    result->vc_rule = flit->vc_rule ? fc_copy_text(&result->arena, flit->vc_rule, st) : "";
    if (!result->vc_rule) return st->code;
    result->cycle_s = flit->cycle_s;
    result->measure_cycles = window_cycles;
    result->offered_flits_per_node_cycle = traffic->open_loop && !traffic->backlog ? traffic->offered : NAN;
    double own_flits = fmax(0, (double)total->window_flits_delivered - (double)total->window_background_flits);
    result->accepted_flits_per_node_cycle = window_cycles > 0 ? own_flits / flit->n_nodes / window_cycles : NAN;
    result->packets_injected = total->packets_injected;
    result->packets_delivered = total->packets_delivered;
    result->flits_injected = total->flits_injected;
    result->flits_delivered = total->flits_delivered;
    result->flit_hops = total->flit_hops;
    result->multicast = flit->multicast ? flit->multicast->name : "";
    result->packets_copied = total->packets_copied;
    result->flits_copied = total->flits_copied;
    fill_latency(flit, total, result);
    fill_buffers(flit, measured, result);
    if (traffic->background) fill_background(flit, traffic, total, window_cycles, result);
    if (traffic->high_share > 0) fill_high_priority(flit, total, traffic->high_share, result);
    fill_fairness(traffic, measured->injected, result);
    if (fill_links(flit, measured, result, st)) return st->code;
    return fill_intervals(flit, total, measured->run_ticks, result, st);
}
