/* percs_4d.c - PERCS: the 4D stencil on 64 supernodes, Figures 6 to 9. Of the figures only what the text says
 * is held: the bars are not printed as numbers. The file's rule for the hosts of D links is `packed`; what
 * `modulo` gives stands beside it for information. The reasons of what lies outside: docs/percs.md. */
#include "reproduce/percs.h"

enum { FIG6, FIG7, FIG8, FIG9, N };
#define LOAD "fabricast load -m percs-64 -p " FC_PERCS_4D
static const struct fc_figure figures[N] = {
    [FIG6] = {"percs-fig6", "D links by load, direct routing, 4D stencil, 64 supernodes", FC_PERCS_PAPER ", Figure 6",
              "percs-64", LOAD " --map rnm"},
    [FIG7] = {"percs-fig7", "greatest load by class, direct and indirect, 4D stencil", FC_PERCS_PAPER ", Figure 7",
              "percs-64", LOAD " --map rdm --routing indirect"},
    [FIG8] = {"percs-fig8", "bytes on the links, 4D stencil, 64 supernodes", FC_PERCS_PAPER ", Figure 8", "percs-64",
              LOAD},
    [FIG9] = {"percs-fig9", "time of a step, 4D stencil, 64 supernodes", FC_PERCS_PAPER ", Figure 9", "percs-64",
              "fabricast predict -m percs-64 -p " FC_PERCS_4D " --compute 224ms --map def,bnm,bdm,bsm,rnm,rdm"},
};
#define COMPUTE_MS 224

static struct fc_point_of text(struct fc_reproduction *f)
{
    return (struct fc_point_of){f, FC_POINT_BOUND, FC_POINT_PREDICTED, ""};
}

static double ratio(const struct fc_percs_result *r, int over, int under)
{
    return r[over].link[FC_PERCS_D].mean_bytes / r[under].link[FC_PERCS_D].mean_bytes;
}

static void figure_6(struct fc_reproduction *f, const struct fc_percs_result *r)
{
    const struct fc_load_class *def = &r[FC_DEF].link[FC_PERCS_D], *rnm = &r[FC_RNM].link[FC_PERCS_D],
                               *bsm = &r[FC_BSM].link[FC_PERCS_D];
    struct fc_point_of mb = {f, FC_POINT_BOUND, FC_POINT_PREDICTED, "MB"};
    fc_point_percent(mb, FC_PERCS_BINS * FC_PERCS_BIN_BYTES / 1e6, def->max_bytes / 1e6, 1,
                     "20 bins of 108.3 MB hold DEF's busiest D link");
    fc_point_limits(text(f), FC_PERCS_BINS, FC_PERCS_BINS, ceil(def->max_bytes / FC_PERCS_BIN_BYTES),
                    "the bin of that link is the last");
    fc_point_limits(text(f), -INFINITY, 0.99, ratio(r, FC_BNM, FC_DEF),
                    "lower bins when blocked: mean of D, BNM over DEF");
    fc_point_limits(text(f), -INFINITY, 0.99, ratio(r, FC_BDM, FC_BNM), "the same, BDM over BNM");
    fc_point_limits(text(f), 1.01, INFINITY, (double)rnm->used / (double)bsm->used,
                    "RNM uses more D links than BSM, times");
    fc_point_limits(text(f), -INFINITY, 0.99, rnm->max_bytes / bsm->max_bytes,
                    "and the busiest carries less, RNM over BSM");
    fc_reproduction_axes(f, FC_PAPER_BARS, "load_MB", "payload on a D link, bins of 108.3 MB, upper end (MB)", "links",
                         "D links in use");
    f->plot.log_y = true;
    for (int b = 1; b <= FC_PERCS_BINS; b++)
        fc_reproduction_category(f, fc_reproduction_text(f, "%.0f", b * FC_PERCS_BIN_BYTES / 1e6));
    for (int w = FC_DEF; w <= FC_RDM; w++) {
        int s = fc_reproduction_series(f, FC_PAPER_OURS, w, "ours, %s", fc_percs_ways[w]);
        for (int b = 0; b < FC_PERCS_BINS; b++)
            if (r[w].d_links[b] > 0) fc_reproduction_at(f, s, b, r[w].d_links[b], NAN);
    }
}

/* RDI's busiest link over the least busiest of direct routing. */
static double lowers(const struct fc_percs_result *r, int c)
{
    double lowest = INFINITY;
    for (int w = FC_DEF; w <= FC_RDM; w++) lowest = fmin(lowest, r[w].link[c].max_bytes);
    return r[FC_RDI].link[c].max_bytes / lowest;
}

