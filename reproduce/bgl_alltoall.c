/* bgl_alltoall.c - Blue Gene/L: all-to-all on 8x8x8 and 4x4x2, Figures 6 and 11, by the flit-level kernel.
 *
 * Figure 11's shortest message, one 32 B packet a pair, is software bound: 71 % of 23,551 cycles for 511
 * packets of 46 byte times and 6.01 hops over 6 links are 65 network cycles, 260 of the processor, a packet;
 * inferred from that point. Figure 6's torus is not given; 8x8x8 stands for it. */
#include "reproduce/bluegene.h"

#define SOFTWARE_GAP 65
enum { FIG6, FIG11, N };
static const struct fc_figure figures[N] = {
    [FIG6] = {"bgl-fig6", "all-to-all: links busy, by routing and channels", FC_BGL_PAPER ", Figure 6", "bgl-512",
              "fabricast flit -m bgl-512 -p alltoall:bytes=7200 --interval 10000"},
    [FIG11] = {"bgl-fig11", "all-to-all: percent of peak by message size", FC_BGL_PAPER ", Figure 11", "bgl-512",
               "fabricast flit -m bgl-512 -p alltoall:bytes=2400"},
};

/* Thirty packets a pair (quick: ten): links in mid-run, and percent of peak of the whole run. */
static enum fc_code long_messages(const struct fc_reproducing *how, struct fc_reproduction *r, double *busy,
                                  double *percent, struct fc_status *st)
{
    struct fc_flit_settings settings = fc_bgl_settings(how);
    FC_SCOPED(fc_bgl_done) struct fc_bgl run = {0};
    settings.interval_cycles = FC_BGL_INTERVAL;
    if (fc_bgl_start(&run, FC_BGL_ENDLESS, how->quick ? "alltoall:bytes=2400" : "alltoall:bytes=7200", &settings, st))
        return st->code;
    uint32_t n = run.r.n_intervals;
    *busy = fc_bgl_busy(&run.r, n / 4, 3 * n / 4);
    *percent = fc_bgl_percent_of_peak(&run.r, run.bound_s);
    fc_point_percent(fc_of(&r[FIG6], FC_POINT_CLOSED_FORM, FC_POINT_STATED, "%"), 87,
                     100 * 240 / FC_BGL_PACKET_TIME * 0.98, 0.2, "98 %% of the links busy: payload");
    fc_point_width(fc_bgl_of(&r[FIG6], "%"), 98, *busy, how->quick ? 3 : 1.5,
                   "8x8x8, %d packets a pair: links busy in mid-run", how->quick ? 10 : 30);
    fc_point_limits(fc_bgl_of(&r[FIG6], "%"), 0, 1, 100 * run.r.escape_share,
                    "very little of it on the escape channel");
    return FC_OK;
}

static enum fc_code routings(const struct fc_reproducing *how, struct fc_reproduction *r, double busy,
                             struct fc_status *st)
{
    static const struct {
        const char *name, *edits;
    } kinds[] = {{"deterministic", "router.vcs=1; router.routing=dimension-order" FC_BGL_ENDLESS},
                 {"dynamic, 1 VC", "router.vcs=1" FC_BGL_ENDLESS},
                 {"dynamic, 2 VCs", FC_BGL_ENDLESS}};
    double percent[3];
    fc_reproduction_axes(r, FC_PAPER_BARS, "routing", "routing and dynamic channels", "percent_of_peak",
                         "all-to-all: percent of peak, links busy");
    r->plot.y_most = 105;
    int whole = fc_reproduction_series(r, FC_PAPER_OURS, 0, "ours: 4 packets a pair, whole run"),
        mid = fc_reproduction_series(r, FC_PAPER_OURS, 1, "ours: links in mid-run, long messages"),
        published = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 1, "published: links in mid-run");
    for (int i = 0; i < 3; i++) {
        percent[i] = fc_bgl_peak_of(how, kinds[i].edits, "alltoall:bytes=960", 0, st);
        fc_reproduction_category(r, kinds[i].name);
        fc_reproduction_at(r, whole, i, percent[i], NAN);
    }
    fc_reproduction_at(r, mid, 2, busy, NAN);
    fc_reproduction_at(r, published, 2, 98, NAN);
    fc_point_limits(fc_bgl_of(r, "%"), 5, INFINITY, percent[1] - percent[0],
                    "dynamic above deterministic routing, points of peak");
    fc_point_limits(fc_bgl_of(r, "%"), -1, 5, percent[2] - percent[1],
                    "a second dynamic channel is marginal, points of peak");
    return st->code;
}

