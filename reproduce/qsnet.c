/* qsnet.c - QsNET in an empty network (Petrini et al., 2001, Figures 8, 9, 13, 14), by the models of
 * solvers/nic on qsnet-64 as shipped. Held are the numbers of the text: the curves are not printed as
 * numbers. Which keys of the machine file a row fitted: docs/notes/quadrics-gemini.md. */
#include "reproduce/qsnet.h"

enum { FIG8, FIG9, FIG13, FIG14, N };
static const struct fc_figure figures[N] = {
    [FIG8] = {"qsnet-fig8", "unidirectional ping", FC_QSNET_PAPER ", Figure 8", "qsnet-64", ""},
    [FIG9] = {"qsnet-fig9", "barriers in an empty network", FC_QSNET_PAPER ", Figure 9", "qsnet-64",
              "fabricast list collectives --members 64"},
    [FIG13] = {"qsnet-fig13", "broadcast over 64 nodes", FC_QSNET_PAPER ", Figure 13", "qsnet-64", ""},
    [FIG14] = {"qsnet-fig14", "broadcast of 256 KB by nodes", FC_QSNET_PAPER ", Figure 14", "qsnet-64", ""},
};

/* ---- shared with qsnet_loaded.c ---- */

double fc_qsnet_barrier_us(const struct fc_qsnet *q, uint32_t nodes, enum fc_nic_barrier kind)
{
    struct fc_nic_time t;
    if (q->st->code || fc_nic_barrier(q->net, nodes, kind, q->background, 0, &t, q->st)) return NAN;
    return 1e6 * t.mean_s;
}

double fc_qsnet_below_percent(const struct fc_qsnet *q, enum fc_nic_barrier kind, double limit_s)
{
    struct fc_nic_time t;
    if (q->st->code || fc_nic_barrier(q->net, 64, kind, q->background, limit_s, &t, q->st)) return NAN;
    return 100 * t.below;
}

double fc_qsnet_broadcast_us(const struct fc_qsnet *q, uint32_t nodes, double bytes, enum fc_nic_broadcast kind,
                             enum fc_nic_memory memory)
{
    double t;
    if (q->st->code || fc_nic_broadcast(q->net, nodes, bytes, kind, memory, q->background, &t, q->st)) return NAN;
    return 1e6 * t;
}

double fc_qsnet_broadcast_mb_per_s(const struct fc_qsnet *q, uint32_t nodes, double bytes, enum fc_nic_broadcast kind,
                                   enum fc_nic_memory memory)
{
    return bytes / fc_qsnet_broadcast_us(q, nodes, bytes, kind, memory);
}

struct fc_point_of fc_qsnet_of(struct fc_reproduction *r, enum fc_point_origin origin, const char *unit)
{
    return (struct fc_point_of){r, origin == FC_POINT_STATED ? FC_POINT_CLOSED_FORM : FC_POINT_TIMING, origin, unit};
}

/* ---- figures ---- */

static enum fc_code ping(const struct fc_qsnet *q, struct fc_reproduction *r)
{
    const struct fc_machine *m = q->net->machine;
    struct fc_nic_way w, near;
    if (fc_nic_way(q->net, 0, 63, &w, q->st) || fc_nic_way(q->net, 0, 1, &near, q->st)) return q->st->code;
    fc_point_percent(fc_qsnet_of(r, FC_POINT_STATED, "MB/s"), 335, fc_nic_pair_rate(m, &w, FC_NIC_OWN) / 1e6, 2,
                     "320 of 378 bytes of 400 MB/s, Elan memory");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_STATED, "MB/s"), 396,
                     335. * m->packet.max_bytes / (m->packet.max_bytes - m->packet.header_bytes), 0.5,
                     "the same on the wire");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "MB/s"), 200, fc_nic_pair_rate(m, &w, FC_NIC_HOST) / 1e6, 1,
                     "main memory: PCI, 264 MB/s peak");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_STATED, "ns"), 35,
                     1e9 * ((w.head_s - near.head_s) / 4 - m->classes[0].latency_s), 0.5, "switch");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "us"), 2.2, 1e6 * fc_nic_put_s(m, &w, 0, FC_NIC_OWN), 2,
                     "put of 0 bytes, three levels");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), 2.4, 1e6 * fc_nic_put_s(m, &w, 64, FC_NIC_OWN), 5,
                     "put of 64 bytes");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "us"), 5.5, 1e6 * fc_nic_message_s(m, &w, 0, FC_NIC_OWN), 5,
                     "MPI, 0 bytes");
    fc_reproduction_axes(r, FC_PAPER_CURVES, "size_bytes", "message size (bytes)", "latency_us", "latency (µs)");
    r->plot.log_x = true;
    int p = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 0, "published, Elan3lib"),
        mpi_p = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 2, "published, MPI (0 bytes)"),
        own = fc_reproduction_series(r, FC_PAPER_OURS, 0, "Elan3lib, Elan memory"),
        host = fc_reproduction_series(r, FC_PAPER_OURS, 1, "Elan3lib, main memory"),
        mpi = fc_reproduction_series(r, FC_PAPER_OURS, 2, "MPI, Elan memory");
    fc_reproduction_at(r, p, 1, 2.2, NAN);
    fc_reproduction_at(r, p, 64, 2.4, NAN);
    fc_reproduction_at(r, mpi_p, 1, 5.5, NAN);
    for (double bytes = 1; bytes <= 4096; bytes *= 2) {
        fc_reproduction_at(r, own, bytes, 1e6 * fc_nic_put_s(m, &w, bytes, FC_NIC_OWN), NAN);
        fc_reproduction_at(r, host, bytes, 1e6 * fc_nic_put_s(m, &w, bytes, FC_NIC_HOST), NAN);
        fc_reproduction_at(r, mpi, bytes, 1e6 * fc_nic_message_s(m, &w, bytes, FC_NIC_OWN), NAN);
    }
    return FC_OK;
}

