/* validate_bluegene.c - the kernel against what Adiga et al., Blue Gene/L torus interconnection network, IBM
 * J. Res. Dev. 49(2/3), 2005, print in their text (the curves of the figures are not printed as numbers: of
 * those the orderings and shapes that the text states are held). A row a comparison, published value, ours,
 * the difference in points and what is allowed; exit status 1 when one fails. About six minutes on one core;
 * `validate_bluegene fig3` runs one section, `validate_bluegene fig3 any` with other injection FIFOs than the
 * paper's simulator had. `make validate`; setups and results: docs/bluegene.md */
#include "tests/bluegene.h"

#include <time.h>

#define INTERVAL 10000 /* cycles: "as measured over 10K-cycle intervals" */
static int n_rows, n_failed;
static struct fc_progress progress;

/* Injection FIFOs, as edits of the shipped machine. Every row but the broadcasts has those of the first line: "the
 * injection FIFOs were of infinite size and packets were placed in these FIFOs as early as possible". 64 KiB are
 * 256 packets in each of the six; deeper ones: docs/bluegene.md. The others are for comparison. */
enum { ENDLESS, DIRECTION };
static const struct fifos {
    const char *name, *edits;
} fifos[] = {
    {"endless", "injection_fifos: 6\n  injection: random\n  injection_buffer: 64 KiB"},
    {"direction", "injection_fifos: 6\n  injection: direction"},
    {"random", "injection_fifos: 6\n  injection: random"},
    {"any", ""},
};
static const struct fifos *used = &fifos[ENDLESS];

/* ---- rows
 * -------------------------------------------------------------------------------------------------- */

static void verdict(bool good)
{
    n_rows++;
    n_failed += !good;
    printf("  %s\n", good ? "PASS" : "FAIL");
    fflush(stdout);
}

static void cell(double x)
{
    if (isnan(x))
        printf(" %9s", "-");
    else
        printf(" %9.2f", x);
}

/* published NAN: for information only. */
static void value(const char *where, const char *what, double published, double ours, double tolerance)
{
    printf("%-8s %-64s", where, what);
    cell(published);
    cell(ours);
    cell(ours - published);
    if (isnan(published)) {
        printf(" %9s  -\n", "");
        fflush(stdout);
        return;
    }
    printf(" +-%7.2f", tolerance);
    verdict(fabs(ours - published) <= tolerance);
}

/* A statement of the text that is no number; ours: the figure that decides, with the limit put on it. */
static void claim(const char *where, const char *what, bool holds, double ours, const char *limit)
{
    printf("%-8s %-64s %9s", where, what, "text");
    cell(ours);
    printf(" %19s", limit);
    verdict(holds && !isnan(ours));
}

/* ---- runs
 * -------------------------------------------------------------------------------------------------- */

static struct fc_flit_settings defaults(void)
{
    struct fc_flit_settings settings;
    fc_flit_defaults(&settings);
    settings.progress = &progress;
    return settings;
}

/* A run that the caller frees with done; false, and a failed row, when it cannot be had. */
struct run {
    struct bgl b;
    struct fc_flit_result r;
    double bound_s;
};

static bool run(struct run *to, const char *edits, const char *pattern,
                const struct fc_flit_settings *settings)
{
    struct fc_status st = {0};
    char text[1600], all[512];
    snprintf(all, sizeof all, "%s; %s", edits, used->edits);
    if (bgl_open(&to->b, all, &st)) {
        if (!bgl_run(&to->b, pattern, settings, &to->r, &to->bound_s, &st)) return true;
        bgl_close(&to->b);
    }
    fc_status_text(&st, text, sizeof text);
    printf("%s, %s: %s", pattern, edits, text);
    verdict(false);
    return false;
}

static void done(struct run *r)
{
    fc_flit_free(&r->r);
    bgl_close(&r->b);
}

