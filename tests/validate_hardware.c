/* validate_hardware.c - every published figure of the Gemini interface (Alverson, Roweth, Kaplan, HOTI 2010)
 * and of QsNET's collectives (Petrini, Coll, Frachtenberg, Hoisie, IEEE NCA 2001) beside the models of
 * solvers/nic/nic*.c, with the machine files as shipped. A row: what, published, ours, deviation, tolerance, how
 * ours came about, inside or not:
 *
 *   stated     arithmetic on figures that the paper states
 *   fitted     a parameter of the machine file was set so that this row comes out, or lies within its limit
 *   predicted  a model in which no parameter was set by this row
 *
 * Tolerances are percent of the published figure, or an interval where the paper gives a limit. What no model
 * gives is listed at the end. Exit status 1 when a row is outside. `make validate` */
#include "solvers/flit/flit.h"
#include "solvers/nic/nic.h"
#include "solvers/nic/nic_loaded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { STATED, FITTED, PREDICTED };
static const char *const kinds[] = {"stated", "fitted", "predicted"};
static int n_rows, n_outside, n_kind[3];

static void count(enum kind kind, bool inside)
{
    n_rows++;
    n_kind[kind]++;
    n_outside += !inside;
    printf("  %-9s %s\n", kinds[kind], inside ? "inside" : "OUTSIDE");
}

/* `percent` of the published figure either way. */
static void row(const char *what, const char *unit, double published, double ours, double percent,
                enum kind kind)
{
    double deviation = 100 * (ours / published - 1);
    printf("%-66s %9.4g %9.4g %-5s %+7.2f %%  +-%g %%", what, published, ours, unit, deviation, percent);
    count(kind, fabs(deviation) <= percent);
}

/* A limit: low <= ours <= high. */
static void limits(const char *what, const char *unit, double low, double high, double ours, enum kind kind)
{
    char limit[40];
    if (isinf(low))
        snprintf(limit, sizeof limit, "<= %.4g", high);
    else if (isinf(high))
        snprintf(limit, sizeof limit, ">= %.4g", low);
    else
        snprintf(limit, sizeof limit, "%.4g..%.4g", low, high);
    printf("%-66s %9s %9.4g %-5s %9s  limits", what, limit, ours, unit, "");
    count(kind, ours >= low && ours <= high);
}

static void stop(const char *what, const struct fc_status *st)
{
    printf("%s: %s\n", what, st->message);
    exit(1);
}

static void open_machine(const char *name, struct fc_machine *machine, struct fc_network *net)
{
    struct fc_status st = {0};
    if (fc_machine_load(name, machine, &st) || fc_network_build(machine, net, &st)) stop(name, &st);
}

static struct fc_nic_way way(const struct fc_network *net, uint32_t a, uint32_t b)
{
    struct fc_status st = {0};
    struct fc_nic_way w;
    if (fc_nic_way(net, a, b, &w, &st)) stop("way", &st);
    return w;
}

/* ---- Gemini ---- */

/* Bytes at which processes together reach nine tenths of the peak. */
static double saturating_bytes(const struct fc_machine *m, double processes)
{
    struct fc_nic_peaks p;
    double bytes = 8;
    fc_nic_peaks(m, &p);
    while (bytes < 1e9 && fc_nic_put_rate(m, bytes, processes, FC_NIC_HOST) < 0.9 * p.put) bytes *= 1.01;
    return bytes;
}

static double amo_rate(const struct fc_machine *m, uint32_t processes, double variables, double round_trip_s)
{
    struct fc_status st = {0};
    double rate;
    if (fc_nic_amo_rate(m, processes, variables, round_trip_s, &rate, &st)) stop("amo", &st);
    return rate;
}

