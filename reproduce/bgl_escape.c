/* bgl_escape.c - Blue Gene/L: escape channels under the hot region, Figures 7 to 9, by the flit-level kernel
 * on 16x16x16: the dateline pair declines in waves, the bubble is steady.
 *
 * Figure 9's unblocking probability, "the fraction of time in which a token-ack is returned that frees at
 * least one previously blocked packet", can be read as a rate, returns that unblock in 1000 cycles of a link,
 * or as the share of all returns. Both are held. */
#include "reproduce/bluegene.h"

enum { FIG7, FIG8, FIG9, N };
#define COMMAND "fabricast flit -m bgl-4k -p hotregion --backlog --warmup 400000 --measure 200000 --interval 10000"
static const struct fc_figure figures[N] = {
    [FIG7] = {"bgl-fig7", "hot region: throughput over time by escape channels", FC_BGL_PAPER ", Figure 7", "bgl-4k",
              COMMAND},
    [FIG8] = {"bgl-fig8", "hot region: throughput by channel, dateline pair", FC_BGL_PAPER ", Figure 8", "bgl-4k",
              COMMAND},
    [FIG9] = {"bgl-fig9", "hot region: returns of tokens that unblock", FC_BGL_PAPER ", Figure 9", "bgl-4k", COMMAND},
};
enum { SETTLED = 10 }; /* intervals: behind the initial decline */

/* Returns that let a blocked packet move: of all returns; or a link and 1000 cycles, one return a full
 * packet. */
static double unblocking(const struct fc_flit_result *r, uint32_t i, bool rate)
{
    double flits = 0;
    for (int v = 0; v < r->n_vcs; v++) flits += r->intervals[i].vc_flits_per_link_cycle[v];
    return r->intervals[i].unblocking_probability * (rate ? 1000 * flits * FC_BGL_CHUNK / FC_BGL_PACKET : 1);
}

/* With the throughput. */
static double correlation(const struct fc_flit_result *r, bool rate)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (uint32_t i = SETTLED; i < r->n_intervals; i++) {
        double a = fc_bgl_throughput(r, i), b = unblocking(r, i, rate);
        n++, x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
    }
    return (n * xy - x * y) / sqrt((n * xx - x * x) * (n * yy - y * y));
}

/* Standard deviation over the intervals, % of the mean. */
static double waver(const struct fc_flit_result *r, bool rate)
{
    double n = 0, x = 0, xx = 0;
    for (uint32_t i = SETTLED; i < r->n_intervals; i++) {
        double a = unblocking(r, i, rate);
        n++, x += a, xx += a * a;
    }
    return 100 * sqrt(fmax(n * xx - x * x, 0)) / x;
}

static void plot_unblocking(struct fc_reproduction *f, int style, const char *label, const struct fc_flit_result *r)
{
    if (f->plot.n_series == 0)
        fc_reproduction_axes(f, FC_PAPER_CURVES, "time_kcycles", "time (1000 cycles)", "unblocking_per_link_kcycle",
                             "returns that unblock (per link and 1000 cycles)");
    int s = fc_reproduction_series(f, FC_PAPER_LINE, style, "%s", label);
    for (uint32_t i = 0; i < r->n_intervals; i++)
        fc_reproduction_at(f, s, (i + 1) * FC_BGL_INTERVAL / 1e3, unblocking(r, i, true), NAN);
}

/* The escape channels are the first, the dynamic ones the last. */
static void plot_channels(struct fc_reproduction *f, const struct fc_machine *m, const struct fc_flit_result *r)
{
    fc_reproduction_axes(f, FC_PAPER_CURVES, "time_kcycles", "time (1000 cycles)", "flits_per_link_cycle",
                         "flits of a channel (per link and cycle)");
    for (int v = 0; v < r->n_vcs; v++) {
        int s = fc_reproduction_series(f, FC_PAPER_LINE, v, "channel %d, %s", v,
                                       v < r->n_vcs - (int)m->router.vcs ? "escape" : "dynamic");
        for (uint32_t i = 0; i < r->n_intervals; i++)
            fc_reproduction_at(f, s, (i + 1) * FC_BGL_INTERVAL / 1e3, r->intervals[i].vc_flits_per_link_cycle[v], NAN);
    }
}