static void figure_7(struct fc_reproduction *f, const struct fc_percs_result *r, const struct fc_percs_result *modulo)
{
    static const char hosts[] = "packed puts 16 D links on a hub, so indirect traffic between two D links of a drawer "
                                "crosses its LL links; d_link: modulo spreads them (0.82)";
    for (int c = FC_PERCS_LL; c <= FC_PERCS_LR; c++) {
        fc_point_limits(text(f), -INFINITY, 1, lowers(r, c), "max on %s, RDI over the least of direct routing",
                        fc_percs_classes[c]);
        if (c == FC_PERCS_LL) fc_point_reason(f, hosts);
        fc_point_shown(text(f), NAN, lowers(modulo, c), "the same with d_link: modulo");
    }
    fc_reproduction_axes(f, FC_PAPER_BARS, "mapping", "mapping (I: indirect routing)", "max_MB",
                         "payload on the busiest link (MB)");
    f->plot.log_y = true;
    for (int w = 0; w < FC_PERCS_WAYS; w++) fc_reproduction_category(f, fc_percs_ways[w]);
    for (int c = 0; c < FC_PERCS_CLASSES; c++) {
        int s = fc_reproduction_series(f, FC_PAPER_OURS, c, "ours, %s links", fc_percs_classes[c]);
        for (int w = 0; w < FC_PERCS_WAYS; w++) fc_reproduction_at(f, s, w, r[w].link[c].max_bytes / 1e6, NAN);
    }
}

static double spread(double a, double b, double c)
{
    return fmax(a, fmax(b, c)) / fmin(a, fmin(b, c));
}

static void figure_8(struct fc_reproduction *f, const struct fc_percs_result *r)
{
    fc_point_limits(text(f), 1, 1.5,
                    spread(r[FC_RNM].link[FC_PERCS_D].mean_bytes, r[FC_RDM].link[FC_PERCS_D].mean_bytes,
                           r[FC_RDI].link[FC_PERCS_D].mean_bytes),
                    "D usage of RNM, RDM, RDI similar: greatest over least mean");
    fc_percs_plot_links(f, r);
}

static void plot_times(struct fc_reproduction *f, const struct fc_percs_result *r, const struct fc_percs_result *modulo,
                       double bound_ms)
{
    fc_percs_plot_times(f, r, modulo, COMPUTE_MS);
    int limit = fc_reproduction_series(f, FC_PAPER_LIMIT, 3, "published lower bound, %.1f ms", bound_ms);
    for (int w = 0; w < FC_PERCS_WAYS; w++) fc_reproduction_at(f, limit, w, bound_ms, NAN);
}

static void figure_9(struct fc_reproduction *f, const struct fc_percs_result *r, const struct fc_percs_result *modulo)
{
    struct fc_point_of percent = {f, FC_POINT_BOUND, FC_POINT_PREDICTED, "%"},
                       ms = {f, FC_POINT_BOUND, FC_POINT_STATED, "ms"};
    /* computation and all messages of a task over one LR link */
    double bound_ms = COMPUTE_MS + 8 * 2097152 / 5e6;
    fc_point_percent(ms, 227.4, bound_ms, 0.1, "lower bound: computation, and 8 x 2 MiB over one LR link");
    fc_point_limits(text(f), 1.01, INFINITY, r[FC_DEF].comm_s / r[FC_BNM].comm_s, "DEF over BNM");
    fc_point_limits(text(f), 1.01, INFINITY, r[FC_BNM].comm_s / r[FC_BDM].comm_s, "BNM over BDM");
    fc_point_limits(text(f), 1.01, INFINITY, fc_percs_least(r, FC_BDM, FC_BSM) / fc_percs_least(r, FC_RNM, FC_RDI),
                    "BDM and BSM over the best of RNM, RDM, DFI, RDI");
    fc_point_limits(percent, 0, 10, 100 * ((COMPUTE_MS + 1e3 * fc_percs_least(r, FC_DEF, FC_RDI)) / bound_ms - 1),
                    "the best is very close to the lower bound, more by");
    fc_point_limits(text(f), 1, 1.2,
                    spread(COMPUTE_MS + 1e3 * r[FC_RNM].comm_s, COMPUTE_MS + 1e3 * r[FC_RDM].comm_s,
                           COMPUTE_MS + 1e3 * r[FC_RDI].comm_s),
                    "times of RNM, RDM, RDI similar: greatest over least");
    plot_times(f, r, modulo, bound_ms);
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *f, struct fc_status *st)
{
    struct fc_percs_result r[FC_PERCS_WAYS], modulo[FC_PERCS_WAYS];
    if (fc_percs_run("percs-64", -1, FC_PERCS_4D, fc_percs_ways_64, false, how->seed, r, st) ||
        fc_percs_run("percs-64", FC_D_MODULO, FC_PERCS_4D, fc_percs_ways_64, false, how->seed, modulo, st))
        return st->code;
    figure_6(&f[FIG6], r);
    figure_7(&f[FIG7], r, modulo);
    figure_8(&f[FIG8], r);
    figure_9(&f[FIG9], r, modulo);
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_percs_4d = {figures, N, 4, 4, make};