static void gemini_rates(const struct fc_network *net)
{
    const struct fc_machine *m = net->machine;
    struct fc_nic_peaks p;
    fc_nic_peaks(m, &p);
    double connection = 4 * m->classes[0].bandwidth_bytes_per_s; /* 4 links of 3 lanes at the lowest rate */
    double fastest = 2 * connection;                             /* 6.25 for 3.125 Gb/s a lane */
    row("interface, one direction", "GB/s", 8.3, p.engine / 1e9, 1, STATED);
    row("HyperTransport, raw", "GB/s", 9.6, p.bus / 1e9, 0.1, STATED);
    row("FMA put, peak", "GB/s", 8, p.put / 1e9, 2, STATED);
    row("BTE, both directions at once, peak of one", "GB/s", 7, p.block / 1e9, 2, STATED);
    row("torus connection, raw, lanes of 3.125 Gb/s", "GB/s", 4.68, connection / 1e9, 0.5, STATED);
    row("torus connection, raw, lanes of 6.25 Gb/s", "GB/s", 9.375, fastest / 1e9, 0.5, STATED);
    row("efficiency of 64-byte puts on a link", "%", 63, 100 * p.efficiency, 1, STATED);
    row("connection after protocol, slowest lanes", "GB/s", 2.9, connection * p.efficiency / 1e9, 2, STATED);
    row("connection after protocol, fastest lanes", "GB/s", 5.8, fastest * p.efficiency / 1e9, 2, STATED);
    row("tiles of a Gemini, 8 x 64 B in 32 cycles", "GB/s", 12.8, p.ports / 1e9, 0.1, STATED);
    row("tiles for each of two busy nodes", "GB/s", 6.4, p.ports / 2e9, 0.1, STATED);
}

static void gemini_packets(const struct fc_machine *m)
{
    double phit = m->router.flit_bytes;
    struct fc_nic_wire put8 = fc_nic_put_wire(m, 8), put64 = fc_nic_put_wire(m, 64),
                       get64 = fc_nic_get_wire(m, 64);
    row("put of 8 bytes, request", "phits", 11, put8.request_bytes / phit, 0, STATED);
    row("put of 8 bytes, response", "phits", 2, put8.response_bytes / phit, 0, STATED);
    row("put of 64 bytes, request", "phits", 32, put64.request_bytes / phit, 0, STATED);
    row("put of 64 bytes, response", "phits", 2, put64.response_bytes / phit, 0, STATED);
    row("get of 64 bytes, request", "phits", 8, get64.request_bytes / phit, 0, STATED);
    row("get of 64 bytes, response", "phits", 27, get64.response_bytes / phit, 0, STATED);
    row("longest packet under the CRC", "bits", 768, 8 * put64.request_bytes, 0, STATED);
}

static void gemini(void)
{
    struct fc_machine m;
    struct fc_network net;
    open_machine("gemini-xe6", &m, &net);
    printf("\nGemini (Alverson et al. 2010): gemini-xe6\n");
    gemini_rates(&net);
    gemini_packets(&m);
    /* Nodes 0, 1 on one Gemini; 2 one hop away in x, 4 two; 32 one hop in y, 256 in z. */
    struct fc_nic_way near = way(&net, 0, 1), x = way(&net, 0, 2), far = way(&net, 0, 4),
                      y = way(&net, 0, 32);
    double link = m.classes[0].bandwidth_bytes_per_s;
    row("links to a neighbour in x", "", 8, x.bundle_bytes_per_s / link, 0.01, STATED);
    row("links to a neighbour in y", "", 4, y.bundle_bytes_per_s / link, 0.01, STATED);
    row("links to a neighbour in z", "", 8, way(&net, 0, 256).bundle_bytes_per_s / link, 0.01, STATED);
    row("latency a hop", "ns", 105, 1e9 * (far.head_s - x.head_s), 0.5, STATED);
    limits("put of 8 bytes, end points and own router", "us", -INFINITY, 0.7,
           1e6 * fc_nic_put_s(&m, &near, 8, FC_NIC_HOST), FITTED);
    limits("get of 8 bytes, the same: twice the way of a put", "us", -INFINITY, 1.5,
           1e6 * fc_nic_get_s(&m, &near, 8), PREDICTED);
    limits("MPI, 8 bytes, the same", "us", -INFINITY, 1.5, 1e6 * fc_nic_message_s(&m, &near, 8, FC_NIC_HOST),
           FITTED);
    limits("one transfer, neighbours in x, slowest lanes", "GB/s", 5, INFINITY,
           fc_nic_pair_rate(&m, &x, FC_NIC_HOST) / 1e9, PREDICTED);
    limits("one transfer, neighbours in y, fastest lanes", "GB/s", 5, INFINITY,
           2 * fc_nic_pair_rate(&m, &y, FC_NIC_HOST) / 1e9, PREDICTED);
    limits("one Gemini's two nodes exceed that", "GB/s", fc_nic_pair_rate(&m, &x, FC_NIC_HOST) / 1e9,
           INFINITY, fc_nic_pair_rate(&m, &near, FC_NIC_HOST) / 1e9, PREDICTED);
    double one = saturating_bytes(&m, 1), two = saturating_bytes(&m, 2), four = saturating_bytes(&m, 4);
    limits("Figure 8: 2 processes saturate sooner, size over that of 1", "", 0, 0.999, two / one, PREDICTED);
    limits("Figure 8: 4 processes sooner still, size over that of 2", "", 0, 0.999, four / two, PREDICTED);
    row("Figure 8: 4 processes, 64 KiB", "GB/s", 8, fc_nic_put_rate(&m, 65536, 4, FC_NIC_HOST) / 1e9, 2,
        STATED);
    double trip = fc_nic_get_s(&m, &x, 8);
    row("atomic adds, one variable", "M/s", 100, amo_rate(&m, 2048, 1, trip) / 1e6, 10, FITTED);
    row("atomic adds, 8192 variables at random", "M/s", 45, amo_rate(&m, 2048, 8192, trip) / 1e6, 10, FITTED);
    limits("Figure 9: between them, 128 variables", "M/s", 45, 100, amo_rate(&m, 2048, 128, trip) / 1e6,
           PREDICTED);
    fc_network_free(&net);
    fc_machine_free(&m);
}