static double percent_of_peak(const char *edits, const char *pattern, double gap_cycles)
{
    struct fc_flit_settings settings = defaults();
    struct run r;
    settings.source_gap_cycles = gap_cycles;
    if (!run(&r, edits, pattern, &settings)) return NAN;
    double percent = bgl_percent_of_peak(&r.r, r.bound_s);
    done(&r);
    return percent;
}

/* ---- all-to-all
 * -------------------------------------------------------------------------------------------- */

/* 71 % of 23,500 cycles for 511 packets of 46 byte times over 6 links: 260 CPU = 65 network cycles a packet.
 */
#define SOFTWARE_GAP 65

static void alltoall(void)
{
    struct fc_flit_settings settings = defaults();
    struct run r;
    settings.interval_cycles = INTERVAL;
    if (run(&r, "", "alltoall:bytes=7200", &settings)) {
        uint32_t n = r.r.n_intervals;
        value("fig 6", "8x8x8 all-to-all, 30 packets a pair: links busy in mid-run, %", 98,
              bgl_busy(&r.r, n / 4, 3 * n / 4), 1.5);
        double percent = bgl_percent_of_peak(&r.r, r.bound_s);
        claim("fig 11", "8x8x8, long messages (30 packets a pair): above 98 % of peak", percent > 97, percent,
              "> 98 - 1");
        claim("fig 6", "8x8x8: very little of it on the escape channel, %", r.r.escape_share < 0.01,
              100 * r.r.escape_share, "< 1");
        done(&r);
    }
    value("fig 11", "8x8x8, 10 full packets a pair: % of peak (their simulator: 94)", 96,
          percent_of_peak("", "alltoall:bytes=2400", 0), 2);
    value("fig 11", "8x8x8, one 32 B packet a pair, 65 cycles of software each", 71,
          percent_of_peak("", "alltoall:bytes=16", SOFTWARE_GAP), 3);
    value("", "  the network alone", NAN, percent_of_peak("", "alltoall:bytes=16", 0), 0);
    value("", "  the 65 cycles in the receiver: 6 queues of 1 KiB", NAN,
          percent_of_peak("node: {cores: 2, reception: 1 KiB, reception_queues: 6, reception_time: 65 cycles}",
                          "alltoall:bytes=16", 0),
          0);
    value("fig 11", "4x4x2, 10 full packets a pair", NAN,
          percent_of_peak("dims: [4, 4, 2]", "alltoall:bytes=2400", 0), 0);
    value("VHDL", "4x4x4, 10 full packets a pair", NAN,
          percent_of_peak("dims: [4, 4, 4]", "alltoall:bytes=2400", 0), 0);
    value("VHDL", "8x8x1, 10 full packets a pair", NAN,
          percent_of_peak("dims: [8, 8, 1]", "alltoall:bytes=2400", 0), 0);
    double two = percent_of_peak("", "alltoall:bytes=960", 0);
    double one = percent_of_peak("vcs: 1", "alltoall:bytes=960", 0);
    double none = percent_of_peak("vcs: 1; routing: dimension-order", "alltoall:bytes=960", 0);
    claim("fig 6", "dynamic above deterministic routing, points of peak", one > none + 5, one - none, "> 5");
    claim("fig 6", "one or two dynamic channels: marginal, points of peak", two - one >= -1 && two - one < 5,
          two - one, "-1 to 5");
}

/* ---- asymmetric all-to-all
 * ----------------------------------------------------------------------------------- */

/* The published figure is a mean over a whole all-to-all, from the empty network on; ours over the first
 * 600,000 cycles of sources that always have a packet waiting, some 400 packets a node. */