/* bytes a pair; full packets carry 240 */
static double peak(const struct fc_reproducing *how, const char *dims, double bytes, struct fc_status *st)
{
    char edits[160], pattern[48];
    snprintf(edits, sizeof edits, "%s%s", dims, FC_BGL_ENDLESS);
    snprintf(pattern, sizeof pattern, "alltoall:bytes=%.0f", bytes);
    return fc_bgl_peak_of(how, edits, pattern, bytes < 240 ? SOFTWARE_GAP : 0, st);
}

static void judge_11(const struct fc_reproducing *how, struct fc_reproduction *r, const double *whole, double longest)
{
    fc_point_width(fc_of(r, FC_POINT_TIMING, FC_POINT_INFERRED, "%"), 71, whole[0], 3,
                   "8x8x8, one 32 B packet a pair, 65 cycles of software each");
    fc_point_width(fc_bgl_of(r, "%"), 96, whole[4], 2, "8x8x8, 10 full packets a pair (their simulator: 94)");
    if (how->quick) return;
    fc_point_limits(fc_bgl_of(r, "%"), 98 - 1, INFINITY, longest, "8x8x8, long messages: above 98, one point");
}

static enum fc_code sizes(const struct fc_reproducing *how, struct fc_reproduction *r, double longest,
                          struct fc_status *st)
{
    static const double bytes[] = {16, 112, 240, 960, 2400, 7200};
    double whole[FC_COUNT(bytes)];
    fc_reproduction_axes(r, FC_PAPER_CURVES, "payload_bytes", "payload between each pair of nodes (bytes)",
                         "percent_of_peak", "percent of peak");
    r->plot.log_x = true;
    int p = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 0, "published, 8x8x8"),
        large = fc_reproduction_series(r, FC_PAPER_OURS, 0, "ours, 8x8x8"),
        small = fc_reproduction_series(r, FC_PAPER_OURS, 1, "ours, 4x4x2");
    fc_reproduction_at(r, p, 16, 71, NAN);
    fc_reproduction_at(r, p, 2400, 96, NAN);
    if (!how->quick) fc_reproduction_at(r, p, 7200, 98, NAN);
    for (size_t i = 0; i < FC_COUNT(bytes); i++) {
        fc_reproducing_step(how, 4 + (int)i, 4 + (int)FC_COUNT(bytes));
        bool ran = bytes[i] == (how->quick ? 2400 : 7200), left_out = how->quick && bytes[i] > 2400;
        whole[i] = ran ? longest : left_out ? (double)NAN : peak(how, "", bytes[i], st);
        fc_reproduction_at(r, large, bytes[i], whole[i], NAN);
        double other = left_out ? (double)NAN : peak(how, "network.dims=[4, 4, 2]", bytes[i], st);
        fc_reproduction_at(r, small, bytes[i], other, NAN);
        if (bytes[i] == 2400) fc_point_shown(fc_bgl_of(r, "%"), NAN, other, "4x4x2, 10 full packets a pair");
    }
    judge_11(how, r, whole, longest);
    fc_point_shown(fc_bgl_of(r, "%"), NAN, peak(how, "network.dims=[4, 4, 4]", 2400, st),
                   "4x4x4 (VHDL test), 10 full packets a pair");
    fc_point_shown(fc_bgl_of(r, "%"), NAN, peak(how, "network.dims=[8, 8, 1]", 2400, st),
                   "8x8x1 (VHDL test), 10 full packets a pair");
    return st->code;
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    double busy, longest;
    fc_reproducing_step(how, 0, 2);
    if (long_messages(how, r, &busy, &longest, st)) return st->code;
    if (routings(how, &r[FIG6], busy, st)) return st->code;
    if (how->quick) {
        fc_reproduction_note(&r[FIG6], "quick: 10 packets a pair instead of 30, limit twice as wide");
        fc_reproduction_note(&r[FIG11], "quick: without the longest messages (30 packets a pair)");
    }
    return sizes(how, &r[FIG11], longest, st);
}

const struct fc_reproduction_ops fc_reproduction_bgl_alltoall = {figures, N, 27, 60, make};