/* ---- QsNET ---- */

static double barrier_us(const struct fc_network *net, uint32_t nodes, enum fc_nic_barrier kind,
                         const struct fc_nic_background *b)
{
    struct fc_status st = {0};
    struct fc_nic_time t;
    if (fc_nic_barrier(net, nodes, kind, b, 0, &t, &st)) stop("barrier", &st);
    return 1e6 * t.mean_s;
}

static double below_percent(const struct fc_network *net, enum fc_nic_barrier kind,
                            const struct fc_nic_background *b, double limit_s)
{
    struct fc_status st = {0};
    struct fc_nic_time t;
    if (fc_nic_barrier(net, 64, kind, b, limit_s, &t, &st)) stop("barrier", &st);
    return 100 * t.below;
}

static double broadcast_us(const struct fc_network *net, uint32_t nodes, double bytes,
                           enum fc_nic_broadcast kind, enum fc_nic_memory memory,
                           const struct fc_nic_background *b)
{
    struct fc_status st = {0};
    double t;
    if (fc_nic_broadcast(net, nodes, bytes, kind, memory, b, &t, &st)) stop("broadcast", &st);
    return 1e6 * t;
}

static const enum fc_nic_barrier HW = FC_NIC_BARRIER_HARDWARE, EVENT = FC_NIC_BARRIER_EVENT,
                                 SW = FC_NIC_BARRIER_SOFTWARE;
static const enum fc_nic_broadcast HB = FC_NIC_BROADCAST_HARDWARE, SB = FC_NIC_BROADCAST_SOFTWARE;

static void qsnet_pairs(const struct fc_network *net)
{
    const struct fc_machine *m = net->machine;
    struct fc_nic_way w = way(net, 0, 63), near = way(net, 0, 1);
    double own = fc_nic_pair_rate(m, &w, FC_NIC_OWN);
    row("320 of 378 bytes of 400 MB/s, Elan memory", "MB/s", 335, own / 1e6, 2, STATED);
    row("the same on the wire", "MB/s", 396,
        335. * m->packet.max_bytes / (m->packet.max_bytes - m->packet.header_bytes), 0.5, STATED);
    row("main memory: PCI, 264 MB/s peak", "MB/s", 200, fc_nic_pair_rate(m, &w, FC_NIC_HOST) / 1e6, 1,
        FITTED);
    row("switch", "ns", 35, 1e9 * ((w.head_s - near.head_s) / 4 - m->classes[0].latency_s), 0.5, STATED);
    row("put of 0 bytes, three levels", "us", 2.2, 1e6 * fc_nic_put_s(m, &w, 0, FC_NIC_OWN), 2, FITTED);
    row("put of 64 bytes", "us", 2.4, 1e6 * fc_nic_put_s(m, &w, 64, FC_NIC_OWN), 5, PREDICTED);
    row("MPI, 0 bytes", "us", 5.5, 1e6 * fc_nic_message_s(m, &w, 0, FC_NIC_OWN), 5, FITTED);
}