static void judge_pair(struct fc_reproduction *f, const struct fc_flit_result *r)
{
    struct fc_bgl_shape s = fc_bgl_shape_of(r);
    fc_point_limits(fc_bgl_of(&f[FIG7], "%"), -INFINITY, 80, 100 * s.trough / s.peak,
                    "dateline pair: steep decline, of the peak left");
    fc_point_limits(fc_bgl_of(&f[FIG7], "%"), 105, INFINITY, 100 * s.rise / s.trough, "then a rise, of the trough");
    fc_point_limits(fc_bgl_of(&f[FIG7], "%"), -INFINITY, 60, 100 * s.second / s.rise,
                    "then another steep decline, of the rise left");
    fc_point_limits(fc_bgl_of(&f[FIG8], "%"), 10, INFINITY, 100 * r->escape_share,
                    "an appreciable share of the flits on the escape");
    fc_point_limits(fc_bgl_of(&f[FIG9], ""), 0.8, INFINITY, correlation(r, true),
                    "pair: throughput varies directly with the rate of unblocking, correlation");
    fc_point_limits(fc_bgl_of(&f[FIG9], ""), 0.8, INFINITY, correlation(r, false),
                    "pair: throughput varies directly with the share of returns that unblock");
    fc_point_reason(&f[FIG9],
                    "the share stays between 0.11 and 0.15 while the throughput falls to a fifth; a rate contains the "
                    "throughput; what the paper's simulator counted is not printed");
    fc_point_shown(fc_bgl_of(&f[FIG9], "%"), NAN, waver(r, true), "pair: the rate of unblocking wavers by");
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *f, struct fc_status *st)
{
    static const struct {
        const char *label, *edits;
        uint32_t intervals;
    } runs[] = {{"dateline pair, dimension order", "router.arbitration=random; router.escape=dateline", 60},
                {"dateline pair, direction order", "router.arbitration=random; router.escape=direction-ordered", 40},
                {"bubble", "router.arbitration=random; router.escape=bubble", 40}};
    for (int i = 0; i < 3; i++) {
        FC_SCOPED(fc_bgl_done) struct fc_bgl run = {0};
        if (how->quick && i == 1) continue; /* for information */
        fc_reproducing_step(how, i, 3);
        if (fc_bgl_hot_region(&run, how, runs[i].edits, runs[i].intervals, st)) return st->code;
        fc_bgl_plot_over_time(&f[FIG7], i, runs[i].label, &run.r);
        if (i != 1) plot_unblocking(&f[FIG9], i, runs[i].label, &run.r);
        if (i == 0) {
            plot_channels(&f[FIG8], &run.bench.machine, &run.r);
            judge_pair(f, &run.r);
        }
        if (i == 1)
            fc_point_shown(fc_bgl_of(&f[FIG7], "%"), NAN, 100 * fc_bgl_shape_of(&run.r).fall,
                           "direction order: greatest fall behind the first trough");
        if (i == 2) {
            fc_point_limits(fc_bgl_of(&f[FIG7], "%"), -INFINITY, how->quick ? 16 : 8,
                            100 * fc_bgl_shape_of(&run.r).fall, "bubble steady: greatest fall behind the first trough");
            fc_point_limits(fc_bgl_of(&f[FIG9], "%"), -INFINITY, how->quick ? 20 : 10, waver(&run.r, true),
                            "bubble: unblocking relatively constant, wavers by");
        }
    }
    for (int i = 0; i < N && how->quick; i++) fc_reproduction_note(&f[i], fc_bgl_quick_hot);
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_bgl_escape = {figures, N, 12, 50, make};
