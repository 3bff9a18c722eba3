/* bluegene.c - runs of the Blue Gene/L figures and what is read off them: shares of a link's time, throughput
 * over time, the script of the bubble's deadlock. The flit-level kernel does the work (solvers/flit). Setups,
 * and what of them the paper leaves open: docs/bluegene.md. */
#include "reproduce/bluegene.h"

#include "models/family_torus.h"
#include "solvers/solvers.h"

#include <stdlib.h>

/* ---- runs ---- */

/* The demand's messages, task t on node t, as fast as they go; *bound_s what the links alone would need.
 * FC_NO: not all have arrived. */
static enum fc_code run_messages(const struct fc_bench *b, const struct fc_demand *demand,
                                 const struct fc_flit_settings *settings, struct fc_flit_result *r, double *bound_s,
                                 struct fc_status *st)
{
    FC_SCOPED(fc_load_free) struct fc_load load = {0};
    struct fc_load_settings how = {.threads = 1, .seed = settings->seed};
    struct fc_load_summary summary;
    uint32_t *node = malloc(demand->n_tasks * sizeof *node);
    if (!node) return fc_out_of_memory(st, "a mapping");
    for (uint32_t t = 0; t < demand->n_tasks; t++) node[t] = t;
    struct fc_placement placement = {demand->n_tasks, node};
    if (!fc_load_solve(&b->net, demand, &placement, &how, &load, st)) {
        fc_load_summarise(&b->net, &load, &how, &summary);
        *bound_s = summary.bound_s;
        if (fc_flit_copies(&b->net, demand)) fc_flit_multicast_bound(&b->net, demand, node, bound_s, st);
    }
    if (!st->code) fc_flit_run(&b->net, demand, node, settings, r, st);
    free(node);
    if (!st->code && !r->complete) {
        fc_refuse(st, FC_NO, "%s: not all packets have arrived", demand->name);
        fc_flit_free(r);
    }
    return st->code;
}

enum fc_code fc_bgl_run(const struct fc_bench *b, const char *pattern, const struct fc_flit_settings *settings,
                        struct fc_flit_result *r, double *bound_s, struct fc_status *st)
{
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    *r = (struct fc_flit_result){0};
    if (fc_demand_from_pattern(&b->net, pattern, settings->seed, &demand, st)) return st->code;
    if (demand.open_loop)
        fc_flit_run(&b->net, &demand, NULL, settings, r, st);
    else
        run_messages(b, &demand, settings, r, bound_s, st);
    return st->code;
}

enum fc_code fc_bgl_start(struct fc_bgl *run, const char *edits, const char *pattern,
                          const struct fc_flit_settings *settings, struct fc_status *st)
{
    if (fc_bench_open(&run->bench, "bgl-512", edits, st)) return st->code;
    if (fc_bgl_run(&run->bench, pattern, settings, &run->r, &run->bound_s, st)) fc_bench_close(&run->bench);
    return st->code;
}

void fc_bgl_done(struct fc_bgl *run)
{
    fc_flit_free(&run->r);
    fc_bench_close(&run->bench);
}

struct fc_flit_settings fc_bgl_settings(const struct fc_reproducing *how)
{
    struct fc_flit_settings settings;
    fc_flit_defaults(&settings);
    settings.seed = how->seed;
    settings.progress = how->progress;
    return settings;
}

double fc_bgl_peak_of(const struct fc_reproducing *how, const char *edits, const char *pattern, double gap_cycles,
                      struct fc_status *st)
{
    struct fc_flit_settings settings = fc_bgl_settings(how);
    FC_SCOPED(fc_bgl_done) struct fc_bgl run = {0};
    settings.source_gap_cycles = gap_cycles;
    if (st->code || fc_bgl_start(&run, edits, pattern, &settings, st)) return NAN;
    double percent = fc_bgl_percent_of_peak(&run.r, run.bound_s);
    return percent;
}

/* ---- what is read off a run ---- */

double fc_bgl_percent_of_peak(const struct fc_flit_result *r, double bound_s)
{
    return 100 * bound_s / ((double)r->cycles * r->cycle_s);
}

double fc_bgl_links_into_region(const struct fc_bench *b, const struct fc_flit_result *r, uint32_t side)
{
    const struct fc_torus_shape *s = fc_torus(&b->net);
    double sum = 0, n = 0;
    for (uint32_t l = 0; l < b->net.n_links; l++) {
        uint32_t from = b->net.link_source[l], to = b->net.link_target[l];
        bool from_in = true, to_in = true;
        if (fc_is_node(&b->net, from) || fc_is_node(&b->net, to)) continue;
        for (int d = 0; d < s->n_dims; d++) {
            from_in = from_in && fc_torus_coordinate(s, from, d) < side;
            to_in = to_in && fc_torus_coordinate(s, to, d) < side;
        }
        if (from_in || !to_in) continue;
        sum += r->link_utilization[l];
        n++;
    }
    return 100 * sum / n;
}

double fc_bgl_throughput(const struct fc_flit_result *r, uint32_t i)
{
    return r->intervals[i].flits_per_node_cycle * FC_BGL_CHUNK;
}

double fc_bgl_mean_throughput(const struct fc_flit_result *r, uint32_t from, uint32_t to)
{
    double sum = 0;
    for (uint32_t i = from; i < to; i++) sum += fc_bgl_throughput(r, i);
    return sum / (to - from);
}

double fc_bgl_busy(const struct fc_flit_result *r, uint32_t from, uint32_t to)
{
    double flits = 0;
    for (uint32_t i = from; i < to; i++)
        for (int v = 0; v < r->n_vcs; v++) flits += r->intervals[i].vc_flits_per_link_cycle[v];
    return 100 * flits / (to - from) * FC_BGL_CHUNK * FC_BGL_PACKET_TIME / FC_BGL_PACKET;
}