static void qsnet_barriers(const struct fc_network *net)
{
    double hw4 = barrier_us(net, 4, HW, NULL), hw64 = barrier_us(net, 64, HW, NULL);
    double sw4 = barrier_us(net, 4, SW, NULL), sw64 = barrier_us(net, 64, SW, NULL);
    row("hgsync, 64 nodes", "us", 6, hw64, 2, FITTED);
    row("hgsync, 32 nodes", "us", 5.5, barrier_us(net, 32, HW, NULL), 5, PREDICTED);
    row("hgsync, 16 nodes", "us", 5, barrier_us(net, 16, HW, NULL), 5, PREDICTED);
    row("hgsync, 64 nodes over 4: +29 %", "x", 1.29, hw64 / hw4, 5, PREDICTED);
    row("hgsyncEvent - hgsync", "us", 0.7, barrier_us(net, 64, EVENT, NULL) - hw64, 1, STATED);
    row("gsync, 64 nodes", "us", 14.8, sw64, 2, FITTED);
    row("gsync, each time the nodes are four times as many", "us", 2.5, (sw64 - sw4) / 2, 10, PREDICTED);
    row("gsync, 64 nodes over 4: +54 %", "x", 1.54, sw64 / sw4, 5, PREDICTED);
    row("hgsync below 9 us, no load", "%", 94, below_percent(net, FC_NIC_BARRIER_HARDWARE, NULL, 9e-6), 1,
        FITTED);
    row("hgsync above 20 us, no load", "%", 2, 100 - below_percent(net, FC_NIC_BARRIER_HARDWARE, NULL, 20e-6),
        10, FITTED);
    limits("gsync above 30 us, no load: 1 %, one point", "%", 0, 2,
           100 - below_percent(net, FC_NIC_BARRIER_SOFTWARE, NULL, 30e-6), PREDICTED);
}

static double rate(double bytes, double time_us)
{
    return bytes / time_us;
} /* MB/s */

static void qsnet_broadcasts(const struct fc_network *net)
{
    const double mega = 1 << 20, part = 256 << 10;
    double t4 = broadcast_us(net, 4, part, HB, FC_NIC_OWN, NULL),
           t16 = broadcast_us(net, 16, part, HB, FC_NIC_OWN, NULL),
           t64 = broadcast_us(net, 64, part, HB, FC_NIC_OWN, NULL);
    row("hbcast of 256 bytes", "us", 13, broadcast_us(net, 64, 256, HB, FC_NIC_OWN, NULL), 2, FITTED);
    row("hbcast of 1 byte: as long", "us", 13, broadcast_us(net, 64, 1, HB, FC_NIC_OWN, NULL), 8, PREDICTED);
    row("bcast of 256 bytes", "us", 16.5, broadcast_us(net, 64, 256, SB, FC_NIC_OWN, NULL), 2, FITTED);
    row("bcast - hbcast", "us", 3.5,
        broadcast_us(net, 64, 256, SB, FC_NIC_OWN, NULL) - broadcast_us(net, 64, 256, HB, FC_NIC_OWN, NULL),
        2, FITTED);
    row("hbcast of 1 MB", "MB/s", 288, rate(mega, broadcast_us(net, 64, mega, HB, FC_NIC_OWN, NULL)), 1,
        FITTED);
    row("bcast of 1 MB", "MB/s", 288, rate(mega, broadcast_us(net, 64, mega, SB, FC_NIC_OWN, NULL)), 1,
        PREDICTED);
    row("hbcast of 256 KB, bandwidth of 64 nodes over 16: -8 %", "x", 0.92, t16 / t64, 2, PREDICTED);
    row("hbcast of 256 KB, bandwidth of 16 nodes over 4: -1 %", "x", 0.99, t4 / t16, 2, PREDICTED);
    row("hbcast of 256 KB, time of 64 nodes over 16: +12 %", "x", 1.12, t64 / t16, 5, PREDICTED);
    row("main memory, 256 KB: time of 64 nodes over 4", "x", 1,
        broadcast_us(net, 64, part, HB, FC_NIC_HOST, NULL) /
            broadcast_us(net, 4, part, HB, FC_NIC_HOST, NULL),
        2, PREDICTED);
}

