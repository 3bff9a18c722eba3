/* gemini.c - the Gemini interface (Alverson, Roweth, Kaplan, HOTI 2010): rates, packet formats, Figures 7 to
 * 9, by the models of solvers/nic on the machine file as shipped. The figures' curves are not printed as
 * numbers: held are the numbers of the text. What is fitted: docs/notes/quadrics-gemini.md. */
#include "reproduce/figure.h"
#include "solvers/nic/nic.h"

#define PAPER "Alverson, Roweth, Kaplan, HOTI 2010"
enum { RATES, PACKETS, FIG7, FIG8, FIG9, N };
static const struct fc_figure figures[N] = {
    [RATES] = {"gemini-rates", "rates, links and hops that the text states", PAPER ", sections 2 to 4", "gemini-xe6",
               "fabricast machines gemini-xe6"},
    [PACKETS] = {"gemini-fig6", "packet formats, 24-bit phits", PAPER ", Figure 6", "gemini-xe6",
                 "fabricast machines gemini-xe6"},
    [FIG7] = {"gemini-fig7", "put and get latency by transfer size", PAPER ", Figure 7", "gemini-xe6", ""},
    [FIG8] = {"gemini-fig8", "FMA put bandwidth by transfer size and processes", PAPER ", Figure 8", "gemini-xe6", ""},
    [FIG9] = {"gemini-fig9", "many-to-one atomic adds", PAPER ", Figure 9", "gemini-xe6", ""},
};

/* The ways between neighbours: nodes 0 and 1 on one Gemini; 2 one hop away in x, 4 two; 32 one in y, 256 in
 * z. */
struct ways {
    struct fc_nic_way near, x, far, y, z;
};

static enum fc_code find_ways(const struct fc_network *net, struct ways *w, struct fc_status *st)
{
    if (fc_nic_way(net, 0, 1, &w->near, st) || fc_nic_way(net, 0, 2, &w->x, st) || fc_nic_way(net, 0, 4, &w->far, st) ||
        fc_nic_way(net, 0, 32, &w->y, st))
        return st->code;
    return fc_nic_way(net, 0, 256, &w->z, st);
}

static void rates(struct fc_reproduction *r, const struct fc_machine *m, const struct ways *w)
{
    struct fc_nic_peaks p;
    fc_nic_peaks(m, &p);
    double connection = 4 * m->classes[0].bandwidth_bytes_per_s; /* 4 links of 3 lanes at the lowest rate */
    double fastest = 2 * connection;                             /* 6.25 for 3.125 Gb/s a lane */
    double link = m->classes[0].bandwidth_bytes_per_s;
    struct fc_point_of gb = fc_of(r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "GB/s"),
                       number = fc_of(r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, ""),
                       limit = fc_of(r, FC_POINT_BOUND, FC_POINT_PREDICTED, "GB/s");
    fc_point_percent(gb, 8.3, p.engine / 1e9, 1, "interface, one direction");
    fc_point_percent(gb, 9.6, p.bus / 1e9, 0.1, "HyperTransport, raw");
    fc_point_percent(gb, 8, p.put / 1e9, 2, "FMA put, peak");
    fc_point_percent(gb, 7, p.block / 1e9, 2, "BTE, both directions at once, peak of one");
    fc_point_percent(gb, 4.68, connection / 1e9, 0.5, "torus connection, raw, lanes of 3.125 Gb/s");
    fc_point_percent(gb, 9.375, fastest / 1e9, 0.5, "torus connection, raw, lanes of 6.25 Gb/s");
    fc_point_percent(fc_of(r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "%"), 63, 100 * p.efficiency, 1,
                     "efficiency of 64-byte puts on a link");
    fc_point_percent(gb, 2.9, connection * p.efficiency / 1e9, 2, "connection after protocol, slowest lanes");
    fc_point_percent(gb, 5.8, fastest * p.efficiency / 1e9, 2, "connection after protocol, fastest lanes");
    fc_point_percent(gb, 12.8, p.ports / 1e9, 0.1, "tiles of a Gemini, 8 x 64 B in 32 cycles");
    fc_point_percent(gb, 6.4, p.ports / 2e9, 0.1, "tiles for each of two busy nodes");
    fc_point_percent(number, 8, w->x.bundle_bytes_per_s / link, 0.01, "links to a neighbour in x");
    fc_point_percent(number, 4, w->y.bundle_bytes_per_s / link, 0.01, "links to a neighbour in y");
    fc_point_percent(number, 8, w->z.bundle_bytes_per_s / link, 0.01, "links to a neighbour in z");
    fc_point_percent(fc_of(r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "ns"), 105, 1e9 * (w->far.head_s - w->x.head_s),
                     0.5, "latency a hop");
    fc_point_limits(limit, 5, INFINITY, fc_nic_pair_rate(m, &w->x, FC_NIC_HOST) / 1e9,
                    "one transfer, neighbours in x, slowest lanes");
    fc_point_limits(limit, 5, INFINITY, 2 * fc_nic_pair_rate(m, &w->y, FC_NIC_HOST) / 1e9,
                    "one transfer, neighbours in y, fastest lanes");
    fc_point_limits(limit, fc_nic_pair_rate(m, &w->x, FC_NIC_HOST) / 1e9, INFINITY,
                    fc_nic_pair_rate(m, &w->near, FC_NIC_HOST) / 1e9, "one Gemini's two nodes exceed that");
}

