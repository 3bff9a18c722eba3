/* percs_300.c - PERCS: the 4D stencil on 300 supernodes, 307 200 tasks, Figures 12 and 13. Messages are of 1
 * MiB in two dimensions and 512 KiB in two, inferred from the sides in section 7. The best mapping is RNM:
 * with an even spread indirect routing is better than the paper's. The reasons of what lies outside:
 * docs/percs.md. */
#include "reproduce/percs.h"

enum { FIG12, FIG13, N };
static const struct fc_figure figures[N] = {
    [FIG12] = {"percs-fig12", "bytes on the links, 4D stencil, 300 supernodes", FC_PERCS_PAPER ", Figure 12",
               "percs-300", "fabricast load -m percs-300 -p " FC_PERCS_300},
    [FIG13] = {"percs-fig13", "time of a step, 4D stencil, 300 supernodes", FC_PERCS_PAPER ", Figure 13", "percs-300",
               "fabricast predict -m percs-300 -p " FC_PERCS_300 " --compute 50ms --map def,rnm,rdm"},
};
#define COMPUTE_MS 50
static const char indirect[] =
    "indirect routing spread evenly communicates 3.5 times faster than RNM here; the paper's is "
    "slower, and whether it draws a way a message or a packet is not said";

/* flat: nodes of 4x4x2x1 in order. */
static void figure_12(struct fc_reproduction *f, const struct fc_percs_result *r, const struct fc_percs_result *flat)
{
    struct fc_point_of text = {f, FC_POINT_BOUND, FC_POINT_PREDICTED, ""};
    const struct fc_load_class *def = r[FC_DEF].link;
    fc_point_limits(text, 0.8, 1.2, r[FC_BNM].link[FC_PERCS_D].max_bytes / def[FC_PERCS_D].max_bytes,
                    "BNM no lower: busiest D link, over DEF's");
    fc_point_reason(f, "Table 5's 16x16x2x2 a supernode leaves one slice of 75; with nodes of 4x4x2x1 in "
                       "order, the sides of "
                       "section 7, supernodes are DEF's and so are their loads (next row)");
    fc_point_limits(text, 0.8, 1.2, flat->link[FC_PERCS_D].max_bytes / def[FC_PERCS_D].max_bytes,
                    "the same with nodes of 4x4x2x1 in order");
    double low = fmax(r[FC_RNM].link[FC_PERCS_D].mean_bytes,
                      fmax(r[FC_DFI].link[FC_PERCS_D].mean_bytes, r[FC_RDI].link[FC_PERCS_D].mean_bytes));
    double others = INFINITY;
    for (int w = FC_DEF; w <= FC_RDM; w++)
        if (w != FC_RNM) others = fmin(others, r[w].link[FC_PERCS_D].mean_bytes);
    fc_point_limits(text, -INFINITY, 0.99, low / others, "lowest mean on D is that of RNM, DFI, RDI: over the rest");
    for (int c = 0; c < FC_PERCS_CLASSES; c++) {
        double fewest = INFINITY, most = 0;
        for (int w = FC_DEF; w <= FC_RDM; w++) {
            fewest = fmin(fewest, r[w].link[c].mean_bytes);
            most = fmax(most, r[w].link[c].mean_bytes);
        }
        fc_point_limits(text, c == FC_PERCS_D ? 5 : 1, c == FC_PERCS_D ? INFINITY : 2, most / fewest,
                        "mean on %s, direct routing %s: most over fewest", fc_percs_classes[c],
                        c == FC_PERCS_D ? "differs" : "similar");
    }
    for (int c = FC_PERCS_LL; c <= FC_PERCS_LR; c++)
        fc_point_limits(text, 7, 13, def[FC_PERCS_D].max_bytes / def[c].max_bytes,
                        "DEF, busiest D link over busiest %s: almost 10", fc_percs_classes[c]);
    fc_percs_plot_links(f, r);
}