/* ---- the waits, beside the kernel ---- */

/* Mean time of packets in the network, microseconds, sources overloaded; without their injection link's wait.
 */
static double kernel_us(const struct fc_network *net, const char *pattern)
{
    struct fc_status st = {0};
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_flit_result r;
    fc_flit_defaults(&settings);
    settings.load_flits_per_cycle = 0.95;
    settings.warmup_cycles = 5000;
    settings.measure_cycles = 20000;
    if (fc_demand_from_pattern(net, pattern, 1, &demand, &st)) stop(pattern, &st);
    demand.open_loop = true;
    if (fc_flit_run(net, &demand, NULL, &settings, &r, &st)) stop(pattern, &st);
    double time = r.network_latency_mean_cycles * r.cycle_s;
    fc_flit_free(&r);
    fc_demand_free(&demand);
    return 1e6 * time;
}

/* The same of a packet that is next in line everywhere, to nodes drawn at random, each link shared by two
 * worms. */
static double model_us(const struct fc_network *net, const struct fc_nic_background *b)
{
    static const double share[] = {0, 3 / 63., 12 / 63., 48 / 63.};
    const struct fc_machine *m = net->machine;
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_nic_load load = {m, m->shape, b, 10e-9, &arena, &st};
    struct fc_spread wait;
    double sum = 2 * m->packet.max_bytes / m->classes[0].bandwidth_bytes_per_s;
    if (fc_nic_wait_way(&load, 1, &wait)) stop("wait", &st);
    sum -= fc_spread_mean(&wait) / 2;
    for (int l = 1; l <= 3; l++) {
        if (fc_nic_wait_way(&load, l, &wait)) stop("wait", &st);
        sum += share[l] *
               (fc_spread_mean(&wait) + (2 * l - 1) * m->router.delay_s + 2 * l * m->classes[0].latency_s);
    }
    fc_arena_free(&arena);
    return 1e6 * sum;
}

static void qsnet_kernel(const struct fc_network *net, const struct fc_nic_background *uniform)
{
    double kernel = kernel_us(net, "uniform"), model = model_us(net, uniform),
           free_us = kernel_us(net, "complement");
    double length = 1e6 * net->machine->packet.max_bytes / net->machine->classes[0].bandwidth_bytes_per_s;
    printf("\n  packets in the kernel's full network; ours is the oldest everywhere, so its time is a lower "
           "limit\n");
    limits("uniform: model at most the kernel's mean packet, at least its half", "us", kernel / 2, kernel,
           model, PREDICTED);
    limits("complement: kernel between a free way and links shared by two", "us", length, 0.235 + 2 * length,
           free_us, PREDICTED);
}