static void asymmetric(void)
{
    struct fc_flit_settings settings = defaults();
    struct run r;
    settings.backlog = true;
    settings.warmup_cycles = 200000;
    settings.measure_cycles = 400000;
    settings.interval_cycles = INTERVAL;
    if (!run(&r, "dims: [32, 16, 16]", "uniform", &settings)) return;
    uint32_t n = r.r.n_intervals;
    double busy = bgl_busy(&r.r, 0, n), peak = 200.0 / 3;
    value("text", "32x16x16 all-to-all: links busy, %", 49, busy, 2);
    value("text", "32x16x16 all-to-all: % of peak (66.7 % of the links)", 74, 100 * busy / peak, 2);
    value("text", "32x16x16 all-to-all: payload, % of the links", 44, busy * 240 / BGL_PACKET_TIME, 2);
    value("", "  links busy without the first third", NAN, bgl_busy(&r.r, n / 3, n), 0);
    value("", "  flits on the escape, %", NAN, 100 * r.r.escape_share, 0);
    done(&r);
}

/* ---- hot spots
 * ------------------------------------------------------------------------------------------------ */

static void hot_spots(void)
{
    static const struct {
        const char *what, *pattern;
        double published;
    } spots[] = {
        {"1x1x1 receives 10 packets from each node of 8x8x8: % of bound", "hotspot:size=1x1x1,bytes=2400",
         92},
        {"2x2x2", "hotspot:size=2x2x2,bytes=2400", 95},
        {"4x4x4", "hotspot:size=4x4x4,bytes=2400", 95},
        {"  1x1x1, 100 packets", "hotspot:size=1x1x1,bytes=24000", NAN},
        {"  2x2x2, 50 packets", "hotspot:size=2x2x2,bytes=12000", NAN},
        {"  4x4x4, 20 packets", "hotspot:size=4x4x4,bytes=4800", NAN},
    };
    for (size_t i = 0; i < FC_COUNT(spots); i++)
        value(isnan(spots[i].published) ? "" : "text", spots[i].what, spots[i].published,
              percent_of_peak("", spots[i].pattern, 0), 3);
}

/* ---- broadcasts with deposit: docs/flit.md, Multicast ---- */

/* Measured on the hardware, with software that sends "the different colors in different directions": a FIFO
 * a direction, of the shipped depth. */
static void fill(void)
{
    const struct fifos *before = used;
    if (used == &fifos[ENDLESS]) used = &fifos[DIRECTION];
    double line = percent_of_peak("", "line-broadcast:bytes=1MiB", 0),
           plane = percent_of_peak("", "plane-broadcast:bytes=1MiB", 0);
    claim("text", "line broadcast of 1 MiB on 8x8x8: % of peak", line > 99, line, "> 99");
    claim("text", "plane broadcast of 1 MiB", plane > 96, plane, "> 96");
    used = before;
}

/* ---- response times under uniform traffic
 * ------------------------------------------------------------------- */

/* Mean response in cycles over seeds 1 .. n; NAN when a run is unstable. */
static double response(const char *edits, double busy, uint64_t measure, int seeds, double *accepted)
{
    double sum = 0;
    *accepted = 0;
    for (int seed = 1; seed <= seeds; seed++) {
        struct fc_flit_settings settings = defaults();
        struct run r;
        /* Full use of all six links: 8 flits of 270 byte times over 6 hops, 6 links. */
        settings.load_flits_per_cycle = busy * BGL_PACKET / BGL_CHUNK / BGL_PACKET_TIME;
        settings.warmup_cycles = 60000;
        settings.measure_cycles = measure;
        settings.seed = (uint64_t)seed;
        if (!run(&r, edits, "uniform", &settings)) return NAN;
        sum += r.r.stable ? r.r.latency_mean_cycles : NAN;
        *accepted +=
            100 * r.r.accepted_flits_per_node_cycle * BGL_CHUNK * BGL_PACKET_TIME / BGL_PACKET / seeds;
        done(&r);
    }
    return sum / seeds;
}

