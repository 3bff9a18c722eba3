/* bgl_text.c - Blue Gene/L: what the text states beside the figures: rates, the links' bounds, hot spots,
 * broadcasts, the asymmetric all-to-all, the deadlock of the bubble. Closed forms and the flit-level kernel;
 * docs/bluegene.md. */
#include "reproduce/bluegene.h"

#include "solvers/solvers.h"

/* ---- rates, bounds, hot spots, broadcasts, deadlock ---- */

enum { TEXT, SPOTS, N };
static const struct fc_figure figures[N] = {
    [TEXT] = {"bgl-text", "rates, bounds, broadcasts and the bubble of the text", FC_BGL_PAPER ", text", "bgl-512",
              "fabricast load -m bgl-64k -p alltoall:bytes=2400"},
    [SPOTS] = {"bgl-hotspot", "hot spots: percent of the links' bound", FC_BGL_PAPER ", text", "bgl-512",
               "fabricast flit -m bgl-512 -p hotspot:size=1x1x1,bytes=2400"},
};

/* 64x32x32: the longest dimension's links are the bound, and the shortest ones' share of it is what is idle.
 */
static enum fc_code bounds(struct fc_reproduction *r, uint64_t seed, struct fc_status *st)
{
    FC_SCOPED(fc_bench_close) struct fc_bench b = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    FC_SCOPED(fc_load_free) struct fc_load load = {0};
    struct fc_load_settings settings = {.threads = 1, .seed = seed};
    struct fc_load_summary s;
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    if (fc_bench_open(&b, "bgl-64k", NULL, st)) return st->code;
    uint32_t *node = fc_alloc(&arena, b.net.n_nodes, sizeof *node, st);
    for (uint32_t t = 0; node && t < b.net.n_nodes; t++) node[t] = t;
    const struct fc_machine *m = &b.machine;
    double link = m->classes[0].bandwidth_bytes_per_s, nodes = b.net.n_nodes;
    fc_point_percent(fc_of(r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "MB/s"), 175, link / 1e6, 0, "link, 1.4 Gb/s");
    fc_point_percent(fc_of(r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "GB/s"), 1.05, 6 * link / 1e9, 1e-6,
                     "a node's six links, each way");
    fc_point_percent(fc_of(r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "B"), FC_BGL_PACKET_TIME, fc_wire_bytes(m, 240), 0,
                     "byte times of a full packet of 240 bytes of payload");
    if (node && !fc_demand_from_pattern(&b.net, "alltoall:bytes=2400", seed, &demand, st)) {
        struct fc_placement all = {demand.n_tasks, node};
        if (!fc_load_solve(&b.net, &demand, &all, &settings, &load, st)) {
            fc_load_summarise(&b.net, &load, &settings, &s);
            double busy = 100 * load.hop_bytes * load.wire_factor / (6 * nodes * link * s.bound_s);
            fc_point_percent(fc_of(r, FC_POINT_BOUND, FC_POINT_PREDICTED, "%"), 66.7, busy, 0.1,
                             "64x32x32 all-to-all: most that links can be busy");
            fc_point_percent(fc_of(r, FC_POINT_BOUND, FC_POINT_PREDICTED, "%"), 59, busy * 240 / FC_BGL_PACKET_TIME, 1,
                             "64x32x32 all-to-all: payload, of the links");
        }
    }
    return st->code;
}

/* Measured on the hardware, with software that sends "the different colors in different directions": a FIFO a
 * direction, of the shipped depth. */
static void broadcasts(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    struct fc_point_of percent = fc_bgl_of(r, "%");
    double line = fc_bgl_peak_of(how, FC_BGL_DIRECTION,
                                 how->quick ? "line-broadcast:bytes=256KiB" : "line-broadcast:bytes=1MiB", 0, st),
           plane = fc_bgl_peak_of(how, FC_BGL_DIRECTION,
                                  how->quick ? "plane-broadcast:bytes=256KiB" : "plane-broadcast:bytes=1MiB", 0, st);
    fc_point_limits(percent, 99, INFINITY, line, "line broadcast on 8x8x8: of peak");
    fc_point_limits(percent, 96, INFINITY, plane, "plane broadcast on 8x8x8: of peak");
    fc_point_percent(fc_of(r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "MB/s"), 585, 4 * 175 * 0.87 * 0.96, 1,
                     "plane broadcast with two cores: 4 links, 87 %% payload, 96 %%");
}

static enum fc_code bubble(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    struct fc_flit_result published, corrected;
    FC_SCOPED(fc_bench_close) struct fc_bench b = {0};
    if (fc_bench_open(&b, "bgl-512", fc_bgl_ring_edits, st)) return st->code;
    if (!fc_bgl_ring_run(&b, true, FC_ENGINE_AUTO, how->seed, &published, st)) {
        fc_point_limits(fc_bgl_of(r, ""), 1, 1, published.deadlock,
                        "bubble, tokens by true length: a script of 35 packets deadlocks");
        fc_flit_free(&published);
        if (!fc_bgl_ring_run(&b, false, FC_ENGINE_AUTO, how->seed, &corrected, st)) {
            fc_point_limits(fc_bgl_of(r, ""), 1, 1, corrected.complete && corrected.credits_full,
                            "bubble, each packet counted as full size: the same script ends");
            fc_flit_free(&corrected);
        }
    }
    return st->code;
}