static void qsnet_loaded(const struct fc_network *net)
{
    struct fc_status st = {0};
    struct fc_nic_background uniform, complement;
    const double mega = 1 << 20;
    if (fc_nic_background_run(net, "uniform", 1, &uniform, &st) ||
        fc_nic_background_run(net, "complement", 1, &complement, &st))
        stop("background", &st);
    printf("\n  background: uniform %.1f MB/s a node, channels held %.2f us; complement %.1f MB/s, %s\n",
           uniform.accepted_bytes_per_s / 1e6, 1e6 * uniform.held_s, complement.accepted_bytes_per_s / 1e6,
           complement.contended ? "contended" : "a channel always free");
    double sw64 = barrier_us(net, 64, SW, &uniform), hw64 = barrier_us(net, 64, HW, &uniform);
    double sw4 = barrier_us(net, 4, SW, &uniform), hw4 = barrier_us(net, 4, HW, &uniform);
    row("gsync, uniform, 64 nodes", "us", 595, sw64, 5, FITTED);
    row("gsync, uniform over no load: x 40", "x", 40, sw64 / barrier_us(net, 64, SW, NULL), 5, FITTED);
    row("gsync, uniform, 64 nodes over 4: +160 %", "x", 2.6, sw64 / sw4, 20, PREDICTED);
    row("gsync, uniform, 4 nodes (595 / 2.6)", "us", 228.8, sw4, 20, PREDICTED);
    row("gsync, uniform, below 605 us", "%", 93,
        below_percent(net, FC_NIC_BARRIER_SOFTWARE, &uniform, 605e-6), 5, PREDICTED);
    limits("hgsync, uniform, 64 nodes: 14.8, 13 or doubled", "us", 12, 15, hw64, PREDICTED);
    row("hgsync, uniform, 64 nodes over 4: +86 %", "x", 1.86, hw64 / hw4, 10, PREDICTED);
    row("hgsync, uniform, 4 nodes (14.8 / 1.86)", "us", 7.96, hw4, 10, PREDICTED);
    row("hgsync, uniform, below 20 us", "%", 93, below_percent(net, FC_NIC_BARRIER_HARDWARE, &uniform, 20e-6),
        5, PREDICTED);
    row("gsync, complement, 64 nodes over 4: +150 %", "x", 2.5,
        barrier_us(net, 64, SW, &complement) / barrier_us(net, 4, SW, &complement), 20, PREDICTED);
    limits("gsync, complement: less than with uniform", "us", 0, sw64, barrier_us(net, 64, SW, &complement),
           PREDICTED);
    row("hgsync, complement, 64 nodes over 4: +40 %", "x", 1.4,
        barrier_us(net, 64, HW, &complement) / barrier_us(net, 4, HW, &complement), 10, PREDICTED);
    row("hbcast of 1 MB, main memory, complement", "MB/s", 36,
        rate(mega, broadcast_us(net, 64, mega, HB, FC_NIC_HOST, &complement)), 5, FITTED);
    row("hbcast of 1 MB, main memory, uniform", "MB/s", 24,
        rate(mega, broadcast_us(net, 64, mega, HB, FC_NIC_HOST, &uniform)), 20, PREDICTED);
    row("bcast of 1 MB, main memory, uniform: about the same", "MB/s", 24,
        rate(mega, broadcast_us(net, 64, mega, SB, FC_NIC_HOST, &uniform)), 20, PREDICTED);
    row("hbcast of 2 KB, uniform: up to 200 us", "us", 200,
        broadcast_us(net, 64, 2048, HB, FC_NIC_HOST, &uniform), 20, PREDICTED);
    limits("hbcast of 2 KB, complement: less than 200 us", "us", 0, 200,
           broadcast_us(net, 64, 2048, HB, FC_NIC_HOST, &complement), PREDICTED);
    qsnet_kernel(net, &uniform);
}

int main(void)
{
    struct fc_machine m;
    struct fc_network net;
    printf("%-66s %9s %9s %-5s %9s  %s\n", "what", "published", "ours", "", "deviation", "tolerance, kind");
    gemini();
    open_machine("qsnet-64", &m, &net);
    printf("\nQsNET (Petrini et al. 2001): qsnet-64\n");
    qsnet_pairs(&net);
    qsnet_barriers(&net);
    qsnet_broadcasts(&net);
    qsnet_loaded(&net);
    fc_network_free(&net);
    fc_machine_free(&m);
    printf(
        "\nnot to be had from a model of network and interface:\n"
        "  the tails of barriers without load (94 %%, 2 %%, 1 %%): the operating system's; kept as a "
        "measured mixture\n"
        "  curves of Figures 7 to 9 (Gemini), 8 to 16 (QsNET): the texts give no values beyond those above\n"
        "  broadcast from Elan memory beside a background in Elan memory: less than 36 and 24 MB/s, no value "
        "given\n");
    printf("\n%d rows: %d stated, %d fitted, %d predicted; %d outside\n", n_rows, n_kind[STATED],
           n_kind[FITTED], n_kind[PREDICTED], n_outside);
    return n_outside > 0;
}
