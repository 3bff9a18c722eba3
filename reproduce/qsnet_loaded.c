/* qsnet_loaded.c - QsNET beside traffic that fills the network (Petrini et al., 2001, Figures 10 to 12, 15,
 * 16): the flit-level kernel gives what the background leaves (solvers/nic/nic_background.c), the models of
 * solvers/nic the times of barriers and broadcasts beside it. The tails without load are the operating
 * system's, kept as a measured mixture. */
#include "reproduce/qsnet.h"

enum { FIG10, FIG11, FIG12, FIG15, FIG16, N };
static const struct fc_figure figures[N] = {
    [FIG10] = {"qsnet-fig10", "barriers beside background traffic", FC_QSNET_PAPER ", Figure 10", "qsnet-64", ""},
    [FIG11] = {"qsnet-fig11", "distribution of elan_hgsync, 64 nodes", FC_QSNET_PAPER ", Figure 11", "qsnet-64", ""},
    [FIG12] = {"qsnet-fig12", "distribution of elan_gsync, 64 nodes", FC_QSNET_PAPER ", Figure 12", "qsnet-64", ""},
    [FIG15] = {"qsnet-fig15", "broadcast over 64 nodes beside background traffic", FC_QSNET_PAPER ", Figure 15",
               "qsnet-64", ""},
    [FIG16] = {"qsnet-fig16", "broadcast of 256 KB by nodes beside background traffic", FC_QSNET_PAPER ", Figure 16",
               "qsnet-64", ""},
};
enum { EMPTY, COMPLEMENT, UNIFORM, LOADS };
static const char *const loads[] = {"no load", "complement", "uniform"};

static void barriers(const struct fc_qsnet *q, struct fc_reproduction *r)
{
    const struct fc_qsnet *u = &q[UNIFORM], *c = &q[COMPLEMENT];
    double sw64 = fc_qsnet_barrier_us(u, 64, FC_QSNET_SW), hw64 = fc_qsnet_barrier_us(u, 64, FC_QSNET_HW),
           sw4 = fc_qsnet_barrier_us(u, 4, FC_QSNET_SW), hw4 = fc_qsnet_barrier_us(u, 4, FC_QSNET_HW),
           csw64 = fc_qsnet_barrier_us(c, 64, FC_QSNET_SW);
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "us"), 595, sw64, 5, "gsync, uniform, 64 nodes");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "x"), 40, sw64 / fc_qsnet_barrier_us(&q[EMPTY], 64, FC_QSNET_SW),
                     5, "gsync, uniform over no load: x 40");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "x"), 2.6, sw64 / sw4, 20,
                     "gsync, uniform, 64 nodes over 4: +160 %%");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), 228.8, sw4, 20, "gsync, uniform, 4 nodes (595 / 2.6)");
    fc_point_limits(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), 12, 15, hw64,
                    "hgsync, uniform, 64 nodes: 14.8, 13 or doubled");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "x"), 1.86, hw64 / hw4, 10,
                     "hgsync, uniform, 64 nodes over 4: +86 %%");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), 7.96, hw4, 10, "hgsync, uniform, 4 nodes (14.8 / 1.86)");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "x"), 2.5, csw64 / fc_qsnet_barrier_us(c, 4, FC_QSNET_SW), 20,
                     "gsync, complement, 64 nodes over 4: +150 %%");
    fc_point_limits(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), 0, sw64, csw64,
                    "gsync, complement: less than with uniform");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "x"), 1.4,
                     fc_qsnet_barrier_us(c, 64, FC_QSNET_HW) / fc_qsnet_barrier_us(c, 4, FC_QSNET_HW), 10,
                     "hgsync, complement, 64 nodes over 4: +40 %%");
    fc_reproduction_axes(r, FC_PAPER_CURVES, "nodes", "nodes", "latency_us", "latency (µs)");
    r->plot.log_x = r->plot.log_y = true;
    int gp = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 5, "published, gsync, uniform"),
        hp = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 2, "published, hgsync, uniform");
    fc_reproduction_at(r, gp, 64, 595, NAN);
    fc_reproduction_at(r, gp, 4, 228.8, NAN);
    fc_reproduction_at(r, hp, 64, 14.8, NAN);
    fc_reproduction_at(r, hp, 4, 7.96, NAN);
    for (int k = 0; k < 2 * LOADS; k++) {
        int s = fc_reproduction_series(r, FC_PAPER_OURS, k, "%s, %s", k < LOADS ? "hgsync" : "gsync", loads[k % LOADS]);
        for (uint32_t n = 4; n <= 64; n *= 2)
            fc_reproduction_at(r, s, n, fc_qsnet_barrier_us(&q[k % LOADS], n, k < LOADS ? FC_QSNET_HW : FC_QSNET_SW),
                               NAN);
    }
}

