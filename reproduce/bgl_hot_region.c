/* bgl_hot_region.c - Blue Gene/L: throughput over time where a quarter of the packets go to an eighth of the machine,
 * Figures 3 (buffers) and 5 (arbitration), by the flit-level kernel on 16x16x16, sources always backlogged: the paper's
 * load is not given. */
#include "reproduce/bluegene.h"

enum { FIG3, FIG5, N };
#define COMMAND "fabricast flit -m bgl-4k -p hotregion --backlog --warmup 200000 --measure 100000 --interval 10000"
static const struct fc_figure figures[N] = {
    [FIG3] = {"bgl-fig3", "hot region: throughput over time by buffers", FC_BGL_PAPER ", Figure 3", "bgl-4k", COMMAND},
    [FIG5] = {"bgl-fig5", "hot region: throughput over time by arbitration", FC_BGL_PAPER ", Figure 5", "bgl-4k", COMMAND},
};
enum { INTERVALS = 30 };

static struct fc_point_of of(struct fc_reproduction *r, const char *unit)
{
    return (struct fc_point_of){r, FC_POINT_FLIT, FC_POINT_PREDICTED, unit};
}

/* The n courses into the plot; *busy, where not NULL: links into the region, percent. */
static enum fc_code courses(const struct fc_reproducing *how, struct fc_reproduction *r, int n, const char *const *edits,
                            const char *const *names, int from, struct fc_bgl_shape *s, double *busy, struct fc_status *st)
{
    for (int i = 0; i < n; i++) {
        struct fc_bgl run;
        fc_reproducing_step(how, from + i, 7);
        if (fc_bgl_hot_region(&run, how, edits[i], INTERVALS, st)) return st->code;
        fc_bgl_plot_over_time(r, i, names[i], &run.r);
        s[i] = fc_bgl_shape_of(&run.r);
        if (busy) busy[i] = fc_bgl_links_into_region(&run.bench, &run.r, fc_bgl_hot_side(how));
        fc_bgl_done(&run);
    }
    if (how->quick) fc_reproduction_note(r, fc_bgl_quick_hot);
    return FC_OK;
}

static enum fc_code figure_3(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    static const char *const edits[] = {"arbitration: random; buffer: 512 B", "arbitration: random; buffer: 1 KiB",
                                        "arbitration: random; buffer: 2 KiB"};
    static const char *const names[] = {"512 B", "1 KB", "2 KB"};
    struct fc_bgl_shape s[3];
    double busy[3], wide = how->quick ? 2 : 1;
    if (courses(how, r, 3, edits, names, 0, s, busy, st)) return st->code;
    double mean = (s[0].plateau + s[1].plateau + s[2].plateau) / 3;
    for (int i = 0; i < 3; i++) {
        fc_point_limits(of(r, "%"), -INFINITY, s[i].start < s[i].peak ? 95 : -INFINITY, 100 * s[i].plateau / s[i].peak,
                        "%s: rises, then falls to the plateau, of the peak", names[i]);
        fc_point_width(of(r, "%"), 100, 100 * s[i].plateau / mean, 3 * wide, "%s: plateau, of the mean of the three", names[i]);
        if (i == 0)
            fc_point_reason(r, "with 512 B the links into the region are 90 % busy, with 1 and 2 KB 97 and 98 %; neither time "
                               "nor injection FIFOs explain it; the paper's load, channels and delays are not printed");
        fc_point_shown(of(r, "%"), NAN, busy[i], "%s: links into the region busy", names[i]);
    }
    fc_point_width(of(r, "%"), 95, (busy[0] + busy[1] + busy[2]) / 3, 3 * wide,
                   "links into the region \"generally\" busy, mean of the three");
    for (int i = 0; i < 2; i++)
        fc_point_limits(of(r, "kcycles"), 0, INFINITY, (s[i + 1].decline_cycles - s[i].decline_cycles) / 1000,
                        "%s has fallen half way before %s, by", names[i], names[i + 1]);
    return FC_OK;
}

static enum fc_code figure_5(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    enum { BASE, JSQ, SLQ, BOTH, KINDS };
    static const char *const edits[KINDS] = {"arbitration: random", "arbitration: jsq", "arbitration: slq",
                                             "arbitration: jsq-slq"};
    static const char *const names[KINDS] = {"random", "JSQ", "SLQ", "JSQ and SLQ"};
    struct fc_bgl_shape s[KINDS];
    double mean = 0, wide = how->quick ? 2 : 1;
    if (courses(how, r, KINDS, edits, names, 3, s, NULL, st)) return st->code;
    for (int i = 0; i < KINDS; i++) mean += s[i].plateau / KINDS;
    for (int i = 0; i < KINDS; i++) {
        fc_point_width(of(r, "%"), 100, 100 * s[i].plateau / mean, 5 * wide, "%s: plateau, of the mean of the four", names[i]);
        fc_point_shown(of(r, "kcycles"), NAN, s[i].decline_cycles / 1000, "%s: half way down after", names[i]);
    }
    double jsq = s[JSQ].decline_cycles - s[BASE].decline_cycles, slq = s[SLQ].decline_cycles - s[BASE].decline_cycles;
    fc_point_limits(of(r, "kcycles"), 1e-9, INFINITY, slq / 1000, "SLQ declines later than random, by");
    fc_point_limits(of(r, "%"), -50, 50, 100 * jsq / slq, "JSQ of little use: delays the decline by, of what SLQ does");
    return FC_OK;
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    return figure_3(how, &r[FIG3], st) ? st->code : figure_5(how, &r[FIG5], st);
}

const struct fc_reproduction_ops fc_reproduction_bgl_hot_region = {figures, N, 12, 100, make};