static void fig4(void)
{
    static const double loads[] = {0.6, 0.95};
    for (int i = 0; i < 2; i++) {
        int seeds = i ? 3 : 1;
        char what[96];
        double accepted, base = response("arbitration: random", loads[i], 100000, seeds, &accepted),
                         jsq = response("arbitration: jsq", loads[i], 100000, seeds, &accepted),
                         slq = response("arbitration: slq", loads[i], 100000, seeds, &accepted),
                         both = response("arbitration: jsq-slq", loads[i], 100000, seeds, &accepted);
        snprintf(what, sizeof what, "links %.0f %% busy: JSQ changes the response by, %%", 100 * loads[i]);
        value("fig 4", what, i ? -20 : NAN, 100 * (jsq / base - 1), 6);
        if (i)
            value("", "  SLQ alone, %", NAN, 100 * (slq / base - 1), 0);
        else
            claim("fig 4", "SLQ in light traffic: little, %", fabs(slq / base - 1) < 0.03,
                  100 * (slq / base - 1), "within 3");
        value("", "  SLQ beside JSQ, %", NAN, 100 * (both / jsq - 1), 0);
    }
}

static void fig2(void)
{
    static const char *const configuration[] = {
        "arbitration: random; vcs: 1; routing: dimension-order",
        "arbitration: random; vcs: 1; paths: 1",
        "arbitration: random; vcs: 2; paths: 1",
        "arbitration: random; vcs: 4; paths: 1",
        "arbitration: random; vcs: 2; paths: 2",
        "arbitration: random; vcs: 4; paths: 4",
    };
    enum { DETERMINISTIC, V1P1, V2P1, V2P2 = 4, V4P4 };
    static const char *const names[] = {"deterministic",      "1 channel, 1 path",   "2 channels, 1 path",
                                        "4 channels, 1 path", "2 channels, 2 paths", "4 channels, 4 paths"};
    double at50[6], at80[6], accepted[6], most;
    for (int i = 0; i < 6; i++) {
        char what[96];
        at50[i] = response(configuration[i], 0.5, 60000, 3, &accepted[i]);
        at80[i] = response(configuration[i], 0.8, 60000, 3, &accepted[i]);
        snprintf(what, sizeof what, "  %s: response at 50 %% busy, cycles", names[i]);
        value("", what, NAN, at50[i], 0);
        value("", "    at 80 % (-: saturated)", NAN, at80[i], 0);
    }
    claim("fig 2", "dynamic at 50 % busy takes of deterministic's response, %",
          at50[V1P1] < 0.7 * at50[DETERMINISTIC], 100 * at50[V1P1] / at50[DETERMINISTIC], "< 70");
    response(configuration[DETERMINISTIC], 0.95, 60000, 3, &most);
    claim("fig 2", "deterministic saturates with the links busy for, %",
          isnan(at80[DETERMINISTIC]) && most < 70, most, "< 70");
    double alone = at80[V1P1] - at80[V2P1], together = at80[V1P1] - at80[V2P2];
    claim("fig 2", "2 channels on 1 path gain, of what 2 channels on 2 paths gain, %", alone < 0.5 * together,
          100 * alone / together, "< 50");
    double more = (at80[V2P2] - at80[V4P4]) / (at80[V1P1] - at80[V2P2]);
    claim("fig 2", "from 2 and 2 to 4 and 4: gain, of that from 1 and 1 to 2 and 2, %",
          more >= 0 && more < 0.5, 100 * more, "0 to 50");
}

/* ---- the hot region over time
 * -------------------------------------------------------------------------------- */

#define HOT(more) "dims: [16, 16, 16]; arbitration: random; " more
enum { HOT_REGION_SIDE = 8 };

/* 25 % of the packets to an eighth of 16x16x16, sources always backlogged; `intervals` of 10,000 cycles, link
 * use over the last third. */
static bool hot_region(struct run *r, const char *edits, uint32_t intervals)
{
    struct fc_flit_settings settings = defaults();
    settings.backlog = true;
    settings.warmup_cycles = (uint64_t)intervals * 2 / 3 * INTERVAL;
    settings.measure_cycles = (uint64_t)intervals * INTERVAL - settings.warmup_cycles;
    settings.interval_cycles = INTERVAL;
    return run(r, edits, "hotregion:fraction=0.25,region=0.125", &settings);
}