static void hot_spots(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    static const struct {
        const char *name, *pattern, *longer;
        int packets;
        double published;
    } spots[] = {{"1x1x1", "hotspot:size=1x1x1,bytes=2400", "hotspot:size=1x1x1,bytes=24000", 100, 92},
                 {"2x2x2", "hotspot:size=2x2x2,bytes=2400", "hotspot:size=2x2x2,bytes=12000", 50, 95},
                 {"4x4x4", "hotspot:size=4x4x4,bytes=2400", "hotspot:size=4x4x4,bytes=4800", 20, 95}};
    struct fc_point_of percent = fc_bgl_of(r, "%");
    fc_reproduction_axes(r, FC_PAPER_BARS, "region", "receiving region of 8x8x8", "percent_of_bound",
                         "percent of the bound by links into the region");
    r->plot.y_most = 105;
    int p = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 0, "published"),
        o = fc_reproduction_series(r, FC_PAPER_OURS, 0, "ours, 10 packets a sender"),
        l = fc_reproduction_series(r, FC_PAPER_OURS, 1, "ours, 100, 50, 20 packets");
    for (size_t i = 0; i < FC_COUNT(spots); i++) {
        double ours = fc_bgl_peak_of(how, FC_BGL_ENDLESS, spots[i].pattern, 0, st);
        fc_reproduction_category(r, spots[i].name);
        fc_point_width(percent, spots[i].published, ours, 3, "%s receives 10 packets from each node outside",
                       spots[i].name);
        fc_reproduction_at(r, p, (double)i, spots[i].published, NAN);
        fc_reproduction_at(r, o, (double)i, ours, NAN);
        if (how->quick) continue;
        double longer = fc_bgl_peak_of(how, FC_BGL_ENDLESS, spots[i].longer, 0, st);
        fc_point_shown(percent, spots[i].published, longer, "%s, %d packets", spots[i].name, spots[i].packets);
        fc_reproduction_at(r, l, (double)i, longer, NAN);
    }
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    if (bounds(&r[TEXT], how->seed, st) || bubble(how, &r[TEXT], st)) return st->code;
    fc_reproducing_step(how, 1, 3);
    broadcasts(how, &r[TEXT], st);
    fc_reproducing_step(how, 2, 3);
    hot_spots(how, &r[SPOTS], st);
    if (how->quick) fc_reproduction_note(&r[TEXT], "quick: broadcasts of 256 KiB instead of 1 MiB");
    if (how->quick) fc_reproduction_note(&r[SPOTS], "quick: without the longer messages");
    return st->code;
}

const struct fc_reproduction_ops fc_reproduction_bgl_text = {figures, N, 4, 12, make};

/* ---- the asymmetric all-to-all ---- */

static const struct fc_figure asymmetric[] = {
    {"bgl-asymmetric", "all-to-all on 32x16x16: links busy over time", FC_BGL_PAPER ", text", "bgl-512",
     "fabricast flit -m bgl-64k -p uniform --backlog --warmup 200000 --measure 400000"}};

/* The published figure is a mean over a whole all-to-all, from the empty network on; ours over the first
 * 600,000 cycles of sources that always have a packet waiting, some 400 packets a node. No steady state: not
 * established (docs). */
static enum fc_code make_asymmetric(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    struct fc_flit_settings settings = fc_bgl_settings(how);
    FC_SCOPED(fc_bgl_done) struct fc_bgl run = {0};
    settings.backlog = true;
    settings.warmup_cycles = 200000;
    settings.measure_cycles = 400000;
    settings.interval_cycles = FC_BGL_INTERVAL;
    const char *edits =
        how->quick ? "network.dims=[16, 8, 8]" FC_BGL_ENDLESS : "network.dims=[32, 16, 16]" FC_BGL_ENDLESS;
    if (fc_bgl_start(&run, edits, "uniform", &settings, st)) return st->code;
    uint32_t n = run.r.n_intervals;
    double busy = fc_bgl_busy(&run.r, 0, n), peak = 200.0 / 3, wide = how->quick ? 4 : 2;
    struct fc_point_of percent = fc_bgl_of(r, "%");
    fc_point_width(percent, 49, busy, wide, "%s all-to-all: links busy", how->quick ? "16x8x8" : "32x16x16");
    fc_point_width(percent, 74, 100 * busy / peak, how->quick ? 6 : 2, "of peak (66.7 %% of the links)");
    fc_point_width(percent, 44, busy * 240 / FC_BGL_PACKET_TIME, wide, "payload, of the links");
    fc_point_shown(percent, NAN, fc_bgl_busy(&run.r, n / 3, n), "links busy without the first third");
    fc_point_shown(percent, NAN, 100 * run.r.escape_share, "flits on the escape");
    fc_reproduction_axes(r, FC_PAPER_CURVES, "time_kcycles", "time (1000 cycles)", "links_busy_percent",
                         "links busy (%)");
    int o = fc_reproduction_series(r, FC_PAPER_LINE, 0, "ours"),
        p = fc_reproduction_series(r, FC_PAPER_LIMIT, 0, "published, mean of a whole all-to-all: 49"),
        b = fc_reproduction_series(r, FC_PAPER_LIMIT, 1, "bound by the long dimension: 66.7");
    for (uint32_t i = 0; i < n; i++) {
        double time = (i + 1) * FC_BGL_INTERVAL / 1e3;
        fc_reproduction_at(r, o, time, fc_bgl_busy(&run.r, i, i + 1), NAN);
        fc_reproduction_at(r, p, time, 49, NAN);
        fc_reproduction_at(r, b, time, peak, NAN);
    }
    if (how->quick) fc_reproduction_note(r, "quick: 16x8x8 instead of 32x16x16; limits twice to three times as wide");
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_bgl_asymmetric = {asymmetric, 1, 5, 130, make_asymmetric};