/* A cumulative distribution for each load, from..to microseconds. */
static void distribution(const struct fc_qsnet *q, struct fc_reproduction *r, enum fc_nic_barrier kind, double from,
                         double to)
{
    fc_reproduction_axes(r, FC_PAPER_CURVES, "latency_us", "latency (µs)", "below_percent", "barriers below (%)");
    r->plot.log_x = true;
    for (int l = 0; l < LOADS; l++) {
        int s = fc_reproduction_series(r, FC_PAPER_LINE, l, "%s", loads[l]);
        for (int i = 0; i <= 60; i++) {
            double us = from * pow(to / from, i / 60.0);
            fc_reproduction_at(r, s, us, fc_qsnet_below_percent(&q[l], kind, 1e-6 * us), NAN);
        }
    }
}

static void published_share(struct fc_reproduction *r, int load, double us, double percent)
{
    int s = fc_reproduction_series(r, FC_PAPER_PUBLISHED, load, "published, %s: %g %% below %g us", loads[load],
                                   percent, us);
    fc_reproduction_at(r, s, us, percent, NAN);
}

static void distributions(const struct fc_qsnet *q, struct fc_reproduction *hw, struct fc_reproduction *sw)
{
    fc_point_percent(fc_qsnet_of(hw, FC_POINT_FITTED, "%"), 94, fc_qsnet_below_percent(&q[EMPTY], FC_QSNET_HW, 9e-6), 1,
                     "hgsync below 9 us, no load");
    fc_point_percent(fc_qsnet_of(hw, FC_POINT_FITTED, "%"), 2,
                     100 - fc_qsnet_below_percent(&q[EMPTY], FC_QSNET_HW, 20e-6), 10, "hgsync above 20 us, no load");
    fc_point_percent(fc_qsnet_of(hw, FC_POINT_PREDICTED, "%"), 93,
                     fc_qsnet_below_percent(&q[UNIFORM], FC_QSNET_HW, 20e-6), 5, "hgsync, uniform, below 20 us");
    distribution(q, hw, FC_QSNET_HW, 4, 60);
    published_share(hw, EMPTY, 9, 94);
    published_share(hw, EMPTY, 20, 98);
    published_share(hw, UNIFORM, 20, 93);
    fc_point_limits(fc_qsnet_of(sw, FC_POINT_PREDICTED, "%"), 0, 2,
                    100 - fc_qsnet_below_percent(&q[EMPTY], FC_QSNET_SW, 30e-6),
                    "gsync above 30 us, no load: 1 %%, one point");
    fc_point_percent(fc_qsnet_of(sw, FC_POINT_PREDICTED, "%"), 93,
                     fc_qsnet_below_percent(&q[UNIFORM], FC_QSNET_SW, 605e-6), 5, "gsync, uniform, below 605 us");
    distribution(q, sw, FC_QSNET_SW, 10, 1000);
    published_share(sw, EMPTY, 30, 99);
    published_share(sw, UNIFORM, 605, 93);
}