struct shape {
    double start, peak, plateau;
    double decline_cycles;       /* when it is half way from peak to plateau */
    double fall;                 /* greatest fall from a maximum behind the first trough, relative */
    double trough, rise, second; /* first minimum behind the peak; greatest value behind; least behind that */
};

static struct shape shape_of(const struct fc_flit_result *r)
{
    uint32_t n = r->n_intervals, top = 0, low;
    struct shape s = {.start = bgl_throughput(r, 0), .plateau = bgl_mean_throughput(r, n * 2 / 3, n)};
    for (uint32_t i = 0; i < n / 3; i++)
        if (bgl_throughput(r, i) > bgl_throughput(r, top)) top = i;
    s.peak = bgl_throughput(r, top);
    double half = (s.peak + s.plateau) / 2;
    uint32_t i = top;
    while (i + 1 < n && bgl_throughput(r, i) > half) i++;
    double before = i ? bgl_throughput(r, i - 1) : s.peak, here = bgl_throughput(r, i);
    s.decline_cycles = INTERVAL * (i - (before > here ? (half - here) / (before - here) : 0));
    for (low = top; low + 1 < n && bgl_throughput(r, low + 1) < bgl_throughput(r, low);) low++;
    s.trough = bgl_throughput(r, low);
    for (uint32_t j = low; j < n; j++) {
        double x = bgl_throughput(r, j);
        if (x > s.rise) s.rise = s.second = x;
        if (x < s.second) s.second = x;
        if (s.rise - x > s.fall * s.rise) s.fall = (s.rise - x) / s.rise;
    }
    return s;
}

static void print_over_time(const char *what, const struct fc_flit_result *r)
{
    printf("         %s, bytes/node/cycle by %d cycles:\n        ", what, INTERVAL);
    for (uint32_t i = 0; i < r->n_intervals; i++)
        printf(" %.3f%s", bgl_throughput(r, i), i % 16 == 15 && i + 1 < r->n_intervals ? "\n        " : "");
    printf("\n");
}

static void fig3(void)
{
    static const char *const edits[] = {HOT("buffer: 512 B"), HOT("buffer: 1 KiB"), HOT("buffer: 2 KiB")};
    static const char *const names[] = {"512 B", "1 KB", "2 KB"};
    struct shape s[3];
    double busy[3], mean = 0, mean_busy = 0;
    for (int i = 0; i < 3; i++) {
        struct run r;
        if (!hot_region(&r, edits[i], 30)) return;
        print_over_time(names[i], &r.r);
        s[i] = shape_of(&r.r);
        busy[i] = bgl_links_into_region(&r.b, &r.r, HOT_REGION_SIDE);
        mean += s[i].plateau / 3;
        mean_busy += busy[i] / 3;
        done(&r);
    }
    for (int i = 0; i < 3; i++) {
        char what[96];
        snprintf(what, sizeof what, "%s: rises, then falls to the plateau, %% of the peak", names[i]);
        claim("fig 3", what, s[i].start < s[i].peak && s[i].plateau < 0.95 * s[i].peak,
              100 * s[i].plateau / s[i].peak, "< 95");
        snprintf(what, sizeof what, "%s: plateau, %% of the mean of the three", names[i]);
        value("fig 3", what, 100, 100 * s[i].plateau / mean, 3);
        snprintf(what, sizeof what, "  %s: links into the region busy, %%", names[i]);
        value("", what, NAN, busy[i], 0);
    }
    value("fig 3", "links into the region \"generally\" busy, mean of the three, %", 95, mean_busy, 3);
    claim("fig 3", "512 B has fallen half way before 1 KB, cycles", s[0].decline_cycles < s[1].decline_cycles,
          s[1].decline_cycles - s[0].decline_cycles, "> 0");
    claim("fig 3", "1 KB before 2 KB, cycles", s[1].decline_cycles < s[2].decline_cycles,
          s[2].decline_cycles - s[1].decline_cycles, "> 0");
}

