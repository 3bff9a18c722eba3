/* bgl_hot_region.c - Blue Gene/L: throughput over time where a quarter of the packets go to an eighth of the
 * machine, Figures 3 (buffers) and 5 (arbitration), by the flit-level kernel on 16x16x16, sources always
 * backlogged: the paper's load is not given. */
#include "reproduce/bluegene.h"

enum { FIG3, FIG5, N };
#define COMMAND "fabricast flit -m bgl-4k -p hotregion --backlog --warmup 200000 --measure 100000 --interval 10000"
static const struct fc_figure figures[N] = {
    [FIG3] = {"bgl-fig3", "hot region: throughput over time by buffers", FC_BGL_PAPER ", Figure 3", "bgl-4k", COMMAND},
    [FIG5] = {"bgl-fig5", "hot region: throughput over time by arbitration", FC_BGL_PAPER ", Figure 5", "bgl-4k",
              COMMAND},
};
enum { INTERVALS = 30 };

enum { B512, B1K, B2K, JSQ, SLQ, BOTH, RUNS };
/* The runs; 1 KB with random arbitration, the machine's own buffers, stands in both figures. */
static const struct {
    const char *edits, *buffer, *policy; /* NULL: not of that figure */
} runs[RUNS] = {{"router.arbitration=random; router.buffer=512 B", "512 B", NULL},
                {"router.arbitration=random; router.buffer=1 KiB", "1 KB", "random"},
                {"router.arbitration=random; router.buffer=2 KiB", "2 KB", NULL},
                {"router.arbitration=jsq", NULL, "JSQ"},
                {"router.arbitration=slq", NULL, "SLQ"},
                {"router.arbitration=jsq-slq", NULL, "JSQ and SLQ"}};

static void figure_3(const struct fc_reproducing *how, struct fc_reproduction *r, const struct fc_bgl_shape *s,
                     const double *busy)
{
    double wide = how->quick ? 2 : 1;
    double mean = (s[0].plateau + s[1].plateau + s[2].plateau) / 3;
    for (int i = 0; i < 3; i++) {
        fc_point_limits(fc_bgl_of(r, "%"), -INFINITY, s[i].start < s[i].peak ? 95 : -INFINITY,
                        100 * s[i].plateau / s[i].peak, "%s: rises, then falls to the plateau, of the peak",
                        runs[i].buffer);
        fc_point_width(fc_bgl_of(r, "%"), 100, 100 * s[i].plateau / mean, 3 * wide,
                       "%s: plateau, of the mean of the three", runs[i].buffer);
        if (i == 0)
            fc_point_reason(r,
                            "with 512 B the links into the region are 90 % busy, with 1 and 2 KB 97 and 98 %; neither "
                            "time "
                            "nor injection FIFOs explain it; the paper's load, channels and delays are not printed");
        fc_point_shown(fc_bgl_of(r, "%"), NAN, busy[i], "%s: links into the region busy", runs[i].buffer);
    }
    fc_point_width(fc_bgl_of(r, "%"), 95, (busy[0] + busy[1] + busy[2]) / 3, 3 * wide,
                   "links into the region \"generally\" busy, mean of the three");
    for (int i = 0; i < 2; i++)
        fc_point_limits(fc_bgl_of(r, "kcycles"), 0, INFINITY, (s[i + 1].decline_cycles - s[i].decline_cycles) / 1000,
                        "%s has fallen half way before %s, by", runs[i].buffer, runs[i + 1].buffer);
}

static void figure_5(const struct fc_reproducing *how, struct fc_reproduction *r, const struct fc_bgl_shape *s)
{
    double mean = 0, wide = how->quick ? 2 : 1;
    for (int i = 0; i < RUNS; i++) mean += runs[i].policy ? s[i].plateau / 4 : 0;
    for (int i = 0; i < RUNS; i++) {
        if (!runs[i].policy) continue;
        fc_point_width(fc_bgl_of(r, "%"), 100, 100 * s[i].plateau / mean, 5 * wide,
                       "%s: plateau, of the mean of the four", runs[i].policy);
        fc_point_shown(fc_bgl_of(r, "kcycles"), NAN, s[i].decline_cycles / 1000, "%s: half way down after",
                       runs[i].policy);
    }
    double jsq = s[JSQ].decline_cycles - s[B1K].decline_cycles, slq = s[SLQ].decline_cycles - s[B1K].decline_cycles;
    fc_point_limits(fc_bgl_of(r, "kcycles"), 0, INFINITY, slq / 1000, "SLQ declines later than random, by");
    fc_point_limits(fc_bgl_of(r, "%"), -50 * wide, 50 * wide, 100 * jsq / slq,
                    "JSQ of little use: delays the decline by, of what SLQ does");
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    struct fc_bgl_shape s[RUNS];
    double busy[RUNS];
    for (int i = 0, of_5 = 0; i < RUNS; i++) {
        FC_SCOPED(fc_bgl_done) struct fc_bgl run = {0};
        fc_reproducing_step(how, i, RUNS);
        if (fc_bgl_hot_region(&run, how, runs[i].edits, INTERVALS, st)) return st->code;
        if (runs[i].buffer) fc_bgl_plot_over_time(&r[FIG3], i, runs[i].buffer, &run.r);
        if (runs[i].policy) fc_bgl_plot_over_time(&r[FIG5], of_5++, runs[i].policy, &run.r);
        s[i] = fc_bgl_shape_of(&run.r);
        busy[i] = fc_bgl_links_into_region(&run.bench, &run.r, fc_bgl_hot_side(how));
    }
    figure_3(how, &r[FIG3], s, busy);
    figure_5(how, &r[FIG5], s);
    for (int i = 0; i < N && how->quick; i++) fc_reproduction_note(&r[i], fc_bgl_quick_hot);
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_bgl_hot_region = {figures, N, 35, 95, make};