static void broadcasts(const struct fc_qsnet *q, struct fc_reproduction *r)
{
    const double mega = 1 << 20;
    const struct fc_qsnet *u = &q[UNIFORM], *c = &q[COMPLEMENT];
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "MB/s"), 36,
                     fc_qsnet_broadcast_mb_per_s(c, 64, mega, FC_QSNET_HB, FC_NIC_HOST), 5,
                     "hbcast of 1 MB, main memory, complement");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "MB/s"), 24,
                     fc_qsnet_broadcast_mb_per_s(u, 64, mega, FC_QSNET_HB, FC_NIC_HOST), 20,
                     "hbcast of 1 MB, main memory, uniform");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "MB/s"), 24,
                     fc_qsnet_broadcast_mb_per_s(u, 64, mega, FC_QSNET_SB, FC_NIC_HOST), 20,
                     "bcast of 1 MB, main memory, uniform: about the same");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), 200,
                     fc_qsnet_broadcast_us(u, 64, 2048, FC_QSNET_HB, FC_NIC_HOST), 20,
                     "hbcast of 2 KB, uniform: up to 200 us");
    fc_point_limits(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), 0, 200,
                    fc_qsnet_broadcast_us(c, 64, 2048, FC_QSNET_HB, FC_NIC_HOST),
                    "hbcast of 2 KB, complement: less than 200 us");
    fc_reproduction_axes(r, FC_PAPER_CURVES, "size_bytes", "message size (bytes)", "bandwidth_MB_per_s",
                         "bandwidth, main memory (MB/s)");
    r->plot.log_x = true;
    int cp = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 0, "published, complement"),
        up = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 2, "published, uniform");
    fc_reproduction_at(r, cp, mega, 36, NAN);
    fc_reproduction_at(r, up, mega, 24, NAN);
    fc_reproduction_at(r, up, 2048, 2048 / 200., NAN);
    for (int k = 0; k < 4; k++) {
        int s = fc_reproduction_series(r, FC_PAPER_OURS, k, "%s, %s", k % 2 ? "bcast" : "hbcast",
                                       loads[k < 2 ? COMPLEMENT : UNIFORM]);
        for (double bytes = 64; bytes <= mega; bytes *= 2)
            fc_reproduction_at(
                r, s, bytes,
                fc_qsnet_broadcast_mb_per_s(k < 2 ? c : u, 64, bytes, k % 2 ? FC_QSNET_SB : FC_QSNET_HB, FC_NIC_HOST),
                NAN);
    }
}

/* "The four alternatives suffer from the same performance degradation as the number of nodes increases. This
 * effect slows down as we increase the number of nodes." */
static void scaling(const struct fc_qsnet *q, struct fc_reproduction *r)
{
    static const uint32_t nodes[] = {4, 16, 64};
    const double part = 256 << 10;
    double least = INFINITY, most = 0;
    fc_reproduction_axes(r, FC_PAPER_CURVES, "nodes", "nodes", "bandwidth_MB_per_s", "bandwidth, main memory (MB/s)");
    r->plot.log_x = true;
    for (int k = 0; k < 4; k++) {
        const struct fc_qsnet *load = &q[k < 2 ? COMPLEMENT : UNIFORM];
        const char *name = k % 2 ? "bcast" : "hbcast", *traffic = loads[k < 2 ? COMPLEMENT : UNIFORM];
        double rate[3];
        int s = fc_reproduction_series(r, FC_PAPER_OURS, k, "%s, %s", name, traffic);
        for (int i = 0; i < 3; i++) {
            rate[i] = fc_qsnet_broadcast_mb_per_s(load, nodes[i], part, k % 2 ? FC_QSNET_SB : FC_QSNET_HB, FC_NIC_HOST);
            fc_reproduction_at(r, s, nodes[i], rate[i], NAN);
        }
        least = fmin(least, rate[2] / rate[0]);
        most = fmax(most, rate[2] / rate[0]);
        fc_point_limits(fc_qsnet_of(r, FC_POINT_PREDICTED, "x"), 0, 1, rate[2] / rate[0],
                        "%s, %s: bandwidth of 64 nodes over 4", name, traffic);
    }
    fc_point_limits(fc_qsnet_of(r, FC_POINT_PREDICTED, "x"), 1, 1.3, most / least,
                    "the same loss for all four: greatest over least");
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    FC_SCOPED(fc_bench_close) struct fc_bench b = {0};
    struct fc_nic_background uniform, complement;
    if (fc_bench_open(&b, "qsnet-64", NULL, st)) return st->code;
    if (!fc_nic_background_run(&b.net, "uniform", how->seed, &uniform, st) &&
        !fc_nic_background_run(&b.net, "complement", how->seed, &complement, st)) {
        struct fc_qsnet q[LOADS] = {{&b.net, NULL, st}, {&b.net, &complement, st}, {&b.net, &uniform, st}};
        barriers(q, &r[FIG10]);
        distributions(q, &r[FIG11], &r[FIG12]);
        broadcasts(q, &r[FIG15]);
        scaling(q, &r[FIG16]);
    }
    return st->code;
}

const struct fc_reproduction_ops fc_reproduction_qsnet_loaded = {figures, N, 2, 2, make};