double fc_bgl_load(double busy)
{
    return busy * FC_BGL_PACKET / FC_BGL_CHUNK / FC_BGL_PACKET_TIME;
}

struct fc_bgl_shape fc_bgl_shape_of(const struct fc_flit_result *r)
{
    uint32_t n = r->n_intervals, top = 0, low;
    struct fc_bgl_shape s = {.start = fc_bgl_throughput(r, 0), .plateau = fc_bgl_mean_throughput(r, n * 2 / 3, n)};
    for (uint32_t i = 0; i < n / 3; i++)
        if (fc_bgl_throughput(r, i) > fc_bgl_throughput(r, top)) top = i;
    s.peak = fc_bgl_throughput(r, top);
    double half = (s.peak + s.plateau) / 2;
    uint32_t i = top;
    while (i + 1 < n && fc_bgl_throughput(r, i) > half) i++;
    double before = i ? fc_bgl_throughput(r, i - 1) : s.peak, here = fc_bgl_throughput(r, i);
    s.decline_cycles = FC_BGL_INTERVAL * (i - (before > here ? (half - here) / (before - here) : 0));
    for (low = top; low + 1 < n && fc_bgl_throughput(r, low + 1) < fc_bgl_throughput(r, low);) low++;
    s.trough = fc_bgl_throughput(r, low);
    for (uint32_t j = low; j < n; j++) {
        double x = fc_bgl_throughput(r, j);
        if (x > s.rise) s.rise = s.second = x;
        if (x < s.second) s.second = x;
        if (s.rise - x > s.fall * s.rise) s.fall = (s.rise - x) / s.rise;
    }
    return s;
}

void fc_bgl_plot_over_time(struct fc_reproduction *f, int style, const char *label, const struct fc_flit_result *r)
{
    if (f->plot.n_series == 0)
        fc_reproduction_axes(f, FC_PAPER_CURVES, "time_kcycles", "time (1000 cycles)", "throughput_B_per_node_cycle",
                             "throughput (bytes/node/cycle)");
    int s = fc_reproduction_series(f, FC_PAPER_LINE, style, "%s", label);
    for (uint32_t i = 0; i < r->n_intervals; i++)
        fc_reproduction_at(f, s, (i + 1) * FC_BGL_INTERVAL / 1e3, fc_bgl_throughput(r, i), NAN);
}

/* ---- the hot region ---- */

const char fc_bgl_quick_hot[] =
    "quick: 12x12x12 with a hot region of 6x6x6 instead of 16x16x16 with 8x8x8; limits twice as wide";

uint32_t fc_bgl_hot_side(const struct fc_reproducing *how)
{
    return how->quick ? 6 : 8;
}

enum fc_code fc_bgl_hot_region(struct fc_bgl *run, const struct fc_reproducing *how, const char *edits,
                               uint32_t intervals, struct fc_status *st)
{
    struct fc_flit_settings settings = fc_bgl_settings(how);
    char all[512];
    settings.backlog = true;
    settings.warmup_cycles = (uint64_t)intervals * 2 / 3 * FC_BGL_INTERVAL;
    settings.measure_cycles = (uint64_t)intervals * FC_BGL_INTERVAL - settings.warmup_cycles;
    settings.interval_cycles = FC_BGL_INTERVAL;
    snprintf(all, sizeof all, "network.dims=%s; %s%s", how->quick ? "[12, 12, 12]" : "[16, 16, 16]", edits,
             FC_BGL_ENDLESS);
    return fc_bgl_start(run, all, "hotregion:fraction=0.25,region=0.125", &settings, st);
}

/* ---- the scripted deadlock ---- */

const char fc_bgl_ring_edits[] =
    "network.dims=[10]; router.delay=600 cycles; router.vcs=1; router.buffer=512 B; router.routing=dimension-order; router.injection_fifos=1";

enum fc_code fc_bgl_ring_run(const struct fc_bench *b, bool as_published, int engine, uint64_t seed,
                             struct fc_flit_result *r, struct fc_status *st)
{
    static const struct {
        int hops, flits;
    } script[2][4] = {{{4, 8}, {-1, 1}, {3, 1}, {0, 0}}, {{-1, 1}, {3, 1}, {-1, 1}, {2, 8}}};
    uint32_t node[FC_BGL_RING], src[4 * FC_BGL_RING], dst[4 * FC_BGL_RING], n = 0;
    double bytes[4 * FC_BGL_RING], messages[4 * FC_BGL_RING];
    for (int t = 0; t < FC_BGL_RING; t++) {
        node[t] = (uint32_t)t;
        for (int i = 0; i < 4 && script[t % 2][i].hops; i++, n++) {
            src[n] = (uint32_t)t;
            dst[n] = (uint32_t)((t + FC_BGL_RING + script[t % 2][i].hops) % FC_BGL_RING);
            bytes[n] = script[t % 2][i].flits * FC_BGL_CHUNK - b->machine.packet.header_bytes;
            messages[n] = 1;
        }
    }
    struct fc_demand demand = {.name = "bubble script",
                               .n_tasks = FC_BGL_RING,
                               .n_entries = n,
                               .src = src,
                               .dst = dst,
                               .bytes = bytes,
                               .messages = messages};
    struct fc_flit_settings settings;
    fc_flit_defaults(&settings);
    settings.engine = engine;
    settings.in_order = true;
    settings.source_gap_cycles = FC_BGL_RING_GAP;
    settings.bubble_as_published = as_published;
    settings.seed = seed;
    *r = (struct fc_flit_result){0};
    return fc_flit_run(&b->net, &demand, node, &settings, r, st);
}