/* The three numbers of the text, of a mapping. */
static void claims(struct fc_reproduction *f, const struct fc_percs_result *r, double bound_ms, int way, bool judged,
                   const char *rule, const char *reason)
{
    double before_ms = 1e3 * r[FC_DEF].comm_s, after_ms = 1e3 * r[way].comm_s;
    struct fc_point_of percent = {f, FC_POINT_BOUND, FC_POINT_PREDICTED, "%"};
    const struct {
        const char *what;
        double published, ours;
    } all[] = {{"communication against DEF", -75, 100 * (after_ms / before_ms - 1)},
               {"run time against DEF", -42, 100 * ((COMPUTE_MS + after_ms) / (COMPUTE_MS + before_ms) - 1)},
               {"run time above the lower bound", 24, 100 * ((COMPUTE_MS + after_ms) / bound_ms - 1)}};
    for (size_t i = 0; i < FC_COUNT(all); i++)
        if (judged) {
            fc_point_width(percent, all[i].published, all[i].ours, 5, "%s%s, %s", fc_percs_ways[way], rule,
                           all[i].what);
            fc_point_reason(f, reason);
        } else {
            fc_point_shown(percent, all[i].published, all[i].ours, "%s%s, %s", fc_percs_ways[way], rule, all[i].what);
        }
}

static void plot_times(struct fc_reproduction *f, const struct fc_percs_result *r, const struct fc_percs_result *modulo,
                       double bound_ms)
{
    fc_percs_plot_times(f, r, modulo, COMPUTE_MS);
    int published = fc_reproduction_series(f, FC_PAPER_LIMIT, 3, "published: best is 24 %% above the lower bound"),
        limit = fc_reproduction_series(f, FC_PAPER_LIMIT, 3, "lower bound, %.2f ms", bound_ms);
    for (int w = 0; w < FC_PERCS_WAYS; w++) {
        fc_reproduction_at(f, limit, w, bound_ms, NAN);
        fc_reproduction_at(f, published, w, 1.24 * bound_ms, NAN);
    }
}

static void figure_13(struct fc_reproduction *f, const struct fc_percs_result *r, const struct fc_percs_result *modulo)
{
    struct fc_point_of text = {f, FC_POINT_BOUND, FC_POINT_PREDICTED, ""};
    double bound_ms = COMPUTE_MS + 6 * 1048576 / 5e6; /* 2 x (1 + 1 + 1/2 + 1/2) MiB over one LR link */
    claims(f, r, bound_ms, FC_RNM, true, "", NULL);
    claims(f, r, bound_ms, FC_DFI, true, "", indirect);
    claims(f, modulo, bound_ms, FC_RNM, false, " with d_link: modulo", NULL);
    fc_point_limits(text, 1.01, INFINITY, r[FC_RDM].comm_s / r[FC_RNM].comm_s, "RDM over RNM: not as good");
    fc_point_limits(text, 1, 1.2, (0.05 + r[FC_RDM].comm_s) / (0.05 + r[FC_RNM].comm_s),
                    "run time of RDM over RNM's: followed closely");
    fc_point_reason(f, "drawers in random places meet on some D link: 33.6 against 15.1 ms");
    fc_point_limits(text, 0.8, 1.25, r[FC_RNM].comm_s / fc_percs_least(r, FC_DFI, FC_RDI),
                    "RNM over the best of DFI, RDI: about equal");
    fc_point_reason(f, indirect);
    plot_times(f, r, modulo, bound_ms);
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *f, struct fc_status *st)
{
    struct fc_percs_job j;
    struct fc_percs_result r[FC_PERCS_WAYS], modulo[FC_PERCS_WAYS], flat;
    if (fc_percs_open(&j, "percs-300", -1, FC_PERCS_300, st)) return st->code;
    if (!fc_percs_measure(&j, fc_percs_ways_300, true, how->seed, r, st))
        fc_percs_once(&j, "shapes:4x4x2x1", false, how->seed, &flat, st);
    fc_percs_close(&j);
    fc_reproducing_step(how, 1, 2);
    if (st->code ||
        fc_percs_run("percs-300", FC_D_MODULO, FC_PERCS_300, fc_percs_ways_300, true, how->seed, modulo, st))
        return st->code;
    figure_12(&f[FIG12], r, &flat);
    figure_13(&f[FIG13], r, modulo);
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_percs_300 = {figures, N, 13, 13, make};