static void fig5(void)
{
    static const char *const edits[] = {HOT(""), "dims: [16, 16, 16]; arbitration: jsq",
                                        "dims: [16, 16, 16]; arbitration: slq",
                                        "dims: [16, 16, 16]; arbitration: jsq-slq"};
    static const char *const names[] = {"random", "JSQ", "SLQ", "both"};
    enum { BASE, JSQ, SLQ, BOTH };
    struct shape s[4];
    double mean = 0;
    for (int i = 0; i < 4; i++) {
        struct run r;
        if (!hot_region(&r, edits[i], 30)) return;
        print_over_time(names[i], &r.r);
        s[i] = shape_of(&r.r);
        mean += s[i].plateau / 4;
        done(&r);
    }
    for (int i = 0; i < 4; i++) {
        char what[96];
        snprintf(what, sizeof what, "%s: plateau, %% of the mean of the four", names[i]);
        value("fig 5", what, 100, 100 * s[i].plateau / mean, 5);
        snprintf(what, sizeof what, "  %s: half way down after, 1000 cycles", names[i]);
        value("", what, NAN, s[i].decline_cycles / 1000, 0);
    }
    claim("fig 5", "SLQ declines later than random, 1000 cycles",
          s[SLQ].decline_cycles > s[BASE].decline_cycles,
          (s[SLQ].decline_cycles - s[BASE].decline_cycles) / 1000, "> 0");
    double jsq = s[JSQ].decline_cycles - s[BASE].decline_cycles,
           slq = s[SLQ].decline_cycles - s[BASE].decline_cycles;
    claim("fig 5", "what JSQ delays the decline by, % of what SLQ does", fabs(jsq) < 0.5 * slq,
          100 * jsq / slq, "within 50");
}

/* ---- escape channels
 * ------------------------------------------------------------------------------------------ */

/* Token returns that let a blocked packet move, a link and 1000 cycles: our reading of "the fraction of time
 * in which a token-ack is returned that frees at least one previously blocked packet". One return a full
 * packet. */
static double unblocking(const struct fc_flit_result *r, uint32_t i)
{
    double flits = 0;
    for (int v = 0; v < r->n_vcs; v++) flits += r->intervals[i].vc_flits_per_link_cycle[v];
    return 1000 * r->intervals[i].unblocking_probability * flits * BGL_CHUNK / BGL_PACKET;
}

/* Behind the initial decline: */
enum { SETTLED = 10 };

/* Correlation of throughput and unblocking. */
static double correlation(const struct fc_flit_result *r)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (uint32_t i = SETTLED; i < r->n_intervals; i++) {
        double a = bgl_throughput(r, i), b = unblocking(r, i);
        n++, x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
    }
    return (n * xy - x * y) / sqrt((n * xx - x * x) * (n * yy - y * y));
}

/* Standard deviation of unblocking over the intervals, % of its mean. */
static double waver(const struct fc_flit_result *r)
{
    double n = 0, x = 0, xx = 0;
    for (uint32_t i = SETTLED; i < r->n_intervals; i++) {
        double a = unblocking(r, i);
        n++, x += a, xx += a * a;
    }
    return 100 * sqrt(fmax(n * xx - x * x, 0)) / x;
}