static void packets(struct fc_reproduction *r, const struct fc_machine *m)
{
    static const char *const names[] = {"put 8 B", "put 64 B", "get 64 B"};
    static const double request[] = {11, 32, 8}, response[] = {2, 2, 27};
    struct fc_nic_wire wire[] = {fc_nic_put_wire(m, 8), fc_nic_put_wire(m, 64), fc_nic_get_wire(m, 64)};
    struct fc_point_of phits = fc_of(r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "phits");
    double phit = m->router.flit_bytes;
    fc_reproduction_axes(r, FC_PAPER_BARS, "packet", "operation and size", "phits", "phits of 24 bits");
    int p = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 0, "published, request"),
        o = fc_reproduction_series(r, FC_PAPER_OURS, 0, "ours, request"),
        q = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 1, "published, response"),
        s = fc_reproduction_series(r, FC_PAPER_OURS, 1, "ours, response");
    for (int i = 0; i < 3; i++) {
        fc_reproduction_category(r, names[i]);
        fc_point_percent(phits, request[i], wire[i].request_bytes / phit, 0, "%s, request", names[i]);
        fc_point_percent(phits, response[i], wire[i].response_bytes / phit, 0, "%s, response", names[i]);
        fc_reproduction_at(r, p, i, request[i], NAN);
        fc_reproduction_at(r, o, i, wire[i].request_bytes / phit, NAN);
        fc_reproduction_at(r, q, i, response[i], NAN);
        fc_reproduction_at(r, s, i, wire[i].response_bytes / phit, NAN);
    }
    fc_point_percent(fc_of(r, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "bits"), 768, 8 * wire[1].request_bytes, 0,
                     "longest packet under the CRC");
}

static void limit_line(struct fc_reproduction *r, double from, double to, double y, const char *label)
{
    int s = fc_reproduction_series(r, FC_PAPER_LIMIT, 0, "%s", label);
    fc_reproduction_at(r, s, from, y, NAN);
    fc_reproduction_at(r, s, to, y, NAN);
}

static void latencies(struct fc_reproduction *r, const struct fc_machine *m, const struct ways *w)
{
    struct fc_point_of put = fc_of(r, FC_POINT_TIMING, FC_POINT_FITTED, "us"),
                       get = fc_of(r, FC_POINT_TIMING, FC_POINT_PREDICTED, "us");
    fc_point_limits(put, -INFINITY, 0.7, 1e6 * fc_nic_put_s(m, &w->near, 8, FC_NIC_HOST),
                    "put of 8 bytes, end points and own router");
    fc_point_limits(get, -INFINITY, 1.5, 1e6 * fc_nic_get_s(m, &w->near, 8),
                    "get of 8 bytes, the same: twice the way of a put");
    fc_point_limits(put, -INFINITY, 1.5, 1e6 * fc_nic_message_s(m, &w->near, 8, FC_NIC_HOST), "MPI, 8 bytes, the same");
    fc_reproduction_axes(r, FC_PAPER_CURVES, "size_bytes", "transfer size (bytes)", "latency_us", "latency (µs)");
    r->plot.log_x = true;
    int p = fc_reproduction_series(r, FC_PAPER_OURS, 0, "put"), g = fc_reproduction_series(r, FC_PAPER_OURS, 1, "get"),
        i = fc_reproduction_series(r, FC_PAPER_OURS, 2, "MPI");
    for (double bytes = 8; bytes <= 1024; bytes *= 2) {
        fc_reproduction_at(r, p, bytes, 1e6 * fc_nic_put_s(m, &w->near, bytes, FC_NIC_HOST), NAN);
        fc_reproduction_at(r, g, bytes, 1e6 * fc_nic_get_s(m, &w->near, bytes), NAN);
        fc_reproduction_at(r, i, bytes, 1e6 * fc_nic_message_s(m, &w->near, bytes, FC_NIC_HOST), NAN);
    }
    limit_line(r, 8, 1024, 0.7, "published: put < 0.7 us");
    limit_line(r, 8, 1024, 1.5, "published: get < 1.5, MPI <= 1.5 us");
}