static void barriers(const struct fc_qsnet *q, struct fc_reproduction *r)
{
    static const struct {
        const char *name;
        enum fc_nic_barrier kind;
        uint32_t nodes[3];
        double us[3];
    } kinds[] = {{"elan_hgsync", FC_QSNET_HW, {16, 32, 64}, {5, 5.5, 6}},
                 {"elan_hgsyncEvent", FC_QSNET_EVENT, {64, 0, 0}, {6.7, 0, 0}},
                 {"elan_gsync", FC_QSNET_SW, {64, 0, 0}, {14.8, 0, 0}}};
    double hw4 = fc_qsnet_barrier_us(q, 4, FC_QSNET_HW), hw64 = fc_qsnet_barrier_us(q, 64, FC_QSNET_HW);
    double sw4 = fc_qsnet_barrier_us(q, 4, FC_QSNET_SW), sw64 = fc_qsnet_barrier_us(q, 64, FC_QSNET_SW);
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "us"), kinds[0].us[2], hw64, 2, "hgsync, 64 nodes");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), kinds[0].us[1], fc_qsnet_barrier_us(q, 32, FC_QSNET_HW),
                     5, "hgsync, 32 nodes");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), kinds[0].us[0], fc_qsnet_barrier_us(q, 16, FC_QSNET_HW),
                     5, "hgsync, 16 nodes");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "x"), 1.29, hw64 / hw4, 5, "hgsync, 64 nodes over 4: +29 %%");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_STATED, "us"), 0.7, fc_qsnet_barrier_us(q, 64, FC_QSNET_EVENT) - hw64, 1,
                     "hgsyncEvent - hgsync");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "us"), kinds[2].us[0], sw64, 2, "gsync, 64 nodes");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), 2.5, (sw64 - sw4) / 2, 10,
                     "gsync, each time the nodes are four times as many");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "x"), 1.54, sw64 / sw4, 5, "gsync, 64 nodes over 4: +54 %%");
    fc_reproduction_axes(r, FC_PAPER_CURVES, "nodes", "nodes", "latency_us", "latency (µs)");
    r->plot.log_x = true;
    for (size_t k = 0; k < FC_COUNT(kinds); k++) {
        int p = fc_reproduction_series(r, FC_PAPER_PUBLISHED, (int)k, "published, %s", kinds[k].name),
            o = fc_reproduction_series(r, FC_PAPER_OURS, (int)k, "%s", kinds[k].name);
        for (int i = 0; i < 3 && kinds[k].nodes[i]; i++)
            fc_reproduction_at(r, p, kinds[k].nodes[i], kinds[k].us[i], NAN);
        for (uint32_t n = 4; n <= 64; n *= 2)
            fc_reproduction_at(r, o, n, fc_qsnet_barrier_us(q, n, kinds[k].kind), NAN);
    }
}