static void fig7(void)
{
    struct run pair, directions, bubble;
    if (!hot_region(&pair, HOT("escape: dateline"), 60)) return;
    print_over_time("dateline pair, dimension order", &pair.r);
    struct shape s = shape_of(&pair.r);
    claim("fig 7", "dateline pair: steep decline, % of the peak left", s.trough < 0.8 * s.peak,
          100 * s.trough / s.peak, "< 80");
    claim("fig 7", "  then a rise, % of the trough", s.rise > 1.05 * s.trough, 100 * s.rise / s.trough,
          "> 105");
    claim("fig 7", "  then another steep decline, % of the rise left", s.second < 0.6 * s.rise,
          100 * s.second / s.rise, "< 60");
    claim("fig 8", "  an appreciable share of the flits on the escape, %", pair.r.escape_share > 0.1,
          100 * pair.r.escape_share, "> 10");
    double follows = correlation(&pair.r);
    claim("fig 9", "  throughput varies directly with unblocking, correlation", follows > 0.8, follows,
          "> 0.8");
    value("", "  unblocking wavers by, %", NAN, waver(&pair.r), 0);
    done(&pair);
    if (hot_region(&directions, "dims: [16, 16, 16]; arbitration: random; escape: direction-ordered", 40)) {
        print_over_time("dateline pair, direction order", &directions.r);
        struct shape d = shape_of(&directions.r);
        value("", "  dateline pair, direction order: greatest fall behind the first trough, %", NAN,
              100 * d.fall, 0);
        done(&directions);
    }
    if (!hot_region(&bubble, HOT("escape: bubble"), 40)) return;
    print_over_time("bubble", &bubble.r);
    struct shape b = shape_of(&bubble.r);
    claim("fig 7", "bubble: greatest fall behind the first trough, %", b.fall < 0.08, 100 * b.fall, "< 8");
    double steady = waver(&bubble.r);
    claim("fig 9", "  unblocking is relatively constant: wavers by, %", steady < 10, steady, "< 10");
    done(&bubble);
}

/* ---- the bubble with packets of several lengths
 * --------------------------------------------------------------- */

static void bubble(void)
{
    struct fc_status st = {0};
    struct fc_flit_result published, corrected;
    struct bgl b;
    char text[1600];
    if (bgl_open(&b, bgl_ring_edits, &st)) {
        if (!bgl_ring_run(&b, true, FC_ENGINE_AUTO, 1, &published, &st)) {
            printf("%s", published.deadlock_text);
            claim("text", "tokens by true length: the script deadlocks, packets of 35 arrived",
                  published.deadlock, (double)published.packets_delivered, "deadlock");
            fc_flit_free(&published);
        }
        if (!st.code && !bgl_ring_run(&b, false, FC_ENGINE_AUTO, 1, &corrected, &st)) {
            claim("text", "each packet counted as full size: the same script ends, packets of 35",
                  corrected.complete && corrected.credits_full, (double)corrected.packets_delivered,
                  "complete");
            fc_flit_free(&corrected);
        }
        bgl_close(&b);
    }
    if (!st.code) return;
    fc_status_text(&st, text, sizeof text);
    printf("bubble: %s", text);
    verdict(false);
}

static const struct {
    const char *name;
    void (*run)(void);
} sections[] = {
    {"bubble", bubble}, {"hotspot", hot_spots}, {"alltoall", alltoall},
    {"fig2", fig2},     {"fig4", fig4},         {"fig3", fig3},
    {"fig5", fig5},     {"fig7", fig7},         {"asymmetric", asymmetric},
    {"fill", fill},
};

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    clock_t start = clock();
    for (size_t i = 0; argc > 2 && strcmp(used->name, argv[2]); used = &fifos[++i])
        if (i + 1 == FC_COUNT(fifos)) {
            fprintf(stderr, "validate_bluegene: no injection FIFOs '%s' (expected endless, direction, random, any)\n",
                    argv[2]);
            return 2;
        }
    fc_progress_start(&progress, false);
    printf("injection FIFOs: %s\n", used->name);
    printf("%-8s %-64s %9s %9s %9s %9s\n", "where", "what", "published", "ours", "points", "allowed");
    for (size_t i = 0; i < FC_COUNT(sections); i++) {
        if (!strstr(sections[i].name, only)) continue;
        sections[i].run();
        printf("---- %s, %.0f s CPU so far\n", sections[i].name, (double)(clock() - start) / CLOCKS_PER_SEC);
        fflush(stdout);
    }
    fc_progress_end(&progress);
    printf("%d comparisons, %d failed\n", n_rows, n_failed);
    return n_failed > 0;
}