/* Bytes at which the processes together reach nine tenths of the peak. */
static double saturating_bytes(const struct fc_machine *m, double processes)
{
    struct fc_nic_peaks p;
    double bytes = 8;
    fc_nic_peaks(m, &p);
    while (bytes < 1e9 && fc_nic_put_rate(m, bytes, processes, FC_NIC_HOST) < 0.9 * p.put) bytes *= 1.01;
    return bytes;
}

static void put_bandwidth(struct fc_reproduction *r, const struct fc_machine *m)
{
    double one = saturating_bytes(m, 1), two = saturating_bytes(m, 2), four = saturating_bytes(m, 4);
    struct fc_point_of order = fc_of(r, FC_POINT_TIMING, FC_POINT_PREDICTED, "");
    fc_point_limits(order, 0, 0.999, two / one, "2 processes saturate sooner, size over that of 1");
    fc_point_limits(order, 0, 0.999, four / two, "4 processes sooner still, size over that of 2");
    fc_point_percent(fc_of(r, FC_POINT_TIMING, FC_POINT_STATED, "GB/s"), 8,
                     fc_nic_put_rate(m, 65536, 4, FC_NIC_HOST) / 1e9, 2, "4 processes, 64 KiB");
    fc_reproduction_axes(r, FC_PAPER_CURVES, "size_bytes", "transfer size (bytes)", "bandwidth_GB_per_s",
                         "bandwidth (GB/s)");
    r->plot.log_x = true;
    int published = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 3, "published: peak of FMA put");
    fc_reproduction_at(r, published, 65536, 8, NAN);
    for (int processes = 1; processes <= 4; processes *= 2) {
        int s = fc_reproduction_series(r, FC_PAPER_OURS, processes / 2, "%d process%s per node", processes,
                                       processes > 1 ? "es" : "");
        for (double bytes = 8; bytes <= 65536; bytes *= 2)
            fc_reproduction_at(r, s, bytes, fc_nic_put_rate(m, bytes, processes, FC_NIC_HOST) / 1e9, NAN);
    }
}

static enum fc_code atomics(struct fc_reproduction *r, const struct fc_machine *m, const struct ways *w,
                            struct fc_status *st)
{
    static const double variables[] = {1, 128, 8192}, published[] = {100, NAN, 45};
    double trip = fc_nic_get_s(m, &w->x, 8), rate = 0;
    struct fc_point_of fitted = fc_of(r, FC_POINT_TIMING, FC_POINT_FITTED, "M/s");
    fc_reproduction_axes(r, FC_PAPER_CURVES, "processes", "source processes", "rate_M_per_s",
                         "atomic adds (million/s)");
    r->plot.log_x = true;
    for (int v = 0; v < 3; v++) {
        int p = isnan(published[v]) ? -1
                                    : fc_reproduction_series(r, FC_PAPER_PUBLISHED, v, "published, %g variable%s",
                                                             variables[v], v ? "s" : "");
        int s = fc_reproduction_series(r, FC_PAPER_OURS, v, "%g variable%s", variables[v], v ? "s at random" : "");
        for (uint32_t n = 1; n <= 2048; n *= 2) {
            if (fc_nic_amo_rate(m, n, variables[v], trip, &rate, st)) return st->code;
            fc_reproduction_at(r, s, n, rate / 1e6, NAN);
        }
        if (p >= 0) fc_reproduction_at(r, p, 2048, published[v], NAN);
        if (v == 0) fc_point_percent(fitted, published[v], rate / 1e6, 10, "atomic adds, one variable");
        if (v == 1)
            fc_point_limits(fc_of(r, FC_POINT_TIMING, FC_POINT_PREDICTED, "M/s"), published[2], published[0],
                            rate / 1e6, "between them, 128 variables");
        if (v == 2) fc_point_percent(fitted, published[v], rate / 1e6, 10, "atomic adds, 8192 variables at random");
    }
    return FC_OK;
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    FC_SCOPED(fc_bench_close) struct fc_bench b = {0};
    struct ways w;
    (void)how;
    if (fc_bench_open(&b, "gemini-xe6", NULL, st)) return st->code;
    if (!find_ways(&b.net, &w, st)) {
        rates(&r[RATES], &b.machine, &w);
        packets(&r[PACKETS], &b.machine);
        latencies(&r[FIG7], &b.machine, &w);
        put_bandwidth(&r[FIG8], &b.machine);
        atomics(&r[FIG9], &b.machine, &w, st);
    }
    return st->code;
}

const struct fc_reproduction_ops fc_reproduction_gemini = {figures, N, 0.1, 0.1, make};