static void broadcast(const struct fc_qsnet *q, struct fc_reproduction *r)
{
    const double mega = 1 << 20;
    double hb256 = fc_qsnet_broadcast_us(q, 64, 256, FC_QSNET_HB, FC_NIC_OWN),
           sb256 = fc_qsnet_broadcast_us(q, 64, 256, FC_QSNET_SB, FC_NIC_OWN);
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "us"), 13, hb256, 2, "hbcast of 256 bytes");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "us"), 13,
                     fc_qsnet_broadcast_us(q, 64, 1, FC_QSNET_HB, FC_NIC_OWN), 8, "hbcast of 1 byte: as long");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "us"), 16.5, sb256, 2, "bcast of 256 bytes");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "us"), 3.5, sb256 - hb256, 2, "bcast - hbcast");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_FITTED, "MB/s"), 288,
                     fc_qsnet_broadcast_mb_per_s(q, 64, mega, FC_QSNET_HB, FC_NIC_OWN), 1, "hbcast of 1 MB");
    fc_point_percent(fc_qsnet_of(r, FC_POINT_PREDICTED, "MB/s"), 288,
                     fc_qsnet_broadcast_mb_per_s(q, 64, mega, FC_QSNET_SB, FC_NIC_OWN), 1, "bcast of 1 MB");
    fc_reproduction_axes(r, FC_PAPER_CURVES, "size_bytes", "message size (bytes)", "bandwidth_MB_per_s",
                         "bandwidth (MB/s)");
    r->plot.log_x = true;
    int p = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 0, "published, hbcast"),
        q_p = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 1, "published, bcast");
    fc_reproduction_at(r, p, 256, 256 / 13., NAN);
    fc_reproduction_at(r, p, mega, 288, NAN);
    fc_reproduction_at(r, q_p, 256, 256 / 16.5, NAN);
    fc_reproduction_at(r, q_p, mega, 288, NAN);
    for (int k = 0; k < 4; k++) {
        bool software = k % 2, host = k >= 2;
        int s = fc_reproduction_series(r, FC_PAPER_OURS, k, "%s, %s memory", software ? "bcast" : "hbcast",
                                       host ? "main" : "Elan");
        for (double bytes = 64; bytes <= mega; bytes *= 2)
            fc_reproduction_at(r, s, bytes,
                               fc_qsnet_broadcast_mb_per_s(q, 64, bytes, software ? FC_QSNET_SB : FC_QSNET_HB,
                                                           host ? FC_NIC_HOST : FC_NIC_OWN),
                               NAN);
    }
}

static void scaling(const struct fc_qsnet *q, struct fc_reproduction *r)
{
    const double part = 256 << 10;
    double t4 = fc_qsnet_broadcast_us(q, 4, part, FC_QSNET_HB, FC_NIC_OWN),
           t16 = fc_qsnet_broadcast_us(q, 16, part, FC_QSNET_HB, FC_NIC_OWN),
           t64 = fc_qsnet_broadcast_us(q, 64, part, FC_QSNET_HB, FC_NIC_OWN);
    struct fc_point_of ratio = fc_qsnet_of(r, FC_POINT_PREDICTED, "x");
    fc_point_percent(ratio, 0.92, t16 / t64, 2, "hbcast of 256 KB, bandwidth of 64 nodes over 16: -8 %%");
    fc_point_percent(ratio, 0.99, t4 / t16, 2, "hbcast of 256 KB, bandwidth of 16 nodes over 4: -1 %%");
    fc_point_percent(ratio, 1.12, t64 / t16, 5, "hbcast of 256 KB, time of 64 nodes over 16: +12 %%");
    fc_point_percent(ratio, 1,
                     fc_qsnet_broadcast_us(q, 64, part, FC_QSNET_HB, FC_NIC_HOST) /
                         fc_qsnet_broadcast_us(q, 4, part, FC_QSNET_HB, FC_NIC_HOST),
                     2, "main memory, 256 KB: time of 64 nodes over 4");
    fc_reproduction_axes(r, FC_PAPER_CURVES, "nodes", "nodes", "bandwidth_MB_per_s", "bandwidth (MB/s)");
    r->plot.log_x = true;
    int p = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 0, "published losses from ours at 4 nodes");
    fc_reproduction_at(r, p, 16, 0.99 * part / t4, NAN);
    fc_reproduction_at(r, p, 64, 0.92 * 0.99 * part / t4, NAN);
    for (int k = 0; k < 2; k++) {
        int s = fc_reproduction_series(r, FC_PAPER_OURS, k, "hbcast, %s memory", k ? "main" : "Elan");
        for (uint32_t n = 4; n <= 64; n *= 2)
            fc_reproduction_at(r, s, n,
                               fc_qsnet_broadcast_mb_per_s(q, n, part, FC_QSNET_HB, k ? FC_NIC_HOST : FC_NIC_OWN), NAN);
    }
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    FC_SCOPED(fc_bench_close) struct fc_bench b = {0};
    (void)how;
    if (fc_bench_open(&b, "qsnet-64", NULL, st)) return st->code;
    struct fc_qsnet q = {&b.net, NULL, st};
    ping(&q, &r[FIG8]);
    barriers(&q, &r[FIG9]);
    broadcast(&q, &r[FIG13]);
    scaling(&q, &r[FIG14]);
    return st->code;
}

const struct fc_reproduction_ops fc_reproduction_qsnet = {figures, N, 0.1, 0.1, make};
